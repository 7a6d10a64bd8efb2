"""T-MEX: tests of dependence between codes and factors, compared with the intended one (Yao et al. 2025)."""

from collections.abc import Sequence
from typing import Annotated, Literal, Unpack

import numpy as np

from demele.core.arrays import Array, Floats, Rows
from demele.core.errors import InputError, NotEnoughData
from demele.core.inputs import Factor
from demele.core.kinds import Count, Fraction
from demele.core.proportions import holm
from demele.core.result import Note
from demele.core.table_columns import real_numbers
from demele.estimation.linear_recovery import matched
from demele.metrics.data import Data
from demele.metrics.metric import Guards, Metric, Native, Streams
from demele.metrics.options import OfColumns, ReadOption, RunOptions
from demele.metrics.source import Subject

# Whether codes depend on a factor given the others --------------------------------------------------------------------
#
# Half of the rows say in which direction the mean of a code follows the factor beyond the others; on the other half,
# the covariance of that direction and the code is tested, once the other factors are regressed out of both (Lundborg,
# Kim, Shah & Samworth 2024, without their weights).


#: Quantiles at which splines have their knots.
KNOTS = (0.25, 0.5, 0.75)
#: Share of a code's variance, below which nothing is left of it.
NOTHING = 1e-10


def factor_columns(factor: Factor, basis: str) -> Floats:
    """Return the columns (n, k) by which regressions see a factor: indicators of classes, or a line or cubic spline.

    Rows are all annotated.
    """
    if factor.categorical:
        return np.asarray((factor.values[:, None] == np.arange(1, len(factor.levels))).astype(np.float64))
    values = (np.asarray(factor.values, dtype=np.float64) - factor.low) / (factor.high - factor.low)
    if basis == "linear":
        return values[:, None]
    powers = [values, values**2, values**3]
    return np.column_stack([*powers, *(np.maximum(values - knot, 0.0) ** 3 for knot in np.quantile(values, KNOTS))])


def _predicted(seen: Floats, targets: Floats, unseen: Floats) -> Floats:
    """Return what least squares with an intercept on some rows say of others."""
    design = np.column_stack([np.ones(len(seen)), seen])
    coefficients = np.linalg.lstsq(design, targets, rcond=1e-11)[0].astype(np.float64, copy=False)
    return np.asarray(coefficients[0] + unseen @ coefficients[1:])


def projected_covariances(codes: Floats, columns: Sequence[Floats], train: Rows, test: Rows) -> Floats:
    r"""Return the statistic of each code and factor, (n_codes, n_factors): standard normal for independent ones.

    Parameters
    ----------
    codes : array of shape (n_samples, n_codes)
        Standardised.
    columns : sequence of arrays of shape (n_samples, k_i)
        Of each factor, as regressions see it.
    train, test : arrays of int
        Rows that choose the direction, and rows that test it.

    Notes
    -----
    Where nothing is left of a code or its direction once the others are regressed out, but for rounding, the statistic
    would be 0 / 0; it is -inf, which no test rejects.
    """
    whole = np.hstack(columns)
    full = _predicted(whole[train], codes[train], whole[test])
    found = np.full((codes.shape[1], len(columns)), -np.inf)
    for i in range(len(columns)):
        others = np.hstack([np.empty((len(codes), 0)), *(one for k, one in enumerate(columns) if k != i)])
        direction = full - _predicted(others[train], codes[train], others[test])
        both = np.hstack([direction, codes[test]])
        left = both - _predicted(others[test], both, others[test])
        direction, rest = np.hsplit(left, 2)
        product = direction * rest
        some = (np.square(direction).mean(axis=0) > NOTHING) & (np.square(rest).mean(axis=0) > NOTHING)
        spread = product.std(axis=0)
        some &= spread > 0
        found[some, i] = np.sqrt(len(test)) * product[:, some].mean(axis=0) / spread[some]
    return found


def _read_intended(given: object, subject: Subject) -> ReadOption:
    """Read which code is meant to depend on which factor: zeros and ones, (n_codes, n_factors).

    Raises
    ------
    InputError, InputTypeError
    """
    shape = subject.codes.d, subject.factors.m
    matrix = real_numbers(given, "intended", f"zeros and ones of shape {shape}")
    others = matrix[~np.isin(matrix, (0.0, 1.0))]
    if matrix.shape != shape or others.size:
        found = f"shape {matrix.shape}" if matrix.shape != shape else f"other numbers, such as {others[0]:g}"
        raise InputError("intended", f"expected zeros and ones of shape {shape}, codes by factors, got {found}")
    shown = tuple(tuple(int(one) for one in row) for row in matrix)
    return ReadOption(matrix[:, list(subject.active)] > 0, shown)


Graph = Annotated[
    Sequence[Sequence[int]] | Array | None,
    OfColumns(_read_intended),
]
#: Rows for each column of a regression, in each half.
ROWS_PER_COLUMN = 2


@Metric(
    title="T-MEX",
    family="predictor",
    properties=("modularity",),
    native="per code",
    range=(0.0, 1.0),
    source="Yao et al. 2025; Lundborg et al. 2024",
    references=("yao2025third", "lundborg2024projected"),
    definition="share of pairs of codes and factors whose conditional dependence is as intended, by tests",
    needs_factors=2,
    aliases=("T-MEX",),
    guards=Guards(outliers="move it", bins=False, fewest_rows=100),
    slow=1,
    probe=("n_splits", (9, 2, 5, 18, 36)),
    in_groups=True,
    in_all=False,
)
def tmex(
    data: Data,
    streams: Streams,
    *,
    intended: Graph = None,
    basis: Literal["spline", "linear"] = "spline",
    alpha: Fraction = 0.05,
    n_splits: Count = 9,
    **run: Unpack[RunOptions],
) -> Native:
    r"""Test-based measurement exclusivity: conditional dependence of codes on factors: modularity.

    .. math:: \mathrm{TMEX} = 1 - \frac{1}{dM} \sum_{ij} |W_{ij} - A_{ij}|

    W is 1 where code j depends on factor i given all others, by tests with one error for all; A is what is meant. For
    factors that come along with one another, which make any code of one of them look like a code of the other.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit. A group of columns depends on a factor if any of them does.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Rows that lack an annotation are left out.
    intended : array-like of shape (n_codes, n_factors) of 0 and 1, optional
        Which code is meant to depend on which factor. By default the one-to-one graph that fits best: the order of the
        codes then does not matter, as it does with the published identity.
    basis : {"spline", "linear"}
        How regressions see continuous factors: cubic splines with knots at the quartiles, or lines, as published.
    alpha : float in (0, 1], default 0.05
        Probability that any pair that does not depend is found to, at most (Holm's method). Published code tests each
        pair at this level: of 56 pairs of eight perfect codes, three are then found wrong.
    n_splits : int, default 9
        Random halves of the rows over which test statistics are averaged.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_code``; ``matrix``: W (n_codes, n_factors); ``details``: ``mismatches``, the
        published count, ``p_values`` and ``intended``, for the factors that vary.

    Raises
    ------
    InputError, InputTypeError
    NotEnoughData
        With fewer than four rows for each column of the regressions.

    Notes
    -----
    Yao et al. 2025; the test is the projected covariance measure of Lundborg et al. 2024 with additive regressions and
    without weights, of our own writing. **Noise scores above entangled codes**: it depends on nothing, and only the
    intended pairs are missed, so that M codes of noise score 1 - 1/M and a mixture of all factors 1/M. Look whether
    anything depends, and read it with a metric of explicitness. A count of mismatches, or a share of them, says the
    same only for equal numbers of codes, factors and rows: more rows find smaller dependences. Interactions of other
    factors that come along with a factor are taken for dependence on it. O(n_splits N M (sum of columns)^2).

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> first = rng.standard_normal(1000)
    >>> factors = np.column_stack([first, 0.8 * first + 0.6 * rng.standard_normal(1000)])  # they come along
    >>> noisy = factors[:, ::-1] + 0.3 * rng.standard_normal((1000, 2))
    >>> demele.metrics.tmex(noisy, factors).value, demele.metrics.tmex(noisy @ [[1, 1], [1, -1]], factors).value
    (1.0, 0.5)
    """
    from scipy.special import ndtr

    known = np.flatnonzero(np.all([factor.annotated() for factor in data.factors.columns], axis=0))
    taken = data if len(known) == data.n else data.take(known)
    if taken.codes.constant.all():
        raise NotEnoughData("codes", "no code varies, so that none depends on anything")
    constant = [factor.name for factor in taken.factors.columns if factor.constant]
    if constant:
        raise NotEnoughData("factors", f"{constant[0]!r} is constant where all factors are annotated")
    columns = [factor_columns(factor, basis) for factor in taken.factors.columns]
    width = 1 + sum(one.shape[1] for one in columns)
    if taken.n // 2 < ROWS_PER_COLUMN * width:
        problem = f"regressions on all factors have {width} columns; expected at least {4 * width} rows, got {taken.n}"
        raise NotEnoughData("factors", problem)
    codes, statistics = taken.standardised(), []
    for index in range(n_splits):
        order = streams("half", index).permutation(taken.n)
        halves = np.sort(order[: taken.n // 2]), np.sort(order[taken.n // 2 :])
        statistics.append(projected_covariances(codes, columns, *halves))
    p: Floats = ndtr(-np.mean(statistics, axis=0))
    if data.groups is not None:  # any of the columns depends: Bonferroni over those that vary, however they come along
        tests = np.maximum(data.summed_by_code(np.asarray(~taken.codes.constant, dtype=np.float64)), 1.0)
        smallest = np.stack([p[data.columns_of([code])].min(axis=0) for code in range(data.n_codes)])
        p = np.minimum(smallest * tests[:, None], 1.0)
    depends = holm(p.ravel(), alpha).reshape(p.shape)
    graph = np.asarray(np.zeros(p.shape) if intended is None else intended, dtype=np.bool_)
    if intended is None:  # the one-to-one graph that differs least; of equal ones, by the smaller p-values
        pairs = matched(depends + 1e-3 * (1.0 - p) / (1 + min(p.shape)))
        graph[pairs[pairs >= 0], np.flatnonzero(pairs >= 0)] = True
    wrong = depends != graph
    per_code = 1.0 - wrong.mean(axis=1)
    notes: tuple[Note, ...] = ()
    if not depends.any():
        message = "no code was found to depend on any factor: pairs that are not meant to depend count all the same"
        notes = (Note(code="nothing-depends", message=message, severity="fragile"),)
    return Native(
        value=np.asarray(per_code.mean()),
        per_code=per_code,
        matrix=depends.astype(np.float64),
        matrix_of="whether a code depends on a factor, given the others, by the tests",
        details={
            "mismatches": int(wrong.sum()),
            "p_values": p.tolist(),
            "intended": graph.astype(int).tolist(),
        },
        notes=notes,
    )
