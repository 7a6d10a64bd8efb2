"""``demele noise add``: labels are made wrong, and which ones is known."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.cli.options import command, flag_of, given, option, refuse, shares_in, told_by
from demele.cli.output import as_text, document_text, emit, format_of, log, say_written, warned, warnings_in_one_line
from demele.cli.progress import reporting
from demele.cli.targets import check_targets
from demele.core.errors import InputError
from demele.core.version import __version__
from demele.files.column_files import check_columns_file, numbers_of, write_columns
from demele.files.label_files import classes_named, column, in_one_vocabulary, models, read_transition
from demele.files.table_files import Warn

if TYPE_CHECKING:
    import pandas as pd

    from demele.labels import ArtificialAnnotators, NoisyLabels

_DESCRIPTION = """\
Make labels wrong on purpose, and know which: uniformly, per class, or where and as instances are hard.

The kind of noise follows from what is given: --transition or --symmetric per class, --annotations or --features per
features, --predictions those of a model, otherwise uniform.
"""
_EXAMPLES = """\
examples:
  demele noise add data.csv::label --noise-rate 0.05 --output noisy.csv
  demele noise add data.csv::label --noise-rate 0.01,0.05,0.1 --features data.csv::x1,x2,x3 --output noisy.npz
  demele noise add data.csv::label --transition mistaken.csv --seed 3 --output noisy.csv
  demele noise add data.csv::label --noise-rate 0.1 --symmetric --approximate --output noisy.csv

--output has the columns label (noisy), true and mislabelled; of several rates label_0.05, mislabelled_0.05 and so on.
Several rates are nested: what is wrong at a lower rate is wrong in the same way at a higher one (not so for the
predictions of models). What is made is exact: so many labels are wrong as the rate says, unless --approximate.
Exit status: 0 done, 2 a mistake in the arguments or the data.
"""
_KINDS = ("uniform", "class", "feature", "model")
#: Which kind of noise an option is for.
_KIND_OF = {
    "transition": "class",
    "symmetric": "class",
    "annotations": "feature",
    "features": "feature",
    "predictions": "model",
}


def add_action(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele noise add`` to the actions."""
    parser = command(
        actions, "add", _run, help="make labels wrong, and know which", description=_DESCRIPTION, examples=_EXAMPLES
    )
    option(parser, "labels", argument=("y", "labels"), metavar="LABELS", help="the true label of each row")
    what = parser.add_argument_group("the noise")
    option(
        what,
        "--noise-rate",
        argument="rate",
        type=shares_in,
        metavar="R,...",
        help="share of labels to make wrong, in [0, 1]; several are nested",
    )
    option(what, "--kind", choices=_KINDS, help="where it does not follow from what is given")
    option(
        what,
        "--transition",
        argument="transition",
        help="class: how classes are mistaken, rows true, columns given; probabilities, or counts",
    )
    option(what, "--symmetric", action="store_true", help="class: each class at the rate, as any other alike")
    option(what, "--annotations", help="feature: predictions of artificial annotators, one column each")
    option(
        what,
        "--features",
        argument=("features", "models"),
        help="feature: numbers on which artificial annotators are trained here",
    )
    option(what, "--annotators", help="artificial annotators to train on --features (default: 100)")
    option(
        what,
        "--save-annotations",
        type=Path,
        metavar="FILE",
        help="write what these annotators say, for --annotations",
    )
    option(
        what,
        "--predictions",
        help="model: predicted classes, one column per model; of several, the one whose error is nearest to the rate",
    )
    option(
        what,
        "--approximate",
        action="store_true",
        help="draw each label by itself, so that the number of wrong ones varies (uniform and class)",
    )
    option(
        what,
        "--classes",
        help="all classes, of uniform and symmetric noise (default: those of LABELS); if the first begins with -, "
        "write --classes=-1,...",
    )
    option(what, "--seed", default=0)
    option(what, "--jobs", default=None, help="processes that train annotators, -1 for all processors")
    out = parser.add_argument_group("output")
    option(out, "--output", help="write the labels here: .csv, .tsv, .parquet, .json or .npz")
    option(
        out,
        "--format",
        help="of the results (default: table on a terminal, json otherwise); csv: the labels themselves, instead of "
        "what is said of them",
    )
    option(out, "--explain", "--force", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    kind = _checked(arguments)
    warn, words = warned(arguments.quiet), told_by(arguments)
    with warnings_in_one_line(quiet=arguments.quiet, words=words):
        versions, annotators = _made(arguments, kind, warn)
    frame = _columns(versions)
    content = _content(arguments, kind, versions, annotators)
    written = format_of(arguments.format, None)
    if arguments.output is not None:
        write_columns(frame, arguments.output)
    if annotators is not None and arguments.save_annotations is not None:
        write_columns(_answers(annotators), arguments.save_annotations)

    def table() -> str:
        said = [*versions, *([] if annotators is None else [annotators])]
        return "\n".join(document_text(one.document(), explain=arguments.explain, words=words) for one in said)

    emit(as_text(written, table=table, data=lambda: content, frame=lambda: frame), None)
    if not arguments.quiet and arguments.output is None and written != "csv":
        log("demele: the noisy labels are not kept; --output FILE writes them")
    say_written(arguments, output="labels written to", save_annotations="annotations written to")


# Before any computing --------------------------------------------------------------------------------------------


def _checked(arguments: argparse.Namespace) -> str:
    """Return the kind of noise; refuse options that contradict each other, and files that cannot be written."""
    makers = [name for name in _KIND_OF if getattr(arguments, name) not in (None, False)]
    if len(makers) > 1:
        raise InputError(f"--{makers[1]}: --{makers[0]} is given too; one of them makes the noise")
    kind = _KIND_OF[makers[0]] if makers else arguments.kind or "uniform"
    if arguments.kind not in (None, kind):
        raise InputError(
            f"--kind {arguments.kind}: --{makers[0]} makes noise of the kind {kind}; leave one of them out"
        )
    if not makers and kind != "uniform":
        needed = " or ".join(f"--{name}" for name, of in _KIND_OF.items() if of == kind)
        raise InputError(f"--kind {kind}: needs {needed}")
    if arguments.transition is not None:
        refuse(arguments, ("noise_rate",), "--transition says how many labels are wrong; leave one of them out")
        refuse(arguments, ("classes",), "--transition names its classes; leave it out")
    elif arguments.noise_rate is None and kind != "model":
        raise InputError("--noise-rate: expected the share of labels to make wrong, such as --noise-rate 0.05")
    if kind in ("feature", "model"):
        refuse(arguments, ("approximate",), f"noise of the kind {kind} draws nothing; leave it out")
        refuse(arguments, ("classes",), f"the kind {kind} has its own; leave it out")
    if arguments.features is None:
        own = ("annotators", "save_annotations", "jobs")
        refuse(arguments, own, "is for annotators that are trained on --features")
    if arguments.format == "csv" and arguments.output is not None:
        raise InputError("--format csv: writes the labels to stdout, and --output to a file; leave one of them out")
    for name in ("output", "save_annotations"):
        check_columns_file(getattr(arguments, name), flag_of(name))
    read = [arguments.labels, *(getattr(arguments, name) for name in _KIND_OF if name != "symmetric")]
    check_targets(arguments, ("output", "save_annotations"), files=read)
    return kind


# Making ----------------------------------------------------------------------------------------------------------


def _made(
    arguments: argparse.Namespace, kind: str, warn: Warn
) -> "tuple[list[NoisyLabels], ArtificialAnnotators | None]":
    from demele import labels
    from demele.core.labelled import read_labels

    y, seed = column(arguments.labels, warn), arguments.seed
    rates: list[float] = arguments.noise_rate or []
    exact = not arguments.approximate
    if kind == "uniform":
        classes = _classes(arguments, read_labels(y, "y"))
        made = [labels.add_uniform_noise(y, rate, classes=classes, exact=exact, seed=seed) for rate in rates]
        return made, None
    if arguments.symmetric:
        known = _classes(arguments, read_labels(y, "y"))
        return [
            labels.add_class_noise(y, labels.symmetric_transition(known, rate), exact=exact, seed=seed)
            for rate in rates
        ], None
    if kind == "class":
        transition = read_transition(arguments.transition, read_labels(y, "y"), warn)
        return [labels.add_class_noise(y, transition, exact=exact, seed=seed)], None
    if kind == "model":
        y, answers = _with_answers(y, models(arguments.predictions, warn, labels=arguments.labels))
        asked: list[float | None] = [*rates] or [None]
        return [labels.add_model_noise(y, answers, rate) for rate in asked], None
    if arguments.annotations is not None:
        y, answers = _with_answers(y, models(arguments.annotations, warn, labels=arguments.labels))
        return [labels.add_feature_noise(y, answers, rate) for rate in rates], None
    features = numbers_of(arguments.features, warn, labels=arguments.labels)
    with reporting(arguments.quiet) as report:
        annotators = labels.artificial_annotators(
            features,
            y,
            seed=seed,
            progress=False if report is None else report,
            **given(arguments, n_annotators="annotators", n_jobs="jobs"),
        )
    return [labels.add_feature_noise(y, annotators.predictions, rate) for rate in rates], annotators


def _classes(arguments: argparse.Namespace, given: Any) -> list[Any]:
    if arguments.classes is not None:
        return list(classes_named(arguments.classes, given))
    return sorted(set(given.tolist()))


def _with_answers(y: Any, answers: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return labels and answers with their classes in one vocabulary."""
    columns = in_one_vocabulary({("labels",): y, **answers})
    return columns.pop(("labels",)), columns


def _columns(versions: "list[NoisyLabels]") -> "pd.DataFrame":
    import pandas as pd

    if len(versions) == 1:
        return versions[0].to_frame()
    columns: dict[str, Any] = {}
    for made in versions:
        columns[f"label_{made.wanted:g}"] = made.labels
    columns["true"] = versions[0].true_labels
    for made in versions:
        columns[f"mislabelled_{made.wanted:g}"] = made.mislabelled
    return pd.DataFrame(columns)


def _answers(annotators: "ArtificialAnnotators") -> "pd.DataFrame":
    import pandas as pd

    # A comma would end the name in FILE::a,b.
    names = [f"{place}: {name.replace(',', ';')}" for place, name in enumerate(annotators.names, start=1)]
    return pd.DataFrame(dict(zip(names, annotators.predictions, strict=True)))


def _content(
    arguments: argparse.Namespace,
    kind: str,
    versions: "list[NoisyLabels]",
    annotators: "ArtificialAnnotators | None",
) -> dict[str, Any]:
    exact = kind in ("uniform", "class") and not arguments.approximate
    return {
        "kind": "label noise",
        "demele": __version__,
        "noise": kind,
        "exact": exact or kind == "feature",
        "n": versions[0].n,
        "seed": arguments.seed,
        "nested": len(versions) > 1 and kind != "model",
        "versions": [made.to_dict() for made in versions],
        "annotators": None if annotators is None else annotators.to_dict(),
    }
