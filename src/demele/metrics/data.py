"""The rows that metrics work on, how they are split and drawn: validated codes, and the factors that vary."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from demele.core.arrays import Array, Floats, Rows, rng_for
from demele.core.columns import CHUNK, RowBlocks
from demele.core.errors import NotEnoughData
from demele.core.given_data import CodeGroups
from demele.core.inputs import Codes, Factor, Factors
from demele.core.result import Note
from demele.core.results import Dependency, RowSample
from demele.estimation.counts import BinnedRows, Binning, bin_factor, bin_rows, column_bins, factor_bins
from demele.estimation.information import Correction
from demele.estimation.linear_recovery import ValueOrder
from demele.metrics.metric import Native
from demele.metrics.options import Bins, Estimator, as_binning

#: Standard deviations beyond which a value is an outlier: no column of a few thousand Gaussian values reaches it.
OUTLYING = 8.0
#: Of the distance that one value among so few rows can have at all, the share from which it is an outlier.
OUTLYING_SHARE = 0.95
#: Among fewer rows, ordinary values come as far.
FEWEST_FOR_OUTLIERS = 12
#: What winsorised columns keep.
CENTRAL = (0.005, 0.995)


def _reaches_out(values: Array, low: float, high: float) -> bool:
    """Whether the farthest value is an outlier; a chunk of rows at a time.

    Of a column that is mostly zeros, as sparse codes are, the other values are looked at: a value is no outlier for not
    being 0.
    """
    if low == high:
        return False
    n, count, total, squares = 0, 0, 0.0, 0.0  # of the values that are not 0, as shares of their range
    of_zero = -low / (high - low)
    for start in range(0, len(values), CHUNK):
        chunk = np.asarray(values[start : start + CHUNK], dtype=np.float64)
        known = share = (chunk - low) / (high - low)
        missing = np.isnan(share)
        n += len(share) - int(np.count_nonzero(missing))
        if missing.any() or np.count_nonzero(chunk) < len(chunk):
            known = share[~missing & (chunk != 0)]
        count, total, squares = count + len(known), total + float(known.sum()), squares + float(known @ known)
    ends = [0.0, 1.0]
    if 2 * count < n:
        ends = [end for end, value in zip(ends, (low, high), strict=True) if value != 0]
    else:
        total, squares, count = total + (n - count) * of_zero, squares + (n - count) * of_zero**2, n
    mean = total / count
    deviation = np.sqrt(max(squares / count - mean**2, 1e-300))
    # no value is farther than (n - 1) / sqrt(n), which is under 8 for fewer than 66 rows
    far = OUTLYING_SHARE * (count - 1) / math.sqrt(max(count, 1)) if count >= FEWEST_FOR_OUTLIERS else OUTLYING
    return bool(max(abs(end - mean) for end in ends) / deviation > min(OUTLYING, far))


def _clipped(values: Array) -> Array:
    """Return a column clipped to the central 99% of its values; both ends are values of the column.

    Of a column that is mostly zeros, the other values are clipped.
    """
    known = values[~np.isnan(values)]
    others = known[known != 0]
    sparse = 2 * len(others) < len(known)
    if sparse:
        known = others
    low, high = CENTRAL
    clipped: Array = np.clip(values, np.quantile(known, low, method="higher"), np.quantile(known, high, method="lower"))
    return np.where(values == 0, values, clipped) if sparse else clipped


class Moments(Protocol):
    """Means, squares and cross products of all rows."""

    n: int

    def squared_correlations(self) -> Floats:
        """Return those of codes and factors, (n_codes, n_factors)."""

    def code_variances(self) -> Floats:
        """Return the variances of the codes, in their own unit."""


@dataclass(frozen=True, slots=True)
class TableSettings:
    """Everything that changes an information table.

    ``soft``: rows are spread over bins by the standard deviations of the codes. ``one_by_one``: nearest neighbours of
    each code by itself, with its own noise against ties, which is what Latte does for DLIG.
    """

    binning: Binning
    estimator: Estimator = "histogram"
    correction: Correction = "none"
    n_neighbors: int = 3
    seed: int = 0
    soft: bool = False
    one_by_one: bool = False

    @property
    def resamples_by_weight(self) -> bool:
        """Whether a resample of the rows is a weighting of bins computed once."""
        return self.estimator == "histogram" and not self.soft


@dataclass(frozen=True, slots=True)
class Data:
    """Codes and (not constant) factors, row by row; optionally the standard deviations of stochastic codes.

    ``groups``: which columns are one code together; None where each column is a code.
    ``drawn_from``: of how many rows these are a random part, whose spread is to tell the one of the whole; 0: of none.
    ``transitions``: how the levels of categorical factors are mistaken, (K, K) with rows true levels, by factor;
    formulas that can undo errors do.
    ``blocks``: rows that depend on each other, which chance permutes together; None where all rows are independent.
    """

    codes: Codes
    factors: Factors
    codes_std: Floats | None = None
    groups: CodeGroups | None = None
    drawn_from: int = 0
    transitions: Mapping[str, Floats] = field(default_factory=dict)
    blocks: RowBlocks | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.codes.n

    @property
    def n_codes(self) -> int:
        """Number of codes: of groups, where columns are in groups."""
        return self.codes.d if self.groups is None else len(self.groups.names)

    def summed_by_code(self, values: Floats) -> Floats:
        """Return values of columns (n_columns, ...) as those of codes: of groups, their sums."""
        if self.groups is None:
            return values
        return np.stack([values[list(columns)].sum(axis=0) for columns in self.groups.columns])

    @property
    def code_range(self) -> Floats:
        """The range of each code: of a group, of its widest column."""
        spans = self.codes.high - self.codes.low
        return self.by_code(spans, lambda own: spans[own].max())

    def by_code(self, of_columns: Floats, of_group: Callable[[list[int]], Any]) -> Floats:
        """Return values of columns, (n_columns, ...), as those of codes; those of several columns are looked up."""
        if self.groups is None:
            return of_columns
        columns = map(list, self.groups.columns)
        return np.array([of_columns[own[0]] if len(own) == 1 else of_group(own) for own in columns])

    def columns_of(self, codes: Sequence[int]) -> list[int]:
        """Return the columns of some codes: of groups, all of theirs."""
        if self.groups is None:
            return list(codes)
        return [column for code in codes for column in self.groups.columns[code]]

    def transition_of(self, factor: Factor) -> Floats | None:
        """Return how the levels of a factor are mistaken; None if it is taken as right.

        Raises
        ------
        NotEnoughData
            If some levels do not occur in these rows.
        """
        transition = self.transitions.get(factor.name)
        if transition is not None and len(transition) != len(factor.levels):
            missing = f"{len(transition) - len(factor.levels)} values of factor {factor.name!r}"
            raise NotEnoughData("factors", f"{missing} are not in these rows")
        return transition

    def _of_rows(self, **changed: Any) -> "Data":
        """Return other rows: neither drawn from as many, nor in the same blocks."""
        return replace(self, **{"drawn_from": 0, "blocks": None, **changed})

    def take(self, rows: Rows) -> "Data":
        """Return some rows."""
        std = None if self.codes_std is None else self.codes_std[rows]
        return self._of_rows(codes=self.codes.take(rows), factors=self.factors.take(rows), codes_std=std)

    def copied(self) -> "Data":
        """Return the same rows in arrays of its own."""
        codes = replace(self.codes, values=self.codes.values.copy())
        columns = tuple(replace(factor, values=factor.values.copy()) for factor in self.factors.columns)
        std = None if self.codes_std is None else self.codes_std.copy()
        return self._of_rows(codes=codes, factors=replace(self.factors, columns=columns), codes_std=std)

    def shuffled(self, seed: int, index: int) -> "Data":
        """Return the same codes with the factors as chance has them: rows permuted, of dependent ones whole blocks."""
        return self._of_rows(factors=self.factors.take(self.chance_order(seed, index)))

    def chance_order(self, seed: int, index: int) -> Rows:
        """Return an order of the factors' rows as chance has it; of dependent rows whole blocks are permuted."""
        rng = rng_for(seed, "chance", index)
        return rng.permutation(self.n) if self.blocks is None else self.blocks.permutation(rng)

    def arrays(self) -> tuple[Floats, Floats]:
        """Return codes and factors as plain arrays, classes as level numbers and NaN where not annotated: a copy."""
        columns = [np.where(factor.annotated(), factor.values, np.nan) for factor in self.factors.columns]
        return self.codes.dense().copy(), np.column_stack([column.astype(np.float64) for column in columns])

    def outlying(self) -> tuple[str, ...]:
        """Names of codes and continuous factors with values over 8 standard deviations from their mean."""
        codes = self.codes
        columns = [*zip(codes.names, codes.values.T, codes.low.tolist(), codes.high.tolist(), strict=True)]
        continuous = (factor for factor in self.factors.columns if factor.kind == "continuous")
        columns += [(factor.name, factor.values, factor.low, factor.high) for factor in continuous]
        return tuple(name for name, values, low, high in columns if _reaches_out(values, low, high))

    def winsorised(self, names: Collection[str]) -> "Data":
        """Return the same rows with the named columns clipped to their central 99%."""
        values = self.codes.dense().copy()
        for index, name in enumerate(self.codes.names):
            if name in names:
                values[:, index] = _clipped(values[:, index])
        factors = []
        for factor in self.factors.columns:
            if factor.name in names and not factor.categorical:
                clipped = _clipped(factor.values)
                low, high = float(np.nanmin(clipped)), float(np.nanmax(clipped))
                if low < high:  # else all but the outliers are one value: without them nothing varies
                    factor = replace(factor, values=clipped, low=low, high=high)
            factors.append(factor)
        codes = Codes(values, self.codes.names, values.min(axis=0), values.max(axis=0))
        return self._of_rows(codes=codes, factors=replace(self.factors, columns=tuple(factors)))

    def standardised(self) -> Floats:
        """Codes with mean 0 and standard deviation 1; constant codes are 0."""
        values = self.codes.dense()
        centred = values - values.mean(axis=0)
        reach = np.maximum(self.codes.high, -self.codes.low)
        if (reach[~self.codes.constant] > 1e100).any() or (reach[~self.codes.constant] < 1e-100).any():
            scale = np.abs(centred).max(axis=0)  # squares would leave the range of floats
            centred /= np.where(scale > 0, scale, 1.0)
        deviation = np.sqrt(np.einsum("ij,ij->j", centred, centred) / self.n)
        alive = ~self.codes.constant & (deviation > 0)
        centred /= np.where(alive, deviation, 1.0)
        centred[:, ~alive] = 0.0
        return np.asarray(centred)

    def deviations(self) -> Floats:
        """Return the standard deviation of each code in its own unit, 0 for a constant one."""
        values = self.codes.dense()
        scale = np.maximum(self.codes.high, -self.codes.low)  # first, or squares would leave the range of floats
        scale = np.where(scale > 0, scale, 1.0)
        deviation: Floats = scale * (values / scale).std(axis=0)
        return np.where(self.codes.constant, 0.0, deviation)

    def binned(self, bins: Bins) -> BinnedRows:
        """Return the bin of every code and factor, row by row."""
        return bin_rows(self.codes, self.factors, *column_bins(self.codes, self.factors, as_binning(bins)))

    def factor_labels(self, bins: Bins) -> tuple[Rows, list[int]]:
        """Return the factors as level numbers (n_samples, n_factors), -1 where not annotated, and how many levels."""
        binning = as_binning(bins)
        labels = np.empty((self.n, self.factors.m), dtype=np.intp, order="F")  # read and written by column
        n_levels: list[int] = []
        for index, factor in enumerate(self.factors.columns):
            own = factor_bins(factor, binning)
            n_levels.append(len(factor.levels) if own is None else own.n_bins)
            labels[:, index] = bin_factor(factor, own)
            if not factor.complete:
                labels[labels[:, index] >= n_levels[-1], index] = -1
        return labels, n_levels


# Rows of metrics that fit: annotated ones, and their split into training and test rows --------------------------------


def annotated_rows(factor: Factor, codes: Floats) -> tuple[Floats, Floats]:
    """Return the codes and the factor's coordinates on the rows where it is annotated."""
    if factor.complete:
        return codes, factor.coordinates
    rows = factor.annotated()
    return codes[rows], factor.coordinates[rows]


def fewer_than_asked(n: int, n_train: int | None, n_test: int | None) -> tuple[Note, ...]:
    """Say so where a split of the sizes asked for is scaled down to the rows that there are."""
    asked = (n_train or 0) + (n_test or 0)
    if asked <= n:
        return ()
    message = f"the split asked for needs {asked:,} rows; with {n:,} it was scaled down in proportion"
    return (Note(code="scaled-split", message=message, severity="warning"),)


def sizes(n: int, n_train: int | None, n_test: int | None) -> tuple[int, int]:
    """Return sizes of training and test rows: as asked for, or halves; scaled down where rows are too few."""
    if n_train is None and n_test is None:
        n_train = n // 2
    train = max(n - (n_test or 0), 0) if n_train is None else n_train
    test = n - train if n_test is None else n_test
    if train + test > n:
        train = n * train // (train + test)
        test = n - train
    return train, test


def split(n: int, n_train: int | None, n_test: int | None, rng: np.random.Generator, what: str) -> tuple[Rows, Rows]:
    """Split rows at random into training and test rows."""
    train, test = sizes(n, n_train, n_test)
    if min(train, test) < 2:
        raise NotEnoughData(what, f"expected at least 4 annotated rows to split into training and test, got {n}")
    order = rng.permutation(n)
    return np.sort(order[:train]), np.sort(order[train : train + test])


def factor_splits(
    data: Data, n_train: int | None, n_test: int | None, score_on: str, streams: Callable[..., np.random.Generator]
) -> Iterator[tuple[int, Factor, Rows, Rows]]:
    """Yield the training and test rows of each factor.

    They are the same where all rows are annotated for all factors: probes then share their products of codes.
    """
    shared = split(data.n, n_train, n_test, streams("rows"), "codes") if data.factors.complete else None
    for index, factor in enumerate(data.factors.columns):
        rows, name = np.flatnonzero(factor.annotated()), f"factor {factor.name!r}"
        train, test = shared or tuple(
            rows[part] for part in split(len(rows), n_train, n_test, streams("factor", index), name)
        )
        yield index, factor, *((rows, rows) if score_on == "training" else (train, test))


def above(share: float | Floats, chance: float | Floats, report: str) -> Floats:
    """Accuracies or areas above chance, or as they are."""
    if report == "unscaled":
        return np.asarray(share)
    return np.asarray((share - chance) / (1 - chance))


def folds(n: int, n_folds: int) -> Iterator[tuple[Rows, Rows]]:
    """Yield training and test rows of each fold of a random partition of the rows, the same for every seed.

    Raises
    ------
    NotEnoughData
        If a fold would have fewer than two rows.
    """
    if n < 2 * n_folds:
        raise NotEnoughData("cross_fit", f"expected at least {2 * n_folds} rows for {n_folds} folds, got {n}")
    order = rng_for(0, "folds").permutation(n)
    for part in np.array_split(order, n_folds):
        inside = np.zeros(n, dtype=bool)
        inside[part] = True
        yield np.flatnonzero(~inside), np.flatnonzero(inside)


# Pictures of an evaluation --------------------------------------------------------------------------------------------

#: No more pairs than a reader can look at; rows beyond this many are sampled evenly.
MAX_PAIRS = 400
MAX_ROWS = 4_000
#: Quantiles between which a band is drawn.
ENDS = (0.05, 0.95)
#: Rows, and values, that are kept: what a page can hold, and an eye can read.
MOST_ROWS, MOST_VALUES = 1_500, 120_000
#: More codes than a page draws.
MOST_CODES = 200


def dependency_pictures(data: Data, options: Mapping[str, Any], native: Native) -> tuple[Dependency, ...]:
    """Return, for each code and factor, the code's conditional mean and range per value of the factor.

    ``native`` is what IRS gave. Source: Suter et al. 2019, section 5, figure of the interventional effects. Empty for
    over 400 pairs, and for codes in groups.
    """
    robustness, binning = native.matrix, options["bins"]
    if robustness is None or data.groups is not None or data.codes.d * data.factors.m > MAX_PAIRS:
        return ()
    if data.n > MAX_ROWS:
        data = data.take(np.linspace(0, data.n - 1, MAX_ROWS).astype(np.intp))
    labels, n_bins = data.factor_labels(binning)
    codes = data.codes.dense()
    pictures = []
    for factor, own in enumerate(data.factors.columns):
        edges = factor_bins(own, binning)
        levels = own.levels if edges is None else tuple(f"{(a + b) / 2:.3g}" for a, b in pairwise(edges.edges))
        groups = ValueOrder.of(labels[:, factor], n_bins[factor])
        for code, name in enumerate(data.codes.names):
            if data.codes.constant[code]:
                continue
            parts = groups.parts(codes[groups.order, code])
            drawn = [(np.clip(part.mean(), part.min(), part.max()), *np.quantile(part, ENDS)) for part in parts]
            mean, low, high = np.array(drawn).reshape(-1, 3).T.tolist()
            pictures.append(
                Dependency(
                    code=name,
                    factor=own.name,
                    levels=tuple(levels[place] for place in groups.present),
                    mean=tuple(mean),
                    low=tuple(low),
                    high=tuple(high),
                    count=tuple(groups.count.tolist()),
                    score=float(robustness[code, factor]),
                )
            )
    return tuple(pictures)


def rows_for_pictures(data: Data, *, n: int, seed: int) -> RowSample | None:
    """Return some rows, of ``n``, in a random order; None where there are more codes than a page draws."""
    if data.codes.d > MOST_CODES:
        return None
    most = min(MOST_ROWS, MOST_VALUES // (data.codes.d + data.factors.m), data.n)
    drawn = data.take(rng_for(seed, "rows for pictures").permutation(data.n)[:most])
    columns = drawn.factors.columns
    return RowSample(
        codes=drawn.codes.dense(),
        code_names=drawn.codes.names,
        factors={factor.name: np.asarray(factor.values) for factor in columns},
        levels={factor.name: factor.levels for factor in columns if factor.categorical},
        n=n,
    )
