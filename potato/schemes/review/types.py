"""The three scheme types of code review: comments on lines, ratings of files, a verdict on the whole change.

Pure: no Django and no database, so that the site and the offline commands read the same types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

from potato.runs.changes.places import Evidence
from potato.runs.contents import TraceContents
from potato.schemes.answers import Gap
from potato.schemes.breaking_changes import BreakingChange, removed
from potato.schemes.comparisons import Comparison, PlaceComparison, PlacedComment, ValueComparison
from potato.schemes.distributions import Chosen, Distribution, with_unknown
from potato.schemes.known_faults import KnownFault
from potato.schemes.opinions import Choice, Opinion
from potato.schemes.parts import Part
from potato.schemes.registry import SchemeType, Target
from potato.schemes.review import comments, parts, ratings, statements, verdicts
from potato.schemes.review.configuration import (
    KNOWN_OPTIONS,
    FileRatingsScheme,
    InlineCommentsScheme,
    Scale,
    VerdictScheme,
)
from potato.schemes.statements import Statement, Unplaced
from potato.schemes.suggested import Suggested
from potato.schemes.unjudged import FILE, KEY, TITLE
from potato.validation.problems import Path
from potato.wording import counted, shortened

_ACTIVITY = "Code review"
_ICON = "git-pull-request"
_WORK_WORD = "review"


class InlineComments(SchemeType):
    annotation_type = "code_review_comments"
    target: ClassVar[Target] = "line"
    block = "inline_comments"
    configuration = InlineCommentsScheme
    template = "review/comments.html"
    module = "js/review/comments.js"
    keys_template = "review/comments_keys.html"
    activity = _ACTIVITY
    icon = _ICON
    work_word = _WORK_WORD
    default_entry = {
        "name": "inline_comments",
        "annotation_type": "code_review_comments",
        "inline_comments": {"severity": {"enabled": True}},
    }
    examples = (
        [
            {
                "file": "src/prices.py",
                "line_start": 2,
                "line_end": 3,
                "category": "bug",
                "severity": "major",
                "comment": "Rounds half to even; an invoice needs half up.",
                "suggestion": "    return str(Decimal(price).quantize(CENT, ROUND_HALF_UP))",
            }
        ],
    )

    @classmethod
    def colours(cls, scheme: InlineCommentsScheme) -> Mapping[str, str]:
        return {category.value: category.color for category in scheme.inline_comments.categories}

    @classmethod
    def breaking_changes(cls, old: InlineCommentsScheme, new: InlineCommentsScheme) -> Iterator[BreakingChange]:
        before, after = old.inline_comments, new.inline_comments
        yield from removed(
            "category",
            ("inline_comments", "categories"),
            (category.value for category in before.categories),
            (category.value for category in after.categories),
            old.name,
        )
        yield from removed(
            "severity level",
            ("inline_comments", "severity", "levels"),
            (level.value for level in before.severity.offered),
            (level.value for level in after.severity.offered),
            old.name,
        )

    @classmethod
    def cannot_judge(cls, scheme: InlineCommentsScheme, contents: TraceContents) -> str | None:
        return None if contents.all_files else "the trace has no files to comment on"

    @classmethod
    def adapt_to_evidence(cls, scheme: InlineCommentsScheme, evidence: Evidence) -> InlineCommentsScheme:
        """No comment is demanded where no line can carry one."""
        block = scheme.inline_comments
        if not block.min_comments or evidence.has_lines:
            return scheme
        return scheme.model_copy(update={"inline_comments": block.model_copy(update={"min_comments": 0})})

    @classmethod
    def malformed(cls, answers: object) -> tuple[Gap, ...]:
        return comments.malformed(answers)

    @classmethod
    def missing(cls, answers: object, scheme: InlineCommentsScheme, evidence: Evidence) -> tuple[Gap, ...]:
        return comments.find_gaps(answers, scheme.inline_comments, evidence)

    @classmethod
    def result(
        cls, answers: object, scheme: InlineCommentsScheme, evidence: Evidence, submitted_at: datetime
    ) -> list[comments.InlineComment]:
        return comments.build_result(answers, submitted_at)

    @classmethod
    def summary(cls, result: Sequence[object], scheme: InlineCommentsScheme) -> str:
        return counted(len(result), "comment") if result else "No comments"

    @classmethod
    def without_demands(cls, scheme: InlineCommentsScheme) -> InlineCommentsScheme:
        block = scheme.inline_comments.model_copy(
            update={"require_category": False, "require_severity": False, "min_comments": 0}
        )
        return scheme.model_copy(update={"inline_comments": block})

    @classmethod
    def answers_from(
        cls, said: Sequence[Statement], scheme: InlineCommentsScheme
    ) -> tuple[list[dict[str, Any]], list[Unplaced]]:
        return statements.comments_from(said)

    @classmethod
    def opinions(cls, result: Sequence[Mapping[str, Any]], scheme: InlineCommentsScheme) -> Iterator[Opinion]:
        categories = {
            category.value: Choice(category.value, category.display, category.icon, True)
            for category in scheme.inline_comments.categories
        }
        levels = {
            level.value: Choice(level.value, level.display, sign)
            for level, sign in scheme.inline_comments.severity.signed
        }
        for at, comment in enumerate(result):
            is_general = comments.is_general(comment)
            chosen = [
                known.get(value) or Choice(value, value)
                for value, known in ((comment.get("category"), categories), (comment.get("severity"), levels))
                if value
            ]
            yield Opinion(
                comments.GENERAL_TITLE if is_general else "Comment",
                tuple(chosen),
                text=comment["comment"],
                file=comment.get("file") if is_general else comment["file"],
                place=None if is_general else _place(comment),
                replacement=comment.get("suggestion"),
                key=comment.get("comment_id") or f"comment-{at + 1}",
                is_unsure=bool(comment.get("unsure")),
            )

    @classmethod
    def parts(cls, result: Sequence[Mapping[str, Any]], scheme: InlineCommentsScheme) -> Iterator[Part]:
        return parts.comment_parts(result, scheme, cls.opinions(result, scheme))

    @classmethod
    def suggestion(
        cls, answers: Any, scheme: InlineCommentsScheme, evidence: Evidence, suggested_at: datetime
    ) -> tuple[Any, tuple[Gap, ...]]:
        """A comment may lack a category or a severity; its text it needs."""
        gaps = cls.missing(answers, scheme, evidence)
        wrong = tuple(gap for gap in gaps if gap.kind == "refused" or gap.code == "no_text")
        return (answers, wrong) if wrong else (comments.build_result(answers, suggested_at), ())

    @classmethod
    def suggested(cls, result: Sequence[Mapping[str, Any]], scheme: InlineCommentsScheme) -> Iterator[Suggested]:
        return parts.suggested_comments(result, cls.opinions(result, scheme))

    @classmethod
    def join(cls, values: Mapping[str, Mapping[str, Any]], scheme: InlineCommentsScheme) -> list[dict[str, Any]]:
        return parts.join_comments(values)

    @classmethod
    def choices(cls, result: Sequence[Mapping[str, str]], scheme: InlineCommentsScheme) -> Iterator[tuple[str, str]]:
        for comment in result:
            yield from ((key, comment[key]) for key in ("category", "severity") if comment.get(key))

    @classmethod
    def distributions(
        cls, counts: Mapping[str, Mapping[str, int]], scheme: InlineCommentsScheme
    ) -> Iterator[Distribution]:
        block = scheme.inline_comments
        categories, severities = counts.get("category", {}), counts.get("severity", {})
        yield Distribution(
            "Comments by category",
            "comment",
            with_unknown(
                (
                    Chosen(
                        category.value,
                        category.display,
                        categories.get(category.value, 0),
                        category.icon,
                        is_coloured=True,
                    )
                    for category in block.categories
                ),
                categories,
            ),
        )
        if block.severity.offered or severities:
            levels = (
                Chosen(level.value, level.display, severities.get(level.value, 0)) for level in block.severity.offered
            )
            yield Distribution("Comments by severity", "comment", with_unknown(levels, severities))

    @classmethod
    def comparisons(cls, scheme: InlineCommentsScheme) -> Iterator[Comparison]:
        block = scheme.inline_comments
        scales = {"category": tuple(category.value for category in block.categories)}
        if block.severity.offered:
            # The most severe level comes first in the configuration; an order is an order either way.
            scales["severity"] = tuple(level.value for level in block.severity.offered)
        yield PlaceComparison("comments", "Comments", _places, scales)

    @classmethod
    def gold_answers(cls, fault: KnownFault, scheme: InlineCommentsScheme) -> list[dict[str, Any]] | None:
        if fault.file is None or fault.line is None:
            return None
        place = {"file": fault.file, "line_start": fault.line, "line_end": fault.line, "side": "new"}
        offered = {category.value for category in scheme.inline_comments.categories}
        category = {"category": fault.category} if fault.category in offered else {}
        numbering = {"numbering": comments.EXCERPT} if fault.numbering == comments.EXCERPT else {}
        return [place | category | {"comment": fault.why} | numbering]


def _places(result: Sequence[Mapping[str, Any]]) -> Iterator[PlacedComment]:
    """General comments have no place, and are compared with nothing."""
    return map(_place, comments.on_lines(result))


def _place(comment: Mapping[str, Any]) -> PlacedComment:
    # A comment without a side is on the new one, as in the documented example.
    return PlacedComment(
        comment["file"],
        comment.get("side", "new"),
        comment["line_start"],
        comment.get("line_end") or comment["line_start"],
        comment.get("category"),
        comment.get("severity"),
    )


def _lost_labels(owner: str, path: Path, was: Scale, becomes: Scale) -> Iterator[BreakingChange]:
    """A rating means what its label said when it was given."""
    for point, words in was.labels.items():
        place = (*path, "scale", "labels", point)
        if point not in becomes.labels:
            yield BreakingChange(
                place, "label_removed", f"The label {shortened(words)} of {point} of {owner} is removed."
            )
        elif becomes.labels[point] != words:
            yield BreakingChange(
                place,
                "label_changed",
                f"The label of {point} of {owner} changes from {shortened(words)} to "
                f"{shortened(becomes.labels[point])}.",
            )


class FileRatings(SchemeType):
    annotation_type = "code_review_file_ratings"
    target: ClassVar[Target] = "file"
    block = "file_ratings"
    configuration = FileRatingsScheme
    template = "review/ratings.html"
    module = "js/review/ratings.js"
    keys_template = "review/ratings_keys.html"
    activity = _ACTIVITY
    icon = _ICON
    work_word = _WORK_WORD
    default_entry = {
        "name": "file_ratings",
        "annotation_type": "code_review_file_ratings",
        "file_ratings": {
            "dimensions": [{"name": "correctness"}, {"name": "quality", "display": "Code Quality"}],
        },
    }
    examples = ({"src/prices.py": {"correctness": 2, "quality": 4}},)

    @classmethod
    def breaking_changes(cls, old: FileRatingsScheme, new: FileRatingsScheme) -> Iterator[BreakingChange]:
        path = ("file_ratings", "dimensions")
        after = {dimension.name: dimension for dimension in new.file_ratings.dimensions}
        before = old.file_ratings.dimensions
        yield from removed("dimension", path, (dimension.name for dimension in before), after, old.name)
        for dimension in before:
            if dimension.name not in after:
                continue
            was, becomes = dimension.scale, after[dimension.name].scale
            yield from _lost_labels(f"{dimension.name} of {old.name}", (*path, dimension.name), was, becomes)
            if becomes.min > was.min or becomes.max < was.max:
                yield BreakingChange(
                    (*path, dimension.name, "scale"),
                    "scale_narrowed",
                    f"The scale of {dimension.name} of {old.name} no longer holds all of {was.min} to {was.max}: "
                    f"it becomes {becomes.min} to {becomes.max}.",
                )

    @classmethod
    def cannot_judge(cls, scheme: FileRatingsScheme, contents: TraceContents) -> str | None:
        if any(ratings.is_rated(operation, scheme.file_ratings) for operation in contents.files):
            return None
        return "the trace has no files that are rated" if contents.all_files else "the trace has no files to rate"

    @classmethod
    def malformed(cls, answers: object) -> tuple[Gap, ...]:
        return ratings.malformed(answers)

    @classmethod
    def missing(cls, answers: object, scheme: FileRatingsScheme, evidence: Evidence) -> tuple[Gap, ...]:
        return ratings.find_gaps(answers, scheme.file_ratings, evidence)

    @classmethod
    def result(
        cls, answers: object, scheme: FileRatingsScheme, evidence: Evidence, submitted_at: datetime
    ) -> ratings.Ratings:
        return ratings.build_result(answers, scheme.file_ratings, evidence)

    @classmethod
    def summary(cls, result: Mapping[str, object], scheme: FileRatingsScheme) -> str:
        unjudged = sum(ratings.unjudged_reason(of_file, scheme.file_ratings) is not None for of_file in result.values())
        rated = len(result) - unjudged
        words = f"{counted(rated, 'file') if rated else 'No files'} rated"
        return f"{words}, {unjudged} cannot be judged" if unjudged else words

    @classmethod
    def without_demands(cls, scheme: FileRatingsScheme) -> FileRatingsScheme:
        block = scheme.file_ratings.model_copy(update={"require_all_files": False})
        return scheme.model_copy(update={"file_ratings": block})

    @classmethod
    def answers_from(
        cls, said: Sequence[Statement], scheme: FileRatingsScheme
    ) -> tuple[dict[str, Any], list[Unplaced]]:
        return statements.ratings_from(said, scheme.file_ratings)

    @classmethod
    def opinions(cls, result: Mapping[str, Mapping[str, int | None]], scheme: FileRatingsScheme) -> Iterator[Opinion]:
        for file, ratings_of_file in result.items():
            if (reason := ratings.unjudged_reason(ratings_of_file, scheme.file_ratings)) is not None:
                yield Opinion(TITLE, (Choice(KEY, TITLE),), text=reason, file=file, part=KEY)
                continue
            for dimension in scheme.file_ratings.dimensions:
                if (rating := ratings_of_file.get(dimension.name)) is not None:
                    yield Opinion(dimension.display, number=rating, file=file, part=dimension.name)

    @classmethod
    def parts(cls, result: Mapping[str, Mapping[str, int | None]], scheme: FileRatingsScheme) -> Iterator[Part]:
        return parts.rating_parts(result, scheme)

    @classmethod
    def suggested(
        cls, result: Mapping[str, Mapping[str, int | None]], scheme: FileRatingsScheme
    ) -> Iterator[Suggested]:
        return parts.suggested_values(cls.parts(result, scheme))

    @classmethod
    def join(cls, values: Mapping[str, Mapping[str, Any]], scheme: FileRatingsScheme) -> dict[str, dict[str, Any]]:
        return parts.join_ratings(values)

    @classmethod
    def choices(
        cls, result: Mapping[str, Mapping[str, int | None]], scheme: FileRatingsScheme
    ) -> Iterator[tuple[str, str]]:
        for ratings_of_file in result.values():
            if ratings.unjudged_reason(ratings_of_file, scheme.file_ratings) is not None:
                yield KEY, FILE
                continue
            yield from ((name, str(rating)) for name, rating in ratings_of_file.items() if rating is not None)

    @classmethod
    def distributions(
        cls, counts: Mapping[str, Mapping[str, int]], scheme: FileRatingsScheme
    ) -> Iterator[Distribution]:
        for dimension in scheme.file_ratings.dimensions:
            numbers = counts.get(dimension.name, {})
            points = (
                Chosen(str(number), f"{number}: {label}" if label else str(number), numbers.get(str(number), 0))
                for number, label in dimension.scale.points
            )
            yield Distribution(dimension.display, "rating", with_unknown(points, numbers), has_scale=True)
        if (unjudged := counts.get(KEY)) and all(known.name != KEY for known in scheme.file_ratings.dimensions):
            files = (Chosen(FILE, "Files", unjudged.get(FILE, 0)),)
            yield Distribution(TITLE, "file", with_unknown(files, unjudged))

    @classmethod
    def comparisons(cls, scheme: FileRatingsScheme) -> Iterator[Comparison]:
        for dimension in scheme.file_ratings.dimensions:
            yield ValueComparison(
                dimension.name,
                dimension.display,
                "files",
                partial(_file_ratings, dimension.name),
                ("alpha_ordinal", "alpha_interval", "icc", "percent"),
                tuple(range(dimension.scale.min, dimension.scale.max + 1)),
                by_file=True,
            )


def _file_ratings(dimension: str, result: Mapping[str, Mapping[str, int | None]]) -> Iterator[tuple[str, int]]:
    for file, ratings_of_file in result.items():
        if (rating := ratings_of_file.get(dimension)) is not None:
            yield file, rating


_ASKS = "request_changes"
ACCEPTS = "approve"
"""The verdict that accepts a change, as in the documented options."""


class Verdict(SchemeType):
    annotation_type = "code_review_verdict"
    target: ClassVar[Target] = "change_set"
    block = "verdict"
    configuration = VerdictScheme
    template = "review/verdict.html"
    module = "js/review/verdict.js"
    keys_template = "review/verdict_keys.html"
    activity = _ACTIVITY
    icon = _ICON
    work_word = _WORK_WORD
    accepts = ("decision", ACCEPTS)
    default_entry = {
        "name": "verdict",
        "annotation_type": "code_review_verdict",
        "verdict": {"options": [{"value": value} for value in KNOWN_OPTIONS]},
    }
    examples = ({"decision": "request_changes", "summary": "Rounding differs from the invoice."},)

    @classmethod
    def colours(cls, scheme: VerdictScheme) -> Mapping[str, str]:
        return {option.value: option.color for option in scheme.verdict.options}

    @classmethod
    def breaking_changes(cls, old: VerdictScheme, new: VerdictScheme) -> Iterator[BreakingChange]:
        yield from removed(
            "option",
            ("verdict", "options"),
            (option.value for option in old.verdict.options),
            (option.value for option in new.verdict.options),
            old.name,
        )

    @classmethod
    def cannot_judge(cls, scheme: VerdictScheme, contents: TraceContents) -> str | None:
        """A run that changed nothing can be judged by what it did."""
        if contents.changed_files or contents.steps:
            return None
        return "the trace has neither a changed file nor a step"

    @classmethod
    def malformed(cls, answers: object) -> tuple[Gap, ...]:
        return verdicts.malformed(answers)

    @classmethod
    def missing(cls, answers: object, scheme: VerdictScheme, evidence: Evidence) -> tuple[Gap, ...]:
        return verdicts.find_gaps(answers, scheme.verdict)

    @classmethod
    def result(
        cls, answers: object, scheme: VerdictScheme, evidence: Evidence, submitted_at: datetime
    ) -> verdicts.Verdict:
        return verdicts.build_result(answers)

    @classmethod
    def summary(cls, result: Mapping[str, str], scheme: VerdictScheme) -> str | None:
        chosen = result.get("decision")
        return next((option.display for option in scheme.verdict.options if option.value == chosen), chosen)

    @classmethod
    def without_demands(cls, scheme: VerdictScheme) -> VerdictScheme:
        block = scheme.verdict.model_copy(update={"require_summary": False, "summary_min_length": 0})
        return scheme.model_copy(update={"verdict": block})

    @classmethod
    def answers_from(cls, said: Sequence[Statement], scheme: VerdictScheme) -> tuple[dict[str, Any], list[Unplaced]]:
        return statements.verdict_from(said, scheme.verdict)

    @classmethod
    def opinions(cls, result: Mapping[str, str], scheme: VerdictScheme) -> Iterator[Opinion]:
        options = {
            option.value: Choice(option.value, option.display, option.icon, True) for option in scheme.verdict.options
        }
        value = result.get("decision")
        chosen = (options.get(value) or Choice(value, value),) if value else ()
        yield Opinion("Verdict", chosen, text=result.get("summary") or "")

    @classmethod
    def parts(cls, result: Mapping[str, str], scheme: VerdictScheme) -> Iterator[Part]:
        return parts.verdict_parts(result, scheme, cls.opinions(result, scheme))

    @classmethod
    def suggested(cls, result: Mapping[str, str], scheme: VerdictScheme) -> Iterator[Suggested]:
        return parts.suggested_values(cls.parts(result, scheme))

    @classmethod
    def join(cls, values: Mapping[str, Mapping[str, Any]], scheme: VerdictScheme) -> dict[str, Any] | None:
        return parts.join_verdict(values)

    @classmethod
    def choices(cls, result: Mapping[str, str], scheme: VerdictScheme) -> Iterator[tuple[str, str]]:
        if result.get("decision"):
            yield "decision", result["decision"]

    @classmethod
    def distributions(cls, counts: Mapping[str, Mapping[str, int]], scheme: VerdictScheme) -> Iterator[Distribution]:
        numbers = counts.get("decision", {})
        options = (
            Chosen(option.value, option.display, numbers.get(option.value, 0), option.icon, is_coloured=True)
            for option in scheme.verdict.options
        )
        yield Distribution("Verdicts", "annotation", with_unknown(options, numbers))

    @classmethod
    def comparisons(cls, scheme: VerdictScheme) -> Iterator[Comparison]:
        yield ValueComparison(
            "decision",
            "Verdict",
            "traces",
            _decision,
            ("alpha_nominal", "gwet_ac1", "fleiss_kappa", "percent"),
            tuple(option.value for option in scheme.verdict.options),
            positive=(ACCEPTS,),
        )

    @classmethod
    def gold_answers(cls, fault: KnownFault, scheme: VerdictScheme) -> dict[str, str] | None:
        """The documented verdict that asks for changes, where the configuration has it and the fault is in the change:
        a run may take a wrong step and end well."""
        offered = {option.value for option in scheme.verdict.options}
        if fault.file is None or _ASKS not in offered:
            return None
        return {"decision": _ASKS, "summary": fault.why}


def _decision(result: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if decision := result.get("decision"):
        yield "", decision
