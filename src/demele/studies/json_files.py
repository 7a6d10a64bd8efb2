"""Files of studies as JSON: read whole or line by line, and refused if they are something else."""

from pathlib import Path
from typing import Any

from demele.core.errors import FormatError, InputError, quoted, shortened
from demele.core.reading import check_nesting, parsed_json, parsing, read_whole

__all__ = ["check_format", "json_lines"]


def json_lines(path: Path, what: str, *, whole: bool = False) -> list[Any]:
    """Return what a file of JSON holds, whole or line by line.

    Parameters
    ----------
    path : Path
    what : str
        What it should hold: "a study of demele".
    whole : bool

    Raises
    ------
    InputError, FormatError
        If it cannot be read, or is no JSON.
    """
    try:
        content = read_whole(path)
    except OSError as error:
        raise InputError("study", f"cannot read {path}: {error.strerror or error}") from error
    check_nesting(str(path), content)
    with parsing(f"{path}: not {what}"):
        return [parsed_json(part) for part in ([content] if whole else content.splitlines())]


def check_format(content: Any, path: Path, what: str, expected: tuple[str, int]) -> None:
    """Refuse what does not begin as a file of a format does.

    Raises
    ------
    FormatError
        If it is something else.
    InputError
        If it is of another version, with the demele that made it.
    """
    name, version = expected
    if not isinstance(content, dict) or content.get("format") != name:
        raise FormatError(f"{path}: not {what}")
    if content.get("format_version") != version:
        raise InputError(
            f"{path} has format version {quoted(content.get('format_version'))}, this demele reads {version}; "
            f"use the demele that made it ({shortened(str(content.get('demele')), 40)})"
        )
