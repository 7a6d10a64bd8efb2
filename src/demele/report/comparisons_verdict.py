"""Which comparison methods can be believed, at which price, and how much the overlap of intervals errs."""

from collections.abc import Sequence

from demele.report.comparisons_view import CLEANED, ComparisonView, MethodLook
from demele.report.page import (
    Cell,
    Html,
    dot,
    h,
    lead,
    paragraph,
    table,
)
from demele.report.words import (
    DASH,
    Text,
    count,
    first_names,
    joined,
    named,
    rate_text,
    share,
)

__all__ = ["asked_text", "comparisons_verdict", "dotted"]

#: Methods that the verdict lists one by one.
_LISTED = 10


def asked_text(labels: float | None) -> str:
    """Write how many expert labels a pair cost.

    Examples
    --------
    >>> asked_text(0.0), asked_text(500.0), asked_text(43.21)
    ('0', '500', '43.2')
    """
    if labels is None:
        return DASH
    return f"{labels:,.0f}" if float(labels).is_integer() else f"{labels:,.1f}"


def comparisons_verdict(view: ComparisonView) -> Html:
    """Write which methods can be believed, at which price, and how much the overlap of intervals errs."""
    measure = view.measures[0]
    free = view.error_free(measure)
    at, one_rate = rate_text(view.rate), len(view.rates) == 1
    rates = f"at {at} noise" if one_rate else "at any noise rate"
    here = "here" if one_rate else "at some noise rate"
    classic = view.tallies.get((measure, view.rate, "overlap"))
    judged = [name for name in view.methods if any((measure, rate, name) in view.tallies for rate in view.rates)]
    first = (
        f"With {at} wrong labels, the overlap of intervals takes {share(classic['type_1'])} of the candidates that it "
        f"should not, and misses {share(classic['type_2'])} of those that it should take. "
        if classic is not None
        else ""
    )
    if not judged:
        second = Text("Nothing was measured.")
    elif len(judged) == 1:
        errs = f" makes {f'no type I error {rates}' if free else f'type I errors {here}'}."
        second = Text(_titled(view, judged), errs)
    elif not free:
        second = Text(f"Every method makes type I errors {here}.")
    else:
        verb = "makes" if len(free) == 1 else "make"
        second = Text(f"{len(free)} of {count(len(judged), 'method')} {verb} no type I error {rates}.")
    sentences = [_classic(view, measure), _experts(view, measure), *(_other(view, one) for one in view.measures[1:])]
    return h("", lead(Text(first, second), sentences), _prices(view, measure, free))


def _but_cleanings(view: ComparisonView, names: Sequence[str]) -> list[str]:
    return [name for name in names if view.methods[name].family != CLEANED]


def _titled(view: ComparisonView, names: Sequence[str]) -> Text:
    return first_names(view.methods[name].title for name in names)


def _classic(view: ComparisonView, measure: str) -> str:
    low, high = (view.tallies.get((measure, rate, "overlap")) for rate in (view.rates[0], view.rates[-1]))
    if len(view.rates) == 1 or low is None or high is None:
        return ""
    from_to = [f"{share(low[key])} to {share(high[key])}" for key in ("type_1", "type_2")]
    return (
        f"From {rate_text(view.rates[0])} to {rate_text(view.rates[-1])} noise, the type I errors of the overlap "
        f"comparison, which believes every label, go from {from_to[0]} and its type II errors from {from_to[1]}."
    )


def _experts(view: ComparisonView, measure: str) -> Text:
    said = [
        Text(
            named(method.title),
            f": {asked_text(row['labels_asked'])} labels, type I {share(row['type_1'])}, "
            f"type II {share(row['type_2'])}",
        )
        for name, method in view.methods.items()
        if (row := view.tallies.get((measure, view.rate, name))) is not None and row["labels_asked"]
    ]
    at = rate_text(view.rate)
    return Text(f"With expert labels, per pair at {at} noise: ", joined(said, "; ", "; "), ".") if said else Text()


def _other(view: ComparisonView, measure: str) -> Text:
    free = view.error_free(measure)
    own = _but_cleanings(view, free)
    who = [_titled(view, own)] if own else []
    who += [Text(count(len(free) - len(own), "cleaning"))] if len(free) > len(own) else []
    said = joined(who, last=", and ") if who else "no method"
    return Text(f"For {measure}, without a type I error: ", said, ".")


def _prices(view: ComparisonView, measure: str, free: Sequence[str]) -> Html:
    if not free:
        return h("")
    rates = list(dict.fromkeys((view.rates[0], view.rate, view.rates[-1])))
    rows = []
    listed = (_but_cleanings(view, free) or free)[:_LISTED]
    for name in listed:
        shown = [view.tallies.get((measure, rate, name)) for rate in rates]
        row = view.tallies.get((measure, view.rate, name)) or next((one for one in shown if one is not None), None)
        asked = None if row is None else row["labels_asked"]
        values = [None if one is None else one["type_2"] for one in shown]
        rows.append(
            [
                h("th", dotted(view.methods[name]), scope="row"),
                Cell(view.methods[name].told or DASH, kind="text"),
                *(Cell(share(value), value) for value in values),
                Cell(asked_text(asked), asked),
            ]
        )
    at = f" at {rate_text(view.rate)}" if len(rates) > 1 else ""
    heads: list[tuple[object, str] | None] = [("Method", "text"), ("Is told", "text")]
    heads += [(f"Type II at {rate_text(rate)}", "number") for rate in rates]
    heads.append((f"Expert labels per pair{at}", "number"))
    left = free[len(listed) :]
    what = "cleaning" if left and not _but_cleanings(view, left) else "other method"
    pairs = next((row["n_kept"] for row in view.tallies.values() if row["measure"] == measure), 0)
    return h(
        "",
        h("h3", "The price of making no type I error"),
        paragraph(
            "Better candidates that these methods leave untaken. That a method erred in none of "
            f"{count(pairs, 'pair')} at each rate does not prove that it never errs: the pairs share their classifiers "
            "and their labels."
        ),
        table("Methods without a type I error", heads, rows),
        paragraph(f"And {count(len(left), what)}: see the table below.") if left else "",
    )


def dotted(method: MethodLook) -> Html:
    """Write the name of a method after its colour."""
    return h("", dot(method.colour), named(method.title))
