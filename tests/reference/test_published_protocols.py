"""The protocols give what published code gives: beside loop-written oracles, and beside values of the code itself."""

import csv
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from benchmarks.protocol_arrays import ARRAYS, BINS, cut_classes, latte_rows
from benchmarks.protocols import NEWER
from demele.core.arrays import rng_for
from demele.core.errors import FragileScoreWarning
from demele.metrics.importances import mean_compactness
from tests.oracles import published as oracle
from tests.tolerances import (
    LATTE,
    PUBLISHED,
    PUBLISHED_TIES,
    PUBLISHED_TREES,
    ROUNDING,
    SOLVER,
    assert_close,
    assert_exact,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::demele.core.errors.FragileScoreWarning"),
    # on raw units solvers stop early, there and here
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::demele.core.errors.NotConvergedWarning"),
]

Array = NDArray[Any]
FILE = Path(__file__).parents[2] / "benchmarks" / "results" / "protocols_published.csv"


def small(seed: int = 0, n: int = 600) -> tuple[Array, Array]:
    """Codes in unlike units, one of noise, and factors of 2, 3 and 4 classes."""
    rng = np.random.default_rng(seed)
    factors = np.column_stack([rng.integers(0, size, n) for size in (2, 3, 4)])
    codes = np.hstack([factors + 0.5 * rng.standard_normal((n, 3)), rng.standard_normal((n, 1))])
    return codes * [1.0, 0.2, 4.0, 10.0] + [0.0, 1.0, -2.0, 0.0], factors


def dlib(metric: str, codes: Array, factors: Array, **keywords: Any) -> demele.Score:
    return demele.evaluate(codes, factors, metric, protocol="dlib2019", **keywords)[metric]


def matrix(score: demele.Score) -> Array:
    found: Array = score.matrix.to_numpy()
    return found


def split(n: int, *identity: str | int) -> tuple[Array, Array]:
    """Rows of the split that a metric draws: two thirds and one third of what there is."""
    order = rng_for(0, *identity).permutation(n)
    n_train = n * 10_000 // 15_000
    return np.sort(order[:n_train]), np.sort(order[n_train:])


@pytest.mark.oracle("irs")
def test_irs_is_theirs() -> None:
    codes, factors = small()
    codes = np.hstack([codes, np.full((len(codes), 1), 3.0)])
    assert_close(dlib("irs", codes, factors).value, oracle.irs(codes, factors), ROUNDING)


def test_irs_of_continuous_factors_is_theirs() -> None:
    codes, _ = small(1)
    factors = np.random.default_rng(1).random((len(codes), 2)) + 0.02 * codes[:, :2]
    cut = np.column_stack([oracle.equal_width(column, BINS) for column in factors.T])
    assert_close(dlib("irs", codes, factors).value, oracle.irs(codes, cut), ROUNDING)


@pytest.mark.oracle("sap")
def test_sap_of_classes_is_theirs() -> None:
    codes, factors = small()
    train, test = split(len(codes), "sap", "repeat", 0, "rows", 0, 1, 2)
    score = dlib("sap", codes, factors)
    assert score.per_factor is not None
    assert_close(score.per_factor, oracle.sap_classes(codes, factors, train, test), ROUNDING)
    standardised = dlib("sap", codes, factors, options={"sap": {"units": "standard"}})
    assert abs(standardised.value - score.value) > PUBLISHED["atol"]


def test_sap_of_continuous_factors_is_theirs() -> None:
    rng = np.random.default_rng(2)
    factors = rng.random((300, 2))
    codes = np.hstack([factors + 0.1 * rng.standard_normal((300, 2)), 1e-7 * factors])  # variances below 1e-12
    score = dlib("sap", codes, factors)
    assert_close(score.value, oracle.sap_continuous(codes, factors), ROUNDING)
    assert_exact(matrix(score)[2:], np.zeros((2, 2)))
    assert demele.metrics.sap(codes, factors).value < score.value - 0.5  # in standard deviations they are perfect


@pytest.mark.oracle("explicitness")
def test_explicitness_is_theirs() -> None:
    codes, factors = small()
    train, test = split(len(codes), "explicitness", "repeat", 0, "rows")
    expected = oracle.explicitness(codes, factors, train, test)
    assert abs(dlib("explicitness", codes, factors).value - expected) < PUBLISHED["atol"] / 10  # they stop early
    above = dlib("explicitness", codes, factors, options={"explicitness": {"report": "above-chance"}})
    assert_close(above.value, 2 * dlib("explicitness", codes, factors).value - 1, ROUNDING)


@pytest.mark.oracle("dci_boosting_modularity", "dci_boosting_compactness", "dci_boosting_explicitness")
def test_boosted_trees_are_theirs() -> None:
    codes, factors = small(n=450)
    columns, accuracies = [], []
    for i, labels in enumerate(factors.T):
        order = rng_for(0, "dci_boosting", "repeat", 0, "factor", i).permutation(len(codes))
        importance, accuracy = oracle.boosted(codes, labels, order[:300], order[300:])
        columns.append(importance)
        accuracies.append(accuracy)
    theirs = np.column_stack(columns)
    names = [f"dci_boosting_{prop}" for prop in ("modularity", "compactness", "explicitness")]
    found = demele.evaluate(codes, factors, names, protocol="dlib2019")
    assert_close(matrix(found[names[0]]), theirs, PUBLISHED_TREES)
    assert_close(found[names[0]].value, oracle.disentanglement(theirs), PUBLISHED_TREES)
    assert_close(found[names[1]].value, oracle.completeness(theirs), PUBLISHED_TREES)
    assert_close(found[names[2]].value, np.mean(accuracies), PUBLISHED)


def test_compactness_by_importance_is_theirs() -> None:
    importance = np.array([[0.9, 0.0, 0.3], [0.1, 0.0, 0.2], [0.0, 0.0, 1.5]])
    theirs = oracle.completeness(importance)
    assert abs(mean_compactness(importance, "importance") - theirs) < 1e-8  # 1e-11 is added to each entry there
    assert mean_compactness(importance, "uniform") < theirs - 0.1  # the factor without importance counts 0
    assert mean_compactness(np.zeros((2, 2)), "importance") == 0.0


@pytest.mark.oracle("z_diff", "z_min_variance")
@pytest.mark.parametrize("unit", [1.0, 0.004])
def test_groups_are_theirs(unit: float) -> None:
    codes, factors = small(3)
    codes = np.hstack([codes[:, :3] + 2.0 * np.random.default_rng(4).standard_normal((len(codes), 3)), codes[:, 3:]])
    codes = codes * [unit, 1.0, 1.0, 1.0]
    sizes = {"n_train": 300, "n_test": 300}
    differences = []
    for seed in range(4):
        sampler = oracle.Sampler(codes, factors, seed)
        theirs = oracle.beta_vae(sampler, **sizes), oracle.factor_vae(sampler, **sizes)
        options = {"z_diff": sizes, "z_min_variance": sizes}
        found = demele.evaluate(codes, factors, list(options), protocol="dlib2019", seed=seed, options=options)
        differences.append([found[name].value - other for name, other in zip(options, theirs, strict=True)])
    mean, error = np.mean(differences, axis=0), np.std(differences, axis=0, ddof=1) / np.sqrt(len(differences))
    assert (np.abs(mean) < 5 * error + PUBLISHED["atol"]).all(), (mean, error)


def test_codes_below_the_threshold_do_not_vote_and_a_note_says_so() -> None:
    codes, factors = small()
    cheap = {"z_min_variance": {"n_train": 200, "n_test": 200}}
    with pytest.warns(FragileScoreWarning, match="vary, but by less than prune_below=0.05"):
        score = dlib("z_min_variance", 1e-4 * codes, factors, options=cheap)
    assert score.value == 0.0
    (note,) = [note for note in score.notes if note.code == "pruned-codes"]
    assert note.severity == "fragile"
    assert demele.metrics.z_min_variance(1e-4 * codes, factors, n_train=200, n_test=200).value > 0.8


@pytest.mark.parametrize("metric", ["sap", "z_diff", "irs"])
def test_where_units_decide_a_note_says_so(metric: str) -> None:
    codes, factors = small()
    own = {"z_diff": {"n_train": 300, "n_test": 300}}
    codes = codes / codes.std(axis=0) * np.array([1e-4, 1e-4, 1e-4, 100.0])
    with pytest.warns(FragileScoreWarning, match="the units of the codes decide much of it"):
        score = dlib(metric, codes, factors, options=own)
    assert "raw-units" in {note.code for note in score.notes}


# The values of the code itself --------------------------------------------------------------------------------------


@lru_cache
def recorded() -> dict[tuple[str, str, str], list[float]]:
    """Values of the published code by source, array and metric; one for each attribute of Latte."""
    found: dict[tuple[str, str, str], list[float]] = {}
    with FILE.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            found.setdefault((row["source"], row["array"], row["metric"]), []).append(float(row["value"]))
    return found


@pytest.mark.parametrize("array", list(ARRAYS))
def test_recorded_values_of_disentanglement_lib(array: str) -> None:
    codes, factors = ARRAYS[array].drawn()
    classes = (cut_classes(factors) if ARRAYS[array].continuous else factors).astype(int)
    found = demele.evaluate(
        codes, demele.Factors(classes, kinds="categorical"), ["mig", "modularity"], protocol="dlib2019"
    )
    for score in found:
        assert_close(score.value, recorded()["disentanglement_lib", array, score.metric], SOLVER)
    exact = ["irs", "sap"] if ARRAYS[array].continuous else ["irs"]
    for metric in exact:
        given = factors if ARRAYS[array].continuous else classes
        assert_close(dlib(metric, codes, given).value, recorded()["disentanglement_lib", array, metric], SOLVER)


@pytest.mark.oracle("mcc", "snc")
@pytest.mark.parametrize("array", list(ARRAYS))
def test_recorded_values_of_mcc_and_snc(array: str) -> None:
    codes, factors = ARRAYS[array].drawn()
    classes = (cut_classes(factors) if ARRAYS[array].continuous else factors).astype(int)
    options: Any = NEWER["snc_nk"]
    assert_close(
        demele.evaluate(codes, demele.Factors(classes, kinds="categorical"), ["snc"], **options)["snc"].value,
        recorded()["snc_nk", array, "snc"][0],
        ROUNDING,
    )
    (theirs,) = recorded()["icebeem", array, "mcc"]
    if not np.isnan(theirs):  # which theirs is where a code is constant
        as_numbers = demele.evaluate(codes, demele.Factors(factors, kinds="continuous"), ["mcc"], protocol="mcc2020")
        assert_close(as_numbers["mcc"].value, theirs, ROUNDING)


@pytest.mark.parametrize("array", ["dead-code", "near-dead", "skewed", "numbers", "numbers-copies"])
def test_recorded_values_of_latte(array: str) -> None:
    codes, factors = latte_rows(ARRAYS[array])
    continuous = ARRAYS[array].continuous
    given = factors if continuous else factors.astype(int)
    kinds = "continuous" if continuous else "categorical"
    names = ["mig", "dmig", "xmig", "dlig", "modularity", "sap"]
    for score in demele.evaluate(codes, demele.Factors(given, kinds=kinds), names, protocol="latte", seed=7):
        theirs = recorded()["latte", array, score.metric]
        own = score.per_code if score.per_factor is None else score.per_factor
        # which of several factors that a code tells nothing of divides DLIG is a draw of the order there
        tied = score.metric == "dlig" and not continuous
        assert_close(own if own is not None else [], theirs, PUBLISHED_TIES if tied else LATTE)


@pytest.mark.parametrize("kind", ["continuous", "categorical"])
def test_sums_and_samples_follow_the_protocol(kind: str) -> None:
    rng = np.random.default_rng(5)
    factors = rng.random((400, 2)) if kind == "continuous" else rng.integers(0, 3, (400, 2))
    codes = np.hstack([factors + 0.1 * rng.standard_normal((400, 2)), 1e-7 * factors])
    for protocol in ("dlib2019", "latte"):
        metrics = ["sap", "irs"]
        frame = demele.bins.BinEdges.of(codes, factors, kinds=kind)
        state = demele.Accumulator(metrics, frame=frame, protocol=protocol, kinds=kind)
        for rows in np.array_split(np.arange(400), 3):
            state = state.update(codes[rows], factors[rows])
        whole = demele.evaluate(codes, demele.Factors(factors, kinds=kind), metrics, protocol=protocol)
        for score in state.compute():
            assert_close(score.value, whole[score.metric].value, ROUNDING)
