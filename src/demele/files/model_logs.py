"""Logs of language models: answers and scores, as lm-evaluation-harness and Inspect write them."""

import json
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demele.core.errors import FormatError, InputError, plural, quoted, shortened
from demele.core.lazy import require
from demele.core.reading import check_nesting, check_unpacked, parsing, read_whole, regular_file
from demele.files.table_files import decimal_sign, listed

# One score of one system on one row, whatever program wrote it, and how values become scores --------------------------

#: What programs and people write for 1 and 0, and for no score, in any case.
WORDS: Mapping[str, float] = dict.fromkeys(("pass", "yes", "true", "correct", "c", "good"), 1.0) | dict.fromkeys(
    ("fail", "no", "false", "incorrect", "i", "bad"), 0.0
)
_MISSING = ("", "nan", "na", "n/a", "none", "null")


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """A score as a file holds it.

    Attributes
    ----------
    system, id : str
        Which system answered, and which item.
    score : float or None
        None: the row has no score.
    place : str
        What messages call the row.
    task, epoch : str
        The task, and which repeat of the item this is; empty where the file names none.
    human : tuple of float
        Scores that people gave, which the same file holds.
    error : bool
        Whether the score is missing because the system or the judge failed.
    question : str
        By what the item is recognised in files of other systems, if the same program wrote them.
    fields : mapping of str
        What else the file holds of the row.
    program : str
        By which the file was written; empty for a table.
    """

    system: str
    id: str
    score: float | None
    place: str
    task: str = ""
    epoch: str = ""
    human: tuple[float, ...] = ()
    error: bool = False
    question: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    program: str = ""


def score_of(value: object, what: str, words: Mapping[str, float] | None = None) -> float | None:
    """Return a score: a number, true or false, or a word for 1 or 0; None where there is none.

    Parameters
    ----------
    value : object
    what : str
        Where it stands, for the message.
    words : mapping of str to float, optional
        What further words count; they go before the others.

    Raises
    ------
    FormatError
        For anything else.

    Examples
    --------
    >>> score_of("Pass", "row 1"), score_of(" 0.5 ", "row 1"), score_of(float("nan"), "row 1")
    (1.0, 0.5, None)
    >>> score_of("B+", "row 1", {"B+": 0.8})
    0.8
    """
    if value is None:
        return None
    if isinstance(value, str):
        text = value.strip()
        word = text.casefold()
        own = {} if words is None else {name.casefold(): counts for name, counts in words.items()}
        if word in own or word in WORDS:
            return own.get(word, WORDS.get(word))
        if word in _MISSING:
            return None
        value = text.replace(",", ".") if decimal_sign() == "," else text
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.inf
    if math.isinf(number):
        hint = f"; say what it counts with `map`, such as {value}=1" if isinstance(value, str) else ""
        raise FormatError(f"{what}: {quoted(value)} is no score: expected a number, or a word such as pass{hint}")
    return None if math.isnan(number) else number


# Answers of language models ------------------------------------------------------------------------------------------

#: What stands for a model that answered nothing, and for what no model and no log says.
NO_ANSWER, OTHER_ANSWER = "no answer", "another answer"
#: Share of the right answers that must be the right text for answers to be compared as texts.
_EXPLAINED = 0.95
_IGNORED = re.compile(r"(?<=\d),(?=\d{3})|\$")


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """One answer.

    Attributes
    ----------
    id : str
        Identifier of the question.
    question : str
        By what the question is recognised in the logs of other models: a digest, or its right answer.
    measure : str
        By which it is right or wrong.
    right : bool
        Whether the log calls the answer right.
    predicted, target : int, str or None
        The choice that was taken, and the right one; None where the log does not say both.
    n_choices : int
    said : str or None
        The answer as text.
    targets : tuple of str
        The texts that are right.
    fields : mapping of str
        What the log holds of the question: ``id``, ``task``, ``question``, ``choices``, ``target``, and ``doc`` or
        ``metadata``.
    """

    id: str
    question: str
    measure: str
    right: bool
    predicted: int | str | None = None
    target: int | str | None = None
    n_choices: int = 0
    said: str | None = None
    targets: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelLog:
    """The answers of one model to the questions of one task.

    Attributes
    ----------
    path : Path
    name : str
    task : str
    answers : sequence of LoggedAnswer
        In the order of their questions.
    held : sequence of str
        Measures, filters, scorers and epochs to choose from.
    unscored : sequence of str
        Questions without a verdict.
    failures : sequence of str
        Why the run, or its first sample without a score, failed.
    """

    path: Path
    name: str
    task: str
    answers: Sequence[LoggedAnswer]
    held: Sequence[str]
    unscored: Sequence[str] = ()
    failures: Sequence[str] = ()


def have_texts(answers: Iterable[LoggedAnswer]) -> bool:
    """Whether answers can be compared as texts: nearly all that the log calls right are the right text."""
    held = list(answers)
    right = [answer for answer in held if answer.right]
    same = [plain(answer.said or "") in map(plain, answer.targets) for answer in right]
    return all(answer.said is not None and answer.targets for answer in held) and sum(same) >= _EXPLAINED * len(right)


def plain(text: str) -> str:
    r"""Write an answer as it is compared: what follows ``####``, without capitals, ``$`` and commas of thousands.

    Examples
    --------
    >>> plain("6 x 203 = 1218\n#### 1,218"), plain("$1218."), plain(" New  York")
    ('1218', '1218', 'new york')
    """
    words = text.rpartition("####")[2].casefold().split()
    return _IGNORED.sub("", " ".join(words)).rstrip(".").strip()


def texts_of(answer: LoggedAnswer) -> tuple[str, str]:
    """Return the answer and the right one as texts that are equal if the log calls the answer right, and only then."""
    right = plain(answer.targets[0])
    said = plain(answer.said or "") or NO_ANSWER
    return (right if answer.right else f"{said} (judged wrong)" if said == right else said), right


def chosen(text: str, classes: Collection[object]) -> Any:
    """Return the class of a choice from what an expert wrote: the class, or the letter of its number.

    Examples
    --------
    >>> chosen("c", (0, 1, 2)), chosen("1", (0, 1, 2)), chosen("b", ("A", "B"))
    (2, 1, 'B')

    Raises
    ------
    InputError
    """
    letters = {"abcdefghijklmnopqrstuvwxyz"[one]: one for one in classes if isinstance(one, int) and 0 <= one < 26}
    known = {**letters, **{str(one).casefold(): one for one in classes}}
    if text.casefold() not in known:
        raise InputError(f"expected the number or letter of a choice, got {quoted(text)}")
    return known[text.casefold()]


def flat_fields(fields: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return fields within fields by their whole names.

    Examples
    --------
    >>> flat_fields({"question": "Why?", "doc": {"passage_id": 7}})
    {'question': 'Why?', 'doc.passage_id': 7}
    """
    found: dict[str, Any] = {}
    for name, value in fields.items():
        found |= flat_fields(value, f"{before}{name}.") if isinstance(value, dict) else {before + name: value}
    return found


def shown_choices(names: Iterable[object], texts: Iterable[object]) -> str:
    """Write the choices of a question for an expert: a line for each, after what the answer calls it."""
    return "\n".join(f"{name}: {text}" for name, text in zip(names, texts, strict=False))


def read_object(what: str, content: bytes) -> dict[str, Any]:
    """Read one object of JSON.

    Raises
    ------
    FormatError
        If it is none, or takes more memory than it may.
    """
    check_nesting(what, content)
    with parsing(f"{what}: not JSON"):
        data = json.loads(content.decode("utf-8-sig"))
    if not isinstance(data, dict):
        raise FormatError(f"{what}: expected an object, got {type(data).__name__}")
    return data


def right_or_wrong(value: object, what: str) -> bool:
    """Read a verdict: C and I, true and false, 1 and 0.

    Raises
    ------
    FormatError
        If it is anything between.
    """
    if isinstance(value, str):
        known = {"C": True, "I": False, "N": False}
        if value in known:
            return known[value]
    elif isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    raise FormatError(
        f"{what}: {quoted(value)} says neither right nor wrong, and scores between are not rounded; pick a measure or "
        "scorer that says right or wrong"
    )


def picked_one(
    path: Path, held: Sequence[str], picked: Sequence[str], what: str, usual: Sequence[str] = (), *, by: str = "filter"
) -> str:
    """Return the one name that was picked, the first usual one, or the only one; ``by``: the argument that picks.

    Raises
    ------
    FormatError
        If there are several, and none was picked.
    """
    chosen = [name for name in picked if name in held] or [name for name in usual if name in held][:1]
    if len(chosen) == 1:
        return chosen[0]
    if len(held) != 1 or chosen:
        raise FormatError(
            f"{path}: holds {len(held)} {what} ({listed(list(held))}); pick one of all logs, such as `{by}={held[0]!r}`"
        )
    return held[0]


def in_order(answers: Sequence[LoggedAnswer], path: Path) -> list[LoggedAnswer]:
    """Return the answers by their questions: numbers in their order, then texts; a question stands once.

    Raises
    ------
    FormatError
    """
    seen: set[str] = set()
    for answer in answers:
        if answer.id in seen:
            raise FormatError(
                f"{path}: question {quoted(answer.id)} is answered twice; one log holds one run of one model"
            )
        seen.add(answer.id)
    return sorted(answers, key=lambda answer: id_order(answer.id))


def id_order(name: str) -> tuple[int, int, str]:
    """Sort key of an identifier: whole numbers before texts."""
    number = name.isascii() and name.isdigit() and len(name) < 19
    return (0, int(name), name) if number else (1, 0, name)


# Samples of lm-evaluation-harness (``--log_samples``) -----------------------------------------------------------------

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
    held = doc.get("choices") if isinstance(doc, dict) else None
    held = held.get("text") if isinstance(held, dict) else held
    named = list(map(str, held)) if isinstance(held, list) and len(held) == len(scores) else texts  # of the document
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


# Logs of Inspect ------------------------------------------------------------------------------------------------------

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
    answers = in_order([_answer_of(path, task, sample, scorer) for sample in scored], path)
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


def _answer_of(path: Path, task: str, sample: dict[str, Any], scorer: str) -> LoggedAnswer:
    score, choices, target = _scores(sample)[scorer], sample.get("choices"), sample["target"]
    name = str(sample["id"])
    right = right_or_wrong(score.get("value"), f"{path}: sample {quoted(name)}: {scorer}")
    targets = tuple(map(str, target if isinstance(target, list) else [target]))
    target = target[0] if isinstance(target, list) and len(target) == 1 else target
    question = json.dumps([sample.get("input"), target], sort_keys=True, default=str)
    asked = _asked(sample.get("input"))
    fields = {"id": name, "task": task, "question": asked, "target": target, "metadata": sample.get("metadata")}
    letters = _LETTERS[: len(choices)] if isinstance(choices, list) and len(choices) <= len(_LETTERS) else ""
    said = score.get("answer")
    text = said if isinstance(said, str) else None
    if not isinstance(target, str) or len(target) != 1 or target not in letters:
        return LoggedAnswer(name, question, scorer, right, said=text, targets=targets, fields=fields)
    predicted = text if text is not None and len(text) == 1 and text in letters else NO_ANSWER
    fields["choices"] = shown_choices(letters, choices or ())
    return LoggedAnswer(name, question, scorer, right, predicted, target, len(letters), predicted, targets, fields)


def _asked(held: object) -> str:
    """Return what is asked: a text, or what the user says in messages."""
    if not isinstance(held, list):
        return str(held)
    said = [one.get("content") for one in held if isinstance(one, dict) and one.get("role", "user") == "user"]
    parts = [part for content in said for part in (content if isinstance(content, list) else [content])]
    return "\n\n".join(str(part.get("text", "")) if isinstance(part, dict) else str(part) for part in parts)
