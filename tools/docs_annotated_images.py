"""What fabrics as annotators are worth: a table of them, and the errors of comparison methods on the noise they make.

The rows are those of ``annotated_images_annotators.csv`` and ``annotated_images.csv``. Without them nothing is shown.
"""

from collections.abc import Sequence
from pathlib import Path

from tools.docs_tables import Row, read, table

#: Line of a page that becomes the table of annotators.
MARK = "<!-- measured-fabric-annotators -->"
ROWS, ANNOTATORS = "annotated_images.csv", "annotated_images_annotators.csv"


def figures(folder: Path) -> str:
    """Return a table of the annotators; empty without their rows."""
    rows = read(folder / ANNOTATORS)
    if not rows:
        return ""
    head = ("", *(f"{row['images']} ({row['size']}, {int(row['n']):,} images)" for row in rows))
    lines = [
        ("annotators, of fabrics trained", "{annotators}, {fabrics trained}"),
        ("errors, and their median", "{lowest error} to {highest error}, {median error}"),
        ("mean share of images on which two differ", "{disagreement}"),
        ("images that none gets wrong", "{images without a wrong vote}"),
        ("of the rates 1 %, 2 %, ..., 30 %, made exactly", "{rates of 1 to 30 % made exactly}"),
        ("CPU seconds, and seconds with two processes on a busy machine", "{CPU seconds}, {seconds}"),
    ]
    body = [(told, *(wanted.format_map(row) for row in rows)) for told, wanted in lines]
    return f"{table(head, body)}\nMade by `python -m benchmarks.annotated_images`."


def section(folder: Path) -> str:
    """Return the part of the page on comparison methods; empty without rows."""
    rows = [row for row in read(folder / ROWS) if not row["method"].startswith("cleaned(")]
    if not rows:
        return ""
    pairs = int(rows[0]["n_kept"]) + int(rows[0]["n_taken"])
    parts = [
        "## Images, with fabrics as annotators\n",
        f"The same experiment on images that are drawn ({rows[0]['data']}): {pairs:,} ordered pairs of fabrics, "
        "perceptrons, forests, nearest neighbours and support vectors, trained on right labels of 250 to 2,000 other "
        "images. The test labels carry noise of 100 annotators that are "
        "[fabrics](../howto/make-label-noise.md#noise-on-images), or uniform noise of the same rates. Accuracy; type I "
        "/ type II; their standard errors are in `benchmarks/results/annotated_images.csv`, made by `python -m "
        "benchmarks.annotated_images`.\n",
    ]
    rates = list(dict.fromkeys(row["noise"] for row in rows))
    head = ("method", *(f"{100 * float(rate):g} %" for rate in rates))
    for kind in dict.fromkeys(row["noise_kind"] for row in rows):
        here = [row for row in rows if row["noise_kind"] == kind]
        known = {(row["method"], row["noise"]): f"{_share(row, 'type_1')} / {_share(row, 'type_2')}" for row in here}
        methods = dict.fromkeys(row["method"] for row in here)
        body = [(method, *(known.get((method, rate), "") for rate in rates)) for method in methods]
        title = "Noise of fabrics" if kind == "feature" else f"{kind.capitalize()} noise, on the same images"
        parts.append(f"### {title}\n\n{table(head, body)}")
    return "\n".join([*parts, _beside(rows)])


def _share(row: Row, name: str) -> str:
    return f"{float(row[name]):.2f}" if row[name] else "–"


def _beside(rows: Sequence[Row]) -> str:
    """Say of each method how often it errs under either noise."""
    told = []
    for method in dict.fromkeys(row["method"] for row in rows):
        wrong = dict.fromkeys(("feature", "uniform"), 0)
        for row in rows:
            if row["method"] == method and row["noise_kind"] in wrong:
                wrong[row["noise_kind"]] += int(row["n_type_1"])
        told.append(f"`{method}` {wrong['feature']} and {wrong['uniform']}")
    return (
        f"Candidates taken wrongly, all rates together, under noise of fabrics and under uniform noise: "
        f"{', '.join(told)}.\n"
    )
