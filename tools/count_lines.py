"""Count the lines of Python in ``src``: by room, with and without blank lines, comments and docstrings.

>>> code_lines('\"\"\"What it holds.\"\"\"\\n\\n# why\\nx = 1\\n')
1
"""

import argparse
import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: A file of more lines than this wants to be two.
LONG = 450
_NOT_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
    tokenize.ENCODING,
}


def code_lines(text: str) -> int:
    """Return the number of lines that hold code: no blank line, comment or docstring."""
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NOT_CODE:
            held |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and first.end_lineno:
                held -= set(range(first.lineno, first.end_lineno + 1)) if isinstance(first.value.value, str) else set()
    return len(held)


def counted(root: Path = ROOT / "src" / "demele") -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Return lines by room, lines of code by room, and lines by file."""
    lines: Counter[str] = Counter()
    code: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path in sorted(root.rglob("*.py")):
        own = path.relative_to(root)
        room = own.parts[0] if len(own.parts) > 1 else "front door"
        text = path.read_text(encoding="utf-8")
        files[own.as_posix()] = len(text.splitlines())
        lines[room] += files[own.as_posix()]
        code[room] += code_lines(text)
    return lines, code, files


def main() -> None:
    """Print what was counted."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    lines, code, files = counted()
    print(f"{'room':<12} {'lines':>7} {'of code':>8}")
    for room, total in lines.most_common():
        print(f"{room:<12} {total:>7} {code[room]:>8}")
    print(f"{'all':<12} {lines.total():>7} {code.total():>8}")
    over = sum(length > LONG for length in files.values())
    print(f"\nFiles of more than {LONG} lines: {over}; the longest:")
    for name, length in files.most_common(5):
        print(f"{length:>6} {name}")


if __name__ == "__main__":
    main()
