"""What pruning gains: counts of fabrics, and milliseconds measured side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError
from demele.core.kinds import Count, Seed, Several, checked
from demele.core.seeds import rng_for
from demele.models.fabric.model import Fabric

if TYPE_CHECKING:
    import pandas as pd

#: What is timed of each fabric: forward in eval mode, the same after export, and a step of training.
TIMED = ("forward_ms", "exported_ms", "training_ms")


@checked
def benchmark(
    fabrics: Mapping[str, Fabric], *, batch: Several = 64, n_repeats: Count = 5, threads: Count = 1, seed: Seed = 0
) -> pd.DataFrame:
    """Return sizes and times of fabrics, compared with the first one.

    Parameters
    ----------
    fabrics : mapping of str to Fabric
        Such as ``{"whole": whole, "pruned": pruned}``; of one image size.
    batch : int, default 64
        Images at a time.
    n_repeats : int, default 5
        Rounds with one turn for each fabric, so that other load on the machine affects all fabrics equally. The median
        is reported.
    threads : int, default 1
        Of PyTorch on the CPU.
    seed : int, default 0
        Random seed of the images, which are noise.

    Returns
    -------
    DataFrame
        A row for each fabric: ``links``, ``parameters``, ``nonzero`` (weights of links that are not masked),
        ``multiply_adds`` of the links for one image; ``forward_ms``, ``exported_ms`` and ``training_ms`` of a batch;
        and how many times faster than the first each is: ``forward_gain``, ``exported_gain`` (against the first's
        forward pass), ``training_gain``.

    Raises
    ------
    InputError, InputTypeError

    Notes
    -----
    Masked weights are multiplied like all others: pruning weights gains no time, and the table says so. Removed links
    and channels do. Run it where nothing else does.

    Examples
    --------
    >>> from demele.lab import Fabric, benchmark
    >>> whole = Fabric(2, 3, 4, image_channels=1)
    >>> pruned = whole.copy()
    >>> plan = pruned.prune("links", 0.3, min_links="shortest")
    >>> table = benchmark({"whole": whole, "pruned": pruned}, batch=4, n_repeats=1)
    >>> bool(table["multiply_adds"]["pruned"] < table["multiply_adds"]["whole"])
    True
    """
    import pandas as pd

    from demele.models.networks import computing

    given = _checked(fabrics)
    runs = {name: _timed(fabric, batch, seed) for name, fabric in given.items()}
    with computing(threads=threads, device="cpu", gradients=True):
        for each in runs.values():
            _milliseconds(each)  # the first call prepares what later ones use
        measured = [{name: _milliseconds(each) for name, each in runs.items()} for _ in range(n_repeats)]
    rows = {}
    for name, fabric in given.items():
        counts = fabric.counts()
        own = {one: getattr(counts, one) for one in ("links", "parameters", "nonzero", "multiply_adds")}
        times = np.median([one[name] for one in measured], axis=0)
        rows[name] = {**own, **dict(zip(TIMED, times.tolist(), strict=True))}
    table = pd.DataFrame.from_dict(rows, orient="index")
    first = table.iloc[0]
    table["forward_gain"] = first["forward_ms"] / table["forward_ms"]
    table["exported_gain"] = first["forward_ms"] / table["exported_ms"]
    table["training_gain"] = first["training_ms"] / table["training_ms"]
    return table


def _checked(fabrics: Any) -> dict[str, Fabric]:
    if not isinstance(fabrics, Mapping) or not all(isinstance(one, Fabric) for one in fabrics.values()):
        raise InputTypeError("fabrics", "expected a mapping of names to fabrics, such as {'whole': a, 'pruned': b}")
    if not fabrics:
        raise InputError("fabrics", "expected at least 1, got none")
    shapes = {one.spec.image_shape for one in fabrics.values()}
    if len(shapes) > 1:
        told = " and ".join(" x ".join(map(str, shape)) for shape in sorted(shapes))
        raise InputError("fabrics", f"expected fabrics for images of one size, got {told}")
    return {str(name): one.copy() for name, one in fabrics.items()}


def _timed(fabric: Fabric, batch: int, seed: int) -> tuple[Callable[[], object], ...]:
    """Return what is timed of a fabric, in the order of TIMED; it trains a copy."""
    import torch
    from torch.nn import functional

    from demele.models.fabric.network import seen

    height, width, channels = fabric.spec.image_shape
    rng = rng_for(seed, "benchmark", batch)
    pixels: NDArray[np.uint8] = rng.integers(0, 256, (batch, channels, height, width)).astype(np.uint8)
    images, labels = seen(torch.from_numpy(pixels)), torch.zeros(batch, dtype=torch.long)
    looking, exported, learning = (
        fabric.copy().network.cpu(),
        fabric.export().cpu(),
        fabric.copy().network.cpu().train(),
    )
    optimiser = torch.optim.SGD(learning.parameters(), lr=0.0, momentum=0.9)

    def forward(network: Any) -> object:
        with torch.no_grad():
            return network(images)

    def step() -> None:
        optimiser.zero_grad(set_to_none=True)
        functional.cross_entropy(learning(images), labels).backward()  # type: ignore[no-untyped-call]
        optimiser.step()

    return (lambda: forward(looking), lambda: forward(exported), step)


def _milliseconds(each: tuple[Callable[[], object], ...]) -> list[float]:
    found = []
    for one in each:
        begun = time.perf_counter()
        one()
        found.append(1000 * (time.perf_counter() - begun))
    return found
