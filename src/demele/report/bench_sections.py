"""The head of the page, the place of the curves, and what was run."""

from collections.abc import Sequence
from html import escape
from typing import Any

from demele.report.bench_tables import verdict_table
from demele.report.bench_view import BenchView, Item, tally
from demele.report.bench_words import badge, joined, label_of, plural
from demele.report.words import named

__all__ = ["added", "curves", "lead", "run", "verdicts"]

#: Kinds of scenarios, in the order of the list to choose from.
_KINDS = {"source": "Of the review", "added": "Added here", "settings": "Settings of the metrics"}
#: Strokes of the lines, for metrics of the same colour.
_DASHES = ("", "6 3", "2 2", "6 2 2 2")
#: How many metrics the large figure shows at first besides the user's own ones, and where there are none of these.
_BESIDE_OWN, _ALONE = 5, 8


def lead(view: BenchView) -> str:
    """Write what was run and what was found, in a few sentences."""
    findings = "".join(f"<li>{text}</li>" for text in _findings(view))
    listed = f'<ul class="findings">{findings}</ul>' if findings else ""
    return f'<div class="lead">{_not_said(view)}<p>{_what_was_run(view)}</p>\n{listed}</div>'


def _not_said(view: BenchView) -> str:
    """Say how own metrics are judged of which is not known what they claim to measure."""
    silent = [name for name, item in view.metrics.items() if item.get("own") and item.get("properties") is None]
    if not silent:
        return ""
    names = joined(f"<strong>{named(view.title(name))}</strong>" for name in silent)
    as_what = "it is judged as a measure" if len(silent) == 1 else "they are judged as measures"
    claim = "claims" if len(silent) == 1 else "claim"
    return (
        f"<p>What {names} {claim} to measure was not said, so {as_what} of all three: modularity, compactness and "
        "explicitness. <code>bench.candidate(function, claims=...)</code> says it.</p>"
    )


def _what_was_run(view: BenchView) -> str:
    data = view.data
    measured = [name for name, item in view.metrics.items() if not item.get("beside")]
    text = f"<strong>{plural(len(measured), 'metric', 'metrics')}</strong> were themselves measured"
    if len(measured) == 1:
        text = f"<strong>{named(view.title(measured[0]))}</strong> was itself measured"
    text += f", on representations whose properties are known: {plural(len(view.scenarios), 'scenario', 'scenarios')}"
    if data.get("n_samples"):
        text += f" of {plural(data['n_samples'], 'row', 'rows')}"
        text += "".join(
            f" ({named(str(item.get('title') or name))}: {_rows_of(item['rows'])})"
            for name, item in view.scenarios.items()
            if item.get("own") and item.get("rows")
        )
    if seeds := _seeds(data.get("seeds")):
        slow = _seeds(data.get("slow_seeds"))
        text += f", with {seeds} at every step"
        text += f" ({slow} for metrics that train predictors)" if slow and slow != seeds else ""
    text += "."
    if data.get("protocol"):
        text += f" The settings are those of the protocol {named(data['protocol'])}"
        text += f"; demele {escape(str(data['demele']))}." if data.get("demele") else "."
    stored = len(view.metrics) - len(measured)
    if stored:
        beside = data.get("beside") or {}
        text += f" Below stand the stored results of {plural(stored, 'metric', 'metrics')}"
        text += f", measured on {plural(beside['n_samples'], 'row', 'rows')}" if beside.get("n_samples") else ""
        text += f" with {_seeds(beside.get('seeds'))}." if _seeds(beside.get("seeds")) else "."
    return text


def _rows_of(ends: Sequence[int]) -> str:
    low, high = ends
    return plural(high, "row", "rows") if low == high else f"{low:,} to {plural(high, 'row', 'rows')}"


def _seeds(given: Any) -> str:
    """Write a number of seeds, or the least and most of the scenarios."""
    numbers = sorted(set(given.values())) if isinstance(given, dict) else [given] if given else []
    if not numbers:
        return ""
    most = plural(numbers[-1], "seed", "seeds")
    return most if len(numbers) == 1 else f"{numbers[0]} to {most}"


def _findings(view: BenchView) -> list[str]:
    own = [row for row in view.rows if view.rows[row].get("own")]
    first = view.tables[0] if view.tables else []
    criteria, what = first, "criteria of the review" if first is view.review else "added criteria"
    found = [
        f"<strong>{named(view.title(name))} draws without a seed</strong>: it {escape(str(item['drifts']))}."
        for name, item in view.metrics.items()
        if item.get("drifts")
    ]
    found += [f"Your metric {named(view.row_title(row))}, {text}." for row in own if (text := _own_finding(view, row))]
    judged = {row: statuses for row in view.rows if (statuses := view.statuses(row, criteria))}
    held = {row: tally(statuses)["holds"] for row, statuses in judged.items()}
    ranked = sorted(held, key=lambda row: -held[row])
    if len(ranked) > 1 and held[ranked[0]]:
        best = [row for row in ranked if held[row] == held[ranked[0]]]
        names = joined(named(view.row_title(row)) for row in best[:4])
        more = f" and {len(best) - 4} more" if len(best) > 4 else ""
        asked = max(len(judged[row]) for row in best)
        found.append(f"Most {what} are held by {names}{more}: {held[best[0]]} of the {asked}.")
    if len(view.rows) > 1:
        found += _hardest(view, criteria)
    counts = tally([status for row in view.rows for status in view.statuses(row, view.criteria)])
    if total := sum(counts.values()):
        text = f"Of {plural(total, 'cell', 'cells')} in all, {_counted(counts)}."
        if counts["undecided"]:
            text += " More seeds can decide what is undecided."
        found.append(text)
    agreement = view.data.get("agreement") or {}
    if agreement.get("cells"):
        found.append(
            f"{agreement.get('agree')} of {plural(agreement['cells'], 'cell', 'cells')} "
            '<a href="#printed">agree with the printed table</a>.'
        )
    return found


def _own_finding(view: BenchView, row: str) -> str:
    """Count how a row of the user's fares in each table, in the order of the tables."""
    places = []
    for criteria in view.tables:
        if statuses := view.statuses(row, criteria):
            where = "by the criteria of the review" if criteria is view.review else "beyond the review"
            places.append(f"{where}: {_counted(tally(statuses))}")
    return "; ".join(places)


def _hardest(view: BenchView, criteria: Sequence[Item]) -> list[str]:
    """Name the criterion that the largest share of those it was asked of fail."""
    shares = {}
    for item in criteria:
        counts = tally([view.status(row, item["name"]) or "" for row in view.rows])
        judged = counts["holds"] + counts["fails"] + counts["undecided"]
        if judged > 1 and counts["fails"]:
            shares[item["name"]] = (counts["fails"] / judged, counts["fails"], judged)
    if not shares:
        return []
    name = max(shares, key=lambda key: shares[key][:2])
    title = next(str(item.get("title") or name) for item in criteria if item["name"] == name)
    return [f"Hardest to meet: <em>{escape(title)}</em>, which {shares[name][1]} of {shares[name][2]} fail."]


def _counted(counts: dict[str, int]) -> str:
    words = {
        "holds": ("holds", "hold"),
        "fails": ("fails", "fail"),
        "undecided": ("is undecided", "are undecided"),
        "not applicable": ("is not applicable", "are not applicable"),
    }
    return joined(f"{many} {words[status][many != 1]}" for status, many in counts.items() if many)


def verdicts(view: BenchView) -> str:
    """Write the table of the review's criteria."""
    table = verdict_table(view, view.review, "verdicts", "Metrics against the criteria of the review")
    return table and f"<p>What the review asks of a metric. {_CLICK}</p>\n{table}"


_CLICK = "Choose a cell to see what it rests on: the rule, the numbers, the curves."


def added(view: BenchView) -> str:
    """Write the table of the criteria that the review does not have."""
    table = verdict_table(view, view.added, "added", "Metrics against the added criteria")
    return table and f"<p>What the review did not ask. {_CLICK}</p>\n{table}"


def curves(view: BenchView) -> str:
    """Write the controls of the large figure, which a script draws, and a word for those who run none."""
    if not view.curves:
        return ""
    groups = []
    used = [item for item in view.scenarios.values() if any(scenario == item["name"] for _, scenario in view.curves)]
    for kind in dict.fromkeys([*_KINDS, *(str(item.get("kind")) for item in used)]):
        options = "".join(
            f'<option value="{escape(item["name"])}">{escape(view.scenario_title(item["name"]))}</option>'
            for item in used
            if str(item.get("kind")) == kind
        )
        if options:
            groups.append(f'<optgroup label="{escape(_KINDS.get(kind, "Others"))}">{options}</optgroup>')
    drawn = _shown_first(view)
    boxes = "".join(
        f'<label><input type="checkbox" class="shown" value="{escape(name)}"{" checked" if name in drawn else ""}>'
        f"{_swatch(position, bool(metric.get('own')))}<bdi>{escape(view.title(name))}</bdi></label>"
        for position, (name, metric) in enumerate(view.metrics.items())
    )
    properties = dict.fromkeys(item for metric in view.metrics.values() for item in metric.get("properties") or ())
    only = "".join(
        f'<button type="button" class="only" data-property="{escape(str(item))}">Only {escape(str(item))}</button>'
        for item in properties
    )
    return f"""<noscript><p>The large figure needs a script; the same curves stand, small, in the
<a href="#metrics">cards below</a>.</p></noscript>
<div class="controls" hidden><label>Scenario <select id="scenario">{"".join(groups)}</select></label></div>
<div id="scenario-words"></div>
<div class="controls" hidden><button type="button" class="only" data-property="">All</button>
<button type="button" class="only" data-property="-">None</button>{only}</div>
<fieldset class="chips" hidden><legend class="hidden">Metrics shown</legend>{boxes}</fieldset>
<div id="curves-panel" class="panels single"></div>
<details class="values" id="curves-values"><summary>Values of this figure</summary><div class="scroll" tabindex="0"
role="region" aria-label="Values of this figure"></div></details>"""


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


def _swatch(position: int, own: bool) -> str:
    dash = _DASHES[position // 8 % len(_DASHES)]
    return (
        f'<svg class="swatch c{position % 8}{" thick" if own else ""}" viewBox="0 0 22 6" aria-hidden="true">'
        f'<line x1="0" x2="22" y1="3" y2="3" stroke-dasharray="{dash or "none"}"/></svg>'
    )


def run(view: BenchView) -> str:
    """Write what was run, how verdicts are decided, and where the numbers can be taken from."""
    data = view.data
    level = f"{data['level']:.0%}" if data.get("level") else None
    facts = [
        ("Version", data.get("demele")),
        ("Protocol", data.get("protocol")),
        ("Rows", _grouped(data.get("n_samples"))),
        ("Seeds", _seeds(data.get("seeds")) or None),
        ("Seeds of metrics that train predictors", _seeds(data.get("slow_seeds")) or None),
        ("Level", level),
    ]
    listed = "".join(f"<dt>{key}</dt><dd>{escape(str(value))}</dd>" for key, value in facts if value is not None)
    scenarios = "".join(_scenario_row(item) for item in view.scenarios.values())
    table = (
        '<h3>Scenarios</h3>\n<div class="scroll" tabindex="0" role="region" aria-label="Scenarios">'
        '<table class="text scenarios"><caption class="hidden">Scenarios</caption><thead><tr>'
        '<th scope="col">Scenario</th><th scope="col">What it asks</th><th scope="col">What is swept</th>'
        '<th scope="col">What is wanted of a good metric</th></tr></thead>'
        f"<tbody>{scenarios}</tbody></table></div>"
        if scenarios
        else ""
    )
    return f"""<dl class="facts">{listed}</dl>
<p>Every seed draws the data, and what a metric of demele draws itself; your own functions get no
seed. Curves show the mean over seeds; their bands are
intervals of that mean.</p>
<h3>How a verdict is decided</h3>
<p>A criterion is a list of conditions, each an inequality between means: a sum of means is at least a bound. The
conditions on one metric in one scenario are checked together, with {f"{level} " if level else ""}intervals that are
wide enough to hold all at once.</p>
<ul class="deciding">
<li>{badge("holds")} every condition: the whole interval lies at or above the bound.</li>
<li>{badge("fails")} at least one condition: the whole interval lies below the bound.</li>
<li>{badge("undecided")} neither: an interval has the bound within it. More seeds make it narrower.</li>
<li>{badge("not applicable")} the metric makes no such claim, or cannot take part; the evidence says why.</li>
</ul>
{table}
<h3>The numbers</h3>
<div class="controls" hidden><button type="button" class="download-json">Download everything (JSON)</button>
<button type="button" class="download-csv">Download the verdicts (CSV)</button></div>
<noscript><p>They are in the source of this page, in the element named <code>data</code>.</p></noscript>"""


def _grouped(value: Any) -> str | None:
    return f"{value:,}" if isinstance(value, int) else None


def _scenario_row(item: Item) -> str:
    labels = [label_of(item, place) for place in range(len(item.get("severities") or ()))]
    wanted = "".join(
        f"<li>{escape(_who(str(part.get('property'))))}: {escape(str(part.get('text')))}</li>"
        for part in item.get("wanted") or ()
    )
    source = f'<span class="facts">{escape(str(item["source"]))}</span>' if item.get("source") else ""
    return (
        f'<tr><th scope="row">{escape(str(item.get("title") or item["name"]))}{source}</th>'
        f"<td>{escape(str(item.get('question') or ''))}</td>"
        f'<td>{escape(str(item.get("sweep") or ""))}<span class="facts">{escape(", ".join(labels))}</span></td>'
        f"<td>{f'<ul>{wanted}</ul>' if wanted else 'nothing; shown for what it tells'}</td></tr>"
    )


def _who(name: str) -> str:
    return "any metric" if name == "any" else name
