"""What the documented analysis scripts import: statistics and plots of process rewards. No Django and no database."""

from rewards.plots import plot_error_distribution, plot_reward_curves
from rewards.statistics import process_reward_stats

__all__ = ["plot_error_distribution", "plot_reward_curves", "process_reward_stats"]
