"""Sheets of experts as they come back: joined with their keys, refused where they do not fit, made into audits."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError, quoted
from demele.core.sentences import plural
from demele.files.audit_files import Answers, AsKnown, is_unclear
from demele.files.expert_sheets import ANSWER, KEY, SheetKey, key_path, labels_digest, read_key
from demele.files.label_files import class_text
from demele.files.workbooks import Cells, is_empty, read_sheet_rows

_SHOWN = 5


def read_sheet(
    path: Path,
    given: NDArray[Any],
    *,
    key: Path | None = None,
    classes: Sequence[object] | None = None,
    as_known: AsKnown | None = None,
) -> Answers:
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
    at = {name: [place for place, cell in enumerate(head) if _name(cell) == name] for name in (KEY, ANSWER)}
    for name, places in at.items():
        if len(places) != 1:
            raise FormatError(f"{path}: expected one column {name}, got {len(places)}")
    by_key = _rows_by_key(path, lines, at[KEY][0], found)
    order = np.argsort(found.draws)
    said = [_at(by_key[key_][1], at[ANSWER][0]) for key_ in found.keys]
    unclear = np.array([is_unclear(value, given) for value in said], dtype=bool)
    labels: list[int | str | None]
    if as_known is None:
        labels = _classes(path, said, unclear, [by_key[key_][0] for key_ in found.keys], given, classes)
    else:
        open_ = [not odd and not is_empty(value) for value, odd in zip(said, unclear, strict=True)]
        labels = [as_known(class_text(value)) if some else None for value, some in zip(said, open_, strict=True)]
    chances = None if found.probabilities is None else np.array(found.probabilities)[order]
    return Answers(
        str(path),
        ANSWER,
        np.array(found.rows, dtype=np.intp)[order],
        [labels[place] for place in order],
        unclear[order],
        [found.keys[place] for place in order],
        found.design,
        chances,
        found.least_probability,
        found.comparison,
        key=found,
        cells=[head, *(by_key[key_][1] for key_ in found.keys)],
    )


def _name(cell: object) -> str:
    return cell.strip().casefold() if isinstance(cell, str) else ""


def _at(cells: Cells, place: int) -> Any:
    return cells[place] if place < len(cells) else None


def _rows_by_key(
    path: Path, lines: Sequence[tuple[int, Cells]], place: int, key: SheetKey
) -> Mapping[str, tuple[int, Cells]]:
    """Return the rows of a sheet by their keys, each with its number in the sheet."""
    found: dict[str, tuple[int, Cells]] = {}
    known, strange, twice = set(key.keys), [], []
    for number, cells in lines:
        name = _name(_at(cells, place))
        if name not in known:
            strange.append(number)
        elif name in found:
            twice.append((found[name][0], number))
        else:
            found[name] = number, cells
    faults = []
    if strange:
        faults.append(f"{_rows(strange)} no key that was written")
    if twice:
        shown = ", ".join(f"{first} and {second}" for first, second in twice[:_SHOWN])
        faults.append(f"the same key stands in rows {shown}")
    missing = [number for number, name in enumerate(key.keys, 2) if name not in found]
    if missing:
        faults.append(
            f"{len(missing)} of {len(key.keys)} rows are missing, first {key.keys[missing[0] - 2]}, row {missing[0]} "
            "as written"
        )
    if faults:
        raise FormatError(
            f"{path}: {'; '.join(faults)}; the column {KEY} leads back to the test set: put it back as it was written; "
            "rows may come in any order"
        )
    return found


def _rows(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_SHOWN])) + (f" and {len(numbers) - _SHOWN} more" * (len(numbers) > _SHOWN))
    return f"row {shown} has" if len(numbers) == 1 else f"rows {shown} have"


def _classes(
    path: Path,
    said: Sequence[Any],
    unclear: NDArray[np.bool_],
    numbers: Sequence[int],
    given: NDArray[Any],
    classes: Sequence[object] | None,
) -> list[int | str | None]:
    """Return the answers as classes; refuse other words, with their rows."""
    known: dict[str, int | str] = {
        class_text(value): value for value in [*dict.fromkeys(given.tolist()), *(classes or ())]
    }
    alike: dict[str, list[int | str]] = {}
    for text, value in known.items():
        alike.setdefault(text.casefold(), []).append(value)
    if not isinstance(given[0], str) and set(known) <= {"0", "1"}:
        alike |= {"true": [1], "false": [0]}
    found: list[int | str | None] = []
    odd = []
    for value, without, number in zip(said, unclear, numbers, strict=True):
        text = "" if without or is_empty(value) else class_text(value)
        near = alike.get(text.casefold(), [])
        found.append(known.get(text, near[0] if len(near) == 1 else None))
        if text and found[-1] is None:
            odd.append((number, text))
    if odd:
        shown = ", ".join(f"row {number} {quoted(text)}" for number, text in odd[:_SHOWN])
        raise InputError(
            f"{path}: column {ANSWER}: {plural(len(odd), 'answer is', 'answers are')} no class of LABELS: "
            f"{shown}; write a class, unclear, or "
            "nothing; a class that LABELS has nowhere is named in --classes"
        )
    return found
