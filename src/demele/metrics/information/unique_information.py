"""Unique information: what a code tells of a factor that all others together do not (Tokui & Sato 2022)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats, Rows
from demele.core.errors import NotEnoughData
from demele.core.kinds import Count
from demele.core.results import Note
from demele.estimation.cells import Partition
from demele.estimation.counts import BinnedRows, PackedRows, bin_rows, column_bins, joint_counts
from demele.estimation.information import (
    Correction,
    InformationTable,
    beyond_chance,
    entropy,
    information_table,
    mutual_information,
)
from demele.estimation.joint_codes import joint_rows
from demele.metrics.data import Data
from demele.metrics.guards import FRAGILE
from demele.metrics.metric import MATRIX, Guards, Metric, Native, Streams
from demele.metrics.options import Bins, RunOptions, as_binning

#: Rows for each combination of bins of the codes, from which informations are counted in such cells.
ROWS_PER_CELL = 5
LEARNING_RATE = 0.2


def counted(cells: Partition, levels: Rows, known: NDArray[np.bool_], correction: Correction) -> float:
    """Return the information of cells on the levels of a factor, in nats."""
    k = int(levels[known].max()) + 1
    table = np.bincount(cells.group[known] * k + levels[known], minlength=cells.n * k).reshape(cells.n, k)
    found = table[table.any(axis=1)][:, table.any(axis=0)].astype(np.float64)
    return max(float(mutual_information(found, correction)), 0.0)


def boosted(codes: Floats, levels: Rows, rng: np.random.Generator, n_trees: int) -> float:
    """Return a lower bound of the information of codes: entropy minus the log-loss of boosted trees on unseen rows."""
    from demele.estimation.boosting_importance import boosted_log_loss

    if not codes.shape[1]:
        return 0.0
    loss, scored = boosted_log_loss(codes, levels, rng=rng, n_trees=n_trees, learning_rate=LEARNING_RATE)
    return max(float(entropy(np.bincount(scored).astype(np.float64))) - loss, 0.0)


def most_unique(alone: Floats, of_others: Callable[[int], float]) -> tuple[float, int]:
    """Return the largest excess of a code's information over that of all others, and the code.

    No excess is larger than the code's own information: codes that tell less than an excess found need no look.
    """
    best, code = 0.0, int(alone.argmax())
    for j in np.argsort(-alone, kind="stable"):
        if alone[j] <= best:
            break
        excess = float(alone[j]) - of_others(int(j))
        if excess > best:
            best, code = excess, int(j)
    return best, code


@dataclass(frozen=True, slots=True)
class _Binned:
    """Rows in bins, and what single codes tell of factors by counts."""

    rows: BinnedRows
    table: InformationTable

    @classmethod
    def of(cls, data: Data, bins: Bins) -> "_Binned":
        cut = column_bins(data.codes, data.factors, as_binning(bins))
        rows = bin_rows(data.codes, data.factors, *cut)
        if data.groups is None:
            return cls(rows, information_table(joint_counts(data.codes, data.factors, *cut)))
        rows = joint_rows(rows, data.groups.columns)
        return cls(rows, information_table(PackedRows(rows, factor_pairs=False).count()))

    def known(self, factor: int) -> NDArray[np.bool_]:
        """Rows that are annotated for a factor."""
        found: NDArray[np.bool_] = self.rows.factors[factor] < self.rows.factor_bins[factor]
        return found

    def without(self, code: int) -> Partition:
        """Put rows together that agree on the bins of all codes but one."""
        chosen = [j for j in range(len(self.rows.codes)) if j != code]
        sizes = [int(self.rows.code_bins[j]) for j in chosen]
        return Partition.of([self.rows.codes[j] for j in chosen], sizes, self.rows.n)


def of_cells(binned: _Binned, rest: list[Partition], correction: Correction) -> Native:
    """Count informations in cells of the bins of all codes but one."""
    alone, levels = np.zeros_like(binned.table.information), binned.rows.factors
    single = [
        Partition.of([labels], [int(size)], binned.rows.n)
        for labels, size in zip(binned.rows.codes, binned.rows.code_bins, strict=True)
    ]

    def excess(factor: int) -> tuple[float, int]:
        known = binned.known(factor)
        alone[:, factor] = [counted(one, levels[factor], known, correction) for one in single]
        return most_unique(alone[:, factor], lambda code: counted(rest[code], levels[factor], known, correction))

    return _shared(binned, alone, [excess(factor) for factor in range(len(levels))], "cells")


def of_trees(data: Data, binned: _Binned, streams: Streams, n_trees: int) -> Native:
    """Bound informations from below by boosted trees on unseen rows; codes that tell nothing are not fitted alone."""
    codes, informs = data.codes.dense(), beyond_chance(binned.table)
    alone = np.zeros_like(binned.table.information)

    def told(factor: int, chosen: list[int]) -> float:
        known = binned.known(factor)
        # the same rows to fit and to score for all sets of codes
        return boosted(
            codes[known][:, data.columns_of(chosen)],
            binned.rows.factors[factor][known],
            streams("trees", factor),
            n_trees,
        )

    def excess(factor: int) -> tuple[float, int]:
        for code in np.flatnonzero(informs[:, factor]):
            alone[code, factor] = told(factor, [int(code)])
        others = [[j for j in range(data.n_codes) if j != code] for code in range(data.n_codes)]
        return most_unique(alone[:, factor], lambda code: told(factor, others[code]))

    native = _shared(binned, alone, [excess(factor) for factor in range(data.factors.m)], "boosting")
    message = (
        "informations are lower bounds, by boosted trees on unseen rows; their difference is an estimate, no bound"
    )
    return replace(native, notes=(Note(code="estimate", message=message),))


def _shared(binned: _Binned, alone: Floats, found: list[tuple[float, int]], joint: str) -> Native:
    """Relate excesses to the entropies of the factors."""
    shares = np.minimum(np.array([excess for excess, _ in found]) / binned.table.factor_entropy, 1.0)
    codes = [code if excess > 0 else None for excess, code in found]
    return Native(
        value=np.asarray(shares.mean()),
        per_factor=shares,
        matrix=alone,
        matrix_of=MATRIX,
        details={"joint": joint, "code": codes},
    )


@Metric(
    title="Unique information",
    family="information",
    properties=("compactness",),
    native="per factor",
    range=(0.0, 1.0),
    source="Tokui & Sato 2022 (UniBound)",
    references=("tokui2022disentanglement",),
    definition="information of a code on a factor beyond that of all others together, relative to the entropy",
    aliases=("UniBound",),
    guards=Guards(outliers="move it", bins=False, fewest_rows=100),
    slow=2,
    probe=("bins", (10, 3, 5, 20, 40)),
    in_groups=True,
    in_all=False,
)
def unique_information(
    data: Data,
    streams: Streams,
    *,
    bins: Bins = 10,
    joint: Literal["auto", "cells", "adjusted", "boosting"] = "auto",
    n_trees: Count = 30,
    **run: Unpack[RunOptions],
) -> Native:
    r"""UniBound: information on each factor that one code has and all others together have not: compactness.

    .. math:: u_i = \max_j [I(v_i; z_j) - I(v_i; z_{-j})]_+ / H(v_i)

    The excess is the lower bound of a code's unique information. It sees copies and rotations that MIG, which compares
    single codes, does not.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Continuous factors are cut into ``bins``.
    bins : int, str, Binning or edges, default 10
        Of codes too, where informations are counted.
    joint : {"auto", "cells", "adjusted", "boosting"}
        How informations of several codes are found: counted in the combinations of their bins, which is refused with
        fewer than 5 rows for each; the same, adjusted for chance as MIG's; or their lower bounds by boosted trees,
        entropy less log-loss on unseen rows. ``"auto"``: cells where there are rows enough, else trees. Compare scores
        of one way only: ``details["joint"]``.
    n_trees : int, default 30
        Stages of boosting.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1, 0 where every code can be spared; ``per_factor``; ``matrix``: information of each code
        alone (n_codes, n_factors) in nats; ``details["code"]``: the code with the largest excess on each factor, by its
        place, or None.

    Raises
    ------
    InputError, InputTypeError
    NotEnoughData
        If informations are to be counted in more combinations than a fifth of the rows.

    Notes
    -----
    Tokui & Sato 2022 (UniBound). Any code that the others give back scores 0, so that perfect codes of all factors and
    their sum score 0: read it with a metric that sees perfect codes, such as :func:`mcc`. It says nothing of
    modularity: one code that holds two factors alone is unique for both. With boosted trees informations of all codes
    and of one are lower bounds, and their difference may be off either way. n_codes n_factors fits at most; codes that
    tell nothing by a G test, or less than an excess found already, are not fitted.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> coarse = np.column_stack([factors[:, 0] // 2, factors[:, 1]])
    >>> round(demele.metrics.unique_information(coarse, demele.Factors(factors, kinds="categorical")).value, 6)
    0.75
    """
    binned = _Binned.of(data, bins)
    rest = [binned.without(code) for code in range(data.n_codes)]
    most = max(one.n for one in rest)
    crowded = most * ROWS_PER_CELL > data.n
    if joint in ("cells", "adjusted") and crowded:
        problem = f"the bins of all codes but one have {most} combinations in {data.n} rows: any code could be spared"
        raise NotEnoughData("bins", f"{problem}; use fewer bins, or `joint='boosting'`")
    if joint == "boosting" or crowded:
        return of_trees(data, binned, streams, n_trees)
    if joint == "adjusted":
        return of_cells(binned, rest, "adjusted")
    native = of_cells(binned, rest, "none")
    corrected = float(of_cells(binned, rest, "adjusted").value)
    if abs(corrected - float(native.value)) <= FRAGILE:
        return native
    message = (
        f"{data.n} rows are few for {most} combinations of bins; with the information adjusted for chance it would be "
        f"{corrected:.3f} instead of {float(native.value):.3f}"
    )
    return replace(native, notes=(Note(code="few-rows", message=message, severity="fragile"),))
