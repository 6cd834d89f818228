"""What an invented model suggests of the runs that came in last: some of it is right, and some is not."""

from typing import Any

_MODEL = {"model": "reviewer-small", "model_version": "2026-11", "provenance": {"prompt": "review-3"}}


def _labelled(run: str, *labels: str) -> dict[str, Any]:
    details = {str(at): {"label": label} for at, label in enumerate(labels)}
    return {"id": run, **_MODEL, "annotations": {"process_reward": {"step_details": details}}}


SUGGESTIONS: dict[str, list[dict[str, Any]]] = {
    "process-rewards": [
        _labelled("csv-last-day-tern", "correct", "correct", "partially_correct"),
        _labelled("csv-last-day-gannet", "correct", "incorrect"),
        _labelled("csv-last-day-finch", "correct", "correct", "correct"),
        _labelled("ferry-with-bicycle-gannet", "correct", "correct"),
        _labelled("ferry-with-bicycle-tern", "correct", "correct", "incorrect"),
        _labelled("backup-disk-full-harbor", "correct", "unnecessary"),
        _labelled("backup-disk-full-finch", "correct", "correct"),
    ],
    "agent-code-review": [
        {
            "id": "shop-orders-sorting",
            **_MODEL,
            "annotations": {
                "inline_comments": [
                    {
                        "file": "shop/orders.py",
                        "line_start": 12,
                        "category": "security",
                        "severity": "major",
                        "comment": "Can a caller choose the column that stands in the query?",
                    }
                ],
                "verdict": {"decision": "request_changes"},
            },
        }
    ],
}
"""By the slug of the project, as the API takes them."""
