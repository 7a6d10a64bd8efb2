"""Every family of metrics against scikit-learn reference code, as ratios of CPU seconds in one run.

``python -m benchmarks.time_metrics`` writes results/speed.csv. Single thread. Values are compared before anything is
timed.
"""

import warnings

import numpy as np

import demele
from benchmarks import reference
from benchmarks.cases import cpu_seconds, levels, mixing
from benchmarks.loop import Table, main

N = 20_000
HISTOGRAM = ["mig", "mig_sup", "modularity", "dcimig", "jemmig", "dmig", "dlig"]
Row = dict[str, object]
#: CPU seconds of public code at N = 20 000, d = M = 8, measured once on a machine of this kind.
PUBLIC = {
    "histogram family, one call": "2.4 (review, five metrics), 0.12 (disentanglement_lib, MIG)",
    "Explicitness": "1.0 (review)",
    "Z-diff, Z-min and Z-max together": "4.9 (review)",
    "IRS": "0.08 (disentanglement_lib)",
    "IRS, validated, standardised and presented": "0.08 (disentanglement_lib)",
    "SAP, categorical factors": "67 (review), 12.5 (Latte), 1.0 (disentanglement_lib)",
    "DCI forest, depth and features tuned": "1 100 (review)",
    "DCI boosted trees": "210 (disentanglement_lib)",
}


def row(what: str, size: str, ours: float, theirs: float, reference_text: str, agreement: str) -> Row:
    """One line of the table."""
    return {
        "metric": what,
        "size": size,
        "demele, CPU s": float(f"{ours:.3g}"),
        "reference, CPU s": float(f"{theirs:.3g}"),
        "ratio": float(f"{theirs / ours:.3g}"),
        "reference": reference_text,
        "public code, CPU s": PUBLIC.get(what, "") if "1,000,000" not in size else "",
        "agreement": agreement,
    }


def histogram() -> list[Row]:
    """All histogram metrics in one call, against one loop of scikit-learn over the same binned pairs."""
    rows = []
    for n, d in ((N, 8), (1_000_000, 10)):
        codes, factors = mixing(n, d, 0.2)
        binned = [
            np.column_stack([np.digitize(c, np.linspace(c.min(), c.max(), 11)[1:-1]) for c in table.T])
            for table in (codes, factors)
        ]
        ours = demele.evaluate(codes, factors, HISTOGRAM)
        matrix = ours["mig"].matrix
        theirs = reference.information_loop(*binned)
        difference = np.abs(matrix.to_numpy() - theirs).max()
        assert difference < 1e-6, difference
        runs = 20 if n == N else 3
        rows.append(
            row(
                "histogram family, one call",
                f"N = {n:,}, d = M = {d}",
                cpu_seconds(lambda c=codes, f=factors: demele.evaluate(c, f, HISTOGRAM), runs),
                cpu_seconds(lambda b=binned: reference.information_loop(*b), 3 if n == N else 1),
                "mutual_info_score over the pairs, already binned",
                f"largest difference of an information {difference:.1e}",
            )
        )
    return rows


def knn() -> list[Row]:
    """Nearest-neighbour information at N = 100 000."""
    codes, factors = mixing(100_000, 4, 0.2)
    labels = levels(factors)
    ours = demele.metrics.mig(codes, labels, estimator="knn")
    theirs = reference.knn_information(codes, labels)
    difference = np.abs(ours.matrix.to_numpy() - theirs).max()
    assert difference < 1e-9, difference
    from demele.estimation.knn import knn_information_matrix

    columns = [(True, labels[:, index]) for index in range(4)]
    return [
        row(
            "nearest-neighbour information",
            "N = 100,000, d = M = 4",
            cpu_seconds(lambda: knn_information_matrix(codes, columns, jitter_seed=0), 3),
            cpu_seconds(lambda: reference.knn_information(codes, labels), 1),
            "mutual_info_classif",
            f"largest difference {difference:.1e}",
        )
    ]


def explicitness() -> list[Row]:
    """Explicitness on the same training and test rows."""
    from demele.estimation.logistic import explicitness_by_value

    codes, factors = mixing(N, 8, 0.2)
    labels = levels(factors)
    order = np.random.default_rng(0).permutation(N)
    train, test = np.sort(order[: N // 2]), np.sort(order[N // 2 :])

    def ours() -> np.ndarray:
        found = [
            explicitness_by_value(codes, labels[:, i], 10, train_rows=train, test_rows=test, scaling="min-max")
            for i in range(8)
        ]
        return 2 * np.mean(found, axis=1) - 1

    theirs = reference.explicitness(codes, labels, train, test)
    difference = np.abs(ours() - theirs).max()
    assert difference < 1e-3, difference
    return [
        row(
            "Explicitness",
            f"N = {N:,}, d = M = 8, 10 bins, half of the rows each",
            cpu_seconds(ours, 3),
            cpu_seconds(lambda: reference.explicitness(codes, labels, train, test), 1),
            "OneVsRestClassifier(LogisticRegression) and roc_auc_score",
            f"largest difference of a factor's score {difference:.1e}",
        )
    ]


def interventions() -> list[Row]:
    """Z-diff, Z-min and Z-max with the review's sizes; IRS."""
    from demele.estimation.irs import crossed_deviations

    codes, factors = mixing(N, 8, 0.2)
    labels, coarse = levels(factors), levels(factors, 3)

    def ours() -> list[float]:
        found = demele.evaluate(codes, factors, ["z_diff", "z_min_variance", "z_max_variance"])
        return [score.value for score in found]

    def theirs() -> None:
        from sklearn.linear_model import LogisticRegression

        rng = np.random.default_rng(0)
        points, targets = reference.z_diff(codes, labels, 15_000, 200, rng)
        LogisticRegression().fit(points[:10_000], targets[:10_000]).score(points[10_000:], targets[10_000:])
        reference.z_min(codes, labels, 1_600, 200, rng)
        reference.z_max(codes, coarse, 1_600, 200, rng)

    values = ", ".join(f"{value:.3f}" for value in ours())
    rows = [
        row(
            "Z-diff, Z-min and Z-max together",
            f"N = {N:,}, d = M = 8; 15 000 points and 2 x 1 600 votes of 200",
            cpu_seconds(ours, 3),
            cpu_seconds(theirs, 1),
            "NumPy loops over points and votes, LogisticRegression",
            f"scores {values}",
        )
    ]
    matrix = demele.metrics.irs(codes, labels).matrix.to_numpy()
    difference = np.abs(matrix - reference.irs(codes, labels)).max()
    assert difference < 1e-9, difference
    rows.append(
        row(
            "IRS",
            f"N = {N:,}, d = M = 8, 10 levels",
            cpu_seconds(lambda: crossed_deviations(codes, labels, [10] * 8), 10),
            cpu_seconds(lambda: reference.irs(codes, labels), 3),
            "NumPy loop over factors and values",
            f"largest difference {difference:.1e}",
        )
    )
    rows.append(
        row(
            "IRS, validated, standardised and presented",
            f"N = {N:,}, d = M = 8, 10 levels",
            cpu_seconds(lambda: demele.metrics.irs(codes, labels), 10),
            cpu_seconds(lambda: reference.irs(codes, labels), 3),
            "the same loop, which checks nothing",
            f"largest difference {difference:.1e}",
        )
    )
    return rows


def sap() -> list[Row]:
    """SAP on categorical factors."""
    codes, factors = mixing(N, 8, 0.2)
    labels = levels(factors)
    order = np.random.default_rng(0).permutation(N)
    train, test = np.sort(order[: N // 2]), np.sort(order[N // 2 :])
    standard = (codes - codes.mean(axis=0)) / codes.std(axis=0)
    from demele.estimation.univariate import linear_classifier_accuracy_matrix

    def ours() -> np.ndarray:
        split = [[labels[rows, i] for i in range(8)] for rows in (train, test)]
        return linear_classifier_accuracy_matrix(
            standard[train], split[0], standard[test], split[1], n_classes=[10] * 8
        )

    theirs = reference.sap_categorical(standard, labels, train, test)
    difference = np.abs(ours() - theirs).max()
    assert difference < 0.02, difference
    return [
        row(
            "SAP, categorical factors",
            f"N = {N:,}, d = M = 8, 10 levels, half of the rows each",
            cpu_seconds(ours, 3),
            cpu_seconds(lambda: reference.sap_categorical(standard, labels, train, test), 1),
            "LinearSVC per code and factor",
            f"largest difference of an accuracy {difference:.1e} (the reference stops early)",
        )
    ]


def forest() -> list[Row]:
    """DCI forest, depth and features tuned: one factor of the reference, times the number of factors."""
    codes, factors = mixing(N, 8, 0.2)

    def ours() -> object:
        return demele.evaluate(
            codes, factors, [f"dci_forest_{p}" for p in ("modularity", "compactness", "explicitness")]
        )

    return [
        row(
            "DCI forest, depth and features tuned",
            f"N = {N:,}, d = M = 8, 10 trees",
            cpu_seconds(ours, 2),
            8 * cpu_seconds(lambda: reference.dci_forest_factor(codes, factors[:, 0]), 1),
            "GridSearchCV over 20 settings, 10 folds; 8 x the time of one factor",
            "",
        )
    ]


def boosting() -> list[Row]:
    """DCI boosted trees: one factor of the reference, times the number of factors."""
    from sklearn.ensemble import GradientBoostingClassifier

    codes, factors = mixing(15_000, 8, 0.2)
    labels = levels(factors)

    def ours() -> object:
        options = {"dci_boosting": {"n_train": 10_000, "n_test": 5_000}}
        return demele.evaluate(codes, labels, ["dci_boosting_explicitness"], options=options)

    def theirs() -> object:
        model = GradientBoostingClassifier().fit(codes[:10_000], labels[:10_000, 0])
        return model.score(codes[10_000:], labels[10_000:, 0])

    return [
        row(
            "DCI boosted trees",
            "10 000 + 5 000 rows, d = M = 8, 10 levels",
            cpu_seconds(ours, 1),
            8 * cpu_seconds(theirs, 1),
            "GradientBoostingClassifier; 8 x the time of one factor",
            "",
        )
    ]


CASES = (histogram, knn, explicitness, interventions, sap, boosting, forest)

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main({"speed": Table(cells=CASES, measured=lambda case: case())})
