"""Codes of noise that score well get a note, by every metric and every route; informative codes get none."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import demele
from benchmarks.noise_notes import ABOVE, NOTES, OF_INFORMATIVE, QUICK, applicable, noise
from demele.bench.expectations import Representation
from demele.bench.scenarios import SCENARIOS
from demele.core.arrays import rng_for
from demele.core.inputs import read_pair
from demele.data import load_example
from demele.estimation.counts import EqualWidth, column_bins, joint_counts
from demele.estimation.independence import LEVEL, dependence, dependence_of_counts
from demele.metrics.data import Data
from tests.tolerances import assert_rate_at_most

pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")
CODES, FACTORS = [f"z{j}" for j in range(200)], ["number", "other", "class"]


def marks(score: demele.Score) -> set[str]:
    return {note.code for note in score.notes if note.severity == "fragile"}


def of_noise(n: int, d: int, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    codes = pd.DataFrame(rng.normal(size=(n, d)), columns=CODES[:d])
    numbers = rng.random((n, 2))
    return codes, pd.DataFrame({"number": numbers[:, 0], "other": numbers[:, 1], "class": rng.choice(list("abc"), n)})


def test_noise_is_taken_to_tell_something_as_seldom_as_promised() -> None:
    """All kinds of codes and factors of the published scan, heavy tails, ties and rare classes among them."""
    told = 0
    for index in range(40):
        codes, factors, _ = noise(50_000 + index)
        columns = [
            (factors[name].to_numpy(), False)
            if factors[name].dtype == float
            else (np.unique(factors[name], return_inverse=True)[1], True)
            for name in factors
        ]
        told += dependence(codes[:, :50], columns).detected
    assert_rate_at_most(told, 40, LEVEL)


def test_scores_of_noise_do_not_go_without_a_note() -> None:
    """The short form of ``python -m benchmarks.noise_notes``: of scores above 0.1, at most 2% without a note."""
    high = missed = 0
    names = [name for name in QUICK if name not in ("z_diff", "dmig", "xmig", "dlig", "rmig")]
    for index in range(8):
        codes, factors, _ = noise(60_000 + index)
        codes, factors = codes[:500, :50], factors[:500]
        try:
            found = demele.evaluate(codes, factors, applicable(names, codes.shape[1], factors.shape[1]))
        except demele.errors.NotEnoughData:
            continue
        high += sum(score.value > ABOVE for score in found)
        missed += sum(score.value > ABOVE and not marks(score) for score in found)
    assert high > 14
    assert_rate_at_most(missed, high, 0.02)


def test_many_codes_of_which_some_tell_are_compared_with_a_shuffle() -> None:
    codes, factors = of_noise(300, 100)
    codes["z0"] += 8 * factors["number"]
    found = demele.evaluate(codes, factors, ["z_min_variance", "mig"])
    (note,) = (one for one in found["z_min_variance"].notes if one.code == "many-codes")
    assert "100 codes are many for 300 rows" in note.message
    assert "(one shuffle)" in note.message
    assert "n_permutations=20" in note.message
    asked = demele.evaluate(codes, factors, ["z_min_variance"], n_permutations=4)["z_min_variance"]
    (note,) = (one for one in asked.notes if one.code == "many-codes")
    assert f"{np.mean(asked.chance.values):.3f} instead of {asked.value:.3f} (mean of 4)" in note.message
    assert not marks(found["mig"]) & set(NOTES)


@pytest.mark.parametrize("name", ["noise", "mixing", "non_linear", "redundant", "rotation", "tied", "categorical"])
def test_informative_codes_of_ordinary_size_get_no_note(name: str) -> None:
    scenario = SCENARIOS[name]
    severity = scenario.severities[len(scenario.severities) // 4]
    drawn = scenario.draw(rng_for(0, "ordinary", name), severity, 2000)
    codes, factors = (drawn.codes, drawn.factors) if isinstance(drawn, Representation) else drawn
    metrics = [one for one in OF_INFORMATIVE if one != "z_diff"]
    for score in demele.evaluate(codes, factors, metrics):
        assert not marks(score) & set(NOTES), (score.metric, score.notes)


def test_the_bundled_digits_get_no_note() -> None:
    sample = load_example("pca")
    for score in demele.evaluate(sample.codes, sample.factors, [one for one in OF_INFORMATIVE if one != "z_diff"]):
        assert not marks(score) & set(NOTES), (score.metric, score.notes)


@pytest.mark.parametrize(
    ("codes", "factors"),
    [
        (lambda u, rng: np.cos(2 * np.pi * u), lambda u: u),  # a hump: no correlation of ranks
        (lambda u, rng: rng.normal(size=len(u)) * (1 + 4 * u), lambda u: u),  # only the spread tells
        (lambda u, rng: np.where(u < 0.02, 1.0, 0.0), lambda u: (u < 0.02).astype(int)),  # rare, and all of it
        (lambda u, rng: np.exp(20 * u + rng.standard_t(1, len(u))), lambda u: u),  # heavy tails
        (lambda u, rng: np.digitize(u, np.arange(0, 1, 0.005)) + rng.normal(size=len(u)), lambda u: (u * 200) // 1),
    ],
)
def test_what_tells_is_found(codes: Any, factors: Any) -> None:
    rng = np.random.default_rng(3)
    u = rng.random(2000)
    values = factors(u)
    categorical = values.dtype.kind == "i" or len(np.unique(values)) < 2000
    own = np.unique(values, return_inverse=True)[1] if categorical else values
    both = np.column_stack([rng.normal(size=2000), codes(u, rng)])
    assert dependence(both, [(own, categorical)]).detected
    assert not dependence(both, [(rng.permutation(own), categorical)]).detected


def test_what_only_two_codes_tell_together_is_found() -> None:
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(1000, 2))
    assert dependence(codes, [((codes.prod(axis=1) > 0).astype(int), True)]).detected


def test_missing_annotations_and_counts_are_looked_at_alike() -> None:
    rng = np.random.default_rng(0)
    values = rng.random(900)
    codes = np.column_stack([rng.normal(size=900), values + 0.5 * rng.normal(size=900)])
    some = np.where(np.arange(900) % 3 == 0, np.nan, values)
    assert dependence(codes, [(some, False)]).detected
    assert not dependence(codes[:, :1], [(some, False)]).detected
    for own, told in ((codes, True), (codes[:, :1], False)):
        data = Data(*read_pair(own, values))
        counts = joint_counts(data.codes, data.factors, *column_bins(data.codes, data.factors, EqualWidth(10)))
        assert dependence_of_counts(counts).detected is told


@pytest.mark.parametrize("route", ["counts", "sums", "sampled", "sparse", "files"])
def test_no_route_loses_the_note(route: str, tmp_path: Path) -> None:
    codes, factors = of_noise(600, 5)
    found: Any
    if route == "sparse":
        matrix = sp.random(600, 300, density=0.05, random_state=0, format="csc")
        found = demele.evaluate_sparse(matrix, factors)
    elif route == "files":
        pd.concat([codes, factors], axis=1).to_parquet(tmp_path / "rows.parquet")
        path = tmp_path / "rows.parquet"
        found = demele.evaluate(
            demele.scan_parquet(path, CODES[:5]),
            demele.scan_parquet(path, FACTORS),
            ["modularity", "jemmig", "irs", "z_min_variance"],
        )
    else:
        metric = {"counts": ["modularity", "jemmig"], "sums": ["irs"], "sampled": ["z_min_variance"]}[route]
        frame = None if route == "sampled" else demele.bins.BinEdges.of(codes, factors)
        state = demele.Accumulator(metric, frame=frame, bound=600) if frame else demele.Accumulator(metric, bound=600)
        found = state.update(codes, factors).compute()
    scores = [found] if isinstance(found, demele.Score) else list(found)
    high = [score for score in scores if score.value > ABOVE]
    assert high
    for score in high:
        codes_of_notes = {note.code for note in score.notes}
        assert codes_of_notes & {"noise", "many-codes", "unprobed"}, (score.metric, score.notes)


def test_dci_whose_predictors_explain_nothing_says_so() -> None:
    """A code that goes round with the factor: no line tells it, and the Lasso's choice is chance."""
    rng = np.random.default_rng(0)
    factors = rng.random((800, 3))
    codes = np.abs(factors - 0.5) + 0.02 * rng.normal(size=(800, 3))
    triple = demele.metrics.dci(codes, factors, model="lasso")
    assert triple.explicitness.value < 0.05
    high = [score for score in (triple.modularity, triple.compactness) if score.value > ABOVE]
    assert all("unexplained" in marks(score) for score in high)
