"""General interventional robustness: time against the number of rows is a straight line.

``python -m benchmarks.time_irs_general`` writes results/irs_general.csv and .svg.
"""

import io
import time
from functools import cache

import numpy as np

import demele
from benchmarks.cases import RESULTS, cpu_seconds
from benchmarks.loop import Row, Table, main
from demele.core.outputs import write_whole

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
_ROLES = {"codes_of_interest": [0, 1], "factors_of_interest": [0], "nuisance": [1, 2]}


@cache
def data() -> tuple[np.ndarray, np.ndarray]:
    """Return codes and confounded factors of the most rows."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 5, (SIZES[-1], 5), dtype=np.int8)
    factors[:, 1] = (factors[:, 0] + rng.integers(0, 2, SIZES[-1], dtype=np.int8)) % 5
    return (factors + rng.random(factors.shape, dtype=np.float32)).astype(np.float32), factors


def measured(n: int, repeats: int) -> Row:
    """Return the least seconds of some calls."""
    codes, factors = (table[:n] for table in data())

    def call() -> object:
        return demele.interventional_robustness(codes, factors, **_ROLES)

    return {"rows": n, "seconds": round(cpu_seconds(call, repeats, clock=time.perf_counter), 4)}


def with_line(found: list[tuple[int, Row]]) -> list[Row]:
    """Fit a line, draw it, and add it to the rows."""
    n, t = np.array([(row["rows"], row["seconds"]) for _, row in found], dtype=float).T
    slope, intercept = np.polyfit(n, t, 1, w=1 / t)  # relative errors: a line for all sizes, not for the largest
    line = slope * n + intercept
    if len(n) == len(SIZES):
        farthest, exponent = np.abs(t / line - 1).max(), np.polyfit(np.log(n[2:]), np.log(t[2:]), 1)[0]
        within = f"all within {farthest:.0%} of the line; exponent from 1e5 on {exponent:.2f}"
        draw(n, t, line, f"{slope * 1e9:.0f} ns a row; {within}")
    return [{**row, "line": round(own, 4)} for (_, row), own in zip(found, line, strict=True)]


def draw(n: np.ndarray, t: np.ndarray, line: np.ndarray, title: str) -> None:
    """Write a picture of seconds against rows, both on logarithmic axes, with the fitted line."""
    from matplotlib.figure import Figure

    axes = Figure(figsize=(6.2, 3.9)).subplots()
    axes.loglog(n, line, color="#c4622d")
    axes.loglog(n, t, "o", color="#0b6e99")
    axes.set(title=title, xlabel="rows", ylabel="seconds")
    held = io.StringIO()
    axes.figure.savefig(held, format="svg")
    write_whole(RESULTS / "irs_general.svg", held.getvalue())


if __name__ == "__main__":
    main({"irs_general": Table(cells=SIZES, measured=measured, repeats=3, rows=with_line)})
