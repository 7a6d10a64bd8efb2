"""Perfect codes on data with the faults that data have: correlated, misread, far out, tied, with long tails."""

import numpy as np

from demele.bench.expectations import Falls, Holds, Keeps
from demele.bench.scenario import Array, Scenario
from demele.bench.scenarios.source import M

__all__ = ["ANNOTATION_NOISE", "CORRELATED", "DEFECT_SCENARIOS", "HEAVY_TAILS", "OUTLIERS", "TIED"]

#: How many times too large the codes of an outlying row are.
OUTLYING = 50.0


def _correlated(rng: np.random.Generator, severity: float, n: int) -> tuple[Array, Array]:
    # a Gaussian copula: one part that all factors share, one of each factor's own, then uniform margins
    from scipy.special import ndtr

    shared = rng.standard_normal((n, 1))
    factors: Array = ndtr(np.sqrt(severity) * shared + np.sqrt(1 - severity) * rng.standard_normal((n, M)))
    return factors, factors


def _annotation_noise(rng: np.random.Generator, severity: float, n: int) -> tuple[Array, Array]:
    factors = rng.random((n, M))
    wrong = rng.random((n, M)) < severity
    return factors, np.where(wrong, rng.random((n, M)), factors)


def _outliers(rng: np.random.Generator, severity: float, n: int) -> tuple[Array, Array]:
    factors = rng.random((n, M))
    codes = factors.copy()
    codes[rng.choice(n, size=round(severity * n), replace=False)] *= OUTLYING
    return codes, factors


def _tied(rng: np.random.Generator, severity: float, n: int) -> tuple[Array, Array]:
    factors = rng.random((n, M))
    return np.maximum(factors, severity), factors


def _heavy_tails(rng: np.random.Generator, severity: float, n: int) -> tuple[Array, Array]:
    # at 0 the codes are the factors: normal quantiles, the limit of many degrees of freedom, would not be perfect for
    # metrics that cut the range into bins of equal width, and the sweep is to start from the perfect representation
    from scipy.special import stdtrit

    factors = rng.random((n, M))
    if severity == 0:
        return factors, factors
    inner = np.maximum(factors, 2.0**-54)  # a uniform draw of exactly 0 has no finite quantile
    codes: Array = stdtrit(1 / severity, inner)
    return codes, factors


CORRELATED = Scenario(
    name="correlated",
    title="Correlated factors",
    question="Does the score of a perfect code stay when the factors are correlated in the data?",
    sweep="correlation of every pair of factors",
    severities=(0.0, 0.2, 0.4, 0.6, 0.8, 0.9),
    draw=_correlated,
    wanted={"any": (Holds(0.1),)},
)

ANNOTATION_NOISE = Scenario(
    name="annotation_noise",
    title="Annotation noise",
    question="Do modularity and compactness hold, and does explicitness fall, as annotations are replaced by chance?",
    sweep="share of annotations that are random",
    severities=(0.0, 0.05, 0.1, 0.2, 0.3, 0.5),
    draw=_annotation_noise,
    wanted={
        "modularity": (Keeps(0.8, stop=0.1),),
        "compactness": (Keeps(0.8, stop=0.1),),
        "explicitness": (Falls(),),
    },
)

OUTLIERS = Scenario(
    name="outliers",
    title="Outliers",
    question="Does the score of a perfect code stay when a few rows lie far out?",
    sweep="share of rows whose codes are 50 times too large",
    severities=(0.0, 0.0001, 0.0005, 0.001, 0.005, 0.01),
    draw=_outliers,
    wanted={"any": (Holds(0.1, stop=0.001),)},
)

TIED = Scenario(
    name="tied",
    title="Tied codes",
    question="Do modularity and compactness hold when codes are cut off below, so that many rows tie?",
    sweep="share of rows at the lowest value of a code",
    severities=(0.0, 0.1, 0.3, 0.5, 0.7, 0.9),
    draw=_tied,
    wanted={"modularity": (Keeps(0.5, stop=0.7),), "compactness": (Keeps(0.5, stop=0.7),)},
)

HEAVY_TAILS = Scenario(
    name="heavy_tails",
    title="Heavy tails",
    question="Does the score of a perfect code stay when a monotone map gives the codes longer and longer tails?",
    sweep="tails: 1 / degrees of freedom of Student's t",
    severities=(0.0, 0.1, 0.2, 1 / 3, 0.5, 1.0),
    labels=("uniform", "t, 10 df", "t, 5 df", "t, 3 df", "t, 2 df", "t, 1 df"),
    draw=_heavy_tails,
    wanted={"any": (Holds(0.1),)},
)

DEFECT_SCENARIOS = (CORRELATED, ANNOTATION_NOISE, OUTLIERS, TIED, HEAVY_TAILS)
