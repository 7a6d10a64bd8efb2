"""Morpho-MNIST: digits with what was measured of them, in idx files and tables."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError
from demele.core.reading import opened, parsing
from demele.data.loaders.matrix_files import idx_header, matrix_store, read_matrix
from demele.data.loaders.published import Description, Opened, PublishedSet, Request
from demele.data.loaders.stores import joined

if TYPE_CHECKING:
    import pandas as pd

#: Columns of the table after the number of the digit.
MEASURED = ("area", "length", "thickness", "slant", "width", "height")
PERTURBATIONS = ("plain", "thinned", "thickened", "swollen", "fractured")
_DIGITS = 10
_PIXELS = (28, 28)


def read_morpho_mnist(request: Request) -> Opened:
    """Read labels and measures, and find the images."""
    import pandas as pd

    split = request.options["split"]
    splits = ("train", "t10k") if split == "both" else (split,)
    stores, tables, files = [], [], []
    for one in splits:
        images = idx_header(_file(request, f"{one}-images-idx3-ubyte"))
        n = images.shape[0]
        pixels = images.shape[1:] if len(images.shape) == len(("n", *_PIXELS)) else _PIXELS
        request.expect(images.path, Description(images.dtype.name, images.shape), Description("uint8", (n, *pixels)))
        stores.append(matrix_store(images))
        table, used = _table(request, one, n)
        tables.append(table)
        files += [images.path, *used]
    if len({store.shape for store in stores}) > 1:
        raise FormatError(request.path, "expected images of one size in both halves, found several")
    table = pd.concat(tables, ignore_index=True)
    table["digit"] = pd.Categorical(table["digit"], categories=range(_DIGITS))
    if "perturbation" in table:
        if table["perturbation"].isna().any():
            raise FormatError(request.path, "expected perturbations of both halves, or of none; found those of one")
        table["perturbation"] = pd.Categorical(table["perturbation"], categories=PERTURBATIONS)
    return Opened(joined(stores), tuple(files), table=table)


def _file(request: Request, name: str) -> Path:
    """Return a file, plain or packed by gzip."""
    plain = request.path / name
    packed = plain.with_name(f"{name}.gz")
    path = packed if packed.exists() and not plain.exists() else plain
    if not path.exists():
        raise request.no_file(packed)
    return path


def _table(request: Request, split: str, n: int) -> tuple[pd.DataFrame, list[Path]]:
    """Return the factors of a half, and the files that they were read from."""
    import pandas as pd

    labels = _file(request, f"{split}-labels-idx1-ubyte")
    measures = request.path / f"{split}-morpho.csv"
    if not measures.exists():
        raise request.no_file(measures)
    files = [labels, measures]
    held: dict[str, NDArray[np.generic]] = {"digit": _classes(request, labels, n, _DIGITS)}
    values = _measures(request, measures, n)
    held |= {name: values[:, column] for column, name in enumerate(MEASURED)}
    perturbed = request.path / f"{split}-pert-idx1-ubyte.gz"
    perturbed = perturbed if perturbed.exists() else perturbed.with_suffix("")
    if perturbed.exists():
        held["perturbation"] = np.array(PERTURBATIONS)[_classes(request, perturbed, n, len(PERTURBATIONS))]
        files.append(perturbed)
    return pd.DataFrame(held), files


def _classes(request: Request, path: Path, n: int, most: int) -> NDArray[np.uint8]:
    held = idx_header(path)
    request.expect(path, Description(held.dtype.name, held.shape), Description("uint8", (n,)))
    values: NDArray[np.uint8] = read_matrix(held)
    if values.max() >= most:
        raise FormatError(path, f"expected numbers from 0 to {most - 1}, found {values.max()}")
    return values


def _measures(request: Request, path: Path, n: int) -> NDArray[np.float64]:
    with opened(path) as file, parsing(f"{path}: not a table of measures that can be read"):
        rows = csv.reader(file)
        names = tuple(next(rows, ()))
        request.expect(path, ", ".join(names), ", ".join(("index", *MEASURED)))
        values = np.array([[float(cell) for cell in row] for row in rows], dtype=np.float64)
    request.expect(path, Description("numbers", values.shape), Description("numbers", (n, 1 + len(MEASURED))))
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
    read=read_morpho_mnist,
    options={"split": ("train", "t10k", "both")},
    notes=("Factors were measured, not set: they are no grid, and depend on each other and on the digit.",),
)
