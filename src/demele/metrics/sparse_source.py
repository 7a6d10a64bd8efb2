"""Sparse codes as a source: counted from their non-zeros, block by block; the few that inform most are made dense."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from demele.core.arrays import Array, Floats, Rows, rng_for
from demele.core.columns import SparseCodes
from demele.core.errors import InputError
from demele.core.inputs import Factor, Factors
from demele.core.results import Note, Score
from demele.estimation.counts import Binning, ColumnBins, JointCounts, bin_factor, cut, factor_bins
from demele.estimation.independence import Finding, dependence
from demele.estimation.information import Correction, InformationTable, entropy, mean_of_defined, top_two
from demele.metrics.data import TableSettings
from demele.metrics.metric import Metric
from demele.metrics.source import Draw, InMemory, Source, Subject
from demele.runtime.work import Report, completed

# Joint counts and moments of sparse codes with factors, from the non-zeros only ---------------------------------------
#
# A code that is zero in most rows has one bin for zero and others for its non-zeros. Only non-zeros are looked at:
# what is left of a factor's level, after the rows in which the code is not zero, are the rows in which it is. Codes
# are worked on in blocks of columns, whose size is bounded; a dense array of all rows and codes is never made.

#: Cells of the tables of one block, and non-zeros in it: a few times 16 MiB.
MAX_CELLS = 2_000_000
MAX_NONZEROS = 2_000_000
#: Cells of the tables of a single code.
MAX_CELLS_OF_CODE = 50_000_000
#: A variance of at most this share of the mean square is that of a constant, as for dense codes.
FLAT = 1e-24


@dataclass(frozen=True, slots=True, kw_only=True)
class TopCode:
    """One of the codes that inform most on a factor.

    Attributes
    ----------
    factor, code : str
        Their names.
    rank : int
        1 is the code that informs most.
    information : float
        Mutual information in nats.
    relative : float
        The same in units of the factor's entropy; 0 for a factor that falls into a single bin.
    activity : float
        Share of the rows in which the code is not zero.
    direction : str
        Categorical factor: the level in which the code is highest on average. Continuous factor: ``"+"`` or ``"-"``,
        the sign of their correlation.
    activity_there : float
        Share of the rows of that level in which the code is not zero; NaN for a continuous factor.
    """

    factor: str
    rank: int
    code: str
    information: float
    relative: float
    activity: float
    direction: str
    activity_there: float


@dataclass(frozen=True, slots=True)
class Active:
    """One bin for all non-zeros: a code is active in a row, or it is not."""

    @property
    def needs_values(self) -> bool:
        """No value matters."""
        return False

    def column_bins(self, values: Floats, low: float, high: float) -> ColumnBins:
        """Return the one bin."""
        return ColumnBins(np.array([low, high]), regular=True)


@dataclass(frozen=True, slots=True)
class FactorLevels:
    """A factor as level numbers of the smallest type; a missing annotation is one level more than there are."""

    labels: Array
    n_levels: int
    #: Numbers that occur among the labels.
    width: int
    #: Rows of each level.
    totals: Floats


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring codes, from ``first`` up to ``last``, and the number of bins to which their tables are padded."""

    first: int
    last: int
    width: int


def factor_levels(factors: Factors, binning: Binning) -> list[FactorLevels]:
    """Return the level of each row, of every factor; continuous factors are cut into bins."""
    found = []
    for factor in factors.columns:
        own_bins = factor_bins(factor, binning)
        n_levels = len(factor.levels) if own_bins is None else own_bins.n_bins
        labels = bin_factor(factor, own_bins).astype(np.min_scalar_type(n_levels))
        totals = np.bincount(labels, minlength=n_levels)[:n_levels].astype(np.float64)
        found.append(FactorLevels(labels, n_levels, n_levels + (not factor.complete), totals))
    return found


def nonzero_bins(codes: SparseCodes, binning: Binning) -> list[ColumnBins | None]:
    """Return the bins of the non-zeros of every code; None for a code that has none."""
    found: list[ColumnBins | None] = []
    empty = np.empty(0)
    for code, filled in enumerate(codes.n_nonzeros):
        values = codes.column(code)[1] if binning.needs_values else empty
        try:
            own = binning.column_bins(values, float(codes.low[code]), float(codes.high[code])) if filled else None
        except InputError as error:
            raise InputError("codes", f"non-zeros of {codes.names[code]!r}: {error}") from error
        found.append(own)
    return found


def number_of_bins(codes: SparseCodes, bins: Sequence[ColumnBins | None]) -> Rows:
    """Return how many bins each code has: those of its non-zeros, and one for zero where it is zero in some row."""
    of_nonzeros = np.array([0 if own is None else own.n_bins for own in bins], dtype=np.intp)
    return of_nonzeros + (codes.n_nonzeros < codes.n)


def blocks(
    codes: SparseCodes,
    bins: Sequence[ColumnBins | None],
    levels: Sequence[FactorLevels],
    *,
    max_cells: int = MAX_CELLS,
    max_nonzeros: int = MAX_NONZEROS,
) -> list[Block]:
    """Split the codes into blocks of bounded size; where they end depends on the data only.

    Raises
    ------
    InputError
        If the tables of a single code are too large.
    """
    per_bin = sum(factor.width for factor in levels)
    widths = [1 if own is None else own.n_bins for own in bins]
    widest = int(np.argmax(widths))
    if (widths[widest] + 1) * per_bin > MAX_CELLS_OF_CODE:
        sizes = f"{widths[widest] + 1:,} bins of code {codes.names[widest]!r} and {per_bin:,} values of the factors"
        problem = f"{sizes} make tables too large (at most {MAX_CELLS_OF_CODE:,} cells for a code)"
        raise InputError("factors", f"{problem}; use fewer bins, or leave out the factor with most values")
    found: list[Block] = []
    first, width, held = 0, 0, 0
    for code, (own, filled) in enumerate(zip(widths, codes.n_nonzeros, strict=True)):
        wider = max(width, own)
        too_large = (code + 1 - first) * (wider + 1) * per_bin > max_cells or held + int(filled) > max_nonzeros
        if code > first and too_large:
            found.append(Block(first, code, width))
            first, wider, held = code, own, 0
        width, held = wider, held + int(filled)
    found.append(Block(first, codes.d, width))
    return found


def count_block(
    codes: SparseCodes, bins: Sequence[ColumnBins | None], levels: Sequence[FactorLevels], block: Block
) -> tuple[JointCounts, Floats]:
    """Count the codes of one block against every factor.

    Parameters
    ----------
    bins : sequence of ColumnBins or None, one per code
    levels : sequence of FactorLevels, one per factor

    Returns
    -------
    (JointCounts, array of shape (codes of the block, 1 + bins))
        The counts of code bins against levels, and those of the code bins alone over all rows. Bin 0 is zero.

    Notes
    -----
    O(non-zeros x n_factors) to count, O(codes x bins x levels) for the tables.
    """
    size, width = block.last - block.first, block.width
    begin = int(codes.starts[block.first])
    rows = codes.rows[begin : int(codes.starts[block.last])]
    cells = np.empty(len(rows), dtype=np.intp)
    for code in range(block.first, block.last):
        own_bins = bins[code]
        if own_bins is not None:
            own = slice(int(codes.starts[code]), int(codes.starts[code + 1]))
            place = slice(own.start - begin, own.stop - begin)
            cells[place] = cut(codes.values[own], own_bins) + (code - block.first) * width
    alone = _with_zero(np.bincount(cells, minlength=size * width).reshape(size, width), float(codes.n))
    tables = []
    for factor in levels:
        counts = np.bincount(cells * factor.width + factor.labels[rows], minlength=size * width * factor.width)
        counts = counts.reshape(size, width, factor.width)[:, :, : factor.n_levels]
        tables.append(_with_zero(counts, factor.totals))
    n_bins = number_of_bins(codes, bins)[block.first : block.last]
    return JointCounts(tuple(tables), {}, n_bins), alone


def _with_zero(counts: Rows, totals: Floats | float) -> Floats:
    """Put the counts of the bin of zero, what is left of the totals, before those of the others."""
    return np.concatenate([(totals - counts.sum(axis=1))[:, None], counts], axis=1)


def squared_correlation_block(codes: SparseCodes, factors: Sequence[Factor], block: Block) -> Floats:
    r"""Squared correlation of each code of a block with continuous factors, from sums over the non-zeros.

    .. math:: R^2 = \frac{[\sum (z - \bar z)(v - \bar v)]^2}{\sum (z - \bar z)^2 \sum (v - \bar v)^2}

    over the rows in which the factor is annotated; the zeros enter by their number. The same as
    :func:`demele.estimation.univariate.squared_correlations` of the dense codes, up to rounding.

    Returns
    -------
    array of shape (codes of the block, n_factors)
        In [0, 1]; 0 for a code that is constant on these rows.
    """
    size = block.last - block.first
    filled = codes.n_nonzeros[block.first : block.last]
    own = slice(int(codes.starts[block.first]), int(codes.starts[block.last]))
    rows, column = codes.rows[own], np.repeat(np.arange(size), filled)
    scale = np.maximum(codes.high, -codes.low)[block.first : block.last]
    # as shares of the largest size, so that squares stay within the range of floats
    values = codes.values[own].astype(np.float64) / scale[column]

    def moments(factor: Factor) -> tuple[Floats, Floats, Floats]:
        weights = factor.annotated().astype(np.float64)[rows]
        mean = np.bincount(column, values * weights, size) / factor.n_annotated
        deviation, zeros = values - mean[column], factor.n_annotated - np.bincount(column, weights, size)
        spread = np.bincount(column, np.square(deviation) * weights, size) + zeros * np.square(mean)
        return mean, deviation, np.asarray(spread, dtype=np.float64)

    of_complete = next((moments(factor) for factor in factors if factor.complete), None)
    found = np.zeros((size, len(factors)))
    for index, factor in enumerate(factors):
        known = factor.annotated()  # minus the mean, 0 where it is not annotated, in a unit of its own
        values_of = np.where(known, np.asarray(factor.values, dtype=np.float64), 0.0)
        share = np.where(known, (values_of - factor.low) / (factor.high - factor.low), 0.0)
        centred = np.where(known, share - share.sum() / factor.n_annotated, 0.0)
        height = float(np.square(centred).sum())
        mean, deviation, spread = of_complete if of_complete is not None and factor.complete else moments(factor)
        at_nonzeros = centred[rows]
        # of the zeros: their codes are all -mean away from the mean. A running sum adds up as bincount does, so that a
        # code without zeros has exactly none.
        at_zeros = np.cumsum(centred)[-1] - np.bincount(column, at_nonzeros, size)
        shared = np.bincount(column, deviation * at_nonzeros, size) - mean * at_zeros
        varies = spread > FLAT * (spread + factor.n_annotated * np.square(mean))
        with np.errstate(divide="ignore", invalid="ignore"):
            found[:, index] = np.where(varies, np.minimum(np.square(shared) / (spread * height), 1.0), 0.0)
    return found


#: Codes whose score with shuffled factors stands for that of all.
SHUFFLED_CODES = 500
#: Codes and rows on which it is looked for whether anything is told of the factors.
LOOKED_AT = (50, 20_000)


@dataclass(frozen=True, slots=True)
class SparseTable:
    """What was read off all codes.

    Attributes
    ----------
    information : InformationTable
        Of the factors that vary.
    code_entropy : array of shape (n_codes,)
    squared_correlations : array of shape (n_codes, n_factors) or None
        NaN in the columns of categorical factors; None where they were not wanted.
    chance : array of shape (n_codes, n_factors)
        Expected information of independent codes, in nats.
    """

    information: InformationTable
    code_entropy: Floats
    squared_correlations: Floats | None
    chance: Floats


class Screened(InMemory):
    """Some rows of the codes that inform most: whether the codes tell anything is looked for among more of them."""

    name = "the sparse codes that inform most"

    chosen: Rows

    def finding(self, options: object = None) -> Finding | None:
        """Say nothing: see :meth:`SparseRows.finding`."""
        return None


class SparseRows(Source):
    """All codes, counted from their non-zeros.

    Parameters
    ----------
    codes : SparseCodes
    subject : Subject
    bins, factor_bins : Binning
        How the non-zeros of codes, and continuous factors, are cut.
    correction : str
    n_jobs : int
        Threads.
    correlations : bool
        Whether squared correlations with continuous factors are wanted too.
    report : callable, optional
    """

    states = frozenset({"table"})
    name = "sparse codes"
    probed = False

    def __init__(
        self,
        codes: SparseCodes,
        subject: Subject,
        *,
        bins: Binning,
        factor_bins: Binning,
        correction: Correction,
        n_jobs: int,
        correlations: bool = False,
        report: Report | None = None,
    ) -> None:
        self.codes, self._subject = codes, subject
        self.bins, self.factor_bins, self.correction, self._n_jobs = bins, factor_bins, correction, n_jobs
        self.counted = self._count(codes, subject.varying, correlations=correlations, report=report)

    def _count(
        self, codes: SparseCodes, factors: Factors, *, correlations: bool = False, report: Report | None = None
    ) -> SparseTable:
        """Work through all blocks of codes; a block's numbers depend on nothing but the data."""
        from joblib import parallel_config

        bins, levels = nonzero_bins(codes, self.bins), factor_levels(factors, self.factor_bins)
        index = [place for place, factor in enumerate(factors.columns) if correlations and not factor.categorical]
        continuous = [factors.columns[place] for place in index]

        def counted(block: Block) -> tuple[slice, InformationTable, Floats, Floats]:
            counts, alone = count_block(codes, bins, levels, block)
            table, own = self.information(counts, self.correction), slice(block.first, block.last)
            return own, table, entropy(alone, self.correction), squared_correlation_block(codes, continuous, block)

        parts = blocks(codes, bins, levels)
        information, joint, statistic, freedom = np.zeros((4, codes.d, factors.m))
        squares, code_entropy, factor_entropy = np.full_like(joint, np.nan), np.empty(codes.d), np.empty(factors.m)
        with parallel_config(backend="threading"):  # NumPy lets go of the interpreter, and the codes are not copied
            for count, (own, table, alone, squared) in enumerate(completed(counted, parts, n_jobs=self._n_jobs)):
                if report is not None:
                    report(count, len(parts), "counting")
                information[own], factor_entropy[:] = table.information, table.factor_entropy
                if table.joint_entropy is not None:
                    joint[own] = table.joint_entropy
                if table.statistic is not None and table.freedom is not None:
                    statistic[own], freedom[own] = table.statistic, table.freedom
                code_entropy[own], squares[own, index] = alone, squared
        n_bins = number_of_bins(codes, bins)
        flat = n_bins == 1  # a single bin tells nothing: exactly nothing, where sums of logarithms leave rounding
        information[flat], joint[flat] = 0.0, factor_entropy
        cells = (n_bins - 1)[:, None] * np.array([factor.n_levels - 1 for factor in levels])
        return SparseTable(
            InformationTable(information, factor_entropy, joint, None, n_bins, statistic, freedom),
            code_entropy,
            squares if index else None,
            cells / (2.0 * np.array([factor.n_annotated for factor in factors.columns])),
        )

    @staticmethod
    def reads(metric: Metric) -> bool:
        """Whether a metric can be read off a table without pairs of factors or joint cells of codes."""
        return "table" in metric.states and not (metric.pairs or metric.soft or metric.joint)

    def state_for(self, metric: Metric, options: Mapping[str, Any]) -> str | None:
        """Return the table, for metrics that can be read off it."""
        return super().state_for(metric, options) if self.reads(metric) else None

    def subject(self, state: str, options: Mapping[str, Any] | None = None) -> Subject:
        """Return the columns."""
        return self._subject

    def table(self, settings: TableSettings, *, pairs: bool = False) -> InformationTable:
        """Return the table that was counted."""
        return self.counted.information

    def tables(
        self, settings: TableSettings, draw: Draw, n_draws: int, seed: int, *, pairs: bool = False
    ) -> Iterator[InformationTable]:
        """Yield the table of one shuffle of the rows of the factors, for a sample of the codes."""
        rng = rng_for(seed, "sparse-shuffle")
        chosen = np.sort(rng.choice(self.codes.d, min(self.codes.d, SHUFFLED_CODES), replace=False))
        some = self.codes.take_codes(chosen)
        yield self._count(some, self._subject.varying.take(rng.permutation(self.codes.n))).information

    # The codes that inform most ---------------------------------------------------------------------------------------

    def screened(self, most: int, n_rows: int, seed: int) -> Screened:
        """Make the dense table of the codes that inform most, on all rows or on a seeded sample of them."""
        codes, factors, active = self.codes, self._subject.factors, self._subject.active
        # every factor's best, every factor's second best, and so on; of equal informations the first code comes first
        order = np.argsort(-self.counted.information.information, axis=0, kind="stable")[:most].ravel()
        _, first = np.unique(order, return_index=True)
        chosen = np.sort(order[np.sort(first)[:most]])
        rows = np.arange(codes.n)
        if codes.n > n_rows:
            rows = np.sort(rng_for(seed, "sparse-rows").choice(codes.n, n_rows, replace=False))
        sampled = factors if len(rows) == codes.n else factors.take(rows)
        alive = tuple(index for index in active if not sampled.columns[index].constant)
        lost = []
        for name in (factors.names[index] for index in active if index not in alive):
            problem = f"factor {name!r} is constant in the {len(rows):,} rows that predictors are fitted on"
            message = f"{problem}, and was left out there; raise n_rows"
            lost.append(Note(code="constant-factor", message=message, subject=(name,), severity="warning"))
        which, rest = "", ""
        if len(chosen) < codes.d:
            which = " (those that inform most on each factor in turn)"
            information, others = self.counted.information.information, np.delete(np.arange(codes.d), chosen)
            share, above = (_share(one, others) for one in (information, information - self.counted.chance))
            rest = (
                f"; the other codes hold {share:.1%} of the information of all codes with the factors, {above:.1%} "
                "when the bias of independent codes, (B_z - 1)(B_v - 1) / 2n each, is taken off"
            )
        text = f"fitted on {len(chosen):,} of {codes.d:,} codes{which} and {len(rows):,} of {codes.n:,} rows{rest}"
        note = Note(code="screened-codes", message=text)
        made = Screened(Subject(codes.dense(chosen, rows), sampled, alive, (*lost, note)))
        made.chosen = chosen
        return made

    def finding(self, options: Mapping[str, Any] | None = None) -> Finding:
        """Look for anything that the codes tell of the factors, among those that inform most."""
        data = self.screened(*LOOKED_AT, 0).rows()
        columns = [(factor.values, factor.categorical) for factor in data.factors.columns]
        return dependence(data.codes.values, columns, n_codes=self.codes.d)

    def sap_of_all(self, score: Score, chosen: Rows) -> Score:
        """Put the squared correlations of all codes on all rows in the place of those of the screened ones."""
        if score.matrix_values is None or score.per_factor is None:
            raise ValueError("SAP keeps its matrix")
        factors, active = self._subject.factors, list(self._subject.active)
        matrix = np.full((self.codes.d, factors.m), np.nan)
        matrix[chosen] = score.matrix_values
        per_factor, squares, notes = score.per_factor.copy(), self.counted.squared_correlations, score.notes
        continuous = [index for index in active if not factors.columns[index].categorical]
        if continuous and squares is not None:
            matrix[:, continuous] = squares[:, [active.index(index) for index in continuous]]
            first, second = top_two(matrix[:, continuous], axis=0)
            per_factor[continuous] = first - second
        if len(continuous) == len(active):
            notes = tuple(note for note in notes if note.code not in ("screened-codes", "constant-factor"))
        elif continuous:
            text = "squared correlations with continuous factors are those of all codes on all rows"
            about = tuple(factors.names[index] for index in continuous)
            notes += (Note(code="all-codes", message=text, subject=about),)
        return replace(
            score,
            value=float(mean_of_defined(per_factor)),
            n=max(factors.columns[index].n_annotated for index in active) if continuous else score.n,
            code_names=self.codes.names,
            per_factor=per_factor,
            matrix_values=matrix,
            notes=notes,
        )

    def top_codes(self, most: int) -> tuple[TopCode, ...]:
        """Return the codes that inform most on each factor that varies, best first."""
        codes, table, found = self.codes, self.counted.information, []
        activity = codes.activity
        for index, factor in enumerate(self._subject.varying.columns):
            information, height = table.information[:, index], float(table.factor_entropy[index])
            for rank, code in enumerate(np.argsort(-information, kind="stable")[:most].tolist(), start=1):
                rows, values = codes.column(code)
                values = values / max(float(np.abs(values).max(initial=0.0)), np.finfo(float).tiny)
                labels, there, told = factor.values[rows], float("nan"), float(information[code])
                if factor.categorical:
                    known = labels >= 0
                    labels, values = labels[known], values[known]
                    totals = np.bincount(factor.values[factor.annotated()], minlength=len(factor.levels))
                    level = int(np.argmax(np.bincount(labels, values, minlength=len(totals)) / totals))
                    direction, there = factor.levels[level], float((labels == level).sum() / totals[level])
                else:
                    known = ~np.isnan(labels)
                    own = factor.values[factor.annotated()]
                    slope = float(values[known] @ (labels[known] - own.mean(dtype=np.float64)))
                    direction = "+" if slope > 0 else "-" if slope < 0 else ""
                found.append(
                    TopCode(
                        factor=factor.name,
                        rank=rank,
                        code=codes.names[code],
                        information=told,
                        relative=told / height if height > 0 else 0.0,
                        activity=float(activity[code]),
                        direction=direction,
                        activity_there=there,
                    )
                )
        return tuple(found)


def _share(information: Floats, others: Rows) -> float:
    """Share of a sum that some codes hold, within 0 and 1: less a bias, sums may be slightly negative."""
    rest, whole = float(information[others].sum()), float(information.sum())
    return min(max(rest / whole, 0.0), 1.0) if whole > 0 else 0.0
