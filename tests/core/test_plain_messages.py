"""Messages show numbers as plain Python does, whatever kind of number came."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele import labels
from demele.core.errors import DemeleError
from demele.core.labelled import Vocabulary, plain_text, shown

ONE, HALF = np.int64(1), np.float64(1.5)
ANSWERS = labels.Annotations([0, 1], [0, 0], [0, 1])


def test_plain_text() -> None:
    for value, text in [
        (ONE, "1"),
        (HALF, "1.5"),
        (np.str_("a"), "'a'"),
        (np.bool_(True), "True"),
        ([ONE, "a"], "[1, 'a']"),
        ((ONE,), "(1,)"),
        ((ONE, (HALF,)), "(1, (1.5,))"),
        ({ONE: [HALF]}, "{1: [1.5]}"),
        (None, "None"),
    ]:
        assert plain_text(value) == text
        assert shown([value, 2]) == f"{text}, 2"


def test_no_message_shows_how_numpy_writes_a_number() -> None:
    call_cases: Any = [
        lambda: Vocabulary((0, 2)).index(ONE),
        lambda: labels.Annotations.from_matrix(pd.DataFrame({ONE: [[0], [1]]})),
        lambda: labels.Annotations.from_matrix({ONE: np.zeros((2, 2))}),
        lambda: labels.Annotations.from_matrix({0: [0], 1: [1]}, annotators=[ONE, ONE]),
        lambda: labels.dawid_skene(ANSWERS).transition(np.int64(7)),
        lambda: labels.dawid_skene(ANSWERS, smoothing=-HALF),
        lambda: labels.annotator_agreement(ANSWERS, level=HALF),
        lambda: labels.cleaning_harm(labels.Cleaning([True, False]), [0, 1], level=HALF),
        lambda: labels.add_noise([0, 1], HALF, seed=0),
        lambda: labels.add_noise([0, 1], predictions={ONE: [0]}),
        lambda: labels.add_noise([0, 1], predictions={ONE: [0, 1], np.int64(2): [2.5, 1]}),
        lambda: labels.asymmetric_transition(2, {(ONE, ONE): 0.1}),
        lambda: labels.asymmetric_transition(2, {(np.int64(0), ONE): HALF}),
        lambda: labels.asymmetric_transition(2, {ONE: HALF}),
        lambda: labels.symmetric_transition(ONE, 0.1),  # type: ignore[arg-type]
        lambda: labels.clean([0, 1, 1], [[0], [1], [2]], method="entropy", threshold=HALF),
        lambda: labels.clean([0, 1, 1], [[0], [1], [2]], method="knn", k=-ONE),  # type: ignore[arg-type]
        lambda: labels.simulated_cleaning([0, 1], [0, 1], detected=HALF, false_alarms=0),
        lambda: labels.TransitionCounts([[1, 0], [0, 1]]).rate_interval(level=HALF),
        lambda: labels.majority_vote(ANSWERS, weights=[np.float64(-1)]),
    ]
    for call in call_cases:
        with pytest.raises(DemeleError) as caught:
            call()
        assert "np." not in str(caught.value)
