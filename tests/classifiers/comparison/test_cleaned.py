"""Classic after a cleaning: on the rows that are left, or on the labels put in place."""

from dataclasses import replace

import numpy as np

from demele.classifiers.comparison.overlap import cleaned, cleaned_data, overlap
from demele.core.errors import NotEnoughData
from tests.classifiers.comparison.cases import question, random_question
from tests.refusals import refuses
from tests.tolerances import assert_exact


def test_dropping_leaves_the_other_rows() -> None:
    asked = random_question(np.random.default_rng(0), n=100, k=3, models=4)
    suspects = np.arange(100) % 3 == 0
    found = cleaned(replace(asked, suspects=suspects))
    rest = overlap(replace(asked, data=asked.data.take(np.flatnonzero(~suspects))))
    assert_exact(found.low, rest.low)
    assert_exact(found.difference, rest.difference)
    assert found.details == {"suspected": 34, "used": 66, "cleaning": "left out"}


def test_relabelling_changes_suspects_only() -> None:
    """By hand: of two suspects the suggestion is taken, of the others not."""
    asked = question([0, 0, 1, 1], [[0, 0, 1, 1], [1, 1, 0, 1]], 2)
    suspects = np.array([True, False, True, False])
    suggested = np.array([1, 1, 0, 0], dtype=np.int32)
    changed = replace(asked, suspects=suspects, suggested=suggested)
    assert_exact(cleaned_data(changed).labels, [1, 0, 0, 1])
    assert_exact(cleaned(changed).difference, [(3 - 2) / 4, (2 - 3) / 4])
    assert cleaned(changed).details["cleaning"] == "relabelled"


def test_a_perfect_cleaning_gives_the_reference() -> None:
    rng = np.random.default_rng(1)
    asked = random_question(rng, n=400, k=3, models=6)
    truth = np.where(rng.random(400) < 0.2, (asked.data.labels + 1) % 3, asked.data.labels).astype(np.int32)
    found = cleaned(replace(asked, suspects=truth != asked.data.labels, suggested=truth))
    assert_exact(found.low, overlap(replace(asked, data=asked.data.relabelled(truth))).low)


def test_no_row_left_is_refused() -> None:
    asked = random_question(np.random.default_rng(0), n=20, k=3)
    refuses(NotEnoughData, "cleaning: all 20 labels", cleaned, replace(asked, suspects=np.ones(20, dtype=np.bool_)))
