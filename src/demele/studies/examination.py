"""The examination of a trained model: numbers, a verdict, and images as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from demele.core.result import Result
from demele.core.results import Evaluation, Note
from demele.core.verdict import RepresentationVerdict
from demele.studies.examination_documents import examination_document

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traversals:
    """Decoded images while one code changes and all others stay at the codes of an image.

    Attributes
    ----------
    images : array of uint8 of shape (n_anchors, n_codes, steps, height, width, channels)
        In the order of the columns of the codes.
    values : array of float64 of shape (n_codes, steps), or None
        Of the code that changes: from its 2.5 % to its 97.5 % quantile over all images; None if a file brought the
        images alone.
    anchors : array of int64 of shape (n_anchors,), or None
        Rows whose codes the other codes are held at.
    change : array of float64 of shape (n_codes,)
        Mean difference of neighbouring pictures over pixels, steps and anchors; black to white is 1.
    """

    images: NDArray[np.uint8] = field(metadata={"json": False})
    values: NDArray[np.float64] | None
    anchors: NDArray[np.int64] | None
    change: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reconstructions:
    """Images and their reconstructions.

    Attributes
    ----------
    rows : array of int64 of shape (k,)
        First some at random, then those with the largest errors, largest first.
    n_random : int
        How many of them are at random.
    originals, made : array of uint8 of shape (k, height, width, channels)
    errors : array of float64 of shape (k,)
        Mean squared difference over the pixels; black to white is 1.
    mean_error, mean_image_error : float
        Over all images that were tried; and of one picture for all, their mean.
    tried : int
        Images that were reconstructed to find the worst.
    """

    rows: NDArray[np.int64]
    n_random: int
    originals: NDArray[np.uint8] = field(metadata={"json": False})
    made: NDArray[np.uint8] = field(metadata={"json": False})
    errors: NDArray[np.float64]
    mean_error: float
    mean_image_error: float
    tried: int

    @property
    def explained(self) -> float:
        """Share of the variance of the pixels that reconstructions explain; below 0 they are worse than the mean."""
        return 1 - self.mean_error / self.mean_image_error if self.mean_image_error > 0 else float("nan")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sweep:
    """One factor of a complete grid, with all its values: images, and the responses of each code.

    Attributes
    ----------
    factor : str
    values : tuple of str
    mean, low, high : array of float64 of shape (n_values, n_codes)
        Mean of a code over all images with a value, and the range that the other factors cause: its 5 % and 95 %
        quantiles over them.
    shown : tuple of int
        Positions of the values that images are of.
    images : array of uint8 of shape (n_shown, height, width, channels)
        All other factors as of one image.
    """

    factor: str
    values: tuple[str, ...]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    shown: tuple[int, ...]
    images: NDArray[np.uint8] = field(metadata={"json": False})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Examination(Result):
    """An examination of a trained model: the factors in its codes, with uncertainty, and images.

    Attributes
    ----------
    name : str
    n : int
        Images whose codes were looked at.
    scores : Evaluation or None
        Scores with intervals and chance; None without factors, or where codes cannot be scored (a note says why).
    information : DataFrame of shape (n_codes, n_factors) or None
        Mutual information of a code and a factor, divided by the entropy of the factor: 1 if the code tells it whole.
    importances : DataFrame of shape (n_codes, n_factors) or None
        Importance of each code to a forest that predicts the factor from all codes.
    codes : DataFrame of shape (n_codes, 5)
        By code: ``kl`` (mean divergence from the prior in nats; NaN without standard deviations), ``std`` (of its
        means), ``active`` (in use: std > 0.05 and kl > 0.01), ``best_factor`` and ``information``, how much of it.
    verdict : RepresentationVerdict or None
        Which active code holds which factor; None without factors.
    traversals : Traversals or None
    reconstructions : Reconstructions or None
    samples : array of uint8 of shape (16, height, width, channels), or None
        What the decoder makes of codes drawn from N(0, I), the prior of a VAE; None without a decoder.
    sweeps : tuple of Sweep
        Of complete grids; else empty.
    notes : tuple of Note
        What is wrong with the codes or the decoder, as far as it shows.
    history : DataFrame or None
        History of the training of a :class:`demele.lab.VAE`.
    facts : mapping of str to str
        Where codes, images and model come from.
    version : str
    """

    _kind = "examination"

    name: str
    n: int
    scores: Evaluation | None
    information: pd.DataFrame | None
    importances: pd.DataFrame | None
    codes: pd.DataFrame
    verdict: RepresentationVerdict | None
    traversals: Traversals | None
    reconstructions: Reconstructions | None
    samples: NDArray[np.uint8] | None = field(metadata={"json": False})
    sweeps: tuple[Sweep, ...]
    notes: tuple[Note, ...]
    history: pd.DataFrame | None
    facts: Mapping[str, str]
    version: str

    @property
    def collapsed(self) -> bool:
        """Whether no code is active: such codes are noise."""
        return not bool(self.codes["active"].any())

    @property
    def factors(self) -> pd.DataFrame:
        """By factor: ``verdict``, its best ``code``, ``information``, ``second``, ``chance`` and ``words``."""
        import pandas as pd

        rows = [] if self.verdict is None else self.verdict.factors
        held = [(row.status, next(iter(row.codes), ""), row.share, row.second, row.chance, row.words) for row in rows]
        columns = ["verdict", "code", "information", "second", "chance", "words"]
        return pd.DataFrame(held, index=[row.factor for row in rows], columns=columns)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each code."""
        return self.codes.reset_index()

    document = examination_document
