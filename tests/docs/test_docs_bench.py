"""The pages on the metrics hold the numbers of the characterisation that they are made from, and no others."""

import copy
import re
from functools import cache
from typing import Any

import markdown  # type: ignore[import-untyped]
import pytest

from demele import bench
from demele.report.renderers.html import page as html_page
from tools import docs_bench
from tools.docs_bench import View
from tools.docs_pages import RESULTS
from tools.docs_tables import read

CAUSES = RESULTS / "causes.csv"

HOSTILE = 'a|b *c* <script>alert("x")</script> [d](e) `f`'

CAUSE = {
    "table": "3.1",
    "row": "mig",
    "column": "(1)",
    "what": "score",
    "print": "0.0",
    "demele": "0.020",
    "put back": "0.4321",
    "standard error": "0.0012",
    "seeds": "20",
    "demele verdict": "",
    "verdict with the cause": "",
    "explained": "yes",
    "cause": "another normaliser",
}


@cache
def _measured() -> bench.Characterisation:
    def half(codes: Any, factors: Any) -> float:
        return 0.5

    return bench.characterise(
        ["mig", "sap", bench.candidate(half, name="half")], ["redundant", "mixing", "chance"], seeds=2, n_samples=200
    )


@pytest.fixture
def found() -> dict[str, Any]:
    return copy.deepcopy(_measured().to_dict())


def _verdict(found: dict[str, Any], row: str, criterion: str) -> dict[str, Any]:
    return next(item for item in found["verdicts"] if (item["row"], item["criterion"]) == (row, criterion))


def _score(found: dict[str, Any], metric: str, severity: float) -> dict[str, Any]:
    return next(item for item in found["printed_scores"] if (item["metric"], item["severity"]) == (metric, severity))


def _lines(page: str, start: str) -> list[str]:
    return [line for line in page.splitlines() if line.startswith(start)]


def _html(page: str) -> str:
    return str(markdown.markdown(page, extensions=["tables", "attr_list", "toc"]))


# Test bench of metrics ------------------------------------------------------------------------------------------------


def test_every_cell_shows_its_status_and_leads_to_its_evidence(found: dict[str, Any]) -> None:
    page = docs_bench.bench_pages(found, [])["results/metrics.md"]
    for group, start in (("review", "criteria-of-the-review"), ("added", "added-criteria")):
        criteria = [item["name"] for item in found["criteria"] if item["group"] == group]
        for i, row in enumerate(found["rows"]):
            cells = next(
                cells
                for line in _lines(page, f"| [{row['title']}](bench.html#measures)")
                if len(cells := line.strip("| ").split(" | ")) == len(criteria) + 1 and f"#{start}-{i}-0 " in line
            )
            for j, (criterion, cell) in enumerate(zip(criteria, cells[1:], strict=True)):
                verdict = _verdict(found, row["name"], criterion)
                sign = docs_bench.SIGNS[verdict["status"]]
                assert cell.startswith(f'[{sign}](bench.html#{start}-{i}-{j} "{verdict["status"]}")')
                assert cell.endswith("≠") == (verdict["agrees"] is False)


def test_a_changed_verdict_changes_the_table(found: dict[str, Any]) -> None:
    for status, sign in (("fails", "✗"), ("inconclusive", "?")):
        _verdict(found, "mig", "coherent_compactness")["status"] = status
        page = docs_bench.metrics_page(View(found))
        assert f'[{sign}](bench.html#criteria-of-the-review-1-1 "{status}")' in page


def test_what_was_run_is_counted(found: dict[str, Any]) -> None:
    text = "\n".join(docs_bench.what_was_run(found))
    assert "3 scores in 3 rows" in text
    assert "3 scenarios, 2 of them from the review, with 200 rows each" in text
    assert "2 seeds a point; 2 for" in text
    values = sum(sum(curve["n"]) for curve in found["curves"])
    assert f"{values:,} values; " in text


def test_findings_follow_the_verdicts(found: dict[str, Any]) -> None:
    for verdict in found["verdicts"]:
        verdict["status"] = "holds" if verdict["row"] == "mig" else "fails"
    found["agreement"] = {"cells": 8, "agree": 6, "judged": 4, "judged_agree": 3}
    found["metrics"][0]["card"]["chance"] = {"mean": 0.25, "low": 0.2, "high": 0.3, "n": 2}
    found["metrics"][0]["card"]["chance_by_size"] = [{"n_samples": 100, "mean": 0.77, "low": 0.7, "high": 0.8}]
    text = "\n".join(docs_bench.findings(View(found)))
    assert "6 of 8 verdicts say what the review's table says (75%)" in text
    assert "Meets every criterion of the review that applies to it: MIG." in text
    assert "1 of 3." in text
    assert f"Score above 0.05 for codes that are nothing but noise: {found['metrics'][0]['title']} (0.250)." in text
    assert f"Inconclusive: 0 of {len(found['verdicts'])} verdicts." in text


# Evidence ------------------------------------------------------------------------------------------------------------


def test_every_link_leads_to_a_place(found: dict[str, Any]) -> None:
    pages = docs_bench.bench_pages(found, [])
    whole = html_page(_measured().document())
    html = {path: _html(page) for path, page in pages.items()} | {docs_bench.PAGE: whole}
    led = 0
    for path in docs_bench.TITLES:
        for target, place in re.findall(r'href="([a-z]*(?:\.md|\.html)?)#([^"]+)"', html[path]):
            assert f'id="{place}"' in (html[f"results/{target}"] if target else html[path]), f"{path}: {target}#{place}"
            led += 1
    assert led > len(found["verdicts"])


# The published tables ------------------------------------------------------------------------------------------------


def test_scores_stand_beside_print_and_far_ones_are_marked(found: dict[str, Any]) -> None:
    near, far = _score(found, "sap", 2.0), _score(found, "mig", 1.0)
    near.update(printed=0.5, ours=0.5456, difference=0.0456, low=0.51, high=0.56)
    far.update(printed=0.5, ours=0.4444, difference=-0.0556, low=0.4, high=0.49)
    page = docs_bench.published_page(View(found), [])
    assert "| SAP | 0.5 | 0.546 | \\[0.510, 0.560\\] | 2 | +0.046 |" in page
    assert "| MIG | 0.5 | 0.444 | \\[0.400, 0.490\\] | 2 | **-0.056** ≠ |" in page
    within = sum(abs(item["difference"]) <= 0.05 for item in found["printed_scores"])
    assert f"{within} of {len(found['printed_scores'])} of our scores lie within 0.05" in page


def test_a_difference_without_a_cause_is_called_not_explained(found: dict[str, Any]) -> None:
    found["printed_scores"] = [{**_score(found, "mig", 1.0), "printed": 0.5, "ours": 0.4, "difference": -0.1}]
    assert "**MIG**, printed 0.5, ours 0.400: not explained." in docs_bench.published_page(View(found), [])
    told = docs_bench.published_page(View(found), [CAUSE])
    assert "Another normaliser. Score: demele 0.020, with the cause put back 0.4321 ± 0.0012; seeds: 20." in told
    assert "Of the 1 others: 1 explained by an experiment." in told
    assert "Of the 1 others: 1 not explained." in docs_bench.published_page(View(found), [{**CAUSE, "column": "(2)"}])
    failed = docs_bench.published_page(View(found), [{**CAUSE, "explained": "no"}])
    assert "Of the 1 others: 1 not explained." in failed
    assert "it stays not explained" in failed


def test_each_differing_verdict_has_its_marks_its_evidence_and_its_why(found: dict[str, Any]) -> None:
    cause = {**CAUSE, "table": "3.2", "column": "several_codes", "explained": "by theory only"}
    differing = [item for item in found["verdicts"] if item["agrees"] is False]
    for item in differing:
        item["agrees"] = True
    verdict = _verdict(found, "mig", "several_codes")
    verdict.update(printed="x*", agrees=False, summary="0.019 at (1) | less")
    found["agreement"] = {"cells": 20, "agree": 19, "judged": 10, "judged_agree": 9}
    page = docs_bench.published_page(View(found), [cause])
    assert "19 of 20 cells agree (95%). In 10 cells both tables pass a judgement; 9 of these agree (90%)." in page
    assert "1 cell: 1 by theory only." in page
    part = page.partition("{#differs-mig-several_codes}")[2]
    assert "Printed: x\\*." in part
    assert "0.019 at (1) \\| less." in part
    assert "bench.html#criteria-of-the-review-1-" in part
    assert "Why: Another normaliser." in part
    assert "Why: not explained." in docs_bench.published_page(View(found), [])


@pytest.mark.skipif(not CAUSES.exists(), reason="the experiments on causes were not run")
def test_every_stored_cause_is_of_a_cell_that_is_printed() -> None:
    found = bench.reference().to_dict()
    view, causes = View(found), read(CAUSES)
    used = [id(one) for item in found["printed_scores"] for one in docs_bench._score_causes(item, causes)]
    used += [
        id(one)
        for item in found["verdicts"]
        if item["printed"] is not None
        for one in docs_bench._verdict_causes(view, item, causes)
    ]
    unused = [f"{one['row']}, {one['column']}" for one in causes if id(one) not in used]
    assert unused in ([], ["dci_forest_compactness, (3), 4 factors"])  # a row that the review meant, and did not print


# Cards ---------------------------------------------------------------------------------------------------------------


# Names ---------------------------------------------------------------------------------------------------------------


def test_hostile_names_stay_text(found: dict[str, Any]) -> None:
    for metric in found["metrics"]:
        metric["title"] = metric["definition"] = HOSTILE
    for row in found["rows"]:
        row["title"] = HOSTILE
    for scenario in found["scenarios"]:
        scenario["title"] = HOSTILE
    for verdict in found["verdicts"]:
        verdict["summary"] = HOSTILE
    pages = docs_bench.bench_pages(found, [{**CAUSE, "cause": HOSTILE, "explained": HOSTILE}])
    for page in pages.values():
        html = _html(page)
        assert "<script" not in html
        assert "<em>c</em>" not in html
        assert 'href="e"' not in html
        assert "a|b *c* &lt;script&gt;" in html
