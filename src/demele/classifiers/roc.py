"""Areas under ROC curves of labels that may be wrong: paired, with known noise, in the worst case, and audited."""

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from demele.classifiers.results import NamedEstimate, NamedEstimates
from demele.core.arrays import Flags, Floats
from demele.core.errors import InputError, NotEnoughData
from demele.core.kinds import Data, OneClass, checked_confidence, checked_pair, checked_rate
from demele.core.labelled import Vocabulary, plain_text, read_labels, shown, vocabulary
from demele.core.results import Interval, Note
from demele.core.signature import Signature
from demele.core.table_columns import number_column
from demele.noise.audit import Audit, CodedAudit
from demele.noise.transition import TransitionMatrix, digest

# Numbers of several systems on the same rows, and their differences, from one covariance or from bounds ---------------

#: Of the weights of systems (1 of one, or 1 and -1 of two): the least and the largest value that they can have.
Bounds = Callable[[Floats], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Values:
    """Estimates of m systems, their covariances of shape (m, m), and the degrees of freedom of these."""

    values: Floats
    covariance: Floats
    degrees: float = math.inf
    method: str = "normal"
    kind: str = "sampling"

    def of(self, weights: Floats, level: float, top: float) -> tuple[float, Interval, float]:
        """Return a system, in [0, top], or a difference: its value, its interval and the p-value of 0."""
        from scipy.special import stdtr, stdtrit

        value, error = float(weights @ self.values), float(np.sqrt(weights @ self.covariance @ weights))
        z = float(stdtrit(self.degrees, (1 + level) / 2))
        low, high = np.clip([value - z * error, value + z * error], 0 if weights.sum() else -top, top)
        p = 1.0 if value == 0 else float(2 * stdtr(self.degrees, -abs(value) / error)) if error > 0 else 0.0
        interval = Interval(low=float(low), high=float(high), level=level, method=self.method, kind=self.kind)
        return value, interval, p


def mean_values(rows: Floats, method: str, kind: str = "sampling") -> Values:
    """Return the means of rows of shape (m, n), with Student's quantiles."""
    n = rows.shape[1]
    return Values(rows.mean(axis=1), np.atleast_2d(np.cov(rows)) / n, n - 1, method, kind)


def named_estimates(
    names: tuple[str, ...],
    observed: Values,
    known: Values | Bounds | None,
    *,
    level: float,
    n: int,
    top: float = 1.0,
) -> tuple[NamedEstimate, ...]:
    """Return a row for each system and for each difference, later minus earlier; only differences have p-values.

    ``known`` says what follows for true labels: other values, or bounds, which have no p-value.
    """
    units, rows = np.eye(len(names)), []
    pairs = [(f"{names[j]} - {names[i]}", units[j] - units[i]) for i, j in itertools.combinations(range(len(names)), 2)]
    for name, weights in (*zip(names, units, strict=True), *pairs):
        value, interval, p_value = observed.of(weights, level, top)
        corrected, span = math.nan, None
        if isinstance(known, Values):
            corrected, span, p_value = known.of(weights, level, top)
        elif known is not None:
            low, high = known(weights)
            span = Interval(low=low, high=high, level=level, method="worst case", kind="worst-case")
            p_value = math.nan
        tested = math.nan if weights.sum() else p_value
        estimate = NamedEstimate(name=name, value=value, interval=interval, p_value=tested, n=n)
        rows.append(replace(estimate, corrected_value=corrected, corrected=span))
    return tuple(rows)


def systems_of(scores: Mapping[str, object] | object, argument: str) -> dict[str, object]:
    """Return columns by the names of systems; one column alone is called as the argument."""
    return {str(name): one for name, one in scores.items()} if isinstance(scores, Mapping) else {argument: scores}


def kept_share(shares: object, argument: str) -> tuple[float, float, float]:
    """Read two shares of errors; return them, and what they leave of a difference: 1 minus their sum."""
    first, second = checked_pair(shares, argument, "shares in [0, 1]", inside=lambda share: 0 <= share <= 1)
    if first + second >= 1:
        raise InputError(argument, f"expected two shares whose sum is below 1, got {first + second:g}")
    return first, second, 1 - first - second


#: With fewer audited rows, the interval of an audited area covers 82% to 92% where errors copy the score.
LEAST_AUDITED = 300


def auc(
    scores: Mapping[str, object] | Data,
    labels: Data,
    *,
    positive: OneClass = None,
    noise: float | TransitionMatrix | None = None,
    contamination: tuple[float, float] | None = None,
    audit: Audit | None = None,
    level: float = 0.95,
) -> NamedEstimates:
    """Estimate the area under the ROC curve of each system, and each difference, on labels that may be wrong.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n,), or one array-like
        Large where the positive class is likely. The same rows for every system.
    labels : array-like of shape (n,)
        The given labels, of two classes.
    positive : class, optional
        By default the second one in sorted order.
    noise : float or TransitionMatrix, optional
        At most this share of the labels is wrong, in the worst case; or the probability of each given label for each
        true class, whatever the score.
    contamination : (float, float), optional
        Share of truly negative rows among the given positives, and of truly positive ones among the given negatives,
        whatever the score. These are no flip rates: a `noise` matrix holds those.
    audit : Audit, optional
        True labels of at least 300 rows that were drawn at random.
    level : float in [0.5, 1)
        Of each interval by itself.

    Returns
    -------
    NamedEstimates
        Of each system, then of each difference.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Ties count one half. Variances and covariances are those of DeLong, DeLong and Clarke-Pearson (1988).

    *Contamination* (alpha, beta): area on given labels - 1/2 = (1 - alpha - beta) (area - 1/2) if errors are
    independent of the score, given the true class. That keeps the order of systems and shrinks their gap. It cannot be
    checked on these labels: errors that follow the score raise the given area.

    *Worst case*: of m wrong labels, the worst flip the j highest positives and the m - j lowest negatives, for some j.
    The bounds hold for these rows and have no sampling error.

    *Audited*: the area with the probability of each row to be positive, by its given label, plus a correction by its
    influence function on the audited rows. Cost: O(n log n) for each system.

    Examples
    --------
    >>> labels = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    >>> a = [0.9, 0.8, 0.7, 0.6, 0.3, 0.65, 0.5, 0.4, 0.3, 0.2, 0.1]
    >>> b = [0.7, 0.9, 0.4, 0.8, 0.5, 0.6, 0.55, 0.3, 0.2, 0.45, 0.1]
    >>> found = auc({"a": a, "b": b}, labels, noise=0.1)
    >>> print(found["a"].corrected)
    [0.683, 0.964]
    """
    level, given = checked_confidence(level), read_labels(labels, "labels")
    systems, n = systems_of(scores, "scores"), given.size
    columns = [number_column(one, "scores", n, "row", "finite numbers", inside=np.isfinite) for one in systems.values()]
    table, words = np.array(columns), vocabulary(given)
    if len(words) != 2:
        raise InputError("labels", f"expected labels of two classes, got {len(words)}")
    top = words.classes[1] if positive is None else positive
    if top not in words.classes:
        raise InputError("positive", f"expected one of the classes {shown(words.classes)}, got {plain_text(positive)}")
    y, order = given == top, (words.classes[words.classes[0] == top], top)
    if sum(one is not None for one in (noise, contamination, audit)) > 1:
        raise InputError("noise", "expected one of `noise`, `contamination` and `audit`")
    observed = delong(table, y)
    known: Values | Bounds | None = None
    notes: tuple[Note, ...] = ()
    assumptions: tuple[str, ...] = ("All labels are correct.",)
    if isinstance(noise, TransitionMatrix):
        contamination = contaminations(noise, y, order)
    if contamination is not None:
        *_, left = kept_share(contamination, "contamination")
        scaled = 0.5 + (observed.values - 0.5) / left
        known = Values(scaled, observed.covariance / left**2, method="DeLong, bias known", kind="shifted")
        assumptions = (
            "Label errors are independent of the score, given the true class; these labels cannot show it. Errors that "
            "follow the score raise the given area.",
            "The shares of wrong labels are exact.",
        )
    elif noise is not None:
        wrong = int(checked_rate(noise, "noise", "the labels") * n + 1e-9)
        ends = np.array([worst_areas(column, y, wrong) for column in table])

        def known(weights: Floats) -> tuple[float, float]:
            low, high = weights @ np.where(weights[:, None] > 0, ends, ends[:, ::-1])
            return float(low), float(high)

        assumptions = (f"At most {wrong} of {n} labels are wrong. The bounds are for these rows, without sampling.",)
    elif audit is not None:
        known = audited_areas(table, y, audit.coded(Vocabulary(order), n))
        assumptions = ("Audited rows were drawn as the audit says, and their labels are true.",)
        message = "asymptotic interval: it covers 92% to 98% at 300 audited rows, least if errors follow the score"
        notes = (Note(code="asymptotic", message=message),)
    arguments: dict[str, object] = {"positive": top, "noise": noise, "contamination": contamination, "level": level}
    met = {"n": n} if audit is None else {"n": n, "audit": digest(audit.rows, audit.labels)}
    return NamedEstimates(
        measure="AUC",
        rows=named_estimates(tuple(systems), observed, known, level=level, n=n),
        level=level,
        assumptions=assumptions,
        notes=notes,
        signature=Signature.of("auc", arguments, **met, digest=digest(table, y)),
    )


def delong(scores: Floats, y: Flags) -> Values:
    """Return the areas of scores of shape (m, n), and their covariances (DeLong et al. 1988)."""
    from scipy.stats import rankdata

    n1 = int(y.sum())
    n0 = y.size - n1
    if min(n1, n0) < 2:
        raise NotEnoughData("labels", f"expected at least 2 rows of each class, got {n1} positives and {n0} negatives")
    ranks = rankdata(scores, axis=1)
    # Of each positive the share of negatives below it, of each negative the share of positives above it.
    wins = (ranks[:, y] - rankdata(scores[:, y], axis=1)) / n0
    losses = 1 - (ranks[:, ~y] - rankdata(scores[:, ~y], axis=1)) / n1
    return Values(wins.mean(axis=1), np.atleast_2d(np.cov(wins) / n1 + np.cov(losses) / n0), method="DeLong")


def contaminations(noise: TransitionMatrix, y: Flags, classes: tuple[object, object]) -> tuple[float, float]:
    """Return the shares of wrong rows among given positives and negatives, from the flip rates of true classes.

    With a = P(given negative | positive), b = P(given positive | negative) and g the share of given positives, the
    true share is (g - b) / (1 - a - b).
    """
    (_, b), (a, _) = noise.ordered(classes).probabilities
    g = float(y.mean())
    share = (g - b) / (1 - a - b) if a + b < 1 else -1.0
    if not 0 < share < 1:
        raise InputError("noise", f"contradicts the labels: {g:.1%} given positives need a true share of {share:.1%}")
    return float((1 - share) * b / g), float(share * a / (1 - g))


def worst_areas(scores: Floats, y: Flags, wrong: int) -> tuple[float, float]:
    """Return the least and the largest area if ``wrong`` labels are flipped; 0 and 1 if a class may vanish."""
    from scipy.stats import rankdata

    def least(ranks: Floats) -> float:
        n1, j = int(y.sum()), np.arange(wrong + 1)
        if wrong >= min(n1, y.size - n1):
            return 0.0
        highest, lowest = np.sort(ranks[y])[::-1], np.sort(ranks[~y])
        lost, gained = (np.concatenate([[0.0], np.cumsum(part[:wrong])]) for part in (highest, lowest))
        positives = n1 - j + (wrong - j)
        sums = ranks[y].sum() - lost + gained[::-1]
        return float(((sums - positives * (positives + 1) / 2) / (positives * (y.size - positives))).min())

    ranks = rankdata(scores)
    return least(ranks), 1 - least(y.size + 1 - ranks)


def audited_areas(scores: Floats, y: Flags, audit: CodedAudit) -> Values:
    """Return areas on true labels, one step from the area with each row's probability to be positive."""
    if audit.design == "selective":
        raise InputError("audit", "its rows were chosen for a reason (design 'selective'): use `noise` as the bound")
    if audit.k < LEAST_AUDITED:
        message = f"expected at least {LEAST_AUDITED} audited rows, got {audit.k}: fewer cover too rarely"
        raise NotEnoughData("audit", message, "give the share of wrong labels as `noise` for the worst case")
    truth, weights, here = audit.labels.astype(np.float64), 1 / audit.inclusion, y[audit.rows]
    n = y.size
    q = np.empty(n)
    for part in (False, True):
        met = here == part
        if not met.any():
            raise NotEnoughData("audit", f"none of its rows is given as {'positive' if part else 'negative'}")
        q[y == part] = np.average(truth[met], weights=weights[met])
    p = float(q.mean())
    if not 0 < p < 1:
        raise NotEnoughData("audit", "all its true labels are of one class")
    soft, centre, slopes = np.empty(len(scores)), np.empty(scores.shape), np.empty(scores.shape)
    for system, column in enumerate(scores):
        _, place = np.unique(column, return_inverse=True)
        below = []
        for share in (1 - q, q):
            mass = np.bincount(place, weights=share)
            below.append(((np.cumsum(mass) - mass / 2) / share.sum())[place])
        soft[system] = q @ below[0] / q.sum()
        # phi(y) = y u + (1 - y) v, with u and v the influences of a positive and of a negative row.
        u, v = (below[0] - soft[system]) / p, (1 - below[1] - soft[system]) / (1 - p)
        centre[system], slopes[system] = q * u + (1 - q) * v, u - v
    moved = weights * slopes[:, audit.rows] * (truth - q[audit.rows]) / n
    spread = np.atleast_2d(np.cov(centre, bias=True)) / n + moved @ moved.T * audit.k / (audit.k - 2)
    return Values(soft + moved.sum(axis=1), spread, audit.k - 2, "one-step, audit", "design")
