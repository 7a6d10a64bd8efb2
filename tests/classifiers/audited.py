"""What a random audit says of one measure: the estimate and both ends of its interval."""

from typing import Any

import numpy as np

from demele.classifiers import RowScores, mean_scores
from demele.classifiers.mean_scores import Knowledge, MeanScore
from demele.classifiers.measures.audit_interval import audited_ends
from demele.core.arrays import Floats
from demele.core.labelled import Labelled
from demele.noise.audit import Audit, CodedAudit


def estimated(data: Labelled, audit: CodedAudit, measure: str, of: int | None = None, **known: Any) -> Floats:
    """Return the value, the lower and the upper end; of one class, by its index."""
    return np.array([np.ravel(end)[of or 0] for end in audited_ends(data, audit, measure, 0.95, **known)])


def audited_mean(
    scores: RowScores, audit: Audit, *, level: float = 0.95, gate: float | None = None, **known: Any
) -> MeanScore:
    """Return the audited mean of one system with what is known of its scores."""
    return mean_scores.audited_mean(scores, audit, Knowledge(audit, **known), level=level, gate=gate)


def minus(audit: Audit, candidate: str, baseline: str) -> Audit:
    """Return the audit of the difference of two systems."""
    return Audit(audit.rows, {"": audit.scores_of(candidate) - audit.scores_of(baseline)}, design="uniform")
