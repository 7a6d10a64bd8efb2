"""``demele bench agreement``: agreement of metrics on models that you scored."""

from functools import partial
from typing import Any

from demele.bench.agreement import agreement
from demele.cli.engine import Command, Given
from demele.files.column_files import read_frame


def _run(given: Given) -> "partial[Any]":
    (scores,) = given.expected(1, 1)
    tables: dict[str, Any] = {}
    if "null" in given.options:
        tables["null"] = read_frame(given.take("null"), given.warn)
    if "halves" in given.options:
        tables["halves"] = [read_frame(one, given.warn) for one in given.take("halves")]
    return given.bind(agreement, read_frame(scores, given.warn), **tables)


AGREEMENT = Command(
    {"": agreement},
    ("SCORES",),
    _run,
    short="metrics configuration collapsed within lower_is_better null halves level seed",
    details="""\
Measure the agreement of metrics on the order of models.

SCORES is a table with a row for each model and a column for each metric. Kendall's tau-b between the scores of every
two metrics, with intervals, a verdict that counts all pairs, and the published matrices of 17 metrics.
""",
    examples="""\
demele bench agreement scores.csv -o agreement.html
demele bench agreement scores.csv --configuration name --collapsed flag --within latents --null permuted.csv
""",
)
