"""Which codes a model uses."""

import numpy as np
from numpy.typing import NDArray

#: A code is in use if its means vary by more than this, and it is further than that from the prior, in nats.
ACTIVE_STD, ACTIVE_KL = 0.05, 0.01


def is_active(kl: NDArray[np.float64], std: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which codes are in use; where divergences are NaN, as of an autoencoder, by their spread alone.

    Examples
    --------
    >>> is_active(np.array([1.0, 0.001, np.nan]), np.array([0.9, 0.9, 0.9])).tolist()
    [True, False, True]
    """
    return (std > ACTIVE_STD) & (np.isnan(kl) | (kl > ACTIVE_KL))
