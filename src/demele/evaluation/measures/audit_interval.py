"""One measure of one classifier, from the given labels of all rows and an expert's labels of a random sample."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_count, checked_flag, checked_level, checked_whole
from demele.core.errors import InputError
from demele.core.labelled import Indices, Labelled
from demele.core.names import checked_name, renamed
from demele.core.proportions import proportion
from demele.core.results import Interval, Note
from demele.core.sentences import arg, in_code
from demele.evaluation.measures.audit_cells import (
    AuditInference,
    accuracy_cells,
    cell_interval,
    class_cells,
    fourfold,
    hit_cells,
    inverted,
)
from demele.evaluation.question import as_value
from demele.evaluation.rare_sums import Guard, SampledSum, lower_bound, upper_bound
from demele.evaluation.row_groups import Groups, corrected_effect, row_counts
from demele.noise.audit import CodedAudit

Floats = NDArray[np.float64]

#: Classes times audited rows looked at together, so that memory stays bounded.
VALUES_AT_ONCE = 1 << 20

#: Wider intervals of a recall are explained, for classes that a label or a prediction gives to at most so many rows.
WIDE, RARE = 0.2, 0.2

_METHODS = {False: "audit strata, Jeffreys bounds in quadrature", True: "audit strata, exact bounds"}
_OF_CLASSES = "audit strata, pooled centres, exact ends of rare shares, in quadrature"


@renamed(target="inference")
def audit_interval(
    hits: int,
    n: int,
    audited_hits: int,
    lost: int,
    audited_misses: int,
    won: int,
    *,
    level: float = 0.95,
    wrong: int | None = None,
    exact: bool = False,
    inference: AuditInference = "population",
) -> Interval:
    """Interval of an accuracy from noisy labels of all rows and a uniform audit of some.

    Parameters
    ----------
    hits, n : int
        Rows whose given label is the prediction, of so many. For the precision of a class, count among the rows
        predicted so.
    audited_hits, lost : int
        Audited rows among the hits, and how many of them the expert takes away.
    audited_misses, won : int
        Audited rows among the others, and how many of them the expert makes hits.
    level : float in (0, 1)
    wrong : int, optional
        At most so many of the ``n`` given labels are wrong, if that is known. The interval then stays between the ends
        of the score intervals of ``hits - wrong`` and ``hits + wrong`` of ``n``.
    exact : bool
        Guarantee the level whatever the numbers, at the price of width. Otherwise the coverage is about the level
        (measured: 92.5% in the worst of 120 cells for a nominal 95%, from 1 to 20% noise and from 50 audited rows).
    inference : {"population", "test_set"}
        Accuracy on new instances (``kind="sampling"``), or on these rows with true labels (``kind="design"``).

    Returns
    -------
    Interval
        Within [0, 1].

    Raises
    ------
    InputError, InputTypeError
        If the counts contradict each other.

    Notes
    -----
    With h hits, lost rate l and won rate w, the accuracy is [h (1 - l) + (n - h) w] / n. The two rates come from
    separate random samples: each gets Jeffreys bounds, corrected for the finite stratum, and the distances are combined
    in quadrature. Jeffreys bounds are narrower than Wilson's where errors are few, and cover more evenly. The exact
    variant takes hypergeometric bounds, and Clopper and Pearson's for new instances. The usual normal interval has
    width zero when the audit meets no error.

    Examples
    --------
    >>> print(audit_interval(900, 1000, 180, 4, 20, 3))
    [0.862, 0.922]
    >>> print(audit_interval(900, 1000, 180, 4, 20, 3, inference="test_set"))
    [0.870, 0.916]
    """
    level = checked_level(level)
    checked_name(inference, "inference", get_args(AuditInference))
    checked_flag(exact, "exact")
    for name, value, least in (("n", n, 1), ("hits", hits, 0)):
        checked_count(value, name, least)
    for name, value, most, what in (
        ("hits", hits, n, "n"),
        ("audited_hits", audited_hits, hits, "hits"),
        ("lost", lost, audited_hits, "audited_hits"),
        ("audited_misses", audited_misses, n - hits, "n - hits"),
        ("won", won, audited_misses, "audited_misses"),
        ("wrong", 0 if wrong is None else wrong, n, "n"),
    ):
        expected = f"a count between 0 and {what} = {most}"
        checked_whole(value, name, expected, inside=lambda count, most=most: 0 <= count <= most)  # type: ignore[misc]
    if wrong is not None and lost + won > wrong:
        raise InputError("wrong", f"at most {wrong} labels are said to be wrong, but the audit shows {lost + won}")
    cells = accuracy_cells(hits, n, audited_hits, lost, audited_misses, won).limited(wrong)
    low, high = cell_interval(cells, level=level, exact=exact, inference=inference)
    kind = "sampling" if inference == "population" else "design"
    return Interval(low=float(low), high=float(high), level=level, method=_METHODS[exact], kind=kind)


def audited_estimate(
    data: Labelled,
    audit: CodedAudit,
    measure: str,
    of: int | str | None,
    level: float,
    *,
    inference: AuditInference = "population",
    model: int = 0,
    wrong: int | None = None,
    groups: Groups | None = None,
) -> tuple[float, Interval]:
    """Estimate a correct measure of one model from a random audit, with its interval.

    Parameters
    ----------
    data : Labelled
        Given labels and predictions.
    audit : CodedAudit
        Of design ``"uniform"``, ``"stratified"`` or ``"weighted"``.
    measure : {"accuracy", "error", "precision", "recall", "f1"}
    of : int, str or None
        Index of a class for the last three, or ``"macro"``, ``"weighted"`` (by the estimated number of true instances)
        or ``"micro"``; None for accuracy and error.
    level : float in (0, 1)
    inference : {"population", "test_set"}
        On new instances, or on these rows with true labels.
    model : int
        Row of ``data.predictions``.
    wrong : int, optional
        At most so many of the given labels are wrong, if that is known.
    groups : Groups, optional
        Which rows come together, where new instances are asked for; None: they come apart.

    Returns
    -------
    value, interval
        NaN where nothing can be estimated: a class that is neither predicted nor, as far as is known, true.

    Raises
    ------
    InputError
        For a selective audit: rows that were chosen for a reason do not represent the others.

    Notes
    -----
    Uniform audits: rows are split by whether they are predicted, and whether they are labelled, as the class, which
    makes four cells. Of N rows of a cell, k were audited and x of these are truly of the class; the share of the cell
    is taken to be (x + c m) / (k + c), with c = 1 - k / N and m the share that the audited rows of all classes make
    likely in such a cell (:func:`~demele.evaluation.measures.audit_cells.pooled_shares`). The end of its bounds on the
    side of the rarer outcome is Clopper and Pearson's, the other one Jeffreys'; with fewer than 100 audited rows both
    are Clopper and Pearson's. The interval is widened to hold every value that makes the audit likeliest. Accuracy has
    two cells with Jeffreys' bounds, without a pooled share. Stratified audits have these cells in each stratum; in the
    last one, no share exceeds ``audit.unseen`` where a class has no label there.

    Weighted audits: difference estimator; the losses and the gains get the bounds of
    :mod:`demele.evaluation.rare_sums`, which allow for an unseen row as heavy as the heaviest audited one. Rows that
    were not drawn may be heavier, but their probabilities are not known.

    Both find the values that are not rejected, with the distances combined in quadrature. The ends of an average are
    the averages of the ends, which covers more than the level.
    """
    level = checked_level(level)
    if audit.design == "selective":
        raise InputError(
            "audit",
            "its rows were chosen for a reason (design 'selective'), so it says nothing about the other rows; "
            "give an audit of rows drawn at random "
            f"({in_code('demele.labels.draw_audit', otherwise='demele audit draw')})",
        )
    kind = "sampling" if inference == "population" else "design"
    one_number = of == "micro" or measure in ("accuracy", "error")
    known: dict[str, Any] = {"inference": inference, "model": model, "wrong": wrong, "groups": groups}
    found = np.stack(audited_ends(data, audit, "accuracy" if one_number else measure, level, **known), axis=-1)
    if not one_number and isinstance(of, str):
        weights = np.ones(data.k) if of == "macro" else _true_shares(data, audit)
        defined = np.isfinite(found).all(axis=1) & (weights > 0)
        found = np.average(found[defined], axis=0, weights=weights[defined]) if defined.any() else np.full(3, np.nan)
    elif not one_number:
        found = found[int(of or 0)]
    value, low, high = (float(end) for end in found)
    if measure == "error":
        value, low, high = 1 - value, 1 - high, 1 - low
    method = _METHODS[False] if one_number else _OF_CLASSES
    if audit.design == "weighted":
        method = "weighted audit, binomial bounds in quadrature"
    return value, Interval(low=low, high=high, level=level, method=method, kind=kind)


def audited_ends(
    data: Labelled,
    audit: CodedAudit,
    measure: str,
    level: float,
    *,
    inference: AuditInference = "population",
    model: int = 0,
    wrong: int | None = None,
    groups: Groups | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Estimate the accuracy, or precision, recall or F1 of every class, as :func:`audited_estimate` does.

    Returns
    -------
    value, low, high : arrays of shape () for accuracy, else (n_classes,)
        NaN where nothing can be estimated.
    """
    known: dict[str, Any] = {"model": model, "wrong": wrong}
    effect: Floats | float = 1.0
    if groups is not None and inference == "population":  # the design effect on true labels
        value = audited_ends(data, audit, measure, level, **known)[0]
        correct = np.atleast_1d(value / (2 - value) if measure == "f1" else value)
        share = min(audit.wrong_labels(data.labels) / data.n, 1.0)
        classes: Iterable[int | None] = [None] if measure == "accuracy" else range(data.k)
        effects = [
            corrected_effect(
                *row_counts(data, measure, one, model), groups, wrong=share, correct=float(value), level=level
            )
            for one, value in zip(classes, correct, strict=True)
        ]
        effect = effects[0] if measure == "accuracy" else np.array(effects)
    ends: tuple[Floats, ...]
    known = {"level": level, "inference": inference}
    if audit.design != "weighted":
        cells = hit_cells(data, audit, model) if measure == "accuracy" else class_cells(data, audit, measure, model)
        cells = cells.limited(wrong)
        ends = proportion(*cells.totals), *cell_interval(cells, exact=False, effect=effect, **known)
    elif measure == "accuracy":
        sample = weighted_sample(data, audit, measure, None, model)
        ends = sample.value, *weighted_interval(sample, wrong=wrong, effect=effect, **known)
    else:
        blocks, effect = [], np.broadcast_to(effect, (data.k,))
        step = max(1, VALUES_AT_ONCE // audit.k)
        for first in range(0, data.k, step):
            some = np.arange(first, min(first + step, data.k))
            sample = weighted_sample(data, audit, measure, some, model)
            blocks.append((sample.value, *weighted_interval(sample, wrong=wrong, effect=effect[some], **known)))
        ends = tuple(np.concatenate(parts) for parts in zip(*blocks, strict=True))
    value, low, high = (as_value(end, measure) for end in ends)
    return value, low, high


def unseen_notes(
    data: Labelled, audit: CodedAudit, of: int, level: float, inference: AuditInference
) -> tuple[Note, ...]:
    """Say why the recall of a rare class is left open, and how its interval depends on rows that nobody calls so."""
    name, said = data.vocabulary.classes[of], (data.labels == of) | (data.predictions == of).any(axis=0)
    now = audited_estimate(data, audit, "recall", of, level, inference=inference)[1]
    if audit.design == "weighted" or not now.high - now.low > WIDE or said.mean() > RARE:
        return ()
    if audit.within is None:
        message = (
            f"the recall of {name!r} is between {now}: of {said.sum():,} rows that a label or a prediction calls so, "
            f"{said[audit.rows].sum()} were audited. Draw half of the rows among these "
            f"({in_code('demele.labels.draw_audit with within=', otherwise='demele audit draw --positive')})"
        )
    else:
        rest, drawn = audit.strata[-1]
        if audit.unseen < 1 or said[rest].any() or (audit.labels[drawn] == of).any():
            return ()
        known = (replace(audit, unseen=most) for most in (0.005, 0.0))
        few, none = (audited_estimate(data, one, "recall", of, level, inference=inference)[1] for one in known)
        message = (
            f"the recall of {name!r} is between {now}, for {rest.sum():,} rows that no label or prediction calls so "
            f"may hold some; {drawn.sum()} were audited, none is {name!r}. If at most 1 in 200 is, it is {few}; "
            f"if none is, {none}. Where that can be assumed, give {arg('unseen_positives', code='unseen_positives=')}"
        )
    return (Note(code="rare-class", message=message, subject=(str(name),)),)


def _true_shares(data: Labelled, audit: CodedAudit) -> Floats:
    """Estimated number of instances truly of each class: those labelled so, and what the audit changes."""
    weight = 1 / audit.inclusion
    was = np.bincount(data.labels[audit.rows], weights=weight, minlength=data.k)
    found = np.bincount(audit.labels, weights=weight, minlength=data.k)
    shares: Floats = np.maximum(np.bincount(data.labels, minlength=data.k) + found - was, 0.0)
    return shares


# --- weighted audits: totals of rows drawn with unequal probabilities -----------------------------------------------


@dataclass(frozen=True, slots=True)
class WeightedSample:
    """Rows drawn with unequal probabilities, and by how much each changes T and U of a measure T / U.

    Attributes
    ----------
    t_given, u_given : arrays of shape (...,)
        T and U by the given labels of all rows.
    t_change, u_change : arrays of shape (..., n_drawn)
        What the expert's label of each drawn row adds to these, in {-1, 0, 1}.
    inclusion : array of shape (n_drawn,) or (..., n_drawn)
        Probability that the row was to be drawn.
    """

    t_given: Floats
    u_given: Floats
    t_change: Floats
    u_change: Floats
    inclusion: Floats

    @property
    def totals(self) -> tuple[Floats, Floats]:
        """Difference estimators of T and of U."""
        weight = 1 / self.inclusion
        t, u = (weight * self.t_change).sum(axis=-1), (weight * self.u_change).sum(axis=-1)
        return self.t_given + t, self.u_given + u

    @property
    def value(self) -> Floats:
        """Estimate of T / U, in [0, 1]; NaN where U is not positive."""
        return np.clip(proportion(*self.totals), 0, 1)


def weighted_sample(
    data: Labelled, audit: CodedAudit, measure: str, of: NDArray[np.intp] | None, model: int = 0
) -> WeightedSample:
    """Take a measure of some classes (leading axis), or the accuracy (``of`` None), from an audit."""
    predictions, given = data.predictions[model], data.labels[audit.rows]
    predicted = predictions[audit.rows]
    if of is None:
        same = predictions == data.labels
        change = (predicted == audit.labels).astype(np.float64) - same[audit.rows]
        return WeightedSample(
            np.asarray(float(same.sum())), np.asarray(float(data.n)), change, np.zeros(audit.k), audit.inclusion
        )
    four = fourfold(data.labels, predictions, data.k)[of]
    trials = {"precision": (0, 1), "recall": (0, 2), "f1": (0, 1, 2)}[measure]
    t_was, u_was = _proportion(given, predicted, measure, of)
    t_is, u_is = _proportion(audit.labels, predicted, measure, of)
    return WeightedSample(four[:, 0], four[:, list(trials)].sum(axis=-1), t_is - t_was, u_is - u_was, audit.inclusion)


def _proportion(labels: Indices, predictions: Indices, measure: str, of: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Per class and row, its share of T and of U."""
    predicted, labelled = predictions == of[:, None], labels == of[:, None]
    trials = {"precision": predicted, "recall": labelled, "f1": predicted | labelled}[measure]
    return (predicted & labelled).astype(np.float64), trials.astype(np.float64)


def weighted_interval(
    sample: WeightedSample,
    *,
    level: float,
    inference: AuditInference,
    wrong: int | None = None,
    effect: Floats | float = 1.0,
) -> tuple[Floats, Floats]:
    """Interval of T / U: the values that the audit does not reject; leading axes of the sample are kept.

    Losses and gains get the bounds of :mod:`demele.evaluation.rare_sums`, with one unseen row as heavy as the heaviest
    drawn one. Rows that were not drawn may be heavier, up to one over the least probability of the design, but only the
    probabilities of drawn rows are known.
    """
    tail = (1 - level) / 2
    weight = 1 / sample.inclusion
    guard = Guard(weight.max(axis=-1), np.ones(weight.shape[:-1]))

    def distance(theta: Floats, side: int) -> Floats:
        change = side * (sample.t_change - theta[..., None] * sample.u_change)
        squared = np.zeros_like(theta)
        for index, amount in enumerate((np.maximum(change, 0), np.maximum(-change, 0))):
            square = amount**2 * weight
            y = (amount * weight).sum(axis=-1)
            seen = SampledSum(y, (square * (weight - 1)).sum(axis=-1), square.sum(axis=-1))
            if index == 0:
                squared += (y - np.maximum(lower_bound(seen, tail), amount.sum(axis=-1))) ** 2
                continue
            high = upper_bound(seen, guard, tail)
            high = high if wrong is None else np.minimum(high, np.maximum(wrong, y))  # each moves it by 1 at most
            squared += (high - y) ** 2
        return squared

    return inverted(*sample.totals, distance, tail if inference == "population" else None, effect=effect)
