"""How many wrong annotations an order bears: between a guarantee and an attack that succeeds."""

import math

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import demele
from demele.estimation.noise_bounds import BOUNDS, information_bounds
from tests.tolerances import ROUNDING, assert_close

Floats = NDArray[np.float64]
pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")


@pytest.fixture(autouse=True)
def fewer_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that are a little wider, and rates to a coarser precision, take seconds less."""
    monkeypatch.setattr("demele.estimation.noise_bounds.STEPS", 40)
    monkeypatch.setattr("demele.scoring.breakdown.PRECISION", 0.002)


def drawn() -> tuple[Floats, Floats, pd.DataFrame]:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 3, (300, 2))
    factors = pd.DataFrame(values.astype(str), columns=["shape", "scale"])
    better, worse = (values + spread * rng.normal(size=values.shape) for spread in (0.25, 0.5))
    return better, np.column_stack([worse, rng.normal(size=300)]), factors


def test_the_order_lies_between_guarantee_and_attack() -> None:
    better, worse, factors = drawn()
    found = demele.probes.breakdown(worse, better, factors, names=("old", "new"))
    assert (found.metric, found.ahead, found.behind, found.n) == ("mig", "new", "old", 300)
    assert_close(
        [found.value_ahead, found.value_behind],
        [demele.metrics.mig(better, factors).value, demele.metrics.mig(worse, factors).value],
        ROUNDING,
    )
    assert 0.01 < found.guaranteed < found.attained < 0.3

    def bounds(codes: Floats, rate: float) -> tuple[float, float]:
        score = demele.evaluate(codes, factors, ["mig"], factor_noise={"shape": rate, "scale": rate})["mig"]
        assert score.corrected is not None
        assert score.corrected.interval is not None
        return score.corrected.interval.low, score.corrected.interval.high

    for rate, kept in ((found.guaranteed, True), (found.guaranteed + 0.002, False)):
        assert (bounds(better, rate)[0] > bounds(worse, rate)[1]) is kept


def test_equal_representations_have_no_order_to_lose() -> None:
    better, _, factors = drawn()
    found = demele.probes.breakdown(better, better, factors)
    assert (found.guaranteed, found.attained) == (0.0, 0.0)
    assert "score the same" in found.sentence


def missing_some() -> tuple[Floats, Floats, pd.DataFrame]:
    """A tenth of the shapes and a third of the scales are not annotated; the codes know nothing of which."""
    better, worse, factors = drawn()
    rows = np.random.default_rng(1).permutation(len(factors))
    factors.loc[rows[:30], "shape"] = None
    factors.loc[rows[20:120], "scale"] = None
    return better, worse, factors


@pytest.mark.parametrize("metric", ["mig", "mig_sup", "dcimig"])
def test_factors_are_taken_on_the_rows_annotated_for_them(metric: str) -> None:
    better, worse, factors = missing_some()
    found = demele.probes.breakdown(better, worse, factors, metric, missing="omit")
    whole = [demele.evaluate(codes, factors, [metric], missing="omit")[metric].value for codes in (better, worse)]
    assert_close([found.value_ahead, found.value_behind], whole, ROUNDING)
    assert 0 < found.guaranteed < found.attained < 0.3
    assert found.n == 270


def test_rows_that_lack_every_annotation_change_nothing() -> None:
    better, worse, factors = drawn()
    more = pd.concat([factors, factors[:60].map(lambda value: None)], ignore_index=True)
    longer, other = (np.concatenate([codes, codes[:60]]) for codes in (better, worse))
    found = demele.probes.breakdown(longer, other, more, missing="omit")
    assert found == demele.probes.breakdown(better, worse, factors)


def test_missing_annotations_are_refused_with_an_option_that_there_is() -> None:
    better, worse, factors = missing_some()
    with pytest.raises(
        demele.errors.InputError, match=r"30 missing annotations in column 'shape'.* pass `missing='omit'`"
    ):
        demele.probes.breakdown(better, worse, factors)


def test_an_evaluation_has_bounds_of_gaps_and_says_why_others_have_none() -> None:
    better, _, factors = drawn()
    found = demele.evaluate(better, factors, ["mig", "mig_sup", "jemmig"], factor_noise={"shape": 0.02})
    score = found["mig"]
    assert score.corrected is not None
    assert score.corrected.interval is not None
    assert math.isnan(score.corrected.value)
    assert score.corrected.interval.low < score.value < score.corrected.interval.high
    assert score.corrected.interval.kind == "bounds"
    assert "At most 2% of the annotations of 'shape' are wrong." in score.corrected.assumptions
    assert "The annotations of 'scale' are right." in score.corrected.assumptions
    jemmig = found["jemmig"]
    assert jemmig.corrected is None
    assert any("not of JEMMIG" in note.message for note in jemmig.notes if note.code == "not-corrected")


def test_a_rate_of_a_tenth_says_first_that_little_can_be_said() -> None:
    better, _, factors = drawn()
    score = demele.evaluate(better, factors, ["mig"], factor_noise={"shape": 0.1})["mig"]
    assert score.corrected is not None
    assert score.corrected.notes[0].code == "bounds-say-little"
    fewer = demele.evaluate(better, factors, ["mig"], factor_noise={"shape": 0.05})["mig"]
    assert fewer.corrected is not None
    assert not fewer.corrected.notes


def test_bounds_are_of_plain_histograms() -> None:
    better, _, factors = drawn()
    for options in ({"correction": "miller-madow"}, {"estimator": "knn"}):
        found = demele.evaluate(better, factors, ["mig"], options={"mig": options}, factor_noise={"shape": 0.05})
        assert found["mig"].corrected is None
    low, high = BOUNDS["mig"](information_bounds([np.full((2, 3, 3), 5.0)], [0.0]))
    assert_close([low, high], [0.0, 0.0], {"rtol": 0, "atol": 1e-4})
