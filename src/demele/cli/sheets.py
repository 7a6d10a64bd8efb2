"""The sheet that ``--blind`` writes for an expert."""

from collections.abc import Sequence
from pathlib import Path

from demele.cli.results import check_writable
from demele.core.errors import InputError
from demele.files.expert_sheets import key_path
from demele.files.sheets import check_sheet_name


def check_sheet(path: Path | None, option: str, *, force: bool, inputs: Sequence[Path] = ()) -> None:
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
