"""``demele judge``: scores by a judge, corrected by human scores of some rows."""

from demele.classifiers.judge import judge
from demele.cli.engine import Call, Command, Given
from demele.cli.judged_rows import read_judged


def _run(given: Given) -> Call:
    scores, audit, slices = given.call(read_judged, given.files)
    return given.bind(judge, scores, audit, slices=slices)


JUDGE = Command(
    {"": judge},
    ("RESULTS...",),
    _run,
    short="human gate noise score id group scale expert_error level exact",
    readers=(read_judged,),
    called={"audit": "--human", "slices": "--slice"},
    details="""\
Human scores of some rows, drawn at random, say how often the judge errs. Each mean and each difference is corrected by
them. Without human scores, the result says how many wrong scores would change it. Exits with 1 if a system is not
shown to be above the gate; without a gate, if neither of two systems is shown to be better.
""",
    examples="""\
demele judge answers.csv --human people.csv --gate 0.8
demele judge a.eval b.eval --human people.csv --group metadata.passage -o report.html
demele judge answers.csv --human people.csv --slice language
""",
)
