"""Count the lines of Python: code by room, files, functions, and how short functions are.

``python -m tools.count_lines`` counts ``src``, ``tools`` with ``benchmarks``, and ``tests``. Code is every line that is
no blank line, comment or docstring.

>>> code_lines('\"\"\"What it holds.\"\"\"\\n\\n# why\\nx = 1\\n')
1
"""

import argparse
import ast
import io
import statistics
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: A file of more lines than this wants to be two.
LONG = 800
#: What is counted together: the folders, and how many parts of a path name a room.
TREES = {"src": (("src/demele",), 1), "tools and benchmarks": (("tools", "benchmarks"), 0), "tests": (("tests",), 1)}
_NOT_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
    tokenize.ENCODING,
}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One file: its path below the root, text, tree and lines of code."""

    path: Path
    text: str
    tree: ast.Module
    code: int

    def functions(self) -> Iterator[_Function]:
        """Yield all functions and methods."""
        return (node for node in ast.walk(self.tree) if isinstance(node, _Function))


def code_lines(text: str) -> int:
    """Return the number of lines that hold code: no blank line, comment or docstring."""
    return len(_code(text, ast.parse(text)))


def _code(text: str, tree: ast.Module) -> set[int]:
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NOT_CODE:
            found |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | _Function) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and first.end_lineno:
                found -= set(range(first.lineno, first.end_lineno + 1)) if isinstance(first.value.value, str) else set()
    return found


def modules(*folders: str) -> list[Module]:
    """Return the files of some folders."""
    found = []
    for path in (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        found.append(Module(path.relative_to(ROOT), text, tree, len(_code(text, tree))))
    return found


def body_lengths(module: Module) -> list[int]:
    """Return the lines of code in the body of each function: neither its signature nor its docstring."""
    code = _code(module.text, module.tree)
    bodies = [range(node.body[0].lineno, (node.end_lineno or 0) + 1) for node in module.functions()]
    return [max(1, sum(line in code for line in body)) for body in bodies]


def used_once(found: list[Module]) -> list[str]:
    """Return the private functions whose name occurs once in all files besides its definition, as ``path:name``."""
    names = Counter(t.string for one in found for t in tokenize.generate_tokens(io.StringIO(one.text).readline))
    return [
        f"{one.path.as_posix()}:{node.name}"
        for one in found
        for node in one.functions()
        if node.name.startswith("_") and not node.name.startswith("__") and names[node.name] == 2
    ]


def main() -> None:
    """Print the tables, and the longest files of each tree."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--once", action="store_true", help="list the private functions that are used once")
    listed = parser.parse_args().once
    for title, (folders, depth) in TREES.items():
        found = modules(*folders)
        rooms: dict[str, list[Module]] = {}
        for module in found:
            folder = next(Path(one) for one in folders if module.path.is_relative_to(one))
            parts = module.path.relative_to(folder).parts
            rooms.setdefault(parts[0] if depth and len(parts) > 1 else folder.name, []).append(module)
        print(f"{title}\n{'room':<22} {'code':>7} {'files':>6}")
        for room, own in sorted(rooms.items(), key=lambda item: -sum(one.code for one in item[1])):
            print(f"{room:<22} {sum(one.code for one in own):>7} {len(own):>6}")
        lengths = [length for module in found for length in body_lengths(module)]
        once = used_once(found)
        print(f"{'all':<22} {sum(one.code for one in found):>7} {len(found):>6}")
        print(
            f"{len(lengths)} functions, bodies of one line {100 * lengths.count(1) / len(lengths):.1f} %, median body "
            f"{statistics.median(lengths):g} lines, private functions used once: {len(once)}"
        )
        longest = sorted(((len(one.text.splitlines()), one.path.name) for one in found), reverse=True)
        print(f"files of more than {LONG} lines: {sum(n > LONG for n, _ in longest)}; longest: {longest[0]}\n")
        if listed:
            print(*once, sep="\n", end="\n\n")


if __name__ == "__main__":
    main()
