"""How often comparisons err where rows come in groups, and intervals miss: with ``groups=``, and as rows apart.

Test sets of 2000 rows in groups of 1 to 20, or of sizes that differ; two classifiers that are equally good disagree on
13 % of them. A row repeats what its group has with the square root of ``likeness`` (1: all rows of a group are
identical; what two rows have in common is then ``likeness``). Labels are right, wrong at random on rows or on whole
groups, or wrong where that favours the candidate. Every claim is an error.

    python -m benchmarks.clustered_comparisons   goes on where it stopped; writes results/clustered_comparisons.csv
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Row, Table, main, repeated, share
from benchmarks.pairs import asked, read
from demele.classifiers.comparison.methods import METHODS
from demele.classifiers.comparison.sequential import SequentialComparison
from demele.classifiers.question import Groups
from demele.core.arrays import rng_for
from demele.core.proportions import exact_interval
from demele.noise.audit import CodedAudit, disagreement, draw_audit

REPEATS = 600
K = 10
TAIL = 0.025
#: Both right; only the baseline, only the candidate; neither, unlike each other, alike.
SHARES = np.array([0.77, 0.055, 0.055, 0.02, 0.10])
#: Methods by what is known: name in the catalogue, noise supplied, audited rows, design.
ASKED: dict[str, tuple[str, float | None, int, str]] = {
    "overlap": ("overlap", None, 0, ""),
    "worst-case": ("worst-case", 0.0, 0, ""),
    "worst-case, 20 wrong": ("worst-case", 0.01, 0, ""),
    "audit, 300 uniform": ("audit", None, 300, "uniform"),
    "audit, 300 weighted": ("audit", None, 300, "weighted"),
    "sequential, 1000 rows": ("sequential", None, 1000, "uniform"),
    "sequential, asked": ("ask", None, 0, ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One world, and how it is asked."""

    method: str
    groups: int
    size: int
    likeness: float = 1.0
    unequal: bool = False
    noise: str = "none"
    lead: float = 0.0
    accuracy: float = 0.825
    used: bool = True
    repeats: int = REPEATS

    @property
    def name(self) -> str:
        """Unique, in words."""
        sizes = f"{self.groups} of {self.size}{' on average' if self.unequal else ''}"
        parts = [self.method, sizes, f"likeness {self.likeness:g}", f"labels: {self.noise}"]
        parts += [f"lead {self.lead:g}"] if self.lead else []
        parts += [f"accuracy {self.accuracy:g}"] if self.accuracy != 0.825 else []
        return ", ".join([*parts, "groups given" if self.used else "as rows apart"])


def cells() -> list[Cell]:
    """Everything that is measured."""
    identical = [(2000, 1), (400, 5), (100, 20)]
    found = []
    for method in ASKED:
        noise = {"worst-case, 20 wrong": "worst"}.get(method, "5 % of rows" if ASKED[method][2] else "none")
        one = Cell(method=method, groups=1, size=1, noise=noise)
        found += [replace(one, groups=groups, size=size) for groups, size in identical]
        found += [replace(one, groups=groups, size=size, used=False) for groups, size in identical[1:]]
        found += [replace(one, groups=400, size=5, likeness=0.3), replace(one, groups=100, size=20, likeness=0.3)]
        found += [replace(one, groups=100, size=20, likeness=0.0)]
        found += [replace(one, groups=100, size=20, unequal=True), replace(one, groups=30, size=20)]
        found += [replace(one, groups=groups, size=20) for groups in (10, 15)]
    for method in ("audit, 300 uniform", "audit, 300 weighted"):
        one = Cell(method=method, groups=100, size=20)
        found += [replace(one, noise=noise) for noise in ("30 % of rows", "5 % of groups", "none")]
        found += [replace(one, groups=400, size=5, noise=noise) for noise in ("30 % of rows", "5 % of groups")]
    for method in ("overlap", "worst-case"):
        found += [Cell(method=method, groups=100, size=20, accuracy=0.95)]
        found += [Cell(method=method, groups=100, size=20, accuracy=0.95, likeness=0.3)]
        found += [Cell(method=method, groups=500, size=4, unequal=True, likeness=0.5)]
    for method in ASKED:  # what is found
        one = Cell(method=method, groups=400, size=5, lead=0.06, repeats=200)
        found += [replace(one, likeness=likeness) for likeness in (0.0, 0.3, 1.0)]
    assert len({cell.name for cell in found}) == len(found)
    return found


# --- worlds ----------------------------------------------------------------------------------------------------------


def sizes_of(cell: Cell, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the group of every row."""
    if not cell.unequal:
        return np.repeat(np.arange(cell.groups), cell.size)
    draws = rng.lognormal(np.log(cell.size) - 0.32, 0.8, cell.groups)
    return np.repeat(np.arange(cell.groups), np.maximum(np.rint(draws).astype(np.intp), 1))


def world(
    cell: Cell, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int32], NDArray[np.intp]]:
    """Draw given labels, predictions of both, the right labels, and the group of every row."""
    codes = sizes_of(cell, rng)
    n = codes.size
    shares = shares_of(cell)
    kind = rng.choice(5, n, p=shares)
    truth, step = rng.integers(0, K, n), rng.integers(1, K - 1, n)
    first = np.unique(codes, return_index=True)[1][codes]
    source = np.where(rng.random(n) < np.sqrt(cell.likeness), first, np.arange(n))
    kind, truth, step = kind[source], truth[source], step[source]
    wrong, other = (truth + step) % K, (truth + step + 1) % K
    baseline = np.where((kind == 0) | (kind == 1), truth, wrong)
    candidate = np.where((kind == 0) | (kind == 2), truth, np.where(kind == 3, other, wrong))
    given = truth.copy()
    if cell.noise == "worst":
        lost = np.flatnonzero(kind == 1)
        hidden = rng.permutation(lost)[:20]
        given[hidden] = candidate[hidden]
    elif cell.noise != "none":
        share, _, _, what = cell.noise.split()
        rate = float(share) / 100
        flipped = rng.random(n) < rate if what == "rows" else (rng.random(codes.max() + 1) < rate)[codes]
        moved = rng.integers(1, K, n)
        given = np.where(flipped, (truth + (moved if what == "rows" else moved[first])) % K, truth)
    return given, np.stack([baseline, candidate]), truth.astype(np.int32), codes


def shares_of(cell: Cell) -> NDArray[np.float64]:
    """Shares of the five kinds of rows."""
    shares = SHARES.copy()
    if cell.accuracy != 0.825:
        shares = np.array([2 * cell.accuracy - 0.97, 0.97 - cell.accuracy, 0.97 - cell.accuracy, 0.01, 0.02])
    shares[1] -= cell.lead / 2
    shares[2] += cell.lead / 2
    return np.asarray(shares / shares.sum())


def audited(models: NDArray[Any], truth: NDArray[np.int32], size: int, design: str, seed: int) -> CodedAudit:
    """Audit some rows, whatever their groups."""
    n, doubts = truth.size, disagreement(models) if design == "weighted" else None
    size = min(size, n)
    plan = draw_audit(n, size, disagreement=doubts, floor=0.2, seed=seed)
    inclusion = np.full(size, size / n) if plan.probabilities is None else plan.probabilities
    return CodedAudit(plan.rows, truth[plan.rows], inclusion, plan.design, n, plan.least_probability)


def once(cell: Cell, repeat: int) -> dict[str, Any]:
    """Ask one test set: claims on both sides, and whether intervals hold what is true."""
    given, models, truth, codes = world(cell, rng_for(0, "clustered", cell.name, repeat))
    method, noise, size, design = ASKED[cell.method]
    if method == "ask":
        groups = codes if cell.used else None
        comparison = SequentialComparison(*models, given, groups=groups, seed=repeat, classes=range(K))
        rows = comparison.ask(truth.size)
        comparison.tell(rows, truth[rows])
        found = comparison.decision()
        low, high = found.interval.low, found.interval.high
        claims = {side: found.verdict == side for side in ("candidate", "baseline")}
        return {**claims, "covers": low <= cell.lead <= high, "width": high - low, "own_covers": None}
    known: dict[str, Any] = {"noise": noise, "groups": Groups(codes) if cell.used else None}
    known["audit"] = audited(models, truth, size, design, repeat) if size else None
    outcomes = METHODS[method](asked(given, models, K, **known))
    accuracy, own = float(shares_of(cell)[:2].sum()), outcomes.baseline_interval
    return {
        **read(outcomes, cell.lead),
        "own_covers": None if own is None else float(own[0][0]) <= accuracy <= float(own[1][0]),
    }


# --- measuring -------------------------------------------------------------------------------------------------------


def measured(cell: Cell, repeats: int) -> dict[str, Any]:
    """Repeat a cell."""
    found = {
        name: None if np.isnan(own[0]) else float(own.mean()) for name, own in repeated(once, cell, repeats).items()
    }
    return {**found, "repeats": repeats}


def rows_of(found: list[tuple[Cell, dict[str, Any]]]) -> Iterator[Row]:
    """Yield one-sided errors (of both sides, unless the labels favour one), or what is found; coverage."""
    for cell, record in found:
        repeats, one_sided = record["repeats"], cell.noise == "worst" or cell.lead > 0
        claims = record["candidate"] if one_sided else (record["candidate"] + record["baseline"]) / 2
        trials = repeats if one_sided else 2 * repeats
        low, high = exact_interval(round(claims * trials), trials, level=0.95)
        percent, error = share(claims, trials, percent=True)
        own = record["own_covers"]
        yield {
            "method": cell.method,
            "groups": cell.groups,
            "rows_per_group": f"{cell.size}{' on average' if cell.unequal else ''}",
            "likeness": f"{cell.likeness:g}",
            "labels": cell.noise,
            "accuracy": f"{cell.accuracy:g}",
            "lead": f"{cell.lead:g}",
            "groups_given": "yes" if cell.used else "no",
            "claims_percent": percent,
            "standard_error": error,
            "low": f"{100 * float(low):.2f}",
            "high": f"{100 * float(high):.2f}",
            "coverage_percent": f"{100 * record['covers']:.1f}",
            "width_points": f"{100 * record['width']:.1f}",
            "accuracy_coverage_percent": "" if own is None else f"{100 * own:.1f}",
            "test_sets": repeats,
        }


if __name__ == "__main__":
    table = Table(cells=cells, measured=measured, repeats=lambda cell: cell.repeats, rows=rows_of, store=True, jobs=2)
    main({"clustered_comparisons": table})
