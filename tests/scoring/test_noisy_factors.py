"""What is known of noisy factors, and scores that a transition corrects."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from demele import labels
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.results import Score
from tests.tolerances import ROUNDING, assert_close, assert_exact

OF_TABLES = ["mig", "mig_sup", "dcimig", "jemmig"]


def perfect(k: int, rate: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """A perfect code of K equal values, and annotations of which a share is wrong, evenly and exactly."""
    wrong = round(100 * rate)
    right = round(100 * (k - 1) * (1 - rate))
    codes, given = [], []
    for value in range(k):
        for other in range(k):
            size = right if other == value else wrong
            codes += [value] * size
            given += [other] * size
    return np.array(codes, dtype=float)[:, None], np.array(given)


@pytest.mark.parametrize(
    ("k", "rate", "naive"), [(2, 0.1, 0.531004), (4, 0.1, 0.686254), (10, 0.1, 0.763394), (10, 0.2, 0.591829)]
)
def test_a_perfect_code_is_perfect_again(k: int, rate: float, naive: float) -> None:
    codes, given = perfect(k, rate)
    noise = labels.symmetric_transition(k, rate)
    found = demele.evaluate(codes, given, ["mig"], factor_noise={"v1": noise}, bins=k, n_bootstrap=2)["mig"]
    assert abs(found.value - naive) < 5e-7
    corrected = of(found)
    assert abs(corrected.value - 1) < 1e-9
    assert corrected.method == "transition"
    assert "do not depend on the codes" in corrected.assumptions[0]


def of(score: Score) -> demele.CorrectedScore:
    assert score.corrected is not None, [note.message for note in score.notes]
    return score.corrected


def rows(n: int = 1500, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Codes of two factors with noise, true values, and annotations of which a tenth is wrong."""
    rng = np.random.default_rng(seed)
    true = np.column_stack([rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1]), rng.integers(0, 3, n)])
    codes = np.column_stack([true + rng.normal(0, 0.4, true.shape), rng.normal(size=n)])
    wrong = rng.random(true.shape) < 0.1
    given = np.where(wrong, (true + 1) % np.array([4, 3]), true)
    return codes, true, given


def test_values_stay_those_of_the_annotations_as_given() -> None:
    codes, _, given = rows()
    plain = demele.evaluate(codes, given, OF_TABLES)
    found = demele.evaluate(codes, given, OF_TABLES, factor_noise={"v1": labels.symmetric_transition(4, 0.1)})
    for score, other in zip(plain, found, strict=True):
        assert_exact(other.value, score.value)
        assert str(other.signature) == str(score.signature)
        assert of(other).value > score.value
        assert "The annotations of 'v2' are right." in of(other).assumptions
        assert score.corrected is None
        assert score.to_dict()["corrected"] is None


def test_counts_carry_their_own_uncertainty() -> None:
    codes, _, given = rows()
    matrix = {"v1": labels.TransitionMatrix([[0.9, 0.1, 0, 0], [0, 0.9, 0.1, 0], [0, 0, 0.9, 0.1], [0.1, 0, 0, 0.9]])}
    counts = {"v1": labels.TransitionCounts([[36, 4, 0, 0], [0, 27, 3, 0], [0, 0, 18, 2], [1, 0, 0, 9]])}
    known, counted = (
        of(demele.evaluate(codes, given, ["mig"], factor_noise=noise, n_bootstrap=60)["mig"])
        for noise in (matrix, counts)
    )
    assert known.interval is not None
    assert counted.interval is not None
    assert counted.interval.high - counted.interval.low > 1.2 * (known.interval.high - known.interval.low)
    assert abs(known.value - counted.value) < 0.01
    assert "60" in known.interval.method
    assert "resamples=60" in str(known.signature)


def test_the_order_of_named_classes_does_not_matter() -> None:
    codes, _, given = rows()
    named = np.array(["ant", "bee", "cow", "doe"])[given[:, 0]]
    table = np.array([[0.9, 0.1, 0, 0], [0.1, 0.9, 0, 0], [0, 0, 0.8, 0.2], [0, 0, 0.1, 0.9]])
    names, turned = ["ant", "bee", "cow", "doe"], [2, 0, 3, 1]
    both = (
        labels.TransitionMatrix(table, names),
        labels.TransitionMatrix(table[np.ix_(turned, turned)], [names[i] for i in turned]),
    )
    first, second = (
        of(demele.evaluate(codes, named, ["mig"], factor_noise={"v1": noise}, n_bootstrap=2)["mig"]).value
        for noise in both
    )
    assert_close(first, second, ROUNDING)


def test_what_a_transition_cannot_correct_says_what_would() -> None:
    codes, _, given = rows(300)
    noise = {"v1": labels.symmetric_transition(4, 0.1)}
    found = demele.evaluate(codes, given, ["infom", "mig"], factor_noise=noise, n_bootstrap=2)
    assert found["infom"].corrected is None
    (reason,) = [note.message for note in found["infom"].notes if note.code == "not-corrected"]
    assert "audited" in reason
    adjusted = demele.evaluate(
        codes, given, ["mig"], factor_noise=noise, options={"mig": {"correction": "miller-madow"}}, n_bootstrap=2
    )
    assert adjusted["mig"].corrected is None


def test_what_corrects_nothing_is_refused() -> None:
    for given, error, words in [
        ({"v3": 0.1}, InputError, "unknown factor 'v3'"),
        ({"v1": 1.0}, InputError, r"\[0, 1\)"),
        ({"v1": True}, InputTypeError, "expected a TransitionMatrix"),
        ({"v1": np.eye(4)}, InputTypeError, "probabilities or counts"),
        ({"v1": labels.symmetric_transition(4, 0.7)}, InputError, "singular value"),
        ({"v1": labels.symmetric_transition(3, 0.1)}, InputError, "lack .3., which the factor has"),
        ({"v1": [labels.symmetric_transition(4, 0.1)] * 2}, NotEnoughData, "third independent annotator"),
        ({"v1": labels.Audit([1, 2], [0, 1], design="selective")}, InputError, "chosen because they looked wrong"),
        ({"v1": labels.FactorAudit([1, 2], [7, 8])}, NotEnoughData, "all 2 audited rows contradict"),
        ({"v1": labels.FactorAudit([1, 2000], [0, 1])}, InputError, "names 1 row that does not exist"),
        ({}, InputError, "at least one factor"),
        (0.1, InputTypeError, "expected a mapping"),
    ]:
        codes, _, annotated = rows()
        with pytest.raises(error, match=words):
            demele.evaluate(codes, annotated, ["mig"], factor_noise=given)


def test_transposed_transitions_are_refused() -> None:
    with pytest.raises(InputError, match="transposed"):
        labels.TransitionMatrix([[0.9, 0.2], [0.1, 0.8]])


def test_agreement_of_two_tells_a_uniform_rate() -> None:
    for k, rate in ((2, 0.1), (5, 0.3), (10, 0.05)):
        agreement = (1 - rate) ** 2 + rate**2 / (k - 1)
        table = labels.transition_from_agreement(agreement, k).probabilities
        assert_close(table, labels.symmetric_transition(k, rate).probabilities, ROUNDING)
    with pytest.raises(InputError, match="who guess"):
        labels.transition_from_agreement(0.5, 2)


def test_a_continuous_factor_needs_a_transition_between_bins() -> None:
    rng = np.random.default_rng(0)
    true = rng.random(400)
    codes = true[:, None] + rng.normal(0, 0.01, (400, 1))

    def found(noise: object) -> Score:
        return demele.evaluate(
            codes, true, ["mig"], bins=4, factor_noise={"v1": noise}, factor_noise_method="transition", n_bootstrap=2
        )["mig"]

    right = found(labels.TransitionMatrix(np.eye(4)))
    assert_exact(of(right).value, right.value)
    assert "near an edge" in of(right).notes[0].message
    drawn = labels.draw_audit(400, 100, seed=1)
    audited = found(labels.FactorAudit(drawn.rows, true[drawn.rows]))
    assert_exact(of(audited).value, right.value)
    for noise, words in (
        (labels.TransitionMatrix(np.eye(3)), "into 4 bins, and its transition has 3"),
        (0.1, "only a rate is known"),
    ):
        (reason,) = [note.message for note in found(noise).notes if note.code == "not-corrected"]
        assert words in reason


def test_a_transition_of_the_identity_changes_no_bit() -> None:
    codes, _, given = rows()
    noise = {"v1": labels.TransitionMatrix(np.eye(4)), "v2": labels.TransitionMatrix(np.eye(3))}
    found = demele.evaluate(codes, given, OF_TABLES, factor_noise=noise, n_bootstrap=2)
    for score in found:
        assert_exact(of(score).value, score.value)
