"""Ways to join real answers of annotators, against crowd-kit: time, log likelihood, labels, accuracy on gold.

``python -m benchmarks.annotators`` (minutes, one core); writes results/annotators.csv. The folder that the environment
variable DEMELE_LABEL_SOURCES names holds ``crowd_gal/*.npz`` and ``imagenet_real/{golden,raters}.npz``; sources and
licences of what is bundled of them are in ``src/demele/data/bundled/LICENSES.md``. crowd-kit is no dependency of
demele: ``pip install crowd-kit==1.4.2``, best in an environment of its own with demele in it.

What is compared, and how:

- Seconds per iteration are CPU seconds of one thread: the least of some runs of 1 + m iterations, less the least of
runs of 1, over m. Preparing the answers and the first iteration drop out. ``fit`` is everything: from a data frame to
labels, in ``EQUAL`` iterations. - One iteration is the same in both: an E step and the M step after it, from the M step
at the vote shares. - crowd-kit 1.4.2 stops when its loss rises by less than 1e-5, and its loss counts the log of the
class proportions once per answer where the likelihood has it once per item. Its default run can so stop early. At equal
iterations its tolerance is set so that it never stops; its default run has columns of its own. - Log likelihoods come
from one function here, from the proportions and profiles of each. - Accuracies count labels; a tied vote goes to the
annotators who agree more with the vote, or is drawn (seed 0).
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.cases import cpu_seconds, sources
from benchmarks.loop import Table, main
from demele.labels import Annotations, Consensus, consensus, dawid_skene, majority_vote, one_coin

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Iterations at which both are compared; labels also after one. Ours are timed over the larger number.
EQUAL, LONG = 20, 100
#: From so many answers on, crowd-kit is timed over so few iterations.
LARGE, FEW = 300_000, 5
TIMES = (
    "ms per iteration",
    "crowd-kit ms per iteration",
    "times faster",
    f"fit seconds, {EQUAL} iterations",
    f"crowd-kit fit seconds, {EQUAL} iterations",
)


@dataclass(frozen=True)
class Case:
    """Answers as codes, and the true class of each item, -1 where it is unknown."""

    name: str
    item: Ints
    annotator: Ints
    answer: Ints
    gold: Ints

    @property
    def frame(self) -> pd.DataFrame:
        """As crowd-kit wants them."""
        return pd.DataFrame({"task": self.item, "worker": self.annotator, "label": self.answer})

    @property
    def annotations(self) -> Annotations:
        """As demele wants them: items and classes are those that occur, as crowd-kit has them."""
        return Annotations(self.item, self.annotator, self.answer)

    def first(self, size: int) -> "Case":
        """Answers about the first items, in an order drawn once, that have at least so many."""
        order = np.random.default_rng(0).permutation(int(self.item.max()) + 1)
        counts = np.bincount(self.item)[order]
        keep = order[: int(np.searchsorted(np.cumsum(counts), size)) + 1]
        rows = np.isin(self.item, keep)
        name = f"{self.name}, {size} answers"
        return Case(name, self.item[rows], self.annotator[rows], self.answer[rows], self.gold)


def cases(folder: Path) -> Iterator[Case]:
    """Yield all sets, from the smallest to the largest of each source."""
    for file in sorted((folder / "crowd_gal").glob("*.npz")):
        with np.load(file) as stored:
            case = Case(file.stem, *(stored[key].astype(np.int64) for key in ("task", "worker", "label", "gold")))
        if file.stem == "mozafari_1000":
            yield case.first(1_000)
        yield case
    with np.load(folder / "imagenet_real" / "golden.npz") as stored:
        answers, experts = stored["rater_answers"].astype(np.int64), stored["expert_answers"]
    rows, columns = np.indices(answers.shape)
    gold = np.where((experts == 2).sum(axis=0) * 2 > len(experts), 2, 0)
    yield Case("imagenet_real golden", columns.ravel(), rows.ravel(), answers.ravel(), gold)
    # Experts were not allowed "maybe", so that no label of that class can be right: yes against the rest is fairer.
    yield Case("imagenet_real golden, yes or not", columns.ravel(), rows.ravel(), (answers == 2).ravel() + 0, gold // 2)
    with np.load(folder / "imagenet_real" / "raters.npz") as stored:
        who, answers = stored["rater"].astype(np.int64), stored["answer"].astype(np.int64)
    item = np.repeat(np.arange(len(who)), who.shape[1])
    case = Case("imagenet_real raters", item, who.ravel(), answers.ravel(), np.full(len(who), -1))
    for size in (1_000, 10_000, 100_000):
        yield case.first(size)
    yield case


def log_likelihood(item: Ints, log_answers: Floats, proportions: Floats) -> float:
    """Of all answers, from the log probability of each answer under each class, shape (n_answers, K)."""
    n, k = int(item.max()) + 1, proportions.size
    joint = np.zeros((n, k))
    with np.errstate(divide="ignore", invalid="ignore"):
        np.add.at(joint, item, log_answers)
        return float(np.logaddexp.reduce(joint[np.unique(item)] + np.log(proportions), axis=1).sum())


def our_likelihood(case: Case, found: Consensus) -> float:
    """From the counts and proportions that a consensus holds: a class never met has equal shares of one's answers."""
    profiles, k = found.profiles, len(found.classes)
    cell = {(int(w), int(a)): c for c, (w, a) in enumerate(zip(profiles.who, profiles.what, strict=True))}
    rows = np.zeros_like(profiles.counts)
    for w in range(len(found.annotators)):
        own = np.flatnonzero(profiles.who == w)
        for j in range(k):
            total = profiles.counts[own, j].sum()
            rows[own, j] = profiles.counts[own, j] / total if total > 0 else 1 / own.size
    who = np.searchsorted(np.array(found.annotators), case.annotator)
    what = np.searchsorted(np.array(found.classes), case.answer)
    columns = np.array([cell[pair] for pair in zip(who.tolist(), what.tolist(), strict=True)])
    with np.errstate(divide="ignore"):
        return log_likelihood(case.item, np.log(rows)[columns], found.proportions)


def their_likelihood(case: Case, fitted: Any) -> float:
    """From the tables that crowd-kit holds."""
    classes = sorted(fitted.errors_.columns)
    pairs = pd.MultiIndex.from_arrays([case.annotator, case.answer])
    rows = fitted.errors_[classes].to_numpy()[fitted.errors_.index.get_indexer(pairs)]
    return log_likelihood(case.item, np.log(rows), fitted.priors_[classes].to_numpy())


def accuracy(case: Case, items: Ints, labels: Ints) -> float:
    """Share of right labels among the items whose true class is known; NaN if there are none."""
    known = case.gold[items] >= 0
    return float(np.mean(labels[known] == case.gold[items][known])) if known.any() else float("nan")


def ours(case: Annotations | pd.DataFrame, iterations: int) -> Consensus:
    """Exactly so many iterations."""
    return dawid_skene(case, max_iterations=iterations, tolerance=0)


def timed(case: Case, fit: Any) -> dict[str, object]:
    """Return the times of both; ``fit`` runs crowd-kit for so many iterations."""
    frame, table = case.frame, case.annotations
    large = table.n_answers > LARGE
    more, runs = (FEW, 3) if large else (EQUAL, 5)
    our_step = (cpu_seconds(lambda: ours(table, 1 + LONG), 7) - cpu_seconds(lambda: ours(table, 1), 7)) / LONG
    their_step = (cpu_seconds(lambda: fit(1 + more), runs) - cpu_seconds(lambda: fit(1), runs)) / more
    own_fit, their_fit = cpu_seconds(lambda: ours(frame, EQUAL), 3), cpu_seconds(lambda: fit(EQUAL), 1 if large else 3)
    found = (f"{1e3 * our_step:.3f}", f"{1e3 * their_step:.2f}", f"{their_step / our_step:.1f}")
    return dict(zip(TIMES, (*found, f"{own_fit:.4f}", f"{their_fit:.3f}"), strict=True))


def compare(name: str) -> dict[str, object]:
    """One row of the table."""
    try:
        from crowdkit.aggregation import DawidSkene, OneCoinDawidSkene
    except ModuleNotFoundError as error:
        raise SystemExit(f"{error}: pip install crowd-kit==1.4.2, which is no dependency of demele") from error
    case = all_cases()[name]
    frame, table = case.frame, case.annotations

    def fit(iterations: int, tolerance: float = -np.inf) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pandas, about how crowd-kit calls it
            return DawidSkene(n_iter=iterations, tol=tolerance).fit(frame)

    items = np.array(table.items)
    row: dict[str, object] = {
        "set": case.name,
        "answers": table.n_answers,
        "items": table.n_items,
        "annotators": table.n_annotators,
        "classes": table.k,
        **timed(case, fit),
    }
    for iterations in (1, EQUAL, LONG):
        mine, fitted = ours(table, iterations), fit(iterations)
        same = np.mean(mine.labels == fitted.labels_.reindex(items).to_numpy())
        row[f"same labels after {iterations}"] = f"{same:.5f}"
        if iterations == LONG:
            row[f"log likelihood after {LONG}"] = f"{our_likelihood(case, mine):.4f}"
            row[f"crowd-kit log likelihood after {LONG}"] = f"{their_likelihood(case, fitted):.4f}"
            row[f"crowd-kit accuracy after {LONG}"] = (
                f"{accuracy(case, items, fitted.labels_.reindex(items).to_numpy()):.4f}"
            )
    best, default = dawid_skene(table), fit(100, 1e-5)
    vote = majority_vote(table)
    coin, own, blend = one_coin(table), dawid_skene(table, prior="own"), consensus(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        their_own = OneCoinDawidSkene(n_iter=100).fit(frame).labels_.reindex(items).to_numpy()
    row |= {
        "iterations to convergence": best.iterations,
        "log likelihood at convergence": f"{our_likelihood(case, best):.4f}",
        "crowd-kit iterations, its default": len(default.loss_history_),
        "crowd-kit log likelihood, its default": f"{their_likelihood(case, default):.4f}",
        "gold": int((case.gold[items] >= 0).sum()),
        "majority accuracy": f"{accuracy(case, items, vote.labels):.4f}",
        "accuracy": f"{accuracy(case, items, best.labels):.4f}",
        "crowd-kit accuracy, its default": f"{accuracy(case, items, default.labels_.reindex(items).to_numpy()):.4f}",
        "one-coin accuracy": f"{accuracy(case, items, coin.labels):.4f}",
        "crowd-kit one-coin accuracy": f"{accuracy(case, items, their_own):.4f}",
        "own prior accuracy": f"{accuracy(case, items, own.labels):.4f}",
        "blend accuracy": f"{accuracy(case, items, blend.labels):.4f}",
        "labels of the blend unlike the majority": int(np.count_nonzero(blend.labels != vote.labels)),
        "labels unlike the majority": int(np.count_nonzero(best.labels != vote.labels)),
        "objective ever decreased": bool(
            (np.diff([best.details["start"], *best.objective]) < -1e-9 * abs(best.objective[-1])).any()
        ),
    }
    return row


@cache
def all_cases() -> dict[str, Case]:
    """Return all sets by name."""
    return {case.name: case for case in cases(sources("crowd_gal"))}


if __name__ == "__main__":
    main({"annotators": Table(cells=lambda: list(all_cases()), measured=compare)})
