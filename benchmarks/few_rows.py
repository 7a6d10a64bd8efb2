"""On few rows: what chance gives, how fast it is known, and what corrected scores and the gate make of it.

Writes results/few_rows.csv, and results/few_rows_intervals.csv: ``python -m benchmarks.few_rows intervals``.
"""

import warnings
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import demele
from benchmarks.cases import cpu_seconds
from benchmarks.loop import Table, main
from demele.core.arrays import rng_for
from demele.estimation.information import expected_information

Array = NDArray[np.float64]
DRAWS = 20
CODES, FACTORS, BINS = 10, 8, 10
SIZES = (50, 100, 200, 500)


def tables(n: int, *, even: bool) -> Array:
    """Counts of 10 codes against 8 factors, ten bins each: equally full, or as those of Gaussian codes are."""
    rng = rng_for(0, "few-rows", n, str(even))
    drawn = (
        rng.integers(0, BINS, (CODES, n)) if even else (1.5 * rng.normal(size=(CODES, n)) + 5).clip(0, 9).astype(int)
    )
    counts = np.zeros((CODES * FACTORS, BINS, BINS))
    for j, code in enumerate(drawn):
        for i, factor in enumerate(rng.integers(0, BINS, (FACTORS, n))):
            np.add.at(counts[j * FACTORS + i], (code, factor), 1.0)
    return counts


def one_by_one(counts: Array) -> Array:
    """Return scikit-learn's expectation of each table."""
    from sklearn.metrics.cluster import expected_mutual_information

    used = [table[table.any(axis=1)][:, table.any(axis=0)].astype(np.int64) for table in counts]
    return np.array([expected_mutual_information(table, int(table.sum())) for table in used])


def expectation(even: bool, n: int) -> Iterator[dict[str, object]]:
    """Time the expectation of 80 pairs, and how far it is from scikit-learn's."""
    counts = tables(n, even=even)
    fast, slow = (cpu_seconds(partial(call, counts), 5) for call in (expected_information, one_by_one))
    yield {
        "what": "expectation of 80 pairs, " + ("equal margins" if even else "Gaussian codes"),
        "n": n,
        "seconds": round(fast, 4),
        "pair_by_pair": round(slow, 4),
        "times_faster": round(slow / fast, 1),
        "largest_difference": float(f"{np.abs(expected_information(counts) - one_by_one(counts)).max():.1e}"),
    }


def represented(kind: str, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Codes of bounded factors: perfect, with 30 % noise, mixed in pairs, or noise; two codes more than factors."""
    if kind == "perfect, 6 values":
        levels = rng.integers(0, 6, (n, 4)).astype(float)
        return np.column_stack([levels, rng.random((n, 2))]), levels
    factors, noise = rng.random((n, FACTORS)), rng.random((n, CODES))
    own = {
        "perfect": factors,
        "30 % noise": 0.7 * factors + 0.3 * noise[:, :FACTORS],
        "mixed": 0.7 * factors + 0.3 * np.roll(factors, 1, axis=1),
        "noise": noise[:, :FACTORS],
    }[kind]
    return np.column_stack([own, noise[:, FACTORS:]]), factors


@cache
def truths(kind: str) -> dict[str, float]:
    """Return the scores of many rows."""
    many = represented(kind, rng_for(1, "few-rows", kind), 30_000)
    return {"mig": demele.metrics.mig(*many).value, "modularity": demele.metrics.modularity(*many, gate=True).value}


def scores(kind: str, n: int) -> Iterator[dict[str, object]]:
    """Compare scores of few rows to those of many."""
    truth = truths(kind)
    drawn = [represented(kind, rng_for(2, "few-rows", kind, n, draw), n) for draw in range(DRAWS)]
    gated = [demele.metrics.modularity(*one, gate=True) for one in drawn]
    found = {
        "mig, plug-in": ("mig", [demele.metrics.mig(*one).value for one in drawn]),
        "mig, Miller-Madow": ("mig", [demele.metrics.mig(*one, correction="miller-madow").value for one in drawn]),
        "mig, adjusted": ("mig", [demele.metrics.mig(*one, correction="adjusted").value for one in drawn]),
        "modularity, plug-in": ("modularity", [demele.metrics.modularity(*one).value for one in drawn]),
        "modularity, gate": ("modularity", [score.value for score in gated]),
    }
    for what, (metric, values) in found.items():
        defined = [value for value in values if value == value]
        mean = float(np.mean(defined)) if defined else float("nan")
        row: dict[str, object] = {"what": what, "codes": kind, "n": n, "mean": round(mean, 4)}
        row |= {"of_many_rows": round(truth[metric], 4), "bias": round(mean - truth[metric], 4)}
        row["undefined"] = round(1 - len(defined) / DRAWS, 3)
        if what == "modularity, gate":
            row["share_alive"] = round(float(np.mean([score.details["share_alive"] for score in gated])), 4)
        yield row


def classes(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Three factors of 4 values, a code with noise for each, and five codes that know nothing."""
    factors = rng.integers(0, 4, (n, 3)).astype(float)
    return np.column_stack([factors + 0.3 * rng.normal(size=(n, 3)), rng.normal(size=(n, 5))]), factors


def covered(metrics: tuple[str, ...], n: int, draws: int, seed: int = 3) -> Iterator[dict[str, object]]:
    """Count how often intervals of few rows contain the score of 200 000: those shown, and those of notes."""

    def scored(drawn: tuple[Array, Array], **options: Any) -> Any:
        return demele.evaluate(drawn[0], demele.Factors(drawn[1], kinds="categorical"), list(metrics), **options)

    truth = {one.metric: one.value for one in scored(classes(rng_for(seed, "many rows"), 200_000))}
    found: dict[str, list[tuple[float, bool, bool, bool]]] = {name: [] for name in metrics}
    for draw in range(draws):
        drawn = classes(rng_for(seed, "few rows", n, draw), n)
        for score in scored(drawn, n_bootstrap=200):
            noted = score.details.get("adjusted_for_chance", {"low": np.nan, "high": np.nan})
            value = truth[score.metric]
            shown = score.interval is not None and score.interval.low <= value <= score.interval.high
            found[score.metric].append((score.value, shown, "value" in noted, noted["low"] <= value <= noted["high"]))
    for name, rows in found.items():
        values, inside, noted, held = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
        yield {
            "metric": name,
            "n": n,
            "draws": draws,
            "of_many_rows": round(truth[name], 4),
            "mean": round(float(values.mean()), 4),
            "in_interval": round(float(inside.mean()), 3),
            "with_a_note": round(float(noted.mean()), 3),
            "in_noted_interval": round(float(held.sum() / max(noted.sum(), 1)), 3),
            "in_either": round(float(np.maximum(inside, held).mean()), 3),
        }


GAPS = ("mig", "mig_sup", "dcimig", "jemmig", "modularity")
CELLS = [
    *((expectation, even, n) for even in (True, False) for n in (200, 1_000, 10_000)),
    *((scores, kind, n) for kind in ("perfect", "perfect, 6 values", "30 % noise", "mixed", "noise") for n in SIZES),
]

if __name__ == "__main__":
    warnings.simplefilter("ignore", demele.errors.DemeleWarning)
    main(
        {
            "few_rows": Table(cells=CELLS, measured=lambda cell: cell[0](*cell[1:])),
            "few_rows_intervals": Table(
                cells=(150, 500, 2000), measured=lambda n, draws: covered(GAPS, n, draws), repeats=200
            ),
        }
    )
