"""The codes that inform most on each factor, and which way they point."""

import numpy as np

from demele.core.inputs import Factor, Factors
from demele.core.sparse_inputs import SparseCodes
from demele.estimation.information import InformationTable
from demele.metrics.sparse_results import TopCode


def top_codes(codes: SparseCodes, factors: Factors, table: InformationTable, most: int) -> tuple[TopCode, ...]:
    """Return the best codes of every factor; of equal informations the first code comes first."""
    found = []
    activity = codes.activity
    for index, factor in enumerate(factors.columns):
        information = table.information[:, index]
        entropy = float(table.factor_entropy[index])
        for rank, code in enumerate(np.argsort(-information, kind="stable")[:most], start=1):
            direction, there = _direction(codes, int(code), factor)
            found.append(
                TopCode(
                    factor=factor.name,
                    rank=rank,
                    code=codes.names[int(code)],
                    information=float(information[code]),
                    relative=float(information[code]) / entropy if entropy > 0 else 0.0,
                    activity=float(activity[code]),
                    direction=direction,
                    activity_there=there,
                )
            )
    return tuple(found)


def _direction(codes: SparseCodes, code: int, factor: Factor) -> tuple[str, float]:
    """Level with the highest mean of the code and its activity there, or the sign of the correlation."""
    rows, values = codes.column(code)
    values = values / max(float(np.abs(values).max(initial=0.0)), np.finfo(float).tiny)
    labels = factor.values[rows]
    if factor.categorical:
        known = labels >= 0
        labels, values = labels[known], values[known]
        held = factor.values if factor.complete else factor.values[factor.values >= 0]
        totals = np.bincount(held, minlength=len(factor.levels))
        level = int(np.argmax(np.bincount(labels, values, minlength=len(totals)) / totals))
        return factor.levels[level], float((labels == level).sum() / totals[level])
    known = ~np.isnan(labels)
    own = factor.values[factor.annotated()]
    slope = float(values[known] @ (labels[known] - own.mean(dtype=np.float64)))
    return ("+" if slope > 0 else "-" if slope < 0 else ""), float("nan")
