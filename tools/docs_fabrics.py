"""What pruning fabrics gains, for the page of a marked line: a table of the rows of ``fabric_speed.csv``; a picture."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tools.docs_tables import Row, read, table

FILE = "fabric_speed.csv"
MARK = "<!-- measured-fabrics -->"
PICTURE = "assets/pruned-fabric.svg"
#: The fabric of the picture, and how many of its links go.
LAYERS, SCALES, REMOVED = 8, 4, 38


def figures(folder: Path) -> str:
    """Return the table and what it shows; nothing without rows."""
    rows = read(folder / FILE)
    if not rows:
        return ""
    parts = ("forward", "exported", "training")
    shown = table(
        ("fabric", "images", "pruned", "removed", "multiply-adds", *(f"{part} gain" for part in parts)),
        (
            (
                *(row[name] for name in ("fabric", "images", "pruned")),
                f"{row['achieved %']} %" if row["achieved %"] else "",
                f"{int(row['multiply-adds']):,}",
                *(f"x {row[f'{part} gain']}" for part in parts),
            )
            for row in rows
        ),
    )
    return (
        "Gains of a batch on one thread, as ratios within one run, against the forward pass and the training step of "
        "the whole fabric (made by `python -m benchmarks.time_fabrics`, which says how). *Removed* is what went, not "
        f"what was asked for.\n\n{shown}\n{_masks(rows)} {_spread(rows)}\n"
    )


def _masks(rows: Sequence[Row]) -> str:
    found = [float(row["forward gain"]) for row in rows if "masked" in row["pruned"]]
    return f"Masks gain between x {min(found):g} and x {max(found):g}." if found else ""


def _spread(rows: Sequence[Row]) -> str:
    """Say how far apart the gains of the same share of links are."""
    found = [float(row["forward gain"]) for row in rows if "of links" in row["pruned"]]
    if not found:
        return ""
    return f"The same half of the links gains between x {min(found):g} and x {max(found):g}: which ones go decides."


def picture() -> str:
    """Return a fabric of which half of the links went at random, as SVG."""
    from demele.models.fabric.drawing import structure_svg
    from demele.models.fabric.lattice import Lattice
    from demele.models.fabric.planning import plan_links

    whole = Lattice.whole(LAYERS, SCALES)
    scores = np.random.default_rng(1).random(len(whole.links))
    left, _ = plan_links(whole, scores, remove=REMOVED, least=whole.longest, overshoot=0)
    return structure_svg(left, title="A fabric of which half of the links went")
