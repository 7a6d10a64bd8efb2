"""How often comparison methods err, in a terminal. What is shown is what ``MethodComparison.to_dict()`` returns."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demele.report.terminal.sheet import Sheet, Words, clipped

__all__ = ["comparison_tables", "methods_table"]

Content = Mapping[str, Any]

#: More rows than this are not shown at all noise rates.
_MOST_ROWS = 60
#: The noise rate of the source's tables, which is shown where not all are.
_USUAL_RATE = 0.05
#: Where the text is not for a terminal, whose width is known.
_WIDTH = 100
_NAME_WIDTH = 36


def comparison_tables(
    content: Content, *, at: float | None = None, output: Path | None = None, words: Words = str
) -> str:
    """Write type I errors, type II errors and agreement of each method, a table for each measure and noise rate.

    Parameters
    ----------
    content : mapping
        What ``MethodComparison.to_dict()`` returns.
    at : float, optional
        The one noise rate to show; by default all, or one if there would be too many rows.
    output : Path, optional
        File that the text is for; a terminal's colours are then left out.
    words : callable, optional
        Says a message in the words of the reader.
    """
    sheet = Sheet(output, width=_WIDTH)
    m = len(content["names"])
    sheet.wrapped(content["title"], "bold")
    sheet.wrapped(
        f"{m} classifiers, {m * (m - 1):,} ordered pairs, {content['n']:,} instances of {len(content['classes'])} "
        f"classes; {content['noise']} noise; level {content['level']:g}; percent"
    )
    rates = [column["wanted"] for column in content["columns"]]
    shown = _rates_shown(content, rates, at)
    for measure in content["measures"]:
        for rate in shown:
            _table(sheet, content, measure, rate)
    sheet.blank()
    blunt = (
        "; a type I error need not be one: a method sharper than the overlap of intervals takes candidates that are "
        "better by less"
    )
    told = [
        "type I: the candidate taken, of the pairs where true labels keep the baseline; type II: the baseline "
        "kept, of those where true labels take the candidate; in brackets, standard errors",
        f"reference: {content['reference']['is']}",
        "reversed: pairs of which method and true labels claim opposite things"
        + (blunt if content["reference"]["name"] == "overlap" else ""),
    ]
    if any(_source(content, measure, rate) for measure in content["measures"] for rate in shown):
        told.append(f"source: type I, type II of {content['published_source']}")
    if len(shown) < len(rates):
        others = ", ".join(f"{rate:g}" for rate in rates if rate not in shown)
        told.append(f"other noise rates, with --at R or --format csv: {others}")
    for line in told:
        sheet.wrapped(line, "dim")
    for note in content["notes"]:
        sheet.wrapped(f"note: {words(note['message'])}")
    return sheet.text()


def methods_table(rows: Sequence[Content], *, output: Path | None = None) -> str:
    """Write the comparison methods, what each is told, and what it can compare."""
    sheet = Sheet(output, width=_WIDTH)
    shown = [[row["method"], row["told"], ", ".join(row["measures"])] for row in rows]
    sheet.table(["method", "is told", "compares"], shown)
    sheet.blank()
    sheet.wrapped("options take other values too, such as audit(labels=50) or hard-rows(prudence=0.2)", "dim")
    return sheet.text()


def _rates_shown(content: Content, rates: Sequence[float], at: float | None) -> list[float]:
    if at is not None:
        return [rate for rate in rates if abs(rate - at) < 1e-12]
    if len(content["tallies"]) <= _MOST_ROWS:
        return list(rates)
    return [min(rates, key=lambda rate: abs(rate - _USUAL_RATE))]


def _table(sheet: Sheet, content: Content, measure: str, rate: float) -> None:
    tallies = [one for one in content["tallies"] if one["measure"] == measure and one["noise"] == rate]
    if not tallies:
        return
    first = tallies[0]
    sheet.blank()
    sheet.wrapped(
        f"{measure}, noise {100 * rate:g}% ({100 * first['rate']:.2f}% made): the comparison on true labels keeps "
        f"{first['n_kept']:,} and takes {first['n_taken']:,}",
        "bold",
    )
    source = _source(content, measure, rate)
    asked = any(one["labels_asked"] for one in tallies)
    rows = []
    for one in tallies:
        cells = [clipped(one["method"], _NAME_WIDTH)]
        cells += [_share(one, name) for name in ("type_1", "type_2", "agreement")]
        cells += [f"{one['reversed']:,}"]
        cells += [f"{one['labels_asked']:,.0f}" if one["labels_asked"] else "-"] if asked else []
        rows.append([*cells, *([source.get(one["method"], "-")] if source else [])])
    heads = ["method", "type I", "type II", "agreement", "reversed"]
    heads += [head for head, there in (("labels", asked), ("source", source)) if there]
    sheet.table(heads, rows, numbers=len(heads) - 1)


def _source(content: Content, measure: str, rate: float) -> dict[str, str]:
    """Return what was published of the same methods, measure and noise rate."""
    methods = {one["method"] for one in content["tallies"]}
    return {
        row["method"]: f"{row['type_1']:.2f}, {row['type_2']:.2f}"
        for row in content["published"]
        if row["measure"] == measure.partition(" ")[0] and row["noise"] == rate and row["method"] in methods
    }


def _share(tally: Content, name: str) -> str:
    value, error = tally[name], tally[f"{name}_se"]
    if value is None:
        return "-"
    return f"{value:.2f}" + ("" if error is None else f" ({error:.2f})")
