"""Sums of rows read a piece at a time: SAP and MCC of continuous factors, IRS and OMES are of every row."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import demele
from demele.outofcore import tables
from tests.outofcore.test_out_of_core import scanned
from tests.streaming.feeding import numbers
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
N = 1500
SAMPLE = 200
CODES, FACTORS = ["z1", "z2", "z3"], ["size", "turn", "tilt"]
METRICS = ["sap", "mcc", "irs", "omes"]


def make_rows(*, holes: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    factors = rng.random((N, 3)) * [1.0, 8.0, 0.01]
    codes = np.column_stack([factors[:, 0] + 0.2 * rng.standard_normal(N), factors[:, 1] ** 2, factors @ [1, 0.1, 90]])
    if holes:
        factors[rng.random(N) < 0.2, 0] = np.nan
        factors[:600, 1] = np.nan
    return pd.DataFrame(np.hstack([codes, factors]), columns=[*CODES, *FACTORS])


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize(("cuts", "group"), [([], 2000), ([13, 900], 50)])
def test_every_row_counts(tmp_path: Path, holes: bool, cuts: list[int], group: int) -> None:
    rows = make_rows(holes=holes)
    missing: Any = "omit" if holes else "raise"
    expected = demele.evaluate(rows[CODES], demele.Factors(rows[FACTORS], missing=missing), METRICS)
    codes, factors = scanned(rows, tmp_path, cuts, group, CODES, FACTORS)
    found = demele.evaluate(demele.Codes(codes, sample=SAMPLE), demele.Factors(factors, missing=missing), METRICS)
    assert [score.n for score in found] == [N] * len(METRICS)
    assert not [note for score in found for note in score.notes if note.code in ("sampled", "unprobed")]
    assert_close(numbers(found), numbers(expected), ROUNDING)


def test_neither_workers_nor_partitions_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = make_rows()
    expected = numbers(demele.evaluate(rows[CODES], rows[FACTORS], METRICS))
    monkeypatch.setattr(tables, "ROWS_PER_SPAN", 100)
    data = scanned(rows, tmp_path, [300, 1100], 100, CODES, FACTORS)
    alone, together = (
        demele.evaluate(demele.Codes(data[0], sample=SAMPLE), data[1], METRICS, n_jobs=n_jobs) for n_jobs in (1, 2)
    )
    assert_exact(numbers(together), numbers(alone))
    assert_close(numbers(alone), expected, ROUNDING)
    array = pytest.importorskip("dask.array")
    codes, factors = (array.from_array(rows[names].to_numpy(), chunks=(400, -1)) for names in (CODES, FACTORS))
    assert_close(numbers(demele.evaluate(demele.Codes(codes, sample=SAMPLE), factors, METRICS)), expected, ROUNDING)


def test_products_of_all_columns(tmp_path: Path) -> None:
    rows = make_rows()
    rows["turn"] = rows["turn"].astype(int).astype(str)
    metrics = ["mcc", "mcc_weak", "r2_affine"]
    expected = demele.evaluate(rows[CODES], rows[FACTORS], metrics)
    codes, factors = scanned(rows, tmp_path, [700], 100, CODES, FACTORS)
    found = demele.evaluate(demele.Codes(codes, sample=SAMPLE), factors, metrics)
    for score in found:
        assert score.n == N
        wanted = expected[score.metric]
        assert_close([score.value, *score.native.values()], [wanted.value, *wanted.native.values()], SOLVER)


def test_a_factor_in_one_bin_keeps_its_place(tmp_path: Path) -> None:
    rows = make_rows()
    edges = [-1.0, 0.5, 9.0]  # all of tilt lies below 0.5
    options = {"irs": {"bins": edges}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = demele.evaluate(rows[CODES], rows[FACTORS], ["irs"], options=options)
        data = scanned(rows, tmp_path, [700], 100, CODES, FACTORS)
        found = demele.evaluate(demele.Codes(data[0], sample=SAMPLE), data[1], ["irs"], options=options)
    assert found["irs"].factor_names == expected["irs"].factor_names
    assert_close(numbers(found), numbers(expected), ROUNDING)


def test_a_signature_makes_the_number_again(tmp_path: Path) -> None:
    data = scanned(make_rows(), tmp_path, [700], 100, CODES, FACTORS)
    for score in demele.evaluate(demele.Codes(data[0], sample=SAMPLE), data[1], METRICS):
        again = demele.replay(str(score.signature), *data)
        assert_close(again.value, score.value, ROUNDING)
