"""A characterisation as the page asks it: who is in which row, which curve belongs to what, in which order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demele.core.errors import InputError
from demele.report.page import Html, h, plain

__all__ = ["STATUSES", "BenchView", "Item", "badge", "bench_view", "label_of", "printed_words", "status_key", "tally"]

Item = Mapping[str, Any]

#: Sign and word of every status, in the order in which they are counted.
STATUSES = {
    "holds": ("✓", "holds"),
    "fails": ("✗", "fails"),
    "undecided": ("?", "undecided"),
    "not applicable": ("–", "n/a"),
}
#: What the marks of a printed table mean.
_PRINTED = {
    "y": ("✓", "yes"),
    "x": ("✗", "no"),
    "x*": ("✗*", "no, because of discretisation"),
    "-": ("–", "not measured"),
    "n/a": ("n/a", "not applicable"),
    "": ("", "left empty"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchView:
    """A characterisation with what its parts are found by.

    Attributes
    ----------
    data : mapping
        What ``Characterisation.to_dict()`` returns.
    metrics, scenarios, rows : mapping of str to mapping
        By name. Rows of the user's own metrics come first.
    curves : mapping of (metric, scenario) to mapping
        The curves.
    verdicts : mapping of (row, criterion) to mapping
        The verdicts, without those whose scenarios were not run.
    review, added : list of mapping
        The criteria of the two tables.
    """

    data: Item
    metrics: Mapping[str, Item]
    scenarios: Mapping[str, Item]
    rows: Mapping[str, Item]
    curves: Mapping[tuple[str, str], Item]
    verdicts: Mapping[tuple[str, str], Item]
    review: Sequence[Item]
    added: Sequence[Item]

    @property
    def criteria(self) -> list[Item]:
        """All criteria, those of the review first."""
        return [*self.review, *self.added]

    @property
    def judged_by_review(self) -> bool:
        """Whether a criterion of the review that needs a scenario was run, for a row that is not merely beside."""
        return any(
            (row, item["name"]) in self.verdicts
            for row in self.rows
            if not self.rows[row].get("beside")
            for item in self.review
            if item.get("scenarios")
        )

    @property
    def tables(self) -> list[Sequence[Item]]:
        """The criteria of the tables that are not empty, in the order of the page: what was run comes first."""
        ordered = [self.review, self.added] if self.judged_by_review or not self.added else [self.added, self.review]
        return [criteria for criteria in ordered if self.rows_of(criteria)]

    def rows_of(self, criteria: Sequence[Item]) -> list[Item]:
        """Return the rows of a table; one that only stands beside needs a verdict in it. Empty without any verdict."""
        judged = {name for name in self.rows if self.statuses(name, criteria)}
        return [row for name, row in self.rows.items() if judged and (name in judged or not row.get("beside"))]

    def title(self, metric: str) -> str:
        """Return the name of a metric in print."""
        return str(self.metrics.get(metric, {}).get("title") or metric)

    def scenario_title(self, scenario: str | None) -> str:
        """Return the name of a scenario in print."""
        return str(self.scenarios.get(scenario or "", {}).get("title") or scenario or "")

    def row_title(self, row: str) -> str:
        """Return the name of a row in print."""
        return str(self.rows.get(row, {}).get("title") or row)

    def fewer(self, row: str) -> str | None:
        """Return how many seeds a row was given, of how many rows, where these are fewer than those of the others."""
        members = self.rows.get(row, {}).get("metrics") or ()
        found = (self.metrics.get(name, {}).get("fewer") for name in members)
        return next((str(fewer["text"]) for fewer in found if fewer), None)

    def row_of(self, metric: str) -> str:
        """Return the row that a metric is judged in."""
        return str(self.metrics[metric].get("row") or metric)

    def criterion_title(self, criterion: Item) -> str:
        """Return the name of a criterion in print."""
        return str(criterion.get("title") or criterion["name"])

    def differs(self, row: str, criterion: str) -> bool:
        """Tell whether a verdict of ours is not the printed one."""
        return self.verdicts.get((row, criterion), {}).get("agrees") is False

    def status(self, row: str, criterion: str) -> str | None:
        """Return the status of a cell; None where it was not run."""
        verdict = self.verdicts.get((row, criterion))
        return None if verdict is None else str(verdict["status"])

    def statuses(self, row: str, criteria: Sequence[Item]) -> list[str]:
        """Return the statuses of the cells of a row, without those that were not run."""
        found = (self.status(row, item["name"]) for item in criteria)
        return [status for status in found if status is not None]


def bench_view(characterisation: Item) -> BenchView:
    """Look through a characterisation once.

    Raises
    ------
    InputError
        If it holds no metric.
    """
    data = plain(characterisation)
    metrics = {item["name"]: item for item in data.get("metrics") or ()}
    if not metrics:
        raise InputError(
            "characterisation",
            "expected the dictionary of a characterisation with at least one metric, got none; "
            "give what Characterisation.to_dict() returns",
        )
    criteria = data.get("criteria") or []
    rows = data.get("rows") or [
        {"name": name, "title": item.get("title"), "metrics": [name], "own": item.get("own", False)}
        for name, item in metrics.items()
    ]
    return BenchView(
        data=data,
        metrics=metrics,
        scenarios={item["name"]: item for item in data.get("scenarios") or ()},
        rows={item["name"]: item for item in sorted(rows, key=lambda item: not item.get("own"))},
        curves={(item["metric"], item["scenario"]): item for item in data.get("curves") or ()},
        verdicts={(item["row"], item["criterion"]): item for item in data.get("verdicts") or () if _was_run(item)},
        review=[item for item in criteria if item.get("group", "review") == "review"],
        added=[item for item in criteria if item.get("group", "review") != "review"],
    )


def _was_run(verdict: Item) -> bool:
    """Whether anything was measured for a verdict; where nothing was, more seeds would not decide it."""
    if verdict["status"] == "not yet characterised":
        return False
    return verdict["status"] != "undecided" or any(part.get("conditions") for part in verdict.get("parts") or ())


def tally(statuses: Sequence[str]) -> dict[str, int]:
    """Count statuses, those that do not occur included.

    Examples
    --------
    >>> tally(["holds", "holds", "fails"])
    {'holds': 2, 'fails': 1, 'undecided': 0, 'not applicable': 0}
    """
    return {status: sum(item == status for item in statuses) for status in STATUSES}


def status_key(status: str) -> str:
    """Return the class of a status."""
    return status.replace(" ", "-") if status in STATUSES else "undecided"


def badge(status: str) -> Html:
    """Write a status as a word, before which the style puts its sign in its colour.

    Examples
    --------
    >>> badge("holds")
    '<span class="badge holds">holds</span>'
    """
    return h("span", status, class_=f"badge {status_key(status)}")


def printed_words(printed: str | None) -> tuple[str, str]:
    """Return sign and meaning of a printed verdict."""
    return _PRINTED.get(printed or "", (str(printed), str(printed)))


def label_of(scenario: Item, position: int) -> str:
    """Return what a severity is called."""
    labels, severities = scenario.get("labels") or [], scenario.get("severities") or []
    if position < len(labels):
        return str(labels[position])
    return f"{severities[position]:g}" if position < len(severities) else str(position + 1)
