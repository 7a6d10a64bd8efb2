"""Scores corrected from audited rows, and whether errors depend on the codes."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from demele import labels
from demele.core.inputs import read_pair
from demele.core.results import Score
from demele.metrics.options import Run
from demele.metrics.protocols import protocol
from demele.metrics.request import chosen_metrics, requests_of, resolved
from demele.metrics.source import InMemory, Subject
from demele.scoring.noisy.audited import of_rows, of_tables
from demele.scoring.noisy.case import Case, Parts, Work, split_rows
from demele.scoring.noisy.knowledge import FactorNoise
from tests.tolerances import ROUNDING, assert_close, assert_exact

Array = NDArray[Any]


def rows(n: int, *, follows: bool, rate: float = 0.1, seed: int = 0) -> tuple[Array, Array, Array]:
    """Codes of two factors with noise, true values, and wrong annotations; those that follow agree with the code."""
    rng = np.random.default_rng(seed)
    true = np.column_stack([rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1]), rng.integers(0, 4, n)])
    codes = true + rng.normal(0, 0.6, true.shape)
    wrong = rng.random(true.shape) < rate
    other = np.clip(np.rint(codes), 0, 3).astype(int) if follows else (true + rng.integers(1, 4, true.shape)) % 4
    if follows:  # the rows that the code takes for another value, as often as the rate allows
        wrong = (other != true) & (rng.random(true.shape) < rate / (other != true).mean())
    return codes, true, np.where(wrong, other, true)


def audit_of(true: Array, size: int, seed: int = 1) -> dict[str, labels.FactorAudit]:
    drawn = labels.draw_audit(len(true), size, seed=seed).rows
    return {f"v{i + 1}": labels.FactorAudit(drawn, true[drawn, i]) for i in range(true.shape[1])}


def parts(name: str, codes: Array, given: Array, noise: dict[str, labels.FactorAudit], **options: Any) -> Parts:
    source = InMemory(Subject.of(*read_pair(codes, given)))
    (one,) = requests_of(chosen_metrics([name]), protocol("review2022"), {name: options})
    score = demele.evaluate(codes, given, [name], options={name: options})[name]
    case = Case(source, Run(), FactorNoise.checked(noise, source.subject("rows").factors))
    work = Work(one, resolved(one, source), score)
    found = (of_tables if work.request.settings is not None else of_rows)(case, work)
    assert isinstance(found, Parts)
    return found


@pytest.mark.parametrize("name", ["mig", "mig_sup", "dcimig", "jemmig", "irs"])
def test_an_audit_of_all_rows_is_the_score_of_true_values(name: str) -> None:
    codes, true, given = rows(600, follows=False)
    options = {"correction": "miller-madow"} if name not in ("irs",) else {}
    found = parts(name, codes, given, audit_of(true, 600), **options)
    truth = demele.evaluate(codes, true, [name], options={name: options})[name].value
    assert_close(found.difference, truth, ROUNDING)
    assert abs(found.all_given - truth) > 0.01


@pytest.mark.parametrize("name", ["mig", "irs"])
def test_annotations_that_are_right_leave_what_all_rows_say(name: str) -> None:
    codes, true, _ = rows(900, follows=False)
    found = parts(name, codes, true, audit_of(true, 150))
    assert_exact(found.audit_true, found.audit_given)
    assert_close(found.difference, found.all_given, ROUNDING)


def test_the_extrapolation_and_the_interval_by_hand() -> None:
    found = Parts(0.5, 0.4, 0.45, np.array([[0.5, 0.6], [0.56, 0.48]]), extrapolates=True)
    assert_close(found.difference, 0.55, ROUNDING)
    assert_close(found.value, 2 * 0.55 - 0.535, ROUNDING)
    error = np.sqrt((0.01 + 0.0064) / 2 / 4)
    assert_close(found.half_width(0.90), 1.6448536269514722 * error + 0.015 / 2, ROUNDING)
    plain = Parts(0.5, 0.4, 0.45, found.halves, extrapolates=False)
    assert_close(plain.value, 0.55, ROUNDING)


def test_halves_share_no_row_and_have_half_of_the_audit_each() -> None:
    audited = np.array([3, 8, 5, 11, 20, 2, 7])
    first, second = split_rows(25, audited, 0, 4)
    assert not set(first.everything) & set(second.everything)
    assert sorted([*first.everything, *second.everything]) == list(range(25))
    assert sorted([*first.audited, *second.audited]) == sorted(audited)
    assert abs(first.audited.size - second.audited.size) == 1


def test_an_audit_corrects_every_kind_of_score_by_default() -> None:
    codes, true, given = rows(3000, follows=False, rate=0.2)
    found = demele.evaluate(codes, given, ["mig", "sap"], factor_noise=audit_of(true, 600), n_bootstrap=20)
    truth = demele.evaluate(codes, true, ["mig", "sap"])
    for score, other in zip(found, truth, strict=True):
        corrected = of(score)
        assert corrected.method == "audited"
        assert abs(corrected.value - other.value) < 0.4 * abs(score.value - other.value)
        assert abs((corrected.audited_alone or 0) - other.value) < 0.1
    assert [any("Miller-Madow" in one for one in of(score).assumptions) for score in found] == [True, False]
    assert of(found["sap"]).interval is not None
    assert "approximate" in str(getattr(of(found["sap"]).interval, "method", ""))


def of(score: Score) -> demele.CorrectedScore:
    assert score.corrected is not None, [note.message for note in score.notes]
    return score.corrected


def test_errors_that_follow_the_codes_are_found() -> None:
    """Noisy annotations then flatter; audited rows correct that, and a transition makes it worse."""
    codes, true, given = rows(4000, follows=True, rate=0.08)
    noise = audit_of(true, 400)
    truth = demele.evaluate(codes, true, ["mig"])["mig"].value
    found = demele.evaluate(codes, given, ["mig"], factor_noise=noise, n_bootstrap=100)["mig"]
    assert found.value > truth + 0.02
    assert abs(of(found).value - truth) < 0.5 * (found.value - truth)
    assert "errors-depend-on-codes" in {note.code for note in of(found).notes}
    by_name = demele.evaluate(
        codes, given, ["mig"], factor_noise=noise, factor_noise_method="transition", n_bootstrap=100
    )["mig"]
    assert of(by_name).value > found.value
    assert "errors-depend-on-codes" in {note.code for note in of(by_name).notes}
    mixed = {"v1": noise["v1"], "v2": labels.TransitionMatrix(np.eye(4))}
    withheld = demele.evaluate(codes, given, ["mig"], factor_noise=mixed, n_bootstrap=100)["mig"]
    assert withheld.corrected is None
    (reason,) = [note.message for note in withheld.notes if note.code == "not-corrected"]
    assert "errors depend on the codes" in reason


def test_errors_that_do_not_depend_on_the_codes_pass() -> None:
    codes, true, given = rows(4000, follows=False, rate=0.08)
    score = demele.evaluate(codes, given, ["mig"], factor_noise=audit_of(true, 400), n_bootstrap=100)["mig"]
    assert "errors-depend-on-codes" not in {note.code for note in of(score).notes}


@pytest.mark.parametrize(
    ("size", "words"), [(60, "60 audited rows are too few"), (120, "too few for the 29 values of factor 'v1'")]
)
def test_audits_that_are_too_small_are_refused(size: int, words: str) -> None:
    rng = np.random.default_rng(0)
    true = rng.integers(0, 30, (3000, 1))
    codes = true + rng.normal(0, 1, true.shape)
    score = demele.evaluate(codes, true, ["mig"], factor_noise=audit_of(true, size))["mig"]
    assert score.corrected is None
    (reason,) = [note.message for note in score.notes if note.code == "not-corrected"]
    assert words in reason


@pytest.mark.parametrize("bins", ["equal-width:10", "equal-frequency:10"])
@pytest.mark.parametrize("name", ["mig", "snc", "infom"])
def test_true_values_beyond_those_that_were_given(name: str, bins: str) -> None:
    """An instrument that stops at .1 and at .9: true values beyond these are in the outer bins."""
    true = np.random.default_rng(0).random((1200, 2))
    given = np.clip(true, 0.1, 0.9)
    found = demele.evaluate(true, given, [name], bins=bins, factor_noise=audit_of(true, 400))[name]
    inside = demele.evaluate(true, given, [name], bins=bins, factor_noise=audit_of(given, 400))[name]
    assert found.corrected is not None
    assert inside.corrected is not None
    assert_exact(found.corrected.value, inside.corrected.value)


def test_small_and_unclear_audits_are_warned_of() -> None:
    codes, true, given = rows(1000, follows=False)
    drawn = labels.draw_audit(1000, 150, seed=2).rows
    noise = {f"v{i + 1}": labels.FactorAudit(drawn, true[drawn, i], unclear=4) for i in range(2)}
    score = demele.evaluate(codes, given, ["mig"], factor_noise=noise, n_bootstrap=10)["mig"]
    assert {"few-audited", "audit-unclear"} <= {note.code for note in of(score).notes}
    one = {"v1": noise["v1"], "v2": labels.FactorAudit(drawn[:-1], true[drawn[:-1], 1])}
    other = demele.evaluate(codes, given, ["mig"], factor_noise=one, n_bootstrap=10)["mig"]
    assert "different rows" in other.notes[-1].message
