"""3DIdent and Causal3DIdent: rendered objects whose factors take any value, and so are no grid."""

from __future__ import annotations

import math
import re
from functools import partial

import numpy as np

from demele.core.errors import FormatError
from demele.core.npy_files import mapped_array
from demele.data.loaders.picture_folders import numbered_pictures
from demele.data.loaders.published import PublishedSet, Read, Request
from demele.data.loaders.stored_images import joined

FACTORS = (
    *("position_x", "position_y", "position_z"),
    *("rotation_alpha", "rotation_beta", "rotation_gamma", "spotlight_angle"),
    *("object_hue", "spotlight_hue", "background_hue"),
)


def _read(request: Request, several: bool) -> Read:
    """Read the factors of a folder of pictures, or of one for each shape of the object, one behind the other."""
    import pandas as pd

    if not request.path.is_dir():
        raise request.no_file(request.path)
    found = [re.fullmatch(r"raw_latents_(\d{1,3})\.npy", path.name) for path in request.path.iterdir()]
    shapes = sorted(int(one[1]) for one in found if one) or [0]
    images, tables, files = [], [], []
    for ending in [f"_{shape}" for shape in shapes] if several else [""]:
        path = request.file(f"raw_latents{ending}.npy")
        factors = mapped_array(path)
        n = factors.shape[0] if factors.ndim == 2 else 0
        told = f"its columns are {', '.join(FACTORS)}"
        request.expect_array(path, factors.dtype, factors.shape, "floats", (n, len(FACTORS)), told)
        if not n or not np.isfinite(factors).all():
            raise FormatError(path, f"expected finite factors of at least 1 picture, found {n} rows, or gaps")
        digits = max(1, math.ceil(math.log10(n)))
        pictures, some = numbered_pictures(request, request.path / f"images{ending}", n, digits)
        images.append(pictures)
        tables.append(pd.DataFrame(np.asarray(factors, dtype=np.float64), columns=list(FACTORS)))
        if several:
            tables[-1].insert(0, "object_shape", int(ending[1:]))
        files += [path, *some]
    if len({one.shape for one in images}) > 1:
        raise FormatError(request.path, f"expected pictures of one size, found {sorted({s.shape[:2] for s in images})}")
    table = pd.concat(tables, ignore_index=True)
    if several:
        table["object_shape"] = pd.Categorical(table["object_shape"])
    return Read(images=joined(images), files=tuple(files), table=table)


IDENT3D = PublishedSet(
    name="3dident",
    title="3DIdent",
    publisher="R. S. Zimmermann et al.",
    download="a folder for training and one for test, at https://zenodo.org/record/4502485",
    licence="as the page of the download says",
    provenance="3DIdent: R. S. Zimmermann et al., Contrastive learning inverts the data generating process, ICML 2021",
    read=partial(_read, several=False),
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
    read=partial(_read, several=True),
    notes=("Factors take any value and depend on each other: there are no positions and no pairs.",),
)
