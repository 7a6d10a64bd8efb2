"""Data: the bundled demonstration and the type that every data set returns."""

from demele.data.demo import FACTOR_UNITS, demo, demo_names, digit_factors
from demele.data.sample import Sample

__all__ = ["FACTOR_UNITS", "Sample", "demo", "demo_names", "digit_factors"]
