"""The functions of Latte (Watcharasupat et al. 2022), by its names, with its arguments: arrays in, arrays out.

``from demele.adapters import latte`` in the place of Latte's functional modules. They need no extra package.

>>> import numpy as np
>>> from demele.adapters import latte
>>> a = np.random.default_rng(0).random((300, 2))
>>> latte.sap(a, a).round(1).tolist()
[1.0, 1.0]
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from demele.adapters.source_names import (
    BUNDLE_KEYS,
    THRESHOLD,
    RegDim,
    accumulator_keywords,
    checked_threshold,
    code_variances,
    modularity_per_code,
    per_attribute,
    per_attribute_of_bundle,
)
from demele.core.arrays import Floats
from demele.core.errors import InputError, quoted
from demele.core.kinds import checked_name, is_number
from demele.metrics.standalone.interpolatability import averaged, monotonicity_on, smoothness_on
from demele.streaming.accumulator import Accumulator

__all__ = [
    "dependency_aware_mutual_info_bundle",
    "dlig",
    "dmig",
    "liad_interpolatability_bundle",
    "mig",
    "modularity",
    "monotonicity",
    "sap",
    "smoothness",
    "xmig",
]


def _scored(
    metric: str | Sequence[str], z: object, a: object, reg_dim: RegDim, discrete: bool, **more: Any
) -> tuple[Any, Accumulator]:
    """Return the result on all rows under Latte's protocol, and what it was computed from."""
    rows = (
        len(z)
        if isinstance(z, Sequence)
        else (*np.shape(z), 0)[0]
        if isinstance(z, np.ndarray)
        else getattr(z, "__len__", int)()
    )
    keywords = accumulator_keywords(metric, reg_dim=reg_dim, discrete=discrete, **more)
    held = Accumulator(metric, bound=max(rows, 4), **keywords).update(z, a)
    return held.compute(), held


def mig(z: object, a: object, reg_dim: RegDim = None, discrete: bool = False, fill_reg_dim: bool = False) -> Floats:
    """Return MIG of each attribute: see :func:`demele.metrics.mig`.

    Parameters
    ----------
    z : array-like of shape (n_samples, n_features)
    a : array-like of shape (n_samples, n_attributes) or (n_samples,)
    reg_dim : sequence of int, optional
        The code of each attribute, whose information then comes first whatever its rank.
    discrete : bool
        Attributes are classes.
    fill_reg_dim : bool
        Code i is that of attribute i, where ``reg_dim`` is not given.

    Returns
    -------
    array of shape (n_attributes,)

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    score, _ = _scored("mig", z, a, reg_dim, discrete, fill_reg_dim=fill_reg_dim)
    return per_attribute(score, reg_dim=reg_dim, discrete=discrete)


def _dependency_aware(metric: str, z: object, a: object, reg_dim: RegDim, discrete: bool) -> Floats:
    score, _ = _scored(metric, z, a, reg_dim, discrete)
    return per_attribute(score, reg_dim=reg_dim, discrete=discrete)


def dmig(z: object, a: object, reg_dim: RegDim = None, discrete: bool = False) -> Floats:
    """Return DMIG of each attribute, code i being that of attribute i by default; arguments as of :func:`mig`."""
    return _dependency_aware("dmig", z, a, reg_dim, discrete)


def dlig(z: object, a: object, reg_dim: RegDim = None, discrete: bool = False) -> Floats:
    """Return DLIG of each attribute's code, by default code i for attribute i; arguments as of :func:`mig`."""
    return _dependency_aware("dlig", z, a, reg_dim, discrete)


def xmig(z: object, a: object, reg_dim: RegDim = None, discrete: bool = False) -> Floats:
    """Return XMIG of each attribute, code i being that of attribute i by default; arguments as of :func:`mig`."""
    return _dependency_aware("xmig", z, a, reg_dim, discrete)


def sap(
    z: object,
    a: object,
    reg_dim: RegDim = None,
    discrete: bool = False,
    l2_reg: float = 1.0,
    thresh: float = THRESHOLD,
) -> Floats:
    """Return SAP of each attribute, scored on the rows that train.

    Parameters
    ----------
    z, a, reg_dim, discrete
        As of :func:`mig`.
    l2_reg : float
        Penalty C of the linear classifier of a discrete attribute.
    thresh : float
        Codes with a smaller variance score 0; not looked at for discrete attributes.
    """
    thresh = checked_threshold(thresh)
    score, held = _scored("sap", z, a, reg_dim, discrete, l2_reg=l2_reg)
    variances = None if discrete else code_variances(held)
    return per_attribute(score, reg_dim=reg_dim, discrete=discrete, thresh=thresh, variances=variances)


def modularity(
    z: object, a: object, reg_dim: RegDim = None, discrete: bool = False, thresh: float = THRESHOLD
) -> Floats:
    """Return Modularity of each code, those without an attribute included: array of shape (n_features,).

    Parameters
    ----------
    z, a, discrete
        As of :func:`mig`.
    reg_dim : sequence of int, optional
        Not looked at, as there.
    thresh : float
        Informations below it (nats) count as 0.
    """
    score, _ = _scored("modularity", z, a, None, discrete)
    return modularity_per_code(score, checked_threshold(thresh))


def dependency_aware_mutual_info_bundle(
    z: object, a: object, reg_dim: RegDim = None, discrete: bool = False
) -> dict[str, Floats]:
    """Return MIG, DMIG, XMIG and DLIG of each attribute by these names, code i being that of attribute i by default.

    A metric that does not apply, as XMIG where every code has an attribute, is NaN.
    """
    evaluation, _ = _scored(tuple(BUNDLE_KEYS.values()), z, a, reg_dim, discrete)
    return per_attribute_of_bundle(evaluation)


# Traversals -----------------------------------------------------------------------------------------------------------


def smoothness(
    z: object,
    a: object,
    reg_dim: RegDim = None,
    liad_mode: str = "forward",
    max_mode: str = "lehmer",
    ptp_mode: float | str = "naive",
    reduce_mode: str = "attribute",
    clamp: bool = False,
    p: float = 2.0,
) -> Any:
    """Return the smoothness of attributes along traversals: see :func:`demele.metrics.interpolatability`.

    Parameters
    ----------
    z : array-like of shape (n_samples, n_interp) or (n_samples, n_features, n_interp)
    a : array-like of shape (n_samples, n_interp) or (n_samples, n_attributes, n_interp)
    reg_dim : sequence of int, optional
        The code of each attribute; code i for attribute i by default.
    liad_mode : {"forward"}
    max_mode : {"lehmer", "naive"}
        The Lehmer mean of power ``p`` of the bends, or the largest.
    ptp_mode : "naive" or float in (0, 1]
        The range of all slopes, or of their central share.
    reduce_mode : {"attribute", "sample", "all", "none"}
        The mean for each attribute, for each sample, of all, or none.
    clamp : bool
        Values below 0 become 0.
    p : float above 1

    Returns
    -------
    array, or a number where all are averaged

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    checked_name(liad_mode, "liad_mode", ("forward",))
    checked_name(max_mode, "max_mode", ("lehmer", "naive"))
    checked_name(reduce_mode, "reduce_mode", _REDUCTIONS)
    share = not isinstance(ptp_mode, str) and is_number(ptp_mode) and 0 < ptp_mode <= 1
    if not share and not (isinstance(ptp_mode, str) and ptp_mode == "naive"):
        raise InputError("ptp_mode", f"expected 'naive' or a number above 0 and at most 1, got {quoted(ptp_mode)}")
    if not (is_number(p) and p > 1):
        raise InputError("p", f"expected a number above 1, got {quoted(p)}")
    power = None if max_mode == "naive" else float(p)
    values = smoothness_on(z, a, reg_dim, power=power, share=float(ptp_mode) if share else None)
    return _reduced(np.clip(values, 0.0, 1.0) if clamp else values, reduce_mode, of_defined=False)


def monotonicity(
    z: object,
    a: object,
    reg_dim: RegDim = None,
    liad_mode: str = "forward",
    reduce_mode: str = "attribute",
    liad_thresh: float = 1e-3,
    degenerate_val: float = np.nan,
    nanmean: bool = True,
) -> Any:
    """Return the monotonicity of attributes along traversals: see :func:`demele.metrics.interpolatability`.

    Parameters
    ----------
    z, a, reg_dim, liad_mode, reduce_mode
        As of :func:`smoothness`; steps may differ.
    liad_thresh : float
        Slopes up to it are flat.
    degenerate_val : float
        The value where all slopes are flat.
    nanmean : bool
        Means are of the values that are defined.
    """
    checked_name(liad_mode, "liad_mode", ("forward",))
    checked_name(reduce_mode, "reduce_mode", _REDUCTIONS)
    values = monotonicity_on(z, a, reg_dim, threshold=checked_threshold(liad_thresh))
    return _reduced(np.where(np.isnan(values), degenerate_val, values), reduce_mode, of_defined=nanmean)


def liad_interpolatability_bundle(
    z: object,
    a: object,
    reg_dim: RegDim = None,
    liad_mode: str = "forward",
    max_mode: str = "lehmer",
    ptp_mode: float | str = "naive",
    reduce_mode: str = "attribute",
    liad_thresh: float = 1e-3,
    degenerate_val: float = np.nan,
    nanmean: bool = True,
    clamp: bool = False,
    p: float = 2.0,
) -> dict[str, Any]:
    """Return both, as ``"smoothness"`` and ``"monotonicity"``; arguments as of these functions, and equal steps."""
    return {
        "smoothness": smoothness(z, a, reg_dim, liad_mode, max_mode, ptp_mode, reduce_mode, clamp, p),
        "monotonicity": monotonicity(z, a, reg_dim, liad_mode, reduce_mode, liad_thresh, degenerate_val, nanmean),
    }


_REDUCTIONS = ("attribute", "sample", "all", "none")


def _reduced(values: Floats, mode: str, *, of_defined: bool) -> Any:
    """Return means of values (n_samples, n_attributes): of each attribute, of each sample, of all, or none."""
    if mode == "none":
        return values
    over = {"attribute": "traversals", "sample": "attributes", "all": "all"}[mode]
    return averaged(values, over, of_defined=of_defined)
