"""The triple of DCI scores of one model."""

import inspect
import math
from collections.abc import Mapping
from typing import Any

from demele.core.errors import NotEnoughData, UnknownNameError
from demele.core.results import DCI, LeftOut, Note, Score
from demele.core.signature import Signature
from demele.metrics.catalogue import suggestion
from demele.metrics.evaluate import evaluate
from demele.metrics.options import RunOptions, checked_option

__all__ = ["dci_scores"]

_PROPERTIES = ("modularity", "compactness", "explicitness")


def dci_scores(codes: object, factors: object, model: str, options: Mapping[str, Any]) -> DCI:
    """Return the three scores of one model; NaN, with a note, where one is not defined."""
    from demele.metrics.functions import FUNCTIONS

    checked_option("model", model)
    run = {key: value for key, value in options.items() if key in RunOptions.__annotations__}
    own = {key: value for key, value in options.items() if key not in run}
    function, _ = FUNCTIONS[f"dci_{model}_modularity"]
    known = ["model", *inspect.signature(function).parameters]
    for keyword in own:
        if keyword not in known:
            raise UnknownNameError(f"{keyword}: dci has no such option for model {model!r}{suggestion(keyword, known)}")
    names = {prop: f"dci_{model}_{prop}" for prop in _PROPERTIES}
    evaluation = evaluate(
        codes,
        factors,
        [names["explicitness"], *_defined(codes, factors, names, run)],
        options={f"dci_{model}": own},
        **run,
    )
    if evaluation.left_out:
        raise NotEnoughData(evaluation.left_out[0].reason)
    explicitness = evaluation[names["explicitness"]]
    found = {score.metric: score for score in evaluation}
    triple = [found.get(names[prop]) or _undefined(names[prop], explicitness) for prop in _PROPERTIES]
    if explicitness.matrix is None:
        raise ValueError("DCI keeps its importances")
    return DCI(triple[0], triple[1], triple[2], explicitness.matrix)


def _defined(codes: object, factors: object, names: Mapping[str, str], run: Mapping[str, Any]) -> list[str]:
    from demele.core.inputs import read_pair

    read_codes, read_factors = read_pair(codes, factors, kinds=run.get("kinds"), missing=run.get("missing", "raise"))
    varying = sum(not factor.constant for factor in read_factors.columns)
    return [names["modularity"]] * (varying > 1) + [names["compactness"]] * (read_codes.d > 1)


def _undefined(name: str, like: Score) -> Score:
    what = "two factors that vary" if name.endswith("modularity") else "two codes"
    left = LeftOut(metric=name, reason=f"{name} needs at least {what}")
    return Score(
        metric=name,
        value=math.nan,
        n=like.n,
        signature=Signature(name, like.signature.arguments, like.signature.context),
        code_names=like.code_names,
        factor_names=like.factor_names,
        matrix_values=like.matrix_values,
        matrix_of=like.matrix_of,
        notes=(*like.notes, Note(code="undefined", message=left.reason, severity="warning")),
        protocol=like.protocol,
    )
