"""Nothing that an annotator is answered tells a task with a known answer from the others.

The same content is imported for both, so that what differs in an answer differs by the kind of the task alone.
"""

import itertools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from uuid_utils.compat import uuid7

from assignments.actions.quotas import open_quotas
from assignments.models import Assignment, Batch, Kind, TraceQuota, Withheld
from assignments.review_queue import to_review
from gold.actions import expect
from gold.models import ExpectedAnnotation, Origin
from tests.assignments.conftest import submit
from tests.gold.conftest import REFUSE, GoldQueue
from traces.models.bodies import pack

API = "/o/acme/api/v1/"
PAIRS = 500
IN_FULL = 40
"""Of so many of each kind every answer is compared, of the rest that of the claim."""
ANSWER = {"verdict": {"decision": "approve", "summary": "It does what was asked for."}}
# Of each person, whose own name and cookie differ.
_PER_REQUEST = {"X-Request-Id", "Date", "Set-Cookie"}


def shape(value: Any) -> Any:
    """What an answer looks like: its keys in their order, and the types and lengths of its values."""
    if isinstance(value, dict):
        return tuple((key, shape(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return (len(value), *map(shape, value))
    return (type(value).__name__, len(value) if isinstance(value, str) else None)


def facts(answer: Any) -> Any:
    """Status, names and values of headers but those of the request, size, and the shape of what it says."""
    headers = tuple((name, value) for name, value in answer.headers.items() if name not in _PER_REQUEST)
    body = json.loads(answer.content) if answer.headers["Content-Type"].startswith("application/json") else None
    return answer.status_code, headers, len(answer.content), shape(body)


def scattered(count: int) -> Iterator[UUID]:
    """Ids whose times mean nothing, as an import of many has them."""
    drawn = Random(5)  # noqa: S311  (the same ones in each run)
    first = uuid7().int >> 80
    for _ in range(count):
        yield UUID(int=(first - drawn.randrange(10**6)) << 80 | drawn.getrandbits(80) & ~(0xF << 76) | 0x7 << 76)


def mix(gold_queue: GoldQueue, number: int, blocks: str = "gold: {rate: 0.5}") -> None:
    """A batch that is due, and so many traces of both kinds, with names and ids of the same kind."""
    gold_queue.publish_with(blocks, target=1)
    traces = gold_queue.add_traces(2 * number, ids=list(scattered(2 * number)))
    while open_quotas(project=gold_queue.project):
        pass
    gold = [traces[at] for at in Random(3).sample(range(len(traces)), number)]  # noqa: S311
    expect(trace=gold[0], annotations=REFUSE)
    # The rest as that one, at once.
    others = [
        ExpectedAnnotation(project=gold_queue.project, trace=trace, origin=Origin.EXPERT, packed=pack(REFUSE))
        for trace in gold[1:]
    ]
    ExpectedAnnotation.objects.bulk_create(others)
    TraceQuota.objects.filter(trace__in=[row.trace_id for row in others]).update(
        withheld=Withheld.KNOWN_ANSWER, is_released=False
    )
    Batch.objects.update(deadline=timezone.localdate() + timedelta(days=5))


@pytest.mark.timeout(900)
def test_five_hundred_pairs_of_answers_are_the_same_for_both_kinds(gold_queue: GoldQueue, client: Client) -> None:
    mix(gold_queue, PAIRS + 150)
    client.force_login(gold_queue.tenants.bob)
    seen: dict[str, dict[str, set[Any]]] = defaultdict(lambda: defaultdict(set))
    kinds: list[str] = []
    order: list[UUID] = []
    post: Any = {"content_type": "application/json"}
    while min(kinds.count(Kind.GOLD), kinds.count(Kind.NORMAL)) < PAIRS:
        claimed = client.post(f"{API}projects/parser/next/", "{}", **post)
        assignment = claimed.json()["assignment"]
        kind = Assignment.objects.values_list("kind", flat=True).get(pk=assignment["id"])
        here = f"{API}assignments/{assignment['id']}/"
        token = {"lease_token": assignment["lease_token"]}
        key: Any = {"HTTP_IDEMPOTENCY_KEY": str(uuid4())}
        answers: dict[str, Any] = {"next": claimed}
        if kinds.count(kind) < IN_FULL:
            content = {**token, "revision": 0, "content": {"answers": {}, "page": {}}}
            answers["detail"] = client.get(here)
            answers["heartbeat"] = client.post(f"{here}heartbeat/", json.dumps(token), **post)
            answers["draft"] = client.put(f"{here}draft/", json.dumps(content), **post)
            body = json.dumps({**token, "annotations": ANSWER})
            answers["submit"] = client.post(f"{here}submit/", body, **post, **key)
            answers["again"] = client.get(here)
        else:
            submit(Assignment.objects.get(pk=assignment["id"]), **ANSWER)
        for name, answer in answers.items():
            assert answer.status_code in (200, 201), (name, answer.content)
            seen[name][kind].add(facts(answer))
        kinds.append(kind)
        order.append(UUID(assignment["trace"]["id"]))
    for name, by_kind in seen.items():
        assert by_kind[Kind.GOLD] == by_kind[Kind.NORMAL], name
    for kind in (Kind.GOLD, Kind.NORMAL):
        # Ids go up and down as often as they do by chance.
        ids = [trace for trace, other in zip(order, kinds, strict=True) if other == kind]
        rises = sum(one < two for one, two in itertools.pairwise(ids)) / (len(ids) - 1)
        assert 0.35 < rises < 0.65, (kind, rises)
        before = [(order[at - 1] < order[at]) for at in range(1, len(order)) if kinds[at] == kind]
        assert 0.4 < sum(before) / len(before) < 0.6, kind


def test_what_annotators_read_of_their_own_past_is_the_same_for_both(gold_queue: GoldQueue, client: Client) -> None:
    mix(gold_queue, 40)
    bob = gold_queue.tenants.bob
    client.force_login(bob)
    tasks = gold_queue.tasks(bob, 16)
    assert {assignment.kind for assignment, _ in tasks} == {Kind.GOLD, Kind.NORMAL}
    listed = client.get(f"{API}projects/parser/annotations/").json()["results"]
    assert [row["submission"] for row in listed] == [str(submission.pk) for _, submission in tasks]
    assert len({shape(row) for row in listed}) == 1
    mine = client.get("/o/acme/annotations/").content.decode()
    pages: dict[str, set[Any]] = defaultdict(set)
    for assignment, submission in tasks:
        assert str(submission.pk) in mine
        page = client.get(f"/o/acme/p/parser/annotations/{submission.pk}/")
        pages[assignment.kind].add(page.status_code)
        task = client.get(f"/o/acme/p/parser/tasks/{assignment.pk}/")
        pages[assignment.kind].add((task.status_code, len(task.content)))
        for text in (mine, page.content.decode(), task.content.decode()):
            assert "gold" not in text.lower().replace("golden", "")
    assert pages[Kind.GOLD] == pages[Kind.NORMAL]
    home = client.get("/o/acme/").content.decode()
    assert "16 by you" in home
    progress = client.get(f"{API}projects/").json()["results"][0]["progress"]
    assert (progress["mine_done"], progress["done"]) == (16, 16)


def test_a_reviewer_reviews_both_and_an_export_has_none_of_the_known(gold_queue: GoldQueue, client: Client) -> None:
    mix(gold_queue, 40, "gold: {rate: 0.5}\nreview: {share: 1}")
    tasks = gold_queue.tasks(gold_queue.tenants.bob, 10)
    queue = {row.pk for row in to_review(gold_queue.project, gold_queue.tenants.mallory)}
    assert queue == {submission.pk for _, submission in tasks}
    client.force_login(gold_queue.tenants.mallory)
    listed = client.get(f"{API}projects/parser/annotations/").json()["results"]
    counted = {str(submission.pk) for assignment, submission in tasks if assignment.kind == Kind.NORMAL}
    assert {row["submission"] for row in listed} == counted


def test_each_request_asks_the_database_the_same_for_both_so_that_its_time_tells_nothing(
    gold_queue: GoldQueue, client: Client
) -> None:
    """Tables are compared, and how they are asked; `bench/bench_gold_timing.py` measures the time itself."""
    mix(gold_queue, 30)
    client.force_login(gold_queue.tenants.bob)
    statements: dict[tuple[str, str], Counter[tuple[str, ...]]] = defaultdict(Counter)
    post: Any = {"content_type": "application/json"}
    for _ in range(20):
        claimed, asked = asked_of_database(client.post, f"{API}projects/parser/next/", "{}", **post)
        assignment = claimed.json()["assignment"]
        kind = Assignment.objects.values_list("kind", flat=True).get(pk=assignment["id"])
        statements["claim", kind][asked] += 1
        here = f"{API}assignments/{assignment['id']}/"
        _, asked = asked_of_database(client.get, f"/o/acme/p/parser/tasks/{assignment['id']}/")
        statements["page", kind][asked] += 1
        body = json.dumps({"lease_token": assignment["lease_token"], "annotations": ANSWER})
        key: Any = {"HTTP_IDEMPOTENCY_KEY": str(uuid4())}
        submitted, asked = asked_of_database(client.post, f"{here}submit/", body, **post, **key)
        assert submitted.status_code == 201, submitted.content
        statements["submit", kind][asked] += 1
    for act in ("claim", "page", "submit"):
        # The first ones also open the queue, and read what a process keeps.
        ((gold, _),), ((other, _),) = (statements[act, kind].most_common(1) for kind in (Kind.GOLD, Kind.NORMAL))
        assert gold == other, (act, Counter(gold) - Counter(other), Counter(other) - Counter(gold))


def asked_of_database(request: Callable[..., Any], *values: Any, **named: Any) -> tuple[Any, tuple[str, ...]]:
    """The answer, and what each statement did to which table first, in alphabetical order."""
    with CaptureQueriesContext(connection) as queries:
        answer = request(*values, **named)
    asked = (re.match(r"\W*(\w+).*?(?:FROM|INTO|UPDATE) \"(\w+)\"", row["sql"], re.S) for row in queries)
    return answer, tuple(sorted(" ".join(match.groups()) for match in asked if match))
