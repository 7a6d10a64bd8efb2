"""Information tables from nearest neighbours: as scikit-learn estimates them, and on ranks, ties respected."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.core.inputs import Factor
from demele.estimation.discretise import Binning, EqualFrequency, cut
from demele.estimation.information import InformationTable, entropy, mutual_information
from demele.metrics.data import Data, TableSettings

#: Codes of which more than this share of the rows repeat another row's value are binned, not given to neighbours.
TIES = 0.01
#: Nearest-neighbour estimates of independent variables spread by about 0.8 / sqrt(n) nats around 0 (k = 3); what lies
#: within nearly four times that is taken for 0, so that a code of noise informs on nothing rather than on one factor.
NOISE_FLOOR = 3.0


def _columns(factors: tuple[Factor, ...]) -> list[tuple[bool, Floats]]:
    return [(factor.categorical, np.asarray(factor.values)) for factor in factors]


def nearest_neighbours(data: Data, settings: TableSettings, *, pairs: bool) -> InformationTable:
    """Information as scikit-learn estimates it, factor entropies as the information of a factor with itself (Latte)."""
    from demele.estimation.knn import knn_factor_information, knn_information_matrix

    columns = data.factors.columns
    floor = NOISE_FLOOR / np.sqrt(max(min(factor.n_annotated for factor in columns), 1))
    k, seed = settings.n_neighbors, settings.seed % 2**32  # as far as scikit-learn's generator goes
    drawn: dict[str, Any] = {"n_neighbors": k, "jitter_seed": seed, "one_by_one": settings.one_by_one}
    if all(factor.complete for factor in columns):
        information = knn_information_matrix(data.codes.dense(), _columns(columns), **drawn)
        if not pairs:
            alone = [knn_factor_information([one], n_neighbors=k, jitter_seed=seed) for one in _columns(columns)]
            return InformationTable(information, np.ravel(alone), floor=floor)
        between = knn_factor_information(_columns(columns), n_neighbors=k, jitter_seed=seed)
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
        return nearest_neighbours(data, settings, pairs=pairs)
    of_columns = nearest_neighbours(data, settings, pairs=pairs)
    joint = [data.groups.columns[place] for place in data.groups.joint]
    information = np.empty((data.groups.n, data.factors.m))
    information[list(data.groups.alone)] = of_columns.information[data.groups.single_columns]
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
    from demele.estimation.knn import tie_fraction

    codes, columns = data.codes.dense(), data.factors.columns
    tied = np.array([tie_fraction(codes[:, index]) > TIES for index in range(data.codes.d)])
    bins = EqualFrequency(int(np.clip(round(2 * data.n ** (1 / 3)), 10, 256)))
    information = np.empty((data.codes.d, len(columns)))
    for i, factor in enumerate(columns):
        rows = factor.annotated()
        values = factor.values[rows]
        binned = tied.copy()
        if not factor.categorical and tie_fraction(values) > TIES:
            binned[:] = True
        if (~binned).any():
            own = codes[rows][:, ~binned]
            information[~binned, i] = _neighbours(own, factor, values, settings.n_neighbors)
        for code in np.flatnonzero(binned):
            information[code, i] = _binned_information(codes[rows, code], factor, values, bins)
        information[data.codes.constant, i] = 0.0
        information[information[:, i] < NOISE_FLOOR / np.sqrt(factor.n_annotated), i] = 0.0
    entropies = np.array(
        [
            float(entropy(np.bincount(factor.values[factor.values >= 0]).astype(float)))
            if factor.categorical
            else np.nan
            for factor in columns
        ]
    )
    varies = np.array([not factor.constant for factor in columns])  # in half of the rows, one may not
    relative = np.where(
        np.isnan(entropies),
        1.0 - np.exp(-2.0 * np.maximum(information, 0.0)),
        information / np.where(varies, entropies, 1.0),
    )
    unit = varies.astype(np.float64)
    relative = np.clip(relative, 0.0, 1.0)
    if not pairs:
        return InformationTable(relative, unit)
    between = np.diag(unit)
    for i, a in enumerate(columns):
        for k in range(i + 1, len(columns)):
            both = a.annotated() & columns[k].annotated()
            table = _crossed(*(_labels(one, one.values[both], EqualFrequency(10)) for one in (a, columns[k])))
            shared = float(np.maximum(mutual_information(table, "miller-madow"), 0.0))
            heights = [max(float(entropy(table.sum(axis=axis))), 1e-12) for axis in (1, 0)]
            between[i, k], between[k, i] = (min(shared / height, 1.0) for height in heights)
    return InformationTable(relative, unit, None, between)


def _neighbours(codes: Floats, factor: Factor, values: Floats, n_neighbors: int) -> Floats:
    from demele.estimation.knn import ksg_information, ross_information

    if factor.categorical:
        labels = values.astype(np.intp)
        return np.maximum(ross_information(codes, labels, n_neighbors=n_neighbors, distances="direct"), 0.0)
    target = _normal_scores(np.asarray(values, dtype=np.float64))
    found = [ksg_information(_normal_scores(code), target, n_neighbors=n_neighbors) for code in codes.T]
    return np.maximum(found, 0.0)


def _normal_scores(values: Floats) -> Floats:
    from scipy.special import ndtri
    from scipy.stats import rankdata

    scores: Floats = ndtri(rankdata(values) / (len(values) + 1))
    return scores


def _labels(factor: Factor, values: Floats, binning: Binning) -> Floats:
    if factor.categorical:
        return values
    values = np.asarray(values, dtype=np.float64)
    return cut(values, binning.column_bins(values, float(values.min()), float(values.max()))).astype(np.float64)


def _binned_information(code: Floats, factor: Factor, values: Floats, bins: Binning) -> float:
    if code.min() == code.max():
        return 0.0
    own = cut(code, bins.column_bins(code, float(code.min()), float(code.max())))
    table = _crossed(own, _labels(factor, values, bins))
    return float(np.maximum(mutual_information(table, "miller-madow"), 0.0))


def _crossed(first: NDArray[Any], second: NDArray[Any]) -> Floats:
    first, second = first.astype(np.intp), second.astype(np.intp)
    width = int(second.max()) + 1
    counts = np.bincount(first * width + second, minlength=(int(first.max()) + 1) * width)
    return counts.reshape(-1, width).astype(np.float64)
