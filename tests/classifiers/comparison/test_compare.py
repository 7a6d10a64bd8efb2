"""The public door: what it decides, what it tells, and what it refuses."""

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele.classifiers import Agreement, Audited, Cleaned, HardRows, Sequential, TrueLabels, compare, rank
from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError
from demele.labels.cleaned.cleaning import Cleaning
from demele.noise.audit import Audit
from demele.noise.transition import TransitionMatrix
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close

NAMES = np.array(["cat", "dog", "eel"])


class Case:
    """500 instances of three classes; the candidate is right on 90% and the baseline on 70%."""

    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 500)
    old = np.where(rng.random(500) < 0.7, labels, (labels + 1) % 3)
    new = np.where(rng.random(500) < 0.9, labels, (labels + 2) % 3)


def decide(**changes: Any) -> Any:
    given = {"baseline": Case.old, "candidate": Case.new, "labels": Case.labels} | changes
    return compare(given.pop("baseline"), given.pop("candidate"), given.pop("labels"), **given)


@pytest.mark.parametrize("measure", ["accuracy", "error"])
@pytest.mark.parametrize("shift", [0, 12, 30])
def test_the_default_is_the_exact_test_of_the_pairs(measure: Any, shift: int) -> None:
    """McNemar's exact test, one-sided at 2.5%, as SciPy and statsmodels have it."""
    from scipy.stats import binomtest
    from statsmodels.stats.contingency_tables import mcnemar

    candidate = np.where(np.arange(500) < shift, Case.labels, Case.old)
    candidate[490:] = (Case.labels[490:] + 1) % 3
    found = decide(candidate=candidate, measure=measure)
    right = [predictions == Case.labels for predictions in (Case.old, candidate)]
    won, lost = (right[1] & ~right[0]).sum(), (right[0] & ~right[1]).sum()
    assert found.method == "worst-case"
    assert_close(found.p_value, binomtest(won, won + lost, alternative="greater").pvalue, SOLVER)
    if won > lost:
        assert_close(2 * found.p_value, mcnemar([[0, lost], [won, 0]], exact=True).pvalue, SOLVER)
    assert (found.verdict == "candidate") == (found.p_value <= 0.025)
    assert found.to_dict() == decide(candidate=candidate, measure=measure, noise=0).to_dict()
    assert "All given labels are correct." in found.assumptions


def test_how_many_wrong_labels_a_verdict_holds_up_to_is_rounded_down() -> None:
    """33 of 5,432 labels are 0.6075%."""
    labels = np.zeros(5432, dtype=int)
    labels[:2000] = 1
    old, new = labels.copy(), labels.copy()
    lost, won = 256, 256 + 85
    new[:lost] = 1 - labels[:lost]
    old[lost : lost + won] = 1 - labels[lost : lost + won]
    found = decide(baseline=old, candidate=new, labels=labels)
    share = 100 * found.breakdown.rate
    shown = re.search(r"holds up to ([\d.]+)% wrong", str(found))
    assert 0 <= share - float(shown[1]) < 0.01
    assert f"{shown[1]}% wrong labels ({found.breakdown.labels} of 5,432)" in " ".join(found.sentences)


def test_predictions_of_a_class_that_no_label_has_count_as_wrong() -> None:
    silent = NAMES[Case.new].astype(object)
    silent[[3, 8, 400]] = "no answer"
    found = decide(baseline=NAMES[Case.old], candidate=silent, labels=NAMES[Case.labels])
    [note] = [note for note in found.notes if note.code == "class-not-labelled"]
    assert "3 predictions use a class that no label has, 'no answer' (first: row 3)" in note.message
    told = decide(baseline=NAMES[Case.old], candidate=silent, labels=NAMES[Case.labels], classes=[*NAMES, "no answer"])
    assert found.difference == told.difference
    assert "class-not-labelled" not in codes(told)
    assert codes(rank({"old": NAMES[Case.old], "new": silent}, NAMES[Case.labels])).count("class-not-labelled") == 1
    others = rank({"old": NAMES[Case.old], "new": silent, "newer": NAMES[Case.new]}, NAMES[Case.labels])
    assert "class-not-labelled" not in codes(others.decision("old", "newer"))


SICK = np.array(["ill", "well"])


def test_measures_of_medicine() -> None:
    noise_cases: Any = [None, 0.02]
    measure_cases: Any = [
        ("sensitivity", "recall", "ill"),
        ("specificity", "recall", "well"),
        ("PPV", "precision", "ill"),
        ("NPV", "precision", "well"),
    ]
    for noise in noise_cases:
        for measure, same, of in measure_cases:
            labels, old, new = (SICK[np.minimum(values, 1)] for values in (Case.labels, Case.old, Case.new))
            found = compare(old, new, labels, measure=measure, of="ill", noise=noise)
            asked = compare(old, new, labels, measure=same, of=of, noise=noise)
            for name in ("verdict", "difference", "interval", "method"):
                assert getattr(found, name) == getattr(asked, name)
            assert found.baseline.value == asked.baseline.value
            assert (found.measure, found.of, found.candidate.of) == (measure, "ill", "ill")
            assert f"{measure} of class ill" in str(found).replace(measure.capitalize(), measure)
            assert (f"{measure} of class ill" in found.sentence) == (found.verdict != "inconclusive")
            assert found.signature.arguments["of"] == "ill"
            ranking = rank({"old": old, "new": new}, labels, measure=measure, of="ill")
            assert (ranking.of, ranking.estimates[0].measure) == ("ill", measure)
            # By hand, from the four cells.
            cells = {(true, said): ((labels == true) & (new == said)).sum() for true in SICK for said in SICK}
            right, other = ("ill", "well") if measure in ("sensitivity", "PPV") else ("well", "ill")
            rest = cells[right, other] if same == "recall" else cells[other, right]
            assert_close(found.candidate.value, cells[right, right] / (cells[right, right] + rest), ROUNDING)


def test_several_measures_in_one_call() -> None:
    labels, old, new = (SICK[np.minimum(values, 1)] for values in (Case.labels, Case.old, Case.new))
    found = compare(old, new, labels, measure=["accuracy", "sensitivity", "specificity"], of="ill")
    assert [one.measure for one in (found, *found.others)] == ["accuracy", "sensitivity", "specificity"]
    for one in found.others:
        alone = compare(old, new, labels, measure=one.measure, of="ill")  # type: ignore[arg-type]
        assert one.to_dict() == alone.to_dict()
    assert found.to_dict()["others"] == [one.to_dict() for one in found.others]
    assert "Specificity of class ill: difference (pp)" in str(found)
    refuses(InputError, "measure: expected a measure or several, got none", compare, old, new, labels, measure=[])


def test_the_sharpest_method_that_the_rest_allows() -> None:
    audit = Audit(np.arange(60), Case.labels[:60], design="uniform")
    assert decide().method == "worst-case"
    assert decide(measure="error").method == "worst-case"
    assert decide(measure="recall", of=1).method == "overlap"
    assert decide(noise=0.01).method == "worst-case"
    assert decide(noise=0.01, measure="recall", of=1).method == "worst-case-overlap"
    assert decide(audit=audit).method == "audit"
    assert decide(noise=audit).method == "audit"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (HardRows(np.arange(500.0)), HardRows(-np.arange(500.0))),
        (HardRows(prudence=0.0), HardRows(prudence=1.0)),
        (Cleaned(Cleaning(Case.old != Case.labels)), Cleaned(Cleaning(Case.new != Case.labels))),
        (Cleaned(Cleaning(Case.old != Case.labels)), Cleaned(Cleaning(Case.old != Case.labels, Case.old))),
        (Agreement(Case.old), Agreement(Case.labels)),
        (TrueLabels(Case.labels), TrueLabels(Case.old)),
    ],
)
def test_the_signature_tells_apart_what_changes_the_decision(one: Any, other: Any) -> None:
    first, second = (decide(method=method) for method in (one, other))
    assert str(first.signature) != str(second.signature)
    assert str(decide(method=one).signature) == str(first.signature)


def test_error_is_accuracy_turned_around() -> None:
    accuracy, error = (decide(measure=measure, noise=0.01) for measure in ("accuracy", "error"))
    assert accuracy.verdict == error.verdict == "candidate"
    assert_close(error.difference, -accuracy.difference, ROUNDING)
    assert_close([error.interval.low, error.interval.high], [-accuracy.interval.high, -accuracy.interval.low], ROUNDING)
    assert_close(error.baseline.value, 1 - accuracy.baseline.value, ROUNDING)
    for one in (error, accuracy):
        assert one.baseline.interval.low < one.baseline.value < one.baseline.interval.high
        assert one.baseline.corrected.low <= one.baseline.interval.low


def test_without_labels() -> None:
    third = np.where(np.random.default_rng(3).random(500) < 0.8, Case.labels, (Case.labels + 1) % 3)
    found = compare(pd.Series(Case.old, name="a"), pd.Series(Case.new, name="b"), None, method=Agreement(third))
    assert (found.method, found.names) == ("agreement", ("a", "b"))
    assert_close(found.difference, (Case.new == third).mean() - (Case.old == third).mean(), ROUNDING)
    assert found.breakdown.labels == -1
    assert math.isnan(found.breakdown.rate)
    poor = compare(Case.old, Case.new, None, method=Agreement((Case.labels + 1) % 3))
    assert "largest-class" not in codes(poor)  # agreement with the third is not accuracy
    with pytest.raises(InputError, match=r"baseline and reference: .*500 and 499"):
        compare(Case.old, Case.new, None, method=Agreement(third[1:]))


SERIES = pd.Series(Case.labels)
TURNED = SERIES[::-1]
BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"candidate": Case.new[:-1]}, InputError, r"candidate and labels: .*499 and 500"),
    ({"labels": np.append(Case.labels, 0)}, InputError, r"baseline and labels: .*500 and 501"),
    ({"candidate": np.append(Case.new[:-1], 7), "classes": [0, 1, 2]}, InputError, "candidate:"),
    ({"candidate": NAMES[Case.new]}, InputError, "candidate:"),
    ({"candidate": np.full((500, 3), 1 / 3)}, InputError, r"candidate.argmax\(axis=1\)"),
    ({"candidate": np.full(500, 0.3)}, InputError, r"500 numbers that are not whole.*0.5 or more"),
    ({"labels": np.where(np.arange(500) == 3, np.nan, Case.labels)}, InputError, "labels:"),
    ({"baseline": [], "candidate": [], "labels": []}, NotEnoughData, r"at least 1 instance"),
    ({"method": "worst-cas"}, UnknownNameError, r"got 'worst-cas'; did you mean 'worst-case' or"),
    ({"method": "worst-case"}, InputError, r"method 'worst-case' needs noise=, a rate"),
    ({"method": "audit"}, InputError, r"needs audit="),
    ({"method": "true-labels"}, InputError, r"^method: .* own; give TrueLabels\(...\)$"),
    ({"method": "cleaned"}, InputError, r"give Cleaned\(...\)$"),
    ({"method": "agreement"}, InputError, r"give Agreement\(...\)$"),
    ({"method": "hard-rows"}, InputError, r"give HardRows\(...\)$"),
    ({"method": HardRows()}, InputError, r"difficulty: needed to find the hardest"),
    ({"method": HardRows}, InputError, r"method: expected one of overlap"),
    ({"method": "worst-case", "noise": 0.1, "measure": "f1", "of": 1}, InputError, r"cannot compare 'f1'"),
    ({"method": "overlap", "inference": "test_set"}, InputError, "inference:"),
    ({"inference": "everyone"}, InputError, r"inference: expected one of population"),
    ({"measure": "auc"}, InputError, r"measure: expected one of accuracy.*'auc'"),
    ({"measure": "recall"}, InputError, r"of: recall is compared for one class.*0, 1, 2"),
    ({"measure": "recall", "of": 3}, InputError, r"of: expected one of the classes 0, 1, 2, got 3"),
    ({"of": 1}, InputError, r"of: accuracy is of all classes"),
    ({"level": 95}, InputError, r"level: expected a number between 0 and 1"),
    ({"noise": 5}, InputError, r"noise: .*\[0, 1\], got 5; for 5% write 0.05"),
    ({"noise": 1.0}, InputError, r"noise: .*below 1, got 1"),
    ({"noise": np.eye(3)}, InputTypeError, r"wrap an array in TransitionMatrix"),
    ({"noise": True}, InputTypeError, r"noise: expected a rate"),
    ({"noise": TransitionMatrix([[0.9, 0.1], [0.1, 0.9]])}, InputError, "noise:"),
    ({"audit": np.arange(5)}, InputTypeError, r"audit: "),
    ({"audit": Audit([5, 500], [0, 1], design="uniform")}, InputError, "audit:"),
    ({"audit": Audit([5], [9], design="uniform")}, InputError, r"audit.labels: 1 of 1"),
    ({"noise": Audit([5], [1], design="uniform"), "audit": Audit([5], [1], design="uniform")}, InputError, "both"),
    ({"method": HardRows([1.0])}, InputError, r"difficulty: expected 500"),
    ({"method": HardRows(np.full(500, np.nan))}, InputError, "difficulty:"),
    ({"method": Cleaned(Cleaning([True]))}, InputError, "cleaning:"),
    ({"method": Cleaned(np.zeros(500, bool))}, InputTypeError, r"cleaning: expected a Clean"),  # type: ignore[arg-type]
    ({"method": Agreement(None)}, InputError, r"reference: expected one class per instance"),
    ({"labels": None}, InputError, r"labels: expected one class per instance, .*NoneType"),
    ({"method": TrueLabels(TURNED), "labels": SERIES}, InputError, r"true_labels and labels: .*another order"),
    ({"method": HardRows(TURNED * 1.0), "labels": SERIES}, InputError, r"difficulty and labels: .*another order"),
    ({"method": Agreement(TURNED), "labels": SERIES}, InputError, r"reference and labels: .*another order"),
    ({"measure": "specificity", "of": 1}, InputError, r"^measure: specificity is of two classes, got 3"),
    ({"measure": "sensitivity"}, InputError, r"^of: "),
    ({"measure": "sensitivity", "of": 7}, InputError, r"^of: "),
    ({"measure": ["accuracy", "accurate"]}, InputError, r"^measure: "),
    ({"groups": [{"a": 1}] * 500}, InputTypeError, r"groups: expected numbers or names, got dict at row 0"),
    ({"groups": np.array([{1}] * 500, dtype=object)}, InputTypeError, r"groups: .*, got set at row 0"),
    ({"method": TrueLabels([0, 1])}, InputError, "true_labels:"),
    ({"method": Agreement([0, 1])}, InputError, r"reference: expected 500"),
    ({"classes": [0, 1, 2, 2]}, InputError, r"classes: .*more than once"),
    ({"classes": [0, 1]}, InputError, r"labels: \d+ of 500 values are not among the 2 classes"),
    ({"level": 0.05}, InputError, "level: expected a confidence from 0.5 .* did you mean 0.95"),
]


def test_bad_input() -> None:
    for change, error, message in BAD:
        with pytest.raises(error) as told:
            decide(**change)
        assert re.search(message, str(told.value).replace("`", "")), str(told.value)


@pytest.mark.parametrize(
    ("method", "unused"), [("overlap", {"noise", "audit"}), ("worst-case", {"audit"}), (None, {"noise"})]
)
def test_what_a_method_does_not_look_at_is_told(method: str | None, unused: set[str]) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 400)
    old, new = (np.where(rng.random(400) < p, truth, (truth + 1) % 3) for p in (0.7, 0.9))
    audit = Audit(np.arange(0, 400, 4), truth[::4], design="uniform")
    told = compare(old, new, truth, method=method, noise=0.01, audit=audit)
    assert {note.subject[0] for note in told.notes if note.code == "unused"} == unused
    changed = [note.message for note in told.notes if note.code == "audit"]
    assert changed == (["the expert changed 0 of 100 audited labels"] if method is None else [])
    assert told.assumptions[-1] == "The instances are a random sample of those to come."


# Notes on what labels and methods are worth --------------------------------------------------------------------------


def codes(result: Any) -> list[str]:
    return [note.code for note in result.notes]


def test_labels_off_by_one_class_are_told() -> None:
    """The candidate then leads by its whole accuracy, and the baseline does worse than a constant."""
    off = decide(labels=(Case.labels + 1) % 3, candidate=(Case.new + 1) % 3)
    assert off.verdict == "candidate"
    [note] = [note for note in off.notes if note.code == "largest-class"]
    assert (note.subject, note.severity) == (("baseline",), "warning")
    share = np.bincount(Case.labels).max() / 500
    assert f"would agree with {share:.2%} of the given labels: 'baseline' is not shown to do better" in note.message
    assert "largest-class" not in codes(decide())


@pytest.mark.parametrize("right", [57, 58, 59, 60, 61])
def test_the_limit_is_that_of_the_interval(right: int) -> None:
    """50 of 100 labels are of the largest class: the score interval of 59 of 100 reaches to 0.492, of 60 to 0.502."""
    labels = np.repeat([0, 1], 50)
    weak = np.where(np.argsort(np.argsort(np.arange(100) % 50, kind="stable")) < right, labels, 1 - labels)
    assert ("largest-class" in codes(compare(weak, labels, labels))) == (right < 60)


@pytest.mark.parametrize(
    ("made", "options", "message"),
    [
        (HardRows, {"prudence": 10}, r"prudence: .* \[0, 1\], got 10; for 10% write 0.1"),
        (Sequential, {"seed": -1}, "seed: expected a whole number >= 0"),
        (Audited, {"exact": 1}, "exact: expected True or False"),
        (Audited, {"expert_error": 2}, "expert_error: .* got 2; for 2% write 0.02"),
    ],
)
def test_options_of_a_method_are_checked_when_it_is_made(made: Any, options: dict[str, Any], message: str) -> None:
    refuses(InputError, message, made, **options)


def test_two_series_with_different_names_name_the_classifiers() -> None:
    for names, expected in (
        (("old", "new"), ("old", "new")),
        (("same", "same"), ("baseline", "candidate")),
        (("old", None), ("baseline", "candidate")),
        ((0, 1), ("baseline", "candidate")),
    ):
        old, new = (pd.Series(rows, name=name) for rows, name in zip((Case.old, Case.new), names, strict=True))
        found = decide(baseline=old, candidate=new)
        assert (found.names, found.difference) == (expected, decide().difference)
    polars = pytest.importorskip("polars")
    found = decide(baseline=polars.Series("old", Case.old), candidate=polars.Series("new", Case.new))
    assert found.names == ("old", "new")
