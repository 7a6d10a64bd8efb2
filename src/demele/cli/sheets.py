"""What ``--blind`` and ``--keep`` say: the columns that an expert is shown, and the sheet that is written."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from demele.cli.results import check_writable
from demele.core.errors import FormatError, InputError
from demele.core.kinds import names_in
from demele.core.reading import real_path
from demele.files.expert_sheets import key_path
from demele.files.named import read_table, split_name
from demele.files.sheets import check_sheet_name
from demele.files.table_files import Warn, quoted_name

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from demele.files.prediction_sets import PredictionSet


def check_sheet(path: "Path | None", option: str, *, force: bool, inputs: "Sequence[Path]" = ()) -> None:
    """Refuse a sheet that could not be written, or whose key could not be.

    Raises
    ------
    InputError, MissingExtraError
    """
    if path is None:
        raise InputError(
            f"{option}: --blind writes a sheet and a key next to it; name the sheet, such as {option} sheet.csv"
        )
    check_sheet_name(path, option)
    check_writable(key_path(path), force=force, inputs=inputs)


def kept_columns(
    sheet: bool,
    labels: str,
    n: int,
    warn: Warn,
    hidden: Sequence[str | None],
    logs: "PredictionSet | None",
    *,
    keep: str | None = None,
) -> "pd.DataFrame | None":
    """Read the columns that the expert is shown, None if no sheet is written; none of ``hidden`` may be among them.

    Parameters
    ----------
    sheet : bool
        Whether a sheet is written.
    labels : str
        Where the labels are, as given.
    n : int
        Rows of the test set.
    warn : callable
        Called with one line for anything that was guessed.
    hidden : sequence of str or None
        Labels and predictions, as given.
    logs : PredictionSet or None
        What was read of logs: their fields are the columns, by default the question and its choices.
    keep : str, optional
        Columns to show to the expert: A,B of LABELS or FILE::A,B.

    Raises
    ------
    InputError
        If a column is one of these, or the table has other rows.
    FormatError
        If its columns have no names.
    """
    import pandas as pd

    if not sheet:
        if keep is not None:
            raise InputError("--keep: says what the sheet of --blind shows to the expert; add --blind")
        return None
    if logs is not None and logs.fields and "::" not in (keep or ""):
        return _kept_fields(keep, logs)
    if keep is None:
        return pd.DataFrame(index=range(n))
    own = split_name(labels)[0]
    text = keep if "::" in keep else f"{own}::{keep}"
    path, names = split_name(text)
    for other in hidden:
        file, columns = split_name(other) if other is not None else (None, ())
        shown = [name for name in names if name in columns]
        if file is not None and shown and real_path(file) == real_path(path):
            raise InputError(
                f"--keep: {shown[0]} holds labels or predictions, which an expert must not see before the answer"
            )
    table = read_table(text, warn=warn)
    if isinstance(table, np.ndarray):
        raise FormatError(f"--keep: {path} has no names of columns; give them as FILE::{quoted_name(names[0])}")
    if len(table) != n:
        raise InputError(f"--keep: expected {n} rows in {path}, as many as LABELS, got {len(table)}")
    return table


def _kept_fields(keep: str | None, logs: "PredictionSet") -> "pd.DataFrame":
    """Return fields of logs that the expert is shown; none may hold the right answers."""
    import pandas as pd

    default = [name for name in ("question", "choices") if any(fields.get(name) for fields in logs.fields)]
    names = default if keep is None else names_in(keep)
    targets = list(zip(logs.labels.tolist(), logs.values_of("target"), strict=True))
    columns = {name: logs.values_of(name) for name in names}
    for name, values in columns.items():
        if all(str(value) in map(str, known) for value, known in zip(values, targets, strict=True)):
            raise InputError(f"--keep: {name} holds the right answers, which an expert must not see before the answer")
    return pd.DataFrame(columns)
