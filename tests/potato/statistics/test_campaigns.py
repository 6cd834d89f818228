"""What gold, repeats, more annotators and the consensus are worth at equal cost, on a crowd whose truth is known."""

from __future__ import annotations

from statistics import fmean

from tests.potato.statistics.campaigns import EACH, TRACES, plainly, with_potato

CROWDS = range(4)


def test_for_the_same_number_of_annotations_half_as_many_labels_are_wrong_and_hardly_an_expert_is_paused() -> None:
    """The margin that docs/gold.md states: half as many wrong labels at the most, of every single crowd."""
    plain, checked = [plainly(seed) for seed in CROWDS], [with_potato(seed) for seed in CROWDS]
    assert {campaign.paid for campaign in (*plain, *checked)} == {TRACES * EACH}
    for majority, ours in zip(plain, checked, strict=True):
        assert ours.error <= majority.error - 0.05
    assert fmean(campaign.error for campaign in checked) <= fmean(campaign.error for campaign in plain) / 2
    weighted = [plainly(seed, "dawid_skene").error for seed in CROWDS]
    assert fmean(campaign.error for campaign in checked) < fmean(weighted)
    paused = [campaign.paused for campaign in checked]
    assert sum(row["spammer"] for row in paused) > 5 * len(CROWDS)
    assert sum(row["expert"] for row in paused) <= 0.05 * 10 * len(CROWDS)
