"""What steps took, and what runs cost, as each format tells it; and the same sessions as two programs tell them."""

import json
from typing import Any

import pytest

from potato.runs.converters.usage import read_usage
from potato.runs.exact_json import step_from, step_record
from potato.runs.model import NO_USAGE, AgentRun, Step, SubAgent, Usage
from tests.potato.runs.reading import jsonl, read, runs, the_one


def spans(*attributes: dict[str, Any]) -> bytes:
    """Calls of a model, each two seconds long."""
    base = 1_767_261_600_000_000_000
    return jsonl(
        *(
            {
                "name": "chat", "traceId": "t", "spanId": f"s{number}",
                "startTimeUnixNano": base + number * 10**10, "endTimeUnixNano": base + number * 10**10 + 2 * 10**9,
                "attributes": {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.output.messages": [
                        {"role": "assistant", "parts": [{"type": "text", "content": f"I say {number}."}]}
                    ],
                    **each,
                },
            }
            for number, each in enumerate(attributes)
        )
    )  # fmt: skip


def claude(*messages: dict[str, Any]) -> bytes:
    common = {"sessionId": "s", "cwd": "/w", "timestamp": "2026-01-01T10:00:00Z", "version": "2.0.1"}
    lines = [{"type": "user", "uuid": "u", "parentUuid": None, "message": {"role": "user", "content": "Fix"}, **common}]
    for number, message in enumerate(messages):
        whole = {"role": "assistant", "content": [{"type": "text", "text": f"I say {number}."}], **message}
        above = f"a{number - 1}" if number else "u"
        lines.append({"type": "assistant", "uuid": f"a{number}", "parentUuid": above, "message": whole, **common})
    return jsonl(*lines)


CACHED = {"prompt_tokens": 110, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 100}}
FIRST, SECOND = Usage(110, 7, 100), Usage(20, 3)
FILES: dict[str, tuple[str, bytes]] = {
    "claude_code": (
        "session.jsonl",
        claude(
            # The first message came in two pieces, of which the second one knows what it took.
            {"id": "m1", "model": "one", "usage": {"input_tokens": 4, "output_tokens": 1}},
            {
                "id": "m1", "model": "one",
                "usage": {
                    "input_tokens": 4, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 6,
                    "output_tokens": 7,
                },
            },
            {"id": "m2", "model": "two", "usage": {"input_tokens": 20, "output_tokens": 3}},
            {"id": "m3", "model": "one", "usage": {"input_tokens": -1, "output_tokens": "3"}},
        ),
    ),
    "atif": (
        "t.json",
        json.dumps(
            {
                "schema_version": "ATIF-v1.4", "session_id": "s",
                "agent": {"name": "agent", "version": "1", "model_name": "one"},
                "steps": [
                    {"step_id": 1, "source": "user", "message": "Fix"},
                    {
                        "step_id": 2, "source": "agent", "message": "a",
                        "metrics": {
                            "prompt_tokens": 110, "completion_tokens": 7, "cached_tokens": 100, "cost_usd": 0.1,
                        },
                    },
                    {
                        "step_id": 3, "source": "agent", "message": "b", "model_name": "two",
                        "metrics": {"prompt_tokens": 20, "completion_tokens": 3, "cost_usd": 0.2},
                    },
                    {"step_id": 4, "source": "agent", "message": "c", "metrics": None},
                ],
            }
        ).encode(),
    ),
    "openai": (
        "log.jsonl",
        jsonl(
            *(
                {"model": model, "choices": [{"message": {"role": "assistant", "content": model}}], "usage": usage}
                for model, usage in (
                    ("one", CACHED),
                    ("two", {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23}),
                    ("one", None),
                )
            )
        ),
    ),
    "otel_genai": (
        "spans.jsonl",
        spans(
            {
                "gen_ai.response.model": "one", "gen_ai.usage.input_tokens": 110, "gen_ai.usage.output_tokens": 7,
                "gen_ai.usage.cache_read.input_tokens": 100,
            },
            {"gen_ai.response.model": "two", "gen_ai.usage.input_tokens": 20, "gen_ai.usage.output_tokens": 3},
            {"gen_ai.response.model": "one"},
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("format", FILES)
def test_each_step_says_what_it_took_and_which_model_wrote_it_where_that_changes(format: str) -> None:
    name, data = FILES[format]
    found = runs(read(data, name, named=format, explicit=True))
    steps = [step for run in found for step in run.steps]
    seconds = 2.0 if format == "otel_genai" else None
    timed = [
        Usage(each.input_tokens, each.output_tokens, each.cached_tokens, seconds) for each in (FIRST, SECOND, NO_USAGE)
    ]
    assert [step.usage for step in steps] == timed
    if len(found) == 1:
        assert found[0].agent_model == "one"
        assert [step.model for step in steps] == ["", "two", ""]
    for step in steps:
        assert step_from(json.loads(json.dumps(step_record(step)))) == step


def test_a_cache_that_is_counted_beside_is_told_by_the_total() -> None:
    beside = {"input": 10, "output": 5, "input_cached_tokens": 90}
    assert read_usage({**beside, "total": 105}) == Usage(100, 5, 90)
    assert read_usage({**beside, "total": 15}) == Usage(10, 5, 90)
    assert read_usage({"input": 10, "output": 5, "cached": 4, "thoughts": 2, "total": 17}) == Usage(10, 7, 4)
    assert read_usage({"input_tokens": True, "output_tokens": 1e300, "cached_tokens": 2.0}) == Usage(cached_tokens=2)
    assert read_usage([1]) == NO_USAGE


def test_a_run_took_what_its_steps_and_their_agents_took() -> None:
    inner = Step("inner", usage=Usage(5, 5, None, 60.0))
    outer = Step("outer", usage=Usage(1, None, 1, 0.1), agents=(SubAgent("helper", steps=(inner,)),))
    run = AgentRun("r", "t", steps=(outer, Step("last", usage=Usage(seconds=0.2)), Step("none")))
    # The time of an agent is that of the call that waits for it.
    assert run.usage == Usage(6, 5, 1, 0.3)
    assert AgentRun("r", "t", steps=(Step("none"),)).usage == NO_USAGE


def test_costs_commits_and_agents_are_read_where_formats_say_them() -> None:
    name, data = FILES["atif"]
    atif = the_one(data, name).run
    assert (atif.cost_usd, atif.agent) == (0.3, "agent")
    row = {
        "instance_id": "a__b-1", "instruction": "Fix", "instance": {"repo": "a/b", "base_commit": "c0ffee"},
        "metrics": {"accumulated_cost": 0.5}, "git_patch": "",
        "history": [{"id": 1, "source": "agent", "action": "message", "args": {"content": "Hello"}}],
    }  # fmt: skip
    openhands = the_one(jsonl(row), "output.jsonl", named="openhands", explicit=True).run
    assert (openhands.repo, openhands.base_commit, openhands.cost_usd) == ("a/b", "c0ffee", 0.5)
    swe = {
        "trajectory": [{"action": "ls", "observation": "a", "response": "r", "thought": "t", "execution_time": 0.25}],
        "info": {"model_stats": {"instance_cost": 1.5}},
        "replay_config": {"env": {"repo": {"github_url": "https://github.com/a/b", "base_commit": "c0ffee"}}},
    }  # fmt: skip
    run = the_one(json.dumps(swe).encode(), "x.traj").run
    assert (run.agent, run.base_commit, run.cost_usd, run.usage) == ("SWE-agent", "c0ffee", 1.5, Usage(seconds=0.25))
