"""One self-contained HTML page about one or several evaluations: opens from disk, asks nothing of any network."""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from demele.core.errors import InputError
from demele.core.extras import require
from demele.report.appendix import inputs, legend, made, notes
from demele.report.figure_sections import dependency, matrices, natives
from demele.report.figures import matrix_figures, native_figures, shortened
from demele.report.overview import overview
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
        ``range``, ``best``. Metrics that are not in it are shown by their name alone.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If there is nothing to show.
    MissingExtraError
        If plotly is not installed: the extra ``report`` brings it.

    Notes
    -----
    plotly.js is in the file (about 5 MB), and a content security policy forbids the page any request and any script
    but its own.
    """
    if not evaluations:
        raise InputError("evaluations: expected at least one to report on, got none")
    plotly_js: str = require("plotly.offline", purpose="the HTML report").get_plotlyjs()
    view = View([shortened(evaluation) for evaluation in evaluations], Catalogue(specs or {}))
    page = _page(view, title or _title(view), plotly_js)
    # Names may hold what UTF-8 cannot, such as the lone surrogates of undecodable file names.
    path.write_bytes(page.encode("utf-8", "replace"))
    return path


def _title(view: View) -> str:
    names = [str(item["name"]) for item in view.evaluations]
    return f"How disentangled is {names[0]}?" if len(names) == 1 else f"{len(names)} representations, side by side"


def _page(view: View, title: str, plotly_js: str) -> str:
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
    sections = [section for section in sections if section[2]]
    data = view.evaluations[0] if not view.several else {"evaluations": view.evaluations}
    scripts = {
        "errors_js": _template("errors.js"),
        "plotly_js": _one_script(plotly_js),
        "report_js": _template("report.js"),
    }
    versions = sorted({str(item["demele"]) for item in view.evaluations if item["demele"]})
    return _fill(
        _template("report.html"),
        {
            "title": escape(title),
            "policy": _policy(scripts.values()),
            "css": _template("report.css"),
            "navigation": "\n".join(f'<li><a href="#{key}">{name}</a></li>' for key, name, _ in sections),
            "sections": "\n".join(_section(*section) for section in sections),
            "version": escape(" and ".join(f"demele {version}" for version in versions) or "demele"),
            "data": _embedded(data),
            "figures": _embedded(_figures(view)),
            **scripts,
        },
    )


def _section(key: str, name: str, body: str) -> str:
    return f'<section id="{key}" aria-labelledby="{key}-title">\n<h2 id="{key}-title">{name}</h2>\n{body}\n</section>'


def _figures(view: View) -> dict[str, Any]:
    return {
        "titles": {metric: view.catalogue.title(metric) for metric in view.metrics},
        "matrices": matrix_figures(view.evaluations),
        "natives": native_figures(view.evaluations),
    }


def _template(name: str) -> str:
    return (files("demele.report") / "templates" / name).read_text(encoding="utf-8")


def _fill(template: str, parts: Mapping[str, str]) -> str:
    """Put parts in the places ``{{name}}``, in one pass: what is put in is never searched for places."""
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place.group(1)], template)


def _embedded(data: object) -> str:
    """JSON that cannot end the script element that holds it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _one_script(text: str) -> str:
    """Script as it must stand in a page: line ends as browsers hash them, and no end of its own element."""
    return re.sub(r"\r\n?", "\n", text).replace("</script", "<\\/script")


def _policy(scripts: Iterable[str]) -> str:
    """No request to anywhere, no script but these."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    own = "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {allowed}; {own}"
