"""Sparse probing of a large dictionary: a million rows, 65 536 codes, 50 concepts; seconds and peak memory.

``python -m benchmarks.time_sparse_probing`` writes results/sparse_probing.csv. Each case runs in a process of its own.
The data are those of ``benchmarks.time_sparse``: for each concept one code fires in 30% of its rows, so that its best
code is known, and its score, 0.3.
"""

import time

from benchmarks.loop import Row, Table, main
from benchmarks.time_sparse import make, peak_gib

#: rows, codes, non-zeros of a row, concepts
CASES = ((100_000, 65_536, 32, 50), (1_000_000, 65_536, 32, 50))


def measure(case: tuple[int, int, int, int]) -> Row:
    """Time probes of 1, 2 and 5 codes for each concept."""
    import demele

    started = time.perf_counter()
    codes, factors = make(*case)
    concepts = factors == 1
    made, before = time.perf_counter() - started, peak_gib()
    started, cpu = time.perf_counter(), time.process_time()
    score = demele.sparse_probing(codes, concepts)
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
    main({"sparse_probing": Table(cells=CASES, measured=measure, alone=True)})
