"""A model from the file that its training left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from demele.core.extras import require
from demele.core.reading import parsing, path_of
from demele.models.vae.model import VAE


def load(path: str | Path, *, network: Any = None) -> VAE:
    """Return the model that a training left in a file; nothing in the file is run.

    Parameters
    ----------
    path : str or Path
        What :meth:`VAE.save` wrote, or the ``checkpoint`` of :meth:`VAE.fit`; of this or another version of demele.
    network : (encoder, decoder), optional
        Modules of the same layers, if the model was trained with modules of your own: a file holds no classes.

    Returns
    -------
    VAE
        With its ``run``; on the CPU.

    Raises
    ------
    InputError, FormatError
        If there is no such file, it is no training, or modules of your own are missing.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from demele.data import ArrayImages
    >>> images = ArrayImages(np.zeros((8, 16, 16), dtype=np.uint8))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     vae = VAE("vae", latents=2, network="mlp")
    ...     run = vae.fit(images, steps=5, batch=4)
    ...     load(vae.save(f"{folder}/run"))
    VAE('vae', latents=2, network='mlp'; done after 5 steps)
    """
    require("torch", purpose="a VAE")
    from demele.models.vae.fitting import reopened

    pair, content = reopened(path_of(path), network)
    spec = pair.spec
    with parsing(f"{path}: its spec is not that of a model"):
        vae = VAE(
            spec.objective,
            latents=spec.latents,
            network=(pair.encoder, pair.decoder) if spec.own_networks else spec.network,
            likelihood=spec.likelihood,
            beta_scale=spec.beta_scale,  # type: ignore[arg-type]
            init=spec.init,  # type: ignore[arg-type]
            logvar_bounds=None if spec.logvar_bounds is None else (spec.logvar_bounds[0], spec.logvar_bounds[1]),
            **spec.options,
        )
    vae._take(pair, content)
    return vae
