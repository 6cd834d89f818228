"""What the API never loses and never counts twice: repeated requests, two pages at once, late work, any text."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.actions.projects import publish_configuration
from accounts.models import Membership
from assignments.actions.expiring import expire_leases
from assignments.models import Assignment, Submission
from potato.runs.model import FileEdit
from tenancy.actor import Actor, acting_in
from tests.assignments.reviews import Api, api_of, documented, review_yaml, reviewed
from tests.hostile import HOSTILE
from tests.review.evidence import numbered
from tests.tenants import Tenants
from tests.traces.stored import outcome

EXACT = "NUL \x00, half a pair \ud800, its other half \udc00, emoji \U0001f600, \u2028, \x1b[31m"


def end_lease(tenants: Tenants) -> None:
    """Let the time of every claim pass, and the sweep come by."""
    with acting_in(tenants.acme):
        Assignment.objects.filter(state="claimed").update(lease_until=timezone.now() - timedelta(seconds=1))
        expire_leases(Actor(tenants.acme.pk, (tenants.acme.pk,)))


# --- Repeated requests -----------------------------------------------------------------------------------------------


def test_a_repeated_submission_is_answered_byte_by_byte_the_same(tenants: Tenants) -> None:
    reviewed(tenants.acme, tenants.acme_project)
    api = api_of(tenants.bob)
    held = api.claim()
    first, second = (api.submit(held, documented(), key="the-same") for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    with acting_in(tenants.acme):
        assert Submission.objects.count() == 1


def test_a_repetition_is_answered_also_when_the_rules_would_refuse_it_today(
    tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release of the software in between makes no difference to what was acknowledged."""
    reviewed(tenants.acme, tenants.acme_project)
    api = api_of(tenants.bob)
    held = api.claim()
    first = api.submit(held, documented(), key="the-same")
    monkeypatch.setattr("potato.schemes.review.comments.KEYS", ("file",))
    assert api.submit(held, documented(), key="the-same").content == first.content
    assert api.submit(held, documented(), key="another").status_code == 422


def test_a_key_belongs_to_one_content(tenants: Tenants) -> None:
    reviewed(tenants.acme, tenants.acme_project)
    api = api_of(tenants.bob)
    held = api.claim()
    api.submit(held, documented(), key="the-same")
    other = documented()
    other["verdict"]["decision"] = "approve"
    refused = api.submit(held, other, key="the-same")
    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_reused")
    refused = api.submit(held, other, key="another")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_open")


@pytest.mark.parametrize("key", [None, "", " ", "two words", "k" * 101, "k\u00e9y"])
def test_a_submission_needs_a_key(tenants: Tenants, key: str | None) -> None:
    reviewed(tenants.acme, tenants.acme_project)
    api = api_of(tenants.bob)
    held = api.claim()
    headers = {} if key is None else {"Idempotency-Key": key}
    body = {"lease_token": held["lease_token"], "annotations": documented()}
    refused = api.post(f"assignments/{held['id']}/submit/", body, **headers)
    assert (refused.status_code, refused.json()["code"]) == (400, "idempotency_key_needed")


def test_a_submission_that_was_taken_back_is_not_acknowledged_again(tenants: Tenants) -> None:
    reviewed(tenants.acme, tenants.acme_project)
    api = api_of(tenants.bob)
    held = api.claim()
    submission = api.submit(held, documented(), key="first").json()["submission"]
    for _ in range(2):
        assert api.post(f"submissions/{submission}/withdraw/").status_code == 200
    refused = api.submit(held, documented(), key="first")
    assert (refused.status_code, refused.json()["code"]) == (409, "was_withdrawn")
    assert api.submit(held, documented(), key="second").status_code == 201


def test_a_submission_is_not_taken_back_later(tenants: Tenants) -> None:
    reviewed(tenants.acme, tenants.acme_project)
    api = api_of(tenants.bob)
    submitted = api.submit(api.claim(), documented()).json()
    later = timezone.now() + timedelta(seconds=33)
    with pytest.MonkeyPatch.context() as clock:
        clock.setattr("django.utils.timezone.now", lambda: later)
        refused = api.post(f"submissions/{submitted['submission']}/withdraw/")
    assert (refused.status_code, refused.json()["code"]) == (409, "too_late_to_withdraw")


# --- Two pages, and time ---------------------------------------------------------------------------------------------


def test_of_two_pages_the_second_to_save_is_shown_what_is_stored(tenants: Tenants) -> None:
    reviewed(tenants.acme, tenants.acme_project)
    api = api_of(tenants.bob)
    held = api.claim()
    stored = {"answers": {"verdict": {"decision": "approve", "summary": EXACT}}, "page": {"viewed": [EXACT]}}
    assert api.save(held, stored).json()["revision"] == 1
    conflict = api.save(held, {"answers": {}}, revision=0)
    assert conflict.status_code == 409
    told = conflict.json()
    assert (told["code"], told["revision"], told["content"]) == ("draft_conflict", 1, stored)
    assert api.save(held, {"answers": {}}, revision=told["revision"]).json()["revision"] == 2


def test_who_takes_the_work_over_shuts_the_other_page_out(tenants: Tenants) -> None:
    reviewed(tenants.acme, tenants.acme_project)
    api = api_of(tenants.bob)
    left_behind = api.claim()
    here = api.post(f"assignments/{left_behind['id']}/resume/").json()
    where = f"assignments/{left_behind['id']}"
    for refused in (
        api.post(f"{where}/heartbeat/", {"lease_token": left_behind["lease_token"]}),
        api.save(left_behind, {"answers": {}}),
        api.submit(left_behind, documented()),
        api.post(f"{where}/skip/", {"lease_token": left_behind["lease_token"], "reason": "x"}),
        api.post(f"{where}/release/", {"lease_token": left_behind["lease_token"]}),
    ):
        assert (refused.status_code, refused.json()["code"]) == (409, "taken_over")
    lease = api.post(f"{where}/heartbeat/", {"lease_token": here["lease_token"]}).json()
    assert lease["lease_until"] >= here["lease_until"] > lease["now"]
    assert api.submit(here, documented()).status_code == 201


def test_late_work_counts_where_a_place_is_free_and_is_kept_as_surplus_where_none_is(tenants: Tenants) -> None:
    reviewed(tenants.acme, tenants.acme_project)
    bob, dora = api_of(tenants.bob), api_of(tenants.dora)
    held = bob.claim()
    end_lease(tenants)
    refused = bob.post(f"assignments/{held['id']}/heartbeat/", {"lease_token": held["lease_token"]})
    assert (refused.status_code, refused.json()["code"]) == (409, "lease_ended")
    saved = bob.save(held, {"answers": {}})
    assert (saved.status_code, saved.json()["lease_until"]) == (200, None)
    other = dora.claim()
    assert other["trace"] == held["trace"]
    refused = bob.post(f"assignments/{held['id']}/resume/")
    assert (refused.status_code, refused.json()["code"]) == (409, "lease_ended")
    late = bob.submit(held, documented())
    assert (late.status_code, late.json()["surplus"]) == (201, True)
    assert dora.submit(other, documented()).json()["surplus"] is False

    def annotators(**query: str) -> list[str]:
        rows = dora.get("projects/parser/annotations/", **query).json()["results"]
        return [row["record"]["annotator"] for row in rows]

    assert (annotators(), annotators(surplus="1")) == (["dora"], ["bob", "dora"])


def test_an_assignment_keeps_the_configuration_of_its_claim(tenants: Tenants) -> None:
    reviewed(tenants.acme, tenants.acme_project, verdict={"summary_min_length": 20})
    api = api_of(tenants.bob)
    held = api.claim()
    with acting_in(tenants.acme):
        publish_configuration(
            project=tenants.acme_project, source=review_yaml(verdict={"summary_min_length": 1000}), confirmed=True
        )
    assert api.get(f"assignments/{held['id']}/").json()["schemes"][2]["block"]["summary_min_length"] == 20
    assert api.submit(held, documented()).status_code == 201


def test_a_person_who_is_taken_out_can_do_nothing_more(tenants: Tenants) -> None:
    reviewed(tenants.acme, tenants.acme_project)
    api = api_of(tenants.bob)
    held = api.claim()
    with acting_in(tenants.acme):
        Membership.objects.filter(user=tenants.bob).update(is_active=False)
    assert api.save(held, {"answers": {}}).status_code == 404
    assert api.submit(held, documented()).status_code == 404


# --- Any text --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [EXACT, "\n".join(HOSTILE)])
def test_every_text_comes_back_as_it_went(tenants: Tenants, text: str) -> None:
    path = f"src/{text.replace('/', '|')}"
    reviewed(
        tenants.acme,
        tenants.acme_project,
        outcome(path, numbered(3), numbered(3, (2,))),
        verdict={"require_summary": False, "summary_min_length": 0},
        file_ratings={"require_all_files": False},
    )
    api = api_of(tenants.bob)
    held = api.claim()
    comment = {"file": path, "side": "new", "line_start": 2, "line_end": 2, "category": "bug", "comment": text}
    comment |= {"suggestion": text, "comment_id": "a", "created_at": "2025-01-15T14:30:00Z"}
    answers: dict[str, Any] = {
        "inline_comments": [comment],
        "file_ratings": {path: {"quality": 1}},
        "verdict": {"decision": "approve", "summary": text},
    }
    content = {"answers": answers, "page": {text: [text]}}
    assert api.save(held, content).status_code == 200
    for where in (f"assignments/{held['id']}/draft/", f"assignments/{held['id']}/"):
        told = api.get(where)
        assert told.content.isascii()
        assert (told.json().get("draft") or told.json())["content"] == content
    submitted = api.submit(held, answers)
    assert submitted.status_code == 201, submitted.content
    assert submitted.content.isascii()
    assert submitted.json()["record"]["annotations"] == answers
    (listed,) = api.get("projects/parser/annotations/").json()["results"]
    assert listed["record"]["annotations"] == answers


def test_a_path_that_no_address_can_hold_is_asked_for_with_signs_in_its_place(tenants: Tenants) -> None:
    reviewed(tenants.acme, tenants.acme_project, outcome("a\ud800b\x00.py", "", "one\ntwo\n"))
    api = api_of(tenants.bob)
    held = api.claim()
    (file,) = api.get(f"assignments/{held['id']}/").json()["files"]
    assert file["path"] == "a\ud800b\x00.py"
    where = f"assignments/{held['id']}/lines/"
    for asked in ("a\ufffdb\ufffd.py", "a\ufffdb\x00.py"):
        assert api.get(where, file=asked, side="new", start="2", end="2").json()["text"] == "two"


def test_lines_whose_place_nobody_knows_say_that_they_count_the_excerpt(tenants: Tenants) -> None:
    reviewed(
        tenants.acme, tenants.acme_project, FileEdit("a.py", "one\n", "two\nthree\n"), outcome("b.py", "x\n", "y\n")
    )
    api = api_of(tenants.bob)
    held = api.claim()
    where = f"assignments/{held['id']}/lines/"
    answer = api.get(where, file="a.py", side="new", start="2", end="2").json()
    assert answer == {"text": "three", "lines": ["three"], "numbering": "excerpt"}
    assert api.get(where, file="b.py", side="new", start="1", end="1").json()["numbering"] == "file"
    comment = {"file": "a.py", "line_start": 2, "category": "bug", "comment": "Why?"}
    ratings = {path: {"correctness": 3, "quality": 3} for path in ("a.py", "b.py")}
    verdict = {"decision": "approve", "summary": "It does what was asked."}
    answers = {"inline_comments": [comment], "file_ratings": ratings, "verdict": verdict}
    refused = api.submit(held, answers)
    assert refused.status_code == 422
    assert [gap["code"] for gap in refused.json()["gaps"]] == ["wrong_numbering"]
    answers["inline_comments"] = [{**comment, "numbering": "excerpt"}]
    (kept,) = api.submit(held, answers).json()["record"]["annotations"]["inline_comments"]
    assert (kept["line_start"], kept["line_end"], kept["numbering"]) == (2, 2, "excerpt")


def test_a_draft_holds_the_parts_of_the_projects_schemes_alone(tenants: Tenants) -> None:
    reviewed(tenants.acme, tenants.acme_project)
    api = api_of(tenants.bob)
    held = api.claim()
    for answers, path, code in (
        ({"ratings": {}}, ["ratings"], "unknown_scheme"),
        ({"\ud800": {}}, ["\ud800"], "unknown_scheme"),
        ({"verdict": []}, ["verdict"], "not_an_object"),
        ({"inline_comments": [{"colour": 1}]}, ["inline_comments", 0, "colour"], "unknown_key"),
        ({"file_ratings": {"a": {"b": 1.5}}}, ["file_ratings", "a", "b"], "wrong_type"),
    ):
        refused = api.save(held, {"answers": answers})
        assert refused.status_code == 422
        told = refused.json()
        assert (told["code"], told["gaps_in_all"]) == ("malformed", 1)
        assert (told["gaps"][0]["path"], told["gaps"][0]["code"]) == (path, code)
    # What is not complete, or not allowed in the end, is kept all the same.
    unfinished = {"answers": {"inline_comments": [{"comment": "x", "category": "none of these"}]}}
    assert api.save(held, unfinished).status_code == 200


def test_a_draft_has_answers_and_a_pages_own_state_and_nothing_else(tenants: Tenants) -> None:
    reviewed(tenants.acme, tenants.acme_project)
    api = api_of(tenants.bob)
    held = api.claim()
    refused: list[Any] = [[], None, "text", {"other": 1}, {"answers": []}, {"answers": {}, "page": "x" * 500_000}]
    for content in refused:
        answer = api.save(held, content)
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request"), content
    taken: list[Any] = [{}, {"page": None}, {"page": [1, 2.5, {"a": "x" * 400_000}]}]
    for revision, content in enumerate(taken):
        assert api.save(held, content, revision=revision).status_code == 200


def test_what_is_missing_is_told_with_its_place(tenants: Tenants) -> None:
    reviewed(tenants.acme, tenants.acme_project)
    api = api_of(tenants.bob)
    answers = documented()
    answers["inline_comments"][0]["category"] = None
    del answers["file_ratings"]["src/parser.py"]["quality"]
    refused = api.submit(api.claim(), answers)
    assert refused.status_code == 422
    told = refused.json()
    assert told["code"] == "incomplete"
    assert told["gaps"] == [
        {
            "path": ["inline_comments", 0, "category"],
            "code": "no_category",
            "sentence": "src/parser.py, line 42: choose a category.",
            "kind": "missing",
            "place": {"file": "src/parser.py", "side": "new", "line": 42},
        },
        {
            "path": ["file_ratings", "src/parser.py", "quality"],
            "code": "not_rated",
            "sentence": "src/parser.py: rate Code Quality.",
            "kind": "missing",
            "place": {"file": "src/parser.py", "dimension": "quality"},
        },
    ]


def test_thousands_of_gaps_make_no_endless_answer(tenants: Tenants) -> None:
    reviewed(tenants.acme, tenants.acme_project)
    api = api_of(tenants.bob)
    held = api.claim()
    for refused in (
        api.submit(held, {f"scheme-{number}": 1 for number in range(2000)}),
        api.save(held, {"answers": {f"scheme-{number}": 1 for number in range(2000)}}),
    ):
        told = refused.json()
        assert refused.status_code == 422
        assert len(told["gaps"]) == 500
        assert told["gaps_in_all"] >= 2000


@pytest.mark.parametrize("annotations", [None, [], "text", 1, {"verdict": None}])
def test_annotations_of_any_shape_are_told_what_they_lack(tenants: Tenants, annotations: Any) -> None:
    reviewed(tenants.acme, tenants.acme_project)
    api: Api = api_of(tenants.bob)
    refused = api.submit(api.claim(), annotations)
    assert (refused.status_code, refused.json()["code"]) == (422, "incomplete")
    assert json.loads(refused.content)["gaps"]
