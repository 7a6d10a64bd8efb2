"""SAP beside codes that do not vary: what published code says of the same arrays, by every route and protocol."""

import numpy as np
import pytest

import demele
from tests.tolerances import ROUNDING, assert_close, assert_exact

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
