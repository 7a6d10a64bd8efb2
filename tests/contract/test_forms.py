"""A metric is one decorated formula: its public function has the formula's options, and imports its own file only.

Tests say which metrics they are about by a mark: ``pytest.mark.oracle("mig")`` where its numbers are compared to an
independent computation (one of ``tests/oracles``, another library, published code or values), and
``pytest.mark.worked("mig")`` where they are compared to a number that was worked out by hand and is neither 0 nor 1.
"""

import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import demele
from demele.metrics.catalogue import CATALOGUE, FILES
from demele.metrics.options import RunOptions

GOLDEN = Path(__file__).with_name("signatures.txt")
PUBLIC = [name for name in FILES if hasattr(demele.metrics, name)]


def signatures() -> str:
    """Every metric with the data that its function takes, and its options with their defaults, one a line."""
    lines = []
    for name, metric in CATALOGUE.ours().items():
        shown = inspect.signature(metric.call)
        assert shown.parameters["run"].annotation.__args__ == (RunOptions,)
        own = [str(one.replace(annotation=one.empty)) for one in shown.parameters.values() if one.name != "run"]
        assert set(metric.options) == {one.name for one in shown.parameters.values() if one.kind is one.KEYWORD_ONLY}
        lines.append(f"{name}({', '.join(own)})\n")
    return "".join(lines)


def test_signatures_are_those_that_were_written_down() -> None:
    assert signatures() == GOLDEN.read_text(encoding="utf-8"), "python -m tests.contract.test_forms writes them again"


@pytest.mark.parametrize("name", PUBLIC)
def test_functions_and_formulas_are_found_by_processes(name: str) -> None:
    function, formula = getattr(demele.metrics, name), CATALOGUE[name].formula
    assert pickle.loads(pickle.dumps(function)) is function
    assert pickle.loads(pickle.dumps(formula)) is formula
    assert function.__doc__


def test_a_metric_is_imported_alone() -> None:
    asked = "import sys, demele; demele.metrics.mig; demele.metrics.describe('MIG-sup'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    files = {name.removeprefix("demele.metrics.") for name in loaded}
    assert files & set(FILES.values()) == {"information.gaps"}


@pytest.mark.parametrize("kind", ["oracle", "worked"])
def test_every_metric_has_a_test_of_each_kind(kind: str) -> None:
    texts = [path.read_text(encoding="utf-8") for path in GOLDEN.parents[1].rglob("test_*.py")]
    marks = [mark for text in texts for mark in re.findall(rf"^@pytest\.mark\.{kind}\(([^)]*)\)", text, re.MULTILINE)]
    assert {name for mark in marks for name in re.findall(r'"(\w+)"', mark)} == set(demele.list_metrics())


if __name__ == "__main__":
    GOLDEN.write_text(signatures(), encoding="utf-8")
