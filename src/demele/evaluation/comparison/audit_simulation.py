"""Simulated audits: what uniform, weighted and sequential ones of given sizes would show, if the truth were so."""

from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from demele.core.labelled import Indices
from demele.evaluation.comparison.audit import by_audit
from demele.evaluation.comparison.sequential_simulation import sequential_many
from demele.evaluation.question import Outcomes, Question
from demele.noise.audit import CodedAudit
from demele.noise.audit_drawing import draw_audit

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


#: Of each pair: 1 the candidate is better, -1 the other, 0 neither; and the half width of the interval.
Shown = tuple[Counts, Floats]


def uniform_audit(question: Question, truth: Indices, size: int, rng: np.random.Generator, begun: Rows) -> Shown:
    """Return what a simple random audit shows that begins with the rows ``begun``."""
    n = question.data.n
    if begun.size:
        rest = np.setdiff1d(np.arange(n), begun, assume_unique=True)
        rows = np.concatenate([begun, rng.permutation(rest)[: size - begun.size]])
    else:
        rows = rng.permutation(n)[:size]
    return _shown(question, CodedAudit(rows, truth[rows], np.full(size, size / n), "uniform", n))


def weighted_audit(question: Question, truth: Indices, size: int, disagreement: Floats, seed: int) -> Shown:
    """Return what an audit shows in which rows with disagreement are drawn more often."""
    plan = draw_audit(question.data.n, size, disagreement=disagreement, seed=seed)
    chances = cast("Floats", plan.probabilities)  # a weighted plan has them
    drawn = CodedAudit(plan.rows, truth[plan.rows], chances, "weighted", plan.n, plan.least_probability)
    return _shown(question, drawn)


def every_row(question: Question, truth: Indices) -> Shown:
    """Return what an audit of all rows shows: more than this, no audit can."""
    n = question.data.n
    return _shown(question, CodedAudit(np.arange(n), truth, np.ones(n), "uniform", n))


def _shown(question: Question, audit: CodedAudit) -> Shown:
    found: Outcomes = by_audit(replace(question, audit=audit))
    verdict = found.candidate.astype(np.int64) - found.baseline.astype(np.int64)
    return verdict, (found.high - found.low) / 2


def labels_to_verdict(question: Question, truth: Indices, *, cap: int, seed: int) -> tuple[Floats, Counts]:
    """Return how many labels a sequential comparison asks of each pair until a verdict, and which verdict it is.

    Returns
    -------
    labels : array of shape (n_pairs,)
        Infinite where ``cap`` labels give no verdict.
    verdict : array of shape (n_pairs,)
        1 the candidate is better, -1 the baseline, 0 neither.
    """
    both = np.column_stack([question.baseline, question.candidate])
    found, used = sequential_many(
        question.data.labels,
        question.data.predictions,
        np.concatenate([both, both[:, ::-1]]),
        truth,
        alpha=question.tail,
        inference=question.inference,
        level=question.level,
        cap=cap,
        seed=seed,
    )
    labels = np.where(found, used.astype(np.float64), np.inf).reshape(2, -1)
    first = labels.min(axis=0)
    verdict = np.where(np.isinf(first), 0, np.where(labels[0] <= labels[1], 1, -1))
    return first, verdict
