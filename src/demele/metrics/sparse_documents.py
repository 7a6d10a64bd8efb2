"""What scores of sparse codes say: their document."""

from typing import TYPE_CHECKING

from demele.core.lookup_documents import factors_table, glossary, notes_of, signatures_of
from demele.core.methods_documents import methods_of
from demele.core.score_documents import score_strips, scores_table
from demele.report.document import Document, Section, Table
from demele.report.listing import drawn, listed
from demele.report.words import count, name, written

if TYPE_CHECKING:
    from demele.metrics.sparse_results import SparseEvaluation


def sparse_document(result: "SparseEvaluation") -> Document:
    """Say which codes inform most on each factor, and what all codes score."""
    best = _top_table(result, 1)
    first = max((one for one in result.top if one.rank == 1), key=lambda one: one.relative, default=None)
    alive = f"{count(result.d - len(result.dead), 'code')} of {result.d:,} are active"
    most = ""
    if first is not None:
        share = f"{written(first.relative, 'percent.0')} of {name(first.factor)}"
        most = f"; {name(first.code)} carries most of a factor: {share}"
    return Document(
        kind="Scores of sparse codes",
        title=f"Scores of {name(result.name)}",
        headline=f"{alive}{most}.",
        figure=drawn(best, "Share", caption="Best code of each factor", axis="Share of its entropy", ends=(0.0, 1.0)),
        table=scores_table(result.scores),
        below=[best],
        scope=[
            name(result.name),
            count(result.n, "row"),
            count(result.d, "code"),
            count(len(result.factors), "factor"),
        ],
        sections=[
            Section("Scores", [score_strips(result.scores), scores_table(result.scores)]),
            Section("Code-factor matrix", [_top_table(result, None)]),
            Section("Data", [factors_table(result)]),
            glossary(result.scores),
        ],
        notes=notes_of([result]),
        methods=methods_of([result]),
        signatures=signatures_of(result.scores),
        version=result.version,
    )


def _top_table(result: "SparseEvaluation", most: int | None) -> Table:
    """Return the codes that inform most on each factor."""
    return listed(
        "Codes that inform most",
        [one for one in result.top if most is None or one.rank <= most],
        [
            ("Factor", "text", "factor"),
            ("Code", "text", "code"),
            ("Share", "percent.1", "relative"),
            ("Active", "percent.2", "activity"),
            ("Active there", "percent.1?", "activity_there"),
            ("Highest at", "text", "direction"),
        ],
    )
