"""What other apps ask for: the newest report of a project."""

from accounts.models import Project
from agreement.models import AgreementReport


def newest_report(project: Project) -> AgreementReport | None:
    """The newest finished report with its `figures`; None where none was computed yet.

    `figures["compared"]` has a mapping for everything that is compared: `scheme`, `name`, `title`, `main` (the main
    measure) and `figures` by measure, each with `value`, `low`, `high`, `traces`, `units`, `pairs` and `undefined`.
    `shared_traces` is 0 where no trace has two annotators.
    """
    rows = AgreementReport.objects.for_project(project).finished()
    return rows.order_by("-computed_at", "-pk").first()


def newest_requested(project: Project) -> AgreementReport | None:
    """The report that was asked for last, with its job, finished or not."""
    rows = AgreementReport.objects.for_project(project).select_related("job", "requested_by").defer("figures")
    return rows.order_by("-requested_at", "-pk").first()
