"""What boosted trees tell of a group of codes is found with one thread, also where scikit-learn is loaded late."""

import subprocess
import sys

PROGRAM = """
import numpy as np
from threadpoolctl import threadpool_info

import demele
from demele.metrics import code_groups

seen = []

def recorded(*given):
    losses = held_out_losses(*given)
    seen.append([pool["num_threads"] for pool in threadpool_info()])
    return losses

held_out_losses, code_groups.held_out_losses = code_groups.held_out_losses, recorded
rng = np.random.default_rng(0)
factors = rng.integers(0, 3, (60, 2))
codes = np.repeat(factors, 3, axis=1) + 0.3 * rng.normal(size=(60, 6))
demele.metrics.mig(demele.Codes(codes, groups=[0, 0, 0, 1, 1, 1]), factors)
print(len(seen), max(map(max, seen)))
"""


def test_one_thread_where_trees_bound_what_groups_tell() -> None:
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, check=True)
    fits, threads = map(int, found.stdout.split())
    assert fits > 0
    assert threads == 1
