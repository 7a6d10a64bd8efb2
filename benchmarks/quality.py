"""DCI forest against a tuned forest of scikit-learn: held-out score, modularity and compactness.

``python -m benchmarks.quality`` (about a quarter of an hour); writes results/quality.csv.
"""

import numpy as np

import demele
from benchmarks.cases import mixing, redundant
from benchmarks.loop import Table, main
from benchmarks.reference import dci_forest_factor
from demele.metrics import dci_compactness, dci_modularity

N = 20_000
SCENARIOS = {
    "mixing, share 0.5": lambda: mixing(N, 8, 0.5),
    "mixing, share 0.2": lambda: mixing(N, 8, 0.2),
    "redundant (1)": lambda: redundant(N, 1),
    "redundant (2)": lambda: redundant(N, 2),
    "redundant (3)": lambda: redundant(N, 3),
}
SEEDS = 5


def measured(name: str, seeds: int) -> dict[str, object]:
    """Tune on 16 000 rows, fit with some seeds, score on 4 000, and compare the means of what DCI makes of them."""
    from sklearn.base import clone

    codes, factors = SCENARIOS[name]()
    ours = [demele.dci(codes, factors, seed=seed) for seed in range(seeds)]
    order = np.random.default_rng(1).permutation(N)
    train, test = order[: N * 4 // 5], order[N * 4 // 5 :]
    tuned = [dci_forest_factor(codes[train], factor[train], folds=3)[1].best_estimator_ for factor in factors.T]
    theirs = []
    for seed in range(seeds):
        fitted = [
            clone(model).set_params(random_state=100 * seed + index).fit(codes[train], factor[train])
            for index, (model, factor) in enumerate(zip(tuned, factors.T, strict=True))
        ]
        matrix = np.column_stack([model.feature_importances_ for model in fitted])
        scores = [model.score(codes[test], factor[test]) for model, factor in zip(fitted, factors.T, strict=True)]
        theirs.append((float(np.mean(scores)), dci_modularity(matrix), dci_compactness(matrix)))
    own = [(found.explicitness.value, found.modularity.value, found.compactness.value) for found in ours]
    row: dict[str, object] = {"scenario": name}
    for index, what in enumerate(("held-out score", "modularity", "compactness")):
        row[f"{what}, demele"] = _mean_and_error([values[index] for values in own])
        row[f"{what}, scikit-learn"] = _mean_and_error([values[index] for values in theirs])
    return row


def _mean_and_error(values: list[float]) -> str:
    return f"{np.mean(values):.4f} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.4f}"


if __name__ == "__main__":
    main({"quality": Table(cells=list(SCENARIOS), measured=measured, repeats=SEEDS)})
