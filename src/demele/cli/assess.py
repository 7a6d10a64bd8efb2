"""``demele assess``: one classifier, and labels that may be wrong."""

import argparse
from typing import Any

from demele.cli.knowledge import CALLED, add_knowledge, check_knowledge, read_knowledge
from demele.cli.options import command, given, option, told_by
from demele.cli.output import (
    FORMATS_FOR_PAPERS,
    as_text,
    emit,
    format_of,
    say_written,
    tell_notes,
    warned,
    warnings_in_one_line,
    write_methods,
)
from demele.cli.several_files import add_joining, is_joined, joined
from demele.cli.targets import check_targets
from demele.core.errors import InputError
from demele.files.label_files import column, in_one_vocabulary, label_column, name_of, suggesting_classes

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
    parser.add_argument("predictions", metavar="PREDICTIONS", help="the predicted class of each row")
    parser.add_argument("labels", metavar="LABELS", nargs="?", help="the given label of each row; logs bring theirs")
    add_joining(parser)
    add_knowledge(parser)
    option(parser, "--level")
    out = parser.add_argument_group("output")
    option(out, "--format", choices=FORMATS_FOR_PAPERS)
    option(out, "--output", "--report", "--methods", "--force", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    from demele import evaluation
    from demele.core.labelled import read_labels
    from demele.report.terminal.labels import assessment_table

    files = [
        getattr(arguments, name)
        for name in ("predictions", "labels", "transition", "audit", "second_audit", "true_labels", "groups")
    ]
    check_targets(arguments, ("report", "output", "methods"), files=files)
    check_knowledge(arguments)
    warn, words = warned(arguments.quiet), told_by(arguments)
    if arguments.predictions in (arguments.labels, arguments.true_labels):
        warn(f"{arguments.predictions} is given as PREDICTIONS and as labels: judged against itself")
    both = [text for text in (arguments.predictions, arguments.labels) if text is not None]
    if is_joined(arguments, both):
        found = joined(arguments, both, warn)
        columns: dict[str, Any] = {"predictions": next(iter(found.predictions.values())), "labels": found.labels}
        columns |= {name: column(text, warn) for name, text in given(arguments, "true_labels").items()}
        columns = in_one_vocabulary(columns)
        classes: dict[str, Any] = {} if found.classes is None else {"classes": found.classes}
    elif arguments.labels is None:
        if arguments.true_labels is not None:
            raise InputError(
                "--true-labels: stands beside the given LABELS; without them, give the true labels as LABELS: "
                "demele assess PREDICTIONS TRUE_LABELS"
            )
        raise InputError("the following arguments are required: LABELS; only logs bring their labels")
    else:
        read, classes = given(arguments, "predictions", "labels", "true_labels"), {}
        columns = in_one_vocabulary(
            {name: (column if name == "predictions" else label_column)(text, warn) for name, text in read.items()}
        )
    known = classes | read_knowledge(
        arguments, read_labels(columns["labels"], "labels"), warn, [columns["predictions"]]
    )
    with warnings_in_one_line(quiet=arguments.quiet, words=words), suggesting_classes(columns.values()):
        assessment = evaluation.assess(**columns, **known)
    kind = format_of(arguments.format, arguments.output, papers=True)
    if kind == "csv":
        tell_notes(assessment.notes, warn, words)
    name = name_of(arguments.predictions)
    text = as_text(
        kind,
        table=lambda: assessment_table(assessment.to_dict(), name=name, output=arguments.output, words=words),
        data=assessment.to_dict,
        frame=assessment.to_frame,
    )
    if arguments.report is not None:
        assessment.to_html(arguments.report)
    write_methods(arguments.methods, assessment.to_dict)
    emit(text, arguments.output)
    say_written(arguments, report="report written to", methods="methods written to")
