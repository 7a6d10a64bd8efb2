"""Files that commands are about to write: refused before any computing if they could not, or should not, be written."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from demele.cli.options import flag_of
from demele.core.errors import InputError
from demele.core.outputs import expect_new, why_not_writable
from demele.core.reading import real_path
from demele.files.named import split_name


def check_writable(path: Path, *, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Refuse a file that could not, or should not, be written: before an hour of computing, not after it.

    Parameters
    ----------
    path : Path
        What is to be written.
    force : bool
        Whether it may replace a file.
    inputs : sequence of Path
        What is read: never replaced.
    """
    folder = path.parent
    if path.is_dir():
        raise InputError(f"{path}: expected the name of a file to write, got a folder")
    if not folder.is_dir():
        raise InputError(f"{path}: there is no folder {folder}; make it first")
    if any(real_path(path) == real_path(item) for item in inputs):
        raise InputError(f"{path}: it is read by the same command; write to another file")
    if path.exists() and not force:
        raise InputError(f"{path}: exists already; --force replaces it")
    reason = why_not_writable(path)
    if reason is not None:
        raise InputError(f"{path}: {reason}")
    if not force:
        expect_new(path)


def check_targets(
    arguments: argparse.Namespace,
    names: Sequence[str],
    inputs: Sequence[Path] = (),
    *,
    files: Sequence[str | None] = (),
) -> list[Path]:
    """Refuse files of one command that could not all be written, and return what it reads.

    Parameters
    ----------
    arguments : Namespace
        As given, with ``force``: whether files may be replaced. A store is continued, never replaced.
    names : sequence of str
        The options that name what is written.
    inputs : sequence of Path
        What is read: never replaced.
    files : sequence of str or None
        More of it, as it was given: ``FILE::name``; None where not given.

    Raises
    ------
    InputError
    """
    read = [*inputs, *(split_name(text)[0] for text in files if text is not None)]
    paths = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    taken: dict[Path, str] = {}
    for name, path in paths.items():
        first = taken.setdefault(real_path(path), name)
        if first != name:
            raise InputError(f"{flag_of(name)}: the same file as {flag_of(first)}; write to another one")
    for name, path in paths.items():
        if name == "report" and path.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"--report: writes an HTML page; call it {path.stem}.html, not {path}")
        check_writable(path, force=arguments.force or name == "store", inputs=read)
        if name == "output" and hasattr(arguments, "report") and path.suffix.lower() in (".html", ".htm"):
            raise InputError(f"--output: writes no HTML page, which {path} is called; --report {path} does")
    return read


def check_folder(store: Path) -> None:
    """Refuse the folder of a study that could not be made.

    Raises
    ------
    InputError
    """
    if not store.exists() and not (store.parent.is_dir() and os.access(store.parent, os.W_OK)):
        raise InputError(f"--store: {store}: cannot make a folder in {store.parent}")
