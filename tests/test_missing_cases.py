"""What the server says is missing, on the cases that tests/javascript/missing.test.js asks the task page's rules."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from potato.configuration import check_configuration
from potato.runs.changes.model import FileChange
from potato.runs.changes.places import Evidence
from potato.schemes.answers import Gap
from potato.schemes.review.ratings import rated_files
from potato.schemes.review.types import InlineComments
from potato.schemes.rewards.configuration import ProcessRewardScheme
from potato.schemes.rewards.types import ProcessReward
from tests.review.evidence import TWO_FILES
from tests.review.schemes_from import comments_scheme, ratings_scheme

ROOT = Path(__file__).parent.parent
CASES = json.loads((ROOT / "tests" / "missing_cases.json").read_text(encoding="utf-8"))
FIELDS = {"line_end": "range"}


def of(part: str) -> list[Any]:
    return [
        pytest.param(group["configuration"], case, id=case["name"]) for group in CASES[part] for case in group["cases"]
    ]


def rewards(configuration: dict[str, Any]) -> ProcessRewardScheme:
    entry = {"name": "steps", "annotation_type": "process_reward", **configuration}
    checked = check_configuration(json.dumps({"task_name": "X", "annotation_schemes": [entry]}))
    assert checked.configuration is not None, checked.errors
    scheme = checked.configuration.annotation_schemes[0]
    assert isinstance(scheme, ProcessRewardScheme)
    return scheme


def is_part(part: Any, whole: Any) -> bool:
    """Whether the page is told this, and perhaps more."""
    if isinstance(part, dict):
        return all(key in whole and is_part(value, whole[key]) for key, value in part.items())
    if isinstance(part, list):
        return len(part) == len(whole) and all(is_part(*both) for both in zip(part, whole, strict=True))
    return bool(part == whole)


def step_of(gap: Gap) -> int | str:
    return int(gap.path[1]) if gap.path[:1] == ("step_details",) else "trace"


def test_the_blocks_of_the_cases_are_what_the_page_is_told() -> None:
    for group in CASES["rewards"]:
        assert is_part(group["block"], ProcessReward.settings(rewards(group["configuration"]))), group["configuration"]
    for group in CASES["comments"]:
        told = comments_scheme(**group["configuration"]).inline_comments.model_dump(mode="json")
        assert is_part(group["block"], told), told


@pytest.mark.parametrize(("configuration", "case"), of("rewards"))
def test_missing_of_rewards(configuration: dict[str, Any], case: dict[str, Any]) -> None:
    gaps = ProcessReward.missing(case["answers"], rewards(configuration), Evidence({}, case["steps"]))
    assert list(dict.fromkeys(step_of(gap) for gap in gaps)) == case["missing"]


@pytest.mark.parametrize(("configuration", "case"), of("comments"))
def test_missing_of_a_comment(configuration: dict[str, Any], case: dict[str, Any]) -> None:
    comment = {"file": "src/parser.py", **case["comment"]}
    gaps = InlineComments.missing([comment], comments_scheme(**configuration), TWO_FILES)
    assert sorted(FIELDS.get(str(gap.path[-1]), gap.path[-1]) for gap in gaps) == case["missing"]


@pytest.mark.parametrize("case", CASES["lengths"])
def test_characters_that_count(case: dict[str, Any]) -> None:
    assert len(case["text"].strip()) == case["length"]


@pytest.mark.parametrize("case", CASES["rated"], ids=lambda case: case["name"])
def test_files_that_carry_ratings(case: dict[str, Any]) -> None:
    changes = [FileChange(path, path, operation, "patch") for path, operation in case["files"]]
    block = ratings_scheme(**case["block"]).file_ratings
    assert [file.path for file in rated_files(block, Evidence.of(changes))] == case["rated"]


@pytest.mark.parametrize(("ci", "status"), [("true", 2), ("", 0)])
def test_make_says_where_node_is_missing_and_ci_fails_then(tmp_path: Path, ci: str, status: int) -> None:
    make = shutil.which("make")
    assert make
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    environment |= {"PATH": str(tmp_path), "CI": ci}
    done = subprocess.run(
        [make, "--silent", "test-javascript"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    assert "Node is not installed" in done.stdout + done.stderr
