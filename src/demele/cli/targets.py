"""Files that commands are about to write: refused before any computing if they could not, or should not, be written."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from demele.core.errors import InputError
from demele.core.outputs import expect_new, why_not_writable
from demele.core.reading import real_path

__all__ = ["check_targets", "check_writable"]


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


def check_targets(targets: Mapping[str, Path | None], *, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Refuse files of one command that could not all be written; ``targets`` by option, None where not given.

    A store is continued, never replaced.
    """
    taken: dict[Path, str] = {}
    for option, path in targets.items():
        if path is None:
            continue
        first = taken.setdefault(real_path(path), option)
        if first != option:
            raise InputError(f"{option}: the same file as {first}; write to another one")
        check_writable(path, force=force or option == "--store", inputs=inputs)
