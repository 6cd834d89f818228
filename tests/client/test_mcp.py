"""The MCP server as an agent has it: the official client over stdio, a running site behind it, no way to annotate."""

import ast
import asyncio
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from mcp import Client as Agent
from mcp import StdioServerParameters

from accounts.actions.tokens import make_token
from accounts.models import Membership
from potato.client import Client
from potato.commands import mcp_server
from potato.formats.registry import formats
from tenancy.actor import acting_in
from tenancy.roles import TokenScope
from tests.client.annotating import ANNOTATORS, annotation, documented
from tests.client.conftest import Site
from tests.client.test_a_whole_project import RUNS
from tests.event_loops import run_apart
from tests.isolation.scope_table import SCOPES
from tests.shared_data import shared_file
from tests.tenants import Tenants
from tests.traces.test_imports import lines, run

YAML = """task_name: From an agent
annotation_schemes:
  - {name: verdict, annotation_type: code_review_verdict, verdict: {require_summary: false}}
suggestions: {shown: true}
"""
OF_PEOPLE = {
    "next", "submit", "save_draft", "skip", "release", "assignment", "assignments", "lines", "task_suggestions",
    "take_to_settle", "settle", "adjudication_queue",
}  # fmt: skip
"""Operations of the client by which annotators and adjudicators work."""


def server(site: Site, tenants: Tenants, folder: Path, *scopes: TokenScope) -> StdioServerParameters:
    """`potato mcp` with a token of Dora's that has these scopes."""
    with acting_in(tenants.acme, tenants.alice):
        member = Membership.objects.get(user=tenants.dora)
        _, token = make_token(membership=member, name="an agent", by_owner=True, scopes=list(scopes))
    environment = {**os.environ, "POTATO_URL": site.address, "POTATO_TOKEN": str(token), "XDG_CONFIG_HOME": str(folder)}
    arguments = ["-m", "potato", "mcp", "--folder", str(folder)]
    return StdioServerParameters(command=sys.executable, args=arguments, env=environment)


async def answer_of(agent: Agent, tool: str, **arguments: Any) -> Any:
    """What a tool answers that refuses nothing."""
    answer = await agent.call_tool(tool, arguments)
    texts = [getattr(part, "text", "") for part in answer.content]
    assert not answer.is_error, texts
    assert answer.structured_content is not None
    found = answer.structured_content
    return found["result"] if [*found] == ["result"] else found


def test_an_agent_sets_a_project_up_imports_and_reads(site: Site, committed_tenants: Tenants, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "runs.jsonl").write_bytes(lines(run("t1"), run("t2")))
    (tmp_path / "secret.jsonl").write_bytes(lines(run("t3")))
    for_agents = [scope for scope in TokenScope if scope not in (TokenScope.ANNOTATE, TokenScope.ADMIN)]
    parameters = server(site, committed_tenants, folder, *for_agents)

    async def story() -> dict[str, Any]:
        said: dict[str, Any] = {}
        async with Agent(parameters) as agent:
            call = partial(answer_of, agent)
            said["tools"] = [tool.name for tool in (await agent.list_tools()).tools]
            said["whoami"] = await call("whoami")
            said["wrong"] = await call("check_configuration", source=YAML.replace("code_review_verdict", "verdikt"))
            said["right"] = await call("check_configuration", source=YAML)
            await call("create_project", slug="by-agent", name="By an agent", source=YAML)
            await call("publish_configuration", project="by-agent")
            said["imported"] = await call("import_files", project="by-agent", paths=["runs.jsonl"])
            outside = await agent.call_tool("import_files", {"project": "by-agent", "paths": ["../secret.jsonl"]})
            said["outside"] = (outside.is_error, str(outside.content))
            said["traces"] = await call("list_traces", project="by-agent")
            trace = said["traces"][0]["id"]
            said["trace"] = await call("read_trace", project="by-agent", trace=trace)
            record = {"id": "t1", "model": "m", "model_version": "1"}
            suggested = [{**record, "annotations": {"verdict": {"decision": "approve"}}}]
            said["suggested"] = await call("add_suggestions", project="by-agent", records=suggested)
            said["suggestions"] = await call("read_suggestions", project="by-agent")
            said["records"] = await call("read_records", project="by-agent")
            said["overview"] = await call("read_overview", project="by-agent")
            said["statistics"] = await call("read_statistics", project="by-agent")
            said["projects"] = await call("list_projects")
            said["project"] = await call("read_project", project="by-agent")
            said["imports"] = await call("list_imports", project="by-agent")
            said["export"] = await call("request_export", project="by-agent", format="archive")
            said["exports"] = await call("list_exports", project="by-agent")
            unknown = await agent.call_tool("read_project", {"project": "nowhere"})
            said["unknown"] = (unknown.is_error, str(unknown.content))
        return said

    said = run_apart(asyncio.run, story())
    assert OF_PEOPLE.isdisjoint(said["tools"])
    assert said["whoami"]["name"] == "dora"
    assert "verdikt" in said["wrong"][0]
    assert said["right"] == []
    assert {one["external_id"] for one in said["traces"]} == {"t1", "t2"}
    assert said["outside"][0] is True
    assert "is not below" in said["outside"][1]
    assert said["suggested"] == {"taken": 1, "known": 0, "refused": []}
    assert said["suggestions"][0]["annotations"] == {"verdict": {"decision": "approve"}}
    assert said["records"] == []
    assert said["overview"]["project"] == "by-agent"
    assert said["unknown"][0] is True
    assert "Traceback" not in json.dumps(said)


def test_an_agent_reads_what_people_said_of_the_runs_that_it_brought(
    site: Site, committed_tenants: Tenants, tmp_path: Path
) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in RUNS:
        (folder / f"{name}.traj.json").write_bytes(shared_file(f"mini-swe-agent/{name}.traj.json").read_bytes())
    scopes = (TokenScope.READ, TokenScope.IMPORT, TokenScope.MANAGE, TokenScope.EXPORT)
    parameters = server(site, committed_tenants, folder, *scopes)

    async def set_up() -> Any:
        async with Agent(parameters) as agent:
            await answer_of(agent, "create_project", slug="both", name="Both documents", source=documented())
            await answer_of(agent, "publish_configuration", project="both")
            (one,) = await answer_of(agent, "import_files", project="both", paths=["."])
            assert (one["state"], one["imported"]) == ("done", len(RUNS))
            return await answer_of(agent, "list_traces", project="both")

    async def read() -> dict[str, Any]:
        async with Agent(parameters) as agent:
            for name in formats():
                await answer_of(agent, "request_export", project="both", format=name)
            return {
                "records": await answer_of(agent, "read_records", project="both"),
                "agreement": await answer_of(agent, "compute_agreement", project="both"),
                "overview": await answer_of(agent, "read_overview", project="both"),
                "exports": await answer_of(agent, "list_exports", project="both", most=100),
            }

    steps = {trace["external_id"]: trace["steps"] for trace in run_apart(asyncio.run, set_up())}
    submitted: dict[tuple[str, str], Any] = {}
    with Client(site.address, site.token) as boss:
        for number, name in enumerate(ANNOTATORS):
            boss.make_service_account(name)
            boss.project("both").put_person(name, "annotator")
            token = boss.make_token("a rule", acts_as=name, scopes=["annotate", "read"]).text
            with Client(site.address, token) as annotator:
                while (assignment := annotator.project("both").next().assignment) is not None:
                    trace = assignment.trace.external_id
                    said = annotation(annotator, number, annotator.assignment(assignment.id), steps[trace], {})
                    annotator.submit(assignment, said)
                    submitted[trace, name] = said
        found = run_apart(asyncio.run, read())
        assert {(row["id"], row["annotator"]): row["annotations"] for row in found["records"]} == submitted
        assert found["agreement"]["shared_traces"] == len(RUNS)
        assert found["overview"]["project"] == "both"
        assert [one["format"] for one in found["exports"]] == [*reversed(list(formats()))], "the newest first"
        # The files are for people: an agent asks for them, and the client fetches them.
        archive = next(one for one in boss.project("both").exports() if one.format == "archive")
        ready = boss.project("both").wait_for_export(archive)
        boss.project("both").download_export(ready, tmp_path / "all.zip")
    with ZipFile(tmp_path / "all.zip") as file:
        rows = [json.loads(line) for line in file.read("annotations.jsonl").decode().splitlines()]
    assert {(row["id"], row["annotator"]): row["annotations"] for row in rows} == submitted


def test_a_token_that_may_annotate_is_refused(site: Site, committed_tenants: Tenants, tmp_path: Path) -> None:
    parameters = server(site, committed_tenants, tmp_path, TokenScope.READ, TokenScope.ANNOTATE)
    done = subprocess.run(
        [parameters.command, *parameters.args], env=parameters.env, input=b"", capture_output=True, timeout=60
    )
    assert done.returncode == 1
    assert b"answer in a person" in done.stderr
    assert done.stdout == b""


def test_no_tool_reaches_what_annotators_do() -> None:
    tree = ast.parse(Path(mcp_server.__file__).read_text())
    asked = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert {"import_files", "submissions"} <= asked
    assert asked.isdisjoint(OF_PEOPLE)
    # Nor would the site let its tokens: what claims, drafts, submits and settles opens to the scope annotate alone.
    work = [(method, route) for method, route in SCOPES if route.endswith(("/next/", "/submit/", "/draft/", "/skip/"))]
    assert ("POST", "/api/v1/assignments/<assignment_id>/submit/") in work
    for method, route in work:
        if method != "GET":
            assert SCOPES[method, route] <= mcp_server.REFUSED_SCOPES, route


@pytest.mark.parametrize("scope", sorted(mcp_server.REFUSED_SCOPES))
def test_what_is_refused_is_a_scope(scope: str) -> None:
    assert scope in {str(one) for one in TokenScope}
