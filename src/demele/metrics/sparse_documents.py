"""What scores of sparse codes say: their document."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from demele.core.score_documents import about_scores, factors_table, glossary, scope_of, score_strips, scores_table
from demele.report.document import Document, Section, Table
from demele.report.listing import Column, drawn, listed
from demele.report.words import count, name, written

if TYPE_CHECKING:
    from demele.metrics.sparse_results import SparseEvaluation, TopCode


def sparse_document(result: "SparseEvaluation") -> Document:
    """Say which codes inform most on each factor, and what all codes score."""
    best = _top_table([one for one in result.top if one.rank == 1])
    alive = f"{count(result.d - len(result.dead), 'code')} of {result.d:,} are active"
    first = max(result.top, key=lambda one: one.relative, default=None)
    share = "" if first is None else f"{written(first.relative, 'percent.0')} of {name(first.factor)}"
    most = "" if first is None else f"; {name(first.code)} carries most of a factor: {share}"
    return Document(
        kind="Scores of sparse codes",
        title=f"Scores of {name(result.name)}",
        headline=f"{alive}{most}.",
        figure=drawn(best, "Share", caption="Best code of each factor", axis="Share of its entropy", ends=(0.0, 1.0)),
        table=scores_table(result.scores),
        below=[best],
        scope=scope_of(result),
        sections=[
            Section("Scores", [score_strips(result.scores), scores_table(result.scores)]),
            Section("Code-factor matrix", [_top_table(result.top)]),
            Section("Data", [factors_table(result)]),
            glossary(result.scores),
        ],
        **about_scores([result]),
    )


def _top_table(codes: "Sequence[TopCode]") -> Table:
    """Return the codes that inform most on each factor."""
    columns: list[Column[TopCode]] = [
        ("Factor", "text", "factor"),
        ("Code", "text", "code"),
        ("Share", "percent.1", "relative"),
        ("Active", "percent.2", "activity"),
        ("Active there", "percent.1?", "activity_there"),
        ("Highest at", "text", "direction"),
    ]
    return listed("Codes that inform most", codes, columns)
