"""Sets that are converted: the same images and factors from one file that is mapped, whatever happened on the way."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele.core.errors import FormatError, InputError, OutputError
from demele.data import ImageSet
from demele.data.loaders.loading import load
from demele.data.loaders.published import is_converted, open_converted
from tests.data import published_files as files
from tests.data.published_files import LAYOUTS, converted
from tests.refusals import refuses
from tests.tolerances import assert_exact


def assert_same(found: ImageSet, expected: ImageSet) -> None:
    every = np.arange(len(expected))
    assert len(found) == len(expected)
    assert_exact(found.images(every), expected.images(every))
    assert found.factors().equals(expected.factors())
    assert found.space == expected.space
    told = ("name", "shape", "digest", "complete", "provenance", "licence")
    assert [getattr(found, one) for one in told] == [getattr(expected, one) for one in told]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_converted_set_is_the_set(layout: str, tmp_path: Path) -> None:
    write, how, asked = LAYOUTS[layout]
    made = write(tmp_path, **how)
    output = tmp_path / "images.npy"
    expected = load(made.published, made.path, size=5, **asked)
    assert_same(converted(made.published, made.path, output, size=5, **asked), expected)
    assert_same(load(made.published, output, **asked), expected)
    assert_exact(np.load(output), expected.images(np.arange(len(expected))))  # in the order of the grid, for anybody
    assert_exact(load(made.published, output, size=3).images([1]), expected.resized(3).images([1]))


@pytest.mark.parametrize("options", [{"drop_duplicates": True}, {}])
def test_images_in_another_order_are_written_in_that_of_the_grid(tmp_path: Path, options: dict[str, Any]) -> None:
    order = np.random.default_rng(5).permutation(144)
    made = files.write_dsprites(tmp_path, order=order)
    expected = load(made.published, made.path, **options)
    assert_same(converted(made.published, made.path, tmp_path / "a.npy", **options), expected)


def test_a_converted_file_says_what_it_is(tmp_path: Path) -> None:
    made = files.write_smallnorb(tmp_path)
    (tmp_path / "made").mkdir()
    output = tmp_path / "made" / "norb.npy"
    converted(made.published, made.path, output, size=4, camera=1)
    assert [path.name for path in output.parent.iterdir()] == ["norb.npy"]
    assert np.load(output, mmap_mode="r").shape == (96, 4, 4, 1)
    images, made_from = open_converted(output)
    assert images.name == "smallnorb"
    told = {"name": "smallnorb", "split": "both", "camera": 1, "instance": "hidden"}
    assert {what: made_from[what] for what in told} == told
    refuses(InputError, r"camera: .* was converted from 1, got 0", load, made.published, output, camera=0)
    refuses(InputError, r"name: .* was converted from", lambda: load(files.small("mpi3d", files.MPI3D), output))


# The cache -----------------------------------------------------------------------------------------------------------


def test_a_cache_is_written_once(tmp_path: Path) -> None:
    made = files.write_mpi3d(tmp_path, packed=True)
    cache = tmp_path / "kept.npy"
    expected = load(made.published, made.path, variant="toy", size=4)
    assert_same(load(made.published, made.path, variant="toy", size=4, cache=cache), expected)
    written = cache.stat().st_mtime_ns
    assert_same(load(made.published, made.path, variant="toy", size=4, cache=str(cache)), expected)
    assert cache.stat().st_mtime_ns == written
    for other in ({"variant": "real", "size": 4}, {"variant": "toy"}):
        refuses(InputError, r"kept.npy holds mpi3d_toy of 4 x", load, made.published, made.path, cache=cache, **other)


def test_a_cache_never_replaces_a_file_of_others(tmp_path: Path) -> None:
    made = files.write_dsprites(tmp_path)
    theirs = tmp_path / "theirs.npy"
    for content in (b"", b"text", files.npz_bytes({"x": np.arange(3)}, packed=False)):
        theirs.write_bytes(content)
        refuses(InputError, r"theirs.npy was not made by demele", load, made.published, made.path, cache=theirs)
        assert theirs.read_bytes() == content
    refuses(InputError, r"expected a file that ends in", load, made.published, made.path, cache=tmp_path / "kept.npz")


def test_dsprites_is_packed_eight_pixels_in_a_byte(tmp_path: Path) -> None:
    made = files.write_dsprites_hdf5(tmp_path, chunks=False)
    mapped = load(made.published, made.path)
    packed = load(made.published, made.path, cache="packed")
    assert_same(packed, mapped)
    assert packed.stored.rows.nbytes == 144 * 8  # type: ignore[attr-defined]
    assert_same(load(made.published, made.path, cache="packed", size=3), mapped.resized(3))
    other = files.write_mpi3d(tmp_path)
    refuses(InputError, "mpi3d has more than two", load, other.published, other.path, variant="toy", cache="packed")


def test_what_is_too_large_for_memory_asks_for_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demele.data.loaders.published.MOST_HELD", 192 * 4 * 4 * 3)
    made = files.write_mpi3d(tmp_path, packed=True)
    assert load(made.published, made.path, variant="toy", size=4).complete
    refuses(InputError, r"can be read from front to back only, and", load, made.published, made.path, variant="toy")
    assert load(made.published, made.path, variant="toy", cache=tmp_path / "a.npy").complete


# Damage, kills -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["dsprites", "smallnorb", "3dident"])
def test_converted_files_that_are_cut_off_or_changed_behind_the_images(tmp_path: Path, layout: str) -> None:
    write, how, asked = LAYOUTS[layout]
    made = write(tmp_path, **how)
    path = tmp_path / "images.npy"
    images = converted(made.published, made.path, path, size=4, **asked)
    whole = path.read_bytes()
    for length in range(0, len(whole), 50):
        path.write_bytes(whole[:length])
        assert not is_converted(path)
        refuses(FormatError, r"images.npy", open_converted, path)
    path.write_bytes(whole + b"x")
    refuses(FormatError, "its end is not what it should be", open_converted, path)
    behind = len(whole) - len(images) * 16 * images.shape[2] - 128
    rng = np.random.default_rng(0)
    for place in rng.integers(1, behind, 40):
        changed = bytearray(whole)
        changed[-int(place)] ^= 1 << rng.integers(0, 8)
        path.write_bytes(changed)
        refuses(FormatError, r"images.npy: damaged, cut off, or not made by demele lab data", open_converted, path)


def test_a_damaged_source_leaves_nothing(tmp_path: Path) -> None:
    made = files.write_mpi3d(tmp_path, packed=True)
    content = bytearray(made.path.read_bytes())
    content[len(content) // 2] ^= 1
    made.path.write_bytes(bytes(content))
    with pytest.raises(FormatError, match="damaged or cut off"):
        converted(made.published, made.path, tmp_path / "images.npy", variant="toy")
    assert [path.name for path in tmp_path.iterdir()] == [made.path.name]


def test_no_room_on_the_disk_is_told_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = files.write_dsprites(tmp_path)
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1000})())
    refuses(OutputError, r"images.npy: it takes 9 KiB", converted, made.published, made.path, tmp_path / "images.npy")
    refuses(InputError, r"path: expected a file that", converted, made.published, made.path, tmp_path / "images.npz")
