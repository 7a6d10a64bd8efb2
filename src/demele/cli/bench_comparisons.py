"""``demele bench comparisons``: the methods that compare classifiers on noisy labels are measured, yours among them."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.cli.functions import PythonFiles, chosen_methods, folders_on_path, named_files
from demele.cli.options import command, flag_of, option, refuse, share, shares_in, told_by
from demele.cli.output import (
    as_text,
    document_text,
    emit,
    format_of,
    log,
    result_text,
    say_written,
    warned,
    warnings_in_one_line,
)
from demele.cli.progress import reporting, saying_where_it_stopped
from demele.cli.targets import check_targets
from demele.core.errors import InputError
from demele.core.extras import require
from demele.core.outputs import expect_new
from demele.core.reading import real_path
from demele.files.column_files import numbers_of
from demele.files.label_files import classes_like, classes_named, column, in_one_vocabulary, models, suggesting_classes
from demele.files.table_files import Warn

if TYPE_CHECKING:
    from demele.bench import MethodComparison

_DESCRIPTION = """\
Measure how often comparison methods err on noisy labels: noise whose truth is known, all ordered pairs of classifiers,
the verdict of each method against the comparison on true labels. Type I error: the candidate is selected, but the
reference keeps the baseline. Type II error: the baseline is kept, but the reference selects the candidate.

  demele bench comparisons                                   the whole experiment, on digits
  demele bench comparisons --features F --true-labels L      the same on your data: noise, classifiers are made of it
  demele bench comparisons --predictions P --true-labels L   classifiers of yours: a column of predictions each
  demele bench comparisons --label-set NAME                  real networks that come with demele
"""
_EXAMPLES = """\
examples:
  demele bench comparisons --quick --report quick.html
  demele bench comparisons --jobs 2 --store rows.jsonl --report full.html --pictures pictures
  demele bench comparisons --label-set geirhos_16class_rotation --noise-rate 0.05 --methods overlap,worst-case-overlap
  demele bench comparisons --predictions models.csv --true-labels labels.npy --methods overlap,mine.py::my_method
  demele bench comparisons --list

A function gets (baseline, candidate, labels), arrays of one class per row, and returns baseline, candidate,
inconclusive, or True for the candidate; with a parameter known it also gets the noise and the measure, without
one it compares accuracy only. With --store, the same command continues where it stopped. Labels are taken as true:
noise is added to them.
Results go to stdout (a table on a terminal, JSON otherwise), progress and warnings to stderr.
Exit status: 0 done, 2 a mistake in the arguments or the data, 130 interrupted.
"""
#: A first look: what it takes instead of the defaults.
_QUICK: dict[str, Any] = {
    "noise_rate": [0.05, 0.1],
    "methods": ["overlap", "worst-case-overlap", "hard-rows", "worst-case", "audit", "sequential"],
    "classifiers": 20,
    "candidates": 40,
    "annotators": 30,
}
#: Options of the whole experiment, and of classifiers that are there.
_OF_EXPERIMENT = ("classifiers", "candidates", "annotators", "folds")
_OF_PREDICTIONS = ("annotations", "noise", "classes")


def add_action(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele bench comparisons`` to the actions."""
    parser = command(
        actions,
        "comparisons",
        _run,
        help="measure the methods that compare classifiers on noisy labels",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    data = parser.add_argument_group("data")
    option(
        data,
        "--features",
        argument=("features", "models", "training_rates"),
        help="numbers; noise and classifiers are made from them",
    )
    option(data, "--predictions", help="predicted classes of classifiers, one column each")
    option(
        data,
        "--true-labels",
        argument=("true_labels", "y", "labels"),
        help="labels of these rows, taken as true",
    )
    option(
        data,
        "--label-set",
        argument=("name", "predictions", "true_labels"),
        metavar="NAME",
        help="predictions and labels that come with demele",
    )
    option(
        data,
        "--annotations",
        help="predictions of artificial annotators, who make the noise (default: the classifiers themselves)",
    )
    option(data, "--noise", choices=("feature", "uniform"), help="on hard instances, or on any (default: feature)")
    option(data, "--classes", help="all classes of --true-labels (default: those that occur)")

    what = parser.add_argument_group("what is measured")
    option(
        what,
        "--noise-rate",
        argument=("noise_rates", "rate"),
        type=shares_in,
        metavar="R,...",
        help="noise rates (default: 0.01,0.02,0.05,0.1,0.15,0.2)",
    )
    option(
        what,
        "--methods",
        type=outside_parentheses,
        metavar="A,B(x=1),FILE.py::F",
        help="names, perhaps with options, and functions of Python files (default: all that --list shows)",
    )
    option(
        what,
        "--measures",
        type=_measures,
        metavar="M,M:CLASS",
        help="accuracy, precision:CLASS, recall:CLASS, f1:CLASS (default: accuracy; of the whole experiment also "
        "precision and recall of the first class)",
    )
    option(
        what,
        "--classifiers",
        argument="n_classifiers",
        type=int,
        metavar="N",
        help="classifiers to compare (default: 100)",
    )
    option(
        what,
        "--candidates",
        argument="n_candidates",
        type=int,
        metavar="N",
        help="classifiers to train and choose from (default: 400)",
    )
    option(what, "--annotators", help="artificial annotators (default: 100)")
    option(what, "--folds", help="folds for predictions out of fold (default: 5)")
    option(
        what,
        "--reference",
        metavar="R",
        help="reference for verdicts, on true labels: overlap of the intervals (the default), paired "
        "(McNemar's test, of accuracy) or sample (the larger value)",
    )
    option(what, "--level", help="level of the intervals whose overlap decides (default: 0.95)")
    option(what, "--seed")
    option(
        what,
        "--quick",
        action="store_true",
        help="a first look, less than a minute on digits: 20 classifiers, two noise rates, six methods",
    )
    option(what, "--list", action="store_true", help="show the comparison methods, and measure nothing")

    out = parser.add_argument_group("output")
    option(out, "--format", "--output", "--explain")
    option(out, "--at", type=share, metavar="R", help="the one noise rate that the table shows (default: all, if few)")
    option(out, "--report")
    option(
        out,
        "--pictures",
        type=Path,
        metavar="FOLDER",
        help="write matrices and curves for print (needs matplotlib)",
    )
    option(out, "--force", "--store", "--jobs")
    option(out, "--title", metavar="TEXT", help="title of the page")
    option(out, "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    paths = named_files(arguments.methods or [])
    _check(arguments, paths)
    if arguments.list:
        emit(_listed(arguments), arguments.output)
        return
    with folders_on_path(paths):
        methods = _usual(arguments, "methods")
        chosen = None if methods is None else chosen_methods(methods, PythonFiles())
        found = _measured(arguments, chosen)
    if arguments.at is not None:
        _check_rate(arguments.at, [column.wanted for column in found.columns])
    emit(_text(found, arguments), arguments.output)
    if arguments.report is not None:
        found.to_html(arguments.report)
    if arguments.pictures is not None:
        found.to_pictures(arguments.pictures)
    say_written(arguments, report="report written to", pictures="pictures written to")
    if arguments.store is not None and not arguments.quiet:
        log(f"demele: what was decided is kept in {arguments.store}; a later run with more methods adds to it")


# Before any computing --------------------------------------------------------------------------------------------


def _check(arguments: argparse.Namespace, files: list[Path]) -> None:
    _check_data(arguments)
    if arguments.at is not None:
        from demele.bench.comparisons.compared import NOISE_RATES

        _check_rate(arguments.at, _usual(arguments, "noise_rate") or list(NOISE_RATES))
    read = [getattr(arguments, name) for name in ("features", "predictions", "true_labels", "annotations")]
    inputs = check_targets(arguments, ("report", "output", "store"), files, files=read)
    if arguments.pictures is not None:
        written = (arguments.report, arguments.output, arguments.store)
        _check_folder(arguments.pictures, [*inputs, *(path for path in written if path is not None)], arguments)
        require("matplotlib.figure", purpose="--pictures")


def _check_data(arguments: argparse.Namespace) -> None:
    """Refuse data that do not belong together, and options that they do not use."""
    sources = [name for name in ("features", "predictions", "label_set") if getattr(arguments, name) is not None]
    if len(sources) > 1:
        raise InputError(f"{flag_of(sources[1])}: {flag_of(sources[0])} is given too; one of them")
    source = sources[0] if sources else None
    if source in ("features", "predictions") and arguments.true_labels is None:
        raise InputError(f"--true-labels: expected the labels of the rows of --{source}")
    if source in (None, "label_set"):
        why = "--label-set brings its own" if source else "they need --features or --predictions as well"
        refuse(arguments, ("true_labels",), why)
    if source in (None, "features"):
        refuse(arguments, _OF_PREDICTIONS, "is for --predictions or --label-set")
    else:
        refuse(arguments, _OF_EXPERIMENT, "is for the whole experiment, which trains its classifiers")
    if arguments.annotations is not None and arguments.noise == "uniform":
        raise InputError("--annotations: make noise of the kind feature, and --noise uniform asks for another")


def _check_folder(folder: Path, taken: list[Path], arguments: argparse.Namespace) -> None:
    if any(real_path(folder) == real_path(path) for path in taken):
        raise InputError(f"--pictures: {folder} is read or written by the same command; name another folder")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--pictures: {folder}: expected a folder, got a file")
    if not folder.exists() and not folder.parent.is_dir():
        raise InputError(f"--pictures: {folder}: there is no folder {folder.parent}; make it first")
    if folder.is_dir() and any(folder.iterdir()) and not arguments.force:
        raise InputError(f"--pictures: {folder}: holds files already; --force replaces pictures among them")
    if folder.is_dir() and not os.access(folder, os.W_OK):
        raise InputError(f"--pictures: {folder}: no permission to write there")
    if not arguments.force:
        expect_new(folder)


def _check_rate(rate: float, rates: list[float]) -> None:
    if not any(abs(rate - other) < 1e-12 for other in rates):
        raise InputError(f"--at: expected one of the noise rates {', '.join(f'{r:g}' for r in rates)}, got {rate:g}")


def _usual(arguments: argparse.Namespace, name: str) -> Any:
    """Return what was asked for; of a first look, its own default; else None."""
    asked = getattr(arguments, name)
    return _QUICK.get(name) if asked is None and arguments.quick else asked


# Computing -------------------------------------------------------------------------------------------------------


def _measured(arguments: argparse.Namespace, methods: Any) -> "MethodComparison":
    from demele import bench

    warn = warned(arguments.quiet)
    made = arguments.predictions is None and arguments.label_set is None
    data, given = _data(arguments, warn)
    options: dict[str, Any] = {
        "methods": methods,
        "noise_rates": _usual(arguments, "noise_rate"),
        "measures": _with_classes(arguments.measures, given),
        **{name: getattr(arguments, name) for name in ("reference", "level", "seed", "title", "store")},
    }
    if made:
        options |= {
            **{f"n_{name}": _usual(arguments, name) for name in ("classifiers", "candidates", "annotators")},
            "folds": arguments.folds,
        }
    else:
        options["noise"] = arguments.noise
    options = {name: value for name, value in options.items() if value is not None}
    with (
        saying_where_it_stopped(arguments.store),
        warnings_in_one_line(quiet=arguments.quiet, words=told_by(arguments)),
        reporting(arguments.quiet) as report,
    ):
        if not arguments.quiet:
            _say_what_is_there(arguments.store)
        compared = bench.noise_experiment if made else bench.compare_methods
        columns = [] if made else [*data["predictions"].values(), data["true_labels"]]
        with suggesting_classes(columns):
            return compared(**data, **options, n_jobs=arguments.jobs, progress=False if report is None else report)


def _data(arguments: argparse.Namespace, warn: Warn) -> tuple[dict[str, Any], Any]:
    """Return the data as the library wants them, and the labels, as which classes are written."""
    from demele.core.labelled import read_labels

    if arguments.label_set is not None:
        from demele.data import label_set

        found = label_set(arguments.label_set)
        labels = found.labels if found.true_labels is None else found.true_labels
        columns: dict[Any, Any] = {("model", name): found.predictions[name] for name in found.predictions}
        columns["labels"] = labels
        classes: Any = list(found.classes)
    elif arguments.predictions is not None:
        read = models(arguments.predictions, warn, labels=arguments.true_labels)
        columns = {("model", name): values for name, values in read.items()}
        columns["labels"] = column(arguments.true_labels, warn)
        classes = None
    elif arguments.features is not None:
        features = numbers_of(arguments.features, warn, labels=arguments.true_labels)
        labels = column(arguments.true_labels, warn)
        return {"features": features, "y": labels}, read_labels(labels, "labels")
    else:
        return {}, np.zeros(1, dtype=np.int64)  # the classes of the digits are numbers
    if arguments.annotations is not None:
        annotators = models(arguments.annotations, warn, labels=arguments.true_labels)
        columns.update({("annotator", name): values for name, values in annotators.items()})
    columns = in_one_vocabulary(columns)
    labels = columns.pop("labels")
    given = read_labels(labels, "labels")
    named = {kind: {key[1]: values for key, values in columns.items() if key[0] == kind} for kind in _SIDES}
    data = {"predictions": named["model"], "true_labels": labels, "annotations": named["annotator"] or None}
    data["classes"] = classes if arguments.classes is None else classes_named(arguments.classes, given)
    return data, given


_SIDES = ("model", "annotator")


def _with_classes(measures: list[tuple[str, str | None]] | None, given: Any) -> list[Any] | None:
    """Return measures with their classes as the labels are written."""
    if measures is None:
        return None
    return [name if of is None else (name, classes_like([of], given)[0]) for name, of in measures]


def _say_what_is_there(path: Path | None) -> None:
    """Tell how much an earlier run left; one that belongs to another run is refused by the run itself."""
    from demele.core.store import Store

    if path is None or not path.is_file() or not path.stat().st_size:
        return
    records = Store.read(path)[1]
    log(f"demele: {path} holds {len(records):,} finished pieces of work")


# Writing ---------------------------------------------------------------------------------------------------------


def _text(found: "MethodComparison", arguments: argparse.Namespace) -> str:
    from demele.bench.comparisons.method_documents import methods_document

    kind = format_of(arguments.format, arguments.output)
    if kind != "table":
        return result_text(found, kind)
    options = {"explain": arguments.explain, "words": told_by(arguments), "output": arguments.output}
    return document_text(methods_document(found, arguments.at), **options)


def _listed(arguments: argparse.Namespace) -> str:
    import pandas as pd

    from demele.bench import comparison_methods
    from demele.bench.comparisons.contenders import contender

    rows = [
        {"method": one.name, "inputs": one.inputs, "measures": [str(measure) for measure in one.measures]}
        for one in map(contender, comparison_methods())
    ]
    frame = pd.DataFrame([{**row, "measures": " ".join(row["measures"])} for row in rows])
    return as_text(
        format_of(arguments.format, arguments.output),
        table=lambda: frame.to_string(index=False),
        data=lambda: rows,
        frame=lambda: frame,
    )


# Arguments -------------------------------------------------------------------------------------------------------


def outside_parentheses(text: str) -> list[str]:
    """Split at the commas that are not in parentheses.

    Examples
    --------
    >>> outside_parentheses("overlap, cleaned(s=0.6, e=0.1),mine.py::f")
    ['overlap', 'cleaned(s=0.6, e=0.1)', 'mine.py::f']
    """
    parts, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += sign
    names = [part.strip() for part in parts if part.strip()]
    if not names:
        raise argparse.ArgumentTypeError("expected names, separated by commas")
    return names


def _measures(text: str) -> list[tuple[str, str | None]]:
    measures: list[tuple[str, str | None]] = []
    for part in outside_parentheses(text):
        name, mark, of = part.partition(":")
        if mark and not of.strip():
            raise argparse.ArgumentTypeError(f"expected a class after the colon, such as {name}:cat")
        measures.append((name.strip(), of.strip() if mark else None))
    return measures
