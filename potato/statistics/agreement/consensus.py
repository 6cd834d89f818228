"""One label for each unit out of several annotators': by majority, or weighted by how reliable each one shows to be.

Sources: Dawid and Skene, Journal of the Royal Statistical Society C 28 (1979) 20; the one-coin form as in Zhang et
al., Journal of Machine Learning Research 17 (2016) 1. Both are fitted by expectation maximisation from the shares of
the votes, so that nothing is drawn by chance and the same choices give the same labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from potato.statistics.agreement.choices import Choices, Codes, Floats

Method: TypeAlias = Literal["majority", "dawid_skene", "one_coin"]

PRIOR = 1.0
"""Choices that each annotator is believed to have made already: as many right ones more for every value, and one
spread over all values. It keeps an annotator of three units from counting as infallible or hopeless."""

ENOUGH_PER_UNIT = 3.0
"""Below this many choices a unit a weighting by reliability cannot be told from the majority; our choice."""
ENOUGH_OF_ANNOTATOR = 10
"""An annotator with fewer units in common with others is weighted by the prior more than by evidence; our choice."""

ITERATIONS = 200
"""After so many the fit ends, converged or not."""
_CONVERGED = 1e-7


@dataclass(frozen=True)
class Consensus:
    """The labels of all units, in the order of `Choices`.

    `posteriors` (units x values) are probabilities, for a majority the shares of the votes. `labels` index `values`,
    -1 where two values are equally probable or nobody chose. `confusions` (annotators x values x values) have for each
    annotator and true value how probable each choice is; None for a majority. `overlaps` counts the units with two
    choices or more: only there one annotator is seen beside another. `doubts` are sentences that say why the weighting
    should not be trusted, none where it may be.
    """

    method: Method
    values: tuple[Any, ...]
    posteriors: Floats
    labels: Codes
    priors: Floats
    confusions: Floats | None
    iterations: int
    converged: bool
    overlaps: int
    doubts: tuple[str, ...]


def majority(choices: Choices) -> Consensus:
    """What most annotators of each unit chose; a tie is no label."""
    votes = _votes(choices)
    posteriors = votes / np.maximum(votes.sum(axis=1, keepdims=True), 1)
    overlaps = int((votes.sum(axis=1) > 1).sum())
    labels = _labels(posteriors)
    return Consensus("majority", choices.values, posteriors, labels, _shares(votes), None, 0, True, overlaps, ())


def dawid_skene(choices: Choices, *, prior: float = PRIOR, iterations: int = ITERATIONS) -> Consensus:
    """Labels with a table of confusions for each annotator; `prior` 0 is the model as published.

    Finds who takes one value for another, and spammers, whose choices then count for nothing.
    """
    size, people = len(choices.values), len(choices.names)

    def confusions(choices: Choices, often: Floats) -> Floats:
        cells = choices.annotators * size + choices.codes
        tables = np.zeros((people * size, size))
        # A column at a time: bincount adds a million choices ten times as fast as add.at.
        for true in range(size):
            weights = often[choices.units, true]
            tables[:, true] = np.bincount(cells, weights=weights, minlength=people * size)
        believed = tables.reshape(people, size, size).transpose(0, 2, 1) + prior * (np.eye(size) + 1 / max(size, 1))
        return np.asarray(believed / np.maximum(believed.sum(axis=2, keepdims=True), 1e-300))

    return _fitted("dawid_skene", choices, confusions, prior, iterations)


def one_coin(choices: Choices, *, prior: float = PRIOR, iterations: int = ITERATIONS) -> Consensus:
    """Labels with one number for each annotator: how often right; wrong choices fall on the other values alike.

    Needs far fewer choices of each annotator than `dawid_skene`.
    """
    size, people = len(choices.values), len(choices.names)

    number = np.bincount(choices.annotators, minlength=people) + 2 * prior

    def confusions(choices: Choices, often: Floats) -> Floats:
        right = np.bincount(
            choices.annotators, weights=often[choices.units, choices.codes], minlength=people
        ) + prior * (1 + 1 / max(size, 1))
        ability = (right / np.maximum(number, 1e-300))[:, np.newaxis, np.newaxis]
        wrong = (1 - ability) / max(size - 1, 1)
        return np.asarray(np.where(np.eye(size, dtype=bool), ability, wrong))

    return _fitted("one_coin", choices, confusions, prior, iterations)


def fitted(method: Method, choices: Choices) -> Consensus:
    """The consensus by the method of that name, with the usual prior."""
    return {"majority": majority, "dawid_skene": dawid_skene, "one_coin": one_coin}[method](choices)


def _fitted(
    method: Method, choices: Choices, make_confusions: Callable[[Choices, Floats], Floats], prior: float, most: int
) -> Consensus:
    """Units where the same people chose the same have the same posterior: each kind is computed once and counts as
    often as there are units of it. A million choices of two a unit and thirty people have 750 kinds: 45 s are SECONDS.
    """
    kinds, kind_of_unit = choices.judged_alike()
    votes = _votes(kinds)
    units = np.bincount(kind_of_unit, minlength=len(votes)).astype(np.float64)[:, np.newaxis]
    posteriors = votes / np.maximum(votes.sum(axis=1, keepdims=True), 1)
    judged = votes.sum(axis=1) > 0
    size = len(choices.values)
    priors, confusions = _shares(votes * units), None
    iterations, moved = 0, 1.0
    while moved > _CONVERGED and iterations < most:
        iterations += 1
        often = posteriors * units
        confusions = make_confusions(kinds, often)
        priors = often[judged].sum(axis=0) + prior / max(size, 1)
        priors = priors / max(priors.sum(), 1e-300)
        with np.errstate(divide="ignore"):
            evidence, before = np.log(confusions), np.log(priors)
        likelihoods = np.empty_like(votes)
        for true in range(size):
            of_choices = evidence[kinds.annotators, true, kinds.codes]
            likelihoods[:, true] = before[true] + np.bincount(kinds.units, weights=of_choices, minlength=len(votes))
        likelihoods -= likelihoods.max(axis=1, keepdims=True, initial=-1e300)
        updated = np.exp(likelihoods)
        updated /= updated.sum(axis=1, keepdims=True)
        updated[~judged] = 0
        moved = float(np.abs(updated - posteriors).max(initial=0))
        posteriors = updated
    overlaps = int(units[votes.sum(axis=1) > 1].sum())
    posteriors = posteriors[kind_of_unit]
    converged = moved <= _CONVERGED
    doubts = _doubts(choices)
    if not converged:
        doubts = (*doubts, f"The fit still changed after {iterations} iterations; the labels may not be final.")
    return Consensus(
        method,
        choices.values,
        posteriors,
        _labels(posteriors),
        priors,
        confusions,
        iterations,
        converged,
        overlaps,
        doubts,
    )


def _doubts(choices: Choices) -> tuple[str, ...]:
    """Why who is reliable cannot be told from these choices."""
    judged = np.bincount(choices.units, minlength=len(choices.trace_of_unit))
    shared = judged > 1
    doubts = []
    per_unit = float(judged[shared].mean()) if shared.any() else 0.0
    if per_unit < ENOUGH_PER_UNIT:
        doubts.append(
            f"Units that several people judged have {per_unit:.1f} judgements on average; below"
            f" {ENOUGH_PER_UNIT:.0f} reliability cannot be told from chance."
        )
    in_common = np.bincount(choices.annotators[shared[choices.units]], minlength=len(choices.names))
    few = int((in_common < ENOUGH_OF_ANNOTATOR).sum())
    if few:
        people = "1 annotator shares" if few == 1 else f"{few} annotators share"
        doubts.append(f"{people} fewer than {ENOUGH_OF_ANNOTATOR} units with others.")
    return tuple(doubts)


def _votes(choices: Choices) -> Floats:
    return choices.counts()


def _shares(votes: Floats) -> Floats:
    return np.asarray(votes.sum(axis=0) / max(votes.sum(), 1))


def _labels(posteriors: Floats) -> Codes:
    """The most probable value of each unit, -1 where there is not one."""
    if not posteriors.shape[1]:
        return np.full(len(posteriors), -1)
    best = posteriors.max(axis=1, keepdims=True)
    alone = (posteriors >= best - 1e-9).sum(axis=1) == 1
    return np.where(alone & (best[:, 0] > 0), posteriors.argmax(axis=1), -1)
