"""A run of the bench that is killed and started again gives the file of one that was left alone."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
import sys
from demele import bench

def mean(codes, factors):
    return float(codes.mean())

bench.check_metrics(["mig", "sap", mean], "source", seeds=2, n_rows=400, store=sys.argv[1])
"""


def records(path: Path) -> list[Any]:
    """Return the records without the seconds that they took, in the order of the file."""
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [{what: value for what, value in record.items() if what != "seconds"} for record in found]


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed in another way")
def test_a_killed_run_of_metrics_goes_on(tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(SCRIPT)

    def started(name: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, str(tmp_path / "run.py"), str(tmp_path / name)]
        return subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})

    alone, killed = started("alone"), started("killed")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if (tmp_path / "killed").exists() and (tmp_path / "killed").read_bytes().count(b"\n") > 20:
            break
        time.sleep(0.005)
    killed.kill()
    assert killed.wait(60) == -signal.SIGKILL
    assert started("killed").wait(120) == 0
    assert alone.wait(120) == 0
    assert len(records(tmp_path / "alone")) == 1 + 2 * 3 * (11 + 6 + 6 + 4 + 7)
    assert records(tmp_path / "killed") == records(tmp_path / "alone")
