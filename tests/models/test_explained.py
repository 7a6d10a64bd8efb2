"""Importance maps of networks by captum: closed forms of linear ones, completeness, what is restored and refused."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from demele.core.errors import InputError, InputTypeError
from demele.explain import importance_maps, predictor
from demele.lab import Fabric
from demele.runtime.work import progress
from tests.refusals import refuses
from tests.tolerances import SINGLE, assert_close, assert_exact

torch = pytest.importorskip("torch")
pytest.importorskip("captum")


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """What is asked here is so little that threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (5, 6, 4, 2), dtype=np.uint8)
WEIGHTS = RNG.normal(size=(3, 6, 4, 2))


def linear(weights: Any = WEIGHTS) -> Any:
    """Outputs are sums of pixels with these weights, of shape (n_classes, height, width, channels)."""
    layer = torch.nn.Linear(weights[0].size, len(weights), bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weights.transpose(0, 3, 1, 2).reshape(len(weights), -1)))
    return torch.nn.Sequential(torch.nn.Flatten(), layer)


def deep() -> Any:
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(), nn.Flatten(), nn.Linear(32, 3))


def test_maps_of_a_linear_network_are_its_weights() -> None:
    seen, wanted = IMAGES / 255, np.array([2, 0, 1, 1, 2])
    own = WEIGHTS[wanted]
    gradient = importance_maps(linear(), IMAGES, wanted)
    assert_close(gradient, np.sqrt((own**2).sum(axis=3)), SINGLE)
    assert_close(importance_maps(linear(), IMAGES, wanted, method="gradient_x_input"), (own * seen).sum(axis=3), SINGLE)
    found = importance_maps(linear(), IMAGES, wanted, method="integrated_gradients", baseline=0.5, steps=3)
    assert_close(found, (own * (seen - 0.5)).sum(axis=3), SINGLE)
    covered = importance_maps(linear(), IMAGES, wanted, method="occlusion", baseline=0.5, window=1)
    assert_close(covered, (own * (seen - 0.5)).sum(axis=3), SINGLE)


def test_a_window_that_covers_several_pixels_says_the_mean_of_its_squares() -> None:
    one = np.zeros((1, 4, 4, 1))
    one[0, 1, 1] = 1.0
    weights = np.zeros((2, 4, 4, 1))
    weights[1, 1, 1] = 3.0
    found = importance_maps(linear(weights), one, [1], method="occlusion", window=2)[0]
    # Squares begin at 0, 1 and 2: of those over a pixel, the share that covers (1, 1) too.
    assert_close(found[:, 1], [3, 3, 1.5, 0], SINGLE)


def test_integrated_gradients_add_up_to_what_the_image_adds() -> None:
    net = deep().eval()
    maps = importance_maps(net, IMAGES, method="integrated_gradients", steps=200)
    with torch.no_grad():
        whole, nothing = (
            net(torch.from_numpy(x).float()) for x in (IMAGES.transpose(0, 3, 1, 2) / 255, np.zeros((5, 2, 6, 4)))
        )
    rows, said = np.arange(5), whole.argmax(dim=1).numpy()
    assert np.abs(maps.sum(axis=(1, 2)) - (whole - nothing).numpy()[rows, said]).max() < 0.01


def test_images_are_seen_in_their_range_and_their_axes() -> None:
    wanted = np.zeros(5, dtype=int)
    options: dict[str, Any] = {"method": "gradient_x_input"}
    moved = importance_maps(linear(), IMAGES, wanted, value_range=(-1, 1), **options)
    assert_close(moved, (WEIGHTS[0] * (IMAGES / 127.5 - 1)).sum(axis=3), SINGLE)
    given = importance_maps(linear(), IMAGES / 255, wanted, **options)
    assert_close(given, (WEIGHTS[0] * IMAGES / 255).sum(axis=3), SINGLE)
    layer = torch.nn.Linear(48, 3, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(WEIGHTS.reshape(3, -1)))
    last = torch.nn.Sequential(torch.nn.Flatten(), layer)
    for method in ("gradient", "gradient_x_input", "integrated_gradients", "occlusion"):
        first = importance_maps(linear(), IMAGES, method=method)
        assert_close(importance_maps(last, IMAGES, method=method, layout="NHWC"), first, SINGLE)


@pytest.mark.parametrize("method", ["gradient", "gradient_x_input", "integrated_gradients", "occlusion"])
def test_the_network_is_left_as_it_was_and_batches_do_not_matter(method: Any) -> None:
    net = deep().train()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    with torch.no_grad():
        whole = importance_maps(net, IMAGES, method=method)
    parts = importance_maps(net, IMAGES, method=method, batch=2)
    assert_close(parts, whole, SINGLE)
    assert whole.shape == (5, 6, 4)
    assert net.training
    assert all(one.grad is None for one in net.parameters())
    for name, value in net.state_dict().items():
        assert_exact(value.numpy(), before[name].numpy())


def test_a_fabric_is_explained_as_it_sees_images() -> None:
    fabric = Fabric(layers=2, scales=3, channels=4, image_channels=1, classes=3)
    images = RNG.integers(0, 256, (3, 4, 4), dtype=np.uint8)
    said = predictor(fabric, outputs="scores")(images)
    with torch.no_grad():
        pixels = (torch.from_numpy(images[:, None].astype(np.float32)) - 128) / 64
        assert_close(said, fabric.network(pixels).numpy(), SINGLE)
    told: list[float] = []
    with progress(lambda done, *_: told.append(done)):
        maps = importance_maps(fabric, images, method="integrated_gradients")
    assert maps.shape == (3, 4, 4)
    assert told == [3]
    shares = predictor(fabric)(images)
    assert_close(shares.sum(axis=1), 1, SINGLE)
    assert_exact(shares.argmax(axis=1), said.argmax(axis=1))


def test_what_cannot_be_explained_is_told() -> None:
    refuses(InputTypeError, "a module of PyTorch or a fabric", importance_maps, lambda x: x, IMAGES)
    refuses(InputError, "expected shape", importance_maps, linear(), IMAGES[0, 0])
    refuses(InputTypeError, "array of numbers", importance_maps, linear(), np.array(["a"]))
    refuses(InputError, "for each of 5 images", importance_maps, linear(), IMAGES, [0, 1])
    refuses(InputError, "from 0 to 2", importance_maps, linear(), IMAGES, [3] * 5)
    refuses(InputError, "one output per class", importance_maps, torch.nn.Conv2d(2, 2, 3), IMAGES)


def test_maps_that_are_not_finite_are_told() -> None:
    class Root(torch.nn.Module):  # type: ignore[name-defined, misc]
        def forward(self, x: Any) -> Any:
            return x.flatten(1)[:, :2].sqrt()  # its slope at 0 has no end

    images = np.full((5, 6, 4), 255, dtype=np.uint8)
    images[3] = 0
    refuses(InputError, "1 of 5 images are not finite, first at row 3", importance_maps, Root(), images)
