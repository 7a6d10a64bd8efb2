"""A measurement of comparison methods as pages and pictures ask it: who is shown, in which colour, at which rate."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demele.core.errors import InputError
from demele.report.page import of_kind

__all__ = ["CELLS", "CLEANED", "ComparisonView", "MethodLook", "cells_of", "comparison_view", "slugs"]

Item = Mapping[str, Any]

#: What a cell says, by its number: sign, short name, meaning. 0 is a model beside itself.
CELLS: tuple[tuple[str, str, str], ...] = (
    ("", "same classifier", "the same classifier"),
    ("E", "both keep the baseline", "as on true labels"),
    ("C", "both take the candidate", "as on true labels"),
    ("I", "type I error", "the method takes the candidate; on true labels the baseline is kept"),
    ("II", "type II error", "the method keeps the baseline; on true labels the candidate is taken"),
)
#: Rate at which a page opens, if it was measured.
_USUAL_RATE = 0.05
#: Colours of the families of the library; functions of users get the others in turn.
_COLOURS = {
    "overlap": 1,
    "worst-case-overlap": 0,
    "hard-rows": 5,
    "worst-case": 2,
    "audit": 3,
    "sequential": 6,
    "agreement": 7,
    "cleaned": 4,
}
#: Simulated cleanings are many variants of one method: they are counted, not named.
CLEANED = "cleaned"
#: At most so many methods of one family are shown before anything is chosen.
_OF_ONE_FAMILY = 2
_MOST_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodLook:
    """One method as it is drawn: colour by family, line and mark by its place in the family.

    ``main`` methods are those shown before anything is chosen.
    """

    name: str
    title: str
    told: str
    family: str
    colour: int
    variant: int
    main: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonView:
    """A measurement with what its parts are found by.

    Attributes
    ----------
    data : mapping
        What ``MethodComparison.to_dict()`` returns.
    methods : mapping of str to MethodLook
        By name, in the order of the measurement.
    rates : tuple of float
        Noise rates as asked for.
    realised : mapping of float to float
        Shares of wrong labels that were made.
    rate : float
        The one shown first.
    measures : tuple of str
    tallies : mapping of (measure, rate, method) to mapping
    matrices : mapping of (measure, rate, method) to str
        One digit for each cell, row by row.
    printed : mapping of (measure without its class, rate, method) to mapping
        What the source printed.
    by_accuracy : tuple of int
        The classifiers, the worst first.
    """

    data: Item
    methods: Mapping[str, MethodLook]
    rates: tuple[float, ...]
    realised: Mapping[float, float]
    rate: float
    measures: tuple[str, ...]
    tallies: Mapping[tuple[str, float, str], Item]
    matrices: Mapping[tuple[str, float, str], str]
    printed: Mapping[tuple[str, float, str], Item]
    by_accuracy: tuple[int, ...]

    @property
    def m(self) -> int:
        """The number of classifiers."""
        return len(self.data["names"])

    @property
    def reference(self) -> str:
        """What verdicts are held against, by its short name."""
        return str((self.data.get("reference") or {}).get("name") or "overlap")

    @property
    def reference_text(self) -> str:
        """What verdicts are held against, in words."""
        return str(
            (self.data.get("reference") or {}).get("is") or "the overlap of the two score intervals on true labels"
        )

    def main(self) -> list[MethodLook]:
        """Return the methods that are shown before anything is chosen."""
        return [method for method in self.methods.values() if method.main]

    def source(self, measure: str, rate: float, method: str) -> Item | None:
        """Return what the source printed of a method, if it did."""
        return self.printed.get((measure.partition(" of ")[0], round(rate, 9), method))

    def error_free(self, measure: str) -> list[str]:
        """Return the methods without a type I error at any rate, the smallest type II error first, cleanings last.

        A method counts only if there were pairs on which it could have erred.
        """
        found = []
        for name in self.methods:
            rows = [self.tallies.get((measure, rate, name)) for rate in self.rates]
            judged = [row for row in rows if row is not None and row["n_kept"]]
            if judged and not any(row["n_type_1"] for row in judged):
                found.append(name)
        return sorted(found, key=lambda name: (self.methods[name].family == CLEANED, self._price(measure, name)))

    def _price(self, measure: str, name: str) -> float:
        value = (self.tallies.get((measure, self.rate, name)) or {}).get("type_2")
        return 101.0 if value is None else float(value)

    def with_source(self, measure: str, rate: float) -> bool:
        """Whether the source printed anything of the methods measured, at this rate."""
        return any(self.source(measure, rate, method) is not None for method in self.methods)


def comparison_view(content: Any) -> ComparisonView:
    """Look through a measurement once.

    Raises
    ------
    InputError
        If it is not the dictionary of a measurement, or holds no method, rate or classifier.
    """
    data = of_kind(content, "method comparison")
    for key in ("methods", "columns", "measures", "names"):
        if not data.get(key):
            raise InputError("content", f"expected at least one of {key}, got none")
    m = len(data["names"])
    matrices = {(item["measure"], item["noise"], item["method"]): item["cells"] for item in data.get("matrices") or ()}
    for whose, cells in matrices.items():
        if len(cells) != m * m or not re.fullmatch("[0-4]*", cells):
            raise InputError(
                "content", f"expected {m} x {m} digits 0 to 4 in the matrix of {whose[2]!r}, got {len(cells)} signs"
            )
        if cells[:: m + 1] != "0" * m or cells.count("0") != m:
            raise InputError("content", f"expected 0 on the diagonal and only there in the matrix of {whose[2]!r}")
    rates = tuple(column["wanted"] for column in data["columns"])
    accuracies = data["accuracies"]
    return ComparisonView(
        data=data,
        methods=_looks(data["methods"]),
        rates=rates,
        realised={column["wanted"]: column["rate"] for column in data["columns"]},
        rate=min(rates, key=lambda rate: (abs(rate - _USUAL_RATE), rate)),
        measures=tuple(data["measures"]),
        tallies={(item["measure"], item["noise"], item["method"]): item for item in data.get("tallies") or ()},
        matrices=matrices,
        printed={(row["measure"], round(row["noise"], 9), row["method"]): row for row in data.get("published") or ()},
        by_accuracy=tuple(sorted(range(m), key=lambda model: (accuracies[model], model))),
    )


def _looks(methods: Sequence[Item]) -> dict[str, MethodLook]:
    named = [str(item["name"]) for item in methods]
    families = {name: _family(name) for name in named}
    taken = {_COLOURS[family] for family in families.values() if family in _COLOURS}
    free = [colour for colour in range(8) if colour not in taken] or list(range(8))
    seen: dict[str, int] = {}
    looks: dict[str, MethodLook] = {}
    shown = foreign = 0
    for name, item in zip(named, methods, strict=True):
        family = families[name]
        variant = place = seen.get(family, 0)
        seen[family] = place + 1
        if family in _COLOURS:
            colour = _COLOURS[family]
        else:  # marks other than those of the library's methods, in case that the colour is one of theirs
            colour, variant, foreign = free[foreign % len(free)], 2 + foreign // len(free), foreign + 1
        main = place < _OF_ONE_FAMILY and shown < _MOST_SHOWN
        shown += main
        looks[name] = MethodLook(
            name=name,
            title=str(item.get("title") or name),
            told=str(item.get("told") or ""),
            family=family,
            colour=colour,
            variant=variant,
            main=main,
        )
    return looks


def _family(name: str) -> str:
    """Return the method without its options; a function of a user is its own family."""
    before = name.partition("(")[0].strip()
    return before if before in _COLOURS else name


def cells_of(view: ComparisonView, key: tuple[str, float, str], order: Sequence[int]) -> list[str]:
    """Return the rows of a matrix, one digit for each cell, classifiers in the order given."""
    cells, m = view.matrices[key], view.m
    return ["".join(cells[row * m + column] for column in order) for row in order]


def slugs(names: Sequence[str]) -> dict[str, str]:
    """Return names that are safe in a file's name; different names get different ones.

    Examples
    --------
    >>> slugs(["recall of a/b", "recall of a b", "!"])
    {'recall of a/b': 'recall-of-a-b', 'recall of a b': 'recall-of-a-b-2', '!': 'measure-3'}
    """
    found: dict[str, str] = {}
    for place, name in enumerate(names, start=1):
        slug = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40] or f"measure-{place}"
        found[name] = f"{slug}-{place}" if slug in found.values() else slug
    return found
