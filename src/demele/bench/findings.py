"""What a run of the bench found: curves of every metric on every scenario, judged by criteria."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from demele.bench.criteria import REVIEW_CRITERIA, Criterion, added_criteria
from demele.bench.curves import Curve
from demele.bench.facts import is_model
from demele.bench.scenario import Candidate, Scenario
from demele.bench.verdicts import Verdict, judged
from demele.core.version import __version__
from demele.metrics.catalogue import CATALOGUE

__all__ = ["Findings", "Row", "row_name"]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the verdict table: a metric, or the three scores of one DCI model.

    Attributes
    ----------
    name, title : str
        Names in code and on pages.
    members : tuple of Candidate
        The scores that share it.
    """

    name: str
    title: str
    members: tuple[Candidate, ...]

    @property
    def own(self) -> bool:
        """Whether the metric is not one of demele's."""
        return self.members[0].function is not None or self.members[0].name not in CATALOGUE


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Findings:
    """What was measured, and what follows from it: see :class:`demele.bench.Characterisation`, which also shows it."""

    candidates: tuple[Candidate, ...]
    scenarios: tuple[Scenario, ...]
    protocol: str
    n_samples: int
    level: float
    seeds: Mapping[str, int]
    slow_seeds: Mapping[str, int]
    curves: Mapping[tuple[str, str], Curve]
    seconds: Mapping[tuple[str, str], tuple[NDArray[np.float64], ...]]
    rows_of: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    fewer_rows: Mapping[str, int] = field(default_factory=dict)
    drifting: Mapping[str, str] = field(default_factory=dict)
    version: str = __version__

    def rows_for(self, metric: str) -> int:
        """Return how many rows the representations have that a metric was measured on."""
        return self.fewer_rows.get(metric, self.n_samples)

    def fewer(self, metric: str) -> tuple[int, int] | None:
        """Return how many seeds a metric was given, of how many rows, if these are fewer than those of the others.

        The number of seeds is that of most points of its curves. None as well where no rows are stored.
        """
        if metric not in self.fewer_rows:
            return None
        found = [curve for (name, _), curve in self.curves.items() if name == metric]
        counts = Counter(n + failed for curve in found for n, failed in zip(curve.n, curve.failed, strict=True))
        del counts[0]  # where nothing is stored, or a metric takes no part
        if not counts:
            return None
        ((most, _),) = counts.most_common(1)
        return most, self.fewer_rows[metric]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Lines of the verdict table, your own metrics first."""
        members: dict[str, list[Candidate]] = {}
        for item in self.candidates:
            members.setdefault(row_name(item), []).append(item)
        rows = [Row(name, _row_title(own), tuple(own)) for name, own in members.items()]
        return tuple(sorted(rows, key=lambda row: not row.own))

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """What the metrics are judged by: those of the review whose scenarios were run, then the further scenarios."""
        run = {item.name for item in self.scenarios}
        asked = [item for item in REVIEW_CRITERIA if any(part.scenario in run for part in item.parts)]
        # what is declared belongs to the review's table, and is no table by itself
        declared = [item for item in REVIEW_CRITERIA if item.declared and asked]
        return (*asked, *declared, *added_criteria(self.scenarios))

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Every row judged by every criterion."""
        by_name = {item.name: item for item in self.scenarios}
        return tuple(
            judged(row.name, row.members, criterion, by_name, self.curves, self.level)
            for row in self.rows
            for criterion in self.criteria
        )


def row_name(item: Candidate) -> str:
    """Return the row that a metric is shown in: the scores of one model share one."""
    return item.group if item.function is None and is_model(item.group) else item.name


def _row_title(members: Sequence[Candidate]) -> str:
    title = members[0].title
    return title.rpartition(" ")[0] if row_name(members[0]) != members[0].name else title
