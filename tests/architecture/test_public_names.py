"""Public names: few at the top, each in one module, seen by type checkers; old ones are refused with the new one."""

import ast
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

import demele
from demele import bins, classifiers, data, explain, lab, labels, metrics, probes
from demele.classifiers import stats
from demele.metrics.catalogue import FILES
from tests.refusals import refuses


def test_a_newcomer_meets_few_names() -> None:
    assert len(demele.__all__) <= 40


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mig", "demele.metrics.mig"),
        ("dci_lasso_modularity", "demele.metrics.dci(codes, factors, model='lasso').modularity"),
        ("downstream", "demele.probes.downstream"),
        ("Frame", "demele.bins.BinEdges"),
        ("InputError", "demele.errors.InputError"),
        ("register", "demele.register_metric"),
        ("evaluation", "demele.classifiers"),
    ],
)
def test_an_old_name_is_refused_with_the_new_one(old: str, new: str) -> None:
    refuses(AttributeError, re.escape(new), getattr, demele, old)


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        (data, "demo", "demele.data.load_example"),
        (data, "label_set", "demele.data.load_example"),
        (data, "crowd_set_names", "demele.data.example_names"),
        (classifiers, "rank_scores", "demele.classifiers.rank"),
        (classifiers, "judge_scores", "demele.classifiers.rank, compare or assess"),
        (labels, "add_model_noise", "demele.labels.add_noise(kind='model')"),
    ],
)
def test_an_old_name_of_a_module_is_refused_with_the_new_one(module: ModuleType, old: str, new: str) -> None:
    refuses(AttributeError, f"{re.escape(old)} has a new name: {re.escape(new)}", getattr, module, old)


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
