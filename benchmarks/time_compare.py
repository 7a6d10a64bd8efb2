"""All ordered pairs of many classifiers on one noisy test set: CPU seconds of each comparison method.

``python -m benchmarks.time_compare`` writes results/compare.csv. Single thread. The worst case of some pairs is
compared with a plain loop before anything is timed, and that loop is timed too.
"""

from dataclasses import replace
from functools import cache

import numpy as np
from scipy.stats import binomtest

from benchmarks.cases import cpu_seconds
from benchmarks.loop import Table, main
from demele.core.labelled import read_labelled
from demele.evaluation.comparison.breakdown import breakdown
from demele.evaluation.comparison.methods import METHODS
from demele.evaluation.comparison.rank import rank
from demele.evaluation.comparison.worst_case import worst_case
from demele.evaluation.question import Question
from demele.noise.transition import TransitionMatrix

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
        baseline=pairs[:, 0],
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
    for i, j in zip(question.baseline[:pairs], question.candidate[:pairs], strict=True):
        first, second = question.data.predictions[i] == labels, question.data.predictions[j] == labels
        lost, won = int((first & ~second).sum()), int((second & ~first).sum())
        neither = int(((question.data.predictions[i] != question.data.predictions[j]) & ~first & ~second).sum())
        exchanged = min(most, won)
        lost, won = lost + exchanged + min(most - exchanged, neither), won - exchanged
        found.append(float(binomtest(won, lost + won, alternative="greater").pvalue))
    return found


CASES: dict[str, tuple[str, dict[str, object]]] = {
    "overlap": ("overlap", {}),
    "worst-case-overlap": ("worst-case-overlap", {}),
    "worst-case-overlap, F1 of a class": ("worst-case-overlap", {"measure": "f1", "of": 0}),
    "hard-rows": ("hard-rows", {}),
    "hard-rows, F1 of a class": ("hard-rows", {"measure": "f1", "of": 0}),
    "cleaned": ("cleaned", {}),
    "agreement": ("agreement", {}),
    "worst-case": ("worst-case", {}),
    "worst-case, inference overlap": ("worst-case", {"inference": "overlap"}),
    "worst-case, transition matrix": (
        "worst-case",
        {"noise": TransitionMatrix(np.eye(CLASSES) * (1 - RATE - RATE / 9) + RATE / 9)},
    ),
}
BREAKDOWNS = {"breakdown rates, paired test": "worst-case", "breakdown rates, overlap": "overlap"}
RANKED = "rank, bounded, Holm, with breakdown rates"


@cache
def asked() -> Question:
    """Return the question, after its worst case was compared with that of a plain loop."""
    question = make()
    p_values = worst_case(question).p_value
    assert p_values is not None
    np.testing.assert_allclose(p_values[:LOOPED], loop(question, LOOPED), rtol=1e-9, atol=1e-300)
    return question


def measured(name: str) -> dict[str, object]:
    """Time one case."""
    question = asked()

    def function() -> object:
        if name == RANKED:
            models = dict(zip(question.data.names, question.data.predictions, strict=True))
            return rank(models, question.data.labels, noise=RATE).pairs
        fresh = replace(question, data=question.data.relabelled(question.data.labels))  # nothing was counted of it
        if name in BREAKDOWNS:
            return breakdown(fresh, METHODS[BREAKDOWNS[name]])
        method, changes = CASES[name]
        return METHODS[method](replace(fresh, **changes))

    function()  # imports are not what is measured
    row: dict[str, object] = {"what": name, "pairs": question.n_pairs, "rows": N, "classes": CLASSES}
    row["CPU s"] = float(f"{cpu_seconds(function):.2g}")
    plain = cpu_seconds(lambda: loop(question, LOOPED)) / LOOPED * question.n_pairs if name == "worst-case" else None
    return {**row, "plain loop, CPU s": "" if plain is None else float(f"{plain:.2g}")}


if __name__ == "__main__":
    main({"compare": Table(cells=(*CASES, *BREAKDOWNS, RANKED), measured=measured)})
