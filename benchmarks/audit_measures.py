"""Coverage and width of every measure of one classifier from a uniform audit, in the worlds where it is hardest.

    python -m benchmarks.audit_measures     a few minutes on one core; goes on where it stopped

Writes results/audit_measures.csv: of each measure, number of labels and grid of worlds, the worst world first, then the
means over all of them. Ten classes; precision, recall and F1 are those of the first, and with 100 labels their averages
over all. Rows are independent, so a test set is a table of counts, and its audited rows are another.

* "72 worlds": share of the class 2, 10, 30%; noise 5, 15, 40%; accuracy .5, .8, .94, .99; wrong labels independent of
  the predictions, or half of them where the classifier errs. 2 000 rows.
* "accuracy's grid": wrong labels repeat the prediction, and predictions are right on wrong labels, as often as stated.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Row, Table, main, share
from demele.classifiers.measures.audit_interval import ratio_ends
from demele.classifiers.pooled_strata import Cells
from demele.core.arrays import rng_for

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

K = 10
TAIL = 0.025
REPEATS = 2000
#: Averages over classes cost ten times as much.
MACRO_REPEATS = 400
CLASS_MEASURES = ("f1", "precision", "recall")
INFERENCES = ("population", "test_set")
#: Of accuracy's grid: rows and audited rows; rates of wrong labels; accuracy, and how often a prediction on a wrongly
#: labelled row agrees with the label, or is right.
SIZES = ((500, 50), (500, 100), (2000, 50), (2000, 200), (12_000, 50), (12_000, 100), (12_000, 200), (12_000, 500))
NOISE_RATES = (0.01, 0.02, 0.05, 0.1, 0.2)
BEHAVIOURS = ((0.75, 0.4, 0.4), (0.9, 0.6, 0.3), (0.6, 0.1, 0.5))


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How rows come about."""

    grid: str
    share: float
    noise: float
    accuracy: float
    errors: str

    @property
    def name(self) -> str:
        """The world in words."""
        return f"share {self.share:g}, noise {self.noise:g}, accuracy {self.accuracy:g}, wrong labels {self.errors}"

    def joint(self) -> Floats:
        """Probability of each (truth, prediction, label); shape (K, K, K)."""
        truth = np.full(K, (1 - self.share) / (K - 1))
        truth[0] = self.share
        same = np.eye(K)
        other = (1 - same) / (K - 1)
        if self.grid == "72 worlds":
            elsewhere = self.noise
            on_errors = self.noise
            if self.errors != "anywhere":  # half of them on the rows where it errs, all of these at most
                on_errors = min(1.0, 0.5 * self.noise / (1 - self.accuracy))
                elsewhere = (self.noise - on_errors * (1 - self.accuracy)) / self.accuracy
            wrong = np.where(same > 0, elsewhere, on_errors)[:, :, None]
            predicted = self.accuracy * same + (1 - self.accuracy) * other
            labelled = (1 - wrong) * same[:, None, :] + wrong * other[:, None, :]
            return truth[:, None, None] * predicted[:, :, None] * labelled
        agrees, right = next((a, r) for accuracy, a, r in BEHAVIOURS if accuracy == self.accuracy)
        clean = min(1.0, (self.accuracy - self.noise * right) / (1 - self.noise))
        kept = (clean * same + (1 - clean) * other)[:, :, None] * same[:, None, :]
        # On a wrong label: the prediction is right, or the label, or one of the K - 2 classes left.
        repeated = min(1 - right, agrees)
        third = (1 - same)[:, :, None] * (1 - same)[:, None, :] * (1 - same)[None] / (K - 2)
        moved = right * same[:, :, None] * other[:, None, :] + repeated * other[:, None, :] * same[None]
        moved = moved + (1 - right - repeated) * third / (K - 1)
        return truth[:, None, None] * ((1 - self.noise) * kept + self.noise * moved)


def points() -> list[tuple[World, int, int]]:
    """All worlds, with rows and audited rows."""
    found = []
    for labels in (50, 100, 200, 1000):
        for rare, noise, accuracy, errors in itertools.product(
            (0.02, 0.1, 0.3), (0.05, 0.15, 0.4), (0.5, 0.8, 0.94, 0.99), ("anywhere", "half where it errs")
        ):
            world = World(grid="72 worlds", share=rare, noise=noise, accuracy=accuracy, errors=errors)
            found.append((world, 2000, labels))
    for (n, labels), noise, (accuracy, agrees, right) in itertools.product(SIZES, NOISE_RATES, BEHAVIOURS):
        errors = f"repeat the prediction on {agrees:g}, contradict a right one on {right:g}"
        world = World(grid="accuracy's grid", share=0.1, noise=noise, accuracy=accuracy, errors=errors)
        found.append((world, n, labels))
    return found


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of many test sets, counted by kind: (test sets, kinds).

    A kind says whether truth, prediction and label are the class asked for, and which of the three are the same.
    """

    counts: Floats
    true: Flags
    says: Flags
    has: Flags
    says_has: Flags
    true_says: Flags
    true_has: Flags

    def fourfold(self, among: Flags | None = None) -> Floats:
        """Rows predicted and labelled as the class, only predicted, only labelled, neither; (test sets, 4)."""
        kinds = (self.says & self.has, self.says & ~self.has, ~self.says & self.has, ~self.says & ~self.has)
        return np.stack([self.of(kind if among is None else kind & among) for kind in kinds], axis=-1)

    def of(self, kind: Flags) -> Floats:
        """Rows of some kinds."""
        found: Floats = self.counts @ kind
        return found

    def value(self, measure: str) -> Floats:
        """True value."""
        says, true = self.of(self.says), self.of(self.true)
        if measure == "accuracy":
            hits: Floats = self.of(self.true_says) / self.counts.sum(axis=-1)
            return hits
        among = {"precision": says, "recall": true, "f1": (says + true) / 2}[measure]
        with np.errstate(invalid="ignore"):
            found: Floats = self.of(self.true & self.says) / among
        return found

    def interval(self, audited: "Rows", measure: str, inference: str) -> tuple[Floats, Floats]:
        """Both ends, from all rows and the audited ones."""
        n, k = int(self.counts[0].sum()), int(audited.counts[0].sum())
        if measure == "accuracy":
            size = np.stack([self.of(~self.says_has), self.of(self.says_has)], axis=-1)
            seen = [[audited.of(one & other) for other in (~self.true_says, self.true_says)]
                    for one in (~self.says_has, self.says_has)]  # fmt: skip
            counted, given = np.moveaxis(np.array(seen), -1, 0), np.arange(2)
        else:
            truly = audited.fourfold(self.true)
            size, given = self.fourfold(), np.array([1, 0, 1, 0])
            counted = np.stack([audited.fourfold() - truly, truly], axis=-1)
        cells = Cells(size, np.stack(3 * [counted]), given, n, k)
        if measure == "accuracy":
            values = np.broadcast_to(np.arange(2.0), counted.shape)
            return cells.fit(values, population=inference == "population").ends(TAIL)
        _, low, high = ratio_ends(cells, measure, TAIL, population=inference == "population")
        return low, high


def rows_of(joint: Floats, of: int, sizes: tuple[int, int], repeats: int, seed: tuple[Any, ...]) -> tuple[Rows, ...]:
    """Draw all rows, and the audited ones; and what is expected of one row."""
    t, p, label = np.indices(joint.shape)
    flags = np.stack([t == of, p == of, label == of, p == label, t == p, t == label], axis=-1)
    kinds, places = np.unique(flags.reshape(-1, 6), axis=0, return_inverse=True)
    chances = np.bincount(places.ravel(), joint.ravel() / joint.sum(), len(kinds))
    rng = rng_for(0, "audit_measures", *seed)
    audited, rest = (rng.multinomial(size, chances, size=repeats).astype(float) for size in sizes)
    return tuple(Rows(np.asarray(counts, float), *kinds.T) for counts in (audited + rest, audited, chances[None]))


def measured(world: World, n: int, labels: int, *, repeats: int = REPEATS) -> dict[str, Any]:
    """Share of test sets whose interval holds the true value, and mean width, of each measure and inference."""
    seed = world.grid, world.name, n, labels
    whole, audited, expected = rows_of(world.joint(), 0, (labels, n - labels), repeats, seed)
    found: dict[str, Any] = {}
    for measure, inference in itertools.product((*CLASS_MEASURES, "accuracy"), INFERENCES):
        low, high = whole.interval(audited, measure, inference)
        found[f"{measure} {inference}"] = _held(
            low, high, (expected if inference == "population" else whole).value(measure)
        )
    if labels == 100 and world.grid == "72 worlds":
        found |= {f"macro {measure} population": _macro(world, n, labels, measure) for measure in CLASS_MEASURES}
    return found


def _macro(world: World, n: int, labels: int, measure: str) -> list[float]:
    """The same for an average over classes: the mean of the ends."""
    joint = world.joint()
    rng = rng_for(0, "audit_measures", "macro", world.name, n, labels)
    t, p, label = np.indices(joint.shape).reshape(3, -1)
    drawn = [rng.multinomial(size, joint.ravel() / joint.sum(), MACRO_REPEATS) for size in (labels, n - labels)]
    ends, right = [], []
    for of in range(K):
        flags = (t == of, p == of, label == of, p == label, t == p, t == label)
        whole, audited, expected = (
            Rows(counts.astype(float), *flags) for counts in (drawn[0] + drawn[1], drawn[0], joint.reshape(1, -1))
        )
        ends.append(whole.interval(audited, measure, "population"))
        right.append(float(expected.value(measure)[0]))
    low, high = (np.nanmean([end[side] for end in ends], axis=0) for side in (0, 1))
    return _held(low, high, np.mean(right))


def _held(low: Floats, high: Floats, right: Any) -> list[float]:
    """Share of the intervals that hold the right value, their mean width, and how many there are."""
    known = np.isfinite(low) & np.isfinite(np.broadcast_to(right, low.shape))
    inside = ((low - 1e-9 <= right) & (right <= high + 1e-9))[known]
    return [float(inside.mean()), float((high - low)[known].mean()), int(known.sum())]


def tabled(measured_points: list[tuple[tuple[World, int, int], dict[str, Any]]]) -> list[Row]:
    """Return a row for each measure, number of labels and grid, the worst first."""
    found: dict[tuple[str, str, int, int], list[tuple[float, float, int, str]]] = {}
    for (world, n, labels), values in measured_points:
        for name, own in values.items():
            found.setdefault((name, world.grid, n, labels), []).append((*own, world.name))
    rows: list[Row] = []
    for (name, grid, n, labels), own in found.items():
        coverage = np.array([value[0] for value in own])
        worst = own[int(np.argmin(coverage))]
        measure, _, inference = name.rpartition(" ")
        rows.append(
            {
                "measure": measure,
                "inference": inference,
                "grid": grid,
                "n": n,
                "labels": labels,
                "worst_coverage": f"{worst[0]:.4f}",
                "worst_world": worst[3],
                "standard_error": share(worst[0], worst[2])[1],
                "test_sets": worst[2],
                "mean_coverage": f"{coverage.mean():.4f}",
                "worlds_below_92": int(np.count_nonzero(coverage < 0.92)),
                "worlds": coverage.size,
                "mean_width": f"{np.mean([value[1] for value in own]):.4f}",
            }
        )
    return sorted(rows, key=lambda row: float(row["worst_coverage"]))


if __name__ == "__main__":
    main({"audit_measures": Table(cells=points, measured=lambda cell: measured(*cell), rows=tabled, store=True)})
