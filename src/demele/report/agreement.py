"""The page about agreement between metrics: matrices, print beside them, stability, every pair."""

from collections.abc import Mapping
from typing import Any

from demele.report.agreement_drawn import matrix_table, scatter
from demele.report.agreement_view import (
    MEANINGS,
    TITLES,
    AgreementView,
    short_tau,
    title_of,
)
from demele.report.page import (
    Cell,
    Html,
    controls,
    h,
    notes,
    paragraph,
    table,
)
from demele.report.words import DASH, count, level_text, named, number, percent

__all__ = ["agreement_sections"]

Item = Mapping[str, Any]
Sections = list[tuple[str, str, Html]]

#: What has no place of its own on the page of a study.
STYLES, SCRIPTS = ("labels.css", "agreement.css"), ("labels.js", "agreement.js")


def page_data(view: AgreementView) -> dict[str, Any]:
    """Return everything, with what the script needs: the orders of metrics, and all pairs in one list."""
    rows = [{"matrix": name, **pair} for name, pairs in view.matrices.items() for pair in pairs.values()]
    orders = {"given": view.metrics, "family": view.by_family, "alike": view.clustered}
    matrices = [{name: value for name, value in one.items() if name != "pairs"} for one in view.data["matrices"]]
    return {**view.data, "matrices": matrices, "rows": rows, "page": {"orders": orders}}


def agreement_sections(view: AgreementView) -> Sections:
    """Return the sections that a page about agreement has, whatever the scores are of."""
    return [
        ("matrices", "Matrices", _matrices(view)),
        ("print", "Beside print", _beside_print(view)),
        ("stability", "How stable each ranking is", _stability(view)),
        ("pairs", "Every pair", _pairs(view)),
        ("notes", "Notes", notes(view.data["notes"])),
    ]


# Matrices ------------------------------------------------------------------------------------------------------------


def _matrices(view: AgreementView) -> Html:
    ours = {TITLES.get(name, name): pairs for name, pairs in view.matrices.items()}
    every = {**ours, **{f"{title}, in print": pairs for title, pairs in view.printed.items()}}
    meanings = {TITLES.get(name, name): MEANINGS.get(name, "") for name in view.matrices}
    second = next((name for name in every if name.endswith("in print")), list(every)[-1])
    orders = {"family": "family", "alike": "those alike together", "given": "as given"}
    choose = controls(
        h("label", "Order ", h("select", [h("option", words, value=key) for key, words in orders.items()], id="order")),
    )
    figures = [
        h(
            "figure",
            h("figcaption", h("b", name), " ", h("span", meanings.get(name, ""), class_="meaning")),
            h("div", matrix_table(view, name, pairs, view.by_family), class_="scroll"),
            class_="matrix-figure",
            data_name=name,
        )
        for name, pairs in every.items()
    ]
    sides = (("left", next(iter(every))), ("right", second))[: len(every)]
    panes = [_pane(side, list(every), first) for side, first in sides]
    return h(
        "",
        _legend(view, several=len(every) > 1),
        choose,
        h("div", panes, class_="panes", id="panes"),
        h("div", figures, id="figures"),
    )


def _pane(side: str, names: list[str], first: str) -> Html:
    options = [h("option", name, value=name, selected=name == first) for name in names]
    return h(
        "div",
        h("label", "Matrix ", h("select", options, class_="choose")),
        h("div", class_="shown-matrix"),
        class_=f"pane {side}",
        hidden=True,
    )


def _legend(view: AgreementView, *, several: bool) -> Html:
    level = level_text(view.data["level"])
    words = [
        (h("i", ".5", class_="key clear with", style="--t:.5"), "clear: told from 0 beside all other pairs"),
        (h("i", ".3", class_="key alone with", style="--t:.3"), "clear if it were the only pair"),
        (h("i", ".1", class_="key untold with", style="--t:.1"), "not significant"),
        (h("i", "−.5", class_="key clear against", style="--t:.5"), "opposite orders"),
    ]
    if "permuted" in view.matrices:
        words.append((h("i", ".3", class_="key alone with null", style="--t:.3"), "within what permuted factors give"))
    told = f"Kendall's tau-b, {count(len(view.data['configurations']), 'configuration')}, intervals for {level}. "
    return h(
        "",
        paragraph(told, "Point at a cell for its interval", "; both matrices show the same pair." if several else "."),
        h("ul", [h("li", sign, " ", text) for sign, text in words], class_="key tau-key"),
    )


# Print ---------------------------------------------------------------------------------------------------------------


def _beside_print(view: AgreementView) -> Html:
    if not view.printed:
        return h("")
    figures = [
        h("figure", h("figcaption", h("b", title)), scatter(view, title, pairs))
        for title, pairs in view.printed.items()
    ]
    heads: list[tuple[object, str] | None] = [("Ours", "text"), ("In print", "text")]
    heads += [(word, "number") for word in ("Pairs", "r", "Same sign", "Mean difference", "r without our noise")]
    rows = [
        [
            TITLES.get(row["matrix"], row["matrix"]),
            h("td", _printed_name(view, row)),
            Cell(f"{row['pairs']}", row["pairs"]),
            _measured(row, "r"),
            _measured(row, "same_sign", of=row["strong_pairs"]),
            _measured(row, "difference"),
            Cell(number(row["r_without_noise"], 2), row["r_without_noise"]),
        ]
        for row in view.data["likeness"]
    ]
    return h(
        "",
        paragraph(
            "The printed matrices are of one training each of 36 beta-VAEs, so that even a perfect repetition would "
            "correlate by no more than about .85. Same sign: of the pairs that print can tell from 0."
        ),
        h("div", figures, class_="panels"),
        table("Likeness to what is in print", heads, rows),
        h("ul", [h("li", one["title"], ": ", one["source"]) for one in view.data["published"]], class_="meaning"),
    )


def _printed_name(view: AgreementView, row: Item) -> str:
    title = next(one["title"] for one in view.data["published"] if one["name"] == row["published"])
    return f"{title}, without pairs of two signs" if row["disputed"] == "left out" else str(title)


def _measured(row: Item, name: str, *, of: int | None = None) -> Cell:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    written = percent(row[name], 0) if of is not None else number(row[name], 2)
    ends = [percent(end, 0) if of is not None else number(end, 2) for end in (low, high)]
    below = "" if low is None else f"[{ends[0]}, {ends[1]}]"
    return Cell(written + (f" of {of}" if of is not None else ""), row[name], below=below)


# Stability, pairs ----------------------------------------------------------------------------------------------------


def _stability(view: AgreementView) -> Html:
    found: dict[str, dict[str, Item]] = {}
    for row in view.data["stability"]:
        found.setdefault(row["between"], {})[row["metric"]] = row
    best = {row["metric"]: row for row in view.data["best"]}
    stays = any(row["stays"] is not None for row in best.values())
    if not found and not stays:
        return h("")
    heads: list[tuple[object, str] | None] = [("Metric", "text"), *((between, "number") for between in found)]
    heads += [("Best configuration", "text"), ("Stays best", "number") if stays else None]
    rows = [
        [
            title_of(metric),
            *(_stable(of_metric.get(metric)) for of_metric in found.values()),
            h("td", named(best[metric]["configuration"]) if metric in best else DASH),
            Cell(percent(best[metric]["stays"], 0), best[metric]["stays"]) if stays and metric in best else None,
        ]
        for metric in view.by_family
    ]
    whole = ", ".join(f"{between} {number(r, 2)}" for between, r in view.data["alike"].items())
    told = f"The whole matrix is more stable than one metric's ranking: its taus correlate by {whole}." if whole else ""
    return h(
        "",
        paragraph("Kendall's tau between the same metric's scores of the same configurations, done twice. ", told),
        table("Stability of each metric's ranking", heads, rows),
    )


def _stable(row: Item | None) -> Cell:
    return Cell(DASH) if row is None else Cell(short_tau(row["tau"]), row["tau"], below=_ends(row))


def _ends(row: Item) -> str:
    return "" if row["low"] is None else f"[{short_tau(row['low'])}, {short_tau(row['high'])}]"


def _pairs(view: AgreementView) -> Html:
    others = [name for name in view.matrices if name != "all"]
    heads: list[tuple[object, str] | None] = [("Metrics", "text"), ("tau", "number"), ("Verdict", "text")]
    heads += [(TITLES.get(name, name), "number") for name in others]
    heads += [(f"{title}, in print", "number") for title in view.printed]
    rows = []
    ordered = sorted(view.matrices["all"].items(), key=lambda item: -abs(item[1]["tau"] or 0.0))
    for names, pair in ordered:
        printed = [pairs.get(names) for pairs in view.printed.values()]
        rows.append(
            [
                h("th", title_of(pair["first"]), ", ", title_of(pair["second"]), scope="row"),
                _stable(pair),
                h("td", pair["verdict"]),
                *(_stable(view.matrices[name].get(names)) for name in others),
                *(
                    Cell(short_tau(None if one is None else one["tau"]), None if one is None else one["tau"])
                    for one in printed
                ),
            ]
        )
    return table("All pairs of metrics", heads, rows, first=15, noun="pairs")
