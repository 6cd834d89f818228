"""The measures that comparisons name, over choices."""

from __future__ import annotations

from potato.schemes.comparisons import Measure
from potato.statistics.agreement import coefficients
from potato.statistics.agreement.choices import Choices
from potato.statistics.agreement.compared import Settings
from potato.statistics.agreement.figures import Estimate


def confusion_matrix(choices: Choices) -> tuple[tuple[float, ...], ...]:
    """How often each two values were chosen for one unit."""
    return tuple(tuple(float(cell) for cell in row) for row in coefficients.confusion(choices))


def measured(measure: Measure, choices: Choices, settings: Settings) -> Estimate:
    """That measure of these choices."""
    samples, seed = settings.samples, settings.seed
    if measure == "alpha_nominal":
        return coefficients.krippendorff_alpha(choices, "nominal", samples=samples, seed=seed)
    if measure == "alpha_ordinal":
        return coefficients.krippendorff_alpha(choices, "ordinal", samples=samples, seed=seed)
    if measure == "alpha_interval":
        return coefficients.krippendorff_alpha(choices, "interval", samples=samples, seed=seed)
    if measure == "fleiss_kappa":
        return coefficients.fleiss_kappa(choices, samples=samples, seed=seed)
    if measure == "gwet_ac1":
        return coefficients.gwet_ac1(choices, samples=samples, seed=seed)
    if measure == "icc":
        return coefficients.intraclass_correlation(choices, samples=samples, seed=seed)
    return coefficients.percent_agreement(choices, samples=samples, seed=seed)
