"""The scheme type `merge_risk`: one of the configured levels, and a reason."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from potato.configuration import SchemeConfiguration, SchemeType
from potato.runs.contents import TraceContents
from potato.schemes.answers import Answers, Gap, missing, refused, shown
from potato.schemes.breaking_changes import BreakingChange, removed
from potato.schemes.comparisons import Comparison, ValueComparison
from potato.schemes.distributions import Chosen, Distribution, with_unknown
from potato.schemes.registry import Target
from potato.validation.blocks import Block, Entries, Name
from potato.wording import listed, title_case


class Risk(Block):
    """Settings of merge risk."""

    levels: Annotated[tuple[Name, ...], Entries(10)] = ("low", "medium", "high")
    """Levels to choose from, the lowest first."""
    require_reason: bool = True
    """Whether a reason must be written."""


class MergeRiskScheme(SchemeConfiguration):
    """How risky it would be to merge the changes."""

    annotation_type: Literal["merge_risk"]
    """What is annotated, and how."""
    risk: Risk = Risk()
    """Settings of merge risk."""


class MergeRisk(SchemeType):
    annotation_type = "merge_risk"
    target: ClassVar[Target] = "change_set"
    block = "risk"
    configuration = MergeRiskScheme
    template = "merge_risk/choose.html"
    module = "merge_risk/choose.js"
    activity = "Merge risk"
    icon = "triangle-alert"

    @classmethod
    def cannot_judge(cls, scheme: MergeRiskScheme, contents: TraceContents) -> str | None:
        return None if contents.changed_files else "the trace has no changes to merge"

    @classmethod
    def breaking_changes(cls, old: MergeRiskScheme, new: MergeRiskScheme) -> Iterator[BreakingChange]:
        yield from removed("level", ("risk", "levels"), old.risk.levels, new.risk.levels, old.name)

    @classmethod
    def malformed(cls, answers: object) -> tuple[Gap, ...]:
        return tuple(_read(answers)[2])

    @classmethod
    def missing(cls, answers: object, scheme: MergeRiskScheme, evidence: Any) -> tuple[Gap, ...]:
        level, reason, gaps = _read(answers)
        if gaps:
            return tuple(gaps)
        levels = scheme.risk.levels
        if not level:
            gaps.append(missing(("level",), "no_level", "Choose how risky it would be to merge."))
        elif level not in levels:
            sentence = f"{shown(level)} is not a level. Choose {listed(levels, 'or')}."
            gaps.append(refused(("level",), "unknown_level", sentence))
        if scheme.risk.require_reason and not reason.strip():
            gaps.append(missing(("reason",), "no_reason", "Write why."))
        return tuple(gaps)

    @classmethod
    def summary(cls, result: Mapping[str, str], scheme: MergeRiskScheme) -> str | None:
        return f"{title_case(result['level'])} risk" if result.get("level") else None

    @classmethod
    def choices(cls, result: Mapping[str, str], scheme: MergeRiskScheme) -> Iterator[tuple[str, str]]:
        if result.get("level"):
            yield "level", result["level"]

    @classmethod
    def distributions(cls, counts: Mapping[str, Mapping[str, int]], scheme: MergeRiskScheme) -> Iterator[Distribution]:
        found = counts.get("level", {})
        offered = (Chosen(level, title_case(level), found.get(level, 0)) for level in scheme.risk.levels)
        yield Distribution("Risk of merging", "annotation", with_unknown(offered, found))

    @classmethod
    def comparisons(cls, scheme: MergeRiskScheme) -> Iterator[Comparison]:
        yield ValueComparison(
            "level", "Risk of merging", "traces", _level, ("alpha_ordinal", "percent"), scheme.risk.levels
        )


def _read(answers: object) -> tuple[str, str, list[Gap]]:
    given = Answers({} if answers is None else answers, "a merge risk", ("level", "reason"))
    return given.text("level") or "", given.text("reason") or "", given.gaps


def _level(result: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if result.get("level"):
        yield "", result["level"]
