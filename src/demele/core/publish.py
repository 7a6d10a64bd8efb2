"""The one way up: results, which stand at the bottom, call the pages, which stand on them, by name and when asked."""

import importlib
from pathlib import Path
from typing import Any

#: What can be published, and the function that writes it: its arguments are the content, the path, and options.
PAGES = {
    "evaluation": "demele.report.html:write_report",
    "assessment": "demele.report.assessment_html:write_assessment",
    "decision": "demele.report.decision_html:write_decision",
    "ranking": "demele.report.ranking_html:write_ranking",
    "characterisation": "demele.report.bench_html:write_bench_report",
    "methods": "demele.report.comparisons_html:write_comparisons",
    "pictures of methods": "demele.report.comparisons_static:write_pictures",
}


def publish(page: str, content: Any, path: str | Path, **options: Any) -> Any:
    """Write a result, given as plain values, as one of :data:`PAGES`, and return where it is.

    Nothing else in demele reaches a room above its own: a test says so.
    """
    module, _, function = PAGES[page].partition(":")
    return getattr(importlib.import_module(module), function)(content, Path(path), **options)
