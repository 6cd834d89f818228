"""How far the annotators of each trace agree: kept by trace, and what lists and releases are narrowed and sorted by."""

import re

import pytest
from django.test import Client

from agreement import by_trace
from agreement.models import TraceAgreement
from assignments.actions.submitting import withdraw
from assignments.pool.filters import PoolFilters
from assignments.pool.listing import PoolList
from jobs import outbox
from tenancy.actor import Actor, acting
from tests.agreement.conftest import Comparing

TRACES = "/o/acme/p/parser/traces/"


def deliver(comparing: Comparing) -> None:
    outbox.deliver(Actor(comparing.tenants.acme.pk, (comparing.tenants.acme.pk,)))


def values(comparing: Comparing) -> dict[str, float]:
    with acting(comparing.actor):
        rows = TraceAgreement.objects.for_project(comparing.project)
        return {name: round(value, 2) for name, value in rows.values_list("trace__external_id", "value")}


@pytest.fixture
def judged(comparing: Comparing) -> Comparing:
    """Two say the same of one trace and little alike of another; a third has one annotation."""
    comparing.publish()
    for name in ("alike", "apart", "single"):
        comparing.trace(name)
    bob, dora = comparing.tenants.bob, comparing.tenants.dora
    comparing.judge(bob)
    comparing.judge(bob, "approve", rating=5, labels="ccc")
    comparing.judge(bob)
    comparing.judge(dora)
    comparing.judge(dora, "request_changes", rating=1, labels="iii")
    return comparing


def test_each_annotation_brings_the_agreement_on_its_trace_up_to_date(judged: Comparing) -> None:
    deliver(judged)
    assert values(judged) == {"alike": 1.0, "apart": 0.0}
    submission = judged.judge(judged.tenants.dora)
    deliver(judged)
    assert set(values(judged)) == {"alike", "apart", "single"}
    with acting(judged.actor):
        withdraw(submission=submission)
    deliver(judged)
    assert set(values(judged)) == {"alike", "apart"}


def test_a_report_brings_all_traces_up_to_date_some_at_a_time(
    judged: Comparing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_trace, "TRACES_AT_ONCE", 1)
    monkeypatch.setattr(by_trace, "TRACES_A_PART", 1)
    judged.compute()
    assert values(judged) == {"alike": 1.0, "apart": 0.0}


def test_the_list_of_traces_shows_narrows_and_sorts_by_it(judged: Comparing, client: Client) -> None:
    deliver(judged)
    client.force_login(judged.tenants.mallory)
    page = client.get(f"{TRACES}?sort=agreement").content.decode()
    assert re.findall(r'<span class="bad-t">([\d.]+)</span>', page) == ["0.00"]
    assert page.index("apart") < page.index("alike") < page.index("single")
    narrowed = client.get(f"{TRACES}?agreement=low").content.decode()
    assert "1 to 1 of 1" in narrowed
    assert "apart" in narrowed
    with acting(judged.actor):
        (chip,) = PoolList(judged.project, PoolFilters()).chips(["agreement"], 3).shown
        assert [(option.value, option.count) for option in chip.options] == [("low", 1), ("middle", 0), ("high", 1)]


def test_a_program_narrows_by_it(judged: Comparing, client: Client) -> None:
    deliver(judged)
    client.force_login(judged.tenants.mallory)
    answer = client.post(
        "/o/acme/api/v1/projects/parser/traces/steer/",
        {"act": "tag", "filter": {"agreement": ["low"]}, "tag": "look again"},
        content_type="application/json",
    )
    told = answer.json()
    assert told.pop("act"), "by which it can be undone"
    assert told == {"done": 1, "sentence": "1 tagged “look again”."}
