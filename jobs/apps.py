from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "jobs"

    def ready(self) -> None:
        from jobs import outbox
        from jobs.schedules.firing import follow

        outbox.subscribe(outbox.JOB_FINISHED, follow)
