# ruff: noqa: E501 - what is hostile is easier to compare in one line each
"""Hostile files that are made where they are read: folders of pictures, checkpoints, files of studies.

Where a change leaves the values as they are, what is read is held against them: a :class:`Shifted` is a fault.
"""

import copy
import csv
import io
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from PIL import Image

from demele import data, lab
from tests.fuzz.arguments import Shifted, call_of, check_same, good_values, targets
from tests.fuzz.generate import changed_json, damaged

Rng = np.random.Generator


# Tables whose values are known ---------------------------------------------------------------------------------------


def _written(names: Sequence[str], rows: Sequence[Sequence[str]], rng: Rng) -> tuple[bytes, bool, str]:
    """Write a table in one of many ways; whether its values are as they were, and how it was written."""
    head, lines = list(names), [list(row) for row in rows]
    how = str(rng.choice(_WAYS))
    at = int(rng.integers(0, len(lines)))
    kept = how not in ("missing", "quote", "damaged")
    sign = how if how in (";", "\t", "|", " ") else ","
    end = {"blank end": "\n\n", "CRLF": "\r\n", "CR": "\r"}.get(how, "\n")
    if how == "surplus":
        lines = [[*line, "0"] for line in lines]
    elif how == "one surplus":
        lines[at] = [*lines[at], "0"]
    elif how == "short":
        lines[at] = lines[at][:-1]
    elif how == "doubled name":
        head[-1] = head[0]
    elif how == "no names":
        head = []
    elif how in ("numbered", "named number"):
        head = ["" if how == "numbered" else "row", *head]
        lines = [[str(row), *line] for row, line in enumerate(lines)]
    elif how == "blank line":
        lines.insert(at, [])
    elif how == "comment":
        head[0] = f"# {head[0]}"
    elif how == "spaces":
        head = [f" {name} " for name in head]
    elif how == "one less":
        del lines[at]
    elif how == "one more":
        lines.insert(at, lines[at])
    elif how == "trailing":
        head, lines = [*head, ""], [[*line, ""] for line in lines]
    elif how == "missing":
        lines[at][-1] = str(rng.choice(["", "NA", "None", "nan", "null"]))
    elif how == "quote":
        lines[at][-1] = '"'
    stream = io.StringIO()
    quoting: Literal[0, 1] = csv.QUOTE_ALL if how == "quoted" else csv.QUOTE_MINIMAL
    writer = csv.writer(stream, delimiter=sign, quoting=quoting, lineterminator=end)
    writer.writerows([head, *lines] if head else lines)
    content = stream.getvalue().encode()
    if how == "BOM":
        content = b"\xef\xbb\xbf" + content
    elif how == "UTF-16":
        content = stream.getvalue().encode("utf-16")
    elif how == "damaged":
        content = damaged(content, rng)
    return content, kept, how


_WAYS = (
    *("as it is", ";", "\t", "|", " ", "quoted", "surplus", "one surplus", "short", "doubled name", "no names"),
    *("numbered", "named number", "blank line", "blank end", "CRLF", "CR", "comment", "spaces", "one less", "one more"),
    *("trailing", "missing", "quote", "BOM", "UTF-16", "damaged"),
)


@cache
def _pictures() -> tuple[bytes, ...]:
    """Pictures whose grey says which they are."""
    found = []
    for place in range(12):
        stream = io.BytesIO()
        Image.fromarray(np.full((4, 4), 10 * place, np.uint8)).save(stream, "PNG")
        found.append(stream.getvalue())
    return tuple(found)


def picture_folder(rng: Rng) -> None:
    """Read a folder of pictures with ``factors.csv``; what each is must be what the table says of it."""
    folder = Path("pictures")
    folder.mkdir()
    files = [f"{place}.png" for place in range(12)]
    for name, content in zip(files, _pictures(), strict=True):
        (folder / name).write_bytes(content)
    order = rng.permutation(12)
    shapes = [str(rng.choice(["dot", "bar", "x y", "ring"])) for _ in range(12)]
    columns = {
        "file": files,
        "shape": shapes,
        "place": [str(place) for place in range(12)],
        "x": ["0.5", "1.5", "2.5"] * 4,
    }
    with_files = bool(rng.random() < 0.5)
    if not with_files:
        del columns["file"]
    rows = list(zip(*columns.values(), strict=True))
    if with_files:
        rows = [rows[row] for row in order]
        if rng.random() < 0.2:
            columns[str(rng.choice(["picture", "File", "name", "file "]))] = columns.pop("file")
            columns = {
                name: columns[name] for name in sorted(columns, key=lambda name: name in ("shape", "place", "x"))
            }
    content, kept, how = _written(list(columns), rows, rng)
    (folder / "factors.csv").write_bytes(content)
    images = data.open_images(folder)
    pixels, factors = images.images(range(len(images)))[:, 0, 0, 0] // 10, images.factors()
    if not kept or "place" not in factors:
        return
    found = [int(float(value)) for value in factors["place"]]
    shape = factors["shape"].tolist() if "shape" in factors else [shapes[place] for place in pixels]
    if found != pixels.tolist() or shape != [shapes[place] for place in pixels]:
        raise Shifted(f"factors.csv, {how}: pictures {pixels.tolist()} have places {found} and shapes {shape}")


# Checkpoints ---------------------------------------------------------------------------------------------------------


_HEAD = ("format", "format_version", "demele", "torch")


def _changed(content: Any, rng: Rng) -> Any:
    """Return what a checkpoint holds with something in it replaced."""
    changed = copy.deepcopy(content)
    for _ in range(int(rng.integers(1, 3))):
        key: Any
        holder, key, deep = changed, str(rng.choice([name for name in changed if name not in _HEAD])), False
        while isinstance(holder[key], dict | list) and len(holder[key]) and (not deep or rng.random() < 0.8):
            deep = True
            holder = holder[key]
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            key = keys[int(rng.integers(0, len(keys)))]
        value = holder[key]
        if isinstance(value, torch.Tensor) and rng.random() < 0.7:
            held = [value.flatten()[:1], value.double(), value.half(), value.to(torch.int64), value * torch.nan, value[None], value.to_sparse(),
                    value.flatten(), torch.zeros(()), value.to("meta"), torch.zeros(0), value.bool(), value.float().requires_grad_()]  # fmt: skip
            holder[key] = held[int(rng.integers(0, len(held)))]
        elif deep and rng.random() < 0.15:
            del holder[key]
        else:
            holder[key] = changed_json({"value": value if not isinstance(value, torch.Tensor) else 0}, rng).get("value")
    return changed


def _stored(content: Any, rng: Rng, name: str) -> Path:
    path, stream = Path(name), io.BytesIO()
    torch.save(content, stream)
    path.write_bytes(damaged(stream.getvalue(), rng) if rng.random() < 0.1 else stream.getvalue())
    return path


def _saved(model: Any, *labels: Any, **options: Any) -> Any:
    """Train a model, and return what its checkpoint holds."""
    model.fit(good_values()["images"], *labels, batch=4, checkpoint="good.pt", **options)
    content = torch.load("good.pt", weights_only=True)
    Path("good.pt").unlink()
    return content


@cache
def _vae() -> Any:
    return _saved(lab.VAE("factor_vae", latents=2, network="mlp", width=8), steps=3)


def vae_checkpoint(rng: Rng) -> None:
    """Load a changed file of a VAE, use the model, and go on with its training."""
    content = _changed(_vae(), rng)
    path = _stored(content, rng, "changed.pt")
    images = good_values()["images"]
    if rng.random() < 0.5:
        vae = lab.load_vae(path)
        repr((vae, vae.run))
        vae.encode(images)
        vae.decode(np.zeros((2, 2)))
    else:
        again = lab.VAE("factor_vae", latents=2, network="mlp", width=8)
        again.fit(images, steps=5, batch=4, checkpoint=path)


@cache
def _fabric() -> Any:
    fabric = lab.Fabric(layers=2, scales=5, channels=2, image_channels=3)
    return _saved(fabric, np.arange(len(good_values()["images"])) % 10, epochs=1, milestones=(2,))


def fabric_checkpoint(rng: Rng) -> None:
    """Load a changed file of a fabric, use it, and go on with its training."""
    path = _stored(_changed(_fabric(), rng), rng, "changed.pt")
    images = good_values()["images"]
    if rng.random() < 0.6:
        fabric = lab.Fabric.load(path)
        repr((fabric, fabric.run, fabric.prunings))
        fabric.predict(images)
        fabric.report().to_dict()
    else:
        again = lab.Fabric(layers=2, scales=5, channels=2, image_channels=3)
        again.fit(images, np.arange(len(images)) % 10, epochs=2, batch=4, milestones=(2,), checkpoint=path)


# Studies -------------------------------------------------------------------------------------------------------------

_STUDIES = Path(lab.__file__).parent / "studies"


def _lines_changed(path: Path, rng: Rng) -> Path:
    lines = path.read_text(encoding="utf-8").splitlines()
    at = 0 if rng.random() < 0.4 else int(rng.integers(0, len(lines)))
    lines[at] = json.dumps(changed_json(json.loads(lines[at]), rng), default=str)
    content = "\n".join(lines).encode("utf-8", "surrogatepass") + b"\n"
    target = Path("study.jsonl")
    target.write_bytes(damaged(content, rng) if rng.random() < 0.15 else content)
    return target


def study_file(rng: Rng) -> None:
    """Load a changed study, and read all that it holds."""
    study = lab.load_study(_lines_changed(_STUDIES / "embedded.jsonl", rng))
    repr(study)
    study.to_frame()


def pruning_file(rng: Rng) -> None:
    """Load a changed study of pruning, and read all that it holds."""
    study = lab.load_pruning(_lines_changed(_STUDIES / "pruning" / "embedded.jsonl", rng))
    repr(study)
    study.to_frame()
    study.decisions_frame()
    study.ranks_frame()


# All -----------------------------------------------------------------------------------------------------------------


def _odd_arguments(rng: Rng) -> None:
    call_of(int(rng.integers(2**62)))[1]()


def _odd_tensors(rng: Rng) -> None:
    call_of(int(rng.integers(2**62)), tensors=True)[1]()


def _other_forms(rng: Rng) -> None:
    check_same(int(rng.integers(2**62)))


KINDS: dict[str, Callable[[Rng], None]] = {
    "odd arguments": _odd_arguments,
    "odd tensors": _odd_tensors,
    "other forms": _other_forms,
    "picture folder": picture_folder,
    "VAE checkpoint": vae_checkpoint,
    "fabric checkpoint": fabric_checkpoint,
    "study": study_file,
    "pruning study": pruning_file,
}


@cache
def warm() -> None:
    """Make what is changed, and load what takes long to import: not within the seconds that a call has."""
    _vae()
    _fabric()
    targets()


def run(kind: str, seed: int) -> None:
    """Make an input of a kind in the working directory, and read it."""
    Path("rows.csv").write_text("label\n0\n1\n")
    KINDS[kind](np.random.default_rng(seed))
