from django.apps import AppConfig


class AgreementConfig(AppConfig):
    name = "agreement"

    def ready(self) -> None:
        from accounts import attention, project_pages
        from agreement.actions import request_nightly, submission_made
        from agreement.attention import failed_report
        from agreement.computing import ComputeAgreement
        from agreement.thresholds import BELOW_THRESHOLD, describe
        from jobs import kinds, outbox, sweeps
        from tenancy.roles import Right
        from webhooks import events

        kinds.register(ComputeAgreement())
        outbox.subscribe("submission.made", submission_made)
        events.register(BELOW_THRESHOLD, describe)
        sweeps.register(sweeps.Sweep("agreement.reports", "agreement_organisations_with_old_reports", request_nightly))
        project_pages.register(
            project_pages.ProjectTab(
                "agreement", "Agreement", 60, Right.SEE_ANNOTATIONS, project_pages.under("agreement")
            )
        )
        attention.register("agreement.failed", failed_report)
