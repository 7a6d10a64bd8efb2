"""The program ``demele``: reads the arguments, runs a command, and turns every user's mistake into one line."""

import argparse
import io
import os
import re
import sys
from collections.abc import Sequence

from demele.cli import (
    assess,
    audit,
    audit_plan,
    bench,
    breakdown,
    catalogue,
    cite,
    codes_alone,
    compare,
    completion,
    data,
    downstream,
    fabric,
    noise,
    probe,
    score,
    study,
    udr,
    vae,
)
from demele.cli.options import Parser, add_reading, check_shared, reading, told_by
from demele.cli.output import naming_stdout
from demele.core.errors import DemeleError, InputError, short_words
from demele.core.outputs import new_files
from demele.core.version import __version__

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
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started the program
            setattr(sys, name, io.TextIOWrapper(io.BytesIO()))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # names of columns must not break a terminal that cannot show them
            stream.reconfigure(errors="backslashreplace")
    arguments = argparse.Namespace()
    try:
        if any("\0" in word for word in (sys.argv[1:] if argv is None else argv)):
            raise InputError("an argument holds a null byte; no file and no name does")
        score.check_metrics_are_one_list(sys.argv[1:] if argv is None else argv)
        _parser().parse_args(argv, arguments)
        check_shared(arguments)
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
        return _mistake(_counted(told_by(arguments)(error)))
    except MemoryError:
        return _mistake("not enough memory for this; fewer rows or columns, or data read a piece at a time, need less")
    except OSError as error:
        return _mistake(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
    return DONE


def _counted(message: str) -> str:
    """Say where the number of a row begins: files are read by people, whose first row is 1, or 2 under a header."""
    return re.sub(r"\bat row \d+(?:, column \d+)?(?! \()", r"\g<0> (counted from 0)", message, count=1)


def _mistake(message: str) -> int:
    print(f"demele: error: {short_words(' '.join(message.split()))}", file=sys.stderr)  # noqa: T201
    return MISTAKE


def _parser() -> Parser:
    parser = Parser(
        prog="demele",
        description="How good a learned representation or a classifier really is, and how far that verdict can be "
        "trusted.",
        epilog="demele COMMAND --help says more about a command. Results go to stdout, all else to stderr.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"demele {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    score.add_command(commands)
    codes_alone.add_command(commands)
    downstream.add_command(commands)
    udr.add_command(commands)
    probe.add_command(commands)
    breakdown.add_command(commands)
    catalogue.add_command(commands)
    cite.add_command(commands)
    assess.add_command(commands)
    compare.add_command(commands)
    audit.add_command(commands)
    audit_plan.add_command(commands)
    noise.add_command(commands)
    bench.add_command(commands)
    data.add_command(commands)
    vae.add_command(commands)
    fabric.add_command(commands)
    study.add_command(commands)
    completion.add_command(commands, parser)
    add_reading(parser, but=("metrics", "cite", "completion"))
    return parser


if __name__ == "__main__":
    sys.exit(main())
