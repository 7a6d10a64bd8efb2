"""The route of a small call: few files and functions, so that a reader can follow it."""

import warnings

import demele
from benchmarks.route import SHARED, data, entered


def test_the_gap_of_a_small_table_passes_few_files_and_functions() -> None:
    given = data(500, 3, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        demele.metrics.mig(*given)  # imports are not part of the route
        route = entered(lambda: demele.metrics.mig(*given))
    files = list(dict.fromkeys(file for file, _ in route))
    own = [name for file, name in route if not file.startswith(SHARED)]
    assert {"metrics/information/gaps.py", "metrics/run.py", "core/inputs.py"} <= set(files)
    assert len(files) <= 14, files
    assert len(own) <= 37, own
