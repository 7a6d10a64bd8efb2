"""Predictions, labels, transitions and audits are read by what they are; what cannot be used is refused by name."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele.cli.main import main
from demele.core.errors import DemeleError, InputError
from demele.files.expert_sheets import read_any_audit
from demele.files.label_files import classes_named, column, models, read_cleaning, read_transition
from demele.labels import TransitionCounts, TransitionMatrix
from tests.refusals import refuses
from tests.tolerances import assert_exact

NUMBERS = np.array([0, 1, 2, 0, 1, 2])
NAMES = np.array(["a", "b", "c", "a", "b", "c"], dtype=object)


def _write(name: str, **columns: Any) -> str:
    pd.DataFrame(columns).to_csv(name, index=False)
    return name


# Columns ---------------------------------------------------------------------------------------------------------


def test_a_table_of_probabilities_is_no_column_of_classes(labels_folder: Path, warned: list[str]) -> None:
    table = np.full((600, 4), 0.25)
    np.save("probabilities.npy", table)
    pd.DataFrame(table, columns=list("abcd")).to_csv("probabilities.csv", index=False)
    for name in ("probabilities.npy", "probabilities.csv"):
        refuses(InputError, rf"^{name}: .*argmax\(axis=1\)", column, name, warned.append)
        refuses(InputError, rf"^{name}: expected a column of classes per model.*argmax", models, name, warned.append)


def test_one_column_has_to_be_picked(labels_folder: Path) -> None:
    refuses(InputError, r"got 5 \(old, new, twin, label, true\); pick", column, "data.csv", print)
    np.save("cube.npy", np.zeros((3, 3, 3), int))
    refuses(InputError, r"^cube\.npy: expected one class per row, got an array of", column, "cube.npy", print)
    np.save("two.npy", np.zeros((3, 2), int))
    refuses(InputError, r"^two\.npy: expected one column of classes, got shape \(3, 2\)", column, "two.npy", print)


def test_a_class_called_none_is_not_lost(labels_folder: Path, warned: list[str]) -> None:
    Path("none.csv").write_text("a,b\ncat,cat\nNone,dog\nNA,dog\n", encoding="utf-8")
    refuses(InputError, r"none\.csv::a: column a: 2 missing values, first at", column, "none.csv::a", warned.append)
    refuses(InputError, "2 missing values", models, "none.csv", warned.append)


def test_labels_are_no_model(labels_folder: Path, warned: list[str]) -> None:
    assert list(models("data.csv", warned.append, labels="./data.csv::label")) == ["old", "new", "twin", "true"]
    assert warned == ["data.csv: column label was left out of the models: it is LABELS"]
    assert "label" in models("data.csv", warned.append, labels="data.tsv::label")
    twice = "data.csv::old,label"
    refuses(InputError, "label is given among the models and as LABELS", models, twice, print, labels="data.csv::label")


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("0,1,2", NUMBERS, [0, 1, 2]),
        ("-1, 0,1", NUMBERS, [-1, 0, 1]),
        ("True,False", NUMBERS, [1, 0]),
        ("0,1", NAMES, ["0", "1"]),
        ("a,b", NUMBERS, ["a", "b"]),
    ],
)
def test_classes_are_of_the_kind_of_the_labels(text: str, given: Any, expected: list[object]) -> None:
    assert classes_named(text, given) == expected


# Transitions -----------------------------------------------------------------------------------------------------

#: Sums of quarters are exact.
PROBABILITIES = np.array([[0.75, 0.25, 0.0], [0.25, 0.5, 0.25], [0.0, 0.25, 0.75]])
COUNTS = np.array([[45, 5, 0], [4, 40, 6], [0, 3, 47]])


def test_counts_and_probabilities_are_told_apart(tmp_path: Path, warned: list[str]) -> None:
    for table, kind in ((PROBABILITIES, TransitionMatrix), (COUNTS, TransitionCounts)):
        np.save(tmp_path / "t.npy", table)
        read = read_transition(str(tmp_path / "t.npy"), NUMBERS, warned.append)
        assert isinstance(read, kind)
        assert read.classes is None
        assert_exact(read.counts if isinstance(read, TransitionCounts) else read.probabilities, table)
    assert len(warned) == 2
    assert "names no classes" in warned[0]
    for table, kind in ((np.eye(3), TransitionMatrix), (np.tri(3), TransitionCounts)):
        np.save(tmp_path / "t.npy", table)
        assert isinstance(read_transition(str(tmp_path / "t.npy"), NUMBERS, warned.append), kind)


@pytest.mark.parametrize("names", [[0, 1, 2], ["a", "b", "c"]])
@pytest.mark.parametrize("index", ["true", None])
def test_classes_of_a_transition_may_be_named(
    names: list[object], index: str | None, tmp_path: Path, warned: list[str]
) -> None:
    given = NAMES if isinstance(names[0], str) else NUMBERS
    frame = pd.DataFrame(COUNTS, index=names, columns=names)
    # Rows in another order are still the rows of their classes.
    for table in (frame, frame.iloc[::-1]):
        table.to_csv(tmp_path / "t.csv", index_label=index)
        read = read_transition(str(tmp_path / "t.csv"), given, warned.append)
        assert isinstance(read, TransitionCounts)
        assert read.classes == tuple(names)
        assert_exact(read.counts, COUNTS)
    assert warned == []


def test_the_frame_of_the_library_comes_back(tmp_path: Path, warned: list[str]) -> None:
    matrix = TransitionMatrix(PROBABILITIES, ["a", "b", "c"])
    matrix.to_frame().to_csv(tmp_path / "t.csv")
    assert read_transition(str(tmp_path / "t.csv"), NAMES, warned.append) == matrix


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("true,0,1\n0,0.9,0.1\n2,0.2,0.8\n", r"the true classes in its first column \(0, 2\) are not the given"),
        ("given,0,1\n0,0.9,0.1\n1,0.2,0.8\n", "its rows are called 'given'; rows must be true classes: transpose"),
        ("0,1\n0.9,0.2\n0.1,0.8\n", "its columns do: it looks transposed: rows are true classes; transpose it"),
        (
            "0,1\n0.9,0.101\n0.1,0.9\n",
            "1 of its rows do not sum to 1, first row 0 with .*; if that is rounding, divide each row by",
        ),
        (
            "true,0,1\n0,0.9,0.1\n1,0.2,0.9\n",
            "1 of its rows do not sum to 1, first row 1 with sum 1.1; row = true class",
        ),
        ("0,1\n1.2,0.1\n0.2,0.8\n", "1 values outside"),
        ("0,1\n90,-1\n1,9\n", "expected whole numbers >= 0, got 1 other, first -1 at row 0"),
        ("0,1\n0.9,nan\n0.1,0.9\n", "missing or infinite at row 0, column 1"),
        ("0,1\n0.9,x\n0.1,0.9\n", "expected a square table of numbers"),
        ("a,b,c,d\n1,2,3,4\n1,2,3,4\n", r"expected a square table, rows = true classes.* got \(2, 4\)"),
        ("a,b\n0.9,0.1\n0.2,0.8\n", "its classes a, b lack 2 that LABELS has: 0, 1"),
    ],
)
def test_what_is_no_transition_is_refused(content: str, message: str, tmp_path: Path, warned: list[str]) -> None:
    file = tmp_path / "t.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(DemeleError, match=message) as raised:
        read_transition(str(file), np.array([0, 1]), warned.append)
    assert str(raised.value).startswith(f"{file}: ")
    assert "matrix" not in str(raised.value)


# Audits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "design", "message"),
    [
        ({"r": [1]}, None, r"expected columns row \(counted from 0\) and true_label, got r"),
        ({"row": [1], "true_label": [1]}, None, r"how were these rows chosen\? --audit-design uniform"),
        ({"row": [1], "true_label": [1], "design": "odd"}, None, "column design: expected one of uniform"),
        ({"row": [1], "true_label": [1], "design": "weighted"}, "uniform", "--audit-design uniform: column design of"),
        ({"row": [1], "true_label": [1], "design": "sequential"}, None, "asked for one comparison"),
        ({"row": [1, 2], "true_label": [1, 1], "design": ["uniform", "selective"]}, None, "the same in all rows"),
        ({"row": [1], "true_label": [1]}, "weighted", "a weighted audit needs the column probability"),
        (
            {"row": [1], "true_label": [1], "probability": [1.5]},
            "weighted",
            r"column probability: expected numbers in \(0, 1\], got 1 other",
        ),
        ({"row": [1], "true_label": [None]}, "uniform", "no row has an answer in column true_label"),
        (
            {"row": [4, 1], "true_label": [None, 1]},
            "uniform",
            "1 row has no true_label, first row 4.*in the order drawn",
        ),
        ({"row": [4, 1], "true_label": [1, None], "probability": 0.5}, "weighted", "1 row has no true_label"),
        ({"row": [1, 1], "true_label": [1, 1]}, "uniform", "column row: expected each row once"),
        ({"row": [-1], "true_label": [1]}, "uniform", "column row: expected row numbers from 0, got -1"),
        ({"row": [1.5], "true_label": [1]}, "uniform", "column row: expected whole numbers, got 1.5"),
        ({"row": ["x"], "true_label": [1]}, "uniform", "column row: expected whole numbers, got 'x'"),
        ({"row": [1, None], "true_label": [1, 1]}, "uniform", "column row: 1 lines have no number, first line 3"),
        ({"draw": [1, 1], "row": [1, 2], "true_label": [1, 1]}, "uniform", "column draw: expected each number once"),
        (
            {"draw": [1, 4, 2], "row": [1, 2, 3], "true_label": [1, 1, 1]},
            "uniform",
            "column draw: expected all numbers from 1 to 4, 1 are missing, first 3; rows that were taken out",
        ),
        ({"row": [1], "true_label": ["cat"]}, "uniform", "column true_label: 1 answer is no number.*'cat' for row 1"),
        ({"row": [1], "true_label": [0.5]}, "uniform", "column true_label: 1 answer is no number"),
        (
            {"row": [1, 2], "true_label": [1, 1], "given_label": [1, 1]},
            "uniform",
            r"column given_label is not what LABELS holds in 1 of 2 rows, first row 2 \(1, LABELS has 2\)",
        ),
    ],
)
def test_what_is_no_audit_is_refused(
    columns: dict[str, Any], design: str | None, message: str, tmp_path: Path, warned: list[str]
) -> None:
    file = _write(str(tmp_path / "a.csv"), **columns)
    with pytest.raises(DemeleError, match=message) as raised:
        read_any_audit(file, NUMBERS, warned.append, design=design)
    assert file in str(raised.value)


# Cleanings -------------------------------------------------------------------------------------------------------


def test_suspects_with_and_without_their_classes(tmp_path: Path, warned: list[str]) -> None:
    flags = [True, False, False, True, False, False]
    found = read_cleaning(_write(str(tmp_path / "s.csv"), suspect=flags), NUMBERS, warned.append)
    assert found.suggested is None
    assert_exact(found.suspect, flags)
    for given, instead, expected in (
        (NUMBERS, [2, None, None, 1, None, None], [2, 1, 2, 1, 1, 2]),
        (NAMES, ["c", None, None, "b", None, None], ["c", "b", "c", "b", "b", "c"]),
    ):
        found = read_cleaning(_write(str(tmp_path / "s.csv"), s=flags, right=instead), given, warned.append)
        assert found.suggested.tolist() == expected


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"s": [0, 2, 0, 0, 0, 0]},
            r"expected flags 0 and 1 in the first column, got 2 at row 1",
        ),
        ({"s": [1] * 6, "r": [None] * 6}, "6 suspects have no class in the second column, first at row 0"),
        ({"s": [1], "r": [0]}, "expected 6 rows, as many as LABELS, got 1"),
        ({"s": [1] * 6, "r": [0] * 6, "t": [0] * 6}, "got 3 columns"),
    ],
)
def test_what_is_no_cleaning_is_refused(columns: dict[str, Any], message: str, tmp_path: Path) -> None:
    file = _write(str(tmp_path / "s.csv"), **columns)
    refuses(InputError, f"^{file}: .*{message}", read_cleaning, file, NUMBERS, print)


# Lists and objects in JSON ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [{"a": [[1, 2]] * 600}, [{"a": {"b": 1}}] * 600], ids=["lists", "objects"])
@pytest.mark.parametrize(
    "words",
    [
        ["assess", "nested.json", "data.csv::label"],
        ["assess", "data.csv::old", "nested.json"],
        ["compare", "data.csv::old", "nested.json", "data.csv::label"],
        ["compare", "nested.json", "data.csv::old", "data.csv::label"],
        ["compare", "models.json", "data.csv::label"],
        ["bench", "methods", "data.csv::label", "--predictions", "models.json", "--methods", "overlap"],
    ],
    ids=" ".join,
)
def test_lists_and_objects_are_no_classes(
    words: list[str], content: Any, labels_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("nested.json").write_text(json.dumps(content))
    twice = (
        {"a": content["a"], "b": content["a"]} if isinstance(content, dict) else [{**row, "b": 1} for row in content]
    )
    Path("models.json").write_text(json.dumps(twice))
    assert main([*words, "--quiet"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1
    assert "expected whole numbers or strings, got " + ("list" if isinstance(content, dict) else "dict") in told[0]


def test_classes_must_not_be_empty() -> None:
    refuses(InputError, "--classes: expected classes, such as cat,dog", classes_named, "0,,1", NUMBERS)


def test_percentages_could_be_counts(tmp_path: Path, warned: list[str]) -> None:
    (tmp_path / "t.csv").write_text("a,b\n90,10\n20,80\n", encoding="utf-8")
    assert isinstance(read_transition(str(tmp_path / "t.csv"), NAMES[:2], warned.append), TransitionCounts)
    assert warned == [
        f"{tmp_path / 't.csv'}: was read as counts, 100 of each true class; write percentages as probabilities"
    ]
