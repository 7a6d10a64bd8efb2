"""Ranks over tasks: sets, tiers and mean ranks by hand, and ranks of new tasks by simulation."""

import numpy as np
import pytest
from scipy.stats import norm

from demele.classifiers import RowScores, rank, task_ranks
from demele.classifiers.comparison.compare import Ranking, new_task_ranks
from demele.errors import InputError
from tests.refusals import refuses


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
    assert close.tiers == (("a", "b"), ("c",))
    assert ranking.to_dict()["tiers"][2] == ["e"]


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
