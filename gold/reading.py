"""The button on the page of an annotation that makes it the known answer of its trace. Managers alone are shown it."""

from collections.abc import Mapping
from typing import Any

from assignments.models import Submission
from gold.models import ExpectedAnnotation, Use


def make_known(submission: Submission, is_own: bool, sees_all: bool) -> Mapping[str, Any] | None:
    """None for who sees only their own, and where the annotation says nothing that counts."""
    if not sees_all or submission.is_check:
        return None
    expected = ExpectedAnnotation.objects.for_project(submission.project).filter(
        trace=submission.assignment.trace_id, retired_at__isnull=True
    )
    return {"project": submission.project, "submission": submission.pk, "uses": Use.choices, "known": expected.first()}
