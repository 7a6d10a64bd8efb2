"""3DIdent and Causal3DIdent: rendered objects whose factors take any value, and so are no grid."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError
from demele.core.npy_files import mapped_array
from demele.data.loaders.picture_folders import PictureStore, checked_names
from demele.data.loaders.published import Opened, PublishedSet, Request
from demele.data.loaders.rendered import Numbered, sampled
from demele.data.loaders.stores import joined
from demele.data.pictures import looked_at

if TYPE_CHECKING:
    import pandas as pd

FACTORS = (
    *("position_x", "position_y", "position_z"),
    *("rotation_alpha", "rotation_beta", "rotation_gamma", "spotlight_angle"),
    *("object_hue", "spotlight_hue", "background_hue"),
)


def read_3dident(request: Request) -> Opened:
    """Read the factors of one folder, and look whether its pictures are there."""
    return _read(request, [("raw_latents.npy", "images")])


def read_causal3dident(request: Request) -> Opened:
    """Read the factors of a folder for each shape of the object, one behind the other."""
    if not request.path.is_dir():
        raise request.no_file(request.path)
    shapes = sorted(
        int(found[1])
        for path in request.path.iterdir()
        if (found := re.fullmatch(r"raw_latents_(\d{1,3})\.npy", path.name))
    )
    if not shapes:
        raise request.no_file(request.path / "raw_latents_0.npy")
    return _read(request, [(f"raw_latents_{shape}.npy", f"images_{shape}") for shape in shapes])


def _read(request: Request, parts: list[tuple[str, str]]) -> Opened:
    import pandas as pd

    stores, tables, files = [], [], []
    for latents, folder in parts:
        path = request.path / latents
        if not path.is_file():
            raise request.no_file(path)
        factors = _factors(request, path)
        pictures, n = request.path / folder, len(factors)
        name = Numbered(max(1, math.ceil(math.log10(n))))
        checked_names(pictures, n, name)
        request.note(pictures, f"{n:,} pictures", f"{n:,} pictures", "fits")
        stores.append(PictureStore(pictures, n, (*looked_at(pictures / name(0))[:2], 3), name))
        tables.append(_table(factors, latents))
        files += [path, *sampled(pictures, n, name)]
    if len({store.shape for store in stores}) > 1:
        raise FormatError(request.path, f"expected pictures of one size, found {sorted({s.shape[:2] for s in stores})}")
    table = pd.concat(tables, ignore_index=True)
    if "object_shape" in table:
        table["object_shape"] = pd.Categorical(table["object_shape"])
    return Opened(joined(stores), tuple(files), table=table)


def _factors(request: Request, path: Path) -> NDArray[np.float64]:
    held = mapped_array(path)
    rows = held.shape[0] if held.ndim == 2 else 0
    request.expect(
        path,
        f"{held.dtype} {held.shape}",
        f"{held.dtype if held.dtype.kind == 'f' else 'floats'} ({rows or 'n'}, {len(FACTORS)})",
        remedy=f"its columns are {', '.join(FACTORS)}",
    )
    if not rows or not np.isfinite(held).all():
        raise FormatError(path, f"expected finite factors of at least 1 picture, found {rows} rows, or gaps")
    return np.asarray(held, dtype=np.float64)


def _table(factors: NDArray[np.float64], latents: str) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame(factors, columns=list(FACTORS))
    shape = re.fullmatch(r"raw_latents_(\d+)\.npy", latents)
    if shape is not None:
        table.insert(0, "object_shape", int(shape[1]))
    return table


IDENT3D = PublishedSet(
    name="3dident",
    title="3DIdent",
    publisher="R. S. Zimmermann et al.",
    download="a folder for training and one for test, at https://zenodo.org/record/4502485",
    licence="as the page of the download says",
    provenance="3DIdent: R. S. Zimmermann et al., Contrastive learning inverts the data generating process, ICML 2021",
    read=read_3dident,
    notes=("Factors take any value: there are no positions and no pairs.",),
)
CAUSAL3DIDENT = PublishedSet(
    name="causal3dident",
    title="Causal3DIdent",
    publisher="J. von Kuegelgen, Y. Sharma et al.",
    download="a folder for training and one for test, at https://zenodo.org/record/4784282",
    licence="as the page of the download says",
    provenance="Causal3DIdent: J. von Kuegelgen et al., Self-supervised learning with data augmentations provably "
    "isolates content from style, NeurIPS 2021",
    read=read_causal3dident,
    notes=("Factors take any value and depend on each other: there are no positions and no pairs.",),
)
