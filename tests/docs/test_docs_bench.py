"""The pages on the metrics hold the tables of the stored rows, and causes of cells that are printed."""

import re

from demele import bench
from demele.bench.stored import PRINTED_SCORES, PRINTED_VERDICTS
from tools import docs_bench
from tools.docs_pages import RESULTS
from tools.docs_tables import read


def test_the_pages_hold_the_tables_of_the_stored_rows() -> None:
    pages = docs_bench.pages(RESULTS)
    metrics, published, whole = pages["results/metrics.md"], pages["results/published.md"], pages[docs_bench.PAGE]
    assert set(docs_bench.TITLES) < set(pages)
    stored = bench.reference()
    for candidate in {row.title for row in stored.rows}:
        assert f"| {candidate} |" in metrics
    assert all(f"| {scenario.title} |" in metrics for scenario in stored.scenarios)
    assert "| dci\\_lasso\\_modularity | 0.8 | 0.982 | \\[0.976, 0.988\\] |" in published
    assert "verdicts agree with the published table" in published
    assert "| 3.1 | mig\\_sup: (1) | score | 0.7 | 0.629  | 0.664  |" in published
    assert 'id="criteria"' in whole
    for page in (metrics, published):
        for block in re.findall(r"(?:^\|.*\n)+", page, flags=re.MULTILINE):
            assert len({line.replace("\\|", "").count("|") for line in block.splitlines()}) == 1


def test_every_stored_cause_is_of_a_cell_that_is_printed() -> None:
    rows = {"(1)": 1.0, "(2)": 2.0, "(3)": 3.0}
    for one in read(RESULTS / "causes.csv"):
        if one["table"] == "3.2":
            assert one["column"] in PRINTED_VERDICTS[one["row"]]
        elif one["column"] != "(3), 4 factors":  # a row that the review meant, and did not print
            assert one["row"] in PRINTED_SCORES[rows[one["column"]]]
