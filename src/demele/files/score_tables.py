"""Tables of scores, a row for each item or for each score: CSV, TSV, XLSX, JSON, JSONL and Parquet."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from demele.core.errors import FormatError, InputError, quoted
from demele.files.column_files import read_frame
from demele.files.label_files import class_text, name_of
from demele.files.named import split_name
from demele.files.scored_rows import ScoredRow, score_of
from demele.files.sheets import is_sheet_name, read_sheet_rows
from demele.files.table_files import check_known, listed

#: By what columns are found that no option names.
ID = ("id", "item", "item_id", "prompt_id", "question_id", "example_id", "doc_id", "row_id")
SCORE = ("score", "judge", "verdict", "success", "correct")
HUMAN = ("human", "human_score")
_OF_SYSTEM = "human_"
_SYSTEM, _TASK, _EPOCH = ("system", "model"), ("task",), ("epoch",)

#: Rows of a table, each with what messages call it.
Records = Sequence[tuple[str, Mapping[str, Any]]]


def read_records(path: Path) -> tuple[list[str], Records]:
    """Return the names of the columns of a table, and its rows; cells of text stay text, so that ids do.

    Raises
    ------
    FormatError, OSError
    """
    if not is_sheet_name(path):
        table = read_frame(str(path), lambda _: None)
        names = list(map(str, table))
        rows = zip(*(table[name].tolist() for name in table.columns), strict=True)
        return names, [(f"{path}: row {place}", dict(zip(names, row, strict=True))) for place, row in enumerate(rows)]
    (_, header), *lines = read_sheet_rows(path)
    names = ["" if cell is None else str(cell).strip() for cell in header]
    twice = [name for name in names if name and names.count(name) > 1]
    if twice:
        raise FormatError(f"{path}: holds more than one column called {quoted(twice[0])}; rename them")
    short = 0 if path.suffix.lower() == ".xlsx" else len(names)
    for number, cells in lines:
        if not short <= len(cells) <= len(names):
            raise FormatError(f"{path}: line {number}: expected {len(names)} fields as in the first, got {len(cells)}")
    if not lines:
        raise FormatError(f"{path}: has a header but no rows")
    return names, [(f"{path}: line {number}", dict(zip_longest(names, cells))) for number, cells in lines]


def read_score_table(
    text: str,
    score: Sequence[str] = (),
    id_column: str | None = None,
    words: Mapping[str, float] | None = None,
    *,
    people: bool = False,
) -> list[ScoredRow]:
    """Read the scores of a table: of a system for each row, or of a system for each of several columns.

    Parameters
    ----------
    text : str
        ``FILE``, or ``FILE::a,b`` for the columns of scores.
    score : sequence of str
        Columns of scores (default: the one that is called so, or else every other column of numbers from 0 to 1).
    id_column : str, optional
        The column that identifies the items.
    words : mapping of str to float, optional
        What words count.
    people : bool, default False
        Whether only people's scores are read, which ``score`` then names (default: ``human``, or ``human_SYSTEM`` for
        each system); a system without a name is any.

    Raises
    ------
    FormatError, InputError, UnknownNameError
    """
    path, picked = split_name(text)
    names, records = read_records(path)
    own = column_of(path, names, ID, id_column)
    if own is None:
        raise InputError(f"{path}: no column identifies the items among {listed(names)}; name one with `id`")
    bare = column_of(path, names, HUMAN, score[0] if people and score else None)
    of_people = {"": bare} if bare else {}
    of_people |= {name[len(_OF_SYSTEM) :]: name for name in names if name.startswith(_OF_SYSTEM) and name not in HUMAN}
    system, task, epoch = (column_of(path, names, usual) for usual in (_SYSTEM, _TASK, _EPOCH))
    columns: list[tuple[str, str | None, str | None]]
    if people:
        if not of_people:
            raise InputError(f"{path}: no column of people's scores among {listed(names)}; name one with `human_score`")
        columns = [(name, None, one) for name, one in of_people.items()]
    else:
        usual = column_of(path, names, SCORE)
        held = [*picked, *(name for name in score if name in names or not picked)] or ([usual] if usual else [])
        taken = {own, system, task, epoch, bare, *of_people.values()}
        held = held or [name for name in names if name not in taken and _are_scores(records, name, words)]
        if not held:
            raise InputError(f"{path}: no column of scores among {listed(names)}; name one with `score`")
        check_known(held, names, path, "column")
        called = held if len(held) > 1 else [name_of(text)]
        columns = [(name, one, of_people.get(name, bare)) for name, one in zip(called, held, strict=True)]
    if system is not None and len(columns) > 1:
        raise InputError(f"{path}: column {system} names a system for each row, so expected one column of scores")
    found = []
    for place, cells in records:
        name = cell_text(cells.get(own))
        if not name:
            raise InputError(f"{place}: has no identifier in column {own}")
        about: dict[str, Any] = {"fields": cells}
        about |= {kind: cell_text(cells[one]) for kind, one in (("task", task), ("epoch", epoch)) if one}
        for default, *both in columns:
            given, said = (score_of(cells[one], f"{place}: column {one}", words) if one else None for one in both)
            owner = (cell_text(cells[system]) if system else "") or default
            found.append(ScoredRow(owner, name, given, place, human=() if said is None else (said,), **about))
    return found


def _are_scores(records: Records, name: str, words: Mapping[str, float] | None) -> bool:
    """Whether a column has scores from 0 to 1, or words for them, and nothing else."""
    try:
        found = [score_of(cells.get(name), "", words) for _, cells in records]
    except FormatError:
        return False
    return any(score is not None for score in found) and all(score is None or 0 <= score <= 1 for score in found)


def column_of(path: Path, names: Sequence[str], known: Sequence[str], given: str | None = None) -> str | None:
    """Return the column that is named, or the first that is called as such columns are; None if there is none.

    Raises
    ------
    UnknownNameError
    """
    if given is not None:
        check_known([given], names, path, "column")
        return given
    folded = {name.casefold(): name for name in reversed(names)}
    return next((folded[name] for name in known if name in folded), None)


def cell_text(cell: object) -> str:
    """Return an identifier as text, the same for 7 and 7.0; nothing for an empty cell."""
    return "" if cell is None or cell != cell else class_text(cell)
