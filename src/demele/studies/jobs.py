"""One model of a study: what it is, what its records are kept under, and the file of its codes."""

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError
from demele.core.outputs import write_whole
from demele.core.reading import parsing, read_whole
from demele.core.store import Key

#: What the codes are scored against: "real", "null-0", "null-1", ..., "half-0", "half-1".
Kind = str


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One model to train.

    Attributes
    ----------
    objective : str
    options : mapping
        Options of the objective.
    latents : int
        Number of codes.
    seed : int
        Random seed of the training.
    """

    objective: str
    options: Mapping[str, float | int | str | bool | None] = field(default_factory=dict)
    latents: int
    seed: int = 0

    @property
    def name(self) -> str:
        """Its name, the same for all seeds.

        Examples
        --------
        >>> Configuration(objective="beta_vae", options={"beta": 0.01}, latents=4, seed=2).name
        'beta_vae(beta=0.01), 4 codes'
        """
        options = ", ".join(
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in self.options.items()
        )
        return f"{self.objective}({options}), {self.latents} codes"

    def identified(self, identity: Mapping[str, str | int]) -> str:
        """Return a short text that differs where anything differs that changes a number."""
        whole = json.dumps([dict(identity), asdict(self)], sort_keys=True, separators=(",", ":"))
        return hashlib.blake2b(whole.encode(), digest_size=8).hexdigest()


def train_key(identifier: str) -> Key:
    """Return the key of a training."""
    return ("train", identifier)


def score_key(identifier: str, step: int, kind: Kind, metric: str) -> Key:
    """Return the key of a score."""
    return ("score", identifier, step, kind, metric)


# Codes ---------------------------------------------------------------------------------------------------------------


def write_codes(path: Path, mean: NDArray[np.floating], std: NDArray[np.floating] | None) -> str:
    """Write codes of single precision, and return their digest.

    Raises
    ------
    OutputError
    """
    arrays = {"mean": np.asarray(mean, dtype=np.float32)}
    if std is not None:
        arrays["std"] = np.asarray(std, dtype=np.float32)
    held = io.BytesIO()
    np.savez(held, **arrays)  # type: ignore[arg-type]
    write_whole(path, held.getvalue())
    return codes_digest(arrays["mean"], arrays.get("std"))


def read_codes(path: Path, n: int) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
    """Return means, shape (n, n_codes), and standard deviations, if they are there.

    Raises
    ------
    FormatError, InputError
    """
    try:
        content = read_whole(path)
    except OSError as error:
        raise InputError("store", f"cannot read {path}: {error.strerror or error}") from error
    what = f"{path}: not the codes of a study; delete it, and the next run makes it again"
    with parsing(what), np.load(io.BytesIO(content), allow_pickle=False) as held:
        found = {name: held[name] for name in held.files}
    mean, std = found.get("mean"), found.get("std")
    if mean is None or mean.dtype != np.float32 or mean.ndim != 2 or len(mean) != n:
        raise FormatError(what)
    if std is not None and (std.dtype != np.float32 or std.shape != mean.shape):
        raise FormatError(what)
    return mean, std


def codes_digest(mean: NDArray[np.float32], std: NDArray[np.float32] | None) -> str:
    """Return a short text that changes with a bit of the codes; the file of them has a date in it."""
    found = hashlib.blake2b(np.ascontiguousarray(mean).tobytes(), digest_size=16)
    if std is not None:
        found.update(np.ascontiguousarray(std).tobytes())
    return found.hexdigest()
