"""Real answers of crowds of annotators, with the right answer where experts gave one.

Bundled, small and ready to use, without downloads. ``bundled/LICENSES.md`` next to this module lists sources, licences
and changes.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.names import checked_name

if TYPE_CHECKING:
    import pandas as pd


_NAMES = ("mozafari_1000", "hitspam_crowdflower")


# Arrays have no single truth value, so a generated == would fail: crowd sets compare by identity.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CrowdSet:
    """Answers of annotators on items: one entry per answer.

    Attributes
    ----------
    name : str
        As :func:`crowd_set` takes it.
    item, annotator : arrays of int of shape (n_answers,)
        Numbers of the item and of who answered; answers are sorted by both.
    answer : array of str of shape (n_answers,)
    classes : tuple of str
        All answers that there are, in the order of results.
    items : array of int of shape (n_items,)
        All items, those without an answer included.
    gold : mapping of int to str
        The right answer, by item, where it is known; possibly of an item without an answer.
    provenance, licence : str
    """

    name: str
    item: NDArray[np.int64]
    annotator: NDArray[np.int64]
    answer: NDArray[Any]
    classes: tuple[str, ...]
    items: NDArray[np.int64]
    gold: Mapping[int, str]
    provenance: str
    licence: str

    def __repr__(self) -> str:
        return (
            f"CrowdSet({self.name}: {self.item.size} answers of {np.unique(self.annotator).size} annotators, "
            f"{self.items.size} items, {len(self.classes)} classes, {len(self.gold)} right answers known)"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per answer: item, annotator, answer; the methods of :mod:`demele.labels` read it."""
        import pandas as pd

        return pd.DataFrame({"item": self.item, "annotator": self.annotator, "answer": self.answer})


def crowd_set_names() -> tuple[str, ...]:
    """Return the names that :func:`crowd_set` accepts.

    Examples
    --------
    >>> from demele.data import crowd_set_names
    >>> crowd_set_names()
    ('mozafari_1000', 'hitspam_crowdflower')
    """
    return _NAMES


def crowd_set(name: str) -> CrowdSet:
    """Return answers of a crowd of annotators.

    Parameters
    ----------
    name : str
        - ``"mozafari_1000"``: 5 000 answers of 83 annotators, five about each of 1 000 items of two classes; the right
          one is known of all.
        - ``"hitspam_crowdflower"``: 42 762 answers of 153 annotators about 5 380 items (and one without an answer): is
          a task that was offered to a crowd spam? The right answer is known of 101. Some annotators answered the same
          question several times: 4 169 repeats.

    Returns
    -------
    CrowdSet
        New arrays at each call.

    Raises
    ------
    UnknownNameError
        For another name, with the nearest one.

    Notes
    -----
    Source: P. G. Ipeirotis, F. Provost and J. Wang, *Quality management on Amazon Mechanical Turk* (2010).

    Examples
    --------
    >>> from demele.data import crowd_set
    >>> crowd = crowd_set("mozafari_1000")
    >>> crowd
    CrowdSet(mozafari_1000: 5000 answers of 83 annotators, 1000 items, 2 classes, 1000 right answers known)
    >>> crowd.to_frame().head(2)
       item  annotator answer
    0     0          2      0
    1     0         34      0
    """
    checked_name(name, "name", _NAMES)
    bundle = importlib.resources.files(__package__) / "bundled" / "crowd" / f"{name}.npz"
    with bundle.open("rb") as file, np.load(file) as stored:
        arrays = {key: stored[key] for key in stored.files}
    per_item = arrays["answers_per_item"]
    words = arrays["classes"].astype(object)
    return CrowdSet(
        name=name,
        item=np.repeat(np.arange(per_item.size), per_item),
        annotator=arrays["annotator"].astype(np.int64),
        answer=words[np.unpackbits(arrays["answer"], count=arrays["annotator"].size)],
        classes=tuple(words.tolist()),
        items=np.arange(per_item.size),
        gold=dict(zip(arrays["gold_items"].tolist(), words[arrays["gold"]].tolist(), strict=True)),
        provenance=str(arrays["provenance"]),
        licence=str(arrays["licence"]),
    )
