"""TorchMetric: values, states, and everything that torchmetrics asks of a metric."""

import copy
import io
import itertools
import pickle
from typing import Any

import pytest
import torch
from torchmetrics import MetricCollection
from torchmetrics.aggregation import SumMetric
from torchmetrics.utilities.exceptions import TorchMetricsUserError

import demele
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


# Being a module -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"metrics": "z_diff", "native": True}, "z_diff has a value of the whole only"),
        ({"metrics": "mig", "stream": 1.5}, "stream: expected"),
    ],
)
def test_bad_arguments_are_refused(keywords: dict[str, Any], message: str) -> None:
    refuses(ValueError, message, TorchMetric, **keywords)
