"""Two commits of demele in two processes, timed in turns: what ratios are made of.

A case is a function that makes data and returns what is timed, a function without arguments. What that returns is
compared between the two commits, to the bit. Both processes import this folder as it is here, and ``demele`` as it was
at their commit, so a case uses names that both have.
"""

import argparse
import importlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.cases import peak_mib

ROOT = Path(__file__).parent.parent
#: Seconds that one measurement takes at least: quick cases are called several times.
LEAST = 0.1
#: A case ends after so many turns, or after so many seconds and at least so many turns.
MOST_TURNS, SECONDS, FEWEST_TURNS = 15, 8.0, 3

Case = Callable[[], Callable[[], object]]


@dataclass(frozen=True, slots=True)
class Ratio:
    """CPU seconds of a case by turns under two commits, peak MiB then and now, and whether values are the same."""

    name: str
    now: tuple[float, ...]
    then: tuple[float, ...]
    peaks: tuple[float, float]
    same: bool

    @property
    def ratios(self) -> list[float]:
        """Ratios of neighbouring turns, in increasing order; below 1 is faster."""
        return sorted(now / then for now, then in zip(self.now, self.then, strict=True))

    @property
    def ratio(self) -> float:
        """Their median."""
        return statistics.median(self.ratios)

    def __str__(self) -> str:
        then, now = statistics.median(self.then), statistics.median(self.now)
        spread = f"[{self.ratios[0]:.2f}, {self.ratios[-1]:.2f}]"
        peaks = "{:6.0f} {:6.0f}".format(*self.peaks)
        other = "" if self.same else "  OTHER"
        return f"{self.name:42s} {then:10.4f} {now:10.4f} {self.ratio:6.2f} {spread} {peaks}{other}"


HEAD = f"{'case':42s} {'then, s':>10s} {'now, s':>10s}  ratio of CPU seconds; MiB then and now; values if others"


@contextmanager
def sources(commit: str) -> Iterator[tuple[Path, Path]]:
    """Copy the source as it is and that of a commit into a folder that is deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="demele-beside-") as folder:
        now, then = Path(folder, "now"), Path(folder, "then")
        shutil.copytree(ROOT / "src", now / "src")
        then.mkdir()
        archive = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", str(then)], input=archive.stdout, check=True)
        yield now / "src", then / "src"


def compared(module: str, case: str, now: Path, then: Path) -> Ratio:
    """Run a case of a module's ``CASES`` in turns in two processes, which import demele from two folders."""
    with closing(_Side(then, module, case)) as old, closing(_Side(now, module, case)) as new:
        values = [side.call()[1] for side in (old, new)]  # what the first call imports is not what is measured
        calls = max(1, round(LEAST / max(old.call()[0], 1e-6)))
        seconds: dict[_Side, list[float]] = {old: [], new: []}
        started, turns = time.monotonic(), 0
        while turns < MOST_TURNS and (turns < FEWEST_TURNS or time.monotonic() - started < SECONDS):
            for side in (old, new) if turns % 2 else (new, old):
                seconds[side].append(side.call(calls)[0] / calls)
            turns += 1
        return Ratio(case, tuple(seconds[new]), tuple(seconds[old]), (old.peak(), new.peak()), values[0] == values[1])


def against(module: str, cases: Mapping[str, Case], about: str | None) -> tuple[str, list[Ratio]]:
    """Compare the cases whose names begin as the command line says with a commit, and print a line for each."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--against", metavar="COMMIT", required=True)
    parser.add_argument("names", nargs="*", help="beginnings of names of cases; all cases unless given")
    asked = parser.parse_args()
    print(HEAD)
    found = []
    with sources(asked.against) as folders:
        for case in [name for name in cases if not asked.names or name.startswith(tuple(asked.names))]:
            found.append(compared(module, case, *folders))
            print(found[-1], flush=True)
    return asked.against, found


class _Side:
    """A process that imports demele from one folder and calls one case when told to."""

    def __init__(self, source: Path, module: str, case: str) -> None:
        threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "benchmarks.paired", module, case, str(source)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, **threads, "PYTHONPATH": os.pathsep.join([str(source), str(ROOT)])},
        )

    def call(self, calls: int = 1) -> tuple[float, str]:
        """Return the CPU seconds of some calls, and what the last one returned."""
        seconds, value, _ = self._asked(calls)
        return seconds, value

    def peak(self) -> float:
        """Return the largest resident memory so far."""
        return float(self._asked(0)[2])

    def _asked(self, calls: int) -> Any:
        to, of = self._process.stdin, self._process.stdout
        if to is None or of is None:
            raise RuntimeError("the process was started without pipes")
        to.write(f"{calls}\n")
        to.flush()
        answer = of.readline()
        if not answer:
            raise RuntimeError("the process ended; what it said stands above")
        return json.loads(answer)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def main(module: str, case: str, source: str) -> None:
    """Call a case as often as each line of the input says, and answer with seconds, value and memory."""
    import demele

    if not Path(demele.__file__).is_relative_to(source):
        raise RuntimeError(f"demele was imported from {demele.__file__}, not from {source}")
    function = importlib.import_module(module).CASES[case]()
    value: object = None
    for line in sys.stdin:
        started = time.process_time()
        for _ in range(int(line)):
            value = function()
        print(json.dumps([time.process_time() - started, repr(value), peak_mib()]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
