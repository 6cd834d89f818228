"""What makes a row of each tenant table of rewards."""

from potato.statistics.rewards.curves import Curve, RewardCurves
from potato.statistics.rewards.figures import RewardTally
from rewards.models import RewardStatistics
from rewards.statistics import kept_figures
from tests.isolation.rows.fixtures import Factories, Fixtures


def _reward_statistics(fixtures: Fixtures) -> RewardStatistics:
    curves = RewardCurves({fixtures.mark: Curve(1, [1.0], [1])})
    figures = kept_figures(RewardTally(), curves)
    return RewardStatistics.objects.create(
        project=fixtures.rows["accounts.Project"], job=fixtures.rows["jobs.Job"], figures=figures
    )


FACTORIES: Factories = {
    "rewards.RewardStatistics": _reward_statistics,
}
