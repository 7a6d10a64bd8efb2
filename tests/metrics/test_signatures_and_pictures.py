"""What a score says of how it was made, and the pictures that are kept beside it."""

import numpy as np
import pytest

import demele

RNG = np.random.default_rng(0)


def test_what_became_of_missing_annotations_is_signed_where_it_was_asked_for() -> None:
    codes, factors = RNG.random((200, 2)), RNG.random((200, 2))
    assert "missing" not in demele.metrics.mig(codes, factors).signature.arguments
    factors[3, 0] = np.nan
    assert demele.metrics.mig(codes, factors, missing="omit").signature.arguments["missing"] == "omit"


@pytest.mark.parametrize(("codes", "shown"), [(3, 6), (201, 0)])
def test_pictures_of_codes_and_factors_are_kept_while_a_reader_can_look_at_them(codes: int, shown: int) -> None:
    found = demele.evaluate(RNG.random((300, codes)), RNG.integers(0, 3, (300, 2)).astype(str), ["irs"])
    assert len(found.dependency) == shown
