"""What a batch costs in a training loop: updating and reading metrics, alone and through torchmetrics and Keras.

``python -m benchmarks.time_streaming``. The histogram metrics with a frame are the bar: a batch of 1024 rows
of 10 codes and 10 factors in under a millisecond. The table is ``results/streaming.csv``.
"""

import importlib.util
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import demele
from benchmarks.loop import Table, main

ROWS, COLUMNS, BATCHES = 1024, 10, 300
WARM = 20


def batches(dtype: type) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return batches of codes that mix two factors each."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(BATCHES):
        factors = rng.random((ROWS, COLUMNS))
        codes = 0.8 * factors + 0.2 * np.roll(factors, -1, axis=1)
        found.append((codes.astype(dtype), factors.astype(dtype)))
    return found


def frame_of(rows: list[tuple[np.ndarray, np.ndarray]]) -> demele.bins.BinEdges:
    """Return the frame of all batches."""
    codes, factors = (np.concatenate([batch[part] for batch in rows]) for part in range(2))
    return demele.bins.BinEdges.of(codes, factors, kinds="continuous")


class Plain:
    """An accumulator with the methods of the others."""

    def __init__(self, names: Any, **keywords: Any) -> None:
        self.state = demele.Accumulator(names, **keywords)

    def update(self, codes: Any, factors: Any) -> None:
        """Add a batch."""
        self.state = self.state.update(codes, factors)

    def value(self) -> float:
        """Return the first value."""
        found = self.state.compute()
        return float(found.value if isinstance(found, demele.Score) else next(iter(found)).value)


def makers() -> dict[str, tuple[Callable[..., Any], Callable[[np.ndarray], Any]]]:
    """Return what is timed, with what turns a batch into its input; adapters that are not installed are left out."""
    found: dict[str, tuple[Callable[..., Any], Callable[[np.ndarray], Any]]] = {"Accumulator": (Plain, lambda x: x)}
    if importlib.util.find_spec("torchmetrics") is not None:
        import torch

        from demele.adapters.torchmetrics import TorchMetric

        torch.set_num_threads(1)

        class Torch(TorchMetric):
            def value(self) -> float:
                found = self.compute()
                return float(next(iter(found.values())) if isinstance(found, dict) else found)

        found["TorchMetric"] = (Torch, torch.from_numpy)
    keras_is_here = importlib.util.find_spec("demele.adapters.keras") and importlib.util.find_spec("keras")
    if keras_is_here:
        os.environ.setdefault("KERAS_BACKEND", "torch")
        import keras

        from demele.adapters.keras import KerasMetric

        class Keras(KerasMetric):
            def update(self, codes: Any, factors: Any) -> None:
                self.update_state(codes, factors)

            def value(self) -> float:
                found = self.score
                return float(found.value if isinstance(found, demele.Score) else next(iter(found)).value)

        found["KerasMetric"] = (Keras, keras.ops.convert_to_tensor)
    return found


def milliseconds(function: Callable[..., object], *arguments: object) -> float:
    """Return the CPU milliseconds of a call."""
    started = time.process_time()
    function(*arguments)
    return 1e3 * (time.process_time() - started)


#: What is computed, and whether it has a frame.
CASES: dict[str, tuple[Any, bool]] = {
    "mig": ("mig", True),
    "all counted": ([name for name in demele.counted_metrics() if name != "xmig"], True),  # no code is left for it
    "irs, a sample of 100 000 rows": ("irs", False),
}


def measured(cell: tuple[str, str, str], n: int) -> dict[str, object]:
    """Time the updates of one metric by some batches, the value after them, and both in one call."""
    dtype, name, case = cell
    rows, (metric, into), (names, framed) = batches(np.dtype(dtype).type), makers()[name], CASES[case]
    keywords = {"frame": frame_of(rows)} if framed else {"kinds": "continuous"}
    given = [(into(codes), into(factors)) for codes, factors in rows]
    made, expected = metric(names, **keywords), Plain(names, **keywords)
    for own, plain in zip(given[:3], rows[:3], strict=True):
        made.update(*own)
        expected.update(*plain)
    assert made.value() == expected.value(), cell
    timed = metric(names, **keywords)
    times = [milliseconds(timed.update, *batch) for batch in given[: WARM + n]][WARM:]
    value, both = milliseconds(timed.value), metric(names, **keywords)
    forward = [milliseconds(both, *batch) for batch in given[:WARM]] if hasattr(both, "forward") else []
    return {
        **dict(zip(("through", "metrics", "dtype"), (name, case, dtype), strict=True)),
        "rows": ROWS,
        "codes": COLUMNS,
        "factors": COLUMNS,
        "update_ms_median": round(statistics.median(times), 3),
        "update_ms_mean": round(statistics.fmean(times), 3),
        "update_ms_p95": round(float(np.quantile(times, 0.95)), 3),
        "compute_ms": round(value, 1),
        "forward_ms_median": round(statistics.median(forward), 2) if forward else None,
    }


if __name__ == "__main__":
    cells = [(dtype, name, case) for dtype in ("float64", "float32") for name in makers() for case in CASES]
    main({"streaming": Table(cells=cells, measured=measured, repeats=BATCHES - WARM)})
