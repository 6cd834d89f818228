"""The settings of code review: comments on lines, ratings of files, a verdict on the whole change.

They say what may be answered and decide nothing about answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from potato.schemes.icons import Icon
from potato.schemes.registry import SchemeConfiguration
from potato.validation.blocks import (
    Block,
    BlockValues,
    Colour,
    Description,
    Entries,
    Label,
    Name,
    Remark,
    expecting,
    repeated,
    without_effect,
)
from potato.wording import quoted, title_case


class Preset(NamedTuple):
    """How a value is shown where the configuration does not say."""

    display: str
    color: str
    icon: str | None
    description: str | None = None


PLAIN_PRESET = Preset("", "#6b7280", None)

KNOWN_CATEGORIES = {
    "bug": Preset("Bug", "#ef4444", "bug"),
    "logic": Preset("Logic Error", "#f97316", "alert-triangle"),
    "security": Preset("Security", "#dc2626", "shield-alert"),
    "performance": Preset("Performance", "#eab308", "zap"),
    "style": Preset("Style", "#6b7280", "palette"),
    "suggestion": Preset("Suggestion", "#3b82f6", "lightbulb"),
    "question": Preset("Question", "#8b5cf6", "help-circle"),
    "praise": Preset("Praise", "#22c55e", "thumbs-up"),
}
KNOWN_OPTIONS = {
    "approve": Preset("Approve", "#22c55e", "check-circle", "Changes are correct and ready to merge"),
    "request_changes": Preset("Request Changes", "#ef4444", "x-circle", "Changes need fixes before merging"),
    "comment_only": Preset("Comment Only", "#6b7280", "message-circle", "Leaving feedback without a verdict"),
}
KNOWN_LEVELS = ("critical", "major", "minor", "nit")

KNOWN_SCALE = (1, 5)
KNOWN_SCALE_LABELS = {
    "correctness": {
        1: "Broken -- introduces bugs or breaks existing functionality",
        2: "Mostly broken -- significant functional issues",
        3: "Partially correct -- works but has edge cases or minor bugs",
        4: "Mostly correct -- minor issues only",
        5: "Fully correct -- changes work as intended",
    },
    "quality": {
        1: "Very poor -- unreadable, no structure",
        2: "Poor -- hard to follow, inconsistent style",
        3: "Acceptable -- works but could be cleaner",
        4: "Good -- clean, idiomatic, well-structured",
        5: "Excellent -- exemplary code, would merge as-is",
    },
}


def _display_of_value(values: Mapping[str, Any]) -> str:
    return title_case(values["value"])


# --- Comments on lines ---


class Category(Block):
    """What a comment is about."""

    value: Name
    """Stored in the result."""
    display: Label = Field(default_factory=_display_of_value)
    """Shown to annotators; the value in title case when left out."""
    color: Colour = Field(default_factory=lambda values: KNOWN_CATEGORIES.get(values["value"], PLAIN_PRESET).color)
    """Colour of the category, #rgb or #rrggbb; when left out that of a known value, else #6b7280."""
    icon: Icon | None = Field(default_factory=lambda values: KNOWN_CATEGORIES.get(values["value"], PLAIN_PRESET).icon)
    """Name of a Lucide icon, null for none; when left out that of a known value, else none."""


class SeverityLevel(Block):
    """How grave a comment is."""

    value: Name
    """Stored in the result."""
    display: Label = Field(default_factory=_display_of_value)
    """Shown to annotators; the value in title case when left out."""


def _known_categories() -> tuple[Category, ...]:
    return tuple(Category(value=value, display=preset.display) for value, preset in KNOWN_CATEGORIES.items())


def _known_levels() -> tuple[SeverityLevel, ...]:
    return tuple(SeverityLevel(value=value) for value in KNOWN_LEVELS)


class Severity(Block):
    """Whether comments carry a severity, and which there are."""

    enabled: bool = True
    """Whether a comment may carry a severity."""
    levels: Annotated[tuple[SeverityLevel, ...], Entries(20)] = Field(default_factory=_known_levels)
    """The levels, gravest first."""

    @property
    def offered(self) -> tuple[SeverityLevel, ...]:
        """The levels that an annotator can choose."""
        return self.levels if self.enabled else ()

    @property
    def signed(self) -> list[tuple[SeverityLevel, str]]:
        """Each level that can be chosen with the icon of its sign: that of a known name, else by its rank."""
        last = max(len(self.offered) - 1, 1)
        ranked = [KNOWN_LEVELS[rank * (len(KNOWN_LEVELS) - 1) // last] for rank in range(len(self.offered))]
        return [
            (level, f"sev-{level.value if level.value in KNOWN_LEVELS else rank}")
            for level, rank in zip(self.offered, ranked, strict=True)
        ]

    @classmethod
    def remarks(cls, values: BlockValues) -> Iterator[Remark]:
        yield from repeated(values, "levels", "value")
        if values.get("enabled") is False and "levels" in values:
            yield without_effect("levels", "severity is not enabled.")


class InlineCommentsBlock(Block):
    """Settings of comments on lines."""

    categories: Annotated[tuple[Category, ...], Entries(50)] = Field(default_factory=_known_categories)
    """What a comment can be about."""
    severity: Severity = Severity(enabled=False)
    """How grave a comment can be; off when left out."""
    require_category: bool = True
    """Whether a comment needs a category."""
    require_severity: bool = False
    """Whether a comment needs a severity."""
    allow_multi_line: bool = True
    """Whether a comment may span a range of lines."""
    allow_suggestions: bool = True
    """Whether a comment may carry replacement code."""
    min_comments: Annotated[int, Field(ge=0, le=100)] = 0
    """How many comments a submission needs."""
    allow_unsure: bool = False
    """Whether a comment may be marked as unsure."""
    allow_general: bool = True
    """Whether a comment may be about a file or the change as a whole, beside those on lines."""

    @classmethod
    def remarks(cls, values: BlockValues) -> Iterator[Remark]:
        yield from repeated(values, "categories", "value")
        if values.get("require_severity") is True and not _has_severity(values):
            yield without_effect("require_severity", "severity is not enabled.")


def _has_severity(values: BlockValues) -> bool:
    severity = values.get("severity", {"enabled": False})
    return not (isinstance(severity, Mapping) and severity.get("enabled") is False)


class InlineCommentsScheme(SchemeConfiguration):
    """Comments on lines of the diffs."""

    annotation_type: Literal["code_review_comments"]
    """What is annotated, and how."""
    inline_comments: InlineCommentsBlock = InlineCommentsBlock()
    """Settings of comments on lines."""


# --- Ratings of files ---


FARTHEST_BOUND = 100
MOST_POINTS = 11

_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,3}", re.ASCII)


def _scale_point(key: object) -> object:
    """The key of a scale label as a number: YAML may give it as either, JSON gives text."""
    if isinstance(key, str):
        if not _WHOLE_NUMBER.fullmatch(key):
            raise PydanticCustomError(
                "label_key",
                "{key} cannot have a label. The keys of labels are the whole numbers of the scale.",
                {"key": quoted(key)},
            )
        return int(key)
    return key


class Scale(Block):
    """The whole numbers from min to max."""

    min: Annotated[int, Field(ge=-FARTHEST_BOUND, le=FARTHEST_BOUND)] = KNOWN_SCALE[0]
    """The lowest rating."""
    max: Annotated[int, Field(ge=-FARTHEST_BOUND, le=FARTHEST_BOUND)] = KNOWN_SCALE[1]
    """The highest rating."""
    labels: Mapping[Annotated[int, BeforeValidator(_scale_point)], Label] = Field(default_factory=dict)
    """What single ratings mean; keys are numbers of the scale."""

    @property
    def points(self) -> list[tuple[int, str | None]]:
        """Every rating that can be chosen, lowest first, with what it means where that is said."""
        return [(number, self.labels.get(number)) for number in range(self.min, self.max + 1)]

    @classmethod
    def remarks(cls, values: BlockValues) -> Iterator[Remark]:
        low, high = values.get("min", KNOWN_SCALE[0]), values.get("max", KNOWN_SCALE[1])
        if not (_is_bound(low) and _is_bound(high)):
            return
        key = "max" if "max" in values else "min"
        if low >= high:
            yield Remark((key,), "empty_scale", f"min must be below max. Found a scale from {low} to {high}.")
            return
        if high - low >= MOST_POINTS:
            yield Remark(
                (key,),
                "long_scale",
                f"A scale has at most {MOST_POINTS} points. Found {high - low + 1}, from {low} to {high}.",
            )
        labels = values.get("labels")
        for point in labels if isinstance(labels, Mapping) else ():
            number = int(point) if isinstance(point, str) and _WHOLE_NUMBER.fullmatch(point) else point
            if isinstance(number, int) and not low <= number <= high:
                yield Remark(
                    ("labels", point),
                    "label_outside",
                    f"{number} is not on the scale from {low} to {high}. Remove its label or widen the scale.",
                    is_about_key=True,
                )


def _is_bound(value: object) -> bool:
    return type(value) is int and abs(value) <= FARTHEST_BOUND


def _with_known_labels(dimension: str, scale: Mapping[str, Any]) -> Mapping[str, Any]:
    """The scale with the labels that everybody knows for this dimension, where it says none of its own."""
    low, high = scale.get("min", KNOWN_SCALE[0]), scale.get("max", KNOWN_SCALE[1])
    known = KNOWN_SCALE_LABELS.get(dimension)
    if known is None or "labels" in scale or (low, high) != KNOWN_SCALE:
        return scale
    return {**scale, "labels": known}


class Dimension(Block):
    """One question that each file is rated on."""

    name: Name
    """Stored in the result."""
    display: Label = Field(default_factory=lambda values: title_case(values["name"]))
    """Shown to annotators; the name in title case when left out."""
    description: Description | None = None
    """Shown where the rating is given."""
    scale: Scale = Field(default_factory=lambda values: Scale(**_with_known_labels(values["name"], {})))
    """The ratings to choose from; 1 to 5 when left out."""

    @field_validator("scale", mode="before")
    @classmethod
    def _labels_of_known_dimensions(cls, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, Mapping) or "name" not in info.data:
            return value
        return _with_known_labels(info.data["name"], value)


def _known_dimensions() -> tuple[Dimension, ...]:
    return (
        Dimension(
            name="correctness",
            description="Are the changes to this file functionally correct?",
        ),
        Dimension(
            name="quality",
            display="Code Quality",
            description="How well-written are the changes to this file?",
        ),
    )


class FileRatingsBlock(Block):
    """Settings of the ratings of files."""

    dimensions: Annotated[tuple[Dimension, ...], Entries(20)] = Field(default_factory=_known_dimensions)
    """What each file is rated on."""
    include_unchanged: bool = False
    """Whether files that the agent read and did not edit are rated."""
    include_new_files: bool = True
    """Whether files that the agent created are rated."""
    include_deleted_files: bool = True
    """Whether files that the agent deleted are rated."""
    require_all_files: bool = True
    """Whether a submission needs a rating of every listed file."""

    @classmethod
    def remarks(cls, values: BlockValues) -> Iterator[Remark]:
        yield from repeated(values, "dimensions", "name")


class FileRatingsScheme(SchemeConfiguration):
    """Ratings of each file."""

    annotation_type: Literal["code_review_file_ratings"]
    """What is annotated, and how."""
    file_ratings: FileRatingsBlock = FileRatingsBlock()
    """Settings of the ratings of files."""


# --- Verdict on the whole change ---


class Option(Block):
    """One verdict to choose."""

    value: Name
    """Stored in the result."""
    display: Label = Field(default_factory=_display_of_value)
    """Shown to annotators; the value in title case when left out."""
    description: Description | None = None
    """Shown where the verdict is chosen."""
    color: Colour = Field(default_factory=lambda values: KNOWN_OPTIONS.get(values["value"], PLAIN_PRESET).color)
    """Colour of the option, #rgb or #rrggbb; when left out that of a known value, else #6b7280."""
    icon: Icon | None = Field(default_factory=lambda values: KNOWN_OPTIONS.get(values["value"], PLAIN_PRESET).icon)
    """Name of a Lucide icon, null for none; when left out that of a known value, else none."""


def _known_options() -> tuple[Option, ...]:
    return tuple(Option(value=value, description=preset.description) for value, preset in KNOWN_OPTIONS.items())


class VerdictBlock(Block):
    """Settings of the verdict."""

    options: Annotated[tuple[Option, ...], Entries(20)] = Field(default_factory=_known_options)
    """The verdicts to choose from."""
    require_summary: bool = True
    """Whether a verdict needs a summary."""
    summary_placeholder: Annotated[
        str, Field(max_length=200, json_schema_extra=expecting("text of at most 200 characters"))
    ] = "Summarize your review..."
    """Shown in the empty summary field."""
    summary_min_length: Annotated[int, Field(ge=0, le=5000)] = 20
    """How many characters a summary needs."""

    @classmethod
    def remarks(cls, values: BlockValues) -> Iterator[Remark]:
        yield from repeated(values, "options", "value")


class VerdictScheme(SchemeConfiguration):
    """A verdict on the whole change."""

    annotation_type: Literal["code_review_verdict"]
    """What is annotated, and how."""
    verdict: VerdictBlock = VerdictBlock()
    """Settings of the verdict."""
