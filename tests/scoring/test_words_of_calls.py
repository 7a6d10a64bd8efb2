"""What a call says beside its numbers: no advice to do what was done, who takes an option, what a protocol is about."""

import numpy as np
import pytest

import demele
from demele.core.errors import InputTypeError

RNG = np.random.default_rng(0)
CODES, FACTORS = RNG.normal(size=(60, 6)), RNG.random((60, 2))


@pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")
def test_without_names_one_metric_of_each_property_is_scored_with_intervals_and_chance() -> None:
    rng = np.random.default_rng(0)
    factors = rng.random((300, 2))
    found = demele.evaluate(factors, factors)
    assert [score.metric for score in found] == ["mig_sup", "mig", "explicitness"]
    assert all(score.interval is not None and score.chance is not None for score in found)
    named, every = demele.evaluate(factors, factors, ["mig"]), demele.evaluate(factors, factors, "all")
    assert named["mig"].interval is None
    assert named["mig"].value == found["mig"].value == every["mig"].value
    assert len(every.scores) > 15
    assert all(score.chance is None for score in every)


@pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")
def test_metrics_that_need_the_order_of_the_codes_are_scored_where_it_is_told() -> None:
    factors = np.random.default_rng(0).random((300, 2))
    codes, ordered = np.c_[factors, factors[:, 0] ** 2], {"dmig", "xmig", "dlig"}
    assert not ordered & {score.metric for score in demele.evaluate(codes, factors, "all")}
    assert ordered <= {score.metric for score in demele.evaluate(codes, demele.Factors(factors, reg_dim=[0, 1]), "all")}
    assert demele.evaluate(codes, factors, ["dmig"])["dmig"].value > 0


def test_an_option_of_evaluate_is_no_option_of_a_metric() -> None:
    with pytest.raises(InputTypeError, match=r"demele\.evaluate\(codes, factors, \['mig'\], protocol=\.\.\.\)"):
        demele.metrics.mig(CODES, FACTORS, protocol="latte")  # type: ignore[call-arg]


@pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")
def test_a_protocol_of_metrics_that_must_be_named() -> None:
    found = demele.evaluate(CODES, FACTORS, protocol="mcc2020")
    (message,) = (note.message for note in found.notes if note.code == "unnamed-metrics")
    assert "metrics=['mcc', 'mcc_rank']" in message
