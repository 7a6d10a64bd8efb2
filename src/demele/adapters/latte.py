"""The functions of Latte (Watcharasupat et al. 2022), by its names, with its arguments: arrays in, arrays out.

``from demele.adapters import latte`` in the place of Latte's functional modules. They need no extra package.

>>> import numpy as np
>>> from demele.adapters import latte
>>> a = np.random.default_rng(0).random((300, 2))
>>> latte.sap(a, a).round(1).tolist()
[1.0, 1.0]
"""

import inspect
import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from demele.core.arrays import Floats
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.kinds import checked_flag, checked_name, checked_size, is_number
from demele.core.results import Evaluation, Score
from demele.core.table_columns import items_of
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.information.entropies import DEAD_CODE
from demele.metrics.source import IN_ORDER, regularising_codes
from demele.metrics.standalone.geometry import averaged, monotonicity_on, smoothness_on
from demele.streaming.accumulator import Accumulator
from demele.streaming.states import MomentState

# The class names of Latte (Watcharasupat et al. 2022), their arguments, and what they are called here -----------------
#
# Latte's classes return one value per attribute, computed from nearest-neighbour information or, for SAP, on the
# training rows: the protocol ``"latte"``. Both adapters read this table, so that they cannot differ.

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

RegDim = Sequence[int] | None

#: Latte's threshold for the variance of a code (SAP) and for an information (Modularity).
THRESHOLD = DEAD_CODE
_BOTH: Mapping[str, Any] = {"reg_dim": None, "discrete": False}
#: The bundle: four metrics from one information table, each attribute with its own code in all of them.
BUNDLE = "DependencyAwareMutualInformationBundle"
BUNDLE_KEYS: Mapping[str, str] = {"MIG": "mig", "DMIG": "dmig", "XMIG": "xmig", "DLIG": "dlig"}
#: Classes of Latte: the registered name here, or those of the bundle, and the arguments of the class, in its order.
#: A class returns one value per attribute: a metric per code gives that of the code that regularises each attribute.
SOURCE_NAMES: Mapping[str, tuple[str | tuple[str, ...], Mapping[str, Any]]] = {
    "MutualInformationGap": ("mig", {**_BOTH, "fill_reg_dim": False}),
    "DependencyAwareMutualInformationGap": ("dmig", _BOTH),
    "DependencyAwareLatentInformationGap": ("dlig", _BOTH),
    "DependencyBlindMutualInformationGap": ("xmig", _BOTH),
    "SeparateAttributePredictability": ("sap", {**_BOTH, "l2_reg": 1.0, "thresh": THRESHOLD}),
    "Modularity": ("modularity", {**_BOTH, "thresh": THRESHOLD}),
    BUNDLE: (tuple(BUNDLE_KEYS.values()), _BOTH),
}
#: What adapters of frameworks call them, short forms included.
CLASS_NAMES = (*SOURCE_NAMES, "DLIG", "DMIG", "MIG", "SAP", "XMIG")


def accumulator_keywords(
    metric: str | Sequence[str],
    *,
    reg_dim: RegDim = None,
    discrete: bool = False,
    fill_reg_dim: bool = False,
    l2_reg: float = 1.0,
) -> dict[str, Any]:
    """Return the keywords of :class:`demele.Accumulator` that Latte's arguments mean.

    Parameters
    ----------
    metric : str or sequence of str
        Registered name, or names for the bundle.
    reg_dim : sequence of int, optional
        The code of each attribute. Without it: the most informative code (MIG, SAP), or code i for attribute i
        (DMIG, XMIG, DLIG, Modularity).
    discrete : bool
        Attributes are classes rather than numbers: ``kinds``.
    fill_reg_dim : bool
        MIG takes code i for attribute i too. The bundle always does.
    l2_reg : float
        The penalty C of SAP's classifier, above 0; not looked at for attributes that are numbers.

    Returns
    -------
    dict

    Raises
    ------
    InputError, InputTypeError

    Examples
    --------
    >>> sorted(accumulator_keywords("mig", discrete=True).items())
    [('kinds', 'categorical'), ('options', {}), ('protocol', 'latte'), ('reg_dim', None)]
    """
    for name, value in (("discrete", discrete), ("fill_reg_dim", fill_reg_dim)):
        checked_flag(value, name)
    given = None if reg_dim is None else _indices(reg_dim)
    options: dict[str, dict[str, Any]] = {}
    if given is None and (fill_reg_dim or not isinstance(metric, str)):
        options["mig"] = {"reg_dim": IN_ORDER}
    if metric == "sap":
        options["sap"] = {"penalty": l2_reg}
    kinds = "categorical" if discrete else "continuous"
    return {"protocol": "latte", "kinds": kinds, "reg_dim": given, "options": options}


def per_attribute(
    score: Score,
    *,
    reg_dim: RegDim = None,
    discrete: bool = False,
    thresh: float = THRESHOLD,
    variances: Floats | None = None,
) -> Floats:
    """Return one value per attribute, as Latte's classes do.

    Parameters
    ----------
    score : Score
        Of one of the six metrics.
    reg_dim : sequence of int, optional
        The code of each attribute. SAP then takes its score first, whatever its rank, so that the gap may be negative;
        Modularity gives the values of these codes (Latte does not look at the argument there).
    discrete : bool
    thresh : float, at least 0
        SAP of numbers: codes with a smaller variance score 0; ``variances`` has to be given. Modularity: informations
        (nats) below it count as 0. Other metrics do not look at it.
    variances : array of shape (n_codes,), optional
        Of the codes, see :func:`code_variances`.

    Returns
    -------
    array of shape (n_attributes,)

    Raises
    ------
    InputError, NotEnoughData
        If there is not one valid code for each attribute.
    """
    if score.metric == "modularity":
        codes = regularising_codes(reg_dim, score.code_names, score.factor_names)
        return modularity_per_code(score, thresh)[codes]
    if score.metric == "sap":
        return _sap(score, reg_dim, 0.0 if discrete else thresh, variances)
    return np.array(score.per_factor)


def per_attribute_of_bundle(evaluation: Evaluation) -> dict[str, Floats]:
    """Return the values per attribute of the bundle's four metrics by their short names.

    A metric that does not apply, as XMIG where every code regularises an attribute, is NaN for all; the reason is in
    ``evaluation.left_out``.
    """
    undefined = np.full(len(evaluation.factors), np.nan)
    found = {score.metric: per_attribute(score) for score in evaluation}
    return {key: found.get(metric, undefined) for key, metric in BUNDLE_KEYS.items()}


def code_variances(accumulator: Accumulator) -> Floats | None:
    """Return the variances of the codes over the rows that an accumulator sums or keeps; None where it does neither."""
    sums = accumulator._held.states.get(("moments", None))
    if isinstance(sums, MomentState) and sums.n:
        return sums.code_variances()
    kept = accumulator._held.sample
    if kept is None or kept.n == 0 or accumulator._held.columns is None:
        return None
    columns = kept.rows()[: len(accumulator._held.columns[0])]
    return np.array([np.var(np.asarray(column, dtype=np.float64)) for column in columns])


def _indices(reg_dim: object) -> tuple[int, ...]:
    """Return the codes as whole numbers; whether they exist is known with the first batch."""
    found: list[int] = []
    for code in items_of(reg_dim, "reg_dim", "one code (index) for each attribute"):
        if isinstance(code, bool) or not isinstance(code, int | np.integer):
            raise InputTypeError("reg_dim", f"expected a code's index for attribute {len(found)}, got {quoted(code)}")
        found.append(int(code))
    return tuple(found)


def _sap(score: Score, reg_dim: RegDim, thresh: float, variances: Floats | None) -> Floats:
    flat = np.zeros(len(score.code_names), dtype=bool) if variances is None else variances < thresh
    if reg_dim is None and not flat.any():
        return np.array(score.per_factor)
    own = np.array(score.matrix_values)
    own[flat] = np.where(np.isnan(own[flat]), np.nan, 0.0)
    d, m = own.shape
    if reg_dim is None:
        first, codes = own.max(axis=0), own.argmax(axis=0)
    else:
        codes = regularising_codes(reg_dim, score.code_names, score.factor_names)
        first = own[codes, np.arange(m)]
    if d == 1:  # the guess without a code is its partner
        majority = score.details.get("majority", {})
        alone = np.asarray(first - np.array([majority.get(name, 0.0) for name in score.factor_names]))
        return alone if reg_dim is not None else np.maximum(alone, 0.0)
    own[codes, np.arange(m)] = np.where(np.isnan(first), np.nan, -np.inf)
    gaps: Floats = first - own.max(axis=0)
    return gaps


def modularity_per_code(score: Score, thresh: float) -> Floats:
    """Return the values of all codes, informations below ``thresh`` being 0."""
    if thresh <= DEAD_CODE:
        return np.array(score.per_code)
    information = np.array(score.matrix_values)
    information = information[:, ~np.isnan(information).all(axis=0)]  # factors that vary
    information = np.where(information < thresh, 0.0, information)
    largest = information.max(axis=1)
    relative = information / np.where(largest > 0, largest, 1.0)[:, None]
    others = np.maximum((relative**2).sum(axis=1) - 1.0, 0.0)
    found: Floats = np.where(largest > 0, 1.0 - others / (information.shape[1] - 1), 0.0)
    return found


#: What is said of the arguments of Latte.
_ARGUMENTS = {
    "reg_dim": "sequence of int, optional\n    The code of each attribute.",
    "discrete": "bool, default False\n    Attributes are classes.",
    "fill_reg_dim": "bool, default False\n    Without ``reg_dim``, code i is that of attribute i.",
    "l2_reg": "float, default 1.0\n    Penalty C of the linear classifier of classes.",
    "thresh": "float, default 1e-12\n    Below it a variance (SAP) or an information (Modularity) scores 0.",
}


class LatteMetric:
    """The part that metrics under Latte's names share, in any framework.

    Attributes
    ----------
    metric : str, or tuple of str
        The metric, or those of the bundle.
    defaults : mapping
        Its arguments.
    """

    metric: ClassVar[str | tuple[str, ...]]
    defaults: ClassVar[Mapping[str, Any]]
    _accumulator: Accumulator
    _own: Mapping[str, Any]

    def __init__(self, *given: Any, **keywords: Any) -> None:
        """Take the arguments of Latte, which stand for those of an accumulator, and others."""
        bound = inspect.signature(type(self)).bind(*given, **keywords)
        more = bound.arguments.pop("keywords", {})
        own = {**self.defaults, **bound.arguments}
        checked_size(own.get("thresh", THRESHOLD), "thresh", zero=True)
        meant = {name: value for name, value in own.items() if name != "thresh"}
        settings: Any = {"native": True, **accumulator_keywords(self.metric, **meant)}
        super().__init__(self.metric, **settings, **more)  # type: ignore[call-arg] # of the metric that it is mixed into
        self._own = own

    def _values(self, result: Any) -> Any:
        """Return the value of each attribute; of the bundle, by the name of each metric."""
        if isinstance(self.metric, tuple):
            return per_attribute_of_bundle(result)
        own = {name: self._own[name] for name in ("reg_dim", "discrete", "thresh") if name in self._own}
        variances = code_variances(self._accumulator) if self.metric == "sap" else None
        return per_attribute(result, variances=variances, **own)

    def _undefined(self) -> Any:
        columns = self._accumulator._held.columns
        undefined = np.full(() if columns is None else (len(columns[1]),), np.nan)
        return dict.fromkeys(BUNDLE_KEYS, undefined) if isinstance(self.metric, tuple) else undefined


def latte_classes(base: type, module: str, framework: str, others: str) -> dict[str, Any]:
    """Return the classes of Latte by name, made of a metric of a framework; ``others`` are some of its arguments."""
    made = {}
    for name, (metric, defaults) in SOURCE_NAMES.items():
        says = "MIG, DMIG, XMIG and DLIG of each attribute from one state: a dict of them by these names."
        if isinstance(metric, str):
            says = f"{CATALOGUE[metric].title} of each attribute: {CATALOGUE[metric].definition}."
        plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
        named = [inspect.Parameter(key, plain, default=value) for key, value in defaults.items()]
        arguments = "".join(f"{key} : {_ARGUMENTS[key]}\n" for key in defaults)
        body = {
            "__doc__": f"{says}\n\nThe class ``{name}`` of Latte (Watcharasupat et al. 2022), with its protocol: "
            "nearest-neighbour information;\nSAP is scored on the training rows. One value per attribute."
            f"\n\nParameters\n----------\n{arguments}**keywords\n    Others of :class:`{framework}`: {others}, "
            "``seed``, ...\n",
            "__module__": module,
            "__signature__": inspect.Signature([*named, inspect.Parameter("keywords", inspect.Parameter.VAR_KEYWORD)]),
            "metric": metric,
            "defaults": defaults,
        }
        made[name] = type(name, (base,), body)
    return made


def _scored(
    metric: str | Sequence[str], z: object, a: object, reg_dim: RegDim, discrete: bool, **more: Any
) -> tuple[Any, Accumulator]:
    """Return the result on all rows under Latte's protocol, and what it was computed from."""
    keywords = accumulator_keywords(metric, reg_dim=reg_dim, discrete=discrete, **more)
    held = Accumulator(metric, bound=sys.maxsize, **keywords).update(z, a)
    return held.compute(), held


def _of_attributes(metric: str, z: object, a: object, reg_dim: RegDim, discrete: bool, **more: Any) -> Floats:
    score, _ = _scored(metric, z, a, reg_dim, discrete, **more)
    return per_attribute(score, reg_dim=reg_dim, discrete=discrete)


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
    return _of_attributes("mig", z, a, reg_dim, discrete, fill_reg_dim=fill_reg_dim)


def dmig(z: object, a: object, reg_dim: RegDim = None, discrete: bool = False) -> Floats:
    """Return DMIG of each attribute, code i being that of attribute i by default; arguments as of :func:`mig`."""
    return _of_attributes("dmig", z, a, reg_dim, discrete)


def dlig(z: object, a: object, reg_dim: RegDim = None, discrete: bool = False) -> Floats:
    """Return DLIG of each attribute's code, by default code i for attribute i; arguments as of :func:`mig`."""
    return _of_attributes("dlig", z, a, reg_dim, discrete)


def xmig(z: object, a: object, reg_dim: RegDim = None, discrete: bool = False) -> Floats:
    """Return XMIG of each attribute, code i being that of attribute i by default; arguments as of :func:`mig`."""
    return _of_attributes("xmig", z, a, reg_dim, discrete)


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
    thresh = checked_size(thresh, "thresh", zero=True)
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
    return modularity_per_code(score, checked_size(thresh, "thresh", zero=True))


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
    values = monotonicity_on(z, a, reg_dim, threshold=checked_size(liad_thresh, "liad_thresh", zero=True))
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
    turned = {"attribute": values.T, "sample": values, "all": values.reshape(-1)}[mode]
    return averaged(turned, of_defined=of_defined)
