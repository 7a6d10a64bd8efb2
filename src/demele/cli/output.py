"""Where results go: table for eyes, JSON and CSV for programs; and one line on stderr for anything else."""

import argparse
import json
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from demele.core.errors import DemeleWarning, OutputError, short_words
from demele.core.outputs import write_whole
from demele.core.result import MethodsFormat, Result
from demele.core.sentences import Words
from demele.files.sheets import csv_text
from demele.files.table_files import Warn
from demele.report.document import Document
from demele.report.renderers import terminal

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("table", "json", "csv")
#: Formats of results that have a table for papers.
_BY_SUFFIX = {".json": "json", ".csv": "csv", ".txt": "table"}
#: How a paragraph on methods cites, by the name of its file.
_METHODS: Mapping[str, MethodsFormat] = {".tex": "latex", ".md": "markdown", ".txt": "text"}
_BY_SUFFIX_FOR_PAPERS = {**_BY_SUFFIX, ".tex": "latex", ".md": "markdown"}


def format_of(asked: str | None, output: Path | None, *, papers: bool = False) -> str:
    """Return the format asked for; else the one of the file's name; else table for a terminal, JSON for a program.

    ``papers``: whether there is a table for papers.
    """
    if asked is not None:
        return asked
    if output is not None:
        known = _BY_SUFFIX_FOR_PAPERS if papers else _BY_SUFFIX
        return known.get(output.suffix.lower(), "json")
    return "table" if sys.stdout.isatty() else "json"


@contextmanager
def naming_stdout() -> Iterator[None]:
    """Let a failure to write name standard output, as one of a file names the file.

    Raises
    ------
    OutputError
    """
    try:
        yield
    except BrokenPipeError:  # nobody reads any more: no fault of anyone
        raise
    except OSError as error:
        raise OutputError(f"standard output: {error.strerror or error}") from error


def emit(text: str, output: Path | None) -> None:
    """Write results to the file, or to stdout."""
    text = text if text.endswith("\n") else text + "\n"
    if output is None:
        with naming_stdout():
            sys.stdout.write(text)
    else:
        write_whole(output, text.encode("utf-8", "backslashreplace"))


def log(message: str, *, stream: TextIO | None = None) -> None:
    """Write one line to stderr."""
    print(short_words(" ".join(message.split())), file=stream or sys.stderr)


def result_text(
    result: Result,
    kind: str,
    *,
    explain: bool = False,
    words: Callable[[str], str] = str,
    output: Path | None = None,
    frame: "Callable[[], pd.DataFrame] | None" = None,
) -> str:
    """Write a result in one of the formats, for a file or for the terminal; notes in the words of the command.

    ``frame`` returns the table of a CSV; by default the result's own.
    """
    if kind == "table":
        return document_text(result.document(), explain=explain, words=words, output=output)
    if kind == "csv":
        return csv_text((frame or result.to_frame)())
    return {"json": result.to_json, "latex": result.to_latex, "markdown": result.to_markdown}[kind]()


def document_text(
    document: Document, *, explain: bool = False, words: Callable[[str], str] = str, output: Path | None = None
) -> str:
    """Write a document as wide as the terminal, or in 80 columns."""
    width = shutil.get_terminal_size().columns if output is None and sys.stdout.isatty() else 80
    return terminal.text(_told(document, words), width=width, explain=explain)


def _told(document: Document, words: Callable[[str], str]) -> Document:
    """Return a document whose notes and assumptions name the options of the command."""
    notes = [replace(note, text=words(note.text)) for note in document.notes]
    return replace(document, notes=notes, assumptions=list(map(words, document.assumptions)))


def _in_words(content: Any, words: Callable[[str], str]) -> Any:
    """Return plain values with their sentences in the options of the command, where they name arguments."""
    if isinstance(content, dict):
        return {key: _in_words(item, words) for key, item in content.items()}
    if isinstance(content, list):
        return [_in_words(item, words) for item in content]
    return words(content) if isinstance(content, Words) else content


def as_text(
    kind: str, *, table: Callable[[], str], data: Callable[[], object], frame: "Callable[[], pd.DataFrame]"
) -> str:
    """Write a result in one of the formats; only what that needs is made."""
    if kind == "table":
        return table()
    return csv_text(frame()) if kind == "csv" else json.dumps(data(), indent=1, allow_nan=False)


def say_written(arguments: argparse.Namespace, **names: str) -> None:
    """Tell which files were written; ``names`` of the options, with what they hold."""
    for name, what in names.items():
        if getattr(arguments, name) is not None and not arguments.quiet:
            log(f"demele: {what} {getattr(arguments, name)}")


def warned(quiet: bool) -> Warn:
    """Return what tells of a guess, once each."""
    said: set[str] = set()

    def warn(line: str) -> None:
        if not quiet and line not in said:
            said.add(line)
            log(f"demele: warning: {line}")

    return warn


def deliver(
    arguments: argparse.Namespace,
    result: Any,
    words: Callable[[str | Exception], str],
    *,
    table: Callable[[], str] | None = None,
    frame: "Callable[[], pd.DataFrame] | None" = None,
) -> None:
    """Write a result as the options of a command say, its page and paragraph on methods too.

    Parameters
    ----------
    arguments : Namespace
        With ``format``, ``output``, ``quiet``, and ``report`` and ``methods`` where the command has them.
    result : Result
    words : callable
        Says a message of the library in the options of the command.
    table : callable, optional
        Returns the result for a terminal; by default the text of its document.
    frame : callable, optional
        Returns the table of a CSV; by default the result's own. A CSV has no warnings, so they are printed.
    """
    papers = hasattr(arguments, "methods")
    kind = format_of(arguments.format, arguments.output, papers=papers)
    if kind == "csv" or (kind == "table" and not getattr(arguments, "explain", True)):
        _tell_warnings(result, warned(arguments.quiet), words)
    if table is None:
        text = result_text(result, kind, explain=arguments.explain, words=words, output=arguments.output)
    else:
        text = as_text(kind, table=table, data=result.to_dict, frame=frame or result.to_frame)
    if getattr(arguments, "report", None) is not None:
        result.to_html(arguments.report)
    if papers and isinstance(result, Result) and arguments.methods is not None:
        result.methods(arguments.methods, format=_METHODS.get(arguments.methods.suffix.lower(), "latex"))
    emit(text, arguments.output)
    say_written(arguments, **{name: f"{name} written to" for name in ("report", "methods") if hasattr(arguments, name)})


def _tell_warnings(result: Any, warn: Warn, words: Callable[[str], str]) -> None:
    """Tell what a result warns of, in lines of at most 120 characters."""
    for note in getattr(result, "notes", ()):
        if note.severity == "warning":
            warn(textwrap.shorten(words(note.message), 120 - len("demele: warning: "), placeholder=" ... (--explain)"))


@contextmanager
def warnings_in_one_line(*, quiet: bool, words: Callable[[str | Exception], str], prefix: str = "") -> Iterator[None]:
    """Show each warning once, as one line on stderr without the place in the code; not at all if ``quiet``.

    ``words`` says a message in the words of the command.
    """
    seen: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        own = issubclass(category, DemeleWarning)
        text = prefix + (words(message) if own else str(message))
        if text not in seen and not quiet:
            seen.add(text)
            kind = "" if own else f"{category.__name__}: "
            log(f"demele: warning: {kind}{text}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", DemeleWarning)  # others as the user's -W and PYTHONWARNINGS say
        warnings.showwarning = show
        yield
