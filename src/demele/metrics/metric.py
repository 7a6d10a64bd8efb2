"""What is true of a metric, in one object beside its mathematics: name, claims, ways to the number, guards, source."""

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import lru_cache
from types import FunctionType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.bibliography import bibtex_of, referenced
from demele.core.errors import InputTypeError, quoted
from demele.core.fingerprint import fingerprint
from demele.core.results import Note
from demele.metrics.options import RANDOM, Option, options_of

Array = NDArray[np.float64]
#: Returns the generator of a named part of the work.
Streams = Callable[..., np.random.Generator]
Formula = Callable[..., Any]
#: Whether a way can be gone, of a source and options.
When = Callable[[Any, Mapping[str, Any]], bool]
#: States of rows that sum over them: without rows to look at again.
SUMMED = ("moments", "extremes", "cells", "products")
#: What a formula may ask for beside options and side inputs.
GIVEN = ("streams",)
#: What the matrix of metrics of an information table holds.
MATRIX = "mutual information (nats)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Native:
    """Values of one metric, before names and provenance are added; leading axes, where there are any, are draws.

    Attributes
    ----------
    value : float or array
    per_factor, per_code : arrays or None
    matrix : array of shape (n_codes, n_factors) or None
        What the value was computed from; ``matrix_of`` says what it holds.
    details : mapping
    notes : tuple of Note
    chance_notes : tuple of Note
        Notes on whether codes of noise would score as much: told after all others.
    """

    value: Array
    per_factor: Array | None = None
    per_code: Array | None = None
    matrix: Array | None = None
    matrix_of: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    chance_notes: tuple[Note, ...] = ()


# Ways to the number -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to the number: a pure function of a state, whose other parameters are asked for by name.

    Attributes
    ----------
    state : str
        ``"table"`` (an information table), ``"rows"``, ``"arrays"``, or one of ``SUMMED``.
    formula : callable (state, ...) -> Native or float
        Options, side inputs and ``streams`` (generators by name) reach it by the names of its parameters.
    fit : callable, optional
        Runs once for all metrics that name it with equal options; the formula then reads what it returned.
    serves : str
        An option in which these metrics may differ: the fit is given all values that are asked for, as a tuple.
    when : callable (source, options) -> bool, optional
        Whether this way can be gone.
    pairs, soft, one_by_one, joint : bool
        Of tables: whether informations between factors are read; each row is spread by its standard deviations;
        nearest neighbours look at each code by itself, with its own noise against ties; or the joint counts
        themselves are read, which not every source keeps.
    loads : str
        A module that the work imports, and that brings a pool of threads.
    """

    state: str
    formula: Callable[..., Any]
    fit: Callable[..., Any] | None = None
    serves: str = ""
    when: When | None = None
    pairs: bool = False
    soft: bool = False
    one_by_one: bool = False
    joint: bool = False
    loads: str = ""


def of_table(
    formula: Formula,
    *,
    pairs: bool = False,
    soft: bool = False,
    one_by_one: bool = False,
    joint: bool = False,
    when: When | None = None,
) -> Reading:
    """Read a metric off the table of mutual informations."""
    return Reading("table", formula, when=when, pairs=pairs, soft=soft, one_by_one=one_by_one, joint=joint)


def of_rows(
    formula: Formula, *, after: Formula | None = None, serves: str = "", loads: str = "scipy.linalg"
) -> Reading:
    """Compute a metric of checked rows; with ``after``, of what that function made of them."""
    return Reading("rows", formula, fit=after, serves=serves, loads=loads)


def of_moments(formula: Formula, *, when: When | None = None) -> Reading:
    """Compute a metric of means, squares and cross products of all rows."""
    return Reading("moments", formula, when=when)


def of_extremes(formula: Formula, *, when: When | None = None) -> Reading:
    """Compute a metric of numbers, sums and extremes of codes at each value of a factor."""
    return Reading("extremes", formula, when=when)


def of_cells(formula: Formula, *, when: When | None = None) -> Reading:
    """Compute a metric of numbers, sums and squares of codes at each combination of values of all factors."""
    return Reading("cells", formula, when=when)


def of_products(formula: Formula, *, when: When | None = None) -> Reading:
    """Compute a metric of the products of all columns, codes and factors, over all rows."""
    return Reading("products", formula, when=when)


def of_arrays(formula: Formula) -> Reading:
    """Compute a metric of two plain arrays, which are its own to write into."""
    return Reading("arrays", formula)


@lru_cache(maxsize=1024)
def wanted_by(function: Callable[..., Any], first: int = 1) -> tuple[str, ...]:
    """Return the names of a formula's parameters after the state."""
    return tuple(inspect.signature(function).parameters)[first:]


# What is true of a metric -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """What a score is examined for, decided for each metric: there are no defaults.

    Attributes
    ----------
    outliers : {"move it", "of factors move it", "leave it", "undecided"}
        Whether one outlying value can move the score: it is then computed again with outlying columns clipped.
        ``"undecided"``: not looked at; no registered metric may say so.
    bins : bool
        Whether equal-width bins that outliers or ties crowd, or many cells for the rows, can move it.
    fewest_rows : int
        Rows below which codes of noise may score as codes that know.
    rows_per_value : int
        The same for each value of a factor, where the metric needs rows of every value.
    code_entropy : bool
        Whether the entropy of the codes' bins enters, so that finer bins of continuous codes can move it.
    """

    outliers: Literal["move it", "of factors move it", "leave it", "undecided"]
    bins: bool
    fewest_rows: int
    rows_per_value: int = 0
    code_entropy: bool = False


_UNDECIDED = Guards(outliers="undecided", bins=False, fewest_rows=0)


@dataclass(frozen=True, eq=False, repr=False)
class Metric:
    """All that is true of one metric.

    Attributes
    ----------
    name : str
        Name in code, files and signatures.
    call : callable
        The function whose keyword-only parameters are the options, with defaults and, in annotations, checks.
    title : str
        Name in print; the name itself unless given.
    family : str
        Such as ``"information"``, ``"predictor"`` or ``"intervention"``.
    properties : tuple of str
        What the metric claims to measure: modularity, compactness, explicitness; two or more make it holistic.
    native : str
        The unit of its own values: per factor, per code, or only the whole.
    range : (float, float)
        Smallest and largest value that the definition allows.
    best : float
        The value of a perfect representation.
    stochastic : bool
        Whether the seed changes the number; a function of two arrays that takes ``rng`` is.
    needs_codes, needs_factors : int
        Fewest codes and (not constant) factors for which it is defined.
    source, definition : str
        Paper and equation; one line.
    references : tuple of str
        What to cite: keys of the bibliography of demele, or whole BibTeX entries.
    readings : tuple of Reading
        Ways to the number, preferred first; unless given, ``call`` on two plain arrays.
    guards : Guards
    side : tuple of str
        Side inputs that its formula reads, such as ``"reg_dim"``; ``"reg_dim?"``: where given.
    undefined : str
        Why a native value may be NaN.
    shares : str
        Metrics of one name share options and random streams; the metric's name unless given.
    slow : int
        0, or how much the bench spares it: 1 few representations, 2 also no shuffle beside its score.
    probe : (str, tuple) or None
        The option that the bench varies, and its values: the default, a quarter, half, twice and four times.
    screened : bool
        Whether sparse codes are scored with it on those that inform most, made dense.
    of_each_code : bool
        Whether it reads squared correlations of single codes with continuous factors: these need no screening.
    pictures : callable (data, options, native) -> tuple, optional
        What reports draw of it.
    aliases : tuple of str
    order : int
        Place among the names; equal ones by name.
    in_all : bool
        Whether ``metrics="all"`` includes it.
    in_groups : bool
        Whether its formula of rows knows codes of several columns: reads ``data.groups``, or all columns together.
        Those of tables need not: the cells of a group are counted for them.
    on_circles : bool
        Whether its formula of rows knows cyclic factors: reads their coordinates. Those that cut factors into bins
        need not.
    aligns_with : (str, object) or None
        The option, and its value, without which scores of turned codes would mean nothing.
    package : str
        Distribution and version of a metric that is not of demele.
    corrected_by : tuple of str
        Methods, besides those for any score, that correct it for noisy factors, such as ``"transition"``.
    """

    name: str
    call: Callable[..., Any]
    _: KW_ONLY
    guards: Guards
    title: str = ""
    family: str = "other"
    properties: tuple[str, ...] = ()
    native: str = "whole"
    range: tuple[float, float] = (float("-inf"), float("inf"))
    best: float = 1.0
    stochastic: bool = False
    needs_codes: int = 1
    needs_factors: int = 1
    source: str = ""
    references: tuple[str, ...] = ()
    definition: str = ""
    readings: tuple[Reading, ...] = ()
    side: tuple[str, ...] = ()
    undefined: str = "they carry nothing"
    shares: str = ""
    slow: int = 0
    probe: tuple[str, tuple[Any, ...]] | None = None
    screened: bool = False
    of_each_code: bool = False
    pictures: Callable[..., Any] | None = None
    aliases: tuple[str, ...] = ()
    order: int = 1_000
    in_all: bool = True
    in_groups: bool = False
    on_circles: bool = False
    aligns_with: tuple[str, Any] | None = None
    package: str = ""
    corrected_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not callable(self.call):
            raise InputTypeError(f"{self.name}: expected a function, got {quoted(self.call)}")
        for name, default in (("title", self.name), ("shares", self.name), ("readings", (of_arrays(self.call),))):
            if not getattr(self, name):
                object.__setattr__(self, name, default)
        if any(one.state == "arrays" and takes_rng(one.formula) for one in self.readings):
            object.__setattr__(self, "stochastic", True)

    def __repr__(self) -> str:
        return f"Metric({', '.join(f'{name}={value!r}' for name, value in self.facts().items())})"

    @property
    def group(self) -> str:
        """Metrics of one group share options and random streams."""
        return self.shares

    @property
    def option_table(self) -> Mapping[str, Option]:
        """Options by name, with defaults and checks."""
        return {} if self.is_plain else options_of(self.call)

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options, beyond those that all metrics share."""
        return tuple(self.option_table)

    @property
    def discretises(self) -> bool:
        """Whether continuous columns are cut into bins."""
        return "bins" in self.option_table

    @property
    def needs_codes_std(self) -> bool:
        """Whether it needs the standard deviations of stochastic codes."""
        return any(reading.soft for reading in self.readings)

    @property
    def is_plain(self) -> bool:
        """Whether it wraps a function of which nothing more is known."""
        return self.guards is _UNDECIDED

    @property
    def is_ours(self) -> bool:
        """Whether it is one of demele's, which the version of demele says all of."""
        return str(getattr(self.call, "__module__", "")).partition(".")[0] == "demele"

    @property
    def code(self) -> str:
        """Fingerprint of its functions, and the version of Python that it holds for."""
        functions = [self.call]
        for reading in self.readings:
            functions += [one for one in (reading.formula, reading.fit) if one is not None and one not in functions]
        return f"{fingerprint(*map(_bare, functions))}/py{sys.version_info.major}.{sys.version_info.minor}"

    @property
    def bibtex(self) -> str:
        """What to cite, as BibTeX reads it; empty for a metric that names nothing."""
        return bibtex_of(self.references)

    @property
    def provenance(self) -> Mapping[str, str]:
        """What a signature says of a metric that is not of demele: its code, and the package that it is from."""
        if self.is_ours:
            return {}
        return {"code": self.code} | ({"from": self.package} if self.package else {})

    def facts(self) -> dict[str, Any]:
        """Return what a page says of the metric, as plain values."""
        names = (
            "name title family properties native range source references definition group best stochastic discretises "
            "needs_codes needs_factors needs_codes_std options aliases"
        )
        return {name: getattr(self, name) for name in names.split()}

    def check_call(self) -> None:
        """Refuse functions of two arrays that cannot be called with codes and factors.

        Raises
        ------
        InputTypeError
        """
        for reading in self.readings:
            if reading.state == "arrays":
                self._check_arrays(reading.formula)

    def _check_arrays(self, function: Callable[..., Any]) -> None:
        random = {RANDOM: None} if takes_rng(function) else {}
        try:
            inspect.signature(function).bind("codes", "factors", **dict.fromkeys(self.options), **random)
        except ValueError:  # a compiled function need not say what it takes
            return
        except TypeError as error:
            message = f"{self.name}: {_name(function)} cannot be called with (codes, factors): {error}"
            raise InputTypeError(message) from error

    def check(self) -> None:
        """Refuse what would fail only at the call: options without checks, parameters of formulas that nothing gives.

        Raises
        ------
        InputTypeError
        """
        self.check_call()
        referenced(self.references)
        known = {*self.option_table, *(item.rstrip("?") for item in self.side), *GIVEN}
        for reading in self.readings:
            if reading.state == "arrays":
                continue
            for function in (reading.formula, reading.fit):
                for wanted in () if function is None else wanted_by(function):
                    if wanted not in known:
                        raise InputTypeError(
                            f"{self.name}: {_name(function)} wants {wanted!r}, which is no option, side input or state"
                        )
        if self.guards.outliers == "undecided":
            raise InputTypeError(
                f"{self.name}: guards are undecided; say whether outliers and bins move it, and its fewest rows"
            )


def _name(function: Callable[..., Any] | None) -> str:
    return str(getattr(function, "__name__", "a formula"))


def _bare(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function itself that an object stands around, as for the command line."""
    inner = function if isinstance(function, FunctionType) else getattr(function, "__wrapped__", function)
    return inner if callable(inner) else function


def takes_rng(function: Callable[..., Any]) -> bool:
    """Whether a function of two arrays has a parameter ``rng``, and so is given random numbers."""
    try:
        return RANDOM in inspect.signature(function).parameters
    except (TypeError, ValueError):  # a compiled function need not say what it takes
        return False


#: The name under which versions before knew what a metric declares about itself.
MetricSpec = Metric


def as_metric(item: object, name: str = "", *, package: str = "") -> Metric:
    """Return a metric for a metric or a plain function ``(codes, factors) -> float``.

    Raises
    ------
    InputTypeError
        If it is neither.
    """
    if isinstance(item, Metric):
        return replace(item, package=package) if package else item
    if not callable(item):
        raise InputTypeError("metrics", f"expected a name, a Metric or a function (codes, factors), got {quoted(item)}")
    own = name or str(getattr(item, "__name__", type(item).__name__))
    return Metric(own, item, guards=_UNDECIDED)
