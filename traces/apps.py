from django.apps import AppConfig


class TracesConfig(AppConfig):
    name = "traces"

    def ready(self) -> None:
        from jobs import kinds, outbox
        from traces.imports import ImportTraces, remove_upload

        kinds.register(ImportTraces())
        outbox.subscribe("job.finished", remove_upload)
