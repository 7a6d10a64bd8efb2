"""Columns that commands write for other programs: one row per label, in the format that the file's name says."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.core.errors import FormatError, InputError
from demele.core.outputs import write_whole
from demele.files.label_files import given_elsewhere
from demele.files.named import read_table, split_name
from demele.files.sheets import csv_text
from demele.files.table_files import Warn

if TYPE_CHECKING:
    import pandas as pd


def write_columns(frame: "pd.DataFrame", path: Path) -> None:
    """Write columns by name; the other commands read them back as ``FILE::name``."""
    suffix = path.suffix.lower()
    content: bytes | str
    if suffix == ".parquet":
        content = frame.to_parquet(index=False)
    elif suffix == ".json":
        content = frame.to_json(orient="records", double_precision=15)
    elif suffix == ".npz":
        arrays: dict[str, Any] = {str(name): _plain(frame[name]) for name in frame}
        archive = io.BytesIO()
        np.savez_compressed(archive, **arrays)
        content = archive.getvalue()
    else:
        content = csv_text(frame, delimiter="\t" if suffix == ".tsv" else ",")
    write_whole(path, content)


def _plain(column: "pd.Series[Any]") -> Any:
    """Return an array without Python objects, which archives of arrays do not hold."""
    values = column.to_numpy()
    return values.astype(str) if values.dtype.kind == "O" else values


def read_frame(text: str, warn: Warn) -> "pd.DataFrame":
    """Read a table whose columns have names.

    Raises
    ------
    FormatError
        If they have none.
    """
    table = read_table(text, warn=warn)
    if isinstance(table, np.ndarray):
        raise FormatError(f"{text}: expected a table with names of columns, got one without")
    return table.set_axis([str(name) for name in table.columns], axis=1)


def numbers_of(text: str, warn: Warn, *, labels: str | None = None, others: Sequence[str] = ()) -> Any:
    """Read features or probabilities: a table of numbers. ``labels``: where the labels are, which are none of them.

    ``others``: further columns, given as ``FILE::name``, that are left out if they are in the same table.
    """
    table = read_table(text, warn=warn)
    if isinstance(table, np.ndarray):
        return table
    for other in (labels, *others):
        own = given_elsewhere(text, other, list(map(str, table)), warn, of="features", called=f"given as {other}")
        table = table if own is None else table.drop(columns=own)
    words = [str(name) for name in table if table[name].dtype.kind not in "biuf"]
    if words:
        raise InputError(
            f"{text}: expected columns of numbers, got words in {', '.join(words[:6])}; pick columns, such as "
            f"{split_name(text)[0]}::a,b"
        )
    return table
