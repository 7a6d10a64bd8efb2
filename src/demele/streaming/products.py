"""State of the products of all columns, codes and factors, for MCC of classes, weak MCC and affine R2."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, IncompatibleState
from demele.estimation.cross_products import CrossProducts
from demele.streaming.batches import Rows
from demele.streaming.centred import Arrays, Counts, Floats, Scale, centred_columns, check_arrays, shares
from demele.streaming.frame import Frame


@dataclass(frozen=True, slots=True, eq=False)
class ProductState:
    """Means of codes and of the columns of factors, and the products of all about them.

    A categorical factor has a column for each class, 1 in its rows. Every row is annotated for all factors.

    Attributes
    ----------
    scale : Scale
        Of codes, then columns of factors.
    n_codes : int
    classes : tuple of int
        Classes of each factor; 0 for numbers.
    n : int
        Rows.
    mean : array of shape (n_columns,)
    product : array of shape (n_columns, n_columns)
    low, high : arrays of shape (n_columns,)
        Extremes, in the unit of ``scale``.
    """

    state: ClassVar[str] = "products"

    scale: Scale
    n_codes: int
    classes: tuple[int, ...]
    n: int
    mean: Floats
    product: Floats
    low: Floats
    high: Floats

    @classmethod
    def empty(cls, frame: Frame) -> Self:
        """Return the state of no rows."""
        classes = tuple(len(one.levels) if one.kind == "categorical" else 0 for one in frame.columns)
        ends = [[(0.0, 0.0)] * own or [(one.low, one.high)] for one, own in zip(frame.columns, classes, strict=True)]
        low, high = np.array([pair for pairs in ends for pair in pairs]).T
        scale = Scale.of(np.concatenate([frame.low, low]), np.concatenate([frame.high, high]))
        return cls._without_rows(scale, len(frame.codes), classes)

    @classmethod
    def _without_rows(cls, scale: Scale, n_codes: int, classes: tuple[int, ...]) -> Self:
        p = len(scale.reference)
        return cls(scale, n_codes, classes, 0, np.zeros(p), np.zeros((p, p)), np.full(p, np.inf), np.full(p, -np.inf))

    def cleared(self) -> Self:
        """Return the state of no rows, the identity of :meth:`merge`."""
        return self._without_rows(self.scale, self.n_codes, self.classes)

    @property
    def clipped(self) -> int:
        """Values that were moved: none, products take them as they are."""
        return 0

    @property
    def annotated(self) -> Counts:
        """Rows annotated for each factor: all."""
        return np.full(len(self.classes), self.n, dtype=np.int64)

    @property
    def varying(self) -> list[int]:
        """Factors with more than one value."""
        return [index for index, own in enumerate(self._columns()) if (self.low[own] < self.high[own]).any()]

    def _columns(self) -> list[slice]:
        ends = self.n_codes + np.cumsum([max(own, 1) for own in self.classes])
        return [slice(int(end) - max(own, 1), int(end)) for own, end in zip(self.classes, ends, strict=True)]

    def update(self, rows: Rows) -> "ProductState":
        """Add a batch; values outside the ranges count as they are."""
        rows = rows.unclipped or rows
        if rows.n == 0:
            return self
        columns = [np.asarray(rows.codes, dtype=np.float64)]
        for values, own in zip(rows.factors, self.classes, strict=True):
            given = np.asarray(values)
            columns.append((given[:, None] == np.arange(own) if own else given[:, None]).astype(np.float64))
        scaled = self.scale.scaled(np.hstack(columns))
        mean, centred = centred_columns(scaled)
        product = centred.T @ centred
        part = replace(self, n=rows.n, mean=mean, product=product, low=scaled.min(axis=0), high=scaled.max(axis=0))
        return self.merge(part)

    def merge(self, other: "ProductState") -> "ProductState":
        """Return the products of the rows of both.

        Raises
        ------
        IncompatibleState
            If they count from other references, or other classes.
        """
        if not self.scale.same(other.scale) or self.classes != other.classes:
            raise IncompatibleState("the two sum about other references: give both the same frame")
        share, both = shares(np.array(self.n), np.array(other.n))
        step = other.mean - self.mean
        return replace(
            self,
            n=self.n + other.n,
            mean=self.mean + share * step,
            product=self.product + other.product + both * np.outer(step, step),
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
        )

    def of_varying(self, factors: Sequence[int] | None = None) -> CrossProducts:
        """Return the products of all codes with the factors that vary, or with these."""
        active, d = self.varying if factors is None else list(factors), self.n_codes
        columns = self._columns()
        own = np.concatenate([np.arange(columns[index].start, columns[index].stop) for index in active])
        classes = tuple(self.classes[index] for index in active)
        indicator = np.concatenate([np.full(max(one, 1), one > 0) for one in classes])
        return CrossProducts(
            n=self.n,
            codes=self.product[:d, :d],
            varies=self.low[:d] < self.high[:d],
            factors=self.product[np.ix_(own, own)],
            with_codes=self.product[:d, own],
            classes=classes,
            # the mean of an indicator, which is counted from 0 in units of 1, is the share of its class
            rows=np.where(indicator, np.round(self.mean[own] * self.n), float(self.n)),
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what a state holds besides its frame, by name."""
        held = {name: getattr(self, name) for name in ("mean", "product", "low", "high")}
        return {"n": np.array(self.n, dtype=np.int64), **held}

    def restored(self, arrays: Arrays) -> "ProductState":
        """Return the state that held these arrays.

        Raises
        ------
        FormatError
            If they are not those of such a state.
        """
        check_arrays(self.arrays(), arrays, at_least_zero=("n",))
        n, product = int(arrays["n"]), arrays["product"]
        ordered = not n or (arrays["low"] <= arrays["high"]).all()
        if not ordered or (np.diag(product) < 0).any() or not np.array_equal(product, product.T):
            raise FormatError("accumulator", "the products of this state contradict one another")
        return replace(self, n=n, mean=arrays["mean"], product=product, low=arrays["low"], high=arrays["high"])
