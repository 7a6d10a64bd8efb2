"""``demele audit plan``: the size of an audit that settles a comparison, before or after an expert labels rows."""

from demele.classifiers.comparison.audit_forecast import plan_audit
from demele.cli.engine import Call, Command, Given
from demele.cli.test_set import CALLED, read_test_set
from demele.core.errors import InputError
from demele.files.prediction_sets import read_predictions


def _run(given: Given) -> Call:
    if {"audit", "wrong"} <= given.options.keys():
        raise InputError("--wrong: has no part with --audit, which says how many labels are wrong; leave it out")
    found, known = given.call(read_test_set, given, given.files)
    return given.bind(plan_audit, found.predictions, found.labels, **known)


PLAN = Command(
    {"": plan_audit},
    ("PREDICTIONS... LABELS", "LOG..."),
    _run,
    short="sizes wrong audit measure of groups level seed",
    readers=(read_predictions, read_test_set),
    without="single unseen_positives",
    called=CALLED,
    details="""\
Audits of each size and design are simulated, for wrong labels anywhere and for ones that favour the model that leads,
and read by the methods of demele compare. With --audit: how many more rows would settle it, or that none would.
""",
    examples="""\
demele audit plan data.csv::a,b data.csv::label -o plan.html
demele audit plan data.csv::a,b data.csv::label --sizes 100,300 --wrong 0.02,0.1
demele audit plan data.csv::a,b data.csv::label --audit audit.csv
""",
)
