"""Rows that do not fit into memory: the histogram metrics of Parquet folders of up to a billion rows.

``python -m benchmarks.out_of_core`` writes a folder for each size (8 codes of float32 without
compression, 4 factors of small integers) into the folder for temporary files, scores it in processes of their own, and
deletes it; goes on where it stopped, and writes results/out_of_core.csv. A billion rows need 37 GB of disk.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.loop import Row, Table, alone, main

SIZES = (1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
METRICS = ["mig", "mig_sup", "modularity", "dcimig", "jemmig", "dmig", "xmig", "dlig"]
CODES = [f"z{index + 1}" for index in range(8)]
LEVELS = {"shape": 4, "colour": 6, "size": 8, "place": 10}
ROWS_PER_GROUP = 1_000_000
ROWS_PER_FILE = 20_000_000
FIELDS = (
    *("rows", "jobs", "seconds", "cpu seconds", "seconds per 1e8 rows", "cpu seconds per 1e8 rows", "peak MiB"),
    *("gigabytes", "mig", "modularity"),
)


def make(folder: Path, n: int) -> None:
    """Write n rows, a row group at a time; every row group has a stream of its own."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.float32()) for name in CODES] + [(name, pa.int8()) for name in LEVELS])
    for first in range(0, n, ROWS_PER_FILE):
        path = folder / f"part.{first // ROWS_PER_FILE}.parquet"
        with pq.ParquetWriter(path, schema, compression="none", use_dictionary=list(LEVELS)) as writer:
            for start in range(first, min(first + ROWS_PER_FILE, n), ROWS_PER_GROUP):
                rng = np.random.default_rng([0, start])
                rows = min(ROWS_PER_GROUP, n - start)
                factors = [rng.integers(0, levels, rows, dtype=np.int8) for levels in LEVELS.values()]
                columns = []
                for index in range(len(CODES)):
                    own = factors[index % len(factors)]
                    noise = rng.standard_normal(rows, dtype=np.float32)
                    # codes 5 to 8 know the same factors as codes 1 to 4, less well
                    columns.append(own + np.float32(0.2 if index < len(factors) else 2.0) * noise)
                table = pa.table([*map(pa.array, columns), *map(pa.array, factors)], schema=schema)
                writer.write_table(table, row_group_size=ROWS_PER_GROUP)


def measure(n: int) -> Iterator[Row]:
    """Write rows, and score them in processes of their own."""
    with tempfile.TemporaryDirectory(prefix="out-of-core-") as folder:
        make(Path(folder), n)
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        for jobs in (1, 2):
            found = alone(score, folder, jobs)
            per = {f"{name} per 1e8 rows": round(found[name] * 1e8 / n, 2) for name in ("seconds", "cpu seconds")}
            row = {"rows": n, "jobs": jobs, **found, **per, "gigabytes": round(size / 1e9, 2)}
            yield {name: row[name] for name in FIELDS}


def score(folder: str, jobs: int) -> Row:
    """Score a folder; memory is that of this process and, with more jobs, of its children at once."""
    import resource

    import demele

    rng = np.random.default_rng(0)  # imports are not what is measured
    demele.evaluate(rng.random((2000, 8)), rng.integers(0, 3, (2000, 4)), METRICS)
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    codes, factors = demele.scan_parquet(folder, CODES), demele.scan_parquet(folder, list(LEVELS))
    evaluation = demele.evaluate(codes, factors, METRICS, n_jobs=jobs)
    seconds = time.perf_counter() - started
    if jobs > 1:
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor().shutdown(wait=True)  # what children used is known when they have ended
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    cpu = sum(usage.ru_utime + usage.ru_stime for usage in (own, children)) - before.ru_utime - before.ru_stime
    peak = own.ru_maxrss + (jobs * children.ru_maxrss if jobs > 1 else 0)
    values = {name: round(evaluation[name].value, 6) for name in ("mig", "modularity")}
    return {"seconds": round(seconds, 2), "cpu seconds": round(cpu, 2), "peak MiB": round(peak / 1024), **values}


if __name__ == "__main__":
    main({"out_of_core": Table(cells=SIZES, measured=measure, store=True)})
