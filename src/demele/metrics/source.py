"""Where rows come from, and the one place where counts become information: a Source answers, the engine asks."""

import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, TypeVar, overload

import numpy as np

from demele.core.arrays import Array, Floats, Rows, rng_for
from demele.core.columns import CHUNK
from demele.core.errors import (
    AmbiguousKindWarning,
    InputError,
    InputTypeError,
    NotEnoughData,
    UndefinedFactorWarning,
    UnknownNameError,
    quoted,
    warn_user,
)
from demele.core.inputs import Codes, Factor, Factors, read_codes
from demele.core.kinds import suggestion
from demele.core.results import Evaluation, FactorSummary, Note, Score
from demele.core.version import __version__
from demele.estimation.counts import (
    BinnedRows,
    Binning,
    EqualFrequency,
    JointCounts,
    PackedRows,
    bin_rows,
    check_size,
    column_bins,
    cut,
    joint_counts,
    soft_joint_counts,
)
from demele.estimation.independence import Finding, dependence
from demele.estimation.information import Correction, InformationTable, entropy, information_table, mutual_information
from demele.metrics.data import Data, TableSettings
from demele.metrics.metric import Metric
from demele.metrics.options import OfColumns, ReadOption

#: Entries of a block of resampled tables held in memory at a time (float64).
BLOCK_ENTRIES = 500_000

#: Sums of products are rounded by less than this share of what they could be at most.
ROUNDED = 1e-13

Draw = Literal["resamples", "halves", "permutations", "clipped"]
_Made = TypeVar("_Made")


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
    def varying(self) -> Factors:
        """The factors that vary."""
        columns = tuple(self.factors.columns[index] for index in self.active)
        return Factors(columns, self.factors.missing, self.factors.ambiguous)

    def with_codes(self, codes: Codes, said: Mapping[str, object], more: Sequence[Note] = ()) -> "Subject":
        """Return what is known of the same rows under other codes."""
        notes = [note for note in self.notes if note.code != "constant-code"]
        notes += [constant_codes_note(codes)] if codes.constant.any() else []
        return replace(self, codes=codes, notes=(*notes, *more), arguments={**self.arguments, **said})

    @overload
    def spread_factors(self, values: Floats) -> Floats: ...

    @overload
    def spread_factors(self, values: Floats | None) -> Floats | None: ...

    def spread_factors(self, values: Floats | None) -> Floats | None:
        """Put values of the active factors into the order of all factors, NaN elsewhere (last axis)."""
        if values is None or len(self.active) == self.factors.m:
            return values
        full = np.full((*values.shape[:-1], self.factors.m), np.nan)
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
        about: dict[str, Any] = {
            "n": self.n,
            "code_names": self.codes.names,
            "factors": self.summaries(),
            "notes": self.notes,
        } | more
        return Evaluation(scores=tuple(scores), protocol=protocol, name=name, version=__version__, **about)


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
        raise NotEnoughData(f"{self.name} has no columns")

    def information(self, counts: JointCounts, correction: Correction) -> InformationTable:
        """Turn joint counts into information: the only place for this, for values, draws and guards."""
        return information_table(counts, correction)

    def table(self, settings: TableSettings, *, pairs: bool = False) -> InformationTable:
        """Return the informations of all codes and varying factors; with ``pairs``, of pairs of factors too."""
        raise NotEnoughData(f"{self.name} has no tables of information")

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
        raise NotEnoughData(f"{self.name} has no rows to draw from")

    def transformed(self, matrix: Floats, names: Sequence[str]) -> "Source":
        """Return the same rows with the codes multiplied by a matrix, such as a rotation."""
        raise NotEnoughData(f"{self.name} has no rows in memory to transform")

    def rows(self) -> Data:
        """Return rows: all, or a sample."""
        raise NotEnoughData(f"{self.name} has no rows")

    def sums(self, state: str, options: Mapping[str, Any]) -> Any:
        """Return the moments, the extremes or the sums in cells of all rows."""
        raise NotEnoughData(f"{self.name} has no {state}")

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
        self._memo: dict[object, Any] = {}

    def _kept(self, name: object, make: Callable[[], _Made]) -> _Made:
        """Return what is made of this source's rows once; its arrays are never written to."""
        if name not in self._memo:
            self._memo[name] = make()
        found: _Made = self._memo[name]
        return found

    def subject(self, state: str, options: Mapping[str, Any] | None = None) -> Subject:
        """Return the columns: what varies does not depend on the options."""
        return self._subject

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
        return type(self)(self._subject.with_codes(codes, {}))

    def table(self, settings: TableSettings, *, pairs: bool = False) -> InformationTable:
        """Return the information table of all rows."""
        return self._table(self.data, settings, pairs)

    def _packed(self, rule: Binning, *, pairs: bool) -> PackedRows:
        """Return the rows in bins, packed to be counted more than once."""
        codes, factors = self.data.codes, self.data.factors

        def binned() -> BinnedRows:
            bins = column_bins(codes, factors, rule)
            check_size(codes, factors, *bins)
            return bin_rows(codes, factors, *bins)

        def packed() -> PackedRows:
            return PackedRows(self._kept(("rows", rule), binned), factor_pairs=pairs)

        return self._kept(("packed", rule, pairs), packed)

    def _counts(self, rule: Binning, *, pairs: bool = False) -> JointCounts:
        """Return the counts of all rows; many rows are put into bins a part at a time."""
        codes, factors = self.data.codes, self.data.factors

        def counted() -> JointCounts:
            if codes.n <= CHUNK:
                return self._packed(rule, pairs=pairs).count()
            return joint_counts(codes, factors, *column_bins(codes, factors, rule), factor_pairs=pairs)

        return self._kept(("counts", rule, pairs), counted)

    def counts_behind(self, settings: TableSettings) -> JointCounts | None:
        """Return the counts of all rows, of codes against factors."""
        if settings.estimator != "histogram" or settings.soft or settings.correction != "none":
            return None
        return self._counts(settings.binning)

    def _table(self, data: Data, settings: TableSettings, pairs: bool) -> InformationTable:
        if settings.estimator != "histogram":
            estimate = nearest_neighbours if settings.estimator == "knn" else robust
            return replace(estimate(data, settings, pairs=pairs), code_range=data.code_range)
        if data is self.data and not settings.soft:
            counts = self._counts(settings.binning, pairs=pairs)
        else:
            bins = column_bins(data.codes, data.factors, settings.binning)
            if settings.soft and data.codes_std is not None:
                counts = soft_joint_counts(data.codes, data.codes_std, data.factors, *bins)
            else:
                counts = joint_counts(data.codes, data.factors, *bins, factor_pairs=pairs)
        return self._of_counts(counts, settings, data)

    def tables(
        self, settings: TableSettings, draw: Draw, n_draws: int, seed: int, *, pairs: bool = False
    ) -> Iterator[InformationTable]:
        """Yield tables of bootstrap resamples, half-samples where rows cannot be weighted, or permuted factors.

        ``"halves"`` are half-samples in any case, with bins of their own. ``"clipped"`` is one table, with outlying
        columns clipped to their central 99%.
        """
        data, by_weight = self.data, settings.resamples_by_weight
        drawn: Iterable[Data] = ()
        if draw == "clipped":
            drawn = (data.winsorised(data.outlying()),)
        elif draw == "permutations" and by_weight and not self.in_groups:
            rows = self._packed(settings.binning, pairs=pairs)
            for index in range(n_draws):
                yield self._of_counts(rows.permuted(data.chance_order(seed, index)).count(), settings, data)
        elif draw == "permutations":
            drawn = (data.shuffled(seed, index) for index in range(n_draws))
        elif draw == "resamples" and by_weight:
            yield from self._weighted(settings, n_draws, seed, pairs)
        else:
            drawn = (data.take(half_of_rows(data.n, seed, index)) for index in range(n_draws))
        for part in drawn:
            yield self._table(part, settings, pairs)

    def _of_counts(self, counts: JointCounts, settings: TableSettings, data: Data) -> InformationTable:
        return replace(self.information(counts, settings.correction), code_range=data.code_range)

    def _weighted(self, settings: TableSettings, n_draws: int, seed: int, pairs: bool) -> Iterator[InformationTable]:
        """Yield tables, or blocks of them, of rows drawn as weights over bins that are cut once."""
        packed = self._packed(settings.binning, pairs=pairs)
        block: list[JointCounts] = []
        for index in range(n_draws):
            block.append(packed.count(bootstrap_weights(self.data.n, seed, index)))
            entries = (len(block) + 1) * sum(table.size for table in block[0].tables)
            if entries > BLOCK_ENTRIES or index == n_draws - 1:
                yield self._of_counts(JointCounts.stacked(block), settings, self.data)
                block = []

    def rows(self) -> Data:
        """Return all rows."""
        return self.data

    def finding(self, options: Mapping[str, Any] | None = None) -> Finding | None:
        """Look for anything that the codes tell of the factors; the rows are looked at once."""
        columns = self.data.factors.columns
        factors = [(line, one.categorical) for one in columns for line in np.atleast_2d(one.coordinates.T)]
        return self._kept("finding", lambda: dependence(self.data.codes.values, factors))


def bootstrap_weights(n: int, seed: int, index: int) -> Floats:
    """Return how often each row is in one resample with replacement."""
    return np.bincount(rng_for(seed, "bootstrap", index).integers(0, n, n), minlength=n).astype(np.float64)


def half_of_rows(n: int, seed: int, index: int) -> Rows:
    """Return the rows of one half-sample: half of all, without replacement, in their order."""
    return np.sort(rng_for(seed, "half-sample", index).permutation(n)[: max(n // 2, 2)])


def checked_std(deviations: object, codes: Codes, argument: str, *, positive: bool = False) -> Floats:
    """Return standard deviations of the shape of the codes, at least 0 or above it.

    Raises
    ------
    InputError, InputTypeError
    """
    read = read_codes(deviations, argument)
    if (read.n, read.d) != (codes.n, codes.d):
        raise InputError(argument, f"expected the shape of codes, ({codes.n}, {codes.d}), got ({read.n}, {read.d})")
    values = read.dense()
    wrong = values <= 0 if positive else values < 0
    if wrong.any():
        column, row = np.argwhere(wrong.T)[0].tolist()
        expected = "above 0, since a code without noise identifies its row" if positive else "of at least 0"
        problem = f"got {values[row, column]:g} in column {read.names[column]!r}, first at row {row}"
        raise InputError(argument, f"expected standard deviations {expected}, {problem}")
    return values


# Information tables from nearest neighbours ---------------------------------------------------------------------------

#: Codes of which more than this share of the rows repeat another row's value are binned, not given to neighbours.
TIES = 0.01
#: Nearest-neighbour estimates of independent variables spread by about 0.8 / sqrt(n) nats around 0 (k = 3); what lies
#: within nearly four times that is taken for 0, so that a code of noise informs on nothing rather than on one factor.
NOISE_FLOOR = 3.0


def nearest_neighbours(data: Data, settings: TableSettings, *, pairs: bool) -> InformationTable:
    """Information as scikit-learn estimates it, factor entropies as the information of a factor with itself (Latte)."""
    from demele.estimation.knn import knn_factor_information, knn_information_matrix

    columns = data.factors.columns
    floor = NOISE_FLOOR / np.sqrt(max(min(factor.n_annotated for factor in columns), 1))
    k, seed = settings.n_neighbors, settings.seed % 2**32  # as far as scikit-learn's generator goes
    drawn: dict[str, Any] = {"n_neighbors": k, "jitter_seed": seed, "one_by_one": settings.one_by_one}
    if data.factors.complete:
        every = [(factor.categorical, np.asarray(factor.values)) for factor in columns]
        information = knn_information_matrix(data.codes.dense(), every, **drawn)
        if not pairs:
            alone = [knn_factor_information([one], n_neighbors=k, jitter_seed=seed) for one in every]
            return InformationTable(information, np.ravel(alone), floor=floor)
        between = knn_factor_information(every, n_neighbors=k, jitter_seed=seed)
        return InformationTable(information, between.diagonal().copy(), None, between, floor=floor)
    information = np.empty((data.codes.d, len(columns)))
    between = np.empty((len(columns), len(columns)))
    for i, factor in enumerate(columns):
        rows = np.flatnonzero(factor.annotated())
        own = [(factor.categorical, factor.values[rows])]
        codes = np.asarray(data.codes.values[rows], dtype=np.float64)
        information[:, i] = knn_information_matrix(codes, own, **drawn)[:, 0]
        for other in range(len(columns)) if pairs else ():
            both = np.flatnonzero(factor.annotated() & columns[other].annotated())
            pair = [(columns[index].categorical, columns[index].values[both]) for index in (other, i)]
            between[other, i] = knn_factor_information(pair, n_neighbors=k, jitter_seed=seed)[0, 1]
        between[i, i] = knn_factor_information(own, n_neighbors=k, jitter_seed=seed)[0, 0]
    return InformationTable(information, between.diagonal().copy(), None, between if pairs else None, floor=floor)


def nearest_neighbours_of_groups(data: Data, settings: TableSettings, *, pairs: bool) -> InformationTable:
    """Information of codes that are groups of columns: of a column alone as ever, of several in their space."""
    from demele.estimation.knn import knn_vector_information

    if data.groups is None:
        raise ValueError("there are no groups")
    of_columns = nearest_neighbours(data, settings, pairs=pairs)
    joint = [data.groups.columns[place] for place in data.groups.joint]
    alone = {place: columns[0] for place, columns in enumerate(data.groups.columns) if len(columns) == 1}
    information = np.empty((len(data.groups.names), data.factors.m))
    information[[*alone]] = of_columns.information[[*alone.values()]]
    for i, factor in enumerate(data.factors.columns):
        rows = np.flatnonzero(factor.annotated())
        information[list(data.groups.joint), i] = knn_vector_information(
            np.asarray(data.codes.values[rows], dtype=np.float64),
            joint,
            [(factor.categorical, factor.values[rows])],
            n_neighbors=settings.n_neighbors,
            jitter_seed=settings.seed % 2**32,
        )[:, 0]
    return replace(of_columns, information=information)


def robust(data: Data, settings: TableSettings, *, pairs: bool) -> InformationTable:
    """Dependence in [0, 1] of each code and factor, in units in which every factor's entropy is 1.

    The information of two factors is in the unit of the factor of its row.

    Categorical factor: I / H(v), I by Ross's exact neighbours in one dimension. Continuous factor: 1 - exp(-2 I), the
    square of Linfoot's (1957) coefficient, which for Gaussian variables is the squared correlation, I by Kraskov's
    neighbours on margins that are ranks mapped to normal quantiles (plain ranks would tie their distances, which
    biases the estimate): no outlier counts, and there is no division by an entropy that does not exist.
    Where values are tied (share above 1%), ties-respecting quantile bins with the Miller-Madow correction instead.
    Estimates below 3 / sqrt(n) nats, which independent variables give, are 0.
    """
    from demele.estimation.knn import ksg_information, ross_information, tie_fraction

    codes, columns = data.codes.dense(), data.factors.columns
    tied = np.array([tie_fraction(codes[:, index]) > TIES for index in range(data.codes.d)])
    bins = EqualFrequency(int(np.clip(round(2 * data.n ** (1 / 3)), 10, 256)))
    information = np.zeros((data.codes.d, len(columns)))
    varies = np.array([not factor.constant for factor in columns])  # in half of the rows, one may not
    for i, factor in enumerate(columns):
        rows = factor.annotated()
        values, numbers_of_rows = factor.values[rows], codes[rows]
        binned = tied | (not factor.categorical and tie_fraction(values) > TIES)
        if (~binned).any():
            own, k = numbers_of_rows[:, ~binned], settings.n_neighbors
            if factor.categorical:
                told = ross_information(own, values.astype(np.intp), n_neighbors=k, distances="direct")
            else:
                target = _normal_scores(np.asarray(values, dtype=np.float64))
                told = np.array([ksg_information(_normal_scores(code), target, n_neighbors=k) for code in own.T])
            information[~binned, i] = np.maximum(told, 0.0)
        for code in np.flatnonzero(binned):
            one = numbers_of_rows[:, code]
            if one.min() < one.max():
                table = crossed(_cut(one, bins), values if factor.categorical else _cut(values, bins))
                information[code, i] = np.maximum(mutual_information(table, "miller-madow"), 0.0)
        told = np.where(data.codes.constant, 0.0, information[:, i])
        told = np.where(told < NOISE_FLOOR / np.sqrt(factor.n_annotated), 0.0, told)
        if factor.categorical:
            information[:, i] = told / float(entropy(np.bincount(values).astype(float))) if varies[i] else told
        else:
            information[:, i] = 1.0 - np.exp(-2.0 * told)
    unit = varies.astype(np.float64)
    relative = np.clip(information, 0.0, 1.0)
    if not pairs:
        return InformationTable(relative, unit)
    between = np.diag(unit)
    for i, a in enumerate(columns):
        for k in range(i + 1, len(columns)):
            both = a.annotated() & columns[k].annotated()
            known = ((one.categorical, one.values[both]) for one in (a, columns[k]))
            first, second = (own if classes else _cut(own, EqualFrequency(10)) for classes, own in known)
            table = crossed(first, second)
            shared = float(np.maximum(mutual_information(table, "miller-madow"), 0.0))
            heights = [max(float(entropy(table.sum(axis=axis))), 1e-12) for axis in (1, 0)]
            between[i, k], between[k, i] = (min(shared / height, 1.0) for height in heights)
    return InformationTable(relative, unit, None, between)


def _normal_scores(values: Floats) -> Floats:
    from scipy.special import ndtri
    from scipy.stats import rankdata

    return np.asarray(ndtri(rankdata(values) / (len(values) + 1)))


def _cut(values: Floats, binning: Binning) -> Rows:
    values = np.asarray(values, dtype=np.float64)
    return cut(values, binning.column_bins(values, float(values.min()), float(values.max())))


def crossed(first: Array, second: Array, shape: tuple[int, int] | None = None) -> Floats:
    """Return the counts of the pairs of two columns of indices."""
    first, second = (column.astype(np.intp, copy=False) for column in (first, second))
    height, width = shape or (int(first.max()) + 1, int(second.max()) + 1)
    return np.bincount(first * width + second, minlength=height * width).reshape(height, width).astype(np.float64)


# The option ``reg_dim`` -----------------------------------------------------------------------------------------------

#: Code i is that of factor i.
IN_ORDER = "in order"
_ASSUMED_ORDER = Note(
    code="assumed-reg-dim",
    message="code i was taken to regularise factor i, in the order of the columns; name others with `reg_dim`",
)


def regularising_codes(reg_dim: object, code_names: Sequence[str], factor_names: Sequence[str]) -> Rows:
    """Return, for each factor, the index of the code that regularises it.

    Raises
    ------
    InputError, NotEnoughData
        If there is not one valid code for each factor.
    """
    d, m = len(code_names), len(factor_names)
    if reg_dim is None:
        if d < m:
            problem = f"by default code i regularises factor i, which needs at least {m} codes, got {d}"
            raise NotEnoughData("reg_dim", f"{problem}; name the code of each factor")
        return np.arange(m)
    if isinstance(reg_dim, str) or not isinstance(reg_dim, Sequence | np.ndarray):
        raise InputTypeError("reg_dim", f"expected one code (index or name) for each factor, got {quoted(reg_dim)}")
    if len(reg_dim) != m:
        raise InputError("reg_dim", f"expected one code for each of the {m} factors, got {len(reg_dim)}")
    of_factors = zip(reg_dim, factor_names, strict=True)
    return np.array([_place(code, code_names, "reg_dim", f" for factor {name!r}") for code, name in of_factors])


def column_indices(columns: object, names: Sequence[str], argument: str, default: Sequence[int]) -> list[int]:
    """Return the places of columns that are given by name or by place, one or several; none twice.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
    """
    if columns is None:
        return list(default)
    if isinstance(columns, str | numbers.Integral):
        columns = [columns]
    if not isinstance(columns, Sequence | np.ndarray):
        raise InputTypeError(argument, f"expected names or indices of columns, got {quoted(columns)}")
    found = [_place(column, names, argument) for column in columns]
    for index in found:
        if found.count(index) > 1:
            raise InputError(argument, f"column {names[index]!r} is named twice")
    return found


def _place(column: object, names: Sequence[str], argument: str, about: str = "") -> int:
    """Return the place of a column that is given by name or by place; ``about`` says in messages what it is for."""
    if isinstance(column, str):
        if column not in names:
            raise UnknownNameError(argument, f"unknown column {column!r}{about}{suggestion(column, names)}")
        return list(names).index(column)
    if isinstance(column, bool) or not isinstance(column, numbers.Integral):
        raise InputTypeError(argument, f"expected names or indices of columns{about}, got {quoted(column)}")
    if not 0 <= int(column) < len(names):
        raise InputError(argument, f"expected an index from 0 to {len(names) - 1}{about}, got {column}")
    return int(column)


def _read_reg_dim(given: object, subject: Subject) -> ReadOption:
    assumed = isinstance(given, str) and given == IN_ORDER
    full = regularising_codes(None if assumed else given, subject.codes.names, subject.factors.names)
    shown = IN_ORDER if assumed else tuple(int(code) for code in full)
    return ReadOption(full[list(subject.active)], shown, (_ASSUMED_ORDER,) if assumed else ())


#: The code that is meant to hold each factor, by index or name; or that of its place in the order of the columns.
RegDim = Annotated[
    Sequence[int] | Sequence[str] | Literal["in order"] | None,
    OfColumns(_read_reg_dim),
]


def intended_codes(
    notes: tuple[Note, ...], value: float, reg_dim: Rows | None, table: InformationTable
) -> tuple[Note, ...]:
    """Say that code i was taken to regularise factor i, or why a gap is below 0, where other codes inform more."""
    other = 0 if reg_dim is None else int((table.information.argmax(axis=0) != reg_dim).sum())
    if reg_dim is None or not other:
        return notes
    text = f"for {other} of {len(reg_dim)} factors another code informs more"
    if value < 0 and not notes:
        text = f"below 0: {text} than the one that is meant for it"
        return (Note(code="below-zero", message=text, severity="warning"),)
    return tuple(replace(note, message=f"{note.message}; {text}", severity="warning") for note in notes)
