"""Small data for the tests of KerasMetric, and the way to the tensors of the backend and back."""

from typing import Any

import keras
import numpy as np
import pytest
from numpy.typing import NDArray

N = 300
QUIET = [
    pytest.mark.filterwarnings("ignore::demele.core.errors.DemeleWarning"),  # small data
    # of Keras' own conversions of its tensors and variables
    pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning"),
]


def rows(n: int = N, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Three codes of two factors: one of classes, one of numbers."""
    rng = np.random.default_rng(seed)
    factors = np.column_stack([rng.integers(0, 3, n), np.round(rng.random(n), 3)]).astype(np.float32)
    codes = factors @ rng.normal(size=(2, 3)) + 0.2 * rng.normal(size=(n, 3))
    return codes.astype(np.float32), factors


def tensor(values: Any) -> Any:
    return keras.ops.convert_to_tensor(values)


def array(values: Any) -> NDArray[Any]:
    return np.asarray(keras.ops.convert_to_numpy(values))
