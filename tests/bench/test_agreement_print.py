"""The printed rank correlations: read to the digit, held against each other, and likeness by hand."""

import numpy as np
import pandas as pd
import pytest

from demele import bench
from demele.bench.agreement_result import centred_interval, likeness
from demele.core.errors import InputError, NotEnoughData, UnknownNameError
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close

CARS, NORB = bench.published_agreement("cars3d"), bench.published_agreement("smallnorb")
UPPER = np.triu_indices(17, 1)


@pytest.mark.parametrize(
    ("printed", "mean", "below", "above", "negative"),
    [(CARS, 0.23, 56, 11, 44), (NORB, 0.27, 52, 22, 48)],
    ids=["cars3d", "smallnorb"],
)
def test_what_is_known_of_the_printed_taus(
    printed: bench.PublishedAgreement, mean: float, below: int, above: int, negative: int
) -> None:
    taus = printed.table().to_numpy()[UPPER]
    assert round(float(np.abs(taus).mean()), 2) == mean
    assert round(100 * float((np.abs(taus) < 0.23).mean())) == below
    assert round(100 * float((np.abs(taus) >= 0.42).mean())) == above
    assert round(100 * float((taus < 0).mean())) == negative


# Likeness ------------------------------------------------------------------------------------------------------------


def test_figures_by_hand() -> None:
    """Ours .1, .5, -.3 beside .3, .4, .5 in print: correlation of (0, .4, -.4) and (-.1, 0, .1)."""
    found = likeness(np.array([0.1, 0.5, -0.3]), np.array([0.3, 0.4, 0.5]), np.empty((0, 3)), level=0.95)
    assert_close(found["r"].value, -0.04 / np.sqrt(0.32 * 0.02), ROUNDING)
    assert_close(found["same_sign"].value, 2 / 3, ROUNDING)
    assert_close(found["difference"].value, (0.2 + 0.1 + 0.8) / 3, ROUNDING)
    assert np.isnan(found["r"].low)


def test_an_interval_lies_about_the_estimate_and_not_about_the_mean_of_resamples() -> None:
    draws = np.tanh(np.linspace(-0.2, 0.2, 2001) + 0.3)  # resamples that are less alike than the sample
    low, high = centred_interval(0.6, draws, level=0.9, scale="z")
    assert_close([low, high], np.tanh(np.arctanh(0.6) + np.array([-0.18, 0.18])), ROUNDING)
    low, high = centred_interval(0.2, np.exp(np.linspace(-0.2, 0.2, 2001) - 1), level=0.9, scale="log")
    assert_close([low, high], 0.2 * np.exp([-0.18, 0.18]), ROUNDING)
    assert centred_interval(1.0, np.linspace(0.8, 1.0, 101), level=0.9, scale="plain")[1] == 1.0


def samples(
    rng: np.random.Generator, n: int
) -> tuple[pd.DataFrame, "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"]:
    """Scores of 17 metrics that three qualities explain, and their true taus."""
    loadings = np.random.default_rng(0).normal(size=(17, 3))
    covariance = loadings @ loadings.T + 2 * np.eye(17)
    spread = np.sqrt(np.diag(covariance))
    truth = 2 / np.pi * np.arcsin((covariance / np.outer(spread, spread))[UPPER])
    scores = rng.multivariate_normal(np.zeros(17), covariance, n)
    return pd.DataFrame(scores, columns=CARS.metrics), truth


def test_a_study_is_held_against_print_with_and_without_what_print_disputes() -> None:
    scores, _ = samples(np.random.default_rng(1), 36)
    found = bench.agreement(scores, collapsed=[False] * 30 + [True] * 6, draws=200)
    table = pd.DataFrame(found.likeness_rows())
    assert list(zip(table["published"], table["pairs"], table["matrix"], strict=True)) == [
        ("cars3d", 136, "all"),
        ("cars3d", 136, "without collapsed"),
        ("cars3d", 127, "all"),
        ("cars3d", 127, "without collapsed"),
        ("smallnorb", 136, "all"),
        ("smallnorb", 136, "without collapsed"),
    ]
    assert (table["r_low"] < table["r"]).all()
    assert (table["r"] < table["r_high"]).all()
    printed = CARS.table().to_numpy()[UPPER]
    assert_close(table["r"][0], np.corrcoef(found.matrix().tau, printed)[0, 1], ROUNDING)


def test_too_few_common_metrics_are_told() -> None:
    scores = {"mig": range(9), "sap": range(9), "mine": range(9)}
    refuses(NotEnoughData, "three or more pairs", bench.agreement(scores, draws=100).against, "cars3d")
    refuses(InputError, "'keep' or 'omit'", bench.agreement(scores, draws=100).against, "cars3d", disputed="drop")


def test_unknown_names_are_told() -> None:
    refuses(UnknownNameError, "'cars3d'", bench.published_agreement, "cars")
    refuses(InputError, "'row' or 'column'", CARS.table, "lower")
