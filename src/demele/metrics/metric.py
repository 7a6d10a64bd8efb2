"""What is true of a metric, in one object with its mathematics: name, claims, formula, guards, source."""

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import lru_cache
from operator import attrgetter
from types import FunctionType
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, cast, get_args, overload

import numpy as np

from demele.core.arrays import Floats
from demele.core.bibliography import bibtex_of, referenced
from demele.core.errors import InputTypeError, quoted
from demele.core.lazy import ENGINE
from demele.core.results import Note, Score
from demele.core.signature import fingerprint
from demele.estimation.information import InformationTable, mean_of_defined
from demele.metrics.options import RANDOM, Option, options_of, public_signature

P = ParamSpec("P")
#: Returns the generator of a named part of the work.
Streams = Callable[..., np.random.Generator]
#: Whether a state can be read, of a source and options.
When = Callable[[Any, Mapping[str, Any]], bool]
#: What a formula can be computed from: the class of its first parameter, and the name by which sources know the state.
STATES = {
    "InformationTable": "table",
    "Data": "rows",
    "Moments": "moments",
    "CellExtremes": "extremes",
    "CellSums": "cells",
    "CrossProducts": "products",
}
#: States of rows that sum over them: without rows to look at again.
SUMMED = ("moments", "extremes", "cells", "products")
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
        Notes on whether codes of noise would score as much. They stand last.
    """

    value: Floats
    per_factor: Floats | None = None
    per_code: Floats | None = None
    matrix: Floats | None = None
    matrix_of: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    chance_notes: tuple[Note, ...] = ()

    @classmethod
    def mean(
        cls, table: InformationTable, *, per_factor: Floats | None = None, per_code: Floats | None = None, **more: Any
    ) -> "Native":
        """Return the mean of the defined values of factors, or of codes, and the table that they were read off."""
        own: Any = per_code if per_factor is None else per_factor
        value = mean_of_defined(own)
        return cls(
            value=value, per_factor=per_factor, per_code=per_code, matrix=table.information, matrix_of=MATRIX, **more
        )


@dataclass(frozen=True, slots=True)
class Draws:
    """Values of one metric over repeats, resamples or permutations; the first axis is the draw.

    ``failed`` are the numbers, among all that were asked for, of draws that could not be computed and have no value.
    """

    value: Floats
    per_factor: Floats | None
    per_code: Floats | None
    failed: tuple[int, ...] = ()

    @property
    def n(self) -> int:
        """Number of draws."""
        return len(self.value)

    @property
    def numbered(self) -> Floats:
        """Values in the places of their draws, NaN where one failed: place k is of the same rows for all codes."""
        whole = np.full(self.n + len(self.failed), np.nan)
        whole[np.setdiff1d(np.arange(whole.size), self.failed)] = self.value
        return whole

    @classmethod
    def of(cls, natives: list[Native], failed: tuple[int, ...] = ()) -> "Draws":
        """Collect natives of single draws, or of blocks of draws."""
        join: Callable[..., Any] = np.stack if natives[0].value.ndim == 0 else np.concatenate

        columns = ([getattr(one, name) for one in natives] for name in ("value", "per_factor", "per_code"))
        found: list[Any] = [None if own[0] is None else join(own) for own in columns]
        return cls(found[0], found[1], found[2], failed)

    def mean(self, first: Native) -> Native:
        """Return the mean over draws, with the matrix, details and notes of the first."""
        per_factor, per_code = (None if own is None else own.mean(axis=0) for own in (self.per_factor, self.per_code))
        return replace(first, value=np.asarray(self.value.mean()), per_factor=per_factor, per_code=per_code)

    @staticmethod
    def quantiles(values: Floats, level: float, bounds: tuple[float, float], centre: float) -> Floats:
        """Return the ends of the central range of the values, moved so that their mean is at ``centre``.

        Resamples are biased as samples are: estimated information, for one, is too high by about the same amount
        again in each resample. What they tell is the spread. What leaves the bounds then, which the definition does
        not allow, says nothing about other rows.
        """
        known = values[~np.isnan(values)]
        if not known.size:
            return np.full(2, np.nan)
        shift = centre - float(known.mean())
        return np.asarray(np.clip(np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) + shift, *bounds))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What computing gave for one metric: the value, and its draws under repeats, resamples and permutations.

    ``halves`` are values on half-samples, for metrics whose ``resamples`` may be others.
    """

    native: Native
    repeats: Draws | None = None
    resamples: Draws | None = None
    halves: Draws | None = None
    permutations: Draws | None = None
    seconds: float = float("nan")
    notes: tuple[Note, ...] = ()


class MetricFunction(Protocol[P]):
    """The public function of a metric: codes, factors, and the keywords of its formula.

    Attributes
    ----------
    metric : Metric
    formula : callable
        The mathematics: a pure function of a state, whose keywords are the options, with checked values.
    """

    __name__: str
    metric: "Metric"
    formula: Callable[..., Native]

    def __call__(self, codes: object, factors: object, *args: P.args, **options: P.kwargs) -> Score:
        """Score codes against factors."""


@lru_cache(maxsize=1024)
def takes_streams(function: Callable[..., Any]) -> bool:
    """Whether the second parameter of a formula, or of a fit, is random streams."""
    parameters = list(inspect.signature(function).parameters.values())
    return len(parameters) > 1 and bool(parameters[1].annotation == Streams)


def applied(
    function: Callable[..., Any], state: Any, options: Mapping[str, Any], streams: Streams | None = None
) -> Any:
    """Return what a formula, or a fit, gives for a state: the one way in which all are called."""
    return function(state, streams, **options) if takes_streams(function) else function(state, **options)


def _states(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the states that a formula can read, in its order of preference."""
    first = next(iter(inspect.signature(function).parameters.values())).annotation
    names = [getattr(one, "__name__", str(one)) for one in get_args(first) or (first,)]
    if not all(name in STATES for name in names):
        problem = f"annotate the first parameter of {function.__name__} with what it reads: {', '.join(STATES)}"
        raise InputTypeError(f"{problem}; got {quoted(first)}")
    return tuple(STATES[name] for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """The checks of a score, declared for each metric without defaults.

    Attributes
    ----------
    outliers : {"move it", "of factors move it", "leave it", "unknown"}
        Whether one outlying value can move the score: it is then computed again with outlying columns clipped.
        ``"unknown"``: not examined; not allowed for registered metrics.
    bins : bool
        Whether equal-width bins that outliers or ties crowd, or many cells for the rows, can move it.
    fewest_rows : int
        Rows below which codes of noise may score as codes that know.
    rows_per_value : int
        The same for each value of a factor, where the metric needs rows of every value.
    code_entropy : bool
        Whether the entropy of the codes' bins enters, so that finer bins of continuous codes can move it.
    """

    outliers: Literal["move it", "of factors move it", "leave it", "unknown"]
    bins: bool
    fewest_rows: int
    rows_per_value: int = 0
    code_entropy: bool = False


def _undecorated(*_: object) -> Native:
    raise InputTypeError("metric", "it has no function", "decorate a formula with it, or give it a name and a function")


_UNKNOWN = Guards(outliers="unknown", bins=False, fewest_rows=0)


@dataclass(frozen=True, eq=False, repr=False)
class Metric:
    """All that is true of one metric; without a function, the decorator of its formula.

    The first parameter of a formula says by its annotation what it is computed from: an ``InformationTable``, ``Data``
    (rows) or sums, or a union of them in order of preference. A second one of ``Streams`` makes it stochastic. Its
    keyword-only parameters are the options, its docstring is that of the public function, which stands in its place
    and has it as ``function.formula``, and this object as ``function.metric``.

    Attributes
    ----------
    name : str
        Name in code, files and signatures; of a decorated formula its own, unless given.
    call : callable
        The public function, or a function of two arrays; its keyword-only parameters are the options, with defaults
        and, in annotations, checks.
    title : str
        Name on pages; ``name`` by default.
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
        Whether the seed changes the number: true of formulas and fits that take ``Streams``, and of functions of two
        arrays that take ``rng``.
    needs_codes, needs_factors : int
        Fewest codes and (not constant) factors for which it is defined.
    source, definition : str
        Paper and equation; one line.
    references : tuple of str
        What to cite: keys of the bibliography of demele, or whole BibTeX entries.
    guards : Guards
    formula : callable, optional
        What is computed; a decorated function, or ``call`` on two plain arrays.
    states : tuple of str
        What it can be computed from, preferred first: ``"table"``, ``"rows"``, ``"arrays"``, or one of ``SUMMED``.
    when : mapping of class to callable (source, options) -> bool
        Whether a state can be read; always, unless given.
    fit : callable, optional
        Runs once for all metrics that share it with equal options; the formula then reads what it returned.
    serves : str
        An option in which these metrics may differ: the fit is given all values that are asked for, as a tuple.
    takes : TypedDict, optional
        The options, where metrics of other options share the formula.
    pairs, soft, one_by_one, joint : bool
        Of tables: whether informations between factors are read; each row is spread by its standard deviations;
        nearest neighbours look at each code by itself, with its own noise against ties; or the joint counts
        themselves are read, which not every source keeps.
    loads : str
        A module that the work imports, and that brings a pool of threads.
    undefined : str
        Why a native value may be NaN.
    shares : str
        Metrics of one name share options and random streams; the metric's name unless given.
    slow : int
        0, or the savings of the bench: 1 few representations, 2 also no shuffle with its score.
    probe : (str, tuple) or None
        The option that the bench varies, and its values: the default, a quarter, half, twice and four times.
    screened : bool
        Whether sparse codes are scored with it on those that inform most, made dense.
    of_each_code : bool
        Whether it reads squared correlations of single codes with continuous factors: these need no screening.
    pictures : callable (data, options, native) -> tuple, optional
        What reports draw of it.
    aliases : tuple of str
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

    name: str = ""
    call: Callable[..., Any] = _undecorated
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
    formula: Callable[..., Any] = _undecorated
    states: tuple[str, ...] = ()
    when: Mapping[type, When] = field(default_factory=dict)
    fit: Callable[..., Any] | None = None
    serves: str = ""
    takes: type | None = None
    pairs: bool = False
    soft: bool = False
    one_by_one: bool = False
    joint: bool = False
    loads: str = "scipy.linalg"
    undefined: str = "they carry nothing"
    shares: str = ""
    slow: int = 0
    probe: tuple[str, tuple[Any, ...]] | None = None
    screened: bool = False
    of_each_code: bool = False
    pictures: Callable[..., Any] | None = None
    aliases: tuple[str, ...] = ()
    in_all: bool = True
    in_groups: bool = False
    on_circles: bool = False
    aligns_with: tuple[str, Any] | None = None
    package: str = ""
    corrected_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.call is _undecorated:
            return
        if not callable(self.call):
            raise InputTypeError(f"{self.name}: expected a function, got {quoted(self.call)}")
        for name in ("title", "shares"):
            object.__setattr__(self, name, getattr(self, name) or self.name)
        if self.formula is _undecorated:  # a function of two arrays
            for name, value in (("formula", self.call), ("states", ("arrays",)), ("loads", "")):
                object.__setattr__(self, name, value)
        random = takes_rng(self.call) if self.states == ("arrays",) else takes_streams(self.fit or self.formula)
        object.__setattr__(self, "stochastic", self.stochastic or random)

    @overload
    def __call__(self, formula: Callable[Concatenate[Any, Streams, P], Native]) -> MetricFunction[P]: ...

    @overload
    def __call__(self, formula: Callable[Concatenate[Any, P], Native]) -> MetricFunction[P]: ...

    def __call__(self, formula: Callable[..., Native]) -> MetricFunction[Any]:
        """Return the public function of a formula, with its docstring and signature."""
        signature = public_signature(formula, self.takes)
        name = self.name or formula.__name__

        def public(codes: object, factors: object, **options: Any) -> Score:
            found: Score = importlib.import_module(ENGINE).scored([metric], codes, factors, options)[0]
            return found

        public.__name__ = public.__qualname__ = name
        public.__module__, public.__doc__ = formula.__module__, formula.__doc__
        public.__annotations__ = {one.name: one.annotation for one in signature.parameters.values()} | {"return": Score}
        if not self.name:  # the public function stands under its name, where pickle looks for it
            formula.__qualname__ = f"{name}.formula"
        metric = replace(self, name=name, call=public, formula=formula, states=_states(self.fit or formula))
        function = cast("MetricFunction[Any]", public)
        vars(public)["__signature__"], function.metric, function.formula = signature, metric, formula
        return function

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle a decorated formula by the name of its public function."""
        decorated = getattr(self.call, "metric", None) is self
        return (attrgetter("metric"), (self.call,)) if decorated else super().__reduce_ex__(protocol)

    def __repr__(self) -> str:
        return f"Metric({', '.join(f'{name}={value!r}' for name, value in self.facts().items())})"

    @property
    def group(self) -> str:
        """Metrics of one group share options and random streams."""
        return self.shares

    @property
    def option_table(self) -> Mapping[str, Option]:
        """Options by name, with defaults and checks."""
        return {} if self.is_plain or self.call is _undecorated else options_of(self.call)

    def reads(self, state: str, source: Any, options: Mapping[str, Any]) -> bool:
        """Whether it can be computed from a state under its options."""
        allowed = next((when for kind, when in self.when.items() if STATES[kind.__name__] == state), None)
        return state in self.states and (allowed is None or allowed(source, options))

    @property
    def needs_order(self) -> bool:
        """Whether it assumes an order of the codes, unless an option names the code of each factor."""
        return any(one.read is not None and one.default is not None for one in self.option_table.values())

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
        return self.soft

    @property
    def is_plain(self) -> bool:
        """Whether it wraps a function without declared facts."""
        return self.guards is _UNKNOWN

    @property
    def is_ours(self) -> bool:
        """Whether it is one of demele's, which the version of demele identifies."""
        return str(getattr(self.call, "__module__", "")).partition(".")[0] == "demele"

    @property
    def code(self) -> str:
        """Fingerprint of its functions, and the version of Python that it holds for."""
        functions = [self.formula] if self.fit is None else [self.formula, self.fit]
        # an object of the command line stands around its function
        bare = (one if isinstance(one, FunctionType) else getattr(one, "__wrapped__", one) for one in functions)
        return f"{fingerprint(*bare)}/py{sys.version_info.major}.{sys.version_info.minor}"

    @property
    def bibtex(self) -> str:
        """The works to cite, as BibTeX; empty if the metric names none."""
        return bibtex_of(self.references)

    @property
    def provenance(self) -> Mapping[str, str]:
        """The part of a signature for a metric from elsewhere: its code and its package."""
        if self.is_ours:
            return {}
        return {"code": self.code} | ({"from": self.package} if self.package else {})

    def facts(self) -> dict[str, Any]:
        """Return the facts about the metric for a page, as plain values."""
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
        if self.states != ("arrays",):
            return
        random = {RANDOM: None} if takes_rng(self.formula) else {}
        try:
            inspect.signature(self.formula).bind("codes", "factors", **dict.fromkeys(self.options), **random)
        except ValueError:  # a compiled function need not say what it takes
            return
        except TypeError as error:
            own = getattr(self.formula, "__name__", "a formula")
            message = f"{self.name}: {own} cannot be called with (codes, factors): {error}"
            raise InputTypeError(message) from error

    def check(self) -> None:
        """Refuse what would fail only at the call, such as options without checks.

        Raises
        ------
        InputTypeError
        """
        self.check_call()
        referenced(self.references)
        known = self.option_table
        if self.probe is not None and self.probe[0] not in known:
            raise InputTypeError(f"{self.name}: probe varies {self.probe[0]!r}, which is no option")
        if self.guards.outliers == "unknown":
            remedy = "pass Guards with outliers, bins and fewest_rows"
            raise InputTypeError(f"{self.name}: guards are not declared; {remedy}")


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
    call: Any = item  # what is no function is refused
    return Metric(name or str(getattr(item, "__name__", type(item).__name__)), call, guards=_UNKNOWN)
