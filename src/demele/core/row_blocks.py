"""Rows that belong together: which ones, as columns name them; and blocks of dependent rows, which chance permutes."""

from dataclasses import dataclass

import numpy as np

from demele.core.arrays import Rows
from demele.core.errors import DemeleWarning, InputError, InputTypeError, NotEnoughData, warn_user
from demele.core.table_columns import as_column

#: Fewer blocks can be put into so few orders that no score would be rare among them: 4 into 24.
LEAST_BLOCKS = 5


def numbered_rows(values: object, argument: str, n: int, rows_of: str) -> tuple[Rows, int]:
    """Return a number from 0, in order of appearance, for what each row belongs to, and how many there are.

    Parameters
    ----------
    values : array-like of shape (n,)
        Rows or names.
    argument : str
        What messages call them.
    n : int
    rows_of : str
        The argument whose rows these are.

    Raises
    ------
    InputError
        If there are not ``n``, or some are missing.
    """
    import pandas as pd

    column = as_column(values, argument)
    if column.shape != (n,):
        raise InputError(argument, f"expected {n}, one per row of `{rows_of}`, got shape {column.shape}")
    try:
        numbers, names = pd.factorize(column)
    except TypeError as error:
        raise InputTypeError(argument, f"expected numbers or names, got {type(column[0]).__name__} at row 0") from error
    missing = np.flatnonzero(numbers < 0)
    if missing.size:
        raise InputError(
            argument,
            f"{missing.size} of {n} rows have none, first row {missing[0]}; give a row that belongs to no other a "
            f"{argument.removesuffix('s')} of its own",
        )
    return numbers.astype(np.intp), len(names)


@dataclass(frozen=True, slots=True, eq=False)
class RowBlocks:
    """Blocks of rows that depend on each other, such as the frames of a video.

    Attributes
    ----------
    count : int
        Blocks.
    rows : array of int of shape (n_samples,)
        The rows, block after block, in their order within each.
    ends : array of int of shape (count,)
        Where each block ends among them.
    """

    count: int
    rows: Rows
    ends: Rows

    def permutation(self, rng: np.random.Generator) -> Rows:
        """Return an order of the rows in which whole blocks stand in each other's places, each in its own order.

        Blocks of unequal length are laid end to end in their new order, from the first row on.
        """
        blocks = np.split(self.rows, self.ends[:-1])
        order = np.empty_like(self.rows)
        order[self.rows] = np.concatenate([blocks[place] for place in rng.permutation(self.count)])
        return order


def read_blocks(values: object, n: int) -> RowBlocks:
    """Read the block of every row, in the order of the rows of the codes.

    Raises
    ------
    InputError
        If there are not ``n`` of them, or some are missing.
    NotEnoughData
        If there are too few blocks to permute.

    Warns
    -----
    DemeleWarning
        If every row is a block of its own.
    """
    numbers, count = numbered_rows(values, "blocks", n, "codes")
    if count < LEAST_BLOCKS:
        raise NotEnoughData(
            "blocks",
            f"expected at least {LEAST_BLOCKS}, got {count}: so few have too few orders for a "
            "chance level; give shorter blocks, but as long as rows depend on each other",
        )
    if count == n:
        warn_user(
            "blocks: every row is its own block, so blocks have no effect; give each row the number or name of "
            "what it belongs to, such as its video",
            DemeleWarning,
        )
    return RowBlocks(count, np.argsort(numbers, kind="stable"), np.cumsum(np.bincount(numbers)))
