"""What a ranking of several classifiers says: its document."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.classifiers.comparison.documents import how_compared
from demele.classifiers.documents import estimate_columns, estimate_strips, measure_of, rests_on
from demele.classifiers.rank_sets import MOST_MODELS, rank_text
from demele.core.result import about
from demele.report.document import NOTHING, Document, Images, Mark, Matrix, Pill, Section, Strip, Strips, Table
from demele.report.listing import Column, listed, png, table_of_frame
from demele.report.words import at_most, count, is_missing, joined, name, rate, title_of

if TYPE_CHECKING:
    import pandas as pd

    from demele.classifiers.comparison.ranking import Ranking
    from demele.classifiers.results import Estimate

#: Rows of the table of pairs. Of more than MOST_MODELS models, a pair is a pixel.
_LISTED = 300
_CORRECTIONS = {
    "holm": "The comparisons share the error by Holm's procedure [@holm1979simple]",
    "bonferroni": "The comparisons share the error equally (Bonferroni)",
    "none": "No correction was made for the number of comparisons",
}
_STATES = (Pill("worse", "bad"), Pill("inconclusive", "open"), Pill("better", "good"))
_SIGNS = ("▽", "·", "▲")
#: Columns of the pairs, of which the first is the one that ranks higher.
_PAIRS = {
    "candidate": "text",
    "baseline": "text",
    "verdict": "text",
    "difference": "points",
    "low": "points",
    "high": "points",
    "p_value": "p",
    "holds_up_to": "text",
    "won": "count",
    "lost": "count",
    "neither": "count?",
}
#: Of pairs that are worse, inconclusive, better.
_COLOURS = np.array([(213, 94, 0), (221, 221, 221), (0, 114, 178)], dtype=np.uint8)


def ranking_document(result: "Ranking") -> Document:
    """Say which models may be best, between which ranks each lies, and which differences are significant."""
    models, table = list(map(name, result.names)), _table(result)
    measure = measure_of(result.measure, result.of, method=result.method)
    together = "for each pair" if result.correction == "none" else "for all pairs together"
    strips = [
        Strip(model, [Mark("span", low - 0.4, high + 0.4), Mark("dot", place)], rank_text(low, high))
        for place, model, low, high in zip(itertools.count(1), models, result.best_rank, result.worst_rank)
    ]
    series = {0: "ranks that are possible; the dot is the place by the estimate"}
    return Document(
        kind="Ranking of classifiers",
        title=name(result.title) if result.title else f"Ranking of {len(models)} classifiers",
        headline=_headline(result),
        tone="good" if result.best_rank.count(1) == 1 else "open",
        sentences=[
            "The best rank of a model is 1 plus the number of models that are significantly better.",
            "Two intervals may overlap although one model is significantly better: both are judged on the same rows.",
        ],
        figure=Strips("Ranks", strips, "count", "Rank", series, (0.5, len(models) + 0.5)),
        table=table,
        scope=[count(result.n, "row"), measure, f"method {result.method}"],
        sections=[
            Section("Ranking", [table, estimate_strips(zip(models, result.estimates, strict=True), title_of(measure))]),
            _pairs(result, models),
            _true_labels(result),
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
    shown = int((result.pairs["verdict"] == "candidate").sum())
    share = {"holm": "Holm, ", "bonferroni": "Bonferroni, ", "none": "uncorrected, "}[result.correction]
    significant = f"{shown:,} of {m * (m - 1) // 2:,} differences are significant ({share}{rate(result.level)})"
    if len(first) == 1:
        return f"{first[0]} is the best; {significant}."
    best = f"Any of {m} models" if len(first) == m else joined(first, "or", most=4)
    return f"{best} may be the best; {significant}."


def _better(pairs: "pd.DataFrame", names: Sequence[str]) -> Any:
    """Return which model of a column is significantly better than that of a row, shape (n_models, n_models)."""
    place = {model: position for position, model in enumerate(names)}
    better = np.zeros((len(place), len(place)), dtype=np.bool_)
    won = pairs[pairs["verdict"] == "candidate"]
    better[won["baseline"].map(place), won["candidate"].map(place)] = True
    return better


def _table(result: "Ranking") -> Table:
    beats = _better(result.pairs, result.names).sum(axis=0)
    truly = None if result.reference is None else _better(result.reference, result.names).sum(axis=0)
    estimated: Callable[[int], Estimate] = result.estimates.__getitem__
    columns: list[Column[int]] = [
        ("Rank", "text", lambda place: rank_text(result.best_rank[place], result.worst_rank[place])),
        ("Model", "text", lambda place: name(result.names[place])),
        *estimate_columns(result.estimates, result.level, estimated),
        ("Lead (pp)", "points.2?", lambda place: result.leads[place]),
        ("Beats", "count", lambda place: beats[place]),
        ("Beats on true labels", "count?", lambda place: None if truly is None else truly[place]),
    ]
    return listed("Ranking", range(len(result.names)), columns, first=MOST_MODELS)


# Pairs ----------------------------------------------------------------------------------------------------------------


def _pairs(result: "Ranking", models: Sequence[str]) -> Section:
    """Show for each row whether it is better than each column."""
    m, better = len(models), _better(result.pairs, result.names)
    state = 1 + better.T.astype(int) - better.astype(int)  # of the row against the column
    if m > MOST_MODELS:
        shown = "Each row against each column, in the order of the ranking: blue better, red worse, grey inconclusive."
        pixels = Images("Pairwise results", [("", [(shown, png(_COLOURS[state]))])], max(1, 900 // m))
        return Section("Pairwise results", [shown, pixels])
    tones = {(i, j): "none" if i > j else _STATES[state[i, j]].tone for i, j in itertools.permutations(range(m), 2)}
    cells = {place: Pill(_SIGNS[state[place]], tone) for place, tone in tones.items()}
    signs = {"▲": "the row is significantly better", "▽": "the column is significantly better", "·": "inconclusive"}
    place = {model: position for position, model in enumerate(result.names)}
    pairs = result.pairs.assign(rank=result.pairs["candidate"].map(place), other=result.pairs["baseline"].map(place))
    ahead = pairs[pairs["rank"] < pairs["other"]].sort_values(["rank", "other"]).head(_LISTED)
    holds = ["" if is_missing(share) else at_most(share) for share in ahead["breakdown_rate"]]
    table, _ = table_of_frame("All pairs", ahead.assign(holds_up_to=holds)[list(_PAIRS)], _PAIRS)
    table = replace(table, first=MOST_MODELS, note=f"Difference: {measure_of(result.measure)}, candidate − baseline.")
    grid = Matrix("Pairwise results", models, models, cells, signs)
    return Section("Pairwise results", [grid, table])


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
    return Section("Label errors", [Table("Choices and true labels", columns, rows)])
