"""Comparison without labels: which of two classifiers agrees more often with a third one."""

from demele.core.labelled import Indices
from demele.evaluation.comparison.worst_case import mcnemar_p, paired_low
from demele.evaluation.question import Outcomes, Question, pair_counts


def agreement(question: Question) -> Outcomes:
    """McNemar's exact test on the instances where just one of the two agrees with the reference (Raj et al. 2011).

    If the three err independently given the instance and the reference is better than chance, the classifier that
    agrees with it more often is right more often. The difference and its interval are of the agreements: they have the
    sign of the difference of accuracies, not its size. The given labels are not used.
    """
    reference: Indices = question.reference  # type: ignore[assignment]  # demanded by the catalogue of methods
    data = question.data.relabelled(reference)
    counts = pair_counts(data, question.baseline, question.candidate)
    p, q = mcnemar_p(counts.lost, counts.won), mcnemar_p(counts.won, counts.lost)
    return Outcomes(
        candidate=p <= question.tail,
        baseline=q <= question.tail,
        difference=(counts.won - counts.lost) / data.n,
        low=paired_low(counts.lost, counts.won, data.n, question.tail),
        high=-paired_low(counts.won, counts.lost, data.n, question.tail),
        method="exact paired interval of the agreements with a reference",
        p_value=p,
        assumptions=(
            "The two classifiers and the reference err independently of each other.",
            "The reference is right more often than chance.",
        ),
        details={"agrees_with_baseline_only": counts.lost, "agrees_with_candidate_only": counts.won},
    )
