"""One representation with noisy factors, and what a method of correction is."""

import warnings
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Rows
from demele.core.errors import DemeleWarning
from demele.core.results import Note, Score
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.metrics.options import Run
from demele.metrics.request import Request
from demele.metrics.run import bare_values
from demele.metrics.source import InMemory
from demele.scoring.noisy.knowledge import FactorNoise, NoiseOfFactor

#: Resamples behind the interval of a corrected score, unless ``n_bootstrap`` says otherwise.
RESAMPLES = 200


@dataclass(frozen=True, slots=True)
class NotCorrected:
    """Why a method does not correct a score, and what would help: whole sentences, the first letter small."""

    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Rows, what is known of the noise of their factors, and what several scores share.

    Attributes
    ----------
    source : InMemory
    run : Run
    noise : FactorNoise
    by_name : bool
        Whether the method was asked for by name.
    shared : dict
        What methods keep for the next score, by keys of their own.
    """

    source: InMemory
    run: Run
    noise: FactorNoise
    by_name: bool = False
    shared: dict[Any, Any] = field(default_factory=dict)

    @property
    def resamples(self) -> int:
        """Resamples behind an interval."""
        return self.run.n_bootstrap or RESAMPLES

    @property
    def of_factors(self) -> list[NoiseOfFactor | None]:
        """What is known of each factor that varies, in their order; None where it is taken as right."""
        return [self.noise.factors.get(column.name) for column in self.source.data.factors.columns]

    def right_factors(self) -> tuple[str, ...]:
        """Return an assumption on factors that nothing was said of, if there are any."""
        right = [one.name for one in self.source.data.factors.columns if one.name not in self.noise.factors]
        if not right:
            return ()
        return (f"The annotations of {', '.join(map(repr, right))} are right.",)

    def signature(self, method: str, **options: object) -> Signature:
        """Return the method with its options as one line."""
        known = {one.name: one.kind for one in self.noise.factors.values()}
        context = {"noise": "+".join(f"{name}:{kind}" for name, kind in known.items()), "rows": str(self.source.data.n)}
        return Signature(method, {**options, "level": self.run.level, "seed": self.run.seed}, context)


@dataclass(frozen=True, slots=True)
class Work:
    """One score to correct: how it was asked for, how it is read, and what it is of the annotations as given."""

    asked: Request
    request: Request
    score: Score

    @property
    def title(self) -> str:
        """What sentences call the metric."""
        return self.asked.metric.title

    def out_of_range(self, value: float) -> tuple[Note, ...]:
        """Say that a corrected value is beyond what the metric can be, which is reported and not cut."""
        low, high = self.asked.metric.range
        if not (value < low or value > high) or round(value, 3) in (low, high):  # as it is shown, it is not beyond
            return ()
        message = f"the corrected value {value:.3f} lies outside [{low:g}, {high:g}]: it is an estimate, and not cut"
        return (Note(code="corrected-out-of-range", message=message),)


def score_of_part(case: Case, work: Work, source: InMemory) -> float | str:
    """Return the score of some rows, or the reason why there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DemeleWarning)  # the whole score was warned of already
        values, reasons = bare_values([work.asked], source, case.run.seed)
    return values.get(work.asked.name, reasons.get(work.asked.name, "no value"))


def half_width(deviation: float, level: float) -> float:
    """Return half of the width of a normal interval."""
    return NormalDist().inv_cdf((1 + level) / 2) * deviation


@dataclass(frozen=True, slots=True)
class Parts:
    """The three scores of the difference, and those of halves.

    Attributes
    ----------
    audit_true, audit_given, all_given : float
        Scores of the audited rows by true values and by given ones, and of all rows by given ones.
    halves : array of shape (n_splits, 2)
        The difference on both halves of each split of the rows; empty where none were scored.
    extrapolates : bool
        Whether the bias of few rows is extrapolated from halves.
    """

    audit_true: float
    audit_given: float
    all_given: float
    halves: NDArray[np.float64]
    extrapolates: bool

    @property
    def difference(self) -> float:
        """The score of true values of the audited rows, plus what all rows add."""
        return self.audit_true + (self.all_given - self.audit_given)

    @property
    def value(self) -> float:
        """The difference, its bias by few rows extrapolated from halves where that helps."""
        if not self.extrapolates or not self.halves.size:
            return self.difference
        return 2 * self.difference - float(np.nanmean(self.halves))

    def half_width(self, level: float) -> float:
        """Return half of the width of the interval: chance of rows, and half of what was extrapolated."""
        apart = self.halves[:, 0] - self.halves[:, 1]
        error = float(np.sqrt(np.nanmean(apart**2) / 4))
        return half_width(error, level) + abs(self.value - self.difference) / 2


def draws_of_halves(value: float, halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values about a score, as far apart as its error: half of what both halves of a split differ by."""
    apart = (halves[:, 0] - halves[:, 1]) / 2
    return value + np.concatenate([apart, -apart])


@dataclass(frozen=True, slots=True)
class Half:
    """One half of the rows: the audited ones in it, and all in it."""

    audited: Rows
    everything: Rows


def split_rows(n: int, audited: Rows, seed: int, index: int) -> tuple[Half, Half]:
    """Return two halves of all rows, each with half of the audited ones.

    Parameters
    ----------
    n : int
        Rows in all.
    audited : array of shape (k,)
    seed, index : int
        Of the split.
    """
    rng = rng_for(seed, "corrected", "halves", index)
    others = np.setdiff1d(np.arange(n, dtype=np.intp), audited)
    drawn, rest = rng.permutation(audited), rng.permutation(others)
    k, r = drawn.size // 2, rest.size // 2
    pairs = ((drawn[:k], rest[:r]), (drawn[k:], rest[r:]))
    first, second = (Half(np.sort(some), np.sort(np.concatenate([some, more]))) for some, more in pairs)
    return first, second
