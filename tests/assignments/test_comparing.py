"""What is compared of two or three annotations, and which of it is a difference; and the same over the API."""

import copy
from typing import Any

import pytest
from django.test import Client

from assignments.comparing import Comparison, compare
from potato.configuration import ProjectConfiguration
from tests.assignments.annotating import Annotating
from tests.assignments.reviews import api_of, documented, reviewed
from tests.pages import queries_of
from tests.potato.schemes.test_opinions import PER_STEP, REVIEW, configuration
from tests.tenants import Tenants

FILES = ("src/parser.py", "tests/test_parser.py")


def compared(*annotations: Any, under: ProjectConfiguration | None = None) -> Comparison:
    pinned = under or configuration(*REVIEW)
    return compare([(one, pinned) for one in annotations], FILES)


def changed(**parts: Any) -> dict[str, Any]:
    return copy.deepcopy(documented()) | parts


def test_two_that_say_the_same_have_no_difference() -> None:
    found = compared(changed(), changed())
    assert found.is_the_same
    assert found.differences == 0
    assert [place.verdict for place in found.places] == ["The same"] * 3


def test_a_verdict_that_is_not_everybodys_is_a_difference_and_a_summary_is_none() -> None:
    found = compared(
        changed(),
        changed(verdict={"decision": "approve", "summary": "Fine."}),
        changed(verdict={"decision": "request_changes", "summary": "Something else."}),
    )
    (row,) = found.whole
    assert (row.differs, row.range_words) == (True, "2 : 1")
    assert not compared(changed(), changed(verdict={**changed()["verdict"], "summary": "Else."})).whole[0].differs


@pytest.mark.parametrize(("numbers", "is_small", "off"), [((3, 4, 3), True, [1]), ((1, 4, 3), False, [0, 1])])
def test_ratings_are_compared_by_how_far_they_are_apart(
    numbers: tuple[int, ...], is_small: bool, off: list[int]
) -> None:
    found = compared(*(changed(file_ratings={FILES[0]: {"correctness": number}}) for number in numbers))
    (row,) = found.ratings
    assert row.differs
    assert row.is_small is is_small
    assert [at for at, cell in enumerate(row.cells) if cell.is_off] == off
    assert row.spread_words == f"{max(numbers) - min(numbers)} apart"


def test_a_rating_that_one_did_not_give_is_a_difference() -> None:
    found = compared(changed(), changed(file_ratings={}))
    assert all(row.differs and not row.is_small for row in found.ratings)


def test_comments_that_mean_one_place_stand_together_with_what_differs_in_them() -> None:
    comments = documented()["inline_comments"]
    near = {**comments[0], "line_start": 45, "line_end": 45, "category": "logic"}
    far = {**comments[0], "line_start": 46, "line_end": 46, "category": "logic"}
    found = compared(changed(inline_comments=[comments[0]]), changed(inline_comments=[near]))
    (place,) = found.places
    assert (place.first, place.last, place.commented, place.verdict) == (42, 45, 2, "Category differs")
    found = compared(changed(inline_comments=[comments[0]]), changed(inline_comments=[far]))
    assert [(place.first, place.verdict) for place in found.places] == [(42, "One alone"), (46, "One alone")]


def test_places_stand_in_the_order_of_the_files_and_lines() -> None:
    found = compared(changed(), changed(inline_comments=[]))
    assert [(place.file, place.first) for place in found.places] == [
        ("src/parser.py", 15),
        ("src/parser.py", 42),
        ("tests/test_parser.py", 28),
    ]


def test_steps_are_compared_one_by_one_and_totals_stand_apart() -> None:
    def rated(*labels: str) -> dict[str, Any]:
        scores = {"correct": 1.0, "incorrect": -1.0}
        return {
            "rewards": {
                "mode": "per_step",
                "total_steps": len(labels),
                "labels": [scores[label] for label in labels],
                "cumulative_score": sum(scores[label] for label in labels),
                "step_details": {str(at): {"label": label} for at, label in enumerate(labels)},
            }
        }

    found = compared(rated("correct", "incorrect"), rated("correct", "correct"), under=configuration(PER_STEP))
    assert [(row.step, row.differs, row.spread_words) for row in found.steps] == [(0, False, "same"), (1, True, "2.0")]
    assert [row.title for row in found.totals] == ["Score", "First error"]
    assert found.whole == ()


# --- Over the API ----------------------------------------------------------------------------------------------


def test_programs_read_one_submission_and_the_comparison_of_its_trace(tenants: Tenants, tmp_path: Any) -> None:
    trace = reviewed(tenants.acme, tenants.acme_project, assignment={"annotations_per_trace": 2})
    work = Annotating(tenants, tenants.acme_project, tmp_path)
    own = work.submit_annotations(work.claim(tenants.bob), documented())
    work.submit_annotations(
        work.claim(tenants.alice), changed(verdict={"decision": "approve", "summary": "Right, and tested well."})
    )
    manager = api_of(tenants.mallory)
    told = manager.get(f"submissions/{own.pk}/").json()
    assert (told["trace"], told["project"], told["configuration_version"]) == (str(trace.pk), "parser", 1)
    assert told["record"]["annotator"] == "bob"
    assert told["page"] == f"/o/acme/p/parser/annotations/{own.pk}/"
    assert told["elapsed_seconds"] >= 0
    comparison = manager.get(f"projects/parser/traces/{trace.pk}/comparison/").json()
    assert [person["annotator"] for person in comparison["people"]] == ["bob", "alice"]
    (verdict,) = [row for row in comparison["rows"] if row["title"] == "Verdict"]
    assert verdict["differs"]
    assert [answer["values"] for answer in verdict["answers"]] == [["request_changes"], ["approve"]]
    assert [place["differs"] for place in comparison["places"]] == [False, False, False]
    lines = manager.get(f"submissions/{own.pk}/lines/", file="src/parser.py", side="new", start="42", end="42")
    assert lines.status_code == 200
    bob = api_of(tenants.bob)
    assert bob.get(f"submissions/{own.pk}/").status_code == 200
    assert bob.get(f"projects/parser/traces/{trace.pk}/comparison/").status_code == 404


def test_a_submission_of_somebody_else_does_not_exist_for_an_annotator(tenants: Tenants, tmp_path: Any) -> None:
    reviewed(tenants.acme, tenants.acme_project, assignment={"annotations_per_trace": 2})
    work = Annotating(tenants, tenants.acme_project, tmp_path)
    other = work.submit_annotations(work.claim(tenants.alice), documented())
    bob = api_of(tenants.bob)
    for path in (f"submissions/{other.pk}/", f"submissions/{other.pk}/lines/"):
        assert bob.get(path).status_code == 404


def test_ticked_rows_of_two_traces_are_not_compared(tenants: Tenants, client: Client, tmp_path: Any) -> None:
    reviewed(tenants.acme, tenants.acme_project, assignment={"annotations_per_trace": 2})
    reviewed(tenants.acme, tenants.acme_project, external_id="trace_043", assignment={"annotations_per_trace": 2})
    work = Annotating(tenants, tenants.acme_project, tmp_path)
    first, second = (work.submit_annotations(work.claim(tenants.bob), documented()) for _ in range(2))
    client.force_login(tenants.mallory)
    answer = client.get("/o/acme/p/parser/annotations/compare/", {"of": [str(first.pk), str(second.pk), "nonsense"]})
    assert answer["Location"] == "/o/acme/p/parser/annotations/"
    assert b"of one trace" in client.get(answer["Location"]).content


def test_names_that_are_hidden_are_nowhere_on_the_page_and_letters_stay(
    tenants: Tenants, client: Client, tmp_path: Any
) -> None:
    trace = reviewed(tenants.acme, tenants.acme_project, assignment={"annotations_per_trace": 3})
    work = Annotating(tenants, tenants.acme_project, tmp_path)
    for person in (tenants.bob, tenants.alice, tenants.dora):
        work.submit_annotations(work.claim(person), documented())
    client.force_login(tenants.mallory)
    path = f"/o/acme/p/parser/traces/{trace.pk}/compare/?names=hidden"
    pages = [client.get(path).content.decode() for _ in range(2)]
    for name in ("bob", "alice", "dora"):
        assert name not in pages[0]
    assert "Annotator A" in pages[0]

    def people(page: str) -> str:
        return page.split('aria-label="Annotators"')[1].split("</section>")[0]

    assert people(pages[0]) == people(pages[1])


def test_a_page_that_compares_costs_no_more_queries_for_more_people(
    tenants: Tenants, client: Client, tmp_path: Any
) -> None:
    trace = reviewed(tenants.acme, tenants.acme_project, assignment={"annotations_per_trace": 4})
    work = Annotating(tenants, tenants.acme_project, tmp_path)
    client.force_login(tenants.mallory)
    path = f"/o/acme/p/parser/traces/{trace.pk}/compare/"

    def cost() -> int:
        return queries_of(client, path)

    for person in (tenants.bob, tenants.alice):
        work.submit_annotations(work.claim(person), documented())
    two = cost()
    for person in (tenants.dora, tenants.mallory):
        work.submit_annotations(work.claim(person), documented())
    assert cost() == two <= 30
