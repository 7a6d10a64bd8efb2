"""Predictions from codes: how far they follow a factor that they should not, and on values that training rows lack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np

from demele.core.arrays import Floats, Rows, pd, rng_for
from demele.core.errors import NotEnoughData, plural
from demele.core.inputs import Factor, Missing
from demele.core.kinds import Bins, Count, CountOrNone, Kinds, Positive, Seed, Several, checked
from demele.core.result import Note, TableResult
from demele.core.signature import Signature
from demele.estimation.counts import ColumnBins, cut, factor_bins
from demele.estimation.information import mean_of_defined
from demele.metrics.data import Data
from demele.metrics.options import as_binning
from demele.metrics.source import crossed
from demele.metrics.standalone.downstream import Probe, Prober, by_factor, dots
from demele.report.document import Document, Heat, Section
from demele.report.listing import table_of_frame
from demele.report.words import count, name, written

#: What is known of each pair of factors, and of the group in it that differs most.
_OF_PAIRS = ("mean", "largest", "of_labels", "chance", "p_value")
_OF_GROUPS = ("group", "value", "rate", "rate_of_all")
#: A p-value up to this one is said to be beyond chance; fewer shuffles than these cannot show one.
LEVEL, FEW_SHUFFLES = 0.05, 19


def total_variation(counts: Floats) -> tuple[float, float]:
    """Return how far groups are from all rows together: mean over rows, and largest.

    Parameters
    ----------
    counts : array of shape (n_predictions, n_groups), >= 0
        Groups without rows are left out.

    Examples
    --------
    >>> total_variation(np.array([[3.0, 0.0], [1.0, 4.0]]))
    (0.375, 0.375)
    """
    rows = counts.sum(axis=0)
    counts, rows = counts[:, rows > 0], rows[rows > 0]
    overall = counts.sum(axis=1) / rows.sum()
    distances = np.abs(counts / rows - overall[:, None]).sum(axis=0) / 2
    return float((distances * rows).sum() / rows.sum()), float(distances.max())


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRates:
    """What is predicted in one group and in all rows, where the two differ most.

    Attributes
    ----------
    target, sensitive : str
        The factor that is predicted, and the one that makes the groups.
    group : str
        Value, or range, of the sensitive factor: of its groups the one that adds most to the mean over rows.
    value : str
        Value, or range, of the target whose rate differs most there.
    rate, rate_of_all : float in [0, 1]
        How often it is predicted in the group, and in all test rows.
    n : int
        Test rows of the group.
    """

    target: str
    sensitive: str
    group: str
    value: str
    rate: float
    rate_of_all: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FairnessScores(TableResult):
    """Dependence of predictions of each factor on each other factor; made by :func:`demele.probes.fairness`.

    Attributes
    ----------
    mean, largest : array of shape (n_factors, n_factors)
        Row i, column j: total variation between predictions of factor i in a group of factor j and in all rows, mean
        over rows and largest over groups. 0 is fair, NaN on the diagonal.
    of_labels : array of shape (n_factors, n_factors)
        The mean for the true values instead of predictions: that of a perfect predictor on these rows.
    chance : array of shape (n_factors, n_factors)
        The mean for predictions whose groups are shuffled; NaN where not asked for.
    p_value : array of shape (n_factors, n_factors)
        (1 + shuffles at least as unfair) / (1 + shuffles), pair by pair; NaN where not asked for.
    p_value_of_any : float
        Whether predictions of some factor follow another one beyond chance: of the most extreme pair, held against the
        most extreme one of each shuffle, so that many pairs do not make it small by themselves.
    rates : tuple of GroupRates
        For each pair, the group that adds most, and what is predicted in it.
    factor_names : tuple of str
    n_train, n_test : int
    notes : tuple of Note
    signature : Signature
    """

    _kind = "fairness"
    _forms: ClassVar[Mapping[str, str]] = {"rate": "percent", "rate_of_all": "percent"}

    mean: Floats
    largest: Floats
    of_labels: Floats
    chance: Floats
    p_value: Floats
    p_value_of_any: float
    rates: tuple[GroupRates, ...]
    factor_names: tuple[str, ...]
    n_train: int
    n_test: int
    notes: tuple[Note, ...]
    signature: Signature

    @property
    def unfairness(self) -> float:
        """The mean over all pairs of ``mean``: the score of the study of 2019; 0 is fair."""
        return float(np.nanmean(self.mean))

    def headline(self) -> str:
        """Return how far predictions follow other factors, and whether that is beyond chance."""
        found = f"Between groups of another factor, predictions differ by {written(self.unfairness)} on average"
        labels = f"true values by {written(float(np.nanmean(self.of_labels)))}"
        if np.isnan(self.p_value_of_any):
            return f"{found} ({labels})."
        beyond = "some pairs are" if self.p_value_of_any <= LEVEL else "no pair is shown to be"
        level, p_value = written(float(np.nanmean(self.chance))), written(self.p_value_of_any, "p")
        return f"{found} ({labels}, shuffled groups by {level}); {beyond} above chance, p = {p_value}."

    def document(self) -> Document:
        """Return the document: the difference of each pair, and the group with the largest one."""
        i, j = np.unravel_index(np.nanargmax(self.mean), self.mean.shape)
        target, sensitive = self.factor_names[i], self.factor_names[j]
        (most,) = (one for one in self.rates if (one.target, one.sensitive) == (target, sensitive))
        names = list(map(name, self.factor_names))
        step = ("Measure the chance level:", "demele probe downstream CODES FACTORS --task fairness --permutations 20")
        return replace(
            super(FairnessScores, self).document(),
            figure=Heat("Differences of predictions", names, names, self.mean.tolist(), axes=("predicted", "groups")),
            sentences=[
                f"Predictions of {name(target)} differ most, between groups of {name(sensitive)}: "
                f"{written(float(self.mean[i, j]))}.",
                f"{name(target)} {name(most.value)} is predicted in {written(most.rate, 'percent.0')} of the "
                f"{count(most.n, 'row')} of {name(sensitive)} {name(most.group)}, and in "
                f"{written(most.rate_of_all, 'percent.0')} of all rows.",
            ],
            scope=[count(self.n_train, "training row"), count(self.n_test, "test row")],
            next=[step] if np.isnan(self.p_value_of_any) else [],
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table: a row for each pair of a factor that is predicted and a sensitive one."""
        rates = {(one.target, one.sensitive): one for one in self.rates}
        rows = [
            {
                "target": target,
                "sensitive": sensitive,
                **{name: getattr(self, name)[i, j] for name in _OF_PAIRS},
                **{name: getattr(rates.get((target, sensitive)), name, None) for name in _OF_GROUPS},
            }
            for i, target in enumerate(self.factor_names)
            for j, sensitive in enumerate(self.factor_names)
            if i != j
        ]
        return pd.DataFrame(rows)


@checked
def fairness(
    codes: object,
    factors: object,
    *,
    probe: Probe = "boosting",
    n_train: Several | None = None,
    n_test: Several | None = None,
    n_permutations: CountOrNone = 0,
    bins: Bins = 10,
    penalty: Positive = 1.0,
    seed: Seed = 0,
    missing: Missing = "raise",
    kinds: Kinds = None,
) -> FairnessScores:
    r"""Fairness: differences of predictions of each factor between the groups of each other factor.

    A predictor of a target factor is fitted to some rows. On others, its predictions in the rows of each value of a
    sensitive factor are compared with those in all rows, by the total variation
    :math:`\tfrac12 \sum_y |p(\hat y = y \mid s) - p(\hat y = y)|`: 0 where the sensitive factor makes no difference.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors)
        At least two that vary: each is the target, and sensitive, in turn.
    probe, penalty, seed, missing, kinds
        As in :func:`demele.probes.downstream`.
    n_train, n_test : int, optional
        10000 and 5000 by default; two thirds and one third of the rows, or what is left by the other, where there are
        fewer. More than there are is scaled down in proportion.
    n_permutations : int, default 0
        Permutations for the chance level. Of the test rows' groups: small groups differ from all rows by themselves.
        They give ``chance``, what is to be expected of that, and p-values; 19 or more can show at 0.05 that predictions
        follow another factor.
    bins : int, str, Binning or edges, default 10
        Number of bins of continuous factors, or a rule.

    Returns
    -------
    FairnessScores

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Locatello et al. 2019, On the Fairness of Disentangled Representations, section 4; ``compute_fairness`` of
    disentanglement_lib. There the same images are drawn again with every value of the sensitive factor, so that nothing
    else differs between groups. Here groups are those in the rows, and if target and sensitive factor are correlated,
    even the true values differ between them. ``of_labels`` says by how much; compare ``mean`` with it. Cost: one fit
    for each factor.

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.integers(0, 2, (3000, 2))
    >>> apart = demele.probes.fairness(factors + 0.1 * rng.normal(size=(3000, 2)), factors, probe="logistic")
    >>> one_code = factors.sum(axis=1, keepdims=True)
    >>> mixed = demele.probes.fairness(one_code + 0.1 * rng.normal(size=(3000, 1)), factors, probe="logistic")
    >>> apart.unfairness < 0.05 < 0.2 < mixed.unfairness
    True
    """
    binning = as_binning(bins)
    read = Prober("fairness", codes, factors, probe, penalty, seed, missing, kinds, fewest_factors=2)
    train, test = read.split(n_train, n_test)
    labels, n_levels = Data(read.codes, read.factors).factor_labels(binning)
    m, names = read.factors.m, read.factors.names
    found = {name: np.full((m, m), np.nan) for name in _OF_PAIRS}
    bins_of = [factor_bins(factor, binning) for factor in read.factors.columns]
    values = [_values(factor, own) for factor, own in zip(read.factors.columns, bins_of, strict=True)]
    rates, seen, drawn = [], [], []
    for i, (factor, own_bins) in enumerate(zip(read.factors.columns, bins_of, strict=True)):
        predicted = read.said(read.probed, factor, train[factor.annotated()[train]], test, factor.name)
        if own_bins is not None:  # predictions of numbers may lie outside all that were seen
            predicted = cut(np.clip(predicted, factor.low, factor.high), own_bins)
        said = np.asarray(predicted, dtype=np.intp)
        for j in range(m):
            known = labels[test, j] >= 0
            if i == j or not known.any():
                continue
            groups, size = labels[test[known], j], (n_levels[i], n_levels[j])
            counts = crossed(said[known], groups, size)
            found["mean"][i, j], found["largest"][i, j] = total_variation(counts)
            # of the groups the one that adds most to the mean, and of predictions the one whose rate differs most in it
            rows = counts.sum(axis=0)
            overall = counts.sum(axis=1) / rows.sum()
            apart = np.abs(counts - overall[:, None] * rows)
            group = int(apart.sum(axis=0).argmax())
            value = int(apart[:, group].argmax())
            rates.append(
                GroupRates(
                    target=names[i],
                    sensitive=names[j],
                    group=values[j][group],
                    value=values[i][value],
                    rate=float(counts[value, group] / rows[group]),
                    rate_of_all=float(overall[value]),
                    n=int(rows[group]),
                )
            )
            true = labels[test[known], i]
            if (true >= 0).any():
                found["of_labels"][i, j], _ = total_variation(crossed(true[true >= 0], groups[true >= 0], size))
            if n_permutations:
                streams = (rng_for(seed, read.name, "chance", i, j, shuffle) for shuffle in range(n_permutations))
                orders = (rng.permutation(len(groups)) for rng in streams)
                drawn.append([total_variation(crossed(said[known], groups[order], size))[0] for order in orders])
                found["chance"][i, j] = np.mean(drawn[-1])
                seen.append(found["mean"][i, j])
                found["p_value"][i, j] = _p_value(seen[-1], np.array(drawn[-1]))
    notes, of_labels = [one for one in read.notes(n_train, n_test) if one.code != "mixed-measures"], found["of_labels"]
    if np.nanmax(of_labels) > 0.1:
        i, j = map(int, np.unravel_index(np.nanargmax(of_labels), of_labels.shape))
        message = (
            f"the factors go together: the true values of {names[i]!r} differ by {of_labels[i, j]:.2f} between groups "
            f"of {names[j]!r}, and a perfect predictor would be as unfair"
        )
        about = names[i], names[j]
        notes.append(Note(code="factors-go-together", message=message, subject=about, severity="warning"))
    smallest, name = min(
        (int(np.unique(own[own >= 0], return_counts=True)[1].min(initial=len(test))), name)
        for own, name in zip(labels[test].T, names, strict=True)
    )
    if smallest < 30:
        message = f"the smallest group, of {name!r}, has {smallest} test rows: it differs from all rows by chance"
        notes.append(Note(code="small-groups", message=message, subject=(name,), severity="warning"))
    if 0 < n_permutations < FEW_SHUFFLES:
        few, least = f"{plural(n_permutations, 'shuffle is', 'shuffles are')} few for a p-value", n_permutations + 1
        message = f"{few}: it cannot fall below 1/{least} = {1 / least:.3f}"
        notes.append(Note(code="few-shuffles", message=message))
    return FairnessScores(
        **found,
        p_value_of_any=p_value_of_any(np.array(seen), np.array(drawn)) if drawn else np.nan,
        rates=tuple(rates),
        factor_names=names,
        n_train=len(train),
        n_test=len(test),
        notes=tuple(notes),
        signature=read.signature(n_train=n_train, n_test=n_test, bins=binning, n_permutations=n_permutations or None),
    )


def _p_value(observed: float, shuffled: Floats) -> float:
    """Return (1 + shuffles at least as unfair) / (1 + shuffles)."""
    return float((1 + np.count_nonzero(shuffled >= observed)) / (1 + len(shuffled)))


def p_value_of_any(observed: Floats, shuffled: Floats) -> float:
    """Return a p-value that no pair differs by more than chance: of the largest deviation, in standard deviations.

    Parameters
    ----------
    observed : array of shape (n_pairs,)
    shuffled : array of shape (n_pairs, n_shuffles)
        Drawn for each pair by itself. Where pairs go together, as predictions of two factors by each other do, the
        largest of independent deviations is larger, and the p-value errs on the safe side.
    """
    every = np.column_stack([observed, shuffled])
    spread = every.std(axis=1, keepdims=True)
    largest = ((every - every.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)).max(axis=0)
    return _p_value(float(largest[0]), largest[1:])


def _values(factor: Factor, own_bins: ColumnBins | None) -> list[str]:
    """Name the values of a factor, or the ranges of its bins, as they stand behind its name."""
    if own_bins is None:
        return [f"= {level}" for level in factor.levels]
    edges = own_bins.edges.tolist()
    return [f"in [{low:.3g}, {high:.3g}]" for low, high in pairwise(edges)] or [
        f"in [{factor.low:.3g}, {factor.high:.3g}]"
    ]


# Whether predictions from codes hold where another factor takes values that training rows never had -------------------

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
        numbers = {"ordinary": self.ordinary, "strong": self.strong}
        return by_factor(self.factor_names, {"measure": self.measures}, numbers)

    def shifts_frame(self) -> pd.DataFrame:
        """Return a table: a row for each experiment."""
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
    read = Prober("strong_downstream", codes, factors, probe, penalty, seed, missing, kinds, fewest_factors=2)
    train, test = read.split(n_train, n_test)
    read.scale = train
    labels, _ = Data(read.codes, read.factors).factor_labels(binning)

    def sides(target: int, other: int, value: int) -> tuple[Rows, Rows]:
        """Return the rows that learn, with a value of another factor or without it, and those that are scored."""
        column, known = labels[:, other], labels[:, target] >= 0
        inside = column == value if train_on == "one" else (column >= 0) & (column != value)
        return train[(inside & known)[train]], test[((column >= 0) & ~inside & known)[test]]

    shifts: list[Shift] = []
    for target, factor in enumerate(read.factors.columns):
        possible = []
        for other in range(read.factors.m):
            for value in range(int(labels[:, other].max()) + 1) if other != target else ():
                seen, unseen = sides(target, other, value)
                if len(np.unique(labels[seen, target])) > 1 and min(len(seen), len(unseen)) >= FEWEST:
                    possible.append((other, value))
        rng = rng_for(read.seed, read.name, "experiments", factor.name)
        for index in rng.permutation(len(possible))[:experiments]:
            other, value = possible[index]
            shifted, (seen, unseen) = read.factors.columns[other], sides(target, other, value)
            whole = train[(labels[train, target] >= 0) & (labels[train, other] >= 0)][: len(seen)]
            named = shifted.levels[value] if shifted.categorical else f"bin {value + 1}"
            task = factor.name, shifted.name, value
            ordinary, strong = (
                read.score(read.probed, factor, learnt, unseen, *task, kind)
                for kind, learnt in (("ordinary", whole), ("strong", seen))
            )
            shifts.append(Shift(factor.name, shifted.name, named, len(seen), len(unseen), ordinary, strong))
    if not shifts:
        problem = f"no value of a factor has {FEWEST} rows to train on and {FEWEST} others to test"
        raise NotEnoughData("factors", problem)
    means = {}
    for column in ("ordinary", "strong"):
        of_targets = ([getattr(one, column) for one in shifts if one.target == name] for name in read.factors.names)
        means[column] = np.array([mean_of_defined(np.array(own or [np.nan])) for own in of_targets])
    notes, none = read.notes(n_train, n_test), tuple(np.array(read.factors.names)[np.isnan(means["strong"])].tolist())
    if none:
        message = f"no other factor has a value with {FEWEST} rows on either side for {', '.join(map(repr, none[:3]))}"
        notes.append(Note(code="no-experiment", message=message, subject=none, severity="warning"))
    return StrongDownstreamScores(
        **means,
        shifts=tuple(shifts),
        measures=read.measures,
        factor_names=read.factors.names,
        notes=tuple(notes),
        signature=read.signature(
            train_on=train_on, experiments=experiments, n_train=n_train, n_test=n_test, bins=binning
        ),
    )
