"""What the figures of a report say in words, by rules. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agreement.speed_and_agreement import FEW_PAIRS_OF_PERSON
from potato.statistics.agreement.bounds import FEW_PAIRS, FEW_TRACES
from potato.statistics.agreement.figures import NO_PAIRS, Estimate
from potato.statistics.agreement.words import CHANCE_CORRECTED, in_words
from potato.wording import counted, listed

LOW_WORDS = ("none", "poor", "weak")

_ADVERBS = {
    "none": "hardly beyond chance",
    "poor": "poorly",
    "weak": "weakly",
    "moderate": "moderately",
    "good": "well",
    "very good": "very well",
}
_SHARE_WORDS = ((0.25, "rarely"), (0.5, "less than half"), (0.75, "mostly"))

MEANINGS = {
    "alpha_nominal": "How far two people agree beyond chance: 1 is always, 0 is what chance alone gives.",
    "alpha_ordinal": "Beyond chance, where being one step off counts little and being far off counts much.",
    "alpha_interval": "Beyond chance, where a difference counts by its square.",
    "gwet_ac1": "The same question, less moved by one value being common.",
    "fleiss_kappa": "Beyond chance, as if all people chose values with the same frequencies.",
    "icc": "Of units that everybody judged: which part of the spread is not the people's.",
    "percent": "Plain share of pairs, chance not taken out.",
    "f1": "Share of comments that the other person made too: same file, same side, at most {tolerance} lines apart.",
    "category_alpha_nominal": "Where both commented, do they call it the same?",
    "severity_alpha_ordinal": "Where both commented and gave a severity.",
    "same": "Plain share of pairs with the same first error, or both with none.",
    "near": "Share of pairs at most one step apart; one who found none agrees with none alone.",
    "within": "Share of pairs at most three steps apart.",
    "found_alpha_nominal": "Error found or not, one answer a person, beyond chance.",
}
SHORT = {
    "alpha_nominal": "Krippendorff's alpha",
    "alpha_ordinal": "alpha (ordinal)",
    "alpha_interval": "alpha (interval)",
    "fleiss_kappa": "Fleiss' kappa",
    "gwet_ac1": "Gwet's AC1",
    "icc": "ICC (2,1)",
    "percent": "same choice",
    "f1": "matched, F1",
    "category_alpha_nominal": "category of matched ones, alpha",
    "severity_alpha_ordinal": "severity of matched ones, alpha (ordinal)",
    "same": "same step",
    "near": "within 1 step",
    "within": "within 3 steps",
    "found_alpha_nominal": "whether there is one, alpha",
}
SHARE_MEASURES = ("percent", "same", "near", "within")


@dataclass(frozen=True)
class Word:
    """One thing that is compared, in a word."""

    title: str
    word: str
    value: str
    is_low: bool
    is_good: bool


@dataclass(frozen=True)
class ReportSummary:
    """What stands above all figures. `tip` is the one change that would help most, "" where none stands out."""

    headline: str
    sentences: str
    tip: str
    words: tuple[Word, ...]
    is_early: bool


def read_estimate(figure: Mapping[str, Any]) -> Estimate:
    """A figure of a report's JSON, which may have its name beside it."""
    return Estimate(**{name: figure[name] for name in Estimate.__dataclass_fields__})


def main_estimate(comparison: Mapping[str, Any]) -> Estimate:
    """The main measure of one thing that is compared."""
    return read_estimate(comparison["figures"][comparison["main"]])


def shown(value: float, measure: str) -> str:
    """A value as people read it: shares in per cent, and a zero without a sign."""
    return f"{value * 100:.0f}%" if measure in SHARE_MEASURES else f"{round(value, 2) + 0.0:.2f}"


def agreement_word(measure: str, estimate: Estimate) -> str:
    """The word of a coefficient, or what share it is where chance is not taken out."""
    if measure in CHANCE_CORRECTED or estimate.value is None:
        return in_words(estimate)
    value = estimate.value
    if estimate.has_few_traces and estimate.low is not None:
        value = estimate.low
    return next((word for bound, word in _SHARE_WORDS if value < bound), "nearly always")


def summarise_report(figures: Mapping[str, Any]) -> ReportSummary:
    """Headline, sentences and words of a report with shared traces."""
    compared = figures["compared"]
    early = figures["shared_traces"] < FEW_TRACES
    traces = counted(figures["shared_traces"], "trace")
    headline = (
        f"Too early to say: {traces} {'has' if figures['shared_traces'] == 1 else 'have'} two annotations."
        if early
        else _headline(compared)
    )
    sentences = " ".join(filter(None, (_sentence(comparison) for comparison in compared)))
    if early:
        sentences = (
            "Values stand below so that you can see them grow, drawn hollow because they can still move by half the "
            f"scale. From about {FEW_TRACES} traces on they begin to mean something."
        )
    return ReportSummary(
        headline=headline,
        sentences=f"{traces.capitalize()} were judged by two people or more. {sentences}" if not early else sentences,
        tip="" if early else _tip(compared),
        words=tuple(_words(compared)),
        is_early=early,
    )


def why_undefined(estimate: Estimate) -> str:
    """Why there is no value, and what would define it."""
    if not estimate.pairs and estimate.undefined in (None, NO_PAIRS):
        return "No pair yet: nothing of this was judged by two people. A value appears with the first."
    if estimate.undefined and "same value" in estimate.undefined:
        return (
            f"Not defined: all {counted(estimate.pairs, 'pair')} chose the same value. With one value alone agreement "
            "cannot be told from chance; a value appears with the first other choice."
        )
    return f"Not defined: {estimate.undefined}."


def too_few(estimate: Estimate) -> str:
    """Why a part has no value although it has pairs; "" where it has enough."""
    if estimate.pairs >= FEW_PAIRS:
        return ""
    pairs = counted(estimate.pairs, "pair")
    return f"Too few to say: {pairs}. From {FEW_PAIRS} on a value is shown, marked small until {FEW_TRACES} traces."


def _headline(compared: list[dict[str, Any]]) -> str:
    by_word: dict[str, list[str]] = {}
    for comparison in compared:
        estimate = main_estimate(comparison)
        if comparison["main"] in CHANCE_CORRECTED and estimate.value is not None:
            by_word.setdefault(in_words(estimate), []).append(_lower(comparison["title"]))
    parts = [f"{_ADVERBS[word]} on {listed(by_word[word], 'and')}" for word in reversed([*_ADVERBS]) if word in by_word]
    shares = [
        comparison
        for comparison in compared
        if comparison["main"] not in CHANCE_CORRECTED and main_estimate(comparison).value is not None
    ]
    if not parts:
        sentences = [_sentence(comparison) for comparison in shares]
        return sentences[0] if sentences else "Nothing that is compared has a value yet."
    sentence = f"People agree {_and(parts)}"
    low = [
        comparison
        for comparison in shares
        if agreement_word(comparison["main"], main_estimate(comparison)) in ("rarely", "less than half")
    ]
    if low:
        sentence += (
            f"; on {listed([_lower(comparison['title']) for comparison in low], 'and')} in less than half of the cases"
        )
    return f"{sentence}."


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _lower(title: str) -> str:
    """A title within a sentence; words that are capitals alone stay."""
    return " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in title.split())


def _sentence(comparison: Mapping[str, Any]) -> str:
    figures, title = comparison["figures"], _lower(comparison["title"])
    if comparison["main"] == "f1":
        estimate = main_estimate(comparison)
        if estimate.value is None:
            return ""
        return f"When two people read the same trace, {estimate.value:.0%} of their comments are about the same place."
    if comparison["main"] == "same":
        same, near = read_estimate(figures["same"]), read_estimate(figures["near"])
        if same.value is None or near.value is None:
            return ""
        return (
            f"In {same.value:.0%} of pairs the first error is the same, and in {near.value:.0%} at most one step away."
        )
    share = figures.get("percent")
    if not share or share["value"] is None or comparison["unit"] != "traces":
        return ""
    return f"In {share['value']:.0%} of pairs both chose the same for {title}."


def _tip(compared: list[dict[str, Any]]) -> str:
    """The category of comments that is matched least, where it is clearly below the rest and frequent."""
    for comparison in compared:
        if comparison["main"] != "f1":
            continue
        categories = {name: read_estimate(figure) for name, figure in comparison["by_category"].items()}
        comments = sum(estimate.pairs for estimate in categories.values())
        frequent = {
            name: estimate
            for name, estimate in categories.items()
            if estimate.value is not None and estimate.pairs >= max(FEW_PAIRS_OF_PERSON, comments / 10)
        }
        overall = main_estimate(comparison)
        if not frequent or overall.value is None or overall.low is None:
            continue
        name, least = min(frequent.items(), key=lambda item: (item[1].value or 0, item[0]))
        if least.high is not None and least.high < overall.low:
            return (
                f"Comments of the category {name} are matched least ({least.value:.0%}), and they are "
                f"{least.pairs / comments:.0%} of all: say in the guidelines when to write one."
            )
    return ""


def _words(compared: list[dict[str, Any]]) -> list[Word]:
    words = []
    for comparison in compared:
        estimate = main_estimate(comparison)
        word = agreement_word(comparison["main"], estimate)
        words.append(
            Word(
                title=comparison["title"],
                word=word,
                value="" if estimate.value is None else shown(estimate.value, comparison["main"]),
                is_low=word in (*LOW_WORDS, "rarely", "less than half"),
                is_good=word in ("good", "very good", "nearly always"),
            )
        )
    return words
