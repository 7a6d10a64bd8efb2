"""Calls what reads an input, and says what came of it; as a program it does so for each that it is asked about."""

import contextlib
import io
import json
import os
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import demele
from demele.cli.main import main
from demele.core.errors import DemeleError
from demele.streaming.accumulator import state_to_bytes, with_state
from tests.fuzz import arguments, image_sets, made, makers
from tests.fuzz.generate import Input, generated, good_files
from tests.fuzz.heavy import HEAVY

#: What is promised of every input.
MOST_SECONDS = 10.0
MOST_SECONDS_OF_CALLS = 4
MOST_BYTES = 1 << 30
#: The field that hostile inputs hold, and how much of it a message may repeat.
_FIELD = re.compile(r"q{201,}")


@dataclass(frozen=True)
class Outcome:
    """What came of one input: ``done``, ``refused``, or a fault: ``traceback``, ``slow``, ``memory``, ``echo``,
    ``shift``."""

    reader: str
    how: str
    outcome: str
    seconds: float
    mib: float
    told: str

    @property
    def fault(self) -> bool:
        """Whether a promise was broken."""
        return self.outcome not in ("done", "refused")


def _api(name: str, content: bytes) -> None:
    codes, factors = makers.frame("z1", "z2"), makers.frame("shape", "size")
    if name == "frame":
        try:
            held = json.loads(content)
        except ValueError:  # who reads a dictionary from a file has the errors of that
            return
        ranges = demele.bins.BinEdges.from_dict(held)
        demele.Accumulator("mig", frame=ranges).update(codes, factors).compute()
    elif name == "accumulator":
        found = demele.Accumulator.from_bytes(content)
        found.update(codes, factors)
        found.compute()
        found.merge(found.reset()).to_bytes()
    elif name == "own":
        images = demele.data.open_images("input")
        images.images(range(len(images)))
        images.factors()
    else:
        empty = demele.Accumulator("mig", frame=demele.bins.BinEdges.of(codes, factors)).update(codes, factors)
        with_state(empty, content).compute()
        state_to_bytes(empty)


class _TooLong(BaseException):
    """A call takes longer than it is waited for."""


@contextlib.contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """End what takes longer: a user may ask for many repeats."""

    def end(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _placed(one: Input) -> Iterator[None]:
    """Write the files of an input, and good ones beside them, into a folder that is the working directory."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, content in {**good_files(), **one.files}.items():
                path = Path(name)
                path.parent.mkdir(parents=True, exist_ok=True)
                if content == b"!fifo":
                    os.mkfifo(path)
                elif content == b"!loop":
                    path.unlink(missing_ok=True)
                    path.symlink_to(path.name)
                elif content == b"!folder":
                    path.mkdir()
                elif content == b"!device":
                    path.symlink_to("/dev/zero")
                else:
                    path.write_bytes(content)
            yield
        finally:
            os.chdir(before)


def _told(one: Input) -> tuple[str, str]:
    """Call it; return the outcome and what was said."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        status = 0
        try:
            if one.call[0] == "api:images":
                image_sets.read(one.call[1], one.call[2] == "converted")
            elif one.call[0] == "api:made":
                made.warm()
                with _at_most(MOST_SECONDS_OF_CALLS):
                    made.run(one.call[1], int(one.call[2]))
            elif one.call[0].startswith("api:"):
                _api(one.call[0][4:], one.files["input"])
            else:
                status = main(list(one.call))
        except DemeleError as error:
            status, text = 2, str(error)
            err.write(text)
        except OSError as error:
            if error.filename is None:  # one that names its file is told as the system tells it
                return "traceback", traceback.format_exc()
            status = 2
        except arguments.Shifted as error:
            return "shift", str(error)
        except _TooLong:  # many repeats were asked for
            return "done", "stopped"
        except BaseException as error:  # noqa: BLE001 - this is what is looked for
            if isinstance(error, MemoryError) or "can't allocate memory" in str(error):  # so much was asked for
                return "refused", "no memory"
            return "traceback", traceback.format_exc()
    said = err.getvalue()
    if "Traceback (most recent" in said:
        return "traceback", said
    if _FIELD.search(said) or len(said) > 20_000:
        return "echo", said[:3000]
    if status not in (0, 2):
        return "traceback", f"exit status {status}: {said}"
    return ("refused" if status else "done"), said[:300]


def tried(one: Input) -> Outcome:
    """Read one input, and hold what it took against what is promised."""
    # time of the processor: what else the machine does is no fault of a reader
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with _placed(one):
        outcome, told = _told(one)
    seconds = time.process_time() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    if outcome in ("done", "refused"):
        if grown > MOST_BYTES + sum(map(len, one.files.values())):
            outcome = "memory"
        elif seconds > MOST_SECONDS:
            outcome = "slow"
    return Outcome(one.reader, one.how, outcome, round(seconds, 3), round(grown / 2**20, 1), told)


def _serve() -> None:
    """Answer each line ``SEED NUMBER``, or ``heavy NAME``, with the outcome of that input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    for line in sys.stdin:
        seed, _, number = line.strip().partition(" ")
        outcome = tried(HEAVY[number]() if seed == "heavy" else generated(int(seed), int(number)))
        print(json.dumps({**asdict(outcome), "fault": outcome.fault}), file=answers, flush=True)


if __name__ == "__main__":
    _serve()
