"""Ten million rows, memory-mapped: the histogram metrics together, with peak memory beyond the input.

``python -m benchmarks.time_scale``: each size is scored in a process of its own.
"""

import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.cases import peak_mib
from benchmarks.loop import Row, Table, alone, main

SIZES = (100_000, 1_000_000, 10_000_000)
METRICS = ["mig", "mig_sup", "modularity", "dcimig", "jemmig", "dmig", "dlig"]


def make(folder: Path, n: int) -> tuple[Path, Path]:
    """Write codes and factors of n rows, 10 columns each, a block at a time."""
    paths = folder / f"codes{n}.npy", folder / f"factors{n}.npy"
    files = [np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(n, 10)) for path in paths]
    rng = np.random.default_rng(0)
    for start in range(0, n, 500_000):
        block = rng.random((min(500_000, n - start), 10))
        files[1][start : start + len(block)] = block
        files[0][start : start + len(block)] = 0.8 * block + 0.2 * np.roll(block, -1, axis=1)
    return paths


def scored(codes_path: Path, factors_path: Path) -> dict[str, float]:
    """Score memory-mapped files; resident memory counts anonymous pages only (mapped input is the kernel's cache)."""
    import demele

    codes, factors = np.load(codes_path, mmap_mode="r"), np.load(factors_path, mmap_mode="r")
    demele.evaluate(codes[:1000], factors[:1000], METRICS)  # imports are not what is measured
    before = _status("RssAnon")
    started, cpu = time.perf_counter(), time.process_time()
    evaluation = demele.evaluate(codes, factors, METRICS)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    assert 0 < evaluation["mig"].value < 1
    return {"seconds": seconds, "cpu": cpu, "mig": evaluation["mig"].value, "peak": _peak_anonymous() - before}


def _peak_anonymous() -> float:
    """Upper bound: the peak of all resident pages less the mapped files that are still resident."""
    return max(_status("VmHWM") - _status("RssFile"), _status("RssAnon"))


def _status(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    return peak_mib()


def measure(n: int) -> Row:
    """Write rows, and score them."""
    with tempfile.TemporaryDirectory() as folder:
        found = alone(scored, *make(Path(folder), n))
    row: Row = {"rows": n, "codes": 10, "factors": 10, "seconds": round(found["seconds"], 3)}
    row |= {"cpu seconds": round(found["cpu"], 3), "MiB beyond the input": round(found["peak"])}
    return {**row, "MIG": round(found["mig"], 4)}


if __name__ == "__main__":
    main({"scale": Table(cells=SIZES, measured=measure)})
