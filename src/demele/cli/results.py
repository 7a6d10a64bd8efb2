"""Where results go: a table to the terminal, files by their suffixes, one line on stderr for anything else."""

import json
import re
import shlex
import shutil
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from demele.core.errors import DemeleWarning, InputError, quoted, short_words
from demele.core.kinds import Kind
from demele.core.lazy import require
from demele.core.outputs import expect_new, why_not_writable, write_whole
from demele.core.reading import real_path
from demele.core.result import MethodsFormat, Result
from demele.files.named import csv_text
from demele.report.document import Document
from demele.report.renderers import paper, terminal
from demele.report.renderers.tables import unnamed
from demele.report.words import typed
from demele.runtime.work import Report, progress

# How far a long run is ------------------------------------------------------------------------------------------------

#: Seconds between two lines of progress where no bar can be shown.
_SECONDS_BETWEEN_LINES = 30.0


def log(message: str) -> None:
    """Write one line to stderr."""
    print(short_words(" ".join(message.split())), file=sys.stderr)  # noqa: T201


def shown(quiet: bool) -> AbstractContextManager[None]:
    """Show within a block how far long computations are; with ``quiet`` show nothing."""
    return nullcontext() if quiet else progress(None if sys.stderr.isatty() else _in_lines())


@contextmanager
def resuming(store: Path | None, quiet: bool, *, records: bool) -> Iterator[None]:
    """Say what an earlier run left in a store of records, and at the end, or on Ctrl-C, where the results are kept."""
    if records and store is not None and store.is_file() and store.stat().st_size and not quiet:
        from demele.core.store import Store

        log(f"demele: {store} holds {len(Store.read(store)[1]):,} finished records")
    try:
        yield
    except KeyboardInterrupt:
        if store is not None and store.exists():
            log(f"demele: what was finished is in {store}; the same command continues where it stopped")
        raise
    if store is not None and not quiet:
        log(f"demele: results are kept in {store}; a run that asks for more adds to them")


def _in_lines() -> Report:
    """Write a line now and then: for logs of runs that nobody watches."""
    last = time.monotonic()

    def report(done: float, total: float, label: str) -> None:
        nonlocal last
        if time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            log(f"demele: {done / total:.0%}, {label}")

    return report


Say = Callable[[str | Exception], str]
#: What every result can be written to.
SUFFIXES = (".html", ".json", ".csv", ".tsv", ".parquet", ".npz", ".tex", ".md", ".txt", ".svg", ".png", ".pdf")
_PICTURES = (".svg", ".png", ".pdf")
_METHODS: dict[str, MethodsFormat] = {".methods.tex": "latex", ".methods.md": "markdown", ".methods.txt": "text"}
_CONDITION = re.compile(r"(?:(.+):)?([^:<>=]+)([<>])=\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*")
#: Words of a command that stand for files.
_FILES = re.compile(r"\b[A-Z]{4,}(?: [A-Z]{4,})*\b")
_EXPECTED = "expected candidate, baseline, inconclusive, NAME>=X or NAME<=X"
Verdict = Literal["candidate", "baseline", "inconclusive"]
MET, NOT_MET = 0, 1


class Warned:
    """Says warnings on stderr, each once; none if ``quiet``."""

    def __init__(self, quiet: bool) -> None:
        self._quiet, self._said = quiet, set[str]()

    def __call__(self, line: str, most: int | None = None) -> None:
        """Say a warning; ``most``: characters of it, from which on it is cut."""
        if not self._quiet and line not in self._said:
            self._said.add(line)
            cut = " ... (--explain)"
            log(f"demele: warning: {line if most is None else textwrap.shorten(line, most, placeholder=cut)}")

    def note(self, line: str) -> None:
        """Say a line that is no warning."""
        if not self._quiet:
            log(f"demele: {line}")


@contextmanager
def warnings_in_one_line(warn: Warned, say: Say) -> Iterator[None]:
    """Show each warning once, as one line on stderr without the place in the code."""

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        own = issubclass(category, DemeleWarning)
        warn(say(message) if own else f"{category.__name__}: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", DemeleWarning)  # others as the user's -W and PYTHONWARNINGS say
        warnings.showwarning = show
        yield


@dataclass(frozen=True, kw_only=True)
class Output:
    """What becomes of a result.

    Parameters
    ----------
    output : sequence of Path
        File to write the result to; may be repeated. Its suffix says how: .html, .csv, .json, .tex, .md, .txt; .svg,
        .png and .pdf hold the first figure.
        NAME.methods.md, .tex or .txt is a paragraph for the section on methods, and audit.md an audit report.
    format : {"table", "json", "csv"}
        Format of standard output.
    fail_unless : str, optional
        Exit with 1 unless this holds: a verdict, or NAME>=X, NAME<=X.
    explain : bool
        Print all sentences, assumptions and notes.
    force : bool
        Replace files that exist.
    quiet : bool
        Print errors only, and the result if --format is given.
    """

    output: Annotated[Sequence[Path], Kind("FILE", lambda word: [Path(word)], repeats=True)] = ()
    format: Literal["table", "json", "csv"] | None = None
    fail_unless: Annotated[str | None, Kind("CONDITION")] = None
    explain: bool = False
    force: bool = False
    quiet: bool = False

    def check(self, made: Any, inputs: Sequence[Path]) -> None:
        """Refuse what cannot be written or asked of a result of this class: before the computing, not after it.

        Raises
        ------
        InputError
        """
        places = list(map(real_path, self.output))
        for path, place in zip(self.output, places, strict=True):
            if places.count(place) > 1:
                raise InputError(f"{path}: is given twice; leave one out")
            if _ending(path, made) is None:
                known = ", ".join(dict.fromkeys((*SUFFIXES, *_METHODS, *_parts(made))))
                raise InputError(f"{path}: its suffix says nothing that this result can be written as; known: {known}")
            check_writable(path, force=self.force, inputs=inputs)
            if _ending(path, made) in _PICTURES:
                require("matplotlib.figure", purpose=f"writing {path}")
            elif _ending(path, made) == ".parquet":
                require("pyarrow", purpose=f"writing {path}")
        if self.fail_unless is None:
            return
        found = _CONDITION.fullmatch(self.fail_unless)
        if found is None and self.fail_unless not in get_args(Verdict):
            raise InputError(f"--fail-unless: {_EXPECTED}, got {self.fail_unless!r}")
        if found is None and "verdict" not in {*dir(made), *getattr(made, "__dataclass_fields__", ())}:
            raise InputError("--fail-unless: this result has no verdict; write NAME>=X")
        if found is not None and not hasattr(made, "__getitem__"):
            raise InputError("--fail-unless: this result has no values by name")

    def deliver(
        self,
        result: Any,
        warn: Warned,
        say: Say,
        show: Callable[[str], object],
        given: tuple[str, Sequence[str], Sequence[str]],
    ) -> int:
        """Show and write the result of a command with files and options, as ``given``; return the exit status.

        Raises
        ------
        DemeleError
            The ``failure`` of a result that has one, once it is written.
        """
        document = _in_document(result.document(), say, *given) if isinstance(result, Result) else None
        shown = self.format != "json" and (self.format == "csv" or not self.explain)
        for note in document.notes if document and shown else ():
            if note.severity == "warning":
                about = ", ".join(map(typed, unnamed(note)[:3]))
                warn(f"{about}{': ' if about else ''}{note.text}", 120 - len("demele: warning: "))
        for path in self.output:
            self._write(path, result, document, say)
            if not self.quiet:
                log(f"demele: {path} written")
        if not self.quiet or self.format is not None:
            show(self._shown(result, document, say))
        if getattr(result, "failure", None) is not None:
            raise result.failure
        unmet = [getattr(result, "unmet", "")]  # of a result that answers a question of its own
        if self.fail_unless is not None:
            unmet = unmet if getattr(result, "gate", None) is not None else []
            unmet += [] if holds(self.fail_unless, result) else [f"--fail-unless {self.fail_unless} is not met"]
        for line in filter(None, unmet):
            log(f"demele: {line}")
        return NOT_MET if any(unmet) else MET

    def _shown(self, result: Any, document: Document | None, say: Say, ending: str | None = None) -> str:
        """Return the text of standard output, or of a file by its ending."""
        kind = ending or f".{self.format or 'table'}"
        if document is None:
            return str(result)
        if kind == ".json":
            return json.dumps(_in_words(result.to_dict(), say), indent=1, allow_nan=False) + "\n"
        if kind == ".csv":
            return csv_text(_frame(result))
        if kind in (".tex", ".md"):
            return paper.latex(document) if kind == ".tex" else paper.markdown(document)
        wide = ending is None and sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if wide else 80
        return terminal.text(document, width=width, explain=self.explain)

    def _write(self, path: Path, result: Any, document: Document | None, say: Say) -> None:
        ending = _ending(path, type(result)) or ""
        parts = _parts(type(result))
        if ending in _METHODS:
            result.methods(path, format=_METHODS[ending])
        elif ending in parts:
            held = getattr(result, parts[ending])
            if signature(held).parameters:  # it writes the file itself
                with shown(self.quiet):
                    held(path)
            else:
                made = held()
                write_whole(path, made if isinstance(made, str) else csv_text(made))
        elif ending in (".tsv", ".parquet", ".npz"):
            from demele.files.named import write_columns

            write_columns(_frame(result), path)
        elif ending in _PICTURES and document is not None:
            from demele.report.renderers.picture import picture

            write_whole(path, picture(document, ending[1:]))
        elif ending == ".html" and document is not None:
            from demele.report.renderers.html import write_page

            data = json.dumps(_in_words(result._page_data(), say), allow_nan=False, separators=(",", ":"))
            write_page(document, path, data)
        else:
            write_whole(path, self._shown(result, document, say, ending).encode("utf-8", "backslashreplace"))


def check_writable(path: Path, *, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Refuse a file that could not, or should not, be written: before an hour of computing, not after it.

    Parameters
    ----------
    path : Path
        What is to be written.
    force : bool
        Whether it may replace a file.
    inputs : sequence of Path
        What is read: never replaced.
    """
    if path.is_dir():
        raise InputError(f"{path}: expected the name of a file to write, got a folder")
    if any(real_path(path) == real_path(item) for item in inputs):
        raise InputError(f"{path}: it is read by the same command; write to another file")
    if path.exists() and not force:
        raise InputError(f"{path}: exists already; --force replaces it")
    reason = why_not_writable(path)
    if reason is not None:
        raise InputError(f"{path}: {reason}")
    if not force:
        expect_new(path)


def _frame(result: Any) -> Any:
    """Return the table of a result, with the names of its rows as columns."""
    frame = result.to_frame()
    return frame if frame.index.names == [None] else frame.reset_index()


def _parts(made: Any) -> dict[str, str]:
    audit = {"audit.md": "to_audit"} if isinstance(made, type) and issubclass(made, Result) else {}
    return {**audit, **getattr(made, "_files", {})}


def _ending(path: Path, made: Any) -> str | None:
    """Return the end of a file's name that says what is written there; None if it says nothing."""
    name = path.name.lower()
    if not (isinstance(made, type) and issubclass(made, Result)):
        return path.suffix.lower() or ".txt"
    return next((end for end in (*_METHODS, *_parts(made), *SUFFIXES) if name.endswith(end)), None)


def holds(condition: str, result: Any) -> bool:
    """Whether a result is as a condition says: its verdict, or NAME>=X of one of its values.

    Raises
    ------
    InputError
        If it has no such value.
    """
    found = _CONDITION.fullmatch(condition)
    if found is None:
        return bool(result.verdict == condition)
    of, name, sign, bound = found.groups()
    try:
        value = (result if of is None else result[of.strip()])[name.strip()].value
    except (KeyError, TypeError) as error:
        raise InputError(f"--fail-unless: this result has no value called {quoted(condition)}") from error
    return bool(value >= float(bound) if sign == ">" else value <= float(bound))


def _in_document(document: Document, say: Say, name: str, files: Sequence[str], options: Sequence[str]) -> Document:
    """Return a document whose notes and assumptions name the options of the command, and whose next steps its files.

    A step of the same command repeats the options; another one those with which files were read, but for ``demele audit
    draw``, which reads one file, without --id. What the step itself sets stays.
    """
    notes = [replace(note, text=say(note.text)) for note in document.notes]

    def among(found: re.Match[str]) -> str:
        """Return the files that stand for LABELS, the last one, or for several such words, all; or the words."""
        return shlex.join(files if " " in found[0] else files[-1:]) or found[0]

    steps = []
    for step, command in document.next:
        read = ["--decimal"] if command.startswith("demele audit draw ") else ["--decimal", "--id"]
        own = command if any(file in command for file in files) else _FILES.sub(among, command)
        for word in options if files and command else ():
            flag, _, value = word.partition("=")
            if flag not in command.split() and (flag in read or command.startswith(f"{name} ")):
                own += " " + shlex.join([word] if value.startswith("-") else [flag, *[value] * ("=" in word)])
        steps.append((step, own))
    return replace(document, notes=notes, assumptions=list(map(say, document.assumptions)), next=steps)


def _in_words(content: Any, say: Say) -> Any:
    """Return plain values with the messages and reasons among them in the options of the command."""
    if isinstance(content, dict):
        sentences = {key: say(content[key]) for key in ("message", "reason") if isinstance(content.get(key), str)}
        return {key: _in_words(item, say) for key, item in content.items()} | sentences
    return [_in_words(item, say) for item in content] if isinstance(content, list) else content
