"""What is said of a verdict on classifiers: one wording for pages and terminals."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from demele.core.labelled import ALL_CORRECT
from demele.core.written import floor_percent
from demele.report.words import (
    DASH,
    Span,
    Text,
    code,
    count,
    digits_for,
    first_names,
    joined,
    level_text,
    measure_word,
    named,
    percent,
    percent_range,
    points,
    points_range,
    span_of,
    strong,
)

if TYPE_CHECKING:
    from demele.evaluation.comparison.methods import MethodSpec

__all__ = [
    "KINDS",
    "OTHER_LABELS",
    "WITH_MORE",
    "assessment_headline",
    "bears_sentence",
    "better_of",
    "bias_words",
    "by_class",
    "by_names",
    "decision_headline",
    "estimate_sentence",
    "estimate_words",
    "expert_sentence",
    "find_estimate",
    "gain",
    "is_nameless",
    "labels_share",
    "measure_of",
    "measure_words",
    "method_facts",
    "method_words",
    "pair_names",
    "prospect_sentence",
    "ranking_headline",
    "turned",
]

Item = Mapping[str, Any]


#: Methods of overlap that compare measures of all classes by their difference, and on which labels.
DIFFERENCES: Final[Mapping[str, str]] = {
    "overlap": "on the given labels",
    "true-labels": "on the true labels",
    "cleaned": "on the cleaned labels",
}
#: Methods that rest on more than the labels.
WITH_MORE = frozenset({"audit", "sequential"})
#: Methods that do not judge by the labels that the disagreements are counted on.
OTHER_LABELS = frozenset({"true-labels", "cleaned", "agreement"})
#: What a corrected interval covers, by its kind.
KINDS: Mapping[str, str] = {
    "sampling": "covering what other instances could have given",
    "worst-case": "with every pattern of wrong labels within the noise supplied covered",
    "shifted": "shifted by the bias, which is known",
    "bias-union": "with every bias within its bounds covered",
    "design": "corrected by an audit, a random sample of expert labels",
}


def measure_of(measure: str, of: object = None, *, method: str = "") -> Text:
    """Name a measure for a sentence: ``accuracy``, ``precision for class cat``."""
    if method == "agreement":
        return Text("agreement with the reference classifier")
    word = measure_word(measure)
    return Text(word) if of is None else Text(word, " for class ", named(of))


def labels_share(labels: int, n: int) -> str:
    """Write some labels as a share, rounded down, and as they are counted: ``2.30% of the labels (276 of 12,000)``."""
    return f"{floor_percent(labels / n)} of the labels ({labels:,} of {n:,})"


def trusts_labels(data: Item) -> bool:
    """Whether a comparison takes all labels as correct."""
    return ALL_CORRECT in (data.get("assumptions") or ())


def method_words(data: Item) -> "MethodSpec | None":
    """Return what is said of a method; of measures that are no proportions, methods of overlap compare otherwise."""
    from demele.evaluation.comparison.methods import METHODS

    spec = METHODS.get(str(data["method"]))
    if spec is None:
        return None
    if spec.name == "worst-case" and trusts_labels(data):
        return replace(
            spec,
            title="McNemar's exact test",
            rule="Both classifiers saw the same instances, so only their disagreements count: McNemar's exact test "
            "compares how often each is right there.",
            promise="Errs at most at its level if all labels are correct.",
        )
    if data["measure"] not in ("macro-f1", "balanced-accuracy", "matthews") or spec.name not in DIFFERENCES:
        return spec
    labels = DIFFERENCES[spec.name]
    return replace(
        spec,
        title=f"Interval of the difference, {labels}",
        rule=f"What each row adds to the difference of the measures, linearised, {labels}; one is better if the "
        "interval of the sum does not hold 0.",
    )


def method_facts(data: Item) -> list[tuple[str, object]]:
    """Return what a comparison method does, and what that is worth, as names and values."""
    spec = method_words(data)
    named = ("Method", Text(code(str(data["method"])), f": {spec.title}" if spec else ""))
    return [named, ("Rule", spec.rule if spec else ""), ("Worth", spec.promise if spec else "")]


# Two classifiers ------------------------------------------------------------------------------------------------------


def decision_headline(data: Item) -> Text:
    """Say which of two classifiers to use, and by how much it is better or why not."""
    baseline, candidate = pair_names(data)
    value, span = gain(data)
    replacing, keeping = ("If all labels are correct, replace ", "If all labels are correct, keep ")
    if not trusts_labels(data):
        replacing, keeping = "Replace ", "Keep "
    if data["verdict"] == "candidate":
        return Text(replacing, baseline, " by ", candidate, ": ", _by(data, value, span), ".")
    if data["verdict"] == "baseline":
        return Text(keeping, baseline, ": ", _by(data, *turned(value, span)), ".")
    worse = "; by the estimate it is worse" if value is not None and value < 0 else ""
    return Text("Keep ", baseline, f": {_means(data)} cannot show that ", candidate, f" is better{worse}.")


def bears_sentence(data: Item, *, why: object = "") -> Text:
    """Say how many wrong labels a verdict bears; nothing if that is not known. ``why`` is put at its end."""
    found = data.get("breakdown")
    if not found or data["method"] == "agreement":
        return Text()
    labels, n = int(found["labels"]), int(found["n"])
    if labels < 0:
        return Text(
            "The given labels alone would not show this, even if all were right: the verdict rests on more than them, "
            "such as an audit."
        )
    if labels == 0:
        return Text("A single wrong label, in the worst place, could overturn this.")
    after = {"cleaned": ", after the cleaning,", "true-labels": ", the true ones,"}.get(str(data["method"]), "")
    why = "" if data["method"] in OTHER_LABELS else why
    bears = strong(labels_share(labels, n))
    if data["method"] in WITH_MORE:
        return Text(
            "The verdict rests on the audit. The given labels without it, none of them replaced, would show the same "
            "as long as at most ",
            *(bears, " are wrong, wherever they are", why, "."),
        )
    return Text("This stands even if ", bears, f"{after} are wrong, wherever they are", why, ".")


def estimate_sentence(data: Item) -> str:
    """Say which interval holds if wrong labels side with neither classifier; nothing if it was not asked for."""
    if not data.get("estimate_interval"):
        return ""
    span = span_of(data["estimate_interval"])
    span = turned(None, span)[1] if data["measure"] == "error" else span
    return (
        f"If wrong labels do not side with one of the two, the difference is in "
        f"{points_range(span, digits_for(span), sign=True)} points. The audit cannot show that they do not, so this "
        "interval decides nothing."
    )


def expert_sentence(data: Item) -> Text:
    """Say how many of the expert's labels may be wrong while a verdict stands; nothing if it rests on no expert."""
    found = data.get("expert_breakdown")
    if not found:
        return Text()
    labels, rows = int(found["labels"]), int(found["disagreements"])
    if labels == 0:
        return Text(f"If the expert is wrong on one of the {rows:,} disagreements, in the worst place, this may fall.")
    bears = strong(f"{labels:,} of the {rows:,} disagreements")
    return Text(
        "The expert may be wrong on ", bears, f" ({percent(labels / rows)}), wherever they are, and this still stands."
    )


def prospect_sentence(data: Item) -> Text:
    """Say how many expert labels would settle an open comparison; nothing if that was not computed."""
    rows = (data.get("details") or {}).get("prospect") or ()
    if not rows:
        return Text()
    clean = next((row["labels"] for row in rows if row.get("certified_if_clean")), None)
    noisy = next((row["labels"] for row in rows if row.get("certified_if_rate")), None)
    most = rows[-1]["labels"]
    if clean is None:
        return Text(f"Even if all of them confirm the given ones, {count(most, 'expert label')} would not settle it.")
    at_rate = " if the labels are as wrong as supplied"
    more = Text("; ", strong(f"{noisy:,}"), at_rate) if noisy is not None else Text()
    if noisy is None and any(row.get("certified_if_rate") is not None for row in rows):
        more = Text(f"; more than {most:,}{at_rate}")
    settled = strong(count(clean, "expert label"))
    return Text(settled, " would settle it if all of them confirm the given ones", more, ".")


def pair_names(data: Item) -> tuple[Text, Text]:
    """Return what a sentence calls the baseline classifier and the candidate."""
    if is_nameless(data):
        return Text("the baseline"), Text("the candidate")
    return named(data["names"][0]), named(data["names"][1])


def is_nameless(data: Item) -> bool:
    """Whether the two were given no names, and so are called by their roles."""
    return tuple(data["names"]) == ("baseline", "candidate")


def measure_words(data: Item) -> Text:
    """Name what a decision is on."""
    return measure_of(str(data["measure"]), data.get("of"), method=str(data["method"]))


def gain(data: Item) -> tuple[float | None, Span]:
    """Return by how much the candidate is better, with its interval: more is better, whatever the measure."""
    value, span = data["difference"], span_of(data.get("interval"))
    return turned(value, span) if data["measure"] == "error" else (value, span)


def turned(value: float | None, span: Span) -> tuple[float | None, Span]:
    """Return a difference and its interval with the other sign."""
    value, high, low = (None if item is None else -item for item in (value, *span))
    return value, (low, high)


def _means(data: Item) -> str:
    extra = {"audit": "the labels and the audit", "sequential": "the labels and the audit so far"}
    return {**extra, "agreement": "agreement with the reference"}.get(str(data["method"]), "the labels")


def _by(data: Item, value: float | None, span: Span) -> Text:
    digits = digits_for(span)
    word = "error is lower" if data["measure"] == "error" else Text(measure_words(data), " is higher")
    return Text("its ", word, f" by {points(value, digits)} points {points_range(span, digits)}")


# Several --------------------------------------------------------------------------------------------------------------


def ranking_headline(data: Item) -> Text:
    """Say how many differences are shown, and who may be the best."""
    pairs = by_names(data["pairs"])
    names = [model["name"] for model in data["models"]]
    every = [(first, second) for place, first in enumerate(names) for second in names[place + 1 :]]
    shown = sum(better_of(pairs, *pair) is not None for pair in every)
    first = [model["name"] for model in data["models"] if model["best_rank"] == 1]
    if len(first) == 1:
        top = Text(named(first[0]), " is shown to be the best")
    elif len(first) == len(names):
        top = Text("any of them may be the best")
    elif len(first) > 6:
        top = Text("the best is one of ", first_names(first, 5))
    else:
        top = Text("the best is one of ", joined(map(named, first)))
    return Text(f"Of {count(len(every), 'difference')}, {shown:,} {'is' if shown == 1 else 'are'} shown; ", top, ".")


def by_names(rows: Iterable[Item] | None) -> dict[tuple[str, str], Item]:
    """Return the pairs of a ranking by the names (baseline, candidate)."""
    return {(row["baseline"], row["candidate"]): row for row in rows or ()}


def better_of(pairs: Mapping[tuple[str, str], Item], first: str, second: str) -> str | None:
    """Return who of two is shown to be better, if any."""
    for baseline, candidate in ((first, second), (second, first)):
        row = pairs.get((baseline, candidate))
        if row is not None and row["verdict"] != "inconclusive":
            return baseline if row["verdict"] == "baseline" else candidate
    return None


# One classifier -------------------------------------------------------------------------------------------------------


def assessment_headline(data: Item) -> str:
    """Say how often a classifier predicts the label, and what its accuracy may be on right labels."""
    accuracy = find_estimate(data, "accuracy")
    instances = count(data["n"], "instance")
    if accuracy is None:
        return f"Measures on {instances}."
    digits, right = digits_for(span_of(accuracy.get("interval"))), span_of(accuracy.get("corrected"))
    agrees = f"It predicts the given label for {percent(accuracy.get('value'), digits)} of {instances}"
    if right[0] is None:
        return f"{agrees}."
    sure = f"with {level_text(data['level'])} confidence, its accuracy on right labels lies in"
    return f"{agrees}; {sure} {percent_range(right, digits_for(right))}."


def find_estimate(data: Item, measure: str) -> Item | None:
    """Return the estimate of a measure over all classes, if there is one."""
    return next((item for item in data["estimates"] if item["measure"] == measure and item.get("of") is None), None)


def by_class(data: Item) -> tuple[list[Item], dict[Any, dict[str, Item]]]:
    """Return the estimates of all classes, and the others by class and measure.

    Means over classes are of all, as "macro" of recall; a class may be called "macro" too, and then comes first.
    """
    whole: list[Item] = []
    found: dict[Any, dict[str, Item]] = {}
    for item in data["estimates"]:
        of = item.get("of")
        own = found.setdefault(of, {}) if of in (data.get("classes") or ()) else None
        if own is None or item["measure"] in own:
            whole.append(item)
        else:
            own[item["measure"]] = item
    return whole, found


def bias_words(bias: Sequence[float | None] | None) -> str:
    """Write a bias, or its bounds, in points."""
    if bias is None or bias[0] is None or bias[1] is None:
        return DASH
    low, high = bias
    return points(low, sign=True) if low == high else points_range((low, high), sign=True)


def estimate_words(item: Item) -> Text:
    """Name what an estimate of all classes is of."""
    measure = measure_of(str(item["measure"]))
    return measure if item.get("of") is None else Text(measure, f", {item['of']} average")
