from django.apps import AppConfig


class AgreementConfig(AppConfig):
    name = "agreement"

    def ready(self) -> None:
        from accounts import attention, project_pages
        from agreement import audit_sentences, by_trace, job_sentences
        from agreement.actions import submission_made
        from agreement.attention import failed_report, failed_schedules_of_reports
        from agreement.computing import ComputeAgreement
        from agreement.scheduling import ScheduledReports, schedule_nightly
        from agreement.sources.comparing import CompareSource
        from agreement.sources.importing import ImportAnswers, remove_upload
        from agreement.sources.trace_use import USERS
        from agreement.thresholds import BELOW_THRESHOLD, describe
        from assignments.events import DECISION_MADE
        from assignments.pool.filters import KnownAgreement, register_agreement
        from jobs import kinds, outbox
        from jobs import sentences as jobs_in_words
        from jobs.schedules import kinds as schedules
        from tenancy import sentences
        from tenancy.roles import Right
        from traces import uses
        from webhooks import events

        uses.register("agreement", USERS)
        sentences.register("Agreement", audit_sentences.AGREEMENT)
        sentences.register("Agreement", audit_sentences.COMPUTED, changes=False)
        sentences.register_links("agreement report", audit_sentences.report_links)
        sentences.register_links("source", audit_sentences.source_links)
        sentences.register_links("agreement schedule", audit_sentences.schedule_links)
        jobs_in_words.register(ComputeAgreement.name, **job_sentences.AGREEMENT)
        jobs_in_words.register(CompareSource.name, **job_sentences.SOURCE)
        jobs_in_words.register(ImportAnswers.name, **job_sentences.ANSWERS)
        kinds.register(ComputeAgreement())
        kinds.register(ImportAnswers())
        kinds.register(CompareSource())
        outbox.subscribe(outbox.JOB_FINISHED, remove_upload)
        outbox.subscribe("submission.made", submission_made)
        outbox.subscribe("submission.made", by_trace.submission_changed)
        outbox.subscribe("submission.withdrawn", by_trace.submission_changed)
        outbox.subscribe(DECISION_MADE, by_trace.submission_changed)
        register_agreement(KnownAgreement(by_trace.agreement_of_trace, by_trace.traces_below))
        events.register(BELOW_THRESHOLD, describe)
        outbox.subscribe("configuration.published", schedule_nightly)
        schedules.register(ScheduledReports())
        project_pages.register(
            project_pages.ProjectTab(
                "agreement", "Agreement", 60, Right.SEE_ANNOTATIONS, project_pages.under("agreement")
            )
        )
        attention.register("agreement.failed", failed_report)
        attention.register("agreement.schedules", failed_schedules_of_reports)
