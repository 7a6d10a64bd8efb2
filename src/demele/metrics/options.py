"""Options of metrics: the default stands in a function's signature, the check in its annotation; both are read once."""

import inspect
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, TypedDict, Unpack, cast, get_args, get_type_hints

import numpy as np

from demele.core.arrays import Array
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.kinds import (
    Count,
    CountOrNone,
    Jobs,
    Kind,
    Level,
    Seed,
    checked,
    checked_count,
    kind_of,
)
from demele.core.results import Note, Score
from demele.core.signature import OptionText
from demele.core.table_columns import items_of
from demele.estimation.counts import Adaptive, Binning, Edges, EqualFrequency, EqualWidth
from demele.estimation.information import Correction

# What an option may be ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReadOption:
    """The value of an option that is about columns, read for those of one representation.

    Attributes
    ----------
    value : object
        What the formula reads: for the columns that vary.
    shown : object
        What the signature says: for all columns.
    notes : tuple of Note
    """

    value: Any
    shown: Any
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class OfColumns:
    """The check of an option that is about the columns, such as the code of each factor: made when these are known.

    Attributes
    ----------
    read : callable (value, subject) -> ReadOption
        A value of None is not read.
    """

    read: Callable[[Any, Any], ReadOption]


def _resamples(value: Any, argument: str) -> int:
    if checked_count(value, argument, 0) == 1:
        raise InputError(argument, "expected 0 or at least 2 resamples (100 or more for an interval), got 1")
    return int(value)


_BINNINGS: dict[str, type[Any]] = {one.__name__: one for one in (EqualWidth, EqualFrequency, Adaptive, Edges)}
_BINNING_WORDS: dict[str, type[EqualWidth] | type[EqualFrequency]] = {
    "equal-width": EqualWidth,
    "equal-frequency": EqualFrequency,
    "quantile": EqualFrequency,
}


def as_binning(bins: object) -> Binning:
    """Turn a number, a word, edges or a rule into a rule.

    ``10`` is ``EqualWidth(10)``; ``"equal-frequency:10"``, ``"equal-width:10"`` and ``"adaptive"`` are words for the
    command line; a sequence of numbers is ``Edges``.
    """
    if isinstance(bins, EqualWidth | EqualFrequency | Adaptive | Edges):
        return bins
    if isinstance(bins, numbers.Integral) and not isinstance(bins, bool):
        return EqualWidth(int(bins))
    if isinstance(bins, str):
        word, _, count = bins.partition(":")
        if word == "adaptive" and not count:
            return Adaptive()
        if bins.isdecimal():
            return EqualWidth(int(bins))
        if word in _BINNING_WORDS and (count.isdecimal() or not count):
            return _BINNING_WORDS[word](int(count or 10))
        words = "'equal-width:B', 'equal-frequency:B' or 'adaptive'"
        raise InputError("bins", f"expected a number, {words}, got {quoted(bins)}")
    edges = items_of(bins, "bins", "increasing edges") if isinstance(bins, np.ndarray) and bins.ndim else bins
    if isinstance(edges, Sequence) and len(edges):
        try:
            return Edges(tuple(float(edge) for edge in edges))
        except (TypeError, ValueError) as error:
            raise InputError("bins", f"expected increasing edges, got {quoted(bins)}") from error
    if hasattr(bins, "column_bins") and hasattr(bins, "needs_values"):
        return cast("Binning", bins)  # a user's own rule
    raise InputTypeError("bins", f"expected a number, a Binning or edges, got {quoted(bins)}")


#: The parameter of a function of arrays that is given random numbers, and no option.
RANDOM = "rng"
#: How continuous columns are cut: a number of bins, a word, edges or a rule.
Bins = Annotated[
    int | str | Binning | Sequence[float] | Array,
    Kind("BINS", check=lambda value, _: as_binning(value)),
]
#: Where mutual informations come from.
Estimator = Literal["histogram", "knn", "robust"]


# Reading a signature --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Default:
    """The default of an option of several metrics, written into its annotation: a ``TypedDict`` has none."""

    value: Any


class RunOptions(TypedDict, total=False):
    """Keywords that every metric takes.

    ``seed`` (default 0), ``n_repeats`` (1), ``n_bootstrap`` (0 resamples), ``level`` (0.95), ``n_permutations`` (0
    permutations), ``n_jobs`` (1): see :func:`demele.evaluate`.
    """

    seed: int
    n_repeats: int
    n_bootstrap: int
    level: float
    n_permutations: int
    n_jobs: int


class BinOptions(RunOptions, total=False):
    """Options of all metrics of a table of counts."""

    bins: Annotated[Bins, Default(10)]


class CountOptions(BinOptions, total=False):
    """Options of metrics of a table of counts whose bias may be corrected."""

    correction: Annotated[Correction, Default("none")]


class TableOptions(BinOptions, total=False):
    """Options of metrics of a table of informations, counted or estimated from nearest neighbours."""

    estimator: Annotated[Estimator, Default("histogram")]
    correction: Annotated[Correction, Default("none")]
    n_neighbors: Annotated[Count, Default(3)]


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a metric.

    Attributes
    ----------
    name : str
    written, default : object
        Its default, as the signature writes it and in frozen form.
    check : callable (value, name) -> value
    read : callable (value, subject) -> ReadOption, optional
        Reads a value that is about the columns of a representation.
    """

    name: str
    written: Any
    default: Any
    check: Callable[[Any, str], Any]
    read: Callable[[Any, Any], ReadOption] | None = None


def public_signature(formula: Callable[..., Any], takes: type | None = None) -> inspect.Signature:
    """Return the signature of the public function of a formula: codes, factors, its options, the run's keywords.

    Parameters
    ----------
    formula : callable (state, ..., *, options)
        Options that it shares with others are those of the ``TypedDict`` that its last parameter unpacks.
    takes : TypedDict, optional
        All its options, where metrics of other options share the formula.
    """
    hints, own = get_type_hints(formula, include_extras=True), list(inspect.signature(formula).parameters.values())
    keyword = inspect.Parameter.KEYWORD_ONLY
    found = [inspect.Parameter(name, own[0].kind, annotation=object) for name in ("codes", "factors")]
    shared = takes or next((get_args(hints[one.name])[0] for one in own if one.kind is one.VAR_KEYWORD), None)
    for name, hint in {} if shared in (None, object) else get_type_hints(shared, include_extras=True).items():
        if name not in RunOptions.__annotations__:
            items = hint.__metadata__
            default = next(item.value for item in items if isinstance(item, Default))
            kept = tuple(item for item in items if not isinstance(item, Default))
            annotation = Annotated[hint.__origin__, *kept] if kept else hint.__origin__
            found.append(inspect.Parameter(name, keyword, default=default, annotation=annotation))
    if takes is None:
        found += [one.replace(annotation=hints[one.name]) for one in own if one.kind is keyword]
    found.append(inspect.Parameter("run", inspect.Parameter.VAR_KEYWORD, annotation=Unpack[RunOptions]))
    return inspect.Signature(found, return_annotation=Score)


@lru_cache(maxsize=1024)
def options_of(function: Callable[..., Any]) -> Mapping[str, Option]:
    """Return the options of a function: its keyword-only parameters, with defaults that were checked.

    Raises
    ------
    InputTypeError
        If one has no default, or nothing in its annotation says what it may be.
    """
    parameters = [
        one
        for one in inspect.signature(function).parameters.values()
        if one.kind is inspect.Parameter.KEYWORD_ONLY and one.name != RANDOM
    ]
    hints = get_type_hints(function, include_extras=True) if parameters else {}
    owner = getattr(function, "__name__", "the function")
    found = {}
    for one in parameters:
        if one.default is inspect.Parameter.empty:
            raise InputTypeError(f"option {one.name!r} of {owner} has no default")
        hint = hints[one.name]
        read = next((item.read for item in getattr(hint, "__metadata__", ()) if isinstance(item, OfColumns)), None)
        kind = kind_of(hint)
        check: Any = (lambda value, _: value) if read is not None else None if kind is None else kind.check
        if check is None:
            kinds = "Count, Positive, a Literal, bool, or Annotated[..., Kind(...)] of demele.core.kinds"
            raise InputTypeError(f"option {one.name!r} of {owner} has no check; annotate it with {kinds}")
        found[one.name] = Option(one.name, one.default, check(one.default, one.name), check, read)
    return found


def restored(value: object) -> object:
    """Return option objects for their text in a parsed signature."""
    if isinstance(value, OptionText):
        if value.name not in _BINNINGS:
            raise InputError("signature", f"unknown option {value!r}")
        try:
            return _BINNINGS[value.name](**dict(value.arguments))
        except TypeError as error:
            raise InputError("signature", f"unknown option {value!r}") from error
    return value


# What all metrics take ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """Keywords that all metrics share, validated.

    ``halves``: whether metrics that are resampled with replacement are scored on half-samples as well, which tell how
    much the difference of two representations would vary.
    """

    seed: Seed = 0
    n_repeats: Count = 1
    n_bootstrap: Annotated[int, Kind("N", check=_resamples)] = 0
    level: Level = 0.95
    n_permutations: CountOrNone = 0
    n_jobs: Jobs = 1
    halves: bool = False


#: Validates the keywords that were given.
checked_run = checked(Run)


def check_blocks(run: Run, **beside: object) -> None:
    """Refuse blocks of rows together with options that assume independent rows, and without permutations.

    Raises
    ------
    InputError
    """
    for argument, value in {"n_bootstrap": run.n_bootstrap, **beside}.items():
        if value:
            problem = "takes rows for independent, and so would say too much of rows in blocks"
            raise InputError(argument, problem, "leave it out, or `blocks` and all but one row of each")
    if not run.n_permutations:
        raise InputError("blocks", "are what chance permutes whole; pass `n_permutations=100` for a level of chance")
