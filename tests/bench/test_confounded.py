"""A confounded process: means by hand, robustness by hand at any strength, and its scenario."""

import numpy as np
import pytest

from demele import bench
from demele.errors import InputError
from demele.metrics import interventional_robustness
from tests.tolerances import assert_mean


@pytest.mark.parametrize("strength", [0.0, 0.6])
def test_what_is_seen_and_what_is_set_have_the_means_found_by_hand(strength: float) -> None:
    process = bench.ConfoundedProcess(strength=strength, leak=0.3)
    codes, factors = process.observe(20_000)
    assert_mean(factors[:, 0], 1.5)
    seen = factors[:, 0] == 3
    assert_mean(factors[seen, 1], strength**2 * 3 + (1 - strength**2) * 1.5)
    assert np.array_equal(codes, 0.7 * factors + 0.3 * factors[:, [1, 2, 0]])
    codes, factors = process.intervene(20_000, {0: 3})
    assert (factors[:, 0] == 3).all()
    assert_mean(factors[:, 1], 1.5)
    assert_mean(codes[:, 0], 0.7 * 3 + 0.3 * 1.5)


@pytest.mark.parametrize("strength", [0.0, 0.4, 0.7])
@pytest.mark.parametrize("leak", [0.0, 0.25])
def test_robustness_from_rows_and_from_interventions_are_those_found_by_hand(strength: float, leak: float) -> None:
    """1 - leak under interventions; from rows, means given a value move by leak s^2 |v - m|: 1 - leak (1 + 2 s^2/3)."""
    process = bench.ConfoundedProcess(strength=strength, leak=leak)
    codes, factors = process.observe(20_000)
    found = interventional_robustness(codes, factors, codes_of_interest=[0], factors_of_interest=[0])
    assert abs(found.value - (1 - leak * (1 + 2 * strength**2 / 3))) < 0.01
    largest = []
    for value in range(4):
        mean = process.intervene(20_000, {0: value})[0][:, 0].mean()
        reached = [process.intervene(1, {0: value, 1: other})[0][0, 0] for other in range(4)]
        largest.append(np.abs(np.array(reached) - mean).max())
    assert abs(1 - np.mean(largest) / 1.5 - (1 - leak)) < 0.01


def test_the_scenario_tells_what_bends_under_a_confounder() -> None:
    found = bench.check_metrics(["irs", "modularity"], bench.confounded_scenario(), seeds=5, n_rows=2000)
    assert found.verdict("irs", "confounded").status == "holds"
    assert found.verdict("modularity", "confounded").status == "fails"


def test_what_cannot_be_set_is_refused() -> None:
    with pytest.raises(InputError, match="factors below 3 and values below 4"):
        bench.ConfoundedProcess().intervene(10, {3: 0})
