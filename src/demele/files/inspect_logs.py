"""Logs of Inspect: one JSON file (``.json``), or an archive of JSON parts (``.eval``), read where it lies."""

import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from demele.core.errors import FormatError, quoted, shortened
from demele.core.extras import require
from demele.core.reading import check_unpacked, parsing, read_whole, regular_file
from demele.core.sentences import plural
from demele.files.model_logs import (
    NO_ANSWER,
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

_BEGINS = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"\w+"\s*,\s*"eval"\s*:\s*\{')
_SAMPLE = re.compile(r"samples/[^/\\]+\.json")
_HEADERS = ("header.json", "_journal/start.json")
#: The number of Zstandard among the ways to compress a member, and the header of a member up to what follows it.
_ZSTANDARD = 93
_LOCAL = struct.Struct("<4s22xHH")
_ENCRYPTED = 1
#: What the letters of scores count that are no words for 1 and 0: partly right, and no answer.
_LETTER_SCORES = {"P": 0.5, "N": 0.0}
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def is_inspect_log(path: Path) -> bool:
    """Whether a file is called ``.eval``, or is JSON that begins as a log does."""
    if path.suffix.lower() == ".eval":
        return True
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        return _BEGINS.match(file.read(4096)) is not None


def read_inspect_log(path: Path, picked: Sequence[str] = ()) -> ModelLog:
    """Read a log of one task and one model.

    Parameters
    ----------
    path : Path
    picked : sequence of str
        A scorer, where samples have several, and ``epoch=K``, where each was run several times.

    Returns
    -------
    ModelLog
        Choices are letters where samples have choices and one target.

    Raises
    ------
    FormatError, UnknownNameError
    """
    about, samples, said = _read(path)
    epochs = sorted({_epoch(sample) for sample in samples})
    named = [f"epoch={epoch}" for epoch in epochs]
    scorers = _scorers(path, samples, said, _scores)
    scorer = picked_one(path, scorers, picked, "scorers")
    epoch = epochs[named.index(picked_one(path, named, picked, "epochs, whose rows are not independent"))]
    chosen = [sample for sample in samples if _epoch(sample) == epoch]
    scored = [sample for sample in chosen if scorer in _scores(sample)]
    task = str(about.get("task", path.stem))
    answers = in_order([_answer(path, task, sample, scorer) for sample in scored], path)
    failed = [sample for sample in chosen if scorer not in _scores(sample)]
    errors = [f"sample {quoted(str(one['id']))} failed{_error(one)}" for one in failed if _error(one)]
    unscored = [str(sample["id"]) for sample in failed]
    failures = [*([said] if said else []), *errors[:1]]
    return ModelLog(path, str(about.get("model", path.stem)), task, answers, [*scorers, *named], unscored, failures)


def read_inspect_scores(path: Path, picked: Sequence[str] = ()) -> tuple[list[ScoredRow], list[str], list[str]]:
    """Read the scores of a log in all its epochs, what its reader must know, and the names of all scores.

    Parameters
    ----------
    path : Path
    picked : sequence of str
        A scorer, or ``SCORER.KEY`` where a score holds several values.

    Raises
    ------
    FormatError, UnknownNameError
    """
    about, samples, said = _read(path)
    names = _scorers(path, samples, said, _values)
    scorer = picked_one(path, names, picked, "scores", by="score")
    task, model = str(about.get("task", path.stem)), str(about.get("model", path.stem))
    found = []
    for sample in samples:
        place = f"{path}: sample {quoted(str(sample['id']))}, epoch {_epoch(sample)}"
        score = score_of(_values(sample).get(scorer), f"{place}: {scorer}", _LETTER_SCORES)
        target = sample["target"]
        question = json.dumps([sample.get("input"), target], sort_keys=True, default=str)
        fields = flat_fields({"target": target, "metadata": sample.get("metadata")})
        failed = score is None and bool(_error(sample))
        one = ScoredRow(model, str(sample["id"]), score, place, task, str(_epoch(sample)), (), failed, question, fields)
        found.append(one)
    edited = sum(
        bool(one.get("history"))
        for sample in samples
        for name, one in _scores(sample).items()
        if f"{scorer}.".startswith(f"{name}.")
    )
    notes = [f"{path}: {said}"] if said else []
    if edited:
        notes.append(f"{path}: {plural(edited, 'score was', 'scores were')} edited after the run: not the judge's own")
    return found, notes, names


def _read(path: Path) -> tuple[dict[str, Any], list[Any], str]:
    """Return what a log says of itself, its samples, and why the run failed; nothing if it did not."""
    header, samples = _archive(path) if path.suffix.lower() == ".eval" else _whole(path)
    about = header.get("eval")
    if not isinstance(about, dict):
        raise FormatError(f"{path}: no log of Inspect")
    status = header.get("status", "success")
    said = f"its status is {quoted(status)}, not success{_error(header)}" if status != "success" else ""
    if not samples:
        raise FormatError(f"{path}: holds no samples{said and f'; {said}'}; a run with --no-log-samples keeps none")
    for place, sample in enumerate(samples):
        if not isinstance(sample, dict) or not isinstance(sample.get("id"), int | str) or "target" not in sample:
            raise FormatError(f"{path}: sample {place}: expected an object with id and target")
    return about, samples, said


def _scorers(path: Path, samples: Sequence[Any], said: str, named: Callable[[Any], dict[str, Any]]) -> list[str]:
    found = list(dict.fromkeys(name for sample in samples for name in named(sample)))
    if not found:
        why = said or f"the first sample{_error(samples[0]) or ' names no error'}"
        raise FormatError(f"{path}: none of its {len(samples)} samples has a score; {why}")
    return found


def _error(held: dict[str, Any]) -> str:
    """Return the error that stopped a run or a sample, as the end of a sentence; nothing if none is named."""
    error = held.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    return f": {shortened(str(message))}" if message else ""


def _whole(path: Path) -> tuple[dict[str, Any], list[Any]]:
    regular_file(path)
    data = read_object(str(path), read_whole(path))
    samples = data.get("samples")
    return data, samples if isinstance(samples, list) else []


def _archive(path: Path) -> tuple[dict[str, Any], list[Any]]:
    """Read the header and the samples of an archive; nothing is written to the disk, whatever names it holds."""
    size = regular_file(path)
    with parsing(f"{path}: not a log of Inspect: damaged or cut off"), zipfile.ZipFile(path) as archive:
        members = {info.filename: info for info in archive.infolist()}
        wanted = [info for name, info in members.items() if _SAMPLE.fullmatch(name)]
        head = next((members[name] for name in _HEADERS if name in members), None)
        if head is None:
            raise FormatError(f"{path}: not a log of Inspect: it has no header.json")
        check_unpacked(path, sum(info.file_size for info in [head, *wanted]), stored=size)
        header, *samples = _parts(archive, [head, *wanted], path)
    return ({"status": "started"} if head.filename != _HEADERS[0] else {}) | header, samples


def _parts(archive: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo], path: Path) -> Iterator[dict[str, Any]]:
    for info in members:
        what = f"{path}: {quoted(info.filename)}"
        yield read_object(what, _zstandard(info, path) if info.compress_type == _ZSTANDARD else archive.read(info))


def _zstandard(info: zipfile.ZipInfo, path: Path) -> bytes:
    """Unpack a member that is compressed as Inspect does it by now, which zipfile can only from Python 3.14 on."""
    zstandard = require("zstandard", purpose=f"unpacking {path}")
    with path.open("rb") as file:
        file.seek(info.header_offset)
        signature, name, extra = _LOCAL.unpack(file.read(_LOCAL.size))
        if signature != b"PK\x03\x04" or info.flag_bits & _ENCRYPTED:
            raise FormatError(f"{path}: not a log of Inspect: damaged or encrypted")
        file.seek(name + extra, 1)
        packed = file.read(info.compress_size)
    with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as stream:
        content: bytes = stream.read(info.file_size + 1)
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        raise FormatError(f"{path}: {quoted(info.filename)}: damaged: it is not what the archive declares")
    return content


def _epoch(sample: dict[str, Any]) -> int:
    epoch = sample.get("epoch", 1)
    return epoch if isinstance(epoch, int) else 1


def _scores(sample: dict[str, Any]) -> dict[str, Any]:
    """Return the scores of a sample by their scorers; a sample that failed has none."""
    scores = sample.get("scores")
    return {name: one for name, one in scores.items() if isinstance(one, dict)} if isinstance(scores, dict) else {}


def _values(sample: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a sample: by their scorers, or by scorer and key where a scorer gave several."""
    found: dict[str, Any] = {}
    for name, score in _scores(sample).items():
        value = score.get("value")
        keyed = dict(enumerate(value)) if isinstance(value, list) else value
        found |= {f"{name}.{key}": one for key, one in keyed.items()} if isinstance(keyed, dict) else {name: value}
    return found


def _answer(path: Path, task: str, sample: dict[str, Any], scorer: str) -> LoggedAnswer:
    score, choices, target = _scores(sample)[scorer], sample.get("choices"), sample["target"]
    name = str(sample["id"])
    right = right_or_wrong(score.get("value"), f"{path}: sample {quoted(name)}: {scorer}")
    targets = tuple(map(str, target if isinstance(target, list) else [target]))
    target = target[0] if isinstance(target, list) and len(target) == 1 else target
    question = json.dumps([sample.get("input"), target], sort_keys=True, default=str)
    asked = _question(sample.get("input"))
    fields = {"id": name, "task": task, "question": asked, "target": target, "metadata": sample.get("metadata")}
    letters = _LETTERS[: len(choices)] if isinstance(choices, list) and len(choices) <= len(_LETTERS) else ""
    said = score.get("answer")
    text = said if isinstance(said, str) else None
    if not isinstance(target, str) or len(target) != 1 or target not in letters:
        return LoggedAnswer(name, question, scorer, right, said=text, targets=targets, fields=fields)
    predicted = text if text is not None and len(text) == 1 and text in letters else NO_ANSWER
    fields["choices"] = shown_choices(letters, choices or ())
    return LoggedAnswer(name, question, scorer, right, predicted, target, len(letters), predicted, targets, fields)


def _question(held: object) -> str:
    """Return what is asked: a text, or what the user says in messages."""
    if not isinstance(held, list):
        return str(held)
    said = [one.get("content") for one in held if isinstance(one, dict) and one.get("role", "user") == "user"]
    parts = [part for content in said for part in (content if isinstance(content, list) else [content])]
    return "\n\n".join(str(part.get("text", "")) if isinstance(part, dict) else str(part) for part in parts)
