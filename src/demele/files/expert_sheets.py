"""The expert's sheet, which shows the rows to label, and its key, which maps answers back to rows.

The sheet has a random key per row, the columns that were kept for the expert, and an empty column for the answer: no
label, no prediction, no number of the row, no probability. All that is needed to read it back lies in a file of its
own, ``NAME.key.json``.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError
from demele.core.outputs import write_whole
from demele.core.reading import check_nesting, parsing, read_whole
from demele.core.seeds import rng_for
from demele.files.audit_files import UNCLEAR
from demele.files.label_files import class_text
from demele.files.workbooks import Cells, sheet_bytes

if TYPE_CHECKING:
    import pandas as pd


#: Columns of a sheet beside those that were kept.
KEY, ANSWER = "key", "answer"
_FORMAT = "demele key of an expert's sheet"
_LETTERS = np.array([*"bcdfghjkmnpqrstvwxz"])  # no word, no number, no date that a spreadsheet could make of it
_LENGTH = 6
_DESIGNS = ("uniform", "weighted", "stratified", "sequential")


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
    keys : tuple of str
        Keys of each row of the sheet, in the order in which it was written.
    rows : tuple of int
        Number of each of these rows in the test set, from 0.
    draws : tuple of int
        When each was drawn, from 1.
    probabilities : tuple of float or None
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
    keys: tuple[str, ...]
    rows: tuple[int, ...]
    draws: tuple[int, ...]
    probabilities: tuple[float, ...] | None = None
    least_probability: float | None = None
    comparison: str | None = None
    within: tuple[int, ...] | None = None

    def to_json(self) -> str:
        """Return the content of its file."""
        rows: list[dict[str, Any]] = [
            {"key": key, "row": row, "draw": draw}
            for key, row, draw in zip(self.keys, self.rows, self.draws, strict=True)
        ]
        for place, chance in enumerate(self.probabilities or ()):
            rows[place]["probability"] = chance
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
    rows: NDArray[Any],
    given: NDArray[Any],
    design: str,
    *,
    seed: int,
    probabilities: NDArray[np.float64] | None = None,
    least_probability: float | None = None,
    before: SheetKey | None = None,
    comparison: str | None = None,
    within: NDArray[Any] | None = None,
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
    digest, taken = labels_digest(given), before.keys if before is not None else ()
    names = _row_keys(len(rows) + len(taken), seed, digest)[len(taken) :]
    order = np.arange(len(rows))
    if design != "uniform":
        order = rng_for(seed, "expert sheet", "order", digest, len(taken)).permutation(len(rows))
    first = len(taken) + 1
    chances = None if probabilities is None else tuple(float(probabilities[place]) for place in order)
    fresh = SheetKey(
        design, seed, given.size, digest, tuple(names), tuple(int(rows[place]) for place in order),
        tuple(int(place) + first for place in order), chances, least_probability, comparison,
        None if within is None else tuple(within.tolist()),
    )  # fmt: skip
    if before is None:
        return fresh
    return replace(
        fresh, keys=before.keys + fresh.keys, rows=before.rows + fresh.rows, draws=before.draws + fresh.draws
    )


def _row_keys(k: int, seed: int, digest: str) -> list[str]:
    """Return so many distinct keys; those of a shorter list come first."""
    rng = rng_for(seed, "expert sheet", "keys", digest)
    found: dict[str, None] = {}
    while len(found) < k:
        found["".join(rng.choice(_LETTERS, _LENGTH).tolist())] = None
    return list(found)


def labels_digest(given: NDArray[Any]) -> str:
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
    replace_it: bool = True,
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
    replace_it : bool
        Whether files may be replaced.

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
    for name, row in list(zip(key.keys, key.rows, strict=True))[len(lines) - 1 :]:
        line = {KEY: name, **{names[place]: _cell(column[row]) for place, column in enumerate(columns)}}
        lines.append([line.get(str(column)) for column in head])
    choices = {ANSWER: (*classes, UNCLEAR)} if classes else {}
    content = sheet_bytes(lines, path, choices=choices)
    write_whole(key_path(path), key.to_json(), replace=replace_it)
    write_whole(path, content, replace=replace_it)


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
    content = read_whole(path)
    check_nesting(path, content)
    with parsing(f"{path}: not the key of a sheet"):
        data = json.loads(content.decode("utf-8"))
    if not isinstance(data, dict) or data.get("format") != _FORMAT or not isinstance(data.get("rows"), list):
        raise FormatError(f"{path}: not the key of a sheet: expected the file that demele wrote next to the sheet")
    with parsing(f"{path}: damaged, or changed"):
        rows = [(str(one["key"]), int(one["row"]), int(one["draw"])) for one in data["rows"]]
        keys, places, draws = zip(*rows, strict=True)
        chances = tuple(float(one["probability"]) for one in data["rows"]) if data["design"] == "weighted" else None
        least = data["least_probability"]
        key = SheetKey(
            str(data["design"]), int(data["seed"]), int(data["n"]), str(data["labels"]), keys, places, draws,
            chances, None if least is None else float(least), data["comparison"],
            tuple(int(row) for row in data["within"]) if data["design"] == "stratified" else None,
        )  # fmt: skip
    whole = len(set(keys)) == len(keys) == len(set(places)) and sorted(draws) == list(range(1, len(keys) + 1))
    if key.design not in _DESIGNS or not whole or not all(0 <= row < key.n for row in places):
        raise FormatError(f"{path}: damaged, or changed: not a key that demele wrote")
    return key
