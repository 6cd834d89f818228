"""What reviewers do on pages: decide of one annotation or of several, take that back, and go through the queue."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Project, User
from accounts.models.projects import visible_project
from assignments.actions.answering import answer_note
from assignments.actions.correcting import begin_correction
from assignments.actions.deciding import (
    accept,
    lock_for_decisions,
    return_to_annotator,
    undo_decision,
    void,
)
from assignments.errors import BadReviewNote
from assignments.listing import as_listed, submission_rows
from assignments.models import Decision, Submission
from assignments.models.submissions import UNDO_DECISION
from assignments.own_assignment import own_assignment
from assignments.readable import readable_submission
from assignments.reading.lists import list_in_address
from assignments.review_notes import ReviewNote
from assignments.review_queue import MOST_COUNTED, in_turn, put_off, queue_rows, reasons, review_rules, take_next
from tenancy.errors import Refused
from tenancy.ids import read_id, read_number
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import Right

QUEUE_SHOWN = 50
AT_ONCE = 200
_DONE = {"accept": "accepted", "return": "returned", "void": "voided"}


@requires(Right.REVIEW_ANNOTATIONS)
@require_safe
@never_cache
def review_queue(request: OrganisationRequest, project: str) -> HttpResponse:
    """What is to be reviewed, in its order, each with why."""
    chosen = visible_project(request.membership, project)
    user = cast(User, request.user)
    rules = review_rules(chosen)
    ids = in_turn(chosen, user, MOST_COUNTED, rules)
    listed = queue_rows(as_listed(Submission.objects.all()), ids[:QUEUE_SHOWN], rules)
    newest = chosen.newest_version()
    context = {
        "project": chosen,
        "rules": rules,
        "count": len(ids),
        "is_more": len(ids) == MOST_COUNTED,
        "rows": list(zip(submission_rows(listed), (reasons(row, rules) for row in listed), strict=True)),
        "version": newest.number if newest else None,
        "list_query": "?review=1",
    }
    return render(request, "assignments/review_queue.html", context)


@requires(Right.REVIEW_ANNOTATIONS)
@require_POST
def review_next(request: OrganisationRequest, project: str) -> HttpResponse:
    """Hold the next annotation of the queue and go to it."""
    return _next(request, visible_project(request.membership, project))


@requires(Right.REVIEW_ANNOTATIONS)
@require_POST
def decide(request: OrganisationRequest, project: str, submission_id: UUID) -> HttpResponse:
    """Decide of one annotation as the form says; then the next of the queue, where the reviewer goes through it."""
    submission = _submission(request, project, submission_id)
    user = cast(User, request.user)
    is_review = "review" in request.POST
    here = list_in_address(request, request.membership, user, submission.project)
    back = reverse("read-annotation", args=[project, submission_id]) + ("?review=1" if is_review else here.query)
    do = request.POST.get("do", "")
    try:
        if do == "later":
            put_off(submission=submission, user=user)
            return _next(request, submission.project)
        if do == "correct":
            assignment = begin_correction(submission=submission, user=user)
            return redirect("task", project, assignment.pk)
        decision = _decide(submission, user, do, _notes(request), request)
    except Refused as refused:
        messages.error(request, refused.sentence)
        return redirect(back)
    _say(request, [decision], f"{submission.assignment.trace} was {_DONE[do]}.")
    return _next(request, submission.project) if is_review else redirect(back)


@requires(Right.REVIEW_ANNOTATIONS)
@require_POST
def decide_chosen(request: OrganisationRequest, project: str) -> HttpResponse:
    """Decide of the annotations that are ticked in the list; says what could not be done, and why."""
    chosen = visible_project(request.membership, project)
    user = cast(User, request.user)
    do, query = request.POST.get("do", ""), request.POST.get("list", "")
    ids = [pk for text in request.POST.getlist("of")[:AT_ONCE] if (pk := read_id(text))]
    if do == "compare":
        return redirect(f"{reverse('compare-chosen', args=[project])}?{urlencode([('of', str(pk)) for pk in ids])}")
    rows = Submission.objects.for_project(chosen).visible_to(request.membership, user).filter(pk__in=ids)
    made: list[Decision] = []
    problems: list[str] = []
    if not ids:
        problems.append("Tick the annotations first.")
    submissions = list(rows.select_related("project", "assignment__user", "assignment__trace", "assignment__project"))
    lock_for_decisions(submissions, gives_back=do == "return")
    for submission in submissions:
        try:
            made.append(_decide(submission, user, do, _notes(request), request))
        except Refused as refused:
            problems.append(f"{submission.assignment.trace}: {refused.sentence}")
    if made:
        many = f"{len(made)} annotation{'' if len(made) == 1 else 's'}"
        _say(request, made, f"{many} {'was' if len(made) == 1 else 'were'} {_DONE.get(do, 'decided')}.")
    for sentence in problems[:5]:
        messages.warning(request, sentence)
    if len(problems) > 5:
        messages.warning(request, f"{len(problems) - 5} more could not be decided.")
    address = reverse("annotations", args=[project])
    return redirect(f"{address}?{query}" if query and not query.startswith("/") else address)


@requires(Right.REVIEW_ANNOTATIONS)
@require_POST
def undo(request: OrganisationRequest, project: str) -> HttpResponse:
    """Take the decisions back that the form names."""
    chosen = visible_project(request.membership, project)
    ids = [pk for text in request.POST.get("decision", "").split(",")[:AT_ONCE] if (pk := read_id(text))]
    rows = Decision.objects.for_project(chosen).filter(pk__in=ids).order_by("pk")
    undone = 0
    assignment = "submission__assignment"
    named = rows.select_related("submission__project", f"{assignment}__project", f"{assignment}__user", "correction")
    decisions = list(named)
    lock_for_decisions([decision.submission for decision in decisions], gives_back=False)
    for decision in decisions:
        try:
            undo_decision(decision=decision, user=cast(User, request.user))
            undone += 1
        except Refused as refused:
            messages.error(request, refused.sentence)
    if undone:
        sentence = "The decision was taken back." if undone == 1 else f"{undone} decisions were taken back."
        messages.success(request, sentence)
    submissions = {decision.submission_id for decision in decisions}
    if len(submissions) == 1:
        return redirect("read-annotation", project, submissions.pop())
    return redirect("annotations", project)


@requires(Right.ANNOTATE)
@require_POST
def answer(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """The annotator says what became of one note of a returned task; then the task again."""
    user = cast(User, request.user)
    assignment = own_assignment(user, assignment_id, project=project)
    note = read_number(request.POST.get("note", ""), 3)
    try:
        answer_note(
            assignment=assignment,
            user=user,
            note=-1 if note is None else note,
            is_kept=request.POST.get("is_kept") == "1",
            text=request.POST.get("text", ""),
        )
    except Refused as refused:
        messages.error(request, refused.sentence)
    return redirect(reverse("task", args=[project, assignment_id]) + "#notes")


def _next(request: OrganisationRequest, project: Project) -> HttpResponseRedirect:
    submission = take_next(project=project, user=cast(User, request.user))
    if submission is None:
        messages.info(request, "Nothing more is to be reviewed at the moment.")
        return redirect("review-queue", project.slug)
    return redirect(reverse("read-annotation", args=[project.slug, submission]) + "?review=1")


def _submission(request: OrganisationRequest, project: str, submission_id: UUID) -> Any:
    return readable_submission(request.membership, cast(User, request.user), submission_id, project=project)


def _decide(
    submission: Submission, user: User, do: str, notes: list[ReviewNote], request: OrganisationRequest
) -> Decision:
    seen = read_number(request.POST.get(f"seen-{submission.pk}", request.POST.get("seen", "")), 5)
    days = read_number(request.POST.get("days", ""), 3)
    until = None if days is None else timezone.now() + timedelta(days=days)
    acts: dict[str, Callable[[], Decision]] = {
        "accept": lambda: accept(submission=submission, user=user, notes=notes, seen=seen),
        "return": lambda: return_to_annotator(submission=submission, user=user, notes=notes, until=until, seen=seen),
        "void": lambda: void(submission=submission, user=user, reason=request.POST.get("reason", ""), seen=seen),
    }
    if do not in acts:
        raise BadReviewNote("Choose what to decide: accept, return or void.")
    return acts[do]()


def _notes(request: OrganisationRequest) -> list[ReviewNote]:
    """The notes of the form: texts, each with its place as ReviewNote.key writes it. Empty ones are left out."""
    texts, places = request.POST.getlist("note"), request.POST.getlist("place")
    if request.POST.get("step_note", "").strip():
        texts.append(request.POST["step_note"])
        places += [""] * (len(texts) - 1 - len(places)) + [f"step:{request.POST.get('step', '')}"]
    places += [""] * (len(texts) - len(places))
    return [_note(text, place) for text, place in zip(texts, places, strict=False) if text.strip()]


def _note(text: str, place: str) -> ReviewNote:
    kind, _, rest = place.partition(":")
    if kind == "step" and (step := read_number(rest, 7)) is not None:
        return ReviewNote(text, step=step)
    line, _, path = rest.partition(":")
    if path and (number := read_number(line, 8)) is not None:
        return ReviewNote(text, path=path, side=kind, line=number or None)
    if place:
        raise BadReviewNote(f"A note stands at a step or a line; {place[:100]!r} is neither.")
    return ReviewNote(text)


def _say(request: OrganisationRequest, decisions: list[Decision], sentence: str) -> None:
    """The sentence as a message, with a button that takes back what was decided."""
    button = format_html(
        '<button class="btn btn--s" type="submit" form="undo" formaction="{}" name="decision" value="{}"'
        ' data-undo-seconds="{}">Undo</button>',
        reverse("undo-decisions", args=[decisions[0].project.slug]),
        ",".join(str(decision.pk) for decision in decisions),
        UNDO_DECISION.seconds,
    )
    messages.success(request, format_html("{} {}", sentence, button))
