"""What tells that two runs had the same task. Pure, so that imports and offline exports say the same of a run."""

import hashlib

from potato.runs.model import AgentRun


def task_id_of(task: str) -> str:
    """The hash of the task's text, white space and case folded."""
    return hashlib.sha256(" ".join(task.split()).casefold().encode("utf-8", "surrogatepass")).hexdigest()[:32]


def task_of(run: AgentRun) -> str:
    """The run's own task id, else that of its text; "" where it has neither."""
    return run.task_id or (task_id_of(run.task) if run.task.strip() else "")
