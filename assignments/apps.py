from django.apps import AppConfig


class AssignmentsConfig(AppConfig):
    name = "assignments"

    def ready(self) -> None:
        from accounts import endings
        from assignments import subscribers
        from assignments.actions.expiring import expire_leases
        from assignments.actions.leaving import release_everything
        from jobs import outbox, sweeps

        endings.register(lambda user: release_everything(user=user))

        outbox.subscribe("configuration.published", subscribers.configuration_published)
        outbox.subscribe(outbox.JOB_FINISHED, subscribers.job_finished)
        outbox.subscribe(subscribers.PLACES_OPENED, subscribers.places_opened)
        sweeps.register(
            sweeps.Sweep("assignments.leases", "assignments_organisations_with_ended_leases", expire_leases)
        )
