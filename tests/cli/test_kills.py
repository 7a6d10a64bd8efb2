"""A few kills of commands that write, and a few full disks; ``python -m tools.kill_outputs`` is the long form."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="commands are run in forked processes")
def test_a_kill_or_a_full_disk_leaves_the_old_file_or_the_new_one() -> None:
    commands = "audit,labels-corrupt-npz,compare-ask"
    command = [sys.executable, "-m", "tools.kill_outputs", "--kills", "9", "--full", "3", "--commands", commands]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    totals = dict(line.split() for line in done.stdout.splitlines()[-9:])
    assert totals["killed"] == "9"
    assert totals["damaged"] == "0"
