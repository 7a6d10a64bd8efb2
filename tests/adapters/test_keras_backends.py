"""The tests of KerasMetric on the other backends: Keras fixes its backend when it is imported."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="keras is not installed")
@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="Keras' numpy backend and jax need jax")
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_all_of_it_on_another_backend(backend: str) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/adapters/test_keras.py"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "KERAS_BACKEND": backend, "OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
