"""Probabilities on labels that may be wrong: Brier score, log loss, calibration error, area under the ROC curve."""

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from demele.classifiers.mean_scores import fitted
from demele.classifiers.results import NamedEstimate, NamedEstimates
from demele.classifiers.row_scores import RowScores, judged_rows
from demele.core import kinds
from demele.core.arrays import Flags, Floats, rng_for
from demele.core.errors import InputError, NotEnoughData, quoted
from demele.core.labelled import ALL_CORRECT, Vocabulary, read_labels, shown, vocabulary
from demele.core.proportions import score_interval
from demele.core.result import Interval, Note
from demele.core.signature import Signature
from demele.core.table_columns import number_column, real_numbers
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
        told = NamedEstimate(name=name, value=value, interval=interval, corrected_value=corrected, corrected=span, n=n)
        rows.append(told if weights.sum() else replace(told, p_value=p_value))
    return tuple(rows)


def systems_of(scores: Mapping[str, object] | object, argument: str) -> dict[str, object]:
    """Return columns by the names of systems; one column alone is called as the argument."""
    return {str(name): one for name, one in scores.items()} if isinstance(scores, Mapping) else {argument: scores}


def kept_share(shares: object, argument: str) -> tuple[float, float, float]:
    """Read two shares of errors; return them, and what they leave of a difference: 1 minus their sum."""
    first, second = kinds.checked_pair(shares, argument, "shares in [0, 1]", inside=lambda share: 0 <= share <= 1)
    if first + second >= 1:
        raise InputError(argument, f"expected two shares whose sum is below 1, got {first + second:g}")
    return first, second, 1 - first - second


#: With fewer audited rows, the interval of an audited area covers 82% to 92% where errors copy the score.
LEAST_OF_AREAS = 300


@kinds.checked
def auc(
    scores: Mapping[str, object] | kinds.Data,
    labels: kinds.Data,
    *,
    positive: kinds.OneClass = None,
    noise: float | TransitionMatrix | None = None,
    contamination: tuple[float, float] | None = None,
    audit: Audit | None = None,
    level: kinds.Confidence = 0.95,
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
    given, systems = read_labels(labels, "labels"), systems_of(scores, "scores")
    n = given.size
    columns = [number_column(one, "scores", n, "row", "finite numbers", inside=np.isfinite) for one in systems.values()]
    table, words = np.array(columns), vocabulary(given)
    if len(words) != 2:
        raise InputError("labels", f"expected labels of two classes, got {len(words)}")
    top = words.classes[1] if positive is None else positive
    if top not in words.classes:
        raise InputError("positive", f"expected one of the classes {shown(words.classes)}, got {quoted(positive)}")
    y, order = given == top, (words.classes[words.classes[0] == top], top)
    if sum(one is not None for one in (noise, contamination, audit)) > 1:
        raise InputError("noise", "expected one of `noise`, `contamination` and `audit`")
    observed = delong(table, y)
    known: Values | Bounds | None = None
    notes: tuple[Note, ...] = ()
    assumptions: tuple[str, ...] = (ALL_CORRECT,)
    if isinstance(noise, TransitionMatrix):
        contamination = contaminations(noise, y, order)
    if contamination is not None:
        *_, left = kept_share(contamination, "contamination")
        scaled = 0.5 + (observed.values - 0.5) / left
        known = Values(scaled, observed.covariance / left**2, method="DeLong, bias known", kind="shifted")
        independent = "Label errors are independent of the score, given the true class; others raise the given area."
        assumptions = (independent, "The shares of wrong labels are exact.")
    elif noise is not None:
        wrong = int(kinds.checked_rate(noise, "noise", "the labels") * n + 1e-9)
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
    if audit.k < LEAST_OF_AREAS:
        message = f"expected at least {LEAST_OF_AREAS} audited rows, got {audit.k}: fewer cover too rarely"
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


Loss = Literal["brier", "log"]
#: Probabilities of a row sum to 1 within this.
SUMS = 1e-6
#: Audited rows that each bin of a calibration error needs.
LEAST_AUDITED = 20


@kinds.checked
def probability_loss(
    probabilities: Mapping[str, object] | kinds.Data,
    labels: kinds.Data,
    *,
    loss: Loss = "brier",
    noise: float | TransitionMatrix | None = None,
    most: kinds.Positive | None = None,
    classes: kinds.Classes = None,
    level: kinds.Confidence = 0.95,
) -> NamedEstimates:
    """Estimate the Brier score or the log loss of each system, and each difference, on labels that may be wrong.

    Parameters
    ----------
    probabilities : mapping of str to array-like of shape (n,) or (n, K), or one array-like
        Probability of the second class, or of every class.
    labels : array-like of shape (n,)
        The given labels.
    loss : {"brier", "log"}
        (p - y)^2 of two classes, the sum over classes of more; or -log of the probability of the label.
    noise : float or TransitionMatrix, optional
        At most this share of the labels is wrong, in the worst case; or the probability of each given label for each
        true class, whatever the probabilities.
    most : float, optional
        Largest log loss that a row can have: larger ones are cut off. The worst case of the log loss needs it.
    classes : sequence, optional
        Classes in the order of the columns (default: those of the labels, sorted).
    level : float in [0.5, 1)
        Of each interval by itself.

    Returns
    -------
    NamedEstimates
        Of each system, then of each difference. Lower is better.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    *Backward correction* (Natarajan et al. 2013; Patrini et al. 2017): with T[true, given] and l the losses of a row
    under each label, the corrected loss of a row is the entry of the given label in T^-1 l. Its mean estimates that on
    true labels; one row may leave the range of the loss.

    *Worst case*: m wrong labels replace m losses by the least or the largest of the row. For a difference both losses
    follow from one label. The bounds hold for these rows and have no sampling error.

    An unknown T, or noise that depends on the row, does not identify the loss: audit rows, with the scores of
    :func:`demele.classifiers.loss_scores`.

    Examples
    --------
    >>> noise = TransitionMatrix([[0.95, 0.05], [0.1, 0.9]])
    >>> found = probability_loss([0.9, 0.8, 0.3, 0.6, 0.05], [1, 0, 0, 1, 0], noise=noise)["probabilities"]
    >>> round(found.value, 6), round(found.corrected_value, 6)
    (0.1805, 0.148735)
    """
    given, systems = read_labels(labels, "labels"), systems_of(probabilities, "probabilities")
    words, n = vocabulary(given, classes=classes), given.size
    places, k = words.encode(given, "labels"), len(words)
    table = np.stack([losses(one, n, k, loss, most) for one in systems.values()])
    observed = table[:, np.arange(n), places]
    known: Values | Bounds | None = None
    assumptions: tuple[str, ...] = (ALL_CORRECT,)
    if isinstance(noise, TransitionMatrix):
        matrix = noise.ordered(words.classes).probabilities
        if matrix.shape != (k, k) or np.linalg.matrix_rank(matrix) < k:
            raise InputError("noise", f"expected an invertible matrix of {k} classes")
        backward = table @ np.linalg.inv(matrix).T
        if not np.isfinite(backward).all():
            raise InputError("most", "a probability is 0, so the log loss of another label is infinite; give `most`")
        known = mean_values(backward[:, np.arange(n), places], "t, backward correction", "shifted")
        assumptions = ("The matrix is exact; label errors are independent of the probabilities, given the true class.",)
    elif noise is not None:
        if not np.isfinite(table).all() or (loss == "log" and most is None):
            raise InputError("most", "the log loss has no bound: give the largest loss of a row as `most`")
        wrong = int(kinds.checked_rate(noise, "noise", "the labels") * n + 1e-9)

        def known(weights: Floats) -> tuple[float, float]:
            each = np.tensordot(weights, table, 1)
            now = each[np.arange(n), places]
            down, up = (np.sort(reach)[n - wrong :].sum() for reach in (now - each.min(axis=1), each.max(axis=1) - now))
            return float(now.mean() - down / n), float(now.mean() + up / n)

        assumptions = (f"At most {wrong} of {n} labels are wrong. The bounds are for these rows, without sampling.",)
    arguments: dict[str, object] = {"loss": loss, "noise": noise, "most": most, "level": level}
    top = most or (np.inf if loss == "log" else 1.0 if k == 2 else 2.0)
    return NamedEstimates(
        measure="Brier score" if loss == "brier" else "Log loss",
        rows=named_estimates(tuple(systems), mean_values(observed, "t"), known, level=level, n=n, top=top),
        level=level,
        assumptions=assumptions,
        signature=Signature.of("probability_loss", arguments, n=n, digest=digest(table, places)),
    )


def losses(probabilities: object, n: int, k: int, loss: Loss, most: float | None) -> Floats:
    """Return the loss of each row under each label, shape (n, k)."""
    if k < 2:
        raise InputError("labels", f"expected at least 2 classes, got {k}; give all classes with `classes`")
    p = real_numbers(probabilities, "probabilities")
    p = np.column_stack([1 - p, p]) if p.ndim == 1 and k == 2 else p
    if p.shape != (n, k):
        raise InputError("probabilities", f"expected shape ({n}, {k}), a column for each class, got {p.shape}")
    if not ((p >= 0) & (p <= 1)).all() or np.abs(p.sum(axis=1) - 1).max() > SUMS:
        raise InputError("probabilities", "expected numbers in [0, 1] that sum to 1 in each row")
    if loss == "log":
        with np.errstate(divide="ignore"):
            return np.asarray(np.minimum(-np.log(p), np.inf if most is None else most))
    if most is not None:
        raise InputError("most", "is for the log loss: the Brier score has a bound")
    if k == 2:
        return np.asarray(p[:, ::-1] ** 2)
    return np.asarray((p**2).sum(axis=1, keepdims=True) - 2 * p + 1)


@kinds.checked
def loss_scores(
    probabilities: kinds.Data,
    labels: kinds.Data,
    *,
    loss: Loss = "brier",
    most: kinds.Positive | None = None,
    classes: kinds.Classes = None,
) -> RowScores:
    """Return the Brier score or the log loss of each row; its true score follows from another label.

    Parameters
    ----------
    probabilities, labels, loss, most, classes
        As in :func:`demele.classifiers.probability_loss`, of one system. A log loss needs ``most``.

    Returns
    -------
    RowScores
        Lower is better. For an audit, the true scores are those of the same rows with the expert's labels.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Examples
    --------
    >>> scores = loss_scores([0.9, 0.8, 0.3], [1, 0, 0])
    >>> scores.given.round(2), scores.up.round(2)
    (array([0.01, 0.64, 0.09]), array([0.8, 0. , 0.4]))
    """
    if loss == "log" and most is None:
        raise InputError("most", "the log loss has no bound: give the largest loss of a row as `most`")
    given = read_labels(labels, "labels")
    words = vocabulary(given, classes=classes)
    table = losses(probabilities, given.size, len(words), loss, most)
    held = table[np.arange(given.size), words.encode(given, "labels")]
    top = most or (1 if len(words) == 2 else 2)
    return RowScores(held, 0, top, reach=(held - table.min(axis=1), table.max(axis=1) - held))


@kinds.checked
def calibration_error(
    confidence: kinds.Data,
    correct: kinds.Data,
    *,
    bins: kinds.Count = 10,
    noise: kinds.Rate | None = None,
    flips: tuple[float, float] | None = None,
    audit: Audit | None = None,
    level: kinds.Confidence = 0.95,
    draws: kinds.Count = 200,
    seed: kinds.Seed = 0,
) -> NamedEstimates:
    """Estimate the expected calibration error, in bins of equal width, where right and wrong are known by given labels.

    Parameters
    ----------
    confidence : array-like of shape (n,)
        Probability of the prediction, in [0, 1]; or of the positive class.
    correct : array-like of shape (n,)
        1 where the given label is the prediction (or the positive class), 0 elsewhere.
    bins : int
    noise : float, optional
        At most this share of the labels is wrong, in the worst case.
    flips : (float, float), optional
        Probability that a truly correct row is given as wrong, and that a truly wrong one is given as correct,
        whatever the confidence.
    audit : Audit, optional
        Whether audited rows are truly correct, 1 or 0; at least 20 rows in each bin.
    level : float in [0.5, 1)
        Of each interval by itself.
    draws : int
        Simulated data sets of a perfectly calibrated classifier with these confidences: its error is above 0 by
        chance.
    seed : int

    Returns
    -------
    NamedEstimates
        The error; that of a calibrated classifier by chance, with the range of simulated ones; then for each bin the
        gap, confidence minus accuracy.

    Raises
    ------
    InputError, InputTypeError

    Notes
    -----
    ECE = sum of share x abs(gap) over the bins. With flips (a, b), accuracy = (given accuracy - b) / (1 - a - b), cut
    off to [0, 1]. Wrong labels of a good classifier look like overconfidence. In the worst case the error changes by
    at most the share of wrong labels: one row moves one gap by 1 / n.

    Examples
    --------
    >>> found = calibration_error([0.9] * 50 + [0.6] * 50, [1] * 40 + [0] * 10 + [1] * 30 + [0] * 20, noise=0.02)
    >>> print(round(found["ECE"].value, 3), found["ECE"].corrected)
    0.05 [0.030, 0.070]
    """
    n = real_numbers(confidence, "confidence").size
    if not n:
        raise NotEnoughData("confidence", "expected at least one row, got none")
    p = number_column(confidence, "confidence", n, "row", "numbers in [0, 1]", inside=lambda x: (x >= 0) & (x <= 1))
    right = number_column(correct, "correct", n, "row", "0 or 1", inside=lambda x: (x == 0) | (x == 1))
    if sum(one is not None for one in (noise, flips, audit)) > 1:
        raise InputError("flips", "expected one of `noise`, `flips` and `audit`")
    cells = np.minimum((p * bins).astype(np.intp), bins - 1)
    size = np.bincount(cells, minlength=bins)
    held = np.flatnonzero(size)
    sure, hits = (np.bincount(cells, x, minlength=bins)[held].astype(np.float64) for x in (p, right))
    size = size[held]
    sure /= size
    given = np.stack([hits / size, *score_interval(hits, size, level=level)])
    known = None
    assumptions: tuple[str, ...] = (ALL_CORRECT,)
    if flips is not None:
        _, gained, left = kept_share(flips, "flips")
        known = np.clip((given - gained) / left, 0, 1)
        assumptions = ("The flips are exact, and independent of the confidence; these labels cannot show it.",)
    elif noise is not None:
        assumptions = (f"At most {noise:.2%} of the labels are wrong. The bounds are for these rows.",)
    elif audit is not None:
        judged, found = judged_rows(audit, RowScores(right)), []
        for cell in held:
            own = np.flatnonzero(cells == cell)
            seen = np.count_nonzero(cells[judged[0]] == cell)
            if seen < LEAST_AUDITED:
                message = f"a bin has {seen} audited rows, of at least {LEAST_AUDITED}"
                raise NotEnoughData("audit", message, "use fewer `bins`")
            fit = fitted(RowScores(right), own, judged, weighted=False)
            found.append([np.clip(fit.value, 0, 1), *fit.ends((1 - level) / 2)])
        known = np.array(found).T
        assumptions = ("Audited rows were drawn at random, as `inclusion` says.", "The human labels are true.")
    rng = rng_for(seed, "calibration_error", n)
    drawn = np.array([np.abs(np.bincount(cells, p - (rng.random(n) < p))).sum() / n for _ in range(draws)])

    def span(low: float, high: float, method: str, kind: str) -> Interval:
        return Interval(low=float(low), high=float(high), level=level, method=method, kind=kind)

    error, corrected = (np.nan if one is None else float(size @ np.abs(sure - one[0])) / n for one in (given, known))
    bound = None if noise is None else span(max(error - noise, 0), min(error + noise, 1), "worst case", "worst-case")
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    chance = span(low, high, "simulated", "chance")
    rows = [
        NamedEstimate(name="ECE", value=error, corrected_value=corrected, corrected=bound, n=n),
        NamedEstimate(name="ECE by chance", value=float(drawn.mean()), interval=chance, n=n),
    ]
    how = ("score", "shifted") if audit is None else ("pooled strata", "design")
    for place, cell in enumerate(held):
        gap, most, least = sure[place] - given[:, place]
        row = NamedEstimate(
            name=f"gap, {cell / bins:g} to {(cell + 1) / bins:g}",
            value=float(gap),
            interval=span(least, most, "score", "sampling"),
            n=int(size[place]),
        )
        if known is not None:
            gap, most, least = sure[place] - known[:, place]
            row = replace(row, corrected_value=float(gap), corrected=span(least, most, *how))
        rows.append(row)
    arguments: dict[str, object] = {"bins": bins, "noise": noise, "flips": flips, "level": level, "seed": seed}
    return NamedEstimates(
        measure="Calibration error",
        rows=tuple(rows),
        level=level,
        assumptions=assumptions,
        signature=Signature.of("calibration_error", arguments, n=n, digest=digest(p, right)),
    )
