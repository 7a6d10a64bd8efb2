"""The bench of metrics: the stored rows that come with demele, of one metric or all, and the time of the review's run.

``python -m benchmarks.characterise --only NAME`` computes the rows of one metric (or of ``dci_forest`` and the like)
and writes them into ``src/demele/bench/reference.xz``: some minutes for a fast one. ``--scenario NAME`` computes one
scenario, and leaves the rows of the others in the file as they are. Metrics that take seconds a call get fewer seeds,
of fewer rows: ``FEWER`` in ``demele.bench.stored`` names them. Without either option, those of all metrics and
``results/characterise.csv``: about two hours on two cores. Killed, it goes on where it was, from a store beside it that
is removed when the rows are written; the time is only written if it ran in one go.
"""

import argparse
import functools
import lzma
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.cases import write_rows
from demele import bench
from demele.bench.scenarios import SCENARIOS
from demele.bench.stored import (
    CORRECTED,
    FEWER,
    FEWER_SAMPLES,
    FILE,
    N_SAMPLES,
    SEEDS,
    SLOW_SEEDS,
    Found,
    read_rows,
    text_of,
)
from demele.bench.verdicts import Curve, Findings
from demele.core.errors import FormatError
from demele.core.outputs import write_whole
from demele.runtime.work import progress


def experiment(found: bench.Characterisation, wall_seconds: float, jobs: int) -> dict[str, object]:
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
        "processes": jobs,
        "wall minutes": round(wall_seconds / 60, 1),
        "minutes in metrics, over processes": round(work / 60 / jobs, 1),
    }


def fewer_seeds(metric: str) -> dict[str, int]:
    """Return the seeds of a metric of :data:`FEWER`, by kind of scenario, and by name where there are fewer still."""
    return {"source": FEWER[metric], "added": FEWER[metric], **{name: min(FEWER[metric], 3) for name in CORRECTED}}


def in_one(whole: Found, added: Found) -> Found:
    """Return two runs of the same metrics as one; on a scenario of both, the second counts."""
    named = {item.name: item for item in (*whole.scenarios, *added.scenarios)}
    fields = ("seeds", "slow_seeds", "curves", "seconds", "rows_of")
    merged: Any = {name: {**getattr(whole, name), **getattr(added, name)} for name in fields}
    return replace(whole, scenarios=tuple(named[name] for name in SCENARIOS if name in named), **merged)


def rounded(curve: Curve) -> Curve:
    """Return a curve whose values keep four digits, of them and of their distance to 1, and at least six decimals."""

    def short(value: float | str) -> float | str:
        if isinstance(value, str) or value in (0, 1):
            return value
        return round(value, max(6, 4 - math.floor(math.log10(min(abs(value), abs(1 - value))))))

    return replace(curve, outcomes=[list(map(short, of_seeds)) for of_seeds in curve.outcomes])


def write_reference(found: Findings, path: Path, *, keep: bool = False) -> None:
    """Write the rows of each metric of a run, its values :func:`rounded`; those of other metrics stay as they are.

    Parameters
    ----------
    found : Findings
    path : Path
    keep : bool
        Keep what the file holds of other scenarios.

    Raises
    ------
    FormatError
        If rows that are kept were made in another way.
    """
    rows = read_rows(path)
    for item in found.candidates:
        of_item = {name: curve for (metric, name), curve in found.curves.items() if metric == item.name}
        held = [name for name, curve in of_item.items() if curve.declined is None and curve.characterised]
        own = Findings(
            candidates=(item,),
            scenarios=tuple(one for one in found.scenarios if one.name in held),
            protocol=found.protocol,
            n_samples=found.rows_for(item.name),
            level=found.level,
            seeds={},
            slow_seeds={},
            curves={(item.name, name): rounded(of_item[name]) for name in held},
            seconds={key: own for key, own in found.seconds.items() if key[0] == item.group},
            version=found.version,
        )
        if keep and item.name in rows:
            before = rows[item.name]
            if any(getattr(before, what) != getattr(own, what) for what in ("version", "protocol", "n_samples")):
                raise FormatError(f"the rows of {item.name} were made in another way; compute all of them")
            own = in_one(before, own)
        rows[item.name] = own
    write_whole(path, lzma.compress(b"\n".join(text_of(rows[name]) for name in sorted(rows)), preset=9))


def _of_run(seeds: Mapping[str, int], scenarios: Sequence[str] | None) -> dict[str, int]:
    """Return the numbers of seeds of kinds of scenarios, and of the scenarios of a run that have their own."""
    return {key: number for key, number in seeds.items() if key not in SCENARIOS or key in (scenarios or SCENARIOS)}


def of_fewer(metric: str, scenarios: Sequence[str] | None, store: Path, how: Any) -> bench.Characterisation:
    """Measure a slow metric with fewer seeds, of fewer rows, but where the number of rows is what is varied.

    A store is of one number of rows, so that there are two.
    """
    chosen = [item for item in SCENARIOS.values() if scenarios is None or item.name in scenarios]
    found = []
    for sized, n_samples in ((False, FEWER_SAMPLES), (True, N_SAMPLES)):
        own = [item.name for item in chosen if item.counts_rows == sized]
        if own:
            seeds = _of_run(fewer_seeds(metric), own)
            kept = store.with_name(f"{store.name}-{n_samples}")
            sizes: dict[str, Any] = {"seeds": seeds, "slow_seeds": seeds, "n_rows": n_samples, "store": kept}
            found.append(bench.check_metrics(metric, own, **sizes, **how))
    # what is written is of the fewer rows; a scenario that counts rows says itself how many there are
    return replace(functools.reduce(in_one, found), fewer_rows={metric: FEWER_SAMPLES})


def main() -> None:
    """Measure, and keep every row."""
    parser = argparse.ArgumentParser(description="Compute the stored rows of demele's own metrics.")
    parser.add_argument("--only", action="append", metavar="NAME", help="of this metric; may be given several times")
    parser.add_argument("--scenario", action="append", metavar="NAME", help="on this scenario; may be given repeatedly")
    parser.add_argument("--jobs", type=int, default=2, metavar="J", help="processes (default: 2)")
    parser.add_argument("--store", type=Path, metavar="FILE", help="rows that are finished (default: named after it)")
    asked = parser.parse_args()
    store = asked.store or Path("-".join(["check_metrics", *(asked.only or ()), *(asked.scenario or ())]) + ".store")
    how: dict[str, Any] = {"n_jobs": asked.jobs}
    if asked.only is None and asked.scenario is None and not store.exists():
        started = time.perf_counter()
        found = bench.check_metrics(
            None, "source", seeds=SEEDS["source"], slow_seeds=SLOW_SEEDS["source"], store=store, **how
        )
        write_rows("check_metrics", [experiment(found, time.perf_counter() - started, asked.jobs)])
    seeds, slow_seeds = (_of_run(own, asked.scenario) for own in (SEEDS, SLOW_SEEDS))
    metrics = asked.only or (None if asked.scenario is None else [item.name for item in bench.reference().candidates])
    fewer = [name for name in metrics or () if name in FEWER]
    usual = None if metrics is None else [name for name in metrics if name not in FEWER]
    runs = []
    if usual is None or usual:
        runs.append(bench.check_metrics(usual, asked.scenario, seeds=seeds, slow_seeds=slow_seeds, store=store, **how))
    runs += [of_fewer(name, asked.scenario, store, how) for name in fewer]
    for found in runs:
        write_reference(found, FILE, keep=asked.scenario is not None)
    # rows of code that is changed afterwards must not be taken for those of the change
    for kept in (store, *(store.with_name(f"{store.name}-{rows}") for rows in (FEWER_SAMPLES, N_SAMPLES))):
        kept.unlink(missing_ok=True)


if __name__ == "__main__":
    with progress():
        main()
