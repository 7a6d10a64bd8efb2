"""``demele noise clean``: labels that are likely to be wrong, and what cleaning them costs each class."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.cli.options import command, given, option, refuse, told_by
from demele.cli.output import as_text, document_text, emit, format_of, say_written, warned, warnings_in_one_line
from demele.cli.targets import check_targets
from demele.core.errors import InputError
from demele.files.column_files import check_columns_file, numbers_of, write_columns
from demele.files.label_files import classes_named, column, in_one_vocabulary

if TYPE_CHECKING:
    import pandas as pd

    from demele.labels import Cleaning

_DESCRIPTION = """\
Find labels that are likely to be wrong, from features of the instances or from predicted probabilities; and say what
dropping or relabelling them costs each class. Every method also suspects right labels, those of rare classes most.
"""
_EXAMPLES = """\
methods:
  knn             most of the nearest neighbours have another label
  classification  a model trained on the other rows predicts another class
  voting          several models trained on the other rows do
  partitioning    models of the parts of the data vote, round by round
  entropy         predicted probabilities are sure of another class
  confident       confident learning (the default; needs cleanlab)

examples:
  demele noise clean data.csv::label data.csv::x1,x2,x3
  demele noise clean data.csv::label data.csv::x1,x2,x3 --method voting --rule consensus --drop --output kept.csv
  demele noise clean labels.npy --probabilities p.npy --relabel --output cleaned.csv
  demele noise clean data.csv::label features.npy --suspects suspects.csv
  demele compare data.csv::old data.csv::new data.csv::label --method cleaned --suspects suspects.csv

--output has the columns row (from 0) and label: with --relabel all rows, suspects relabelled; with --drop those kept.
Probabilities must come from models that were not trained on the row; columns are the classes, in their order. For
entropy and confident, FEATURES that look like them are read as such; --kind says what they are.
Exit status: 0 done, 2 a mistake in the arguments or the data.
"""
_FROM_PROBABILITIES = ("entropy", "confident")
_METHODS = ("knn", "classification", "voting", "partitioning", *_FROM_PROBABILITIES)
_OPTIONS = ("folds", "k", "rule", "rounds", "threshold", "scaling", "kind")


def add_action(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele noise clean`` to the actions."""
    parser = command(
        actions,
        "clean",
        _run,
        help="find labels that are likely to be wrong",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    table = "features_or_probabilities"
    option(parser, "labels", argument=("y", "labels"), metavar="LABELS", help="the given label of each row")
    option(parser, "features", argument=table, nargs="?", metavar="FEATURES", help="numbers that describe each row")
    what = parser.add_argument_group("how")
    option(
        what,
        "--probabilities",
        argument=table,
        metavar="FILE",
        help="predicted probabilities of the classes, in place of FEATURES",
    )
    option(
        what,
        "--kind",
        choices=("features", "probabilities"),
        help="entropy and confident: what FEATURES are (default: by what they look like)",
    )
    option(what, "--method", metavar="M", help="see below (default: confident)")
    option(what, "--folds", help="parts, each judged by the others (default: 5)")
    option(what, "--k", type=int, metavar="N", help="knn: neighbours (default: 5)")
    option(what, "--scaling", choices=("standard", "none"), help="knn: of the features (default: standard)")
    option(
        what,
        "--rule",
        metavar="R",
        help="voting: majority or consensus; partitioning: majority or non-objection; confident: one of cleanlab's",
    )
    option(what, "--rounds", type=int, metavar="N", help="partitioning: at most so many (default: 10)")
    option(
        what,
        "--threshold",
        type=float,
        metavar="T",
        help="entropy: as a share of the largest, in (0, 1] (default: of the data, >= 0.3)",
    )
    option(
        what,
        "--classes",
        help="all classes, in the order of the probabilities (default: sorted); if the first begins with -, write "
        "--classes=-1,...",
    )
    option(what, "--true-labels", help="true labels, where they are known: how many suspects are wrong")
    option(what, "--level", default=0.95)
    option(what, "--seed", default=0)
    option(what, "--jobs")
    out = parser.add_argument_group("output")
    option(out, "--drop", action="store_true", help="drop suspects in --output and --suspects")
    option(out, "--relabel", action="store_true", help="replace suspects by their suggested labels in --output")
    option(
        out,
        "--suspects",
        type=Path,
        metavar="FILE",
        help="write a flag and a label per row, for demele compare --suspects",
    )
    option(out, "--output", help="write the labels after the cleaning here: .csv, .tsv, .parquet, .json or .npz")
    option(
        out,
        "--format",
        help="of the results (default: table on a terminal, json otherwise); csv: the suspects, most suspicious first",
    )
    option(out, "--explain", "--force", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    from demele.core.labelled import read_labels
    from demele.core.result import plain, table_of_frame
    from demele.labels import clean, cleaning_harm

    _check(arguments)
    warn, words = warned(arguments.quiet), told_by(arguments)
    columns = {name: column(text, warn) for name, text in given(arguments, "labels", "true_labels").items()}
    columns = in_one_vocabulary(columns)
    source = arguments.features if arguments.probabilities is None else arguments.probabilities
    beside = [] if arguments.true_labels is None else [arguments.true_labels]
    table = numbers_of(source, warn, labels=arguments.labels, others=beside)
    labels = read_labels(columns["labels"], "y")
    options = given(arguments, "method", *_OPTIONS, n_jobs="jobs")
    if arguments.classes is not None:
        options["classes"] = classes_named(arguments.classes, labels)
    if arguments.probabilities is not None:
        options["kind"] = "probabilities"
    with warnings_in_one_line(quiet=arguments.quiet, words=words):
        found = clean(columns["labels"], table, seed=arguments.seed, **options)
        if arguments.drop:
            found = found.dropping()
        harm = cleaning_harm(found, columns["labels"], columns.get("true_labels"), level=arguments.level)
    _write(arguments, found, labels)
    suspects = _suspects(found, labels)
    content: dict[str, Any] = plain(
        {
            **{name: value for name, value in found.to_dict().items() if name not in ("suspect", "suggested", "score")},
            "n": labels.size,
            "suspects": suspects,
            "harm": harm,
        }
    )

    def shown() -> str:
        listed, _ = table_of_frame("Suspected labels", suspects)
        said = (replace(found.document(), table=listed), harm.document())
        return "\n".join(document_text(one, explain=arguments.explain, words=words) for one in said)

    emit(as_text(format_of(arguments.format, None), table=shown, data=lambda: content, frame=lambda: suspects), None)
    say_written(arguments, output="labels written to", suspects="suspects written to")


def _check(arguments: argparse.Namespace) -> None:
    if (arguments.features is None) == (arguments.probabilities is None):
        what = "got neither" if arguments.features is None else "got both"
        raise InputError(f"FEATURES: expected FEATURES, or --probabilities FILE, {what}")
    if arguments.probabilities is not None:
        if arguments.method in _METHODS and arguments.method not in _FROM_PROBABILITIES:
            raise InputError(f"--probabilities: only --method entropy and confident use them, got {arguments.method}")
        refuse(arguments, ("kind",), "of FEATURES; leave it out, since --probabilities says what they are")
        refuse(arguments, ("folds",), "nothing is trained on --probabilities; leave it out")
    if arguments.drop and arguments.relabel:
        raise InputError("--drop and --relabel: expected one of them")
    if arguments.output is not None and not (arguments.drop or arguments.relabel):
        raise InputError("--output: add --relabel to replace the suspects by their suggested labels, or --drop")
    check_columns_file(arguments.output, "--output")
    check_columns_file(arguments.suspects, "--suspects")
    read = (arguments.labels, arguments.features, arguments.probabilities, arguments.true_labels)
    check_targets(arguments, ("output", "suspects"), files=read)


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


def _suspects(found: "Cleaning", given: Any) -> "pd.DataFrame":
    """Return the suspects, most suspicious first: row, given, suggested, score."""
    import pandas as pd

    rows = found.worst(given.size).index[: found.n_suspects].to_numpy()
    score = np.full(rows.size, np.nan) if found.score is None else found.score[rows]
    suggested = np.full(rows.size, None) if found.suggested is None else found.suggested[rows]
    return pd.DataFrame({"row": rows, "given": given[rows], "suggested": suggested, "score": score})
