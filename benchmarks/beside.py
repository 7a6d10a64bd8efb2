"""The same questions asked of demele and of other packages, on the same arrays: CPU time, and whether answers agree.

The other packages are no dependencies of demele; best in an environment of its own, with demele in it::

    pip install cleanlab==2.9.0 crowd-kit==1.4.2 statsmodels==0.15.0 ppi-python==0.2.3
    python -m benchmarks.beside

Writes ``benchmarks/results/beside.csv``. One thread; the least of three runs; both sides in one process, by turns.
"""

import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.cases import cpu_seconds
from benchmarks.loop import Table, main
from demele import classifiers, data, labels

N, CLASSES = 12_000, 10
#: Models of the ranking.
MODELS = 10


def predictions_of_models(n: int = N, models: int = MODELS) -> tuple[np.ndarray, np.ndarray]:
    """Predictions of classifiers of 80 to 84.5 %, one per column, and labels."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, CLASSES, n)
    wrong = (truth[:, None] + rng.integers(1, CLASSES, (n, models))) % CLASSES
    right = rng.random((n, models)) < 0.80 + 0.005 * np.arange(models)
    return np.where(right, truth[:, None], wrong), truth


def mcnemar_of_a_pair() -> dict[str, object]:
    """One exact paired test; demele also says how many wrong labels the verdict bears."""
    from statsmodels.stats.contingency_tables import mcnemar

    predictions, truth = predictions_of_models()
    old, new = predictions[:, 0], predictions[:, 4]

    def theirs() -> float:
        a, b = old == truth, new == truth
        table = [[np.sum(a & b), np.sum(a & ~b)], [np.sum(~a & b), np.sum(~a & ~b)]]
        return float(mcnemar(table, exact=True).pvalue)

    def ours() -> float:
        return float(classifiers.compare(old, new, truth, noise=0).p_value)

    return _row("one pair, exact paired test", f"{N:,} rows", "statsmodels", ours, theirs, _gap(2 * ours(), theirs()))


def mcnemar_of_all_pairs() -> dict[str, object]:
    """All pairs under Holm's procedure; demele also gives ranks and intervals."""
    from statsmodels.stats.contingency_tables import mcnemar
    from statsmodels.stats.multitest import multipletests

    predictions, truth = predictions_of_models()
    names = [f"m{k}" for k in range(MODELS)]

    def theirs() -> int:
        correct = predictions == truth[:, None]
        found = []
        for i in range(MODELS):
            for j in range(i):
                lost, won = np.sum(correct[:, i] & ~correct[:, j]), np.sum(~correct[:, i] & correct[:, j])
                found.append(mcnemar([[0, lost], [won, 0]], exact=True).pvalue)
        return int(multipletests(found, 0.05, method="holm")[0].sum())

    def ours() -> int:
        told = dict(zip(names, predictions.T, strict=True))
        ranking = classifiers.rank(told, truth, noise=0)
        # Each pair stands there in both orders.
        return sum(pair["verdict"] != "inconclusive" for pair in ranking.to_dict()["pairs"]) // 2

    said = f"{ours()} and {theirs()} of {MODELS * (MODELS - 1) // 2} pairs decided"
    return _row("all pairs, Holm", f"{MODELS} models, {N:,} rows", "statsmodels", ours, theirs, said)


def interval_of_an_accuracy() -> dict[str, object]:
    """Wilson's interval from arrays of predictions."""
    from statsmodels.stats.proportion import proportion_confint

    predictions, truth = predictions_of_models()
    one = predictions[:, 0]

    def theirs() -> Any:
        return proportion_confint(int(np.sum(one == truth)), N, method="wilson")

    def ours() -> Any:
        return classifiers.stats.score_interval(int(np.sum(one == truth)), N)

    gap = _gap(np.array(ours()), np.array(theirs()))
    return _row("interval of an accuracy", f"{N:,} rows", "statsmodels", ours, theirs, gap)


def suspects() -> dict[str, object]:
    """Confident learning from given probabilities."""
    from cleanlab.filter import find_label_issues

    rng = np.random.default_rng(1)
    truth = rng.integers(0, CLASSES, 50_000)
    given = np.where(rng.random(truth.size) < 0.05, rng.integers(0, CLASSES, truth.size), truth)
    logits = rng.normal(size=(truth.size, CLASSES)) + 3 * np.eye(CLASSES)[truth]
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)

    def theirs() -> Any:
        return find_label_issues(given, probabilities, n_jobs=1)

    def ours() -> Any:
        return labels.clean(given, probabilities, method="confident").suspect

    same = f"{np.mean(np.asarray(ours()) == theirs()):.5f} of the suspects the same"
    return _row("suspected labels, confident learning", "50,000 rows, 10 classes", "cleanlab", ours, theirs, same)


def joined_answers() -> dict[str, object]:
    """Dawid and Skene's model of bundled answers, 20 iterations on both sides."""
    from crowdkit.aggregation import DawidSkene

    answers = data.load_example("mozafari_1000").to_frame()
    table = answers.set_axis(["task", "worker", "label"], axis=1)

    def theirs() -> Any:
        return DawidSkene(n_iter=20, tol=-np.inf).fit_predict(table)

    def ours() -> Any:
        return labels.dawid_skene(answers, max_iterations=20, tolerance=1e-300)

    found, other = ours(), theirs()
    mine = dict(zip(found.items, found.labels, strict=True))
    same = np.mean([mine[item] == label for item, label in other.items()])
    said = f"{same:.4f} of the labels the same"
    return _row("Dawid-Skene, 20 iterations", "5,000 answers of 83 people", "crowd-kit", ours, theirs, said)


def estimate_from_an_audit() -> dict[str, object]:
    """The accuracy of a classifier from 300 expert labels and 12 000 given ones: width of both intervals."""
    from ppi_py import ppi_mean_ci

    predictions, truth = predictions_of_models()
    rng = np.random.default_rng(2)
    given = np.where(rng.random(N) < 0.03, (truth + 1) % CLASSES, truth)
    one = predictions[:, 0]
    plan = labels.draw_audit(N, 300, seed=0)
    audit = plan.answered(truth[plan.rows])
    rest = np.setdiff1d(np.arange(N), plan.rows)
    correct, said = (one == truth).astype(float), (one == given).astype(float)

    def theirs() -> Any:
        low, high = ppi_mean_ci(correct[plan.rows], said[plan.rows], said[rest], alpha=0.05)
        return float(low[0]), float(high[0])

    def ours() -> Any:
        span = classifiers.assess(one, given, noise=audit)["accuracy"].corrected
        return span.low, span.high

    widths = [100 * (high - low) for low, high in (ours(), theirs())]
    told = f"widths {widths[0]:.2f} and {widths[1]:.2f} points"
    return _row("accuracy from 300 expert labels", f"{N:,} rows", "ppi-python", ours, theirs, told)


QUESTIONS: tuple[Callable[[], dict[str, object]], ...] = (
    mcnemar_of_a_pair,
    mcnemar_of_all_pairs,
    interval_of_an_accuracy,
    suspects,
    joined_answers,
    estimate_from_an_audit,
)


def _row(
    question: str, size: str, package: str, ours: Callable[[], object], theirs: Callable[[], object], answers: str
) -> dict[str, object]:
    mine, other = (cpu_seconds(lambda call=call: [call() for _ in range(5)]) / 5 for call in (ours, theirs))
    return {
        "question": question,
        "size": size,
        "package": f"{package} {version(package)}",
        "demele, CPU ms": f"{1000 * mine:.3g}",
        "package, CPU ms": f"{1000 * other:.3g}",
        "package / demele": f"{other / mine:.2g}",
        "answers": answers,
    }


def _gap(ours: Any, theirs: Any) -> str:
    return f"largest difference {float(np.max(np.abs(np.asarray(ours) - np.asarray(theirs)))):.1e}"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main({"beside": Table(cells=QUESTIONS, measured=lambda question: question())})
