"""What three annotators say by a rule, so that what comes out can be compared with what went in."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from potato.api.shapes import AssignmentInDetail
from potato.client import Client
from tests.potato.configuration.documented_configurations import FILE_RATINGS, INLINE_COMMENTS, VERDICT
from tests.rewards.documented_configurations import FIRST_ERROR

ANNOTATORS = ("rule-0", "rule-1", "rule-2")
DECISIONS = ("approve", "request_changes", "comment_only")


def documented() -> str:
    """The schemes of both documents as they print them, in one project for three annotators."""
    texts = (INLINE_COMMENTS, FILE_RATINGS, VERDICT, FIRST_ERROR)
    schemes = [scheme for text in texts for scheme in yaml.safe_load(text)["annotation_schemes"]]
    project = {
        "task_name": "Both documents",
        "annotation_schemes": schemes,
        "assignment": {"annotations_per_trace": len(ANNOTATORS)},
        "adjudication": {"when": "disagreement"},
    }
    text: str = yaml.safe_dump(project, sort_keys=False)
    return text


def changed_lines(patch: str) -> dict[str, int]:
    """The first line of each file that the patch shows, in the file as it becomes."""
    return {path: int(line) for path, line in re.findall(r"^\+\+\+ b/(\S+)\n@@ -\S+ \+(\d+)", patch, re.MULTILINE)}


def annotation(
    annotator: Client, number: int, assignment: AssignmentInDetail, steps: int, shown: Mapping[str, int]
) -> dict[str, Any]:
    """What the annotator of that number says: the last one disagrees with the others wherever the rule lets them.
    `shown` is a line of each file that can be commented on."""
    own = number // 2
    first = (steps // 2 + own) % steps
    return {
        "inline_comments": [
            comment(annotator, assignment, file.path, shown[file.path])
            for file in assignment.files
            if file.path in shown and own == 0
        ],
        "file_ratings": {
            file.path: {"correctness": 1 + (len(file.path) + own) % 5, "quality": 1 + file.index % 5}
            for file in assignment.files
        },
        "verdict": {
            "decision": DECISIONS[(steps + own) % len(DECISIONS)],
            "summary": f"By the rule of annotator {number}, on {steps} steps.",
        },
        "process_reward": {
            "mode": "first_error",
            "first_error_step": first,
            "total_steps": steps,
            "labels": [1] * first + [-1] * (steps - first),
            "label_origin": ["given"] * (first + 1) + ["inferred"] * (steps - first - 1),
        },
    }


def comment(annotator: Client, assignment: AssignmentInDetail, path: str, number: int) -> dict[str, Any]:
    """One on that line of the file, with a suggestion in its place."""
    line = annotator.lines(assignment, path, number, number)
    made = {
        "file": path,
        "line_start": number,
        "line_end": number,
        "side": "new",
        "category": "bug",
        "severity": "minor",
        "comment": "By the rule.",
        "suggestion": f"{line.text}  # checked",
        "comment_id": "c1",
        "created_at": "2026-11-22T10:00:00Z",
    }
    return made | ({"numbering": "excerpt"} if line.numbering == "excerpt" else {})
