"""The page on how often comparison methods err on noisy labels, beside the source's.

The rows are those of ``comparison_methods.csv``, ``comparison_methods_time.csv`` and ``annotated_images.csv``; the
source's are those of ``demele.bench``. Without the first file there is no page.
"""

from collections.abc import Sequence
from functools import partial
from math import sqrt
from pathlib import Path
from statistics import fmean

from demele.bench.comparisons.setting import PUBLISHED_NOISE, published
from demele.evaluation import score_interval
from tools import docs_tables
from tools.docs_tables import Row, cells, numbers, read, table, unique

PAGE = "results/comparison-methods.md"
TITLE = "Error rates of comparison methods"
#: Line of a page in another folder that becomes a link.
MARK = "<!-- measured-comparison-methods -->"
ROWS, TIMES, IMAGES = "comparison_methods.csv", "comparison_methods_time.csv", "annotated_images.csv"
#: The experiment of the source is redone on this data set; all others are real networks.
EXPERIMENT = "digits"
#: Images in the source's test set, of which its captions speak, and classes there and here.
SOURCE_SIZE, CLASSES = 12_000, 10
_FIGURES = ("type_1", "type_2", "agreement")
_PRUDENT = ("worst-case-overlap", "hard-rows")

said = partial(docs_tables.said, "comparison_methods")


def reference(folder: Path) -> str:
    """Return a link to the page from a page of another folder, if there is one."""
    return f"Measured on digits and on networks: [{TITLE}](../{PAGE})." if page(folder) else ""


def page(folder: Path) -> str:
    """Return the page of the rows that are in a folder; empty without them."""
    rows, times = read(folder / ROWS), read(folder / TIMES)
    if not rows:
        return ""
    digits = [row for row in rows if row["data"] == EXPERIMENT]
    networks = [row for row in rows if row["data"] != EXPERIMENT]
    parts = [said("head", title=TITLE), _gist(rows)]
    if digits:
        ran = next((said("ran", cells(row)) for row in times if row["run"].startswith(EXPERIMENT)), "")
        parts += [ran, _beside(digits), _over_rates(digits), _experts(digits)]
    if networks:
        parts.append(_networks(networks, times))
    parts.append(images(folder))
    if digits:
        parts.append(_why(digits, times))
    return "\n".join(part for part in parts if part)


def _by_hand(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of methods that are not simulated cleanings."""
    return [row for row in rows if not row["method"].startswith("cleaned(")]


def _counted(rows: Sequence[Row], name: str) -> dict[str, int]:
    """Return the sum of a count over all rows of each method."""
    return {one: round(sum(numbers(rows, name, method=one))) for one in unique(rows, "method")}


def _gist(rows: Sequence[Row]) -> str:
    """Say which methods never take a candidate wrongly, and what each misses at the source's noise rate."""
    accuracy = _by_hand([row for row in rows if row["measure"] == "accuracy"])
    wrong = _counted(accuracy, "n_type_1")
    at_source = {"noise": str(PUBLISHED_NOISE)}
    missed = {one: fmean(numbers(accuracy, "type_2", method=one, **at_source) or [0.0]) for one in wrong}
    safe = sorted((method for method, count in wrong.items() if not count), key=lambda method: missed[method])
    erring = sorted((method for method, count in wrong.items() if count), key=lambda method: -wrong[method])
    found = []
    if safe:
        told = ", ".join(f"`{method}` {missed[method]:.0f}%" for method in safe)
        found.append(said("safe", told=told, noise=100 * PUBLISHED_NOISE).strip())
    if erring:
        found.append(f"These do: {', '.join(f'`{method}` ({wrong[method]:,} times)' for method in erring)}.")
    return f"**In short.** {' '.join(found)}\n" if found else ""


# Tables --------------------------------------------------------------------------------------------------------------


def _beside(rows: Sequence[Row]) -> str:
    """Put the rows at the source's noise rate beside its tables."""
    here = [row for row in rows if float(row["noise"]) == PUBLISHED_NOISE]
    if not here:
        return ""
    printed = {(row["measure"], row["method"]): row for row in published()}
    head = ("method", "type I", "type II", "agreement", "source: type I", "type II", "agreement")
    parts = [said("beside", noise=100 * PUBLISHED_NOISE)]
    for measure in unique(here, "measure"):
        of_measure = [row for row in here if row["measure"] == measure]
        body = []
        # All cleanings where the source has them; elsewhere they would only repeat each other.
        for row in of_measure if measure == "accuracy" else _by_hand(of_measure):
            source = printed.get((measure.partition(" ")[0], row["method"]))
            theirs = [f"{source[name]:.2f}" for name in _FIGURES] if source else ["", "", ""]
            body.append([row["method"], *(_with_error(row, name) for name in _FIGURES), *theirs])
        figures = {"title": measure.capitalize(), "table": table(head, body)}
        parts.append(said("beside-measure", {**cells(of_measure[0]), **figures}))
    return "\n".join(parts)


def _over_rates(rows: Sequence[Row]) -> str:
    """Show type I and type II over the noise rates, for the methods that are not simulated cleanings."""
    parts = ["## Over noise rates\n\nType I / type II.\n"]
    for measure in unique(rows, "measure"):
        here = _by_hand([row for row in rows if row["measure"] == measure])
        rates = sorted(unique(here, "noise"), key=float)
        heads = [f"{100 * float(rate):g}% noise" for rate in rates]
        parts.append(f"### {measure.capitalize()} over rates\n\n{_pairs(here, 'noise', rates, heads)}")
    return "\n".join(parts)


def _pairs(rows: Sequence[Row], column: str, values: Sequence[str], heads: Sequence[str]) -> str:
    """Return a table of type I / type II by method and by the values of a column."""
    body = []
    for method in unique(rows, "method"):
        line = [method]
        for value in values:
            found = [numbers(rows, name, method=method, **{column: value}) for name in ("type_1", "type_2")]
            line.append(" / ".join(f"{fmean(own):.2f}" if own else "–" for own in found) if any(found) else "")
        body.append(line)
    return table(["method", *heads], body)


def _experts(rows: Sequence[Row]) -> str:
    """Say what the methods that ask experts cost."""
    asked = [row for row in rows if float(row["labels_asked"] or 0) and row["measure"] == "accuracy"]
    if not asked:
        return ""
    costs = []
    for method in unique(asked, "method"):
        labels = numbers(asked, "labels_asked", method=method)
        low, high = (f"{end:,.0f}" for end in (min(labels), max(labels)))
        costs.append(f"`{method}` {low if low == high else f'{low} to {high}'}")
    missed = numbers([row for row in rows if row["measure"] != "accuracy"], "type_2", method="audit")
    blunt = said("blunt", low=min(missed), high=max(missed)).strip() if missed else ""
    return said("experts", costs=", ".join(costs), blunt=blunt and f" {blunt}")


def _networks(rows: Sequence[Row], times: Sequence[Row]) -> str:
    """Show the real networks at the source's noise rate."""
    rate = min(sorted(unique(rows, "noise"), key=float), key=lambda one: abs(float(one) - PUBLISHED_NOISE))
    names = unique(rows, "data")
    pairs = sorted({int(row["ordered_pairs"]) for row in times if not row["run"].startswith(EXPERIMENT)})
    counts = f" ({', '.join(f'{count:,}' for count in pairs)} ordered pairs)" if pairs else ""
    heads = [name.removeprefix("geirhos_16class_").replace("_", " ") for name in names]
    parts = [said("networks", noise=100 * float(rate), sets=len(names), counts=counts)]
    for kind in unique(rows, "noise_kind"):
        key = (kind, rate, "accuracy")
        here = _by_hand([row for row in rows if (row["noise_kind"], row["noise"], row["measure"]) == key])
        reversed_pairs = [f"`{method}` ({count})" for method, count in _counted(here, "reversed").items() if count]
        end = said("reversed", methods=", ".join(reversed_pairs)) if reversed_pairs else said("not-reversed")
        parts.append(f"### {kind.capitalize()} noise\n\n{_pairs(here, 'data', names, heads)}\n{end}")
    return "\n".join(parts)


def images(folder: Path) -> str:
    """Return the part on images with fabrics as annotators; empty without rows."""
    rows = _by_hand(read(folder / IMAGES))
    if not rows:
        return ""
    parts = [said("images", cells(rows[0]), pairs=int(rows[0]["n_kept"]) + int(rows[0]["n_taken"]))]
    rates = unique(rows, "noise")
    by_kind = {kind: [row for row in rows if row["noise_kind"] == kind] for kind in unique(rows, "noise_kind")}
    for kind, here in by_kind.items():
        title = "Noise of fabrics" if kind == "feature" else f"{kind.capitalize()} noise, on the same images"
        heads = [f"{100 * float(rate):g}%" for rate in rates]
        parts.append(f"### {title}\n\n{_pairs(here, 'noise', rates, heads)}")
    wrong = [_counted(by_kind.get(kind, []), "n_type_1") for kind in ("feature", "uniform")]
    told = [f"`{one}` {wrong[0].get(one, 0)} and {wrong[1].get(one, 0)}" for one in unique(rows, "method")]
    return "\n".join([*parts, said("images-wrong", told=", ".join(told))])


# Why -----------------------------------------------------------------------------------------------------------------


def _why(rows: Sequence[Row], times: Sequence[Row]) -> str:
    """Explain the differences from the source, as far as the rows tell."""
    size = next((int(row["instances"]) for row in times if row["run"].startswith(EXPERIMENT)), None)
    accuracy = [row for row in rows if row["measure"] == "accuracy" and float(row["noise"]) == PUBLISHED_NOISE]
    points = [_size(size) if size else "", _share_taken(accuracy), _prudent(accuracy)]
    points += [said(f"why-{name}") for name in ("classifiers", "folds", "noise", "cleanings")]
    points.append(_precision(rows, f"about {size / CLASSES:.0f} images" if size else "few images"))
    return "## Why the figures differ\n\n" + "".join(f"- {point}" for point in points if point)


def _size(n: int) -> str:
    ends = [score_interval(0.75 * size, size) for size in (n, SOURCE_SIZE)]
    here, there = (50 * float(high - low) for low, high in ends)
    return said("why-size", n=n, source=SOURCE_SIZE, here=here, there=there, times=sqrt(SOURCE_SIZE / n))


def _share_taken(rows: Sequence[Row]) -> str:
    """Compare how many pairs the reference takes; the source's follows from its agreement."""
    source = next(row for row in published() if (row["measure"], row["method"]) == ("accuracy", "worst-case-overlap"))
    if not rows or source["type_1"] or not source["type_2"]:
        return ""
    theirs = 100 * (100 - source["agreement"]) / source["type_2"]  # without type I errors only type II ones disagree
    ours = 100 * int(rows[0]["n_taken"]) / (int(rows[0]["n_taken"]) + int(rows[0]["n_kept"]))
    return said("why-taken", ours=ours, theirs=theirs)


def _prudent(rows: Sequence[Row]) -> str:
    """Say whether the prudent methods keep their promise, and at what price."""
    found = [row for row in rows if row["method"] in _PRUDENT]
    if not found:
        return ""
    printed = {row["method"]: row for row in published() if row["measure"] == "accuracy"}
    wrong = ", ".join(f"{row['n_type_1']} of {row['method']}" for row in found if int(row["n_type_1"]))
    price = ", ".join(
        f"`{row['method']}` {float(row['type_2']):.1f}% (source: {printed[row['method']]['type_2']:.1f}%)"
        for row in found
    )
    kept = f"make type I errors ({wrong})" if wrong else "make no type I error"
    return said("why-prudent", kept=kept, noise=100 * PUBLISHED_NOISE, price=price)


def _precision(rows: Sequence[Row], few: str) -> str:
    """Say where the prudent methods err though they are told the noise, which the source's table does not show."""
    bad = [row for row in rows if row["method"] in _PRUDENT and int(row["n_type_1"])]
    if not bad:
        return said("why-never")
    named = "; ".join(said("why-where", cells(row), percent=100 * float(row["noise"])).strip() for row in bad)
    return said("why-precision", named=named, few=few)


def _with_error(row: Row, name: str) -> str:
    if not row[name]:
        return "–"
    error = row[f"{name}_se"]
    return f"{float(row[name]):.2f}" + (f" ({float(error):.2f})" if error else "")
