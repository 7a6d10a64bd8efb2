"""Codes and factors as every command on representations reads them."""

from collections.abc import Mapping, Sequence
from glob import glob
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.cli.engine import Given
from demele.core.errors import InputError
from demele.core.reading import real_path
from demele.files.named import holds_sparse, read_sparse, read_table, split_name, without_row_numbers
from demele.files.table_files import Warn
from demele.scoring import pieces

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from demele.outofcore.tables import ParquetTable


def read_or_scan(text: str, *, warn: Warn) -> "NDArray[Any] | pd.DataFrame | ParquetTable":
    """Read codes or factors, or only name them if they are read a piece at a time.

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

        scanned = scan_parquet(path, names or None)
        if path.is_dir() or scanned.n * len(scanned.names) * 8 > pieces.LARGEST_MAPPED:
            return scanned
    table = read_table(text, warn=warn)
    return table if names or isinstance(table, np.ndarray) else without_row_numbers(table, path, warn)


def read_codes_and_factors(given: Given, codes: Sequence[str], factors: str) -> tuple[list[Any], Any]:
    """Read codes of one or several representations, and the factors of the same rows."""
    for text in codes:
        _warn_of_shared_columns(text, factors, given.warn)
    read = [read_sparse(text) if holds_sparse(text) else read_or_scan(text, warn=given.warn) for text in codes]
    return read, read_or_scan(factors, warn=given.warn)


def _warn_of_shared_columns(codes: str, factors: str, warn: Warn) -> None:
    """Tell that codes are scored against themselves: a slip that gives the best of scores."""
    (codes_file, codes_names), (factors_file, factors_names) = split_name(codes), split_name(factors)
    if real_path(codes_file) != real_path(factors_file):
        return
    both = codes_names and factors_names
    shared = [name for name in codes_names if name in factors_names] if both else codes_names or factors_names or ("",)
    if shared:
        named = ", ".join(shared) or "all of it"
        warn(f"{codes_file}: {named} given as CODES and as FACTORS: scored against itself")


def names_of(files: Sequence[str], asked: Sequence[str] | None = None) -> list[str]:
    """Return what to call representations: the stems of their files, with so many folders that no two are equal.

    Raises
    ------
    InputError
        If a file is given twice, or the names are not as many as the files, or one is there twice.

    Examples
    --------
    >>> names_of(["old.npy", "new.npy"]), names_of(["run1/codes.npy", "run2/codes.npy"])
    (['old', 'new'], ['run1/codes', 'run2/codes'])
    >>> names_of(["all.csv::a,b", "all.csv::c,d"])
    ['all::a,b', 'all::c,d']
    """
    twice = next((file for place, file in enumerate(files) if file in files[:place]), None)
    if twice is not None:
        raise InputError(f"{twice}: given twice; each file is one representation")
    if asked is not None:
        if len(asked) != len(files) or len(set(asked)) < len(asked):
            raise InputError(f"--names: expected {len(files)} different names, got {','.join(asked)}")
        return list(asked)
    paths = [split_name(file)[0] for file in files]
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join((*path.parts[-depth:-1], path.stem)) for path in paths]
        if len(set(names)) == len(names):
            return names
    names = [f"{path.stem}{file.removeprefix(str(path))}" for path, file in zip(paths, files, strict=True)]
    return names if len(set(names)) == len(names) else list(files)


def files_of(runs: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the files of the runs of each model.

    Raises
    ------
    InputError
        If a pattern names no file.
    """
    found: dict[str, list[str]] = {}
    for model, patterns in runs.items():
        found[model] = [file for pattern in patterns for file in (sorted(glob(pattern)) or [pattern])]
        lacking = [file for file in found[model] if not split_name(file)[0].exists()]
        if lacking:
            raise InputError(f"--runs: {model}: no file matches {lacking[0]}")
    return found
