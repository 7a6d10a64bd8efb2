"""A comparison of representations as a table for papers, and as a paragraph on methods."""

from typing import Any

import numpy as np
import pytest

import demele
from demele.core.errors import InputError
from demele.report.paper import kind_of, paper_table
from demele.report.words import probability

pytestmark = pytest.mark.filterwarnings("ignore::demele.DemeleWarning")
RNG = np.random.default_rng(0)
FACTORS = RNG.random((200, 2))
CODES = {name: FACTORS + noise * RNG.normal(size=(200, 2)) for name, noise in (("a", 0.4), ("b_1", 0.05), ("c", 0.2))}


def compared(names: str = "a b_1", metrics: tuple[str, ...] = ("mig", "irs"), **asked: Any) -> Any:
    return demele.compare_representations({name: CODES[name] for name in names.split()}, FACTORS, metrics, **asked)


def test_a_pair_is_a_table_of_both_scores_and_their_difference() -> None:
    found = compared(bootstrap=10)
    table = paper_table([found.to_dict()])
    assert table.heads == ("Metric", "a", "b_1", "Difference [95% interval]", "p", "Better")
    ((_, (mig, irs)),) = table.groups
    difference = found.differences[0]
    low, high = difference.interval.low, difference.interval.high
    assert mig.cells == (
        f"{found['a']['mig'].value:.3f}",
        f"{found['b_1']['mig'].value:.3f}",
        f"{difference.value:.3f} [{low:.3f}, {high:.3f}]",
        probability(difference.p_value),
        "b_1",
    )
    assert irs.cells[2:] == (f"{found['b_1']['irs'].value - found['a']['irs'].value:.3f}", "–", "–")
    assert irs.marks == ("a",)
    assert found.sentence in table.caption
    assert "b\\_1" in found.to_latex()


def test_of_several_pairs_each_is_a_group_and_columns_follow_the_heading() -> None:
    found = compared("a b_1 c", ("mig",), against="c")
    table = paper_table([found.to_dict()])
    assert [heading for heading, _ in table.groups] == ["a minus c", "b_1 minus c"]
    assert table.heads[1:3] == ("Score", "Minus")
    cells = [float(cell.replace("−", "-")) for cell in table.groups[0][1][0].cells[:3]]
    assert cells[0] - cells[1] == pytest.approx(cells[2], abs=2e-3)
    assert not any("pass" in told for _, told in table.notes)  # who reads a paper gives no options


def test_models_are_means_and_deviations_over_runs() -> None:
    found = compared("a b_1 c", ("mig",), runs={"m": ["b_1", "c"], "k": ["a"]})
    ((_, (row,)),) = paper_table([found.to_dict()]).groups
    values = [found[name]["mig"].value for name in ("b_1", "c")]
    assert row.cells[:2] == (
        f"{np.mean(values):.3f} (SD {np.std(values, ddof=1):.3f})",
        f"{found['a']['mig'].value:.3f}",
    )


def test_the_paragraph_says_how_differences_were_made() -> None:
    words = compared(bootstrap=10).methods(format="text")
    assert "The representations a and b_1, 2 codes of 200 rows, were scored against" in words
    assert "Student's t over 10 paired half-samples" in words
    assert "at an error of 5% for all together, by Holm's procedure (Holm 1979)." in words
    assert "No difference has an interval" in compared().methods()
    runs = {"m": ["b_1", "c"], "k": ["a"]}
    assert "(m: 2, k: 1)" in compared("a b_1 c", ("mig",), runs=runs).methods()


def test_a_comparison_stands_alone() -> None:
    content = compared().to_dict()
    assert kind_of([content]) == "representation comparison"
    with pytest.raises(InputError, match="one comparison of representations"):
        kind_of([content, content])
