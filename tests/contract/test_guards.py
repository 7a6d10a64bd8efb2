"""A score that one value, ties, few rows or other bins would move says so: every guard that a metric decided is tested.

``Guards(outliers="leave it")`` is a claim, as ``bins=False`` and the fewest rows are. Each registered metric scores a
representation that holds much of the factors but not all; the data are then disturbed, and a score that moves by more
than 0.1 must have a note of fragility.
"""

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from tests.contract.cases import CHEAP, NAMES

Array = NDArray[np.float64]
N = 300
MOVED = 0.1
#: More groups than the cheapest settings: their own noise must not be taken for a move.
SETTINGS = {
    **CHEAP,
    "dci_forest": {"n_trees": 10},
    "dci_boosting": {"n_trees": 10},
    **{
        name: {"n_train": 800, "n_test": 800, "batch_size": 10}
        for name in ("z_diff", "z_min_variance", "z_max_variance")
    },
}


#: Metrics that find almost all in what others find half of.
EASY = ("z_diff", "z_min_variance", "mcc_weak")


def moderate(name: str, n: int = N, seed: int = 3) -> tuple[Array, Array]:
    """Codes that hold much of three continuous factors, none of them alone."""
    noise = 0.3 if name in EASY else 0.05
    rng = np.random.default_rng(seed)
    factors = rng.random((n, 3))
    codes = np.column_stack(
        [factors + 0.15 * factors[:, [1, 2, 0]] + noise * rng.standard_normal((n, 3)), rng.random(n)]
    )
    if name == "capacity_explicitness":  # what lines read as well as any other predictor is at the end of its range
        codes = np.column_stack([np.sin(6 * codes[:, 0]), *codes.T[1:], np.cos(6 * codes[:, 0])])
    return codes, factors


def scored(name: str, codes: Array, factors: Array, **more: Any) -> demele.Score | None:
    """Return a score; None where it is refused with a reason."""
    group = demele.metrics.describe(name).group
    return _of_group(group, codes.tobytes(), factors.tobytes(), len(codes), repr(more)).get(name)


@functools.cache
def _of_group(group: str, codes: bytes, factors: bytes, n: int, more: str) -> dict[str, demele.Score]:
    """Score what shares a fit, or a table, once."""
    members = [name for name in NAMES if demele.metrics.describe(name).group == group]
    settings = {"bins": demele.bins.EqualFrequency(10)} if more != "{}" else {}
    first, second = (np.frombuffer(one).reshape(n, -1) for one in (codes, factors))
    return _all_scored(members, first, second, **settings)


def _all_scored(metrics: list[str], codes: Array, factors: Array, **more: Any) -> dict[str, demele.Score]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            std = np.full(codes.shape, 0.02)
            found = demele.evaluate(demele.Codes(codes, std=std), factors, metrics, options=SETTINGS, **more)
        except demele.errors.NotEnoughData:
            return {}
    return {score.metric: score for score in found}


Data = tuple[Array, Array]


def one_code(codes: Array, factors: Array) -> Data:
    changed = codes.copy()
    changed[7, 0] = 1e3
    return changed, factors


def one_row(codes: Array, factors: Array) -> Data:
    changed = codes.copy()
    changed[7] = 1e3
    return changed, factors


def one_factor(codes: Array, factors: Array) -> Data:
    changed = factors.copy()
    changed[7, 0] = 1e3
    return codes, changed


def tied(codes: Array, factors: Array) -> Data:
    """Values to one in 25 of their range: hardly less is known of the factors."""
    return np.round(codes * 25) / 25, factors


def first(n: int) -> Callable[[Array, Array], Data]:
    return lambda codes, factors: (codes[:n], factors[:n])


def some_with(disturb: Callable[[Array, Array], Data]) -> Callable[[Array, Array], Data]:
    return lambda codes, factors: disturb(codes[:120], factors[:120])


def skewed(codes: Array, factors: Array) -> Data:
    return np.exp(4 * codes), np.exp(4 * factors)


def as_it_is(codes: Array, factors: Array) -> Data:
    return codes, factors


#: What is disturbed, and how: data before and after, and other settings of what is scored before.
DISTURBED: dict[str, tuple[Callable[[Array, Array], Data], Callable[[Array, Array], Data], dict[str, Any]]] = {
    "an outlier in a code": (as_it_is, one_code, {}),
    "an outlying row of codes": (as_it_is, one_row, {}),
    "an outlier in a factor": (as_it_is, one_factor, {}),
    "ties": (as_it_is, tied, {}),
    "12 rows": (as_it_is, first(12), {}),
    "30 rows": (as_it_is, first(30), {}),
    "bins of skewed columns": (skewed, skewed, {"bins": demele.bins.EqualFrequency(10)}),
    "an outlier among few rows": (first(120), some_with(one_row), {}),
    "an outlier in a factor of few rows": (first(120), some_with(one_factor), {}),
}


def silent_move(name: str, disturb: str) -> str:
    """Return what a disturbance does to a score that does not say so; nothing, where all is well."""
    start, end, other = DISTURBED[disturb]
    before, after = scored(name, *start(*moderate(name)), **other), scored(name, *end(*moderate(name)))
    if before is None:
        raise ValueError("what is disturbed has a score")
    if after is None or after.fragile or not abs(after.value - before.value) > MOVED:
        return ""
    return f"{name}: {disturb}: {before.value:.3f} became {after.value:.3f}; notes: {after.notes}"


@pytest.mark.parametrize("name", NAMES)
def test_a_score_that_moves_says_so(name: str) -> None:
    metric = demele.metrics.describe(name)
    start = scored(name, *moderate(name))
    assert 0.05 < start.value < 0.98, "a score at an end of its range cannot show what moves it"
    chosen = [disturb for disturb in DISTURBED if metric.discretises or not disturb.startswith("bins")]
    silent = [found for disturb in chosen if (found := silent_move(name, disturb))]
    assert not silent, "\n".join(silent)


@pytest.mark.parametrize("disturb", [one_code, one_row, one_factor])
@pytest.mark.parametrize("n", [40, 120, 250])
def test_no_draw_of_few_rows_hides_an_outlier_in_the_bins(disturb: Callable[[Array, Array], Data], n: int) -> None:
    names = [name for name in NAMES if demele.metrics.describe(name).guards.bins]
    silent = []
    for seed in range(8):
        codes, factors = moderate("mig", n, seed)
        before, after = (_all_scored(names, *data) for data in ((codes, factors), disturb(codes, factors)))
        for name in before.keys() & after.keys():
            moved = abs(after[name].value - before[name].value)
            if moved > MOVED and not after[name].fragile:
                silent.append(f"{name}, seed {seed}: {before[name].value:.3f} became {after[name].value:.3f}")
    assert not silent, "\n".join(silent)


@pytest.mark.parametrize("name", NAMES)
def test_every_guard_is_decided_and_every_formula_can_be_called(name: str) -> None:
    metric = demele.metrics.describe(name)
    metric.check()
    assert metric.guards.outliers in ("move it", "of factors move it", "leave it")
    assert metric.source
    assert metric.definition


def test_names_are_those_of_one_metric_each() -> None:
    names = [one for name in NAMES for one in (name, *demele.metrics.describe(name).aliases)]
    assert len(names) == len(set(names))
