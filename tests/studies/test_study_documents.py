"""The document of a study: which metrics agree first, then scores, models and settings."""

from dataclasses import replace

import numpy as np
import pytest

from demele import lab
from demele.lab import Study
from demele.report.document import Choice, Heat, Strips, Table
from demele.report.renderers.tables import blocks_of
from tests.report.sample_agreement import sample_study


@pytest.fixture(scope="module")
def study() -> Study:
    return sample_study()


def tables(study: Study) -> dict[str, Table]:
    return {one.caption: one for one in blocks_of(study.document()) if isinstance(one, Table)}


def test_the_agreement_of_metrics_comes_first(study: Study) -> None:
    document, agreement = study.document(), study.agreement().document()
    assert (document.headline, document.sentences) == (agreement.headline, agreement.sentences)
    assert document.table == agreement.table  # 6 pairs
    titles = [section.title for section in document.sections]
    assert titles == ["Scores", "Measures", "Agreement matrix", "Published results", "Models", "Data"]
    assert document.scope[:4] == (
        "9 models",
        "3 collapsed (no active code, so scores are noise)",
        "2 with fewer active codes than factors",
        "1 diverged",
    )


def test_the_strongest_pairs_of_many_are_listed() -> None:
    found = lab.study_demo()
    table = found.document().table
    assert table is not None
    taus = np.abs(found.agreement().matrix().tau)
    assert len(table.rows) == 10
    assert [abs(float(str(row[2]))) for row in table.rows] == pytest.approx(sorted(taus, reverse=True)[:10])
    assert table.note == "The 10 strongest of 136 pairs."
    assert len(str(found).splitlines()) <= 20


def test_scores_stand_in_a_grid_of_option_and_codes(study: Study) -> None:
    choice = study.document().sections[0].shown[0]
    assert isinstance(choice, Choice)
    assert list(choice.of) == ["\u2068MIG\u2069", "\u2068SAP\u2069", "\u2068IRS\u2069", "\u2068mine\u2069"]
    heat = choice.of["\u2068MIG\u2069"][0]
    assert isinstance(heat, Heat)
    values = np.array(heat.values, dtype=float)
    assert (heat.rows, heat.columns) == (["0.1", "1.0", "100.0"], ["2", "4", "8"])
    assert np.isnan(values[0, 2])  # it diverged
    model = next(model for model in study.models if model.id == "b1-d4")
    assert values[1, 1] == study.value(model, "mig")


def test_models_are_listed_with_their_flags(study: Study) -> None:
    rows = {str(row[0]): row for row in tables(study)["Models"].rows}
    assert len(rows) == 9
    model = next(model for model in study.models if model.id == "b0.1-d8")
    diverged = rows[f"\u2068{model.configuration.name}\u2069, seed 0"]
    assert diverged[1] == "diverged"
    assert "the loss was not finite" in str(diverged[-1])


def test_of_few_models_the_scores_are_listed_and_no_rank_correlation(study: Study) -> None:
    seven = replace(study, models=study.models[:7])
    document = seven.document()
    assert document.headline == "6 trained configurations cannot show which metrics agree: 8 are needed."
    assert isinstance(document.figure, Strips)
    assert "tau" not in str(seven)
    assert document.table is not None
    for model, row in zip(seven.models, document.table.rows, strict=True):
        assert row[0] == f"\u2068{model.configuration.name}\u2069, seed 0"
        score = seven.value(model, "mig")
        assert row[3] == score or (np.isnan(score) and np.isnan(float(str(row[3]))))
    assert seven.agreement(draws=100).configurations  # whoever asks for it has it
    begun = replace(study, models=study.models[:2])
    assert begun.sentence.startswith("2 trained configurations cannot show")


def test_the_json_holds_models_and_scores(study: Study) -> None:
    found = study.to_dict()
    assert [model["id"] for model in found["models"]] == [model.id for model in study.models]
    assert {tuple(key): record["value"] for key, record in found["scores"]} == {
        key: record["value"] for key, record in study.scores.items()
    }
