"""Pages of studies: what collapsed is marked, and few models have scores only."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from demele.report.said import sentences_of
from demele.report.study import models_sentence, strengths, write_study
from demele.report.terminal.agreement import study_text
from tests.report.sample_agreement import sample_study
from tests.report.test_html import Page


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> str:
    return sample_study().to_html(tmp_path_factory.mktemp("page") / "study.html").read_text(encoding="utf-8")


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
