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
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from traces.converters.facts import facts_of, patch_bytes
from traces.converters.fields import name, text
from traces.converters.native_members import kind_of
from traces.converters.outline import outline_of
from traces.converters.records import Record, records_of
from traces.runs import JSON, ConversionReport, Converted, ReadingOptions, Source, Unreadable

_MEMBERS = frozenset({"instance_id", "model_name_or_path", "model_patch", "problem_statement"})
_INSTANCE = re.compile(r"([A-Za-z0-9][\w.-]*?)__([\w.-]+)-\d+")


class SweBench:
    """Predictions for SWE-bench."""

    name = "swebench"
    label = "SWE-bench predictions"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        for record in outline_of(head, filename).records():
            if _is_prediction(record):
                return 1.0, "it has predictions with instance_id and model_patch"
            if isinstance(record, dict) and any(_is_prediction(value) for value in record.values()):
                return 1.0, "it is an object of predictions with instance_id and model_patch"
        return 0.0, "no record has instance_id and model_patch"

    def read(self, lines: Source, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        shared = _instances_of_several_models(lines, options)
        seen: set[tuple[str, str]] = set()
        for entry in _predictions(lines, options):
            if isinstance(entry, Unreadable):
                yield entry
                continue
            converted = _converted(entry, options, shared)
            if isinstance(converted, Converted):
                key = (converted.run.instance_id, converted.run.agent_model)
                if key in seen:
                    converted.report.repairs["second prediction of one model for an instance"] += 1
                seen.add(key)
            yield converted


def _is_prediction(value: JSON) -> bool:
    return isinstance(value, dict) and "instance_id" in value and "model_patch" in value


def _predictions(source: Source, options: ReadingOptions) -> Iterator[Record | Unreadable]:
    for record in records_of(source, options.bounds):
        if isinstance(record, Unreadable) or "instance_id" in record.value:
            yield record
            continue
        if not any(isinstance(value, dict) for value in record.value.values()):
            yield Unreadable(
                record.place, "no_instance_id", f"Record {record.place} has no instance_id, so it is no prediction."
            )
            continue
        for place, (key, value) in enumerate(record.value.items(), record.place):
            if isinstance(value, dict):
                yield Record(place, {"instance_id": key} | value, type(record.repairs)(record.repairs), 0)
            else:
                yield Unreadable(place, "not_an_object", f"{key[:100]} is {kind_of(value)}, not a prediction.")


def _instances_of_several_models(source: Source, options: ReadingOptions) -> set[str]:
    model_of: dict[str, str] = {}
    shared: set[str] = set()
    for entry in _predictions(source, options):
        if isinstance(entry, Record):
            instance, model = name(entry.value, "instance_id"), name(entry.value, "model_name_or_path")
            if model_of.setdefault(instance, model) != model:
                shared.add(instance)
    return shared


def _converted(record: Record, options: ReadingOptions, shared: set[str]) -> Converted | Unreadable:
    instance, model = name(record.value, "instance_id"), name(record.value, "model_name_or_path")
    patch = record.value.get("model_patch")
    if not instance:
        return Unreadable(record.place, "no_instance_id", f"Prediction {record.place} has an empty instance_id.")
    if patch is not None and not isinstance(patch, str):
        sentence = f"Prediction {record.place} ({instance}): model_patch must be a text, got {kind_of(patch)}."
        return Unreadable(record.place, "wrong_shape", sentence)
    if not patch or not patch.strip():
        who = f"{model} gave" if model else "it has"
        sentence = f"Prediction {record.place} ({instance}): {who} no patch, so there is nothing to judge."
        return Unreadable(record.place, "empty_patch", sentence)
    report = ConversionReport()
    report.repairs.update(record.repairs)
    for key in record.value.keys() - _MEMBERS - {options.id_key, options.text_key}:
        report.unknown[f"member {key}"[:100]] += 1
    said = _INSTANCE.fullmatch(instance)
    run = replace(
        facts_of(record.value, options).run(),
        external_id=f"{instance}@{model}" if instance in shared else instance,
        task=text(record.value, options.text_key, "problem_statement"),
        agent_model=model,
        instance_id=instance,
        repo=f"{said[1]}/{said[2]}" if said else "",
        patch=patch_bytes(patch),
    )
    return Converted(run, report, record.place)
