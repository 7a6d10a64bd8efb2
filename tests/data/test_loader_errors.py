"""Files that are cut off, damaged, incomplete or of something else: the message names the file and what is wrong."""

import gzip
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.io
from PIL import Image

import demele
from demele.core.errors import FormatError, InputError, InputTypeError, UnknownNameError
from demele.data.loaders.loading import load
from tests.data import published_files as files
from tests.data.published_files import LAYOUTS, Written, refused
from tests.refusals import refuses

# Cut off, of another kind --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
def test_a_file_that_is_cut_off_is_named(layout: str, share: float, tmp_path: Path) -> None:
    write, how, asked = LAYOUTS[layout]
    made = write(tmp_path, **how)
    every = [path for path in sorted(tmp_path.rglob("*")) if path.is_file() and path.suffix not in (".csv", ".txt")]
    largest = max(every, key=lambda path: path.stat().st_size)
    largest.write_bytes(largest.read_bytes()[: int(share * largest.stat().st_size)])
    refused(made, re.escape(largest.name), **asked)


@pytest.mark.parametrize("layout", ["dsprites", "shapes3d", "mpi3d", "smallnorb", "cars3d", "falcor3d", "morpho_mnist"])
def test_a_file_of_another_kind_is_refused(layout: str, tmp_path: Path) -> None:
    write, how, asked = LAYOUTS[layout]
    made = write(tmp_path, **how)
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name != "list.txt":
            path.write_bytes(b"something else entirely" * 10)
    refused(made, "not |neither", **asked)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_file_that_is_not_there_says_where_it_is_from(layout: str, tmp_path: Path) -> None:
    write, how, asked = LAYOUTS[layout]
    made = write(tmp_path, **how)._replace(path=tmp_path / "elsewhere")
    told = refused(made, f"there is no .*elsewhere; {made.published.title} is published by", InputError, **asked)
    assert made.published.download in told


def test_a_flipped_bit_of_what_is_deflated_is_seen(tmp_path: Path) -> None:
    made = files.write_mpi3d(tmp_path, packed=True)
    norb = files.write_smallnorb(tmp_path)
    path = tmp_path / "smallnorb-5x46789x9x18x6x2x96x96-training-dat.mat.gz"
    for one in (made.path, path):
        content = bytearray(one.read_bytes())
        content[len(content) // 2] ^= 1
        one.write_bytes(bytes(content))
    refused(made, r"mpi3d_toy.npz::images: damaged or cut off at row", variant="toy")
    refused(norb, "training-dat.mat.gz: damaged or cut off")


# Archives ------------------------------------------------------------------------------------------------------------


def rewritten(made: Written, **changed: Any) -> Written:
    """dSprites with arrays that are others, or None for those that are left out."""
    _, _, arrays = files.dsprites_arrays()
    arrays = {name: array for name, array in {**arrays, **changed}.items() if array is not None}
    made.path.write_bytes(files.npz_bytes(arrays, packed=True))
    return made


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"imgs": None}, r"expected 'imgs' in it, found 'latents_classes', 'latents_values'; is it a file of dSprites"),
        ({"imgs": np.zeros((144, 9, 8), np.uint8)}, r"imgs: expected uint8 \(144, 8, 8\), found uint8 \(144, 9, 8\)"),
        ({"imgs": np.full((144, 8, 8), 7, np.uint8)}, r"expected pixels from 0 to 1, got 7"),
        ({"imgs": files.pickled_metadata()}, r"imgs: holds Python objects, which are not loaded because they can run"),
        ({"latents_classes": np.zeros((144, 5), np.int64)}, r"expected int64 \(144, 6\), found int64 \(144, 5\)"),
        ({"latents_classes": np.zeros((144, 6)), "latents_values": np.zeros((144, 6))}, "once; 144 are not, the first"),
        ({"latents_classes": np.full((144, 6), 9)}, r"expected one colour, found several"),
        ({"latents_classes": np.array([["a"] * 6] * 144)}, r"expected numbers \(144, 6\), found <U1 \(144, 6\)"),
        ({"latents_values": np.arange(864.0).reshape(144, 6)}, r"expected one value for each position of shape"),
    ],
)
def test_arrays_of_dsprites_that_are_others(tmp_path: Path, changed: dict[str, Any], match: str) -> None:
    refused(rewritten(files.write_dsprites(tmp_path), **changed), match)


def test_a_deflated_array_with_the_first_axis_fastest_cannot_be_streamed(tmp_path: Path) -> None:
    made = files.write_mpi3d(tmp_path)
    for packed in (False, True):
        made.path.write_bytes(files.npz_bytes({"images": np.asfortranarray(made.images)}, packed=packed))
        if packed:
            refused(made, "save it again with numpy.ascontiguousarray", variant="toy")
        else:
            images = load(made.published, made.path, variant="toy")
            assert np.array_equal(images.images([5, 2]), made.images[[5, 2]])


# HDF5 ----------------------------------------------------------------------------------------------------------------


def _replaced(name: str, array: Any) -> Callable[[Any], None]:
    def change(file: Any) -> None:
        del file[name]
        file[name] = array

    return change


def _linked(file: Any) -> None:
    with h5py.File(f"{file.filename}.other", "w") as other:
        other["images"] = file["images"][:]
    del file["images"]
    file["images"] = h5py.ExternalLink(f"{file.filename}.other", "images")


def _elsewhere(file: Any) -> None:
    del file["images"]
    file.create_dataset("images", (144, 8, 8, 3), np.uint8, external=[("/etc/passwd", 0, h5py.h5f.UNLIMITED)])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda file: file.move("images", "pictures"), "expected 'images' in it, found 'labels', 'pictures'"),
        (_replaced("images", np.zeros((5, 8, 8, 3), np.uint8)), r"expected uint8 \(144, 8, 8, 3\), found uint8 \(5, 8"),
        (_replaced("labels", np.full((144, 6), b"x")), r"expected numbers \(144, 6\), found \|S1"),
        (_linked, "expected 'images' in it, found 'labels'"),
        (_elsewhere, "its values are in another file"),
        (lambda file: file["labels"].__setitem__((3, 1), 0.7), "expected 3 values of wall_hue in column 1, found 4"),
        (lambda file: file["labels"].__setitem__(0, file["labels"][1]), "once; 2 are not, the first at floor_hue 0"),
    ],
)
def test_data_sets_of_shapes3d_that_are_others(tmp_path: Path, change: Callable[[Any], None], match: str) -> None:
    made = files.write_shapes3d(tmp_path)
    with h5py.File(made.path, "r+") as file:
        change(file)
    refused(made, match)


def test_images_in_one_huge_chunk_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demele.data.loaders.readers._MOST", 10_000)
    made = files.write_shapes3d(tmp_path, chunks=(144, 8, 8, 3))
    refused(made, "144 images share chunks and must be read together, which takes 27 KiB; save it again")


# Folders -------------------------------------------------------------------------------------------------------------


def test_pictures_that_are_missing_or_too_many(tmp_path: Path) -> None:
    made = files.write_rendered(tmp_path)
    for number in (5, 100, 7, 30):
        (tmp_path / "images" / f"{number:06}.png").unlink()
    told = refused(made, "expected 192 pictures, 000000.png to 000191.png; 4 are missing")
    assert told.endswith("'000005.png', '000007.png', '000030.png', ...")
    shutil.rmtree(tmp_path / "images")
    files.write_pictures(tmp_path / "images", files.drawn(193, 3), 6)
    refused(made, "1 are too many: '000192.png'$")


def test_pictures_that_cannot_be_read(tmp_path: Path) -> None:
    made = files.write_rendered(tmp_path)
    images = load(made.published, made.path)
    folder = tmp_path / "images"
    (folder / "000003.png").write_bytes(b"not a picture" * 5)
    Image.new("RGB", (9, 8)).save(folder / "000004.png")
    content = (folder / "000005.png").read_bytes()
    (folder / "000005.png").write_bytes(content[: len(content) // 2])
    (folder / "000006.png").unlink()
    refuses(FormatError, r"000003.png: not a PNG that can be read", images.images, np.arange(8))
    refuses(FormatError, r"000005.png: not a PNG that can be read", images.images, [5])
    refuses(OSError, r"000006.png", images.images, [6])
    refuses(FormatError, "expected 8 x 8 pixels, got 8 x 9", images.images, [4])


def test_pictures_with_transparency_or_a_palette_are_read_as_colours(tmp_path: Path) -> None:
    made = files.write_rendered(tmp_path)
    Image.fromarray(made.images[0]).convert("RGBA").save(tmp_path / "images" / "000000.png")
    Image.fromarray(np.full((8, 8), 77, np.uint8)).save(tmp_path / "images" / "000001.png")
    images = load(made.published, made.path).images([0, 1])
    assert np.array_equal(images[0], made.images[0])
    assert (images[1] == 77).all()


def test_labels_beside_pictures_that_contradict_them(tmp_path: Path) -> None:
    made = files.write_rendered(tmp_path)
    labels = np.load(tmp_path / "train-rec.labels")
    with (tmp_path / "train-rec.labels").open("wb") as file:
        np.save(file, labels[::-1])
    refused(made, "expected labels in the order of the pictures' numbers, found another order")


@pytest.mark.parametrize("columns", [9, 11])
def test_another_number_of_factors_of_3dident_lists_them(tmp_path: Path, columns: int) -> None:
    made = files.write_3dident(tmp_path, columns=columns)
    told = refused(made, rf"expected float32 \(12, 10\), found float32 \(12, {columns}\); its columns are position_x")
    assert told.endswith("background_hue")


# Cars3D, SmallNORB, Morpho-MNIST -------------------------------------------------------------------------------------


def test_cars_that_are_missing_or_of_another_kind(tmp_path: Path) -> None:
    made = files.write_cars3d(tmp_path)
    path = made.path / "car_004_mesh.mat"
    content = path.read_bytes()
    path.unlink()
    refused(made, "there is no .*car_004_mesh.mat; Cars3D is published by", InputError)
    scipy.io.savemat(path, {"im": np.zeros((8, 8, 3, 3, 1), np.uint8)})
    refused(made, r"car_004_mesh.mat::im: expected uint8 \(8, 8, 3, 3, 2\), found uint8 \(8, 8, 3, 3, 1\)")
    scipy.io.savemat(path, {"pictures": np.zeros((8, 8, 3, 3, 2), np.uint8)})
    refused(made, "expected 'im' in it, found 'pictures'; is it a file of Cars3D")
    with h5py.File(path, "w", userblock_size=512) as file:
        file["im"] = np.zeros(3)
    head = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    path.write_bytes(head + path.read_bytes()[128:])
    refused(made, "car_004_mesh.mat: a file of MATLAB 7.3; .* save it with -v7")
    path.write_bytes(content)
    (made.path / "list.txt").write_text("car_003_mesh\ncar_001_mesh\ncar_001_mesh\n../../x\n")
    refused(made, "expected 4 different names, found 4, 3 of them different")
    (made.path / "list.txt").write_text("car_003_mesh\ncar_001_mesh\ncar_004_mesh\n../../x\n")
    refused(made, "expected names of files without their ending, found '../../x'")
    (made.path / "list.txt").unlink()
    refused(made, "there is no .*list.txt; Cars3D is published by", InputError)


@pytest.mark.parametrize(
    ("part", "content", "match"),
    [
        ("dat", b"\x52\x4c\x3d\x1e" + bytes(20), "a packed matrix, which is not read"),
        ("dat", b"MATLAB 5.0 MAT-file" + bytes(200), "not a matrix of SmallNORB: it begins with 0x4c54414d, as MATLAB"),
        ("cat", files.matrix_bytes(np.zeros(48, np.int32))[:-4], "expected 212 bytes for shape .48,., found 208; copy"),
        ("info", files.matrix_bytes(np.zeros((48, 4), np.int16)), r"expected int32 \(48, 4\), found int16 \(48, 4\)"),
        ("info", [0, 0, 0, 0], r"info.mat: expected toys \(4, 6\) of 'training', found 0; is it another"),
        ("info", [4, 4, 4, 4], "expected labels of elevation from 0 to 1, found 4 at row 0"),
        ("info", [6, 0, 1, 0], "expected azimuths 0, 2, ..., found odd ones"),
    ],
)
def test_matrices_of_smallnorb_that_are_others(tmp_path: Path, part: str, content: Any, match: str) -> None:
    made = files.write_smallnorb(tmp_path, packed=False)
    if isinstance(content, list):
        content = files.matrix_bytes(np.array([content] * 48, np.int32))
    (tmp_path / f"smallnorb-5x46789x9x18x6x2x96x96-training-{part}.mat").write_bytes(content)
    refused(made, match, instance="factor")


def test_a_packed_matrix_that_unpacks_to_more_is_not_unpacked(tmp_path: Path) -> None:
    made = files.write_smallnorb(tmp_path)
    path = tmp_path / "smallnorb-5x46789x9x18x6x2x96x96-training-cat.mat.gz"
    path.write_bytes(gzip.compress(files.matrix_bytes(np.zeros(48, np.int32)) + bytes(1 << 20)))
    refused(made, "expected 212 bytes once unpacked, its end says 1,048,788")


MEASURES = b"index,area,length,thickness,slant,width,height\n"


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("train-labels-idx1-ubyte.gz", np.full(11, 12, np.uint8), "numbers from 0 to 9, found 12"),
        ("train-images-idx3-ubyte.gz", np.zeros(11, np.uint8), r"\(11, 28, 28\), found uint8 \(11,\)"),
        ("train-morpho.csv", b"index,area\n0,1\n", "expected index, area, length, .* found index, area"),
        ("train-morpho.csv", MEASURES + b"0,x,1,1,1,1,1\n", "not a table of measures"),
        ("train-morpho.csv", MEASURES + b"0,1,1,1,1,1,1\n", r"\(11, 7\), found float64 \(1, 7\)"),
        ("train-morpho.csv", MEASURES + b"0,1,1,1,1,1,1\n" * 11, "found another order"),
    ],
)
def test_files_of_morpho_mnist_that_are_others(tmp_path: Path, name: str, content: Any, match: str) -> None:
    made = files.write_morpho_mnist(tmp_path)
    packed = content if isinstance(content, bytes) else gzip.compress(files.idx_bytes(content))
    (tmp_path / name).write_bytes(packed)
    refused(made, match)


# Names and options ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "asked", "kind", "match"),
    [
        ("dsprite", {}, UnknownNameError, "got 'dsprite'; did you mean 'dsprites'"),
        (None, {}, UnknownNameError, "got None"),
        ("mpi3d", {"variant": "toys"}, UnknownNameError, "no variant 'toys'; it has 'toy', 'realistic', 'real'"),
        ("dsprites", {"variant": "toy"}, UnknownNameError, "dsprites has no variant 'toy'; it has none"),
        ("dsprites", {"camera": 1}, InputTypeError, "it is an option of smallnorb; its options are drop_duplicates"),
        ("smallnorb", {"camera": 2}, InputError, "camera: expected one of 0, 1, got 2"),
        ("smallnorb", {"camera": True}, InputError, "camera: expected one of 0, 1, got True"),
        ("dsprites", {"check": "md5"}, UnknownNameError, "check: expected 'shape' or 'digest', got 'md5'"),
    ],
)
def test_names_and_options_that_there_are_not(
    tmp_path: Path, name: Any, asked: dict[str, Any], kind: type[InputError], match: str
) -> None:
    with pytest.raises(kind, match=match) as caught:
        demele.data.load(name, tmp_path, **asked)
    assert type(caught.value) is kind


def test_a_stream_is_no_file_of_a_set(tmp_path: Path) -> None:
    made = files.write_dsprites(tmp_path)
    refused(made._replace(path=Path("/dev/null")), "expected a file, got a device")
