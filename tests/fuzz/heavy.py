"""Small files that declare much, made a piece at a time: making them takes no memory that would hide the reader's."""
# ruff: noqa: E501

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable

import numpy as np

from tests.fuzz import image_sets, makers
from tests.fuzz.generate import Input

_MIB = 1 << 20


def _packed(header: bytes, size: int) -> bytes:
    """An archive of one array of zeros."""
    stream, piece = io.BytesIO(), bytes(_MIB)
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("a.npy", "w", force_zip64=True) as member,
    ):
        member.write(header)
        for _ in range(size // _MIB):
            member.write(piece)
        member.write(piece[: size % _MIB])
    return stream.getvalue()


def _parquet(rows: int, times: int, text: str | None = None) -> bytes:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    values = np.zeros(rows) if text is None else [text] * rows
    table = arrow.table({"z": values})
    stream = io.BytesIO()
    with parquet.ParquetWriter(stream, table.schema) as writer:
        for _ in range(times):
            writer.write_table(table)
    return stream.getvalue()


def _score(name: str, content: bytes) -> Input:
    return Input("heavy", name, ("score", name, "factors.csv", "--metrics", "mig", "--quiet"), {name: content})


def _factors(name: str, content: bytes) -> Input:
    return Input("heavy", name, ("score", "codes.npy", name, "--metrics", "mig", "--quiet"), {name: content})


def _sparse(form: str, *shape: int) -> Input:
    return _score("sparse.npz", makers.archive_bytes({**makers.sparse_parts(form), "shape": np.array(shape)}))


def _gzip_bomb() -> Input:
    content = gzip.compress(bytes(16 * _MIB)) * 64
    return Input("heavy", "bomb.gz", ("bench", "show", "bomb.gz", "--quiet"), {"bomb.gz": content})


def _forged_width() -> Input:
    content = makers.accumulator_bytes()[0]
    header, arrays = makers.unpacked(content)
    header["settings"]["reg_dim"] = {"array": ["<U500000000", [1], ["x"], False]}
    return Input("heavy", "forged width", ("api:accumulator",), {"input": makers.forged(content, header, arrays)})


def _forged_levels() -> Input:
    content = makers.accumulator_bytes()[0]
    header, arrays = makers.unpacked(content)
    for factor in header["frame"]["factors"]:
        if factor["kind"] == "categorical":
            factor["levels"] = [str(level) for level in range(200_000)]
    header["frame"]["codes"] = {"names": [f"z{i}" for i in range(20_000)], "low": [0] * 20_000, "high": [1] * 20_000}
    return Input("heavy", "forged levels", ("api:accumulator",), {"input": makers.forged(content, header, arrays)})


def _heavy_mesh() -> Input:
    """A file of Cars3D whose pictures declare a gibibyte within what zlib packed."""
    held = dict(image_sets.good("cars3d")[0])
    name = "set/cars/car_001_mesh.mat"
    begun = (
        struct.pack("<IIII", 6, 8, 9, 0)
        + struct.pack("<II5i4x", 5, 20, 8, 8, 3, 3, 2)
        + struct.pack("<HH4s", 1, 2, b"im")
    )
    packer = zlib.compressobj(1)
    packed = packer.compress(
        struct.pack("<II", 14, len(begun) + 8 + (1 << 30)) + begun + struct.pack("<II", 2, 1 << 30)
    )
    packed += b"".join(packer.compress(bytes(_MIB)) for _ in range(1024)) + packer.flush()
    held[name] = held[name][:128] + struct.pack("<II", 15, len(packed)) + packed
    return Input("heavy", "mesh", ("api:images", "cars3d", "published"), held)


#: What is made, by name.
HEAVY: dict[str, Callable[[], Input]] = {
    "npz that unpacks to 640 MiB": lambda: _score("a.npz", _packed(makers.npy_header("(24, 3495253)"), 671_088_576)),
    "npz of bytes that unpacks to 900 MiB": lambda: _score(
        "a.npz", _packed(makers.npy_header("(943718400,)", "|u1"), 900 * _MIB)
    ),
    "npz whose header declares more": lambda: _score("a.npz", _packed(makers.npy_header("(24, 10000000000)"), 800)),
    "npy that declares more": lambda: _score("a.npy", makers.npy_header("(24, 10000000000)") + bytes(800)),
    "npy of long strings": lambda: _factors("a.npy", makers.npy_header("(24,)", "<U100000000") + bytes(9600)),
    "parquet of 120 million rows": lambda: _factors("a.parquet", _parquet(1_000_000, 120)),
    "parquet of one long text": lambda: _factors("a.parquet", _parquet(20_000, 40, "x" * 10_000)),
    "csv of 300 000 columns": lambda: _score("a.csv", b",".join([b"c%d" % index for index in range(300_000)]) + b"\n" + b"1," * 299_999 + b"1\n"),
    "csv of one line": lambda: _score("a.csv", b"x" * (20 * _MIB)),
    "csv of empty fields": lambda: _factors("a.csv", b"a,b\n" + b",\n" * (4 * _MIB)),
    "json of empty lists": lambda: _factors("a.json", b"[" + b"[]," * (4 * _MIB) + b"[]]"),
    "json of many names": lambda: _factors("a.json", b"[{" + b",".join(b'"c%d":1' % index for index in range(200_000)) + b"}]"),
    "json of records that share no name": lambda: _factors(
        "a.json", b"[" + b",".join(b'{"c%d":1}' % index for index in range(20_000)) + b"]"
    ),
    "json of brackets": lambda: _factors("a.json", b"[" * (8 * _MIB)),
    "json of one number": lambda: _factors("a.json", b"[" + b"9" * (4 * _MIB) + b"]"),
    "sparse of 1e11 columns": lambda: _sparse("csr", 24, 10**11),
    "sparse of 5e5 columns": lambda: _sparse("csr", 24, 500_000),
    "sparse of 1e11 rows": lambda: _sparse("csc", 10**11, 3),
    "gzip of a gibibyte": _gzip_bomb,
    "pictures of a gibibyte in a file of MATLAB": _heavy_mesh,
    "accumulator of wide strings": _forged_width,
    "accumulator of many levels": _forged_levels,
    "store of empty lists": lambda: Input(
        "heavy", "store",
        ("bench", "metrics", "--metrics", "mig", "--scenarios", "mixing", "--seeds", "1", "--rows", "100", "--store", "input", "--quiet"),
        {"input": makers.bench_bytes()[0] + b'{"key": ["x"], "a": [' + b"[]," * (8 * _MIB) + b"[]]}\n"},
    ),
    "python of one sum": lambda: Input(
        "heavy", "python",
        ("bench", "metrics", "--metrics", "input.py::mine", "--scenarios", "mixing", "--seeds", "1", "--rows", "100", "--quiet"),
        {"input.py": b"x = " + b"+".join([b"1"] * 400_000)},
    ),
    "signature of one sum": lambda: Input(
        "heavy", "signature", ("score", f"--replay=mig(seed={'+'.join(['1'] * 200_000)})", "codes.npy", "factors.csv", "--quiet")
    ),
}  # fmt: skip
