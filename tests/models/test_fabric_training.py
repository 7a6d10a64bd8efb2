"""Training of fabrics: the same bits however it is stopped, what files hold, and what is refused."""

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import demele
from demele.core.errors import FormatError, InputError, InputTypeError, NotConvergedWarning
from demele.core.store import locked
from demele.lab import Fabric
from demele.models.fabric.network import LAYOUT, Feed, augmented
from demele.models.training import read_checkpoint
from tests.models.fabrics import TRAINED, images, labels, small, trained, weights
from tests.refusals import refuses
from tests.tolerances import SINGLE, assert_close, assert_exact

#: Columns of a history that no seed decides.
TIMED = ["images_per_second"]


def assert_same(one: Fabric, other: Fabric) -> None:
    """Same bits: structure, weights, running statistics, history."""
    assert one.links == other.links
    found = weights(other)
    for name, values in weights(one).items():
        assert_exact(values, found[name])
    assert_exact(one.run.history.drop(columns=TIMED), other.run.history.drop(columns=TIMED))


# Bits -----------------------------------------------------------------------------------------------------------------


def test_the_seed_decides_every_bit() -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state(), torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    first = trained()
    assert_exact(torch.random.get_rng_state(), before[0])
    assert (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()) == before[1:]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert_same(first, trained())
    other, order = weights(trained(seed=1)), weights(trained(fit={"seed": 1}))
    name = "input.conv.weight"
    assert not np.array_equal(weights(first)[name], other[name])
    assert not np.array_equal(weights(first)[name], order[name])


def test_a_step_is_that_of_the_formula() -> None:
    """One batch of all images: w - rate (g + decay w)."""
    fabric = small()
    before = {name: one.detach().clone() for name, one in fabric.network.named_parameters()}
    network = fabric.copy().network.train()
    ((pixels, classes),) = Feed(images(), labels(), "cpu").batches(size=60)
    torch.nn.functional.cross_entropy(network(pixels), classes).backward()  # type: ignore[no-untyped-call]
    gradients: dict[str, Any] = {name: one.grad for name, one in network.named_parameters()}
    fabric.fit(images(), labels(), epochs=1, batch=60, rate=0.05, weight_decay=0.01)
    for name, one in fabric.network.named_parameters():
        expected = before[name] - 0.05 * (gradients[name] + 0.01 * before[name])
        assert_close(one.detach(), expected, SINGLE)


# Stopped and gone on --------------------------------------------------------------------------------------------------


def test_a_training_in_parts_is_the_training_in_one(tmp_path: Path) -> None:
    whole = trained(4)
    parts = small()
    for epochs in (1, 3, 4):
        parts.fit(images(), labels(), epochs=epochs, **TRAINED)
    assert_same(whole, parts)
    path = tmp_path / "fabric"
    for epochs in (2, 4):
        again = small()
        again.fit(images(), labels(), epochs=epochs, checkpoint=path, **TRAINED)
    assert_same(whole, again)
    loaded = Fabric.load(path)
    assert_same(whole, loaded)
    loaded.fit(images(), labels(), epochs=5, checkpoint=path, **TRAINED)
    assert_same(trained(5), loaded)


def test_crops_and_flips_are_those_of_the_epoch_however_a_training_is_stopped(tmp_path: Path) -> None:
    fit = {"crop": 2, "flip": True, "checkpoint": tmp_path / "file"}
    parts = trained(1, fit=fit)
    assert_same(trained(3, fit={"crop": 2, "flip": True}), trained(3, fit=fit))
    with pytest.raises(InputError, match="crop"):
        small().fit(images(), labels(), epochs=4, **{**TRAINED, "checkpoint": tmp_path / "file"})
    assert not np.array_equal(weights(parts)["head.weight"], weights(trained(1))["head.weight"])


def test_a_crop_moves_the_image_and_a_flip_mirrors_it() -> None:
    """By hand: the row above is grey, and the last column of the frame is cut off; then left is right."""
    image = torch.arange(1.0, 10.0).reshape(1, 1, 3, 3)
    corner, no = np.array([[0, 1]]), np.array([False])
    assert augmented(image, 1, corner, no)[0, 0].tolist() == [[0, 0, 0], [1, 2, 3], [4, 5, 6]]
    assert augmented(image, 1, corner, ~no)[0, 0].tolist() == [[0, 0, 0], [3, 2, 1], [6, 5, 4]]
    assert_exact(augmented(image, 1, np.array([[1, 1]]), no), image)


def test_pruning_within_a_training_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    def early(path: Path | None, stops: tuple[int, ...]) -> Fabric:
        fabric = trained(1)
        fabric.prune("links", 0.3, "magnitude")
        fabric.prune("weights", 0.5, "magnitude")
        fabric.prune("channels", 0.3, "magnitude", round_to=1)
        for epochs in stops:
            fabric.copy().fit(images(), labels(), epochs=epochs, checkpoint=path, **TRAINED)
        if path is not None:
            return Fabric.load(path)
        fabric.fit(images(), labels(), epochs=3, **TRAINED)
        return fabric

    assert_same(early(tmp_path / "fabric", (2, 3)), early(None, ()))


def test_masked_weights_stay_at_zero() -> None:
    fabric = trained(1)
    fabric.prune("weights", 0.6, "magnitude")
    before = fabric.counts().nonzero
    fabric.fit(images(), labels(), epochs=3, **TRAINED)
    zeros = sum(int((fabric.network.layer(link).conv.weight == 0).sum()) for link in fabric.lattice.links)
    assert fabric.counts().weights - zeros == fabric.counts().nonzero == before


def test_a_training_that_overflows_keeps_the_last_good_weights(tmp_path: Path) -> None:
    path = tmp_path / "fabric"
    fabric = trained(1, fit={"checkpoint": path})
    before = weights(fabric)
    fabric = small()
    with pytest.warns(NotConvergedWarning, match="in epoch 1, at rate 1e[+]30; the weights are those after 0 epochs"):
        run = fabric.fit(images(), labels(), epochs=2, rate=1e30, **TRAINED)
    assert (run.status, run.epochs) == ("diverged", 0)
    assert_same(fabric, small())
    assert fabric.fit(images(), labels(), epochs=1, **TRAINED).status == "done"
    for name, values in weights(fabric).items():
        assert_exact(values, before[name])


# Files ----------------------------------------------------------------------------------------------------------------


def test_what_is_no_file_of_a_training_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "fabric"
    refuses(InputError, "checkpoint: cannot read", Fabric.load, path)
    path.write_bytes(b"no fabric")
    refuses(FormatError, "not a fabric of demele", Fabric.load, path)
    small().save(path)
    refuses(FormatError, "holds a network and no training of one", trained, 1, fit={"checkpoint": path})
    path.unlink()
    trained(1, fit={"checkpoint": path})
    with locked(path, "checkpoint"), pytest.raises(InputError, match="another run is writing"):
        trained(2, fit={"checkpoint": path})
    refuses(FormatError, "not a training of demele", demele.lab.load_vae, path)
    monkeypatch.setattr("demele.models.training.__version__", "9.9")
    refuses(InputError, r"was trained by demele .*load it with", trained, 2, fit={"checkpoint": path})


def test_files_that_were_changed_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "fabric"
    content = read_checkpoint(small().save(path), LAYOUT)
    one_node = {**content["fabric"], "layers": 1, "scales": 1}
    for changed, message in (
        ({"fabric": one_node}, "its structure is none of a fabric"),
        ({"links": ["0.0-5.5"]}, "no links of 2 layers and 4 scales"),
        ({"links": ["0.0-1.0"]}, "do not all lie on a path"),
        ({"widths": {}}, "its channels are not those of its nodes"),
        ({"history": 3}, "its history is not that of a training"),
    ):
        torch.save({**content, **changed}, path)
        refuses(FormatError, message, Fabric.load, path)


# What is refused ------------------------------------------------------------------------------------------------------


def test_what_cannot_be_trained_on_is_refused() -> None:
    expected, fit = "labels: expected classes from 0 to 9, ", small().fit
    refuses(InputError, f"{expected}.* got 10 at row 10", fit, images(), np.arange(60), epochs=1)
    refuses(InputError, "expected one for each of the 60 images, got 59", fit, images(), labels(59), epochs=1)
    refuses(InputTypeError, f"{expected}.*; number the classes", fit, images(), ["a"] * 60, epochs=1)
