"""One self-contained HTML page about several classifiers: who is shown to be better than whom, and who may be first."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from demele.report.bench_view import plain
from demele.report.labels_parts import (
    Item,
    assumptions,
    bar,
    cell,
    checked,
    facts,
    grid,
    lead,
    notes,
    signature,
    table,
    write,
)
from demele.report.labels_sentences import better_of, by_names, ranking_headline
from demele.report.labels_words import (
    METHOD_WORDS,
    digits_for,
    floor_percent,
    level_text,
    measure_of,
    percent,
    percent_range,
    points,
    points_range,
    probability,
    span_of,
)
from demele.report.words import DASH, count, named

__all__ = ["write_ranking"]

#: With more models than this, names above the grid of pairs are left out: numbers stand for them.
_FEW = 30
#: Pairs that the page lists one by one; the data of the page hold all.
_LISTED = 300
_CORRECTIONS = {
    "holm": "Holm's procedure: all verdicts hold together",
    "bonferroni": "Bonferroni's: all verdicts hold together",
    "none": "none: each verdict has its level for itself, so that among many some are wrong",
}


def write_ranking(ranking: Mapping[str, Any], path: Path, title: str | None = None) -> Path:
    """Write one HTML file about several classifiers compared with each other.

    Parameters
    ----------
    ranking : mapping
        What ``Ranking.to_dict()`` returns.
    path : Path
        The file; replaced if it exists.
    title : str, optional
        Heading of the page; by default that of the ranking, if it has one.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the dictionary is not that of a ranking.

    Notes
    -----
    The page needs no script to be read. A script opens the evidence of each pair, orders tables and offers downloads;
    a content security policy forbids it any request.
    """
    data = checked(plain(ranking), "ranking")
    view = _view(data)
    sections = [
        ("verdict", "Verdict", _verdict(view)),
        ("models", "Ranks that each can have", _models(view)),
        ("pairs", "Who is shown to be better than whom", _pairs(view)),
        ("reference", "Beside the true labels", _reference(view)),
        ("notes", "Notes", notes(data.get("notes") or ())),
        ("expert", "For experts", _expert(view)),
    ]
    return write(
        data,
        Path(path),
        kind="Ranking of classifiers on labels that may be wrong",
        title=title or data.get("title") or f"Which of {len(view.names)} classifiers is best?",
        sections=sections,
        scripts=("labels.js", "ranking.js"),
        csv="pairs",
    )


@dataclass(frozen=True, slots=True)
class _View:
    """A ranking with its pairs by the names (established, candidate)."""

    data: Item
    names: Sequence[str]
    pairs: Mapping[tuple[str, str], Item]
    reference: Mapping[tuple[str, str], Item]

    def shown(self, first: str, second: str) -> str | None:
        """Return who of two is shown to be better, if any."""
        return better_of(self.pairs, first, second)


def _view(data: Item) -> _View:
    names = [model["name"] for model in data["models"]]
    return _View(data, names, by_names(data["pairs"]), by_names(data.get("reference")))


# The verdict ----------------------------------------------------------------------------------------------------------


def _verdict(view: _View) -> str:
    despite = "if every label is right" if view.data["method"] == "classic" else "whatever the label errors allowed for"
    correction = str(view.data.get("correction"))
    level = level_text(view.data["level"])
    together = (
        f"Each verdict has its own level of {level}: among so many, some may be wrong."
        if correction == "none"
        else f"All verdicts and rank ranges hold together with a probability of at least {level}."
    )
    sentences = [
        f"A difference is <em>shown</em> if one classifier is better {despite}. The others are not shown to "
        "be equal: the labels cannot tell.",
        f"{together} This needs what follows to hold.",
    ]
    tone = "candidate" if sum(model["best_rank"] == 1 for model in view.data["models"]) == 1 else "undecided"
    return lead(ranking_headline(view.data), sentences, tone=tone) + assumptions(
        view.data.get("assumptions") or (), "<strong>This assumes:</strong>"
    )


# Models ---------------------------------------------------------------------------------------------------------------


def _models(view: _View) -> str:
    models = view.data["models"]
    m = len(models)
    every: list[float | None] = []
    for model in models:
        for interval in ("interval", "corrected"):
            every += span_of(model.get(interval))
        every.append(model.get("value"))
    present = [value for value in every if value is not None] or [0.0, 1.0]
    low, high = math.floor(100 * min(present)) / 100, math.ceil(100 * max(present) + 1e-9) / 100
    ends = (low, high)
    corrected = any(model.get("corrected") for model in models)
    led = all(model.get("lead") is not None for model in models)
    digits = max(digits_for(span_of(model.get("interval"))) for model in models)
    rows = []
    for model in models:
        best, worst = int(model["best_rank"]), int(model["worst_rank"])
        ranks = f"{best}" if best == worst else f"{best} to {worst}"
        span = f'<i class="c0" style="left:{100 * (best - 1) / m:.2f}%;width:{100 * (worst - best + 1) / m:.2f}%"></i>'
        own, right = span_of(model.get("interval")), span_of(model.get("corrected"))
        value = model.get("value")
        at = "" if value is None else f'<i class="at" style="left:{100 * (value - low) / (high - low):.2f}%"></i>'
        drawn = bar(right if corrected else own, ends, "c0 corrected")
        cells = [
            cell(ranks, best + worst / 1000),
            f'<td class="place" aria-hidden="true"><span class="strip-of">{span}</span></td>',
            cell(percent(value, digits), value),
            cell(percent_range(own, digits) or DASH, own[0]),
            *([cell(percent_range(right, digits) or DASH, right[0])] if corrected else []),
            *([cell(points(model["lead"], 2, sign=True), model["lead"])] if led else []),
            f'<td class="place" aria-hidden="true"><span class="strip-of">{drawn}{at}</span></td>',
        ]
        rows.append(f'<tr><th scope="row">{named(model["name"])}</th>{"".join(cells)}</tr>')
    measure = _measure(view)
    heads = [
        ("Classifier", "text"),
        ("Ranks", "number"),
        (f"1 to {m}", "text drawn"),
        (f"Apparent {measure}", "number"),
        ("Interval", "number"),
        *([("On right labels", "number")] if corrected else []),
        *([("Mean lead", "number")] if led else []),
        (f"{percent(low, 0)} to {percent(high, 0)}", "text drawn"),
    ]
    return (
        "<p>A classifier’s rank is 1 plus the number of better ones. Its best rank counts those shown to be better, "
        f"its worst all but those shown to be worse. Apparent {measure} is against the given labels"
        f"{', the bar what is possible on right labels' if corrected else ''}; bars of two may overlap although one "
        "is shown to be better, since both are judged on the same instances."
        + (
            " They are sorted by their mean lead: the mean of the estimated differences to the others, in points."
            if led
            else ""
        )
        + "</p>"
        + table(
            "Classifiers, best estimate first",
            heads,
            rows,
            kind="ranks",
            first=50 if m > 60 else None,
            noun="classifiers",
        )
    )


def _measure(view: _View) -> str:
    first = view.data["models"][0]
    return measure_of(str(view.data["measure"]), view.data.get("of", first.get("of")), method=str(view.data["method"]))


# Pairs ----------------------------------------------------------------------------------------------------------------


def _pairs(view: _View) -> str:
    names = view.names
    rows = [
        "".join(_grid_cell(view, first, second, (i, j)) for j, second in enumerate(names))
        for i, first in enumerate(names)
    ]
    return (
        '<p>Each row against each column: <span class="badge up">▲</span> the row is shown to be better, '
        '<span class="badge down">▽</span> the column is, <span class="badge">·</span> the labels cannot tell.'
        '<span class="controls inline" hidden> Choose a cell for its evidence; arrow keys move among cells.</span></p>'
        + grid("Who is shown to be better than whom", names, rows, kind="pairs", few=_FEW)
        + f'<p class="grid-says" id="grid-says" aria-hidden="true"></p>{_listed(view)}'
    )


def _grid_cell(view: _View, first: str, second: str, place: tuple[int, int]) -> str:
    if place[0] == place[1]:
        return '<td class="self"></td>'
    better = view.shown(first, second)
    kind, sign = ("", "·") if better is None else ("up", "▲") if better == first else ("down", "▽")
    own = f' class="{kind}"' if kind else ""
    return f"<td{own}>{sign}</td>"


def _listed(view: _View) -> str:
    """Write every difference once, the better estimate first."""
    names = view.names
    total = len(names) * (len(names) - 1) // 2
    if total > _LISTED:
        return f"<p>The {total:,} differences one by one: in the data of this page (<em>Data (CSV)</em>).</p>"
    sign = -1 if view.data["measure"] == "error" else 1
    rows = []
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            row = view.pairs.get((second, first))
            if row is None:
                continue
            better = view.shown(first, second)
            said = "not shown" if better is None else "better" if better == first else "worse"
            value, low, high = (
                None if row.get(key) is None else sign * row[key] for key in ("difference", "low", "high")
            )
            low, high = (high, low) if sign < 0 else (low, high)
            digits = digits_for((low, high))
            bears = row.get("breakdown_rate")
            cells = [
                cell(named(second), kind="text"),
                cell(said, kind="no" if better is None else "yes"),
                cell(points(value, digits, sign=True), value),
                cell(points_range((low, high), digits, sign=True) or DASH, low),
                cell(escape(probability(row.get("p_value"))), row.get("p_value")),
                cell(DASH if bears is None else floor_percent(bears), bears),
                *(
                    cell(DASH if row.get(key) is None else f"{row[key]:,}", row.get(key))
                    for key in ("won", "lost", "neither")
                ),
            ]
            rows.append(f'<tr><th scope="row">{named(first)}</th>{"".join(cells)}</tr>')
    heads = [
        ("This one", "text"),
        ("against", "text"),
        ("Verdict", "text"),
        ("Better by, points", "number"),
        ("Interval", "number"),
        ("p-value", "number"),
        ("Bears wrong labels", "number"),
        ("Label says this one", "number"),
        ("the other", "number"),
        ("neither", "number"),
    ]
    return (
        f'<details class="values"><summary>All {total:,} differences as a table</summary>'
        f"{table('All differences', heads, rows)}</details>"
    )


# Beside the true labels -----------------------------------------------------------------------------------------------


def _reference(view: _View) -> str:
    if not view.reference:
        return ""
    both = [(row, view.reference[names]) for names, row in view.pairs.items() if names in view.reference]
    if not both:
        return ""
    kept = [ours for ours, true in both if true["choice"] == "established"]
    taken = [ours for ours, true in both if true["choice"] == "candidate"]
    wrongly_taken = sum(row["choice"] == "candidate" for row in kept)
    wrongly_kept = sum(row["choice"] == "established" for row in taken)
    agree = len(both) - wrongly_taken - wrongly_kept
    rows = [
        f'<tr><th scope="row">{name}</th>{cell(f"{part:,} of {whole:,}")}'
        f'{cell(percent(part / whole, 2) if whole else DASH)}<td class="text">{meaning}</td></tr>'
        for name, part, whole, meaning in (
            ("Agreement", agree, len(both), "both choose the same"),
            (
                "Type I",
                wrongly_taken,
                len(kept),
                "the candidate is chosen, though the true labels keep the established one",
            ),
            (
                "Type II",
                wrongly_kept,
                len(taken),
                "the established one is kept, though the true labels choose the candidate",
            ),
        )
    ]
    heads = [("Rate", "text"), ("Ordered pairs", "number"), ("Share", "number"), ("Meaning", "text")]
    differing = [(ours, true) for ours, true in both if ours["choice"] != true["choice"]]
    lines = [
        f'<tr><th scope="row">{named(ours["established"])}</th>{cell(named(ours["candidate"]), kind="text")}'
        f"{cell('I' if ours['choice'] == 'candidate' else 'II', kind='text')}"
        f"{cell(points(ours['difference'], 2, sign=True), ours['difference'])}"
        f"{cell(points(true['difference'], 2, sign=True), true['difference'])}</tr>"
        for ours, true in differing[:_LISTED]
    ]
    listed = (
        f'<details class="values"><summary>{count(len(differing), "choice")} that differ'
        f"{f', the first {_LISTED}' if len(differing) > _LISTED else ''}</summary>"
        + table(
            "Choices that differ from those on true labels",
            [
                ("Established", "text"),
                ("Candidate", "text"),
                ("Type", "text"),
                ("Difference, points", "number"),
                ("on true labels", "number"),
            ],
            lines,
        )
        + "</details>"
        if differing
        else ""
    )
    return (
        "<p>True labels were given too, so that every choice can be held against the one that they would lead to.</p>"
        + table("Choices beside those on true labels", heads, rows)
        + listed
    )


# For experts ----------------------------------------------------------------------------------------------------------


def _expert(view: _View) -> str:
    data = view.data
    method = str(data["method"])
    words = METHOD_WORDS.get(method)
    correction = str(data.get("correction"))
    pair_level = data.get("pair_level")
    rows = [
        ("Method", f"<code>{escape(method)}</code>" + (f": {escape(words.title)}" if words else "")),
        ("Rule", escape(words.rule) if words else ""),
        ("Worth", escape(words.worth) if words else ""),
        ("Measure", _measure(view)),
        ("Instances", f"{data['n']:,}"),
        ("Classifiers", f"{len(view.names):,}, {count(len(view.pairs), 'ordered pair')}"),
        (
            "Level",
            f"{level_text(data['level'])} for all verdicts" if correction != "none" else level_text(data["level"]),
        ),
        ("Level of a pair", f"{100 * pair_level:.6g}%" if pair_level is not None else ""),
        ("Correction", escape(_CORRECTIONS.get(correction, correction))),
    ]
    return facts(rows) + signature(data.get("signature"))
