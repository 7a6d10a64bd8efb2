"""Methods of comparison that have options of their own, as objects: ``compare(..., method=HardRows(difficulty))``."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar

import numpy as np

from demele.classifiers.expert_errors import ExpertErrors, check_random_errors
from demele.classifiers.question import coded_like
from demele.core.errors import InputError, InputTypeError
from demele.core.kinds import Data, Kind, Rate, Seed, kind_of
from demele.core.labelled import Labelled
from demele.core.table_columns import number_column
from demele.labels.cleaned.cleaning import Cleaning, CleaningData, check_made_from
from demele.noise.transition import set_fields


@dataclass(frozen=True)
class MethodOptions(ABC):
    """The options of one method."""

    method: ClassVar[str]

    def __post_init__(self) -> None:
        kinds = {one.name: kind_of(one.type) for one in fields(self)}
        checks = {name: kind.check for name, kind in kinds.items() if kind is not None and kind.check is not None}
        set_fields(self, **{name: check(getattr(self, name), name) for name, check in checks.items()})

    @abstractmethod
    def read(self, data: Labelled) -> dict[str, Any]:
        """Return what a question on these data holds of the options."""


@dataclass(frozen=True, eq=False)
class HardRows(MethodOptions):
    """The method hard-rows: where two classifiers disagree on one of the hardest rows, the baseline is right.

    Parameters
    ----------
    difficulty : array-like of shape (n,), optional
        Number per row, larger is harder. It may be left out for a prudence of 0 or 1.
    prudence : float in [0, 1]
        Share of the rows that is given to the baseline.

    Examples
    --------
    >>> from demele.classifiers import compare
    >>> compare([0, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 0], method=HardRows([3, 0, 1, 2], prudence=0.25)).verdict
    'inconclusive'
    """

    method = "hard-rows"
    difficulty: Data = None
    prudence: Rate = 0.1

    def read(self, data: Labelled) -> dict[str, Any]:
        """Return what a question holds of the difficulty and the share."""
        hard: Any = self.difficulty
        if hard is not None:
            hard = number_column(hard, "difficulty", data.n, "row", "finite numbers", inside=np.isfinite)
        return {"difficulty": hard, "prudence": self.prudence}


@dataclass(frozen=True, eq=False)
class Cleaned(MethodOptions):
    """The method cleaned: overlap of intervals without suspect labels, or with their correct classes.

    Parameters
    ----------
    cleaning : Cleaning
        Flags of suspect labels, and perhaps their correct classes.

    Examples
    --------
    >>> from demele.classifiers import compare
    >>> from demele.labels import Cleaning
    >>> cleaning = Cleaning([True, False, False, False])
    >>> compare([0, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 0], method=Cleaned(cleaning)).verdict
    'inconclusive'
    """

    method = "cleaned"
    cleaning: CleaningData

    def read(self, data: Labelled) -> dict[str, Any]:
        """Return what a question holds of the cleaning."""
        cleaning = self.cleaning
        if not isinstance(cleaning, Cleaning):
            raise InputTypeError(
                "cleaning", f"expected a Cleaning, got {type(cleaning).__name__}; wrap flags in Cleaning(flags)"
            )
        suspects = np.asarray(cleaning.suspect)
        if suspects.shape != (data.n,) or suspects.dtype != bool:
            raise InputError("cleaning", f"expected {data.n} flags, one per label, got shape {suspects.shape}")
        names = data.vocabulary.classes
        kind = np.int64 if isinstance(names[0], int) else object
        check_made_from(cleaning, np.array(names, dtype=kind)[data.labels], "labels")
        suggested = cleaning.suggested
        return {
            "suspects": suspects,
            "suggested": None if suggested is None else coded_like(suggested, data, "cleaning.suggested"),
        }


@dataclass(frozen=True, eq=False)
class Agreement(MethodOptions):
    """The method agreement: which of the two agrees more often with a third classifier.

    Parameters
    ----------
    reference : array-like of shape (n,)
        Predictions of the third classifier. It must be better than chance, and the three must err independently of
        each other.

    Notes
    -----
    Source: Raj, Singh and Baker 2011. McNemar's test on the instances where just one of the two agrees with the
    reference. Real classifiers err on the same instances: with them, this test was wrong in 15 to 34% of comparisons
    that should keep the baseline. Estimates are agreements with the reference, not accuracies.

    Examples
    --------
    >>> from demele.classifiers import compare
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 10, 1000)
    >>> old, new, other = (np.where(rng.random(1000) < p, truth, rng.integers(0, 10, 1000)) for p in (0.6, 0.9, 0.8))
    >>> compare(old, new, None, method=Agreement(other)).verdict
    'candidate'
    """

    method = "agreement"
    reference: Data

    def read(self, data: Labelled) -> dict[str, Any]:
        """Return what a question holds of the third classifier."""
        return {"reference": coded_like(self.reference, data, "reference")}


@dataclass(frozen=True, eq=False)
class TrueLabels(MethodOptions):
    """The method true-labels: overlap of intervals on true labels.

    Parameters
    ----------
    true_labels : array-like of shape (n,)
        True labels of all rows.
    """

    method = "true-labels"
    true_labels: Data

    def read(self, data: Labelled) -> dict[str, Any]:
        """Return what a question holds of the true labels."""
        return {"true_labels": coded_like(self.true_labels, data, "true_labels")}


@dataclass(frozen=True, kw_only=True)
class _ByExpert(MethodOptions):
    expert_error: Rate = 0.0
    expert_errors: ExpertErrors = "adversarial"

    def read(self, data: Labelled) -> dict[str, Any]:
        """Return what a question holds of the expert."""
        check_random_errors(self.expert_error, self.expert_errors, k=data.k)
        return vars(self)


@dataclass(frozen=True, kw_only=True)
class Audited(_ByExpert):
    """The method audit: expert labels of a random sample of rows.

    Parameters
    ----------
    exact : bool
        Guarantee the level, with wider intervals. For accuracy: a verdict whose level is a theorem, not only measured,
        at a price in width. A weighted audit must know its ``least_probability``, which
        :func:`demele.labels.draw_audit` keeps.
    expert_error : float in [0, 1]
        Share of rows on which the expert may be wrong. Of the rows on which the two disagree, and of all rows, for the
        accuracy. 0 takes the expert's labels as correct.
    expert_errors : {"adversarial", "random"}
        Where the expert errs: in the worst case, or at random. Random errors do not depend on the predictions, and
        take any other class with the same probability.
    """

    method = "audit"
    exact: bool = False


@dataclass(frozen=True, kw_only=True)
class Sequential(_ByExpert):
    """The method sequential: an audit whose labels are counted one at a time.

    Parameters
    ----------
    expert_error, expert_errors
        As in :class:`demele.classifiers.Audited`.
    seed : int >= 0
        Random seed. It orders the rows of an audit that come sorted.
    """

    method = "sequential"
    seed: Seed = 0


#: A method by its name, or an object with its options.
Method = Annotated[str | Audited | Sequential | HardRows | Cleaned | Agreement | TrueLabels | None, Kind("NAME")]
