"""How often intervals of paired differences between representations cover, and how often a family of them errs.

Two representations, ``a`` and ``b``, hold the same factors equally well: each code is a factor with some of the next
one and noise, half of which all representations share, as those of the same images do. ``c`` mixes more. Of every draw
of rows all three are scored with the same seed, as ``demele.compare_representations`` does it. The expected difference
is 0 between ``a`` and ``b``; between them and ``c`` it is the mean over all draws, which is what other rows from the
same source would have given.

    python -m benchmarks.paired_differences   goes on where it stopped; writes results/paired_differences.csv
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Row, Table, main
from benchmarks.loop import share as share_of
from demele.core.arrays import rng_for
from demele.core.errors import DemeleWarning
from demele.core.given_data import Codes, Factors
from demele.core.proportions import holm
from demele.estimation.differences import Difference, over_runs
from demele.metrics.options import Run
from demele.metrics.protocols import DEFAULT_PROTOCOL, protocol
from demele.metrics.request import chosen_metrics, requests_of
from demele.metrics.run import evaluation, rows_in_memory

QUICK = ("mig", "mig_sup", "modularity", "dcimig", "jemmig", "sap", "irs", "mcc", "r2_affine")
NAMES = ("a", "b", "c")
DRAWS = 500
RESAMPLES = 30
#: How many rows, whether factors are classes or quantities, and what is scored; the first worlds first.
WORLDS: dict[str, tuple[int, str, tuple[str, ...]]] = {
    "quantities, 1000 rows": (1000, "continuous", QUICK),
    "quantities, 200 rows": (200, "continuous", QUICK),
    "classes, 1000 rows": (1000, "categorical", ("mig", "modularity", "jemmig", "explicitness", "mcc")),
}

#: Rest on extreme values: measured, and left without an interval by the library for what is measured.
NOT_CLAIMED = ("irs",)
EQUAL, APART = ("a", "b"), ("a", "c")
#: Of each interval, and of all claims of one draw together.
LEVEL, ERROR = 0.9, 0.05

Array = NDArray[np.float64]


def representations(rng: np.random.Generator, n: int, kind: str) -> tuple[dict[str, Array], Array]:
    """Draw codes (n, 4) of four representations and the factors (n, 3) that they hold."""
    factors = rng.integers(0, 4, (n, 3)).astype(np.float64) if kind == "categorical" else rng.random((n, 3)) * 3
    shared = rng.normal(size=(n, 3))
    codes = {}
    for name in NAMES:
        noise = (shared + rng.normal(size=(n, 3))) / np.sqrt(2)
        mixing = 0.6 if name == "c" else 0.3
        held = factors + mixing * np.roll(factors, -1, axis=1) + 0.4 * noise
        codes[name] = np.column_stack([held, rng.normal(size=n)])
    return codes, factors


def scored(draw: tuple[str, int]) -> dict[str, Any]:
    """Score all representations of one draw of rows: values and resampled values, by metric."""
    world, index = draw
    n, kind, metrics = WORLDS[world]
    codes, factors = representations(rng_for(0, "paired differences", world, index), n, kind)
    run = Run(seed=index, n_bootstrap=RESAMPLES, halves=True)
    asked = requests_of(chosen_metrics(metrics), protocol(DEFAULT_PROTOCOL), {})
    found: dict[str, Any] = {}
    for name, own in codes.items():
        with warnings.catch_warnings(action="ignore", category=DemeleWarning):
            data = rows_in_memory(Codes(own), Factors(factors, kinds=kind))
            result = evaluation(asked, data, run, protocol=DEFAULT_PROTOCOL, name=name, named=True)
        found[name] = {
            score.metric: [score.value, [] if score.halves is None else np.round(score.halves, 7).tolist()]
            for score in result
        }
    return found


# --- what is found ---------------------------------------------------------------------------------------------------


def difference(record: dict[str, Any], metric: str, pair: tuple[str, str]) -> Difference | None:
    """Return the difference of one draw as the library computes it."""
    (first, firsts), (second, seconds) = (record[name][metric] for name in pair)
    if not firsts or not seconds:
        return None
    return over_runs(second - first, [], LEVEL, np.array(seconds) - np.array(firsts))


def coverage(records: list[dict[str, Any]], metric: str, pair: tuple[str, str]) -> tuple[float, float, float]:
    """Return how often intervals cover, their mean half-width, and the one that is needed for 90 % of the draws."""
    found = [one for record in records if (one := difference(record, metric, pair)) is not None and not one.reason]
    values = np.array([one.value for one in found])
    expected = 0.0 if pair == EQUAL else float(values.mean())
    covered = np.mean([one.low <= expected <= one.high for one in found])
    half = float(np.mean([one.high - one.low for one in found])) / 2
    return float(covered), half, 1.645 * float(values.std(ddof=1))


def false_claims(records: list[dict[str, Any]], metrics: Sequence[str], pairs: Sequence[tuple[str, str]]) -> float:
    """Return how often any difference of the equal pair is shown, among all metrics of all pairs, with error 5 %."""
    wrong = []
    for record in records:
        family = [(pair, difference(record, metric, pair)) for pair in pairs for metric in metrics]
        known = [(pair, one.p_value) for pair, one in family if one is not None and not one.reason]
        shown = holm(np.array([p_value for _, p_value in known]), ERROR)
        wrong.append(any(flag for (pair, _), flag in zip(known, shown, strict=True) if pair == EQUAL))
    return float(np.mean(wrong))


def rows_of(found: list[tuple[tuple[str, int], dict[str, Any]]]) -> list[Row]:
    """Return coverage by metric, and false claims of whole families."""
    records: dict[str, list[dict[str, Any]]] = {}
    for (world, _), record in found:
        records.setdefault(world, []).append(record)
    rows: list[Row] = []

    def add(world: str, what: str, metric: str, share: float, half: float | None = None, needed: float = 1.0) -> None:
        draws = len(records[world])
        texts = share_of(share, draws, percent=True, digits=1)
        rows.append(
            {
                "world": world,
                "measured": what,
                "metric": metric,
                **dict(zip(("percent", "standard_error"), texts, strict=True)),
                "half_width": "" if half is None else f"{half:.4f}",
                "half_width_needed": "" if half is None else f"{needed:.4f}",
                "draws": draws,
                "half_samples": RESAMPLES,
            }
        )

    for world, own in records.items():
        metrics = WORLDS[world][2]
        for metric in metrics:
            add(world, "covers, same truth", metric, *coverage(own, metric, EQUAL))
            add(world, "covers, different truth", metric, *coverage(own, metric, APART))
        claimed = [metric for metric in metrics if metric not in NOT_CLAIMED]
        add(world, "any false claim, a and b", "all that are claimed", false_claims(own, claimed, [EQUAL]))
        every = [EQUAL, APART, ("b", "c")]
        add(world, "any false claim, a, b and c", "all that are claimed", false_claims(own, claimed, every))
    return rows


if __name__ == "__main__":
    draws = [(world, index) for world in WORLDS for index in range(DRAWS)]
    main({"paired_differences": Table(cells=draws, measured=scored, rows=rows_of, store=True)})
