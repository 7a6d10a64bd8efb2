"""Scenarios of defects: of columns of codes and factors, and of rows."""

import numpy as np

from demele.bench.scenario import Array, AtLeast, Falls, Holds, Keeps, Representation, Scenario
from demele.bench.scenarios.source import M

#: Factors of the scenario with copies: four copies of eight would be many codes.
M_COPIED = 4
#: The value of columns that do not vary.
FLAT = 0.5


def _inactive(rng: np.random.Generator, severity: float, n: int) -> Representation:
    factors = rng.random((n, M))
    dead = np.full((n, int(severity)), FLAT)
    return Representation(codes=np.hstack([factors, dead]), factors=factors)


def _duplicated(rng: np.random.Generator, severity: float, n: int) -> Representation:
    copies = int(severity)
    factors = rng.random((n, M_COPIED))
    first = tuple(range(0, M_COPIED * copies, copies))
    return Representation(codes=np.repeat(factors, copies, axis=1), factors=factors, reg_dim=first)


def _constant_factor(rng: np.random.Generator, severity: float, n: int) -> tuple[Array, Array]:
    factors = rng.random((n, M))
    factors[:, M - int(severity) :] = FLAT
    return factors, factors


def _categorical(rng: np.random.Generator, severity: float, n: int) -> Representation:
    # every class fills an interval of the code of its own; the order of the intervals is not that of the classes
    n_classes = int(severity)
    classes = rng.integers(0, n_classes, (n, M))
    order = rng.permuted(np.tile(np.arange(n_classes), (M, 1)), axis=1)
    place = order[np.arange(M), classes]
    return Representation(codes=(place + rng.random((n, M))) / n_classes, factors=classes, kinds="categorical")


INACTIVE = Scenario(
    name="inactive",
    title="Inactive codes",
    question="Does the score of a perfect code stay when constant codes are added?",
    sweep="constant codes added to the 8",
    severities=(0.0, 1.0, 2.0, 4.0, 8.0),
    draw=_inactive,
    wanted={"any": (Holds(0.05),)},
)

#: Compactness is asked to fall in all, not at every step: a gap between the two best codes is 0 with the first copy.
DUPLICATED = Scenario(
    name="duplicated",
    title="Duplicated codes",
    question="Does compactness fall, and do modularity and explicitness hold, as every code is copied?",
    sweep="copies of each code",
    severities=(1.0, 2.0, 3.0, 4.0),
    draw=_duplicated,
    wanted={
        "modularity": (Holds(0.05),),
        "compactness": (Falls(0.2, every_step=False),),
        "explicitness": (Holds(0.05),),
    },
)

CONSTANT_FACTOR = Scenario(
    name="constant_factor",
    title="Constant factors",
    question="Does the score of a perfect code stay when some factors, and their codes, never vary?",
    sweep="factors that do not vary, of 8",
    severities=(0.0, 1.0, 2.0, 4.0),
    draw=_constant_factor,
    wanted={"any": (Holds(0.05),)},
)

CATEGORICAL = Scenario(
    name="categorical",
    title="Classes",
    question="Is a code perfect whose intervals are the classes of a factor, in no particular order?",
    sweep="classes of each factor",
    severities=(2.0, 3.0, 5.0, 10.0, 20.0),
    draw=_categorical,
    wanted={"any": (AtLeast(0.9),)},
)

COLUMN_SCENARIOS = (INACTIVE, DUPLICATED, CONSTANT_FACTOR, CATEGORICAL)


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
