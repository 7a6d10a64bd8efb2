"""What is slow, in one list: browsers, other interpreters, clusters, pages that are run, long simulations."""

from pathlib import Path

import pytest
from hypothesis import settings

# No test is about time: a busy machine must not fail one.
settings.register_profile("demele", deadline=None)
settings.load_profile("demele")

ROOT = Path(__file__).parents[1]
#: Folders and files whose tests `make test-fast` leaves out. Single tests elsewhere carry the mark themselves.
SLOW = (
    *("tests/adapters/test_distributed.py", "tests/adapters/test_keras_backends.py", "tests/outofcore/test_dask.py"),
    *("tests/bench/test_resume.py", "tests/cli/test_kills.py", "tests/runtime/test_workers.py", "tests/fuzz"),
    *(
        "tests/docs",
        "tests/install",
        "tests/report/test_as_seen.py",
        "tests/report/test_browser.py",
        "tests/runtime/test_sweep_killed.py",
        "tests/studies/test_study_killed.py",
    ),
    "tests/statistical",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = [ROOT / path for path in SLOW]
    for item in items:
        starts_a_browser = any("Chromium" in str(mark.kwargs.get("reason")) for mark in item.iter_markers("skipif"))
        if starts_a_browser or any(item.path.is_relative_to(path) for path in slow):
            item.add_marker(pytest.mark.slow)


def pytest_configure() -> None:
    gone = [path for path in SLOW if not (ROOT / path).exists()]
    if gone:
        raise pytest.UsageError(f"tests/conftest.py: SLOW names what is not there: {', '.join(gone)}")
