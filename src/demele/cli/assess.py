"""``demele assess``: one classifier, and labels that may be wrong."""

import argparse
import json
from typing import Any

from demele.cli.label_options import (
    add_knowledge,
    add_output,
    checked_knowledge,
    checked_targets,
    option_words,
    tell_notes,
    told_as,
    warned,
)
from demele.cli.output import emit, format_of, log, warnings_in_one_line
from demele.files.audit_files import read_audit
from demele.files.label_files import (
    classes_named,
    column,
    in_one_vocabulary,
    name_of,
    read_transition,
    suggesting_classes,
)
from demele.files.named import split_name
from demele.files.sheets import csv_text

__all__ = ["add_command"]

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
  demele audit data.csv::label --size 200 --output audit.csv     (an expert fills in the column true_label)
  demele assess data.csv::predicted data.csv::label --audit audit.csv

Results go to stdout (a table on a terminal, JSON otherwise), warnings to stderr.
Exit status: 0 done, 2 a mistake in the arguments or the data.
"""


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele assess`` to the commands."""
    parser = commands.add_parser(
        "assess",
        help="measure a classifier on labels that may be wrong",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("predictions", metavar="PREDICTIONS", help="the predicted class of each row")
    parser.add_argument("labels", metavar="LABELS", help="the given label of each row")
    add_knowledge(parser)
    parser.add_argument("--level", type=float, metavar="L", help="nominal coverage of the intervals (default: 0.95)")
    add_output(parser.add_argument_group("output"))
    parser.set_defaults(run=_run, told_as=told_as)


def _run(arguments: argparse.Namespace) -> None:
    from demele import evaluation
    from demele.core.labelled import read_labels

    read = [arguments.predictions, arguments.labels, arguments.transition, arguments.audit, arguments.true_labels]
    checked_targets(arguments, [split_name(text)[0] for text in read if text is not None])
    checked_knowledge(arguments)
    warn, words = warned(arguments.quiet), option_words(arguments)
    if arguments.predictions in (arguments.labels, arguments.true_labels):
        warn(f"{arguments.predictions} is given as PREDICTIONS and as labels: judged against itself")
    columns = {
        name: column(getattr(arguments, name), warn)
        for name in ("predictions", "labels", "true_labels")
        if getattr(arguments, name) is not None
    }
    columns = in_one_vocabulary(columns)
    given = read_labels(columns["labels"], "labels")
    known: dict[str, Any] = {"true_labels": columns.get("true_labels"), "noise": arguments.noise_rate}
    if arguments.transition is not None:
        known["noise"] = read_transition(arguments.transition, given, warn)
    if arguments.audit is not None:
        known["audit"] = read_audit(arguments.audit, arguments.audit_design, given, warn)
    if arguments.classes is not None:
        known["classes"] = classes_named(arguments.classes, given)
    for name in ("level", "expert_error", "expert_errors"):
        if getattr(arguments, name) is not None:
            known[name] = getattr(arguments, name)
    with warnings_in_one_line(quiet=arguments.quiet, words=words), suggesting_classes(columns.values()):
        assessment = evaluation.assess(columns["predictions"], columns["labels"], **known)
    kind = format_of(arguments.format, arguments.output)
    if kind == "csv":
        text = csv_text(assessment.to_frame())
        tell_notes(assessment.notes, warn, words)
    elif kind == "json":
        text = json.dumps(assessment.to_dict(), indent=1, allow_nan=False)
    else:
        from demele.report.terminal.labels import assessment_table

        name = name_of(arguments.predictions)
        text = assessment_table(assessment.to_dict(), name=name, output=arguments.output, words=words)
    if arguments.report is not None:
        assessment.to_html(arguments.report)
    emit(text, arguments.output)
    if arguments.report is not None and not arguments.quiet:
        log(f"demele: report written to {arguments.report}")
