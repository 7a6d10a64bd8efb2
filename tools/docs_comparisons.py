"""The page on what comparisons of classifiers risk and miss, each table a section where its file exists.

Marked lines of other pages become the figures of the best known methods, the corners in which audits err most, and the
intervals of estimates from uniform audits.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from tools.docs_tables import Row, read, table

PAGE = "results/comparisons.md"
TITLE = "Comparisons: what they risk and miss"
TABLES = ("comparison_power", "sequential_power", "guarantees", "audited_level", "guarantee_corners", "audited_power")
#: Corners that stand there.
WORST = 6
#: Methods that stand there, as comparison_power.csv calls them.
CHOSEN = (
    "classic",
    "prudent-v1",
    "prudent-v2, annotators' ranking",
    "bounded, overlap",
    "label-free",
    "audit uniform 500",
    "audit entropy 500",
    "sequential, cap 1000",
)


def page(folder: Path) -> str:
    """Return the page of the tables that are in a folder; empty without one."""
    found = {name: read(folder / f"{name}.csv") for name in TABLES if (folder / f"{name}.csv").exists()}
    write = {
        "comparison_power": _power,
        "sequential_power": _sequential,
        "guarantees": _kept,
        "audited_level": _missed,
        "guarantee_corners": _corners,
        "audited_power": _found,
    }
    if not found:
        return ""
    head = (
        f"# {TITLE}\n",
        "*Type I*: a method takes the candidate, and the comparison on true labels does not. *Type II*: the converse. "
        "[Prudent comparisons](../concepts/prudent-comparisons.md) says what each method assumes. Every table is made "
        "from a file in `benchmarks/results`.\n",
    )
    return "\n".join((*head, *(write[name](rows) for name, rows in found.items() if rows)))


def figures(folder: Path) -> str:
    """Return the figures of the chosen methods, with a link from a page of another folder; nothing without rows."""
    if not page(folder):
        return ""
    link = f"All figures: [{TITLE}](../{PAGE})."
    file = folder / "comparison_power.csv"
    rows = [row for row in read(file) if row["method"] in CHOSEN] if file.exists() else []
    if not rows:
        return link
    return (
        "The same on simulated test sets, where the noise sits on the hard instances. Percent of type I / type II, "
        f"against the overlap of intervals on true labels; {_worlds(rows)}. Audits and sequential comparisons at the "
        f"stricter level of their study, the number is that of expert labels:\n\n{_by_noise(rows)}\n{link}"
    )


def worst_corners(folder: Path) -> str:
    """Return the corners in which audits err most, the worst first, and what the exact scan finds; nothing without."""
    file, scan = folder / "guarantee_corners.csv", folder / "audit_scan.csv"
    parts = []
    if file.exists():
        rows = read(file)
        shown = [[row["cell"], _with_error(row, "error_percent"), row["test_sets"]] for row in rows[:WORST]]
        parts.append(table(["where", "errors in % (standard error)", "test sets"], shown))
        parts.append(f"These are the worst of {len(rows)} corners; all: [{TITLE}](../{PAGE}).")
    if scan.exists():
        found = {row["bound"]: row["worst"] for row in read(scan)}
        said = "; ".join(f"{name}: {worst} %" for name, worst in found.items())
        parts.append(f"The exact scan, worst of all probabilities to be drawn and of 1 to 400 wrong labels: {said}.")
    return "\n".join(parts)


def estimates(folder: Path) -> str:
    """Return coverage and width of intervals from uniform audits; nothing without rows."""
    file = folder / "audit_estimate.csv"
    if not file.exists():
        return ""
    heads = ["rows, audited", "interval", "coverage in %: mean, least", "width in points", "excludes 0 in %"]
    body = [
        [
            f"{row['n']}, {row['labels']}",
            row["interval"],
            f"{row['coverage_mean']}, {row['coverage_least']}",
            row["width_points"],
            row["excludes_0_percent"],
        ]
        for row in read(file)
    ]
    return table(heads, body) + "\nMade by `python -m benchmarks.audit_estimate`."


def _with_error(row: Row, name: str) -> str:
    return f"{row[name]} ({row['standard_error']})"


def _corners(rows: Sequence[Row]) -> str:
    body = [
        [row["cell"], _with_error(row, "error_percent"), row["mean_distance_rows"], row["test_sets"]] for row in rows
    ]
    return (
        "## Audits where they are weakest\n\nThe candidate is exactly as good as the established classifier (for "
        "overlap: it leads by the most that is no claim), and a few labels are wrong: *copies* repeat its errors, "
        "labels of *neither* take a right answer from the other, *both* are as many copies of each, in a place of the "
        "pool's doubt if one is named. Every “candidate” is an error, 2.5 % are allowed; the worst first. Distance: "
        "from the estimate to the lower end, in rows. Made by `python -m benchmarks.guarantee_corners`.\n\n"
        + table(["where", "errors in % (standard error)", "distance", "test sets"], body)
    )


def _found(rows: Sequence[Row]) -> str:
    body = [
        [row["cell"], _with_error(row, "power_percent"), row["mean_distance_rows"], row["test_sets"]] for row in rows
    ]
    return (
        "## What audits find\n\nThe candidate leads by the gap named, in rows. Percent of test sets on which it is "
        "shown. Made by `python -m benchmarks.guarantee_corners`.\n\n"
        + table(["where", "found in % (standard error)", "distance", "test sets"], body)
    )


def _power(rows: Sequence[Row]) -> str:
    return (
        f"## Simulated classifiers\n\nType I / type II in percent, {_worlds(rows)}. The name of an audit ends with the "
        "number of expert labels. Made by `python -m benchmarks.comparison_power`, which says at which levels.\n\n"
        + _by_noise(rows)
    )


def _by_noise(rows: Sequence[Row]) -> str:
    noises = sorted({row["noise"] for row in rows}, key=float)
    methods = list(dict.fromkeys(row["method"] for row in rows))
    body = []
    for method in methods:
        cells = []
        for noise in noises:
            here = [row for row in rows if row["method"] == method and row["noise"] == noise]
            rates = [f"{fmean(float(row[name]) for row in here):.{digits}f}" for name, digits in _RATES] if here else []
            cells.append(" / ".join(rates))
        body.append([method, *cells])
    return table(["method", *(f"{100 * float(noise):g} % noise" for noise in noises)], body)


_RATES = (("type_1", 2), ("type_2", 1))


def _worlds(rows: Sequence[Row]) -> str:
    counts = {len({row["world"] for row in rows if row["noise"] == noise}) for noise in {row["noise"] for row in rows}}
    low, high = min(counts), max(counts)
    many = f"{low}" if low == high else f"{low} to {high}"
    return f"means over {many} simulated world{'s' if high > 1 else ''} of 100 classifiers and 9900 ordered pairs each"


def _sequential(rows: Sequence[Row]) -> str:
    parts = ["## One label at a time\n\nMade by `python -m benchmarks.sequential_power`.\n"]
    titles = {
        "setting": "Other noises and targets",
        "variant": "Other ways to ask and to bet",
        "level": "Claims that are false by a hair: how often are they made?",
    }
    for part, title in titles.items():
        here = [row for row in rows if row["part"] == part]
        names = [name for name in (here[0] if here else ()) if name != "part" and any(row[name] for row in here)]
        if here:
            heads = [name.replace("_", " ") for name in names]
            parts.append(f"### {title}\n\n{table(heads, [[row[name] for name in names] for row in here])}")
    return "\n".join(parts)


def _kept(rows: Sequence[Row]) -> str:
    """Mean and largest error of each method over rates of noise, by its kind."""
    kinds = list(dict.fromkeys(row["noise"] for row in rows))
    body = []
    for method in dict.fromkeys(row["method"] for row in rows):
        cells = []
        for kind in kinds:
            here = [row for row in rows if row["method"] == method and row["noise"] == kind]
            cells.append(_shares(here) if here else "")
        body.append([method, *cells])
    return (
        "## Do they keep their promise?\n\nTest sets on which the candidate is exactly as good as the established "
        "classifier: every “candidate” is an error, and a level of 0.95 allows 2.5 %. For each kind of noise: percent "
        "of errors over all rates, sizes, accuracies and agreements, then the worst of these cells, of 80 to 500 test "
        "sets, in brackets what it exceeds for sure (99 %, of this cell by itself). *Half the rate* is told half of "
        "the true noise rate, and breaks. Made by `python -m benchmarks.guarantees`.\n\n"
        + table(["method", *kinds], body)
    )


def _shares(rows: Sequence[Row]) -> str:
    worst = max(rows, key=lambda row: float(row["rate_of_error"]))
    whole = sum(int(row["claims_all"]) for row in rows) / sum(int(row["test_sets_all"]) for row in rows)
    most, surely = (100 * float(worst[name]) for name in ("rate_of_error", "low"))
    return f"{100 * whole:.2f}; {most:.1f} (> {surely:.1f})"


def _missed(rows: Sequence[Row]) -> str:
    """Failures of the bounds of an audit, worst kind and rate of noise, by size and design."""
    tails = [name for name in rows[0] if name.startswith("missed_at_")]
    keys = list(dict.fromkeys((row["n"], row["labels"], row["design"]) for row in rows))
    body = []
    for key in keys:
        here = [row for row in rows if (row["n"], row["labels"], row["design"]) == key]
        shares = [[100 * float(row[tail]) for row in here] for tail in tails]
        body.append([*key, *(f"{fmean(share):.2f}, worst {max(share):.2f}" for share in shares)])
    heads = [f"missed at {100 * float(tail.removeprefix('missed_at_')):g} %" for tail in tails]
    return (
        "## Bounds of an audit\n\nHow often, in percent, the one-sided bound of a difference misses it: mean and worst "
        "over kinds and rates of noise. Made by `python -m benchmarks.comparison_power level`.\n\n"
        + table(["rows", "audited", "design", *heads], body)
    )


def measures_of_all_classes(folder: Path) -> str:
    """Return how often measures of all classes are claimed to differ where they do not, by method; nothing without."""
    file = folder / "table_measures.csv"
    if not file.exists():
        return ""
    rows = [row for row in read(file) if "lead" not in row["world"]]
    heads = ["asked by", "worlds", *(f"{word}: worst, mean, width" for word in _TABLE_MEASURES.values())]
    body = []
    for name, asked in _ASKED.items():
        here = [row for row in rows if asked(row["world"])]
        cells = [_worst_mean(here, measure) for measure in _TABLE_MEASURES]
        body.append([name, str(len({row["world"] for row in here})), *cells])
    return table(heads, body) + (
        "\nThe worst world in percent (standard error), the mean of the worlds, and the mean width of the interval in "
        "points."
    )


_TABLE_MEASURES = {"macro-f1": "macro F1", "balanced-accuracy": "balanced accuracy", "matthews": "Matthews"}
#: Which worlds a line is of; copies take in those who believe them, and groups those who take rows for apart.
_ASKED: Mapping[str, Callable[[str], bool]] = {
    "right labels, `classic`": lambda world: "0 right" in world and "groups" not in world,
    "the same, rows in groups": lambda world: "0 right" in world and "groups" in world and "not given" not in world,
    "the same, `groups=` not given": lambda world: "not given" in world,
    "2 % copies, `classic`": lambda world: world.startswith("labels") and "copies" in world,
    "2 % copies, rate supplied, `prudent-v1`": lambda world: world.startswith("rate"),
    "wrong labels, uniform audit of 100": lambda world: world.startswith("uniform, 100"),
    "wrong labels, uniform audit of 300": lambda world: world.startswith("uniform, 300"),
    "wrong labels, weighted audit of 100": lambda world: world.startswith("weighted, 100"),
    "wrong labels, weighted audit of 300": lambda world: world.startswith("weighted, 300"),
}


def _worst_mean(rows: Sequence[Row], measure: str) -> str:
    """Return the worst and the mean share of claims by one measure, and the mean width."""
    here = [row for row in rows if row["measure"] == measure]
    if not here:
        return ""
    worst = max(here, key=lambda row: float(row["claims_percent"]))
    mean, width = (fmean(float(row[name]) for row in here) for name in ("claims_percent", "width_points"))
    return f"{_with_error(worst, 'claims_percent')}, {mean:.1f}, {width:.1f}"


#: By the line of a page in whose place each is put.
MARKS: Mapping[str, Callable[[Path], str]] = {
    "<!-- measured-comparisons -->": figures,
    "<!-- measured-corners -->": worst_corners,
    "<!-- measured-estimate -->": estimates,
    "<!-- measured-table-measures -->": measures_of_all_classes,
}
