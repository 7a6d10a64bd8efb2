"""Results of a long run on disk: appended as they come, so that a run killed at any moment loses nothing finished."""

import base64
import contextlib
import json
import os
import stat
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import DemeleError, FormatError, InputError, failing, quoted, shortened
from demele.core.reading import check_nesting, parsed_json, parsing, read_whole

# One writer at a time: locks of the system, which end with the process, however that ends -----------------------------


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
    with failing(f"{argument}: cannot write {path}"):
        file = os.open(beside, os.O_RDWR | os.O_CREAT, 0o666)
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


#: What a record is about; text and whole numbers only, so that it reads back as it was.
Key = tuple[str | int, ...]

_FORMAT = {"format": "demele-rows", "format_version": 1}
#: Stores that this process writes to, by their ids; a weak list, which keeps none of them alive.
_OPEN: "weakref.WeakValueDictionary[int, Store]" = weakref.WeakValueDictionary()


class Store(Mapping[Key, dict[str, Any]]):
    """Records by key, in memory or in a file that only grows.

    The file is text: a first line says what the run is (its identity), and every other line is one record. Lines are
    appended in one piece. What a kill leaves of a last line is cut off when the store is opened again, so a record is
    either there or is computed again, never half there.

    Parameters
    ----------
    path : Path or None
        The file, made if it does not exist; None keeps records in memory.
    identity : mapping of str to str or int
        What all records have in common: version, settings. A file with another identity is refused.

    Raises
    ------
    OutputError
        If the file cannot be written.
    InputError
        If it is used by another run, or has another identity.
    FormatError
        If the file is something else, or was changed. Nothing is written to it then.

    Examples
    --------
    >>> with Store(None, {"demele": "0.1.0"}) as store:
    ...     store.append([(("noise", 3), {"value": 0.5})])
    ...     store[("noise", 3)]["value"]
    0.5
    """

    def __init__(self, path: Path | None, identity: Mapping[str, str | int]) -> None:
        self.path = path
        self._records: dict[Key, dict[str, Any]] = {}
        self._file: int | None = None
        self._closed = False
        if path is None:
            return
        with failing(f"store: cannot write {path}"), ExitStack() as undo:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            undo.callback(os.close, file)
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise InputError("store", f"{path} is not a file; give the path of one")
            lock(file, "store", path)
            found, self._records, whole = _parsed(path, path.read_bytes())
            if whole:
                for what in {**identity, **found}:
                    made, now = found.get(what), identity.get(what)
                    if made != now:
                        said = f"`{shortened(what, 40)}` = {shortened(str(made), 40)}, this run has {now}"
                        raise InputError("store", f"{path} was made with {said}; use the same, or another file")
            os.ftruncate(file, whole)
            if not whole:
                _write(file, _line({**_FORMAT, **identity}))
            undo.pop_all()
        self._file = file
        _OPEN[id(self)] = self

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getitem__(self, key: Key) -> dict[str, Any]:
        return self._records[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def append(self, records: Iterable[tuple[Key, dict[str, Any]]]) -> None:
        """Add finished records, all or none; they are written when this returns, whatever the process does after.

        Raises
        ------
        ValueError
            If a key is there already (nothing is computed twice), a number is not finite, or the store was closed.
        TypeError
            If something is not a number, text, None, or a list or dictionary of such.
        OutputError
            If the disk is full. What was stored before stays.
        """
        if self._closed:
            raise ValueError("the store was closed, or belongs to the process that this one was forked from")
        new: dict[Key, dict[str, Any]] = {}
        text = ""
        for key, record in records:
            if key in self._records or key in new:
                raise ValueError(f"a record of {key} is stored already")
            if "key" in record or not all(isinstance(item, str | int) for item in key):
                raise ValueError(f"a key is text and whole numbers, and no field of a record, got {key!r}: {record!r}")
            try:
                text += _line({"key": list(key), **record})
            except ValueError as error:
                raise ValueError(f"the record of {key} cannot be stored ({error}): {record!r}") from error
            new[key] = record
        if self._file is not None:
            before = os.fstat(self._file).st_size
            with failing(f"store: cannot write {self.path}"):
                try:
                    _write(self._file, text)
                except OSError:
                    os.ftruncate(self._file, before)  # half a line must not end up in the middle
                    raise
        self._records |= new

    def close(self) -> None:
        """Let go of the file; nothing can be added after."""
        self._closed = True
        if self._file is not None:
            os.close(self._file)
            self._file = None

    @staticmethod
    def read(path: Path) -> tuple[dict[str, Any], dict[Key, dict[str, Any]]]:
        """Return identity and records of a file, without changing it.

        Raises
        ------
        FormatError
            If it is not a store.
        """
        with failing(f"store: cannot read {path}", kind=InputError):
            identity, records, whole = _parsed(path, read_whole(path))
        if not whole:
            raise FormatError("store", f"{path} is empty")
        return identity, records


@contextmanager
def reading_record(key: Key) -> Iterator[None]:
    """Say which record is not what it should be; within, what is stored is taken apart, and nothing computed."""
    what = f"store: the record of {quoted(key)} does not hold what it should; the file was changed after it was written"
    with parsing(what):
        try:
            yield
        except DemeleError as error:
            raise FormatError(f"{what} ({error})") from error


def packed_classes(coded: NDArray[Any]) -> str:
    """Write class indices as text, for a record.

    Examples
    --------
    >>> unpacked_classes(packed_classes(np.array([3, 0, 1])), 3)
    array([3, 0, 1], dtype=int32)
    """
    return base64.b64encode(zlib.compress(coded.astype("<i4").tobytes(), 9)).decode("ascii")


def unpacked_classes(text: str, n: int) -> NDArray[np.int32]:
    """Read n class indices that :func:`packed_classes` wrote; no more is unpacked than they take.

    Raises
    ------
    ValueError
        For other text, or another number of them.
    """
    held = zlib.decompressobj().decompress(base64.b64decode(text, validate=True), 4 * n + 1)
    if len(held) != 4 * n:
        raise ValueError(f"expected {n} classes")
    return np.frombuffer(held, dtype="<i4").astype(np.int32)


def _let_go() -> None:
    # A worker that was forked holds the file too, and so the lock: a run that was killed could not be resumed while
    # its workers live.
    for store in list(_OPEN.values()):
        store.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def _line(content: Mapping[str, Any]) -> str:
    # repr of a float, which json writes, reads back to the same bits
    return json.dumps(content, allow_nan=False, separators=(",", ":")) + "\n"


def _write(file: int, text: str) -> None:
    left = memoryview(text.encode())
    while left:
        left = left[os.write(file, left) :]


def _parsed(path: Path, content: bytes) -> tuple[dict[str, Any], dict[Key, dict[str, Any]], int]:
    """Return identity, records, and the length up to the last whole line: 0 of a new file."""
    whole = content.rfind(b"\n") + 1
    begun = _line(_FORMAT)[:-2].encode()
    if not whole and content[: len(begun)] == begun[: len(content)]:
        return {}, {}, 0  # a kill can leave the beginning of our own first line, and nothing else that is overwritten
    check_nesting(f"store: {path}", content)
    identity: dict[str, Any] = {}
    records: dict[Key, dict[str, Any]] = {}
    for number, line in enumerate(content[:whole].split(b"\n")[:-1] or [b""], start=1):
        try:
            with parsing("line"):
                found = parsed_json(line)
        except FormatError:  # below it is said where the line is
            found = None
        if number == 1:
            if not isinstance(found, dict) or found.pop("format", None) != _FORMAT["format"]:
                raise FormatError("store", f"{path} is not a store of rows; nothing was changed in it")
            version, identity = found.pop("format_version", None), found
            if version != _FORMAT["format_version"]:
                raise InputError(
                    "store",
                    f"{path} has format version {quoted(version)}, this demele writes {_FORMAT['format_version']}; use "
                    f"the demele that made it ({shortened(str(found.get('demele')), 40)}), or give another file",
                )
            continue
        parts = found.pop("key", None) if isinstance(found, dict) else None
        is_key = isinstance(parts, list) and all(isinstance(item, str | int) for item in parts)
        key = tuple(parts or ()) if is_key else None
        if key is None or key in records:
            wrong = "not a record" if key is None else f"a second record of {quoted(key)}"
            raise FormatError("store", f"{path}, line {number}: {wrong}; the file was changed after it was written")
        records[key] = found
    return identity, records, whole
