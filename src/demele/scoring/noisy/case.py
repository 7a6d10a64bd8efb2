"""One representation with noisy factors, and what a method of correction is."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats, Rows
from demele.core.errors import DemeleWarning, InputError, InputTypeError, NotEnoughData, plural, quoted
from demele.core.inputs import Factor, Factors, read_factor, refuse_cyclic
from demele.core.kinds import is_number
from demele.core.labelled import shown
from demele.core.results import Note, Score
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.metrics.options import Run
from demele.metrics.request import Request
from demele.metrics.run import bare_values
from demele.metrics.source import InMemory
from demele.noise.audit import Audit
from demele.noise.factor_noise import FactorAudit, matrix_of_annotators
from demele.noise.transition import TransitionCounts, TransitionMatrix

# The door for what is known of noisy factors --------------------------------------------------------------------------

Kind = Literal["transition", "counts", "audit", "rate"]

#: Smallest singular value of a transition below which errors cannot be undone.
SINGULAR = 0.1
_EXPECTED = (
    "a TransitionMatrix, TransitionCounts, confusion matrices of three or more annotators, an audit (Audit or "
    "FactorAudit), or the share of wrong annotations, a number in [0, 1)"
)


@dataclass(frozen=True, slots=True, eq=False)
class NoiseOfFactor:
    """What is known of the errors of one factor, in the classes of its column.

    Attributes
    ----------
    name : str
        Name of the factor.
    kind : {"transition", "counts", "audit", "rate"}
        Which of the following is there.
    classes : tuple of str
        All classes, true or given; empty for a continuous factor, whose classes are the bins of a metric.
    position : array of int of shape (n_levels,)
        Where each level of the column stands among the classes.
    matrix : array (K, K) or None
        Rows true, columns given; probabilities for ``"transition"``, counts for ``"counts"``.
    rows, values : arrays of shape (k,) or None
        Audited rows and their true values: class numbers, or numbers in the unit of the factor.
    unclear : int
        Rows that were drawn for the audit and whose true value was unclear.
    share : float
        The rate.
    source : object
        As it was given.
    """

    name: str
    kind: Kind
    classes: tuple[str, ...] = ()
    position: NDArray[np.intp] | None = None
    matrix: Floats | None = None
    rows: NDArray[np.intp] | None = None
    values: NDArray[Any] | None = None
    unclear: int = 0
    share: float = float("nan")
    source: object = None


@dataclass(frozen=True, slots=True, eq=False)
class FactorNoise:
    """What is known of all noisy factors; factors that are not named are taken as right."""

    factors: Mapping[str, NoiseOfFactor]

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of knowledge that are there."""
        return frozenset(one.kind for one in self.factors.values())

    @classmethod
    def checked(cls, given: object, factors: Factors) -> "FactorNoise":
        """Match what was given to the factors.

        Parameters
        ----------
        given : mapping of factor name to knowledge
            See :func:`demele.evaluate`.
        factors : Factors

        Raises
        ------
        InputError, InputTypeError, NotEnoughData
            If a factor is not there, or what is known of it does not fit its column or cannot correct anything.
        """
        if not isinstance(given, Mapping):
            raise InputTypeError(
                "noise",
                f"expected a mapping of factors to the noise of each, got {type(given).__name__}",
                "such as {'shape': 0.05}",
            )
        if not given:
            raise InputError("noise", "expected at least one factor, got none", "leave it out")
        columns = {column.name: column for column in factors.columns}
        read = {}
        for name, one in given.items():
            if str(name) not in columns:
                known = ", ".join(map(quoted, columns))
                raise InputError("noise", f"unknown factor {quoted(name)}; the factors are {known}")
            read[str(name)] = noise_of_factor(one, columns[str(name)])
        return cls(read)


def noise_of_factor(given: object, factor: Factor) -> NoiseOfFactor:
    """Match what is known of one factor to its column.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    argument = f"noise[{quoted(factor.name)}]"
    refuse_cyclic([factor], "the correction of noisy factors")
    if isinstance(given, Audit | FactorAudit):
        return _audit(FactorAudit.of(given), factor, argument)
    if isinstance(given, TransitionMatrix | TransitionCounts):
        return _transition(given, factor, argument)
    if is_number(given):
        return _rate(float(given), factor, argument)
    if isinstance(given, Mapping) or (isinstance(given, Sequence) and not isinstance(given, str | bytes)):
        if any(is_number(one) for one in given) or not all(_is_matrix(one) for one in _held(given)):
            raise InputTypeError(argument, f"expected {_EXPECTED}", "wrap a table: TransitionMatrix(table)")
        return _transition(matrix_of_annotators(given, argument), factor, argument)
    if isinstance(given, np.ndarray) and given.ndim == 2:
        raise InputTypeError(
            argument,
            "a table may hold probabilities or counts",
            "pass TransitionMatrix(table) or TransitionCounts(table); rows are true values",
        )
    raise InputTypeError(argument, f"expected {_EXPECTED}, got {quoted(given)}")


def _held(given: Mapping[Any, Any] | Sequence[Any]) -> list[Any]:
    return list(given.values()) if isinstance(given, Mapping) else list(given)


def _is_matrix(one: object) -> bool:
    return isinstance(one, TransitionMatrix) or np.ndim(one) == 2  # type: ignore[arg-type]


def _rate(rate: float, factor: Factor, argument: str) -> NoiseOfFactor:
    if not 0 <= rate < 1:
        raise InputError(
            argument, f"expected the share of wrong annotations, a number in [0, 1), got {rate:g}", "write 0.05 for 5%"
        )
    return NoiseOfFactor(
        factor.name, "rate", factor.levels, np.arange(len(factor.levels), dtype=np.intp), share=rate, source=rate
    )


def _transition(given: TransitionMatrix | TransitionCounts, factor: Factor, argument: str) -> NoiseOfFactor:
    table = given.probabilities if isinstance(given, TransitionMatrix) else given.counts.astype(np.float64)
    kind: Kind = "transition" if isinstance(given, TransitionMatrix) else "counts"
    if kind == "transition":
        smallest = float(np.linalg.svd(table, compute_uv=False)[-1])
        if smallest < SINGULAR:
            raise InputError(
                argument,
                f"the transition is too close to one that loses classes (smallest singular value {smallest:.3f}, below "
                f"{SINGULAR:g}): the classes that it mixes cannot be separated",
                "join classes that are mistaken for each other, or give an audit with noise_method='audited'",
            )
    if not factor.categorical:  # its classes are the bins of a metric, which are not known here
        return NoiseOfFactor(factor.name, kind, matrix=table, source=given)
    if given.classes is None:
        if given.k != len(factor.levels):
            raise InputError(
                argument,
                f"expected {len(factor.levels)} classes, as the factor has ({shown(factor.levels)}), got {given.k}",
                "name the classes of the table, if some of them are never given",
            )
        classes = factor.levels
    else:
        classes = tuple(str(name) for name in given.classes)
    lacking = [level for level in factor.levels if level not in classes]
    if lacking:
        raise InputError(argument, f"its classes {shown(classes)} lack {shown(lacking)}, which the factor has")
    position = np.array([classes.index(level) for level in factor.levels], dtype=np.intp)
    return NoiseOfFactor(factor.name, kind, classes, position, matrix=table, source=given)


def _audit(audit: FactorAudit, factor: Factor, argument: str) -> NoiseOfFactor:
    n = len(factor.values)
    beyond = np.flatnonzero(audit.rows >= n)
    if beyond.size:
        raise InputError(
            argument,
            f"names {plural(beyond.size, 'row that does', 'rows that do')} not exist, first "
            f"{int(audit.rows[beyond[0]])}; rows are counted from 0: the {n:,} rows of the factors are 0 to {n - 1}",
        )
    true = read_factor(audit.values, factor.name, factor.kind)
    if not true.complete:
        raise InputError(
            argument,
            f"{audit.k - true.n_annotated} audited rows have no true value, first row "
            f"{int(audit.rows[np.flatnonzero(~true.annotated())[0]])}",
            "hard rows are not missing at random: get their true values, or count them as unclear",
        )
    known: dict[str, Any] = {"rows": audit.rows, "unclear": audit.unclear, "source": audit}
    if not factor.categorical:
        return NoiseOfFactor(factor.name, "audit", values=np.asarray(true.values, dtype=np.float64), **known)
    given = np.asarray(factor.values)[audit.rows]
    pairs = [(int(one), int(other)) for one, other in zip(given, true.values, strict=True) if one >= 0]
    if not any(factor.levels[one] == true.levels[other] for one, other in pairs):
        raise NotEnoughData(
            argument,
            f"all {audit.k} audited rows contradict the factor: true values are "
            f"{shown(true.levels)}, given ones {shown(factor.levels)}",
            "are its rows those of the factors, counted from 0, and its classes the same?",
        )
    classes = factor.levels + tuple(level for level in true.levels if level not in factor.levels)
    place = np.array([classes.index(level) for level in true.levels], dtype=np.intp)
    return NoiseOfFactor(
        factor.name,
        "audit",
        classes,
        np.arange(len(factor.levels), dtype=np.intp),
        values=place[np.asarray(true.values, dtype=np.intp)],
        **known,
    )


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
