"""The program ``demele``: reads the arguments, runs a command, and turns every user's mistake into one line."""

import argparse
import difflib
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from demele.cli import assess, audit, bench, catalogue, compare, noise, score
from demele.cli.output import naming_stdout
from demele.cli.reading_options import add_reading, reading
from demele.cli.words import in_options
from demele.core.errors import DemeleError, InputError, short_words
from demele.core.outputs import new_files
from demele.core.version import __version__

__all__ = ["main"]

DONE, MISTAKE, INTERRUPTED, PIPE_CLOSED = 0, 2, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments, without the name of the program; those of the process if None.

    Returns
    -------
    int
        0 done; 2 the user's mistake, told in one line on stderr; 130 interrupted; 141 nobody reads the output.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # names of columns must not break a terminal that cannot show them
            stream.reconfigure(errors="backslashreplace")
    arguments = argparse.Namespace()
    try:
        if any("\0" in word for word in (sys.argv[1:] if argv is None else argv)):
            raise InputError("an argument holds a null byte; no file and no name does")
        score.check_metrics_are_one_list(sys.argv[1:] if argv is None else argv)
        _parser().parse_args(argv, arguments)
        with new_files(), reading(arguments):
            arguments.run(arguments)
        with naming_stdout():
            sys.stdout.flush()
    except SystemExit as stop:  # --help and --version
        return stop.code if isinstance(stop.code, int) else DONE
    except KeyboardInterrupt:
        print("demele: interrupted", file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes stdout once more as it ends: that must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except DemeleError as error:
        words, heads = getattr(arguments, "told_as", ({}, {}))
        replayed = getattr(arguments, "replay", None) is not None
        return _mistake(in_options(str(error), replayed=replayed, words=words, heads=heads))
    except MemoryError:
        return _mistake("not enough memory for this; fewer rows or columns, or data read a piece at a time, need less")
    except OSError as error:
        return _mistake(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
    return DONE


def _mistake(message: str) -> int:
    print(f"demele: error: {short_words(' '.join(message.split()))}", file=sys.stderr)  # noqa: T201
    return MISTAKE


class _Parser(argparse.ArgumentParser):
    """Reports mistakes in one line, and suggests the option that was meant."""

    _words: Sequence[str] = ()

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read the arguments; what they are is kept, to know whose options may have been meant."""
        self._words = sys.argv[1:] if args is None else args
        return super().parse_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        unknown = re.search(r"unrecognized arguments: (--[\w-]+)", message)
        if unknown:
            known = [option for action in self._chosen()._actions for option in action.option_strings]
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


def _parser() -> _Parser:
    parser = _Parser(
        prog="demele",
        description="How good a learned representation or a classifier really is, and how far that verdict can be "
        "trusted.",
        epilog="demele COMMAND --help says more about a command. Results go to stdout, all else to stderr.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"demele {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    score.add_command(commands)
    catalogue.add_command(commands)
    assess.add_command(commands)
    compare.add_command(commands)
    audit.add_command(commands)
    noise.add_command(commands)
    bench.add_command(commands)
    add_reading(parser, but=("metrics",))
    return parser


if __name__ == "__main__":
    sys.exit(main())
