"""All rows that do not fit into memory, as a source: what passes over them find, count and keep."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from demele.core.errors import InputError, NotEnoughData, UndefinedFactorWarning, in_backticks, plural
from demele.core.given_data import Codes, Factors
from demele.core.inputs import check_pair, given_kinds, read_pair
from demele.core.lazy import Later
from demele.core.results import Evaluation, LeftOut, Note, Score
from demele.estimation.counts import Adaptive, Binning, ColumnBins
from demele.metrics.guards import unprobed_notes
from demele.metrics.metric import SUMMED, Guards, Metric
from demele.metrics.options import Run
from demele.metrics.request import Request, applies
from demele.metrics.run import computed, evaluation
from demele.metrics.source import InMemory, Subject
from demele.outofcore.passes import (
    CHANGED,
    Instructions,
    Partitions,
    Passes,
    Seen,
    Spans,
    Tally,
    column_of,
)
from demele.outofcore.tables import table_of
from demele.runtime.work import Report, is_collection, reported_to, reporting
from demele.streaming.frame import BinEdges
from demele.streaming.sample import SampledRows, as_tables, of_sample, with_context
from demele.streaming.source import AllRows
from demele.streaming.states import Key, State, key_of


class WholeRows(AllRows):
    """All rows that do not fit into memory: what a first pass found; after :meth:`read`, counts and a sample of them.

    Parameters
    ----------
    passes : Passes
    seen : Seen
        What the first pass found.
    frame : BinEdges
    subject : Subject
    sample : int
        Rows that are kept at most.
    seed : int
    """

    name = "data read a piece at a time"

    def __init__(self, passes: Passes, seen: Seen, frame: BinEdges, subject: Subject, sample: int, seed: int) -> None:
        self.seen, self.frame, self.sample, self.seed = seen, frame, sample, seed
        self._passes, self._subject, self.active = passes, subject, subject.active
        self.held: dict[Key, State] = {}

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.seen.n

    @property
    def all_kept(self) -> bool:
        """Whether the sample holds every row."""
        return self.n <= self.sample

    @property
    def complete(self) -> bool:
        """Whether all rows are annotated for all factors."""
        return all(one.n_annotated == self.n for one in self.seen.factors)

    def read(self, keys: Sequence[Key], report: Report | None) -> SampledRows:
        """Count all rows and sum them up in these states, and return a sample of them.

        Where a rule looks at values, a pass for the sample alone goes before.
        """
        rules = [rule for state, rule in keys if state == "table" and rule is not None]
        kept = None
        looking = [rule for rule in rules if rule.needs_values]
        if looking:
            kept = _smallest(self._tally([], "sampling", report, sampling=True), self)
            self.frame = replace(self.frame, exact={rule: _edges(rule, self, kept) for rule in looking})
        for rule in rules:
            self.frame.bins(rule)  # refuses tables that no memory holds
        if keys or kept is None:
            tally = self._tally(keys, "counting", report, sampling=kept is None)
            self.held = dict(zip(keys, tally.states, strict=True))
            annotated = [one.n_annotated for one in self.seen.factors]
            if any(state.annotated.tolist() != annotated for state in self.held.values()):
                raise InputError(CHANGED)
            kept = _smallest(tally, self) if kept is None else kept
        return kept

    def _tally(self, keys: Sequence[Key], label: str, report: Report | None, *, sampling: bool) -> Tally:
        below: int | None = 0
        if sampling:
            # somewhat more rows than wanted have keys below the limit; the smallest are kept
            enough = self.sample + 8 * self.sample**0.5 + 32
            below = None if self.all_kept else min(int(enough / self.n * 2**64), 2**64 - 1)
        return self._passes.tally(Instructions(self.frame, tuple(keys), self.seed, below), report, label)

    def state_for(self, metric: Metric, options: Mapping[str, Any]) -> str | None:
        """Return the state of a metric that counts every row, or sums over more rows than the sample holds."""
        state = super().state_for(metric, options)
        return None if state in SUMMED and self.all_kept else state

    def subject(self, state: str, options: Mapping[str, Any] | None = None) -> Subject:
        """Return the columns as the first pass found them; say where edges are quantiles, and name their rows."""
        if state != "table" or options is None or not options["bins"].needs_values or self.all_kept:
            return self._subject
        message = f"the edges of the bins are quantiles of a random sample of {self.sample:,} of {self.n:,} rows"
        note = Note(code="edges-of-sample", message=message)
        return replace(self._subject, notes=(*self._subject.notes, note))

    def drawn(self) -> dict[str, str]:
        """Return what a signature says of the sample: replayed, the same rows are drawn."""
        return {"sample": str(self.sample), "sample_of": str(self.n), "sample_seed": str(self.seed)}


def whole_rows(given: Codes, known: Factors, *, seed: int, n_jobs: int, report: Report | None) -> WholeRows:
    """Make the first pass: find columns, kinds, levels and ranges, and refuse what is refused in memory."""
    if is_collection(given.values) or is_collection(known.values):
        passes: Passes = Partitions(given.values, known.values)
    else:
        passes = Spans(table_of(given.values, "codes"), table_of(known.values, "factors"), n_jobs)
    names, own = passes.names
    kinds = given_kinds(known.kinds, own)
    seen = passes.look(kinds, report)
    if seen.n == 0:
        raise NotEnoughData("codes", "expected at least 2 rows, got none")
    for name, n_bad, first, low, high in zip(names, seen.n_bad, seen.first_bad, seen.low, seen.high, strict=True):
        if n_bad:
            raise InputError(
                "codes",
                f"{plural(int(n_bad), 'non-finite value', 'non-finite values')} (NaN or infinite) in column "
                f"{name!r}, first at row {first}; drop or impute them",
            )
        _refuse_wide(low, high, f"codes: the range of column {name!r}")
    columns, doubts = [], []
    for name, factor in zip(own, seen.factors, strict=True):
        if factor.n_infinite:
            raise InputError(
                "factors",
                f"{plural(factor.n_infinite, 'infinite value', 'infinite values')} in column {name!r}, first at row "
                f"{factor.first_infinite}; drop or mark them missing",
            )
        _refuse_wide(factor.low, factor.high, f"factors: the range of column {name!r}")
        column, doubt = column_of(factor, name, kinds.get(name))
        columns.append(column)
        doubts += [] if doubt is None else [doubt]
    if known.missing == "raise":
        gaps = [(name, one) for name, one in zip(own, seen.factors, strict=True) if one.n_annotated < seen.n]
        if gaps:
            name, factor = gaps[0]
            others = "" if len(gaps) == 1 else f" (and in {plural(len(gaps) - 1, 'other column', 'other columns')})"
            raise InputError(
                "factors",
                f"{plural(seen.n - factor.n_annotated, 'missing annotation', 'missing annotations')} in column "
                f"{name!r}{others}, first at row {factor.first_missing}; drop those rows, or pass "
                "`missing='omit'` to score each factor on the rows annotated for it",
            )
    frame = BinEdges(tuple(names), seen.low, seen.high, tuple(columns), known.missing)
    codes, factors = frame.described(seen.n, [one.n_annotated for one in seen.factors])
    factors = replace(factors, ambiguous=tuple(doubts), declared=known.kinds is not None)
    check_pair(codes.n, codes.d, factors)
    return WholeRows(passes, seen, frame, Subject.of(codes, factors), int(given.sample), seed)


def _refuse_wide(low: float, high: float, what: str) -> None:
    with np.errstate(over="ignore"):
        if high > low and np.isinf(np.float64(high) - np.float64(low)):
            raise InputError(f"{what} exceeds the largest float; rescale it")


def _smallest(tally: Tally, rows: WholeRows) -> SampledRows:
    """Return the rows with the smallest keys, in the order of all rows."""
    sampled = tally.sampled[0]
    order = np.arange(len(sampled.keys))
    if len(order) > rows.sample:
        order = np.argpartition(sampled.keys, rows.sample - 1)[: rows.sample]
    return sampled.take(order[np.argsort(sampled.numbers[order])])


def _edges(
    rule: Binning, rows: WholeRows, kept: SampledRows
) -> tuple[tuple[ColumnBins, ...], tuple[ColumnBins | None, ...]]:
    """Return edges at quantiles of the sample, between the extremes of all rows."""
    frame, d = rows.frame, len(rows.frame.codes)
    edges: list[ColumnBins | None] = []
    ends = [
        *((float(low), float(high), rows.n) for low, high in zip(frame.low, frame.high, strict=True)),
        *((one.low, one.high, seen.n_annotated) for one, seen in zip(frame.columns, rows.seen.factors, strict=True)),
    ]
    for at, (column, (low, high, n)) in enumerate(zip(kept.columns, ends, strict=True)):
        if at >= d and frame.columns[at - d].kind == "categorical":
            edges.append(None)
            continue
        values = np.asarray(column, dtype=np.float64)
        values = values[~np.isnan(values)]
        if not rows.all_kept:
            values = np.concatenate([values, [low, high]])  # a sample need not hold the extremes
        own = rule.of_rows(n) if isinstance(rule, Adaptive) else rule
        edges.append(own.column_bins(values, low, high))
    return tuple(one for one in edges[:d] if one is not None), tuple(edges[d:])


# Evaluations of rows that do not fit into memory ----------------------------------------------------------------------
#
# One pass finds the kinds, levels and extremes, a second one counts all pairs of columns under fixed edges and keeps a
# sample. Whole numbers add up in any order, so that metrics of histograms have the bits that they have in memory,
# however the rows are cut and counted. Metrics that sum (moments, extremes, sums in cells) are of all rows too, equal
# to rounding, where the sample does not hold every row. The other metrics are computed on a random sample of bounded
# size: the rows with the smallest keys, hashed from their number among all rows.
#
# Quantiles as edges of bins come from the sample too. Sketches of quantiles that merge, as KLL and t-digest, are no
# more exact at this size (a quantile of 100 000 rows is off by 0.16% of the rows in standard error) and depend on the
# order of merging or on draws that cannot be seeded.

#: Notes on how few rows there are: of a sample they say nothing of all rows.
OF_ROWS = ("few-rows", "many-codes")


def evaluation_in_pieces(
    asked: Sequence[Request], codes: Codes, factors: Factors, run: Run, *, protocol: str, named: bool
) -> Evaluation:
    """Score rows that are read a piece at a time.

    Parameters
    ----------
    asked : sequence of Request
    codes, factors
        Of Dask collections, tables of :func:`demele.scan_parquet`, or arrays.
    run : Run
        Dask collections are worked on by the active scheduler, whatever its ``n_jobs``.
    protocol : str
    named : bool
        Whether a metric that does not apply is an error.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        Also for all that needs all rows at once.
    """
    for argument, value, why in (
        ("n_bootstrap", run.n_bootstrap or None, "resamples are drawn from all rows"),
        ("n_permutations", run.n_permutations or None, "all rows are permuted"),
        ("std", codes.std, "standard deviations are spread over all rows"),
        ("groups", codes.groups, "groups are of columns in memory"),
        ("reduce", codes.reduce, "groups are of columns in memory"),
        ("align", codes.align, "codes are rotated in memory"),
        ("noise", factors.noise, "scores are corrected from all rows"),
        ("blocks", factors.blocks, "blocks of all rows are permuted"),
    ):
        if value is not None:
            raise InputError(
                argument,
                f"{why}, which rows read a piece at a time do not allow; leave it out, or pass a sample of the rows as "
                "an array",
            )
    with reporting() as report:
        rows = whole_rows(codes, factors, seed=run.seed, n_jobs=run.n_jobs, report=report)
        subject = rows.subject("rows")
        left_out: list[LeftOut] = []
        for one in list(asked):
            try:
                applies(one, subject)
            except NotEnoughData as error:
                if named:
                    raise
                left_out.append(LeftOut(metric=one.name, reason=error.said(in_backticks)))
                asked = [other for other in asked if other is not one]
        if not asked:
            raise NotEnoughData("metrics", f"none applies; {left_out[0].metric}: {left_out[0].reason}")
        states = {one.name: rows.state_for(one.metric, one.options) for one in asked}
        counted = [one for one in asked if states[one.name] is not None]
        read = dict.fromkeys(key_of(state, one.options) for one in counted if (state := states[one.name]) is not None)
        kept = rows.read(list(read), report)
        whole = computed(counted, rows, run, named=named)
        asked = [one for one in asked if one.name not in whole.refused]
        left_out += whole.left_out
        scores = {score.metric: score for score in whole.scores(protocol, warn=False)}
        with reported_to(report):
            about, reason = _of_sample(rows, kept, asked, run, protocol)
    if about is None and named and len(counted) < len(asked):
        raise NotEnoughData(reason)
    drawn = {} if about is None else {score.metric: score for score in about}
    reasons = {} if about is None else {one.metric: one.reason for one in about.left_out}
    for one in asked:
        own = drawn.get(one.name)
        if one.name in scores:
            scores[one.name] = _examined(scores[one.name], own, rows, one.metric.guards)
        elif own is not None:
            scores[one.name] = of_sample(own, len(kept.keys), rows.n, f"sample={rows.sample}", rows.drawn())
        else:
            left_out.append(LeftOut(metric=one.name, reason=reasons.get(one.name, reason)))
    drawn_later = Later() if about is None else about.later
    pictured = None if about is None or about.rows is None else replace(about.rows, n=rows.n)
    return subject.evaluation(
        (scores[one.name] for one in asked if one.name in scores),
        protocol,
        name=codes.name,
        left_out=tuple(left_out),
        dependency=() if about is None else about.dependency,
        later=Later({"verdict": lambda: drawn_later["verdict"]}, rows=pictured),
    )


def _of_sample(
    rows: WholeRows,
    kept: SampledRows,
    asked: Sequence[Request],
    run: Run,
    protocol: str,
) -> tuple[Evaluation | None, str]:
    """Score the sample: with every metric, since it also shows what makes counted ones fragile."""
    names, kinds = (rows.frame.codes, rows.frame.factors), rows.frame.kinds
    codes, factors, _ = as_tables(kept.columns, names, rows.frame)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedFactorWarning)  # told of all rows already
            found = evaluation(
                asked,
                InMemory(Subject.of(*read_pair(codes, factors, kinds=kinds, missing=rows.frame.missing))),
                run,
                protocol=protocol,
                name="codes",
                named=True,
            )
    except NotEnoughData as error:
        return None, f"on a random sample of {len(kept.keys):,} rows: {error}"
    return found, ""


def _examined(score: Score, in_sample: Score | None, rows: WholeRows, guards: Guards) -> Score:
    """Add what makes a score fragile; how few rows there are is no matter of the sample."""
    if in_sample is None:
        d = len(score.code_names)
        found = unprobed_notes(guards, score.value, score.n, d, kept="counts", chance=False)
        return replace(score, notes=(*score.notes, *found))
    told_of_all = {(note.code, note.subject) for note in score.notes}
    found = tuple(note for note in in_sample.notes if (note.code, note.subject) not in told_of_all)
    heard = OF_ROWS if rows.all_kept else ()
    fragile = [
        note for note in found if note.code in heard or (note.severity == "fragile" and note.code not in OF_ROWS)
    ]
    told = "" if rows.all_kept else f" (seen in a random sample of {rows.sample:,} rows)"
    if any(note.code == "edges-of-sample" for note in score.notes):
        score = with_context(score, rows.drawn())
    return replace(score, notes=(*score.notes, *(replace(note, message=f"{note.message}{told}") for note in fragile)))
