"""Scores over a training: the table, the best moment, the picture."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demele
from demele import ScoreCurve
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
    assert (len(CURVE), repr(CURVE)) == (3, "ScoreCurve(3 evaluations by epoch: mig, sap)")
    assert CURVE.best("mig") == 9
    assert CURVE.best("sap") == 14


def test_it_is_written_as_plain_values() -> None:
    held = json.loads(CURVE.to_json())
    assert [point["epoch"] for point in held["points"]] == [4, 9, 14]
    assert held["points"][1]["scores"].keys() == {"mig"}
    with_ends = ScoreCurve([(0, evaluated(1.0, "mig", bootstrap=10))], unit="step").to_dict()
    low, high = with_ends["points"][0]["scores"]["mig"]["interval"]
    assert low < high
    assert with_ends["points"][0]["step"] == 0


def test_a_curve_without_points_is_empty() -> None:
    empty = ScoreCurve([])
    assert empty.to_frame().shape == (0, 0)
    with pytest.raises(demele.UnknownNameError, match="'mig' has no score in this curve"):
        empty.best("mig")


@pytest.mark.parametrize("points", [[3], [("a", CURVE.points[0][1])], [(1, 0.5)], [(True, CURVE.points[0][1])]])
def test_anything_but_moments_and_evaluations_is_refused(points: Any) -> None:
    with pytest.raises(demele.InputTypeError, match="evaluations: expected pairs of a number and an Evaluation"):
        ScoreCurve(points)


# The picture ----------------------------------------------------------------------------------------------------------


def test_the_same_scores_are_the_same_picture(tmp_path: Path) -> None:
    with_ends = ScoreCurve([*CURVE.points, (19, evaluated(0.3, "mig", bootstrap=10))])
    for suffix in ("png", "svg", "pdf"):
        one, other = (with_ends.to_picture(tmp_path / f"{name}.{suffix}").read_bytes() for name in ("a", "b"))
        assert one == other
    assert struct.unpack(">I", (tmp_path / "a.png").read_bytes()[16:20])[0] == 1400  # pixels across
    drawn = (tmp_path / "a.svg").read_text(encoding="utf-8")
    some = with_ends.to_picture(tmp_path / "c.svg", metrics=["mig"]).read_text(encoding="utf-8")
    assert some != drawn
    assert drawn.count("PolyCollection") > CURVE.to_picture(tmp_path / "d.svg").read_text().count("PolyCollection")


def test_pictures_of_other_kinds_and_of_other_metrics_are_refused(tmp_path: Path) -> None:
    with pytest.raises(demele.InputError, match=r"ends in \.png, \.svg, \.pdf, got 'curve\.jpg'"):
        CURVE.to_picture(tmp_path / "curve.jpg")
    with pytest.raises(demele.UnknownNameError, match="'dmig' was not scored in this training; did you mean 'mig'"):
        CURVE.to_picture(tmp_path / "curve.png", metrics=["dmig"])
    assert not list(tmp_path.iterdir())
