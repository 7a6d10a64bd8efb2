"""What a trained model does on images: errors, divergences, which codes are in use."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.extras import require
from demele.core.seeds import rng_for
from demele.data.images import ImageSet
from demele.models.pixels import pixels
from demele.models.vae.aggregate import decomposition
from demele.models.vae.objectives import Posterior, kl_per_code
from demele.models.vae.pair import Pair

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    torch = require("torch", purpose="a VAE")
    Tensor = torch.Tensor

#: Of larger sets so many images are looked at, drawn once.
MOST_EXAMINED = 5000
#: Images that are encoded at once.
BATCH = 256


def batches(rows: NDArray[np.int64], size: int = BATCH) -> Iterator[NDArray[np.int64]]:
    """Yield rows in parts of at most ``size``."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def examined_rows(n: int) -> NDArray[np.int64]:
    """Return the rows that figures are of: all, or a sample that is the same for every model."""
    if n <= MOST_EXAMINED:
        return np.arange(n)
    return np.sort(rng_for(0, "examined images", n).choice(n, MOST_EXAMINED, replace=False))


def posteriors(pair: Pair, images: ImageSet, rows: NDArray[np.int64]) -> Posterior:
    """Return mean and log-variance of some images, on the CPU; of an autoencoder the second is empty."""
    device = str(pair.device)
    found = [pair.posterior(pixels(images, part, device)) for part in batches(rows)]
    return Posterior(*(torch.cat(parts).cpu() for parts in zip(*found, strict=True)))


def measured(pair: Pair, images: ImageSet) -> dict[str, Any]:
    """Return the figures of a model, as plain numbers.

    Returns
    -------
    dict
        ``examined``, the number of images; ``reconstruction``, R with codes drawn as in training, and ``floor``, the
        least it can be, in nats per image; ``kl`` (NaN of an autoencoder) and ``std`` of the means by code;
        ``mutual_information`` and ``total_correlation``, stratified; ``largest_logvar``.
    """
    rows, draws = examined_rows(len(images)), pair.objective.draws
    found = Posterior(*(part.double() for part in posteriors(pair, images, rows)))
    noise = torch.from_numpy(rng_for(0, "examined codes").standard_normal(found.mean.shape))
    codes = found.mean + torch.exp(found.logvar / 2) * noise if draws else found.mean
    error, floor = _errors(pair, images, rows, codes.float())
    information, correlation = _parts(codes, found, len(images)) if draws else (math.nan, math.nan)
    return {
        "examined": len(rows),
        "reconstruction": error,
        "floor": floor,
        "kl": kl_per_code(*found).tolist() if draws else [math.nan] * pair.spec.latents,
        "std": found.mean.std(dim=0, unbiased=False).tolist(),
        "mutual_information": information,
        "total_correlation": correlation,
        "largest_logvar": found.logvar.max().item() if draws else math.nan,
    }


def _errors(pair: Pair, images: ImageSet, rows: NDArray[np.int64], codes: Tensor) -> tuple[float, float]:
    """Return the mean error of reconstructions, and the least that it could be."""
    device, sums = str(pair.device), torch.zeros(2, dtype=torch.float64)
    for place in batches(np.arange(len(rows))):
        given = pixels(images, rows[place], device)
        errors = pair.likelihood.errors(pair.decoder(codes[torch.from_numpy(place)].to(device)), given)
        sums += torch.stack([errors.double().sum(), pair.likelihood.floor(given).double().sum()]).cpu()
    error, floor = (sums / len(rows)).tolist()
    return error, floor


def _parts(codes: Tensor, found: Posterior, n: int) -> tuple[float, float]:
    """Return mutual information and total correlation: means of estimates, each of at most 512 images, at random."""
    order = rng_for(0, "examined order").permutation(len(codes))
    parts = [part for part in batches(order, 512) if len(part) >= min(512, len(codes)) and len(part) >= 2]
    each = [decomposition(codes[part], found.mean[part], found.logvar[part], n=n) for part in parts]
    if not each:
        return math.nan, math.nan
    information, correlation = (sum(one[number].item() for one in each) / len(each) for number in (0, 1))
    return information, correlation
