"""Pictures of an evaluation: the interventional one of codes and factors, and rows that are kept to be drawn."""

import numpy as np

from demele.core.arrays import Floats
from demele.core.results import Dependency, RowSample
from demele.core.seeds import rng_for
from demele.estimation.counts import factor_bins
from demele.estimation.discretise import Binning
from demele.estimation.linear_recovery import ValueOrder
from demele.metrics.data import Data

#: No more pairs than a reader can look at; rows beyond this many are sampled evenly.
MAX_PAIRS = 400
MAX_ROWS = 4_000
#: Quantiles between which a band is drawn.
ENDS = (0.05, 0.95)
#: Rows, and values, that are kept: what a page can hold, and an eye can read.
MOST_ROWS, MOST_VALUES = 1_500, 120_000
#: More codes than a page draws.
MOST_CODES = 200


def dependency_pictures(data: Data, binning: Binning, robustness: Floats) -> tuple[Dependency, ...]:
    """Return, for each code and factor, the code's conditional mean and range per value of the factor.

    ``robustness`` is the matrix of IRS (n_codes, n_factors). Source: Suter et al. 2019, section 5, figure of the
    interventional effects. Empty for over 400 pairs.
    """
    if data.codes.d * data.factors.m > MAX_PAIRS:
        return ()
    if data.n > MAX_ROWS:
        data = data.take(np.linspace(0, data.n - 1, MAX_ROWS).astype(np.intp))
    labels, n_bins = data.factor_labels(binning)
    codes = data.codes.dense()
    pictures = []
    for factor, own in enumerate(data.factors.columns):
        edges = factor_bins(own, binning)
        levels = (
            own.levels
            if edges is None
            else tuple(f"{(a + b) / 2:.3g}" for a, b in zip(edges.edges[:-1], edges.edges[1:], strict=True))
        )
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
