"""What `make test` leaves to `make test-long`, in one list; and a Ctrl-C that tests can rely on."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from demele.metrics.catalogue import CATALOGUE

# No test is about time: a busy machine must not fail one.
settings.register_profile("demele", deadline=None)
settings.load_profile("demele")

ROOT = Path(__file__).parents[1]
#: Folders and files that start browsers, other interpreters or clusters, run pages, or simulate for long. Single tests
#: elsewhere carry the mark ``long`` themselves.
LONG = (
    *("tests/adapters/test_distributed.py", "tests/adapters/test_keras_backends.py", "tests/outofcore/test_dask.py"),
    *("tests/cli/test_kills.py", "tests/runtime/test_workers.py", "tests/fuzz"),
    *("tests/docs/test_docs_pages.py", "tests/docs/test_notebooks.py", "tests/docs/test_search.py", "tests/install"),
    *("tests/models/test_killed.py", "tests/runtime/test_sweep_killed.py"),
    "tests/statistical",
)
#: Where the same is asked of every metric, `make test` asks it of these: one for each way in which scores are computed.
FOR_EACH_METRIC = ("tests/contract", "tests/laws", "tests/adapters", "tests/streaming", "tests/metrics/test_cyclic.py")
SAMPLE = {"mig", "dmig", "sap", "irs", "explicitness", "z_min_variance", "dci_lasso_modularity", "mcc"}


def _is_long(item: pytest.Item) -> bool:
    if any("Chromium" in str(mark.kwargs.get("reason")) for mark in item.iter_markers("skipif")):
        return True
    if any(item.path.is_relative_to(ROOT / path) for path in LONG):
        return True
    if isinstance(item, pytest.Function) and any(item.path.is_relative_to(ROOT / path) for path in FOR_EACH_METRIC):
        told = getattr(item, "callspec", None)
        asked = {value for value in (told.params.values() if told else ()) if isinstance(value, str)} & set(CATALOGUE)
        return bool(asked - SAMPLE)
    return False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _is_long(item):
            item.add_marker(pytest.mark.long)


def pytest_configure() -> None:
    # Started in the background, a process ignores Ctrl-C, and so would all that the tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gone = [path for path in (*LONG, *FOR_EACH_METRIC) if not (ROOT / path).exists()]
    if gone:
        raise pytest.UsageError(f"tests/conftest.py names what is not there: {', '.join(gone)}")


@pytest.fixture(autouse=True)
def _no_pictures_left_open() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
