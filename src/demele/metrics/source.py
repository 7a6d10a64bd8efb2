"""Where rows come from, and the one place where counts become information: a Source answers, the engine asks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.core.columns import CHUNK, read_blocks
from demele.core.errors import (
    AmbiguousKindWarning,
    InputError,
    NotEnoughData,
    UndefinedFactorWarning,
    warn_user,
)
from demele.core.inputs import Codes, Factor, Factors, read_codes
from demele.core.results import Evaluation, FactorSummary, Note, Score
from demele.core.seeds import rng_for
from demele.core.version import __version__
from demele.estimation.counts import (
    JointCounts,
    PackedRows,
    bin_rows,
    check_size,
    column_bins,
    joint_counts,
    soft_joint_counts,
)
from demele.estimation.discretise import Binning
from demele.estimation.independence import Finding, dependence
from demele.estimation.information import Correction, InformationTable, information_table
from demele.metrics.data import Data, TableSettings
from demele.metrics.metric import Metric

#: Entries of a block of resampled tables held in memory at a time (float64).
BLOCK_ENTRIES = 500_000

#: Sums of products are rounded by less than this share of what they could be at most.
ROUNDED = 1e-13

Draw = Literal["resamples", "halves", "permutations", "clipped"]


@dataclass(frozen=True, slots=True)
class Subject:
    """The representation as results speak of it: all columns, which of them vary, and what must be said of them."""

    codes: Codes
    factors: Factors
    active: tuple[int, ...]
    notes: tuple[Note, ...]
    arguments: Mapping[str, object] = field(default_factory=dict)  # what signatures say of the columns

    @classmethod
    def of(cls, codes: Codes, factors: Factors, of_codes: Sequence[Note] | None = None) -> "Subject":
        """Find what varies; warn of what does not. ``of_codes`` is said of codes that do not vary, if not the usual."""
        active = tuple(index for index, factor in enumerate(factors.columns) if not factor.constant)
        notes = []
        for factor in factors.columns:
            if factor.constant:
                message = f"factor {factor.name!r} is constant and was left out"
                warn_user(message, UndefinedFactorWarning)
                notes.append(Note(code="constant-factor", message=message, subject=(factor.name,), severity="warning"))
            if not factor.complete:
                notes.append(incomplete_note(factor, codes.n))
        if of_codes is not None:
            notes += of_codes
        elif codes.constant.any():
            notes.append(constant_codes_note(codes))
        for message in factors.ambiguous:
            warn_user(message, AmbiguousKindWarning)
            notes.append(Note(code="ambiguous-kind", message=message, severity="warning"))
        return cls(codes, factors, active, tuple(notes))

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.codes.n

    @property
    def m(self) -> int:
        """Number of factors, constant ones included."""
        return self.factors.m

    @property
    def varying(self) -> Factors:
        """The factors that vary."""
        columns = tuple(self.factors.columns[index] for index in self.active)
        return Factors(columns, self.factors.missing, self.factors.ambiguous)

    def spread_factors(self, values: Floats) -> Floats:
        """Put values of the active factors into the order of all factors, NaN elsewhere (last axis)."""
        if len(self.active) == self.m:
            return values
        full = np.full((*values.shape[:-1], self.m), np.nan)
        full[..., list(self.active)] = values
        return full

    def summaries(self) -> tuple[FactorSummary, ...]:
        """Say of each factor what an evaluation does."""
        return tuple(
            FactorSummary(
                name=factor.name,
                kind=factor.kind,
                n_levels=len(factor.levels) if factor.categorical else None,
                n_annotated=factor.n_annotated,
                constant=index not in self.active,
            )
            for index, factor in enumerate(self.factors.columns)
        )

    def evaluation(self, scores: Iterable[Score], protocol: str, *, name: str = "codes", **more: Any) -> Evaluation:
        """Return the evaluation that these scores make, with what is to be said of the columns."""
        about = {"n": self.n, "code_names": self.codes.names, "factors": self.summaries(), "notes": self.notes}
        made: dict[str, Any] = {"protocol": protocol, "name": name, "version": __version__, **about, **more}
        return Evaluation(scores=tuple(scores), **made)


def incomplete_note(factor: Factor, n: int) -> Note:
    """Say on how many of the rows a factor is annotated."""
    message = f"factor {factor.name!r} is annotated on {factor.n_annotated} of {n} rows"
    return Note(code="missing-annotations", message=message, subject=(factor.name,))


def constant_codes_note(codes: Codes) -> Note:
    """Say which codes do not vary."""
    constant = tuple(name for name, dead in zip(codes.names, codes.constant, strict=True) if dead)
    listed = ", ".join(repr(item) for item in constant[:5]) + (", ..." if len(constant) > 5 else "")
    message = f"constant codes ({listed}) carry no information and no importance"
    return Note(code="constant-code", message=message, subject=constant)


class Source:
    """What the engine asks; a source answers what it has, and says of the rest that it has it not.

    Attributes
    ----------
    states : frozenset of str
        What it has: ``"table"``, ``"rows"``, ``"arrays"``, and those of ``demele.metrics.metric.SUMMED``.
    name : str
        What messages call it.
    probed : bool
        Whether what guards look at is looked at: here, where there are rows, or by who computes on a sample of them.
    in_groups : bool
        Whether codes are groups of columns, so that columns of ``rows()`` are not the codes of results.
    """

    states: frozenset[str] = frozenset()
    name = "this source"
    probed = True
    in_groups = False

    @property
    def complete(self) -> bool:
        """Whether it is known that all rows are annotated for all factors."""
        return False

    def state_for(self, metric: Metric, options: Mapping[str, Any]) -> str | None:
        """Return the preferred state that a metric can be read off here under its options; None if there is none."""
        known = (state for state in metric.states if state in self.states)
        return next((state for state in known if metric.reads(state, self, options)), None)

    def no_state_for(self, metric: Metric, options: Mapping[str, Any]) -> NotEnoughData:
        """Return why a metric cannot be computed from here."""
        return NotEnoughData(f"{metric.name} needs {' or '.join(metric.states)}, which {self.name} does not have")

    def subject(self, state: str, options: Mapping[str, Any] | None = None) -> Subject:
        """Return the columns, what varies in them under a metric's options, and what must be said of them."""
        raise self._lacks("columns")

    def information(self, counts: JointCounts, correction: Correction) -> InformationTable:
        """Turn joint counts into information: the only place for this, for values, draws and guards."""
        return information_table(counts, correction)

    def table(self, settings: TableSettings, *, pairs: bool = False) -> InformationTable:
        """Return the informations of all codes and varying factors; with ``pairs``, of pairs of factors too."""
        raise self._lacks("tables of information")

    def table_of_columns(self, settings: TableSettings) -> InformationTable:
        """Return the table whose codes are the columns of ``rows()``, where codes are groups of them."""
        return self.table(settings)

    def counts_behind(self, settings: TableSettings) -> JointCounts | None:
        """Return the counts behind a table of information; None where it is not counted, or already corrected."""
        return None

    def tables(
        self, settings: TableSettings, draw: Draw, n_draws: int, seed: int, *, pairs: bool = False
    ) -> Iterator[InformationTable]:
        """Yield tables of resamples, halves or permutations of the rows, one or some at a time; or outliers clipped."""
        raise self._lacks("rows to draw from")

    def transformed(self, matrix: Floats, names: Sequence[str]) -> "Source":
        """Return the same rows with the codes multiplied by a matrix, such as a rotation."""
        raise self._lacks("rows in memory to transform")

    def rows(self) -> Data:
        """Return rows: all, or a sample."""
        raise self._lacks("rows")

    def sums(self, state: str, options: Mapping[str, Any]) -> Any:
        """Return the moments, the extremes or the sums in cells of all rows."""
        raise self._lacks(state)

    def finding(self, options: Mapping[str, Any] | None = None) -> Finding | None:
        """Say whether the codes tell anything of the factors; None, if that cannot be known."""
        return None

    def factor_kinds(self) -> tuple[str, ...]:
        """Return the kind of each factor."""
        return tuple(factor.kind for factor in self.subject("rows").factors.columns)

    def knows_bins(self, rule: Binning) -> bool:
        """Whether bins of this rule can be cut without looking at rows again."""
        return not rule.needs_values

    @property
    def context(self) -> Mapping[str, str]:
        """What a signature says of the source."""
        return {}

    def _lacks(self, what: str) -> NotEnoughData:
        return NotEnoughData(f"{self.name} has no {what}")


class InMemory(Source):
    """Rows in memory, read at the door.

    Parameters
    ----------
    subject : Subject
    codes_std : object, optional
        Standard deviations of stochastic codes, of the shape of the codes.
    """

    states = frozenset({"table", "rows", "arrays"})
    name = "data in memory"

    def __init__(self, subject: Subject, codes_std: object = None) -> None:
        self._subject = subject
        std = None if codes_std is None else checked_std(codes_std, subject.codes, "std")
        self.data = Data(subject.codes, subject.varying, std)
        self._memo: dict[object, Any] = {}  # of this source's rows alone; its arrays are never written to

    def subject(self, state: str, options: Mapping[str, Any] | None = None) -> Subject:
        """Return the columns: what varies does not depend on the options."""
        return self._subject

    def in_blocks(self, blocks: object) -> Self:
        """Return the same rows as ones that depend on each other within blocks, which chance permutes whole.

        Raises
        ------
        InputError, NotEnoughData
        """
        found = copy(self)
        found.data = replace(self.data, blocks=read_blocks(blocks, self.data.n))
        return found

    @property
    def context(self) -> Mapping[str, str]:
        """What a signature says of the source: how many blocks of rows there are."""
        return {} if self.data.blocks is None else {"blocks": str(self.data.blocks.count)}

    def transformed(self, matrix: Floats, names: Sequence[str]) -> "InMemory":
        """Return the same rows with the codes multiplied by a matrix (n_codes, n_new_codes), such as a rotation.

        New codes that vary by no more than products are rounded are 0: bins would find the factors in what is left.

        Raises
        ------
        InputError
            If standard deviations of the codes are there, which have no meaning for mixed codes.
        """
        if self.data.codes_std is not None:
            raise InputError("std", "standard deviations of single codes say nothing of mixed ones; leave them out")
        codes = self._subject.codes
        values = codes.dense() @ matrix
        rounding = ROUNDED * (np.maximum(np.abs(codes.low), np.abs(codes.high)) @ np.abs(matrix))
        values[:, np.ptp(values, axis=0) <= rounding] = 0.0
        codes = Codes(values, tuple(names), values.min(axis=0), values.max(axis=0))
        kept = tuple(note for note in self._subject.notes if note.code != "constant-code")
        return type(self)(replace(self._subject, codes=codes, notes=kept))

    def table(self, settings: TableSettings, *, pairs: bool = False) -> InformationTable:
        """Return the information table of all rows."""
        return self._table(self.data, settings, pairs)

    def _packed(self, rule: Binning, *, pairs: bool) -> PackedRows:
        """Return the rows in bins, packed to be counted more than once."""
        if ("packed", rule, pairs) not in self._memo:
            if ("rows", rule) not in self._memo:
                codes, factors = self.data.codes, self.data.factors
                bins = column_bins(codes, factors, rule)
                check_size(codes, factors, *bins)
                self._memo["rows", rule] = bin_rows(codes, factors, *bins)
            self._memo["packed", rule, pairs] = PackedRows(self._memo["rows", rule], factor_pairs=pairs)
        found: PackedRows = self._memo["packed", rule, pairs]
        return found

    def _counts(self, rule: Binning, *, pairs: bool = False) -> JointCounts:
        """Return the counts of all rows; many rows are put into bins a part at a time."""
        if ("counts", rule, pairs) not in self._memo:
            codes, factors = self.data.codes, self.data.factors
            self._memo["counts", rule, pairs] = (
                self._packed(rule, pairs=pairs).count()
                if codes.n <= CHUNK
                else joint_counts(codes, factors, *column_bins(codes, factors, rule), factor_pairs=pairs)
            )
        found: JointCounts = self._memo["counts", rule, pairs]
        return found

    def counts_behind(self, settings: TableSettings) -> JointCounts | None:
        """Return the counts of all rows, of codes against factors."""
        if settings.estimator != "histogram" or settings.soft or settings.correction != "none":
            return None
        return self._counts(settings.binning)

    def _table(self, data: Data, settings: TableSettings, pairs: bool) -> InformationTable:
        span = data.codes.high - data.codes.low
        if settings.estimator != "histogram":
            from demele.metrics import tables

            estimate = tables.nearest_neighbours if settings.estimator == "knn" else tables.robust
            return replace(estimate(data, settings, pairs=pairs), code_range=span)
        if data is self.data and not settings.soft:
            counts = self._counts(settings.binning, pairs=pairs)
        else:
            bins = column_bins(data.codes, data.factors, settings.binning)
            if not settings.soft:
                counts = joint_counts(data.codes, data.factors, *bins, factor_pairs=pairs)
            elif data.codes_std is None:
                raise ValueError("soft counts need standard deviations")
            else:
                counts = soft_joint_counts(data.codes, data.codes_std, data.factors, *bins)
        return replace(self.information(counts, settings.correction), code_range=span)

    def tables(
        self, settings: TableSettings, draw: Draw, n_draws: int, seed: int, *, pairs: bool = False
    ) -> Iterator[InformationTable]:
        """Yield tables of bootstrap resamples, half-samples where rows cannot be weighted, or permuted factors.

        ``"halves"`` are half-samples in any case, with bins of their own. ``"clipped"`` is one table, with outlying
        columns clipped to their central 99%.
        """
        if draw == "clipped":
            yield self._table(self.data.winsorised(self.data.outlying()), settings, pairs)
        elif draw == "permutations" and settings.resamples_by_weight and not self.in_groups:
            packed, span = self._packed(settings.binning, pairs=pairs), self.data.codes.high - self.data.codes.low
            for index in range(n_draws):
                counts = packed.permuted(self.data.chance_order(seed, index)).count()
                yield replace(self.information(counts, settings.correction), code_range=span)
        elif draw == "permutations":
            for index in range(n_draws):
                yield self._table(self.data.shuffled(seed, index), settings, pairs)
        elif draw == "resamples" and settings.resamples_by_weight:
            for counts in self._weighted(settings, n_draws, seed, pairs):
                table = self.information(counts, settings.correction)
                yield replace(table, code_range=self.data.codes.high - self.data.codes.low)
        else:
            for index in range(n_draws):
                yield self._table(self.data.take(half_of_rows(self.data.n, seed, index)), settings, pairs)

    def _weighted(self, settings: TableSettings, n_draws: int, seed: int, pairs: bool) -> Iterator[JointCounts]:
        """Yield blocks of counts of rows drawn as weights over bins that are cut once."""
        packed = self._packed(settings.binning, pairs=pairs)
        block: list[JointCounts] = []
        for index in range(n_draws):
            drawn = rng_for(seed, "bootstrap", index).integers(0, self.data.n, self.data.n)
            block.append(packed.count(np.bincount(drawn, minlength=self.data.n).astype(np.float64)))
            entries = (len(block) + 1) * sum(table.size for table in block[0].tables)
            if entries > BLOCK_ENTRIES or index == n_draws - 1:
                yield JointCounts.stacked(block)
                block = []

    def rows(self) -> Data:
        """Return all rows."""
        return self.data

    def finding(self, options: Mapping[str, Any] | None = None) -> Finding | None:
        """Look for anything that the codes tell of the factors; the rows are looked at once."""
        columns = self.data.factors.columns
        factors = [(line, one.categorical) for one in columns for line in np.atleast_2d(one.coordinates.T)]
        if "finding" not in self._memo:
            self._memo["finding"] = dependence(self.data.codes.values, factors)
        found: Finding = self._memo["finding"]
        return found


def half_of_rows(n: int, seed: int, index: int) -> NDArray[np.intp]:
    """Return the rows of one half-sample: half of all, without replacement, in their order."""
    return np.sort(rng_for(seed, "half-sample", index).permutation(n)[: max(n // 2, 2)])


def checked_std(deviations: object, codes: Codes, argument: str) -> Floats:
    """Return standard deviations of the shape of the codes, at least 0.

    Raises
    ------
    InputError, InputTypeError
    """
    read = read_codes(deviations, argument)
    if (read.n, read.d) != (codes.n, codes.d):
        raise InputError(argument, f"expected the shape of codes, ({codes.n}, {codes.d}), got ({read.n}, {read.d})")
    if (read.low < 0).any():
        column = int(np.flatnonzero(read.low < 0)[0])
        row = int(np.flatnonzero(np.asarray(read.values[:, column]) < 0)[0])
        raise InputError(
            argument,
            f"expected standard deviations of at least 0, got a negative one in column "
            f"{read.names[column]!r}, first at row {row}",
        )
    return read.dense()
