"""Which numbers a figure shows, and on which scale."""

from typing import Any

import numpy as np
import pandas as pd

from demele.core.results import Evaluation, Interval, Score
from demele.core.signature import Signature
from demele.report.scores_figures import matrix_figures, native_figures, shortened, value_range
from demele.report.scores_view import Catalogue, View
from tests.report.sample_evaluation import SPECS, sample_evaluations


def _score(metric: str, value: float, matrix: pd.DataFrame | None = None, **fields: Any) -> Score:
    if matrix is not None:
        names = {"code_names": tuple(matrix.index), "factor_names": tuple(matrix.columns)}
        fields = {"matrix_values": matrix.to_numpy(), **names, **fields}
    return Score(metric=metric, value=value, n=10, signature=Signature(metric), **fields)


def _evaluation(*scores: Score, codes: tuple[str, ...] = ("a", "b"), name: str = "run") -> dict[str, Any]:
    evaluation = Evaluation(
        scores=scores, left_out=(), protocol="p", name=name, n=10, code_names=codes, factors=(), version="0"
    )
    return evaluation.to_dict()


def _matrix(*rows: tuple[float, ...]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), index=[f"z{i}" for i in range(len(rows))], columns=["v1", "v2"])


def test_metrics_of_one_matrix_share_a_figure() -> None:
    shared, other = _matrix((0.1, 0.4), (0.2, 0.3)), _matrix((0.5, 0.4), (0.2, 0.3))
    first = _evaluation(
        _score("mig", 0.1, matrix=shared, matrix_of="importance"),
        _score("sap", 0.1, matrix=other, matrix_of="importance"),
        _score("mig_sup", 0.1, matrix=shared, matrix_of="importance"),
    )
    second = _evaluation(_score("mig_sup", 0.1, matrix=other, matrix_of="importance"))
    figures = matrix_figures([first, second])
    assert [figure["metrics"] for figure in figures] == [["mig", "mig_sup"], ["sap"]]
    assert figures[0]["panels"] == [{"evaluation": 0, "score": 0}, {"evaluation": 1, "score": 0}]


def test_scale_of_a_matrix_is_shared_and_stated() -> None:
    def scale(what: str, *rows: tuple[float, ...]) -> tuple[float, float, bool]:
        figures = matrix_figures([_evaluation(_score("m", 0.1, matrix=_matrix(*rows), matrix_of=what))])
        shown = figures[0]["scale"]
        return shown["low"], shown["high"], shown["both_ways"]

    assert scale("importance", (0.1, 0.4)) == (0.0, 1.0, False)
    assert scale("mutual information (nats)", (0.1, 0.4)) == (0.0, 0.4, False)
    assert scale("importance", (0.1, 3.0)) == (0.0, 3.0, False)
    assert scale("accuracy above chance", (-0.25, 0.2)) == (-0.25, 0.25, True)
    assert scale("mutual information (nats)", (0.0, np.nan)) == (0.0, 1.0, False)


def test_axis_of_native_values_holds_their_intervals() -> None:
    intervals = tuple(Interval(low=low, high=0.5, level=0.95, method="m") for low in (-0.25, 0.125))
    score = _score("mig", 0.2, per_factor=np.array([0.1, 0.3]), factor_names=("v1", "v2"), native_intervals=intervals)
    whole = _score("z_diff", 0.2)
    figures = native_figures([_evaluation(score, whole)])
    assert [figure["metric"] for figure in figures] == ["mig"]
    assert figures[0]["scale"] == {"low": -0.25, "high": 1.0}
    assert value_range([None, 1.5, 0.2]) == (0.0, 1.5)


def test_keeps_the_strongest_of_too_many_codes_in_their_order() -> None:
    names = tuple(f"z{i}" for i in range(5))
    matrix = pd.DataFrame([[0.1], [0.9], [np.nan], [0.4], [-0.8]], index=list(names), columns=["v1"])
    per_code = np.array([0.2, np.nan, 0.9, 0.1, 0.3])
    details = {"weights": per_code, "settings": {"depth": [1, 2], "bins": 10}}
    score = _score("irs", 0.1, per_code=per_code, code_names=names, matrix=matrix, matrix_of="IRS", details=details)
    short = shortened(_evaluation(score, codes=names), most=2)
    assert short["codes_in_all"] == 5
    assert short["scores"][0]["matrix"]["rows"] == ["z1", "z4"]
    assert short["scores"][0]["native"] == {"z2": 0.9, "z4": 0.3}
    assert short["scores"][0]["details"] == {"weights": "5 values", "settings": {"depth": [1, 2], "bins": 10}}
    whole = _evaluation(score, codes=names)
    assert shortened(whole, most=5) == whole


def _winner(*scores: tuple[float, float, float] | float, best: float = 1.0) -> tuple[int, bool | None] | None:
    def made(score: tuple[float, float, float] | float) -> Score:
        if isinstance(score, float):
            return _score("m", score)
        value, low, high = score
        return _score("m", value, interval=Interval(low=low, high=high, level=0.95, method="m"))

    view = View([_evaluation(made(score)) for score in scores], Catalogue({"m": {"best": best}}))
    return view.winner("m")


def test_best_of_a_row() -> None:
    assert _winner(0.2, 0.4, 0.3) == (1, None)
    assert _winner((0.2, 0.1, 0.3), (0.5, 0.35, 0.6)) == (1, True)
    assert _winner((0.2, 0.1, 0.4), (0.5, 0.35, 0.6)) == (1, False)
    assert _winner((0.2, 0.1, 0.3), (0.5, 0.35, 0.6), best=0.0) == (0, True)
    assert _winner((0.2, 0.1, 0.4), 0.5) == (1, None)


def test_nobody_is_best_where_the_shown_digits_are_equal_or_alone() -> None:
    assert _winner(0.40001, 0.40002) is None
    assert _winner(0.4) is None
    assert _winner(0.4, float("nan")) is None


def test_groups_by_property() -> None:
    view = View([item.to_dict() for item in sample_evaluations()], Catalogue({**SPECS, "x": {"properties": ("odd",)}}))
    groups = view.by_property([*view.metrics, "x", "unknown"])
    assert groups["holistic"] == ["dcimig", "jemmig"]
    assert groups[""] == ["x", "unknown"]
    assert sum(map(len, groups.values())) == len(view.metrics) + 2
