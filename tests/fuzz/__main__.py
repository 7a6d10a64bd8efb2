"""Read many hostile inputs, for as long as is asked: ``python -m tests.fuzz --minutes 60``; or ``make fuzz``.

A worker reads them, so that a crash is found too. What breaks a promise is kept in a folder as JSON, and printed;
move it to ``tests/fuzz/corpus`` when it is mended. A run goes on where the last one of the same seed ended.
"""

import argparse
import collections
import csv
import json
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.fuzz.generate import generated

#: Seconds for which an answer is waited: of a new worker, which first has to load all of demele, for longer.
_HANGING, _STARTING = 60.0, 600.0
_Counts = collections.Counter[tuple[str, str]]


class _Worker:
    """A process that reads inputs, started anew after a crash."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def outcome(self, seed: int, number: int) -> dict[str, Any]:
        """Return what came of an input."""
        patience = _HANGING if self._process is not None else _STARTING
        if self._process is None:
            command = [sys.executable, "-m", "tests.fuzz.worker"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the worker has no pipes")
        process.stdin.write(f"{seed} {number}\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], patience)
        line = process.stdout.readline() if ready else ""
        if line:
            found: dict[str, Any] = json.loads(line)
            if found["fault"] or found["mib"] > 300:
                self.close()  # the peak of memory never falls
            return found
        self.close()
        one = generated(seed, number)
        what = f"exit {process.returncode}" if ready else f"no answer in {patience:.0f} s"
        outcome = "crash" if ready else "hanging"
        return {
            "reader": one.reader,
            "how": one.how,
            "outcome": outcome,
            "seconds": 0.0,
            "mib": 0.0,
            "told": what,
            "fault": True,
        }

    def close(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _run(seed: int, first: int, count: int, minutes: float, folder: Path, only: str = "") -> int:
    folder.mkdir(parents=True, exist_ok=True)
    progress = folder / f"seed-{seed}.csv"
    done: collections.Counter[tuple[str, str]] = collections.Counter()
    worst: dict[str, tuple[float, float]] = {}
    if progress.exists():
        with progress.open() as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            done[row["reader"], row["outcome"]] += int(row["inputs"])
            worst[row["reader"]] = (float(row["seconds"]), float(row["mib"]))
        first = int(rows[0]["next"]) if rows else first
    worker, end, faults, number = _Worker(), time.monotonic() + 60 * minutes, 0, first
    while number < count and time.monotonic() < end:
        one = generated(seed, number)
        if only and only not in (one.reader, one.how):
            number += 1
            continue
        found = worker.outcome(seed, number)
        done[found["reader"], found["outcome"]] += 1
        before = worst.get(found["reader"], (0.0, 0.0))
        worst[found["reader"]] = (max(before[0], found["seconds"]), max(before[1], found["mib"]))
        if found["fault"]:
            faults += 1
            (folder / f"{found['outcome']}-{seed}-{number}.json").write_text(generated(seed, number).to_json())
            (folder / f"{found['outcome']}-{seed}-{number}.txt").write_text(found["told"])
            print(f"{found['outcome']}: {found['reader']}: {seed} {number}: {found['told'].strip()[-300:]}")
        number += 1
        if number % 100 == 0:
            _write(progress, done, worst, number)
            print(f"{number:,} inputs, {faults} faults in this run", file=sys.stderr)
    _write(progress, done, worst, number)
    worker.close()
    for (reader, outcome), inputs in sorted(done.items()):
        print(f"{reader:12} {outcome:10} {inputs:7,}")
    return faults


def _write(
    path: Path, done: "collections.Counter[tuple[str, str]]", worst: dict[str, tuple[float, float]], number: int
) -> None:
    beside = path.with_suffix(".new")
    with beside.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["reader", "outcome", "inputs", "seconds", "mib", "next"])
        for (reader, outcome), inputs in sorted(done.items()):
            writer.writerow([reader, outcome, inputs, *worst[reader], number])
    beside.replace(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--inputs", type=int, default=10**9, help="stop at this number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="inputs of this kind, such as 'study'; 'made': of tests.fuzz.made")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("fuzz-found"))
    given = parser.parse_args()
    sys.exit(1 if _run(given.seed, given.first, given.inputs, given.minutes, given.folder, given.only) else 0)
