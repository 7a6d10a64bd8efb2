"""Tables of scores, a row for each item or for each score: CSV, TSV, XLSX, JSON, JSONL and Parquet."""

import math
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
ID = ("id", "item", "item_id", "prompt_id", "question_id", "example_id", "doc_id", "row_id", "testidx", "traceid")
SCORE = ("score", "judge", "verdict", "success", "correct")
HUMAN = ("human", "human_score")
_OF_SYSTEM, _AFTER = "human_", "_human"
_SYSTEM, _TASK, _EPOCH = ("system", "model", "sys"), ("task",), ("epoch",)

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
    systems: Sequence[str] = (),
    scale: tuple[float, float] = (0.0, 1.0),
    notes: list[str] | None = None,
) -> list[ScoredRow]:
    """Read the scores of a table: of a system for each row, or of a system for each of several columns.

    Parameters
    ----------
    text : str
        ``FILE``, or ``FILE::a,b`` for the columns of scores.
    score : sequence of str
        Columns of scores (default: the one that is called so; else those called as systems; else all that mostly hold
        scores).
    id_column : str, optional
        The column that identifies the items.
    words : mapping of str to float, optional
        What words count.
    people : bool, default False
        Whether only people's scores are read, which ``score`` then names (default: ``human``, or ``human_SYSTEM`` or
        ``SYSTEM`` for each system, or the only column of scores); a system without a name is any.
    systems : sequence of str
        Systems that columns may be called after.
    scale : (float, float)
        Least and largest score, by which columns of scores are found.
    notes : list of str, optional
        Takes which columns were found to be systems.

    Raises
    ------
    FormatError, InputError, UnknownNameError
    """
    path, picked = split_name(text)
    names, records = read_records(path)
    own = column_of(path, names, ID, id_column)
    if own is None:
        raise InputError(f"{path}: no column identifies the items among {listed(names)}; name one with `id`")
    named = [*picked, *(name for name in score if name in names or not picked)]
    bare = column_of(path, names, HUMAN, named[0] if people and named else None)
    of_people = ({"": bare} if bare else {}) | ({} if people and named else of_systems(names))
    system, task, epoch = (column_of(path, names, usual) for usual in (_SYSTEM, _TASK, _EPOCH))
    free = [name for name in names if name not in {own, system, task, epoch, *of_people.values()}]
    scored = [name for name in free if _are_scores(records, name, words, scale)]
    columns: list[tuple[str, str | None, str | None]]
    if people:
        meant = {one.rpartition("/")[2] for one in systems} | {*systems}
        of_people = of_people or {name: name for name in free if name in meant}
        of_people = of_people or ({"": scored[0]} if len(scored) == 1 else {})
        if not of_people:
            wanted = " and ".join(f"{_OF_SYSTEM}{one}" for one in systems)
            raise InputError(
                f"{path}: no column of people's scores among {listed(names)}; expected a column human, or {wanted}, or "
                "name one with `human_score`"
            )
        columns = [(name, None, one) for name, one in of_people.items()]
    else:
        usual = column_of(path, names, SCORE)
        held = named or ([usual] if usual else [])
        if not held:
            held = chosen = [name for name in free if {name, name.rpartition("/")[2]} & {*systems}]
            if not held:
                held = [name for name in free if name in scored or name in of_people]
            if notes is not None and system is None and not {*held} <= {*chosen, *of_people}:
                notes.append(f"{path}: columns read as systems: {listed(held)}; pick others as {path}::A,B")
        if not held:
            hint = "name one with `score`, or give the `scale` of ratings"
            raise InputError(f"{path}: no column of scores among {listed(names)}; {hint}")
        check_known(held, names, path, "column")
        called = [name_of(text)] if len(held) == 1 and (named or usual) else held
        columns = [(name, one, of_people.get(name, bare)) for name, one in zip(called, held, strict=True)]
    if system is not None and len(columns) > 1:
        raise InputError(
            f"{path}: column {system} names systems, so expected one column of scores; name it with `score`"
        )
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
            where = place if len(columns) == 1 else f"{place}: column {both[0] or both[1]}"
            found.append(ScoredRow(owner, name, given, where, human=() if said is None else (said,), **about))
    return found


def of_systems(names: Sequence[str]) -> dict[str, str]:
    """Return columns of people's scores by the systems that their names hold: ``human_A`` or ``A_human``."""
    found = {name[len(_OF_SYSTEM) :]: name for name in names if name.startswith(_OF_SYSTEM) and name not in HUMAN}
    return found | {name.removesuffix(_AFTER): name for name in names if name.endswith(_AFTER)}


def _are_scores(records: Records, name: str, words: Mapping[str, float] | None, scale: tuple[float, float]) -> bool:
    """Whether most cells of a column that are not empty are scores on the scale, or words for them."""
    on, known = 0, 0
    for _, cells in records:
        try:
            score = score_of(cells.get(name), "", words)
        except FormatError:
            score = math.inf
        known += score is not None
        on += score is not None and scale[0] <= score <= scale[1]
    return 2 * on > known


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
