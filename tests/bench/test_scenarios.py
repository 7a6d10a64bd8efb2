"""Scenarios of the bench draw what they say, and expect only what can be built."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from demele import bench
from demele.bench.expectations import Candidate, Representation, own_settings
from demele.bench.run import chosen_candidates, declined, drawn
from demele.bench.scenarios import CHANGES, MULTIPLES, SCENARIOS, M, tangent
from demele.core.arrays import Floats
from demele.errors import InputError
from demele.metrics import interventional_robustness
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.protocols import protocol
from demele.metrics.request import given_options, merged_options
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact, assert_mean

N = 300
#: Their first severity is the factors themselves.
PERFECT = [
    *("noise", "mixing", "partial", "rotation", "oblique", "twist", "correlated", "annotation_noise", "outliers"),
    *("tied", "heavy_tails", "inactive", "duplicated", "constant_factor", "sample_size"),
]
#: The severity is the number of rows.
SIZED = ["sample_size", "chance"]
EVERY = [(name, severity) for name, scenario in SCENARIOS.items() for severity in scenario.severities]


def sample(name: str, severity: float, seed: int = 0, n: int = N) -> Representation:
    return drawn(SCENARIOS[name], severity, seed, n)


def pair(name: str, severity: float, seed: int = 0, n: int = N) -> tuple[Floats, Floats]:
    found = sample(name, severity, seed, n)
    return np.asarray(found.codes, float), np.asarray(found.factors, float)


def every(name: str, n: int = N) -> Iterator[tuple[float, Floats, Floats]]:
    """Yield each severity of a scenario with codes and factors."""
    for severity in SCENARIOS[name].severities:
        yield severity, *pair(name, severity, n=n)


def linear_map(codes: Floats, factors: Floats) -> Floats:
    """Return the matrix W of codes = factors W."""
    return np.asarray(np.linalg.lstsq(factors, codes, rcond=None)[0])


def same_rows(first: Floats, second: Floats) -> None:
    """Both have the same rows, in any order."""
    assert_exact(first[np.lexsort(first.T)], second[np.lexsort(second.T)])


# every scenario, at every severity


def test_draws_are_finite_of_one_length_and_repeatable() -> None:
    for name, severity in EVERY:
        codes, factors = pair(name, severity)
        doubled = name == "invariances" and severity == 9
        rows = int(severity) if name in SIZED else 2 * N if doubled else N
        assert codes.shape[0] == factors.shape[0] == rows
        assert codes.ndim == factors.ndim == 2
        assert np.isfinite(codes).all()
        assert np.isfinite(factors).all()
        again, factors_again = pair(name, severity)
        assert_exact(again, codes)
        assert_exact(factors_again, factors)
        other, other_factors = pair(name, severity, seed=1)
        assert not np.array_equal(other, codes)
        assert not np.array_equal(other_factors, factors)


def test_the_first_severity_is_the_perfect_representation() -> None:
    for name in PERFECT:
        codes, factors = pair(name, SCENARIOS[name].severities[0])
        assert_exact(codes, factors)


def test_severities_have_draws_of_their_own_unless_paired() -> None:
    assert not np.array_equal(pair("noise", 0.0)[1], pair("noise", 0.1)[1])
    assert [name for name, item in SCENARIOS.items() if item.paired] == [
        *("bins", "mislabelled", "mislabelled_corrected", "settings", "invariances")
    ]
    for name in ("bins", "settings"):
        first, *others = SCENARIOS[name].severities
        for severity in others:
            assert_exact(pair(name, severity)[0], pair(name, first)[0])
            assert_exact(pair(name, severity)[1], pair(name, first)[1])


# the five of the source


def test_noise_leaves_its_share_of_the_factor() -> None:
    for share in (0.3, 1.0):
        codes, factors = pair("noise", share, n=5000)
        noise = codes - (1 - share) * factors
        assert noise.min() >= -1e-12
        assert noise.max() <= share + 1e-12
        # covariance of code and factor, centred by what is known: (1 - share) / 12
        assert_mean(((codes - 0.5) * (factors - 0.5)).mean(axis=1), (1 - share) / 12)


def test_mixing_adds_a_share_of_one_other_factor_in_a_ring() -> None:
    for share, codes, factors in every("mixing"):
        mixing = (1 - share) * np.eye(M)
        for row in range(M):
            mixing[row, (row + 1) % M] = share
        assert_close(codes, factors @ mixing, ROUNDING)


def test_the_tangent_maps_the_unit_interval_onto_itself() -> None:
    line = np.linspace(0, 1, 1001)
    for curvature, codes, factors in every("non_linear"):
        curve = tangent(line, curvature)
        assert_close(curve[[0, 500, 1000]], [0.0, 0.5, 1.0], ROUNDING)
        assert (np.diff(curve) > 0).all()
        assert_exact(codes, tangent(factors, curvature))
    # by hand at 1/4, where 1000 ** 0 = 1: width 2 atan(1/2), whose half has the tangent 1/2; tan(x/2) = sqrt(5) - 2
    assert_close(tangent(np.array([0.75]), 0.25), [math.sqrt(5) - 2 + 0.5], ROUNDING)
    # nearly straight at first, and steepest at the ends later
    assert np.abs(tangent(line, 0.0) - line).max() < 0.002
    assert np.abs(tangent(line, 1.0) - line).max() > 0.4


def test_redundant_layouts() -> None:
    angles = sample("redundant", 1.0)
    assert_exact(angles.codes[:, 0::2], np.cos(angles.factors))
    assert_exact(angles.codes[:, 1::2], np.sin(angles.factors))
    assert 0 <= angles.factors.min() < 0.1
    assert 6.2 < angles.factors.max() < 2 * math.pi
    assert angles.reg_dim == (0, 2, 4, 6)
    for severity, columns, first in (
        (2.0, [0, 0, 1, 1, 2, 2, 3, 3], (0, 2, 4, 6)),
        (3.0, [0, 0, 0, 0, 1, 1, 1, 1], (0, 4)),
        (4.0, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3], (0, 4, 8, 12)),
    ):
        found = sample("redundant", severity)
        assert_exact(found.codes, found.factors[:, columns])
        assert found.reg_dim == first


def test_partial_keeps_all_codes() -> None:
    for left, codes, factors in every("partial"):
        assert codes.shape[1] == M
        assert_exact(factors, codes[:, : int(left)])


# geometry


def test_rotation_turns_pairs_and_keeps_distances() -> None:
    for share, codes, factors in every("rotation"):
        assert_close(codes @ codes.T, factors @ factors.T, ROUNDING)
        turn = linear_map(codes, factors)
        cosine, sine = math.cos(share * math.pi / 4), math.sin(share * math.pi / 4)
        expected = np.kron(np.eye(M // 2), [[cosine, sine], [-sine, cosine]])
        assert_close(turn, expected, SOLVER)
    # at the end, both codes of a pair hold both factors in equal parts
    codes, factors = pair("rotation", 1.0)
    assert_close(codes[:, 0], (factors[:, 0] - factors[:, 1]) / math.sqrt(2), ROUNDING)
    assert_close(codes[:, 7], (factors[:, 6] + factors[:, 7]) / math.sqrt(2), ROUNDING)


def test_oblique_has_the_stated_condition_number() -> None:
    for condition in SCENARIOS["oblique"].severities:
        for seed in (0, 1):
            stretch = linear_map(*pair("oblique", condition, seed))
            assert_close(stretch, stretch.T, SOLVER)
            sizes = np.linalg.eigvalsh(stretch)
            steps = np.linspace(-0.5, 0.5, M)
            assert_close(sizes, condition**steps, SOLVER)
            assert_close(sizes[-1] / sizes[0], condition, SOLVER)
    # the axes are random, the same in no two draws, and not those of the factors
    first, second = (linear_map(*pair("oblique", 10.0, seed)) for seed in (0, 1))
    assert np.abs(first - second).max() > 0.1
    assert np.abs(first - np.diag(np.diag(first))).max() > 0.1


def test_twist_keeps_the_radius_and_can_be_undone() -> None:
    for turns, codes, factors in every("twist"):
        as_points = codes[:, 0::2] + 1j * codes[:, 1::2]
        meant = factors[:, 0::2] + 1j * factors[:, 1::2]
        assert_close(np.abs(as_points), np.abs(meant), ROUNDING)
        angle = 2 * math.pi * turns * np.abs(as_points) / math.sqrt(0.5)  # known from the codes alone
        undone = as_points * np.exp(-1j * angle)
        assert_close(undone.real, meant.real, ROUNDING)
        assert_close(undone.imag, meant.imag, ROUNDING)
    codes, factors = pair("twist", 1.0)
    assert np.abs(codes - factors).max() > 0.5


# defects of data


def test_correlated_factors_have_the_rank_correlation_of_their_copula() -> None:
    n = 4000
    pairs = [(first, second) for first in range(M) for second in range(first)]
    for rho, codes, factors in every("correlated", n):
        assert_exact(codes, factors)
        centred = factors - 0.5
        # 12 times the covariance of uniform margins is their rank correlation, without bias, row by row
        products = 12 * np.array([centred[:, first] * centred[:, second] for first, second in pairs])
        assert_mean(products.mean(axis=0), 6 / math.pi * math.asin(rho / 2))
        assert_mean(factors[:, 0], 0.5)
        assert_mean(centred[:, 0] ** 2, 1 / 12)


def test_annotation_noise_replaces_the_stated_share_by_uniform_draws() -> None:
    for share, codes, factors in list(every("annotation_noise", 4000))[1:]:
        wrong = codes != factors
        assert_mean(wrong.mean(axis=1), share)
        replaced = factors[wrong]
        assert_mean(replaced, 0.5)
        assert_mean((replaced - 0.5) ** 2, 1 / 12)
        assert_mean((replaced - 0.5) * (codes[wrong] - 0.5), 0.0)


def test_outliers_are_the_stated_share_of_rows() -> None:
    n = 20_000
    for share, codes, factors in every("outliers", n):
        far = (codes != factors).any(axis=1)
        assert far.sum() == round(share * n)
        assert_exact(codes[far], 50 * factors[far])
    # which rows they are is drawn
    first, second = (np.flatnonzero((pair("outliers", 0.01, seed, n)[0] > 1).any(axis=1)) for seed in (0, 1))
    assert not np.array_equal(first, second)


def test_tied_codes_share_their_lowest_value() -> None:
    for share, codes, factors in list(every("tied", 4000))[1:]:
        low = codes == share
        assert_mean(low.mean(axis=1), share)
        assert_exact(low, factors <= share)
        assert_exact(codes[~low], factors[~low])


def test_heavy_tails_are_monotone_quantiles_of_student_t() -> None:
    for _, codes, factors in every("heavy_tails"):
        assert_exact(np.argsort(codes, axis=0), np.argsort(factors, axis=0))
    # closed forms for two degrees of freedom and for one
    codes, factors = pair("heavy_tails", 0.5)
    assert_close(codes, (2 * factors - 1) / np.sqrt(2 * factors * (1 - factors)), SOLVER)
    codes, factors = pair("heavy_tails", 1.0)
    assert_close(codes, np.tan(math.pi * (factors - 0.5)), SOLVER)


# columns


def test_inactive_codes_stand_beside_perfect_ones() -> None:
    for _, codes, factors in every("inactive"):
        assert_exact(codes[:, :M], factors)
        assert (np.ptp(codes[:, M:], axis=0) == 0).all()


def test_duplicated_codes_are_copies_and_the_first_is_meant() -> None:
    for copies in SCENARIOS["duplicated"].severities:
        found = sample("duplicated", copies)
        for factor in range(4):
            for copy in range(int(copies)):
                assert_exact(found.codes[:, factor * int(copies) + copy], found.factors[:, factor])
        assert found.reg_dim == tuple(factor * int(copies) for factor in range(4))


def test_constant_factors_have_constant_codes() -> None:
    for flat, codes, factors in every("constant_factor"):
        assert_exact(codes, factors)
        assert (np.ptp(factors, axis=0) == 0).sum() == flat


def test_classes_fill_intervals_of_their_code_in_any_order() -> None:
    for n_classes in SCENARIOS["categorical"].severities:
        found = sample("categorical", n_classes)
        assert found.kinds == "categorical"
        place = np.floor(found.codes * n_classes).astype(int)
        in_order = 0
        for factor in range(M):
            seen = set(zip(found.factors[:, factor].tolist(), place[:, factor].tolist(), strict=True))
            assert len(seen) == n_classes  # one to one
            assert {label for label, _ in seen} == {interval for _, interval in seen} == set(range(int(n_classes)))
            in_order += all(label == interval for label, interval in seen)
        assert in_order < M
        inside = found.codes * n_classes - place
        assert_mean(inside.mean(axis=1), 0.5)


# what an option of a score mends


def test_classes_are_mistaken_for_the_next_one_as_the_transition_says() -> None:
    right, given = (sample("mislabelled_corrected", severity, n=20_000) for severity in (0.0, 0.3))
    assert_exact(given.codes, right.codes)  # annotations change, and nothing else
    steps = (given.factors - right.factors) % 5
    assert set(np.unique(steps)) == {0, 1}
    assert_mean((steps == 1).mean(axis=1), 0.3)
    known = given.factor_noise
    assert list(known) == [f"v{number}" for number in range(1, M + 1)]
    for one in known.values():
        expected = [[0.7 if to == of else 0.3 if to == (of + 1) % 5 else 0.0 for to in range(5)] for of in range(5)]
        assert_close(one.probabilities, np.array(expected), ROUNDING)


# sizes and settings


def test_chance_codes_know_nothing_of_the_factors() -> None:
    codes, factors = pair("chance", 20_000.0)
    for shift in range(M):
        assert_mean(((codes - 0.5) * (np.roll(factors, shift, axis=1) - 0.5)).mean(axis=1), 0.0)


def options_of(metric: Candidate, name: str, severity: float) -> dict[str, Any]:
    given = given_options(sample(name, severity).options)
    return merged_options(CATALOGUE[metric.name], protocol("review2022").options, given)


@pytest.mark.parametrize("metric", chosen_candidates(None), ids=lambda metric: metric.name)
def test_settings_start_from_the_protocol_and_change_one_option(metric: Candidate) -> None:
    reason = declined(metric, SCENARIOS["settings"])
    assert (reason is None) == (metric.group in own_settings())
    if reason is not None:
        assert reason == "has no setting of its own"
        return
    usual = merged_options(CATALOGUE[metric.name], protocol("review2022").options, {})
    option, values = own_settings()[metric.group]
    assert len(set(values)) == len(values) == len(MULTIPLES)
    assert options_of(metric, "settings", 1.0) == usual
    for severity in SCENARIOS["settings"].severities[1:]:
        changed = options_of(metric, "settings", severity)
        assert {key for key in usual if changed[key] != usual[key]} == {option}


# invariances


def test_every_change_starts_from_the_same_bits() -> None:
    scenario = SCENARIOS["invariances"]
    found = {label: sample("invariances", float(place)) for place, label in enumerate(scenario.labels)}
    assert list(found) == list(CHANGES)
    base = found["as it is"]
    codes, factors = base.codes, base.factors
    assert base.reg_dim is None

    rows, permuted, named = (found[f"{what} permuted"] for what in ("rows", "codes", "factors"))
    same_rows(np.hstack([rows.codes, rows.factors]), np.hstack([codes, factors]))
    assert_exact(permuted.codes[:, permuted.reg_dim], codes)
    assert_exact(permuted.factors, factors)
    assert_exact(named.codes, codes)
    assert_exact(named.factors, factors[:, named.reg_dim])
    for moved, still in ((rows.codes, codes), (permuted.codes, codes), (named.factors, factors)):
        assert not np.array_equal(moved, still)

    for label, changed, same in (
        ("codes times 1000", codes * 1000, factors),
        ("codes shifted", codes + 10, factors),
        ("codes mirrored", codes * [1, -1, 1, -1, 1, -1, 1, -1], factors),
        ("codes cubed about their centre", (codes - 0.5) ** 3, factors),
        ("every factor in another unit", codes, 2 * factors + 3),
        ("rows doubled", np.repeat(codes, 2, axis=0), np.repeat(factors, 2, axis=0)),
    ):
        assert_exact(found[label].codes, changed)
        assert_exact(found[label].factors, same)


@pytest.mark.parametrize("strength", [0.0, 0.6])
def test_what_is_seen_and_what_is_set_have_the_means_found_by_hand(strength: float) -> None:
    process = bench.ConfoundedProcess(strength=strength, leak=0.3)
    codes, factors = process.observe(20_000)
    assert_mean(factors[:, 0], 1.5)
    seen = factors[:, 0] == 3
    assert_mean(factors[seen, 1], strength**2 * 3 + (1 - strength**2) * 1.5)
    assert np.array_equal(codes, 0.7 * factors + 0.3 * factors[:, [1, 2, 0]])
    codes, factors = process.intervene(20_000, {0: 3})
    assert (factors[:, 0] == 3).all()
    assert_mean(factors[:, 1], 1.5)
    assert_mean(codes[:, 0], 0.7 * 3 + 0.3 * 1.5)


@pytest.mark.parametrize("strength", [0.0, 0.4, 0.7])
@pytest.mark.parametrize("leak", [0.0, 0.25])
def test_robustness_from_rows_and_from_interventions_are_those_found_by_hand(strength: float, leak: float) -> None:
    """1 - leak under interventions; from rows, means given a value move by leak s^2 |v - m|: 1 - leak (1 + 2 s^2/3)."""
    process = bench.ConfoundedProcess(strength=strength, leak=leak)
    codes, factors = process.observe(20_000)
    found = interventional_robustness(codes, factors, codes_of_interest=[0], factors_of_interest=[0])
    assert abs(found.value - (1 - leak * (1 + 2 * strength**2 / 3))) < 0.01
    largest = []
    for value in range(4):
        mean = process.intervene(20_000, {0: value})[0][:, 0].mean()
        reached = [process.intervene(1, {0: value, 1: other})[0][0, 0] for other in range(4)]
        largest.append(np.abs(np.array(reached) - mean).max())
    assert abs(1 - np.mean(largest) / 1.5 - (1 - leak)) < 0.01


def test_the_scenario_tells_what_bends_under_a_confounder() -> None:
    found = bench.check_metrics(["irs", "modularity"], bench.confounded_scenario(), seeds=5, n_rows=2000)
    assert found.verdict("irs", "confounded").status == "holds"
    assert found.verdict("modularity", "confounded").status == "fails"


def test_what_cannot_be_set_is_refused() -> None:
    refuses(InputError, "factors below 3 and values below 4", bench.ConfoundedProcess().intervene, 10, {3: 0})
