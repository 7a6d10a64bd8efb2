"""The document of a study of pruning: what is said follows from the differences after correction."""

import pytest

from demele import lab
from demele.report.document import Pill
from demele.studies.pruning.configurations import CLAIMS


@pytest.fixture(scope="module")
def study() -> lab.PruningStudy:
    """Return the stored study."""
    return lab.pruning_demo()


def test_the_headline_counts_claims_after_correction(study: lab.PruningStudy) -> None:
    found = study.document()
    assert found.headline == (
        "Of 11 published claims about pruning, 2 are confirmed, 0 contradicted and 9 inconclusive after Holm "
        "correction."
    )
    assert study.sentences[1] == (
        "Confirmed: the error of \u201chalf of the links\u201d is larger than that of \u201cwhole\u201d and the "
        "training cost of \u201cearly\u201d is smaller than that of \u201clate\u201d."
    )
    expected = {claim.title: claim.expected for claim in CLAIMS if claim.expected}
    overall = {one.claim: one for one in study.differences() if one.noise == "all"}
    titles = {claim.title: claim.name for claim in CLAIMS}
    for title, pill, sign, mean, span, p, _ in found.table.rows:
        own = overall[titles[str(title)]]
        assert (mean, span, p) == (own.mean, (own.low, own.high), own.p_value)
        assert sign == {"more": "> 0", "equal": "= 0", "less": "< 0"}[expected[str(title)]]
        assert isinstance(pill, Pill)
        assert (pill.text == "inconclusive") == (not own.significant)
    assert [section.title for section in found.sections] == [
        "Ranking", "Pairwise results", "Label errors", "Published results", "Models", "Structure", "Data",
    ]  # fmt: skip
