"""The folder of a study, and the file that it is packed into."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

from demele.core.errors import FormatError, InputError, OutputError, quoted, shortened
from demele.core.kinds import Kind
from demele.core.reading import check_nesting, parsed_json, parsing, path_of, read_whole
from demele.core.store import Key, Store
from demele.runtime.sweep import Record, Sweep

#: The rows of a study, in its folder.
ROWS = "rows.jsonl"


#: The folder that keeps a study.
StudyFolder = Annotated[str | Path | None, Kind("FOLDER", Path)]


@contextmanager
def study_folder(store: Any, identity: Mapping[str, str | int], **how: Any) -> Iterator[tuple[Path, Sweep]]:
    """Yield the folder that a study works in, made if need be or gone afterwards, and the sweep that writes its rows.

    Parameters
    ----------
    store : str, Path or None
    identity : mapping
        What all rows have in common.
    **how
        Options of :class:`demele.runtime.sweep.Sweep`.

    Raises
    ------
    InputError, InputTypeError
        If something else is there.
    OutputError
    """
    with ExitStack() as stack:
        if store is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="demele-study-")))
            yield folder, stack.enter_context(Sweep(identity, **how))
            return
        folder = path_of(store, "store")
        if folder.exists() and not folder.is_dir():
            raise InputError("store", f"{folder}: expected a folder, got a file")
        if folder.is_dir() and any(folder.iterdir()) and not (folder / ROWS).exists():
            raise InputError("store", f"{folder} holds other files; give a new folder, or that of a study")
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError("store", f"cannot make {folder}: {error.strerror or error}") from error
        yield folder, stack.enter_context(Sweep(identity, store=folder / ROWS, **how))


def packed(about: Mapping[str, Any], records: Mapping[Key, Record]) -> str:
    """Return a study as text: a line about it, then one for each record, in the order of their keys."""
    lines = [about, *([list(key), records[key]] for key in sorted(records, key=lambda key: [*map(str, key)]))]
    return "".join(json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n" for line in lines)


def opened(path: Path, what: str, file: str, hint: str = "") -> tuple[Any, Mapping[Key, Record]]:
    """Return what a folder, or a packed file, says of a study, and its records.

    Parameters
    ----------
    path : Path
    what : str
        What it should hold: "a study of demele".
    file : str
        File of the folder that says what the study is.
    hint : str

    Raises
    ------
    InputError, FormatError
        If there is none, it cannot be read, or is no JSON.
    """
    if path.is_dir():
        if not (path / file).exists() or not (path / ROWS).exists():
            raise InputError("study", f"{path}: expected the folder of {what}, which holds {file} and {ROWS}", hint)
        return json_of(path / file, what), Store.read(path / ROWS)[1]
    lines = _content(path, what).splitlines()
    with parsing(f"{path}: not {what}"):
        about, *rest = map(parsed_json, lines or [b"null"])
        return about, {tuple(key): dict(record) for key, record in rest}


def json_of(path: Path, what: str) -> Any:
    """Return what a file of JSON holds.

    Raises
    ------
    InputError, FormatError
        If it cannot be read, or is no JSON.
    """
    content = _content(path, what)
    with parsing(f"{path}: not {what}"):
        return parsed_json(content)


def _content(path: Path, what: str) -> bytes:
    try:
        content = read_whole(path)
    except OSError as error:
        raise InputError("study", f"cannot read {path}: {error.strerror or error}") from error
    check_nesting(str(path), content)
    return content


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
