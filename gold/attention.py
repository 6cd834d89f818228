"""What of practice, gold and disagreements needs somebody."""

from collections.abc import Iterator

from django.db.models import Exists, OuterRef
from django.urls import reverse

from accounts.attention import AttentionItem, Harm, Remedy
from accounts.models import ConfigurationVersion, Project
from assignments.models import Suggestion
from assignments.submission_records import annotator_names
from gold.disagreement import nobody_left
from gold.models import ExpectedAnnotation, GoldStanding, State, Use
from gold.practice import practice_rules
from potato.wording import counted
from tenancy.roles import Right
from traces.models import CheckReport


def people_by_their_scores(project: Project) -> Iterator[AttentionItem]:
    """Those whom their scores have warned or paused. One query, and one more where there are some."""
    rows = list(
        GoldStanding.objects.filter(
            organisation=project.organisation_id, project=project, state__in=(State.WARNED, State.PAUSED)
        ).order_by("since")
    )
    names = annotator_names(row.user_id for row in rows) if rows else {}
    for row in rows:
        name = names.get(row.user_id, "Somebody")
        did = "is paused" if row.state == State.PAUSED else "finds less than the line asks for"
        yield AttentionItem(
            key=f"gold-{row.state}:{row.pk}:{row.since:%Y%m%d%H%M%S}",
            harm=Harm.QUALITY,
            sentence=f"{name} {did} in tasks with a known answer.",
            reason=row.sentence,
            icon="pause" if row.state == State.PAUSED else "triangle-alert",
            remedies=(
                Remedy(
                    "look",
                    "Look at it",
                    "search",
                    url=reverse("gold-person", args=[project.slug, name]),
                    right=Right.MANAGE_PROJECTS,
                ),
            ),
        )


def broken_gold(project: Project) -> Iterator[AttentionItem]:
    """Expected annotations by which nobody can be scored, and practice that lacks traces. Two queries."""
    own = ExpectedAnnotation.objects.for_project(project).filter(retired_at__isnull=True)
    broken = own.exclude(problem="").count()
    if broken:
        yield AttentionItem(
            key=f"gold-broken:{broken}",
            harm=Harm.QUALITY,
            sentence=f"Nobody can be scored by {counted(broken, 'expected annotation')}.",
            reason="The schemes of the project were changed since. Retire them, and make new ones.",
            icon="triangle-alert",
            remedies=(_open_gold(project),),
        )
    rules = practice_rules(project)
    if rules is None:
        return
    there = own.filter(use=Use.PRACTICE).count()
    if there < rules.traces:
        yield AttentionItem(
            key=f"practice-few:{there}",
            harm=Harm.QUALITY,
            sentence=f"Newcomers are to practise on {counted(rules.traces, 'trace')}, and there {_are(there)}.",
            reason="They practise on those that are there, and begin then.",
            icon="triangle-alert",
            remedies=(_open_gold(project),),
        )


def gold_without_suggestions(project: Project) -> Iterator[AttentionItem]:
    """Traces with a known answer of which no model suggests anything, where one does of others: annotators could learn
    to tell them. One query."""
    suggested = Suggestion.objects.filter(organisation=project.organisation_id)
    own = ExpectedAnnotation.objects.for_project(project).filter(retired_at__isnull=True, use=Use.GOLD)
    shows = ConfigurationVersion.objects.filter(project=project, configuration__suggestions__shown=True)
    bare = own.filter(Exists(suggested.filter(project=project)), Exists(shows))
    number = bare.exclude(Exists(suggested.filter(trace=OuterRef("trace")))).count()
    if number:
        yield AttentionItem(
            key=f"gold-unsuggested:{number}",
            harm=Harm.QUALITY,
            sentence=f"Nothing is suggested of {counted(number, 'trace')} with a known answer.",
            reason="Others have suggestions of a model, so these could stand out. Send suggestions for them, too.",
            icon="triangle-alert",
            remedies=(_open_gold(project),),
        )


def planted_without_reports(project: Project) -> Iterator[AttentionItem]:
    """Planted copies that lack a report of tests or checkers which has come for their source since. One query."""
    planted = ExpectedAnnotation.objects.for_project(project).filter(
        retired_at__isnull=True, use=Use.GOLD, source__isnull=False
    )
    reports = CheckReport.objects.filter(organisation=project.organisation_id, project=project)
    of_copy = reports.filter(
        external_id=OuterRef(OuterRef("trace__external_id")), kind=OuterRef("kind"), name=OuterRef("name")
    )
    of_source = reports.filter(~Exists(of_copy), external_id=OuterRef("source__external_id"))
    number = planted.filter(Exists(of_source)).count()
    if number:
        yield AttentionItem(
            key=f"gold-unreported:{number}",
            harm=Harm.QUALITY,
            sentence=f"{counted(number, 'planted trace')} {'lacks' if number == 1 else 'lack'} a report of tests or "
            "checkers.",
            reason="What it was made of has one since then, so it could stand out. Retire it, and plant again.",
            icon="triangle-alert",
            remedies=(_open_gold(project),),
        )


def traces_without_anybody(project: Project) -> Iterator[AttentionItem]:
    """Disagreements for which everybody has been asked. One query where there are none."""
    traces = nobody_left(project)
    if traces:
        number = len(traces)
        one = number == 1
        yield AttentionItem(
            key=f"nobody-to-add:{number}:{traces[-1]}",
            harm=Harm.LATE,
            sentence=f"One more annotator is wanted of {counted(number, 'trace')}, and everybody has had "
            f"{'it' if one else 'them'}.",
            reason=f"Those who judged {'it' if one else 'them'} disagree. Invite somebody, or adjudicate.",
            icon="users",
            remedies=(Remedy("people", "Invite people", "user-plus", url=reverse("people", args=[project.slug])),),
        )


def _open_gold(project: Project) -> Remedy:
    return Remedy("look", "Open Gold", "search", url=reverse("gold", args=[project.slug]), right=Right.MANAGE_PROJECTS)


def _are(number: int) -> str:
    return "is none" if not number else "is 1" if number == 1 else f"are {number}"
