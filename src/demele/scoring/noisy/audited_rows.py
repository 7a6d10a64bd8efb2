"""Method ``audited`` for scores that are no function of counts: each is computed again, on audited and on all rows."""

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import DemeleWarning
from demele.core.inputs import Factor, Factors
from demele.metrics.run import bare_values
from demele.metrics.source import InMemory, Subject
from demele.scoring.noisy.case import Case, NotCorrected, Work
from demele.scoring.noisy.halves import Half, Parts, split_rows
from demele.scoring.noisy.knowledge import NoiseOfFactor

#: Splits into halves: each costs six more fits.
SPLITS = 5

Rows = NDArray[np.intp]


def of_rows(case: Case, work: Work) -> Parts | NotCorrected:
    """Score true and given values of audited rows, and given ones of all rows; halves where that is not slow."""
    n = case.source.data.n
    audited = next(one.rows for one in case.noise.factors.values() if one.rows is not None)
    everything = np.arange(n, dtype=np.intp)
    whole = [
        _score(case, work, audited, true=True),
        _score(case, work, audited, true=False),
        work.score.value if case.run.n_repeats == 1 else _score(case, work, everything, true=False),
    ]
    failed = [one for one in whole if isinstance(one, str)]
    if failed:
        return NotCorrected(f"on the audited rows alone: {failed[0]}; audit more rows")
    true, given, all_given = (float(one) for one in whole)
    halves = np.full((0 if work.asked.metric.slow > 1 else SPLITS, 2), np.nan)
    for index in range(len(halves)):
        for side, half in enumerate(split_rows(n, audited, case.run.seed, index)):
            halves[index, side] = _difference(case, work, half)
    if np.isnan(halves).any(axis=1).all():
        halves = halves[:0]
    return Parts(true, given, all_given, halves[~np.isnan(halves).any(axis=1)], extrapolates=False)


def _difference(case: Case, work: Work, half: Half) -> float:
    """Return the difference on one half of the rows; NaN where one of the three scores is not defined."""
    values = [
        _score(case, work, half.audited, true=True),
        _score(case, work, half.audited, true=False),
        _score(case, work, half.everything, true=False),
    ]
    true, given, everything = (float("nan") if isinstance(one, str) else one for one in values)
    return true + (everything - given)


def _score(case: Case, work: Work, rows: Rows, *, true: bool) -> float | str:
    """Return a score of some rows, by true values or as given; or why there is none."""
    known = {one.name: one for one in case.noise.factors.values()} if true else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DemeleWarning)  # the whole score was warned of already
        values, reasons = bare_values([work.asked], _source(case, rows, known), case.run.seed)
    name = work.asked.name
    return values[name] if name in values else reasons[name]


def _source(case: Case, rows: Rows, known: Mapping[str, NoiseOfFactor]) -> InMemory:
    """Return some rows as a source, with true values where these are known."""
    data = case.source.data
    columns = []
    for column in data.factors.columns:
        taken = column.take(rows)
        if column.name in known:
            taken = _true_column(taken, known[column.name], rows)
        if not column.categorical:  # bins of equal width stay those of all rows
            taken = replace(taken, low=column.low, high=column.high)
        columns.append(taken)
    active = tuple(index for index, column in enumerate(columns) if not column.constant)
    subject = Subject(data.codes.take(rows), Factors(tuple(columns), data.factors.missing), active, ())
    found = InMemory(subject)
    if data.codes_std is not None:
        found.data = replace(found.data, codes_std=data.codes_std[rows])
    return found


def _true_column(given: Factor, known: NoiseOfFactor, rows: Rows) -> Factor:
    """Return a factor of some audited rows with true values; missing where the annotation is."""
    if known.rows is None or known.values is None:
        raise ValueError("an audit without rows")
    order = np.argsort(known.rows)
    values = known.values[order[np.searchsorted(known.rows[order], rows)]]
    there = given.annotated()
    if given.categorical:
        classes = np.where(there, values, -1)
        full = Factor(given.name, given.kind, classes, known.classes, 0.0, len(known.classes) - 1.0, given.n_annotated)
    else:
        full = replace(given, values=np.where(there, values, np.nan))
    return full.take(np.arange(rows.size))
