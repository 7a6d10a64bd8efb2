"""Files whose rows stand in another order than those of the others."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from demele.core.errors import InputError
from demele.files.prediction_sets import refuse_other_order
from tests.cli.conftest import Program

ONE = pd.DataFrame({"id": ["a", "b", "c"], "number": [1, 2, 3], "site": ["x", "x", "y"], "old": [0, 1, 1]})


def written(folder: Path, name: str, **columns: Any) -> str:
    ONE.assign(**columns).to_csv(folder / f"{name}.csv", index=False)
    return f"{folder / name}.csv::old"


@pytest.mark.parametrize(
    ("columns", "named"),
    [({"id": ["b", "a", "c"]}, "'id'"), ({"number": [3, 2, 1], "id": ["x", "y", "z"]}, "'number'")],
)
def test_the_same_in_another_order_is_refused(columns: dict[str, Any], named: str, tmp_path: Path) -> None:
    files = [written(tmp_path, "one"), written(tmp_path, "other", **columns)]
    with pytest.raises(InputError, match=f"column {named} has the same values in another order.*--id"):
        refuse_other_order(files)


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"id": ["b", "a", "d"]},  # of other rows: nothing is known
        {"site": ["y", "x", "x"]},  # no name of a row
        {"number": [0.5, 2.0, 1.0]},
    ],
)
def test_what_tells_no_order_is_let_alone(columns: dict[str, Any], tmp_path: Path) -> None:
    files = [written(tmp_path, "one"), written(tmp_path, "other", **columns)]
    refuse_other_order(files)
    refuse_other_order([f"{files[0].removesuffix('::old')}::id", f"{files[1].removesuffix('::old')}::number"])


def test_a_comparison_of_shuffled_files_is_refused(demele: Program, tmp_path: Path) -> None:
    files = [written(tmp_path, "one"), written(tmp_path, "other", id=["c", "b", "a"]), written(tmp_path, "labels")]
    found = demele("compare", *files)
    assert (found.status, found.out) == (2, "")
    assert "give --id id" in found.err
