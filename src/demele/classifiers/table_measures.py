"""Measures of all classes together, from the table of true and predicted classes, and what one row adds to them.

All three depend on the table by three columns only: of each class, the rows predicted rightly, those of the class, and
those predicted as it. They do not change if every count is doubled, so what the rows add to them sums to 0.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from demele.core.arrays import Floats
from demele.core.errors import InputError, NotEnoughData
from demele.core.labelled import Indices, Labelled, shown

TableMeasure = Literal["macro-f1", "balanced-accuracy", "matthews"]
TABLE_MEASURES: tuple[str, ...] = get_args(TableMeasure)


def lowest_value(measure: str) -> float:
    """Return the least value that a measure can have; the largest is 1.

    Examples
    --------
    >>> lowest_value("accuracy"), lowest_value("matthews")
    (0.0, -1.0)
    """
    return -1.0 if measure == "matthews" else 0.0


@dataclass(frozen=True, slots=True)
class Table:
    """What the measures need of one or several tables; each array is of shape (..., n_classes).

    Attributes
    ----------
    hits : array
        Rows of each class that are predicted so; estimates may lie below 0.
    true : array
        Rows of each class.
    said : array
        Rows predicted as each class.
    """

    hits: Floats
    true: Floats
    said: Floats

    @classmethod
    def of(cls, predictions: Indices, labels: Indices, k: int) -> "Table":
        """Count the predictions of models, shape (m, n), against labels, shape (n,)."""
        hits = [np.bincount(labels[one == labels], minlength=k) for one in predictions]
        said = [np.bincount(one, minlength=k) for one in predictions]
        true = np.broadcast_to(np.bincount(labels, minlength=k), (len(predictions), k))
        return cls(*(np.array(part, dtype=np.float64) for part in (hits, true, said)))

    def value(self, measure: str) -> Floats:
        """Return the measure of each table; NaN where it is not defined.

        Notes
        -----
        With h, r, c rightly predicted, true and predicted rows of each of K classes, and n rows:

        * macro F1: mean of 2 h / (r + c);
        * balanced accuracy: mean of the recalls h / r;
        * Matthews correlation of K classes (Gorodkin 2004): (n sum h - sum r c) / sqrt((n^2 - sum c^2)(n^2 - sum r^2)),
          not defined where one class is all that is predicted, or all that there is.

        Examples
        --------
        >>> table = Table(np.array([8.0, 9]), np.array([10.0, 10]), np.array([9.0, 11]))
        >>> [round(float(table.value(measure)), 4) for measure in TABLE_MEASURES]
        [0.8496, 0.85, 0.7035]
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            if measure == "macro-f1":
                return np.asarray((2 * self.hits / (self.true + self.said)).mean(axis=-1))
            if measure == "balanced-accuracy":
                return np.asarray((self.hits / self.true).mean(axis=-1))
            n, spread_said, spread_true = self._spreads()
            covered = n * self.hits.sum(axis=-1) - (self.true * self.said).sum(axis=-1)
            defined = (spread_said > 0) & (spread_true > 0)
            return np.where(defined, covered / np.sqrt(np.where(defined, spread_said * spread_true, 1.0)), np.nan)

    def slopes(self, measure: str) -> "Slopes":
        """Return what one row more adds to the measure of each table: its derivative by every cell.

        Notes
        -----
        By the cell (t, p) of K classes, with F and R the F1 and the recall of each:

        * macro F1: ((2 [t = p] - F_t) / (r_t + c_t) - F_p / (r_p + c_p)) / K;
        * balanced accuracy: ([t = p] - R_t) / (K r_t);
        * Matthews correlation M, with A = n^2 - sum c^2 and B = n^2 - sum r^2:
          (sum h + n [t = p] - c_t - r_p) / sqrt(A B) - M ((n - c_p) / A + (n - r_t) / B).

        Each is a term of t = p, one of t and one of p.
        """
        k = self.hits.shape[-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            if measure == "macro-f1":
                both = self.true + self.said
                fall = -2 * self.hits / both**2 / k
                return Slopes(2 / both / k, fall, fall)
            if measure == "balanced-accuracy":
                return Slopes(1 / self.true / k, -self.hits / self.true**2 / k, np.zeros_like(self.hits))
            n, spread_said, spread_true = (part[..., None] for part in self._spreads())
            value, scale = self.value(measure)[..., None], np.sqrt(spread_said * spread_true)
            right = self.hits.sum(axis=-1, keepdims=True)
            same = np.broadcast_to(n / scale, self.hits.shape)
            true = -self.said / scale - value * (n - self.true) / spread_true
            said = (right - self.true) / scale - value * (n - self.said) / spread_said
        return Slopes(*(np.where(np.isfinite(value), part, 0.0) for part in (same, true, said)))

    def _spreads(self) -> tuple[Floats, Floats, Floats]:
        n = self.true.sum(axis=-1)
        return n, n**2 - (self.said**2).sum(axis=-1), n**2 - (self.true**2).sum(axis=-1)


@dataclass(frozen=True, slots=True)
class Slopes:
    """What a row adds to a measure: ``same`` of its class if predicted rightly, ``true`` of its class, ``said``.

    Each of shape (..., n_classes).
    """

    same: Floats
    true: Floats
    said: Floats

    def at(self, truth: Any, predicted: Any) -> Floats:
        """Return what rows of these classes add, if predicted so, of one table."""
        same = np.where(truth == predicted, self.same[predicted], 0.0)
        return np.asarray(same + self.true[truth] + self.said[predicted])

    def of(self, model: int) -> "Slopes":
        """Return those of one table."""
        return Slopes(self.same[model], self.true[model], self.said[model])


def table_value(data: Labelled, measure: str) -> Floats:
    """Return the measure of every model against the labels, shape (n_models,)."""
    return Table.of(data.predictions, data.labels, data.k).value(measure)


def row_effects(data: Labelled, measure: str, model: int) -> Floats:
    """Return what each row adds to the measure of a model, by the labels, linearised; shape (n,), sums to 0."""
    predicted = data.predictions[model]
    return Table.of(predicted[None], data.labels, data.k).slopes(measure).of(0).at(data.labels, predicted)


def refuse_empty_classes(data: Labelled, measure: str, argument: str = "labels") -> None:
    """Refuse classes without a labelled row: a measure of all classes is not defined then.

    Raises
    ------
    InputError, NotEnoughData
    """
    if data.k < 2:
        raise NotEnoughData(argument, f"{measure} is of several classes; got one, {shown(data.vocabulary.classes)}")
    empty = np.flatnonzero(np.bincount(data.labels, minlength=data.k) == 0)
    if empty.size:
        names = shown(tuple(data.vocabulary.classes[k] for k in empty))
        message = f"no row is labelled {names}, so {measure} is undefined; leave out the class, or compare the accuracy"
        raise InputError(argument, message)
