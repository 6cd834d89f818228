"""The pages of managers: the traces whose answer is known, how people do there, one person; and of newcomers the
feedback on what they practised."""

import json
from random import randrange
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import Membership, Project, User
from accounts.models.projects import visible_project
from assignments.history import TASK_START, trace_title
from assignments.models import Submission
from assignments.own_assignment import own_assignment
from assignments.submission_records import annotator_names
from gold.actions import (
    BadRecords,
    change_expectation,
    expect_records,
    expect_submitted,
    live_expected,
    retire,
)
from gold.charts import bar, score_chart
from gold.expected_page import shown_expectation
from gold.figures import part_means, repeat_rules, shown_gold, shown_standings, with_oneself
from gold.known_answers import MET
from gold.models import ExpectedAnnotation, GoldScore, GoldStanding, PracticeAttempt, State, Use, person_standing
from gold.planting import KIND_TITLES, NotPlantable, planting_jobs, request_planting, sources
from gold.practice import admit, has_worked, is_admitted, practice_again, practice_rules, practice_state
from gold.practice_page import compare_practice
from gold.scoring import gold_rules
from gold.standing import counted_scores, let_go_on, thresholds
from potato.api.gold import MOST_AT_ONCE
from potato.statistics.gold_standing import LAST
from potato.wording import counted
from tenancy.errors import Refused
from tenancy.ids import read_id, read_number
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import Right

LARGEST_FILE = 2_000_000
_SCORES_SHOWN = 50
_SOURCES_SHOWN = 100


@requires(Right.MANAGE_PROJECTS)
@require_safe
def gold(request: OrganisationRequest, project: str) -> HttpResponse:
    """The traces whose answer is known, how often each is met, and where people stand."""
    chosen = visible_project(request.membership, project)
    rows, standings = shown_gold(chosen, Use.GOLD), shown_standings(chosen)
    scores = GoldScore.objects.newest().filter(organisation=chosen.organisation_id, project=chosen)
    means = [row for row in rows if row.mean is not None]
    total = sum(row.scored for row in means)
    practice, rules, repeat = practice_rules(chosen), gold_rules(chosen), repeat_rules(chosen)
    context = {
        "project": chosen,
        "rows": rows,
        "given": len(means),
        "scores": scores.count(),
        "mean": sum((row.mean or 0) * row.scored for row in means) / total if total else None,
        "retired": shown_gold(chosen, Use.GOLD, retired=True),
        "practice_rows": shown_gold(chosen, Use.PRACTICE),
        "standings": standings,
        "troubled": [one for one in standings if one.standing.state in (State.WARNED, State.PAUSED)],
        "rules": rules,
        "mixed_in": f"{rules.rate:.0%}" if rules else "",
        "repeat_share": f"{repeat.share:.0%}",
        "practice": practice,
        "kept_out": _kept_out(chosen) if practice else [],
        "repeat": repeat,
        "oneself": with_oneself(chosen),
        "uses": Use.choices,
        "plantings": planting_jobs(chosen),
    }
    return render(request, "gold/gold.html", context)


@requires(Right.MANAGE_PROJECTS)
@require_POST
def make(request: OrganisationRequest, project: str) -> HttpResponse:
    """Make an annotation, named by its id or its address, the expected one of its trace."""
    chosen = visible_project(request.membership, project)
    named = [pk for part in request.POST.get("submission", "").split("/") if (pk := read_id(part.strip()))]
    rows = Submission.objects.for_project(chosen).select_related("assignment__trace__project")
    submission = rows.filter(pk=named[-1]).first() if named else None
    try:
        if submission is None:
            raise Refused("Paste the address of an annotation of this project.")
        made = expect_submitted(submission=submission, use=_use(request), why=request.POST.get("why", ""))
    except Refused as refused:
        messages.error(request, refused.sentence)
    else:
        messages.success(request, f"{made.trace} is {made.get_use_display().lower()} now. Nobody sees that it is.")
    return redirect("gold", chosen.slug)


@requires(Right.MANAGE_PROJECTS)
@require_http_methods(["GET", "HEAD", "POST"])
def plant(request: OrganisationRequest, project: str) -> HttpResponse:
    """Choose traces that are known to be good, a kind of fault and a seed; a job plants the faults."""
    chosen = visible_project(request.membership, project)
    if request.method == "POST":
        try:
            number, seed = read_number(request.POST.get("number", ""), 4), read_number(request.POST.get("seed", ""), 10)
            if number is None or seed is None:
                raise NotPlantable("Write how many faults, and the seed, as whole numbers.")
            request_planting(
                project=chosen,
                traces=[pk for text in request.POST.getlist("trace")[: MOST_AT_ONCE + 1] if (pk := read_id(text))],
                number=number,
                seed=seed,
                kind=request.POST.get("kind", ""),
                use=_use(request),
            )
        except Refused as refused:
            messages.error(request, refused.sentence)
            return redirect("gold-plant", chosen.slug)
        messages.success(request, "Faults are being planted. What comes of it stands here, as soon as it is done.")
        return redirect("gold", chosen.slug)
    rows = sources(chosen)
    context = {
        "project": chosen,
        "rows": [
            {"quota": row, "title": trace_title(row.trace.task[:TASK_START], row.trace.external_id)}
            for row in rows[:_SOURCES_SHOWN]
        ],
        "count": rows.count(),
        "kinds": KIND_TITLES.items(),
        "uses": Use.choices,
        "seed": randrange(10**6),  # noqa: S311 - a seed that the person may change
        "most": MOST_AT_ONCE,
    }
    return render(request, "gold/plant.html", context)


@requires(Right.MANAGE_PROJECTS)
@require_POST
def import_expected(request: OrganisationRequest, project: str) -> HttpResponse:
    """Take expected annotations from a file of records, one JSON object a line."""
    chosen = visible_project(request.membership, project)
    file = request.FILES.get("file")
    try:
        if file is None or (file.size or 0) > LARGEST_FILE:
            raise BadRecords(f"Choose a file of records of at most {LARGEST_FILE // 1_000_000} MB.")
        made = expect_records(project=chosen, records=_records(file.read()), use=_use(request))
    except Refused as refused:
        messages.error(request, refused.sentence)
    else:
        messages.success(request, f"{counted(len(made), 'expected annotation')} taken.")
    return redirect("gold", chosen.slug)


@requires(Right.MANAGE_PROJECTS)
@require_POST
def retire_expected(request: OrganisationRequest, project: str, expected_id: UUID) -> HttpResponse:
    """Give the trace to nobody any more to score them by it."""
    chosen = visible_project(request.membership, project)
    expected = live_expected(chosen, expected_id)
    if expected is None:
        raise Http404
    retire(expected=expected)
    messages.success(request, f"{expected.trace} is retired. Its scores stay.")
    return redirect("gold", chosen.slug)


@requires(Right.MANAGE_PROJECTS)
@require_http_methods(["GET", "HEAD", "POST"])
def expectation(request: OrganisationRequest, project: str, expected_id: UUID) -> HttpResponse:
    """What is expected of one trace, at its lines, what was planted in it, and how to expect something else."""
    chosen = visible_project(request.membership, project)
    rows = ExpectedAnnotation.objects.for_project(chosen).select_related("project", "trace", "source", "made_by")
    expected = get_object_or_404(rows, pk=expected_id)
    typed = None
    if request.method == "POST":
        typed = {name: request.POST.get(name, "") for name in ("annotations", "why")}
        try:
            annotations = _one_object(typed["annotations"])
            change_expectation(expected=expected, annotations=annotations, why=typed["why"])
        except Refused as refused:
            messages.error(request, refused.sentence)
        else:
            messages.success(request, "This is expected from now on. Who was scored by it is scored anew.")
            return redirect("gold-expected", chosen.slug, expected.pk)
    scores = GoldScore.objects.newest().filter(organisation=chosen.organisation_id, expected=expected)
    version = chosen.newest_version()
    context = {
        "project": chosen,
        "expected": expected,
        "title": trace_title(expected.trace.task[:TASK_START], expected.trace.external_id),
        "fault": KIND_TITLES.get(expected.fault, expected.fault),  # type: ignore[call-overload]
        "shown": shown_expectation(expected),
        "typed": typed,
        "scored": scores.count(),
        "version": version.number if version else None,
    }
    return render(request, "gold/expected.html", context, status=422 if typed else 200)


@requires(Right.MANAGE_PROJECTS)
@require_http_methods(["GET", "HEAD", "POST"])
def person(request: OrganisationRequest, project: str, name: str) -> HttpResponse:
    """One person's gold: the scores, the mean with its lines; and what the manager does about it."""
    chosen = visible_project(request.membership, project)
    membership = get_object_or_404(
        Membership.objects.select_related("user").filter(organisation=chosen.organisation_id), annotator_name=name
    )
    user = membership.user
    if request.method == "POST":
        if request.POST.get("do") == "go_on":
            let_go_on(project=chosen, user=user)
            messages.success(request, f"{name} goes on. Scores from now on alone count.")
        elif request.POST.get("do") == "admit":
            admit(project=chosen, user=user)
            messages.success(request, f"{name} may begin.")
        else:
            raise Http404
        return redirect("gold-person", chosen.slug, name)
    standing = person_standing(chosen, user)
    has_practised = PracticeAttempt.objects.filter(project=chosen, user=user).exists()
    if standing is None and not has_practised:
        standing = GoldStanding(project=chosen, user=user, sentence="No gold task is done yet.")
    rows = GoldScore.objects.newest().filter(organisation=chosen.organisation_id, project=chosen, user=user)
    scores = list(rows.select_related("submission", "expected__trace").order_by("-submission"))
    counted_now = counted_scores(chosen, user.pk, standing)
    counts = {score.pk for score in counted_now[-LAST:]}
    everybody = list(GoldScore.objects.newest().filter(organisation=chosen.organisation_id, project=chosen)[:500])
    theirs, others = part_means(scores), part_means(everybody)
    practice, rules = practice_rules(chosen), gold_rules(chosen)
    has_begun = has_worked(chosen, user.pk)
    context = {
        "project": chosen,
        "name": name,
        "standing": standing,
        "rules": rules,
        "chart": score_chart(
            [(timezone.localdate(score.submission.submitted_at), score.score) for score in counted_now],
            thresholds(rules),
        ),
        "scores": [_shown_score(chosen, score, score.pk in counts) for score in scores[:_SCORES_SHOWN]],
        "number": len(scores),
        "met": sum(score.score >= MET for score in scores),
        "parts": [
            (title, value, others.get(title), bar(value), bar(others.get(title, 0))) for title, value in theirs.items()
        ],
        "oneself": with_oneself(chosen, user.pk),
        "practice": practice_state(chosen, user.pk, practice)
        if practice and (has_practised or not has_begun)
        else None,
        "is_admitted": is_admitted(chosen, user.pk),
        "has_worked": has_begun,
        "last": LAST,
    }
    return render(request, "gold/person.html", context)


@requires(Right.ANNOTATE)
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def practice_feedback(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """What was expected of the practice that the person submitted last; POST tries the same once more."""
    user = cast(User, request.user)
    assignment = own_assignment(user, assignment_id, project=project)
    rows = PracticeAttempt.objects.filter(submission__assignment=assignment).select_related("expected", "submission")
    attempt = rows.order_by("-number").first()
    if not assignment.is_practice or attempt is None:
        raise Http404
    rules = practice_rules(assignment.project)
    if request.method == "POST":
        try:
            practice_again(assignment=assignment)
        except Refused as refused:
            messages.error(request, refused.sentence)
            return redirect("practice-feedback", project, assignment_id)
        return redirect("task", project, assignment_id)
    state = None if rules is None else practice_state(assignment.project, user.pk, rules)
    left = 0 if rules is None or attempt.passed else max(0, rules.attempts - attempt.number)
    parts = attempt.parts
    context = {
        "project": assignment.project,
        "trace": assignment.trace,
        "assignment": assignment,
        "attempt": attempt,
        "compared": compare_practice(attempt),
        "version": assignment.version.number,
        "met": sum(part["outcome"] == "as_expected" for part in parts),
        "wanted": sum(part["outcome"] != "extra" for part in parts),
        "rules": rules,
        "state": state,
        "left": left,
    }
    return render(request, "gold/practice_feedback.html", context)


def _use(request: OrganisationRequest) -> Use:
    value = request.POST.get("use", Use.GOLD)
    if value not in Use.values:
        raise Refused("An expected annotation is for gold or for practice.")
    return Use(value)


def _one_object(text: str) -> dict[str, Any]:
    """What is expected, as it was written. Raises BadRecords."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadRecords(f"What is expected is no JSON: {str(error)[:200]}") from None
    if not isinstance(value, dict):
        raise BadRecords("What is expected is an object, with the names of the schemes as its keys.")
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _records(content: bytes) -> list[Any]:
    """The objects of a file, a line each, or one list of them. Raises BadRecords."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadRecords("The file is no text in UTF-8.") from None
    try:
        if text.lstrip().startswith("["):
            return cast("list[Any]", json.loads(text, parse_constant=_refuse_constant))
        return [json.loads(line, parse_constant=_refuse_constant) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise BadRecords(f"The file is no JSON, one object a line: {str(error)[:200]}") from None


def _shown_score(project: Project, score: GoldScore, counts: bool) -> dict[str, Any]:
    trace = score.expected.trace
    parts = score.parts
    return {
        "score": score,
        "title": trace_title(trace.task[:TASK_START], trace.external_id),
        "met": sum(part["outcome"] == "as_expected" for part in parts),
        "wanted": sum(part["outcome"] != "extra" for part in parts),
        "sentences": [part["sentence"] for part in parts if part["outcome"] != "as_expected"][:3],
        "counts": counts,
        "project": project,
    }


def _kept_out(project: Project) -> list[str]:
    """Newcomers whose attempts are used up, by name."""
    rules = practice_rules(project)
    if rules is None:
        return []
    tried = PracticeAttempt.objects.filter(organisation=project.organisation_id, project=project, passed=False)
    users = set(tried.values_list("user", flat=True))
    out = [
        user for user in users if practice_state(project, user, rules).is_kept_out and not is_admitted(project, user)
    ]
    return sorted(annotator_names(out).values())
