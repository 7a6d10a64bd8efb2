"""Sets of images that a formula draws: images per second on one core, seconds until the first, memory.

``python -m benchmarks.time_images`` writes results/images.csv. Each case runs in a process of its
own, so that its peak is its own. Rows are drawn at random, as training draws them, in batches of 32 and of 1000.
Seconds are CPU seconds of the process, and rates the best of three: other work on the machine slows a process, and
never speeds it up.
"""

from typing import Any

import numpy as np

from benchmarks.cases import cpu_seconds, peak_mib
from benchmarks.loop import Table, main

#: set, size, counts (the factor sizes of Shapes3D for the last one), images per second that are to be reached
CASES = (
    ("sprites", 32, (3, 6, 8, 12, 12), 5000),
    ("sprites", 64, (3, 6, 8, 12, 12), None),
    ("room", 32, (6, 6, 6, 4, 4, 6), None),
    ("room", 64, (10, 10, 10, 8, 4, 15), 5000),
)
BATCHES = (32, 1000)


def measure(case: tuple[str, int, tuple[int, ...], int | None]) -> dict[str, Any]:
    """Time what a set needs before its first images, and how fast they come then."""
    import demele

    name, size, counts, wanted = case
    before = peak_mib()
    made = [None]

    def make() -> None:
        made[0] = getattr(demele.data, name)(size, counts)
        # one image of each scale, shape and azimuth of a room, or of each shape, scale and angle of sprites
        vary = counts[3:] if name == "room" else counts[:3]
        rows = np.arange(int(np.prod(vary))) * (1 if name == "room" else int(np.prod(counts[3:])))
        for part in np.array_split(rows, max(1, len(rows) // 100)):
            made[0].images(part)  # type: ignore[attr-defined]

    seconds = cpu_seconds(make, 1)
    images: Any = made[0]
    peak = peak_mib()
    rates = {}
    for batch in BATCHES:
        rows = np.random.default_rng(0).integers(0, len(images), (max(1, 4000 // batch), batch))
        rates[batch] = rows.size / cpu_seconds(lambda rows=rows: [images.images(part) for part in rows], 3)
    return {
        "set": name,
        "pixels": " x ".join(map(str, images.shape)),
        "images": len(images),
        "seconds until every geometry is known": round(seconds, 2),
        "MiB of the process before": round(before),
        "peak MiB then": round(peak),
        **{f"images/s, batches of {batch}": int(round(rate, -2)) for batch, rate in rates.items()},
        "wanted images/s": "" if wanted is None else wanted,
    }


if __name__ == "__main__":
    main({"images": Table(cells=CASES, measured=measure, alone=True)})
