"""Kill a study at random moments, go on each time, and compare all that it left with one that was left alone.

    python -m tools.kill_study --kills 10 --jobs 2

The study is the preset "ci" with fewer steps. Rows (without the seconds that they took), codes and weights must be the
same bits. Prints what differs and ends with 1 if anything does; ``--save FILE`` adds a line of the run to a CSV.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import csv_text
from demele.core.outputs import write_whole
from demele.core.store import Store
from demele.models.checkpoint import read_checkpoint
from demele.models.vae.train import LAYOUT

COMMAND = (*("study", "run", "--preset", "ci", "--metrics", "mig,sap,irs,dci_lasso_explicitness"), "--quiet")


def started(folder: Path, steps: int, jobs: int) -> "subprocess.Popen[bytes]":
    """Start the study in a process group of its own, with all of its workers."""
    command = [sys.executable, "-m", "demele", *COMMAND, "--steps", str(steps), "--jobs", str(jobs), "--store", folder]
    return subprocess.Popen(
        list(map(str, command)), stdout=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )


def rows(folder: Path) -> dict[Any, Any]:
    """Return the rows of a study without the seconds that they took."""
    _, records = Store.read(folder / "rows.jsonl")
    return {key: {name: value for name, value in row.items() if name != "seconds"} for key, row in records.items()}


def differences(alone: Path, killed: Path) -> list[str]:
    """Return what is not the same."""
    found = [] if rows(alone) == rows(killed) else ["rows"]
    for path in sorted((alone / "runs").glob("*/*")):
        other = killed / path.relative_to(alone)
        if path.suffix == ".npz":
            with np.load(path) as one, np.load(other) as two:
                same = sorted(one) == sorted(two) and all(np.array_equal(one[name], two[name]) for name in one)
        elif path.name == "checkpoint.pt":
            same = weights(path) == weights(other)
        else:
            continue
        found += [] if same else [str(path.relative_to(alone))]
    return found


def weights(path: Path) -> dict[str, bytes]:
    """Return the weights of a training as bytes."""
    parts = read_checkpoint(path, LAYOUT)["model"]
    return {f"{part}.{name}": one.numpy().tobytes() for part, own in parts.items() for name, one in own.items()}


def main() -> int:
    """Run both, compare, tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", type=Path)
    arguments = parser.parse_args()
    moments = random.Random(arguments.seed)
    folder = Path(tempfile.mkdtemp(prefix="demele-kill-study-"))
    alone, killed = folder / "alone", folder / "killed"
    begun = time.monotonic()
    if started(alone, arguments.steps, 1).wait() != 0:
        raise SystemExit("the study that was left alone failed")
    whole = time.monotonic() - begun
    done = 0
    while done < arguments.kills:
        process = started(killed, arguments.steps, arguments.jobs)
        try:
            process.wait(moments.uniform(0.2, 0.7) * whole)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            done += 1
            print(f"killed {done} times; {len(list(killed.glob('runs/*/codes-*.npz')))} files of codes", flush=True)
        else:  # it came to its end: begin anew, so that every kill hits something
            shutil.rmtree(killed)
    if started(killed, arguments.steps, arguments.jobs).wait() != 0:
        raise SystemExit("the study that was killed could not be finished")
    found = differences(alone, killed)
    row = {"kills": done, "jobs": arguments.jobs, "rows": len(rows(alone)), "differences": len(found)}
    print(row, *found)
    if arguments.save is not None:
        write_whole(arguments.save, csv_text([row]))
    shutil.rmtree(folder)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
