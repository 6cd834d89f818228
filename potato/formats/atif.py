"""`atif`: runs as trajectories of the Agent Trajectory Interchange Format, with what people said of them in `extra`."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from potato.formats.notes import Notes, note_line
from potato.formats.options import RowOptions
from potato.formats.registry import Format
from potato.formats.training import process_rewards, readable
from potato.records.sources import Record, TraceFacts, json_text
from potato.runs.model import AgentRun, Step, SubAgent, ToolCall
from potato.wording import UNKNOWN

VERSION = "ATIF-v1.7"
"""The first version with trajectories of sub-agents inside, which 1.8 reads as well."""


class Atif(Format):
    """A line of JSON for each trace that was annotated, ATIF v1.7, as Harbor and other programs read it: `session_id`
    is the trace's id, the first step is the task (source user), then come the steps of the agent with `message`,
    `reasoning_content`, `tool_calls` and the `observation` that holds their results. What the user said in between is a
    step of the user. A sub-agent is a trajectory in `subagent_trajectories`, which the call that started it refers to.

    The whole annotations are in the trajectory's `extra.annotations`, a list, each with annotator, timestamp, kind and
    the documented parts. A step of the agent has `extra.step`, its index from 0 as annotators saw it, and where
    somebody rated it `extra.rewards`: for each who did `annotator`, `reward`, `label` (1 right, -1 wrong, null
    neutral), and the `error_category` and `correction` that were given.

    ATIF demands that calls have ids and arguments are objects: a call without an id, or with that of another one in its
    step, gets one, and other arguments stand under `value`. Left out: pictures, addresses and clicks of web agents,
    files and patches, events that the import did not know, and tokens and costs, which traces do not have. NUL and lone
    surrogates become U+FFFD; a time that is no ISO 8601 is left out. `split -l 1` makes a file of each trajectory."""

    name = "atif"
    label = "Runs as trajectories with their annotations (ATIF), one a line"
    suffix = ".jsonl"
    media_type = "application/jsonl"
    options = RowOptions
    needs = frozenset({"run"})
    needs_traces = True
    gathers = True

    def write(self, record: Record, facts: TraceFacts) -> bytes:
        run = facts.run
        if run is None:
            return self.leave_out("without_trace")
        if not run.steps and not run.task:
            return self.leave_out("without_steps")
        annotation = {
            "annotator": record.annotator,
            "timestamp": record.timestamp,
            **({"kind": record.kind} if record.kind != "normal" else {}),
            "annotations": record.annotations,
        }
        rewards = self._rewards(record, len(run.steps))
        group = [record.id, record.trace_version]
        return note_line(group, None, [_trajectory(run, record), _mended(annotation), _mended(rewards)])

    def gathered(self, notes: Notes) -> Iterator[bytes]:
        for _, same in notes:
            self.state["rows"] += 1
            trajectory, annotation, rewards = notes.body(same[0])
            rest = (notes.body(note)[1:] for note in same[1:])
            annotations, of_steps = [annotation], [rewards]
            for other, own in rest:
                annotations.append(other)
                of_steps.append(own)
            for step in trajectory["steps"]:
                at = step.get("extra", {}).get("step")
                if at is None:
                    continue
                if values := [own[at] for own in of_steps if at < len(own) and own[at]]:
                    step["extra"]["rewards"] = values
            trajectory["extra"]["annotations"] = annotations
            yield f"{json_text(trajectory)}\n".encode("ascii")

    def nothing(self) -> str:
        return "The export selects nothing: no annotation is of a trace that is there. Nothing was written."

    def _rewards(self, record: Record, steps: int) -> list[dict[str, Any] | None]:
        """What the record says of each step; None where it says nothing."""
        rewards = process_rewards(record, self.project)
        if rewards is None:
            return []
        labels = rewards.decided()
        return [
            {
                "annotator": record.annotator,
                "reward": rewards.scores[at],
                "label": labels[at],
                **({"error_category": rewards.categories[at]} if at in rewards.categories else {}),
                **({"correction": rewards.corrections[at]} if at in rewards.corrections else {}),
            }
            if at < len(labels) and (rewards.scores[at] is not None or at in rewards.corrections)
            else None
            for at in range(steps)
        ]


def _trajectory(run: AgentRun, record: Record) -> dict[str, Any]:
    steps, agents = _steps(run.task, run.steps, run.started_at)
    about = {
        "task_id": run.task_id,
        "instance_id": run.instance_id,
        "repository": run.repo,
        "base_commit": run.base_commit,
        "tags": list(run.tags),
        "gaps": list(run.gaps),
    }
    whole = {
        "schema_version": VERSION,
        "session_id": record.id,
        "trajectory_id": record.id if record.trace_version == 1 else f"{record.id}/{record.trace_version}",
        "agent": {
            "name": run.agent or UNKNOWN,
            "version": UNKNOWN,
            **({"model_name": run.agent_model} if run.agent_model else {}),
        },
        "steps": steps,
        "final_metrics": {
            "total_steps": len(steps),
            **({} if run.cost_usd is None else {"total_cost_usd": run.cost_usd}),
        },
        "extra": {name: value for name, value in about.items() if value},
        **({"subagent_trajectories": agents} if agents else {}),
    }
    mended: dict[str, Any] = _mended(whole)
    return mended


def _steps(
    task: str, acts: Sequence[Step], started_at: str = "", within: str = ""
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The steps, each with its number from 1, and the trajectories of the agents that they started, with names that
    begin by where they are."""
    steps: list[dict[str, Any]] = []
    agents: list[dict[str, Any]] = []

    def add(source: str, message: str, at: str, **more: Any) -> None:
        when = {"timestamp": at} if _is_time(at) else {}
        steps.append({"step_id": len(steps) + 1, **when, "source": source, "message": message, **more})

    if task:
        add("user", task, started_at)
    for place, act in enumerate(acts):
        if act.prompt:
            add("user", act.prompt, "")
        own = [_agent(agent, f"{within}{place}.{number}") for number, agent in enumerate(act.agents)]
        agents += own
        add("agent", act.message, act.at, **_act(act, own), extra={"step": place})
        if act.after:
            add("user", act.after, "")
    return steps, agents


def _agent(agent: SubAgent, name: str) -> dict[str, Any]:
    steps, others = _steps(agent.task, agent.steps, within=f"{name}.")
    for step in steps:
        # Only steps of the run itself are rated, and counted as annotators see them.
        step.pop("extra", None)
    return {
        "schema_version": VERSION,
        "trajectory_id": f"agent-{name}",
        "agent": {"name": agent.name or UNKNOWN, "version": UNKNOWN},
        "steps": steps,
        **({"subagent_trajectories": others} if others else {}),
    }


def _act(act: Step, agents: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What an agent's step has beside its message."""
    names = _call_ids(act.calls)
    started: dict[str, list[dict[str, Any]]] = {}
    for sub_agent, agent in zip(act.agents, agents, strict=True):
        started.setdefault(sub_agent.call_id, []).append({"trajectory_id": agent["trajectory_id"]})
    results = []
    for call, name in zip(act.calls, names, strict=True):
        references = started.pop(call.id, [])
        if call.result is None and not references:
            continue
        flags = {flag: True for flag in ("is_error", "refused") if getattr(call, flag)}
        results.append(
            {
                "source_call_id": name,
                **({} if call.result is None else {"content": call.result}),
                **({"subagent_trajectory_ref": references} if references else {}),
                **({"extra": flags} if flags else {}),
            }
        )
    # An agent of which nobody says which call started it.
    results += [{"subagent_trajectory_ref": references} for references in started.values()]
    usage = act.usage
    metrics = {
        "prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
    }  # fmt: skip
    metrics = {name: tokens for name, tokens in metrics.items() if tokens is not None}
    return {
        **({"model_name": act.model} if act.model else {}),
        **({"metrics": metrics} if metrics else {}),
        **({"reasoning_content": act.thought} if act.thought else {}),
        **({"tool_calls": [_call(*pair) for pair in zip(act.calls, names, strict=True)]} if act.calls else {}),
        **({"observation": {"results": results}} if results else {}),
    }


def _call_ids(calls: Sequence[ToolCall]) -> list[str]:
    """The ids of the calls, each once and none empty."""
    taken: set[str] = set()
    names = []
    for number, call in enumerate(calls, 1):
        name = call.id or f"call_{number}"
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return names


def _call(call: ToolCall, name: str) -> dict[str, Any]:
    arguments = call.arguments if isinstance(call.arguments, dict) else {"value": call.arguments}
    return {"tool_call_id": name, "function_name": call.name, "arguments": arguments}


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _mended(value: Any) -> Any:
    """The same JSON with texts that every reader takes."""
    if isinstance(value, str):
        return readable(value).replace("\0", "\ufffd")
    if isinstance(value, dict):
        return {_mended(name): _mended(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_mended(entry) for entry in value]
    return value
