"""What is done with the answers of a crowd: labels compared with true and given ones, and whom to ask about what next.

Further: annotators of training and test sets that are kept apart, and the structure of errors.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from demele.core.arrays import Array, Floats, Rows, pd, rng_for
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.kinds import Classes, Count, Data, Level, Seed, Several, between, checked, checked_level
from demele.core.labelled import read_labels
from demele.core.proportions import score_interval
from demele.core.result import Interval, Note, Result, TableResult, notices, plain
from demele.labels.joined.agreement_coefficients import Agreement, Scale
from demele.labels.joined.agreement_coefficients import annotator_agreement as measured_agreement
from demele.labels.joined.annotations import Annotations, read_annotations
from demele.labels.joined.generative import bayesian_consensus
from demele.labels.joined.item_response import consensus, dawid_skene
from demele.labels.joined.voting import Consensus, annotators_table, information
from demele.noise.transition import TransitionMatrix
from demele.report.document import Document, Table
from demele.report.words import count, name, rate, written

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
        said = (
            "`given`: the share of wrong labels can be far off: the blend expected 16% where 6% were wrong, and 16% "
            "where 32% were, as annotators shared mistakes; an audit of random rows estimates it without bias."
        )
        notes.append(Note(code="share-of-consensus", message=said, severity="warning"))
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
    for way, said in (("consensus", part.labels), ("majority", part.majority)):
        right = int(np.count_nonzero(said == gold))
        low, high = map(float, score_interval(right, gold.size, level=level))
        interval = Interval(low=low, high=high, level=level, method="Wilson")
        correct[way] = Correct(right=right, accuracy=right / gold.size, interval=interval)
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


# Whom to ask about what next, and annotators that are kept apart ------------------------------------------------------


def answer_gains(found: Consensus) -> Floats:
    """Return what an answer of each annotator would say about each item, in bits.

    Returns
    -------
    array of shape (n_annotators, n_items)
        Mutual information, with the probabilities of the item's classes.
    """
    gains = []
    for place in range(len(found.annotators)):
        counts = found.profiles.table(place) + 1e-9
        gains.append(information(found.probabilities, counts / counts.sum(axis=1, keepdims=True)))
    return np.asarray(np.maximum(np.stack(gains), 0.0) / np.log(2))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NextAnswers(TableResult):
    """Which annotator should see which item next.

    Attributes
    ----------
    table : DataFrame
        Best first: ``item``, ``annotator``, ``gain`` in bits, and ``label``, the most probable class so far, with its
        ``probability``.
    """

    _kind, _figure = "next answers", "gain"
    _forms: ClassVar[Mapping[str, str]] = {"gain": "number.3", "probability": "percent"}

    table: "pd.DataFrame"

    def headline(self) -> str:
        """Return the best pair."""
        best = self.table.iloc[0]
        return (
            f"Ask {name(best['annotator'])} about item {name(best['item'])} next: the answer is expected to bring "
            f"{written(float(best['gain']), 'number.3')} bits."
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return the table."""
        return self.table


@checked
def next_answers(annotations: object, n: Count = 10, *, no_answer: object = None, seed: Seed = 0) -> NextAnswers:
    """Return which annotator should see which item next: where an answer is expected to say most about the class.

    Parameters
    ----------
    annotations : Annotations, data frame, mapping or array
        As of :func:`demele.labels.dawid_skene`. Items without an answer are asked about too if they are listed.
    n : int, default 10
        Pairs of an annotator and an item, each item once: answers that come together do not know of each other.
    no_answer : int, str or float, optional
    seed : int, default 0
        Random seed of ties in the vote.

    Returns
    -------
    NextAnswers

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If everybody has answered everything.

    Notes
    -----
    Source: Lam and Stork (2005). The gain is the mutual information of class and answer, from the probabilities of
    classes and the profiles of annotators that :func:`demele.labels.dawid_skene` with ``prior="own"`` finds. Nobody is
    asked twice about one item.

    Examples
    --------
    >>> answers = {"ann": [0, 1, 1, 0, 1], "bob": [0, 1, 1, 0, None], "eve": [1, 1, 0, None, None]}
    >>> next_answers(answers, 1).table[["item", "annotator"]].to_numpy().tolist()
    [[4, 'bob']]
    """
    table = read_annotations(annotations, no_answer=no_answer)
    found = dawid_skene(table, prior="own", seed=seed)
    gains = answer_gains(found)
    gains[table.annotator, table.item] = -1.0
    # the best annotator of each item, the items with the most to gain first
    who, most = gains.argmax(axis=0), gains.max(axis=0)
    order = np.argsort(-most, kind="stable")[:n]
    order = order[most[order] >= 0]
    if not order.size:
        raise NotEnoughData("annotations", "every annotator has answered about every item; there is nothing to ask")
    frame = pd.DataFrame(
        {
            "item": [found.items[place] for place in order],
            "annotator": [found.annotators[place] for place in who[order]],
            "gain": most[order],
            "label": found.labels[order],
            "probability": found.confidence[order],
        }
    )
    return NextAnswers(table=frame)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AskingSavings(TableResult):
    """How many answers the choice of annotator and item saves, on answers that are all known.

    Attributes
    ----------
    table : DataFrame
        ``answers`` so far, and the accuracy of the joined labels: ``chosen`` and ``random``, its mean over draws.
    target : float
        Accuracy with all answers.
    answers : int or None
        Fewest answers that reach the target less half a percentage point when they are chosen; None if none do.
    random_answers : int or None
        The same at random.
    """

    _kind, _figure = "savings of answers", "chosen"
    _forms: ClassVar[Mapping[str, str]] = dict.fromkeys(("chosen", "random"), "percent")

    table: "pd.DataFrame"
    target: float
    answers: int | None
    random_answers: int | None

    def headline(self) -> str:
        """Return both numbers of answers."""
        near = f"the accuracy of all answers, {written(self.target, 'percent')} less half a percentage point"
        if self.answers is None or self.random_answers is None:
            return f"Not all ways reach {near}, before the last answer."
        saved = 1 - self.answers / self.random_answers
        return (
            f"{count(self.answers, 'chosen answer')} reach {near}; at random it takes {self.random_answers:,} "
            f"({written(saved, 'percent.0')} saved)."
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return the table."""
        return self.table


@checked
def simulated_asking(
    annotations: object, true_labels: Mapping[Any, object], *, n_steps: Several = 10, n_draws: Count = 3, seed: Seed = 0
) -> AskingSavings:
    """Replay answers that are known, chosen as :func:`next_answers` does it and at random, and compare the labels.

    Parameters
    ----------
    annotations : Annotations, data frame, mapping or array
        All answers, several for most items.
    true_labels : mapping of item to class
        Of the items that accuracy is counted on.
    n_steps : int, default 10
        How often somebody decides, from the first answers, two about each item and drawn at random, to all of them.
        From one about each item nothing is known of annotators.
    n_draws : int, default 3
        Random orders, and first answers.
    seed : int, default 0

    Returns
    -------
    AskingSavings

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 60)
    >>> crowd = {f"a{k}": np.where(rng.random(60) < 0.6 + k / 20, truth, 1 - truth) for k in range(6)}
    >>> simulated_asking(crowd, dict(enumerate(truth)), n_steps=3, n_draws=1).table["answers"].tolist()
    [120, 200, 280, 360]
    """
    table = read_annotations(annotations)
    truth = _truth(table, true_labels)
    known = np.flatnonzero(truth >= 0)
    right = np.array([table.classes[place] for place in truth[known]])

    def joined(rows: Rows) -> tuple[Consensus, float]:
        found = dawid_skene(_of_rows(table, rows, table.items), prior="own", tolerance=1e-4, seed=seed)
        return found, float(np.mean(found.labels[known] == right))

    curves = []
    for draw in range(n_draws):
        order = rng_for(seed, "asking", draw).permutation(table.n_answers)
        items = pd.Series(table.item[order])
        begun = order[items.groupby(items).cumcount() < 2]
        later = np.setdiff1d(order, begun)[rng_for(seed, "asking later", draw).permutation(order.size - begun.size)]
        ends = np.linspace(0, later.size, n_steps + 1).astype(int)
        by_chance = [joined(np.concatenate([begun, later[:end]]))[1] for end in ends]
        asked, chosen = begun, []
        for step in np.diff(ends, append=ends[-1]):
            found, accuracy = joined(asked)
            chosen.append(accuracy)
            asked = np.concatenate([asked, _chosen(table, found, asked, int(step))])
        curves.append(np.stack([begun.size + ends, chosen, by_chance]))
    answers, chosen, by_chance = np.mean(curves, axis=0)
    target = joined(np.arange(table.n_answers))[1]
    frame = pd.DataFrame({"answers": answers.round().astype(int), "chosen": chosen, "random": by_chance})
    fewest = [frame["answers"][np.flatnonzero(frame[way] >= target - 0.005)] for way in ("chosen", "random")]
    reached = [int(one.iloc[0]) if len(one) else None for one in fewest]
    return AskingSavings(table=frame, target=target, answers=reached[0], random_answers=reached[1])


def _truth(table: Annotations, true_labels: Mapping[Any, object]) -> Rows:
    """Return the true class of each item, -1 where it is not known."""
    if not isinstance(true_labels, Mapping):
        raise InputTypeError("true_labels", "expected a mapping of items to classes", "pass dict(enumerate(labels))")
    classes: dict[Any, int] = {label: place for place, label in enumerate(table.classes)}
    odd = [label for label in true_labels.values() if label not in classes]
    if odd:
        raise InputError("true_labels", f"expected classes that are answers, got {odd[0]!r}; pass labels.Annotations")
    truth = np.array([classes.get(true_labels.get(item), -1) for item in table.items])
    if not (truth[table.item] >= 0).any():
        raise NotEnoughData("true_labels", "expected classes of some of the items, by their names")
    return truth


def _of_rows(table: Annotations, rows: Rows, all_items: Sequence[object] | None = None) -> Annotations:
    """Return some of the answers, with all classes."""
    columns = [column for _, column in table.to_frame().iloc[rows].items()]
    return Annotations(*columns, classes=table.classes, all_items=all_items)


def _chosen(table: Annotations, found: Consensus, asked: Rows, n: int) -> Rows:
    """Return so many of the other answers: of each item the best first, then the second best, and so on."""
    others = np.setdiff1d(np.arange(table.n_answers), asked)
    place = {who: number for number, who in enumerate(found.annotators)}
    gained = answer_gains(found)
    unknown = gained.mean(axis=0)  # of somebody who has answered nothing so far: what anybody's answer brings
    who = np.array([place.get(table.annotators[one], -1) for one in table.annotator[others]], dtype=int)
    item = table.item[others]
    gains = np.where(who >= 0, gained[who, item], unknown[item])
    turn = pd.Series(gains).groupby(item).rank(method="first", ascending=False)
    return np.asarray(others[np.lexsort((-gains, turn))][:n])


@checked
def split_annotators(
    annotations: object,
    *,
    test_size: Annotated[float, between(0, 1, "()")] = 0.3,
    no_answer: object = None,
    seed: Seed = 0,
) -> tuple[Annotations, Annotations]:
    """Return answers for training and for test that have no annotator and no item in common.

    Parameters
    ----------
    annotations : Annotations, data frame, mapping or array
        As of :func:`demele.labels.dawid_skene`.
    test_size : float, default 0.3
        Share of the annotators of the test, rounded up.
    no_answer : int, str or float, optional
    seed : int, default 0

    Returns
    -------
    (training, test) : Annotations
        An item goes to the test if more of its answers than on average are by annotators of the test, and to the
        training if fewer are; where neither holds it is drawn. Its other answers are left out.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If one of them would be empty.

    Notes
    -----
    Source: Geva, Goldberg and Berant (2019), who advise it. Annotators are drawn by scikit-learn's
    ``GroupShuffleSplit``, which is enough by itself where every item has one annotator.

    Examples
    --------
    >>> training, test = split_annotators({"ann": [0, 1, 1, 0], "bob": [0, 1, 1, None], "eve": [1, None, 0, 0]})
    >>> training.annotators, test.annotators
    (('bob', 'eve'), ('ann',))
    """
    from sklearn.model_selection import GroupShuffleSplit

    table = read_annotations(annotations, no_answer=no_answer)
    if table.n_annotators < 2:
        raise NotEnoughData("annotations", "expected at least 2 annotators, got 1")
    splitter = GroupShuffleSplit(1, test_size=test_size, random_state=int(rng_for(seed, "annotators").integers(2**31)))
    _, test = next(splitter.split(table.answer, groups=table.annotator))
    theirs = np.zeros(table.n_answers, dtype=bool)
    theirs[test] = True
    answers = np.bincount(table.item, minlength=table.n_items)
    more = np.bincount(table.item, weights=theirs, minlength=table.n_items) - answers * theirs.mean()
    drawn = rng_for(seed, "items").random(table.n_items) < test_size
    in_test = np.where(np.isclose(more, 0), drawn, more > 0)
    parts = [np.flatnonzero((theirs == side) & (in_test[table.item] == side)) for side in (False, True)]
    if not all(part.size for part in parts):
        raise NotEnoughData("annotations", "no items would be left for training or test; try another seed")
    return _of_rows(table, parts[0]), _of_rows(table, parts[1])


# How errors of annotators lie -----------------------------------------------------------------------------------------

#: Resamples of the items for an interval.
_RESAMPLES = 400
_MEASURES = ("rate", "concentration", "difficulty", "similarity")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ErrorStructure(TableResult):
    """How errors of annotators lie, with intervals: the same numbers for people, models and made noise.

    Attributes
    ----------
    table : DataFrame
        Columns ``value``, ``low``, ``high``. Rows: ``rate``, the share of wrong answers; ``concentration``, how much
        likelier two wrong answers, on two items, are to be one confusion (true class, answer) than of uniform noise;
        ``difficulty``, the probability that a wrong answer is on a harder item than a right one, .5 for errors at
        random; ``similarity``, how much more often two annotators are both wrong about an item than if they erred
        independently.
    n_items, n_annotators, n_errors : int
    """

    _kind, _figure = "structure of errors", "value"
    _forms: ClassVar[Mapping[str, str]] = {"value": "number.3"}

    table: "pd.DataFrame"
    n_items: int
    n_annotators: int
    n_errors: int

    def headline(self) -> str:
        """Return the difficulty."""
        value, low, high = (float(self.table[column]["difficulty"]) for column in ("value", "low", "high"))
        share = f"{written(value, 'percent')} {written((low, high), 'percent')}"
        errors = f"{count(self.n_errors, 'error')} on {count(self.n_items, 'item')}"
        return f"A wrong answer is on a harder item than a right one with probability {share} ({errors})."

    def to_frame(self) -> "pd.DataFrame":
        """Return the table."""
        return self.table.rename_axis("measure").reset_index()


@checked
def error_structure(
    annotations: object,
    true_labels: Mapping[Any, object],
    *,
    difficulty: Mapping[Any, float] | None = None,
    no_answer: object = None,
    level: Level = 0.95,
    seed: Seed = 0,
) -> ErrorStructure:
    """Measure how errors of annotators lie: whether made noise is realistic is whether it has the same structure.

    Parameters
    ----------
    annotations : Annotations, data frame, mapping or array
        Answers, such as those of a crowd, predictions of models, or one column of labels.
    true_labels : mapping of item to class
        Other items are left out.
    difficulty : mapping of item to float, optional
        How hard each item is, such as the share of models that mistake it. By default the share of the other
        annotators who are wrong about it, so that no answer judges itself.
    no_answer : int, str or float, optional
    level : float, default 0.95
        Level of each interval by itself: percentiles over items drawn again.
    seed : int, default 0

    Returns
    -------
    ErrorStructure
        A measure is NaN where nothing speaks of it: similarity of one annotator, difficulty without errors.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Benjelloun (section 6.5.6) asks how realistic artificial noise is.

    Examples
    --------
    >>> answers = {"ann": [0, 1, 1, 0], "bob": [0, 0, 1, 0], "eve": [0, 0, 1, 1]}
    >>> found = error_structure(answers, {0: 0, 1: 1, 2: 1, 3: 0})
    >>> found.table["value"].round(3).tolist()
    [0.25, 0.0, 0.63, 1.333]
    """
    table = read_annotations(annotations, no_answer=no_answer)
    if difficulty is not None and not isinstance(difficulty, Mapping):
        raise InputTypeError("difficulty", "expected a mapping by item", "pass dict(enumerate(values))")
    truth = _truth(table, true_labels)
    rows = np.flatnonzero(truth[table.item] >= 0)
    item, answer = table.item[rows], table.answer[rows]
    n, k = table.n_items, table.k
    wrong = answer != truth[item]
    answers = np.bincount(item, minlength=n)
    errors = np.bincount(item, weights=wrong, minlength=n)
    if difficulty is None:
        with np.errstate(invalid="ignore", divide="ignore"):
            hard = (errors[item] - wrong) / (answers[item] - 1)
    else:
        numbers = [difficulty.get(table.items[one], np.nan) for one in range(n)]
        lacking = sum(not isinstance(one, int | float | np.number) or one != one for one in numbers)
        if lacking:
            raise InputError("difficulty", f"expected a number for each of {n} items, {lacking} have none")
        hard = np.array(numbers, dtype=np.float64)[item]
    known = np.isfinite(hard)
    steps, place = np.unique(hard[known], return_inverse=True)

    def by_item(columns: Any, which: Any, width: int) -> Floats:
        """Return counts of answers by item and column."""
        flat = np.bincount(item[which] * width + columns, minlength=n * width)
        return np.asarray(flat.reshape(n, width), dtype=np.float64)

    sums = [
        by_item(truth[item][wrong] * k + answer[wrong], wrong, k * k),
        by_item(truth[item], slice(None), k),
        by_item(place[wrong[known]], known & wrong, max(len(steps), 1)),
        by_item(place[~wrong[known]], known & ~wrong, max(len(steps), 1)),
        np.stack([errors * (errors - 1), answers * (answers - 1), errors, answers], axis=1).astype(np.float64),
    ]
    ends = np.cumsum([one.shape[1] for one in sums])[:-1]
    every, used = np.concatenate(sums, axis=1), np.flatnonzero(answers)
    squares = np.stack([np.square(sums[0]).sum(axis=1), errors**2], axis=1)

    def measured(weights: Floats) -> Floats:
        cells, of_class, hard_wrong, hard_right, pairs = np.split(weights @ every[used], ends, axis=1)
        both, all_pairs, n_wrong, n_answers = pairs.T
        rate = n_wrong / n_answers
        with np.errstate(invalid="ignore", divide="ignore"):
            # pairs of errors on different items: those of one item say what its annotators have in common
            alone = np.square(weights) @ squares[used]
            same = (np.square(cells).sum(axis=1) - alone[:, 0]) / (n_wrong**2 - alone[:, 1])
            uniform = np.square(of_class / n_answers[:, None]).sum(axis=1) / (k - 1)
            below = np.cumsum(hard_right, axis=1) - hard_right / 2
            harder = (hard_wrong * below).sum(axis=1) / (hard_wrong.sum(axis=1) * hard_right.sum(axis=1))
            return np.stack([rate, same / uniform, harder, both / all_pairs / rate**2], axis=1)

    drawn = rng_for(seed, "error structure").multinomial(used.size, np.full(used.size, 1 / used.size), _RESAMPLES)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        low, high = np.nanquantile(measured(drawn.astype(np.float64)), [(1 - level) / 2, (1 + level) / 2], axis=0)
    value = measured(np.ones((1, used.size)))[0]
    frame = pd.DataFrame({"value": value, "low": low, "high": high}, list(_MEASURES))
    frame[frame["value"].isna()] = np.nan
    return ErrorStructure(
        table=frame,
        n_items=used.size,
        n_annotators=len(np.unique(table.annotator[rows])),
        n_errors=int(wrong.sum()),
    )
