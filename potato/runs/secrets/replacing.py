"""The secrets of one run: where they stand, and the same run with placeholders of the same length in their place.

A value has one placeholder in the whole run, and a key is replaced wherever it stands. So the edits of the run still
fit the texts that they change, and every line, column and step is where it was.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any

from potato.runs.changes.derive import derive
from potato.runs.changes.model import ChangeSet
from potato.runs.model import AgentRun, Step
from potato.runs.secrets.found import ALL, Found, find
from potato.runs.secrets.rules import RULES, Group

PLACES = 500
_LITERAL = 12
"""From this length on a value is replaced also where no rule sees it, as in a part of a line that an edit names."""
_CACHED = 200


class ChangeDiffers(Exception):  # noqa: N818  (an answer to whoever asked)
    """With placeholders the run would have another change: a part of a secret stands alone in one of its edits."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a secret stands: in the `part` of a `step`, or in a `file`; `line` counts from 1 within either.

    `step` and `file` are None and "" where it stands in what is said of the run as a whole. Never the secret itself.
    """

    kind: str
    step: int | None = None
    part: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class RunSecrets:
    """What was found in a run. `values` has for each the kind and how many of its kind were found before it, from 1.

    `places` are the first PLACES of all, `occurrences` counts all that are in steps, files and facts of the run.
    """

    values: dict[str, tuple[str, int]]
    places: tuple[Place, ...]
    occurrences: int

    def __bool__(self) -> bool:
        return bool(self.values)

    @property
    def kinds(self) -> dict[str, int]:
        """How many different secrets there are of each kind, in the order of the rules."""
        found = [kind for kind, _ in self.values.values()]
        return {rule.kind: found.count(rule.kind) for rule in RULES if rule.kind in found}

    @property
    def groups(self) -> frozenset[Group]:
        """Which groups of rules found something."""
        return frozenset(rule.group for rule in RULES if rule.kind in self.kinds)

    def of(self, group: Group) -> "RunSecrets":
        """What the rules of one group found alone."""
        kinds = {rule.kind for rule in RULES if rule.group == group}
        values = {value: known for value, known in self.values.items() if known[0] in kinds}
        return RunSecrets(values, tuple(place for place in self.places if place.kind in kinds), self.occurrences)

    def replaced_in(self, text: str) -> str:
        """A text of the run, or about it, with the placeholders in it."""
        return _replacer(self)(text)


def secrets_in_run(run: AgentRun, groups: Collection[Group] = ALL) -> RunSecrets:
    """What stands in the run, in any of its texts. The pictures are not read."""
    seen: dict[str, list[Found]] = {}

    def found_in(text: str) -> list[Found]:
        if len(text) < _CACHED:
            return find(text, groups)
        if text not in seen:
            seen[text] = find(text, groups)
        return seen[text]

    values: dict[str, tuple[str, int]] = {}
    numbers: dict[str, int] = {}
    places: list[Place] = []
    occurrences = 0
    for place, text in _texts(run):
        for found in found_in(text):
            is_new = found.value not in values
            if is_new:
                numbers[found.kind] = numbers.get(found.kind, 0) + 1
                values[found.value] = (found.kind, numbers[found.kind])
            if place is None and not is_new:
                # An event of a step says again what its call says.
                continue
            occurrences += 1
            if len(places) < PLACES:
                step, part, file = place or (None, "files", "")
                places.append(Place(found.kind, step, part, file, text.count("\n", 0, found.start) + 1))
    secrets = RunSecrets(values, (), occurrences)
    shown = tuple(replace(place, file=secrets.replaced_in(place.file)) for place in places) if values else ()
    return RunSecrets(values, shown, occurrences)


def without_secrets(run: AgentRun, secrets: RunSecrets) -> AgentRun:
    """The run with placeholders. Raises ChangeDiffers where its files would change otherwise than they did."""
    if not secrets:
        return run
    changed = _mapped(run, _replacer(secrets))
    assert isinstance(changed, AgentRun)  # noqa: S101 - the type of what was given
    if _shape(derive(run)) != _shape(derive(changed)):
        raise ChangeDiffers
    return changed


def placeholder(kind: str, number: int, length: int) -> str:
    """So many characters that stand for the `number`th secret of its kind. Short ones are told apart by it alone."""
    word = f"{_words()[kind]}-{number}"
    if length == len(word):
        return word
    if length > len(word):
        return f"{word}-".ljust(length, "x")
    return str(number).rjust(length, "x")[-length:]


@cache
def _words() -> dict[str, str]:
    return {rule.kind: rule.word for rule in RULES}


def _texts(run: AgentRun) -> Iterator[tuple[tuple[int | None, str, str] | None, str]]:
    """Every text of a run with its place; None for what is said again or outside all steps."""
    yield (None, "task", ""), run.task
    for name in ("external_id", "task_id", "agent_model", "instance_id", "repo", "folder", "agent", "base_commit"):
        yield (None, name.replace("_", " "), ""), getattr(run, name)
    yield from (((None, "tags", ""), tag) for tag in run.tags)
    for index, step in enumerate(run.steps):
        yield from (((index, part, ""), text) for part, text in _texts_of_step(step))
    if run.patch is not None:
        yield (None, "patch", ""), run.patch.decode("utf-8", "surrogateescape")
    for event in run.events:
        for text in _strings(event):
            yield None if event.path == text else (None, "", event.path), text
    for rest in (run.unknown_events, run.gaps):
        yield from ((None, text) for text in _strings(rest))


def _texts_of_step(step: Step) -> Iterator[tuple[str, str]]:
    for name in ("prompt", "message", "thought", "url", "after", "model", "at"):
        yield name, getattr(step, name)
    for number, call in enumerate(step.calls, 1):
        where = f"call {number}" if len(step.calls) > 1 else "call"
        yield from ((f"name of the {where}", text) for text in (call.name, call.id))
        yield from ((f"arguments of the {where}", text) for text in _strings(call.arguments))
        yield f"result of the {where}", call.result or ""
        yield from ((f"pictures of the {where}", text) for text in _strings(call.pictures))
    for text in _strings((step.agents, step.screenshot, step.prompt_pictures, step.after_pictures, step.agent)):
        yield "agents that it started" if step.agents else "picture", text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(key)
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _strings(getattr(value, field.name))


def _replacer(secrets: RunSecrets) -> Callable[[str], str]:
    """What a text becomes. Rules find a value by what stands around it; long values are looked for by themselves."""
    groups = secrets.groups
    signs = {value: placeholder(kind, number, len(value)) for value, (kind, number) in secrets.values.items()}
    literals = sorted((value for value in signs if len(value) >= _LITERAL), key=lambda value: (-len(value), value))
    done: dict[str, str] = {}

    def replaced(text: str) -> str:
        if len(text) >= _CACHED and text in done:
            return done[text]
        pieces, behind = [], 0
        for found in find(text, groups):
            sign = signs.get(found.value) or placeholder(found.kind, 1, len(found.value))
            pieces += [text[behind : found.start], sign]
            behind = found.end
        result = "".join([*pieces, text[behind:]])
        for value in literals:
            if value in result:
                result = result.replace(value, signs[value])
        if len(text) >= _CACHED:
            done[text] = result
        return result

    return replaced


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """The same value with every text in it changed; keys of objects and the bytes of a patch included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {_mapped(key, change): _mapped(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mapped(inner, change) for inner in value]
    if isinstance(value, tuple):
        return tuple(_mapped(inner, change) for inner in value)
    if isinstance(value, AgentRun):
        patch = value.patch
        if patch is not None:
            patch = change(patch.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        rest = {name: getattr(value, name) for name in AgentRun.__slots__ if name != "patch"}
        return AgentRun(patch=patch, **{name: _mapped(inner, change) for name, inner in rest.items()})
    if is_dataclass(value) and not isinstance(value, type):
        names = (field.name for field in fields(value))
        new = {name: _mapped(old, change) for name in names if (old := getattr(value, name)) or old == ""}
        return replace(value, **{name: inner for name, inner in new.items() if inner is not getattr(value, name)})
    return value


def _shape(changes: ChangeSet) -> list[Any]:
    """All of a change but what its lines say: files, places, kinds of lines and their lengths, and the steps."""
    return sorted(
        repr(
            (
                file.operation,
                len(file.path),
                [
                    (hunk.old_start, hunk.new_start, [(line.kind, line.ends, len(line.text)) for line in hunk.lines])
                    for hunk in (*file.hunks, *file.excerpts)
                ],
                [badge.code.value for badge in file.badges],
                file.steps,
                file.links,
            )
        )
        for file in changes.files
    )
