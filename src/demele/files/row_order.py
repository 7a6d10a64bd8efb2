"""Files whose rows are paired by position: a guard against those that stand in another order."""

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from demele.core.errors import InputError, quoted
from demele.files.named import read_table, split_name

if TYPE_CHECKING:
    import pandas as pd

_TABLES = (".csv", ".tsv", ".parquet")


def refuse_other_order(texts: Sequence[str]) -> None:
    """Refuse files if one of their unused columns shows that their rows have another order.

    Parameters
    ----------
    texts : sequence of str
        As of :func:`demele.files.named.read_table`. Of tables other columns than those that are picked are looked at:
        whole numbers or texts that differ in every row, and are the same in two files but for their order.

    Raises
    ------
    InputError
        If there is such a column: row r of one file is not row r of the other.
    """
    picked = {name for text in texts for name in split_name(text)[1]}
    tables = list(_tables(texts))
    for text, table in tables[1:]:
        path, first = tables[0]
        shared = [name for name in first if name in table and name not in picked]
        for name in shared:
            if len(first) == len(table) and _reordered(first[name], table[name]):
                raise InputError(
                    f"{path} and {text}: column {quoted(str(name))} has the same values in another order, but rows are "
                    f"paired by position; to join them by it, give --id {shlex.quote(str(name))}; if it does not "
                    "identify rows, remove it from the files"
                )


def _tables(texts: Sequence[str]) -> "Iterator[tuple[str, pd.DataFrame]]":
    """Read the whole of each file that is a table with more than is asked for, once."""
    paths = dict.fromkeys(path for path, names in map(split_name, texts) if names and path.suffix.lower() in _TABLES)
    for path in paths if len(paths) > 1 else ():
        table: Any = read_table(str(path), warn=lambda _: None)
        yield str(path), table


def _reordered(one: "pd.Series[Any]", other: "pd.Series[Any]") -> bool:
    if one.dtype.kind == "f" or other.dtype.kind == "f" or not (one.is_unique and other.is_unique):
        return False
    values, others = one.tolist(), other.tolist()
    return values != others and set(values) == set(others)
