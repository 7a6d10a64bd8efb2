"""What holds for tests and for the examples in docstrings alike."""

import importlib.util
import os

import pytest

# Workers of pytest take a core each; with a thread per core in each of them, threads wait for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")

# Keras fixes its backend when it is imported, and takes tensorflow if it is not told.
os.environ.setdefault("KERAS_BACKEND", "torch")

#: Modules that need a package of their own when they are imported, as the examples in them do.
_NEEDS = {
    **dict.fromkeys(
        ("src/demele/adapters/keras.py", "src/demele/adapters/keras_callback.py"),
        ("keras", os.environ["KERAS_BACKEND"]),
    ),
    **dict.fromkeys(("src/demele/models/checkpoint.py", "src/demele/models/presets.py"), ("torch",)),
    **dict.fromkeys(("src/demele/models/networks.py", "src/demele/models/vae"), ("torch",)),
}
collect_ignore = [
    path for path, packages in _NEEDS.items() if any(importlib.util.find_spec(name) is None for name in packages)
]


@pytest.fixture(autouse=True)
def _forget_registered_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget metrics that a test or an example registers: they would stand in the tables of later tests."""
    from demele.metrics.catalogue import CATALOGUE

    monkeypatch.setattr(CATALOGUE, "_others", CATALOGUE._others.copy())
