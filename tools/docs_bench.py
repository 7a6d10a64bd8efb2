"""Pages on the metrics themselves: the tables of the document of the bench's stored rows, and causes from a file."""

from pathlib import Path

from demele import bench
from demele.report.document import Table
from demele.report.renderers.html import page
from demele.report.renderers.paper import in_markdown, markdown_table
from demele.report.renderers.tables import blocks_of
from tools.docs_tables import Measured, said

#: The page of the bench itself, with all curves, numbers and the evidence for each verdict.
PAGE, BENCH = "results/bench.html", "bench.html"
TITLES = {
    "results/metrics.md": "Test bench of metrics",
    "results/published.md": "Published tables, computed again",
}
CAUSES = Measured(
    "causes.csv",
    (
        *("table", ("cell", "{row}: {column}"), "what", ("printed", "{print}")),
        *(("demele", "{demele} {demele verdict}"), ("cause put back", "{put back} {verdict with the cause}")),
        *("standard error", "seeds", "explained", "cause"),
    ),
)


def pages(folder: Path) -> dict[str, str]:
    """Return the pages of the stored rows, by path, with the causes that are in a folder."""
    stored = bench.reference()
    document = stored.document()
    tables = {one.caption: f"{markdown_table(one)}\n" for one in blocks_of(document) if isinstance(one, Table)}
    figures = {
        "headline": in_markdown(document.headline),
        "agreement": in_markdown(" ".join(document.sentences)),
        "scope": in_markdown(", ".join(document.scope)),
        "notes": "".join(f"- {in_markdown(': '.join([*note.about, note.text]))}\n" for note in document.notes),
        "metrics": tables["Metrics"],
        "rules": tables["Rules"],
        "scenarios": tables["Scenarios"],
        "scores": tables["Published scores"],
        "differing": tables["Verdicts that differ from the published table"],
        "causes": CAUSES(folder),
        "bench": BENCH,
    }
    parts = {path: said("bench", Path(path).stem, figures, title=title) for path, title in TITLES.items()}
    return {**parts, PAGE: page(document, stored.to_json())}
