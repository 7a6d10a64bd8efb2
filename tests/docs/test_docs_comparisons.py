"""The page on comparisons says what its rows say, and nothing where there are none."""

import re
from pathlib import Path

import pytest

from tools import docs_comparisons
from tools.docs_pages import RESULTS

POWER = """world,noise,method,type_1,type_2,agreement,labels,seconds
0,0.05,overlap,2.0,1.0,98,0,0
1,0.05,overlap,3.0,2.0,98,0,0
0,0.1,overlap,5.0,4.0,95,0,0
1,0.1,overlap,5.5,4.5,95,0,0
0,0.05,audit of | 500,0.000,10.0,95,500,0
1,0.05,audit of | 500,0.010,12.0,95,500,0
"""
GUARANTEES = """noise,rate,method,claims,test_sets,rate_of_error,low,claims_all,test_sets_all
uniform,0.01,worst-case,20,1000,0.02000,0.01000,20,4000
uniform,0.05,worst-case,24,1000,0.02400,0.01200,40,4000
class,0.05,worst-case,0,1000,0.00000,0.00000,0,4000
uniform,0.01,overlap,300,1000,0.30000,0.26000,400,4000
"""
SEQUENTIAL = """part,what,noise,target,type_1,rate,seconds
setting,built in,feature 5%,overlap,0.0,,2
level,few large losses,,,,0.0004,1
"""
LEVEL = """n,labels,design,kind,noise,bounds,missed_at_0.025,missed_at_0.001
500,25,uniform,class,0.01,400,0.01000,0.00000
500,25,uniform,feature,0.3,400,0.02000,0.00100
"""
CORNERS = """cell,error_percent,standard_error,low,high,test_sets,mean_distance_rows
"sample weighted, 20 copies, least",2.65,0.36,2.0,3.4,2000,55.9
"overlap, 4 copies",1.00,0.22,0.6,1.5,2000,40.0
"""
POWER_OF_AUDITS = """cell,power_percent,standard_error,low,high,test_sets,mean_distance_rows
"sample weighted, gap=40",88.00,1.62,84.0,91.0,400,30.0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with rows of every table."""
    texts = (POWER, SEQUENTIAL, GUARANTEES, LEVEL, CORNERS, POWER_OF_AUDITS)
    for name, text in zip(docs_comparisons.TABLES, texts, strict=True):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    return tmp_path


def test_figures_are_means_over_the_worlds(folder: Path) -> None:
    page = docs_comparisons.page(folder)
    assert "| method | 5% noise | 10% noise |" in page
    assert "| overlap | 2.50 / 1.5 | 5.25 / 4.2 |" in page
    assert "| audit of \\| 500 | 0.01 / 11.0 |  |" in page
    assert "means over 2 simulated worlds" in page


def test_all_and_the_worst_cell_of_each_kind_of_noise_stand(folder: Path) -> None:
    page = docs_comparisons.page(folder)
    assert "| method | uniform | class |" in page
    assert "| worst-case | 0.75; 2.4 (> 1.2) | 0.00; 0.0 (> 0.0) |" in page
    assert "| overlap | 10.00; 30.0 (> 26.0) |  |" in page


def test_bounds_of_audits_show_mean_and_worst(folder: Path) -> None:
    page = docs_comparisons.page(folder)
    assert "| rows | audited | design | missed at 2.5% | missed at 0.1% |" in page
    assert "| 500 | 25 | uniform | 1.50, worst 2.00 | 0.05, worst 0.10 |" in page


def test_corners_stand_with_the_worst_first(folder: Path) -> None:
    (folder / "audit_scan.csv").write_text("bound,worst\nbinomial,2.50\n", encoding="utf-8")
    for text in (docs_comparisons.page(folder), docs_comparisons.worst_corners(folder)):
        assert text.index("| 2.65 (0.36) |") < text.index("| 1.00 (0.22) |")
    assert "| 88.00 (1.62) | 30.0 | 400 |" in docs_comparisons.page(folder)
    assert "worst of 2 corners" in docs_comparisons.worst_corners(folder)
    assert "binomial: 2.50%" in docs_comparisons.worst_corners(folder)


def test_intervals_of_estimates(folder: Path) -> None:
    assert not docs_comparisons.estimates(folder)
    row = "5000,300,PPI++,94.1,88.0,6.1,56"
    heads = "n,labels,interval,coverage_mean,coverage_least,width_points,excludes_0_percent"
    (folder / "audit_estimate.csv").write_text(f"{heads}\n{row}\n", encoding="utf-8")
    assert "| 5000, 300 | PPI++ | 94.1, 88.0 | 6.1 | 56 |" in docs_comparisons.estimates(folder)


def test_parts_of_the_sequential_rows_show_their_own_columns(folder: Path) -> None:
    page = docs_comparisons.page(folder)
    assert "| what | noise | target | type 1 | seconds |" in page
    assert "| what | rate | seconds |" in page
    assert "Other ways to ask" not in page


def test_the_mark_becomes_the_chosen_methods(folder: Path) -> None:
    text = docs_comparisons.figures(folder)
    assert "| overlap | 2.50 / 1.5 | 5.25 / 4.2 |" in text
    assert "audit of" not in text
    assert "(../results/comparisons.md)" in text


def test_stored_rows_make_tables_with_even_lines() -> None:
    page = docs_comparisons.page(RESULTS)
    for block in re.findall(r"(?:^\|.*\n)+", page, flags=re.MULTILINE):
        assert len({line.replace("\\|", "").count("|") for line in block.splitlines()}) == 1
    methods = set(re.findall(r"^\| ([^|]+) \|", docs_comparisons.figures(RESULTS), re.MULTILINE))
    if (RESULTS / "comparison_power.csv").exists():
        assert methods == {"method", "---", *docs_comparisons.CHOSEN}


def test_figures_lead_to_the_page_and_without_rows_there_is_neither(folder: Path, tmp_path: Path) -> None:
    (folder / "comparison_power.csv").unlink()
    assert docs_comparisons.figures(folder).startswith("All figures:")
    empty = tmp_path / "empty"
    assert docs_comparisons.page(empty) == docs_comparisons.figures(empty) == ""


def test_the_worst_world_of_measures_of_all_classes_stands_with_the_mean(tmp_path: Path) -> None:
    assert docs_comparisons.measures_of_all_classes(tmp_path) == ""
    rows = """world,measure,claims_percent,standard_error,width_points
"labels, n=200, noise 0 right",macro-f1,2.00,0.20,10.0
"labels, n=500, noise 0 right",macro-f1,3.00,0.30,6.0
"labels, n=500, noise 0 right, lead 0.03",macro-f1,80.00,0.90,6.0
"uniform, 100 audited, noise 0.02 copies",matthews,1.25,0.50,20.0
"""
    (tmp_path / "table_measures.csv").write_text(rows, encoding="utf-8")
    found = docs_comparisons.measures_of_all_classes(tmp_path)
    assert "| true labels, `overlap` | 2 | 3.00 (0.30), 2.5, 8.0 |  |  |" in found
    assert "| wrong labels, uniform audit of 100 | 1 |  |  | 1.25 (0.50), 1.2, 20.0 |" in found
