"""CIFAR: pixels and labels worked by hand, its formats beside each other, and what is refused."""

import gzip
import pickle
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele.core.errors import FormatError, InputError
from demele.data.loaders.loading import load
from demele.data.loaders.published import PublishedSet
from tests.data import published_files as files
from tests.data.labelled_bytes import Called, Python2Pickle, tar_gz
from tests.data.published_files import Written, refused
from tests.tolerances import assert_exact


def one_image_each(name: str) -> PublishedSet:
    return files.labelled(name, {"train": 5 if name == "cifar10" else 1, "test": 1})


def _cifar10(path: Path) -> Written:
    """A set of which nothing but the sizes is known."""
    return Written(path, files.labelled("cifar10", files.CIFAR_SPLITS), np.empty(0, np.uint8))


# CIFAR, by hand -------------------------------------------------------------------------------------------------------


def test_a_row_of_cifar10_is_its_label_then_red_green_and_blue_row_by_row(tmp_path: Path) -> None:
    for number in range(1, 6):
        (tmp_path / f"data_batch_{number}.bin").write_bytes(bytes([number]) + bytes(range(192)))
    (tmp_path / "test_batch.bin").write_bytes(bytes([9]) + bytes(range(191, -1, -1)))
    images = load(one_image_each("cifar10"), tmp_path, split="both")
    assert images.positions()[:, 0].tolist() == [1, 2, 3, 4, 5, 9]
    assert images.factors()["class"].tolist() == ["automobile", "bird", "cat", "deer", "dog", "truck"]
    assert images.shape == (8, 8, 3)
    first, last = images.images([0, 5])
    assert first[0, 0].tolist() == [0, 64, 128]
    assert first[0, 1].tolist() == [1, 65, 129]  # the next column
    assert first[1, 0].tolist() == [8, 72, 136]  # the next row
    assert last[7, 7].tolist() == [128, 64, 0]
    assert first.dtype == np.uint8


def test_a_row_of_cifar100_has_the_coarse_label_first(tmp_path: Path) -> None:
    (tmp_path / "train.bin").write_bytes(bytes([4, 51]) + bytes(range(192)))
    images = load(one_image_each("cifar100"), tmp_path)
    assert images.positions().tolist() == [[51, 4]]
    assert images.factors().iloc[0].tolist() == ["mushroom", "fruit_and_vegetables"]
    assert images.images([0])[0, 0, 1].tolist() == [1, 65, 129]


def test_a_pickle_of_cifar10_is_read_as_published(tmp_path: Path) -> None:
    held = {"batch_label": "testing batch 1 of 1", "labels": [3], "data": np.arange(192, dtype=np.uint8)[None]}
    (tmp_path / "test_batch").write_bytes(Python2Pickle().dumps({**held, "filenames": ["domestic_cat_s_000907.png"]}))
    images = load(one_image_each("cifar10"), tmp_path, split="test")
    assert images.factors()["class"].tolist() == ["cat"]
    assert images.images([0])[0, 1, 0].tolist() == [8, 72, 136]


# Formats beside each other --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cifar10", "cifar100"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("split", ["train", "test", "both"])
def test_every_format_gives_the_same_images_and_classes(name: str, packed: bool, split: str, tmp_path: Path) -> None:
    rows = {"train": slice(0, 20), "test": slice(20, 24), "both": slice(0, 24)}[split]
    found = []
    for kind in ("binary", "python", "protocol 2", "protocol 3", "protocol 4", "protocol 5"):
        (tmp_path / kind).mkdir()
        made = files.write_cifar(tmp_path / kind, name, kind, packed=packed)
        images = load(made.published, made.path, split=split)
        assert_exact(images.images(np.arange(len(images))), made.images[rows])
        found.append(images.positions())
    for other in found[1:]:
        assert_exact(other, found[0])
    assert found[0].max() == (99 if name == "cifar100" else found[0].max())
    assert len(np.unique(found[0][:, 0])) > 2


# CIFAR that is another -----------------------------------------------------------------------------------------------


def test_files_of_another_size_set_or_format(tmp_path: Path) -> None:
    made = files.write_cifar(tmp_path)
    path = tmp_path / "data_batch_3.bin"
    good = path.read_bytes()
    for content in (good[:-1], good + b"x", b"", bytes(4 * 194)):
        path.write_bytes(content)
        refused(made, rf"3.bin: expected 772 bytes, found {len(content)} bytes; 4 rows of 193 bytes, with 1 for")
    path.write_bytes(bytes([10]) + good[1:])
    refused(made, r"data_batch_3.bin: expected labels of class from 0 to 9, found 10 at row 0")
    path.unlink()
    refused(made, "there is no .*data_batch_3.bin; CIFAR-10 is published by", InputError)
    other = made._replace(published=files.labelled("cifar100", files.CIFAR_SPLITS))
    refused(other, "there is no .*train.bin; CIFAR-100 is published by A. Krizhevsky", InputError)


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"data": None}, r"test_batch: expected 'data' in it, found 'batch_label', 'labels'; is it a file of CIFAR-10"),
        ({"labels": None, "fine_labels": [1] * 4}, "expected 'labels' in it, found .*'fine_labels'; is it a file of"),
        ({"data": "pixels"}, r"test_batch::data: expected an array, found bytes"),
        ({"data": np.zeros((4, 191), np.uint8)}, r"expected uint8 \(4, 192\), found uint8 \(4, 191\)"),
        ({"labels": [1, 2, 3]}, "test_batch::labels: expected 4 labels, found 3"),
        ({"labels": [1, 2, 3, 10]}, "expected labels of class from 0 to 9, found 10 at row 3"),
        ({"labels": [1, 2, 3, True]}, "expected a list of whole numbers, found something else"),
        ({"labels": "1234"}, "expected a list of whole numbers, found something else"),
    ],
)
def test_pickles_that_hold_something_else(tmp_path: Path, changed: dict[str, Any], match: str) -> None:
    held = {"batch_label": "x", "labels": [1, 2, 3, 4], "data": np.zeros((4, 192), np.uint8), **changed}
    held = {key: value for key, value in held.items() if value is not None}
    (tmp_path / "test_batch").write_bytes(Python2Pickle().dumps(held))
    refused(_cifar10(tmp_path), match, split="test")


@pytest.mark.parametrize("packed", [False, True])
def test_a_batch_that_is_a_trap_is_not_sprung(packed: bool, tmp_path: Path) -> None:
    mark = tmp_path / "sprung"
    content = pickle.dumps({"labels": [1, 2, 3, 4], "data": Called(eval, f"open({str(mark)!r}, 'w').close()")}, 2)
    path = tmp_path / ("cifar.tar.gz" if packed else "test_batch")
    path.write_bytes(tar_gz({"test_batch": content}, "cifar-10-batches-py") if packed else content)
    where = path if packed else tmp_path
    match = r"test_batch: not a pickle as it was published; nothing of it was run \(it asks for '\w+.eval'"
    refused(_cifar10(where), match, split="test")
    assert not mark.exists()


def test_a_batch_that_is_too_large_is_not_taken_apart(tmp_path: Path) -> None:
    made = files.write_cifar(tmp_path, kind="python")
    (tmp_path / "data_batch_1").write_bytes(b"\x80\x02" + bytes(2 << 20))
    refused(made, r"data_batch_1: expected at most 1,081,344 bytes, found 2,097,154")


# Archives ------------------------------------------------------------------------------------------------------------


def test_archives_that_hold_something_else(tmp_path: Path) -> None:
    made = files.write_cifar(tmp_path, packed=True)
    content = made.path.read_bytes()
    other = made._replace(published=files.labelled("cifar100", files.CIFAR_SPLITS))
    refused(other, r"expected 'train.bin' in it, found 'data_batch_1.bin', .* is it a file of CIFAR-100")
    made.path.write_bytes(tar_gz({"data_batch_1.bin": bytes(772)}, "x"))
    refused(made, "expected 'data_batch_2.bin' in it, found 'data_batch_1.bin'")
    made.path.write_bytes(tar_gz({"data_batch_1.bin": bytes(2 << 20)}, "x"))
    refused(made, "data_batch_1.bin: expected at most 1,212,416 bytes, found 2,097,152")
    made.path.write_bytes(gzip.decompress(content))
    refused(made, r"expected a .tar.gz; name the folder")
    twice = gzip.decompress(tar_gz({"a/train.bin": b"", "b/train.bin": b""}, "x"))
    made.path.write_bytes(gzip.compress(twice))
    refused(other, "holds 'train.bin' twice")
    made.path.write_bytes(gzip.compress(b"no archive" * 100))
    refused(other, "cifar.tar.gz: damaged or cut off")
    damaged = bytearray(content)
    damaged[-8] ^= 1  # the checksum of gzip
    made.path.write_bytes(damaged)
    refused(made, "cifar.tar.gz: damaged or cut off; copy it again .*CRC")


def test_an_archive_that_unpacks_to_too_much_is_not_unpacked(tmp_path: Path) -> None:
    made = files.write_cifar(tmp_path, packed=True)
    made.path.write_bytes(tar_gz({"huge": bytes(4 << 20), "train.bin": b""}, "x"))
    refused(made, r"cifar.tar.gz: unpacks to more than the 2.19 MiB that its files may take")


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_an_extension_of_tar_that_declares_gigabytes_is_not_taken(kind: bytes, tmp_path: Path) -> None:
    made = files.write_cifar(tmp_path, packed=True)
    extension = tarfile.TarInfo("x")
    extension.type, extension.size = kind, 8 << 30
    header = extension.tobuf(tarfile.GNU_FORMAT)
    made.path.write_bytes(gzip.compress(header + bytes(2048)))
    refused(made, "cifar.tar.gz: damaged or cut off; copy it again .it ends within a file")
    made.path.write_bytes(gzip.compress(header + bytes(4 << 20)))
    refused(made, "unpacks to more than the 2.19 MiB that its files may take")


def test_damage_within_what_is_packed_raises_nothing_else(tmp_path: Path) -> None:
    made = files.write_cifar(tmp_path, "cifar100", "python", packed=True)
    plain = gzip.decompress(made.path.read_bytes())
    headers = [place for place in range(0, len(plain), 512) if plain[place + 257 : place + 262] == b"ustar"]
    assert len(headers) == 3  # the folder and two files
    rng = np.random.default_rng(0)
    refused_ones = 0
    for _ in range(150):
        damaged = bytearray(plain)
        damaged[rng.choice(headers) + rng.integers(0, 160)] = rng.integers(0, 256)
        made.path.write_bytes(gzip.compress(bytes(damaged), 1))
        try:
            load(made.published, made.path)
        except FormatError:
            refused_ones += 1
    assert refused_ones > 100
    for length in range(0, len(plain.rstrip(b"\0")), 997):
        made.path.write_bytes(gzip.compress(plain[:length], 1))
        refused(made, "cifar.tar.gz: damaged or cut off")
