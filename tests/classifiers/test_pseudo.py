"""Classifiers judged by each other's votes: by hand, by slow oracles, and in worlds whose truth is known."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demele.classifiers.stats import PseudoEvaluation, pseudo_supervised
from demele.core.errors import InputError, NotEnoughData
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact


def independent(rng: np.random.Generator, n: int, k: int, right: list[float]) -> tuple[Any, Any]:
    """True classes, and predictions of shape (n, n_models) that err independently, each wrong class as likely."""
    true = rng.integers(0, k, n)
    slips = (true[:, None] + rng.integers(1, k, (n, len(right)))) % k
    return true, np.where(rng.random((n, len(right))) < right, true[:, None], slips)


def field(found: PseudoEvaluation, name: str) -> list[Any]:
    return [getattr(model, name) for model in found.models]


def test_by_hand() -> None:
    # Columns: four classifiers. Row 2 is tied. The vote upholds a in 2.5 of 4 rows, the others in 3.5: c and d win it.
    said = {"a": [0, 1, 0, 2], "b": [0, 1, 0, 1], "c": [0, 1, 1, 1], "d": [0, 1, 1, 1]}
    found = pseudo_supervised(said)
    assert_exact(found.labels, [0, 1, 1, 1])
    assert_exact(found.confidence, [1.0, 1.0, 0.5, 0.75])
    # Row 2 for a: b + c + d say 0, 1, 1; for b 0, 1, 1; for c and d 0, 0, 1.
    assert field(found, "agreement") == [2 / 4, 3 / 4, 3 / 4, 3 / 4]
    # Shares of the others' votes: a has 3/3, 3/3, 1/3, 0/3.
    assert_close(field(found, "expected")[0], (1 + 1 + 1 / 3 + 0) / 4, ROUNDING)
    assert_close(field(found, "weight"), [0.25] * 4, ROUNDING)
    # For a, the others' votes have 3/3, 3/3, 2/3, 3/3 of the votes.
    assert found["a"].coverage == (1.0, 1.0, 0.75, 0.75, 0.75, 0.75)
    assert found["a"].agreement_above == (0.5, 0.5, 2 / 3, 2 / 3, 2 / 3, 2 / 3)
    assert [note.code for note in found.notes] == ["tied-votes"]
    assert "tied on 1 of 4" in found.notes[0].message
    assert found.n_ties == found.to_dict()["n_ties"] == 1


def test_an_own_vote_would_flatter() -> None:
    # Three classifiers that guess: the vote holds 1/2 + of each, the others' vote only chance.
    _, said = independent(np.random.default_rng(0), 20_000, 2, [0.5, 0.5, 0.5])
    found = pseudo_supervised(said)
    flattered = (said[:, 0] == found.labels).mean()
    assert flattered > 0.7
    for agreement in field(found, "agreement"):
        assert abs(agreement - 0.5) < 5 * np.sqrt(0.25 / 20_000)


def winners(said: np.ndarray, weights: np.ndarray, k: int, but: int | None = None) -> list[set[int]]:
    """The classes that can win each row, by counting the votes of all but one: ties by agreement with the vote."""
    n, m = said.shape

    def level(sums: list[Fraction]) -> set[int]:
        return {each for each, own in enumerate(sums) if own == max(sums)}

    def sums_of(row: int, trust: list[Fraction], out: int | None) -> list[Fraction]:
        return [sum((trust[j] for j in range(m) if j != out and said[row, j] == c), Fraction()) for c in range(k)]

    plain = [level(sums_of(row, [Fraction(1)] * m, None)) for row in range(n)]
    upheld = [
        sum((Fraction(1, len(plain[row])) for row in range(n) if said[row, j] in plain[row]), Fraction())
        for j in range(m)
    ]
    found = []
    for row in range(n):
        first = level(sums_of(row, [Fraction(int(weight)) for weight in weights], but))
        trusted = sums_of(row, upheld, but)
        found.append({each for each in first if trusted[each] == max(trusted[other] for other in first)})
    return found


def oracle(said: np.ndarray, weights: np.ndarray, k: int) -> tuple[list[tuple[float, float]], list[float]]:
    """Lowest and highest agreement, as ties may be drawn, and expected accuracy of every classifier."""
    n, m = said.shape
    agreement, expected = [], []
    for own in range(m):
        may = [said[row, own] in found for row, found in enumerate(winners(said, weights, k, own))]
        must = [found == {said[row, own]} for row, found in enumerate(winners(said, weights, k, own))]
        agreement.append((sum(must) / n, sum(may) / n))
        others = np.arange(m) != own
        expected.append(float(np.mean(((said == said[:, [own]]) * weights)[:, others].sum(1) / weights[others].sum())))
    return agreement, expected


@settings(max_examples=60)
@given(
    seed=st.integers(0, 100_000),
    n=st.integers(1, 25),
    weights=st.lists(st.integers(1, 5), min_size=3, max_size=7),
    k=st.integers(2, 4),
)
def test_against_a_loop(seed: int, n: int, weights: list[int], k: int) -> None:
    # Whole weights make ties frequent, and exact for the oracle.
    rng = np.random.default_rng(seed)
    said = rng.integers(0, k, (n, len(weights)))
    for given_weights, used in ((None, np.ones(len(weights))), (weights, np.array(weights))):
        found = pseudo_supervised(said, weights=given_weights, classes=range(k))
        agreement, expected = oracle(said, used, k)
        for own, (low, high) in zip(field(found, "agreement"), agreement, strict=True):
            assert low <= own <= high
        assert_close(field(found, "expected"), expected, ROUNDING)
        for label, can in zip(found.labels, winners(said, used, k), strict=True):
            assert label in can
        votes = np.stack([((said == each) * used).sum(axis=1) for each in range(k)], axis=1)
        assert found.n_ties == int(((votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1).sum())
        assert_close(found.confidence, votes.max(axis=1) / sum(used), ROUNDING)


ROWS = {"a": [0, 1], "b": [1, 1], "c": [0, 0]}


def test_refuses() -> None:
    predictions_cases: Any = [
        ({"a": [0, 1], "b": [1, 1]}, {}, NotEnoughData, r"at least 3 classifiers: others vote, got 2"),
        ({"a": [0, 1], "b": [1, 1], "c": [0]}, {}, InputError, r"same number of rows"),
        ({"a": [0, 0], "b": [0, 0], "c": [0, 0]}, {}, NotEnoughData, r"at least 2 classes, got only 0"),
        (ROWS, {"labels": [0]}, InputError, r"^predictions and labels: .* got 2 and 1"),
        (ROWS, {"labels": ["a", "b"]}, InputError, r"^labels: .* cannot be matched"),
        (ROWS, {"classes": [0, 2]}, InputError, r"values are not among the 2 classes"),
        (ROWS, {"weights": [1, 2]}, InputError, r"^weights: expected 3 numbers, one per classifier, got shape \(2,\)"),
        (ROWS, {"weights": [1, -2, 1]}, InputError, r"^weights: .* got 1 other, first -2 of classifier 'b'"),
        (ROWS, {"weights": [0, 0, 0]}, InputError, r"^weights: expected at least one above 0"),
        (ROWS, {"weights": [0, 1, 0]}, InputError, r"^weights: all of the weight is on b, so no other classifier"),
        (ROWS, {"weights": {"a": 1, "b": 1}}, InputError, r"^weights: .* not in both: 'c'"),
        (ROWS, {"weights": "agreement"}, InputError, r"^weights: expected one weight per classifier"),
        (ROWS, {"level": 95}, InputError, r"^level: expected a number between 0 and 1"),
    ]
    for predictions, options, error, message in predictions_cases:
        refuses(error, message, pseudo_supervised, predictions, **options)


def test_unknown_name() -> None:
    with pytest.raises(InputError, match=r"^name: expected one of a, b, c, got 'd'"):
        pseudo_supervised(ROWS)["d"]
