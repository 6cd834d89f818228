"""Who may be named for traces and batches of a project."""

from accounts.models import Project
from accounts.models.members import members_with
from tenancy.roles import Right, Role


def people_to_choose(project: Project) -> list[tuple[str, str]]:
    """Who annotates in the project, by id as a form has it, with the names under which they do."""
    members = members_with(Right.ANNOTATE, project).exclude(role=Role.SERVICE).order_by("annotator_name")
    return [(str(user), name) for user, name in members.values_list("user", "annotator_name")]
