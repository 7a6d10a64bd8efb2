"""Rows that belong together: what they are worth, and who says no."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demele.classifiers import assess
from demele.classifiers.question import Groups, effective_share, ends_at, read_groups
from demele.core.errors import InputError, NotEnoughData
from demele.labels import Audit
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

Rows = NDArray[np.int64]


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
    share = effective_share(hits, trials, groups, level=0.95)
    low, high = ends_at(hits.sum(), trials.sum(), share, level=0.95)
    return float(low), float(high)


def test_where_no_row_differs_groups_count_as_one() -> None:
    codes = np.repeat(np.arange(50), 4)
    share = effective_share(np.ones(200), np.ones(200), Groups(codes), level=0.95)
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
