"""What the queue and its people have of traces: who uses one, where those of an import are, and what goes with one."""

from collections.abc import Collection, Iterator, Sequence
from uuid import UUID

from django.db.models import Count, F, Q
from django.urls import reverse

from accounts.models import Membership, Project
from assignments.models import Assignment, AssignmentState, Reservation, Suggestion, TraceQuota, Withheld
from traces.models import ImportedFile, Trace
from traces.uses import TraceUsers, Use, Whereabouts

_WORDS = {
    AssignmentState.CLAIMED: "holds it",
    AssignmentState.SUBMITTED: "has judged it",
    AssignmentState.SKIPPED: "has skipped it",
    AssignmentState.VOIDED: "has judged it, which is void",
    AssignmentState.EXPIRED: "has worked on it",
    AssignmentState.RELEASED: "has worked on it",
}


def lock_places(traces: Collection[UUID]) -> None:
    """Hold the traces' places in the queue, so that nobody claims one meanwhile."""
    rows = TraceQuota.objects.filter(trace__in=traces).order_by("trace")
    list(rows.select_for_update(of=("self",)).values_list("pk", flat=True))


def people_at(traces: Collection[UUID]) -> Iterator[Use]:
    """Everybody who has a claim on one of the traces, or had one, and what models suggest: all of that stays."""
    names = dict(Membership.objects.values_list("user", "annotator_name"))
    rows = Assignment.objects.filter(trace__in=traces).order_by("trace", "claimed_at")
    for trace, user, state in rows.values_list("trace", "user", "state"):
        yield Use(trace, f"{names.get(user, 'Somebody')} {_WORDS[AssignmentState(state)]}")
    suggestions = Suggestion.objects.filter(trace__in=traces).order_by("trace", "pk")
    for trace, model in suggestions.values_list("trace", "model"):
        yield Use(trace, f"the model “{model}” suggests something of it")


def forget_places(traces: Collection[UUID]) -> None:
    """Remove the traces from the queue; older versions that they had closed are given out again."""
    gone = list(Trace.objects.filter(pk__in=traces, version__gt=1).values("project", "external_id", "version"))
    for row in gone:
        TraceQuota.objects.filter(
            project=row["project"],
            trace__external_id=row["external_id"],
            trace__version=row["version"] - 1,
            withheld=Withheld.SUPERSEDED,
        ).exclude(trace__in=traces).update(withheld="", withheld_reason="", is_released=Q(batch__isnull=False))
    Reservation.objects.filter(trace__in=traces).delete()
    TraceQuota.objects.filter(trace__in=traces).delete()


def places_of_import(file: UUID) -> Sequence[Whereabouts]:
    """Where the traces of an import are in the queue: in which batches, in the pool, or withheld."""
    row = ImportedFile.objects.select_related("project").filter(pk=file).first()
    if row is None:
        return []
    project: Project = row.project
    own = TraceQuota.objects.for_project(project).filter(trace__file=row)
    counts = own.aggregate(
        pool=Count("pk", filter=Q(batch__isnull=True, withheld="")),
        withheld=Count("pk", filter=~Q(withheld="")),
    )
    batches = own.filter(batch__isnull=False, withheld="").values(number=F("batch__number"), name=F("batch__name"))
    traces = f"{reverse('traces', args=[project.slug])}?file={row.pk}&versions=all"
    places = [
        Whereabouts(batch["traces"], f"in the batch “{batch['name']}”", f"{traces}&batch={batch['number']}")
        for batch in batches.annotate(traces=Count("pk")).order_by("number")
    ]
    if counts["pool"]:
        release = f"{reverse('release-batch', args=[project.slug])}?file={row.pk}"
        words = "waits in the pool" if counts["pool"] == 1 else "wait in the pool"
        places.append(Whereabouts(counts["pool"], words, release))
    if counts["withheld"]:
        places.append(Whereabouts(counts["withheld"], "held back", f"{traces}&state=withheld"))
    return places


USERS = TraceUsers(lock=lock_places, uses=people_at, forget=forget_places)
