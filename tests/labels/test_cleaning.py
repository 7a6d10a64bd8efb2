"""Cleanings: filters by hand and against loops, simulated ones, and the harm that they do per class."""

import math
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import fisher_exact
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from demele.classifiers import Cleaned, compare
from demele.core.arrays import rng_for
from demele.core.errors import InputError, InputTypeError, MissingExtraError, NotEnoughData
from demele.core.inputs import read_codes
from demele.core.labelled import Vocabulary
from demele.labels import Cleaning, clean, cleaning_harm, estimate_transition, simulated_cleaning
from demele.labels.cleaned.cleaning import label_digest
from demele.labels.cleaned.filters import dealt, read_probabilities
from demele.report.words import plain
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact, assert_mean

# Filters --------------------------------------------------------------------------------------------------------------


Array = NDArray[Any]

#: Every method, with quick settings.
METHODS: dict[str, dict[str, Any]] = {
    "knn": {},
    "classification": {"model": GaussianNB()},
    "voting": {"model": [GaussianNB(), DecisionTreeClassifier(), LogisticRegression(max_iter=1000)]},
    "partitioning": {"model": GaussianNB()},
    "entropy": {"model": GaussianNB()},
    "confident": {"model": GaussianNB()},
}


class TwoPart(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Says what its features hold, in the column of its own."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Array, y: Array) -> "TwoPart":
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Array) -> Array:
        return X[:, self.column].astype(int)


@pytest.fixture(scope="module")
def digits() -> tuple[Array, Array, Array]:
    """Features, labels of which 10% are wrong, and which these are."""
    features, true = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    wrong = rng.random(true.size) < 0.1
    return features, np.where(wrong, (true + rng.integers(1, 10, true.size)) % 10, true), wrong


def blobs(seed: int, sizes: tuple[int, ...] = (40, 40, 20), noise: float = 0.15) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    true = np.repeat(np.arange(len(sizes)), sizes)
    features = rng.normal(size=(true.size, 2)) + 3 * np.column_stack([true, true % 2])
    wrong = rng.random(true.size) < noise
    return features, np.where(wrong, (true + 1) % len(sizes), true)


# By hand --------------------------------------------------------------------------------------------------------------


def test_neighbours_by_hand() -> None:
    # On a line; with k = 2, row 3 (b, at 3) has a and a beside it, row 4 (a, at 10) has b and b.
    positions = [[0.0], [1.0], [2.1], [3.0], [10.0], [11.0], [12.1]]
    found = clean(["a", "a", "a", "b", "a", "b", "b"], positions, method="knn", k=2, scaling="none")
    assert_exact(found.suspect, [False, False, False, True, True, False, False])
    assert found.suggested.tolist() == ["a", "a", "a", "a", "b", "b", "b"]
    # Row 2 (a, at 2.1) has b at 0.9 and a at 1.1: one against it, and a tie keeps the label.
    assert_exact(found.score, [0, 0, 0.5, 1, 1, 0.5, 0.5])


def test_neighbours_on_features_of_very_different_scale() -> None:
    rng = np.random.default_rng(1)
    telling, loud = np.repeat([0.0, 1.0], 20), 1000 * rng.normal(size=40)
    y = np.repeat([0, 1], 20)
    features = np.column_stack([telling, loud])
    assert clean(y, features, method="knn").n_suspects == 0
    assert clean(y, features, method="knn", scaling="none").n_suspects > 5
    # A unit is not a fact: metres or kilometres, the same suspects.
    assert_exact(clean(y, features * [1, 1e-6], method="knn").score, clean(y, features, method="knn").score)


def test_voting_by_hand() -> None:
    # What three models say of six instances, one column each.
    said = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 2], [1, 1, 1], [2, 2, 1], [0, 1, 2]])
    y = [0, 1, 0, 0, 0, 2]
    models = [TwoPart(0), TwoPart(1), TwoPart(2)]
    extra = np.vstack([said, [[1, 1, 1], [2, 2, 2]]])  # so that every class has two labels
    found = clean([*y, 1, 2], extra, method="voting", model=models, folds=2)
    assert_exact(found.suspect, [False, True, True, True, True, True, False, False])
    # Row 2: 1, 0 and 2 vote on label 0, which is not suggested to itself: of 1 and 2, the earlier.
    assert_exact(found.suggested, [0, 0, 1, 1, 2, 0, 1, 2])
    assert_close(found.score, [0, 2 / 3, 2 / 3, 1, 1, 2 / 3, 0, 0], ROUNDING)
    all_of_them = clean([*y, 1, 2], extra, method="voting", model=models, folds=2, rule="consensus")
    assert_exact(all_of_them.suspect, [False, False, False, True, True, False, False, False])


def test_entropy_by_hand() -> None:
    probabilities = [[0.97, 0.03], [0.97, 0.03], [0.90, 0.10], [0.5, 0.5]]
    # Normalised entropies: 0.194 (twice), 0.469, 1.
    found = clean([1, 0, 1, 1], probabilities, method="entropy", threshold=0.3)
    assert_exact(found.suspect, [True, False, False, False])
    assert_exact(found.suggested, [0, 0, 1, 1])
    assert_close(found.score, [0.97, 0.03, 0.9, 0.5], ROUNDING)
    assert_exact(clean([1, 0, 1, 1], probabilities, method="entropy", threshold=0.47).suspect, [1, 0, 1, 0])


def test_the_threshold_of_entropy_is_what_is_usual_where_prediction_and_label_agree() -> None:
    probabilities = [[0.6, 0.4], [0.8, 0.2], [0.7, 0.3], [0.15, 0.85], [0.55, 0.45]]
    # Normalised entropies: 0.9710, 0.7219, 0.8813, 0.6098, 0.9928. The first two agree with their labels: 0.8464.
    found = clean([0, 0, 1, 0, 1], probabilities, method="entropy")
    assert found.signature.arguments["threshold"] == 0.8464
    assert_exact(found.suspect, [False, False, False, True, False])
    note = next(note for note in found.notes if note.code == "threshold-from-data")
    assert "0.8464, instead of 0.3" in note.message
    assert not clean([0, 0, 1, 0, 1], probabilities, method="entropy", threshold=0.3).suspect.any()
    # Sure ones keep the limit, and nothing is said; nor is anything known where nothing agrees.
    for y, sure in (([0, 1, 1], [[0.99, 0.01], [0.02, 0.98], [0.97, 0.03]]), ([1, 0], [[0.97, 0.03], [0.03, 0.97]])):
        found = clean(y, sure, method="entropy")
        assert found.signature.arguments["threshold"] == 0.3
        assert "threshold-from-data" not in {note.code for note in found.notes}
        assert found.suspect[-2] == (len(y) == 2)


def test_partitioning_against_a_loop() -> None:
    features, y = blobs(3)
    for rule in ("majority", "non-objection"):
        found = clean(y, features, method="partitioning", model=GaussianNB(), rule=rule, seed=5)
        out = np.zeros(y.size, dtype=bool)
        rounds = 0
        while True:
            left = np.flatnonzero(~out)
            part = dealt(y[left].astype(np.int32), 5, rng_for(5, "clean", "partitioning", "parts", rounds))
            said = [GaussianNB().fit(features[left[part == p]], y[left[part == p]]) for p in range(5)]
            new = []
            for row in left:
                against = sum(model.predict(features[[row]])[0] != y[row] for model in said)
                if against == 5 or (rule == "majority" and against >= 3):
                    new.append(row)
            out[new] = True
            rounds += 1
            if len(new) < 0.01 * y.size:
                break
        assert_exact(found.suspect, out)
        assert found.signature.context["rounds"] == str(rounds)
        assert out.any()


def test_voting_and_classification_against_a_loop_over_folds() -> None:
    features, y = blobs(4)
    fold = dealt(y.astype(np.int32), 4, rng_for(7, "clean", "classification", "folds"))
    predicted = np.empty(y.size, dtype=int)
    for part in range(4):
        model = GaussianNB().fit(features[fold != part], y[fold != part])
        predicted[fold == part] = model.predict(features[fold == part])
    found = clean(y, features, method="classification", model=GaussianNB(), folds=4, seed=7)
    assert_exact(found.suspect, predicted != y)
    assert_exact(found.suggested, predicted)


# Confident learning ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["prune_by_noise_rate", "prune_by_class", "both", "confident_learning"])
def test_same_suspects_as_cleanlab(rule: str) -> None:
    from cleanlab.filter import find_label_issues

    rng = np.random.default_rng(6)
    for k in (2, 3, 8):
        y = rng.integers(0, k, 400)
        probabilities = rng.dirichlet(np.ones(k), 400) + 1.5 * np.eye(k)[np.where(rng.random(400) < 0.8, y, 0)]
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        expected = find_label_issues(y, probabilities, filter_by=rule, n_jobs=1)
        names = np.array([f"class {each}" for each in range(k)])
        found = clean(names[y], probabilities, method="confident", rule=rule)
        assert_exact(found.suspect, expected)
        assert expected.any()
        assert (found.suggested[expected] == names[probabilities.argmax(axis=1)][expected]).all()


def test_columns_of_probabilities() -> None:
    import pandas as pd

    y = ["cat", "ape", "cat", "ape"]
    right = [[0.01, 0.99], [0.99, 0.01], [0.99, 0.01], [0.01, 0.99]]  # columns ape, cat
    expected = [False, False, True, True]
    assert_exact(clean(y, right, method="entropy").suspect, expected)
    turned = np.array(right)[:, ::-1]
    assert_exact(clean(y, turned, method="entropy", classes=["cat", "ape"]).suspect, expected)
    named = pd.DataFrame(turned, columns=["cat", "ape"])
    assert_exact(clean(y, named, method="entropy").suspect, expected)
    with_a_third = np.column_stack([right, np.zeros(4)])
    assert_exact(clean(y, with_a_third, method="entropy", classes=["ape", "cat", "dog"]).suspect, expected)
    assert clean(y, with_a_third, method="confident", classes=["ape", "cat", "dog"]).suspect.shape == (4,)


# What must hold of all ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_digits_beat_chance(digits: tuple[Array, Array, Array], method: Any) -> None:
    features, y, wrong = digits
    options = {} if method == "knn" else {"model": METHODS[method]["model"]}
    found = clean(y, features[:, ::2], method=method, **options)
    detected, alarmed = found.suspect[wrong], found.suspect[~wrong]
    error = np.sqrt(sum(part.var(ddof=1) / part.size for part in (detected, alarmed)))
    assert detected.mean() - alarmed.mean() > 5 * error
    assert detected.mean() > 0.5
    if found.score is not None:
        ranks = np.argsort(np.argsort(found.score))
        assert ranks[wrong].mean() > ranks[~wrong].mean() + 0.2 * y.size


# What is left after a cleaning ----------------------------------------------------------------------------------------


def test_kept_and_applied() -> None:
    y = ["cat", "ape", "cat"]
    found = Cleaning([False, True, False], ["cat", "cat", "cat"], score=[0, 1, np.nan])
    labels, rows = found.kept(y)
    assert labels.tolist() == ["cat", "cat"]
    assert_exact(rows, [0, 2])
    labels, rows = found.applied(y)
    assert labels.tolist() == ["cat", "cat", "cat"]
    assert_exact(rows, [0, 1, 2])
    labels, rows = found.dropping().applied(y)
    assert_exact(rows, [0, 2])
    assert found.to_dict()["suggested"] == ["cat", "cat", "cat"]
    assert found.to_dict()["suspect"] == [False, True, False]
    refuses(InputError, r"^y: expected 3 labels, those that were cleaned, got 2", found.kept, ["cat", "ape"])
    refuses(InputError, r"^y: expected classes like the suggested ones, such as 'cat', got 0", found.applied, [0, 1, 0])
    for odd, message in (([0, 1], "got shape"), ([0, 2, 0], r"got 1 other, first 2 of flag 1")):
        refuses(InputError, f"^score: .*{message}", Cleaning, [False, True, False], score=odd)


def test_half_of_the_models_is_no_majority() -> None:
    said = np.array([[0, 0], [0, 1], [1, 1], [1, 0]])
    for rule, suspects in (("majority", [False, False, True, False]), ("consensus", [False, False, True, False])):
        found = clean([0, 0, 0, 1], said, method="voting", model=[TwoPart(0), TwoPart(1)], folds=2, rule=rule)
        assert_exact(found.suspect, suspects)
        assert_exact(found.score, [0, 0.5, 1, np.nan])  # nothing else has the class of the last


# What cleaning refuses -----------------------------------------------------------------------------------------------


Y, X = [0, 1, 0, 1], [[0.0, 1.0], [1.0, 0.5], [0.3, 0.2], [2.0, 0.1]]
THIRDS = np.full((4, 3), 1 / 3)


def test_what_clean_refuses() -> None:
    y_cases: Any = [
        ([1, 1, 1, 1], X, {}, NotEnoughData, r"^y: expected labels of at least 2 classes, got only 1"),
        (Y[:3], X, {}, InputError, r"same number of rows, got 3 and 4"),
        (Y, X, {"method": "knn", "k": 4}, InputError, r"^k: expected fewer neighbours than the 4 instances, got 4"),
        (Y, X, {"method": "knn", "folds": 3}, InputError, "^folds:"),
        (Y, X, {"method": "voting", "k": 3}, InputError, r"^k: `method='voting'` does not use it, only 'knn'; drop it"),
        (Y, X, {"method": "voting", "rule": "all"}, InputError, r"^rule: expected one of 'majority', 'consensus' for"),
        (Y, X, {"method": "voting", "model": GaussianNB()}, InputTypeError, r"at least 2 .* method='classification'"),
        (Y, X, {"method": "voting", "model": [GaussianNB()]}, InputTypeError, r"at least 2 classifiers .* list of 1"),
        (Y, X, {"method": "voting", "model": [GaussianNB(), 3]}, InputTypeError, r"^model\[1\]: expected a scikit-"),
        (Y, X, {"method": "classification", "model": GaussianNB}, InputTypeError, r"got the class GaussianNB"),
        (Y * 2, X * 2, {"method": "entropy", "model": LinearSVC()}, InputError, r"LinearSVC gives no probabilities"),
        (Y, THIRDS, {"method": "entropy"}, InputError, r"each of the 2 classes 0, 1, got 3 columns; give all classes"),
        (Y, X, {"method": "confident", "kind": "probabilities"}, InputError, "features_or_probabilities:"),
        (Y, THIRDS[:, :2] * 1.5, {"method": "entropy", "folds": 3}, InputError, r"^folds: nothing is trained"),
    ]
    for y, table, options, error, message in y_cases:
        refuses(error, message, clean, y, table, **options)


def test_confident_learning_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*sys.modules]:
        if name.partition(".")[0] == "cleanlab":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cleanlab", None)
    refuses(MissingExtraError, r"'confident' .*'knn' needs no extra.*demele\[cleaning\]", clean, Y, X)
    assert clean(Y, X, method="knn", k=1).method == "knn"


# What is read as probabilities of the classes, what as features, and what is refused ---------------------------------


WORDS = Vocabulary((0, 1, 2))
READ_AS: Any = (None, "probabilities")
EVEN = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.25, 0.25, 0.5]])
DRAWS = rng_for(3, "probability tables")
TABLE = DRAWS.dirichlet([0.3, 0.3, 0.3], 300)
SAID = np.where(DRAWS.random(300) < 0.9, TABLE.argmax(axis=1), DRAWS.integers(0, 3, 300))


def codes(notes: Any) -> list[str]:
    return [note.code for note in notes]


def test_rows_off_by_rounding_are_divided_by_their_sums() -> None:
    for off in (2e-5, 1e-3, 9e-3, -9e-3):
        for kind in READ_AS:
            table = EVEN.copy()
            table[1] *= 1 + off
            found, notes = read_probabilities(read_codes(table), WORDS, kind)
            assert found is not None
            assert_close(found, EVEN, ROUNDING)
            assert codes(notes) == ["renormalised"]
            assert "of 1 of 3 rows" in notes[0].message
            assert f"{abs(off):.2g}" in notes[0].message


def test_beyond_that_they_are_features_and_a_note_says_so() -> None:
    table = EVEN.copy()
    table[1] *= 1.03
    found, notes = read_probabilities(read_codes(table), WORDS, None)
    assert found is None
    assert codes(notes) == ["read-as-features"]
    assert notes[0].severity == "warning"
    assert "3 columns were read as features" in notes[0].message
    # As many features as classes are the doubtful case only, and only if nobody said what they are.
    assert read_probabilities(read_codes(table[:, :2]), WORDS, None) == (None, ())
    assert read_probabilities(read_codes(table), WORDS, "features") == (None, ())
    refuses(InputError, r"first row 1, which adds up", read_probabilities, read_codes(table), WORDS, "probabilities")


def test_other_scales_are_refused() -> None:
    table_cases: Any = [
        (EVEN * 100, r"every row adds up to 100, not to 1; if these are .* in percent, divide them by 100"),
        (np.round(EVEN * 100), r"in percent, divide them by 100"),
        (np.round(np.array([[1, 1, 1], [1, 2, 4]]) / [[3], [7]] * 100, 1), r"in percent, divide them by 100"),
        (EVEN * 40, r"every row adds up to 40, not to 1; .*counts of votes, divide them by 40"),
        (np.log(EVEN), r"look like logarithms of probabilities: .*pass numpy.exp of them"),
        (np.log(EVEN + 1e-9), r"pass numpy.exp of them"),
    ]
    for table, message in table_cases:
        for kind in READ_AS:
            with pytest.raises(InputError, match=f"^features_or_probabilities: .*{message}") as caught:
                read_probabilities(read_codes(table, "features_or_probabilities"), WORDS, kind)
            assert ("kind='features'" in str(caught.value)) == (kind is None)
            assert read_probabilities(read_codes(table), WORDS, "features") == (None, ())


@pytest.mark.parametrize("method", ["entropy", "confident"])
@pytest.mark.parametrize("written", [np.float32, np.float16, 4])
def test_a_cleaning_does_not_depend_on_how_probabilities_were_written(method: Any, written: Any) -> None:
    if method == "confident":
        pytest.importorskip("cleanlab")
    table = np.round(TABLE, written) if isinstance(written, int) else TABLE.astype(written)
    plain, found = clean(SAID, TABLE, method=method), clean(SAID, table, method=method)
    assert found.signature.arguments["kind"] == plain.signature.arguments["kind"] == "probabilities"
    # A label at a limit may fall to the other side of it.
    assert np.count_nonzero(found.suspect != plain.suspect) <= 1
    assert found.document().scope[1] == "read from probabilities"


def test_what_a_cleaning_says_of_its_table() -> None:
    trained = clean(SAID, TABLE * [[1.0, 2.0, 3.0]], method="entropy", folds=3)
    assert "read-as-features" in codes(trained.notes)
    assert trained.document().scope[1] == "read from features"
    renormalised = clean(SAID, np.round(TABLE, 3), method="entropy")
    assert "renormalised" in codes(renormalised.notes)
    for method in ("knn", "classification"):
        notes = {note.code: note for note in clean(SAID, TABLE, method=method).notes}
        assert "'entropy' and 'confident' use probabilities" in notes["read-as-features"].message
        assert "read-as-features" not in codes(clean(SAID, TABLE * 2, method=method).notes)


# Cleanings and their harm ---------------------------------------------------------------------------------------------


RNG = np.random.default_rng(0)
TRUE = RNG.integers(0, 4, 40_000)
WRONG = RNG.random(TRUE.size) < 0.1
LABELS = np.where(WRONG, (TRUE + RNG.integers(1, 4, TRUE.size)) % 4, TRUE)


def test_detections_and_false_alarms() -> None:
    found = simulated_cleaning(LABELS, TRUE, detected=0.6, false_alarms=0.1, seed=1)
    assert found.suggested is None
    assert_mean(found.suspect[WRONG], 0.6)
    assert_mean(found.suspect[~WRONG], 0.1)


def test_corrections() -> None:
    found = simulated_cleaning(LABELS, TRUE, detected=0.9, false_alarms=0.4, corrected=0.75, seed=2)
    right = found.suggested == TRUE
    for group in (WRONG, ~WRONG):
        assert_mean(right[group & found.suspect], 0.75)
    assert_exact(found.suggested[~found.suspect], LABELS[~found.suspect])
    # A failed correction is one of the three other classes, each as likely.
    failed = found.suspect & ~right
    for shift in (1, 2, 3):
        assert_mean((found.suggested[failed] - TRUE[failed]) % 4 == shift, 1 / 3)


def test_refuses() -> None:
    for name in ("detected", "false_alarms", "corrected"):
        rates = {"detected": 0.5, "false_alarms": 0.1, "corrected": 0.5}
        for odd in (-0.1, 1.1, True, "half", float("nan")):
            with pytest.raises(InputError, match=rf"^{name}: expected a share of the rows in \[0, 1\]"):
                simulated_cleaning([0, 1], [0, 1], **(rates | {name: odd}))  # type: ignore[arg-type]
    refuses(InputError, r"same number of rows, got 2 and", simulated_cleaning, [0, 1], [0], detected=1, false_alarms=0)
    refuses(InputError, r"seed", simulated_cleaning, [0, 1], [0, 1], detected=1, false_alarms=0, seed=-1)
    with pytest.raises(NotEnoughData, match=r"at least 2 classes to choose from"):
        simulated_cleaning([0, 0], [0, 0], detected=1, false_alarms=0, corrected=1)
    with pytest.raises(InputError, match=r"true_labels: .* cannot be matched"):
        simulated_cleaning([0, 1], ["a", "b"], detected=1, false_alarms=0)


def test_a_cleaning() -> None:
    found = Cleaning([True, False], ["a", "b"])
    assert repr(found) == "Cleaning(1 of 2 labels are suspected: 50.0%)"
    refuses(InputTypeError, r"suspect: expected one flag .* of type int64; from row numbers", Cleaning, [3, 7])
    refuses(InputError, r"suggested: expected 2 labels, one per flag of suspect, got 1", Cleaning, [True, False], ["a"])
    assert Cleaning([True, False]).suggested is None


def test_the_most_suspicious_labels_stand_first() -> None:
    found = Cleaning([True, False, True], ["a", "b", "<b>"], score=[0.2, 0.9, 0.7], method="mine")
    document = found.document()
    assert list(document.table.columns) == ["Row", "Suggested", "Score"]
    assert [[plain(str(cell)) for cell in row] for row in document.table.rows] == [
        ["2", "<b>", "0.7"],
        ["0", "a", "0.2"],
    ]
    assert [plain(part) for part in document.scope] == ["method mine"]
    assert Cleaning(np.ones(600, dtype=bool)).document().sections[0].blocks[1] == (
        "The 500 most suspicious of 600 are listed."
    )


# To which labels a cleaning belongs -----------------------------------------------------------------------------------

FEATURES = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
GIVEN = [3, 3, 4, 4, 4, 4]


@pytest.mark.parametrize(
    "same", [GIVEN, np.array(GIVEN, dtype=np.int32), np.array(GIVEN, dtype=float), pd.Series(GIVEN, dtype="Int64")]
)
def test_a_cleaning_knows_its_labels(same: Any) -> None:
    found = clean(GIVEN, FEATURES, method="knn", k=2)
    assert found.made_from is not None
    assert found.suspect.tolist() == [False, False, True, False, False, False]
    assert clean(same, FEATURES, method="knn", k=2).made_from == found.made_from
    for one in (found, found.dropping()):
        assert cleaning_harm(one, same).overall.suspected == 1
        assert one.applied(same).labels.size in (5, 6)
        assert compare(GIVEN, GIVEN, same, method=Cleaned(one)).n > 0


@pytest.mark.parametrize("other", [GIVEN[::-1], [3, 3, 3, 4, 4, 4], [4, 4, 3, 3, 3, 3]])
def test_other_labels_are_refused(other: list[int]) -> None:
    message = r"^cleaning: it was made from other labels than {}, or from these in another order"
    found = clean(GIVEN, FEATURES, method="knn", k=2)
    for one in (found, found.dropping()):
        for name, call in (
            ("y", lambda one=one: cleaning_harm(one, other)),
            ("y", lambda one=one: one.applied(other)),
            ("y", lambda one=one: one.kept(other)),
            ("y", lambda one=one: one.to_frame(other)),
            ("labels", lambda one=one: compare(other, GIVEN, other, method=Cleaned(one))),
        ):
            refuses(InputError, message.format(name), call)
    # Made by hand, or of some rows, it knows none.
    assert Cleaning(found.suspect).made_from is None
    assert cleaning_harm(Cleaning(found.suspect), other).overall.suspected == 1
    assert found.take([0, 2]).made_from is None


def test_the_digest_is_of_what_labels_say() -> None:
    text = np.array(["3", "4", "3"], dtype=object)
    assert label_digest(np.array([3, 4, 3])) == label_digest(text)
    others = ([3, 4, 4], [4, 3, 4], [3, 4], [3, 4, 3, 3], [5, 4, 5])
    assert len({label_digest(np.array(other)) for other in ([3, 4, 3], *others)}) == 6


def test_some_rows() -> None:
    found = Cleaning([True, False, True], [1, 0, 0], score=[0.1, 0.2, np.nan], method="mine")
    part = found.take(np.array([False, True, True]))
    assert part.suspect.tolist() == [False, True]
    assert part.suggested.tolist() == [0, 0]
    assert part.method == "mine"
    assert part.score is not None
    assert_exact(part.score, [0.2, np.nan])
    assert found.take([2, 0]).suspect.tolist() == [True, True]
    for odd in ([True, False], [7], ["a"]):
        refuses(InputError, r"^rows: expected 3 flags, or row numbers up to 2", found.take, odd)


def test_minus_1_among_true_labels() -> None:
    true, given = np.array([0, -1, 1, -1]), np.array([0, 0, 1, 1])
    found = Cleaning([False, True, False, True], [0, 1, 1, 0])
    told = r"^true_labels: 2 of 4 values are -1, first at row 1, and -1 is not among the given labels; if it marks .*"
    refuses(InputError, told, cleaning_harm, found, given, true)
    refuses(InputError, told, estimate_transition, true, given)
    keep = true != -1
    assert cleaning_harm(found.take(keep), given[keep], true[keep]).overall.right == 2
    # As a class, it is counted: where it is said to be one, or where labels have it too.
    assert estimate_transition(true, given, classes=[-1, 0, 1]).counts[0].tolist() == [0, 1, 1]
    assert estimate_transition([-1, 1], [1, -1]).wrong == 2


# Harm per class ------------------------------------------------------------------------------------------------------


def test_by_hand_with_true_labels() -> None:
    # Rows:       0    1    2    3    4    5    6    7
    y = ["a", "a", "a", "a", "b", "b", "b", "c"]
    true = ["a", "a", "b", "a", "b", "b", "c", "c"]
    after = ["a", "b", "b", "a", "b", "a", "a", "c"]
    suspect = [False, True, True, False, False, True, True, False]
    harm = cleaning_harm(Cleaning(suspect, after), y, true)
    assert [one.after for one in harm.true] == [3 / 8, 3 / 8, 2 / 8]
    assert (harm.overall.suspected, harm.overall.right, harm.overall.false_alarms) == (4, 6, 2 / 6)
    assert (harm.overall.detected, harm.overall.corrected, harm.overall.after) == (1.0, 1 / 4, 1.0)
    # Losses 1/3, 1/2, 0: the rarest, c, loses nothing.
    assert harm.loss == {"a": 1 / 3, "b": 1 / 2, "c": 0.0}
    assert (harm.rarest, harm.ratio) == (("c",), 0.0)


def test_without_true_labels() -> None:
    harm = cleaning_harm(Cleaning([True, False, True]), ["x", "x", "y"], classes=["y", "z", "x"])
    assert harm.true == ()
    assert [one.of for one in harm.given] == ["y", "z", "x"]
    assert harm.overall.false_alarms is None
    nobody = harm.given[1]
    assert (nobody.instances, nobody.interval) == (0, None)
    assert math.isnan(nobody.share)
    assert math.isnan(harm.loss["z"])
    assert_close(harm.ratio, 1 / 0.75, ROUNDING)  # z has no label: it is no class that could lose
    frame = harm.to_frame()
    assert frame["class"].tolist() == ["y", "z", "x", None]
    assert frame["false_alarms"].isna().all()


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), k=st.integers(2, 5), relabels=st.booleans())
def test_against_a_loop(seed: int, k: int, relabels: bool) -> None:
    rng = np.random.default_rng(seed)
    n = 60
    y, true, after = rng.integers(0, k, (3, n))
    suspect = rng.random(n) < 0.4
    harm = cleaning_harm(Cleaning(suspect, after if relabels else None), y, true, classes=range(k))
    for by, member in (("given", y), ("true", true)):
        for line in getattr(harm, by):
            rows = [row for row in range(n) if member[row] == line.of]
            right = [row for row in rows if y[row] == true[row]]
            hit = [row for row in rows if suspect[row]]
            assert (line.instances, line.suspected, line.right) == (len(rows), len(hit), len(right))
            alarms = [row for row in right if suspect[row]]
            assert_close(line.false_alarms, len(alarms) / len(right) if right else np.nan, ROUNDING)
            fixed = sum(after[row] == true[row] for row in hit)
            assert_close(line.corrected, fixed / len(hit) if relabels and hit else np.nan, ROUNDING)
            if relabels:
                left = [after[row] if suspect[row] else y[row] for row in range(n)] if by == "given" else member
            else:
                left = [member[row] for row in range(n) if not suspect[row]]
            assert_close(line.after, sum(each == line.of for each in left) / len(left), ROUNDING)
    sums = harm.to_frame()
    assert sums.loc[sums["by"] == "given", "suspected"].sum() == suspect.sum()


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), known=st.booleans())
def test_p_values_are_those_of_fisher(seed: int, known: bool) -> None:
    rng = np.random.default_rng(seed)
    y = rng.choice(4, 80, p=[0.55, 0.25, 0.15, 0.05])
    true = np.where(rng.random(80) < 0.8, y, 0)
    suspect = rng.random(80) < 0.1 + 0.1 * y
    harm = cleaning_harm(Cleaning(suspect), y, true if known else None, classes=range(4))
    at_stake = y == true if known else np.ones(80, dtype=bool)
    for name, p_value in harm.p_values.items():
        own = y == name
        assert own.sum() < 80 / len(np.unique(y))
        table = [
            [(at_stake & own & suspect).sum(), (at_stake & own & ~suspect).sum()],
            [(at_stake & ~own & suspect).sum(), (at_stake & ~own & ~suspect).sum()],
        ]
        assert_close(p_value, fisher_exact(table, alternative="greater").pvalue, SOLVER)


FLAGS = Cleaning([True, False, False])


def test_refuses_of_harm() -> None:
    arguments_cases: Any = [
        (([True, False, False], [0, 1, 1]), {}, InputTypeError, r"^cleaning: expected a Cleaning, got list; wrap"),
        ((FLAGS, [0, 1]), {}, InputError, r"^y: expected 3 labels, those that were cleaned, got 2"),
        ((FLAGS, [0, 1, 1], [0, 1]), {}, InputError, r"^y and true_labels: .* got 3 and 2"),
        ((FLAGS, [0, 0, 0]), {}, NotEnoughData, r"^y: expected at least 2 classes, got only 0"),
        ((FLAGS, [0, 1, 1], ["a", "b", "b"]), {}, InputError, r"^true_labels: .* cannot be matched"),
        ((FLAGS, [0, 1, 1]), {"classes": [0, 2]}, InputError, r"^y: 2 of 3 values are not among the 2 classes"),
        ((Cleaning([True, False], [7, 7]), [0, 1]), {"classes": [0, 1]}, InputError, r"^cleaning.suggested: 1 of 2"),
    ]
    for arguments, options, error, message in arguments_cases:
        refuses(error, message, cleaning_harm, *arguments, **options)
