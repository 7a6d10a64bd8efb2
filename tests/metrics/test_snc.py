"""SNC and NK: known numbers, an independent definition, traps, noise."""

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.metrics.grid import CODES, FIRST, GRID, SECOND, scored
from tests.oracles import information as oracle
from tests.tolerances import ROUNDING, assert_close

Array = NDArray[np.float64]
pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
ACCURACY = (1, 1, 0.4375, 0.625, 0.75, 1, 0.25)
LOST = (0.75, 0, 0.5625, 0.375, 0.5, 0, 0)
ALL_ROWS: dict[str, Any] = {"score_on": "training"}


# SNC ------------------------------------------------------------------------------------------------------------------


@pytest.mark.worked("snc")
@pytest.mark.parametrize("mapping", ["majority", "one-to-one"])
def test_codes_on_a_grid(mapping: str) -> None:
    found = [scored("snc", codes, GRID, report="unscaled", mapping=mapping, **ALL_ROWS) for codes in CODES.values()]
    assert_close([one.value for one in found], ACCURACY, ROUNDING)
    above = [scored("snc", codes, GRID, mapping=mapping, **ALL_ROWS).value for codes in CODES.values()]
    assert_close(above, [(one - 0.25) / 0.75 for one in ACCURACY], ROUNDING)
    assert_close([one.details["above_chance"] for one in found], above, ROUNDING)


def by_definition(codes: Array, factors: Array) -> float:
    """Mean accuracy of the best one-to-one pairs, bins standing for their most frequent value."""
    labels = [column.astype(int).tolist() for column in codes.T]
    values = [column.astype(int).tolist() for column in factors.T]
    information = oracle.information_matrix(labels, values)
    m = len(values)
    pairs = max(
        itertools.permutations(range(len(labels)), m), key=lambda own: sum(information[own[i]][i] for i in range(m))
    )
    total = 0.0
    for code, value in zip(pairs, values, strict=True):
        by_bin: dict[int, Counter[int]] = {}
        for one, other in zip(labels[code], value, strict=True):
            by_bin.setdefault(one, Counter())[other] += 1
        total += sum(max(found.values()) for found in by_bin.values()) / len(value)
    return total / m


@pytest.mark.oracle("snc")
def test_slow_definition() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (300, 3)).astype(float)
    codes = np.column_stack(
        [factors[:, 0] + factors[:, 1], factors[:, 1] // 2, factors[:, 2] % 3, rng.integers(0, 4, 300)]
    )
    found = scored("snc", codes, factors, report="unscaled", **ALL_ROWS).value
    assert_close(found, by_definition(codes, factors), ROUNDING)


def test_a_factor_without_a_code_counts_as_chance_and_is_named() -> None:
    alone = scored("snc", FIRST[:, None], GRID, **ALL_ROWS)
    assert_close(list(alone.native.values()), [1, 0], ROUNDING)
    assert [note.subject for note in alone.notes if note.code == "no-code"] == [()]
    assert alone.details["assignment"] == [0, None]
    shared = scored("snc", FIRST[:, None] + 0.5 * (SECOND > 1)[:, None], GRID, share=True, **ALL_ROWS)
    assert_close(list(shared.native.values()), [1, (0.5 - 0.25) / 0.75], ROUNDING)
    assert shared.details["assignment"] == [0, 0]


# NK -------------------------------------------------------------------------------------------------------------------


@pytest.mark.worked("nk")
def test_what_is_lost_on_a_grid() -> None:
    twice = np.tile(GRID, (2, 1))
    scores = {name: scored("nk", np.tile(codes, (2, 1)), twice) for name, codes in CODES.items()}
    for score, wanted in zip(scores.values(), LOST, strict=True):
        assert abs(score.value - wanted) < 0.05, wanted
    assert (np.abs(scores["rotated"].details["knockout"] - 0.5625) < 0.1).all()
    perfect = scores["factors"]
    assert_close(perfect.details["knockout"][[0, 1], [1, 0]], [0, 0], ROUNDING)
    assert abs(perfect.details["scaled"] - 1) < 0.06


@pytest.mark.oracle("nk")
def test_trees_of_another_library_lose_as_much() -> None:
    forest = pytest.importorskip("sklearn.tree").DecisionTreeClassifier
    rng = np.random.default_rng(4)
    factors = rng.integers(0, 3, (1200, 2)).astype(float)
    mixed = [factors[:, 0] + 0.4 * factors[:, 1], factors[:, 1], factors[:, 0] + rng.integers(0, 2, 1200)]
    codes = np.column_stack(mixed) + 0.1 * rng.standard_normal((1200, 3))
    found = scored("nk", codes, factors)
    for index, code in enumerate(found.details["assignment"]):
        accuracies = [
            forest(min_samples_leaf=10).fit(kept[:600], factors[:600, index]).score(kept[600:], factors[600:, index])
            for kept in (codes, np.delete(codes, code, axis=1))
        ]
        assert abs(accuracies[0] - accuracies[1] - found.per_factor[index]) < 0.07
    assert found.value > 0.1


def test_codes_that_know_nothing_lose_nothing_and_have_no_scaled_loss() -> None:
    rng = np.random.default_rng(5)
    score = scored("nk", rng.random((600, 3)), rng.integers(0, 3, (600, 2)), n_trees=5)
    assert abs(score.value) < 0.1
    assert math.isnan(score.details["scaled"])


def test_both_sides_of_a_further_mixed_code_and_of_copies() -> None:
    """SNC sees neither, NK sees nothing else."""
    for name in ("copies", "sum beside"):
        assert scored("snc", CODES[name], GRID).value > 0.99
        assert scored("nk", CODES[name], GRID).value < 0.02
