"""A session's sub-agents, wherever their transcripts lie: folded under the call that started them, or missed."""

import io
import json
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from potato.runs.changes.derive import derive
from potato.runs.converters.reading import read_file
from potato.runs.model import AgentRun, Bounds, Converted, ReadingOptions, SubAgent, Unreadable
from potato.runs.packages import packed, run_files, sources_in
from potato.runs.run_files import StoredRunFile, source_at
from tests.potato.runs.reading import jsonl, the_one
from tests.potato.runs.sessions import FOLDER, SessionFile, calls, edited, says

CART = f"{FOLDER}/cart.py"


def session_with_a_call(**outcome: Any) -> SessionFile:
    session = SessionFile("s-1")
    session.user("Fix the cart.")
    session.agent(calls("c1", "Agent", prompt="Round.", subagent_type="fixer"), message_id="m1")
    session.result("c1", "Rounded.", outcome or None)
    session.agent(calls("c2", "Edit", file_path=CART), message_id="m2")
    session.result("c2", "ok", edited(CART, "cents", "Cents", "cents\n"))
    session.agent(says("Done."), message_id="m3")
    return session


def agent_file(*, agent_id: str = "a1", minute: int = 0) -> bytes:
    """What a sub-agent did: it edited the cart after its call and before the session's own edit."""
    agent = SessionFile("s-1")
    side: dict[str, Any] = {"isSidechain": True, "agentId": agent_id}
    agent.user("Round.", **side)
    agent.agent(says("I round."), calls("a-1", "Edit", file_path=CART), message_id="am1", **side)
    agent.result("a-1", "ok", edited(CART, "price", "cents", "price\n"), **side)
    agent.agent(says("Rounded."), message_id="am2", **side)
    for number, line in enumerate(agent.lines):
        line["timestamp"] = f"2026-03-01T10:00:01.{number}Z"
    return jsonl(*agent.lines)


def written(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def as_zip(files: dict[str, bytes]) -> bytes:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w") as package:
        for name, data in files.items():
            package.writestr(name, data)
    return kept.getvalue()


def runs_in(data: bytes) -> list[Converted | Unreadable]:
    """What the members of a ZIP answer, without the choices of formats."""
    found: list[Converted | Unreadable] = []
    for source in sources_in("runs.zip", lambda: io.BytesIO(data)):
        answers = [source] if isinstance(source, Unreadable) else list(read_file(source, ReadingOptions()))
        found += [one for one in answers if isinstance(one, Converted | Unreadable)]
    return found


def the_run(answers: list[Converted | Unreadable]) -> AgentRun:
    (converted,) = answers
    assert isinstance(converted, Converted), converted
    return converted.run


def the_agent(run: AgentRun, at: int = 0) -> SubAgent:
    (agent,) = run.steps[at].agents
    return agent


META = json.dumps({"agentType": "fixer", "name": "rounder", "toolUseId": "c1", "spawnDepth": 1}).encode()
TODAY = {
    "p/s-1.jsonl": session_with_a_call().bytes(),
    "p/s-1/subagents/agent-a1.jsonl": agent_file(),
    "p/s-1/subagents/agent-a1.meta.json": META,
}


@pytest.mark.parametrize(
    ("files", "name"),
    [
        (TODAY, "rounder"),
        ({**TODAY, "p/s-1/subagents/agent-a1.meta.json": b"{torn"}, "fixer"),
        (
            {
                "p/s-1.jsonl": session_with_a_call(agentId="a1").bytes(),
                "p/s-1/subagents/agent-a1.jsonl": agent_file().replace(b'"Round."', b'"Otherwise."'),
            },
            "fixer",
        ),
        ({"p/s-1.jsonl": session_with_a_call().bytes(), "p/agent-a1.jsonl": agent_file()}, "fixer"),
        (
            {
                "p/s-1.jsonl": session_with_a_call(runId="wf_1").bytes(),
                "p/s-1/subagents/workflows/wf_1/agent-a1.jsonl": agent_file().replace(b'"Round."', b'"Part one."'),
            },
            "fixer",
        ),
    ],
)
def test_a_session_and_its_agents_are_one_run_in_a_zip_and_in_a_folder(
    files: dict[str, bytes], name: str, tmp_path: Path
) -> None:
    (path,) = run_files(written(tmp_path, files))
    from_folder = [one for one in read_file(source_at(path), ReadingOptions()) if isinstance(one, Converted)]
    for run in (the_run(runs_in(as_zip(files))), the_run([*from_folder])):
        assert [step.message for step in run.steps] == ["", "", "Done."]
        agent = the_agent(run)
        assert (agent.name, agent.call_id) == (name, "c1")
        assert [step.message for step in agent.steps] == ["I round.", "Rounded."]
        (file,) = derive(run).files
        assert (file.old_text, file.new_text, file.badges) == ("price\n", "Cents\n", ())
        assert file.steps == (0, 1)
        assert run.gaps == ()


def test_steps_have_the_same_index_with_and_without_the_agents_transcripts() -> None:
    alone = the_one(session_with_a_call().bytes()).run
    whole = the_run(runs_in(as_zip(TODAY)))
    assert [step.calls for step in alone.steps] == [step.calls for step in whole.steps]


def test_a_run_whose_agents_are_missing_says_so_and_doubts_what_it_knew() -> None:
    session = SessionFile()
    session.user("Fix the cart.")
    session.agent(calls("c1", "Edit", file_path=CART), message_id="m1")
    session.result("c1", "ok", edited(CART, "price", "cents", "price\n"))
    session.agent(calls("c2", "Task", prompt="Test it."), calls("c3", "Task", prompt="Document it."), message_id="m2")
    session.result("c2", "Tested.")
    session.result("c3", "Documented.")
    run = the_one(session.bytes()).run
    assert run.gaps == (
        "The transcripts of 2 sub-agents are missing, and what happened there is not shown. Import the session's file "
        "together with the folder of its name, as a folder or a ZIP.",
    )
    (file,) = derive(run).files
    assert [badge.code.value for badge in file.badges] == ["change_not_recorded"]


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [
        ({"subagent_type": "Explore"}, None),
        ({}, {"toolStats": {"editFileCount": 0, "bashCount": 0, "readCount": 3}}),
    ],
)
def test_a_missing_agent_that_only_looked_casts_no_doubt_on_files(arguments: dict[str, Any], outcome: Any) -> None:
    session = SessionFile()
    session.user("Fix the cart.")
    session.agent(calls("c1", "Edit", file_path=CART), message_id="m1")
    session.result("c1", "ok", edited(CART, "price", "cents", "price\n"))
    session.agent(calls("c2", "Agent", prompt="Look.", **arguments), message_id="m2")
    session.result("c2", "Seen.", outcome)
    run = the_one(session.bytes()).run
    assert len(run.gaps) == 1
    assert derive(run).files[0].badges == ()


def test_a_refused_or_failed_call_started_no_agent() -> None:
    session = SessionFile()
    session.user("Fix the cart.")
    session.agent(calls("c1", "Task", prompt="Look."), calls("c2", "Task", prompt="Look."), message_id="m1")
    session.result("c1", "No such agent.", is_error=True)
    session.result("c2", "The user doesn't want to proceed with this tool use.", is_error=True)
    assert the_one(session.bytes()).run.gaps == ()


def test_an_agent_of_an_agent_is_folded_under_its_own_call() -> None:
    inner = agent_file(agent_id="b2").replace(b"am1", b"bm1").replace(b"am2", b"bm2").replace(b'"a-1"', b'"b-1"')
    outer = SessionFile("s-1")
    side: dict[str, Any] = {"isSidechain": True, "agentId": "a1"}
    outer.user("Round.", **side)
    outer.agent(calls("o-1", "Agent", prompt="Round it."), message_id="om1", **side)
    outer.result("o-1", "ok", **side)
    files = {
        "s-1.jsonl": session_with_a_call().bytes(),
        "s-1/subagents/agent-a1.jsonl": outer.bytes(),
        "s-1/subagents/agent-b2.jsonl": inner,
        "s-1/subagents/agent-b2.meta.json": b'{"toolUseId": "o-1", "agentType": "inner"}',
    }
    run = the_run(runs_in(as_zip(files)))
    (deep,) = the_agent(run).steps[0].agents
    assert (deep.name, [step.message for step in deep.steps]) == ("inner", ["I round.", "Rounded."])
    assert derive(run).files[0].steps == (0, 1)


def test_agents_are_folded_four_levels_deep_and_a_deeper_one_stands_beside() -> None:
    files = {"s-1.jsonl": session_with_a_call().bytes()}
    for level in range(1, 6):
        agent = SessionFile("s-1")
        side: dict[str, Any] = {"isSidechain": True, "agentId": f"a{level}"}
        call = calls(f"call-{level}", "Agent", prompt=f"Task {level + 1}.")
        agent.agent(says(f"Level {level}."), call, message_id=f"am{level}", **side)
        files[f"s-1/subagents/agent-a{level}.jsonl"] = agent.bytes()
        called = "c1" if level == 1 else f"call-{level - 1}"
        files[f"s-1/subagents/agent-a{level}.meta.json"] = json.dumps({"toolUseId": called}).encode()
    (converted,) = runs_in(as_zip(files))
    assert isinstance(converted, Converted)
    assert sorted(depths(_all_agents(converted.run))) == [(1, 1), (2, 2), (3, 3), (4, 4), (5, 1)]
    assert converted.report.repairs == {"sub-agent without its call": 1}


def test_an_agent_whose_call_nobody_knows_stands_with_the_step_before_its_first_line() -> None:
    for second, step in ((2, 0), (4, 1), (9, 2)):
        agent = agent_file().replace(b'"Round."', b'"Otherwise."')
        files = {
            "s-1.jsonl": session_with_a_call().bytes(),
            "s-1/subagents/agent-a1.jsonl": agent.replace(b"T10:00:01.", f"T10:00:0{second}.".encode()),
        }
        (converted,) = runs_in(as_zip(files))
        assert isinstance(converted, Converted)
        assert [len(one.agents) for one in converted.run.steps].index(1) == step
        assert converted.report.repairs == {"sub-agent without its call": 1}


def test_two_agents_of_one_task_stand_with_a_call_each() -> None:
    session = SessionFile("s-1")
    session.user("Fix the cart.")
    for number in (1, 2):
        call = calls(f"c{number}", "Agent", prompt="Round.", subagent_type=f"fixer {number}")
        session.agent(call, message_id=f"m{number}")
        session.result(f"c{number}", "Rounded.")
    files = {"s-1.jsonl": session.bytes()} | {
        f"s-1/subagents/agent-{one}.jsonl": agent_file(agent_id=one).replace(b'"a-1"', f'"{one}-1"'.encode())
        for one in ("a1", "b1")
    }
    run = the_run(runs_in(as_zip(files)))
    assert [[agent.name for agent in step.agents] for step in run.steps] == [["fixer 1"], ["fixer 2"]]


def depths(agents: Iterable[SubAgent], depth: int = 1) -> list[tuple[int, int]]:
    """Of each agent the level that it names, and how deep it is folded."""
    found = []
    for agent in agents:
        found.append((int(agent.steps[0].message[6]), depth))
        for step in agent.steps:
            found += depths(step.agents, depth + 1)
    return found


def test_agents_that_say_that_they_started_each_other_are_not_lost() -> None:
    files = {"s-1.jsonl": session_with_a_call().bytes()}
    for one, other in (("a", "b"), ("b", "a")):
        agent = SessionFile("s-1")
        side: dict[str, Any] = {"isSidechain": True, "agentId": one}
        agent.agent(says(f"I am {one}."), calls(f"call-{one}", "Agent", prompt="x"), message_id=f"m-{one}", **side)
        files[f"s-1/subagents/agent-{one}.jsonl"] = agent.bytes()
        files[f"s-1/subagents/agent-{one}.meta.json"] = json.dumps({"toolUseId": f"call-{other}"}).encode()
    run = the_run(runs_in(as_zip(files)))
    assert sorted(step.message for agent in _all_agents(run) for step in agent.steps) == ["I am a.", "I am b."]


def _all_agents(run: AgentRun) -> list[SubAgent]:
    return [agent for step in run.steps for agent in step.agents]


def test_agents_of_the_program_itself_are_counted_and_left_out() -> None:
    files = {
        "s-1.jsonl": session_with_a_call().bytes(),
        "s-1/subagents/agent-acompact-12.jsonl": agent_file(agent_id="acompact-12"),
    }
    (converted,) = runs_in(as_zip(files))
    assert isinstance(converted, Converted)
    assert _all_agents(converted.run) == []
    assert converted.report.dropped == {"message of an agent of the program": 4}


def test_an_agents_file_is_preferred_to_its_lines_in_the_session() -> None:
    session = session_with_a_call()
    inner = {"type": "assistant", "message": {"role": "assistant", "content": [says("I round.")]}}
    data = {"type": "agent_progress", "agentId": "a1", "message": inner}
    session.line("progress", parentToolUseID="c1", data=data)
    run = the_run(runs_in(as_zip({**TODAY, "p/s-1.jsonl": session.bytes()})))
    assert [step.message for step in the_agent(run).steps] == ["I round.", "Rounded."]


def test_a_long_output_that_lies_beside_is_the_calls_result() -> None:
    session = SessionFile("s-1")
    session.user("Look.")
    session.agent(calls("c1", "Bash", command="cat all"), message_id="m1")
    session.result(
        "c1",
        "<persisted-output>\nOutput too large (50KB). Full output saved to: /home/alice/.claude/projects/p/s-1/"
        "tool-results/c1.txt\n\nPreview (first 2KB):\nbegin",
    )
    files = {"s-1.jsonl": session.bytes(), "s-1/tool-results/c1.txt": b"begin and end"}
    assert the_run(runs_in(as_zip(files))).steps[0].calls[0].result == "begin and end"
    alone = the_one(session.bytes()).run.steps[0].calls[0].result
    assert alone is not None
    assert alone.startswith("<persisted-output>")


def with_outputs(*outputs: str) -> SessionFile:
    """A session whose commands each left an output of that name beside it."""
    session = SessionFile("s-1")
    session.user("Look.")
    for number, name in enumerate(outputs):
        session.agent(calls(f"c{number}", "Bash", command="cat all"), message_id=f"m{number}")
        session.result(f"c{number}", f"Full output saved to: /home/alice/p/s-1/tool-results/{name}\n\nbegin")
    return session


def read_beside(
    session: SessionFile, files: dict[str, bytes], bounds: Bounds
) -> tuple[Converted | Unreadable, list[str]]:
    """What is read of the session where these files lie beside it, and the names of those that were opened."""
    opened = []

    def beside(name: str) -> Callable[[], BinaryIO] | None:
        def opens() -> BinaryIO:
            opened.append(name)
            return io.BytesIO(files[name])

        return opens if name in files else None

    data = session.bytes()
    source = StoredRunFile("s-1.jsonl", lambda: io.BytesIO(data), 0, bounds, beside=beside, names=lambda: list(files))
    *_, found = read_file(source, ReadingOptions(bounds=bounds))
    assert isinstance(found, Converted | Unreadable)
    return found, opened


def test_an_output_is_taken_from_the_folder_of_outputs_alone() -> None:
    files = {"s-1/c1.txt": b"another", "s-1/tool-results/c1.txt": b"begin and end"}
    found, _ = read_beside(with_outputs("c1.txt"), files, Bounds())
    assert isinstance(found, Converted)
    assert found.run.steps[0].calls[0].result == "begin and end"


def test_an_output_over_the_bound_of_a_document_leaves_what_the_session_has_of_it() -> None:
    session = with_outputs("c1.txt")
    bounds = Bounds(document_bytes=10_000)
    found, _ = read_beside(session, {"s-1/tool-results/c1.txt": b"x" * 10_001}, bounds)
    assert isinstance(found, Converted)
    assert str(found.run.steps[0].calls[0].result).endswith("begin")


def test_outputs_count_for_the_bound_of_a_run_and_beyond_it_none_is_read() -> None:
    names = [f"c{number}.txt" for number in range(5)]
    session = with_outputs(*names)
    files = {f"s-1/tool-results/{name}": b"x" * 10_000 for name in names}
    room = len(session.bytes())
    found, opened = read_beside(session, files, Bounds(run_bytes=room + 50_000))
    assert isinstance(found, Converted)
    assert len(opened) == 5
    found, opened = read_beside(session, files, Bounds(run_bytes=room + 10_000))
    assert isinstance(found, Unreadable)
    assert (found.code, len(opened)) == ("too_large", 2)


def test_a_sub_agents_transcript_alone_is_refused_with_what_to_do() -> None:
    (refusal,) = runs_in(as_zip({"s-1/subagents/agent-a1.jsonl": agent_file()}))
    assert isinstance(refusal, Unreadable)
    assert "holds what a sub-agent did" in refusal.sentence
    assert "Import the session's own file together with the folder of its name." in refusal.sentence


def test_sub_agents_count_for_the_bound_of_a_run() -> None:
    source = StoredRunFile("s-1.jsonl", lambda: io.BytesIO(session_with_a_call().bytes()), 0)
    big = Bounds(run_bytes=len(session_with_a_call().bytes()) + 100)
    files = {"s-1/subagents/agent-a1.jsonl": agent_file()}
    source = StoredRunFile(
        "s-1.jsonl",
        lambda: io.BytesIO(session_with_a_call().bytes()),
        0,
        beside=lambda name: (lambda: io.BytesIO(files[name])) if name in files else None,
        names=lambda: list(files),
    )
    *_, refusal = read_file(source, ReadingOptions(bounds=big))
    assert isinstance(refusal, Unreadable)
    assert refusal.code == "too_large"


def test_folders_of_two_sessions_do_not_mix(tmp_path: Path) -> None:
    other = {name.replace("s-1", "s-2"): data.replace(b"s-1", b"s-2") for name, data in TODAY.items()}
    found = [one.run for one in runs_in(as_zip(TODAY | other)) if isinstance(one, Converted)]
    assert [(run.external_id, len(_all_agents(run))) for run in found] == [("s-1", 1), ("s-2", 1)]
    assert [path.name for path in run_files(written(tmp_path, TODAY | other))] == ["s-1.jsonl", "s-2.jsonl"]


def of_session(session_id: str) -> bytes:
    return agent_file().replace(b"s-1", session_id.encode())


@pytest.mark.parametrize(
    ("agent", "counted"),
    [
        (of_session("s-9"), "sub-agent file of another session: left out"),
        (agent_file().replace(b'"sessionId"', b'"session"'), "sub-agent file without a session's id: left out"),
    ],
)
def test_a_sub_agent_of_another_session_in_the_sessions_folder_is_left_out_counted_and_named_as_a_gap(
    agent: bytes, counted: str
) -> None:
    for path in ("s-1/subagents/agent-a1.jsonl", "s-1/subagents/workflows/w1/agent-a1.jsonl"):
        (converted,) = runs_in(as_zip({"s-1.jsonl": session_with_a_call().bytes(), path: agent}))
        assert isinstance(converted, Converted)
        assert _all_agents(converted.run) == []
        assert "I round." not in repr(converted.run)
        assert converted.report.repairs == {counted: 1}
        assert any("not known to be this session's" in gap for gap in converted.run.gaps)


def test_an_agents_file_that_lies_beside_belongs_to_another_session_without_a_word() -> None:
    files = {"s-1.jsonl": session_with_a_call().bytes(), "agent-a1.jsonl": of_session("s-9")}
    (converted,) = [one for one in runs_in(as_zip(files)) if isinstance(one, Converted)]
    assert converted.report.repairs == {}


def test_sessions_in_one_file_share_its_folder() -> None:
    both = session_with_a_call().bytes() + session_with_a_call().bytes().replace(b"s-1", b"s-2")
    files = {
        "s-1.jsonl": both,
        "s-1/subagents/agent-a1.jsonl": agent_file(),
        "s-1/subagents/agent-a2.jsonl": of_session("s-2"),
    }
    found = [one for one in runs_in(as_zip(files)) if isinstance(one, Converted)]
    assert [(one.run.external_id, len(_all_agents(one.run))) for one in found] == [("s-1", 1), ("s-2", 1)]
    assert [one.report.repairs for one in found] == [{}, {}]


def test_a_session_is_packed_with_its_folder_and_a_lone_file_is_not(tmp_path: Path) -> None:
    written(tmp_path, TODAY)
    package = io.BytesIO()
    assert packed(tmp_path / "p" / "s-1.jsonl", package)
    assert the_agent(the_run(runs_in(package.getvalue()))).name == "rounder"
    whole = io.BytesIO()
    assert packed(tmp_path, whole)
    assert the_agent(the_run(runs_in(whole.getvalue()))).name == "rounder"
    (tmp_path / "alone.jsonl").write_bytes(session_with_a_call().bytes())
    assert not packed(tmp_path / "alone.jsonl", io.BytesIO())


def test_links_that_lead_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    written(tmp_path / "outside", {"secret.jsonl": b"{}"})
    folder = written(tmp_path / "runs", TODAY)
    (folder / "link.jsonl").symlink_to(tmp_path / "outside" / "secret.jsonl")
    assert [path.name for path in run_files(folder)] == ["s-1.jsonl"]
