"""What ``demele noise`` made, estimated and found, in a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from demele.report.said import sentences_of
from demele.report.terminal.sheet import Sheet, Words, clipped, transition
from demele.report.words import count

__all__ = ["counted_table", "estimated_table"]

Content = Mapping[str, Any]

#: Rows shown; all of them are in JSON and CSV.
_MOST_ANNOTATORS = 30
_MOST_ROWS = 20
#: Of whom so few answers are known, little can be said.
_FEW_ANSWERS = 10
_COUNTS = "number of labels, row true, column given"


def counted_table(content: Content, *, words: Words = str) -> str:
    """Write how a sample of true labels says that labels are given."""
    sheet = Sheet()
    low, high = map(_percent, content["interval"])
    found = f"{_percent(content['rate'])} of the labels are wrong, {content['wrong']:,} of {content['n']:,}"
    sheet.wrapped(f"{found}; between {low} and {high} where these come from", "bold")
    sheet.blank()
    rows = [
        [
            *(clipped(row["class"], 20), f"{row['instances']:,}", f"{row['wrong']:,}"),
            *(_percent(row["share"]), _span(row["low"], row["high"])),
        ]
        for row in content["per_class"][:_MOST_ROWS]
    ]
    sheet.table(["true class", "instances", "wrong", "share", "interval"], rows, numbers=4)
    hidden = len(content["per_class"]) - _MOST_ROWS
    if hidden > 0:
        sheet.wrapped(f"{hidden:,} more classes with --format json", "dim")
    transition(sheet, content["counts"], content["classes"], _COUNTS)
    sheet.blank()
    sheet.wrapped(f"intervals of level {content['level']:g}, exact, if the rows are a random sample", "dim")
    _notes(sheet, content["notes"], words)
    return sheet.text()


def estimated_table(content: Content, *, annotators: bool = False, words: Words = str) -> str:
    """Write what annotators say together, beside the majority."""
    sheet = Sheet()
    headline, *sentences = sentences_of("consensus", content)
    sheet.wrapped(headline, "bold")
    for sentence in sentences:
        sheet.wrapped(sentence)
    sheet.blank()
    rows = [
        [clipped(row["class"], 24), _percent(row["share"]), f"{row['items']:,}", f"{row['majority']:,}"]
        for row in content["per_class"][:_MOST_ROWS]
    ]
    sheet.table(["class", "share", "items", "by majority"], rows, numbers=3)
    for key, write in (("gold", _gold), ("given", _given)):
        if content.get(key) is not None:
            sheet.blank()
            write(sheet, content[key])
    if annotators:
        _annotators(sheet, content["annotators"])
    _notes(sheet, content["notes"], words)
    return sheet.text()


# Parts -----------------------------------------------------------------------------------------------------------


def _gold(sheet: Sheet, gold: Content) -> None:
    sheet.wrapped(
        f"against {gold['n']:,} labels taken as true (level {gold['level']:g}); "
        f"the majority has {count(gold['ties'], 'tie')}"
    )
    rows = [
        [name, _percent(gold[name]["accuracy"]), _span(gold[name]["low"], gold[name]["high"])]
        for name in ("consensus", "majority")
    ]
    sheet.table(["labels", "accuracy", "interval"], rows, numbers=2)


def _given(sheet: Sheet, given: Content) -> None:
    sheet.wrapped(
        f"of {given['n']:,} given labels {_percent(given['wrong_share'])} are wrong, as the consensus says; "
        f"{_percent(given['unlike_majority'])} are not what the majority says ({count(given['ties'], 'tie')})"
    )
    transition(sheet, given["transition"], given["classes"], "share of each given label, row class", share=True)


def _annotators(sheet: Sheet, rows: Sequence[Content]) -> None:
    sheet.blank()
    limits = any("accuracy_low" in row for row in rows)
    shown = []
    for row in sorted(rows, key=_least_informative)[:_MOST_ANNOTATORS]:
        cells = [clipped(row["annotator"], 24), f"{row['answers']:,}", _percent(row["accuracy"])]
        cells += [_span(row["accuracy_low"], row["accuracy_high"])] if limits else []
        shown.append([*cells, "-" if row["informativeness"] is None else f"{row['informativeness']:.3f}"])
    heads = ["annotator", "answers", "accuracy", *(["interval"] if limits else []), "informativeness"]
    sheet.table(heads, shown, numbers=len(heads) - 1)
    hidden = len(rows) - _MOST_ANNOTATORS
    more = f"; {hidden:,} more with --format csv" if hidden > 0 else ""
    sheet.wrapped(
        "informativeness: how much answers tell of the class, from 0 (nothing, as of one who always gives the same "
        f"answer) to 1; least first, those of fewer than {_FEW_ANSWERS} answers last; accuracy: expected share of "
        f"right answers{more}",
        "dim",
    )


def _least_informative(row: Content) -> tuple[bool, bool, float]:
    """Sort key: an accuracy flatters whoever always says the largest class, and few answers tell little of anybody."""
    told = row["informativeness"]
    return row["answers"] < _FEW_ANSWERS, told is None, told or 0.0


def _notes(sheet: Sheet, notes: Sequence[Content], words: Words) -> None:
    if notes:
        sheet.blank()
    told: dict[str, Sequence[object]] = {}
    for note in notes:  # the same may be said of the answers by several results
        told[note["message"]] = note.get("subject") or told.get(note["message"], ())
    for message, names in told.items():
        about = f" ({', '.join(map(str, names))})" if names else ""
        sheet.wrapped(f"note: {words(message)}{about}")


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}%"


def _span(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{100 * low:.2f} to {100 * high:.2f}"
