"""The page and the sheet of a study of pruning: what is said follows from the figures, and nothing of a file is run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from demele import studies
from demele.core.errors import InputError
from demele.report.pruning import pruning_page
from demele.report.pruning_view import answer, answer_words, headline, pruning_view, summary
from demele.report.terminal.pruning import pruning_text


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    """Return what the stored study says."""
    return studies.pruning_demo().to_dict()


def test_the_page_holds_every_claim_fabric_and_difference(content: dict[str, Any]) -> None:
    page = pruning_page(content).text()
    view = pruning_view(content)
    assert str(headline(view)) in re.sub("<[^>]+>", "", page)
    for name in view.configurations:
        assert name in page
    for claim in view.claims.values():
        assert claim["title"] in page
    assert page.count("data:image/svg+xml;base64,") == len(content["structures"]) > 0
    assert len(page) < 1_500_000


def test_what_is_said_first_says_how_much_stays_significant_after_correction(content: dict[str, Any]) -> None:
    said = str(headline(pruning_view(content)))
    assert said == (
        "Of 11 published claims about pruning, 2 are shown, 4 are contradicted and 5 are not resolved, each by its own "
        "interval. After correction for all claims (Holm), 2 of the 2 shown and none of the 4 contradicted stay "
        "significant."
    )
    published = {claim["name"]: claim["expected"] for claim in content["claims"] if claim["expected"]}
    overall = [one for one in content["differences"] if one["noise"] == "all" and published.get(one["claim"])]
    against = [one for one in overall if one["verdict"] not in ("unresolved", published[one["claim"]])]
    assert [one["told"] for one in against] == [False] * 4
    changed = [{**one, "told": one["told"] or one["claim"] == against[0]["claim"]} for one in content["differences"]]
    assert "and 1 of the 4 contradicted stay significant" in headline(pruning_view({**content, "differences": changed}))
    undecided = [{**one, "verdict": "unresolved", "told": False} for one in content["differences"]]
    assert "Holm" not in headline(pruning_view({**content, "differences": undecided}))


def test_a_claim_is_answered_by_its_interval_and_what_print_expects() -> None:
    verdicts = ("more", "less", "unresolved")
    table = {
        "more": ("shown", "opposite", "open"),
        "less": ("opposite", "shown", "open"),
        "equal": ("opposite", "opposite", "alike"),
        "": ("differs", "differs", "open"),
    }
    for expected, answers in table.items():
        assert tuple(answer({"expected": expected}, {"verdict": one}) for one in verdicts) == answers


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        ({"verdict": "more", "told": True}, "shown"),
        ({"verdict": "more", "told": False}, "shown, significant before correction only"),
        ({"verdict": "less", "told": True}, "the opposite is shown"),
        (
            {"verdict": "unresolved", "told": False, "low": -0.01, "seeds_needed": 23},
            "not resolved; about 23 seeds would, if it is as seen",
        ),
        (
            {"verdict": "unresolved", "told": False, "low": -0.01, "seeds_needed": None},
            "not resolved; more than 1,000 seeds would not do",
        ),
        (
            {"verdict": "unresolved", "told": False, "low": None, "seeds_needed": None},
            "not resolved: one seed says nothing of a spread",
        ),
    ],
)
def test_words_of_a_claim(difference: dict[str, Any], words: str) -> None:
    assert str(answer_words({"expected": "more"}, difference)) == words


def test_no_difference_seen_says_how_large_it_may_be() -> None:
    difference = {"verdict": "unresolved", "told": False, "low": -0.031, "high": 0.012, "seeds_needed": 3}
    assert (
        str(answer_words({"expected": "equal"}, difference)) == "no difference seen; it may be as large as 3.1 points"
    )


def test_an_unfinished_study_says_what_is_missing(content: dict[str, Any]) -> None:
    part = {**content, "fabrics": [dict(one) for one in content["fabrics"]], "decisions": [], "ranks": []}
    part["differences"] = []
    for one in part["fabrics"][3:]:
        one.update(status="missing", error=None)
    text = pruning_page(part).text()
    assert f"{len(content['fabrics']) - 3} missing" in text
    assert "say nothing yet" in text
    assert "say nothing yet" in pruning_text(part)


def test_names_in_a_file_cannot_become_markup(content: dict[str, Any]) -> None:
    evil = "<script>alert(1)</script>"
    text = json.dumps(content).replace("late links 75% magnitude", evil)
    page = pruning_page(json.loads(text)).text()
    assert evil not in page
    assert "&lt;script&gt;alert(1)" in page


def test_something_else_is_refused() -> None:
    with pytest.raises(InputError):
        pruning_page({"kind": "study"})


def test_the_sheet_has_every_way_and_the_sentences(content: dict[str, Any]) -> None:
    text = pruning_text(content)
    view = pruning_view(content)
    flat = " ".join(text.split())
    assert str(headline(view)) in flat
    assert all(name in text for name in view.configurations)
    assert all(" ".join(str(one).split()) in flat for one in summary(view))


def test_every_count_of_the_page_is_one_of_the_rows(content: dict[str, Any], tmp_path: Path) -> None:
    found = next(
        one for one in content["differences"] if one["claim"] == "sensitivity-magnitude" and one["noise"] == "none"
    )
    rows = {(one["configuration"], one["seed"]): one["error"] for one in content["fabrics"] if one["noise"] == "none"}
    pairs = next(one["pairs"] for one in content["claims"] if one["name"] == "sensitivity-magnitude")
    here = [pair for pair in pairs if (pair[0], 0) in rows]
    lower = sum(rows[first, seed] < rows[second, seed] for first, second in here for seed in range(5))
    assert found["first_lower"] == lower
    assert found["pairs"] == len(here) == 4
