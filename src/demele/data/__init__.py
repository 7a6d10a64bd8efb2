"""Data: the bundled demonstrations and the types that every data set returns."""

from demele.data.crowd_sets import CrowdSet, crowd_set, crowd_set_names
from demele.data.demo import FACTOR_UNITS, demo, demo_names, digit_factors
from demele.data.label_sets import LabelSet, label_set, label_set_names
from demele.data.sample import Sample
from demele.data.space import FactorSpace, Symmetry

__all__ = [
    "FACTOR_UNITS",
    "CrowdSet",
    "FactorSpace",
    "LabelSet",
    "Sample",
    "Symmetry",
    "crowd_set",
    "crowd_set_names",
    "demo",
    "demo_names",
    "digit_factors",
    "label_set",
    "label_set_names",
]
