"""The page about the metrics themselves: what was found, the tables of verdicts, the large figure, what was run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from demele.report.bench_cards import cards, shares
from demele.report.bench_evidence import evidence, printed
from demele.report.bench_findings import findings, seeds_of
from demele.report.bench_view import (
    STATUSES,
    BenchView,
    Item,
    badge,
    bench_view,
    label_of,
    printed_words,
    status_key,
    tally,
)
from demele.report.page import (
    Html,
    Page,
    controls,
    data_element,
    facts,
    h,
    hidden,
    identity,
    packed,
    paragraph,
    table,
    tool,
)
from demele.report.words import DASH

__all__ = ["bench_page", "write_bench_report"]

#: Kinds of scenarios, in the order of the list to choose from.
_KINDS = {"source": "Of the review", "added": "Added here", "settings": "Settings of the metrics"}
#: Strokes of the lines, for metrics of the same colour.
_DASHES = ("none", "6 3", "2 2", "6 2 2 2")
#: How many metrics the large figure shows at first besides the user's own ones, and where there are none of these.
_BESIDE_OWN, _ALONE = 5, 8
#: From so many criteria on, the heads of a table stand upright and its cells hold signs alone.
_MANY = 11
_NOT_RUN = "·"
_EVIDENCE = h(
    "",
    h("div", id="evidence-place"),
    h(
        "noscript",
        paragraph("The numbers behind each verdict need a script to be unpacked; each cell tells its summary."),
    ),
)
_CLICK = "Choose a cell to see what it rests on: the rule, the numbers, the curves."


def write_bench_report(characterisation: Item, path: Path, *, title: str | None = None) -> Path:
    """Write what ``Characterisation.to_dict()`` returns as one HTML file; see :func:`bench_page`."""
    return bench_page(characterisation, title=title).write(path)


def bench_page(characterisation: Item, *, title: str | None = None) -> Page:
    """Make the page of a characterisation, parts of which may be empty or absent.

    Tables, cards and small curves are in the page as such and need no script; a script adds the large figures and
    unpacks the evidence, which is large. The data of the page are in it, compressed too.

    Raises
    ------
    InputError
        If there is no metric to show.
    """
    view = bench_view(characterisation)
    own = [name for name, metric in view.metrics.items() if metric.get("own")]
    names = own or list(view.metrics)
    asked = f"What does {view.title(names[0])} measure?" if len(names) == 1 else "What do the metrics measure?"
    tables = [
        ("verdicts", "Verdicts", _verdicts(view, view.review, "verdicts", "What the review asks of a metric.")),
        ("added", "Beyond the review", _verdicts(view, view.added, "added", "What the review did not ask.")),
    ]
    if view.tables and view.tables[0] is view.added:
        tables.reverse()
    found = evidence(view)
    return Page(
        kind="Characterisation of metrics",
        title=title or asked,
        sections=[
            ("lead", "In short", findings(view)),
            *tables,
            ("curves", "Curves", _curves(view)),
            ("metrics", "The metrics", cards(view)),
            ("printed", "Beside the printed tables", printed(view)),
            ("evidence", "All evidence", _EVIDENCE if found else found),
            ("run", "What was run", _run(view)),
        ],
        style="bench",
        styles=("figures.css", "bench.css"),
        scripts=("figures.js", "bench.js"),
        tools=h("", tool("Data (JSON)", "download-json"), tool("Verdicts (CSV)", "download-csv")),
        data=data_element(packed(view.data), compressed=True),
        more=data_element(packed(found), "evidence-html", compressed=True) if found else "",
        version=view.data.get("demele"),
    )


# The tables of verdicts -----------------------------------------------------------------------------------------------


def _verdicts(view: BenchView, criteria: Sequence[Item], key: str, asks: str) -> Html:
    """Write rows against criteria; every cell leads to its evidence. Signs are explained above the first table."""
    rows = view.rows_of(criteria)
    if not rows:
        return h("")
    heads = [
        h(
            "th",
            h("span", view.criterion_title(item), class_="criterion", title=item.get("question") or ""),
            scope="col",
        )
        for item in criteria
    ]
    held = h("th", h("span", "Held", title="of those judged"), scope="col", class_="held")
    caption = f"Metrics against the {'criteria of the review' if criteria is view.review else 'added criteria'}"
    whole = h(
        "table",
        h("caption", caption, class_="hidden"),
        h("thead", h("tr", h("th", "Metric", scope="col"), heads, held)),
        h("tbody", [_row(view, row, criteria) for row in rows]),
        id=f"{key}-table",
        class_=f"verdicts{' many' if len(criteria) >= _MANY else ''}",
    )
    orders = {"": "as given", "holds": "most criteria held", "name": "name"}
    options = [h("option", words, value=value) for value, words in orders.items()]
    return h(
        "",
        paragraph(f"{asks} {_CLICK}"),
        _legend(view) if criteria is view.tables[0] else "",
        controls(h("label", "Order ", h("select", options, class_="order", data_table=f"{key}-table"))),
        h("div", whole, class_="scroll", tabindex="0", role="region", aria_labelledby=f"{key}-title"),
    )


def _legend(view: BenchView) -> Html:
    """Explain the signs of the tables."""
    words = {
        "holds": "the data say yes",
        "fails": "the data say no",
        "undecided": "too few seeds to say",
        "not applicable": "the question does not arise",
    }
    entries = [h("li", badge(status), f" {words[status]}") for status in STATUSES]
    shown = [
        (row["name"], item["name"]) for criteria in view.tables for row in view.rows_of(criteria) for item in criteria
    ]
    if any(cell not in view.verdicts for cell in shown):
        entries.append(h("li", h("span", _NOT_RUN, class_="not-run", aria_hidden="true"), " not run"))
    if any(view.differs(*cell) for cell in shown):
        entries.append(h("li", h("span", "≠", class_="differs", aria_hidden="true"), " differs from the printed table"))
    if any(item.get("own") for item in view.rows.values()):
        entries.append(h("li", h("span", "yours", class_="tag"), " your own metrics"))
    if any(view.rows[row].get("beside") for row, _ in shown):
        entries.append(h("li", h("span", "stored", class_="tag"), " measured before, kept with demele"))
    return h("ul", entries, class_="signs")


def _row(view: BenchView, row: Item, criteria: Sequence[Item]) -> Html:
    title = view.row_title(row["name"])
    first = next((metric for metric in row.get("metrics") or () if metric in view.metrics), None)
    head = title if first is None else h("a", title, href=f"#{identity('card', first)}")
    tags = [
        [" ", h("span", word, class_="tag")]
        for word, there in (("yours", "own"), ("stored", "beside"))
        if row.get(there)
    ]
    fewer = view.fewer(row["name"])
    less = h("span", f" {fewer}", class_="meaning") if fewer else ""
    counts = tally(view.statuses(row["name"], criteria))
    judged = counts["holds"] + counts["fails"] + counts["undecided"]
    held = f"{counts['holds']} of {judged}" if judged else DASH
    return h(
        "tr",
        h("th", h("bdi", head), tags, less, scope="row"),
        [_cell(view, row["name"], item) for item in criteria],
        h("td", h("span", held, class_="number"), shares(counts), class_="held"),
        class_="own" if row.get("own") else "",
        data_holds=str(counts["holds"]),
        data_name=title,
    )


def _cell(view: BenchView, row: str, criterion: Item) -> Html:
    verdict = view.verdicts.get((row, criterion["name"]))
    if verdict is None:
        return h("td", h("span", _NOT_RUN, aria_hidden="true"), hidden("not run"), class_="empty")
    status = str(verdict["status"])
    sign, word = STATUSES.get(status, ("?", status))
    mark: object = ""
    spoken = ""
    if view.differs(row, criterion["name"]):
        printed_sign, meaning = printed_words(verdict.get("printed"))
        mark = h("span", "≠", class_="differs", title=f"printed: {printed_sign} ({meaning})", aria_hidden="true")
        spoken = f"; differs from print: {meaning}"
    shown = h(
        "a",
        h("b", sign),
        h("span", word),
        class_=f"cell {status_key(status)}",
        href=f"#{identity('evidence', row, criterion['name'])}",
        aria_label=f"{view.row_title(row)}, {view.criterion_title(criterion)}: {status}{spoken}",
        title=str(verdict.get("summary") or ""),
    )
    return h("td", shown, mark)


# The large figure -----------------------------------------------------------------------------------------------------


def _curves(view: BenchView) -> Html:
    """Write the controls of the large figure, which a script draws, and a word for those who run none."""
    if not view.curves:
        return h("")
    drawn_in = {scenario for _, scenario in view.curves}
    used = [item for item in view.scenarios.values() if item["name"] in drawn_in]
    groups = []
    for kind in dict.fromkeys([*_KINDS, *(str(item.get("kind")) for item in used)]):
        own = [item["name"] for item in used if str(item.get("kind")) == kind]
        options = [h("option", view.scenario_title(name), value=name) for name in own]
        groups += [h("optgroup", options, label=_KINDS.get(kind, "Others"))] if options else []
    drawn = _shown_first(view)
    boxes = [
        h(
            "label",
            h("input", type="checkbox", class_="shown", value=name, checked=name in drawn),
            _swatch(position, bool(metric.get("own"))),
            h("bdi", view.title(name)),
        )
        for position, (name, metric) in enumerate(view.metrics.items())
    ]
    properties = dict.fromkeys(item for metric in view.metrics.values() for item in metric.get("properties") or ())
    choices = {"": "All", "-": "None", **{str(item): f"Only {item}" for item in properties}}
    only = [h("button", words, type="button", class_="only", data_property=item) for item, words in choices.items()]
    values = "Values of this figure"
    below = h("div", class_="scroll", tabindex="0", role="region", aria_label=values)
    return h(
        "",
        h(
            "noscript",
            paragraph(
                "The large figure needs a script; the same curves stand, small, in the ",
                *(h("a", "cards below", href="#metrics"), "."),
            ),
        ),
        controls(h("label", "Scenario ", h("select", groups, id="scenario"))),
        h("div", id="scenario-words"),
        controls(*only),
        h("fieldset", h("legend", "Metrics shown", class_="hidden"), boxes, class_="chips", hidden=True),
        h("div", id="curves-panel", class_="panels single"),
        h("details", h("summary", values), below, class_="values", id="curves-values"),
    )


def _shown_first(view: BenchView) -> set[str]:
    """Choose the metrics that the large figure shows at first: own ones and few others, as varied as can be."""
    own = [name for name, item in view.metrics.items() if item.get("own")]
    claimed = {tuple(view.metrics[name].get("properties") or ()) for name in own} - {()}
    taking = {metric for (metric, _), curve in view.curves.items() if any(mean is not None for mean in curve["mean"])}
    ranks: dict[str, tuple[bool, int]] = {}
    kinds: dict[tuple[Any, tuple[str, ...]], int] = {}
    for name, item in view.metrics.items():
        if name in own or name not in taking:
            continue
        properties = tuple(item.get("properties") or ())
        kind = (item.get("family"), properties)
        # The second of a kind comes after the first of every kind; those that claim what an own one claims come first.
        ranks[name] = (properties not in claimed, kinds.get(kind, 0))
        kinds[kind] = kinds.get(kind, 0) + 1
    others = sorted(ranks, key=lambda name: ranks[name])
    return {*own, *others[: _BESIDE_OWN if own else _ALONE]}


def _swatch(position: int, own: bool) -> Html:
    line = h("line", x1="0", x2="22", y1="3", y2="3", stroke_dasharray=_DASHES[position // 8 % len(_DASHES)])
    kind = f"swatch c{position % 8}{' thick' if own else ''}"
    return h("svg", line, class_=kind, viewBox="0 0 22 6", aria_hidden="true")


# What was run ---------------------------------------------------------------------------------------------------------


def _run(view: BenchView) -> Html:
    """Write what was run, how verdicts are decided, and where the numbers can be taken from."""
    data = view.data
    level = f"{data['level']:.0%}" if data.get("level") else ""
    rows = data.get("n_samples")
    pairs = [
        ("Version", data.get("demele")),
        ("Protocol", data.get("protocol")),
        ("Rows", f"{rows:,}" if isinstance(rows, int) else ""),
        ("Seeds", seeds_of(data.get("seeds"))),
        ("Seeds of metrics that train predictors", seeds_of(data.get("slow_seeds"))),
        ("Level", level),
    ]
    deciding = {
        "holds": " every condition: the whole interval lies at or above the bound.",
        "fails": " at least one condition: the whole interval lies below the bound.",
        "undecided": " neither: an interval has the bound within it. More seeds make it narrower.",
        "not applicable": " the metric makes no such claim, or cannot take part; the evidence says why.",
    }
    heads = [(word, "") for word in ("Scenario", "What it asks", "What is swept", "What is wanted of a good metric")]
    scenarios = [_scenario_row(item) for item in view.scenarios.values()]
    listed = table("Scenarios", heads, scenarios, kind="scenarios", sortable=False)
    return h(
        "",
        facts(pairs),
        paragraph(
            "Every seed draws the data, and what a metric of demele draws itself; your own functions get no seed. "
            "Curves show the mean over seeds; their bands are intervals of that mean."
        ),
        h("h3", "How a verdict is decided"),
        paragraph(
            "A criterion is a list of conditions, each an inequality between means: a sum of means is at least a "
            "bound. The conditions on one metric in one scenario are checked together, with "
            f"{f'{level} ' if level else ''}intervals that are wide enough to hold all at once."
        ),
        h("ul", [h("li", badge(status), words) for status, words in deciding.items()], class_="deciding"),
        [h("h3", "Scenarios"), listed] if scenarios else "",
        h("h3", "The numbers"),
        controls(
            tool("Download everything (JSON)", "download-json"), tool("Download the verdicts (CSV)", "download-csv")
        ),
        h(
            "noscript",
            paragraph(
                "They are in the source of this page, in the element named ",
                *(h("code", "data"), ": JSON, compressed by zlib, as base64."),
            ),
        ),
    )


def _scenario_row(item: Item) -> list[Html]:
    labels = ", ".join(label_of(item, place) for place in range(len(item.get("severities") or ())))
    wanted = [
        h("li", f"{'any metric' if part.get('property') == 'any' else part.get('property')}: {part.get('text')}")
        for part in item.get("wanted") or ()
    ]
    source = h("span", item["source"], class_="facts") if item.get("source") else ""
    return [
        h("th", item.get("title") or item["name"], source, scope="row"),
        h("td", item.get("question") or ""),
        h("td", item.get("sweep") or "", h("span", labels, class_="facts")),
        h("td", h("ul", wanted) if wanted else "nothing; shown for what it tells"),
    ]
