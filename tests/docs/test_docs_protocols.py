"""The page of published code says what its rows say, and nothing without rows."""

from pathlib import Path

from tools import docs_pages, docs_protocols

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "published-code.md"
ROW = {
    "source": "disentanglement_lib",
    "array": "noise",
    "metric": "z_diff",
    "attribute": "",
    "theirs": "0.123456",
    "their standard error": "0.0078",
    "under the protocol": "0.234567",
    "difference": "1.11e-01",
    "by default": "-0.345678",
    "notes": "raw-units other",
}


def test_rows_become_tables() -> None:
    table = docs_protocols.by_score([ROW, {**ROW, "array": "plain", "theirs": "nan", "their standard error": ""}])
    assert "### beta-VAE (`z_diff`)" in table
    lines = table.splitlines()
    assert lines[-1] == "| noise | 0.1235 ± 0.0078 | 0.2346 | -0.3457 | raw-units, other |"
    assert lines[-2] == "| plain | none | 0.2346 | -0.3457 | raw-units, other |"


def test_the_largest_difference_over_attributes_is_shown() -> None:
    first = {**ROW, "source": "latte", "metric": "sap", "difference": "-2e-03"}
    table = docs_protocols.by_attribute([first, {**first, "difference": "1e-03", "theirs": "0.9"}])
    assert table.splitlines()[-1] == "| noise | `sap` | 0.1235 | 0.2346 | -0.3457 | 2e-03 |"


def test_newer_scores_stand_beside_the_code_of_their_authors() -> None:
    rows = [
        ROW,
        {**ROW, "source": "icebeem", "metric": "mcc"},
        {**ROW, "source": "x", "theirs": "nan", "difference": "nan"},
    ]
    lines = docs_protocols.newer(rows).splitlines()
    assert lines[-2] == "| icebeem | noise | `mcc` | 0.1235 | 0.2346 | -0.3457 | 1e-01 |"
    assert lines[-1] == "| x | noise | `z_diff` | none | 0.2346 | -0.3457 |  |"
    assert len(lines) == 4


def test_no_rows_no_tables() -> None:
    assert docs_protocols.by_score([]) == docs_protocols.by_attribute([]) == docs_protocols.newer([]) == ""


def test_every_mark_of_the_page_is_replaced() -> None:
    shown = docs_pages.on_page_markdown(PAGE.read_text(encoding="utf-8"))
    assert "<!--" not in shown
    assert "| plain | a code per factor with noise, two of noise alone |" in shown
