"""DCI forest against a tuned forest of scikit-learn: held-out score, modularity and compactness.

Run alone: ``python -m benchmarks.quality`` (about a quarter of an hour); writes results/quality.csv.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import demele
from benchmarks.cases import mixing, redundant, write_rows
from benchmarks.reference import dci_forest_factor
from demele.metrics import dci_compactness, dci_modularity

N = 20_000
SCENARIOS = {
    "mixing, share 0.2": lambda: mixing(N, 8, 0.2),
    "redundant (1)": lambda: redundant(N, 1),
    "redundant (2)": lambda: redundant(N, 2),
    "redundant (3)": lambda: redundant(N, 3),
}


def main() -> None:
    """Fit both on 16 000 rows, score on 4 000, and compare what DCI makes of them."""
    rows = []
    for name, make in SCENARIOS.items():
        codes, factors = make()
        ours = demele.dci(codes, factors)
        order = np.random.default_rng(1).permutation(N)
        train, test = order[: N * 4 // 5], order[N * 4 // 5 :]
        importance, scores, chosen = [], [], []
        for factor in factors.T:
            own, search = dci_forest_factor(codes[train], factor[train], folds=3)
            importance.append(own)
            scores.append(search.score(codes[test], factor[test]))
            chosen.append(search.best_params_)
        matrix = np.column_stack(importance)
        rows.append(
            {
                "scenario": name,
                "held-out score, demele": round(ours.explicitness.value, 4),
                "held-out score, scikit-learn": round(float(np.mean(scores)), 4),
                "modularity, demele": round(ours.modularity.value, 4),
                "modularity, scikit-learn": round(dci_modularity(matrix), 4),
                "compactness, demele": round(ours.compactness.value, 4),
                "compactness, scikit-learn": round(dci_compactness(matrix), 4),
            }
        )
        print(rows[-1], chosen, flush=True)
    write_rows("quality", rows)


if __name__ == "__main__":
    main()
