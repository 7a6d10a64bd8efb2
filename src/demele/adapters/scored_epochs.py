"""What callbacks that score every few epochs have in common: their arguments, and the names of what they log."""

import math
from collections.abc import Sequence
from typing import Any

from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.results import Evaluation

__all__ = ["DEFAULT_METRICS", "check_encoded", "check_settings", "chosen_metrics", "flat_scores"]

#: What is scored unless told otherwise: every property by a metric that costs little.
DEFAULT_METRICS = ("mig", "mig_sup", "modularity", "dcimig", "jemmig", "sap")


def chosen_metrics(metrics: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the metrics that were asked for; one may stand alone."""
    return DEFAULT_METRICS if metrics is None else (metrics,) if isinstance(metrics, str) else tuple(metrics)


def check_settings(encode: Any, every: Any, prefix: Any) -> None:
    """Refuse arguments of a callback that cannot be used.

    Raises
    ------
    InputError, InputTypeError
    """
    if not callable(encode):
        raise InputTypeError("encode", f"expected a function of module and batch, got {type(encode).__name__}")
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise InputError("every", f"expected a number of epochs of at least 1, got {quoted(every)}")
    if not isinstance(prefix, str):
        raise InputTypeError("prefix", f"expected a string, got {quoted(prefix)}")


def check_encoded(encoded: Any) -> None:
    """Refuse what ``encode`` returned if it is not codes and factors, perhaps with standard deviations.

    Raises
    ------
    InputTypeError
    """
    if not isinstance(encoded, Sequence) or len(encoded) not in (2, 3):
        raise InputTypeError(
            "encode",
            f"expected to return (codes, factors) or (codes, factors, codes_std), got {type(encoded).__name__}",
        )


def flat_scores(evaluation: Evaluation, prefix: str, *, native: bool) -> dict[str, float]:
    """Return the scores that are defined by the names under which they are logged."""
    found = {}
    for score in evaluation:
        found[score.metric] = score.value
        if native:
            found |= {f"{score.metric}/{name}": value for name, value in score.native.items()}
    return {f"{prefix}{name}": value for name, value in found.items() if math.isfinite(value)}
