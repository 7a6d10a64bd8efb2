"""Readers and writers of files: tables, arrays, labels, scores, transitions, cleanings, audits, logs of evaluations."""

from typing import TYPE_CHECKING

from demele.core.lazy import lazily

if TYPE_CHECKING:
    from demele.files.prediction_sets import PredictionSet as PredictionSet
    from demele.files.prediction_sets import read_predictions as read_predictions
    from demele.files.score_files import HumanScores as HumanScores
    from demele.files.score_files import ScoreSet as ScoreSet
    from demele.files.score_files import read_human as read_human
    from demele.files.score_files import read_scores as read_scores

__getattr__, __dir__, __all__ = lazily(__name__)
