"""What ``plot()`` draws: the numbers of the result, where they belong."""

import sys
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import demele
from demele import evaluation
from tests.report.sample_evaluation import NASTY, sample_evaluation

mpl.use("Agg")
from matplotlib import pyplot as plt

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _no_figures_left() -> Iterator[None]:
    yield
    plt.close("all")


def _names(ax: Any) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def _line(ax: Any, label: str) -> Any:
    return next(line for line in ax.lines if line.get_label() == label)


@pytest.fixture(scope="module")
def scored() -> Any:
    factors = RNG.random((500, 3))
    codes = np.column_stack([factors[:, 0], factors[:, 1] ** 2, RNG.random(500)])
    return demele.evaluate(codes, factors, ["mig", "mig_sup", "dcimig"], bootstrap=40, chance=5)


def test_an_evaluation_is_drawn_as_scores_with_intervals_against_chance(scored: Any) -> None:
    ax = scored.plot()
    assert _names(ax) == ["mig", "mig_sup", "dcimig"]
    assert [bar.get_width() for bar in ax.patches] == [score.value for score in scored]
    spans = [tuple(line.get_xdata()) for line in ax.lines if line.get_color() == "black"]
    assert spans == [(score.interval.low, score.interval.high) for score in scored]
    ticks = [line.get_xdata()[0] for line in ax.lines if line.get_color() != "black"]
    assert ticks == [score.chance.mean for score in scored]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["95% interval", "chance"]


def test_a_score_is_drawn_as_codes_against_factors(scored: Any) -> None:
    ax = scored["mig"].plot()
    np.testing.assert_array_equal(ax.images[0].get_array(), scored["mig"].matrix_values)
    assert _names(ax) == ["z1", "z2", "z3"]
    assert [label.get_text() for label in ax.get_xticklabels()] == list(scored["mig"].factor_names)
    other = scored.plot(show="matrix", metric="mig_sup")
    np.testing.assert_array_equal(other.images[0].get_array(), scored["mig_sup"].matrix_values)


def test_native_values_are_drawn_with_their_intervals(scored: Any) -> None:
    score = scored["mig"]
    ax = score.plot(show="native")
    assert [bar.get_width() for bar in ax.patches] == list(score.native.values())
    assert [tuple(line.get_xdata()) for line in ax.lines] == [(one.low, one.high) for one in score.native_intervals]


def test_undefined_values_of_a_matrix_are_gaps() -> None:
    score = sample_evaluation(code_names=NASTY, factor_names=NASTY)["mig"]
    drawn = score.plot().images[0].get_array()
    assert score.matrix_values is not None
    wanted = np.isnan(score.matrix_values)
    assert wanted.any()
    np.testing.assert_array_equal(np.ma.getmaskarray(drawn), wanted)


def test_pictures_are_drawn_where_the_user_says(scored: Any) -> None:
    figure, (left, right) = plt.subplots(1, 2)
    truth = RNG.integers(0, 2, 200)
    found = evaluation.compare(truth, 1 - truth, truth)
    assert scored.plot(ax=left) is left
    assert found.plot(ax=right) is right
    assert [axes.figure for axes in (left, right)] == [figure, figure]
    assert plt.get_fignums() == [figure.number]


def _renamed(content: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    models = [{**model, "name": name} for model, name in zip(content["models"], names, strict=True)]
    return {**content, "models": models, "pairs": []}


def test_another_picture_is_refused(scored: Any) -> None:
    with pytest.raises(demele.InputError, match="expected 'scores' or 'matrix', got 'pie'"):
        scored.plot(show="pie")
    with pytest.raises(demele.UnknownNameError, match="did you mean"):
        scored.plot(show="matrix", metric="migg")


def test_without_matplotlib_the_extra_is_named(scored: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(demele.MissingExtraError, match=r"demele\[pictures\]"):
        scored.plot()


def test_cells_of_noise_are_unlit_and_struck_and_chance_is_subtracted_on_request() -> None:
    levels = RNG.integers(0, 40, 2000)
    codes = RNG.normal(size=(2000, 6))
    codes[:, 2] += levels / 6
    found = demele.evaluate(codes, np.char.mod("l%d", levels)[:, None], ["mig"])
    chance = found.matrix_chance[0]
    ax = found.plot(show="matrix")
    np.testing.assert_array_equal(ax.images[0].get_array(), found["mig"].matrix_values)
    assert sorted(patch.get_y() + 0.5 for patch in ax.patches) == [0, 1, 3, 4, 5]
    assert len(ax.lines) == 5
    less = found.plot(show="matrix", minus_chance=True)
    assert found["mig"].matrix_values is not None
    np.testing.assert_allclose(
        less.images[0].get_array(), found["mig"].matrix_values - chance.expected, rtol=0, atol=1e-6
    )


def test_chance_that_is_not_known_is_not_subtracted() -> None:
    factors = RNG.random((200, 2))
    found = demele.evaluate(factors, factors, ["sap"])
    with pytest.raises(demele.NotEnoughData, match="not known of the matrix of sap"):
        found.plot(show="matrix", minus_chance=True)
