"""Answers of several annotators: the door for them, what is said of them, and how far they agree."""

import math
from collections.abc import Callable
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError
from demele.labels import Annotations, annotator_agreement, bayesian_consensus, dawid_skene, majority_vote
from demele.labels.joined.agreement_coefficients import (
    COEFFICIENTS,
    Agreement,
    Scale,
    _weights,
    sums_of,
    vote_rows,
    weighted_sums,
)
from demele.labels.joined.annotations import read_annotations
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

ITEMS, WHO, WHAT = ["b", "a", "b", "c"], ["zoe", "ann", "ann", "zoe"], ["no", "yes", "yes", "no"]


# The long table.


def test_columns_become_codes_in_sorted_vocabularies() -> None:
    table = Annotations(ITEMS, WHO, WHAT)
    assert (table.items, table.annotators, table.classes) == (("a", "b", "c"), ("ann", "zoe"), ("no", "yes"))
    assert_exact(table.item, [1, 0, 1, 2])
    assert_exact(table.annotator, [1, 0, 0, 1])
    assert_exact(table.answer, [0, 1, 1, 0])
    assert (table.n_answers, table.n_items, table.n_annotators, table.k, table.n_repeats) == (4, 3, 2, 2, 0)
    assert repr(table) == "Annotations(n_answers=4, n_items=3, n_annotators=2, classes=('no', 'yes'))"
    assert table.remarks() == ()
    assert_exact(table.votes(), [[0, 1], [1, 1], [1, 0]])


def test_orders_that_are_given_are_kept() -> None:
    table = Annotations(ITEMS, WHO, WHAT, classes=["yes", "maybe", "no"], all_items=["c", "x", "b", "a"])
    assert table.classes == ("yes", "maybe", "no")
    assert table.items == ("c", "x", "b", "a")
    assert_exact(table.votes(), [[0, 0, 1], [0, 0, 0], [1, 0, 1], [1, 0, 0]])


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=30))
def test_sparse_responses_are_the_counts(answers: list[tuple[int, int, int]]) -> None:
    item, annotator, answer = (list(column) for column in zip(*answers, strict=True))
    table = Annotations(item, annotator, answer, classes=range(3), all_items=range(5))
    counts, who, what = table.responses()
    dense = counts.toarray()
    assert dense.sum() == len(answers)
    pairs = [(table.annotators[w], int(c)) for w, c in zip(who, what, strict=True)]
    assert pairs == sorted(set(zip(annotator, answer, strict=True)))
    for i in range(5):
        for column, pair in enumerate(pairs):
            assert dense[i, column] == sum((j, w, c) == (i, *pair) for j, w, c in answers)
    assert table.n_repeats == len(answers) - len({(i, w) for i, w, _ in answers})


def test_remarks_say_what_a_reader_must_know() -> None:
    items = [*range(10), *range(10), 0]
    who = ["bot"] * 10 + ["ann"] * 10 + ["ann"]
    table = Annotations(items, who, [1] * 10 + [0, 1] * 5 + [1], all_items=range(13))
    said = {note.code: note for note in table.remarks()}
    assert set(said) == {"repeated-answers", "unanswered-items", "constant-annotators"}
    assert said["repeated-answers"].message.startswith("1 answers repeat")
    assert said["unanswered-items"].message.startswith("3 of 13 items")
    assert said["unanswered-items"].subject == ("10", "11", "12")
    assert said["constant-annotators"].message.startswith("1 of 2 annotators")
    assert said["constant-annotators"].subject == ("bot",)
    [note] = Annotations(list(range(10)), ["ann"] * 10, ["x"] * 10).remarks()
    assert note.code == "one-class"


def test_columns_that_cannot_be_used() -> None:
    columns_cases: Any = [
        (([1], ["a", "b"], [0, 1]), {}, InputError, "got 1 items, 2 annotators, 2 answers"),
        (([1, 2], [1, 2], [0, 5]), {"classes": [0, 1]}, InputError, "answers: 1 of 2 values are not among the 2"),
        (([1, 7], [1, 2], [0, 1]), {"all_items": [1, 2]}, InputError, "all_items does not list, first 7 at row 1"),
        (([1, 7], [1, 2], [0, 1]), {"all_items": ["a"]}, InputError, "one lists numbers, the other names"),
    ]
    for columns, options, error, says in columns_cases:
        refuses(error, says, Annotations, *columns, **options)


# Other shapes of the same answers.


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA])
def test_a_mapping_a_wide_frame_and_a_long_one_say_the_same(missing: Any) -> None:
    wide = {"ann": ["x", "y", "y"], "bob": ["x", missing, "x"]}
    long = {"task": [0, 1, 2, 0, 2], "worker": ["ann"] * 3 + ["bob"] * 2, "label": ["x", "y", "y", "x", "x"]}
    expected = Annotations(long["task"], long["worker"], long["label"])
    for given_ in (wide, pd.DataFrame(wide), pd.DataFrame(long), pd.DataFrame(long).sample(frac=1, random_state=0)):
        found = read_annotations(given_)
        assert (found.items, found.annotators, found.classes) == (expected.items, expected.annotators, expected.classes)
        assert_exact(found.responses()[0].toarray(), expected.responses()[0].toarray())


def test_tables_that_cannot_be_used() -> None:
    given__cases: Any = [
        (None, InputTypeError, "expected a table of answers, got NoneType"),
        ("file.csv", InputTypeError, "expected a table of answers, got str"),
        (3, InputTypeError, "expected a table of answers, got int"),
        ([], NotEnoughData, "at least 1 annotator"),
        ({}, NotEnoughData, "at least 1 annotator"),
        ([[None, None], [None, None]], NotEnoughData, "at least 1 answer"),
        ([[0, 1], [0]], InputError, "as many items of each annotator, got from 1 to 2"),
        (np.zeros((2, 3, 2), int), InputError, "expected one answer per item, got shape \\(3, 2\\)"),
        ([0, 1, 1], InputError, "annotations, annotator 0"),
        (pd.DataFrame({"item": [1], "worker": [2], "grade": [0]}), InputError, "expected columns item, annotator"),
        ([[0.5, 0.2]], InputError, "answers: expected classes, got 2 numbers that are not whole"),
    ]
    for given_, error, says in given__cases:
        refuses(error, says, read_annotations, given_)


def test_names_of_rows_that_cannot_be_used() -> None:
    refuses(InputError, "expected 2 names, one per row, got 1", Annotations.from_matrix, [[0], [1]], annotators=["x"])
    refuses(InputError, "expected each name once", Annotations.from_matrix, [[0], [1]], annotators=["x", "x"])


# What a consensus says.


def test_noise_of_given_labels_by_hand() -> None:
    # P(class 1) of the four items: 0, 0, 1, 1/2. Given labels: 0, 1, 1, 1.
    found = majority_vote([[0, 0, 1, 0], [0, 0, 1, 1]])
    noise = found.noise([0, 1, 1, 1])
    # Class 0 has 1 given as 0, and 1 + 1/2 as 1; class 1 has 1 + 1/2 as 1.
    assert_close(noise.probabilities, [[1 / 2.5, 1.5 / 2.5], [0.0, 1.0]], ROUNDING)
    assert_close(found.wrong_share([0, 1, 1, 1]), (0 + 1 + 0 + 1 / 2) / 4, ROUNDING)
    refuses(InputError, "given: expected 4 labels, one per item, got 3", found.noise, [0, 1, 1])
    refuses(InputError, "given: 1 of 4 values are not among the 2 classes", found.wrong_share, [0, 1, 1, 2])


def test_transitions_of_annotators() -> None:
    found = majority_vote({"ann": ["x", "y"], "bob": ["x", "y"], "eve": ["x", "x"]})
    # Item 1 is y with 2/3: eve said x of 1 + 1/3 of class x, and of 2/3 of class y.
    assert_close(found.transition("eve").probabilities, [[1, 0], [1, 0]], ROUNDING)
    assert_close(found.transition("ann").probabilities, [[3 / 4, 1 / 4], [0.0, 1.0]], ROUNDING)
    refuses(UnknownNameError, "expected one of 'ann', 'bob', 'eve', got 'zoe'", found.transition, "zoe")


def test_informativeness_is_not_accuracy() -> None:
    truth = np.arange(60) % 2
    found = dawid_skene({"a": truth, "b": truth, "c": truth, "liar": 1 - truth, "bot": np.zeros(60, int)})
    frame = found.annotator_frame().set_index("annotator")
    assert_close(frame.loc[["a", "b", "c", "liar", "bot"], "accuracy"], [1, 1, 1, 0, 0.5], SOLVER)
    assert_close(frame.loc[["a", "liar", "bot"], "informativeness"], [1, 1, 0], SOLVER)


def test_annotations_pass_through() -> None:
    table = Annotations(ITEMS, WHO, WHAT)
    assert read_annotations(table) is table
    assert read_annotations(table, classes=["no", "yes"]) is table
    refuses(InputError, "classes: the annotations have their own", read_annotations, table, classes=["yes", "no"])


def test_one_class_has_no_informativeness() -> None:
    found = majority_vote([[0, 0], [0, 0]])
    assert found.annotator_frame()["informativeness"].isna().all()


# What is said of the answers themselves ------------------------------------------------------------------------------


WIDE = np.array([[0, 1, 1, -1, 1], [0, 1, 0, 1, -1], [0, -1, 1, 1, 1]])
JOINS: list[Callable[..., Any]] = [majority_vote, dawid_skene, annotator_agreement, bayesian_consensus]


def codes(found: Any) -> set[str]:
    return {note.code for note in found.notes}


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.filterwarnings("ignore:the Bayesian consensus had not converged")
def test_minus_1_among_the_classes_is_told_and_can_be_no_answer(join: Callable[..., Any]) -> None:
    (note,) = (note for note in join(WIDE).notes if note.code == "negative-class")
    assert note.severity == "warning"
    assert "it is 3 of the 15 answers" in note.message
    assert "`no_answer=-1` with a table" in note.message
    found, expected = join(WIDE, no_answer=-1), join(Annotations.from_matrix(WIDE, no_answer=-1))
    assert "negative-class" not in codes(found)
    assert found.to_dict() == expected.to_dict()
    assert "negative-class" not in codes(join(WIDE, classes=[-1, 0, 1]))


def test_missing_answers_of_a_long_table() -> None:
    frame = pd.DataFrame({"item": [3, 3, 1, 2], "worker": ["a", "b", "a", "b"], "label": [1, -1, 0, -1]})
    found = read_annotations(frame, no_answer=-1)
    assert (found.items, found.annotators, found.classes) == ((1, 2, 3), ("a",), (0, 1))
    assert_exact(found.votes(), [[1, 0], [0, 0], [0, 1]])
    assert "unanswered-items" in codes(majority_vote(frame, no_answer=-1))
    refuses(NotEnoughData, r"expected at least 1 answer, got", read_annotations, frame.assign(label=-1), no_answer=-1)
    refuses(InputError, r"^no_answer: these annotations", dawid_skene, Annotations.from_matrix(WIDE), no_answer=-1)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"answer": 0}, r"^annotations: columns 'label' and 'answer' may all be the answers; leave out all but one"),
        ({"item": 0}, r"^annotations: columns 'task' and 'item' may all be the items"),
        ({"rater": 0, "user": 0}, r"columns 'worker' and 'rater' and 'user' may all be the annotators"),
    ],
)
def test_columns_that_compete_are_named(more: dict[str, int], message: str) -> None:
    frame = pd.DataFrame({"task": [0, 1], "worker": [0, 0], "label": [0, 1]})
    assert read_annotations(frame).n_answers == 2
    refuses(InputError, message, read_annotations, frame.assign(**more))


# Agreement coefficients: published examples, other libraries, laws, intervals, refusals -------------------------------


Table = NDArray[np.int64]
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval", "ratio")

#: Fleiss (1971), table 1: six psychiatrists on thirty patients; depression, personality disorder, schizophrenia,
#: neurosis, other.
PSYCHIATRISTS = """00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"""
#: Krippendorff (2011), section E: four observers on twelve units; 0 = no answer.
OBSERVERS = ["123321412000", "123322412503", "033323422510", "123324412510"]


def of_votes(votes: Any) -> Annotations:
    """Make answers that give these votes, items in rows; who answers what does not matter."""
    rows = [
        (item, who, c)
        for item, row in enumerate(votes)
        for who, c in enumerate(np.repeat(np.arange(len(row)), row).tolist())
    ]
    return Annotations(*zip(*rows, strict=True), classes=range(len(votes[0])))


def plain_values(table: object, **options: Any) -> dict[str, float]:
    found = annotator_agreement(table, n_resamples=0, **options)
    return {name: getattr(found, name) for name in (*COEFFICIENTS, "cohen")}


def of_five(table: Table, scale: Scale = "nominal") -> Agreement:
    """Answers among five classes; -1 is none."""
    made = Annotations.from_matrix(table, no_answer=-1, classes=range(5))
    return annotator_agreement(made, scale=scale, n_resamples=0)


def with_nan(table: Table) -> NDArray[np.float64]:
    return np.where(table < 0, np.nan, table.astype(float))


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Draw answers (n_annotators, n_items) among up to 5 classes; -1 is no answer; some item has two answers."""
    shape = (draw(st.integers(2, 6)), draw(st.integers(1, 14)))
    table = draw(arrays(np.int64, shape, elements=st.integers(-1, draw(st.integers(0, 4)))))
    assume(((table >= 0).sum(axis=0) >= 2).any())
    return table


# Published examples


def test_fleiss_psychiatrists() -> None:
    votes = [[int(digit) for digit in row] for row in PSYCHIATRISTS.split()]
    found = annotator_agreement(of_votes(votes), n_resamples=0)
    assert round(found.fleiss, 3) == 0.430
    assert_exact(found.per_class["answers"], [26, 26, 30, 55, 43])
    # The kappas of the categories in the paper's table 2.
    assert_exact(found.per_class["kappa"].round(3), [0.245, 0.245, 0.520, 0.471, 0.566])
    assert_close(found.fleiss, fleiss_kappa(votes), ROUNDING)


@pytest.mark.parametrize(
    ("scale", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_krippendorff_observers(scale: Scale, alpha: float) -> None:
    table = Annotations.from_matrix([[int(digit) for digit in row] for row in OBSERVERS], no_answer=0)
    found = annotator_agreement(table, scale=scale, n_resamples=0)
    assert round(found.krippendorff, 3) == alpha
    assert (found.n_items, found.n_answers) == (11, 41)


# Other libraries


@given(tables(), st.sampled_from(SCALES))
def test_alpha_is_that_of_krippendorff(table: Table, scale: Scale) -> None:
    found = of_five(table, scale)
    compared = table[:, (table >= 0).sum(axis=0) >= 2]
    if np.unique(compared[compared >= 0]).size < 2:
        assert math.isnan(found.krippendorff)
        return
    assert_close(found.krippendorff, krippendorff.alpha(with_nan(table), level_of_measurement=scale), ROUNDING)


@given(st.integers(2, 6), st.integers(1, 12), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_fleiss_is_that_of_statsmodels(m: int, n: int, k: int, seed: int) -> None:
    answers = np.random.default_rng(seed).integers(0, k, size=(m, n))
    votes = (answers.T[:, :, None] == np.arange(k)).sum(axis=1)
    found = annotator_agreement(Annotations.from_matrix(answers, classes=range(k)), n_resamples=0)
    if (votes.sum(axis=0) > 0).sum() == 1:
        assert math.isnan(found.fleiss)
        return
    assert_close(found.fleiss, fleiss_kappa(votes), ROUNDING)
    for c, kappa in enumerate(found.per_class["kappa"]):
        alone = np.stack([votes[:, c], m - votes[:, c]], axis=1)
        if 0 < alone[:, 0].sum() < n * m:
            assert_close(kappa, fleiss_kappa(alone), ROUNDING)
        else:
            assert math.isnan(kappa)


@given(tables(), st.sampled_from(SCALES))
def test_cohen_is_that_of_scikit_learn(table: Table, scale: Scale) -> None:
    weights = {"nominal": None, "ordinal": "linear"}.get(scale, "quadratic")
    found = of_five(table, scale)
    pairs = {frozenset((one.first, one.second)): one for one in found.pairs.itertuples()}
    names = list(found.per_annotator.index)
    summed = weighed = 0.0
    for i, one in enumerate(names):
        for other in names[:i]:
            both = (table[one] >= 0) & (table[other] >= 0)
            pair: Any = pairs.get(frozenset((one, other)))
            assert (0 if pair is None else pair.shared) == both.sum()
            kappa = math.nan if pair is None else pair.kappa
            if both.any() and np.unique(table[[one, other]][:, both]).size > 1:
                expected = cohen_kappa_score(table[one][both], table[other][both], labels=range(5), weights=weights)
                assert_close(kappa, expected, ROUNDING)
                summed, weighed = summed + both.sum() * expected, weighed + both.sum()
            else:
                assert math.isnan(kappa)
    assert_close(found.cohen, summed / weighed if weighed else math.nan, ROUNDING)


# Slow oracles


@given(tables())
def test_raw_generalised_kappa_and_rest_by_loops(table: Table) -> None:
    found = of_five(table)
    same: list[float] = []
    shares = []
    right, compared = np.zeros(len(table)), np.zeros(len(table))
    for column in table.T:
        said = column[column >= 0]
        if said.size:
            shares.append([np.mean(said == c) for c in range(5)])
        if said.size > 1:
            pairs = [said[i] == said[j] for i in range(said.size) for j in range(said.size) if i != j]
            same.append(float(np.mean(pairs)))
        for who in np.flatnonzero(column >= 0):
            rest = [answer for other, answer in enumerate(column) if answer >= 0 and other != who]
            if rest:
                votes = np.bincount(rest, minlength=5)
                leading = np.flatnonzero(votes == votes.max())
                compared[who] += 1
                right[who] += (column[who] in leading) / leading.size
    assert_close(found.raw, np.mean(same), ROUNDING)
    share = np.mean(shares, axis=0)
    assert_close(found.per_class["share"], share, ROUNDING)
    if share.max() < 1 - 1e-9:
        chance = (share**2).sum()
        assert_close(found.fleiss, (np.mean(same) - chance) / (1 - chance), ROUNDING)
    here = list(found.per_annotator.index)
    assert_exact(found.per_annotator["compared"], compared[here])
    known = [who for who in here if compared[who]]
    assert_close(found.per_annotator["with_rest"].loc[known], right[known] / compared[known], ROUNDING)
    # Every pair of answers that are the same is a pair of one class.
    weights = found.per_class["share"] * (1 - found.per_class["share"])
    if not math.isnan(found.fleiss):
        assert_close((weights * found.per_class["kappa"]).sum() / weights.sum(), found.fleiss, ROUNDING)


# Laws


@pytest.mark.parametrize("scale", SCALES)
def test_perfect_agreement(scale: Scale) -> None:
    found = annotator_agreement([[0, 1, 2, 1, 0]] * 3, scale=scale, seed=4)
    assert_close([found.raw, found.cohen, found.fleiss, found.krippendorff], [1, 1, 1, 1], ROUNDING)
    assert_close(found.per_annotator["with_rest"], [1, 1, 1], ROUNDING)
    assert_close([[one.low, one.high] for one in found.intervals.values()], np.ones((3, 2)), ROUNDING)


@pytest.mark.parametrize("scale", SCALES)
def test_intervals_are_bca_by_hand(scale: Scale) -> None:
    # Item 0 alone has class 2, in thirds: without it, its share must be nothing, not what rounding leaves of thirds.
    table = np.array([[2, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0], [2, 0, 1, 1, 1, 0, 1, 0, 0, 1, 0, 0], [0] * 5 + [1] * 7])
    found = annotator_agreement(table, scale=scale, n_resamples=300, seed=7)
    votes, times = vote_rows(Annotations.from_matrix(table))
    terms, coefficients = sums_of(votes, scale, np.arange(3.0))
    drawn = np.concatenate([coefficients(weighted_sums(terms, part)) for part in _weights(times, 300, 7, 1000)])
    without = [plain_values(np.delete(table, item, axis=1), scale=scale) for item in range(table.shape[1])]
    for name, values in zip(COEFFICIENTS, drawn.T, strict=True):
        value = getattr(found, name)
        tied = np.isclose(values, value, rtol=0, atol=1e-12)
        shift = norm.ppf(np.mean(np.where(tied, 0.5, values < value)))
        left = np.array([one[name] for one in without])
        gap = left.mean() - left
        slope = (gap**3).sum() / (6 * (gap**2).sum() ** 1.5)
        moved = [shift + (shift + z) / (1 - slope * (shift + z)) for z in norm.ppf([0.025, 0.975])]
        expected = np.quantile(values, norm.cdf(moved))
        interval = found.intervals[name]
        assert_close([interval.low, interval.high], expected, ROUNDING)
        assert abs(slope) > 0.001


# What a reader must know


def test_repeated_answers() -> None:
    # About item 0, ann says 0 and later 1, bob 0: Cohen and the rest take her first answer, the others all three.
    rows = [(0, "ann", 0), (0, "bob", 0), (1, "ann", 1), (1, "bob", 1), (0, "ann", 1)]
    table = Annotations(*zip(*rows, strict=True))
    found = annotator_agreement(table, n_resamples=0)
    assert found.cohen == 1
    assert_exact(found.per_annotator["with_rest"], [1, 1])
    assert_close(found.raw, (1 / 3 + 1) / 2, ROUNDING)
    assert {"repeated-answers", "first-of-repeated", "unequal-answers"} <= {note.code for note in found.notes}


def test_one_class_has_no_kappa() -> None:
    found = annotator_agreement({"ann": [1, 1, 1], "bob": [1, 1, 1]}, classes=[0, 1], n_resamples=200)
    assert found.raw == 1
    assert all(math.isnan(value) for value in (found.cohen, found.fleiss, found.krippendorff))
    assert set(found.intervals) == {"raw"}
    assert {"kappa-undefined", "cohen-undefined"} <= {note.code for note in found.notes}


def test_the_order_of_named_classes_counts() -> None:
    grades = {"ann": ["low", "high", "mid"], "bob": ["low", "mid", "mid"]}
    found = annotator_agreement(grades, scale="ordinal", classes=["low", "mid", "high"], n_resamples=0)
    expected = krippendorff.alpha([[0, 2, 1], [0, 1, 1]], level_of_measurement="ordinal")
    assert_close(found.krippendorff, expected, ROUNDING)
    halves = {"ann": ["1.5", "3", "2"], "bob": ["1.5", "2", "2"]}
    expected = krippendorff.alpha([[1.5, 3, 2], [1.5, 2, 2]], level_of_measurement="interval")
    assert_close(annotator_agreement(halves, scale="interval", n_resamples=0).krippendorff, expected, ROUNDING)


GOOD = [[0, 1, 1], [0, 1, 0]]


def test_refusals() -> None:
    table_cases: Any = [
        (GOOD, {"scale": "cardinal"}, UnknownNameError, r"scale: expected one of nominal, .* got 'cardinal'"),
        (GOOD, {"scale": ["nominal"]}, UnknownNameError, r"scale: expected one of"),
        (GOOD, {"n_resamples": 10}, InputError, r"n_resamples: expected 0, or at least 40 for level 0.95, got 10"),
        (GOOD, {"classes": [0, 2]}, InputError, r"3 of 6 values are not among the 2 classes"),
        ([["a", "b"], ["a", "a"]], {"scale": "interval"}, InputError, r"classes: expected numbers .* got 'a', 'b'"),
        ([["1", "nan"], ["1", "1"]], {"scale": "ratio"}, InputError, r"classes: expected numbers"),
        ([[-1, 1], [1, 1]], {"scale": "ratio"}, InputError, r"classes: expected no negative number"),
        ([[0, 1, 1]], {}, NotEnoughData, r"annotations: expected answers of at least 2 annotators, got those of 1"),
        ([[0, None], [None, 1]], {}, NotEnoughData, r"expected an item with answers of 2 annotators, got 2 answers"),
        (None, {}, InputTypeError, r"annotations: expected a table"),
    ]
    for table, options, error, message in table_cases:
        refuses(error, message, annotator_agreement, table, **options)


def test_many_classes_need_no_shared_rows_of_votes() -> None:
    # 200 classes do not fit into one number per item: the same coefficients without collapsing equal rows.
    answers = np.random.default_rng(3).integers(0, 200, size=(4, 60))
    answers[1] = answers[0]
    found = annotator_agreement(answers, scale="ordinal", n_resamples=100, seed=1)
    assert_close(found.krippendorff, krippendorff.alpha(answers, level_of_measurement="ordinal"), ROUNDING)
    assert found.intervals["krippendorff"].low < found.krippendorff < found.intervals["krippendorff"].high
