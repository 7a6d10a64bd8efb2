"""``demele bench methods``: the methods that compare classifiers on noisy labels are measured, yours among them."""

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from demele.bench.comparisons.compared import check_methods
from demele.bench.comparisons.experiment import FIRST_LOOK, noise_experiment
from demele.cli.engine import Call, Command, Given
from demele.cli.functions import chosen_methods
from demele.core.errors import InputError
from demele.core.kinds import Data
from demele.core.labelled import read_labels
from demele.core.names import checked_name
from demele.data.examples import LABEL_SETS, label_example
from demele.files.column_files import numbers_of
from demele.files.label_files import (
    classes_like,
    classes_named,
    column,
    in_one_vocabulary,
    models,
    suggesting_classes,
)
from demele.files.python_files import PythonFiles


def _read(
    given: Given, *, predictions: Data = None, features: Data = None, label_set: str | None = None, quick: bool = False
) -> Call:
    """Read what is compared.

    Parameters
    ----------
    predictions : mapping of str to array-like, optional
        Predicted classes of classifiers, a column each.
    label_set : str, optional
        Predictions and labels that come with demele.
    quick : bool
        A first look: 20 classifiers, two noise rates, six methods.
    """
    text = given.files[0] if given.files else ""
    labels: Any = column(text, given.warn) if text else np.zeros(1, dtype=np.int64)  # the classes of the digits
    if label_set is not None or predictions is not None:
        function: Callable[..., Any] = check_methods
        more = _classifiers(given, str(predictions), label_set, text, labels)
        labels = more["true_labels"]
    else:
        function = noise_experiment
        more = {} if features is None else {"features": numbers_of(str(features), given.warn, labels=text), "y": labels}
    if quick:
        preset = FIRST_LOOK.keys() & signature(function).parameters.keys() - given.options.keys()
        given.options |= {name: FIRST_LOOK[name] for name in preset}
    like = read_labels(labels, "labels")

    def measures(asked: Any) -> list[Any]:
        return [one if isinstance(one, str) else (one[0], *classes_like(one[1:], like)) for one in asked]

    read = given.read(methods=lambda names: chosen_methods(names, PythonFiles()), measures=measures)
    return given.bind(function, **more, **read)


def _classifiers(given: Given, predictions: str, label_set: str | None, text: str, labels: Any) -> dict[str, Any]:
    """Return predictions, labels, annotations and classes, in one vocabulary."""
    if label_set is None:
        predicted = models(predictions, given.warn, labels=text)
    else:
        found = label_example(checked_name(label_set, "name", LABEL_SETS))
        predicted, labels = dict(found.predictions), found.labels if found.true_labels is None else found.true_labels
        if len(predicted) < 2:
            raise InputError(f"--label-set: expected the predictions of at least 2 models, got {len(predicted)}")
    votes = given.read(annotations=lambda file: models(file, given.warn, labels=text)).get("annotations", {})
    columns: dict[Any, Any] = {("annotator", name): values for name, values in votes.items()}
    columns = in_one_vocabulary({**columns, **predicted, ("labels",): labels})
    labels = columns.pop(("labels",))
    more: dict[str, Any] = {"predictions": columns, "true_labels": labels}
    if votes:
        more["annotations"] = {name: columns.pop(("annotator", name)) for name in votes}
    if label_set is not None:
        more["classes"] = list(found.classes)
    more |= given.read(classes=lambda word: classes_named(word, read_labels(labels, "labels")))
    given.within.enter_context(suggesting_classes([*columns.values(), labels]))
    return more


METHODS = Command(
    {"classifiers that are there": check_methods, "the whole experiment": noise_experiment},
    ("", "LABELS --predictions FILE", "LABELS --features FILE", "--label-set NAME"),
    lambda given: given.call(_read, given),
    short="noise methods measures predictions features label_set kind reference quick store n_jobs",
    readers=(_read,),
    called={"true_labels": "LABELS", "y": "LABELS", "name": "--label-set", "rate": "--noise"},
    details="""\
All ordered pairs of classifiers are compared by each method, and on true labels. Type I error: the method selects the
candidate, true labels keep the baseline. Type II error: the reverse.

Without files, noise and classifiers are made from digits, with --features from the rows of LABELS. With --predictions
or --label-set, classifiers that are there are compared. LABELS are taken as true: noise is added to them.

demele list methods lists the methods; FILE.py::name is a function of a Python file. With --store, the same command
continues where it stopped.
""",
    examples="""\
demele bench methods --quick -o quick.html
demele bench methods --label-set geirhos_16class_rotation --noise 0.05 --methods overlap,worst-case
demele bench methods labels.npy --predictions models.csv --methods overlap,mine.py::my_method --store rows.jsonl
""",
)
