"""What notebooks show of results, and the sentences that results and the command line share."""

import json
from collections.abc import Callable
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest

import demele
from demele import evaluation, labels
from demele.report.cards import card
from demele.report.said import sentences_of
from demele.report.terminal.noise import cleaned_table
from demele.report.terminal.scores import scores_table
from tests.report.sample_agreement import sample_agreement
from tests.report.sample_evaluation import NASTY, sample_evaluation
from tests.report.test_html import Page

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 3, 300)
FIRST = np.where(RNG.random(300) < 0.7, TRUTH, 0)
SECOND = np.where(RNG.random(300) < 0.95, TRUTH, 1)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _results() -> dict[str, Any]:
    factors = RNG.random((400, 2))
    scored = demele.evaluate(factors**3, factors, ["mig", "modularity"])
    annotations = labels.Annotations(np.repeat(np.arange(60), 3), list("abc") * 60, RNG.integers(0, 2, 180))
    suspect = np.zeros(300, dtype=bool)
    suspect[[3, 5, 8]] = True
    cleaning = labels.Cleaning(suspect)
    return {
        "evaluation": scored,
        "score": scored["mig"],
        "verdict": scored.verdict,
        "decision": evaluation.compare(FIRST, SECOND, TRUTH),
        "ranking": evaluation.rank({"first": FIRST, "second": SECOND}, TRUTH),
        "assessment": evaluation.assess(FIRST, TRUTH),
        "confusion": evaluation.confusion(FIRST, TRUTH),
        "consensus": labels.majority_vote(annotations),
        "annotators": labels.agreement(annotations, n_resamples=0),
        "cleaning": cleaning,
        "harm": labels.cleaning_harm(cleaning, TRUTH),
        "transition": labels.TransitionMatrix([[0.9, 0.1], [0.2, 0.8]]),
        "sparse": demele.evaluate_sparse(_sparse(), pd.DataFrame({"digit": TRUTH}), seed=0),
    }


def _sparse() -> Any:
    from scipy import sparse

    return sparse.csr_matrix((RNG.random((300, 5)) < 0.2) * 1.0 + np.eye(3)[TRUTH] @ np.eye(3, 5))


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
    assert len(said) >= 6
    for result in said:
        shown = unescape(result._repr_html_()).replace("<bdi>", "").replace("</bdi>", "")
        assert f">{result.sentence}</p>" in shown.replace("\N{MINUS SIGN}", "-")
        assert result.sentence


@pytest.mark.parametrize(
    ("kind", "content", "names"),
    [
        ("evaluation", lambda: sample_evaluation().to_dict(), []),
        ("score", lambda: sample_evaluation(code_names=NASTY, factor_names=NASTY)["mig"].to_dict(), list(NASTY[:4])),
    ],
)
def test_names_on_cards_are_text(kind: str, content: Callable[[], dict[str, Any]], names: list[str]) -> None:
    shown = card(kind, content())
    page = Page(shown)
    assert "script" not in [tag for tag, _ in page.elements]
    assert "</script>" not in shown
    for name in names:
        assert _flat(name) in _flat(page.words)


def test_names_in_tables_are_text() -> None:
    frame = pd.DataFrame({name: [name] * 40 for name in NASTY})
    shown = card("table", f"{NASTY[1]}\nmore", frame)
    assert [tag for tag, _ in Page(shown).elements].count("script") == 0
    assert NASTY[1] in Page(shown).words
    assert "28 more rows" in Page(shown).words


def test_the_command_line_says_the_sentences_of_the_results(results: dict[str, Any]) -> None:
    told = {
        "evaluation": scores_table([results["evaluation"].to_dict()], {}, details=True),
    }
    for name, text in told.items():
        for sentence in results[name].sentences:
            assert _flat(sentence) in _flat(text), name


def test_a_cleaning_says_how_many_labels_it_suspects(results: dict[str, Any]) -> None:
    assert results["cleaning"].sentence == "the cleaning: 3 of 300 labels (1.0%) are suspected"
    content = {
        "method": "the cleaning",
        "n": 300,
        "suspects": [{"row": 3, "given": "a", "suggested": None, "score": None}] * 3,
        "harm": json.loads(results["harm"].to_json()),
        "notes": [],
    }
    assert results["cleaning"].sentence in cleaned_table(content)


def test_without_a_verdict_an_evaluation_says_what_was_scored() -> None:
    content = {**sample_evaluation().to_dict(), "verdict": None}
    assert sentences_of("evaluation", content) == ("1,797 rows, 8 codes, 5 factors; protocol review2022",)


def test_how_metrics_agree_is_said_in_words() -> None:
    assert "of metrics" in sentences_of("agreement", sample_agreement())[0]


def test_nothing_is_said_of_an_unknown_kind() -> None:
    with pytest.raises(demele.InputError, match="expected one of evaluation"):
        sentences_of("poem", {})


def test_corrected_and_aligned_scores_stand_on_cards(results: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 3, (400, 2))
    codes = factors + 0.3 * rng.normal(size=factors.shape)
    bounded = demele.evaluate(codes, factors, ["mig"], factor_noise={"v1": 0.02})
    with pytest.warns(demele.DemeleWarning):  # few rows to find axes on
        aligned = demele.evaluate(codes, factors, ["mig"], aligned=True)
    for found, heads in ((bounded, ["bounds"]), (aligned, ["aligned", "gap"])):
        for shown in (found, found["mig"]):
            page = shown._repr_html_()
            assert all(f">{head}</th>" in page for head in heads)
    corrected = bounded["mig"].corrected
    assert corrected is not None
    assert corrected.interval is not None
    assert f"[{corrected.interval.low:.3f}, {corrected.interval.high:.3f}]" in bounded._repr_html_()
    assert ">bounds</th>" not in results["evaluation"]._repr_html_()
