"""Options that several commands share, declared once; and messages of the library, rewritten with options."""

import argparse
import difflib
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, get_args

from demele.cli.output import FORMATS
from demele.cli.standard_input import Format, is_stream, on_disk
from demele.core.errors import DemeleError, InputError
from demele.core.kinds import listed_items, unquoted
from demele.core.reading import bytes_of, unpacking_at_most
from demele.core.sentences import Mention, clauses, rephrased
from demele.files.table_files import decimal_comma, quoted_name

# Declaring -----------------------------------------------------------------------------------------------------------


def share(text: str) -> float:
    """Read a share; percent signs are refused with the share that was meant."""
    try:
        return float(text)
    except ValueError as error:
        percent = text.removesuffix("%")
        meant = percent != text and percent.replace(".", "", 1).isdecimal()
        hint = f"; for {text} write {float(percent) / 100:g}" if meant else ""
        raise argparse.ArgumentTypeError(f"expected a share of the labels, such as 0.05, got {text!r}{hint}") from error


def items_in(text: str) -> list[str]:
    """Split a list at the commas outside double quotes."""
    try:
        return listed_items(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def whole_numbers_in(text: str) -> list[int]:
    """Read a list of whole numbers."""
    items = [item for item in items_in(text) if item]
    if not items or not all(item.isdecimal() for item in items):
        raise argparse.ArgumentTypeError(f"expected whole numbers, such as 1,10,100, got {text!r}")
    return list(map(int, items))


def shares_in(text: str) -> list[float]:
    """Read a list of shares, each once."""
    shares = list(dict.fromkeys(share(item) for item in items_in(text) if item))
    if not shares:
        raise argparse.ArgumentTypeError("expected shares of the labels, such as 0.01,0.05")
    return shares


def names_in(text: str) -> list[str]:
    """Read a list of names; one with commas or with spaces at its ends stands between double quotes."""
    names = [name for name in map(unquoted, items_in(text)) if name]
    if not names:
        raise argparse.ArgumentTypeError("expected names, separated by commas")
    return names


def _size(text: str) -> int:
    try:
        return bytes_of(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _short_size(size: int) -> str:
    unit = 0
    while size >= 1024 and unit < 4:
        size, unit = -(-size // 1024), unit + 1
    return f"{size}{'KMGT'[unit - 1] if unit else ''}"


def _is(help: str = "", **settings: Any) -> dict[str, Any]:  # noqa: A002 - argparse calls it so
    return {"help": help, **settings}


#: Options of more than one command; ``argument``: what Python calls it, where that is not the name of the option.
_SHARED: Mapping[str, dict[str, Any]] = {
    "--format": _is("of the results (default: table on a terminal, json otherwise)", choices=FORMATS),
    "--output": _is("write the results here, not to stdout", type=Path, metavar="FILE"),
    "--methods": _is(
        "write how it was made, for a paper: .tex and .md cite by keys, see demele cite; .txt by authors",
        type=Path,
        metavar="FILE",
    ),
    "--report": _is("write an interactive HTML page", type=Path, metavar="FILE"),
    "--store": _is("keep what is finished, and go on from there", type=Path, metavar="FILE"),
    "--force": _is("replace files that exist", action="store_true"),
    "--explain": _is("also print sentences, assumptions, notes and the method", action="store_true"),
    "--quiet": _is("no progress and no warnings; the results still hold them", action="store_true"),
    "--jobs": _is("processes, -1 for all processors (default: 1)", type=int, default=1, metavar="J", argument="n_jobs"),
    "--seed": _is("of what is drawn (default: 0)", type=int, metavar="S"),
    "--level": _is("confidence of the intervals (default: 0.95)", type=float, metavar="L"),
    "--rows": _is(type=int, metavar="N"),
    "--protocol": _is("named settings of the metrics (default: review2022)", metavar="P"),
    "--metrics": _is(type=names_in, metavar="A,B"),
    "--classes": _is(
        "all classes, those with commas between double quotes (default: those of LABELS); if the first begins with -, "
        "write --classes=-1,...",
        metavar="A,B,...",
    ),
    "--features": _is(metavar="FILE"),
    "--predictions": _is(metavar="FILE"),
    "--annotations": _is(metavar="FILE"),
    "--annotators": _is(type=int, metavar="N", argument="n_annotators"),
    "--folds": _is(type=int, metavar="N"),
    "--noise-rate": _is(
        "at most this share of the labels is wrong, in [0, 1)", type=share, metavar="R", argument="noise"
    ),
    "--true-labels": _is("the true labels of all rows, where they are known", metavar="FILE"),
}


def command(
    commands: "argparse._SubParsersAction[Any]",
    name: str,
    run: Callable[[argparse.Namespace], None],
    *,
    help: str,  # noqa: A002 - argparse calls it so
    description: str,
    examples: str | None = None,
    called: Mapping[str, str] | None = None,
) -> argparse.ArgumentParser:
    """Add a command; ``called``: what its user calls arguments of the library that are no option of it."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run, parser=parser, called=called or {})
    return parser


def option(
    group: "argparse.ArgumentParser | argparse._ArgumentGroup",
    *flags: str,
    argument: str | Sequence[str] | None = None,
    **changed: Any,
) -> None:
    """Add an option, or several that are shared.

    Parameters
    ----------
    group : ArgumentParser or group of arguments
    *flags : str
        Its name; or names of shared options, as they are declared here.
    argument : str or sequence of str, optional
        What the library calls it, if it is not the same name.
    **changed
        What argparse takes, and what is other than in the shared declaration.
    """
    for flag in flags:
        settings = {**_SHARED.get(flag, {}), **changed}
        called = argument or settings.pop("argument", None)
        settings.pop("argument", None)
        action = group.add_argument(flag, **settings)
        called = called or action.dest
        action.argument = (called,) if isinstance(called, str) else tuple(called)  # type: ignore[attr-defined]


class _Once(argparse._StoreAction):
    """The value of an option that cannot be given twice; a second --audit is added to the first."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        given: list[str] = namespace.__dict__.setdefault("given_once", [])
        name = "second_audit" if self.dest == "audit" in given else self.dest
        if option_string is not None and name in given:
            parser.error(f"argument {option_string}: given too often; only --audit may be given twice")
        given.append(name)
        setattr(namespace, name, values)


class Parser(argparse.ArgumentParser):
    """Reports mistakes in one line, and suggests the option that was meant."""

    _words: Sequence[str] = ()

    def __init__(self, *given: Any, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.register("action", None, _Once)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read the arguments; what they are is kept, to know whose options may have been meant."""
        self._words = self._commands_of_two_words(_words_of(args))
        return super().parse_args(self._words, namespace)

    def _commands_of_two_words(self, words: list[str]) -> list[str]:
        """Return the arguments with the first two as one, where they name a command together: "audit plan"."""
        both = " ".join(words[:2])
        choices = (action.choices for action in self._actions if isinstance(action, argparse._SubParsersAction))
        return [both, *words[2:]] if any(len(words) > 1 and both in named for named in choices) else words

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments.

        Raises
        ------
        InputError
        """
        unknown = re.search(r"unrecognized arguments: (--[\w-]+)", message)
        if unknown:
            actions = self._chosen()._actions
            known = [flag for action in actions for flag in action.option_strings]
            near = difflib.get_close_matches(unknown[1], known, n=1, cutoff=0.6)
            message += f"; did you mean {near[0]}?" if near else ""
        lacking = re.search(r"argument (--[\w-]+): expected one argument", message)
        if lacking:
            message += f"; one that begins with - is written {lacking[1]}=-..."
        raise InputError(f"{message} (see {self._chosen().prog} --help)")

    def _chosen(self) -> argparse.ArgumentParser:
        """Return the parser of the command, or of its action, that the arguments name."""
        parser: argparse.ArgumentParser = self
        for word in self._words:
            for action in parser._actions:
                if isinstance(action, argparse._SubParsersAction) and word in action.choices:
                    parser = action.choices[word]
                    break
        return parser


# How files are read --------------------------------------------------------------------------------------------------


def add_reading(parser: argparse.ArgumentParser, *, but: Sequence[str] = ()) -> None:
    """Add how files are read to the options of a parser and all of its commands, but those that read no file."""
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in inner:
        for name, one in action.choices.items():
            if name not in but:
                add_reading(one)
    if inner:
        return
    files = parser.add_argument_group("how files are read")
    option(
        files,
        "--decimal",
        choices=(".", ","),
        metavar="SIGN",
        help="in tables of text, the sign before decimals: a point (the default) or a comma",
    )
    option(
        files,
        "--input-format",
        choices=get_args(Format),
        help="format of standard input: - instead of a file name, -::a,b for columns",
    )
    option(
        files,
        "--max-size",
        argument="max_size",
        type=_size,
        metavar="SIZE",
        help="most memory that a file may take once it is unpacked, such as 8G (default: its own size and 512M)",
    )


@contextmanager
def reading(arguments: Any) -> Iterator[None]:
    """Read files as the arguments say within."""
    comma = getattr(arguments, "decimal", None) == ","
    at_most = unpacking_at_most(getattr(arguments, "max_size", None))
    actions = arguments.parser._actions if hasattr(arguments, "input_format") else ()
    named = [
        action.dest
        for action in actions
        if action.type is None and (not action.option_strings or str(action.metavar).startswith("FILE"))
    ]
    streams = {name: _as_streams(getattr(arguments, name)) for name in named}
    words = [word for value in streams.values() for word in (value if isinstance(value, list) else [value])]
    on = on_disk(getattr(arguments, "input_format", None), words)
    with at_most, decimal_comma(comma), on as replaced:
        for name, value in streams.items():
            setattr(arguments, name, replaced(value))
        yield


def _words_of(args: Sequence[str]) -> list[str]:
    """Return the words with ``-::name`` written so that it is taken for a file, not for an option."""
    return [f"/dev/stdin{word[1:]}" if is_stream(word) and word != "-" else word for word in args]


def _as_streams(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_as_streams, value))
    return f"-{value[10:]}" if isinstance(value, str) and value.startswith("/dev/stdin::") else value


# What was given ------------------------------------------------------------------------------------------------------


def flag_of(name: str) -> str:
    """Return the option of an argument: ``n_bootstrap`` is ``--bootstrap``."""
    return f"--{name.removeprefix('n_').replace('_', '-')}"


def given(arguments: argparse.Namespace, *names: str, **named: str) -> dict[str, Any]:
    """Return what was given of some options; the library's defaults live in one place, which is not here.

    ``named``: by what the library calls them.
    """
    asked = {**{name: name for name in names}, **named}
    found = {called: getattr(arguments, name) for called, name in asked.items()}
    return {called: value for called, value in found.items() if value is not None}


def refuse(arguments: argparse.Namespace, names: Sequence[str], why: str) -> None:
    """Refuse options that have no part in what is asked.

    Raises
    ------
    InputError
        If one of them was given.
    """
    for name in names:
        if getattr(arguments, name) not in (None, False):
            raise InputError(f"{flag_of(name)}: {why}")


def check_shared(arguments: argparse.Namespace) -> None:
    """Refuse values that no command can use.

    Raises
    ------
    InputError
    """
    asked = given(arguments, *(name for name in ("seed", "jobs", "level") if hasattr(arguments, name)))
    if asked.get("seed", 0) < 0:
        raise InputError(f"--seed: expected a whole number from 0, got {asked['seed']}")
    if asked.get("jobs", 1) == 0:
        raise InputError("--jobs: expected a number of processes, or -1 for all processors, got 0")
    if not 0 < asked.get("level", 0.5) < 1:
        raise InputError(f"--level: expected a number between 0 and 1, such as 0.95, got {asked['level']:g}")


# What the library says -----------------------------------------------------------------------------------------------


def told_by(arguments: argparse.Namespace) -> Callable[[str | Exception], str]:
    """Return what says a message of the library in the options of the command.

    Of several options for one argument, the one that was given is named. ``arguments.decided`` names arguments that
    cannot be given, since a signature is replayed: messages do not suggest them.
    """
    called: Mapping[str, str] = getattr(arguments, "called", {})
    options: dict[str, list[argparse.Action]] = {}
    for action in arguments.parser._actions if hasattr(arguments, "parser") else ():
        used = getattr(arguments, action.dest, None) not in (None, False, action.default)
        for name in getattr(action, "argument", ()):
            before = options.setdefault(name, [])
            before.insert(0 if used else len(before), action)
    decided = frozenset(getattr(arguments, "decided", ()))

    def say(it: Mention) -> str | None:
        if it.name in called and not it.given:
            return called[it.name]
        if it.name not in options:
            return None
        if it.given and it.value is None:
            return " or ".join(map(_with_metavar, options[it.name]))
        return _with_value(options[it.name][0], it)

    return lambda message: rephrased(_undecided(message, decided) if decided else message, say)


def _with_metavar(action: argparse.Action) -> str:
    flag, metavar = action.option_strings[0], str(action.metavar)
    return f"{flag}={metavar}" if "," in metavar else f"{flag} {metavar}"


def _with_value(action: argparse.Action, it: Mention) -> str:
    flag = action.option_strings[0] if action.option_strings else str(action.metavar)
    if not it.given or it.value is True or action.nargs == 0:
        return flag
    if action.type is _size:
        return f"{flag} {_short_size(it.value)}"
    if isinstance(it.value, dict):
        return f"{flag} {shlex.quote(','.join(f'{quoted_name(name)}={value}' for name, value in it.value.items()))}"
    return f"{flag} {shlex.quote(str(it.value))}"


def _undecided(message: str | Exception, decided: frozenset[str]) -> str:
    (first, _), *others = clauses(message)
    kept = [clause for clause, names in others if not names & decided]
    if len(kept) < len(others) and isinstance(message, DemeleError):
        kept.append("the data differ from those of the signature")
    return "; ".join([first, *kept])
