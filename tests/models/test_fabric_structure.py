"""The lattice of a fabric: links, paths and counts against enumeration and published numbers; its picture."""

import itertools
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

from demele.core.errors import InputError, InputTypeError
from demele.lab import Fabric, benchmark
from demele.models.fabric.lattice import FabricSpec, Lattice, Node, counted
from demele.report.document import Table
from tests.models.fabrics import small, trained
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close


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
