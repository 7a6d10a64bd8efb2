"""Methods ``reliability`` and ``moments``: scores of squared correlations, corrected for errors of quantities."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from demele.core.corrected import CorrectedScore
from demele.core.errors import quoted
from demele.core.inputs import Factor
from demele.core.results import Interval, Note
from demele.core.seeds import rng_for
from demele.estimation.attenuation import (
    Covariances,
    agreement,
    covariances,
    explained,
    gap,
    moment_difference,
    reliability,
)
from demele.scoring.noisy.case import Case, NotCorrected, Work, half_width
from demele.scoring.noisy.knowledge import NoiseOfFactor
from demele.scoring.noisy.signed_tables import strata

Floats = NDArray[np.float64]
#: What each metric is of the covariances of the codes with one factor.
SCORES: dict[str, Callable[[Covariances], float]] = {"sap": gap, "r2_affine": explained}
#: A reliability below this leaves too little to divide by; below the other, audited rows alone were closer.
LEAST, ALONE = 0.1, 0.8
#: Audited rows below which nothing is corrected.
FEWEST = 100
_OF_KIND = {
    "reliability": "The reliability of {} is known; its errors are not correlated with its true value or the codes.",
    "audit": "The audited rows of {} were drawn at random, and their true values are right.",
    "annotation": "The errors of both annotations of {} are independent of each other, of the true value and of the "
    "codes; annotators who share an error look reliable.",
}
#: What method ``reliability`` assumes of audited factors as well.
_UNCORRELATED = "Errors of the annotations are not correlated with the true values or the codes."


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """One factor: its annotated rows, their values, and what is known of its errors."""

    values: Floats
    annotated: NDArray[np.bool_]
    known: NoiseOfFactor | None

    def of(self, codes: Floats, weights: Floats) -> Covariances:
        """Return covariances with the annotations."""
        rows = self.annotated
        return covariances(codes[rows], self.values[rows], weights[rows])

    def audited(self, weights: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
        """Return the audited rows that are annotated, their true values and their weights."""
        if self.known is None or self.known.rows is None or self.known.values is None:
            raise ValueError("no audit")
        kept = self.annotated[self.known.rows]
        rows = self.known.rows[kept]
        return rows, np.asarray(self.known.values, dtype=np.float64)[kept], weights[rows]

    def reliability(self, weights: Floats) -> float:
        """Return the squared correlation of annotation and true value, estimated from rows by their weights."""
        if self.known is None:
            return 1.0
        if self.known.kind == "reliability":
            return self.known.share
        if self.known.kind == "annotation" and self.known.values is not None:
            rows = self.annotated & ~np.isnan(self.known.values)
            return agreement(self.values[rows], self.known.values[rows], weights[rows])
        rows, true, own = self.audited(weights)
        return reliability(true, self.values[rows], own)


def correct(case: Case, work: Work, *, method: str) -> CorrectedScore | NotCorrected:
    """Correct a score that is a function of covariances of the codes with each factor."""
    refused = _refused(case, work, method)
    if refused is not None:
        return refused
    codes = case.source.data.standardised()
    columns = [
        _column(one, known) for one, known in zip(case.source.data.factors.columns, case.of_factors, strict=True)
    ]
    ones = np.ones(case.source.data.n)
    least = min(column.reliability(ones) for column in columns)
    if not least >= LEAST:
        return NotCorrected(f"a reliability of {least:.2f} leaves too little of a factor to correct for its errors")
    one = _spearman if method == "reliability" else _moments
    score = SCORES[work.asked.metric.name]

    def value(weights: Floats) -> float:
        return float(np.mean([one(column, codes, weights, score) for column in columns]))

    found = value(ones)
    draws = np.array([value(weights) for weights in _weights(case)])
    wide = half_width(float(np.nanstd(draws, ddof=1)), case.run.level)
    return CorrectedScore(
        value=found,
        interval=Interval(
            low=found - wide,
            high=found + wide,
            level=case.run.level,
            method=f"normal, bootstrap of {len(draws)} resamples",
        ),
        method=method,
        assumptions=_assumptions(case, method),
        notes=(*_of_low_reliability(method, least), *work.out_of_range(found)),
        audited_alone=_audited_alone(columns, codes, score) if method == "moments" else None,
        signature=case.signature(method, resamples=case.resamples),
        draws=draws,
    )


def _refused(case: Case, work: Work, method: str) -> NotCorrected | None:
    """Say why the method does not do; None where it does."""
    kinds = {"reliability": ("reliability", "annotation", "audit"), "moments": ("audit",)}[method]
    if work.request.settings is not None:
        return NotCorrected(
            f"{work.title} is made of bins, and how often errors cross the edges of bins depends on the density of the "
            "values, which a reliability does not tell; an audit of rows drawn at random does"
        )
    if work.asked.metric.name not in SCORES:
        return NotCorrected(
            f"{work.title} is not made of correlations with single factors, in which method '{method}' undoes errors; "
            "with the true values of rows that are drawn at random, method 'audited' corrects it"
        )
    if case.source.data.groups is not None:
        return NotCorrected("codes of several columns are not corrected so; give each column as a code")
    for one in case.source.data.factors.columns:
        if one.categorical:
            return NotCorrected(
                f"factor {quoted(one.name)} holds classes, of which {work.title} is no squared correlation; score the "
                "continuous factors by themselves"
            )
    for known in case.noise.factors.values():
        if known.kind not in kinds:
            return NotCorrected(
                f"what is known of {quoted(known.name)} does not say how far its values correlate with true ones"
            )
        if known.rows is not None and known.rows.size < FEWEST:
            return NotCorrected(f"{known.rows.size} audited rows are too few; audit at least {FEWEST}")
    return None


def _column(factor: Factor, known: NoiseOfFactor | None) -> _Column:
    annotated = factor.annotated()
    values = np.asarray(factor.values, dtype=np.float64)
    mean, spread = float(values[annotated].mean()), float(values[annotated].std())
    if known is not None and known.values is not None:
        known = replace(known, values=(np.asarray(known.values, dtype=np.float64) - mean) / spread)
    return _Column((values - mean) / spread, annotated, known)


def _spearman(column: _Column, codes: Floats, weights: Floats, score: Callable[[Covariances], float]) -> float:
    return score(column.of(codes, weights)) / column.reliability(weights)


def _moments(column: _Column, codes: Floats, weights: Floats, score: Callable[[Covariances], float]) -> float:
    if column.known is None:
        return score(column.of(codes, weights))
    rows, true, own = column.audited(weights)
    of_true, of_given = covariances(codes[rows], true, own), covariances(codes[rows], column.values[rows], own)
    return score(moment_difference(column.of(codes, weights), of_true, of_given))


def _weights(case: Case) -> list[Floats]:
    """Return resamples as numbers of times that rows were drawn; audited and other rows are drawn separately."""
    groups, found = strata(case), []
    for index in range(case.resamples):
        rng = rng_for(case.run.seed, "corrected", "linear", index)
        chosen = np.concatenate([group[rng.integers(0, group.size, group.size)] for group in groups])
        found.append(np.bincount(chosen, minlength=case.source.data.n).astype(np.float64))
    return found


def _audited_alone(columns: list[_Column], codes: Floats, score: Callable[[Covariances], float]) -> float:
    """Return the score of the audited rows by their true values; of factors that are right, of all rows."""
    ones = np.ones(len(codes))
    found = []
    for column in columns:
        if column.known is None:
            found.append(score(column.of(codes, ones)))
        else:
            rows, true, own = column.audited(ones)
            found.append(score(covariances(codes[rows], true, own)))
    return float(np.mean(found))


def _of_low_reliability(method: str, least: float) -> tuple[Note, ...]:
    if method != "moments" or least >= ALONE:
        return ()
    message = (
        f"at a reliability of {least:.2f}, below {ALONE:g}, the audited rows alone were closer to the truth in "
        "simulations"
    )
    return (Note(code="low-reliability", message=message, severity="warning"),)


def _assumptions(case: Case, method: str) -> tuple[str, ...]:
    said = []
    for kind, sentence in _OF_KIND.items():
        names = [repr(one.name) for one in case.noise.factors.values() if one.kind == kind]
        if names:
            said.append(sentence.format(", ".join(names)))
            if kind == "audit" and method == "reliability":
                said.append(_UNCORRELATED)
    return (*said, *case.right_factors())


by_reliability = partial(correct, method="reliability")
by_moments = partial(correct, method="moments")
