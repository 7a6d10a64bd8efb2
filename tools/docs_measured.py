"""Marked lines of pages that become the figures of a file in ``benchmarks/results``: a table, and words around it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.protocol_arrays import ARRAYS
from tools.docs_tables import Measured, Row, cells, escaped, filled, read, said, table, unique

_Rows = list[dict[str, str]]

STREAMING = Measured(
    "streaming.csv",
    (
        *("through", "metrics", ("a batch, ms", "{update_ms_median}")),
        *(("95% of batches below", "{update_ms_p95}"), ("the value once, ms", "{compute_ms}")),
    ),
    words="streaming",
    chosen=lambda rows: [row for row in rows if row["dtype"] == rows[0]["dtype"]],
)
OUT_OF_CORE = Measured(
    "out_of_core.csv",
    (
        *(("rows", "{rows:,}"), ("on disk, GB", "{gigabytes}"), ("processes", "{jobs}"), "seconds"),
        *("seconds per 1e8 rows", ("peak memory, MiB", "{peak MiB:,}")),
    ),
    words="out_of_core",
)
SPARSE = Measured(
    "sparse.csv",
    (
        *((name, f"{{{name}:,}}") for name in ("rows", "codes", "non-zeros")),
        *("factors", "jobs", "seconds (information and its metrics)", "peak GiB, data included"),
        *("seconds with SAP too", "peak GiB with SAP"),
    ),
)
SPEED = Measured("speed.csv", ("metric", "size", "demele, CPU s", "reference, CPU s", "ratio", "public code, CPU s"))
ENTROPY = Measured(
    "entropy_threshold.csv",
    (
        *(("labels", "{set}"), "wrong", ("0.3 finds", "{fixed share found:.0f%}")),
        *(("of its suspects wrong", "{fixed precision:.0f%}"), ("default", "{default threshold}")),
        *(("finds", "{default share found:.0f%}"), ("of its suspects wrong", "{default precision:.0f%}")),
    ),
)


# Fabrics -------------------------------------------------------------------------------------------------------------


def _gains(rows: Sequence[Row]) -> dict[str, str]:
    """Say what masks gain, and how far apart the gains of the same share of links are."""
    found = {}
    for name, what in (("masks", "masked"), ("links", "of links")):
        gains = [float(row["forward gain"]) for row in rows if what in row["pruned"]]
        figures = {"low": min(gains, default=0), "high": max(gains, default=0)}
        found[name] = said("measured", f"fabrics-{name}", figures).strip() if gains else ""
    return found


FABRICS = Measured(
    "fabric_speed.csv",
    (
        *("fabric", "images", "pruned", ("removed", "{removed}"), ("multiply-adds", "{multiply-adds:,}")),
        *((f"{part} gain", f"x {{{part} gain}}") for part in ("forward", "exported", "training")),
    ),
    words="fabrics",
    chosen=lambda rows: [{**row, "removed": f"{row['achieved %']}%" if row["achieved %"] else ""} for row in rows],
    figures=_gains,
)


def annotated_images(folder: Path) -> str:
    """Return a table of the fabrics that annotate, a column for each set of images; nothing without rows."""
    rows = [cells(row) for row in read(folder / "annotated_images_annotators.csv")]
    if not rows:
        return ""
    lines = [line.split(": ") for line in said("measured", "annotated-images").splitlines()]
    shown = [(head, *(text.format_map(row) for row in rows)) for head, text in lines]
    heads = ("", *("{images} ({size}, {n:,} images)".format_map(row) for row in rows))
    return f"{table(heads, shown)}\nMade by `python -m benchmarks.annotated_images`."


# Published code ------------------------------------------------------------------------------------------------------

#: What public code calls them.
THEIR_NAMES = {"z_diff": "beta-VAE", "z_min_variance": "FactorVAE"}


def arrays(_folder: Path) -> str:
    """Return what every array holds."""
    return table(("array", "codes"), [(array.name, array.what) for array in ARRAYS.values()], plain=False)


def by_score(folder: Path) -> str:
    """Return the scores of disentanglement_lib on every array, by score."""
    rows = [row for row in read(folder / "protocols.csv") if row["source"] == "disentanglement_lib"]
    order = list(ARRAYS)
    columns = (
        *("array", ("theirs", "{theirs:.4f}{error}"), ("ours, `dlib2019`", "{under the protocol:.4f}")),
        *(("ours by default", "{by default:.4f}"), ("notes of ours", "{notes}")),
    )
    parts = []
    for metric in unique(rows, "metric"):
        own = sorted((row for row in rows if row["metric"] == metric), key=lambda row: order.index(row["array"]))
        for row in own:
            row["error"] = f" ± {row['their standard error']}" if row["their standard error"] else ""
            row["notes"] = row["notes"].replace(" ", ", ")
        name = f"{THEIR_NAMES[metric]} (`{metric}`)" if metric in THEIR_NAMES else f"`{metric}`"
        parts.append(f"### {name}\n\n{filled(columns, own, plain=False)}")
    return "\n".join(parts)


def _by_attribute(rows: _Rows) -> _Rows:
    """Return the first row of each array and metric of Latte, with the largest difference over attributes."""
    groups: dict[tuple[str, str], _Rows] = {}
    for row in rows:
        if row["source"] == "latte":
            groups.setdefault((row["array"], row["metric"]), []).append(row)
    return [{**own[0], "difference": str(max(abs(float(row["difference"])) for row in own))} for own in groups.values()]


def _newer(rows: _Rows) -> _Rows:
    others = [row for row in rows if row["source"] not in ("disentanglement_lib", "latte")]
    return [{**row, "difference": row["difference"].replace("nan", "").lstrip("-")} for row in others]


LATTE = Measured(
    "protocols.csv",
    (
        *("array", ("score", "`{metric}`"), ("theirs, first", "{theirs:.4f}")),
        *(("ours, `latte`", "{under the protocol:.4f}"), ("ours by default", "{by default:.4f}")),
        ("largest difference", "{difference:.0e}"),
    ),
    chosen=_by_attribute,
    plain=False,
)
NEWER = Measured(
    "protocols.csv",
    (
        *(("code", "{source}"), "array", ("score", "`{metric}`"), ("theirs", "{theirs:.4f}")),
        *(("ours, their settings", "{under the protocol:.4f}"), ("ours by default", "{by default:.4f}")),
        ("difference", "{difference:.0e}"),
    ),
    chosen=_newer,
    plain=False,
)


# Answers of annotators -----------------------------------------------------------------------------------------------

MAJORITY, OURS, DEFAULT, BLEND = "majority accuracy", "accuracy", "crowd-kit accuracy, its default", "blend accuracy"
_CROWDS = ("classes", "answers per item", "answers per annotator", "accuracy", "class shares")


def annotators(folder: Path) -> str:
    """Return the tables on ways of joining answers, and what they show; nothing without rows."""
    rows, simulated = read(folder / "annotators.csv"), read(folder / "consensus.csv")
    known = [row for row in rows if int(row["gold"])]
    parts = [_real(known)] if known else []
    if simulated:
        columns = (
            *(
                *_CROWDS,
                "majority",
                ("Dawid-Skene", "{dawid-skene}"),
                "one-coin",
                ("own prior", "{own-prior}"),
                "blend",
            ),
            ("blend − majority (s.e.)", "{blend - majority:+.2f} ({standard error})"),
            ("worst crowd", "{least:+.1f}"),
        )
        losing = [row for row in simulated if float(row["blend - majority"]) < 0]
        where = "; ".join(said("measured", "annotators-where", row).strip() for row in losing)
        deep, crowds = (sum(int(row[name]) for row in simulated) for name in ("below by 3", "crowds"))
        figures = {"crowds": simulated[0]["crowds"], "deep": deep, "all": crowds}
        figures["where"] = where or "in none of these worlds"
        parts.append(said("measured", "annotators-simulated", figures, table=filled(columns, simulated)))
    if known:
        stops = (
            *(("answers", "{set}"), ("Dawid-Skene", f"{{{OURS}:.1fp}}"), ("iterations", "{iterations to convergence}")),
            *(("stopped early", f"{{{DEFAULT}:.1fp}}"), ("after", "{crowd-kit iterations, its default}")),
        )
        figures = {"better": _fewer_right(known, OURS, DEFAULT), "worse": _fewer_right(known, DEFAULT, OURS)}
        parts.append(said("measured", "annotators-stops", figures, table=filled(stops, known)))
    times = (
        *(("answers", "{set}"), ("number", "{answers:,}"), "ms per iteration"),
        *(("crowd-kit", "{crowd-kit ms per iteration}"), "times faster"),
        ("same labels after 20 iterations", "{same labels after 20:.2f%}"),
    )
    return "\n".join([*parts, said("measured", "annotators-times", table=filled(times, rows))]) if rows else ""


def _real(rows: Sequence[Row]) -> str:
    """Show how many labels are right on real answers, and on which sets one way has fewer than another."""
    ways = {MAJORITY: "majority", BLEND: "blend", "own prior accuracy": "own prior", "one-coin accuracy": "one-coin"}
    ways |= {OURS: "Dawid-Skene", "crowd-kit one-coin accuracy": "one-coin of crowd-kit"}
    columns = [("answers", "{set}"), ("items with known truth", "{gold:,}")]
    columns += [(head, f"{{{way}:.1fp}}") for way, head in ways.items()]
    pairs = {"blend": (BLEND, MAJORITY), "blend_more": (MAJORITY, BLEND), "blend_model": (BLEND, OURS)}
    pairs |= {"model": (OURS, MAJORITY), "model_more": (MAJORITY, OURS)}
    figures = {name: _fewer_right(rows, *pair) for name, pair in pairs.items()}
    text = said("measured", "annotators-real", figures, table=filled(columns, rows))
    gain = {row["set"]: float(row[OURS]) - float(row[MAJORITY]) for row in rows}
    if not gain.get("imagenet_real golden", 0) < 0 < gain.get("imagenet_real golden, yes or not", 0):
        return text
    return f"{text}\n{said('measured', 'annotators-doubt')}"


def _fewer_right(rows: Sequence[Row], fewer: str, more: str) -> str:
    """Name the sets where one way has fewer true labels than another, with the number of items."""
    lost = {row["set"]: round((float(row[more]) - float(row[fewer])) * int(row["gold"])) for row in rows}
    items = {row["set"]: int(row["gold"]) for row in rows}
    found = [f"{escaped(name)} ({number} of {items[name]:,} items)" for name, number in lost.items() if number > 0]
    return f"on {'; '.join(found)}" if found else "on none of these sets"


#: By the line of a page in whose place each is put.
MARKS: Mapping[str, Callable[[Path], str]] = {
    "<!-- measured-streaming -->": STREAMING,
    "<!-- measured-out_of_core -->": OUT_OF_CORE,
    "<!-- measured-sparse -->": SPARSE,
    "<!-- measured-beside -->": Measured("beside.csv"),
    "<!-- measured-beside-metrics -->": SPEED,
    "<!-- measured-entropy -->": ENTROPY,
    "<!-- measured-fabrics -->": FABRICS,
    "<!-- measured-fabric-annotators -->": annotated_images,
    "<!-- measured-annotators -->": annotators,
    "<!-- arrays -->": arrays,
    "<!-- disentanglement_lib -->": by_score,
    "<!-- latte -->": LATTE,
    "<!-- mcc-infomec-snc -->": NEWER,
}
