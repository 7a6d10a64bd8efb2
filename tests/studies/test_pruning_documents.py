"""The document of a study of pruning: what is said follows from the differences after correction."""

from dataclasses import replace
from typing import Any

import pytest

from demele import lab
from demele.report.document import Pill, Table
from demele.report.words import typed
from demele.studies.pruning.configurations import CLAIMS
from demele.studies.pruning.study import _state


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
    assert found.table is not None
    for title, pill, sign, mean, span, p, _ in found.table.rows:
        own = overall[titles[str(title)]]
        assert (mean, span, p) == (own.mean, (own.low, own.high), own.p_value)
        assert sign == {"more": "> 0", "equal": "= 0", "less": "< 0"}[expected[str(title)]]
        assert isinstance(pill, Pill)
        assert (pill.text == "inconclusive") == (not own.significant)
    assert [section.title for section in found.sections] == [
        "Ranking", "Pairwise results", "Label errors", "Published results", "Models", "Structure", "Data",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "verdict", "significant", "state"),
    [
        ("more", "more", True, "confirmed"),
        ("more", "less", True, "contradicted"),
        ("equal", "less", True, "contradicted"),
        ("more", "more", False, "inconclusive"),
        ("equal", "inconclusive", False, "inconclusive"),
        ("", "less", True, "difference"),
    ],
)
def test_the_verdict_on_a_claim(
    expected: Any, verdict: Any, significant: bool, state: str, study: lab.PruningStudy
) -> None:
    claim = replace(CLAIMS[0], expected=expected)
    found = replace(study.differences()[0], verdict=verdict, significant=significant)
    assert _state(claim, found).text == state


def test_the_counts_of_a_difference_are_those_of_the_rows(study: lab.PruningStudy) -> None:
    frame = study.to_frame()
    own = frame[frame.noise == "none"]
    errors = dict(zip(zip(own.configuration, own.seed, strict=True), own.error, strict=True))
    claim = CLAIMS[0]
    here = [pair for pair in claim.pairs if (pair[0], 0) in errors]
    lower = sum(errors[first, seed] < errors[second, seed] for first, second in here for seed in range(5))
    (pairwise,) = [section for section in study.document().sections if section.title == "Pairwise results"]
    table = pairwise.shown[2]
    assert isinstance(table, Table)
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert (typed(row["Labels"]), row["First lower"], row["Pairs"]) == ("true labels", lower, len(here))
