"""What scores of sparse codes say: their document."""

from typing import TYPE_CHECKING

from demele.core.lookup_documents import data_facts, factors_table, glossary, method_of, notes_of, signatures_of
from demele.core.methods_documents import methods_of
from demele.core.score_documents import score_strips, scores_table
from demele.report.document import Document, Mark, Section, Strip, Strips, Table
from demele.report.written import count, name, written

if TYPE_CHECKING:
    from demele.metrics.sparse_results import SparseEvaluation


def sparse_document(result: "SparseEvaluation") -> Document:
    """Say which codes inform most on each factor, and what all codes score."""
    best = [one for one in result.top if one.rank == 1]
    strips = [
        Strip(name(one.factor), [Mark("bar", one.relative)], f"{name(one.code)} {written(one.relative, 'percent.0')}")
        for one in best
    ]
    first = max(best, key=lambda one: one.relative, default=None)
    alive = f"{count(result.d - len(result.dead), 'code')} of {result.d:,} are active"
    most = "" if first is None else f"; {name(first.code)} carries most of a factor: {_share(first.relative)} of "
    figure = Strips("Best code of each factor", strips, "percent", "Share of the factor's entropy", ends=(0.0, 1.0))
    return Document(
        kind="Scores of sparse codes",
        title=f"Scores of {name(result.name)}",
        headline=f"{alive}{most}{'' if first is None else name(first.factor)}.",
        figure=figure,
        table=scores_table(result.scores),
        beside=[top_table(result, 1)],
        scope=[
            name(result.name),
            count(result.n, "row"),
            count(result.d, "code"),
            count(len(result.factors), "factor"),
        ],
        sections=[
            Section("Scores", [score_strips(result.scores), scores_table(result.scores)]),
            Section("Code-factor matrix", [top_table(result, None)]),
            Section("Data", [data_facts(result), factors_table(result)]),
            glossary(result.scores),
        ],
        notes=notes_of([result]),
        method=method_of(result.scores),
        methods=methods_of([result]),
        signatures=signatures_of(result.scores),
        version=result.version,
    )


def _share(value: float) -> str:
    return written(value, "percent.0")


def top_table(result: "SparseEvaluation", most: int | None) -> Table:
    """Return the codes that inform most on each factor."""
    columns = {
        "Factor": "text",
        "Code": "text",
        "Share": "percent.1",
        "Active": "percent.2",
        "Active there": "percent.1?",
        "Highest at": "text",
    }
    rows = [
        (name(one.factor), name(one.code), one.relative, one.activity, one.activity_there, name(one.direction))
        for one in result.top
        if most is None or one.rank <= most
    ]
    return Table("Codes that inform most", columns, rows, first=len(rows) if most is None else 20)
