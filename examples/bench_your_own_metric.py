"""Can a metric of your own be believed? Its verdicts on representations whose properties are known."""

from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from demele import bench


# --8<-- [start:metric]
def rank_gap(codes: np.ndarray, factors: np.ndarray) -> float:
    """Squared rank correlation of each factor with its best code, less that with the second best; mean."""
    ranks = rankdata(np.hstack([codes, factors]), axis=0)
    d = codes.shape[1]
    strength = np.corrcoef(ranks, rowvar=False)[:d, d:] ** 2  # (n_codes, n_factors)
    ordered = np.sort(strength, axis=0)
    return float((ordered[-1] - ordered[-2]).mean())


# --8<-- [end:metric]

# --8<-- [start:run]
found = bench.characterise(rank_gap, "source", seeds=10, n_samples=2000, store="rank_gap.rows")
print(found.table().T)
# --8<-- [end:run]

# --8<-- [start:one]
verdict = found.verdict("rank_gap", "robust_to_noise")
print(verdict.status)
print(verdict.summary)
for condition in verdict.parts[0].conditions:
    print(f"  {condition.status:9} {condition.sentence}")
# --8<-- [end:one]

# --8<-- [start:claim]
gap = bench.candidate(rank_gap, claims="compactness", discretises=False)
claimed = bench.characterise(gap, "source", seeds=10, n_samples=2000, store="rank_gap.rows")
print(claimed.table().T)
print(claimed.verdict("rank_gap", "several_codes").summary)
# --8<-- [end:claim]

# --8<-- [start:page]
claimed.to_html("rank_gap.html", beside=bench.reference())
# --8<-- [end:page]

# --8<-- [start:more]
more = bench.characterise(gap, "source", seeds=12, n_samples=2000, store="rank_gap.rows")
kept = len(Path("rank_gap.rows").read_text().splitlines()) - 1  # the first line says what the run is
print(f"{kept} rows are kept: 34 representations, 12 seeds")
# --8<-- [end:more]


# --8<-- [start:nan]
def live_rank_gap(codes: np.ndarray, factors: np.ndarray) -> float:
    """The same, without the codes that never vary."""
    return rank_gap(codes[:, np.ptp(codes, axis=0) > 0], factors)


both = bench.characterise([rank_gap, live_rank_gap], "inactive", seeds=5, n_samples=2000)
for name in ("rank_gap", "live_rank_gap"):
    verdict = both.verdict(name, "inactive")
    print(f"{name}: {verdict.status}; {verdict.summary}")
# --8<-- [end:nan]
