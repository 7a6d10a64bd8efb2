"""How often the interval of a mean score from few human labels holds its mean, beside PPI++.

    python -m benchmarks.row_scores --jobs 2     two minutes on two cores

Writes results/row_scores.csv. Worlds of 2,000 rows: a verdict of 0 or 1, a rating of five levels, partial credit, a
preference; three judges each. Of a row, the true score and what the judge gives are drawn. 30 to 300 rows are audited
uniformly. The mean is that of new rows; the level is 95%. Coverage, its standard error and how often either end is
wrong are in percent; widths are in points of 100, of 200 for preferences.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Row, Table, main
from demele.classifiers.pooled_strata import pooled_strata, prediction_powered
from demele.core.arrays import rng_for

Floats = NDArray[np.float64]
N, LABELS, REPEATS, TAIL = 2000, (30, 50, 100, 300), 2000, 0.025
JUDGES = ("good", "lenient", "poor")
#: Sensitivity and specificity of judges of 0 and 1.
VERDICTS = {"good": (0.995, 0.90), "lenient": (0.97, 0.60), "poor": (0.80, 0.60)}
#: Shares of the true levels; and what a judge gives, a row per true level.
LEVELS = {
    "likert mid": (0.10, 0.15, 0.25, 0.30, 0.20),
    "likert high": (0.01, 0.02, 0.05, 0.17, 0.75),
    "prefer even": (0.35, 0.30, 0.35),
    "prefer won": (0.1, 0.2, 0.7),
    "prefer tied": (0.03, 0.92, 0.05),
}
GIVEN = {
    ("likert", "good"): ".93 .06 .01 0 0; .05 .88 .06 .01 0; .01 .06 .86 .06 .01; 0 .01 .05 .90 .04; 0 0 .005 .025 .97",
    (
        "likert",
        "lenient",
    ): ".45 .3 .15 .07 .03; .1 .4 .3 .15 .05; .03 .1 .42 .3 .15; .01 .04 .1 .5 .35; 0 .01 .04 .15 .8",
    ("likert", "poor"): ".35 .25 .2 .1 .1; .25 .3 .2 .15 .1; .15 .2 .3 .2 .15; .1 .15 .2 .3 .25; .1 .1 .2 .25 .35",
    ("prefer", "good"): ".93 .05 .02; .08 .84 .08; .02 .05 .93",
    ("prefer", "lenient"): ".6 .2 .2; .2 .5 .3; .05 .1 .85",
    ("prefer", "poor"): ".45 .25 .3; .3 .4 .3; .25 .25 .5",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A world, its judge and the number of labels."""

    world: str
    judge: str
    labels: int

    @property
    def name(self) -> str:
        """What it is known by."""
        return f"{self.world} {self.judge} {self.labels}"


WORLDS = (
    *map(str, (0.5, 0.7, 0.9, 0.95, 0.98)),
    "likert mid",
    "likert high",
    "partial 0.3",
    "partial 0.8",
    *list(LEVELS)[2:],
)
CELLS = tuple(Cell(world, judge, labels) for world in WORLDS for judge in JUDGES for labels in LABELS)


def scored(world: str, judge: str, rng: np.random.Generator, n: int = N) -> tuple[Floats, Floats]:
    """Draw true and given scores in [0, 1]."""
    if world in LEVELS:
        table = np.array([row.split() for row in GIVEN[world.split()[0], judge].split(";")], dtype=np.float64)
        true = rng.choice(len(table), n, p=LEVELS[world])
        given = (np.cumsum(table, axis=1)[true] < rng.random(n)[:, None] - 1e-12).sum(axis=1)
        return true / (len(table) - 1), given / (len(table) - 1)
    if world.startswith("partial"):
        share, u = float(world.split()[1]), rng.random(n)
        true = np.where(u < share, 1.0, np.where(rng.random(n) < 0.15, 0.0, rng.beta(4, 2, n)))
        if judge == "good":
            atom, stays = (true == 0) | (true == 1), rng.random(n) < 0.97
            given = np.where(atom, np.where(stays, true, 1 - true), np.clip(true + 0.08 * rng.standard_normal(n), 0, 1))
        elif judge == "lenient":
            given = np.clip(np.sqrt(true) + 0.15 * rng.standard_normal(n), 0, 1)
        else:
            given = np.where(rng.random(n) < 0.6, rng.beta(3, 2, n), true)
        return true, np.round(given, 2)
    right, (sensitivity, specificity) = rng.random(n) < float(world), VERDICTS[judge]
    u = rng.random(n)
    return right.astype(np.float64), np.where(right, u < sensitivity, u >= specificity).astype(np.float64)


def mean_of(world: str) -> float:
    """Return the mean true score of a world."""
    if world in LEVELS:
        shares = np.array(LEVELS[world])
        return float(shares @ np.arange(shares.size)) / (shares.size - 1)
    if world.startswith("partial"):
        share = float(world.split()[1])
        return share + (1 - share) * 0.85 * 4 / 6
    return float(world)


def measured(cell: Cell, repeats: int) -> Row:
    """Draw test sets and audits, and count how often each interval holds the mean."""
    rng, mean = rng_for(2, "row scores", cell.name), mean_of(cell.world)
    ends: list[Any] = []
    for _ in range(repeats):
        true, given = scored(cell.world, cell.judge, rng)
        rows = rng.permutation(N)[: cell.labels]
        low, high = pooled_strata(given, rows, true[rows]).ends(TAIL)
        _, bottom, top = prediction_powered(given, rows, true[rows], tail=TAIL)
        ends.append((low, high, bottom, top))
    low, high, bottom, top = np.array(ends).T
    points = 200 if cell.world.startswith("prefer") else 100
    slack = 1e-12

    def covered(least: Floats, most: Floats) -> float:
        return float(((least <= mean + slack) & (mean - slack <= most)).mean())

    ours, reference = covered(low, high), covered(bottom, top)
    width, other = float((high - low).mean()), float((top - bottom).mean())
    return {
        "world": cell.world,
        "judge": cell.judge,
        "labels": cell.labels,
        "coverage": f"{100 * ours:.2f}",
        "coverage_se": f"{100 * np.sqrt(ours * (1 - ours) / repeats):.2f}",
        "too_high": f"{100 * float((low > mean + slack).mean()):.2f}",
        "too_low": f"{100 * float((high < mean - slack).mean()):.2f}",
        "width": f"{points * width:.2f}",
        "ppi_coverage": f"{100 * reference:.2f}",
        "ppi_coverage_se": f"{100 * np.sqrt(reference * (1 - reference) / repeats):.2f}",
        "ppi_width": f"{points * other:.2f}",
        "repeats": repeats,
    }


if __name__ == "__main__":
    main({"row_scores": Table(cells=CELLS, measured=measured, repeats=REPEATS)}, about=__doc__)
