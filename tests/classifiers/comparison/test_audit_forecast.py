"""What audits would settle: the worlds that are assumed, and shares that an independent simulation finds as well."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demele.classifiers import compare, plan_audit
from demele.classifiers.comparison.audit_forecast import World, assumed, drawn_truth
from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError
from demele.core.labelled import read_labelled
from demele.labels import Audit, disagreement, draw_audit
from demele.report.document import Table
from tests.refusals import refuses

Classes = NDArray[np.int64]
Models = dict[str, Classes]


def judged(n: int, shares: dict[str, float], seed: int = 0, classes: int = 4) -> tuple[Models, Classes]:
    """Classifiers that are right on given shares of the rows, each erring by itself, and labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    models = {
        name: np.where(rng.random(n) < share, labels, (labels + rng.integers(1, classes, n)) % classes)
        for name, share in shares.items()
    }
    return models, labels


# What is assumed ------------------------------------------------------------------------------------------------------


def test_wrong_labels_anywhere_are_as_many_as_assumed_on_any_row_and_of_any_class() -> None:
    models, labels = judged(40_000, {"a": 0.8, "b": 0.9})
    truth = drawn_truth(read_labelled(models, labels), World("", 0.1, "anywhere"), None, np.random.default_rng(1))
    wrong = truth != labels
    apart = models["a"] != models["b"]
    for rows in (apart, ~apart):  # 5 standard errors
        assert abs(wrong[rows].mean() - 0.1) < 5 * np.sqrt(0.09 / rows.sum())
    shifts = np.bincount((truth - labels)[wrong] % 4, minlength=4)
    assert shifts[0] == 0
    assert np.abs(shifts[1:] - wrong.sum() / 3).max() < 5 * np.sqrt(wrong.sum() * 2 / 9)


def test_after_an_audit_its_rows_are_known_and_the_others_are_like_them() -> None:
    models, labels = judged(20_000, {"a": 0.8, "b": 0.9})
    data = read_labelled(models, labels)
    true = np.where((models["a"] != labels) & (np.arange(20_000) % 4 == 0), models["a"], labels)  # for a, a quarter
    plan = draw_audit(20_000, 2000, seed=3)
    audit = plan.answered(true[plan.rows]).coded(data.vocabulary, 20_000)
    rows = np.ones(20_000, bool)
    rows[plan.rows] = False
    rows &= (models["a"] != labels) & (models["b"] == labels)
    drawn = []
    for seed in range(20):
        truth = drawn_truth(data, World("", 0.05, "audit"), audit, np.random.default_rng(seed))
        assert (truth[plan.rows] == true[plan.rows]).all()
        drawn.append((truth != labels)[rows].mean())
        as_a = (truth == models["a"])[rows & (truth != labels)].mean()
        assert as_a > 0.97  # every wrong label that the audit met is truly what a says
    found = ((models["a"] != labels) & (models["b"] == labels))[plan.rows]
    expected = (true != labels)[plan.rows][found].mean()
    spread = np.sqrt(expected * (1 - expected) / found.sum())
    assert abs(np.mean(drawn) - expected) < spread
    assert 0.5 * spread < np.std(drawn) < 2 * spread  # as uncertain as that many rows leave it


def test_names_of_assumptions() -> None:
    assert [world.name for world in assumed([0.025, 0.0, 0.025])] == [
        "no label wrong",
        "2.5% wrong, anywhere",
        "2.5% wrong, half for the leader",
    ]


# What would be settled ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [{"measure": "f1", "of": 1}, {"measure": "balanced-accuracy"}, {"groups": np.repeat(np.arange(100), 5)}],
    ids=lambda asked: "-".join(map(str, asked)),
)
def test_other_measures_and_groups_are_simulated_as_compare_reads_them(asked: dict[str, Any]) -> None:
    models, labels = judged(500, {"old": 0.80, "new": 0.88}, seed=6, classes=3)
    size, rate, draws = 150, 0.04, 16
    found = plan_audit(models, labels, sizes=size, wrong=rate, draws=draws, seed=2, **asked)
    assert {one.design for one in found.prospects} == {"uniform", "weighted"}
    assert all(np.isnan(one.labels_most) for one in found.outlooks)
    settled: dict[str, list[bool]] = {"uniform": [], "weighted": []}
    widths = []
    for seed in range(draws):
        rng = np.random.default_rng([10, seed])
        true = np.where(rng.random(500) < rate, (labels + rng.integers(1, 3, 500)) % 3, labels)
        for design, doubts in (("uniform", None), ("weighted", disagreement(models))):
            plan = draw_audit(500, size, disagreement=doubts, seed=seed)
            decided = compare(models["old"], models["new"], labels, audit=plan.answered(true[plan.rows]), **asked)
            settled[design].append(decided.verdict != "inconclusive")
            if design == "uniform":
                widths.append((decided.interval.high - decided.interval.low) / 2)
    for one in found.prospects:
        if one.world == "4% wrong, anywhere":
            share = (sum(settled[one.design]) + 1) / (draws + 2)
            error = np.sqrt(one.error**2 + share * (1 - share) / draws)
            assert abs(one.settled - np.mean(settled[one.design])) < 4 * error
            if one.design == "uniform":
                assert one.half_width == pytest.approx(np.mean(widths), rel=0.1)
    table = found.document().table
    assert isinstance(table, Table)
    assert "Sequential" not in table.columns
    assert "one label at a time" not in table.note


def test_the_same_seed_gives_the_same_numbers_and_another_others() -> None:
    models, labels = judged(300, {"a": 0.7, "b": 0.8})
    one, same, other = (plan_audit(models, labels, sizes=60, wrong=0.05, draws=3, seed=s) for s in (2, 2, 3))
    assert one.to_dict() == same.to_dict()
    assert one.to_frame()["half_width"].tolist() != other.to_frame()["half_width"].tolist()


def test_a_difference_within_the_margin_is_never_settled() -> None:
    models, labels = judged(400, {"a": 0.80, "b": 0.80})
    found = plan_audit(models, labels, wrong=0.02, draws=5, sizes=(100, 400))
    assert all(one.hopeless for one in found.outlooks)
    assert found.sentence.endswith("labels of all 400 rows settle it in 0% of the draws.")
    plan = draw_audit(400, 100)
    after = plan_audit(models, labels, draws=5, audit=plan.answered(labels[plan.rows]))
    assert "audit would settle the comparison: labels of all 400 rows settle it in " in after.sentence


def test_how_many_more() -> None:
    models, labels = judged(2000, {"a": 0.80, "b": 0.84})
    plan = draw_audit(2000, 60, seed=1)
    found = plan_audit(models, labels, draws=6, audit=plan.answered(labels[plan.rows]))
    assert (found.audited, found.design, found.sizes[0]) == (60, "uniform", 60)
    half, most = (found.smallest("uniform", share=share) for share in (0.5, 0.9))
    assert 60 < half <= most
    expected = f"{half - 60:,} more rows settle it in half of the draws, {most - 60:,} in nine tenths."
    assert found.sentence == expected


def test_an_audit_that_settles_it_needs_no_more() -> None:
    models, labels = judged(1000, {"a": 0.6, "b": 0.9})
    plan = draw_audit(1000, 300)
    audit = plan.answered(labels[plan.rows])
    assert compare(models["a"], models["b"], labels, audit=audit).verdict == "candidate"
    found = plan_audit(models, labels, draws=3, audit=audit)
    assert found.sentence == "The 300 audited rows settle the comparison already."


def test_what_cannot_be_used_is_refused() -> None:
    options_cases: Any = [
        ({"sizes": [0]}, InputError, "sizes.*from 1 to 100"),
        ({"sizes": [101]}, InputError, "sizes.*from 1 to 100"),
        ({"sizes": []}, InputError, "sizes.*at least one"),
        ({"wrong": 1.0}, InputError, r"wrong.*in \[0, 1\)"),
        ({"wrong": []}, InputError, "wrong.*at least one"),
        ({"draws": 1}, InputError, "draws"),
        ({"inference": "overlap"}, InputError, "inference.*population' or 'test_set"),
        ({"measure": "f1"}, InputError, "of: f1 is compared for one class"),
        ({"measure": "macro-f1", "sizes": [50]}, InputError, "sizes.*from 100 to 100"),
        ({"groups": [1] * 100}, NotEnoughData, "at least 10 groups"),
        ({"audit": [1, 2]}, InputTypeError, "audit.*an Audit"),
        ({"audit": Audit([1], [0], design="selective")}, InputError, "audit.*'selective' is not simulated"),
    ]
    for options, error, words in options_cases:
        models, labels = judged(100, {"a": 0.7, "b": 0.8})
        refuses(error, words, plan_audit, models, labels, **options)


def test_unknown_names_are_refused() -> None:
    models, labels = judged(200, {"a": 0.7, "b": 0.8})
    found = plan_audit(models, labels, sizes=50, wrong=0.0, draws=2)
    refuses(InputError, "design", found.smallest, "selective")
    refuses(UnknownNameError, "world", found.smallest, "uniform", world="none")
    refuses(UnknownNameError, "pair", found.smallest, "uniform", pair=("a", "z"))
