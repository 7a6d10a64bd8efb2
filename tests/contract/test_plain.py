"""Scores of the bench are the numbers of ``evaluate``, and what has none has its reason."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import demele
from demele.bench.run import bare_scores
from demele.core.errors import DemeleError, NotEnoughData
from demele.core.given_data import Codes, Factors
from demele.metrics.run import rows_in_memory
from demele.metrics.source import InMemory
from tests.contract.cases import CHEAP, NAMES, QUICK, small
from tests.tolerances import assert_exact

pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.DemeleWarning")

CODES, FACTORS, STDS = small()
ARRAYS = CODES.to_numpy(), FACTORS[["size", "light"]].to_numpy(dtype=float)


def plain(
    metrics: Any, *, seed: int = 0, protocol: str = "review2022", **keywords: Any
) -> tuple[dict[str, float], dict[str, str]]:
    source = rows_in_memory(Codes(CODES, std=STDS), Factors(FACTORS))
    return bare_scores(source, metrics, protocol=protocol, seed=seed, options=CHEAP, **keywords)


@pytest.mark.parametrize("seed", [0, 7])
def test_every_value_is_that_of_evaluate(seed: int) -> None:
    expected = demele.evaluate(demele.Codes(CODES, std=STDS), FACTORS, NAMES, options=CHEAP, seed=seed)
    values, reasons = plain(NAMES, seed=seed)
    assert sorted(values) == sorted(NAMES)
    assert reasons == {}
    for name in NAMES:
        assert_exact(values[name], expected[name].value)


@pytest.mark.parametrize("protocol", [name for name in demele.list_protocols() if name != "review2022"])
def test_every_protocol_gives_the_values_of_evaluate(protocol: str) -> None:
    expected = demele.evaluate(demele.Codes(CODES, std=STDS), FACTORS, QUICK, options=CHEAP, protocol=protocol, seed=3)
    values, _ = plain(QUICK, seed=3, protocol=protocol)
    assert {name: value.hex() for name, value in values.items()} == {
        name: float(expected[name].value).hex() for name in QUICK
    }


def test_codes_that_are_meant_for_factors_reach_the_metrics_that_need_them() -> None:
    order = [2, 1, 0]
    values, _ = plain(QUICK, reg_dim=order)
    for name in QUICK:
        given = None if name in ("mig", "sap") else order
        expected = demele.evaluate(
            demele.Codes(CODES, std=STDS), demele.Factors(FACTORS, reg_dim=given), [name], options=CHEAP
        )
        assert_exact(values[name], expected[name].value)
    assert values["modularity"] == plain(QUICK)[0]["modularity"]
    assert values["dmig"] != plain(QUICK)[0]["dmig"]


def test_what_does_not_apply_has_a_reason() -> None:
    source = rows_in_memory(Codes(CODES[["first"]]), Factors(FACTORS[["size"]]))
    values, reasons = bare_scores(source, NAMES, protocol="review2022", seed=0, options=CHEAP)
    assert sorted([*values, *reasons]) == sorted(NAMES)
    assert reasons["xmig"] == "`codes`: xmig needs at least 2 codes, got 1"
    assert reasons["dlig"] == "`factors`: dlig needs at least 2 factors that vary, got 1"
    assert reasons["rmig"].startswith("`std`: rmig needs the standard deviations")
    for name, reason in reasons.items():
        with pytest.raises(DemeleError) as told:
            demele.evaluate(CODES[["first"]], FACTORS[["size"]], [name], options=CHEAP)
        assert str(told.value).replace("`", "") == reason.replace("`", "")


def test_the_reasons_of_evaluate_are_kept_where_a_computation_fails() -> None:
    # two rows: enough to be read, too few to split, to vote and to find neighbours
    codes, factors = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0.0, 2.5], [1.0, 0.5]])
    for protocol in demele.list_protocols():
        values, reasons = bare_scores(
            rows_in_memory(Codes(codes), Factors(factors)), NAMES, protocol=protocol, seed=0, options=CHEAP
        )
        assert sorted([*values, *reasons]) == sorted(NAMES)
        assert all(reason for reason in reasons.values())
        assert reasons["rmig"].startswith("`std`: rmig needs")


def test_a_table_that_cannot_be_made_is_a_reason_for_its_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise NotEnoughData("too few rows")

    monkeypatch.setattr(InMemory, "table", refuse)
    values, reasons = plain(["mig", "dmig", "sap"])
    assert reasons == {"mig": "too few rows", "dmig": "too few rows"}
    assert list(values) == ["sap"]


# Functions ----------------------------------------------------------------------------------------------------------


def function_of(value: object) -> Callable[..., Any]:
    def mine(codes: object, factors: object) -> Any:
        if isinstance(value, Exception):
            raise value
        return value

    return mine


def test_a_function_sees_what_evaluate_shows_it_and_cannot_change_it() -> None:
    seen = []

    def spoil(codes: np.ndarray[Any, Any], factors: np.ndarray[Any, Any]) -> float:
        seen.append((codes.copy(), factors.copy()))
        codes[:] = 0
        factors[:] = 0
        return 1.0

    source = rows_in_memory(Codes(ARRAYS[0]), Factors(ARRAYS[1]))
    for _ in range(2):
        bare_scores(source, spoil, protocol="review2022", seed=0)
    demele.evaluate(*ARRAYS, [spoil])
    for codes, factors in seen:
        assert_exact(codes, ARRAYS[0])
        assert_exact(factors, ARRAYS[1])


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (float("nan"), "mine returned NaN"),
        (np.array(np.nan), "mine returned NaN"),
        (float("inf"), "mine returned inf"),
        (-np.inf, "mine returned -inf"),
        (ZeroDivisionError("by nothing"), "mine raised ZeroDivisionError: by nothing"),
        (None, "mine raised TypeError"),
        ("high", "mine returned 'high', which is no real number"),
        (np.ones(3), "mine raised TypeError"),
        (1j, "mine returned 1j, which is no real number"),
    ],
)
def test_what_is_no_number_is_a_reason(value: object, reason: str) -> None:
    values, reasons = plain(function_of(value))
    assert values == {}
    assert list(reasons) == ["mine"]
    assert reasons["mine"].startswith(reason)
