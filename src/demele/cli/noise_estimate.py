"""``demele noise estimate``: what several annotators, or experts, say of labels and of how wrong these are."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.cli.noise_answers import ByItem, Read, aligned, read_answers
from demele.cli.options import command, given, option, refuse, told_by
from demele.cli.output import as_text, document_text, emit, format_of, log, say_written, warned, warnings_in_one_line
from demele.cli.targets import check_targets
from demele.core.errors import InputError
from demele.core.outputs import write_whole
from demele.files.audit_files import DESIGN
from demele.files.column_files import check_columns_file, write_columns
from demele.files.label_files import classes_named, column, in_one_vocabulary
from demele.files.named import read_table, split_name
from demele.files.sheets import csv_text
from demele.files.table_files import Warn
from demele.report.document import Document, Table
from demele.report.words import count, rate, written

if TYPE_CHECKING:
    import pandas as pd

    from demele.labels import Consensus, TransitionCounts, TransitionMatrix

_DESCRIPTION = """\
Estimate labels and their noise: from the answers of several annotators, or from the true labels of a random sample.

  demele noise estimate ANSWERS                           several annotators: labels, confidence, who is right
  demele noise estimate --true-labels FILE --given FILE   a sample with true labels: how classes are mistaken

ANSWERS is a long table with columns item (or task), annotator (or worker) and answer (or label), or with --wide a table
with a column per annotator. The majority is always shown for comparison: it can be better.
"""
_EXAMPLES = """\
examples:
  demele noise estimate crowd.csv --agreement --each-annotator
  demele noise estimate crowd.csv --method dawid-skene --each-annotator
  demele noise estimate crowd.csv --each-annotator --format csv --output labels.csv     (annotators to stdout)
  demele noise estimate crowd.csv --item task --annotator worker --answer label --method bayesian --output labels.csv
  demele noise estimate models.csv --wide --given data.csv::label --save-transition noise.csv
  demele noise estimate crowd.csv --gold gold.csv::item,label
  demele noise estimate --true-labels audit.csv::true_label --given audit.csv::given_label
  demele noise estimate --demo --agreement

--save-transition writes what demele assess, compare and noise add read with --transition.
Exit status: 0 done, 2 a mistake in the arguments or the data.
"""
_METHODS = ("blend", "majority", "one-coin", "own-prior", "dawid-skene", "bayesian")
_DEMO = "mozafari_1000"
#: Options that make sense with the answers of annotators only, and those of one method only.
_OF_ANSWERS = ("item", "annotator", "answer", "no_answer", "gold", "features", "method", "scale", "output")
_OF_METHOD = {
    "smoothing": "dawid-skene",
    "strength": "own-prior",
    "features": "bayesian",
    "feature_model": "bayesian",
    "samples": "bayesian",
    "warmup": "bayesian",
    "chains": "bayesian",
}
#: Options of the Bayesian consensus, with what is usual.
_SWEEPS = (("samples", 500, "sweeps that are kept"), ("warmup", 250, "sweeps before these"), ("chains", 4, "chains"))


def add_action(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele noise estimate`` to the actions."""
    parser = command(
        actions,
        "estimate",
        _run,
        help="estimate labels and their noise from annotators or experts",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
        called={"annotators": "ANSWERS"},
    )
    option(
        parser,
        "answers",
        argument="annotations",
        nargs="?",
        metavar="ANSWERS",
        help="table of answers",
    )
    parser.add_argument("--demo", action="store_true", help="answers of a real crowd, whose right ones are known")
    table = parser.add_argument_group("the table of answers")
    option(table, "--item", metavar="NAME", help="its column of items, also with --wide (default: item, task, ...)")
    option(table, "--annotator", metavar="NAME", help="its column of annotators (default: annotator, worker, ...)")
    option(table, "--answer", metavar="NAME", help="its column of answers (default: answer, label, ...)")
    option(table, "--wide", action="store_true", help="it has a column per annotator, a row per item")
    option(
        table,
        "--no-answer",
        argument="missing",
        metavar="VALUE",
        help="value that means no answer with --wide",
    )
    option(
        table,
        "--classes",
        help="all classes, in their order (default: the sorted answers); if the first begins with -, write "
        "--classes=-1,...",
    )
    what = parser.add_argument_group("what is estimated")
    option(
        what,
        "--method",
        choices=_METHODS,
        help="how answers are joined (default: blend, the mean of the vote and of models that are drawn towards one "
        "accuracy per annotator)",
    )
    option(what, "--smoothing", type=float, metavar="S", help="dawid-skene: pseudo-answers (default: 0)")
    option(
        what,
        "--strength",
        type=float,
        metavar="S",
        help="own-prior: pseudo-answers of each row of a profile (default: 5)",
    )
    option(what, "--features", help="bayesian: features of the items, in their order or with a column item")
    option(what, "--feature-model", choices=("counts", "normal"), help="bayesian: what they are (default: counts)")
    for name, usual, told in _SWEEPS:
        option(
            what, f"--{name}", argument=f"n_{name}", type=int, metavar="N", help=f"bayesian: {told} (default: {usual})"
        )
    option(
        what,
        "--given",
        argument=("given", "given_labels"),
        metavar="FILE",
        help="labels whose noise is estimated, of the items or of the sample",
    )
    option(what, "--true-labels", help="true labels of a random sample, with --given")
    option(what, "--gold", metavar="FILE", help="true labels of some items, to check the estimates")
    option(what, "--agreement", action="store_true", help="how far annotators agree, with intervals")
    option(
        what,
        "--scale",
        choices=("nominal", "ordinal", "interval", "ratio"),
        help="of the classes, for --agreement (default: nominal)",
    )
    option(
        what,
        "--each-annotator",
        action="store_true",
        help="show how good each annotator is; with --format csv, nothing else",
    )
    option(what, "--level", default=0.95)
    option(what, "--seed", default=0)
    out = parser.add_argument_group("output")
    option(out, "--save-transition", type=Path, metavar="FILE", help="write how classes are mistaken (.csv)")
    option(
        out,
        "--output",
        help="write the label of each item with its confidence here: .csv, .tsv, .parquet, .json or .npz",
    )
    option(
        out,
        "--format",
        help="of the results (default: table on a terminal, json otherwise); csv: the same to stdout (of --true-labels,"
        " the counts; with --each-annotator, a row per annotator), instead of what is said",
    )
    option(out, "--explain", "--force", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    _check(arguments)
    warn, words = warned(arguments.quiet), told_by(arguments)
    with warnings_in_one_line(quiet=arguments.quiet, words=words):
        if arguments.true_labels is not None:
            counts, documents, content = _counted(arguments, warn)
            transition: TransitionCounts | TransitionMatrix | None = counts
            frame = shown = _named_transition(counts)
        else:
            found, transition, documents, content = _estimated(arguments, warn)
            frame = found.to_frame()
            shown = found.annotator_frame() if arguments.each_annotator else frame
    if arguments.output is not None:
        write_columns(frame, arguments.output)
        content.pop("items", None)  # they are in that file
    if arguments.save_transition is not None and transition is not None:
        write_whole(arguments.save_transition, csv_text(_named_transition(transition)))

    def table() -> str:
        return "\n".join(document_text(one, explain=arguments.explain, words=words) for one in documents)

    emit(as_text(format_of(arguments.format, None), table=table, data=lambda: content, frame=lambda: shown), None)
    say_written(arguments, output="labels written to", save_transition="transition written to")


# Before any computing --------------------------------------------------------------------------------------------


def _check(arguments: argparse.Namespace) -> None:
    sources = [bool(arguments.answers), arguments.demo, arguments.true_labels is not None]
    if sum(sources) > 1:
        raise InputError("ANSWERS, --true-labels and --demo: expected one of them")
    if not any(sources):
        raise InputError("ANSWERS: expected one of ANSWERS, --true-labels FILE with --given FILE, and --demo")
    if arguments.true_labels is not None:
        if arguments.given is None:
            raise InputError("--given: expected the labels that were given to the rows of --true-labels")
        own = (*_OF_ANSWERS, *_OF_METHOD, "wide", "agreement", "each_annotator")
        refuse(arguments, own, "is for answers of annotators")
    if arguments.demo:
        own = ("item", "annotator", "answer", "wide", "no_answer", "classes", "features", "given", "gold")
        refuse(arguments, own, "is for a file of answers, and --demo brings its own")
    if not arguments.wide:
        refuse(arguments, ("no_answer",), "is for --wide; a long table has no rows where there is no answer")
    if not arguments.agreement:
        refuse(arguments, ("scale",), "is for --agreement, which is not asked for")
    method = arguments.method or _METHODS[0]
    for name, of in _OF_METHOD.items():
        if of != method:
            refuse(arguments, (name,), f"is for --method {of}, not {method}")
    if arguments.features is None:
        refuse(arguments, ("feature_model",), "says what --features are, which are not given")
    if arguments.given is None:
        refuse(arguments, ("save_transition",), "needs --given, the labels whose noise is estimated")
    if arguments.save_transition is not None and arguments.save_transition.suffix.lower() != ".csv":
        raise InputError(f"--save-transition: writes a table; call it {arguments.save_transition.stem}.csv")
    if arguments.format == "csv" and arguments.output is not None and not arguments.each_annotator:
        raise InputError("--format csv: writes the labels to stdout, and --output to a file; leave one of them out")
    check_columns_file(arguments.output, "--output")
    read = (arguments.answers, arguments.given, arguments.true_labels, arguments.gold, arguments.features)
    check_targets(arguments, ("output", "save_transition"), files=read)


# Annotators ------------------------------------------------------------------------------------------------------


def _estimated(
    arguments: argparse.Namespace, warn: Warn
) -> "tuple[Consensus, TransitionMatrix | None, list[Document], dict[str, Any]]":
    from demele import labels
    from demele.labels.documents import annotators_table

    read = _demonstration(arguments.quiet) if arguments.demo else read_answers(arguments, warn)
    found = _joined(arguments, read)
    documents, content = [found.document()], _content(found)
    transition = None
    if read.gold is not None:
        document, content["gold"] = _held_against(read, found, arguments.level, warn)
        documents.append(document)
    if read.given is not None:
        transition, document, content["given"] = _noise_of(read, found, warn)
        documents.append(document)
    if arguments.each_annotator:
        title = f"{count(len(found.annotators), 'annotator')}, the least informative first."
        documents.append(Document(kind="Annotators", title="Annotators", headline=title, table=annotators_table(found)))
    if arguments.agreement:
        agreement = labels.agreement(
            read.answers, scale=arguments.scale or "nominal", level=arguments.level, seed=arguments.seed
        )
        documents.append(agreement.document())
        content["agreement"] = agreement.to_dict()
    return found, transition, documents, content


def _joined(arguments: argparse.Namespace, read: Read) -> "Consensus":
    from demele import labels

    method: Any = arguments.method or _METHODS[0]
    if method == "dawid-skene" and arguments.smoothing is not None:
        return labels.dawid_skene(read.answers, smoothing=arguments.smoothing, seed=arguments.seed)
    if method == "own-prior" and arguments.strength is not None:
        return labels.dawid_skene(read.answers, prior="own", strength=arguments.strength, seed=arguments.seed)
    if method != "bayesian":
        return labels.consensus(read.answers, method=method, seed=arguments.seed)
    options = given(arguments, "feature_model", n_samples="samples", n_warmup="warmup", n_chains="chains")
    return labels.bayesian_consensus(
        read.answers, features=read.features, level=arguments.level, seed=arguments.seed, **options
    )


def _content(found: "Consensus") -> dict[str, Any]:
    """Return the consensus, with the majority."""
    content = found.to_dict()
    content["per_class"] = [
        {
            "class": name,
            "share": float(share),
            "items": int(np.count_nonzero(found.labels == name)),
            "majority": int(np.count_nonzero(found.majority == name)),
        }
        for name, share in zip(found.classes, found.proportions, strict=True)
    ]
    return content


def _noise_of(read: Read, found: "Consensus", warn: Warn) -> "tuple[TransitionMatrix, Document, dict[str, Any]]":
    if read.given is None:
        raise InputError("--given: expected labels")
    part, given = aligned(read.given, found, "--given", warn)
    transition = part.noise(given)
    wrong, unlike = part.wrong_share(given), float(np.mean(given != part.majority))
    content: dict[str, Any] = {
        "n": int(given.size),
        "wrong_share": wrong,
        "unlike_majority": unlike,
        "ties": int(part.tied.sum()),
    }
    headline = (
        f"By the consensus {written(wrong, 'percent')} of {count(given.size, 'given label')} are wrong; "
        f"{written(unlike, 'percent')} differ from the majority vote."
    )
    content["transition"] = transition.to_dict()
    return transition, replace(transition.document(), headline=headline), content


def _held_against(read: Read, found: "Consensus", level: float, warn: Warn) -> tuple[Document, dict[str, Any]]:
    """Return how many labels of the consensus, and of the majority vote, are the right ones."""
    from demele.core.proportions import score_interval

    if read.gold is None:
        raise InputError("--gold: expected labels")
    part, gold = aligned(read.gold, found, "--gold", warn)
    if not set(gold.tolist()) & set(part.classes):
        raise InputError(
            f"{read.gold.text}: none of its classes, such as {gold[:1].tolist()[0]!r}, is among the answers, such as "
            f"{part.classes[0]!r}"
        )
    n = int(gold.size)
    content: dict[str, Any] = {"n": n, "level": level, "ties": int(part.tied.sum())}
    rows = []
    for name, said in (("consensus", part.labels), ("majority", part.majority)):
        right = int(np.count_nonzero(said == gold))
        low, high = map(float, score_interval(right, n, level=level))
        content[name] = {"right": right, "accuracy": right / n, "low": low, "high": high}
        rows.append((name, right / n, (low, high)))
    (_, ours, _), (_, vote, _) = rows
    document = Document(
        kind="True labels",
        title="True labels",
        headline=f"{written(ours, 'percent')} of {count(n, 'label')} taken as true are those of the consensus, "
        f"{written(vote, 'percent')} those of the majority vote.",
        table=Table("Accuracy", {"Labels": "text", "Accuracy": "percent", "Interval": "percent"}, rows),
        methods=[f"Intervals are those of Wilson, level {rate(level)}."],
    )
    return document, content


def _demonstration(quiet: bool) -> Read:
    """Return the answers of a real crowd, and the right ones."""
    from demele.data import crowd_set
    from demele.labels import Annotations

    crowd = crowd_set(_DEMO)
    if not quiet:
        log(f"demele: {crowd.provenance}")
    answers = Annotations(
        crowd.item, crowd.annotator, crowd.answer, classes=crowd.classes, all_items=crowd.items.tolist()
    )
    gold = ByItem("--demo", [str(item) for item in crowd.gold], np.array(list(crowd.gold.values()), dtype=object))
    return Read(answers, None, gold, None)


# Experts ---------------------------------------------------------------------------------------------------------


def _counted(arguments: argparse.Namespace, warn: Warn) -> "tuple[TransitionCounts, list[Document], dict[str, Any]]":
    """Count how true classes are labelled in a sample."""
    from demele.core.labelled import read_labels
    from demele.core.result import plain
    from demele.labels import estimate_transition
    from demele.noise.documents import counts_document

    _refuse_weighted(arguments.true_labels)
    columns = in_one_vocabulary({name: column(getattr(arguments, name), warn) for name in ("true_labels", "given")})
    labels = read_labels(columns["given"], "given_labels")
    classes = None if arguments.classes is None else classes_named(arguments.classes, labels)
    counts = estimate_transition(columns["true_labels"], columns["given"], classes=classes)
    content = {
        **counts.to_dict(),
        "n": counts.n,
        "wrong": counts.wrong,
        "rate": counts.rate,
        "interval": plain(counts.rate_interval(level=arguments.level)),
        "per_class": plain(counts.per_class(level=arguments.level)),
        "notes": plain(counts.notes),
    }
    return counts, [counts_document(counts, arguments.level)], content


def _refuse_weighted(text: str) -> None:
    """Refuse rows that demele audit drew more often where models disagree: plain counts of them mislead."""
    path, picked = split_name(text)
    if not picked or path.suffix.lower() in (".npy", ".npz"):
        return
    table = read_table(str(path), warn=lambda _: None)
    if isinstance(table, np.ndarray) or DESIGN not in table:
        return
    odd = sorted({str(value) for value in table[DESIGN].dropna()} - {"uniform"})
    if odd:
        raise InputError(
            f"--true-labels: the rows of {path} were drawn {odd[0]}, not uniformly, so that counts of them "
            "mislead; demele assess --audit weighs them"
        )


def _named_transition(transition: "TransitionCounts | TransitionMatrix") -> "pd.DataFrame":
    """Return a table whose first column names the true classes, as --transition reads it."""
    frame = transition.to_frame()
    return frame.set_axis([str(name) for name in frame.columns], axis=1).reset_index()
