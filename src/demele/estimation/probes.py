"""Predictors of factors that are fitted to some rows and tried on others: boosted trees, and linear ones."""

from functools import cached_property
from typing import Literal

import numpy as np

from demele.core.arrays import Floats, Rows
from demele.estimation.boosting_importance import boosted_fit
from demele.estimation.logistic import linear_scores, multinomial_logistic, scaled_codes
from demele.estimation.trees import Presorted, presort

Probe = Literal["boosting", "logistic"]


class ProbedCodes:
    """Codes that are looked at by several predictors: sorted once, when the first trees need it.

    Parameters
    ----------
    values : array of shape (n_samples, n_codes)
    """

    def __init__(self, values: Floats) -> None:
        self.values = values

    @cached_property
    def presorted(self) -> Presorted:
        """The codes, sorted."""
        return presort(self.values)

    def without(self, columns: Rows) -> "ProbedCodes":
        """Return the codes but some."""
        return ProbedCodes(np.delete(self.values, columns, axis=1))

    def only(self, columns: Rows) -> "ProbedCodes":
        """Return some codes."""
        return ProbedCodes(np.ascontiguousarray(self.values[:, columns]))


def predicted(
    probe: Probe,
    codes: ProbedCodes,
    values: Floats | Rows,
    train: Rows,
    test: Rows,
    *,
    categorical: bool,
    rng: np.random.Generator,
    penalty: float = 1.0,
    scale: Rows | None = None,
) -> Floats | Rows:
    """Return what a predictor that is fitted to the training rows says of the test rows.

    Parameters
    ----------
    probe : {"boosting", "logistic"}
        100 boosted trees of depth 3; or a multinomial logistic regression (least squares with a penalty for numbers)
        on codes that are standardised by the training rows.
    codes : ProbedCodes
        Without any, the commonest class or the mean is predicted.
    values : array of shape (n_samples,)
        Numbers, or classes from 0. Training rows of one value predict it.
    train, test : arrays of row numbers
    categorical : bool
    rng : numpy.random.Generator
        Breaks ties between codes in trees.
    penalty : float above 0
        C of the logistic regression; numbers are predicted under the penalty 1 / C on the weights.
    scale : array of row numbers, optional
        Rows that codes are standardised by, instead of the training rows.

    Examples
    --------
    >>> codes = ProbedCodes(np.arange(8.0)[:, None])
    >>> train, test, rng = np.arange(0, 8, 2), np.array([1, 5, 7]), np.random.default_rng(0)
    >>> predicted("logistic", codes, np.repeat([0, 1], 4), train, test, categorical=True, rng=rng).tolist()
    [0, 1, 1]
    """
    own = values[train]
    if codes.values.shape[1] == 0 or own.min() == own.max():
        constant = np.bincount(own).argmax() if categorical else own.mean()
        return np.full(len(test), constant)
    if probe == "boosting":
        fit = boosted_fit(codes.presorted, values, train, test, categorical=categorical, rng=rng)
        return fit.predict(fit.unseen)
    by, both = codes.values[train if scale is None else scale], codes.values[np.concatenate([train, test])]
    seen, unseen = np.split(scaled_codes(by, both, scaling="standard")[1], [len(train)])
    if categorical:
        labels = own.astype(np.intp)
        coef, intercept = multinomial_logistic(seen, labels, int(labels.max()) + 1, C=penalty)
        present = np.flatnonzero(~np.isnan(intercept))
        return np.asarray(present[linear_scores(unseen, coef[present], intercept[present]).argmax(axis=0)])
    weights = np.linalg.solve(seen.T @ seen + np.eye(seen.shape[1]) / penalty, seen.T @ (own - own.mean()))
    return np.asarray(own.mean() + unseen @ weights)


def held_out_score(truth: Floats | Rows, said: Floats | Rows, *, categorical: bool) -> float:
    """Return accuracy, or R2 against the mean of these rows: NaN where there are none, or numbers that do not vary."""
    if not len(truth):
        return float("nan")
    if categorical:
        return float((truth == said).mean())
    variance = float(np.var(truth))
    return 1.0 - float(np.square(truth - said).mean()) / variance if variance > 0 else float("nan")
