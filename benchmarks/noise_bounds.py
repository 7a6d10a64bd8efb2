"""Noisy factors of which little is known: bounds under a rate, and how an order breaks down.

``python -m benchmarks.noise_bounds`` writes results/noise_bounds.csv.
"""

import math
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

import demele
from benchmarks.loop import Table, main
from demele.core.seeds import rng_for
from demele.estimation.information import InformationTable
from demele.estimation.noise_bounds import BOUNDS, information_bounds
from demele.estimation.score_slopes import BinnedCodes, label_slopes, table_of
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.metric import Native

Array = NDArray[np.float64]
VALUES, FACTORS, CODES = 6, 4, 6
RATES = (0.01, 0.05, 0.1)
#: Relabelled versions of the annotations at each rate: half at random, half where the slope of the score is steepest.
RELABELLED = 200
SIMULATIONS, ROWS, RESAMPLES, LEVEL = 200, 3_000, 40, 0.9


def represented(spread: float, n: int, *name: str) -> tuple[Array, NDArray[np.intp]]:
    """Codes that hold four factors of six values with noise, and two that hold none."""
    rng = rng_for(0, "noise-bounds", *name)
    factors = rng.choice(VALUES, (n, FACTORS), p=[0.25, 0.2, 0.2, 0.15, 0.1, 0.1])
    return np.column_stack([factors + spread * rng.normal(size=(n, FACTORS)), rng.normal(size=(n, 2))]), factors


def binned(codes: Array) -> BinnedCodes:
    """Ten bins of equal width, as the metrics have them."""
    low, high = codes.min(axis=0), codes.max(axis=0)
    return BinnedCodes(np.minimum(((codes - low) / (high - low) * 10).astype(np.intp), 9).T, 10)


def continuity(score: float, entropy: float, rate: float) -> tuple[float, float]:
    """What the continuity of the entropy alone says of MIG, one factor with this entropy."""
    change = rate * math.log(VALUES - 1) - rate * math.log(rate) - (1 - rate) * math.log(1 - rate)
    gap = score * entropy
    return max((gap - 2 * change) / (entropy + change), 0.0), min((gap + 2 * change) / (entropy - change), 1.0)


def value_of(formula: Callable[..., Native], table: InformationTable) -> Array:
    """Return the value of a metric."""
    return np.asarray(formula(table).value)


def outside(codes: BinnedCodes, factors: NDArray[np.intp], rate: float, ends: dict[str, tuple[float, float]]) -> int:
    """Return how many relabelled annotations have a score outside of its bounds."""
    rng = rng_for(0, "noise-bounds", "relabelled", f"{rate:g}")
    n, number, found = factors.shape[1], int(rate * factors.shape[1]), 0
    formulas = {name: CATALOGUE[name].formula for name in BOUNDS}
    given = [codes.counts(one, VALUES) for one in factors]
    steep = {name: label_slopes(codes, given, partial(value_of, formula)) for name, formula in formulas.items()}
    for draw in range(RELABELLED):
        other = factors.copy()
        name = list(BOUNDS)[draw % len(BOUNDS)]
        for index in range(FACTORS):
            slope = steep[name][index] * (1 if draw % 4 < 2 else -1)
            best = slope.argmax(axis=1)
            gain = slope.max(axis=1) - slope[np.arange(n), factors[index]]
            if draw % 2:  # nearly the steepest rows, not always the same
                rows = np.argsort(-gain * rng.uniform(0.8, 1.0, n))[:number]
                other[index, rows] = best[rows]
            else:
                rows = rng.choice(n, number, replace=False)
                other[index, rows] = rng.integers(0, VALUES, number)
        table = table_of([codes.counts(one, VALUES) for one in other])
        for metric, formula in formulas.items():
            value = float(formula(table).value)
            found += not ends[metric][0] - 1e-9 <= value <= ends[metric][1] + 1e-9
    return found


def bounded(cell: tuple[float, float]) -> Iterator[dict[str, object]]:
    """Bounds at a rate: width, time, and whether a relabelling leaves them."""
    spread, rate = cell
    if not rate:
        yield order()
        return
    codes, factors = represented(spread, 10_000, f"{spread:g}")
    bins = binned(codes)
    counts = [bins.counts(one, VALUES) for one in factors.T]
    table = table_of(counts)
    started = time.process_time()
    bounds = information_bounds(counts, [rate] * FACTORS)
    ends = {name: of(bounds) for name, of in BOUNDS.items()}
    seconds = time.process_time() - started
    violated = outside(bins, factors.T, rate, ends)
    for name in BOUNDS:
        value = float(CATALOGUE[name].formula(table).value)
        row: dict[str, object] = {"metric": name, "spread": spread, "rate": rate, "value": round(value, 4)}
        row |= {"low": round(ends[name][0], 4), "high": round(ends[name][1], 4)}
        if name == "mig":
            plain = continuity(value, float(table.factor_entropy.mean()), rate)
            row |= {"continuity_low": round(plain[0], 4), "continuity_high": round(plain[1], 4)}
            row["share_of_its_width"] = round((ends[name][1] - ends[name][0]) / (plain[1] - plain[0]), 3)
        yield {**row, "relabelled": RELABELLED, "outside": violated, "seconds": round(seconds, 2)}


def order() -> dict[str, object]:
    """Return how many wrong annotations reverse the order of two representations."""
    first, factors = represented(0.7, 10_000, "order")
    second = np.column_stack([represented(1.3, 10_000, "order")[0]])
    started = time.process_time()
    found = demele.breakdown(first, second, factors.astype(str))
    return {
        "metric": "breakdown of an order by mig",
        "value": round(found.value_ahead, 4),
        "second": round(found.value_behind, 4),
        "guaranteed": round(found.guaranteed, 4),
        "attained": round(found.attained, 4),
        "seconds": round(time.process_time() - started, 1),
    }


#: Noise of the codes and rate of wrong annotations; no rate: the breakdown of an order.
BOUNDED = [*((spread, rate) for spread in (0.7, 1.3) for rate in RATES), (0.0, 0.0)]

if __name__ == "__main__":
    warnings.simplefilter("ignore", demele.DemeleWarning)
    main(
        {
            "noise_bounds": Table(cells=BOUNDED, measured=bounded),
        }
    )
