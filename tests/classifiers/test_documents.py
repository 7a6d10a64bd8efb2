"""What decisions, rankings and assessments say: headline, sentences, first rows of tables, titles of sections."""

from typing import Any

import numpy as np
import pandas as pd

from demele.classifiers import assess, compare, rank
from demele.data import load_example
from demele.report.document import Matrix, Pill, Table
from demele.report.words import typed, written

N = 1000
TRUTH = np.repeat(["cat", "dog"], N // 2)
WRONG = np.where(TRUTH == "cat", "dog", "cat")


def answers(*wrong: slice) -> Any:
    """Return predictions that are wrong on some rows."""
    found = TRUTH.copy()
    for rows in wrong:
        found[rows] = WRONG[rows]
    return found


#: The baseline is wrong on 200 rows, the candidate on 100 others: it wins 200, and loses 100.
OLD, NEW = answers(slice(0, 200)), answers(slice(500, 600))


def of_type(sections: Any, kind: type[Any]) -> Any:
    return next(block for section in sections for block in section.shown if isinstance(block, kind))


def texts(row: Any, columns: Any) -> list[str]:
    return [typed(written(cell, form)) for cell, form in zip(row, columns.values(), strict=True)]


def test_an_inconclusive_decision_says_the_next_step() -> None:
    found = compare(pd.Series(OLD, name="old"), pd.Series(NEW, name="new"), TRUTH, noise=0.06)
    document = found.document()
    assert document.headline.startswith("Inconclusive with up to 6% wrong labels: ")
    assert (found.sentence, document.tone) == (
        "Inconclusive with up to 6% wrong labels: new may be better or worse than old.",
        "open",
    )
    ((step, command),) = document.next
    assert (step, command) == (
        "Plan an audit: expert labels of some rows may settle it.",
        "demele audit plan BASELINE CANDIDATE LABELS",
    )
    assert compare(OLD, NEW, TRUTH).document().next == []


# Rankings -------------------------------------------------------------------------------------------------------------


def models() -> dict[str, Any]:
    return {"best": answers(slice(0, 50)), "worst": answers(slice(300, 600)), "middle": answers(slice(600, 760))}


def test_a_ranking_says_who_is_best_and_how_many_differences_are_significant() -> None:
    found = rank(models(), TRUTH, noise=0.005, true_labels=TRUTH)
    document = found.document()
    assert found.sentence == "best is the best; 3 of 3 differences are significant (Holm, 95%)."
    assert document.tone == "good"
    columns = document.table.columns
    assert list(columns)[:4] == ["Rank", "Model", "Observed", "95% interval"]
    rows = [dict(zip(columns, texts(row, columns), strict=True)) for row in document.table.rows]
    assert [(row["Rank"], row["Model"], row["Observed"], row["Beats"]) for row in rows] == [
        ("1", "best", "95.0%", "2"),
        ("2", "middle", "84.0%", "1"),
        ("3", "worst", "70.0%", "0"),
    ]
    matrix = of_type(document.sections, Matrix)
    assert matrix.cells[0, 1].text == "▲"
    assert matrix.cells[1, 0] == Pill("▽", "none")  # the lower half repeats the upper one
    pairs = next(one for one in document.sections[1].shown if isinstance(one, Table))
    best, other, result, difference, *_ = pairs.rows[0]
    assert list(map(typed, (best, other, result))) == ["best", "middle", "candidate"]
    assert difference == found.decision("middle", "best").difference
    choices = document.sections[-1].shown[0]
    assert isinstance(choices, Table)
    assert [row[:3] for row in choices.rows] == [("Agreement", 6, 6), ("Type I", 0, 3), ("Type II", 0, 3)]
    assert [section.title for section in document.sections] == ["Ranking", "Pairwise results", "Label errors"]


# Assessments ----------------------------------------------------------------------------------------------------------


def test_without_knowledge_of_the_errors_an_assessment_says_so() -> None:
    found = assess(OLD, TRUTH)
    assert found.sentence.startswith("The observed accuracy is 80.0% [")
    assert found.sentences[1].startswith("Nothing is known of the label errors")
    assert "True labels" not in str(found)


# Terminals ------------------------------------------------------------------------------------------------------------


def test_the_terminal_has_thirteen_lines_for_two_and_nineteen_for_ten() -> None:
    questions = load_example("mmlu_redux")
    old, new = (questions.predictions[name] for name in ("gemini_1_5_pro_0409", "claude_3_opus"))
    for noise in (0.0, 0.002, 0.02):
        text = str(compare(old, new, questions.labels, noise=noise, classes=questions.classes))
        assert len(text.splitlines()) <= 13, text
    text = str(rank(questions.predictions, questions.labels, noise=0.02, classes=questions.classes))
    assert len(text.splitlines()) <= 19, text
