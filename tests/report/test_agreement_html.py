"""Pages about agreement between metrics: the numbers are those found, what collapsed is marked, names are text."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele.core.errors import InputError
from demele.report.agreement import write_agreement
from demele.report.agreement_view import agreement_view, headline, short_tau, summary
from demele.report.said import sentences_of
from demele.report.study import models_sentence, strengths, write_study
from demele.report.terminal.agreement import agreement_text, study_text
from tests.report import test_browser as browser
from tests.report.sample_agreement import METRICS, sample_agreement, sample_study
from tests.report.test_html import Page

needs_browser = pytest.mark.skipif(browser._BROWSER is None, reason="needs a Chromium browser: none is installed")


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "page.html"
    return write_agreement(sample_agreement(), path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> str:
    return sample_study().to_html(tmp_path_factory.mktemp("page") / "study.html").read_text(encoding="utf-8")


def matrices(document: str) -> dict[str, dict[tuple[str, str], str]]:
    """Texts of the cells of every matrix, by row and column."""
    found = {}
    for name, body in re.findall(r'<table class="taus" data-name="([^"]*)">(.*?)</table>', document, re.DOTALL):
        found[name] = {
            (row, column): text
            for row, line in re.findall(r'<tr data-metric="([^"]*)">(.*?)</tr>', body, re.DOTALL)
            for column, text in re.findall(r'<td [^>]*data-metric="([^"]*)">(.*?)</td>', line, re.DOTALL)
        }
    return found


def test_every_matrix_holds_what_was_found(document: str) -> None:
    view, shown = agreement_view(sample_agreement()), matrices(document)
    titles = ("All configurations", "Without collapsed ones", "Permuted factors (null)", "Within groups")
    assert list(shown) == [*titles, "Cars3D, in print", "SmallNORB, in print"]
    for title, pairs in zip(titles, view.matrices.values(), strict=True):
        for names, pair in pairs.items():
            row, column = sorted(names)
            assert shown[title][row, column] == shown[title][column, row] == short_tau(pair["tau"])
    assert shown["Cars3D, in print"]["mig", "sap"] == ".04"
    assert shown["All configurations"]["mig", "mine"] == "–"  # never varies
    assert len(shown["SmallNORB, in print"]) == 25


def test_a_cell_tells_its_interval_and_what_the_null_gives(document: str) -> None:
    pair = agreement_view(sample_agreement()).matrices["all"][frozenset({"mig", "sap"})]
    told = f"MIG and SAP: {short_tau(pair['tau'])} [{short_tau(pair['low'])}, {short_tau(pair['high'])}]"
    assert f'title="{told}, 24 configurations, {pair["verdict"]}; null {short_tau(pair["null_tau"])}' in document


def test_the_page_needs_nothing_from_outside_and_holds_all_numbers(document: str) -> None:
    page, data = Page(document), sample_agreement()
    assert not re.findall(r"(?:src|href)=\"(?!#|data:)", document)
    held = page.script("data")
    assert len(held["rows"]) == 4 * 10
    assert held["rows"][0]["tau"] == data["matrices"][0]["pairs"][0]["tau"]
    assert held["likeness"] == data["likeness"]
    assert sorted(held["page"]["orders"]["alike"]) == sorted(data["metrics"])


def test_what_is_said_first_counts_what_was_found() -> None:
    view = agreement_view(sample_agreement())
    pairs = view.matrices["all"].values()
    clear = sum(pair["verdict"] == "clear" for pair in pairs)
    untold = sum(pair["verdict"] == "not told from 0" for pair in pairs)
    assert str(headline(view)).startswith(
        f"Of 10 pairs of metrics, {clear} ranks the configurations alike, told from 0"
    )
    assert f"of {untold} nothing can be told from 24 configurations." in headline(view)
    said = " ".join(summary(view))
    assert "Without the 4 collapsed configurations" in said
    assert "With what is printed for Cars3D, the taus of 6 pairs correlate by" in said


def test_families_stand_together_and_metrics_of_others_last() -> None:
    view = agreement_view(sample_agreement())
    assert view.by_family == ("mig", "modularity", "sap", "irs", "mine")


@pytest.mark.parametrize("data", [{"kind": "ranking"}, []])
def test_other_results_are_refused(data: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one agreement"):
        write_agreement(data, tmp_path / "page.html")


# Studies -------------------------------------------------------------------------------------------------------------


def test_scores_stand_in_the_grid_with_what_collapsed(study: str) -> None:
    figures = re.findall(r"<figcaption><bdi>([^<]*)</bdi></figcaption><table class=\"grid\">(.*?)</table>", study, re.S)
    assert [title for title, _ in figures] == ["MIG", "SAP", "IRS", "mine"]
    rows = re.findall(r"<tr><th scope=\"row\">([^<]*)</th>(.*?)</tr>", figures[0][1])
    assert [row for row, _ in rows] == ["0.1", "1", "100"]
    cells = {row: re.findall(r"<td([^>]*)>([^<]*)</td>", line) for row, line in rows}
    assert all('class="collapsed"' in own for own, _ in cells["100"])
    assert cells["0.1"][2][1] == "–"  # it diverged
    model = next(model for model in sample_study().models if model.id == "b1-d4")
    assert cells["1"][1][1] == f"{sample_study().value(model, 'mig'):.2f}".replace("-", "−")


def test_models_are_told_with_their_flags(study: str) -> None:
    data = sample_study().to_dict()
    assert models_sentence(data) == (
        "9 models: 3 collapsed (no code is in use, so that scores are of noise); 2 partial (fewer codes are in use "
        "than there are factors); 1 diverged (the training was stopped, for its loss was not finite)."
    )
    assert strengths(data) == "beta"
    words = Page(study).words
    assert "the loss was not finite" in words
    assert "2 of 2" in words or "0 of 2" in words


def test_a_study_that_has_just_begun_has_a_page(tmp_path: Path) -> None:
    data = replace(sample_study(), models=sample_study().models[:2]).to_dict()
    assert data["agreement"] is None
    words = Page(write_study(data, tmp_path / "page.html").read_text(encoding="utf-8")).words
    text = " ".join(study_text(data).split())
    for said in (words, text, " ".join(sentences_of("study", data))):
        assert "2 trained configurations cannot show which metrics agree: rank correlations of so few have no" in said


def test_of_few_models_the_scores_are_listed_and_no_rank_correlation(tmp_path: Path) -> None:
    study = sample_study()
    seven = replace(study, models=study.models[:7])
    text = study_text(seven.to_dict())
    assert "pairs of metrics" not in text
    assert "tau" not in text
    for model in seven.models:
        line = next(line for line in text.splitlines() if line.startswith(f"{model.configuration.name}, seed"))
        score = seven.value(model, "mig")
        assert ("–" if np.isnan(score) else f"{score:.3f}".replace("-", "−")) in line
    assert seven.agreement(draws=100).configurations  # whoever asks for it has it
    assert study.to_dict()["agreement"] is not None


def test_terminals_say_the_same() -> None:
    view = agreement_view(sample_agreement())
    text = agreement_text(sample_agreement())
    assert " ".join(text.split()).startswith(str(headline(view)))
    for name in METRICS[:3]:
        assert name.upper() in text
    assert "note: mine: gives every configuration the same score, 0.5: its ranking is undefined" in " ".join(
        text.split()
    )
    assert "9 models: 3 collapsed" in study_text(sample_study().to_dict())


@needs_browser
def test_two_matrices_stand_side_by_side_in_the_order_asked_for(tmp_path: Path) -> None:
    script = (
        "const order = document.getElementById('order'); order.value = 'alike';"
        "order.dispatchEvent(new Event('change'));"
        "const names = [...document.querySelectorAll('.pane.left tbody tr')].map((row) => row.dataset.metric);"
        "document.title = names.join(' ') + ' ' + document.querySelectorAll('.pane table.taus').length;"
    )
    found = browser._opened(write_agreement, sample_agreement(), tmp_path, script)
    view = agreement_view(sample_agreement())
    assert f"<title>{' '.join(view.clustered)} 2</title>" in found
