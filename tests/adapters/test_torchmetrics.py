"""TorchMetric: values, states, everything that torchmetrics asks of a metric; and the class names of Latte."""

import copy
import inspect
import io
import itertools
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from torchmetrics import Metric, MetricCollection
from torchmetrics.aggregation import SumMetric
from torchmetrics.utilities.exceptions import TorchMetricsUserError

import demele
from demele.adapters import torchmetrics as adapter
from demele.adapters.latte import BUNDLE, SOURCE_NAMES
from demele.adapters.torchmetrics import TorchMetric
from tests.adapters.rows import KINDS, A, D, N, Z
from tests.given import evaluated
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

FRAME = demele.bins.BinEdges.of(Z.numpy(), A.numpy(), kinds=KINDS)
# 240 rows are few, which fragile scores say
pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")


def direct(name: str, z: torch.Tensor = Z, a: torch.Tensor = A, **more: Any) -> demele.Score:
    """One call on all rows."""
    return evaluated(z.numpy(), a.numpy(), [name], {"kinds": KINDS} | more)[name]


def feed(metric: Any, z: torch.Tensor = Z, a: torch.Tensor = A) -> Any:
    """Update with batches of unequal size."""
    for start, stop in itertools.pairwise([len(z) * part * part // 16 for part in range(5)]):
        metric.update(z[start:stop], a[start:stop])
    return metric


def exactly(metric: TorchMetric, value: float) -> None:
    found = metric.compute()
    assert found.dtype == torch.float64
    assert found.shape == ()
    assert_exact(found.item(), value)


# Values -------------------------------------------------------------------------------------------------------------


def test_one_metric_gives_a_scalar_and_keeps_its_score() -> None:
    metric = feed(TorchMetric("sap", kinds=KINDS))
    assert [metric.score] == [None]
    exactly(metric, direct("sap").value)
    assert isinstance(metric.score, demele.Score)
    assert metric.score.native_unit == "per factor"
    assert metric.evaluation is None


def test_several_metrics_give_a_dict_and_an_evaluation() -> None:
    metric = feed(TorchMetric(["mig", "sap", "modularity"], kinds=KINDS))
    found = metric.compute()
    assert list(found) == ["mig", "sap", "modularity"]
    for name, value in found.items():
        assert_exact(value.item(), direct(name).value)
    assert metric.evaluation is not None
    assert metric.evaluation is metric.score
    assert [score.metric for score in metric.evaluation] == ["mig", "sap", "modularity"]


def test_what_does_not_apply_is_nan_and_told() -> None:
    metric = TorchMetric(["mig", "modularity"], native=True)
    metric.update(Z, A[:, :1])
    found = metric.compute()
    assert not torch.isnan(found["mig"]).any()
    assert found["modularity"].shape == (D,)
    assert torch.isnan(found["modularity"]).all()
    assert [left.metric for left in metric.evaluation.left_out] == ["modularity"]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_tensors_of_every_type_and_with_gradients(dtype: torch.dtype) -> None:
    codes = Z.clone().to(dtype).requires_grad_()
    metric = TorchMetric("mig", kinds="continuous")
    metric.update(codes, A[:, :2])
    expected = demele.metrics.mig(
        codes.detach().double().numpy(), demele.Factors(A[:, :2].numpy(), kinds="continuous")
    ).value
    assert_close(metric.compute(), expected, ROUNDING)
    assert not metric.compute().requires_grad


# Life cycle ---------------------------------------------------------------------------------------------------------


def test_forward_returns_the_value_of_the_batch_and_accumulates() -> None:
    metric = TorchMetric("mig", kinds=KINDS)
    for start in (0, 80, 160):
        part = slice(start, start + 80)
        assert_exact(metric(Z[part], A[part]).item(), direct("mig", Z[part], A[part]).value)
    assert metric.accumulator.n == N
    exactly(metric, direct("mig").value)


def test_a_refused_batch_changes_nothing() -> None:
    metric = feed(TorchMetric("mig", frame=FRAME))
    before = metric.compute()
    for method in (metric.update, metric):
        refuses(demele.errors.InputError, "outside the frame's ranges", method, Z + 100.0, A)
        refuses(demele.errors.InputError, "infinite", method, torch.full_like(Z, torch.nan), A)
        refuses(demele.errors.InputError, r"expected (the )?4 columns", method, Z[:, :2], A)
    assert metric.accumulator.n == N
    assert_exact(metric.compute(), before)
    metric(Z, A)
    assert metric.accumulator.n == 2 * N


def test_pickle_deepcopy_and_clone_keep_the_rows_and_go_their_own_ways() -> None:
    metric = feed(TorchMetric(["mig", "sap"], frame=FRAME))
    for other in (pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric), metric.clone()):
        assert other.compute() == metric.compute()
        other.update(Z[:50], A[:50])
        assert other.accumulator.n == N + 50
        assert other.compute() != metric.compute()
        assert metric.accumulator.n == N


# States -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keywords", [{"frame": FRAME}, {"kinds": KINDS}, {"kinds": KINDS, "bound": 50}])
@pytest.mark.parametrize("names", ["mig", "sap", ["mig", "dlig", "sap"]])
def test_state_dict_holds_the_rows_and_loads_strictly(names: Any, keywords: dict[str, Any]) -> None:
    metric = feed(TorchMetric(names, **keywords))
    assert not metric.state_dict()
    metric.persistent(True)
    file = io.BytesIO()
    torch.save(torch.nn.ModuleDict({"metric": metric}).state_dict(), file)
    file.seek(0)
    state = torch.load(file, weights_only=True)
    assert list(state) == ["metric.accumulator"]
    assert state["metric.accumulator"].dtype == torch.uint8

    fresh = TorchMetric(names, **keywords)  # not persistent, and the state is there: it is loaded, as torchmetrics does
    torch.nn.ModuleDict({"metric": fresh}).load_state_dict(state, strict=True)
    assert fresh.compute() == metric.compute()
    for one in (fresh, metric):
        one.update(Z[:30], A[:30])
    assert fresh.compute() == metric.compute()


def test_loading_replaces_the_rows() -> None:
    metric = feed(TorchMetric("mig", frame=FRAME))
    metric.persistent(True)
    other = feed(TorchMetric("mig", frame=FRAME), Z[:50], A[:50])
    other.compute()
    other.load_state_dict(metric.state_dict())
    assert other.accumulator.n == N
    assert_exact(other.compute(), metric.compute())


@pytest.mark.parametrize(
    ("damage", "error", "message"),
    [
        (lambda state: state[:-9], demele.errors.FormatError, "damaged or cut off"),
        (lambda state: state ^ 1, demele.errors.FormatError, "not the bytes of an accumulator"),
        (lambda state: state.int(), demele.errors.InputError, "expected a tensor of bytes"),
        (lambda state: [1, 2], demele.errors.InputError, "expected a tensor of bytes"),
    ],
)
def test_a_damaged_state_is_refused(damage: Any, error: type[Exception], message: str) -> None:
    metric = feed(TorchMetric("mig", frame=FRAME))
    state = {"accumulator": damage(metric.metric_state["accumulator"])}
    refuses(error, message, metric.load_state_dict, state)
    assert metric.accumulator.n == N


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"frame": FRAME, "metrics": "dmig"}, "differ in metrics"),
        ({"frame": FRAME, "bins": 20}, "differ in bins"),
    ],
)
def test_the_state_of_another_metric_is_refused(other: dict[str, Any], message: str) -> None:
    metric = feed(TorchMetric("mig", frame=FRAME))
    target = TorchMetric(**({"metrics": "mig"} | other))
    refuses(demele.errors.IncompatibleState, message, target.load_state_dict, metric.metric_state)
    refuses(demele.errors.IncompatibleState, message, target.merge_state, metric.metric_state)
    with pytest.raises(demele.errors.IncompatibleState):
        target.merge_state(metric)


@pytest.mark.parametrize("as_state", [False, True])
@pytest.mark.parametrize("name", ["mig", "sap"])
def test_merge_state_adds_rows_in_the_order_of_streams(name: str, as_state: bool) -> None:
    keywords: dict[str, Any] = {"frame": FRAME} if name == "mig" else {"kinds": KINDS}
    parts = [TorchMetric(name, stream=stream, **keywords) for stream in range(3)]
    for part, start in zip(parts, (0, 100, 160), strict=True):
        stop = {0: 100, 100: 160, 160: N}[start]
        feed(part, Z[start:stop], A[start:stop])
    parts[2].compute()
    for other in (parts[0], parts[1]):  # not in their order
        parts[2].merge_state(other.metric_state if as_state else other)
    exactly(parts[2], direct(name).value)
    assert parts[0].accumulator.n == 100
    parts[2].update(Z[:10], A[:10])
    assert parts[2].accumulator.n == N + 10


@pytest.mark.parametrize("other", [3, {}, {"accumulator": [1]}, SumMetric()])
def test_merging_something_else_is_refused(other: Any) -> None:
    with pytest.raises(demele.errors.InputTypeError, match="expected a TorchMetric"):
        feed(TorchMetric("mig", frame=FRAME)).merge_state(other)


# Synchronising, without processes -------------------------------------------------------------------------------------


def gathered(others: list[TorchMetric]) -> Any:
    """Stand in for the gathering of states: this process is the last."""
    return lambda state, group=None: [*(one.metric_state["accumulator"] for one in others), state]


@pytest.mark.parametrize("name", ["mig", "sap"])
def test_sync_merges_and_unsync_restores(name: str) -> None:
    first, second = (TorchMetric(name, kinds=KINDS, stream=stream) for stream in range(2))
    feed(first, Z[:90], A[:90])
    feed(second, Z[90:], A[90:])
    second.sync(dist_sync_fn=gathered([first]), distributed_available=lambda: True)
    assert second.accumulator.n == N
    refuses(TorchMetricsUserError, "synced", second.update, Z, A)
    refuses(TorchMetricsUserError, "synced", second, Z, A)
    second.unsync()
    assert second.accumulator.n == N - 90
    exactly(second, direct(name, Z[90:], A[90:]).value)


def test_compute_synchronises_and_unsynchronises() -> None:
    first = feed(TorchMetric("mig", frame=FRAME), Z[:90], A[:90])
    available = {"distributed_available_fn": lambda: True, "dist_sync_fn": gathered([first])}
    second = feed(TorchMetric("mig", frame=FRAME, **available), Z[90:], A[90:])
    exactly(second, direct("mig").value)
    assert second.accumulator.n == N - 90
    alone = feed(TorchMetric("mig", frame=FRAME, sync_on_compute=False, **available), Z[90:], A[90:])
    exactly(alone, demele.Accumulator("mig", frame=FRAME).update(Z[90:].numpy(), A[90:].numpy()).compute().value)


def test_a_failed_compute_leaves_the_local_state() -> None:
    empty = TorchMetric("mig", frame=FRAME)
    metric = TorchMetric("mig", frame=FRAME, distributed_available_fn=lambda: True, dist_sync_fn=gathered([empty]))
    refuses(demele.errors.NotEnoughData, "no rows yet", metric.compute)
    feed(metric)
    exactly(metric, direct("mig").value)


# Collections ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compute_groups", [True, False])
def test_a_collection_never_shares_states(compute_groups: bool) -> None:
    made = {
        "mig": TorchMetric("mig", frame=FRAME),
        "mig20": TorchMetric("mig", frame=FRAME, bins=20),
        "again": TorchMetric("mig", frame=FRAME),
        "modularity": TorchMetric("modularity", frame=FRAME),
        "sap": TorchMetric("sap", kinds=KINDS),
    }
    collection = MetricCollection(made, compute_groups=compute_groups)  # type: ignore[arg-type]
    feed(collection)
    if compute_groups:
        assert sorted(map(len, collection.compute_groups.values())) == [1] * 5
    found = collection.compute()
    expected = {name: direct(name).value for name in ("mig", "modularity", "sap")}
    expected |= {"mig20": direct("mig", bins=20).value, "again": expected["mig"]}
    assert {name: value.item() for name, value in found.items()} == expected
    assert len({id(metric.accumulator) for metric in made.values()}) == 5
    collection.reset()
    assert all(metric.accumulator.n == 0 for metric in made.values())
    collection(Z, A)
    assert all(metric.accumulator.n == N for metric in made.values())
    assert collection.clone(prefix="val/").compute().keys() == {f"val/{name}" for name in made}


def test_groups_forced_by_hand_are_refused_rather_than_wrong() -> None:
    metrics = {"a": TorchMetric("mig", frame=FRAME), "b": TorchMetric("dmig", frame=FRAME)}
    collection = MetricCollection(metrics, compute_groups=[["a", "b"]])  # type: ignore[arg-type]
    feed(collection)
    refuses(demele.errors.NotEnoughData, "dmig: no rows yet", collection.compute)


# Class names of Latte: results per attribute, equal to the protocol "latte" -------------------------------------------


CONTINUOUS = A[:, :2]
CLASSES = torch.stack([(3 * A[:, 0]).floor(), (4 * A[:, 1]).floor()], dim=1)
ALIASES = {"MIG": "mig", "DMIG": "dmig", "DLIG": "dlig", "XMIG": "xmig", "SAP": "sap"}
PER_FACTOR = list(ALIASES.items())


def of_latte(
    name: str, a: torch.Tensor, *, discrete: bool = False, z: torch.Tensor = Z, reg_dim: Any = None, **more: Any
) -> demele.Score:
    factors = demele.Factors(a.numpy(), kinds="categorical" if discrete else "continuous", reg_dim=reg_dim)
    return demele.evaluate(z.numpy(), factors, [name], protocol="latte", **more)[name]


def made(name: str, a: torch.Tensor, *arguments: Any, z: torch.Tensor = Z, **keywords: Any) -> Any:
    """What a class computes from batches."""
    metric = getattr(adapter, name)(*arguments, **keywords)
    for start in range(0, len(z), 100):
        metric.update(z[start : start + 100], a[start : start + 100])
    return metric.compute()


def native(score: demele.Score) -> list[float]:
    return list(score.native.values())


# Names and arguments ------------------------------------------------------------------------------------------------


def test_the_names_and_their_arguments_are_those_of_latte() -> None:
    for name, (metric, arguments) in SOURCE_NAMES.items():
        made_of = getattr(adapter, name)
        assert issubclass(made_of, Metric)
        parameters = inspect.signature(made_of).parameters
        assert {one: parameters[one].default for one in parameters if one != "keywords"} == arguments
        assert [one for one, own in ALIASES.items() if own == metric and getattr(adapter, one) is not made_of] == []
        assert len(inspect.getdoc(made_of) or "") > 20
    bundle = inspect.signature(getattr(adapter, BUNDLE)).parameters
    assert list(bundle) == ["reg_dim", "discrete", "keywords"]
    assert set(adapter.__all__) == {*SOURCE_NAMES, *ALIASES, "TorchMetric"}


# Values -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize(("alias", "name"), PER_FACTOR)
def test_values_per_attribute_are_those_of_the_protocol(alias: str, name: str, discrete: bool) -> None:
    factors = CLASSES if discrete else CONTINUOUS
    found = made(alias, factors, discrete=discrete)
    assert found.shape == (2,)
    assert found.dtype == torch.float64
    assert found.tolist() == native(of_latte(name, factors, discrete=discrete))


def test_sap_with_reg_dim_takes_that_code_first_whatever_its_rank() -> None:
    matrix = of_latte("sap", CONTINUOUS).matrix
    scores = matrix.to_numpy()
    for codes in ([0, 1], [1, 0], [3, 2]):
        expected = [
            scores[codes[i], i] - max(scores[j, i] for j in range(D) if j != codes[i]) for i in range(len(codes))
        ]
        assert made("SAP", CONTINUOUS, codes).tolist() == expected
    assert (made("SAP", CONTINUOUS, [3, 2]) < 0).all()


def test_sap_zeroes_codes_that_hardly_vary() -> None:
    codes = Z.clone()
    codes[:, 0] = 0.01 * CONTINUOUS[:, 0]  # perfect, with a variance of about 1e-5
    matrix = of_latte("sap", CONTINUOUS, z=codes).matrix
    scores = matrix.to_numpy().copy()
    assert scores[0, 0] > 0.999
    scores[0] = 0.0
    best = np.sort(scores, axis=0)
    found = made("SAP", CONTINUOUS, thresh=1e-3, z=codes)
    assert found.tolist() == (best[-1] - best[-2]).tolist()
    assert_exact(made("SAP", CONTINUOUS, [0, 1], thresh=1e-3, z=codes)[0], -scores[1:, 0].max())
    assert made("SAP", CONTINUOUS, z=codes).tolist() == native(of_latte("sap", CONTINUOUS, z=codes))
    discrete = made("SAP", CLASSES, discrete=True, thresh=1e3)  # not looked at
    assert discrete.tolist() == native(of_latte("sap", CLASSES, discrete=True))


def test_modularity_gives_the_value_of_each_attributes_code() -> None:
    score = of_latte("modularity", CONTINUOUS)
    per_code = native(score)
    assert made("Modularity", CONTINUOUS).tolist() == per_code[:2]
    assert made("Modularity", CONTINUOUS, [3, 1]).tolist() == [per_code[3], per_code[1]]
    square = made("Modularity", CONTINUOUS, z=Z[:, :2])  # as many codes as attributes: the native values
    assert square.tolist() == native(of_latte("modularity", CONTINUOUS, z=Z[:, :2]))


def test_modularity_counts_informations_below_the_threshold_as_none() -> None:
    matrix = of_latte("modularity", CONTINUOUS).matrix
    information = matrix.to_numpy()
    thresh = float(information[0].mean())  # between the two of the first code
    expected = []
    for code in range(2):
        kept = [value if value >= thresh else 0.0 for value in information[code]]
        largest = max(kept)
        others = sum((value / largest) ** 2 for value in kept) - 1 if largest else 1.0
        expected.append(1 - others / (len(kept) - 1) if largest else 0.0)
    found = made("Modularity", CONTINUOUS, thresh=thresh)
    assert_close(found, expected, ROUNDING)
    assert found[0] == 1
    assert made("Modularity", CONTINUOUS)[0] < 1
    assert made("Modularity", CONTINUOUS, thresh=1e9).tolist() == [0.0, 0.0]


def test_what_does_not_apply_in_a_bundle_is_nan() -> None:
    found = made(BUNDLE, CONTINUOUS, z=Z[:, :2])
    assert torch.isnan(found["XMIG"]).all()
    assert found["XMIG"].shape == (2,)
    assert not torch.isnan(found["DLIG"]).any()


# Being metrics --------------------------------------------------------------------------------------------------------


def test_a_batch_that_cannot_be_scored_has_the_shape_of_a_result() -> None:
    for metric in (adapter.MIG(), adapter.Modularity()):
        found = metric(Z[:5], CONTINUOUS[:1].repeat(5, 1))
        assert torch.isnan(found).all()
        assert found.shape == (2,)
    bundle = adapter.DependencyAwareMutualInformationBundle()(Z[:5], CONTINUOUS[:1].repeat(5, 1))
    assert {key: value.shape for key, value in bundle.items()} == dict.fromkeys(["MIG", "DMIG", "XMIG", "DLIG"], (2,))
