"""A gap below 0 says why: another code than the one that is meant informs more."""

import numpy as np
import pytest

import demele

FACTORS = np.random.default_rng(0).random((400, 2))


@pytest.mark.parametrize("metric", [demele.metrics.dmig, demele.metrics.mig])
def test_a_score_below_0_says_that_another_code_informs_more(metric: object) -> None:
    assert callable(metric)
    swapped = metric(FACTORS[:, ::-1], FACTORS, reg_dim=[0, 1])
    assert swapped.value < 0
    (note,) = [note for note in swapped.notes if note.code == "below-zero"]
    assert note.message.startswith("below 0: for 2 of 2 factors another code informs more")
    right = metric(FACTORS[:, ::-1], FACTORS, reg_dim=[1, 0])
    assert right.value > 0
    assert not [note for note in right.notes if note.code == "below-zero"]


def test_where_the_order_was_assumed_that_note_says_it() -> None:
    swapped = demele.metrics.dmig(FACTORS[:, ::-1], FACTORS)
    assert [note.code for note in swapped.notes if note.severity == "warning"] == ["assumed-reg-dim"]
