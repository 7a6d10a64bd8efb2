"""What a measurement of comparison methods says, in sentences; everything returned is safe in HTML."""

from collections.abc import Sequence
from html import escape

from demele.report.comparisons_view import ComparisonView, rate_text
from demele.report.labels_parts import Item, cell, lead, table
from demele.report.words import DASH, count, list_of, named, number

__all__ = ["asked_text", "error_free", "share", "spread", "verdict"]

#: Methods that the verdict lists one by one.
_LISTED = 10
#: Simulated cleanings are many variants of one method: they are counted, not named.
_CLEANED = "cleaned"


def share(percent: float | None) -> str:
    """Write a share that is given in percent.

    Examples
    --------
    >>> share(1.625), share(None)
    ('1.62%', '–')
    """
    return DASH if percent is None else f"{number(percent, 2)}%"


def spread(error: float | None) -> str:
    """Write a standard error in points, or nothing."""
    return "" if error is None else f"± {number(error, 2)}"


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


def error_free(view: ComparisonView, measure: str) -> list[str]:
    """Return the methods without a type I error at any rate, the smallest type II error first, cleanings last.

    A method counts only if there were pairs on which it could have erred.
    """
    found = []
    for name in view.methods:
        rows = [view.tallies.get((measure, rate, name)) for rate in view.rates]
        judged = [row for row in rows if row is not None and row["n_kept"]]
        if judged and not any(row["n_type_1"] for row in judged):
            found.append(name)
    return sorted(found, key=lambda name: (view.methods[name].family == _CLEANED, _price(view, measure, name)))


def _price(view: ComparisonView, measure: str, name: str) -> float:
    row = view.tallies.get((measure, view.rate, name))
    value = None if row is None else row["type_2"]
    return 101.0 if value is None else float(value)


def verdict(view: ComparisonView) -> str:
    """Write which methods can be believed, at which price, and how much the classic comparison errs."""
    measure = view.measures[0]
    free = error_free(view, measure)
    at = rate_text(view.rate)
    rates = f"at {at} noise" if len(view.rates) == 1 else "at any noise rate"
    classic = view.tallies.get((measure, view.rate, "classic"))
    judged = [name for name in view.methods if any((measure, rate, name) in view.tallies for rate in view.rates)]
    first = (
        f"With {at} wrong labels, the classic comparison takes {share(classic['type_1'])} of the candidates that it "
        f"should not, and misses {share(classic['type_2'])} of those that it should take. "
        if classic is not None
        else ""
    )
    here = "here" if len(view.rates) == 1 else "at some noise rate"
    if not judged:
        second = "Nothing was measured."
    elif len(judged) == 1:
        second = f"{_titled(view, judged)} makes {f'no type I error {rates}' if free else f'type I errors {here}'}."
    elif not free:
        second = f"Every method makes type I errors {here}."
    else:
        verb = "makes" if len(free) == 1 else "make"
        second = f"{len(free)} of {count(len(judged), 'method')} {verb} no type I error {rates}."
    sentences = [_classic(view, measure), *_experts(view, measure), *_other_measures(view)]
    return lead(first + second, sentences) + _prices(view, measure, free)


def _but_cleanings(view: ComparisonView, names: Sequence[str]) -> list[str]:
    return [name for name in names if view.methods[name].family != _CLEANED]


def _titled(view: ComparisonView, names: Sequence[str]) -> str:
    return list_of(view.methods[name].title for name in names)


def _classic(view: ComparisonView, measure: str) -> str:
    low, high = view.rates[0], view.rates[-1]
    ends = [view.tallies.get((measure, rate, "classic")) for rate in (low, high)]
    if len(view.rates) == 1 or ends[0] is None or ends[1] is None:
        return ""
    from_to = [f"{share(ends[0][key])} to {share(ends[1][key])}" for key in ("type_1", "type_2")]
    return (
        f"From {rate_text(low)} to {rate_text(high)} noise, the type I errors of the classic comparison, which "
        f"believes every label, go from {from_to[0]} and its type II errors from {from_to[1]}."
    )


def _experts(view: ComparisonView, measure: str) -> list[str]:
    sentences = []
    for name, method in view.methods.items():
        row = view.tallies.get((measure, view.rate, name))
        if row is None or not row["labels_asked"]:
            continue
        sentences.append(
            f"{named(method.title)}: {asked_text(row['labels_asked'])} labels, type I {share(row['type_1'])}, "
            f"type II {share(row['type_2'])}"
        )
    if not sentences:
        return []
    return [f"With expert labels, per pair at {rate_text(view.rate)} noise: {'; '.join(sentences)}."]


def _other_measures(view: ComparisonView) -> list[str]:
    sentences = []
    for measure in view.measures[1:]:
        free = error_free(view, measure)
        plain = _but_cleanings(view, free)
        cleaned = len(free) - len(plain)
        who = [_titled(view, plain)] if plain else []
        who += [f"{count(cleaned, 'cleaning')}"] if cleaned else []
        sentences.append(f"For {escape(measure)}, without a type I error: {', and '.join(who) or 'no method'}.")
    return sentences


def _prices(view: ComparisonView, measure: str, free: Sequence[str]) -> str:
    if not free:
        return ""
    rates = list(dict.fromkeys((view.rates[0], view.rate, view.rates[-1])))
    rows = []
    listed = (_but_cleanings(view, free) or free)[:_LISTED]
    for name in listed:
        method = view.methods[name]
        shown: list[Item | None] = [view.tallies.get((measure, rate, name)) for rate in rates]
        asked = next((row["labels_asked"] for row in shown if row is not None), None)
        at_usual = view.tallies.get((measure, view.rate, name))
        asked = asked if at_usual is None else at_usual["labels_asked"]
        values = [None if row is None else row["type_2"] for row in shown]
        cells = "".join(cell(share(value), value) for value in values)
        rows.append(
            f'<tr><th scope="row"><i class="dot c{method.colour}" aria-hidden="true"></i>{named(method.title)}</th>'
            f"{cell(escape(method.told) or DASH, kind='text')}{cells}{cell(asked_text(asked), asked)}</tr>"
        )
    heads = [
        ("Method", "text"),
        ("Is told", "text"),
        *((f"Type II at {rate_text(rate)}", "number") for rate in rates),
        (f"Expert labels per pair at {rate_text(view.rate)}" if len(rates) > 1 else "Expert labels per pair", "number"),
    ]
    left = free[len(listed) :]
    what = "cleaning" if left and not _but_cleanings(view, left) else "other method"
    more = f"<p>And {count(len(left), what)}: see the table below.</p>" if left else ""
    pairs = next((row["n_kept"] for row in view.tallies.values() if row["measure"] == measure), 0)
    return (
        "<h3>The price of making no type I error</h3><p>Better candidates that these methods leave untaken. That a "
        f"method erred in none of {count(pairs, 'pair')} at each rate does not prove that it never errs: the pairs "
        "share their classifiers and their labels.</p>" + table("Methods without a type I error", heads, rows) + more
    )
