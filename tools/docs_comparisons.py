"""The page on what comparisons of classifiers risk and miss, each table a section where its file exists.

Marked lines of other pages become the figures of the best known methods, the corners in which audits err most, and the
intervals of estimates from uniform audits.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

from tools import docs_tables
from tools.docs_tables import Measured, Row, filled, numbers, read, table, unique

PAGE = "results/comparisons.md"
TITLE = "Level and power of comparison methods"
#: Corners that stand on another page.
WORST = 6
#: Methods that stand there, as comparison_power.csv calls them.
CHOSEN = (
    *("overlap", "worst-case-overlap", "hard-rows, annotators' ranking", "worst-case, overlap", "agreement"),
    *("audit uniform 500", "audit entropy 500", "sequential, cap 1000"),
)

said = partial(docs_tables.said, "comparisons")


def page(folder: Path) -> str:
    """Return the page of the tables that are in a folder; empty without one."""
    found = {name: read(folder / f"{name}.csv") for name in TABLES}
    if not any(found.values()):
        return ""
    return "\n".join((said("head", title=TITLE), *(TABLES[name](rows) for name, rows in found.items() if rows)))


def figures(folder: Path) -> str:
    """Return the figures of the chosen methods, with a link from a page of another folder; nothing without rows."""
    if not page(folder):
        return ""
    link = f"All figures: [{TITLE}](../{PAGE})."
    rows = [row for row in read(folder / "comparison_power.csv") if row["method"] in CHOSEN]
    return said("chosen", worlds=_worlds(rows), table=_by_noise(rows), link=link).strip() if rows else link


def worst_corners(folder: Path) -> str:
    """Return the corners in which audits err most, the worst first, and what the exact scan finds; nothing without."""
    rows, scan = read(folder / "guarantee_corners.csv"), read(folder / "audit_scan.csv")
    parts = []
    if rows:
        columns = (("where", "{cell}"), ("errors in % (standard error)", "{error_percent} ({standard_error})"))
        shown = filled((*columns, ("test sets", "{test_sets}")), rows[:WORST])
        parts.append(said("worst", table=shown, corners=len(rows), title=TITLE, page=PAGE).strip())
    if scan:
        bounds = "; ".join(f"{row['bound']}: {row['worst']}%" for row in scan)
        parts.append(said("scan", bounds=bounds).strip())
    return "\n".join(parts)


ESTIMATES = Measured(
    "audit_estimate.csv",
    (
        *(("rows, audited", "{n}, {labels}"), "interval"),
        ("coverage in %: mean, least", "{coverage_mean}, {coverage_least}"),
        *(("width in points", "{width_points}"), ("excludes 0 in %", "{excludes_0_percent}")),
    ),
)


def estimates(folder: Path) -> str:
    """Return coverage and width of intervals from uniform audits; nothing without rows."""
    shown = ESTIMATES(folder)
    return shown and f"{shown}\nMade by `python -m benchmarks.audit_estimate`."


# Sections ------------------------------------------------------------------------------------------------------------


def _power(rows: Sequence[Row]) -> str:
    return said("power", worlds=_worlds(rows), table=_by_noise(rows))


def _by_noise(rows: Sequence[Row]) -> str:
    """Return the means over worlds of type I / type II, by method and rate of noise."""
    noises = sorted(unique(rows, "noise"), key=float)
    body = []
    for method in unique(rows, "method"):
        rates = [[numbers(rows, name, method=method, noise=noise) for name in ("type_1", "type_2")] for noise in noises]
        body.append(
            [method, *(f"{fmean(first):.2f} / {fmean(second):.1f}" if first else "" for first, second in rates)]
        )
    return table(["method", *(f"{100 * float(noise):g}% noise" for noise in noises)], body)


def _worlds(rows: Sequence[Row]) -> str:
    counts = {len({row["world"] for row in rows if row["noise"] == noise}) for noise in unique(rows, "noise")}
    low, high = min(counts), max(counts)
    many = f"{low}" if low == high else f"{low} to {high}"
    return f"means over {many} simulated world{'s' if high > 1 else ''} of 100 classifiers and 9900 ordered pairs each"


def _sequential(rows: Sequence[Row]) -> str:
    parts = [said("sequential")]
    for part in ("setting", "variant", "level"):
        here = [row for row in rows if row["part"] == part]
        names = [name for name in (here[0] if here else ()) if name != "part" and any(row[name] for row in here)]
        if here:
            columns = [(name.replace("_", " "), f"{{{name}}}") for name in names]
            parts.append(said(part, table=filled(columns, here)))
    return "\n".join(parts)


def _kept(rows: Sequence[Row]) -> str:
    """Show the mean and largest error of each method over rates of noise, by its kind."""
    kinds = unique(rows, "noise")
    body = []
    for method in unique(rows, "method"):
        own = [[row for row in rows if (row["method"], row["noise"]) == (method, kind)] for kind in kinds]
        body.append([method, *(_shares(here) if here else "" for here in own)])
    return said("kept", table=table(["method", *kinds], body))


def _shares(rows: Sequence[Row]) -> str:
    worst = max(rows, key=lambda row: float(row["rate_of_error"]))
    whole = sum(int(row["claims_all"]) for row in rows) / sum(int(row["test_sets_all"]) for row in rows)
    most, surely = (100 * float(worst[name]) for name in ("rate_of_error", "low"))
    return f"{100 * whole:.2f}; {most:.1f} (> {surely:.1f})"


def _missed(rows: Sequence[Row]) -> str:
    """Show failures of the bounds of an audit, worst kind and rate of noise, by size and design."""
    tails = [name for name in rows[0] if name.startswith("missed_at_")]
    body = []
    for n, labels, design in dict.fromkeys((row["n"], row["labels"], row["design"]) for row in rows):
        shares = [numbers(rows, tail, n=n, labels=labels, design=design) for tail in tails]
        body.append([n, labels, design, *(f"{100 * fmean(one):.2f}, worst {100 * max(one):.2f}" for one in shares)])
    heads = [f"missed at {100 * float(tail.removeprefix('missed_at_')):g}%" for tail in tails]
    return said("missed", table=table(["rows", "audited", "design", *heads], body))


def _corners(part: str, rows: Sequence[Row]) -> str:
    """Show how often a claim is made in each corner: errors, or what is found."""
    percent, told = {"corners": ("error_percent", "errors"), "found": ("power_percent", "found")}[part]
    columns = (
        *(("where", "{cell}"), (f"{told} in % (standard error)", f"{{{percent}}} ({{standard_error}})")),
        *(("distance", "{mean_distance_rows}"), ("test sets", "{test_sets}")),
    )
    return said(part, table=filled(columns, rows))


#: The section of each file, in their order.
TABLES: Mapping[str, Callable[[Sequence[Row]], str]] = {
    "comparison_power": _power,
    "sequential_power": _sequential,
    "guarantees": _kept,
    "audited_level": _missed,
    "guarantee_corners": partial(_corners, "corners"),
    "audited_power": partial(_corners, "found"),
}


# Measures of all classes ---------------------------------------------------------------------------------------------

_MEASURES = {"macro-f1": "macro F1", "balanced-accuracy": "balanced accuracy", "matthews": "Matthews"}
#: Which worlds a line is of; copies take in those who believe them, and groups those who take rows for apart.
_ASKED: Mapping[str, Callable[[str], bool]] = {
    "true labels, `overlap`": lambda world: "0 right" in world and "groups" not in world,
    "the same, rows in groups": lambda world: "0 right" in world and "groups" in world and "not given" not in world,
    "the same, `groups=` not given": lambda world: "not given" in world,
    "2% copies, `overlap`": lambda world: world.startswith("labels") and "copies" in world,
    "2% copies, rate supplied, `worst-case-overlap`": lambda world: world.startswith("rate"),
    "wrong labels, uniform audit of 100": lambda world: world.startswith("uniform, 100"),
    "wrong labels, uniform audit of 300": lambda world: world.startswith("uniform, 300"),
    "wrong labels, weighted audit of 100": lambda world: world.startswith("weighted, 100"),
    "wrong labels, weighted audit of 300": lambda world: world.startswith("weighted, 300"),
}


def measures_of_all_classes(folder: Path) -> str:
    """Return how often measures of all classes are claimed to differ where they do not, by method; nothing without."""
    rows = [row for row in read(folder / "table_measures.csv") if "lead" not in row["world"]]
    if not rows:
        return ""
    body = []
    for name, asked in _ASKED.items():
        here = [row for row in rows if asked(row["world"])]
        by_measure = [[row for row in here if row["measure"] == measure] for measure in _MEASURES]
        body.append([name, str(len(unique(here, "world"))), *(_worst_mean(own) if own else "" for own in by_measure)])
    heads = ["asked by", "worlds", *(f"{word}: worst, mean, width" for word in _MEASURES.values())]
    return said("all-classes", table=table(heads, body)).strip()


def _worst_mean(rows: Sequence[Row]) -> str:
    """Return the worst and the mean share of claims, and the mean width."""
    worst = max(rows, key=lambda row: float(row["claims_percent"]))
    mean, width = (fmean(numbers(rows, name)) for name in ("claims_percent", "width_points"))
    return f"{worst['claims_percent']} ({worst['standard_error']}), {mean:.1f}, {width:.1f}"


#: By the line of a page in whose place each is put.
MARKS: Mapping[str, Callable[[Path], str]] = {
    "<!-- measured-comparisons -->": figures,
    "<!-- measured-corners -->": worst_corners,
    "<!-- measured-estimate -->": estimates,
    "<!-- measured-table-measures -->": measures_of_all_classes,
}
