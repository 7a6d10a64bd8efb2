"""What every result is: frozen fields and a document, from which all its forms follow."""

import dataclasses
import json
import math
import re
import types
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Union, get_args, get_origin

import numpy as np

from demele.core.arrays import pd
from demele.core.bibliography import bibliography, software
from demele.core.kinds import checked_name
from demele.core.outputs import write_whole
from demele.core.reading import path_of
from demele.core.signature import Signature
from demele.core.uncertainty import Interval, Note
from demele.core.version import __version__
from demele.report.document import Document, Notice, Section
from demele.report.listing import table_of_frame
from demele.report.renderers import paper, terminal
from demele.report.words import name, typed

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


def notices(notes: "tuple[Note, ...]") -> tuple[Notice, ...]:
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
