"""Sparse codes of a large dictionary: a million rows, 65 536 codes, 50 factors; seconds and peak memory.

``python -m benchmarks.time_sparse`` writes results/sparse.csv, and results/sparse_probing.csv of probes for the rows in
which each factor has its second value. Each case runs in a process of its own.
Half of the factors are binary, half have ten values; for each, one code fires in 30% of the rows in which the factor
has its second value, so that the best code of every factor is known.
"""

import time
from typing import Any

import numpy as np

from benchmarks.cases import peak_mib
from benchmarks.loop import Row, Table, main

#: rows, codes, non-zeros of a row, factors, jobs
CASES = (
    (100_000, 65_536, 32, 50, 1),
    (1_000_000, 8_192, 32, 50, 1),
    (1_000_000, 65_536, 32, 50, 1),
    (1_000_000, 65_536, 32, 50, 2),
)
#: rows, codes, non-zeros of a row, concepts
PROBED = ((100_000, 65_536, 32, 50), (1_000_000, 65_536, 32, 50))
OF_COUNTS = ["mig", "mig_sup", "modularity", "dcimig", "jemmig"]


def make(n: int, d: int, filled: int, m: int) -> tuple[Any, np.ndarray[Any, Any]]:
    """Rows with ``filled`` active codes each, and factors of which code i knows factor i."""
    import scipy.sparse

    rng = np.random.default_rng(0)
    factors = np.column_stack([rng.integers(0, 2 if index < m // 2 else 10, n, dtype=np.int8) for index in range(m)])
    columns = rng.integers(m, d, (n, filled), dtype=np.int32)
    for index in range(m):
        fires = np.flatnonzero((factors[:, index] == 1) & (rng.random(n, dtype=np.float32) < 0.3))
        columns[fires, index % filled] = index
    values = rng.exponential(1.0, (n, filled)).astype(np.float32)
    starts = np.arange(0, n * filled + 1, filled)
    codes = scipy.sparse.csr_array((values.ravel(), columns.ravel(), starts), shape=(n, d))
    codes.sum_duplicates()
    return codes, factors


def peak_gib() -> float:
    """Largest resident memory of this process so far."""
    return peak_mib() / 2**10


def measure(case: tuple[int, int, int, int, int]) -> Row:
    """Time the metrics of counts, then all that are computed unless named: SAP too, on the screened codes."""
    import demele

    *size, n_jobs = case
    n, d, _, m = size
    started = time.perf_counter()
    codes, factors = make(*size)
    made, before = time.perf_counter() - started, peak_gib()
    started = time.perf_counter()
    counted = demele.evaluate_sparse(codes, factors, OF_COUNTS, n_jobs=n_jobs)
    seconds, peak = time.perf_counter() - started, peak_gib()
    found = sum(counted.top_codes(index, 1)[0].code == f"z{index + 1}" for index in range(m))
    started = time.perf_counter()
    everything = demele.evaluate_sparse(codes, factors, n_jobs=n_jobs)
    all_seconds = time.perf_counter() - started
    assert [score.value for score in counted] == [everything[name].value for name in OF_COUNTS]
    return {
        "rows": n,
        "codes": d,
        "non-zeros": codes.nnz,
        "factors": m,
        "jobs": n_jobs,
        "seconds to make the data": round(made, 1),
        "GiB of making it": round(before, 2),
        "seconds (information and its metrics)": round(seconds, 1),
        "peak GiB, data included": round(peak, 2),
        "seconds with SAP too": round(all_seconds, 1),
        "peak GiB with SAP": round(peak_gib(), 2),
        "factors whose own code is first": found,
        "MIG": counted["mig"].value,
    }


def probed(case: tuple[int, int, int, int]) -> Row:
    """Time probes of 1, 2 and 5 codes for each concept; the score of its best code is 0.3."""
    import demele

    started = time.perf_counter()
    codes, factors = make(*case)
    made, before = time.perf_counter() - started, peak_gib()
    started, cpu = time.perf_counter(), time.process_time()
    score = demele.probes.sparse_probing(codes, factors == 1)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    first = [row for row in score.details["classes"] if row["k"] == 1]
    return {
        "rows": case[0],
        "codes": case[1],
        "non-zeros": codes.nnz,
        "concepts": len(first),
        "seconds to make the data": round(made, 1),
        "GiB of making it": round(before, 2),
        "seconds": round(seconds, 1),
        "seconds of processor": round(cpu, 1),
        "peak GiB, data included": round(peak_gib(), 2),
        "concepts whose own code is first": sum(row["codes"] == (f"z{i + 1}",) for i, row in enumerate(first)),
        "score at k = 1": score.value,
    }


if __name__ == "__main__":
    main(
        {
            "sparse": Table(cells=CASES, measured=measure, alone=True),
            "sparse_probing": Table(cells=PROBED, measured=probed, alone=True),
        }
    )
