"""What is read as probabilities of the classes, what as features, and what is refused."""

from typing import Any

import numpy as np
import pytest

from demele.core.errors import InputError
from demele.core.inputs import read_codes
from demele.core.labelled import Vocabulary
from demele.core.seeds import rng_for
from demele.labels import clean
from demele.labels.cleaned.filters import read_probabilities
from tests.tolerances import ROUNDING, assert_close, assert_exact

WORDS = Vocabulary((0, 1, 2))
EVEN = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.25, 0.25, 0.5]])
RNG = rng_for(3, "probability tables")
TABLE = RNG.dirichlet([0.3, 0.3, 0.3], 300)
LABELS = np.where(RNG.random(300) < 0.9, TABLE.argmax(axis=1), RNG.integers(0, 3, 300))


def codes(notes: Any) -> list[str]:
    return [note.code for note in notes]


def test_rows_that_add_up_to_1_are_taken_as_they_are() -> None:
    found, notes = read_probabilities(read_codes(EVEN), WORDS, None)
    assert found is not None
    assert_exact(found, EVEN)
    assert not notes


def test_rows_off_by_rounding_are_divided_by_their_sums() -> None:
    off_cases: Any = [2e-5, 1e-3, 9e-3, -9e-3]
    kind_cases: Any = [None, "probabilities"]
    for off in off_cases:
        for kind in kind_cases:
            table = EVEN.copy()
            table[1] *= 1 + off
            found, notes = read_probabilities(read_codes(table), WORDS, kind)
            assert found is not None
            assert_close(found, EVEN, ROUNDING)
            assert codes(notes) == ["renormalised"]
            assert "of 1 of 3 rows" in notes[0].message
            assert f"{abs(off):.2g}" in notes[0].message


def test_beyond_that_they_are_features_and_a_note_says_so() -> None:
    table = EVEN.copy()
    table[1] *= 1.03
    found, notes = read_probabilities(read_codes(table), WORDS, None)
    assert found is None
    assert codes(notes) == ["read-as-features"]
    assert notes[0].severity == "warning"
    assert "3 columns were read as features" in notes[0].message
    # As many features as classes are the doubtful case only, and only if nobody said what they are.
    assert read_probabilities(read_codes(table[:, :2]), WORDS, None) == (None, ())
    assert read_probabilities(read_codes(table), WORDS, "features") == (None, ())
    with pytest.raises(InputError, match=r"first row 1, which adds up to 1.03; .*soft"):
        read_probabilities(read_codes(table), WORDS, "probabilities")


def test_other_scales_are_refused() -> None:
    table_cases: Any = [
        (EVEN * 100, r"every row adds up to 100, not to 1; if these are .* in percent, divide them by 100"),
        (np.round(EVEN * 100), r"in percent, divide them by 100"),
        (np.round(np.array([[1, 1, 1], [1, 2, 4]]) / [[3], [7]] * 100, 1), r"in percent, divide them by 100"),
        (EVEN * 40, r"every row adds up to 40, not to 1; .*counts of votes, divide them by 40"),
        (np.log(EVEN), r"look like logarithms of probabilities: .*pass numpy.exp of them"),
        (np.log(EVEN + 1e-9), r"pass numpy.exp of them"),
    ]
    kind_cases: Any = [None, "probabilities"]
    for table, message in table_cases:
        for kind in kind_cases:
            with pytest.raises(InputError, match=f"^features_or_probabilities: .*{message}") as caught:
                read_probabilities(read_codes(table, "features_or_probabilities"), WORDS, kind)
            assert ("kind='features'" in str(caught.value)) == (kind is None)
            assert read_probabilities(read_codes(table), WORDS, "features") == (None, ())


@pytest.mark.parametrize("method", ["entropy", "confident"])
@pytest.mark.parametrize("written", [np.float32, np.float16, 4])
def test_a_cleaning_does_not_depend_on_how_probabilities_were_written(method: Any, written: Any) -> None:
    if method == "confident":
        pytest.importorskip("cleanlab")
    table = np.round(TABLE, written) if isinstance(written, int) else TABLE.astype(written)
    plain, found = clean(LABELS, TABLE, method=method), clean(LABELS, table, method=method)
    assert plain.signature is not None
    assert found.signature is not None
    assert found.signature.arguments["kind"] == plain.signature.arguments["kind"] == "probabilities"
    # A label at a limit may fall to the other side of it.
    assert np.count_nonzero(found.suspect != plain.suspect) <= 1
    assert found.document().scope[1] == "read from probabilities"


def test_most_labels_suspected_suggests_the_order_of_the_columns() -> None:
    pure = np.eye(3)[np.arange(300) % 3] * 0.97 + 0.01
    shifted = clean((np.arange(300) + 1) % 3, pure, method="entropy")
    (note,) = (note for note in shifted.notes if note.code == "mostly-suspected")
    assert "columns of the probabilities are in the order of the classes, here 0, 1, 2" in note.message
    assert "classes=[...]" in note.message
    assert "count the classes from another number" in note.message
    assert "mostly-suspected" not in codes(clean(np.arange(300) % 3, pure, method="entropy").notes)


def test_what_a_cleaning_says_of_its_table() -> None:
    trained = clean(LABELS, TABLE * [[1.0, 2.0, 3.0]], method="entropy", folds=3)
    assert "read-as-features" in codes(trained.notes)
    assert trained.document().scope[1] == "read from features"
    renormalised = clean(LABELS, np.round(TABLE, 3), method="entropy")
    assert "renormalised" in codes(renormalised.notes)
    for method in ("knn", "classification"):
        notes = {note.code: note for note in clean(LABELS, TABLE, method=method).notes}
        assert "'entropy' and 'confident' use probabilities" in notes["read-as-features"].message
        assert "read-as-features" not in codes(clean(LABELS, TABLE * 2, method=method).notes)
