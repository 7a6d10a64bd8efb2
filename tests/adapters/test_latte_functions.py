"""Latte's functions by their names: arguments, shapes, the protocol's values, traversals."""

from typing import Any

import numpy as np
import pytest

import demele
from demele.adapters import latte
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")
_RNG = np.random.default_rng(0)
A = _RNG.random((200, 2))
Z = np.column_stack([A + 0.2 * _RNG.random((200, 2)), A.sum(axis=1), _RNG.random(200)])
STEPS = np.tile(np.arange(16.0), (4, 3, 1))


def of_protocol(name: str, *, reg_dim: Any = None, **more: Any) -> list[float]:
    factors = demele.Factors(A, kinds="continuous", reg_dim=reg_dim)
    score = demele.evaluate(Z, factors, [name], protocol="latte", **more)[name]
    return list(score.native.values())


@pytest.mark.parametrize("name", ["mig", "dmig", "xmig", "sap"])
def test_values_of_attributes_are_those_of_the_protocol(name: str) -> None:
    found = getattr(latte, name)(Z, A)
    assert isinstance(found, np.ndarray)
    assert_exact(found, of_protocol(name))


def test_codes_of_attributes_may_be_named() -> None:
    for name in ("mig", "dmig", "sap"):
        assert_exact(getattr(latte, name)(Z, A, [1, 0]), of_protocol(name, reg_dim=[1, 0]))
    assert (latte.mig(Z, A, [1, 0]) < 0).all()
    assert_exact(latte.mig(Z, A, fill_reg_dim=True), latte.mig(Z, A, [0, 1]))
    assert latte.dlig(Z, A).shape == (2,)


def test_modularity_has_a_value_for_each_code() -> None:
    found = latte.modularity(Z, A)
    assert found.shape == (4,)
    assert_exact(found, of_protocol("modularity"))
    assert_exact(latte.modularity(Z, A, [1, 0]), found)


def test_traversals_are_reduced_as_asked() -> None:
    attributes = np.sin(STEPS / 3 + np.arange(4.0)[:, None, None]) * np.array([1.0, 2.0, 0.0])[:, None]
    whole = latte.smoothness(STEPS, attributes, reduce_mode="none")
    assert whole.shape == (4, 3)
    assert_close(latte.smoothness(STEPS, attributes), whole.mean(axis=0), ROUNDING)
    assert_close(latte.smoothness(STEPS, attributes, reduce_mode="sample"), whole.mean(axis=1), ROUNDING)
    assert_close(latte.smoothness(STEPS, attributes, reduce_mode="all"), whole.mean(), ROUNDING)
    steady = latte.monotonicity(STEPS, attributes)
    assert np.isnan(steady[2])
    assert_close(latte.monotonicity(STEPS, attributes, degenerate_val=0.0)[2], 0.0, ROUNDING)
    assert np.isnan(latte.monotonicity(STEPS, attributes, reduce_mode="all", nanmean=False))
    both = latte.liad_interpolatability_bundle(STEPS, attributes, max_mode="naive", p=3.0)
    assert_close(both["smoothness"], latte.smoothness(STEPS, attributes, max_mode="naive"), ROUNDING)
    assert_close(both["monotonicity"], steady, ROUNDING)


def test_closed_forms_and_clamping() -> None:
    cubes = STEPS**3 * np.array([1.0, -2.0, 0.0])[:, None]
    assert_close(latte.smoothness(STEPS, cubes), [1 - 36540 / 630**2] * 2 + [1], ROUNDING)
    assert_close(latte.monotonicity(STEPS, cubes), [1, -1, np.nan], ROUNDING)
    saw = np.tile([0.0, 1.0], 8)[None]
    assert_close(latte.smoothness(STEPS[:1, 0], saw), [0.0], ROUNDING)
    kink = np.where(np.arange(16) == 8, 1.0, 0.0)[None]
    assert_close(latte.smoothness(STEPS[:1, 0], kink, clamp=True), [max(0.0, 1 - (6 / 4) / 2)], ROUNDING)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"liad_mode": "central"}, "liad_mode: expected 'forward'"),
        ({"ptp_mode": 0.0}, "ptp_mode"),
        ({"ptp_mode": "invalid"}, "ptp_mode"),
        ({"p": 0.1}, "p: expected a number above 1"),
    ],
)
def test_other_words_are_refused(options: dict[str, Any], message: str) -> None:
    refuses(demele.errors.InputError, message, latte.smoothness, STEPS, STEPS, **options)


def test_the_bundle_is_the_four_of_one_table() -> None:
    found = latte.dependency_aware_mutual_info_bundle(Z, A)
    assert list(found) == ["MIG", "DMIG", "XMIG", "DLIG"]
    assert_close(found["DMIG"], latte.dmig(Z, A), ROUNDING)
    assert_close(found["MIG"], latte.mig(Z, A, [0, 1]), ROUNDING)
