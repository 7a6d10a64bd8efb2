"""No metric praises codes of noise silently: the score is low, not defined, or says what it is."""

import math
import warnings

import numpy as np
import pytest

import demele
from demele.metrics.catalogue import CATALOGUE

#: From here on a score of codes that know nothing needs a note; the floors of the metrics at many rows lie below.
PRAISE = 0.12
#: Rows, codes and kind of factors.
CASES = [(100, 32, "continuous"), (100, 6, "categorical"), (400, 8, "categorical")]
#: Options of fits of trees under which they take a second; benchmarks/noise_notes.py has them by default ones.
FEWER_TREES: dict[str, dict[str, object]] = {"dci_boosting": {"n_trees": 20}}


def drawn(n: int, d: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return codes and three factors that have nothing to do with them."""
    rng = np.random.default_rng(n + d)
    codes = rng.normal(size=(n, d))
    return codes, rng.random((n, 3)) if kind == "continuous" else rng.integers(0, 3, (n, 3)).astype(str)


@pytest.mark.parametrize(("n", "d", "kind"), CASES)
def test_noise_is_low_or_undefined_or_noted(n: int, d: int, kind: str) -> None:
    codes, factors = drawn(n, d, kind)
    names = [name for name, metric in CATALOGUE.items() if not metric.is_plain]
    if d > 6:  # fits of trees take seconds
        names = [name for name in names if name != "nk" and not name.startswith("dci_")]
    few: dict[str, object] = {"n_train": 100, "n_test": 100}
    options = dict.fromkeys(("z_diff", "z_min_variance", "z_max_variance"), few) | FEWER_TREES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", demele.errors.DemeleWarning)
        given = demele.Codes(codes, std=np.full_like(codes, 0.1))
        found = demele.evaluate(given, factors, names, options=options)
    high = [score for score in found if score.value > PRAISE]
    assert len(high) >= 3, "without high scores of noise nothing is tested"
    assert [score.metric for score in high if not score.fragile] == []


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
