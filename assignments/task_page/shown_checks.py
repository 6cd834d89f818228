"""Whether an annotator sees what tests and checkers said of the run that they judge.

Never in practice, where a project hides outcomes, and where tasks with a known answer are mixed in: shown at all
others, they would tell by their absence which those are, and by their presence what is wanted there. Nor where later
steps are a secret still, as a run of tests is one of them. Whoever may see traces sees them on the page of the trace.
"""

from collections.abc import Sequence

from accounts.models import ConfigurationVersion, Project
from assignments.hidden_outcomes import HIDDEN
from assignments.models import Assignment
from assignments.task_page.schemes import hides_later_steps
from potato.configuration import ProjectConfiguration
from traces.evidence.checks import Checks, shown_checks, stored_reports
from traces.models import TraceFile


def checks_of_task(
    assignment: Assignment, configuration: ProjectConfiguration, files: Sequence[TraceFile]
) -> Checks | None:
    """What its annotator sees; None where that is nothing."""
    if assignment.is_practice or configuration.gold is not None or hides_later_steps(configuration):
        return None
    reports = stored_reports(assignment.trace)
    if not reports and not assignment.trace.tests_outcome:
        return None
    return None if _are_hidden(assignment.project) else shown_checks(assignment.trace, reports, files)


def _are_hidden(project: Project) -> bool:
    """As the newest version says, whatever the task pins: what was shown once is known."""
    versions = ConfigurationVersion.objects.filter(project=project).order_by("-number")
    newest = versions.values_list("configuration__visibility__outcomes", "configuration__gold").first()
    return newest is not None and (newest[0] == HIDDEN or newest[1] is not None)
