"""``demele bench agreement``: how far metrics agree about models that somebody scored."""

import argparse
from typing import TYPE_CHECKING, Any

from demele.cli.options import command, given, names_in, option, told_by
from demele.cli.output import deliver, result_text, warned, warnings_in_one_line
from demele.cli.targets import check_targets
from demele.files.column_files import read_frame

if TYPE_CHECKING:
    from demele.bench import Agreement

_DESCRIPTION = """\
Ask how far metrics agree on the order of models: Kendall's tau-b between the scores of every two, with intervals, a
verdict that counts all pairs, and the printed matrices of 17 metrics beside it.

SCORES is a table with a row for each model and a column for each metric.
"""
_EXAMPLES = """\
examples:
  demele bench agreement scores.csv --report agreement.html
  demele bench agreement scores.csv --configuration name --collapsed flag --within latents --null permuted.csv
  demele bench agreement scores.csv --metrics mig,sap,mine --format csv

Rows that share a name in the column of --configuration are seeds of one model and averaged.
Results go to stdout (a table on a terminal, JSON otherwise), warnings to stderr.
Exit status: 0 done, 2 a mistake in the arguments or the data.
"""


def add_action(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele bench agreement`` to the actions."""
    parser = command(
        actions,
        "agreement",
        _run,
        help="how far metrics agree about models that you scored",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    option(parser, "scores", metavar="SCORES", help="table of scores: a row for each model, a column for each metric")
    what = parser.add_argument_group("what is compared")
    option(
        what,
        "--metrics",
        help="columns that are metrics, commas in a name between double quotes (default: all not named elsewhere)",
    )
    option(what, "--configuration", metavar="COLUMN", help="which rows are seeds of one configuration")
    option(what, "--collapsed", metavar="COLUMN", help="true where the codes of a model hold nothing")
    option(what, "--within", metavar="COLUMN", help="groups whose mean ranks are removed, such as numbers of codes")
    option(
        what,
        "--lower-is-better",
        type=names_in,
        metavar="METRIC,METRIC",
        help="metrics of which small scores are good, such as FID",
    )
    option(what, "--null", metavar="FILE", help="scores of the same rows against permuted factors")
    option(
        what,
        "--halves",
        type=names_in,
        metavar="FILE,FILE",
        help="scores on two halves of the rows that were scored",
    )
    option(what, "--level", "--seed")
    option(what, "--draws", type=int, metavar="N", help="resamples of configurations (default: 2000)")
    out = parser.add_argument_group("output")
    option(out, "--format", "--output", "--explain", "--report", "--force", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    tables = [arguments.scores, arguments.null, *(arguments.halves or [])]
    check_targets(arguments, ("report", "output"), files=tables)
    found = _agreement(arguments)
    words = told_by(arguments)
    options = {"explain": arguments.explain, "words": words, "output": arguments.output}
    deliver(arguments, found, words, table=lambda: result_text(found, "table", **options))


def _agreement(arguments: argparse.Namespace) -> "Agreement":
    from demele import bench

    warn = warned(arguments.quiet)
    tables: dict[str, Any] = {}
    if arguments.null is not None:
        tables["null"] = read_frame(arguments.null, warn)
    if arguments.halves is not None:
        tables["halves"] = [read_frame(one, warn) for one in arguments.halves]
    names = ("metrics", "configuration", "collapsed", "within", "lower_is_better", "level", "seed", "draws")
    with warnings_in_one_line(quiet=arguments.quiet, words=told_by(arguments)):
        return bench.agreement(read_frame(arguments.scores, warn), **tables, **given(arguments, *names))
