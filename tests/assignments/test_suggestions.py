"""What a model suggests of a trace: taken and checked, shown or kept from a task, and what a submission says of it."""

import json
from typing import Any

import pytest
from django.test import Client

from accounts.actions.projects import publish_configuration
from accounts.models import User
from assignments.models import Assignment, Kind, Suggestion, SuggestionExposure
from assignments.suggestions.showing import is_hidden
from tenancy.actor import acting_in
from tests.agreement.judging import SCHEMES, Judging, comment
from tests.assignments.reviews import Api, api_of
from tests.tenants import Tenants

REVIEWER = {"model": "reviewer-9b", "model_version": "2026-11"}
COMMENTS, VERDICT = "inline_comments", "verdict"


def suggestion(trace: str, **annotations: Any) -> dict[str, Any]:
    said = {COMMENTS: [comment(15)], VERDICT: {"decision": "request_changes"}}
    return {"id": trace, **REVIEWER, "provenance": {"prompt": "review-3"}, "annotations": annotations or said}


@pytest.fixture
def judging(tenants: Tenants, tmp_path: Any) -> Judging:
    return Judging(tenants, tenants.acme_project, tmp_path)


def begin(judging: Judging, traces: int = 1, hidden_share: float = 0, shown: bool = True) -> None:
    judging.begin(traces, target=2)
    source = {
        "task_name": "Review",
        "annotation_schemes": SCHEMES,
        "assignment": {"annotations_per_trace": 2},
        "suggestions": {"shown": True, "hidden_share": hidden_share} if shown else {},
    }
    with acting_in(judging.tenants.acme, judging.tenants.alice):
        publish_configuration(project=judging.project, source=json.dumps(source), confirmed=True)


def send(judging: Judging, *records: Any, by: User | None = None) -> Any:
    client = Client()
    client.force_login(by or judging.tenants.mallory)
    return client.post(
        "/o/acme/api/v1/projects/parser/suggestions/",
        json.dumps({"suggestions": list(records)}),
        content_type="application/json",
    ).json()


def items_of(api: Api, held: Any) -> dict[str, Any]:
    return {item["id"]: item for item in api.get(f"assignments/{held['id']}/suggestions/").json()["items"]}


def test_a_suggestion_is_shown_taken_up_and_leaves_with_the_record(judging: Judging) -> None:
    begin(judging)
    assert send(judging, suggestion("t00")) == {"taken": 1, "known": 0, "refused": []}
    assert send(judging, suggestion("t00")) == {"taken": 0, "known": 1, "refused": []}
    bob = api_of(judging.tenants.bob)
    held = bob.claim()
    items = items_of(bob, held)
    assert [*items] == [f"{COMMENTS}/comment-1", f"{VERDICT}/decision"]
    first = items[f"{COMMENTS}/comment-1"]
    assert (first["file"], first["line_start"], first["side"], first["words"]) == ("src/parser.py", 15, "new", ["Bug"])
    # It says nowhere which model suggests, and nothing is answered for the annotator.
    assert "reviewer-9b" not in json.dumps([*items.values()])
    assert bob.get(f"assignments/{held['id']}/").json()["draft"]["content"] is None
    own = {**first["value"], "comment": "This breaks at the end of the file.", "comment_id": "mine"}
    acts = [
        {"id": f"{COMMENTS}/comment-1", "action": "accepted", "part": "mine"},
        {"id": f"{VERDICT}/decision", "action": "rejected"},
    ]
    answers = {COMMENTS: [own], VERDICT: {"decision": "comment_only"}, "suggestions": {"items": acts}}
    assert bob.save(held, {"answers": answers}).status_code == 200
    assert bob.get(f"assignments/{held['id']}/draft/").json()["content"]["answers"] == answers
    record = bob.submit(held, answers).json()["record"]
    assert record["annotations"]["suggestions"] == {
        "model": "reviewer-9b",
        "version": "2026-11",
        "items": [
            {"id": f"{COMMENTS}/comment-1", "action": "edited", "part": "mine", "changed": ["comment"]},
            {"id": f"{VERDICT}/decision", "action": "rejected"},
        ],
    }
    # Whoever touched none of them says so, too; what is not among them is refused.
    dora = api_of(judging.tenants.dora)
    held = dora.claim()
    items_of(dora, held)
    strange = {VERDICT: {"decision": "approve"}, "suggestions": {"items": [{"id": "other/1", "action": "accepted"}]}}
    refused = dora.submit(held, strange)
    assert refused.status_code in (400, 422)
    assert "no suggestion of this task" in refused.content.decode()
    told = dora.submit(held, {COMMENTS: [], VERDICT: {"decision": "approve"}}).json()["record"]["annotations"]
    assert {item["action"] for item in told["suggestions"]["items"]} == {"unanswered"}
    (row,) = api_of(judging.tenants.mallory).get("projects/parser/suggestions/").json()["results"]
    assert (row["id"], row["model"], sorted(row["shown_to"]), row["hidden_from"]) == (
        "t00",
        "reviewer-9b",
        ["bob", "dora"],
        [],
    )
    assert row["provenance"] == {"prompt": "review-3"}


def test_what_is_hidden_is_as_if_there_were_none(judging: Judging) -> None:
    begin(judging, hidden_share=1)
    send(judging, suggestion("t00"))
    bob = api_of(judging.tenants.bob)
    held = bob.claim()
    page = bob.client.get(f"/o/acme/p/parser/tasks/{held['id']}/").content.decode()
    assert 'id="suggested"' not in page
    assert items_of(bob, held) == {}
    record = bob.submit(held, {COMMENTS: [], VERDICT: {"decision": "approve"}}).json()["record"]
    assert [*record["annotations"]] == [COMMENTS, VERDICT]
    (row,) = api_of(judging.tenants.mallory).get("projects/parser/suggestions/").json()["results"]
    assert (row["shown_to"], row["hidden_from"]) == ([], ["bob"])


def test_a_project_that_shows_none_has_the_records_that_it_had(judging: Judging) -> None:
    begin(judging, shown=False)
    send(judging, suggestion("t00"))
    bob = api_of(judging.tenants.bob)
    held = bob.claim()
    assert items_of(bob, held) == {}
    record = bob.submit(held, {COMMENTS: [], VERDICT: {"decision": "approve"}}).json()["record"]
    assert [*record["annotations"]] == [COMMENTS, VERDICT]
    with acting_in(judging.tenants.acme, judging.tenants.alice):
        assert not SuggestionExposure.objects.exists()


def test_nobody_is_shown_what_came_after_they_began(judging: Judging) -> None:
    begin(judging)
    bob = api_of(judging.tenants.bob)
    held = bob.claim()
    send(judging, suggestion("t00"))
    assert items_of(bob, held) == {}


def test_the_draw_is_as_wide_as_the_project_says_and_looks_at_no_kind(judging: Judging) -> None:
    begin(judging, traces=1)
    bob = judging.claim(judging.tenants.bob)
    drawn = [is_hidden(Assignment(kind=kind), 0.2) for kind in Kind for _ in range(400)]
    assert 0.15 < sum(drawn) / len(drawn) < 0.25
    for kind in Kind:
        assert is_hidden(Assignment(pk=bob.pk, kind=kind), 0.2) == is_hidden(bob, 0.2)


@pytest.mark.parametrize(
    ("record", "field", "words"),
    [
        ({"id": "nobody"}, "id", "has no trace 'nobody'"),
        ({"model": ""}, "model", "model is missing"),
        ({"model_version": 3}, "model_version", "model_version is missing"),
        ({"provenance": {"prompt": 3}}, "provenance", "object of texts"),
        ({"source": "x"}, "source", "is not a key of a record"),
        ({"annotations": {"speed": 3}}, "annotations.speed", "is not a scheme of this project"),
        (
            {"annotations": {VERDICT: {"decision": "fine"}}},
            "annotations.verdict.decision",
            "fine is not a verdict",
        ),
        (
            {"annotations": {COMMENTS: [comment(400)]}},
            f"annotations.{COMMENTS}.0.line_start",
            "does not show all of these lines",
        ),
        ({"annotations": {COMMENTS: []}}, f"annotations.{COMMENTS}", "Nothing is suggested"),
    ],
)
def test_what_cannot_be_taken_is_named_with_what_to_do(
    judging: Judging, record: dict[str, Any], field: str, words: str
) -> None:
    begin(judging)
    answer = send(judging, {**suggestion("t00"), **record}, suggestion("t00"))
    assert answer["taken"] == 1
    (refused,) = answer["refused"]
    assert (refused["place"], refused["field"]) == (1, field)
    assert words in refused["sentence"]


def test_another_answer_of_the_same_model_is_another_version(judging: Judging) -> None:
    begin(judging)
    send(judging, suggestion("t00"))
    other = suggestion("t00", verdict={"decision": "approve"})
    assert "another model_version" in send(judging, other)["refused"][0]["sentence"]
    assert send(judging, {**other, "model_version": "2026-12"})["taken"] == 1
    bob = api_of(judging.tenants.bob)
    # The newest one is shown.
    assert [*items_of(bob, bob.claim())] == [f"{VERDICT}/decision"]
    with acting_in(judging.tenants.acme, judging.tenants.alice):
        assert Suggestion.objects.count() == 2
