"""``demele fabric show``: what a file of a fabric holds, as a table, a picture, a page."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.cli.options import command, option, told_by
from demele.cli.output import emit, format_of, result_text, say_written, warnings_in_one_line
from demele.cli.targets import check_targets

if TYPE_CHECKING:
    import pandas as pd

    from demele.models import Fabric

_DESCRIPTION = """\
Show a fabric: its links, channels and weights compared with the whole fabric, its prunings and its training; with
--benchmark also its speed compared with the whole fabric.
"""
_EXAMPLES = """\
examples:
  demele fabric show fabric
  demele fabric show pruned --report pruned.html
  demele fabric show pruned --picture structure.svg
  demele fabric show pruned --benchmark

Results go to stdout (a table on a terminal, JSON otherwise; csv is the history).
Exit status: 0 done, 2 a mistake in the arguments or the data.
"""


def add_action(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele fabric show`` to the actions."""
    parser = command(
        actions,
        "show",
        _run,
        help="show a fabric: counts, prunings, times",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    option(parser, "fabric", metavar="FABRIC", type=Path, help="the file of demele fabric train or prune")
    option(parser, "--benchmark", action="store_true", help="measure milliseconds, also of the whole fabric")
    option(parser, "--batch", type=int, default=64, metavar="B", help="images at a time (default: 64)")
    option(parser, "--report")
    option(parser, "--picture", type=Path, metavar="FILE.svg", help="write the structure as a picture")
    option(parser, "--format", "--explain", "--force", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    check_targets(arguments, ("report", "picture"), inputs=[arguments.fabric])
    from demele.models import Fabric

    fabric = Fabric.load(arguments.fabric)
    with warnings_in_one_line(quiet=arguments.quiet, words=told_by(arguments)):
        timings = _timings(arguments, fabric)
    if arguments.picture is not None:
        fabric.to_svg(arguments.picture, scores=fabric.scores("magnitude"))
    found = fabric.report(timings=timings, name=arguments.fabric.name)
    if arguments.report is not None:
        found.to_html(arguments.report)
    kind = format_of(arguments.format, None)
    text = result_text(found, kind, explain=arguments.explain, frame=lambda: fabric.run.history)
    emit(text, None)
    say_written(arguments, report="page written to", picture="picture written to")


def _timings(arguments: argparse.Namespace, fabric: "Fabric") -> "pd.DataFrame | None":
    from demele.models import Fabric, benchmark

    if not arguments.benchmark:
        return None
    whole = Fabric(**fabric.spec.to_dict())
    return benchmark({"whole": whole, "this": fabric}, batch=arguments.batch)
