"""Whole, in batches, stored, through torch, on Dask and from the command line: one metric, one number."""

import contextlib
import functools
import importlib
import io
import json
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demele
from demele.cli.main import main
from tests.contract.cases import CHEAP, GROUPS, NAMES, N, small
from tests.given import accumulated_metrics
from tests.tolerances import ROUNDING, assert_close, assert_exact

pytestmark = pytest.mark.filterwarnings("ignore")  # of frameworks; those of demele are tested elsewhere

TABLES = small()
CODES: np.ndarray[Any, np.dtype[np.float64]] = TABLES[0].to_numpy()
FACTORS = TABLES[1].assign(shape=TABLES[1]["shape"].astype("category").cat.codes).to_numpy(np.float64)
STDS = TABLES[2]
FRAME = demele.bins.BinEdges.of(CODES, FACTORS)
#: Rows of each batch; the last are short.
BATCHES = np.split(np.arange(N), [50, 100, 101, 150])

#: Summed under a frame, and so equal to rounding; all others are equal to the bit.
SUMMED = accumulated_metrics(FRAME)

Numbers = dict[str, tuple[float, list[float]]]


def numbers(scores: Any) -> Numbers:
    """Value and native values by metric."""
    return {score.metric: (score.value, [float(one) for one in score.native.values()]) for score in scores}


@functools.cache
def whole(options: bool = True) -> Numbers:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return numbers(
            demele.evaluate(demele.Codes(CODES, std=STDS), FACTORS, NAMES, options=CHEAP if options else None)
        )


def rounded(actual: Any, expected: Any) -> None:
    """Equal to rounding."""
    assert_close(actual, expected, ROUNDING)


def fed(accumulator: demele.Accumulator, batches: list[Any]) -> demele.Accumulator:
    for rows in batches:
        accumulator = accumulator.update(CODES[rows], FACTORS[rows], STDS[rows])
    return accumulator


@functools.cache
def batched(framed: bool) -> Numbers:
    accumulator = demele.Accumulator(NAMES, frame=FRAME if framed else None, options=CHEAP)
    return numbers(fed(accumulator, BATCHES).compute())


@functools.cache
def written_and_read(framed: bool) -> Numbers:
    accumulator = demele.Accumulator(NAMES, frame=FRAME if framed else None, options=CHEAP)
    for rows in BATCHES:
        accumulator = demele.Accumulator.from_bytes(fed(accumulator, [rows]).to_bytes())
    return numbers(accumulator.compute())


def torch_metric(name: str) -> Numbers:
    pytest.importorskip("torchmetrics")
    torch = pytest.importorskip("torch")
    adapter = pytest.importorskip("demele.adapters.torchmetrics")
    metric = adapter.TorchMetric(name, frame=FRAME, options=CHEAP)
    for rows in BATCHES:
        deviations = {"codes_std": torch.from_numpy(STDS[rows])} if name == "rmig" else {}
        metric.update(torch.from_numpy(CODES[rows]), torch.from_numpy(FACTORS[rows]), **deviations)
    metric.compute()
    return numbers([metric.score])


@functools.cache
def on_dask() -> Numbers:
    array = importlib.import_module("dask.array")
    codes, factors = (array.from_array(table, chunks=(50, -1)) for table in (CODES, FACTORS))
    names = [name for name in NAMES if ("dask", name) not in NOT_ON]
    return numbers(demele.evaluate(codes, factors, names, options=CHEAP))


def dask(_: str) -> Numbers:
    pytest.importorskip("dask.array")
    return on_dask()


@functools.cache
def _printed(folder: Path) -> Numbers:
    files = []
    for stem, table in (("codes", CODES), ("factors", FACTORS), ("stds", STDS)):
        np.save(folder / f"{stem}.npy", table)
        files.append(str(folder / f"{stem}.npy"))
    out = io.StringIO()
    words = ["score", *files[:2], "--codes-std", files[2], "--metrics", ",".join(NAMES), "--format", "json", "--quiet"]
    with contextlib.redirect_stdout(out):
        assert main(words) == 0
    told = json.loads(out.getvalue())
    return {
        score["metric"]: (
            score["value"],
            [math.nan if one is None else float(one) for one in score["per_factor"] or score["per_code"] or []],
        )
        for score in told["scores"]
    }


Route = Callable[[str], Numbers]
ROUTES: dict[str, Route] = {
    "batched with a frame": lambda _: batched(True),
    "batched": lambda _: batched(False),
    "written and read": lambda _: written_and_read(True),
    "torch": torch_metric,
    "dask": dask,
}


#: Routes that sum under a frame.
FRAMED = ("batched with a frame", "written and read", "torch")
#: What a route does not do, and why.
NOT_ON = {("dask", "rmig"): "soft counts spread every row over all bins: not read a piece at a time, and refused"}
CASES = [(route, name) for route in ROUTES for name in NAMES if (route, name) not in NOT_ON]


@pytest.mark.parametrize(("route", "name"), CASES)
def test_every_route_gives_the_number_of_one_call_on_all_rows(route: str, name: str) -> None:
    value, native = ROUTES[route](name)[name]
    equal = rounded if name in SUMMED and route in FRAMED else assert_exact
    equal(value, whole()[name][0])
    equal(native, whole()[name][1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rows")


@pytest.mark.parametrize("name", NAMES)
def test_the_command_line_prints_the_number_of_a_call(name: str, folder: Path) -> None:
    value, native = _printed(folder)[name]
    assert_exact(value, whole(options=False)[name][0])
    assert_exact(native, whole(options=False)[name][1])


def test_every_metric_and_every_kind_of_state_is_among_them() -> None:
    assert set(whole()) == set(NAMES)
    counted = demele.counted_metrics()
    told = repr(fed(demele.Accumulator(NAMES, frame=FRAME), BATCHES[:1]))
    assert told.endswith(f"; n=50, counted: {', '.join(counted)}, summed: {', '.join(SUMMED)}, 50 rows kept)")


# Float32, as networks give ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", GROUPS.values(), ids=GROUPS)
def test_float32_batches_are_what_they_are(names: list[str]) -> None:
    codes, factors = CODES.astype(np.float32), FACTORS.astype(np.float32)
    expected = demele.evaluate(demele.Codes(codes, std=STDS), factors, names, options=CHEAP)
    for frame in (demele.bins.BinEdges.of(codes, factors), None):
        accumulator = demele.Accumulator(names, frame=frame, options=CHEAP)
        for rows in BATCHES:
            accumulator = accumulator.update(codes[rows], factors[rows], STDS[rows])
        found = accumulator.compute()
        for name in names:
            equal = rounded if frame is not None and name in accumulated_metrics(frame) else assert_exact
            equal(found[name].value, expected[name].value)


@pytest.mark.parametrize("protocol", demele.list_protocols())
def test_protocols_give_the_same_numbers_in_batches(protocol: str) -> None:
    names = [name for name in NAMES if not name.startswith("dci")]
    rules = [demele.bins.EqualFrequency(10)]
    frame = demele.bins.BinEdges.of(CODES, FACTORS, bins=rules)
    expected = numbers(
        demele.evaluate(
            demele.Codes(CODES, std=STDS),
            demele.Factors(FACTORS, kinds=frame.kinds),
            names,
            protocol=protocol,
            options=CHEAP,
        )
    )
    accumulator = fed(demele.Accumulator(names, frame=frame, protocol=protocol, options=CHEAP), BATCHES)
    found = numbers(accumulator.compute())
    for name in SUMMED:
        (value, native), (wanted, own) = found.pop(name), expected.pop(name)
        rounded([value, *native], [wanted, *own])
    assert found.keys() == expected.keys()
    for name, (value, native) in found.items():
        assert_exact([value, *native], [expected[name][0], *expected[name][1]])
