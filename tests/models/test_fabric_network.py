"""The module of a fabric: its sums against functions of PyTorch written out, gates, smaller fabrics, export."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from demele.core.errors import InputError
from demele.lab import Fabric
from demele.models.fabric.network import LinkLayer, recalibrate
from tests.models import fabrics
from tests.models.fabrics import batches, disturbed, images, labels, weights
from tests.refusals import refuses
from tests.tolerances import SINGLE, assert_close, assert_exact


def small(**options: Any) -> Fabric:
    """A fabric of three layers: 26 links."""
    return fabrics.small(**{"layers": 3, **options})


def normal(values: Any, norm: Any) -> Any:
    """A batch norm in eval mode, written out."""
    spread = (norm.running_var + norm.eps).sqrt()
    wide = [one[None, :, None, None] for one in (norm.running_mean, spread, norm.weight, norm.bias)]
    return (values - wide[0]) / wide[1] * wide[2] + wide[3]


def written_out(fabric: Any, pixels: Any) -> Any:
    """Logits of a fabric of 2 layers and 2 scales, link by link."""
    network, per_link = fabric.network, fabric.spec.normalisation == "link"
    cut = (lambda values: values.clamp(0, 6)) if fabric.spec.activation == "relu6" else functional.relu

    def added(name: str, values: Any) -> Any:
        layer = network.input if name == "input" else network.links[name]
        if layer.kind == "up":
            values = functional.interpolate(values, scale_factor=2, mode="bilinear", align_corners=False)
        found = functional.conv2d(
            values, layer.conv.weight, layer.conv.bias, stride=2 if layer.kind == "down" else 1, padding=1
        )
        return cut(normal(found, layer.norm)) if per_link else found

    def node(name: str, total: Any) -> Any:
        return total if per_link else cut(normal(total, network.nodes[name].norm))

    first = node("0_0", added("input", pixels))
    second = node("0_1", added("0_0-0_1", first))
    third = node("1_0", added("0_0-1_0", first) + added("0_1-1_0", second))
    last = node("1_1", added("0_0-1_1", first) + added("0_1-1_1", second) + added("1_0-1_1", third))
    return last.flatten(1) @ network.head.weight.T + network.head.bias


@pytest.mark.parametrize("normalisation", ["link", "node"])
@pytest.mark.parametrize("activation", ["relu6", "relu"])
def test_a_fabric_is_the_sum_of_its_links(normalisation: Any, activation: Any) -> None:
    fabric = disturbed(small(layers=2, scales=2, normalisation=normalisation, activation=activation))
    pixels = torch.from_numpy(np.random.default_rng(0).normal(size=(5, 1, 2, 2))).float() * 5
    with torch.no_grad():
        assert_close(fabric.network(pixels), written_out(fabric, pixels), SINGLE)


def test_links_upwards_double_pixels_not_corners() -> None:
    """Halfway between two pixels lies where they meet: 0 and 1 become 0, 1/4, 3/4, 1."""
    layer = LinkLayer("up", 1, 1, normed=False, biased=False, activated=False, activation="relu")
    with torch.no_grad():
        layer.conv.weight.zero_()
        layer.conv.weight[0, 0, 1, 1] = 1
        found = layer(torch.tensor([[[[0.0, 1.0], [0.0, 1.0]]]]))
    assert_close(found[0, 0], [[0, 0.25, 0.75, 1]] * 4, SINGLE)


# Gates ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalisation", ["link", "node"])
def test_gates_of_zero_are_links_removed(normalisation: Any) -> None:
    fabric = disturbed(small(normalisation=normalisation))
    pruned = fabric.copy()
    plan = pruned.remove(["0.0-0.1", "1.2-2.3", "0.0-1.0"])
    assert plan.removed == len(fabric.links) - len(pruned.links)
    assert plan.cascaded
    gates = [float(name in pruned.links) for name in fabric.links]
    assert_close(pruned.logits(images()), fabric.logits(images(), gates=gates), SINGLE)
    assert not np.allclose(pruned.logits(images()), fabric.logits(images()), atol=1e-3)


def test_each_image_can_have_gates_of_its_own() -> None:
    fabric = disturbed(small())
    gates = np.random.default_rng(0).random((60, len(fabric.links))).round()
    together = fabric.logits(images(), gates=gates)
    for row in (0, 17, 59):
        assert_close(together[[row]], fabric.logits(images(), [row], gates=gates[row]), SINGLE)
    assert_close(fabric.logits(images(), gates=np.ones(len(fabric.links))), fabric.logits(images()), SINGLE)
    refuses(InputError, r"gates: expected shape \(26,\) or \(60, 26\)", fabric.logits, images(), gates=np.ones((60, 3)))


# Smaller fabrics ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalisation", ["link", "node"])
def test_channels_removed_are_channels_of_zero(normalisation: Any) -> None:
    """What the rest of the fabric reads of a channel that is always 0 changes nothing."""
    fabric = disturbed(small(normalisation=normalisation, channels=6))
    compact = fabric.copy()
    compact.prune("channels", 0.4, "random", round_to=1)
    kept = kept_channels(fabric, compact)
    with torch.no_grad():
        for link in fabric.lattice.links:
            gone = np.setdiff1d(np.arange(6), kept[link.source])
            fabric.network.layer(link).conv.weight[:, gone] = 0
        gone = np.setdiff1d(np.arange(6), kept[fabric.lattice.end])
        fabric.network.head.weight[:, gone] = 0
    assert_close(compact.logits(images()), fabric.logits(images()), SINGLE)
    assert compact.counts().channels < fabric.counts().channels


def kept_channels(fabric: Any, compact: Any) -> dict[Any, list[int]]:
    """Which channels of each node stayed, found by their biases or norms, which differ."""
    found = {}
    for node in fabric.lattice.nodes:
        held = []
        for one in (fabric, compact):
            incoming = one.lattice.incoming[node]
            layer = one.network.layer(incoming[0]) if incoming else one.network.input
            key = f"{node.layer}_{node.scale}"
            norm = layer.norm if one.spec.normalisation == "link" else one.network.nodes[key].norm
            held.append(norm.running_mean.numpy())
        found[node] = [int(np.flatnonzero(held[0] == value)[0]) for value in held[1]]
    return found


@pytest.mark.parametrize("normalisation", ["link", "node"])
def test_an_exported_fabric_says_what_eval_mode_says(normalisation: Any) -> None:
    fabric = disturbed(small(normalisation=normalisation))
    fabric.prune("links", 0.3, "random")
    fabric.prune("weights", 0.5, "magnitude")
    exported = fabric.export()
    assert not [one for one in exported.modules() if isinstance(one, torch.nn.BatchNorm2d)]
    assert not exported.masked()
    (pixels, _), _ = batches()
    with torch.no_grad():
        assert_close(exported(pixels), fabric.network(pixels), SINGLE)
    assert sum(one.numel() for one in exported.parameters()) < fabric.counts().parameters


# Running statistics ---------------------------------------------------------------------------------------------------


def test_recalibrated_norms_have_the_means_of_the_batches() -> None:
    fabric = disturbed(small())
    data = [pixels for pixels, _ in batches()]
    norm: Any = fabric.network.input.norm
    with torch.no_grad():
        seen_by_it = [fabric.network.input.conv(pixels) for pixels in data]
    recalibrate(fabric.network, data)
    assert_close(norm.running_mean, np.mean([one.mean(dim=(0, 2, 3)).numpy() for one in seen_by_it], axis=0), SINGLE)
    variances = [one.var(dim=(0, 2, 3)).numpy() for one in seen_by_it]
    assert_close(norm.running_var, np.mean(variances, axis=0), SINGLE)
    assert not fabric.network.training
    assert norm.momentum == 0.1


def test_recalibration_changes_nothing_but_norms() -> None:
    fabric = disturbed(small())
    before = weights(fabric)
    fabric.recalibrate(images())
    changed = {
        name.rsplit(".", 1)[1] for name, values in weights(fabric).items() if not np.array_equal(values, before[name])
    }
    assert changed == {"running_mean", "running_var", "num_batches_tracked"}
    refuses(InputError, "images: expected at least 2", fabric.recalibrate, images().subset([0]))


# What is refused ------------------------------------------------------------------------------------------------------


def test_images_that_do_not_fit_are_told_what_would() -> None:
    fabric = small()
    refuses(InputError, r"takes images of 8 x 8 x 1, got 16 x 16 x 1", lambda: fabric.predict(images().resized(16)))
    refuses(InputError, r"got 9 x 9 x 1; images.resized\(8\)", fabric.predict, images().resized(9))
    refuses(InputError, "image_channels=1 makes a fabric for such", small(image_channels=3).predict, images())


@pytest.mark.parametrize(("kind", "side"), [("same", 1), ("same", 2), ("up", 1), ("up", 2), ("down", 2), ("down", 4)])
def test_a_product_with_a_matrix_is_the_convolution(kind: Any, side: int) -> None:
    layer = LinkLayer(kind, 3, 5, normed=False, biased=True, activated=True, activation="relu6")
    values = torch.randn(4, 3, side, side, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        expected = layer(values)
        layer.make_matrix(side)
        assert_close(layer(values), expected, SINGLE)
        assert_close(layer(values.contiguous(memory_format=torch.channels_last)), expected, SINGLE)
    assert (expected > 0).any()


def test_a_copy_is_another_fabric() -> None:
    fabric = small()
    other = fabric.copy()
    before = weights(fabric)
    other.prune("links", 0.5, "random")
    other.fit(images(), labels(), epochs=1, batch=20)
    for name, values in weights(fabric).items():
        assert_exact(values, before[name])
    assert repr(fabric).endswith("26 of 26 links, 4,154 parameters; new)")
