"""Run what README, the documentation and the examples show, and compare it with what they say that it prints.

``python -m tools.docs_snippets [PAGE ...]`` names what is out of date; with ``--write`` it corrects it. The tests in
``tests/docs`` do the comparing.

In a page, a block of ``python`` may be followed by a block of ``text``: what it prints. A block of ``console`` starts
with a ``$ demele`` command, and the rest is what that prints. All blocks of a page run in order, in one process and one
folder; blocks that include a file do not. Where a line ``<!-- needs: NAME -->`` (or several names, with commas) stands
before a block of ``python``, it is run, and compared, only if these packages can be imported, and otherwise left as it
is; no later block without the line may need what it does. Where ``<!-- varies: WHY -->`` stands before a block of
``python`` or ``console``, what it prints depends on the processor (networks and iterated fits round otherwise on
another one): it is run and must print something, but only ``--write`` replaces what the page shows. The output of
``examples/NAME.py`` is ``examples/NAME.txt``.
"""

import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from demele.core.outputs import write_whole

ROOT = Path(__file__).parents[1]
MARK = "\x1e"
_BLOCK = re.compile(
    r"^(?P<mark>(?:<!-- varies: (?P<varies>[^\n]+?) -->\n\n?)?(?:<!-- needs: (?P<needs>[\w, ]+?) -->\n\n?)?)"
    r"(?:```python\n(?!--8<--)(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?"
    r"|```console\n\$ demele (?P<command>.*?)\n(?P<result>.*?)^```\n)",
    re.MULTILINE | re.DOTALL,
)
_PROGRESS = re.compile(r"demele: \d+%")
# What a page's process starts with. A terminal shows tables, so tables are what pages show.
_PREAMBLE = """\
import shlex, subprocess, sys

def _console(command):
    words = shlex.split(command)
    shown = words[0] == "noise" or words[:2] == ["bench", "comparisons"]
    if shown and "--format" not in words:
        words += ["--format", "table"]
    call = "import sys; from demele.cli.main import main; sys.exit(main())"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    # Unbuffered, so that messages and results come in the order in which they are written.
    print(subprocess.run([sys.executable, "-u", "-c", call, *words], text=True, **pipes).stdout, end="")
"""


def pages() -> list[Path]:
    """Return the pages that hold blocks to run."""
    candidates = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in candidates if _BLOCK.search(page.read_text(encoding="utf-8"))]


def examples() -> list[Path]:
    """Return the examples."""
    return sorted((ROOT / "examples").glob("*.py"))


def corrected_page(page: Path, *, varying: bool = False) -> str:
    """Return a page with what its blocks print.

    ``varying`` replaces also what varies between processors.

    Raises
    ------
    RuntimeError
        With its traceback, if a block fails; or if a block prints nothing whose output varies.
    """
    text = page.read_text(encoding="utf-8")
    parts = [
        block["code"] if block["command"] is None else f"_console({block['command']!r})\n"
        for block in _BLOCK.finditer(text)
        if _can_run(block)
    ]
    script = _PREAMBLE + "".join(f"{part}\nprint({MARK!r}, end='', flush=True)\n" for part in parts)
    printed = iter(_run([sys.executable, "-c", script], page).split(MARK))

    def replaced(block: re.Match[str]) -> str:
        if not _can_run(block):
            return block.group(0)
        output = _clean(next(printed))
        if block["varies"] is not None and not varying:
            if not output:
                raise RuntimeError(f"{page}: this block prints nothing: {block.group(0)}")
            return block.group(0)
        if block["command"] is not None:
            return f"{block['mark']}```console\n$ demele {block['command']}\n{output}\n```\n"
        if block["output"] is None:
            return block.group(0)
        return f"{block['mark']}```python\n{block['code']}```\n\n```text\n{output}\n```\n"

    return _BLOCK.sub(replaced, text)


def _can_run(block: re.Match[str]) -> bool:
    """Whether all packages are installed that a block needs."""
    needed = (block["needs"] or "").replace(",", " ").split()
    return all(importlib.util.find_spec(name) is not None for name in needed)


def corrected_output(example: Path) -> str:
    """Return what an example prints."""
    return _clean(_run([sys.executable, str(example)], example)) + "\n"


def _run(command: list[str], what: Path) -> str:
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if run.returncode:
        raise RuntimeError(f"{what}: {run.stderr}")
    return run.stdout


def _clean(text: str) -> str:
    """Drop blanks at the ends of lines, and lines of progress, which slow machines write."""
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    return "\n".join(line for line in lines if not _PROGRESS.match(line))


def main() -> int:
    """Compare everything, or what is named."""
    named = [Path(name).resolve() for name in sys.argv[1:] if not name.startswith("--")]
    outdated = 0
    for source in named or [*pages(), *examples()]:
        target = source.with_suffix(".txt") if source.suffix == ".py" else source
        if source.suffix == ".py":
            content = corrected_output(source)
        else:
            content = corrected_page(source, varying="--write" in sys.argv)
        if target.exists() and content == target.read_text(encoding="utf-8"):
            continue
        outdated += 1
        print(f"{target.relative_to(ROOT)} is out of date")
        if "--write" in sys.argv:
            write_whole(target, content)
    return int(outdated > 0 and "--write" not in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
