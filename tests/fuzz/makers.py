"""Valid files of every kind, as bytes: small, and the same for the same generator."""

import io
import json
import tempfile
import zipfile
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

import demele
from demele import bench
from demele.files.expert_sheets import new_key

N = 24

#: Numbers and words that parsers trip over.
TOKENS = [
    *("", "nan", "NaN", "inf", "-inf", "1e400", "-0", "0x1f", "1_000", "1,5", "1.234,5", "1 234", "5 %", "9" * 400),
    *("9" * 5000, "-" + "9" * 30, "18446744073709551616", "1e-400", "\u0661\u0662", "True", "null", "None", "NA"),
    *("=1+1", "'", '"', '""', "\\", "\x00", "\ufeff", "\u202e", "\U0001f600", "e\u0301", "\x1b[31m", "\x85", "\u2028"),
    *("2020-01-01", "a b", "a::b", "a,b", "::", "../x", "%s%n", "{0}", "q" * 5000, "[bold]", "[/]", "<script>"),
]  # fmt: skip


@cache
def columns() -> dict[str, Any]:
    """Codes, factors, predictions and labels of the same rows."""
    rng = np.random.default_rng(7)
    shape, label = np.arange(N) % 3, np.arange(N) % 2
    return {
        "z1": np.round(shape + 0.1 * rng.normal(size=N), 4),
        "z2": np.round(rng.normal(size=N), 4),
        "shape": shape,
        "size": np.round(rng.random(N), 4),
        "old": np.where(np.arange(N) % 5 == 0, 1 - label, label),
        "new": np.where(np.arange(N) % 7 == 0, 1 - label, label),
        "label": label,
        "flag": (np.arange(N) % 5 == 0).astype(int),
        "p0": np.round(rng.random(N), 4),
    }


def frame(*names: str) -> pd.DataFrame:
    """Some of these columns."""
    return pd.DataFrame({name: columns()[name] for name in names})


def frame_bytes(table: pd.DataFrame, suffix: str) -> bytes:
    """A table as a file of some kind."""
    stream = io.BytesIO()
    if suffix == ".npy":
        numbers = table.to_numpy()
        np.save(stream, numbers.astype(str) if numbers.dtype.kind == "O" else numbers, allow_pickle=False)
    elif suffix == ".npz":
        arrays: dict[str, Any] = {str(name): np.array(table[name].tolist()) for name in table}
        return archive_bytes(arrays)
    elif suffix == ".parquet":
        table.to_parquet(stream, index=False)
    elif suffix in (".json", ".jsonl"):
        return table.to_json(orient="records", lines=suffix == ".jsonl").encode()
    else:
        return table.to_csv(index=False, sep="\t" if suffix == ".tsv" else ",").encode()
    return stream.getvalue()


@cache
def tables() -> dict[str, pd.DataFrame]:
    """The tables that commands read, by what they are for."""
    rows = np.arange(8)
    label = columns()["label"]
    return {
        "codes": frame("z1", "z2"),
        "deviations": pd.DataFrame({name: columns()["size"] for name in ("z1", "z2")}),
        "factors": frame("shape", "size"),
        "classes": frame("label"),
        "models": frame("old", "new"),
        "flags": frame("flag", "label"),
        "numbers": frame("size"),
        "probabilities": pd.DataFrame({"0": columns()["p0"], "1": np.round(1 - columns()["p0"], 4)}),
        "transition": pd.DataFrame({"true": [0, 1], "0": [45, 2], "1": [5, 48]}),
        "audit": pd.DataFrame(
            {
                "draw": rows + 1,
                "row": rows * 2,
                "given_label": label[rows * 2],
                "true_label": label[rows * 2],
                "design": "uniform",
            }
        ),
        "sheet": pd.DataFrame({"key": sheet_key()[1], "answer": [*"0110", "unclear", *"101"]}),
        "answers": pd.DataFrame(
            {
                "item": np.repeat(np.arange(8), 3),
                "annotator": np.tile(["ann", "bob", "eve"], 8),
                "answer": [*"xyxxyyxxxyyyxyyxxxyyxyxy"],
            }
        ),
        "wide": pd.DataFrame({"ann": [*"xyxyxy"], "bob": [*"xxxyyy"], "eve": [*"yyxyxy"]}),
        "names": pd.DataFrame({"name": ["first", "second", "third"]}),
    }


def sheet_key() -> tuple[bytes, list[str]]:
    """The key of an expert's sheet of eight rows, and their keys."""
    rows = np.arange(8) * 2
    key = new_key(rows, columns()["label"], "uniform", seed=0)
    return key.to_json().encode(), [line.key for line in key.lines]


@cache
def logs() -> dict[str, bytes]:
    """Logs of language models, as their programs wrote them; the samples of a few questions."""
    folder = Path(__file__).parents[1] / "files" / "logs"
    names = ("samples_tiny_choice.jsonl", "samples_tiny_words.jsonl", "choices.eval")
    found = {f"{model}/{name}": (folder / model / name).read_bytes() for model in ("old", "new") for name in names}
    found["new/choices.json"] = (folder / "new" / "choices.json").read_bytes()
    return {name: b"".join(text.splitlines(True)[:6]) if "jsonl" in name else text for name, text in found.items()}


def sparse_parts(form: str = "csr") -> dict[str, Any]:
    """The arrays of a sparse matrix in a file."""
    rng = np.random.default_rng(3)
    dense = rng.random((N, 3)) * (rng.random((N, 3)) < 0.5)
    stream = io.BytesIO()
    scipy.sparse.save_npz(stream, getattr(scipy.sparse, f"{form}_array")(dense))
    with np.load(io.BytesIO(stream.getvalue())) as archive:
        return {name: archive[name] for name in archive.files}


def archive_bytes(members: Mapping[str, bytes | Any], *, packed: bool = True) -> bytes:
    """An archive of arrays, or of bytes as they are."""
    stream = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(stream, "w", kind) as archive:
        for name, content in members.items():
            member = zipfile.ZipInfo(f"{name}.npy")  # not of the time at which it is made
            archive.writestr(
                member, content if isinstance(content, bytes) else array_bytes(content), compress_type=kind
            )
    return stream.getvalue()


def array_bytes(array: Any) -> bytes:
    """An array as a file."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asanyarray(array))
    return stream.getvalue()


def npy_header(shape: object, descr: object = "<f8", *, order: object = False, version: int = 1) -> bytes:
    """The beginning of a file of one array, whatever it declares."""
    text = f"{{'descr': {descr!r}, 'fortran_order': {order!r}, 'shape': {shape}, }}".encode("latin-1")
    width = 2 if version == 1 else 4
    text += b" " * (-(len(text) + 9 + width) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(width, "little") + text


@cache
def accumulator_bytes() -> tuple[bytes, ...]:
    """Accumulators of a metric that counts, of one that sums, of one that samples, and an empty one."""
    codes, factors = frame("z1", "z2"), frame("shape", "size")
    ranges = demele.bins.BinEdges.of(codes, factors)
    return tuple(
        demele.Accumulator(names, frame=ranges if fixed else None).update(codes, factors).to_bytes()
        for names, fixed in ((["mig"], True), (["mig", "sap"], True), (["sap"], False), (["irs"], True))
    )


def unpacked(content: bytes) -> tuple[Any, bytes]:
    """The header and the arrays in the bytes of an accumulator."""
    body = content[len(b"demele-accumulator-2\n") + 16 :]
    end = 8 + int.from_bytes(body[:8], "little")
    return json.loads(body[8:end]), body[end:]


def forged(content: bytes, header: Any, arrays: bytes) -> bytes:
    """The bytes of an accumulator with another header and other arrays, and the checksum of these."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = len(text).to_bytes(8, "little") + text + arrays
    return content[: len(b"demele-accumulator-2\n")] + blake2b(body, digest_size=16).digest() + body


@cache
def bench_bytes() -> tuple[bytes, bytes]:
    """What ``bench metrics`` writes with ``--store``, and with ``--save``."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        found = bench.check_metrics(["mig"], ["mixing"], seeds=2, n_rows=100, store=rows)
        return rows.read_bytes(), found.save(Path(folder) / "mig.json.gz").read_bytes()


def image_parts() -> dict[str, Any]:
    """The arrays of a set of images in a file."""
    space = demele.data.FactorSpace({"shape": ["dot", "bar"], "x": [0.0, 0.5, 1.0]}, period={"x": 2})
    factors = space.factors()
    return {
        "images": np.random.default_rng(5).integers(0, 256, (6, 4, 4, 3), dtype=np.uint8),
        "shape": np.array(factors["shape"].tolist()),
        "x": factors["x"].to_numpy(),
        "space": np.array(space.to_json()),
        "name": np.array("made"),
    }
