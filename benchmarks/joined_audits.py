"""Coverage and width of intervals from two joined audits, beside those from the random one alone.

    python -m benchmarks.joined_audits     about ten minutes on one core

Writes results/joined_audits.csv. Two classifiers on 2 000 rows; the first audit is a random sample of all rows, the
second one of their disagreements. Corners: a rare class, few disagreements, both, a small first audit, an accurate
classifier, and wrong labels that repeat the candidate's errors.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Row, Table, main
from demele.classifiers import compare
from demele.classifiers.measures.audit_interval import audited_estimate
from demele.core.labelled import read_labelled
from demele.core.results import Interval
from demele.core.seeds import rng_for
from demele.noise.audit import Audit, join_audits

Ints = NDArray[np.int64]

N = 2000
DRAWS = 1000
MEASURES = ("accuracy", "precision", "recall", "f1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Corner:
    """How rows and audits come about; the class asked about is the last one."""

    name: str
    shares: tuple[float, ...] = (1 / 3, 1 / 3, 1 / 3)
    accuracy: float = 0.85
    noise: float = 0.08
    apart: float = 0.15
    one_sided: int = 0
    first: int = 150
    second: int = 60

    def drawn(self, rng: np.random.Generator) -> tuple[Ints, Ints, Ints, Ints]:
        """Return the truth, the given labels and two classifiers."""
        k = len(self.shares)
        truth = rng.choice(k, N, p=self.shares)

        def right(share: float) -> Ints:
            return np.where(rng.random(N) < share, truth, (truth + rng.integers(1, k, N)) % k)

        labels, old = right(1 - self.noise), right(self.accuracy)
        changed = np.where(rng.random(N) < 0.6, truth, rng.integers(0, k, N))
        new = np.where(rng.random(N) < self.apart, changed, old)
        if self.one_sided:
            errors = np.flatnonzero((new != truth) & (old == truth))
            labels = truth.copy()
            wrong = rng.permutation(errors)[: self.one_sided]
            labels[wrong] = new[wrong]
        return truth, labels, old, new

    def audits(self, rng: np.random.Generator, truth: Ints, apart: Ints) -> tuple[Audit, Audit]:
        """Return the random audit, and both joined."""
        rows = rng.permutation(N)[: self.first]
        more = rng.permutation(np.setdiff1d(apart, rows))[: self.second]
        first = Audit(rows, truth[rows], design="uniform")
        return first, join_audits(first, Audit(more, truth[more], design="uniform"), within=apart)


_RARE: dict[str, Any] = {"shares": (0.97, 0.03), "accuracy": 0.96, "noise": 0.02}
CORNERS = (
    Corner(name="three classes"),
    Corner(name="class of 3%", shares=(0.97, 0.03)),
    Corner(name="class of 3%, good classifiers", **_RARE),
    Corner(name="few disagreements", apart=0.02, second=8),
    Corner(name="class of 3%, few disagreements", apart=0.04, second=8, **_RARE),
    Corner(name="50 random rows", first=50, second=100),
    Corner(name="accuracy 99%", accuracy=0.99, noise=0.02, apart=0.05, first=100, second=20),
    Corner(name="wrong labels repeat the candidate's errors", apart=0.05, one_sided=10, second=25),
)


def _values(said: Ints, truth: Ints, of: int) -> dict[str, float]:
    """Return the measures on the true labels."""
    both = np.count_nonzero((said == of) & (truth == of))
    says, has = np.count_nonzero(said == of), np.count_nonzero(truth == of)
    values = float((said == truth).mean()), both / says, both / has, 2 * both / (says + has)
    return dict(zip(MEASURES, values, strict=True))


def _one(corner: Corner, draw: int) -> dict[str, list[float]]:
    """Width from the first audit and from both, and whether either interval holds the value."""
    rng = rng_for(0, "joined_audits", corner.name, draw)
    truth, labels, old, new = corner.drawn(rng)
    audits = corner.audits(rng, truth, np.flatnonzero(old != new))
    of = len(corner.shares) - 1
    data = read_labelled({"new": new}, labels, classes=list(range(of + 1)))
    values = _values(new, truth, of)
    found: dict[str, list[Interval]] = {}
    for measure in MEASURES:
        asked: tuple[Any, ...] = (measure, None if measure == "accuracy" else of, 0.95)
        coded = (one.coded(data.vocabulary, N) for one in audits)
        found[measure] = [audited_estimate(data, one, *asked, inference="test_set")[1] for one in coded]
    known: dict[str, Any] = {"classes": range(of + 1), "inference": "test_set"}
    found["difference"] = [compare(old, new, labels, audit=one, **known).interval for one in audits]
    values["difference"] = values["accuracy"] - float((old == truth).mean())
    return {
        name: [
            *(one.high - one.low for one in pair),
            *(float(one.low - 1e-9 <= values[name] <= one.high + 1e-9) for one in pair),
        ]
        for name, pair in found.items()
    }


def measured(corner: Corner, repeats: int) -> Iterator[Row]:
    """Simulate a corner."""
    draws = [_one(corner, draw) for draw in range(repeats)]
    for name in draws[0]:
        table = np.array([one[name] for one in draws])
        width, joined = (float(value) for value in np.median(table[:, :2], axis=0))
        coverage = table[:, 2:].mean(axis=0)
        yield {
            "corner": corner.name,
            "measure": name,
            "first": corner.first,
            "second": corner.second,
            "draws": repeats,
            "median_width_first": f"{width:.4f}",
            "median_width_joined": f"{joined:.4f}",
            "ratio": f"{joined / width:.3f}",
            "coverage_first": f"{coverage[0]:.3f}",
            "coverage_joined": f"{coverage[1]:.3f}",
        }


if __name__ == "__main__":
    main({"joined_audits": Table(cells=CORNERS, measured=measured, repeats=DRAWS)})
