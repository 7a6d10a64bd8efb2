"""One self-contained HTML page about the metrics themselves: opens from disk, asks nothing of any network."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from demele.core.outputs import write_whole
from demele.report.bench_cards import cards
from demele.report.bench_sections import added, curves, lead, run, verdicts
from demele.report.bench_tables import evidence, printed
from demele.report.bench_view import BenchView, bench_view
from demele.report.page import assembled, packed, template

__all__ = ["write_bench_report"]


def write_bench_report(characterisation: Mapping[str, Any], path: Path, *, title: str | None = None) -> Path:
    """Write one HTML file that shows how metrics were themselves measured.

    Parameters
    ----------
    characterisation : mapping
        What ``Characterisation.to_dict()`` returns. Parts of it may be empty or absent; there must be a metric.
    path : Path
        The file; replaced if it exists.
    title : str, optional
        Heading of the page.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If there is no metric to show.

    Notes
    -----
    Tables, evidence and small curves are in the page as such and need no script; a script adds the large figures.
    The data of the page are in it, compressed. A content security policy forbids the page any request and any script
    but its own.
    """
    view = bench_view(characterisation)
    page = _page(view, title or _title(view))
    # The title may hold what UTF-8 cannot; names were freed of it before, so that those of page and data agree.
    return write_whole(path, page.encode("utf-8", "replace"))


def _title(view: BenchView) -> str:
    own = [name for name, metric in view.metrics.items() if metric.get("own")]
    names = own or list(view.metrics)
    return f"What does {view.title(names[0])} measure?" if len(names) == 1 else "What do the metrics measure?"


def _page(view: BenchView, title: str) -> str:
    tables = [("verdicts", "Verdicts", verdicts(view)), ("added", "Beyond the review", added(view))]
    if view.tables and view.tables[0] is view.added:
        tables.reverse()
    sections = [
        ("lead", "In short", lead(view)),
        *tables,
        ("curves", "Curves", curves(view)),
        ("metrics", "The metrics", cards(view)),
        ("printed", "Beside the printed tables", printed(view)),
        ("evidence", "All evidence", evidence(view)),
        ("run", "What was run", run(view)),
    ]
    version = view.data.get("demele")
    return assembled(
        "bench.html",
        title=title,
        sections=sections,
        styles=("report.css", "figures.css", "bench.css"),
        scripts={
            "errors_js": template("errors.js"),
            "bench_js": "".join(map(template, ("common.js", "figures.js", "bench.js"))),
        },
        parts={"version": escape(f"demele {version}" if version else "demele"), "data": packed(view.data)},
    )
