"""Scores of codes that were turned: how much of them alignment finds again, and that it finds nothing in noise.

``python -m benchmarks.rotations`` (two minutes on one core); writes results/rotations.csv. A row: one kind of codes, of
so many rows, over so many draws, with MIG unless another metric is named. ``as made``: the codes before they were
turned, on as many rows; ``raw`` and ``aligned`` as :class:`demele.Alignment` has them. Seeds: what a row is called, and
the number of the draw.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtr
from scipy.stats import special_ortho_group

import demele
from benchmarks.cases import Array
from benchmarks.loop import Table, main
from demele.core.arrays import rng_for

HISTOGRAMS = ("mig", "mig_sup", "dcimig", "jemmig")


@dataclass(frozen=True)
class Case:
    """Codes as made and factors by a generator and a number of rows, and how they are turned and scored."""

    name: str
    make: Callable[..., tuple[Array, Array]]
    rows: int
    draws: int = 5
    metric: str = "mig"
    turned: bool = True
    whiten: bool = False

    def made(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw codes and factors."""
        return self.make(rng, self.rows)


def uniform(
    rng: np.random.Generator, n: int, d: int, m: int, noise: float = 0.0, spread: float = 1.0
) -> tuple[Array, Array]:
    """Uniform factors, one code each with a share of noise, codes that hold nothing; deviations from 1 to spread."""
    factors = rng.random((n, m))
    codes = (1 - noise) * factors + noise * rng.random((n, m))
    return np.column_stack([codes * np.geomspace(1.0, spread, m), rng.random((n, d - m))]), factors


def classes(rng: np.random.Generator, n: int, d: int, m: int, noise: float = 0.0) -> tuple[Array, Array]:
    """Factors of five values, and codes with noise around them."""
    factors = rng.integers(0, 5, (n, m)).astype(float)
    codes = factors / 4 + noise * rng.normal(size=(n, m))
    return np.column_stack([codes, rng.normal(size=(n, d - m)) * 0.35]), factors


def dependent(rng: np.random.Generator, n: int, d: int, m: int, noise: float = 0.0) -> tuple[Array, Array]:
    """Uniform factors whose normal scores have correlations of one half."""
    factors = ndtr(np.sqrt(0.5) * rng.normal(size=(n, 1)) + np.sqrt(0.5) * rng.normal(size=(n, m)))
    codes = (1 - noise) * factors + noise * rng.random((n, m))
    return np.column_stack([codes, rng.random((n, d - m))]), factors


def gaussian(
    rng: np.random.Generator, n: int, d: int, m: int, noise: float = 0.0, power: int = 1
) -> tuple[Array, Array]:
    """Gaussian factors, to a power with their sign."""
    factors = rng.normal(size=(n, m))
    codes = np.sign(factors) * np.abs(factors) ** power + noise * rng.normal(size=(n, m))
    return np.column_stack([codes, rng.normal(size=(n, d - m))]), factors


def copies(rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
    """Every factor twice, with a little noise."""
    factors = rng.random((n, m))
    return np.column_stack([factors, factors]) + 0.02 * rng.normal(size=(n, 2 * m)), factors


def twisted(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Pairs of factors as a spiral: the angle grows with the distance, and no rotation of all takes that back."""
    factors = rng.random((n, 4))
    codes = 2 * factors - 1
    for first in (0, 2):
        a, b = codes[:, first].copy(), codes[:, first + 1].copy()
        turn = 2 * np.pi * np.hypot(a, b)
        codes[:, first], codes[:, first + 1] = np.cos(turn) * a - np.sin(turn) * b, np.sin(turn) * a + np.cos(turn) * b
    return codes, factors


def oblique(rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
    """Uniform factors in a mixture that is no rotation, with codes of different scales."""
    factors = rng.random((n, m))
    return factors @ (np.eye(m) + 0.5 * rng.normal(size=(m, m))) * np.geomspace(1, 10, m), factors


def noise(rng: np.random.Generator, n: int, d: int, m: int) -> tuple[Array, Array]:
    """Codes that hold nothing."""
    return rng.normal(size=(n, d)), rng.random((n, m))


CASES = (
    Case("uniform, 12 codes, 6 factors", partial(uniform, d=12, m=6), 5000),
    Case("uniform, 30 % noise, 7 codes, 5 factors", partial(uniform, d=7, m=5, noise=0.3), 3000),
    Case("uniform, 20 codes, 8 factors", partial(uniform, d=20, m=8), 3000),
    Case("five values, 9 codes, 7 factors", partial(classes, d=9, m=7, noise=0.03), 3000),
    Case("five values with noise, 6 codes, 5 factors", partial(classes, d=6, m=5, noise=0.12), 3000),
    Case("dependent factors, 8 codes, 5 factors", partial(dependent, d=8, m=5), 3000),
    Case("dependent factors, 30 % noise", partial(dependent, d=8, m=5, noise=0.3), 3000),
    Case("Gaussian, 8 codes, 5 factors", partial(gaussian, d=8, m=5), 5000),
    Case("Gaussian with noise", partial(gaussian, d=8, m=5, noise=0.4), 5000),
    Case("squared with sign", partial(gaussian, d=8, m=5, power=2), 5000),
    Case("standard deviations 1 : 10", partial(uniform, d=8, m=5, spread=10), 5000),
    Case("standard deviations 1 : 1000", partial(uniform, d=8, m=5, spread=1000), 5000),
    Case("every factor twice", partial(copies, m=4), 3000),
    Case("twisted pairs", twisted, 4000, turned=False),
    Case("oblique, scales 1 : 10", partial(oblique, m=4), 4000, turned=False),
    Case("oblique, scales 1 : 10, whitened", partial(oblique, m=4), 4000, turned=False, whiten=True),
    Case("on the axes, 30 % noise", partial(uniform, d=7, m=5, noise=0.3), 1000, draws=40, turned=False),
    Case("noise, 500 rows", partial(noise, d=10, m=5), 500, draws=100),
    Case("noise, 1000 rows", partial(noise, d=10, m=5), 1000, draws=100),
    Case("noise, 2000 rows", partial(noise, d=10, m=5), 2000, draws=40),
    Case("sap: uniform, 30 % noise", partial(uniform, d=7, m=5, noise=0.3), 3000, draws=3, metric="sap"),
    Case("irs: uniform, 30 % noise", partial(uniform, d=7, m=5, noise=0.3), 3000, draws=3, metric="irs"),
)

#: What is timed, with four metrics.
COST = Case("uniform, 10 codes, 8 factors, four metrics", partial(uniform, d=10, m=8), 20_000, draws=1)


def of_halves(codes: Array, factors: Array, metric: str) -> float:
    """Return the score of codes as they are, on as many rows as those that aligned scores are of."""
    found = demele.evaluate(demele.Codes(codes, align="rotation"), factors, [metric])[metric].alignment
    if found is None:
        raise RuntimeError(f"{metric}: not aligned")
    return found.raw


def row(case: Case, draws: int) -> dict[str, object]:
    """Score one case."""
    if case is COST:
        return cost()
    found = []
    for draw in range(draws):
        rng = rng_for(0, "rotations", case.name.removesuffix(", whitened"), draw)
        codes, factors = case.made(rng)
        as_made = of_halves(codes, factors, case.metric)
        if case.turned:
            codes = codes @ special_ortho_group.rvs(codes.shape[1], random_state=rng)
        given = demele.Codes(codes, align="whitening" if case.whiten else "rotation")
        score = demele.evaluate(given, factors, [case.metric])[case.metric]
        if score.alignment is None:
            raise RuntimeError(f"{case.name}: not aligned")
        found.append((as_made, score.alignment.raw, score.alignment.aligned, score.alignment.gap))
    as_made, raw, aligned, gap = np.mean(found, axis=0)
    gaps = np.array(found)[:, 3]
    return {
        "codes": case.name,
        "metric": case.metric,
        "rows": case.rows,
        "draws": draws,
        "as made": f"{as_made:.3f}",
        "raw": f"{raw:.3f}",
        "aligned": f"{aligned:.3f}",
        "aligned / as made": f"{aligned / as_made:.3f}",
        "gap": f"{gap:.4f}",
        "largest gap": f"{gaps.max():.4f}",
        "deviation of gaps": f"{gaps.std(ddof=1):.4f}",
        "seconds": "",
    }


def cost() -> dict[str, object]:
    """Time raw and aligned scores of four metrics, without the score itself: seconds of one core."""
    from demele.metrics.options import Run
    from demele.metrics.protocols import DEFAULT_PROTOCOL, protocol
    from demele.metrics.request import chosen_metrics, requests_of
    from demele.metrics.run import evaluation, rows_in_memory
    from demele.scoring.alignment import with_alignment

    rng = rng_for(0, "rotations", "cost")
    codes, factors = COST.made(rng)
    as_made = of_halves(codes, factors, "mig")
    codes = codes @ special_ortho_group.rvs(10, random_state=rng)
    data = rows_in_memory(demele.Codes(codes), demele.Factors(factors))
    asked = requests_of(chosen_metrics(HISTOGRAMS), protocol(DEFAULT_PROTOCOL), {})
    found = evaluation(asked, data, Run(), protocol=DEFAULT_PROTOCOL, name="codes", named=True)
    started = time.process_time()
    score = with_alignment(found, data, asked, Run())["mig"].alignment
    seconds = time.process_time() - started
    if score is None:
        raise RuntimeError("not aligned")
    figures = {"as made": as_made, "raw": score.raw, "aligned": score.aligned}
    return {
        **dict(zip(("codes", "metric", "rows", "draws"), (COST.name, "mig", COST.rows, 1), strict=True)),
        **{key: f"{value:.3f}" for key, value in figures.items()},
        "aligned / as made": f"{score.aligned / as_made:.3f}",
        "gap": f"{score.gap:.4f}",
        "largest gap": f"{score.gap:.4f}",
        "deviation of gaps": "",
        "seconds": f"{seconds:.2f}",
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore", demele.errors.DemeleWarning)
    main({"rotations": Table(cells=(COST, *CASES), measured=row, repeats=lambda case: case.draws)})
