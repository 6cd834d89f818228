"""`from potato.analysis import ...`: statistics and plots from files. The work is rewards.analysis's."""

from rewards.analysis import load_annotations, plot_error_distribution, plot_reward_curves, process_reward_stats

__all__ = ["load_annotations", "plot_error_distribution", "plot_reward_curves", "process_reward_stats"]
