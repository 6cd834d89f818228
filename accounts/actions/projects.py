"""Projects: the draft that somebody edits, and the versions that are published from it."""

from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.actions.storing import store_checked
from accounts.models import ConfigurationVersion, Project
from jobs import outbox
from potato.configuration import (
    BreakingChange,
    CheckedConfiguration,
    ProjectConfiguration,
    UnreadablePinError,
    check_configuration,
    differences,
    pinned,
)
from potato.wording import counted
from tenancy import audit
from tenancy.actor import current
from tenancy.errors import Refused


class DraftChanged(Refused):
    code = "draft_changed"


class NotPublishable(Refused):
    """The configuration has errors; `problems` are all of them."""

    code = "not_publishable"
    status = 422

    def __init__(self, checked: CheckedConfiguration) -> None:
        super().__init__(
            f"The configuration has {counted(len(checked.errors), 'error')}. The first: {checked.errors[0]}"
        )
        self.checked = checked

    def facts(self) -> dict[str, Any]:
        return {
            "problems": [
                {
                    "line": problem.line,
                    "column": problem.column,
                    "severity": problem.severity,
                    "message": problem.message,
                    "path": list(problem.path),
                }
                for problem in self.checked.problems
            ]
        }


class BreaksAnnotations(Refused):
    """Publishing would take something that annotations refer to; somebody has to confirm it."""

    code = "confirmation_needed"

    def __init__(
        self,
        breaking_changes: tuple[BreakingChange, ...],
        sentence: str = "Publishing would take something that existing annotations refer to. Confirm it first.",
    ) -> None:
        super().__init__(sentence)
        self.breaking_changes = breaking_changes

    def facts(self) -> dict[str, Any]:
        return {
            "losses": [
                {"path": list(change.path), "code": change.code, "sentence": change.message}
                for change in self.breaking_changes
            ]
        }


class NewestUnreadable(BreaksAnnotations):
    """What publishing would take is unknown: the newest version does not load, perhaps for a scheme type that is no
    longer installed. Confirmed, it publishes all the same, so that nobody is stuck with such a version."""

    code = "newest_unreadable"

    def __init__(self, number: int, reason: UnreadablePinError) -> None:
        sentence = f"What publishing would take from annotations under version {number} is unknown. {reason.sentence}"
        super().__init__((BreakingChange((), reason.code, sentence),), sentence)


class ProjectArchived(Refused):
    """The project can be read and not changed until somebody restores it."""

    code = "project_archived"

    def __init__(self, project: Project) -> None:
        super().__init__(
            f"{project.name} is archived: it can be read and not changed. Restore it first, in its set-up."
        )


def demand_unarchived(project: Project) -> None:
    """Raise ProjectArchived for a project that is archived now, whenever it was read."""
    if Project.objects.filter(pk=project.pk, archived_at__isnull=False).exists():
        raise ProjectArchived(project)


def create_project(*, slug: str, name: str, draft: str = "", origin: str = "") -> Project:
    """Store a project whose draft is that text; nothing is published. `origin` says where the text is from, for the
    audit trail. Raises ValidationError for a slug that is taken or malformed."""
    project = Project(slug=slug, name=name, draft=_storable(draft))
    with transaction.atomic():
        store_checked(project)
        audit.record("project.created", project, **({"origin": origin} if origin else {}))
    return project


def duplicate_project(*, project: Project, slug: str, name: str) -> Project:
    """A new project with the draft of this one, or what it has published where the draft is empty. Its traces, its
    people and its annotations stay where they are. Raises ValidationError for a slug that is taken or malformed."""
    newest = project.newest_version()
    draft = project.draft or (newest.source if newest else "")
    return create_project(slug=slug, name=name, draft=draft, origin=f"copy of {project.slug}")


def archive_project(*, project: Project) -> Project:
    """Take the project out of the lists and let nothing new begin in it; archiving twice is archiving once. Tasks that
    people hold can be handed in, so that no work is lost."""
    with transaction.atomic():
        if Project.objects.filter(pk=project.pk, archived_at__isnull=True).update(archived_at=timezone.now()):
            audit.record("project.archived", project)
        project.refresh_from_db()
    return project


def restore_project(*, project: Project) -> Project:
    """Put an archived project back as it was."""
    with transaction.atomic():
        if Project.objects.filter(pk=project.pk, archived_at__isnull=False).update(archived_at=None):
            audit.record("project.restored", project)
        project.refresh_from_db()
    return project


def rename_project(*, project: Project, slug: str, name: str) -> Project:
    """Change how a project is called and addressed. Raises ValidationError for a slug that is taken or malformed."""
    before = {"slug": project.slug, "name": project.name}
    project.slug, project.name = slug, name
    with transaction.atomic():
        store_checked(project, fields=["slug", "name"])
        audit.record("project.renamed", project, before=before)
    return project


def save_draft(*, project: Project, source: str, revision: int) -> Project:
    """Keep what somebody is editing, errors and all. Raises DraftChanged if it was saved since that revision, and
    ProjectArchived."""
    demand_unarchived(project)
    saved = Project.objects.filter(pk=project.pk, draft_revision=revision).update(
        draft=_storable(source), draft_revision=F("draft_revision") + 1
    )
    project.refresh_from_db()
    if not saved:
        raise DraftChanged(
            "Somebody else saved this draft meanwhile. Your text is still in the editor: copy it, reload the page, "
            "and join the two."
        )
    return project


def discard_draft(*, project: Project, revision: int) -> Project:
    """Put the published configuration back into the editor; empty while nothing is published."""
    newest = project.newest_version()
    with transaction.atomic():
        save_draft(project=project, source=newest.source if newest else "", revision=revision)
        audit.record("draft.discarded", project)
    return project


def publish_configuration(
    *, project: Project, source: str, note: str = "", confirmed: bool = False, where: Any = "browser"
) -> ConfigurationVersion:
    """Make the source the project's newest version, and its draft.

    Raises NotPublishable with every error, and BreaksAnnotations, unless confirmed, where existing annotations would
    lose something or might, and ProjectArchived. Publishing what is published already answers with the newest version,
    and makes none.
    """
    demand_unarchived(project)
    checked = check_configuration(source, where=where)
    if checked.configuration is None:
        raise NotPublishable(checked)
    with transaction.atomic():
        # One publication at a time: the next number is read and then written.
        Project.objects.select_for_update().get(pk=project.pk)
        newest = project.newest_version()
        if newest is not None:
            if newest.source == source:
                return newest
            if not confirmed and (breaking_changes := breaking_changes_since(newest, checked.configuration)):
                raise BreaksAnnotations(breaking_changes)
        version = ConfigurationVersion.objects.create(
            project=project,
            number=newest.number + 1 if newest else 1,
            source=source,
            configuration=checked.configuration.model_dump(mode="json"),
            note=note,
            published_by_id=current().user,
        )
        Project.objects.filter(pk=project.pk).update(draft=source, draft_revision=F("draft_revision") + 1)
        project.refresh_from_db()
        audit.record("configuration.published", project, number=version.number, note=note)
        outbox.publish("configuration.published", project=str(project.pk), number=version.number)
    return version


def breaking_changes_since(
    newest: ConfigurationVersion, configuration: ProjectConfiguration
) -> tuple[BreakingChange, ...]:
    """What annotations made under the newest version would lose under the configuration. Raises NewestUnreadable."""
    try:
        published = pinned(newest.configuration)
    except UnreadablePinError as reason:
        raise NewestUnreadable(newest.number, reason) from reason
    return differences(published, configuration)


def _storable(source: str) -> str:
    """PostgreSQL keeps no NUL in text; the editor shows the sign that stands for one, and the check names it."""
    return source.replace("\x00", "\N{SYMBOL FOR NULL}")
