"""What an examination of a trained model has found: numbers, words, and pictures as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.publish import card, publish
from demele.core.results import Evaluation, Note
from demele.core.shown import in_a_line
from demele.core.written import Written, plain

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traversals:
    """What a decoder makes of one code after the other, all others held at the codes of an image.

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

    images: NDArray[np.uint8]
    values: NDArray[np.float64] | None
    anchors: NDArray[np.int64] | None
    change: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reconstructions:
    """Images beside what the model makes of them.

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
    originals: NDArray[np.uint8]
    made: NDArray[np.uint8]
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
    """One factor of a complete grid, all its values: images, and how each code responds.

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
    images: NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Examination(Written):
    """A trained model looked at: what its codes hold, how sure that is, and pictures.

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
    factors : DataFrame of shape (n_factors, 6)
        By factor: ``verdict`` ("one code", "mixed code": one that holds other factors as well, "several codes",
        "weak", "no code", "undecided" or "constant"; of codes in use alone, as in
        :class:`demele.core.verdict.FactorVerdict`), ``code``, ``information``, ``second`` (information of the next
        code), ``chance`` (the most that any code tells of permuted factors), and ``words``, the verdict as a sentence.
    traversals : Traversals or None
    reconstructions : Reconstructions or None
    samples : array of uint8 of shape (16, height, width, channels), or None
        What the decoder makes of codes drawn from N(0, I), the prior of a VAE; None without a decoder.
    sweeps : tuple of Sweep
        Of complete grids; else empty.
    notes : tuple of Note
        What is wrong with the codes or the decoder, as far as it shows.
    history : DataFrame or None
        Of the training of a :class:`demele.models.VAE`.
    facts : mapping of str to str
        Where codes, images and model come from.
    version : str
    """

    name: str
    n: int
    scores: Evaluation | None
    information: pd.DataFrame | None
    importances: pd.DataFrame | None
    codes: pd.DataFrame
    factors: pd.DataFrame
    traversals: Traversals | None
    reconstructions: Reconstructions | None
    samples: NDArray[np.uint8] | None
    sweeps: tuple[Sweep, ...]
    notes: tuple[Note, ...]
    history: pd.DataFrame | None
    facts: Mapping[str, str]
    version: str

    @property
    def collapsed(self) -> bool:
        """Whether no code is in use: scores of such codes are of noise."""
        return not bool(self.codes["active"].any())

    def to_dict(self) -> dict[str, Any]:
        """Everything but the pictures, as plain values that JSON can hold (NaN becomes None)."""
        made = self.reconstructions
        found: dict[str, Any] = plain(
            {
                "kind": "examination",
                "demele": self.version,
                "name": self.name,
                "n": self.n,
                "scores": None if self.scores is None else self.scores.to_dict(),
                "code_names": list(self.codes.index),
                "factor_names": list(self.factors.index),
                "information": None if self.information is None else self.information.to_numpy(),
                "importances": None if self.importances is None else self.importances.to_numpy(),
                "codes": self.codes.to_dict(orient="records"),
                "factors": self.factors.to_dict(orient="records"),
                "collapsed": self.collapsed,
                "traversals": _numbers(self.traversals, "values anchors change"),
                "reconstructions": _numbers(made, "rows n_random errors mean_error mean_image_error tried")
                | ({} if made is None else {"explained": made.explained}),
                "sweeps": [_numbers(sweep, "factor values mean low high shown") for sweep in self.sweeps],
                "notes": [_numbers(note, "code message subject severity") for note in self.notes],
                "history": None if self.history is None else self.history.to_dict(orient="list"),
                "facts": dict(self.facts),
            }
        )
        return found

    def to_content(self) -> dict[str, Any]:
        """Everything: what :meth:`to_dict` returns, and ``pictures`` as arrays."""
        made = self.reconstructions
        pictures = {
            "traversals": None if self.traversals is None else self.traversals.images,
            "originals": None if made is None else made.originals,
            "made": None if made is None else made.made,
            "samples": self.samples,
            "sweeps": [sweep.images for sweep in self.sweeps],
        }
        return {**self.to_dict(), "pictures": pictures}

    def to_html(self, path: str | Path) -> Path:
        """Write one self-contained HTML page: verdict, scores, heat map, traversals, reconstructions, sweeps, samples.

        Raises
        ------
        MissingExtraError
            If there are pictures, and Pillow (``demele[images]``) is not installed.
        """
        written: Path = publish("examination", self.to_content(), path)
        return written

    def to_pictures(self, folder: str | Path, *, formats: tuple[str, ...] = ("png", "svg")) -> tuple[Path, ...]:
        """Write pictures for print: small, and the same bytes for the same examination.

        Parameters
        ----------
        folder : path
            Made if it does not exist. Pictures of the same names in it are replaced.
        formats : tuple of str
            Of matplotlib: "png", "svg", "pdf".

        Returns
        -------
        tuple of Path
            The files: ``information`` (codes and factors), ``traversals`` (codes in use by K, from one image),
            ``reconstructions`` (at random, and the worst), ``samples`` (of the prior) and ``responses`` (of codes to
            the factors of a complete grid), those of them that there is something for.

        Raises
        ------
        InputError
            For other formats.
        MissingExtraError
            Without matplotlib, naming the extra to install.
        """
        written: tuple[Path, ...] = publish("pictures of a model", self.to_content(), folder, formats=formats)
        return written

    def _repr_html_(self) -> str:
        return card(repr(self), self.codes)

    @property
    def sentence(self) -> str:
        """How many codes are in use."""
        return f"{in_a_line(repr(self))}."

    def __repr__(self) -> str:
        used = f"{int(self.codes['active'].sum())} of {len(self.codes)} codes in use"
        lines = [f"Examination of {self.name}: {self.n:,} image{'s' * (self.n != 1)}, {used}"]
        lines += [f"  {words}" for words in self.factors["words"]]
        lines += [f"  {note.severity}: {note.message}" for note in self.notes]
        return "\n".join(lines)


def _numbers(item: object, names: str) -> dict[str, Any]:
    return {} if item is None else {name: getattr(item, name) for name in names.split()}
