"""Imports that need somebody: files that could not be imported, and records that could not be read."""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Count, Min, OuterRef, Q, Subquery
from django.urls import reverse
from django.utils import timezone

from accounts.attention import AttentionItem, Harm, Remedy
from accounts.models import Project
from jobs.models import JobState
from potato.wording import counted, moment
from tenancy.roles import Right
from traces.models import ImportedFile, ImportProblem

_LOOKED_BACK = timedelta(days=14)
_FILES_SHOWN = 3


def troubled_imports(project: Project) -> Iterator[AttentionItem]:
    """Files of the last two weeks that failed, and those with records that came to nothing. One query."""
    since = timezone.now() - _LOOKED_BACK
    own = ImportedFile.objects.filter(
        organisation=project.organisation_id, project=project, added_at__gte=since, undone_at=None
    )
    records = Q(problems__place__gt=ImportProblem.WHOLE_FILE)
    first = ImportProblem.objects.filter(file=OuterRef("pk"), place__gt=ImportProblem.WHOLE_FILE).order_by("place")
    rows = own.select_related("job").annotate(
        unread=Count("problems", filter=records),
        place=Min("problems__place", filter=records),
        why=Subquery(first.values("sentence")[:1]),
    )
    troubled = rows.filter(Q(unread__gt=0) | Q(job__state=JobState.FAILED)).order_by("-added_at")
    for file in troubled[:_FILES_SHOWN]:
        remedy = Remedy(
            "look",
            "Open the import",
            "upload",
            url=reverse("import", args=[project.slug, file.pk]),
            right=Right.IMPORT_TRACES,
        )
        at = moment(timezone.localtime(file.added_at), timezone.localtime())
        if file.job is not None and file.job.state == JobState.FAILED:
            sentence, reason, harm = f"The import of “{file.name}” failed {at}.", file.job.error, Harm.FAILED
        else:
            unread = counted(file.unread, "record")
            sentence = f"{unread} of “{file.name}”, imported {at}, could not be read."
            reason, harm = f"The first is record {file.place}: {file.why}", Harm.QUALITY
        yield AttentionItem(f"import:{file.pk}", harm, sentence, reason, "file-x", (remedy,))
