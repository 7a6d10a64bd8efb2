"""Subspaces of codes in which factors vary: whether they are apart, and whether cyclic factors turn in them.

Factorisation (Lindsey and Issa 2024) and linear symmetry-based disentanglement (Tonnaer et al. 2022); neither depends
on the axes of the codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from demele.core.arrays import Floats, Rows, pd, rng_for
from demele.core.errors import NotEnoughData, quoted
from demele.core.inputs import read_pair
from demele.core.kinds import Fraction, Seed, checked
from demele.core.result import TableResult
from demele.core.signature import Signature
from demele.core.table_columns import items_of, reads_as_number
from demele.core.uncertainty import Note
from demele.estimation.cells import Partition
from demele.metrics.data import Data
from demele.metrics.options import as_binning
from demele.metrics.source import column_indices
from demele.report.words import count, written

#: Turns for each turn of a factor that are tried, as in published code.
FREQUENCIES = tuple(range(-10, 11))
#: Shuffles that a factor's effect has to exceed.
SHUFFLES = 39
#: Variance relative to all, below which nothing varies.
NOTHING = 1e-12
#: Ratio of the variances of a cyclic factor's plane, from which a circle is told from an ellipse.
ELLIPSE = 2.0


@dataclass(frozen=True, slots=True)
class Turning:
    """How a cyclic factor turns the codes.

    Attributes
    ----------
    dispersion : float
        Variance that is left once the codes are turned back, of 1: D_LSBD; 0 is best.
    frequency : int
        Turns of the codes for one of the factor.
    ratio : float
        Larger over smaller variance in the plane, before both are made equal; 1 for a circle.
    """

    dispersion: float
    frequency: int
    ratio: float


def turning(codes: Floats, angle: Floats, total: float) -> Turning:
    """Return how codes (n, d), centred for each combination of the other factors, turn with an angle (n,).

    ``total`` is the variance of all codes; rounding errors of that size do not count. Divisors are n - 1 in the
    plane and n elsewhere, as in published code: what does not turn at all leaves 1 - 1/n.
    """
    n = len(codes)
    _, sizes, axes = np.linalg.svd(codes, full_matrices=False)
    variance = np.zeros(2)
    variance[: min(2, len(sizes))] = np.square(sizes[:2]) / (n - 1)
    alive = variance > NOTHING * total
    plane = np.zeros((n, 2))
    kept = int(alive.sum())
    plane[:, :kept] = codes @ axes[:kept].T / np.sqrt(2.0 * variance[:kept])
    point = plane[:, 0] + 1j * plane[:, 1]
    turned = [abs(complex((point * np.exp(-1j * k * angle)).mean())) ** 2 for k in FREQUENCIES]
    # Of few levels, 5 turns are the same points as 1: the fewest turns that fit as well, to rounding.
    as_well = [place for place, one in enumerate(turned) if one >= max(turned) - 1e-9]
    best = min(as_well, key=lambda place: abs(FREQUENCIES[place]))
    ratio = float(variance[0] / variance[1]) if kept == 2 else float("inf")
    # a direction without variance is one that does not turn
    return Turning(max(1.0 - 1.0 / n - turned[best], 0.0), FREQUENCIES[best], ratio)


def factorisation(codes: Floats, others: Partition, share: float) -> float:
    """Return 1 - tr(P C) / tr(C); NaN where the codes do not vary while the other factors keep their values.

    C is the covariance of the codes while only the factor varies, P the projector on the fewest directions that have
    ``share`` of the variance of the means for the other factors.
    """
    count = np.bincount(others.group).astype(np.float64)
    means = _sums(others.group, codes) / count[:, None]
    within = codes - means[others.group]
    moved = float(np.square(within).sum())
    if moved <= NOTHING * float(np.square(codes - codes.mean(axis=0)).sum()) or moved == 0.0:
        return float("nan")
    centred = (means - codes.mean(axis=0)) * np.sqrt(count)[:, None]
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    total = float(np.square(sizes).sum())
    if total <= NOTHING * moved:
        return 1.0
    number = int(np.searchsorted(np.cumsum(np.square(sizes)) / total, share - 1e-9)) + 1
    return 1.0 - float(np.square(within @ axes[:number].T).sum()) / moved


def _sums(group: Rows, columns: Floats) -> Floats:
    """Return the sums of columns by group, (n_groups, n_columns)."""
    return np.stack([np.bincount(group, column) for column in columns.T], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SubspaceScores(TableResult):
    """Scores of separate subspaces of factors, and of rotations there; made by :func:`demele.metrics.subspace_scores`.

    Attributes
    ----------
    factorisation : float
        Mean over the factors that move the codes; 1 is best.
    d_lsbd : float
        Mean dispersion of the cyclic factors, 0 is best and 1 worst; NaN where none was named.
    per_factor : mapping of str to float
        Factorisation of each factor; NaN for one that does not move the codes beyond chance.
    turns : mapping of str to Turning
        Of each cyclic factor.
    factor_names, code_names : tuple of str
    n : int
        Rows that are annotated for all factors.
    notes : tuple of Note
    signature : Signature
    """

    _kind = "subspace scores"

    factorisation: float
    d_lsbd: float
    per_factor: Mapping[str, float]
    turns: Mapping[str, Turning]
    factor_names: tuple[str, ...]
    code_names: tuple[str, ...]
    n: int
    notes: tuple[Note, ...]
    signature: Signature

    def headline(self) -> str:
        """Return the two scores."""
        moving = count(sum(value == value for value in self.per_factor.values()), "factor")
        turning = f"; D_LSBD is {written(self.d_lsbd)} (0 is best)" if self.turns else ""
        value = written(self.factorisation)
        return f"The factorisation is {value} over {moving} that move the codes (1 is best){turning}."

    def to_frame(self) -> pd.DataFrame:
        """Return a table: a row for each factor; NaN for what is not known of it."""
        columns = {"d_lsbd": "dispersion", "frequency": "frequency", "ratio": "ratio"}
        of_turns = {
            column: [getattr(self.turns.get(factor), name, np.nan) for factor in self.factor_names]
            for column, name in columns.items()
        }
        rows = {"factorisation": [self.per_factor[factor] for factor in self.factor_names], **of_turns}
        return pd.DataFrame(rows, index=list(self.factor_names)).rename_axis("factor")


@checked
def subspace_scores(
    codes: object,
    factors: object,
    *,
    cyclic: Sequence[str] | Sequence[int] = (),
    share: Fraction = 0.9,
    bins: object = 5,
    kinds: object = None,
    seed: Seed = 0,
) -> SubspaceScores:
    r"""Factorisation (factors vary in separate subspaces) and D_LSBD (cyclic factors rotate there).

    .. math:: \mathrm{fact}_i = 1 - \frac{\mathrm{tr}(P_{-i} C_i)}{\mathrm{tr}(C_i)}

    :math:`C_i` is the covariance of the codes while only factor i varies, and :math:`P_{-i}` the projector on the
    directions in which the others move them. D_LSBD: the codes are centred for each combination of the other factors,
    projected on their plane of largest variance, both directions scaled to the variance 1/2, and rotated back by k
    times the angle of the factor; the score is the remaining variance for the best whole k from -10 to 10. Neither
    depends on the axes of the codes; both need factors that are crossed.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        In units that can be compared: factorisation depends on them.
    factors : array-like of shape (n_samples, n_factors), at least two that vary
        Continuous factors are cut into ``bins``; rows that lack an annotation are left out.
    cyclic : sequence of names or places of factors
        Whose levels, in increasing order, are equally spaced angles. Means of the rows are taken for each combination
        of levels, and combinations of the other factors with all levels are used.
    share : float in (0, 1], default 0.9
        Of the variance of the means for the other factors that their directions hold.
    bins : int, str, Binning or edges, default 5
    kinds : None, str, mapping or sequence
        "continuous" or "categorical", where the detected kind is wrong.
    seed : int
        Of the 39 shuffles whose effect a factor has to exceed to have a factorisation.

    Returns
    -------
    SubspaceScores

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
    NotEnoughData
        If no two rows agree on all factors but some one, or a cyclic factor never goes through all its levels while
        the others keep their values.

    Notes
    -----
    Lindsey & Issa 2024; Tonnaer et al. 2022. The equal scale of both directions of a plane hides ellipses, down to a
    line, so the ratio of their variances is reported. Published code of D_LSBD searches the frequencies of all factors
    together; the minimum is that of each alone. It divides by the deviation of a direction that has none; here such a
    direction counts as one that does not turn.

    Examples
    --------
    >>> import numpy as np, pandas as pd, demele
    >>> turn, shape = np.array([(a, b) for a in range(12) for b in range(4)]).T
    >>> codes = np.column_stack([np.cos(turn * np.pi / 6), np.sin(turn * np.pi / 6), shape])
    >>> factors = pd.DataFrame({"turn": turn, "shape": shape})
    >>> found = demele.metrics.subspace_scores(codes, factors, cyclic=["turn"], kinds="categorical")
    >>> round(found.factorisation, 6), round(found.d_lsbd, 6)
    (1.0, 0.0)
    """
    read_codes, read_factors = read_pair(codes, factors, kinds=kinds, missing="omit")
    whole = Data(read_codes, read_factors)
    labels, n_levels = whole.factor_labels(as_binning(bins))
    known = (labels >= 0).all(axis=1)
    values, labels = read_codes.dense()[known], labels[known]
    names = read_factors.names
    if not len(labels) or sum(len(np.unique(column)) > 1 for column in labels.T) < 2:
        raise NotEnoughData("factors", "expected at least two that vary, on rows that are annotated for all")
    of_others = [_others(labels, n_levels, i) for i in range(len(names))]
    centred, per_factor = values - values.mean(axis=0), {}
    total = float(np.square(centred).sum())
    orders = [rng_for(seed, "subspace_scores", index).permutation(len(values)) for index in range(SHUFFLES)]

    def between(column: Rows) -> float:
        """Return how far the means of the codes, in their own units, are apart."""
        size = np.maximum(np.bincount(column), 1)
        return float(sum((np.bincount(column, one) ** 2 / size).sum() for one in centred.T))

    for i, (name, others) in enumerate(zip(names, of_others, strict=True)):
        if others.n == len(labels):
            problem = f"no two rows agree on all factors but {name!r}; use fewer bins, fewer factors or more rows"
            raise NotEnoughData("factors", problem)
        own = between(labels[:, i])  # it moves the means more than in any shuffle of the rows
        moves = own > NOTHING * total and all(own > between(labels[order, i]) for order in orders)
        per_factor[name] = factorisation(values, others, share) if moves else float("nan")
    listed = items_of(cyclic, "cyclic", "a sequence of factors, such as ['angle']")
    turned = column_indices(listed, names, "cyclic", default=())
    cells, turns = Partition.of(list(labels.T), list(n_levels), len(labels)), {}
    means = _sums(cells.group, values) / np.bincount(cells.group).astype(np.float64)[:, None]
    at = labels[cells.example]
    for i in turned:  # in combinations of the others that have all levels of the factor
        k, others = n_levels[i], _others(at, n_levels, i)
        complete = (np.bincount(others.group) == k)[others.group]
        if not complete.any() or k < 3:
            problem = f"{names[i]!r} never goes through all of 3 or more levels while the others keep their values"
            raise NotEnoughData("cyclic", problem)
        group, kept = others.group[complete], means[complete]
        angle = 2.0 * np.pi * at[complete, i] / k
        turns[names[i]] = turning(kept - _sums(group, kept)[group] / k, angle, float(values.var(axis=0).sum()))
    defined = [one for one in per_factor.values() if not np.isnan(one)]
    found = []
    still = tuple(name for name, value in per_factor.items() if np.isnan(value))
    if still:
        listed_names = ", ".join(map(repr, still[:3])) + (", ..." if len(still) > 3 else "")
        message = f"{listed_names} move the means of the codes no more than shuffled rows do: no factorisation"
        found.append(Note(code="undefined-value", message=message, subject=still, severity="warning"))
    oblong = tuple(name for name, one in turns.items() if one.ratio > ELLIPSE)
    if oblong:
        ratios = ", ".join(f"{name!r} {turns[name].ratio:.3g}" for name in oblong[:3])
        message = f"planes whose directions differ in variance, which D_LSBD makes equal: {ratios}"
        found.append(Note(code="ellipse", message=message, subject=oblong, severity="warning"))
    for column in read_factors.columns:
        levels = [str(level) for level in column.levels] if column.categorical and column.name in turns else []
        if any(not reads_as_number(level) for level in levels):
            shown = ", ".join(map(quoted, levels[:4])) + (", ..." if len(levels) > 4 else "")
            message = f"the levels of {column.name!r} are taken for equal angles in the order of their names ({shown})"
            found.append(Note(code="order-of-names", message=message, subject=(column.name,), severity="warning"))
    return SubspaceScores(
        factorisation=float(np.mean(defined)) if defined else float("nan"),
        d_lsbd=float(np.mean([one.dispersion for one in turns.values()])) if turns else float("nan"),
        per_factor=per_factor,
        turns=turns,
        factor_names=names,
        code_names=read_codes.names,
        n=len(labels),
        notes=tuple(found),
        signature=Signature.of(
            "subspace_scores",
            {"cyclic": tuple(turns), "share": share, "bins": as_binning(bins), "seed": seed},
            rows=read_codes.n,
            codes=read_codes.d,
        ),
    )


def _others(labels: Rows, n_levels: Sequence[int], factor: int) -> Partition:
    """Put rows together that agree on all factors but one."""
    rest = [k for k in range(labels.shape[1]) if k != factor]
    return Partition.of([labels[:, k] for k in rest], [n_levels[k] for k in rest], len(labels))
