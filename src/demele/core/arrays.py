"""The arrays that signatures name: of numbers, of counts, of flags, of row numbers, and of whole numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
Rows = NDArray[np.intp]
Integers = NDArray[np.integer[Any]]
