"""Slices: intervals of audited means, differences that claim no more than the level allows, adjusted p-values."""

import numpy as np
import pytest
from numpy.typing import NDArray

from demele.classifiers import RowScores, slices
from demele.errors import InputError
from demele.labels import Audit
from tests.classifiers.audited import audited_mean
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close

N = 1500


def _world(
    seed: int, shares: tuple[float, float, float], k: int = 240
) -> tuple[RowScores, Audit, NDArray[np.str_], NDArray[np.bool_]]:
    """Three slices with these true shares, whose judge is lenient to the last one."""
    rng = np.random.default_rng(seed)
    place = rng.integers(0, 3, N)
    true = rng.random(N) < np.array(shares)[place]
    passes = np.where(true, 0.97, np.array([0.1, 0.1, 0.5])[place])
    rows = rng.choice(N, k, replace=False)
    given = (rng.random(N) < passes).astype(float)
    audit = Audit(rows, true[rows].astype(float), design="uniform")
    return RowScores(given), audit, np.array(["de", "en", "fr"])[place], true


def test_a_slice_has_the_audited_mean_of_its_rows() -> None:
    scores, audit, column, _ = _world(1, (0.8, 0.8, 0.6))
    found = slices(scores, audit, column)
    true = dict(zip(audit.rows.tolist(), audit.scores[""], strict=True))
    ends = {}
    for name in ("de", "en", "fr"):
        for key, part in ((name, column == name), (f"rest of {name}", column != name)):
            own = np.flatnonzero(part)
            rows = [row for row in audit.rows.tolist() if part[row]]
            alone = Audit(np.searchsorted(own, rows), [true[row] for row in rows], design="uniform")
            ends[key] = audited_mean(scores.take(own), alone)
        row, mean = found[name], ends[name]
        assert_close(
            [row.value, row.corrected_value, row.corrected.low, row.corrected.high],
            [scores.given[column == name].mean(), mean.value, mean.low, mean.high],
            ROUNDING,
        )
        gap, rest = found[f"{name} - rest"], ends[f"rest of {name}"]
        below = np.hypot(mean.value - mean.low, rest.high - rest.value)
        above = np.hypot(mean.high - mean.value, rest.value - rest.low)
        value = mean.value - rest.value
        known = gap.corrected_value, gap.corrected.low, gap.corrected.high
        assert_close(known, [value, value - below, value + above], ROUNDING)


def test_p_values_are_those_of_the_intervals_and_are_adjusted() -> None:
    scores, audit, column, _ = _world(2, (0.8, 0.8, 0.5))
    found, loose = slices(scores, audit, column), slices(scores, audit, column, correction="bh")
    names = [row.name for row in found.rows if "rest" in row.name]
    assert names == [f"{name} - rest" for name in dict.fromkeys(column.tolist())]
    p_holm, p_bh = (np.array([held[name].p_value for name in names]) for held in (found, loose))
    alone = []  # at the level of its p-value, an interval ends at 0
    for name in names:
        low, high = 0.5, 1 - 1e-12
        for _ in range(50):
            level = (low + high) / 2
            span = slices(scores, audit, column, level=level)[name].corrected
            low, high = (level, high) if span.low > 0 or span.high < 0 else (low, level)
        alone.append(1 - low)
    small = np.array(alone) < 0.499  # levels below .5 are refused
    assert small.sum() >= 1
    order = np.argsort(alone)[0]
    assert p_holm[order] == pytest.approx(min(3 * alone[order], 1), rel=1e-6)
    assert (p_bh <= p_holm + 1e-12).all()


def test_thin_slices_have_the_given_mean_alone() -> None:
    scores, audit, column, _ = _world(3, (0.8, 0.8, 0.6), k=60)
    column = np.where(np.arange(N) < 40, "xx", column)
    found = slices(scores, audit, column)
    assert found["xx"].corrected is None
    assert found["xx"].value == pytest.approx(scores.given[:40].mean())
    assert "xx - rest" not in [row.name for row in found.rows]
    (note,) = found.notes
    assert note.code == "slice-thin"
    assert "xx (" in note.message
    refuses(InputError, "column: expected 1500", slices, scores, audit, column[:-1])
    with pytest.raises(InputError, match="correction"):
        slices(scores, audit, column, correction="none")  # type: ignore[arg-type]


@pytest.mark.long
def test_equal_slices_are_rarely_called_different_and_intervals_cover() -> None:
    repeats, claims, covered, trials = 500, 0, 0, 0
    for seed in range(repeats):
        scores, audit, column, _ = _world(1000 + seed, (0.75, 0.75, 0.75))
        found = slices(scores, audit, column)
        claims += any(row.p_value <= 0.05 for row in found.rows)
        for name in ("de", "en", "fr"):
            span = found[name].corrected
            covered, trials = covered + (span.low <= 0.75 <= span.high), trials + 1
    assert claims / repeats <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / repeats)
    assert covered / trials >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / repeats)
