"""Classifiers scored against the vote of other classifiers instead of labels, weighted by the vote's confidence."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from demele.core.arrays import Array, Flags, Floats
from demele.core.errors import InputError, NotEnoughData
from demele.core.kinds import Level, checked, checked_name
from demele.core.labelled import read_labelled, read_labels, read_models, shown, vocabulary
from demele.core.proportions import score_interval
from demele.core.result import Interval, Note, TableResult
from demele.core.signature import Signature
from demele.core.table_columns import check_rows
from demele.labels.joined.annotations import Annotations
from demele.labels.joined.voting import TieBreaks, are_tied, majority_vote, plurality, read_weights
from demele.report.words import count, ends, name, written

#: Shares of votes closer than this are a tie: less than any vote can weigh, more than rounding.
TIE = 1e-9
#: Shares of the others' votes that an instance must reach to be counted among the confident ones.
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

ASSUMPTIONS = (
    "The vote of the other classifiers is right more often than not, in every class.",
    "Classifiers err independently of each other: where many make the same mistake, the vote makes it too, calls it "
    "right, and blames those who are right.",
    "The weights are right in order: a classifier that is trusted more is better.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PseudoModel:
    """One classifier against the vote of the others.

    Attributes
    ----------
    name : str
    weight : float
        Weight of its vote in judging the others; the weights of all add up to 1.
    agreement : float
        Share of instances on which it predicts what the others vote: its accuracy, if their vote is right.
    interval : Interval
        Wilson's, of that share.
    expected : float
        Mean share of the others' votes that its predictions have: its expected accuracy, if these shares were the
        probabilities of the classes.
    coverage : tuple of float
        Share of instances on which the others' vote reaches each threshold.
    agreement_above : tuple of float
        Agreement on those instances; NaN where there are none.
    observed : float or None
        Accuracy against the given labels, if there are any.
    observed_interval : Interval or None
    """

    name: str
    weight: float
    agreement: float
    interval: Interval
    expected: float
    coverage: tuple[float, ...]
    agreement_above: tuple[float, ...]
    observed: float | None = None
    observed_interval: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PseudoEvaluation(TableResult):
    """Classifiers scored against the votes of the others.

    Attributes
    ----------
    models : tuple of PseudoModel
        In the order that came in.
    labels : array of shape (n,)
        The vote of all classifiers, which replaces labels. Ties are broken as
        :func:`demele.labels.majority_vote` says.
    n_ties : int
        Instances on which several classes have the most votes.
    confidence : array of shape (n,)
        Share of the votes, weighted if so asked, that the vote's class has.
    thresholds : tuple of float
        Of ``PseudoModel.coverage``.
    rank_correlation : float or None
        Spearman's, between agreement with the vote and accuracy against the given labels; NaN if either is the same
        for all classifiers. None without labels.
    vote_accuracy : float or None
        Share of instances whose vote is the given label. None without labels.
    assumptions : tuple of str
        What must hold for agreement to be accuracy.
    """

    _kind, _rows, _figure = "pseudo-supervised evaluation", "models", "agreement"
    _forms = dict.fromkeys(("agreement", "expected", "observed"), "percent")

    models: tuple[PseudoModel, ...]
    labels: Array
    n_ties: int
    confidence: Floats
    classes: tuple[int | str, ...]
    thresholds: tuple[float, ...]
    method: str
    level: float
    rank_correlation: float | None
    vote_accuracy: float | None
    assumptions: tuple[str, ...]
    notes: tuple[Note, ...]
    signature: Signature

    def headline(self) -> str:
        """Return the classifier that agrees most with the vote."""
        best = max(self.models, key=lambda model: model.agreement)
        share = f"{written(best.agreement, 'percent')} {written(ends(best.interval), 'percent')}"
        rows = count(self.labels.size, "row")
        return f"{name(best.name)} agrees most with the vote of the others: on {share} of {rows}."

    def __getitem__(self, key: str) -> PseudoModel:
        models = {model.name: model for model in self.models}
        return models[checked_name(key, "name", models)]


@checked
def pseudo_supervised(
    predictions: object,
    *,
    weights: object = None,
    labels: object = None,
    level: Level = 0.95,
    classes: Sequence[object] | None = None,
    seed: int = 0,
) -> PseudoEvaluation:
    """Score classifiers without labels, against the vote of the others.

    Parameters
    ----------
    predictions : mapping of str to array-like of shape (n,), data frame, or array of shape (n, n_models)
        Predicted classes of at least 3 classifiers.
    weights : mapping of name to weight, or array-like of shape (n_models,), optional
        What each vote counts, 0 or more; by default the same.
    labels : array-like of shape (n,), optional
        Given labels, which may be wrong: the accuracy against them is reported with the agreement.
    level : float in (0, 1)
        Level of the intervals.
    classes : sequence, optional
        All classes. By default those of the predictions and labels, sorted.
    seed : int
        Seed of the draws that break ties, 0 or more.

    Returns
    -------
    PseudoEvaluation

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Source: Benjelloun, section 5.2. Each classifier is judged by the vote of the others: its own vote would flatter it.
    A tie goes to the class whose classifiers agree more with the vote, or else to a class that is drawn. The intervals
    are for other instances and the same classifiers; that the vote may be wrong is not in them. Time and memory O(n
    (n_models + K)), but O(n n_models K) where single votes decide most instances.

    Examples
    --------
    >>> found = pseudo_supervised({"a": [0, 1, 1, 0], "b": [0, 1, 0, 0], "c": [0, 1, 1, 1]})
    >>> found.labels, found.confidence.round(2)
    (array([0, 1, 1, 0]), array([1.  , 1.  , 0.67, 0.67]))
    >>> {model.name: (model.agreement, model.expected) for model in found.models}
    {'a': (0.75, 0.75), 'b': (0.75, 0.625), 'c': (0.75, 0.625)}
    """
    systems = read_models(predictions)
    if len(systems) < 3:
        raise NotEnoughData("predictions", f"expected at least 3 classifiers: others vote, got {len(systems)}")
    given = None if labels is None else read_labels(labels, "labels")
    columns = {name: read_labels(values, f"predictions, {name}") for name, values in systems.items()}
    if classes is None:
        parts = [*columns.values(), *([] if given is None else [given])]
        classes = vocabulary(np.concatenate([part for part in parts if part.dtype == parts[0].dtype])).classes
    classes = vocabulary(np.empty(0), classes=classes).classes
    if len(classes) < 2:
        raise NotEnoughData("predictions", f"expected at least 2 classes, got only {classes[0]!r}")
    # The first classifier's column stands for labels: any would do, it is only read for its length and classes.
    first = next(iter(systems))
    data = read_labelled(systems, systems[first], classes=classes, argument=first)
    if given is not None:
        for values in systems.values():
            check_rows(values, labels, ("predictions", "labels"), (data.n, given.size))
        given = data.vocabulary.encode(given, "labels")

    if isinstance(weights, Mapping):
        weights = {str(name): value for name, value in weights.items()}
        unlike = sorted(set(data.names) ^ set(weights))
        if unlike:
            raise InputError("weights", f"expected one of each classifier, by name; not in both: {shown(unlike)}")
    trust = None if weights is None else read_weights(weights, data.names, "classifier")
    # Names as numbers: an annotator's name must not change its place.
    table = Annotations.from_matrix(data.predictions, classes=range(data.k))
    voted = majority_vote(table, weights=trust, seed=seed)
    share = np.asarray(voted.details["weights"]) / np.sum(voted.details["weights"])
    if share.max() > 1 - TIE:
        message = f"all of the weight is on {data.names[int(share.argmax())]}, so no other classifier can judge it"
        raise InputError("weights", message, "give at least 2 classifiers a weight")
    names = np.array(data.vocabulary.classes, dtype=np.int64 if isinstance(data.vocabulary.classes[0], int) else object)
    vote = voted.labels
    n_ties = int(are_tied(voted.probabilities).sum())
    # Judge every classifier by the votes of the others: all votes minus its own.
    every = np.arange(data.n)
    breaks, shares = TieBreaks(table, seed), voted.probabilities
    second, top = np.partition(shares, -2, axis=1)[:, -2:].T
    trust = breaks.weights / breaks.weights.sum()

    judged = []
    for place, (model, weight, predicted) in enumerate(zip(data.names, share, data.predictions, strict=True)):
        own = shares[every, predicted]
        rest = 1 - weight
        # Only where it votes for a class that leads can its own vote have made the winner.
        decisive = np.flatnonzero((own >= top - TIE) & (top - second <= weight + TIE))
        others = vote.copy()
        left, trusted = shares[decisive], breaks.weighted[decisive]
        mine = np.arange(decisive.size), predicted[decisive]
        left[mine] -= weight
        trusted[mine] -= trust[place]
        draws = breaks.draws[decisive]
        others[decisive] = plurality(left, trusted.__getitem__, draws.__getitem__)
        confidence = (shares[every, others] - np.where(predicted == others, weight, 0.0)) / rest
        agrees = predicted == others
        above = [confidence >= threshold - TIE for threshold in THRESHOLDS]
        judged.append(
            PseudoModel(
                name=model,
                weight=float(weight),
                agreement=float(agrees.mean()),
                interval=_interval(agrees, level),
                expected=float(np.clip((own - weight) / rest, 0, 1).mean()),
                coverage=tuple(float(rows.mean()) for rows in above),
                agreement_above=tuple(float(agrees[rows].mean()) if rows.any() else math.nan for rows in above),
                observed=None if given is None else float(np.mean(predicted == given)),
                observed_interval=None if given is None else _interval(predicted == given, level),
            )
        )
    models = tuple(judged)
    rank_correlation = None
    if given is not None:
        from scipy.stats import rankdata

        ranks = rankdata([(model.agreement, model.observed or 0.0) for model in models], axis=0).T
        rank_correlation = math.nan if (np.ptp(ranks, axis=1) == 0).any() else float(np.corrcoef(*ranks)[0, 1])
    return PseudoEvaluation(
        models=models,
        labels=names[vote],
        n_ties=n_ties,
        confidence=np.asarray(voted.probabilities[np.arange(data.n), vote]),
        classes=data.vocabulary.classes,
        thresholds=THRESHOLDS,
        method="majority" if weights is None else "weighted majority",
        level=level,
        rank_correlation=rank_correlation,
        vote_accuracy=None if given is None else float(np.mean(vote == given)),
        assumptions=ASSUMPTIONS if weights is not None else ASSUMPTIONS[:-1],
        notes=_notes(voted.probabilities, n_ties, models, share),
        signature=Signature.of(
            "pseudo_supervised",
            {"weights": None if weights is None else share.tolist(), "level": level, "seed": seed},
            n=data.n,
            classifiers=len(data.names),
            classes=data.k,
        ),
    )


def _interval(right: Flags, level: float) -> Interval:
    low, high = score_interval(int(right.sum()), right.size, level=level)
    return Interval(low=float(low), high=float(high), level=level, method="wilson")


def _notes(shares: Floats, ties: int, models: Sequence[PseudoModel], weights: Floats) -> tuple[Note, ...]:
    name, most = models[int(weights.argmax())].name, float(weights.max())
    unanimous = bool((shares.max(axis=1) >= 1 - TIE).all())
    tied = f"The vote is tied on {ties} of {len(shares)} instances, and broken there by agreement, or drawn."
    same = "Every classifier in the vote gives the same answer on every instance: the vote cannot rank them."
    many = f"{len(models)} classifiers and {len(shares)} instances: arrays are of shape (n, n_models)."
    alone = f"{name} has {most:.0%} of the weight: for the other classifiers, its prediction is the vote."
    found = {
        Note(code="tied-votes", message=tied): ties > 0,
        Note(code="unanimous", message=same, severity="warning"): unanimous,
        Note(code="more-classifiers-than-instances", message=many, severity="warning"): len(models) > len(shares),
        Note(code="one-voter", message=alone, subject=(name,), severity="warning"): most > 0.5 + TIE,
    }
    return tuple(note for note, holds in found.items() if holds)
