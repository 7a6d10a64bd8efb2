"""The class names of Latte as Keras metrics, on the backend of this process."""

import json
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from demele.adapters import keras as adapter
from demele.adapters.latte import BUNDLE, SOURCE_NAMES, per_attribute
from tests.adapters.keras_rows import QUIET, array, rows, tensor
from tests.tolerances import assert_exact

pytestmark = QUIET

LATTE_CASES = [
    (name, arguments)
    for name in SOURCE_NAMES
    if name != BUNDLE
    for arguments in ({}, {"reg_dim": [2, 0]}, {"discrete": True}, {"reg_dim": [2, 0], "discrete": True})
] + [
    ("MutualInformationGap", {"fill_reg_dim": True}),
    ("SeparateAttributePredictability", {"discrete": True, "l2_reg": 0.1}),
    ("SeparateAttributePredictability", {"thresh": 0.2}),
    ("Modularity", {"thresh": 0.3}),
]


def latte_rows(discrete: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    codes, factors = rows(120)
    rng = np.random.default_rng(5)
    return codes, (rng.integers(0, 3, (120, 2)) + 10 * (codes[:, :2] > 0)) if discrete else factors + rng.random(
        (120, 2)
    ).astype(np.float32)


@pytest.mark.parametrize(("name", "arguments"), LATTE_CASES, ids=str)
def test_latte_names_give_one_value_per_attribute_of_its_protocol(name: str, arguments: dict[str, Any]) -> None:
    discrete = arguments.get("discrete", False)
    codes, factors = latte_rows(discrete)
    metric = getattr(adapter, name)(**arguments)
    for z, a in zip(np.split(codes, 3), np.split(factors, 3), strict=True):
        metric.update_state(tensor(z), tensor(a))
    own: Any = SOURCE_NAMES[name][0]
    options: dict[str, dict[str, Any]] = {}
    if arguments.get("fill_reg_dim"):
        options["mig"] = {"reg_dim": "in order"}
    if "l2_reg" in arguments:
        options["sap"] = {"penalty": arguments["l2_reg"]}
    score = demele.evaluate(
        codes,
        demele.Factors(factors, kinds="categorical" if discrete else "continuous", reg_dim=arguments.get("reg_dim")),
        own,
        protocol="latte",
        options=options,
    )[own]
    variances = codes.astype(np.float64).var(axis=0)
    shared = {key: value for key, value in arguments.items() if key in ("reg_dim", "discrete", "thresh")}
    expected = per_attribute(score, variances=variances, **shared)
    assert expected.shape == (2,)
    assert_exact(array(metric.result()), expected.astype(np.float32))
    assert metric.score.value == score.value
    again = type(metric).from_config(json.loads(json.dumps(metric.get_config())))
    again.update_state(codes, factors)
    assert_exact(array(again.result()), array(metric.result()))
    assert_exact(array(pickle.loads(pickle.dumps(metric)).result()), array(metric.result()))


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("MIG", {"discrete": "yes"}, "discrete: expected True or False"),
        ("MIG", {"reg_dim": "01"}, "reg_dim: expected one code"),
        ("MIG", {"reg_dim": [0.5, 1]}, "reg_dim: expected a code's index for attribute 0"),
        ("Modularity", {"thresh": None}, "thresh: expected a finite number >= 0"),
        ("SAP", {"thresh": -1}, "thresh: expected a finite number >= 0, got -1"),
        ("MIG", {"order": "latte"}, "order: expected"),
    ],
)
def test_bad_arguments_of_latte_names(name: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(demele.errors.InputError, match=message):
        getattr(adapter, name)(**arguments)
    with pytest.raises(TypeError):
        getattr(adapter, name)(nonsense=1)
