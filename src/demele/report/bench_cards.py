"""One card for each metric: what it is, what it costs, what chance gives, how it was judged, all its curves."""

from html import escape
from typing import Any

from demele.report.bench_curves import small_multiples
from demele.report.bench_tables import bar
from demele.report.bench_view import STATUSES, BenchView, Item, identity, tally
from demele.report.bench_words import badge, duration, fine, fine_ends, flag, joined, plural, status_key
from demele.report.words import DASH

__all__ = ["cards"]

#: Cards are open from the start where there are no more of them.
_FEW = 3


def cards(view: BenchView) -> str:
    """Write the cards of all metrics, those of the user first."""
    metrics = sorted(view.metrics.values(), key=lambda item: not item.get("own"))
    tools = (
        '<div class="controls" hidden><label>Find <input type="search" id="find" placeholder="metric, family, '
        'property"></label><button type="button" id="open-all">Open all</button>'
        '<button type="button" id="close-all">Close all</button><span id="found" role="status"></span></div>'
    )
    intro = (
        "<p>Small pictures share one axis within a card; its thin lines are 0 and 1, its bands are intervals of the "
        "mean. A picture opens as a large one.</p>"
    )
    return f"{intro}\n{tools}\n" + "\n".join(_card(view, item, len(metrics) <= _FEW) for item in metrics)


def _card(view: BenchView, metric: Item, is_open: bool) -> str:
    name, title = metric["name"], view.title(metric["name"])
    own = bool(metric.get("own"))
    card: Item = metric.get("card") or {}
    statuses = view.statuses(view.row_of(name), view.criteria)
    counts = tally(statuses)
    judged = len(statuses) - counts["not applicable"]
    words = " ".join([name, title, str(metric.get("family") or ""), *(metric.get("properties") or ())]).lower()
    brief = [f"{counts['holds']} of {judged} held"] if judged else []
    if metric.get("characterised") is False:
        brief.append("not yet characterised")
    if card.get("seconds") is not None:
        rows = card.get("seconds_rows")
        brief.append(duration(card["seconds"]) + (f" at {plural(rows, 'row', 'rows')}" if rows else ""))
    tables = [_by_size(card), _invariances(card)]
    return (
        f'<details class="metric{" own" if own else ""}" id="{identity("card", name)}" data-words="{escape(words)}"'
        f'{" open" if own or is_open else ""}><summary><span class="name"><bdi>{escape(title)}</bdi>'
        f"{' <span class=tag>yours</span>' if own else ''}</span>{bar(counts) if statuses else ''}"
        f'<span class="meaning">{" · ".join(brief)}</span></summary>\n'
        f'<div class="facts-of">{_facts(view, metric, card)}</div>\n{_chips(view, view.row_of(name))}\n'
        f'<div class="tables">{"".join(filter(None, tables))}</div>\n{small_multiples(view, name)}\n</details>'
    )


def _facts(view: BenchView, metric: Item, card: Item) -> str:
    definition = f"<p>{escape(str(metric['definition']))}</p>" if metric.get("definition") else ""
    properties = metric.get("properties")
    claims = "not said; judged on all" if properties is None else joined(map(str, properties)) or "none"
    facts = [("Claims to measure", escape(claims))]
    if metric.get("source"):
        facts.append(("Source", escape(str(metric["source"]))))
    if metric.get("range"):
        facts.append(("Range", _range(metric["range"])))
    if metric.get("family"):
        facts.append(("Family", escape(str(metric["family"]))))
    facts.append(("Cuts into bins", flag(metric.get("discretises"), "yes", "no", "not said")))
    drifts = metric.get("drifts")
    facts.append(
        ("Draws at random", f"<strong>yes, without a seed</strong>: it {escape(str(drifts))}")
        if drifts
        else ("Draws at random", flag(metric.get("stochastic"), "yes", "no", "not said"))
    )
    chance = card.get("chance")
    if chance:
        seeds = f" · {plural(chance['n'], 'seed', 'seeds')}" if chance.get("n") is not None else ""
        interval = f'<span class="interval">{fine_ends(chance.get("low"), chance.get("high"))}{seeds}</span>'
        facts.append(("Chance: codes know nothing", f"{fine(chance.get('mean'))} {interval}"))
    if card.get("seconds") is not None:
        rows = card.get("seconds_rows") or view.data.get("n_samples")
        at = f' <span class="interval">at {plural(rows, "row", "rows")}</span>' if rows else ""
        facts.append(("Median time of a call", f"{duration(card['seconds'])}{at}"))
    listed = "".join(f"<dt>{key}</dt><dd>{text}</dd>" for key, text in facts)
    return f'{definition}<dl class="facts">{listed}</dl>'


def _range(ends: Any) -> str:
    low, high = ends
    return f"{'−∞' if low is None else f'{low:g}'.replace('-', '−')} to {'∞' if high is None else f'{high:g}'}"


def _chips(view: BenchView, row: str) -> str:
    chips = "".join(
        f'<li><a class="cell chip {status_key(verdict["status"])}" href="#{identity("evidence", row, item["name"])}">'
        f"<b>{STATUSES.get(verdict['status'], ('?', ''))[0]}</b> {escape(str(item.get('title') or item['name']))}"
        f'<span class="hidden">: {escape(str(verdict["status"]))}</span></a></li>'
        for item in view.criteria
        if (verdict := view.verdicts.get((row, item["name"]))) is not None
    )
    return f'<ul class="verdict-chips">{chips}</ul>' if chips else ""


def _by_size(card: Item) -> str:
    """Chance and cost by sample size, in one table."""
    chance = {item["n_samples"]: item for item in card.get("chance_by_size") or ()}
    cost = {item["n_samples"]: item.get("seconds") for item in card.get("cost") or ()}
    if not chance and not cost:
        return ""
    rows = "".join(
        f'<tr><th scope="row" class="number">{size:,}</th>'
        + (
            f'<td class="number">{fine(chance.get(size, {}).get("mean"))}</td>'
            f'<td class="number interval">{_ends(chance.get(size))}</td>'
            if chance
            else ""
        )
        + (f'<td class="number">{duration(cost.get(size))}</td>' if cost else "")
        + "</tr>"
        for size in sorted({*chance, *cost})
    )
    heads = '<th scope="col" class="number">Rows</th>'
    heads += '<th scope="col" class="number">Chance</th><th scope="col" class="number">Interval</th>' if chance else ""
    heads += '<th scope="col" class="number">Time</th>' if cost else ""
    return (
        f"<div><h4>By sample size</h4><table><caption class=hidden>By sample size</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _ends(item: Item | None) -> str:
    return DASH if item is None else fine_ends(item.get("low"), item.get("high"))


def _invariances(card: Item) -> str:
    changes = card.get("invariances") or ()
    if not changes:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(str(item["change"]))}</th><td class="number">{fine(item.get("difference"))}</td>'
        f"<td>{badge(item['status'])}</td></tr>"
        for item in changes
    )
    return (
        "<div><h4>Changes that should not matter</h4><table><caption class=hidden>Invariances</caption><thead><tr>"
        '<th scope="col">Change</th><th scope="col" class="number">Difference</th><th scope="col">Status</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )
