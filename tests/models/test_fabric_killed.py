"""A training of a fabric that is killed with -9, goes on to the same bits."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from demele.lab import Fabric
from tests.models.fabrics import trained
from tests.models.test_fabric_training import assert_same

EPOCHS = 6
PROGRAM = """
import sys
from tests.models.fabrics import trained
trained(int(sys.argv[2]), fit={"checkpoint": sys.argv[1]})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_a_training_that_is_killed_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    path, root = tmp_path / "fabric", Path(__file__).parents[2]
    child = subprocess.Popen([sys.executable, "-c", PROGRAM, str(path), str(EPOCHS)], cwd=root)
    while not path.exists() and child.poll() is None:
        time.sleep(0.01)
    time.sleep(0.05)  # somewhere after the first writing
    child.kill()
    child.wait()
    assert 0 < Fabric.load(path).run.epochs < EPOCHS
    assert_same(trained(EPOCHS, fit={"checkpoint": path}), trained(EPOCHS))
    assert not (tmp_path / ".fabric.lock").exists()
