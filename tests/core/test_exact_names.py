"""Names are read exactly, or refused: identifiers and classes beyond 2^53, truth values, odd notations."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import demele
from demele import classifiers
from demele.core.errors import InputError
from demele.files import read_predictions
from tests.refusals import refuses

pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
CODES: Any = np.random.default_rng(0).random((60, 3))
LARGE = 2**53
TOLD = "from 2\\*\\*53 on cannot be distinguished as floats, first 9007199254740992"


def test_identifiers_that_are_floats_join_no_other_rows(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text(f"id,label\n{LARGE},a\n{LARGE + 2},b\n")
    (tmp_path / "model.csv").write_text(f"id,label\n{LARGE + 1}.0,b\n{LARGE + 2}.0,a\n")
    with pytest.raises(InputError, match=f"model.csv: column id: .*{TOLD}"):
        read_predictions([f"{tmp_path}/model.csv"], f"{tmp_path}/gold.csv", id="id")
    (tmp_path / "model.csv").write_text(f"id,label\n{LARGE + 2},b\n{LARGE},a\n")
    found = read_predictions([f"{tmp_path}/model.csv"], f"{tmp_path}/gold.csv", id="id")
    assert found.predictions["model"].tolist() == ["a", "b"]


@pytest.mark.parametrize("form", ["objects", "nullable", "floats"])
def test_large_classes_with_a_gap_do_not_merge(form: str) -> None:
    values = [None if row == 5 else LARGE + row % 2 for row in range(60)]
    given: Any = np.array(values, dtype=object)
    if form == "nullable":
        given = pd.DataFrame({"v1": pd.array(values, dtype="Int64")})
    elif form == "floats":
        given = given.astype(np.float64)
    with pytest.raises(InputError, match=f"factors: column 'v1': 1 number {TOLD}"):
        demele.evaluate(CODES, demele.Factors(given, missing="omit"), "mig")
    whole = np.array([LARGE + row % 2 for row in range(60)])
    assert demele.metrics.mig(CODES, whole).value == demele.metrics.mig(CODES, whole - LARGE).value


def test_the_smallest_float_that_may_be_two_numbers_is_no_class() -> None:
    values = np.array([float(LARGE), 0.0] * 30)
    refuses(InputError, f"labels: 30 numbers {TOLD}", classifiers.assess, values, values)
    assert classifiers.assess(values % LARGE, values % LARGE).n == 60


def test_truth_values_beside_numbers_are_noted() -> None:
    truths = np.array([True, False] * 30)
    for predictions, labels in ((truths, truths.astype(int)), (truths.astype(int).tolist(), truths.tolist())):
        for found in (
            classifiers.assess(predictions, labels),
            classifiers.compare(predictions, predictions, labels, noise=0.1),
        ):
            assert "truths-as-numbers" in [note.code for note in found.notes]
    alike = classifiers.assess(truths, truths)
    assert "truths-as-numbers" not in [note.code for note in alike.notes]
