"""SAP and affine R2 of quantities that were annotated with errors."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import demele
from demele import labels
from tests.tolerances import ROUNDING, assert_close, assert_exact

Floats = NDArray[np.float64]
pytestmark = pytest.mark.filterwarnings("ignore::demele.FragileScoreWarning")
NAMES = ["sap", "r2_affine"]


def drawn(seed: int, *, follows: float = 0.0, n: int = 3000) -> dict[str, Floats]:
    """Codes, true values, and two annotations of reliability 0.8; errors may follow a code."""
    rng = np.random.default_rng(seed)
    true = rng.normal(size=(n, 2))
    codes = np.column_stack([true + 0.6 * rng.normal(size=(n, 2)), rng.normal(size=n)])
    errors = rng.normal(size=(2, n, 2))
    errors[0] = np.sqrt(1 - follows**2) * errors[0] + follows * (codes[:, :2] - true) / 0.6
    first, second = true + 0.5 * errors
    return {"codes": codes, "true": true, "first": first, "second": second}


def corrected(rows: dict[str, Floats], noise: dict[str, Any], method: str | None = None, **keywords: Any) -> list[Any]:
    factors = pd.DataFrame(rows["first"], columns=["a", "b"])
    found = demele.evaluate(
        rows["codes"], factors, NAMES, factor_noise=noise, factor_noise_method=method, n_bootstrap=40, **keywords
    )
    return [found[name].corrected for name in NAMES]


def of_true(rows: dict[str, Floats]) -> list[float]:
    found = demele.evaluate(rows["codes"], rows["true"], NAMES)
    return [found[name].value for name in NAMES]


def audits(rows: dict[str, Floats], size: int) -> dict[str, Any]:
    audited = labels.draw_audit(len(rows["true"]), size, seed=1).rows
    return {name: labels.FactorAudit(audited, rows["true"][audited, j]) for j, name in enumerate("ab")}


def test_a_known_reliability_divides() -> None:
    rows = drawn(0)
    raw = demele.evaluate(rows["codes"], rows["first"], NAMES)
    for found, name in zip(
        corrected(rows, {"a": labels.Reliability(0.8), "b": labels.Reliability(0.8)}), NAMES, strict=True
    ):
        assert_close(found.value, raw[name].value / 0.8, {"rtol": 1e-9, "atol": 0})
        assert found.method == "reliability"
        assert any("'a', 'b'" in one for one in found.assumptions)


def test_second_annotations_bring_the_score_of_true_values() -> None:
    rows = drawn(1)
    noise = {name: labels.SecondAnnotation(10 * rows["second"][:, j] + 3) for j, name in enumerate("ab")}
    for found, truth in zip(corrected(rows, noise), of_true(rows), strict=True):
        assert abs(found.value - truth) < 0.03
        assert found.interval.low < truth < found.interval.high
        assert 0.01 < found.interval.high - found.interval.low < 0.1


def test_errors_that_follow_a_code_fool_a_reliability_and_not_moments() -> None:
    rows = drawn(2, follows=0.8)
    truth = of_true(rows)
    noise = audits(rows, 800)
    for found, fooled, right in zip(
        corrected(rows, noise, "moments"), corrected(rows, noise, "reliability"), truth, strict=True
    ):
        assert abs(found.value - right) < 0.06
        assert fooled.value > right + 0.15
        assert abs(found.audited_alone - right) < 0.1
        assert fooled.audited_alone is None


def test_an_audit_of_all_rows_gives_the_score_of_the_true_values() -> None:
    rows = drawn(3, n=400)
    noise = {name: labels.FactorAudit(np.arange(400), rows["true"][:, j]) for j, name in enumerate("ab")}
    for found, truth in zip(corrected(rows, noise, "moments"), of_true(rows), strict=True):
        assert_close([found.value, found.audited_alone], [truth, truth], ROUNDING)
        assert [note.code for note in found.notes] == (["low-reliability"] if reliability_of(rows) < 0.8 else [])


def reliability_of(rows: dict[str, Floats]) -> float:
    return min(float(np.corrcoef(rows["true"][:, j], rows["first"][:, j])[0, 1] ** 2) for j in range(2))


def test_where_nothing_is_wrong_nothing_is_corrected() -> None:
    rows = drawn(4)
    rows["first"] = rows["true"]
    (sap, r2), truth = corrected(rows, {"a": labels.Reliability(1.0)}), of_true(rows)
    assert_close([sap.value, r2.value], truth, {"rtol": 1e-9, "atol": 0})
    again = corrected(rows, {"a": labels.Reliability(1.0)})
    assert_exact([one.interval.high for one in again], [sap.interval.high, r2.interval.high])


def test_a_value_above_one_is_told_and_not_cut() -> None:
    rows = drawn(5)
    (sap, _) = corrected(rows, {"a": labels.Reliability(0.2), "b": labels.Reliability(0.2)})
    assert sap.value > 1
    assert any(note.code == "corrected-out-of-range" for note in sap.notes)


@pytest.mark.parametrize(
    ("noise", "method", "words"),
    [
        ({"a": labels.Reliability(0.05)}, None, "a reliability of 0.05 leaves too little"),
        ({"a": 0.1}, "reliability", "does not say how far its values correlate"),
        ({"a": labels.FactorAudit(np.arange(50), np.arange(50.0))}, "moments", "50 audited rows are too few"),
    ],
)
def test_what_cannot_be_corrected_is_said(noise: dict[str, Any], method: str | None, words: str) -> None:
    rows = drawn(6, n=300)
    factors = pd.DataFrame(rows["first"], columns=["a", "b"])
    found = demele.evaluate(rows["codes"], factors, ["sap"], factor_noise=noise, factor_noise_method=method)["sap"]
    assert found.corrected is None
    assert words in next(note.message for note in found.notes if note.code == "not-corrected")


def test_a_second_annotation_must_fit() -> None:
    rows = drawn(7, n=100)
    factors = pd.DataFrame({"a": rows["first"][:, 0], "class": np.arange(100) % 3}).astype({"class": str})

    def score(noise: dict[str, Any]) -> None:
        demele.evaluate(rows["codes"], factors, ["sap"], factor_noise=noise)

    with pytest.raises(demele.InputError, match="expected a second annotation of 100 rows, got 99"):
        score({"a": labels.SecondAnnotation(np.arange(99.0))})
    with pytest.raises(demele.NotEnoughData, match="10 rows were annotated twice"):
        score({"a": labels.SecondAnnotation(np.append(np.arange(10.0), np.full(90, np.nan)))})
    with pytest.raises(demele.InputError, match="holds classes"):
        score({"class": labels.SecondAnnotation(np.arange(100.0))})
    with pytest.raises(demele.InputTypeError, match="expected numbers"):
        labels.SecondAnnotation(["low", "high"])
