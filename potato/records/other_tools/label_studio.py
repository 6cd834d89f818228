"""Tasks with their annotations as Label Studio exports them (JSON and JSON-MIN).

Field notes
- JSON: [{id, data: {...}, annotations: [{id, completed_by: id or {id, email}, result: [...], was_cancelled, created_at,
  updated_at}], predictions: [{id, model_version, result}]}]; `completions` instead of `annotations` before 1.0.
- An entry of `result` is {from_name, to_name, type, value}; value has what was chosen under the name of the type:
  choices [..], rating 4, number 4, textarea [..], taxonomy [[..]]. `from_name` names the question.
- JSON-MIN: the members of data and of the answers beside each other, with annotator, annotation_id and created_at.
- `was_cancelled`: it was skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from potato.records.other_tools.model import Found, Place, Reading, Said, Unplaced, as_list, as_object

ID_KEYS = ("trace_id", "external_id", "instance_id", "id")
"""Keys of a task's data that may name the trace; the first that is there does."""
_MIN = frozenset({"annotator", "annotation_id"})


class LabelStudio:
    """Exports as JSON."""

    name: ClassVar[str] = "label_studio"
    label: ClassVar[str] = "Label Studio export (JSON, JSON-MIN)"

    @staticmethod
    def recognises(value: Any) -> bool:
        tasks = value if isinstance(value, list) else [value]
        return any(_is_task(task) or _is_min(task) for task in tasks[:20])

    @staticmethod
    def read(places: Sequence[Place], reading: Reading) -> Iterator[Found | Unplaced]:
        for place in places:
            tasks = place.value if isinstance(place.value, list) else [place.value]
            for at, task in enumerate(tasks, 1):
                where = f"{place.name}, task {task.get('id', at) if isinstance(task, Mapping) else at}"
                if _is_task(task):
                    yield from _task(task, where, reading)
                elif _is_min(task):
                    yield _min_task(task, where, reading)
                else:
                    yield Unplaced(where, "It is no task with data and annotations.")


def _task(task: Mapping[str, Any], where: str, reading: Reading) -> Iterator[Found | Unplaced]:
    trace = _trace(task["data"], reading)
    for annotation in map(as_object, as_list(task.get("annotations") or task.get("completions"))):
        place = f"{where}, annotation {annotation.get('id', '')}".rstrip()
        if annotation.get("was_cancelled"):
            yield Unplaced(place, "It was skipped there.")
            continue
        author, made = (
            _author(annotation.get("completed_by")),
            annotation.get("updated_at", annotation.get("created_at")),
        )
        yield from _found(annotation, place, trace, author, str(made or ""), "person_elsewhere")
    for prediction in map(as_object, as_list(task.get("predictions"))):
        place = f"{where}, prediction {prediction.get('id', '')}".rstrip()
        author = str(prediction.get("model_version") or "undefined")
        yield from _found(prediction, place, trace, author, str(prediction.get("created_at") or ""), "other")


def _found(
    annotation: Mapping[str, Any], where: str, trace: str, author: str, at: str, kind: Any
) -> Iterator[Found | Unplaced]:
    if not trace:
        yield Unplaced(where, f"The task's data name no trace: they have none of {', '.join(ID_KEYS)}.")
        return
    said: list[Said] = []
    for entry in map(as_object, as_list(annotation.get("result"))):
        name, kind_of_answer = str(entry.get("from_name") or ""), str(entry.get("type") or "")
        place = f"{where}, {name or kind_of_answer or 'a result'}"
        answers = _answers(kind_of_answer, as_object(entry.get("value")))
        if answers is None:
            reason = f"What it says is {kind_of_answer or 'of no type'}, which says nothing of a run, a file or a step."
            yield Unplaced(place, reason)
            continue
        said += (Said(answer, name=name, place=place) for answer in answers)
    if said:
        yield Found(where, trace, author, tuple(said), str(annotation.get("id") or ""), at, kind)


def _answers(kind: str, value: Mapping[str, Any]) -> list[Any] | None:
    """What was chosen or written; None for marks on a part of a text or a picture."""
    if kind in ("choices", "rating", "number") and kind in value and not {"start", "end"} & value.keys():
        chosen = value[kind]
        return list(chosen) if isinstance(chosen, list) else [chosen]
    if kind == "textarea" and "text" in value:
        text = value["text"]
        return ["\n".join(map(str, text)) if isinstance(text, list) else str(text)]
    return None


def _min_task(task: Mapping[str, Any], where: str, reading: Reading) -> Found | Unplaced:
    trace = _trace({key: value for key, value in task.items() if key != "id" or reading.id_key == "id"}, reading)
    if not trace:
        return Unplaced(where, f"The task names no trace: it has none of {', '.join(ID_KEYS[:-1])}.")
    said = [
        Said(entry["choices"] if isinstance(entry, Mapping) and "choices" in entry else entry, name=name, place=where)
        for name, entry in task.items()
        if name in reading.names
    ]
    if not said:
        return Unplaced(where, "JSON-MIN does not tell answers from data: name the questions that are answers.")
    author = _author(task.get("annotator"))
    made = str(task.get("updated_at") or task.get("created_at") or "")
    return Found(where, trace, author, tuple(said), str(task.get("annotation_id") or ""), made)


def _trace(data: Any, reading: Reading) -> str:
    if reading.trace:
        return reading.trace
    for key in (reading.id_key,) if reading.id_key else ID_KEYS:
        named = data.get(key) if isinstance(data, Mapping) else None
        if isinstance(named, str | int) and not isinstance(named, bool) and str(named):
            return str(named)
    return ""


def _author(completed_by: Any) -> str:
    if isinstance(completed_by, Mapping):
        return str(completed_by.get("email") or f"user {completed_by.get('id', 'unknown')}")
    return f"user {completed_by}" if isinstance(completed_by, int) else str(completed_by or "unknown")


def _is_task(task: Any) -> bool:
    return (
        isinstance(task, Mapping)
        and isinstance(task.get("data"), Mapping)
        and bool({"annotations", "completions", "predictions"} & task.keys())
    )


def _is_min(task: Any) -> bool:
    return isinstance(task, Mapping) and task.keys() >= _MIN
