"""``demele demo``: what demele does, on bundled data."""

from typing import ClassVar

from demele.classifiers.comparison.compare import Ranking, rank
from demele.cli.engine import Call, Command, Given
from demele.data.examples import DIGITS, digits_example, load_example
from demele.labels.joined.crowds import AggregatedLabels, aggregate
from demele.scoring.several import compare_representations


def demo_compare() -> Ranking:
    """Rank ten language models on questions of MMLU whose published answers are partly wrong.

    The audit holds the answers that experts gave to 500 questions: drawn at random, more often where the models
    disagree.
    """
    import numpy as np

    from demele.labels import disagreement, draw_audit

    questions = load_example("mmlu_redux")
    truth = np.asarray(questions.true_labels)
    plan = draw_audit(questions.n, 500, disagreement=disagreement(questions.predictions))
    return rank(
        questions.predictions,
        questions.labels,
        true_labels=truth,
        audit=plan.answered(truth[plan.rows]),
        classes=questions.classes,
        title="Which differences between ten language models survive the label errors of MMLU?",
    )


class DemoCompare(Command):
    """Rank ten language models on wrong labels.

    Examples
    --------
    demele demo compare -o models.html
    """

    functions: ClassVar = {"": demo_compare}


def demo_labels() -> AggregatedLabels:
    """Aggregate the answers of a crowd whose right answers are known."""
    from demele.labels import Annotations

    crowd = load_example("mozafari_1000")
    answers = Annotations(
        crowd.item, crowd.annotator, crowd.answer, classes=crowd.classes, all_items=crowd.items.tolist()
    )
    return aggregate(answers, gold=crowd.gold, agreement=True)


class DemoLabels(Command):
    """Aggregate the answers of a real crowd.

    Examples
    --------
    demele demo labels -o crowd.html
    """

    functions: ClassVar = {"": demo_labels}


class DemoScore(Command):
    """Score four bundled representations.

    Examples
    --------
    demele demo score -o digits.html
    """

    functions: ClassVar = {"": compare_representations}
    short = "metrics n_bootstrap n_permutations seed n_jobs"
    without = (
        "runs paired_runs primary factor_noise factor_noise_method kinds reg_dim code_groups reduce_groups missing"
    )

    def _run(self, given: Given) -> Call:
        samples = {name: digits_example(name) for name in DIGITS}
        codes = {name: sample.codes for name, sample in samples.items()}
        return given.bind(compare_representations, codes, next(iter(samples.values())).factors)
