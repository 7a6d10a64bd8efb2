"""What tables of how classes are labelled say."""

from demele.labels import TransitionCounts, TransitionMatrix
from demele.report.words import plain, written


def texts(result: TransitionCounts | TransitionMatrix) -> list[list[str]]:
    table = result.document().table
    assert table is not None
    forms = table.columns.values()
    return [[plain(written(cell, form)) for cell, form in zip(row, forms, strict=True)] for row in table.rows]


def test_counts_say_what_is_wrong_where_they_come_from() -> None:
    found = TransitionCounts([[45, 5, 0], [2, 48, 0], [0, 0, 0]])
    assert found.sentence == "7 of 100 labels are wrong: 7.0%, 95% interval [2.9%, 13.9%]."
    assert texts(found)[0] == ["0", "50", "5", "10.0%", "[3.3%, 21.8%]", "1 (10.0%)"]
    assert texts(found)[2] == ["2", "0", "0", "–", "[0.0%, 100.0%]", "–"]
    (note,) = found.document().notes
    assert (note.severity, [plain(one) for one in note.about]) == ("warning", ["2"])
    assert [section.title for section in found.document().sections] == ["Classes"]
