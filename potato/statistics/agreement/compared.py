"""What a report says of one thing that annotators can agree on, and how it is computed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from potato.schemes.matching import TOLERANCE
from potato.statistics.agreement.figures import SAMPLES, Estimate

NEAR, WITHIN = 1, 3
"""Steps between two first errors that are near each other, as in the documented statistics, and a wider distance."""

GROUPS_KEPT = 50
"""Of the groups of a kind, of files and weeks and models, so many are given, those with the most pairs."""

TITLES: Mapping[str, str] = {
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
    "fleiss_kappa": "Fleiss' kappa",
    "gwet_ac1": "Gwet's AC1",
    "icc": "Intraclass correlation (2,1)",
    "percent": "Same choice",
    "f1": "Same place (F1)",
    "category_alpha_nominal": "Category where places match, alpha",
    "severity_alpha_ordinal": "Severity where places match, ordinal alpha",
    "same": "Same step",
    "near": f"At most {NEAR} step apart",
    "within": f"At most {WITHIN} steps apart",
    "found_alpha_nominal": "Whether there is an error, alpha",
}


class About(NamedTuple):
    """What is known of an answer beside it: the agent's model, the tags and the imported file of its trace, "" where
    nobody says, the week in which it was given, as 2026-W47, and the number of the batch in which its trace was then,
    or ""."""

    agent_model: str = ""
    tags: tuple[str, ...] = ()
    source_file: str = ""
    week: str = ""
    batch: str = ""


NOTHING_KNOWN = About()


class Answered(NamedTuple):
    """What one annotator's record has for one scheme; of two for the same trace the later one counts."""

    trace: Hashable
    annotator: str
    result: Any
    about: About = NOTHING_KNOWN


@dataclass(frozen=True)
class Settings:
    """How figures are computed: `tolerance` in lines between comments, how often traces are resampled, the seed."""

    tolerance: int = TOLERANCE
    samples: int = SAMPLES
    seed: int = 0


@dataclass(frozen=True)
class Group:
    """The main measure over a part of the traces or units, and what they have in common."""

    name: str
    estimate: Estimate


@dataclass(frozen=True)
class Reliability:
    """How reliable each annotator shows to be, by Dawid and Skene: for each true value how probable each choice of
    theirs is, in the order of the values, which are as frequent as `priors` say. `doubts` are sentences that say why
    that is not to be trusted."""

    priors: tuple[float, ...]
    annotators: Mapping[str, tuple[tuple[float, ...], ...]]
    doubts: tuple[str, ...]


@dataclass(frozen=True)
class Compared:
    """One thing that annotators can agree on.

    `figures` are by measure, the names of TITLES, and `main` is the one by which people and groups are compared.
    `pairs` has for two annotators how often they agree: the share of same choices, of same first errors, or F1 of
    places; `rest` the same of each annotator with everybody else, what the others say among themselves left out.
    `pairs_main` and `rest_main` have the main measure of the same. `by_position` and `by_position_main` have the share
    and the main measure for each position, `by_category` the share of the comments of a category that another
    annotator made too, `distances` how many pairs of first errors are how many steps apart (None: one alone found
    none), of which `without_error` found none at all, `confusion` how often each two of `values` were chosen for one
    unit, and `examples` names the first few traces of two values, or of two first errors so many steps apart.
    `groups` has the main measure by kind of group (agent_model, tag, source_file, week,
    batch, file), and
    `groups_left_out` of how many more there is no figure. `cannot_judge` counts what annotators said they could not
    judge, by what it is: "trace" for a whole one, "step" or "file". `reliability` is of values without an order.
    """

    scheme: str
    name: str
    title: str
    figures: Mapping[str, Estimate]
    unit: str = ""
    main: str = ""
    pairs: Mapping[tuple[str, str], Estimate] = field(default_factory=dict)
    rest: Mapping[str, Estimate] = field(default_factory=dict)
    pairs_main: Mapping[tuple[str, str], Estimate] = field(default_factory=dict)
    rest_main: Mapping[str, Estimate] = field(default_factory=dict)
    by_position: Mapping[int, Estimate] = field(default_factory=dict)
    by_position_main: Mapping[int, Estimate] = field(default_factory=dict)
    by_category: Mapping[str, Estimate] = field(default_factory=dict)
    groups: Mapping[str, tuple[Group, ...]] = field(default_factory=dict)
    groups_left_out: Mapping[str, int] = field(default_factory=dict)
    distances: Mapping[int | None, int] = field(default_factory=dict)
    without_error: int = 0
    values: tuple[Any, ...] = ()
    confusion: tuple[tuple[float, ...], ...] = ()
    examples: Mapping[tuple[Any, ...], list[Hashable]] = field(default_factory=dict)
    cannot_judge: Mapping[str, int] = field(default_factory=dict)
    reliability: Reliability | None = None

    def as_json(self) -> dict[str, Any]:
        """The same as plain JSON."""
        return {
            "scheme": self.scheme,
            "name": self.name,
            "title": self.title,
            "unit": self.unit,
            "main": self.main,
            "figures": _named(self.figures),
            "pairs": [{"annotators": list(pair), **asdict(estimate)} for pair, estimate in self.pairs.items()],
            "pairs_main": [
                {"annotators": list(pair), **asdict(estimate)} for pair, estimate in self.pairs_main.items()
            ],
            "rest": _named(self.rest),
            "rest_main": _named(self.rest_main),
            "by_position": {str(position): asdict(estimate) for position, estimate in self.by_position.items()},
            "by_position_main": {
                str(position): asdict(estimate) for position, estimate in self.by_position_main.items()
            },
            "by_category": _named(self.by_category),
            "groups": {
                kind: [{"name": group.name, **asdict(group.estimate)} for group in groups]
                for kind, groups in self.groups.items()
            },
            "groups_left_out": dict(self.groups_left_out),
            "distances": [{"steps": steps, "pairs": pairs} for steps, pairs in self.distances.items()],
            "without_error": self.without_error,
            "values": list(self.values),
            "confusion": [list(row) for row in self.confusion],
            "examples": [{"of": list(of), "traces": list(traces)} for of, traces in self.examples.items()],
            # Left out where there is none, as in reports of before.
            **({"cannot_judge": dict(sorted(self.cannot_judge.items()))} if self.cannot_judge else {}),
            **({"reliability": asdict(self.reliability)} if self.reliability else {}),
        }


def _named(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: asdict(estimate) for name, estimate in estimates.items()}
