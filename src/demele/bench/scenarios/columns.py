"""Representations with other columns than one code for each continuous factor: dead, copied, constant, classes."""

import numpy as np

from demele.bench.expectations import AtLeast, Falls, Holds
from demele.bench.scenario import Array, Representation, Scenario
from demele.bench.scenarios.source import M

__all__ = ["CATEGORICAL", "COLUMN_SCENARIOS", "CONSTANT_FACTOR", "DUPLICATED", "INACTIVE"]

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
