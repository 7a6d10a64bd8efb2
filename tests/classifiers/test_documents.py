"""What decisions, rankings and assessments say: headline, sentences, first rows of tables, titles of sections."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele.classifiers import assess, compare, rank
from demele.data import load_example
from demele.report.document import Lines, Matrix, Pill, Strips, Table
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


def test_a_candidate_is_significantly_better() -> None:
    found = compare(pd.Series(OLD, name="old"), pd.Series(NEW, name="new"), TRUTH, noise=0.01)
    document = found.document()
    low, high = found.interval.low, found.interval.high
    assert typed(document.headline) == (
        f"Replace old by new: its accuracy is significantly higher, +10.0 pp [{100 * low:+.1f}, {100 * high:+.1f}]."
    )
    assert document.tone == "good"
    held = found.breakdown
    assert held is not None
    assert held.labels == 32  # 33 exchanges leave 167 to 133 of 300: p = 0.028
    assert found.sentences[1:] == (
        "The result holds up to 3.20% wrong labels (32 of 1,000), in the worst case.",
        "old and new disagree on 300 rows: the label agrees with new on 200, with old on 100, with neither on 0.",
    )
    assert document.table is not None
    assert list(document.table.columns) == [
        "Accuracy",
        "Observed",
        "95% interval",
        "True labels (worst case)",
        "1-sided p",
    ]
    first, second, third = (texts(row, document.table.columns) for row in document.table.rows)
    assert first[:2] == ["old (baseline)", "80.0%"]
    assert second[:2] == ["new (candidate)", "90.0%"]
    assert third[:2] == ["Difference (pp)", "+10.0"]
    assert third[3] == f"[{100 * low:+.1f}, {100 * high:+.1f}]"
    assert document.table.rows[2][1] == Pill("+10.0", "good")  # bold in a paper
    titles = [section.title for section in document.sections]
    assert titles == ["Each classifier", "Disagreements", "Label errors"]
    parts = document.sections[1].shown[0]
    assert isinstance(parts, Strips)
    assert [(typed(one.name), one.marks[0].at) for one in parts.rows] == [("old", 100), ("new", 200), ("neither", 0)]


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
    assert document.table is not None
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


def test_an_assessment_says_the_accuracy_and_the_weakest_classes() -> None:
    found = assess(OLD, TRUTH, noise=0.02)
    one = found["accuracy"]
    assert one.corrected is not None
    assert one.interval is not None
    right, own = (f"[{100 * ends.low:.1f}%, {100 * ends.high:.1f}%]" for ends in (one.corrected, one.interval))
    assert found.sentences == (
        f"The accuracy on true labels is in {right}; observed: 80.0% {own}.",
        "Label errors make the observed accuracy at most 2.0 pp too high and at most 2.0 pp too low.",
        "Lowest F1 by class: \u201ccat\u201d 75.0% and \u201cdog\u201d 83.3%.",
    )
    document = found.document()
    assert [section.title for section in document.sections] == ["Measures", "Classes", "Confusion matrix"]
    assert document.table is not None
    rows = [texts(row, document.table.columns) for row in document.table.rows]
    assert [row[0] for row in rows] == [
        *("Accuracy", "Error", "Macro precision", "Macro recall", "Macro F1"),
        *("Weighted precision", "Weighted recall", "Weighted F1", "F1, cat", "F1, dog"),
    ]
    assert rows[0][:2] == ["Accuracy", "80.0%"]
    classes = document.sections[1].shown[0]
    assert isinstance(classes, Table)
    assert texts(classes.rows[0], classes.columns)[:4] == ["cat", "500", "300", "100.0%"]
    errors = document.sections[2].shown[1]
    assert isinstance(errors, Table)
    assert texts(errors.rows[0], errors.columns) == ["cat", "dog", "200", "40.0%", "28.6%"]


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


def test_label_errors_are_bounded_by_the_worst_case() -> None:
    found = compare(pd.Series(OLD, name="old"), pd.Series(NEW, name="new"), TRUTH, noise=0.01)
    lines = of_type(found.document().sections, Lines)
    (line,) = lines.lines
    assert [text for _, text in lines.at] == ["holds up to 3.20%", "noise rate supplied, 1%"]
    assert [place for place, _ in lines.at] == [0.032, 0.01]
    for x, low, high in zip(line.x, line.low, line.high, strict=True):
        wrong = round(x * N)
        # Each wrong label that favours the candidate costs two; there are none for neither.
        assert low == pytest.approx((100 - 2 * min(wrong, 200)) / N)
        assert high == pytest.approx((100 + 2 * min(wrong, 100)) / N)
