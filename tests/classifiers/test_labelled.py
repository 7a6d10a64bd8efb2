"""The door for labels and predictions: what is read, as what; and what is refused, with which words."""

import enum
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.labelled import Labelled, Vocabulary, read_labelled, read_labels, read_models, vocabulary
from tests.refusals import refuses
from tests.tolerances import assert_exact


class Tensor:
    """What a tensor of a deep learning library looks like from outside: on a device, and with a gradient."""

    def __init__(self, values: Any, *, ready: bool = False) -> None:
        self.values, self.ready = values, ready

    def detach(self) -> "Tensor":
        return self

    def cpu(self) -> "Tensor":
        return Tensor(self.values, ready=True)

    def numpy(self) -> NDArray[Any]:
        assert self.ready, "a tensor on a device has no array"
        return np.asarray(self.values)


class Colour(str, enum.Enum):  # noqa: UP042 - the older form is the one that prints itself otherwise
    RED = "red"
    GREEN = "green"


class Number(enum.IntEnum):
    ONE = 1
    TWO = 2


# What is read ------------------------------------------------------------------------------------------------------

READ: dict[str, tuple[Any, list[int | str]]] = {
    "integers": (np.array([3, 1, 3]), [3, 1, 3]),
    "small integers": (np.array([3, 1], dtype=np.int8), [3, 1]),
    "unsigned integers": (np.array([3, 255], dtype=np.uint8), [3, 255]),
    "the largest integer": (np.array([2**63 - 1, 0], dtype=np.uint64), [2**63 - 1, 0]),
    "whole floats": (np.array([3.0, -1.0], dtype=np.float32), [3, -1]),
    "booleans": (np.array([True, False]), [1, 0]),
    "a list of integers": ([3, 1], [3, 1]),
    "a list of NumPy integers": ([np.int64(3), 1], [3, 1]),
    "a tuple": ((3, 1), [3, 1]),
    "objects that are integers": (np.array([3, np.int8(1), True], dtype=object), [3, 1, 1]),
    "objects that floats would confuse": (np.array([2**60, 2**60 + 1], dtype=object), [2**60, 2**60 + 1]),
    "members of an enumeration of integers": ([Number.TWO, Number.ONE], [2, 1]),
    "strings": (np.array(["b", "a"]), ["b", "a"]),
    "objects that are strings": (np.array(["b", "a"], dtype=object), ["b", "a"]),
    "a list of strings": (["b", "ab"], ["b", "ab"]),
    "a list of NumPy strings": ([np.str_("b"), "a"], ["b", "a"]),
    "members of an enumeration of strings": ([Colour.RED, Colour.GREEN], ["red", "green"]),
    "strings that look like numbers": (["1", "01"], ["1", "01"]),
    "one column": (np.array([[3], [1]]), [3, 1]),
    "rows of one": ([["b"], ["a"]], ["b", "a"]),
    "a masked array with nothing masked": (np.ma.array([3, 1], mask=[False, False]), [3, 1]),
    "pandas integers": (pd.Series([3, 1], index=[7, 8]), [3, 1]),
    "pandas nullable integers": (pd.Series([3, 1], dtype="Int16"), [3, 1]),
    "pandas nullable booleans": (pd.Series([True, False], dtype="boolean"), [1, 0]),
    "pandas strings": (pd.Series(["b", "a"], dtype="string"), ["b", "a"]),
    "a pandas index": (pd.Index(["b", "a"]), ["b", "a"]),
    "pandas categorical": (pd.Series(pd.Categorical(["b", "a"], categories=["b", "a", "unused"])), ["b", "a"]),
    "a bare pandas categorical": (pd.Categorical(["b", "a"]), ["b", "a"]),
    "pandas categorical of integers": (pd.Series(pd.Categorical([3, 1])), [3, 1]),
    "pandas sparse": (pd.Series(pd.arrays.SparseArray([0, 1, 0])), [0, 1, 0]),
    "a pandas frame of one column": (pd.DataFrame({"y": ["b", "a"]}), ["b", "a"]),
    "pandas integers of Arrow": (pd.Series([3, 1], dtype="int64[pyarrow]"), [3, 1]),
    "polars integers": (pl.Series("y", [3, 1]), [3, 1]),
    "polars strings": (pl.Series("y", ["b", "a"]), ["b", "a"]),
    "polars booleans": (pl.Series("y", [True, False]), [1, 0]),
    "polars categorical": (pl.Series("y", ["b", "a"], dtype=pl.Categorical), ["b", "a"]),
    "polars enumeration": (pl.Series("y", ["b", "a"], dtype=pl.Enum(["b", "a"])), ["b", "a"]),
    "a polars frame of one column": (pl.DataFrame({"y": [3, 1]}), [3, 1]),
    "a tensor": (Tensor([3, 1]), [3, 1]),
    "a list of tensors": ([Tensor(3), Tensor(1)], [3, 1]),
}

if hasattr(np.dtypes, "StringDType"):  # from NumPy 2 on
    READ["strings of variable width"] = np.array(["b", "a"], dtype=np.dtypes.StringDType()), ["b", "a"]


def test_classes_are_read_as_integers_or_strings() -> None:
    for name in READ:
        values, expected = READ[name]
        found = read_labels(values, "labels")
        assert found.tolist() == expected
        assert {type(item) for item in found.tolist()} == {type(expected[0])}
        assert found.dtype == (np.int64 if isinstance(expected[0], int) else object)
        assert vocabulary(found).classes == tuple(sorted(set(expected)))


# What is refused ---------------------------------------------------------------------------------------------------

MISSING = r"labels: {} missing.* values?, first at row {}; drop those rows"
REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "NaN": ([0.0, np.nan, np.nan], InputError, MISSING.format(2, 1)),
    "infinity": ([0.0, np.inf], InputError, MISSING.format(1, 1)),
    "None among integers": ([None, 1], InputError, MISSING.format(1, 0)),
    "None among strings": (["a", None, "b", None], InputError, MISSING.format(2, 1)),
    "NaN among strings": (["a", np.nan], InputError, MISSING.format(1, 1)),
    "pandas NA in a list of strings": (["a", pd.NA], InputError, MISSING.format(1, 1)),
    "pandas integers with NA": (pd.Series([1, None], dtype="Int64"), InputError, MISSING.format(1, 1)),
    "pandas strings with NA": (pd.Series(["a", pd.NA], dtype="string"), InputError, MISSING.format(1, 1)),
    "pandas categorical with NaN": (pd.Categorical(["a", None]), InputError, MISSING.format(1, 1)),
    "polars integers with null": (pl.Series([1, None]), InputError, MISSING.format(1, 1)),
    "masked integers": (np.ma.array([1, 2], mask=[False, True]), InputError, MISSING.format(1, 1)),
    "masked strings": (np.ma.array(["a", "b"], mask=[False, True]), InputError, MISSING.format(1, 1)),
    "Decimal NaN": ([Decimal(1), Decimal("NaN")], InputError, MISSING.format(1, 1)),
    "probabilities": (
        np.array([1.0, 0.9, 0.2]),
        InputError,
        r"got 2 numbers that are not whole, first 0\.9 at row 1; these look like probabilities: .*0\.5 or more",
    ),
    "scores": (np.array([-1.5, 3.0]), InputError, r"got 1 number that is not whole, first -1\.5 at row 0$"),
    "probabilities of classes": (
        np.full((4, 3), 1 / 3),
        InputError,
        r"expected one class per instance, shape \(n,\), got shape \(4, 3\); .*labels\.argmax\(axis=1\)",
    ),
    "one-hot rows": ([[0, 1], [1, 0]], InputError, r"got shape \(2, 2\); .*argmax"),
    "a row of one": (np.zeros((1, 1, 1)), InputError, r"got shape \(1, 1, 1\)$"),
    "one value": (np.array(3), InputError, r"got shape \(\)$"),
    "a pandas frame": (pd.DataFrame({"p": [0.1], "q": [0.9]}), InputError, "expected one column, got 2: 'p', 'q'"),
    "a polars frame": (pl.DataFrame({"p": [0.1], "q": [0.9]}), InputError, "expected one column, got 2: 'p', 'q'"),
    "rows of other lengths": ([[1], [2, 3]], InputError, "row 0 has 1 values and row 1 has 2 values"),
    "strings and integers": (["a", 1], InputTypeError, "got both: 'a' at row 0 and 1 at row 1"),
    "integers and strings": ([1, 2, "a"], InputTypeError, "got both: 1 at row 0 and 'a' at row 2"),
    "bytes": (np.array([b"a", b"b"]), InputTypeError, "got bytes; decode them"),
    "dates": (np.array(["2020-01-01"], dtype="M8[D]"), InputTypeError, "got values of type datetime64"),
    "complex numbers": (np.array([1j]), InputTypeError, "got values of type complex128"),
    "a structured array": (np.zeros(2, dtype=[("y", int)]), InputTypeError, "expected classes"),
    "lists as values": (pd.Series([[1], [2, 3]]), InputTypeError, "got list"),
    "integers beyond 64 bits": (
        np.array([1, 2**64 - 1], dtype=np.uint64),
        InputError,
        f"expected whole numbers up to {2**63 - 1}, got {2**64 - 1} at row 1",
    ),
    "objects beyond 64 bits": ([1, 2**70], InputError, "expected whole numbers up to"),
    "floats beyond 53 bits": ([1.0, 1e300], InputError, r"1 number from 2\*\*53 on cannot be distinguished as floats"),
    "no instance": ([], NotEnoughData, "labels: expected at least 1 instance, got none"),
    "no instance in pandas": (pd.Series([], dtype=object), NotEnoughData, "expected at least 1 instance"),
    "None": (None, InputTypeError, "labels: expected one class per instance, got NoneType"),
    "one string": ("labels.csv", InputTypeError, "got str"),
    "a mapping": ({"a": 1}, InputTypeError, "got dict"),
    "a set": ({1, 2}, InputTypeError, "as an array, list or series, got set"),
    "a number": (3, InputTypeError, "got int"),
}


def test_what_is_no_classes_is_refused_with_a_reason() -> None:
    for name in REFUSED:
        values, kind, message = REFUSED[name]
        refuses(kind, message, read_labels, values, "labels")


# Labels and predictions together -----------------------------------------------------------------------------------


def test_classes_given_set_the_order() -> None:
    data = read_labelled({"m": [0, 2]}, [2, 2], classes=[2, 1, 0])
    assert data.vocabulary.classes == (2, 1, 0)
    assert_exact(data.labels, [0, 0])
    assert_exact(data.predictions, [[2, 0]])


def test_types_may_differ_where_the_classes_are_the_same() -> None:
    data = read_labelled(
        {"tensor": Tensor([1.0, 0.0]), "polars": pl.Series([True, False]), "pandas": pd.Series(pd.Categorical([0, 1]))},
        np.array([0, 1], dtype=np.uint8),
    )
    assert_exact(data.predictions, [[1, 0], [1, 0], [0, 1]])


@given(st.lists(st.sampled_from(["", "a", "B", "é", "nan", "1", " "]), min_size=1, max_size=20), st.randoms())
def test_coding_and_naming_undo_each_other(labels: list[str], random: Any) -> None:
    predicted = random.choices(labels, k=len(labels))
    data = read_labelled({"m": predicted}, labels)
    assert [data.vocabulary.classes[code] for code in data.labels] == labels
    assert [data.vocabulary.classes[code] for code in data.predictions[0]] == predicted


TOGETHER: dict[str, tuple[Any, Any, str]] = {
    "unequal lengths": ([0, 1], [0, 1, 1], "m and labels: expected the same number of rows, got 2 and 3; row r"),
    "no class of the labels": (
        ["c", "c", "d"],
        ["a", "b", "b"],
        r"m: 3 of 3 values are not among the 2 classes 'a', 'b': 'c', 'd', first at row 0; if they are classes",
    ),
    "counted from 1 instead of 0": ([1, 2, 3], [0, 1, 2], r"are not among .*: 3, first at row 2; .*\(shifted by 1\)\?"),
    "counted from 0 instead of 1": ([0, 1, 1], [1, 2, 1], r"0, first at row 0; .*\(shifted by -1\)\?"),
    "counted from 1, without the first": ([2, 3, 3], [0, 1, 2], r"\(shifted by 1\)\?"),
    "counted from 100": ([100, 101, 102], [0, 1, 2], r"\(shifted by 100\)\?"),
    "no shift at all": ([5, 5, 9], [0, 1, 2], "if they are classes, give all classes"),
    "names against integers": (
        [0, 1],
        ["cat", "dog"],
        r"m: expected classes among 'cat', 'dog', got integers, first 0 at row 0; class names and integers cannot be "
        r"matched: .*numpy\.array\(names\)\[integers\]",
    ),
    "integers against names": (["cat", "dog"], [0, 1], "m: expected classes among 0, 1, got names, first 'cat'"),
    "numbers as words": (["0", "1"], [0, 1], "got names, first '0' at row 0; class names and integers cannot"),
    "another case": (["Cat", "dog"], ["cat", "dog"], "'Cat' and 'cat' differ by case or blanks only"),
    "blanks": (["cat ", "dog"], ["cat", "dog"], "'cat ' and 'cat' differ by case or blanks only"),
    "probabilities": ([0.3, 0.7], [0, 1], "m: expected classes, got 2 numbers that are not whole"),
    "slices of one frame": (
        pd.Series([0, 1, 1, 0])[1:],
        pd.Series([0, 1, 1]),
        r"m and labels: their indexes hold different labels, first at row 0 \(1 and 0\), and rows are paired",
    ),
    "pandas in another order": (
        pd.Series([0, 1, 1], index=[2, 1, 0]),
        pd.Series([0, 1, 1]),
        r"m and labels: their indexes hold the same labels in another order.*labels\.loc\[m\.index\]",
    ),
}


def test_labels_and_predictions_must_match() -> None:
    for name in TOGETHER:
        predicted, labels, message = TOGETHER[name]
        refuses(InputError, message, read_labelled, {"m": predicted}, labels)


def test_a_frame_in_another_order_is_refused_too() -> None:
    labels = pd.Series([0, 1, 1])
    frame = pd.DataFrame({"a": [0, 1, 1], "b": [1, 1, 1]}, index=[2, 1, 0])
    refuses(InputError, "a and labels: their indexes", read_labelled, read_models(frame), labels)


def test_labels_outside_the_classes_given_are_refused() -> None:
    refuses(InputError, r"labels: 1 of 3 values are not", read_labelled, {"m": [0, 1, 1]}, [0, 1, 7], classes=[0, 1])
    refuses(InputError, r"m: 1 of 3 values are not among", read_labelled, {"m": [0, 1, 7]}, [0, 1, 1], classes=[0, 1])


@pytest.mark.parametrize(
    ("predicted", "labels", "classes", "unlabelled"),
    [
        (["a", "c", "c"], ["a", "b", "b"], ("a", "b", "c"), ("c",)),
        ([0, 5, 1], [0, 1, 2], (0, 1, 2, 5), (5,)),
        (["no answer", "B", "A"], ["A", "B", "A"], ("A", "B", "no answer"), ("no answer",)),
    ],
)
def test_classes_of_predictions_alone_are_classes(
    predicted: list[Any], labels: list[Any], classes: tuple[Any, ...], unlabelled: tuple[Any, ...]
) -> None:
    data = read_labelled({"m": predicted, "labels": labels}, labels)
    assert (data.vocabulary.classes, data.unlabelled) == (classes, unlabelled)
    assert [classes[place] for place in data.predictions[0]] == predicted
    assert [classes[place] for place in data.labels] == labels
    assert read_labelled({"m": labels}, labels).unlabelled == ()
    assert read_labelled({"m": predicted}, labels, classes=classes).unlabelled == ()


# Classes -----------------------------------------------------------------------------------------------------------

BAD_CLASSES: dict[str, tuple[Any, str]] = {
    "repeated": (["a", "b", "a"], "classes: expected each class once, got 'a' more than once"),
    "one string": ("ab", "classes: expected a sequence of classes, .*got str 'ab'"),
    "a set, which has no order": ({"a", "b"}, "got set"),
    "none": ([], "classes: expected at least 1 instance"),
    "mixed": (["a", 1], "classes: expected whole numbers or strings, got both"),
}


@pytest.mark.parametrize("name", BAD_CLASSES)
def test_classes_are_checked(name: str) -> None:
    classes, message = BAD_CLASSES[name]
    refuses(InputError, message, read_labelled, {"m": ["a", "b"]}, ["a", "b"], classes=classes)


@pytest.mark.parametrize(
    ("classes", "name", "index"), [((0, 2), 2, 1), ((0, 2), 2.0, 1), (("a", "b"), np.str_("b"), 1)]
)
def test_a_class_is_found_by_name(classes: tuple[Any, ...], name: object, index: int) -> None:
    assert Vocabulary(classes).index(name) == index


@pytest.mark.parametrize("name", [1, "2", 2.5, None, [2], np.array([0, 2]), float("nan")])
def test_a_class_that_is_none_is_refused(name: object) -> None:
    refuses(InputError, "of: expected one of the classes 0, 2, got", Vocabulary((0, 2)).index, name)


# Several models ----------------------------------------------------------------------------------------------------

MODELS: dict[str, Callable[[], Any]] = {
    "a mapping": lambda: {"model 1": [0, 1, 1], "model 2": np.array([1, 1, 0])},
    "an array": lambda: np.array([[0, 1], [1, 1], [1, 0]]),
    "a list of rows": lambda: [[0, 1], [1, 1], [1, 0]],
    "a pandas frame": lambda: pd.DataFrame({"model 1": [0, 1, 1], "model 2": [1.0, 1.0, 0.0]}),
    "a polars frame": lambda: pl.DataFrame({"model 1": [0, 1, 1], "model 2": [1, 1, 0]}),
    "a tensor": lambda: Tensor([[0, 1], [1, 1], [1, 0]]),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_come_as_a_mapping_or_a_table(name: str) -> None:
    data: Labelled = read_labelled(read_models(MODELS[name]()), [0, 1, 1])
    assert data.names == ("model 1", "model 2")
    assert_exact(data.predictions, [[0, 1, 1], [1, 1, 0]])


def test_one_model_is_not_several() -> None:
    refuses(NotEnoughData, "predictions: expected the predictions of at least 2 models", read_models, {"m": [0, 1]})
    refuses(InputError, "predictions: expected distinct names of models, got 1", read_models, {1: [0, 1], "1": [1, 1]})
    refuses(InputError, r"predictions: expected 2 dimensions .*, got shape \(2,\)", read_models, [0, 1])


def test_models_in_rows_are_told_from_models_in_columns() -> None:
    labels = [0, 1, 2, 0, 1]
    refuses(InputError, r"got 3 and 5; are rows", read_labelled, read_models([[0, 1, 2, 0, 1]] * 3), labels)
