"""The Bayesian consensus: exact posteriors by enumeration, calibration, convergence, what is told and refused."""

import itertools
import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import t as student

from demele.core.arrays import rng_for
from demele.core.errors import InputError, NotConvergedWarning, NotEnoughData, UnknownNameError
from demele.labels import Annotations, bayesian_consensus
from demele.labels.joined.generative import (
    Answers,
    CountFeatures,
    NormalFeatures,
    effective_samples,
    log_joint,
    run_chain,
    split_r_hat,
    sufficient,
)
from demele.labels.joined.voting import Consensus
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact, assert_mean

Answer = tuple[int, int, int]

#: Item, annotator, answer. Of two classes; one annotator never answers 1, one pair repeats, one item has no answer.
TWO: list[Answer] = [(0, 0, 0), (0, 1, 0), (0, 2, 0), (1, 0, 1), (1, 1, 0), (2, 1, 1), (2, 0, 1), (2, 0, 0), (3, 1, 0)]
#: Of three classes; nobody gives all answers.
THREE: list[Answer] = [(0, 0, 2), (0, 1, 2), (1, 0, 0), (1, 1, 1), (2, 0, 2), (3, 1, 1)]
COUNTS = np.array([[2, 0, 1], [0, 1, 0], [0, 2, 1], [0, 0, 0], [1, 0, 0]])
REALS = np.array([[0.1, 5.0], [1.3, 4.0], [1.1, -3.0], [-0.6, 6.0], [1.0, 4.5]])


# The posterior by enumeration, from predictive probabilities of one answer or value after the other -----------------


def urn(counts: NDArray[np.float64], prior: NDArray[np.float64], drawn: int) -> float:
    """Log probability of the next draw, and remember it."""
    probability = (prior[drawn] + counts[drawn]) / (prior.sum() + counts.sum())
    counts[drawn] += 1
    return math.log(probability)


def of_answers(labels: tuple[int, ...], answers: list[Answer], prior: NDArray[np.float64]) -> float:
    k = len(prior)
    seen = np.zeros((1 + max(who for _, who, _ in answers), k, k))
    return sum(urn(seen[who, labels[item]], prior[labels[item]], said) for item, who, said in answers)


def of_counts(labels: tuple[int, ...], counts: NDArray[Any], prior: float, k: int) -> float:
    seen, flat = np.zeros((k, counts.shape[1])), np.full(counts.shape[1], prior)
    return sum(
        urn(seen[label], flat, feature)
        for label, row in zip(labels, counts, strict=True)
        for feature, times in enumerate(row)
        for _ in range(times)
    )


def of_reals(labels: tuple[int, ...], values: NDArray[np.float64], prior: float, k: int) -> float:
    """Student predictive densities, with the parameters of each class updated value by value."""
    found = 0.0
    standardised = (values - values.mean(axis=0)) / values.std(axis=0)
    for column in standardised.T:
        mean, weight = np.zeros(k), np.full(k, prior)
        shape, rate = np.full(k, prior / 2), np.full(k, prior / 2)
        for label, x in zip(labels, column, strict=True):
            scale = math.sqrt(rate[label] * (weight[label] + 1) / (shape[label] * weight[label]))
            found += float(student.logpdf(x, 2 * shape[label], mean[label], scale))
            rate[label] += weight[label] * (x - mean[label]) ** 2 / (2 * (weight[label] + 1))
            mean[label] = (weight[label] * mean[label] + x) / (weight[label] + 1)
            weight[label] += 1
            shape[label] += 0.5
    return found


class Exact:
    """Posterior of everything, from all assignments of classes to items."""

    def __init__(
        self,
        n: int,
        answers: list[Answer],
        prior: NDArray[np.float64],
        of_class: NDArray[np.float64],
        features: NDArray[Any] | None = None,
        model: str = "counts",
        strength: float = 1.0,
    ) -> None:
        k = len(prior)
        self.assignments = list(itertools.product(range(k), repeat=n))
        self.log_joint = np.empty(len(self.assignments))
        for index, labels in enumerate(self.assignments):
            seen = np.zeros(k)
            found = sum(urn(seen, of_class, label) for label in labels) + of_answers(labels, answers, prior)
            if features is not None:
                found += (of_counts if model == "counts" else of_reals)(labels, features, strength, k)
            self.log_joint[index] = found
        weights = np.exp(self.log_joint - self.log_joint.max())
        weights /= weights.sum()
        self.probabilities, self.proportions = np.zeros((n, k)), np.zeros(k)
        self.accuracy = np.zeros(1 + max(who for _, who, _ in answers))
        for weight, labels in zip(weights, self.assignments, strict=True):
            self.probabilities[range(n), labels] += weight
            theta = of_class + np.bincount(labels, minlength=k)
            theta /= theta.sum()
            self.proportions += weight * theta
            for who in range(self.accuracy.size):
                gamma = prior.copy()
                for item, other, said in answers:
                    if other == who:
                        gamma[labels[item], said] += 1
                self.accuracy[who] += weight * (theta * np.diag(gamma) / gamma.sum(axis=1)).sum()


def table_of(answers: list[Answer], n: int, k: int) -> Annotations:
    items, who, said = zip(*answers, strict=True)
    return Annotations(items, who, said, classes=range(k), all_items=range(n))


def priors(right: float, other: float, k: int) -> NDArray[np.float64]:
    return np.where(np.eye(k, dtype=bool), right, other)


def sampled(runs: int, table: Annotations, **options: Any) -> list[Consensus]:
    """Independent runs of one chain each, so that their spread is the Monte-Carlo error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        return [
            bayesian_consensus(table, n_samples=150, n_warmup=50, n_chains=1, seed=seed, **options)
            for seed in range(runs)
        ]


#: Answers, items, classes, features and their model, priors of right and other answers, prior of the classes.
Case = tuple[list[Answer], int, int, NDArray[Any] | None, str, tuple[float, float], tuple[float, ...]]
CASES = [
    pytest.param((TWO, 5, 2, None, "counts", (2.0, 1.0), (1.0, 1.0)), id="two classes"),
    pytest.param((TWO, 5, 2, None, "counts", (1.5, 0.3), (3.0, 0.7)), id="small uneven priors"),
    pytest.param((THREE, 4, 3, None, "counts", (2.0, 0.5), (1.0, 2.0, 0.5)), id="three classes"),
    pytest.param((TWO, 5, 2, COUNTS, "counts", (2.0, 1.0), (1.0, 1.0)), id="counts"),
    pytest.param((TWO, 5, 2, REALS, "normal", (2.0, 1.0), (1.0, 1.0)), id="normal"),
]


@pytest.mark.parametrize("case", CASES)
def test_posterior_is_that_of_enumeration(case: Case) -> None:
    answers, n, k, features, model, right_other, of_class = case
    exact = Exact(n, answers, priors(*right_other, k), np.array(of_class), features, model, 0.8)
    found = sampled(
        16,
        table_of(answers, n, k),
        features=features,
        feature_model=model,
        prior_right=right_other[0],
        prior_other=right_other[1],
        prior_proportions=of_class,
        prior_features=0.8,
    )
    for item, label in itertools.product(range(n), range(k - 1)):
        assert_mean([one.probabilities[item, label] for one in found], exact.probabilities[item, label])
    for label in range(k):
        assert_mean([one.proportions[label] for one in found], exact.proportions[label])
    for who in range(exact.accuracy.size):
        assert_mean([one.details["accuracy"][who] for one in found], exact.accuracy[who])


@pytest.mark.parametrize("case", CASES)
def test_objective_is_the_log_joint(case: Case) -> None:
    answers, n, k, features, model, right_other, of_class = case
    exact = Exact(n, answers, priors(*right_other, k), np.array(of_class), features, model, 0.8)
    table = table_of(answers, n, k)
    part = Answers(table, priors(*right_other, k))
    extra: Any = None
    if features is not None and model == "counts":
        extra = CountFeatures(csr_array(features.astype(float)), 0.8, k)
    elif features is not None:
        extra = NormalFeatures((features - features.mean(axis=0)) / features.std(axis=0), 0.8, k)
    found = [
        log_joint(part, extra, np.array(of_class), sufficient(part, extra, np.array(labels, np.int32), k))
        for labels in exact.assignments
    ]
    constant = 0.0 if model == "counts" else found[0] - exact.log_joint[0]  # normal densities leave one out
    assert_close(np.array(found) - constant, exact.log_joint, SOLVER)
    one = sampled(1, table, features=features, feature_model=model, prior_features=0.8)[0]
    assert len(one.objective) == one.iterations == 200


# What comes back ---------------------------------------------------------------------------------------------------


def simulated(seed: int, n: int, right: list[float], k: int = 3) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Classes, and answers (n_annotators, n) that are right with the given probabilities."""
    rng = rng_for(seed, "simulated crowd")
    labels = rng.integers(k, size=n)
    wrong = (labels + rng.integers(1, k, size=(len(right), n))) % k
    return labels, np.where(rng.random((len(right), n)) < np.array(right)[:, None], labels, wrong)


#: How often each annotator of the simulated crowd is right.
CROWD = [0.95, 0.85, 0.75, 0.5, 0.4]


@pytest.fixture(scope="module")
def crowd() -> Consensus:
    _, answers = simulated(1, 200, CROWD)
    return bayesian_consensus(answers, n_samples=200, n_warmup=60, n_chains=3, level=0.8, seed=4)


def test_result_is_put_together_of_the_chains(crowd: Consensus) -> None:
    _, answers = simulated(1, 200, CROWD)
    table = Annotations.from_matrix(answers)
    part = Answers(table, priors(2.0, 0.5, 3))
    streams = [rng_for(4, "consensus", "chain", index) for index in range(3)]
    chains = [run_chain(part, None, table.votes(), np.ones(3), n_warmup=60, n_samples=200, rng=rng) for rng in streams]
    assert_close(crowd.probabilities, np.mean([chain.probabilities for chain in chains], axis=0), ROUNDING)
    accuracy = np.concatenate([chain.accuracy for chain in chains])
    assert_close(crowd.details["accuracy"], accuracy.mean(axis=0), ROUNDING)
    ends = np.quantile(accuracy, [0.1, 0.9], axis=0)
    assert_close([one.low for one in crowd.intervals["accuracy"]], ends[0], ROUNDING)
    assert_close([one.high for one in crowd.intervals["accuracy"]], ends[1], ROUNDING)
    assert {one.level for one in crowd.intervals["proportions"]} == {0.8}
    assert_exact(crowd.objective, chains[0].log_joint)
    # The profiles are expected counts: answers weighted by probabilities.
    expected = np.zeros((3, 3))
    for item in range(200):
        expected[:, answers[2, item]] += crowd.probabilities[item]
    assert_close(crowd.profiles.table(2), expected + priors(2.0, 0.5, 3), ROUNDING)


def test_log_likelihood_is_of_the_answers(crowd: Consensus) -> None:
    _, answers = simulated(1, 200, CROWD)
    found = 0.0
    for item in range(200):
        each = crowd.proportions.copy()
        for who in range(5):
            table = crowd.profiles.table(who)
            each *= table[:, answers[who, item]] / table.sum(axis=1)
        found += math.log(each.sum())
    assert crowd.log_likelihood is not None
    assert_close(crowd.log_likelihood, found, ROUNDING)


def test_same_bits_whatever_the_workers(crowd: Consensus) -> None:
    _, answers = simulated(1, 200, CROWD)
    with parallel_config(backend="threading"):
        again = bayesian_consensus(answers, n_samples=200, n_warmup=60, n_chains=3, level=0.8, seed=4, n_jobs=3)
    assert_exact(again.probabilities, crowd.probabilities)
    assert again.to_dict() == crowd.to_dict()
    other = bayesian_consensus(answers, n_samples=200, n_warmup=60, n_chains=3, level=0.8, seed=5)
    assert (other.probabilities != crowd.probabilities).any()


# Features ------------------------------------------------------------------------------------------------------------


def documents(labels: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Counts of 30 words, of which 10 are frequent in each of three classes."""
    frequency = np.where(np.arange(30) // 10 == np.arange(3)[:, None], 0.06, 0.02)
    rng = rng_for(seed, "simulated documents")
    return np.stack([rng.multinomial(12, frequency[label]) for label in labels])


def test_sparse_and_dense_counts_are_the_same() -> None:
    labels, answers = simulated(2, 30, [0.8, 0.7, 0.7])
    counts = documents(labels, 2)
    options: Any = {"n_samples": 20, "n_warmup": 20, "n_chains": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        dense = bayesian_consensus(answers, features=counts, **options)
        for same in (csr_array(counts), pd.DataFrame(counts), csr_array(counts.T).T):
            assert_exact(bayesian_consensus(answers, features=same, **options).probabilities, dense.probabilities)


def test_units_and_constant_features_do_not_matter() -> None:
    labels, answers = simulated(3, 30, [0.8, 0.7, 0.7])
    values = rng_for(3, "simulated measurements").normal(np.eye(3)[labels], 1)
    options: Any = {"feature_model": "normal", "n_samples": 20, "n_warmup": 20, "n_chains": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        plain = bayesian_consensus(answers, features=values, **options)
        other = np.column_stack([values * [1e-200, 1e6, 2] + [0, 5, 1], np.full(30, 7.0)])
        found = bayesian_consensus(answers, features=other, **options)
    assert_close(found.probabilities, plain.probabilities, SOLVER)
    (note,) = (note for note in found.notes if note.code == "constant-features")
    assert note.subject == ("z4",)


# Warnings and notes --------------------------------------------------------------------------------------------------


def test_exchanged_classes_are_told() -> None:
    _, answers = simulated(6, 60, [0.95, 0.95, 0.95, 0.95], k=2)
    for n_samples, few in ((40, False), (20, True)):
        usual = {note.code for note in bayesian_consensus(answers, n_samples=n_samples, n_warmup=20).notes}
        assert not {"classes-exchanged", "prior-without-preference"} & usual
        assert ("few-effective-draws" in usual) is few
    # A prior by which everybody is always wrong turns the labels round.
    found = bayesian_consensus(answers, n_samples=40, n_warmup=20, prior_right=1, prior_other=500)
    (note,) = (note for note in found.notes if note.code == "classes-exchanged")
    assert note.message.startswith("4 of 4 chains")
    assert note.subject == ("chain 0", "chain 1", "chain 2", "chain 3")
    assert {"prior-without-preference", "unlike-majority"} <= {note.code for note in found.notes}
    assert (found.labels != found.majority).all()


# What the Bayesian consensus refuses, and how it says so -------------------------------------------------------------


GOOD = [[0, 1, 1], [0, 1, 0]]
PLAIN = np.array([[1.0], [2.0], [3.0]])


def test_bad_input() -> None:
    for options, error, message in [
        ({"features": [[1], [2]]}, InputError, r"features: expected 3 rows, one per item .* got 2; .*all_items"),
        ({"features": csr_array(np.ones((4, 1)))}, InputError, r"features: expected 3 rows.* got 4"),
        ({"features": [[1, 0], [0, -2], [0, 1]]}, InputError, r"counts.* got 1 other, first -2 at row 1, column 1"),
        ({"features": [[1.0], [0.5], [2.5]]}, InputError, r"got 2 others, first 0.5 at row 1.*feature_model='normal'"),
        ({"features": csr_array([[1.0], [0], [np.nan]])}, InputError, r"got 1 other, first nan at row 2, column 0"),
        ({"features": [[0], [0], [0]]}, NotEnoughData, r"at least 1 count above 0"),
        ({"features": [[2], [2], [2]], "feature_model": "normal"}, NotEnoughData, r"at least 1 feature that varies"),
        ({"features": [[0.0], [5e-324], [0.0]], "feature_model": "normal"}, InputError, r"'z1' varies too little"),
        ({"features": pd.DataFrame(PLAIN, index=[2, 0, 1])}, InputError, r"in another order.*features\.loc"),
        ({"feature_model": "gauss"}, UnknownNameError, r"feature_model: expected 'counts' or 'normal', got 'gau"),
        ({"prior_proportions": 0.0}, InputError, r"prior_proportions: expected a finite number above 0"),
        ({"prior_proportions": [1, 2, 3]}, InputError, r"prior_proportions: expected 2 numbers, .* got 3"),
        ({"prior_proportions": [1, 0]}, InputError, r"prior_proportions, class 1: expected .* above 0, got 0"),
    ]:
        refuses(error, message, bayesian_consensus, GOOD, **options)


# Convergence of chains -----------------------------------------------------------------------------------------------


def autoregressive(seed: int, rho: float, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Stationary chains whose autocorrelation at lag t is rho^t."""
    noise = rng_for(seed, "autoregressive").normal(size=shape)
    chains = noise.copy()
    for draw in range(1, shape[1]):
        chains[:, draw] = rho * chains[:, draw - 1] + math.sqrt(1 - rho**2) * noise[:, draw]
    return chains


def test_r_hat_by_hand() -> None:
    # Halves (1, 2), (1, 2), (3, 4), (3, 4): within 1/2; means 1.5, 1.5, 3.5, 3.5 of variance 4/3; sqrt(1/2 + 8/3).
    assert_close(split_r_hat(np.array([[1.0, 2, 1, 2], [3, 4, 3, 4]])), math.sqrt(19 / 6), ROUNDING)
    # A chain that wanders is found by its halves alone: (0, 2), (10, 12): within 2, between 50; sqrt(1/2 + 25).
    assert_close(split_r_hat(np.array([[0.0, 2, 10, 12]])), math.sqrt(25.5), ROUNDING)


def test_what_does_not_vary() -> None:
    assert np.isnan(split_r_hat(np.ones((2, 6))))
    assert np.isnan(effective_samples(np.ones((2, 6))))
    stuck = np.array([[1.0] * 6, [2.0] * 6])
    assert split_r_hat(stuck) == math.inf
    assert 0 < effective_samples(stuck) <= 4


def in_loops(chains: NDArray[np.float64]) -> float:
    """Vehtari et al. (2021), equations 10 to 13, as they stand."""
    n = chains.shape[1] // 2
    halves = [row[start : start + n] for row in chains for start in (0, n)]
    m = len(halves)
    within = sum(float(np.var(half, ddof=1)) for half in halves) / m
    means = [float(np.mean(half)) for half in halves]
    overall = (n - 1) / n * within + float(np.var(means, ddof=1))
    rho = [1.0]
    for lag in range(1, n):
        total = 0.0
        for half, mean in zip(halves, means, strict=True):
            total += sum((half[t] - mean) * (half[t + lag] - mean) for t in range(n - lag)) / (n - 1)
        rho.append(1 - (within - total / m) / overall)
    time, least = -1.0, math.inf
    for pair in range(n // 2):
        value = rho[2 * pair] + rho[2 * pair + 1]
        if value <= 0:
            break
        least = min(least, value)
        time += 2 * least
    return float(m * n) / float(max(time, 1 / math.log10(m * n)))


def test_effective_samples_as_in_loops() -> None:
    for shape in [(1, 12), (3, 50)]:
        for rho in [-0.6, 0.0, 0.5, 0.95]:
            chains = autoregressive(3, rho, shape)
            assert_close(effective_samples(chains), in_loops(chains), SOLVER)


@pytest.mark.parametrize("shape", [(2, 3), (8,)])
def test_too_few_draws(shape: tuple[int, ...]) -> None:
    refuses(InputError, r"draws: expected .* with at least 4 draws, got shape", split_r_hat, np.ones(shape))
    refuses(InputError, "draws: expected", effective_samples, np.ones(shape))
