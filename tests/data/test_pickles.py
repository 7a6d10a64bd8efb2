"""Pickles: what published files hold is found, and nothing that hostile ones ask for happens."""

import os
import pickle
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele.core.errors import FormatError
from demele.data.loaders.readers import load_plain
from tests.data.labelled_bytes import Called, Python2Pickle
from tests.refusals import refuses
from tests.tolerances import assert_exact

PIXELS = np.arange(12, dtype=np.uint8).reshape(3, 4)
HELD: dict[str, Any] = {"labels": [6, 9, 300], "data": PIXELS, "batch_label": "of one"}


def taken(content: bytes, most: int = 1000) -> dict[str, Any]:
    return load_plain("a file", content, most)


def test_what_is_published_is_found() -> None:
    for content in [
        Python2Pickle().dumps(HELD),
        *[pickle.dumps(HELD, protocol) for protocol in (2, 3, 4, 5)],
        pickle.dumps({key.encode(): value for key, value in HELD.items()}, 4),
        pickle.dumps({**HELD, "data": np.asfortranarray(PIXELS)}, 4),
        pickle.dumps({**HELD, "data": np.asfortranarray(PIXELS)}, 5),
    ]:
        found = taken(content)
        assert list(found) == ["labels", "data", "batch_label"]
        assert found["labels"] == [6, 9, 300]
        assert found["batch_label"] in ("of one", b"of one")
        assert_exact(found["data"], PIXELS)
        assert found["data"].dtype == np.uint8


# Hostile ones ---------------------------------------------------------------------------------------------------------


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
        refuses(FormatError, rf"a file: .*nothing of it was run \(it asks for '.*({name})", taken, content)
        assert not mark.exists()
        pickle.loads(content)  # it would have been
        assert mark.exists()
        mark.rmdir() if mark.is_dir() else mark.unlink()


def test_a_system_call_in_the_shortest_way_is_named() -> None:
    refuses(FormatError, r"nothing of it was run \(it asks for", taken, b"\x80\x02cos\nsystem\nU\x04trueq\x01\x85R.")


TEXT = b"U\x01b"
NDARRAY, TYPE = b"cnumpy\nndarray\n", b"cnumpy\ndtype\n"
RECONSTRUCT, ENCODE = b"cnumpy.core.multiarray\n_reconstruct\n", b"c_codecs\nencode\n"
U1 = TYPE + b"U\x02u1K\x00K\x01\x87R"
EMPTY = RECONSTRUCT + NDARRAY + b"K\x00\x85" + TEXT + b"\x87R"


def test_what_no_published_file_does_is_refused() -> None:
    for program, match in [
        (NDARRAY + b"K\x05\x85R", "it calls numpy.ndarray with what no"),
        (ENCODE + TEXT + b"U\x03rot\x86R", "it calls _codecs.encode with what no"),
        (b"K\x01K\x02\x85R", "not callable"),
        (TYPE + b"U\x02O8K\x00K\x01\x87R", "it has an array of 'O8', not of uint8"),
        (TYPE + b"U\x02i8K\x00K\x01\x87R", "it has an array of 'i8', not of uint8"),
        (b"]K\x01b", "nothing of it was run"),
        (NDARRAY + b"}U\x01aK\x01sb", "nothing of it was run"),
        (NDARRAY + b"N}U\x01aK\x01s\x86b", "attribute"),
        (EMPTY + b"}b", "nothing of it was run"),
        (EMPTY + b"(K\x01K\x07\x85" + U1 + b"\x89" + TEXT + b"tb", r"an array of shape \(7,\) with 1 bytes"),
        (EMPTY + b"(K\x01J\xff\xff\xff\xff\x85" + U1 + b"\x89" + TEXT + b"tb", "something else than bytes"),
        (EMPTY + b"(K\x01K\x01\x85K\x01\x89" + TEXT + b"tb", "something else than bytes"),
        (b")\x81", "opcode NEWOBJ"),
        (b"(i__main__\nx\n", "opcode INST"),
        (b"(o", "opcode OBJ"),
        (b"\x82\x01", "opcode EXT1"),
        (b"Q", "opcode BINPERSID"),
        (b"I5\n", "opcode INT"),
        (b"K\x012", "opcode DUP"),
        (b"\xff", "unknown"),
        (b"K\x01K\x02a", "nothing of it was run"),
        (b"B\xff\xff\xff\xff", "only 1 remain"),
        (b"\x8e" + b"\xff" * 8, "nothing of it was run"),
        (b"T\xff\xff\xff\xff", "nothing of it was run"),
        (b"h\x05", "nothing of it was run"),
        (b"R", "nothing of it was run"),
        (b"t", "nothing of it was run"),
        (b"", "nothing of it was run"),
        (b"K\x05", "it holds int, no dictionary"),
        (b"]" * 2000, "more than 1,000 opcodes"),
        (b"}.}", "it goes on after its end"),
        (b"\x80\x09", "protocol: 9"),
    ]:
        refuses(FormatError, match, taken, b"\x80\x02" + program + b".")


def test_bytes_that_cross_a_frame_are_not_freed_while_they_are_used(capfd: pytest.CaptureFixture[str]) -> None:
    program = b"\x80\x02\x95" + struct.pack("<Q", 5) + b"\x96" + struct.pack("<Q", 4) + b"abcd\x94h\x00U\x02u1."
    with pytest.raises(FormatError):
        taken(program)
    assert capfd.readouterr().err == ""


LONG = b"X" + struct.pack("<I", 1 << 16) + b"a" * (1 << 16)
#: Each takes gigabytes, hours or the process where Python loads it, with a list of allowed names alone.
BOMBS = {
    "a number for what is kept": b"}r\xff\xff\xff\x7f",
    "tuples that double": b"}" + b"U\x01a" + b"q\x01h\x01\x86" * 40 + b"K\x01s",
    "tuples that double, kept twice": b"}" + b")" + b"\x85q\x01q\x02h\x01h\x02\x86" * 40 + b"K\x01s",
    "a list that is kept when it is filled": b"}]K\x01a" + b"q\x01h\x01\x86" * 40 + b"K\x01s",
    "a key of a million tuples": b"})" + b"\x85" * 1_000_000 + b"K\x01s",
    "a text that is made a hundred thousand times": b"}]" + LONG + b"q\x01"
    + (ENCODE + b"h\x01U\x06latin1\x86R") * 100_000,
    "a text of four gigabytes": b"\x8d" + struct.pack("<Q", 4 << 30),
    "defaults of a function": RECONSTRUCT + b"N}U\x0c__defaults__K\x01s\x86b",
}  # fmt: skip
LIMITED = """
import resource, sys
from demele.core.errors import FormatError
from demele.data.loaders.readers import load_plain
content = sys.stdin.buffer.read()
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
try:
    load_plain("a file", content, 200_000)
except FormatError as error:
    print("refused:", error)
"""


def test_what_a_few_bytes_ask_for_is_not_taken() -> None:
    for name in BOMBS:
        program = [sys.executable, "-c", LIMITED]
        done = subprocess.run(program, input=b"\x80\x02" + BOMBS[name] + b".", capture_output=True, check=False)
        assert done.stdout.startswith(b"refused: a file: "), done.stderr
        assert b"more than fits into memory" not in done.stdout
        assert done.returncode == 0


@pytest.mark.parametrize("content", [Python2Pickle().dumps(HELD), pickle.dumps(HELD, 4)])
def test_every_cut_is_seen_and_damage_raises_nothing_else(content: bytes) -> None:
    for length in range(len(content)):
        refuses(FormatError, r"^a file: ", taken, content[:length])
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(400):
        damaged = bytearray(content)
        for place in rng.integers(0, len(content), 2):
            damaged[place] = rng.integers(0, 256)
        try:
            assert isinstance(taken(bytes(damaged)), dict)
        except FormatError:
            refused += 1
    assert refused > 200
