"""What is known of given scores of rows, and the means of systems and of their differences that follow."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from demele.classifiers.expert_errors import ExpertErrors
from demele.classifiers.mean_scores import (
    MeanScore,
    audited_mean,
    audited_means,
    bounded_mean,
    scored_rows,
    trusted_mean,
)
from demele.classifiers.row_scores import RowScores, ScoreAudit, stacked
from demele.core.arrays import Rows
from demele.core.errors import NotEnoughData

#: Scores of rows of pairs that are held at once.
MOST_CELLS = 1 << 21


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of given scores: true scores of some rows, the largest share of wrong ones, or that all are right.

    Attributes
    ----------
    audit : ScoreAudit or None
    rate : float
    inference : {"population", "test_set"}
    exact, expert_error, expert_errors
        As in :func:`audited_mean`.
    """

    audit: ScoreAudit | None = None
    rate: float = 0.0
    inference: Literal["population", "test_set"] = "population"
    exact: bool = False
    expert_error: float = 0.0
    expert_errors: ExpertErrors = "adversarial"

    def means(self, systems: Mapping[str, RowScores], *, level: float, gate: float | None) -> list[MeanScore]:
        """Return the mean of each system."""
        if self.audit is None:
            every = _together(systems)
            parts = list(systems.values()) if every is None else [every]
            found = [
                bounded_mean(one, self.rate, level=level, inference=self.inference)
                if self.rate
                else trusted_mean(one, level=level, gate=gate)
                for one in parts
            ]
            return found if every is None else found[0].parts()
        means = []
        for name, one in systems.items():
            try:
                means.append(audited_mean(one, self.audit.of(name), level=level, gate=gate, **self._audited()))
            except NotEnoughData as error:
                raise NotEnoughData("audit", f"{name}: {error.problem}", error.remedy) from error
        return means

    def differences(self, systems: Mapping[str, RowScores], pairs: tuple[Rows, Rows], *, level: float) -> MeanScore:
        """Return the differences of pairs, each on the rows that both have, NaN without any; p-values are two-sided."""
        return MeanScore.joined([self._differences(*block, level) for block in self.blocks(systems, pairs)])

    def blocks(
        self, systems: Mapping[str, RowScores], pairs: tuple[Rows, Rows]
    ) -> Iterator[tuple[RowScores, tuple[str, ...], tuple[Rows, Rows]]]:
        """Yield systems that are stacked, with their names and pairs of them, as many at once as memory should hold."""
        names, held, every = tuple(systems), list(systems.values()), _together(systems)
        judged = np.isnan([] if self.audit is None else [self.audit.true_of(name) for name in names])
        if every is not None and (judged == judged[:1]).all():
            step = max(1, MOST_CELLS // every.n)
            if self.audit is None and not self.rate:
                step = max(pairs[0].size, 1)
            for start in range(0, pairs[0].size, step):
                yield every, names, (pairs[0][start : start + step], pairs[1][start : start + step])
            return
        for i, j in zip(*(side.tolist() for side in pairs), strict=True):
            yield stacked([held[i], held[j]]), (names[i], names[j]), (np.array([0]), np.array([1]))

    def _differences(
        self, every: RowScores, names: tuple[str, ...], pairs: tuple[Rows, Rows], level: float
    ) -> MeanScore:
        baseline, candidate = pairs
        if self.audit is not None:
            try:
                held, rows, true, inclusion = scored_rows(every, self.audit, names)
            except NotEnoughData:  # fewer than 2 rows have human scores of both
                few = ~np.isnan([self.audit.true_of(name) for name in names]).any(axis=0)
                none, audited = np.full(baseline.shape, np.nan), np.full(baseline.shape, few.sum())
                method = "betting" if self.exact else "pooled strata"
                found = replace(trusted_mean(every, level=level, pairs=pairs), method=method, kind="design")
                tested = None if self.exact else np.ones(baseline.shape)
                return replace(found, value=none, low=none, high=none, tested=tested, audited=audited)
            known = rows, true[candidate] - true[baseline], inclusion
            options = {"level": level, "gate": 0.0, "two_sided": True, **self._audited()}
            found = audited_means(held.apart(candidate, baseline), known, **options)[0]
            return replace(found, audited=np.full(baseline.shape, rows.size))
        if self.rate:
            return bounded_mean(every.apart(candidate, baseline), self.rate, level=level, inference=self.inference)
        return trusted_mean(every, level=level, gate=0.0, pairs=pairs, two_sided=True)

    def _audited(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("inference", "exact", "expert_error", "expert_errors")}


def _together(systems: Mapping[str, RowScores]) -> RowScores | None:
    """Stack systems; None if they have scores of different rows."""
    every = stacked(list(systems.values()))
    missing = np.isnan(every.given)
    return every if (missing == missing[0]).all() else None
