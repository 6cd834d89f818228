"""No step of a session is lost: everything that the agent said or called is in a step, or counted with a reason."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from potato.runs.changes.derive import derive
from potato.runs.changes.paths import identity
from potato.runs.converters.reading import read_file
from potato.runs.model import AgentRun, Converted, ReadingOptions, Step
from potato.runs.run_files import source_at
from tests.potato.runs.reading import jsonl, read
from tests.potato.runs.sessions import calls, says
from tests.shared_data import shared_files

KINDS = ("agent", "agent", "agent", "user", "user", "result", "boundary", "summary", "progress", "side", "api")


def all_steps(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps with those of sub-agents, however deep."""
    for step in steps:
        yield step
        for agent in step.agents:
            yield from all_steps(agent.steps)


def objects_in(path: Path) -> Iterator[dict[str, Any]]:
    """The file's objects, read by another hand: also several on one line."""
    decoder = json.JSONDecoder(strict=False)
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        at = 0
        while at < len(line.rstrip()):
            try:
                value, at = decoder.raw_decode(line, at)
            except json.JSONDecodeError:
                break
            if isinstance(value, dict):
                yield value


def said_by_agents(lines: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Every text and every call that an agent's lines hold, as ("text", words) and ("call", id)."""
    for line in lines:
        inner = line.get("data", {}).get("message") if line.get("type") == "progress" else line
        message = inner.get("message") if isinstance(inner, dict) and inner.get("type") == "assistant" else None
        if not isinstance(message, dict) or message.get("model") == "<synthetic>" or line.get("isApiErrorMessage"):
            continue
        content = message.get("content")
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content or []:
            if block.get("type") == "text" and block["text"].strip():
                yield "text", block["text"]
            elif block.get("type", "").endswith("tool_use"):
                yield "call", block["id"]


def shown(runs: Iterable[AgentRun]) -> tuple[str, set[str]]:
    steps = [step for run in runs for step in all_steps(run.steps)]
    return "\n\n".join(step.message for step in steps), {call.id for step in steps for call in step.calls}


def session_files() -> list[Path]:
    return [*shared_files("claude-code/*/session.jsonl"), *shared_files("claude-code/small/*.jsonl")]


def converted_of(path: Path) -> list[Converted]:
    return [one for one in read_file(source_at(path), ReadingOptions()) if isinstance(one, Converted)]


def test_everything_that_the_agents_of_real_sessions_said_is_in_a_step() -> None:
    texts = ids = 0
    for path in session_files():
        found = converted_of(path)
        # No branch of these was left by a person.
        assert not any("message of an abandoned branch" in one.report.dropped for one in found), path
        messages, called = shown(one.run for one in found)
        for kind, said in said_by_agents(objects_in(path)):
            if kind == "text":
                assert said in messages, (path, said)
                texts += 1
            else:
                assert said in called, (path, said)
                ids += 1
    assert (texts > 100, ids > 150) == (True, True)


def test_every_prompt_of_real_sessions_is_the_task_or_stands_before_or_behind_a_step() -> None:
    prompts = 0
    for path in session_files():
        runs = [one.run for one in converted_of(path)]
        heard = "\n\n".join(
            [run.task for run in runs] + [f"{step.prompt}\n\n{step.after}" for run in runs for step in run.steps]
        )
        for line in objects_in(path):
            message = line.get("message")
            if line.get("type") != "user" or line.get("isMeta") or not isinstance(message, dict):
                continue
            content = message.get("content")
            listed = content if isinstance(content, list) else [content]
            blocks = [one if isinstance(one, dict) else {"type": "text", "text": one} for one in listed]
            if line.get("isCompactSummary") or any(block.get("type") == "tool_result" for block in blocks):
                continue
            for block in blocks:
                said = (block.get("text") or "").strip()
                if said and not said.startswith(("<", "[Request interrupted", "Caveat:")):
                    assert said in heard, (path, said)
                    prompts += 1
    assert prompts > 30


def test_every_recorded_edit_of_real_sessions_is_in_the_change_or_has_a_badge() -> None:
    edits = 0
    for path in session_files():
        lines = list(objects_in(path))
        for one in converted_of(path):
            files = {file.path: file for file in derive(one.run).files}
            for line in lines:
                outcome = line.get("toolUseResult")
                if line.get("sessionId") != one.run.external_id or not isinstance(outcome, dict):
                    continue
                name, new = outcome.get("filePath"), outcome.get("newString", outcome.get("content"))
                if not name or not isinstance(new, str) or "/.claude/plans/" in name:
                    continue
                file = files[identity(name, one.run.folder)]
                last = (file.new_text or "") + "".join(row.text + "\n" for hunk in file.hunks for row in hunk.lines)
                assert new.strip() in last or file.badges or _is_edited_again(new, name, lines), (path, name)
                edits += 1
    assert edits > 30


def _is_edited_again(new: str, name: str, lines: list[dict[str, Any]]) -> bool:
    """Whether another edit of the file changed something of what this one wrote."""
    outcomes = [line["toolUseResult"] for line in lines if isinstance(line.get("toolUseResult"), dict)]
    olds = [
        str(one.get("oldString")) for one in outcomes if one.get("filePath") == name and one.get("newString") != new
    ]
    return any(old.strip() in new or new.strip() in old or set(old.split("\n")) & set(new.split("\n")) for old in olds)


@st.composite
def trees(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Lines whose links lead anywhere: back, on, to themselves, nowhere; with boundaries, side chains and pieces."""
    count = draw(st.integers(2, 24))
    keys = [f"u{number}" for number in range(count)]
    links = st.none() | st.sampled_from([*keys, "gone"])
    backwards = draw(st.booleans())
    lines: list[dict[str, Any]] = []
    for number, key in enumerate(keys):
        kind = draw(st.sampled_from(KINDS))
        near = st.just(keys[number - 1]) if number else st.none()
        parent = draw(near | (st.sampled_from(keys[:number]) if backwards and number else links))
        line: dict[str, Any] = {"uuid": key, "parentUuid": parent, "sessionId": "s", "type": "assistant"}
        if draw(st.booleans()):
            line["timestamp"] = f"2026-03-01T10:{draw(st.integers(0, 59)):02}:00Z"
        if kind in ("agent", "side", "api"):
            blocks = [says(f"said {number}."), calls(f"c{number}", "Bash", command="ls")]
            message_id = f"m{draw(st.integers(0, count))}-{kind}" if draw(st.booleans()) else f"m{number}"
            line["message"] = {"role": "assistant", "id": message_id, "content": blocks}
            line |= {"side": {"isSidechain": True}, "api": {"isApiErrorMessage": True}}.get(kind, {})
        elif kind == "boundary":
            line |= {"type": "system", "subtype": "compact_boundary", "logicalParentUuid": draw(links)}
            line["parentUuid"] = None
        elif kind == "progress":
            line |= {"type": "progress", "data": {"type": "hook_progress"}}
        elif kind == "result":
            block = {"type": "tool_result", "tool_use_id": f"c{draw(st.integers(0, count))}", "content": "ok"}
            line |= {"type": "user", "message": {"role": "user", "content": [block]}}
        else:
            line |= {"type": "user", "message": {"role": "user", "content": f"asked {number}."}}
            line |= {"isCompactSummary": True} if kind == "summary" else {}
        lines.append(line)
    return lines


@given(trees())
@settings(max_examples=600, deadline=None)
def test_whatever_the_links_say_every_message_is_in_a_step_or_counted(lines: list[dict[str, Any]]) -> None:
    found = [one for one in read(jsonl(*lines), named="claude_code", explicit=True) if isinstance(one, Converted)]
    agents = [line for line in lines if line["type"] == "assistant"]
    own = [line for line in agents if not line.get("isSidechain") and not line.get("isApiErrorMessage")]
    if not found:
        # Without a step there is an error by name, never an empty success.
        assert len(own) == 0 or all(line.get("isApiErrorMessage") for line in own)
        return
    (converted,) = found
    messages, called = shown([converted.run])
    counted = converted.report.dropped
    missing = [line for line in own if f"said {line['uuid'][1:]}." not in messages]
    assert len(missing) <= counted["message of an abandoned branch"]
    if missing:
        assert counted["abandoned branch"] > 0
        assert _someone_asked_twice(lines)
    # Of sub-agents nothing is ever left out.
    assert all(f"said {line['uuid'][1:]}." in messages for line in agents if line.get("isSidechain"))
    assert {f"c{line['uuid'][1:]}" for line in own if line not in missing} <= called


def _someone_asked_twice(lines: list[dict[str, Any]]) -> bool:
    """Whether a person said anything at all: nobody else can leave a branch."""
    return any(isinstance(line.get("message", {}).get("content"), str) for line in lines)


@given(trees())
@settings(max_examples=200, deadline=None)
def test_a_file_gives_the_same_run_every_time_and_its_steps_stand_in_its_order(lines: list[dict[str, Any]]) -> None:
    data = jsonl(*lines)
    first, second = (read(data, named="claude_code", explicit=True) for _ in range(2))
    assert first == second
    for one in first:
        if isinstance(one, Converted):
            numbers = [int(step.message.split()[1].rstrip(".")) for step in one.run.steps]
            assert numbers == sorted(numbers)
