"""How errors of annotators lie: in few confusions, on hard items, on the items that others mistake too."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from demele.core.arrays import Floats
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.kinds import Level, Seed, checked
from demele.core.result import TableResult
from demele.core.seeds import rng_for
from demele.labels.joined.annotations import read_annotations
from demele.report.words import count, written

if TYPE_CHECKING:
    import pandas as pd

#: Resamples of the items for an interval.
_RESAMPLES = 400
_MEASURES = ("rate", "concentration", "difficulty", "similarity")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ErrorStructure(TableResult):
    """How errors of annotators lie, with intervals: the same numbers for people, models and made noise.

    Attributes
    ----------
    table : DataFrame
        Columns ``value``, ``low``, ``high``. Rows: ``rate``, the share of wrong answers; ``concentration``, how much
        likelier two wrong answers, on two items, are to be one confusion (true class, answer) than of uniform noise;
        ``difficulty``, the probability that a wrong answer is on a harder item than a right one, .5 for errors at
        random; ``similarity``, how much more often two annotators are both wrong about an item than if they erred
        independently.
    n_items, n_annotators, n_errors : int
    """

    _kind, _figure = "structure of errors", "value"
    _forms: ClassVar[Mapping[str, str]] = {"value": "number.3"}

    table: pd.DataFrame
    n_items: int
    n_annotators: int
    n_errors: int

    def headline(self) -> str:
        """Return the difficulty."""
        value, low, high = (float(self.table[column]["difficulty"]) for column in ("value", "low", "high"))
        share = f"{written(value, 'percent')} {written((low, high), 'percent')}"
        errors = f"{count(self.n_errors, 'error')} on {count(self.n_items, 'item')}"
        return f"A wrong answer is on a harder item than a right one with probability {share} ({errors})."

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table.rename_axis("measure").reset_index()


@checked
def error_structure(
    annotations: object,
    true_labels: Mapping[Any, object],
    *,
    difficulty: Mapping[Any, float] | None = None,
    no_answer: object = None,
    level: Level = 0.95,
    seed: Seed = 0,
) -> ErrorStructure:
    """Measure how errors of annotators lie: whether made noise is realistic is whether it has the same structure.

    Parameters
    ----------
    annotations : Annotations, data frame, mapping or array
        Answers, such as those of a crowd, predictions of models, or one column of labels.
    true_labels : mapping of item to class
        Other items are left out.
    difficulty : mapping of item to float, optional
        How hard each item is, such as the share of models that mistake it. By default the share of the other
        annotators who are wrong about it, so that no answer judges itself.
    no_answer : int, str or float, optional
    level : float, default 0.95
        Level of each interval by itself: percentiles over items drawn again.
    seed : int, default 0

    Returns
    -------
    ErrorStructure
        A measure is NaN where nothing speaks of it: similarity of one annotator, difficulty without errors.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Benjelloun (section 6.5.6) asks how realistic artificial noise is.

    Examples
    --------
    >>> answers = {"ann": [0, 1, 1, 0], "bob": [0, 0, 1, 0], "eve": [0, 0, 1, 1]}
    >>> found = error_structure(answers, {0: 0, 1: 1, 2: 1, 3: 0})
    >>> found.table["value"].round(3).tolist()
    [0.25, 0.0, 0.63, 1.333]
    """
    import pandas as pd

    table = read_annotations(annotations, no_answer=no_answer)
    for argument, given in (("true_labels", true_labels), ("difficulty", difficulty or {})):
        if not isinstance(given, Mapping):
            raise InputTypeError(argument, "expected a mapping by item", "pass dict(enumerate(values))")
    classes: dict[Any, int] = {label: place for place, label in enumerate(table.classes)}
    odd = [label for label in true_labels.values() if label not in classes]
    if odd:
        raise InputError("true_labels", f"expected classes that are answers, got {odd[0]!r}; pass labels.Annotations")
    truth = np.array([classes.get(true_labels.get(item), -1) for item in table.items])
    rows = np.flatnonzero(truth[table.item] >= 0)
    item, answer = table.item[rows], table.answer[rows]
    if not rows.size:
        raise NotEnoughData("true_labels", "expected true labels of some of the items")
    n, k = table.n_items, len(classes)
    wrong = answer != truth[item]
    answers = np.bincount(item, minlength=n)
    errors = np.bincount(item, weights=wrong, minlength=n)
    if difficulty is None:
        with np.errstate(invalid="ignore", divide="ignore"):
            hard = (errors[item] - wrong) / (answers[item] - 1)
    else:
        numbers = [difficulty.get(table.items[one], np.nan) for one in range(n)]
        lacking = sum(not isinstance(one, int | float | np.number) or one != one for one in numbers)
        if lacking:
            raise InputError("difficulty", f"expected a number for each of {n} items, {lacking} have none")
        hard = np.array(numbers, dtype=np.float64)[item]
    known = np.isfinite(hard)
    steps, place = np.unique(hard[known], return_inverse=True)

    def by_item(columns: Any, which: Any, width: int) -> Floats:
        """Return counts of answers by item and column."""
        flat = np.bincount(item[which] * width + columns, minlength=n * width)
        return np.asarray(flat.reshape(n, width), dtype=np.float64)

    sums = [
        by_item(truth[item][wrong] * k + answer[wrong], wrong, k * k),
        by_item(truth[item], slice(None), k),
        by_item(place[wrong[known]], known & wrong, max(len(steps), 1)),
        by_item(place[~wrong[known]], known & ~wrong, max(len(steps), 1)),
        np.stack([errors * (errors - 1), answers * (answers - 1), errors, answers], axis=1).astype(np.float64),
    ]
    ends = np.cumsum([one.shape[1] for one in sums])[:-1]
    every, used = np.concatenate(sums, axis=1), np.flatnonzero(answers)
    squares = np.stack([np.square(sums[0]).sum(axis=1), errors**2], axis=1)

    def measured(weights: Floats) -> Floats:
        cells, of_class, hard_wrong, hard_right, pairs = np.split(weights @ every[used], ends, axis=1)
        both, all_pairs, n_wrong, n_answers = pairs.T
        rate = n_wrong / n_answers
        with np.errstate(invalid="ignore", divide="ignore"):
            # pairs of errors on different items: those of one item say what its annotators have in common
            alone = np.square(weights) @ squares[used]
            same = (np.square(cells).sum(axis=1) - alone[:, 0]) / (n_wrong**2 - alone[:, 1])
            uniform = np.square(of_class / n_answers[:, None]).sum(axis=1) / (k - 1)
            below = np.cumsum(hard_right, axis=1) - hard_right / 2
            harder = (hard_wrong * below).sum(axis=1) / (hard_wrong.sum(axis=1) * hard_right.sum(axis=1))
            return np.stack([rate, same / uniform, harder, both / all_pairs / rate**2], axis=1)

    drawn = rng_for(seed, "error structure").multinomial(used.size, np.full(used.size, 1 / used.size), _RESAMPLES)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        low, high = np.nanquantile(measured(drawn.astype(np.float64)), [(1 - level) / 2, (1 + level) / 2], axis=0)
    value = measured(np.ones((1, used.size)))[0]
    frame = pd.DataFrame({"value": value, "low": low, "high": high}, list(_MEASURES))
    frame[frame["value"].isna()] = np.nan
    return ErrorStructure(
        table=frame,
        n_items=used.size,
        n_annotators=len(np.unique(table.annotator[rows])),
        n_errors=int(wrong.sum()),
    )
