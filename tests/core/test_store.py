"""The store of a long run: what was appended is there bit by bit, wherever a kill cuts the file."""

import json
import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from demele.core import store as module
from demele.core.errors import FormatError, InputError
from demele.core.store import Key, Store
from tests.refusals import refuses

IDENTITY: dict[str, str | int] = {"demele": "0.1.0", "protocol": "review2022", "n_samples": 400}
FLOATS = (0.1 + 0.2, 1e-300, 5e-324, -0.0, 1.7976931348623157e308, 1 / 3, 2.0**-1074)
RECORDS: list[tuple[Key, dict[str, Any]]] = [
    (("noise", "0.0", 0, "mig"), {"values": {"mig": 0.1 + 0.2}, "reasons": {}, "seconds": 0.5}),
    (
        ("noise", "0.5", 0, "mig"),
        {"values": {}, "reasons": {"mig": "an é, a\nline\r and a \u2028 sign"}, "seconds": 1.0},
    ),
    (("noise@0f", "1.0", 12, "mine@ab"), {"values": {"mine": 1e-300}, "reasons": {}, "seconds": 0.0}),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows"


def written(path: Path, records: list[tuple[Key, dict[str, Any]]] = RECORDS) -> bytes:
    with Store(path, IDENTITY) as store:
        for record in records:
            store.append([record])
    return path.read_bytes()


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


def test_reopening_gives_the_same_bits(path: Path) -> None:
    with Store(path, IDENTITY) as store:
        store.append([(("value", place), {"value": value}) for place, value in enumerate(FLOATS)])
        assert len(store) == len(FLOATS)
    before = path.read_bytes()
    with Store(path, IDENTITY) as store:
        assert [bits(store["value", place]["value"]) for place in range(len(FLOATS))] == [bits(item) for item in FLOATS]
        assert list(store) == [("value", place) for place in range(len(FLOATS))]
        assert ("value", 0) in store
        assert ("value", len(FLOATS)) not in store
    assert path.read_bytes() == before


def test_every_torn_tail_is_cut_and_written_again(path: Path) -> None:
    full = written(path)
    ends = [place + 1 for place, byte in enumerate(full) if byte == ord("\n")]
    for length in range(len(full) + 1):
        path.write_bytes(full[:length])
        whole = max(sum(end <= length for end in ends) - 1, 0)
        with Store(path, IDENTITY) as store:
            assert [(key, store[key]) for key in store] == RECORDS[:whole], length
            store.append(RECORDS[whole:])
        assert path.read_bytes() == full, length


def test_reading_changes_nothing_and_leaves_out_a_torn_tail(path: Path) -> None:
    torn = written(path)[:-5]
    path.write_bytes(torn)
    identity, records = Store.read(path)
    assert {key: identity[key] for key in IDENTITY} == IDENTITY
    assert list(records.items()) == RECORDS[:-1]
    assert path.read_bytes() == torn


# What is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"codes,factors\n1,2\n",
        b"codes,factors",
        b"\x89PNG\r\n\x1a\n\x00\x00",
        b"\xff\xfe\x00",
        b'{"format": "something else"}\n',
        b'{"format":"demele-rows","format_version":9',
        b"[1, 2]\n",
        b"[" * 100_000 + b"\n",
        b"\n",
    ],
)
def test_another_file_is_refused_and_not_changed(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    openings: list[Callable[[], object]] = [lambda: Store(path, IDENTITY), lambda: Store.read(path)]
    for opening in openings:
        refuses(FormatError, "not a store of rows; nothing was changed", opening)
    assert path.read_bytes() == content


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    refuses(InputError, r"store: cannot write .*Is a directory", Store, tmp_path, IDENTITY)
    refuses(InputError, r"store: cannot write .*No such file", Store, tmp_path / "missing" / "rows", IDENTITY)
    refuses(InputError, r"store: cannot read .*No such file", Store.read, tmp_path / "rows")
    refuses(InputError, r"expected a file, got a folder", Store.read, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("identity", "message"),
    [
        ({**IDENTITY, "demele": "0.2.0"}, "made with `demele` = 0.1.0, this run has 0.2.0; use the same, or another"),
        ({**IDENTITY, "n_samples": 500}, "made with `n_samples` = 400, this run has 500"),
        ({**IDENTITY, "machine": "other"}, "made with `machine` = None, this run has other"),
        ({"demele": "0.1.0", "n_samples": 400}, "made with `protocol` = review2022, this run has None"),
    ],
)
def test_other_settings_are_refused(path: Path, identity: dict[str, str | int], message: str) -> None:
    before = written(path)
    refuses(InputError, message, Store, path, identity)
    assert path.read_bytes() == before
    with Store(path, IDENTITY):  # the refused one keeps no lock
        pass


def test_another_format_version_is_refused(path: Path) -> None:
    path.write_text(json.dumps({"format": "demele-rows", "format_version": 2, "demele": "3.0.0"}) + "\n")
    refuses(InputError, r"format version 2, this demele writes 1; use the demele .*3\.0\.0", Store, path, IDENTITY)
    refuses(InputError, "format version 2", Store.read, path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"not a record", "line 3: not a record"),
        (b"", "line 3: not a record"),
        (b"{}", "line 3: not a record"),
        (b'{"key":"noise"}', "line 3: not a record"),
        (b'{"key":[["noise"]]}', "line 3: not a record"),
        (b"\xff\xfe", "line 3: not a record"),
        (b'{"key":["noise","0.0",0,"mig"]}', "line 3: a second record of"),
    ],
)
def test_a_changed_line_is_named(path: Path, line: bytes, message: str) -> None:
    lines = written(path).split(b"\n")
    lines[2] = line
    changed = b"\n".join(lines)
    path.write_bytes(changed)
    refuses(FormatError, message, Store, path, IDENTITY)
    assert path.read_bytes() == changed


@pytest.mark.skipif(sys.platform == "win32", reason="there is no lock")
def test_a_second_writer_is_refused_until_the_first_has_closed(path: Path) -> None:
    with Store(path, IDENTITY) as first:
        refuses(InputError, r"another run is writing to .*; wait for it, or give another file", Store, path, IDENTITY)
        first.append(RECORDS)
    with Store(path, IDENTITY) as second:
        assert len(second) == len(RECORDS)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_worker_does_not_keep_the_lock(path: Path) -> None:
    wait, go = os.pipe()
    ready, tell = os.pipe()
    store = Store(path, IDENTITY)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(tell, b"x")
            os.read(wait, 1)
            store.append(RECORDS)
        except ValueError:  # it is the parent that writes
            status = 0
        finally:
            os._exit(status)
    try:
        os.read(ready, 1)
        store.append(RECORDS[:1])
        with pytest.raises(InputError, match="another run is writing"):  # nor does it take the lock away
            Store(path, IDENTITY)
        store.close()
        Store(path, IDENTITY).close()  # the worker lives still
    finally:
        os.write(go, b"x")
        _, status = os.waitpid(child, 0)
        for end in (wait, go, ready, tell):
            os.close(end)
    assert os.waitstatus_to_exitcode(status) == 0
    assert list(Store.read(path)[1]) == [RECORDS[0][0]]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([RECORDS[1], RECORDS[0]], "is stored already"),
        ([RECORDS[1], RECORDS[1]], "is stored already"),
        ([RECORDS[1], (("x",), {"value": float("inf")})], r"record of \('x',\) cannot be stored .*inf"),
        ([RECORDS[1], (("x",), {"key": 1})], "a key is text"),
        ([RECORDS[1], ((("x",),), {"value": 1})], "a key is text"),
    ],
)
def test_a_refused_record_leaves_no_trace(
    tmp_path: Path, path: Path, records: list[tuple[Key, dict[str, Any]]], message: str
) -> None:
    with Store(path, IDENTITY) as store:
        store.append(RECORDS[:1])
        before = path.read_bytes()
        refuses(ValueError, message, store.append, records)
        assert len(store) == 1
        assert path.read_bytes() == before
        store.append(RECORDS[1:])
    assert path.read_bytes() == written(tmp_path / "plain")


def test_what_a_full_disk_cuts_off_is_taken_back(tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    def half(file: int, text: str) -> None:
        os.write(file, text.encode()[:10])
        raise OSError(28, "No space left on device")

    with Store(path, IDENTITY) as store:
        with monkeypatch.context() as patched:
            patched.setattr(module, "_write", half)
            refuses(InputError, r"store: cannot write .*No space left", store.append, RECORDS)
        assert len(store) == 0
        store.append(RECORDS)
    assert path.read_bytes() == written(tmp_path / "plain")


def test_an_empty_file_becomes_a_store_but_cannot_be_read(tmp_path: Path, path: Path) -> None:
    path.touch()
    refuses(FormatError, "is empty", Store.read, path)
    assert written(path) == written(tmp_path / "new")


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="no devices")
def test_a_device_is_not_a_file() -> None:
    refuses(InputError, "is not a file; give the path of one", Store, Path("/dev/null"), IDENTITY)


def test_nothing_is_added_to_a_closed_store(tmp_path: Path) -> None:
    store = Store(tmp_path / "rows", IDENTITY)
    store.close()
    store.close()
    refuses(ValueError, "the store was closed", store.append, RECORDS)
