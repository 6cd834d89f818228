"""Who works on a project, and as what. Managers of the project and admins of the organisation do this."""

from django.db import transaction
from django.utils import timezone

from accounts.held_work import give_back_held
from accounts.models import Membership, Project, ProjectMember
from accounts.models.members import members_with
from tenancy import audit
from tenancy.actor import current
from tenancy.errors import Refused
from tenancy.roles import ProjectRole, Right, Role, role_has


class NotInThisProject(Refused):
    code = "not_in_this_project"
    status = 404


class EverywhereByRole(Refused):
    """The person's role in the organisation is what brings them into the project."""

    code = "everywhere_by_role"


def put_on_project(
    *, project: Project, membership: Membership, role: ProjectRole, may_export: bool = False
) -> ProjectMember:
    """Make the member of the organisation a member of the project, or change what they are there; who was taken off is
    back. Tasks that a new role may not hold go back to the queue. Raises NotInThisProject for a former member of the
    organisation."""
    with transaction.atomic():
        locked = _locked(membership)
        if not locked.is_active:
            raise NotInThisProject(f"{locked.annotator_name} does not belong to the organisation any more.")
        row = ProjectMember.objects.for_project(project).filter(membership=locked).first()
        before = None if row is None or row.left_at else (row.role, row.may_export)
        row = row or ProjectMember(project=project, membership=locked)
        row.role, row.may_export, row.left_at = role, may_export and role == ProjectRole.VIEWER, None
        if before is None:
            row.added_by_id, row.added_at = current().user, timezone.now()
        row.full_clean()
        row.save()
        if before == (row.role, row.may_export):
            return row
        verb = "project_member.added" if before is None else "project_member.changed"
        audit.record(verb, row, role=row.role, may_export=row.may_export, project=project.slug)
        if not members_with(Right.ANNOTATE, project).filter(pk=locked.pk).exists():
            give_back_held(locked.user, project)
    return row


def take_off_project(*, project: Project, membership: Membership) -> int:
    """End the person's work on the project; returns how many held tasks went back to the queue with it, at once.
    Annotations stay, and count.

    Raises EverywhereByRole for whom a role in the organisation brings into all projects, and NotInThisProject.
    """
    with transaction.atomic():
        # Claiming holds this row: a claim is either seen and taken back here, or comes after this and is refused.
        locked = _locked(membership)
        if role_has(locked.role, Right.SEE_ANNOTATIONS):
            raise EverywhereByRole(
                f"{locked.annotator_name} is {Role(locked.role).label.lower()} of the organisation, and so in every "
                "project. An admin changes that in the organisation's people."
            )
        row = ProjectMember.objects.for_project(project).filter(membership=locked).first()
        if row is None and not (locked.role == Role.ANNOTATOR and project.open_to_annotators):
            raise NotInThisProject(f"{locked.annotator_name} does not work on this project.")
        if row is not None and row.left_at is not None:
            raise NotInThisProject(f"{locked.annotator_name} was taken off this project already.")
        row = row or ProjectMember(project=project, membership=locked, added_by_id=current().user)
        row.left_at = timezone.now()
        row.save()
        released = give_back_held(locked.user, project)
        audit.record("project_member.removed", row, project=project.slug, released=released)
    return released


def open_to_annotators(*, project: Project, is_open: bool) -> int:
    """Let every annotator of the organisation work on the project, or its members alone; returns how many held tasks
    went back to the queue, of those who no longer do."""
    with transaction.atomic():
        annotators = Membership.objects.active().filter(organisation=project.organisation_id, role=Role.ANNOTATOR)
        # Every claim that is under way is over then, and none begins before the setting is committed.
        locked = list(annotators.select_related("user").select_for_update(no_key=True, of=("self",)))
        before = Project.objects.select_for_update(no_key=True).get(pk=project.pk).open_to_annotators
        project.open_to_annotators = is_open
        if before == is_open:
            return 0
        project.save(update_fields=["open_to_annotators"])
        staying = set(members_with(Right.ANNOTATE, project).values_list("pk", flat=True))
        released = sum(give_back_held(member.user, project) for member in locked if member.pk not in staying)
        audit.record("project.opened" if is_open else "project.closed", project, released=released)
    return released


def _locked(membership: Membership) -> Membership:
    """Not of the person's own row: accounts are of all organisations."""
    rows = Membership.objects.select_related("user").select_for_update(no_key=True, of=("self",))
    return rows.get(pk=membership.pk)
