"""The page on which metrics agree says what a study found."""

import numpy as np

from demele import bench
from tests.report.sample_agreement import sample_agreement, sample_study
from tools import docs_agreement
from tools.docs_pages import RESULTS
from tools.docs_tables import read


def rows_under(page: str, title: str) -> list[list[str]]:
    """Cells of the first table under a title."""
    lines = page.partition(f"## {title}\n")[2].splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith(("| ---", "| --:"))) + 1
    found = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return found


def test_pairs_and_likeness_are_those_found() -> None:
    found = sample_agreement()
    coverage = read(RESULTS / "agreement_coverage.csv")
    page = docs_agreement.agreement_page(sample_study(), found, coverage, [])
    assert f"**{found.sentence}**" in page
    rows = rows_under(page, "Strongest pairs")
    strongest = max((pair for pair in found.pairs() if np.isfinite(pair.tau)), key=lambda pair: abs(pair.tau))
    assert rows[0][2] == f"{strongest.tau:.2f}"
    named = {frozenset(row[:2]) for row in rows_under(page, "Pairs that others have discussed")}
    assert named == {frozenset({"MIG", "Modularity"}), frozenset({"MIG", "SAP"})}
    assert len(rows_under(page, "Published matrices")) == len(found.likeness_rows())
    assert "r is 0.66" in page
    assert len(rows_under(page, "Stability of rankings")) == len(found.metrics)
    assert rows_under(page, "Coverage of the intervals")[0][:2] == ["no ties", "8"]


def test_the_page_is_that_of_the_stored_rows() -> None:
    pages = docs_agreement.pages(RESULTS)
    assert "36 models" in pages[docs_agreement.PAGE]
    assert docs_agreement.PAGE in docs_agreement.reference(RESULTS)
    assert len(pages[docs_agreement.STUDY].encode()) < 1_000_000


def test_causes_of_the_distance_to_print_are_told_with_the_one_that_moves_most() -> None:
    def row(cause: str, printed: str, r: float) -> dict[str, str]:
        figures = {
            "r": r,
            "r_low": r - 0.1,
            "r_high": r + 0.1,
            "same_sign": 0.625,
            "negative": 0.2,
            "mean_abs_tau": 0.3,
        }
        return {
            "cause": cause,
            "models": "all",
            "print": printed,
            **{key: f"{one:.3f}" for key, one in figures.items()},
        }

    rows = [row("as it is", "cars3d", 0.5), row("as it is", "smallnorb", 0.4)]
    rows += [row("drawn codes", "cars3d", 0.65), row("drawn codes", "smallnorb", 0.29)]
    rows += [row("numbers", "cars3d", 0.55), row("numbers", "smallnorb", 0.35)]
    page = docs_agreement.agreement_page(sample_study(), sample_agreement(), [], [], rows)
    table = rows_under(page, "Distance to published values")
    assert [line[0] for line in table] == ["as it is", "drawn codes", "numbers"]
    assert table[1][1:] == ["0.65 [0.55, 0.75]", "0.29 [0.19, 0.39]", "62%", "62%", "20%", "0.30"]
    assert "“drawn codes”: r 0.50 becomes 0.65, beyond the interval of the first" in page
    assert "Nothing brings r with SmallNORB above 0.40. Below that interval: “drawn codes” 0.29." in page


def test_metrics_that_rank_alike_are_grouped() -> None:
    qualities = np.random.default_rng(0).normal(size=(36, 2))
    scores = {name: qualities[:, place] for name, place in (("mig", 0), ("sap", 0), ("irs", 1), ("z_diff", 1))}
    scores["modularity"] = np.random.default_rng(1).normal(size=36)
    found = bench.agreement(scores, draws=100)
    assert docs_agreement.groups(found, "all") == [["mig", "sap"], ["z_diff", "irs"], ["modularity"]]
