"""What ``demele noise`` made, estimated and found, for eyes. What is shown are plain dictionaries."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from demele.cli.tables import clipped, console_for, plain_table, trimmed

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["added_table", "cleaned_table", "counted_table", "estimated_table"]

Content = Mapping[str, Any]
Words = Callable[[str], str]

#: Classes of a transition, annotators, suspects and classes shown; all of them are in JSON and CSV.
_MOST_CLASSES = 10
_MOST_ANNOTATORS = 30
#: Of whom so few answers are known, little can be said.
_FEW_ANSWERS = 10
_MOST_SUSPECTS = 20
_NOISE = {
    "uniform": "Uniform noise",
    "class": "Noise per class",
    "feature": "Noise per features",
    "model": "The predictions of a model as labels",
}


def added_table(content: Content, *, words: Words = str) -> str:
    """Write what noise was made: the rate asked for and the rate realised, and how classes were mistaken."""
    console, text = console_for(None)
    versions = content["versions"]
    _line(console, f"{_NOISE[content['noise']]}: {content['n']:,} labels", style="bold")
    console.print()
    sources = any(made["source"] is not None for made in versions)
    highest = content["noise"] == "feature"
    heads = ["rate asked", "made", "wrong labels", *(["highest"] if highest else []), *(["model"] if sources else [])]
    table = plain_table(*heads, numbers=len(heads) - 1 - sources)
    for made in versions:
        cells = [_percent(made["wanted"]), _percent(made["rate"]), f"{made['wrong']:,}"]
        cells += [_percent(made["highest_rate"])] if highest else []
        cells += [clipped(str(made["source"] or "-"), 30)] if sources else []
        table.add_row(*map(_plain, cells))
    console.print(table)
    for made in versions:
        title = f"rate asked {_percent(made['wanted'])}: " if len(versions) > 1 else ""
        _transition(console, made["counts"], made["classes"], f"{title}number of labels, row true, column given")
    console.print()
    if content["nested"]:
        _line(console, "nested: labels that are wrong at a lower rate are wrong in the same way at a higher one")
    if not content["exact"] and content["noise"] != "model":
        _line(console, "approximate: each label was drawn by itself")
    if content["annotators"] is not None:
        errors = [row["error"] for row in content["annotators"]]
        _line(
            console,
            f"{len(errors)} artificial annotators, wrong about {_percent(min(errors))} to {_percent(max(errors))}",
        )
    _notes(console, content["notes"], words)
    return trimmed(text)


def counted_table(content: Content, *, words: Words = str) -> str:
    """Write how a sample of true labels says that labels are given."""
    console, text = console_for(None)
    low, high = content["interval"]
    _line(
        console,
        f"{_percent(content['rate'])} of the labels are wrong, {content['wrong']:,} of {content['n']:,}; between "
        f"{_percent(low)} and {_percent(high)} where these come from",
        style="bold",
    )
    console.print()
    table = plain_table("true class", "instances", "wrong", "share", "interval", numbers=4)
    for row in content["per_class"][:_MOST_SUSPECTS]:
        share = "-" if row["share"] is None else _percent(row["share"])
        cells = [clipped(str(row["class"]), 20), f"{row['instances']:,}", f"{row['wrong']:,}", share]
        table.add_row(*map(_plain, [*cells, _span(row["low"], row["high"])]))
    console.print(table)
    hidden = len(content["per_class"]) - _MOST_SUSPECTS
    if hidden > 0:
        _line(console, f"{hidden:,} more classes with --format json", style="dim")
    _transition(console, content["counts"], content["classes"], "number of labels, row true, column given")
    console.print()
    _line(console, f"intervals of level {content['level']:g}, exact, if the rows are a random sample", style="dim")
    _notes(console, content["notes"], words)
    return trimmed(text)


def estimated_table(content: Content, *, annotators: bool = False, words: Words = str) -> str:
    """Write what annotators say together, beside the majority."""
    console, text = console_for(None)
    apart, n = content["unlike_majority"], content["n_items"]
    _line(console, f"{content['method']}: {n:,} items, {content['n_answers']:,} answers", style="bold")
    _line(console, f"{apart:,} of {n:,} labels ({apart / n:.1%}) differ from the majority's")
    _line(console, _state(content))
    console.print()
    table = plain_table("class", "share", "items", "by majority", numbers=3)
    for row in content["per_class"][:_MOST_SUSPECTS]:
        cells = [clipped(str(row["class"]), 24), _percent(row["share"]), f"{row['items']:,}", f"{row['majority']:,}"]
        table.add_row(*map(_plain, cells))
    console.print(table)
    if content.get("gold") is not None:
        _gold(console, content["gold"])
    if content.get("given") is not None:
        _given(console, content["given"])
    if content.get("agreement") is not None:
        _agreement(console, content["agreement"])
    if annotators:
        _annotators(console, content["annotators"])
    _notes(console, [*content["notes"], *(content.get("agreement") or {"notes": []})["notes"]], words)
    return trimmed(text)


def cleaned_table(content: Content, *, words: Words = str) -> str:
    """Write what a cleaning suspects, and what it costs each class."""
    console, text = console_for(None)
    n, count = content["n"], len(content["suspects"])
    _line(console, f"{content['method']}: {count:,} of {n:,} labels ({count / n:.1%}) are suspected", style="bold")
    if count:
        console.print()
        table = plain_table("row", "given", "suggested", "score", numbers=0)
        for row in content["suspects"][:_MOST_SUSPECTS]:
            score = "-" if row["score"] is None else f"{row['score']:.3f}"
            suggested = "-" if row["suggested"] is None else clipped(str(row["suggested"]), 24)
            table.add_row(*map(_plain, [str(row["row"]), clipped(str(row["given"]), 24), suggested, score]))
        console.print(table)
        hidden = count - _MOST_SUSPECTS
        if hidden > 0:
            _line(console, f"the most suspicious; {hidden:,} more with --format csv", style="dim")
    _harm(console, content["harm"])
    _notes(console, [*content["notes"], *content["harm"]["notes"]], words)
    return trimmed(text)


# Parts -----------------------------------------------------------------------------------------------------------


def _state(content: Content) -> str:
    """Say whether what had to converge did."""
    sampled = content["method"].startswith(("Bayesian", "generative"))
    what = "sweeps" if sampled else "iterations"
    if content["converged"] is None:
        return (
            "nothing had to converge" if not content["iterations"] else f"stopped after {content['iterations']} {what}"
        )
    did = "converged" if content["converged"] else "NOT converged"
    return f"{did} after {content['iterations']:,} {what}"


def _gold(console: "Console", gold: Content) -> None:
    console.print()
    _line(console, f"against {gold['n']:,} labels held for right (level {gold['level']:g})")
    table = plain_table("labels", "accuracy", "interval", numbers=2)
    for name in ("consensus", "majority"):
        found = gold[name]
        cells = [name, _percent(found["accuracy"]), _span(found["low"], found["high"])]
        table.add_row(*map(_plain, cells))
    console.print(table)


def _given(console: "Console", given: Content) -> None:
    console.print()
    _line(
        console,
        f"of {given['n']:,} given labels {_percent(given['wrong_share'])} are wrong, as the consensus says; "
        f"{_percent(given['unlike_majority'])} are not what the majority says",
    )
    _transition(console, given["transition"], given["classes"], "share of each given label, row class", share=True)


def _agreement(console: "Console", found: Content) -> None:
    console.print()
    _line(console, f"agreement of {found['n_annotators']:,} annotators on {found['n_items']:,} items")
    table = plain_table("coefficient", "value", "interval", numbers=2)
    names = {"raw": "raw", "cohen": "Cohen (mean)", "fleiss": "Fleiss", "krippendorff": "Krippendorff"}
    for key, name in names.items():
        interval = found["intervals"].get(key)
        span = "" if interval is None else f"{interval['low']:.3f} to {interval['high']:.3f}"
        value = "undefined" if found[key] is None else f"{found[key]:.3f}"
        table.add_row(*map(_plain, [name, value, span]))
    console.print(table)


def _annotators(console: "Console", rows: Sequence[Content]) -> None:
    console.print()
    limits = any("accuracy_low" in row for row in rows)
    heads = ["annotator", "answers", "accuracy", *(["interval"] if limits else []), "informativeness"]
    table = plain_table(*heads, numbers=len(heads) - 1)
    for row in sorted(rows, key=_least_informative)[:_MOST_ANNOTATORS]:
        cells = [clipped(str(row["annotator"]), 24), f"{row['answers']:,}", _percent(row["accuracy"])]
        cells += [_span(row["accuracy_low"], row["accuracy_high"])] if limits else []
        told = "-" if row["informativeness"] is None else f"{row['informativeness']:.3f}"
        table.add_row(*map(_plain, [*cells, told]))
    console.print(table)
    hidden = len(rows) - _MOST_ANNOTATORS
    more = f"; {hidden:,} more with --format csv" if hidden > 0 else ""
    _line(
        console,
        "informativeness: how much answers tell of the class, from 0 (nothing, as of one who always gives the same "
        f"answer) to 1; least first, those of fewer than {_FEW_ANSWERS} answers last; accuracy: expected share of "
        f"right answers{more}",
        style="dim",
    )


def _least_informative(row: Content) -> tuple[bool, bool, float]:
    """Sort key: an accuracy flatters whoever always says the largest class, and few answers tell little of anybody."""
    told = row["informativeness"]
    return row["answers"] < _FEW_ANSWERS, told is None, told or 0.0


def _harm(console: "Console", harm: Content) -> None:
    console.print()
    known = bool(harm["true"])
    heads = ["label", "labels", "suspected", "share", *(["of the right", "of the wrong"] if known else []), "after"]
    table = plain_table(*heads, numbers=len(heads) - 1)
    lines = sorted(harm["given"], key=lambda line: line["instances"])
    for line in [*lines[:_MOST_SUSPECTS], harm["overall"]]:
        name = "all" if line["of"] is None else clipped(str(line["of"]), 20)
        cells = [name, f"{line['instances']:,}", f"{line['suspected']:,}", _percent(line["share"])]
        cells += [_percent(line["false_alarms"]), _percent(line["detected"])] if known else []
        table.add_row(*map(_plain, [*cells, f"{_percent(line['before'])} > {_percent(line['after'])}"]))
    console.print(table)
    told = "after: share of the class among all labels before > after the cleaning"
    told += "; of the right, of the wrong: share of these that is suspected" if known else ""
    hidden = len(lines) - _MOST_SUSPECTS
    told += f"; rarest classes first, {hidden:,} more with --format json" if hidden > 0 else "; rarest classes first"
    _line(console, told, style="dim")


def _transition(
    console: "Console", table: Sequence[Sequence[float]], classes: Sequence[object], title: str, *, share: bool = False
) -> None:
    console.print()
    if len(classes) > _MOST_CLASSES:
        _line(console, f"{title}: {len(classes)} classes, with --format json", style="dim")
        return
    _line(console, title)
    shown = plain_table("", *(clipped(str(name), 10) for name in classes), numbers=len(classes))
    for name, row in zip(classes, table, strict=True):
        cells = [f"{value:.3f}" if share else f"{value:,}" for value in row]
        shown.add_row(*map(_plain, [clipped(str(name), 12), *cells]))
    console.print(shown)


def _notes(console: "Console", notes: Sequence[Content], words: Words) -> None:
    if notes:
        console.print()
    told: dict[str, Sequence[object]] = {}
    for note in notes:  # the same may be said of the answers by several results
        told[str(note["message"])] = note.get("subject") or told.get(str(note["message"]), ())
    for message, names in told.items():
        about = f" ({', '.join(map(str, names))})" if names else ""
        _line(console, f"note: {words(message)}{about}")


def _line(console: "Console", text: str, *, style: str = "") -> None:
    for line in textwrap.wrap(text, console.width, subsequent_indent="  ", break_on_hyphens=False):
        console.print(line, style=style, markup=False)


def _percent(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{100 * value:.2f}%"


def _span(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{100 * low:.2f} to {100 * high:.2f}"


def _plain(text: str) -> Any:
    from rich.text import Text

    return Text(text)
