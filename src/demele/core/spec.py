"""What a metric declares about itself."""

from dataclasses import dataclass
from typing import Literal

Family = Literal["information", "predictor", "intervention"]
Property = Literal["modularity", "compactness", "explicitness"]
NativeUnit = Literal["per factor", "per code", "whole"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSpec:
    """One line of the catalogue: what a metric is, claims and needs.

    Attributes
    ----------
    name, title : str
        Name in code, and in print.
    family : str
        ``"information"``, ``"predictor"`` or ``"intervention"``.
    properties : tuple of str
        What the metric claims to measure: modularity, compactness, explicitness; two or more make it holistic.
    native : str
        The unit of its own values: per factor, per code, or only the whole.
    range : (float, float)
        Smallest and largest value that the definition allows.
    best : float
        The value of a perfect representation.
    stochastic : bool
        Whether the seed changes the number.
    discretises : bool
        Whether continuous columns are cut into bins.
    needs_codes, needs_factors : int
        Fewest codes and (not constant) factors for which it is defined.
    source : str
        Paper and equation.
    definition : str
        One line.
    group : str
        Metrics of one group share one computation.
    options : tuple of str
        Names of the options, beyond those that all metrics share.
    """

    name: str
    title: str
    family: Family
    properties: tuple[Property, ...]
    native: NativeUnit
    range: tuple[float, float]
    source: str
    definition: str
    group: str
    best: float = 1.0
    stochastic: bool = False
    discretises: bool = False
    needs_codes: int = 1
    needs_factors: int = 1
    needs_codes_std: bool = False
    options: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
