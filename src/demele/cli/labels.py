"""``demele labels``: label noise is made and estimated, and labels are cleaned."""

from collections.abc import Callable
from typing import Any, ClassVar

from demele.cli.engine import Call, Command, Given, flag_of
from demele.core.errors import InputError
from demele.core.kinds import Data
from demele.core.labelled import read_labels
from demele.files.audit_files import refuse_weighted
from demele.files.label_files import (
    classes_named,
    column,
    in_one_vocabulary,
    models,
    numbers_of,
    read_answers,
    read_transition,
)
from demele.labels.cleaned.harm import clean_labels
from demele.labels.joined.crowds import aggregate
from demele.labels.made.noise import add_noise
from demele.noise.transition import count_labels


def _classes(labels: Any) -> Callable[[str], Any]:
    return lambda text: classes_named(text, read_labels(labels, "labels"))


class Corrupt(Command):
    """Make labels wrong, with known truth.

    -o FILE.csv, .tsv, .parquet or .npz holds the noisy labels, the true ones and which are wrong. NAME.annotations.csv
    holds the answers of the annotators that were trained on --features, for --annotations.

    Examples
    --------
    demele labels corrupt data.csv::label --noise 0.05,0.1 -o noisy.csv
    demele labels corrupt data.csv::label --noise transition.csv -o noisy.csv
    demele labels corrupt data.csv::label --noise 0.1 --features data.csv::a,b,c -o noisy.csv -o noisy.annotations.csv
    """

    functions: ClassVar = {"": add_noise}
    usage = ("LABELS",)
    short = "noise kind symmetric features predictions seed"
    called: ClassVar = {"rate": "--noise"}

    def _run(self, given: Given) -> Call:
        (text,), warn = given.files, given.warn
        labels = column(text, warn)

        def noise(words: list[float | str]) -> Any:
            files = [word for word in words if isinstance(word, str)]
            if files and len(words) > 1:
                raise InputError("--noise: expected shares, or one file of a transition matrix")
            return read_transition(files[0], read_labels(labels, "labels"), warn) if files else words

        data = given.read(noise=noise)
        for name in ("predictions", "annotations"):
            if name in given.options:
                columns = in_one_vocabulary({("labels",): labels, **models(given.take(name), warn, labels=text)})
                labels, data[name] = columns.pop(("labels",)), columns
        more = given.read(features=lambda file: numbers_of(file, warn, labels=text), classes=_classes(labels))
        return given.bind(add_noise, labels, **data, **more)


class Aggregate(Command):
    """Join the answers of several annotators.

    ANSWERS is a long table with columns item (or task), annotator (or worker) and answer (or label), or with --wide a
    table with a column per annotator. The majority is always shown for comparison: it can be better. --gold and --given
    are files of two columns, items and labels, or of labels in the order of the items.

    -o FILE.csv, .tsv, .parquet or .npz holds the label of each item with its confidence. NAME.annotators.csv holds a
    row per annotator; NAME.noise.csv, with --given, how classes are mistaken, for --noise of assess, compare and
    corrupt. --true-labels and --given count the labels of a random sample: -o noise.csv is such a file, too.

    Examples
    --------
    demele labels aggregate crowd.csv --agreement -o labels.csv -o crowd.annotators.csv
    demele labels aggregate models.csv --wide --given data.csv::label -o crowd.noise.csv
    demele labels aggregate --true-labels audit.csv::true_label --given audit.csv::given_label -o noise.csv
    """

    functions: ClassVar = {"answers": aggregate, "--true-labels": count_labels}
    usage = ("ANSWERS [--given FILE]", "--true-labels FILE --given FILE")
    short = "method gold given agreement classes item annotator answer wide seed"
    readers = (read_answers,)
    called: ClassVar = {"annotations": "ANSWERS", "annotators": "ANSWERS", "given_labels": "--given"}

    def _run(self, asked: Given, *, true_labels: Data = None) -> Call:
        """Read answers, or the true labels of a sample.

        Parameters
        ----------
        true_labels : array-like of shape (n,), optional
            True labels of a random sample, whose given labels are counted.
        """
        files = asked.read(given=str, gold=str, features=str)
        noise = asked.written(".noise.csv")
        if noise and "given" not in files:
            raise InputError(f"{noise[0]}: needs --given, the labels whose noise is estimated")
        if true_labels is None:
            answers, more = asked.call(read_answers, *asked.files, asked.warn, files=files)
            return asked.bind(aggregate, answers, classes=None, **more)
        refuse_weighted(str(true_labels), "--true-labels")
        if len(files) > 1:
            raise InputError(f"{flag_of([*files][1])}: is for answers of annotators")
        columns = {"true_labels": str(true_labels), "given_labels": files["given"]}
        columns = in_one_vocabulary({name: column(text, asked.warn) for name, text in columns.items()})
        return asked.bind(count_labels, **columns, **asked.read(classes=_classes(columns["given_labels"])))


class Clean(Command):
    """Find and clean labels that are likely wrong.

    With --relabel or --drop, -o FILE.csv, .tsv, .parquet or .npz holds the labels after the cleaning; else the
    suspects. NAME.suspects.csv holds a flag and a label per row, for demele compare --cleaning.

    Examples
    --------
    demele labels clean data.csv::label data.csv::a,b,c
    demele labels clean data.csv::label data.csv::a,b,c --method knn --relabel -o cleaned.csv -o cleaned.suspects.csv
    demele compare data.csv::old data.csv::new data.csv::label --method cleaned --cleaning cleaned.suspects.csv
    """

    functions: ClassVar = {"": clean_labels}
    usage = ("LABELS FEATURES", "LABELS --probabilities FILE")
    short = "method relabel drop probabilities classes seed"
    called: ClassVar = {"y": "LABELS", "features_or_probabilities": "FEATURES"}

    def _run(self, given: Given) -> Call:
        text, *features = given.files
        others = [given.options["true_labels"]] if "true_labels" in given.options else []

        def numbers(file: str) -> Any:
            return numbers_of(file, given.warn, labels=text, others=others)

        true = given.read(true_labels=lambda file: column(file, given.warn))
        columns = in_one_vocabulary({"labels": column(text, given.warn), **true})
        more = given.read(probabilities=numbers, classes=_classes(columns["labels"]))
        return given.bind(clean_labels, columns.pop("labels"), *map(numbers, features), **columns, **more)
