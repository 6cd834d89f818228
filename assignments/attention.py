"""Traces that need somebody: nobody is left who could judge them, or nobody is given them at all; and late batches."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.db.models import Count, OuterRef, Subquery
from django.urls import reverse
from django.utils import timezone

from accounts.attention import AttentionItem, Harm, Remedy
from accounts.models import Project
from assignments.actions.quotas import unjudged
from assignments.models import Assignment, AssignmentState, Batch, BatchState, Kind, Question, TraceQuota
from assignments.models.queue import JUDGEABLE
from assignments.pool.stuck import stuck_quotas
from assignments.secrets_found import secrets_in
from potato.wording import counted, quoted
from tenancy.roles import Right
from traces.models import SecretsState

_REASONS_SHOWN = 3
_REASONS_LOOKED_AT = 100


def skipped_traces(project: Project) -> Iterator[AttentionItem]:
    """Those that everybody has had and somebody skipped; and those that two or more skipped, still open. Two queries,
    and one more where there are some."""
    skips = Assignment.objects.for_project(project).filter(kind=Kind.NORMAL, state=AssignmentState.SKIPPED)
    unfinished = TraceQuota.objects.for_project(project).unfinished()
    stuck = set(stuck_quotas(project).values_list("trace", flat=True))
    several = skips.filter(trace__in=unfinished.values("trace")).order_by().values("trace")
    twice = set(several.annotate(number=Count("pk")).filter(number__gte=2).values_list("trace", flat=True)) - stuck
    if not stuck and not twice:
        return
    reasons: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for trace, reason in skips.filter(trace__in=stuck | twice).values_list("trace", "skip_reason"):
        reasons[trace in stuck][reason] += 1
    look = Remedy("look", "Look at them", "search", url=f"{reverse('annotations', args=[project.slug])}?show=skips")
    if stuck:
        were = "trace was" if len(stuck) == 1 else "traces were"
        yield AttentionItem(
            key="traces-stuck",
            harm=Harm.LATE,
            sentence=f"{len(stuck):,} {were} skipped, and everybody has had {'it' if len(stuck) == 1 else 'them'}.",
            reason=f"{_in_words(reasons[True])} Nobody is left who could judge {'it' if len(stuck) == 1 else 'them'}.",
            icon="skip-forward",
            remedies=(look,),
        )
    if twice:
        were = "trace was" if len(twice) == 1 else "traces were"
        yield AttentionItem(
            key="traces-skipped",
            harm=Harm.CHOICE,
            sentence=f"{len(twice):,} {were} skipped by two or more people.",
            reason=_in_words(reasons[False]),
            icon="skip-forward",
            remedies=(look,),
        )


def unjudged_traces(project: Project) -> Iterator[AttentionItem]:
    """Those that are given to nobody, because nothing of them can be judged. One query, or three."""
    idle = TraceQuota.objects.for_project(project).exclude(JUDGEABLE).order_by("trace")
    number = idle.count()
    if not number:
        return
    because = unjudged_because(project)
    are = "trace is" if number == 1 else "traces are"
    url = f"{reverse('traces', args=[project.slug])}?state=withheld"
    yield AttentionItem(
        key="traces-unjudged",
        harm=Harm.QUALITY,
        sentence=f"{number:,} {are} given to nobody.",
        reason=f"{'; '.join(because)}." if because else "Nothing of them can be judged.",
        icon="circle-slash",
        remedies=(Remedy("look", "Open the traces", "footprints", url=url),),
    )


def traces_with_secrets(project: Project) -> Iterator[AttentionItem]:
    """Those that wait until somebody clears what was found in them. One query."""
    number = secrets_in(project, SecretsState.HELD).count()
    if number:
        are = "trace is" if number == 1 else "traces are"
        yield AttentionItem(
            key="traces-secrets",
            harm=Harm.LATE,
            sentence=f"{number:,} {are} held back, because secrets were found.",
            reason="Annotators are given none of them until somebody replaces what was found, or keeps it.",
            icon="eye-off",
            remedies=(
                Remedy(
                    "look",
                    "Look at them",
                    "eye-off",
                    url=reverse("secrets", args=[project.slug]),
                    right=Right.IMPORT_TRACES,
                ),
            ),
        )


def open_questions(project: Project) -> Iterator[AttentionItem]:
    """Of annotators, without an answer. One query."""
    waiting = Question.objects.for_project(project).unanswered().count()
    if waiting:
        wait = "question waits" if waiting == 1 else "questions wait"
        yield AttentionItem(
            key="questions-open",
            harm=Harm.LATE,
            sentence=f"{waiting:,} {wait} for an answer.",
            reason="Annotators asked about tasks that they hold.",
            icon="message-square",
            remedies=(Remedy("answer", "Answer", "message-square", url=reverse("questions", args=[project.slug])),),
        )


def late_batches(project: Project) -> Iterator[AttentionItem]:
    """Those whose deadline is over while annotations are left. One query."""
    today = timezone.localdate()
    unfinished = TraceQuota.objects.for_project(project).unfinished().filter(batch=OuterRef("pk"), withheld="")
    left = unfinished.order_by().values("batch").annotate(number=Count("pk")).values("number")
    due = Batch.objects.for_project(project).filter(deadline__lt=today, state__in=(BatchState.OPEN, BatchState.PAUSED))
    late_ones: Any = due.annotate(left=Subquery(left)).filter(left__gt=0)  # Any: what is annotated
    for batch in late_ones.order_by("deadline", "number"):
        late = (today - batch.deadline).days
        paused = " It is paused." if batch.state == BatchState.PAUSED else ""
        yield AttentionItem(
            key=f"batch-late:{batch.number}:{batch.deadline}",
            harm=Harm.LATE,
            sentence=f"“{batch.name}” is {counted(late, 'day')} late.",
            reason=f"It was due on {batch.deadline:%-d %B %Y}, and {counted(batch.left, 'trace')} of it "
            f"{'needs' if batch.left == 1 else 'need'} annotations yet.{paused}",
            icon="timer-off",
            remedies=(
                Remedy("look", "Open the batch", "inbox", url=reverse("batch", args=[project.slug, batch.number])),
            ),
        )


def unjudged_because(project: Project) -> list[str]:
    """Why traces are given to nobody: the reasons of the first of them, each once."""
    version = project.versions.order_by("-number").values_list("pk", flat=True).first()
    idle = TraceQuota.objects.for_project(project).exclude(JUDGEABLE).order_by("trace")
    first = list(idle.values_list("trace", flat=True)[:_REASONS_LOOKED_AT])
    return list(dict.fromkeys(unjudged(version, first).values())) if version and first else []


def _in_words(reasons: Counter[str]) -> str:
    """The reasons that were given most: “too long” twice, “broken” once."""
    times = {1: "once", 2: "twice"}
    most = reasons.most_common(_REASONS_SHOWN)
    said = ", ".join(f"{quoted(reason)} {times.get(number, f'{number} times')}" for reason, number in most)
    left = sum(reasons.values()) - sum(number for _, number in most)
    return f"{said}, and {counted(left, 'other')}." if left else f"{said}."
