"""General interventional robustness: time against the number of rows is a straight line.

Run alone: ``python -m benchmarks.time_irs_general``; writes results/irs_general.csv and .svg.
"""

import time

import numpy as np

import demele
from benchmarks.cases import RESULTS, write_rows
from demele.core.outputs import write_whole

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)


def main() -> None:
    """Measure, fit a line, write the table and the picture."""
    rng = np.random.default_rng(0)
    most = SIZES[-1]
    factors = rng.integers(0, 5, (most, 5), dtype=np.int8)
    factors[:, 1] = (factors[:, 0] + rng.integers(0, 2, most, dtype=np.int8)) % 5  # confounded
    codes = (factors + rng.random((most, 5), dtype=np.float32)).astype(np.float32)
    rows = []
    for n in SIZES:
        seconds = []
        for _ in range(3):
            started = time.perf_counter()
            demele.interventional_robustness(
                codes[:n], factors[:n], codes_of_interest=[0, 1], factors_of_interest=[0], nuisance=[1, 2]
            )
            seconds.append(time.perf_counter() - started)
        rows.append({"rows": n, "seconds": round(min(seconds), 4)})
        print(rows[-1])
    n, t = np.array([(row["rows"], row["seconds"]) for row in rows], dtype=float).T
    slope, intercept = np.polyfit(n, t, 1, w=1 / t)  # relative errors: a line for all sizes, not for the largest
    farthest = np.abs(t / (slope * n + intercept) - 1).max()
    exponent = np.polyfit(np.log(n[2:]), np.log(t[2:]), 1)[0]
    for row in rows:
        row["line"] = round(slope * row["rows"] + intercept, 4)
    write_rows("irs_general", rows)
    title = f"{slope * 1e9:.0f} ns a row; all within {farthest:.0%} of the line; exponent from 1e5 on {exponent:.2f}"
    write_whole(RESULTS / "irs_general.svg", picture(n, t, slope, intercept, title))
    print(title)


def picture(n: np.ndarray, t: np.ndarray, slope: float, intercept: float, title: str) -> str:
    """Draw seconds against rows, both on logarithmic axes, with the fitted line."""

    def x(value: float) -> float:
        return 70 + (np.log10(value) - 4) / 3 * 520

    low, high = np.log10(t.min()) - 0.2, np.log10(t.max()) + 0.2

    def y(value: float) -> float:
        return 330 - (np.log10(value) - low) / (high - low) * 280

    grid = np.logspace(4, 7, 61)
    line = " ".join(f"{x(v):.1f},{y(max(slope * v + intercept, t.min() / 2)):.1f}" for v in grid)
    points = "".join(
        f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="4.5" fill="#0b6e99"/>' for a, b in zip(n, t, strict=True)
    )
    ticks = "".join(f'<text x="{x(10.0**k):.0f}" y="352" text-anchor="middle">10^{k}</text>' for k in range(4, 8))
    marks = "".join(
        f'<text x="62" y="{y(10.0**k) + 4:.0f}" text-anchor="end">{10.0**k:g} s</text>'
        for k in range(int(np.ceil(low)), int(np.floor(high)) + 1)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 620 390" font-family="sans-serif" font-size="13">'
        f'<rect width="620" height="390" fill="#fff"/><title>{title}</title>'
        f'<text x="70" y="28" font-size="14">{title}</text>'
        '<line x1="70" y1="335" x2="590" y2="335" stroke="#555"/><line x1="70" y1="45" x2="70" y2="335" stroke="#555"/>'
        f'<polyline points="{line}" fill="none" stroke="#c4622d" stroke-width="1.5"/>{points}{ticks}{marks}'
        '<text x="330" y="376" text-anchor="middle">rows</text></svg>\n'
    )


if __name__ == "__main__":
    main()
