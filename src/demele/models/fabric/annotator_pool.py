"""What fabrics as artificial annotators take images for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_whole
from demele.core.results import Note
from demele.core.signature import Signature
from demele.data.images import digest_of

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricAnnotator:
    """One annotator: a fabric at one step of its training.

    Attributes
    ----------
    fabric : int
        Its number: the states of one fabric share it.
    layers, channels : int
    links : int
        That were left of the whole fabric.
    pruned : float
        Share of the links that was to go at random.
    rate : float
        Learning rate at the beginning.
    epoch, steps : int
        When its state was kept.
    error : float
        Share of all images, which it was trained on, that it gets wrong.
    """

    fabric: int
    layers: int
    channels: int
    links: int
    pruned: float
    rate: float
    epoch: int
    steps: int
    error: float

    @property
    def name(self) -> str:
        """What it is, in words."""
        return f"fabric {self.fabric}, step {self.steps}: {self.layers} layers, {self.channels} channels"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FabricAnnotators:
    """Labels of images by fabrics, with their error rates.

    Attributes
    ----------
    predictions : array of shape (n_annotators, n)
        Labels of the kind that came in; sorted by error, the best annotator first.
    true_labels : array of shape (n,)
        The labels that came in.
    annotators : tuple of FabricAnnotator
        What each is.
    n_fabrics : int
        Fabrics that were trained for it.
    notes : tuple of Note
    signature : Signature
    """

    predictions: NDArray[Any]
    true_labels: NDArray[Any]
    annotators: tuple[FabricAnnotator, ...]
    n_fabrics: int
    notes: tuple[Note, ...]
    signature: Signature

    @property
    def errors(self) -> Floats:
        """Share of the images that each gets wrong, shape (n_annotators,)."""
        return np.array([one.error for one in self.annotators])

    @property
    def legitimacy(self) -> Floats:
        """Trust in each annotator, 1 - error, shape (n_annotators,)."""
        return 1 - self.errors

    @property
    def names(self) -> tuple[str, ...]:
        """Description of each annotator."""
        return tuple(one.name for one in self.annotators)

    @property
    def difficulty(self) -> Floats:
        """Share of the trust in all annotators that lies in those who get an image wrong, shape (n,)."""
        trust = self.legitimacy
        return np.asarray(trust @ (self.predictions != self.true_labels) / trust.sum())

    @property
    def highest_rate(self) -> float:
        """The highest rate of noise that they reach: the share of images that at least one gets wrong."""
        return float((self.predictions != self.true_labels).any(axis=0).mean())

    @property
    def disagreement(self) -> float:
        """Mean share of images on which two of them differ, over all pairs; NaN for one annotator alone."""
        m = len(self.annotators)
        if m < 2:
            return float("nan")
        same = 0
        for label in np.unique(self.predictions):
            counts = np.count_nonzero(self.predictions == label, axis=0)
            same += int((counts * (counts - 1)).sum())
        return float(1 - same / (m * (m - 1) * self.predictions.shape[1]))

    def hardest(self, n: int = 10) -> NDArray[np.int64]:
        """Return the rows of the hardest images, the hardest first; of two as hard, the earlier.

        Parameters
        ----------
        n : int, default 10

        Raises
        ------
        InputError
        """
        most = self.predictions.shape[1]
        size = checked_whole(n, "n", f"a number of images from 1 to {most}", inside=lambda one: 1 <= one <= most)
        return np.argsort(-self.difficulty, kind="stable")[:size].astype(np.int64)

    def to_frame(self) -> pd.DataFrame:
        """One row per annotator: ``error``, ``legitimacy``, and what it is: the fields of a FabricAnnotator."""
        import pandas as pd

        fields = [name for name in FabricAnnotator.__slots__ if name != "error"]
        own = {name: [getattr(one, name) for one in self.annotators] for name in fields}
        return pd.DataFrame({"error": self.errors, "legitimacy": self.legitimacy, **own})

    def __repr__(self) -> str:
        return (
            f"FabricAnnotators({len(self.annotators)} annotators of "
            f"{len({one.fabric for one in self.annotators})} fabrics, n={self.predictions.shape[1]}, errors "
            f"{self.errors[0]:.4f} to {self.errors[-1]:.4f}, disagreement {self.disagreement:.3f}, "
            f"digest={digest_of('annotators', self.predictions)!r})"
        )
