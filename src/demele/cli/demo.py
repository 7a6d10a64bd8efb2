"""``demele demo``: what demele does, on bundled data."""

from functools import partial
from typing import Any

from demele.cli.engine import Command, Given
from demele.evaluation.comparison.rank import rank
from demele.evaluation.comparison.ranking import Ranking

_AUDITED = 500


def demo_compare() -> Ranking:
    """Rank ten language models on questions of MMLU whose published answers are partly wrong.

    The audit holds the answers that experts gave to 500 questions: drawn at random, more often where the models
    disagree.
    """
    import numpy as np

    from demele.data import label_set
    from demele.labels import disagreement, draw_audit

    questions = label_set("mmlu_redux")
    truth = np.asarray(questions.true_labels)
    plan = draw_audit(questions.n, _AUDITED, disagreement=disagreement(questions.predictions))
    return rank(
        questions.predictions,
        questions.labels,
        true_labels=truth,
        audit=plan.answered(truth[plan.rows]),
        classes=questions.classes,
        title="Which differences between ten language models survive the label errors of MMLU?",
    )


def _compare(given: Given) -> "partial[Any]":
    given.expected(0, 0)
    return given.bind(demo_compare)


DEMO_COMPARE = Command({"": demo_compare}, ("",), _compare, examples="demele demo compare -o models.html\n")
