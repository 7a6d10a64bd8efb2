"""What importing costs, what every public name says of itself, and what scripts import."""

import ast
import inspect
import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import demele
from demele import bins, classifiers, data, explain, lab, labels, metrics, probes
from demele.classifiers import stats
from demele.metrics.catalogue import FILES
from tests.architecture.arrows import modules_of
from tools.count_lines import LONG, modules

ROOT = Path(demele.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
#: Each module once read: rules list all their offenders.
TREES = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}

#: These, and everything that they would bring, are imported where they are used.
HEAVY = {
    *("scipy", "sklearn", "pandas", "polars", "narwhals", "matplotlib", "rich", "joblib"),
    *("cleanlab", "torch", "captum", "keras", "dask", "h5py", "PIL"),
}


def is_for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the modules that importing this one imports."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for alias in node.names:  # "from demele import x" may import the module demele.x
                yield (f"{node.module}.{alias.name}" if node.module == "demele" else str(node.module)), node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or is_for_types_only(node):
            continue
        else:
            yield from imported(node)


def test_modules_import_only_numpy_and_the_standard_library() -> None:
    known = {"demele", "numpy", *sys.stdlib_module_names}
    found = [
        f"{own}:{line}: {name} at module level"
        for own, tree in TREES.items()
        for name, line in imported(tree)
        if name.partition(".")[0] not in known
    ]
    assert not found, "\n".join(found)


def modules_after(program: str) -> set[str]:
    """Names of the top-level modules that a fresh interpreter holds after a program."""
    code = f"{program}\nimport json, sys\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_costs_no_more_than_numpy() -> None:
    assert not HEAVY & modules_after("import demele")


def test_a_histogram_metric_needs_no_predictors() -> None:
    found = modules_after(
        "import numpy as np, demele\n"
        "v = np.random.default_rng(0).random((5000, 2))\n"
        "demele.metrics.mig(v, demele.Factors(v, kinds='continuous'))"
    )
    assert not found & {"sklearn", "torch", "keras", "dask", "joblib"}


# What public names say -----------------------------------------------------------------------------------------------

PUBLIC = {name: getattr(demele, name) for name in demele.__all__}
IN_ROOMS = {
    f"{room.__name__.rpartition('.')[2]}.{name}": getattr(room, name)
    for room in (
        demele.bench,
        demele.classifiers,
        demele.explain,
        demele.labels,
        demele.lab,
        demele.metrics,
        demele.probes,
    )
    for name in room.__all__
    if not isinstance(getattr(room, name), ModuleType)
}
#: They take whatever matrix NumPy makes of their argument.
OF_MATRICES = {
    f"metrics.{name}"
    for name in ("dci_compactness", "dci_modularity", "mig_from_information", "modularity_from_information")
}
FUNCTIONS = {name: thing for name, thing in (PUBLIC | IN_ROOMS).items() if inspect.isfunction(thing)}
CLASSES = {name: thing for name, thing in (PUBLIC | IN_ROOMS).items() if inspect.isclass(thing)}


def test_all_public_names_are_of_a_known_kind() -> None:
    rest = {name for name, thing in PUBLIC.items() if not isinstance(thing, ModuleType)} - set(FUNCTIONS) - set(CLASSES)
    assert rest == {"__version__"}
    assert set(FUNCTIONS) | set(CLASSES) >= set(IN_ROOMS)
    assert len(set(demele.__all__)) == len(demele.__all__)
    assert dir(demele) == sorted(demele.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = demele.nonsense


def test_public_classes_are_documented() -> None:
    assert not [name for name, thing in CLASSES.items() if len(inspect.getdoc(thing) or "") <= 20]


def sections(thing: object) -> set[str]:
    """Headings of a docstring: lines that are underlined."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    return {line for line, under in itertools.pairwise(lines) if under and set(under) == {"-"}}


def test_public_functions_say_what_they_take_return_and_refuse() -> None:
    for name in FUNCTIONS:
        function = FUNCTIONS[name]
        parameters = inspect.signature(function).parameters
        raises = set() if name in OF_MATRICES else {"Raises"}
        wanted = {"Examples"} | ({"Parameters", "Returns", *raises} if parameters else set())
        assert wanted <= sections(function)
        text = inspect.getdoc(function) or ""
        told = text.partition("Parameters\n")[2].partition("Returns\n")[0]
        for parameter in parameters.values():
            assert parameter.name in told, f"{parameter.name} is not documented"
        assert ">>>" in text


def test_no_module_prints_or_asserts() -> None:
    found: list[str] = []
    for own, tree in TREES.items():
        forbidden = {"eval", "exec", "hash"} | (set() if own.startswith("cli/") else {"print"})
        own_hash = {  # a hash that Python asks for, and no seed and no key
            call for node in ast.walk(tree) if getattr(node, "name", "") == "__hash__" for call in ast.walk(node)
        }
        if not ast.get_docstring(tree):
            found.append(f"{own}: does not say what it holds")
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert):
                found.append(f"{own}:{node.lineno}: mistakes of users are errors")
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in forbidden
                and node not in own_hash
            ):
                found.append(f"{own}:{node.lineno}: {node.func.id}")
    assert not found, "\n".join(found)


def test_no_module_draws_from_a_global_generator() -> None:
    found = [
        f"{own}:{node.lineno}: {node.attr}"
        for own, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "np.random"
        if node.attr not in ("Generator", "default_rng")
    ]
    assert not found, "\n".join(found)


def test_files_are_short() -> None:
    files = modules("src/demele")
    found = {one.path.relative_to("src/demele").as_posix() for one in files if len(one.text.splitlines()) > LONG}
    assert not found, f"more than {LONG} lines: split by sense"


SCRIPTS = sorted(path for folder in ("benchmarks", "tools") for path in (ROOT.parents[1] / folder).rglob("*.py"))
FILES_OF = modules_of(ROOT.parent)


@cache
def names_of(module: str) -> set[str]:
    """Names that a module binds, read off its text: to import some of them would take long."""
    if module == "demele":  # its names are found when they are asked for
        return set(dir(demele))
    tree = ast.parse(FILES_OF[module].read_text(encoding="utf-8"))
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name for alias in node.names}
    return bound | {name.rpartition(".")[2] for name in FILES_OF if name.rpartition(".")[0] == module}


def test_what_a_script_imports_of_demele_is_there() -> None:
    for path in SCRIPTS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "demele":
                missing = {alias.name for alias in node.names} - names_of(str(node.module))
                assert not missing, f"line {node.lineno}: {node.module} has no {missing}"


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
