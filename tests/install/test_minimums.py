"""``make test-oldest`` installs ``constraints-oldest.txt``: these are the minimums that ``pyproject.toml`` declares."""

import ast
import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: Extras of those who work on demele: their tools need not be old.
TOOLS = {"docs", "dev"}
#: What is run in another version than its minimum, and why.
NOT_RUN = {"torch": "any other release than that of constraints.txt is a download of gigabytes"}


def pins(name: str) -> dict[str, str]:
    lines = re.findall(r"^([^#=\s]+)==([^#\s]+)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    assert len({canonicalize_name(package) for package, _ in lines}) == len(lines), f"{name}: a package stands twice"
    return {canonicalize_name(package): version for package, version in lines}


def declared() -> list[Requirement]:
    """What the package and its extras need, without what refers to an extra of the package itself."""
    extras = {name: lines for name, lines in PROJECT["optional-dependencies"].items() if name not in TOOLS}
    lines = [*PROJECT["dependencies"], *(line for extra in extras.values() for line in extra)]
    return [requirement for requirement in map(Requirement, lines) if requirement.name != "demele"]


@pytest.mark.parametrize("requirement", declared(), ids=lambda requirement: requirement.name)
def test_the_oldest_version_that_is_run_is_the_minimum(requirement: Requirement) -> None:
    (minimum,) = requirement.specifier
    assert minimum.operator == ">="
    run = pins("constraints-oldest.txt")[canonicalize_name(requirement.name)]
    if requirement.name in NOT_RUN:
        assert run == pins("constraints.txt")[requirement.name]
    else:
        assert Version(run) == Version(minimum.version)


def test_the_parts_of_dask_are_of_one_release() -> None:
    oldest = pins("constraints-oldest.txt")
    assert oldest["distributed"] == oldest["dask"]


def test_whatever_is_imported_is_declared() -> None:
    # a package that comes with another one has no minimum of its own, and may go when that one changes
    homes = importlib.metadata.packages_distributions()
    declares = {canonicalize_name(requirement.name) for requirement in declared()} | {"demele"}
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("require", "import_module")):
                names = [str(part.value) for part in node.args[:1] if isinstance(part, ast.Constant)]
            else:
                continue
            for name in names:
                top = name.partition(".")[0]
                if top not in sys.stdlib_module_names and top in homes:
                    found = {canonicalize_name(home) for home in homes[top]}
                    assert found & declares, (
                        f"{path.relative_to(ROOT)}:{node.lineno} imports {top}, which is not declared"
                    )
