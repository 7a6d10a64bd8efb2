"""The tables of verdicts, the evidence behind each of their cells, and the printed tables beside ours."""

from collections.abc import Sequence
from html import escape

from demele.report.bench_view import STATUSES, BenchView, Item, identity, tally
from demele.report.bench_words import badge, fine, fine_ends, plural, printed_words, status_key
from demele.report.words import DASH, named, number

__all__ = ["bar", "differs", "evidence", "legend", "printed", "verdict_table"]


#: From so many criteria on, the heads of a table stand upright and its cells hold signs alone.
_MANY = 11
_NOT_RUN = "·"


def legend(view: BenchView) -> str:
    """Explain the signs of the tables."""
    words = {
        "holds": "the data say yes",
        "fails": "the data say no",
        "undecided": "too few seeds to say",
        "not applicable": "the question does not arise",
    }
    entries = "".join(f"<li>{badge(status)} {words[status]}</li>" for status in STATUSES)
    shown = [
        (row["name"], item["name"]) for criteria in view.tables for row in view.rows_of(criteria) for item in criteria
    ]
    if any(cell not in view.verdicts for cell in shown):
        entries += f'<li><span class="not-run" aria-hidden="true">{_NOT_RUN}</span> not run</li>'
    if any(differs(view, *cell) for cell in shown):
        entries += '<li><span class="differs" aria-hidden="true">≠</span> differs from the printed table</li>'
    if any(item.get("own") for item in view.rows.values()):
        entries += '<li><span class="tag">yours</span> your own metrics</li>'
    if any(view.rows[row].get("beside") for row, _ in shown):
        entries += '<li><span class="tag">stored</span> measured before, kept with demele</li>'
    return f'<ul class="signs">{entries}</ul>'


def verdict_table(view: BenchView, criteria: Sequence[Item], key: str, caption: str) -> str:
    """Write rows against criteria; every cell leads to its evidence. Signs are explained above the first table."""
    rows = view.rows_of(criteria)
    if not rows:
        return ""
    heads = "".join(
        f'<th scope="col"><span class="criterion" title="{escape(str(item.get("question") or ""))}">'
        f"{escape(str(item.get('title') or item['name']))}</span></th>"
        for item in criteria
    )
    body = "\n".join(_row(view, row, criteria) for row in rows)
    signs = legend(view) if criteria is view.tables[0] else ""
    many = " many" if len(criteria) >= _MANY else ""
    return f"""{signs}
<div class="controls" hidden><label>Order <select class="order" data-table="{key}-table">
<option value="">as given</option>
<option value="holds">most criteria held</option><option value="name">name</option></select></label></div>
<div class="scroll" tabindex="0" role="region" aria-labelledby="{key}-title">
<table id="{key}-table" class="verdicts{many}"><caption class="hidden">{escape(caption)}</caption>
<thead><tr><th scope="col">Metric</th>{heads}
<th scope="col" class="held"><span title="of those judged">Held</span></th></tr></thead>
<tbody>
{body}
</tbody></table></div>"""


def _row(view: BenchView, row: Item, criteria: Sequence[Item]) -> str:
    name = row["name"]
    own = bool(row.get("own"))
    first = next((metric for metric in row.get("metrics") or () if metric in view.metrics), None)
    title = escape(view.row_title(name))
    head = title if first is None else f'<a href="#{identity("card", first)}">{title}</a>'
    tag = ' <span class="tag">yours</span>' if own else ""
    tag += ' <span class="tag">stored</span>' if row.get("beside") else ""
    counts = tally(view.statuses(name, criteria))
    judged = counts["holds"] + counts["fails"] + counts["undecided"]
    held = f"{counts['holds']} of {judged}" if judged else DASH
    cells = "".join(_cell(view, name, item) for item in criteria)
    return (
        f'<tr{" class=own" if own else ""} data-holds="{counts["holds"]}" data-name="{title}">'
        f'<th scope="row"><bdi>{head}</bdi>{tag}</th>{cells}'
        f'<td class="held"><span class="number">{held}</span>{bar(counts)}</td></tr>'
    )


def bar(counts: dict[str, int]) -> str:
    """Draw counts of statuses as shares of a bar; the numbers stand beside it."""
    parts = "".join(
        f'<i class="{status_key(status)}" style="flex-grow:{many}"></i>' for status, many in counts.items() if many
    )
    return f'<span class="shares" aria-hidden="true">{parts}</span>'


def _cell(view: BenchView, row: str, criterion: Item) -> str:
    verdict = view.verdicts.get((row, criterion["name"]))
    if verdict is None:
        return f'<td class="empty"><span aria-hidden="true">{_NOT_RUN}</span><span class="hidden">not run</span></td>'
    sign, word = STATUSES.get(verdict["status"], ("?", str(verdict["status"])))
    mark, spoken = "", ""
    if verdict.get("agrees") is False:
        printed_sign, meaning = printed_words(verdict.get("printed"))
        mark = f'<span class="differs" title="printed: {printed_sign} ({meaning})" aria-hidden="true">≠</span>'
        spoken = f"; differs from print: {meaning}"
    label = f"{escape(view.row_title(row))}, {escape(str(criterion.get('title') or criterion['name']))}: "
    label += escape(str(verdict["status"])) + spoken
    summary = escape(str(verdict.get("summary") or ""))
    return (
        f'<td><a class="cell {status_key(verdict["status"])}" href="#{identity("evidence", row, criterion["name"])}" '
        f'aria-label="{label}" title="{summary}"><b>{sign}</b><span>{escape(word)}</span></a>{mark}</td>'
    )


def differs(view: BenchView, row: str, criterion: str) -> bool:
    """Tell whether a verdict of ours is not the printed one."""
    return view.verdicts.get((row, criterion), {}).get("agrees") is False


def evidence(view: BenchView) -> str:
    """Write the evidence of every cell: one folded part for each row, one for each cell in it."""
    rows = [
        (row, cells)
        for row in view.rows
        if (cells := [item for item in view.criteria if (row, item["name"]) in view.verdicts])
    ]
    if not rows:
        return ""
    parts = "\n".join(
        f'<details class="evidence-row"><summary>{named(view.row_title(row))} '
        f'<span class="meaning">{plural(len(cells), "criterion", "criteria")}</span></summary>\n'
        + "\n".join(_evidence(view, row, item) for item in cells)
        + "</details>"
        for row, cells in rows
    )
    return (
        "<p>What each cell of the tables above rests on, row by row. A cell leads to its own place in this list.</p>\n"
        f"{parts}"
    )


def _evidence(view: BenchView, row: str, criterion: Item) -> str:
    verdict = view.verdicts[row, criterion["name"]]
    key = identity("evidence", row, criterion["name"])
    title = escape(str(criterion.get("title") or criterion["name"]))
    return (
        f'<details class="evidence"><summary>{title} {badge(verdict["status"])}</summary>'
        f'<div class="evidence-body" id="{key}" data-row="{escape(row)}" '
        f'data-criterion="{escape(criterion["name"])}">{_evidence_body(view, row, criterion, verdict)}</div></details>'
    )


def _evidence_body(view: BenchView, row: str, criterion: Item, verdict: Item) -> str:
    facts = [("Question", criterion.get("question")), ("Rule", criterion.get("rule"))]
    listed = "".join(f"<dt>{name}</dt><dd>{escape(str(text))}</dd>" for name, text in facts if text)
    summary = escape(str(verdict.get("summary") or ""))
    parts = "\n".join(_part(view, part) for part in verdict.get("parts") or ())
    cards = ", ".join(
        f'<a href="#{identity("card", metric)}">{escape(view.title(metric))}</a>'
        for metric in view.rows[row].get("metrics") or ()
        if metric in view.metrics
    )
    more = f'<p class="more">All curves: {cards}</p>' if cards else ""
    return (
        f'<p class="conclusion">{badge(verdict["status"])} <span>{summary}</span></p><dl class="facts">{listed}</dl>'
        f"{_printed_note(verdict)}{parts}{more}"
    )


def _printed_note(verdict: Item) -> str:
    if verdict.get("printed") is None:
        return ""
    sign, meaning = printed_words(verdict["printed"])
    agrees = verdict.get("agrees")
    words = "" if agrees is None else "; ours agrees" if agrees else "; <em>ours differs</em>"
    mark = ' <span class="differs" aria-hidden="true">≠</span>' if agrees is False else ""
    return f'<p class="print-note">The printed table says: {f"{sign} " if sign else ""}({meaning}){words}{mark}.</p>'


def _part(view: BenchView, part: Item) -> str:
    metric, scenario = part.get("metric"), part.get("scenario")
    names = [escape(view.title(metric))] if metric else []
    names += [escape(view.scenario_title(scenario))] if scenario else []
    reason = f"<p>{escape(str(part['reason']))}</p>" if part.get("reason") else ""
    conditions = part.get("conditions") or ()
    table = ""
    if conditions:
        rows = "".join(
            f'<tr><th scope="row">{escape(str(item["text"]))}</th><td class="number">{fine(item.get("estimate"))}</td>'
            f'<td class="number">{fine_ends(item.get("low"), item.get("high"))}</td>'
            f'<td class="number">{fine(item.get("bound"))}</td><td>{badge(item["status"])}</td></tr>'
            for item in conditions
        )
        table = (
            '<div class="scroll"><table class="conditions"><caption class="hidden">Conditions: '
            f'{", ".join(names) or "all"}</caption><thead><tr><th scope="col">Condition</th>'
            '<th scope="col" class="number">Estimate</th><th scope="col" class="number">Interval</th>'
            f'<th scope="col" class="number">At least</th><th scope="col">Status</th></tr></thead>'
            f"<tbody>{rows}</tbody></table></div>"
        )
    heading = " · ".join(f"<bdi>{name}</bdi>" for name in names)
    return f'<div class="part"><h4>{heading} {badge(part["status"])}</h4>{reason}{table}</div>'


def printed(view: BenchView) -> str:
    """Write the published numbers and verdicts beside ours; nothing where none are given."""
    return "\n".join(filter(None, (_agreement(view), _printed_scores(view))))


def _agreement(view: BenchView) -> str:
    counts = view.data.get("agreement")
    if not counts or not counts.get("cells"):
        return ""
    text = (
        f"Table 3.2 of the review: <strong>{counts.get('agree')} of {plural(counts['cells'], 'cell', 'cells')}</strong>"
        " agree."
    )
    if counts.get("judged"):
        text += (
            f" Where both sides pass a judgement, {counts.get('judged_agree')} of "
            f"{plural(counts['judged'], 'cell', 'cells')} agree."
        )
    rows = "".join(_differing(view, row, item) for row in view.rows for item in view.criteria)
    table = (
        '<div class="scroll"><table class="text"><caption class="hidden">Verdicts that differ from print</caption>'
        '<thead><tr><th scope="col">Metric</th><th scope="col">Criterion</th><th scope="col">Printed</th>'
        f'<th scope="col">Ours</th><th scope="col">Because</th></tr></thead><tbody>{rows}</tbody></table></div>'
        if rows
        else ""
    )
    return f"<h3>Verdicts</h3>\n<p>{text}</p>\n{table}"


def _differing(view: BenchView, row: str, criterion: Item) -> str:
    if not differs(view, row, criterion["name"]):
        return ""
    verdict = view.verdicts[row, criterion["name"]]
    sign, meaning = printed_words(verdict.get("printed"))
    title = escape(str(criterion.get("title") or criterion["name"]))
    return (
        f'<tr><th scope="row">{named(view.row_title(row))}</th>'
        f'<td><a href="#{identity("evidence", row, criterion["name"])}">{title}</a></td>'
        f'<td><span title="{meaning}">{sign or DASH}</span><span class="hidden"> {meaning}</span></td>'
        f"<td>{badge(verdict['status'])}</td><td>{escape(str(verdict.get('summary') or ''))}</td></tr>"
    )


def _printed_scores(view: BenchView) -> str:
    scores = view.data.get("printed_scores") or ()
    if not scores:
        return ""
    columns = list(dict.fromkeys(item["scenario_row"] for item in scores))
    cells = {(item["metric"], item["scenario_row"]): item for item in scores}
    groups = "".join(f'<th scope="colgroup" colspan="2">{escape(str(name))}</th>' for name in columns)
    heads = '<th scope="col" class="number">Printed</th><th scope="col">Ours</th>' * len(columns)
    rows = "".join(
        f'<tr><th scope="row">{named(view.title(metric))}</th>'
        + "".join(_score_cells(cells.get((metric, name))) for name in columns)
        + "</tr>"
        for metric in dict.fromkeys(item["metric"] for item in scores)
    )
    off = sum(_is_off(item) for item in scores)
    note = (
        f"Table 3.1 of the review prints one decimal. {plural(off, 'number', 'numbers')} of {len(scores)} of ours "
        f'{"lies" if off == 1 else "lie"} apart from it, with the whole interval <span class="differs" '
        'aria-hidden="true">≠</span>: what was printed, and half of its last digit, is not in it.'
    )
    return f"""<h3>Scores</h3>
<p>{note}</p>
<div class="scroll" tabindex="0" role="region" aria-label="Printed scores beside ours">
<table class="printed"><caption class="hidden">Printed scores beside ours</caption>
<thead><tr><td rowspan="2"></td>{groups}</tr><tr>{heads}</tr></thead>
<tbody>{rows}</tbody></table></div>"""


def _is_off(item: Item) -> bool:
    """Whether the interval of ours has nothing in common with what rounds to the printed number."""
    if item.get("printed") is None or item.get("ours") is None:
        return False
    low = item["ours"] if item.get("low") is None else item["low"]
    high = item["ours"] if item.get("high") is None else item["high"]
    return bool(high < item["printed"] - 0.05 or low > item["printed"] + 0.05)


def _score_cells(item: Item | None) -> str:
    if item is None:
        return f"<td class=number>{DASH}</td><td>{DASH}</td>"
    mark = ' <span class="differs" role="img" aria-label="differs">≠</span>' if _is_off(item) else ""
    title = f"difference {fine(item.get('difference'))}; seeds: {item.get('n') or 0}"
    printed_number = DASH if item.get("printed") is None else f"{item['printed']:.1f}".replace("-", "−")
    interval = "" if item.get("low") is None else f' <span class="interval">{_short_ends(item)}</span>'
    return (
        f'<td class="number">{printed_number}</td><td class="ours" title="{title}">'
        f'<span class="number">{number(item.get("ours"))}</span>{mark}{interval}</td>'
    )


def _short_ends(item: Item) -> str:
    return f"[{number(item['low'])}, {number(item['high'])}]"
