"""Scripts beside the package, which no type checker reads, import what there is."""

import ast
from functools import cache
from pathlib import Path

import demele
from tests.architecture.arrows import modules_of

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(path for folder in ("benchmarks", "tools") for path in (ROOT / folder).rglob("*.py"))
MODULES = modules_of(Path(demele.__file__).parents[1])


@cache
def names_of(module: str) -> set[str]:
    """Names that a module binds, read off its text: to import some of them would take long."""
    if module == "demele":  # its names are found when they are asked for
        return set(dir(demele))
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name for alias in node.names}
    return bound | {name.rpartition(".")[2] for name in MODULES if name.rpartition(".")[0] == module}


def test_what_a_script_imports_of_demele_is_there() -> None:
    for path in SCRIPTS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "demele":
                missing = {alias.name for alias in node.names} - names_of(str(node.module))
                assert not missing, f"line {node.lineno}: {node.module} has no {missing}"
