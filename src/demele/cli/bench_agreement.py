"""``demele bench agreement``: agreement of metrics on models that you scored."""

from typing import Any

from demele.bench.agreement import agreement
from demele.cli.engine import Call, Command, Given
from demele.files.column_files import read_frame


def _run(given: Given) -> Call:
    def table(text: str) -> Any:
        return read_frame(text, given.warn)

    more = given.read(null=table, halves=lambda texts: list(map(table, texts)))
    return given.bind(agreement, table(given.files[0]), **more)


AGREEMENT = Command(
    {"": agreement},
    ("SCORES",),
    _run,
    short="metrics configuration collapsed within lower_is_better null halves level seed",
    details="""\
SCORES is a table with a row for each model and a column for each metric. Kendall's tau-b between the scores of every
two metrics, with intervals, a verdict that counts all pairs, and the published matrices of 17 metrics.
""",
    examples="""\
demele bench agreement scores.csv -o agreement.html
demele bench agreement scores.csv --configuration name --collapsed flag --within latents --null permuted.csv
""",
)
