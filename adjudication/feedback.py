"""What adjudication made of one's annotation, where it is read. Nobody learns there who said something else."""

from collections.abc import Mapping
from typing import Any

from adjudication.models import Adjudication
from adjudication.rules import adjudication_rules
from assignments.models import Submission
from assignments.submission_records import annotator_names

HOW = {
    "agreed": "All said the same",
    "consensus": "As most said",
    "kept": "One answer was kept",
    "merged": "Answers were merged",
    "rewritten": "Written anew",
    "dropped": "Left out",
}


def feedback(submission: Submission, is_own: bool, sees_all: bool) -> Mapping[str, Any] | None:
    """What was settled of the questions on which the annotations of the trace differed; None where nothing was, or
    where the adjudicator does not tell the annotators."""
    rows = Adjudication.objects.in_force().filter(
        organisation=submission.organisation_id,
        sides__submission=submission,
        sides__organisation=submission.organisation_id,
    )
    row = rows.select_related("project").order_by("-pk").first()
    if row is None or not (sees_all or (is_own and row.tells)):
        return None
    own = str(submission.pk)
    items = [
        {
            "title": item["title"],
            "is_same": own in item["sides"],
            "is_taken": own in item["taken_from"],
            "how": HOW.get(item["how"], ""),
            "words": item.get("words", ""),
            "note": item.get("note", ""),
        }
        for item in row.items
        if item["differed"]
    ]
    hides = adjudication_rules(row.project).hide_names and not sees_all
    names = {} if hides or row.decided_by_id is None else annotator_names([row.decided_by_id])
    return {
        "items": items,
        "same": sum(item["is_same"] for item in items),
        "at": row.decided_at,
        "by": names.get(row.decided_by_id, "") if row.decided_by_id else "",
        "final": row.submission_id if sees_all else None,
        "is_own": is_own,
        "slug": row.project.slug,
    }
