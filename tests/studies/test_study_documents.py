"""The document of a study: which metrics agree first, then scores, models and settings."""

import pytest

from demele.lab import Study
from tests.report.sample_agreement import sample_study


@pytest.fixture(scope="module")
def study() -> Study:
    return sample_study()


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
