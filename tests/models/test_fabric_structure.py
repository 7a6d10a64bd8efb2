"""Fabrics: links, paths and counts against enumeration and print, the module against functions of PyTorch, export."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch.nn import functional

from demele.core.errors import InputError, InputTypeError
from demele.lab import Fabric, benchmark
from demele.models.fabric.lattice import FabricSpec, Lattice, Node, counted
from demele.models.fabric.network import LinkLayer, recalibrate
from demele.report.document import Table
from tests.models.fabrics import batches, disturbed, images, labels, small, trained, weights
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SINGLE, assert_close, assert_exact


def counts(**options: Any) -> Any:
    usual: dict[str, Any] = {"channels": 4, "image_channels": 3, "classes": 10}
    found = FabricSpec(**{**usual, "normalisation": "link", "activation": "relu6", **options})
    lattice = found.lattice()
    return counted(found, lattice, dict.fromkeys(lattice.nodes, found.channels))


# Published numbers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "links", "parameters"),
    [
        ({"layers": 8, "scales": 6, "channels": 64}, 122, 4_523_402),
        ({"layers": 8, "scales": 6, "channels": 64, "classes": 100}, 122, 4_529_252),
        ({"layers": 8, "scales": 6, "channels": 16}, 122, 287_594),
        ({"layers": 8, "scales": 7, "channels": 64, "classes": 20}, 145, 5_376_340),
        ({"layers": 4, "scales": 5, "channels": 16, "image_channels": 1}, 47, 110_906),
        ({"layers": 3, "scales": 5, "channels": 8, "image_channels": 1}, 34, 20_586),
    ],
)
def test_parameters_are_those_in_print(options: dict[str, Any], links: int, parameters: int) -> None:
    found = counts(**options)
    assert (found.links, found.parameters) == (links, parameters)


def test_multiplications_and_weights_that_learn_nothing() -> None:
    assert counts(layers=4, scales=5, channels=16, image_channels=1).multiply_adds == 2468 * 9 * 16**2
    for layers, scales, share in ((8, 6, 0.092), (8, 4, 0.148), (4, 4, 0.151)):
        found = counts(layers=layers, scales=scales)
        predicted = ((layers - 1) * 8 / 9 + (layers + 1) * 5 / 9) / found.links
        assert_close(found.unreached / found.weights, predicted, ROUNDING)
        assert round(predicted, 3) == share


# Enumeration ----------------------------------------------------------------------------------------------------------


def walks(lattice: Lattice, node: Node) -> Iterator[int]:
    """Lengths of all paths from a node to the output."""
    if node == lattice.end:
        yield 0
    for link in lattice.links:
        if link.source == node:
            yield from (length + 1 for length in walks(lattice, link.target))


@pytest.mark.parametrize("layers", range(1, 6))
@pytest.mark.parametrize("scales", range(1, 6))
def test_paths_are_those_of_enumeration(layers: int, scales: int) -> None:
    if layers * scales == 1:
        refuses(InputError, "layers and scales: expected at least 2 layers or 2 scales", Lattice.whole, layers, scales)
        return
    lattice = Lattice.whole(layers, scales)
    places = list(itertools.product(range(layers), range(scales)))
    expected = {
        (one, other)
        for one, other in itertools.product(places, places)
        if (other[0] == one[0] + 1 and abs(other[1] - one[1]) <= 1)
        or (other[0] == one[0] and one[0] in (0, layers - 1) and other[1] == one[1] + 1)
    }
    assert set(lattice.links) == expected
    if layers > 1:
        assert len(lattice.links) == (layers - 1) * (3 * scales - 2) + 2 * (scales - 1)
    lengths = list(walks(lattice, lattice.start))
    assert (lattice.paths, lattice.shortest, lattice.longest) == (len(lengths), min(lengths), max(lengths))
    assert lattice.useful() == set(lattice.links)
    seen = {lattice.start}
    for link in lattice.links:  # a walk in order
        assert link.source in seen
        seen.add(link.target)


# The picture ----------------------------------------------------------------------------------------------------------


def test_a_fabric_is_drawn_into_a_file(tmp_path: Any) -> None:
    fabric = small()
    path = tmp_path / "fabric.svg"
    drawn = fabric.to_svg(path, scores=fabric.scores("magnitude"))
    assert path.read_text() == drawn
    refuses(InputError, "scores: expected one for each link, ", fabric.to_svg, scores={"0.0-0.1": 1.0})


# Fabrics --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalisation", ["link", "node"])
def test_counts_are_those_of_the_module(normalisation: Any) -> None:
    fabric = small(normalisation=normalisation)
    fabric.prune("links", 0.3, "random")
    fabric.prune("channels", 0.4, "random", round_to=1)
    found = fabric.counts()
    assert found.parameters == sum(one.numel() for one in fabric.network.parameters())
    kernels = [fabric.network.layer(link).conv.weight for link in fabric.lattice.links]
    assert found.weights == sum(one.numel() for one in kernels) == found.nonzero
    assert found.to_frame().set_index("quantity")["count"]["Links"] == found.to_dict()["links"] == len(fabric.links)


def test_structures_that_are_none_are_refused() -> None:
    refuses(InputError, "expected at least 2 layers or 2 scales", small, layers=1, scales=1)
    refuses(InputError, "normalisation: expected 'link' or 'node'", small, normalisation="layer")


# Documents of fabrics and of trainings -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    """Of 16 links and 32 channels some are gone, and half of the remaining weights are masked."""
    fabric = trained(2)
    fabric.prune("links", 0.3, "magnitude")
    fabric.prune("channels", 0.9, "magnitude", round_to=2)
    fabric.prune("weights", 0.5, "magnitude")
    return fabric


@pytest.fixture(scope="module")
def times(fabric: Fabric) -> pd.DataFrame:
    """The whole fabric, this one, and another."""
    other = trained(2)
    other.prune("links", 0.1, "magnitude")
    found = benchmark({"whole": trained(1), "this": fabric, "other": other}, batch=2, n_repeats=1)
    return found.assign(forward_gain=[1.0, 4.4, 4.0])


def test_a_report_says_what_is_left_and_what_that_gained(fabric: Fabric, times: pd.DataFrame) -> None:
    report = fabric.report(timings=times, errors={"before": 0.25, "pruned": 0.5}, images=40)
    document, now = report.document(), fabric.counts()
    gain = report.whole.multiply_adds / now.multiply_adds
    masked = fabric.prunings[-1]
    assert report.sentence == (
        f"Pruning by magnitude removed {masked['removed']} of {masked['total']} weights; the fabric needs {gain:.1f} "
        "times fewer multiplications than the whole one."
    )
    assert report.sentences[1:] == (
        f"The fabric keeps {now.links} of 16 links and {now.parameters / report.whole.parameters:.0%} of the "
        "parameters.",
        "50% of the remaining weights are masked, which saves no time.",
        "Error on held-out images: 25.0% (before) and 50.0% (pruned).",
        "Compared with whole, a forward pass is 4.4 times as fast.",
    )
    assert isinstance(document.table, Table)
    assert document.table.rows[0] == ("Links", 16, now.links, now.links / 16)
    assert [note.text for note in document.notes] == [one["limit"] for one in fabric.prunings if one["limit"]]
    (first, _) = report.errors
    assert (round(first.interval.low, 3), round(first.interval.high, 3)) == (0.142, 0.402)  # Wilson, by hand
    assert [section.title for section in document.sections] == ["Measures", "Structure", "Training", "Data"]


def test_a_report_refuses_other_errors_and_times() -> None:
    report = small().report
    refuses(InputTypeError, "timings: expected the table of demele.lab.benchmark", report, timings={"forward_ms": 1})
    refuses(InputError, r"errors: expected a share of the images in \[0, 1\], got 12", report, errors={"before": 12})


@pytest.mark.parametrize(
    ("layers", "scales", "paths"), [(4, 4, 68), (8, 4, 3194), (8, 6, 7442), (8, 7, 9627), (16, 6, 28_249_720)]
)
def test_paths_are_those_in_print(layers: int, scales: int, paths: int) -> None:
    lattice = Lattice.whole(layers, scales)
    assert lattice.paths == paths
    assert lattice.shortest == max(layers - 1, scales - 1)
    assert lattice.longest == (layers - 1) + (scales - 1) + min(layers - 1, scales - 1)


# The module -----------------------------------------------------------------------------------------------------------


def deep(**options: Any) -> Fabric:
    """A fabric of three layers: 26 links."""
    return small(**{"layers": 3, **options})


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
    fabric = disturbed(deep(layers=2, scales=2, normalisation=normalisation, activation=activation))
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
    fabric = disturbed(deep(normalisation=normalisation))
    pruned = fabric.copy()
    plan = pruned.remove(["0.0-0.1", "1.2-2.3", "0.0-1.0"])
    assert plan.removed == len(fabric.links) - len(pruned.links)
    assert plan.cascaded
    gates = [float(name in pruned.links) for name in fabric.links]
    assert_close(pruned.logits(images()), fabric.logits(images(), gates=gates), SINGLE)
    assert not np.allclose(pruned.logits(images()), fabric.logits(images()), atol=1e-3)


def test_each_image_can_have_gates_of_its_own() -> None:
    fabric = disturbed(deep())
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
    fabric = disturbed(deep(normalisation=normalisation, channels=6))
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
    fabric = disturbed(deep(normalisation=normalisation))
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
    fabric = disturbed(deep())
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
    fabric = disturbed(deep())
    before = weights(fabric)
    fabric.recalibrate(images())
    changed = {
        name.rsplit(".", 1)[1] for name, values in weights(fabric).items() if not np.array_equal(values, before[name])
    }
    assert changed == {"running_mean", "running_var", "num_batches_tracked"}
    refuses(InputError, "images: expected at least 2", fabric.recalibrate, images().subset([0]))


# What is refused ------------------------------------------------------------------------------------------------------


def test_images_that_do_not_fit_are_told_what_would() -> None:
    fabric = deep()
    refuses(InputError, r"takes images of 8 x 8 x 1, got 16 x 16 x 1", lambda: fabric.predict(images().resized(16)))
    refuses(InputError, r"got 9 x 9 x 1; images.resized\(8\)", fabric.predict, images().resized(9))
    refuses(InputError, "image_channels=1 makes a fabric for such", deep(image_channels=3).predict, images())


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
    fabric = deep()
    other = fabric.copy()
    before = weights(fabric)
    other.prune("links", 0.5, "random")
    other.fit(images(), labels(), epochs=1, batch=20)
    for name, values in weights(fabric).items():
        assert_exact(values, before[name])
    assert repr(fabric).endswith("26 of 26 links, 4,154 parameters; new)")
