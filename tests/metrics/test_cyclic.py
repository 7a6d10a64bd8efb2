"""Cyclic factors: no score depends on where the circle begins, and metrics that cannot know them refuse them."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array

import demele
from demele.core.errors import InputError, NotEnoughData
from demele.core.inputs import read_factors
from demele.metrics.catalogue import CATALOGUE
from tests.given import evaluated
from tests.refusals import refuses

KINDS = {"turn": "cyclic:360", "tilt": "continuous"}
#: Rows are drawn, or dealt to halves, in the order of the bins, so that scores are those of another draw.
DRAWN = {"nk", "snc", "z_diff", "z_min_variance", "z_max_variance"}
LINES = {"capacity_explicitness", "tmex"}


def world(seed: int = 0, n: int = 240) -> tuple[np.ndarray, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    turn, tilt = 360 * rng.random(n), rng.random(n)
    angle = np.radians(turn)
    clean = np.column_stack([np.cos(angle), np.sin(angle + 0.5), tilt, turn / 360])
    return clean + 0.05 * rng.normal(size=clean.shape), pd.DataFrame({"turn": turn, "tilt": tilt})


def bare(metric: str, codes: np.ndarray, factors: pd.DataFrame, **options: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(evaluated(codes, factors, [metric], options)[metric].value)


# By hand --------------------------------------------------------------------------------------------------------------


def test_four_quarter_turns_by_hand() -> None:
    """Cosine (1, 0, -1, 0) and sine (0, 1, 0, -1) against the code (0, 1, 2, 3).

    Both products with the centred code are -2, its square is 5, those of the two are 2: r2 is 4 / 10 twice. The code is
    explained by 0.8; of the variance of the two together, the code explains 0.4.
    """
    codes, factors = np.arange(4.0)[:, None], pd.DataFrame({"turn": [0.0, 90.0, 180.0, 270.0]})
    repeated = np.tile(codes, (25, 1)), pd.concat([factors] * 25, ignore_index=True)
    for metric, value in (("mcc", np.sqrt(0.8)), ("sap", 0.4), ("r2_affine", 0.4), ("mcc_weak", np.sqrt(0.8))):
        assert bare(metric, *repeated, kinds={"turn": "cyclic:360"}) == pytest.approx(value, abs=1e-12), metric


def test_bins_go_round_the_whole_circle() -> None:
    """-1, 359 and 719 degrees are one place; values of a quarter of the circle fill a quarter of the bins."""
    (factor,) = read_factors(
        pd.DataFrame({"turn": [-1.0, 359.0, 719.0, 0.0, 360.0, -1e-14]}), kinds="cyclic:360"
    ).columns
    assert factor.values.tolist() == [359.0, 359.0, 359.0, 0.0, 0.0, 0.0]
    quarter = np.linspace(0.0, 89.0, 90)
    codes = np.repeat([0.0, 1.0], 45)[:, None]
    assert bare("mig", codes, pd.DataFrame({"turn": quarter}), kinds="cyclic:360", bins=8) == pytest.approx(1.0)
    assert bare("mig", codes, pd.DataFrame({"turn": quarter}), kinds="continuous", bins=8) == pytest.approx(
        1 / 3, abs=0.02
    )


def test_a_group_of_cosine_and_sine_holds_the_angle() -> None:
    turn = 360 * np.random.default_rng(1).random(400)
    codes = np.column_stack([np.cos(np.radians(turn)), np.sin(np.radians(turn)), np.random.default_rng(2).random(400)])
    factors = pd.DataFrame({"turn": turn})
    groups = {"circle": [0, 1], "noise": [2]}
    for metric in ("mcc", "r2_affine"):
        assert bare(metric, codes, factors, kinds="cyclic:360", groups=groups) == pytest.approx(1.0), metric
    assert bare("sap", codes, factors, kinds="cyclic:360", groups=groups) > 0.98
    assert bare(
        "mcc", codes, factors, kinds="cyclic:360", groups=groups, options={"mcc": {"cross_fit": 3}}
    ) == pytest.approx(1.0)


# The seam -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", sorted({one.name for one in CATALOGUE.values()}))
def test_each_metric_knows_the_seam_or_refuses_cyclic_factors(metric: str) -> None:
    codes, factors = world()
    other = factors.assign(turn=(factors["turn"] + 3 * 36 + 180) % 360 - 180)
    options = {"bins": 10} | ({"std": np.full(codes.shape, 0.1)} if metric == "rmig" else {})
    if metric in LINES:
        with pytest.raises(NotEnoughData, match=r"does not know cyclic factors such as 'turn'.*'turn': 'continuous'"):
            demele.evaluate(codes, demele.Factors(factors, kinds=KINDS), [metric])
        return
    values = [bare(metric, codes, each, kinds=KINDS, **options) for each in (factors, other)]
    assert values[0] == pytest.approx(values[1], abs=1e-9) or metric in DRAWN
    assert np.isfinite(values).all()


@pytest.mark.parametrize("metric", ["dci_forest_modularity", "dci_lasso_compactness"])
def test_permutation_importances_know_the_seam(metric: str) -> None:
    codes, factors = world(3)
    other = factors.assign(turn=(factors["turn"] + 77.7) % 360)
    options = {"options": {metric.rsplit("_", 1)[0]: {"importance": "permutation"}}, "kinds": KINDS}
    first, second = (bare(metric, codes, each, **options) for each in (factors, other))
    assert first == pytest.approx(second, abs=1e-6)


@pytest.mark.parametrize(
    ("metric", "options"),
    [("mig", {"estimator": "knn"}), ("mig", {"estimator": "robust"}), ("omes", {"effect": "published"})],
)
def test_options_that_read_lines_are_refused(metric: str, options: dict[str, str]) -> None:
    codes, factors = world()
    with pytest.raises(NotEnoughData, match=r"under .*does not know cyclic factors such as 'turn'"):
        getattr(demele.metrics, metric)(codes, demele.Factors(factors, kinds=KINDS), **options)


@pytest.mark.parametrize(
    "call",
    [
        lambda codes, factors: demele.probes.downstream(codes, factors, kinds=KINDS),
        lambda codes, factors: demele.evaluate_sparse(csc_array(codes), factors, kinds=KINDS),
        lambda codes, factors: demele.probes.sparse_probing(codes, factors, kinds=KINDS),
        lambda codes, factors: demele.bins.BinEdges.of(codes, factors, kinds=KINDS),
        lambda codes, factors: demele.evaluate(
            codes, demele.Factors(factors, kinds=KINDS, noise={"turn": 0.1}), ["mig"]
        ),
    ],
)
def test_other_functions_refuse_cyclic_factors(call: Callable[..., Any]) -> None:
    refuses(InputError, "cyclic factors", call, *world())


# How kinds are said ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, np.pi / 180])
@pytest.mark.parametrize("start", [0.0, -180.0])
def test_the_period_of_an_angle_is_found(scale: float, start: float) -> None:
    turn = scale * (np.random.default_rng(0).random(300) * 360 + start)
    (factor,) = read_factors(turn, kinds="cyclic").columns
    assert factor.high == pytest.approx(360 * scale)


@pytest.mark.parametrize(
    "kind", ["cyclic:0", "cyclic:-1", "cyclic:inf", "cyclic:nan", "cyclic:", "cyclic:week", "cyclical", "cyclic"]
)
def test_other_periods_and_ones_that_nothing_shows_are_refused(kind: str) -> None:
    refuses(InputError, "'cyclic:PERIOD'", read_factors, np.random.default_rng(0).random(100), kinds=kind)
