"""Where what codes know of a factor sits: predictions from its best codes alone, and without them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from demele.core.arrays import Floats, Rows
from demele.core.errors import InputError
from demele.core.inputs import Factor, Factors, Missing
from demele.core.kinds import Count, Kinds, Positive, Seed, Several, checked
from demele.core.result import TableResult
from demele.core.results import Note
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.estimation.boosting_importance import boosted_fit
from demele.estimation.counts import column_bins, factor_bins, joint_counts
from demele.estimation.discretise import EqualFrequency
from demele.estimation.information import information_table, mean_of_defined
from demele.estimation.probes import Probe, ProbedCodes
from demele.metrics.standalone.downstream import Prober, dots, prober
from demele.report.document import Document
from demele.report.words import count, written

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ReducedDownstreamScores", "reduced_downstream"]

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
        import pandas as pd

        columns: dict[str, Any] = {"removed": [*(" ".join(names) for names in self.removed), ""]}
        columns["measure"] = [*self.measures, ""]
        for name in ("chance", "whole", "alone", "without", "others_whole", "others"):
            values = getattr(self, name)
            columns[name] = [*values, np.nan if name == "chance" else float(mean_of_defined(values))]
        return pd.DataFrame(columns, index=pd.Index([*self.factor_names, "mean"], name="factor"))


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
    read = prober(
        "reduced_downstream", codes, factors, probe=probe, penalty=penalty, seed=seed, missing=missing, kinds=kinds
    )
    if remove >= read.codes.d:
        raise InputError("remove", f"expected fewer than there are codes ({read.codes.d}), got {remove}")
    train, test = read.split(n_train, n_test)
    probed = ProbedCodes(read.codes.dense())
    columns = read.factors.columns
    whole = np.array([read.score(probed, one, train, test, one.name) for one in columns])
    best = [_best_codes(read, probed, one, train, remove, by) for one in columns]
    rest = np.array(
        [_all_scores(read, probed.without(own), train, test, one) for own, one in zip(best, columns, strict=True)]
    )
    alone = [read.score(probed.only(own), one, train, test, one.name) for own, one in zip(best, columns, strict=True)]
    off = ~np.eye(len(columns), dtype=bool)
    return ReducedDownstreamScores(
        whole=whole,
        alone=np.array(alone),
        without=np.diag(rest).copy(),
        others=mean_of_defined(np.where(off, rest, np.nan)),
        others_whole=mean_of_defined(np.where(off, whole, np.nan)),
        removed=tuple(tuple(read.codes.names[index] for index in own) for own in best),
        chance=np.array([read.chance(one, train, test) for one in columns]),
        measures=read.measures,
        factor_names=read.factors.names,
        n_train=len(train),
        n_test=len(test),
        notes=tuple(read.notes(n_train, n_test)),
        signature=read.signature(remove=remove, by=by, n_train=n_train, n_test=n_test),
    )


def _all_scores(read: Prober, codes: ProbedCodes, train: Rows, test: Rows, removed: Factor) -> list[float]:
    """Return the score of every factor from the codes that are left."""
    return [read.score(codes, one, train, test, one.name, "without", removed.name) for one in read.factors.columns]


def _best_codes(read: Prober, probed: ProbedCodes, factor: Factor, train: Rows, count: int, by: By) -> Rows:
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
        own = probed.only(left)
        fit = boosted_fit(own.presorted, factor.values, known, known[:1], categorical=factor.categorical, rng=rng)
        best.append(int(left[np.argmax(fit.importance)]))
        left = np.delete(left, np.argmax(fit.importance))
    return np.array(best, dtype=np.intp)
