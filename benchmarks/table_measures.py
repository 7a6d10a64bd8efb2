"""How often comparisons by macro F1, balanced accuracy and Matthews correlation err, where they are weakest.

Two classifiers that are equally good in the population by the measure asked for; every claim is an error. One class is
rare, of the others each is as frequent. Classifiers err alike often on every class and independently of each other, or
repeat each other on a share of the rows, so that few disagree; or the candidate is worse on the common classes and so
much better on the rare one that the measure is the same. Labels are right, wrong at random, or *copies*: wrong labels
that repeat the candidate where the baseline is right.

    python -m benchmarks.table_measures   goes on where it stopped; writes results/table_measures.csv
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Row, Table, main, repeated
from benchmarks.loop import share as share_of
from benchmarks.pairs import asked, read
from demele.classifiers.comparison.methods import METHODS
from demele.classifiers.question import Groups
from demele.classifiers.table_measures import TABLE_MEASURES
from demele.classifiers.table_measures import Table as Shares
from demele.core.arrays import rng_for
from demele.noise.audit import disagreement, draw_audit

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

CLASSIC_REPEATS, AUDITED_REPEATS = 2000, 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One world, and how it is asked: by labels, by the rate of wrong ones (``worst-case-overlap``), or an audit.

    ``share``: of the rare class. ``alike``: share of rows on which the candidate repeats the other. ``worse``: by how
    much it is less often right on the common classes. ``lead``: by how much it is more often right everywhere.
    ``groups``: rows of a group, which are identical but for their labels. ``others``: more models, which disagreement
    and guess rest on too; rows are hard for them to very different degrees.
    """

    design: str = "labels"
    n: int = 2000
    k: int = 10
    share: float = 0.1
    accuracy: float = 0.9
    audited: int = 0
    noise: float = 0.0
    labels: str = "right"
    alike: float = 0.0
    worse: float = 0.0
    lead: float = 0.0
    groups: int = 1
    given: bool = True
    others: int = 0

    @property
    def name(self) -> str:
        """Unique, in words."""
        parts = [self.design, f"{self.audited} audited" if self.audited else "", f"n={self.n}", f"K={self.k}"]
        parts += [f"share {self.share:g}", f"accuracy {self.accuracy:g}", f"noise {self.noise:g} {self.labels}"]
        parts += [
            f"{what} {value:g}" for what in ("alike", "worse", "lead", "others") if (value := getattr(self, what))
        ]
        parts += [f"groups of {self.groups}{'' if self.given else ', not given'}"] if self.groups > 1 else []
        return ", ".join(part for part in parts if part)

    @property
    def repeats(self) -> int:
        """Test sets drawn."""
        return AUDITED_REPEATS if self.audited or self.design == "rate" else CLASSIC_REPEATS

    def classes(self) -> Floats:
        """Share of every class."""
        found: Floats = np.r_[self.share, np.full(self.k - 1, (1 - self.share) / (self.k - 1))]
        return found

    def right(self, measure: str) -> tuple[Floats, Floats]:
        """How often each of the two is right, by true class: equally good by the measure unless one leads."""
        first = np.full(self.k, self.accuracy)
        if not self.worse:
            return first, first + self.lead
        from scipy.optimize import brentq

        first[0] -= 0.3
        second = first - self.worse

        def gap(rare: float) -> float:
            return self.value(measure, np.r_[rare, second[1:]]) - self.value(measure, first)

        second[0] = brentq(gap, 0.01, 1.0)
        return first, second

    def value(self, measure: str, right: Floats) -> float:
        """Measure in the population."""
        shares = self.classes()
        hits = shares * right
        missed = (shares - hits) / (self.k - 1)
        said = hits + missed.sum() - missed
        return float(Shares(hits[None], shares[None], said[None]).value(measure)[0])


def cells() -> list[Cell]:
    """Everything that is measured."""
    found = [
        Cell(n=n, k=k, share=share, accuracy=accuracy)
        for n, k, share, accuracy in [
            (200, 2, 0.1, 0.9),
            (200, 3, 0.05, 0.8),
            (500, 2, 0.02, 0.9),
            (500, 10, 0.02, 0.8),
            (2000, 10, 0.02, 0.9),
            (2000, 3, 0.1, 0.95),
            (2000, 2, 0.005, 0.9),
            (500, 3, 0.01, 0.8),
        ]
    ]
    found += [Cell(n=500, k=k, share=0.05, alike=0.95) for k in (2, 10)]
    found += [Cell(n=2000, k=3, share=0.01, alike=0.97), Cell(n=200, k=3, share=0.05, alike=0.9)]
    found += [
        Cell(n=n, k=k, share=0.05, worse=worse) for n, k, worse in ((500, 2, 0.03), (2000, 2, 0.03), (2000, 10, 0.01))
    ]
    found += [
        Cell(n=2000, k=5, share=0.05, groups=size, given=given)
        for size, given in ((5, False), (5, True), (20, False), (20, True))
    ]
    uniform = [
        (2000, 10, 0.05, 0.9, 300, 0.05, "copies"),
        (2000, 2, 0.1, 0.9, 100, 0.05, "copies"),
        (2000, 10, 0.1, 0.8, 100, 0.05, "copies"),
        (2000, 10, 0.1, 0.9, 100, 0.02, "copies"),
        (5000, 5, 0.05, 0.95, 300, 0.01, "copies"),
        (2000, 3, 0.01, 0.9, 300, 0.02, "copies"),
        (2000, 10, 0.02, 0.9, 100, 0.1, "random"),
    ]
    weighted = [
        (2000, 10, 0.05, 0.9, 300, 0.05, "copies"),
        (2000, 2, 0.1, 0.9, 100, 0.05, "copies"),
        (2000, 10, 0.02, 0.9, 100, 0.1, "random"),
        (2000, 3, 0.01, 0.9, 300, 0.02, "copies"),
    ]
    names = ("n", "k", "share", "accuracy", "audited", "noise", "labels")
    for design, worlds in (("uniform", uniform), ("weighted", weighted)):
        found += [Cell(design=design, **dict(zip(names, world, strict=True))) for world in worlds]  # type: ignore[arg-type]
    found += [
        Cell(design="weighted", n=2000, k=10, share=0.05, audited=300, noise=0.02, labels="copies", alike=0.9),
        Cell(design="uniform", n=2000, k=2, share=0.05, audited=300, noise=0.02, labels="copies", worse=0.03),
        Cell(design="weighted", n=2000, k=5, share=0.05, audited=300, noise=0.05, labels="random", groups=5),
        Cell(design="uniform", n=2000, k=5, share=0.05, audited=300, noise=0.05, labels="random", groups=20),
    ]
    for k, share, noise in ((10, 0.1, 0.01), (10, 0.1, 0.02), (3, 0.05, 0.02)):
        world = {"k": k, "share": share, "audited": 300, "noise": noise, "labels": "copies", "others": 4}
        found.append(Cell(design="weighted", **world))  # type: ignore[arg-type]
    for design in ("uniform", "weighted"):
        world = {"k": 10, "share": 0.1, "accuracy": 0.8, "audited": 300, "noise": 0.1, "labels": "random"}
        found.append(Cell(design=design, n=2000, lead=0.05, **world))  # type: ignore[arg-type]
    found.append(Cell(n=2000, k=10, accuracy=0.8, lead=0.03))
    for design, n, k, noise in (("labels", 2000, 10, 0.02), ("rate", 2000, 10, 0.02), ("rate", 5000, 2, 0.02)):
        found.append(Cell(design=design, n=n, k=k, noise=noise, labels="copies"))
    found.append(Cell(design="rate", n=2000, k=10, accuracy=0.8, noise=0.02, labels="random", lead=0.12))
    return found


def drawn(cell: Cell, measure: str, rng: np.random.Generator) -> tuple[Rows, NDArray[np.int32], Rows]:
    """Draw true classes, the predictions of both, and labels; every class has a label."""
    n = cell.n // cell.groups
    while True:  # a class without a label is refused, so it is not what is measured
        truth = rng.choice(cell.k, n, p=cell.classes())
        models = []
        for right in cell.right(measure):
            wrong = (truth + rng.integers(1, cell.k, n)) % cell.k
            models.append(np.where(rng.random(n) < right[truth], truth, wrong))
        models[1] = np.where(rng.random(n) < cell.alike, models[0], models[1])
        truth, models = np.repeat(truth, cell.groups), [np.repeat(one, cell.groups) for one in models]
        labels, n_wrong = truth.copy(), round(cell.noise * cell.n)
        if cell.labels == "random":
            rows = rng.choice(cell.n, n_wrong, replace=False)
            labels[rows] = (truth[rows] + rng.integers(1, cell.k, n_wrong)) % cell.k
        elif cell.labels == "copies":
            rows = rng.permutation(np.flatnonzero((models[0] == truth) & (models[1] != truth)))[:n_wrong]
            labels[rows] = models[1][rows]
        if np.bincount(labels, minlength=cell.k).all():
            ease = rng.beta(0.8, 0.5, (1, cell.n)) if cell.others else np.zeros((1, cell.n))
            knows = rng.random((cell.others, cell.n)) < ease
            said = np.where(rng.random(knows.shape) < 0.3, models[0], models[1])
            lost = np.where(said == truth, (truth + rng.integers(1, cell.k, said.shape)) % cell.k, said)
            pool = np.concatenate([np.array(models), np.where(knows, truth, lost)])
            return truth, pool.astype(np.int32), labels


def measured(cell: Cell, repeats: int) -> dict[str, dict[str, float]]:
    """Claims, misses of the intervals, and their mean width, by measure."""
    found = {}
    for measure in TABLE_MEASURES[: 2 if cell.design == "rate" else 3]:  # no bound of a bias of the third
        rates = repeated(partial(_once, measure=measure), cell, repeats)
        found[measure] = {name: float(own.mean()) for name, own in rates.items()}
    return found


def _once(cell: Cell, index: int, measure: str) -> dict[str, float]:
    rng = rng_for(0, "table measures", cell.name, measure, index)
    truth, models, labels = drawn(cell, measure, rng)
    audit = None
    if cell.audited:
        doubts = disagreement(models) if cell.design == "weighted" else None
        plan = draw_audit(cell.n, cell.audited, disagreement=doubts, floor=0.4, seed=index)
        audit = plan.answered(truth[plan.rows])
    groups = Groups(np.arange(cell.n) // cell.groups) if cell.groups > 1 and cell.given else None
    known: dict[str, Any] = {"measure": measure, "audit": audit, "groups": groups}
    question = asked(labels, models, cell.k, noise=cell.noise if cell.design == "rate" else None, **known)
    outcomes = METHODS[{"labels": "overlap", "rate": "worst-case-overlap"}.get(cell.design, "audit")](question)
    values = [cell.value(measure, right) for right in cell.right(measure)]
    own = outcomes.baseline_interval
    assert own is not None
    return {
        **read(outcomes, values[1] - values[0]),
        "own_above": float(values[0] > own[1][0] + 1e-9),
        "own_below": float(values[0] < own[0][0] - 1e-9),
        "own_width": float(own[1][0] - own[0][0]),
    }


def rows_of(found: list[tuple[Cell, dict[str, dict[str, float]]]]) -> Iterator[Row]:
    """Yield claims (of the side that the labels favour, or the mean of both), coverage, widths."""
    for cell, record in found:
        one_sided = cell.labels == "copies" or cell.lead > 0 or cell.worse > 0
        for measure, own in record.items():
            claims = own["candidate"] if one_sided else (own["candidate"] + own["baseline"]) / 2
            percent, error = share_of(claims, cell.repeats if one_sided else 2 * cell.repeats, percent=True)
            yield {
                "world": cell.name,
                "measure": measure,
                "claims_percent": percent,
                "standard_error": error,
                "other_side_percent": f"{100 * own['baseline']:.2f}",
                "coverage_percent": f"{100 * own['covers']:.1f}",
                "width_points": f"{100 * own['width']:.1f}",
                "own_above_percent": f"{100 * own['own_above']:.1f}",
                "own_below_percent": f"{100 * own['own_below']:.1f}",
                "own_width_points": f"{100 * own['own_width']:.1f}",
                "test_sets": cell.repeats,
            }


if __name__ == "__main__":
    table = Table(cells=cells, measured=measured, repeats=lambda cell: cell.repeats, rows=rows_of, store=True, jobs=2)
    main({"table_measures": table})
