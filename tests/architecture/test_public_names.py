"""Public names: few at the top, each in one module, seen by type checkers."""

import ast
import inspect
from pathlib import Path
from types import ModuleType

import pytest

import demele
from demele import bins, classifiers, data, explain, lab, labels, metrics, probes
from demele.classifiers import stats
from demele.metrics.catalogue import FILES


def test_a_newcomer_meets_few_names() -> None:
    assert len(demele.__all__) <= 40


def test_every_metric_has_its_function_among_the_metrics() -> None:
    assert {name for name in FILES if not name.startswith("dci_")} <= set(metrics.__all__)


@pytest.mark.parametrize(
    "module",
    [demele, bins, classifiers, data, explain, lab, labels, metrics, probes, stats],
    ids=lambda module: module.__name__,
)
def test_type_checkers_see_the_names_that_a_module_has(module: ModuleType) -> None:
    tree = ast.parse(Path(inspect.getfile(module)).read_text(encoding="utf-8"))
    imports = [
        node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module != "demele.core.lazy"
    ]
    seen = {alias.asname or alias.name for node in imports for alias in node.names} - {"TYPE_CHECKING", "Any"}
    assert seen == set(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)
