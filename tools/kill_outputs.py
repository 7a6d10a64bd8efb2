"""Kill every command that writes, at random moments, and look at what is left: the old file or the new one, whole.

    python -m tools.kill_outputs --kills 200 --full 40

Half of the kills come at a random moment of the command's time, the other half within two milliseconds of a random call
that opens a file to write, or renames, links or removes one: a write takes so little of the time that the first would
seldom hit it.
``--full`` adds runs in which no file may grow above a random size, as on a disk that is full.

Prints a line per command, and writes it to ``--save FILE``; ends with 1 if a file was damaged.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: a process with threads is not forked
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import gzip
import importlib
import io
import json
import pkgutil
import random
import re
import resource
import shutil
import signal
import struct
import sys
import tempfile
import threading
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

import demele
from demele.cli.main import main as program
from demele.core.outputs import write_whole
from demele.core.store import Store

#: Seconds after which a command that still runs is given up: on a machine that is busy, too.
PATIENCE = 300.0
#: What a file holds before it is replaced.
OLD = b"old " * 64
#: Files that outlive a kill, by the name that users are told.
LEFT = re.compile(r"^\..+\.tmp-[0-9a-f]{8}$")
CHANGING = {"os.rename", "os.link", "os.remove", "os.truncate"}


@dataclass(frozen=True)
class Command:
    """A command, the files that it writes, and those among them that it goes on with rather than replaces."""

    words: str
    written: tuple[str, ...]
    kept: tuple[str, ...] = ()


COMMANDS: Mapping[str, Command] = {
    "score": Command("score codes.npy factors.csv --metrics mig -o s.json -o s.html", ("s.json", "s.html")),
    "score-csv": Command("score codes.npy factors.csv --metrics mig -o s.csv", ("s.csv",)),
    "score-sparse": Command("score sparse.npz factors.csv --metrics mig -o s.json", ("s.json",)),
    "assess": Command("assess data.csv::one data.csv::label --noise 0.05 -o a.json -o a.html", ("a.json", "a.html")),
    "compare": Command("compare data.csv::one data.csv::two data.csv::label -o c.json -o c.html", ("c.json", "c.html")),
    "compare-rank": Command("compare data.csv::one,two data.csv::label -o c.csv -o c.html", ("c.csv", "c.html")),
    "compare-ask": Command(
        "audit next data.csv::one data.csv::two data.csv::label --answers ask.csv", ("ask.csv",), kept=("ask.csv",)
    ),
    "audit": Command("audit draw data.csv::label --size 200 -o audit.csv", ("audit.csv",)),
    "labels-corrupt-csv": Command("labels corrupt data.csv::label --noise 0.05,0.1 -o n.csv", ("n.csv",)),
    "labels-corrupt-npz": Command("labels corrupt data.csv::label --noise 0.05,0.1 -o n.npz", ("n.npz",)),
    "labels-corrupt-parquet": Command("labels corrupt data.csv::label --noise 0.05 -o n.parquet", ("n.parquet",)),
    "labels-corrupt-features": Command(
        "labels corrupt data.csv::label --noise 0.05 --features codes.npy --annotators 3 -o n.tsv "
        "-o who.annotations.csv",
        ("n.tsv", "who.annotations.csv"),
    ),
    "noise-estimate": Command(
        "noise estimate answers.csv --given given.csv --output e.csv --save-transition t.csv", ("e.csv", "t.csv")
    ),
    "noise-clean": Command(
        "labels clean data.csv::label codes.npy --relabel -o k.csv -o w.suspects.csv", ("k.csv", "w.suspects.csv")
    ),
    "bench-metrics": Command(
        "bench metrics --metrics mig --scenarios mixing --seeds 2 --rows 200 --output b.json --report b.html "
        "--save b.json.gz --store b.jsonl",
        ("b.json", "b.html", "b.json.gz", "b.jsonl"),
        kept=("b.jsonl",),
    ),
    "bench-show": Command("bench show saved.json.gz --output b.csv --report b.html", ("b.csv", "b.html")),
    "bench-comparisons": Command(
        "bench comparisons --predictions data.csv::one,two,three --true-labels data.csv::label --noise uniform "
        "--noise-rate 0.05 --methods overlap,worst-case-overlap --output x.json --report x.html --store x.jsonl "
        "--pictures drawn",
        ("x.json", "x.html", "x.jsonl", "drawn/curves.png", "drawn/curves.svg"),
        kept=("x.jsonl",),
    ),
    "data-convert": Command("data convert morpho_mnist . --size 14 --output m.npy", ("m.npy",)),
}


def inputs(folder: Path) -> None:
    """Write what the commands read."""
    rng = np.random.default_rng(0)
    n = 400
    codes = rng.random((n, 4))
    held = io.BytesIO()
    np.save(held, codes)
    write_whole(folder / "codes.npy", held.getvalue())
    labels = (codes[:, 0] > 0.5).astype(int)
    factors = pd.DataFrame({"first": labels, "second": np.floor(4 * codes[:, 1]).astype(int)})
    write_whole(folder / "factors.csv", factors.to_csv(index=False))
    sparse = scipy.sparse.csr_array(np.where(codes > 0.5, codes, 0.0))
    archive = io.BytesIO()
    scipy.sparse.save_npz(archive, sparse)
    write_whole(folder / "sparse.npz", archive.getvalue())
    answers = {name: np.where(rng.random(n) < wrong, 1 - labels, labels) for name, wrong in _WRONG.items()}
    write_whole(folder / "data.csv", pd.DataFrame({"label": labels, **answers}).to_csv(index=False))
    long = pd.DataFrame(
        [(item, who, given[item]) for who, given in answers.items() for item in range(n)],
        columns=["item", "annotator", "answer"],
    )
    write_whole(folder / "answers.csv", long.to_csv(index=False))
    write_whole(folder / "given.csv", pd.DataFrame({"item": np.arange(n), "label": labels}).to_csv(index=False))
    demele.bench.characterise("mig", "mixing", seeds=2, n_samples=200, progress=False).save(folder / "saved.json.gz")

    digits = rng.integers(0, 256, (n, 28, 28), dtype=np.uint8)
    for name, held in (("images-idx3", digits), ("labels-idx1", labels.astype(np.uint8))):
        header = struct.pack(f">HBB{held.ndim}I", 0, 8, held.ndim, *held.shape)
        write_whole(folder / f"train-{name}-ubyte.gz", gzip.compress(header + held.tobytes(), mtime=0))
    measures = ["area", "length", "thickness", "slant", "width", "height"]
    measured = pd.DataFrame(rng.random((n, len(measures))), columns=measures).rename_axis("index")
    write_whole(folder / "train-morpho.csv", measured.to_csv())


_WRONG = {"one": 0.1, "two": 0.3, "three": 0.2}


# Processes -----------------------------------------------------------------------------------------------------------


def preload() -> None:
    """Import what commands import: a forked process begins where it would otherwise be after a second."""
    for module in pkgutil.walk_packages(demele.__path__, "demele."):
        if not module.name.startswith("demele.adapters"):
            importlib.import_module(module.name)
    for name in (
        "matplotlib.backends.backend_agg",
        "matplotlib.backends.backend_svg",
        "pyarrow.parquet",
    ):
        importlib.import_module(name)
    for name in ("sklearn.linear_model", "sklearn.ensemble", "sklearn.svm", "rich.console", "narwhals"):
        importlib.import_module(name)


@dataclass
class Child:
    """A process, and what it says on stderr: through a pipe, which has no size that could be limited."""

    pid: int
    stderr: int

    def said(self) -> str:
        """Return what it said, after it has ended."""
        with os.fdopen(self.stderr, "rb") as pipe:
            return pipe.read().decode(errors="replace").strip()


def forked(words: list[str], folder: Path, before: Callable[[], object], after: Callable[[], object] = bool) -> Child:
    """Run a command in a process of its own."""
    sys.stdout.flush()
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write)
        return Child(pid, read)
    code = 99
    try:
        os.chdir(folder)
        sys.stdout, sys.stderr = open(os.devnull, "w"), os.fdopen(write, "w", buffering=1)  # noqa: SIM115
        before()
        code = program(words)
        after()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - it must not run on as a second copy of this program
        traceback.print_exc()
    finally:
        os._exit(code)


def ended(child: Child, *, kill_after: float | None = None) -> int | None:
    """Wait for a process, killing it after some seconds; return its exit status, None if it was killed."""
    started = time.monotonic()
    while True:
        found, status = os.waitpid(child.pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else None
        spent = time.monotonic() - started
        if kill_after is not None and spent >= kill_after:
            os.kill(child.pid, signal.SIGKILL)
            kill_after = None
        if spent > PATIENCE:
            os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)
            raise SystemExit(f"a command did not end within {PATIENCE:g} s")
        time.sleep(0.0005)


class Watch:
    """Counts calls that change files of a folder, or open them for that; kills the process soon after one of them."""

    def __init__(self, folder: Path, at: int | None, delay: float) -> None:
        self.folder, self.at, self.delay, self.calls = os.fsencode(folder), at, delay, 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """See one event of the interpreter."""
        opened = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if not (opened or event in CHANGING) or not self._ours(arguments):
            return
        self.calls += 1
        if self.calls == self.at:
            threading.Thread(target=self._kill, daemon=True).start()

    def _ours(self, arguments: tuple[Any, ...]) -> bool:
        try:
            path = os.fsencode(arguments[0])
        except TypeError:  # the number of an open file
            return False
        return not path.startswith(b"/") or path.startswith(self.folder)

    def _kill(self) -> None:
        time.sleep(self.delay)
        os.kill(os.getpid(), signal.SIGKILL)


# Files ---------------------------------------------------------------------------------------------------------------


def is_whole(path: Path, content: bytes, reference: bytes) -> bool:
    """Whether a content is a whole one of its kind; with the bytes of the reference where nothing in it is a time."""
    if content == reference:
        return True
    try:
        if path.suffix == ".html":
            return content.rstrip().endswith(b"</html>") and abs(len(content) - len(reference)) < 2000
        if path.suffix == ".json":
            return same_shape(json.loads(content), json.loads(reference))
        if path.suffix == ".gz":
            return same_shape(json.loads(gzip.decompress(content)), json.loads(gzip.decompress(reference)))
        if path.suffix == ".npz":
            with np.load(io.BytesIO(content)) as found, np.load(io.BytesIO(reference)) as wanted:
                return all(np.array_equal(found[name], wanted[name]) for name in wanted.files)
    except (ValueError, EOFError, OSError, KeyError, zipfile.BadZipFile):
        return False
    return False


def same_shape(found: Any, wanted: Any) -> bool:
    """Whether two contents differ in numbers only, which may be times."""
    if isinstance(wanted, dict):
        return (
            isinstance(found, dict)
            and found.keys() == wanted.keys()
            and all(same_shape(found[name], wanted[name]) for name in wanted)
        )
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(same_shape, found, wanted))
    return isinstance(found, float | int) if isinstance(wanted, float | int) else found == wanted


def store_is_whole(path: Path, before: bytes) -> bool:
    """Whether a store holds all that it held, and can be read."""
    content = path.read_bytes()
    if not content.startswith(before):
        return False
    if not content.count(b"\n"):
        return not before  # killed within its first line: nothing was in it
    Store.read(path)
    return True


@dataclass(frozen=True)
class Run:
    """One run of a command in a folder of its own, over files that are there or into an empty place."""

    name: str
    folder: Path
    before: Mapping[str, bytes]

    @property
    def words(self) -> list[str]:
        """The arguments."""
        return [*COMMANDS[self.name].words.split(), "--quiet", *(["--force"] if self.before else [])]

    def prepare(self, source: Path) -> None:
        """Bring the inputs, and the old files."""
        self.folder.mkdir(parents=True)
        for path in source.iterdir():
            write_whole(self.folder / path.name, path.read_bytes())
        for name, content in self.before.items():
            (self.folder / name).parent.mkdir(exist_ok=True)
            write_whole(self.folder / name, content)

    def outputs(self, source: Path) -> dict[str, bytes]:
        """Return all files that are no inputs."""
        own = {path.name for path in source.iterdir()}
        found = [path for path in sorted(self.folder.rglob("*")) if path.is_file() and path.name not in own]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in found}

    def look(self, source: Path, reference: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
        """Yield each file and what it is: old, new, none, store, left or damaged."""
        found = self.outputs(source)
        for name in {**reference, **self.before}:
            content, before = found.pop(name, None), self.before.get(name)
            if content is None:
                yield name, "none" if before is None else "damaged"
            elif name.endswith(".jsonl"):
                yield name, "store" if store_is_whole(self.folder / name, before or b"") else "damaged"
            elif content == before:
                yield name, "old"
            else:
                yield name, "new" if is_whole(Path(name), content, reference[name]) else "damaged"
        for name in found:
            yield name, "left" if LEFT.match(Path(name).name) else "damaged"


class Subject:
    """A command with what it writes when nothing disturbs it, and how long that takes."""

    def __init__(self, name: str, work: Path, source: Path) -> None:
        self.name, self._work, self._source, self._runs = name, work, source, 0
        command = COMMANDS[name]
        fresh, _, _ = self._undisturbed({})
        missing = set(command.written) - fresh.keys()
        if missing:
            raise SystemExit(f"{name} did not write {', '.join(sorted(missing))}")
        begun = {kept: continued(kept, fresh[kept]) for kept in command.kept}
        old = {written: begun.get(written, OLD) for written in fresh}
        again, self.calls, self.seconds = self._undisturbed(old)
        self.before: dict[bool, dict[str, bytes]] = {False: {}, True: old}
        self.reference = {False: fresh, True: again}
        self.largest = max(map(len, again.values()))

    def killed(self, rng: random.Random) -> tuple[bool, Counter[str]]:
        """Run it, kill it, and count what files there are; and say whether it was killed before it ended."""
        over, at_call = rng.random() < 0.75, rng.random() < 0.5
        run = self._run(self.before[over])
        at = rng.randint(1, max(self.calls, 1)) if at_call else None
        watch = Watch(run.folder, at, rng.uniform(0, 0.002))
        child = forked(run.words, run.folder, lambda: sys.addaudithook(watch))
        status = ended(child, kill_after=None if at_call else rng.uniform(0, self.seconds))
        child.said()
        return status is None, self._looked(run, over)

    def full(self, rng: random.Random) -> tuple[bool, Counter[str]]:
        """Run it where no file may grow above a random size; say whether it told so."""
        over = rng.random() < 0.75
        run, size = self._run(self.before[over]), rng.randint(0, self.largest)

        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        child = forked(run.words, run.folder, limit)
        status, said = ended(child), child.said()
        if status not in (0, 2) or (status == 2 and "cannot write" not in said):
            raise SystemExit(f"{self.name}, files of at most {size} bytes: exit status {status}, {said}")
        return status == 2, self._looked(run, over)

    def _run(self, before: Mapping[str, bytes]) -> Run:
        self._runs += 1
        run = Run(self.name, self._work / f"{self.name}-{self._runs}", before)
        run.prepare(self._source)
        return run

    def _undisturbed(self, before: Mapping[str, bytes]) -> tuple[dict[str, bytes], int, float]:
        run, count = self._run(before), self._work / "calls"
        watch = Watch(run.folder, None, 0.0)
        started = time.monotonic()
        child = forked(
            run.words, run.folder, lambda: sys.addaudithook(watch), lambda: write_whole(count, str(watch.calls))
        )
        status, said = ended(child), child.said()
        seconds = time.monotonic() - started
        if status != 0:
            raise SystemExit(f"{self.name}: exit status {status}, {said}")
        found = run.outputs(self._source)
        shutil.rmtree(run.folder)
        return found, int(count.read_text()), seconds

    def _looked(self, run: Run, over: bool) -> Counter[str]:
        states = list(run.look(self._source, self.reference[over]))
        for name, state in states:
            if state == "damaged":
                print(f"{self.name}: {name} is damaged", flush=True)
        if not any(state == "damaged" for _, state in states):
            shutil.rmtree(run.folder)
        return Counter(state for _, state in states)


def continued(name: str, content: bytes) -> bytes:
    """Return a file that a command goes on with: answers filled in, or half of the records of a store."""
    if name.endswith(".jsonl"):
        lines = content.splitlines(keepends=True)
        return b"".join(lines[: 1 + len(lines[1:]) // 2])
    table = pd.read_csv(io.BytesIO(content))
    return table.assign(true_label=table["given_label"]).to_csv(index=False).encode()


def main(argv: list[str] | None = None) -> int:
    """Kill, look, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="over all commands (default: 200)")
    parser.add_argument("--full", type=int, default=0, help="runs with a limit of the size of files (default: 0)")
    parser.add_argument(
        "--commands", type=lambda text: text.split(","), default=list(COMMANDS), help=f"{', '.join(COMMANDS)}"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where to work, such as a small disk (default: a temporary folder)")
    parser.add_argument("--save", type=Path, help="write a line per command to this CSV file")
    arguments = parser.parse_args(argv)
    rng = random.Random(arguments.seed)
    preload()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        source, work = Path(folder) / "inputs", Path(folder) / "work"
        source.mkdir()
        work.mkdir()
        inputs(source)
        rows = []
        shares = {name: _share(arguments.kills, place, arguments) for place, name in enumerate(arguments.commands)}
        for place, name in enumerate(arguments.commands):
            subject = Subject(name, work, source)
            row = Counter[str]()
            for what, count in (("killed", shares[name]), ("full", _share(arguments.full, place, arguments))):
                done = 0
                while done < count:
                    hit, states = subject.killed(rng) if what == "killed" else subject.full(rng)
                    row += states
                    row["runs"] += 1
                    row[what] += hit
                    done += hit or what == "full"  # a command that ended before its kill was not killed
            rows.append({"command": name, **{column: row[column] for column in COLUMNS}})
            print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    print(table.to_string(index=False))
    print(table.drop(columns="command").sum().to_string())
    if arguments.save is not None:
        write_whole(arguments.save, table.to_csv(index=False, lineterminator="\n"))
    return int(table["damaged"].sum() > 0)


#: Runs; how many of them were killed and how many were told that the disk is full; files by what they were afterwards.
COLUMNS = ("runs", "killed", "full", "old", "new", "none", "store", "left", "damaged")


def _share(total: int, place: int, arguments: argparse.Namespace) -> int:
    n = len(arguments.commands)
    return total // n + (place < total % n)


if __name__ == "__main__":
    sys.exit(main())
