"""One call that joins answers, and compares the labels with true ones and with given ones."""

from typing import Any

import numpy as np
import pytest

from demele.core.errors import DemeleError, InputError, NotConvergedWarning
from demele.core.proportions import exact_interval
from demele.labels import Annotations, aggregate, bayesian_consensus, consensus, dawid_skene
from demele.noise.transition import count_labels
from tests.tolerances import ROUNDING, assert_close

#: Four annotators about six items; the first is always right, the last nearly never.
TRUE = np.array([0, 1, 0, 1, 0, 1])
ANSWERS = [TRUE, [0, 1, 0, 1, 1, 1], [0, 1, 0, 0, 0, 1], [1, 0, 1, 1, 1, 1]]
NAMED = Annotations.from_matrix(ANSWERS, items=[f"i{place}" for place in range(6)])


def test_the_consensus_is_that_of_its_method() -> None:
    assert aggregate(ANSWERS).consensus.labels.tolist() == consensus(ANSWERS).labels.tolist()
    smooth = aggregate(ANSWERS, method="dawid-skene", smoothing=0.5).consensus
    assert smooth.log_likelihood == dawid_skene(ANSWERS, smoothing=0.5).log_likelihood
    strong = aggregate(ANSWERS, method="own-prior", strength=50).consensus
    assert strong.log_likelihood == dawid_skene(ANSWERS, prior="own", strength=50).log_likelihood
    few: dict[str, Any] = {"n_samples": 20, "n_warmup": 5, "n_chains": 2, "seed": 3}
    with pytest.warns(NotConvergedWarning):
        drawn = aggregate(ANSWERS, method="bayesian", **few).consensus
    with pytest.warns(NotConvergedWarning):
        expected = bayesian_consensus(ANSWERS, **few)
    assert_close(drawn.probabilities, expected.probabilities, ROUNDING)


def test_true_labels_are_found_by_the_names_of_items() -> None:
    every = aggregate(NAMED, gold=TRUE).gold
    assert every is not None
    assert (every.n, every.majority.right) == (6, int((consensus(ANSWERS, method="majority").labels == TRUE).sum()))
    shuffled = {f"i{place}": int(TRUE[place]) for place in (4, 1, 3)}
    found = aggregate(NAMED, gold={**shuffled, "nobody": 1})
    assert found.gold is not None
    assert found.gold.n == 3
    assert found.gold.consensus.right == int((consensus(ANSWERS).labels[[4, 1, 3]] == TRUE[[4, 1, 3]]).sum())
    (note,) = found.notes
    assert note.message == "`gold`: 1 of 4 items have no answer and are left out."
    assert note.message in [one["message"] for one in found.to_dict()["notes"]]


def test_noise_of_given_labels() -> None:
    given = 1 - TRUE
    found = aggregate(NAMED, given=given)
    assert found.given is not None
    assert found.given.wrong_share == consensus(ANSWERS).wrong_share(given)
    assert_close(found.noise_frame().iloc[:, 1:].to_numpy(), consensus(ANSWERS).noise(given).probabilities, ROUNDING)
    with pytest.raises(InputError, match="given: expected the labels whose noise"):
        aggregate(ANSWERS).noise_frame()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothing": 1.0}, "smoothing: is for `method='dawid-skene'`, not blend"),
        ({"method": "majority", "n_chains": 2}, "n_chains: is for `method='bayesian'`, not majority"),
        ({"scale": "ratio"}, "scale: is for `agreement`, which is not asked for"),
        ({"method": "bayesian", "feature_model": "normal"}, "feature_model: says what `features` are"),
        ({"gold": [0, 1]}, "gold: expected 6 labels, one per item in their order, got 2"),
        ({"gold": {"z": 1}}, "gold: none of its 1 items has an answer, first 'z'"),
        ({"gold": [7] * 6}, "gold: none of its classes, such as 7"),
        ({"given": [7] * 6}, "given: 6 of 6 values are not among"),
        ({"level": 2}, "level: expected a number between 0 and 1"),
        ({"method": "votes"}, "method: expected one of"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DemeleError) as raised:
        aggregate(ANSWERS, **options)
    assert message in str(raised.value)


def test_counts_of_a_sample_have_intervals_of_their_level() -> None:
    found = count_labels([0, 0, 0, 1], [0, 0, 1, 1], level=0.8)
    low, high = exact_interval(1, 4, level=0.8)
    content = found.to_dict()
    assert (content["wrong"], content["n"], content["level"]) == (1, 4, 0.8)
    assert_close([content["interval"]["low"], content["interval"]["high"]], [low, high], ROUNDING)
    assert found.to_frame().to_numpy().tolist() == [[0, 2, 1], [1, 0, 1]]
    assert "80% interval" in found.document().headline
