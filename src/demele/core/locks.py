"""One writer at a time: locks of the system, which end with the process, however that ends."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from demele.core.errors import InputError, OutputError


def lock(file: int, argument: str, path: Path) -> None:
    """Take an open file for this process, where the system has locks that a kill releases.

    Raises
    ------
    InputError
        If another process has it.
    """
    try:
        import fcntl
    except ImportError:  # not a POSIX system: no lock that a kill would release
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InputError(argument, f"another run is writing to {path}; wait for it, or give another file") from error
    except OSError:  # a file system without locks
        return


@contextlib.contextmanager
def locked(path: Path, argument: str) -> Iterator[None]:
    """Hold a lock on a file that is replaced as a whole, through an empty file ``.NAME.lock`` next to it.

    The empty file goes when this ends; one that a kill leaves behind locks nothing.

    Raises
    ------
    InputError
        If another process writes to the file.
    OutputError
        If its folder cannot be written to.
    """
    beside = path.with_name(f".{path.name}.lock")
    try:
        file = os.open(beside, os.O_RDWR | os.O_CREAT, 0o666)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        raise OutputError(f"{argument}: cannot write {path}: {getattr(error, 'strerror', None) or error}") from error
    try:
        lock(file, argument, path)
        if not _is_still(beside, file):  # removed by who held it, between our opening and our locking
            raise InputError(argument, f"another run has just written to {path}; try again")
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                beside.unlink()
    finally:
        os.close(file)


def _is_still(path: Path, file: int) -> bool:
    """Whether a name still stands for an open file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file))
    except OSError:
        return False
