"""What a ranking of several classifiers says: its document."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.core.png import png
from demele.core.result import about
from demele.evaluation.comparison.documents import how_compared, method_facts
from demele.evaluation.documents import estimate_strips, measure_of, rests_on, true_labels_title
from demele.report.document import (
    NOTHING,
    Cell,
    Document,
    Evidence,
    Folded,
    Images,
    Mark,
    Matrix,
    Pill,
    Section,
    Strip,
    Strips,
    Table,
)
from demele.report.written import (
    at_most,
    count,
    digits_for,
    ends,
    is_missing,
    joined,
    name,
    rate,
    sentence_of,
    title_of,
    written,
)

if TYPE_CHECKING:
    import pandas as pd

    from demele.evaluation.comparison.ranking import Ranking

#: Up to so many models, each pair has its evidence, and its cell in a matrix; of more, a pixel.
_WITH_EVIDENCE, MOST_MODELS = 20, 50
#: Pairs, and choices that differ from those on true labels, that are listed.
_LISTED = 300
_CORRECTIONS = {
    "holm": "The comparisons share the error by Holm's procedure [@holm1979simple]",
    "bonferroni": "The comparisons share the error equally (Bonferroni)",
    "none": "No correction was made for the number of comparisons",
}
_STATES = (Pill("worse", "bad"), Pill("inconclusive", "open"), Pill("better", "good"))
_SIGNS = ("▽", "·", "▲")
#: Of pairs that are worse, inconclusive, better.
_COLOURS = np.array([(213, 94, 0), (221, 221, 221), (0, 114, 178)], dtype=np.uint8)


def ranking_document(result: "Ranking") -> Document:
    """Say which models may be best, between which ranks each lies, and which differences are significant."""
    models, table = list(map(name, result.names)), _table(result)
    measure = measure_of(result.measure, result.of, method=result.method)
    together = "for each pair" if result.correction == "none" else "for all pairs together"
    strips = [
        Strip(model, [Mark("span", low - 0.4, high + 0.4), Mark("dot", place)], _ranks(low, high))
        for place, (model, low, high) in enumerate(
            zip(models, result.best_rank, result.worst_rank, strict=True), start=1
        )
    ]
    series = {0: "ranks that are possible; the dot is the place by the estimate"}
    figure = Strips("Ranks", strips, "count", "Rank", series, (0.5, len(models) + 0.5))
    rows = list(zip(models, result.estimates, [""] * len(models), strict=True))
    return Document(
        kind="Ranking of classifiers",
        title=name(result.title) if result.title else f"Ranking of {len(models)} classifiers",
        headline=_headline(result),
        tone="good" if result.best_rank.count(1) == 1 else "open",
        sentences=[
            "The best rank of a model is 1 plus the number of models that are significantly better.",
            "Two intervals may overlap although one model is significantly better: both are judged on the same rows.",
        ],
        figure=figure,
        table=table,
        scope=[count(result.n, "row"), measure, f"method {result.method}"],
        sections=[
            Section("Ranking", [table, estimate_strips(rows, title_of(measure))]),
            _pairs(result, models),
            _true_labels(result),
        ],
        method=[
            *method_facts(result),
            ("Pairs", count(len(models) * (len(models) - 1) // 2, "pair")),
            ("Level", f"{rate(result.level)} {together}; of a pair {rate(round(result.pair_level, 6))}"),
        ],
        methods=[
            f"{count(len(models), 'classifier')} ({joined(models)}) were compared in pairs on {count(result.n, 'row')}",
            f"by {measure} with demele [@demele].",
            *how_compared(result),
            f"{_CORRECTIONS[result.correction]}; level {rate(result.level)} {together}.",
            *rests_on(result),
        ],
        **about(result),
    )


def _headline(result: "Ranking") -> str:
    m, models = len(result.names), list(map(name, result.names))
    first = [model for model, best in zip(models, result.best_rank, strict=True) if best == 1]
    shown = int(np.triu(_better(result) | _better(result).T).sum())
    share = {"holm": "Holm, ", "bonferroni": "Bonferroni, ", "none": "uncorrected, "}[result.correction]
    significant = f"{shown:,} of {m * (m - 1) // 2:,} differences are significant ({share}{rate(result.level)})"
    if len(first) == 1:
        return f"{first[0]} is the best; {significant}."
    best = f"Any of {m} models" if len(first) == m else joined(first, "or", most=4)
    return f"{best} may be the best; {significant}."


def _ranks(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}-{worst}"


def _better(result: "Ranking") -> Any:
    """Return which model of a column is significantly better than that of a row, shape (n_models, n_models)."""
    return _decided(result.pairs, result.names)


def _decided(pairs: "pd.DataFrame", names: Sequence[str]) -> Any:
    place = {model: position for position, model in enumerate(names)}
    better = np.zeros((len(place), len(place)), dtype=np.bool_)
    won = pairs[pairs["verdict"] == "candidate"]
    better[won["baseline"].map(place), won["candidate"].map(place)] = True
    return better


def _table(result: "Ranking") -> Table:
    digits = digits_for(ends(one.interval) for one in result.estimates)
    form, beats = f"percent.{digits}", _better(result).sum(axis=0)
    truly = None if result.reference is None else _decided(result.reference, result.names).sum(axis=0)
    corrected = [one.corrected.kind for one in result.estimates if one.corrected is not None]
    columns = {"Rank": "text", "Model": "text", "Observed": form, f"{rate(result.level)} interval": form}
    columns |= {true_labels_title(corrected): form} if corrected else {}
    columns |= {"Lead (pp)": "points.2?", "Beats": "count"}
    columns |= {} if truly is None else {"Beats on true labels": "count?"}
    rows: list[Sequence[Cell]] = []
    for place, (model, one) in enumerate(zip(result.names, result.estimates, strict=True)):
        rank = _ranks(result.best_rank[place], result.worst_rank[place])
        cells: list[Cell] = [rank, name(model), one.value, ends(one.interval)]
        cells += [ends(one.corrected)] if corrected else []
        cells += [result.leads[place], int(beats[place]), *([] if truly is None else [int(truly[place])])]
        rows.append(cells)
    return Table("Ranking", columns, rows, first=50)


# Pairs ----------------------------------------------------------------------------------------------------------------


def _pairs(result: "Ranking", models: Sequence[str]) -> Section:
    """Show for each row whether it is better than each column."""
    m, better = len(models), _better(result)
    state = 1 + better.T.astype(int) - better.astype(int)  # of the row against the column
    if m > MOST_MODELS:
        shown = "Each row against each column, in the order of the ranking: blue better, red worse, grey inconclusive."
        image = png(_COLOURS[state])
        return Section(
            "Pairwise results", [shown, Images("Pairwise results", [("", [(shown, image)])], max(1, 900 // m))]
        )
    own = {(row.baseline, row.candidate): row for row in result.pairs.itertuples(index=False)}
    cells = {
        (i, j): Pill(_SIGNS[state[i, j]], "none" if i > j else _STATES[state[i, j]].tone)
        for i in range(m)
        for j in range(m)
        if i != j
    }
    upper = [(i, j) for i in range(m) for j in range(i + 1, m)]
    rows = [_row(result, models, own, (i, j), int(state[i, j])) for i, j in upper[:_LISTED]]
    columns = {"Model": "text", "Against": "text", "Result": "text", "Difference (pp)": "points", "Interval": "points"}
    columns |= {
        "p": "p",
        "Holds up to": "text",
        "Label agrees": "count",
        "With the other": "count",
        "Neither": "count?",
    }
    evidence = {}
    if m <= _WITH_EVIDENCE:
        for place, row in zip(upper, rows, strict=True):
            says = f"{row[0]} against {row[1]}: {written(row[2])}."
            facts = [
                (title, written(cell, form))
                for (title, form), cell in zip(list(columns.items())[3:], row[3:], strict=True)
            ]
            evidence[place] = Evidence(says, facts)
    signs = {"▲": "the row is significantly better", "▽": "the column is significantly better", "·": "inconclusive"}
    grid = Matrix("Pairwise results", models, models, cells, signs, evidence)
    listed = Table("All pairs", columns, rows, first=50)
    return Section("Pairwise results", [grid, Folded(f"All {len(upper):,} pairs", [listed])])


def _row(result: "Ranking", models: Sequence[str], own: Any, pair: tuple[int, int], state: int) -> Sequence[Cell]:
    """Return a pair as a row, the better estimate first."""
    i, j = pair
    found = own[result.names[j], result.names[i]]  # the first one is the candidate
    sign = -1 if result.measure == "error" else 1
    low, high = sorted((sign * found.low, sign * found.high))
    held = None if is_missing(found.breakdown_rate) else at_most(found.breakdown_rate)
    p_value = None if is_missing(found.p_value) else float(found.p_value)
    return (
        *(models[i], models[j], _STATES[state], sign * float(found.difference), (float(low), float(high)), p_value),
        *(held, int(found.won), int(found.lost), int(found.neither)),
    )


# True labels ----------------------------------------------------------------------------------------------------------


def _true_labels(result: "Ranking") -> Section:
    """Compare every choice with the one that true labels lead to."""
    if result.reference is None:
        return NOTHING
    both = result.pairs.merge(result.reference, on=["baseline", "candidate"], suffixes=("", "_true"))
    takes, right = (both[key].to_numpy() == "candidate" for key in ("choice", "choice_true"))
    shares: list[tuple[str, int, int, str]] = [
        ("Agreement", int((takes == right).sum()), len(both), "both choose the same model"),
        ("Type I", int((takes & ~right).sum()), int((~right).sum()), "chooses the candidate, true labels do not"),
        ("Type II", int((~takes & right).sum()), int(right.sum()), "keeps the baseline, true labels do not"),
    ]
    columns = {"Rate": "text", "Ordered pairs": "count", "Of": "count", "Share": "percent.2", "Meaning": "text"}
    rows = [(title, part, of, part / of if of else None, meaning) for title, part, of, meaning in shares]
    differing = both[takes != right]
    heads = {"Baseline": "text", "Candidate": "text", "Type": "text"}
    heads |= {"Difference (pp)": "points.2", "On true labels (pp)": "points.2"}
    lines = [
        (
            name(row.baseline),
            name(row.candidate),
            "I" if row.choice == "candidate" else "II",
            row.difference,
            row.difference_true,
        )
        for row in differing.head(_LISTED).itertuples()
    ]
    title = sentence_of(count(len(differing), "choice")).rstrip(".") + " that differ"
    listed = Folded(title, [Table("Choices that differ", heads, lines)]) if lines else None
    return Section("Label errors", [Table("Choices and true labels", columns, rows), listed])
