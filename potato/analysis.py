"""`from potato.analysis import ...`: statistics and plots from files; the work is potato.records.loading's.

`python -m potato.analysis agreement -i output/` tells how far annotators agree; potato.commands.agreement does it.
"""

import sys

from potato.records.loading import load_annotations, plot_error_distribution, plot_reward_curves, process_reward_stats

__all__ = ["load_annotations", "plot_error_distribution", "plot_reward_curves", "process_reward_stats"]

if __name__ == "__main__":
    from potato.commands.agreement import main  # The documented imports above need nothing of it.

    sys.exit(main())
