"""How often intervals of the likeness to a printed matrix hold what other configurations would have given.

``python -m benchmarks.agreement_likeness`` (about a quarter of an hour on one core); writes
results/agreement_likeness.csv. 17 metrics in worlds with known taus, a "print" of 36 configurations from a world that
differs a little, much, or not at all; 200 samples a row, nominal 95 %. What an interval of r, of the share of equal
signs and of the mean difference is to hold is their mean over samples. "percentiles": plain ones of resamples, which
are not used.
"""

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Table, main
from demele.bench.agreement_print import MEASURES, likeness
from demele.bench.rank_correlation import column_pairs, resamples, taus, weighted_taus

Array = NDArray[np.float64]
METRICS, PRINTED, DRAWS, SETS, LEVEL = 17, 36, 1000, 200, 0.95
#: Qualities that explain the metrics, variance that is each metric's own, and how far the printed world is from ours.
WORLDS = {"same": (3, 2.0, 0.0), "near": (3, 2.0, 0.7), "far": (3, 2.0, 2.0), "near, more qualities": (6, 3.0, 0.7)}
SIZES = (12, 24, 36)


def correlations(loadings: Array, own: float) -> Array:
    """Return the correlation matrix of metrics."""
    covariance = loadings @ loadings.T + own * np.eye(METRICS)
    spread = np.sqrt(np.diag(covariance))
    return np.asarray(covariance / np.outer(spread, spread))


def row(world: str, n: int) -> dict[str, object]:
    """Draw samples, and count."""
    qualities, own, beside = WORLDS[world]
    rng = np.random.default_rng(sorted(WORLDS).index(world))
    loadings = rng.normal(size=(METRICS, qualities))
    ours = correlations(loadings, own)
    theirs = correlations(loadings + beside * rng.normal(size=loadings.shape), own)
    truth = 2 / np.pi * np.arcsin(np.clip(ours, -1, 1))[column_pairs(METRICS)]
    printed = taus(rng.multivariate_normal(np.zeros(METRICS), theirs, PRINTED))
    found, plain = [], []
    for _ in range(SETS):
        scores = rng.multivariate_normal(np.zeros(METRICS), ours, n)
        draws = weighted_taus(scores, resamples(rng, n, DRAWS))
        found.append(likeness(taus(scores), printed, draws, level=LEVEL, configurations=n))
        plain.append(np.quantile([np.corrcoef(draw, printed)[0, 1] for draw in draws], [0.025, 0.975]))
    told: dict[str, object] = {"print is": world, "configurations": n}
    for name in MEASURES:
        wanted = float(np.mean([one[name].value for one in found]))
        inside = [one[name].low - 1e-9 <= wanted <= one[name].high + 1e-9 for one in found]
        told |= {
            f"mean {name.replace('_', ' ')}": f"{wanted:.3f}",
            f"coverage, {name.replace('_', ' ')}": f"{np.mean(inside):.3f}",
        }
    wanted = float(np.mean([one["r"].value for one in found]))
    corrected = [one["r_without_noise"] for one in found if np.isfinite(one["r_without_noise"])]
    return told | {
        "coverage of r, percentiles": f"{np.mean([low <= wanted <= high for low, high in plain]):.3f}",
        "r of the truth": f"{np.corrcoef(truth, printed)[0, 1]:.3f}",
        "mean r without noise": f"{np.mean(corrected):.3f}" if corrected else "",
    }


CELLS = [(world, n) for world in WORLDS for n in SIZES]

if __name__ == "__main__":
    main({"agreement_likeness": Table(cells=CELLS, measured=lambda cell: row(*cell))})
