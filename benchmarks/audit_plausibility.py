"""How often an audit that was drawn as declared is called implausible, and how often one that was chosen for a reason.

    python -m benchmarks.audit_plausibility     a few minutes on one core; goes on where it stopped

Writes results/audit_plausibility.csv. Classifiers of ``classes`` classes that err independently, and labels that are
wrong at random. Uniform audits: false alarms in 5 000 test sets per cell, alarms in 500. Weighted audits are drawn by
the disagreement of the classifiers: at least 500 and 100 of them. Beside their alarms stand those of a plain normal
interval, 4.1 standard deviations around each weighted count, with its estimated variance and 1.
"""

import itertools
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Row, Table, main, share
from demele.classifiers.audit_plausibility import FAR_COUNT, audit_checks
from demele.core.arrays import rng_for
from demele.core.labelled import Labelled, Vocabulary
from demele.noise.audit import CodedAudit, disagreement, draw_audit

REPEATS = {"uniform": 5000, "weighted": 500}
ALARM_REPEATS = {"uniform": 500, "weighted": 100}
AS_DECLARED = "as declared"
#: Reasons for which rows are chosen, and then declared to be drawn at random.
REASONS = {
    "uniform": (
        "all disagreements",
        "all contradicted",
        "first rows",
        "one class",
        "half disagreements",
        "a fifth disagreements",
        "a fifth contradicted",
        "30% wrong labels",
    ),
    "weighted": ("all disagreements", "half disagreements", "first rows", "one class", "probabilities halved"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One point of the grid: a test set, and how its audit is chosen."""

    design: str
    chosen: str
    n: int
    labels: int
    accuracy: float
    noise: float
    classifiers: int = 2
    classes: int = 10
    rare: float = 0.1

    @property
    def name(self) -> str:
        """Unique."""
        return " ".join(map(str, self.key))

    @property
    def key(self) -> tuple[str, ...]:
        """What its draws are known by."""
        return tuple(str(getattr(self, field.name)) for field in fields(self))


def repeats_of(cell: Cell) -> int:
    """Return how many test sets are drawn."""
    return (REPEATS if cell.chosen == AS_DECLARED else ALARM_REPEATS)[cell.design]


def cells() -> list[Cell]:
    """All points."""
    grid = list(itertools.product((50, 100, 300), (0.8, 0.94), (0.05, 0.2)))
    every = [
        Cell(design="uniform", chosen=AS_DECLARED, n=n, labels=k, accuracy=accuracy, noise=noise)
        for n in (500, 2000)
        for k, accuracy, noise in grid
    ]
    every += [
        Cell(design="uniform", chosen=chosen, n=2000, labels=k, accuracy=accuracy, noise=noise)
        for chosen in REASONS["uniform"]
        for k, accuracy, noise in grid
    ]
    worlds = [
        {"n": 500},
        {"n": 2000},
        {"n": 2000, "classifiers": 6},
        {"n": 2000, "rare": 0.02},
        {"n": 2000, "classes": 100, "rare": 0.01},
    ]
    every += [
        Cell(design="weighted", chosen=AS_DECLARED, labels=k, accuracy=0.94, noise=0.05, **world)  # type: ignore[arg-type]
        for world in worlds
        for k in (50, 100, 300)
    ]
    every += [
        Cell(design="weighted", chosen=chosen, n=2000, labels=k, accuracy=accuracy, noise=0.05, classifiers=6)
        for chosen in REASONS["weighted"]
        for k in (50, 100, 300)
        for accuracy in (0.8, 0.94)
    ]
    return every


def test_set(cell: Cell, rng: np.random.Generator) -> tuple[Labelled, NDArray[np.int32]]:
    """Draw given labels with predictions, and the true labels; the first class has the share ``rare``."""
    n, k = cell.n, cell.classes
    truth = np.where(rng.random(n) < cell.rare, 0, rng.integers(1, k, n)).astype(np.int32)

    def wrong(share: float, *shape: int) -> NDArray[np.int32]:
        other = (truth + rng.integers(1, k, (*shape, n))) % k
        return np.where(rng.random((*shape, n)) < share, other, truth).astype(np.int32)

    predictions, labels = wrong(1 - cell.accuracy, cell.classifiers), wrong(cell.noise)
    names = tuple(f"model {model}" for model in range(cell.classifiers))
    return Labelled(labels, predictions, names, Vocabulary(tuple(range(k)))), truth


def audit_of(cell: Cell, data: Labelled, truth: NDArray[np.int32], rng: np.random.Generator, seed: int) -> CodedAudit:
    """Choose rows as the cell says, and declare them drawn."""
    n, k = cell.n, cell.labels
    if cell.design == "uniform":
        rows = _chosen(cell, data, truth, rng)
        return CodedAudit(rows, truth[rows], np.full(rows.size, rows.size / n), "uniform", n)
    weights = disagreement(data.predictions)
    plan = draw_audit(n, k, disagreement=weights, seed=seed)
    rows, chances = plan.rows, np.asarray(plan.probabilities)
    if cell.chosen not in (AS_DECLARED, "probabilities halved"):
        # The probabilities that a draw would have given to these rows.
        rows = _chosen(cell, data, truth, rng)
        scaled = 0.4 + 0.6 * weights / weights.mean()
        chances = np.minimum(k * scaled / scaled.sum(), 1.0)[rows]
    if cell.chosen == "probabilities halved":
        chances = chances / 2
    return CodedAudit(rows, truth[rows], chances, "weighted", n)


def _chosen(cell: Cell, data: Labelled, truth: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.intp]:
    share, _, what = cell.chosen.rpartition(" ")
    marked = {
        "disagreements": (data.predictions != data.predictions[0]).any(axis=0),
        "contradicted": (data.predictions != data.labels).any(axis=0),
        "rows": np.arange(data.n) < cell.labels,
        "class": data.labels == 1,
        "labels": data.labels != truth,
        "declared": np.zeros(data.n, bool),
    }[what]
    wanted = {"half": 0.5, "a fifth": 0.2, "30% wrong": 0.3, "as": 0.0}.get(share, 1.0)
    few = min(round(wanted * cell.labels), int(marked.sum()))
    first = rng.permutation(np.flatnonzero(marked))[:few]
    others = np.setdiff1d(np.arange(data.n), first)
    rest = cell.labels - few if wanted < 1 else 0
    return rng.permutation(np.r_[first, rng.permutation(others)[:rest]]).astype(np.intp)


def plain_alarm(data: Labelled, audit: CodedAudit) -> bool:
    """Whether any weighted count lies 4.1 estimated standard deviations off, with no allowance for unseen rows."""
    weight = 1 / audit.inclusion
    apart = (data.predictions != data.predictions[0]).any(axis=0)
    against = (data.predictions != data.labels).any(axis=0)
    kinds = (apart, against, data.labels)

    def counted(rows: Any, values: Any) -> NDArray[np.float64]:
        sizes = (2, 2, data.k)
        found = [np.bincount(kind[rows], values, size) for kind, size in zip(kinds, sizes, strict=True)]
        return np.concatenate([found[0][1:], found[1][1:], found[2]])

    every = counted(slice(None), np.ones(data.n))
    spread = np.sqrt(counted(audit.rows, weight * (weight - 1)) + 1)
    distance = np.abs(counted(audit.rows, weight) - every) / spread
    return bool((distance > FAR_COUNT).any())


def measured(cell: Cell, repeats: int) -> dict[str, int]:
    """Count alarms of any check, of each, and of the plain normal interval."""
    counts: dict[str, int] = {"test_sets": repeats, "alarms": 0, "plain": 0}
    for repeat in range(repeats):
        rng = rng_for(0, "audit_plausibility", *cell.key, repeat)
        data, truth = test_set(cell, rng)
        audit = audit_of(cell, data, truth, rng, repeat)
        found = audit_checks(data, audit)
        counts["alarms"] += int(any(check.alarm for check in found))
        for check in found:
            counts[check.name] = counts.get(check.name, 0) + int(check.alarm)
        if cell.design == "weighted":
            counts["plain"] += int(plain_alarm(data, audit))
    return counts


def rows_of(found: list[tuple[Cell, dict[str, int]]]) -> list[Row]:
    """Return a row for each cell: the worst false alarms first."""
    rows = []
    for cell, counts in found:
        sets = counts["test_sets"]
        row = {**asdict(cell), "test_sets": sets}
        row["alarms"], row["standard_error"] = share(counts["alarms"] / sets, sets)
        for name in ("disagreements", "contradicted", "class", "place", "weights"):
            row[name] = f"{counts.get(name, 0) / sets:.4f}"
        rows.append(
            {**row, "plain_normal_interval": "" if cell.design == "uniform" else f"{counts['plain'] / sets:.4f}"}
        )
    return sorted(rows, key=lambda row: (row["chosen"] != AS_DECLARED, *_place(row)))


def _place(row: Row) -> tuple[Any, ...]:
    return (row["design"], -float(row["alarms"])) if row["chosen"] == AS_DECLARED else ()


if __name__ == "__main__":
    table = Table(cells=cells, measured=measured, repeats=repeats_of, rows=rows_of, store=True)
    main({"audit_plausibility": table})
