"""The folder of a study."""

from pathlib import Path

from demele.core.errors import InputError, OutputError

__all__ = ["study_folder"]


def study_folder(folder: Path, rows: str) -> Path:
    """Return the folder of a study, made if it is not there.

    Parameters
    ----------
    folder : Path
    rows : str
        Name of the file of its rows: a folder that holds other files and not this one is of something else.

    Raises
    ------
    InputError
        If something else is there.
    OutputError
    """
    if folder.exists() and not folder.is_dir():
        raise InputError("store", f"{folder}: expected a folder, got a file")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / rows).exists():
        raise InputError("store", f"{folder} holds other files; give a new folder, or that of a study")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"store: cannot make {folder}: {error.strerror or error}") from error
    return folder
