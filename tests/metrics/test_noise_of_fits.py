"""Scores of predictors and of groups on codes of noise say that noise would score as much."""

import numpy as np
import pytest

import demele

pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
RNG = np.random.default_rng(0)
CODES, CLASSES = RNG.normal(size=(60, 20)), RNG.integers(0, 2, (60, 2)).astype(str)


@pytest.mark.parametrize("name", ["z_diff", "z_min_variance", "irs", "dci_lasso_modularity"])
def test_a_score_of_noise_is_noted(name: str) -> None:
    score = demele.evaluate(CODES, CLASSES, [name])[name]
    assert score.value > 0.1
    assert "noise" in {note.code for note in score.notes}
    told = demele.evaluate(CLASSES == "1", CLASSES, [name], kinds="categorical")[name]
    assert "noise" not in {note.code for note in told.notes}


@pytest.mark.parametrize("name", ["z_diff", "z_min_variance"])
def test_many_codes_of_which_one_tells_are_held_against_shuffled_rows(name: str) -> None:
    codes = CODES.copy()
    codes[:, 0] += 4 * (CLASSES[:, 0] == "1")
    score = demele.evaluate(codes, CLASSES, [name])[name]
    (note,) = (note for note in score.notes if note.code == "many-codes")
    assert "one shuffle" in note.message
