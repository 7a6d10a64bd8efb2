"""Shared data, timing and the place of the results."""

import csv
import io
import os
import platform
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demele.core.outputs import write_whole

RESULTS = Path(__file__).parent / "results"
Array = NDArray[np.float64]


def mixing(n: int, d: int, share: float, seed: int = 0) -> tuple[Array, Array]:
    """Codes that are each (1 - share) of their own factor and share of the next, cyclically."""
    factors = np.random.default_rng(seed).random((n, d))
    return (1 - share) * factors + share * np.roll(factors, -1, axis=1), factors


def redundant(n: int, row: int, seed: int = 0) -> tuple[Array, Array]:
    """Rows (1) [cos, sin] of angles, (2) [v, v], (3) [v, v, v, v] with two factors (as the printed row was made)."""
    rng = np.random.default_rng([seed, row])
    if row == 1:
        angles = rng.uniform(0, 2 * np.pi, (n, 4))
        return np.hstack([np.cos(angles), np.sin(angles)]), angles
    factors = rng.random((n, 4 if row == 2 else 2))
    return np.hstack([factors] * (2 if row == 2 else 4)), factors


def levels(factors: Array, bins: int = 10) -> NDArray[np.intp]:
    """Factors in [0, 1) as level numbers."""
    return (factors * bins).astype(np.intp)


def cpu_seconds(
    function: Callable[[], object], runs: int = 3, *, clock: Callable[[], float] = time.process_time
) -> float:
    """Least CPU seconds (user and system, this process) over some runs, or least seconds of another clock."""
    best = float("inf")
    for _ in range(runs):
        started = clock()
        function()
        best = min(best, clock() - started)
    return best


def sources(part: str) -> Path:
    """Return the folder of published labels, which the environment variable DEMELE_LABEL_SOURCES names."""
    folder = os.environ.get("DEMELE_LABEL_SOURCES", "")
    if not Path(folder, part).is_dir():
        raise SystemExit(f"DEMELE_LABEL_SOURCES: expected a folder with {part}, got {folder!r}")
    return Path(folder)


def peak_mib() -> float:
    """Largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    import scipy
    import sklearn

    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return {
        "processor": model,
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def write_rows(name: str, rows: Sequence[Mapping[str, object]]) -> Path:
    """Write rows to results/NAME.csv, with the machine in results/machine.csv."""
    for path, content in ((RESULTS / f"{name}.csv", rows), (RESULTS / "machine.csv", [machine()])):
        write_whole(path, csv_text(content))
    return RESULTS / f"{name}.csv"


def csv_text(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as CSV, with a line of names above them; what a row lacks of the columns of others is empty."""
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, fieldnames=names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
