"""make says what is missing on the machine, and does not leave half an environment that the next call would trust."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from demele.cli.engine import parsed
from demele.cli.main import COMMANDS, found

ROOT = Path(__file__).parents[2]
#: A Python that lacks something, by how it differs from this one.
LACKS = {
    "old": "import sys\nsys.version_info = (3, 10, 4)\n",
    "no ensurepip": "import sys\nsys.modules['ensurepip'] = None\n",
}

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def make(folder: Path, target: str, python: Path | str) -> subprocess.CompletedProcess[str]:
    shutil.copy(ROOT / "Makefile", folder)
    return subprocess.run(
        ["make", target, f"PYTHON={python}"], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )


def lacking(folder: Path, what: str) -> Path:
    """Write a Python that lacks something."""
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(LACKS[what], encoding="utf-8")
    python = folder / "python-of-this-machine"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{folder / "site"}" exec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return python


@pytest.mark.parametrize("target", [".venv/bin/python", ".venv-oldest/bin/python"])
def test_no_python(target: str, tmp_path: Path) -> None:
    done = make(tmp_path, target, "/nonexistent/python3")
    assert done.returncode != 0
    assert "there is no '/nonexistent/python3': install Python 3.11 or later, or say where it is" in done.stderr


def test_an_old_python(tmp_path: Path) -> None:
    python = lacking(tmp_path, "old")
    done = make(tmp_path, ".venv/bin/python", python)
    assert done.returncode != 0
    assert f"demele needs Python 3.11 or later, and '{python}' is Python 3." in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_no_ensurepip_as_on_debian_without_its_package_of_it(tmp_path: Path) -> None:
    done = make(tmp_path, ".venv/bin/python", lacking(tmp_path, "no ensurepip"))
    assert done.returncode != 0
    assert "cannot make virtual environments" in done.stderr
    assert "apt install python3-venv" in done.stderr
    assert not (tmp_path / ".venv").exists()  # its Python would have no pip, and the next call would believe it ready


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
