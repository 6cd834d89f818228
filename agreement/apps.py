from django.apps import AppConfig


class AgreementConfig(AppConfig):
    name = "agreement"

    def ready(self) -> None:
        from accounts import attention, project_pages
        from agreement.actions import request_nightly, submission_made
        from agreement.attention import failed_report
        from agreement.computing import ComputeAgreement
        from agreement.sources.comparing import CompareSource
        from agreement.sources.importing import ImportAnswers, remove_upload
        from agreement.thresholds import BELOW_THRESHOLD, describe
        from jobs import kinds, outbox, sweeps
        from tenancy.roles import Right
        from webhooks import events

        kinds.register(ComputeAgreement())
        kinds.register(ImportAnswers())
        kinds.register(CompareSource())
        outbox.subscribe(outbox.JOB_FINISHED, remove_upload)
        outbox.subscribe("submission.made", submission_made)
        events.register(BELOW_THRESHOLD, describe)
        sweeps.register(sweeps.Sweep("agreement.reports", "agreement_organisations_with_old_reports", request_nightly))
        project_pages.register(
            project_pages.ProjectTab(
                "agreement", "Agreement", 60, Right.SEE_ANNOTATIONS, project_pages.under("agreement")
            )
        )
        attention.register("agreement.failed", failed_report)
