"""Tokens, time, cost, models and agents of runs: on its page, in the list's filters, over the API; and for whom not."""

from typing import Any

import pytest
from django.test import Client

from potato.runs.model import Step, Usage
from tests.assignments.opening import DEFAULTS, REWARDS, claimed, path_of, publish
from tests.pages import text_of
from tests.tenants import Tenants
from tests.traces.stored import outcome, stored
from traces.models import Trace


@pytest.fixture
def trace(tenants: Tenants) -> Trace:
    """Three steps: an agent's own, one of another agent by another model, and one that says nothing of itself."""
    publish(tenants, DEFAULTS + REWARDS)
    steps = (
        Step("First.", usage=Usage(120_000, 310, 100_000, 4.25)),
        Step("Second.", model="small-<model>", agent="planner", usage=Usage(output_tokens=7)),
        Step("Third."),
    )
    acme, project = tenants.acme, tenants.acme_project
    told = stored(
        acme, project, outcome("a.py", "a\n", "b\n"), steps=steps, agent="SWE-agent", base_commit="c0ffee", cost_usd=1.5
    )
    stored(acme, project, outcome("b.py", "a\n", "b\n"), external_id="silent", steps=(Step("Nothing known."),))
    return told


def test_the_trace_page_says_what_the_run_and_its_steps_took(tenants: Tenants, client: Client, trace: Trace) -> None:
    client.force_login(tenants.alice)
    page = text_of(client.get(f"/o/acme/p/parser/traces/{trace.pk}/steps/"))
    first, second, third = (part for part in page.split('<article class="step') if 'id="s' in part[:80])
    assert "120,000 tokens in, 310 out, 4.2 s" in first
    assert "7 out</span>" in second
    assert "<b>small-&lt;model&gt;</b> <b>planner</b>" in second
    # The third one is by the run's own again.
    assert "<b>harbor-coder-2</b> <b>SWE-agent</b>" in third
    assert " tokens in" not in third
    for fact in ("<dd>SWE-agent</dd>", "c0ffee</dd>", "120,000 in, 317 out", "4.2 s", "1.50 US dollars"):
        assert fact in page, fact


def test_annotators_read_what_a_step_took_and_neither_model_nor_agent(
    tenants: Tenants, client: Client, trace: Trace
) -> None:
    client.force_login(tenants.bob)
    assignment = claimed(tenants)
    assert assignment.trace_id == trace.pk
    shown = text_of(client.get(path_of(assignment, "steps/")))
    assert "120,000 tokens in" in shown
    for name in ("planner", "small-", "SWE-agent", "harbor-coder"):
        assert name not in shown, name


def test_traces_are_found_by_agent_tokens_and_cost(tenants: Tenants, client: Client, trace: Trace) -> None:
    client.force_login(tenants.alice)

    def found(query: str) -> list[str]:
        answer = client.get(f"/o/acme/api/v1/projects/parser/traces/?{query}").json()
        return sorted(row["external_id"] for row in answer["results"])

    assert found("agent=SWE-agent") == ["trace_042"]
    assert found("agent=-") == ["silent"]
    assert found("usage=tokens-1m") == ["trace_042"]
    assert found("usage=tokens-100k&usage=cost-1") == []
    assert found("usage=tokens-100k&usage=cost-more") == ["trace_042"]
    assert "over 1 US dollar" in text_of(client.get("/o/acme/p/parser/traces/?usage=cost-more"))
    assert "Agent program" in text_of(client.get("/o/acme/p/parser/traces/"))


def test_the_api_says_what_is_known_of_a_run_and_null_for_the_rest(
    tenants: Tenants, client: Client, trace: Trace
) -> None:
    client.force_login(tenants.alice)
    address = f"/o/acme/api/v1/projects/parser/traces/{trace.pk}/"
    whole: dict[str, Any] = client.get(address).json()
    known = {
        name: whole[name] for name in ("agent", "base_commit", "cost_usd", "input_tokens", "output_tokens", "seconds")
    }
    assert known == {
        "agent": "SWE-agent", "base_commit": "c0ffee", "cost_usd": 1.5, "input_tokens": 120_000, "output_tokens": 317,
        "seconds": 4.25,
    }  # fmt: skip
    first, second, third = client.get(f"{address}steps/").json()["results"]
    assert first["usage"] == {"input_tokens": 120_000, "output_tokens": 310, "cached_tokens": 100_000, "seconds": 4.25}
    assert (second["model"], second["agent"], second["usage"]) == ("small-<model>", "planner", {"output_tokens": 7})
    assert (third["model"], third["agent"], third["usage"]) == ("", "", {})
    silent = client.get("/o/acme/api/v1/projects/parser/traces/?q=silent").json()["results"][0]
    assert (silent["agent"], silent["cost_usd"], silent["input_tokens"], silent["seconds"]) == ("", None, None, None)
