"""Comparison of measures of all classes on labels that are believed: the difference, linearised row by row.

A measure of the whole table is not a proportion, so there are no two score intervals to compare. The effects of rows on
the difference are summed as in a paired comparison. Rows with equal predictions still count, because they move both
values, but almost equally.
"""

from dataclasses import replace

import numpy as np

from demele.classifiers.comparison.grouped import degrees_of
from demele.classifiers.question import Outcomes, Question, as_value
from demele.classifiers.row_groups import Groups
from demele.classifiers.table_measures import Table, lowest_value, refuse_empty_classes, row_effects, table_value
from demele.core.arrays import Floats
from demele.core.labelled import shown
from demele.core.proportions import normal_quantile
from demele.core.results import Note

#: Classes with fewer labelled rows are named.
SMALL_CLASS = 20


def linearised(question: Question, *, assumptions: tuple[str, ...], argument: str) -> Outcomes:
    """Decide every pair by an interval of the difference of a measure of all classes.

    Notes
    -----
    Row i adds f_i to the difference (the derivative of each measure at its own table, by the cell of the row), and the
    f_i sum to 0. The distance is z sqrt(sum f_i^2) + max |f_i| / 2: the last term, half of the largest step, stands for
    that the difference cannot take every value. Few rows that differ make no normal sum, so the distance is at least
    what as many even steps do by the binomial distribution (see :func:`even_steps`). Of groups, f_i is the sum over a
    group, the variance has the factor G / (G - 1), and z is that of the t distribution.
    """
    data, measure = question.data, question.measure
    refuse_empty_classes(data, measure, argument)
    roles = question.baseline, question.candidate
    effects = {model: row_effects(data, measure, model) for model in np.unique(np.concatenate(roles)).tolist()}
    distance = np.array(
        [
            difference_reach(effects[second] - effects[first], question.clusters, question.tail)
            for first, second in zip(*(role.tolist() for role in roles), strict=True)
        ]
    )
    values, (own_low, own_high) = table_value(data, measure), model_ends(question)
    difference = values[question.candidate] - values[question.baseline]
    low, high = difference - distance, difference + distance
    return Outcomes(
        candidate=low > 0,
        baseline=high < 0,
        difference=difference,
        low=low,
        high=high,
        method="linearised difference" if question.clusters is None else "linearised difference of groups",
        baseline_interval=(own_low[question.baseline], own_high[question.baseline]),
        candidate_interval=(own_low[question.candidate], own_high[question.candidate]),
        assumptions=assumptions,
        notes=undefined_notes(question, values),
    )


def model_ends(question: Question) -> tuple[Floats, Floats]:
    """Interval of the measure of every compared model on the given labels, shape (n_models,) each end."""
    if not question.of_table:
        low, high = (as_value(end, question.measure) for end in question.score_ends)
        return low, high
    ends = np.full((len(question.data.predictions), 2), np.nan)
    for model in np.unique(np.concatenate([question.baseline, question.candidate])):
        ends[model] = own_ends(question, int(model))
    return ends[:, 0], ends[:, 1]


def difference_reach(effects: Floats, groups: Groups | None, tail: float) -> float:
    """How far a difference may be off, at an error of ``tail``, from what each row adds to it, shape (n,)."""
    spread, quantile = 1.0, normal_quantile(1 - tail)
    if groups is not None:
        from scipy.special import stdtrit

        met = int(np.count_nonzero(groups.sums(np.abs(effects))))
        effects, spread = groups.sums(effects), groups.spread()
        quantile = float(stdtrit(degrees_of(met, tail), 1 - tail))
    size = np.abs(effects)
    normal = quantile * float(np.sqrt(spread * (effects @ effects))) + float(size.max()) / 2
    return max(normal, even_steps(size, tail))


def even_steps(size: Floats, tail: float) -> float:
    """Return what chance makes of even steps of either sign at an error of ``tail``; exact for steps of one size.

    Parameters
    ----------
    size : array
        Sizes >= 0 of the terms of a sum.
    tail : float in (0, 0.5]

    Returns
    -------
    float
        c (2 b - k) with c = sum size^2 / sum size, k = sum size / c rounded up, and b the largest count of heads that
        is still not rare among k tosses. A sum must exceed it.

    Examples
    --------
    Five steps of one sign are met by chance once in 32 times, so they show nothing at 2.5%; six do:

    >>> even_steps(np.ones(5), 0.025), even_steps(np.ones(6), 0.025)
    (5.0, 4.0)
    """
    from scipy.stats import binom

    total = float(size.sum())
    if total <= 0:
        return 0.0
    clump = float(size @ size) / total
    steps = int(np.ceil(total / clump - 1e-9))
    return clump * (2 * float(binom.isf(tail, steps, 0.5)) - steps)


def own_ends(question: Question, model: int, level: float | None = None) -> tuple[float, float]:
    """Interval of a measure of all classes of one model on the given labels; NaN where it is not defined.

    Notes
    -----
    As the difference, by one model's own f_i, with one row more of each class that is predicted as any other class: a
    classifier that is always right on 20 rows of a class is not always right.
    """
    data, measure, tail = question.data, question.measure, (1 - (level or question.level)) / 2
    table = Table.of(data.predictions[[model]], data.labels, data.k)
    value = float(table.value(measure)[0])
    if not np.isfinite(value):
        return float("nan"), float("nan")
    slopes = table.slopes(measure).of(0)
    moved = slopes.true[:, None] + slopes.said[None, :]
    np.fill_diagonal(moved, 0.0)
    more = float((moved**2).sum()) / (data.k - 1)
    effects, spread, quantile = slopes.at(data.labels, data.predictions[model]), 1.0, normal_quantile(1 - tail)
    groups = question.clusters
    if groups is not None:
        from scipy.special import stdtrit

        effects, spread = groups.sums(effects), groups.spread()
        more *= float(groups.sizes @ groups.sizes) / data.n
        quantile = float(stdtrit(groups.count - 1, 1 - tail))
    distance = quantile * float(np.sqrt(spread * (effects @ effects) + more)) + float(np.abs(effects).max()) / 2
    return max(value - distance, lowest_value(measure)), min(value + distance, 1.0)


def table_notes(question: Question) -> tuple[Note, ...]:
    """Say what a measure of all classes needs to be read with: its scale, small classes, models no better than chance.

    The data are of the compared models alone.
    """
    data, measure = question.data, question.measure
    notes = []
    if measure == "matthews":
        message = (
            "where a Matthews correlation is written in percent, 100% is a correlation of 1 and 0% that of chance; a "
            "point is 0.01"
        )
        notes.append(Note(code="correlation-scale", message=message))
    small = np.flatnonzero(np.bincount(data.labels, minlength=data.k) < SMALL_CLASS)
    if small.size and measure != "matthews":
        names = tuple(str(data.vocabulary.classes[k]) for k in small)
        message = (
            f"{small.size} of {data.k} classes have fewer than {SMALL_CLASS} labelled rows, {shown(names)}: each "
            f"counts as much in the {measure} as any other class"
        )
        notes.append(Note(code="small-classes", message=message, subject=names))
    balanced = replace(question, measure="balanced-accuracy")
    weak = tuple(name for model, name in enumerate(data.names) if own_ends(balanced, model)[0] <= 1 / data.k)
    if weak:
        message = (
            f"a classifier that always predicts one class has a balanced accuracy of {1 / data.k:.2%}: {shown(weak)} "
            f"{'is' if len(weak) == 1 else 'are'} not shown to do better; if that surprises, check that predictions "
            "and labels have the same rows in the same order, and classes of the same meaning"
        )
        notes.append(Note(code="one-class", message=message, subject=weak, severity="warning"))
    return tuple(notes)


def undefined_notes(question: Question, values: Floats) -> tuple[Note, ...]:
    """Name the models that a measure is not defined for; ``values``: of every model."""
    compared = sorted({*question.baseline.tolist(), *question.candidate.tolist()})
    names = tuple(question.data.names[model] for model in compared if not np.isfinite(values[model]))
    if not names:
        return ()
    message = (
        f"the Matthews correlation of {', '.join(map(repr, names))} is not defined: one class is all that is "
        "predicted. Nothing can be shown of it"
    )
    return (Note(code="undefined", message=message, subject=names, severity="warning"),)
