"""What notebooks show of results, and the sentences that results and the command line share."""

from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest

import demele
from demele import evaluation
from demele.report.cards import card
from demele.report.said import sentences_of
from tests.report.test_html import Page

NASTY = ("<b>x</b>", "\"><script>document.title='broken out'</script>")
RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 3, 300)
FIRST = np.where(RNG.random(300) < 0.7, TRUTH, 0)
SECOND = np.where(RNG.random(300) < 0.95, TRUTH, 1)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _results() -> dict[str, Any]:
    return {
        "decision": evaluation.compare(FIRST, SECOND, TRUTH),
        "ranking": evaluation.rank({"first": FIRST, "second": SECOND}, TRUTH),
        "assessment": evaluation.assess(FIRST, TRUTH),
        "confusion": evaluation.confusion(FIRST, TRUTH),
    }


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return _results()


def test_results_have_cards_of_one_screen_without_scripts(results: dict[str, Any]) -> None:
    for name, result in results.items():
        page = Page(result._repr_html_())
        tags = [tag for tag, _ in page.elements]
        assert tags[0] == "div", name
        assert not {"script", "style", "link", "img", "iframe"} & set(tags), name
        assert tags.count("tr") <= 45, name
        assert "table" in tags, name


def test_cards_begin_with_the_sentence_of_the_result(results: dict[str, Any]) -> None:
    said = [result for result in results.values() if hasattr(result, "sentences")]
    assert len(said) >= 4
    for result in said:
        shown = unescape(result._repr_html_()).replace("<bdi>", "").replace("</bdi>", "")
        assert f">{result.sentence}</p>" in shown.replace("\N{MINUS SIGN}", "-")
        assert result.sentence


def test_names_in_tables_are_text() -> None:
    frame = pd.DataFrame({name: [name] * 40 for name in NASTY})
    shown = card(f"{NASTY[1]}\nmore", frame)
    assert [tag for tag, _ in Page(shown).elements].count("script") == 0
    assert NASTY[1] in Page(shown).words
    assert "28 more rows" in Page(shown).words


def test_nothing_is_said_of_an_unknown_kind() -> None:
    with pytest.raises(demele.InputError, match="kind: expected one of study, got 'poem'"):
        sentences_of("poem", {})
