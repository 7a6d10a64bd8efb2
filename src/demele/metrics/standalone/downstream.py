"""What can be learnt from codes: scores of predictors by their number of rows, and without the best codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from demele.core.arrays import Floats, Rows, pd, rng_for
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.inputs import Factor, Factors, Missing, read_pair, refuse_cyclic
from demele.core.kinds import Count, Kinds, Positive, Seed, Several, checked, checked_count
from demele.core.result import Note, TableResult
from demele.core.signature import Signature
from demele.estimation.counts import EqualFrequency, column_bins, factor_bins, joint_counts
from demele.estimation.information import information_table, mean_of_defined
from demele.estimation.logistic import linear_scores, multinomial_logistic, scaled_codes
from demele.estimation.tree_importance import boosted_fit
from demele.estimation.trees import Presorted, presort
from demele.metrics.data import fewer_than_asked, sizes
from demele.metrics.source import Subject
from demele.report.document import Document, Mark, Strip, Strips
from demele.report.words import count, joined, name, written

# Predictors of factors that are fitted to some rows and tried on others -----------------------------------------------

Probe = Literal["boosting", "logistic"]


class ProbedCodes:
    """Codes that are looked at by several predictors: sorted once, when the first trees need it.

    Parameters
    ----------
    values : array of shape (n_samples, n_codes)
    """

    def __init__(self, values: Floats) -> None:
        self.values = values

    @cached_property
    def presorted(self) -> Presorted:
        """The codes, sorted."""
        return presort(self.values)

    def only(self, columns: Rows) -> ProbedCodes:
        """Return some codes."""
        return ProbedCodes(np.ascontiguousarray(self.values[:, columns]))


# What the scores of predictions share: the rows, how they are split, who predicts -------------------------------------

#: Rows to learn from, and to be scored on, in the study of 2019.
STUDY_ROWS = 10_000, 5_000


class Prober:
    """Rows that were read, without constant factors, and the predictor that is tried on them.

    ``scale``: rows by which the codes of a linear predictor are standardised; its training rows if None.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """

    def __init__(
        self,
        name: str,
        codes: object,
        factors: object,
        probe: Probe,
        penalty: float,
        seed: int,
        missing: Missing,
        kinds: object,
        *,
        fewest_factors: int = 1,
    ) -> None:
        self.codes, read = read_pair(codes, factors, kinds=kinds, missing=missing)
        refuse_cyclic(read.columns, name)
        subject = Subject.of(self.codes, read)
        self.factors, self.of_columns = subject.varying, subject.notes
        m = self.factors.m
        if m < fewest_factors:
            raise NotEnoughData("factors", f"expected at least {fewest_factors} factors that vary, got {m}")
        self.name, self.probe, self.penalty, self.seed = name, probe, penalty, seed
        self.probed = ProbedCodes(self.codes.dense())
        self.scale: Rows | None = None
        self.measures = tuple("accuracy" if factor.categorical else "R2" for factor in self.factors.columns)

    def said(self, codes: ProbedCodes, factor: Factor, train: Rows, test: Rows, *task: str | int) -> Floats | Rows:
        """Return what a predictor that is fitted to the training rows says of the test rows.

        100 boosted trees of depth 3; or a multinomial logistic regression (least squares with a penalty for numbers) on
        codes that are standardised by the training rows, or by those of ``scale``. Without codes, and from rows of one
        value, the commonest class or the mean is predicted. The task names the random stream.
        """
        if not len(train):
            raise NotEnoughData("factors", f"no training row is annotated for {factor.name!r}")
        own, classes = factor.values[train], factor.categorical
        if codes.values.shape[1] == 0 or own.min() == own.max():
            return np.full(len(test), np.bincount(own).argmax() if classes else own.mean())
        if self.probe == "boosting":
            rng = rng_for(self.seed, self.name, "probe", *task)
            fit = boosted_fit(codes.presorted, factor.values, train, test, categorical=classes, rng=rng)
            return fit.predict(fit.unseen)
        by = codes.values[train if self.scale is None else self.scale]
        both = scaled_codes(by, codes.values[np.concatenate([train, test])], scaling="standard")[1]
        seen, unseen = np.split(both, [len(train)])
        if classes:
            labels = own.astype(np.intp)
            coef, intercept = multinomial_logistic(seen, labels, int(labels.max()) + 1, C=self.penalty)
            present = np.flatnonzero(~np.isnan(intercept))
            return np.asarray(present[linear_scores(unseen, coef[present], intercept[present]).argmax(axis=0)])
        weights = np.linalg.solve(seen.T @ seen + np.eye(seen.shape[1]) / self.penalty, seen.T @ (own - own.mean()))
        return np.asarray(own.mean() + unseen @ weights)

    def score(self, codes: ProbedCodes, factor: Factor, train: Rows, test: Rows, *task: str | int) -> float:
        """Return accuracy, or R2 against the mean of the test rows, of a predictor fitted to the training rows.

        Only annotated rows count: NaN where there are none, or numbers that do not vary in the test rows.
        """
        known = factor.annotated()
        train, test = train[known[train]], test[known[test]]
        if not len(train) or not len(test):
            return float("nan")
        said, truth = self.said(codes, factor, train, test, *task), factor.values[test]
        if factor.categorical:
            return float((truth == said).mean())
        variance = float(np.var(truth))
        return 1.0 - float(np.square(truth - said).mean()) / variance if variance > 0 else float("nan")

    def chance(self, train: Rows, test: Rows) -> Floats:
        """Return what predicting the commonest class of the training rows scores, by factor; 0 for numbers."""
        nothing, factors = self.probed.only(np.arange(0)), self.factors.columns
        return np.array([self.score(nothing, one, train, test) if one.categorical else 0.0 for one in factors])

    def split(self, n_train: int | None, n_test: int | None, repeat: int = 0) -> tuple[Rows, Rows]:
        """Return training rows, in random order, and test rows."""
        n = self.codes.n
        if (n_train is None or n_test is None) and max(n_train or 0, n_test or 0) > n:
            n_train, n_test = n - n // 3, n // 3
        if n_train is None:
            n_train = min(STUDY_ROWS[0], n - (min(STUDY_ROWS[1], n // 3) if n_test is None else n_test))
        if n_test is None:
            n_test = min(STUDY_ROWS[1], n - n_train)
        train, test = sizes(n, n_train, n_test)
        if min(train, test) < 2:
            raise NotEnoughData("codes", f"expected rows to train on and rows to test on, got {n} in all")
        order = rng_for(self.seed, self.name, "rows", repeat).permutation(n)
        return order[:train], order[train : train + test]

    def notes(self, n_train: int | None, n_test: int | None) -> list[Note]:
        """Say what was left out, and what was mixed."""
        notes = [*self.of_columns, *fewer_than_asked(self.codes.n, n_train, n_test)]
        if len(set(self.measures)) > 1:
            message = "means mix accuracies of classes and R2 of numbers: look at each factor"
            notes.append(Note(code="mixed-measures", message=message))
        return notes

    def signature(self, **arguments: Any) -> Signature:
        """Return the call."""
        asked = {name: value for name, value in arguments.items() if value is not None}
        given = {"probe": self.probe, **asked, "seed": self.seed}
        if self.probe == "logistic":
            given["penalty"] = self.penalty
        return Signature.of(self.name, given, rows=self.codes.n, codes=self.codes.d, factors=self.factors.m)


def dots(caption: str, factors: Sequence[str], found: Mapping[str, Floats], chance: Floats | None = None) -> Strips:
    """Draw several scores of each factor as dots, by their names, and the chance level as a tick."""
    levels = [None] * len(factors) if chance is None else chance.tolist()
    strips = [
        Strip(name(one), [*(Mark("dot", value, None, k) for k, value in enumerate(values)), Mark("tick", level)])
        for one, level, *values in zip(factors, levels, *(own.tolist() for own in found.values()), strict=True)
    ]
    return Strips(
        caption, strips, series=dict(enumerate(found)), axis="Score" + "; tick: chance level" * (chance is not None)
    )


def by_factor(
    factors: Sequence[str], texts: Mapping[str, Sequence[str]], numbers: Mapping[str, Floats]
) -> pd.DataFrame:
    """Return a table: a row for each factor and their mean, which chance levels have none of."""
    columns: dict[str, Any] = {column: [*values, ""] for column, values in texts.items()}
    for column, values in numbers.items():
        columns[column] = [*values, np.nan if column == "chance" else float(mean_of_defined(values))]
    return pd.DataFrame(columns, index=pd.Index([*factors, "mean"], name="factor"))


#: Rows to learn from in the study of 2019.
SIZES: tuple[int, ...] = (10, 100, 1_000, 10_000)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DownstreamScores(TableResult):
    """Scores of predictions of factors by the number of training rows; made by :func:`demele.probes.downstream`.

    Attributes
    ----------
    scores : array of shape (n_sizes, n_factors)
        On rows that no predictor has seen, the mean over repeats: accuracy of classes, R2 of numbers (which may be
        below 0).
    spread : array of shape (n_sizes, n_factors)
        Standard deviation over repeats; NaN for one.
    chance : array of shape (n_factors,)
        What predicting the commonest class scores; 0 for numbers.
    sizes : tuple of int
        Training rows.
    measures : tuple of str
        "accuracy" or "R2", for each factor.
    factor_names : tuple of str
    n_test : int
    notes : tuple of Note
    signature : Signature
    """

    _kind = "downstream scores"

    scores: Floats
    spread: Floats
    chance: Floats
    sizes: tuple[int, ...]
    measures: tuple[str, ...]
    factor_names: tuple[str, ...]
    n_test: int
    notes: tuple[Note, ...]
    signature: Signature

    @property
    def means(self) -> Mapping[int, float]:
        """The mean over factors, by the number of training rows."""
        return dict(zip(self.sizes, map(float, mean_of_defined(self.scores)), strict=True))

    @property
    def worst(self) -> Mapping[int, float]:
        """The smallest score of a factor, by the number of training rows."""
        found = [float(np.nanmin(row)) if not np.isnan(row).all() else float("nan") for row in self.scores]
        return dict(zip(self.sizes, found, strict=True))

    @property
    def efficiency(self) -> Mapping[int, float]:
        """The mean at each size but the largest as a share of that at the largest; NaN where one is not above 0."""
        means = self.means
        full = means[self.sizes[-1]]
        return {size: means[size] / full if means[size] > 0 and full > 0 else float("nan") for size in self.sizes[:-1]}

    def headline(self) -> str:
        """Return the mean score from the most training rows."""
        size = self.sizes[-1]
        factors = self.factor_names
        of = f"of {name(factors[0])}" if len(factors) == 1 else f"of {count(len(factors), 'factor')}, on average,"
        return f"Trained on {count(size, 'row')}, predictors {of} reach a score of {written(self.means[size])}."

    def document(self) -> Document:
        """Return the document: the scores of each factor by the number of training rows."""
        found = {count(size, "row"): values for size, values in zip(self.sizes, self.scores, strict=True)}
        shares = [f"{written(share, 'percent')} from {size:,}" for size, share in self.efficiency.items()]
        whole = f"of the mean score from {count(self.sizes[-1], 'row')} is reached"
        return replace(
            super(DownstreamScores, self).document(),
            sentences=[f"This share {whole}: {joined(shares)}."] if shares else [],
            figure=dots("Scores by training rows", self.factor_names, found, self.chance),
            scope=[count(self.n_test, "test row")],
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table: a row for each factor and their mean, a column for each number of training rows."""
        numbers = {"chance": self.chance, **dict(zip(map(str, self.sizes), self.scores, strict=True))}
        return by_factor(self.factor_names, {"measure": self.measures}, numbers)


@checked
def downstream(
    codes: object,
    factors: object,
    *,
    probe: Probe = "boosting",
    sizes: Sequence[int] | None = None,
    n_test: Several | None = None,
    n_repeats: Count = 1,
    penalty: Positive = 1.0,
    seed: Seed = 0,
    missing: Missing = "raise",
    kinds: Kinds = None,
) -> DownstreamScores:
    """Predict each factor from the codes, with few training rows and with many.

    A predictor of each factor sees some rows, and is scored on others. The share of the score that few rows reach
    of that of many is the statistical efficiency of the codes.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors)
    probe : {"boosting", "logistic"}
        Predictor. 100 boosted trees of depth 3; or a logistic regression (least squares for numbers), linear in the
        codes.
    sizes : sequence of int, default 10, 100, 1000 and 10000, as far as rows reach
        Numbers of training rows (default: 10,100,1000,10000). Smaller ones are among the larger. More than there are
        become all that there are; if ``n_test`` is given too, and both are more, they are scaled down in proportion,
        with a note.
    n_test : int, optional
        Rows to test on (default: 5000). A third of the rows, or what is left, if there are fewer.
    n_repeats : int, default 1
        Random splits whose scores are averaged.
    penalty : float above 0, default 1
        C of the logistic regression. A smaller one is smoother.
    seed : int
        Random seed.
    missing : {"raise", "omit"}
        Missing annotations: refuse them, or omit rows factor by factor.
    kinds : None, str, mapping or sequence
        Type of a factor, if the detected type is wrong.

    Returns
    -------
    DownstreamScores

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Locatello et al. 2019; ``downstream_task`` of disentanglement_lib, which draws new images for each size, takes
    classes only, and chooses the penalty of its logistic regression among ten by five folds. Trees are those of
    :func:`demele.metrics.dci` with ``model="boosting"``. A value without training rows can only be missed.
    Cost: that of ``dci`` with ``model="boosting"``, for each size and repeat.

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.integers(0, 3, (1500, 2))
    >>> codes = factors @ [[1, 1], [1, -1]] + 0.1 * rng.normal(size=(1500, 2))
    >>> found = demele.probes.downstream(codes, factors, probe="logistic", sizes=(10, 1000), n_test=500)
    >>> found.means[1000] > 0.95, 0.5 < found.efficiency[10] < 1
    (True, True)
    """
    asked, largest = SIZES, 0
    if sizes is not None:
        if isinstance(sizes, str) or not isinstance(sizes, Sequence | np.ndarray) or not len(sizes):
            raise InputTypeError("sizes", f"expected numbers of training rows, got {quoted(sizes)}")
        asked = tuple(sorted({checked_count(size, "sizes", 2) for size in sizes}))
        largest = asked[-1]
    read = Prober("downstream", codes, factors, probe, penalty, seed, missing, kinds)
    found, chances, kept = [], [], asked
    for repeat in range(n_repeats):
        train, test = read.split(largest or None, n_test, repeat)
        kept = tuple(sorted({min(size, len(train)) for size in asked}))
        own = np.empty((len(kept), read.factors.m))
        for column, factor in enumerate(read.factors.columns):
            known = train[factor.annotated()[train]]
            for row, size in enumerate(kept):
                own[row, column] = read.score(read.probed, factor, known[:size], test, factor.name, size, repeat)
        found.append(own)
        chances.append(read.chance(train, test))
    scores = np.array(found)
    return DownstreamScores(
        scores=scores.mean(axis=0),
        spread=scores.std(axis=0, ddof=1) if n_repeats > 1 else np.full(scores.shape[1:], np.nan),
        chance=np.mean(chances, axis=0),
        sizes=kept,
        measures=read.measures,
        factor_names=read.factors.names,
        n_test=len(test),
        notes=tuple(read.notes(largest or None, n_test)),
        signature=read.signature(sizes=asked, n_test=n_test, n_repeats=n_repeats),
    )


# Where what codes know of a factor sits -------------------------------------------------------------------------------

By = Literal["importance", "information"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ReducedDownstreamScores(TableResult):
    """Scores of predictions with and without the best codes; made by :func:`demele.probes.reduced_downstream`.

    Attributes
    ----------
    whole, alone, without : array of shape (n_factors,)
        From all codes, from the removed ones alone, and from all others: accuracy of classes, R2 of numbers, on rows
        that no predictor has seen.
    others : array of shape (n_factors,)
        Mean over the other factors, from the codes that are left.
    others_whole : array of shape (n_factors,)
        The same from all codes.
    removed : tuple of tuple of str
        For each factor its best codes, the best first.
    chance, measures, factor_names, notes, signature
        As of :class:`demele.probes.DownstreamScores`.
    n_train, n_test : int
    """

    _kind = "reduced downstream scores"

    whole: Floats
    alone: Floats
    without: Floats
    others: Floats
    others_whole: Floats
    removed: tuple[tuple[str, ...], ...]
    chance: Floats
    measures: tuple[str, ...]
    factor_names: tuple[str, ...]
    n_train: int
    n_test: int
    notes: tuple[Note, ...]
    signature: Signature

    def headline(self) -> str:
        """Return the mean scores from all codes and without the best ones."""
        best = "its best code" if len(self.removed[0]) == 1 else f"its best {len(self.removed[0])} codes"
        whole, without = (written(float(mean_of_defined(values))) for values in (self.whole, self.without))
        return (
            f"Without {best}, a factor is predicted with a mean score of {without}, instead of {whole} from all codes."
        )

    def document(self) -> Document:
        """Return the document: the scores of each factor with and without its best codes."""
        found = {"All codes": self.whole, "Best codes alone": self.alone, "Without the best codes": self.without}
        return replace(
            super(ReducedDownstreamScores, self).document(),
            figure=dots("Scores by codes", self.factor_names, found, self.chance),
            scope=[count(self.n_train, "training row"), count(self.n_test, "test row")],
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table: a row for each factor and their mean."""
        texts = {"removed": [" ".join(names) for names in self.removed], "measure": self.measures}
        shown = ("chance", "whole", "alone", "without", "others_whole", "others")
        return by_factor(self.factor_names, texts, {column: getattr(self, column) for column in shown})


@checked
def reduced_downstream(
    codes: object,
    factors: object,
    *,
    remove: Count = 1,
    by: By = "importance",
    probe: Probe = "boosting",
    n_train: Several | None = None,
    n_test: Several | None = None,
    penalty: Positive = 1.0,
    seed: Seed = 0,
    missing: Missing = "raise",
    kinds: Kinds = None,
) -> ReducedDownstreamScores:
    """Predict each factor from its best codes alone, and from all other codes.

    Where one code holds a factor, that code alone predicts it, and the others do not; what they still know has leaked.
    Other factors should not suffer when it is taken away.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors)
    remove : int, default 1
        Number of best codes, one after the other. Fewer than there are.
    by : {"importance", "information"}
        Choice of the best code. It has the largest importance in boosted trees, which are fitted again after each that
        is removed; or the largest mutual information, in 20 bins of equally many rows. Of the training rows in either
        case.
    probe, penalty, seed, missing, kinds
        As in :func:`demele.probes.downstream`.
    n_train, n_test : int, optional
        Rows to train and to test on (default: 10000 and 5000). Two thirds and one third of the rows, or what is left by
        the other, where there are fewer. More than there are is scaled down in proportion.

    Returns
    -------
    ReducedDownstreamScores

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    ``reduced_downstream_task`` of disentanglement_lib, whose ``mean_test_accuracy_reduced_factor`` is the mean of
    ``without`` and ``mean_test_accuracy_other_factors`` that of ``others``; it chooses by importance.
    Cost: with trees, (1 + remove + n_factors) fits for each factor.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).integers(0, 3, (900, 2))
    >>> found = demele.probes.reduced_downstream(factors, factors, probe="logistic", by="information")
    >>> found.removed, found.alone.round(1).tolist(), bool(found.without.max() < 0.5)
    ((('z1',), ('z2',)), [1.0, 1.0], True)
    """
    read = Prober("reduced_downstream", codes, factors, probe, penalty, seed, missing, kinds)
    if remove >= read.codes.d:
        raise InputError("remove", f"expected fewer than there are codes ({read.codes.d}), got {remove}")
    train, test = read.split(n_train, n_test)
    columns = read.factors.columns

    def scores(codes: ProbedCodes, factors: Sequence[Factor], *task: str) -> list[float]:
        return [read.score(codes, one, train, test, one.name, *task) for one in factors]

    whole = np.array(scores(read.probed, columns))
    best = [_best_codes(read, one, train, remove, by) for one in columns]
    every, alone, without = np.arange(read.codes.d), [], []
    for own, factor in zip(best, columns, strict=True):
        alone += scores(read.probed.only(own), [factor])
        without.append(scores(read.probed.only(np.delete(every, own)), columns, "without", factor.name))
    rest = np.array(without)
    off = ~np.eye(len(columns), dtype=bool)
    return ReducedDownstreamScores(
        whole=whole,
        alone=np.array(alone),
        without=np.diag(rest).copy(),
        others=mean_of_defined(np.where(off, rest, np.nan)),
        others_whole=mean_of_defined(np.where(off, whole, np.nan)),
        removed=tuple(tuple(read.codes.names[index] for index in own) for own in best),
        chance=read.chance(train, test),
        measures=read.measures,
        factor_names=read.factors.names,
        n_train=len(train),
        n_test=len(test),
        notes=tuple(read.notes(n_train, n_test)),
        signature=read.signature(remove=remove, by=by, n_train=n_train, n_test=n_test),
    )


def _best_codes(read: Prober, factor: Factor, train: Rows, count: int, by: By) -> Rows:
    """Return the codes of a factor, the best first."""
    known = train[factor.annotated()[train]]
    if by == "information":
        taken = Factors((factor.take(known),))
        codes, rule = read.codes.take(known), EqualFrequency(20)
        of_codes, _ = column_bins(codes, taken, rule)
        counts = joint_counts(codes, taken, of_codes, [factor_bins(taken.columns[0], rule)])
        information = information_table(counts).information[:, 0]
        return np.argsort(-information, kind="stable")[:count]
    left, best = np.arange(read.codes.d), []
    for step in range(count):
        rng = rng_for(read.seed, read.name, "importance", factor.name, step)
        own = read.probed.only(left)
        fit = boosted_fit(own.presorted, factor.values, known, known[:1], categorical=factor.categorical, rng=rng)
        best.append(int(left[np.argmax(fit.importance)]))
        left = np.delete(left, np.argmax(fit.importance))
    return np.array(best, dtype=np.intp)
