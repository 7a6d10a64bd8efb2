"""One representation with noisy factors: what is known of their errors, and signed tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np

from demele.core.arrays import Array, Floats, Rows, rng_for
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.inputs import Factor, read_factor, refuse_cyclic
from demele.core.kinds import is_number
from demele.core.labelled import shown
from demele.core.results import Note
from demele.core.signature import Signature
from demele.estimation.annotation_errors import audited_transition, counted_transition, signed_table
from demele.estimation.counts import ColumnBins, JointCounts, PackedRows, bin_rows, column_bins, cut
from demele.estimation.information import InformationTable
from demele.metrics.data import TableSettings
from demele.metrics.options import Run
from demele.metrics.source import BLOCK_ENTRIES, InMemory
from demele.noise.audit import Audit, refuse_beyond, refuse_other_designs
from demele.noise.transition import TransitionCounts, TransitionMatrix, matrix_of_annotators

# What is known of the errors of one factor ----------------------------------------------------------------------------

Kind = Literal["transition", "counts", "audit", "rate"]
T = TypeVar("T")

#: Smallest singular value of a transition below which errors cannot be undone.
SINGULAR = 0.1
_EXPECTED = (
    "a TransitionMatrix, TransitionCounts, confusion matrices of three or more annotators, an audit, "
    "or the share of wrong annotations, a number in [0, 1)"
)


def _empty() -> Array:
    return np.empty(0, dtype=np.intp)


class NotCorrected(Exception):  # noqa: N818 - a finding, which becomes a note of the score
    """Why a score is not corrected."""


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
        All classes, true or given; empty for a continuous factor, whose classes are the bins of a table.
    position : array of int of shape (n_levels,)
        Where each level of the column stands among the classes.
    matrix : array (K, K)
        Rows true, columns given; probabilities for ``"transition"``, counts for ``"counts"``.
    rows, values, given : arrays of shape (k,)
        Audited rows, their true values (class numbers, or numbers in the unit of the factor) and, in the columns of a
        table, the given ones.
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
    values: Array = field(default_factory=_empty)
    given: Rows = field(default_factory=_empty)
    unclear: int = 0
    share: float = float("nan")

    def in_bins(self, factor: Factor, bins: ColumnBins | None) -> "NoiseOfFactor":
        """Return the same in the columns of a table, with audited rows that are annotated only.

        Of a continuous factor the classes are its bins.
        """
        if self.kind == "rate":
            raise NotCorrected(
                f"only a rate is known of {quoted(factor.name)}, from which nothing but bounds follows; a transition, "
                "or an audit of rows drawn at random, would correct it"
            )
        k = len(self.classes) if bins is None else bins.n_bins
        known = self if bins is None else replace(self, classes=tuple(map(str, range(k))), position=np.arange(k))
        if self.kind != "audit":
            if len(self.matrix) != k:
                raise NotCorrected(
                    f"the metric cuts factor {quoted(factor.name)} into {k} bins, and its transition has "
                    f"{len(self.matrix)} classes; give one between these bins, or an audit"
                )
            return known
        annotated = factor.annotated()[self.rows]
        rows, true = self.rows[annotated], self.values[annotated]
        given = np.asarray(factor.values)[rows]
        if bins is None:
            given = self.position[given.astype(np.intp)]
        else:
            true, given = (cut(np.asarray(values, dtype=np.float64), bins) for values in (true, given))
        return replace(known, rows=rows, values=true.astype(np.intp), given=given.astype(np.intp))

    def counted(self, weights: Floats) -> Floats:
        """Return counts (K, K), rows true values, for an estimate of the transition; of all rows by their weights."""
        if self.kind == "counts":
            return self.matrix
        k = len(self.classes)
        table = np.bincount(self.values * k + self.given, weights[self.rows], minlength=k**2)
        return table.reshape(k, k).astype(np.float64)

    def transition(self, often: Floats, weights: Floats, rng: np.random.Generator | None = None) -> Floats:
        """Return the best estimate of the transition, from all rows by their weights; with ``rng``, of a resample.

        ``often`` says how many of the rows so weighted are given each class, (K,).
        """
        if self.kind == "transition":
            return self.matrix
        counts = self.counted(weights)
        if self.kind == "audit":
            return audited_transition(counts, often)
        if rng is not None:
            total = counts.sum()
            counts = rng.multinomial(int(total), (counts / total).ravel()).reshape(counts.shape).astype(np.float64)
        return counted_transition(counts)

    def placed(self, table: Floats) -> Floats:
        """Return a table whose columns are all classes, given or not."""
        k = len(self.classes)
        if k == table.shape[-1] and (self.position == np.arange(k)).all():
            return table
        full = np.zeros((*table.shape[:-1], k))
        full[..., self.position] = table
        return full

    def shift(self, rows: PackedRows, weights: Floats) -> Floats:
        """Return what true values change in the table of audited rows (n_codes, bins, K), as shares of these rows."""
        codes = rows.rows.codes[:, self.rows]
        shape = (len(codes), int(rows.rows.code_bins.max()), len(self.classes))
        weight = weights[self.rows]
        cells = (np.arange(shape[0])[:, None] * shape[1] + codes) * shape[2]
        of_true, of_given = (
            np.bincount((cells + column).ravel(), np.tile(weight, shape[0]), minlength=int(np.prod(shape)))
            for column in (self.values, self.given)
        )
        return np.asarray((of_true - of_given).reshape(shape) / weight.sum())


def noise_of_factor(given: object, factor: Factor) -> NoiseOfFactor:
    """Match what is known of one factor to its column; see :func:`demele.evaluate`.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If it does not fit the column, or cannot correct anything.
    """
    argument, levels = f"noise[{quoted(factor.name)}]", factor.levels
    refuse_cyclic([factor], "the correction of noisy factors")
    if isinstance(given, Audit):
        return _audit(given, factor, argument)
    if is_number(given):
        if not 0 <= given < 1:
            raise InputError(
                argument,
                f"expected the share of wrong annotations, a number in [0, 1), got {given:g}",
                "write 0.05 for 5%",
            )
        return NoiseOfFactor(factor.name, "rate", levels, np.arange(len(levels), dtype=np.intp), share=float(given))
    if isinstance(given, np.ndarray) and given.ndim == 2:
        raise InputTypeError(
            argument,
            "a table may hold probabilities or counts",
            "pass TransitionMatrix(table) or TransitionCounts(table); rows are true values",
        )
    if isinstance(given, Mapping) or (isinstance(given, Sequence) and not isinstance(given, str | bytes)):
        tables = given.values() if isinstance(given, Mapping) else given
        if not all(isinstance(one, TransitionMatrix) or np.ndim(one) == 2 for one in tables):
            raise InputTypeError(argument, f"expected {_EXPECTED}", "wrap a table: TransitionMatrix(table)")
        given = matrix_of_annotators(given, argument)
    if isinstance(given, TransitionCounts):
        kind: Kind = "counts"
        table = given.counts.astype(np.float64)
    elif isinstance(given, TransitionMatrix):
        kind, table = "transition", given.probabilities
        smallest = np.linalg.svd(table, compute_uv=False)[-1]
        if smallest < SINGULAR:
            raise InputError(
                argument,
                f"the transition is too close to one that loses classes (smallest singular value {smallest:.3f}, below "
                f"{SINGULAR:g}): the classes that it mixes cannot be separated",
                "join classes that are mistaken for each other, or give an audit with noise_method='audited'",
            )
    else:
        raise InputTypeError(argument, f"expected {_EXPECTED}, got {quoted(given)}")
    if not factor.categorical:  # its classes are the bins of a metric, which are not known here
        return NoiseOfFactor(factor.name, kind, matrix=table)
    if given.classes is None and given.k != len(levels):
        raise InputError(
            argument,
            f"expected {len(levels)} classes, as the factor has ({shown(levels)}), got {given.k}",
            "name the classes of the table, if some of them are never given",
        )
    classes = levels if given.classes is None else tuple(str(name) for name in given.classes)
    lacking = [level for level in levels if level not in classes]
    if lacking:
        raise InputError(argument, f"its classes {shown(classes)} lack {shown(lacking)}, which the factor has")
    position = np.array([classes.index(level) for level in levels], dtype=np.intp)
    return NoiseOfFactor(factor.name, kind, classes, position, matrix=table)


def _audit(audit: Audit, factor: Factor, argument: str) -> NoiseOfFactor:
    refuse_other_designs(audit.design)
    refuse_beyond(audit.rows, len(factor.values), argument)
    true = read_factor(audit.labels, factor.name, factor.kind)
    if not true.complete:
        raise InputError(
            argument,
            f"{audit.k - true.n_annotated} audited rows have no true value, first row "
            f"{int(audit.rows[np.argmin(true.annotated())])}",
            "hard rows are not missing at random: get their true values, or count them as unclear",
        )
    known: dict[str, Any] = {"rows": audit.rows, "unclear": audit.unclear}
    if not factor.categorical:
        return NoiseOfFactor(factor.name, "audit", values=np.asarray(true.values, dtype=np.float64), **known)
    classes = factor.levels + tuple(level for level in true.levels if level not in factor.levels)
    place = np.array([classes.index(level) for level in true.levels], dtype=np.intp)
    known["values"] = place[np.asarray(true.values, dtype=np.intp)]
    if not (np.asarray(factor.values)[audit.rows] == known["values"]).any():
        raise NotEnoughData(
            argument,
            f"all {audit.k} audited rows contradict the factor: true values are "
            f"{shown(true.levels)}, given ones {shown(factor.levels)}",
            "are its rows those of the factors, counted from 0, and its classes the same?",
        )
    return NoiseOfFactor(factor.name, "audit", classes, np.arange(len(factor.levels), dtype=np.intp), **known)


# A representation, and one score of it --------------------------------------------------------------------------------

#: Resamples behind the interval of a corrected score, unless ``n_bootstrap`` says otherwise.
RESAMPLES = 200


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Rows, what is known of the noise of their factors, and what several scores share.

    Attributes
    ----------
    source : InMemory
    run : Run
    noise : mapping of str to NoiseOfFactor
        By factor; those that are not named are taken as right.
    by_name : bool
        Whether the method was asked for by name.
    shared : dict
        What methods keep for the next score, by what made it.
    """

    source: InMemory
    run: Run
    noise: Mapping[str, NoiseOfFactor]
    by_name: bool = False
    shared: dict[Any, Any] = field(default_factory=dict)

    def kept(self, make: Callable[..., T], *known: Any) -> T:
        """Return what a function makes of this case and of what is known; made once for all scores."""
        key = make, known
        if key not in self.shared:
            self.shared[key] = make(self, *known)
        found: T = self.shared[key]
        return found

    @property
    def of_factors(self) -> list[NoiseOfFactor | None]:
        """What is known of each factor that varies, in their order; None where it is taken as right."""
        return [self.noise.get(name) for name in self.source.data.factors.names]

    def right_factors(self) -> tuple[str, ...]:
        """Return an assumption on factors that nothing was said of, if there are any."""
        right = [name for name in self.source.data.factors.names if name not in self.noise]
        return (f"The annotations of {', '.join(map(repr, right))} are right.",) if right else ()

    def signature(self, method: str, **options: object) -> Signature:
        """Return the method with its options as one line."""
        noise = "+".join(f"{name}:{one.kind}" for name, one in self.noise.items())
        context = {"noise": noise, "rows": str(self.source.data.n)}
        return Signature(method, {**options, "level": self.run.level, "seed": self.run.seed}, context)


# Signed tables of a representation with noisy factors -----------------------------------------------------------------


def signed_tables(case: Case, settings: TableSettings) -> tuple[tuple[InformationTable, ...], tuple[Note, ...]]:
    """Return informations of true values under transitions, which each resample estimates again, and notes on them.

    The tables have a leading axis: the estimate, then its resamples. The first is by the transitions; where a factor is
    audited, the second is by the audited rows, whatever their errors depend on.
    """
    data, n = case.source.data, case.source.data.n
    of_codes, of_factors = column_bins(data.codes, data.factors, settings.binning)
    errors = [
        None if known is None else known.in_bins(factor, bins)
        for known, factor, bins in zip(case.of_factors, data.factors.columns, of_factors, strict=True)
    ]
    rows = PackedRows(bin_rows(data.codes, data.factors, of_codes, of_factors), factor_pairs=False)
    weights: list[Floats] = []
    counts: list[JointCounts] = []
    transitions: list[list[Floats | None]] = []
    notes: list[Note] = []
    member = np.zeros(n, dtype=np.intp)  # rows that no audit has, and those of each audit, are resampled separately
    for place, known in enumerate(case.noise.values()):
        member[known.rows] += 1 << place
    groups = [np.flatnonzero(member == label) for label in np.unique(member)]
    blocks = []
    resamples = case.run.n_bootstrap or RESAMPLES
    for index in range(-1, resamples):  # all rows first
        rng, weight = None, np.ones(n)
        if index >= 0:
            rng = rng_for(case.run.seed, "corrected", "bootstrap", index)
            chosen = [group[rng.integers(0, group.size, group.size)] for group in groups]
            weight = np.bincount(np.concatenate(chosen), minlength=n).astype(np.float64)
        weights.append(weight)
        counts.append(rows.count(weight))
        transitions.append([])
        for one, factor, table in zip(errors, data.factors.columns, counts[-1].tables, strict=True):
            matrix = None if one is None else one.transition(one.placed(table[:1])[0].sum(axis=0), weight, rng)
            transitions[-1].append(matrix)
            if index < 0 and one is not None and matrix is not None:
                notes += _doubts(one, matrix, factor, weight)
        entries = (len(counts) + 1) * max(sum(table.size for table in counts[0].tables), n)
        if entries > BLOCK_ENTRIES or index == resamples - 1:
            blocks.append(_informations(rows, errors, counts, transitions, weights))
            weights, counts, transitions = [], [], []
    tables = []
    for own in zip(*blocks, strict=True):
        joint = np.concatenate([one.joint_entropy for one in own if one.joint_entropy is not None])
        informations, entropies = (
            np.concatenate(parts) for parts in zip(*((one.information, one.factor_entropy) for one in own), strict=True)
        )
        tables.append(InformationTable(informations, entropies, joint, code_bins=own[0].code_bins))
    return tuple(tables), tuple(notes)


def refuse_singular(transition: Floats, factor: str) -> None:
    """Raise if a transition that was estimated undoes nothing."""
    if np.linalg.svd(transition, compute_uv=False)[-1] < SINGULAR:
        raise NotCorrected(
            f"the transition of {quoted(factor)}, as it was counted, is too close to one that loses classes; "
            "count more rows, join classes that are mistaken for each other, or take method 'audited'"
        )


def _doubts(errors: NoiseOfFactor, transition: Floats, factor: Factor, weights: Floats) -> list[Note]:
    """Return what must be known of a transition, or raise why it undoes nothing."""
    notes, subject = [], (factor.name,)
    if not factor.categorical:
        message = (
            f"errors of {quoted(factor.name)} cross an edge of its bins more often near an edge, and codes that know "
            "the value know that too: a transition between bins corrects too much; method 'audited' does not need that"
        )
        notes.append(Note(code="transition-between-bins", message=message, subject=subject, severity="warning"))
    if errors.kind == "transition":
        return notes
    refuse_singular(transition, factor.name)
    uncounted = int((errors.counted(weights).sum(axis=1) == 0).sum())
    if uncounted:
        message = (
            f"{uncounted} of {len(errors.classes)} true values of factor {quoted(factor.name)} were never counted, and "
            "are taken as annotated right"
        )
        notes.append(Note(code="never-counted", message=message, subject=subject, severity="warning"))
    return notes


def _informations(
    rows: PackedRows,
    errors: Sequence[NoiseOfFactor | None],
    counts: Sequence[JointCounts],
    transitions: Sequence[Sequence[Floats | None]],
    weights: Sequence[Floats],
) -> list[InformationTable]:
    """Return informations of several counts of the rows, with a transition of each factor for each.

    Where a factor is audited, the second are by audited rows: the table of all rows plus what true values change in the
    one of the audited rows.
    """
    tables, undone = [], []
    for i, one in enumerate(errors):
        table = np.stack([own.tables[i] for own in counts])
        tables.append(table if one is None else one.placed(table))
        undone.append(
            None if one is None else np.stack([matrix for own in transitions if (matrix := own[i]) is not None])
        )
    bins = counts[0].code_bins
    found = [signed_table(JointCounts(tuple(tables), {}, bins), undone)]
    audited = {i: one for i, one in enumerate(errors) if one is not None and one.kind == "audit"}
    for i, one in audited.items():
        total = tables[i][:, :1].sum(axis=(-2, -1), keepdims=True)
        tables[i] = tables[i] + total * np.stack([one.shift(rows, weight) for weight in weights])
        undone[i] = np.eye(len(one.classes))
    return [*found, signed_table(JointCounts(tuple(tables), {}, bins), undone)] if audited else found
