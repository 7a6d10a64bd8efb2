"""The experiment of Benjelloun, section 6.5, from cold, and the same methods on real networks under injected noise.

``python -m benchmarks.comparison_methods`` runs ``demele.bench.noise_experiment`` on scikit-learn's digits at its size
(100 classifiers, 9 900 ordered pairs, six noise rates, every method), training included, and says how long it took;
then ``demele.bench.compare_methods`` on the eight sets of decisions of 20 to 23 networks. Writes
results/comparison_methods.csv (a row per data set, kind of noise, measure, rate and method) and
results/comparison_methods_time.csv. About five minutes on two cores.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
from pathlib import Path
from time import perf_counter

import pandas as pd

from demele import bench
from demele.core.outputs import write_whole
from demele.data import label_set, label_set_names

RESULTS = Path(__file__).parent / "results"
COLUMNS = (
    *("data", "noise_kind", "measure", "noise", "rate", "method", "type_1", "type_1_se", "type_2", "type_2_se"),
    *("agreement", "agreement_se", "n_type_1", "n_kept", "n_type_2", "n_taken", "reversed", "labels_asked"),
)


def main(report: Path | None = None) -> None:
    """Run all, and write what was found."""
    times = []
    started = perf_counter()
    found = bench.noise_experiment(n_jobs=2, progress=True)
    times.append(_time("digits, training included", found, started))
    if report is not None:
        found.to_html(report)
    frames = [_rows("digits", found)]
    for name in label_set_names():
        if not name.startswith("geirhos"):
            continue
        decisions = label_set(name)
        for noise in ("feature", "uniform"):
            started = perf_counter()
            one = bench.compare_methods(decisions.predictions, decisions.labels, noise=noise, n_jobs=2)
            times.append(_time(f"{name}, {noise} noise", one, started))
            frames.append(_rows(name, one))
    rows = pd.concat(frames)[list(COLUMNS)]
    for name, frame in (("comparison_methods", rows.round(4)), ("comparison_methods_time", pd.DataFrame(times))):
        write_whole(RESULTS / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n"))
    print(pd.DataFrame(times).to_string(index=False))


def _rows(name: str, found: bench.MethodComparison) -> pd.DataFrame:
    return found.to_frame().assign(data=name, noise_kind=found.noise)


def _time(what: str, found: bench.MethodComparison, started: float) -> dict[str, object]:
    m = len(found.names)
    return {
        "run": what,
        "instances": found.n,
        "ordered_pairs": m * (m - 1),
        "methods": len(found.methods),
        "rates": len(found.columns),
        "measures": len(found.measures),
        "seconds": round(perf_counter() - started, 1),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
