"""The expert's sheet, which shows the rows to label, and its key, which maps answers back to rows.

The sheet has a random key per row, the columns that were kept for the expert, and an empty column for the answer: no
label, no prediction, no number of the row, no probability. All that is needed to read it back lies in a file of its
own, ``NAME.key.json``.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from demele.core.arrays import Array, Floats, pd, rng_for
from demele.core.errors import FormatError, InputError, plural, quoted
from demele.core.kinds import Data, OneClass, names_in
from demele.core.labelled import read_labels
from demele.core.outputs import write_whole
from demele.core.reading import parsing, read_whole, real_path
from demele.core.result import TableResult
from demele.files import audit_files
from demele.files.label_files import class_text, class_texts, classes_like, in_file
from demele.files.model_logs import OTHER_ANSWER, read_object
from demele.files.named import Cells, is_empty, is_sheet_name, read_sheet_rows, read_table, sheet_bytes, split_name
from demele.files.prediction_sets import PredictionSet
from demele.files.table_files import Warn, quoted_name
from demele.noise.audit import Audit, AuditPlan, draw_audit
from demele.noise.audit import disagreement as disagreement_of

#: Columns of a sheet beside those that were kept.
KEY, ANSWER = "key", "answer"
_FORMAT = "demele key of an expert's sheet"
_LETTERS = np.array([*"bcdfghjkmnpqrstvwxz"])  # no word, no number, no date that a spreadsheet could make of it
_LENGTH = 6
_DESIGNS = ("uniform", "weighted", "stratified", "sequential")


class SheetRow(NamedTuple):
    """A row of a sheet: its key, its number in the test set from 0, when it was drawn from 1, and how likely."""

    key: str
    row: int
    draw: int
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class SheetKey:
    """The map from a sheet back to the rows, in its own file.

    Attributes
    ----------
    design : {"uniform", "weighted", "stratified", "sequential"}
    seed : int
    n : int
        Rows of the test set.
    labels : str
        Digest of LABELS.
    lines : tuple of SheetRow
        In the order in which the sheet was written.
    least_probability : float or None
    comparison : str or None
        For ``"sequential"``: the comparison that asks.
    within : tuple of int or None
        For ``"stratified"``: all rows of the first stratum.
    """

    design: str
    seed: int
    n: int
    labels: str
    lines: tuple[SheetRow, ...]
    least_probability: float | None = None
    comparison: str | None = None
    within: tuple[int, ...] | None = None

    def to_json(self) -> str:
        """Return the content of its file."""
        rows = [{name: value for name, value in line._asdict().items() if value is not None} for line in self.lines]
        about = {name: getattr(self, name) for name in ("design", "seed", "n", "labels")}
        about |= {"least_probability": self.least_probability, "comparison": self.comparison}
        about |= {"rows": rows} if self.within is None else {"within": self.within, "rows": rows}
        return json.dumps({"format": _FORMAT, "format_version": 1, **about}, indent=1) + "\n"


def key_path(sheet: Path) -> Path:
    """Return where the key of a sheet lies.

    Examples
    --------
    >>> key_path(Path("to_label.xlsx")).name
    'to_label.key.json'
    """
    return sheet.with_suffix(".key.json")


# Writing ---------------------------------------------------------------------------------------------------------


def new_key(
    rows: Array,
    given: Array,
    design: str,
    *,
    seed: int,
    probabilities: Floats | None = None,
    least_probability: float | None = None,
    before: SheetKey | None = None,
    comparison: str | None = None,
    within: Array | None = None,
) -> SheetKey:
    """Give rows keys, and an order that tells nothing of them.

    The order of a uniform draw is one; other rows are shuffled. The same seed gives the same keys and order.

    Parameters
    ----------
    rows : array of shape (k,)
        In the order in which they were drawn.
    given : array of shape (n,)
        LABELS.
    before : SheetKey, optional
        That of a sheet that these rows are added to.
    """
    digest, held = labels_digest(given), before.lines if before is not None else ()
    rng, found = rng_for(seed, "expert sheet", "keys", digest), dict[str, None]()
    while len(found) < len(rows) + len(held):  # the keys of a shorter list come first
        found["".join(rng.choice(_LETTERS, _LENGTH).tolist())] = None
    order = np.arange(len(rows))
    if design != "uniform":
        order = rng_for(seed, "expert sheet", "order", digest, len(held)).permutation(len(rows))
    lines = [*held]
    for key, place in zip(list(found)[len(held) :], order.tolist(), strict=True):
        chance = None if probabilities is None else float(probabilities[place])
        lines.append(SheetRow(key, int(rows[place]), len(held) + 1 + place, chance))
    first = None if within is None else tuple(within.tolist())
    return SheetKey(design, seed, given.size, digest, tuple(lines), least_probability, comparison, first)


def labels_digest(given: Array) -> str:
    """Return by what labels are recognised: the same for 3 and 3.0."""
    text = json.dumps([class_text(value) for value in given.tolist()])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def write_sheet(
    path: Path,
    key: SheetKey,
    kept: "pd.DataFrame",
    *,
    classes: Sequence[str] = (),
    held: Sequence[Cells] = (),
) -> None:
    """Write a sheet, and its key next to it.

    Parameters
    ----------
    path : Path
        .csv, .tsv or .xlsx.
    key : SheetKey
    kept : DataFrame of n rows
        What the expert is shown.
    classes : sequence of str
        What an answer may be: a workbook offers them, and ``unclear``.
    held : sequence of rows
        What the sheet holds already, its names first; the other rows are added below.

    Raises
    ------
    InputError
        If a column that is kept is called as one of the sheet.
    """
    names = [str(name) for name in kept]
    twice = [name for name in names if name in (KEY, ANSWER)]
    if twice:
        raise InputError(f"{twice[0]}: the sheet has a column of its own of that name; rename the one that is kept")
    head = list(held[0]) if held else [KEY, *names, ANSWER]
    columns = [kept.iloc[:, place].tolist() for place in range(len(names))]
    lines = list(held) or [head]
    for one in key.lines[len(lines) - 1 :]:
        line = {KEY: one.key, **{names[place]: _cell(column[one.row]) for place, column in enumerate(columns)}}
        lines.append([line.get(str(column)) for column in head])
    choices = {ANSWER: (*classes, audit_files.UNCLEAR)} if classes else {}
    content = sheet_bytes(lines, path, choices=choices)
    write_whole(key_path(path), key.to_json())
    write_whole(path, content)


def _cell(value: Any) -> Any:
    if value is None or value != value:
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15 else str(value)


# Reading ---------------------------------------------------------------------------------------------------------


def read_key(path: Path) -> SheetKey:
    """Read the key of a sheet.

    Raises
    ------
    FormatError
        If it is none, or was changed.
    """
    data = read_object(str(path), read_whole(path))
    if data.get("format") != _FORMAT or not isinstance(data.get("rows"), list):
        raise FormatError(f"{path}: not the key of a sheet: expected the file that demele wrote next to the sheet")
    with parsing(f"{path}: damaged, or changed"):
        design, least = str(data["design"]), data["least_probability"]
        lines = tuple(
            SheetRow(
                str(one["key"]),
                int(one["row"]),
                int(one["draw"]),
                float(one["probability"]) if design == "weighted" else None,
            )
            for one in data["rows"]
        )
        least = None if least is None else float(least)
        within = tuple(int(row) for row in data["within"]) if design == "stratified" else None
        about = int(data["seed"]), int(data["n"]), str(data["labels"])
        key = SheetKey(design, *about, lines, least, data["comparison"], within)
    whole = all(len({line[place] for line in lines}) == len(lines) for place in (0, 1))
    whole = whole and sorted(line.draw for line in lines) == list(range(1, len(lines) + 1))
    if not lines or design not in _DESIGNS or not whole or not all(0 <= line.row < key.n for line in lines):
        raise FormatError(f"{path}: damaged, or changed: not a key that demele wrote")
    return key


_SHOWN = 5


def read_sheet(
    path: Path,
    given: Array,
    *,
    key: Path | None = None,
    classes: Sequence[object] | None = None,
    as_known: audit_files.AsKnown | None = None,
) -> audit_files.Answers:
    """Read a sheet that an expert filled in; its rows may come in any order.

    Parameters
    ----------
    path : Path
        The sheet, or a copy of it.
    given : array of shape (n,)
        LABELS, from which the rows were drawn.
    key : Path, optional
        The file that was written with the sheet; by default the one next to it.
    classes : sequence, optional
        Further classes that an answer may be.
    as_known : callable, optional
        Of answers in words, which may be any text.

    Raises
    ------
    FormatError, InputError
        With the rows of the sheet: if keys are changed, repeated or missing, an answer is no class, or the sheet was
        made for other labels.
    """
    found = read_key(key or key_path(path))
    if found.n != given.size or found.labels != labels_digest(given):
        raise InputError(f"{path}: its rows were drawn from other labels than LABELS holds; give those again")
    (_, head), *lines = read_sheet_rows(path)
    named = [_name(cell) for cell in head]
    for name in (KEY, ANSWER):
        if named.count(name) != 1:
            raise FormatError(f"{path}: expected one column {name}, got {named.count(name)}")
    remedy = f"the column {KEY} leads back to the test set: put it back as it was written; rows may come in any order"
    known, by_key = {line.key for line in found.lines}, dict[str, tuple[int, Cells]]()
    for number, cells in lines:
        cells += [None] * (len(head) - len(cells))
        name = _name(cells[named.index(KEY)])
        if name not in known:
            raise FormatError(f"{path}: row {number} has no key that was written; {remedy}")
        first, _ = by_key.setdefault(name, (number, cells))
        if first != number:
            raise FormatError(f"{path}: the same key stands in rows {first} and {number}; {remedy}")
    missing = [(number, line.key) for number, line in enumerate(found.lines, 2) if line.key not in by_key]
    if missing:
        number, name = missing[0]
        told = f"{len(missing)} of {len(known)} rows are missing, first {name}, row {number} as written"
        raise FormatError(f"{path}: {told}; {remedy}")
    drawn = sorted(found.lines, key=lambda line: line.draw)
    answers = [by_key[line.key][1][named.index(ANSWER)] for line in drawn]
    unclear = np.array([audit_files.is_unclear(value, given) for value in answers], dtype=bool)
    said = [None if odd or is_empty(value) else class_text(value) for value, odd in zip(answers, unclear, strict=True)]
    if as_known is None:
        labels = _classes(path, said, [by_key[line.key][0] for line in drawn], given, classes)
    else:
        with in_file(f"{path}: column {ANSWER}"):
            labels = [None if value is None else as_known(value) for value in said]
    return audit_files.Answers(
        str(path),
        ANSWER,
        np.array([line.row for line in drawn], dtype=np.intp),
        labels,
        unclear,
        [line.key for line in drawn],
        found.design,
        np.array([line.probability for line in drawn]) if found.design == "weighted" else None,
        found.least_probability,
        found.comparison,
        key=found,
        cells=[head, *(by_key[line.key][1] for line in found.lines)],
    )


def _name(cell: object) -> str:
    return cell.strip().casefold() if isinstance(cell, str) else ""


def _classes(
    path: Path,
    said: Sequence[str | None],
    numbers: Sequence[int],
    given: Array,
    classes: Sequence[object] | None,
) -> list[int | str | None]:
    """Return the answers as classes; refuse other words, with their rows."""
    known: dict[str | None, Any] = {
        class_text(value): value for value in [*dict.fromkeys(given.tolist()), *(classes or ())]
    }
    alike: dict[str, list[Any]] = {}
    for name, value in known.items():
        alike.setdefault(str(name).casefold(), []).append(value)
    if not isinstance(given[0], str) and set(known) <= {"0", "1"}:
        alike |= {"true": [1], "false": [0]}
    near = {text: alike.get(text.casefold(), []) for text in said if text is not None}
    known = {None: None, **{text: ones[0] for text, ones in near.items() if len(ones) == 1}, **known}
    odd = sorted((number, text) for number, text in zip(numbers, said, strict=True) if text not in known)
    if odd:
        shown = ", ".join(f"row {number} {quoted(text)}" for number, text in odd[:_SHOWN])
        raise InputError(
            f"{path}: column {ANSWER}: {plural(len(odd), 'answer is', 'answers are')} no class of LABELS: "
            f"{shown}; write a class, unclear, or "
            "nothing; a class that LABELS has nowhere is named in --classes"
        )
    return [known[text] for text in said]


# What the expert sees -------------------------------------------------------------------------------------------------


def kept_columns(
    sheet: bool,
    labels: str,
    n: int,
    warn: Warn,
    hidden: Sequence[str | None],
    logs: PredictionSet | None,
    *,
    keep: str | None = None,
) -> "pd.DataFrame | None":
    """Read the columns that the expert is shown, None if no sheet is written; none of ``hidden`` may be among them.

    Parameters
    ----------
    sheet : bool
        Whether a sheet is written.
    labels : str
        Where the labels are, as given.
    n : int
        Rows of the test set.
    warn : callable
        Called with one line for anything that was guessed.
    hidden : sequence of str or None
        Labels and predictions, as given.
    logs : PredictionSet or None
        What was read of logs: their fields are the columns, by default the question and its choices.
    keep : str, optional
        Columns to show to the expert: A,B of LABELS or FILE::A,B.

    Raises
    ------
    InputError
        If a column is one of these, or the table has other rows.
    FormatError
        If its columns have no names.
    """
    if not sheet:
        if keep is not None:
            raise InputError("keep", "says what the sheet of `blind` shows to the expert; add `blind=True`")
        return None
    if logs is not None and logs.fields and "::" not in (keep or ""):
        usual = [name for name in ("question", "choices") if any(fields.get(name) for fields in logs.fields)]
        kept = {name: logs.values_of(name) for name in (usual if keep is None else names_in(keep))}
        targets = list(zip(logs.labels.tolist(), logs.values_of("target"), strict=True))
        for name, values in kept.items():
            if all(str(value) in map(str, known) for value, known in zip(values, targets, strict=True)):
                problem = f"{name} holds the right answers, which an expert must not see before the answer"
                raise InputError("keep", problem)
        return pd.DataFrame(kept)
    if keep is None:
        return pd.DataFrame(index=range(n))
    own = split_name(labels)[0]
    text = keep if "::" in keep else f"{own}::{keep}"
    path, names = split_name(text)
    for other in hidden:
        file, columns = split_name(other) if other is not None else (None, ())
        shown = [name for name in names if name in columns]
        if file is not None and shown and real_path(file) == real_path(path):
            raise InputError("keep", f"{shown[0]} holds labels or predictions, which an expert must not see")
    table = read_table(text, warn=warn)
    if isinstance(table, np.ndarray):
        raise FormatError("keep", f"{path} has no names of columns; give them as FILE::{quoted_name(names[0])}")
    if len(table) != n:
        raise InputError("keep", f"expected {n} rows in {path}, as many as LABELS, got {len(table)}")
    return table


def read_any_audit(
    text: str,
    given: Array,
    warn: Warn,
    *,
    design: str | None = None,
    key: Path | None = None,
    classes: Sequence[object] | None = None,
    as_known: audit_files.AsKnown | None = None,
) -> Audit:
    """Read an expert's sheet, if there is a key to it, or else the file that has the rows themselves."""
    sheet = Path(text)
    if key is None and not (is_sheet_name(sheet) and key_path(sheet).exists()):
        if sheet.suffix.lower() == ".xlsx":
            raise InputError("audit_key", f"{sheet} is an expert's sheet, and {key_path(sheet)} is not there; name it")
        answers = audit_files.read_answers(text, given, warn, as_known)
    else:
        answers = read_sheet(sheet, given, key=key, classes=classes, as_known=as_known)
    audit = audit_files.audit_of(answers, design, warn)
    others = list(audit.labels).count(OTHER_ANSWER)
    if others:
        warn(f"{text}: {plural(others, 'answer is', 'answers are')} none that a model or a log gave")
    return audit


# Rows that an expert labels -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowsToLabel(TableResult):
    """Rows for an expert; see :func:`draw_rows`.

    Attributes
    ----------
    plan : AuditPlan
    labels : array of shape (n,)
        The given labels.
    key : SheetKey or None
        Of a sheet: what leads back from it to the rows.
    kept : DataFrame of n rows, or None
        Of a sheet: what the expert sees.
    offered : tuple of str
        Of a sheet: the classes that an answer may be.
    """

    _kind = "rows to label"
    _files: ClassVar[Mapping[str, str]] = {".csv": "save", ".tsv": "save", ".xlsx": "save"}

    plan: AuditPlan = field(metadata={"json": False})
    labels: Array = field(metadata={"json": False})
    key: SheetKey | None = field(default=None, metadata={"json": False})
    kept: "pd.DataFrame | None" = field(default=None, metadata={"json": False})
    offered: tuple[str, ...] = ()

    def to_frame(self) -> "pd.DataFrame":
        """Return the rows as the expert gets them."""
        if self.key is not None and self.kept is not None:
            shown = self.kept.iloc[[line.row for line in self.key.lines]].reset_index(drop=True)
            shown.insert(0, KEY, [line.key for line in self.key.lines])
            return shown.assign(**{ANSWER: ""})
        return pd.DataFrame(self._lines())

    def to_dict(self) -> dict[str, Any]:
        """Return the rows."""
        return {"kind": self._kind, "design": self.plan.design, "n": self.plan.n, "rows": self._lines()}

    def save(self, path: str | Path) -> None:
        """Write the rows: .csv or .tsv; a sheet with its key next to it: .csv, .tsv or .xlsx.

        Raises
        ------
        InputError
            For another kind of file.
        """
        path = Path(path)
        if self.key is not None and self.kept is not None:
            write_sheet(path, self.key, self.kept, classes=self.offered)
        elif path.suffix.lower() in (".csv", ".tsv"):
            delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
            write_whole(path, audit_files.answers_text(self._lines(), delimiter=delimiter))
        else:
            raise InputError(f"{path}: expected a file called .csv or .tsv; a sheet (blind) may be .xlsx")

    def headline(self) -> str:
        """Return how many rows were drawn."""
        rows, column = plural(self.plan.rows.size, "row", "rows"), audit_files.TRUE if self.key is None else ANSWER
        return f"An expert fills in the column {column} of {rows} of {self.plan.n:,} ({self.plan.design} draw)."

    def _lines(self) -> list[dict[str, Any]]:
        plan = self.plan
        lines = audit_files.answer_rows(plan.rows, self.labels.tolist(), plan.design)
        for place, line in enumerate(lines):
            line |= {} if plan.probabilities is None else {audit_files.PROBABILITY: float(plan.probabilities[place])}
            line |= {} if plan.least_probability is None else {audit_files.LEAST: plan.least_probability}
        return lines


def draw_rows(
    labels: object,
    size: int,
    *,
    disagreement: Data = None,
    positive: OneClass = None,
    blind: bool = False,
    kept: "pd.DataFrame | None" = None,
    offered: Sequence[object] | None = (),
    seed: int = 0,
) -> RowsToLabel:
    """Draw random rows for an expert to label.

    Parameters
    ----------
    labels : array-like of shape (n,)
        The given labels.
    size : int
        Number of rows to label.
    disagreement : mapping of str to array-like of shape (n,), optional
        Predictions of several models. Rows on which they disagree are drawn more often.
    positive : class, optional
        Rare class. Half of the rows are drawn where a label or prediction is it.
    blind : bool
        Write a sheet without labels and predictions, and a key.
    kept : DataFrame of n rows, optional
        What the expert sees in the sheet.
    offered : sequence of classes
        What an answer may be, in addition to the labels; None if an answer may be any text.
    seed : int
        Random seed.

    Returns
    -------
    RowsToLabel

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Examples
    --------
    >>> print(draw_rows(["cat", "dog"] * 50, 3).sentence)
    An expert fills in the column true_label of 3 rows of 100 (uniform draw).
    """
    given = read_labels(labels, "labels")
    models: Mapping[str, Any] = disagreement if isinstance(disagreement, Mapping) else {}
    for values in models.values():
        if len(values) != given.size:
            raise InputError("disagreement", f"expected {given.size} rows, as many as labels, got {len(values)}")
    drawn: dict[str, Any] = {}
    if positive is not None:
        (wanted,) = classes_like([str(positive)], given)
        said = [given, *(read_labels(values, "disagreement") for values in models.values())]
        drawn["within"] = np.flatnonzero(np.any([one == wanted for one in said], axis=0))
        if not drawn["within"].size:
            raise InputError("positive", f"expected at least 1 row, got none of the class {positive}")
    elif models:
        if len(models) < 2:
            raise InputError("disagreement", "expected the predictions of at least 2 models, got 1")
        drawn["disagreement"] = disagreement_of(models)
    plan = draw_audit(given.size, size, seed=seed, **drawn)
    if not blind:
        return RowsToLabel(plan, given)

    key = new_key(
        plan.rows,
        given,
        plan.design,
        seed=seed,
        probabilities=plan.probabilities,
        least_probability=plan.least_probability,
        within=plan.within,
    )
    seen = pd.DataFrame(index=range(given.size)) if kept is None else kept
    texts = [] if offered is None else class_texts([*given.tolist(), *offered])
    return RowsToLabel(plan, given, key, seen, tuple(texts))
