"""How many labels can be wrong, given what is known of the noise: limits that hold at once."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from demele.core.arrays import Counts, Floats
from demele.core.errors import InputError, InputTypeError, OutOfDomainWarning, quoted, warn_user
from demele.core.kinds import Count, between, checked, is_number
from demele.core.labelled import ALL_CORRECT, Indices
from demele.core.proportions import exact_high, exact_low
from demele.core.table_columns import whole_array
from demele.noise.transition import TransitionCounts, TransitionMatrix, hypergeometric_limit

#: Rounds of narrowing the class proportions; stopping early leaves limits that are wider, and hold.
NARROWINGS = 200
#: A sample whose given labels differ from those judged with a p-value below this was not drawn uniformly.
UNLIKELY = 1e-6
#: Arithmetic on proportions may be off by so much.
SLACK = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoiseBudget:
    """Upper limits on the number of wrong labels among n; all hold at once.

    Attributes
    ----------
    wrong : int
        At most so many labels are wrong.
    wrong_given : array of int64 of shape (K,)
        At most so many of those given class k are wrong.
    wrong_true : array of int64 of shape (K,)
        At most so many instances truly of class k have another label.
    joint : array of int64 of shape (K, K)
        At most so many instances truly of class j are labelled k; the diagonal is 0.
    level : float or None
        Confidence with which all of these hold; None if they follow from what was supplied.
    assumptions : tuple of str
    out_of_domain : bool
        Whether what was supplied contradicts the labels; the limits are then as wide as safety needs.
    """

    wrong: int
    wrong_given: Counts
    wrong_true: Counts
    joint: Counts
    level: float | None
    assumptions: tuple[str, ...]
    out_of_domain: bool = False


@checked
def noise_budget(
    noise: float | TransitionMatrix | TransitionCounts,
    labels: Indices,
    k: Count,
    *,
    tail: Annotated[float, between(0, 1, "()")],
) -> NoiseBudget:
    """Limit the number of wrong labels.

    Parameters
    ----------
    noise : float, TransitionMatrix or TransitionCounts
        What is known: a rate that is not exceeded, the probabilities of mistakes, or counts of a random sample.
        Matrices have the classes of the labels, in the same order.
    labels : array of int32 of shape (n,)
        Given labels, as class indices below ``k``.
    k : int
        Number of classes.
    tail : float in (0, 1)
        Probability with which one limit or more may fail; not used for a rate.

    Returns
    -------
    NoiseBudget

    Raises
    ------
    InputError, InputTypeError
        If the classes of the noise are not as many, or the rate is outside [0, 1).

    Warns
    -----
    OutOfDomainWarning
        If no proportions of classes explain the labels with this matrix, or the sample's labels are distributed
        otherwise than those judged.

    Notes
    -----
    Rate: floor(rate n) wrong labels, anywhere.

    Matrix T: each instance's label is a draw from the row of its class, independently. The proportions of the true
    classes pi are unknown; with P = pi T the distribution of given labels, exact (Clopper-Pearson) limits of every P_k
    bound pi, and with it the expected number n pi_j T_jk of each mistake. The realised numbers vary around it: the
    limits are binomial quantiles at the largest proportions allowed. For fixed instances the same limits hold, since
    sums of independent trials of unequal probability vary less than a binomial in the tails (Hoeffding 1956).

    Counts: among the instances with one given label (and among all), those counted and those not are exchangeable, so
    that exact hypergeometric limits hold. With ``sample_of="labels"`` the counted instances are part of those judged;
    otherwise they are others, and the limit is one of prediction.

    ``tail`` is shared between all these limits by Bonferroni's inequality. Time O(K^2 log K).

    Examples
    --------
    >>> import numpy as np
    >>> given = np.repeat(np.arange(2, dtype=np.int32), 500)
    >>> noise_budget(0.05, given, 2, tail=0.025).wrong
    50
    >>> noise_budget(TransitionMatrix([[0.95, 0.05], [0.05, 0.95]]), given, 2, tail=0.025).wrong
    68
    >>> noise_budget(TransitionCounts([[95, 5], [5, 95]]), given, 2, tail=0.025).wrong
    100
    """
    found = whole_array(labels, "labels", dimensions=1)
    if found.size and not 0 <= found.min() <= found.max() < k:
        raise InputError("labels", f"expected indices of classes from 0 to {k - 1}, got {found.min()} to {found.max()}")
    given, n = np.bincount(found, minlength=k), found.size
    told: dict[str, Any]
    if isinstance(noise, TransitionMatrix | TransitionCounts):
        if noise.k != k:
            raise InputError("noise", f"expected {k} classes, as the labels have, got {noise.k}")
        held = _of_matrix(noise, given, tail) if isinstance(noise, TransitionMatrix) else _of_counts(noise, given, tail)
        wrong, by_given, by_true, joint, told = held
    elif is_number(noise):
        if not 0 <= noise < 1:
            raise InputError("noise", f"expected a rate of wrong labels in [0, 1), got {quoted(noise)}")
        wrong = int(np.floor(noise * n + 1e-9))
        by_given = by_true = joint = np.full(k, wrong)
        said = f"at most {wrong} of the {n} labels are wrong (a rate of {noise:g}), in the worst case"
        told = {"level": None, "assumptions": (said if wrong else ALL_CORRECT,)}
    else:
        raise InputTypeError("noise", f"expected a rate, matrix or counts of transitions, got {type(noise).__name__}")
    # Limits that all hold are made as small as they make each other.
    by_given = np.minimum(np.minimum(by_given, given), wrong)
    by_true = np.minimum(np.minimum(by_true, n - given), wrong)
    joint = np.minimum(np.minimum(joint, by_given), by_true[:, None]) * (1 - np.eye(k, dtype=np.int64))
    by_given, by_true = np.minimum(by_given, joint.sum(axis=0)), np.minimum(by_true, joint.sum(axis=1))
    return NoiseBudget(
        wrong=int(min(wrong, by_given.sum(), by_true.sum())),
        wrong_given=by_given.astype(np.int64),
        wrong_true=by_true.astype(np.int64),
        joint=joint.astype(np.int64),
        **told,
    )


#: Limits of all wrong labels, by given label, by true class, and by both, and what else is said of them.
_Limits = tuple[int, Counts, Counts, Counts, dict[str, Any]]


def _of_matrix(noise: TransitionMatrix, given: Counts, tail: float) -> _Limits:
    table, n, k = noise.probabilities, int(given.sum()), given.size
    mistakes = table * (1 - np.eye(k))
    lows, highs = exact_low(given, n, tail / 8 / k), exact_high(given, n, tail / 8 / k)
    found = _class_proportions(table, lows, highs)
    least, most = (np.zeros(k), np.ones(k)) if found is None else found
    # Expected shares at their largest: of all wrong labels, of those given k, of those truly j, of each mistake.
    rate = _largest(mistakes.sum(axis=1)[:, None], least, most)[0]
    by_given = np.minimum(_largest(mistakes, least, most), highs - least * np.diag(table))
    by_true, joint = most * mistakes.sum(axis=1), most[:, None] * mistakes
    pairs = max(k * (k - 1), 1)
    if found is None:
        message = "noise: no proportions of classes explain the labels with this matrix, so limits are wide; is it of "
        message += "this data? It may be transposed: rows are true classes, P(given | true)"
        warn_user(message, OutOfDomainWarning)
    told = f"each label is drawn by the transition matrix, independently of the others (limits at {1 - tail:g})"
    assumptions = told, *(() if found else ("no class proportions explain the labels: it may be transposed",))
    return (
        int(_binomial_limit(n, np.array(rate), tail / 4)),
        _binomial_limit(n, by_given, tail / 6 / k),
        _binomial_limit(n, by_true, tail / 6 / k),
        _binomial_limit(n, joint, tail / 6 / pairs),
        {"level": 1 - tail, "assumptions": assumptions, "out_of_domain": found is None},
    )


def _of_counts(noise: TransitionCounts, given: Counts, tail: float) -> _Limits:
    from scipy.stats import chi2_contingency

    n, k, within = int(given.sum()), given.size, noise.sample_of == "labels"
    table, columns = noise.counts, noise.counts.sum(axis=0)
    beyond = np.flatnonzero(columns > given)
    if within and beyond.size:
        first = int(beyond[0])
        message = f"counts {columns[first]} labels of class number {first}, the labels judged hold {given[first]}"
        raise InputError("noise", message, "pass sample_of='source' if they are of others")
    mistakes = table * (1 - np.eye(k, dtype=np.int64))
    pairs = max(k * (k - 1), 1)

    def limit(sizes: Any, sampled: Any, wrong: Any, error: float) -> Counts:
        if within:
            return hypergeometric_limit(sizes, sampled, wrong, error)
        return np.asarray(hypergeometric_limit(sizes + sampled, sampled, wrong, error) - wrong)

    by_given = limit(given, columns, mistakes.sum(axis=0), tail / 6 / k)
    joint = limit(given, columns, mistakes, tail / 6 / pairs) * (1 - np.eye(k, dtype=np.int64))
    both = np.stack([columns, given - columns if within else given])
    both = both[:, both.sum(axis=0) > 0]
    agree = both.shape[1] < 2 or not both.any(axis=1).all()
    # Only a blatant difference denies that both are of one distribution.
    agree = agree or bool(chi2_contingency(both, correction=False).pvalue >= UNLIKELY)
    by_true, wrong = joint.sum(axis=1), int(by_given.sum())
    if agree:  # else the sample speaks of each given label only, as a sample by given label would
        by_true = limit(n, noise.n, mistakes.sum(axis=1), tail / 6 / k)
        wrong = int(limit(n, noise.n, noise.wrong, tail / 2))
    else:
        message = "noise: the sample's labels are distributed otherwise than those judged, and read as one of each; "
        message += "was it drawn uniformly, and are its rows true classes?"
        warn_user(message, OutOfDomainWarning)
    whole = within and noise.n == n
    of = "these instances" if within else "the source of these instances"
    uniform = f"the {noise.n} instances counted are a uniform random sample of {of}, with right true labels"
    grouped = f"within each given label, the instances counted are a random sample of {of}, with right true labels"
    told = "the true labels of all instances were counted" if whole else uniform if agree else grouped
    about = {"level": None if whole else 1 - tail, "assumptions": (told,), "out_of_domain": not agree}
    return wrong, by_given, by_true, joint, about


def _class_proportions(table: Floats, lows: Floats, highs: Floats) -> tuple[Floats, Floats] | None:
    """Return limits of every pi in the simplex with lows <= pi T <= highs; None if there is no such pi.

    Each constraint narrows each proportion, given the limits of the others, until nothing moves. The limits contain the
    exact ones (of 2 K linear programmes) and are close to them where labels are mostly right, at K^2 per round.
    """
    k = len(table)
    least, most = np.zeros(k), np.ones(k)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(NARROWINGS):
            room = highs - least @ table + least[:, None] * table
            need = lows - most @ table + most[:, None] * table
            top = np.where(table > 0, room / table, np.inf).min(axis=1)
            bottom = np.where(table > 0, need / table, -np.inf).max(axis=1)
            top = np.minimum(np.minimum(most, top + SLACK), 1 - (least.sum() - least) + SLACK)
            bottom = np.maximum(np.maximum(least, bottom - SLACK), 1 - (most.sum() - most) - SLACK)
            if (bottom > top + SLACK).any():
                return None
            moved = max(float((most - top).max()), float((bottom - least).max()))
            least, most = np.minimum(bottom, top), np.maximum(bottom, top)
            if moved < SLACK:
                break
    middle = (least + most) / (least + most).sum()
    shares = middle @ table
    if not ((lows <= shares) & (shares <= highs)).all():
        from scipy.optimize import linprog

        limits = {"A_ub": np.vstack([table.T, -table.T]), "b_ub": np.concatenate([highs, -lows])}
        found = linprog(np.zeros(k), **limits, A_eq=np.ones((1, k)), b_eq=[1.0], bounds=(0, 1), method="highs")
        if int(found.status) == 2:  # there are none
            return None
    return least, most


def _largest(gains: Floats, least: Floats, most: Floats) -> Floats:
    """Largest pi @ gains over least <= pi <= most with sum 1, for each column of gains: the best are filled first."""
    order = np.argsort(-gains, axis=0, kind="stable")
    width = (most - least)[order]
    before = np.cumsum(width, axis=0) - width
    filled = np.clip(max(1 - least.sum(), 0.0) - before, 0, width)
    best: Floats = least @ gains + (filled * np.take_along_axis(gains, order, axis=0)).sum(axis=0)
    return best + SLACK * (best > 0)


def _binomial_limit(n: int, shares: Floats, error: float) -> Counts:
    """Smallest count that a binomial of n trials exceeds with probability ``error`` at most."""
    from scipy.stats import binom

    return np.asarray(np.maximum(binom.isf(error, n, np.clip(shares, 0, 1)), 0), dtype=np.int64)
