"""Run the Python blocks of README and of the documentation, and compare what they print with the block that follows.

``python -m tools.docs_snippets`` says where a page is out of date; with ``--write`` it corrects the pages. The test
``tests/docs/test_docs.py`` does the comparing. Blocks of one page share their names and run in a folder of their own.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
MARK = "\x1e"
#: A block of Python, and the block of text right after it, if there is one.
_PYTHON = re.compile(r"^```python\n(?P<code>.*?)^```\n(?P<gap>\n```text\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A block of Python of a page, what the page says that it prints, and what it prints."""

    page: Path
    code: str
    expected: str | None
    printed: str


def pages() -> list[Path]:
    """Return the pages that hold Python."""
    candidates = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in candidates if _PYTHON.search(page.read_text(encoding="utf-8"))]


def run_page(page: Path) -> list[Snippet]:
    """Run all blocks of a page in one fresh process.

    Raises
    ------
    RuntimeError
        With its traceback, if a block fails.
    """
    blocks = list(_PYTHON.finditer(page.read_text(encoding="utf-8")))
    code = "".join(f"{block['code']}\nprint({MARK!r}, end='')\n" for block in blocks)
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder)
    if run.returncode:
        raise RuntimeError(f"{page}: {run.stderr}")
    printed = run.stdout.split(MARK)
    return [Snippet(page, block["code"], block["output"], text) for block, text in zip(blocks, printed, strict=False)]


def outdated(snippets: list[Snippet]) -> Iterator[Snippet]:
    """Yield the blocks that print something else than their page says."""
    for snippet in snippets:
        if snippet.expected is not None and _lines(snippet.expected) != _lines(snippet.printed):
            yield snippet


def corrected(page: Path, snippets: list[Snippet]) -> str:
    """Return the page with what its blocks print."""
    left = iter(snippets)

    def replaced(block: re.Match[str]) -> str:
        printed = next(left).printed
        if block["output"] is None:
            return block.group(0)
        return f"```python\n{block['code']}```\n\n```text\n{_lines(printed)}\n```\n"

    return _PYTHON.sub(replaced, page.read_text(encoding="utf-8"))


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def main() -> int:
    """Compare all pages, or those that are named."""
    named = [Path(name).resolve() for name in sys.argv[1:] if not name.startswith("--")]
    wrong = 0
    for page in named or pages():
        snippets = run_page(page)
        for snippet in outdated(snippets):
            wrong += 1
            print(f"{page.relative_to(ROOT)}: a block prints\n{snippet.printed}\ninstead of\n{snippet.expected}")
        if "--write" in sys.argv:
            page.write_text(corrected(page, snippets), encoding="utf-8")
    return int(wrong > 0 and "--write" not in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
