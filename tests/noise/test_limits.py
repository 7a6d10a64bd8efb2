"""Limits of marked ones in a finite set: against a search through all numbers, by case, by batch, at the edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from demele.noise.transition import hypergeometric_limit
from tests.tolerances import assert_exact


@given(st.integers(1, 30), st.data())
@settings(max_examples=50)
def test_the_largest_number_that_is_not_rejected(size: int, data: st.DataObject) -> None:
    drawn = data.draw(st.integers(0, size))
    seen = data.draw(st.integers(0, drawn))
    error = data.draw(st.sampled_from([0.001, 0.025, 0.2]))
    possible = np.arange(seen, size - (drawn - seen) + 1)
    kept = possible[hypergeom.cdf(seen, size, possible, drawn) > error]
    assert_exact(hypergeometric_limit(size, drawn, seen, error), kept.max())


def test_many_cases_at_once_are_those_one_by_one() -> None:
    rng = np.random.default_rng(2)
    size = rng.integers(1, 60, (8, 10))
    drawn = rng.integers(0, size + 1)
    seen = rng.integers(0, drawn + 1)
    found = hypergeometric_limit(size, drawn, seen, 0.03)
    cases = zip(size.flat, drawn.flat, seen.flat, strict=True)
    one_by_one = [hypergeometric_limit(a, b, c, 0.03) for a, b, c in cases]
    assert_exact(found.ravel(), one_by_one)
    # Cases that differ in their error alone, and arguments that broadcast.
    errors = np.array([0.2, 0.001, 0.2])
    assert_exact(hypergeometric_limit(50, [[10], [20]], 1, errors).shape, (2, 3))
    assert_exact(hypergeometric_limit(50, 10, 1, errors), [hypergeometric_limit(50, 10, 1, error) for error in errors])


@pytest.mark.parametrize(("case", "limit"), [((0, 0, 0), 0), ((7, 7, 3), 3), ((7, 0, 0), 7), ((5, 3, 3), 5)])
def test_what_needs_no_search(case: tuple[int, int, int], limit: int) -> None:
    assert_exact(hypergeometric_limit(*case, 0.05), limit)
    size, drawn, seen = (np.array([value]) for value in case)
    assert_exact(hypergeometric_limit(size, drawn, seen, 0.05), [limit])


def test_no_case() -> None:
    none = np.zeros(0, dtype=int)
    assert hypergeometric_limit(none, none, none, 0.05).shape == (0,)
