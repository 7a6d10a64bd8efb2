"""Systems ranked by row scores: p-values of single comparisons, sets of ranks that hold, many systems at once."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from demele.classifiers import RowScores, rank, task_ranks
from demele.classifiers.mean_scores import bounded_mean, trusted_mean
from demele.errors import InputError, NotEnoughData
from demele.labels import Audit
from tests.classifiers.audited import audited_mean, minus
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close


def test_p_values_of_trusted_scores_are_those_of_paired_t_tests() -> None:
    rng = np.random.default_rng(1)
    values = rng.random((5, 80)) + 0.05 * np.arange(5)[:, None]
    found = rank({f"s{j}": RowScores(row, 0, 2) for j, row in enumerate(values)})
    place = [int(name[1:]) for name in found.names]
    for (i, one), (j, other) in itertools.permutations(enumerate(place), 2):
        if i < j:
            pair = found[f"{found.names[j]} - {found.names[i]}"]
            assert pair.p_value == pytest.approx(ttest_rel(values[one], values[other]).pvalue, rel=1e-9)


@pytest.mark.parametrize("columns", [{"group": 1}, {"task": 1}, {"group": 1, "task": 1}, {"weight": 1}])
def test_p_values_of_groups_tasks_and_weights_are_those_of_their_differences(columns: dict[str, int]) -> None:
    rng = np.random.default_rng(2)
    known = {"group": np.arange(240) // 5, "task": np.arange(240) % 3, "weight": rng.uniform(0.5, 2, 240)}
    options = {name: known[name] for name in columns}
    scores = {f"s{j}": RowScores(rng.random(240), **options) for j in range(4)}  # type: ignore[arg-type]
    found = rank(scores)
    for one, other in itertools.combinations(found.names, 2):
        difference = scores[one].minus(scores[other])
        alone = trusted_mean(difference, gate=0.0).p_value
        assert_close(found[f"{other} - {one}"].p_value or 0, 2 * min(alone, 1 - alone), {"rtol": 1e-9, "atol": 1e-12})


def test_equal_systems_and_constant_differences() -> None:
    given = np.linspace(0, 0.5, 30)
    found = rank({"a": RowScores(given), "b": RowScores(given), "c": RowScores(given + 0.25)})
    assert [(one.name, one.best_rank, one.worst_rank) for one in found.systems] == [
        ("c", 1, 1),
        ("a", 2, 3),
        ("b", 2, 3),
    ]
    assert [one.tier for one in found.systems] == [1, 2, 2]


def test_the_worst_case_claims_what_bounds_of_differences_show() -> None:
    rng = np.random.default_rng(3)
    scores = {name: RowScores(rng.random(2000) < p) for name, p in (("a", 0.9), ("b", 0.75), ("c", 0.72))}
    for rate in (0.01, 0.03, 0.2):
        found = rank(scores, noise=rate)
        for one, other in itertools.permutations(scores, 2):
            bound = bounded_mean(scores[one].minus(scores[other]), rate, level=1 - 0.05 / 3, inference="population")
            places = found.names.index(one), found.names.index(other)
            ahead = found.worst_rank[places[0]] < found.best_rank[places[1]]
            assert ahead or bound.low <= 0
    assert rank(scores, noise=0.01).best_rank == (1, 2, 2)
    assert rank(scores, noise=0.2).worst_rank == (3, 3, 3)


def _audited(seed: int, k: int = 150) -> tuple[dict[str, RowScores], Audit, NDArray[np.bool_]]:
    """Two equal systems, of which the judge likes the style of one, and a worse one."""
    rng = np.random.default_rng(seed)
    common = rng.random(2000)
    true = np.array([np.where(rng.random(2000) < 0.7, common, rng.random(2000)) < p for p in (0.8, 0.8, 0.6)])
    lenient = np.array([0.1, 0.5, 0.1])[:, None]
    given = rng.random((3, 2000)) < np.where(true, 0.96, lenient)
    rows = rng.choice(2000, k, replace=False)
    names = ("plain", "liked", "worse")
    scores = {name: RowScores(row) for name, row in zip(names, given, strict=True)}
    return scores, Audit(rows, {name: row[rows] for name, row in zip(names, true, strict=True)}, design="uniform"), true


def test_an_audit_undoes_what_a_lenient_judge_claims() -> None:
    scores, audit, _ = _audited(4)
    assert rank(scores).names[0] == "liked"
    assert rank(scores).best_rank == (1, 2, 3)
    found = rank(scores, audit=audit)
    assert set(found.best_rank[:2]) == {1}
    assert found.names[2] == "worse"
    assert found.best_rank[2] == 3
    first, second = found.names[:2]
    alone = audited_mean(scores[first].minus(scores[second]), minus(audit, first, second), gate=0.0)
    back = audited_mean(scores[second].minus(scores[first]), minus(audit, second, first), gate=0.0)
    assert alone.p_value is not None
    assert back.p_value is not None
    assert_close(found.differences[0].p_value or 0, min(1, 2 * min(alone.p_value, back.p_value)), ROUNDING)


@pytest.mark.long
def test_sets_of_audited_ranks_hold() -> None:
    right, repeats = 0, 200
    for seed in range(repeats):
        scores, audit, _ = _audited(100 + seed, 80)
        found = rank(scores, audit=audit)
        sets = {one.name: (one.best_rank, one.worst_rank) for one in found.systems}
        right += sets["plain"][0] == sets["liked"][0] == 1 and sets["worse"][1] == 3
        right -= sets["plain"][1] < 2 or sets["liked"][1] < 2
    assert right / repeats >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / repeats)


def test_many_systems_on_many_tasks_are_ranked_at_once() -> None:
    rng = np.random.default_rng(5)
    skill = rng.uniform(0.5, 0.9, 200)
    held = {}
    for task in range(3):
        held[f"t{task}"] = rank({f"m{j}": RowScores(rng.random(300) < p) for j, p in enumerate(skill)})
    found = task_ranks(held)
    assert len(found.models) == 200
    ends = {one.model: (one.mean_rank.low, one.mean_rank.high) for one in found.models}
    order = np.argsort(np.argsort(-skill)) + 1
    inside = [ends[f"m{j}"][0] <= order[j] <= ends[f"m{j}"][1] for j in range(200)]
    assert all(inside)


def test_systems_with_scores_of_other_rows_are_compared_on_common_ones() -> None:
    rng = np.random.default_rng(7)
    given = rng.random((3, 300))
    given[0, :20] = given[1, 20:50] = np.nan
    rows = rng.permutation(300)[:60]
    scores = {name: RowScores(row) for name, row in zip("abc", given, strict=True)}
    audit = Audit(rows, {name: rng.random(60) for name in "abc"}, design="uniform")
    audited, trusted = rank(scores, audit=audit), rank(scores)
    for one, other in itertools.combinations(audited.names, 2):
        alone = audited_mean(scores[other].minus(scores[one]), minus(audit, other, one))
        assert audited[f"{other} - {one}"].value == pytest.approx(alone.value)
    for one, other in itertools.combinations(trusted.names, 2):
        assert trusted[f"{other} - {one}"].value == pytest.approx(np.nanmean(scores[other].given - scores[one].given))


def test_what_cannot_be_ranked_is_refused() -> None:
    one = RowScores([0, 1, 1])
    refuses(NotEnoughData, "at least 2 systems", rank, {"a": one})
    refuses(InputError, "mapping of names", rank, [one, one])
    refuses(InputError, "same rows", rank, {"a": one, "b": RowScores([0, 1])})
    with pytest.raises(InputError, match="human scores say how many scores are wrong"):
        rank({"a": one, "b": one}, audit=Audit([0, 1], [0, 1], design="uniform"), noise=0.1)
