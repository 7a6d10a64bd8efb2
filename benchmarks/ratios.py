"""Is demele as fast as it was? Speed, scale, streams and sparse codes beside another commit, by turns, in one run.

``python -m benchmarks.ratios --against COMMIT [name ...]``: ratios of CPU seconds and peak memory of the cases whose
names begin so, all by default, in about ten minutes. A case under which a value differs is marked: ``OTHER``.
"""

import importlib.util
import io
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import demele
from benchmarks import out_of_core
from benchmarks.cases import levels, mixing
from benchmarks.paired import Case, against
from demele.core.outputs import write_whole

HISTOGRAM = ["mig", "mig_sup", "modularity", "dcimig", "jemmig", "dmig", "dlig"]
#: Ratios above this, in the median of a case, are slower than noise alone makes one of these cases.
SLOWER = 1.05


def _values(evaluation: Any) -> list[float]:
    return [score.value for score in evaluation]


# Rows in memory -----------------------------------------------------------------------------------------------------


def few_rows() -> Callable[[], object]:
    """MIG of few rows, with its guards."""
    given = mixing(200, 8, 0.2)
    return lambda: demele.metrics.mig(*given).value


def histogram(n: int, d: int) -> Case:
    """All metrics of histograms in one call."""

    def prepared() -> Callable[[], object]:
        given = mixing(n, d, 0.2)
        return lambda: _values(demele.evaluate(*given, HISTOGRAM))

    return prepared


def drawn() -> Callable[[], object]:
    """Bootstrap and chance of the metrics of histograms."""
    given = mixing(2_000, 8, 0.2)
    return lambda: _values(demele.evaluate(*given, HISTOGRAM, n_bootstrap=50, n_permutations=10))


def neighbours() -> Callable[[], object]:
    """Nearest-neighbour information."""
    codes, factors = mixing(50_000, 4, 0.2)
    given = codes, levels(factors)
    return lambda: demele.metrics.mig(*given, estimator="knn").value


def robust() -> Callable[[], object]:
    """The robust protocol."""
    given = mixing(5_000, 6, 0.2)
    return lambda: _values(demele.evaluate(*given, HISTOGRAM, protocol="robust"))


def fitted(*metrics: str, n: int = 20_000, categorical: bool = False) -> Case:
    """Metrics that fit predictors or form groups."""

    def prepared() -> Callable[[], object]:
        codes, factors = mixing(n, 8, 0.2)
        given = codes, levels(factors) if categorical else factors
        return lambda: _values(demele.evaluate(*given, list(metrics)))

    return prepared


def general_irs() -> Callable[[], object]:
    """Interventional robustness of confounded factors."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 5, (300_000, 5), dtype=np.int8)
    codes = (factors + rng.random(factors.shape, dtype=np.float32)).astype(np.float32)
    asked: dict[str, Any] = {"codes_of_interest": [0, 1], "factors_of_interest": [0], "nuisance": [1, 2]}
    return lambda: demele.metrics.interventional_robustness(codes, factors, **asked).value


# Rows on disk -------------------------------------------------------------------------------------------------------


def mapped() -> Callable[[], object]:
    """Two million rows of memory-mapped files."""
    folder = tempfile.TemporaryDirectory(prefix="demele-mapped-")
    given = []
    for name, table in zip(("codes", "factors"), mixing(2_000_000, 10, 0.2), strict=True):
        archive = io.BytesIO()
        np.save(archive, table)
        given.append(np.load(write_whole(Path(folder.name, f"{name}.npy"), archive.getvalue()), mmap_mode="r"))
    return lambda: (_values(demele.evaluate(*given, HISTOGRAM)), folder)[0]


def parquet(metrics: list[str], sample: int | None = None) -> Case:
    """Two million rows of a Parquet file, read a piece at a time."""

    def prepared() -> Callable[[], object]:
        folder = tempfile.TemporaryDirectory(prefix="demele-parquet-")
        out_of_core.make(Path(folder.name), 2_000_000)
        names = out_of_core.CODES, list(out_of_core.LEVELS)
        codes, factors = (demele.scan_parquet(folder.name, columns) for columns in names)
        given: Any = codes if sample is None else demele.Codes(codes, sample=sample)
        return lambda: (_values(demele.evaluate(given, factors, metrics)), folder)[0]

    return prepared


def sparse() -> Callable[[], object]:
    """Sparse codes of a dictionary, with SAP on the screened ones."""
    import scipy.sparse

    rng = np.random.default_rng(0)
    factors = np.column_stack([rng.integers(0, 2 if index < 10 else 10, 50_000) for index in range(20)])
    codes = scipy.sparse.random_array((50_000, 8_192), density=0.004, rng=rng, format="csr", dtype=np.float32)
    return lambda: _values(demele.evaluate_sparse(codes, factors, [*HISTOGRAM[:5], "sap"]))


# Batches ------------------------------------------------------------------------------------------------------------


def _batches() -> list[tuple[np.ndarray, np.ndarray]]:
    return [mixing(1024, 10, 0.2, seed) for seed in range(100)]


def _frame() -> demele.bins.BinEdges:
    codes, factors = (np.concatenate(part) for part in zip(*_batches(), strict=True))
    return demele.bins.BinEdges.of(codes, factors, kinds="continuous")


def _filled(names: Any, **keywords: Any) -> demele.Accumulator:
    state = demele.Accumulator(names, **keywords)
    for codes, factors in _batches():
        state = state.update(codes, factors)
    return state


def updates(names: Any, *, framed: bool) -> Case:
    """A hundred batches of 1 024 rows."""

    def prepared() -> Callable[[], object]:
        rows, keywords = _batches(), {"frame": _frame()} if framed else {"kinds": "continuous"}

        def call() -> int:
            state = demele.Accumulator(names, **keywords)
            for codes, factors in rows:
                state = state.update(codes, factors)
            return state.n

        return call

    return prepared


def computed(names: Any, *, framed: bool) -> Case:
    """The value of what a hundred batches left."""

    def prepared() -> Callable[[], object]:
        state = _filled(names, **({"frame": _frame()} if framed else {"kinds": "continuous"}))

        def call() -> list[float]:
            found = state.compute()
            return [found.value] if isinstance(found, demele.Score) else _values(found)

        return call

    return prepared


def written() -> Callable[[], object]:
    """Bytes of a state, read again and merged with another."""
    frame = _frame()
    mine, other = (_filled(["mig", "irs", "sap"], frame=frame, stream=stream) for stream in (0, 1))
    return lambda: demele.Accumulator.from_bytes(mine.to_bytes()).merge(other).n


def torch_updates() -> Callable[[], object]:
    """A hundred batches through torchmetrics."""
    import torch

    from demele.adapters.torchmetrics import TorchMetric

    rows, frame = [tuple(map(torch.from_numpy, batch)) for batch in _batches()], _frame()

    def call() -> float:
        metric = TorchMetric("mig", frame=frame)
        for codes, factors in rows:
            metric.update(codes, factors)
        return float(metric.compute())

    return call


# Classifiers --------------------------------------------------------------------------------------------------------


def _models(count: int, n: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 10, n)
    labels = np.where(rng.random(n) < 0.05, rng.integers(0, 10, n), truth)
    skills = np.linspace(0.55, 0.9, count)
    predictions = [np.where(rng.random(n) < skill, truth, rng.integers(0, 10, n)) for skill in skills]
    return {f"model {i}": row for i, row in enumerate(predictions)}, labels


def ranking() -> Callable[[], object]:
    """All pairs of thirty classifiers on wrong labels."""
    from demele.classifiers import rank

    models, labels = _models(30, 12_000)
    return lambda: rank(models, labels, noise=0.05).pairs.to_csv()


def assessed() -> Callable[[], object]:
    """One classifier on 300 000 labels."""
    from demele.classifiers import assess

    models, labels = _models(1, 300_000)
    return lambda: assess(models["model 0"], labels, noise=0.05)["accuracy"].value


CASES: dict[str, Case] = {
    "speed: MIG, 200 rows": few_rows,
    "speed: histogram family, 20 000 rows": histogram(20_000, 8),
    "speed: histogram family, 1 000 000 rows": histogram(1_000_000, 10),
    "speed: bootstrap and chance": drawn,
    "speed: nearest neighbours": neighbours,
    "speed: robust protocol": robust,
    "speed: explicitness": fitted("explicitness"),
    "speed: Z metrics": fitted("z_diff", "z_min_variance", "z_max_variance"),
    "speed: IRS": fitted("irs"),
    "speed: SAP, classes": fitted("sap", categorical=True),
    "speed: DCI lasso": fitted("dci_lasso_modularity"),
    "speed: DCI forest": fitted("dci_forest_modularity", n=1_000),
    "speed: DCI boosted trees": fitted("dci_boosting_modularity", n=1_000, categorical=True),
    "speed: general IRS": general_irs,
    "speed: ranking": ranking,
    "speed: assessment": assessed,
    "scale: mapped files, 2 000 000 rows": mapped,
    "scale: Parquet, counted": parquet(HISTOGRAM),
    "scale: Parquet, sampled": parquet(["sap", "z_min_variance"], sample=20_000),
    "sparse: information and SAP": sparse,
    "streaming: updates, MIG": updates("mig", framed=True),
    "streaming: updates, all counted": updates(HISTOGRAM, framed=True),
    "streaming: updates, IRS and SAP summed": updates(["irs", "sap"], framed=True),
    "streaming: updates, a sample": updates("irs", framed=False),
    "streaming: value, all counted": computed(HISTOGRAM, framed=True),
    "streaming: value, IRS and SAP summed": computed(["irs", "sap"], framed=True),
    "streaming: value, a sample": computed("irs", framed=False),
    "streaming: bytes and merging": written,
}
if importlib.util.find_spec("torchmetrics") is not None:
    CASES["streaming: torchmetrics"] = torch_updates


if __name__ == "__main__":
    _, found = against("benchmarks.ratios", CASES, __doc__)
    slower = [f"{one.name} ({one.ratio:.2f})" for one in found if one.ratio > SLOWER]
    print(f"geometric mean of {len(found)} ratios: {statistics.geometric_mean(one.ratio for one in found):.2f}")
    print(f"slower by more than {SLOWER - 1:.0%}: {', '.join(slower) or 'none'}")
    print(f"other values: {', '.join(one.name for one in found if not one.same) or 'none'}")
