"""Everything that a build of the site makes: results, pages read off the library, figures in the place of marks.

The one hook of MkDocs, named in ``mkdocs.yml``. Nothing is stored, so pages cannot differ from the code and from the
files of ``benchmarks/results``; what has no file there is left out. No number is typed in.
"""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from tools import (
    docs_agreement,
    docs_api,
    docs_bench,
    docs_bibliography,
    docs_gallery,
    docs_landing,
    docs_map,
    docs_measured,
    docs_metrics,
    docs_pruning,
    docs_results,
    docs_which,
)

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
#: What makes the pages of results that are of files alone.
_OF_FILES = (docs_measured.MMLU, docs_measured.COMPARISONS, docs_measured.METHODS)
#: The pages of results, in their order, by path.
TITLES = {
    **docs_bench.TITLES,
    **{one.PAGE: one.TITLE for one in (docs_which, docs_agreement, docs_pruning, docs_results)},
    **{one.path: one.title for one in _OF_FILES},
}
#: Marked lines of pages, and what is put in their place.
MARKS: Mapping[str, Callable[[Path], str]] = {
    **docs_measured.MARKS,
    **{one.MARK: one.reference for one in (docs_agreement, docs_pruning)},
    docs_api.MARK: docs_api.index,
    docs_map.MARK: docs_map.figures,
}


@cache
def pages(folder: Path) -> dict[str, str]:
    """Return what is made for the site, by path."""
    made = {
        "reference/metrics.md": docs_metrics.metrics_page(),
        "reference/cli.md": docs_metrics.command_line_page(),
        docs_gallery.PAGE: docs_gallery.page(),
        docs_bibliography.PAGE: docs_bibliography.page(),
        **{path: drawn() for path, drawn in docs_landing.PICTURES.items()},
        **{
            path: text
            for one in (docs_bench, docs_which, docs_agreement, docs_pruning)
            for path, text in one.pages(folder).items()
        },
        docs_results.PAGE: docs_results.page(folder),
        **{one.path: one(folder) for one in _OF_FILES},
    }
    return {path: content for path, content in made.items() if content}


def on_config(config: Any) -> Any:
    """Put the results into the part "Evidence" of the navigation, before its other pages."""
    made = pages(RESULTS)
    evidence = next(item["Evidence"] for item in config.nav if "Evidence" in item)
    evidence[:0] = [{title: path} for path, title in TITLES.items() if path in made]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages and pictures."""
    for path, content in pages(RESULTS).items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put figures in the place of marks."""
    for mark, figures in MARKS.items():
        if mark in markdown:
            markdown = markdown.replace(mark, figures(RESULTS))
    return markdown
