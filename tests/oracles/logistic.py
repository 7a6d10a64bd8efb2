"""Logistic regressions and ROC areas, from their definitions and with loops."""

import math
from collections.abc import Sequence


def auc(scores: Sequence[float], positive: Sequence[bool]) -> float:
    """Share of (positive, negative) pairs that the scores order rightly, ties one half; NaN without such a pair."""
    own = [score for score, is_positive in zip(scores, positive, strict=True) if is_positive]
    rest = [score for score, is_positive in zip(scores, positive, strict=True) if not is_positive]
    if not own or not rest:
        return math.nan
    won = sum(1.0 if a > b else 0.5 if a == b else 0.0 for a in own for b in rest)
    return won / (len(own) * len(rest))
