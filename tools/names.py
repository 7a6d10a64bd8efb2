"""Write the names of metrics where editors, type checkers and readers look: ``make names``.

``from demele import mig`` must be seen without running anything, so that names cannot be found out when they are asked
for. Three blocks of ``demele/__init__.py`` are written from the files of metrics: imports under TYPE_CHECKING, the
homes and ``__all__``; and so are the entries of the page of the metrics.
"""

import re
import sys
from pathlib import Path

from demele.core.outputs import write_whole
from demele.metrics.catalogue import CATALOGUE

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "demele" / "__init__.py"
_HOME = r'    "demele\.metrics\.(?:information|predictor|intervention)\.\w+": "\w+",\n'
PAGE = ROOT / "docs" / "reference" / "python" / "metrics.md"


def homes() -> dict[str, str]:
    """Return the public functions of metrics, in the order of their modules, and where each is."""
    functions = {metric.call.__name__: metric.call.__module__ for metric in CATALOGUE.ours().values()}
    public = {name: home for name, home in functions.items() if not name.startswith("_")}
    return dict(sorted(public.items(), key=lambda item: (item[1], item[0])))


def with_names(text: str) -> str:
    """Return ``demele/__init__.py`` with the metrics that there are."""
    found = homes()
    for name, home in found.items():
        imported = f"    from {home} import {name}\n"
        if imported not in text:
            text = _inserted(text, imported, r"    from demele\.metrics\.[^\n]*\n")
        line = f'    "{home}": "{name}",\n'
        if line not in text:
            text = _inserted(
                text, line, r'    "demele\.metrics\.(?:information|predictor|intervention)\.\w+": "\w+",\n'
            )
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
