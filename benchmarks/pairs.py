"""Two classifiers that are compared on labels: what simulations of comparisons share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.classifiers.question import Outcomes, Question
from demele.core.labelled import Labelled, Vocabulary
from demele.noise.audit import Audit, CodedAudit


def asked(
    labels: NDArray[Any], models: Any, k: int, *, audit: Audit | CodedAudit | None = None, **known: Any
) -> Question:
    """Ask whether the second of some models is better than the first; any others are of the same pool."""
    names = ("baseline", "candidate", *(f"other {j}" for j in range(len(models) - 2)))
    words = Vocabulary(tuple(range(k)))
    data = Labelled(labels.astype(np.int32), np.asarray(models, dtype=np.int32), names, words)
    coded = audit.coded(words, data.n) if isinstance(audit, Audit) else audit
    return Question(data=data, baseline=np.array([0]), candidate=np.array([1]), audit=coded, **known)


def read(outcomes: Outcomes, gap: float) -> dict[str, float]:
    """Return which side is claimed to be better, whether the interval holds the true gap, and how wide it is."""
    low, high = float(outcomes.low[0]), float(outcomes.high[0])
    return {
        "candidate": float(outcomes.candidate[0]),
        "baseline": float(outcomes.baseline[0]),
        "covers": float(low - 1e-9 <= gap <= high + 1e-9),
        "width": high - low,
    }
