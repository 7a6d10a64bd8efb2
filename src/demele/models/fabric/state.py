"""What a file holds of a fabric: its structure by names, its weights as tensors, and how far its training is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from demele.core.checked_numbers import is_number
from demele.core.errors import FormatError, InputError
from demele.core.extras import require
from demele.models.checkpoint import Layout
from demele.models.fabric.lattice import Lattice
from demele.models.fabric.network import FabricNetwork, empty_network, key_of
from demele.models.fabric.run import ROW, STATUSES
from demele.models.fabric.spec import ACTIVATIONS, MOST_SCALES, NORMALISATIONS, FabricSpec, TrainingSpec

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", purpose="a fabric")

#: What a file of a fabric holds beside structure and weights.
PAST = ("optimiser", "epoch", "training", "prunings", "status", "history", "seconds", "problem")
#: What a file of a fabric holds.
LAYOUT = Layout(
    name="demele-fabric",
    version=1,
    keys=("fabric", "links", "widths", "masked", "weights", *PAST),
    what="a fabric of demele",
    reader="load it with demele.models.Fabric.load",
)


def network_state(network: FabricNetwork) -> dict[str, Any]:
    """Return structure and weights as tensors and plain values, with copies of the tensors."""
    lattice = network.lattice
    return {
        "fabric": network.spec.to_dict(),
        "links": [link.name for link in lattice.links],
        "widths": {key_of(node): width for node, width in network.widths.items()},
        "masked": [link.name for link in lattice.links if network.layer(link).mask is not None],
        "weights": {name: values.detach().cpu().clone() for name, values in network.state_dict().items()},
    }


def network_from(content: Mapping[str, Any], what: str) -> FabricNetwork:
    """Return the fabric that a file holds, on the CPU.

    Raises
    ------
    FormatError
        If its weights are not those of its structure: before memory is taken for them.
    """
    spec = FabricSpec.from_dict(content["fabric"], what)
    check_spec(spec, what)
    lattice = Lattice.named(spec.layers, spec.scales, content["links"], what)
    keys = {key_of(node): node for node in lattice.nodes}
    if set(content["widths"]) != set(keys):
        raise FormatError(what, "its channels are not those of its nodes")
    widths = {keys[key]: int(width) for key, width in content["widths"].items()}
    if not all(1 <= width <= spec.channels for width in widths.values()):
        raise FormatError(what, f"expected 1 to {spec.channels} channels at each node")
    with torch.device("meta"):
        wanted = _shapes(_masked(FabricNetwork(spec, lattice, widths), content["masked"]).state_dict())
    if wanted != _shapes(content["weights"]):
        raise FormatError(what, "its weights are not those of its links and channels")
    network = _masked(empty_network(spec, lattice, widths), content["masked"])
    network.load_state_dict(dict(content["weights"]))
    return network


def _masked(network: FabricNetwork, names: Any) -> FabricNetwork:
    """Give masks to the links that have one."""
    for link in network.lattice.links:
        if link.name in names:
            layer = network.layer(link)
            layer.mask = torch.ones_like(layer.conv.weight)
    return network


def _shapes(weights: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(values.shape) for name, values in weights.items()}


def check_spec(spec: FabricSpec, what: str) -> None:
    """Refuse a structure that a file could not have.

    Raises
    ------
    FormatError
    """
    counts = (spec.layers, spec.scales, spec.channels, spec.image_channels, spec.classes)
    whole = all(isinstance(one, int) and not isinstance(one, bool) and one >= 1 for one in counts)
    known = spec.normalisation in NORMALISATIONS and spec.activation in ACTIVATIONS
    if not whole or not known or spec.scales > MOST_SCALES:
        raise FormatError(what, "its structure is none of a fabric")
    try:
        spec.lattice()
    except InputError as error:
        raise FormatError(what, str(error)) from error


def check_past(content: Mapping[str, Any], what: str) -> None:
    """Refuse a file that does not hold what a training leaves.

    Raises
    ------
    FormatError
    """
    history, training = content["history"], content["training"]
    whole = (
        content["status"] in STATUSES
        and isinstance(content["epoch"], int)
        and content["epoch"] >= 0
        and is_number(content["seconds"])
        and isinstance(content["problem"], str)
        and isinstance(content["prunings"], list)
        and all(isinstance(one, dict) for one in content["prunings"])
        and isinstance(content["optimiser"], dict | None)
        and isinstance(history, dict)
        and (not history or set(history) == set(ROW))
        and len({len(column) for column in history.values()}) <= 1
        and all(isinstance(one, float | int) for column in history.values() for one in column)
    )
    if not whole:
        raise FormatError(what, "its history is not that of a training")
    if training is not None:
        TrainingSpec.from_dict(training, what)


def digest_of_network(network: FabricNetwork) -> str:
    """Return 16 letters that differ where structures or weights do."""
    found = hashlib.blake2b(digest_size=8)
    state = network_state(network)
    for name in ("fabric", "links", "widths", "masked"):
        found.update(f"\x1e{name}\x1f{state[name]!r}".encode())
    for name, values in state["weights"].items():
        found.update(f"\x1e{name}\x1f".encode())
        found.update(values.contiguous().numpy().tobytes())
    return found.hexdigest()
