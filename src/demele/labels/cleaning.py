"""What a cleaning of labels found, and a simulated cleaning of known quality."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.inputs import as_column, check_same_order
from demele.core.labelled import read_labels, vocabulary
from demele.core.seeds import rng_for
from demele.labels.transition import digest

__all__ = ["Cleaning", "simulated_cleaning"]


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Cleaning:
    """Which labels a cleaning holds for wrong, and what it puts in their place.

    Parameters
    ----------
    suspect : array-like of bool of shape (n,)
    suggested : array-like of shape (n,), optional
        Labels of all rows after the cleaning; read where ``suspect``. Without them, suspects are dropped.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Examples
    --------
    >>> import numpy as np
    >>> confidence = np.array([0.9, 0.1, 0.8])
    >>> Cleaning(confidence < 0.5).suspect
    array([False,  True, False])
    """

    suspect: NDArray[np.bool_]
    suggested: NDArray[Any] | None

    def __init__(self, suspect: object, suggested: object = None) -> None:
        flags = np.array(as_column(suspect, "suspect"))
        if flags.ndim != 1 or flags.dtype != bool:
            raise InputTypeError(
                f"suspect: expected one flag (True or False) per label, got shape {flags.shape} of type "
                f"{flags.dtype}; from row numbers: suspect = numpy.zeros(n, dtype=bool); suspect[rows] = True"
            )
        instead = None if suggested is None else read_labels(suggested, "suggested")
        if instead is not None and instead.size != flags.size:
            raise InputError(f"suggested: expected {flags.size} labels, one per flag of suspect, got {instead.size}")
        object.__setattr__(self, "suspect", flags)
        object.__setattr__(self, "suggested", instead)

    def __repr__(self) -> str:
        return (
            f"Cleaning(n={self.suspect.size}, suspects={int(self.suspect.sum())}, "
            f"relabels={self.suggested is not None}, digest={digest(self.suspect, self.suggested)!r})"
        )


def simulated_cleaning(
    labels: object,
    true_labels: object,
    *,
    detected: float,
    false_alarms: float,
    corrected: float | None = None,
    seed: int = 0,
) -> Cleaning:
    """Simulate a cleaning of known quality; for studies, since it uses the true labels.

    Parameters
    ----------
    labels, true_labels : array-like of shape (n,)
    detected : float in [0, 1]
        Probability that a wrong label is suspected (s).
    false_alarms : float in [0, 1]
        Probability that a right label is suspected (e).
    corrected : float in [0, 1], optional
        Probability that a suspect is given its true class (c); else it is given one of the other classes, each as
        likely. Without it, suspects are dropped.
    seed : int >= 0

    Returns
    -------
    Cleaning
        With the same seed, larger rates suspect more labels, not others.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Source: Benjelloun, section 6.5.4. The other classes are those other than the true one, so that a wrong label that
    is suspected may also stay.

    Examples
    --------
    >>> found = simulated_cleaning([0, 1, 1, 0], [0, 1, 0, 0], detected=1, false_alarms=0, corrected=1)
    >>> found.suspect
    array([False, False,  True, False])
    >>> found.suggested
    array([0, 1, 0, 0])
    """
    given, true = read_labels(labels, "labels"), read_labels(true_labels, "true_labels")
    if given.size != true.size:
        raise InputError(
            f"labels and true_labels: expected the same number of rows, got {given.size} and {true.size}; "
            "row r of both must be the same instance"
        )
    check_same_order(labels, true_labels, ("labels", "true_labels"))
    s, e = _probability(detected, "detected"), _probability(false_alarms, "false_alarms")
    c = None if corrected is None else _probability(corrected, "corrected")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed: expected a whole number >= 0, got {seed!r}")
    words = vocabulary(np.concatenate([given, true]) if given.dtype == true.dtype else given)
    coded, truth = words.encode(given, "labels"), words.encode(true, "true_labels")
    suspect = rng_for(int(seed), "simulated_cleaning", "suspect").random(given.size) < np.where(coded != truth, s, e)
    if c is None:
        return Cleaning(suspect)
    if len(words) < 2:
        raise NotEnoughData(f"labels: expected at least 2 classes to choose from, got only {words.classes[0]!r}")
    succeeds = rng_for(int(seed), "simulated_cleaning", "corrected").random(given.size) < c
    shift = rng_for(int(seed), "simulated_cleaning", "other").integers(1, len(words), given.size)
    found = np.where(succeeds, truth, (truth + shift) % len(words))
    names = np.array(words.classes, dtype=given.dtype)
    return Cleaning(suspect, np.where(suspect, names[found], given))


def _probability(value: Any, argument: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value <= 1:
        raise InputError(f"{argument}: expected a probability in [0, 1], got {value!r}")
    return float(value)
