"""Rows that experts answered, in the order in which they were drawn; and what is known of wrong annotations."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.core.arrays import Array, Counts, Flags, pd
from demele.core.columns import Factors
from demele.core.errors import FormatError, InputError, plural, quoted
from demele.core.kinds import joined, share_or_file, unquoted
from demele.core.reading import parsing
from demele.files.label_files import class_text, classes_like, in_file, read_transition
from demele.files.named import escaped, is_empty, read_table, split_name
from demele.files.table_files import Warn, listed

if TYPE_CHECKING:
    from demele.files.named import Cells
    from demele.noise.audit import Audit


#: Columns of a file for experts: when the row was drawn (from 1), the row (from 0), its given label, what the expert
#: says, how rows were drawn, and how likely this one was.
DRAW, ROW, GIVEN, TRUE, DESIGN, PROBABILITY = "draw", "row", "given_label", "true_label", "design", "probability"
#: What an expert writes who cannot label a row, unless a class is called so.
UNCLEAR = "unclear"
#: The least probability of the rows with disagreement, drawn or not; the same in all lines.
LEAST = "least_probability"
#: Which comparison asked for the rows.
COMPARISON = "comparison"


#: Returns an answer in words as one of those that are known, or as another one.
AsKnown = Callable[[str], int | str]


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers of experts, in the order in which the rows were drawn.

    Attributes
    ----------
    text : str
        The file.
    column : str
        Its column of answers.
    rows : array of shape (k,)
    labels : list of k classes, or None
        None where there is no answer, or an unclear one.
    unclear : array of bool of shape (k,)
    names : list of k str
        What messages call the rows.
    design : str or None
        How the rows were drawn, where the file says so.
    probabilities : array of shape (k,), or None
    least : float or None
        The least probability of rows with disagreement.
    comparison : str or None
        Which comparison asked for them.
    key : SheetKey or None
    cells : list of rows
        What a sheet holds, its names first, in the order of the key.
    """

    text: str
    column: str
    rows: Array
    labels: list[int | str | None]
    unclear: Flags
    names: list[str]
    design: str | None
    probabilities: Array | None = None
    least: float | None = None
    comparison: str | None = None
    key: Any = None
    cells: "list[Cells]" = field(default_factory=list)

    @property
    def known(self) -> Flags:
        """Rows that have a class; shape (k,)."""
        return np.array([label is not None for label in self.labels], dtype=bool)


def read_answers(text: str, given: Array, warn: Warn, as_known: AsKnown | None = None) -> Answers:
    """Read rows for experts as a file holds them, answered or not.

    Parameters
    ----------
    text : str
    given : array of shape (n,)
        What LABELS holds; a file that was made for other labels is refused.
    warn : callable
    as_known : callable, optional
        Of answers in words, which may be any text.

    Raises
    ------
    FormatError, InputError
    """
    table = read_table(text, warn=warn)
    if isinstance(table, np.ndarray) or any(name not in table for name in (ROW, TRUE)):
        has = "no names of columns" if isinstance(table, np.ndarray) else listed([str(name) for name in table])
        raise FormatError(f"{text}: expected columns {ROW} (counted from 0) and {TRUE}, got {has}")
    if DRAW in table:
        order = whole_numbers(text, table, DRAW)
        first, last = order.min(), int(order.max())
        if np.unique(order).size < order.size or first < 1:
            raise FormatError(f"{text}: column {DRAW}: expected each number once, from 1, got {first} or one twice")
        if last > order.size:  # counted without a list of them: a number may be huge
            gap = int(np.flatnonzero(np.sort(order) != np.arange(order.size) + 1)[0]) + 1
            raise FormatError(
                f"{text}: column {DRAW}: expected all numbers from 1 to {last}, {last - order.size} are missing, "
                f"first {gap}; rows that were taken out are not missing at random: put them back"
            )
        table = table.iloc[np.argsort(order)]
    rows = whole_numbers(text, table, ROW)
    if GIVEN in table and ((rows >= 0) & (rows < given.size)).all():
        held = [class_text(value) for value in table[GIVEN]]
        other = [i for i, row in enumerate(rows) if held[i] != class_text(given[row])]
        if other:
            row = int(rows[other[0]])
            raise InputError(
                f"{text}: column {GIVEN} is not what LABELS holds in {len(other)} of {len(held)} rows, first row "
                f"{row} ({held[other[0]]}, LABELS has {class_text(given[row])}); was it made for other labels?"
            )
    unclear = np.array([is_unclear(value, given) for value in table[TRUE].to_list()], dtype=bool)
    said = [
        None if odd or is_empty(value) or value != value else class_text(value)
        for value, odd in zip(table[TRUE].to_list(), unclear, strict=True)
    ]
    if as_known is None:
        labels = _answered(text, table, given, said)
    else:
        with in_file(f"{text}: column {TRUE}"):
            labels = [None if value is None else as_known(value) for value in said]
    least = single(text, table, LEAST)
    with parsing(f"{text}: column {LEAST}: expected a probability, got {quoted(least)}", details=False):
        least_probability = None if least is None else float(least)
    return Answers(
        text,
        TRUE,
        rows,
        labels,
        unclear,
        [f"row {row}" for row in rows],
        single(text, table, DESIGN),
        table[PROBABILITY].to_numpy() if PROBABILITY in table else None,
        least_probability,
        single(text, table, COMPARISON),
    )


def single(text: str, table: "pd.DataFrame", name: str) -> str | None:
    """Return the single value of a column; None if there is no such column."""
    if name not in table:
        return None
    values = [str(value) for value in table[name].dropna().unique()]
    if len(values) != 1 or table[name].isna().any():
        raise FormatError(f"{text}: column {name}: expected the same in all rows, got {values[:3]}")
    return values[0]


def audit_of(answers: Answers, design: str | None, warn: Warn) -> "Audit":
    """Return the audit that answers are. Of a uniform draw, the first ones are one too; other gaps are refused.

    Raises
    ------
    FormatError, InputError
    """
    from demele.labels import Audit

    text, known, done = answers.text, answers.known, answers.known | answers.unclear
    if answers.design == "sequential":
        raise InputError(
            f"{text}: these rows were asked for one comparison and are not a random sample of all rows; "
            "continue with demele audit next, or draw a sample with demele audit draw"
        )
    where = f"column {DESIGN} of {text}" if answers.key is None else f"the key of {text}"
    design = design_of(text, answers.design, design, where)
    if not known.any():
        raise InputError(f"{text}: no row has an answer in column {answers.column}{' but unclear' * bool(done.any())}")
    gaps, last = np.flatnonzero(~done), int(np.flatnonzero(done).max())
    if gaps.size and (design in ("weighted", "stratified") or gaps[0] < last):
        order = ", in the order drawn" if design == "uniform" else ""
        raise FormatError(
            f"{text}: {plural(gaps.size, 'row has', 'rows have')} no {answers.column}, first {answers.names[gaps[0]]}; "
            f"blank rows are often the hard ones: fill them in{order}, or write {UNCLEAR!r}"
        )
    if gaps.size:
        warn(f"{text}: the last {gaps.size} rows have no answer; the first {last + 1} are used")
    if design == "weighted" and answers.probabilities is None:
        raise FormatError(f"{text}: a weighted audit needs the column {PROBABILITY}: how likely each row was drawn")
    used, n_unclear = np.flatnonzero(known), int(answers.unclear.sum())
    chances, least = None, None
    if design == "weighted" and answers.probabilities is not None:
        chances, least = answers.probabilities[used], answers.least
        if n_unclear and chances.dtype.kind in "iuf":  # the probabilities that rows were drawn and clear
            share = used.size / (used.size + n_unclear)
            chances, least = chances * share, None if least is None else least * share
    columns = {"rows": ROW, "labels": answers.column, "probabilities": PROBABILITY, "design": DESIGN}
    columns["least_probability"] = LEAST
    with in_file(text, **{name: f"column {held}" for name, held in columns.items()}):
        return Audit(
            answers.rows[used],
            [answers.labels[place] for place in used],
            design=design,  # type: ignore[arg-type]
            probabilities=chances,
            least_probability=least,
            unclear=n_unclear,
            within=None if answers.key is None else answers.key.within,
        )


def design_of(text: str, said: str | None, asked: str | None, where: str) -> str:
    """Return how rows were drawn, as the file or the option says.

    Raises
    ------
    InputError
        If they say different things, or nothing.
    """
    if said is not None and asked not in (None, said):
        raise InputError(f"--audit-design {asked}: {where} says {said}; leave one of them out")
    design = said or asked
    if design is None:
        raise InputError(
            f"{text}: how were these rows chosen? --audit-design uniform (at random, in this order), weighted (at "
            f"random, with the probabilities of column {PROBABILITY}) or selective (because something looked wrong)"
        )
    return design


def is_unclear(value: object, given: Array) -> bool:
    """Whether an answer says that the expert cannot label the row; where a class is called so, it is that class."""
    return isinstance(value, str) and value.strip().casefold() == UNCLEAR and not (given == value.strip()).any()


def whole_numbers(text: str, table: "pd.DataFrame", name: str) -> Counts:
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
    whole = [
        isinstance(one, int | float) and not isinstance(one, bool) and abs(one) < 1 << 62 and one == int(one)
        for one in array.tolist()
    ]
    if array.dtype.kind not in "iuf" or not all(whole):
        odd = array.tolist()[whole.index(False)] if False in whole else array.dtype
        raise FormatError(f"{text}: column {name}: expected whole numbers, got {quoted(odd)}")
    return array.astype(np.int64)


def _answered(text: str, table: "pd.DataFrame", given: Array, said: Sequence[str | None]) -> list[int | str | None]:
    """Return the answers as names or as numbers, as the labels are; None where there is none."""
    known = [value for value in said if value is not None]
    read = classes_like(known, given)
    odd = [i for i, value in enumerate(said) if value is not None and not value.lstrip("+-").isdigit()]
    if given.dtype.kind != "O" and odd and isinstance(read[0], str):
        row = table[ROW].iloc[odd[0]]
        raise InputError(
            f"{text}: column {TRUE}: {plural(len(odd), 'answer is no number', 'answers are no numbers')}, as "
            f"the classes of LABELS are, first "
            f"{said[odd[0]]!r} for row {row}; write a class, and name it in --classes if LABELS has it nowhere"
        )
    answers = iter(read)
    return [None if value is None else next(answers) for value in said]


def answer_rows(
    rows: Sequence[int] | Array, given: Sequence[object] | Array, design: str, *, first: int = 1
) -> list[dict[str, Any]]:
    """Return rows for experts, in the order in which they were drawn: by the names of columns, without an answer."""
    return [
        {DRAW: first + place, ROW: int(row), GIVEN: str(given[int(row)]), TRUE: None, DESIGN: design}
        for place, row in enumerate(rows)
    ]


def answers_text(rows: Sequence[Mapping[str, Any]], *, head: Sequence[str] | None = None, delimiter: str = ",") -> str:
    """Write rows for experts; ``head``: the columns of a file that these are added to, whose line of names is there."""
    text = io.StringIO()
    names = list(rows[0]) if head is None else list(head)
    writer = csv.DictWriter(text, names, extrasaction="ignore", lineterminator="\n", delimiter=delimiter)
    if head is None:
        writer.writeheader()
    for row in rows:
        writer.writerow(
            {name: repr(value) if isinstance(value, float) else escaped(value) for name, value in row.items()}
        )
    return text.getvalue()


def read_factor_audits(text: str, factors: Sequence[str], design: str | None, warn: Warn) -> "dict[str, Audit]":
    """Read true values of factors on rows that were drawn at random.

    Parameters
    ----------
    text : str
        The file: columns ``row`` (counted from 0), one called as each audited factor, and perhaps ``design``. Rows of
        which a cell says ``unclear`` are counted and left out.
    factors : sequence of str
        Names of all factors.
    design : str, optional
        How the rows were drawn, where the file does not say.
    warn : callable

    Returns
    -------
    dict of factor name to Audit

    Raises
    ------
    FormatError, InputError
    """
    from demele.noise.audit import Audit, refuse_other_designs

    table = read_table(text, warn=warn)
    held = [] if isinstance(table, np.ndarray) else [str(name) for name in table if name in factors]
    if isinstance(table, np.ndarray) or ROW not in table or not held:
        has = "no names of columns" if isinstance(table, np.ndarray) else listed([str(name) for name in table])
        raise FormatError(
            f"{text}: expected columns {ROW} (counted from 0) and true values in columns called as the factors "
            f"({listed(list(factors))}), got {has}"
        )
    if DRAW in table:
        table = table.iloc[np.argsort(whole_numbers(text, table, DRAW))]
    table = table[[ROW, *held, *([DESIGN] if DESIGN in table else [])]]
    unclear = np.zeros(len(table), dtype=bool)
    for name in held:
        unclear |= [isinstance(value, str) and value.strip().casefold() == UNCLEAR for value in table[name]]
    clear = table[~unclear]
    for name in held:
        gaps = np.flatnonzero(clear[name].isna())
        if gaps.size:
            raise FormatError(
                f"{text}: column {name}: {plural(gaps.size, 'row has', 'rows have')} no true value, first row "
                f"{clear[ROW].iloc[gaps[0]]}; "
                f"blank rows are often the hard ones: fill them in, or write {UNCLEAR!r}"
            )
    drawn = design_of(text, single(text, table, DESIGN), design, f"column {DESIGN} of {text}")
    rows = whole_numbers(text, clear, ROW)
    refuse_other_designs(drawn)
    return {name: Audit(rows, _values(clear[name]), design="uniform", unclear=int(unclear.sum())) for name in held}


def _values(column: "pd.Series[Any]") -> object:
    """Return values as numbers, where all that is left of a column after unclear ones are numbers."""
    numbers = pd.to_numeric(column, errors="coerce")
    return column.to_numpy() if numbers.isna().any() else numbers.to_numpy()


def refuse_weighted(text: str, option: str) -> None:
    """Refuse true labels of rows that were drawn more often where models disagree: plain counts of them mislead.

    Raises
    ------
    InputError
    """
    path, picked = split_name(text)
    if not picked or path.suffix.lower() in (".npy", ".npz"):
        return
    table = read_table(str(path), warn=lambda _: None)
    odd = [] if isinstance(table, np.ndarray) or DESIGN not in table else sorted({*map(str, table[DESIGN].dropna())})
    if set(odd) - {"uniform"}:
        raise InputError(
            f"{option}: the rows of {path} were drawn {odd[0]}, not uniformly, so that counts of them mislead; demele "
            "assess --audit weighs them"
        )


# What is known of wrong annotations of factors, in words and files ----------------------------------------------------


def read_factor_noise(items: Iterable[str], columns: Factors, *, design: str | None, warn: Warn) -> dict[str, Any]:
    """Return what is known of noisy factors, as the library takes it.

    Parameters
    ----------
    items : iterable of str
        FACTOR=RATE; FACTOR=FILE, a transition or an audit; or a file of audits, with columns row and one called as each
        audited factor.
    columns : Factors
        As they were read, to know their names and classes.

    Raises
    ------
    FormatError, InputError
    """
    found = [_known(item, columns, design, warn) for item in items]
    with in_file("--factor-noise"):
        known: dict[str, Any] = joined({}, *found)
    return known


def _known(item: str, columns: Factors, design: str | None, warn: Warn) -> dict[str, Any]:
    name, mark, said = item.rpartition("=")
    name, said = unquoted(name), said.strip()
    if not mark or (name not in columns.names and split_name(item)[0].exists()):
        return dict(read_factor_audits(item, columns.names, design, warn))
    if name not in columns.names:
        raise InputError(f"unknown factor {quoted(name)}; the factors are {', '.join(map(quoted, columns.names))}")
    with in_file(f"--factor-noise: {name}"):
        file = share_or_file(said)
    if not isinstance(file, str):
        return {name: file}
    # an audit has a column of rows, a transition has none
    table = read_table(file, warn=lambda _: None, row_names=True)  # warnings come when its values are read
    column = columns.columns[columns.names.index(name)]
    if isinstance(table, np.ndarray) or ROW not in table:
        return {name: read_transition(file, _classes(column), warn)}
    if name in table and TRUE not in table:
        return dict(read_factor_audits(file, [name], design, warn))
    if not column.categorical:
        raise InputError(f"--factor-noise: {quoted(name)} is continuous; give a file with columns row and {name}")
    return {name: audit_of(read_answers(file, _classes(column), warn), design, warn)}


def _classes(column: Any) -> Array:
    """Return the values of a factor as files name its classes: whole numbers if all are."""
    if not column.categorical:
        return np.arange(2)
    levels = list(column.levels)
    whole = all(level.lstrip("-").isdecimal() for level in levels)
    classes = np.array([int(level) for level in levels]) if whole else np.array(levels, dtype=object)
    values = np.asarray(column.values, dtype=np.intp)
    found: Array = classes[np.where(values >= 0, values, 0)]
    return found
