"""A training that is killed with -9, at moments that nobody chose, goes on to the same bits."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.models.squares import fitted
from tests.models.test_training import assert_same

PROGRAM = """
import sys
from tests.models.squares import fitted
print("ready", flush=True)
fitted("factor_vae", steps=500, width=8, fit={"checkpoint": sys.argv[1]})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_a_training_that_is_killed_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    path, root = tmp_path / "run", Path(__file__).parents[2]
    for wait in np.random.default_rng(0).uniform(0.1, 0.6, 2):
        child = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(path)], cwd=root, stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(wait)
        child.kill()
        child.wait()
        child.stdout.close()
    found = fitted("factor_vae", steps=500, width=8, fit={"checkpoint": path})
    assert_same(found, fitted("factor_vae", steps=500, width=8))
    assert not (tmp_path / ".run.lock").exists()
