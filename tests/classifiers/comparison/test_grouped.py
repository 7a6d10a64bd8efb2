"""Comparisons of rows in groups: by hand, against loops, and what nothing may change; what rows are worth."""

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import stdtr

from demele.classifiers import Audited, SequentialComparison, TrueLabels, assess, compare
from demele.classifiers.comparison.worst_case import paired_test, squares_gained
from demele.classifiers.question import Groups, PairCounts, effective_share, ends_at, read_groups
from demele.core.errors import InputError, NotEnoughData
from demele.labels import Audit, disagreement, draw_audit
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

Rows = NDArray[np.int64]


def counts(lost: Any, won: Any, neither: Any = None) -> PairCounts:
    lost, won = np.asarray(lost, float), np.asarray(won, float)
    return PairCounts(lost, won, np.zeros(lost.size) if neither is None else np.asarray(neither, float))


def world(
    groups: int, size: int, accuracies: tuple[float, float], seed: int = 0, noise: float = 0.0
) -> dict[str, Rows]:
    """Two classifiers; all rows of a group are the same, but for the labels that are wrong."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 6, groups)
    models = [np.where(rng.random(groups) < p, truth, (truth + 1 + model) % 6) for model, p in enumerate(accuracies)]
    truth, *models = (np.repeat(values, size) for values in (truth, *models))
    labels = np.where(rng.random(truth.size) < noise, (truth + rng.integers(1, 6, truth.size)) % 6, truth)
    codes = np.repeat(np.arange(groups), size)
    return {"truth": truth, "old": models[0], "new": models[1], "labels": labels, "groups": codes}


# The paired test -----------------------------------------------------------------------------------------------------


def test_worst_squares_by_hand() -> None:
    one = counts([0, 1, 2], [3, 1, 0])
    assert_exact(squares_gained(one, 4), 4.0)
    assert_exact(float(one.gap @ one.gap) + squares_gained(one, 4), 17.0)


def test_worst_squares_are_not_beaten_by_any_pattern() -> None:
    """Every way in which labels can fall: no sum of squares is larger than the bound."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        lost, won, neither = rng.integers(0, 3, (3, 4))
        one = counts(lost, won, neither)
        room = (2 * won + neither).astype(int)
        drop = int(rng.integers(0, room.sum() + 1))
        falls = itertools.product(*(range(most + 1) for most in room))
        worst = max(float(((one.gap - fall) ** 2).sum()) for fall in falls if sum(fall) <= drop)
        assert worst <= float(one.gap @ one.gap) + squares_gained(one, drop) + 1e-9


def test_the_paired_test_by_hand() -> None:
    groups = Groups(np.repeat(np.arange(12), 4))
    one = counts([0] * 12, [2] * 9 + [0] * 3)
    low, p_value = paired_test(one, 0, groups, 0.025)
    deviation = np.sqrt(12 / 11 * 9 * 4)
    # t of 11 degrees of freedom; 9 even steps of 2 rows: all of them on one side 1 time in 512.
    assert_close(low, 18 - 2.200985160 * deviation, SOLVER)
    assert_close(p_value, stdtr(11, -18 / deviation), SOLVER)
    low, p_value = paired_test(counts([0] * 12, [2] * 5 + [0] * 7), 0, groups, 0.025)
    assert_close(p_value, 1 / 32, SOLVER)
    assert low < 0


@pytest.mark.parametrize("agree", [1, 2, 3, 4, 5])
def test_few_groups_of_one_mind_show_nothing(agree: int) -> None:
    """Even steps of so many groups, all on one side, are a chance of 1 in 32 or more."""
    one = counts([0] * 100, [20] * agree + [0] * (100 - agree))
    low, p_value = paired_test(one, 0, Groups(np.repeat(np.arange(100), 20)), 0.025)
    assert low <= 0
    assert p_value >= 0.025


def test_the_breakdown_of_groups_is_the_noise_that_the_test_bears() -> None:
    made = world(100, 5, (0.70, 0.85), noise=0.0)
    asked = (made["old"], made["new"], made["labels"])
    held = compare(*asked, noise=0, groups=made["groups"]).breakdown
    assert held is not None
    assert held.labels > 0
    for wrong, verdict in ((held.labels, "candidate"), (held.labels + 1, "inconclusive")):
        assert compare(*asked, noise=(wrong + 0.5) / held.n, groups=made["groups"]).verdict == verdict


# Disagreements alone -------------------------------------------------------------------------------------------------


def test_one_group_with_most_disagreements_is_named() -> None:
    made = world(40, 5, (0.8, 0.8), seed=3)
    sizes = np.r_[np.full(39, 1), 160]
    old, new = made["old"].copy(), made["labels"].copy()
    old[-160:] = (made["labels"][-160:] + 1) % 6
    found = compare(old[-199:], new[-199:], made["labels"][-199:], noise=0, groups=np.repeat(np.arange(40), sizes))
    assert any(note.code == "one-group" for note in found.notes)


# Decisions -----------------------------------------------------------------------------------------------------------


def options(made: dict[str, Rows]) -> dict[str, dict[str, Any]]:
    n = made["truth"].size
    uniform = draw_audit(n, n // 2, seed=1)
    weighted = draw_audit(n, n // 4, disagreement=disagreement([made["old"], made["new"]]), floor=0.2, seed=1)
    audits = [plan.answered(made["truth"][plan.rows]) for plan in (uniform, weighted)]
    return {
        "overlap": {},
        "overlap recall": {"measure": "recall", "of": 1},
        "true-labels": {"method": TrueLabels(made["truth"])},
        "worst-case": {"noise": 0.01},
        "audit": {"audit": audits[0]},
        "weighted": {"audit": audits[1]},
        "audit f1": {"audit": audits[0], "measure": "f1", "of": 2},
        "sequential": {"audit": audits[0], "method": "sequential"},
    }


WAYS = ("overlap", "overlap recall", "true-labels", "worst-case", "audit", "weighted", "audit f1", "sequential")


def test_one_row_per_group_gives_the_same_numbers() -> None:
    for way in WAYS:
        made = world(600, 1, (0.75, 0.85), noise=0.05)
        known = options(made)[way]
        apart = compare(made["old"], made["new"], made["labels"], **known)
        single = compare(made["old"], made["new"], made["labels"], groups=made["groups"], **known)
        assert (single.verdict, single.interval, single.breakdown) == (apart.verdict, apart.interval, apart.breakdown)
        assert_exact(single.p_value, apart.p_value)
        assert single.candidate == apart.candidate
        assert str(single.signature) == str(apart.signature)


def test_repeating_rows_shows_no_more() -> None:
    """Each row ten times: as rows apart that is shown which is not; as groups it stays open, and as wide."""
    for way in WAYS:
        made = world(120, 10, (0.74, 0.86), seed=3)
        known = options(made)[way]
        args = made["old"], made["new"], made["labels"]
        apart, grouped = compare(*args, **known), compare(*args, groups=made["groups"], **known)
        assert grouped.verdict == "inconclusive"
        assert grouped.interval.high - grouped.interval.low > 1.5 * (apart.interval.high - apart.interval.low)
        assert grouped.details["groups"] == 120
        if way in ("overlap", "worst-case"):
            assert apart.verdict == "candidate"
            assert 110 < grouped.details["effective_rows"] < 121


def test_asking_one_at_a_time_needs_a_larger_gap() -> None:
    made = world(300, 5, (0.7, 0.85))
    args = made["old"], made["new"], made["labels"]
    gaps, verdicts = [], []
    for groups in (None, np.arange(1500), made["groups"]):
        comparison = SequentialComparison(*args, groups=groups)
        rows = comparison.ask(1500)
        comparison.tell(rows, made["truth"][rows])
        found = comparison.decision()
        gaps.append(found.details["required_gap"])
        verdicts.append((found.verdict, found.interval))
    assert (verdicts[0], gaps[0]) == (verdicts[1], gaps[1])
    assert 2 < gaps[2] / gaps[0] < 2.5  # the square root of five, and a little for whole steps


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"noise": 0.01, "method": "worst-case-overlap"}, "takes all rows as apart; methods with groups are overlap"),
        ({"noise": 0.01, "inference": "overlap"}, "not known for groups"),
        ({"audit": True, "method": Audited(exact=True)}, "no theorem covers groups"),
    ],
)
def test_what_cannot_be_kept_for_groups_is_refused(known: dict[str, Any], words: str) -> None:
    made = world(50, 4, (0.7, 0.9))
    if known.get("audit"):
        plan = draw_audit(200, 100, seed=0)
        known = {**known, "audit": plan.answered(made["truth"][plan.rows])}
    refuses(InputError, words, compare, made["old"], made["new"], made["labels"], groups=made["groups"], **known)


# What rows in groups are worth ----------------------------------------------------------------------------------------


def identical(groups: int, size: int, accuracy: float = 0.8, seed: int = 0) -> tuple[Rows, Rows, Rows]:
    """Predictions, labels and groups; all rows of a group are the same row."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 5, groups)
    predicted = np.where(rng.random(groups) < accuracy, labels, (labels + 1) % 5)
    return np.repeat(predicted, size), np.repeat(labels, size), np.repeat(np.arange(groups), size)


def test_share_by_hand() -> None:
    # 10 groups of 2: eight whole right, one half right, one wrong: p = 17/20, squares 8 * .09 + .49 + 2.89 = 4.1.
    hits = np.repeat([1, 1, 1, 1, 1, 1, 1, 1, 0, 0], 2)
    hits[16] = 1
    codes = np.repeat(np.arange(10), 2)
    effect = (10 / 9) * 4.1 / (20 * 0.85 * 0.15)
    student = (1.959963985 / 2.262157163) ** 2
    assert_close(effective_share(hits, np.ones(20), Groups(codes), level=0.95), student / effect, SOLVER)


def score_ends(hits: Any, trials: Any, groups: Groups) -> tuple[float, float]:
    low, high = ends_at(hits.sum(), trials.sum(), effective_share(hits, trials, groups, level=0.95), level=0.95)
    return float(low), float(high)


def test_where_no_row_differs_groups_count_as_one() -> None:
    share = effective_share(np.ones(200), np.ones(200), Groups(np.repeat(np.arange(50), 4)), level=0.95)
    assert_close(share, (1.959963985 / 2.009575237) ** 2 / 4, SOLVER)
    assert_exact(effective_share(np.ones(50), np.ones(50), Groups(np.arange(50)), level=0.95), 1.0)


def test_one_group_leaves_everything_open() -> None:
    trials = np.r_[np.ones(4), np.zeros(36)]
    low, high = score_ends(trials, trials, Groups(np.repeat(np.arange(10), 4)))
    assert (low, high) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("groups", "kind", "words"),
    [
        (np.arange(5), InputError, "one per row of `labels`"),
        (np.r_[np.full(99, 1.0), np.nan], InputError, "1 of 100 rows have none, first row 99"),
        (np.arange(100) % 9, NotEnoughData, "at least 10 groups, got 9"),
    ],
)
def test_groups_are_refused(groups: Any, kind: type[Exception], words: str) -> None:
    refuses(kind, words, read_groups, groups, 100)


# assess ---------------------------------------------------------------------------------------------------------------


def rows_of(found: Any) -> str:
    return repr([one.row() for one in found.estimates])


@pytest.mark.parametrize("known", ["nothing", "noise", "uniform", "weighted", "true labels"])
def test_one_row_per_group_changes_nothing(known: str) -> None:
    predicted, labels, codes = identical(300, 1)
    every: dict[str, dict[str, Any]] = {
        "nothing": {},
        "noise": {"noise": 0.05},
        "uniform": {"audit": Audit(np.arange(0, 300, 4), labels[::4], design="uniform")},
        "weighted": {
            "audit": Audit(np.arange(0, 300, 4), labels[::4], design="weighted", probabilities=np.full(75, 0.25))
        },
        "true labels": {"true_labels": labels},
    }
    options = every[known]
    apart, single = assess(predicted, labels, **options), assess(predicted, labels, groups=codes, **options)
    assert rows_of(apart) == rows_of(single)
    assert any(note.code == "groups" and "nothing changes" in note.message for note in single.notes)


def test_audits_of_whole_groups_are_refused() -> None:
    predicted, labels, codes = identical(100, 5)
    rows = np.flatnonzero(codes % 5 == 0)
    with pytest.raises(InputError, match="all 20 audited groups of several rows were audited whole"):
        assess(predicted, labels, audit=Audit(rows, labels[rows], design="uniform"), groups=codes)
    assess(predicted, labels, audit=Audit(rows[1:], labels[rows[1:]], design="uniform"), groups=codes)
    whole = Audit(np.arange(500), labels, design="uniform")
    found = assess(predicted, labels, audit=whole, groups=codes)["accuracy"]
    assert_close(found.value, (predicted == labels).mean(), ROUNDING)


def test_an_assessment_says_what_its_groups_are_worth() -> None:
    predicted, labels, codes = identical(25, 4)
    found = assess(predicted, labels, groups=codes)
    notes = {note.code: note.message for note in found.notes}
    assert notes["groups"].startswith("100 rows in 25 groups; as informative as about 2")
    assert "only 25 groups" in notes["few-groups"]
    assert found.assumptions[0].startswith("The groups, with their rows, are a random sample")
    assert "groups" in dict(found.signature.context)
    assert assess(predicted, labels, noise=0.02, groups=codes)["precision", 0].corrected is None
