"""The head of the page: what was scored, how far to trust it, who is best at what."""

from collections.abc import Mapping, Sequence
from html import escape
from statistics import median
from typing import Any

from demele.report.figures import value_range
from demele.report.view import PROPERTIES, View
from demele.report.words import DASH, count, dot, fragile_sign, list_of, named, number

__all__ = ["verdict"]


def verdict(view: View) -> str:
    """Write what was scored, how far the numbers can be trusted, and a card for each property."""
    sentences = [_what_was_scored(view), *_how_far_to_trust(view)]
    paragraphs = "\n".join(f"<p>{sentence}</p>" for sentence in sentences)
    cards = "\n".join(_property_card(view, key, group) for key, group in view.by_property(view.metrics).items())
    return f'<div class="lead">{paragraphs}</div>\n<div class="cards">{cards}</div>'


def _what_was_scored(view: View) -> str:
    protocols = list_of(dict.fromkeys(str(item["protocol"]) for item in view.evaluations))
    n_metrics = count(len(view.metrics), "metric")
    if view.several:
        names = list_of(str(item["name"]) for item in view.evaluations)
        factors = {tuple(factor["name"] for factor in item["factors"]) for item in view.evaluations}
        same = f" for the same {count(len(next(iter(factors))), 'factor')}" if len(factors) == 1 else ""
        return (
            f"<strong>{count(len(view.evaluations), 'representation')}</strong> ({names}) were scored by {n_metrics}"
            f"{same}, under the protocol {protocols}."
        )
    item = view.evaluations[0]
    names = list_of(str(factor["name"]) for factor in item["factors"])
    codes = count(item.get("codes_in_all", len(item["codes"])), "code")
    return (
        f"<strong>{named(item['name'])}</strong> was scored by {n_metrics} on {count(item['n'], 'row')}: {codes} "
        f"against {count(len(item['factors']), 'factor')} ({names}), under the protocol {protocols}."
    )


def _how_far_to_trust(view: View) -> list[str]:
    scores = [score for item in view.evaluations for score in item["scores"]]
    fragile = sum(score["fragile"] for score in scores)
    undefined = sum(score["value"] is None for score in scores)
    left_out = {gap["metric"] for item in view.evaluations for gap in item["left_out"]}
    sentences = []
    if fragile:
        sentences.append(
            f"<strong>{fragile} of {count(len(scores), 'score')}</strong> {'is' if fragile == 1 else 'are'} "
            f"<em>fragile</em> {fragile_sign()}: another defensible setting would change "
            f"{'it' if fragile == 1 else 'them'} much, "
            'or codes of noise would score as well. Read <a href="#notes">why</a> before you quote one.'
        )
    elif scores:
        sentences.append(
            "No score was found to be fragile, that is, to hang on one setting or to be what noise scores."
        )
    by_luck = sum(_not_above_chance(score) for score in scores)
    if by_luck:
        sentences.append(
            f"<strong>{count(by_luck, 'score')}</strong> may be chance: with the factors' rows shuffled, the same "
            "codes do as well in more than one shuffle of twenty."
        )
    if scores and all(score["interval"] is None for score in scores):
        sentences.append(
            "No intervals were asked for: other rows from the same source would move these numbers, "
            "and this page cannot say by how much."
        )
    if undefined or left_out:
        parts = [f"{count(undefined, 'score')} undefined"] if undefined else []
        parts += [f"{count(len(left_out), 'metric')} left out"] if left_out else []
        sentences.append(f'There are gaps: {" and ".join(parts)}; <a href="#notes">the reasons</a>.')
    return sentences


def _not_above_chance(score: Mapping[str, Any]) -> bool:
    """At least one permutation did as well, and that is more than one in twenty."""
    chance = score["chance"]
    if chance is None or chance["p_value"] is None or score["value"] is None:
        return False
    as_good = chance["p_value"] * (1 + len(chance["values"])) > 1.5
    return bool(as_good and chance["p_value"] > 0.05)


def _property_card(view: View, key: str, metrics: Sequence[str]) -> str:
    name, meaning = PROPERTIES[key]
    compared = [metric for metric in metrics if not view.assumed(metric)]
    values = {metric: view.values(metric) for metric in compared}
    low, high = value_range(value for row in values.values() for value in row)
    rows = []
    for index, item in enumerate(view.evaluations):
        column = [row[index] for row in values.values() if row[index] is not None]
        known = [value for value in column if value is not None]
        head = f'<th scope="row">{dot(index)}{named(item["name"])}</th>' if view.several else ""
        if not known:
            rows.append(f"<tr>{head}<td>{DASH}</td><td></td></tr>")
            continue
        rows.append(
            f'<tr>{head}<td class="number">{number(median(known))}</td>'
            f"<td>{_spread_strip(known, low, high, index)}</td></tr>"
        )
    head = '<th scope="col">Representation</th>' if view.several else ""
    kind = "plain" if view.several else "plain single"
    return (
        f'<article class="card"><h3>{name}</h3><p class="meaning">{meaning}</p><p>{_card_sentence(view, metrics)}</p>'
        f'<table class="{kind}"><caption class="hidden">{name}: median and range over {count(len(compared), "metric")}'
        f'</caption><thead><tr>{head}<th scope="col">Median</th><th scope="col">Each metric, {_end(low)} to '
        f"{_end(high)}</th></tr></thead><tbody>{''.join(rows)}</tbody></table></article>"
    )


def _end(value: float) -> str:
    return f"{value:.2g}".replace("-", "−")


def _card_sentence(view: View, metrics: Sequence[str]) -> str:
    compared = [metric for metric in metrics if not view.assumed(metric)]
    n_assumed = len(metrics) - len(compared)
    are = "is" if n_assumed == 1 else "are"
    aside = f" {count(n_assumed, 'metric')} {are} left out of this card: order of codes assumed." if n_assumed else ""
    return (_summary(view, compared) + aside if compared else aside).strip()


def _summary(view: View, metrics: Sequence[str]) -> str:
    if not view.several:
        known = {metric: value for metric in metrics for value in view.values(metric) if value is not None}
        if not known:
            return "No metric has a number."
        low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
        if low == high:
            return f"One metric: {escape(view.catalogue.title(low))}, {number(known[low])}."
        return (
            f"{count(len(known), 'metric')}, from {number(known[low])} ({escape(view.catalogue.title(low))}) to "
            f"{number(known[high])} ({escape(view.catalogue.title(high))})."
        )
    winners = [winner for winner in map(view.winner, metrics) if winner is not None]
    if not winners:
        return "No metric tells the representations apart."
    wins = {index: sum(winner[0] == index for winner in winners) for index, _ in winners}
    ranked = sorted(wins, key=lambda index: -wins[index])
    parts = [f"{named(view.evaluations[index]['name'])} in {wins[index]}" for index in ranked]
    clear = sum(winner[1] is True for winner in winners)
    known_intervals = any(winner[1] is not None for winner in winners)
    apart = f" In {clear} of these the interval lies apart from all others." if known_intervals else ""
    ties = sum(map(view.tied, metrics))
    tied = f"; {ties} tied" if ties else ""
    return f"Best by {count(len(winners), 'metric')}: {', '.join(parts)}{tied}.{apart}"


def _spread_strip(values: Sequence[float], low: float, high: float, index: int) -> str:
    def at(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    ticks = "".join(f'<i class="tick" style="left:{at(value)}%"></i>' for value in values)
    middle = f'<i class="median" style="left:{at(median(values))}%"></i>'
    text = f"from {number(min(values))} to {number(max(values))}"
    return f'<span class="spread c{index % 8}" role="img" aria-label="{text}" title="{text}">{ticks}{middle}</span>'
