"""The document of a study of pruning: what is said follows from the differences after correction."""

from dataclasses import replace
from typing import Any

import pytest

from demele import lab
from demele.report.document import Choice, Pill, Strips, Table
from demele.report.words import typed
from demele.studies.pruning import documents
from demele.studies.pruning.claims import CLAIMS


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


def test_the_figure_has_the_published_difference_as_a_tick(study: lab.PruningStudy) -> None:
    figure = study.document().figure
    assert isinstance(figure, Strips)
    (half,) = [strip for strip in figure.rows if strip.name == "half of the links minus whole"]
    assert [mark.at for mark in half.marks if mark.kind == "tick"] == [pytest.approx(0.016)]
    assert half.pill == Pill("confirmed", "good", 0)
    assert len(figure.rows) == len(CLAIMS) - 1  # the training cost has another scale


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
    assert documents._state(claim, found).text == state


def test_an_unfinished_study_says_what_is_missing(study: lab.PruningStudy) -> None:
    first = {key: record for key, record in study.records.items() if key[0] == "fabric"}
    part = replace(study, records=dict(list(first.items())[:3]))
    found = part.document()
    assert found.headline == "No published claim can be tested yet."
    assert found.scope[0] == "3 of 345 fabrics"
    (models,) = [section for section in found.sections if section.title == "Models"]
    assert models.blocks[0] == "Not trained: 342 missing."


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


def test_links_are_drawn_for_each_label_noise(study: lab.PruningStudy) -> None:
    (structure,) = [section for section in study.document().sections if section.title == "Structure"]
    choice = structure.shown[1]
    assert isinstance(choice, Choice)
    graphs = choice.of["\u2068late links 75% magnitude\u2069"]
    assert len(graphs) == 3
    shares = study.links("late links 75% magnitude", "none")
    assert [weight or 0 for _, _, weight in graphs[0].links] == shares.tolist()  # type: ignore[union-attr]


def test_the_json_holds_every_record(study: lab.PruningStudy) -> None:
    found = study.to_dict()
    assert len(found["records"]) == len(study.records)
    assert {tuple(key): record["status"] for key, record in found["records"] if key[0] == "fabric"} == {
        key: record["status"] for key, record in study.records.items() if key[0] == "fabric"
    }
