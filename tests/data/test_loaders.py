"""Published sets are read from tiny files of their layouts: every image in its place, its factors beside it."""

import gzip
import hashlib
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.io

from demele.core.errors import InputError, RepackedFileWarning
from demele.data.loaders.loading import load
from demele.data.loaders.published import PublishedFile, recognised
from tests.data import published_files as files
from tests.data.published_files import LAYOUTS, Written
from tests.refusals import refuses
from tests.tolerances import assert_close, assert_exact


@pytest.mark.parametrize("layout", LAYOUTS)
def test_images_stand_in_the_order_of_the_grid(layout: str, tmp_path: Path) -> None:
    write, how, asked = LAYOUTS[layout]
    made = write(tmp_path, **how)
    images = load(made.published, made.path, **asked)
    every = np.arange(len(images))
    assert_exact(images.images(every), made.images)
    some = np.random.default_rng(1).integers(0, len(images), 7)
    assert_exact(images.images(some), made.images[some])  # repeats, in any order
    assert images.shape == made.images.shape[1:]
    if images.space is not None and images.complete:
        assert_exact(images.index(images.positions(every)), every)
    assert pickle.loads(pickle.dumps(images)).images(some).tobytes() == made.images[some].tobytes()


def test_a_digest_differs_where_files_variants_or_options_do(tmp_path: Path) -> None:
    made = files.write_mpi3d(tmp_path, variant="toy")
    found = {load(made.published, made.path, variant=name).digest for name in ("toy", "real", "complex")}
    before = load(made.published, made.path, variant="toy").digest
    made.path.write_bytes(files.npz_bytes({"images": 255 - made.images}, packed=False))
    found.add(load(made.published, made.path, variant="toy").digest)
    assert before in found
    assert len(found) == 4
    (tmp_path / "norb").mkdir()
    norb = files.write_smallnorb(tmp_path / "norb")
    assert len({load(norb.published, norb.path, camera=camera).digest for camera in (0, 1)}) == 2


def test_large_files_are_recognised_by_their_size_and_their_ends(tmp_path: Path) -> None:
    content = np.random.default_rng(0).bytes(300_000)
    changed = {
        "same": content,
        "first": b"x" + content[1:],
        "last": content[:-1] + b"x",
        "longer": content[:150_000] + content[149_999:],
        "middle": content[:150_000] + b"xx" + content[150_002:],  # what takes no time does not see it
    }
    for name, held in changed.items():
        (tmp_path / name).write_bytes(held)
    found = {name: recognised([tmp_path / name]) for name in changed}
    assert found["middle"] == found["same"]
    assert len({found[name] for name in ("same", "first", "last", "longer")}) == 4


# dSprites ------------------------------------------------------------------------------------------------------------


def test_dsprites_has_values_of_the_file_and_white_is_255(tmp_path: Path) -> None:
    made = files.write_dsprites(tmp_path)
    images = load(made.published, made.path)
    assert images.space.names == ("shape", "scale", "orientation", "x", "y")
    assert images.space.values[0] == ("square", "ellipse", "heart")
    assert_close(images.space.values[2], [0, 2 * np.pi / 3, 4 * np.pi / 3, 2 * np.pi], {"rtol": 1e-12, "atol": 0})
    assert images.space.period == (None,) * 5  # both ends of the circle are there
    assert set(np.unique(images.images([0, 1, 2])).tolist()) == {0, 255}
    first, last = images.index([[1, 0, 0, 1, 2], [1, 0, 3, 1, 2]])
    assert_exact(images.images([first]), images.images([last]))


def test_dsprites_without_duplicates_is_cyclic(tmp_path: Path) -> None:
    made = files.write_dsprites(tmp_path)
    images = load(made.published, made.path, drop_duplicates=True)
    assert images.complete
    assert images.space.sizes == (3, 2, 3, 2, 3)
    assert images.space.period[2] == 2 * np.pi
    assert_close(images.space.values[2], [0, 2 * np.pi / 3, 4 * np.pi / 3], {"rtol": 1e-12, "atol": 0})
    assert [(one.value, one.period) for one in images.space.symmetric] == [("square", np.pi / 2), ("ellipse", np.pi)]
    grid = made.images.reshape(*files.DSPRITES, files.SIDE, files.SIDE, 1)[:, :, :-1]
    assert_exact(images.images(np.arange(len(images))), grid.reshape(-1, files.SIDE, files.SIDE, 1))


# Shapes3D, MPI3D -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("smallest", [0.0, 0.75])
def test_shapes3d_labels_are_values_and_positions_their_ranks(tmp_path: Path, smallest: float) -> None:
    made = files.write_shapes3d(tmp_path, scale=smallest)
    images = load(made.published, made.path)
    assert images.space.values[3] == (smallest, 1.25)
    assert images.space.values[4] == (0, 1)
    assert images.space.kinds == (*["continuous"] * 4, "categorical", "continuous")
    assert images.space.period == (1.0, 1.0, 1.0, None, None, None)
    with h5py.File(made.path) as file:
        assert_exact(images.factors()["orientation"], file["labels"][:, 5])


def test_shapes3d_in_another_order_is_put_in_order(tmp_path: Path) -> None:
    made = files.write_shapes3d(tmp_path)
    order = np.random.default_rng(0).permutation(len(made.images))
    with h5py.File(made.path, "r+") as file:
        labels = file["labels"][:]
        file["images"][:] = made.images[order]
        file["labels"][:] = labels[order]
    images = load(made.published, made.path)
    assert_exact(images.images(np.arange(len(images))), made.images)


def test_a_variant_of_mpi3d_must_be_named(tmp_path: Path) -> None:
    made = files.write_mpi3d(tmp_path)
    refuses(InputError, r"variant: expected one of 'toy' \(192 images\), ", load, made.published, made.path)


# Cars3D, SmallNORB ---------------------------------------------------------------------------------------------------


def test_cars3d_has_elevation_before_azimuth_and_cars_in_the_order_of_the_list(tmp_path: Path) -> None:
    made = files.write_cars3d(tmp_path)
    images = load(made.published, tmp_path)  # the folder above will do
    assert images.space.values[2] == ("car_003_mesh", "car_001_mesh", "car_004_mesh", "car_002_mesh")
    held = scipy.io.loadmat(made.path / "car_001_mesh.mat")["im"]
    row = images.index([[1, 2, 1]])
    assert_exact(images.images(row)[0], held[:, :, :, 2, 1])
    assert images.space.period == (None, 360.0, None)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("camera", [0, 1])
def test_smallnorb_has_two_cameras_and_half_the_azimuths(tmp_path: Path, camera: int, packed: bool) -> None:
    made = files.write_smallnorb(tmp_path, packed=packed)
    images = load(made.published, made.path, camera=camera, instance="factor", split="testing")
    assert images.space.names == ("category", "instance", "elevation", "azimuth", "lighting")
    assert images.space.values[1] == (0, 1)
    assert images.space.values[3] == (0, 20, 40)
    stem = made.path / "smallnorb-5x01235x9x18x6x2x96x96-testing-"
    parts = [Path(f"{stem}{part}.mat" + ".gz" * packed).read_bytes() for part in ("dat", "cat", "info")]
    dat, cat, info = (gzip.decompress(part) if packed else part for part in parts)
    first = np.frombuffer(dat, np.uint8, offset=24).reshape(-1, 2, 8, 8)[0, camera]
    labels = [np.frombuffer(cat, "<i4", offset=20)[0], *np.frombuffer(info, "<i4", offset=20)[:4]]
    row = images.index([[labels[0], labels[1], labels[2], labels[3] // 2, labels[4]]])
    assert_exact(images.images(row)[0, :, :, 0], first)
    assert images.images(np.arange(len(images))).max() > 127  # never read as signed


def test_smallnorb_hides_the_instance_unless_asked(tmp_path: Path) -> None:
    made = files.write_smallnorb(tmp_path)
    images = load(made.published, made.path)
    assert images.space.sizes == (2, 2, 3, 2)
    assert not images.complete
    counts = images.factors().value_counts()
    assert set(counts) == {4}
    assert len(counts) == 24
    refuses(InputError, "draw pairs of the complete set", images.pairs, 1)


# Sets that are no grid -----------------------------------------------------------------------------------------------


def test_rendered_sets_are_found_in_the_folder_and_in_the_one_above(tmp_path: Path) -> None:
    made = files.write_rendered(tmp_path)
    assert load(made.published, tmp_path / "images").digest == load(made.published, tmp_path).digest


def test_3dident_factors_are_quantities(tmp_path: Path) -> None:
    made = files.write_3dident(tmp_path)
    images = load(made.published, made.path)
    assert images.space is None
    assert_exact(images.factors(), np.load(tmp_path / "raw_latents.npy"))
    assert list(images.factors())[7:] == ["object_hue", "spotlight_hue", "background_hue"]


def test_causal3dident_has_a_class_for_each_shape(tmp_path: Path) -> None:
    made = files.write_causal3dident(tmp_path)
    factors = load(made.published, made.path).factors()
    assert factors["object_shape"].tolist() == [0] * 5 + [2] * 5 + [6] * 5
    assert str(factors["object_shape"].dtype) == "category"
    assert_exact(factors.iloc[5:10, 1:], np.load(tmp_path / "raw_latents_2.npy"))


@pytest.mark.parametrize("perturbed", [True, False])
def test_morpho_mnist_has_the_digit_its_measures_and_what_was_done_to_it(tmp_path: Path, perturbed: bool) -> None:
    made = files.write_morpho_mnist(tmp_path, perturbed=perturbed)
    factors = load(made.published, made.path).factors()
    assert list(factors) == [
        *("digit", "area", "length", "thickness", "slant", "width", "height"),
        *["perturbation"] * perturbed,
    ]
    assert len(factors) == 11  # the training half
    assert factors["digit"].cat.categories.tolist() == list(range(10))
    assert len(load(made.published, made.path, split="t10k")) == 4


# Digests, missing extras ---------------------------------------------------------------------------------------------


def digested(made: Written, **known: Any) -> Any:
    return replace(made.published, files=(PublishedFile(made.path.name, **known),))


def test_another_size_is_a_warning_and_another_digest_an_error_where_it_is_asked_for(tmp_path: Path) -> None:
    made = files.write_shapes3d(tmp_path)
    content = made.path.read_bytes()
    own = hashlib.sha256(content).hexdigest()
    assert load(digested(made, size=len(content), digest=own), made.path, check="digest").complete
    with pytest.warns(RepackedFileWarning, match=r"where the published file has 5: it is a copy"):
        load(digested(made, size=5), made.path)
    with pytest.raises(InputError, match=f"expected sha256 {'0' * 64}, found {own}; it is not the published file"):
        load(digested(made, digest="0" * 64), made.path, check="digest")
    md5 = hashlib.md5(content).hexdigest()
    assert load(digested(made, digest=md5), made.path, check="digest").complete
    refuses(InputError, "no digest of these files of Shapes3D is", load, made.published, made.path, check="digest")
