"""What is known of noisy factors, and scores that a transition corrects."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from demele import labels
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.inputs import read_pair
from demele.core.results import Score
from demele.estimation.annotation_errors import accuracy_without_errors
from demele.estimation.univariate import linear_classifier_accuracy_matrix, true_accuracies
from demele.metrics.options import Run
from demele.metrics.protocols import protocol
from demele.metrics.request import chosen_metrics, requests_of, resolved
from demele.metrics.source import InMemory, Subject
from demele.scoring.noisy_case import Case
from demele.scoring.noisy_factors import Halved, Work, checked_noise, nearer, of_rows, of_tables, split_rows
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

Array = NDArray[Any]
OF_TABLES = ["mig", "mig_sup", "dcimig", "jemmig"]


def of(score: Score) -> demele.CorrectedScore:
    assert score.corrected is not None, [note.message for note in score.notes]
    return score.corrected


def rows(n: int = 1500, *, follows: bool = False, rate: float = 0.1) -> tuple[Array, Array, Array]:
    """Codes of two factors with noise, true values, and wrong annotations; those that follow agree with the code."""
    rng = np.random.default_rng(0)
    true = np.column_stack([rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1]), rng.integers(0, 4, n)])
    codes = true + rng.normal(0, 0.6, true.shape)
    wrong = rng.random(true.shape) < rate
    other = np.clip(np.rint(codes), 0, 3).astype(int) if follows else (true + rng.integers(1, 4, true.shape)) % 4
    if follows:  # the rows that the code takes for another value, as often as the rate allows
        wrong = (other != true) & (rng.random(true.shape) < rate / (other != true).mean())
    return codes, true, np.where(wrong, other, true)


def noisily(codes: Any, given: Any, noise: object, names: list[str], **options: Any) -> demele.Evaluation:
    method = options.pop("noise_method", None)
    return demele.evaluate(codes, demele.Factors(given, noise=noise, noise_method=method), names, **options)


def test_values_stay_those_of_the_annotations_as_given() -> None:
    codes, _, given = rows()
    plain = demele.evaluate(codes, given, OF_TABLES)
    found = noisily(codes, given, {"v1": labels.symmetric_transition(4, 0.1)}, OF_TABLES)
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
    known, counted = (of(noisily(codes, given, noise, ["mig"], n_bootstrap=60)["mig"]) for noise in (matrix, counts))
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
    first, second = (of(noisily(codes, named, {"v1": noise}, ["mig"], n_bootstrap=2)["mig"]).value for noise in both)
    assert_close(first, second, ROUNDING)


def test_what_a_transition_cannot_correct_says_what_would() -> None:
    codes, _, given = rows()
    noise = {"v1": labels.symmetric_transition(4, 0.1)}
    found = noisily(codes, given, noise, ["infom", "mig"], n_bootstrap=2)
    assert found["infom"].corrected is None
    (reason,) = [note.message for note in found["infom"].notes if note.code == "not-corrected"]
    assert "audited" in reason
    options = {"mig": {"correction": "miller-madow"}}
    adjusted = noisily(codes, given, noise, ["mig"], options=options, n_bootstrap=2)
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
        ({"v1": labels.Audit([1, 2], [7, 8], design="uniform")}, NotEnoughData, "all 2 audited rows contradict"),
        (
            {"v1": labels.Audit([1, 2000], [0, 1], design="uniform")},
            InputError,
            r"names row 2000 \(entry 1\), which does not exist",
        ),
        ({}, InputError, "at least one factor"),
        (0.1, InputTypeError, "expected a mapping"),
    ]:
        codes, _, annotated = rows()
        refuses(error, words, noisily, codes, annotated, given, ["mig"])


def test_a_continuous_factor_needs_a_transition_between_bins() -> None:
    rng = np.random.default_rng(0)
    true = rng.random(400)
    codes = true[:, None] + rng.normal(0, 0.01, (400, 1))

    def found(noise: object) -> Score:
        options = {"noise_method": "transition", "bins": 4, "n_bootstrap": 2}
        return noisily(codes, true, {"v1": noise}, ["mig"], **options)["mig"]

    right = found(labels.TransitionMatrix(np.eye(4)))
    assert_exact(of(right).value, right.value)
    assert "near an edge" in of(right).notes[0].message
    drawn = labels.draw_audit(400, 100, seed=1)
    audited = found(labels.Audit(drawn.rows, true[drawn.rows], design="uniform"))
    assert_exact(of(audited).value, right.value)
    for noise, words in (
        (labels.TransitionMatrix(np.eye(3)), "into 4 bins, and its transition has 3"),
        (0.1, "only a rate is known"),
    ):
        (reason,) = [note.message for note in found(noise).notes if note.code == "not-corrected"]
        assert words in reason


# Scores corrected from audited rows, and whether errors depend on the codes ------------------------------------------


def audit_of(true: Array, size: int, seed: int = 1) -> dict[str, labels.Audit]:
    drawn = labels.draw_audit(len(true), size, seed=seed).rows
    return {f"v{i + 1}": labels.Audit(drawn, true[drawn, i], design="uniform") for i in range(true.shape[1])}


def halved(name: str, codes: Array, given: Array, noise: dict[str, labels.Audit], **options: Any) -> Halved:
    source = InMemory(Subject.of(*read_pair(codes, given)))
    (one,) = requests_of(chosen_metrics([name]), protocol("review2022"), {name: options})
    score = demele.evaluate(codes, given, [name], options={name: options})[name]
    work = Work(one, resolved(one, source), score)
    corrected_by = of_rows if work.request.settings is None else of_tables
    return corrected_by(Case(source, Run(), checked_noise(noise, None, source)), work)


@pytest.mark.parametrize("name", ["mig", "mig_sup", "dcimig", "jemmig", "irs"])
def test_an_audit_of_all_rows_is_the_score_of_true_values(name: str) -> None:
    codes, true, given = rows(600)
    options = {"correction": "miller-madow"} if name not in ("irs",) else {}
    found = halved(name, codes, given, audit_of(true, 600), **options)
    truth, noisy = (demele.evaluate(codes, own, [name], options={name: options})[name].value for own in (true, given))
    assert_close(found.plain, truth, ROUNDING)
    assert abs(noisy - truth) > 0.01


def test_the_extrapolation_and_the_interval_by_hand() -> None:
    found = Halved(0.55, np.array([[0.5, 0.6], [0.56, 0.48]]), extrapolates=True)
    assert_close(found.value, 2 * 0.55 - 0.535, ROUNDING)
    error = np.sqrt((0.01 + 0.0064) / 2 / 4)
    interval = found.interval(0.90)
    assert interval is not None
    assert_close(interval.high - found.value, 1.6448536269514722 * error + 0.015 / 2, ROUNDING)
    assert_close(found.value - interval.low, 1.6448536269514722 * error + 0.015 / 2, ROUNDING)
    assert_close(Halved(0.55, found.halves).value, 0.55, ROUNDING)
    assert Halved(0.55, found.halves[:1]).interval(0.90) is None


def test_halves_share_no_row_and_have_half_of_the_audit_each() -> None:
    audited = np.array([3, 8, 5, 11, 20, 2, 7])
    (some, first), (others, second) = split_rows(25, audited, 0, 4)
    assert sorted([*first, *second]) == list(range(25))
    assert sorted([*some, *others]) == sorted(audited)
    assert set(some) <= set(first)
    assert set(others) <= set(second)
    assert abs(some.size - others.size) == 1


def test_an_audit_corrects_every_kind_of_score_by_default() -> None:
    codes, true, given = rows(3000, rate=0.2)
    found = noisily(codes, given, audit_of(true, 600), ["mig", "sap"], n_bootstrap=20)
    truth = demele.evaluate(codes, true, ["mig", "sap"])
    for score, other in zip(found, truth, strict=True):
        corrected = of(score)
        assert corrected.method == "audited"
        assert abs(corrected.value - other.value) < 0.4 * abs(score.value - other.value)
        assert abs((corrected.audited_alone or 0) - other.value) < 0.1
    assert [any("Miller-Madow" in one for one in of(score).assumptions) for score in found] == [True, False]
    assert of(found["sap"]).interval is not None
    assert "approximate" in str(getattr(of(found["sap"]).interval, "method", ""))


def test_errors_that_follow_the_codes_are_found() -> None:
    """Noisy annotations then flatter; audited rows correct that, and a transition makes it worse."""
    codes, true, given = rows(4000, follows=True, rate=0.08)
    noise = audit_of(true, 400)
    truth = demele.evaluate(codes, true, ["mig"])["mig"].value
    found = noisily(codes, given, noise, ["mig"], n_bootstrap=100)["mig"]
    assert found.value > truth + 0.02
    assert abs(of(found).value - truth) < 0.5 * (found.value - truth)
    assert "errors-depend-on-codes" in {note.code for note in of(found).notes}
    by_name = noisily(codes, given, noise, ["mig"], noise_method="transition", n_bootstrap=100)["mig"]
    assert of(by_name).value > found.value
    assert "errors-depend-on-codes" in {note.code for note in of(by_name).notes}
    mixed = {"v1": noise["v1"], "v2": labels.TransitionMatrix(np.eye(4))}
    withheld = noisily(codes, given, mixed, ["mig"], n_bootstrap=100)["mig"]
    assert withheld.corrected is None
    (reason,) = [note.message for note in withheld.notes if note.code == "not-corrected"]
    assert "errors depend on the codes" in reason


def test_errors_that_do_not_depend_on_the_codes_pass() -> None:
    codes, true, given = rows(4000, rate=0.08)
    score = noisily(codes, given, audit_of(true, 400), ["mig"], n_bootstrap=100)["mig"]
    assert "errors-depend-on-codes" not in {note.code for note in of(score).notes}


@pytest.mark.parametrize(
    ("size", "words"), [(60, "60 audited rows are too few"), (120, "too few for the 29 values of factor 'v1'")]
)
def test_audits_that_are_too_small_are_refused(size: int, words: str) -> None:
    rng = np.random.default_rng(0)
    true = rng.integers(0, 30, (3000, 1))
    codes = true + rng.normal(0, 1, true.shape)
    score = noisily(codes, true, audit_of(true, size), ["mig"])["mig"]
    assert score.corrected is None
    (reason,) = [note.message for note in score.notes if note.code == "not-corrected"]
    assert words in reason


@pytest.mark.parametrize("bins", ["equal-width:10", "equal-frequency:10"])
@pytest.mark.parametrize("name", ["mig", "snc", "infom"])
def test_true_values_beyond_those_that_were_given(name: str, bins: str) -> None:
    """An instrument that stops at .1 and at .9: true values beyond these are in the outer bins."""
    true = np.random.default_rng(0).random((1200, 2))
    given = np.clip(true, 0.1, 0.9)
    found = noisily(true, given, audit_of(true, 400), [name], bins=bins)[name]
    inside = noisily(true, given, audit_of(given, 400), [name], bins=bins)[name]
    assert_exact(found.corrected.value, inside.corrected.value)


def test_small_and_unclear_audits_are_warned_of() -> None:
    codes, true, given = rows(1000)
    drawn = labels.draw_audit(1000, 150, seed=2).rows
    noise = {f"v{i + 1}": labels.Audit(drawn, true[drawn, i], unclear=4, design="uniform") for i in range(2)}
    score = noisily(codes, given, noise, ["mig"], n_bootstrap=10)["mig"]
    assert {"few-audited", "audit-unclear"} <= {note.code for note in of(score).notes}
    one = {"v1": noise["v1"], "v2": labels.Audit(drawn[:-1], true[drawn[:-1], 1], design="uniform")}
    other = noisily(codes, given, one, ["mig"], n_bootstrap=10)["mig"]
    assert "different rows" in other.notes[-1].message


# Scores of classifiers that are judged by true values, through a transition ------------------------------------------


def test_without_errors_nothing_changes() -> None:
    codes, _, given = rows()
    noise = {"v1": labels.TransitionMatrix(np.eye(4)), "v2": labels.TransitionMatrix(np.eye(4))}
    for score in noisily(codes, given, noise, [*OF_TABLES, "sap", "explicitness"], n_bootstrap=2):
        if score.metric in OF_TABLES:
            assert_exact(of(score).value, score.value)
            continue
        assert_close(of(score).value, score.value, ROUNDING)
        assert any("trained on the annotations as given" in one for one in of(score).assumptions)
        assert of(score).interval is not None


def test_accuracies_are_those_of_the_same_classifier_on_true_classes() -> None:
    rng = np.random.default_rng(1)
    n = 20_000
    true = rng.integers(0, 3, n)
    codes = np.column_stack([true + rng.normal(0, 0.6, n), rng.normal(size=n)])
    transition = np.array([[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.0, 0.15, 0.85]])
    given = (transition.cumsum(axis=1)[true] < rng.random(n)[:, None]).sum(axis=1)
    found, guess = true_accuracies(codes, given, codes, given, transition)
    naive = linear_classifier_accuracy_matrix(codes, [given], codes, [given], n_classes=[3])[:, 0]
    truth = linear_classifier_accuracy_matrix(codes, [given], codes, [true], n_classes=[3])[:, 0]
    assert np.abs(found - truth).max() < 0.012
    assert truth[0] - naive[0] > 0.06
    majority = np.full(n, np.bincount(given).argmax())
    assert_exact(guess, accuracy_without_errors(majority, given, transition))
    unchanged, _ = true_accuracies(codes, given, codes, given, np.eye(3))
    assert_close(unchanged, naive, ROUNDING)


def test_counts_and_audits_correct_scores_of_classifiers() -> None:
    rng = np.random.default_rng(2)
    true = rng.integers(0, 3, 1200)
    codes = np.column_stack([true + rng.normal(0, 0.4, 1200), rng.normal(size=1200)])
    given = np.where(rng.random(1200) < 0.15, (true + 1) % 3, true)
    drawn = labels.draw_audit(1200, 300, seed=0).rows
    counts = labels.TransitionCounts([[85, 15, 0], [0, 85, 15], [15, 0, 85]])
    for noise in (counts, labels.Audit(drawn, true[drawn], design="uniform")):
        score = noisily(codes, given, {"v1": noise}, ["sap"], noise_method="transition")["sap"]
        assert score.corrected.value > score.value + 0.05
        assert score.corrected.interval.low < score.corrected.value < score.corrected.interval.high


def test_what_classifiers_cannot_be_corrected_for() -> None:
    rng = np.random.default_rng(3)
    true = rng.random((300, 1))
    audit = labels.Audit(np.arange(150), true[:150, 0], design="uniform")
    score = noisily(true, true, {"v1": audit}, ["sap"], noise_method="transition")["sap"]
    assert score.corrected is None
    assert "no transition between classes" in score.notes[-1].message


def test_a_bias_that_resamples_exaggerate_raises_no_alarm() -> None:
    assert_exact(nearer(3.0, 2.0), 2.0)
    assert_exact(nearer(-1.0, -4.0), -1.0)
    assert_exact(nearer(0.7, -3.0), 0.0)
