"""The page about pruning under label noise, written from the stored rows of the embedded study."""

import json
from functools import partial
from pathlib import Path

from demele import lab
from demele.report.document import Table
from demele.report.renderers.html import page
from demele.report.renderers.paper import markdown_table
from demele.report.renderers.tables import blocks_of
from demele.report.words import plain
from tools import docs_tables

PAGE, TITLE = "results/pruning.md", "Pruning under label noise"
#: The page of the study itself, with all that this one leads to.
STUDY = "results/pruning-study.html"
#: Line of a page in another folder that becomes a link.
MARK = "<!-- pruning-under-label-noise -->"

said = partial(docs_tables.said, "pruning")


def reference(folder: Path) -> str:
    """Return a link to the page from a page of another folder."""
    return f"What it found: [{TITLE}](../{PAGE})."


def pages(folder: Path) -> dict[str, str]:
    """Return the pages by path."""
    study = lab.pruning_demo()
    return {PAGE: page_of(study), STUDY: page(study.document(), json.dumps(study.to_dict(), allow_nan=False))}


def page_of(study: lab.PruningStudy) -> str:
    """Return the page of a study: its sentences and its tables."""
    document, settings = study.document(), study.settings
    tables = {plain(one.caption): one for one in blocks_of(document) if isinstance(one, Table)}
    figures = {
        "title": TITLE,
        "shape": settings["data"]["shape"],
        "images": settings["data"]["images"],
        "ways": len(settings["configurations"]),
        "noises": len(study.noises),
        "epochs": settings["training"]["epochs"],
        "headline": document.headline,
        "summary": "\n".join(f"- {sentence}" for sentence in document.sentences),
        "tables": {caption: f"{markdown_table(one)}\n" for caption, one in tables.items()},
        "fabrics": "\n".join(
            f"### {caption.removeprefix('Fabrics, ').capitalize()}\n\n{markdown_table(one)}\n"
            for caption, one in tables.items()
            if caption.startswith("Fabrics, ")
        ),
    }
    return said("page", settings | settings["times"] | figures)
