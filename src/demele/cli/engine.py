"""Commands from functions: a command is a public function, its inputs, its help and its result.

How to write one::

    class Plan(Command):
        '''Simulate which audits would settle a comparison.

        Text of --help.

Examples
--------
        demele audit plan data.csv::a,b data.csv::label
        '''

        functions: ClassVar = {"": plan_audit}  # or several, each with a name: {"several models": rank, ...}
        usage = ("PREDICTIONS... LABELS",)  # which files and options must be there; see usage_of
        short = "sizes wrong audit level seed"  # the options that -h shows, in this order; --help shows all
        readers = (read_predictions,)  # further functions and dataclasses whose keywords are options

        def _run(self, given: Given) -> Call:  # its keywords are options; by default the function takes the files
            *models, labels = given.files  # of the command line
            found = given.call(read_predictions, models, labels)  # with the options that are keywords of the reader
            return given.bind(plan_audit, found.predictions, found.labels)

and one line in :data:`demele.cli.main.COMMANDS`. Nothing is declared twice: a parameter is an option if its annotation
has a kind (:mod:`demele.core.kinds`); ``audit_design`` is ``--audit-design``, ``n_jobs`` is ``--jobs``; its help is the
first sentence of its text under ``Parameters`` in the docstring, its default is that of the signature. Text options of
one class or file are read by ``_run``. What is bound is then checked, called, and delivered as
:class:`demele.cli.results.Output` says: its return annotation names the class of the result. A command computes
nothing: what it does beyond calling one function is a function of the library first.
"""

import argparse
import ast
import difflib
import inspect
import math
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NoReturn, get_args, get_origin

from demele.cli import INSTEAD
from demele.cli.results import Output, Warned, check_writable, resuming, shown, warnings_in_one_line
from demele.core.errors import DemeleError, InputError, plural, short_words
from demele.core.kinds import Kind, annotation_of, checked_name, joined, kind_of
from demele.core.outputs import new_files, writing_whole
from demele.core.reading import bytes_of, unpacking_at_most
from demele.files.named import split_name
from demele.files.python_files import folders_on_path
from demele.files.table_files import decimal_comma

# Standard input instead of a file -------------------------------------------------------------------------------------

#: What may come: all that the readers of tables read.
Format = Literal["csv", "tsv", "json", "npy", "npz", "parquet"]
#: Bytes of standard input copied at a time, and left free on the disk.
_PIECE, _KEPT_FREE = 1 << 22, 1 << 27


def is_stream(word: object) -> bool:
    """Whether a word names standard input, or columns of it.

    Examples
    --------
    >>> is_stream("-"), is_stream("-::z1,z2"), is_stream("--seed")
    (True, True, False)
    """
    return isinstance(word, str) and word.partition("::")[0] == "-"


@contextmanager
def on_disk(format: Format | None, words: list[Any]) -> Iterator[Callable[[Any], Any]]:  # noqa: A002 - as the option
    """Put standard input, if one of the words names it, into a temporary file within.

    Yields
    ------
    callable
        That returns a word, or a list of words, with that file for standard input. It is read once.

    Raises
    ------
    InputError
        If it is to be read and its format is not said, or the other way round.
    """
    if not any(map(is_stream, words)):
        if format is not None:
            raise InputError("--input-format: is for standard input; give - instead of a file, or leave it out")
        yield lambda value: value
        return
    if format is None:
        raise InputError(f"-: say what standard input is, with --input-format {'|'.join(get_args(Format))}")
    with tempfile.TemporaryDirectory(prefix="demele-") as folder:
        file = Path(folder) / f"stdin.{format}"
        with writing_whole(file) as whole:
            while piece := sys.stdin.buffer.read(_PIECE):
                if shutil.disk_usage(folder).free < _KEPT_FREE + len(piece):  # other programs write there as well
                    raise InputError(
                        f"-: standard input is larger than the room in {folder}, where {_KEPT_FREE >> 20} MiB stay "
                        "free; give a file instead, or set TMPDIR to a folder with more room"
                    )
                whole.write(piece)

        def replaced(value: Any) -> Any:
            if isinstance(value, list):
                return list(map(replaced, value))
            return f"{file}{value[1:]}" if is_stream(value) else value

        yield replaced


#: A function with all its arguments.
Call = partial[Any]


class Given:
    """What the user gave: files, and options by the names of parameters.

    Attributes
    ----------
    files : list of str
    options : dict of str
        Only those that were given; the defaults are those of the library.
    words : list of str
        The options as they were typed, such as --bins=8.
    warn : callable
        Says a warning once; nothing with --quiet.
    within : ExitStack
        Contexts in which the command runs.
    """

    def __init__(self, files: list[str], options: dict[str, Any], words: list[str]) -> None:
        self.files, self.options, self.words = files, options, words
        self.quiet = bool(options.get("quiet"))
        self.warn, self.within = Warned(self.quiet), ExitStack()
        self.used: set[str] = set()

    def take(self, name: str, default: Any = None) -> Any:
        """Return an option that the command itself reads."""
        self.used.add(name)
        return self.options.get(name, default)

    def read(self, **readers: Callable[[Any], Any]) -> dict[str, Any]:
        """Return what each reader makes of its option, of those that were given."""
        return {name: read(self.take(name)) for name, read in readers.items() if name in self.options}

    def bind(self, function: Callable[..., Any], *data: Any, **more: Any) -> Call:
        """Return a call of a function with the options that it takes, also in objects; ``more`` go before them."""
        names, given = inspect.signature(function).parameters, self.options | more
        made = {name: value for name, value in given.items() if name in names or name not in self.options}
        used = set(made)
        for name, classes in objects_of(function).items():
            chosen = classes.get(given.get(name, next(iter(classes))))
            fields = {} if chosen is None else inspect.signature(chosen).parameters
            own = {field: given[field] for field in fields if field in given}
            if chosen is not None and (own or name in given):
                for field in fields.values():
                    if field.default is field.empty and field.name not in own:
                        raise InputError(f"{name} {given[name]!r} needs `{field.name}=`")
                made[name], used = chosen(**own), used | own.keys()
        self.used = self.used - more.keys() | used
        return partial(function, *data, **made)

    def call(self, function: Callable[..., Any], *data: Any, **more: Any) -> Any:
        """Call a reader with the options that are keywords of it."""
        return self.bind(function, *data, **more)()

    def written(self, ending: str = "") -> list[Path]:
        """Return the files to write that end so."""
        return [path for path in self.options.get("output", ()) if path.name.lower().endswith(ending)]


@dataclass(frozen=True)
class Option:
    """An option of a command: a parameter that has a kind."""

    name: str
    kind: Kind
    text: str
    default: Any
    of: tuple[str, ...]
    flag: str

    @property
    def flags(self) -> list[str]:
        """All spellings, the short one first."""
        return [*filter(None, [{"output": "-o", "quiet": "-q", "n_jobs": "-j"}.get(self.name)]), self.flag]


def usage_of(line: str) -> tuple[list[str], dict[str, bool]]:
    """Return the files that a line of the usage asks for, and its options: whether each may be left out.

    Examples
    --------
    >>> usage_of("RUN [IMAGES] -o FILE.npz"), usage_of("ANSWERS [--given FILE]")
    ((['RUN', '[IMAGES]'], {'-o FILE.npz': False}), (['ANSWERS'], {'--given': True}))
    """
    options = re.findall(r"(?:^| )(\[?)(--[\w-]+|-o FILE\.\w+)", line)
    return re.split(r"(?:^| )\[?-", line)[0].split(), {flag: bool(bracket) for bracket, flag in options}


class Command:
    """Functions, how their inputs are read, and their help; see the page at the top of this module."""

    functions: ClassVar[Mapping[str, Callable[..., Any]]]
    usage: ClassVar[Sequence[str]] = ("",)
    short: ClassVar[str] = ""
    readers: ClassVar[tuple[Callable[..., Any], ...]] = ()
    without: ClassVar[str] = ""
    called: ClassVar[Mapping[str, str]] = {}
    flags: ClassVar[Mapping[str, str]] = {}

    def _run(self, given: Given) -> Call:
        return given.bind(next(iter(self.functions.values())), *given.files)

    def call(self, given: Given, name: str) -> Call:
        """Return the call that the user asks for.

        Raises
        ------
        InputError
            If no line of the usage has these files and options.
        """
        lines = list(map(usage_of, self.usage))
        every = {flag for _, takes in lines for flag in takes}
        there = {*map(flag_of, given.options), *(f"-o FILE{path.suffix.lower()}" for path in given.written())} & every
        of_these = [
            words
            for words, takes in lines
            if there <= takes.keys() and all(free or flag in there for flag, free in takes.items())
        ]
        number = len(given.files)  # a word in brackets may be left out, one with dots stands for many
        if not any(
            sum(word[0] != "[" for word in words) <= number <= (math.inf if "..." in "".join(words) else len(words))
            for words in of_these
        ):
            usage = " or ".join(line or "no file" for line in self.usage)
            lacking = [flag for flag in every - there if not any(takes.get(flag, True) for _, takes in lines)]
            got = f"no {min(lacking)}" if lacking else plural(len(given.files), "file", "files")
            more = f" with {' and '.join(sorted(there))}" if there and not of_these and not lacking else ""
            raise InputError(f"expected {usage}, got {got}{more} (see {name} -h)")
        call: Call = given.call(self._run, given)
        return call

    def spoken(self) -> dict[str, str]:
        """Return what arguments are called that are no options: those of the usage, and ``called``."""
        words = [word.strip("[].") for line in self.usage for word in usage_of(line)[0]]
        return {word.lower(): word for word in words} | {**self.called}

    def options(self) -> dict[str, Option]:
        """Return all options by the names of their parameters, those of reading files and of output last."""
        found: dict[str, Option] = {}
        readers: tuple[Callable[..., Any], ...] = (self._run, *self.readers, reading, Output)
        objects = {
            f"--{name} {word}": chosen
            for function in self.functions.values()
            for name, classes in objects_of(function).items()
            for word, chosen in classes.items()
        }
        for label, function in (*self.functions.items(), *objects.items(), *(("", reader) for reader in readers)):
            texts = parameter_texts(function)
            for parameter in inspect.signature(function).parameters.values():
                kind = kind_of(annotation_of(function, parameter.name))
                flag_off = kind is not None and not kind.metavar and parameter.default is True
                data = parameter.kind is parameter.VAR_POSITIONAL or (
                    function in readers and parameter.kind is not parameter.KEYWORD_ONLY
                )
                if kind is None or flag_off or data or parameter.name in {*self.without.split(), *self.spoken()}:
                    continue
                held = found.get(parameter.name)
                text = texts.get(parameter.name, "") if held is None or not held.text else held.text
                flag = flag_of(self.flags.get(parameter.name, parameter.name))
                first = held or Option(parameter.name, kind, text, parameter.default, (), flag)
                found[parameter.name] = replace(first, text=text, of=(*first.of, label))
        return found


def objects_of(function: Callable[..., Any]) -> dict[str, dict[str, Any]]:
    """Return the classes of the objects that a parameter can be, by their names: their fields are options too."""
    found = {}
    for parameter in inspect.signature(function).parameters:
        union = annotation_of(function, parameter)
        classes = get_args(get_args(union)[0]) if get_origin(union) is Annotated else ()
        found[parameter] = {getattr(one, parameter): one for one in classes if hasattr(one, parameter)}
    return {parameter: classes for parameter, classes in found.items() if classes}


def flag_of(name: str) -> str:
    """Return the option of a parameter.

    Examples
    --------
    >>> flag_of("audit_design"), flag_of("n_jobs")
    ('--audit-design', '--jobs')
    """
    return f"--{name.removeprefix('n_').replace('_', '-')}"


# What functions say of themselves ------------------------------------------------------------------------------------

_SECTION = re.compile(r"Parameters\n-+\n(.*?)(?=\n\n\S[^\n]*\n-+\n|\Z)", re.DOTALL)
_ENTRY = re.compile(r"^(\S[^:\n]*?)(?: : [^\n]*)?\n((?:(?:[ ]{4}[^\n]*|)\n)*)", re.MULTILINE)
_MARKUP = re.compile(r":\w+:`~?(?:[\w.]*\.)?([^`]+)`|``(\"(?=[^\"]*\"``))?(.+?)(?(2)\")``")


def parameter_texts(function: Callable[..., Any]) -> dict[str, str]:
    """Return what the docstring of a function says of each parameter, without markup."""
    section = _SECTION.search((inspect.getdoc(function) or "") + "\n")
    entries = _ENTRY.findall(section[1].replace("\\\n", " ") + "\n") if section else []
    return {
        name.strip(" *"): " ".join(text.split()) for names, text in entries for name in names.split(",") if text.strip()
    }


def plain_text(text: str, flags: Mapping[str, str]) -> str:
    """Return a text of a docstring as a terminal shows it: parameters are options there."""
    return _MARKUP.sub(lambda one: one[1] or (one[3] if one[2] else flags.get(one[3], one[3])), text)


# Files ---------------------------------------------------------------------------------------------------------------


@contextmanager
def reading(
    *,
    decimal: Literal[".", ","] = ".",
    input_format: Format | None = None,
    max_size: Annotated[int | None, Kind("SIZE", bytes_of)] = None,
) -> Iterator[None]:
    """Read files as the options say within.

    Parameters
    ----------
    decimal : {".", ","}
        Decimal sign in text tables.
    input_format : str, optional
        Format of standard input, which - names instead of a file.
    max_size : int, optional
        Memory limit per file, such as 8G.
    """
    with unpacking_at_most(max_size), decimal_comma(decimal == ","):
        yield


# Parsing -------------------------------------------------------------------------------------------------------------


class _Take(argparse.Action):
    """Reads a word by its kind; an option that is given again is joined, if it is a list, or refused."""

    def __init__(self, *, kind: Kind, **settings: Any) -> None:
        super().__init__(**settings)
        self.kind = kind

    def __call__(self, _: Any, namespace: argparse.Namespace, word: Any, option_string: str | None = None) -> None:
        held = vars(namespace)
        if self.dest in held and not self.kind.repeats:
            raise InputError(f"{option_string}: is given twice; leave one out")
        try:
            value = self.kind.read(word) if self.nargs != 0 else True
            held[self.dest] = joined(held[self.dest], value) if self.dest in held else value
        except InputError as error:
            raise InputError(f"{option_string}: {error}") from error


class Parser(argparse.ArgumentParser):
    """Reads the words of one command; mistakes are one line."""

    def error(self, message: str) -> NoReturn:
        """Refuse the words.

        Raises
        ------
        InputError
        """
        said = re.sub(r"^argument (?:-\w/)?(--)?", r"\1", message)
        raise InputError(f"{said.replace('ignored explicit argument', 'takes no value, got')} (see {self.prog} -h)")


def parser_of(command: Command, name: str, parser: argparse.ArgumentParser | None = None) -> argparse.ArgumentParser:
    """Return the parser of a command; or give its options to one that there is, for completion."""
    parser = parser or Parser(prog=name, add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", default=[])
    for option in command.options().values():
        takes = {"metavar": option.kind.metavar.replace("%", "%%")} if option.kind.metavar else {"nargs": 0}
        help_text = plain_text(option.text, {}).partition(". ")[0].replace("%", "%%")
        parser.add_argument(*option.flags, dest=option.name, action=_Take, kind=option.kind, help=help_text, **takes)
    return parser


def parsed(command: Command, name: str, words: Sequence[str]) -> Given:
    """Read the words of a command.

    Raises
    ------
    InputError
        For words that are no option, options without a value, and values that are none.
    """
    parser = parser_of(command, name)
    takes = {flag: action.nargs != 0 for action in parser._actions for flag in action.option_strings}
    options: list[str] = []
    files: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            files += rest
        elif word.startswith("-") and not is_stream(word):
            value = next(rest, None) if takes.get(word) else None  # also one that begins with -
            options.append(word if value is None else f"{word}={value}")
        else:
            files.append(word)
    read, unknown = parser.parse_known_args(options)
    if unknown:
        flag = unknown[0].partition("=")[0]
        near = difflib.get_close_matches(flag, [one for one in takes if one.startswith("--")], n=1, cutoff=0.6)
        hint = f"; did you mean {near[0]}?" if near else f" (see {name} --help)"
        new = INSTEAD.get(flag)
        raise InputError(f"{flag} has a new name; write {new}" if new else f"{flag}: unknown option{hint}")
    return Given(files, {key: value for key, value in vars(read).items() if key != "files"}, options)


# What -h and --help print ---------------------------------------------------------------------------------------------

WIDTH = 100


def help_of(command: Command, name: str, about: str, *, whole: bool) -> str:
    """Return the help of a command: the options of ``short`` with their first sentences, or everything."""
    options = command.options()
    usages = [f"{'Usage:' if place == 0 else '      '} {name} {usage}" for place, usage in enumerate(command.usage)]
    lines = [f"{about}.", *map(str.rstrip, usages)]
    said, _, examples = (inspect.getdoc(type(command)) or "").partition("\n\nExamples\n--------\n")
    if whole and "\n\n" in said:
        lines += ["", said.partition("\n\n")[2]]
    general = {*parameter_texts(reading), *parameter_texts(Output)}
    own = [option for option in options.values() if option.name not in general]
    short = [options[one] for one in command.short.split()]
    flags = command.spoken() | {option.name: option.flag for option in own}
    listed = [*short, *(one for one in own if one not in short)] if whole else short
    if listed:
        lines += ["", "Options:", *_option_rows(listed, flags, command, whole=whole)]
    if whole:
        shared = [one for one in options.values() if one.name in general]
        lines += ["", "Files and output:", *_option_rows(shared, flags, command, whole=whole)]
    else:
        formats = "" if "format" in command.short else "--format table|json|csv; "
        lines += ["", f"Output: -o, --output FILE; {formats}--fail-unless CONDITION"]
    if examples:
        lines += ["Examples:", textwrap.indent(examples, "  ")]
    if not whole:
        lines.append(f"{len(options) - len(short)} more options: {name} --help")
    return "\n".join(lines) + "\n"


def _option_rows(options: list[Option], flags: dict[str, str], command: Command, *, whole: bool) -> Iterator[str]:
    for option in options:
        head = f"  {', '.join(option.flags)} {option.kind.metavar}".rstrip()
        said = option.text if whole else option.text.partition(". ")[0]
        text = plain_text(said, flags).removesuffix(".")
        default = option.default
        shown = default is not None and default is not False and default not in ("", (), inspect.Parameter.empty)
        if shown and "default" not in text:
            text += f" (default: {','.join(map(str, default)) if isinstance(default, tuple) else default})"
        only = [label for label in option.of if label]
        if len(only) == 1 and len(command.functions) > 1:
            text += f" [{only[0]}]"
        start = f"{head:<23}" if len(head) < 22 else f"{head}  "
        if len(head) > WIDTH // 2:
            yield head
            start = " " * 23
        yield from textwrap.wrap(
            text, WIDTH, initial_indent=start, subsequent_indent=" " * 23, break_on_hyphens=False
        ) or [head]


# ``demele help``: what several commands share -------------------------------------------------------------------------


class _Files:
    """Files hold the same rows in the same order: .npy, .npz, .csv, .tsv, .parquet, .json or .jsonl.

      FILE::name       an array of an .npz, a column of a table
      FILE::a,b        several columns; all arguments may be the same file
      FILE::"a,b",c    a name with commas stands between double quotes, as in CSV
      FOLDER           all .parquet files of a folder, or all logs of language models in it
      -  and  -::a,b   standard input, with --input-format csv|tsv|json|npy|npz|parquet
      FILE.py::name    a function, metric or scenario of a Python file

    Rows of tables are paired by position; --id COLUMN joins predictions by a column. Logs of lm-evaluation-harness
    (samples_*.jsonl) and Inspect (.eval) bring their labels and are joined by their questions. Folders, and files of
    over 4 GiB (.npy, .parquet), are read a piece at a time. --decimal , reads numbers such as 0,5. --max-size 8G lets a
    compressed file take more memory. demele doctor FILE says what a file holds, and which commands can use it.
    """


class _Noise:
    """What is known of wrong labels decides which conclusions hold.

      --noise 0.03       at most 3% of the labels are wrong, in the worst case
      --noise FILE       a noise transition matrix: a row per true class, a column per given class; probabilities, or
                         counts of a random sample. Names of classes may stand in the first line and column
      --audit FILE       expert labels of some rows: columns row (from 0) and true_label; demele audit draw draws them.
                         A second --audit adds rows drawn where the classifiers disagree
      --true-labels FILE true labels of all rows

    demele audit plan says how many rows an audit needs. demele score takes --factor-noise FACTOR=RATE|FILE.
    """


class _Output:
    """Standard output is a table; --format json or csv prints that instead.

    -o FILE also writes a file; its suffix says what:

      .html   interactive page        .json   everything          .csv   table of numbers
      .tex    table for LaTeX         .md     table for Markdown  .txt   the table of the terminal
      .svg, .png, .pdf                the first figure, with matplotlib
      NAME.methods.md|.tex|.txt       a paragraph for the section on methods, with citations

    -o may be repeated. Files that exist are replaced with --force only. --explain prints all sentences, assumptions and
    notes. --fail-unless candidate, or NAME>=X, or NAME<=X, ends with 1 if the result is different.

    Exit status: 0 done; 1 --fail-unless not met, or demele judge does not show that its gate is passed, or without
    both options that one of two systems is better; 2 a mistake in the arguments or the data; 130 interrupted.
    """


#: What topics say stands in a class of each.
TOPICS = {"files": _Files, "noise": _Noise, "output": _Output}


def topic(name: str = "") -> str:
    """Explain what several commands share."""
    if not name:
        return f"Topics: {', '.join(TOPICS)}. demele help TOPIC explains one, demele COMMAND -h a command.\n"
    return f"{inspect.getdoc(TOPICS[checked_name(name, 'TOPIC', TOPICS)])}\n"


class Help(Command):
    """Explain files, noise or output."""

    functions: ClassVar = {"": topic}
    usage = (f"[{'|'.join(TOPICS)}]",)
    without = "name"


# Running -------------------------------------------------------------------------------------------------------------


def execute(command: Command, name: str, words: Sequence[str], show: Callable[[str], object]) -> int:
    """Run a command, and return its exit status; ``show`` writes to standard output.

    Raises
    ------
    DemeleError
        In the words of the command line.
    """
    options = command.options()
    spoken = dict(options)
    say = saying(spoken, command.spoken())
    try:
        given = parsed(command, name, words)
        named = [name for name in given.options if options[name].kind.is_file]
        lists = [one if isinstance(one := given.options[name], list) else [one] for name in named]
        words = [*given.files, *(word for one in lists for word in one)]
        inputs = [split_name(word)[0] for word in words if isinstance(word, str) and not is_stream(word)]
        output: Output = given.call(Output)
        on = on_disk(given.options.get("input_format"), words)
        items = [item for value in given.options.values() for item in (value if isinstance(value, list) else ())]
        given.within.enter_context(folders_on_path(items))
        with given.within, new_files(), given.call(reading), on as replaced, warnings_in_one_line(given.warn, say):
            typed, given.files = given.files, replaced(given.files)
            given.options |= {name: replaced(given.options[name]) for name in named}
            bound = command.call(given, name)
            parameters = inspect.signature(bound.func).parameters
            others = {one for one, option in options.items() if {*option.of} <= command.functions.keys() - {""}}
            for one in others - parameters.keys():
                spoken.pop(one)  # an option of another function: the message means something else
            for one in given.options.keys() - given.used:
                of = [label for label in options[one].of if label]
                why = f"is for {' or '.join(of)}" if of else "has no part in this; leave it out"
                raise InputError(f"{options[one].flag}: {why}")
            output.check(annotation_of(bound.func, "return"), inputs)
            kept = next((name for name in ("store", "checkpoint") if name in given.options), "")
            store = given.options.get(kept)
            if store is not None and options[kept].kind.metavar != "FOLDER":
                check_writable(store, force=True, inputs=[*inputs, *output.output])
            kept_apart = redirect_stdout(sys.stderr)  # what functions of users print: only results go to stdout
            with resuming(store, given.quiet, records=kept == "store"), shown(given.quiet), kept_apart:
                result = bound()
            of_output = {flag for one in parameter_texts(Output) for flag in options[one].flags}
            asked = [word for word in given.words if word.partition("=")[0] not in of_output]
            return output.deliver(result, given.warn, say, show, (name, typed, asked))
    except DemeleError as error:
        raise InputError(say(error)) from error


#: Data between quotes, which is left as it is; and between backticks a name, perhaps with a value, or a function.
_DATA = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_MENTION = re.compile(rf"""(?<!\w)(?:{_DATA})|`(\w+\(\w*=?\))`|`(\w+)(?:(=)((?:{_DATA}|[^`'"])*))?`""")
#: A field of codes or factors, which is an option here.
_FIELD = re.compile(r"`(?:demele\.)?(?:Codes|Factors)\((?:factors, )?(\w+=[^`]*)\)`")
#: Functions that messages name, and the commands that call them.
COMMANDS_OF = {
    "describe()": "demele lab data describe",
    "draw_audit()": "demele audit draw",
    "draw_audit(disagreement=)": "demele audit draw --disagreement",
    "draw_audit(within=)": "demele audit draw --positive",
}


def saying(options: Mapping[str, Option], called: Mapping[str, str]) -> Callable[[str | Exception], str]:
    """Return what says a message of the library in the options of a command."""

    def argument(name: str) -> str | None:
        return called.get(name) or (options[name].flag if name in options else None)

    def mention(found: re.Match[str]) -> str:
        function, name, given, value = found.groups()
        said = COMMANDS_OF.get(function) if function else argument(name or "")
        if said is None or not given or not said.startswith("--"):
            return said or found[0]
        metavar = options[name].kind.metavar if name in options else ""
        if value in ("", "[...]"):
            return f"{said} {metavar}".strip()
        if value == "True" or (name in options and not metavar):
            return said
        try:
            written = shlex.quote(_written(ast.literal_eval(value)))
        except (SyntaxError, ValueError):  # a value that was cut
            return found[0]
        return f"{said}{'=' if written.startswith('-') else ' '}{written}"  # "-10,10" would be taken for an option

    def say(message: str | Exception) -> str:
        if isinstance(message, DemeleError):
            message = message.said(lambda name: argument(name) or name)
        return short_words(_MENTION.sub(mention, _FIELD.sub(r"`\1`", str(message))))

    return say


def _written(value: Any) -> str:
    """Return a value as the command line takes it."""
    from demele.files.table_files import quoted_name

    if isinstance(value, Mapping):
        return ",".join(f"{quoted_name(name)}={one}" for name, one in value.items())
    return ",".join(quoted_name(str(one)) for one in value) if isinstance(value, list | tuple) else str(value)
