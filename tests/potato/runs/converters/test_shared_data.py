"""Real files: each gives its runs, and no file of another format is taken for one of ours."""

from collections import Counter
from pathlib import Path

from potato.runs.changes.derive import derive
from potato.runs.converters.reading import Chosen, read_file
from potato.runs.model import AgentRun, Converted, ReadingOptions, StatedTask, Unreadable
from potato.runs.run_files import StoredRunFile, source_at
from tests.shared_data import shared_file, shared_files

# Files of the small ones in which a session has no message of the agent, or lines that are no objects.
SMALL_ERRORS = {"edge_cases.jsonl": {"not_an_object": 3}}
RUNS_OF_SMALL = {"edge_cases.jsonl": 2}
OURS = (
    "react/",
    "claude-code/",
    "codex/",
    "openhands/",
    "atif/",
    "inspect-ai/",
    "swe-agent/",
    "mini-swe-agent/",
    "swebench/preds.json",
    "web-agent/webvoyager/",
)


def everything(path: Path) -> list[Chosen | Converted | StatedTask | Unreadable]:
    """What reading the file answers."""
    source = StoredRunFile(path.name, lambda: path.open("rb"), path.stat().st_size)
    return list(read_file(source, ReadingOptions()))


def changed_files(run: AgentRun) -> list[str]:
    """Paths of the files that the run changed, as the change set has them."""
    return [file.path for file in derive(run).files if file.operation != "unchanged"]


def test_every_session_has_steps_a_task_and_a_changed_file() -> None:
    for path in shared_files("claude-code/*/session.jsonl"):
        _, converted = everything(path)
        assert isinstance(converted, Converted), path
        run = converted.run
        assert run.external_id, path
        assert run.task, path
        assert run.agent_model.startswith("claude-"), path
        assert len(run.steps) >= 5, path
        assert changed_files(run), path
        assert converted.report.unknown == {}, path


def test_no_answer_of_a_tool_is_lost_on_a_sessions_live_branch() -> None:
    for path in shared_files("claude-code/*/session.jsonl"):
        _, converted = everything(path)
        assert isinstance(converted, Converted)
        unanswered = [call.name for step in converted.run.steps for call in step.calls if call.result is None]
        assert unanswered == [], path


def test_every_small_file_gives_its_runs_or_errors_by_name() -> None:
    for path in shared_files("claude-code/small/*"):
        answers = everything(path)
        found = Counter(answer.code for answer in answers if isinstance(answer, Unreadable))
        assert found == SMALL_ERRORS.get(path.name, {}), path
        assert sum(isinstance(answer, Converted) for answer in answers) == RUNS_OF_SMALL.get(path.name, 1), path


def test_all_predictions_are_runs_with_a_change() -> None:
    _, *answers = everything(shared_file("swebench/preds.json"))
    found = [answer.run for answer in answers if isinstance(answer, Converted)]
    assert len(found) == len(answers) == len({run.external_id for run in found}) == 200
    for run in found:
        assert changed_files(run), run.external_id
        assert run.repo.count("/") == 1, run.external_id


def test_no_file_of_another_format_is_taken_for_one_of_ours() -> None:
    root = shared_file("MANIFEST.md").parent
    for path in shared_files("*/**/*"):
        if path.is_file() and not str(path.relative_to(root)).startswith(OURS):
            answers = everything(path)
            assert [type(answer) for answer in answers] == [Unreadable], path


def test_calls_of_one_message_become_steps_of_their_own_where_a_project_wants_them() -> None:
    """The same acts in their order, each step with one call, the words with the first of them, the same each time."""
    split_somewhere = False
    for path in shared_files("claude-code/*/session.jsonl"):
        whole, split, again = (
            next(entry.run for entry in read_file(source_at(path), options) if isinstance(entry, Converted))
            for options in (ReadingOptions(), *(ReadingOptions(split_tool_calls=True),) * 2)
        )
        assert split == again
        assert [call for step in split.steps for call in step.calls] == [
            call for step in whole.steps for call in step.calls
        ]
        assert [step.message for step in split.steps if step.message] == [
            step.message for step in whole.steps if step.message
        ]
        assert all(len(step.calls) <= 1 for step in split.steps)
        assert split.events == whole.events
        split_somewhere |= len(split.steps) > len(whole.steps)
    assert split_somewhere
