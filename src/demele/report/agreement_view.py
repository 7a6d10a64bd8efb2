"""Agreement between metrics as pages and terminals ask it: which matrices there are, and what to say first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demele.metrics.catalogue import CATALOGUE
from demele.report.page import of_kind
from demele.report.words import Text, count, joined, named, number, plural

__all__ = [
    "TITLES",
    "AgreementView",
    "agreement_view",
    "headline",
    "interval_words",
    "short_tau",
    "summary",
    "title_of",
]

Item = Mapping[str, Any]

#: What each matrix is of.
TITLES = {
    "all": "All configurations",
    "without collapsed": "Without collapsed ones",
    "permuted": "Permuted factors (null)",
    "within groups": "Within groups",
}
MEANINGS = {
    "all": "",
    "without collapsed": "Scores of collapsed codes are noise, and agree with each other about that.",
    "permuted": "The same codes scored against the factors of other rows: agreement that needs no information.",
    "within groups": "Each metric's mean rank within a group is removed first, such as that of a number of codes.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementView:
    """What ``Agreement.to_dict()`` returns, with what its parts are found by.

    Attributes
    ----------
    data : mapping
    metrics : tuple of str
        In the order given.
    by_family : tuple of str
        The metrics that demele knows by family, then the others.
    clustered : tuple of str
        Those that agree stand together.
    matrices : mapping of str to mapping
        By name; each with its ``pairs`` by names.
    printed : mapping of str to mapping
        What is in print of these metrics, by title.
    """

    data: Item
    metrics: tuple[str, ...]
    by_family: tuple[str, ...]
    clustered: tuple[str, ...]
    matrices: Mapping[str, Mapping[frozenset[str], Item]]
    printed: Mapping[str, Mapping[frozenset[str], Item]]

    def told(self, verdict: str, matrix: str = "all") -> int:
        """Count the pairs of which something is said."""
        return sum(pair["verdict"] == verdict for pair in self.matrices[matrix].values())


def agreement_view(data: Any) -> AgreementView:
    """Look through the dictionary of an agreement once.

    Raises
    ------
    InputError
        If it is none.
    """
    data = of_kind(data, "agreement")
    metrics = tuple(data["metrics"])
    family = {name: place for place, name in enumerate(CATALOGUE)}
    return AgreementView(
        data=data,
        metrics=metrics,
        by_family=tuple(sorted(metrics, key=lambda name: (family.get(name, len(family)), metrics.index(name)))),
        clustered=tuple(metrics[place] for place in data["order"]),
        matrices={one["name"]: _by_names(one["pairs"]) for one in data["matrices"]},
        printed={one["title"]: _by_names(one["pairs"]) for one in data["published"]},
    )


def _by_names(pairs: Sequence[Item]) -> dict[frozenset[str], Item]:
    return {frozenset((pair["first"], pair["second"])): pair for pair in pairs}


def title_of(metric: str) -> Text:
    """Return what a metric is called; one that demele does not know as it is named."""
    return named(CATALOGUE[metric].title if metric in CATALOGUE else metric)


def short_tau(value: float | None) -> str:
    """Write a tau with two digits, without the zero before the point.

    Examples
    --------
    >>> short_tau(0.734), short_tau(-0.06), short_tau(1.0), short_tau(0.001), short_tau(None)
    ('.73', '−.06', '1.0', '.00', '–')
    """
    if value is None:
        return number(None)
    text = number(value, 2)
    return text[:-1] if text.endswith("1.00") else text.replace("0.", ".", 1)


def interval_words(pair: Item) -> str:
    """Write a tau with its interval.

    Examples
    --------
    >>> interval_words({"tau": 0.5, "low": 0.31, "high": 0.66}), interval_words({"tau": None})
    ('.50 [.31, .66]', '–')
    """
    if pair.get("tau") is None or pair.get("low") is None:
        return short_tau(pair.get("tau"))
    return f"{short_tau(pair['tau'])} [{short_tau(pair['low'])}, {short_tau(pair['high'])}]"


# What is said first --------------------------------------------------------------------------------------------------


def headline(view: AgreementView) -> Text:
    """Return how many pairs of metrics agree, and how many cannot be told from chance."""
    pairs = view.matrices["all"].values()
    clear, untold = view.told("significant"), view.told("not significant")
    against = sum(pair["verdict"] == "significant" and pair["tau"] < 0 for pair in pairs)
    alike = clear - against
    opposed = f" and {against} in opposite order" if against else ""
    return Text(
        f"Of {count(len(pairs), 'pair')} of metrics, {alike} {'ranks' if alike == 1 else 'rank'} the configurations "
        f"alike{opposed}, told from 0 beside all others; of {untold} nothing can be told from "
        f"{count(len(view.data['configurations']), 'configuration')}."
    )


def summary(view: AgreementView) -> list[Text]:
    """Return further sentences: the strongest pairs, what collapsed models and chance do, likeness to print."""
    return [text for text in (*_strongest(view), _alone(view), _without(view), _null(view), *_likeness(view)) if text]


def _strongest(view: AgreementView) -> list[Text]:
    clear = [pair for pair in view.matrices["all"].values() if pair["verdict"] == "significant"]
    found = []
    for said, sign in (("Most alike: ", 1), ("Most opposite: ", -1)):
        first = sorted((pair for pair in clear if sign * pair["tau"] > 0), key=lambda pair: -abs(pair["tau"]))[:3]
        words = [
            Text(title_of(one["first"]), " and ", title_of(one["second"]), f" {interval_words(one)}") for one in first
        ]
        found += [Text(said, joined(words, last="; ", between="; "), ".")] if words else []
    return found


def _alone(view: AgreementView) -> Text:
    alone = view.told("significant alone")
    if not alone:
        return Text("")
    return Text(
        f"{plural(alone, 'pair', 'pairs')} would be told from 0 alone, but not beside all others: among so many, some "
        "look so by chance."
    )


def _without(view: AgreementView) -> Text:
    if "without collapsed" not in view.matrices:
        return Text("")
    whole, kept = view.told("significant"), view.told("significant", "without collapsed")
    left_out = len(view.data["configurations"]) - next(
        one["configurations"] for one in view.data["matrices"] if one["name"] == "without collapsed"
    )
    if not left_out:
        return Text("No configuration is collapsed.")
    collapsed = count(left_out, "collapsed configuration")
    return Text(f"Without the {collapsed}, whose scores are noise, {kept} pairs are clear instead of {whole}.")


def _null(view: AgreementView) -> Text:
    if "permuted" not in view.matrices:
        return Text("")
    within = sum(pair["within_null"] for pair in view.matrices["all"].values())
    sizes = {one["name"]: _size(one["mean_size"]) for one in view.data["matrices"]}
    known = any(pair["low"] is not None for pair in view.matrices["permuted"].values())
    clear = sum(pair["within_null"] and pair["verdict"] == "significant" for pair in view.matrices["all"].values())
    of_clear = f", {clear} of the clear ones among them" if clear else ""
    explains = f" It would explain {plural(within, 'pair', 'pairs')} of the real ones{of_clear}." if known else ""
    return Text(
        f"Against permuted factors the mean size of tau is {sizes['permuted']}: agreement without information; against "
        f"the factors it is {sizes['all']}.{explains}"
    )


def _size(size: Item) -> str:
    interval = "" if size["low"] is None else f" [{number(size['low'], 2)}, {number(size['high'], 2)}]"
    return number(size["value"], 2) + interval


def _ends(row: Item) -> str:
    return "" if row["r_low"] is None else f" [{number(row['r_low'], 2)}, {number(row['r_high'], 2)}]"


def _likeness(view: AgreementView) -> list[Text]:
    found = []
    for row in view.data["likeness"]:
        if row["matrix"] != "all" or row["disputed"] == "left out" or row["r"] is None:
            continue
        title = next(one["title"] for one in view.data["published"] if one["name"] == row["published"])
        found.append(
            Text(
                f"With what is printed for {title}, the taus of {row['pairs']} pairs correlate by "
                f"{number(row['r'], 2)}{_ends(row)}."
            )
        )
    return found
