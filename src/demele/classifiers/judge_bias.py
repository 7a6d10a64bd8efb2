"""What scores depend on: slices of rows, errors of the judge, the order of answers, annotators that a model learned."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from demele.classifiers.audit_plausibility import audit_alarms
from demele.classifiers.mean_scores import fitted, trusted_mean
from demele.classifiers.pooled_strata import PooledStrata, smallest_tail
from demele.classifiers.results import NamedEstimate, NamedEstimates
from demele.classifiers.row_scores import RowScores, judged_rows
from demele.core.arrays import Flags, Floats, pd, rng_for
from demele.core.columns import numbered_rows
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.kinds import Confidence, Data, Level, Seed, Several, checked, checked_confidence
from demele.core.labelled import read_labels
from demele.core.proportions import adjusted, exact_interval, normal_quantile
from demele.core.result import Interval, Note
from demele.core.signature import Signature
from demele.core.table_columns import as_column, check_rows, number_column
from demele.noise.audit import Audit
from demele.noise.transition import digest

#: A slice with fewer audited rows has no interval.
LEAST_AUDITED = 20
ASSUMED = "Audited rows were drawn at random, as `inclusion` says.", "The human scores are true."
#: With fewer rows for each coefficient, its standard error is uncertain.
ROWS_PER_COEFFICIENT = 10


@checked
def slices(
    scores: RowScores,
    audit: Audit,
    column: Data,
    *,
    correction: Literal["holm", "bh"] = "holm",
    level: Confidence = 0.95,
) -> NamedEstimates:
    """Estimate the mean true score in each slice of the rows, and its difference from the rest.

    Parameters
    ----------
    scores : RowScores
        Of one system, or the difference of two.
    audit : Audit
        True scores, or true differences.
    column : array-like of shape (n,)
        The slice of each row, such as its language.
    correction : {"holm", "bh"}
        For several slices: the probability of any wrong claim, or the expected share of wrong ones.
    level : float in [0.5, 1)
        Of each interval by itself.

    Returns
    -------
    NamedEstimates
        Of each slice, then of each slice minus the rest, with adjusted p-values. A slice or a rest with fewer than 20
        audited rows has the given mean alone.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    The interval of each slice is that of audited means. A slice and the rest are disjoint, so the distances of both are
    added in quadrature.

    Examples
    --------
    >>> given, column = [1] * 300 + [0] * 100, ["en", "de"] * 200
    >>> rows = [*range(0, 400, 4), *range(1, 400, 4)]
    >>> found = slices(RowScores(given), Audit(rows, [given[row] for row in rows], design="uniform"), column)
    >>> [row.name for row in found.rows], round(found["en"].corrected_value, 3)
    (['en', 'de', 'en - rest', 'de - rest'], 0.75)
    """
    audited = rows, true, _ = judged_rows(audit, scores)
    codes, _ = numbered_rows(column, "column", scores.n, "scores")
    values, first = as_column(column, "column"), np.unique(codes, return_index=True)[1]
    names, tail = [str(values[row]) for row in first], (1 - level) / 2
    weighted = scores.weight is not None or scores.task is not None

    def fit(part: Flags) -> PooledStrata | None:
        own = np.flatnonzero(part)
        return None if part[rows].sum() < LEAST_AUDITED else fitted(scores, own, audited, weighted=weighted)

    def span(low: float, high: float) -> Interval:
        return Interval(low=float(low), high=float(high), level=level, method="pooled strata", kind="design")

    found, differences, p_values, thin = [], [], [], []
    for code, name in enumerate(names):
        inside, outside = (scores.scored & part for part in (codes == code, codes != code))
        own, rest = fit(inside), fit(outside)
        row = NamedEstimate(name=name, value=_mean(scores, inside), n=int(inside.sum()))
        if own is None:
            thin.append(f"{name} ({inside[rows].sum()})")
        else:
            low, high = (scores.low + scores.width * float(end) for end in own.ends(tail))
            corrected = scores.low + scores.width * float(np.clip(own.value, 0, 1))
            row = replace(row, corrected_value=corrected, corrected=span(low, high))
        found.append(row)
        if own is None or rest is None:
            continue
        gap = float(own.value - rest.value)

        def apart(tail: Any, below: bool, own: PooledStrata = own, rest: PooledStrata = rest) -> Floats:
            """Return how far the true difference may lie below, or above."""
            return np.asarray(np.hypot(own.distance(tail, below=below), rest.distance(tail, below=not below)))

        p_values.append(min(2 * float(smallest_tail(partial(apart, below=gap > 0), abs(gap))), 1.0))
        ends = np.clip([gap - apart(tail, True), gap + apart(tail, False)], -1, 1)
        differences.append(
            NamedEstimate(
                name=f"{name} - rest",
                value=row.value - _mean(scores, outside),
                corrected_value=scores.width * gap,
                corrected=span(*(scores.width * ends).tolist()),
                n=row.n,
            )
        )
    notes = audit_alarms(scores, audit)
    if thin:
        message = f"slices with fewer than {LEAST_AUDITED} audited rows have no interval: {', '.join(thin)}"
        notes += (Note(code="slice-thin", message=message),)
    fixed = adjusted(np.array(p_values), correction).tolist()
    differences = [replace(row, p_value=p) for row, p in zip(differences, fixed, strict=True)]
    met = {"n": scores.n, "digest": digest(*scores.digested(), rows, true, codes)}
    return NamedEstimates(
        measure="Mean score",
        rows=(*found, *differences),
        level=level,
        assumptions=ASSUMED,
        notes=notes,
        signature=Signature.of("slices", {"correction": correction, "level": level}, **met),
    )


def _mean(scores: RowScores, part: Flags) -> float:
    return scores.take(part).mean if part.any() else math.nan


@checked
def judge_errors(
    scores: RowScores, audit: Audit, covariates: Mapping[str, object], *, level: Confidence = 0.95
) -> NamedEstimates:
    """Regress the errors of a judge on covariates such as length, position or model family.

    Parameters
    ----------
    scores : RowScores
        The judge's scores of all rows.
    audit : Audit
        True scores of some; the regression is on these rows.
    covariates : mapping of str to array-like of shape (n,), or data frame
        Of all rows: numbers, or names of groups, with one coefficient for each group but the first.
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
    >>> scores = RowScores([0, 0, 1, 0, 0, 1, 1, 0])
    >>> audit = Audit([*range(8)], [0, 0, 0, 0, 1, 0, 0, 0], design="uniform")
    >>> found = judge_errors(scores, audit, {"length": [*range(1, 9)]})
    >>> round(found["length"].p_value, 6)
    0.614417
    """
    from scipy.special import ndtr

    rows, true, inclusion = judged_rows(audit, scores)
    k, errors = rows.size, scores.given[rows] - true
    weights = np.ones(k) if inclusion is None else 1 / inclusion
    if not hasattr(covariates, "items"):
        raise InputTypeError("covariates", f"expected columns by their names, got {type(covariates).__name__}")
    held = {str(one): as_column(values, f"covariates[{one!r}]") for one, values in covariates.items()}
    if any(column.shape != (scores.n,) for column in held.values()):
        raise InputError("covariates", f"expected {scores.n} values each, one per row of `scores`")
    table = pd.get_dummies(pd.DataFrame(held).iloc[rows], drop_first=True, dtype=float)
    if k < table.shape[1] + 2:
        raise NotEnoughData("covariates", f"expected more audited rows than {table.shape[1] + 1} coefficients, got {k}")
    design = np.ones((k, 1))
    for one in table:
        argument = f"covariates[{one!r}]"
        column = number_column(table[one], argument, k, "audited row", "finite numbers", inside=np.isfinite)
        centred = column - column.mean()
        design = np.column_stack([design, centred / (np.sqrt((centred**2).mean()) or 1.0)])
        if np.linalg.matrix_rank(design) < design.shape[1]:
            raise InputError(argument, "is constant or follows from the columns before it; leave it out")
    values, deviations = hc3(design, errors, weights)
    z = normal_quantile((1 + level) / 2)
    found = tuple(
        NamedEstimate(
            name=one,
            value=b,
            interval=Interval(low=b - z * error, high=b + z * error, level=level, method="HC3, normal"),
            p_value=float(2 * ndtr(-abs(b / error))) if error > 0 else float(b == 0),
            n=k,
        )
        for one, b, error in zip(["mean error", *table], values.tolist(), deviations.tolist(), strict=True)
    )
    notes = []
    if k < ROWS_PER_COEFFICIENT * len(found):
        message = f"{k} rows for {len(found)} coefficients: use at least {ROWS_PER_COEFFICIENT} rows for each"
        notes.append(Note(code="few-rows", message=message, severity="warning"))
    if inclusion is not None:
        notes.append(Note(code="weighted", message="rows are weighted by 1 / `inclusion`"))
    return NamedEstimates(
        measure="Error of the judge, per standard deviation",
        rows=found,
        level=level,
        assumptions=(
            "A coefficient is about the judge's error, not about its score: longer answers may be better.",
            *ASSUMED,
        ),
        notes=tuple(notes),
        signature=Signature.of("judge_errors", {"level": level}, n=k, digest=digest(errors, design, weights)),
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


@checked
def annotator_effect(
    model: Any,
    features: Any,
    labels: object,
    annotators: object,
    *,
    n_folds: Several = 5,
    level: Level = 0.95,
    seed: Seed = 0,
) -> NamedEstimates:
    """Test whether a classifier learned its annotators: cross-validation with and without the annotators of each fold.

    Parameters
    ----------
    model : classifier of scikit-learn
        A clone is trained for each fold.
    features : array-like of shape (n, n_features)
    labels, annotators : array-like of shape (n,)
        The label of each row, and who gave it.
    n_folds : int, default 5
    level : float, default 0.95
    seed : int, default 0
        Random seed of the folds.

    Returns
    -------
    NamedEstimates
        The accuracy where rows of all annotators are in the training (``known``), where those of the row's annotator
        are not (``unknown``), and their ``difference``, with Student's interval of annotators and a one-sided p-value.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        For fewer annotators than folds.

    Notes
    -----
    Source: Geva, Goldberg and Berant (2019). Each row is predicted twice: by scikit-learn's ``KFold`` on rows in random
    order, and by its ``GroupKFold``, which keeps all rows of an annotator in one fold. The difference is a mean over
    rows, with annotators as clusters. A model that finds the true classes has a difference near 0, also where
    annotators label rows of different kinds; one that copies habits has a positive one.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> who = np.repeat(np.arange(20), 20)
    >>> habits = rng.integers(0, 2, 20)[who]  # each annotator gives one label; the features show who it is
    >>> found = annotator_effect(DecisionTreeClassifier(random_state=0), np.eye(20)[who], habits, who)
    >>> found["known"].value, bool(found["difference"].interval.low > 0)
    (1.0, True)
    """
    from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

    given, who = read_labels(labels, "labels"), read_labels(annotators, "annotators")
    rows = np.asarray(features)
    for column, what in ((given, "labels"), (who, "annotators")):
        check_rows(rows, column, ("features", what), (len(rows), column.size))
    _, codes = np.unique(who.astype(str), return_inverse=True)
    n_annotators = int(codes.max()) + 1
    if n_annotators < n_folds:
        raise NotEnoughData("annotators", f"expected at least one for each of {n_folds} folds, got {n_annotators}")
    if not hasattr(model, "fit") or not hasattr(model, "predict"):
        raise InputError("model", "expected a classifier with fit and predict")
    order = rng_for(seed, "annotator effect").permutation(len(rows))
    x, y, groups = rows[order], given[order], codes[order]
    ways = (list(KFold(n_folds).split(x)), list(GroupKFold(n_folds).split(x, y, groups)))
    known, unknown = ((cross_val_predict(model, x, y, cv=folds) == y).astype(float) for folds in ways)
    found: Any = trusted_mean(RowScores(known - unknown, -1, 1, group=groups), level=level, gate=0.0)
    shown = found.interval.low > 0
    says = "the model learned its annotators" if shown else "the model is not shown to have learned its annotators"
    message = f"{says}: the difference is what their other labels in the training add ({n_annotators} annotators)"
    n = len(rows)
    return NamedEstimates(
        measure="effect of annotators on the accuracy",
        rows=(
            NamedEstimate(name="difference", value=found.value, interval=found.interval, p_value=found.p_value, n=n),
            NamedEstimate(name="known", value=float(known.mean()), n=n),
            NamedEstimate(name="unknown", value=float(unknown.mean()), n=n),
        ),
        level=level,
        assumptions=("The annotators are a random sample of those to come.",),
        notes=(Note(code="learned-annotators", message=message, severity="warning" if shown else "info"),),
        signature=Signature.of("annotator_effect", {"n_folds": n_folds, "level": level, "seed": seed}, n=n),
    )
