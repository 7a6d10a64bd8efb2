"""``demele bench``: methods that compare classifiers, and metrics, are measured, yours among them."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ClassVar

import numpy as np

from demele.bench.characterise import Characterisation, check_metrics, load, reference
from demele.bench.comparisons.compared import FIRST_LOOK, check_methods, noise_experiment
from demele.bench.rank_agreement import agreement
from demele.bench.run import QUICK_ROWS, QUICK_SEEDS, chosen_candidates
from demele.cli.engine import Call, Command, Given
from demele.cli.representations import chosen_methods, chosen_metrics, chosen_scenarios
from demele.core.kinds import Data, checked_name
from demele.core.labelled import read_labels
from demele.data.examples import LABEL_SETS, label_example
from demele.files.label_files import (
    classes_like,
    classes_named,
    column,
    in_one_vocabulary,
    models,
    numbers_of,
    suggesting_classes,
)
from demele.files.named import read_frame
from demele.files.python_files import PythonFiles


def _classifiers(given: Given, predictions: str, label_set: str | None, text: str, labels: Any) -> dict[str, Any]:
    """Return predictions, labels, annotations and classes, in one vocabulary."""
    if label_set is None:
        predicted = models(predictions, given.warn, labels=text)
    else:
        found = label_example(checked_name(label_set, "name", LABEL_SETS))
        predicted, labels = dict(found.predictions), found.labels if found.true_labels is None else found.true_labels
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


class Methods(Command):
    """Test methods that compare classifiers, also yours.

    All ordered pairs of classifiers are compared by each method, and on true labels. Type I error: the method selects
    the candidate, true labels keep the baseline. Type II error: the reverse.

    Without files, noise and classifiers are made from digits, with --features from the rows of LABELS. With
    --predictions or --label-set, classifiers that are there are compared. LABELS are taken as true: noise is added to
    them.

    demele list methods lists the methods; FILE.py::name is a function of a Python file. With --store, the same command
    continues where it stopped.

    Examples
    --------
    demele bench methods --quick -o quick.html
    demele bench methods --label-set geirhos_16class_rotation --noise 0.05 --methods overlap,worst-case
    demele bench methods labels.npy --predictions models.csv --methods overlap,mine.py::my_method --store rows.jsonl
    """

    functions: ClassVar = {"classifiers that are there": check_methods, "the whole experiment": noise_experiment}
    usage = ("", "LABELS --predictions FILE", "LABELS --features FILE", "--label-set NAME")
    short = "noise methods measures predictions features label_set kind reference quick store n_jobs"
    called: ClassVar = {"true_labels": "LABELS", "y": "LABELS", "name": "--label-set", "rate": "--noise"}

    def _run(
        self,
        given: Given,
        *,
        predictions: Data = None,
        features: Data = None,
        label_set: str | None = None,
        quick: bool = False,
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
            more = (
                {}
                if features is None
                else {"features": numbers_of(str(features), given.warn, labels=text), "y": labels}
            )
        if quick:
            preset = FIRST_LOOK.keys() & signature(function).parameters.keys() - given.options.keys()
            given.options |= {name: FIRST_LOOK[name] for name in preset}
        like = read_labels(labels, "labels")

        def measures(asked: Any) -> list[Any]:
            return [one if isinstance(one, str) else (one[0], *classes_like(one[1:], like)) for one in asked]

        read = given.read(methods=lambda names: chosen_methods(names, PythonFiles()), measures=measures)
        return given.bind(function, **more, **read)


# ``demele bench metrics`` and ``show``: metrics where the truth is known ----------------------------------------------


@wraps(check_metrics)
def _with_published(*data: Any, **options: Any) -> Any:
    return check_metrics(*data, **options).with_published()


def show(path: object = None, *, alone: bool = False) -> Characterisation:
    """Show a characterisation that was saved, or the stored one of the published metrics.

    Parameters
    ----------
    alone : bool
        Do not show the published metrics under your own.
    """
    found = reference() if path is None else load(path)  # type: ignore[arg-type]
    return found if alone else found.with_published()


class Metrics(Command):
    """Test metrics where the truth is known, also yours.

    Metrics are those of demele and functions (codes, factors) -> float of a Python file: FILE.py::name. They get arrays
    (n_samples, n_codes) and (n_samples, n_factors). --scenarios source,settings are those of the ten criteria of the
    review; a scenario of your own is a demele.bench.Scenario, FILE.py::name. With --store, the same command continues
    where it stopped; metrics of a file that was changed are measured again.

    NAME.json.gz holds every value, for demele bench show; NAME.values.csv and NAME.curves.csv hold a row per value, and
    per point of each curve.

    Examples
    --------
    demele bench metrics --metrics mine.py::best_correlation --quick -o mine.html
    demele bench metrics --metrics mig,sap,mine.py::best_correlation --seeds 20 --store rows.jsonl
    demele bench metrics --seeds source=100,added=20 --jobs 2 --store rows.jsonl -o all.json.gz
    """

    functions: ClassVar = {"": check_metrics}
    short = "metrics scenarios seeds n_rows quick alone store n_jobs"

    def _run(self, given: Given, *, quick: bool = False, alone: bool = False) -> Call:
        """Read metrics and scenarios.

        Parameters
        ----------
        quick : bool
            A first look: few seeds and rows, no slow metrics. About 870 calls of your metric.
        alone : bool
            Do not show the published metrics under your own.
        """
        files = PythonFiles()
        more = given.read(
            metrics=lambda names: chosen_metrics(names, files), scenarios=lambda names: chosen_scenarios(names, files)
        )
        if quick and "metrics" not in more:
            more["metrics"] = [item.name for item in chosen_candidates(None) if not item.slow]
        if quick:
            seeds = given.take("seeds", {})
            more["seeds"] = {**QUICK_SEEDS, **seeds} if isinstance(seeds, dict) else seeds
            more["n_rows"] = given.take("n_rows", QUICK_ROWS)
        return given.bind(check_metrics if alone else _with_published, **more)


class Show(Command):
    """Show a saved test of metrics, or the published one.

    Examples
    --------
    demele bench show all.json.gz -o all.html
    demele bench show --format csv
    """

    functions: ClassVar = {"": show}
    usage = ("[FILE]",)
    short = "alone"
    called: ClassVar = {"path": "FILE"}


# ``demele bench agreement``: agreement of metrics on models that you scored -------------------------------------------


class Agreement(Command):
    """Agreement of metrics on the order of models.

    SCORES is a table with a row for each model and a column for each metric. Kendall's tau-b between the scores of
    every two metrics, with intervals, a verdict that counts all pairs, and the published matrices of 17 metrics.

    Examples
    --------
    demele bench agreement scores.csv -o agreement.html
    demele bench agreement scores.csv --configuration name --collapsed flag --within latents --null permuted.csv
    """

    functions: ClassVar = {"": agreement}
    usage = ("SCORES",)
    short = "metrics configuration collapsed within lower_is_better null halves level seed"

    def _run(self, given: Given) -> Call:
        def table(text: str) -> Any:
            return read_frame(text, given.warn)

        more = given.read(null=table, halves=lambda texts: list(map(table, texts)))
        return given.bind(agreement, table(given.files[0]), **more)
