"""Scores over a training: the table, the best moment, the lines."""

import json
from typing import Any

import numpy as np
import pytest

import demele
from demele.probes import ScoreCurve
from tests.tolerances import assert_exact

rng = np.random.default_rng(0)
FACTORS, NOISE = rng.random((200, 2)), rng.normal(size=(200, 2))


def evaluated(scale: float, *metrics: str, **more: Any) -> demele.Evaluation:
    found: demele.Evaluation = demele.evaluate(FACTORS + scale * NOISE, FACTORS, list(metrics), **more)
    return found


CURVE = ScoreCurve([(4, evaluated(1.0, "mig", "sap")), (9, evaluated(0.05, "mig")), (14, evaluated(0.3, "mig", "sap"))])


def test_a_row_for_each_moment_and_a_column_for_each_metric() -> None:
    table = CURVE.to_frame()
    assert (list(table.index), list(table.columns), table.index.name) == ([4, 9, 14], ["mig", "sap"], "epoch")
    values = [evaluation["mig"].value for _, evaluation in CURVE.points]
    assert_exact(table["mig"], values)
    assert list(table["sap"].isna()) == [False, True, False]
    assert len(CURVE) == 3
    best = [f"{name} is largest at epoch {at} ({table[name].max():.3f})" for name, at in (("mig", 9), ("sap", 14))]
    assert CURVE.sentence == f"{best[0]} and {best[1]}."
    assert CURVE.best("mig") == 9
    assert CURVE.best("sap") == 14


def test_it_is_written_as_plain_values() -> None:
    held = json.loads(CURVE.to_json())
    assert (held["kind"], held["unit"]) == ("score curve", "epoch")
    assert [moment for moment, _ in held["points"]] == [4, 9, 14]
    assert [score["metric"] for score in held["points"][1][1]["scores"]] == ["mig"]


@pytest.mark.parametrize("points", [[3], [("a", CURVE.points[0][1])], [(1, 0.5)], [(True, CURVE.points[0][1])]])
def test_anything_but_moments_and_evaluations_is_refused(points: Any) -> None:
    with pytest.raises(demele.errors.InputTypeError, match="evaluations: expected pairs of a number and an Evaluation"):
        ScoreCurve(points)


def test_a_curve_without_points_is_empty() -> None:
    empty = ScoreCurve([])
    assert empty.to_frame().shape == (0, 0)
    with pytest.raises(demele.errors.UnknownNameError, match="'mig' has no score in this curve"):
        empty.best("mig")
