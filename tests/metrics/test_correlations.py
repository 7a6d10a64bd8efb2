"""MCC, its rank and weak forms, affine R2 and SAP: known numbers, definitions, published values, traps, noise."""

import math

import numpy as np
import pandas as pd
import pytest

import demele
from tests.metrics.grid import CODES, FIRST, GRID, SECOND, value
from tests.oracles import recovery
from tests.tolerances import ROUNDING, assert_close, assert_exact, assert_mean

pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
NAMES = ("mcc", "mcc_rank", "mcc_weak", "r2_affine")
ON_GRID = {
    "mcc": (1, 1, math.sqrt(0.5), 0.5, (math.sqrt(0.8) + 1) / 2, 1, 0),
    "mcc_weak": (1, 1, 1, 0.5, (math.sqrt(0.8) + 1) / 2, 1, 0),
    "r2_affine": (1, 1, 1, 0.5, 0.9, 1, 0),
}


@pytest.mark.worked("mcc", "mcc_weak", "r2_affine")
@pytest.mark.parametrize("name", ON_GRID)
def test_codes_on_a_grid(name: str) -> None:
    found = [value(name, codes, GRID, kinds="continuous") for codes in CODES.values()]
    assert_close(found, ON_GRID[name], ROUNDING)


def test_codes_on_a_grid_of_classes() -> None:
    """The means of the classes number them; one number cannot give the indicators of four classes."""
    found = [value("mcc", CODES[name], GRID, kinds="categorical") for name in ("factors", "rotated", "coarse")]
    assert_close(found, [1, math.sqrt(0.5), 1], ROUNDING)
    shares = [value("r2_affine", CODES[name], GRID, kinds="categorical") for name in ("factors", "rotated", "coarse")]
    assert_close(shares, [1 / 3] * 3, ROUNDING)


@pytest.mark.worked("mcc_rank")
def test_curves_and_turns() -> None:
    grid = np.linspace(-1, 1, 20_001)
    assert abs(value("mcc", grid[:, None] ** 3, grid) - math.sqrt(21) / 5) < 1e-4
    assert_close(value("mcc_rank", grid[:, None] ** 3, grid), 1.0, ROUNDING)
    whole = np.arange(-100.0, 101.0)
    for name in ("mcc", "mcc_rank"):
        assert abs(value(name, whole[:, None] ** 2, whole)) < 1e-9
    cos, sin = math.cos(math.pi / 6), math.sin(math.pi / 6)
    turned = GRID @ np.array([[cos, -sin], [sin, cos]])
    assert_close(value("mcc", turned, GRID, kinds="continuous"), cos, ROUNDING)
    # ranks of 0, 0, 1, 1 are 1.5, 1.5, 3.5, 3.5: with 1, 2, 3, 4 their correlation is 4 / sqrt(4 x 5)
    assert_close(value("mcc_rank", np.array([[1.0], [2], [3], [4]]), [0.0, 0, 1, 1]), math.sqrt(0.8), ROUNDING)


def test_lost_factors_count_unless_the_published_mean_is_asked_for() -> None:
    score = demele.metrics.mcc(FIRST[:, None], demele.Factors(GRID, kinds="continuous"))
    assert_close(score.value, 0.5, ROUNDING)
    assert score.per_factor is not None
    assert_close(score.per_factor, [1, 0], ROUNDING)
    assert score.details["assignment"] == [0, None]
    assert_close(value("mcc", FIRST[:, None], GRID, protocol="mcc2020", kinds="continuous"), 1.0, ROUNDING)


@pytest.mark.oracle("mcc", "mcc_rank", "mcc_weak", "r2_affine")
@pytest.mark.parametrize("d", [1, 2, 4])
def test_slow_definitions(d: int) -> None:
    rng = np.random.default_rng(d)
    numbers, shape = np.round(rng.random((60, 2)), 1), rng.integers(0, 3, 60)
    words = ["xyz"[one] for one in shape]
    codes = np.round(numbers @ rng.random((2, d)) + 0.3 * shape[:, None] + 0.2 * rng.random((60, d)), 1)
    factors = pd.DataFrame({"a": numbers[:, 0], "b": numbers[:, 1], "c": words})
    columns: list[list[object]] = [numbers[:, 0].tolist(), numbers[:, 1].tolist(), list(words)]
    kinds = {"a": "continuous", "b": "continuous"}
    for name, ranks in (("mcc", False), ("mcc_rank", True)):
        expected = recovery.mcc(codes.T.tolist(), columns, ranks=ranks)
        assert_close(value(name, codes, factors, kinds=kinds), expected, ROUNDING)
    shares = [recovery.explained_share(codes, column) for column in columns]
    assert_close(value("r2_affine", codes, factors, kinds=kinds), np.mean(shares), ROUNDING)
    pooled = recovery.canonical_correlations(codes, numbers)
    assert_close(value("mcc_weak", codes, numbers, kinds="continuous"), sum(pooled) / 2, ROUNDING)
    indicators = np.array([[word == "y", word == "z"] for word in words], dtype=float)
    blocks = [numbers[:, :1], numbers[:, 1:], indicators]
    firsts = [recovery.canonical_correlations(codes, block)[0] for block in blocks]
    assert_close(value("mcc_weak", codes, factors, kinds=kinds), np.mean(firsts), ROUNDING)


@pytest.mark.parametrize("name", NAMES)
def test_each_factor_is_scored_on_its_own_rows(name: str) -> None:
    rng = np.random.default_rng(1)
    factors = rng.random((120, 2))
    codes = factors + 0.3 * rng.random((120, 2))
    holed = factors.copy()
    holed[:40, 1] = np.nan
    found = demele.evaluate(codes, demele.Factors(holed, missing="omit"), [name])[name]
    if found.per_factor is None:
        assert_close(found.value, value(name, codes[40:], factors[40:]), ROUNDING)
    else:
        whole, part = (demele.evaluate(codes[rows:], factors[rows:], [name])[name].per_factor for rows in (0, 40))
        assert_close(found.per_factor, [whole[0], part[1]], ROUNDING)


def test_noise_on_other_rows_scores_nothing_on_average_and_is_not_clipped() -> None:
    for name, codes in (("mcc", 40), ("mcc_rank", 40), ("mcc_weak", 20)):
        found = []
        for seed in range(12):
            rng = np.random.default_rng(seed)
            factors = np.column_stack([rng.random((150, 2)), rng.integers(0, 3, 150)])
            own = {"cross_fit": 5}
            found.append(value(name, rng.random((150, codes)), factors[:, :2], options=own, seed=seed))
            found.append(value(name, rng.random((150, codes)), factors, options=own, seed=seed))
        assert_mean(found, 0.0)
        assert min(found) < 0, name


def test_what_is_chosen_on_other_rows_keeps_its_sign() -> None:
    """A perfect code scores 1 on rows unseen, whatever its sign and the order of its classes."""
    order = np.array([2, 0, 3, 1])[FIRST.astype(int)]
    factors = pd.DataFrame({"class": np.array(["a", "b", "c", "d"])[order], "number": SECOND})
    codes = np.column_stack([-SECOND, FIRST])
    for name in ("mcc", "mcc_rank"):
        found = demele.evaluate(
            codes, demele.Factors(factors, kinds={"number": "continuous"}), [name], options={name: {"cross_fit": 4}}
        )
        assert abs(found[name].value - 1.0) < (1e-12 if name == "mcc" else 1e-3)  # ranks are those of the fold


def test_as_many_codes_as_rows_have_no_affine_r2() -> None:
    rng = np.random.default_rng(0)
    with pytest.warns(demele.errors.DemeleWarning):
        score = demele.metrics.r2_affine(rng.random((20, 25)), rng.random((20, 1)))
    assert math.isnan(score.value)
    assert any(note.code == "undefined-value" for note in score.notes)


# SAP with codes that do not vary: published code on the same arrays, by every route and protocol ----------------------

#: Shares of the classes.
CLASSES = {"binary": [0.5, 0.5], "skewed": [0.9, 0.05, 0.05]}
#: SAP of `arrays(...)` as Latte 0.0.1a6 computes it (all rows, ``discrete=True``), and as disentanglement_lib does
#: (balanced classifier, first 2 667 rows for training), scikit-learn 1.9.1, by classes, living codes, dead codes and
#: whether the first code knows the class.
PUBLISHED = {
    ("binary", 1, 4, False): (0.00000, 0.00000),
    ("binary", 2, 3, False): (0.00075, 0.00000),
    ("binary", 1, 1, False): (0.00200, 0.00075),
    ("binary", 1, 4, True): (0.33050, 0.33158),
    ("skewed", 1, 4, False): (0.00000, 0.00000),
    ("skewed", 2, 3, False): (0.00000, 0.00000),
    ("skewed", 1, 1, False): (0.00000, 0.00000),
    ("skewed", 1, 4, True): (0.04200, 0.03451),
}


def arrays(classes: str, living: int, dead: int, informed: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    factor = rng.choice(len(CLASSES[classes]), size=4000, p=CLASSES[classes])
    codes = np.zeros((4000, living + dead))
    codes[:, :living] = rng.normal(size=(4000, living))
    if informed:
        codes[:, 0] += 2 * factor
    return codes, factor


def test_values_of_published_code_on_the_same_arrays() -> None:
    for case in PUBLISHED:
        codes, factor = arrays(*case)
        latte, dlib = PUBLISHED[case]
        found = demele.evaluate(codes, demele.Factors(factor, kinds="categorical"), "sap", protocol="latte")["sap"]
        assert abs(found.value - latte) < 1e-9  # training rows: nothing is drawn
        # other rows are drawn for training: as far as two splits of 4 000 rows may be apart
        found = demele.evaluate(codes, demele.Factors(factor, kinds="categorical"), "sap", protocol="dlib2019")["sap"]
        assert abs(found.value - dlib) < 0.03


def test_a_dead_code_is_the_guess_of_the_majority_of_the_training_rows() -> None:
    codes, factor = arrays("skewed", 1, 1)
    labels = np.array(["rare", "usual", "odd"])[[1, 0, 2]][factor]
    found = demele.metrics.sap(codes, labels, score_on="training")
    share = float(np.mean(factor == 0))
    assert_exact(found.matrix.to_numpy()[1, 0], share)
    assert dict(found.details["majority"]) == {"v1": share}
    unseen = demele.metrics.sap(codes, labels)
    assert unseen.matrix.to_numpy()[1, 0] == unseen.details["majority"]["v1"] != share


def test_a_balanced_classifier_that_is_worse_than_the_guess_scores_nothing() -> None:
    """It gives up accuracy for rare classes: the less a code tells, the further below the majority it falls."""
    rng = np.random.default_rng(1)
    factor = rng.choice(["common", "rare"], 3000, p=[0.9, 0.1])
    noise, found = rng.normal(size=3000), []
    for strength in (0.0, 0.3, 1.0, 4.0, 8.0):
        codes = (strength * (factor == "rare") + noise)[:, None]
        scores = [
            demele.evaluate(each, factor, "sap", protocol="dlib2019", seed=1)["sap"]
            for each in (codes, np.column_stack([codes, np.zeros(3000)]))
        ]
        assert_exact(scores[0].value, scores[1].value)
        found.append(scores[0].value)
    assert found[:3] == [0.0, 0.0, 0.0]
    assert 0.03 < found[3] < found[4] < 0.11
    standard = demele.metrics.sap(noise[:, None], factor, class_weight="balanced", seed=1)
    assert_exact(standard.value, 0.0)


@pytest.mark.parametrize("kinds", ["continuous", "categorical"])
def test_the_code_that_is_meant_comes_first_whatever_its_rank(kinds: str) -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 3, (300, 2))
    codes = np.column_stack([factors[:, ::-1] + 0.3 * rng.normal(size=(300, 2)), np.ones(300)])
    plain, meant = (
        demele.metrics.sap(codes, demele.Factors(factors, kinds=kinds), reg_dim=given) for given in (None, ["z1", "z2"])
    )
    told = np.asarray(plain.matrix_values)
    assert_close(
        np.asarray(meant.per_factor), [told[0, 0] - told[[1, 2], 0].max(), told[1, 1] - told[[0, 2], 1].max()], ROUNDING
    )
    assert meant.value < 0 < plain.value
    assert "reg_dim" in str(meant.signature)
    assert "reg_dim" not in str(plain.signature)
    assert demele.replay(meant.signature, codes, factors).value == meant.value
    alone = demele.metrics.sap(codes[:, :1], demele.Factors(factors[:, :1], kinds=kinds), reg_dim=[0])
    guess = alone.details["majority"]["v1"] if kinds == "categorical" else 0.0
    assert_close(alone.value, np.asarray(alone.matrix_values)[0, 0] - guess, ROUNDING)
