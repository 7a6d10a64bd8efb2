"""Verdicts in words on representations whose truth is known: how often they are right, wrong and undecided.

``python -m benchmarks.verdicts --jobs 2`` writes results/verdicts.csv.
A draw is right if every statement is: the status of each factor with the codes that hold it, and of each code with its
factors. It is wrong if any is, and else undecided.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Table, main
from demele.core.errors import DemeleWarning
from demele.core.inputs import read_pair
from demele.core.verdict import RepresentationVerdict
from demele.metrics.data import Data
from demele.metrics.source import Subject
from demele.metrics.verdict import verdict_of

Array = NDArray[Any]
SIZES = (50, 200, 500, 2000, 5000)


@dataclass(frozen=True)
class World:
    """Codes and factors with their truth, by names: z1, z2, ... and v1, v2, ...

    ``factors``: status, ways of sharing that are right (none: any), codes. ``codes``: status and factors.
    """

    codes: Array
    factors: Array
    truth: Mapping[str, tuple[str, tuple[str, ...], str]]
    of_codes: Mapping[str, tuple[str, str]]
    kinds: Any = field(default=None)


def one_to_one(codes: Array, factors: Array, kinds: Any = None, noise: int = 0) -> World:
    """Code j holds factor j; further codes are of noise."""
    m = factors.shape[1]
    held = {f"v{i}": ("one code", (), f"z{i}") for i in range(1, m + 1)}
    of_codes = {f"z{i}": ("one factor", f"v{i}") for i in range(1, m + 1)}
    of_codes |= {f"z{m + j}": ("noise", "") for j in range(1, noise + 1)}
    return World(codes, factors, held, of_codes, kinds)


def identity(rng: np.random.Generator, n: int) -> World:
    """The factors themselves, uniform and Gaussian."""
    factors = np.column_stack([rng.random((n, 2)), rng.normal(size=(n, 2))])
    return one_to_one(2 * factors - 1, factors)


def permuted(rng: np.random.Generator, n: int) -> World:
    """The factors in another order."""
    factors = rng.random((n, 4))
    order = rng.permutation(4)
    held = {f"v{i + 1}": ("one code", (), f"z{place + 1}") for place, i in enumerate(order)}
    return World(
        factors[:, order],
        factors,
        held,
        {f"z{place + 1}": ("one factor", f"v{i + 1}") for place, i in enumerate(order)},
    )


def copied(rng: np.random.Generator, n: int) -> World:
    """The first factor twice, once bent."""
    factors = rng.random((n, 3))
    held = {"v1": ("several codes", ("copies",), "z1 z4"), "v2": ("one code", (), "z2"), "v3": ("one code", (), "z3")}
    of_codes = {"z1": ("one factor", "v1"), "z2": ("one factor", "v2"), "z3": ("one factor", "v3")}
    codes = np.column_stack([factors, -(factors[:, 0] ** 3)])
    return World(codes, factors, held, {**of_codes, "z4": ("one factor", "v1")})


def mixed(rng: np.random.Generator, n: int) -> World:
    """Two factors in one code."""
    factors = rng.random((n, 3))
    codes = np.column_stack([factors[:, 0] + factors[:, 1], factors[:, 2]])
    held = {"v1": ("mixed code", (), "z1"), "v2": ("mixed code", (), "z1"), "v3": ("one code", (), "z2")}
    return World(codes, factors, held, {"z1": ("mixed", "v1 v2"), "z2": ("one factor", "v3")})


def rotated(rng: np.random.Generator, n: int) -> World:
    """Pairs of factors rotated by 45 degrees."""
    factors = np.column_stack([rng.random((n, 2)), rng.normal(size=(n, 2))])
    codes = np.column_stack([part for i in (0, 2) for part in (factors[:, i] + factors[:, i + 1],)])
    others = np.column_stack([part for i in (0, 2) for part in (factors[:, i] - factors[:, i + 1],)])
    held = {"v1": "z1 z3", "v2": "z1 z3", "v3": "z2 z4", "v4": "z2 z4"}
    truth = {name: ("several codes", ("mixture",), by) for name, by in held.items()}
    of_codes = {"z1": ("mixed", "v1 v2"), "z2": ("mixed", "v3 v4"), "z3": ("mixed", "v1 v2"), "z4": ("mixed", "v3 v4")}
    return World(np.column_stack([codes, others]), factors, truth, of_codes)


def lost(rng: np.random.Generator, n: int) -> World:
    """Two of three factors."""
    factors = rng.random((n, 3))
    found = one_to_one(factors[:, :2], factors[:, :2])
    return World(factors[:, :2], factors, {**found.truth, "v3": ("no code", (), "")}, found.of_codes)


def dead(rng: np.random.Generator, n: int) -> World:
    """A code that does not vary."""
    factors = rng.random((n, 2))
    found = one_to_one(factors, factors)
    codes = np.column_stack([factors, np.full(n, 0.3)])
    return World(codes, factors, found.truth, {**found.of_codes, "z3": ("dead", "")})


def noise(rng: np.random.Generator, n: int) -> World:
    """Two codes of noise, Gaussian and uniform."""
    factors = rng.random((n, 3))
    codes = np.column_stack([factors, rng.normal(size=n), rng.random(n)])
    return one_to_one(codes, factors, noise=2)


def bent(rng: np.random.Generator, n: int) -> World:
    """One-to-one and not linear: an exponential, a fifth power, a hyperbola, and a cut that swaps the halves."""
    factors = rng.random((n, 4))
    v = factors.T
    return one_to_one(
        np.column_stack([np.exp(5 * v[0]), (v[1] - 0.5) ** 5, 1 / (v[2] + 0.01), (v[3] + 0.5) % 1]), factors
    )


# Weak corners ---------------------------------------------------------------------------------------------------------


def two_levels(rng: np.random.Generator, n: int) -> World:
    """Factors of two classes, in codes of two values, and with noise within the classes."""
    factors = rng.integers(0, 2, (n, 3))
    codes = factors + np.column_stack([np.zeros(n), rng.normal(0, 0.1, (n, 2))])
    return one_to_one(codes, factors, "categorical")


def forty_levels(rng: np.random.Generator, n: int) -> World:
    """Factors of forty classes beside one of two and a quantity."""
    factors = np.column_stack([rng.integers(0, 40, (n, 2)), rng.integers(0, 2, n), rng.random(n)])
    return one_to_one(factors, factors, ["categorical"] * 3 + ["continuous"])


def unequal(rng: np.random.Generator, n: int) -> World:
    """Classes of very unequal sizes: 90 % in one of two, and shares halved from class to class of six."""
    share = 0.5 ** np.arange(6)
    factors = np.column_stack([rng.random(n) < 0.1, rng.choice(6, n, p=share / share.sum()), rng.integers(0, 3, n)])
    return one_to_one(factors + rng.normal(0, 0.05, factors.shape), factors.astype(int), "categorical")


def noise_64(rng: np.random.Generator, n: int) -> World:
    """Sixty-four codes of noise beside three that hold a factor."""
    factors = rng.random((n, 3))
    return one_to_one(np.column_stack([factors, rng.normal(size=(n, 64))]), factors, noise=64)


def _correlated(rng: np.random.Generator, n: int, rho: float) -> Array:
    a, b, c = rng.normal(size=(3, n))
    return np.column_stack([a, rho * a + np.sqrt(1 - rho**2) * b, c])


def correlated(rng: np.random.Generator, n: int) -> World:
    """Two factors with a correlation of 0.8, each in a code of its own."""
    factors = _correlated(rng, n, 0.8)
    return one_to_one(factors, factors)


def correlated_bent(rng: np.random.Generator, n: int) -> World:
    """The same with noise in the codes, which are bent."""
    factors = _correlated(rng, n, 0.8)
    return one_to_one(np.exp(factors + rng.normal(0, 0.2, factors.shape)), factors)


def correlated_lost(rng: np.random.Generator, n: int) -> World:
    """Of two factors with a correlation of 0.6 one is lost, though the code of the other tells of it."""
    factors = _correlated(rng, n, 0.6)
    held = {"v1": ("one code", (), "z1"), "v2": ("no code", (), "*"), "v3": ("one code", (), "z2")}
    return World(factors[:, [0, 2]], factors, held, {"z1": ("one factor", "v1"), "z2": ("one factor", "v3")})


def correlated_mixed(rng: np.random.Generator, n: int) -> World:
    """Two factors with a correlation of 0.5, truly mixed in a code."""
    factors = _correlated(rng, n, 0.5)
    held = {"v1": ("mixed code", (), "z1"), "v2": ("mixed code", (), "z1"), "v3": ("one code", (), "z2")}
    codes = np.column_stack([factors[:, 0] + factors[:, 1], factors[:, 2]])
    return World(codes, factors, held, {"z1": ("mixed", "v1 v2"), "z2": ("one factor", "v3")})


def against(rng: np.random.Generator, n: int) -> World:
    """Two factors with a correlation of -0.5, added in a code: it tells about 5 % of each."""
    factors = _correlated(rng, n, -0.5)
    held = {"v1": ("weak", (), "z1"), "v2": ("weak", (), "z1"), "v3": ("one code", (), "z2")}
    codes = np.column_stack([factors[:, 0] + factors[:, 1], factors[:, 2]])
    return World(codes, factors, held, {"z1": ("weak", ""), "z2": ("one factor", "v3")})


def nested(rng: np.random.Generator, n: int) -> World:
    """A factor of eight classes and the family of each class, in a code each."""
    fine = rng.integers(0, 8, n)
    factors = np.column_stack([fine, fine // 4, rng.integers(0, 4, n)])
    return one_to_one(factors + rng.normal(0, 0.05, factors.shape), factors, "categorical")


def heavy_tails(rng: np.random.Generator, n: int) -> World:
    """Codes with the tails of a Cauchy distribution, and a lognormal factor."""
    factors = np.column_stack([rng.random((n, 2)), rng.lognormal(sigma=2, size=n)])
    codes = np.column_stack([np.tan(np.pi * (factors[:, :2] - 0.5)), factors[:, 2], rng.standard_cauchy(n)])
    return one_to_one(codes, factors, noise=1)


def noisy(rng: np.random.Generator, n: int) -> World:
    """Codes with as much noise as half a standard deviation of their factor."""
    factors = rng.normal(size=(n, 4))
    return one_to_one(factors + rng.normal(0, 0.5, factors.shape), factors)


def spread(rng: np.random.Generator, n: int) -> World:
    """Six factors rotated at random: every code is a mixture."""
    factors = rng.normal(size=(n, 6))
    turn = np.linalg.qr(np.ones((6, 6)) / 3 - np.eye(6))[0]  # every axis is far from every factor
    turn = np.kron(np.array([[1, 1], [1, -1]]) / np.sqrt(2), turn[:3, :3] / np.linalg.norm(turn[:3, :3], axis=0))
    truth = {f"v{i}": ("several codes", ("spread", "mixture"), "*") for i in range(1, 7)}
    return World(factors @ turn, factors, truth, {})


WORLDS: dict[str, Callable[[np.random.Generator, int], World]] = {
    maker.__name__: maker
    for maker in (
        *(identity, permuted, copied, mixed, rotated, lost, dead, noise, bent),
        *(two_levels, forty_levels, unequal, noise_64, heavy_tails, noisy, nested),
        *(correlated, correlated_bent, correlated_lost, correlated_mixed, against, spread),
    )
}


def judged(world: World) -> tuple[RepresentationVerdict, list[str], list[str]]:
    """Return the verdict, what of it is wrong, and what is undecided though the truth is not."""
    with warnings.catch_warnings(action="ignore", category=DemeleWarning):
        subject = Subject.of(*read_pair(world.codes, world.factors, kinds=world.kinds))
    found = verdict_of(Data(subject.codes, subject.varying), subject.factors.names)
    wrong, undecided = [], []
    for row in found.factors:
        status, ways, codes = world.truth[row.factor]
        if row.status in ("inconclusive", "constant"):  # of few rows all may have one class
            undecided.append(row.words)
        elif (
            row.status != status
            or (ways and row.sharing not in ways)
            or (codes != "*" and sorted(row.codes) != codes.split())
        ):
            wrong.append(row.words)
    for code in found.codes:
        status, factors = world.of_codes.get(code.code, ("*", ""))
        if code.status == "inconclusive":
            undecided.append(code.words)
        elif status != "*" and (code.status != status or sorted(code.factors) != factors.split()):
            wrong.append(code.words)
    return found, wrong, undecided


def counted(cell: tuple[str, int], draws: int) -> dict[str, object]:
    """Return how often the verdict on one kind of representation is right."""
    name, n = cell
    counts, example = {"right": 0, "wrong": 0, "undecided": 0}, ""
    for seed in range(draws):
        _, wrong, undecided = judged(WORLDS[name](np.random.default_rng([seed, n]), n))
        counts["wrong" if wrong else "undecided" if undecided else "right"] += 1
        example = example or next(iter(wrong), "")
    return {"kind": name, "n": n, "draws": draws, **counts, "a wrong sentence": example}


CELLS = [(name, n) for name in WORLDS for n in SIZES]

if __name__ == "__main__":
    main({"verdicts": Table(cells=CELLS, measured=counted, repeats=200)})
