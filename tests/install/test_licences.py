"""The package says under which licences it is: that of the code, and those of all data that it brings."""

import re
import tomllib
from pathlib import Path

import pytest

import demele

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
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
