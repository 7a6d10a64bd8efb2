"""Changes of one representation that say the same in another form."""

from collections.abc import Callable

import numpy as np

from demele.bench.scenario import Array, Representation, Scenario
from demele.bench.scenarios.source import M

__all__ = ["CHANGES", "INVARIANCES"]

#: Share of noise, and of a second factor, in every code: scores are neither 0 nor 1, so that they can move.
SHARE = 0.2
Change = Callable[[np.random.Generator, Array, Array], Representation]


def _as_it_is(rng: np.random.Generator, codes: Array, factors: Array) -> Representation:
    return Representation(codes=codes, factors=factors)


def _rows_permuted(rng: np.random.Generator, codes: Array, factors: Array) -> Representation:
    order = rng.permutation(len(codes))
    return Representation(codes=codes[order], factors=factors[order])


def _codes_permuted(rng: np.random.Generator, codes: Array, factors: Array) -> Representation:
    # the code of factor i is now where i stands in the order
    order = rng.permutation(M)
    places = tuple(int(place) for place in np.argsort(order))
    return Representation(codes=codes[:, order], factors=factors, reg_dim=places)


def _factors_permuted(rng: np.random.Generator, codes: Array, factors: Array) -> Representation:
    order = rng.permutation(M)
    meant = tuple(int(code) for code in order)
    return Representation(codes=codes, factors=factors[:, order], reg_dim=meant)


def _codes_times_1000(rng: np.random.Generator, codes: Array, factors: Array) -> Representation:
    return Representation(codes=1000 * codes, factors=factors)


def _codes_shifted(rng: np.random.Generator, codes: Array, factors: Array) -> Representation:
    return Representation(codes=codes + 10, factors=factors)


def _codes_mirrored(rng: np.random.Generator, codes: Array, factors: Array) -> Representation:
    return Representation(codes=codes * np.where(np.arange(M) % 2, -1.0, 1.0), factors=factors)


def _factors_in_another_unit(rng: np.random.Generator, codes: Array, factors: Array) -> Representation:
    return Representation(codes=codes, factors=2 * factors + 3)


def _codes_cubed(rng: np.random.Generator, codes: Array, factors: Array) -> Representation:
    return Representation(codes=(codes - 0.5) ** 3, factors=factors)


def _rows_doubled(rng: np.random.Generator, codes: Array, factors: Array) -> Representation:
    return Representation(codes=np.repeat(codes, 2, axis=0), factors=np.repeat(factors, 2, axis=0))


#: What is done to the representation, in the order of the severities.
CHANGES: dict[str, Change] = {
    "as it is": _as_it_is,
    "rows permuted": _rows_permuted,
    "codes permuted": _codes_permuted,
    "factors permuted": _factors_permuted,
    "codes times 1000": _codes_times_1000,
    "codes shifted": _codes_shifted,
    "codes mirrored": _codes_mirrored,
    "every factor in another unit": _factors_in_another_unit,
    "codes cubed about their centre": _codes_cubed,
    "rows doubled": _rows_doubled,
}


def _invariances(rng: np.random.Generator, severity: float, n: int) -> Representation:
    # the data come from the stream first, permutations after them: every change starts from the same bits
    factors = rng.random((n, M))
    mixed = (1 - SHARE) * factors + SHARE * np.roll(factors, 1, axis=1)
    codes = (1 - SHARE) * mixed + SHARE * rng.random((n, M))
    return list(CHANGES.values())[int(severity)](rng, codes, factors)


#: No expectation here: what a score does under each change is listed on the metric's own card, not judged.
INVARIANCES = Scenario(
    name="invariances",
    title="Invariances",
    question="Which changes that leave the content of a representation as it is leave the score as it is?",
    sweep="change",
    severities=tuple(float(place) for place in range(len(CHANGES))),
    labels=tuple(CHANGES),
    draw=_invariances,
    paired=True,
)
