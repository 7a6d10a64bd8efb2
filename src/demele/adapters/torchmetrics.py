"""Metrics of disentanglement as torchmetrics metrics: one class for all of them, and the class names of Latte.

Install ``demele[torch]``.

>>> import numpy as np, torch, demele
>>> factors = np.random.default_rng(0).random((1000, 2))
>>> metric = TorchMetric("mig", frame=demele.Frame.of(factors, factors))
>>> for rows in torch.from_numpy(factors).split(100):
...     metric.update(rows, rows)
>>> metric.compute().item() == demele.mig(factors, factors).value
True

Latte's classes return one value per attribute:

>>> metric = MutualInformationGap()
>>> metric.update(factors, factors)
>>> tuple(metric.compute().shape)
(2,)
"""

from demele.adapters.torch_latte import (
    DLIG,
    DMIG,
    MIG,
    SAP,
    XMIG,
    DependencyAwareLatentInformationGap,
    DependencyAwareMutualInformationBundle,
    DependencyAwareMutualInformationGap,
    DependencyBlindMutualInformationGap,
    Modularity,
    MutualInformationGap,
    SeparateAttributePredictability,
)
from demele.adapters.torch_metric import TorchMetric

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
    "TorchMetric",
]
