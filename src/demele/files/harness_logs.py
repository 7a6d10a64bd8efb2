"""Samples of lm-evaluation-harness (``--log_samples``): ``samples_TASK_DATE.jsonl``, a question per line."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from demele.core.errors import FormatError, quoted
from demele.core.reading import read_whole, regular_file
from demele.files.model_logs import (
    LoggedAnswer,
    ModelLog,
    check_picked,
    in_order,
    picked_one,
    read_object,
    right_or_wrong,
)

#: Measures that say right or wrong, the usual first.
_USUAL = ("acc", "exact_match")
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
    check_picked(path, [*measures, *filters], picked)
    measure = picked_one(path, measures, picked, "measures", _USUAL)
    kept = picked_one(path, filters, picked, "filters")
    answers = [_answer(path, number, line, measure) for number, line in lines if _filter(line) == kept]
    return ModelLog(_model_name(path), measure, in_order(answers, path))


def _measures(path: Path, line: dict[str, Any]) -> list[str]:
    named = line.get("metrics")
    names = [str(name) for name in named] if isinstance(named, list) else list(_USUAL)
    found = [name for name in names if name in line]
    if not found:
        raise FormatError(f"{path}: its first sample has no measure, such as acc or exact_match")
    return found


def _filter(line: dict[str, Any]) -> str:
    return str(line.get("filter", "none"))


def _model_name(path: Path) -> str:
    """Return the folder of the model, which is how the harness keeps them apart; the file is called by its task."""
    folder = path.resolve().parent.name
    return folder if path.name.startswith("samples_") and folder not in ("", "None") else path.stem


def _answer(path: Path, number: int, line: dict[str, Any], measure: str) -> LoggedAnswer:
    what = f"{path}: line {number}"
    if not isinstance(line["doc_id"], int | str):
        raise FormatError(f"{what}: doc_id {quoted(line['doc_id'])} is no identifier")
    right = right_or_wrong(line.get(measure), f"{what}: {measure}")
    scores, texts = _log_likelihoods(line), _choices(line)
    digest = line.get("doc_hash")
    question = digest if isinstance(digest, str) else json.dumps(line["target"], sort_keys=True)
    if scores is None:
        return LoggedAnswer(str(line["doc_id"]), question, right)
    if measure == "acc_norm" and len(texts) == len(scores):
        scores = [score / max(len(text), 1) for score, text in zip(scores, texts, strict=True)]
    target = _target(line["target"], texts, len(scores))
    predicted = max(range(len(scores)), key=scores.__getitem__)  # the first of equal ones, as the harness takes it
    return LoggedAnswer(str(line["doc_id"]), question, right, predicted, target, len(scores))


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


def _choices(line: dict[str, Any]) -> list[str]:
    """Return the texts of the choices, without the blank between prompt and choice."""
    held = line.get("arguments")
    calls = list(held.values()) if isinstance(held, dict) else held if isinstance(held, list) else []
    texts = []
    for call in calls:
        text = (
            call.get("arg_1")
            if isinstance(call, dict)
            else call[1]
            if isinstance(call, list) and len(call) > 1
            else None
        )
        if not isinstance(text, str):
            return []
        texts.append(text.removeprefix(" "))
    return texts


def _target(held: object, texts: Sequence[str], n_choices: int) -> int | None:
    """Return the position of the right choice, which is written as a number or as its text."""
    text = str(held).strip()
    if text.isascii() and text.isdigit() and len(text) < 10 and int(text) < n_choices:
        return int(text)
    same = [place for place, choice in enumerate(texts) if choice.strip() == text]
    return same[0] if len(same) == 1 else None
