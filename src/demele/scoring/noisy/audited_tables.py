"""Method ``audited`` for scores of tables: counts of audited and of all rows, whole and on halves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from demele.estimation.counts import BinnedRows, JointCounts, PackedRows, bin_rows, column_bins
from demele.estimation.discretise import ColumnBins, cut
from demele.estimation.information import InformationTable
from demele.metrics.data import TableSettings
from demele.scoring.noisy.case import Case, Work
from demele.scoring.noisy.halves import Parts, split_rows

#: Splits into halves.
SPLITS = 20

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class AuditedTables:
    """Informations of the three scores: of the whole first, then of both halves of each split."""

    audit_true: InformationTable
    audit_given: InformationTable
    all_given: InformationTable


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
    tables: AuditedTables = case.shared[key]
    true, given, everything = (
        np.asarray(work.request.read(table).value, dtype=np.float64)
        for table in (tables.audit_true, tables.audit_given, tables.all_given)
    )
    difference = true + (everything - given)
    return Parts(
        float(true[0]), float(given[0]), float(everything[0]), difference[1:].reshape(-1, 2), extrapolates=True
    )


def audited_tables(case: Case, settings: TableSettings, *, pairs: bool) -> AuditedTables:
    """Count audited and all rows, whole and on halves, in the same bins."""
    data = case.source.data
    of_codes, of_factors = column_bins(data.codes, data.factors, settings.binning)
    rows = _with_classes(case, bin_rows(data.codes, data.factors, of_codes, of_factors))
    audited = next(one.rows for one in case.noise.factors.values() if one.rows is not None)
    given = _taken(rows, audited)
    true = replace(given, factors=_true_values(case, given, of_factors))
    place = np.full(rows.n, -1, dtype=np.intp)
    place[audited] = np.arange(audited.size)
    halves = [split_rows(rows.n, audited, case.run.seed, index) for index in range(SPLITS)]
    of_audit = [place[first.audited] for first, _ in halves]
    of_all = [first.everything for first, _ in halves]
    span = data.codes.high - data.codes.low

    def informations(some: BinnedRows, firsts: Sequence[Rows]) -> InformationTable:
        counts = _with_halves(PackedRows(some, factor_pairs=pairs), firsts)
        return replace(case.source.information(counts, settings.correction), code_range=span)

    return AuditedTables(informations(true, of_audit), informations(given, of_audit), informations(rows, of_all))


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


def _true_values(case: Case, given: BinnedRows, of_factors: Sequence[ColumnBins | None]) -> Rows:
    """Return the bins of the factors of audited rows by true values; missing where the annotation is."""
    found = given.factors.copy()
    for i, (known, bins) in enumerate(zip(case.of_factors, of_factors, strict=True)):
        if known is None or known.values is None:
            continue
        true = known.values if bins is None else cut(np.asarray(known.values, dtype=np.float64), bins)
        found[i] = np.where(given.factors[i] < given.factor_bins[i], true, given.factors[i])
    return found


def _with_halves(rows: PackedRows, firsts: Sequence[Rows]) -> JointCounts:
    """Count all rows, then each first half and what it leaves, along a leading axis."""
    whole = rows.count()
    counted = [whole]
    for some in firsts:
        half = rows.count(np.bincount(some, minlength=rows.rows.n).astype(np.float64))
        counted += [half, _less(whole, half)]
    return JointCounts(
        tuple(np.stack(tables) for tables in zip(*(one.tables for one in counted), strict=True)),
        {pair: np.stack([one.factor_tables[pair] for one in counted]) for pair in whole.factor_tables},
        whole.code_bins,
    )


def _less(whole: JointCounts, part: JointCounts) -> JointCounts:
    return JointCounts(
        tuple(a - b for a, b in zip(whole.tables, part.tables, strict=True)),
        {pair: table - part.factor_tables[pair] for pair, table in whole.factor_tables.items()},
        whole.code_bins,
    )
