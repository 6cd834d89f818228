"""The parts of code reviews that are settled one by one: each comment, each rating of a file, the verdict. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from potato.schemes.opinions import Choice, Opinion
from potato.schemes.parts import Field, Offer, Part
from potato.schemes.review.configuration import FileRatingsScheme, InlineCommentsScheme, VerdictScheme
from potato.schemes.suggested import Suggested


def comment_parts(
    result: Sequence[Mapping[str, Any]], scheme: InlineCommentsScheme, opinions: Iterator[Opinion]
) -> Iterator[Part]:
    block = scheme.inline_comments
    categories = [Choice(row.value, row.display, row.icon, True) for row in block.categories]
    levels = [Choice(level.value, level.display, sign) for level, sign in block.severity.signed]
    fields = (
        Field("category", "Category", _offers(categories), block.require_category),
        *([Field("severity", "Severity", _offers(levels), block.require_severity)] if levels else []),
        Field("comment", "Comment", is_required=True),
    )
    suggested = (*fields, Field("suggestion", "Suggested change")) if block.allow_suggestions else fields
    general = Counter[str | None]()
    for comment, opinion in zip(result, opinions, strict=True):
        answer = (comment.get("category"), comment.get("severity"))
        if opinion.place is not None:
            yield Part("", "Comment", comment, answer, (opinion,), suggested, place=opinion.place, is_optional=True)
            continue
        # The first one on a file stands beside everybody's first one on it, and so on.
        file = opinion.file
        general[file] += 1
        key = f"general:{general[file]}:{file or ''}"
        yield Part(key, opinion.title, comment, answer, (opinion,), fields, file=file, is_optional=True)


def join_comments(values: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The comments with their ids; where two annotators' programs gave the same one, the later has a new one."""
    comments: list[dict[str, Any]] = []
    taken: set[str] = set()
    for value in values.values():
        comment = {key: entry for key, entry in value.items() if entry not in (None, "") or key == "suggestion"}
        if (name := comment.get("comment_id")) is not None and name in taken:
            number = next(number for number in range(2, len(values) + 2) if f"{name[:60]}-{number}" not in taken)
            comment["comment_id"] = f"{name[:60]}-{number}"
        taken.add(comment.get("comment_id", ""))
        comments.append(comment)
    return comments


def rating_parts(result: Mapping[str, Mapping[str, int | None]], scheme: FileRatingsScheme) -> Iterator[Part]:
    block = scheme.file_ratings
    for file, ratings in result.items():
        for dimension in block.dimensions:
            if (rating := ratings.get(dimension.name)) is None:
                continue
            points = tuple(
                Offer(number, Choice(str(number), f"{number}: {label}" if label else str(number)))
                for number, label in dimension.scale.points
            )
            yield Part(
                f"{dimension.name}:{file}",
                dimension.display,
                {"file": file, "dimension": dimension.name, "rating": rating},
                rating,
                (Opinion(dimension.display, number=rating, file=file),),
                (Field("rating", dimension.display, points, is_required=True),),
                file=file,
                is_optional=not block.require_all_files,
            )


def join_ratings(values: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    ratings: dict[str, dict[str, Any]] = {}
    for value in values.values():
        ratings.setdefault(value.get("file", ""), {})[value.get("dimension", "")] = value.get("rating")
    return ratings


def verdict_parts(result: Mapping[str, str], scheme: VerdictScheme, opinions: Iterator[Opinion]) -> Iterator[Part]:
    if not (decision := result.get("decision")):
        return
    options = [Choice(row.value, row.display, row.icon, True) for row in scheme.verdict.options]
    fields = (
        Field("decision", "Verdict", _offers(options), is_required=True),
        Field("summary", "Summary", is_required=scheme.verdict.require_summary),
    )
    yield Part(
        "decision",
        "Verdict",
        result,
        decision,
        tuple(opinions),
        fields,
        decides=decision,
        compared=("decision", decision),
    )


def join_verdict(values: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    value = values.get("decision")
    return None if value is None else {key: entry for key, entry in value.items() if entry is not None}


_OWN = ("comment_id", "created_at")
"""What of a comment is its own, and not what it says."""


def suggested_comments(comments: Sequence[Mapping[str, Any]], opinions: Iterator[Opinion]) -> Iterator[Suggested]:
    """Each comment by its id."""
    for comment, opinion in zip(comments, opinions, strict=True):
        value = {key: entry for key, entry in comment.items() if key not in _OWN}
        yield Suggested(opinion.key, "Comment", value, ("-",), opinion, place=opinion.place)


def suggested_values(parts: Iterator[Part]) -> Iterator[Suggested]:
    """Each rating of a file, or the verdict."""
    for part in parts:
        opinion = part.opinions[0] if part.opinions else None
        if part.file is None:
            yield Suggested(part.key, part.title, part.value, (), opinion)
        else:
            rating = {part.value["dimension"]: part.value["rating"]}
            yield Suggested(part.key, part.title, rating, (part.file,), opinion, file=part.file)


def _offers(choices: Sequence[Choice]) -> tuple[Offer, ...]:
    return tuple(Offer(choice.value, choice) for choice in choices)
