"""Which file of demele reaches which: by import, for types only, or by the name of a module in a string."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import connected_components

#: Strings that could name a module: at least one dot, and nothing but names between dots.
DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


def modules_of(root: Path) -> dict[str, Path]:
    """The files below ``root/demele`` by the dotted name of their module; a package is its ``__init__``."""
    named = {}
    for path in sorted((root / "demele").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named


def room_of(module: str) -> str:
    """Name of the room that a module is in; "" for the front door."""
    return module.split(".")[1] if "." in module else ""


def arrows_of(text: str, known: set[str], *, types: bool = True) -> Iterator[tuple[str, int]]:
    """Yield the modules among ``known`` that a source text reaches, each with its line; for types only if asked."""
    tree = ast.parse(text)
    if not types:
        tree.body = [
            part
            for node in tree.body
            for part in (node.orelse if isinstance(node, ast.If) and "TYPE_CHECK" in ast.unparse(node.test) else [node])
        ]
    sentences = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:  # "from demele import data" imports a module, "from demele import mig" does not
                whole = f"{node.module}.{alias.name}"
                found = whole if whole in known else str(node.module)
                if found in known:
                    yield found, node.lineno
        elif isinstance(node, ast.JoinedStr):
            pattern = "".join(
                re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"[\w.]+" for part in node.values
            )
            if pattern.startswith("demele\\."):
                yield from ((module, node.lineno) for module in known if re.fullmatch(pattern, module))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in sentences | parts:
            yield from ((module, node.lineno) for module in named_in(node.value, known))


def named_in(text: str, known: set[str]) -> Iterator[str]:
    """Yield the module that a string names: whole, without "demele." before it, or with a name of its own after it."""
    if not DOTTED.fullmatch(text.replace(":", ".")):
        return
    for candidate in (text, f"demele.{text}", text.partition(":")[0], text.rpartition(".")[0]):
        if candidate in known and "." in candidate:
            yield candidate
            return


def circles(arrows: dict[str, set[str]]) -> list[set[str]]:
    """Sets of modules that reach each other (strongly connected components of more than one, and loops)."""
    names = sorted(arrows)
    reaches = np.array([[other in arrows[one] for other in names] for one in names])
    number, group_of = connected_components(reaches, connection="strong")
    groups = [{names[place] for place in np.flatnonzero(group_of == group)} for group in range(number)]
    return [group for group in groups if len(group) > 1 or group & arrows[min(group)]]
