"""Sessions come into a project with their sub-agents, by upload and by command, and an older copy is known."""

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from potato.runs.exact_json import step_from
from potato.runs.model import Step
from tenancy.actor import acting_in
from tests.potato.runs.converters.test_claude_agents import (
    META,
    TODAY,
    agent_file,
    as_zip,
    session_with_a_call,
    written,
)
from tests.potato.runs.sessions import SessionFile, calls, says
from tests.tenants import Tenants
from tests.traces.test_imports import job_of, upload
from traces.models import ImportedFile, Trace

pytestmark = pytest.mark.django_db(transaction=True)


def traces_of(tenants: Tenants) -> list[tuple[str, int, int]]:
    with acting_in(tenants.acme):
        rows = Trace.objects.order_by("external_id", "version")
        return list(rows.values_list("external_id", "version", "steps_count"))


def first_step(tenants: Tenants) -> Step:
    from traces.models import Body

    with acting_in(tenants.acme):
        step = Trace.objects.get().steps.order_by("index")[0]
        return step_from(Body.objects.get(sha256=step.sha256).content)


def test_a_zip_with_a_session_and_its_agents_is_one_trace(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    file = upload(tenants, as_zip(TODAY), name="session.zip")
    assert job_of(tenants, file).result == {"imported": 1, "known": 0, "errors": 0}
    assert traces_of(tenants) == [("s-1", 1, 3)]
    (agent,) = first_step(tenants).agents
    assert (agent.name, len(agent.steps)) == ("rounder", 2)
    with acting_in(tenants.acme):
        trace = Trace.objects.get()
        assert (trace.added, trace.removed, trace.badged_files) == (1, 1, 0)


@pytest.mark.parametrize("named", ["", "p/s-1.jsonl"])
@pytest.mark.parametrize("background", [False, True])
def test_a_folder_or_its_session_file_is_one_trace_by_command(
    committed_tenants: Tenants, tmp_path: Path, named: str, background: bool
) -> None:
    tenants = committed_tenants
    path = written(tmp_path / "runs", TODAY) / named
    flags = ["--background"] if background else []
    call_command("import_traces", "acme/parser", str(path), *flags, stdout=io.StringIO())
    if background:
        from tests.traces.test_imports import work

        with acting_in(tenants.acme):
            file = ImportedFile.objects.get()
        work(tenants, file)
    assert traces_of(tenants) == [("s-1", 1, 3)]
    assert first_step(tenants).agents[0].name == "rounder"


def test_a_folder_without_runs_is_an_error_by_name(committed_tenants: Tenants, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("nothing", encoding="utf-8")
    with pytest.raises(CommandError, match="No file of agent runs in"):
        call_command("import_traces", "acme/parser", str(tmp_path))


def test_load_project_takes_a_folder_of_sessions(tmp_path: Path) -> None:
    from accounts.models import Organisation

    written(tmp_path / "data", TODAY)
    config = tmp_path / "config.yaml"
    config.write_text(
        "task_name: Sessions\ndata_files: [data]\nannotation_schemes:\n"
        "  - {name: verdict, annotation_type: code_review_verdict}\n",
        encoding="utf-8",
    )
    out = io.StringIO()
    call_command("load_project", str(config), "--org", "my-lab", stdout=out)
    assert "s-1.jsonl: 1 imported, 0 known, 0 errors" in out.getvalue()
    with acting_in(Organisation.objects.get(slug="my-lab")):
        assert Trace.objects.get().external_id == "s-1"


def test_an_older_beginning_of_a_known_session_is_known(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    session = session_with_a_call()
    lines = list(session.lines)
    whole = upload(tenants, session.bytes(), name="s-1.jsonl")
    assert job_of(tenants, whole).result == {"imported": 1, "known": 0, "errors": 0}
    for end in (2, 3, 4, 5):
        session.lines = lines[:end]
        part = upload(tenants, session.bytes(), name="s-1.jsonl")
        assert job_of(tenants, part).result == {"imported": 0, "known": 1, "errors": 0}, end
    assert traces_of(tenants) == [("s-1", 1, 3)]


def test_a_session_that_went_on_or_differently_is_a_new_version(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    session = session_with_a_call()
    upload(tenants, session.bytes(), name="s-1.jsonl")
    session.agent(says("More."), message_id="m4")
    upload(tenants, session.bytes(), name="s-1.jsonl")
    other = SessionFile("s-1")
    other.user("Fix the cart.")
    other.agent(calls("c1", "Agent", prompt="Otherwise."), message_id="m1")
    upload(tenants, other.bytes(), name="s-1.jsonl")
    assert traces_of(tenants) == [("s-1", 1, 3), ("s-1", 2, 4), ("s-1", 3, 1)]


def test_a_session_without_its_agents_adds_nothing_to_one_with_them(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    upload(tenants, as_zip(TODAY), name="session.zip")
    alone = upload(tenants, session_with_a_call().bytes(), name="s-1.jsonl")
    assert job_of(tenants, alone).result == {"imported": 0, "known": 1, "errors": 0}
    with_another = {
        **TODAY,
        "p/s-1/subagents/agent-b2.jsonl": agent_file(agent_id="b2").replace(b"I round", b"I also round"),
    }
    with_another["p/s-1/subagents/agent-b2.meta.json"] = META
    upload(tenants, as_zip(with_another), name="session.zip")
    assert [version for _, version, _ in traces_of(tenants)] == [1, 2]


def test_what_is_missing_from_a_run_is_kept_with_its_trace(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    upload(tenants, session_with_a_call().bytes(), name="s-1.jsonl")
    with acting_in(tenants.acme):
        (gap,) = Trace.objects.get().gaps
    assert gap.startswith("The transcript of a sub-agent is missing")


def test_both_pages_say_what_is_missing_and_the_steps_show_where_the_context_was_cleared(
    committed_tenants: Tenants,
) -> None:
    tenants = committed_tenants
    session = session_with_a_call()
    session.user("Implement the following plan: all", after=None, planContent="all")
    session.agent(says("I do it."), message_id="m4")
    upload(tenants, session.bytes(), name="s-1.jsonl")
    with acting_in(tenants.acme):
        trace = Trace.objects.get()
        assert list(trace.steps.order_by("index").values_list("dividers", flat=True)) == ["", "", "", "plan_accepted"]
    client = Client()
    client.force_login(tenants.alice)
    files, steps = (
        client.get(f"/o/{tenants.acme.slug}/p/parser/traces/{trace.pk}/{page}").content.decode()
        for page in ("", "steps/")
    )
    for page in (files, steps):
        assert "The transcript of a sub-agent is missing" in page
    place = steps.index("Plan accepted, context cleared")
    assert steps.index('id="s2"') < place < steps.index('id="s3"')
    assert "Plan accepted" not in files


def test_a_row_of_steps_that_only_looked_is_broken_where_a_divider_stands(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    session = SessionFile("s-1")
    session.user("Look.")
    for number in range(8):
        if number == 4:
            session.line("system", subtype="compact_boundary", after=None)
        session.agent(calls(f"c{number}", "Grep", pattern="x"), message_id=f"m{number}")
        session.result(f"c{number}", "cart.py")
    upload(tenants, session.bytes(), name="s-1.jsonl")
    client = Client()
    client.force_login(tenants.alice)
    with acting_in(tenants.acme):
        trace = Trace.objects.get()
    page = client.get(f"/o/{tenants.acme.slug}/p/parser/traces/{trace.pk}/steps/").content.decode()
    assert page.count("4 searches, steps") == 2
    assert page.index("steps 0 to 3") < page.index("Context was compacted here") < page.index("steps 4 to 7")
