"""The page on comparison methods says what its rows say, and nothing where there are none."""

import csv
import re
from pathlib import Path

from tools import docs_comparison_methods as docs
from tools.docs_pages import RESULTS

ROW = {
    "data": "digits",
    "noise_kind": "feature",
    "measure": "accuracy",
    "noise": "0.05",
    "rate": "0.0501",
    "method": "overlap",
    "type_1": "3.0",
    "type_1_se": "0.4",
    "type_2": "2.0",
    "type_2_se": "",
    "agreement": "97.5",
    "agreement_se": "0.3",
    "n_type_1": "18",
    "n_kept": "600",
    "n_type_2": "8",
    "n_taken": "400",
    "reversed": "0",
    "labels_asked": "0.0",
}
PRUDENT = {"method": "worst-case-overlap", "type_1": "0.0", "type_2": "40.0", "agreement": "84.0", "n_type_1": "0"}
TIME = {
    "run": "digits, training included",
    "instances": "1797",
    "ordered_pairs": "9900",
    "methods": "34",
    "rates": "6",
    "measures": "3",
    "seconds": "52.4",
    "cpu_seconds": "100",
}
NETWORK = {"data": "geirhos_16class_high_pass", "method": "overlap"}


def written(folder: Path, *changes: dict[str, str], times: bool = True) -> str:
    """Write rows to a folder and return its page."""
    tables = {docs.ROWS: [{**ROW, **change} for change in changes]}
    if times:
        tables[docs.TIMES] = [TIME, {**TIME, "run": "geirhos_16class_high_pass, feature noise", "ordered_pairs": "506"}]
    for name, rows in tables.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return docs.page(folder)


def test_figures_stand_beside_those_of_the_source(tmp_path: Path) -> None:
    page = written(tmp_path, {}, PRUDENT, {"method": "audit", "type_1": ""})
    assert "| overlap | 3.00 (0.40) | 2.00 | 97.50 (0.30) | 1.62 | 1.58 | 98.39 |" in page
    assert "| worst-case-overlap | 0.00 (0.40) | 40.00 | 84.00 (0.30) | 0.00 | 66.82 | 71.45 |" in page
    assert "| audit | – | 2.00 | 97.50 (0.30) |  |  |  |" in page
    assert "keep the baseline in 600 pairs, and take the candidate in 400" in page
    assert "9,900 ordered pairs, 34 methods" in page
    assert "It took 52 seconds" in page


def test_cleanings_stand_where_the_source_has_them(tmp_path: Path) -> None:
    cleaned = {"method": "cleaned(s=0.6, e=0.1, c=0.5)"}
    page = written(tmp_path, {}, cleaned, {"measure": "precision of 0"}, {**cleaned, "measure": "precision of 0"})
    assert "| cleaned(s=0.6, e=0.1, c=0.5) | 3.00 (0.40) | 2.00 | 97.50 (0.30) | 0.76 | 2.06 | 98.69 |" in page
    assert page.count("| cleaned(") == 1


def test_rates_are_columns_in_their_order(tmp_path: Path) -> None:
    page = written(tmp_path, {"noise": "0.1", "type_1": "5.0"}, {}, {**PRUDENT, "noise": "0.1"})
    assert "| method | 5% noise | 10% noise |" in page
    assert "| overlap | 3.00 / 2.00 | 5.00 / 2.00 |" in page
    assert "| worst-case-overlap |  | 0.00 / 40.00 |" in page


def test_networks_have_a_table_for_each_kind_of_noise(tmp_path: Path) -> None:
    other = {**NETWORK, "data": "geirhos_16class_b", "type_2": "7.0", "reversed": "4"}
    page = written(tmp_path, NETWORK, other, {**NETWORK, "noise_kind": "uniform", "type_1": "0.0"})
    assert "| method | high pass | b |" in page
    assert "| overlap | 3.00 / 2.00 | 3.00 / 7.00 |" in page
    assert "| overlap | 0.00 / 2.00 |  |" in page
    assert "all sets together: `overlap` (4)" in page
    assert page.count("No method ever takes") == 1
    assert "(506 ordered pairs)" in page
    assert "Why the figures differ" not in page


def test_the_gist_names_who_never_errs_and_who_does(tmp_path: Path) -> None:
    network = {**PRUDENT, "data": "geirhos_16class_b", "type_2": "50.0"}
    page = written(tmp_path, {}, PRUDENT, network, {"noise": "0.1", "n_type_1": "1000"})
    assert "`worst-case-overlap` 45%. These do: `overlap` (1,018 times)." in page


def test_reasons_are_computed_from_the_rows(tmp_path: Path) -> None:
    page = written(tmp_path, {}, PRUDENT)
    # Wilson's interval of 75% of 1797 is 2.00 points to each side, of 12 000 0.77; 28.55 / 66.82 of the pairs.
    assert "2.00 points to each side here and 0.77 there, 2.6 times as wide" in page
    assert "in 40.0% of the pairs here; the source's figures imply 42.7%" in page
    assert "On accuracy they make no type I error at 5%" in page
    assert "`worst-case-overlap` 40.0% (source: 66.8%)" in page
    assert "at any other rate, and on no other measure" in page


def test_errors_of_prudent_methods_are_not_hidden(tmp_path: Path) -> None:
    wrong = {**PRUDENT, "n_type_1": "3", "noise": "0.01", "measure": "precision of 0"}
    page = written(tmp_path, {}, PRUDENT, wrong)
    assert "worst-case-overlap, precision of 0 at 1% (3 of 600 pairs)" in page
    page = written(tmp_path, {}, {**PRUDENT, "n_type_1": "2"})
    assert "On accuracy they make type I errors (2 of worst-case-overlap)" in page


def test_asked_labels_are_a_range_over_the_rates(tmp_path: Path) -> None:
    asked = {"method": "sequential", "labels_asked": "54.6"}
    page = written(tmp_path, {}, asked, {**asked, "noise": "0.1", "labels_asked": "128.7"})
    assert "`sequential` 55 to 129" in page


def test_a_file_of_times_may_lack(tmp_path: Path) -> None:
    page = written(tmp_path, {}, NETWORK, times=False)
    assert "It took" not in page
    assert "Fewer images" not in page


def test_stored_rows_make_tables_with_even_lines() -> None:
    page = docs.page(RESULTS)
    assert "nan" not in page
    for block in re.findall(r"(?:^\|.*\n)+", page, flags=re.MULTILINE):
        assert len({line.replace("\\|", "").count("|") for line in block.splitlines()}) == 1


def test_the_reference_leads_to_the_page_if_there_is_one(tmp_path: Path) -> None:
    assert docs.page(tmp_path) == docs.reference(tmp_path) == ""
    written(tmp_path, {})
    assert f"(../{docs.PAGE})" in docs.reference(tmp_path)


def test_images_stand_beside_with_both_kinds_of_noise(tmp_path: Path) -> None:
    feature = {**ROW, "data": "clutter, level 1", "n_type_1": "7", "type_1": "1.25"}
    rows = [feature, {**feature, "noise_kind": "uniform", "n_type_1": "2", "type_1": "0.5"}]
    rows += [{**feature, "method": "cleaned(s=0.6, e=0.1)"}, {**feature, "noise": "0.1", "type_2": ""}]
    with (tmp_path / docs.IMAGES).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(feature))
        writer.writeheader()
        writer.writerows(rows)
    page = written(tmp_path, {})
    assert "1,000 ordered pairs" in page
    head = "\n\n| method | 5% | 10% |\n| --- | --- | --- |\n"
    assert f"### Noise of fabrics{head}| overlap | 1.25 / 2.00 | 1.25 / – |" in page
    assert f"### Uniform noise, on the same images{head}| overlap | 0.50 / 2.00 |  |" in page
    assert "under uniform noise: `overlap` 14 and 2." in page
    assert docs.images(tmp_path / "nowhere") == ""
