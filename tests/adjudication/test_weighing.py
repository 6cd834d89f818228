"""What annotators' answers say together, each weighed by how reliable its annotator is on all traces."""

from pathlib import Path

import pytest
from django.test import Client

from adjudication.weighing import _most_probable
from tenancy.actor import acting_in
from tests.adjudication.conftest import Disagreeing, choice
from tests.assignments.conftest import annotators
from tests.tenants import Tenants
from traces.models import Trace

TRUTH = ["approve", "request_changes"] * 4
"""What a careful person says of each trace."""


@pytest.fixture
def crowd(committed_tenants: Tenants, tmp_path: Path) -> Disagreeing:
    """Two people say what is so, and two approve whatever they are given: half of the traces are two against two."""
    made = Disagreeing(committed_tenants, committed_tenants.acme_project, tmp_path)
    made.publish_adjudication(target=4)
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        careful, careless = annotators(2)
    for number in range(len(TRUTH)):
        made.trace(f"t{number}")
    for decision in TRUTH:
        for person in (careful, committed_tenants.dora):
            made.judge(person, decision)
        for person in (careless, committed_tenants.bob):
            made.judge(person)
    made.deliver()
    return made


def test_two_against_two_is_weighed_by_who_is_right_elsewhere_and_offered_with_how_sure_that_is(
    crowd: Disagreeing, client: Client
) -> None:
    adjudicator = crowd.adjudicator(crowd.tenants.mallory)
    taken = adjudicator.taken()
    (verdict,) = [row for row in taken["questions"] if row["title"] == "Verdict"]
    assert (verdict["consensus"], verdict["weighed"]) == (None, None), "no report of agreement was made yet"

    crowd.compute()
    taken = adjudicator.taken()
    (verdict,) = [row for row in taken["questions"] if row["title"] == "Verdict"]
    says = {row["annotation"]: row["value"]["decision"] for row in verdict["answers"]}
    assert says[verdict["weighed"]["annotation"]] == "request_changes"
    assert verdict["weighed"]["probability"] > 0.9
    assert any("fewer than 10 units" in doubt for doubt in verdict["weighed"]["doubts"])
    others = [row for row in taken["questions"] if row["title"] != "Verdict"]
    assert {row["weighed"] for row in others} == {None}, "nobody differs there"

    client.force_login(crowd.tenants.mallory)
    page = client.get(f"/o/acme/p/parser/traces/{crowd_trace(crowd, taken)}/adjudicate/").content.decode()
    assert "Weighed: Request Changes" in page
    made = adjudicator.settle(taken, [choice(taken, "Verdict", "kept", verdict["weighed"]["annotation"])])
    assert made["record"]["annotations"]["verdict"]["decision"] == "request_changes"


def crowd_trace(crowd: Disagreeing, taken: dict[str, str]) -> str:
    with acting_in(crowd.tenants.acme, crowd.tenants.alice):
        return str(Trace.objects.get(external_id=taken["trace"]).pk)


def test_the_one_value_that_a_report_knows_is_certain_and_two_as_probable_ones_are_no_start() -> None:
    one = {"values": ["approve"], "reliability": {"priors": [1.0], "annotators": {}}}
    assert _most_probable(one, {0: "approve", 1: "approve"}, ["bob", "dora"]) == (0, 1.0)
    two = {"values": ["approve", "comment"], "reliability": {"priors": [0.5, 0.5], "annotators": {}}}
    assert _most_probable(two, {0: "approve", 1: "comment"}, ["bob", "dora"]) is None


def test_the_report_says_how_reliable_each_annotator_is(crowd: Disagreeing) -> None:
    compared = {part["name"]: part for part in crowd.compute().figures["compared"]}
    decision = compared["decision"]
    right, wrong = (decision["values"].index(value) for value in ("request_changes", "approve"))
    tables = decision["reliability"]["annotators"]
    assert tables["dora"][right][right] > 0.7
    assert tables["bob"][right][wrong] > 0.7
    assert sum(decision["reliability"]["priors"]) == pytest.approx(1, abs=0.001)
    assert all("reliability" not in part for name, part in compared.items() if name not in ("decision", "labels"))
