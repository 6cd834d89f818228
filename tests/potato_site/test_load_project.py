"""load_project: from a YAML beside its data files to a published project with traces, as often as one likes."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts.models import AuditEvent, ConfigurationVersion, Organisation, Project
from tenancy.actor import acting_in
from tests.potato.configuration.documented_configurations import COMPLETE, PARTIAL
from traces.models import Trace

pytestmark = pytest.mark.django_db(transaction=True)

RUN = {
    "id": "trace_042",
    "task_description": "Fix the failing test",
    "structured_turns": [
        {
            "role": "assistant",
            "content": "I read the test.",
            "tool_calls": [{"tool": "Read", "input": {"file_path": "test_parser.py"}, "output": "assert False"}],
        }
    ],
}


def load(path: Path, *arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("load_project", str(path), *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def written(folder: Path, text: str) -> Path:
    path = folder / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def with_data(folder: Path) -> Path:
    """The document's complete configuration, with the data file that it names."""
    (folder / "data").mkdir()
    (folder / "data" / "coding_traces.jsonl").write_text(json.dumps(RUN) + "\n", encoding="utf-8")
    return written(folder, COMPLETE)


def test_the_documents_complete_configuration_loads_with_its_traces(tmp_path: Path) -> None:
    out, err = load(with_data(tmp_path), "--org", "my-lab")
    assert "There was no organisation my-lab: it is made" in out
    assert "my-lab/coding-agent-code-review: version 1 is published." in out
    assert "coding_traces.jsonl: 1 imported, 0 known, 0 errors" in out
    assert err == ""
    with acting_in(Organisation.objects.get(slug="my-lab")):
        assert ConfigurationVersion.objects.get().source == COMPLETE
        assert Trace.objects.get().external_id == "trace_042"
        assert AuditEvent.objects.filter(verb="configuration.published").count() == 1


@pytest.mark.parametrize("name", PARTIAL)
def test_each_partial_block_loads_with_a_task_name_before_it(tmp_path: Path, name: str) -> None:
    out, err = load(written(tmp_path, PARTIAL[name]), "--org", "my-lab")
    assert "my-lab/x: version 1 is published." in out
    assert err == ""


def test_loading_again_changes_nothing_and_other_content_is_a_new_version(tmp_path: Path) -> None:
    path = with_data(tmp_path)
    load(path, "--org", "my-lab")
    out, _ = load(path, "--org", "my-lab")
    assert "version 1 says the same already" in out
    assert "0 imported, 1 known" in out
    path.write_text(COMPLETE + "guidelines: Read everything.\n", encoding="utf-8")
    out, _ = load(path, "--org", "my-lab")
    assert "version 2 is published" in out
    with acting_in(Organisation.objects.get(slug="my-lab")):
        assert Project.objects.count() == 1
        assert Trace.objects.count() == 1


def test_what_would_strip_meaning_waits_for_confirm(tmp_path: Path) -> None:
    path = with_data(tmp_path)
    load(path, "--org", "my-lab")
    path.write_text(COMPLETE.replace("- name: verdict", "- name: judgement"), encoding="utf-8")
    with pytest.raises(CommandError, match="The scheme verdict is removed"):
        load(path, "--org", "my-lab")
    out, _ = load(path, "--org", "my-lab", "--confirm")
    assert "version 2 is published" in out


def test_every_error_is_printed_with_its_line_and_nothing_is_changed(tmp_path: Path) -> None:
    path = written(tmp_path, "task_name: X\nguidlines: hm\nassignment: {lease_minutes: soon}\n")
    err = io.StringIO()
    with pytest.raises(CommandError, match=r"2 errors; nothing was changed"):
        call_command("load_project", str(path), "--org", "my-lab", stderr=err)
    assert "config.yaml, line 2, column 1: error: guidlines is not a key" in err.getvalue()
    assert "config.yaml, line 3, column 29: error: lease_minutes must be a whole number" in err.getvalue()
    assert not Organisation.objects.exists()


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ('["../secret.jsonl"]', "lies outside the folder"),
        ('["link.jsonl"]', "lies outside the folder"),
        ('["/etc/hostname"]', "lies outside the folder"),
        (f'["{"x" * 300}"]', r"has 1 error; nothing was changed"),
        (f'["{"a/" * 450}b"]', "is no file in"),
        ('["own.jsonl", "also.jsonl"]', "also.jsonl is a file that was already named"),
        ('["circle.jsonl"]', "circle.jsonl cannot be looked for"),
        ('["missing.jsonl", "../secret.jsonl"]', "missing.jsonl is no file.*lies outside"),
    ],
)
def test_data_files_stay_inside_the_folder_with_links_resolved(tmp_path: Path, files: str, says: str) -> None:
    (tmp_path / "secret.jsonl").write_text(json.dumps(RUN), encoding="utf-8")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "own.jsonl").write_text(json.dumps(RUN), encoding="utf-8")
    (folder / "also.jsonl").symlink_to(folder / "own.jsonl")
    (folder / "circle.jsonl").symlink_to(folder / "circle.jsonl")
    (folder / "link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    with pytest.raises(CommandError, match=says):
        load(written(folder, f"task_name: X\ndata_files: {files}\n"), "--org", "my-lab")
    assert not Organisation.objects.exists()


def test_a_data_file_without_a_trace_is_an_error_and_the_configuration_stays(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text('{"nothing": 1}\n', encoding="utf-8")
    path = written(tmp_path, "task_name: X\ndata_files: [empty.jsonl]\n")
    with pytest.raises(CommandError, match=r"No trace came in from empty\.jsonl"):
        load(path, "--org", "my-lab")
    with acting_in(Organisation.objects.get(slug="my-lab")):
        assert ConfigurationVersion.objects.count() == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--org", "My Lab"], "small letters"),
        (["--org", "my-lab", "--project", "Über"], "small letters"),
    ],
)
def test_slugs_that_cannot_stand_in_an_address_are_refused(tmp_path: Path, arguments: list[str], says: str) -> None:
    with pytest.raises(CommandError, match=says):
        load(written(tmp_path, "task_name: X\n"), *arguments)
    with pytest.raises(CommandError, match="--project SLUG"):
        load(written(tmp_path, "task_name: 你好\n"), "--org", "my-lab")


def test_a_file_that_cannot_be_read_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        load(tmp_path / "missing.yaml", "--org", "my-lab")
    (tmp_path / "latin.yaml").write_bytes(b"task_name: \xe9t\xe9\n")
    with pytest.raises(CommandError, match="not UTF-8"):
        load(tmp_path / "latin.yaml", "--org", "my-lab")
