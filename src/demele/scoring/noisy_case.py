"""One representation with noisy factors, and what a method of correction is."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats, Rows
from demele.core.errors import DemeleWarning, InputError, InputTypeError, NotEnoughData, plural, quoted
from demele.core.inputs import Factor, Factors, read_factor, refuse_cyclic
from demele.core.kinds import is_number
from demele.core.labelled import shown
from demele.core.results import Note, Score
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.estimation.counts import JointCounts, PackedRows, bin_rows, column_bins
from demele.estimation.discretise import ColumnBins, cut
from demele.estimation.information import InformationTable
from demele.estimation.known_errors import audited_transition, counted_transition, signed_table
from demele.metrics.data import TableSettings
from demele.metrics.options import Run
from demele.metrics.request import Request
from demele.metrics.run import bare_values
from demele.metrics.source import BLOCK_ENTRIES, InMemory
from demele.noise.audit import Audit
from demele.noise.factor_noise import matrix_of_annotators, refuse_other_designs
from demele.noise.transition import TransitionCounts, TransitionMatrix

# The door for what is known of noisy factors --------------------------------------------------------------------------

Kind = Literal["transition", "counts", "audit", "rate"]

#: Smallest singular value of a transition below which errors cannot be undone.
SINGULAR = 0.1
_EXPECTED = (
    "a TransitionMatrix, TransitionCounts, confusion matrices of three or more annotators, an audit, "
    "or the share of wrong annotations, a number in [0, 1)"
)


def _empty() -> NDArray[Any]:
    return np.empty(0, dtype=np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class NoiseOfFactor:
    """What is known of the errors of one factor, in the classes of its column.

    Attributes
    ----------
    name : str
        Name of the factor.
    kind : {"transition", "counts", "audit", "rate"}
        Which of the following is there.
    classes : tuple of str
        All classes, true or given; empty for a continuous factor, whose classes are the bins of a metric.
    position : array of int of shape (n_levels,)
        Where each level of the column stands among the classes.
    matrix : array (K, K) or None
        Rows true, columns given; probabilities for ``"transition"``, counts for ``"counts"``.
    rows, values : arrays of shape (k,) or None
        Audited rows and their true values: class numbers, or numbers in the unit of the factor.
    unclear : int
        Rows that were drawn for the audit and whose true value was unclear.
    share : float
        The rate.
    """

    name: str
    kind: Kind
    classes: tuple[str, ...] = ()
    position: Rows = field(default_factory=_empty)
    matrix: Floats = field(default_factory=lambda: np.empty((0, 0)))
    rows: Rows = field(default_factory=_empty)
    values: NDArray[Any] = field(default_factory=_empty)
    unclear: int = 0
    share: float = float("nan")


@dataclass(frozen=True, slots=True, eq=False)
class FactorNoise:
    """What is known of all noisy factors; factors that are not named are taken as right."""

    factors: Mapping[str, NoiseOfFactor]

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of knowledge that are there."""
        return frozenset(one.kind for one in self.factors.values())

    @classmethod
    def checked(cls, given: object, factors: Factors) -> "FactorNoise":
        """Match what was given to the factors.

        Parameters
        ----------
        given : mapping of factor name to knowledge
            See :func:`demele.evaluate`.
        factors : Factors

        Raises
        ------
        InputError, InputTypeError, NotEnoughData
            If a factor is not there, or what is known of it does not fit its column or cannot correct anything.
        """
        if not isinstance(given, Mapping):
            raise InputTypeError(
                "noise",
                f"expected a mapping of factors to the noise of each, got {type(given).__name__}",
                "such as {'shape': 0.05}",
            )
        if not given:
            raise InputError("noise", "expected at least one factor, got none", "leave it out")
        columns = {column.name: column for column in factors.columns}
        read = {}
        for name, one in given.items():
            if str(name) not in columns:
                known = ", ".join(map(quoted, columns))
                raise InputError("noise", f"unknown factor {quoted(name)}; the factors are {known}")
            read[str(name)] = noise_of_factor(one, columns[str(name)])
        return cls(read)


def noise_of_factor(given: object, factor: Factor) -> NoiseOfFactor:
    """Match what is known of one factor to its column.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    argument = f"noise[{quoted(factor.name)}]"
    refuse_cyclic([factor], "the correction of noisy factors")
    if isinstance(given, Audit):
        return _audit(given, factor, argument)
    if isinstance(given, TransitionMatrix | TransitionCounts):
        return _transition(given, factor, argument)
    if is_number(given):
        return _rate(float(given), factor, argument)
    if isinstance(given, Mapping) or (isinstance(given, Sequence) and not isinstance(given, str | bytes)):
        held = list(given.values()) if isinstance(given, Mapping) else list(given)
        if any(is_number(one) for one in given) or not all(
            isinstance(one, TransitionMatrix) or np.ndim(one) == 2 for one in held
        ):
            raise InputTypeError(argument, f"expected {_EXPECTED}", "wrap a table: TransitionMatrix(table)")
        return _transition(matrix_of_annotators(given, argument), factor, argument)
    if isinstance(given, np.ndarray) and given.ndim == 2:
        raise InputTypeError(
            argument,
            "a table may hold probabilities or counts",
            "pass TransitionMatrix(table) or TransitionCounts(table); rows are true values",
        )
    raise InputTypeError(argument, f"expected {_EXPECTED}, got {quoted(given)}")


def _rate(rate: float, factor: Factor, argument: str) -> NoiseOfFactor:
    if not 0 <= rate < 1:
        raise InputError(
            argument, f"expected the share of wrong annotations, a number in [0, 1), got {rate:g}", "write 0.05 for 5%"
        )
    return NoiseOfFactor(factor.name, "rate", factor.levels, np.arange(len(factor.levels), dtype=np.intp), share=rate)


def _transition(given: TransitionMatrix | TransitionCounts, factor: Factor, argument: str) -> NoiseOfFactor:
    table = given.probabilities if isinstance(given, TransitionMatrix) else given.counts.astype(np.float64)
    kind: Kind = "transition" if isinstance(given, TransitionMatrix) else "counts"
    if kind == "transition":
        smallest = float(np.linalg.svd(table, compute_uv=False)[-1])
        if smallest < SINGULAR:
            raise InputError(
                argument,
                f"the transition is too close to one that loses classes (smallest singular value {smallest:.3f}, below "
                f"{SINGULAR:g}): the classes that it mixes cannot be separated",
                "join classes that are mistaken for each other, or give an audit with noise_method='audited'",
            )
    if not factor.categorical:  # its classes are the bins of a metric, which are not known here
        return NoiseOfFactor(factor.name, kind, matrix=table)
    if given.classes is None:
        if given.k != len(factor.levels):
            raise InputError(
                argument,
                f"expected {len(factor.levels)} classes, as the factor has ({shown(factor.levels)}), got {given.k}",
                "name the classes of the table, if some of them are never given",
            )
        classes = factor.levels
    else:
        classes = tuple(str(name) for name in given.classes)
    lacking = [level for level in factor.levels if level not in classes]
    if lacking:
        raise InputError(argument, f"its classes {shown(classes)} lack {shown(lacking)}, which the factor has")
    position = np.array([classes.index(level) for level in factor.levels], dtype=np.intp)
    return NoiseOfFactor(factor.name, kind, classes, position, matrix=table)


def _audit(audit: Audit, factor: Factor, argument: str) -> NoiseOfFactor:
    refuse_other_designs(audit.design)
    n = len(factor.values)
    beyond = np.flatnonzero(audit.rows >= n)
    if beyond.size:
        raise InputError(
            argument,
            f"names {plural(beyond.size, 'row that does', 'rows that do')} not exist, first "
            f"{int(audit.rows[beyond[0]])}; rows are counted from 0: the {n:,} rows of the factors are 0 to {n - 1}",
        )
    true = read_factor(audit.labels, factor.name, factor.kind)
    if not true.complete:
        raise InputError(
            argument,
            f"{audit.k - true.n_annotated} audited rows have no true value, first row "
            f"{int(audit.rows[np.flatnonzero(~true.annotated())[0]])}",
            "hard rows are not missing at random: get their true values, or count them as unclear",
        )
    known: dict[str, Any] = {"rows": audit.rows, "unclear": audit.unclear}
    if not factor.categorical:
        return NoiseOfFactor(factor.name, "audit", values=np.asarray(true.values, dtype=np.float64), **known)
    given = np.asarray(factor.values)[audit.rows]
    pairs = [(int(one), int(other)) for one, other in zip(given, true.values, strict=True) if one >= 0]
    if not any(factor.levels[one] == true.levels[other] for one, other in pairs):
        raise NotEnoughData(
            argument,
            f"all {audit.k} audited rows contradict the factor: true values are "
            f"{shown(true.levels)}, given ones {shown(factor.levels)}",
            "are its rows those of the factors, counted from 0, and its classes the same?",
        )
    classes = factor.levels + tuple(level for level in true.levels if level not in factor.levels)
    place = np.array([classes.index(level) for level in true.levels], dtype=np.intp)
    return NoiseOfFactor(
        factor.name,
        "audit",
        classes,
        np.arange(len(factor.levels), dtype=np.intp),
        values=place[np.asarray(true.values, dtype=np.intp)],
        **known,
    )


#: Resamples behind the interval of a corrected score, unless ``n_bootstrap`` says otherwise.
RESAMPLES = 200


class NotCorrected(Exception):  # noqa: N818 - a finding, which becomes a note of the score
    """Why a score is not corrected."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Rows, what is known of the noise of their factors, and what several scores share.

    Attributes
    ----------
    source : InMemory
    run : Run
    noise : FactorNoise
    by_name : bool
        Whether the method was asked for by name.
    shared : dict
        What methods keep for the next score, by keys of their own.
    """

    source: InMemory
    run: Run
    noise: FactorNoise
    by_name: bool = False
    shared: dict[Any, Any] = field(default_factory=dict)

    @property
    def resamples(self) -> int:
        """Resamples behind an interval."""
        return self.run.n_bootstrap or RESAMPLES

    @property
    def of_factors(self) -> list[NoiseOfFactor | None]:
        """What is known of each factor that varies, in their order; None where it is taken as right."""
        return [self.noise.factors.get(column.name) for column in self.source.data.factors.columns]

    def right_factors(self) -> tuple[str, ...]:
        """Return an assumption on factors that nothing was said of, if there are any."""
        right = [one.name for one in self.source.data.factors.columns if one.name not in self.noise.factors]
        if not right:
            return ()
        return (f"The annotations of {', '.join(map(repr, right))} are right.",)

    def signature(self, method: str, **options: object) -> Signature:
        """Return the method with its options as one line."""
        known = {one.name: one.kind for one in self.noise.factors.values()}
        context = {"noise": "+".join(f"{name}:{kind}" for name, kind in known.items()), "rows": str(self.source.data.n)}
        return Signature(method, {**options, "level": self.run.level, "seed": self.run.seed}, context)


@dataclass(frozen=True, slots=True)
class Work:
    """One score to correct: how it was asked for, how it is read, and what it is of the annotations as given."""

    asked: Request
    request: Request
    score: Score

    @property
    def title(self) -> str:
        """What sentences call the metric."""
        return self.asked.metric.title

    def out_of_range(self, value: float) -> tuple[Note, ...]:
        """Say that a corrected value is beyond what the metric can be, which is reported and not cut."""
        low, high = self.asked.metric.range
        if not (value < low or value > high) or round(value, 3) in (low, high):  # as it is shown, it is not beyond
            return ()
        message = f"the corrected value {value:.3f} lies outside [{low:g}, {high:g}]: it is an estimate, and not cut"
        return (Note(code="corrected-out-of-range", message=message),)


def score_of_part(case: Case, work: Work, source: InMemory) -> float:
    """Return the score of some rows."""
    name = work.asked.name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DemeleWarning)  # the whole score was warned of already
        values, reasons = bare_values([work.asked], source, case.run.seed)
    if name not in values:
        raise NotCorrected(reasons.get(name, "no value"))
    return values[name]


def half_width(deviation: float, level: float) -> float:
    """Return half of the width of a normal interval."""
    return NormalDist().inv_cdf((1 + level) / 2) * deviation


@dataclass(frozen=True, slots=True)
class Parts:
    """The three scores of the difference, and those of halves.

    Attributes
    ----------
    audit_true, audit_given, all_given : float
        Scores of the audited rows by true values and by given ones, and of all rows by given ones.
    halves : array of shape (n_splits, 2)
        The difference on both halves of each split of the rows; empty where none were scored.
    extrapolates : bool
        Whether the bias of few rows is extrapolated from halves.
    """

    audit_true: float
    audit_given: float
    all_given: float
    halves: NDArray[np.float64]
    extrapolates: bool

    @property
    def difference(self) -> float:
        """The score of true values of the audited rows, plus what all rows add."""
        return self.audit_true + (self.all_given - self.audit_given)

    @property
    def value(self) -> float:
        """The difference, its bias by few rows extrapolated from halves where that helps."""
        if not self.extrapolates or not self.halves.size:
            return self.difference
        return 2 * self.difference - float(np.nanmean(self.halves))

    def half_width(self, level: float) -> float:
        """Return half of the width of the interval: chance of rows, and half of what was extrapolated."""
        apart = self.halves[:, 0] - self.halves[:, 1]
        error = float(np.sqrt(np.nanmean(apart**2) / 4))
        return half_width(error, level) + abs(self.value - self.difference) / 2


def draws_of_halves(value: float, halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values about a score, as far apart as its error: half of what both halves of a split differ by."""
    apart = (halves[:, 0] - halves[:, 1]) / 2
    return value + np.concatenate([apart, -apart])


@dataclass(frozen=True, slots=True)
class Half:
    """One half of the rows: the audited ones in it, and all in it."""

    audited: Rows
    everything: Rows


def split_rows(n: int, audited: Rows, seed: int, index: int) -> tuple[Half, Half]:
    """Return two halves of all rows, each with half of the audited ones.

    Parameters
    ----------
    n : int
        Rows in all.
    audited : array of shape (k,)
    seed, index : int
        Of the split.
    """
    rng = rng_for(seed, "corrected", "halves", index)
    others = np.setdiff1d(np.arange(n, dtype=np.intp), audited)
    drawn, rest = rng.permutation(audited), rng.permutation(others)
    k, r = drawn.size // 2, rest.size // 2
    pairs = ((drawn[:k], rest[:r]), (drawn[k:], rest[r:]))
    first, second = (Half(np.sort(some), np.sort(np.concatenate([some, more]))) for some, more in pairs)
    return first, second


# Signed tables of a representation with noisy factors -----------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """What is known of the errors of one factor, in the columns of its table.

    Attributes
    ----------
    name : str
    n_classes : int
    position : array of int
        Where each value of the column stands among the classes.
    matrix : array (K, K) or None
        The transition, where it is known.
    counts : array (K, K) or None
        Counts of another sample.
    rows, true, given : arrays of shape (k,) or None
        Audited rows, their true classes, and the given ones; only rows with an annotation.
    """

    name: str
    n_classes: int
    position: Rows
    matrix: Floats | None = None
    counts: Floats | None = None
    rows: Rows = field(default_factory=_empty)
    true: Rows = field(default_factory=_empty)
    given: Rows = field(default_factory=_empty)

    @property
    def audited(self) -> bool:
        """Whether audited rows tell of the errors."""
        return self.matrix is None and self.counts is None

    def counted(self, weights: Floats | None = None) -> Floats:
        """Return counts (K, K), rows true values, for an estimate of the transition; of all rows by their weights."""
        if self.counts is not None:
            return self.counts
        cells = self.true * self.n_classes + self.given
        weight = None if weights is None else weights[self.rows]
        table = np.bincount(cells, weight, minlength=self.n_classes**2)
        return table.reshape(self.n_classes, self.n_classes).astype(np.float64)

    def drawn(self, table: Floats, weights: Floats, rng: np.random.Generator) -> Floats:
        """Return the transition of one resample with this table: of its audited rows, or of resampled counts."""
        if self.matrix is not None:
            return self.matrix
        if self.counts is None:
            return audited_transition(self.counted(weights), self._given(table))
        total = self.counts.sum()
        again = rng.multinomial(int(total), (self.counts / total).ravel())
        return counted_transition(again.reshape(self.counts.shape).astype(np.float64))

    def transition(self, table: Floats) -> Floats:
        """Return the transition by the best estimate; ``table`` of all rows (n_codes, bins, columns)."""
        if self.matrix is not None:
            return self.matrix
        if self.counts is not None:
            return counted_transition(self.counts)
        return audited_transition(self.counted(), self._given(table))

    def _given(self, table: Floats) -> Floats:
        """Return how often each class is given in all rows."""
        given: Floats = self.placed(table)[0].sum(axis=0)
        return given

    def placed(self, table: Floats) -> Floats:
        """Return a table whose columns are all classes, given or not."""
        if self.n_classes == table.shape[-1] and (self.position == np.arange(self.n_classes)).all():
            return table
        full = np.zeros((*table.shape[:-1], self.n_classes))
        full[..., self.position] = table
        return full


@dataclass(frozen=True, slots=True, eq=False)
class SignedTables:
    """Informations of true values: the estimate, and its resamples.

    Attributes
    ----------
    table : InformationTable
    draws : InformationTable
        With a leading axis of resamples.
    notes : tuple of Note
    difference, difference_draws : InformationTable or None
        The same by audited rows, whatever their errors depend on; None where no factor is audited.
    """

    table: InformationTable
    draws: InformationTable
    notes: tuple[Note, ...]
    difference: InformationTable | None = None
    difference_draws: InformationTable | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Binned:
    """All rows in the bins of a metric, and what is known of each factor in these; None of a factor that is right."""

    rows: PackedRows
    errors: tuple[Errors | None, ...]

    def informations(
        self,
        counts: Sequence[JointCounts],
        transitions: Sequence[Sequence[Floats | None]],
        weights: Sequence[Floats] | None = None,
    ) -> tuple[InformationTable, InformationTable | None]:
        """Return informations of several counts of the rows, with a transition of each factor for each.

        The second are those by audited rows: the table of all rows plus what true values change in the one of the
        audited rows. None where no factor is audited.
        """
        tables, shifted, undone, kept = [], [], [], []
        for i, errors in enumerate(self.errors):
            table = np.stack([one.tables[i] for one in counts])
            matrices = stacked([one[i] for one in transitions])
            table = table if errors is None else errors.placed(table)
            tables.append(table)
            undone.append(matrices)
            if errors is None or not errors.audited:
                shifted.append(table)
                kept.append(matrices)
                continue
            shifts = [self._shift(errors, None if weights is None else weights[k]) for k in range(len(counts))]
            total = table[:, :1].sum(axis=(-2, -1), keepdims=True)
            shifted.append(table + total * np.stack(shifts))
            kept.append(np.eye(errors.n_classes))
        bins = counts[0].code_bins
        found = signed_table(JointCounts(tuple(tables), {}, bins), undone)
        if not any(errors is not None and errors.audited for errors in self.errors):
            return found, None
        return found, signed_table(JointCounts(tuple(shifted), {}, bins), kept)

    def _shift(self, errors: Errors, weights: Floats | None) -> Floats:
        """Return what true values change in the table of audited rows (n_codes, bins, K), as shares of these rows."""
        codes = self.rows.rows.codes[:, errors.rows]
        d, most, k = len(codes), int(self.rows.rows.code_bins.max()), errors.n_classes
        weight = np.ones(errors.rows.size) if weights is None else weights[errors.rows]
        cells = (np.arange(d)[:, None] * most + codes) * k
        of_true, of_given = (
            np.bincount((cells + column).ravel(), np.tile(weight, d), minlength=d * most * k)
            for column in (errors.true, errors.given)
        )
        return np.asarray((of_true - of_given).reshape(d, most, k) / weight.sum())


def binned(case: Case, settings: TableSettings) -> Binned:
    """Return the rows in bins with what is known of the errors, or why that does not fit the bins."""
    data = case.source.data
    of_codes, of_factors = column_bins(data.codes, data.factors, settings.binning)
    errors: list[Errors | None] = []
    for known, factor, bins in zip(case.of_factors, data.factors.columns, of_factors, strict=True):
        errors.append(None if known is None else _errors(known, factor, bins))
    rows = bin_rows(data.codes, data.factors, of_codes, of_factors)
    return Binned(PackedRows(rows, factor_pairs=False), tuple(errors))


def _errors(known: NoiseOfFactor, factor: Factor, bins: ColumnBins | None) -> Errors:
    """Match what is known to the columns of a table; of a continuous factor these are its bins."""
    if known.kind == "rate":
        raise NotCorrected(
            f"only a rate is known of {quoted(factor.name)}, from which nothing but bounds follows; a transition, or "
            "an audit of rows drawn at random, would correct it"
        )
    if bins is None:
        n_classes, position = len(known.classes), known.position
    else:
        n_classes, position = bins.n_bins, np.arange(bins.n_bins, dtype=np.intp)
    if known.kind != "audit" and len(known.matrix) != n_classes:
        raise NotCorrected(
            f"the metric cuts factor {quoted(factor.name)} into {n_classes} bins, and its transition has "
            f"{len(known.matrix)} classes; give one between these bins, or an audit"
        )
    if known.kind == "transition":
        return Errors(factor.name, n_classes, position, matrix=known.matrix)
    if known.kind == "counts":
        return Errors(factor.name, n_classes, position, counts=known.matrix)
    annotated = factor.annotated()[known.rows]
    rows, values = known.rows[annotated], known.values[annotated]
    given = np.asarray(factor.values)[rows]
    true = values if bins is None else cut(np.asarray(values, dtype=np.float64), bins)
    coded = position[given.astype(np.intp)] if bins is None else cut(np.asarray(given, dtype=np.float64), bins)
    return Errors(factor.name, n_classes, position, rows=rows, true=true.astype(np.intp), given=coded.astype(np.intp))


def signed_tables(case: Case, settings: TableSettings) -> SignedTables:
    """Return informations of true values under a transition, which each resample estimates again."""
    found = binned(case, settings)
    notes: list[Note] = []
    everything = found.rows.count()
    best: list[Floats | None] = []
    for one, factor, table in zip(found.errors, case.source.data.factors.columns, everything.tables, strict=True):
        if one is None:
            best.append(None)
            continue
        matrix = one.transition(table)
        best.append(matrix)
        if not factor.categorical:
            notes.append(_of_bins(factor))
        if one.matrix is not None:
            continue
        if _smallest(matrix) < SINGULAR:
            raise NotCorrected(
                f"the transition of {quoted(one.name)}, as it was counted, is too close to one that loses classes; "
                "count more rows, join classes that are mistaken for each other, or take method 'audited'"
            )
        uncounted = int((one.counted().sum(axis=1) == 0).sum())
        if uncounted:
            message = (
                f"{uncounted} of {one.n_classes} true values of factor {quoted(one.name)} were never counted, and are "
                "taken as annotated right"
            )
            notes.append(Note(code="never-counted", message=message, subject=(one.name,), severity="warning"))
    estimate, difference = found.informations([everything], [best])
    draws = list(_drawn(case, found))
    by_audit = [other for _, other in draws if other is not None]
    return SignedTables(
        first(estimate),
        joined([own for own, _ in draws]),
        tuple(notes),
        None if difference is None else first(difference),
        joined(by_audit) if by_audit else None,
    )


def _smallest(transition: Floats) -> float:
    return float(np.linalg.svd(transition, compute_uv=False)[-1])


def _of_bins(factor: Factor) -> Note:
    message = (
        f"errors of {quoted(factor.name)} cross an edge of its bins more often near an edge, and codes that know the "
        "value know that too: a transition between bins corrects too much; method 'audited' does not need that"
    )
    return Note(code="transition-between-bins", message=message, subject=(factor.name,), severity="warning")


def strata(case: Case) -> list[Rows]:
    """Return the rows in groups that are resampled separately: those that no audit has, and those of each audit."""
    member = np.zeros(case.source.data.n, dtype=np.intp)
    for place, one in enumerate(case.noise.factors.values()):
        member[one.rows] += 1 << place
    return [np.flatnonzero(member == label) for label in np.unique(member)]


def _drawn(case: Case, found: Binned) -> Iterator[tuple[InformationTable, InformationTable | None]]:
    """Yield blocks of informations of resampled rows."""
    n, groups = case.source.data.n, strata(case)
    counts: list[JointCounts] = []
    transitions: list[list[Floats | None]] = []
    drawn: list[Floats] = []
    for index in range(case.resamples):
        rng = rng_for(case.run.seed, "corrected", "bootstrap", index)
        chosen = [group[rng.integers(0, group.size, group.size)] for group in groups]
        weights = np.bincount(np.concatenate(chosen), minlength=n).astype(np.float64)
        counts.append(found.rows.count(weights))
        drawn.append(weights)
        pairs = zip(found.errors, counts[-1].tables, strict=True)
        transitions.append([None if one is None else one.drawn(table, weights, rng) for one, table in pairs])
        entries = (len(counts) + 1) * max(sum(table.size for table in counts[0].tables), n)
        if entries > BLOCK_ENTRIES or index == case.resamples - 1:
            yield found.informations(counts, transitions, drawn)
            counts, transitions, drawn = [], [], []


def stacked(matrices: Sequence[Floats | None]) -> Floats | None:
    """Return the transitions of one factor in all resamples; None if it is right."""
    known = [one for one in matrices if one is not None]
    return np.stack(known) if known else None


def first(table: InformationTable) -> InformationTable:
    """Return the first of several draws of a table."""
    joint = None if table.joint_entropy is None else table.joint_entropy[0]
    return InformationTable(table.information[0], table.factor_entropy[0], joint, None, table.code_bins)


def joined(blocks: list[InformationTable]) -> InformationTable:
    """Return blocks of resampled informations as one."""
    joint = [one.joint_entropy for one in blocks if one.joint_entropy is not None]
    return InformationTable(
        np.concatenate([one.information for one in blocks]),
        np.concatenate([one.factor_entropy for one in blocks]),
        np.concatenate(joint),
        None,
        blocks[0].code_bins,
    )


#: Distance in standard deviations from which the two disagree: a level of 1 %.
FARTHEST = 2.58


@dataclass(frozen=True, slots=True)
class Consistency:
    """How far a transition and the audited rows disagree about one score.

    Attributes
    ----------
    distance : float
        In standard deviations of the bootstrap; the nearer one to 0, with the bias that the bootstrap shows or without.
    """

    distance: float

    @property
    def holds(self) -> bool:
        """Whether the two agree."""
        return not abs(self.distance) > FARTHEST

    @property
    def sentence(self) -> str:
        """What is said where they do not."""
        return (
            "errors depend on the codes; the transition correction does not hold (it and the audited rows differ by "
            f"{abs(self.distance):.1f} standard deviations)"
        )

    def note(self) -> Note:
        """Return the warning for a score."""
        return Note(code="errors-depend-on-codes", message=self.sentence, severity="warning")


def consistency(work: Work, tables: SignedTables) -> Consistency | None:
    """Compare a score by a transition with that by audited rows; None where no factor is audited.

    Parameters
    ----------
    work : Work
    tables : SignedTables
        With the same resamples for both.
    """
    if tables.difference is None or tables.difference_draws is None:
        return None
    read = work.request.read
    apart = float(read(tables.table).value) - float(read(tables.difference).value)
    draws = np.asarray(read(tables.draws).value) - np.asarray(read(tables.difference_draws).value)
    spread = float(draws.std(ddof=1))
    if not spread > 1e-12:  # no error among the audited rows: both are the score as given
        return Consistency(0.0)
    return Consistency(nearer(apart / spread, (2 * apart - float(draws.mean())) / spread))


def nearer(plain: float, unbiased: float) -> float:
    """Return the distance nearer to 0, with or without the bias that resamples show; 0 where they lie on both sides.

    Resamples of a table whose empty cells are noise show more bias than the table has: taken off alone, it makes false
    alarms of one in ten.
    """
    if plain * unbiased <= 0:
        return 0.0
    return min(plain, unbiased, key=abs)
