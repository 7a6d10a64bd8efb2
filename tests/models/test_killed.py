"""A training that is killed with -9, at a moment that nobody chose, goes on to the same bits."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from demele.lab import load_vae
from tests.models.squares import fitted
from tests.models.test_training import assert_same

#: In five parts, each of which is longer than a process is let run after it has written one.
STEPS = 600
PROGRAM = """
import sys
from demele.lab import load_vae
from tests.models.squares import fitted
fitted("factor_vae", steps=int(sys.argv[2]), width=8, fit={"checkpoint": sys.argv[1]})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_a_training_that_is_killed_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    path, root = tmp_path / "run", Path(__file__).parents[2]
    child = subprocess.Popen([sys.executable, "-c", PROGRAM, str(path), str(STEPS)], cwd=root)
    while not path.exists() and child.poll() is None:
        time.sleep(0.01)
    time.sleep(0.05)  # somewhere after the first writing
    child.kill()
    child.wait()
    kept = load_vae(path).run
    assert 0 < kept.steps < STEPS
    found = fitted("factor_vae", steps=STEPS, width=8, fit={"checkpoint": path})
    assert_same(found, fitted("factor_vae", steps=STEPS, width=8))
    assert not (tmp_path / ".run.lock").exists()
