"""Tables that may hold probabilities of classes: their values or an argument distinguish them from features."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.columns import Codes
from demele.core.errors import InputError
from demele.core.labelled import Vocabulary, shown
from demele.core.results import Note
from demele.core.sentences import give, setting

Floats = NDArray[np.float64]
Kind = Literal["features", "probabilities"]

#: Rows that add up to 1 within this were rounded by arithmetic; beyond it, and up to the next, by whoever wrote them.
ARITHMETIC = 1e-6
#: How far from 1 (or from 100, as a share of it) the probabilities of an instance may add up to.
WRITTEN = 1e-2
#: So many rows are enough to say that a table is in percent, or in logarithms.
_FEWEST = 2
_ARGUMENT = "features_or_probabilities"


def read_probabilities(table: Codes, words: Vocabulary, kind: Kind | None) -> tuple[Floats | None, tuple[Note, ...]]:
    """Return the table if it holds probabilities, in the order of the classes, else None; and what to say of it.

    Parameters
    ----------
    table : Codes
        Finite numbers of shape (n, d).
    words : Vocabulary
        The K classes.
    kind : {"features", "probabilities"} or None
        What the user says; None to look.

    Returns
    -------
    tuple
        Rows that are off by rounding are divided by their sums.

    Raises
    ------
    InputError
        If probabilities are not of the K classes; if a table that should be, or looks like, probabilities is in
        percent or in logarithms.
    """
    values, k = table.values, len(words)
    if kind == "features":
        return None, ()
    sums = _sums(values)
    precision = _precision(values)
    off = np.flatnonzero(~_like(values, sums, precision))
    if off.size and (kind == "probabilities" or values.shape[1] == k):
        _refuse_other_scales(values, sums, kind)
    if off.size and kind is None:
        if values.shape[1] != k:
            return None, ()
        message = (
            f"The {k} columns were read as features, from which a model was trained, and not as probabilities of the "
            f"{k} classes: their rows do not add up to 1. If they are scores of the classes, pass probabilities, such "
            f"as their softmax; if they are features, {setting(kind='features')} says so."
        )
        return None, (Note(code="read-as-features", message=message, severity="warning"),)
    if off.size:
        raise InputError(
            _ARGUMENT,
            f"{off.size} of {len(values)} rows are not probabilities (in [0, 1], sum 1 within {WRITTEN:g}),"
            f" first row {off[0]}, which adds up to {sums[off[0]]:g}; for scores of the classes pass their softmax, "
            f"for features {setting(kind='features')}",
        )
    if values.shape[1] != k:
        raise InputError(
            _ARGUMENT,
            f"expected a column of probabilities for each of the {k} classes {shown(words.classes)}, got "
            f"{values.shape[1]} columns; give all classes, in their order, with {setting(classes=[...])}"
            + ("" if kind else f", or {give(kind='features')}"),
        )
    columns = list(range(k))
    if isinstance(words.classes[0], str) and set(table.names) == set(words.classes):
        columns = [table.names.index(str(name)) for name in words.classes]
    found = np.asarray(values, dtype=np.float64)[:, columns]
    away = np.abs(sums - 1)
    if away.max() <= ARITHMETIC:
        return found, ()
    rounded = int(np.count_nonzero(away > max(ARITHMETIC, precision)))
    message = (
        f"The probabilities of {rounded} of {away.size} rows add up to 1 only roughly (off by up to {away.max():.2g}): "
        "each row was divided by its sum."
    )
    return found / sums[:, None], (Note(code="renormalised", message=message),) if rounded else ()


def unread_probabilities(table: Codes, words: Vocabulary, method: str, users: Sequence[str]) -> tuple[Note, ...]:
    """Say that a method takes for features what looks like probabilities of the classes."""
    values = table.values
    if values.shape[1] != len(words):
        return ()
    if not _like(values, _sums(values), _precision(values)).all():
        return ()
    return (
        Note(
            code="read-as-features",
            message=f"The {values.shape[1]} columns look like probabilities of the {len(words)} classes, and were read "
            f"as features: method {method!r} reads nothing else. Of the methods, {' and '.join(map(repr, users))} use "
            "probabilities.",
        ),
    )


def _sums(values: NDArray[np.floating]) -> Floats:
    return np.asarray(np.sum(values, axis=1, dtype=np.float64))


def _precision(values: NDArray[np.floating]) -> float:
    """How far the sum of numbers of such a precision, one per class, may be from 1."""
    return values.shape[1] * float(np.finfo(values.dtype).eps) if values.dtype.kind == "f" else 0.0


def _like(values: NDArray[np.floating], sums: Floats, precision: float) -> NDArray[np.bool_]:
    """Return which rows are not negative and add up to 1, as near as rounding lets them."""
    return np.asarray((np.abs(sums - 1) <= max(WRITTEN, precision)) & (values >= 0).all(axis=1))


def _refuse_other_scales(values: NDArray[np.floating], sums: Floats, kind: Kind | None) -> None:
    """Refuse probabilities in percent, counts of equally many votes, and logarithms."""
    if len(values) < _FEWEST:
        return
    other = "" if kind else f"; if these are features, {give(kind='features')}"
    total = float(np.median(sums))
    if (values >= 0).all() and total > 0:
        percent = abs(total - 100) <= 100 * WRITTEN
        if (np.abs(sums - total) <= total * (WRITTEN if percent else ARITHMETIC)).all():
            shown_total = 100 if percent else total
            raise InputError(
                _ARGUMENT,
                f"every row adds up to {shown_total:g}, not to 1; if these are probabilities"
                f"{' in percent' if percent else ', or counts of votes'}, divide them by {shown_total:g}" + other,
            )
    if (values <= 0).all():
        with np.errstate(under="ignore"):
            exponentials = np.exp(np.asarray(values, dtype=np.float64)).sum(axis=1)
        if (np.abs(exponentials - 1) <= WRITTEN).all():
            raise InputError(
                _ARGUMENT,
                "these look like logarithms of probabilities: no number is above 0, and the exponentials "
                "of every row add up to 1; pass numpy.exp of them" + other,
            )
