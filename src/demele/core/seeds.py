"""Random streams that come from identities, so that neither the order of work nor the number of workers matters."""

import hashlib

import numpy as np


def rng_for(seed: int, *identity: str | int) -> "np.random.Generator":
    """Return the generator of one named piece of work.

    Parameters
    ----------
    seed : int >= 0
        The seed that the user gave.
    *identity : str or int
        What the stream is for, such as ``"z_diff", "repeat", 3``.

    Returns
    -------
    numpy.random.Generator
        The same stream for the same arguments, on every machine and in every process.

    Examples
    --------
    >>> bool(rng_for(0, "z_diff", 1).random() == rng_for(0, "z_diff", 1).random())
    True
    >>> bool(rng_for(0, "z_diff", 1).random() == rng_for(0, "z_diff", 2).random())
    False
    """
    text = "\x1f".join(str(part) for part in identity)
    key = hashlib.blake2b(text.encode(), digest_size=16).digest()
    return np.random.default_rng([seed, int.from_bytes(key, "big")])
