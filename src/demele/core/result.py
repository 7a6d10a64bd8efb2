"""What every result is: frozen fields and a document, from which all its forms follow; and facts about its numbers."""

import dataclasses
import json
import math
import re
import types
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any, ClassVar, Literal, Union, get_args, get_origin

import numpy as np

from demele.core.arrays import Floats, pd
from demele.core.bibliography import bibliography, software
from demele.core.errors import short_words
from demele.core.kinds import checked_name
from demele.core.outputs import write_whole
from demele.core.reading import path_of
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.report.document import Document, Notice, Section
from demele.report.listing import table_of_frame
from demele.report.renderers import paper, terminal
from demele.report.words import name, typed

# Facts about a number: intervals, spreads, notes, and what independence scores ----------------------------------------

Severity = Literal["info", "warning", "fragile"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclasses.dataclass(frozen=True, slots=True)
class Spread:
    """The values of a stochastic metric under different seeds, on the same rows."""

    values: tuple[float, ...]
    mean: float = dataclasses.field(init=False)
    std: float = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        """Compute the mean and the standard deviation (n - 1), NaN for a single value."""
        object.__setattr__(self, "mean", float(np.mean(self.values)))
        object.__setattr__(self, "std", float(np.std(self.values, ddof=1)) if len(self.values) > 1 else math.nan)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
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


@dataclasses.dataclass(frozen=True, slots=True)
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
    native: Floats | None = dataclasses.field(default=None, repr=False, compare=False, metadata={"json": False})
    mean: float = dataclasses.field(init=False)
    std: float = dataclasses.field(init=False)
    p_value: float = dataclasses.field(init=False)

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


# Results --------------------------------------------------------------------------------------------------------------

MethodsFormat = Literal["latex", "markdown", "text"]
_CITED = re.compile(r"( ?)\[(@[^\]]+)\]")
_KNOWN: Mapping[str, Any] = {kind.__name__: kind for kind in (str, int, float, bool, Interval, Signature)}
_KNOWN = {**_KNOWN, "None": type(None)}


class Result(ABC):
    """A frozen dataclass of data with one method, :meth:`document`; everything else follows from both.

    A subclass is declared with ``repr=False`` and names its ``_kind``. ``_rows`` is the field whose items are one row
    each of :meth:`to_frame`. A field with ``metadata={"json": False}`` is left out of :meth:`to_dict`.
    ``_files`` names methods by the ends of further files that the result can be written to, such as ``.scores.csv``.
    """

    __slots__ = ()
    _kind: ClassVar[str]
    _rows: ClassVar[str] = ""
    _files: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def document(self) -> Document:
        """Return what the result says: figures, tables and sentences."""

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        return typed(self.document().headline)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The result in sentences, the most important one first."""
        document = self.document()
        return tuple(map(typed, (document.headline, *document.sentences)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sentence.rstrip('.')})"

    def __str__(self) -> str:
        return terminal.text(self.document(), more="see explain()").rstrip("\n")

    def explain(self) -> str:
        """Return the result as a text with all sentences, assumptions, notes and tables, as ``--explain`` prints it."""
        return terminal.text(self.document(), explain=True).rstrip("\n")

    def _repr_html_(self) -> str:
        from demele.report.renderers.html import card

        return card(self.document())

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None)."""
        fields = {field.name: plain(getattr(self, field.name)) for field in _fields(self)}
        return {"kind": self._kind, "demele": _version(self), **fields}

    def to_json(self, path: str | Path | None = None) -> str:
        """Return everything as JSON, and write it to a file if one is named."""
        return _kept(json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n", path)

    def to_frame(self) -> "pd.DataFrame":
        """Return the result as a table, with columns ``low`` and ``high`` for an interval."""
        items = getattr(self, self._rows) if self._rows else (self,)
        return pd.DataFrame([dict(_cells(one)) for one in items])

    def to_html(self, path: str | Path) -> Path:
        """Write one self-contained, interactive HTML page."""
        return page_of(self, path)

    def _page_data(self) -> dict[str, Any]:
        """Return what a page offers to download: everything."""
        return self.to_dict()

    def to_latex(self, path: str | Path | None = None) -> str:
        """Return a table for a paper in LaTeX, and write it to a file if one is named; it needs booktabs only."""
        return _kept(paper.latex(self.document()), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return the same table in GitHub-flavoured Markdown, and write it to a file if one is named."""
        return _kept(paper.markdown(self.document()), path)

    def to_audit(self, path: str | Path | None = None) -> str:
        """Return an audit report in Markdown, and write it to a file if one is named.

        Protocol, annotators, noise, draw, findings and open risks, under the headings of good practice; what the result
        does not know is to be filled in by hand.
        """
        return _kept(paper.audit_report(self.document()), path)

    def methods(self, path: str | Path | None = None, *, format: MethodsFormat = "latex") -> str:  # noqa: A002
        r"""Return a paragraph for the section on methods, and write it to a file if one is named.

        Parameters
        ----------
        path : str or Path, optional
        format : {"latex", "markdown", "text"}
            Citations as ``\cite{key}``, as ``[@key]`` (of Pandoc), or as authors and years. The keys are those of
            :func:`demele.cite`.
        """
        checked_name(format, "format", get_args(MethodsFormat))
        made = self.document().methods or (f"The {self._kind} was computed with demele {_version(self)} [@demele].",)
        return _kept("".join(_cited(" ".join(made), format)) + "\n", path)

    def plot(self, figure: int | str = 0, *, ax: Any = None) -> Any:
        """Draw a figure of the document with matplotlib.

        Parameters
        ----------
        figure : int or str
            Its number or its caption; by default the first.
        ax : matplotlib.axes.Axes, optional
            Where to draw; in a figure of its own if None.

        Returns
        -------
        matplotlib.axes.Axes
            Its ``figure`` can be saved.

        Raises
        ------
        MissingExtraError
            Without matplotlib (``demele[pictures]``).
        InputError, NotEnoughData
            For a figure that the document does not have, or a document without any.
        """
        from demele.report.renderers.picture import draw

        return draw(self.document(), figure, ax)

    def to_pictures(self, folder: str | Path, *, formats: Sequence[str] = ("png", "svg")) -> tuple[Path, ...]:
        """Write every figure of the document with matplotlib, and return the files; they are named by their captions.

        Parameters
        ----------
        folder : str or Path
            Made if it does not exist. Files of the same names are replaced.
        formats : sequence of str
            Of "png", "svg", "pdf".

        Raises
        ------
        MissingExtraError
            Without matplotlib (``demele[pictures]``).
        InputError, OutputError
            For other formats, or a folder that cannot be made.
        """
        from demele.report.renderers.picture import write_pictures

        return write_pictures(self.document(), path_of(folder, "folder"), formats)


class TableResult(Result):
    """A result that is one table: its document follows from :meth:`to_frame` and one :meth:`headline`.

    ``_forms`` gives formats of columns by their names, where the type of a column does not say enough. ``_figure`` is
    the column that is drawn: the first one of fractions if it is not named.
    """

    __slots__ = ()
    _forms: ClassVar[Mapping[str, str]] = {}
    _figure: ClassVar[str] = ""

    @abstractmethod
    def headline(self) -> str:
        """Return the result in one sentence."""

    def document(self) -> Document:
        """Return what the result says: one table, and a figure of one of its columns."""
        title = f"{self._kind[:1].upper()}{self._kind[1:]}"
        table, figure = table_of_frame(title, self.to_frame(), self._forms, self._figure)
        return Document(
            kind=title,
            headline=self.headline(),
            figure=figure,
            table=table,
            sections=[Section("Measures", [table])],
            **about(self),
        )


def page_of(result: Result, path: str | Path) -> Path:
    """Write the page of a result, with its values as data."""
    from demele.report.renderers.html import write_page

    return write_page(result.document(), path, json.dumps(result._page_data(), allow_nan=False, separators=(",", ":")))


# Documents ------------------------------------------------------------------------------------------------------------


def about(result: Result) -> dict[str, Any]:
    """Return the assumptions, notes, signatures and version of a result, for its document."""
    signature = getattr(result, "signature", None)
    return {
        "assumptions": tuple(getattr(result, "assumptions", ())),
        "notes": notices(getattr(result, "notes", ())),
        "signatures": () if signature is None else ((signature.metric, str(signature)),),
        "version": _version(result),
    }


def notices(notes: tuple[Note, ...]) -> tuple[Notice, ...]:
    """Return notes as documents hold them."""
    return tuple(Notice(note.message, note.severity, tuple(map(name, note.subject))) for note in notes)


def _cited(text: str, format: MethodsFormat) -> Iterator[str]:  # noqa: A002
    """Yield a text in a format, piece by piece, with its citations."""
    escape = {"latex": paper.in_latex, "markdown": paper.in_markdown, "text": typed}[format]
    parts = _CITED.split(text)  # text, space, keys, text, space, keys, ..., text
    for place, part in enumerate(parts):
        if place % 3 == 0:
            yield escape(part)
        elif place % 3 == 1:
            yield "~" if part and format == "latex" else part
        else:
            keys = [key.strip().removeprefix("@") for key in part.split(";")]
            known = {**bibliography(), "demele": software()}
            labels = "; ".join(known[key].label if key in known else key for key in keys)
            yield {"latex": rf"\cite{{{','.join(keys)}}}", "markdown": f"[{part}]", "text": f"({labels})"}[format]


# Plain values ---------------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it.

    NaN and infinities are None, a signature is its text, arrays are lists, data frames are records. A mapping whose
    keys are tuples is a list of pairs.

    Examples
    --------
    >>> plain({"a": (1, float("nan"))}), plain(np.arange(2))
    ({'a': [1, None]}, [0, 1])
    """
    if isinstance(value, Result):
        return value.to_dict()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping) and any(isinstance(key, tuple) for key in value):
        return [[plain(key), plain(item)] for key, item in value.items()]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type | Signature):
        return {field.name: plain(getattr(value, field.name)) for field in _fields(value)}
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        frame = value if value.index.names == [None] and value.index.dtype.kind in "iu" else value.reset_index()
        return plain(frame.to_dict(orient="records"))
    return plain(value.to_dict()) if hasattr(value, "to_dict") else str(value)


def _fields(value: Any) -> "list[dataclasses.Field[Any]]":
    return [field for field in dataclasses.fields(value) if field.metadata.get("json", True)]


def _cells(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a row holds of a dataclass: its single values, and two ends for each interval, by annotation alone."""
    for field in _fields(value):
        held, kinds = getattr(value, field.name), _kinds(field.type)
        if Interval in kinds:
            start = "" if field.name == "interval" else f"{field.name}_"
            yield f"{start}low", math.nan if held is None else held.low
            yield f"{start}high", math.nan if held is None else held.high
        elif kinds <= {str, int, float, bool, type(None)}:
            yield field.name, held
        elif kinds == {Signature}:
            yield field.name, str(held)


def _kinds(annotation: Any) -> set[Any]:
    """Return the types that an annotation allows, which may be a text; texts of a literal are texts."""
    if isinstance(annotation, str):
        return {_KNOWN.get(part.strip(), part) for part in annotation.split("|")}
    if get_origin(annotation) in (Union, types.UnionType):
        return {kind for one in get_args(annotation) for kind in _kinds(one)}
    return set(map(type, get_args(annotation))) if get_origin(annotation) is Literal else {annotation}


def _version(result: Result) -> str:
    signature = getattr(result, "signature", None)
    made = None if signature is None else signature.context.get("demele")
    return str(made or getattr(result, "version", "") or __version__)


def _kept(text: str, path: str | Path | None) -> str:
    if path is not None:
        write_whole(path, text)
    return text
