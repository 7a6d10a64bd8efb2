"""Codes of several columns: rows in memory as a source whose codes are groups of columns.

Metrics of information see a table as always: the joint cells of a group replace the bins of a column, or, if there are
too many, boosted trees on unseen rows bound its information; nearest neighbours are searched among the vectors. Metrics
of rows that know groups find them in ``data.groups``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from demele.core.arrays import Array, Floats, Rows
from demele.core.columns import Factor
from demele.core.errors import InputError, NotEnoughData
from demele.core.given_data import CodeGroups, read_code_groups
from demele.core.inputs import Codes
from demele.core.result import Note, Severity
from demele.estimation.counts import MAX_ENTRIES, BinnedRows, Binning, JointCounts, PackedRows
from demele.estimation.independence import Finding
from demele.estimation.information import InformationTable, entropy
from demele.estimation.linear_recovery import Basis, canonical, explained_share, largest_with_classes, mid_ranks
from demele.estimation.univariate import unit_vectors
from demele.metrics.data import Data, TableSettings, folds
from demele.metrics.guards import ASK, listed
from demele.metrics.metric import Metric
from demele.metrics.source import InMemory, Subject, bootstrap_weights, nearest_neighbours_of_groups
from demele.runtime.work import one_thread

# Several columns as one code ------------------------------------------------------------------------------------------

#: Stages of boosting at most, how many without gain end it, and the depth of a tree.
BOOSTED: dict[str, Any] = {"max_iter": 200, "n_iter_no_change": 5, "max_depth": 3, "learning_rate": 0.1}
#: Stages where classes are too rare to set rows aside that say when to stop.
FEW_STAGES = 20


# Cells ----------------------------------------------------------------------------------------------------------------


def joint_rows(rows: BinnedRows, groups: Sequence[Sequence[int]], skipped: Iterable[int] = ()) -> BinnedRows:
    """Return rows whose codes are the groups: the bins of a column alone, and the joint cells of several.

    Parameters
    ----------
    rows : BinnedRows
        By column.
    groups : sequence of columns
    skipped : iterable of int
        Groups that are not counted: all of their rows are in one cell.

    Examples
    --------
    >>> two = np.array([2, 2])
    >>> rows = BinnedRows(np.array([[0, 0, 1], [0, 1, 1]]), np.zeros((0, 3), dtype=int), two, two[:0], two[:0] > 0)
    >>> joint_rows(rows, [(0, 1)]).codes.tolist()
    [[0, 1, 2]]
    """
    cells = np.zeros((len(groups), rows.n), dtype=np.intp)
    sizes = np.ones(len(groups), dtype=np.intp)
    for place in sorted({*range(len(groups))} - {*skipped}):
        columns = groups[place]
        if len(columns) == 1:
            cells[place], sizes[place] = rows.codes[columns[0]], rows.code_bins[columns[0]]
            continue
        for column in columns:  # only cells that hold rows: empty ones would multiply
            joint = cells[place] * int(rows.code_bins[column]) + rows.codes[column]
            held, cells[place] = np.unique(joint, return_inverse=True)
            sizes[place] = len(held)
    return BinnedRows(cells, rows.factors, sizes, rows.factor_bins, rows.incomplete)


def held_out_losses(columns: Floats, labels: Rows, n_classes: int, folds: Iterable[tuple[Rows, Rows]]) -> Floats:
    r"""Return the loss :math:`-\log p(v \mid z)` of each row, nats, under boosted trees that have not seen it.

    Entropy minus the mean loss is a lower bound, on average, of the information of all columns together. Probabilities
    are mixed with even ones as if each class had one row more, so that none is 0.

    Parameters
    ----------
    columns : array of shape (n_samples, n_columns)
    labels : array of int of shape (n_samples,)
        Classes 0 ... ``n_classes`` - 1.
    n_classes : int
    folds : iterable of (training rows, test rows)
        Each row is in the test rows of one.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    losses = np.zeros(len(labels))
    for train, test in folds:
        present, sizes = np.unique(labels[train], return_counts=True)
        likely = np.zeros((len(test), n_classes))
        likely[:, present] = 1.0  # of a single class
        if len(present) > 1:
            few = sizes.min() < 2 or len(train) < 20 * len(sizes)  # a tenth of the rows must hold every class
            stages = {"max_iter": FEW_STAGES, "early_stopping": False} if few else {"early_stopping": True}
            trees = HistGradientBoostingClassifier(**{**BOOSTED, **stages}, random_state=0)
            likely[:, present] = trees.fit(columns[train], labels[train]).predict_proba(columns[test])
        own = likely[np.arange(len(test)), labels[test]]
        losses[test] = -np.log((len(train) * own + 1.0) / (len(train) + n_classes))
    return losses


# Correlations ---------------------------------------------------------------------------------------------------------


def multiple_correlation(columns: Floats, factor: Factor, *, ranks: bool = False) -> float:
    r"""Return the largest correlation of a factor with any weighted sum of columns, adjusted for chance.

    .. math:: \tilde R^2 = 1 - (1 - R^2) \frac{N - 2}{N - 1 - r}

    r the rank of the columns: it has the mean of one column, 1 / (N - 1), for independent columns, so that groups of
    different sizes compare; negative values count 0. For classes, it is the unadjusted first canonical correlation of
    the columns with the indicators; for a cyclic factor, with its cosine and sine.

    Parameters
    ----------
    columns : array of shape (n_samples, n_columns)
    factor : Factor
        On the same rows; only those where it is annotated are looked at.
    ranks : bool
        Of mid-ranks, column by column.
    """
    known = factor.annotated()
    values, basis = factor.values[known], _basis(columns[known], ranks)
    if basis is None:
        return 0.0
    if factor.categorical:
        return largest_with_classes(basis, values, len(factor.levels))
    if factor.cyclic:
        return float(canonical(basis, Basis.of(factor.coordinates[known]))[0][0])
    return float(np.sqrt(share_beyond_chance(basis, mid_ranks(values[:, None])[:, 0] if ranks else values)))


def _basis(columns: Floats, ranks: bool) -> Basis | None:
    """Return the directions of columns, or of their ranks; None where nothing varies."""
    basis = Basis.of(mid_ranks(columns) if ranks else columns) if len(columns) > 1 else None
    return basis if basis is not None and basis.rank else None


def share_beyond_chance(basis: Basis, values: Floats) -> float:
    """Return the share of the variance of values, (n,) or (n, k), that columns explain, minus the share by chance."""
    share, left = explained_share(basis, values), len(values) - 1 - basis.rank
    if np.isnan(share) or left < 1:
        return 0.0
    return max(1.0 - (1.0 - share) * (len(values) - 2) / left, 0.0)


def best_direction(columns: Floats, factor: Factor, *, ranks: bool = False) -> Floats:
    """Return the weights of the columns, (n_columns,), whose sum goes best with a factor; zeros where none does.

    Of ranks, the weights of mid-ranks.
    """
    known, nothing = factor.annotated(), np.zeros(columns.shape[1])
    values, basis = factor.values[known], _basis(columns[known], ranks)
    if basis is None:
        return nothing
    if factor.kind != "continuous":
        classes = (values[:, None] == np.arange(len(factor.levels))).astype(np.float64)
        other = Basis.of(factor.coordinates[known] if factor.cyclic else classes)
        return canonical(basis, other)[1][:, 0] if other.rank else nothing
    numbers = np.asarray(values, dtype=np.float64)[:, None]
    unit, varies = unit_vectors(mid_ranks(numbers) if ranks else numbers, 1e-24)
    return basis.directions @ basis.with_columns(unit)[:, 0] if varies[0] else nothing


# Distances ------------------------------------------------------------------------------------------------------------


def vector_robustness(
    columns: Floats,
    labels: Array,
    *,
    quantile: float = 1.0,
    normaliser: Literal["quantile", "maximum"] = "quantile",
    value_weights: Literal["frequency", "uniform"] = "frequency",
) -> tuple[Floats, float]:
    """Return the interventional robustness of a vector of columns given each factor, and its largest deviation.

    As :func:`demele.estimation.irs.crossed_deviations` for one column, with the Euclidean distance from the mean
    vector instead of the distance from the mean.

    Parameters
    ----------
    columns : array of shape (n_samples, n_columns)
        Standardised.
    labels : array of int of shape (n_samples, n_factors)
        Values as integers from 0; -1 where a factor is not annotated.

    Returns
    -------
    tuple of (array of shape (n_factors,), float)
        NaN and 0 for a vector that does not vary.
    """
    of_all = quantile if normaliser == "quantile" else 1.0
    largest = _distance(columns, of_all)
    robust = np.full(labels.shape[1], np.nan)
    if not largest > 0:
        return robust, 0.0
    for factor in range(labels.shape[1]):
        known = labels[:, factor] >= 0
        own, values = columns[known], labels[known, factor]
        overall = _distance(own, of_all) if len(own) else 0.0
        held, sizes = np.unique(values, return_counts=True)
        within = np.array([_distance(own[values == value], quantile) for value in held])
        weights = sizes / sizes.sum() if value_weights == "frequency" else np.full(len(held), 1.0 / len(held))
        robust[factor] = 1.0 - float(within @ weights) / overall if overall > 0 else np.nan
    return robust, largest / float(np.sqrt(max((columns.std(axis=0) > 0).sum(), 1)))


def _distance(columns: Floats, quantile: float) -> float:
    distances = np.sqrt(np.square(columns - columns.mean(axis=0)).sum(axis=1))
    found = float(np.quantile(distances, quantile))
    return found if found > 1e-12 * max(float(np.abs(columns).max()), 1e-300) else 0.0


#: Rows for each joint cell of a group: with fewer, most cells hold a row or two, and everything seems to be told.
ROWS_PER_CELL = 5
#: Several of the trees that bound the information of a group of more cells.
FOLDS = 5
#: Share of its variance that the first component of a group must hold to stand for it without a warning.
MOSTLY = 0.9


def in_groups(source: InMemory, code_groups: object, reduce: object = None) -> InMemory:
    """Return the same rows with codes that are groups of columns.

    Parameters
    ----------
    source : InMemory
    code_groups : mapping of name to columns, or sequence with a label for each column
    reduce : None or "pca1"
        Replace the columns of each group by their first principal component.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
    """
    if code_groups is None:
        raise InputError("reduce", "reduces groups of columns; pass `groups=`")
    groups = read_code_groups(code_groups, source.data.codes.names)
    said: dict[str, object] = {"code_groups": dict(zip(groups.names, groups.columns, strict=True))}
    if reduce is None and groups.joint:
        return Grouped(source, groups, said)
    if not groups.joint:
        codes = replace(source.data.codes, names=groups.names)
        return InMemory(source.subject("rows").with_codes(codes, said), source.data.codes_std)
    # one column for each group, as papers on vector-valued codes do
    if source.data.codes_std is not None:
        raise InputError("std", "standard deviations of columns say nothing of their components; leave them out")
    dense = source.data.codes.dense()
    columns, notes = np.empty((len(dense), len(groups.names))), []
    for place, (name, own) in enumerate(zip(groups.names, groups.columns, strict=True)):
        if len(own) == 1:
            columns[:, place] = dense[:, own[0]]
            continue
        centred = dense[:, own] - dense[:, own].mean(axis=0)
        _, lengths, right = np.linalg.svd(centred, full_matrices=False)
        weights = right[0] * np.sign(right[0][np.argmax(np.abs(right[0]))])  # the sign must not depend on the solver
        columns[:, place] = centred @ weights
        share = float(lengths[0] ** 2 / max(float(np.square(lengths).sum()), 1e-300))
        message = f"group {name!r} is its first principal component, which holds {share:.0%} of its variance"
        if share < MOSTLY:
            message += ": what the others tell is lost, and where two are as large, which one it is, is arbitrary"
        severity: Severity = "info" if share >= MOSTLY else "warning"
        notes.append(Note(code="reduced-group", message=message, subject=(name,), severity=severity))
    codes = Codes(columns, groups.names, columns.min(axis=0), columns.max(axis=0))
    return InMemory(source.subject("rows").with_codes(codes, {**said, "reduce_groups": reduce}, notes))


class Grouped(InMemory):
    """Rows in memory whose codes are groups of columns, at least one of them of several.

    Parameters
    ----------
    source : InMemory
        The same rows, each column a code.
    groups : CodeGroups
    said : mapping
        What signatures say of the groups.
    """

    name = "data in memory with codes in groups"
    in_groups = True

    def __init__(self, source: InMemory, groups: CodeGroups, said: Mapping[str, object]) -> None:
        of_columns = source.subject("rows")
        super().__init__(of_columns)
        self.groups, self._columns = groups, source
        self.data = Data(source.data.codes, source.data.factors, None, groups)
        whole = source.data.codes
        chosen = [next((one for one in columns if not whole.constant[one]), columns[0]) for columns in groups.columns]
        codes = Codes(np.asarray(whole.values[:, chosen]), groups.names, whole.low[chosen], whole.high[chosen])
        self._of_groups = replace(of_columns, codes=codes, arguments=said)
        sizes = [len(columns) for columns in groups.columns]
        fewest, most = min(sizes), max(sizes)
        if fewest < most:
            message = f"groups of codes have {fewest} to {most} columns: by chance the larger ones tell more; {ASK}"
            note = Note(code="unequal-groups", message=message, subject=groups.names)
            self._of_groups = replace(self._of_groups, notes=(*of_columns.notes, note))

    def state_for(self, metric: Metric, options: Mapping[str, Any]) -> str | None:
        """Return the input of a metric that knows groups: a table of counts, or rows with groups."""
        counted = options.get("estimator", "histogram") != "robust" and not metric.soft
        known = {"table": counted, "rows": metric.in_groups}
        usable = (state for state in metric.states if known.get(state))
        return next((state for state in usable if metric.reads(state, self, options)), None)

    def no_state_for(self, metric: Metric, options: Mapping[str, Any]) -> NotEnoughData:
        """Return why a metric has no form for codes in groups."""
        reason = "has no form for codes of several columns; score it without groups"
        if "table" in metric.states and options.get("estimator") == "robust":
            reason = "looks at ties column by column, and ranks of several columns have no order"
            reason += ": it needs `estimator='histogram'` or `estimator='knn'`"
        return NotEnoughData("groups", f"{metric.name} {reason}")

    def subject(self, state: str, options: Mapping[str, Any] | None = None) -> Subject:
        """Return the groups as codes; where a table is read, with a note on those whose information is a bound."""
        asked = options or {}
        binned = state == "table" and "bins" in asked and asked.get("estimator", "histogram") == "histogram"
        uncounted = self.uncounted(asked["bins"]) if binned else ()
        if not uncounted:
            return self._of_groups
        names = tuple(self.groups.names[place] for place in uncounted)
        message = (
            f"the information of {listed(names, 5)} is a lower bound, from boosted trees on rows that they have not "
            f"seen: of {self.data.n:,} rows, joint cells of so many columns would hold fewer than {ROWS_PER_CELL} each"
        )
        note = Note(code="lower-bound", message=message, subject=names)
        return replace(self._of_groups, notes=(*self._of_groups.notes, note))

    def transformed(self, matrix: Floats, names: Sequence[str]) -> InMemory:
        """Refuse: a map of all columns leaves no groups."""
        raise InputError("groups", "columns in groups are not mixed with others; leave the groups out")

    def table_of_columns(self, settings: TableSettings) -> InformationTable:
        """Return the table of the columns, each by itself."""
        return self._columns.table(settings)

    def finding(self, options: Mapping[str, Any] | None = None) -> Finding | None:
        """Say what single columns tell; where they tell nothing, groups still may, and nothing is said."""
        found = super().finding(options)
        return found if found is not None and found.detected else None

    # Tables: joint cells, and bounds where they would be too many ---------------------------------------------------

    def uncounted(self, binning: Binning) -> tuple[int, ...]:
        """Return the groups whose joint cells are too many for the rows; decided once, on all rows."""

        def found() -> tuple[int, ...]:
            rows = self.data.binned(binning)
            bins = np.array([np.count_nonzero(np.bincount(column)) for column in rows.codes], dtype=np.float64)
            fewest = min(factor.n_annotated for factor in self.data.factors.columns)
            room = MAX_ENTRIES / (len(self.groups.names) * max(int(rows.factor_bins.sum()), 1))
            most = min(fewest / ROWS_PER_CELL, room)
            cells = {place: float(np.prod(bins[list(self.groups.columns[place])])) for place in self.groups.joint}
            return tuple(place for place, number in cells.items() if number > most)

        return self._kept(("uncounted", binning), found)

    def _binned(self, data: Data, binning: Binning) -> BinnedRows:
        return joint_rows(data.binned(binning), self.groups.columns, self.uncounted(binning))

    def counts_behind(self, settings: TableSettings) -> JointCounts | None:
        """Return the counts of all rows, of joint cells against factors; a group that is not counted has one cell."""
        if settings.correction != "none" or settings.estimator != "histogram":
            return None
        return PackedRows(self._binned(self.data, settings.binning), factor_pairs=False).count()

    def _table(self, data: Data, settings: TableSettings, pairs: bool) -> InformationTable:
        if settings.estimator == "knn":
            return replace(nearest_neighbours_of_groups(data, settings, pairs=pairs), code_range=data.code_range)
        packed = PackedRows(self._binned(data, settings.binning), factor_pairs=pairs)
        return self._table_of(packed, self._lost(data, settings), settings, data)

    def _table_of(
        self, packed: PackedRows, losses: Floats, settings: TableSettings, data: Data, weights: Floats | None = None
    ) -> InformationTable:
        """Turn counts into a table, in which bounds stand for what is not counted: entropy minus mean loss."""
        table = self._of_counts(packed.count(weights), settings, data)
        places, rows = list(self.uncounted(settings.binning)), packed.rows
        if not places:
            return table
        information = table.information.copy()
        statistic, freedom = (None if part is None else part.copy() for part in (table.statistic, table.freedom))
        for factor, (labels, n_bins) in enumerate(zip(rows.factors, rows.factor_bins, strict=True)):
            own = np.where(labels < n_bins, 1.0 if weights is None else weights, 0.0)
            counts = np.bincount(labels, weights=own, minlength=int(n_bins) + 1)[: int(n_bins)].astype(np.float64)
            total = float(own.sum())
            told = np.maximum(entropy(counts) - losses[:, factor] @ own / total, 0.0)
            information[places, factor] = told
            if statistic is not None and freedom is not None:  # above 0, unseen rows say that something is told
                statistic[places, factor], freedom[places, factor] = 2.0 * total * told, 1.0
        return replace(
            table, information=information, joint_entropy=None, statistic=statistic, freedom=freedom, counts=None
        )

    def _weighted(self, settings: TableSettings, n_draws: int, seed: int, pairs: bool) -> Iterator[InformationTable]:
        """Yield tables of rows drawn as weights: bounds lose what the trees lost on the rows that were drawn."""
        packed = PackedRows(self._binned(self.data, settings.binning), factor_pairs=pairs)
        losses = self._lost(self.data, settings)
        for index in range(n_draws):
            yield self._table_of(packed, losses, settings, self.data, bootstrap_weights(self.data.n, seed, index))

    def _lost(self, data: Data, settings: TableSettings) -> Floats:
        """Return losses of unseen rows, (uncounted groups, n_factors, n_samples), nats; those of all rows are kept."""
        places = self.uncounted(settings.binning)
        losses = np.zeros((len(places), data.factors.m, data.n))

        def filled() -> Floats:
            rows, dense = data.binned(settings.binning), data.codes.dense()
            with one_thread("sklearn.ensemble"):
                for factor, (labels, n_bins) in enumerate(zip(rows.factors, rows.factor_bins, strict=True)):
                    known = np.flatnonzero(labels < n_bins)
                    for index, place in enumerate(places):
                        own = dense[known][:, list(self.groups.columns[place])]
                        parts = folds(len(known), FOLDS)
                        losses[index, factor, known] = held_out_losses(own, labels[known], int(n_bins), parts)
            return losses

        if not places:
            return losses
        return self._kept(("losses", settings.binning), filled) if data is self.data else filled()
