"""The page about several classifiers: who is shown to be better than whom, and who may be first."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demele.core.written import floor_percent
from demele.report.estimates import grid, labels_page, strip
from demele.report.page import Cell, Html, facts, h, lead, notes, of_kind, paragraph, signature, table
from demele.report.sentences import better_of, by_names, measure_of, method_facts, ranking_headline, trusts_labels
from demele.report.words import (
    DASH,
    Text,
    count,
    digits_for,
    em,
    level_text,
    named,
    percent,
    percent_range,
    points,
    points_range,
    probability,
    rate_text,
    span_of,
    whole,
)

__all__ = ["write_ranking"]

Item = Mapping[str, Any]

#: With more models than this, names above the grid of pairs are left out: numbers stand for them.
_FEW = 30
#: Pairs that the page lists one by one; the data of the page hold all.
_LISTED = 300
_CORRECTIONS = {
    "holm": "Holm's procedure: all verdicts hold together",
    "bonferroni": "Bonferroni's: all verdicts hold together",
    "none": "none: each verdict has its level for itself, so that among many some are wrong",
}


def write_ranking(ranking: Item, path: Path, title: str | None = None) -> Path:
    """Write what ``Ranking.to_dict()`` returns as one HTML file.

    The page needs no script to be read. A script opens the evidence of each pair, orders tables and offers downloads.

    Raises
    ------
    InputError
        If the dictionary is not that of a ranking.
    """
    data = of_kind(ranking, "ranking")
    view = _View(
        data, [model["name"] for model in data["models"]], by_names(data["pairs"]), by_names(data.get("reference"))
    )
    sections = [
        ("verdict", "Verdict", _verdict(view)),
        ("models", "Ranks that each can have", _models(view)),
        ("pairs", "Who is shown to be better than whom", _pairs(view)),
        ("reference", "Beside the true labels", _reference(view)),
        ("notes", "Notes", notes(data.get("notes") or ())),
        ("expert", "For experts", _expert(view)),
    ]
    return labels_page(
        data,
        kind="Ranking of classifiers on labels that may be wrong",
        title=title or data.get("title") or f"Which of {len(view.names)} classifiers is best?",
        sections=sections,
        scripts=("ranking.js",),
        csv="pairs",
    ).write(path)


@dataclass(frozen=True, slots=True)
class _View:
    """A ranking with its pairs by the names (baseline, candidate)."""

    data: Item
    names: Sequence[str]
    pairs: Mapping[tuple[str, str], Item]
    reference: Mapping[tuple[str, str], Item]

    @property
    def measure(self) -> Text:
        """What was compared, in words."""
        of = self.data.get("of", self.data["models"][0].get("of"))
        return measure_of(str(self.data["measure"]), of, method=str(self.data["method"]))


def _verdict(view: _View) -> Html:
    data = view.data
    despite = "if all labels are correct" if trusts_labels(data) else "whatever the label errors allowed for"
    level = level_text(data["level"])
    together = (
        f"Each verdict has its own level of {level}: among so many, some may be wrong."
        if data.get("correction") == "none"
        else f"All verdicts and rank ranges hold together with a probability of at least {level}."
    )
    sentences = [
        Text(
            *(
                "A difference is ",
                em("shown"),
                f" if one classifier is better {despite}. The others are not shown to be ",
            ),
            "equal: the labels cannot tell.",
        ),
        f"{together} This needs what follows to hold.",
    ]
    tone = "candidate" if sum(model["best_rank"] == 1 for model in data["models"]) == 1 else "inconclusive"
    return lead(ranking_headline(data), sentences, tone=tone, assumptions=data.get("assumptions") or ())


def _models(view: _View) -> Html:
    models = view.data["models"]
    m = len(models)
    every = [model.get("value") for model in models]
    every += [end for model in models for key in ("interval", "corrected") for end in span_of(model.get(key))]
    present = [value for value in every if value is not None] or [0.0, 1.0]
    ends = (math.floor(100 * min(present)) / 100, math.ceil(100 * max(present) + 1e-9) / 100)
    corrected = any(model.get("corrected") for model in models)
    led = all(model.get("lead") is not None for model in models)
    digits = max(digits_for(span_of(model.get("interval"))) for model in models)
    rows = []
    for model in models:
        best, worst = int(model["best_rank"]), int(model["worst_rank"])
        own, right, value = span_of(model.get("interval")), span_of(model.get("corrected")), model.get("value")
        rows.append(
            [
                named(model["name"]),
                Cell(f"{best}" if best == worst else f"{best} to {worst}", best + worst / 1000),
                strip(((best - 1) / m, worst / m), None, (0.0, 1.0), "c0"),
                Cell(percent(value, digits), value, below=percent_range(own, digits)),
                Cell(percent_range(right, digits) or DASH, right[0]) if corrected else None,
                Cell(points(model["lead"], 2, sign=True), model["lead"]) if led else None,
                strip(right if corrected else own, value, ends, "c0 corrected"),
            ]
        )
    heads = [
        ("Classifier", "text"),
        ("Ranks", "number"),
        (f"1 to {m}", "text drawn"),
        (Text("Observed ", view.measure), "number"),
        ("On right labels", "number") if corrected else None,
        ("Mean lead", "number") if led else None,
        (f"{percent(ends[0], 0)} to {percent(ends[1], 0)}", "text drawn"),
    ]
    sorting = " They are sorted by their mean lead: the mean of the estimated differences to the others, in points."
    return h(
        "",
        paragraph(
            "A classifier’s rank is 1 plus the number of better ones. Its best rank counts those shown to be better, "
            "its worst all but those shown to be worse. Observed ",
            *(view.measure, " is against the given labels, with its interval below"),
            ", the bar what is possible on right labels" if corrected else "",
            "; bars of two may overlap although one is shown to be better, since both are judged on the same ",
            "instances.",
            sorting if led else "",
        ),
        table(
            "Classifiers, best estimate first",
            heads,
            rows,
            kind="ranks",
            first=50 if m > 60 else None,
            noun="classifiers",
        ),
    )


# Pairs ----------------------------------------------------------------------------------------------------------------


def _pairs(view: _View) -> Html:
    signs = {"up": "▲", "down": "▽", "": "·"}

    def cell(first: str, second: str) -> Html:
        if first == second:
            return h("td", class_="self")
        better = better_of(view.pairs, first, second)
        kind = "" if better is None else "up" if better == first else "down"
        return h("td", signs[kind], class_=kind)

    badges = {kind: h("span", sign, class_=f"badge {kind}".strip()) for kind, sign in signs.items()}
    rows = [[cell(first, second) for second in view.names] for first in view.names]
    return h(
        "",
        paragraph(
            *("Each row against each column: ", badges["up"], " the row is shown to be better, ", badges["down"]),
            *(" the column is, ", badges[""], " the labels cannot tell."),
            h(
                "span",
                " Choose a cell for its evidence; arrow keys move among cells.",
                class_="controls inline",
                hidden=True,
            ),
        ),
        grid("Who is shown to be better than whom", view.names, rows, kind="pairs", few=_FEW),
        _listed(view),
    )


def _listed(view: _View) -> Html:
    """Write every difference once, the better estimate first."""
    names = view.names
    total = len(names) * (len(names) - 1) // 2
    if total > _LISTED:
        return paragraph(f"The {total:,} differences one by one: in the data of this page (", em("Data (CSV)"), ").")
    sign = -1 if view.data["measure"] == "error" else 1
    rows = []
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            row = view.pairs.get((second, first))
            if row is None:
                continue
            better = better_of(view.pairs, first, second)
            said = "not shown" if better is None else "better" if better == first else "worse"
            value, low, high = (
                None if row.get(key) is None else sign * row[key] for key in ("difference", "low", "high")
            )
            span = (high, low) if sign < 0 else (low, high)
            digits = digits_for(span)
            bears = row.get("breakdown_rate")
            rows.append(
                [
                    named(first),
                    Cell(named(second), kind="text"),
                    Cell(said, kind="no" if better is None else "yes"),
                    Cell(points(value, digits, sign=True), value),
                    Cell(points_range(span, digits, sign=True) or DASH, span[0]),
                    Cell(probability(row.get("p_value")), row.get("p_value")),
                    Cell(DASH if bears is None else floor_percent(bears), bears),
                    *(Cell(whole(row.get(key)), row.get(key)) for key in ("won", "lost", "neither")),
                ]
            )
    heads: list[tuple[object, str] | None] = [*((text, "text") for text in ("This one", "against", "Verdict"))]
    heads += [(text, "number") for text in ("Better by, points", "Interval", "p-value", "Bears wrong labels")]
    heads += [(text, "number") for text in ("Label says this one", "the other", "neither")]
    return _folded(f"All {total:,} differences as a table", table("All differences", heads, rows))


def _folded(summary: str, inside: Html) -> Html:
    return h("details", h("summary", summary), inside, class_="values")


# Beside the true labels -----------------------------------------------------------------------------------------------


def _reference(view: _View) -> Html:
    both = [(row, view.reference[names]) for names, row in view.pairs.items() if names in view.reference]
    if not both:
        return h("")
    kept = [ours for ours, true in both if true["choice"] == "baseline"]
    taken = [ours for ours, true in both if true["choice"] == "candidate"]
    wrongly_taken = sum(row["choice"] == "candidate" for row in kept)
    wrongly_kept = sum(row["choice"] == "baseline" for row in taken)
    agree = len(both) - wrongly_taken - wrongly_kept
    rates = (
        ("Agreement", agree, len(both), "both choose the same"),
        (
            "Type I",
            wrongly_taken,
            len(kept),
            "the candidate is chosen, though the true labels keep the baseline",
        ),
        (
            "Type II",
            wrongly_kept,
            len(taken),
            "the baseline is kept, though the true labels choose the candidate",
        ),
    )
    rows = [
        [name, Cell(f"{part:,} of {of:,}"), Cell(percent(part / of, 2) if of else DASH), Cell(meaning, kind="text")]
        for name, part, of, meaning in rates
    ]
    heads: list[tuple[object, str] | None] = [("Rate", "text"), ("Ordered pairs", "number"), ("Share", "number")]
    differing = [(ours, true) for ours, true in both if ours["choice"] != true["choice"]]
    lines = [
        [
            named(ours["baseline"]),
            Cell(named(ours["candidate"]), kind="text"),
            Cell("I" if ours["choice"] == "candidate" else "II", kind="text"),
            *(Cell(points(row["difference"], 2, sign=True), row["difference"]) for row in (ours, true)),
        ]
        for ours, true in differing[:_LISTED]
    ]
    first = f", the first {_LISTED}" if len(differing) > _LISTED else ""
    columns: list[tuple[object, str] | None] = [("Baseline", "text"), ("Candidate", "text"), ("Type", "text")]
    columns += [("Difference, points", "number"), ("on true labels", "number")]
    return h(
        "",
        paragraph(
            "True labels were given too, so that every choice can be held against the one that they would lead to."
        ),
        table("Choices beside those on true labels", [*heads, ("Meaning", "text")], rows),
        _folded(
            f"{count(len(differing), 'choice')} that differ{first}",
            table("Choices that differ from those on true labels", columns, lines),
        )
        if differing
        else "",
    )


def _expert(view: _View) -> Html:
    data = view.data
    correction, pair_level = str(data.get("correction")), data.get("pair_level")
    together = "" if correction == "none" else " for all verdicts"
    rows = [
        *method_facts(data),
        ("Measure", view.measure),
        ("Instances", f"{data['n']:,}"),
        ("Classifiers", f"{len(view.names):,}, {count(len(view.pairs), 'ordered pair')}"),
        ("Level", level_text(data["level"]) + together),
        ("Level of a pair", "" if pair_level is None else rate_text(pair_level)),
        ("Correction", _CORRECTIONS.get(correction, correction)),
    ]
    return h("", facts(rows), signature(data.get("signature")))
