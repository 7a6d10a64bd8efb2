"""Coverage and width for a rare class: a uniform audit, strata by who calls a row positive, and an assumption.

    python -m benchmarks.rare_classes     about ten minutes on one core

Writes results/rare_classes.csv. A label and two classifiers call rows positive; 250 of 2 000 rows are audited: at
random, or half of them among the rows that one of the three calls positive. A share of the positives is hidden from
all three. ``assumed``: the largest share of positives among the other rows that is allowed: none (``-``), the true one,
or 0, which is wrong wherever ``unseen`` is more than 0. ``refused``: audits that contradict the assumption;
the others are counted. ``beyond``: mean distance of the value from an interval that misses it.
"""

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Row, Table, main
from demele.classifiers import compare
from demele.classifiers.measures.audit_interval import audited_ends
from demele.core.arrays import rng_for
from demele.core.errors import InputError
from demele.core.labelled import read_labelled
from demele.core.results import Interval
from demele.noise.audit import Audit, draw_audit

Ints = NDArray[np.int64]

N = 2000
AUDITED = 250
DRAWS = 600
#: Draws in which the two classifiers are compared too.
COMPARED = 200
GRID = tuple(itertools.product((0.01, 0.03), (0.7, 0.85, 1.0), (0.0, 0.1)))


def _world(rng: np.random.Generator, share: float, sensitivity: float, hidden: float) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the truth, the given labels and two classifiers."""
    truth = (rng.random(N) < share).astype(np.int64)
    truth[:2] = 1, 0
    seen = truth * (rng.random(N) >= hidden)

    def calls(positive: float, negative: float) -> Ints:
        found, mistaken = rng.random(N) < positive, rng.random(N) >= negative
        return np.where(seen == 1, found, (truth == 0) & mistaken).astype(np.int64)

    return truth, calls(sensitivity, 0.99), calls(0.8, 0.97), calls(0.85, 0.97)


def _audits(truth: Ints, within: Ints, seed: int) -> dict[str, Audit]:
    """Return a uniform audit, a stratified one, and this with the true assumption and with one of 0."""
    unseen = truth.sum() - truth[within].sum()
    plans = [draw_audit(N, AUDITED, seed=seed), draw_audit(N, AUDITED, within=within, seed=seed)]
    uniform, strata = (plan.answered(truth[plan.rows]) for plan in plans)
    assumed = {
        name: plans[1].answered(truth[plans[1].rows], unseen_positives=float(most))
        for name, most in (("true", unseen / (N - within.size)), ("0", 0.0))
    }
    return {"uniform, -": uniform, "strata, -": strata} | {f"strata, {name}": one for name, one in assumed.items()}


def _one(cell: tuple[float, float, float], draw: int) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Width, distance of the value from the interval, and unseen positives, of each audit and measure."""
    rng = rng_for(0, "rare_classes", *map(str, cell), draw)
    truth, labels, old, new = _world(rng, *cell)
    within = np.flatnonzero(labels | old | new)
    data = read_labelled({"old": old, "new": new}, labels, classes=[0, 1])
    found: dict[tuple[str, str], tuple[float, float, float]] = {}
    positives = truth.sum()
    recalls = [float((said * truth).sum() / positives) for said in (old, new)]
    values = {"recall": recalls[0], "f1": float(2 * (old * truth).sum() / (old.sum() + positives))}
    for name, audit in _audits(truth, within, draw).items():
        coded = audit.coded(data.vocabulary, N)
        try:
            coded.assumed(data.labels)
        except InputError:
            continue
        ends: dict[str, tuple[Interval, float]] = {}
        for measure, value in values.items():
            _, low, high = audited_ends(data, coded, measure, 0.95, inference="test_set")
            ends[measure] = Interval(low=float(low[1]), high=float(high[1]), level=0.95, method="audit"), value
        if name.endswith("-") and draw < COMPARED:
            decision = compare(
                old, new, labels, audit=audit, measure="recall", of=1, inference="test_set", classes=[0, 1]
            )
            ends["difference in recall"] = decision.interval, recalls[1] - recalls[0]
        for measure, (one, value) in ends.items():
            beyond = max(one.low - value - 1e-9, value - one.high - 1e-9, 0.0)
            found[name, measure] = one.high - one.low, beyond, float(positives - truth[within].sum())
    return found


def measured(cell: tuple[float, float, float], draws: int) -> Iterator[Row]:
    """Simulate a world."""
    every = [_one(cell, draw) for draw in range(draws)]
    for name, measure in dict.fromkeys(key for one in every for key in one):
        table = np.array([one[name, measure] for one in every if (name, measure) in one])
        missed = table[:, 1] > 0
        design, assumed = name.split(", ")
        yield {
            **dict(zip(("prevalence", "sensitivity", "hidden"), cell, strict=True)),
            "design": design,
            "assumed": assumed,
            "measure": measure,
            "draws": len(table),
            "refused": (min(draws, COMPARED) if measure.startswith("difference") else draws) - len(table),
            "unseen": f"{table[:, 2].mean():.2f}",
            "median_width": f"{np.median(np.where(np.isnan(table[:, 0]), 2, table[:, 0])):.3f}",
            "coverage": f"{1 - missed.mean():.3f}",
            "beyond": f"{table[missed, 1].mean() if missed.any() else 0:.3f}",
        }


if __name__ == "__main__":
    main({"rare_classes": Table(cells=GRID, measured=measured, repeats=DRAWS)})
