"""A study that is killed while it trains or scores, and started again, has the rows and codes of one left alone."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from demele.studies.jobs import read_codes
from tests.studies.test_study import rows
from tests.tolerances import assert_exact

pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are killed in another way")

COMMAND = (
    *(
        "lab",
        "study",
        "run",
        "--preset",
        "ci",
        "--betas",
        "0.1,100",
        "--latents",
        "3",
        "--steps",
        "300",
        "--rows",
        "200",
    ),
    *("--metrics", "mig,sap", "--quiet", "--store"),
)


def started(folder: Path, *more: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "demele", *COMMAND, str(folder), *more]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})


def killed_when(folder: Path, there: Callable[[], bool], *more: str) -> None:
    process = started(folder, *more)
    deadline = time.monotonic() + 120
    while not there() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    process.kill()
    assert process.wait(60) in (-signal.SIGKILL, 0)


def test_a_killed_study_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    alone, killed = tmp_path / "alone", tmp_path / "killed"
    whole = started(alone)
    runs = killed / "runs"
    killed_when(killed, lambda: any(runs.glob("*/checkpoint.pt")))  # while the first model is trained
    killed_when(killed, lambda: any(runs.glob("*/codes-150.npz")))  # between two stages
    killed_when(killed, lambda: len(list(runs.glob("*/codes-300.npz"))) > 0)  # while it is scored
    assert started(killed, "--jobs", "2").wait(240) == 0
    assert whole.wait(240) == 0
    assert len(rows(alone)) == 2 * (1 + 6 * 2)
    assert rows(killed) == rows(alone)
    for path in sorted(alone.glob("runs/*/codes-*.npz")):
        for one, other in zip(read_codes(path, 200), read_codes(killed / path.relative_to(alone), 200), strict=True):
            assert (one is None) == (other is None)
            if one is not None and other is not None:
                assert_exact(one, other)
