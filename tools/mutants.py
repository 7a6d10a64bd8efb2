"""Does the suite find faults? Random one-line faults go into a copy of the code, and the tests that run the line run.

``python -m tools.mutants map`` runs the suite once and keeps which test runs which line (this needs the package
coverage, which nothing else of ours does). ``run`` draws faults by a seed, in fixed numbers per group of rooms, and
adds a line for each to ``mutants.jsonl``: killed, survived or timeout; it goes on where it was stopped. ``show`` prints
the share that was killed, and what survived. The working tree is never touched: all happens in a copy of a commit.

A fault that no test can see, because the code does the same with it, counts as survived: compare shares of two
versions of the code, and read the survivors.
"""

import argparse
import ast
import copy
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

#: Groups of rooms, and how many of 300 faults go into each: about their share of the lines that can be changed.
STRATA: dict[str, tuple[tuple[str, ...], int]] = {
    "metrics": (("metrics", "scoring"), 50),
    "estimation": (("estimation",), 52),
    "streaming": (("streaming", "outofcore"), 49),
    "labels": (("labels", "noise"), 67),
    "classifiers": (("classifiers",), 82),
}
#: Tests of pages, programs and long simulations, and those that compare with kept results or read the source.
LEFT_OUT = (
    *("tests/golden", "tests/install", "tests/fuzz", "tests/architecture", "tests/docs", "tests/report"),
    *("tests/adapters", "tests/statistical", "tests/outofcore/test_dask.py"),
    *("tests/models", "tests/studies", "tests/data"),  # no room of STRATA is theirs
    *("tests/cli/test_kills.py", "tests/runtime"),
)
#: Seconds of tests, as measured when the map was made, that a fault is shown to at most.
BUDGET = 25.0
_QUIET = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=no")


@dataclass(frozen=True, order=True)
class Mutant:
    """One line changed."""

    number: int
    room: str
    file: str
    line: int
    kind: str
    was: str
    now: str
    source: str = ""


# Faults -----------------------------------------------------------------------------------------------------------

#: What an operator becomes: one of these.
_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
#: Flipping these changes nothing that a test could see, or only speed.
_KEYWORDS_LEFT = {
    "strict",
    "copy",
    "dtype",
    "stacklevel",
    "check_finite",
    "assume_unique",
    "slots",
    "kw_only",
    "frozen",
}


def sites(source: str) -> dict[int, list[tuple[str, str, str, str]]]:
    """Return what can be changed on each line: kind, was, is, the changed line."""
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    found: dict[int, list[tuple[str, str, str, str]]] = defaultdict(list)
    for node, kind, replaced in _changes(tree):
        if node.lineno != node.end_lineno or node.end_col_offset is None:
            continue
        raw = lines[node.lineno - 1].encode()
        was = raw[node.col_offset : node.end_col_offset].decode()
        line = raw[: node.col_offset] + replaced.encode() + raw[node.end_col_offset :]
        found[node.lineno].append((kind, was, replaced, line.decode()))
    return found


def _changes(tree: ast.Module) -> Iterator[tuple[Any, str, str]]:
    """Yield nodes, the kind of the change, and the text in their place."""
    for node in _code(tree):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            for operator in _COMPARED.get(type(node.ops[0]), ()):
                yield node, "comparison", _text(node, ops=[operator()])
        elif isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED and not _is_text(node):
            yield node, "arithmetic", _text(node, op=_COMPUTED[type(node.op)]())
        elif isinstance(node, ast.BoolOp):
            yield node, "and/or", _text(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node, "not", f"({ast.unparse(node.operand)})"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield node, "sign", f"({ast.unparse(node.operand)})"
        elif isinstance(node, ast.If | ast.IfExp | ast.While) and isinstance(
            node.test, ast.Name | ast.Call | ast.Attribute
        ):
            yield node.test, "not", f"(not {ast.unparse(node.test)})"
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, bool):
                yield node, "option", repr(not node.value)
            elif isinstance(node.value, int | float) and node.value == node.value:
                yield node, "constant", repr(node.value + 1)
                if node.value > 0:
                    yield node, "constant", f"({node.value - 1!r})"
        elif isinstance(node, ast.keyword) and node.arg == "axis" and isinstance(node.value, ast.Constant):
            yield node.value, "axis", "1" if node.value.value == 0 else "0"
        elif isinstance(node, ast.Slice) and (node.lower is None) != (node.upper is None) and node.step is None:
            yield node, "slice", ":"
        elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
            yield node, "return", "return None"
        elif (
            isinstance(node, ast.AugAssign | ast.Raise)
            or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
            or (
                isinstance(node, ast.Assign)
                and all(isinstance(one, ast.Subscript | ast.Attribute) for one in node.targets)
            )
        ):
            yield node, "dropped", "pass"


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """Go through what is executed: no annotations, docstrings, decorators, messages or lists of names."""
    yield node
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr | ast.Import | ast.ImportFrom):
                continue
            if isinstance(child, ast.Raise):
                yield child
                continue
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            if isinstance(child, ast.Assign) and isinstance(child.targets[0], ast.Name):
                name = child.targets[0].id
                alias = isinstance(child.value, ast.Subscript | ast.BinOp) and name.strip("_")[:1].isupper()
                if name.startswith("__") or (alias and isinstance(node, ast.Module) and not name.isupper()):
                    continue
            if isinstance(child, ast.keyword) and child.arg in _KEYWORDS_LEFT:
                continue
            yield from _code(child)


def _text(node: Any, **fields: Any) -> str:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return f"({ast.unparse(changed)})"


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(one, ast.JoinedStr | ast.List | ast.Tuple)
        or (isinstance(one, ast.Constant) and isinstance(one.value, str))
        for one in (node.left, node.right)
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_another(changed: str, source: str) -> bool:
    """Whether it is Python, and other Python."""
    try:
        return ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


def drawn(tree: Path, count: int, seed: int) -> list[Mutant]:
    """Draw faults: lines uniformly within each group of rooms, then a change of the line; groups take turns."""
    found: list[list[Mutant]] = []
    for stratum, (rooms, quota) in STRATA.items():
        rng = random.Random(f"{seed}/{stratum}")
        files = sorted(path for room in rooms for path in (tree / "src/demele" / room).rglob("*.py"))
        by_file = {path: sites(path.read_text()) for path in files}
        lines = [(path, line) for path, own in by_file.items() for line in sorted(own)]
        rng.shuffle(lines)
        own = []
        for path, line in lines:
            if len(own) == round(quota * count / 300):
                break
            kind, was, now, changed = rng.choice(by_file[path][line])
            whole = path.read_text().splitlines(keepends=True)
            source = "".join([*whole[: line - 1], changed, *whole[line:]])
            if _is_another(source, "".join(whole)):
                own.append(Mutant(0, stratum, str(path.relative_to(tree)), line, kind, was, now, source))
        found.append(own)
    # so that a run that is stopped early has every group in its share
    order = sorted(
        ((place + 0.5) / len(own), index, one) for index, own in enumerate(found) for place, one in enumerate(own)
    )
    return [Mutant(**{**asdict(one), "number": number}) for number, (_, _, one) in enumerate(order)]


# A copy of the code -----------------------------------------------------------------------------------------------


def copied(tree: Path, commit: str) -> Path:
    """Return a folder with the files of a commit."""
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    packed = subprocess.run(["git", "-C", str(tree), "archive", commit], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def _enter(folder: Path) -> None:
    """Make this process, and those that it starts, import from the copy."""
    os.chdir(folder)
    sys.path[:] = [
        str(folder / "src"),
        *(path for path in sys.path if path not in ("", str(Path(__file__).parents[1]))),
    ]
    sys.dont_write_bytecode = True  # a stale one of the same size and second would hide a fault
    os.environ |= {"PYTHONDONTWRITEBYTECODE": "1"}
    os.environ |= {"PYTHONPATH": str(folder / "src"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


# Which test runs which line ------------------------------------------------------------------------------------------


class _Watching:
    """Tells coverage which test runs, and keeps how long each takes and whether it passes."""

    def __init__(self, measured: Any) -> None:
        self.measured = measured
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.measured.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.outcome != "passed":
            self.failed.add(report.nodeid)

    def pytest_runtest_logfinish(self) -> None:
        self.measured.switch_context("")


def make_map(tree: Path, commit: str, out: Path, paths: list[str]) -> None:
    """Run the suite once under coverage, and keep which test runs which line of the rooms."""
    import coverage
    import pytest

    found = subprocess.run(["git", "-C", str(tree), "rev-parse", commit], check=True, capture_output=True, text=True)
    commit = found.stdout.strip()  # HEAD is another one when the faults are put in
    folder = copied(tree, commit)
    _enter(folder)
    rooms = [f"src/demele/{room}/*" for names, _ in STRATA.values() for room in names]
    measured = coverage.Coverage(data_file=str(out / "coverage"), include=rooms, config_file=False)
    measured.start()
    watching = _Watching(measured)
    ignored = [f"--ignore={path}" for path in LEFT_OUT]
    pytest.main([*_QUIET, *ignored, *(paths or ["tests", "src"])], plugins=[watching])
    measured.stop()
    measured.save()
    data = measured.get_data()
    tests = sorted(test for test in watching.seconds if test not in watching.failed)
    number = {test: index for index, test in enumerate(tests)}
    lines: dict[str, dict[int, list[int]]] = {}
    for file in data.measured_files():
        name = str(Path(file).relative_to(folder))
        lines[name] = {
            line: sorted(number[test] for test in own if test in number)
            for line, own in data.contexts_by_lineno(file).items()
        }
    about = {"commit": commit, "tests": tests, "seconds": [round(watching.seconds[test], 4) for test in tests]}
    (out / "map.json").write_text(json.dumps({**about, "failed": sorted(watching.failed), "lines": lines}))
    shutil.rmtree(folder)


# Running ----------------------------------------------------------------------------------------------------------


def _ordered(mutant: Mutant, about: Mapping[str, Any], share: Mapping[int, float]) -> list[int]:
    """Tests that run the line, those of the module first, then the quickest, within the budget."""
    lines = about["lines"].get(mutant.file, {})
    tests = lines.get(str(mutant.line), [])
    stem = Path(mutant.file).stem

    def distance(test: int) -> tuple[int, float]:
        name = about["tests"][test]
        own = name.startswith(mutant.file) or stem in Path(name.partition("::")[0]).stem
        return (0 if own else 1 if share[test] > 0.2 else 2), about["seconds"][test]

    chosen, total = [], 0.0
    for test in sorted(tests, key=distance):
        total += about["seconds"][test]
        if total > BUDGET and chosen:
            break
        chosen.append(test)
    return chosen


def tried(folder: Path, tests: list[str], seconds: float) -> tuple[str, str]:
    """Run tests in a process of their own until one fails; return what became of the fault, and which test saw it."""
    if not tests:
        return "survived", ""
    chosen = folder / "chosen.txt"
    chosen.write_text("\n".join(tests))
    command = [sys.executable, "-m", "pytest", "-x", "-rf", *_QUIET, f"@{chosen}"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=90 + 15 * seconds)
    except subprocess.TimeoutExpired:
        return "timeout", ""
    if done.returncode == 0:
        return "survived", ""
    return "killed", next((line.split()[1] for line in done.stdout.splitlines() if line.startswith("FAILED ")), "")


def run(tree: Path, out: Path, count: int, seed: int) -> None:
    """Put faults in, one after the other, and write down what became of each."""
    about = json.loads((out / "map.json").read_text())
    folder = copied(tree, about["commit"])
    _enter(folder)
    kept = out / "mutants.jsonl"
    done = {json.loads(line)["number"] for line in kept.read_text().splitlines()} if kept.exists() else set()
    totals = Counter(test for lines in about["lines"].values() for tests in lines.values() for test in tests)
    some = about["tests"][:: max(1, len(about["tests"]) // 40)]
    if tried(folder, some, sum(about["seconds"]))[0] != "survived":
        raise SystemExit("the tests fail on the code as it is: make the map again")
    for mutant in drawn(folder, count, seed):
        if mutant.number in done:
            continue
        own = Counter(test for tests in about["lines"].get(mutant.file, {}).values() for test in tests)
        order = _ordered(mutant, about, {test: one / totals[test] for test, one in own.items()})
        path = folder / mutant.file
        original, started = path.read_text(), time.monotonic()
        path.write_text(mutant.source)
        try:
            tests = [about["tests"][test] for test in order]
            status, by = tried(folder, tests, sum(about["seconds"][test] for test in order))
        finally:
            path.write_text(original)
        line = {key: value for key, value in asdict(mutant).items() if key != "source"}
        line |= {"status": status, "by": by, "tests": len(order), "seconds": round(time.monotonic() - started, 1)}
        with kept.open("a") as file:
            file.write(json.dumps(line) + "\n")
    shutil.rmtree(folder)


def show(out: Path, *, whole: bool) -> None:
    """Print the share that was found, by group of rooms, and what survived."""
    found = [json.loads(line) for line in (out / "mutants.jsonl").read_text().splitlines()]
    for room in (*STRATA, ""):
        own = [one for one in found if room in ("", one["room"])]
        if own:
            seen = sum(one["status"] != "survived" for one in own)
            print(f"{room or 'all':11} {seen:3} of {len(own):3} found, {100 * seen / len(own):.1f} %")
    survived = [one for one in found if one["status"] == "survived"]
    print(f"of the survivors, {sum(one['tests'] == 0 for one in survived)} are on lines that no test runs")
    if whole:
        for one in sorted(survived, key=lambda one: (one["file"], one["line"])):
            print(f"{one['file']}:{one['line']}: {one['kind']}: {one['was']}  ->  {one['now']}  ({one['tests']} tests)")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("action", choices=("map", "run", "show"))
    parser.add_argument("--out", type=Path, required=True, help="a folder for the map and the results")
    parser.add_argument("--tree", type=Path, default=Path(), help="a clone")
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--survivors", action="store_true", help="show: list them")
    parser.add_argument("--paths", nargs="*", default=[], help="map: tests to run, all by default")
    given = parser.parse_args()
    out, tree = given.out.resolve(), given.tree.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if given.action == "map":
        make_map(tree, given.commit, out, given.paths)
    elif given.action == "run":
        run(tree, out, given.count, given.seed)
    else:
        show(out, whole=given.survivors)


if __name__ == "__main__":
    main()
