"""Transition matrices and counts: the two types cannot be confused, and rows are true classes in both."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.signature import Signature
from demele.labels import TransitionCounts, TransitionMatrix, estimate_transition
from demele.report.words import plain, written
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

CAT_DOG = TransitionMatrix([[0.9, 0.1], [0.3, 0.7]], classes=["cat", "dog"])


def test_rows_are_true_classes() -> None:
    assert CAT_DOG.probability(true="cat", given="dog") == 0.1
    assert CAT_DOG.probability(true="dog", given="cat") == 0.3
    counts = estimate_transition(["cat", "cat", "dog"], ["cat", "dog", "dog"])
    frame = counts.to_frame()
    assert frame.loc["cat", "dog"] == 1
    assert frame.loc["dog", "cat"] == 0
    assert (frame.index.name, frame.columns.name) == ("true", "given")


def test_rate_of_a_matrix() -> None:
    assert_close(CAT_DOG.rate([0.25, 0.75]), 0.25 * 0.1 + 0.75 * 0.3, ROUNDING)
    for priors in ([0.5, 0.6], [1.5, -0.5], [1.0], [np.nan, 1.0]):
        refuses(InputError, r"^priors: expected", CAT_DOG.rate, priors)


def test_no_matrix() -> None:
    for values, message in [
        ([[0.9, 0.1]], r"square table.*got \(1, 2\)"),
        ([0.9, 0.1], "square table"),
        ([[np.nan, 1], [0, 1]], "missing or infinite at row 0, column 0, 1 in all"),
        ([[1.1, -0.1], [0, 1]], "2 values outside .* first 1.1 at row 0, column 0"),
        ([[90, 10], [20, 80]], "look like counts: use TransitionCounts"),
        ([[90.5, 9.5], [20, 80]], "not percentages"),
        ([[1, 0], [1, 1]], "look like counts"),
        ([[0.9, 0.2], [0.1, 0.8]], r"first row 0 with sum 1.1; its columns do: it looks transposed.*transpose it"),
        ([[0.9, 0.1], [0.2, 0.799]], "1 of its rows do not sum to 1, first row 1 with sum 0.999; if that is rounding"),
        ([[0.9, 0.2], [0.3, 0.8]], "2 of its rows do not sum to 1, first row 0 with sum 1.1; row = true class"),
        ([[1.0]], "at least 2 classes"),
        ([["a", "b"], ["c", "d"]], "table of numbers"),
        ("matrix.csv", "got str"),
        (None, "got NoneType"),
    ]:
        refuses(InputError, "^probabilities: .*" + message, TransitionMatrix, values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.9, 0.1], [0.2, 0.8]], "4 other, first 0.9 at row 0, column 0; these look like probabilities: use Transi"),
        ([[5, -1], [0, 3]], "1 other, first -1 at row 0, column 1$"),
        ([[5, 1.5], [0, 3]], "first 1.5 at row 0, column 1$"),
        ([[0, 0], [0, 0]], "at least 1 instance"),
        ([[1, 2, 3]], "square"),
        ([[7]], "at least 2 classes"),
        ([[2.0**60, 1], [0, 1]], r"up to 2\^53"),
    ],
)
def test_no_counts(values: list[list[float]], message: str) -> None:
    refuses(InputError, "^counts: .*" + message, TransitionCounts, values)


@pytest.mark.parametrize("kind", [TransitionMatrix, TransitionCounts])
def test_names_of_classes(kind: type) -> None:
    values = [[1, 0], [0, 1]]
    refuses(InputError, r"^classes: expected 2 names, one per row, got 3: 'a'", kind, values, ["a", "b", "c"])
    refuses(InputError, r"^classes: expected each class once, got 'a' more than once", kind, values, ["a", "a"])
    refuses(InputTypeError, r"^classes", kind, values, "ab")
    assert kind(values, ("b", "a")).classes == ("b", "a")
    assert kind(values, np.array([3, 4])).classes == (3, 4)


def test_one_kind_is_not_made_of_the_other() -> None:
    refuses(InputTypeError, "got TransitionMatrix", TransitionCounts, CAT_DOG)
    refuses(InputError, "sample_of: expected 'source'", TransitionCounts, [[1, 0], [0, 1]], sample_of="all")


def test_a_signature_holds_a_digest() -> None:
    large = TransitionMatrix(np.eye(500) * 0.9 + 0.1 / 500)
    other = TransitionMatrix([[0.9, 0.1], [0.3, 0.7]], classes=["dog", "cat"])
    assert other.in_signature() != CAT_DOG.in_signature()
    counts = TransitionCounts([[8, 2], [1, 9]])
    starts = (
        "noise=TransitionMatrix(k=500, digest='",
        "noise=TransitionMatrix(k=2, digest='",
        "noise=TransitionCounts(k=2, n=20, sample_of='source', digest='",
    )
    for value, start in zip((large, CAT_DOG, counts), starts, strict=True):
        text = str(Signature("compare", {"noise": value}, {"n": "10"}))
        assert text.startswith(f"compare({start}")
        assert len(text) < 110
        assert str(Signature.parse(text)) == text


def test_other_orders_of_the_classes() -> None:
    turned = CAT_DOG.ordered(["dog", "cat"])
    assert turned.classes == ("dog", "cat")
    assert_exact(turned.probabilities, [[0.7, 0.3], [0.1, 0.9]])
    counts = TransitionCounts([[8, 2], [1, 9]], ["cat", "dog"], sample_of="labels")
    assert_exact(counts.ordered(["dog", "cat"]).counts, [[9, 1], [2, 8]])
    assert counts.ordered(["dog", "cat"]).sample_of == "labels"
    assert turned.in_signature() == CAT_DOG.in_signature()  # the same noise
    for unnamed in (TransitionMatrix([[0.9, 0.1], [0.3, 0.7]]), TransitionCounts([[8, 2], [1, 9]])):
        assert unnamed.ordered(["dog", "cat"]) == unnamed
    refuses(InputError, "noise: its classes 'cat', 'dog' lack 'bird'", CAT_DOG.ordered, ["bird", "cat"])
    refuses(InputError, "noise: expected 3 classes, as the labels have", CAT_DOG.ordered, ["bird", "cat", "dog"])


def test_rate_of_counts_and_its_exact_interval() -> None:
    counts = TransitionCounts([[45, 5], [2, 48]])
    assert (counts.n, counts.wrong, counts.rate) == (100, 7, 0.07)
    interval = counts.rate_interval(level=0.9)
    # Clopper and Pearson: each end makes what was seen, or more extreme, have probability 5%.
    assert_close([binom.sf(6, 100, interval.low), binom.cdf(7, 100, interval.high)], [0.05, 0.05], SOLVER)
    refuses(InputError, "level: expected", counts.rate_interval, level=95)


def test_counts_to_matrix() -> None:
    counts = TransitionCounts([[3, 1], [0, 0]], ["cat", "dog"])
    refuses(NotEnoughData, r"no instance is truly of 1 of 2 classes \('dog'\).*empty='right'", counts.to_matrix)
    assert_exact(counts.to_matrix(empty="right").probabilities, [[0.75, 0.25], [0.0, 1.0]])
    assert counts.to_matrix(empty="right").classes == ("cat", "dog")
    refuses(InputError, "empty: expected", counts.to_matrix, empty="uniform")


def test_counts_add_up() -> None:
    rng = np.random.default_rng(0)
    true, given = rng.integers(0, 3, 60), rng.integers(0, 3, 60)
    parts = [estimate_transition(true[s], given[s], classes=[0, 1, 2]) for s in (slice(0, 25), slice(25, 60))]
    assert parts[0].merge(parts[1]) == estimate_transition(true, given)
    refuses(InputError, "same classes", parts[0].merge, TransitionCounts([[1, 0], [0, 1]]))
    refuses(InputError, "cannot be merged", parts[0].merge, estimate_transition(true, given, sample_of="labels"))


def test_estimate_counts_by_hand_and_against_a_loop() -> None:
    rng = np.random.default_rng(1)
    true, given = rng.integers(-2, 3, 200), rng.integers(-2, 3, 200)
    counts = estimate_transition(true, given)
    assert counts.classes == (-2, -1, 0, 1, 2)
    expected = np.zeros((5, 5), dtype=int)
    for t, g in zip(true, given, strict=True):
        expected[t + 2, g + 2] += 1
    assert_exact(counts.counts, expected)
    ordered = estimate_transition(["b", "a", "b"], ["b", "b", "a"], classes=["b", "a", "c"])
    assert_exact(ordered.counts, [[1, 1, 0], [1, 0, 0], [0, 0, 0]])


def test_estimate_refuses() -> None:
    refuses(InputError, "same number of rows, got 2 and 3", estimate_transition, [0, 1], [0, 1, 1])
    refuses(InputError, r"true_labels: expected classes among 0, 1.*cannot", estimate_transition, ["a", "b"], [0, 1])
    refuses(InputError, "given_labels: 1 of 2 values are not", estimate_transition, [0, 1], [0, 2], classes=[0, 1])
    refuses(NotEnoughData, "at least 2 classes, got only 'a'", estimate_transition, ["a"], ["a"])
    refuses(NotEnoughData, "true_labels: expected at least 1", estimate_transition, [], [])
    first, second = pd.Series([0, 1], index=[5, 6]), pd.Series([0, 1], index=[6, 5])
    refuses(InputError, "same labels in another order", estimate_transition, first, second)


def test_data_frames_bring_their_names() -> None:
    frame = CAT_DOG.to_frame()
    assert TransitionMatrix(frame) == CAT_DOG
    assert TransitionMatrix(frame.reset_index(drop=True)) == CAT_DOG
    assert TransitionMatrix(pd.DataFrame([[0.9, 0.1], [0.3, 0.7]])).classes is None
    refuses(InputError, "same classes in rows and columns", TransitionMatrix, frame[["dog", "cat"]])
    refuses(InputError, "classes: the data frame names 'cat', 'dog'", TransitionMatrix, frame, classes=["dog", "cat"])


def test_equality_and_hash() -> None:
    assert TransitionCounts([[8, 2], [1, 9]]) == TransitionCounts([[8.0, 2.0], [1.0, 9.0]])
    assert TransitionCounts([[8, 2], [1, 9]]) != TransitionCounts([[8, 2], [1, 9]], sample_of="labels")
    assert len({CAT_DOG, TransitionMatrix([[0.9, 0.1], [0.3, 0.7]], ["cat", "dog"])}) == 1
    assert CAT_DOG != "a matrix"


# What tables of how classes are labelled say -------------------------------------------------------------------------


def texts(result: TransitionCounts | TransitionMatrix) -> list[list[str]]:
    table = result.document().table
    forms = table.columns.values()
    return [[plain(written(cell, form)) for cell, form in zip(row, forms, strict=True)] for row in table.rows]


def test_counts_say_what_is_wrong_where_they_come_from() -> None:
    found = TransitionCounts([[45, 5, 0], [2, 48, 0], [0, 0, 0]])
    assert found.sentence == "7 of 100 labels are wrong: 7.0%, 95% interval [2.9%, 13.9%]."
    assert texts(found)[0] == ["0", "50", "5", "10.0%", "[3.3%, 21.8%]", "1 (10.0%)"]
    assert texts(found)[2] == ["2", "0", "0", "–", "[0.0%, 100.0%]", "–"]
    (note,) = found.document().notes
    assert (note.severity, [plain(one) for one in note.about]) == ("warning", ["2"])
    assert [section.title for section in found.document().sections] == ["Classes"]
