"""The results that the process reward documentation prints, but for one slip: its per-step labels sum to 3.25."""

from typing import Any

FIRST_ERROR: dict[str, Any] = {
    "mode": "first_error",
    "first_error_step": 4,
    "total_steps": 8,
    "labels": [1, 1, 1, 1, -1, -1, -1, -1],
}
PER_STEP: dict[str, Any] = {
    "mode": "per_step",
    "total_steps": 6,
    "labels": [1.0, 1.0, -1.0, 0.25, 1.0, 1.0],
    "step_details": {
        "0": {"label": "correct"},
        "1": {"label": "correct"},
        "2": {
            "label": "incorrect",
            "error_category": "Wrong tool selected",
            "notes": "Agent used grep when it should have read the file directly",
        },
        "3": {"label": "recovery", "notes": "Agent recognized the mistake and tried a different approach"},
        "4": {"label": "correct"},
        "5": {"label": "correct"},
    },
    "cumulative_score": 3.25,
}
