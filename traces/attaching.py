"""What can be done with repositories: attach a bundle or an archive to a name, and take it away again."""

import hashlib
from collections.abc import Iterable

from django.core.files import File
from django.db import connection, transaction
from isal import igzip

from accounts.actions.projects import demand_unarchived
from accounts.models import Project
from jobs.row_text import storable
from potato.repositories.model import CommitFacts, RepositoryBounds, UnreadableRepository, repository_name
from potato.repositories.reading import read_repository
from tenancy import audit
from tenancy.actor import active_organisation, current
from tenancy.bulk_insert import insert_many
from tenancy.errors import Refused
from tenancy.models import new_id
from traces.evidence.base_files import BASE_IN_KEY
from traces.models import Fragment, Repository, RepositoryCommit, RepositoryObject

BOUNDS = RepositoryBounds()
MOST_REPOSITORIES = 200
"""Of a project: a benchmark has some of them, with a file for each commit that it begins from."""
_ID_BYTES = 20
_URLS = ("https://", "http://", "ssh://", "git://", "git@")


class CannotAttach(Refused):
    code = "cannot_attach"
    status = 400


def attach_repository(
    *, project: Project, name: str, file: File[bytes], commit: str = "", clone_url: str = ""
) -> Repository:
    """Attach the file to the repository's name in the project; what is attached already is answered as it is.

    `commit` is of which one an archive is that does not say it. Raises CannotAttach with why the file cannot be read,
    and ProjectArchived.
    """
    demand_unarchived(project)
    known = repository_name(name)
    if not known or len(known) > 300:
        raise CannotAttach("Say which repository it is, as the runs name it: owner/name, or its address.")
    if clone_url and not (clone_url.startswith(_URLS) and clone_url.isprintable() and " " not in clone_url):
        raise CannotAttach("The address to clone from begins with https:// or ssh://, and has no blank.")
    if file.size > BOUNDS.file_bytes:
        raise CannotAttach(
            f"The file has {file.size:,} bytes; {BOUNDS.file_bytes:,} may be attached. Attach an archive of the one "
            "commit: git archive --format=tar.gz COMMIT"
        )
    data = file.read()
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        read = read_repository(data, commit.strip().lower(), BOUNDS, known)
    except UnreadableRepository as unreadable:
        raise CannotAttach(unreadable.sentence) from unreadable
    if not read.commits:
        raise CannotAttach("The file holds no commit. Make it again: git bundle create FILE REFERENCE")
    with transaction.atomic():
        _one_at_a_time()
        same = Repository.objects.filter(project=project, name=known, sha256=sha256).first()
        if same is not None:
            return same
        if Repository.objects.filter(project=project).count() >= MOST_REPOSITORIES:
            raise CannotAttach(
                f"The project has {MOST_REPOSITORIES} attached files already. Remove those that no run needs."
            )
        repository = Repository.objects.create(
            project=project,
            name=known,
            clone_url=clone_url[:500],
            file_name=storable(file.name or "", 300),
            kind=read.kind,
            size=len(data),
            sha256=sha256,
            commits_count=len(read.commits),
            left_out=read.left_out,
            objects_held=b"".join(bytes.fromhex(key) for key in sorted(read.contents)),
            added_by_id=current().user,
        )
        _store(repository, read.commits.values(), read.contents)
        audit.record(
            "traces.repository-attached",
            project,
            repository=known,
            file=repository.file_name,
            commits=len(read.commits),
        )
    return repository


def remove_repository(*, repository: Repository) -> None:
    """Take the file away, with all contents that no other attached file has, and what was drawn of them. Comments that
    were made on its lines stay."""
    demand_unarchived(repository.project)
    with transaction.atomic():
        _one_at_a_time()
        Repository.objects.select_for_update().get(pk=repository.pk)
        audit.record(
            "traces.repository-removed", repository.project, repository=repository.name, file=repository.file_name
        )
        RepositoryCommit.objects.filter(repository=repository).delete()
        gone = set(_ids(repository.objects_held))
        Repository.objects.filter(pk=repository.pk).delete()
        for other in Repository.objects.values_list("objects_held", flat=True):
            gone.difference_update(_ids(other))
        RepositoryObject.objects.filter(git_id__any_of=sorted(gone)).delete()
        # Drawn lines may be of what is gone; whoever looks again gets them drawn anew.
        Fragment.objects.filter(view__contains=BASE_IN_KEY).delete()


def _store(repository: Repository, commits: Iterable[CommitFacts], contents: dict[str, bytes]) -> None:
    insert_many(
        RepositoryCommit,
        (
            {"id": str(new_id()), "repository_id": str(repository.pk), "commit": facts.id, "tree": facts.tree}
            for facts in commits
        ),
    )
    held: set[str] = set()
    ids = sorted(contents)
    for start in range(0, len(ids), 10_000):
        some = ids[start : start + 10_000]
        held.update(RepositoryObject.objects.filter(git_id__any_of=some).values_list("git_id", flat=True))
    insert_many(
        RepositoryObject,
        (
            {"id": str(new_id()), "git_id": key, "packed": igzip.compress(contents[key], 2, mtime=0)}
            for key in ids
            if key not in held
        ),
        ignore_conflicts=True,
    )


def _ids(held: bytes | memoryview) -> Iterable[str]:
    data = bytes(held).hex()
    return (data[at : at + 2 * _ID_BYTES] for at in range(0, len(data), 2 * _ID_BYTES))


def _one_at_a_time() -> None:
    """Who attaches leaves out what is there, and who removes takes what nobody else has: never both at once."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"repositories of {active_organisation()}"]
        )
