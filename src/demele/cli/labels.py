"""``demele labels``: label noise is made and estimated, and labels are cleaned."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from demele.cli.engine import Command, Given, flag_of
from demele.core.errors import InputError
from demele.core.kinds import Data, Kind, items_in, share_or_file
from demele.core.labelled import read_labels
from demele.files.answer_files import read_answers
from demele.files.audit_files import refuse_weighted
from demele.files.column_files import numbers_of
from demele.files.label_files import classes_named, column, in_one_vocabulary, models, read_transition
from demele.labels.cleaned.harm import clean_labels
from demele.labels.joined.aggregate import aggregate
from demele.labels.made.corrupt import corrupt
from demele.noise.sample import count_labels


def _shares(text: str) -> list[float | str]:
    return list(map(share_or_file, items_in(text)))


_NOISE = Kind("RATE|FILE", _shares, is_file=True)


def _corrupt(given: Given, *, noise: Annotated[Sequence[object], _NOISE] = ()) -> "partial[Any]":
    """Read labels, and what makes the noise.

    Parameters
    ----------
    noise : sequence
        Shares of labels to make wrong, or a transition matrix.
    """
    (text,) = given.expected(1, 1)
    labels, warn = column(text, given.warn), given.warn
    data: dict[str, Any] = {}
    files = [word for word in noise if isinstance(word, str)]
    if noise:
        data["noise"] = read_transition(files[0], read_labels(labels, "labels"), warn) if files else list(noise)
        if files and len(noise) > 1:
            raise InputError("--noise: expected shares, or one file of a transition matrix")
    for name in ("predictions", "annotations"):
        if name in given.options:
            columns = in_one_vocabulary({("labels",): labels, **models(given.take(name), warn, labels=text)})
            labels = columns.pop(("labels",))
            data[name] = columns
    if "features" in given.options:
        data["features"] = numbers_of(given.take("features"), warn, labels=text)
    if "classes" in given.options:
        data["classes"] = classes_named(given.take("classes"), read_labels(labels, "labels"))
    return given.bind(corrupt, labels, **data)


def _aggregate(asked: Given, *, true_labels: Data = None) -> "partial[Any]":
    """Read answers, or the true labels of a sample.

    Parameters
    ----------
    true_labels : array-like of shape (n,), optional
        True labels of a random sample, whose given labels are counted.
    """
    files = {name: asked.take(name) for name in ("given", "gold", "features") if name in asked.options}
    noise = next((path for path in asked.options.get("output", ()) if path.name.endswith(".noise.csv")), None)
    if noise is not None and "given" not in files:
        raise InputError(f"{noise}: needs --given, the labels whose noise is estimated")
    if true_labels is None:
        read = asked.call(read_answers, asked.expected(1, 1)[0], asked.warn, files=files)
        more = {name: getattr(read, name) for name in files}
        return asked.bind(aggregate, read.answers, classes=None, **more)
    asked.expected(0, 0)
    refuse_weighted(str(true_labels), "--true-labels")
    if files.keys() != {"given"}:
        stray = next((name for name in files if name != "given"), "given")
        why = "is for answers of annotators" if stray in files else "expected the given labels of --true-labels"
        raise InputError(f"{flag_of(stray)}: {why}")
    columns = {"true_labels": str(true_labels), "given_labels": files["given"]}
    columns = in_one_vocabulary({name: column(text, asked.warn) for name, text in columns.items()})
    data: dict[str, Any] = {}
    if "classes" in asked.options:
        data["classes"] = classes_named(asked.take("classes"), read_labels(columns["given_labels"], "given_labels"))
    return asked.bind(count_labels, **columns, **data)


def _clean(given: Given) -> "partial[Any]":
    text, *features = given.expected(1, 2)
    true = given.take("true_labels")
    columns = {"labels": column(text, given.warn)} | ({"true_labels": column(true, given.warn)} if true else {})
    columns = in_one_vocabulary(columns)
    labels, others = columns.pop("labels"), [true] if true else []
    data: dict[str, Any] = dict(columns)
    if "probabilities" in given.options:
        data["probabilities"] = numbers_of(given.take("probabilities"), given.warn, labels=text, others=others)
    if "classes" in given.options:
        data["classes"] = classes_named(given.take("classes"), read_labels(labels, "labels"))
    tables = [numbers_of(file, given.warn, labels=text, others=others) for file in features]
    return given.bind(clean_labels, labels, *tables, **data)


CORRUPT = Command(
    {"": corrupt},
    ("LABELS --noise RATE|FILE",),
    lambda given: given.call(_corrupt, given),
    short="noise kind symmetric features predictions seed",
    readers=(_corrupt,),
    called={"labels": "LABELS"},
    details="""\
Make labels wrong, with known truth: at random, per class, per features, or as models predict.

-o FILE.csv, .tsv, .parquet or .npz holds the noisy labels, the true ones and which are wrong. NAME.annotations.csv
holds the answers of the annotators that were trained on --features, for --annotations.
""",
    examples="""\
demele labels corrupt data.csv::label --noise 0.05,0.1 -o noisy.csv
demele labels corrupt data.csv::label --noise transition.csv -o noisy.csv
demele labels corrupt data.csv::label --noise 0.1 --features data.csv::a,b,c -o noisy.csv -o noisy.annotations.csv
""",
)
AGGREGATE = Command(
    {"answers": aggregate, "--true-labels": count_labels},
    ("ANSWERS", "--true-labels FILE --given FILE"),
    lambda given: given.call(_aggregate, given),
    short="method gold given agreement classes item annotator answer wide seed",
    readers=(read_answers, _aggregate),
    called={"annotations": "ANSWERS", "annotators": "ANSWERS", "given_labels": "--given"},
    details="""\
Aggregate the answers of several annotators: labels, confidence, and how good each annotator is.

ANSWERS is a long table with columns item (or task), annotator (or worker) and answer (or label), or with --wide a table
with a column per annotator. The majority is always shown for comparison: it can be better. --gold and --given are files
of two columns, items and labels, or of labels in the order of the items.

-o FILE.csv, .tsv, .parquet or .npz holds the label of each item with its confidence. NAME.annotators.csv holds a row
per annotator; NAME.noise.csv, with --given, how classes are mistaken, for --noise of assess, compare and corrupt.
--true-labels and --given count the labels of a random sample: -o noise.csv is such a file, too.
""",
    examples="""\
demele labels aggregate crowd.csv --agreement -o labels.csv -o crowd.annotators.csv
demele labels aggregate models.csv --wide --given data.csv::label -o crowd.noise.csv
demele labels aggregate --true-labels audit.csv::true_label --given audit.csv::given_label -o noise.csv
""",
)
CLEAN = Command(
    {"": clean_labels},
    ("LABELS FEATURES", "LABELS --probabilities FILE"),
    _clean,
    short="method relabel drop probabilities classes seed",
    called={"labels": "LABELS", "y": "LABELS", "features": "FEATURES", "features_or_probabilities": "FEATURES"},
    details="""\
Find labels that are likely to be wrong, and report what a cleaning costs each class.

With --relabel or --drop, -o FILE.csv, .tsv, .parquet or .npz holds the labels after the cleaning; else the suspects.
NAME.suspects.csv holds a flag and a label per row, for demele compare --cleaning.
""",
    examples="""\
demele labels clean data.csv::label data.csv::a,b,c
demele labels clean data.csv::label data.csv::a,b,c --method knn --relabel -o cleaned.csv -o cleaned.suspects.csv
demele compare data.csv::old data.csv::new data.csv::label --method cleaned --cleaning cleaned.suspects.csv
""",
)
