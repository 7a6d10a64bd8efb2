"""Scores of judges and people: tables, and results of promptfoo, DeepEval, Langfuse and Label Studio."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from demele.core.errors import FormatError, InputError, plural
from demele.files.label_files import class_text, name_of
from demele.files.model_logs import ScoredRow, flat_fields, part, picked_one, score_of
from demele.files.named import is_sheet_name, read_frame, read_sheet_rows, split_name
from demele.files.table_files import check_known, check_repeated, first_row, json_of, listed

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
    check_repeated([name for name in names if name], path)
    short = 0 if path.suffix.lower() == ".xlsx" else len(names)
    for number, cells in lines:
        if not short <= len(cells) <= len(names):
            raise FormatError(f"{path}: line {number}: expected {len(names)} fields as in the first, got {len(cells)}")
    if not lines:
        raise FormatError(f"{path}: has a header but no rows")
    return names, [(f"{path}: line {number}", dict(zip_longest(names, cells))) for number, cells in lines]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which scores are read of a file.

    Attributes
    ----------
    score : sequence of str
        Columns of scores (default: the one that is called so; else those called as systems; else all that mostly hold
        scores), or the score of a log.
    own : str, optional
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
    """

    score: Sequence[str] = ()
    own: str | None = None
    words: Mapping[str, float] | None = None
    people: bool = False
    systems: Sequence[str] = ()
    scale: tuple[float, float] = (0.0, 1.0)


def read_score_table(text: str, wanted: Wanted, notes: list[str]) -> list[ScoredRow]:
    """Read the scores of a table: of a system for each row, or of a system for each of several columns.

    Parameters
    ----------
    text : str
        ``FILE``, or ``FILE::a,b`` for the columns of scores.
    wanted : Wanted
    notes : list of str
        Takes which columns were found to be systems.

    Raises
    ------
    FormatError, InputError, UnknownNameError
    """
    path, picked = split_name(text)
    names, records = read_records(path)
    own = column_of(path, names, ID, wanted.own)
    if own is None:
        raise InputError(f"{path}: no column identifies the items among {listed(names)}; name one with `id`")
    named = [*picked, *(name for name in wanted.score if name in names or not picked)]
    bare = column_of(path, names, HUMAN, named[0] if wanted.people and named else None)
    of_people = ({"": bare} if bare else {}) | ({} if wanted.people and named else of_systems(names))
    system, task, epoch = (column_of(path, names, usual) for usual in (_SYSTEM, _TASK, _EPOCH))
    free = [name for name in names if name not in {own, system, task, epoch, *of_people.values()}]
    scored = [name for name in free if _are_scores(records, name, wanted)]
    columns: list[tuple[str, str | None, str | None]]
    if wanted.people:
        meant = {one.rpartition("/")[2] for one in wanted.systems} | {*wanted.systems}
        of_people = of_people or {name: name for name in free if name in meant}
        of_people = of_people or ({"": scored[0]} if len(scored) == 1 else {})
        if not of_people:
            expected = f"a column human, or {' and '.join(f'{_OF_SYSTEM}{one}' for one in wanted.systems)}"
            raise InputError(
                f"{path}: no column of people's scores among {listed(names)}; expected {expected}, or name one with "
                "`human_score`"
            )
        columns = [(name, None, one) for name, one in of_people.items()]
    else:
        usual = column_of(path, names, SCORE)
        held = named or ([usual] if usual else [])
        if not held:
            held = chosen = [name for name in free if {name, name.rpartition("/")[2]} & {*wanted.systems}]
            if not held:
                held = [name for name in free if name in scored or name in of_people]
            if system is None and not {*held} <= {*chosen, *of_people}:
                notes.append(f"{path}: columns read as systems: {listed(held)}; pick others as {path}::A,B")
        if not held:
            hint = "name one with `score`, or give the `scale` of ratings"
            raise InputError(f"{path}: no column of scores among {listed(names)}; {hint}")
        check_known(held, names, path, "column")
        called = [name_of(text)] if len(held) == 1 and (named or usual) else held
        columns = [(name, one, of_people.get(name, bare)) for name, one in zip(called, held, strict=True)]
    if system is not None and len(columns) > 1:
        raise InputError(f"{path}: column {system} names systems; expected one column of scores, named with `score`")
    found = []
    for place, cells in records:
        name = cell_text(cells.get(own))
        if not name:
            raise InputError(f"{place}: has no identifier in column {own}")
        about: dict[str, Any] = {"fields": cells}
        about |= {kind: cell_text(cells[one]) for kind, one in (("task", task), ("epoch", epoch)) if one}
        for default, *both in columns:
            given, said = (
                score_of(cells[one], f"{place}: column {one}", wanted.words) if one else None for one in both
            )
            owner = (cell_text(cells[system]) if system else "") or default
            where = place if len(columns) == 1 else f"{place}: column {both[0] or both[1]}"
            found.append(ScoredRow(owner, name, given, where, human=() if said is None else (said,), **about))
    return found


def of_systems(names: Sequence[str]) -> dict[str, str]:
    """Return columns of people's scores by the systems that their names hold: ``human_A`` or ``A_human``."""
    found = {name[len(_OF_SYSTEM) :]: name for name in names if name.startswith(_OF_SYSTEM) and name not in HUMAN}
    return found | {name.removesuffix(_AFTER): name for name in names if name.endswith(_AFTER)}


def _are_scores(records: Records, name: str, wanted: Wanted) -> bool:
    """Whether most cells of a column that are not empty are scores on the scale, or words for them."""
    on, known = 0, 0
    for _, cells in records:
        try:
            score = score_of(cells.get(name), "", wanted.words)
        except FormatError:
            score = math.inf
        known += score is not None
        on += score is not None and wanted.scale[0] <= score <= wanted.scale[1]
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


# Results of promptfoo, DeepEval, Langfuse and Label Studio ------------------------------------------------------------

#: Rows, notes, and the names of all scores that a log holds.
Read = tuple[list[ScoredRow], list[str], list[str]]
#: Takes names of scores, the column of identifiers, and what words count.
Reader = Callable[[Sequence[str], str | None, Mapping[str, float] | None], Read]
#: What promptfoo writes of a row that failed, which is no verdict.
_FAILED = 2
_OF_LANGFUSE = {"traceId", "name", "value"}
_OF_DEEPEVAL = ("testCases", "conversationalTestCases", "test_results")


def judge_log_of(path: Path) -> tuple[str, Reader] | None:
    """Return which program wrote a file, and what reads it; None if it is none of these.

    Raises
    ------
    FormatError, OSError
        If it is no JSON, or no text.
    """
    suffix = path.suffix.lower()
    if not path.is_file() or suffix not in (".csv", ".tsv", ".json"):
        return None
    if suffix != ".json":
        return ("Langfuse", partial(_langfuse, path, None)) if {*first_row(path)[1]} >= _OF_LANGFUSE else None
    data, _ = json_of(path)
    held = part(data, "results", dict).get("results")
    if isinstance(held, list):
        return "promptfoo", partial(_promptfoo, path, _objects(path, held))
    if isinstance(data, dict) and any(name in data for name in _OF_DEEPEVAL):
        return "DeepEval", partial(_deepeval, path, data)
    rows = data.get("data") if isinstance(data, dict) else data
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        return None
    if all("data" in row and ("annotations" in row or "predictions" in row) for row in rows):
        return "Label Studio", partial(_label_studio, path, rows)
    return ("Langfuse", partial(_langfuse, path, rows)) if rows[0].keys() >= _OF_LANGFUSE else None


def _objects(path: Path, held: Sequence[Any]) -> Sequence[dict[str, Any]]:
    if not held or not all(isinstance(row, dict) for row in held):
        raise FormatError(f"{path}: holds no results")
    return held


def _id(place: str, fields: Mapping[str, Any], own: str | None, default: object) -> str:
    name = cell_text(fields.get(own) if own else default)
    if not name:
        what = f" {own}" if own else ""
        raise InputError(f"{place}: has no identifier{what} among {listed(list(fields))}; name one with `id`")
    return name


def _promptfoo(path: Path, rows: Any, picked: Any, own: Any, words: Any) -> Read:
    """Read results: verdicts and scores of judges, also where people overwrote them; a failure is no verdict."""
    several = Counter(name for name, _ in {(_provider(row), row.get("promptIdx")) for row in rows})
    scores = [_promptfoo_scores(row, f"{path}: result {place}") for place, row in enumerate(rows)]
    names = list(dict.fromkeys(name for one, _ in scores for name in one))
    name = picked_one(path, names, picked, "scores", ("success",), by="score")
    repeats: Counter[tuple[str, str]] = Counter()
    found = []
    for place, (row, (held, human)) in enumerate(zip(rows, scores, strict=True)):
        where, system, case = f"{path}: result {place}", _provider(row), part(row, "testCase", dict)
        system += f" #{row.get('promptIdx')}" if several[system] > 1 else ""
        fields = flat_fields({"vars": row.get("vars", case.get("vars")), "metadata": case.get("metadata")})
        item = _id(where, fields, own, row.get("testIdx"))
        repeats[system, item] += 1
        failed = row.get("failureReason") == _FAILED
        about: dict[str, Any] = {"epoch": str(repeats[system, item]), "human": human, "error": failed, "fields": fields}
        given = None if failed else score_of(held.get(name), f"{where}: {name}", words)
        question = json.dumps(fields, sort_keys=True, default=str)
        found.append(ScoredRow(system, item, given, where, question=question, **about))
    return found, [], names


def _provider(row: Mapping[str, Any]) -> str:
    held = row.get("provider")
    return str((held.get("label") or held.get("id")) if isinstance(held, dict) else held)


def _promptfoo_scores(row: Mapping[str, Any], place: str) -> tuple[dict[str, Any], tuple[float, ...]]:
    """Return the scores of a row as its judges gave them, and people's, which overwrite the verdict of the row."""
    whole: list[tuple[dict[str, Any], dict[str, Any]]] = []
    inner = 0
    for one in part(part(row, "gradingResult", dict), "componentResults", list):
        if inner:  # a set of assertions is followed by its members, which are in it
            inner -= 1
            continue
        inner = part(part(part(one, "metadata", dict), "assertionSet", dict), "assertionCount", int)
        whole.append((one, part(one, "assertion", dict)))
    human = [one for one, about in whole if about.get("type") == "human"]
    judged = [(one, about) for one, about in whole if about.get("type") != "human"]
    found = {"success": row.get("success"), "score": row.get("score"), **part(row, "namedScores", dict)}
    if human:
        counted = [(one, about.get("weight", 1)) for one, about in judged if not about.get("metricOnly")]
        total = sum(weight for _, weight in counted)
        mean = sum(one["score"] * weight for one, weight in counted) / total if total else None
        least = part(row, "testCase", dict).get("threshold")
        passed = all(one["pass"] for one, _ in counted) if least is None else (mean or 0) >= least
        found |= {"success": passed if counted else None, "score": mean}
    found |= {str(about.get("metric", about.get("type"))): one.get("score") for one, about in judged if about}
    said = [score_of(one.get("score", one.get("pass")), place) for one in human]
    return found, tuple(score for score in said if score is not None)


def _deepeval(path: Path, data: Any, picked: Any, own: Any, words: Any) -> Read:
    """Read cases of one system: scores and verdicts of metrics, and the verdict of the case without flaky ones."""
    cases = _objects(path, [case for kind in _OF_DEEPEVAL for case in part(data, kind, list)])
    system, found, held = str(part(data, "hyperparameters", dict).get("model") or ""), [], []
    for case in cases:
        metrics = part(case, "metricsData", list) or part(case, "metrics_data", list)
        failed = {str(one.get("name")): None for one in metrics if one.get("error") is not None}
        scores = {str(one.get("name")): one.get("score") for one in metrics} | failed
        verdicts = {f"{one.get('name')}.success": None if one.get("error") else one.get("success") for one in metrics}
        held.append(({**scores, **verdicts, "success": case.get("success")}, failed, scores))
    usual = list(dict.fromkeys(name for _, _, scores in held for name in scores))
    names = list(dict.fromkeys([*usual, *(name for one, _, _ in held for name in one)]))
    name = picked_one(path, names, picked, "scores", usual if len(usual) == 1 else (), by="score")
    for place, (case, (values, failed, _)) in enumerate(zip(cases, held, strict=True)):
        where = f"{path}: case {place}"
        fields = flat_fields({"name": case.get("name"), "order": case.get("order"), "metadata": case.get("metadata")})
        item = _id(where, fields, own, case.get("name") or case.get("order"))
        given, error = score_of(values.get(name), f"{where}: {name}", words), name.removesuffix(".success") in failed
        asked = str(case.get("input") or case.get("scenario") or "")
        found.append(ScoredRow(system, item, given, where, error=error, question=asked, fields=fields))
    return found, [], names


def _langfuse(path: Path, rows: Any, picked: Any, own: Any, words: Any) -> Read:
    """Read scores of traces: the last of a name by the judge, and by people, who annotate."""
    records = read_records(path)[1] if rows is None else [(f"{path}: score {n}", row) for n, row in enumerate(rows)]
    kept = [(place, row) for place, row in records if cell_text(row.get("traceId"))]
    people, judges, asked = (
        list(dict.fromkeys(str(row["name"]) for _, row in kept if str(row.get("source")) in kinds))
        for kinds in (("ANNOTATION",), ("EVAL",), ("API", "None"))
    )
    if not judges and asked and not set(picked) & {*asked, *people}:
        raise InputError(f"{path}: scores of source API may be people's; name the judge's, such as `score` {asked[0]}")
    given = [*judges, *asked]
    given = people if not given or (set(picked) & set(people) and not set(picked) & set(given)) else given
    name = picked_one(path, given, picked, "scores", judges if len(judges) == 1 else (), by="score")
    human = name if name in people or not people else picked_one(path, people, picked, "scores by people", by="score")
    last: dict[tuple[str, bool], tuple[str, Mapping[str, Any]]] = {}
    several = 0
    for place, row in kept:
        by_people, observed = row.get("source") == "ANNOTATION", cell_text(row.get("observationId"))
        if row["name"] != (human if by_people else name):
            continue
        key = _id(place, row, own, f"{row['traceId']}/{observed}" if observed else row["traceId"]), by_people
        several += key in last
        if key not in last or str(row.get("timestamp")) >= str(last[key][1].get("timestamp")):
            last[key] = place, row
    scores = {
        key: score_of(row["stringValue" if row.get("dataType") == "CATEGORICAL" else "value"], place, words)
        for key, (place, row) in last.items()
    }
    found = []
    for item in dict.fromkeys(item for item, _ in last):
        place, row = last.get((item, False)) or last[item, True]
        said = scores.get((item, True))
        human_scores = () if said is None else (said,)
        found.append(ScoredRow("", item, scores.get((item, False)), place, human=human_scores, fields=row))
    note = f"{path}: {plural(several, 'score was', 'scores were')} given again later; the last counts"
    return found, [note] if several else [], [*people, *judges, *asked]


def _label_studio(path: Path, tasks: Any, picked: Any, own: Any, words: Any) -> Read:
    """Read tasks: what people answered, each of them, and what a judge predicted."""
    kinds = ("predictions", "annotations")
    read = [[list(_answers(path, task, kind)) for kind in kinds] for task in tasks]
    names = list(dict.fromkeys(name for one in read for answers in one for name, _ in answers))
    if not names:
        raise FormatError(f"{path}: holds no choice, rating or number")
    name = picked_one(path, names, picked, "questions", by="score")
    found = []
    for place, (task, one) in enumerate(zip(tasks, read, strict=True)):
        where, fields = f"{path}: task {place}", flat_fields(part(task, "data", dict))
        item = _id(where, fields, own or column_of(path, list(fields), ID), None)
        given, said = (
            [
                score
                for asked, value in answers
                if asked == name and (score := score_of(value, where, words)) is not None
            ]
            for answers in one
        )
        if len(given) > 1:
            raise InputError(f"{where}: holds {len(given)} predictions of {name}; keep those of one judge")
        system = cell_text(fields.get("system") or fields.get("model"))
        found.append(ScoredRow(system, item, given[0] if given else None, where, human=tuple(said), fields=fields))
    return found, [], names


def _answers(path: Path, task: Mapping[str, Any], kind: str) -> Iterator[tuple[str, Any]]:
    """Yield what was asked, and the one answer: a choice, a rating or a number."""
    for one in part(task, kind, list):
        for result in () if part(one, "was_cancelled", bool) else part(one, "result", list):
            value, asked = part(result, "value", dict), str(part(result, "from_name", str))
            choices = part(value, "choices", list)
            if len(choices) > 1:
                raise InputError(f"{path}: task {task.get('id')}: {asked}: expected one choice, got {len(choices)}")
            answer = choices[0] if choices else value.get("rating", value.get("number"))
            if answer is not None:
                yield asked, answer
