"""SVHN: pixels and digits worked by hand, variables of MATLAB 5 in every way they are written, and what is refused."""

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

from demele.core.errors import FormatError, InputError
from demele.data.loaders.loading import load
from demele.data.loaders.readers import matlab_variables
from tests.data import published_files as files
from tests.data.published_files import Written, refused
from tests.tolerances import assert_exact


@pytest.fixture
def made(tmp_path: Path) -> Written:
    """A set of which nothing but the sizes is known."""
    return Written(tmp_path, files.labelled("svhn", files.SVHN_SPLITS), np.empty(0, np.uint8))


def test_an_image_of_svhn_is_indexed_by_row_column_colour_and_number(tmp_path: Path, made: Written) -> None:
    x = np.zeros((8, 8, 3, 7), np.uint8)
    x[2, 5, 1, 3] = 77
    x[7, 0, 2, 6] = 5
    y = np.array([10, 1, 2, 9, 10, 3, 4], np.uint8)[:, None]
    for packed in (True, False):
        scipy.io.savemat(tmp_path / "train_32x32.mat", {"X": x, "y": y}, do_compression=packed)
        images = load(made.published, tmp_path)
        assert images.positions()[:, 0].tolist() == [0, 1, 2, 9, 0, 3, 4]
        assert images.factors()["digit"].tolist() == [0, 1, 2, 9, 0, 3, 4]
        assert np.argwhere(images.images([3])).tolist() == [[0, 2, 5, 1]]
        assert images.images([6, 3])[0, 7, 0, 2] == 5
        assert images.images([3])[0, 2, 5].tolist() == [0, 77, 0]


def test_parts_of_svhn_are_asked_for(tmp_path: Path) -> None:
    made = files.write_svhn(tmp_path)
    for split, n in files.SVHN_SPLITS.items():
        assert len(load(made.published, tmp_path, split=split)) == n
        alone = load(made.published, tmp_path / f"{split}_32x32.mat", split=split)
        held = scipy.io.loadmat(tmp_path / f"{split}_32x32.mat")
        assert_exact(alone.images(np.arange(n)), held["X"].transpose(3, 0, 1, 2))
        assert_exact(alone.positions()[:, 0], held["y"].ravel() % 10)
    test = tmp_path / "test_32x32.mat"
    refused(made._replace(path=test), r"X: expected uint8 \(8, 8, 3, 7\), found uint8 \(8, 8, 3, 5\)")
    test.rename(tmp_path / "mine.mat")
    assert len(load(made.published, tmp_path / "mine.mat", split="test")) == 5
    refused(made, "there is no .*test_32x32.mat; SVHN is published by", InputError, split="test")


def test_a_large_part_asks_for_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demele.data.loaders.published.MOST_HELD", 1000)
    made = files.write_svhn(tmp_path)
    refused(made, "cache: .*train_32x32.mat can be read from front to back only", InputError)
    images = load(made.published, tmp_path, cache=tmp_path / "kept.npy", split="train+extra")
    assert_exact(images.images(np.arange(13)), made.images)
    assert images.space is not None
    assert_exact(images.positions()[:, 0], np.append(np.arange(7) + 1, np.arange(6) + 3) % 10)


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({"y": np.ones((7, 1))}, "expected 'X' in it, found 'y'; is it a file of SVHN"),
        ({"X": np.zeros((8, 8, 3, 7), np.uint8)}, "expected 'y' in it, found 'X'"),
        ({"X": np.zeros((7, 8, 8, 3), np.uint8), "y": np.ones((7, 1))}, r"X: .*, found uint8 \(7, 8, 8, 3\)"),
        ({"X": np.zeros((8, 8, 3, 7)), "y": np.ones((7, 1))}, r"expected uint8 \(8, 8, 3, 7\), found float64"),
        ({"y": np.full((7, 1), 11)}, "y: expected labels 1 to 10, found 11 at row 0"),
        ({"y": np.full((7, 1), 1.5)}, "found 1.5 at row 0"),
        ({"y": np.ones((7, 1), complex)}, "expected 'y' in it, found 'X'"),
        ({"y": np.array([["a"]] * 7)}, "expected 'y' in it, found 'X'"),
    ],
)
@pytest.mark.parametrize("packed", [True, False])
def test_variables_of_svhn_that_are_others(
    tmp_path: Path, arrays: dict[str, Any], match: str, packed: bool, made: Written
) -> None:
    held = arrays if len(arrays) == 2 or "X" in arrays or "SVHN" in match else arrays | {"X": BLACK}
    scipy.io.savemat(made.path / "train_32x32.mat", held, do_compression=packed)
    refused(made, match)


BLACK = np.zeros((8, 8, 3, 7), np.uint8)


def test_a_file_of_another_matlab_or_none(tmp_path: Path, made: Written) -> None:
    path = tmp_path / "train_32x32.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(100))
    refused(made, "a file of MATLAB 7.3; SVHN was published in MATLAB 5: save it with -v7")
    path.write_bytes(b"something else" * 20)
    refused(made, "train_32x32.mat: not a file of MATLAB 5")


def element(order: str, kind: int, content: bytes) -> bytes:
    return struct.pack(f"{order}II", kind, len(content)) + content + bytes(-len(content) % 8)


def matrix(order: str, name: str, kind: int, shape: tuple[int, ...], stored: int, content: bytes) -> bytes:
    """A variable, as MATLAB writes it: flags, sizes, name, numbers; a short name stands in its tag."""
    short = struct.pack(f"{order}I", len(name) << 16 | 1) + name.encode().ljust(4, b"\0")
    told = element(order, 6, struct.pack(f"{order}II", kind, 0))
    sizes = element(order, 5, struct.pack(f"{order}{len(shape)}i", *shape))
    return element(order, 14, told + sizes + short + element(order, stored, content))


def mat_file(order: str, *held: bytes, packed: bool) -> bytes:
    end = struct.pack(f"{order}H", 0x0100) + (b"IM" if order == "<" else b"MI")
    parts = [zlib.compress(one) for one in held] if packed else list(held)
    tagged = [struct.pack(f"{order}II", 15, len(one)) + one for one in parts] if packed else parts
    return b"MATLAB 5.0 MAT-file".ljust(124) + end + b"".join(tagged)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("packed", [True, False])
def test_numbers_may_be_stored_as_smaller_ones_in_both_orders_of_bytes(
    order: str, packed: bool, tmp_path: Path, made: Written
) -> None:
    path = tmp_path / "train_32x32.mat"
    x = np.arange(8 * 8 * 3 * 7, dtype=np.uint16).astype(np.uint8)
    labels = matrix(order, "y", 6, (7, 1), 2, bytes([1, 2, 3, 4, 5, 6, 10]))  # double, stored as bytes
    path.write_bytes(mat_file(order, labels, matrix(order, "X", 9, (8, 8, 3, 7), 2, x.tobytes()), packed=packed))
    images = load(made.published, tmp_path)
    assert images.positions()[:, 0].tolist() == [1, 2, 3, 4, 5, 6, 0]
    assert_exact(images.images(np.arange(7)), scipy.io.loadmat(path)["X"].transpose(3, 0, 1, 2))
    short = matrix(order, "y", 6, (2, 1), 3, struct.pack(f"{order}2h", 300, -2))
    path.write_bytes(mat_file(order, short, packed=packed))
    assert_exact(matlab_variables(path, "SVHN")["y"].whole(), [[300, -2]])


@pytest.mark.parametrize("packed", [True, False])
def test_a_variable_that_declares_more_than_it_has(packed: bool, tmp_path: Path, made: Written) -> None:
    path = tmp_path / "train_32x32.mat"
    y = matrix("<", "y", 9, (7, 1), 2, bytes([1] * 7))
    x = matrix("<", "X", 9, (8, 8, 3, 7), 2, bytes(1343))
    path.write_bytes(mat_file("<", y, x, packed=packed))
    refused(made, r"damaged: 'X' of shape \(8, 8, 3, 7\) declares 1,343 bytes")
    path.write_bytes(mat_file("<", y, y, packed=packed))
    refused(made, "holds two variables 'y'")
    path.write_bytes(mat_file("<", matrix("<", "y", 9, (7, -1), 2, b""), packed=packed))
    refused(made, "damaged")


def test_a_variable_that_goes_on_is_not_unpacked(tmp_path: Path, made: Written) -> None:
    y = matrix("<", "y", 9, (7, 1), 2, bytes([1] * 7))
    x = matrix("<", "X", 9, (8, 8, 3, 7), 2, bytes(1344))
    (tmp_path / "train_32x32.mat").write_bytes(mat_file("<", y + bytes(1 << 20), x, packed=True))
    refused(made, "damaged: it holds more than the 7 bytes declared")


def test_damage_within_what_is_packed_raises_nothing_else(tmp_path: Path, made: Written) -> None:
    path = tmp_path / "train_32x32.mat"
    y = matrix("<", "y", 9, (7, 1), 2, bytes([1] * 7))
    x = matrix("<", "X", 9, (8, 8, 3, 7), 2, bytes(1344))
    rng = np.random.default_rng(0)
    refused_ones = 0
    for number in range(150):
        damaged = [bytearray(y), bytearray(x)]
        for _ in range(2):
            damaged[rng.integers(0, 2)][rng.integers(0, 64)] = rng.integers(0, 256)
        path.write_bytes(mat_file("<", *map(bytes, damaged), packed=number % 2 == 0))
        try:
            load(made.published, tmp_path)
        except FormatError:
            refused_ones += 1
    assert 100 < refused_ones < 150  # some bytes say nothing
