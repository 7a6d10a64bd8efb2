"""Files are written next to their place and then renamed: the place always holds a whole file, old or new."""

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from demele.core.errors import OutputError, failing
from demele.core.reading import path_of, size_text

#: Longest name, in bytes, that is repeated in the name of the temporary file: file systems allow 255 in all.
_LONGEST = 200
#: As many links are followed as systems do.
_MOST_LINKS = 40

#: Files that were not there when a command began and must not be replaced when it ends; None outside of a command.
_EXPECTED_NEW: "ContextVar[set[Path] | None]" = ContextVar("expected_new", default=None)


def write_whole(path: str | Path, content: bytes | str, *, replace: bool = True) -> Path:
    r"""Write a file so that a kill or a full disk leaves the old one or the new one, never a part of either.

    The content goes to ``.NAME.tmp-xxxxxxxx`` in the same folder, then to the disk, then takes the name. What ends the
    process before leaves that file behind, which may be deleted; an exception removes it.

    Parameters
    ----------
    path : str or Path
        The file. Through a link, the file that it points to is replaced. Its permissions and, where that is allowed,
        its owner stay. Pipes, devices and streams such as ``/dev/stdout`` are written to as they are.
    content : bytes or str
        Text is written as UTF-8, as it is: ends of lines are not translated.
    replace : bool
        False never replaces a file, not even one that was made while the content was computed.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    OutputError
        If it cannot be written. A file that was there is untouched.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(f"{folder}/scores.csv", "metric,value\n").read_text()
    'metric,value\n'
    """
    path = path_of(path)
    try:
        data = content.encode("utf-8") if isinstance(content, str) else content
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise OutputError(f"cannot write {path}: {half!r} cannot be encoded as UTF-8") from error
    with failing(f"cannot write {path}"):
        target = _target(path)
        if _is_stream(target, _status(target)):
            target.write_bytes(data)
            return path
    with writing_whole(path, replace=replace) as whole:
        whole.write(data)
    return path


class WholeFile:
    """A file that is being written, and has no name yet; :func:`writing_whole` opens it."""

    def __init__(self, path: Path, file: BinaryIO, untouched: str) -> None:
        self._path, self._file, self._untouched = path, file, untouched

    def write(self, content: "bytes | memoryview", at: int | None = None) -> int:
        """Write bytes behind those that were written last, or from byte ``at`` on, and return how many they are.

        Raises
        ------
        OutputError
            If the disk is full, or the file may not grow.
        """
        with failing(f"cannot write {self._path}", self._untouched):
            if at is not None:
                self._file.seek(at)
            return self._file.write(content)

    def flush(self) -> None:
        """Do nothing, where archives ask for it: the block that writes the file ends with it."""


@contextlib.contextmanager
def writing_whole(path: str | Path, *, replace: bool = True) -> Iterator[WholeFile]:
    """Write a file as :func:`write_whole` does, whose content does not fit into memory.

    It takes its name when the block ends; an exception in the block removes what was written.

    Parameters
    ----------
    path : str or Path
        As for :func:`write_whole`, but no pipe, device or stream.
    replace : bool
        As for :func:`write_whole`.

    Yields
    ------
    WholeFile

    Raises
    ------
    OutputError
        As :func:`write_whole`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with writing_whole(f"{folder}/images.npy") as whole:
    ...         whole.write(b"second", at=5)
    ...         whole.write(b"first", at=0)
    ...     Path(f"{folder}/images.npy").read_text()
    6
    5
    'firstsecond'
    """
    path = path_of(path)
    with failing(f"cannot write {path}"):
        target = _target(path)
        held = _status(target)
        untouched = "; the file that was there is untouched" if held is not None else ""
        if held is not None and stat.S_ISDIR(held.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if _is_stream(target, held):
            raise OSError(errno.ESPIPE, "it is no file, and what is written is too large for a pipe or device")
    expected, place = _EXPECTED_NEW.get(), Path(os.path.realpath(target))
    if expected and (place in expected or not expected.isdisjoint(place.parents)):
        replace = False
    with failing(f"cannot write {path}", untouched):
        if held is not None and replace and not os.access(target, os.W_OK):  # a rename would not ask
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    name = os.fsdecode(os.fsencode(target.name)[:_LONGEST])
    temporary = target.with_name(f".{name}.tmp-{os.urandom(4).hex()}")
    with _removed_on_failure(temporary):
        with failing(f"cannot write {path}", untouched):
            file = _opened(temporary, held)
        try:
            yield WholeFile(path, file, untouched)
            with failing(f"cannot write {path}", untouched):
                file.flush()
                os.fsync(file.fileno())
                file.close()
        finally:
            with contextlib.suppress(OSError):  # closed, but for a failure that is told
                file.close()
        with failing(f"cannot write {path}", untouched):
            _named(path, temporary, target, replace=replace)
    with contextlib.suppress(OSError):
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def check_room(path: str | Path, size: int) -> None:
    """Refuse to begin a file that takes more bytes than its disk has left.

    Raises
    ------
    OutputError
        Also if there is no folder to write to.
    """
    path = path_of(path)
    with failing(f"cannot write {path}"):
        free = shutil.disk_usage(path.parent).free
    if free < size:
        raise OutputError(f"cannot write {path}: it takes {size_text(size)}, and the disk has {size_text(free)} left")


@contextlib.contextmanager
def _removed_on_failure(temporary: Path) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if not isinstance(error, OutputError) or error.errno != errno.EEXIST:  # hours of work may be in it
            with contextlib.suppress(OSError):  # what went wrong first is what is told
                temporary.unlink()
        raise


@contextlib.contextmanager
def new_files() -> Iterator[None]:
    """Hold a command to what it found: files named by :func:`expect_new` are not replaced until this ends."""
    token = _EXPECTED_NEW.set(set())
    try:
        yield
    finally:
        _EXPECTED_NEW.reset(token)


def expect_new(path: Path) -> None:
    """Note that a file, or a folder and all files in it, must not be replaced by this command."""
    expected = _EXPECTED_NEW.get()
    if expected is not None:
        expected.add(Path(os.path.realpath(path)))


def why_not_writable(path: Path) -> str | None:
    """Return the reason why a file cannot be written, None if there is none; for a check before long work.

    A new file in the same folder replaces it, so its folder must be writable, too.
    """
    try:
        target = _target(path)
        held = _status(target)
    except OSError as error:
        return error.strerror or str(error)
    if held is not None and not os.access(target, os.W_OK):
        return "no permission to write there"
    if _is_stream(target, held):
        return None
    folder = target.parent
    if not folder.is_dir():
        return f"there is no folder {folder}; make it first"
    if not os.access(folder, os.W_OK):
        return f"no permission to write in its folder {folder}"
    if held is not None and _is_of_others(held.st_uid, folder):
        return f"it is another user's file, which cannot be replaced in {folder}"
    return None


def _is_of_others(owner: int, folder: Path) -> bool:
    """Whether a file must not be replaced though its folder is writable: in folders such as /tmp, owners may only."""
    if not hasattr(os, "geteuid"):
        return False
    about = folder.stat()
    return bool(about.st_mode & stat.S_ISVTX) and os.geteuid() not in (0, owner, about.st_uid)


def _target(path: Path) -> Path:
    """Return the file that a name stands for: links are followed, but for those that stand for open streams."""
    for _ in range(_MOST_LINKS):
        if _in_streams(path) or not path.is_symlink():
            return path
        path = path.parent / os.readlink(path)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _in_streams(path: Path) -> bool:
    folder = os.path.realpath(path.parent)
    return folder == "/dev/fd" or folder.startswith("/proc/")


def _status(target: Path) -> os.stat_result | None:
    try:
        return target.stat()
    except FileNotFoundError:
        return None


def _is_stream(target: Path, held: os.stat_result | None) -> bool:
    return held is not None and (_in_streams(target) or not stat.S_ISREG(held.st_mode))


def _opened(temporary: Path, held: os.stat_result | None) -> BinaryIO:
    """Open the new file, with the permissions and the owner of the one that it will replace."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(temporary, flags, 0o666), "w+b")
    try:
        if held is not None and hasattr(os, "fchmod"):
            if (held.st_uid, held.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(OSError):  # only a superuser may give files away
                    os.fchown(file.fileno(), held.st_uid, held.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(held.st_mode) & 0o777)
    except BaseException:
        file.close()
        raise
    return file


def _named(path: Path, temporary: Path, target: Path, *, replace: bool) -> None:
    """Give the new file its name; if another file took it, both stay."""
    try:
        if replace:
            os.replace(temporary, target)
            return
        try:
            os.link(temporary, target)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links: the name is taken first
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            os.replace(temporary, target)
        else:
            temporary.unlink()
    except FileExistsError as error:
        made = "a file of that name was made meanwhile; it is untouched"
        kept = OutputError(f"cannot write {path}: {made}, and the new content is in {temporary}")
        kept.errno = error.errno
        raise kept from error
