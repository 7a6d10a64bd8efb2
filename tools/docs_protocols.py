"""Published code beside ours: tables of ``benchmarks/results/protocols.csv`` for the page of marked lines."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.protocol_arrays import ARRAYS
from tools.docs_tables import Row, read, table

FILE = "protocols.csv"
#: What public code calls them.
THEIR_NAMES = {"z_diff": "beta-VAE", "z_min_variance": "FactorVAE"}


def arrays() -> str:
    """Return what every array holds."""
    return table(("array", "codes"), [(array.name, array.what) for array in ARRAYS.values()], plain=False)


def by_score(rows: Sequence[Row]) -> str:
    """Return the scores of disentanglement_lib on every array, by score."""
    of_dlib = [row for row in rows if row["source"] == "disentanglement_lib"]
    order = list(ARRAYS)
    metrics = list(dict.fromkeys(row["metric"] for row in of_dlib))
    parts = []
    for metric in metrics:
        own = sorted((row for row in of_dlib if row["metric"] == metric), key=lambda row: order.index(row["array"]))
        cells = [
            (
                row["array"],
                _number(row["theirs"]) + (f" ± {row['their standard error']}" if row["their standard error"] else ""),
                _number(row["under the protocol"]),
                _number(row["by default"]),
                row["notes"].replace(" ", ", "),
            )
            for row in own
        ]
        name = f"{THEIR_NAMES[metric]} (`{metric}`)" if metric in THEIR_NAMES else f"`{metric}`"
        header = ("array", "theirs", "ours, `dlib2019`", "ours by default", "notes of ours")
        parts.append(f"### {name}\n\n{table(header, cells, plain=False)}")
    return "\n".join(parts)


def by_attribute(rows: Sequence[Row]) -> str:
    """Return, by array and metric of Latte, the largest difference over attributes, and the values of the first."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["source"] == "latte":
            groups.setdefault((row["array"], row["metric"]), []).append(row)
    cells = [
        (
            array,
            f"`{metric}`",
            *(_number(own[0][column]) for column in ("theirs", "under the protocol", "by default")),
            f"{max(abs(float(row['difference'])) for row in own):.0e}",
        )
        for (array, metric), own in groups.items()
    ]
    header = ("array", "score", "theirs, first", "ours, `latte`", "ours by default", "largest difference")
    return table(header, cells, plain=False) if cells else ""


def newer(rows: Sequence[Row]) -> str:
    """Return the scores of MCC, InfoMEC and SNC beside those of their authors' code."""
    cells = [
        (
            row["source"],
            row["array"],
            f"`{row['metric']}`",
            *(_number(row[column]) for column in ("theirs", "under the protocol", "by default")),
            "" if row["difference"] == "nan" else f"{abs(float(row['difference'])):.0e}",
        )
        for row in rows
        if row["source"] not in ("disentanglement_lib", "latte")
    ]
    header = ("code", "array", "score", "theirs", "ours, their settings", "ours by default", "difference")
    return table(header, cells, plain=False) if cells else ""


def _number(text: str) -> str:
    return "none" if text == "nan" else f"{float(text):.4f}"


#: By the line of a page in whose place each table is put.
MARKS: Mapping[str, Callable[[Path], str]] = {
    "<!-- arrays -->": lambda folder: arrays(),
    "<!-- disentanglement_lib -->": lambda folder: by_score(read(folder / FILE)),
    "<!-- latte -->": lambda folder: by_attribute(read(folder / FILE)),
    "<!-- mcc-infomec-snc -->": lambda folder: newer(read(folder / FILE)),
}
