"""Ratings of files: which files are rated, what is still missing, and the object that a submission keeps.

A rating is a whole number of its dimension's scale. Not rated is null or left out, and never a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from potato.runs.changes.places import Evidence, JudgedFile
from potato.schemes.answers import Gap, TaskLocation, is_whole, missing, refused, shown
from potato.schemes.review.configuration import Dimension, FileRatingsBlock
from potato.schemes.unjudged import KEY, reason_gaps
from potato.wording import listed

Ratings: TypeAlias = dict[str, dict[str, int | str]]
"""The ratings by dimension, by path: the new path, or the old one of a deleted file. A file that cannot be judged has
the reason under `cannot_judge` instead, unless a dimension has that name."""


def rated_files(block: FileRatingsBlock, evidence: Evidence) -> tuple[JudgedFile, ...]:
    """The files that carry ratings, in the order of the trace.

    Binary files and pure renames are among them. A renamed file counts as modified, a copied one as new.
    """
    return tuple(file for file in evidence.files.values() if is_rated(file.operation, block))


def malformed(answers: object) -> tuple[Gap, ...]:
    """Whatever is not an object of objects of whole numbers or null."""
    return tuple(_malformed(answers))


def find_gaps(answers: object, block: FileRatingsBlock, evidence: Evidence) -> tuple[Gap, ...]:
    """Everything that keeps the ratings from being submitted: what is not allowed, then what is missing, by file.

    Where not all files need a rating, one may also carry some of its dimensions alone.
    """
    rated = {file.path: file for file in rated_files(block, evidence)}
    gaps = list(_malformed(answers))
    ratings = answers if isinstance(answers, Mapping) else {}
    gaps += _refused(ratings, block, evidence, rated)
    if block.require_all_files:
        gaps += _missing(ratings, block, rated)
    return tuple(gaps)


def build_result(answers: object, block: FileRatingsBlock, evidence: Evidence) -> Ratings:
    """The ratings in the order of the trace's files and of the configured dimensions, without files that have none."""
    answered = answers if isinstance(answers, Mapping) else {}
    result: Ratings = {}
    for file in rated_files(block, evidence):
        ratings = answered.get(file.path) or {}
        numbers = {
            dimension.name: ratings[dimension.name]
            for dimension in block.dimensions
            if ratings.get(dimension.name) is not None
        }
        reason = unjudged_reason(ratings, block)
        if reason is not None:
            result[file.path] = {KEY: reason}
        elif numbers:
            result[file.path] = numbers
    return result


def unjudged_reason(ratings: object, block: FileRatingsBlock) -> str | None:
    """Why the file of these ratings cannot be judged, None where that is not said."""
    if not isinstance(ratings, Mapping) or any(dimension.name == KEY for dimension in block.dimensions):
        return None
    reason = ratings.get(KEY)
    return reason if isinstance(reason, str) else None


def is_rated(operation: str, block: FileRatingsBlock) -> bool:
    """Whether files of that operation carry ratings."""
    match operation:
        case "unchanged":
            return block.include_unchanged
        case "added" | "copied":
            return block.include_new_files
        case "deleted":
            return block.include_deleted_files
        case _:
            return True


def _malformed(answers: object) -> Iterator[Gap]:
    if answers is None:
        return
    if not isinstance(answers, Mapping):
        yield refused((), "not_an_object", "Ratings must be an object with a file's path as each key.")
        return
    for path, ratings in answers.items():
        if ratings is not None and not isinstance(ratings, Mapping):
            sentence = f"{shown(path)}: its ratings must be an object with a dimension as each key."
            yield refused((path,), "not_an_object", sentence)
            continue
        for dimension, number in (ratings or {}).items():
            if dimension == KEY and isinstance(number, str):
                continue
            if number is not None and not is_whole(number):
                sentence = f"{shown(path)}: {shown(dimension)} must be a whole number."
                yield refused((path, dimension), "wrong_type", sentence)


def _refused(
    answered: Mapping[str, object], block: FileRatingsBlock, evidence: Evidence, rated: Mapping[str, JudgedFile]
) -> Iterator[Gap]:
    dimensions = {dimension.name: dimension for dimension in block.dimensions}
    for path, ratings in answered.items():
        if path not in evidence.files:
            yield refused((path,), "unknown_file", f"{shown(path)} is not a file of this trace.")
        elif path not in rated:
            noun = {"unchanged": "Unchanged", "deleted": "Deleted"}.get(evidence.files[path].operation, "New")
            sentence = f"{shown(path)} has no ratings. {noun} files are not rated in this project."
            yield refused((path,), "unrated_file", sentence)
        reason = unjudged_reason(ratings, block)
        if reason is not None and isinstance(ratings, Mapping):
            place = TaskLocation(file=path)
            yield from (gap.below(path) for gap in reason_gaps(reason, shown(path), place))
            if any(ratings.get(name) is not None for name in dimensions):
                sentence = f"{shown(path)}: either rate it or say why it cannot be judged, not both."
                yield refused((path, KEY), "judged_and_not", sentence, place)
        for name, number in ratings.items() if isinstance(ratings, Mapping) else ():
            if name == KEY and (reason is not None or number is None):
                continue
            if name == KEY and isinstance(number, str):
                yield refused((path, name), "wrong_type", f"{shown(path)}: {shown(name)} must be a whole number.")
            elif name not in dimensions:
                sentence = f"{shown(path)}: {shown(name)} is not a dimension. Rate {listed(dimensions, 'and')}."
                yield refused((path, name), "unknown_dimension", sentence)
            elif is_whole(number) and not _is_on_scale(number, dimensions[name]):
                scale = dimensions[name].scale
                sentence = f"{shown(path)}: {name} must be a whole number from {scale.min} to {scale.max}."
                yield refused((path, name), "outside_scale", sentence, TaskLocation(file=path, dimension=name))


def _missing(answered: Mapping[str, object], block: FileRatingsBlock, rated: Mapping[str, JudgedFile]) -> Iterator[Gap]:
    for path in rated:
        ratings = answered.get(path)
        if unjudged_reason(ratings, block) is not None:
            continue
        for dimension in block.dimensions:
            if not isinstance(ratings, Mapping) or ratings.get(dimension.name) is None:
                sentence = f"{shown(path)}: rate {dimension.display}."
                yield missing(
                    (path, dimension.name), "not_rated", sentence, TaskLocation(file=path, dimension=dimension.name)
                )


def _is_on_scale(number: object, dimension: Dimension) -> bool:
    return isinstance(number, int) and dimension.scale.min <= number <= dimension.scale.max
