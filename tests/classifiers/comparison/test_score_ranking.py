"""Systems ranked by row scores, on one task and over several: single p-values, sets of ranks that hold."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm, ttest_rel

from demele.classifiers import RowScores, rank, task_ranks
from demele.classifiers.comparison.compare import Ranking, new_task_ranks
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
        alone = trusted_mean(scores[one].minus(scores[other]), gate=0.0).p_value
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
    assert (set(found.best_rank[:2]), found.names[2]) == ({1}, "worse")
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


# Ranks over tasks -----------------------------------------------------------------------------------------------------


def _latent(r: np.random.Generator, n: int, shares: list[float]) -> dict[str, RowScores]:
    latent = 0.8**0.5 * r.standard_normal((n, 1)) + 0.2**0.5 * r.standard_normal((n, 4))
    return {f"s{j}": RowScores(column) for j, column in enumerate((latent < norm.ppf(shares)).T)}


def test_sets_of_ranks_on_one_task_are_the_published_ones() -> None:
    r = np.random.default_rng(8)
    r.random((300, 1))
    r.random((300, 4))
    found = rank(_latent(r, 300, [0.80, 0.78, 0.70, 0.55]))
    assert [one.value for one in found.systems] == pytest.approx([0.7833, 0.7267, 0.6433, 0.5], abs=5e-5)
    p_values = {one.name: one.p_value or 0.0 for one in found.differences}
    assert [p_values.pop(pair) for pair in ("s1 - s0", "s2 - s1")] == pytest.approx([0.024093, 0.001533], abs=5e-7)
    assert max(p_values.values()) < 1e-6
    assert found.names == ("s0", "s1", "s2", "s3")
    assert found.best_rank == found.worst_rank == (1, 2, 3, 4)
    assert [one.tier for one in found.systems] == [1, 2, 3, 4]


@pytest.mark.long
def test_sets_hold_the_tied_ranks() -> None:
    right, repeats = 0, 1000
    for seed in range(repeats):
        found = rank(_latent(np.random.default_rng((9, seed)), 200, [0.8, 0.8, 0.8, 0.7]))
        sets = {one.name: (one.best_rank, one.worst_rank) for one in found.systems}
        # Three systems share ranks 1 to 3.
        right += all(sets[f"s{j}"][0] == 1 and sets[f"s{j}"][1] >= 3 for j in range(3)) and sets["s3"][1] == 4
    assert right / repeats >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / repeats)


def _ranking(seed: int, **shares: float) -> Ranking:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 5, 1500)
    models = {name: np.where(rng.random(1500) < p, labels, (labels + 1) % 5) for name, p in shares.items()}
    return rank(models, labels, noise=0.01)


def test_tiers_end_before_the_first_model_that_is_worse_than_their_first() -> None:
    ranking = _ranking(1, a=0.90, b=0.89, c=0.80, d=0.79, e=0.6)
    assert ranking.tiers == (("a", "b"), ("c", "d"), ("e",)) or ranking.tiers == (("b", "a"), ("c", "d"), ("e",))
    close = _ranking(2, a=0.90, b=0.875, c=0.85)
    # b is not worse than a and c not worse than b; c is worse than a, so it begins a tier though groups overlap.
    assert (close.tiers, ranking.to_dict()["tiers"][2]) == ((("a", "b"), ("c",)), ["e"])


def test_mean_ranks_are_the_means_of_the_ends() -> None:
    held = {f"task {seed}": _ranking(seed, x=0.9, y=0.88, z=0.7) for seed in range(3, 7)}
    found = task_ranks(held, level=0.5)
    assert [row.model for row in found.models][2] == "z"
    for row in found.models:
        places = [(one, one.names.index(row.model)) for one in held.values()]
        ends = [(one.best_rank[place], one.worst_rank[place]) for one, place in places]
        low, high = np.mean(ends, axis=0)
        assert (row.mean_rank.low, row.mean_rank.high) == (low, high)
        assert row.first == sum(worst == 1 for _, worst in ends)
    assert found.models[2].new_task.low == found.models[2].new_task.high == 3
    assert not found.notes
    few = task_ranks(held)
    assert [note.code for note in few.notes] == ["few-tasks"]
    assert "19 tasks are needed" in few.notes[0].message
    assert (few.models[2].new_task.low, few.models[2].new_task.high) == (1, 3)
    refuses(InputError, "task 'b' has other models", task_ranks, {"a": held["task 3"], "b": _ranking(3, x=0.9, w=0.5)})


def test_ranks_on_a_new_task_have_the_published_ends() -> None:
    low = np.array([1, 1, 2, 1, 3, 1, 2, 1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1])[:, None]
    high = np.array([2, 3, 3, 2, 4, 2, 4, 2, 3, 3, 2, 2, 3, 4, 2, 3, 4, 2, 2])[:, None]
    low, high = (np.column_stack([ends, np.ones((19, 3), int)]) for ends in (low, high))
    for level, ends in ((0.95, (1, 4)), (0.9, (1, 4))):
        first, last = new_task_ranks(low, high, level)
        assert (first[0], last[0]) == ends
    first, last = new_task_ranks(low, high, 0.8)  # q = 18
    assert (first[0], last[0]) == (np.sort(low[:, 0])[1], np.sort(high[:, 0])[17])


def test_the_rank_on_a_new_task_is_covered() -> None:
    rng, repeats = np.random.default_rng(11), 2000
    for tasks in (19, 39):
        inside = 0
        for _ in range(repeats):
            quality = rng.standard_normal(8)
            ranks = 1 + np.argsort(np.argsort(-(quality + rng.standard_normal((tasks + 1, 8))), axis=1), axis=1)
            first, last = new_task_ranks(ranks[:-1], ranks[:-1], 0.9)
            inside += (first[0] <= ranks[-1, 0] <= last[0]) + 0
        assert inside / repeats >= 0.9 - 3 * np.sqrt(0.09 / repeats)
