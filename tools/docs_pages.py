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
    docs_annotated_images,
    docs_annotators,
    docs_api,
    docs_bench,
    docs_beside,
    docs_bibliography,
    docs_cleaning,
    docs_comparison_methods,
    docs_comparisons,
    docs_fabrics,
    docs_gallery,
    docs_landing,
    docs_map,
    docs_metrics,
    docs_mmlu,
    docs_protocols,
    docs_pruning,
    docs_results,
    docs_streaming,
    docs_which,
)

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
#: The pages of the part "Results", in its order, by path.
TITLES = {
    **docs_bench.TITLES,
    docs_which.PAGE: docs_which.TITLE,
    docs_agreement.PAGE: docs_agreement.TITLE,
    docs_pruning.PAGE: docs_pruning.TITLE,
    docs_results.PAGE: docs_results.TITLE,
    docs_mmlu.PAGE: docs_mmlu.TITLE,
    docs_comparisons.PAGE: docs_comparisons.TITLE,
    docs_comparison_methods.PAGE: docs_comparison_methods.TITLE,
}
#: Marked lines of pages, and what is put in their place.
MARKS: Mapping[str, Callable[[Path], str]] = {
    **docs_streaming.MARKS,
    **docs_protocols.MARKS,
    **docs_comparisons.MARKS,
    docs_agreement.MARK: docs_agreement.reference,
    docs_api.MARK: docs_api.index,
    docs_map.MARK: docs_map.figures,
    **docs_beside.MARKS,
    docs_pruning.MARK: docs_pruning.reference,
    docs_comparison_methods.MARK: docs_comparison_methods.reference,
    docs_annotators.MARK: docs_annotators.figures,
    docs_annotated_images.MARK: docs_annotated_images.figures,
    docs_cleaning.MARK: docs_cleaning.figures,
    # Before the first measurement the mark stays, which no reader of the page sees.
    **({docs_fabrics.MARK: docs_fabrics.figures} if (RESULTS / docs_fabrics.FILE).exists() else {}),
}


@cache
def pages(folder: Path) -> dict[str, str]:
    """Return what is made for the site, by path."""
    made = {
        "reference/metrics.md": docs_metrics.metrics_page(),
        "reference/cli.md": docs_metrics.command_line_page(),
        docs_gallery.PAGE: docs_gallery.page(),
        docs_landing.RANKS: docs_landing.ranks_picture(),
        docs_landing.VERDICT: docs_landing.verdict_picture(),
        docs_bibliography.PAGE: docs_bibliography.page(),
        docs_fabrics.PICTURE: docs_fabrics.picture(),
        docs_results.PAGE: docs_results.page(folder),
        **docs_bench.pages(folder),
        **docs_which.pages(folder),
        **docs_agreement.pages(folder),
        **docs_pruning.pages(folder),
        docs_mmlu.PAGE: docs_mmlu.page(folder),
        docs_comparisons.PAGE: docs_comparisons.page(folder),
        docs_comparison_methods.PAGE: docs_comparison_methods.page(folder),
        **{f"results/{file.name}": file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.svg"))},
    }
    return {path: content for path, content in made.items() if content}


def on_config(config: Any) -> Any:
    """Add "Results" to the navigation, before the architecture, with the pages that there are."""
    made = pages(RESULTS)
    position = next((index for index, item in enumerate(config.nav) if "Architecture" in item), len(config.nav))
    config.nav.insert(position, {"Results": [{title: path} for path, title in TITLES.items() if path in made]})
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
