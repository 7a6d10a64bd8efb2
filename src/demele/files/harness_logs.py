"""Samples of lm-evaluation-harness (``--log_samples``): ``samples_TASK_DATE.jsonl``, a question per line."""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from demele.core.errors import FormatError, quoted
from demele.core.reading import read_whole, regular_file
from demele.files.model_logs import (
    LoggedAnswer,
    ModelLog,
    flat_fields,
    in_order,
    picked_one,
    read_object,
    right_or_wrong,
    shown_choices,
)
from demele.files.scored_rows import ScoredRow, score_of

#: Measures that say right or wrong, the usual first.
_USUAL = ("acc", "exact_match")
#: Where a question stands in the documents of tasks, after what it is about.
_QUESTION = (
    "passage",
    "context",
    "article",
    "premise",
    "question",
    "query",
    "problem",
    "goal",
    "sentence",
    "hypothesis",
)
#: Bytes of the first line that are looked at to tell such a file.
_LOOKED_AT = 1 << 20


def is_harness_log(path: Path) -> bool:
    """Whether a file is called and begins as such samples do."""
    if path.suffix.lower() != ".jsonl" or not path.is_file():
        return False
    with path.open("rb") as file:
        first = file.readline(_LOOKED_AT)
    return b'"doc_id"' in first and b'"target"' in first and b'resps"' in first


def read_harness_log(path: Path, picked: Sequence[str] = ()) -> ModelLog:
    """Read the samples of one task and one model.

    Parameters
    ----------
    path : Path
    picked : sequence of str
        A measure and a filter, where the file holds several.

    Returns
    -------
    ModelLog
        The choice of a multiple-choice question is that of the largest log-likelihood; for ``acc_norm`` per character.

    Raises
    ------
    FormatError, UnknownNameError
    """
    lines, measure, held = _chosen(path, picked)
    answers = [_answer(path, number, line, measure) for number, line in lines]
    return ModelLog(path, _model(path), _task(path), in_order(answers, path), held)


def read_harness_scores(path: Path, picked: Sequence[str] = ()) -> tuple[list[ScoredRow], list[str], list[str]]:
    """Read the scores of one task and one model; no notes; and the names of all measures and filters.

    A score may lie between right and wrong. A value for each response makes each response an epoch; one value of
    several responses is one score.

    Parameters
    ----------
    path, picked
        As of :func:`read_harness_log`.

    Raises
    ------
    FormatError, UnknownNameError
    """
    lines, measure, names = _chosen(path, picked, by="score")
    found = []
    for number, line in lines:
        what = f"{path}: line {number}"
        value, said = line.get(measure), line.get("resps")
        said = said[0] if isinstance(said, list) and len(said) == 1 else said
        several = isinstance(value, list) and isinstance(said, list) and len(value) == len(said)
        for place, one in enumerate(value if several and isinstance(value, list) else [value]):
            score = score_of(one, f"{what}: {measure}")
            fields = flat_fields({"target": line["target"], "doc": line.get("doc")})
            about: dict[str, Any] = {"task": _task(path), "epoch": str(place) if several else "", "fields": fields}
            found.append(ScoredRow(_model(path), _id(line, what), score, what, question=_digest(line), **about))
    return found, [], names


def _chosen(
    path: Path, picked: Sequence[str], by: str = "filter"
) -> tuple[list[tuple[int, dict[str, Any]]], str, list[str]]:
    """Return the lines of one filter, the measure to read, and all names to choose from."""
    regular_file(path)
    lines = [
        (number, read_object(f"{path}: line {number}", line))
        for number, line in enumerate(read_whole(path).splitlines(), 1)
        if line.strip()
    ]
    if not lines:
        raise FormatError(f"{path}: is empty")
    odd = [number for number, line in lines if not {"doc_id", "target"} <= line.keys()]
    if odd:
        raise FormatError(f"{path}: line {odd[0]}: no sample of lm-evaluation-harness: it has no doc_id or no target")
    measures, filters = _measures(path, lines[0][1]), list(dict.fromkeys(_filter(line) for _, line in lines))
    measure = picked_one(path, measures, picked, "measures", _USUAL, by=by)
    kept = picked_one(path, filters, picked, "filters", by=by)
    return [(number, line) for number, line in lines if _filter(line) == kept], measure, [*measures, *filters]


def _model(path: Path) -> str:
    """Return the model: the harness keeps models apart by their folder, and calls the file by its task."""
    folder = path.resolve().parent.name
    return folder if path.name.startswith("samples_") and folder not in ("", "None") else path.stem


def _id(line: dict[str, Any], what: str) -> str:
    if not isinstance(line["doc_id"], int | str):
        raise FormatError(f"{what}: doc_id {quoted(line['doc_id'])} is not an identifier")
    return str(line["doc_id"])


def _digest(line: dict[str, Any]) -> str:
    digest = line.get("doc_hash")
    return digest if isinstance(digest, str) else json.dumps(line["target"], sort_keys=True)


def _measures(path: Path, line: dict[str, Any]) -> list[str]:
    named = line.get("metrics")
    names = [str(name) for name in named] if isinstance(named, list) else list(_USUAL)
    found = [name for name in names if name in line]
    if not found:
        raise FormatError(f"{path}: its first sample has no measure, such as acc or exact_match")
    return found


def _filter(line: dict[str, Any]) -> str:
    return str(line.get("filter", "none"))


def _task(path: Path) -> str:
    """Return the task by which a file is called, without the date."""
    return re.sub(r"^samples_|_\d{4}-\d\d-\d\d.*$", "", path.stem)


def _answer(path: Path, number: int, line: dict[str, Any], measure: str) -> LoggedAnswer:
    what = f"{path}: line {number}"
    name = _id(line, what)
    right = right_or_wrong(line.get(measure), f"{what}: {measure}")
    scores, texts = _log_likelihoods(line), _calls(line, 1)
    texts = [text.removeprefix(" ") for text in texts] if all(isinstance(text, str) for text in texts) else []
    question, doc = _digest(line), line.get("doc")
    fields = {"id": name, "task": _task(path), "question": _question(line), "target": line["target"], "doc": doc}
    if scores is None:
        targets = line["target"] if isinstance(line["target"], list) else [line["target"]]
        said = line.get("filtered_resps")
        text = said[0] if isinstance(said, list) and len(said) == 1 and isinstance(said[0], str) else None
        return LoggedAnswer(name, question, measure, right, said=text, targets=tuple(map(str, targets)), fields=fields)
    if measure == "acc_norm" and len(texts) == len(scores):
        scores = [score / max(len(text), 1) for score, text in zip(scores, texts, strict=True)]
    target = _target(line["target"], texts, len(scores))
    predicted = max(range(len(scores)), key=scores.__getitem__)  # the first of equal ones, as the harness takes it
    named = _named_choices(doc, len(scores)) or texts
    fields["choices"] = shown_choices(range(len(scores)), named)
    return LoggedAnswer(
        name, question, measure, right, predicted, target, len(scores), str(predicted), (str(target),), fields
    )


def _question(line: dict[str, Any]) -> str:
    """Return what is asked, as the document of the task says it; else the whole prompt."""
    doc = line.get("doc")
    said = [doc[name] for name in _QUESTION if isinstance(doc.get(name), str)] if isinstance(doc, dict) else []
    if said:
        return "\n\n".join(said)
    return doc if isinstance(doc, str) else str(next(iter(_calls(line, 0)), ""))


def _named_choices(doc: object, n: int) -> list[str]:
    """Return the texts of the choices as the document of the task has them, where prompts have letters."""
    held = doc.get("choices") if isinstance(doc, dict) else None
    held = held.get("text") if isinstance(held, dict) else held
    return list(map(str, held)) if isinstance(held, list) and len(held) == n else []


def _log_likelihoods(line: dict[str, Any]) -> list[float] | None:
    """Return the log-likelihood of each choice: written as pairs of it and of whether it is the likeliest text."""
    held = line.get("filtered_resps", line.get("resps"))
    if not isinstance(held, list) or len(held) < 2:
        return None
    found = []
    for pair in held:
        pair = pair[0] if isinstance(pair, list) and len(pair) == 1 else pair  # resps has lists of one
        if not isinstance(pair, list) or len(pair) != 2 or str(pair[1]) not in ("True", "False"):
            return None
        try:
            found.append(float(pair[0]))
        except (TypeError, ValueError, OverflowError):
            return None
    return None if any(math.isnan(score) for score in found) else found


def _calls(line: dict[str, Any], place: int) -> list[Any]:
    """Return one argument of each call of the model: its prompt, or what follows."""
    held = line.get("arguments")
    calls = list(held.values()) if isinstance(held, dict) else held if isinstance(held, list) else []
    return [
        call.get(f"arg_{place}")
        if isinstance(call, dict)
        else call[place]
        if isinstance(call, list) and len(call) > place
        else None
        for call in calls
    ]


def _target(held: object, texts: Sequence[str], n_choices: int) -> int | None:
    """Return the position of the right choice, which is written as a number or as its text."""
    text = str(held).strip()
    if text.isascii() and text.isdigit() and len(text) < 10 and int(text) < n_choices:
        return int(text)
    same = [place for place, choice in enumerate(texts) if choice.strip() == text]
    return same[0] if len(same) == 1 else None
