"""Raw, aligned, gap: what turning the codes does to scores, on rows that were not used to turn them."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import special_ortho_group

import demele
from demele.core.arrays import rng_for
from demele.core.errors import DemeleWarning, InputError, UnknownNameError
from demele.core.results import Alignment, Chance, Interval, reading_of, said
from tests.refusals import refuses


def _rotation(d: int, seed: int) -> np.ndarray:
    return np.asarray(special_ortho_group.rvs(d, random_state=np.random.default_rng(seed)))


def _noisy(n: int, d: int = 5, m: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = rng_for(seed, "noisy code")
    factors = rng.random((n, m))
    codes = np.column_stack([0.7 * factors + 0.3 * rng.random((n, m)), 0.3 * rng.random((n, d - m))])
    return codes, factors


def _turned(codes: Any, factors: Any, metrics: list[str], **options: Any) -> demele.Evaluation:
    return demele.evaluate(demele.Codes(codes, align="rotation"), factors, metrics, **options)


def _aligned(codes: np.ndarray, factors: np.ndarray, metric: str = "mig", **options: Any) -> Alignment:
    found = _turned(codes, factors, [metric], **options)[metric].alignment
    assert found is not None
    return found


@pytest.fixture
def quadruples() -> np.ndarray:
    return np.array([(a, b) for a in range(4) for b in range(4)]).repeat(25, axis=0)


def test_rotations_of_one_code_have_one_aligned_score() -> None:
    codes, factors = _noisy(4000)
    as_it_is = _aligned(codes, factors)
    first, second = (_aligned(codes @ _rotation(5, seed), factors) for seed in (1, 2))
    assert abs(first.aligned - second.aligned) <= 0.01
    assert abs(first.aligned - as_it_is.raw) <= 0.05 * as_it_is.raw
    assert abs(as_it_is.gap) <= 0.003
    assert first.raw < 0.5 * first.aligned
    assert (first.reading, as_it_is.reading) == ("off the axes", "on the axes")
    assert all(half.candidate != "identity" for half in first.halves)


def test_the_value_stays_and_both_scores_are_means_of_the_same_halves() -> None:
    codes, factors = _noisy(1000)
    codes = codes @ _rotation(5, 3)
    plain = demele.evaluate(codes, factors, ["mig"])["mig"]
    score = _turned(codes, factors, ["mig"])["mig"]
    assert plain.alignment is None
    assert score.value == plain.value
    order = rng_for(0, "alignment", "halves").permutation(1000)
    parts = np.sort(order[500:]), np.sort(order[:500])
    halves = [demele.metrics.mig(codes[rows], factors[rows]).value for rows in parts]
    found = score.alignment
    assert [half.raw for half in found.halves] == halves
    assert found.raw == pytest.approx(np.mean(halves), abs=1e-15)
    assert found.gap == pytest.approx(np.mean([half.aligned - half.raw for half in found.halves]), abs=1e-15)


@pytest.mark.filterwarnings("ignore::demele.core.errors.DemeleWarning")
def test_sums_and_differences_and_copies_are_matters_of_axes(quadruples: np.ndarray) -> None:
    first, second = quadruples.T
    turned = _aligned(np.column_stack([first + second, first - second]), quadruples)
    copied = _aligned(np.column_stack([first, first, second, second]), quadruples)
    assert turned.raw < 0.08 < 0.98 < turned.aligned
    assert copied.raw == 0.0
    assert copied.aligned > 0.98  # a copy leaves an empty axis, not one of rounding errors


def test_what_every_metric_chooses_by_itself_and_what_goes_by_the_gaps() -> None:
    rng = rng_for(0, "sap")
    factors = rng.random((1200, 3))
    found = _turned(factors @ _rotation(3, 5), factors, ["sap", "mig_sup", "irs"])
    for score in found:
        assert score.alignment.aligned > score.alignment.raw + 0.1, score.metric
    sap = found["sap"].alignment
    assert sap.aligned == pytest.approx(demele.metrics.sap(factors, factors).value, rel=0.05)


@pytest.mark.filterwarnings("ignore::demele.core.errors.DemeleWarning")
def test_a_single_code_has_no_gap_and_fewer_codes_than_factors_are_told() -> None:
    codes, factors = _noisy(600)
    alone = _turned(codes[:, :1], factors, ["jemmig"])
    assert alone["jemmig"].alignment.gap == 0.0
    assert "alignment-one-code" in {note.code for note in alone.notes}
    few = _turned(codes[:, :3], factors, ["mig"])
    assert "alignment-few-codes" in {note.code for note in few.notes}


@pytest.mark.filterwarnings("ignore::demele.core.errors.DemeleWarning")
def test_what_cannot_be_aligned_keeps_its_value_and_says_why() -> None:
    codes, factors = _noisy(600)
    given = demele.Codes(codes, std=codes**2, align="rotation")
    found = demele.evaluate(given, factors, ["modularity", "dmig", "rmig"])
    for score, words in zip(found, ("almost no information", "intended code", "standard deviations"), strict=True):
        assert np.isfinite(score.value)
        assert score.alignment is None
        assert [words in note.message for note in score.notes if note.code == "not-aligned"] == [True], score.metric
    rare = np.column_stack([np.arange(600) < 1, factors[:, 0]])
    lost = _turned(codes, rare, ["mig"])["mig"]
    assert lost.alignment is None
    assert any("'v1' does not vary in half" in note.message for note in lost.notes)


def test_resamples_give_an_interval_and_permutations_a_chance_level() -> None:
    codes, factors = _noisy(800)
    codes = codes @ _rotation(5, 1)
    wide = _aligned(codes, factors, n_bootstrap=12, n_permutations=3)
    narrow = _aligned(codes, factors, n_bootstrap=12, level=0.5)
    assert narrow.interval is not None
    assert wide.interval.low < wide.gap < wide.interval.high
    widths = [one.high - one.low for one in (wide.interval, narrow.interval)]
    assert widths[0] / widths[1] == pytest.approx(1.959964 / 0.674490, rel=1e-5)
    assert widths[0] < 0.1
    assert len(wide.chance.values) == 3
    assert max(wide.chance.values) < 0.02
    assert wide.chance.p_value == pytest.approx(0.25)
    by_rows = _aligned(codes, factors, "sap", n_bootstrap=10)
    assert 0 < by_rows.interval.high - by_rows.interval.low < 0.2


def test_what_is_asked_wrongly_is_refused() -> None:
    codes, factors = _noisy(100)
    aligned, rows = demele.Codes(codes, align="rotation"), pytest.importorskip("dask.array")
    refuses(UnknownNameError, "expected 'rotation' or 'whitening', got 'whiten'", demele.Codes, codes, align="whiten")
    refuses(InputError, r"align: adds to .* write demele.evaluate\(codes, f", demele.metrics.mig, aligned, factors)
    grouped = replace(aligned, groups={"pair": [0, 1]})
    refuses(InputError, "reads columns one by one", demele.evaluate, grouped, factors, ["mig"])
    refuses(InputError, "a piece at a time", _turned, rows.from_array(codes), rows.from_array(factors), ["mig"])


def test_readings() -> None:
    assert reading_of(0.7, 0.9) == "partly off the axes"  # most of it is on them
    assert reading_of(0.85, 0.9) == "on the axes"
    assert "a part" in said("partly off the axes")
    assert reading_of(0.01, 0.025) == "unknown"
    assert reading_of(0.03, 0.045, explicitness=0.1) == "absent"
    assert reading_of(0.03, 0.045, explicitness=0.3) == "partly"
    assert reading_of(0.03, 0.045, explicitness=0.5) == "entangled"
    assert reading_of(0.4, 0.41, explicitness=0.1) == "on the axes"
    assert reading_of(0.4, 0.41, explicitness=0.1, floor=True) == "absent"
    around = Interval(low=-0.1, high=0.5, level=0.95, method="")
    assert reading_of(0.2, 0.4, interval=around) == "on the axes"
    assert reading_of(0.2, 0.4, chance=Chance((0.1, 0.3), 0.2)) == "on the axes"
    assert reading_of(0.2, 0.4, chance=Chance((0.1, 0.1), 0.2)) == "off the axes"
    assert "explicitness 0.62" in said("entangled", ("explicitness", 0.62))
    assert "whitening" in said("entangled", None, whitened=True)


def test_few_rows_and_scales_far_apart_are_warned_of() -> None:
    codes, factors = _noisy(400)
    with pytest.warns(DemeleWarning, match="400 rows"):
        found = _turned(codes, factors, ["mig"])
    assert "alignment-few-rows" in {note.code for note in found.notes}
    codes, factors = _noisy(2000, d=4)
    with pytest.warns(DemeleWarning, match="fold in scale"):
        _turned(codes * [1, 1, 1, 100] @ _rotation(4, 1), factors, ["mig"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _turned(codes * [1, 1, 1, 10] @ _rotation(4, 1), factors, ["mig"])
