"""What the figures of a report show: which numbers belong together, on which scale. Drawing is the page's matter.

Evaluations are the plain dictionaries of :meth:`demele.core.results.Evaluation.to_dict`. A figure holds positions in
them (``{"evaluation": 0, "score": 3}``), never copies of the numbers.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["MOST_CODES", "matrix_figures", "native_figures", "scale_of", "shortened", "value_range"]

#: Codes beyond this number are not drawn: no picture of more rows can be read, and no page of more numbers opened.
MOST_CODES = 200

Evaluation = Mapping[str, Any]


def matrix_figures(evaluations: Sequence[Evaluation]) -> list[dict[str, Any]]:
    """Matrices of codes against factors, one figure per quantity, with one panel per evaluation.

    Metrics that were computed from the same matrix share a figure.

    Returns
    -------
    list of dict
        ``what`` the matrix holds, the ``metrics`` that were computed from it, ``panels`` and the ``scale`` that all
        panels share: ``(low, high)`` and whether colours run both ways from 0.
    """
    figures: list[dict[str, Any]] = []
    for index, evaluation in enumerate(evaluations):
        for matrix, metrics, score in _distinct_matrices(evaluation):
            figure = _figure_of(figures, matrix["what"], metrics, evaluation=index)
            figure["metrics"] += [metric for metric in metrics if metric not in figure["metrics"]]
            figure["panels"].append({"evaluation": index, "score": score})
    for figure in figures:
        figure["scale"] = scale_of(_values(evaluations, figure["panels"]), what=figure["what"])
    return figures


def native_figures(evaluations: Sequence[Evaluation]) -> list[dict[str, Any]]:
    """Per-factor and per-code values, one figure per metric, with one panel per evaluation."""
    figures: dict[str, dict[str, Any]] = {}
    for index, evaluation in enumerate(evaluations):
        for position, score in enumerate(evaluation["scores"]):
            if not score["native"]:
                continue
            empty = {"metric": score["metric"], "unit": score["native_unit"], "panels": []}
            figure = figures.setdefault(score["metric"], empty)
            figure["panels"].append({"evaluation": index, "score": position})
    for figure in figures.values():
        shown = [evaluations[panel["evaluation"]]["scores"][panel["score"]] for panel in figure["panels"]]
        ends = [end for score in shown for pair in (score["native_intervals"] or {}).values() for end in pair]
        low, high = value_range([*ends, *(value for score in shown for value in score["native"].values())])
        figure["scale"] = {"low": low, "high": high}
    return list(figures.values())


def value_range(values: Iterable[float | None]) -> tuple[float, float]:
    """Axis for scores: 0 to 1, wider where a value lies outside; None is skipped.

    Examples
    --------
    >>> value_range([0.2, None, 0.7])
    (0.0, 1.0)
    >>> value_range([0.2, -0.1])
    (-0.1, 1.0)
    """
    known = [value for value in values if value is not None]
    return min([0.0, *known]), max([1.0, *known])


def shortened(evaluation: Evaluation, most: int = MOST_CODES) -> dict[str, Any]:
    """Keep the strongest codes of each matrix, of the per-code values and of the dependencies, where there are many.

    The result says how many codes there were (``"codes_in_all"``), if any were dropped.
    """
    evaluation = {key: value for key, value in evaluation.items() if key != "rows"}
    if len(evaluation["codes"]) <= most:
        return evaluation
    evaluation["matrix_chance"] = []  # of all codes, in their order
    evaluation["codes_in_all"] = len(evaluation["codes"])
    evaluation["scores"] = [_shortened_score(score, most) for score in evaluation["scores"]]
    strength: dict[str, float] = {}
    for picture in evaluation["dependency"]:
        strength[picture["code"]] = max(picture["score"] or 0.0, strength.get(picture["code"], 0.0))
    kept = set(_strongest(list(strength), list(strength.values()), most))
    evaluation["dependency"] = [picture for picture in evaluation["dependency"] if picture["code"] in kept]
    evaluation["codes"] = evaluation["codes"][:most]
    return evaluation


def _distinct_matrices(evaluation: Evaluation) -> list[tuple[dict[str, Any], list[str], int]]:
    """Matrix, the metrics that share it, position of the first of them."""
    found: dict[str, tuple[dict[str, Any], list[str], int]] = {}
    for position, score in enumerate(evaluation["scores"]):
        if score["matrix"] is not None:
            key = json.dumps(score["matrix"])
            found.setdefault(key, (score["matrix"], [], position))[1].append(score["metric"])
    return list(found.values())


def _figure_of(
    figures: list[dict[str, Any]], what: str | None, metrics: Sequence[str], *, evaluation: int
) -> dict[str, Any]:
    for figure in figures:
        taken = any(panel["evaluation"] == evaluation for panel in figure["panels"])
        if figure["what"] == what and not taken and set(metrics) & set(figure["metrics"]):
            return figure
    figure = {"what": what, "metrics": [], "panels": []}
    figures.append(figure)
    return figure


def _values(evaluations: Sequence[Evaluation], panels: Sequence[Mapping[str, int]]) -> list[float]:
    matrices = [evaluations[panel["evaluation"]]["scores"][panel["score"]]["matrix"] for panel in panels]
    return [value for matrix in matrices for row in matrix["values"] for value in row if value is not None]


def scale_of(values: Sequence[float], *, what: str | None) -> dict[str, Any]:
    """Return the scale of a matrix.

    0 to 1 for shares, 0 to the largest for anything else, both ways from 0 where there are negative values.
    """
    low, high = min([0.0, *values]), max([0.0, *values])
    if low < -1e-9:
        reach = max(-low, high)
        return {"low": -reach, "high": reach, "both_ways": True}
    # Information has a unit and no common upper end; importances, accuracies and IRS are shares of something.
    is_share = high <= 1 + 1e-9 and "information" not in (what or "")
    return {"low": 0.0, "high": 1.0 if is_share or high == 0 else high, "both_ways": False}


def _shortened_score(score: Mapping[str, Any], most: int) -> dict[str, Any]:
    score = dict(score)
    score["details"] = _without_long_lists(score["details"], most)
    matrix = score["matrix"]
    if matrix is not None and len(matrix["rows"]) > most:
        strength = [max((abs(value) for value in row if value is not None), default=0.0) for row in matrix["values"]]
        kept = _strongest(range(len(strength)), strength, most)
        score["matrix"] = {
            **matrix,
            "rows": [matrix["rows"][row] for row in kept],
            "values": [matrix["values"][row] for row in kept],
        }
    if score["native_unit"] == "per code" and len(score["native"]) > most:
        names = _strongest(list(score["native"]), [abs(value or 0.0) for value in score["native"].values()], most)
        score["native"] = {name: score["native"][name] for name in names}
        if score["native_intervals"] is not None:
            score["native_intervals"] = {name: score["native_intervals"][name] for name in names}
    return score


def _without_long_lists(value: Any, most: int) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_long_lists(item, most) for key, item in value.items()}
    return f"{len(value):,} values" if isinstance(value, list) and len(value) > most else value


def _strongest(items: Sequence[Any], strength: Sequence[float], most: int) -> list[Any]:
    """Those with the largest strength, in the order in which they came."""
    ranks = sorted(range(len(items)), key=lambda index: -strength[index])[:most]
    return [items[index] for index in sorted(ranks)]
