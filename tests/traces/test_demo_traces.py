"""The demo's runs: the formats, languages and kinds of change that a newcomer should meet, and no drift but one."""

import re
import subprocess
from collections import Counter
from io import StringIO
from pathlib import Path, PurePosixPath

import pytest
from django.core.management import call_command

import potato_site
from accounts.models import Organisation
from potato.repositories.reading import read_repository
from potato.runs.changes.derive import derive
from potato.runs.changes.model import ChangeSet
from potato.runs.changes.writing import unified_patch
from potato.runs.converters.reading import Chosen, read_file
from potato.runs.model import Converted, FileRead, ReadingOptions
from potato.runs.run_files import InMemoryRunFile
from potato_site.demo.runs import invented_runs
from tenancy.actor import acting_in
from traces.models import CheckReport, ImportedFile, ImportProblem, Trace, TraceSecrets, TraceStep

FOLDER = Path(potato_site.__file__).parent / "demo" / "traces"
ONE_WITH_DRIFT = "pinger-retry-deliveries"


@pytest.fixture(scope="module")
def entries() -> dict[str, list[object]]:
    return {
        path.name: list(read_file(InMemoryRunFile(path.name, path.read_bytes()), ReadingOptions()))
        for path in sorted(FOLDER.iterdir())
    }


@pytest.fixture(scope="module")
def runs(entries: dict[str, list[object]]) -> list[Converted]:
    return [entry for file in entries.values() for entry in file if isinstance(entry, Converted)]


@pytest.fixture(scope="module")
def changes(runs: list[Converted]) -> dict[str, ChangeSet]:
    return {converted.run.external_id: derive(converted.run) for converted in runs}


def test_the_files_are_of_three_formats_and_every_record_is_a_run(entries: dict[str, list[object]]) -> None:
    formats = {}
    for name, found in entries.items():
        assert isinstance(found[0], Chosen), f"{name}: {found[0]}"
        assert all(isinstance(entry, Converted) for entry in found[1:]), name
        formats[name] = found[0].format
    assert formats == {
        "claude-code-session.jsonl": "claude_code",
        "close-response-bodies.patch": "patch",
        "coding-traces.jsonl": "native",
        "structured-turns.jsonl": "claude_code",
    }


def test_no_run_needs_a_repair_or_holds_what_its_converter_does_not_know(runs: list[Converted]) -> None:
    for converted in runs:
        report = converted.report
        assert report.dropped + report.unknown + report.repairs == Counter(), converted.run.external_id
        assert not converted.run.unknown_events


def test_there_are_enough_runs_and_each_says_its_task(runs: list[Converted]) -> None:
    assert len(runs) >= 14
    assert len({converted.run.external_id for converted in runs}) == len(runs)
    assert all(len(converted.run.task) > 80 for converted in runs)
    assert all(converted.run.agent_model for converted in runs if converted.run.steps)


def test_the_lengths_are_those_of_work_with_one_long_run(runs: list[Converted]) -> None:
    lengths = sorted(len(converted.run.steps) for converted in runs)
    assert lengths[-1] == 80
    assert lengths[0] == 0, "the patch has no steps"
    assert all(5 <= length <= 25 for length in lengths[1:-1])


def test_the_repository_of_a_run_has_its_files_as_they_were_before(runs: list[Converted]) -> None:
    """By the names that git gives their contents, which the run's patch has."""
    repository = read_repository((FOLDER.parent / "repositories" / "rail-board.bundle").read_bytes())
    (run,) = (converted.run for converted in runs if converted.run.base_commit)
    assert run.base_commit in repository.commits
    assert run.patch is not None
    before = re.findall(rb"^index ([0-9a-f]{8})\.\.", run.patch, re.MULTILINE)
    assert [sum(name.startswith(short.decode()) for name in repository.contents) for short in before] == [1, 1]


def test_badges_stand_only_where_the_demo_shows_one(changes: dict[str, ChangeSet]) -> None:
    badges = {
        name: {badge.code.value for file in found.files for badge in file.badges} for name, found in changes.items()
    }
    assert {name: codes for name, codes in badges.items() if codes} == {ONE_WITH_DRIFT: {"changed_between"}}
    assert not any(found.problems for found in changes.values())


def test_every_kind_of_change_and_language_occurs(changes: dict[str, ChangeSet]) -> None:
    files = [file for found in changes.values() for file in found.files]
    operations = Counter(file.operation for file in files)
    assert {"added", "modified", "deleted", "renamed", "unchanged"} <= operations.keys()
    edited = Counter(PurePosixPath(file.path).suffix for file in files if file.operation != "unchanged")
    assert all(edited[suffix] >= 2 for suffix in (".py", ".ts", ".go", ".sql")), edited
    assert any(file.operation == "renamed" and not file.hunks for file in files)
    assert any(file.operation == "renamed" and file.hunks for file in files)
    assert any(file.is_binary for file in files)
    assert any(file.old_mode == "100644" and file.new_mode == "100755" for file in files)


def test_two_tasks_were_done_by_two_agents_each(runs: list[Converted]) -> None:
    agents: dict[str, set[str]] = {}
    tasks: dict[str, set[str]] = {}
    for run in (converted.run for converted in runs if converted.run.task_id):
        agents.setdefault(run.task_id, set()).add(run.agent_model)
        tasks.setdefault(run.task_id, set()).add(run.task)
    assert sorted(len(models) for models in agents.values()) == [2, 2]
    assert all(len(texts) == 1 for texts in tasks.values())


def test_a_run_changes_tests_alone(changes: dict[str, ChangeSet]) -> None:
    edited = {
        name: [file.path for file in found.files if file.operation != "unchanged"] for name, found in changes.items()
    }
    only_tests = [name for name, paths in edited.items() if all(path.startswith("tests/") for path in paths)]
    assert only_tests == ["meters-importer-tests"]


def test_results_hold_colours_errors_and_calls_of_many_tools(runs: list[Converted]) -> None:
    calls = [call for converted in runs for step in converted.run.steps for call in step.calls]
    assert {"Bash", "Read", "Edit", "Write", "Grep", "Glob"} <= {call.name for call in calls}
    assert sum("\x1b[" in (call.result or "") for call in calls) >= 10
    assert sum(call.is_error for call in calls) >= 10
    assert all(call.result is not None for call in calls)


def test_files_were_read_and_not_edited(runs: list[Converted], changes: dict[str, ChangeSet]) -> None:
    for run in (converted.run for converted in runs):
        unchanged = [file for file in changes[run.external_id].files if file.operation == "unchanged"]
        read = {event.path.removeprefix(f"{run.folder}/") for event in run.events if isinstance(event, FileRead)}
        assert all(file.path in read for file in unchanged)
    assert sum(any(file.operation == "unchanged" for file in found.files) for found in changes.values()) >= 5


def test_git_applies_every_change_to_the_recorded_texts(changes: dict[str, ChangeSet], tmp_path: Path) -> None:
    applied = 0
    for name, found in changes.items():
        files = [file for file in found.files if file.hunks and file.old_text is not None]
        for file in files:
            if file.operation != "added":
                old = tmp_path / name / file.old_path
                old.parent.mkdir(parents=True, exist_ok=True)
                old.write_text(file.old_text or "", encoding="utf-8", newline="")
        if not files:
            continue
        (tmp_path / name).mkdir(exist_ok=True)
        subprocess.run(["git", "apply", "-"], cwd=tmp_path / name, input=unified_patch(files), check=True)
        for file in files:
            if file.operation != "deleted":
                new = (tmp_path / name / file.path).read_text(encoding="utf-8")
                assert new == file.new_text
                applied += 1
    assert applied >= 35


@pytest.mark.django_db(transaction=True)
def test_loading_the_demo_twice_imports_every_run_once() -> None:
    for _ in range(2):
        call_command("load_demo", stdout=StringIO())
    with acting_in(Organisation.objects.get(slug="demo")):
        # Seven of the runs are in two projects, and those that are made at loading in three.
        assert Trace.objects.count() == 16 + 1 + 2 * 7 + 2 + 3 * len(invented_runs())
        assert [row.trace.external_id for row in TraceSecrets.objects.held()] == ["orders-pool-size"]
        assert not Trace.objects.exclude(version=1).exists()
        assert ImportedFile.objects.count() == 4 + 1 + 3 + 2 + 1 + 3
        reports = CheckReport.objects.order_by("member").values_list("external_id", "outcome", "failed", "findings")
        assert list(reports) == [
            ("ledgerlite-118-harbor", "passed", 0, 0),
            ("ledgerlite-118-marlin", "failed", 2, 0),
            ("ledgerlite-118-marlin", "", 0, 2),
        ]
        assert not ImportProblem.objects.exists()
        written = Trace.objects.exclude(external_id__in=[run.name for run in invented_runs()])
        assert written.filter(project__slug="agent-code-review").in_order()[0].external_id == "shop-orders-sorting"


def test_the_web_agents_of_the_demo_come_in_with_their_pages(transactional_db: None) -> None:
    call_command("load_project", str(FOLDER.parent / "web-agents.yaml"), "--org", "demo", stdout=StringIO())
    with acting_in(Organisation.objects.get(slug="demo")):
        assert not ImportProblem.objects.exists()
        assert list(Trace.objects.order_by("external_id").values_list("external_id", "steps_count")) == [
            ("lamp-shop-1", 5),
            ("lamp-shop-2", 4),
        ]
        assert not TraceStep.objects.filter(picture="").exists()
