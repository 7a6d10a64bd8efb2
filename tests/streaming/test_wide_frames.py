"""Frames whose ranges do not fit the rows: scores that say more of the frame than of the codes are marked."""

import warnings

import numpy as np
import pytest

import demele
from tests.tolerances import ROUNDING, assert_close

RNG = np.random.default_rng(0)
FACTORS = RNG.random((500, 2))
UNIT = {"v1": (0.0, 1.0), "v2": (0.0, 1.0)}


def test_a_code_in_one_bin_is_a_constant_code() -> None:
    """Codes of a saturated unit lie in one bin of the range stated for it: no metric may score it above a constant."""
    codes = 0.99 + 0.001 * FACTORS
    frame = demele.bins.BinEdges.fixed([(0, 1)] * 2, UNIT)
    held = demele.Accumulator(["mig", "jemmig"], frame=frame).update(codes, FACTORS)
    with pytest.warns(demele.errors.FragileScoreWarning, match="'z1' uses 1 of 10, 'z2' uses 1 of 10"):
        found = held.compute()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        constant = demele.evaluate(np.ones((500, 2)), FACTORS, ["mig", "jemmig"])
    for name in ("mig", "jemmig"):
        assert_close(found[name].value, constant[name].value, ROUNDING)
        assert found[name].fragile


@pytest.mark.parametrize(("width", "told"), [(1.0, False), (1.9, False), (3.0, True)])
def test_bins_that_no_row_reaches_are_told(width: float, told: bool) -> None:
    """With ranges of three times the codes', a third of the bins is reached."""
    frame = demele.bins.BinEdges.fixed([(0, width)] * 2, UNIT)
    held = demele.Accumulator("mig", frame=frame).update(FACTORS, FACTORS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        score = held.compute()
    assert [note.code for note in score.notes] == (["wide-frame", "unprobed"] if told else ["unprobed"])
    assert len(caught) == told


def test_a_frame_that_clips_much_is_told_loudly() -> None:
    frame = demele.bins.BinEdges.of(FACTORS, FACTORS)
    held = demele.Accumulator("mig", frame=frame, outside="clip").update(3 * FACTORS - 1, FACTORS)
    with pytest.warns(demele.errors.FragileScoreWarning, match="values outside the frame's ranges"):
        assert held.compute().fragile
