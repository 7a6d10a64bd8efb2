"""What comparison methods decided, compared with the comparison on true labels: rates and matrices."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.bench.comparisons.contenders import Decided, ordered_pairs
from demele.bench.comparisons.method_documents import methods_document
from demele.core.arrays import Flags, Floats
from demele.core.errors import UnknownNameError
from demele.core.labelled import shown
from demele.core.names import checked_name
from demele.core.result import Result
from demele.core.results import Note

if TYPE_CHECKING:
    import pandas as pd

#: What a cell of a matrix holds, by its number; the source's colours are blue, black, red and white.
OUTCOMES = ("same model", "both keep the baseline", "both take the candidate", "type I", "type II")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One noise rate: what was asked for, and the share of wrong labels that was made."""

    wanted: float
    rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How often one method errs at one noise rate; shares in percent.

    Attributes
    ----------
    type_1 : float
        Of the pairs whose baseline model the reference keeps: candidate taken. NaN without such a pair.
    type_2 : float
        Of the pairs whose candidate the reference takes: baseline kept.
    agreement : float
        Of all pairs.
    type_1_se, type_2_se, agreement_se : float
        Standard errors by leaving out one classifier at a time: how much another choice of classifiers would have
        changed the figure, with the same noise.
    reversed : int
        Pairs with opposite claims of method and reference. Most type I errors are none: the reference is inconclusive.
    labels_asked : float
        Expert labels per pair.
    """

    method: str
    measure: str
    noise: float
    rate: float
    type_1: float
    type_2: float
    agreement: float
    type_1_se: float
    type_2_se: float
    agreement_se: float
    n_type_1: int
    n_type_2: int
    n_kept: int
    n_taken: int
    inconclusive: float
    reversed: int
    labels_asked: float


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MethodComparison(Result):
    """Decisions of comparison methods on all ordered pairs of classifiers, with error rates and power.

    Attributes
    ----------
    names : tuple of str
        The classifiers, in the order of the rows and columns of every matrix.
    accuracies : array of shape (n_models,)
        On true labels.
    contenders : mapping of str to (title, inputs)
        The methods.
    columns : tuple of Column
        The noise rates.
    measures : tuple of str
    tallies : tuple of Tally
        One for each method, noise rate and measure.
    n : int
        Instances.
    reference : str
        Reference for verdicts: ``"overlap"``, ``"paired"`` or ``"sample"``.
    at : float, optional
        Noise rate that the table of the document shows: 0.05, or the nearest, by default.
    indicators : array of shape (n_models, 3 K), optional
        F_c of each class, then F_n, then F_r, of classifiers that were chosen by them.
    """

    _kind, _rows = "method comparison", "tallies"

    names: tuple[str, ...]
    accuracies: NDArray[np.float64]
    contenders: Mapping[str, tuple[str, str]]
    columns: tuple[Column, ...]
    measures: tuple[str, ...]
    tallies: tuple[Tally, ...]
    references: Mapping[str, Decided] = field(metadata={"json": False})
    decided: Mapping[tuple[float, str, str], Decided] = field(metadata={"json": False})
    n: int
    classes: tuple[int | str, ...]
    level: float
    seed: int
    noise: str
    title: str
    version: str
    reference: str = "overlap"
    at: float | None = None
    notes: tuple[Note, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    indicators: Floats | None = None

    document = methods_document

    def table(self, figure: str = "type_1", measure: str | None = None) -> "pd.DataFrame":
        """Return one figure of every method (rows) at every noise rate (columns), in percent.

        Parameters
        ----------
        figure : str, default "type_1"
            "type_1", "type_2", "agreement", "inconclusive", or another field of :class:`Tally`.
        measure : str, optional
            By default the first.

        Raises
        ------
        UnknownNameError
        """
        import pandas as pd

        measure = self.measures[0] if measure is None else measure
        known = [one.name for one in fields(Tally)][4:]
        for argument, value, among in (("figure", figure, known), ("measure", measure, self.measures)):
            checked_name(value, argument, among)
        rows = {
            name: {
                one.noise: getattr(one, figure) for one in self.tallies if (one.method, one.measure) == (name, measure)
            }
            for name in self.contenders
        }
        kept = {name: row for name, row in rows.items() if row}
        return pd.DataFrame.from_dict(kept, orient="index").rename_axis(index="method", columns="noise")

    def tally(self, method: str, noise: float, measure: str | None = None) -> Tally:
        """Return the error counts of one method.

        Raises
        ------
        UnknownNameError
            If it did not take part.
        """
        measure = self.measures[0] if measure is None else measure
        for one in self.tallies:
            if (one.method, one.measure) == (method, measure) and abs(one.noise - noise) < 1e-12:
                return one
        raise UnknownNameError(
            f"expected a method among {shown(list(self.contenders), 40)}, a noise rate among "
            f"{shown([column.wanted for column in self.columns])} and a measure among {shown(self.measures)}, got "
            f"{method!r}, {noise!r} and {measure!r}"
        )

    def matrix(self, method: str, noise: float, measure: str | None = None) -> NDArray[np.int8]:
        """Return the outcome of each pair, shape (n_models, n_models); row = baseline, column = candidate.

        0: the same model; 1: method and reference keep the baseline; 2: both take the candidate; 3: type I error;
        4: type II error (the source's figure 6.6).

        Raises
        ------
        UnknownNameError
            If the method did not take part.
        """
        one = self.tally(method, noise, measure)
        found, truth = self.decided[one.noise, one.measure, method].candidate, self.references[one.measure].candidate
        return square(outcomes(found, truth), len(self.names))


def outcomes(found: Flags, truth: Flags) -> NDArray[np.int8]:
    """Return the number of the outcome of each pair: see :data:`OUTCOMES`."""
    return np.select([found & truth, found & ~truth, ~found & truth], [2, 3, 4], default=1).astype(np.int8)


def square(values: NDArray[np.int8], m: int) -> NDArray[np.int8]:
    """Return per-pair values as a square with zeros on its diagonal."""
    table = np.zeros((m, m), dtype=np.int8)
    pairs = ordered_pairs(m)
    table[pairs[:, 0], pairs[:, 1]] = values
    return table


def tallied(found: Decided, truth: Decided, m: int, *, method: str, measure: str, column: Column) -> Tally:
    """Count the errors of one method on one noisy version."""
    cells = square(outcomes(found.candidate, truth.candidate), m)
    counts = np.bincount(cells.ravel(), minlength=len(OUTCOMES)).tolist()
    # what is left of each outcome without each model's row and column, shape (n_outcomes, n_models)
    each = [cells == number for number in range(len(OUTCOMES))]
    left = np.array([own.sum() - own.sum(axis=0) - own.sum(axis=1) for own in each], dtype=np.float64)

    def share(hits: list[int], among: list[int]) -> tuple[float, float]:
        whole = sum(counts[number] for number in among)
        value = 100 * sum(counts[number] for number in hits) / whole if whole else float("nan")
        with np.errstate(divide="ignore", invalid="ignore"):
            return value, _jackknife(100 * left[hits].sum(axis=0) / left[among].sum(axis=0))

    type_1, type_1_se = share([3], [1, 3])
    type_2, type_2_se = share([4], [2, 4])
    agreement, agreement_se = share([1, 2], [1, 2, 3, 4])
    reversed_pairs = (found.candidate & truth.baseline) | (found.baseline & truth.candidate)
    return Tally(
        method=method,
        measure=measure,
        noise=column.wanted,
        rate=column.rate,
        type_1=type_1,
        type_2=type_2,
        agreement=agreement,
        type_1_se=type_1_se,
        type_2_se=type_2_se,
        agreement_se=agreement_se,
        n_type_1=counts[3],
        n_type_2=counts[4],
        n_kept=counts[1] + counts[3],
        n_taken=counts[2] + counts[4],
        inconclusive=100 * float(np.mean(~found.candidate & ~found.baseline)),
        reversed=int(np.count_nonzero(reversed_pairs)),
        labels_asked=found.labels_asked,
    )


def _jackknife(without: Floats) -> float:
    """Return the standard error of a figure from its values without each of m models (Efron and Tibshirani 1993)."""
    m = without.size
    if m < 3 or not np.isfinite(without).all():
        return float("nan")
    return float(np.sqrt((m - 1) / m * np.square(without - without.mean()).sum()))
