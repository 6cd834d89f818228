"""What the formats of scores share: each thing that a record says as a score with a name, a value and what it is about.

The words are those of `opinions` of the scheme types, so that a scheme type of another package has its scores too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from potato.configuration import ProjectConfiguration
from potato.records.annotations import opinions, unjudged_reason
from potato.records.sources import Project, Record
from potato.schemes.opinions import Opinion
from potato.schemes.unjudged import KEY


@dataclass(frozen=True)
class Score:
    """`name` is the scheme, with the question behind a point where it has several. `label` is what was chosen, `number`
    a rating or the score of a label. `about` says what of the trace is meant, and what else was said of it."""

    name: str
    label: str | None
    number: float | None
    text: str
    about: dict[str, Any]


def scores_in(record: Record, project: Project) -> Iterator[Score]:
    """The scores of a record, in the order of the configuration. Nothing is said of a whole that cannot be judged but
    the reason."""
    configuration = _configuration(record, project)
    if configuration is None:
        return
    if (why := unjudged_reason(record.annotations, configuration)) is not None:
        yield Score(KEY, "trace", None, why, {})
        return
    for scheme, _, opinion in opinions(record.annotations, configuration):
        name = f"{scheme.name}.{opinion.part}" if opinion.part else scheme.name
        values = [choice.value for choice in opinion.choices]
        label = values[0] if values else None
        if opinion.place is not None:
            # A comment is one also where it has no category.
            label = opinion.place.category or "comment"
        if label is None and opinion.number is None:
            continue
        yield Score(name, label, opinion.number, opinion.text, _about(opinion, values))


def author_of(record: Record) -> dict[str, str]:
    """Whose record it is: a person here, or a source."""
    if record.source is None:
        return {"annotator": record.annotator}
    return {"source": f"{record.source.name} {record.source.version}", "source_kind": record.source.kind}


def _about(opinion: Opinion, values: list[str]) -> dict[str, Any]:
    about: dict[str, Any] = {}
    if opinion.step is not None:
        about["step"] = opinion.step
    if opinion.place is not None:
        place = opinion.place
        about |= {"file": place.file, "side": place.side, "line_start": place.first, "line_end": place.last}
        about |= {key: value for key, value in (("category", place.category), ("severity", place.severity)) if value}
        about |= {"comment_id": opinion.key} if opinion.key else {}
    elif opinion.file is not None:
        about["file"] = opinion.file
    if opinion.place is None and len(values) > 1:
        about["error_category" if opinion.step is not None else "also"] = values[1]
    if opinion.replacement is not None:
        about["suggestion"] = opinion.replacement
    if opinion.correction:
        about["correction"] = opinion.correction
    if opinion.is_unsure:
        about["unsure"] = True
    return about


def _configuration(record: Record, project: Project) -> ProjectConfiguration | None:
    made_under = record.configuration_version
    if made_under is not None and made_under in project.versions:
        return project.versions[made_under]
    return project.newest
