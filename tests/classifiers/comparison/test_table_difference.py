"""Comparisons by measures of all classes: on believed labels by hand, by audits brute force, refusals, level."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import ndtri

from benchmarks import table_measures as measured
from demele import classifiers
from demele.classifiers.comparison.methods import Audited, TrueLabels, overlap, worst_case_overlap
from demele.classifiers.comparison.table_difference import PRESUMED, PRESUMPTION, AuditedTables, fitted_guess, own_ends
from demele.classifiers.table_measures import TABLE_MEASURES, table_value
from demele.core.errors import InputError, NotEnoughData
from demele.labels import Audit
from demele.noise.audit import CodedAudit
from tests.classifiers.comparison.cases import mirror, question, random_question
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact, assert_rate_at_most

#: Called with measures and options that come from tables.
compare: Any = classifiers.compare
rank: Any = classifiers.rank


def models(seed: int = 0, n: int = 600, k: int = 3, noise: float = 0.0) -> tuple[Any, Any, Any]:
    """True classes of unequal shares, labels, and two classifiers, 70 and 85% right."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(k, n, p=np.r_[0.1, np.full(k - 1, 0.9 / (k - 1))])
    labels = np.where(rng.random(n) < noise, rng.integers(0, k, n), truth)
    right = rng.random((2, n)) < np.array([[0.7], [0.85]])
    return truth, labels, np.where(right, truth, (truth + rng.integers(1, k, (2, n))) % k)


def test_difference_of_balanced_accuracies_by_hand() -> None:
    """Four rows of one class, one missed; six of the other, two missed; the candidate misses none."""
    labels = [0] * 4 + [1] * 6
    found = overlap(question(labels, [[0] * 3 + [1] * 5 + [0] * 2, labels], 2, measure="balanced-accuracy"))
    effects = np.array([0.25 / 8] * 3 + [-0.75 / 8] + [1 / 36] * 4 + [-1 / 18] * 2)
    distance = -ndtri(0.025) * np.sqrt((effects**2).sum()) + 0.75 / 16
    assert_close(found.difference[0], (1 / 4 + 2 / 6) / 2, ROUNDING)
    assert_close(found.low[0], found.difference[0] - distance, ROUNDING)
    assert_close(found.high[0], found.difference[0] + distance, ROUNDING)
    assert not found.candidate[0]


@pytest.mark.parametrize("measure", TABLE_MEASURES)
def test_roles_exchanged_turn_the_difference(measure: str) -> None:
    asked = random_question(np.random.default_rng(1), n=150, k=3, models=3, measure=measure)
    found, turned = overlap(asked), overlap(mirror(asked))
    assert_close(found.difference, -turned.difference, ROUNDING)
    assert_close(found.low, -turned.high, ROUNDING)
    assert_exact(found.candidate, turned.baseline)


def test_groups_of_one_row_change_nothing_and_copies_of_rows_are_not_counted_again() -> None:
    _, labels, said = models()
    for measure in TABLE_MEASURES:
        alone = compare(*said, labels, measure=measure)
        assert compare(*said, labels, measure=measure, groups=np.arange(600)).interval == alone.interval
        copies = (np.repeat(one, 5) for one in (*said, labels))
        several = compare(*copies, measure=measure, groups=np.repeat(np.arange(600), 5))
        widths = [one.interval.high - one.interval.low for one in (several, alone)]
        assert_close(several.difference, alone.difference, ROUNDING)
        assert 0.99 < widths[0] / widths[1] < 1.02
        assert_close(several.details["effective_rows"] / 600, 1.0, {"rtol": 0.01, "atol": 0.0})


# Audits ---------------------------------------------------------------------------------------------------------------


def audit_of(truth: Any, size: int, seed: int = 0) -> Audit:
    rows = np.random.default_rng(seed).choice(len(truth), size, replace=False)
    return Audit(rows, truth[rows], design="uniform")


@pytest.mark.parametrize("measure", TABLE_MEASURES)
def test_an_audit_of_all_rows_knows_the_difference(measure: str) -> None:
    truth, labels, said = models(noise=0.2)
    everything = Audit(np.arange(600), truth, design="uniform")
    found = compare(*said, labels, measure=measure, audit=everything, inference="test_set")
    right = compare(*said, truth, measure=measure)
    assert_close(found.difference, right.difference, {"rtol": 1e-9, "atol": 1e-11})
    assert found.interval.high - found.interval.low < 1e-9
    population = compare(*said, labels, measure=measure, audit=everything)
    widths = [one.interval.high - one.interval.low for one in (population, right)]
    assert 0.98 < widths[0] / widths[1] < 1.03


@pytest.mark.parametrize("measure", TABLE_MEASURES)
def test_what_rows_could_lose_is_that_of_the_whole_table_of_slopes(measure: str) -> None:
    truth, labels, said = models(n=150, noise=0.2)
    asked = question(labels, said, 3, measure=measure)
    coded = audit_of(truth, 60).coded(asked.data.vocabulary, 150)
    view: Any = AuditedTables(replace(asked, audit=coded), coded, np.arange(2))
    chances = np.concatenate([part for _, part in view.guess.everywhere()])
    table = [view.slopes.of(model).at(np.arange(3)[:, None], np.arange(3)[None]) for model in range(2)]
    effects = table[1][:, said[1]] - table[0][:, said[0]]
    mean = (chances.T * effects).sum(axis=0)
    loss = mean - effects.min(axis=0)
    rows, shown = coded.rows, view.shown(0, 1)
    against, favour = shown[1]
    gain = effects.max(axis=0) - mean
    error = effects[coded.labels, rows] - mean[rows]
    for found, met, reach in ((against, np.maximum(-error, 0), loss), (favour, np.maximum(error, 0), gain)):
        assert_close(found[0], met.sum() * 150 / 60, {"rtol": 1e-9, "atol": 1e-12})
        assert_close(found[3], met.sum(), {"rtol": 1e-9, "atol": 1e-12})
        assert_close(found[4], np.delete(reach, rows).sum(), {"rtol": 1e-9, "atol": 1e-12})
        assert_close(found[5:], [150 / 60, max(loss[rows].max(), gain[rows].max())], ROUNDING)
    squares = (chances.T * effects**2).sum(axis=0)
    news = (effects[coded.labels, rows] ** 2 - squares[rows]).sum() * 150 / 60
    assert_close(shown[2][0], squares.sum() - mean.sum() ** 2 / 150 + news, ROUNDING)
    for model, predicted in enumerate(said):
        own = table[model][:, predicted]
        rest = np.delete((chances.T * own).sum(axis=0) - own.min(axis=0), rows).sum()
        assert_close(view.shown(-1, model)[1][0][4], rest, {"rtol": 1e-9, "atol": 1e-12})


def test_estimated_counts_below_0_stay() -> None:
    """A class that the guess finds often and the audit never: cut off at 0, its measure would be too high."""
    labels = np.repeat([0, 1], [20, 180])
    asked = question(labels, np.stack([labels, labels]), 2, measure="balanced-accuracy")
    rows = np.r_[np.arange(12), 20 + np.arange(88)]
    told = np.repeat([1, 0, 1], [12, 5, 83])
    coded = Audit(rows, told, design="uniform").coded(asked.data.vocabulary, 200)
    view: Any = AuditedTables(replace(asked, audit=coded), coded, np.arange(2))
    chances = np.concatenate([part for _, part in view.guess.everywhere()])
    news = 2 * (np.eye(2)[told] - chances[rows])
    hits = [chances[labels == k, k].sum() + news[labels[rows] == k, k].sum() for k in (0, 1)]
    true = chances.sum(axis=0) + news.sum(axis=0)
    assert hits[0] < -1
    assert_close(view.value[0], np.mean(hits / true), {"rtol": 1e-9, "atol": 1e-12})


def test_an_audit_widens_what_is_said_and_names_the_classes_it_hardly_met() -> None:
    truth, labels, said = models(n=1500, k=5, noise=0.05)
    truth[:6], truth[6:][truth[6:] == 0] = 0, 1
    labels[:6], labels[6:][labels[6:] == 0] = 0, 1
    said = np.where(said == 0, 1, said)
    found = compare(*said, labels, measure="macro-f1", audit=audit_of(truth, 150))
    assert found.method == "audit"
    assert [note.subject for note in found.notes if note.code == "few-audited-in-class"] == [("0",)]
    believed = compare(*said, labels, measure="macro-f1").interval
    assert found.interval.high - found.interval.low > believed.high - believed.low


# Refusals -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["macro-f1", "balanced-accuracy"])
def test_largest_bias_of_a_mean_holds_for_every_wrong_label(measure: str) -> None:
    """All sets of right labels that differ from the given ones in one row, on which every class is left."""
    asked = random_question(np.random.default_rng(4), n=12, k=3, models=2, measure=measure, noise=1 / 12)
    found, given = worst_case_overlap(asked), asked.observed()[1]
    assert found.candidate_interval is not None
    shifted = [own_ends(asked, int(model)) for model in asked.candidate]
    least, most = (
        np.array(end) - own for end, own in zip(found.candidate_interval, zip(*shifted, strict=True), strict=True)
    )
    met = []
    for row, label in np.ndindex(12, 3):
        truth = asked.data.labels.copy()
        truth[row] = label
        if np.bincount(truth, minlength=3).all():
            met.append(table_value(asked.data.relabelled(truth), measure)[asked.candidate] - given)
    assert np.max(met) > 0.02
    assert (np.min(met, axis=0) >= least - 1e-12).all()
    assert (np.max(met, axis=0) <= most + 1e-12).all()


def test_prudence_is_the_default_where_a_rate_is_known_and_asks_for_more_where_it_is_larger() -> None:
    _, labels, said = models(n=3000)
    worse = np.where(np.arange(3000) % 2, said[0], 0)
    lows = [compare(worse, said[1], labels, measure="macro-f1", noise=noise).interval.low for noise in (0, 0.01, 0.2)]
    found = compare(worse, said[1], labels, measure="macro-f1", noise=0.01)
    assert (found.method, found.verdict) == ("worst-case-overlap", "candidate")
    assert lows[0] > lows[1] > 0 > lows[2]


def test_refusals() -> None:
    _, labels, said = models()
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"of": 1}, InputError, "of: macro-f1 is of all classes; leave it out"),
        (
            {"inference": "overlap", "audit": 200},
            InputError,
            "inference: .* answers for population, test_set by macro-f1",
        ),
        ({"inference": "test_set"}, InputError, "answers for population"),
        ({"classes": [0, 1, 2, 3]}, InputError, "labels: no row is labelled 3, so macro-f1"),
        ({"audit": 99}, NotEnoughData, "audit: macro-f1 needs 100 audited rows or more"),
        ({"method": Audited(exact=True), "audit": 200}, InputError, "exact: only for accuracy and error, got"),
        ({"method": Audited(expert_error=0.01), "audit": 200}, InputError, "only for accuracy and error"),
    ]
    for options, kind, message in cases:
        given = {"measure": "macro-f1", **options}
        if "audit" in given:
            given["audit"] = audit_of(labels, given["audit"])
        refuses(kind, message, compare, *said, labels, **given)


def test_one_class_is_refused_and_so_is_one_that_cleaning_or_truth_empties() -> None:
    _, labels, said = models()
    with pytest.raises(NotEnoughData, match="is of several classes"):
        compare(np.zeros(20), np.zeros(20), np.zeros(20), measure="matthews")
    with pytest.raises(InputError, match="true_labels: no row is labelled 0"):
        compare(*said, labels, measure="macro-f1", method=TrueLabels(np.maximum(labels, 1)))


def test_matthews_of_a_constant_is_not_defined_and_nothing_is_shown_of_it() -> None:
    _, labels, said = models()
    found = compare(np.zeros(600, int), said[1], labels, measure="matthews")
    assert found.verdict == "inconclusive"
    assert np.isnan(found.difference)
    assert found.baseline.interval is None
    assert found.to_dict()["baseline"]["value"] is None
    assert {"undefined", "one-class"} <= {note.code for note in found.notes}
    ranked = rank({"a": said[0], "b": said[1], "constant": np.zeros(600, int)}, labels, measure="matthews")
    assert ranked.names[-1] == "constant"
    assert (ranked.best_rank[-1], ranked.worst_rank[-1]) == (1, 3)


# Level ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", TABLE_MEASURES)
def test_equal_classifiers_are_seldom_told_apart(measure: str) -> None:
    """The weak corners at full length are in benchmarks/results/table_measures.csv."""
    few = measured.Cell(n=200, k=3, share=0.05, alike=0.9)
    claims = [measured._once(few, index, measure)["candidate"] for index in range(120)]
    assert_rate_at_most(sum(claims), 120, 0.028)


# The guess that makes the labels of the expert likeliest --------------------------------------------------------------


def test_weights_are_the_likeliest() -> None:
    rng = np.random.default_rng(3)
    data = random_question(rng, n=300, k=3, models=4).data
    rows = rng.permutation(300)[:80].astype(np.intp)
    expert = np.where(rng.random(80) < 0.3, rng.integers(0, 3, 80), data.labels[rows]).astype(np.int32)
    audit = CodedAudit(rows, expert, np.full(80, 80 / 300), "uniform", 300)
    guess = fitted_guess(data, audit)
    scores = np.stack(guess.scores(audit.rows), axis=-1)

    def minus_likelihood(weights: NDArray[np.float64]) -> float:
        logits = scores @ weights
        total = np.log(np.exp(logits).sum(axis=1))
        told = logits[np.arange(audit.k), audit.labels]
        return float(-(told - total).sum() + PRESUMPTION / 2 * ((weights - PRESUMED) ** 2).sum())

    best = minimize(minus_likelihood, PRESUMED, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    assert_close(guess.weights, best.x, {"rtol": 0, "atol": 1e-5})
    assert abs(guess.weights - PRESUMED).max() > 0.05
