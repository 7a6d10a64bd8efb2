"""Whether a model learned its annotators: a case by hand, error rates without an effect, and what is refused."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from demele.classifiers import annotator_effect
from demele.errors import InputError, NotEnoughData
from tests.tolerances import ROUNDING, assert_close, assert_rate_at_most


def test_habits_that_features_betray_are_learned() -> None:
    """By hand: with its annotator every row is right; without, a tree of unseen columns gives the most common label."""
    who = np.repeat(np.arange(10), 12)
    labels = np.isin(who, (0, 3)).astype(int)
    found = annotator_effect(DecisionTreeClassifier(random_state=0), np.eye(10)[who], labels, who)
    difference = found["difference"]
    assert (found["known"].value, found["unknown"].value) == (1.0, 0.8)
    assert_close(difference.value, 0.2, ROUNDING)
    assert difference.interval is not None
    # two of ten annotators have a mean of 1: sd .4216, over sqrt(10), times t(9) = 2.2622
    assert_close(difference.interval.low, 0.2 - 2.262157 * np.sqrt(0.16 / 9), {"rtol": 1e-6, "atol": 0})
    assert "not shown" in found.notes[0].message
    assert found.to_frame()["value"].tolist() == [difference.value, 1.0, 0.8]


def test_a_model_of_the_task_is_rarely_accused() -> None:
    accused, trials = 0, 40
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        who, x = rng.integers(0, 15, 300), rng.normal(size=(300, 3))
        labels = (x[:, 0] + rng.normal(size=300) > 0).astype(int)
        found = annotator_effect(LogisticRegression(), x, labels, who, level=0.9)["difference"]
        assert found.interval is not None
        accused += found.interval.low > 0
    assert_rate_at_most(accused, trials, 0.05)


def test_too_few_annotators_and_no_classifier_are_refused() -> None:
    with pytest.raises(NotEnoughData, match="one for each of 5 folds"):
        annotator_effect(LogisticRegression(), np.zeros((4, 1)), [0, 1, 0, 1], ["a", "b", "a", "b"])
    with pytest.raises(InputError, match="model"):
        annotator_effect("a model", np.zeros((4, 1)), [0, 1, 0, 1], ["a", "b", "a", "b"], n_folds=2)
