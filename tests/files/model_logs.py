"""Logs of language models as lm-evaluation-harness and Inspect write them, of made-up models and questions."""

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: How often each model is right.
SKILLS: Mapping[str, float] = {"old": 0.6, "new": 0.7, "third": 0.75, "fourth": 0.8}
DATE = "2026-01-05T10-11-12.345678"


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def json_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    return str(written(path, "".join(json.dumps(row) + "\n" for row in rows)))


def rights(model: str, task: str, n: int) -> NDArray[np.bool_]:
    """Whether a model answers each question right."""
    seed = [*model.encode(), 0, *task.encode()]
    found: NDArray[np.bool_] = np.random.default_rng(seed).random(n) < SKILLS[model]
    return found


def sums(task: str, n: int) -> list[tuple[int, int]]:
    """The numbers that a task asks to multiply."""
    drawn = np.random.default_rng([*task.encode()]).integers(11, 99, (n, 2))
    return [(int(a), int(b)) for a, b in drawn]


def choice_lines(model: str, task: str, n: int) -> list[dict[str, Any]]:
    """Multiple choice in the style of MMLU: letters in the prompt, texts in the document, four questions a passage."""
    lines = []
    for place, ((a, b), right) in enumerate(zip(sums(task, n), rights(model, task, n), strict=True)):
        target, said = place % 4, place % 4 if right else (place + 1) % 4
        choices = [str(a * b + 10 * (choice - target)) for choice in range(4)]
        question = f"{a} x {b} = ?"
        doc = {"question": question, "subject": task, "choices": choices, "answer": target, "passage_id": place // 4}
        letters = "\n".join(f"{letter}. {text}" for letter, text in zip("ABCD", choices, strict=True))
        prompt = f"The following are questions about {task}.\n\n1 x 1 = ?\nAnswer: A\n\n{question}\n{letters}\nAnswer:"
        calls = {f"gen_args_{k}": {"arg_0": prompt, "arg_1": f" {letter}"} for k, letter in enumerate("ABCD")}
        pairs = [[str(-0.5 if choice == said else -2.5 - choice), str(choice == said)] for choice in range(4)]
        lines.append(
            {"doc_id": place, "doc": doc, "target": str(target), "arguments": calls}
            | {"resps": [[pair] for pair in pairs], "filtered_resps": pairs, "filter": "none", "metrics": ["acc"]}
            | {"doc_hash": f"{task}-{place}", "prompt_hash": "p", "target_hash": "t", "acc": float(right)}
        )
    return lines


def words_lines(model: str, task: str, n: int) -> list[dict[str, Any]]:
    """Free text in the style of gsm8k: a reasoning that ends in the answer, read by two filters, a line for each."""
    lines = []
    for place, ((a, b), right) in enumerate(zip(sums(task, n), rights(model, task, n), strict=True)):
        said = a * b if right else a * b + 7
        doc = {"question": f"A box holds {a} pens. How many pens do {b} boxes hold?", "answer": f"So\n#### {a * b:,}"}
        text = f" {a} x {b} is {said}.\nThe answer is ${said:,}."
        line = {"doc_id": place, "doc": doc, "target": doc["answer"], "resps": [[text]], "metrics": ["exact_match"]}
        line |= {
            "arguments": {"gen_args_0": {"arg_0": f"Question: {doc['question']}\nAnswer:", "arg_1": {"until": []}}}
        }
        line |= {"doc_hash": f"{task}-{place}"}
        lines.append({**line, "filter": "strict-match", "filtered_resps": ["[invalid]"], "exact_match": 0.0})
        found = {"filter": "flexible-extract", "filtered_resps": [f"${said:,}."], "exact_match": float(right)}
        lines.append({**line, **found})
    return lines


def harness_logs(
    folder: Path,
    models: Sequence[str] = ("old", "new"),
    tasks: Sequence[str] = ("quiz",),
    n: int = 60,
    *,
    words: bool = False,
) -> list[str]:
    """Write ``folder/MODEL/samples_TASK_DATE.jsonl``, and return the paths by models, then by tasks."""
    paths = []
    for model in models:
        written(folder / model / f"results_{DATE}.json", '{"results": {}}')
        for task in tasks:
            lines = (words_lines if words else choice_lines)(model, task, n)
            paths.append(json_lines(folder / model / f"samples_{task}_{DATE}.jsonl", lines))
    return paths


def inspect_samples(model: str, task: str, n: int, *, words: bool = False) -> list[dict[str, Any]]:
    """The samples of a run: messages, metadata with a passage, and a score with the answer that the scorer read."""
    samples = []
    for place, ((a, b), right) in enumerate(zip(sums(task, n), rights(model, task, n), strict=True)):
        letter = "ABC"[place % 3]
        target, wrong = (str(a * b), str(a * b + 7)) if words else (letter, "ABC"[(place + 1) % 3])
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"{a} x {b} = ?"}]
        value = {"value": "C" if right else "I", "answer": target if right else wrong, "explanation": "So it is."}
        sample = {"id": f"q{place}", "epoch": 1, "input": messages, "target": target, "scores": {"match": value}}
        sample |= {} if words else {"choices": [str(a * b + 10 * (k - place % 3)) for k in range(3)]}
        samples.append(sample | {"metadata": {"passage": f"p{place // 4}", "source": {"page": place}}})
    return samples


def inspect_log(
    path: Path,
    model: str,
    samples: Sequence[Mapping[str, Any]],
    *,
    task: str = "quiz",
    status: str = "success",
    error: str | None = None,
) -> str:
    """Write a log of Inspect: an archive (``.eval``) or one file (``.json``)."""
    header: dict[str, Any] = {"version": 2, "status": status, "eval": {"task": task, "model": f"mockllm/{model}"}}
    header |= {} if error is None else {"error": {"message": error, "traceback": "Traceback ..."}}
    if path.suffix == ".json":
        return str(written(path, json.dumps({**header, "samples": samples})))
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": header["eval"]}))
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("../samples/evil.json", "[")  # no sample: neither read nor written anywhere
    return str(path)
