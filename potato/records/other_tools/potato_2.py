"""What Potato 2.x writes into its output folder, a folder for each annotator.

Field notes
- `user_state.json`: {user_id, instance_id_to_label_to_value: {instance: [[{schema, name}, value], ...]}}; written too
  as {instance: {schema: {name: value}}}. `instance_id_to_span_to_value` has marks on the text.
- `annotated_instances.jsonl`: a line each, {id, label_annotations: {schema: {name: value}}, span_annotations,
  behavioral_data}; in all-in-one files user_id or annotator stands in the line. Older ones have `annotation`.
- Of a choice the name is the option and the value "true" (or the option again); of a text the name is text_box.
- `code_review` and `process_reward` keep one JSON text: {verdict, comments: [{category, file, line, text}],
  file_ratings: {file: {dimension: number}}} and {steps: [{index, reward: 1|-1|0}], mode}, where 0 is not marked.
- The annotator is user_id, else the name of the folder. When it was made is not written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from potato.records.other_tools.github import COMMENTS, VERDICT
from potato.records.other_tools.model import Found, Place, Reading, Said, Unplaced, as_list, as_object

RATINGS = "code_review_file_ratings"
REWARDS = "process_reward"
_LABELS = ("label_annotations", "annotation")
_STATE = "instance_id_to_label_to_value"
_SPANS = "instance_id_to_span_to_value"


class Potato2:
    """Output folders, their user_state.json and annotated_instances files."""

    name: ClassVar[str] = "potato_2"
    label: ClassVar[str] = "Potato 2.x output (folder as ZIP, user_state.json, annotated_instances)"

    @staticmethod
    def recognises(value: Any) -> bool:
        entries = value if isinstance(value, list) else [value]
        return any(isinstance(entry, Mapping) and (_STATE in entry or _is_line(entry)) for entry in entries[:20])

    @staticmethod
    def read(places: Sequence[Place], reading: Reading) -> Iterator[Found | Unplaced]:
        # A folder has both files of an annotator, which say the same; the state is the whole one.
        with_state = {place.folder for place in places if isinstance(place.value, Mapping) and _STATE in place.value}
        for place in places:
            entries = place.value if isinstance(place.value, list) else [place.value]
            for at, entry in enumerate(entries, 1):
                where = f"{place.name}, entry {at}" if isinstance(place.value, list) else place.name
                if isinstance(entry, Mapping) and _STATE in entry:
                    yield from _state(entry, where, place.folder, reading)
                elif isinstance(entry, Mapping) and _is_line(entry):
                    if place.folder not in with_state:
                        yield from _line(entry, where, place.folder, reading)
                else:
                    yield Unplaced(where, "It is neither a user's state nor an annotated instance.")


def _state(state: Mapping[str, Any], where: str, folder: str, reading: Reading) -> Iterator[Found | Unplaced]:
    author = str(state.get("user_id") or folder or "unknown")
    labels, spans = as_object(state[_STATE]), as_object(state.get(_SPANS))
    for instance in dict.fromkeys([*labels, *spans]):
        place = f"{where}, {instance}"
        yield from _instance(place, str(instance), author, labels.get(instance), spans.get(instance), reading)


def _line(line: Mapping[str, Any], where: str, folder: str, reading: Reading) -> Iterator[Found | Unplaced]:
    author = str(line.get("user_id") or line.get("annotator") or folder or "unknown")
    labels: Any = next((line[key] for key in _LABELS if key in line), None)
    instance = str(line.get("id", line.get("instance_id")))
    yield from _instance(f"{where}, {instance}", instance, author, labels, line.get("span_annotations"), reading)


def _instance(
    where: str, instance: str, author: str, labels: Any, spans: Any, reading: Reading
) -> Iterator[Found | Unplaced]:
    if isinstance(spans, Mapping | list) and spans:
        many = len(spans)
        yield Unplaced(
            f"{where}, spans", f"{many} marked {'part' if many == 1 else 'parts'} of the text: runs have none."
        )
    said: list[Said] = []
    for schema, answers in _by_schema(labels).items():
        place = f"{where}, {schema}"
        for name, value in answers:
            said += _responses(schema, name, value, place)
    if said:
        yield Found(where, reading.trace or instance, author, tuple(said), instance)


def _by_schema(labels: Any) -> dict[str, list[tuple[str, Any]]]:
    """The names and values of each schema, of either way in which they are written."""
    found: dict[str, list[tuple[str, Any]]] = {}
    if isinstance(labels, Mapping):
        for schema, answers in labels.items():
            if isinstance(answers, Mapping):
                found[str(schema)] = [(str(name), value) for name, value in answers.items()]
            elif isinstance(answers, list):
                found[str(schema)] = [(str(answer), True) for answer in answers]
            else:
                found[str(schema)] = [("", answers)]
    for entry in labels if isinstance(labels, list) else ():
        if isinstance(entry, Sequence) and len(entry) == 2 and isinstance(entry[0], Mapping):
            found.setdefault(str(entry[0].get("schema", "")), []).append((str(entry[0].get("name", "")), entry[1]))
    return found


def _responses(schema: str, name: str, value: Any, place: str) -> list[Said]:
    structured = _structured(value)
    if structured is not None and "steps" in structured:
        return [
            Said(step["reward"], name=schema, annotation_type=REWARDS, step=_index(step, at), place=place)
            for at, step in enumerate(map(as_object, as_list(structured["steps"])))
            if step.get("reward")
        ]
    if structured is not None and {"verdict", "comments", "file_ratings"} & structured.keys():
        return _code_review(structured, place)
    if structured is not None:
        return [Said(structured, name=schema, place=place)]
    is_chosen = value is True or str(value).casefold() == "true" or str(value) == name
    return [Said(name if is_chosen and name else value, name=schema, place=place)]


def _code_review(review: Mapping[str, Any], place: str) -> list[Said]:
    said = []
    if review.get("verdict"):
        said.append(Said(review["verdict"], annotation_type=VERDICT, place=place))
    for at, comment in enumerate(map(as_object, as_list(review.get("comments"))), 1):
        made = {
            "file": comment.get("file") or None,
            "line_start": comment.get("line"),
            "category": comment.get("category") or None,
            "comment": str(comment.get("text") or ""),
        }
        said.append(Said(made, annotation_type=COMMENTS, place=f"{place}, comment {at}"))
    for file, ratings in as_object(review.get("file_ratings")).items():
        for dimension, number in as_object(ratings).items():
            said.append(Said(number, annotation_type=RATINGS, part=dimension, file=file, place=f"{place}, {file}"))
    return said


def _index(step: Mapping[str, Any], at: int) -> int:
    index = step.get("index")
    return index if isinstance(index, int) and not isinstance(index, bool) else at


def _structured(value: Any) -> Mapping[str, Any] | None:
    """The object that a value is, or that its text holds."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    return value if isinstance(value, Mapping) else None


def _is_line(entry: Mapping[str, Any]) -> bool:
    return bool({"id", "instance_id"} & entry.keys()) and any(key in entry for key in _LABELS)
