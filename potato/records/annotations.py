"""An annotation over all schemes of a project: what its answers lack, its result, and the record that leaves.

Answers are one JSON object with a part for each scheme, by name. What is in a part is the scheme type's alone. Where
the whole trace cannot be judged they say why instead, under `cannot_judge`. What annotators did with suggestions of a
model stands beside the parts, under `suggestions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from potato.configuration.project import ProjectConfiguration
from potato.runs.contents import TraceContents
from potato.schemes.answers import Gap, Incomplete, refused, shown
from potato.schemes.distributions import Chosen, Distribution
from potato.schemes.opinions import Opinion
from potato.schemes.registry import SchemeConfiguration, SchemeType, scheme_types
from potato.schemes.suggested import KEY as SUGGESTIONS
from potato.schemes.suggested import act_gaps
from potato.schemes.unjudged import KEY, TITLE, reason_gaps
from potato.wording import listed, shortened, timestamp


def malformed(answers: object, configuration: ProjectConfiguration) -> tuple[Gap, ...]:
    """What of the answers cannot be kept, not even as a draft: keys that do not exist and values of the wrong type.

    Looks at no evidence, so that it can be asked at every change of a draft. Raises nothing.
    """
    gaps = list(_strange_parts(answers, configuration))
    for scheme, kind, part in _parts(answers, configuration):
        gaps += (gap.below(scheme.name) for gap in kind.malformed(part))
    return tuple(gaps)


def missing(answers: object, configuration: ProjectConfiguration, evidence: Any) -> tuple[Gap, ...]:
    """Everything that keeps the answers from being submitted, scheme after scheme. Raises nothing.

    Of a scheme that cannot judge the trace nothing is missing, and nothing can be said.
    """
    gaps = list(_strange_parts(answers, configuration))
    if (why := unjudged_reason(answers, configuration)) is not None:
        judged = [name for name, part in answers.items() if name not in (KEY, SUGGESTIONS) and part]  # type: ignore[attr-defined]
        if judged:
            sentence = f"Either judge the trace or say why it cannot be judged: leave {listed(judged, 'and')} out."
            gaps.append(refused((KEY,), "judged_and_not", sentence))
        return (*gaps, *reason_gaps(why, "the trace"))
    reasons = []
    for scheme, kind, part in _parts(answers, configuration):
        if reason := kind.cannot_judge(scheme, evidence.contents):
            reasons.append(reason)
            if part:
                sentence = f"{scheme.name}: {reason}, so there is nothing to be said of it."
                gaps.append(refused((scheme.name,), "nothing_to_judge", sentence))
            continue
        gaps += (
            gap.below(scheme.name) for gap in kind.missing(part, kind.adapt_to_evidence(scheme, evidence), evidence)
        )
    if len(reasons) == len(configuration.annotation_schemes):
        sentence = f"Nothing of this trace can be judged: {listed(dict.fromkeys(reasons), 'and')}. Skip it."
        gaps.append(refused((), "nothing_to_judge", sentence))
    return tuple(gaps)


def why_nothing_is_judged(configuration: ProjectConfiguration, contents: TraceContents) -> str | None:
    """Why a trace with that in it can be judged under no scheme; None where it can under one at least."""
    reasons = []
    for scheme, kind, _ in _parts({}, configuration):
        reason = kind.cannot_judge(scheme, contents)
        if reason is None:
            return None
        reasons.append(reason)
    return listed(dict.fromkeys(reasons), "and")


def unasked(configuration: ProjectConfiguration, contents: TraceContents) -> frozenset[str]:
    """The names of the schemes that cannot judge a trace with that in it."""
    return frozenset(
        scheme.name for scheme, kind, _ in _parts({}, configuration) if kind.cannot_judge(scheme, contents) is not None
    )


def results(
    answers: object, configuration: ProjectConfiguration, evidence: Any, submitted_at: datetime
) -> dict[str, Any]:
    """The `annotations` of the record, without schemes that cannot judge the trace. Raises Incomplete with every gap
    where there is one."""
    if gaps := missing(answers, configuration, evidence):
        raise Incomplete(gaps)
    acts = {SUGGESTIONS: said} if (said := suggestions_in(answers, configuration)) is not None else {}
    if (why := unjudged_reason(answers, configuration)) is not None:
        return {KEY: why, **acts}
    parts = {
        scheme.name: kind.result(part, kind.adapt_to_evidence(scheme, evidence), evidence, submitted_at)
        for scheme, kind, part in _parts(answers, configuration)
        if kind.cannot_judge(scheme, evidence.contents) is None
    }
    return {**parts, **acts}


def suggestions_in(annotations: object, configuration: ProjectConfiguration) -> Mapping[str, Any] | None:
    """What is said of a model's suggestions; None where nothing is, or where a scheme has that name."""
    if not isinstance(annotations, Mapping) or _is_scheme(SUGGESTIONS, configuration):
        return None
    said = annotations.get(SUGGESTIONS)
    return said if isinstance(said, Mapping) else None


def without_suggestions(annotations: Any, configuration: ProjectConfiguration) -> Any:
    """The annotations, which may be any JSON, as if nothing had been suggested. They are not changed themselves."""
    if suggestions_in(annotations, configuration) is None:
        return annotations
    return {name: part for name, part in annotations.items() if name != SUGGESTIONS}


def unjudged_reason(annotations: object, configuration: ProjectConfiguration) -> str | None:
    """Why the whole trace cannot be judged; None where that is not said, or where a scheme has that name."""
    if not isinstance(annotations, Mapping) or _is_scheme(KEY, configuration):
        return None
    reason = annotations.get(KEY)
    return reason if isinstance(reason, str) else None


def summaries(annotations: object, configuration: ProjectConfiguration) -> list[str]:
    """The `annotations` of a record in a few words a scheme, in the order of the configuration. Raises nothing: what
    a scheme type cannot read has no words."""
    if (why := unjudged_reason(annotations, configuration)) is not None:
        return [f"{TITLE}: {shortened(why)}"]
    sentences = [
        kind.summary(part, scheme)
        for scheme, kind, part in _parts(annotations, configuration)
        if part is not None and not kind.malformed(part)
    ]
    return [words for words in sentences if words]


def opinions(
    annotations: object, configuration: ProjectConfiguration
) -> Iterator[tuple[SchemeConfiguration, type[SchemeType], Opinion]]:
    """What the `annotations` of a record say of the parts of their trace, in the order of the configuration, with the
    scheme that each is said under. Raises nothing: a part that its scheme type cannot read says nothing."""
    for scheme, kind, part in _parts(annotations, configuration):
        if part is not None and not kind.malformed(part):
            yield from ((scheme, kind, opinion) for opinion in kind.opinions(part, scheme))


def choices(annotations: object, configuration: ProjectConfiguration) -> Iterator[tuple[str, str, str]]:
    """What of the `annotations` of a record is counted: the key of the scheme, the question and the value chosen.

    Raises nothing: a part that its scheme type cannot read has no choices. What is said of a whole trace that cannot be
    judged belongs to no scheme.
    """
    if unjudged_reason(annotations, configuration) is not None:
        yield KEY, KEY, "trace"
    for scheme, kind, part in _parts(annotations, configuration):
        if part is not None and not kind.malformed(part):
            key = _counted_as(scheme)
            yield from ((key, question, value) for question, value in kind.choices(part, scheme))


def distributions(
    counts: Mapping[str, Mapping[str, Mapping[str, int]]], configuration: ProjectConfiguration
) -> Iterator[tuple[SchemeConfiguration, Distribution]]:
    """How often each of the choices was made, in the order of the configuration. `counts` are of what `choices`
    answers: by key, question and value. Of schemes that the configuration no longer has, nothing is said."""
    for scheme, kind, _ in _parts({}, configuration):
        numbers = counts.get(_counted_as(scheme), {})
        yield from ((scheme, distribution) for distribution in kind.distributions(numbers, scheme))
    unjudged = counts.get(KEY, {}).get(KEY, {}).get("trace", 0)
    if unjudged and configuration.annotation_schemes:
        traces = Distribution(TITLE, "annotation", (Chosen("trace", "Of the whole trace", unjudged),))
        yield configuration.annotation_schemes[0], traces


def record(
    external_id: str,
    annotator: str,
    submitted_at: datetime,
    annotations: Mapping[str, Any],
    *,
    trace_version: int = 1,
    active_seconds: int | None = None,
    via: str | None = None,
    corrected_by: str | None = None,
) -> dict[str, Any]:
    """One annotation as it leaves: in exports, and over the API. `annotator` is the name in the organisation;
    `active_seconds`, how long they were at work, is left out where nobody knows, `via` where the person submitted it
    themselves, and `corrected_by`, the reviewer whose revision it is, where it is the annotator's own."""
    version = {"trace_version": trace_version} if trace_version > 1 else {}
    return {
        "id": external_id,
        **version,
        "annotator": annotator,
        "timestamp": timestamp(submitted_at),
        **({"active_seconds": active_seconds} if active_seconds is not None else {}),
        **({"via": via} if via is not None else {}),
        **({"corrected_by": corrected_by} if corrected_by is not None else {}),
        "annotations": dict(annotations),
    }


def _is_scheme(name: str, configuration: ProjectConfiguration) -> bool:
    return any(scheme.name == name for scheme in configuration.annotation_schemes)


def _counted_as(scheme: SchemeConfiguration) -> str:
    """Under one name a later version may have a scheme of another type, whose values mean something else."""
    return f"{scheme.annotation_type}/{scheme.name}"


def _strange_parts(answers: object, configuration: ProjectConfiguration) -> Iterator[Gap]:
    names = [scheme.name for scheme in configuration.annotation_schemes]
    if not isinstance(answers, Mapping):
        yield refused((), "not_an_object", f"Annotations must be an object with the keys {listed(names, 'and')}.")
        return
    for name in answers:
        if name == KEY and name not in names:
            if not isinstance(answers[name], str | None):
                yield refused((name,), "wrong_type", f"{KEY} must be the reason, in words.")
        elif name == SUGGESTIONS and name not in names:
            yield from (gap.below(name) for gap in act_gaps(answers[name]))
        elif name not in names:
            sentence = f"{shown(name)} is not a scheme of this project. Its schemes are {listed(names, 'and')}."
            yield refused((name,), "unknown_scheme", sentence)


def _parts(
    answers: object, configuration: ProjectConfiguration
) -> Iterator[tuple[SchemeConfiguration, type[SchemeType], object]]:
    values = answers if isinstance(answers, Mapping) else {}
    for scheme in configuration.annotation_schemes:
        yield scheme, scheme_types()[scheme.annotation_type], values.get(scheme.name)
