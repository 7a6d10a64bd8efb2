"""What an audit would buy: by hand without errors, against real audits with them."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, t

from demele.classifiers.comparison.audit import by_audit
from demele.classifiers.comparison.decision import prospect
from demele.classifiers.question import Question
from demele.core.labelled import Labelled, Vocabulary
from demele.core.seeds import rng_for
from demele.noise.audit import draw_audit
from demele.noise.transition import TransitionCounts
from tests.tolerances import SOLVER, assert_close

Z = 1.959963984540054


def asked(lost: int, won: int, neither: int, n: int, **options: Any) -> Question:
    """Two models that differ on so many rows, of three classes."""
    labels = np.zeros(n, np.int32)
    first, second = labels.copy(), labels.copy()
    second[:lost] = 1
    first[lost : lost + won] = 1
    first[lost + won : lost + won + neither], second[lost + won : lost + won + neither] = 1, 2
    data = Labelled(labels, np.stack([first, second]), ("first", "second"), Vocabulary((0, 1, 2)))
    return Question(data=data, baseline=np.array([0]), candidate=np.array([1]), **options)


def test_by_hand_without_errors() -> None:
    # Of the 200 rows that the candidate wins 20 are audited, and none is wrong: the share of wrong ones has the bound
    # of Clopper and Pearson, with the variance of the nine tenths that are left, and the t quantile of 98 rows.
    mean, left = 1 / 21, 0.9
    size = 22 / left - 1
    wider = t.ppf(0.975, 98) / Z
    unseen = 2 * 0.2 * beta.ppf(0.975, mean * size, (1 - mean) * size) * wider
    sample = prospect(asked(100, 200, 0, 1000, inference="test_set"), sizes=(100,))
    assert sample[0]["labels"] == 100
    # SciPy 1.11 finds quantiles to 1e-10 only
    assert_close(sample[0]["half_width"], unseen, SOLVER)
    assert sample[0]["certified_if_clean"] is bool(unseen < 0.1)
    assert sample[0]["certified_if_rate"] is None
    rows = prospect(asked(100, 200, 0, 1000, inference="population"), sizes=(100,))
    unseen = 2 * 0.2 * beta.ppf(0.975, 1, 20) * wider
    sampling = (Z * math.sqrt((0.3 - 0.1**2) / 1000) + 1 / 1000) * wider
    assert_close(rows[0]["half_width"], math.hypot(unseen, sampling), SOLVER)


@pytest.mark.parametrize("inference", ["population", "test_set", "overlap"])
def test_more_labels_buy_more(inference: Any) -> None:
    rows = prospect(asked(300, 500, 50, 5000, inference=inference, noise=0.02))
    assert [row["labels"] for row in rows] == [50, 100, 200, 500, 1000]
    widths = [row["half_width"] for row in rows]
    assert widths == sorted(widths, reverse=True)
    for name in ("certified_if_clean", "certified_if_rate"):
        flags = [row[name] for row in rows]
        assert flags == sorted(flags)
    for row in rows:
        assert row["certified_if_clean"] or not row["certified_if_rate"]
    assert rows[-1]["certified_if_clean"]


def test_it_looks_at_the_claim_that_is_near() -> None:
    there, back = (prospect(asked(*counts, 20, 2000, noise=0.05)) for counts in ((80, 240), (240, 80)))
    assert there == back


def test_audits_of_other_sizes_than_there_are_rows() -> None:
    assert [row["labels"] for row in prospect(asked(5, 20, 0, 120), sizes=(50, 100, 120, 200))] == [50, 100, 120]
    whole = prospect(asked(5, 20, 0, 120, inference="test_set"), sizes=(120,))[0]
    assert whole["half_width"] == 0
    assert whole["certified_if_clean"]


def test_it_foresees_what_audits_show() -> None:
    """Half-widths and claims against real audits, of labels with and without errors."""
    n, size, rate = 3000, 300, 0.05
    claims: list[float] = []
    widths: list[float] = []
    for seed in range(40):
        rng = rng_for(seed, "prospect")
        query = asked(300, 480, 30, n, inference="test_set", noise=rate)
        truth = query.data.labels.copy()
        wrong = rng.random(n) < rate
        truth[wrong] = rng.integers(1, 3, wrong.sum())
        plan = draw_audit(n, size, seed=seed)
        for answers, kept in ((query.data.labels, widths), (truth, claims)):
            audit = plan.answered(answers[plan.rows]).coded(query.data.vocabulary, n)
            found = by_audit(
                Question(
                    data=query.data, baseline=np.array([0]), candidate=np.array([1]), audit=audit, inference="test_set"
                )
            )
            kept.append(found.difference[0] - found.low[0] if kept is widths else float(found.candidate[0]))
    foreseen = prospect(asked(300, 480, 30, n, inference="test_set", noise=rate), sizes=(size,))[0]
    # Few rows whose label is with neither are audited, and on which side they count changes from draw to draw.
    assert 0.7 < np.mean(widths) / foreseen["half_width"] < 1.5
    assert foreseen["certified_if_rate"] == (np.mean(claims) > 0.5)


def test_other_measures_and_other_knowledge() -> None:
    assert prospect(asked(5, 20, 0, 120, measure="recall", of=1)) == ()
    counts = TransitionCounts(np.array([[196, 0, 0], [2, 0, 0], [2, 0, 0]]))
    assert prospect(asked(50, 200, 0, 1200, noise=counts), sizes=(500,))[0]["certified_if_rate"] is not None
