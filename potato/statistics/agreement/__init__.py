"""How far annotators agree: coefficients with intervals, matched comments, first errors, and consensus labels.

Every coefficient is a function of sums over traces, so that one resampling of traces serves all of them
(`estimates`). Nothing here knows a scheme type: it gets judged units and answers figures.
"""
