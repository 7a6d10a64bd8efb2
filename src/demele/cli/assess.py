"""``demele assess``: one classifier, and labels that may be wrong."""

from demele.classifiers.measures.assess import assess
from demele.cli.engine import Call, Command, Given
from demele.cli.test_set import CALLED, read_test_set
from demele.core.errors import InputError, shortened
from demele.files.prediction_sets import read_predictions


def _run(given: Given) -> Call:
    found, known = given.call(read_test_set, given, given.files, single=len(given.files) == 2)
    if len(found.predictions) != 1:
        named = ", ".join(map(shortened, found.predictions))
        raise InputError(f"expected one model, got {named}; demele compare ranks several")
    (predictions,) = found.predictions.values()
    if found.open:  # measures of single texts
        known |= {"per_class": False, "average": ()}
    return given.bind(assess, predictions, found.labels, **known)


ASSESS = Command(
    {"": assess},
    ("PREDICTIONS LABELS", "LOG"),
    _run,
    short="noise audit level groups classes id",
    readers=(read_predictions, read_test_set),
    without="single",
    called=CALLED,
    examples="""\
demele assess data.csv::predicted data.csv::label
demele assess predicted.npy labels.npy --noise 0.03 -o report.html
demele assess data.csv::predicted data.csv::label --audit audit.csv
""",
)
