"""SmallNORB: toys from two cameras, in six matrices whose endings say MATLAB and whose content is none."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from demele.core.errors import FormatError
from demele.data.loaders.matrix_files import matrix
from demele.data.loaders.published import Factor, PublishedFile, PublishedSet, Read, Request, one_grid
from demele.data.loaders.stored_images import joined

_STEMS: Mapping[str, str] = {
    "training": "smallnorb-5x46789x9x18x6x2x96x96-training-{}.mat",
    "testing": "smallnorb-5x01235x9x18x6x2x96x96-testing-{}.mat",
}
#: Which of ten toys of each category are in each half.
INSTANCES: Mapping[str, tuple[int, ...]] = {"training": (4, 6, 7, 8, 9), "testing": (0, 1, 2, 3, 5)}
_CAMERAS = 2
#: The column of the azimuth, which is stored as 0, 2, ..., 34.
_AZIMUTH = 3


def _read(request: Request) -> Read:
    """Read the labels of one half or of both: the files are in no order of the grid."""
    grid, asked = request.grid, request.options["split"]
    splits = tuple(_STEMS) if asked == "both" else (asked,)
    toys = {one: INSTANCES[one][: grid.factors[1].size // len(INSTANCES)] for one in splits}
    held = tuple(sorted(toy for one in splits for toy in toys[one]))
    n = grid.n // len(INSTANCES)
    images, labels, files = [], [], []
    for one in splits:
        names = [_STEMS[one].format(part) for part in ("dat", "cat", "info")]
        paths = [request.file(name, f"{name}.gz", folder=request.path) for name in names]
        dat, cat, info = matrices = [matrix(path) for path in paths]
        shapes = ((n, _CAMERAS, *grid.pixels[:2]), (n,), (n, len(grid.factors) - 1))
        for one_of_them, kind, shape in zip(matrices, ("uint8", "int32", "int32"), shapes, strict=True):
            request.expect_array(one_of_them.path, one_of_them.dtype, one_of_them.shape, kind, shape)
        images.append(dat.images(grid.pixels, partial(np.take, indices=request.options["camera"], axis=1)))
        labels.append(np.column_stack([cat.whole(), info.whole()]).astype(np.int64))
        others = labels[-1][~np.isin(labels[-1][:, 1], toys[one]), 1]
        if others.size:
            raise FormatError(
                info.path,
                f"expected the toys {toys[one]} of the half {one!r}, found {others[0]}",
                "look at the names of the files",
            )
        files += paths
    positions = np.concatenate(labels)
    if (positions[:, _AZIMUTH] % 2).any():
        raise FormatError(request.path, "expected azimuths 0, 2, ..., found odd ones")
    positions[:, _AZIMUTH] //= 2
    positions[:, 1] = np.searchsorted(held, positions[:, 1])
    hidden = ("instance",) if request.options["instance"] == "hidden" else ()
    return Read(
        images=joined(images),
        files=tuple(files),
        positions=positions,
        labelled=request.path,
        values={"instance": held},
        hidden=hidden,
    )


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
    read=_read,
    grids=one_grid(
        (96, 96, 1),
        Factor("category", 5, ("animal", "human", "airplane", "truck", "car"), "categorical"),
        Factor("instance", 10, kind="categorical"),
        Factor("elevation", 9, tuple(range(30, 75, 5))),
        Factor("azimuth", 18, tuple(range(0, 360, 20)), period=360.0),
        Factor("lighting", 6, tuple(range(6)), "categorical"),
    ),
    files=tuple(
        PublishedFile(f"{_STEMS[split].format(part)}.gz", digest=digest) for (split, part), digest in _SHA256.items()
    ),
    options={"split": ("both", "training", "testing"), "camera": (0, 1), "instance": ("hidden", "factor")},
    notes=(
        "Ten toys of each category are ten images of every combination of factors. instance='factor' tells them apart.",
        "Two cameras took each picture; camera=1 is the other one.",
    ),
)
