"""One model of a study: what it is, what is trained and scored of it, and where its files are."""

import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError
from demele.core.outputs import write_whole
from demele.core.reading import parsing, read_whole
from demele.core.store import Key
from demele.data.images import ImageSet
from demele.runtime.sweep import Record

__all__ = [
    "Configuration",
    "Job",
    "Kind",
    "Piece",
    "codes_digest",
    "read_codes",
    "score_key",
    "scored_places",
    "train_key",
    "write_codes",
]

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

    def to_dict(self) -> dict[str, Any]:
        """Return all as plain values."""
        return {
            "objective": self.objective,
            "options": dict(self.options),
            "latents": self.latents,
            "seed": self.seed,
        }

    def identified(self, identity: Mapping[str, str | int]) -> str:
        """Return a short text that differs where anything differs that changes a number."""
        whole = json.dumps([dict(identity), self.to_dict()], sort_keys=True, separators=(",", ":"))
        return hashlib.blake2b(whole.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job:
    """All that is needed to train one model and to score its codes, here or in another process.

    Attributes
    ----------
    id : str
    configuration : Configuration
    images : ImageSet
    rows : array of int
        Images whose codes are scored.
    steps : tuple of int
        After which codes are kept, the last of them at the end.
    model, training : mapping
        Arguments of :class:`demele.models.VAE` in addition to those of the configuration, and of its ``fit``.
    codes : {"mean", "sampled"}
    protocol : str
    seed : int
        Seed of all draws outside the training.
    folder : Path
        For the model's files.
    train : callable(Job) -> Record
        Leaves a file of codes for each of ``steps``, and returns what becomes of the training.
    """

    id: str
    configuration: Configuration
    images: ImageSet
    rows: NDArray[np.int64]
    steps: tuple[int, ...]
    model: Mapping[str, Any]
    training: Mapping[str, Any]
    codes: str
    protocol: str
    seed: int
    folder: Path
    train: Callable[["Job"], Record]

    def codes_file(self, step: int) -> Path:
        """Return where the codes after some steps are."""
        return self.folder / f"codes-{step}.npz"


class Piece(NamedTuple):
    """One record that is wanted of a model: of its training, or of a score."""

    job: Job
    step: int = 0
    kind: Kind = ""
    metric: str = ""

    @property
    def key(self) -> Key:
        """What the record is kept under."""
        return train_key(self.job.id) if not self.kind else score_key(self.job.id, self.step, self.kind, self.metric)


def train_key(identifier: str) -> Key:
    """Return the key of a training."""
    return ("train", identifier)


def score_key(identifier: str, step: int, kind: Kind, metric: str) -> Key:
    """Return the key of a score."""
    return ("score", identifier, step, kind, metric)


def scored_places(steps: Sequence[int], kinds: Sequence[Kind]) -> list[tuple[int, Kind]]:
    """Return steps and kinds that are scored: every step against the factors, the last against all."""
    return [(step, "real") for step in steps] + [(steps[-1], kind) for kind in kinds if kind != "real"]


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
