from django.apps import AppConfig


class AdjudicationConfig(AppConfig):
    name = "adjudication"

    def ready(self) -> None:
        from accounts import project_pages
        from adjudication import audit_sentences, disagreements
        from adjudication.computing import ComputeDisagreements, answers_imported, project_changed
        from adjudication.feedback import feedback
        from adjudication.job_sentences import DISAGREEMENTS
        from adjudication.trace_use import USERS
        from assignments.events import DECISION_MADE
        from assignments.reading import parts
        from jobs import kinds, outbox
        from jobs import sentences as jobs_in_words
        from tenancy import sentences
        from tenancy.roles import Right
        from traces import uses
        from traces.importing.check_reports import REPORTS_JOINED

        parts.register("adjudication", parts.ReadPart("adjudication/partials/feedback.html", feedback))
        uses.register("adjudication", USERS)
        sentences.register("Annotations", audit_sentences.ADJUDICATION)
        jobs_in_words.register(ComputeDisagreements.name, **DISAGREEMENTS)
        kinds.register(ComputeDisagreements())
        outbox.subscribe("submission.made", disagreements.submission_changed)
        outbox.subscribe("submission.withdrawn", disagreements.submission_changed)
        outbox.subscribe(DECISION_MADE, disagreements.submission_changed)
        outbox.subscribe("configuration.published", project_changed)
        outbox.subscribe(REPORTS_JOINED, project_changed)
        outbox.subscribe(outbox.JOB_FINISHED, answers_imported)
        project_pages.register(
            project_pages.ProjectTab(
                "adjudicate", "Adjudicate", 45, Right.ADJUDICATE, project_pages.under("adjudicate")
            )
        )
