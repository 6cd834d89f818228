"""How far annotators agree: coefficients with intervals, matched comments, first errors, and consensus labels.

Every coefficient is a function of sums over traces, so that one resampling of traces serves all of them
(`estimates`). Nothing here knows a scheme type: it gets judged units and answers figures.
"""

from potato.statistics.extras import demand_extra

# Before the modules of this package, whose first line is to import numpy.
demand_extra("agreement", package="numpy", what="Agreement is computed")
