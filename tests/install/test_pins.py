"""The pinned versions can be installed on every Python that is promised, and nothing is left to chance.

These are tests of the environment that ``make test`` installs.
"""

import importlib.metadata

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name

from tests.install.test_minimums import pins

#: The first release of the oldest Python that demele promises; Debian's was 3.11.2 for years.
OLDEST_PYTHON = "3.11.0"
PINS = {canonicalize_name(name): version for name, version in pins("constraints.txt").items()}
INSTALLED = {
    canonicalize_name(distribution.metadata["Name"]): distribution
    for distribution in importlib.metadata.distributions()
}
#: Their builds for graphics cards bring packages of their own, which they pin themselves.
PIN_THEIR_OWN = {canonicalize_name("torch"), canonicalize_name("jaxlib")}


def needed(name: NormalizedName, extras: set[str]) -> set[NormalizedName]:
    """Names of the requirements of an installed distribution on the oldest Python."""
    environments = [
        {"python_version": "3.11", "python_full_version": OLDEST_PYTHON, "extra": extra} for extra in extras | {""}
    ]
    names: set[NormalizedName] = set()
    for line in INSTALLED[name].requires or []:
        requirement = Requirement(line)
        if requirement.marker is None or any(map(requirement.marker.evaluate, environments)):
            names.add(canonicalize_name(requirement.name))
    return names


def everything_needed() -> set[NormalizedName]:
    """Names of all that ``demele[dev]`` brings, directly or not."""
    found: set[NormalizedName] = set()
    new = needed(canonicalize_name("demele"), {"dev"})
    while new:
        found |= new
        new = set().union(*(needed(name, set()) for name in new & set(INSTALLED) - PIN_THEIR_OWN)) - found
    return found - {canonicalize_name("demele")}


@pytest.mark.parametrize("name", sorted(set(PINS) & set(INSTALLED)))
def test_a_pinned_version_admits_the_oldest_python(name: NormalizedName) -> None:
    distribution = INSTALLED[name]
    assert distribution.version.partition("+")[0] == PINS[name], "constraints.txt is not what is installed: make clean"
    asked = distribution.metadata["Requires-Python"]
    assert asked is None or OLDEST_PYTHON in SpecifierSet(asked), f"{name} {PINS[name]} needs Python {asked}"


def test_what_is_installed_is_pinned() -> None:
    assert len(set(PINS) & set(INSTALLED)) > 90  # so that the test above is one
    assert sorted(everything_needed() - set(PINS)) == []
