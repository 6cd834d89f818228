"""The traces of a project as a program reads them, brings one in as it ends, and looks at the queue before it acts."""

from typing import Any

import pytest
from django.test import Client

from accounts.actions.tokens import make_token
from accounts.models import Membership, Project
from assignments.actions.quotas import open_quotas
from assignments.actions.steering import let_imports_wait
from assignments.models import StandingRule
from potato.runs.model import Step, ToolCall
from tenancy.actor import acting_in
from tests.assignments.conftest import Queue
from tests.assignments.reviews import FILES
from tests.tenants import Tenants
from tests.traces.stored import stored
from traces.models import Trace

API = "/api/v1/projects/parser/"


@pytest.fixture
def pool(tenants: Tenants) -> Queue:
    """Acme's project with thirty traces of two agents in the pool."""
    with acting_in(tenants.acme, tenants.alice):
        queue = Queue(tenants, tenants.acme_project)
        let_imports_wait(project=queue.project, wait=True)
        queue.publish()
        queue.add_traces(30, agents=("a", "a", "b"))
        open_quotas(project=queue.project)
    return queue


class Program:
    def __init__(self, tenants: Tenants, person: str = "mallory") -> None:
        with acting_in(tenants.acme, tenants.alice):
            member = Membership.objects.get(user=getattr(tenants, person))
            _, text = make_token(membership=member, name="p", by_owner=True)
        self.client = Client(headers={"Authorization": f"Bearer {text}"})

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        more = {} if body is None else {"data": body, "content_type": "application/json"}
        answer = getattr(self.client, method)(path if path.startswith("http") else f"{API}{path}", **more)
        return answer.status_code, answer.json() if answer.content else None


def ids(answer: Any) -> list[str]:
    return [one["external_id"] for one in answer["results"]]


def test_traces_are_listed_with_the_filters_of_the_page(pool: Queue) -> None:
    mallory = Program(pool.tenants)
    _, everything = mallory.ask("get", "traces/")
    assert (len(everything["results"]), everything["next"]) == (30, None)
    assert {one["state"] for one in everything["results"]} == {"pool"}
    _, ours = mallory.ask("get", "traces/?model=b")
    assert len(ours["results"]) == 10
    first = ids(ours)[0]
    body = {"act": "exclude", "traces": [first], "reason": "A secret in it"}
    _, steered = mallory.ask("post", "traces/steer/", body)
    assert mallory.ask("post", "traces/steer/", {"act": "tag", "traces": ids(ours)[1:3], "tag": "pilot"})[0] == 200
    _, withheld = mallory.ask("get", "traces/?state=withheld")
    assert [(one["external_id"], one["withheld"], one["why"]) for one in withheld["results"]] == [
        (first, "excluded", "A secret in it")
    ]
    _, tagged = mallory.ask("get", "traces/?tag=pilot&model=a&model=b")
    assert ids(tagged) == ids(ours)[1:3]
    assert tagged["results"][0]["tags"] == ["pilot"]
    # What was done is taken back by the act that was answered.
    status, undone = mallory.ask("post", f"steering/{steered['act']}/undo/")
    assert (status, undone["sentence"]) == (200, "Undone: 1 trace is as before.")
    assert mallory.ask("get", "traces/?state=withheld")[1]["results"] == []


def test_a_filter_that_no_trace_has_is_named(pool: Queue) -> None:
    status, answer = Program(pool.tenants).ask("get", "traces/?colour=red&state=lost&batch=x&q=t")
    assert (status, answer["code"], [one["path"] for one in answer["errors"]]) == (400, "invalid_request", [["colour"]])
    status, answer = Program(pool.tenants).ask("get", "traces/?state=lost&batch=x&state=pool")
    assert [one["path"] for one in answer["errors"]] == [["state"], ["batch"]]
    assert "It is one of pool, open" in answer["detail"]


def test_pages_keep_the_filters(pool: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.api.pages.ROWS_ON_A_PAGE", 4)
    mallory = Program(pool.tenants)
    seen, following = [], "traces/?model=b&model=c"
    while following:
        _, answer = mallory.ask("get", following)
        seen += ids(answer)
        following = answer["next"]
    assert len(seen) == len(set(seen)) == 10


def test_a_list_of_traces_asks_ten_queries_at_most(
    pool: Queue, django_assert_max_num_queries: Any, client: Client
) -> None:
    client.force_login(pool.tenants.mallory)
    path = "/o/acme/api/v1/projects/parser/traces/"
    with django_assert_max_num_queries(14):
        # Four begin the request: the session, its person, the organisation, the project.
        assert len(client.get(path).json()["results"]) == 30


def with_evidence(tenants: Tenants) -> Trace:
    steps = (
        Step(message="Look at the parser", calls=(ToolCall("1", "Read", {"path": "src/parser.py"}, "text \0 \ud800"),)),
        Step(message="Mend it"),
    )
    with acting_in(tenants.acme, tenants.alice):
        Queue(tenants, tenants.acme_project).publish()
    return stored(tenants.acme, tenants.acme_project, *FILES, external_id="run 1", steps=steps)


def test_one_trace_its_steps_its_files_and_its_content_come_exactly(tenants: Tenants) -> None:
    trace = with_evidence(tenants)
    mallory = Program(tenants)
    status, whole = mallory.ask("get", f"traces/{trace.pk}/")
    assert (status, whole["external_id"], whole["steps"], whole["files"], whole["versions"]) == (
        200,
        "run 1",
        2,
        2,
        [1],
    )
    _, steps = mallory.ask("get", f"traces/{trace.pk}/steps/")
    assert [(one["index"], one["is_error"]) for one in steps["results"]] == [(0, False), (1, False)]
    _, step = mallory.ask("get", f"traces/{trace.pk}/steps/0/")
    assert "text \0 \ud800" in step_text(step)
    assert mallory.ask("get", f"traces/{trace.pk}/steps/2/")[0] == 404
    _, files = mallory.ask("get", f"traces/{trace.pk}/files/")
    assert [(one["path"], one["operation"]) for one in files["results"]] == [
        ("src/parser.py", "modified"),
        ("tests/test_parser.py", "modified"),
    ]
    _, change = mallory.ask("get", f"traces/{trace.pk}/files/0/")
    assert change["path"] == "src/parser.py"
    _, content = mallory.ask("get", f"traces/{trace.pk}/content/")
    assert (content["id"], len(content["steps"])) == ("run 1", 2)
    assert content["steps"][0]["tool_calls"][0]["result"] == "text \0 \ud800"


def step_text(step: Any) -> str:
    found = [step]
    texts = []
    while found:
        value = found.pop()
        if isinstance(value, dict):
            found += value.values()
        elif isinstance(value, list):
            found += value
        elif isinstance(value, str):
            texts.append(value)
    return " ".join(texts)


def test_a_trace_of_another_project_is_not_there(tenants: Tenants) -> None:
    trace = with_evidence(tenants)
    with acting_in(tenants.acme, tenants.alice):
        Project.objects.create(slug="other", name="Other")
    mallory = Program(tenants)
    for rest in ("", "steps/", "steps/0/", "files/", "files/0/", "content/"):
        assert mallory.client.get(f"/api/v1/projects/other/traces/{trace.pk}/{rest}").status_code == 404
        assert mallory.client.get(f"{API}traces/{trace.pk}/{rest}").status_code == 200
        assert Program(tenants, "bob").client.get(f"{API}traces/{trace.pk}/{rest}").status_code == 403


def test_a_release_is_previewed_and_a_rule_is_listed_and_ended(pool: Queue) -> None:
    mallory = Program(pool.tenants)
    body = {"name": "Half of b", "filter": {"model": ["b"]}, "take": "share", "share": 50.0, "seed": 7, "rule": True}
    status, preview = mallory.ask("post", "batches/preview/", body)
    assert (status, preview["matching"], preview["taken"], len(preview["first"])) == (200, 10, 5, 5)
    assert mallory.ask("get", "batches/")[1]["results"] == []
    _, batch = mallory.ask("post", "batches/", body)
    assert batch["traces"] == 5
    _, released = mallory.ask("get", f"traces/?batch={batch['number']}")
    assert [one["id"] for one in released["results"]] == preview["first"]
    (rule,) = mallory.ask("get", "rules/")[1]["results"]
    assert (rule["batch"], rule["number"]) == (batch["number"], 1)
    less = {"filter": {"model": ["a"]}, "share": 10.0, "seed": 3}
    status, changed = mallory.ask("put", f"rules/{rule['id']}/", less)
    assert (status, changed["description"]) == (200, "10%, seed 3")
    assert changed["selection"]["filter"] == {"model": ["a"]}
    assert mallory.ask("put", f"rules/{rule['id']}/", {"filter": {"state": ["pool"]}})[0] == 400
    assert mallory.ask("delete", f"rules/{rule['id']}/") == (204, None)
    assert mallory.ask("put", f"rules/{rule['id']}/", less)[0] == 404
    assert mallory.ask("get", "rules/")[1]["results"] == []
    with acting_in(pool.tenants.acme):
        assert StandingRule.objects.get().ended_at is not None
    assert mallory.ask("post", "batches/preview/", {"name": "x", "filter": {"state": "pool"}})[0] == 400


def test_imports_wait_or_are_released_and_skips_are_counted(pool: Queue) -> None:
    mallory = Program(pool.tenants)
    assert mallory.ask("get", "imports-wait/") == (200, {"wait": True})
    assert mallory.ask("put", "imports-wait/", {"wait": False}) == (200, {"wait": False})
    assert mallory.ask("get", "imports-wait/") == (200, {"wait": False})
    assert mallory.ask("get", "skips/") == (200, {"total": 0, "reasons": []})
