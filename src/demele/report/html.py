"""One self-contained HTML page about one or several evaluations: opens from disk, asks nothing of any network."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from demele.core.errors import InputError
from demele.core.outputs import write_whole
from demele.metrics.catalogue import CATALOGUE
from demele.report.appendix import inputs, legend, made, notes
from demele.report.figure_sections import dependency, matrices, natives
from demele.report.figures import matrix_figures, native_figures, shortened
from demele.report.overview import overview
from demele.report.page import assembled, embedded, template
from demele.report.verdict import verdict
from demele.report.view import Catalogue, View

__all__ = ["write_report"]


def write_report(
    evaluations: Sequence[Mapping[str, Any]],
    path: Path,
    *,
    title: str | None = None,
    specs: Mapping[str, Mapping[str, Any]] | None = None,
) -> Path:
    """Write one HTML file that shows evaluations side by side.

    Parameters
    ----------
    evaluations : sequence of dict
        What :meth:`demele.core.results.Evaluation.to_dict` returns, one for each representation.
    path : Path
        The file; replaced if it exists.
    title : str, optional
        Heading of the page.
    specs : mapping of str to mapping, optional
        What each metric declares, by its name: ``title``, ``family``, ``properties``, ``definition``, ``source``,
        ``range``, ``best``; by default what the catalogue says. Metrics that are not in it are shown by their name
        alone.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If there is nothing to show.

    Notes
    -----
    Tables need no script; a script draws the figures. A content security policy forbids the page any request and any
    script but its own.
    """
    if not evaluations:
        raise InputError("evaluations", "expected at least one to report on, got none")
    view = View(
        [shortened(evaluation) for evaluation in evaluations], Catalogue(_declared() if specs is None else specs)
    )
    page = _page(view, title or _title(view))
    # Names may hold what UTF-8 cannot, such as the lone surrogates of undecodable file names.
    return write_whole(path, page.encode("utf-8", "replace"))


def _declared() -> dict[str, dict[str, Any]]:
    return {name: metric.facts() for name, metric in CATALOGUE.items()}


def _title(view: View) -> str:
    names = [str(item["name"]) for item in view.evaluations]
    return f"How disentangled is {names[0]}?" if len(names) == 1 else f"{len(names)} representations, side by side"


def _page(view: View, title: str) -> str:
    sections = [
        ("verdict", "Verdict", verdict(view)),
        ("scores", "All scores", overview(view)),
        ("matrices", "Codes against factors", matrices(view)),
        ("natives", "Per factor, per code", natives(view)),
        ("dependency", "What other factors do", dependency(view)),
        ("notes", "Notes and gaps", notes(view)),
        ("inputs", "What was scored", inputs(view)),
        ("metrics", "What the metrics mean", legend(view)),
        ("made", "How each number was made", made(view)),
    ]
    data = view.evaluations[0] if not view.several else {"evaluations": view.evaluations}
    versions = sorted({str(item["demele"]) for item in view.evaluations if item["demele"]})
    return assembled(
        "report.html",
        title=title,
        sections=sections,
        styles=("report.css", "figures.css"),
        scripts={
            "errors_js": template("errors.js"),
            "report_js": "".join(map(template, ("common.js", "figures.js", "report.js"))),
        },
        parts={
            "version": escape(" and ".join(f"demele {version}" for version in versions) or "demele"),
            "data": embedded(data),
            "figures": embedded(_figures(view)),
        },
    )


def _figures(view: View) -> dict[str, Any]:
    return {
        "titles": {metric: view.catalogue.title(metric) for metric in view.metrics},
        "matrices": matrix_figures(view.evaluations),
        "natives": native_figures(view.evaluations),
    }
