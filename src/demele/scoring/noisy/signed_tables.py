"""Signed tables of a representation with noisy factors: of all rows, and of resamples in which errors vary too."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from demele.core.arrays import Floats, Rows
from demele.core.errors import quoted
from demele.core.inputs import Factor
from demele.core.results import Note
from demele.core.seeds import rng_for
from demele.estimation.counts import JointCounts, PackedRows, bin_rows, column_bins
from demele.estimation.discretise import ColumnBins, cut
from demele.estimation.information import InformationTable
from demele.estimation.signed_information import audited_transition, counted_transition, signed_table
from demele.metrics.data import TableSettings
from demele.metrics.source import BLOCK_ENTRIES
from demele.scoring.noisy.case import SINGULAR, Case, NoiseOfFactor, NotCorrected, Work


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
    rows: Rows | None = None
    true: Rows | None = None
    given: Rows | None = None

    def counted(self, weights: Floats | None = None) -> Floats:
        """Return counts (K, K), rows true values, for an estimate of the transition; of all rows by their weights.

        Raises
        ------
        ValueError
            If the transition is known.
        """
        if self.counts is not None:
            return self.counts
        if self.rows is None or self.true is None or self.given is None:
            raise ValueError("nothing was counted")
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
            if errors is None or errors.rows is None:
                shifted.append(table)
                kept.append(matrices)
                continue
            shifts = [self._shift(errors, None if weights is None else weights[k]) for k in range(len(counts))]
            total = table[:, :1].sum(axis=(-2, -1), keepdims=True)
            shifted.append(table + total * np.stack(shifts))
            kept.append(np.eye(errors.n_classes))
        bins = counts[0].code_bins
        found = signed_table(JointCounts(tuple(tables), {}, bins), undone)
        if all(errors is None or errors.rows is None for errors in self.errors):
            return found, None
        return found, signed_table(JointCounts(tuple(shifted), {}, bins), kept)

    def _shift(self, errors: Errors, weights: Floats | None) -> Floats:
        """Return what true values change in the table of audited rows (n_codes, bins, K), as shares of these rows."""
        if errors.rows is None or errors.true is None or errors.given is None:
            raise ValueError("no audited rows")
        codes = self.rows.rows.codes[:, errors.rows]
        d, most, k = len(codes), int(self.rows.rows.code_bins.max()), errors.n_classes
        weight = np.ones(errors.rows.size) if weights is None else weights[errors.rows]
        cells = (np.arange(d)[:, None] * most + codes) * k
        of_true, of_given = (
            np.bincount((cells + column).ravel(), np.tile(weight, d), minlength=d * most * k)
            for column in (errors.true, errors.given)
        )
        return np.asarray((of_true - of_given).reshape(d, most, k) / weight.sum())


def binned(case: Case, settings: TableSettings) -> Binned | NotCorrected:
    """Return the rows in bins with what is known of the errors, or why that does not fit the bins."""
    data = case.source.data
    of_codes, of_factors = column_bins(data.codes, data.factors, settings.binning)
    errors: list[Errors | None] = []
    for known, factor, bins in zip(case.of_factors, data.factors.columns, of_factors, strict=True):
        one = None if known is None else _errors(known, factor, bins)
        if isinstance(one, NotCorrected):
            return one
        errors.append(one)
    rows = bin_rows(data.codes, data.factors, of_codes, of_factors)
    return Binned(PackedRows(rows, factor_pairs=False), tuple(errors))


def _errors(known: NoiseOfFactor, factor: Factor, bins: ColumnBins | None) -> Errors | NotCorrected:
    """Match what is known to the columns of a table; of a continuous factor these are its bins."""
    if known.kind == "rate":
        return NotCorrected(
            f"only a rate is known of {quoted(factor.name)}, from which nothing but bounds follows; a transition, or "
            "an audit of rows drawn at random, would correct it"
        )
    if bins is None:
        n_classes, position = len(known.classes), known.position
    else:
        n_classes, position = bins.n_bins, np.arange(bins.n_bins, dtype=np.intp)
    if position is None or (known.matrix is not None and len(known.matrix) != n_classes):
        return NotCorrected(
            f"the metric cuts factor {quoted(factor.name)} into {n_classes} bins, and its transition has "
            f"{0 if known.matrix is None else len(known.matrix)} classes; give one between these bins, or an audit"
        )
    if known.kind == "transition":
        return Errors(factor.name, n_classes, position, matrix=known.matrix)
    if known.kind == "counts":
        return Errors(factor.name, n_classes, position, counts=known.matrix)
    if known.rows is None or known.values is None:
        raise ValueError("an audit without rows")
    annotated = factor.annotated()[known.rows]
    rows, values = known.rows[annotated], known.values[annotated]
    given = np.asarray(factor.values)[rows]
    true = values if bins is None else cut(np.asarray(values, dtype=np.float64), bins)
    coded = position[given.astype(np.intp)] if bins is None else cut(np.asarray(given, dtype=np.float64), bins)
    return Errors(factor.name, n_classes, position, rows=rows, true=true.astype(np.intp), given=coded.astype(np.intp))


def signed_tables(case: Case, settings: TableSettings) -> SignedTables | NotCorrected:
    """Return informations of true values under a transition, which each resample estimates again."""
    found = binned(case, settings)
    if isinstance(found, NotCorrected):
        return found
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
            return NotCorrected(
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
    for place, one in enumerate(one for one in case.noise.factors.values() if one.rows is not None):
        if one.rows is not None:
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
