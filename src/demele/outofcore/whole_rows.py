"""All rows that do not fit into memory, as passes over them see them: what is found, counted and kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, NotEnoughData
from demele.core.inputs import Kind, Missing, check_pair, given_kinds
from demele.core.sentences import setting
from demele.estimation.discretise import Adaptive, Binning, ColumnBins
from demele.metrics.source import Subject
from demele.outofcore.dask import Partitions
from demele.outofcore.first_pass import Seen, SeenFactor, doubt_of, kind_of, levels_of
from demele.outofcore.passes import Pieces, Reading, Sampled, Spans, Tally
from demele.outofcore.tables import table_of
from demele.runtime.dask import is_collection
from demele.runtime.progress import Report
from demele.streaming.columns import Column
from demele.streaming.frame import Frame


@dataclass(frozen=True, slots=True)
class WholeRows:
    """What the first pass found, and what further passes need of it."""

    pieces: Pieces
    seen: Seen
    frame: Frame
    kinds: Mapping[str, str]
    sample: int
    seed: int

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.seen.n

    @property
    def incomplete(self) -> tuple[bool, ...]:
        """Which factors have missing annotations."""
        return tuple(one.n_annotated < self.n for one in self.seen.factors)

    @property
    def ordered(self) -> tuple[bool, ...]:
        """Factors of a categorical type, whose classes have an order that their names do not tell."""
        return tuple(one.form == "ordered" for one in self.seen.factors)

    def reading(self, frame: Frame, rules: Sequence[Binning], *, sampling: bool) -> Reading:
        """Return what a further pass must know."""
        below: int | None = 0
        if sampling:
            # somewhat more rows than wanted have keys below the limit, the smallest of which are kept
            wanted = self.sample + 8 * self.sample**0.5 + 32
            below = None if self.n <= self.sample else min(int(wanted / self.n * 2**64), 2**64 - 1)
        return Reading(frame, self.incomplete, tuple(rules), self.seed, below, self.ordered)


def pieces_of(codes: object, factors: object, n_jobs: int) -> Pieces:
    """Return the rows in pieces: partitions of Dask collections, spans of everything else."""
    if is_collection(codes) or is_collection(factors):
        return Partitions(codes, factors)
    return Spans(table_of(codes, "codes"), table_of(factors, "factors"), n_jobs)


def first_pass(
    pieces: Pieces, kinds: object, missing: Missing, sample: int, seed: int, report: Report | None
) -> tuple[WholeRows, Subject]:
    """Find columns, kinds, levels and ranges, and refuse what is refused in memory."""
    names, own = pieces.names
    given = given_kinds(kinds, own)
    seen = pieces.look(given, report)
    if seen.n == 0:
        raise NotEnoughData("codes", "expected at least 2 rows, got none")
    for name, code in zip(names, seen.codes, strict=True):
        if code.n_bad:
            raise InputError(
                "codes",
                f"{code.n_bad} non-finite values (NaN or infinite) in column {name!r}, first at row "
                f"{code.first_bad}; drop or impute them",
            )
        _refuse_wide(code.low, code.high, f"codes: the range of column {name!r}")
    columns, doubts = [], []
    for name, factor in zip(own, seen.factors, strict=True):
        if factor.n_infinite:
            raise InputError(
                "factors",
                f"{factor.n_infinite} infinite values in column {name!r}, first at row "
                f"{factor.first_infinite}; drop or mark them missing",
            )
        kind = kind_of(factor, name, given.get(name))
        _refuse_wide(factor.low, factor.high, f"factors: the range of column {name!r}")
        columns.append(_column(name, kind, factor))
        doubts.append(None if name in given else doubt_of(factor, name, kind))
    if missing == "raise":
        gaps = [(name, one) for name, one in zip(own, seen.factors, strict=True) if one.n_annotated < seen.n]
        if gaps:
            name, factor = gaps[0]
            others = "" if len(gaps) == 1 else f" (and in {len(gaps) - 1} other columns)"
            raise InputError(
                "factors",
                f"{seen.n - factor.n_annotated} missing annotations in column {name!r}{others}, first at row "
                f"{factor.first_missing}; drop those rows, or pass {setting(missing='omit')} to score each factor on "
                "the rows annotated for it",
            )
    low, high = (np.array([getattr(code, end) for code in seen.codes]) for end in ("low", "high"))
    frame = Frame(tuple(names), low, high, tuple(columns), missing)
    codes, factors = frame.described(seen.n, [one.n_annotated for one in seen.factors])
    factors = replace(factors, ambiguous=tuple(doubt for doubt in doubts if doubt is not None))
    check_pair(codes, factors)
    found = {column.name: column.kind for column in columns}
    return WholeRows(pieces, seen, frame, found, sample, seed), Subject.of(codes, factors)


def _column(name: str, kind: Kind, seen: SeenFactor) -> Column:
    if kind == "continuous":
        return Column(name, kind, seen.low, seen.high)
    levels = levels_of(seen)
    return Column(name, kind, 0.0, len(levels) - 1.0, levels)


def _refuse_wide(low: float, high: float, what: str) -> None:
    with np.errstate(over="ignore"):
        if high > low and np.isinf(np.float64(high) - np.float64(low)):
            raise InputError(f"{what} exceeds the largest float; rescale it")


def further_passes(rows: WholeRows, rules: Sequence[Binning], report: Report | None) -> tuple[Frame, Tally, Sampled]:
    """Count under the rules that are asked for; where a rule looks at values, after a pass for the sample alone."""
    frame, kept = rows.frame, None
    looking = [rule for rule in rules if rule.needs_values]
    if looking:
        tally = rows.pieces.tally(rows.reading(frame, [], sampling=True), report, "sampling")
        kept = _smallest(tally, rows)
        frame = replace(frame, exact={rule: _edges(rule, rows, kept) for rule in looking})
    for rule in rules:
        frame.bins(rule)  # refuses tables that no memory holds
    if rules or kept is None:
        tally = rows.pieces.tally(rows.reading(frame, rules, sampling=kept is None), report, "counting")
    return frame, tally, _smallest(tally, rows) if kept is None else kept


def _smallest(tally: Tally, rows: WholeRows) -> Sampled:
    """Return the rows with the smallest keys, in the order of all rows."""
    sampled = tally.sampled[0]
    order = np.arange(len(sampled.keys))
    if len(order) > rows.sample:
        order = np.argpartition(sampled.keys, rows.sample - 1)[: rows.sample]
    order = order[np.argsort(sampled.numbers[order])]
    return Sampled(sampled.keys[order], sampled.numbers[order], tuple(column[order] for column in sampled.columns))


def _edges(
    rule: Binning, rows: WholeRows, kept: Sampled
) -> tuple[tuple[ColumnBins, ...], tuple[ColumnBins | None, ...]]:
    """Return edges at quantiles of the sample, between the extremes of all rows."""
    frame = rows.frame
    d = len(frame.codes)
    of_codes = tuple(
        _quantiles(rule, column, float(low), float(high), rows.n, rows)
        for column, low, high in zip(kept.columns[:d], frame.low, frame.high, strict=True)
    )
    of_factors = tuple(
        None if about.kind == "categorical" else _quantiles(rule, column, about.low, about.high, seen.n_annotated, rows)
        for column, about, seen in zip(kept.columns[d:], frame.columns, rows.seen.factors, strict=True)
    )
    return of_codes, of_factors


def _quantiles(rule: Binning, column: NDArray[Any], low: float, high: float, n: int, rows: WholeRows) -> ColumnBins:
    values = np.asarray(column, dtype=np.float64)
    values = values[~np.isnan(values)]
    if rows.n > rows.sample:
        values = np.concatenate([values, [low, high]])  # a sample need not hold the extremes
    if isinstance(rule, Adaptive):
        rule = rule.of_rows(n)
    return rule.column_bins(values, low, high)
