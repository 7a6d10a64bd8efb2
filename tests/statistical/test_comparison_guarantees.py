"""Comparison methods where the candidate is exactly as good as the baseline: a short form of the grid."""

import pytest

from benchmarks.guarantees import Cell, measured
from tests.tolerances import assert_rate_at_most

REPEATS = 50
TAIL = 0.025
#: What believes the labels, or a rate that is too small, promises nothing here.
UNGUARDED = ("overlap", "worst-case, half the rate", "worst-case-overlap, half the rate")


@pytest.mark.parametrize(
    "cell",
    [
        Cell("adversarial", 0.15, 200, 0.8, 0.8),
        Cell("feature", 0.3, 200, 0.9, 0.85),
        Cell("class", 0.05, 200, 0.5, 0.5),
        Cell("uniform", 0.15, 50, 0.95, 0.95),
    ],
    ids=lambda cell: cell.name,
)
def test_no_method_claims_more_often_than_it_promises(cell: Cell) -> None:
    claims = measured(cell, REPEATS)["claims"]
    assert {"worst-case, rate", "worst-case-overlap", "audit, 20 uniform", "sequential, 20"} <= set(claims)
    for method, count in claims.items():
        if method not in UNGUARDED:
            assert_rate_at_most(count, REPEATS, TAIL)


def test_a_rate_that_is_too_small_breaks_the_promise() -> None:
    claims = measured(Cell("adversarial", 0.15, 1000, 0.8, 0.8), 20)["claims"]
    assert claims["worst-case, half the rate"] >= 15
    assert claims["overlap"] == 20
    assert claims["worst-case, rate"] <= 5
