"""The callback of Keras: what it scores, when, and where the scores appear."""

from typing import Any

import keras
import pytest

import demele
from demele.adapters.keras_callback import ScoreCallback
from tests.adapters.keras_rows import QUIET, array, rows
from tests.refusals import refuses
from tests.tolerances import assert_exact

pytestmark = QUIET

CODES, FACTORS = rows()
BATCHES = [(CODES[start : start + 64], FACTORS[start : start + 64]) for start in range(0, len(CODES), 64)]


def model() -> Any:
    """Nearly the identity, with dropout that makes training visible."""
    keras.utils.set_random_seed(0)
    made = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dropout(0.5), keras.layers.Dense(3, kernel_initializer="identity")]
    )
    made.compile(optimizer=keras.optimizers.SGD(1e-3), loss="mse")
    return made


def encode(net: Any, batch: Any) -> Any:
    return net(batch[0], training=False), batch[1]


def fit(net: Any, *callbacks: Any, epochs: int = 4) -> dict[str, list[float]]:
    found = net.fit(CODES, CODES, batch_size=100, epochs=epochs, verbose=0, callbacks=list(callbacks))
    history: dict[str, list[float]] = found.history
    return history


def test_every_k_epochs_with_the_values_of_one_call() -> None:
    net, scoring = model(), ScoreCallback(BATCHES, encode, ["mig", "sap"], every=2)
    logged = fit(net, scoring)
    assert [epoch for epoch, _ in scoring.history] == [1, 3]
    expected = demele.evaluate(array(net(CODES, training=False)), FACTORS, ["mig", "sap"])
    last = scoring.history[-1][1]
    assert {one.metric: one.value for one in last} == {one.metric: one.value for one in expected}
    assert logged["demele/mig"] == [evaluation["mig"].value for _, evaluation in scoring.history]
    assert_exact(scoring.curve.to_frame()["sap"], logged["demele/sap"])
    assert list(scoring.curve.to_frame().index) == [1, 3]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"data": 5}, "data: expected batches to go through, got int"),
        ({"metrics": ["mgi"]}, "did you mean 'mig'"),
    ],
)
def test_arguments_that_cannot_be_used(given: dict[str, Any], message: str) -> None:
    refuses(demele.errors.InputError, message, ScoreCallback, **{"data": BATCHES, "encode": encode, **given})
