"""SmallNORB: toys from two cameras, in six matrices whose endings say MATLAB and whose content is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError
from demele.data.loaders.matrix_files import MatrixFile, matrix_header, matrix_store, read_matrix
from demele.data.loaders.published import (
    Description,
    Factor,
    Grid,
    Opened,
    PublishedFile,
    PublishedSet,
    Request,
    order_of,
)
from demele.data.loaders.stores import joined

_STEMS: Mapping[str, str] = {
    "training": "smallnorb-5x46789x9x18x6x2x96x96-training-{}.mat",
    "testing": "smallnorb-5x01235x9x18x6x2x96x96-testing-{}.mat",
}
#: Which of ten toys of each category are in each half.
INSTANCES: Mapping[str, tuple[int, ...]] = {"training": (4, 6, 7, 8, 9), "testing": (0, 1, 2, 3, 5)}
_PARTS = ("dat", "cat", "info")
_CAMERAS = 2
#: Azimuths are stored as 0, 2, ..., 34.
_AZIMUTH_STEP = 2
_AZIMUTH = 3


def read_smallnorb(request: Request) -> Opened:
    """Read the labels, and sort by them: the files are in no order of the grid."""
    split = request.options["split"]
    splits = tuple(_STEMS) if split == "both" else (split,)
    files = {one: _files(request, one) for one in splits}
    missing = [path for one in splits for path in files[one].values() if not path.exists()]
    if missing:
        raise request.no_file(missing[0])
    grid = _grid_of(request.grid, splits)
    stores, labels = [], []
    for one in splits:
        n = grid.n // len(splits)
        headers = {part: matrix_header(path) for part, path in files[one].items()}
        for part, shape in (("dat", (n, _CAMERAS, *grid.pixels[:2])), ("cat", (n,)), ("info", (n, 4))):
            _expect(request, headers[part], "uint8" if part == "dat" else "int32", shape)
        stores.append(matrix_store(headers["dat"], layer=request.options["camera"]))
        info = read_matrix(headers["info"])
        _check_instances(files[one]["info"], one, info[:, 0], _grid_of(request.grid, (one,)))
        labels.append(np.column_stack([read_matrix(headers["cat"]), info]))
    positions = _positions(np.concatenate(labels).astype(np.int64), grid, request.path)
    order = order_of(positions, grid.sizes, [factor.name for factor in grid.factors], request.path)
    opened = Opened(joined(stores), tuple(path for one in splits for path in files[one].values()), order=order)
    if request.options["instance"] == "factor":
        return replace(opened, space=grid.space())
    shown = replace(grid, factors=tuple(factor for factor in grid.factors if factor.name != "instance"))
    every = np.stack(np.unravel_index(np.arange(grid.n), grid.sizes), axis=-1)
    kept = [column for column, factor in enumerate(grid.factors) if factor.name != "instance"]
    places = np.ravel_multi_index(tuple(every[:, kept].T), shown.sizes).astype(np.int64)
    return replace(opened, space=shown.space(), places=places)


def _files(request: Request, split: str) -> dict[str, Path]:
    """Return the three files of a half: plain ones, or those that gzip packed."""
    found = {}
    for part in _PARTS:
        plain = request.path / _STEMS[split].format(part)
        packed = plain.with_name(f"{plain.name}.gz")
        found[part] = packed if packed.exists() and not plain.exists() else plain
    return found


def _grid_of(grid: Grid, splits: tuple[str, ...]) -> Grid:
    """Return the grid of one half or of both: the instances differ."""
    each = next(factor.size for factor in grid.factors if factor.name == "instance") // len(INSTANCES)
    held = tuple(sorted(number for split in splits for number in INSTANCES[split][:each]))
    return replace(
        grid,
        factors=tuple(
            replace(factor, size=len(held), values=held) if factor.name == "instance" else factor
            for factor in grid.factors
        ),
    )


def _expect(request: Request, held: MatrixFile, kind: str, shape: tuple[int, ...]) -> None:
    request.expect(held.path, Description(held.dtype.name, held.shape), Description(kind, shape))


def _check_instances(path: Path, split: str, found: NDArray[np.int32], grid: Grid) -> None:
    expected = grid.factors[1].values or ()
    others = found[~np.isin(found, np.array(expected))]
    if others.size:
        raise FormatError(
            path,
            f"expected the toys {expected} of the half {split!r}, found {others[0]}",
            "look at the names of the files",
        )


def _positions(labels: NDArray[np.int64], grid: Grid, path: Path) -> NDArray[np.int64]:
    """Return positions of category, instance, elevation, azimuth and lighting."""
    positions = labels.copy()
    if (positions[:, _AZIMUTH] % _AZIMUTH_STEP).any():
        raise FormatError(path, "expected azimuths 0, 2, ..., found odd ones")
    positions[:, _AZIMUTH] //= _AZIMUTH_STEP
    positions[:, 1] = np.searchsorted(np.array(grid.factors[1].values), labels[:, 1])
    for column, factor in enumerate(grid.factors):
        wrong = (positions[:, column] < 0) | (positions[:, column] >= factor.size)
        if wrong.any():
            raise FormatError(
                path, f"expected {factor.name} from 0 to {factor.size - 1}, found {positions[wrong, column][0]}"
            )
    return positions


_SHA256 = {
    ("training", "dat"): "5ffd6272a07d32695ee1082a26a41a93a37aab8c28da047f8c34ed348d214873",
    ("training", "cat"): "2784e542c1922060691090952b6cd6278879a216c90f81476f0f00256d42cdaa",
    ("training", "info"): "de7eb932ebe7a4ee16217fead60660d0eb3d23632c2f4d1c51f88c501c17bf32",
    ("testing", "dat"): "cf7104eed3e51174d2f65b66d1e5878b9da233b886f161b0d88f4510ba2c7474",
    ("testing", "cat"): "ecaf6d5bb8c3bc5eab9cf0258f6d2198dd474e016e374836fc097f2e5ff509ff",
    ("testing", "info"): "16adf314226327ee006d1a44db8cfef52773c06c829951d5653a9f6f310248a2",
}

SMALLNORB = PublishedSet(
    name="smallnorb",
    title="SmallNORB",
    publisher="New York University",
    download="six files of 900 MB once unpacked, at https://cs.nyu.edu/~ylclab/data/norb-v1.0-small",
    licence="for research; may not be sold",
    provenance="SmallNORB: Y. LeCun, F. J. Huang and L. Bottou, CVPR 2004",
    read=read_smallnorb,
    grids={
        "": Grid(
            (
                Factor("category", 5, ("animal", "human", "airplane", "truck", "car"), "categorical"),
                Factor("instance", 10, kind="categorical"),
                Factor("elevation", 9, tuple(range(30, 75, 5))),
                Factor("azimuth", 18, tuple(range(0, 360, 20)), period=360.0),
                Factor("lighting", 6, tuple(range(6)), "categorical"),
            ),
            (96, 96, 1),
        )
    },
    files=tuple(
        PublishedFile(f"{_STEMS[split].format(part)}.gz", sha256=digest) for (split, part), digest in _SHA256.items()
    ),
    options={"split": ("both", "training", "testing"), "camera": (0, 1), "instance": ("hidden", "factor")},
    notes=(
        "Ten toys of each category are ten images of every combination of factors. instance='factor' tells them apart.",
        "Two cameras took each picture; camera=1 is the other one.",
    ),
)
