"""Measures of one classifier, from the given labels of all rows and an expert's labels of a random sample."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from demele.classifiers.pooled_strata import TINY, Cells, PooledStrata, crossing, gathered
from demele.classifiers.question import Groups
from demele.core.arrays import Flags, Floats
from demele.core.errors import InputError
from demele.core.kinds import Count, CountOrNone, Level, checked, checked_whole
from demele.core.labelled import Indices, Labelled
from demele.core.proportions import exact_high, exact_low, score_interval
from demele.core.result import Interval, Note
from demele.noise.audit import CodedAudit
from demele.noise.transition import hypergeometric_limit

#: Accuracy on new instances, or on the instances of this test set with true labels.
AuditInference = Literal["population", "test_set"]
#: Ends of an interval, or a value with both ends.
Ends = tuple[Floats, ...]

#: Wider intervals of a recall are explained, for classes that a label or a prediction gives to at most so many rows.
WIDE, RARE = 0.2, 0.2

_METHODS = {False: "audit, pooled strata", True: "audit strata, exact bounds"}
#: Of the cells of a class, rows predicted and given so, only predicted, only given, neither: which are predicted.
PREDICTED = np.array([1.0, 1.0, 0.0, 0.0])


@checked
def audit_interval(
    hits: CountOrNone,
    n: Count,
    audited_hits: int,
    lost: int,
    audited_misses: int,
    won: int,
    *,
    level: Level = 0.95,
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
        Guarantee the level whatever the numbers, at the price of width. Otherwise the coverage is about the level, as
        simulated from 50 audited rows on.
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
    The two groups of rows are strata of 0/1 scores: see :class:`demele.classifiers.pooled_strata.PooledStrata`. The
    exact variant takes hypergeometric bounds of the two, and Clopper and Pearson's for new instances. The usual normal
    interval has width zero when the audit meets no error.

    Examples
    --------
    >>> print(audit_interval(900, 1000, 180, 4, 20, 3))
    [0.862, 0.924]
    >>> print(audit_interval(900, 1000, 180, 4, 20, 3, inference="test_set"))
    [0.869, 0.917]
    """
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
    population, tail = inference == "population", (1 - level) / 2
    audited, right = np.array([audited_misses, audited_hits]), np.array([won, audited_hits - lost])
    if exact:
        # Hypergeometric bounds of the misses and of the hits at a share of the error; then those for new instances.
        size, each = np.array([n - hits, hits]), tail / (3 if population else 2)
        least = int((size - hypergeometric_limit(size, audited, audited - right, each)).sum())
        most = int(hypergeometric_limit(size, audited, right, each).sum())
        low, high = np.array([least, most]) / n
        if population:
            low, high = exact_low(least, n, each), exact_high(most, n, each)
    else:
        size, seen = np.array([n - hits, hits], dtype=np.float64), np.stack([audited - right, right], axis=-1)
        cells = Cells(size, np.stack(3 * [seen.astype(np.float64)]), np.arange(2), n, int(audited.sum()))
        low, high = cells.fit(np.tile([0.0, 1.0], (2, 1)), population=population).ends(tail)
    if wrong is not None:
        few, many = np.array([max(hits - wrong, 0), min(hits + wrong, n)], dtype=np.float64)
        limits = score_interval(np.array([few, many]), float(n), level=level) if population else ([few / n], [many / n])
        low, high = np.maximum(low, limits[0][0]), np.minimum(high, limits[1][-1])
    kind = "sampling" if population else "design"
    return Interval(low=float(low), high=float(high), level=level, method=_METHODS[exact], kind=kind)


def audited_ends(
    data: Labelled,
    audit: CodedAudit,
    measure: str,
    level: float,
    *,
    inference: AuditInference = "population",
    model: int = 0,
    groups: Groups | None = None,
) -> Ends:
    """Estimate the correct accuracy of one model, or precision, recall or F1 of every class, from a random audit.

    Parameters
    ----------
    data : Labelled
        Given labels and predictions.
    audit : CodedAudit
        Of design ``"uniform"``, ``"stratified"`` or ``"weighted"``.
    measure : {"accuracy", "precision", "recall", "f1"}
    level : float in (0, 1)
    inference : {"population", "test_set"}
        On new instances, or on these rows with true labels.
    model : int
        Row of ``data.predictions``.
    groups : Groups, optional
        Which rows come together, where new instances are asked for.

    Returns
    -------
    value, low, high : arrays of shape () for accuracy, else (n_classes,)
        NaN for a class that is neither predicted nor, as far as is known, true.

    Notes
    -----
    Accuracy: the mean of [prediction = true label], in strata by [prediction = given label]. Of a class: rows in four
    cells, by whether they are predicted, and given, as it. A measure is a ratio T / U of sums over rows; theta is in
    its interval if that of the mean of t - theta u contains 0 (Fieller). The interval of a mean is that of
    :class:`demele.classifiers.pooled_strata.PooledStrata`; a cell without an audited row may be all of the class, or
    none. In a stratified audit each stratum has its own cells; where ``audit.unseen`` limits those of the last, an end
    also holds for the worst that it allows.
    """
    tail, population = (1 - level) / 2, inference == "population"
    groups = groups if population else None
    cells = (accuracy_cells if measure == "accuracy" else class_cells)(data, audit, model)

    def ends(cells: Cells) -> Ends:
        if measure != "accuracy":
            effects = []
            if groups is not None:  # each class at its estimate, with the design effect of rows in groups
                parts = ratio_parts(measure, np.tile(PREDICTED, cells.given.size // 4))
                for of, at in enumerate(np.nan_to_num(ratio_value(cells, measure))):
                    cell = 2 * (data.predictions[model] != of) + (data.labels != of)
                    truth = (audit.labels == of).astype(np.intp)
                    own = gathered(cell.astype(np.intp), truth, [1, 0, 1, 0], 2, audit)
                    adds = parts[0] - at * parts[1]
                    effects.append(own.grouped(own.fit(adds, population=True), adds, audit, groups))
            return ratio_ends(cells, measure, tail, population=population, effects=effects)
        right = np.broadcast_to(np.arange(2.0), (cells.given.size, 2))
        fit = cells.fit(right, population=population)
        if groups is not None:
            fit = cells.grouped(fit, right, audit, groups)
        return fit.value, *fit.ends(tail)

    value, low, high = ends(cells)
    if audit.unseen < 1:
        limit = audit.unseen_rows(data.labels, data.k)
        limit = limit.max() if measure == "accuracy" else limit[:, None]
        raises = np.ones(2) if measure == "accuracy" else PREDICTED
        worst, best = (
            ends(_settled(cells, limit, most))[1 + side] for side, most in enumerate((raises <= 0, raises > 0))
        )
        low, high = np.fmax(low, worst), np.fmin(high, best)
    return value, low, high


def accuracy_cells(data: Labelled, audit: CodedAudit, model: int = 0) -> Cells:
    """Count rows whose given label is not, and is, the prediction, and audited ones that are wrong and right."""
    predicted = data.predictions[model]
    right = (audit.labels == predicted[audit.rows]).astype(np.intp)
    return gathered((predicted == data.labels).astype(np.intp), right, [0, 1], 2, audit)


def class_cells(data: Labelled, audit: CodedAudit, model: int = 0) -> Cells:
    """Count rows predicted and given as each class, only predicted, only given, neither; O(n + n_classes)."""
    predicted, weight = data.predictions[model], 1 / audit.inclusion
    says, has = predicted[audit.rows], data.labels[audit.rows]
    sizes, seen = [], []
    for rows, drawn in audit.strata:
        truth = audit.labels[drawn].astype(np.intp)
        cell = np.where(says[drawn] == truth, 0, 2) + np.where(has[drawn] == truth, 0, 1)
        sizes.append(fourfold(data.labels[rows], predicted[rows], data.k))
        counted = []
        for powers in (np.ones_like(weight), weight, weight**2, weight**3):
            truly = np.bincount(4 * truth + cell, powers[drawn], 4 * data.k).reshape(-1, 4)
            every = fourfold(has[drawn], says[drawn], data.k, powers[drawn])
            counted.append(np.stack([np.maximum(every - truly, 0), truly], axis=-1))
        seen.append(np.stack(counted))
    size, given = np.concatenate(sizes, axis=-1), np.tile([1, 0, 1, 0], len(sizes))
    return Cells(size, np.concatenate(seen, axis=-2), given, data.n, audit.k, audit.design == "weighted")


def fourfold(labels: Indices, predictions: Indices, k: int, weight: Floats | None = None) -> Floats:
    """Rows of each class that are predicted and labelled so, only predicted, only labelled, neither; (k, 4)."""
    same = labels == predictions
    both = np.bincount(labels[same], None if weight is None else weight[same], k)
    says, has = np.bincount(predictions, weight, k), np.bincount(labels, weight, k)
    total = labels.size if weight is None else weight.sum()
    return np.stack([both, says - both, has - both, total - says - has + both], axis=-1).astype(np.float64)


def ratio_parts(measure: str, predicted: Floats) -> tuple[Floats, Floats]:
    """Return what a row of each cell adds to T and to U, (cells, 2), if it is not, and is, truly of the class."""
    hits, said = predicted[..., None] * np.arange(2.0), predicted[..., None] * np.ones(2)
    true = np.broadcast_to(np.arange(2.0), hits.shape)
    return {"precision": (hits, said), "recall": (hits, true), "f1": (2 * hits, said + true)}[measure]


def ratio_value(cells: Cells, measure: str) -> Floats:
    """Estimate T / U of each class; NaN where U is 0."""
    parts = ratio_parts(measure, np.tile(PREDICTED, cells.given.size // 4))
    above, below = (cells.fit(np.broadcast_to(part, (*cells.size.shape, 2)), population=False).value for part in parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > TINY, np.clip(above / below, 0, 1), np.nan)


def ratio_ends(
    cells: Cells, measure: str, tail: float, *, population: bool, effects: Sequence[PooledStrata] = ()
) -> Ends:
    """Return T / U of each class, and the least and the largest value that the audit does not reject.

    Light rows can mislead of all cells in the same way, so distances are added where weights differ. ``effects``: fits
    of each class whose design effect is taken.
    """
    parts = ratio_parts(measure, np.tile(PREDICTED, cells.given.size // 4))
    shape, value = cells.size.shape[:-1], ratio_value(cells, measure)

    def excess(side: int) -> Callable[[Floats], Floats]:
        """By how much T - theta U lies beyond what may be 0."""

        def found(theta: Floats) -> Floats:
            fit = cells.fit(parts[0] - theta[..., None, None] * parts[1], population=population)
            if effects:
                fit = replace(fit, effect=np.array([one.effect for one in effects]), groups=effects[0].groups)
            return np.asarray(side * fit.value - replace(fit, added=cells.uneven).distance(tail, below=side > 0))

        return found

    start = np.where(np.isnan(value), 0.5, value)
    low, high = (crossing(excess(side), start, np.full(shape, far)) for side, far in ((1, 0.0), (-1, 1.0)))
    # Nothing is known of a class that is nowhere predicted, given or found, and cannot be found any more.
    open_ = cells.size.reshape(*shape, -1, 4)[..., :3].sum(axis=(-1, -2)) + cells.seen[0, ..., 1].sum(axis=-1) > 0
    open_ &= (cells.seen[0].sum(axis=-1) < cells.size).any(axis=-1) & (measure != "precision")
    met = np.isfinite(value) | open_
    return value, np.where(met, low, np.nan), np.where(met, high, np.nan)


def _settled(cells: Cells, limit: Floats, most: Flags) -> Cells:
    """Return the cells with those of the last stratum known, where ``limit`` rows differ from their labels at most.

    ``most``: whether a row of a cell truly has the second outcome if that is possible, or only if it must.
    """
    own = cells.size.shape[-1] // 2
    size, (misses, hits) = cells.size[..., own:], np.moveaxis(cells.seen[0][..., own:, :], -1, 0)
    rows, given = np.maximum(size, 1), cells.given[own:]
    reach = np.minimum(limit / rows, 1)
    low, high = np.maximum(given - reach, hits / rows), np.minimum(given + reach, 1 - misses / rows)
    share = np.where(most, high, low)
    known = np.stack([size * (1 - share), size * share], axis=-1)
    seen = cells.seen.copy()
    seen[..., own:, :] = np.where(np.isfinite(limit)[..., None], known, seen[..., own:, :])
    return replace(cells, seen=seen)


def unseen_notes(
    data: Labelled, audit: CodedAudit, of: int, level: float, inference: AuditInference
) -> tuple[Note, ...]:
    """Say why the recall of a rare class is left open, and how its interval depends on rows that nobody calls so."""
    name, said = data.vocabulary.classes[of], (data.labels == of) | (data.predictions == of).any(axis=0)

    def recall(audit: CodedAudit) -> Interval:
        _, low, high = audited_ends(data, audit, "recall", level, inference=inference)
        return Interval(low=float(low[of]), high=float(high[of]), level=level, method=_METHODS[False])

    now = recall(audit)
    if audit.design == "weighted" or not now.high - now.low > WIDE or said.mean() > RARE:
        return ()
    if audit.within is None:
        called, seen = f"{said.sum():,} rows that a label or a prediction calls so", said[audit.rows].sum()
        message = f"the recall of {name!r} is between {now}: of {called}, {seen} were audited. "
        message += "Draw half of the rows among these (`draw_audit(within=)`)"
    else:
        rest, drawn = audit.strata[-1]
        if audit.unseen < 1 or said[rest].any() or (audit.labels[drawn] == of).any():
            return ()
        known = (replace(audit, unseen=most) for most in (0.005, 0.0))
        few, none = map(recall, known)
        message = (
            f"the recall of {name!r} is between {now}, for {rest.sum():,} rows that no label or prediction calls so "
            f"may hold some; {drawn.sum()} were audited, none is {name!r}. If at most 1 in 200 is, it is {few}; "
            f"if none is, {none}. Where that can be assumed, give `unseen_positives=`"
        )
    return (Note(code="rare-class", message=message, subject=(str(name),)),)
