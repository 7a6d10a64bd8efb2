"""Comparisons of rows in groups: what the sampling of whole groups adds to each of the methods."""

from dataclasses import dataclass

import numpy as np

from demele.classifiers.betting import sampling_gap, unseen_losses
from demele.classifiers.question import PairCounts, Question
from demele.classifiers.row_groups import Groups
from demele.core.arrays import Floats
from demele.core.proportions import normal_quantile

#: The t quantile of 3 degrees of freedom exceeds 2, the most that four groups reach, up to this error.
USUAL_TAIL = 0.05


def group_counts(question: Question, groups: Groups, pair: int) -> PairCounts:
    """Count the disagreements of one pair in every group."""
    data = question.data
    first, second = (data.predictions[models[pair]] for models in (question.baseline, question.candidate))
    apart = np.flatnonzero(first != second)
    codes, labels = groups.codes[apart], data.labels[apart]
    won, lost = second[apart] == labels, first[apart] == labels
    parts = (np.bincount(codes[rows], minlength=groups.count) for rows in (lost, won, ~(won | lost)))
    return PairCounts(*(part.astype(np.float64) for part in parts))


# --- the paired test at the worst case -------------------------------------------------------------------------------


def squares_gained(counts: PairCounts, drop: float) -> float:
    """Return how much wrong labels can add to the sum of squared gaps of the groups, at most.

    Notes
    -----
    The gap d_g of a group can fall by c_g = 2 won_g + neither_g, and its square then rises by c_g (c_g - 2 d_g). The
    rise is convex in the fall, hence at most c_g - 2 d_g per unit of it. Groups are filled, the largest of these first
    and positive ones only, until the fall of all together is ``drop``.

    Examples
    --------
    >>> squares_gained(PairCounts(np.array([0.0, 1, 2]), np.array([3.0, 1, 0]), np.zeros(3)), 4)
    4.0
    """
    room = 2 * counts.won + counts.neither
    rise = room - 2 * counts.gap
    order = np.argsort(-rise, kind="stable")
    room, rise = room[order], np.maximum(rise[order], 0.0)
    filled = np.clip(drop - (np.cumsum(room) - room), 0.0, room)
    return float(filled @ rise)


def paired_test(counts: PairCounts, drop: float, groups: Groups, tail: float) -> tuple[float, float]:
    """Test "the candidate is better" by groups, at the worst that wrong labels can do.

    Parameters
    ----------
    counts : PairCounts
        Of every group.
    drop : float
        The lead of the candidate falls by so many right predictions at most.
    groups : Groups
    tail : float in (0, 0.5]

    Returns
    -------
    low : float
        Lower limit of the lead, in rows of this test set; above 0 if and only if the claim is made.
    p_value : float

    Notes
    -----
    With S the lead less ``drop`` and V = G / (G - 1) (sum d_g^2 + what :func:`squares_gained`), S / sqrt(V) is held
    against the t distribution with G - 1 degrees of freedom; S and V are each at their worst. Few groups with a gap do
    not make a normal sum: four of one mind are a chance of 1 in 16, however many agree besides. So S must also exceed
    what k even steps of c rows do by the binomial distribution, c = sum d_g^2 / sum |d_g|, k = sum |d_g| / c: groups
    that are equal are tested exactly. Where nothing is claimed, the limit is at least as far as
    :meth:`GroupedPairs.unseen` says.
    """
    from scipy.special import stdtr, stdtrit
    from scipy.stats import binom

    lead, size = float(counts.gap.sum()) - drop, float(np.abs(counts.gap).sum())
    variance = groups.spread() * (float(counts.gap @ counts.gap) + squares_gained(counts, drop))
    deviation = float(np.sqrt(variance))
    clump = float(counts.gap @ counts.gap) / size if size else 1.0
    steps = int(np.ceil(size / clump - 1e-9))
    even = clump * (2 * float(binom.isf(tail, steps, 0.5)) - steps) if steps else 0.0
    low = lead - max(float(stdtrit(groups.count - 1, 1 - tail)) * deviation, even)
    p_value = float(stdtr(groups.count - 1, -lead / deviation)) if deviation else 1.0
    # Rounding must not make half a step of none.
    met = np.ceil((steps + lead / clump) / 2 - 1e-9)
    p_value = max(p_value, float(binom.sf(met - 1, steps, 0.5)))
    if low > 1e-9:
        return low, p_value
    unseen = float(GroupedPairs.of([counts.disagreements], groups).unseen(np.array([lead]), tail)[0])
    return min(low, lead - unseen, 0.0), max(p_value, tail)


def degrees_of(met: int, tail: float) -> int:
    """Degrees of freedom of a limit from so many groups that say anything.

    One less than these, but at least 3 at the usual errors: with as many, up to four groups that agree never show
    anything; with fewer, a limit that also depends on exact ones would be useless.
    """
    return max(met - 1, 3 if tail <= USUAL_TAIL else 1)


# --- disagreements alone: what needs no label ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GroupedPairs:
    """How the disagreements of each pair lie in groups.

    Attributes
    ----------
    rows : array of shape (pairs,)
        Rows on which the two disagree.
    clump : array of shape (pairs,)
        Sum over groups of the squared numbers of these rows, divided by their number: the mean number in the group of a
        row.
    largest : array of shape (pairs,)
        Share of them that the largest group has.
    of_all : float
        The same as ``clump`` of all rows.
    n : int
        Rows of the test set.
    """

    rows: Floats
    clump: Floats
    largest: Floats
    of_all: float
    n: int

    @classmethod
    def of(cls, apart: list[Floats], groups: Groups) -> "GroupedPairs":
        """Gather it from the disagreements of each pair in each group."""
        rows = np.array([part.sum() for part in apart])
        squares, most = np.array([part @ part for part in apart]), np.array([part.max() for part in apart])
        met = np.maximum(rows, 1.0)
        n = int(groups.codes.size)
        return cls(rows, np.where(rows > 0, squares / met, 1.0), most / met, float(groups.sizes @ groups.sizes) / n, n)

    @classmethod
    def asked(cls, question: Question, groups: Groups) -> "GroupedPairs":
        """Gather it for the pairs of a question."""
        return cls.of([group_counts(question, groups, pair).disagreements for pair in range(question.n_pairs)], groups)

    def sampling_gap(self, tail: float) -> Floats:
        """Gap of right predictions that chance shows with probability ``tail`` if the candidate is not better.

        The gap d_g of a group is at most its disagreements D_g, and a sum of independent +-D_g is the worst: about
        z sqrt(sum D_g^2). Where groups are few that is too near, so it is at least the exact gap of as many even steps
        (see :func:`~demele.classifiers.betting.sampling_gap`), each of ``clump`` rows.
        """
        steps = np.ceil(self.rows / self.clump - 1e-9).astype(np.int64)
        exact = self.clump * sampling_gap(steps, tail)
        return np.maximum(exact, normal_quantile(1 - tail) * np.sqrt(self.clump * self.rows))

    def unseen(self, gap: Floats, tail: float) -> Floats:
        """How many more rows like those lost a population may have than were met, scaled to this test set.

        As :func:`~demele.classifiers.betting.unseen_losses`, of the groups that disagreements make, and at
        least what groups of all rows leave open that none of them was met.
        """
        met = self.clump * unseen_losses(self.rows / self.clump, gap / self.clump, float(self.n) / self.clump, tail)
        none = self.of_all * unseen_losses(0, 0, self.n / self.of_all, tail)
        return np.maximum(met, none)


# --- what an audit and a guess show ----------------------------------------------------------------------------------


def design_effect(expected: Floats, size: Floats, groups: Groups, variance: float) -> float:
    """How much more a sum varies over samples of groups than over as many rows apart, from a guess of its terms.

    Parameters
    ----------
    expected, size : arrays of shape (n,)
        What each row adds according to the guess, and the square root of the mean square of what it may truly add.
    groups : Groups
    variance : float
        Variance of the sum, for rows apart; its terms squared.

    Returns
    -------
    float
        From 1 to that of groups whose terms all have one sign.

    Notes
    -----
    With r the share of the variance that the guess explains, guessed terms of two rows of a group have r^2 times the
    covariance of the true ones if labels err independently given these. So the sum over pairs of rows of one group is
    divided by r^2: otherwise, noise of the labels would hide the correlation of the rows of a group.
    """
    most = float((groups.sums(size) ** 2).sum() / (size @ size)) if size.any() else 1.0
    if variance <= 0:
        return most
    apart = expected - expected.mean()
    own = float(apart @ apart)
    explained = min(own / variance, 1.0)
    within = groups.spread() * float((groups.sums(apart) ** 2).sum()) - own
    if explained <= 0:
        return most
    return float(np.clip(1 + within / explained**2 / variance, 1.0, most))
