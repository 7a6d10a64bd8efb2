"""Files of rows for experts: written for them to fill in, read back in the order in which they were drawn."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError, quoted
from demele.core.sentences import plural
from demele.files.label_files import class_text, classes_like, in_file
from demele.files.named import read_table
from demele.files.sheets import escaped
from demele.files.table_files import Warn, listed

if TYPE_CHECKING:
    import pandas as pd

    from demele.noise.audit import Audit

#: Columns of a file for experts: when the row was drawn (from 1), the row (from 0), its given label, what the expert
#: says, how rows were drawn, and how likely this one was.
DRAW, ROW, GIVEN, TRUE, DESIGN, PROBABILITY = "draw", "row", "given_label", "true_label", "design", "probability"
#: What an expert writes who cannot label a row, unless a class is called so.
UNCLEAR = "unclear"
#: The least probability of the rows with doubt, drawn or not; the same in all lines.
LEAST = "least_probability"


class Answers:
    """Rows for experts as a file holds them, in the order in which they were drawn, answered or not.

    ``labels`` are missing where there is no answer, or where it is ``unclear``; ``known`` says which have a label.
    ``given``: what LABELS holds; a file that was made for other labels is refused.
    """

    def __init__(self, text: str, given: NDArray[Any], warn: Warn) -> None:
        table = read_table(text, warn=warn)
        if isinstance(table, np.ndarray) or any(name not in table for name in (ROW, TRUE)):
            has = "no names of columns" if isinstance(table, np.ndarray) else listed([str(name) for name in table])
            raise FormatError(f"{text}: expected columns {ROW} (counted from 0) and {TRUE}, got {has}")
        if DRAW in table:
            order = whole_numbers(text, table, DRAW)
            if np.unique(order).size < order.size:
                raise FormatError(f"{text}: column {DRAW}: expected each number once")
            if order.min() < 1:
                raise FormatError(f"{text}: column {DRAW}: expected numbers from 1, got {order.min()}")
            n_missing = int(order.max()) - order.size  # counted without a list of them: a number may be huge
            if n_missing:
                first = int(np.flatnonzero(np.sort(order) != np.arange(order.size) + 1)[0]) + 1
                raise FormatError(
                    f"{text}: column {DRAW}: expected all numbers from 1 to {order.max()}, {n_missing} are missing, "
                    f"first {first}; rows that were taken out are not missing at random: put them back"
                )
            table = table.iloc[np.argsort(order)]
        self.text, self.table = text, table
        self.rows = whole_numbers(text, table, ROW)
        said = table[TRUE].to_list()
        self.unclear: NDArray[np.bool_] = np.array([is_unclear(value, given) for value in said], dtype=bool)
        self.labels = _answered(text, table, given, self.unclear)
        self.known: NDArray[np.bool_] = self.labels.notna().to_numpy()
        self._check_given(given)

    def _check_given(self, given: NDArray[Any]) -> None:
        """Refuse a file that was made for other labels."""
        inside = (self.rows >= 0) & (self.rows < given.size)
        if GIVEN not in self.table or not inside.all():
            return
        held = [class_text(value) for value in self.table[GIVEN]]
        other = [i for i, row in enumerate(self.rows) if held[i] != class_text(given[row])]
        if other:
            row = int(self.rows[other[0]])
            raise InputError(
                f"{self.text}: column {GIVEN} is not what LABELS holds in {len(other)} of {len(held)} rows, first row "
                f"{row} ({held[other[0]]}, LABELS has {class_text(given[row])}); was it made for other labels?"
            )

    def single(self, name: str) -> str | None:
        """Return what a column says of all rows alike; None if there is none."""
        if name not in self.table:
            return None
        values = [str(value) for value in self.table[name].dropna().unique()]
        if len(values) != 1 or self.table[name].isna().any():
            raise FormatError(f"{self.text}: column {name}: expected the same in all rows, got {values[:3]}")
        return values[0]


def read_audit(text: str, design: str | None, given: NDArray[Any], warn: Warn) -> "Audit":
    """Read the answers of experts. Of a uniform draw, the first answers are one too; other gaps are refused."""
    from demele.labels import Audit

    answers = Answers(text, given, warn)
    named = answers.single(DESIGN)
    if named == "sequential":
        raise InputError(
            f"{text}: these rows were asked for one comparison with --ask and are no random sample of all rows; "
            "go on with --ask, or draw a sample with demele audit"
        )
    if named is not None and design is not None and named != design:
        raise InputError(f"--audit-design {design}: column {DESIGN} of {text} says {named}; leave one of them out")
    design = named or design
    if design is None:
        raise InputError(
            f"{text}: how were these rows chosen? --audit-design uniform (at random, in this order), weighted (at "
            f"random, with the probabilities of column {PROBABILITY}) or selective (because something looked wrong)"
        )
    used = np.flatnonzero(answers.known[: _usable(answers, design, warn)])
    n_drawn = used.size + int(answers.unclear.sum())
    if design == "weighted" and PROBABILITY not in answers.table:
        raise FormatError(
            f"{text}: a weighted audit needs the column {PROBABILITY}: how likely each row was to be drawn"
        )
    chances, least = None, None
    if design == "weighted":
        chances, least = answers.table[PROBABILITY].to_numpy()[used], _least(answers)
    if chances is not None and used.size < n_drawn and chances.dtype.kind in "iuf":
        chances, least = of_clear_rows(chances, least, used.size / n_drawn)
    columns = {"rows": ROW, "labels": TRUE, "probabilities": PROBABILITY, "design": DESIGN, "least_probability": LEAST}
    with in_file(text, **{name: f"column {held}" for name, held in columns.items()}):
        return Audit(
            answers.rows[used],
            answers.labels.iloc[used],
            design=design,  # type: ignore[arg-type]
            probabilities=chances,
            least_probability=least,
            unclear=n_drawn - used.size,
        )


def is_unclear(value: object, given: NDArray[Any]) -> bool:
    """Whether an answer says that the expert cannot label the row; where a class is called so, it is that class."""
    return isinstance(value, str) and value.strip().casefold() == UNCLEAR and not (given == value.strip()).any()


def of_clear_rows(chances: NDArray[Any], least: float | None, share: float) -> tuple[NDArray[np.float64], float | None]:
    """Return the probabilities that rows were drawn and clear, if a share of those that were drawn is clear."""
    return chances * share, None if least is None else least * share


def _least(answers: Answers) -> float | None:
    """Return the least probability that the file names; older files name none."""
    said = answers.single(LEAST)
    if said is None:
        return None
    try:
        return float(said)
    except ValueError:
        raise FormatError(f"{answers.text}: column {LEAST}: expected a probability, got {quoted(said)}") from None


def _usable(answers: Answers, design: str, warn: Warn) -> int:
    """Return how many of the first rows are used; rows without an answer may only come last."""
    answered = answers.known | answers.unclear
    missing = np.flatnonzero(~answered)
    last = int(np.flatnonzero(answered).max(initial=-1))
    if not answers.known.any():
        raise InputError(
            f"{answers.text}: no row has an answer in column {TRUE}{' but unclear' * bool(answered.any())}"
        )
    if missing.size and (design == "weighted" or missing[0] < last):
        order = ", in the order drawn" if design == "uniform" else ""
        raise FormatError(
            f"{answers.text}: {plural(missing.size, 'row has', 'rows have')} no {TRUE}, first row "
            f"{answers.rows[missing[0]]}; what is hard "
            f"to label is not missing at random: fill them in{order}"
        )
    if missing.size:
        warn(f"{answers.text}: the last {missing.size} rows have no answer; the first {last + 1} are used")
    return last + 1


def whole_numbers(text: str, table: "pd.DataFrame", name: str) -> NDArray[np.int64]:
    """Return a column of whole numbers, such as rows.

    Raises
    ------
    FormatError
        If a line has none, or another value.
    """
    values = table[name]
    missing = np.flatnonzero(values.isna())
    if missing.size:
        raise FormatError(f"{text}: column {name}: {missing.size} lines have no number, first line {missing[0] + 2}")
    array = values.to_numpy()
    whole = [_is_row(value) for value in array.tolist()]
    if array.dtype.kind not in "iuf" or not all(whole):
        odd = array.tolist()[whole.index(False)] if False in whole else array.dtype
        raise FormatError(f"{text}: column {name}: expected whole numbers, got {quoted(odd)}")
    return array.astype(np.int64)


def _is_row(value: object) -> bool:
    """Whether a value may be the number of a row."""
    return (
        not isinstance(value, bool) and isinstance(value, int | float) and abs(value) < 1 << 62 and value == int(value)
    )


def _answered(text: str, table: "pd.DataFrame", given: NDArray[Any], unclear: NDArray[np.bool_]) -> "pd.Series[Any]":
    """Return the answers as names or as numbers, as the labels are; missing where there is none."""
    import pandas as pd

    said = [
        None if odd or pd.isna(value) or not str(value).strip() else class_text(value)
        for value, odd in zip(table[TRUE], unclear, strict=True)
    ]
    known = [value for value in said if value is not None]
    if given.dtype.kind != "O" and known:
        read = classes_like(known, given)
        odd = [i for i, value in enumerate(said) if value is not None and not _is_whole(value)]
        if odd and isinstance(read[0], str):
            row = table[ROW].iloc[odd[0]]
            raise InputError(
                f"{text}: column {TRUE}: {plural(len(odd), 'answer is no number', 'answers are no numbers')}, as "
                f"the classes of LABELS are, first "
                f"{said[odd[0]]!r} for row {row}; write a class, and name it in --classes if LABELS has it nowhere"
            )
        numbers = iter(read)
        return pd.Series([None if value is None else next(numbers) for value in said], dtype=object)
    return pd.Series(said, dtype=object)


def _is_whole(value: str) -> bool:
    return value.lstrip("+-").isdigit()


def answers_text(
    rows: Sequence[int] | NDArray[Any],
    given: Sequence[object] | NDArray[Any],
    design: str,
    *,
    probabilities: NDArray[np.float64] | None = None,
    least: float | None = None,
    first: int = 1,
    more: Mapping[str, str] | None = None,
    head: Sequence[str] | None = None,
    delimiter: str = ",",
) -> str:
    """Write rows for experts, in the order in which they were drawn.

    ``head``: the columns of a file that these rows are added to; None writes the line of names too.
    """
    extra = dict(more or {})
    extra |= {} if least is None else {LEAST: repr(least)}
    names = [DRAW, ROW, GIVEN, TRUE, DESIGN, *([PROBABILITY] if probabilities is not None else []), *extra]
    text = io.StringIO()
    writer = csv.DictWriter(
        text, list(head or names), restval="", extrasaction="ignore", lineterminator="\n", delimiter=delimiter
    )
    if head is None:
        writer.writeheader()
    for index, row in enumerate(rows):
        line = {DRAW: first + index, ROW: int(row), GIVEN: given[int(row)], TRUE: "", DESIGN: design, **extra}
        if probabilities is not None:
            line[PROBABILITY] = repr(float(probabilities[index]))
        writer.writerow({name: escaped(value) for name, value in line.items()})
    return text.getvalue()
