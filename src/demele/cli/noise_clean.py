"""``demele noise clean``: labels that are likely to be wrong, and what cleaning them costs each class."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.cli.label_options import option_words, warned
from demele.cli.noise_options import add_labels_output, add_seed, checked_seed, told
from demele.cli.output import emit, format_of, log, warnings_in_one_line
from demele.cli.targets import check_targets
from demele.core.errors import InputError
from demele.files.column_files import check_columns_file, numbers_of, write_columns
from demele.files.label_files import classes_named, column, in_one_vocabulary
from demele.files.named import split_name
from demele.files.sheets import csv_text

if TYPE_CHECKING:
    import pandas as pd

    from demele.labels import Cleaning, Harm

__all__ = ["add_action"]

_DESCRIPTION = """\
Find labels that are likely to be wrong, from features of the instances or from predicted probabilities; and say what
dropping or relabelling them costs each class. Every method also suspects right labels, those of rare classes most.
"""
_EXAMPLES = """\
methods:
  knn             most of the nearest neighbours have another label (the default)
  classification  a model trained on the other rows predicts another class
  voting          several models trained on the other rows do
  partitioning    models of the parts of the data vote, round by round
  entropy         predicted probabilities are sure of another class
  confident       confident learning (needs cleanlab)

examples:
  demele noise clean data.csv::label data.csv::x1,x2,x3
  demele noise clean data.csv::label data.csv::x1,x2,x3 --method voting --rule consensus --output cleaned.csv
  demele noise clean labels.npy --probabilities p.npy --method confident --drop --output kept.csv
  demele noise clean data.csv::label features.npy --suspects suspects.csv
  demele compare data.csv::old data.csv::new data.csv::label --method cleaned --suspects suspects.csv

--output has the columns row (from 0) and label: all rows with suspects relabelled, or with --drop those that are kept.
Probabilities must come from models that were not trained on the row; columns are the classes, in their order. For
entropy and confident, FEATURES that look like them are read as such; --kind says what they are.
Exit status: 0 done, 2 a mistake in the arguments or the data.
"""
_FROM_PROBABILITIES = ("entropy", "confident")
_METHODS = ("knn", "classification", "voting", "partitioning", *_FROM_PROBABILITIES)
_OPTIONS = ("folds", "k", "rule", "rounds", "threshold", "scaling", "kind")
_WORDS = {
    r"y and features_or_probabilities(?=:)": "LABELS and FEATURES",
    r"y and true_labels(?=:)": "LABELS and --true",
    r"; give all classes, in their order, with classes=\[\.\.\.\]": "; give all classes, in their order, with "
    "--classes=A,B,...",
    r"(?:pass )?kind='features'": "--kind features",
    r"since features_or_probabilities was read": "since FEATURES was read",
    r"drop (folds|k|rule|rounds|threshold|scaling|kind)\b": r"drop --\1",
    r"keep = true_labels != -1 and pass .*? true_labels\[keep\]": "leave these rows out of all files",
    r"method '(\w+)' does not use it, only": r"--method \1 does not use it, only",
    r"classes=\[\.\.\.\]": "--classes=A,B,...",
    r"threshold=(?=0)": "--threshold ",
}
_HEADS = {
    "features_or_probabilities": "FEATURES",
    "method": "--method",
    "true_labels": "--true",
    **{name: f"--{name}" for name in _OPTIONS},
}


def add_action(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele noise clean`` to the actions."""
    parser = actions.add_parser(
        "clean",
        help="find labels that are likely to be wrong",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("labels", metavar="LABELS", help="the given label of each row")
    parser.add_argument("features", nargs="?", metavar="FEATURES", help="numbers that describe each row")
    what = parser.add_argument_group("how")
    what.add_argument(
        "--probabilities", metavar="FILE", help="predicted probabilities of the classes, in place of FEATURES"
    )
    what.add_argument(
        "--kind",
        choices=("features", "probabilities"),
        help="entropy and confident: what FEATURES are (default: by what they look like)",
    )
    what.add_argument("--method", metavar="M", help="see below (default: knn)")
    what.add_argument("--folds", type=int, metavar="N", help="parts, each judged by the others (default: 5)")
    what.add_argument("--k", type=int, metavar="N", help="knn: neighbours (default: 5)")
    what.add_argument("--scaling", choices=("standard", "none"), help="knn: of the features (default: standard)")
    what.add_argument(
        "--rule",
        metavar="R",
        help="voting: majority or consensus; partitioning: majority or non-objection; confident: one of cleanlab's",
    )
    what.add_argument("--rounds", type=int, metavar="N", help="partitioning: at most so many (default: 10)")
    what.add_argument(
        "--threshold",
        type=float,
        metavar="T",
        help="entropy: as a share of the largest, in (0, 1] (default: of the data, >= 0.3)",
    )
    what.add_argument(
        "--classes",
        metavar="A,B,...",
        help="all classes, in the order of the probabilities (default: sorted); if the first begins with -, write "
        "--classes=-1,...",
    )
    what.add_argument("--true", metavar="FILE", help="true labels, where they are known: how many suspects are wrong")
    what.add_argument("--level", type=float, default=0.95, metavar="L", help="of the intervals (default: 0.95)")
    add_seed(what, "folds, and of models that draw")
    what.add_argument("--jobs", type=int, default=1, metavar="J", help="processes, -1 for all processors (default: 1)")
    out = parser.add_argument_group("output")
    out.add_argument("--drop", action="store_true", help="drop suspects rather than relabel them")
    out.add_argument(
        "--suspects", type=Path, metavar="FILE", help="write a flag and a label per row, for demele compare --suspects"
    )
    add_labels_output(out, "the labels after the cleaning", "the suspects, most suspicious first")
    parser.set_defaults(run=_run, told_as=told(_WORDS, _HEADS))


def _run(arguments: argparse.Namespace) -> None:
    from demele.core.labelled import read_labels
    from demele.labels import clean, cleaning_harm

    _check(arguments)
    if arguments.probabilities is not None:
        words_told, heads = arguments.told_as
        arguments.told_as = (
            {**words_told, r"y and features_or_probabilities(?=:)": "LABELS and --probabilities"},
            {**heads, "features_or_probabilities": "--probabilities"},
        )
    warn, words = warned(arguments.quiet), option_words(arguments)
    read = {name: getattr(arguments, name) for name in ("labels", "true") if getattr(arguments, name) is not None}
    columns = in_one_vocabulary({name: column(text, warn) for name, text in read.items()})
    source = arguments.probabilities if arguments.probabilities is not None else arguments.features
    beside = [] if arguments.true is None else [arguments.true]
    table = numbers_of(source, warn, labels=arguments.labels, beside=beside)
    given = read_labels(columns["labels"], "y")
    classes = None if arguments.classes is None else classes_named(arguments.classes, given)
    options: dict[str, Any] = {name: getattr(arguments, name) for name in _OPTIONS}
    if arguments.probabilities is not None:
        options["kind"] = "probabilities"
    if arguments.method is not None:
        options["method"] = arguments.method
    with warnings_in_one_line(quiet=arguments.quiet, words=words):
        found = clean(columns["labels"], table, classes=classes, seed=arguments.seed, n_jobs=arguments.jobs, **options)
        if arguments.drop:
            found = found.dropping()
        harm = cleaning_harm(found, columns["labels"], columns.get("true"), level=arguments.level)
    _write(arguments, found, given)
    emit(_text(arguments, found, harm, given), None)
    if not arguments.quiet:
        for path, what in ((arguments.output, "labels"), (arguments.suspects, "suspects")):
            if path is not None:
                log(f"demele: {what} written to {path}")


def _check(arguments: argparse.Namespace) -> None:
    if (arguments.features is None) == (arguments.probabilities is None):
        what = "got neither" if arguments.features is None else "got both"
        raise InputError(f"FEATURES: expected FEATURES, or --probabilities FILE, {what}")
    if arguments.probabilities is not None and arguments.method not in _FROM_PROBABILITIES:
        chosen = "by default knn" if arguments.method is None else f"got {arguments.method}"
        if arguments.method is None or arguments.method in _METHODS:
            raise InputError(f"--probabilities: only --method entropy and confident use them, {chosen}")
    if arguments.probabilities is not None and arguments.kind is not None:
        raise InputError("--kind: of FEATURES; leave it out, since --probabilities says what they are")
    if arguments.probabilities is not None and arguments.folds is not None:
        raise InputError("--folds: nothing is trained on --probabilities; leave it out")
    if not 0 < arguments.level < 1:
        raise InputError(f"--level: expected a number between 0 and 1, such as 0.95, got {arguments.level:g}")
    checked_seed(arguments.seed)
    if arguments.jobs == 0:
        raise InputError("--jobs: expected a number of processes, or -1 for all processors, got 0")
    check_columns_file(arguments.output, "--output")
    check_columns_file(arguments.suspects, "--suspects")
    read = (arguments.labels, arguments.features, arguments.probabilities, arguments.true)
    inputs = [split_name(text)[0] for text in read if text is not None]
    targets = {"--output": arguments.output, "--suspects": arguments.suspects}
    check_targets(targets, force=arguments.force, inputs=inputs)


# Writing ---------------------------------------------------------------------------------------------------------


def _write(arguments: argparse.Namespace, found: "Cleaning", given: Any) -> None:
    import pandas as pd

    if arguments.output is not None:
        after = found.applied(given)
        write_columns(pd.DataFrame({"row": after.rows, "label": after.labels}), arguments.output)
    if arguments.suspects is not None:
        columns: dict[str, Any] = {"suspect": found.suspect.astype(np.int64)}
        if found.suggested is not None:
            columns["suggested"] = found.suggested
        write_columns(pd.DataFrame(columns), arguments.suspects)


def _text(arguments: argparse.Namespace, found: "Cleaning", harm: "Harm", given: Any) -> str:
    from demele.core.written import plain

    suspects = _suspects(found, given)
    kind = format_of(arguments.format, None)
    if kind == "csv":
        return csv_text(suspects)
    content: dict[str, Any] = plain(
        {
            **found.to_dict(),
            "relabels": found.suggested is not None,
            "suspects": suspects.to_dict(orient="records"),
            "harm": harm.to_dict(),
        }
    )
    for name in ("suggested", "score"):  # they stand beside the rows
        content.pop(name)
    if kind == "json":
        return json.dumps(content, indent=1, allow_nan=False)
    from demele.report.terminal.noise import cleaned_table

    return cleaned_table(content, words=option_words(arguments))


def _suspects(found: "Cleaning", given: Any) -> "pd.DataFrame":
    """Return the suspects, most suspicious first: row, given, suggested, score."""
    import pandas as pd

    rows = found.worst(given.size).index[: found.n_suspects].to_numpy()
    score = np.full(rows.size, np.nan) if found.score is None else found.score[rows]
    suggested = np.full(rows.size, None) if found.suggested is None else found.suggested[rows]
    return pd.DataFrame({"row": rows, "given": given[rows], "suggested": suggested, "score": score})
