"""Results of a long run on disk: appended as they come, so that a run killed at any moment loses nothing finished."""

import json
import os
import stat
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from demele.core.errors import DemeleError, FormatError, InputError, OutputError, quoted, shortened
from demele.core.locks import lock
from demele.core.reading import check_nesting, parsing, read_whole
from demele.core.sentences import arg

#: What a record is about; text and whole numbers only, so that it reads back as it was.
Key = tuple[str | int, ...]

_FORMAT = "demele-rows"
_FORMAT_VERSION = 1


class Store:
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
        self.identity = dict(identity)
        self._records: dict[Key, dict[str, Any]] = {}
        self._file: int | None = None
        self._closed = False
        if path is not None:
            self._open(path)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __contains__(self, key: Key) -> bool:
        return key in self._records

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
        lines = []
        for key, record in records:
            if key in self._records or key in new:
                raise ValueError(f"a record of {key} is stored already")
            lines.append(_record_line(key, record))
            new[key] = record
        if self._file is not None:
            before = os.fstat(self._file).st_size
            try:
                _write(self._file, "".join(lines))
            except OSError as error:
                os.ftruncate(self._file, before)  # half a line must not end up in the middle
                raise OutputError(f"store: cannot write {self.path}: {error.strerror or error}") from error
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
        try:
            content = read_whole(path)
        except OSError as error:
            raise InputError("store", f"cannot read {path}: {error.strerror or error}") from error
        identity, records, _ = _parsed(path, content)
        if identity is None:
            raise FormatError("store", f"{path} is empty")
        return identity, records

    def _open(self, path: Path) -> None:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except (OSError, ValueError) as error:  # ValueError: a null byte in the name
            raise OutputError(f"store: cannot write {path}: {getattr(error, 'strerror', None) or error}") from error
        try:
            _regular(file, path)
            lock(file, "store", path)
            identity, self._records, whole = _parsed(path, path.read_bytes())
            if identity is None:
                os.ftruncate(file, 0)
                first = {"format": _FORMAT, "format_version": _FORMAT_VERSION, **self.identity}
                _write(file, _line(first))
            else:
                self._same(path, identity)
                os.ftruncate(file, whole)
        except OSError as error:
            os.close(file)
            raise OutputError(f"store: cannot write {path}: {error.strerror or error}") from error
        except BaseException:
            os.close(file)
            raise
        self._file = file
        _OPEN.add(self)

    def _same(self, path: Path, identity: Mapping[str, Any]) -> None:
        given = {what: value for what, value in identity.items() if what not in ("format", "format_version")}
        for what in {**self.identity, **given}:
            found, expected = given.get(what), self.identity.get(what)
            if found == expected:
                continue
            told = shortened(str(found), 40)
            if what == "demele":
                raise InputError(
                    "store",
                    f"{path} was made by demele {told}, this is {expected}: rows of two versions are never "
                    f"mixed; finish it with that version (pip install demele=={told}), or give another file",
                )
            raise InputError(
                "store",
                f"{path} was made with {arg(shortened(what, 40))} = {told}, this run has {expected}; "
                "use the same, or another file",
            )


@contextmanager
def reading_record(key: Key) -> Iterator[None]:
    """Say which record is not what it should be; within, what is stored is taken apart, and nothing computed."""
    what = f"store: the record of {quoted(key)} does not hold what it should; the file was changed after it was written"
    with parsing(what):
        try:
            yield
        except DemeleError as error:
            raise FormatError(f"{what} ({error})") from error


#: Stores that this process writes to.
_OPEN: "weakref.WeakSet[Store]" = weakref.WeakSet()


def _let_go() -> None:
    # A worker that was forked holds the file too, and so the lock: a run that was killed could not be resumed while
    # its workers live.
    for store in list(_OPEN):
        store.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def _record_line(key: Key, record: Mapping[str, Any]) -> str:
    if "key" in record or not all(isinstance(item, str | int) for item in key):
        raise ValueError(f"a key is text and whole numbers, and no field of a record, got {key!r}: {record!r}")
    try:
        return _line({"key": list(key), **record})
    except ValueError as error:
        raise ValueError(f"the record of {key} cannot be stored ({error}): {record!r}") from error


def _line(content: Mapping[str, Any]) -> str:
    # repr of a float, which json writes, reads back to the same bits
    return json.dumps(content, allow_nan=False, separators=(",", ":")) + "\n"


def _write(file: int, text: str) -> None:
    left = memoryview(text.encode())
    while left:
        left = left[os.write(file, left) :]


def _regular(file: int, path: Path) -> None:
    if not stat.S_ISREG(os.fstat(file).st_mode):
        raise InputError("store", f"{path} is not a file; give the path of one")


def _parsed(path: Path, content: bytes) -> tuple[dict[str, Any] | None, dict[Key, dict[str, Any]], int]:
    """Return identity (None in a new file), records, and the length up to the last whole line."""
    whole = content.rfind(b"\n") + 1
    if not whole:
        # a kill can leave the beginning of our own first line, and nothing else that we may overwrite
        first = _line({"format": _FORMAT, "format_version": _FORMAT_VERSION})[:-2].encode()
        if content[: len(first)] != first[: len(content)]:
            raise FormatError("store", f"{path} is not a store of rows; nothing was changed in it")
        return None, {}, 0
    check_nesting(f"store: {path}", content)
    lines = content[:whole].split(b"\n")[:-1]
    identity = _object(lines[0])
    if identity is None or identity.get("format") != _FORMAT:
        raise FormatError("store", f"{path} is not a store of rows; nothing was changed in it")
    if identity.get("format_version") != _FORMAT_VERSION:
        raise InputError(
            "store",
            f"{path} has format version {quoted(identity.get('format_version'))}, this demele writes "
            f"{_FORMAT_VERSION}; use the demele that made it ({shortened(str(identity.get('demele')), 40)}), or give "
            "another file",
        )
    records: dict[Key, dict[str, Any]] = {}
    for number, line in enumerate(lines[1:], start=2):
        record = _object(line)
        parts = None if record is None else record.pop("key", None)
        if record is None or not isinstance(parts, list) or not all(isinstance(item, str | int) for item in parts):
            raise FormatError(
                "store", f"{path}, line {number}: not a record; the file was changed after it was written"
            )
        key = tuple(parts)
        if key in records:
            raise FormatError(
                "store",
                f"{path}, line {number}: a second record of {quoted(key)}; the file was changed after it was written",
            )
        records[key] = record
    return identity, records, whole


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        with parsing("line"):
            found = json.loads(line)
    except FormatError:  # told by who knows where the line is
        return None
    return found if isinstance(found, dict) else None
