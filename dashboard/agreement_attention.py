"""What agreement brings to the attention of a project's managers: people who are fast and agree little, and answers
that are taken for each other."""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from accounts.attention import AttentionItem, Harm, Remedy
from accounts.models import Project
from agreement.matrices import traces_query
from agreement.models import AgreementReport
from agreement.reports import newest_report
from agreement.speed_and_agreement import is_fast
from assignments.wording import duration
from dashboard.figures import People, people_at_work
from dashboard.quality import largest_confusion, people_in
from potato.wording import counted, title_case

_PEOPLE_SHOWN = 3
_CONFUSED_PAIRS = 5


RULE = "dashboard.agreement"
"""The name under which agreement_attention_items is registered."""


def agreement_attention_items(project: Project) -> Iterator[AttentionItem]:
    """Of the newest report; nothing until there is one. One query without a report."""
    report = newest_report(project)
    if report is not None:
        yield from attention_items_in(report, project, lambda: people_at_work(project))


def attention_items_in(
    report: AgreementReport | None, project: Project, people: Callable[[], People]
) -> Iterator[AttentionItem]:
    """The same of this report; `people` is asked only where somebody agrees little."""
    if report is None:
        return
    figures = report.figures
    yield from _fast_people(project, figures, people)
    confusion = largest_confusion(figures)
    if confusion is not None and confusion.pairs >= _CONFUSED_PAIRS:
        url = reverse("agreement", args=[project.slug])
        if confusion.has_traces:
            query = traces_query(report, confusion.number, [confusion.one, confusion.other])
            url = f"{reverse('agreement-traces', args=[project.slug])}?{query}"
        one, other = (title_case(name) for name in (confusion.one, confusion.other))
        yield AttentionItem(
            key=f"confused:{confusion.title}:{confusion.one}:{confusion.other}",
            harm=Harm.CHOICE,
            sentence=f"{counted(confusion.pairs, 'pair')} of annotations say {one} against {other}.",
            reason=f"{confusion.title}: no other two answers to the same trace meet as often. The guidelines may say "
            "where one ends and the other begins.",
            icon="split",
            remedies=(Remedy("agreement", "See where", "columns-2", url=url),),
        )


def _fast_people(project: Project, figures: Mapping[str, Any], known: Callable[[], People]) -> Iterator[AttentionItem]:
    agreements = {name: one for name, one in people_in(figures).items() if one.is_low}
    if not agreements:
        return
    people = known()
    fast = [one for one in people.shown if one.name in agreements and is_fast(one.median, people.median)]
    for person in fast[:_PEOPLE_SHOWN]:
        agreement = agreements[person.name]
        query = urlencode({"annotator": person.name})
        yield AttentionItem(
            key=f"fast:{person.name}",
            harm=Harm.QUALITY,
            sentence=f"{person.name} is fast and agrees little.",
            reason=f"{_in_words(person.median)} a task where all together take {_in_words(people.median)}; "
            f"agreement {agreement.value:.2f} in {counted(agreement.pairs, 'pair')}, {agreement.project:.2f} over all.",
            icon="triangle-alert",
            remedies=(
                Remedy("read", "Read them", "list", url=f"{reverse('annotations', args=[project.slug])}?{query}"),
                Remedy("agreement", "Compare", "columns-2", url=reverse("agreement", args=[project.slug])),
            ),
        )


def _in_words(median: timedelta | None) -> str:
    return duration(median) if median else "no time"
