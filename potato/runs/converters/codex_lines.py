"""The lines of a Codex rollout in one form, whatever version wrote them, and what a session says of itself.

What the lines are stands in the field notes of `codex_session`.
"""

from dataclasses import dataclass

from potato.runs.converters import codex_items as items
from potato.runs.converters.fields import name, text, word_set
from potato.runs.model import JSON

ITEM_NOISE = word_set("ghost_snapshot compaction compaction_summary context_compaction compaction_trigger other")


@dataclass(frozen=True, slots=True)
class RolloutLine:
    """A line in one form, whatever version wrote it."""

    kind: str
    payload: dict[str, JSON]
    at: str = ""
    ordinal: int | None = None


@dataclass(slots=True)
class ThreadFacts:
    """What the session's own line says of it."""

    thread_id: str = ""
    parent_id: str = ""
    forked_from: str = ""
    agent_name: str = ""
    agent_path: str = ""
    folder: str = ""
    repo: str = ""
    base_commit: str = ""
    model: str = ""
    started_at: str = ""
    own_from: int | None = None


def as_rollout_line(record: dict[str, JSON]) -> RolloutLine | None:
    """The line in the form of today; None for one that is none of a rollout."""
    at = text(record, "timestamp", "created_at")
    kind, payload = text(record, "type"), record.get("payload")
    ordinal = record.get("ordinal")
    if isinstance(payload, dict) and kind:
        return RolloutLine(kind, payload, at, ordinal if type(ordinal) is int else None)
    if "record_type" in record:
        return RolloutLine("world_state", record, at)
    if items.is_call(kind) or items.is_output(kind) or kind in ("message", "reasoning") or kind in ITEM_NOISE:
        return RolloutLine("response_item", record, at)
    if not kind and text(record, "role"):
        content = record.get("content", record.get("message"))
        return RolloutLine("response_item", {**record, "type": "message", "content": content}, at)
    if not kind and name(record, "id") and "timestamp" in record:
        return RolloutLine("session_meta", record, at)
    return None


def thread_facts(payload: dict[str, JSON], at: str = "") -> ThreadFacts:
    """The facts of a session_meta."""
    source = payload.get("source")
    subagent = source.get("subagent") if isinstance(source, dict) else None
    spawn = subagent.get("thread_spawn") if isinstance(subagent, dict) else None
    base = payload.get("history_base")
    marks = [payload.get("subagent_history_start_ordinal"), _member(base, "end_ordinal_exclusive")]
    git = payload.get("git")
    return ThreadFacts(
        thread_id=name(payload, "id") or name(payload, "session_id"),
        parent_id=text(payload, "parent_thread_id") or text(spawn, "parent_thread_id"),
        forked_from=text(payload, "forked_from_id"),
        agent_name=text(payload, "agent_nickname", "agent_role", "agent_path")
        or text(spawn, "agent_nickname", "agent_role", "agent_path"),
        agent_path=text(payload, "agent_path") or text(spawn, "agent_path"),
        folder=text(payload, "cwd"),
        repo=repository_name(text(git, "repository_url")),
        base_commit=text(git, "commit_hash"),
        model=text(payload, "model"),
        started_at=text(payload, "timestamp") or at,
        own_from=max((mark for mark in marks if type(mark) is int), default=None),
    )


def repository_name(url: str) -> str:
    """OWNER/NAME of a repository's address; "" where it has no such form."""
    parts = [part for part in url.removesuffix(".git").replace(":", "/").split("/") if part]
    return "/".join(parts[-2:]) if len(parts) > 2 else ""


def _member(value: JSON, key: str) -> JSON:
    return value.get(key) if isinstance(value, dict) else None
