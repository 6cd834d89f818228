"""Runs of two tasks by two models, and what three people say of them: both modes, ties, gaps and hostile texts."""

from typing import Any

from potato.runs.model import AgentRun, FileOutcome, Step, ToolCall

HOSTILE = "nul \x00, line \u2028 separator, \u202eright to left, lone \udcff half, \U0001f954, </script>"
SEARCH = ToolCall("1", "search", {"query": "Tokyo", "deep": True}, "13,960,000 people")
READ = ToolCall("2", "read", {"path": "a.py"}, None)


def run(
    name: str,
    *,
    task: str = "Fix the parser",
    model: str = "model-a",
    instance: str = "",
    steps: int = 3,
    is_changed: bool = True,
) -> AgentRun:
    """A run whose first step calls two tools; the second has hostile text, and each says its run's name."""
    acts = (
        Step(message=f"Search first, {name}", thought="hidden", calls=(SEARCH, READ)),
        Step(message=HOSTILE),
        *(Step(message=f"{name} goes on {number}") for number in range(2, steps)),
    )
    outcome = FileOutcome(path="a.py", operation="modified", old_text="a = 1\n", new_text=f"a = {len(name)}\n")
    events = (outcome,) if is_changed else ()
    return AgentRun(
        external_id=name,
        task=task,
        steps=acts[:steps],
        events=events,
        event_steps=(1 if steps > 1 else None,) * len(events),
        agent_model=model,
        instance_id=instance,
        repo="acme/parser" if instance else "",
    )


def first_error(step: int | None, steps: int = 3, **more: Any) -> dict[str, Any]:
    """What first-error mode says of a trace."""
    correct = steps if step is None else step
    return {
        "mode": "first_error",
        "first_error_step": step,
        "total_steps": steps,
        "labels": [1] * correct + [-1] * (steps - correct),
        **more,
    }


def per_step(*scores: float | None, **details: dict[str, Any]) -> dict[str, Any]:
    """What per-step mode says of a trace; details by the index of their step, as in `s1={...}`."""
    given = {name.removeprefix("s"): detail for name, detail in details.items()}
    return {
        "mode": "per_step",
        "total_steps": len(scores),
        "labels": list(scores),
        "step_details": {
            str(at): {"label": "correct" if score > 0 else "incorrect", **given.get(str(at), {})}
            for at, score in enumerate(scores)
            if score is not None
        },
        "cumulative_score": sum(score for score in scores if score is not None),
    }


def record(trace: str, annotator: str, rewards: Any = None, *, verdict: str = "", **more: Any) -> dict[str, Any]:
    """One annotation of a trace."""
    parts: dict[str, Any] = {} if rewards is None else {"process_reward": rewards}
    if verdict:
        parts["verdict"] = {"decision": verdict, "summary": "As judged."}
    return {"id": trace, "annotator": annotator, "timestamp": "2026-03-01T10:00:00Z", "annotations": parts, **more}


RUNS = (
    run("alpha", instance="acme__parser-1"),
    run("beta", model="org/model-b", instance="acme__parser-1"),
    run("gamma", model="org/model-b", instance="acme__parser-2"),
    run("delta", task="Write the manual", instance="acme__manual-1"),
    run("empty", task="Write the manual", instance="acme__manual-2", is_changed=False),
    run("talk", task="Write the manual", model="org/model-b", instance="acme__manual-1"),
    run("short", task="", steps=2),
)
RECORDS = (
    record("alpha", "ann", first_error(None), verdict="approve"),
    record("alpha", "bob", first_error(1, neutral_steps=[0]), verdict="approve"),
    record("alpha", "cyd", first_error(1, correction="Look at the file"), verdict="request_changes"),
    record("beta", "ann", per_step(1.0, None, -1.0), verdict="request_changes"),
    record("beta", "bob", per_step(1.0, 0.25, -0.5, s2={"correction": "Stop here"}), verdict="approve"),
    record("gamma", "ann", first_error(None), verdict="approve"),
    record("delta", "ann", per_step(0.5, 0.5, 1.0), verdict="request_changes"),
    record("empty", "ann", per_step(0.5, 0.5, -0.5), verdict="approve"),
    record("talk", "ann", per_step(0.5, 0.5, -0.5), verdict="comment_only"),
    record("short", "bob", per_step(None, None), verdict="comment_only"),
)
