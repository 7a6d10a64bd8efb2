"""What a result computes when it is read: not before, once, and of the rows as they were."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import demele
from demele.core.inputs import read_pair
from demele.core.lazy import Later
from demele.metrics import run, source
from demele.metrics.data import TableSettings
from demele.metrics.verdict import verdict_of


def _rows(n: int = 300) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    factors = np.random.default_rng(n).random((n, 3))
    return factors @ np.random.default_rng(1).normal(size=(3, 4)), factors


def test_parts_are_made_once_and_copies_share_them() -> None:
    values = iter([1, None, 3])
    later = Later({"part": lambda: next(values), "empty": lambda: next(values)}, known=7)
    assert (later["known"], later["nothing"]) == (7, None)
    assert (later["part"], later["part"], later["empty"], later["empty"]) == (1, 1, None, None)
    assert next(values) == 3


def test_the_verdict_is_judged_when_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Mock(wraps=verdict_of)
    monkeypatch.setattr(run, "verdict_of", judge)
    found = demele.evaluate(*_rows(), ["mig"])
    other = replace(found, name="other")
    assert not judge.called
    assert other.verdict is found.verdict
    assert other.rows is found.rows


@pytest.mark.parametrize("n", [300, 8_000])
def test_rows_that_change_later_change_no_part(n: int) -> None:
    codes, factors = _rows(n)
    wanted = demele.evaluate(codes.copy(), factors.copy(), ["mig"], n_bootstrap=3, n_permutations=2).to_dict()
    found = demele.evaluate(codes, factors, ["mig"], n_bootstrap=3, n_permutations=2)
    codes[:], factors[:] = 0.0, 1.0
    given = found.to_dict()
    for content in (wanted, given):
        content["scores"][0].pop("seconds")
    assert given == wanted


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_result_that_is_copied_or_pickled_has_all_parts(again: Callable[[Any], Any]) -> None:
    found = demele.evaluate(*_rows(), ["mig", "mig_sup"])
    assert again(found).to_dict() == found.to_dict()


def test_shuffles_of_packed_rows_count_what_shuffled_rows_do() -> None:
    codes, factors = _rows(500)
    factors[:, 0] = np.floor(4 * factors[:, 0])
    factors[:7, 0] = np.nan
    read = read_pair(codes, factors, missing="omit")
    memory = source.InMemory(source.Subject.of(*read))
    settings = TableSettings(binning=demele.bins.EqualWidth(10))
    tables = list(memory.tables(settings, "permutations", 3, 11, pairs=True))
    for index, table in enumerate(tables):
        wanted = memory._table(memory.data.shuffled(11, index), settings, True)
        np.testing.assert_array_equal(table.information, wanted.information)
        np.testing.assert_array_equal(table.factor_information, wanted.factor_information)
