"""The methods of cleaning: mathematics on class indices and tables that were validated before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.extras import require
from demele.core.labelled import Indices
from demele.core.results import Note
from demele.core.seeds import rng_for
from demele.labels.cleaned.out_of_fold import FoldedRows, answered, dealt, out_of_fold, seeded
from demele.labels.votes import earliest_voter, plurality
from demele.runtime.work import ordered

Floats = NDArray[np.float64]

#: Votes held at a time, so that memory stays bounded however many classes there are.
CELLS_AT_ONCE = 1 << 22
#: Normalised entropy below which a prediction counts as sure on any data.
LEAST_SURE = 0.3
#: Partitioning has settled when a round finds fewer new suspects than this share of all instances (Zhu et al. 2003).
SETTLED = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a method found: flags, class indices after the cleaning (read where suspect), suspicion in [0, 1]."""

    suspect: NDArray[np.bool_]
    suggested: Indices
    score: Floats | None = None
    notes: tuple[Note, ...] = ()
    context: Mapping[str, str] = field(default_factory=dict)


def nearest_neighbours(features: Floats, labels: Indices, k_classes: int, *, k: int, n_jobs: int | None) -> Found:
    """Suspect instances for whom another class has more of the k nearest neighbours than their own."""
    from sklearn.neighbors import NearestNeighbors

    near = NearestNeighbors(n_neighbors=k, n_jobs=n_jobs).fit(features).kneighbors(return_distance=False)
    own, most, other = _tally(labels[near].T, labels, k_classes)
    return Found(suspect=most > own, suggested=other, score=1 - own / k)


def classification(models: Sequence[Any], rows: FoldedRows) -> Found:
    """Suspect labels that one model, trained on the other folds, does not predict."""
    seen = out_of_fold(models, rows, "classification")
    predicted = seen.predicted[0]
    suspect = (predicted != rows.labels) & seen.judged
    return Found(suspect=suspect, suggested=predicted, notes=convergence_notes(seen.unconverged))


def voting(models: Sequence[Any], rows: FoldedRows, *, rule: str) -> Found:
    """Suspect labels that more than half of the models (or all of them), trained on the other folds, do not predict."""
    seen = out_of_fold(models, rows, "voting")
    against = (seen.predicted != rows.labels).sum(axis=0)
    needed = against == len(models) if rule == "consensus" else 2 * against > len(models)
    return Found(
        suspect=needed & seen.judged,
        suggested=_tally(seen.predicted, rows.labels, rows.k)[2],
        score=np.where(seen.judged, against / len(models), np.nan),
        notes=convergence_notes(seen.unconverged),
    )


def partitioning(models: Sequence[Any], rows: FoldedRows, *, rule: str, rounds: int) -> Found:
    """Split, train a model per part, let all of them vote on every instance, drop the suspects, and begin again."""
    features, labels, k, seed = rows.features, rows.labels, rows.k, rows.seed
    n = labels.size
    suspect, score, suggested = np.zeros(n, dtype=bool), np.full(n, np.nan), labels.copy()
    unconverged = done = 0
    settled = False
    while not settled and done < rounds:
        left = np.flatnonzero(~suspect)
        here = labels[left]
        if np.unique(here).size < 2:
            break
        part = dealt(here, min(rows.folds, here.size), rng_for(seed, "clean", "partitioning", "parts", done))
        parts = range(int(part.max()) + 1)
        calls = (
            (
                seeded(models[0], rng_for(seed, "clean", "partitioning", "model", done, each)),
                features[left[part == each]],
                here[part == each],
                features[left],
                k,
                "classes",
            )
            for each in parts
        )
        answers = list(ordered(answered, calls, n_jobs=rows.n_jobs))
        predicted = np.stack([values for values, _ in answers])
        unconverged += sum(not converged for _, converged in answers)
        # A model that never saw a class cannot vote for it: on the labels of that class it has no say.
        knows = np.stack([np.bincount(here[part == each], minlength=k) > 0 for each in parts])[:, here]
        against, voters = ((predicted != here) & knows).sum(axis=0), knows.sum(axis=0)
        needed = against == voters if rule == "non-objection" else 2 * against > voters
        judged = voters > 1
        found = left[needed & judged]
        score[left] = np.where(judged, against / voters, score[left])
        suggested[found] = _tally(predicted, here, k)[2][needed & judged]
        suspect[found] = True
        done += 1
        settled = found.size < SETTLED * n
    notes = convergence_notes(unconverged)
    if not settled:
        message = f"Round {done}, the last, still found at least {SETTLED:.0%} new suspects, or left one class."
        notes += (Note(code="not-settled", message=message, severity="warning"),)
    return Found(suspect=suspect, suggested=suggested, score=score, notes=notes, context={"rounds": str(done)})


def entropy(probabilities: Floats, labels: Indices, *, threshold: float) -> Found:
    """Suspect labels that differ from the most probable class where the normalised entropy is below a threshold."""
    certain = _normalised_entropy(probabilities) < threshold
    winner = probabilities.argmax(axis=1).astype(np.int32)
    return Found(suspect=certain & (winner != labels), suggested=winner, score=_doubt(probabilities, labels))


def entropy_threshold(probabilities: Floats, labels: Indices) -> float:
    """Return the entropy that is usual where prediction and label agree: their mean, and at least ``LEAST_SURE``.

    Where many labels are wrong, a model that is trained on them is sure of nothing: a fixed limit then finds nothing.
    As in confident learning, how sure is sure is read off the rows whose label the model gives itself.
    """
    agree = probabilities.argmax(axis=1) == labels
    return max(LEAST_SURE, float(_normalised_entropy(probabilities[agree]).mean())) if agree.any() else LEAST_SURE


def _normalised_entropy(probabilities: Floats) -> Floats:
    """Entropy of each row as a share of the largest, in [0, 1]."""
    from scipy.special import entr

    return np.asarray(entr(probabilities).sum(axis=1) / np.log(probabilities.shape[1]))


def confident(probabilities: Floats, labels: Indices, *, rule: str) -> Found:
    """Suspect what cleanlab finds by confident learning.

    cleanlab suspects a certain number of labels of each class, those with the lowest scores, and the order of the rows
    decides between equals. Here rows are sorted first, and equals are all suspected if one of them is.
    """
    import warnings

    cleanlab = require("cleanlab", purpose="method 'confident'")
    filters = require("cleanlab.filter", purpose="method 'confident'")
    order = _own_order(probabilities, labels)
    rows, given = probabilities[order], labels[order]
    with warnings.catch_warnings():  # a note says it, with the names of the classes
        warnings.filterwarnings("ignore", message="May not flag all label issues in class", category=UserWarning)
        flags = filters.find_label_issues(given, rows, filter_by=rule, n_jobs=1)
    starts = np.flatnonzero(
        np.r_[True, (given[1:] != given[:-1]) | (rows[1:] != rows[:-1]).any(axis=1)]  # of runs of equals
    )
    suspect = np.empty(labels.size, dtype=bool)
    suspect[order] = np.repeat(np.logical_or.reduceat(flags, starts), np.diff(np.r_[starts, labels.size]))
    return Found(
        suspect=suspect,
        suggested=probabilities.argmax(axis=1).astype(np.int32),
        score=_doubt(probabilities, labels),
        context={"cleanlab": str(cleanlab.__version__)},
    )


def _own_order(probabilities: Floats, labels: Indices) -> NDArray[np.intp]:
    """Return an order of the rows that depends on what they hold only; equal rows are neighbours in it."""
    keys = np.stack([probabilities.max(axis=1), probabilities[np.arange(labels.size), labels], labels])
    order = np.lexsort(keys)
    before, after = order[:-1], order[1:]
    tied = (keys[:, before] == keys[:, after]).all(axis=0)
    # Sorting by all columns is slow with many classes, and seldom needed.
    if (probabilities[before[tied]] != probabilities[after[tied]]).any():
        order = np.lexsort((*probabilities.T, labels))
    return order


def _doubt(probabilities: Floats, labels: Indices) -> Floats:
    """1 - P(given label); within [0, 1] whatever rounding does to the probabilities."""
    return np.clip(1 - probabilities[np.arange(labels.size), labels], 0, 1)


def _tally(votes: NDArray[Any], labels: Indices, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Indices]:
    """Count votes of shape (n_voters, n): for the given label, for the first other class, and which that is.

    Of classes with as many votes, the one that the earliest voter named.
    """
    n = labels.size
    own, most, other = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int32)
    step = max(1, CELLS_AT_ONCE // k)
    for start in range(0, n, step):
        part = slice(start, start + step)
        here = votes[:, part]
        rows = np.arange(here.shape[1])
        counts = np.bincount((rows * k + here).ravel(), minlength=rows.size * k).reshape(rows.size, k)
        own[part] = counts[rows, labels[part]]
        counts[rows, labels[part]] = -1
        other[part] = plurality(counts, earliest_voter(here, k))
        most[part] = counts[rows, other[part]]
    return own, most, other


def convergence_notes(trainings: int) -> tuple[Note, ...]:
    """Warn of trainings that stopped before they converged."""
    message = f"{trainings} trainings stopped before they converged; allow more iterations with model=..."
    return (Note(code="not-converged", message=message, severity="warning"),) if trainings else ()
