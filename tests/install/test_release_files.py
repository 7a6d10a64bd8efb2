"""Files of a release say the same: version, requirements, licences; and workflows name actions by hashes."""

import json
import re
import tomllib
from pathlib import Path

import pytest

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
