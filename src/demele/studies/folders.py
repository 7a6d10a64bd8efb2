"""The folder of a study."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from demele.core.errors import InputError, OutputError
from demele.core.reading import path_of

__all__ = ["working_folder"]


@contextmanager
def working_folder(store: Any, rows: str, *, prefix: str) -> Iterator[Path]:
    """Yield the folder that a study works in: the one that keeps it, made if need be, or one that is gone afterwards.

    Parameters
    ----------
    store : str, Path or None
    rows : str
        Name of the file of its rows: a folder that holds other files and not this one is of something else.
    prefix : str
        Prefix of the name of a folder that is gone afterwards.

    Raises
    ------
    InputError, InputTypeError
        If something else is there.
    OutputError
    """
    if store is None:
        with tempfile.TemporaryDirectory(prefix=prefix) as temporary:
            yield Path(temporary)
        return
    folder = path_of(store, "store")
    if folder.exists() and not folder.is_dir():
        raise InputError("store", f"{folder}: expected a folder, got a file")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / rows).exists():
        raise InputError("store", f"{folder} holds other files; give a new folder, or that of a study")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"store: cannot make {folder}: {error.strerror or error}") from error
    yield folder
