"""Square tables of classes by classes: read and ordered."""

import hashlib
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats, Rows
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.given_arrays import real_numbers
from demele.core.labelled import Vocabulary, shown, vocabulary
from demele.core.result import Result
from demele.core.sentences import plural
from demele.core.signature import OptionText

if TYPE_CHECKING:
    import pandas as pd


#: Rows that sum to 1 within this were rounded by arithmetic; beyond it, by hand.
SUM_TOLERANCE = 1e-6


class SquareTable(Result):
    """What transition matrices and counts share: classes, which may have names, on both axes."""

    __slots__ = ()
    classes: tuple[int | str, ...] | None

    @abstractmethod
    def _table(self) -> NDArray[Any]:
        """Return the entries."""

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self._table())

    def in_signature(self) -> OptionText:
        """Return what a signature holds of it: its size, and a digest that does not depend on the order of classes."""
        return OptionText(type(self).__name__, (("k", self.k), ("digest", table_digest(self._table(), self.classes))))

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame: index "true", columns "given"."""
        import pandas as pd

        names = list(words_of(self.classes, self.k).classes)
        index, columns = pd.Index(names, name="true"), pd.Index(names, name="given")
        return pd.DataFrame(self._table().copy(), index=index, columns=columns)


def digest(*parts: object) -> str:
    """Return 12 hexadecimal digits that stand for arrays and literals in a short repr."""
    made = hashlib.blake2b(digest_size=6)
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype != object:
            made.update(str((part.dtype.str, part.shape)).encode() + np.ascontiguousarray(part).tobytes())
        else:
            made.update(repr(part.tolist() if isinstance(part, np.ndarray) else part).encode() + b"\x1f")
    return made.hexdigest()


def table_digest(table: NDArray[Any], classes: tuple[int | str, ...] | None) -> str:
    """Digest that does not depend on the order of named classes, as what the table says does not."""
    if classes is None:
        return digest(table, None)
    order = np.array(sorted(range(len(classes)), key=lambda index: (str(type(classes[index])), classes[index])))
    return digest(table[np.ix_(order, order)], [classes[index] for index in order])


def read_square(values: Any, classes: Any, argument: str) -> tuple[Floats, tuple[int | str, ...] | None]:
    """Return a table of shape (K, K) with the names of its classes, if it has any."""
    named = _axes(values, argument) if hasattr(values, "columns") and hasattr(values, "index") else None
    if values is None or isinstance(values, str | bytes | SquareTable):
        raise InputTypeError(argument, f"expected a table of shape (K, K), got {type(values).__name__}")
    table = real_numbers(values, argument, "a table of numbers of shape (K, K)")
    if table.ndim != 2 or table.shape[0] != table.shape[1] or table.size == 0:
        raise InputError(
            argument, f"expected a square table, row = true class, column = given label, got shape {table.shape}"
        )
    if table.size == 1:
        raise NotEnoughData(argument, "expected at least 2 classes, got 1")
    bad = np.argwhere(~np.isfinite(table))
    if bad.size:
        raise InputError(
            argument,
            f"{plural(len(bad), 'missing or infinite value', 'missing or infinite values')}, first at row "
            f"{bad[0][0]}, column {bad[0][1]}",
        )
    if classes is None:
        return table, named
    names = vocabulary(np.empty(0), classes=classes).classes
    if len(names) != len(table):
        raise InputError(
            "classes", f"expected {len(table)} names, one per row of {argument}, got {len(names)}: {shown(names)}"
        )
    if named is not None and named != names:
        raise InputError(
            "classes", f"the data frame names {shown(named)}, got {shown(names)}; leave classes out, or align them"
        )
    return table, names


def _axes(frame: Any, argument: str) -> tuple[int | str, ...] | None:
    """Names of the classes that a data frame carries; None where it only numbers them."""
    rows, columns = list(frame.index), list(frame.columns)
    plain = list(range(len(rows)))
    if rows == plain and columns == plain:
        return None
    if rows != columns and rows != plain:
        raise InputError(
            argument,
            f"expected the same classes in rows and columns, in the same order, got {shown(rows)} and {shown(columns)}",
        )
    return vocabulary(np.empty(0), classes=columns).classes


def refuse_no_counts(table: Floats) -> None:
    """Refuse a table that holds other than counts."""
    odd = np.argwhere((table != np.floor(table)) | (table < 0))
    if odd.size:
        row, column = int(odd[0][0]), int(odd[0][1])
        likely = bool((table >= 0).all() and (np.abs(table.sum(axis=1) - 1) < 0.01).all())
        raise InputError(
            "counts",
            f"expected whole numbers >= 0, got {plural(len(odd), 'other', 'others')}, first "
            f"{table[row, column]:g} at row {row}, "
            f"column {column}" + ("; these look like probabilities: use TransitionMatrix" if likely else ""),
        )
    if table.max() > 2**53:
        raise InputError("counts", f"expected counts up to 2^53, got {table.max():g}")


def order_of(
    own: tuple[int | str, ...] | None, k: int, classes: Sequence[object], argument: str
) -> tuple[Rows, tuple[int | str, ...]]:
    """Return where each class of the labels is in the table, and their names."""
    words = vocabulary(np.empty(0), classes=classes)
    if len(words) != k:
        raise InputError(
            argument,
            f"expected {len(words)} classes, as the labels have ({shown(words.classes)}), got {k}"
            + (f": {shown(own)}" if own else ""),
        )
    if own is None:
        return np.arange(k), words.classes
    missing = [name for name in words.classes if name not in own]
    if missing:
        raise InputError(argument, f"its classes {shown(own)} lack {shown(missing)}, which the labels have")
    return np.array([own.index(name) for name in words.classes], dtype=np.intp), words.classes


def words_of(classes: tuple[int | str, ...] | None, k: int) -> Vocabulary:
    """Return the classes, numbered where they have no names."""
    return Vocabulary(tuple(range(k)) if classes is None else classes)


def frozen_copy(table: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that nobody can write to."""
    table = np.array(table)
    table.setflags(write=False)
    return table


def set_fields(instance: object, **values: object) -> None:
    """Set fields of a frozen instance, as its own constructor may."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)
