"""Information of sparse codes on factors, and their squared correlations: block by block, in one process or more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from demele.core.inputs import Factor, Factors
from demele.core.sparse_inputs import SparseCodes
from demele.estimation.counts import JointCounts
from demele.estimation.discretise import Binning, ColumnBins
from demele.estimation.information import Correction, InformationTable, entropy, information_table
from demele.estimation.sparse_counts import (
    Block,
    FactorLevels,
    blocks,
    count_block,
    factor_levels,
    nonzero_bins,
    number_of_bins,
    squared_correlation_block,
)
from demele.metrics.data import Array
from demele.runtime.progress import Report
from demele.runtime.work import completed


@dataclass(frozen=True, slots=True)
class SparseTable:
    """What was read off all codes.

    Attributes
    ----------
    information : InformationTable
        Of all codes and all varying factors.
    code_entropy : array of shape (n_codes,), nats
        Of each code's bins, zero among them, over all rows.
    squared_correlations : array of shape (n_codes, n_factors) or None
        NaN for categorical factors; None where not asked for.
    chance : array of shape (n_codes, n_factors), nats
        First-order bias (B_z - 1)(B_v - 1) / 2n of plug-in information.
    """

    information: InformationTable
    code_entropy: Array
    squared_correlations: Array | None
    chance: Array


@dataclass(frozen=True, slots=True)
class _Work:
    """All that a block needs."""

    codes: SparseCodes
    bins: Sequence[ColumnBins | None]
    levels: Sequence[FactorLevels]
    information: Callable[[JointCounts, Correction], InformationTable]
    correction: Correction
    continuous: Sequence[Factor]


@dataclass(frozen=True, slots=True)
class _Done:
    block: Block
    information: InformationTable
    code_entropy: Array
    squares: Array


def _counted(block: Block, work: _Work) -> _Done:
    counts, alone = count_block(work.codes, work.bins, work.levels, block)
    table = work.information(counts, work.correction)
    squares = squared_correlation_block(work.codes, work.continuous, block)
    return _Done(block, table, entropy(alone, work.correction), squares)


def sparse_table(
    codes: SparseCodes,
    factors: Factors,
    binning: Binning,
    factor_binning: Binning,
    correction: Correction,
    *,
    correlations: bool,
    n_jobs: int,
    report: Report | None,
    information_of: Callable[[JointCounts, Correction], InformationTable] = information_table,
) -> SparseTable:
    """Work through all blocks of codes; a block's numbers depend on nothing but the data.

    ``information_of`` turns the joint counts of a block into information.
    """
    from joblib import parallel_config

    bins = nonzero_bins(codes, binning)
    levels = factor_levels(factors, factor_binning)
    index = [place for place, factor in enumerate(factors.columns) if correlations and not factor.categorical]
    work = _Work(codes, bins, levels, information_of, correction, [factors.columns[place] for place in index])
    parts = blocks(codes, bins, levels)
    information, joint = np.empty((codes.d, factors.m)), np.empty((codes.d, factors.m))
    statistic, freedom = np.zeros((codes.d, factors.m)), np.zeros((codes.d, factors.m))
    code_entropy, squares = np.empty(codes.d), np.full((codes.d, factors.m), np.nan)
    factor_entropy = np.empty(factors.m)
    n_bins = number_of_bins(codes, bins)
    with parallel_config(backend="threading"):  # NumPy lets go of the interpreter, and the codes are not copied
        for count, done in enumerate(completed(partial(_counted, work=work), parts, n_jobs=n_jobs)):
            if report is not None:
                report(count, len(parts), "counting")
            own = slice(done.block.first, done.block.last)
            information[own] = done.information.information
            if done.information.joint_entropy is not None:
                joint[own] = done.information.joint_entropy
            if done.information.statistic is not None and done.information.freedom is not None:
                statistic[own], freedom[own] = done.information.statistic, done.information.freedom
            factor_entropy[:] = done.information.factor_entropy
            code_entropy[own] = done.code_entropy
            squares[own, index] = done.squares
    flat = n_bins == 1  # a single bin tells nothing: exactly nothing, where sums of logarithms leave rounding
    information[flat], joint[flat] = 0.0, factor_entropy
    return SparseTable(
        InformationTable(information, factor_entropy, joint, None, n_bins, statistic, freedom),
        code_entropy,
        squares if index else None,
        _chance(n_bins, levels, factors),
    )


def _chance(n_bins: NDArray[np.intp], levels: Sequence[FactorLevels], factors: Factors) -> Array:
    cells = (n_bins - 1)[:, None] * np.array([factor.n_levels - 1 for factor in levels])
    chance: Array = cells / (2.0 * np.array([factor.n_annotated for factor in factors.columns]))
    return chance


def spread(values: Array, factors: Factors, active: list[int]) -> Array:
    """Put values of the varying factors into the order of all factors, NaN elsewhere (last axis)."""
    if len(active) == factors.m:
        return values
    full = np.full((*values.shape[:-1], factors.m), np.nan)
    full[..., active] = values
    return full
