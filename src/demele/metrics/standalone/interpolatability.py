"""How smoothly, and in one direction, attributes change when codes are moved (Watcharasupat 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from demele.core.arrays import Floats, pd
from demele.core.errors import InputError, NotEnoughData, plural, quoted
from demele.core.kinds import is_number
from demele.core.result import TableResult
from demele.core.table_columns import items_of, real_numbers
from demele.core.uncertainty import Note
from demele.estimation.information import mean_of_defined
from demele.report.words import count, written

# How attributes of what a decoder makes change along a traversal of a code --------------------------------------------


def slopes(codes: Floats, attributes: Floats) -> Floats:
    """Return differences of attributes over differences of codes, step by step: (..., n_points - 1).

    Examples
    --------
    >>> slopes(np.array([0.0, 2.0, 4.0]), np.array([0.0, 1.0, 4.0])).tolist()
    [0.5, 1.5]
    """
    return np.diff(attributes, axis=-1) / np.diff(codes, axis=-1)


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


def smoothness_values(
    codes: Floats, attributes: Floats, *, power: float | None = 2.0, share: float | None = None
) -> Floats:
    r"""Return 1 minus how sharply slopes bend, against their range: (...), 1 for a straight line.

    :math:`1 - \mathcal{C}|D_2| \, / \, (\mathcal{R} D_1 / \delta)`, where :math:`D_1` are the slopes, :math:`D_2`
    theirs, and :math:`\delta` is the step.

    Parameters
    ----------
    codes : array of shape (..., n_points)
        In equal steps.
    attributes : array of shape (..., n_points)
    power : float above 1, or None
        C is the Lehmer mean of this power, or the largest.
    share : float, optional
        R is the range of the central share of the slopes; of all of them by default.

    Examples
    --------
    >>> steps = np.arange(16.0)
    >>> smoothness_values(steps, np.array([steps, steps**2])).round(6).tolist()
    [1.0, 0.928571]
    """
    first = slopes(codes, attributes)
    between = 0.5 * (codes[..., :-1] + codes[..., 1:])
    bends = np.abs(slopes(between, first))
    sharpest = bends.max(axis=-1) if power is None else lehmer_mean(bends, power)
    if share is None:
        spread = np.ptp(first, axis=-1)
    else:
        low, high = np.quantile(first, [0.5 - 0.5 * share, 0.5 + 0.5 * share], axis=-1)
        spread = high - low
    step = np.abs(codes[..., 1] - codes[..., 0])
    rough = sharpest * step / np.where(spread > 0, spread, np.nan)
    # Slopes of a straight line differ by rounding, and bends of rounding are as sharp as their range.
    by_rounding = 16 * np.finfo(float).eps * (np.abs(attributes).max(axis=-1) / step + np.abs(first).max(axis=-1))
    return np.where(np.ptp(first, axis=-1) > by_rounding, 1.0 - rough, 1.0)


def monotonicity_values(codes: Floats, attributes: Floats, *, threshold: float = 1e-3) -> Floats:
    """Return the mean sign of the slopes that are not nearly flat: from -1 to 1, NaN where all are flat.

    Parameters
    ----------
    codes, attributes : array of shape (..., n_points)
    threshold : float, at least 0
        Slopes up to it, in units of the attribute for a unit of the code, are flat.

    Examples
    --------
    >>> steps = np.arange(4.0)
    >>> monotonicity_values(steps, np.array([steps, -2 * steps, 0 * steps, [0.0, 1.0, 2.0, 1.0]])).round(6).tolist()
    [1.0, -1.0, nan, 0.333333]
    """
    first = slopes(codes, attributes)
    signs = np.where(np.abs(first) > threshold, np.sign(first), 0.0)
    steep = (signs != 0).sum(axis=-1)
    return np.asarray(signs.sum(axis=-1) / np.where(steep > 0, steep, np.nan))


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
        means = {
            name: averaged(getattr(self, name), "traversals", of_defined=True)
            for name in ("smoothness", "monotonicity")
        }
        return pd.DataFrame(means, index=pd.Index(self.attribute_names, name="attribute"))


def interpolatability(
    codes: object,
    attributes: object,
    *,
    reg_dim: Sequence[int] | None = None,
    power: float | None = 2.0,
    share: float | None = None,
    threshold: float = 1e-3,
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
    """Return the smoothness of each attribute on each traversal; arguments as of :func:`interpolatability`."""
    if power is not None and not (is_number(power) and 1 < power < np.inf):
        raise InputError("power", f"expected a number above 1, or None, got {quoted(power)}")
    if share is not None and not (is_number(share) and 0 < share <= 1):
        raise InputError("share", f"expected a number above 0 and at most 1, or None, got {quoted(share)}")
    z, a = _read(codes, attributes, reg_dim, fewest=3, equal_steps=True)
    return smoothness_values(z, a, power=power, share=share)


def monotonicity_on(
    codes: object, attributes: object, reg_dim: Sequence[int] | None = None, *, threshold: float = 1e-3
) -> Floats:
    """Return the monotonicity of each attribute on each traversal, whose steps may differ."""
    if not (is_number(threshold) and 0 <= threshold < np.inf):
        raise InputError("threshold", f"expected a number of at least 0, got {quoted(threshold)}")
    z, a = _read(codes, attributes, reg_dim, fewest=2, equal_steps=False)
    return monotonicity_values(z, a, threshold=threshold)


def averaged(values: Floats, over: str, *, of_defined: bool) -> Floats:
    """Return means of values (n_traversals, n_attributes): over "traversals", "attributes" or "all" of them."""
    turned = {"traversals": values.T, "attributes": values, "all": values.reshape(-1)}[over]
    return mean_of_defined(turned) if of_defined else np.asarray(turned.mean(axis=-1))


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
    if (steps == 0).all(axis=-1).any():
        which = np.argwhere((steps == 0).all(axis=-1))[0]
        raise InputError("codes", f"the code of attribute {which[1]} does not move on traversal {which[0]}")
    uneven = np.abs(steps - steps.mean(axis=-1, keepdims=True)).max(axis=-1) > 1e-5 * np.abs(steps).max(axis=-1)
    refused = uneven if equal_steps else (steps == 0).any(axis=-1)
    if refused.any():
        which = np.argwhere(refused)[0]
        raise InputError(
            "codes",
            f"expected steps {'of one size' if equal_steps else 'other than 0'}, got others for the code of attribute "
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
