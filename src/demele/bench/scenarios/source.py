"""The five scenarios of the review of disentanglement metrics (Boilard; Carbonneau, Zaidi, Boilard & Gagnon 2022)."""

import numpy as np

from demele.bench.scenario import Array, AtLeast, AtMost, Falls, Holds, Keeps, NotAbove, Representation, Scenario

__all__ = ["MIXING", "NOISE", "NON_LINEAR", "PARTIAL", "REDUNDANT", "SOURCE_SCENARIOS", "noisy", "tangent"]

#: Factors, and codes, of all but one of the scenarios.
M = 8
TENTHS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_SOURCE = "Carbonneau, Zaidi, Boilard & Gagnon 2022; Boilard's review, section"


def noisy(rng: np.random.Generator, severity: float, n: int) -> tuple[Array, Array]:
    """Return codes that are each a share of their factor and, by ``severity``, of noise; eq. 3.1 of the review."""
    factors = rng.random((n, M))
    return (1 - severity) * factors + severity * rng.random((n, M)), factors


def _mixing(rng: np.random.Generator, severity: float, n: int) -> tuple[Array, Array]:
    # v R with 1 - a on the diagonal of R and a on the next column, cyclic: code j holds factor j and a share of j - 1
    factors = rng.random((n, M))
    return (1 - severity) * factors + severity * np.roll(factors, 1, axis=1), factors


def tangent(factors: Array, severity: float) -> Array:
    """Return the review's one-to-one map of [0, 1] onto itself, eq. 3.3: nearly linear at 0, steep at the ends at 1."""
    width = 2 * np.arctan(1000 ** (severity - 0.25) / 2)
    mapped: Array = 1000 ** (0.25 - severity) * np.tan(width * (factors - 0.5)) + 0.5
    return mapped


def _non_linear(rng: np.random.Generator, severity: float, n: int) -> tuple[Array, Array]:
    factors = rng.random((n, M))
    return tangent(factors, severity), factors


def _redundant(rng: np.random.Generator, severity: float, n: int) -> Representation:
    if severity == 1:
        angles = rng.uniform(0, 2 * np.pi, (n, 4))
        codes = np.stack([np.cos(angles), np.sin(angles)], axis=2).reshape(n, M)
        return Representation(codes=codes, factors=angles, kinds="continuous", reg_dim=tuple(range(0, M, 2)))
    n_factors, copies = {2: (4, 2), 3: (2, 4), 4: (4, 4)}[int(severity)]
    factors = rng.random((n, n_factors))
    first = tuple(range(0, n_factors * copies, copies))
    return Representation(codes=np.repeat(factors, copies, axis=1), factors=factors, reg_dim=first)


def _partial(rng: np.random.Generator, severity: float, n: int) -> tuple[Array, Array]:
    factors = rng.random((n, M))
    return factors, factors[:, : int(severity)]


NOISE = Scenario(
    name="noise",
    title="Noise",
    question="Does explicitness fall as codes turn into noise, and do modularity and compactness hold meanwhile?",
    sweep="share of noise in every code",
    severities=TENTHS,
    draw=noisy,
    wanted={
        "modularity": (Keeps(0.5, stop=0.6),),
        "compactness": (Keeps(0.5, stop=0.6),),
        "explicitness": (Falls(),),
        "any": (AtLeast(0.95, at=0.0), AtMost(0.05, at=1.0)),
    },
    source=f"{_SOURCE} 3.3.1",
    kind="source",
)

MIXING = Scenario(
    name="mixing",
    title="Mixing",
    question="Do modularity and compactness fall as every code takes in a second factor?",
    sweep="share of a second factor in every code",
    severities=TENTHS[:6],
    draw=_mixing,
    wanted={"modularity": (Falls(0.2),), "compactness": (Falls(0.2),)},
    source=f"{_SOURCE} 3.3.2",
    kind="source",
)

NON_LINEAR = Scenario(
    name="non_linear",
    title="Non-linear",
    question="Does a one-to-one but curved relation of code and factor leave the score alone?",
    sweep="curvature of the relation",
    severities=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
    draw=_non_linear,
    wanted={"any": (Holds(),)},
    source=f"{_SOURCE} 3.3.3",
    kind="source",
)

REDUNDANT = Scenario(
    name="redundant",
    title="Redundant",
    question="Is a factor that sits in several codes modular and explicit, and less compact?",
    sweep="codes of each factor",
    severities=(1.0, 2.0, 3.0, 4.0),
    labels=("(1) [cos v, sin v]", "(2) [v, v]", "(3) [v, v, v, v], 2 factors", "[v, v, v, v], 4 factors"),
    draw=_redundant,
    wanted={
        "modularity": (NotAbove(at=2.0, than=1.0, margin=0.05), AtLeast(0.1, at=1.0)),
        "compactness": (AtMost(0.9, at=2.0), AtMost(0.9, at=3.0), NotAbove(at=3.0, than=2.0, margin=0.05)),
        "explicitness": (NotAbove(at=2.0, than=1.0, margin=0.05), AtLeast(0.1, at=1.0)),
    },
    source=f"{_SOURCE} 3.3.4; the printed row (3) was made with 2 factors",
    kind="source",
)

PARTIAL = Scenario(
    name="partial",
    title="Partial",
    question="Does the score of a perfect code stay when some of its factors are not measured?",
    sweep="factors measured, of 8",
    severities=(8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0),
    draw=_partial,
    wanted={"any": (Holds(),)},
    source=f"{_SOURCE} 3.3.5",
    kind="source",
)

SOURCE_SCENARIOS = (NOISE, MIXING, NON_LINEAR, REDUNDANT, PARTIAL)
