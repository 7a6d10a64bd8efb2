"""``demele compare``: two classifiers, or a ranking of several, on labels that may be wrong."""

from typing import Any

from demele.classifiers.comparison.compare import compare
from demele.classifiers.comparison.ranking import rank
from demele.cli.engine import Call, Command, Given
from demele.cli.test_set import CALLED, read_test_set
from demele.core.errors import InputError, shortened
from demele.files.prediction_sets import PredictionSet, read_predictions


def two_of(found: PredictionSet) -> dict[str, Any]:
    """Return two classifiers and the labels as the library calls them."""
    import pandas as pd

    if len(found.predictions) != 2:
        named = ", ".join(map(shortened, found.predictions))
        raise InputError(f"expected one column of predictions in each file, got {named}")
    (first, baseline), (second, candidate) = found.predictions.items()
    series = pd.Series(baseline, name=first), pd.Series(candidate, name=second)
    return {"baseline": series[0], "candidate": series[1], "labels": found.labels}


def _run(given: Given) -> Call:
    files = given.files
    found, known = given.call(read_test_set, given, files, single=len(files) == 3)
    several = len(found.predictions) != 2 if found.fields else len(files) != 3
    if not several:
        return given.bind(compare, **two_of(found), **known)
    if len(found.predictions) < 2:
        raise InputError(
            f"{files[0]}: expected the predictions of at least 2 models, one column each, got 1; "
            "to compare two files, give BASELINE CANDIDATE LABELS"
        )
    return given.bind(rank, found.predictions, found.labels, **known)


COMPARE = Command(
    {"two classifiers": compare, "several models": rank},
    ("BASELINE CANDIDATE LABELS", "PREDICTIONS... LABELS", "LOG..."),
    _run,
    short="noise audit method measure of groups classes id level seed",
    readers=(read_predictions, read_test_set),
    without="single",
    called=CALLED,
    details="""\
Prefers the baseline unless the candidate is significantly better, and reports how many wrong labels could reverse the
result. Files have the same rows with one class in each; see demele help files.

methods:
  worst-case           exact paired worst case (default for accuracy); without --noise it is McNemar's exact test,
                       which takes every label as correct
  overlap              overlap of the two intervals; takes every label as correct (default for other measures)
  worst-case-overlap   overlap after the worst bias of both; needs --noise
  audit                expert labels of a random sample (default with --audit)
  sequential           expert labels one at a time; see demele audit next
  hard-rows            overlap, with the hardest rows given to the baseline; needs --difficulty
  cleaned              overlap after a cleaning; needs --cleaning
  agreement            agreement with a third classifier; needs --reference and independent errors
  true-labels          overlap on the true labels; needs --true-labels
""",
    examples="""\
demele compare data.csv::old data.csv::new data.csv::label
demele compare models.csv labels.npy --noise 0.03 -o report.html
demele compare old/samples_mmlu.jsonl new/samples_mmlu.jsonl --noise 0.03 --fail-unless candidate
""",
)
