"""One code against one factor, and two codes: what the page of scores holds for a script to draw them."""

from collections.abc import Mapping, Sequence
from typing import Any

from demele.report.page import Html, controls, h, paragraph
from demele.report.scores_view import View

__all__ = ["pair_place", "row_samples"]

Item = Mapping[str, Any]

#: Characters of rows that all evaluations of a page may have together.
MOST_CHARACTERS = 700_000


def row_samples(evaluations: Sequence[Item]) -> list[Item | None]:
    """Return the rows of each evaluation, as ``Evaluation.to_content()`` holds them, while a page can hold them."""
    found: list[Item | None] = []
    room = MOST_CHARACTERS
    for evaluation in evaluations:
        rows = evaluation.get("rows")
        columns = [] if rows is None else [*rows["codes"], *rows["factors"]]
        room -= sum(len(column["values"]) for column in columns)
        found.append(rows if rows is not None and rows["factors"] and room >= 0 else None)
    return found


def pair_place(view: View, samples: Sequence[Item | None]) -> Html:
    """Write the place that pictures of rows are drawn in; nothing where no evaluation has rows."""
    if not any(samples):
        return h("")

    def select(label: str, key: str, **look: object) -> Html:
        return h("label", f"{label} ", h("select", id=f"pair-{key}"), **look)

    return h(
        "",
        paragraph(
            "What the heat map has as one number, row by row. Left, the code at each value of the factor: for a "
            "quantity, the stronger the colour the more rows, and the line is the median; for classes, boxes of the "
            "middle half with the median, and the central 90% as a line. Right, two codes, each row in the colour of "
            "the factor."
        ),
        controls(
            select("Representation", "evaluation", hidden=not view.several),
            select("Code", "code"),
            select("Factor", "factor"),
            select("and beside it code", "other"),
        ),
        h("div", class_="panels", id="pair-panels"),
        h("div", class_="ramp", id="pair-key"),
        paragraph(class_="meaning", id="pair-says", role="status"),
        h(
            "details",
            h("summary", "These values as a table"),
            h("div", class_="scroll"),
            class_="values",
            id="pair-values",
        ),
        h("noscript", paragraph("This figure needs JavaScript; the tables of this page do not.")),
    )
