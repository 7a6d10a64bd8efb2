"""All ordered pairs of many classifiers on one noisy test set: CPU seconds of each comparison method.

Run alone: ``python -m benchmarks.time_compare``; writes results/compare.csv. Single thread: the module sets the thread
counts before NumPy is loaded. The worst case of some pairs is compared with a plain loop before anything is timed, and
that loop is timed too.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

from collections.abc import Callable  # noqa: E402
from dataclasses import replace  # noqa: E402

import numpy as np  # noqa: E402
from scipy.stats import binomtest  # noqa: E402

from benchmarks.cases import cpu_seconds, write_rows  # noqa: E402
from demele.core.labelled import read_labelled  # noqa: E402
from demele.evaluation.comparison.bounded import bounded, breakdown  # noqa: E402
from demele.evaluation.comparison.methods import METHODS  # noqa: E402
from demele.evaluation.comparison.rank import rank  # noqa: E402
from demele.evaluation.question import Question  # noqa: E402
from demele.noise.transition import TransitionMatrix  # noqa: E402

N, CLASSES, MODELS, RATE = 12_000, 10, 100, 0.05
#: Pairs of the plain loop, which is too slow for all.
LOOPED = 200


def make(n: int = N, k: int = CLASSES, models: int = MODELS) -> Question:
    """Classifiers right on 55 to 90% of the instances, a twentieth of whose labels is wrong."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, k, n)
    labels = np.where(rng.random(n) < RATE, rng.integers(0, k, n), truth)
    skill = np.linspace(0.55, 0.9, models)[:, None]
    predictions = np.where(rng.random((models, n)) < skill, truth, rng.integers(0, k, (models, n)))
    data = read_labelled({f"model {i}": row for i, row in enumerate(predictions)}, labels)
    pairs = np.argwhere(~np.eye(models, dtype=np.bool_))
    return Question(
        data=data,
        established=pairs[:, 0],
        candidate=pairs[:, 1],
        noise=RATE,
        difficulty=(predictions != labels).sum(axis=0).astype(np.float64),
        suspects=rng.random(n) < RATE,
        reference=data.predictions[0],
        true_labels=truth.astype(np.int32),
    )


def loop(question: Question, pairs: int) -> list[float]:
    """The worst-case p-value of some pairs, as one would write it for one pair."""
    labels, most = question.data.labels, int(RATE * question.data.n)
    found = []
    for i, j in zip(question.established[:pairs], question.candidate[:pairs], strict=True):
        first, second = question.data.predictions[i] == labels, question.data.predictions[j] == labels
        lost, won = int((first & ~second).sum()), int((second & ~first).sum())
        neither = int(((question.data.predictions[i] != question.data.predictions[j]) & ~first & ~second).sum())
        exchanged = min(most, won)
        lost, won = lost + exchanged + min(most - exchanged, neither), won - exchanged
        found.append(float(binomtest(won, lost + won, alternative="greater").pvalue))
    return found


def main() -> None:
    """Measure all methods and write results/compare.csv."""
    question = make()
    p_values = bounded(question).p_value
    assert p_values is not None
    np.testing.assert_allclose(p_values[:LOOPED], loop(question, LOOPED), rtol=1e-9, atol=1e-300)
    matrix = TransitionMatrix(np.eye(CLASSES) * (1 - RATE - RATE / 9) + RATE / 9)
    models = dict(zip(question.data.names, question.data.predictions, strict=True))

    def fresh(**changes: object) -> Question:
        """The question about data that nothing was counted of."""
        data = question.data.relabelled(question.data.labels)
        return replace(question, data=data, **changes)  # type: ignore[arg-type]

    def asked(name: str, **changes: object) -> Callable[[], object]:
        return lambda: METHODS[name](fresh(**changes))

    cases: dict[str, Callable[[], object]] = {
        "classic": asked("classic"),
        "prudent-v1": asked("prudent-v1"),
        "prudent-v1, F1 of a class": asked("prudent-v1", measure="f1", of=0),
        "prudent-v2": asked("prudent-v2"),
        "prudent-v2, F1 of a class": asked("prudent-v2", measure="f1", of=0),
        "cleaned": asked("cleaned"),
        "label-free": asked("label-free"),
        "bounded": asked("bounded"),
        "bounded, target overlap": asked("bounded", target="overlap"),
        "bounded, transition matrix": asked("bounded", noise=matrix),
        "breakdown rates, paired test": lambda: breakdown(fresh(), "bounded"),
        "breakdown rates, overlap": lambda: breakdown(fresh(), "classic"),
        "rank, bounded, Holm, with breakdown rates": lambda: rank(models, question.data.labels, noise=RATE).pairs,
    }
    plain = cpu_seconds(lambda: loop(question, LOOPED)) / LOOPED * question.n_pairs
    rows = []
    for name, function in cases.items():
        function()  # imports are not what is measured
        seconds = cpu_seconds(function)
        rows.append(
            {
                "what": name,
                "pairs": question.n_pairs,
                "rows": N,
                "classes": CLASSES,
                "CPU s": float(f"{seconds:.2g}"),
                "plain loop, CPU s": float(f"{plain:.2g}") if name == "bounded" else "",
            }
        )
        print(rows[-1], flush=True)
    write_rows("compare", rows)


if __name__ == "__main__":
    main()
