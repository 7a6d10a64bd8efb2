"""What tables of how classes are labelled say."""

import numpy as np

from demele.labels import TransitionCounts, TransitionMatrix
from demele.report.document import Heat
from demele.report.renderers.tables import table_of
from demele.report.words import plain, written


def texts(result: TransitionCounts | TransitionMatrix) -> list[list[str]]:
    table = result.document().table
    assert table is not None
    forms = table.columns.values()
    return [[plain(written(cell, form)) for cell, form in zip(row, forms, strict=True)] for row in table.rows]


def test_a_matrix_names_its_best_and_worst_class() -> None:
    # names of classes that a table could take for the ends of an interval, or for one column
    found = TransitionMatrix(np.array([[0.9, 0.1, 0], [0.25, 0.7, 0.05], [0, 0, 1]]), ["low", "high", "Low"])
    assert found.sentence == "The probability of a correct label is 70.0% (class high) to 100.0% (class Low)."
    assert texts(found) == [["low", "90.0%", "high (10.0%)"], ["high", "70.0%", "low (25.0%)"], ["Low", "100.0%", "–"]]
    figure = found.document().figure
    assert isinstance(figure, Heat)
    assert [list(row[1:]) for row in table_of(figure).rows] == found.probabilities.tolist()


def test_counts_say_what_is_wrong_where_they_come_from() -> None:
    found = TransitionCounts([[45, 5, 0], [2, 48, 0], [0, 0, 0]])
    assert found.sentence == "7 of 100 labels are wrong: 7.0%, 95% interval [2.9%, 13.9%]."
    assert texts(found)[0] == ["0", "50", "5", "10.0%", "[3.3%, 21.8%]", "1 (10.0%)"]
    assert texts(found)[2] == ["2", "0", "0", "–", "[0.0%, 100.0%]", "–"]
    (note,) = found.document().notes
    assert (note.severity, [plain(one) for one in note.about]) == ("warning", ["2"])
    assert [section.title for section in found.document().sections] == ["Classes"]


def test_of_many_classes_the_first_are_drawn() -> None:
    document = TransitionMatrix(np.eye(500)).document()
    assert isinstance(document.figure, Heat)
    assert len(document.figure.rows) == 60
    assert document.sections[0].blocks[1] == "The first 60 of 500 classes are drawn."
