from django.apps import AppConfig


class ExportsConfig(AppConfig):
    name = "exports"

    def ready(self) -> None:
        from exports.actions import remove_expired
        from exports.exporting import ExportAnnotations, remove_unfinished
        from jobs import kinds, outbox, sweeps

        kinds.register(ExportAnnotations())
        outbox.subscribe(outbox.JOB_FINISHED, remove_unfinished)
        sweeps.register(sweeps.Sweep("exports.expired", "exports_organisations_with_expired_files", remove_expired))
