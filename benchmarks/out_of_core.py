"""Rows that do not fit into memory: the histogram metrics of Parquet folders of up to a billion rows.

``python -m benchmarks.out_of_core [--rows 1000000 ...] [--folder FOLDER] [--jobs 1 2]`` writes a folder for each size
(8 codes of float32 without compression, 4 factors of small integers), scores it in processes of their own, writes a
line for each to ``results/out_of_core.csv`` and deletes the folder. Sizes that have their lines are left out. A billion
rows need 34 GB of disk; a size for which there is too little is refused.
"""

import argparse
import csv
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.cases import csv_text
from demele.core.outputs import write_whole

RESULTS = Path(__file__).parent / "results" / "out_of_core.csv"
SIZES = (1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
METRICS = ["mig", "mig_sup", "modularity", "dcimig", "jemmig", "dmig", "xmig", "dlig"]
CODES = [f"z{index + 1}" for index in range(8)]
LEVELS = {"shape": 4, "colour": 6, "size": 8, "place": 10}
ROWS_PER_GROUP = 1_000_000
ROWS_PER_FILE = 20_000_000
#: Bytes of a row on disk, with some to spare.
BYTES_PER_ROW = 37
FIELDS = (
    "rows", "jobs", "seconds", "cpu seconds", "seconds per 1e8 rows", "cpu seconds per 1e8 rows", "peak MiB",
    "gigabytes", "mig", "modularity",
)  # fmt: skip


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


def measure(folder: str, jobs: int) -> dict[str, float]:
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
    return {
        "seconds": round(seconds, 2),
        "cpu seconds": round(cpu, 2),
        "peak MiB": round(peak / 1024),
        "mig": round(evaluation["mig"].value, 6),
        "modularity": round(evaluation["modularity"].value, 6),
    }


def lines() -> list[dict[str, str]]:
    if not RESULTS.exists():
        return []
    with RESULTS.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(rows: list[dict[str, str]]) -> None:
    ordered = sorted(rows, key=lambda row: (int(row["rows"]), int(row["jobs"])))
    write_whole(RESULTS, csv_text(ordered, FIELDS))


def score(n: int, jobs: list[int], parent: Path) -> None:
    done = {(int(line["rows"]), int(line["jobs"])) for line in lines()}
    wanted = [count for count in jobs if (n, count) not in done]
    if not wanted:
        return
    if shutil.disk_usage(parent).free < n * BYTES_PER_ROW + (1 << 31):
        sys.exit(f"{n:,} rows need {n * BYTES_PER_ROW / 1e9:.0f} GB in {parent}, which has less")
    with tempfile.TemporaryDirectory(dir=parent, prefix="out-of-core-") as folder:
        started = time.perf_counter()
        make(Path(folder), n)
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        print(f"{n:,} rows: {size / 1e9:.2f} GB written in {time.perf_counter() - started:.0f} s", flush=True)
        for count in wanted:
            command = [sys.executable, "-m", "benchmarks.out_of_core", "--measure", folder, "--jobs", str(count)]
            finished = subprocess.run(command, check=True, capture_output=True, text=True)
            found = json.loads(finished.stdout.splitlines()[-1])
            per = {f"{name} per 1e8 rows": round(found[name] * 1e8 / n, 2) for name in ("seconds", "cpu seconds")}
            line = {"rows": n, "jobs": count, "gigabytes": round(size / 1e9, 2), **found, **per}
            print(line, flush=True)
            write([*lines(), {key: str(value) for key, value in line.items()}])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--measure", metavar="FOLDER", help="score what was written, and print the result")
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure, arguments.jobs[0])))
        return
    for n in arguments.rows:
        score(n, arguments.jobs, arguments.folder)


if __name__ == "__main__":
    main()
