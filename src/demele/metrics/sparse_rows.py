"""Sparse codes as a source: counted from their non-zeros, never made dense."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from demele.core.inputs import Factors
from demele.core.seeds import rng_for
from demele.core.sparse_inputs import SparseCodes
from demele.estimation.discretise import Binning
from demele.estimation.information import Correction, InformationTable
from demele.metrics.data import TableSettings
from demele.metrics.metric import Metric
from demele.metrics.source import Draw, Source, Subject
from demele.metrics.sparse_tables import SparseTable, sparse_table
from demele.runtime.progress import Report

#: Codes whose score with shuffled factors stands for that of all.
SHUFFLED_CODES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """How codes and factors are cut and counted, and on how many threads."""

    bins: Binning
    factor_bins: Binning
    correction: Correction
    n_jobs: int


class SparseRows(Source):
    """All codes, counted from their non-zeros.

    Parameters
    ----------
    codes : SparseCodes
    subject : Subject
    counting : Counting
        How codes and factors are cut, and on how many threads.
    correlations : bool
        Whether squared correlations with continuous factors are wanted too.
    report : callable, optional
    """

    states = frozenset({"table"})
    name = "sparse codes"
    probed = False

    def __init__(
        self,
        codes: SparseCodes,
        subject: Subject,
        counting: Counting,
        *,
        correlations: bool = False,
        report: Report | None = None,
    ) -> None:
        self.codes, self._subject, self._counting = codes, subject, counting
        self.counted = self._count(codes, subject.varying, correlations=correlations, report=report)

    def _count(
        self, codes: SparseCodes, factors: Factors, *, correlations: bool = False, report: Report | None = None
    ) -> SparseTable:
        return sparse_table(
            codes,
            factors,
            self._counting.bins,
            self._counting.factor_bins,
            self._counting.correction,
            correlations=correlations,
            n_jobs=self._counting.n_jobs,
            report=report,
            information_of=self.information,
        )

    @staticmethod
    def reads(metric: Metric) -> bool:
        """Whether a metric can be read off informations of codes on factors alone."""
        return "table" in metric.states and not (metric.pairs or metric.soft or metric.joint)

    def state_for(self, metric: Metric, options: Mapping[str, Any]) -> str | None:
        """Return the state of a metric that is read off such a table."""
        return super().state_for(metric, options) if self.reads(metric) else None

    def subject(self, state: str, options: Mapping[str, Any] | None = None) -> Subject:
        """Return the columns."""
        return self._subject

    def table(self, settings: TableSettings, *, pairs: bool = False) -> InformationTable:
        """Return the information table of all codes."""
        return self.counted.information

    def tables(
        self, settings: TableSettings, draw: Draw, n_draws: int, seed: int, *, pairs: bool = False
    ) -> Iterator[InformationTable]:
        """Yield one table of some of the codes with the rows of the factors shuffled."""
        rng = rng_for(seed, "sparse-shuffle")
        chosen = np.sort(rng.choice(self.codes.d, min(self.codes.d, SHUFFLED_CODES), replace=False))
        some = self.codes.take_codes(chosen)
        yield self._count(some, self._subject.varying.take(rng.permutation(self.codes.n))).information
