"""Univariate predictors one sample at a time, from the definitions."""

import math
from collections.abc import Sequence


def squared_correlation(code: Sequence[float], values: Sequence[float]) -> float:
    n = len(code)
    mean_code, mean_value = math.fsum(code) / n, math.fsum(values) / n
    across = math.fsum((z - mean_code) * (v - mean_value) for z, v in zip(code, values, strict=True))
    along_code = math.fsum((z - mean_code) ** 2 for z in code)
    along_value = math.fsum((v - mean_value) ** 2 for v in values)
    return across**2 / (along_code * along_value)
