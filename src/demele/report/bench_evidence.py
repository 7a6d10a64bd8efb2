"""The evidence behind each verdict of the bench, and the printed tables beside ours."""

from collections.abc import Iterable

from demele.report.bench_view import BenchView, Item, badge, printed_words, status_key
from demele.report.page import Html, h, hidden, identity, paragraph
from demele.report.words import DASH, Text, brackets, em, fine, fine_brackets, named, number, plural, strong

__all__ = ["evidence", "printed"]


def _plain_table(caption: str, heads: Iterable[str], rows: Iterable[object], kind: str) -> Html:
    columns = h("tr", [h("th", head, scope="col") for head in heads])
    whole = h("table", h("caption", caption, class_="hidden"), h("thead", columns), h("tbody", rows), class_=kind)
    return h("div", whole, class_="scroll")


# The evidence ---------------------------------------------------------------------------------------------------------


def evidence(view: BenchView) -> Html:
    """Write the rules, and the evidence of every cell: one folded part for each row, one for each cell in it."""
    rows = [
        (row, cells)
        for row in view.rows
        if (cells := [item for item in view.criteria if (row, item["name"]) in view.verdicts])
    ]
    if not rows:
        return h("")
    judged = {item["name"] for _, cells in rows for item in cells}
    rules = [
        [
            h("dt", view.criterion_title(item), id=identity("rule", item["name"])),
            h("dd", item.get("question") or "", h("span", item.get("rule") or "", class_="facts")),
        ]
        for item in view.criteria
        if item["name"] in judged
    ]
    parts = []
    for row, cells in rows:
        told = filter(None, (plural(len(cells), "criterion", "criteria"), view.fewer(row)))
        many = h("span", " · ".join(told), class_="meaning")
        summary = h("summary", named(view.row_title(row)), " ", many)
        parts.append(h("details", summary, [_evidence(view, row, item) for item in cells], class_="evidence-row"))
    return h(
        "",
        paragraph(
            "What each cell of the tables above rests on, row by row. A cell leads to its own place in this list."
        ),
        h("details", h("summary", "The questions and rules"), h("dl", rules, class_="metrics"), class_="evidence-row"),
        parts,
    )


def _evidence(view: BenchView, row: str, criterion: Item) -> Html:
    verdict = view.verdicts[row, criterion["name"]]
    title = view.criterion_title(criterion)
    groups = [_part(view, part) for part in verdict.get("parts") or ()]
    heads = [h("th", head, scope="col") for head in ("Condition", "Estimate", "Interval", "At least", "Status")]
    caption = h("caption", "Conditions", class_="hidden")
    listed = h("table", caption, h("thead", h("tr", heads)), groups, class_="conditions") if groups else ""
    body = h(
        "div",
        paragraph(h("a", title, href=f"#{identity('rule', criterion['name'])}"), f": {verdict.get('summary') or ''}"),
        _printed_note(verdict),
        h("div", listed, class_="scroll") if groups else "",
        id=identity("evidence", row, criterion["name"]),
        class_="evidence-body",
    )
    return h("details", h("summary", title, " ", badge(verdict["status"])), body, class_="evidence")


def _printed_note(verdict: Item) -> Html:
    if verdict.get("printed") is None:
        return h("")
    sign, meaning = printed_words(verdict["printed"])
    agrees = verdict.get("agrees")
    differs = [Text("; ", em("ours differs")), " ", h("span", "≠", class_="differs", aria_hidden="true")]
    words = "" if agrees is None else "; ours agrees" if agrees else differs
    return paragraph(
        f"The printed table says: {f'{sign} ' if sign else ''}({meaning})", words, ".", class_="print-note"
    )


def _part(view: BenchView, part: Item) -> Html:
    """Write what decided of one metric in one scenario, as a group of rows."""
    metric, scenario = part.get("metric"), part.get("scenario")
    names = [view.title(metric)] if metric else []
    names += [view.scenario_title(scenario)] if scenario else []
    heading = [[" · " if place else "", h("bdi", name)] for place, name in enumerate(names)]
    reason = [": ", part["reason"]] if part.get("reason") else ""
    rows = [
        h(
            "tr",
            h("th", item["text"], scope="row"),
            h("td", fine(item.get("estimate"))),
            h("td", fine_brackets(item.get("low"), item.get("high"))),
            h("td", fine(item.get("bound"))),
            h("td", item["status"], class_=status_key(item["status"])),
        )
        for item in part.get("conditions") or ()
    ]
    return h(
        "tbody", h("tr", h("th", heading, " ", badge(part["status"]), reason, colspan="5", scope="rowgroup")), rows
    )


# The printed tables ---------------------------------------------------------------------------------------------------


def printed(view: BenchView) -> Html:
    """Write the published numbers and verdicts beside ours; nothing where none are given."""
    return h("", _agreement(view), _printed_scores(view))


def _agreement(view: BenchView) -> Html:
    counts = view.data.get("agreement")
    if not counts or not counts.get("cells"):
        return h("")
    cells = strong(f"{counts.get('agree')} of {plural(counts['cells'], 'cell', 'cells')}")
    judged = (
        f" Where both sides pass a judgement, {counts.get('judged_agree')} of "
        f"{plural(counts['judged'], 'cell', 'cells')} agree."
        if counts.get("judged")
        else ""
    )
    rows = [
        _differing(view, row, item) for row in view.rows for item in view.criteria if view.differs(row, item["name"])
    ]
    heads = ("Metric", "Criterion", "Printed", "Ours", "Because")
    return h(
        "",
        h("h3", "Verdicts"),
        paragraph("Table 3.2 of the review: ", cells, f" agree.{judged}"),
        _plain_table("Verdicts that differ from print", heads, rows, "text") if rows else "",
    )


def _differing(view: BenchView, row: str, criterion: Item) -> Html:
    verdict = view.verdicts[row, criterion["name"]]
    sign, meaning = printed_words(verdict.get("printed"))
    leads = h("a", view.criterion_title(criterion), href=f"#{identity('evidence', row, criterion['name'])}")
    return h(
        "tr",
        h("th", named(view.row_title(row)), scope="row"),
        h("td", leads),
        h("td", h("span", sign or DASH, title=meaning), hidden(f" {meaning}")),
        h("td", badge(verdict["status"])),
        h("td", verdict.get("summary") or ""),
    )


def _printed_scores(view: BenchView) -> Html:
    scores = view.data.get("printed_scores") or ()
    if not scores:
        return h("")
    columns = list(dict.fromkeys(item["scenario_row"] for item in scores))
    cells = {(item["metric"], item["scenario_row"]): item for item in scores}
    heads = [h("th", "Printed", scope="col", class_="number"), h("th", "Ours", scope="col")] * len(columns)
    rows = [
        h(
            "tr",
            h("th", named(view.title(metric)), scope="row"),
            [_score_cells(cells.get((metric, name))) for name in columns],
        )
        for metric in dict.fromkeys(item["metric"] for item in scores)
    ]
    off = sum(map(_is_off, scores))
    differs = h("span", "≠", class_="differs", aria_hidden="true")
    whole = h(
        "table",
        h("caption", "Printed scores beside ours", class_="hidden"),
        h(
            "thead",
            h("tr", h("td", rowspan="2"), [h("th", name, scope="colgroup", colspan="2") for name in columns]),
            h("tr", heads),
        ),
        h("tbody", rows),
        class_="printed",
    )
    return h(
        "",
        h("h3", "Scores"),
        paragraph(
            f"Table 3.1 of the review prints one decimal. {plural(off, 'number', 'numbers')} of {len(scores)} of ours "
            f"{'lies' if off == 1 else 'lie'} apart from it, with the whole interval ",
            *(differs, ": what was printed, and half of its last digit, is not in it."),
        ),
        h("div", whole, class_="scroll", tabindex="0", role="region", aria_label="Printed scores beside ours"),
    )


def _is_off(item: Item) -> bool:
    """Whether the interval of ours has nothing in common with what rounds to the printed number."""
    if item.get("printed") is None or item.get("ours") is None:
        return False
    low = item["ours"] if item.get("low") is None else item["low"]
    high = item["ours"] if item.get("high") is None else item["high"]
    return bool(high < item["printed"] - 0.05 or low > item["printed"] + 0.05)


def _score_cells(item: Item | None) -> Html:
    if item is None:
        return h("", h("td", DASH, class_="number"), h("td", DASH))
    mark = [" ", h("span", "≠", class_="differs", role="img", aria_label="differs")] if _is_off(item) else ""
    there = DASH if item.get("printed") is None else f"{item['printed']:.1f}".replace("-", "−")
    interval = [" ", h("span", brackets(item), class_="interval")] if brackets(item) else ""
    told = f"difference {fine(item.get('difference'))}; seeds: {item.get('n') or 0}"
    ours = [h("span", number(item.get("ours")), class_="number"), mark, interval]
    return h("", h("td", there, class_="number"), h("td", ours, class_="ours", title=told))
