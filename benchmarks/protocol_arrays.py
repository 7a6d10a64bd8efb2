"""Arrays on which the published code of disentanglement_lib and of Latte was run beside ours, by name.

Every array comes from a seed of its own, so that the values in ``results/protocols_published.csv`` can be made again by
whoever has that code. Factors are classes, or numbers (``continuous``); they are few enough for every combination to
occur, because the published samplers fix a factor and ask for any combination of the others.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
N = 15_000
LEVELS = (3, 4, 5, 6)
#: What the study's settings cut columns into.
BINS = 20


@dataclass(frozen=True, slots=True)
class ProtocolArray:
    """Codes and factors, row by row."""

    name: str
    what: str
    continuous: bool
    draw: Callable[[np.random.Generator], tuple[Array, Array]]

    def drawn(self) -> tuple[Array, Array]:
        """Return codes (n_samples, n_codes) and factors (n_samples, n_factors); classes are 0, 1, ..."""
        rng = np.random.default_rng([2019, *self.name.encode()])
        codes, factors = self.draw(rng)
        return codes, factors


def _factors(rng: np.random.Generator, n: int = N, levels: tuple[int, ...] = LEVELS) -> Array:
    return np.column_stack([rng.integers(0, size, n) for size in levels]).astype(float)


def _unit(factors: Array) -> Array:
    """Factors with mean 0 and deviation 1."""
    scaled: Array = (factors - factors.mean(axis=0)) / factors.std(axis=0)
    return scaled


def _noise(rng: np.random.Generator, n: int, d: int, size: float = 1.0) -> Array:
    return size * rng.standard_normal((n, d))


def _noisy(rng: np.random.Generator, factors: Array, size: float = 0.5, spare: int = 2) -> Array:
    """One code per factor with noise, and codes of noise alone."""
    n, m = factors.shape
    return np.hstack([_unit(factors) + _noise(rng, n, m, size), _noise(rng, n, spare)])


def _mixed(rng: np.random.Generator, factors: Array) -> Array:
    m = factors.shape[1]
    mixing = 0.7 * np.eye(m) + 0.3 * np.roll(np.eye(m), 1, axis=1) + 0.15 * np.roll(np.eye(m), 2, axis=1)
    return _unit(factors) @ mixing + _noise(rng, len(factors), m, 0.4)


def _plain(rng: np.random.Generator) -> tuple[Array, Array]:
    factors = _factors(rng)
    return _noisy(rng, factors), factors


def _mixing(rng: np.random.Generator) -> tuple[Array, Array]:
    factors = _factors(rng)
    return _mixed(rng, factors), factors


def _noise_alone(rng: np.random.Generator) -> tuple[Array, Array]:
    factors = _factors(rng)
    return _noise(rng, len(factors), 6), factors


def _dead(rng: np.random.Generator) -> tuple[Array, Array]:
    factors = _factors(rng)
    return np.hstack([_noisy(rng, factors, spare=1), np.full((len(factors), 1), 0.7)]), factors


def _small(rng: np.random.Generator) -> tuple[Array, Array]:
    codes, factors = _plain(rng)
    return 0.03 * codes, factors


def _units(rng: np.random.Generator) -> tuple[Array, Array]:
    codes, factors = _mixing(rng)
    codes = np.hstack([codes, _noise(rng, len(codes), 2)])
    return codes * np.array([1.0, 0.2, 5.0, 1.0, 20.0, 0.5]) + np.array([0.0, 1.0, -3.0, 2.0, 0.0, 0.0]), factors


def _near_dead(rng: np.random.Generator) -> tuple[Array, Array]:
    factors = _factors(rng)
    copies = 0.003 * (_unit(factors) + _noise(rng, len(factors), 4, 0.1))
    return np.hstack([copies, _noise(rng, len(factors), 2)]), factors


def _copies(rng: np.random.Generator) -> tuple[Array, Array]:
    factors = _factors(rng)
    codes = _unit(factors) + _noise(rng, len(factors), 4, 0.3)
    return np.hstack([codes, -2.0 * codes + _noise(rng, len(factors), 4, 0.3)]), factors


def _correlated(rng: np.random.Generator) -> tuple[Array, Array]:
    factors = _factors(rng)
    follows = rng.random(len(factors)) < 0.5
    factors[follows, 1] = factors[follows, 0]
    return _noisy(rng, factors), factors


def _skewed(rng: np.random.Generator) -> tuple[Array, Array]:
    rare = rng.choice(3, N, p=[0.9, 0.05, 0.05]).astype(float)
    factors = np.column_stack([rng.integers(0, 2, N).astype(float), rare, rng.integers(0, 4, N).astype(float)])
    return _noisy(rng, factors), factors


def _few_rows(rng: np.random.Generator) -> tuple[Array, Array]:
    factors = _factors(rng, 2_000, (2, 3, 4))
    return np.hstack([_mixed(rng, factors), _noise(rng, len(factors), 2)]), factors


def _faint(rng: np.random.Generator) -> tuple[Array, Array]:
    factors = _factors(rng)
    return _noisy(rng, factors, size=5.0, spare=1) * np.array([1.0, 0.1, 3.0, 0.02, 1.0]), factors


def _numbers(rng: np.random.Generator) -> tuple[Array, Array]:
    factors = rng.random((N, 2))
    bent = np.column_stack([factors[:, 0] ** 2 + 0.2 * factors[:, 1], np.sqrt(factors[:, 1])])
    return np.hstack([3.0 * bent, np.zeros((N, 2))]) + _noise(rng, N, 4, 0.1), factors


def _numbers_copies(rng: np.random.Generator) -> tuple[Array, Array]:
    factors = np.column_stack([rng.random(N), rng.standard_normal(N).clip(-2, 2)])
    codes = _unit(factors) + _noise(rng, N, 2, 0.3)
    return np.hstack([codes, 0.02 * codes, np.full((N, 1), 0.5), _noise(rng, N, 1, 10.0)]), factors


ARRAYS: Mapping[str, ProtocolArray] = MappingProxyType(
    {
        name: ProtocolArray(name, what, continuous, draw)
        for name, what, continuous, draw in (
            ("plain", "a code per factor with noise, two of noise alone", False, _plain),
            ("mixed", "every code mixes three factors", False, _mixing),
            ("noise", "six codes of noise", False, _noise_alone),
            ("dead-code", "a code per factor, one of noise, one constant", False, _dead),
            ("small-unit", "as the first, in a unit of 0.03", False, _small),
            ("units", "mixed codes and noise in units from 0.2 to 20, off centre", False, _units),
            (
                "near-dead",
                "codes of the factors with deviation 0.003, noise with deviation 1",
                False,
                _near_dead,
            ),
            ("copies", "two codes per factor", False, _copies),
            ("correlated", "a factor that follows another in half of the rows", False, _correlated),
            ("skewed", "binary, 90/5/5% and four even classes", False, _skewed),
            ("faint", "a code per factor under five times as much noise, in four units", False, _faint),
            ("few-rows", "mixed codes and noise, 2 000 rows", False, _few_rows),
            ("numbers", "continuous factors, bent and mixed", True, _numbers),
            (
                "numbers-copies",
                "continuous factors, small copies, a constant code, loud noise",
                True,
                _numbers_copies,
            ),
        )
    }
)


def cut_classes(factors: Array, bins: int = BINS) -> Array:
    """Continuous factors as classes, in equal-width bins."""
    low, high = factors.min(axis=0), factors.max(axis=0)
    classes: Array = np.minimum(np.floor((factors - low) / (high - low) * bins), bins - 1)
    return classes


def latte_rows(array: ProtocolArray, n: int = 3_000) -> tuple[Array, Array]:
    """Return the first rows, which are enough for nearest neighbours."""
    codes, factors = array.drawn()
    return codes[:n], factors[:n]
