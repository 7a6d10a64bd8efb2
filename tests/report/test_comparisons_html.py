"""The page about comparison methods: numbers are those measured, names cannot break out, choices do what they say."""

import base64
import html
import io
import json
import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import demele
from demele.report.comparisons import write_comparisons
from demele.report.comparisons_drawn import COLOURS, FIGURES, curve_picture, matrix_png, packed_cells
from demele.report.comparisons_view import cells_of, comparison_view
from demele.report.words import DASH
from tests.report import test_browser as browser
from tests.report.sample_comparisons import content, crafted, measured, only, renamed
from tests.report.sample_labels import HOSTILE
from tests.tolerances import ROUNDING, assert_close

needs_browser = pytest.mark.skipif(browser._BROWSER is None, reason="needs a Chromium browser: none is installed")


def page(data: dict[str, Any], folder: Path) -> str:
    return write_comparisons(data, folder / "page.html").read_text(encoding="utf-8")


def rows_of(document: str) -> dict[str, list[str]]:
    """Texts of the cells of the table at one rate, by method; hidden cells are left out."""
    body = re.search(r'<table class="sortable tallies".*?<tbody>(.*?)</tbody>', document, flags=re.DOTALL)
    assert body
    rows = re.findall(r'<tr data-method="([^"]*)">(.*?)</tr>', body[1], flags=re.DOTALL)
    found = {}
    for name, row in rows:
        cells = re.findall(r"<td((?:[^>\"]|\"[^\"]*\")*)>(.*?)</td>", row, flags=re.DOTALL)
        found[name] = [browser._plain(text.replace("<span", " <span")) for own, text in cells if "hidden" not in own]
    return found


def share(value: float) -> str:
    return f"{value:.2f}%"


def expected_row(tally: Any) -> list[str]:
    shares = [
        f"{share(getattr(tally, key))} ± {getattr(tally, f'{key}_se'):.2f}" for key in ("type_1", "type_2", "agreement")
    ]
    labels = f"{tally.labels_asked:g}"
    return [*shares, share(tally.inconclusive), str(tally.reversed), labels]


# What is written ------------------------------------------------------------------------------------------------------


def test_the_table_holds_what_was_measured_at_five_percent(tmp_path: Path) -> None:
    rows = rows_of(page(content(), tmp_path))
    assert list(map(len, rows.values())) == [9] * 5
    for name in measured().methods:
        assert rows[html.escape(name)][:6] == expected_row(measured().tally(name, 0.05))
    assert rows["audit(labels=100)"][5] == "100"


def test_figures_of_the_source_stand_beside_those_of_the_same_method_and_rate(tmp_path: Path) -> None:
    rows = rows_of(page(content(), tmp_path))
    assert rows["overlap"][6:] == ["1.62%", "1.58%", "98.39%"]
    assert rows["cleaned(s=0.75, e=0.25)"][6:] == ["1.59%", "1.32%", "98.53%"]
    assert rows["house rule"][6:] == [DASH] * 3
    # The source has nothing at 2%.
    assert rows_of(page(only(content(), rates=1), tmp_path))["overlap"][6:] == []


def test_the_verdict_names_the_methods_without_a_type_1_error_and_their_price(tmp_path: Path) -> None:
    found = measured()
    free = [
        name
        for name in found.methods
        if all(found.tally(name, rate, "accuracy").n_type_1 == 0 for rate in (0.02, 0.05, 0.2))
    ]
    assert "worst-case-overlap" in free
    assert "overlap" not in free
    assert set(comparison_view(content()).error_free("accuracy")) == set(free)
    text = browser._plain(page(content(), tmp_path).split('id="verdict"')[1].split("</section>")[0])
    classic, prudent = found.tally("overlap", 0.05), found.tally("worst-case-overlap", 0.2)
    assert f"takes {share(classic.type_1)} of the candidates that it should not" in text
    assert f"misses {share(classic.type_2)} of those" in text
    assert f"{len(free)} of 5 methods make no type I error at any noise rate" in text
    assert share(prudent.type_2) in text
    assert "audit (labels=100): 100 labels" in text


def test_cleanings_are_counted_after_the_methods_that_are_named(tmp_path: Path) -> None:
    """Every method is made free of errors, and the cleaning the cheapest: it still comes last."""
    data = content()
    for row in data["tallies"]:
        row.update(n_type_1=0, type_2=0.5 if row["method"].startswith("cleaned") else 20.0)
    assert comparison_view(data).error_free("accuracy")[-1] == "cleaned(s=0.75, e=0.25)"
    verdict = page(data, tmp_path).split('id="verdict"')[1].split("</section>")[0]
    text = browser._plain(verdict)
    assert (
        "For recall of 0, without a type I error: overlap, worst-case-overlap, audit (labels=100), and 1 cleaning."
        in text
    )
    assert "And 1 cleaning: see the table below." in text
    assert "cleaned (s" not in text


def test_the_reference_is_named_and_what_it_counts_as_an_error(tmp_path: Path) -> None:
    usual = browser._plain(page(content(), tmp_path))
    assert "The reference is the overlap of the two score intervals on true labels." in usual
    assert "A type I error need not mean that a worse classifier is taken." in usual
    data = {**content(), "reference": {"name": "paired", "is": "McNemar's exact test on true labels"}}
    other = html.unescape(browser._plain(page(data, tmp_path)))
    assert "The reference is McNemar's exact test on true labels." in other
    assert "need not mean" not in other


def test_a_method_that_could_not_err_is_not_called_free_of_errors() -> None:
    nothing = crafted("0220", m=2, accuracies=[0.5, 0.6], n_type_1=0, n_kept=0, n_taken=2, type_1=None)
    assert comparison_view(nothing).error_free("accuracy") == []
    something = crafted("0210", m=2, accuracies=[0.5, 0.6], n_type_1=0, n_kept=1, n_taken=1)
    assert comparison_view(something).error_free("accuracy") == ["overlap"]


def test_all_figures_are_in_the_page_with_their_counts(tmp_path: Path) -> None:
    document = page(content(), tmp_path)
    listed = document.split('class="values screen-only"')[1].split("</details>")[0]
    assert listed.count("<tr>") == 1 + len(measured().tallies)
    one = measured().tally("overlap", 0.2, "recall of 0")
    assert f"{one.n_type_1:,} of {one.n_kept:,}" in listed
    assert f"{one.n_type_2:,} of {one.n_taken:,}" in listed


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    data = renamed(content(), "house rule", HOSTILE)
    data["names"][0] = HOSTILE
    data["classes"] = [HOSTILE, "\ud800"]
    data["title"] = HOSTILE
    data["noise"] = data["published_source"] = HOSTILE
    data["notes"] = [{"code": "x", "message": HOSTILE, "severity": "warning"}]
    data["details"] = {HOSTILE: {HOSTILE: [HOSTILE]}}
    data["measures"][1] = HOSTILE
    for key in ("tallies", "matrices"):
        for row in data[key]:
            row["measure"] = HOSTILE if row["measure"] != "accuracy" else "accuracy"
    document = page(data, tmp_path)
    assert "<b>\"'>" not in document
    assert document.count("</script>") == page(content(), tmp_path).count("</script>")
    assert "{{data}}" in document  # as a name, not as a place


def test_what_is_undefined_is_a_dash(tmp_path: Path) -> None:
    data = crafted("0110", m=2, accuracies=[0.5, 0.5], type_1=math.nan, type_2=None, agreement=math.nan)
    document = page(data, tmp_path)
    assert rows_of(document)["overlap"] == [DASH, DASH, DASH, "0.00%", "0", "0"]
    assert not re.search(
        r">[^<]*\b(nan|NaN|None)\b[^<]*<", re.sub(r"<script.*?</script>", "", document, flags=re.DOTALL)
    )


@pytest.mark.parametrize(("rates", "methods"), [(1, None), (None, 1), (1, 1)])
def test_one_rate_or_one_method_is_enough(tmp_path: Path, rates: int | None, methods: int | None) -> None:
    data = only(content(), rates=rates, methods=methods)
    document = page(data, tmp_path)
    assert len(rows_of(document)) == (5 if methods is None else 1)
    assert ('class="pick-rate"' in document) == (rates is None)
    assert 'class="curve"' in document


def test_many_classes_are_shortened(tmp_path: Path) -> None:
    data = content()
    data["classes"] = [f"class {place}" for place in range(1000)]
    document = page(data, tmp_path).split('id="experiment"')[1].split("</section>")[0]
    assert "1,000: " in document
    assert "class 19<" in document
    assert "class 20<" not in document
    assert "and 980 more" in document


def test_details_are_shown_as_facts(tmp_path: Path) -> None:
    data = content()
    data["details"] = {"data_set": "digits", "training": {"images": 1234, "nothing": None}, "kinds": ["a", "b"]}
    document = page(data, tmp_path)
    for name, value in (("data set", "digits"), ("training: images", "1,234"), ("training: nothing", DASH)):
        assert re.search(rf"<dt>{name}</dt>\n<dd><bdi>{value}</bdi></dd>", document)
    assert "<dd><bdi>a</bdi>, <bdi>b</bdi></dd>" in document


def test_the_same_measurement_gives_the_same_bytes(tmp_path: Path) -> None:
    first = write_comparisons(content(), tmp_path / "a.html").read_bytes()
    assert first == write_comparisons(content(), tmp_path / "b.html").read_bytes()
    assert first == measured().to_html(tmp_path / "c.html").read_bytes()


def test_nothing_comes_from_outside(tmp_path: Path) -> None:
    document = page(content(), tmp_path)
    addresses = re.findall(r'\b(?:src|href)="([^"]*)"', document)
    assert [address[:30] for address in addresses if not address.startswith(("#", "data:"))] == []
    assert "default-src 'none'" in document


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "ranking"}, "data: expected the dictionary of one method comparison"),
        ({"methods": []}, "content: expected at least one of methods, got none"),
        ({"columns": []}, "content: expected at least one of columns, got none"),
        ({"names": []}, "content: expected at least one of names, got none"),
        (
            {"matrices": [{"method": "overlap", "measure": "accuracy", "noise": 0.1, "cells": "012"}]},
            "expected 2 x 2 digits 0 to 4 in the matrix of 'overlap', got 3 signs",
        ),
        (
            {"matrices": [{"method": "overlap", "measure": "accuracy", "noise": 0.1, "cells": "0150"}]},
            "expected 2 x 2 digits",
        ),
        (
            {"matrices": [{"method": "overlap", "measure": "accuracy", "noise": 0.1, "cells": "0200"}]},
            "expected 0 on the diagonal and only there in the matrix of 'overlap'",
        ),
    ],
)
def test_other_dictionaries_are_refused_before_anything_is_written(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    data = {**crafted("0210", m=2, accuracies=[0.5, 0.6]), **change}
    with pytest.raises(demele.InputError, match=re.escape(message)):
        write_comparisons(data, tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


# What is drawn --------------------------------------------------------------------------------------------------------


@given(st.integers(1, 9).flatmap(lambda m: st.lists(st.integers(1, 4), min_size=m * m, max_size=m * m)))
def test_packed_cells_can_be_unpacked(cells: list[int]) -> None:
    data = base64.b64decode(packed_cells("".join(map(str, cells))))
    assert len(data) == -(-len(cells) // 4)
    bits = "".join(f"{byte:08b}"[::-1] for byte in data)
    assert [1 + int(bits[2 * at]) + 2 * int(bits[2 * at + 1]) for at in range(len(cells))] == cells


def test_a_picture_has_one_point_for_each_cell_in_the_order_of_accuracy() -> None:
    # Row 0 (the better): takes 1 wrongly, diagonal; row 1: misses 0. By accuracy, 1 comes first.
    view = comparison_view(crafted("0340", m=2, accuracies=[0.9, 0.2]))
    rows = cells_of(view, ("accuracy", 0.1, "overlap"), view.by_accuracy)
    assert rows == ["04", "30"]
    data = base64.b64decode(matrix_png(rows).partition(",")[2])
    with Image.open(io.BytesIO(data)) as picture:
        points = np.asarray(picture.convert("RGB"))
    assert points.shape == (2, 2, 3)
    assert [["#" + bytes(point).hex() for point in row] for row in points] == [
        [COLOURS[0], COLOURS[4]],
        [COLOURS[3], COLOURS[0]],
    ]


def test_curves_tell_their_values_without_a_script() -> None:
    view = comparison_view(content())
    for figure in FIGURES:
        picture = curve_picture(view, "accuracy", figure)
        told = re.findall(r"<title>(.*?)</title>", picture)
        assert len(told) == 5 * 3
        tally = measured().tally("overlap", 0.2)
        assert (
            f"overlap, 20% noise: {share(getattr(tally, figure[0]))} ± {getattr(tally, f'{figure[0]}_se'):.2f}" in told
        )


def test_a_curve_rises_where_errors_do() -> None:
    picture = curve_picture(comparison_view(content()), "accuracy", FIGURES[0])
    line = re.search(r'<polyline class="line c1 v0" points="([^"]*)"', picture)
    assert line
    points = [tuple(map(float, point.split(","))) for point in line[1].split()]
    errors = [measured().tally("overlap", rate).type_1 for rate in (0.02, 0.05, 0.2)]
    assert all(a[0] < b[0] for a, b in pairwise(points))
    assert np.array_equal(np.argsort([-y for _, y in points], kind="stable"), np.argsort(errors, kind="stable"))


# In a browser ---------------------------------------------------------------------------------------------------------


def opened(data: dict[str, Any], folder: Path, script: str = "") -> str:
    return browser._opened(write_comparisons, data, folder, script)


@needs_browser
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(lambda: renamed(content(), "house rule", HOSTILE), id="hostile"),
        pytest.param(lambda: only(content(), rates=1, methods=1), id="one"),
        pytest.param(
            lambda: crafted("0110", m=2, accuracies=[0.5, 0.5], type_1=None, type_2=None, agreement=None),
            id="undefined",
        ),
        pytest.param(lambda: {**content(), "matrices": []}, id="no matrices"),
    ],
)
def test_pages_run_under_their_policy(data: Any, tmp_path: Path) -> None:
    document = opened(data(), tmp_path)
    assert not re.search(r'<div class="(tools|controls)"[^>]*hidden', document)
    assert "<title>broken out</title>" not in document


@needs_browser
def test_the_choice_of_rate_and_measure_changes_the_table_and_keeps_its_order(tmp_path: Path) -> None:
    choose = (
        "document.querySelector('.tallies thead th:nth-child(3) .sort').click();"
        "const rate = document.querySelector('.pick-rate'); rate.value = '0.2';"
        "rate.dispatchEvent(new Event('change'));"
    )
    document = opened(content(), tmp_path, choose)
    rows = rows_of(document)
    for name in measured().methods:
        assert rows[name] == expected_row(measured().tally(name, 0.2))  # and no figures of the source: it has none
    order = [measured().tally(name, 0.2).type_2 for name in rows]
    assert order == sorted(order, reverse=True)
    assert '<span class="of-rate">20%</span>' in document
    measure = (
        "const one = document.querySelector('.pick-measure'); one.value = 'recall of 0';"
        "one.dispatchEvent(new Event('change'));"
    )
    rows = rows_of(opened(content(), tmp_path, measure))
    assert rows["overlap"] == [
        *expected_row(measured().tally("overlap", 0.05, "recall of 0")),
        "1.30%",
        "1.35%",
        "98.68%",
    ]


@needs_browser
def test_the_script_draws_the_curves_as_the_page_has_them(tmp_path: Path) -> None:
    def lines(text: str) -> list[list[float]]:
        found = re.findall(r'<polyline class="line [^"]*" points="([^"]*)"', text.split('class="curves"')[1])
        return [[float(value) for value in re.split("[ ,]", points)] for points in found]

    static = lines(page(content(), tmp_path))
    drawn = lines(opened(content(), tmp_path))
    assert len(static) == 15
    assert_close(np.array(static), np.round(np.array(drawn), 1), ROUNDING)


@needs_browser
def test_methods_can_be_taken_from_the_curves(tmp_path: Path) -> None:
    untick = "document.querySelector('#legend input').click();"
    document = opened(content(), tmp_path, untick)
    assert document.count('<polyline class="line c1 v0"') == 1  # only in the legend
    assert document.count('<polyline class="line c0 v0"') == 4
    assert document.split('id="thumbs"')[1].count("<img") == 4


def pointed(row: int, column: int) -> str:
    return (
        "const canvas = document.getElementById('matrix'); const box = canvas.getBoundingClientRect();"
        f"const at = {{ clientX: box.left + box.width * ({column} + 0.5) / 8,"
        f"clientY: box.top + box.height * ({row} + 0.5) / 8 }};"
        "canvas.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, ...at }));"
    )


def expected_words(method: str, rate: float, baseline: int, candidate: int) -> list[str]:
    found = measured()
    outcome = found.matrix(method, rate)[baseline, candidate]
    words = ("", "both keep the baseline", "both take the candidate", "type I error", "type II error")[outcome]
    return [
        f"Baseline: {found.names[baseline]} (accuracy {100 * found.accuracies[baseline]:.2f}%)",
        f"Candidate: {found.names[candidate]} (accuracy {100 * found.accuracies[candidate]:.2f}%)",
        words,
    ]


@needs_browser
@pytest.mark.parametrize("method", ["overlap", "worst-case-overlap"])
def test_a_cell_of_a_matrix_tells_its_pair(tmp_path: Path, method: str) -> None:
    choose = (
        f"const pick = document.getElementById('pick-method'); pick.value = '{method}';"
        "pick.dispatchEvent(new Event('change'));"
    )
    order = np.argsort(measured().accuracies, kind="stable")
    said = browser._element(opened(content(), tmp_path, choose + pointed(1, 4)), "matrix-says")
    for words in expected_words(method, 0.05, order[1], order[4]):
        assert words in browser._plain(said)
    own = "document.getElementById('by-accuracy').click();"
    said = browser._element(opened(content(), tmp_path, choose + own + pointed(1, 4)), "matrix-says")
    for words in expected_words(method, 0.05, 1, 4):
        assert words in browser._plain(said)


@needs_browser
def test_arrow_keys_move_among_the_cells(tmp_path: Path) -> None:
    keys = (
        "const canvas = document.getElementById('matrix'); canvas.focus();"
        "['ArrowDown', 'ArrowDown', 'End', 'ArrowLeft'].forEach((key) => canvas.dispatchEvent(new KeyboardEvent("
        "'keydown', { key, bubbles: true })));"
    )
    order = np.argsort(measured().accuracies, kind="stable")
    said = browser._plain(browser._element(opened(content(), tmp_path, keys), "matrix-says"))
    for words in expected_words("overlap", 0.05, order[2], order[6]):
        assert words in said


@needs_browser
def test_the_download_is_what_was_measured(tmp_path: Path) -> None:
    tell = "document.body.dataset.all = JSON.stringify(demeleMeasured());"
    document = opened(content(), tmp_path, tell)
    found = re.search(r'<body[^>]* data-all="([^"]*)"', document)
    assert found
    assert json.loads(html.unescape(found[1])) == json.loads(json.dumps(content()))


@needs_browser
def test_the_table_fits_a_small_screen_with_the_figures_of_the_source(tmp_path: Path) -> None:
    """A window of 1200 points leaves 889 beside the contents; a wider table hides behind a scrollbar."""
    narrow = (
        "const box = document.querySelector('table.tallies').closest('.scroll'); box.style.width = '300px';"
        "document.title = `needs ${box.scrollWidth}`;"
    )
    document = opened(renamed(content(), "house rule", "cleaned(s=0.9, e=0.6, c=0.75)"), tmp_path, narrow)
    found = re.search(r"<title>needs (\d+)</title>", document)
    assert found
    assert 300 < int(found[1]) <= 889
