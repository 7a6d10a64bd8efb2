"""Write the names of metrics where editors, type checkers and readers look: ``make names``.

``from demele import mig`` must be seen without running anything, so that names cannot be found out when they are asked
for. Two blocks of ``demele/__init__.py`` are written from the files of metrics: imports under TYPE_CHECKING and
``__all__``; and so are the entries of the page of the metrics.
"""

import importlib
import re
import sys
from pathlib import Path

from demele.core.outputs import write_whole
from demele.metrics.catalogue import FILES

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "demele" / "__init__.py"
PAGE = ROOT / "docs" / "reference" / "python" / "metrics.md"


def homes() -> dict[str, str]:
    """Return the public functions of metrics, in the order of their modules, and where each is."""
    modules = {name: f"demele.metrics.{file}" for name, file in FILES.items()}
    public = {name: home for name, home in modules.items() if name in vars(importlib.import_module(home))}
    return dict(
        sorted({**public, "dci": modules["dci_forest_modularity"]}.items(), key=lambda item: (item[1], item[0]))
    )


def with_names(text: str) -> str:
    """Return ``demele/__init__.py`` with the metrics that there are."""
    found = homes()
    for home in dict.fromkeys(found.values()):
        names = [name for name, own in found.items() if own == home]
        text = re.sub(rf"    from {re.escape(home)} import [\w, ]+\n", "", text)
        imported = f"    from {home} import {', '.join(names)}\n"
        text = _inserted(text, imported, r"    from demele\.metrics\.[^\n]*\n")
    for name in found:
        listed = f'    "{name}",\n'
        if listed not in text:
            start = text.index("__all__ = [")
            text = text[:start] + _inserted(text[start:], listed, r'    "[a-z]\w*",\n')
    return text


def _inserted(text: str, line: str, like: str) -> str:
    """Insert a line before the first of its kind that sorts after it, or after the last."""
    places = list(re.finditer(f"(?m)^{like}", text))
    after = next((place for place in places if place.group() > line), None)
    at = places[-1].end() if after is None else after.start()
    return text[:at] + line + text[at:]


def with_entries(page: str) -> str:
    """Return the page of the metrics with an entry for each metric."""
    for name in homes():
        entry = f"::: demele.{name}\n"
        if entry not in page:
            entries = [f"::: demele.{other}\n" for other in homes() if f"::: demele.{other}\n" in page]
            last = max(page.index(one) + len(one) for one in entries)
            page = f"{page[:last]}\n{entry}{page[last:]}"
    return page


def main() -> int:
    """Write both; return 1 where ``--check`` finds that something is missing."""
    changed = 0
    for path, made in ((PACKAGE, with_names), (PAGE, with_entries)):
        text = path.read_text(encoding="utf-8")
        wanted = made(text)
        if wanted == text:
            continue
        changed = 1
        if "--check" not in sys.argv:
            write_whole(path, wanted)
    return changed if "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
