"""OMES: overlap and multiple encoding of factors, from total effects of factors on codes (Dapueto et al. 2024)."""

from collections.abc import Sequence
from typing import Literal, Unpack

import numpy as np

from demele.core.arrays import Floats
from demele.core.errors import NotEnoughData
from demele.core.kinds import Share
from demele.core.uncertainty import Note
from demele.estimation.cells import (
    CellSums,
    correlation_effects,
    correlations_of_sums,
    is_grid,
    summarise_cells,
    total_effects,
)
from demele.estimation.counts import ColumnBins, factor_bins
from demele.metrics.data import Data
from demele.metrics.guards import FRAGILE, listed
from demele.metrics.metric import Guards, Metric, Native
from demele.metrics.options import Bins, RunOptions, as_binning

#: Rows beyond the number of cells, below which an effect is hardly known.
FEW_FREE = 30
#: Distance of the score of perfect codes from 1 that is told.
TOLD_FROM = 0.005
MATRIX_OF = "total effect of a factor on a code"


def pooled(effect: Floats, pooling: str, overlap_weight: float) -> Floats:
    """Return the score of each factor from effects (n_codes, n_factors) of the codes that vary.

    A code's overlap score for factor i is 1 minus its mean distance, over factors, from a code of factor i alone; its
    encoding score is 1 minus the mean distance, over codes, of the factor's effects from those on this code alone.
    """
    d, m = effect.shape
    # |1 - t| in place of |t| for the one that is meant
    own = np.abs(1.0 - effect) - effect
    overlap = 1.0 - (effect.sum(axis=1, keepdims=True) + own) / m
    encoding = 1.0 - (effect.sum(axis=0, keepdims=True) + own) / d
    scores = []
    for quality in (overlap, encoding):
        product = quality * effect
        if pooling == "max":
            scores.append(product.max(axis=0))
            continue
        weight = effect.sum(axis=0)
        mean = (product * effect).sum(axis=0) / np.where(weight > 0, weight, 1.0)
        scores.append(np.where(weight > 0, mean, 0.0))
    result: Floats = overlap_weight * scores[0] + (1.0 - overlap_weight) * scores[1]
    return result


@Metric(
    title="OMES",
    family="intervention",
    properties=("modularity", "compactness"),
    native="per factor",
    range=(0.0, 1.0),
    source="Dapueto et al. 2024; Homma & Saltelli 1996",
    references=("dapueto2024transferring", "homma1996importance"),
    definition="how far the total effects of factors on codes are from one code for each factor",
    aliases=("OMES",),
    when={CellSums: lambda source, options: bool(source.knows_bins(options["bins"]))},
    guards=Guards(outliers="move it", bins=False, fewest_rows=50),
    undefined="all codes are constant",
    probe=("bins", (5, 2, 3, 8, 10)),
    in_groups=True,
    in_all=False,
)
def omes(
    state: CellSums | Data,
    *,
    bins: Bins = 5,
    effect: Literal["total", "published"] = "total",
    variance: Literal["auto", "plug-in", "unbiased"] = "auto",
    pooling: Literal["weighted", "max"] = "weighted",
    overlap_weight: Share = 0.5,
    **run: Unpack[RunOptions],
) -> Native:
    r"""Overlap and multiple encoding score, from total effects of factors on codes: modularity and compactness.

    .. math:: T_{ij} = \frac{E[\mathrm{Var}(z_j | v_{-i})]}{\mathrm{Var}(z_j)},\quad
        O_{ij} = 1 - \frac1M \sum_k |[k = i] - T_{kj}|,\quad E_{ij} = 1 - \frac1d \sum_l |[l = j] - T_{il}|

    What is left of a code's variance while factor i alone varies is its total effect. The overlap scores
    :math:`O_{ij} T_{ij}` of a factor are pooled over the d codes that vary, its encoding scores
    :math:`E_{ij} T_{ij}` too; OMES is the mean of both, and of the M factors.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit. Constant codes are left out.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Continuous factors are cut into ``bins``. Rows that lack an annotation are left out.
    bins : int, str, Binning or edges, default 5
        Few: effects rest on rows that agree on the bins of all factors but one, and inside a bin the others still vary
        (the total effect of another factor on a perfect code of a uniform one is 1 / bins squared, not 0, and so each
        further factor lowers the score of perfect codes: a note says to what).
    effect : {"total", "published"}
        The total effect, or 1 - \|correlation\| of a code over pairs of rows that differ in factor i alone, as
        published: a perfect code of a factor of K values then has the effect 1 - 1 / (K - 1), 0 for K = 2, and not 1.
    variance : {"auto", "plug-in", "unbiased"}
        Of variances within cells, divisor n or n - 1. ``"auto"``: n, which is exact, where the factors are classes and
        the rows all their combinations, equally often; n - 1 for any other rows. Estimates above 1 count as 1.
    pooling : {"weighted", "max"}
        The mean over codes weighted by the effects, or the maximum, which does not see further codes.
    overlap_weight : float in [0, 1], default 0.5
        1 is modularity alone, 0 compactness alone.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1, NaN where all codes are constant; ``per_factor``, 0 for a factor that moves no code;
        ``matrix``: total effects (n_codes, n_factors); ``details["usable_rows"]``: by factor, the share of rows that
        agree with another on all other factors.

    Raises
    ------
    InputError, InputTypeError
    NotEnoughData
        If no two rows agree on all factors but some one.

    Notes
    -----
    Dapueto, Noceti & Odone 2024. Published code draws pairs of rows without replacement, so that no pair has equal
    values: perfect codes of factors of 3, 3 and 4 values score 0.48 by it, and of 2, 2 and 4 values 0.20. Codes of
    noise vary as much whatever is held fixed: their total effects are all 1, and they score (1/M + 1/d) / 2 for any
    number of rows. Ask for ``n_permutations``. It says nothing of explicitness: a code that forgets half of a factor's
    values scores 1. O(N n_codes n_factors).

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> with_sum = np.column_stack([factors, factors.sum(axis=1)])
    >>> round(demele.metrics.omes(with_sum, demele.Factors(factors, kinds="categorical")).value, 6)
    0.694444
    """
    names: Sequence[str]
    sizes: Sequence[ColumnBins | None]
    if isinstance(state, CellSums):
        names, sizes, cells, known = state.names, state.bins, state.cells, state.cells.count > 0
    else:
        names, sizes = state.factors.names, [factor_bins(one, as_binning(bins)) for one in state.factors.columns]
        labels, n_levels = state.factor_labels(bins)
        known = np.asarray((labels >= 0).all(axis=1))
    if not known.any():
        raise NotEnoughData("factors", "no row is annotated for all factors")
    if isinstance(state, Data):
        codes, labels = state.standardised()[known], labels[known]
        cells = summarise_cells(codes, list(labels.T), n_levels)
    if effect == "total":  # rows are a sample, unless they are all combinations of classes, equally often
        grid = all(one is None for one in sizes) and is_grid(cells)
        found = total_effects(cells, unbiased=variance == "unbiased" or (variance == "auto" and not grid))
    elif isinstance(state, Data):
        found = correlation_effects(codes, labels, n_levels)
    else:
        found = correlations_of_sums(cells, cells.total, state.squares)
    for name, n_rows in zip(names, found.rows, strict=True):
        if not n_rows:
            problem = f"no two rows agree on all factors but {name!r}; use fewer bins, fewer factors or more rows"
            raise NotEnoughData("factors", problem)
    effects = found.effect
    if (
        isinstance(state, Data) and state.groups is not None
    ):  # of a group, the part of the sum of its columns' variances
        varies = np.asarray(~np.isnan(effects).any(axis=1))
        counts = state.summed_by_code(np.asarray(varies, dtype=np.float64))[:, None]
        sums = state.summed_by_code(np.asarray(np.where(varies[:, None], effects, 0.0)))
        effects = np.where(counts > 0, sums / np.maximum(counts, 1.0), np.nan)
    alive = ~np.isnan(effects).any(axis=1)
    per_factor = np.full(len(names), np.nan)
    if alive.any():
        per_factor = pooled(np.minimum(effects[alive], 1.0), pooling, overlap_weight)
    shares = ", ".join(f"{name} {rows / found.n:.0%}" for name, rows in zip(names, found.rows, strict=True))
    message = f"rows that agree with another on all factors but one ({found.n} rows): {shares}"
    thin = [name for name, rows, cells in zip(names, found.rows, found.cells, strict=True) if rows - cells < FEW_FREE]
    if thin:
        message += f"; few for the effect of {listed(thin)}: use fewer bins, fewer factors or more rows"
    notes = [Note(code="usable-rows", message=message, severity="fragile" if thin else "info")]
    # what perfect codes would score, where factors still vary inside their bins
    left = np.array([0.0 if one is None else 1.0 / max(one.n_bins, 1) ** 2 for one in sizes])
    ideal = np.repeat(left[:, None], len(left), axis=1)
    np.fill_diagonal(ideal, 1.0)
    best = float(pooled(ideal, pooling, overlap_weight).mean())
    if best <= 1.0 - TOLD_FROM:
        message = (
            "continuous factors still vary inside their bins, which weighs more the more factors there are: perfect "
            f"codes of uniform factors would score {best:.3f}; more bins need more rows"
        )
        notes.append(Note(code="ceiling", message=message, severity="fragile" if best < 1.0 - FRAGILE else "info"))
    return Native(
        value=np.asarray(per_factor.mean()),
        per_factor=per_factor,
        matrix=effects,
        matrix_of=MATRIX_OF,
        details={"usable_rows": {name: float(rows / found.n) for name, rows in zip(names, found.rows, strict=True)}},
        notes=tuple(notes),
    )
