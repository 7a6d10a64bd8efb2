"""Facts about a number: intervals, spreads, notes, and what independence scores; frozen, never rounded."""

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from demele.core.arrays import Floats, pd
from demele.core.errors import short_words

Severity = Literal["info", "warning", "fragile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A range for a score.

    ``level`` is the nominal coverage, ``method`` says how the range was made, ``kind`` what it covers:
    ``"sampling"`` is what other rows from the same source would have given.
    """

    low: float
    high: float
    level: float
    method: str
    kind: str = "sampling"

    def __str__(self) -> str:
        return f"[{self.low:z.3f}, {self.high:z.3f}]"


def normal_interval(value: float, deviation: float, level: float, method: str, *, more: float = 0.0) -> Interval:
    """Return the interval of a normal estimate, on both sides wider by ``more``."""
    wide = NormalDist().inv_cdf((1 + level) / 2) * deviation + more
    return Interval(low=value - wide, high=value + wide, level=level, method=method)


@dataclass(frozen=True, slots=True)
class Spread:
    """The values of a stochastic metric under different seeds, on the same rows."""

    values: tuple[float, ...]
    mean: float = field(init=False)
    std: float = field(init=False)

    def __post_init__(self) -> None:
        """Compute the mean and the standard deviation (n - 1), NaN for a single value."""
        object.__setattr__(self, "mean", float(np.mean(self.values)))
        object.__setattr__(self, "std", float(np.std(self.values, ddof=1)) if len(self.values) > 1 else math.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something the reader of a score must know, readable by programs.

    ``code`` is stable (``"constant-factor"``, ``"outliers"``, ...); ``subject`` names the columns concerned;
    severity ``"fragile"`` means that the score would change much under another defensible setting, or that codes of
    noise would score as well.
    """

    code: str
    message: str
    subject: tuple[str, ...] = ()
    severity: Severity = "info"

    def __post_init__(self) -> None:
        """Cut the overlong words of the message, which come from data."""
        object.__setattr__(self, "message", short_words(self.message))


# What independence scores ---------------------------------------------------------------------------------------------

#: Share of permuted scores that may be undefined before nothing is said of chance.
MOST_UNDEFINED = 0.1
#: Chance levels as near to the best value leave no room above them.
NO_ROOM = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class AboveChance:
    """A score on a scale on which chance is 0 and the best value 1. It describes; it does not correct a score.

    Attributes
    ----------
    value, std_error : float
        (score - chance) / (best - chance), not clipped: below 0 is worse than chance. The standard error is that of
        the drawn permutations only, not of the rows. NaN where ``reason`` says why.
    native, native_std_error : mapping of str to float
        The same of each native value, with a chance level of its own.
    reason : str
        Why there is no value; empty if there is one.
    """

    value: float
    std_error: float
    native: Mapping[str, float]
    native_std_error: Mapping[str, float]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Chance:
    """The scores of the same codes when the rows of the factors are permuted: what independence scores.

    ``values`` are those of the permutations that could be scored (NaN where the score is undefined), ``failed`` how
    many could not. ``mean``, the chance level, and ``std`` leave up to a tenth without a score out; beyond, they are
    NaN. ``p_value`` is (1 + permutations at least as good) / (1 + permutations): those without a score count as at
    least as good. ``best`` is the best value of the metric, ``native`` (permutations, native values) what else they
    gave.
    """

    values: tuple[float, ...]
    observed: float
    higher_is_better: bool = True
    best: float = 1.0
    failed: int = 0
    native: Floats | None = field(default=None, repr=False, compare=False, metadata={"json": False})
    mean: float = field(init=False)
    std: float = field(init=False)
    p_value: float = field(init=False)

    def __post_init__(self) -> None:
        """Compute the chance level, its standard deviation over permutations, and the p-value."""
        values, sign = np.array(self.values, dtype=np.float64), 1.0 if self.higher_is_better else -1.0
        few = self.undefined_share > MOST_UNDEFINED  # to speak for all
        known = values[:0] if few else values[~np.isnan(values)]
        as_good = 1 + self.failed + int(np.sum(~(sign * values < sign * self.observed)))
        p_value = math.nan if few or math.isnan(self.observed) else as_good / (1 + self.failed + len(values))
        object.__setattr__(self, "mean", float(np.mean(known)) if len(known) else math.nan)
        object.__setattr__(self, "std", float(np.std(known, ddof=1)) if len(known) > 1 else math.nan)
        object.__setattr__(self, "p_value", p_value)

    @property
    def beats_score(self) -> bool:
        """Whether the chance level is better than the score."""
        sign = 1.0 if self.higher_is_better else -1.0
        return sign * self.observed < sign * self.mean

    @property
    def notes(self) -> tuple[Note, ...]:
        """The mark of a score that is worse than its chance level."""
        if not self.beats_score:
            return ()
        message = f"worse than its chance level: {self.observed:.3f}, with the factors' rows permuted {self.mean:.3f}"
        return (Note(code="below-chance", message=message, severity="fragile"),)

    @property
    def undefined_share(self) -> float:
        """Share of the permutations that have no score."""
        drawn, known = len(self.values) + self.failed, int(np.sum(~np.isnan(self.values)))
        return (drawn - known) / drawn if drawn else 1.0

    def above(self, names: tuple[str, ...] = (), observed: Floats | None = None) -> AboveChance:
        """Return how far the score, and its native values, lie above chance, relative to the best value.

        Parameters
        ----------
        names : tuple of str
            Names of the native values.
        observed : array of shape (len(names),), optional
            The native values.
        """
        whole, error, reason = _above(np.array([self.observed]), np.array(self.values)[:, None], self)
        native, native_error = np.full(len(names), np.nan), np.full(len(names), np.nan)
        if observed is not None and self.native is not None:
            native, native_error, _ = _above(np.asarray(observed, dtype=float), self.native, self)
        return AboveChance(
            value=float(whole[0]),
            std_error=float(error[0]),
            native=dict(zip(names, native.tolist(), strict=True)),
            native_std_error=dict(zip(names, native_error.tolist(), strict=True)),
            reason=reason,
        )


def _above(observed: Floats, permuted: Floats, chance: Chance) -> tuple[Floats, Floats, str]:
    """Return (s - s0) / (best - s0) of each column and its Monte-Carlo error; the reason is that of the first."""
    drawn = len(permuted) + chance.failed
    known = np.sum(~np.isnan(permuted), axis=0)
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # columns without a known value
        level, spread = np.nanmean(permuted, axis=0), np.nanstd(permuted, axis=0, ddof=1)
        sign = 1.0 if chance.higher_is_better else -1.0
        room = sign * (chance.best - level)
        missing = known < (1 - MOST_UNDEFINED) * drawn
        usable = ~missing & (room > NO_ROOM)
        value = np.where(usable, sign * (observed - level) / room, np.nan)
        error = np.where(usable, np.abs(chance.best - observed) / room**2 * spread / np.sqrt(known), np.nan)
    reason = ""
    if missing[0]:
        reason = f"{drawn - int(known[0])} of {drawn} permutations have no score"
    elif not usable[0]:
        reason = f"chance alone gives the best value, {chance.best:g}"
    elif np.isnan(observed[0]):
        reason = "the score is not defined"
    return value, error, reason


def table_above_chance(scores: Iterable[Any]) -> "pd.DataFrame":
    """Return one row per score that has a level of chance: where it lies above it, or why that is not known."""
    columns = ["metric", "value", "chance", "p_value", "above_chance", "std_error", "reason"]
    rows = []
    for score in scores:
        if score.chance is not None:
            above = score.above_chance
            told = (score.chance.mean, score.chance.p_value, above.value, above.std_error, above.reason)
            rows.append((score.metric, score.value, *told))
    return pd.DataFrame(rows, columns=columns)
