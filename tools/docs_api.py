"""The Python reference: which names its pages document, and the list of all of them that leads to each.

The pages in ``docs/reference/python`` say which names they show; everything else that needs to know reads it there.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import griffe

from tools import docs_docstrings

FOLDER = Path(__file__).parents[1] / "docs" / "reference" / "python"
MARK = "<!-- python-names -->"
#: In the order in which a reader meets them.
PAGES = (
    "evaluate",
    "metrics",
    "beside-metrics",
    "own-metrics",
    "batches",
    "classifiers",
    "labels",
    "bench",
    "data",
    "models",
    "studies",
    "errors",
)


@cache
def text_of_pages() -> str:
    """Return all pages of the reference, one after the other."""
    return "\n".join((FOLDER / f"{name}.md").read_text(encoding="utf-8") for name in PAGES)


def names_on(text: str) -> list[str]:
    """Return the full names that a page, or a part of one, documents.

    >>> names_on("# Data\\n\\n::: demele.data.load_example\\n\\n::: demele.Bins")
    ['demele.data.load_example', 'demele.Bins']
    """
    return re.findall(r"^::: (\S+)", text, re.MULTILINE)


def index(_folder: Path) -> str:
    """Return the list of all names, under the headings of their pages."""
    parts = []
    for page in PAGES:
        text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
        title = re.findall(r"^# (.+)$", text, re.MULTILINE)[0]
        sections = re.split(r"^## ", text, flags=re.MULTILINE)
        for section in sections:
            names = names_on(section)
            if not names:
                continue
            heading = title if section is sections[0] else section.splitlines()[0]
            anchor = "" if section is sections[0] else "#" + re.sub(r"\W+", "-", heading.lower()).strip("-")
            rows = [f"| [`{name.removeprefix('demele.')}`][{name}] | {_summary(name)} |" for name in names]
            where = f"[{title}](python/{page}.md{anchor})"
            parts.append("\n".join([f"## {heading}\n", f"In full: {where}.\n", "| name | |", "|---|---|", *rows]))
    return "\n\n".join(parts)


@cache
def _package() -> Any:
    """Return the package as it is written: nothing is imported, so nothing optional needs to be installed."""
    return griffe.load("demele", search_paths=[FOLDER.parents[2] / "src"], resolve_aliases=True)


def _summary(name: str) -> str:
    """Return the first sentence of what is documented, as it stands in a cell of a table."""
    found = _package()[name.removeprefix("demele.")]
    first = (found.docstring.value if found.docstring else "").partition("\n\n")[0]
    shown = docs_docstrings.to_markdown(" ".join(first.split()), docs_docstrings.documented_names())
    return shown.replace("|", "\\|")
