"""``demele study show``: what a study has found so far, or the one that comes with demele."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from demele.cli.options import command, option, told_by
from demele.cli.output import emit, format_of, result_text, say_written
from demele.cli.targets import check_targets
from demele.core.errors import InputError

if TYPE_CHECKING:
    from demele.studies import Study

Found = TypeVar("Found")

_DESCRIPTION = """\
Show the results of a study: the agreement of metrics on its models, compared with published matrices; the stability of
each ranking; the outcome of each model. STUDY is the folder of demele study run, finished or not, or a file
of a packed study.
"""
_EXAMPLES = """\
examples:
  demele study show --demo
  demele study show study --report study.html
  demele study show study --format csv > models.csv

Results go to stdout: a table on a terminal and with --report, JSON otherwise.
csv has a row for each model, with its scores; --pairs csv a row for each pair of metrics.
Exit status: 0 done, 2 a mistake in the arguments.
"""


def add_action(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele study show`` to the actions."""
    parser = command(
        actions, "show", _run, help="show the results of a study", description=_DESCRIPTION, examples=_EXAMPLES
    )
    option(parser, "study", nargs="?", type=Path, metavar="STUDY", help="folder of a study, or a packed one")
    option(parser, "--demo", action="store_true", help="the stored study of demele: 36 beta-VAEs on sprites")
    out = parser.add_argument_group("output")
    option(out, "--pairs", action="store_true", help="csv: a row for each pair of metrics, not for each model")
    option(out, "--format", "--output", "--report", "--explain", "--force", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    from demele import studies

    print_study(asked_for(arguments, studies.demo, studies.load), arguments)


def asked_for(arguments: argparse.Namespace, demo: Callable[[], Found], load: Callable[[Path], Found]) -> Found:
    """Return the study that comes with demele, or that of STUDY, once what is to be written could be."""
    if arguments.demo:
        if arguments.study is not None:
            raise InputError(f"STUDY: {arguments.study} and --demo exclude each other; give one of them")
        check_targets(arguments, ("report", "output"))
        return demo()
    if arguments.study is None:
        raise InputError("STUDY: expected the folder of a study; --demo shows the one that comes with demele")
    check_targets(arguments, ("report", "output"), [arguments.study])
    return load(arguments.study)


def print_study(found: "Study", arguments: argparse.Namespace) -> None:
    """Write a study as the options of a command ask."""
    pairs = getattr(arguments, "pairs", False)
    # Who asks for the page reads that: thousands of lines of JSON only where they are asked for.
    is_summary = arguments.report is not None and arguments.output is None and arguments.format is None
    text = result_text(
        found,
        "table" if is_summary else format_of(arguments.format, arguments.output),
        explain=arguments.explain,
        words=told_by(arguments),
        output=arguments.output,
        frame=lambda: found.agreement().to_frame() if pairs else found.to_frame(),
    )
    emit(text, arguments.output)
    if arguments.report is not None:
        found.to_html(arguments.report)
    say_written(arguments, report="report written to")
