"""Coverage and width of the audit interval of an accuracy, by noise rate, audited labels and rows.

``python -m benchmarks.audit_interval`` (a few minutes); writes results/audit_interval.csv. Each cell draws
4 000 test sets, with predictions that a wrong label agrees with, and that are right on a wrongly labelled row, at three
pairs of rates (f_n, f_r of Benjelloun, chapter 6); the worst of the three is kept. Beside it, the score interval of the
given labels widened by the noise rate both ways, which supposes that rate known, and the audit interval that knows how
many labels are wrong.
"""

from dataclasses import replace
from typing import cast

import numpy as np

from benchmarks.loop import Table, main
from demele.core.proportions import score_interval
from demele.core.seeds import rng_for
from demele.evaluation.measures.audit_cells import Cells, accuracy_cells, cell_interval

REPEATS = 4000
#: The exact variant is slower, and covers far more than its level.
EXACT_REPEATS = 400
LEVEL = 0.95
SIZES = ((500, 50), (500, 100), (2000, 50), (2000, 200), (12_000, 50), (12_000, 100), (12_000, 200), (12_000, 500))
NOISE_RATES = (0.01, 0.02, 0.05, 0.1, 0.2)
#: Accuracy, and how often a prediction on a wrongly labelled row agrees with the label, or is right.
BEHAVIOURS = ((0.75, 0.4, 0.4), (0.9, 0.6, 0.3), (0.6, 0.1, 0.5))


def worst(cell: tuple[int, int, float], repeats: int) -> dict[str, object]:
    """Return the least coverage and the largest width over the behaviours."""
    found = [coverage(*cell, *behaviour, repeats=repeats) for behaviour in BEHAVIOURS]
    row: dict[str, object] = dict(zip(("n", "labels", "noise"), cell, strict=True))
    for name in found[0]:
        kept = min if name.endswith("coverage") else max
        row[name] = f"{kept(one[name] for one in found):.4f}"
    return row


def coverage(
    n: int, size: int, rate: float, accuracy: float, agrees: float, right: float, *, repeats: int = REPEATS
) -> dict[str, float]:
    """Share of test sets whose interval holds the accuracy, and mean width, by variant and inference."""
    rng = rng_for(0, "audit_interval", n, size, str(rate), str(accuracy))
    wrong = rng.binomial(n, rate, repeats)
    clean_accuracy = min(1.0, (accuracy - rate * right) / (1 - rate))
    won = rng.binomial(wrong, right)
    lost = rng.binomial(wrong - won, min(1.0, agrees / (1 - right)))
    hits = rng.binomial(n - wrong, clean_accuracy) + lost
    audited_hits = rng.hypergeometric(hits, n - hits, size)
    seen_lost = rng.hypergeometric(lost, hits - lost, audited_hits)
    seen_won = rng.hypergeometric(won, n - hits - won, size - audited_hits)
    cells = accuracy_cells(hits, n, audited_hits, seen_lost, size - audited_hits, seen_won)
    expected = clean_accuracy * (1 - rate) + right * rate
    truths = {"test_set": (hits - lost + won) / n, "population": np.full(repeats, expected)}
    result = {}
    for inference, truth in truths.items():
        for exact in (False, True):
            some = slice(EXACT_REPEATS if exact else None)
            low, high = cell_interval(_some(cells, some), level=LEVEL, exact=exact, inference=inference)  # type: ignore[arg-type]
            name = f"{inference} {'exact' if exact else 'default'}"
            result[f"{name} coverage"] = float(np.mean((low <= truth[some]) & (truth[some] <= high)))
            result[f"{name} width"] = float(np.mean(high - low))
    known = replace(cells, wrong=cast(float, wrong[:, None]))
    low, high = cell_interval(known, level=LEVEL, exact=False, inference="population")
    result["population, number of wrong labels known, coverage"] = float(
        np.mean((low <= expected) & (expected <= high))
    )
    result["population, number of wrong labels known, width"] = float(np.mean(high - low))
    low, high = score_interval(hits, np.full(repeats, n), level=LEVEL)
    result["score interval widened by the rate, width"] = float(
        np.mean(np.minimum(high + rate, 1) - np.maximum(low - rate, 0))
    )
    return result


def _some(cells: Cells, some: slice) -> Cells:
    return replace(
        cells, size=cells.size[some], audited=cells.audited[some], seen=cells.seen[some], base=cells.base[some]
    )


CELLS = [(n, size, rate) for n, size in SIZES for rate in NOISE_RATES]

if __name__ == "__main__":
    main({"audit_interval": Table(cells=CELLS, measured=worst, repeats=REPEATS)})
