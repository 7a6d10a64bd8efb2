"""Files of codes and factors: read whole, or only named where they are read a piece at a time."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from demele.cli.output import log
from demele.core.reading import real_path
from demele.files.named import read_table, split_name
from demele.files.table_files import Warn

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from demele.outofcore.tables import ParquetTable


#: Fewer rows may well hold 0, 1, 2, ... by themselves.
_ROWS_THAT_COUNT = 20

#: Options of scores: numbers of draws.
DRAWN = ("n_repeats", "n_bootstrap", "n_permutations")


def reader(*, quiet: bool) -> Callable[[str], Any]:
    """Return what reads files and says each warning once, also where several arguments name columns of one file."""
    warned: set[tuple[Path, str]] = set()

    def read(text: str) -> object:
        path = split_name(text)[0]

        def warn(line: str) -> None:
            key = (real_path(path), line.removeprefix(str(path)))
            if key not in warned and not quiet:
                warned.add(key)
                log(f"demele: warning: {line}")

        return read_or_scan(text, warn=warn)

    return read


def read_or_scan(text: str, *, warn: Warn) -> "NDArray[Any] | pd.DataFrame | ParquetTable":
    """Read codes or factors, or only name them where they are for reading a piece at a time.

    Parameters
    ----------
    text : str
        As for :func:`read_table`; also ``FOLDER`` and ``FOLDER::a,b``: all Parquet files in a folder.
    warn : callable
        Called with one line for anything that was guessed.

    Returns
    -------
    array, DataFrame or ParquetTable
        The last for folders, and for Parquet files whose columns would take more than 4 GiB.

    Raises
    ------
    FormatError, UnknownNameError, OSError
        As :func:`read_table`.
    """
    path, names = split_name(text)
    if path.is_dir() or (path.suffix.lower() == ".parquet" and path.exists()):
        from demele.outofcore.tables import scan_parquet
        from demele.scoring.pieces import LARGEST_MAPPED

        scanned = scan_parquet(path, names or None)
        if path.is_dir() or scanned.n * len(scanned.names) * 8 > LARGEST_MAPPED:
            return scanned
    table = read_table(text, warn=warn)
    if names or not hasattr(table, "columns"):
        return table
    return without_row_numbers(cast("pd.DataFrame", table), path, warn)


def without_row_numbers(frame: "pd.DataFrame", path: Path, warn: Warn) -> "pd.DataFrame":
    """Leave out columns that count the rows, unless they are asked for or all there is: they are no code or factor."""
    whole = frame.select_dtypes("integer") if len(frame) >= _ROWS_THAT_COUNT else frame.iloc[:, :0]
    counting = [name for name in whole if (whole[name].diff().iloc[1:] == 1).all()]
    if len(counting) == frame.shape[1]:
        return frame
    for name in counting:
        first, second = frame[name].iloc[:2]
        warn(
            f"{path}: column {name} numbers the rows ({first}, {second}, ...); it was left out, rows are paired by "
            f"position; if it is a code or a factor, name the columns, such as {path}::{name},..."
        )
    return frame.drop(columns=counting)


def warn_of_shared_columns(codes: str, factors: str) -> None:
    """Tell that codes are scored against themselves: a slip that gives the best of scores."""
    (codes_file, codes_names), (factors_file, factors_names) = split_name(codes), split_name(factors)
    if real_path(codes_file) != real_path(factors_file):
        return
    if codes_names and factors_names:
        shared = [name for name in codes_names if name in factors_names]
    else:
        shared = list(codes_names or factors_names or ("all of it",))
    if shared:
        log(f"demele: warning: {codes_file}: {', '.join(shared)} given as CODES and as FACTORS: scored against itself")
