"""Where factors move codes: subspaces that are apart, and that turn; how attributes follow codes along a traversal.

Factorisation (Lindsey and Issa 2024) and linear symmetry-based disentanglement (Tonnaer et al. 2022) do not depend on
the axes of the codes. Smoothness and monotonicity are those of Watcharasupat 2021.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from demele.core.arrays import Floats, Rows, pd, rng_for
from demele.core.errors import InputError, NotEnoughData, plural, quoted
from demele.core.inputs import read_pair
from demele.core.kinds import Amount, Fraction, Seed, checked, is_number
from demele.core.result import Note, TableResult
from demele.core.signature import Signature
from demele.core.table_columns import items_of, reads_as_number, real_numbers
from demele.estimation.cells import Partition
from demele.estimation.information import mean_of_defined
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


# How attributes of what a decoder makes change along a traversal of a code --------------------------------------------


def lehmer_mean(values: Floats, power: float) -> Floats:
    r"""Return :math:`\sum x^p / \sum x^{p-1}` along the last axis, 0 where all are 0: a mean that leans to the largest.

    Parameters
    ----------
    values : array of shape (..., n), >= 0
    power : float above 1
        1 is the mean, infinity the largest.

    Examples
    --------
    >>> lehmer_mean(np.array([[1.0, 3.0], [0.0, 0.0]]), 2.0).round(6).tolist()
    [2.5, 0.0]
    """
    largest = values.max(axis=-1, keepdims=True)
    relative = values / np.where(largest > 0, largest, 1.0)  # powers of large values would overflow
    weights = relative ** (power - 1.0)
    total = weights.sum(axis=-1)
    return np.asarray(largest[..., 0] * (relative * weights).sum(axis=-1) / np.where(total > 0, total, 1.0))


#: The axes of codes and attributes, as messages name them.
_CUBE = "(traversals, columns, points)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Interpolatability(TableResult):
    """Changes of attributes along traversals; made by :func:`demele.metrics.interpolatability`.

    Attributes
    ----------
    smoothness, monotonicity : array of shape (n_traversals, n_attributes)
        At most 1, and from -1 to 1; NaN where undefined.
    attribute_names : tuple of str
    n_points : int
        Of each traversal.
    notes : tuple of Note
    """

    _kind = "interpolatability"

    smoothness: Floats
    monotonicity: Floats
    attribute_names: tuple[str, ...]
    n_points: int
    notes: tuple[Note, ...]

    def headline(self) -> str:
        """Return the means over all attributes."""
        means = self.to_frame().mean()
        return (
            f"Mean smoothness is {written(means['smoothness'])} and mean monotonicity "
            f"{written(means['monotonicity'])} over {count(len(self.attribute_names), 'attribute')}."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table: a row for each attribute, with the means over the traversals for which they are defined."""
        means = {name: mean_of_defined(getattr(self, name).T) for name in ("smoothness", "monotonicity")}
        return pd.DataFrame(means, index=pd.Index(self.attribute_names, name="attribute"))


@checked
def interpolatability(
    codes: object,
    attributes: object,
    *,
    reg_dim: Sequence[int] | None = None,
    power: float | None = 2.0,
    share: Fraction | None = None,
    threshold: Amount = 1e-3,
    names: Sequence[str] | None = None,
) -> Interpolatability:
    r"""Smoothness and monotonicity of decoded attributes while their codes change.

    Smoothness is 1 where the attribute is a straight line in the code, and falls with its sharpest bends:

    .. math:: 1 - \frac{\mathcal{C}|D_2|}{\mathcal{R}\,D_1 / \delta}

    :math:`D_1` are the slopes of the attribute from step to step, :math:`D_2` theirs, C is a mean that leans to the
    largest, R the range, :math:`\delta` the step. Monotonicity is the mean sign of the slopes that are not flat.

    Parameters
    ----------
    codes : array-like of shape (n_traversals, n_codes, n_points)
        Codes that were decoded: along the last axis each moves in equal steps. Of one code also (n_traversals,
        n_points), and of one code on one traversal (n_points,). Two axes are never (n_codes, n_points): several codes
        on one traversal are ``codes[None]``.
    attributes : array-like of shape (n_traversals, n_attributes, n_points)
        What was measured of the results: attribute i while the code of attribute i moves. Of one attribute, the
        shapes that ``codes`` may have of one code.
    reg_dim : sequence of int, optional
        The code of each attribute; code i for attribute i by default.
    power : float above 1, or None
        C is the Lehmer mean of this power; None takes the largest bend alone.
    share : float in (0, 1], optional
        R is the range of this central share of the slopes; of all by default.
    threshold : float, at least 0
        Slopes up to it are flat, in units of the attribute for a unit of the code.
    names : sequence of str, optional
        Of the attributes.

    Returns
    -------
    Interpolatability

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        Shapes that do not fit each other, unequal steps, a code that does not move, fewer than 3 points.

    Notes
    -----
    Watcharasupat 2021; the bundle ``liad_interpolatability_bundle`` of Latte, whose values these are. A straight line
    has smoothness 1 here for any steps; there, steps such as 0.1 leave rounding errors that are divided by each other.

    Examples
    --------
    >>> import numpy as np, demele
    >>> z = np.tile(np.arange(16.0), (1, 3, 1))
    >>> found = demele.metrics.interpolatability(z, np.stack([z[0, 0], z[0, 1] ** 2, -(z[0, 2] ** 3)])[None])
    >>> found.to_frame()["smoothness"].round(4).tolist(), found.to_frame()["monotonicity"].tolist()
    ([1.0, 0.9286, 0.9079], [1.0, 1.0, -1.0])
    """
    smooth = smoothness_on(codes, attributes, reg_dim, power=power, share=share)
    steady = monotonicity_on(codes, attributes, reg_dim, threshold=threshold)
    a = _cube(attributes, "attributes")
    named = tuple(map(str, names)) if names is not None else tuple(f"a{index}" for index in range(a.shape[1]))
    if len(named) != a.shape[1]:
        raise InputError("names", f"expected a name for each of the {a.shape[1]} attributes, got {len(named)}")
    notes = []
    for values, what, why in (
        (smooth, "smoothness", "the central share of the slopes has no range"),
        (steady, "monotonicity", "no slope is above the threshold"),
    ):
        for name, undefined in zip(named, np.isnan(values).sum(axis=0), strict=True):
            if undefined:
                message = f"{what} of {name!r} is undefined on {undefined} of {len(values)} traversals: {why}"
                notes.append(Note(code=f"{what}-undefined", message=message, subject=(name,), severity="warning"))
    return Interpolatability(
        smoothness=smooth,
        monotonicity=steady,
        attribute_names=named,
        n_points=a.shape[2],
        notes=tuple(notes),
    )


def smoothness_on(
    codes: object,
    attributes: object,
    reg_dim: Sequence[int] | None = None,
    *,
    power: float | None = 2.0,
    share: float | None = None,
) -> Floats:
    r"""Return 1 minus how sharply slopes bend, against their range, of each attribute on each traversal.

    :math:`1 - \mathcal{C}|D_2| \, / \, (\mathcal{R} D_1 / \delta)`, where :math:`D_1` are the slopes, :math:`D_2`
    theirs, :math:`\delta` is the step, and C and R follow from the arguments of :func:`interpolatability`.
    """
    if power is not None and not (is_number(power) and 1 < power < np.inf):
        raise InputError("power", f"expected a number above 1, or None, got {quoted(power)}")
    z, a = _read(codes, attributes, reg_dim, fewest=3, equal_steps=True)
    first = np.diff(a, axis=-1) / np.diff(z, axis=-1)
    bends = np.abs(np.diff(first, axis=-1) / np.diff(0.5 * (z[..., :-1] + z[..., 1:]), axis=-1))
    sharpest = bends.max(axis=-1) if power is None else lehmer_mean(bends, power)
    whole = np.ptp(first, axis=-1)
    spread = whole
    if share is not None:
        low, high = np.quantile(first, [0.5 - 0.5 * share, 0.5 + 0.5 * share], axis=-1)
        spread = high - low
    step = np.abs(z[..., 1] - z[..., 0])
    rough = sharpest * step / np.where(spread > 0, spread, np.nan)
    # Slopes of a straight line differ by rounding, and bends of rounding are as sharp as their range.
    by_rounding = 16 * np.finfo(float).eps * (np.abs(a).max(axis=-1) / step + np.abs(first).max(axis=-1))
    return np.where(whole > by_rounding, 1.0 - rough, 1.0)


def monotonicity_on(
    codes: object, attributes: object, reg_dim: Sequence[int] | None = None, *, threshold: float = 1e-3
) -> Floats:
    """Return the mean sign of the slopes that are not nearly flat, of each attribute on each traversal.

    From -1 to 1, NaN where all are flat; steps may differ.
    """
    z, a = _read(codes, attributes, reg_dim, fewest=2, equal_steps=False)
    first = np.diff(a, axis=-1) / np.diff(z, axis=-1)
    signs = np.where(np.abs(first) > threshold, np.sign(first), 0.0)
    steep = (signs != 0).sum(axis=-1)
    return np.asarray(signs.sum(axis=-1) / np.where(steep > 0, steep, np.nan))


def averaged(values: Floats, *, of_defined: bool) -> Floats:
    """Return means along the last axis: of the values that are defined, or of all."""
    return mean_of_defined(values) if of_defined else np.asarray(values.mean(axis=-1))


def _read(
    codes: object, attributes: object, reg_dim: Sequence[int] | None, *, fewest: int, equal_steps: bool
) -> tuple[Floats, Floats]:
    """Return the code of each attribute, and the attributes, both (n_traversals, n_attributes, n_points)."""
    z, a = _cube(codes, "codes"), _cube(attributes, "attributes")
    if z.shape[0] != a.shape[0] or z.shape[2] != a.shape[2]:
        own, other = (f"{x.shape[0]} of {plural(x.shape[2], 'point', 'points')}" for x in (z, a))
        shapes = " and ".join(str(np.asarray(one).shape) for one in (codes, attributes))
        raise InputError(
            ("codes", "attributes"),
            f"expected the same traversals and points, got {own} and {other}, from arrays of shape {shapes}; give both "
            f"as {_CUBE}. Two axes are (traversals, points) of one column, one is the points of one traversal",
        )
    if a.shape[2] < fewest:
        raise NotEnoughData("attributes", f"expected at least {fewest} points on each traversal, got {a.shape[2]}")
    d, m = z.shape[1], a.shape[1]
    if reg_dim is None and m > d:
        problem = f"expected a code for each, got {m} and {plural(d, 'code', 'codes')} along the second axis of {_CUBE}"
        raise InputError("attributes", f"{problem}; pass `reg_dim=[...]` where one code is that of several")
    found = list(range(m)) if reg_dim is None else items_of(reg_dim, "reg_dim", "a code for each attribute")
    if len(found) != m:
        raise InputError("reg_dim", f"expected a code for each of the {m} attributes, got {len(found)}")
    for code in found:
        if isinstance(code, bool) or not isinstance(code, int | np.integer) or not 0 <= code < d:
            raise InputError("reg_dim", f"expected indices from 0 to {d - 1}, got {quoted(code)}")
    z = z[:, [int(code) for code in found]]
    steps = np.diff(z, axis=-1)
    refused = (steps == 0).any(axis=-1)
    if equal_steps:
        uneven = np.abs(steps - steps.mean(axis=-1, keepdims=True)).max(axis=-1)
        refused |= uneven > 1e-5 * np.abs(steps).max(axis=-1)
    if refused.any():
        which = np.argwhere(refused)[0]
        raise InputError(
            "codes",
            f"expected steps other than 0{', all of one size' * equal_steps}, got others for the code of attribute "
            f"{which[1]} on traversal {which[0]}; move one code at a time, by the same amount",
        )
    return z, a


def _cube(values: object, argument: str) -> Floats:
    array = real_numbers(values, argument, f"numbers of shape {_CUBE}")
    if array.ndim not in (1, 2, 3) or 0 in array.shape:
        shape = f"{_CUBE}, (traversals, points) of one column, or (points,) of one traversal of one column"
        raise InputError(argument, f"expected an array of shape {shape}, with at least 1 of each, got {array.shape}")
    cube = array.reshape(-1, 1, array.shape[-1]) if array.ndim < 3 else array
    if not np.isfinite(cube).all():
        first = np.argwhere(~np.isfinite(cube))[0]
        raise InputError(argument, f"not finite, first on traversal {first[0]}, point {first[-1]}")
    return cube
