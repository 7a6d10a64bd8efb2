"""Answers of several annotators by one call: labels, compared with true ones, with given ones, and with each other."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from demele.core.arrays import Array, pd
from demele.core.errors import InputError
from demele.core.kinds import Classes, Data, checked_level
from demele.core.labelled import read_labels
from demele.core.proportions import score_interval
from demele.core.result import Interval, Note, Result, notices, plain
from demele.labels.joined.agreement_coefficients import Agreement, Scale
from demele.labels.joined.agreement_coefficients import annotator_agreement as measured_agreement
from demele.labels.joined.annotations import read_annotations
from demele.labels.joined.generative import bayesian_consensus
from demele.labels.joined.item_response import consensus, dawid_skene
from demele.labels.joined.voting import Consensus, annotators_table
from demele.noise.transition import TransitionMatrix
from demele.report.document import Document, Table
from demele.report.words import count, rate, written

Method = Literal["blend", "majority", "one-coin", "own-prior", "dawid-skene", "bayesian"]
#: Options of one method only.
_OF_METHOD: Mapping[str, Method] = {
    "smoothing": "dawid-skene",
    "strength": "own-prior",
    **dict.fromkeys(("features", "feature_model", "n_samples", "n_warmup", "n_chains"), "bayesian"),
}
#: Annotators, the least informative ones, that a terminal shows.
_FEW = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Correct:
    """Share of labels that are the true ones."""

    right: int
    accuracy: float
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldCheck:
    """The consensus and the majority vote on items whose true labels are known."""

    n: int
    ties: int
    consensus: Correct
    majority: Correct


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenNoise:
    """Noise of given labels, by the consensus: an estimate that is as good as the consensus.

    Attributes
    ----------
    n : int
    wrong_share : float
        Expected share of wrong labels.
    unlike_majority : float
        Share of labels that differ from the majority vote.
    ties : int
    transition : TransitionMatrix
    """

    n: int
    wrong_share: float
    unlike_majority: float
    ties: int
    transition: TransitionMatrix


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class AggregatedLabels(Result):
    """Labels of items from the answers of several annotators; see :func:`aggregate`.

    Attributes
    ----------
    consensus : Consensus
    gold : GoldCheck or None
    given : GivenNoise or None
    agreement : Agreement or None
    notes : tuple of Note
    """

    _kind = "aggregated labels"
    _files: ClassVar[Mapping[str, str]] = {".noise.csv": "noise_frame", ".annotators.csv": "annotator_frame"}

    consensus: Consensus = field(metadata={"json": False})
    gold: GoldCheck | None = None
    given: GivenNoise | None = None
    agreement: Agreement | None = None
    notes: tuple[Note, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything that the consensus says, and what it was compared with."""
        notes = plain((*self.consensus.notes, *self.notes))
        return {**self.consensus.to_dict(), **Result.to_dict(self), "notes": notes}

    def document(self) -> Document:
        """Return the document of the consensus, with the comparisons that were asked for."""
        made = self.consensus.document()
        found = [] if self.gold is None else [_gold_document(self.gold)]
        found += [] if self.given is None else [_noise_document(self.given)]
        found += [] if self.agreement is None else [self.agreement.document()]
        people = annotators_table(self.consensus)
        tables = [*(part.table for part in found), replace(people, rows=people.rows[:_FEW])]
        return replace(
            made,
            headline=" ".join([made.headline, *(part.headline for part in found)]),
            below=[*made.below, *(table for table in tables if table is not None)],
            sections=[*made.sections, *(section for part in found for section in part.sections)],
            methods=[*made.methods, *(text for part in found for text in part.methods)],
            signatures=[*made.signatures, *(one for part in found for one in part.signatures)],
            notes=[*made.notes, *notices(self.notes), *(note for part in found for note in part.notes)],
        )

    def to_frame(self) -> "pd.DataFrame":
        """One row per item: label, confidence, number of answers, the majority's label, whether that is a tie."""
        return self.consensus.to_frame()

    def annotator_frame(self) -> "pd.DataFrame":
        """One row per annotator: answers, expected share of right answers, informativeness."""
        return self.consensus.annotator_frame()

    def noise_frame(self) -> "pd.DataFrame":
        """Return the transition matrix of the given labels: a row per true class.

        Raises
        ------
        InputError
            If no labels were given.
        """
        if self.given is None:
            raise InputError("given", "expected the labels whose noise is estimated")
        return self.given.transition.to_frame().reset_index()


def aggregate(
    annotations: object,
    *,
    method: Method = "blend",
    gold: Data = None,
    given: Data = None,
    agreement: bool = False,
    scale: Scale | None = None,
    classes: Classes = None,
    smoothing: float | None = None,
    strength: float | None = None,
    features: Data = None,
    feature_model: Literal["counts", "normal"] | None = None,
    n_samples: int | None = None,
    n_warmup: int | None = None,
    n_chains: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> AggregatedLabels:
    """Aggregate the answers of several annotators: labels, confidence, and how good each annotator is.

    Parameters
    ----------
    annotations : Annotations, data frame, mapping or array
        What :class:`demele.labels.Annotations` is made from.
    method : str
        How answers are joined. The blend is the mean of the vote and of models that are drawn towards one accuracy per
        annotator; see :func:`demele.labels.consensus`, and :func:`demele.labels.bayesian_consensus`.
    gold : mapping of item to class, or array-like of shape (n_items,), optional
        True labels of some items, to check the estimates.
    given : mapping of item to class, or array-like of shape (n_items,), optional
        Labels of the items whose noise is estimated.
    agreement : bool
        Measure the agreement of annotators, with intervals.
    scale : {"nominal", "ordinal", "interval", "ratio"}, optional
        Scale of the classes, for the agreement (default: nominal).
    classes : sequence, optional
        All classes, in their order (default: the sorted answers).
    smoothing : float, optional
        Pseudo-answers, for dawid-skene (default: 0).
    strength : float, optional
        Pseudo-answers per row of a profile, for own-prior (default: 5).
    features : array-like of shape (n_items, d), optional
        Features of the items, for bayesian.
    feature_model : {"counts", "normal"}, optional
        Model of the features (default: counts).
    n_samples : int, optional
        Sweeps that each chain keeps, for bayesian (default: 500).
    n_warmup : int, optional
        Sweeps before these (default: 250).
    n_chains : int, optional
        Chains, for bayesian (default: 4).
    level : float
        Confidence of the intervals.
    seed : int
        Random seed.

    Returns
    -------
    AggregatedLabels

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError

    Examples
    --------
    >>> found = aggregate([[0, 0, 1], [0, 0, 1], [0, 1, 1]], gold=[0, 0, 1])
    >>> found.consensus.labels.tolist(), found.gold.consensus.right
    ([0, 0, 1], 3)
    """
    asked = {
        "smoothing": smoothing, "strength": strength, "features": features, "feature_model": feature_model,
        "n_samples": n_samples, "n_warmup": n_warmup, "n_chains": n_chains,
    }  # fmt: skip
    options = {name: value for name, value in asked.items() if value is not None}
    stray = next((name for name in options if _OF_METHOD[name] != method), None)
    if stray is not None:
        raise InputError(stray, f"is for `method={_OF_METHOD[stray]!r}`, not {method}")
    if scale is not None and not agreement:
        raise InputError("scale", "is for `agreement`, which is not asked for")
    if feature_model is not None and features is None:
        raise InputError("feature_model", "says what `features` are, which are not given")
    level, table = checked_level(level), read_annotations(annotations, classes=classes)
    if method == "bayesian":
        found = bayesian_consensus(table, level=level, seed=seed, **options)  # type: ignore[arg-type]
    elif method in ("own-prior", "dawid-skene"):
        found = dawid_skene(table, prior="own" if method == "own-prior" else None, seed=seed, **options)  # type: ignore[arg-type]
    else:
        found = consensus(table, method=method, seed=seed)
    notes: list[Note] = []
    noise = None
    if given is not None:
        part, labels = _aligned(given, found, "given", notes)
        noise = GivenNoise(
            n=int(labels.size),
            wrong_share=part.wrong_share(labels),
            unlike_majority=float(np.mean(labels != part.majority)),
            ties=int(part.tied.sum()),
            transition=part.noise(labels),
        )
    return AggregatedLabels(
        consensus=found,
        gold=None if gold is None else _checked(*_aligned(gold, found, "gold", notes), level),
        given=noise,
        agreement=measured_agreement(table, scale=scale or "nominal", level=level, seed=seed) if agreement else None,
        notes=tuple(notes),
    )


def _aligned(given: Any, found: Consensus, argument: str, notes: list[Note]) -> tuple[Consensus, Array]:
    """Return the consensus on the items that have such labels, and these labels in the same order."""
    if not isinstance(given, Mapping):
        labels = read_labels(given, argument)
        if labels.size != len(found.items):
            problem = f"expected {len(found.items)} labels, one per item in their order, got {labels.size}"
            raise InputError(argument, problem, "labels of some items need the names of these items")
        return found, labels
    place = {str(name): index for index, name in enumerate(found.items)}
    known = [name for name in given if str(name) in place]
    if not known:
        problem = f"none of its {len(given)} items has an answer, first {str(next(iter(given)))!r}"
        raise InputError(argument, problem, f"items are called such as {str(found.items[0])!r}")
    if len(known) < len(given):
        left = f"{len(given) - len(known):,} of {len(given):,} items have no answer and are left out"
        notes.append(Note(code="items-left-out", message=f"`{argument}`: {left}.", severity="warning"))
    rows = np.array([place[str(name)] for name in known])
    parts = {name: getattr(found, name)[rows] for name in ("labels", "probabilities", "majority", "tied", "n_answers")}
    part = replace(found, items=tuple(found.items[row] for row in rows), **parts)
    return part, read_labels([given[name] for name in known], argument)


def _checked(part: Consensus, gold: Array, level: float) -> GoldCheck:
    if not set(gold.tolist()) & set(part.classes):
        classes = f"none of its classes, such as {gold.tolist()[0]!r}"
        raise InputError("gold", f"{classes}, is among the answers, such as {part.classes[0]!r}")
    correct = {}
    for name, said in (("consensus", part.labels), ("majority", part.majority)):
        right = int(np.count_nonzero(said == gold))
        low, high = map(float, score_interval(right, gold.size, level=level))
        interval = Interval(low=low, high=high, level=level, method="Wilson")
        correct[name] = Correct(right=right, accuracy=right / gold.size, interval=interval)
    return GoldCheck(n=int(gold.size), ties=int(part.tied.sum()), **correct)


def _gold_document(gold: GoldCheck) -> Document:
    both = {"consensus": gold.consensus, "majority": gold.majority}
    rows = [(name, one.accuracy, (one.interval.low, one.interval.high)) for name, one in both.items()]
    return Document(
        kind="True labels",
        headline=f"{written(gold.consensus.accuracy, 'percent')} of {count(gold.n, 'label')} taken as true are those "
        f"of the consensus, {written(gold.majority.accuracy, 'percent')} those of the majority vote.",
        table=Table("Accuracy", {"Labels": "text", "Accuracy": "percent", "Interval": "percent"}, rows),
        methods=[f"Intervals of accuracies are those of Wilson, level {rate(gold.consensus.interval.level)}."],
    )


def _noise_document(given: GivenNoise) -> Document:
    headline = (
        f"By the consensus {written(given.wrong_share, 'percent')} of {count(given.n, 'given label')} are wrong; "
        f"{written(given.unlike_majority, 'percent')} differ from the majority vote."
    )
    return replace(given.transition.document(), headline=headline)
