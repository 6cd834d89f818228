"""The format `swebench`: predictions as SWE-bench evaluates them, a patch for each task instance.

Field notes
- JSONL of objects, a JSON list, or a JSON object whose values are the predictions: instance_id, model_name_or_path,
  model_patch. Other members are ignored and counted.
- A prediction has no steps: the patch is the whole run. One with an empty or absent (null) patch has nothing to
  judge: it is an error by name, never an empty trace.
- The run's id is the instance_id. Where one file holds several models' predictions for an instance, it is
  instance_id@model, so that they do not become versions of one trace.
- The ids of SWE-bench say the repository, owner__name-number; of other ids it is unknown. The task text is not in
  the file, unless it was added as the project's task field or as problem_statement.
- The rows of the data set, which have a problem_statement and no prediction, are the texts of tasks: `task_texts`.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from potato.runs.converters.facts import patch_bytes, read_facts, repository_named_by
from potato.runs.converters.fields import name, text
from potato.runs.converters.json_members import read_members
from potato.runs.converters.native_members import json_type_name
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import Record, read_records, record_in, resumable
from potato.runs.converters.task_texts import has_tasks, is_task, read_task, tasks_in_table
from potato.runs.model import (
    BEGINNING,
    JSON,
    ConversionReport,
    Converted,
    ReadingOptions,
    ReadPosition,
    RunFile,
    StatedTask,
    Unreadable,
)

_OF_RUNS = frozenset({"trajectory", "messages", "conversations", "history"})
"""Beside these the patch is that of a run with steps, which another format reads."""
_MEMBERS = frozenset({"instance_id", "model_name_or_path", "model_patch", "problem_statement"})


class SweBench:
    """Predictions for SWE-bench."""

    name = "swebench"
    label = "SWE-bench predictions, and the task texts of a data set"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        for record in detect_outline(head, filename).records():
            if _is_prediction(record):
                return 1.0, "it has predictions with instance_id and model_patch"
            if isinstance(record, dict) and any(_is_prediction(value) for value in record.values()):
                return 1.0, "it is an object of predictions with instance_id and model_patch"
        if has_tasks(head, filename):
            return 1.0, "it has the tasks of a data set, instance_id and problem_statement"
        return 0.0, "no record has instance_id and model_patch"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | StatedTask | Unreadable]:
        if _is_table(lines):
            yield from tasks_in_table(lines)
            return
        survey = lines.survey
        if survey is None:
            survey = {}
            for _ in self.survey(lines.at(BEGINNING), options, survey):
                pass
        shared = frozenset(survey["shared"])
        for entry in _predictions(lines, options):
            if isinstance(entry, Unreadable):
                yield entry
                continue
            if is_task(entry.value):
                yield read_task(entry.value, entry.place, entry.after)
                continue
            converted = _converted(entry, options, shared)
            if isinstance(converted, Converted) and entry.place in survey["again"]:
                converted.report.repairs["second prediction of one model for an instance"] += 1
            yield resumable(converted, entry.after)

    def survey(self, lines: RunFile, options: ReadingOptions, survey: dict[str, JSON]) -> Iterator[ReadPosition]:
        """Which instances have predictions of several models, and which predictions come again.

        While it goes on it notes short hashes of the instances, so that it stays small with very many of them.
        """
        models: list[str] = survey.setdefault("models", [])
        seen: dict[str, list[int]] = survey.setdefault("seen", {})
        survey.setdefault("shared", [])
        survey.setdefault("again", [])
        for entry in () if _is_table(lines) else _predictions(lines, options):
            if isinstance(entry, Record) and not is_task(entry.value):
                instance, model = name(entry.value, "instance_id"), name(entry.value, "model_name_or_path")
                if model not in models:
                    models.append(model)
                known = seen.setdefault(_short(instance), [])
                if models.index(model) in known:
                    survey["again"].append(entry.place)
                else:
                    known.append(models.index(model))
                    if len(known) == 2:
                        survey["shared"].append(instance)
            if entry.after:
                yield entry.after
        del survey["seen"]


def _short(instance: str) -> str:
    digest = hashlib.sha256(instance.encode("utf-8", "surrogatepass")).digest()
    return base64.b85encode(digest[:8]).decode("ascii")


def _is_table(source: RunFile) -> bool:
    """Whether the file is a table of tasks."""
    return detect_outline(source.head(), source.name).layout == "text" and has_tasks(source.head(), source.name)


def _is_prediction(value: JSON) -> bool:
    return isinstance(value, dict) and {"instance_id", "model_patch"} <= value.keys() and _OF_RUNS.isdisjoint(value)


def _predictions(source: RunFile, options: ReadingOptions) -> Iterator[Record | Unreadable]:
    if _is_object_of_predictions(source):
        yield from _named_predictions(source, options)
        return
    for record in read_records(source, options.bounds):
        if isinstance(record, Unreadable) or "instance_id" in record.value:
            yield record
            continue
        if not any(isinstance(value, dict) for value in record.value.values()):
            sentence = f"Record {record.place} has no instance_id, so it is no prediction."
            yield Unreadable(record.place, "no_instance_id", sentence, record.after)
            continue
        values = list(record.value.items())
        for at, (key, value) in enumerate(values, 1):
            # Inside a record reading cannot begin anew.
            after = record.after if at == len(values) else None
            yield _named(record.place + at - 1, key, value, type(record.repairs)(record.repairs), after)


def _is_object_of_predictions(source: RunFile) -> bool:
    """Whether the file is one JSON object with a prediction, or something else, under each name."""
    outline = detect_outline(source.head(), source.name)
    document = outline.values[0] if outline.layout == "document" else None
    return (
        isinstance(document, dict)
        and "instance_id" not in document
        and any(isinstance(value, dict) for value in document.values())
    )


def _named_predictions(source: RunFile, options: ReadingOptions) -> Iterator[Record | Unreadable]:
    for member in read_members(source, options.bounds):
        if isinstance(member, Unreadable):
            yield member
            continue
        whole = record_in(replace(member, data=b"{" + member.data + b"}"), options.bounds)
        if isinstance(whole, Unreadable):
            yield whole
        else:
            for key, value in whole.value.items():
                yield _named(member.number, key, value, whole.repairs, whole.after)


def _named(place: int, key: str, value: JSON, repairs: Counter[str], after: ReadPosition | None) -> Record | Unreadable:
    if isinstance(value, dict):
        return Record(place, {"instance_id": key} | value, repairs, 0, after)
    return Unreadable(place, "not_an_object", f"{key[:100]} is {json_type_name(value)}, not a prediction.", after)


def _converted(record: Record, options: ReadingOptions, shared: frozenset[str]) -> Converted | Unreadable:
    instance, model = name(record.value, "instance_id"), name(record.value, "model_name_or_path")
    patch = record.value.get("model_patch")
    if not instance:
        return Unreadable(record.place, "no_instance_id", f"Prediction {record.place} has an empty instance_id.")
    if patch is not None and not isinstance(patch, str):
        sentence = f"Prediction {record.place} ({instance}): model_patch must be a text, got {json_type_name(patch)}."
        return Unreadable(record.place, "wrong_shape", sentence)
    if not patch or not patch.strip():
        who = f"{model} gave" if model else "it has"
        sentence = f"Prediction {record.place} ({instance}): {who} no patch, so there is nothing to judge."
        return Unreadable(record.place, "empty_patch", sentence)
    report = ConversionReport()
    report.repairs.update(record.repairs)
    for key in record.value.keys() - _MEMBERS - {options.id_key, options.text_key}:
        report.unknown[f"member {key}"[:100]] += 1
    run = replace(
        read_facts(record.value, options).run(),
        external_id=f"{instance}@{model}" if instance in shared else instance,
        task=text(record.value, options.text_key, "problem_statement"),
        agent_model=model,
        instance_id=instance,
        repo=repository_named_by(instance),
        patch=patch_bytes(patch),
    )
    return Converted(run, report, record.place)
