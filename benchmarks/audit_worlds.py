"""Test sets on which a comparison by audit is weakest: equal classifiers, and a few labels that repeat one's errors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.pairs import asked
from demele.classifiers.intervals import overlap_gap
from demele.classifiers.question import Question
from demele.core.labelled import Indices, Vocabulary
from demele.noise.audit import disagreement, draw_audit

Rows = NDArray[np.intp]

K = 10
LEVEL = 0.95
#: Accuracy of the classifiers where all agree, and share of disagreements on which neither is right.
AGREED, NEITHER = 0.88, 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Corner:
    """One weak corner.

    Attributes
    ----------
    n, apart : int
        Rows, and those on which the two classifiers disagree.
    copies, neither, both : int
        Wrong labels on disagreements: with the candidate where the baseline is right (they cost 2 each), with
        neither where the baseline is right (1 each), and as many copies of each of the two (no cost together).
    size : int
        Audited rows.
    others : int
        More models in the pool that the disagreement comes from.
    place : str
        Where the wrong labels are: ``"anywhere"`` on the disagreements, in the ``"least"`` or ``"most"`` doubtful of
        them, or ``"decile 3"`` of their disagreement.
    design : str
        ``"weighted"``, ``"uniform"``, or ``"simple"``: a simple random sample of the disagreements, with a floor of
        almost nothing elsewhere.
    inference : str
        ``"test_set"``, ``"population"`` or ``"overlap"``.
    gap : int
        True lead of the candidate on this test set; for ``"overlap"``, beyond the largest that is no claim.
    noise : int
        More wrong labels anywhere, at random.
    exact : bool
        Decided by the proven bet.
    scattered : bool
        The other models err anywhere alike, on a fifth of the rows, and the comparison does not see them: few of the
        disagreements are audited.
    """

    n: int
    apart: int
    copies: int = 0
    neither: int = 0
    both: int = 0
    size: int = 300
    others: int = 0
    place: str = "anywhere"
    design: str = "weighted"
    inference: str = "test_set"
    gap: int = 0
    noise: int = 0
    exact: bool = False
    scattered: bool = False

    @property
    def name(self) -> str:
        """Unique, in words."""
        wrong = [f"{count} {what}" for what in ("copies", "neither", "both", "noise") if (count := getattr(self, what))]
        parts = [f"{self.inference} {self.design}", f"n={self.n}", f"D={self.apart}", " + ".join(wrong) or "none wrong"]
        parts += [f"{self.size} audited"]
        parts += [f"{self.others} more models"] if self.others else []
        parts += [self.place] if self.place != "anywhere" else []
        parts += [f"gap={self.gap}"] if self.gap else []
        parts += ["exact"] if self.exact else []
        parts += ["scattered disagreement"] if self.scattered else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A test set, its question with the audit, and the true gap in rows."""

    question: Question
    truth: Indices
    inclusion: NDArray[np.float64]
    true_gap: int


def drawn(corner: Corner, rng: np.random.Generator, seed: int, **options: Any) -> Drawn:
    """Draw a test set with wrong labels, and an audit of it."""
    n = corner.n
    truth = rng.integers(0, K, n).astype(np.int32)
    models, apart, first_right = _two(corner, truth, rng)
    pool = np.concatenate([models, _others(corner, truth, models, rng)])
    doubts = disagreement(pool)
    labels = _mislabelled(corner, truth, models, apart, first_right, doubts, rng)
    floor = 1e-3 if corner.design == "simple" else 0.4
    weights = {"weighted": doubts, "uniform": None, "simple": (doubts > 0).astype(float)}[corner.design]
    plan = draw_audit(n, corner.size, disagreement=weights, floor=floor, seed=seed)
    audit = plan.answered(truth[plan.rows]).coded(Vocabulary(tuple(range(K))), n)
    known: dict[str, Any] = {"inference": corner.inference, "exact": corner.exact, "audit": audit, **options}
    question = asked(labels, models if corner.scattered else pool, K, **known)
    right = np.count_nonzero(models == truth, axis=1)
    return Drawn(question, truth, audit.inclusion, int(right[1] - right[0]))


def _two(corner: Corner, truth: Indices, rng: np.random.Generator) -> tuple[NDArray[np.int32], Rows, Rows]:
    """Return two models with the true gap wanted, their disagreements, and where the baseline is right."""
    n = corner.n
    rows = rng.permutation(n)
    apart, same = rows[: corner.apart], rows[corner.apart :]
    wrong = ((truth + rng.integers(1, K, n)) % K).astype(np.int32)
    base = truth.copy()
    missed = same[rng.random(same.size) > AGREED]
    base[missed] = wrong[missed]
    models = np.stack([base, base])
    decided = corner.apart - round(NEITHER * corner.apart)
    gap = corner.gap
    if corner.inference == "population":  # equally good in the population: a fair coin for every decided row
        gap = int(2 * rng.binomial(decided, 0.5) - decided)
    elif corner.inference == "overlap":
        hits, half = same.size - missed.size, decided // 2
        largest = 0
        while largest + 2 <= decided and largest + 2 <= _gap_of(hits, half, largest + 2, n):
            largest += 2
        gap += largest
    first = (decided - gap) // 2
    second = first + gap
    first_right, second_right, neither = np.split(apart, [first, first + second])
    models[1, first_right] = wrong[first_right]
    models[0, second_right] = wrong[second_right]
    models[0, neither] = wrong[neither]
    models[1, neither] = _third(truth[neither], wrong[neither], rng)
    return models, apart, first_right


def _gap_of(hits: int, half: int, gap: int, n: int) -> float:
    """Return how far apart two classifiers with this gap must be for their score intervals to part."""
    found = overlap_gap(np.array(hits + half - gap / 2), np.array(hits + half + gap / 2), n, level=LEVEL)
    return float(found)


def _third(truth: Indices, wrong: Indices, rng: np.random.Generator) -> Indices:
    """Return classes that are neither true nor those."""
    found = rng.integers(0, K, truth.size)
    clash = (found == truth) | (found == wrong)
    while clash.any():
        found[clash] = rng.integers(0, K, int(clash.sum()))
        clash = (found == truth) | (found == wrong)
    return found.astype(np.int32)


def _others(corner: Corner, truth: Indices, models: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
    """More models: where the two disagree, rows differ in how hard they are, unless disagreement is scattered."""
    apart = models[0] != models[1]
    ease = np.where(apart, rng.beta(0.8, 0.5, corner.n), np.where(models[0] == truth, rng.beta(8, 0.5, corner.n), 0.3))
    right = rng.random((corner.others, corner.n)) < (0.8 if corner.scattered else ease)
    said = np.where(rng.random((corner.others, corner.n)) < 0.3, models[0], models[1])
    lost = np.where(said == truth, (truth + rng.integers(1, K, said.shape)) % K, said)
    return np.where(right, truth, lost).astype(np.int32)


def _mislabelled(
    corner: Corner,
    truth: Indices,
    models: NDArray[np.int32],
    apart: Rows,
    first_right: Rows,
    doubts: NDArray[np.float64],
    rng: np.random.Generator,
) -> Indices:
    """Make the wrong labels of the corner."""
    labels = truth.copy()
    scattered = rng.permutation(corner.n)[: corner.noise]
    labels[scattered] = (truth[scattered] + rng.integers(1, K, scattered.size)) % K
    mixed = rng.permutation(first_right)
    order = mixed[np.argsort(doubts[mixed], kind="stable")]
    if corner.place == "most":
        order = order[::-1]
    elif corner.place.startswith("decile"):
        tenth = int(corner.place.split()[1])
        start, stop = (round(order.size * end / 10) for end in (tenth - 1, tenth))
        order = np.concatenate([rng.permutation(order[start:stop]), order[stop:], order[:start]])
    elif corner.place == "anywhere":
        order = mixed
    # By disagreement, ties are in a random order, for the sort is stable.
    copies, without, mirrored = np.split(order, np.cumsum([corner.copies, corner.neither, corner.both]))[:3]
    labels[copies] = models[1, copies]
    labels[mirrored] = models[1, mirrored]
    second_right = np.setdiff1d(apart, first_right)
    second_right = rng.permutation(second_right[models[1, second_right] == truth[second_right]])[: corner.both]
    labels[second_right] = models[0, second_right]
    labels[without] = _third(truth[without], models[1, without], rng)
    return labels
