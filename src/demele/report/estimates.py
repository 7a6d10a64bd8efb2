"""Measures with their intervals as pages show them: on one axis, in tables, in grids of classes or classifiers."""

from collections.abc import Mapping, Sequence
from typing import Any

from demele.report.page import Html, Page, data_element, embedded, h, tool

__all__ = ["labels_page"]

Item = Mapping[str, Any]


def labels_page(
    data: Item,
    *,
    kind: str,
    title: str,
    sections: Sequence[tuple[str, str, Html]],
    scripts: Sequence[str],
    csv: str = "",
    styles: Sequence[str] = (),
) -> Page:
    """Make the page of one result about labels; ``csv`` names the list that can be downloaded as a table."""
    return Page(
        kind=kind,
        title=title,
        sections=sections,
        style="labels",
        styles=("labels.css", *styles),
        scripts=("labels.js", *scripts),
        tools=h(
            "", tool("Data (JSON)", "download-json"), tool("Data (CSV)", "download-csv", data_list=csv) if csv else ""
        ),
        data=data_element(embedded(data)),
        version=data.get("demele"),
    )
