"""Kill every command that writes, at random moments, and look at what is left: the old file or the new one, whole.

    python -m tools.kill_outputs --kills 200 --full 40

A kill comes within two milliseconds of a random call that opens a file to write, or renames, links or removes one: a
write takes little of a command's time. ``--full`` adds runs in which no file may grow above a random size, as on a disk
that is full.

Prints a line per command, and writes it to ``--save FILE``; ends with 1 if a file was damaged.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: a process with threads is not forked
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import gzip
import importlib
import io
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
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

import demele
from demele.cli.main import main as program
from demele.core.outputs import write_whole
from demele.core.store import Store

#: What a file holds before it is replaced.
OLD = b"old " * 64
#: Files that outlive a kill, by the name that users are told.
LEFT = re.compile(r"^\..+\.tmp-[0-9a-f]{8}$")
CHANGING = {"os.rename", "os.link", "os.remove", "os.truncate"}
#: Runs; how many of them were killed and how many were told that the disk is full; files by what they were afterwards.
COLUMNS = ("runs", "killed", "full", "old", "new", "none", "store", "left", "damaged")
Files = Mapping[str, bytes]

COMMANDS = {
    "score": "score codes.npy factors.csv --metrics mig -o s.json -o s.html",
    "score-csv": "score codes.npy factors.csv --metrics mig -o s.csv",
    "score-sparse": "score sparse.npz factors.csv --metrics mig -o s.json",
    "assess": "assess data.csv::one data.csv::label --noise 0.05 -o a.json -o a.html",
    "compare": "compare data.csv::one data.csv::two data.csv::label -o c.json -o c.html",
    "compare-rank": "compare data.csv::one,two data.csv::label -o c.csv -o c.html",
    "compare-ask": "audit next data.csv::one data.csv::two data.csv::label --answers ask.csv",
    "audit": "audit draw data.csv::label --size 200 -o audit.csv",
    "labels-corrupt-csv": "labels corrupt data.csv::label --noise 0.05,0.1 -o n.csv",
    "labels-corrupt-npz": "labels corrupt data.csv::label --noise 0.05,0.1 -o n.npz",
    "labels-corrupt-parquet": "labels corrupt data.csv::label --noise 0.05 -o n.parquet",
    "labels-corrupt-features": (
        "labels corrupt data.csv::label --noise 0.05 --features codes.npy --annotators 3 -o n.tsv -o "
        "who.annotations.csv"
    ),
    "labels-aggregate": "labels aggregate answers.csv --given given.csv -o e.csv -o t.noise.csv",
    "labels-clean": "labels clean data.csv::label codes.npy --relabel -o k.csv -o w.suspects.csv",
    "bench-metrics": (
        "bench metrics --metrics mig --scenarios mixing --seeds 2 --rows 200 -o b.json -o b.html -o b.json.gz "
        "--store b.jsonl"
    ),
    "bench-show": "bench show saved.json.gz -o b.csv -o b.html",
    "bench-methods": (
        "bench methods data.csv::label --predictions data.csv::one,two,three --kind uniform --noise 0.05 "
        "--methods overlap,worst-case-overlap -o x.json -o x.html -o x.png --store x.jsonl"
    ),
    "data-convert": "lab data convert morpho_mnist . --image-size 14 --output m.npy",
}
#: Files that a command goes on with rather than replaces.
KEPT = ("ask.csv", "b.jsonl", "x.jsonl")


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
    demele.bench.check_metrics("mig", "mixing", seeds=2, n_rows=200).save(folder / "saved.json.gz")

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
    ours = (one.name for one in pkgutil.walk_packages(demele.__path__, "demele."))
    others = ("matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg", "pyarrow.parquet", "rich.console")
    for name in (*ours, *others, "sklearn.linear_model", "sklearn.ensemble", "sklearn.svm", "narwhals"):
        if not name.startswith("demele.adapters"):
            importlib.import_module(name)


def run(
    words: list[str], folder: Path, before: Callable[[], object], after: Callable[[], object] = bool
) -> tuple[int | None, str]:
    """Run a command in a process of its own; return its exit status, None if it was killed, and what it said."""
    sys.stdout.flush()
    read, write = os.pipe()  # a pipe has no size that could be limited
    pid = os.fork()
    if not pid:
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
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode(errors="replace").strip()
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else None, said


class Watch:
    """Counts calls that change files of a folder, or open them for that; kills the process soon after one of them."""

    def __init__(self, folder: Path, at: int | None, delay: float) -> None:
        self.folder, self.at, self.delay, self.calls = os.fsencode(folder), at, delay, 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """See one event of the interpreter."""
        opened = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if not (opened or event in CHANGING) or isinstance(arguments[0], int):  # the number of an open file
            return
        path = os.fsencode(arguments[0])
        if not path.startswith(b"/") or path.startswith(self.folder):
            self.calls += 1
            if self.calls == self.at:
                threading.Timer(self.delay, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()


# Files ---------------------------------------------------------------------------------------------------------------


def is_whole(name: str, content: bytes, reference: bytes) -> bool:
    """Whether a content is a whole one of its kind; with the bytes of the reference, but for numbers, such as times."""
    if content == reference:
        return True
    if name.endswith(".html"):
        return content.rstrip().endswith(b"</html>") and abs(len(content) - len(reference)) < 2000
    try:
        if name.endswith(".gz"):
            content, reference = gzip.decompress(content), gzip.decompress(reference)
        if name.endswith(".npz"):
            with np.load(io.BytesIO(content)) as found, np.load(io.BytesIO(reference)) as wanted:
                return all(np.array_equal(found[one], wanted[one]) for one in wanted.files)
    except (ValueError, EOFError, OSError, KeyError, zipfile.BadZipFile):
        return False
    numbers = re.compile(rb"-?\d[\d.e+-]*")
    return ".json" in name and numbers.sub(b"0", content) == numbers.sub(b"0", reference)


def store_is_whole(path: Path, before: bytes) -> bool:
    """Whether a store holds all that it held, and can be read."""
    content = path.read_bytes()
    if not content.startswith(before):
        return False
    if not content.count(b"\n"):
        return not before  # killed within its first line: nothing was in it
    Store.read(path)
    return True


def continued(name: str, content: bytes) -> bytes:
    """Return a file that a command goes on with: answers filled in, or half of the records of a store."""
    if name.endswith(".jsonl"):
        lines = content.splitlines(keepends=True)
        return b"".join(lines[: 1 + len(lines[1:]) // 2])
    table = pd.read_csv(io.BytesIO(content))
    return table.assign(true_label=table["given_label"]).to_csv(index=False).encode()


class Subject:
    """A command with what it writes when nothing disturbs it."""

    def __init__(self, name: str, work: Path, source: Path) -> None:
        self.name, self.work, self.source = name, work, source
        fresh = self._undisturbed({})[0]
        old = {one: continued(one, content) if one in KEPT else OLD for one, content in fresh.items()}
        again, self.calls = self._undisturbed(old)
        self.before: dict[bool, Files] = {False: {}, True: old}
        self.reference: dict[bool, Files] = {False: fresh, True: again}

    def disturbed(self, what: str, rng: random.Random) -> tuple[bool, Counter[str]]:
        """Run it and kill it, or limit its files; return whether that happened, and count what files there are."""
        over = rng.random() < 0.75
        size = rng.randint(0, max(map(len, self.reference[True].values())))
        watch = Watch(self.work / "run", rng.randint(1, max(self.calls, 1)), rng.uniform(0, 0.002))

        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        status, said = self._run(self.before[over], limit if what == "full" else lambda: sys.addaudithook(watch))
        if what == "full" and (status not in (0, 2) or (status == 2 and "cannot write" not in said)):
            raise SystemExit(f"{self.name}, files of at most {size} bytes: exit status {status}, {said}")
        states = list(self._states(over))
        for name, state in states:
            if state == "damaged":
                print(f"{self.name}: {name} is damaged", flush=True)
        return status == (2 if what == "full" else None), Counter(state for _, state in states)

    def _run(self, before: Files, *around: Callable[[], object]) -> tuple[int | None, str]:
        """Run the command in a folder with the inputs and the files that were there before."""
        folder = self.work / "run"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.source, folder)
        for name, content in before.items():
            (folder / name).parent.mkdir(exist_ok=True)
            write_whole(folder / name, content)
        return run([*COMMANDS[self.name].split(), "--quiet", *(["--force"] if before else [])], folder, *around)

    def _undisturbed(self, before: Files) -> tuple[Files, int]:
        watch, count = Watch(self.work / "run", None, 0.0), self.work / "calls"
        status, said = self._run(before, lambda: sys.addaudithook(watch), lambda: write_whole(count, str(watch.calls)))
        if status != 0:
            raise SystemExit(f"{self.name}: exit status {status}, {said}")
        return self._outputs(), int(count.read_text())

    def _outputs(self) -> dict[str, bytes]:
        """Return all files that are no inputs."""
        folder, own = self.work / "run", {path.name for path in self.source.iterdir()}
        found = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in own]
        return {str(path.relative_to(folder)): path.read_bytes() for path in found}

    def _states(self, over: bool) -> Iterator[tuple[str, str]]:
        """Yield each file and what it is: old, new, none, store, left or damaged."""
        found, reference = self._outputs(), self.reference[over]
        for name in reference:
            content, before = found.pop(name, None), self.before[over].get(name)
            if content is None:
                yield name, "none" if before is None else "damaged"
            elif name.endswith(".jsonl"):
                yield name, "store" if store_is_whole(self.work / "run" / name, before or b"") else "damaged"
            elif content == before:
                yield name, "old"
            else:
                yield name, "new" if is_whole(name, content, reference[name]) else "damaged"
        for name in found:
            yield name, "left" if LEFT.match(Path(name).name) else "damaged"


def main() -> int:
    """Kill, look, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="over all commands (default: 200)")
    parser.add_argument("--full", type=int, default=0, help="runs with a limit of the size of files (default: 0)")
    parser.add_argument("--commands", default=",".join(COMMANDS), help="names, with commas (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", type=Path, help="write a line per command to this CSV file")
    asked = parser.parse_args()
    names, rng, rows = asked.commands.split(","), random.Random(asked.seed), []
    preload()
    with tempfile.TemporaryDirectory() as folder:
        source, work = Path(folder) / "inputs", Path(folder) / "work"
        source.mkdir()
        work.mkdir()
        inputs(source)
        for place, name in enumerate(names):
            subject, row = Subject(name, work, source), Counter[str]()
            for what, total in (("killed", asked.kills), ("full", asked.full)):
                done = 0
                while done < total // len(names) + (place < total % len(names)):
                    hit, states = subject.disturbed(what, rng)
                    row += states + Counter({"runs": 1, what: int(hit)})
                    done += hit or what == "full"  # a command that ended before its kill was not killed
            rows.append({"command": name, **{column: row[column] for column in COLUMNS}})
            print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    print(table.drop(columns="command").sum().to_string())
    if asked.save is not None:
        write_whole(asked.save, table.to_csv(index=False, lineterminator="\n"))
    return int(table["damaged"].sum() > 0)


if __name__ == "__main__":
    sys.exit(main())
