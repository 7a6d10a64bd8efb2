"""Classifiers that are not shown to do better than always predicting the largest class of the labels."""

from collections.abc import Sequence

import numpy as np

from demele.classifiers.row_groups import Groups, effective_share, ends_at
from demele.classifiers.table_measures import Table
from demele.core.arrays import Counts, Flags, Floats
from demele.core.labelled import Labelled, shown
from demele.core.proportions import normal_quantile
from demele.core.results import Note
from demele.core.written_numbers import notation_doubt


def always_predicting(support: Counts, classes: Sequence[object]) -> tuple[object, float, str]:
    """Return the largest class, the share of the labels that it is, and how a note about it begins."""
    share = float(support.max() / support.sum())
    name = classes[int(support.argmax())]
    return name, share, f"always predicting {name!r} would agree with {share:.2%} of the given labels"


def tells_nothing(table: Table, rows: Floats | float, level: float) -> Flags:
    """Whether predictions are not shown to tell anything of the labels: their correlation may be that of chance."""
    return ~(table.value("matthews") > normal_quantile((1 + level) / 2) / np.sqrt(rows))


def largest_class_notes(data: Labelled, *, level: float, groups: Groups | None = None) -> tuple[Note, ...]:
    """Warn of the classifiers whose interval of the accuracy on the given labels does not lie above that share.

    Often rows or classes of predictions and labels do not belong together: all verdicts are then worth nothing.
    """
    support = np.bincount(data.labels, minlength=len(data.vocabulary))
    if np.count_nonzero(support) < 2:  # nothing does better than a constant then, whatever it predicts
        return ()
    _, share, message = always_predicting(support, data.vocabulary.classes)
    right, every = data.right, np.ones(data.n)
    hits = np.count_nonzero(right, axis=1).astype(np.float64)
    counted = [1.0 if groups is None else effective_share(row, every, groups, level=level) for row in right]
    low, _ = ends_at(hits, np.full(hits.size, float(data.n)), np.array(counted), level=level)
    unsure = np.flatnonzero(low <= share)
    if unsure.size:
        table = Table.of(data.predictions[unsure], data.labels, data.k)
        unsure = unsure[tells_nothing(table, data.n * np.array(counted)[unsure], level)]
    if not unsure.size:
        return ()
    weak = tuple(data.names[model] for model in unsure)
    text = (
        f"{message}: {shown(weak)} {'is' if len(weak) == 1 else 'are'} not shown to do better; if that surprises, "
        "check that predictions and labels have the same rows in the same order, and classes of the same meaning"
    )
    return (Note(code="largest-class", message=text, subject=weak, severity="warning"),)


def class_notes(data: Labelled) -> tuple[Note, ...]:
    """Say how truth values and odd numbers were read as classes, and which classes predictions alone hold."""
    truths = None
    if data.truths:
        truths = f"True and False of {shown(data.truths)} were read as 1 and 0, which the others hold"
    doubt = notation_doubt(data.vocabulary.classes, "classes")
    read = tuple(
        Note(code=code, message=message, severity="warning")
        for code, message in (("truths-as-numbers", truths), ("number-notation", doubt))
        if message is not None
    )
    places = [data.vocabulary.index(item) for item in data.unlabelled]
    found = np.argwhere(np.isin(data.predictions, places))
    if not found.size:  # or by other models
        return read
    what = "a class" if len(places) == 1 else f"{len(places)} classes"
    text = (
        f"{len(found)} predictions use {what} that no label has, {shown(data.unlabelled)} (first: row "
        f"{found[:, 1].min()}); they count as wrong"
    )
    return *read, Note(code="class-not-labelled", message=text, severity="warning")


def unpredicted_notes(data: Labelled) -> tuple[Note, ...]:
    """Say which classes the labels hold that no classifier predicts: a misspelt class, or another set of labels."""
    labelled = np.bincount(data.labels, minlength=len(data.vocabulary))
    met = np.bincount(data.labels[data.right.any(axis=0)], minlength=labelled.size)
    places = [place for place in np.flatnonzero((labelled > 0) & (met == 0)) if not (data.predictions == place).any()]
    if not places:
        return ()
    named = shown([data.vocabulary.classes[place] for place in places])
    rows = int(labelled[places].sum())
    what = "class" if len(places) == 1 else "classes"
    text = (
        f"labels hold {len(places)} {what} that no classifier predicts, {named}: {rows} of "
        f"{data.n} rows, which count as errors of all of them"
    )
    return (Note(code="class-not-predicted", message=text, severity="warning"),)
