"""A file has one subject; lines of code are counted without comments and docstrings."""

import ast
from pathlib import Path

import pytest

from tools.count_lines import LONG, Module, body_lengths, code_lines, modules, used_once


def test_files_are_short() -> None:
    files = modules("src/demele")
    found = {one.path.relative_to("src/demele").as_posix() for one in files if len(one.text.splitlines()) > LONG}
    assert not found, f"more than {LONG} lines: split by sense"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", 0),
        ('"""What it holds."""\n', 0),
        ("x = 1  # why\n\n# more\ny = [\n    1,\n]\n", 4),
        ('def f():\n    """Do.\n\n    More.\n    """\n    return """a\nb"""\n', 3),
        ('class A:\n    """Hold."""\n\n    x = 1\n', 2),
        ('"a value"\nprint(\n    "said"\n)\n', 3),
    ],
)
def test_lines_of_code_are_counted(text: str, lines: int) -> None:
    assert code_lines(text) == lines


def module(path: str, text: str) -> Module:
    return Module(Path(path), text, ast.parse(text), code_lines(text))


def test_bodies_have_no_signature_and_no_docstring() -> None:
    text = 'def f(\n    a: int,\n) -> int:\n    """Add.\n\n    More.\n    """\n\n    # why\n    b = a\n    return b\n'
    assert body_lengths(module("one.py", text + "def g() -> int: return 1\n")) == [2, 1]


def test_private_functions_that_are_used_once_are_found() -> None:
    one = module("one.py", "def _a():\n    return _b() + _b()\ndef _b():\n    return 1\ndef __init__():\n    _a()\n")
    other = module("other.py", "class C:\n    def _c(self):\n        pass\n    def d(self):\n        self._c()\n")
    assert used_once([one, other]) == ["one.py:_a", "other.py:_c"]
    assert used_once([one, other, module("user.py", "from one import _a\n_a()\n")]) == ["other.py:_c"]
