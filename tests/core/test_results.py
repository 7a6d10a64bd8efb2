"""A Score is a plain frozen record; its table is made when it is read."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from demele.core.alignment import Alignment
from demele.core.results import CorrectedScore, Interval, Score
from demele.core.signature import Signature

VALUES = np.array([[0.5, 0.25, np.nan], [0.125, 1.0, np.nan]])


def test_a_score_shows_what_else_is_known_of_it(score: Score) -> None:
    bounds = Interval(low=0.5, high=0.75, level=1.0, method="bounds", kind="bounds")
    only = CorrectedScore(value=float("nan"), method="bounds", assumptions=(), interval=bounds)
    bounded = replace(score, corrected=only)
    assert bounded.sentences == ("mig is 0.625.", "Whatever annotations are wrong, the score is within [0.500, 0.750].")
    known = replace(score, corrected=replace(only, value=0.7))
    assert known.sentences[1] == "Corrected by the method bounds, the score is 0.700 [0.500, 0.750]."
    turned = replace(score, alignment=Alignment(raw=0.6, aligned=0.9, halves=()))
    assert turned.alignment is not None
    assert turned.alignment.gap == pytest.approx(0.3)
    assert turned.sentences[1] == turned.alignment.sentence


@pytest.fixture
def score() -> Score:
    """Two codes, three factors of which the last is constant."""
    return Score(
        metric="mig",
        value=0.625,
        n=10,
        signature=Signature("mig"),
        code_names=("z1", "z2"),
        factor_names=("a", "b", "c"),
        matrix_values=VALUES,
        matrix_of="mutual information (nats)",
    )


def _table(score: Score) -> pd.DataFrame:
    found = score.matrix
    assert found is not None
    return found


def test_the_matrix_is_a_table_of_codes_and_factors(score: Score) -> None:
    expected = pd.DataFrame(VALUES, index=["z1", "z2"], columns=["a", "b", "c"])
    pd.testing.assert_frame_equal(_table(score), expected)
    assert replace(score, matrix_values=None).matrix is None


def test_a_value_is_computed_without_pandas() -> None:
    program = (
        "import sys, numpy, demele\n"
        "codes = numpy.random.default_rng(0).random((2000, 2))\n"
        "score = demele.metrics.mig(codes, codes)\n"
        "assert 'pandas' not in sys.modules, 'loaded for a table that nobody asked for'\n"
        "assert score.matrix.shape == (2, 2)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)
