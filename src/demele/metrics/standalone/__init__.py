"""Scores outside the engine of the metrics: they answer other questions, or take other arrays.

Of codes alone (``unsupervised``, ``stochastic``), of subspaces of codes (``subspaces``), of several models (``udr``),
of predictions made from codes (``downstream``, ``fairness``), of attributes along a traversal (``interpolatability``).
"""

from collections.abc import Mapping
from types import MappingProxyType

#: What each rests on, by the name of its function.
WORKS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "unsupervised_scores": ("locatello2019challenging",),
        "downstream": ("locatello2019challenging",),
        "fairness": ("locatello2019fairness",),
        "stochastic_scores": ("do2020theory",),
        "subspace_scores": ("lindsey2024factorized", "tonnaer2022quantifying"),
        "udr": ("duan2020unsupervised",),
        "interpolatability": ("watcharasupat2021controllable",),
    }
)
