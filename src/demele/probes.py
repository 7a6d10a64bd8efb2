"""What codes are good for: predictions of factors, single codes of a dictionary, and codes without factors.

>>> import numpy as np
>>> from demele import probes
>>> codes = np.random.default_rng(0).normal(size=(500, 3))
>>> probes.unsupervised_scores(codes).n
500
"""

from typing import TYPE_CHECKING

from demele.core.lazy import lazily

if TYPE_CHECKING:
    from demele.core.results import ScoreCurve as ScoreCurve
    from demele.metrics.standalone.downstream import DownstreamScores as DownstreamScores
    from demele.metrics.standalone.downstream import ReducedDownstreamScores as ReducedDownstreamScores
    from demele.metrics.standalone.downstream import downstream as downstream
    from demele.metrics.standalone.downstream import reduced_downstream as reduced_downstream
    from demele.metrics.standalone.fairness import FairnessScores as FairnessScores
    from demele.metrics.standalone.fairness import StrongDownstreamScores as StrongDownstreamScores
    from demele.metrics.standalone.fairness import fairness as fairness
    from demele.metrics.standalone.fairness import strong_downstream as strong_downstream
    from demele.metrics.standalone.unsupervised import UDR as UDR
    from demele.metrics.standalone.unsupervised import UnsupervisedScores as UnsupervisedScores
    from demele.metrics.standalone.unsupervised import udr as udr
    from demele.metrics.standalone.unsupervised import unsupervised_scores as unsupervised_scores
    from demele.scoring.concepts import absorption as absorption
    from demele.scoring.concepts import sparse_probing as sparse_probing
    from demele.scoring.concepts import splitting as splitting
    from demele.scoring.several import Breakdown as Breakdown
    from demele.scoring.several import breakdown as breakdown

__getattr__, __dir__, __all__ = lazily(__name__)
