"""What Explicitness fits."""

import numpy as np
import pytest

import demele
from demele.estimation import logistic


def test_only_the_whole_is_fitted_under_a_second_penalty(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    factor = rng.integers(0, 3, 400)
    codes = factor[:, None] + rng.normal(size=(400, 2))
    fitted = []

    def counted(*given: object, **options: float) -> np.ndarray:
        fitted.append(options["C"])
        return plain(*given, **options)  # type: ignore[arg-type]

    plain = logistic.explicitness_by_value
    monkeypatch.setattr(logistic, "explicitness_by_value", counted)
    demele.metrics.explicitness(codes, factor, kinds="categorical", n_bootstrap=3)
    # a note of the score says what a freer fit would give: values of half-samples have no notes
    assert sorted(fitted) == [1.0] * 4 + [100.0]
