"""Method ``audited``: the score of true values of audited rows, plus what all rows add to these; no noise model."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Rows
from demele.core.errors import quoted
from demele.core.inputs import Factors
from demele.core.results import CorrectedScore, Interval, Note
from demele.estimation.counts import BinnedRows, JointCounts, PackedRows, bin_rows, column_bins
from demele.estimation.discretise import cut
from demele.estimation.information import InformationTable
from demele.metrics.data import TableSettings
from demele.metrics.source import InMemory, Subject
from demele.scoring.noisy.case import (
    Case,
    Half,
    NoiseOfFactor,
    NotCorrected,
    Parts,
    Work,
    draws_of_halves,
    score_of_part,
    split_rows,
)
from demele.scoring.noisy.signed_tables import consistency
from demele.scoring.noisy.transition import NAME as TRANSITION
from demele.scoring.noisy.transition import shared_tables

#: Splits into halves.
SPLITS = 20


def of_tables(case: Case, work: Work) -> Parts:
    """Score true and given values of audited rows, and given ones of all rows, from counts."""
    settings = work.request.settings
    if settings is None:
        raise ValueError("no table")
    if settings.correction == "none":
        settings = replace(settings, correction="miller-madow")
    pairs = work.request.metric.pairs
    key = ("audited", settings, pairs)
    if key not in case.shared:
        case.shared[key] = audited_tables(case, settings, pairs=pairs)
    true, given, everything = (
        np.asarray(work.request.read(table).value, dtype=np.float64) for table in case.shared[key]
    )
    difference = true + (everything - given)
    return Parts(
        float(true[0]), float(given[0]), float(everything[0]), difference[1:].reshape(-1, 2), extrapolates=True
    )


def audited_tables(case: Case, settings: TableSettings, *, pairs: bool) -> tuple[InformationTable, ...]:
    """Count audited rows by true and by given values, and all rows, whole and on halves, in the same bins."""
    data = case.source.data
    of_codes, of_factors = column_bins(data.codes, data.factors, settings.binning)
    rows = _with_classes(case, bin_rows(data.codes, data.factors, of_codes, of_factors))
    audited = next(one.rows for one in case.noise.factors.values() if one.rows is not None)
    given = _taken(rows, audited)
    factors = given.factors.copy()
    for i, (known, bins) in enumerate(zip(case.of_factors, of_factors, strict=True)):
        if known is None or known.values is None:
            continue
        values = known.values if bins is None else cut(np.asarray(known.values, dtype=np.float64), bins)
        factors[i] = np.where(given.factors[i] < given.factor_bins[i], values, given.factors[i])
    true = replace(given, factors=factors)
    place = np.full(rows.n, -1, dtype=np.intp)
    place[audited] = np.arange(audited.size)
    halves = [split_rows(rows.n, audited, case.run.seed, index) for index in range(SPLITS)]
    of_audit = [place[first.audited] for first, _ in halves]
    of_all = [first.everything for first, _ in halves]
    span = data.codes.high - data.codes.low

    def informations(some: BinnedRows, firsts: Sequence[Rows]) -> InformationTable:
        counts = _with_halves(PackedRows(some, factor_pairs=pairs), firsts)
        return replace(case.source.information(counts, settings.correction), code_range=span)

    return informations(true, of_audit), informations(given, of_audit), informations(rows, of_all)


def _with_classes(case: Case, rows: BinnedRows) -> BinnedRows:
    """Return rows whose factors have all classes, also those that are true and never given; what is missing is last."""
    factors, sizes = rows.factors.copy(), rows.factor_bins.copy()
    for i, known in enumerate(case.of_factors):
        if known is None or len(known.classes) <= sizes[i]:
            continue
        factors[i] = np.where(factors[i] == sizes[i], len(known.classes), factors[i])
        sizes[i] = len(known.classes)
    return replace(rows, factors=factors, factor_bins=sizes)


def _taken(rows: BinnedRows, some: Rows) -> BinnedRows:
    return replace(rows, codes=rows.codes[:, some], factors=rows.factors[:, some])


def _with_halves(rows: PackedRows, firsts: Sequence[Rows]) -> JointCounts:
    """Count all rows, then each first half and what it leaves, along a leading axis."""
    whole = rows.count()
    counted = [whole]
    for some in firsts:
        half = rows.count(np.bincount(some, minlength=rows.rows.n).astype(np.float64))
        counted += [
            half,
            JointCounts(
                tuple(a - b for a, b in zip(whole.tables, half.tables, strict=True)),
                {pair: table - half.factor_tables[pair] for pair, table in whole.factor_tables.items()},
                whole.code_bins,
            ),
        ]
    return JointCounts.stacked(counted)


#: Splits into halves of scores that are fitted: each costs six more fits.
SPLITS_OF_FITS = 5


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
    halves = np.full((0 if work.asked.metric.slow > 1 else SPLITS_OF_FITS, 2), np.nan)
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
    return score_of_part(case, work, _source(case, rows, true=true))


def _source(case: Case, rows: Rows, *, true: bool) -> InMemory:
    """Return some rows as a source, with true values where these are known."""
    data = case.source.data
    known = {one.name: one for one in case.noise.factors.values()} if true else {}
    columns = []
    for column in data.factors.columns:
        taken = column.take(rows)
        if column.name in known:
            audit = known[column.name]
            if audit.rows is None or audit.values is None:
                raise ValueError("an audit without rows")
            order = np.argsort(audit.rows)
            values = audit.values[order[np.searchsorted(audit.rows[order], rows)]]
            there = taken.annotated()
            if taken.categorical:
                last = len(audit.classes) - 1.0
                full = replace(taken, values=np.where(there, values, -1), levels=audit.classes, low=0.0, high=last)
            else:
                full = replace(taken, values=np.where(there, values, np.nan))
            taken = full.take(np.arange(rows.size))
        if not column.categorical:  # bins of equal width stay those of all rows
            taken = replace(taken, low=column.low, high=column.high)
        columns.append(taken)
    active = tuple(index for index, column in enumerate(columns) if not column.constant)
    subject = Subject(data.codes.take(rows), Factors(tuple(columns), data.factors.missing), active, ())
    found = InMemory(subject)
    if data.codes_std is not None:
        found.data = replace(found.data, codes_std=data.codes_std[rows])
    return found


NAME = "audited"
#: Audited rows below which nothing is corrected, and below which nothing was measured.
FEWEST, MEASURED = 100, 300
#: Audited rows for each value that a factor takes.
ROWS_PER_VALUE = 5


#: What of the distance to the score as given is none of the annotations'.
BIAS_TOO = (
    "The bias of information from few rows is corrected as well (Miller-Madow), which it is not in the score as given."
)


def correct(case: Case, work: Work) -> CorrectedScore | NotCorrected:
    """Correct any score by true values of rows that were drawn at random."""
    refused = _refused(case)
    if refused is not None:
        return refused
    settings = work.request.settings
    counted = settings is not None and settings.resamples_by_weight
    parts = of_tables(case, work) if counted else of_rows(case, work)
    if isinstance(parts, NotCorrected):
        return parts
    if not np.isfinite(parts.value):
        return NotCorrected("the score is not defined on the audited rows; audit more of them")
    return CorrectedScore(
        value=parts.value,
        interval=_interval(case, parts),
        method=NAME,
        assumptions=(
            "The audited rows were drawn at random, and their true values are right.",
            *case.right_factors(),
            *((BIAS_TOO,) if counted and settings is not None and settings.correction == "none" else ()),
        ),
        audited_alone=parts.audit_true,
        notes=_notes(case, work, parts, counted=counted),
        signature=case.signature(NAME, splits=len(parts.halves), extrapolated=parts.extrapolates),
        draws=draws_of_halves(parts.value, parts.halves),
    )


def _interval(case: Case, parts: Parts) -> Interval | None:
    if not parts.halves.size:
        return None
    wide = parts.half_width(case.run.level)
    method = f"normal, {len(parts.halves)} splits into halves" + ("" if parts.extrapolates else ", approximate")
    return Interval(low=parts.value - wide, high=parts.value + wide, level=case.run.level, method=method)


def _refused(case: Case) -> NotCorrected | None:
    """Say why the audit does not do; None where it does."""
    noisy = list(case.noise.factors.values())
    without = [one for one in noisy if one.kind != "audit"]
    if without:
        return NotCorrected(
            f"factor {quoted(without[0].name)} has no audited rows, but method 'audited' needs some; draw rows at "
            "random with demele.labels.draw_audit, and get the true values of all noisy factors for these rows"
        )
    sets = {frozenset(_rows(one).tolist()) for one in noisy}
    if len(sets) > 1:
        return NotCorrected(
            "the audits are of different rows; method 'audited' needs the true values of all noisy factors"
        )
    k = len(next(iter(sets)))
    if k < FEWEST:
        return NotCorrected(f"{k} audited rows are too few; audit at least {FEWEST}, better {MEASURED} or more")
    for one in noisy:
        if one.values is None or not one.classes:
            continue
        values = np.unique(one.values).size
        if k < ROWS_PER_VALUE * values:
            return NotCorrected(
                f"{k} audited rows are too few for the {values} values of factor {quoted(one.name)}; audit at least "
                f"{ROWS_PER_VALUE} for each"
            )
    return None


def _rows(known: NoiseOfFactor) -> NDArray[np.intp]:
    if known.rows is None:
        raise ValueError("an audit without rows")
    return known.rows


def _notes(case: Case, work: Work, parts: Parts, *, counted: bool) -> tuple[Note, ...]:
    """Return what is to be known of a corrected score."""
    noisy = list(case.noise.factors.values())
    k = _rows(noisy[0]).size
    notes: list[Note] = []
    if k < MEASURED:
        few = f"{k} audited rows are few: how often such intervals hold the truth was measured from {MEASURED} rows on"
        notes.append(Note(code="few-audited", message=few, severity="warning"))
    unclear = max(one.unclear for one in noisy)
    if unclear:
        told = f"{unclear} of {k + unclear} drawn rows have unclear true values; they are assumed to be like others"
        notes.append(Note(code="audit-unclear", message=told, severity="warning"))
    if not counted and parts.halves.size:
        rough = "the interval is approximate: how often it holds the truth was measured for scores of counts only"
        notes.append(Note(code="approximate-interval", message=rough))
    settings = work.request.settings
    if settings is not None and settings.correction == "none" and TRANSITION in work.asked.metric.corrected_by:
        # errors that depend on the codes, where that can be seen: noisy annotations may then flatter a code
        tables = shared_tables(case, settings)
        agreed = None if isinstance(tables, NotCorrected) else consistency(work, tables)
        notes += [] if agreed is None or agreed.holds else [agreed.note()]
    return (*notes, *work.out_of_range(parts.value))
