"""What is demanded of a metric beside its own file: an oracle, a case worked by hand, and a line in the changelog.

Tests say which metrics they are about by a mark: ``@pytest.mark.oracle("mig")`` where its numbers are compared to an
independent computation (one of ``tests/oracles``, another library, published code or values), and
``@pytest.mark.worked("mig")`` where they are compared to a number that was worked out by hand and is neither 0 nor 1.
"""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

import demele

ROOT = Path(__file__).parents[2]


def marked() -> dict[str, dict[str, list[str]]]:
    """Return the tests that carry each mark, by metric."""
    found: dict[str, dict[str, list[str]]] = {"oracle": defaultdict(list), "worked": defaultdict(list)}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
                continue
            for call in node.decorator_list:
                kind = ast.unparse(call.func).removeprefix("pytest.mark.") if isinstance(call, ast.Call) else ""
                if isinstance(call, ast.Call) and kind in found:
                    for name in ast.literal_eval(ast.Tuple(call.args, ast.Load())):
                        found[kind][name].append(f"{path.relative_to(ROOT).as_posix()}::{node.name}")
    return found


MARKED = marked()


@pytest.mark.parametrize("kind", MARKED)
def test_every_metric_has_a_test_of_each_kind(kind: str) -> None:
    names = demele.list_metrics()
    lacking = [name for name in names if name not in MARKED[kind]]
    assert not lacking, f"no test is marked @pytest.mark.{kind}(...) for {', '.join(lacking)}"
    unknown = sorted(set(MARKED[kind]) - set(names))
    assert not unknown, f"unknown metric {', '.join(unknown)}"
