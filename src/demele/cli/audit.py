"""``demele audit``: which rows an expert should label, drawn at random so that the answers can be trusted."""

import argparse
import csv
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.cli.options import command, option
from demele.cli.output import emit, log, warned
from demele.cli.several_files import read_models
from demele.cli.sheets import check_sheet, kept_columns
from demele.cli.targets import check_targets
from demele.core.errors import InputError
from demele.files.audit_files import DRAW, LEAST, PROBABILITY, ROW, TRUE, answers_text
from demele.files.expert_sheets import ANSWER, key_path, new_key, write_sheet
from demele.files.label_files import class_texts, classes_like, column, in_file, in_one_vocabulary, models
from demele.files.log_sets import is_log
from demele.files.table_files import Warn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from demele.files.prediction_sets import PredictionSet
    from demele.labels import AuditPlan

_DESCRIPTION = """\
Draw the rows that an expert should label: at random, so that their answers speak for all rows.

The rows come as CSV with the columns draw (the order), row (counted from 0), given_label, true_label and how they were
drawn. The expert fills in true_label, and leaves out no row because it is hard;
demele assess --audit FILE and demele compare --audit FILE read the file back.

--blind writes a sheet for the expert in place of it (.csv, .tsv or .xlsx): a random key per row, the columns to --keep,
and an empty column answer. What leads back to the rows is kept beside it, as NAME.key.json; --audit reads both. An
expert who cannot tell writes unclear.
"""
_EXAMPLES = """\
examples:
  demele audit plan data.csv::a,b data.csv::label     (what would an audit settle?)
  demele audit data.csv::label --rows 200 --output audit.csv
  demele audit data.csv::label --rows 200 --disagreement data.csv::a,b,c --output audit.csv   (more where these differ)
  demele compare data.csv::a data.csv::b data.csv::label --audit audit.csv
  demele audit data.csv::label --rows 200 --blind --keep id,text --output sheet.xlsx
  demele audit data.csv::label --rows 200 --positive tumour --disagreement data.csv::a,b --blind --keep id --output
  sheet.csv demele compare data.csv::a data.csv::b data.csv::label --audit sheet.xlsx
  demele audit old.eval new.eval --rows 200 --disagreement --blind --output sheet.xlsx   (logs)

About 200 rows say within a few percent how many labels are wrong; to compare classifiers, draw 250 or more.
Exit status: 0 done, 2 a mistake in the arguments or the data.
"""


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele audit`` to the commands."""
    parser = command(
        commands,
        "audit",
        _run,
        help="draw the rows that an expert should label",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
        called={"labels": "LABELS", "predictions": "PREDICTIONS"},
    )
    parser.add_argument("files", metavar="LABELS", nargs="+", help="the given label of each row; or logs of models")
    option(parser, "--rows", argument="size", metavar="K", help="rows to label (needed)")
    option(
        parser,
        "--disagreement",
        nargs="?",
        const="",
        metavar="PREDICTIONS",
        help="predictions of several models, one column each: rows on which they disagree are drawn more often; logs: "
        "give it without a value",
    )
    option(
        parser,
        "--positive",
        argument="within",
        metavar="CLASS",
        help="a rare class: draw half of the rows where the label or a prediction is so; with --blind",
    )
    option(parser, "--common", "--filter")
    option(parser, "--keep", "--blind")
    option(parser, "--seed", default=0)
    option(
        parser,
        "--format",
        default=None,
        help="of the rows (default: csv, or json for an --output FILE.json); --audit reads csv and json back",
    )
    option(parser, "--output", help="write the rows here, not to stdout")
    option(parser, "--force", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    from demele.core.labelled import read_labels
    from demele.labels import disagreement, draw_audit

    if arguments.rows is None:
        raise InputError("--rows: expected how many rows the expert should label, such as --rows 200")
    kept = None if arguments.keep is None or "::" not in arguments.keep else arguments.keep
    read = check_targets(arguments, ("output",), files=(*arguments.files, arguments.disagreement or None, kept))
    if arguments.blind:
        if arguments.format is not None:
            raise InputError("--format: the sheet of --blind is written as its name says: .csv, .tsv or .xlsx")
        check_sheet(arguments.output, "--output", force=arguments.force, inputs=read)
    elif arguments.positive is not None:
        raise InputError("--positive: give --blind as well; the key beside the expert's sheet holds the strata")
    elif arguments.keep is not None:
        raise InputError("--keep: says what an expert is shown in the sheet of --blind, which is not given")
    warn = warned(arguments.quiet)
    files, logs = arguments.files, None
    several: dict[str, Any] = {}
    if any(map(is_log, files)):
        logs, _ = read_models(arguments, [*files, *([arguments.disagreement] if arguments.disagreement else [])], warn)
        if logs.graded:
            raise InputError(
                f"{files[0]}: says only whether answers were right, not which they are: there is no label to audit"
            )
        labels, several = read_labels(logs.labels, "labels"), logs.predictions
    elif len(files) > 1 or arguments.filter or arguments.common or arguments.disagreement == "":
        raise InputError(f"{files[-1]}: is no log; an audit takes one file of LABELS, and --disagreement PREDICTIONS")
    else:
        labels = read_labels(column(files[0], warn), "labels")
        if arguments.disagreement is not None:
            several = models(arguments.disagreement, warn, labels=files[0])
    several = in_one_vocabulary(several)
    drawn: dict[str, Any] = {}
    for size in {len(values) for values in several.values()} - {labels.size}:
        raise InputError(
            f"{arguments.disagreement}: expected {labels.size} rows, as many as LABELS, got {size}; row r of both "
            "must be the same instance"
        )
    if arguments.positive is not None:
        (positive,) = classes_like([arguments.positive], labels)
        said = [labels, *(read_labels(values, "predictions") for values in several.values())]
        drawn["within"] = np.flatnonzero(np.any([one == positive for one in said], axis=0))
    elif arguments.disagreement is not None:
        if len(several) < 2:
            raise InputError(f"--disagreement: expected the predictions of at least 2 models, got {len(several)}")
        with in_file(arguments.disagreement or "--disagreement"):
            drawn["disagreement"] = disagreement(several)
    plan = draw_audit(labels.size, arguments.rows, seed=arguments.seed, **drawn)
    if arguments.blind:
        _write_sheet(arguments, plan, labels, logs, warn)
        return
    text = answers_text(plan.rows, labels, plan.design, probabilities=plan.probabilities, least=plan.least_probability)
    emit(_as_asked(text, arguments), arguments.output)
    if arguments.output is not None and not arguments.quiet:
        log(f"demele: {arguments.rows} rows written to {arguments.output}; fill in its column {TRUE}")


def _as_asked(text: str, arguments: argparse.Namespace) -> str:
    """Return rows for experts as they are asked for: CSV, to be filled in, but if another format is named."""
    kind = arguments.format
    if kind is None and arguments.output is not None and arguments.output.suffix.lower() == ".json":
        kind = "json"
    if kind in (None, "csv"):
        return text
    rows = list(csv.DictReader(io.StringIO(text)))
    if kind == "json":
        return json.dumps([{name: _typed(name, value) for name, value in row.items()} for row in rows], indent=1)
    from demele.report.terminal.sheet import Sheet

    sheet = Sheet(arguments.output)
    sheet.table(list(rows[0]), [list(row.values()) for row in rows])
    return sheet.text()


def _typed(name: str, value: str) -> object:
    """Return a cell as JSON holds it: numbers as such, an answer that is missing as null; classes stay as written."""
    if name in (DRAW, ROW):
        return int(value)
    if name in (PROBABILITY, LEAST):
        return float(value)
    return value if value or name != TRUE else None


def _write_sheet(
    arguments: argparse.Namespace, plan: "AuditPlan", labels: "NDArray[Any]", logs: "PredictionSet | None", warn: Warn
) -> None:
    hidden = (*arguments.files, arguments.disagreement or None)
    kept = kept_columns(arguments.keep, arguments.files[0], labels.size, warn, hidden=hidden, logs=logs)
    key = new_key(
        plan.rows,
        labels,
        plan.design,
        seed=arguments.seed,
        probabilities=plan.probabilities,
        least_probability=plan.least_probability,
        within=plan.within,
    )
    choices = (logs.classes or ()) if logs is not None else ()
    offered = [] if logs is not None and logs.open else class_texts([*labels.tolist(), *choices])
    write_sheet(arguments.output, key, kept, classes=offered)
    if not arguments.quiet:
        log(
            f"demele: {arguments.rows} rows written to {arguments.output}; the expert fills in its column {ANSWER}; "
            f"keep {key_path(arguments.output)}, which leads back to the rows"
        )
