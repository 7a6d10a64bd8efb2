"""The bench of metrics whole: time of the review's experiment, and the stored results that come with demele.

Run alone: ``python -m benchmarks.characterise [STORE]``, about an hour and a half on two cores; writes
results/characterise.csv and the file behind ``demele.bench.reference()``. Killed, it goes on where it was, but then the
time is not written.
"""

import sys
import time
from importlib.resources import files
from pathlib import Path

from benchmarks.cases import write_rows
from demele import bench
from demele.bench.characterise import Characterisation

REFERENCE = Path(str(files("demele.bench") / "reference.json.gz"))
#: The review's number of seeds; fewer where predictors are trained, and on the scenarios that are not the review's.
SEEDS = {"source": 100, "added": 20}
SLOW_SEEDS = {"source": 20, "added": 5}
JOBS = 2


def experiment(found: Characterisation, wall_seconds: float) -> dict[str, object]:
    """Return the row of the review's experiment: its size, and the time that it took."""
    calls = {key: sum(len(times) for times in own) for key, own in found.seconds.items()}
    work = sum(float(times.sum()) for own in found.seconds.values() for times in own)
    return {
        "experiment": "all metrics on the five scenarios of the review",
        "rows of a representation": found.n_samples,
        "seeds": SEEDS["source"],
        "seeds of DCI and Explicitness": SLOW_SEEDS["source"],
        "values": sum(sum(curve.n) for curve in found.curves.values()),
        "calls": sum(calls.values()),
        "processes": JOBS,
        "wall minutes": round(wall_seconds / 60, 1),
        "minutes in metrics, over processes": round(work / 60 / JOBS, 1),
    }


def main(store: Path) -> None:
    """Measure the review's experiment, then everything else, and keep all."""
    cold = not store.exists()
    started = time.perf_counter()
    found = bench.characterise(
        None,
        "source",
        seeds=SEEDS["source"],
        slow_seeds=SLOW_SEEDS["source"],
        n_jobs=JOBS,
        store=store,
        progress=True,
    )
    if cold:
        write_rows("characterise", [experiment(found, time.perf_counter() - started)])
    whole = bench.characterise(seeds=SEEDS, slow_seeds=SLOW_SEEDS, n_jobs=JOBS, store=store, progress=True)
    print(whole.save(REFERENCE))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "characterise.store"))
