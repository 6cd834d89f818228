"""What a record of ours says about its run beside the steps: id, task and the facts that comparisons stand on."""

import re
from dataclasses import dataclass

from potato.runs.converters.fields import name, text
from potato.runs.model import JSON, AgentRun, ReadingOptions

_INSTANCE = re.compile(r"([A-Za-z0-9][\w.-]*?)__([\w.-]+)-\d+")
_SMITH_INSTANCE = re.compile(r"([A-Za-z0-9][\w-]*?)__([\w.-]+?)\.[0-9a-f]{8}\.\S+")


@dataclass(frozen=True, slots=True)
class Facts:
    """An absent fact is empty; nothing is guessed."""

    external_id: str
    task: str
    task_id: str
    agent_model: str
    instance_id: str
    repo: str
    tags: tuple[str, ...]
    patch: bytes | None
    base_commit: str

    def run(self) -> AgentRun:
        """A run with these facts and no step yet."""
        return AgentRun(
            external_id=self.external_id,
            task=self.task,
            task_id=self.task_id,
            agent_model=self.agent_model,
            instance_id=self.instance_id,
            repo=self.repo,
            tags=self.tags,
            patch=self.patch,
            base_commit=self.base_commit,
        )


def read_facts(record: dict[str, JSON], options: ReadingOptions) -> Facts:
    """The facts of a record; the project names its id and task fields. Tags may be a list, or one text."""
    options.named_keys.note_keys(record, id_key=options.id_key, text_key=options.text_key)
    tags = record.get("tags")
    return Facts(
        external_id=name(record, options.id_key),
        task=text(record, options.text_key),
        task_id=name(record, "task_id"),
        agent_model=name(record, "agent_model") or name(record, "model"),
        instance_id=name(record, "instance_id"),
        repo=name(record, "repo"),
        tags=tuple(tag for tag in (tags if isinstance(tags, list) else [tags]) if isinstance(tag, str) and tag),
        patch=patch_bytes(record.get("patch")),
        base_commit=name(record, "base_commit"),
    )


def repository_named_by(instance_id: str) -> str:
    """The repository that an instance of SWE-bench names, owner__name-number, or one of SWE-smith,
    owner__name.commit.change; "" for an id of another form."""
    match = _INSTANCE.fullmatch(instance_id) or _SMITH_INSTANCE.fullmatch(instance_id)
    return f"{match[1]}/{match[2]}" if match else ""


def patch_bytes(patch: JSON) -> bytes | None:
    """A patch out of JSON as bytes: surrogates that stand for bytes become those, others their UTF-8 form."""
    if not isinstance(patch, str):
        return None
    try:
        return patch.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return patch.encode("utf-8", "surrogatepass")
