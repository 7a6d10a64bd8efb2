"""The page of everything that demele rests on: made from its bibliography, with what names each work."""

from collections.abc import Iterable, Iterator

from demele.classifiers.comparison.methods import METHODS
from demele.core.bibliography import bibliography
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.protocols import PROTOCOLS
from demele.metrics.standalone import WORKS
from tools.docs_metrics import reference

PAGE, TITLE = "reference/bibliography.md", "Bibliography"
_HEAD = f"""\
# {TITLE}

The works that define metrics, protocols and comparison methods, by year. `demele cite NAME` prints those of a name as
BibTeX, for [your paper](../howto/put-it-in-a-paper.md); this page is made from the same file.
"""


def page() -> str:
    """Return every work once, the oldest first, with the names that rest on it."""
    entries = sorted(bibliography().values(), key=lambda entry: (entry.fields.get("year", ""), entry.key))
    lines = [f"- {reference(entry)}{_uses(entry.key)}" for entry in entries]
    return "\n".join([_HEAD, *lines]) + "\n"


def _uses(key: str) -> str:
    names = [f"`{name}`" for name, references in _references() if key in references]
    return f". For {', '.join(names)}." if names else "."


def _references() -> Iterator[tuple[str, Iterable[str]]]:
    """Yield each name that can be cited, with the keys of what it rests on."""
    for catalogue in (CATALOGUE, PROTOCOLS, METHODS):
        for name, item in catalogue.items():
            yield name, item.references
    yield from WORKS.items()
