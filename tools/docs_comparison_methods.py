"""The page on how often comparison methods err on noisy labels, beside the source's.

The rows are those of ``comparison_methods.csv`` and ``comparison_methods_time.csv``; the source's are those of
``demele.bench``. Without the first file there is no page.
"""

from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean

from demele.bench.comparisons.published import PUBLISHED_NOISE, published
from demele.evaluation import score_interval
from tools import docs_annotated_images
from tools.docs_tables import Row, read, table

PAGE = "results/comparison-methods.md"
TITLE = "Comparison methods under label noise, measured"
#: Line of a page in another folder that becomes a link.
MARK = "<!-- measured-comparison-methods -->"
ROWS, TIMES = "comparison_methods.csv", "comparison_methods_time.csv"
#: The experiment of the source is redone on this data set; all others are real networks.
EXPERIMENT = "digits"
#: Images in the source's test set, of which its captions speak, and classes there and here.
SOURCE_SIZE, CLASSES = 12_000, 10


def reference(folder: Path) -> str:
    """Return a link to the page from a page of another folder, if there is one."""
    return f"Measured on digits and on real networks, beside the source: [{TITLE}](../{PAGE})." if page(folder) else ""


def page(folder: Path) -> str:
    """Return the page of the rows that are in a folder; empty without them."""
    rows, times = read(folder / ROWS), read(folder / TIMES)
    if not rows:
        return ""
    digits = [row for row in rows if row["data"] == EXPERIMENT]
    networks = [row for row in rows if row["data"] != EXPERIMENT]
    parts = [
        f"# {TITLE}\n",
        "Labels are made wrong on purpose, so that the truth is known; every ordered pair of classifiers is compared "
        "by every method, and each verdict is held against the comparison on true labels. *Type I*: the candidate is "
        "taken, of the pairs where true labels keep the established one, in percent. *Type II*: the established one "
        "is kept, of those where they take the candidate. In brackets, standard errors by leaving out one classifier "
        "at a time: what other classifiers would have changed. [Measure comparison "
        "methods](../howto/measure-comparison-methods.md) does the same for your data and your method. Made by "
        "`python -m benchmarks.comparison_methods`.\n",
    ]
    parts.append(_gist(rows))
    if digits:
        parts += [_ran(digits, times), _beside(digits), _over_rates(digits), _experts(digits)]
    if networks:
        parts.append(_networks(networks, times))
    parts.append(docs_annotated_images.section(folder))
    if digits:
        parts.append(_why(digits, times))
    return "\n".join(part for part in parts if part)


def _gist(rows: Sequence[Row]) -> str:
    """Say which methods never take a candidate wrongly, and what each misses at the source's noise rate."""
    accuracy = [row for row in rows if row["measure"] == "accuracy" and not row["method"].startswith("cleaned(")]
    wrong = dict.fromkeys(_methods(accuracy), 0)
    for row in accuracy:
        wrong[row["method"]] += int(row["n_type_1"])
    missed = {
        method: fmean(_of(accuracy, "type_2", method=method, noise=str(PUBLISHED_NOISE)) or [0.0]) for method in wrong
    }
    safe = sorted((method for method, count in wrong.items() if not count), key=lambda method: missed[method])
    erring = sorted((method for method, count in wrong.items() if count), key=lambda method: -wrong[method])
    said = []
    if safe:
        told = ", ".join(f"`{method}` {missed[method]:.0f} %" for method in safe)
        said.append(
            "On accuracy these never take a candidate that true labels would not, at any noise rate and on any data "
            f"set here; behind each, what it misses at {100 * PUBLISHED_NOISE:g} % noise, mean over the data sets: "
            f"{told}."
        )
    if erring:
        told = ", ".join(f"`{method}` ({wrong[method]:,} times)" for method in erring)
        said.append(f"These do: {told}.")
    return f"**In short.** {' '.join(said)}\n" if said else ""


# Tables --------------------------------------------------------------------------------------------------------------


def _ran(rows: Sequence[Row], times: Sequence[Row]) -> str:
    """Say how large the experiment was, and how long it took."""
    ran = [row for row in times if row["run"].startswith(EXPERIMENT)]
    if not ran:
        return ""
    one = ran[0]
    return (
        f"The experiment of Benjelloun, section 6.5, on scikit-learn's digits: {int(one['instances']):,} images, "
        f"{int(one['ordered_pairs']):,} ordered pairs, {one['methods']} methods, {one['rates']} noise rates, "
        f"{one['measures']} measures; noise by artificial annotators. It took {float(one['seconds']):.0f} seconds on "
        "two cores, the training of annotators and classifiers included.\n"
    )


def _beside(rows: Sequence[Row]) -> str:
    """Put the rows at the source's noise rate beside its tables."""
    here = [row for row in rows if float(row["noise"]) == PUBLISHED_NOISE]
    if not here:
        return ""
    printed = {(row["measure"], row["method"]): row for row in published()}
    head = ("method", "type I", "type II", "agreement", "source: type I", "type II", "agreement")
    parts = [
        f"## Beside the source, at {100 * PUBLISHED_NOISE:g} % noise\n",
        "The source's columns are those of its tables 6.2 to 6.5. *cleaned(s, e, c)* simulates a cleaning that finds "
        "a wrong label with probability s, suspects a right one with e, and drops its suspects, or with c gives them "
        "their true class with that probability.\n",
    ]
    for measure in _unique(here, "measure"):
        of_measure = [row for row in here if row["measure"] == measure]
        # All cleanings where the source has them; elsewhere they would only repeat each other.
        cleaned = [row for row in of_measure if row["method"].startswith("cleaned")]
        kept = of_measure if measure == "accuracy" else [row for row in of_measure if row not in cleaned]
        body = []
        for row in kept:
            source = printed.get((measure.partition(" ")[0], row["method"]))
            theirs = [f"{source[name]:.2f}" for name in _FIGURES] if source else ["", "", ""]
            body.append([row["method"], *(_with_error(row, name) for name in _FIGURES), *theirs])
        parts.append(
            f"### {measure.capitalize()}\n\nTrue labels keep the established one in {int(of_measure[0]['n_kept']):,} "
            f"pairs, and take the candidate in {int(of_measure[0]['n_taken']):,}.\n\n{table(head, body)}"
        )
    return "\n".join(parts)


_FIGURES = ("type_1", "type_2", "agreement")


def _over_rates(rows: Sequence[Row]) -> str:
    """Show type I and type II over the noise rates, for the methods that are not simulated cleanings."""
    parts = ["## Over noise rates\n\nType I / type II.\n"]
    for measure in _unique(rows, "measure"):
        here = [row for row in rows if row["measure"] == measure and not row["method"].startswith("cleaned(")]
        rates = sorted(_unique(here, "noise"), key=float)
        body = [[method, *(_pair(here, method=method, noise=rate) for rate in rates)] for method in _methods(here)]
        parts.append(
            f"### {measure.capitalize()} over rates\n\n"
            + table(["method", *(f"{100 * float(rate):g} % noise" for rate in rates)], body)
        )
    return "\n".join(parts)


def _experts(rows: Sequence[Row]) -> str:
    """Say what the methods that ask experts cost."""
    asked = [row for row in rows if float(row["labels_asked"] or 0) and row["measure"] == "accuracy"]
    if not asked:
        return ""
    costs = []
    for method in _methods(asked):
        labels = [float(row["labels_asked"]) for row in asked if row["method"] == method]
        low, high = (f"{end:,.0f}" for end in (min(labels), max(labels)))
        costs.append(f"`{method}` {low if low == high else f'{low} to {high}'}")
    of_class = [row for row in rows if row["method"] == "audited" and row["measure"] != "accuracy" and row["type_2"]]
    blunt = ""
    if of_class:
        missed = [float(row["type_2"]) for row in of_class]
        blunt = (
            " On a precision or recall the sample of `audited` holds few images of the class: it misses "
            f"{min(missed):.0f} to {max(missed):.0f} %."
        )
    return (
        f"Expert labels per pair: {', '.join(costs)}. Those of `audited` are one sample, drawn once and shared by all "
        f"pairs; those of `sequential` are asked for each pair anew.{blunt} `label-free` does not read the labels, so "
        "noise does not change it.\n"
    )


def _networks(rows: Sequence[Row], times: Sequence[Row]) -> str:
    """Show the real networks at the source's noise rate."""
    rates = sorted(_unique(rows, "noise"), key=float)
    rate = min(rates, key=lambda one: abs(float(one) - PUBLISHED_NOISE))
    names = _unique(rows, "data")
    pairs = sorted({int(row["ordered_pairs"]) for row in times if not row["run"].startswith(EXPERIMENT)})
    counts = f" ({', '.join(f'{count:,}' for count in pairs)} ordered pairs)" if pairs else ""
    parts = [
        f"## Real networks, at {100 * float(rate):g} % noise\n",
        f"Decisions of up to 23 networks on {len(names)} sets of distorted images{counts}, bundled as "
        "`demele.data.label_set`. *Feature* noise: the networks themselves annotate, so that the labels repeat the "
        "mistakes that many of them make. Type I / type II.\n",
    ]
    for kind in _unique(rows, "noise_kind"):
        here = [
            row
            for row in rows
            if (row["noise_kind"], row["noise"], row["measure"]) == (kind, rate, "accuracy")
            and not row["method"].startswith("cleaned(")
        ]
        body = [[method, *(_pair(here, method=method, data=name) for name in names)] for method in _methods(here)]
        heads = [name.removeprefix("geirhos_16class_").replace("_", " ") for name in names]
        parts.append(f"### {kind.capitalize()} noise\n\n{table(['method', *heads], body)}{_reversed(here)}")
    return "\n".join(parts)


def _reversed(rows: Sequence[Row]) -> str:
    """Name the methods that call the worse of two networks the better one."""
    found = {method: sum(int(row["reversed"]) for row in rows if row["method"] == method) for method in _methods(rows)}
    said = [f"`{method}` ({count})" for method, count in found.items() if count]
    if not said:
        return "\nNo method ever takes the network that true labels show to be the worse one.\n"
    return f"\nPairs that are decided the wrong way round, all sets together: {', '.join(said)}.\n"


# Why -----------------------------------------------------------------------------------------------------------------


def _why(rows: Sequence[Row], times: Sequence[Row]) -> str:
    """Explain the differences from the source, as far as the rows tell."""
    sizes = [int(row["instances"]) for row in times if row["run"].startswith(EXPERIMENT)]
    accuracy = [row for row in rows if row["measure"] == "accuracy" and float(row["noise"]) == PUBLISHED_NOISE]
    points = [*(_size(sizes[0]) if sizes else ()), *_share_taken(accuracy), *_prudent(accuracy)]
    points += [
        "**Other classifiers.** Small scikit-learn models, weakened on purpose and chosen for the variety of their "
        "errors, in place of versions of one convolutional architecture. How many mistakes two of them share, and so "
        "how alike wrong labels hit both, is another matter in each collection of classifiers.",
        "**Out of fold.** Every image is a test image, predicted by a model that was not trained on it, in place of "
        "one test set of a fifth. A classifier is then several models of one recipe, and its accuracy an average of "
        "theirs.",
        "**The noise.** Artificial annotators rank the images here as there, but they trust 1 − error, where the "
        "source's text trusts the error, and they are not the source's networks: which images are hard differs. "
        "`prudent-v2` is told this very ranking, in both.",
        "**Simulated cleanings draw.** What a cleaning finds is drawn at random, once for all pairs, so it moves all "
        "of them together; the standard errors do not contain that. Small differences between cleanings can be such "
        "chance, here and in the source.",
        *_precision(rows, sizes),
    ]
    return "## Why the figures differ\n\n" + "\n".join(f"- {point}" for point in points) + "\n"


def _size(n: int) -> list[str]:
    ends = [score_interval(0.75 * size, size) for size in (n, SOURCE_SIZE)]
    half = [50 * float(high - low) for low, high in ends]
    return [
        f"**Fewer images.** {n:,} here, {SOURCE_SIZE:,} there: the interval of an accuracy of 75 % reaches "
        f"{half[0]:.2f} points to each side here and {half[1]:.2f} there, {sqrt(SOURCE_SIZE / n):.1f} times as wide. "
        "`classic` errs where the wrong labels happen to move two accuracies apart or together, and how far they do "
        "so by chance shrinks with the number of images."
    ]


def _share_taken(rows: Sequence[Row]) -> list[str]:
    """Compare how many pairs the reference takes; the source's follows from its agreement."""
    source = next(row for row in published() if (row["measure"], row["method"]) == ("accuracy", "prudent-v1"))
    if not rows or source["type_1"] or not source["type_2"]:
        return []
    theirs = 100 * (100 - source["agreement"]) / source["type_2"]  # without type I errors only type II ones disagree
    ours = 100 * int(rows[0]["n_taken"]) / (int(rows[0]["n_taken"]) + int(rows[0]["n_kept"]))
    return [
        f"**Another spread of accuracies.** True labels take the candidate in {ours:.1f} % of the pairs here; the "
        f"source's figures imply {theirs:.1f} %. Type II is a share of these pairs: the more of them are far apart, "
        "the smaller it is."
    ]


def _prudent(rows: Sequence[Row]) -> list[str]:
    """Say whether the prudent methods keep their promise, and at what price."""
    found = [row for row in rows if row["method"] in ("prudent-v1", "prudent-v2")]
    if not found:
        return []
    printed = {row["method"]: row for row in published() if row["measure"] == "accuracy"}
    wrong = [f"{row['n_type_1']} of {row['method']}" for row in found if int(row["n_type_1"])]
    kept = (
        "On accuracy they make no type I error"
        if not wrong
        else f"On accuracy they make type I errors ({', '.join(wrong)})"
    )
    price = ", ".join(
        f"`{row['method']}` {float(row['type_2']):.1f} % (source: {printed[row['method']]['type_2']:.1f} %)"
        for row in found
    )
    return [
        f"**The prudent methods.** {kept} at {100 * PUBLISHED_NOISE:g} %; the source's made none. Their type II is "
        f"{price}: it is the share of better candidates whose lead is not larger by what the noise could be worth, so "
        "it depends on how far apart the accuracies are."
    ]


def _precision(rows: Sequence[Row], sizes: Sequence[int]) -> list[str]:
    """Say where the prudent methods err though they are told the noise, which the source's table does not show."""
    bad = [row for row in rows if row["method"] in ("prudent-v1", "prudent-v2") and int(row["n_type_1"])]
    if not bad:
        return ["**The prudent methods** make no type I error at any other rate, and on no other measure."]
    named = "; ".join(
        f"{row['method']}, {row['measure']} at {100 * float(row['noise']):g} % ({int(row['n_type_1'])} of "
        f"{int(row['n_kept']):,} pairs)"
        for row in bad
    )
    few = f"about {sizes[0] / CLASSES:.0f} images" if sizes else "few images"
    return [
        f"**Where the prudent methods err**: {named}. The correction moves an interval whose width was computed at "
        f"the biased value. An interval is narrower nearer to 1, a flattered value lies nearer to 1 than the right "
        f"one, and with {few} of a class that matters: the interval arrives a little too narrow, and just misses the "
        "other one, which the interval on true labels touches. The source's classes are larger. `prudent-v2` moreover "
        "supposes that all wrong labels are among the hardest 10 %, which fails above 10 % noise."
    ]


# Helpers -------------------------------------------------------------------------------------------------------------


def _methods(rows: Sequence[Row]) -> list[str]:
    return _unique(rows, "method")


def _unique(rows: Sequence[Row], name: str) -> list[str]:
    return list(dict.fromkeys(row[name] for row in rows))


def _of(rows: Sequence[Row], name: str, **where: str) -> list[float]:
    """Return a figure of the rows that fit, where they have it."""
    return [float(row[name]) for row in rows if row[name] and all(row[key] == value for key, value in where.items())]


def _pair(rows: Sequence[Row], **where: str) -> str:
    here = [_of(rows, name, **where) for name in ("type_1", "type_2")]
    return " / ".join(f"{fmean(values):.2f}" if values else "–" for values in here) if any(here) else ""


def _with_error(row: Row, name: str) -> str:
    if not row[name]:
        return "–"
    error = row[f"{name}_se"]
    return f"{float(row[name]):.2f}" + (f" ({float(error):.2f})" if error else "")
