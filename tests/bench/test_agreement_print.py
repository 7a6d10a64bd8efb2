"""The printed rank correlations: read to the digit, held against each other, and likeness by hand."""

import numpy as np
import pandas as pd
import pytest

from demele import bench
from demele.bench.agreement_print import centred_interval, likeness
from demele.core.errors import InputError, NotEnoughData, UnknownNameError
from demele.metrics.catalogue import list_metrics
from tests.tolerances import ROUNDING, assert_close, assert_exact

CARS, NORB = bench.published_agreement("cars3d"), bench.published_agreement("smallnorb")
UPPER = np.triu_indices(17, 1)
DISPUTED = {
    *("dci_lasso_compactness", "dci_forest_compactness", "dcimig", "jemmig", "mig", "mig_sup", "modularity"),
    *("sap", "z_max_variance"),
}


def test_all_cells_are_there_with_registered_names() -> None:
    assert CARS.printed.size + NORB.printed.size == 578
    assert CARS.metrics == NORB.metrics
    assert set(CARS.metrics) <= set(list_metrics())
    for printed in (CARS.printed, NORB.printed):
        assert_exact(np.diag(printed), np.ones(17))


def test_nine_pairs_of_cars3d_are_printed_with_two_signs() -> None:
    assert NORB.disputed == ()
    assert {frozenset(pair) for pair in CARS.disputed} == {frozenset({"dci_lasso_modularity", o}) for o in DISPUTED}
    rows, columns = CARS.table("row"), CARS.table("column")
    upper, lower = rows.to_numpy()[UPPER], columns.to_numpy()[UPPER]
    assert_exact(upper[upper != lower], -lower[upper != lower])
    assert (upper != lower).sum() == 9
    for table in (rows, columns):
        assert_exact(table.to_numpy(), table.to_numpy().T)
    assert rows.loc["dci_lasso_modularity", "dci_lasso_compactness"] == 0.35  # as the row of print has it


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


def test_yardsticks_between_the_two_data_sets() -> None:
    cars, norb = CARS.table().to_numpy()[UPPER], NORB.table().to_numpy()[UPPER]
    undisputed = np.array(
        [{CARS.metrics[i], CARS.metrics[j]} not in map(set, CARS.disputed) for i, j in zip(*UPPER, strict=True)]
    )
    nothing = np.empty((0, 136))
    whole = likeness(norb, cars, nothing, level=0.95, configurations=36)
    fewer = likeness(norb[undisputed], cars[undisputed], nothing[:, undisputed], level=0.95, configurations=36)
    assert (whole["pairs"], fewer["pairs"]) == (136, 127)
    assert (round(whole["r"].value, 3), round(fewer["r"].value, 3)) == (0.662, 0.657)
    assert (fewer["strong_pairs"], fewer["same_sign"].value) == (56, 0.875)
    assert (round(whole["difference"].value, 3), round(fewer["difference"].value, 3)) == (0.204, 0.213)
    both = undisputed & (np.abs(cars) >= 0.23) & (np.abs(norb) >= 0.23)
    assert both.sum() == 36
    assert round(100 * float((np.sign(cars[both]) == np.sign(norb[both])).mean())) == 97


def test_unknown_names_are_told() -> None:
    with pytest.raises(UnknownNameError, match="'cars3d'"):
        bench.published_agreement("cars")
    with pytest.raises(InputError, match="'row' or 'column'"):
        CARS.table("lower")  # type: ignore[arg-type]


# Likeness ------------------------------------------------------------------------------------------------------------


def test_figures_by_hand() -> None:
    """Ours .1, .5, -.3 beside .3, .4, .5 in print: correlation of (0, .4, -.4) and (-.1, 0, .1)."""
    found = likeness(
        np.array([0.1, 0.5, -0.3]), np.array([0.3, 0.4, 0.5]), np.empty((0, 3)), level=0.95, configurations=36
    )
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


def test_what_noise_takes_from_the_correlation_is_given_back() -> None:
    """The truth itself as print: r is 1, a sample of 36 shows less, and the corrected one is about 1 again."""
    shown, corrected = [], []
    for seed in range(12):
        scores, truth = samples(np.random.default_rng(seed), 36)
        matrix = bench.agreement(scores, draws=200).matrix()
        found = likeness(matrix.tau, truth, matrix.draws, level=0.95, configurations=36)
        shown.append(found["r"].value)
        corrected.append(found["r_without_noise"])
        assert np.isnan(likeness(matrix.tau, truth, matrix.draws, level=0.95, configurations=23)["r_without_noise"])
    assert np.mean(shown) < 0.9
    assert np.mean(corrected) > 0.96


def test_noise_alone_has_no_corrected_correlation() -> None:
    rng = np.random.default_rng(0)
    scores = pd.DataFrame(rng.normal(size=(36, 17)), columns=CARS.metrics)
    found = bench.agreement(scores, draws=200).against("cars3d")
    assert np.isnan(found.r_without_noise)
    assert abs(found.r.value) < 0.4


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
    with pytest.raises(NotEnoughData, match="three or more pairs"):
        bench.agreement(scores, draws=100).against("cars3d")
    with pytest.raises(InputError, match="'keep' or 'omit'"):
        bench.agreement(scores, draws=100).against("cars3d", disputed="drop")  # type: ignore[arg-type]
