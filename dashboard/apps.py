from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "dashboard"

    def ready(self) -> None:
        from accounts import attention, project_pages
        from assignments.events import DECISION_MADE
        from dashboard import subscribers
        from dashboard.actions import take_everything_in
        from dashboard.agreement_attention import RULE, agreement_attention_items
        from dashboard.figures import count_annotations
        from jobs import outbox, sweeps
        from tenancy import sentences
        from tenancy.roles import Right

        sentences.register(
            "Projects",
            {"attention.dismissed": ("left a matter of {target} for a week: {matter}[, because {reason:“}]", "bell")},
            changes=False,
        )

        under = project_pages.under
        project_pages.register(
            project_pages.ProjectTab("overview", "Overview", 10, Right.SEE_ANNOTATIONS, under("project"))
        )
        project_pages.register(project_pages.ProjectTab("people", "People", 50, Right.SEE_ANNOTATIONS, under("people")))
        project_pages.register(
            project_pages.ProjectTab(
                "annotations", "Annotations", 40, Right.SEE_ANNOTATIONS, under("annotations"), count_annotations
            )
        )

        outbox.subscribe("submission.made", subscribers.submission_changed)
        outbox.subscribe("submission.withdrawn", subscribers.submission_changed)
        outbox.subscribe(DECISION_MADE, subscribers.submission_changed)
        sweeps.register(sweeps.Sweep("dashboard.tallies", "dashboard_organisations_to_walk", take_everything_in))
        attention.register(RULE, agreement_attention_items)
