"""Scores of rows, of one or several systems, and people's scores of the same rows: read from what programs write."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError, plural, quoted
from demele.core.kinds import Kind, checked, number, pairs_in
from demele.core.labelled import shown
from demele.core.reading import parsing, path_of
from demele.core.table_columns import items_of
from demele.files import score_tables
from demele.files.label_files import name_of
from demele.files.model_logs import LOG_READERS, ScoredRow, log_program, questions_of
from demele.files.named import split_name
from demele.files.prediction_sets import distinct
from demele.files.table_files import check_known, listed

#: The least share of the items that all systems must have, and the share without a score above which a note warns.
_LEAST_COMMON = 0.9
_MANY_UNSCORED = 0.05
_BY_EPOCH = "give `by_epoch`: each repeat is then a row"
_TABLES = (".csv", ".tsv", ".xlsx", ".json", ".jsonl", ".parquet")

Scale = Annotated[Sequence[float] | None, Kind("LO,HI", lambda word: [number(one) for one in word.split(",")])]
Words = Annotated[
    Mapping[str, float] | None,
    Kind("WORD=VALUE", lambda word: {name: number(one) for name, one in pairs_in(word, "partly=0.5").items()}, True),
]


@dataclass(frozen=True, slots=True)
class HumanScores:
    """People's scores of some rows.

    Attributes
    ----------
    scores : dict of str to array of shape (n,)
        By system, in the order of the rows; NaN where nobody judged. Several people are averaged.
    disagreement : float or None
        How often two people who judged the same row disagree; None if no row was judged twice.
    notes : tuple of str
        What their reader must know.
    """

    scores: dict[str, NDArray[np.float64]]
    disagreement: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoreSet:
    """Scores of one or several systems on the same rows.

    Attributes
    ----------
    ids : tuple of str
        What identifies each row: its item, ``TASK/ITEM`` where there are several tasks, ``ITEM#EPOCH`` by epochs.
    scores : dict of str to array of shape (n,)
        By system; repeats of an item are averaged.
    epochs : dict of str to list of n lists
        The repeats that were averaged, by system.
    low, high : float
        The scale.
    tasks : array of str of shape (n,)
        Empty texts where files name none.
    groups : array of str of shape (n,), or None
        Which rows belong together.
    human : HumanScores or None
        People's scores that the same files hold.
    fields : tuple of mapping of str
        What files hold of each row, by names such as ``metadata.passage``.
    unscored, errors : dict of str to int
        By system: rows without a score, and how many of these because something failed.
    left_out : frozenset of str
        Rows that are not compared: a system lacks them, or has no score.
    by_epoch : bool
        Whether each repeat is a row.
    notes : tuple of str
        What their reader must know.
    """

    checked_by_kind = True

    ids: tuple[str, ...]
    scores: dict[str, NDArray[np.float64]]
    epochs: dict[str, list[list[float]]]
    low: float
    high: float
    tasks: NDArray[np.object_]
    groups: NDArray[np.object_] | None = None
    human: HumanScores | None = None
    fields: tuple[Mapping[str, Any], ...] = ()
    unscored: dict[str, int] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()
    by_epoch: bool = False
    notes: tuple[str, ...] = ()

    def values_of(self, name: str) -> list[Any]:
        """Return what files hold of each row by one name, such as a slice or a weight; None where a row has none.

        Raises
        ------
        UnknownNameError
            If no row has it.
        """
        check_known([name], list(dict.fromkeys(name for one in self.fields for name in one)), Path("files"), "field")
        return [one.get(name) for one in self.fields]


def read_scores(
    files: Sequence[str | Path] | str | Path,
    *,
    score: Sequence[str] | str | None = None,
    id: str | None = None,  # noqa: A002 - the column is mostly called so
    group: str | None = None,
    scale: Scale = None,
    map: Words = None,  # noqa: A002 - the option is called so
    by_epoch: bool = False,
    systems: Sequence[str] = (),
) -> ScoreSet:
    r"""Read scores of one or several systems on the same items: verdicts of judges, rubrics, partial credit.

    Parameters
    ----------
    files : str or sequence of str
        ``FILE`` or ``FILE::score``: logs of Inspect and lm-evaluation-harness, results of promptfoo, DeepEval, Langfuse
        and Label Studio, tables, or folders of these. A table has
        a column of scores, and perhaps one of systems; or a column for each system, picked as ``FILE::a,b``.
    score : str or sequence of str, optional
        Score to read: a column, scorer, measure or filter.
    id : str, optional
        Column that identifies items, in tables (default: id, item, ...).
    group : str, optional
        Column or field of what belongs together, such as ``metadata.passage``.
    scale : pair of float, optional
        Least and largest score (default: 0,1).
    map : mapping of str to float, optional
        What a word counts, such as ``partly=0.5``.
    by_epoch : bool
        Each repeat of an item is a row. Repeats of one item belong together.
    systems : sequence of str
        Systems that people scored, as :func:`systems_of` returns them: columns of tables that are called so are read.

    Returns
    -------
    ScoreSet
        Rows that all systems have, by their identifiers.

    Raises
    ------
    FormatError, InputError, UnknownNameError
        If a file cannot be read, an item stands twice, systems share too few items, or a score is off the scale.
    OSError
        If a file cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "judged.csv"
    >>> _ = file.write_text("id,system,score\n7,A,pass\n8,A,fail\n8,B,pass\n7,B,1\n")
    >>> found = read_scores(file)
    >>> found.ids, {name: scores.tolist() for name, scores in found.scores.items()}
    (('7', '8'), {'A': [1.0, 0.0], 'B': [1.0, 1.0]})
    """
    given = [files] if isinstance(files, str | Path) else items_of(files, "files", "names of files")
    texts = [str(path_of(text, "files")) for text in given]
    if not texts or len(set(texts)) < len(texts):
        raise InputError("files", f"expected files, each once, got {shown(texts)}")
    low, high = (0.0, 1.0) if scale is None else (float(scale[0]), float(scale[-1]))
    if scale is not None and (len(scale) != 2 or not np.isfinite([low, high]).all() or low >= high):
        raise InputError("scale", f"expected the least and the largest score, such as 1,5, got {shown(list(scale))}")
    chosen = [score] if isinstance(score, str) else list(score or ())
    notes: list[str] = []
    wanted = score_tables.Wanted(chosen, id, map, systems=systems, scale=(low, high))
    rows = _by_system([(text, rows_of(text, wanted, notes)) for text in texts])
    _check_scale([row for own in rows.values() for row in own], low, high)
    tasks = [{(row.program, row.task) for row in own} for own in rows.values()]  # each program has its own names
    every = set().union(*tasks)
    several = any(len(own) > 1 for own in tasks) or len(every) > len({program for program, _ in every})
    held = {name: _by_name(name, own, several, by_epoch) for name, own in rows.items()}
    kept, left_out = _common(held, notes)
    first = [held[next(iter(held))][name][0] for name in kept]
    human = _human_scores({s: [[one for row in own[n] for one in row.human] for n in kept] for s, own in held.items()})
    groups = [row.id for row in first]
    if group:
        groups = [score_tables.cell_text(row.fields.get(group)) for row in first]
        if "" in groups:
            row = first[groups.index("")]
            raise InputError("group", f"{row.place}: has no {group}; it has {listed(list(row.fields))}")
        groups = [f"{row.task}/{name}" if several else name for row, name in zip(first, groups, strict=True)]
    epochs = {
        name: [[row.score for row in own[one] if row.score is not None] for one in kept] for name, own in held.items()
    }
    return ScoreSet(
        tuple(kept),
        {name: _means(own) for name, own in epochs.items()},
        epochs,
        low,
        high,
        np.array([row.task for row in first], dtype=object),
        np.array(groups, dtype=object) if group or by_epoch else None,
        human,
        tuple(row.fields for row in first),
        {name: sum(row.score is None for row in own) for name, own in rows.items()},
        {name: sum(row.error for row in own) for name, own in rows.items()},
        left_out,
        by_epoch,
        tuple(notes),
    )


@checked
def read_human(
    file: str | Path,
    found: ScoreSet,
    *,
    human_score: str | None = None,
    id: str | None = None,  # noqa: A002 - as read_scores
    map: Words = None,  # noqa: A002 - as read_scores
) -> HumanScores:
    r"""Read people's scores of some rows, joined by the identifiers of their items.

    Parameters
    ----------
    file : str
        A table with a column of items and ``"human"``, or ``human_SYSTEM`` or ``SYSTEM`` for each system; or any file
        that :func:`read_scores` reads.
    found : ScoreSet
        The scores of the same rows.
    human_score : str, optional
        Column or score that holds what people say.
    id, map
        As of :func:`read_scores`.

    Returns
    -------
    HumanScores

    Raises
    ------
    FormatError, InputError, UnknownNameError
        If an item is unknown or stands twice with different scores, or a score is no score or off the scale.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "judged.csv").write_text("id,score\n7,pass\n8,fail\n9,pass\n")
    >>> _ = (folder / "people.csv").write_text("id,human\n9,no\n7,yes\n")
    >>> found = read_scores(folder / "judged.csv")
    >>> read_human(folder / "people.csv", found).scores
    {'judged': array([ 1., nan,  0.])}
    """
    text = str(path_of(file, "file"))
    named = [human_score] if human_score else []
    systems = list(found.scores)
    wanted = score_tables.Wanted(named, id, map, people=True, systems=systems, scale=(found.low, found.high))
    rows = [row for row in rows_of(text, wanted, []) if row.human]
    if not rows:
        raise InputError(f"{text}: holds no score by people")
    _check_scale(rows, found.low, found.high)
    own = list(dict.fromkeys(row.system for row in rows))
    if len(systems) > 1 and "" in own:
        columns = ", ".join(f"human_{name}" for name in systems)
        raise InputError(f"{text}: the systems of the scores are not named; expected columns {columns}, or system")
    meant = {name: _meant(name, systems) for name in own}
    if len(systems) == len(own) == 1:
        meant = dict.fromkeys(own, systems[0])
    if not any(meant.values()):
        check_known(own, systems, Path(text), "system")
    others = [name for name, system in meant.items() if system is None]
    rows = [replace(row, system=system) for row in rows if (system := meant[row.system]) is not None]
    several = found.ids[0].startswith(f"{found.tasks[0]}/")
    said: dict[tuple[str, str], dict[str, ScoredRow]] = {}
    unknown = "item is not in the results", "items are not in the results"
    twice = "item has two different scores", "items have two different scores"
    odd: dict[tuple[str, str], dict[str, None]] = {unknown: {}, twice: {}}
    known = {*found.ids, *found.left_out}
    items = Counter(name.partition("/")[2] for name in known if several)
    alone = {item: name for name in known if items[item := name.partition("/")[2]] == 1}
    for row in rows:
        name = _name_of(row, several and bool(row.task), found.by_epoch and bool(row.epoch))
        name = alone.get(name, name)
        first = said.setdefault((row.system, name), {}).setdefault(row.epoch, row)
        for why, is_odd in zip(odd, (name not in known, first.human != row.human), strict=True):
            odd[why] |= {name: None} if is_odd else {}
    if found.by_epoch and odd[unknown] and not any(row.epoch for row in rows):
        raise InputError(f"{text}: with `by_epoch`, scores by people need a column epoch")
    for why, names in odd.items():
        if names:
            first_ones = ", ".join(quoted(name) for name in list(names)[:3])
            hint = "; the results have several tasks: add a column task" if several and not rows[0].task else ""
            raise InputError(f"{text}: {plural(len(names), *why)}, first {first_ones}{hint}")
    place = {name: row for row, name in enumerate(found.ids)}
    for (system, name), repeats in said.items():
        k = len(found.epochs[system][place[name]]) if name in place else 0
        if not found.by_epoch and "" not in repeats and 0 < len(repeats) < k:
            raise InputError(f"{text}: people judged {len(repeats)} of {k} repeats of {quoted(name)}; {_BY_EPOCH}")
    human = _human_scores(
        {s: [[one for row in said.get((s, n), {}).values() for one in row.human] for n in found.ids] for s in systems}
    )
    if human is None:
        raise InputError(f"{text}: holds no score by people of a row that is compared")
    note = f"{text}: scores of {listed(others)} are not used; the results hold {listed(systems)}"
    return replace(human, notes=(note,) if others else ())


def systems_of(file: str | Path) -> list[str]:
    r"""Return the systems that columns of human scores may name: none with a column ``human``, none of a log.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("id,human_A,human_B\n7,1,0\n")
    >>> systems_of(file)
    ['A', 'B']
    """
    path, _ = split_name(str(file))
    if not path.is_file() or program_of(path) is not None:
        return []
    names, _ = score_tables.read_records(path)
    return list(score_tables.of_systems(names)) or (
        [] if score_tables.column_of(path, names, score_tables.HUMAN) else names
    )


def _meant(name: str, systems: Sequence[str]) -> str | None:
    """Return the system of a name: ``openai/gpt`` also of ``gpt``, if no other ends so; None if there is none."""
    found = [one for one in systems if one == name] or [one for one in systems if one.rpartition("/")[2] == name]
    return found[0] if len(found) == 1 else None


# Reading --------------------------------------------------------------------------------------------------------------


def rows_of(text: str, wanted: score_tables.Wanted, notes: list[str]) -> list[ScoredRow]:
    """Read a file, or the files of a folder: logs, or else tables; of people's scores, tables have columns of these."""
    path, picked = split_name(text)
    if path.is_dir():
        held = [one for one in sorted(path.rglob("*")) if one.suffix.lower() in (".eval", *_TABLES) and one.is_file()]
        files = [one for one in held if program_of(one) is not None] or held
        if not files:
            raise FormatError(f"{path}: holds no log and no table")
        after = text.removeprefix(str(path))
        return [row for one in files for row in rows_of(f"{one}{after}", wanted, notes)]
    known = program_of(path)
    if known is None:
        return score_tables.read_score_table(text, wanted, notes)
    program, read = known
    epochs = [name for name in picked if name.startswith("epoch=")]
    names = [name for name in picked if name not in epochs]
    with parsing(f"{path}: not results of {program}"):
        read_rows, said, scores = read([*names, *wanted.score], wanted.own, wanted.words)
    rows = [replace(row, program=program) for row in read_rows]
    check_known(names, scores, path, "score")
    if epochs:
        check_known(epochs, sorted({f"epoch={row.epoch}" for row in rows}), path, "epoch")
        rows = [row for row in rows if f"epoch={row.epoch}" in epochs]
    notes += said
    if not wanted.people or any(row.human for row in rows):
        return rows
    return [replace(row, human=(row.score,)) for row in rows if row.score is not None]


def program_of(path: Path) -> tuple[str, score_tables.Reader] | None:
    """Return which program wrote a log, and what reads its scores; None if it is no log.

    Raises
    ------
    FormatError, OSError
        If it cannot be read.
    """
    name = log_program(path)
    return (
        (name, lambda picked, own, words: LOG_READERS[name][1](path, picked))
        if name
        else score_tables.judge_log_of(path)
    )


def _by_system(sources: Sequence[tuple[str, list[ScoredRow]]]) -> dict[str, list[ScoredRow]]:
    """Return the rows of each system; files of one system with different tasks and questions are joined."""
    found: list[tuple[str, str, list[ScoredRow]]] = []
    for text, rows in sources:
        for name in dict.fromkeys(row.system for row in rows):
            own, called = [row for row in rows if row.system == name], name or name_of(text)
            tasks, recognised = {row.task for row in own}, any(row.question for row in own)
            joins = [held for other, _, held in found if other == called and tasks.isdisjoint(r.task for r in held)]
            if recognised:
                joins = [held for held in joins if questions_of(held) != questions_of(own)]
            if joins:
                joins[0].extend(own)
            else:
                found.append((called, text, own))
    names = distinct([name for name, _, _ in found], [text for _, text, _ in found])
    return {name: rows for name, (_, _, rows) in zip(names, found, strict=True)}


def _name_of(row: ScoredRow, several: bool, by_epoch: bool) -> str:
    return f"{f'{row.task}/' if several else ''}{row.id}{f'#{row.epoch}' if by_epoch else ''}"


def _by_name(system: str, rows: Sequence[ScoredRow], several: bool, by_epoch: bool) -> dict[str, list[ScoredRow]]:
    """Return the rows of each item, or of each repeat of it."""
    found: dict[str, dict[str, ScoredRow]] = {}
    for row in rows:
        repeats = found.setdefault(_name_of(row, several, by_epoch), {})
        first = repeats.setdefault(row.epoch, row)
        if first is not row:
            raise InputError(
                f"{row.place}: {quoted(row.id)} of {system} stands in {first.place} too; repeats of an item need a "
                "column epoch"
            )
    if by_epoch and not any(row.epoch for row in rows):
        raise InputError("by_epoch", f"no file names the repeats of {system}")
    for name, repeats in found.items():
        judged = sum(bool(row.human) for row in repeats.values())
        if 0 < judged < len(repeats):
            raise InputError(f"people judged {judged} of {len(repeats)} repeats of {quoted(name)}; {_BY_EPOCH}")
    return {name: list(repeats.values()) for name, repeats in found.items()}


def _check_scale(rows: Sequence[ScoredRow], low: float, high: float) -> None:
    """Refuse scores off the scale."""
    held = [(row, one) for row in rows for one in (row.score, *row.human) if one is not None]
    for row, one in held:
        if not low <= one <= high:
            ends = [math.floor(min(value for _, value in held)), math.ceil(max(value for _, value in held))]
            told = f"score {one:g} is outside {low:g} to {high:g}; give the scale, such as `scale` {ends[0]},{ends[1]}"
            raise InputError(f"{row.place}: {told}")


def _common(held: Mapping[str, Mapping[str, list[ScoredRow]]], notes: list[str]) -> tuple[list[str], frozenset[str]]:
    """Return the rows that all systems have, with a score; note which are left out."""
    sets = [set(own) for own in held.values()]
    every, shared = set().union(*sets), set.intersection(*sets)
    counts = ", ".join(f"{name} {len(own)}" for name, own in held.items())
    programs = {row.program for own in held.values() for repeats in own.values() for row in repeats}
    # Two programs may count the same items from 0 and from 1.
    counted = len(programs) > 1 and all(name.isdecimal() for name in every)
    if len(shared) < (1 if counted else _LEAST_COMMON) * len(every):
        alone = [
            f"{quoted(n)} of {name}" for name, own in held.items() for n in [n for n in own if n not in shared][:1]
        ]
        raise InputError(
            f"files: only {len(shared)} of {len(every)} items are in all systems ({counts}): ids differ, such as "
            f"{' and '.join(alone)}; give tables with the same ids, or name them with `id`"
        )
    if len(logs := sorted(programs - {""})) > 1:
        notes.append(f"items of {listed(logs)} are joined by id; their texts are not compared")
    if len(shared) < len(every):
        notes.append(f"{len(shared)} of {len(every)} items are in all systems and are compared ({counts})")
    for name, own in held.items():
        rows = [row for repeats in own.values() for row in repeats]
        n, failed = sum(row.score is None for row in rows), sum(row.error for row in rows)
        if n:
            because = f", {failed} of them after an error" if failed else ""
            many = "; scores are rarely missing at random" if n > _MANY_UNSCORED * len(rows) else ""
            notes.append(
                f"{name}: {n} of {len(rows)} rows ({n / len(rows):.1%}) have no score{because}: left out{many}"
            )
    scored = [{name for name, own in one.items() if any(row.score is not None for row in own)} for one in held.values()]
    kept = [name for name in next(iter(held.values())) if all(name in one for one in scored)]
    if not kept:
        raise InputError("files", "no row has a score of every system")
    seen: dict[tuple[str, str], ScoredRow] = {}
    for system, own in held.items() if len(held) > 1 else ():
        asked = {n: row for n in kept for row in own[n] if row.question}
        odd = [n for n, row in asked.items() if seen.setdefault((n, row.program), row).question != row.question]
        if odd:
            row = asked[odd[0]]
            raise InputError(
                f"{row.place}: {len(odd)} of {len(kept)} items of {system} are others than in "
                f"{seen[odd[0], row.program].place}, first {quoted(odd[0])}; compare the same task and version"
            )
    return kept, frozenset(every - set(kept))


def _human_scores(said: Mapping[str, Sequence[Sequence[float]]]) -> HumanScores | None:
    """Average people's scores of each row; None where there are none at all."""
    several = [one for own in said.values() for one in own if len(one) > 1]
    if not any(one for own in said.values() for one in own):
        return None
    apart = [sum(a != b for a, b in combinations(one, 2)) / math.comb(len(one), 2) for one in several]
    return HumanScores({name: _means(own) for name, own in said.items()}, sum(apart) / len(apart) if apart else None)


def _means(several: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    return np.array([sum(one) / len(one) if one else math.nan for one in several])
