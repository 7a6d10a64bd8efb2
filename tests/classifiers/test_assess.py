"""Assessment: cases by hand, scikit-learn as an oracle, every kind of knowledge, coverage, what is refused."""

import itertools
import math
from dataclasses import astuple
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.metrics import precision_recall_fscore_support

from demele.classifiers.measures.assess import Assessment, assess
from demele.classifiers.measures.bias import bias, correct_bounds
from demele.core.errors import InputError, InputTypeError, OutOfDomainWarning, UnknownNameError
from demele.core.labelled import read_labelled
from demele.core.proportions import score_interval
from demele.noise.audit import Audit, draw_audit
from demele.noise.budget import noise_budget
from demele.noise.transition import TransitionCounts, TransitionMatrix, estimate_transition
from tests.classifiers.audited import estimated
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_at_most, assert_close, assert_exact

Array = NDArray[Any]
NAMES = np.array(["cat", "dog", "owl"])


def example(n: int = 600, rate: float = 0.05, seed: int = 0) -> tuple[Array, Array, Array]:
    """Predictions, labels and true labels of three classes."""
    rng = np.random.default_rng(seed)
    true = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    labels = np.where(rng.random(n) < rate, (true + 1) % 3, true)
    predictions = np.where(rng.random(n) < 0.85, true, rng.integers(0, 3, n))
    return predictions, labels, true


def ends(interval: Any) -> tuple[float, float]:
    return interval.low, interval.high


# ------------------------------------------------------------------------------------------------- labels as they are


def test_by_hand() -> None:
    # Labels: 6 cats, 4 dogs. Predicted cat: 5 of the cats and 1 dog. F1 of cat 10/12, of dog 6/8.
    labels = ["cat"] * 6 + ["dog"] * 4
    predictions = ["cat"] * 5 + ["dog"] + ["cat"] + ["dog"] * 3
    found = assess(predictions, labels, average=("macro", "weighted", "micro"))
    expected = {
        "accuracy": 0.8,
        "error": 0.2,
        ("precision", "cat"): 5 / 6,
        ("recall", "cat"): 5 / 6,
        ("f1", "cat"): 10 / 12,
        ("precision", "dog"): 3 / 4,
        ("recall", "dog"): 3 / 4,
        ("precision", "macro"): (5 / 6 + 3 / 4) / 2,
        ("recall", "weighted"): 0.8,
        ("f1", "weighted"): 0.6 * 10 / 12 + 0.4 * 3 / 4,
        ("f1", "micro"): 0.8,
    }
    for key, value in expected.items():
        assert_close(found[key].value, value, ROUNDING)
    assert_close(ends(found["accuracy"].interval), score_interval(8, 10), ROUNDING)
    assert_close(ends(found["error"].interval), score_interval(2, 10), ROUNDING)
    assert_close(ends(found["recall", "dog"].interval), score_interval(3, 4), ROUNDING)
    # F1 = 2 J / (1 + J), with J = 5 / 7 for cat.
    low, high = score_interval(5, 7)
    assert_close(ends(found["f1", "cat"].interval), (2 * low / (1 + low), 2 * high / (1 + high)), ROUNDING)
    assert (found["f1", "cat"].successes, found["f1", "cat"].trials) == (5, 7)
    assert (found["error"].successes, found["error"].trials) == (2, 10)
    assert found["accuracy"].bias is None
    assert found["accuracy"].corrected is None
    assert "All given labels are correct." in found.assumptions


# ------------------------------------------------------------------------------------------------------- true labels


def test_true_labels_give_the_exact_bias_and_shift_the_interval() -> None:
    predictions, labels, true = example()
    found, exact = assess(predictions, labels, true_labels=true), bias(predictions, labels, true)
    accuracy = found["accuracy"]
    assert accuracy.bias is not None
    assert_close(accuracy.bias, [exact.accuracy] * 2, ROUNDING)
    assert_close(ends(accuracy.corrected), np.array(ends(accuracy.interval)) - exact.accuracy, ROUNDING)
    assert accuracy.corrected.kind == "shifted"
    assert_close(found["error"].bias, [-exact.accuracy] * 2, ROUNDING)
    assert_close(ends(found["error"].corrected), 1 - np.array(ends(accuracy.corrected))[::-1], ROUNDING)
    right = assess(predictions, true)
    for measure in ("precision", "recall", "f1"):
        for k in range(3):
            one = found[measure, k]
            assert_close(one.bias, [float(exact.per_class[measure].to_numpy()[k])] * 2, ROUNDING)
            assert_close(one.value - one.bias[0], right[measure, k].value, ROUNDING)
        for average in ("macro", "weighted"):
            one = found[measure, average]
            assert_close(one.value - one.bias[0], right[measure, average].value, ROUNDING)


# -------------------------------------------------------------------------------------------------------------- noise


def test_a_rate_by_hand() -> None:
    # 500 labels, 300 say 1, all predicted 1; at most 25 wrong: the bias is within 5 points.
    labels, predictions = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 50, [1] * 500
    accuracy = assess(predictions, labels, noise=0.05)["accuracy"]
    assert_close(accuracy.bias, [-0.05, 0.05], ROUNDING)
    low, high = score_interval(300, 500)
    # The score interval of 275 of 500 reaches a hair lower than the shifted one, that of 325 of 500 not as high.
    assert_close(ends(accuracy.corrected), (score_interval(275, 500)[0], high + 0.05), ROUNDING)
    assert 0 < low - 0.05 - accuracy.corrected.low < 0.0005
    assert (accuracy.corrected.kind, accuracy.corrected.method) == ("bias-union", "score")
    # Near 1 the worst case is wider: 10 of 200 labels may be wrong, and all 200 agree.
    sure = assess([0, 1] * 100, [0, 1] * 100, noise=0.05)["accuracy"]
    assert_close(sure.bias, [0, 0.05], ROUNDING)
    assert_close(ends(sure.corrected), (float(score_interval(190, 200)[0]), 1.0), ROUNDING)
    assert sure.corrected.low < score_interval(200, 200)[0] - 0.05


@pytest.mark.parametrize("kind", ["matrix", "counts"])
def test_half_of_the_error_is_kept_for_the_noise(kind: str) -> None:
    predictions, labels, true = example(3000)
    rows = np.random.default_rng(2).permutation(3000)[:400]
    counts = estimate_transition(true[rows], labels[rows])
    noise = counts if kind == "counts" else TransitionMatrix(0.95 * np.eye(3) + 0.05 * np.roll(np.eye(3), 1, axis=1))
    found = assess(predictions, labels, noise=noise, level=0.9)
    budget = noise_budget(noise, labels.astype(np.int32), 3, tail=0.05)
    accuracy = found["accuracy"]
    assert accuracy.corrected.level == 0.9
    low, high = accuracy.value - np.array(correct_bounds("accuracy", found.confusion.counts, budget))[::-1]
    assert_close(accuracy.bias, [low, high], ROUNDING)
    inner = score_interval(accuracy.successes, accuracy.trials, level=0.95)
    assert accuracy.corrected.low <= inner[0] - high
    assert_close(accuracy.corrected.high, inner[1] - low, ROUNDING)
    assert any("share the error" in text for text in found.assumptions)
    # The truth lies within all bounds.
    exact = assess(predictions, labels, true_labels=true)
    for one, known in zip(found, exact, strict=True):
        assert_at_most([one.bias[0], known.bias[0]], [known.bias[0], one.bias[1]], ROUNDING)


def test_the_classes_of_the_noise_are_matched_by_name() -> None:
    predictions, labels, _ = example()
    table = np.array([[0.9, 0.1, 0], [0, 0.95, 0.05], [0.02, 0, 0.98]])
    backwards = TransitionMatrix(table[::-1, ::-1], classes=list(NAMES[::-1]))
    first = assess(NAMES[predictions], NAMES[labels], noise=TransitionMatrix(table, classes=list(NAMES)))
    other = assess(NAMES[predictions], NAMES[labels], noise=backwards)
    third = assess(NAMES[predictions], NAMES[labels], noise=backwards, classes=list(NAMES))
    assert first.classes == third.classes == tuple(NAMES)
    assert other.classes == tuple(NAMES[::-1])
    for one in first:
        same = third[one.measure, one.of] if one.of is not None else third[one.measure]
        assert astuple(same) == astuple(one)  # as tuples: NaN is NaN
        again = other[one.measure, one.of] if one.of is not None else other[one.measure]
        assert_close(again.bias, one.bias, ROUNDING)


def test_noise_that_contradicts_the_labels_is_said() -> None:
    # Nearly every label of class 0 would be wrong, and no class gives as many labels 0 as there are.
    matrix = TransitionMatrix([[0.01, 0.99], [0.01, 0.99]])
    with pytest.warns(OutOfDomainWarning):
        found = assess([0, 1] * 200, [0, 1] * 200, noise=matrix)
    assert "out-of-domain" in {note.code for note in found.notes}


# -------------------------------------------------------------------------------------------------------------- audit


@pytest.mark.parametrize("design", ["uniform", "weighted"])
def test_a_random_audit_estimates_every_measure(design: str) -> None:
    predictions, labels, true = example(1500)
    disagreement = None if design == "uniform" else (predictions != labels) + 0.1
    plan = draw_audit(1500, 150, disagreement=disagreement, seed=3)
    audit = plan.answered(true[plan.rows])
    found = assess(predictions, labels, audit=audit)
    data = read_labelled({"predictions": predictions}, labels)
    coded = audit.coded(data.vocabulary, data.n)
    for one in found:
        if one.of == "weighted" and one.measure != "recall":
            assert one.corrected is None
            continue
        measure = "accuracy" if one.of == "weighted" or one.measure == "error" else one.measure
        classes = [None] if measure == "accuracy" else range(data.k) if one.of == "macro" else [one.of]
        expected, here = (
            np.mean([estimated(data, coded, measure, of, inference=inference)[1:] for of in classes], axis=0)
            for inference in ("population", "test_set")
        )
        if one.measure == "error":
            expected, here = 1 - expected[::-1], 1 - here[::-1]
        assert one.bias is not None
        assert one.corrected.kind == "design"
        assert_close(ends(one.corrected), expected, ROUNDING)
        assert_close(one.bias, one.value - here[::-1], ROUNDING)
    again = assess(predictions, labels, noise=audit)
    assert_exact(again.to_frame()["corrected_low"], found.to_frame()["corrected_low"])
    assert any("150 audited rows were drawn" in text for text in found.assumptions)


def test_the_macro_bias_of_an_audit_is_over_classes_with_a_value_and_an_interval() -> None:
    # The only label "c" is truly "a"; "d" is the truth of one row labelled "b". Every row is audited, and predicted as
    # labelled. Recall by the labels: a 4/4, b 4/4, c 1/1, d not defined; in truth: a 4/5, b 3/3, c not defined, d 0/1.
    labels, truth = list("aaaabbbbc"), list("aaaabbbda")
    audit = Audit(np.arange(9), truth, design="uniform")
    found = assess(labels, labels, audit=audit, classes=list("abcd"))
    assert found["recall", "c"].bias is None
    assert found["recall", "d"].bias is None
    assert_close(found["recall", "macro"].value, 1, ROUNDING)
    assert_close(np.array(found["recall", "macro"].bias), (0.1, 0.1), ROUNDING)
    # Where every class has both it is observed minus correct of the averages.
    predictions, given_labels, true = example(rate=0.2)
    whole = assess(predictions, given_labels, audit=Audit(np.arange(true.size), true, design="uniform"))
    exact = assess(predictions, given_labels, true_labels=true)
    for measure in ("precision", "recall", "f1"):
        assert_close(np.array(whole[measure, "macro"].bias), np.array(exact[measure, "macro"].bias), SOLVER)


def test_a_selective_audit_proves_only_what_it_shows() -> None:
    # 7 rows, 3 of them seen by an expert, at most 2 wrong in all: every assignment of true labels that fits.
    rng = np.random.default_rng(5)
    checked = 0
    for _ in range(30):
        labels, predictions = rng.integers(0, 2, 7), rng.integers(0, 2, 7)
        if np.unique(labels).size < 2:
            continue
        rows = rng.permutation(7)[:3]
        seen = np.where(rng.random(3) < 0.3, 1 - labels[rows], labels[rows])
        audit = Audit(rows, seen, design="selective")
        if (seen != labels[rows]).sum() > 2:
            refuses(InputError, "allows 2 wrong labels", assess, predictions, labels, noise=2.1 / 7, audit=audit)
            continue
        found = assess(predictions, labels, noise=2.1 / 7, audit=audit)
        every = np.array(list(itertools.product((0, 1), repeat=7)))
        fits = (every[:, rows] == seen).all(axis=1) & ((every != labels).sum(axis=1) <= 2)
        values = (every[fits] == predictions).mean(axis=1)
        accuracy = found["accuracy"]
        assert accuracy.bias is not None
        assert_close(accuracy.bias, [accuracy.value - values.max(), accuracy.value - values.min()], ROUNDING)
        assert "selective-audit" in {note.code for note in found.notes}
        checked += 1
    assert checked > 15


# --------------------------------------------------------------------------------------------------- notes and edges


def test_undefined_measures_are_nan_with_a_note() -> None:
    found = assess([0, 0, 0, 0], [0, 0, 1, 1], classes=[0, 1, 2], noise=0.0)
    precision = found["precision", 1]
    assert math.isnan(precision.value)
    assert (precision.interval, precision.bias, precision.corrected) == (None, None, None)
    assert found["recall", 1].value == 0
    assert math.isnan(found["f1", 2].value)
    notes = {note.message for note in found.notes if note.code == "undefined"}
    assert any("precision of '1', '2' is not defined (never predicted)" in text for text in notes)
    assert any("recall of '2' is not defined (no row has this label)" in text for text in notes)
    assert found["precision", "macro"].value == 0.5


@pytest.mark.parametrize("noise", [None, 0.05])
def test_answers_that_are_right_or_wrong_have_an_accuracy_only(noise: float | None) -> None:
    answers = ["right"] * 45 + ["wrong"] * 55
    found = assess(answers, ["right"] * 100, classes=["right", "wrong"], noise=noise)
    assert [(one.measure, one.of) for one in found] == [("accuracy", None), ("error", None)]
    assert found["accuracy"].value == 0.45
    assert [note.code for note in found.notes if note.subject == ("right",)] == ["one-class"]
    # With an expert's labels of other classes, precision and recall are of these.
    audit = Audit(list(range(60)), answers[:60], design="uniform")
    assert assess(answers, ["right"] * 100, classes=["right", "wrong"], audit=audit)["recall", "wrong"].corrected


@pytest.mark.parametrize("known", [{}, {"noise": 0.05}, {"audit": True}, {"true_labels": True}])
def test_a_class_that_is_only_predicted_is_in_no_average(known: dict[str, Any]) -> None:
    """Cats and dogs, and a refusal to answer on a fifth of the rows."""
    rng = np.random.default_rng(0)
    labels = rng.choice(["cat", "dog"], 1000)
    answers = np.where(rng.random(1000) < 0.2, "none", labels)
    if "audit" in known:
        known = {"audit": Audit(np.arange(200), labels[:200], design="uniform")}
    if "true_labels" in known:
        known = {"true_labels": labels}
    found = assess(answers, labels, classes=["cat", "dog", "none"], **known)
    theirs = precision_recall_fscore_support(labels, answers, labels=["cat", "dog"], average="macro")
    for measure, value in zip(("precision", "recall", "f1"), theirs, strict=False):
        both = [found[measure, name] for name in ("cat", "dog")]
        average = found[measure, "macro"]
        assert_close(average.value, float(value), ROUNDING)
        ends = [(one.interval.low, one.interval.high) for one in both if one.interval is not None]
        assert_close([average.interval.low, average.interval.high], np.mean(ends, axis=0), ROUNDING)
        assert (average.corrected is not None) == bool(known)
        assert average.corrected is None or average.corrected.low > 0.6
    note = next(note for note in found.notes if note.code == "undefined")
    assert "recall of 'none'" in note.message
    assert "averages of all measures leave out such classes" in note.message


EYE = TransitionMatrix(np.eye(2))
UNIFORM = Audit([0], [1], design="uniform")


def test_bad_input() -> None:
    predictions_cases: Any = [
        ([0, 1], [0, 1, 1], {}, InputError, "same number of rows, got 2 and 3"),
        ([0, 1], [0, 1], {"noise": 5}, InputError, "for 5% write 0.05"),
        ([0, 1], [0, 1], {"noise": -0.1}, InputError, "noise: expected a share"),
        ([0, 1], [0, 1], {"noise": "5%"}, InputTypeError, "noise: .* got str"),
        ([0, 1], [0, 1], {"noise": np.eye(2)}, InputTypeError, "wrap an array in TransitionMatrix"),
        ([0, 1], [0, 1], {"noise": TransitionMatrix(np.eye(3))}, InputError, "noise: expected 2 classes"),
        ([0, 1], [0, 1], {"noise": TransitionCounts(np.eye(3, dtype=int))}, InputError, "noise: expected 2 classes"),
        ([0, 1], [0, 1], {"noise": EYE, "audit": UNIFORM}, InputError, "random audit, the noise can only be a rate"),
        ([0, 1], [0, 1], {"noise": 0.1, "audit": Audit([0], [1], design="uniform")}, InputError, "noise:"),
        ([0, 1], [0, 1], {"noise": UNIFORM, "audit": UNIFORM}, InputError, "both are audits"),
        ([0, 1], [0, 1], {"noise": 0.1, "true_labels": [0, 1]}, InputError, "true_labels and noise"),
        ([0, 1], [0, 1], {"audit": UNIFORM, "true_labels": [0, 1]}, InputError, "true_labels and audit"),
        ([0, 1], [0, 1], {"audit": [0, 1]}, InputTypeError, "audit: expected an Audit, got list"),
        ([0, 1], [0, 1], {"audit": Audit([9], [1], design="uniform")}, InputError, "names row 9 .* does not exist"),
        ([0, 1], [0, 1], {"audit": Audit([1], [4], design="uniform")}, InputError, "audit.labels: 1 of 1 values"),
        ([0, 1], [0, 1], {"audit": Audit([1], [1], design="selective")}, InputError, "chosen for a reason"),
        ([0, 1], pd.Series([0, 1]), {"true_labels": pd.Series([0, 1])[::-1]}, InputError, "another order"),
        ([0, 1], [0, 1], {"true_labels": [0]}, InputError, "true_labels: expected 2 rows"),
        ([0, 1], [0, 1], {"average": "mean"}, UnknownNameError, "average: expected one of macro, micro, weighted"),
        ([0, 1], [0, 1], {"average": None}, InputTypeError, "average: expected names"),
    ]
    for predictions, labels, options, error, message in predictions_cases:
        refuses(error, message, assess, predictions, labels, **options)


# ----------------------------------------------------------------------------------------------------------- coverage


def corrected(hits: int, n: int, rate: float) -> tuple[float, float]:
    labels = np.arange(n) % 2
    predictions = np.where(np.arange(n) < hits, labels, 1 - labels)
    found: Assessment = assess(predictions, labels, noise=rate, per_class=False, average=())
    return ends(found["accuracy"].corrected)


@pytest.mark.parametrize(("rate", "accuracy"), [(0.05, 0.93), (0.1, 0.88), (0.2, 0.78), (0.1, 0.6)])
def test_the_union_covers_against_wrong_labels_chosen_after_the_fact(rate: float, accuracy: float) -> None:
    # Exact: of 200 instances a binomial number is right; an adversary who knows it changes the observed number of hits
    # by any number up to the budget, to make the interval miss. The shifted intervals alone fail here.
    n, wrong = 200, round(200 * rate)
    hits = np.arange(n + 1)
    intervals = np.array([corrected(int(h), n, rate) for h in hits])
    low, high = score_interval(hits, np.full(n + 1, n))
    shifted = np.stack([low - np.minimum(wrong, hits) / n, high + np.minimum(wrong, n - hits) / n], axis=1)
    chance = binom.pmf(hits, n, accuracy)

    def covered(limits: Array) -> float:
        missed = (accuracy < limits[:, 0]) | (accuracy > limits[:, 1])
        reach = [missed[max(x - wrong, 0) : min(x + wrong, n) + 1].any() for x in range(n + 1)]
        return float(1 - chance[reach].sum())

    own = float(chance[(low <= accuracy) & (accuracy <= high)].sum())  # of the score interval on right labels
    assert_at_most(own, covered(intervals), ROUNDING)
    assert own > 0.94
    if accuracy + rate >= 0.97:
        assert covered(shifted) < 0.9


def test_an_audit_that_contradicts_the_rate_is_told() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 4000)
    labels = np.where(rng.random(4000) < 0.05, (truth + 2) % 4, truth)
    plan = draw_audit(4000, 300, seed=0)
    audit = plan.answered(truth[plan.rows])
    for rate in (0.01, 0.06):
        codes = [note.code for note in assess(truth, labels, audit=audit, noise=rate).notes]
        assert ("rate-contradicted" in codes) == (rate == 0.01)


def test_asking_for_an_estimate_that_is_not_there() -> None:
    found = assess([0, 1], [0, 1])
    refuses(UnknownNameError, r"'auc' is not among the estimates: measures accuracy, error", lambda: found["auc"])
    refuses(UnknownNameError, r"\('f1', 5\) is not among", lambda: found["f1", 5])
    refuses(UnknownNameError, "of 0, 1, 'macro', 'weighted'", lambda: found["f1"])


def test_an_audit_of_other_rows_is_suspected() -> None:
    truth = np.tile(np.arange(4), 100)
    shifted = Audit(np.arange(1, 101), truth[:100], design="uniform")  # rows counted from 1
    note = next(note for note in assess(truth, truth, audit=shifted).notes if note.code == "audit")
    assert note.severity == "warning"
    assert note.message.startswith(
        "the expert changed 100 of 100 audited labels, more than half: are its rows those of"
    )


def test_predictions_that_tell_nothing_are_said() -> None:
    labels = np.repeat(["cat", "dog"], [80, 20])
    for predictions, said in ((np.tile(["cat", "dog"], 50), True), (labels, False)):
        found = [note for note in assess(predictions, labels).notes if note.code == "largest-class"]
        assert bool(found) == said
        assert all("always predicting 'cat' would agree with 80.00%" in note.message for note in found)


def test_one_class_and_one_row() -> None:
    found = assess([7, 7], [7, 7], noise=0.5)
    assert found["accuracy"].value == 1
    assert_close(found["accuracy"].bias, [0, 0], ROUNDING)
    single = assess([1], [0], classes=[0, 1])
    assert single["accuracy"].value == 0
    assert single["accuracy"].interval is not None


def test_no_noise_changes_nothing() -> None:
    predictions, labels, _ = example()
    for one in assess(predictions, labels, noise=0.0):
        assert one.bias is not None
        assert_close(one.bias, [0, 0], ROUNDING)
        if one.interval is not None and one.of != "macro":
            assert_close(ends(one.corrected), ends(one.interval), ROUNDING)


def test_the_interval_of_a_macro_average_covers_more_than_its_level() -> None:
    # 400 test sets of 300, five classes of unequal size; the confusion probabilities are the truth.
    rng = np.random.default_rng(7)
    priors = np.array([0.4, 0.25, 0.2, 0.1, 0.05])
    table = 0.75 * np.eye(5) + 0.05
    joint = priors[:, None] * table
    true = {
        "precision": (np.diag(joint) / joint.sum(axis=0)).mean(),
        "recall": np.diag(table).mean(),
        "f1": (2 * np.diag(joint) / (joint.sum(axis=0) + priors)).mean(),
    }
    covered: dict[str, list[bool]] = {measure: [] for measure in true}
    for _ in range(400):
        cells = rng.choice(25, 300, p=joint.ravel())
        found = assess(cells % 5, cells // 5, classes=range(5), per_class=False, average="macro")
        for measure, value in true.items():
            interval = found[measure, "macro"].interval
            covered[measure].append(interval.low <= value <= interval.high)
    for flags in covered.values():
        assert np.mean(flags) >= 0.97
