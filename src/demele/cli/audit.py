"""``demele audit``: which rows an expert should label, drawn at random so that the answers can be trusted."""

import argparse
from pathlib import Path
from typing import Any

from demele.cli.label_options import told_as, warned
from demele.cli.output import emit, log
from demele.cli.targets import check_writable
from demele.core.errors import InputError
from demele.files.audit_files import TRUE, answers_text
from demele.files.label_files import column, in_file, in_one_vocabulary, models
from demele.files.named import split_name

__all__ = ["add_command"]

_DESCRIPTION = """\
Draw the rows that an expert should label: at random, so that their answers speak for all rows.

The rows come as CSV with the columns draw (the order), row (counted from 0), given_label, true_label and how they were
drawn. The expert fills in true_label, and leaves out no row because it is hard;
demele assess --audit FILE and demele compare --audit FILE read the file back.
"""
_EXAMPLES = """\
examples:
  demele audit data.csv::label --size 200 --output audit.csv
  demele audit data.csv::label --size 200 --doubt data.csv::a,b,c --output audit.csv     (more where these disagree)
  demele compare data.csv::a data.csv::b data.csv::label --audit audit.csv

About 200 rows say within a few percent how many labels are wrong; to compare classifiers, draw 250 or more.
Exit status: 0 done, 2 a mistake in the arguments or the data.
"""


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele audit`` to the commands."""
    parser = commands.add_parser(
        "audit",
        help="draw the rows that an expert should label",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("labels", metavar="LABELS", help="the given label of each row")
    parser.add_argument("--size", type=int, required=True, metavar="K", help="rows to label")
    parser.add_argument(
        "--doubt",
        metavar="PREDICTIONS",
        help="predictions of several models, one column each: rows on which they disagree are drawn more often",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the draw (default: 0)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the rows here, not to stdout")
    parser.add_argument("--force", action="store_true", help="replace --output if it exists")
    parser.add_argument("--quiet", action="store_true", help="no warnings")
    parser.set_defaults(run=_run, told_as=told_as)


def _run(arguments: argparse.Namespace) -> None:
    from demele.core.labelled import read_labels
    from demele.labels import doubt, draw_audit

    if arguments.seed < 0:
        raise InputError(f"--seed: expected a whole number from 0, got {arguments.seed}")
    if arguments.output is not None:
        read = [text for text in (arguments.labels, arguments.doubt) if text is not None]
        check_writable(arguments.output, force=arguments.force, inputs=[split_name(text)[0] for text in read])
    warn = warned(arguments.quiet)
    given = read_labels(column(arguments.labels, warn), "labels")
    weights = None
    if arguments.doubt is not None:
        several = models(arguments.doubt, warn, labels=arguments.labels)
        if len(several) < 2:
            raise InputError(f"--doubt: expected the predictions of at least 2 models, got {len(several)}")
        with in_file(arguments.doubt):
            weights = doubt(in_one_vocabulary(several))
        if weights.size != given.size:
            raise InputError(
                f"{arguments.doubt}: expected {given.size} rows, as many as LABELS, got {weights.size}; row r of both "
                "must be the same instance"
            )
    plan = draw_audit(given.size, arguments.size, doubt=weights, seed=arguments.seed)
    text = answers_text(plan.rows, given, plan.design, probabilities=plan.probabilities, least=plan.least_probability)
    emit(text, arguments.output)
    if arguments.output is not None and not arguments.quiet:
        log(f"demele: {arguments.size} rows written to {arguments.output}; fill in its column {TRUE}")
