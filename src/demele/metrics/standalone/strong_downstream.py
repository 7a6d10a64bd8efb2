"""Whether predictions from codes hold where another factor takes values that training rows never had."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from demele.core.arrays import Floats, Rows
from demele.core.errors import NotEnoughData
from demele.core.inputs import Factors, Missing
from demele.core.kinds import Bins, Count, Kinds, Positive, Seed, Several, checked
from demele.core.result import TableResult
from demele.core.results import Note
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.estimation.information import mean_of_defined
from demele.estimation.probes import Probe, ProbedCodes
from demele.metrics.data import Data
from demele.metrics.options import as_binning
from demele.metrics.standalone.downstream import Prober, dots, prober
from demele.report.document import Document, Section
from demele.report.listing import table_of_frame
from demele.report.words import written

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["StrongDownstreamScores", "strong_downstream"]

TrainOn = Literal["one", "others"]
#: Fewest rows to learn from, and to be scored on.
FEWEST = 20


@dataclass(frozen=True, slots=True)
class Shift:
    """One experiment: the value of a factor that only training rows have, or lack, and its effect on the score."""

    target: str
    shifted: str
    value: str
    n_train: int
    n_test: int
    ordinary: float
    strong: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StrongDownstreamScores(TableResult):
    """Scores on values that training rows never had; made by :func:`demele.probes.strong_downstream`.

    Attributes
    ----------
    ordinary, strong : array of shape (n_factors,)
        Means over experiments: of predictors that saw as many rows of all values, and of those that saw some values of
        another factor only; both on the same test rows.
    shifts : tuple of Shift
        The experiments.
    measures, factor_names, notes, signature
        As of :class:`demele.probes.DownstreamScores`.
    """

    _kind = "strong downstream scores"

    ordinary: Floats
    strong: Floats
    shifts: tuple[Shift, ...]
    measures: tuple[str, ...]
    factor_names: tuple[str, ...]
    notes: tuple[Note, ...]
    signature: Signature

    @property
    def gap(self) -> float:
        """1 - mean strong score / mean ordinary score; NaN where the latter is not above 0."""
        ordinary, strong = (float(mean_of_defined(values)) for values in (self.ordinary, self.strong))
        return 1.0 - strong / ordinary if ordinary > 0 else float("nan")

    def headline(self) -> str:
        """Return the mean scores with values that training rows have, and without."""
        ordinary, strong = (written(float(mean_of_defined(values))) for values in (self.ordinary, self.strong))
        return (
            f"On values that training rows lack, the mean score is {strong}, instead of {ordinary} with these values: "
            f"a loss of {written(self.gap, 'percent')}."
        )

    def document(self) -> Document:
        """Return the document: the scores of each factor, and the experiments that they are means of."""
        made = super(StrongDownstreamScores, self).document()
        found = {"Values in training": self.ordinary, "Values not in training": self.strong}
        experiments, _ = table_of_frame("Experiments", self.shifts_frame())
        return replace(
            made,
            figure=dots("Scores by values in training", self.factor_names, found),
            sections=[*made.sections, Section("Data", [experiments])],
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table: a row for each factor and their mean."""
        import pandas as pd

        columns: dict[str, Any] = {"measure": [*self.measures, ""]}
        for name in ("ordinary", "strong"):
            values = getattr(self, name)
            columns[name] = [*values, float(mean_of_defined(values))]
        return pd.DataFrame(columns, index=pd.Index([*self.factor_names, "mean"], name="factor"))

    def shifts_frame(self) -> pd.DataFrame:
        """Return a table: a row for each experiment."""
        import pandas as pd

        return pd.DataFrame([asdict(one) for one in self.shifts])


@checked
def strong_downstream(
    codes: object,
    factors: object,
    *,
    train_on: TrainOn = "one",
    experiments: Count = 10,
    probe: Probe = "boosting",
    n_train: Several | None = None,
    n_test: Several | None = None,
    bins: Bins = 10,
    penalty: Positive = 1.0,
    seed: Seed = 0,
    missing: Missing = "raise",
    kinds: Kinds = None,
) -> StrongDownstreamScores:
    """Predict each factor on values of another factor that training rows never had.

    In each experiment a predictor of one factor learns from the training rows with one value of another factor
    (``"one"``), or from all but these (``"others"``), and is scored on the test rows with the other values. For
    comparison, a predictor that learnt from as many rows of all values is scored on the same test rows.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors)
        At least two that vary.
    train_on : {"one", "others"}
        Values that training rows have. ``"one"`` is the published way: all values but one are new. With ``"others"``
        one value is new.
    experiments : int, default 10
        Experiments for each factor. Each has another factor and a value of it, drawn without repetition among those
        with at least 20 rows on either side; all, where there are not more.
    probe, penalty, seed, missing, kinds
        As in :func:`demele.probes.downstream`.
    n_train, n_test : int, optional
        Rows, by default as in :func:`demele.probes.downstream`. Experiments use those that have their values.
    bins : int, str, Binning or edges, default 10
        Number of bins of continuous factors, or a rule.

    Returns
    -------
    StrongDownstreamScores

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    ``strong_downstream_task`` of disentanglement_lib draws new images: ``num_train`` of them with the value, all other
    factors independent of it, and compares with scores of other test images and more training values. Here the rows are
    given: if factors are correlated, rows with one value lack values of others, too, and predictors learn from fewer
    rows; the ordinary predictor has the same number. Linear predictors standardise codes by all training rows: by those
    of one value, a code that hardly varies among them would carry its noise far away on others. Cost: twice
    ``experiments`` fits for each factor.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).integers(0, 3, (1200, 2))
    >>> apart = demele.probes.strong_downstream(factors, factors, probe="logistic")
    >>> mixed = demele.probes.strong_downstream(factors @ [[1, 1], [1, -1]] + [[0.0, 3.0]], factors, probe="boosting")
    >>> round(apart.gap, 2), mixed.gap > 0.2
    (0.0, True)
    """
    binning = as_binning(bins)
    read = prober(
        "strong_downstream",
        codes,
        factors,
        probe=probe,
        penalty=penalty,
        seed=seed,
        missing=missing,
        kinds=kinds,
        fewest_factors=2,
    )
    train, test = read.split(n_train, n_test)
    labels, _ = Data(read.codes, read.factors).factor_labels(binning)
    probed = ProbedCodes(read.codes.dense())
    shifts: list[Shift] = []
    for target in range(read.factors.m):
        possible = _possible(labels, target, train, test, train_on)
        rng = rng_for(read.seed, read.name, "experiments", read.factors.names[target])
        shifts += [
            _experiment(read, probed, labels, target, possible[index], train, test, train_on)
            for index in rng.permutation(len(possible))[:experiments]
        ]
    if not shifts:
        raise NotEnoughData(
            "factors", f"no value of a factor has {FEWEST} rows to train on and {FEWEST} others to test"
        )
    means = {
        name: np.array([_mean(shifts, factor, name) for factor in read.factors.names])
        for name in ("ordinary", "strong")
    }
    return StrongDownstreamScores(
        **means,
        shifts=tuple(shifts),
        measures=read.measures,
        factor_names=read.factors.names,
        notes=(*read.notes(n_train, n_test), *_notes(means["strong"], read.factors)),
        signature=read.signature(
            train_on=train_on, experiments=experiments, n_train=n_train, n_test=n_test, bins=binning
        ),
    )


def _sides(labels: Rows, pair: tuple[int, int], train: Rows, test: Rows, train_on: TrainOn) -> tuple[Rows, Rows]:
    """Return the training rows that are seen, and the test rows with values that these lack."""
    column, value = labels[:, pair[0]], pair[1]
    known = column >= 0
    inside = known & (column == value) if train_on == "one" else known & (column != value)
    return train[inside[train]], test[(known & ~inside)[test]]


def _possible(labels: Rows, target: int, train: Rows, test: Rows, train_on: TrainOn) -> list[tuple[int, int]]:
    """Return the other factors with their values that leave rows enough on either side, where the target varies."""
    found = []
    for other in range(labels.shape[1]):
        for value in range(int(labels[:, other].max()) + 1) if other != target else ():
            seen, unseen = (
                rows[labels[rows, target] >= 0] for rows in _sides(labels, (other, value), train, test, train_on)
            )
            varies = len(np.unique(labels[seen, target])) > 1
            if varies and min(len(seen), len(unseen)) >= FEWEST:
                found.append((other, value))
    return found


def _experiment(
    read: Prober,
    probed: ProbedCodes,
    labels: Rows,
    target: int,
    pair: tuple[int, int],
    train: Rows,
    test: Rows,
    train_on: TrainOn,
) -> Shift:
    """Return the scores of a predictor of rows with some values, and of one of as many rows of all."""
    factor, shifted = read.factors.columns[target], read.factors.columns[pair[0]]
    seen, unseen = (rows[labels[rows, target] >= 0] for rows in _sides(labels, pair, train, test, train_on))
    whole = train[(labels[train, target] >= 0) & (labels[train, pair[0]] >= 0)][: len(seen)]
    task = factor.name, shifted.name, pair[1]
    return Shift(
        factor.name,
        shifted.name,
        shifted.levels[pair[1]] if shifted.categorical else f"bin {pair[1] + 1}",
        len(seen),
        len(unseen),
        read.score(probed, factor, whole, unseen, *task, "ordinary", scale=train),
        read.score(probed, factor, seen, unseen, *task, "strong", scale=train),
    )


def _mean(shifts: list[Shift], target: str, name: str) -> float:
    values = np.array([getattr(one, name) for one in shifts if one.target == target])
    return float(mean_of_defined(values)) if len(values) else float("nan")


def _notes(strong: Floats, factors: Factors) -> list[Note]:
    none = tuple(name for name, value in zip(factors.names, strong, strict=True) if np.isnan(value))
    if not none:
        return []
    message = f"no other factor has a value with {FEWEST} rows on either side for {', '.join(map(repr, none[:3]))}"
    return [Note(code="no-experiment", message=message, subject=none, severity="warning")]
