"""The class names of Latte (Watcharasupat et al. 2022) as torchmetrics metrics: one value per attribute."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from demele.adapters.source_names import (
    BUNDLE_KEYS,
    THRESHOLD,
    RegDim,
    accumulator_keywords,
    checked_threshold,
    code_variances,
    per_attribute,
    per_attribute_of_bundle,
)
from demele.adapters.torch_metric import TorchMetric
from demele.core.results import Score

__all__ = [
    "DLIG",
    "DMIG",
    "MIG",
    "SAP",
    "XMIG",
    "DependencyAwareLatentInformationGap",
    "DependencyAwareMutualInformationBundle",
    "DependencyAwareMutualInformationGap",
    "DependencyBlindMutualInformationGap",
    "Modularity",
    "MutualInformationGap",
    "SeparateAttributePredictability",
]


class _SourceMetric(TorchMetric):
    """A metric under Latte's name: one value per attribute, under the protocol "latte"."""

    _reg_dim: RegDim
    _discrete: bool
    _thresh: float

    def __init__(
        self,
        metric: str | Sequence[str],
        reg_dim: RegDim,
        discrete: bool,
        kwargs: Mapping[str, Any],
        *,
        fill_reg_dim: bool = False,
        l2_reg: float = 1.0,
        thresh: float = THRESHOLD,
    ) -> None:
        settings = accumulator_keywords(
            metric, reg_dim=reg_dim, discrete=discrete, fill_reg_dim=fill_reg_dim, l2_reg=l2_reg
        )
        thresh = checked_threshold(thresh)
        super().__init__(metric, native=True, **settings, **kwargs)
        self._reg_dim, self._discrete, self._thresh = settings["reg_dim"], discrete, thresh

    def _value(self, score: Score) -> Any:
        variances = code_variances(self._accumulator) if score.metric == "sap" and not self._discrete else None
        return per_attribute(
            score, reg_dim=self._reg_dim, discrete=self._discrete, thresh=self._thresh, variances=variances
        )

    def _shape(self, name: str) -> tuple[int, ...]:
        columns = self._accumulator._held.columns
        return () if columns is None else (len(columns[1]),)


class MutualInformationGap(_SourceMetric):
    """MIG of each attribute: see :func:`demele.mig` and :class:`TorchMetric`.

    Parameters
    ----------
    reg_dim : sequence of int, optional
        The code of each attribute, whose information then comes first whatever its rank.
    discrete : bool
        Attributes are classes.
    fill_reg_dim : bool
        Code i is that of attribute i, where ``reg_dim`` is not given.
    **kwargs
        ``bound``, ``stream``, ``seed``, ``missing``, and those of torchmetrics.
    """

    def __init__(
        self, reg_dim: RegDim = None, discrete: bool = False, fill_reg_dim: bool = False, **kwargs: Any
    ) -> None:
        super().__init__("mig", reg_dim, discrete, kwargs, fill_reg_dim=fill_reg_dim)


class DependencyAwareMutualInformationGap(_SourceMetric):
    """DMIG of each attribute: see :func:`demele.dmig`; arguments as of :class:`MutualInformationGap`."""

    def __init__(self, reg_dim: RegDim = None, discrete: bool = False, **kwargs: Any) -> None:
        super().__init__("dmig", reg_dim, discrete, kwargs)


class DependencyAwareLatentInformationGap(_SourceMetric):
    """DLIG of each attribute's code: see :func:`demele.dlig`; arguments as of :class:`MutualInformationGap`."""

    def __init__(self, reg_dim: RegDim = None, discrete: bool = False, **kwargs: Any) -> None:
        super().__init__("dlig", reg_dim, discrete, kwargs)


class DependencyBlindMutualInformationGap(_SourceMetric):
    """XMIG of each attribute: see :func:`demele.xmig`; arguments as of :class:`MutualInformationGap`."""

    def __init__(self, reg_dim: RegDim = None, discrete: bool = False, **kwargs: Any) -> None:
        super().__init__("xmig", reg_dim, discrete, kwargs)


class SeparateAttributePredictability(_SourceMetric):
    """SAP of each attribute: see :func:`demele.sap`.

    Parameters
    ----------
    reg_dim, discrete, **kwargs
        As of :class:`MutualInformationGap`.
    l2_reg : float, default 1.0
        Penalty C of the linear classifier of a discrete attribute.
    thresh : float, default 1e-12
        Codes with a smaller variance score 0; not looked at for discrete attributes.
    """

    def __init__(
        self,
        reg_dim: RegDim = None,
        discrete: bool = False,
        l2_reg: float = 1.0,
        thresh: float = THRESHOLD,
        **kwargs: Any,
    ) -> None:
        super().__init__("sap", reg_dim, discrete, kwargs, l2_reg=l2_reg, thresh=thresh)


class Modularity(_SourceMetric):
    """Modularity of each attribute's code: see :func:`demele.modularity`.

    Parameters
    ----------
    reg_dim : sequence of int, optional
        The codes that values are returned of; code i for attribute i without it.
    discrete, **kwargs
        As of :class:`MutualInformationGap`.
    thresh : float, default 1e-12
        Informations below it (nats) count as 0.
    """

    def __init__(
        self, reg_dim: RegDim = None, discrete: bool = False, thresh: float = THRESHOLD, **kwargs: Any
    ) -> None:
        super().__init__("modularity", reg_dim, discrete, kwargs, thresh=thresh)


class DependencyAwareMutualInformationBundle(_SourceMetric):
    """MIG, DMIG, XMIG and DLIG of each attribute from one information table, as a dict by these names.

    Every attribute has a code of its own in all four, by default code i. A metric that does not apply, as XMIG where
    every code has an attribute, is NaN.

    Parameters
    ----------
    reg_dim, discrete, **kwargs
        As of :class:`MutualInformationGap`.
    """

    def __init__(self, reg_dim: RegDim = None, discrete: bool = False, **kwargs: Any) -> None:
        super().__init__(tuple(BUNDLE_KEYS.values()), reg_dim, discrete, kwargs)

    def _values(self, result: Any) -> Any:
        return per_attribute_of_bundle(result)

    def _undefined(self) -> Any:
        return {key: np.full(self._shape(name), np.nan) for key, name in BUNDLE_KEYS.items()}


MIG = MutualInformationGap
DMIG = DependencyAwareMutualInformationGap
DLIG = DependencyAwareLatentInformationGap
XMIG = DependencyBlindMutualInformationGap
SAP = SeparateAttributePredictability
