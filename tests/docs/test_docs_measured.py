"""Marked lines of pages become what the rows of their files say, and nothing where there are none."""

import csv
import re
from pathlib import Path

import pytest

from tools import docs_landing, docs_measured
from tools.docs_pages import RESULTS

COLUMNS = {
    "set": "a_set",
    "answers": "5000",
    "gold": "200",
    "majority accuracy": "0.9000",
    "blend accuracy": "0.8950",
    "own prior accuracy": "0.8800",
    "one-coin accuracy": "0.8750",
    "crowd-kit one-coin accuracy": "0.8720",
    "accuracy": "0.8500",
    "crowd-kit accuracy, its default": "0.8650",
    "iterations to convergence": "40",
    "crowd-kit iterations, its default": "2",
    "ms per iteration": "0.100",
    "crowd-kit ms per iteration": "12.00",
    "times faster": "120.0",
    "same labels after 20": "0.99950",
}
SIMULATED = {
    "classes": "2",
    "answers per item": "5",
    "answers per annotator": "4",
    "accuracy": "0.75",
    "class shares": "equal",
    "crowds": "40",
    "majority": "89.8",
    "dawid-skene": "84.0",
    "one-coin": "89.3",
    "own-prior": "88.8",
    "blend": "89.4",
    "blend - majority": "-0.40",
    "standard error": "0.26",
    "least": "-6.0",
    "below by 3": "3",
}


ROWS = {
    "streaming": {
        "through": "Some|Thing",
        "metrics": "all_counted",
        "dtype": "float64",
        "rows": "2048",
        "codes": "7",
        "factors": "5",
        "update_ms_median": "0.123",
        "update_ms_p95": "0.456",
        "compute_ms": "78.9",
    },
    "out_of_core": {
        "rows": "30000000",
        "jobs": "3",
        "gigabytes": "1.23",
        "seconds": "4.56",
        "seconds per 1e8 rows": "15.2",
        "peak MiB": "1789",
    },
    "sparse": {
        "rows": "20000",
        "codes": "4096",
        "non-zeros": "640000",
        "factors": "6",
        "jobs": "2",
        "seconds to make the data": "99",
        "seconds (information and its metrics)": "1.5",
        "peak GiB, data included": "0.7",
        "seconds with SAP too": "2.5",
        "peak GiB with SAP": "0.8",
    },
}
SHOWN = {
    "streaming": [
        "2,048 rows, 7 codes and 5 factors (float64",
        "| Some\\|Thing | all\\_counted | 0.123 | 0.456 | 78.9 |",
    ],
    "out_of_core": ["| 30,000,000 | 1.23 | 3 | 4.56 | 15.2 | 1,789 |"],
    "sparse": ["| 20,000 | 4,096 | 640,000 | 6 | 2 | 1.5 | 0.7 | 2.5 | 0.8 |"],
}


PROTOCOL = {
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


FABRIC = {
    "fabric": "8 layers",
    "images": "4 of 8 x 8",
    "achieved %": "50.0",
    "multiply-adds": "12345",
    "exported gain": "3.1",
}


def written(folder: Path, name: str, row: dict[str, str], *changes: dict[str, str]) -> Path:
    """Write a row, once for each change of it, to a file of a folder."""
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(row))
        writer.writeheader()
        writer.writerows({**row, **change} for change in changes)
    return folder


def figures(name: str, folder: Path) -> str:
    return docs_measured.MARKS[f"<!-- measured-{name} -->"](folder)


OF_FILES = [mark for mark in docs_measured.MARKS if mark != "<!-- arrays -->"]


@pytest.mark.parametrize("mark", OF_FILES)
def test_without_files_there_is_nothing(mark: str, tmp_path: Path) -> None:
    assert docs_measured.MARKS[mark](tmp_path) == ""


@pytest.mark.parametrize("mark", docs_measured.MARKS)
def test_stored_rows_make_tables_with_even_lines(mark: str) -> None:
    text = docs_measured.MARKS[mark](RESULTS)
    assert "nan" not in text or mark == "<!-- disentanglement_lib -->"  # of one score a standard error
    blocks = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    assert blocks
    for block in blocks:
        assert len({line.replace("\\|", "").count("|") for line in block.splitlines()}) == 1


# Answers of annotators -----------------------------------------------------------------------------------------------


def test_worse_and_better_sets_are_named_with_their_items(tmp_path: Path) -> None:
    better = {"set": "b", "gold": "1000", "accuracy": "0.93", "crowd-kit accuracy, its default": "0.92"}
    better |= {"blend accuracy": "0.91"}
    text = figures("annotators", written(tmp_path, "annotators", COLUMNS, {}, better))
    assert "fewer true labels than the majority on a\\_set (10 of 200 items); it has more on b (30 of 1,000" in text
    assert "more true labels than the converged run on a\\_set (3 of 200 items), and fewer on b (10 of 1,000" in text
    assert "The blend has fewer true labels than the majority on a\\_set (1 of 200 items); it has more on b (10" in text
    assert "It has fewer than Dawid-Skene on b (20 of 1,000 items)" in text
    assert "| a\\_set | 200 | 90.0 | 89.5 | 88.0 | 87.5 | 85.0 | 87.2 |" in text
    assert "| a\\_set | 85.0 | 40 | 86.5 | 2 |" in text
    assert "| a\\_set | 5,000 | 0.100 | 12.00 | 120.0 | 99.95% |" in text


def test_sets_without_known_truth_are_only_timed(tmp_path: Path) -> None:
    text = figures("annotators", written(tmp_path, "annotators", COLUMNS, {"gold": "0", "accuracy": "nan"}))
    assert "true labels" not in text
    assert "| 120.0 |" in text


def test_simulated_crowds_say_where_the_blend_loses(tmp_path: Path) -> None:
    written(tmp_path, "annotators", COLUMNS, {})
    won: dict[str, str] = {"blend - majority": "1.00", "below by 3": "0"}
    for changes, said in (
        (({}, won), "fewer true labels than the majority with 2 classes of"),
        (({"blend - majority": "0.10"},), "fewer true labels than the majority in none of these worlds"),
    ):
        text = figures("annotators", written(tmp_path, "consensus", SIMULATED, *changes))
        assert said in text
        assert f"3 of {40 * len(changes)} lose 3 points or more" in text
    assert "| 2 | 5 | 4 | 0.75 | equal | 89.8 | 84.0 | 89.3 | 88.8 | 89.4 | +0.10 (0.26) | -6.0 |" in text


@pytest.mark.parametrize(("accuracy", "said"), [("0.8", True), ("0.95", False)])
def test_the_doubt_of_raters_is_told_where_it_shows(tmp_path: Path, accuracy: str, said: bool) -> None:
    golden = {"set": "imagenet_real golden", "accuracy": accuracy}
    text = figures(
        "annotators",
        written(tmp_path, "annotators", COLUMNS, golden, {"set": f"{golden['set']}, yes or not", "accuracy": "0.95"}),
    )
    assert ("*maybe*" in text) == said


def test_thresholds_of_entropy_are_told_with_what_they_find(tmp_path: Path) -> None:
    row = dict.fromkeys(("fixed share found", "fixed precision", "default threshold"), "0.64")
    row |= {"set": "a_set", "wrong": "90", "default share found": "0.391", "default precision": "0.895"}
    folder = written(tmp_path, "entropy_threshold", row, {"fixed share found": "0.000", "fixed precision": "nan"})
    assert figures("entropy", folder).endswith("| a\\_set | 90 | 0% | none | 0.64 | 39% | 90% |\n")


# Batches, rows beyond memory and sparse codes ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROWS)
def test_costs_are_those_of_the_rows(tmp_path: Path, name: str) -> None:
    text = figures(name, written(tmp_path, name, ROWS[name], {}))
    for part in SHOWN[name]:
        assert part in text


def test_other_types_of_numbers_are_left_to_the_page_of_results(tmp_path: Path) -> None:
    other = {"dtype": "float32", "through": "Other"}
    assert "Other" not in figures("streaming", written(tmp_path, "streaming", ROWS["streaming"], {}, other))


# Fabrics -------------------------------------------------------------------------------------------------------------


def test_the_table_holds_all_fabrics_and_the_sentences_their_range(tmp_path: Path) -> None:
    gains = {"50% of links, magnitude": "2.5", "50% of links, random 0": "1.9", "90% of weights masked": "0.97"}
    row = FABRIC | dict.fromkeys(("pruned", "forward gain", "training gain"), "")
    rows = [{"pruned": name, "forward gain": gain, "training gain": gain} for name, gain in gains.items()]
    text = figures("fabrics", written(tmp_path, "fabric_speed", row, *rows))
    assert "| 8 layers | 4 of 8 x 8 | 50% of links, magnitude | 50.0% | 12,345 | x 2.5 | x 3.1 | x 2.5 |" in text
    assert text.count("| 8 layers |") == 3
    assert "Masks gain between x 0.97 and x 0.97." in text
    assert "The same half of the links gains between x 1.9 and x 2.5" in text
    whole = figures("fabrics", written(tmp_path, "fabric_speed", row, {**rows[0], "pruned": "whole", "achieved %": ""}))
    assert "| whole |  | 12,345 |" in whole
    assert "gains between" not in whole


def test_the_picture_has_half_of_the_links() -> None:
    drawn = docs_landing.fabric_picture()
    assert (drawn.count('class="live"'), drawn.count('class="gone"')) == (38, 38)


def test_fabrics_that_annotate_are_a_table(tmp_path: Path) -> None:
    row = {"images": "digits", "size": "8x8", "n": "1797", "annotators": "100", "fabrics trained": "40"}
    row |= {"lowest error": "0.01", "median error": "0.1", "highest error": "0.39", "disagreement": "0.3"}
    row |= {"images without a wrong vote": "51", "rates of 1 to 30 % made exactly": "30"}
    row |= {"seconds": "60.1", "CPU seconds": "110.2"}
    found = figures("fabric-annotators", written(tmp_path, "annotated_images_annotators", row, {}))
    assert found.startswith("|  | digits (8x8, 1,797 images) |\n")
    assert "| annotators, of fabrics trained | 100, 40 |" in found
    assert "| 110.2, 60.1 |" in found


# Published code ------------------------------------------------------------------------------------------------------


def published(folder: Path, mark: str, *changes: dict[str, str]) -> list[str]:
    return docs_measured.MARKS[mark](written(folder, "protocols", PROTOCOL, *changes)).splitlines()


def test_scores_of_public_code_stand_in_the_order_of_the_arrays(tmp_path: Path) -> None:
    plain = {"array": "plain", "theirs": "nan", "their standard error": ""}
    lines = published(tmp_path, "<!-- disentanglement_lib -->", {}, plain)
    assert "### beta-VAE (`z_diff`)" in lines
    assert lines[-1] == "| noise | 0.1235 ± 0.0078 | 0.2346 | -0.3457 | raw-units, other |"
    assert lines[-2] == "| plain | none | 0.2346 | -0.3457 | raw-units, other |"


def test_the_largest_difference_over_attributes_is_shown(tmp_path: Path) -> None:
    first = {"source": "latte", "metric": "sap", "difference": "-2e-03"}
    lines = published(tmp_path, "<!-- latte -->", first, {**first, "difference": "1e-03", "theirs": "0.9"}, {})
    assert lines[-1] == "| noise | `sap` | 0.1235 | 0.2346 | -0.3457 | 2e-03 |"


def test_newer_scores_stand_beside_the_code_of_their_authors(tmp_path: Path) -> None:
    nothing = {"source": "x", "theirs": "nan", "difference": "nan"}
    own = {"source": "icebeem", "metric": "mcc", "difference": "-1.11e-01"}
    lines = published(tmp_path, "<!-- mcc-infomec-snc -->", {}, own, nothing)
    assert lines[-2] == "| icebeem | noise | `mcc` | 0.1235 | 0.2346 | -0.3457 | 1e-01 |"
    assert lines[-1] == "| x | noise | `z_diff` | none | 0.2346 | -0.3457 |  |"
    assert len(lines) == 4


def test_every_array_is_described() -> None:
    assert "| plain | a code per factor with noise, two of noise alone |" in docs_measured.MARKS["<!-- arrays -->"](
        RESULTS
    )
