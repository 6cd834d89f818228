from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "dashboard"

    def ready(self) -> None:
        from dashboard import subscribers
        from dashboard.actions import take_everything_in
        from jobs import outbox, sweeps

        outbox.subscribe("submission.made", subscribers.submission_changed)
        outbox.subscribe("submission.withdrawn", subscribers.submission_changed)
        sweeps.register(sweeps.Sweep("dashboard.tallies", "dashboard_organisations_to_walk", take_everything_in))
