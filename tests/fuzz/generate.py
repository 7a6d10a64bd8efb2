# ruff: noqa: E501 - what is hostile is easier to compare in one line each
"""Inputs by number: a valid file that was damaged, or one made to be hostile, and the call that reads it.

``generated(seed, number)`` is a pure function, so that every input can be made again.
"""

import base64
import copy
import gzip
import io
import json
import sys
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from tests.data.published_files import LAYOUTS
from tests.fuzz import image_sets, makers
from tests.fuzz.makers import TOKENS

SUFFIXES = (".csv", ".csv", ".tsv", ".txt", ".json", ".jsonl", ".npy", ".npz", ".parquet")


@dataclass(frozen=True)
class Input:
    """Files by name, and what is called: arguments of ``demele``, or ``api:NAME`` of what is no command.

    A file that begins with ``!`` is a special one: ``!fifo``, ``!loop``, ``!folder``, ``!device``.
    """

    reader: str
    how: str
    call: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict)

    def to_json(self) -> str:
        files = {name: base64.b85encode(zlib.compress(content, 9)).decode() for name, content in self.files.items()}
        about = {"reader": self.reader, "how": self.how, "call": list(self.call), "files": files}
        return json.dumps(about, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Input":
        about = json.loads(text)
        files = {name: zlib.decompress(base64.b85decode(content)) for name, content in about["files"].items()}
        return cls(about["reader"], about["how"], tuple(about["call"]), files)


#: What each table is for: the command, with F where the file goes. Good files lie beside it.
ROLES: dict[str, list[str]] = {
    "codes": ["score F factors.csv --metrics mig", "score F::z1,z2 factors.csv --metrics mig,sap",
              "labels clean labels.csv F",
              "labels corrupt labels.csv --features F --noise 0.04 --annotators 3",
              "bench methods labels.csv --features F --noise 0.04 --methods overlap --classifiers 2 --candidates 2"
              " --annotators 3"],
    "deviations": ["score codes.npy factors.csv --metrics rmig --codes-std F"],
    "factors": ["score codes.npy F --metrics mig", "score codes.npy F::shape --metrics mig",
                "score codes.npy F --metrics mig --missing omit --format csv",
                "score sparse.npz F --metrics mig", "score codes.npy F --metrics mig --kinds continuous",
                "score codes.npy F --metrics mig --decimal ,",
                "score --replay mig(seed=0) codes.npy F"],
    "classes": ["assess old.csv F", "assess F labels.csv --noise 0.1", "compare old.csv new.csv F",
                "compare F new.csv labels.csv --noise 0.1", "audit draw F --size 3", "labels corrupt F --noise 0.1",
                "labels clean F codes.npy", "compare old.csv new.csv labels.csv --method reference --true-labels F",
                "compare old.csv new.csv labels.csv --method agreement --reference F",
                "labels aggregate --true-labels F --given labels.csv", "labels aggregate answers.csv --gold F",
                "labels aggregate answers.csv --given F", "labels clean labels.csv codes.npy --true F",
                "assess old.csv labels.csv --classes 0,1 --true-labels F"],
    "models": ["compare F labels.csv", "audit draw labels.csv --size 3 --disagreement F", "labels corrupt labels.csv --predictions F --noise 0.1",
               "labels corrupt labels.csv --annotations F --noise 0.1",
               "bench methods labels.csv --predictions F --noise 0.1 --methods overlap --kind uniform"],
    "flags": ["compare old.csv new.csv labels.csv --method cleaned --cleaning F"],
    "numbers": ["compare old.csv new.csv labels.csv --method hard-rows --difficulty F"],
    "probabilities": ["labels clean labels.csv --probabilities F --method confident",
                      "labels clean labels.csv --probabilities F --method entropy"],
    "transition": ["assess old.csv labels.csv --noise F", "compare old.csv new.csv labels.csv --noise F",
                   "labels corrupt labels.csv --noise F"],
    "audit": ["assess old.csv labels.csv --audit F", "compare old.csv new.csv labels.csv --audit F",
              "audit next old.csv new.csv labels.csv --answers F", "assess old.csv labels.csv --audit F --audit-design weighted"],
    "sheet": ["assess old.csv labels.csv --audit F --audit-key sheet.key.json"],
    "answers": ["labels aggregate F", "labels aggregate F --method majority --agreement",
                "labels aggregate F --method bayesian --samples 10 --warmup 5 --chains 2"],
    "wide": ["labels aggregate F --wide", "labels aggregate F --wide --method majority --agreement"],
    "names": ["score sparse.npz factors.csv --metrics mig --code-names F"],
}  # fmt: skip


@cache
def good_files() -> dict[str, bytes]:
    """What lies beside every input."""
    tables = makers.tables()
    return {
        "codes.npy": makers.frame_bytes(tables["codes"], ".npy"),
        "factors.csv": makers.frame_bytes(tables["factors"], ".csv"),
        "labels.csv": makers.frame_bytes(tables["classes"], ".csv"),
        "old.csv": makers.frame_bytes(makers.frame("old"), ".csv"),
        "new.csv": makers.frame_bytes(makers.frame("new"), ".csv"),
        "answers.csv": makers.frame_bytes(tables["answers"], ".csv"),
        "sheet.key.json": makers.sheet_key()[0],
        "sheet.csv": makers.frame_bytes(tables["sheet"], ".csv"),
        "sparse.npz": makers.archive_bytes(makers.sparse_parts()),
        "mine.py": b"def mine(codes, factors):\n    return 0.5\n",
    }


def generated(seed: int, number: int) -> Input:
    """Return one input."""
    rng = np.random.default_rng([seed, number])
    often = np.array(list(MAKERS.values()))
    return list(MAKERS)[int(rng.choice(often.size, p=often / often.sum()))](rng)


# Damage ----------------------------------------------------------------------------------------------------------


def damaged(content: bytes, rng: np.random.Generator, times: int | None = None) -> bytes:
    """Return a file with a few bytes flipped, cut out, doubled, or replaced by what parsers trip over."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 4)) if times is None else times):
        at = int(rng.integers(0, len(data) + 1))
        size = int(rng.choice([1, 1, 1, 2, 4, 16]))
        what = int(rng.integers(0, 7))
        if what == 0 and at < len(data):
            data[at] ^= 1 << int(rng.integers(0, 8))
        elif what == 1:
            del data[at : at + size]
        elif what == 2:
            data[at:at] = data[at : at + size]
        elif what == 3:
            data[at : at + size] = rng.bytes(size)
        elif what == 4:
            del data[at:]
        elif what == 5:
            data[at : at + size] = _token(rng).encode("utf-8", "surrogatepass")
        else:
            value = rng.choice([0, 1, 127, 128, 255, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**62])
            data[at : at + 8] = int(value).to_bytes(8, str(rng.choice(["little", "big"])))  # type: ignore[arg-type]
    return bytes(data)


def _token(rng: np.random.Generator) -> str:
    return str(TOKENS[int(rng.integers(0, len(TOKENS)))])


def _pick(rng: np.random.Generator, items: Sequence[Any]) -> Any:
    return items[int(rng.integers(0, len(items)))]


def changed_json(data: Any, rng: np.random.Generator) -> Any:
    """Return plain values with one of them, somewhere, replaced, dropped or doubled."""
    data = copy.deepcopy(data)
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
        for key in keys:
            places.append((value, key))
            if len(places) < 3000:
                walk(value[key])

    walk(data)
    for _ in range(int(rng.integers(1, 3))):
        if not places:
            return _hostile_value(rng)
        holder, key = _pick(rng, places)
        what = int(rng.integers(0, 5))
        try:
            if what == 0:
                del holder[key]
            elif what == 1 and isinstance(holder, list):
                holder.insert(key, copy.deepcopy(holder[key]))
            elif what == 2 and isinstance(holder, dict):
                holder[_token(rng)] = holder.pop(key)
            else:
                holder[key] = _hostile_value(rng)
        except (KeyError, IndexError):  # it went with another
            continue
    return data


def _hostile_value(rng: np.random.Generator) -> Any:
    return _pick(rng, [
        None, True, -1, 0, 1, 2**31, 2**63, 2**64, 10**30, 10**400, -(10**12), 1.5, -0.0, 1e308, 1e-320,
        float("nan"), float("inf"), "", "x", "q" * 5000, [], {}, [[]], [None], {"a": 1}, [1, "x"], "1e9", "\ud800",
        10**9, 10**12, [0] * 50, [[0.5] * 3] * 3, "<f8", "|O", "<U999999999", "é" * 300, {"float": "nan"},
    ])  # fmt: skip


def nested(rng: np.random.Generator) -> bytes:
    """JSON that is deep, wide or huge."""
    depth = int(rng.choice([100, 5000, 100_000]))
    choices = [
        b"[" * depth + b"]" * depth,
        b'{"a":' * depth + b"1" + b"}" * depth,
        b"[" * depth,
        b'{"a": [' + b"9" * 400 + b", 1]}",
        b"[[1e999, -1e999], [NaN, Infinity]]",
        b'[{"a": 1, "a": 2}]',
        b'{"\\ud800": [1, 2]}',
        b'[{"' + b"q" * 5000 + b'": "' + b"q" * 5000 + b'"}]',
        "[[1, 2], [3, 4]]".encode("utf-16"),
        b"[" + b",".join(b'{"c%d": 1}' % index for index in range(min(depth, 5000))) + b"]",
        b"[[[[1]]]]",
        b"null",
        b"[{}]",
        b"[[], []]",
    ]
    return bytes(_pick(rng, choices))


# Files that hold values --------------------------------------------------------------------------------------------


def spoiled(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a file with one thing changed of what it holds: a value, an array, a member; or a few bytes."""
    if rng.random() < 0.7:
        with suppress(Exception):  # not everything that begins so is whole
            if content.startswith(b"\x1f\x8b"):
                return gzip.compress(spoiled(gzip.decompress(content), rng), mtime=0)
            if content.startswith(b"PK"):
                return _other_members(content, rng)
            if content.startswith(b"\x93NUMPY"):
                return _other_array(content, rng)
            lines = content.splitlines() if content.count(b"\n{") else [content]
            at = int(rng.integers(0, len(lines)))
            held = json.loads(lines[at])
            lines[at] = nested(rng) if rng.random() < 0.1 else _dumped(changed_json(held, rng))
            return b"\n".join(lines) + b"\n"
    return damaged(content, rng)


def _dumped(data: Any) -> bytes:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return json.dumps(data).encode()
    finally:
        sys.set_int_max_str_digits(before)


def _other_members(content: bytes, rng: np.random.Generator) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name, what = _pick(rng, list(members)), int(rng.integers(0, 8))
    if what == 0:
        del members[name]
    elif what == 1:
        odd = ["../../out.json", "samples/../x.json", "/etc/x", "", "../up.npy", "x" * 3000, "label.npy", "file.npy"]
        members[_pick(rng, odd)] = members.pop(name)
    elif what == 2:
        members[name] = _pick(rng, [*members.values(), b"", rng.bytes(50)])
    else:
        members[name] = spoiled(members[name], rng)
    stream, kind = io.BytesIO(), _pick(rng, [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    with zipfile.ZipFile(stream, "w") as archive:
        for name, held in members.items():
            archive.writestr(zipfile.ZipInfo(name), held, compress_type=kind)  # not of the time at which it is made
    return stream.getvalue()


@np.errstate(all="ignore")
def _other_array(content: bytes, rng: np.random.Generator) -> bytes:
    array, what = np.load(io.BytesIO(content)), int(rng.integers(0, 5))
    if what == 0:
        shape = _pick(rng, ["(3,)", "(24, 2)", "(100000000000,)", "(1, 100000000000)", "(-1, 2)", "()", "(0, 5)", "(24, 0)",
                            "(2, 3, 4)", "(True, 2)", "(1.5, 2)", "[24, 2]", "(" * 300, "(99999999999999999999,)",
                            "(6, 4, 4, 0)", f"({'9' * 5000},)"])  # fmt: skip
        descr = _pick(rng, ["<f8", "|O", "<U4", "<U999999999", "|S0", "<f2", ">f4", "<c16", "<M8[s]", "|b1", "|u1", "|V8", "<f16",
                            [("a", "<f8"), ("b", "|O")], [("a", "<f8")], "nonsense", ""])  # fmt: skip
        order, version = _pick(rng, [False, True, "x"]), _pick(rng, [1, 1, 2, 3, 9])
        return makers.npy_header(shape, descr, order=order, version=version) + rng.bytes(_pick(rng, [0, 8, 384, 5000]))
    if array.dtype.kind == "U" and array.ndim == 0:
        array = np.array(spoiled(str(array).encode(), rng).decode("utf-8", "replace"))
    elif what == 1:
        array = array.astype(_pick(rng, ["f2", "f4", "?", "i4", "u2", "u1", ">i8", "c8", "c16", "S1", "U3", "M8[s]"]))
    elif what == 2:
        array = _pick(rng, [array[:1], array[:0], array[::-1], array.T, array.ravel(), array[None], array[..., None],
                            array.reshape(-1)[:-1], np.zeros(()), array / _pick(rng, [255, -1, np.nan, 1e-300])])  # fmt: skip
    else:
        odd = _pick(rng, [-1, -(2**31), 2**31 - 1, 10**6, 10**11, 3, 24, 0, 2**62, 5, 25, _token(rng)])
        changed = array.astype(np.int64 if array.dtype.kind in "iu" else array.dtype)
        changed.reshape(-1)[int(rng.integers(0, array.size))] = odd
        array = changed if rng.random() < 0.5 else changed.astype(array.dtype)
    return makers.array_bytes(array)


# Tables ----------------------------------------------------------------------------------------------------------


def _call(command: str, file: str) -> tuple[str, ...]:
    asked = command.split(" ")
    words = [word.replace("F", file, 1) if word == "F" or word.startswith("F::") else word for word in asked]
    return (*words, "--quiet", "--format", "json") if words[0] != "audit" and "--format" not in words else tuple(words)


def _hostile_table(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return a table with odd cells, columns, names or rows."""
    table = table.astype(object) if rng.random() < 0.5 else table.copy()
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        what = int(rng.integers(0, 9))
        column = int(rng.integers(0, max(table.shape[1], 1)))
        if what <= 3 and table.size:
            value = (
                _token(rng) if rng.random() < 0.6 else _pick(rng, [-1, 10**18, 1e308, np.nan, None, 0.5, True, 2**63])
            )
            table = table.astype(object)
            everywhere, row = rng.random() < 0.2, int(rng.integers(0, len(table)))
            table.iloc[:, column] = [
                value if everywhere or at == row else old for at, old in enumerate(table.iloc[:, column])
            ]
        elif what == 4:
            table = table.iloc[: int(rng.integers(0, 4))]
        elif what == 5:
            table = table.iloc[:, : int(rng.integers(0, table.shape[1] + 1))]
        elif what == 6:
            names = list(table.columns)
            if names:
                names[column] = _token(rng) if rng.random() < 0.7 else names[0]
            table = table.set_axis(names, axis=1)
        elif what == 7:
            table = pd.concat([table] * int(rng.integers(2, 4)), axis="index" if rng.random() < 0.5 else "columns")
        elif table.shape[1]:
            table = table.assign(extra=table.iloc[:, 0].astype(str))
    return table


def _table(rng: np.random.Generator) -> Input:
    role = _pick(rng, list(ROLES))
    command = _pick(rng, ROLES[role])
    suffix = _pick(rng, SUFFIXES)
    table = makers.tables()[role]
    kind = rng.random()
    how = "valid"
    if kind > 0.02:
        how = "damaged"
        if kind < 0.6:
            how, table = "odd", _hostile_table(table, rng)
    try:
        content = makers.frame_bytes(table, suffix)
    except Exception:  # noqa: BLE001 - not every odd table can be written in every kind
        suffix = ".csv"
        content = table.to_csv(index=False).encode("utf-8", "surrogatepass")
    if how == "damaged" or rng.random() < 0.05:
        content = damaged(content, rng)
    if suffix in (".csv", ".tsv", ".txt") and rng.random() < 0.2:
        how, content = "text", _odd_text(content, rng)
    elif suffix == ".parquet" and rng.random() < 0.4:
        how, content = "parquet", _odd_parquet(table, rng)
    elif suffix[:4] in (".jso", ".npy", ".npz") and rng.random() < 0.4:
        how, content = "forged", spoiled(content, rng)
    name = f"input{suffix}"
    content = _special(content, rng)
    file = name if rng.random() < 0.93 else f"{name}::{_token(rng)}"
    return Input(suffix, how, _call(command, file), {name: content})


def _odd_text(content: bytes, rng: np.random.Generator) -> bytes:
    text = content.decode("utf-8", "replace")
    odd = [
        b"\xef\xbb\xbf" + content,
        text.encode("utf-16"),
        text.replace("a", "\xe4").encode("latin-1", "replace"),
        content.replace(b"\n", b"\r\n", 3),
        content.replace(b"\n", b"\n\n", 1),
        content.replace(b",", b";"),
        content.replace(b".", b",").replace(b",", b";", 1),
        b'"' + content,
        content.replace(b"\n", b'\n"', 1),
        content.replace(b",", b",,", 1),
        b",".join([b"c%d" % index for index in range(3000)]) + b"\n" + b",".join([b"1"] * 3000) + b"\n",
        b"q" * 200_000 + b"\n" + b"1\n",
        b"\x00" * 100,
        content.replace(b"\n", b"\x00\n", 2),
        b"1",
        b"a,a\n1,2\n",
        b'"a\nb",c\n1,2\n',
        content.splitlines()[0] + b"\n" if content else b"",
        b"\x1f\x8b" + content,
    ]
    return bytes(_pick(rng, odd))


def _odd_parquet(table: pd.DataFrame, rng: np.random.Generator) -> bytes:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    n = max(len(table), 2)
    columns = [
        arrow.array([[1, 2]] * n),
        arrow.array([{"a": 1, "b": "x"}] * n),
        arrow.array([[("k", 1)]] * n, type=arrow.map_(arrow.string(), arrow.int64())),
        arrow.array([None] * n),
        arrow.array([b"\xff\xfe"] * n),
        arrow.array([1] * n, type=arrow.timestamp("ns", tz="Europe/Berlin")),
        arrow.array([1] * n, type=arrow.duration("s")),
        arrow.array([True, None] * n)[:n],
        arrow.array([2**63] * n, type=arrow.uint64()),
        arrow.array(["x", "y"] * n)[:n].dictionary_encode(),
        arrow.array([1] * n, type=arrow.decimal128(10)),
        arrow.array(np.full(n, 0.5, np.float16)),
    ]
    extra = _pick(rng, columns)
    base = {str(name): arrow.array([str(value) for value in table[name]] if table[name].dtype == object else table[name].to_numpy())
            for name in table.columns if list(table.columns).count(name) == 1} if len(table) == n else {}  # fmt: skip
    names, arrays = [*base, "extra"], [*base.values(), extra]
    if rng.random() < 0.15:
        names, arrays = [*names, names[0]], [*arrays, arrays[0]]
    made = arrow.Table.from_arrays(arrays, names=names)
    if rng.random() < 0.4:
        about = _pick(rng, [b"{", b"[]", b"null", b'{"index_columns": ["nowhere"], "columns": []}', b"\xff\xfe",
                            b'{"index_columns": [{"kind": "range", "start": 0, "stop": 1000000000000, "step": 1}]}',
                            b'{"index_columns": 5, "columns": 7}', b'{"columns": [{"name": null}]}',
                            b'{"index_columns": [], "column_indexes": [{}], "columns": [{"name": "extra", "field_name": "extra",'
                            b' "pandas_type": "categorical", "numpy_type": "nonsense", "metadata": {"num_categories": -1}}]}'])  # fmt: skip
        made = made.replace_schema_metadata({b"pandas": about})
    stream = io.BytesIO()
    parquet.write_table(made, stream, row_group_size=int(rng.choice([1, 5, 1000])))
    content = stream.getvalue()
    return damaged(content, rng) if rng.random() < 0.4 else content


# Others ----------------------------------------------------------------------------------------------------------


@cache
def _readers() -> dict[str, tuple[int, list[str], list[bytes]]]:
    """How often a file of each kind is spoiled, the calls that read it, and good ones."""
    import demele

    ranges = demele.bins.BinEdges.of(makers.frame("z1", "z2"), makers.frame("shape", "size"))
    sparse = [makers.archive_bytes(makers.sparse_parts(form)) for form in ("csr", "csc", "coo", "bsr", "dia")]
    scored = ["score F factors.csv --metrics mig", "score F factors.csv --metrics mig,sap", "score codes.npy F"]
    kinds = "--metrics mig --scenarios mixing --seeds 2 --rows 100 --alone --store"
    rows, saved = makers.bench_bytes()
    return {
        "sparse .npz": (10, scored, sparse),
        "frame": (3, ["api:frame"], [_dumped(ranges.to_dict())]),
        "store": (5, [f"bench metrics {kinds} F"], [rows]),
        "bench": (5, ["bench show F --alone", "bench show F --alone --format csv"], [saved]),
        "own images": (4, ["api:own"], [makers.archive_bytes(makers.image_parts(), packed=p) for p in (False, True)]),
        "sheet key": (4, ["assess old.csv labels.csv --audit sheet.csv --audit-key F"], [makers.sheet_key()[0]]),
    }


def _special(content: bytes, rng: np.random.Generator) -> bytes:
    """Return it, or in one of 25 cases what is no file."""
    return _pick(rng, [b"!fifo", b"!loop", b"!folder", b"!device", b""]) if rng.random() < 0.04 else content


def _spoiled(rng: np.random.Generator) -> Input:
    often = np.array([one[0] for one in _readers().values()])
    reader = list(_readers())[int(rng.choice(often.size, p=often / often.sum()))]
    _, calls, good = _readers()[reader]
    call, name = _pick(rng, calls), "input.npz" if reader == "sparse .npz" else "input"
    words = (call,) if call.startswith("api:") else _call(call, name)
    return Input(reader, "spoiled", words, {name: _special(spoiled(_pick(rng, good), rng), rng)})


def _folder(rng: np.random.Generator) -> Input:
    table = makers.frame("z1", "z2", "shape", "size")
    odd = _odd_parquet(table, rng) if rng.random() < 0.5 else damaged(makers.frame_bytes(table, ".parquet"), rng)
    files = {"run/0.parquet": makers.frame_bytes(table, ".parquet"), "run/1.parquet": odd}
    if rng.random() < 0.3:
        files["run/2.parquet"] = _pick(rng, [b"", b"!fifo", b"!loop", b"!folder"])
    picked = _pick(
        rng, [("run::z1,z2", "run::shape"), ("run::z1,extra", "run::shape"), ("run::z1", "run::extra"), ("run", "run")]
    )
    return Input("folder", "parquet", ("score", *picked, "--metrics", _pick(rng, ["mig", "sap"]), "--quiet"), files)


def _accumulator(rng: np.random.Generator) -> Input:
    content = _pick(rng, makers.accumulator_bytes())
    if rng.random() < 0.2:
        return Input("accumulator", "damaged", ("api:accumulator",), {"input": damaged(content, rng)})
    plain, held = makers.unpacked(content)
    header = changed_json(plain, rng)
    arrays = damaged(held, rng) if rng.random() < 0.3 else held
    text = nested(rng) if rng.random() < 0.05 else _dumped(header)
    forged = makers.forged(content, text, arrays)
    return Input("accumulator", "forged", (_pick(rng, ["api:accumulator", "api:state"]),), {"input": forged})


def _python(rng: np.random.Generator) -> Input:
    sources = [
        damaged(b"def mine(codes, factors):\n    return float(codes.mean())\n", rng),
        b"(" * 5000,
        b"x = " + b"-" * 50_000 + b"1",
        b"x = " + b"+".join([b"1"] * 20_000),
        b"x = " + b"a." * 5000 + b"b",
        b"\x00",
        "def mine(c, f): return 1".encode("utf-16"),
        b"# -*- coding: utf-7 -*-\nx = 1\n",
        b"raise SystemExit",
        b"raise ValueError('q' * 5000)",
        b"class E(Exception):\n    def __str__(self): return 5\nraise E()",
        b"def mine(codes, factors): return 'q' * 5000",
        b"def mine(): pass",
        b"def mine(codes, factors): return float('nan')",
        b"def mine(codes, factors): raise KeyError('q' * 5000)",
        b"def mine(codes, factors):\n    def deep(): return deep()\n    return deep()",
        b"x = '\\N{nonsense}'",
        b"x = 9" + b"9" * 6000,
        b"!fifo",
        b"",
    ]
    content = _pick(rng, sources)
    name = _pick(rng, ["mine", "mine", "other", "", "q" * 5000, "é", "a,b"])
    call = f"bench metrics --scenarios mixing --seeds 1 --rows 100 --alone --metrics input.py::{name}"
    return Input("python", "hostile", (*call.split(), "--quiet"), {"input.py": content})


def _image_set(rng: np.random.Generator) -> Input:
    layout = _pick(rng, list(LAYOUTS))
    converted = layout in image_sets.CONVERTED and rng.random() < 0.5
    held = dict(image_sets.good(layout, converted)[0])
    name, other = (_pick(rng, sorted(held)) for _ in range(2))
    exchanged = rng.random() < 0.1
    held[name] = held[other] if exchanged else _special(spoiled(held[name], rng), rng)
    if rng.random() < 0.03:
        del held[name]
    how = "exchanged" if exchanged else "spoiled"
    return Input("images", how, ("api:images", layout, "converted" if converted else "published"), held)


def _signature(rng: np.random.Generator) -> Input:
    text = (
        "mig(bins=EqualWidth(bins=10), seed=0)  # n=24, rows=24, codes=2, factors=2, protocol=review2022, demele=0.1.0"
    )
    odd = [
        "(" * 5000, "mig(" + "-" * 20_000 + "1)", "mig(bins=" + "[" * 150 + "]" * 150 + ")", "mig(seed=" + "9" * 5000 + ")",
        "mig(seed=0, seed=1)", "mig(**{'a': 1})", "mig(bins={[]: 1})", "mig(bins={{}})", "mig(bins=EqualWidth(bins=10**9))",
        "mig(bins=EqualWidth(bins=1000000000))", "mig(bins=EqualWidth(nonsense=1))", "mig(bins=Edges(edges=()))",
        "mig(seed=-1)", "mig(seed=1.5)", "mig(seed='x')", "mig(seed=None)", "mig(kinds=5)", "mig(kinds={'shape': 'x'})", "mig",
        "mig()", "()", "", " ", "#", "mig(seed=0) # n=" + "q" * 5000, "q" * 5000 + "()", "mig(seed=0) # codes=9",
        "mig(n_repeats=99999999999)", "mig(n_permutations=-5)", "mig(level=2)", "mig(n_bootstrap='x')", "mig(options={})", "mig(seed=True)",
        "mig(missing='q')", "mig(reg_dim=[9, 9])", "mig(x=1)", "nonsense(seed=0)", "mig(seed=0);mig()", "lambda: 0", "mig(seed=f'{1}')",
        "mig(seed=0)\nmig()", "\ud800()", "mig(bins=inf)", "mig(bins=nan)", "mig(bins='equal-frequency:99999999999')",
    ]  # fmt: skip
    broken = damaged(text.encode(), rng).decode("utf-8", "surrogateescape")
    text = _pick(rng, odd) if rng.random() < 0.4 else broken
    text = text.replace("\x00", "")
    return Input("signature", "damaged", ("score", f"--replay={text}", "codes.npy", "factors.csv", "--quiet"))


def _arguments(rng: np.random.Generator) -> Input:
    command = _pick(rng, [command for commands in ROLES.values() for command in commands])
    words = command.replace("F", "factors.csv").split()
    for _ in range(int(rng.integers(1, 3))):
        at = int(rng.integers(1, len(words)))
        words[at : at + int(rng.integers(0, 2))] = [_token(rng)]
    # only small experiments: a long one is no fault
    if "comparisons" in words and "--predictions" not in words:
        words = ["metrics", _token(rng)]
    return Input("arguments", "odd", (*words, "--quiet"))


def _log(rng: np.random.Generator) -> Input:
    name = _pick(rng, sorted(makers.logs()))
    file = name.rpartition("/")[2]
    beside = f"old/{'choices.eval' if 'choices' in file else file}"
    picked = f"::{_token(rng)}" if rng.random() < 0.1 else ""
    command = _pick(rng, [("compare", beside), ("compare", "--common", beside), ("assess",), ("audit", "--rows", "2")])
    call = (*command, f"input/{file}{picked}", "--quiet")
    files = {beside: makers.logs()[beside], f"input/{file}": spoiled(makers.logs()[name], rng)}
    return Input("log", "spoiled", call, files)


#: What :mod:`tests.fuzz.made` makes where it is read, and how often of a hundred.
MADE = {
    "odd arguments": 40, "odd tensors": 10, "other forms": 10, "picture folder": 16, "VAE checkpoint": 8,
    "fabric checkpoint": 8, "study": 4, "pruning study": 4,
}  # fmt: skip


def _made(rng: np.random.Generator) -> Input:
    kind = str(rng.choice(list(MADE), p=np.array(list(MADE.values())) / 100))
    return Input(kind, "made", ("api:made", kind, str(int(rng.integers(2**62)))))


MAKERS: dict[Callable[[np.random.Generator], Input], int] = {
    _table: 52, _spoiled: 31, _folder: 6, _accumulator: 8, _python: 3, _signature: 4, _arguments: 4, _image_set: 15,
    _log: 8, _made: 200,
}  # fmt: skip
