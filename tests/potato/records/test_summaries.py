"""What a list says of an annotation in a few words."""

import copy
from typing import Any

from hypothesis import given

from potato.records.annotations import summaries
from tests.potato.records.test_annotations import ALMOST, EVERYTHING, JSON, documented_project
from tests.review.documented_record import RECORD
from tests.review.schemes_from import project


def test_each_scheme_has_its_words_in_the_order_of_the_configuration() -> None:
    assert summaries(RECORD["annotations"], documented_project()) == ["3 comments", "2 files rated", "Request Changes"]


def test_words_count_from_none_and_name_what_a_configuration_calls_a_value() -> None:
    annotations: dict[str, Any] = copy.deepcopy(RECORD["annotations"])
    annotations["inline_comments"] = []
    annotations["file_ratings"].popitem()
    annotations["verdict"]["decision"] = "approve"
    renamed = project(
        inline_comments=None, file_ratings=None, verdict={"options": [{"value": "approve", "display": "Ship it"}]}
    )
    assert summaries(annotations, renamed) == ["No comments", "1 file rated", "Ship it"]


def test_a_value_that_the_configuration_does_not_know_is_named_as_it_is() -> None:
    other = project(verdict={"options": [{"value": "fine"}]})
    assert summaries({"verdict": {"decision": "approve"}}, other) == ["approve"]


def test_a_part_that_is_missing_or_of_another_shape_has_no_words() -> None:
    assert summaries({}, EVERYTHING) == []
    assert summaries({"verdict": "approve", "inline_comments": {"a": 1}, "file_ratings": [2]}, EVERYTHING) == []


@given(JSON | ALMOST)
def test_words_are_found_for_anything_that_json_can_hold(annotations: object) -> None:
    assert all(isinstance(words, str) for words in summaries(annotations, EVERYTHING))
