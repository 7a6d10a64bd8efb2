"""The head of the page of scores: what was scored, how far to trust it, who is best at what."""

from collections.abc import Mapping, Sequence
from typing import Any

from demele.core.verdict import RULE
from demele.report.page import Html, dot, h, paragraph
from demele.report.scores_figures import value_range
from demele.report.scores_lookup import fragile_sign
from demele.report.scores_view import PROPERTIES, View
from demele.report.words import DASH, Text, count, em, first_names, link, named, number, strong

__all__ = ["dotted", "verdict"]

Item = Mapping[str, Any]
#: Sentences of one representation that the page shows.
MOST_SENTENCES = 60


def verdict(view: View, ranked: View | None = None) -> Html:
    """Write what was scored, how far the numbers can be trusted, and a card for each property.

    ``ranked`` is what the cards set against each other: models over their runs, or else the representations.
    """
    sentences = [_what_was_scored(view), *_how_far_to_trust(view)]
    cards = [_property_card(ranked or view, key, group) for key, group in view.by_property(view.metrics).items()]
    scored = h("div", map(paragraph, sentences), class_="lead")
    return h("", [in_words(item, view) for item in view.evaluations], scored, h("div", cards, class_="cards"))


def in_words(item: Item, view: View) -> Html:
    """Write what the codes of a representation hold, with the numbers behind each sentence in reach."""
    found = item.get("verdict")
    if found is None:
        return h("")
    whole = Text(named(item["name"]), ": ", found["sentence"]) if view.several else Text(found["sentence"])
    words = h("ul", [h("li", sentence) for sentence in found["sentences"][:MOST_SENTENCES]], class_="in_words")
    hidden = len(found["sentences"]) - MOST_SENTENCES
    body = [words, paragraph(f"And {hidden} more in the data.") if hidden > 0 else ""]
    rests = (
        f"It rests on {count(found['n'], 'row')} in {found['bins']} bins of equal frequency. {RULE} Chance: the most "
        "that any code tells of the factor with its rows permuted."
    )
    body += [paragraph(rests, class_="meaning"), paragraph(found["headline"]) if found["headline"] else ""]
    shown = h("details", h("summary", "Factor by factor, code by code"), body) if view.several else h("", body)
    return h("div", paragraph(strong(whole)), shown, class_="lead")


def _what_was_scored(view: View) -> Text:
    protocols = first_names(dict.fromkeys(str(item["protocol"]) for item in view.evaluations))
    n_metrics = count(len(view.metrics), "metric")
    under = (", under the protocol ", protocols, ".")
    if view.several:
        names = first_names(str(item["name"]) for item in view.evaluations)
        factors = {tuple(factor["name"] for factor in item["factors"]) for item in view.evaluations}
        same = f" for the same {count(len(next(iter(factors))), 'factor')}" if len(factors) == 1 else ""
        many = strong(count(len(view.evaluations), "representation"))
        return Text(many, " (", names, f") were scored by {n_metrics}{same}", *under)
    item = view.evaluations[0]
    names = first_names(str(factor["name"]) for factor in item["factors"])
    codes = count(item.get("codes_in_all", len(item["codes"])), "code")
    against = f"{codes} against {count(len(item['factors']), 'factor')} ("
    scored = f" was scored by {n_metrics} on {count(item['n'], 'row')}: {against}"
    return Text(strong(named(item["name"])), scored, names, ")", *under)


def _how_far_to_trust(view: View) -> list[object]:
    scores = [score for item in view.evaluations for score in item["scores"]]
    fragile = sum(score["fragile"] for score in scores)
    undefined = sum(score["value"] is None for score in scores)
    left_out = {gap["metric"] for item in view.evaluations for gap in item["left_out"]}
    sentences: list[object] = []
    if fragile:
        it, verb = ("it", "is") if fragile == 1 else ("them", "are")
        told = Text(strong(f"{fragile} of {count(len(scores), 'score')}"), f" {verb} ", em("fragile"), " ")
        why = Text(
            f": another defensible setting would change {it} much, or codes of noise would score as well. Read ",
            *(link("#notes", "why"), " before you quote one."),
        )
        sentences.append([told, fragile_sign(), why])
    elif scores:
        sentences.append(
            "No score was found to be fragile, that is, to hang on one setting or to be what noise scores."
        )
    by_luck = sum(_not_above_chance(score) for score in scores)
    if by_luck:
        chance = (
            " may be chance: with the factors' rows shuffled, the same codes do as well in more than one shuffle of "
        )
        sentences.append(Text(strong(count(by_luck, "score")), chance, "twenty."))
    if scores and all(score["interval"] is None for score in scores):
        sentences.append(
            "No intervals were asked for: other rows from the same source would move these numbers, and this page "
            "cannot say by how much."
        )
    if undefined or left_out:
        parts = [f"{count(undefined, 'score')} undefined"] if undefined else []
        parts += [f"{count(len(left_out), 'metric')} left out"] if left_out else []
        sentences.append(Text(f"There are gaps: {' and '.join(parts)}; ", link("#notes", "the reasons"), "."))
    return sentences


def _not_above_chance(score: Item) -> bool:
    """At least one permutation did as well, and that is more than one in twenty."""
    chance = score["chance"]
    if chance is None or chance["p_value"] is None or score["value"] is None:
        return False
    as_good = chance["p_value"] * (1 + len(chance["values"])) > 1.5
    return bool(as_good and chance["p_value"] > 0.05)


def _property_card(view: View, key: str, metrics: Sequence[str]) -> Html:
    name, meaning = PROPERTIES[key]
    compared = [metric for metric in metrics if not view.assumed(metric)]
    values = [view.values(metric) for metric in compared]
    low, high = value_range(value for row in values for value in row)
    rows = []
    for index in range(len(view.evaluations)):
        known = [value for row in values if (value := row[index]) is not None]
        strip = h("td", _spread_strip(known, low, high, index) if known else DASH)
        rows.append(h("tr", h("th", _head(view, index), scope="row") if view.several else "", strip))
    ends = " to ".join(f"{end:.2g}".replace("-", "−") for end in (low, high))
    what = "Model, mean over runs" if view.of_models else "Representation"
    heads = [*([what] if view.several else []), f"Each metric, {ends}"]
    whole = h(
        "table",
        h("caption", f"{name}: range over {count(len(compared), 'metric')}", class_="hidden"),
        h("thead", h("tr", [h("th", head, scope="col") for head in heads])),
        h("tbody", rows),
        class_="plain" if view.several else "plain single",
    )
    sentence = paragraph(_card_sentence(view, metrics, compared))
    return h("article", h("h3", name), paragraph(meaning, class_="meaning"), sentence, whole, class_="card")


def _head(view: View, index: int) -> object:
    """Name what a line is of; colours stand for representations, so models have none."""
    return named(view.evaluations[index]["name"]) if view.of_models else dotted(view, index)


def _card_sentence(view: View, metrics: Sequence[str], compared: Sequence[str]) -> Text:
    assumed = len(metrics) - len(compared)
    verb = "is" if assumed == 1 else "are"
    aside = f"{count(assumed, 'metric')} {verb} left out of this card: order of codes assumed." if assumed else ""
    if not compared:
        return Text(aside)
    return Text(_summary(view, compared), " " if aside else "", aside)


def _summary(view: View, metrics: Sequence[str]) -> Text:
    if not view.several:
        known = {metric: value for metric in metrics for value in view.values(metric) if value is not None}
        if not known:
            return Text("No metric has a number.")
        low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
        ends = [f"{number(known[end])} ({view.catalogue.title(end)})" for end in (low, high)]
        if low == high:
            return Text(f"One metric: {view.catalogue.title(low)}, {number(known[low])}.")
        return Text(f"{count(len(known), 'metric')}, from {ends[0]} to {ends[1]}.")
    winners = [winner for winner in map(view.winner, metrics) if winner is not None]
    if not winners:
        return Text(f"No metric tells the {'models' if view.of_models else 'representations'} apart.")
    wins = {index: sum(winner[0] == index for winner in winners) for index, _ in winners}
    parts = [
        piece
        for index in sorted(wins, key=lambda index: -wins[index])
        for piece in (", ", named(view.evaluations[index]["name"]), f" in {wins[index]}")
    ]
    clear = sum(winner[1] is True for winner in winners)
    known_intervals = any(winner[1] is not None for winner in winners)
    apart = f" In {clear} of these the interval lies apart from all others." if known_intervals else ""
    ties = sum(map(view.tied, metrics))
    mean = ", by the mean over runs" if view.of_models else ""
    return Text(
        f"Best by {count(len(winners), 'metric')}{mean}: ", *parts[1:], f"; {ties} tied" if ties else "", f".{apart}"
    )


def _spread_strip(values: Sequence[float], low: float, high: float, index: int) -> Html:
    def mark(value: float, kind: str) -> Html:
        return h("i", class_=kind, style=f"left:{round(100 * (value - low) / (high - low), 2)}%")

    ticks = [mark(value, "tick") for value in values]
    text = f"from {number(min(values))} to {number(max(values))}"
    return h("span", ticks, class_=f"spread c{index % 8}", role="img", aria_label=text, title=text)


def dotted(view: View, index: int) -> Html:
    """Write the name of a representation, after its colour where there are several."""
    return h("", dot(index) if view.several else "", named(view.evaluations[index]["name"]))
