"""``demele assess``: one classifier, and labels that may be wrong."""

import argparse
from typing import Any

from demele.cli.knowledge import CALLED, add_knowledge, check_knowledge, read_knowledge
from demele.cli.options import command, option, told_by
from demele.cli.output import FORMATS_FOR_PAPERS, deliver, warned, warnings_in_one_line
from demele.cli.several_files import add_joining, read_models
from demele.cli.targets import check_targets
from demele.core.errors import InputError, shortened
from demele.files.label_files import name_of, suggesting_classes
from demele.files.log_sets import is_log

_DESCRIPTION = """\
Measure a classifier on labels that may be wrong: accuracy, precision, recall and F as the labels show them,
by how much label noise can have moved them, and what they may really be.

PREDICTIONS and LABELS are files of the same rows with one class in each: .npy, .npz, .csv, .tsv, .parquet or .json.
FILE::name picks an array of an .npz or a column of a table; both may be the same file.
"""
_EXAMPLES = """\
examples:
  demele assess data.csv::predicted data.csv::label
  demele assess predicted.npy labels.npy --noise-rate 0.03 --report report.html
  demele assess data.csv::predicted data.csv::label --transition mistaken.csv
  demele assess data.csv::predicted data.csv::label --groups data.csv::patient
  demele assess logs/samples_mmlu.jsonl --noise-rate 0.03     (a log of lm-evaluation-harness or Inspect)
  demele audit data.csv::label --rows 200 --output audit.csv     (an expert fills in the column true_label)
  demele assess data.csv::predicted data.csv::label --audit audit.csv

Results go to stdout (a table on a terminal, JSON otherwise), warnings to stderr.
Exit status: 0 done, 2 a mistake in the arguments or the data.
"""


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele assess`` to the commands."""
    parser = command(
        commands,
        "assess",
        _run,
        help="measure a classifier on labels that may be wrong",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
        called=CALLED,
    )
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="PREDICTIONS LABELS, one class in each row; or logs of one model"
    )
    add_joining(parser)
    add_knowledge(parser)
    option(parser, "--level")
    out = parser.add_argument_group("output")
    option(out, "--format", choices=FORMATS_FOR_PAPERS)
    option(out, "--output", "--report", "--methods", "--explain", "--force", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    from demele import evaluation

    options = ("transition", "audit", "second_audit", "true_labels", "groups")
    files = [*arguments.files, *(getattr(arguments, name) for name in options)]
    check_targets(arguments, ("report", "output", "methods"), files=files)
    check_knowledge(arguments)
    warn, words = warned(arguments.quiet), told_by(arguments)
    if len(arguments.files) < 2 and not is_log(arguments.files[0]):
        if arguments.true_labels is not None:
            raise InputError(
                "--true-labels: stands beside the given LABELS; without them, give the true labels as LABELS: "
                "demele assess PREDICTIONS TRUE_LABELS"
            )
        raise InputError("the following arguments are required: LABELS; only logs bring their labels")
    found, columns = read_models(arguments, arguments.files, warn, names=[name_of(arguments.files[0])])
    if len(found.predictions) != 1:
        raise InputError(
            f"expected one model, got {', '.join(map(shortened, found.predictions))}; demele compare ranks several"
        )
    (predictions,) = found.predictions.values()
    known = read_knowledge(arguments, found, warn) | columns
    if found.open:  # measures of single texts
        known |= {"per_class": False, "average": ()}
    with warnings_in_one_line(quiet=arguments.quiet, words=words), suggesting_classes([predictions, found.labels]):
        assessment = evaluation.assess(predictions, found.labels, **known)
    deliver(arguments, assessment, words)
