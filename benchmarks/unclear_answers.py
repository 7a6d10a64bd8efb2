"""What answers "unclear" do to audits: coverage of intervals and errors of verdicts, by how unclear rows are chosen.

2000 rows of ten classes, two classifiers that are right on 85 % each and err independently, 10 % wrong labels at
random, 300 audited rows. A share of the rows is unclear to the expert: any row alike, or eight times as often rows on
which one or the other classifier errs, rows with a wrong label, or rows on which the candidate alone errs. What is
asked about is all rows, clear or not; every claim is an error.

    python -m benchmarks.unclear_answers     three minutes on one core; writes results/unclear_answers.csv
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Row, Table, main, repeated
from benchmarks.pairs import asked, read
from demele.classifiers.comparison.methods import METHODS
from demele.core.seeds import rng_for
from demele.noise.audit import Audit, disagreement, draw_audit

Rows = NDArray[np.intp]

N, K, AUDITED, RIGHT, WRONG = 2000, 10, 300, 0.85, 0.1
REPEATS = 400
#: How much likelier rows of the kind are unclear than the others.
LIKELIER = 8.0
KINDS = ("any row", "a classifier errs", "a wrong label", "the candidate alone errs")


@dataclass(frozen=True, slots=True)
class Cell:
    """How the audit is drawn, and which share of the rows of which kind is unclear."""

    design: str
    kind: str
    share: float


def cells() -> list[Cell]:
    """Everything that is measured."""
    return [
        Cell(design, kind, share)
        for design, kind, share in itertools.product(("uniform", "weighted"), KINDS, (0.0, 0.05, 0.2))
        if share or kind == KINDS[0]
    ]


def once(cell: Cell, index: int) -> dict[str, float]:
    """Draw a test set and its audit, and decide; whether intervals hold the truth of the population."""
    rng = rng_for(0, "unclear answers", cell.design, cell.kind, f"{cell.share:g}", index)
    truth = rng.integers(0, K, N)
    right = rng.random((2, N)) < RIGHT
    said = np.where(right, truth, (truth + rng.integers(1, K, (2, N))) % K)
    labels = np.where(rng.random(N) < WRONG, (truth + rng.integers(1, K, N)) % K, truth)
    unclear = _unclear(cell, truth, said, labels, rng)
    plan = draw_audit(
        N, AUDITED, disagreement=disagreement(said) if cell.design == "weighted" else None, floor=0.4, seed=index
    )
    kept = ~unclear[plan.rows]
    rows, lost = plan.rows[kept], int((~kept).sum())
    chances = None if plan.probabilities is None else plan.probabilities[kept] * kept.mean()
    audit = Audit(rows, truth[rows], design=plan.design, probabilities=chances, unclear=lost)
    outcomes = METHODS["audit"](asked(labels, said, K, audit=audit))
    own = outcomes.candidate_interval
    assert own is not None
    return {
        **read(outcomes, 0.0),
        "own_covers": float(own[0][0] <= RIGHT <= own[1][0]),
        "bias": float((own[0][0] + own[1][0]) / 2 - RIGHT),
    }


def _unclear(cell: Cell, truth: Rows, said: Rows, labels: Rows, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return which rows nobody can label: the share wanted, those of the kind more often."""
    kinds = {
        "any row": np.zeros(N, dtype=bool),
        "a classifier errs": (said != truth).any(axis=0),
        "a wrong label": labels != truth,
        "the candidate alone errs": (said[0] == truth) & (said[1] != truth),
    }
    weight = np.where(kinds[cell.kind], LIKELIER, 1.0)
    chosen = np.zeros(N, dtype=bool)
    size = round(cell.share * N)
    chosen[rng.choice(N, size, replace=False, p=weight / weight.sum())] = True
    return chosen


def measured(cell: Cell, repeats: int) -> Row:
    """Return the means over test sets."""
    mean = {name: 100 * float(own.mean()) for name, own in repeated(once, cell, repeats).items()}
    return {
        "design": cell.design,
        "unclear": cell.kind,
        "share_percent": f"{100 * cell.share:g}",
        "candidate_claimed_percent": f"{mean['candidate']:.1f}",
        "baseline_claimed_percent": f"{mean['baseline']:.1f}",
        "coverage_percent": f"{mean['covers']:.1f}",
        "accuracy_coverage_percent": f"{mean['own_covers']:.1f}",
        "accuracy_off_points": f"{mean['bias']:+.1f}",
        "width_points": f"{mean['width']:.1f}",
        "test_sets": repeats,
    }


if __name__ == "__main__":
    main({"unclear_answers": Table(cells=cells, measured=measured, repeats=REPEATS)})
