"""Errors of a judge, such as a language model: what they go with, and whether they depend on the order of answers."""

from collections.abc import Mapping

import numpy as np

from demele.classifiers.intervals import checked_confidence
from demele.classifiers.results import NamedEstimate, NamedEstimates
from demele.core.arrays import Floats
from demele.core.errors import InputError, NotEnoughData
from demele.core.kinds import Data
from demele.core.proportions import exact_interval, normal_quantile
from demele.core.results import Interval, Note
from demele.core.signature import Signature
from demele.core.table_columns import as_column, number_column
from demele.noise.square_tables import digest

#: With fewer rows for each coefficient, its standard error is uncertain.
ROWS_PER_COEFFICIENT = 10


def judge_errors(
    given: Data, true: Data, covariates: Mapping[str, object], *, inclusion: Data = None, level: float = 0.95
) -> NamedEstimates:
    """Regress the errors of a judge on covariates such as length, position or model family.

    Parameters
    ----------
    given, true : array-like of shape (k,)
        The judge's scores and the true ones, of the audited rows.
    covariates : mapping of str to array-like of shape (k,), or data frame
        Numbers, or names of groups: one coefficient for each group but the first.
    inclusion : array-like of shape (k,), optional
        Probability in (0, 1] that each row was to be audited; equal if not given.
    level : float in [0.5, 1)
        Of each interval by itself.

    Returns
    -------
    NamedEstimates
        The mean error, then the change of the error for one standard deviation of each covariate.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    The error given - true on 1 and the standardised covariates, by least squares, weighted by 1 / inclusion; variances
    are those of MacKinnon and White (1985), HC3, which allow for errors of unequal size; normal intervals.

    Examples
    --------
    >>> found = judge_errors([0, 0, 1, 0, 0, 1, 1, 0], [0, 0, 0, 0, 1, 0, 0, 0], {"length": [*range(1, 9)]})
    >>> round(found["length"].p_value, 6)
    0.614417
    """
    import pandas as pd

    level = checked_confidence(level)
    scores = as_column(given, "given"), as_column(true, "true")
    k = scores[0].size
    judged, truth = (
        number_column(one, argument, k, "audited row", "finite numbers", inside=np.isfinite)
        for one, argument in zip(scores, ("given", "true"), strict=True)
    )
    chances = number_column(
        np.ones(k) if inclusion is None else inclusion, "inclusion", k, "audited row", "numbers in (0, 1]",
        inside=lambda p: (p > 0) & (p <= 1),
    )  # fmt: skip
    frame = pd.DataFrame({str(one): as_column(values, f"covariates[{one!r}]") for one, values in covariates.items()})
    table = pd.get_dummies(frame, drop_first=True, dtype=float)
    columns = [
        number_column(table[one], f"covariates[{one!r}]", k, "audited row", "finite numbers", inside=np.isfinite)
        for one in table
    ]
    if k < len(columns) + 2:
        raise NotEnoughData("covariates", f"expected more rows than {len(columns) + 1} coefficients, got {k}")
    design = np.ones((k, 1))
    for one, column in zip(table, columns, strict=True):
        centred = column - column.mean()
        design = np.column_stack([design, centred / (np.sqrt((centred**2).mean()) or 1.0)])
        if np.linalg.matrix_rank(design) < design.shape[1]:
            raise InputError("covariates", f"column {one!r} is constant or follows from those before it; leave it out")
    coefficients, errors = hc3(design, judged - truth, 1 / chances)
    z = normal_quantile((1 + level) / 2)
    rows = tuple(
        NamedEstimate(
            name=one,
            value=b,
            interval=Interval(low=b - z * error, high=b + z * error, level=level, method="HC3, normal"),
            p_value=two_sided(b / error) if error > 0 else float(b == 0),
            n=k,
        )
        for one, b, error in zip(["mean error", *table], coefficients.tolist(), errors.tolist(), strict=True)
    )
    notes = []
    if k < ROWS_PER_COEFFICIENT * len(rows):
        message = f"{k} rows for {len(rows)} coefficients: use at least {ROWS_PER_COEFFICIENT} rows for each"
        notes.append(Note(code="few-rows", message=message, severity="warning"))
    if inclusion is not None:
        notes.append(Note(code="weighted", message="rows are weighted by 1 / `inclusion`"))
    return NamedEstimates(
        measure="Error of the judge, per standard deviation",
        rows=rows,
        level=level,
        assumptions=(
            "A coefficient is about the judge's error, not about its score: longer answers may be better.",
            "The human scores are true.",
        ),
        notes=tuple(notes),
        signature=Signature.of("judge_errors", {"level": level}, n=k, digest=digest(judged, truth, design, chances)),
    )


def hc3(design: Floats, response: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the coefficients of a weighted regression and their HC3 standard errors.

    Raises
    ------
    NotEnoughData
        If one row alone decides a coefficient.
    """
    inverse = np.linalg.inv(design.T @ (weights[:, None] * design))
    coefficients = inverse @ (design.T @ (weights * response))
    left = 1 - weights * np.einsum("ij,jk,ik->i", design, inverse, design)
    if left.min() < 1e-9:
        raise NotEnoughData("covariates", f"row {left.argmin()} alone decides a coefficient; merge rare groups")
    moved = inverse @ (design * (weights * (response - design @ coefficients) / left)[:, None]).T
    return coefficients, np.sqrt((moved**2).sum(axis=1))


def two_sided(z: float) -> float:
    """Return the probability that a standard normal number is as far from 0."""
    from scipy.special import ndtr

    return float(2 * ndtr(-abs(z)))


def position_bias(forward: Data, reversed: Data, *, level: float = 0.95) -> NamedEstimates:  # noqa: A002
    """Test whether a judge prefers the answer that it is shown first.

    Parameters
    ----------
    forward, reversed : array-like of shape (n,)
        The preference of each pair of answers A and B: 1 for A, -1 for B, 0 for a tie; judged with A shown first, and
        with B shown first.
    level : float in [0.5, 1)

    Returns
    -------
    NamedEstimates
        The share of reversed preferences that chose the answer shown first, and the share of pairs whose preference
        is reversed with the order.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Exact binomial test of 1/2 on the pairs whose preference is reversed: the two orders of a pair are not independent
    trials. A preference that is reversed is a tie: give 0 as its score, ``np.where(forward == reversed, forward, 0)``.

    Examples
    --------
    >>> found = position_bias([1] * 61 + [-1] * 39 + [1] * 200, [-1] * 61 + [1] * 39 + [1] * 200)
    >>> found.sentence
    'Position bias: first chosen, of reversed pairs 0.610 [0.507, 0.706]; p = 0.035.'
    """
    from scipy.stats import binomtest

    level, first = checked_confidence(level), as_column(forward, "forward")
    n = first.size
    one, other = (
        number_column(column, argument, n, "pair", "1, -1 or 0", inside=lambda x: np.isin(x, (-1, 0, 1)))
        for column, argument in ((first, "forward"), (reversed, "reversed"))
    )
    changed = one * other < 0
    b, m = int((one[changed] > 0).sum()), int(changed.sum())
    if not m:
        raise NotEnoughData("reversed", f"none of {n} preferences is reversed with the order: no position bias is seen")

    def share(name: str, part: int, whole: int, p_value: float) -> NamedEstimate:
        low, high = exact_interval(part, whole, level=level)
        interval = Interval(low=float(low), high=float(high), level=level, method="Clopper-Pearson")
        return NamedEstimate(name=name, value=part / whole, interval=interval, p_value=p_value, n=whole)

    halves = int(((one != other) & ~changed).sum())
    half = Note(code="half-changed", message=f"{halves} preferences changed to or from a tie; they are not counted")
    return NamedEstimates(
        measure="Position bias",
        rows=(
            share("first chosen, of reversed pairs", b, m, float(binomtest(b, m).pvalue)),
            share("reversed, of all pairs", m, n, float("nan")),
        ),
        level=level,
        assumptions=("Pairs are independent of each other.",),
        notes=(half,) if halves else (),
        signature=Signature.of("position_bias", {"level": level}, n=n, digest=digest(one, other)),
    )
