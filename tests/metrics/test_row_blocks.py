"""Blocks of dependent rows: chance permutes them whole, so that rows that move together are no evidence."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from demele.core.columns import read_blocks
from demele.core.errors import InputError, NotEnoughData
from tests.given import evaluated
from tests.refusals import refuses
from tests.tolerances import assert_exact

Array = NDArray[np.float64]
pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
N_BLOCKS, LENGTH = 20, 30
BLOCKS = np.repeat(np.arange(N_BLOCKS), LENGTH)


def walks(rng: np.random.Generator, columns: int) -> Array:
    """Columns that go slowly up and down within each block."""
    steps = rng.standard_normal((N_BLOCKS, LENGTH, columns))
    return np.asarray(
        (np.cumsum(steps, axis=1) * 0.2 + rng.standard_normal((N_BLOCKS, 1, columns))).reshape(-1, columns)
    )


def orders(blocks: Any, draws: int, n: int) -> list[list[int]]:
    read = read_blocks(blocks, n)
    return [read.permutation(np.random.default_rng(draw)).tolist() for draw in range(draws)]


def test_blocks_of_equal_length_take_each_others_places() -> None:
    names = np.array(list("edcbaabcde"))  # 0 and 9 are block "e", 1 and 8 block "d", ...
    pairs = [(row, 9 - row) for row in range(5)]
    seen = set()
    for order in orders(names, 60, 10):
        places = [(order[first], order[second]) for first, second in pairs]
        assert sorted(places) == pairs  # whole blocks, each in its own order
        seen.add(tuple(places))
    assert len(seen) > 30


def test_blocks_of_other_lengths_are_laid_end_to_end() -> None:
    names = [0, 0, 0, 1, 2, 2, 3, 4, 4, 4]
    blocks = {0: [0, 1, 2], 1: [3], 2: [4, 5], 3: [6], 4: [7, 8, 9]}
    for order in orders(names, 20, 10):
        rest, met = list(order), []
        while rest:
            (block,) = [own for own in blocks.values() if own[0] == rest[0]]
            assert rest[: len(block)] == block
            met.append(block[0])
            rest = rest[len(block) :]
        assert sorted(met) == [0, 3, 4, 6, 7]


@pytest.mark.filterwarnings("ignore:blocks. every row is its own block")
def test_blocks_of_one_row_are_as_none() -> None:
    rng = np.random.default_rng(0)
    codes, factors = rng.random((200, 2)), rng.random((200, 2))
    alone, plain = (
        demele.evaluate(
            codes, demele.Factors(factors, blocks=blocks), ["mig", "dci_lasso_modularity"], n_permutations=5
        )
        for blocks in (np.arange(200), None)
    )
    for mine, theirs in zip(alone, plain, strict=True):
        assert_exact(mine.chance.values, theirs.chance.values)


def test_every_metric_sees_whole_blocks() -> None:
    """A metric of arrays, a table and rows: factors that are the number of their row show which ones were moved."""

    def share_in_order(codes: Array, factors: Array) -> float:
        moved = factors[:, 0].reshape(N_BLOCKS, LENGTH)
        return float((np.diff(moved, axis=1) == 1).all())

    rows = np.arange(N_BLOCKS * LENGTH, dtype=float)[:, None]
    whole = demele.evaluate(rows, demele.Factors(rows, blocks=BLOCKS), [share_in_order], n_permutations=6)
    single = demele.evaluate(rows, rows, [share_in_order], n_permutations=6)
    assert whole["share_in_order"].chance.values == (1.0,) * 6
    assert single["share_in_order"].chance.values == (0.0,) * 6
    # a factor that is constant in each block: some permutation of blocks is all that can be, and the codes tell it
    level = BLOCKS % 4
    codes = np.column_stack([level, np.arange(level.size) % 3]).astype(float)
    by_block, by_row = (
        demele.metrics.mig(codes, demele.Factors(level, blocks=one, kinds="categorical"), n_permutations=20).chance.mean
        for one in (BLOCKS, None)
    )
    assert by_block > 10 * by_row


@pytest.mark.parametrize(
    ("blocks", "more", "message"),
    [
        (np.arange(599), {}, "blocks: expected 600, one per row of `codes`, got shape"),
        (np.where(BLOCKS < 1, np.nan, BLOCKS), {}, "blocks: 30 of 600 rows have none, first row 0; give .* a block of"),
        (BLOCKS % 4, {}, "blocks: expected at least 5, got 4: so few have too few orders"),
        (BLOCKS, {"n_permutations": 0}, "blocks: are what chance permutes whole; pass `n_permutations=100`"),
        (BLOCKS, {"n_bootstrap": 10}, "bootstrap: takes rows for independent"),
        (BLOCKS, {"align": "rotation"}, "align: takes rows for independent"),
        (BLOCKS, {"noise": {"v1": 0.1}}, "noise: takes rows for independent"),
    ],
)
def test_what_is_refused(blocks: Any, more: dict[str, Any], message: str) -> None:
    rows = np.random.default_rng(0).random((600, 2))
    error = NotEnoughData if "at least 5" in message else InputError
    refuses(error, message, evaluated, rows, rows, "mig", {"n_permutations": 5, "blocks": blocks, **more})
    if set(more) <= {"n_permutations", "n_bootstrap"}:
        with pytest.raises(error, match=message):
            demele.metrics.mig(rows, demele.Factors(rows, blocks=blocks), **{"n_permutations": 5, **more})


def test_a_signature_says_so_and_is_replayed_with_blocks() -> None:
    rng = np.random.default_rng(2)
    codes, factors = walks(rng, 2), walks(rng, 2)
    score = demele.metrics.mig(codes, demele.Factors(factors, blocks=BLOCKS), n_permutations=5)
    assert "blocks=20" in str(score.signature).replace(":", "=").replace(" ", "")
    again = demele.replay(str(score.signature), codes, demele.Factors(factors, blocks=BLOCKS))
    assert_exact(again.chance.values, score.chance.values)
    refuses(InputError, "its chance level permuted 20 blocks", demele.replay, str(score.signature), codes, factors)
    plain = demele.metrics.mig(codes, factors, n_permutations=5)
    with pytest.raises(InputError, match="blocks: the signature's chance level permuted single rows"):
        demele.replay(str(plain.signature), codes, demele.Factors(factors, blocks=BLOCKS))
