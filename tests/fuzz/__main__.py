"""Read many hostile inputs, for as long as is asked: ``python -m tests.fuzz --minutes 60``; or ``make fuzz``.

A worker reads them, so that a crash is found too. What breaks a promise is kept in a folder as JSON, and printed;
move it to ``tests/fuzz/corpus`` when it is mended. A run goes on where the last one of the same seed ended.
"""

import argparse
import collections
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
        told = f"exit {process.returncode}" if ready else f"no answer in {patience:.0f} s"
        outcome = "crash" if ready else "hanging"
        return {"reader": generated(seed, number).reader, "outcome": outcome, "told": told, "fault": True}

    def close(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _run(seed: int, first: int, count: int, minutes: float, folder: Path, only: str = "") -> int:
    folder.mkdir(parents=True, exist_ok=True)
    progress = folder / f"seed-{seed}.txt"
    number = int(progress.read_text()) if progress.exists() else first
    done: collections.Counter[tuple[str, str]] = collections.Counter()
    worker, end, faults = _Worker(), time.monotonic() + 60 * minutes, 0
    while number < count and time.monotonic() < end:
        one = generated(seed, number)
        if not only or only in (one.reader, one.how):
            found = worker.outcome(seed, number)
            done[found["reader"], found["outcome"]] += 1
            if found["fault"]:
                faults += 1
                (folder / f"{found['outcome']}-{seed}-{number}.json").write_text(one.to_json())
                (folder / f"{found['outcome']}-{seed}-{number}.txt").write_text(found["told"])
                print(f"{found['outcome']}: {found['reader']}: {seed} {number}: {found['told'].strip()[-300:]}")
        number += 1
        if number % 100 == 0:
            progress.write_text(str(number))
            print(f"{number:,} inputs, {faults} faults in this run", file=sys.stderr)
    progress.write_text(str(number))
    worker.close()
    for (reader, outcome), inputs in sorted(done.items()):
        print(f"{reader:12} {outcome:10} {inputs:7,}")
    return faults


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
