"""Morpho-MNIST: digits with what was measured of them, in idx files and tables."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError
from demele.core.reading import opened, parsing
from demele.data.loaders.matrix_files import idx_bytes
from demele.data.loaders.published import PublishedSet, Read, Request
from demele.data.loaders.stored_images import joined

#: Columns of the table after the number of the digit.
MEASURED = ("area", "length", "thickness", "slant", "width", "height")
PERTURBATIONS = ("plain", "thinned", "thickened", "swollen", "fractured")
_DIGITS = 10
_PIXELS = (28, 28)


def _read(request: Request) -> Read:
    """Read labels and measures, and find the images; files are plain or packed by gzip."""
    import pandas as pd

    split = request.options["split"]
    images, tables, files = [], [], []
    for one in ("train", "t10k") if split == "both" else (split,):
        path = _file(request, f"{one}-images-idx3-ubyte")
        held = idx_bytes(path)
        n, pixels = held.shape[0], held.shape[1:] if len(held.shape) == 3 else _PIXELS
        request.expect_array(path, held.dtype, held.shape, "uint8", (n, *pixels))
        images.append(held.images((*pixels, 1)))
        labels, measures = (
            _file(request, f"{one}-labels-idx1-ubyte"),
            request.file(f"{one}-morpho.csv", folder=request.path),
        )
        columns: dict[str, Any] = {"digit": _classes(request, labels, n, _DIGITS)}
        columns |= dict(zip(MEASURED, _measures(request, measures, n).T, strict=True))
        files += [path, labels, measures]
        if any(request.path.glob(f"{one}-pert-idx1-ubyte*")):
            files.append(_file(request, f"{one}-pert-idx1-ubyte"))
            columns["perturbation"] = np.array(PERTURBATIONS)[_classes(request, files[-1], n, len(PERTURBATIONS))]
        tables.append(pd.DataFrame(columns))
    if len({one.shape for one in images}) > 1:
        raise FormatError(request.path, "expected images of one size in both halves, found several")
    table = pd.concat(tables, ignore_index=True)
    table["digit"] = pd.Categorical(table["digit"], categories=range(_DIGITS))
    if "perturbation" in table:
        if table["perturbation"].isna().any():
            raise FormatError(request.path, "expected perturbations of both halves, or of none; found those of one")
        table["perturbation"] = pd.Categorical(table["perturbation"], categories=PERTURBATIONS)
    return Read(images=joined(images), files=tuple(files), table=table)


def _file(request: Request, name: str) -> Path:
    return request.file(name, f"{name}.gz", folder=request.path)


def _classes(request: Request, path: Path, n: int, most: int) -> NDArray[np.uint8]:
    held = idx_bytes(path)
    request.expect_array(path, held.dtype, held.shape, "uint8", (n,))
    values: NDArray[np.uint8] = held.whole()
    if values.max() >= most:
        raise FormatError(path, f"expected numbers from 0 to {most - 1}, found {values.max()}")
    return values


def _measures(request: Request, path: Path, n: int) -> NDArray[np.float64]:
    with opened(path) as file, parsing(f"{path}: not a table of measures that can be read"):
        rows = csv.reader(file)
        names = tuple(next(rows, ()))
        request.expect(path, ", ".join(names), ", ".join(("index", *MEASURED)))
        values = np.array([[float(cell) for cell in row] for row in rows], dtype=np.float64)
    request.expect_array(path, values.dtype, values.shape, "numbers", (n, 1 + len(MEASURED)))
    if (values[:, 0] != np.arange(n)).any():
        raise FormatError(path, "expected index 0, 1, 2, ..., found another order")
    if not np.isfinite(values).all():
        raise FormatError(path, f"found {int((~np.isfinite(values)).sum())} measures that are no finite numbers")
    return values[:, 1:]


MORPHO_MNIST = PublishedSet(
    name="morpho_mnist",
    title="Morpho-MNIST",
    publisher="D. C. Castro et al.",
    download="an archive of 13 to 17 MB for each variant, at https://github.com/dccastro/Morpho-MNIST",
    licence="as the page of the download says",
    provenance="Morpho-MNIST: D. C. Castro, J. Tan, B. Kainz, E. Konukoglu and B. Glocker, JMLR 2019",
    read=_read,
    options={"split": ("train", "t10k", "both")},
    notes=("Factors were measured, not set: they are no grid, and depend on each other and on the digit.",),
)
