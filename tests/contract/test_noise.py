"""No metric of the catalogue praises codes of noise silently: the score is low, not defined, or says what it is."""

import math
import warnings

import numpy as np
import pytest

import demele
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.metric import Metric

#: From here on a score of codes that know nothing needs a note; the floors of the metrics at many rows lie below.
PRAISE = 0.12
#: Rows, codes and kind of factors.
CASES = [(100, 32, "continuous"), (100, 6, "categorical"), (400, 8, "categorical")]
#: NK grows trees without each code in turn: seconds from here on.
MANY_CODES = 20
#: Options of fits of trees under which they take a second; benchmarks/noise_notes.py has them by default ones.
FEWER_TREES = {"dci_boosting": {"n_trees": 20}}


def drawn(n: int, d: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return codes and three factors that have nothing to do with them."""
    rng = np.random.default_rng(n + d)
    codes = rng.normal(size=(n, d))
    return codes, rng.random((n, 3)) if kind == "continuous" else rng.integers(0, 3, (n, 3)).astype(str)


def noise_of(name: str, metric: Metric, n: int, d: int, kind: str) -> demele.Score | None:
    """Return the score of noise; None where the metric says that it needs more rows."""
    codes, factors = drawn(n, d, kind)
    sizes = {"n_train": 100, "n_test": 100}
    own = {name: sizes} if name in ("z_diff", "z_min_variance", "z_max_variance") else None
    codes_std = np.full_like(codes, 0.1) if metric.needs_codes_std else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return demele.evaluate(demele.Codes(codes, std=codes_std), factors, [name], options=own)[name]
        except demele.errors.NotEnoughData:
            return None


@pytest.mark.parametrize(("n", "d", "kind"), CASES)
def test_noise_is_low_or_undefined_or_noted(n: int, d: int, kind: str) -> None:
    silent, scored, noted = {}, 0, 0
    for name, metric in CATALOGUE.items():
        if metric.is_plain or name.startswith("dci_") or (name == "nk" and d > MANY_CODES):
            continue
        score = noise_of(name, metric, n, d, kind)
        if score is None:
            continue
        scored += 1
        if score.value > PRAISE and score.fragile:
            noted += 1
        elif score.value > PRAISE:
            silent[name] = round(score.value, 3)
    assert not silent
    assert scored >= 25
    assert noted >= 3, "without high scores of noise nothing is tested"


@pytest.mark.parametrize("model", ["lasso", "forest", "boosting"])
@pytest.mark.parametrize(("n", "d", "kind"), CASES)
def test_importance_by_permutation_has_no_score_of_noise(model: str, n: int, d: int, kind: str) -> None:
    own = {f"dci_{model}": {"importance": "permutation", **FEWER_TREES.get(f"dci_{model}", {})}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", demele.errors.DemeleWarning)
        found = demele.evaluate(
            *drawn(n, d, kind), [f"dci_{model}_modularity", f"dci_{model}_compactness"], options=own
        )
    for score in found:
        undefined = math.isnan(score.value) and "no-importance" in {note.code for note in score.notes}
        assert undefined or score.fragile or score.value <= PRAISE, (score.metric, score.value)
