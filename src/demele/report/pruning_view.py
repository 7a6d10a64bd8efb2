"""A study of pruning as pages and terminals ask it: which claims hold, in words and in figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demele.report.page import of_kind
from demele.report.words import DASH, Text, count, joined, named, percent, plural, points, points_range

__all__ = [
    "ANSWERS",
    "PruningView",
    "answer",
    "answer_words",
    "difference_words",
    "headline",
    "pruning_view",
    "summary",
]

Item = Mapping[str, Any]

#: Of all label noises together.
ALL = "all"
#: What rows say of a claim.
ANSWERS = {
    "shown": "shown",
    "opposite": "the opposite is shown",
    "open": "not resolved",
    "alike": "no difference seen",
    "differs": "a difference is shown",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PruningView:
    """What ``PruningStudy.to_dict()`` returns, with what its parts are found by.

    Attributes
    ----------
    data : mapping
    noises : tuple of str
    claims : mapping of str to mapping
        Those that the rows say something about, by name.
    differences : mapping of (claim, noise) to mapping
    fabrics : mapping of (noise, configuration) to list
        One for each seed.
    configurations : tuple of str
        The whole fabric first.
    """

    data: Item
    noises: tuple[str, ...]
    claims: Mapping[str, Item]
    differences: Mapping[tuple[str, str], Item]
    fabrics: Mapping[tuple[str, str], list[Item]]
    configurations: tuple[str, ...]

    def overall(self, claim: str) -> Item:
        """Return the difference of all noises together; of the only one, if there is one."""
        found = self.differences.get((claim, ALL))
        return next(own for (name, _), own in self.differences.items() if name == claim) if found is None else found


def pruning_view(data: Item) -> PruningView:
    """Return the view of a study.

    Raises
    ------
    InputError
        If it is something else.
    """
    study = of_kind(data, "pruning study")
    found = {(one["claim"], one["noise"]): one for one in study["differences"]}
    said = {claim for claim, _ in found}
    fabrics: dict[tuple[str, str], list[Item]] = {}
    for one in study["fabrics"]:
        fabrics.setdefault((one["noise"], one["configuration"]), []).append(one)
    return PruningView(
        data=study,
        noises=tuple(study["noises"]),
        claims={one["name"]: one for one in study["claims"] if one["name"] in said},
        differences=found,
        fabrics=fabrics,
        configurations=tuple(dict.fromkeys(one["configuration"] for one in study["fabrics"])),
    )


def labels_words(noise: str) -> str:
    """Write what labels are like under a noise, or under all of them.

    Examples
    --------
    >>> labels_words("none"), labels_words("visibility 10%"), labels_words("uniform 20%")
    ('no label wrong', '10% wrong, where hard to see', '20% wrong, anywhere')
    """
    kind, _, rate = noise.partition(" ")
    known = {"none": "no label wrong", ALL: "all together", "uniform": f"{rate} wrong, anywhere"}
    return {**known, "visibility": f"{rate} wrong, where hard to see"}.get(kind, noise)


def answer(claim: Item, difference: Item) -> str:
    """Return which of :data:`ANSWERS` a difference gives to a claim.

    Examples
    --------
    >>> answer({"expected": "more"}, {"verdict": "unresolved"}), answer({"expected": "equal"}, {"verdict": "less"})
    ('open', 'opposite')
    """
    expected, verdict = claim["expected"], difference["verdict"]
    if verdict == "unresolved":
        return "alike" if expected == "equal" else "open"
    if not expected:
        return "differs"
    return "shown" if verdict == expected else "opposite"


def difference_words(difference: Item) -> str:
    """Write a difference with its interval, in points."""
    span = (difference["low"], difference["high"])
    return f"{points(difference['mean'], sign=True)} {points_range(span, sign=True)}".strip()


def answer_words(claim: Item, difference: Item) -> Text:
    """Write what the rows say of a claim, and what it would take where they do not."""
    found = answer(claim, difference)
    if found == "alike":
        low, high = difference["low"], difference["high"]
        most = None if low is None or high is None else max(abs(low), abs(high))
        if most is None:
            return Text("one seed says nothing of a spread")
        return Text(f"no difference seen; it may be as large as {points(most)} points")
    if found == "open":
        return Text(f"not resolved{_seeds_words(difference)}")
    return Text(ANSWERS[found], "" if difference["told"] else ", significant before correction only")


def _seeds_words(difference: Item) -> str:
    if difference["low"] is None:
        return ": one seed says nothing of a spread"
    needed = difference["seeds_needed"]
    return f"; about {needed:,} seeds would, if it is as seen" if needed else "; more than 1,000 seeds would not do"


def headline(view: PruningView) -> Text:
    """Say first how many published claims these rows show, and how many stay significant after correction."""
    published = [(claim, view.overall(name)) for name, claim in view.claims.items() if claim["expected"]]
    told = [answer(claim, own) for claim, own in published]
    significant = [answer(claim, own) for claim, own in published if own["told"]]
    if not told:
        return Text("These rows say nothing yet of what print claims.")
    words = {
        "shown": ("is shown", "are shown"),
        "opposite": ("is contradicted", "are contradicted"),
        "alike": ("of no difference is not contradicted", "of no difference are not contradicted"),
        "open": ("is not resolved", "are not resolved"),
    }
    parts = [plural(told.count(kind), *words[kind]) for kind in words if told.count(kind)]
    kept = [
        f"{significant.count(kind) or 'none'} of the {told.count(kind)} {word}"
        for kind, word in (("shown", "shown"), ("opposite", "contradicted"))
        if kind in told
    ]
    after = Text(" After correction for all claims (Holm), ", joined(kept), " stay significant.") if kept else ""
    return Text(
        f"Of {count(len(told), 'published claim')} about pruning, ", joined(parts), ", each by its own interval.", after
    )


def beside_words(view: PruningView) -> Text:
    """Say which differences stay significant after correction for all claims."""
    told = [named(claim["title"]) for name, claim in view.claims.items() if view.overall(name)["told"]]
    if not told:
        return Text("No difference is significant after correction for all claims (Holm, 5%): more seeds are needed.")
    return Text("Significant after correction for all claims (Holm, 5%): ", joined(told, last="; ", between="; "), ".")


def summary(view: PruningView) -> list[Text]:
    """Say what is shown, what is contradicted, what stays open, and what stands beside all others."""
    groups: dict[str, list[object]] = {}
    for name, claim in view.claims.items():
        found = answer(claim, view.overall(name))
        kind = found if claim["expected"] or found == "differs" else "open control"
        groups.setdefault(kind, []).append(_told(claim, view.overall(name)))
    titles = {
        "shown": "Shown: ",
        "opposite": "Contradicted: ",
        "alike": "No difference seen where print sees none: ",
        "open": "Not resolved: ",
        "differs": "Of controls and criteria that print does not have: ",
        "open control": "Of these, not resolved: ",
    }
    sentences = [
        Text(titles[kind], joined(groups[kind], last="; ", between="; "), ".") for kind in titles if kind in groups
    ]
    if not sentences:
        return [_errors(view)]
    unit = Text(
        "Differences are in points of error on right labels where nothing else is said; below 0, the first is better."
    )
    return [unit, *sentences, beside_words(view), _errors(view)]


def _told(claim: Item, difference: Item) -> Text:
    printed = f", in print: {claim['says']}" if claim["expected"] else ""
    return Text(named(claim["title"]), f" {difference_words(difference)}{printed}")


def _errors(view: PruningView) -> Text:
    means = [(noise, mean_of(view.fabrics.get((noise, "whole"), []), "error")) for noise in view.noises]
    known = [f"{percent(value)} ({labels_words(noise)})" for noise, value in means if value is not None]
    return Text("Error of whole fabrics on right labels: ", joined(known), ".") if known else Text("")


def mean_of(fabrics: Sequence[Item], name: str) -> float | None:
    """Return the mean of a figure over seeds; None if one has none."""
    values = [one[name] for one in fabrics]
    return None if not values or None in values else sum(values) / len(values)


def error_of(fabrics: Sequence[Item], name: str) -> float | None:
    """Return the standard error of a mean over seeds; None of one seed."""
    values = [one[name] for one in fabrics]
    if len(values) < 2 or None in values:
        return None
    mean = sum(values) / len(values)
    return float((sum((one - mean) ** 2 for one in values) / (len(values) - 1) / len(values)) ** 0.5)


def with_error(fabrics: Sequence[Item], name: str) -> str:
    """Write a mean in percent with its standard error.

    Examples
    --------
    >>> with_error([{"error": 0.1}, {"error": 0.12}], "error"), with_error([{"error": None}], "error")
    ('11.0 ± 1.0', '–')
    """
    mean, error = mean_of(fabrics, name), error_of(fabrics, name)
    if mean is None:
        return DASH
    return points(mean) if error is None else f"{points(mean)} ± {points(error)}"
