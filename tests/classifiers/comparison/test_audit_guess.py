"""The guess that makes the expert's labels likeliest."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from demele.classifiers.comparison.table_difference import PRESUMED, PRESUMPTION, fitted_guess
from demele.noise.audit import CodedAudit
from tests.classifiers.comparison.cases import random_question
from tests.tolerances import assert_close


def test_weights_are_the_likeliest() -> None:
    rng = np.random.default_rng(3)
    data = random_question(rng, n=300, k=3, models=4).data
    rows = rng.permutation(300)[:80].astype(np.intp)
    expert = np.where(rng.random(80) < 0.3, rng.integers(0, 3, 80), data.labels[rows]).astype(np.int32)
    audit = CodedAudit(rows, expert, np.full(80, 80 / 300), "uniform", 300)
    guess = fitted_guess(data, audit)
    scores = np.stack(guess.scores(audit.rows), axis=-1)

    def minus_likelihood(weights: NDArray[np.float64]) -> float:
        logits = scores @ weights
        total = np.log(np.exp(logits).sum(axis=1))
        told = logits[np.arange(audit.k), audit.labels]
        return float(-(told - total).sum() + PRESUMPTION / 2 * ((weights - PRESUMED) ** 2).sum())

    best = minimize(minus_likelihood, PRESUMED, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    assert_close(guess.weights, best.x, {"rtol": 0, "atol": 1e-5})
    assert abs(guess.weights - PRESUMED).max() > 0.05
