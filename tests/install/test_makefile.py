"""make says what is missing on the machine, and does not leave half an environment that the next call would trust."""

import shutil
import subprocess
from pathlib import Path

import pytest

from demele.cli.engine import parsed
from demele.cli.main import COMMANDS, found

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def make(folder: Path, target: str, python: Path | str) -> subprocess.CompletedProcess[str]:
    shutil.copy(ROOT / "Makefile", folder)
    return subprocess.run(
        ["make", target, f"PYTHON={python}"], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )


def test_demonstrations_use_the_options_of_today() -> None:
    said = subprocess.run(
        ["make", "--dry-run", "demo", "demo-vae"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    calls = [line.split()[1:] for line in said.stdout.splitlines() if line.startswith(".venv/bin/demele ")]
    assert len(calls) == 4
    for call in calls:
        name = " ".join(call[:2])
        if name in COMMANDS:  # others are not yet made from functions
            assert parsed(found(name), name, call[2:]).options
