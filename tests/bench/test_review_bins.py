"""Z-max variance with the review's ten bins: its figure of noise, which three bins do not have."""

import numpy as np
import pytest

from demele import metrics
from demele.core.arrays import rng_for
from demele.errors import FragileScoreWarning


@pytest.mark.filterwarnings(f"ignore::{FragileScoreWarning.__module__}.{FragileScoreWarning.__name__}")
def test_ten_bins_have_the_faults_that_the_review_describes() -> None:
    """Section 3.3.1: no full score of a perfect code, no robustness at 60% noise, more than 0 for noise alone."""
    found: dict[tuple[float, int], list[float]] = {}
    for seed in range(3):
        rng = rng_for(seed, "review bins")
        factors, noise = rng.random((20_000, 8)), rng.random((20_000, 8))
        for share, bins in ((0.0, 3), (0.0, 10), (0.6, 10), (1.0, 3), (1.0, 10)):
            codes = (1 - share) * factors + share * noise
            found.setdefault((share, bins), []).append(metrics.z_max_variance(codes, factors, bins=bins).value)
    value = {place: float(np.mean(values)) for place, values in found.items()}
    assert value[0.0, 3] > 0.95
    assert value[0.0, 10] < 0.9
    assert value[0.6, 10] < 0.3
    assert abs(value[1.0, 3]) < 0.03
    assert value[1.0, 10] > 0.03
