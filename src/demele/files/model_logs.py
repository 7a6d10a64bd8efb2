"""Logs of language models: answers and scores, as lm-evaluation-harness and Inspect write them."""

import json
import math
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Literal

import numpy as np

from demele.core.arrays import Array
from demele.core.errors import FormatError, InputError, plural, quoted, shortened
from demele.core.lazy import require
from demele.core.reading import check_nesting, check_unpacked, parsed_json, parsing, read_whole, regular_file
from demele.files.table_files import DECIMAL_SIGN, listed

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
        value = text.replace(",", ".") if DECIMAL_SIGN.get() == "," else text
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
#: What stands for an answer that a log calls right, or wrong, where it does not say which it is.
RIGHT, WRONG = "right", "wrong"
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


def questions_of(rows: Iterable[LoggedAnswer | ScoredRow]) -> set[tuple[str, str]]:
    """Return what the same task is recognised by in two logs, whatever they call it."""
    return {(row.id, row.question) for row in rows}


def as_classes(
    answers: Mapping[str, Sequence[LoggedAnswer]],
) -> tuple[dict[str, Array], Array, tuple[int | str, ...], Literal["choices", "open", "graded"]]:
    """Return answers as the choices that were taken, or else as texts, or else as right and wrong; and which it is."""
    first = next(iter(answers.values()))
    every = [one for held in answers.values() for one in held]
    kind: Literal["choices", "open", "graded"]
    classes: tuple[int | str, ...]
    labels: list[Any]
    if all(one.target is not None and (one.predicted == one.target) == one.right for one in every):
        kind, most = "choices", max(answer.n_choices for answer in every)
        said = {name: [one.predicted for one in held] for name, held in answers.items()}
        labels = [one.target for one in first]
        classes = tuple(range(most))
        if isinstance(labels[0], str):
            silent = [NO_ANSWER] if any(answer.predicted == NO_ANSWER for answer in every) else []
            classes = (*ascii_uppercase[:most], *silent)
    elif all(map(have_texts, answers.values())):
        kind, labels = "open", [texts_of(one)[1] for one in first]
        said = {name: [texts_of(one)[0] for one in held] for name, held in answers.items()}
        classes = (*dict.fromkeys(chain(labels, *said.values())), OTHER_ANSWER)
    else:
        kind, classes, labels = "graded", (RIGHT, WRONG), [RIGHT] * len(first)
        said = {name: [RIGHT if one.right else WRONG for one in held] for name, held in answers.items()}

    def array(values: list[Any]) -> Array:
        return np.array(values, dtype=object if isinstance(values[0], str) else None)

    return {name: array(held) for name, held in said.items()}, array(labels), classes, kind


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
    letters = {ascii_lowercase[one]: one for one in classes if isinstance(one, int) and 0 <= one < 26}
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


def read_object(what: str, content: bytes) -> dict[str, Any]:
    """Read one object of JSON.

    Raises
    ------
    FormatError
        If it is none, or takes more memory than it may.
    """
    check_nesting(what, content)
    with parsing(f"{what}: not JSON"):
        data = parsed_json(content)
    if not isinstance(data, dict):
        raise FormatError(f"{what}: expected an object, got {type(data).__name__}")
    return data


def right_or_wrong(value: object, what: str) -> bool:
    """Read a verdict: a word or number that counts 1 or 0.

    Raises
    ------
    FormatError
        If it is anything between.
    """
    score = score_of(value, what, _LETTER_SCORES)
    if score not in (0, 1):
        raise FormatError(
            f"{what}: {quoted(value)} says neither right nor wrong, and scores between are not rounded; pick a measure "
            "or scorer that says right or wrong"
        )
    return score == 1


def picked_one(
    path: Path, held: Sequence[str], picked: Sequence[str], what: str, usual: Sequence[str] = (), *, by: str = "filter"
) -> str:
    """Return the one name that was picked, the first usual one, or the only one; ``by``: the argument that picks.

    Raises
    ------
    FormatError
        If there are several, and none was picked.
    """
    chosen = [name for name in picked if name in held] or [name for name in usual if name in held][:1] or held
    if len(chosen) != 1:
        raise FormatError(f"{path}: holds {len(held)} {what} ({listed(list(held))}); pick one by `{by}={held[0]!r}`")
    return chosen[0]


def in_order(answers: Sequence[LoggedAnswer], path: Path) -> list[LoggedAnswer]:
    """Return the answers by their questions: numbers in their order, then texts; a question stands once.

    Raises
    ------
    FormatError
    """
    twice = [name for name, n in Counter(answer.id for answer in answers).items() if n > 1]
    if twice:
        raise FormatError(f"{path}: question {quoted(twice[0])} is answered twice; one log holds one run of one model")
    return sorted(answers, key=lambda answer: id_order(answer.id))


def id_order(name: str) -> tuple[int, int, str]:
    """Sort key of an identifier: whole numbers before texts."""
    number = name.isascii() and name.isdigit() and len(name) < 19
    return (0, int(name), name) if number else (1, 0, name)


def part(held: Any, name: str, kind: type) -> Any:
    """Return a part of an object, or an empty one where there is none of this type."""
    found = held.get(name) if isinstance(held, dict) else None
    return found if isinstance(found, kind) else kind()


# Samples of lm-evaluation-harness (``--log_samples``) -----------------------------------------------------------------

#: Measures that say right or wrong, the usual first.
_USUAL = ("acc", "exact_match")
#: Where a question stands in the documents of tasks, after what it is about.
_QUESTION = (
    *("passage", "context", "article", "premise"),
    *("question", "query", "problem", "goal", "sentence", "hypothesis"),
)


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
    lines, measure, held = _samples(path, picked)
    model, task = _named(path)
    answers = [_answer(task, what, line, measure) for what, line in lines.items()]
    return ModelLog(path, model, task, in_order(answers, path), held)


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
    lines, measure, names = _samples(path, picked, by="score")
    model, task = _named(path)
    found = []
    for what, line in lines.items():
        value, said = line.get(measure), line.get("resps")
        said = said[0] if isinstance(said, list) and len(said) == 1 else said
        several = isinstance(value, list) and isinstance(said, list) and len(value) == len(said)
        fields = flat_fields({"target": line["target"], "doc": line.get("doc")})
        for place, one in enumerate(value if several and isinstance(value, list) else [value]):
            about: dict[str, Any] = {"task": task, "epoch": str(place) if several else "", "fields": fields}
            score = score_of(one, f"{what}: {measure}")
            found.append(ScoredRow(model, line["doc_id"], score, what, question=line["doc_hash"], **about))
    return found, [], names


def _samples(path: Path, picked: Sequence[str], by: str = "filter") -> tuple[dict[str, dict[str, Any]], str, list[str]]:
    """Return the lines of one filter by their place, the measure to read, and all names to choose from."""
    regular_file(path)
    lines = {
        f"{path}: line {number}": read_object(f"{path}: line {number}", line)
        for number, line in enumerate(read_whole(path).splitlines(), 1)
        if line.strip()
    }
    if not lines:
        raise FormatError(f"{path}: is empty")
    for what, line in lines.items():
        if "target" not in line or not isinstance(line.get("doc_id"), int | str):
            raise FormatError(f"{what}: no sample of lm-evaluation-harness: it has no doc_id or no target")
        line["doc_id"], line["filter"] = str(line["doc_id"]), str(line.get("filter", "none"))
        line["doc_hash"] = part(line, "doc_hash", str) or json.dumps(line["target"], sort_keys=True)
    first = next(iter(lines.values()))
    measures = [str(name) for name in part(first, "metrics", list) or _USUAL if str(name) in first]
    if not measures:
        raise FormatError(f"{path}: its first sample has no measure, such as acc or exact_match")
    filters = list(dict.fromkeys(line["filter"] for line in lines.values()))
    measure = picked_one(path, measures, picked, "measures", _USUAL, by=by)
    kept = picked_one(path, filters, picked, "filters", by=by)
    return {what: line for what, line in lines.items() if line["filter"] == kept}, measure, [*measures, *filters]


def _named(path: Path) -> tuple[str, str]:
    """Return model and task: the harness keeps models apart by their folder, and calls the file by task and date."""
    folder = path.resolve().parent.name
    model = folder if path.name.startswith("samples_") and folder not in ("", "None") else path.stem
    return model, re.sub(r"^samples_|_\d{4}-\d\d-\d\d.*$", "", path.stem)


def _answer(task: str, what: str, line: dict[str, Any], measure: str) -> LoggedAnswer:
    right, doc, target = right_or_wrong(line.get(measure), f"{what}: {measure}"), line.get("doc"), line["target"]
    asked = [doc[name] for name in _QUESTION if isinstance(doc.get(name), str)] if isinstance(doc, dict) else []
    question = "\n\n".join(asked) or (doc if isinstance(doc, str) else str(next(iter(_calls(line, 0)), "")))
    fields = {"id": line["doc_id"], "task": task, "question": question, "target": target, "doc": doc}
    about = line["doc_id"], line["doc_hash"], measure, right
    scores, texts = _log_likelihoods(line), _calls(line, 1)
    if scores is None:
        targets = tuple(map(str, target if isinstance(target, list) else [target]))
        said = part(line, "filtered_resps", list)
        text = said[0] if len(said) == 1 and isinstance(said[0], str) else None
        return LoggedAnswer(*about, said=text, targets=targets, fields=fields)
    texts = [text.removeprefix(" ") for text in texts] if all(isinstance(text, str) for text in texts) else []
    if measure == "acc_norm" and len(texts) == len(scores):
        scores = [score / max(len(text), 1) for score, text in zip(scores, texts, strict=True)]
    # the right choice is written as a number or as its text
    written = str(target).strip()
    same = [place for place, choice in enumerate(texts) if choice.strip() == written]
    place = same[0] if len(same) == 1 else None
    if written.isascii() and written.isdigit() and len(written) < 10 and int(written) < len(scores):
        place = int(written)
    predicted = max(range(len(scores)), key=scores.__getitem__)  # the first of equal ones, as the harness takes it
    held = part(part(doc, "choices", dict), "text", list) or part(doc, "choices", list)
    fields["choices"] = "\n".join(map("{}: {}".format, range(len(scores)), held if len(held) == len(scores) else texts))
    return LoggedAnswer(*about, predicted, place, len(scores), str(predicted), (str(place),), fields)


def _log_likelihoods(line: dict[str, Any]) -> list[float] | None:
    """Return the log-likelihood of each choice: written as pairs of it and of whether it is the likeliest text."""
    held = part(line, "filtered_resps" if "filtered_resps" in line else "resps", list)
    pairs = [one[0] if isinstance(one, list) and len(one) == 1 else one for one in held]  # resps has lists of one
    try:
        found = [float(score) for score, likeliest in pairs if str(likeliest) in ("True", "False")]
    except (TypeError, ValueError, OverflowError):
        return None
    return found if 1 < len(found) == len(pairs) and not any(map(math.isnan, found)) else None


def _calls(line: dict[str, Any], place: int) -> list[Any]:
    """Return one argument of each call of the model: its prompt, or what follows."""
    calls = list(part(line, "arguments", dict).values()) or part(line, "arguments", list)
    named: list[Any] = [dict(enumerate(call)) if isinstance(call, list) else call for call in calls]
    return [call.get(f"arg_{place}", call.get(place)) for call in named if isinstance(call, dict)]


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
    model, task, samples, said = _read(path)
    epochs = [f"epoch={epoch}" for epoch in sorted({sample["epoch"] for sample in samples})]
    scorers = _names(path, samples, said, lambda sample: sample["scores"])
    scorer = picked_one(path, scorers, picked, "scorers")
    epoch = picked_one(path, epochs, picked, "epochs, whose rows are not independent")
    chosen = [sample for sample in samples if f"epoch={sample['epoch']}" == epoch]
    answers = [_answer_of(path, task, sample, scorer) for sample in chosen if scorer in sample["scores"]]
    failed = [sample for sample in chosen if scorer not in sample["scores"]]
    errors = [f"sample {quoted(one['id'])} failed{_error(one)}" for one in failed if _error(one)]
    failures = [*([said] if said else []), *errors[:1]]
    held, unscored = [*scorers, *epochs], [one["id"] for one in failed]
    return ModelLog(path, model, task, in_order(answers, path), held, unscored, failures)


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
    model, task, samples, said = _read(path)
    names = _names(path, samples, said, _values)
    scorer = picked_one(path, names, picked, "scores", by="score")
    found, edited = [], 0
    for sample in samples:
        place = f"{path}: sample {quoted(sample['id'])}, epoch {sample['epoch']}"
        score = score_of(_values(sample).get(scorer), f"{place}: {scorer}", _LETTER_SCORES)
        fields = flat_fields({"target": sample["target"], "metadata": sample.get("metadata")})
        failed, question = score is None and bool(_error(sample)), _recognised(sample, sample["target"])
        row = ScoredRow(model, sample["id"], score, place, task, str(sample["epoch"]), (), failed, question, fields)
        found.append(row)
        own = [one for name, one in sample["scores"].items() if f"{scorer}.".startswith(f"{name}.")]
        edited += sum(bool(one.get("history")) for one in own)
    notes = [f"{path}: {said}"] if said else []
    if edited:
        notes.append(f"{path}: {plural(edited, 'score was', 'scores were')} edited after the run: not the judge's own")
    return found, notes, names


def _read(path: Path) -> tuple[str, str, list[Any], str]:
    """Return model, task and samples of a log, and why the run failed; nothing if it did not.

    Samples have an identifier, an epoch, and scores by their scorers; one that failed has none.
    """
    if path.suffix.lower() == ".eval":
        header, samples = _archive(path)
    else:
        regular_file(path)
        header = read_object(str(path), read_whole(path))
        samples = part(header, "samples", list)
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
        sample["id"], epoch = str(sample["id"]), sample.get("epoch")
        sample["epoch"] = epoch if isinstance(epoch, int) else 1
        sample["scores"] = {name: s for name, s in part(sample, "scores", dict).items() if isinstance(s, dict)}
    return str(about.get("model", path.stem)), str(about.get("task", path.stem)), samples, said


def _names(path: Path, samples: Sequence[Any], said: str, named: Callable[[Any], dict[str, Any]]) -> list[str]:
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


def _archive(path: Path) -> tuple[dict[str, Any], list[Any]]:
    """Read the header and the samples of an archive; nothing is written to the disk, whatever names it holds."""
    size = regular_file(path)
    with parsing(f"{path}: not a log of Inspect: damaged or cut off"), zipfile.ZipFile(path) as archive:
        members = {info.filename: info for info in archive.infolist()}
        head = next((members[name] for name in _HEADERS if name in members), None)
        if head is None:
            raise FormatError(f"{path}: not a log of Inspect: it has no header.json")
        wanted = [head, *(info for name, info in members.items() if _SAMPLE.fullmatch(name))]
        check_unpacked(path, sum(info.file_size for info in wanted), stored=size)
        header, *samples = [
            read_object(
                f"{path}: {quoted(info.filename)}",
                _zstandard(info, path) if info.compress_type == _ZSTANDARD else archive.read(info),
            )
            for info in wanted
        ]
    return ({"status": "started"} if head.filename != _HEADERS[0] else {}) | header, samples


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


def _recognised(sample: dict[str, Any], target: object) -> str:
    return json.dumps([sample.get("input"), target], sort_keys=True, default=str)


def _values(sample: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a sample: by their scorers, or by scorer and key where a scorer gave several."""
    found: dict[str, Any] = {}
    for name, score in sample["scores"].items():
        value = score.get("value")
        keyed = dict(enumerate(value)) if isinstance(value, list) else value
        found |= {f"{name}.{key}": one for key, one in keyed.items()} if isinstance(keyed, dict) else {name: value}
    return found


def _answer_of(path: Path, task: str, sample: dict[str, Any], scorer: str) -> LoggedAnswer:
    score, target, name = sample["scores"][scorer], sample["target"], sample["id"]
    choices = part(sample, "choices", list)
    right = right_or_wrong(score.get("value"), f"{path}: sample {quoted(name)}: {scorer}")
    targets = tuple(map(str, target if isinstance(target, list) else [target]))
    target = target[0] if isinstance(target, list) and len(target) == 1 else target
    # what is asked: a text, or what the user says in messages
    asked = sample.get("input")
    if isinstance(asked, list):
        said = [one.get("content") for one in asked if isinstance(one, dict) and one.get("role", "user") == "user"]
        parts = [one for content in said for one in (content if isinstance(content, list) else [content])]
        asked = "\n\n".join(str(one.get("text", "") if isinstance(one, dict) else one) for one in parts)
    fields = {"id": name, "task": task, "question": str(asked), "target": target, "metadata": sample.get("metadata")}
    about = name, _recognised(sample, target), scorer, right
    letters = ascii_uppercase[: len(choices)] if len(choices) <= len(ascii_uppercase) else ""
    answer = score.get("answer")
    text = answer if isinstance(answer, str) else None
    if not isinstance(target, str) or len(target) != 1 or target not in letters:
        return LoggedAnswer(*about, said=text, targets=targets, fields=fields)
    predicted = text if text is not None and len(text) == 1 and text in letters else NO_ANSWER
    fields["choices"] = "\n".join(map("{}: {}".format, letters, choices))
    return LoggedAnswer(*about, predicted, target, len(letters), predicted, targets, fields)


# Which program wrote a log --------------------------------------------------------------------------------------------

#: What reads the answers of a log, and what its scores.
LOG_READERS = {
    "lm-evaluation-harness": (read_harness_log, read_harness_scores),
    "Inspect": (read_inspect_log, read_inspect_scores),
}
#: Bytes of the first line that are looked at.
_LOOKED_AT = 1 << 20


def log_program(path: Path) -> str:
    """Return which of :data:`LOG_READERS` wrote a file, by its suffix and how it begins; nothing if none did."""
    suffix = path.suffix.lower()
    if suffix not in (".json", ".jsonl") or not path.is_file():
        return "Inspect" if suffix == ".eval" else ""
    with path.open("rb") as file:
        begin = file.readline(_LOOKED_AT) if suffix == ".jsonl" else file.read(4096)
    if suffix == ".jsonl":
        return "lm-evaluation-harness" if all(one in begin for one in (b'"doc_id"', b'"target"', b'resps"')) else ""
    return "Inspect" if _BEGINS.match(begin) else ""
