"""The experiment of Benjelloun, section 6.5, from cold, and the same methods on real networks under injected noise.

``python -m benchmarks.comparison_methods`` runs ``demele.bench.noise_experiment`` on scikit-learn's digits at its size
(100 classifiers, 9 900 ordered pairs, six noise rates, every method), training included, and says how long it took;
then ``demele.bench.check_methods`` on the eight sets of decisions of 20 to 23 networks. Writes
results/comparison_methods.csv (a row per data set, kind of noise, measure, rate and method) and
results/comparison_methods_time.csv. About five minutes on two cores.
"""

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import demele
from benchmarks.loop import Row, Table, main
from demele import bench
from demele.data.examples import LABEL_SETS, label_example

COLUMNS = (
    *("data", "noise_kind", "measure", "noise", "rate", "method", "type_1", "type_1_se", "type_2", "type_2_se"),
    *("agreement", "agreement_se", "n_type_1", "n_kept", "n_type_2", "n_taken", "reversed", "labels_asked"),
)
CELLS = [
    ("digits", ""),
    *((name, noise) for name in LABEL_SETS if name.startswith("geirhos") for noise in ("feature", "uniform")),
]


def measured(cell: tuple[str, str]) -> dict[str, Any]:
    """Run one experiment, training included."""
    name, noise = cell
    started = perf_counter()
    if noise:
        decisions = label_example(name)
        found = bench.check_methods(decisions.predictions, decisions.labels, kind=noise, n_jobs=2)
    else:
        with demele.progress():
            found = bench.noise_experiment(n_jobs=2)
    m = len(found.names)
    time = {
        "run": f"{name}, {noise} noise" if noise else "digits, training included",
        "instances": found.n,
        "ordered_pairs": m * (m - 1),
        "methods": len(found.contenders),
        "rates": len(found.columns),
        "measures": len(found.measures),
        "seconds": round(perf_counter() - started, 1),
    }
    return {"time": time, "rows": table_of(found, name)}


def table_of(found: bench.MethodComparison, name: str) -> list[Row]:
    """Return the columns of the file, without what there is no number for."""
    frame = found.to_frame().assign(data=name, noise_kind=found.noise)[list(COLUMNS)].round(4)
    return [{str(key): "" if one != one else one for key, one in row.items()} for row in frame.to_dict("records")]


def rows_of(found: list[tuple[tuple[str, str], dict[str, Any]]]) -> dict[str, Iterator[Row]]:
    """Return both tables."""
    return {
        "comparison_methods": (row for _, one in found for row in one["rows"]),
        "comparison_methods_time": (one["time"] for _, one in found),
    }


if __name__ == "__main__":
    main({"comparison_methods": Table(cells=CELLS, measured=measured, rows=rows_of)})
