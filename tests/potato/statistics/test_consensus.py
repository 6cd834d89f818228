"""Consensus: the published example, and crowds of which the truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato.statistics.agreement.choices import Choices, Codes, Judged
from potato.statistics.agreement.consensus import dawid_skene, majority, one_coin
from tests.potato.statistics.published_agreement import DAWID_SKENE

VALUES = 5


def published() -> Choices:
    """The patients of Dawid and Skene; the three readings of the first observer are one observer's."""
    choices = Choices.gather(
        (
            Judged(patient, 0, reading, int(value))
            for patient, row in enumerate(DAWID_SKENE, 1)
            for reading, value in enumerate(row)
        ),
        range(1, 5),
    )
    return replace(choices, names=tuple(range(5)), annotators=np.array([0, 0, 0, 1, 2, 3, 4])[choices.annotators])


def crowd(judgements: int, *, seed: int = 3) -> tuple[Codes, Choices]:
    """600 units, 30 annotators of five kinds: 16 good ones, 4 experts, 4 who choose by chance, 4 who always choose
    the first value, and 2 who take each value for the next."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, VALUES, 600)

    def choose(annotator: int, true: int) -> int:
        if annotator < 16:
            return true if random.random() < 0.75 else int(random.integers(VALUES))
        if annotator < 20:
            return true if random.random() < 0.95 else int(random.integers(VALUES))
        if annotator < 24:
            return int(random.integers(VALUES))
        return 0 if annotator < 28 else (true + 1) % VALUES

    judged = [
        Judged(unit, 0, int(annotator), choose(int(annotator), int(true)))
        for unit, true in enumerate(truth)
        for annotator in random.choice(30, judgements, replace=False)
    ]
    return truth, Choices.gather(judged, range(VALUES))


def test_the_published_patients_get_the_published_shares() -> None:
    consensus = dawid_skene(published(), prior=0)
    assert consensus.priors == pytest.approx([0.40, 0.42, 0.11, 0.07], abs=0.005)


def test_three_published_patients_are_judged_against_the_majority() -> None:
    choices = published()
    weighted, plain = dawid_skene(choices, prior=0), majority(choices)
    assert [at + 1 for at in np.flatnonzero(weighted.labels != plain.labels)] == [2, 12, 36]


@pytest.mark.parametrize(("method", "margin"), [(one_coin, 0.08), (dawid_skene, 0.10)])
def test_consensus_beats_the_majority_where_five_people_judge_each_unit(method: type, margin: float) -> None:
    for seed in range(3):
        truth, choices = crowd(5, seed=seed)
        right = (method(choices).labels == truth).mean()
        assert right - (majority(choices).labels == truth).mean() >= margin


def test_the_table_of_an_annotator_shows_what_he_takes_for_what() -> None:
    _, choices = crowd(5)
    confusions = dawid_skene(choices).confusions
    assert confusions is not None
    assert confusions.sum(axis=2) == pytest.approx(np.ones((30, VALUES)))
    shifted, lazy, expert = (confusions[choices.names.index(name)] for name in (29, 26, 17))
    assert [int(row.argmax()) for row in shifted] == [1, 2, 3, 4, 0]
    assert (lazy.argmax(axis=1) == 0).all()
    assert (np.diag(expert) > 0.7).all()


def test_consensus_says_when_it_should_not_be_trusted() -> None:
    _, thin = crowd(2)
    assert "2.0 judgements on average" in dawid_skene(thin).doubts[0]
    newcomer = Choices.gather([Judged(1, 0, name, 1) for name in "abc"])
    assert "3 annotators share fewer than 10 units" in one_coin(newcomer).doubts[0]
    _, enough = crowd(5)
    assert dawid_skene(enough).doubts == ()


def test_a_tie_is_no_label_and_an_empty_set_no_fault() -> None:
    tie = Choices.gather([Judged("t", 0, "a", "yes"), Judged("t", 0, "b", "no")])
    assert majority(tie).labels.tolist() == [-1]
    assert majority(tie).posteriors.tolist() == [[0.5, 0.5]]
    for method in (majority, one_coin, dawid_skene):
        assert method(Choices.gather([])).labels.tolist() == []


@given(st.lists(st.lists(st.sampled_from(["", "yes", "no"]), min_size=3, max_size=3), max_size=12))
def test_units_are_of_one_kind_where_the_same_people_chose_the_same(table: list[list[str]]) -> None:
    """Rows are units, columns annotators; without a value nobody chose, and a unit that nobody judged is none."""
    table = [row for row in table if any(row)]
    choices = Choices.gather(
        (Judged(row, 0, person, value) for row, own in enumerate(table) for person, value in enumerate(own) if value),
        ["yes", "no"],
    )
    kinds, kind_of_unit = choices.judged_alike()
    numbers: dict[tuple[str, ...], int] = {}
    assert kind_of_unit.tolist() == [numbers.setdefault(tuple(row), len(numbers)) for row in table]
    assert len(kinds.trace_of_unit) == len(numbers)
    shown = [["" for _ in choices.names] for _ in numbers]
    for unit, annotator, code in zip(kinds.units, kinds.annotators, kinds.codes, strict=True):
        shown[unit][annotator] = choices.values[code]
    assert shown == [[row[person] for person in choices.names] for row in numbers]


def test_kinds_of_units_weigh_as_much_as_their_units() -> None:
    """600 units of two choices, many alike, beside the sums of Dawid and Skene taken unit by unit."""
    _, choices = crowd(2)
    assert len(choices.judged_alike()[0].trace_of_unit) < 600
    fit, size = dawid_skene(choices, iterations=5), len(choices.values)
    posteriors = choices.counts() / choices.counts().sum(axis=1, keepdims=True)
    for _ in range(5):
        confusions = np.zeros((len(choices.names), size, size)) + np.eye(size) + 1 / size
        for unit, annotator, code in zip(choices.units, choices.annotators, choices.codes, strict=True):
            confusions[annotator, :, code] += posteriors[unit]
        confusions /= confusions.sum(axis=2, keepdims=True)
        priors = posteriors.sum(axis=0) + 1 / size
        posteriors = np.tile(priors / priors.sum(), (len(posteriors), 1))
        for unit, annotator, code in zip(choices.units, choices.annotators, choices.codes, strict=True):
            posteriors[unit] *= confusions[annotator, :, code]
        posteriors /= posteriors.sum(axis=1, keepdims=True)
    assert fit.posteriors == pytest.approx(posteriors)
    assert fit.confusions == pytest.approx(confusions)


def test_posteriors_are_probabilities_and_the_same_again() -> None:
    _, choices = crowd(3)
    for method in (majority, one_coin, dawid_skene):
        first, again = method(choices), method(choices)
        assert first.posteriors.sum(axis=1) == pytest.approx(np.ones(600))
        assert (first.posteriors == again.posteriors).all()


def test_without_a_prior_and_one_voice_that_voice_is_the_label() -> None:
    for method in (one_coin, dawid_skene):
        lone = method(Choices.gather([Judged("t", 0, "a", "x"), Judged("u", 0, "a", "y")]), prior=0)
        assert [lone.values[at] for at in lone.labels] == ["x", "y"]
