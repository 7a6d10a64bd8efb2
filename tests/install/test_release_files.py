"""Files of a release say the same: version, requirements, licences; and workflows name actions by hashes."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import demele
from demele.cli.engine import parsed
from demele.cli.main import COMMANDS, found
from demele.core.version import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RECIPE = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    assert re.findall(r"^version: (\S+)$", CITATION, re.MULTILINE) == [__version__]
    assert re.findall(r'set version = "(.+?)"', RECIPE) == [__version__]


def test_the_recipe_requires_what_the_package_requires() -> None:
    run = RECIPE.partition("  run:\n")[2].partition("\n\n")[0]
    needed = re.findall(r"^    - (?!python)(\S+) (>=\S+)$", run, re.MULTILINE)
    assert {name + minimum for name, minimum in needed} == set(PROJECT["dependencies"])


def test_licences_are_the_same_everywhere() -> None:
    listed = CITATION.partition("license:\n")[2].partition("\nurl")[0]
    assert " AND ".join(re.findall(r"- (\S+)", listed)) == PROJECT["license"]
    assert f"license: {PROJECT['license']}\n" in RECIPE
    assert json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))["license"] == "MIT"  # Zenodo knows one


@pytest.mark.parametrize("workflow", sorted(path.name for path in (ROOT / ".github" / "workflows").glob("*.yml")))
def test_workflows_name_actions_by_the_hash_of_a_commit(workflow: str) -> None:
    text = (ROOT / ".github" / "workflows" / workflow).read_text(encoding="utf-8")
    used = [line for line in re.findall(r"uses: (.+)", text) if not line.startswith("./")]
    assert used
    for line in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", line), line


# Licences of the data -------------------------------------------------------------------------------------------------


DATA = Path(demele.__file__).parent / "data"
#: What the notices call a licence, its name in expressions, and how its text begins.
LICENCES = {
    "Creative Commons Attribution 4.0 International licence": ("CC-BY-4.0", "Creative Commons Attribution 4.0"),
    "Apache License 2.0": ("Apache-2.0", "Apache License"),
}


def notices() -> dict[Path, str]:
    """For each bundled array file, what its notice says of it."""
    parts = (DATA / "bundled" / "LICENSES.md").read_text(encoding="utf-8").split("\n## ")
    said = {DATA / "bundled" / "digits" / "demo.npz.xz": (DATA / "DIGITS_LICENSE.md").read_text(encoding="utf-8")}
    for part in parts[1:]:
        heading, _, text = part.partition("\n")
        for pattern in re.findall(r"`([^`]+)`", heading):
            files = list((DATA / "bundled").glob(pattern))
            assert files, f"LICENSES.md: no file is named {pattern}"
            said |= dict.fromkeys(files, text)
    return said


def licences_of(text: str) -> set[str]:
    """Names in expressions of the licences that a notice grants."""
    granted = re.findall(r"licensed under the (.+?)(?: \(CC BY 4\.0\))?,", " ".join(text.split()))
    return {LICENCES[words][0] for words in granted}


def test_every_bundled_file_has_a_notice_that_names_its_licence() -> None:
    said = notices()
    assert set(said) == set(DATA.rglob("*.xz"))
    for file, text in said.items():
        assert len(licences_of(text)) == 1, file


def test_the_wheel_carries_every_notice_and_every_licence_text() -> None:
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in PROJECT["license-files"]}
    beginnings = [text.lstrip()[:200] for text in texts.values()]
    assert any("MIT License" in beginning for beginning in beginnings)
    for _, words in LICENCES.values():
        assert any(beginning.startswith(words) for beginning in beginnings), words
    for notice in (DATA / "DIGITS_LICENSE.md", DATA / "bundled" / "LICENSES.md"):
        assert str(notice.relative_to(ROOT)) in texts


@pytest.mark.parametrize("notice", ["DIGITS_LICENSE.md", "bundled/LICENSES.md"])
def test_the_texts_that_a_notice_names_lie_where_it_says(notice: str) -> None:
    named = re.findall(r"whose text is in\s+`([^`]+)`", (DATA / notice).read_text(encoding="utf-8"))
    assert named
    for name in named:
        assert ((DATA / notice).parent / name).is_file()


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
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
