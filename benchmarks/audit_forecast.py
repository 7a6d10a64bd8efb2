"""Are forecasts of audits kept? Shares that were forecast, beside what audits of real experts' answers then settled.

    python -m benchmarks.audit_forecast     some minutes of CPU

Writes results/audit_forecast.csv. Pairs of the ten language models of MMLU-Redux, whose published answers experts have
corrected. An audit of 60 questions is drawn, weighted or uniform; ``plan_audit`` says with which share audits of
120, 240 and 480 would settle the pair; then such audits are drawn, 20 of each, and read with the experts' answers. A
line for each tenth of the forecast share: how many forecasts, their mean, the share of audits that settled it, with the
standard error over forecasts. Forecasts know 60 answers; the audits that they are held against begin with these if
they are uniform.
"""

import itertools

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Table, main
from demele import data, labels
from demele.classifiers import plan_audit
from demele.classifiers.comparison.audit_forecast import uniform_audit, weighted_audit
from demele.classifiers.question import Question
from demele.core.labelled import read_labelled
from demele.core.seeds import rng_for

BEGUN, SIZES = 60, (120, 240, 480)
DRAWS, AUDITS, PAIRS = 20, 20, 20
TENTHS = 10


def held(design: str, pairs: int) -> list[dict[str, object]]:
    """Hold forecasts against audits of some pairs of models, and return how far they agree."""
    questions = data.label_set("mmlu_redux")
    right = np.asarray(questions.true_labels)
    chosen = list(itertools.combinations(questions.models, 2))[:pairs]
    found = [one for place, pair in enumerate(chosen) for one in _held(questions, pair, design, right, seed=place)]
    return _by_tenths(design, np.array(found))


def _held(
    questions: data.LabelSet, pair: tuple[str, str], design: str, right: NDArray[np.object_], seed: int
) -> list[tuple[float, float]]:
    """Return (share that was forecast, share that was settled) for each size."""
    models = questions.predictions[list(pair)]
    doubts = labels.disagreement(models)
    plan = labels.draw_audit(questions.n, BEGUN, disagreement=doubts if design == "weighted" else None, seed=seed)
    forecast = plan_audit(
        models,
        questions.labels,
        sizes=SIZES,
        audit=plan.answered(right[plan.rows]),
        classes=questions.classes,
        draws=DRAWS,
        seed=seed,
    )
    read = read_labelled(dict(models), questions.labels, classes=questions.classes)
    question = Question(data=read, baseline=np.array([0]), candidate=np.array([1]))
    truth = read.vocabulary.encode(right, "true_labels")
    held = []
    for size in SIZES:
        said = next(one for one in forecast.prospects if (one.design, one.rows) == (design, size))
        settled = 0
        for draw in range(AUDITS):
            rng = rng_for(seed, "audit_forecast", str(draw))
            if design == "uniform":
                verdict, _ = uniform_audit(question, truth, size, rng, plan.rows)
            else:
                verdict, _ = weighted_audit(question, truth, size, doubts, int(rng.integers(2**31)))
            settled += int(verdict[0] != 0)
        held.append((said.settled, settled / AUDITS))
    return held


def _by_tenths(design: str, found: NDArray[np.float64]) -> list[dict[str, object]]:
    """Gather forecasts that said about the same, and what became of them."""
    tenth = np.minimum((found[:, 0] * TENTHS).astype(int), TENTHS - 1)
    rows: list[dict[str, object]] = []
    for number in range(TENTHS):
        said, kept = found[tenth == number].T
        if said.size:
            error = kept.std(ddof=1) / np.sqrt(kept.size) if kept.size > 1 else float("nan")
            rows.append(
                {
                    "design": design,
                    "forecast_from": number / TENTHS,
                    "forecasts": said.size,
                    "mean_forecast": round(float(said.mean()), 3),
                    "settled": round(float(kept.mean()), 3),
                    "standard_error": round(float(error), 3),
                }
            )
    return rows


if __name__ == "__main__":
    main({"audit_forecast": Table(cells=("uniform", "weighted"), measured=held, repeats=PAIRS)})
