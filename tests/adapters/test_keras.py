"""KerasMetric on the backend of this process: torch, unless KERAS_BACKEND names another; and the class names of Latte.

``KERAS_BACKEND=jax pytest tests/adapters/test_keras.py`` runs all of it on jax; test_keras_backends.py does so on numpy
and jax where jax is installed.
"""

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from demele.adapters import keras as adapter
from demele.adapters.keras import KerasMetric, Modularity
from demele.adapters.latte import BUNDLE, SOURCE_NAMES, per_attribute
from tests.adapters.keras_rows import QUIET, N, array, rows, tensor
from tests.refusals import refuses
from tests.tolerances import assert_exact

BACKEND = keras.backend.backend()
pytestmark = QUIET


def filled(metric: KerasMetric, codes: NDArray[Any], factors: NDArray[Any], parts: int = 4) -> KerasMetric:
    stds = np.full_like(codes, 0.1)
    for z, a, s in zip(*(np.array_split(part, parts) for part in (codes, factors, stds)), strict=True):
        metric.update_state(tensor(z), tensor(a), codes_std=tensor(s))
    return metric


# Every metric -------------------------------------------------------------------------------------------------------

#: Another backend turns tensors into arrays in another way, whatever is scored then: it is shown what is quick to fit.
SCORED = [
    name for name in demele.list_metrics() if BACKEND == "torch" or not name.startswith(("dci_lasso", "dci_boosting"))
]


@pytest.fixture(scope="module")
def whole() -> demele.Evaluation:
    codes, factors = rows()
    return demele.evaluate(demele.Codes(codes, std=np.full_like(codes, 0.1)), factors, SCORED)


@pytest.mark.parametrize("name", SCORED)
def test_batches_of_tensors_score_as_one_call_does(name: str, whole: demele.Evaluation) -> None:
    metric = filled(KerasMetric(name), *rows())
    assert metric.score.value == whole[name].value
    result = metric.result()
    assert keras.ops.is_tensor(result)
    assert array(result).dtype == np.float32
    assert_exact(array(result), np.float32(whole[name].value))
    assert metric.name == name


# State --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mig", "sap"])
@pytest.mark.parametrize("duplicate", [lambda one: pickle.loads(pickle.dumps(one)), copy.copy, copy.deepcopy])
def test_copies_hold_the_rows_and_go_their_own_way(name: str, duplicate: Any) -> None:
    codes, factors = rows()
    metric = KerasMetric(name, frame=demele.bins.BinEdges.of(codes, factors), name="own")
    metric.update_state(codes[:200], factors[:200])
    value = metric.score.value
    other = duplicate(metric)
    assert (other.name, other.score.value) == ("own", value)
    other.update_state(codes[200:], factors[200:])
    assert other.score.value == demele.evaluate(codes, factors, name)[name].value
    assert metric.score.value == value


@pytest.mark.parametrize("name", ["mig", "sap"])
def test_state_as_bytes(name: str) -> None:
    codes, factors = rows()
    frame = demele.bins.BinEdges.of(codes, factors)
    metric = KerasMetric(name, frame=frame)
    metric.update_state(codes, factors)
    other = KerasMetric(name, frame=frame)
    other.set_state(metric.get_state())
    assert other.score.value == metric.score.value
    assert other.accumulator.n == N
    refuses(demele.errors.IncompatibleState, "metrics", KerasMetric("irs", frame=frame).set_state, metric.get_state())
    refuses(demele.errors.FormatError, "accumulator", other.set_state, b"nothing")
    assert other.accumulator.n == N


def test_merge_adds_the_rows_of_others_and_leaves_them() -> None:
    codes, factors = rows()
    frame = demele.bins.BinEdges.of(codes, factors)
    parts = [KerasMetric(["mig", "sap"], frame=frame, stream=index) for index in range(3)]
    for part, z, a in zip(parts, np.split(codes, 3), np.split(factors, 3), strict=True):
        part.update_state(z, a)
    parts[0].merge_state(parts[1:])
    whole = demele.evaluate(codes, factors, ["mig", "sap"])
    assert [score.value for score in parts[0].score] == [score.value for score in whole]
    assert [part.accumulator.n for part in parts] == [N, N // 3, N // 3]
    refuses(demele.errors.IncompatibleState, "metrics", parts[0].merge_state, [KerasMetric("irs", frame=frame)])
    refuses(demele.errors.InputTypeError, "metrics: expected metrics", parts[0].merge_state, [keras.metrics.Mean()])


def test_no_variables_and_no_stateless_calls() -> None:
    metric = filled(KerasMetric("mig"), *rows())
    assert metric.variables == []
    codes, _ = rows()
    for call in (metric.stateless_update_state, metric.stateless_result, metric.stateless_reset_state):
        refuses(demele.errors.InputError, "stateless methods: the metric keeps its rows in Python", call, [], codes)
    assert metric.accumulator.n == N


# Configuration ------------------------------------------------------------------------------------------------------

ARGUMENTS: list[dict[str, Any]] = [
    {"metrics": "mig"},
    {
        "metrics": ["mig", "sap"],
        "name": "both",
        "seed": 3,
        "bound": 50,
        "stream": "a",
        "kinds": ["categorical", "continuous"],
    },
    {"metrics": "dmig", "native": True, "reg_dim": np.array([1, 0]), "bins": demele.bins.EqualFrequency(5)},
    {"metrics": "mig", "bins": demele.bins.Edges((-9.0, 0.0, 9.0)), "order": "keras", "missing": "omit"},
    {"metrics": "sap", "protocol": "latte", "options": {"sap": {"penalty": 0.5}}, "outside": "clip"},
    {"metrics": "mig", "options": {"mig": {"bins": demele.bins.EqualFrequency(4)}}},
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
@pytest.mark.parametrize("framed", [False, True])
def test_a_configuration_is_json_and_makes_the_same_metric(arguments: dict[str, Any], framed: bool) -> None:
    codes, factors = rows()
    rules = [
        one for one in (demele.bins.EqualFrequency(5), demele.bins.EqualFrequency(4)) if repr(one) in str(arguments)
    ]
    frame = (
        demele.bins.BinEdges.of(codes, factors, bins=rules, missing=arguments.get("missing", "raise"))
        if framed
        else None
    )
    if framed:
        arguments = {key: value for key, value in arguments.items() if key not in ("kinds", "missing")}
    metric = KerasMetric(**arguments, frame=frame)
    config = json.loads(json.dumps(metric.get_config()))
    other = KerasMetric.from_config(config)
    assert json.loads(json.dumps(other.get_config())) == config
    through_keras = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(metric))
    assert through_keras.name == metric.name
    for one in (metric, other, through_keras):
        one.update_state(*((factors, codes) if arguments.get("order") == "keras" else (codes, factors)))
        assert str(one.score) == str(metric.score)
        assert str(one.result()) == str(metric.result())


# In a model ---------------------------------------------------------------------------------------------------------


def model_of(metrics: list[Any], *, eager: bool = True) -> tuple[Any, Any, dict[str, Any]]:
    """An encoder with a decoder, compiled with metrics of the codes; inputs and targets."""
    keras.utils.set_random_seed(0)
    _, factors = rows(128)
    x = np.hstack([factors, factors[:, :1] * factors[:, 1:]])
    inputs = keras.Input((3,))
    codes = keras.layers.Dense(3, name="codes")(inputs)
    decoded = keras.layers.Dense(3, name="decoded")(codes)
    model = keras.Model(inputs, {"codes": codes, "decoded": decoded})
    model.compile("sgd", loss={"decoded": "mse", "codes": None}, metrics={"codes": metrics}, run_eagerly=eager)
    return model, x, {"codes": factors, "decoded": x}


@pytest.mark.skipif(BACKEND == "numpy", reason="Keras has no fit on numpy")
def test_fit_logs_the_metric_and_resets_it_at_each_epoch() -> None:
    metric = KerasMetric("mig", order="keras")
    model, x, y = model_of([metric])
    history = model.fit(x, y, epochs=2, batch_size=32, verbose=0, validation_data=(x, y)).history
    assert metric.accumulator.n == 128
    assert len(history["codes_mig"]) == len(history["val_codes_mig"]) == 2
    codes = model.predict(x, verbose=0, batch_size=32)["codes"]
    assert history["val_codes_mig"][-1] == np.float32(demele.metrics.mig(codes, y["codes"]).value)


def test_rows_that_do_not_suffice_yet_are_nan_in_a_model() -> None:
    metric = KerasMetric("mig", order="keras")
    codes, factors = rows()
    metric.update_state(np.zeros((4, 1)), codes[:4])
    assert np.isnan(array(metric.result()))
    with pytest.raises(demele.errors.NotEnoughData):
        _ = metric.score
    metric.reset_state()
    refuses(demele.errors.NotEnoughData, "no rows yet", metric.result)
    metric.update_state(factors, codes)
    assert metric.score.value == demele.metrics.mig(codes, factors).value


@pytest.mark.skipif(BACKEND == "numpy", reason="on numpy Keras learns shapes from the first batch")
def test_codes_first_is_refused_in_compile() -> None:
    model, x, y = model_of([KerasMetric("mig")])
    refuses(demele.errors.InputError, r"'mig' expects codes first, .* make the", model.evaluate, x, y, verbose=0)


def test_a_saved_model_brings_its_metrics(tmp_path: Path) -> None:
    model, x, y = model_of([Modularity([0, 1], order="keras"), KerasMetric(["mig", "sap"], order="keras")])
    expected = model.evaluate(x, y, verbose=0, return_dict=True)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    found = loaded.evaluate(x, y, verbose=0, return_dict=True)
    assert str(found) == str(expected)


@pytest.mark.skipif(BACKEND != "jax", reason="the other backends here are eager")
def test_a_compiled_step_is_refused_with_what_to_do() -> None:
    model, x, y = model_of([KerasMetric("mig", order="keras")], eager=False)
    refuses(demele.errors.InputTypeError, r"compiled step; compile the model with", model.evaluate, x, y, verbose=0)


# Bad input ----------------------------------------------------------------------------------------------------------

CODES, FACTORS = rows(20)
HOLE = np.where(np.arange(60).reshape(20, 3) == 4, np.nan, CODES)
BAD: list[tuple[dict[str, Any], str]] = [
    ({"z": HOLE}, "codes: 1 non-finite value .*'z2', first at row 1"),
    ({"sample_weight": np.arange(20)}, "sample_weight: weights are not supported, .*got 19 others, first 0 at row 0"),
    ({"sample_weight": 0.5}, "sample_weight: weights are not supported, .*first 0.5"),
    ({"z": keras.KerasTensor((20, 3))}, "codes: expected a tensor with values, got a KerasTensor.*run_eagerly=True"),
    ({"a": keras.KerasTensor((20, 2))}, "factors: expected a tensor with values"),
]


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize(("given", "message"), BAD)
def test_a_refused_batch_leaves_the_state(given: dict[str, Any], message: str, framed: bool) -> None:
    frame = demele.bins.BinEdges.of(CODES, FACTORS) if framed else None
    metric = KerasMetric("mig", frame=frame)
    metric.update_state(CODES, FACTORS)
    refuses(demele.errors.InputError, message, metric.update_state, **{"z": CODES, "a": FACTORS, **given})
    assert metric.accumulator.n == 20
    metric.update_state(CODES, FACTORS, sample_weight=np.ones(20))
    metric.update_state(CODES, FACTORS, sample_weight=tensor(np.ones((20, 1))))
    metric.update_state(CODES, FACTORS, None)
    assert metric.accumulator.n == 80


def test_native_values_of_the_whole_are_refused() -> None:
    refuses(demele.errors.InputError, "native: z_diff has a value", KerasMetric, ["mig", "z_diff"], native=True)


# Class names of Latte -------------------------------------------------------------------------------------------------


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
    for other in ("nonsense", "protocol", "options"):  # the protocol and its options are those of Latte
        with pytest.raises(TypeError):
            getattr(adapter, name)(**{other: None})
