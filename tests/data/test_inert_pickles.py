"""Pickles are taken apart: what published files hold is found, and nothing that hostile ones ask for happens."""

import os
import pickle
import struct
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele.core.errors import FormatError
from demele.data.loaders.inert_pickles import ByteArray, Taken, take_apart
from tests.data.labelled_bytes import Python2Pickle
from tests.tolerances import assert_exact

PIXELS = np.arange(12, dtype=np.uint8).reshape(3, 4)
HELD: dict[str, Any] = {"labels": [6, 9, 300], "data": PIXELS, "batch_label": "of one"}


def taken(content: bytes, most: int = 1000) -> Taken:
    return take_apart("a file", memoryview(content), most)


def array_of(found: Taken) -> np.ndarray:
    assert isinstance(found.held["data"], ByteArray)
    return found.array(found.held["data"])


@pytest.mark.parametrize(
    "content",
    [
        Python2Pickle().dumps(HELD),
        *[pickle.dumps(HELD, protocol) for protocol in (2, 3, 4, 5)],
        pickle.dumps({key.encode(): value for key, value in HELD.items()}, 4),
        pickle.dumps({**HELD, "data": np.asfortranarray(PIXELS)}, 4),
        pickle.dumps({**HELD, "data": np.asfortranarray(PIXELS)}, 5),
    ],
    ids=["Python 2", "2", "3", "4", "5", "bytes for keys", "columns first", "columns first, 5"],
)
def test_what_is_published_is_found(content: bytes) -> None:
    found = taken(content)
    assert list(found.held) == ["labels", "data", "batch_label"]
    assert found.held["labels"] == [6, 9, 300]
    assert found.text(found.held["batch_label"]) == "of one"
    assert_exact(array_of(found), PIXELS)
    assert array_of(found).dtype == np.uint8


def test_the_hand_made_pickle_is_one_of_python() -> None:
    long = {"data": PIXELS, "labels": list(range(2500)), "filenames": [f"{row}.png" for row in range(300)]}
    content = Python2Pickle().dumps(long)
    loaded = pickle.loads(content, encoding="latin-1")
    assert loaded["labels"] == long["labels"] == taken(content, 10_000).held["labels"]
    assert_exact(loaded["data"], PIXELS)
    found = taken(content, 10_000)
    assert [found.text(one) for one in found.held["filenames"]] == loaded["filenames"] == long["filenames"]


def test_an_array_stays_where_it_lies_in_the_file() -> None:
    content = Python2Pickle().dumps(HELD)
    place = taken(content).held["data"].text
    assert content[place.start : place.stop] == PIXELS.tobytes()
    assert place.encoding == "latin-1"


# Hostile ones ---------------------------------------------------------------------------------------------------------


class Called:
    """Asks for a call where it is loaded."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.asked = function, arguments

    def __reduce__(self) -> Any:
        return self.asked


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("within", [False, True])
def test_nothing_is_called(protocol: int, within: bool, tmp_path: Path) -> None:
    mark = tmp_path / "called"
    for function, arguments, name in (
        (eval, (f"open({str(mark)!r}, 'w').close()",), "eval"),
        (os.mkdir, (str(mark),), "mkdir"),
        (Path.touch, (mark,), "getattr|pathlib"),
    ):
        trap: Any = Called(function, *arguments)
        content = pickle.dumps({"data": [trap]} if within else trap, protocol)
        with pytest.raises(FormatError, match=rf"a file: a pickle that asks for '.*({name}).*nothing of it was run"):
            taken(content)
        assert not mark.exists()
        pickle.loads(content)  # it would have been
        assert mark.exists()
        mark.rmdir() if mark.is_dir() else mark.unlink()


def test_a_system_call_in_the_shortest_way_is_named() -> None:
    with pytest.raises(
        FormatError, match=r"asks for 'os\.system', which no published file does; nothing of it was run"
    ):
        taken(b"\x80\x02cos\nsystem\nU\x04trueq\x01\x85R.")


TEXT = b"U\x01b"
NDARRAY, TYPE = b"cnumpy\nndarray\n", b"cnumpy\ndtype\n"
RECONSTRUCT, ENCODE = b"cnumpy.core.multiarray\n_reconstruct\n", b"c_codecs\nencode\n"
U1 = TYPE + b"U\x02u1K\x00K\x01\x87R"


@pytest.mark.parametrize(
    ("program", "match"),
    [
        (NDARRAY + b"K\x05\x85R", "that calls what it may not"),
        (RECONSTRUCT + TYPE + b"K\x00\x85" + TEXT + b"\x87R", "that calls what it may not"),
        (ENCODE + TEXT + b"U\x03rot\x86R", "that calls what it may not"),
        (b"K\x01K\x02\x85R", "that calls what it may not"),
        (TYPE + b"U\x02O8K\x00K\x01\x87R", "expected arrays of uint8, found 'O8'"),
        (TYPE + b"U\x02i8K\x00K\x01\x87R", "expected arrays of uint8, found 'i8'"),
        (b"]K\x01b", "sets the state of what is no array"),
        (RECONSTRUCT + NDARRAY + b"K\x00\x85" + TEXT + b"\x87R}b", "sets the state of what is no array"),
        (
            RECONSTRUCT + NDARRAY + b"K\x00\x85" + TEXT + b"\x87R(K\x01K\x07\x85" + U1 + b"\x89" + TEXT + b"tb",
            r"an array of shape \(7,\) with 1 bytes",
        ),
        (
            RECONSTRUCT
            + NDARRAY
            + b"K\x00\x85"
            + TEXT
            + b"\x87R(K\x01J\xff\xff\xff\xff\x85"
            + U1
            + b"\x89"
            + TEXT
            + b"tb",
            r"an array of shape \(-1,\)",
        ),
        (b")\x81", "opcode NEWOBJ"),
        (b"(i__main__\nx\n", "opcode INST"),
        (b"(o", "opcode OBJ"),
        (b"\x82\x01", "opcode EXT1"),
        (b"Q", "opcode BINPERSID"),
        (b"I5\n", "opcode INT"),
        (b"\xff", "opcode 0xff"),
        (b"K\x01K\x02a", "appends to what is no list"),
        (b"]K\x01K\x02s", "sets items of what is no dictionary"),
        (b"}K\x01K\x02s", "expected a short text in its pickle, found int"),
        (b"}(K\x01tK\x02s", "expected a short text in its pickle, found tuple"),
        (b"}T" + struct.pack("<i", 500) + bytes(500) + b"K\x02s", "expected a short text in its pickle, found a long"),
        (b"B\xff\xff\xff\xff", "it declares 4,294,967,295 bytes where it has 1"),
        (b"\x8e" + b"\xff" * 8, "it declares 18,446,744,073,709,551,615 bytes"),
        (b"T\xff\xff\xff\xff", "it declares -1 bytes"),
        (b"}r\xff\xff\xff\xffj\x00\x00\x00\x00", "damaged or cut off"),
        (b"h\x05", "damaged or cut off"),
        (b"R", "damaged or cut off"),
        (b"t", "damaged or cut off"),
        (b"", "damaged or cut off"),
        (b"c" + b"m" * 300 + b"\nx\n", "damaged or cut off"),
        (b"K\x05", "expected a pickle of a dictionary, found int"),
        (b"]" * 2000, "a pickle of more than 1,000 opcodes"),
        (b"}.}", "it goes on after the end of its pickle"),
        (b"\x80\x09", "protocol 9; 2 to 5 are read"),
    ],
)
def test_what_no_published_file_does_is_refused(program: bytes, match: str) -> None:
    with pytest.raises(FormatError, match=match):
        taken(b"\x80\x02" + program + b".")


def test_large_numbers_for_what_is_kept_take_no_memory() -> None:
    found = taken(b"\x80\x02}r\xff\xff\xff\xffU\x01aj\xff\xff\xff\xffs.")
    assert found.held["a"] is found.held  # a circle, which nothing follows


def test_texts_that_double_are_not_made() -> None:
    """A tuple of two of the last, 200 times: to hash it, or to print it, would take for ever."""
    program = b"U\x01a" + b"q\x01h\x01\x86" * 200
    with pytest.raises(FormatError, match="expected a short text in its pickle, found tuple"):
        taken(b"\x80\x02}" + program + b"K\x01s.")


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b", b"(dp0\n.", b"\x93NUMPY", b"PK\3\4"])
def test_other_files_are_no_pickles(content: bytes) -> None:
    with pytest.raises(FormatError, match="a file: not a pickle of Python's protocols 2 to 5"):
        taken(content)


def test_classes_of_the_standard_library_are_refused_too() -> None:
    with pytest.raises(FormatError, match=r"asks for 'collections\.OrderedDict'"):
        taken(pickle.dumps(OrderedDict(a=1), 4))


@pytest.mark.parametrize("content", [Python2Pickle().dumps(HELD), pickle.dumps(HELD, 4)])
def test_every_cut_is_seen_and_damage_raises_nothing_else(content: bytes) -> None:
    for length in range(len(content)):
        with pytest.raises(FormatError, match=r"^a file: "):
            taken(content[:length])
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(400):
        damaged = bytearray(content)
        for place in rng.integers(0, len(content), 2):
            damaged[place] = rng.integers(0, 256)
        try:
            assert isinstance(taken(bytes(damaged)).held, dict)
        except FormatError:
            refused += 1
    assert refused > 200
