"""Label noise that is made on purpose, so that its truth is known."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from demele.core.arrays import Array, Counts, Flags, Floats, pd, rng_for
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.kinds import Classes, Data, Noise, Rate, Seed, checked, checked_rate, checked_whole
from demele.core.labelled import Indices, Vocabulary, common_vocabulary, read_labels, shown, vocabulary
from demele.core.result import Result
from demele.core.table_columns import check_same_order, items_of, number_column
from demele.labels.joined.voting import earliest_voter, plurality
from demele.labels.made.annotators import ArtificialAnnotators, artificial_annotators
from demele.noise.transition import TransitionCounts, TransitionMatrix, counts_document
from demele.report.document import Document, Table
from demele.report.words import count, name, written

#: Votes summed at a time, so that memory stays bounded.
CELLS_AT_ONCE = 1 << 22
#: Shares of instances nearer than this are the same share, written in two ways.
SAME_SHARE = 1e-12


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class NoisyLabels(Result):
    """Labels with noise of known truth.

    Attributes
    ----------
    labels : array of shape (n,)
        The noisy labels, of the kind that came in.
    true_labels : array of shape (n,)
        The labels that came in.
    mislabelled : array of bool of shape (n,)
        Which labels are wrong.
    rate : float
        Share of wrong labels, as realised.
    wanted : float or None
        Share of wrong labels that was asked for; for noise per class, the share that the matrix makes wrong on average.
        None where nothing was asked for.
    highest_rate : float or None
        The highest rate that can be asked for with the same ``y`` and the same annotators. None where no rate is asked.
    counts : TransitionCounts
        Row = true class, column = noisy label, over all n instances.
    source : str or None
        The model whose predictions the labels are, where they are those of one model.
    difficulty : array of shape (n,) or None
        For noise per features: trust in the annotators that get each instance wrong; the most difficult ones are wrong.
    noise : {"uniform", "class", "feature", "model"} or None
        Kind of the noise.
    others : tuple of NoisyLabels
        The same labels with noise at further rates.
    annotators : ArtificialAnnotators or None
        Those that were trained for noise per features.
    """

    _kind = "label noise"
    _files: ClassVar[Mapping[str, str]] = {".annotations.csv": "annotations_frame"}

    labels: Array = field(metadata={"json": False})
    true_labels: Array = field(metadata={"json": False})
    mislabelled: Flags = field(metadata={"json": False})
    rate: float
    counts: TransitionCounts
    wanted: float | None = None
    highest_rate: float | None = None
    source: str | None = None
    difficulty: Floats | None = field(default=None, metadata={"json": False})
    noise: str | None = None
    others: "tuple[NoisyLabels, ...]" = ()
    annotators: ArtificialAnnotators | None = None

    def document(self) -> Document:
        """Return the document on added noise: the number of wrong labels by class, and their confusions."""
        made, counts = counts_document(self.counts, level=None), self.counts
        asked = "" if self.wanted is None else f" (asked for: {written(self.wanted, 'percent')})"
        wrong = f"{written(counts.wrong, 'count')} of {count(counts.n, 'label')} were made wrong"
        source = "" if self.source is None else f"The labels are the predictions of {name(self.source)}."
        most = "" if self.highest_rate is None else written(self.highest_rate, "percent")
        noisy = replace(
            made,
            kind="Label noise",
            title="Label noise",
            headline=f"{wrong}: {written(self.rate, 'percent')}{asked}.",
            sentences=[
                source,
                f"These annotators can make at most {most} of the labels wrong." if most else "",
                "" if self.annotators is None else self.annotators.headline(),
            ],
        )
        if not self.others:
            return noisy
        columns = {"Rate": "percent", "Wrong labels": "percent", "Rows": "count"}
        rates = [(one.wanted, one.rate, one.n) for one in self.versions]
        return replace(noisy, table=Table("Rates", columns, rates), sections=())

    @property
    def n(self) -> int:
        """Number of instances."""
        return int(self.mislabelled.size)

    @property
    def transition(self) -> TransitionMatrix:
        """Share of each noisy label among the instances of each true class; a class without instance counts as right.

        See ``counts`` for the number of labels behind each row.
        """
        return self.counts.to_matrix(empty="right")

    @property
    def versions(self) -> "tuple[NoisyLabels, ...]":
        """The labels at each rate."""
        return self, *self.others

    def to_frame(self) -> "pd.DataFrame":
        """Return a row per label: label (noisy), true and mislabelled; of several rates, columns for each."""
        end = {one: f"_{one.wanted:g}" if self.others else "" for one in self.versions}
        labels = {f"label{end[one]}": one.labels for one in self.versions}
        wrong = {f"mislabelled{end[one]}": one.mislabelled for one in self.versions}
        return pd.DataFrame({**labels, "true": self.true_labels, **wrong})

    def annotations_frame(self) -> "pd.DataFrame":
        """Return what the annotators say, one column each.

        Raises
        ------
        InputError
            If no annotators were trained.
        """
        if self.annotators is None:
            raise InputError("features", "no annotators were trained; annotations are of noise per features")
        # A comma would end the name in FILE::a,b.
        names = [f"{place}: {name.replace(',', ';')}" for place, name in enumerate(self.annotators.names, start=1)]
        return pd.DataFrame(dict(zip(names, self.annotators.predictions, strict=True)))


def add_feature_noise(y: object, annotations: object, rate: float, *, legitimacy: object = None) -> NoisyLabels:
    """Mislabel the instances that artificial annotators find hardest, as they would mislabel them.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.
    annotations : array-like of shape (n_annotators, n), or mapping of name to labels
        What each artificial annotator, such as a classifier, takes each instance for.
    rate : float in [0, 1]
        Share of labels to make wrong: round(rate n) of them.
    legitimacy : array-like of shape (n_annotators,), optional
        Trust in each annotator, >= 0. By default 1 minus the share of instances that it gets wrong.

    Returns
    -------
    NoisyLabels
        Deterministic and nested: with the same annotators, a smaller rate mislabels some of the same instances, in the
        same way. Its ``highest_rate`` is the highest that these annotators can reach.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If the rate cannot be reached, because too few instances are wrong for at least one trusted annotator; the
        message says the highest rate that can.

    Notes
    -----
    Source: Benjelloun, algorithm 2. The difficulty of an instance is the sum of the legitimacies of the annotators that
    get it wrong; the most difficult ones are mislabelled, each as the wrong class with the largest sum of legitimacies.
    Ties: the earlier instance, and the class that the earliest annotator names. The source takes the error of an
    annotator as its legitimacy, which would trust the worst most; here it is 1 minus the error. Time
    O(n n_annotators + n K).

    Examples
    --------
    >>> noisy = add_feature_noise([0, 1, 2, 0], [[0, 2, 2, 0], [0, 2, 1, 0], [1, 1, 2, 0]], 0.25)
    >>> noisy.labels, noisy.rate
    (array([0, 2, 2, 0]), 0.25)
    >>> noisy.highest_rate
    0.75
    """
    true = read_labels(y, "y")
    _, words, coded, votes = _read_votes(annotations, y, true, "annotations", "annotator")
    share, trust = checked_rate(rate, "rate"), (votes == coded).mean(axis=1)
    if legitimacy is not None:
        trust = number_column(legitimacy, "legitimacy", len(votes), "annotator")
    difficulty, mistaken = _most_plausible_mistake(coded, votes, trust, len(words))
    wanted, reachable = round(share * true.size), int(np.count_nonzero(difficulty > 0))
    if wanted > reachable:
        problem = f"{share:g} of {true.size} instances would be {wanted} wrong labels, but only {reachable} instances"
        problem += " are wrong for at least one annotator with legitimacy"
        raise InputError("rate", problem, f"the highest reachable rate is {reachable / true.size:g}")
    mislabelled = np.zeros(true.size, dtype=bool)
    mislabelled[np.argsort(-difficulty, kind="stable")[:wanted]] = True
    noisy = np.where(mislabelled, mistaken, coded).astype(np.int32)
    highest = reachable / true.size
    return noisy_labels(noisy, coded, words, true, wanted=share, highest_rate=highest, difficulty=difficulty)


@checked
def add_model_noise(y: object, predictions: object, rate: Rate | None = None) -> NoisyLabels:
    """Take the predictions of one model for labels, so that the noise follows the features as the model does.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.
    predictions : array-like of shape (n,), or of shape (n_models, n), or mapping of name to predictions
        Predicted classes of one model, or of several to choose from. The source trains its models on the very
        instances that they mislabel.
    rate : float in [0, 1], optional
        Share of wrong labels wanted: the model whose error on ``y`` is nearest to it is taken; of two as near, the
        first. Needed where there are several models.

    Returns
    -------
    NoisyLabels
        ``rate`` is the error of the model, which may be far from the rate wanted; ``source`` names the model;
        ``highest_rate`` is the largest error among the models. Not nested: other models make other mistakes.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If there are several models and no rate, or if lengths differ.

    Notes
    -----
    Source: Benjelloun, section 7.8.1. :func:`add_feature_noise` reaches any rate up to its highest, and its rates are
    nested.

    Examples
    --------
    >>> models = {"tree": [0, 1, 2, 1], "forest": [0, 1, 2, 0], "chance": [2, 0, 1, 0]}
    >>> noisy = add_model_noise([0, 1, 2, 0], models, rate=0.3)
    >>> noisy.source, noisy.rate, noisy.labels
    ('tree', 0.25, array([0, 1, 2, 1]))
    """
    true = read_labels(y, "y")
    several = predictions if _several(predictions) else [predictions]
    models, words, coded, votes = _read_votes(several, y, true, "predictions", "model")
    if rate is None and len(models) > 1:
        raise InputError(
            "rate", f"expected the rate wanted, to choose one of {len(models)} models by its error, got None"
        )
    errors = (votes != coded).mean(axis=1)
    away = np.zeros(len(models)) if rate is None else np.abs(errors - rate)
    chosen = int(np.flatnonzero(away <= away.min() + SAME_SHARE)[0])
    name = models[chosen]
    source = name if isinstance(name, str) else f"model {name}" if len(models) > 1 else None
    highest = None if rate is None else float(errors.max())
    return noisy_labels(votes[chosen], coded, words, true, wanted=rate, highest_rate=highest, source=source)


def noisy_labels(noisy: Indices, coded: Indices, words: Vocabulary, true: Array, **asked: Any) -> NoisyLabels:
    """Return the noisy labels and what they did, from class indices and the true labels as they were read."""
    k = len(words)
    table = np.bincount(coded.astype(np.int64) * k + noisy, minlength=k * k).reshape(k, k)
    mislabelled = noisy != coded
    return NoisyLabels(
        labels=np.array(words.classes, dtype=true.dtype)[noisy],
        true_labels=true,
        mislabelled=mislabelled,
        rate=float(mislabelled.mean()),
        counts=TransitionCounts(table, words.classes, sample_of="labels"),
        **asked,
    )


def _most_plausible_mistake(true: Indices, votes: Indices, trust: Floats, k: int) -> tuple[Floats, Indices]:
    """Return the trust in being wrong, and the wrong class with most trust, of each instance; shape (n,) each.

    Sums run over the annotators in their order, so that they are the same on every machine.
    """
    n = true.size
    difficulty, mistaken = np.zeros(n), np.empty(n, dtype=np.int32)
    for row, weight in zip(votes, trust, strict=True):
        difficulty += np.where(row != true, weight, 0.0)
    step = max(1, CELLS_AT_ONCE // k)
    for start in range(0, n, step):
        part = slice(start, start + step)
        every = np.arange(true[part].size)
        plausible = np.zeros((every.size, k))
        for row, weight in zip(votes, trust, strict=True):
            plausible[every, row[part]] += weight
        plausible[every, true[part]] = -1.0
        mistaken[part] = plurality(plausible, earliest_voter(votes[:, part], k))
    return difficulty, mistaken


def _several(predictions: Any) -> bool:
    """Whether these are the predictions of several models: a mapping, a table, or a list of columns."""
    if isinstance(predictions, list | tuple):
        return len(predictions) > 0 and not isinstance(predictions[0], str) and len(np.shape(predictions[0])) > 0
    return isinstance(predictions, Mapping) or len(getattr(predictions, "shape", ())) > 1


def _read_votes(
    values: Any, y: object, true: Array, argument: str, one: str
) -> tuple[list[Any], Vocabulary, Indices, Indices]:
    """Return the names of annotators (or models), the classes, and true labels and answers as indices of these."""
    shape = f"(n_{one}s, n)"
    if values is None or isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise InputTypeError(argument, f"expected shape {shape}, got {type(values).__name__}")
    if hasattr(values, "columns"):
        raise InputTypeError(argument, f"expected shape {shape}, got a data frame; pass frame.to_numpy().T")
    named = hasattr(values, "items")
    given = dict(values.items() if named else enumerate(items_of(values, argument, f"shape {shape}")))
    called = {which: f"{argument}, {one} {quoted(which)}" for which in given}
    rows = {which: read_labels(row, called[which]) for which, row in given.items()}
    if not rows:
        raise NotEnoughData(argument, f"expected at least 1 {one}, got none")
    for which, row in given.items():
        if rows[which].size != true.size:
            turned = f"; pass {argument}.T" if len(rows) == true.size and not named else ""
            got = f"got {rows[which].size} of {one} {quoted(which)}{turned}"
            raise InputError(argument, f"expected {true.size} labels of each {one}, as many as `y` has, {got}")
        check_same_order(row, y, (called[which], "y"))
    words = common_vocabulary([true, *rows.values()])
    coded = words.encode(true, "y")
    votes = np.stack([words.encode(row, called[which]) for which, row in rows.items()])
    if len(words) < 2:
        raise NotEnoughData(
            "y", f"expected at least 2 classes among `y` and `{argument}`, got only {words.classes[0]!r}"
        )
    return list(rows), words, coded, votes


# Noise that does not look at the instance: uniform, or by a matrix of what each class is taken for --------------------


#: Expected counts are rounded to so many decimals, so that 0.1 + 0.2 ties with 0.3.
DECIMALS = 9
#: A message lists so many classes at most.
_MOST_NAMED = 12
_NAME_THEM = "name them, in TransitionMatrix(matrix, classes=[...]) or the first line of the file"
#: Confusions of one class may sum to so much more than 1, by rounding.
SUM_TOLERANCE = 1e-9


@checked
def add_uniform_noise(
    y: object, rate: Rate, *, classes: Sequence[object] | None = None, exact: bool = True, seed: Seed
) -> NoisyLabels:
    """Mislabel every instance with the same probability, as any other class with the same probability.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.
    rate : float in [0, 1]
        Share of labels to make wrong (p).
    classes : sequence, optional
        All K classes, in the order of the result. By default those of ``y``, sorted.
    exact : bool
        Make exactly round(rate n) labels wrong (a half is rounded to the even number). Else each label is wrong with
        probability ``rate``, independently, so that the number of wrong labels varies.
    seed : int >= 0

    Returns
    -------
    NoisyLabels
        A wrong label is never the true class. Nested: with the same ``y``, classes and seed, a smaller rate mislabels
        some of the same instances, in the same way.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If the rate is no share, if ``y`` has a class that ``classes`` lack, or if there is one class only.

    Notes
    -----
    Source: Benjelloun, section 3.2.2 (uniform noise). Off the diagonal, the expected transition probability is
    rate / (K - 1): it is :func:`add_class_noise` with :func:`symmetric_transition`, except that the exact number of
    wrong labels is over all classes together. Time O(n log n) if exact, else O(n).

    Examples
    --------
    >>> noisy = add_uniform_noise(["cat", "dog", "cat", "owl", "dog"], 0.4, seed=0)
    >>> int(noisy.mislabelled.sum()), noisy.rate
    (2, 0.4)
    >>> bool((noisy.labels[noisy.mislabelled] != noisy.true_labels[noisy.mislabelled]).all())
    True
    """
    true = read_labels(y, "y")
    words = vocabulary(true, classes=classes)
    coded = words.encode(true, "y")
    if len(words) < 2:
        problem = f"expected at least 2 classes, got only {words.classes[0]!r}"
        raise NotEnoughData("y", problem, "give all classes with `classes=[...]`")
    draws = rng_for(seed, "add_uniform_noise", "wrong").random(true.size)
    shifts = rng_for(seed, "add_uniform_noise", "which").integers(1, len(words), true.size, dtype=np.int32)
    if exact:
        wrong = np.zeros(true.size, dtype=bool)
        wrong[np.argsort(draws, kind="stable")[: round(rate * true.size)]] = True
    else:
        wrong = draws < rate
    noisy = np.where(wrong, (coded + shifts) % len(words), coded).astype(np.int32)
    return noisy_labels(noisy, coded, words, true, wanted=rate, highest_rate=1.0)


@checked
def add_class_noise(y: object, transition: object, *, exact: bool = False, seed: Seed) -> NoisyLabels:
    """Draw each label from the confusions of its true class.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.
    transition : TransitionMatrix, TransitionCounts, or array-like or data frame of shape (K, K)
        Row = true class, column = given label; each row sums to 1. Counts stand for their proportions. Named classes
        are matched with those of ``y`` by name, and may be more. K classes without names are those of ``y``, sorted, if
        these are numbers; where they are strings, names are needed.
    exact : bool
        Make the number of instances with true class k and label l as near to n_k T_kl as whole numbers that sum to n_k
        can be (see Notes). Else labels are drawn independently, so that the counts vary.
    seed : int >= 0

    Returns
    -------
    NoisyLabels
        ``wanted`` is the mean rate that the matrix makes of these true classes. A label is wrong only as the matrix
        allows. Nested, with the same ``y``, classes and seed, where the rows of two matrices differ only in how much
        they keep on the diagonal, as those of ``symmetric_transition(classes, rate)`` do for all rates: what keeps
        less mislabels the same instances and others. Their wrong labels are the same too, except, if exact, where the
        wrong labels of a row are not equally likely: a few then change, so that the counts stay nearest.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If the matrix is none, or transposed, or does not have the classes of ``y``.

    Notes
    -----
    Source: Benjelloun, section 6.5.2 (noise per class). One uniform number u per instance: the label is wrong where
    u >= T_kk; which wrong label is drawn from the rest of row k.
    If exact, each row is rounded by largest remainders: n_k T_kl is rounded down, and what is left of n_k goes to the
    largest fractional parts; among equal ones the right label first, then an order of the classes drawn at random. The
    instances with the largest u of each class are wrong. As rounding is within classes, many small classes can leave
    the rate over all instances far from the one wanted: for that, use ``exact=False``, or :func:`add_uniform_noise`.
    Time O(n log n + K^2 log K); no table of n rows and K columns is made.

    Examples
    --------
    >>> confusions = asymmetric_transition(["cat", "dog"], {("cat", "dog"): 0.25})
    >>> noisy = add_class_noise(["cat"] * 8 + ["dog"] * 2, confusions, exact=True, seed=0)
    >>> noisy.counts.to_frame()
    given  cat  dog
    true
    cat      6    2
    dog      0    2
    """
    true = read_labels(y, "y")
    matrix, words = _read_transition(transition, vocabulary(true))
    coded = words.encode(true, "y")
    draws = rng_for(seed, "add_class_noise", "wrong").random(true.size)
    if exact:
        ranks = np.tile(np.arange(len(words), dtype=np.int64), (len(words), 1))
        order = rng_for(seed, "add_class_noise", "ties").permuted(ranks, axis=1)
        noisy = _rounded(coded, matrix.probabilities, draws, order)
    else:
        which = rng_for(seed, "add_class_noise", "which").random(true.size)
        noisy = _drawn(coded, matrix.probabilities, draws, which)
    shares = np.bincount(coded, minlength=len(words)) / true.size
    return noisy_labels(noisy, coded, words, true, wanted=float(shares @ (1 - np.diag(matrix.probabilities))))


def symmetric_transition(classes: Sequence[object] | int, rate: float) -> TransitionMatrix:
    """Return the matrix of uniform noise: every class is mislabelled at one rate, as any other with one probability.

    Parameters
    ----------
    classes : sequence of int or str, or int
        Names of the K >= 2 classes; a number K stands for 0 .. K-1.
    rate : float in [0, 1]
        Probability of a wrong label.

    Returns
    -------
    TransitionMatrix
        1 - rate on the diagonal, rate / (K - 1) elsewhere (Benjelloun, figure 3.2).

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If there are fewer than 2 classes, or the rate is no share.

    Examples
    --------
    >>> symmetric_transition(["cat", "dog", "owl"], 0.2).to_frame()
    given  cat  dog  owl
    true
    cat    0.8  0.1  0.1
    dog    0.1  0.8  0.1
    owl    0.1  0.1  0.8
    """
    words, share = _read_classes(classes), checked_rate(rate, "rate")
    table = np.full((len(words), len(words)), share / (len(words) - 1))
    np.fill_diagonal(table, 1 - share)
    return TransitionMatrix(table, words.classes)


def asymmetric_transition(classes: Sequence[object] | int, confusions: Mapping[Any, Any]) -> TransitionMatrix:
    """Return the matrix of chosen confusions; all other labels are correct.

    Parameters
    ----------
    classes : sequence of int or str, or int
        Names of the K >= 2 classes; a number K stands for 0 .. K-1.
    confusions : mapping
        Probability in [0, 1] of each confusion, written ``{("cat", "dog"): 0.1}`` (true class, given label) or
        ``{"cat": {"dog": 0.1, "owl": 0.05}}``; for one confusion of a class also ``{"cat": ("dog", 0.1)}``.

    Returns
    -------
    TransitionMatrix
        The diagonal is what each row leaves.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If a class is unknown or confused with itself, or if the confusions of a class sum to more than 1.

    Notes
    -----
    Source: Benjelloun, section 6.5.2 (the example of a noise matrix).

    Examples
    --------
    >>> asymmetric_transition(["horse", "deer"], {("horse", "deer"): 0.1, ("deer", "horse"): 0.05}).to_frame()
    given  horse  deer
    true
    horse   0.90  0.10
    deer    0.05  0.95
    """
    words = _read_classes(classes)
    table = np.zeros((len(words), len(words)))
    for true, given, value in _confusions(confusions):
        row, column = words.index(true, "confusions"), words.index(given, "confusions")
        if row == column:
            problem = f"expected two different classes, got {quoted(true)} twice"
            raise InputError("confusions", problem, "the confusions leave the probability of the right label")
        if table[row, column]:
            got = f"{quoted(true)} as {quoted(given)} more than once"
            raise InputError("confusions", f"expected each confusion once, got {got}")
        name = f"confusions, {quoted(true)} as {quoted(given)}"
        table[row, column] = checked_rate(value, name, f"the instances of {quoted(true)}")
    sums = table.sum(axis=1)
    over = np.flatnonzero(sums > 1 + SUM_TOLERANCE)
    if over.size:
        got = f"{sums[over[0]]:g} for {words.classes[over[0]]!r}"
        raise InputError("confusions", f"expected probabilities that sum to at most 1 for each true class, got {got}")
    np.fill_diagonal(table, np.maximum(1 - sums, 0.0))
    return TransitionMatrix(table, words.classes)


def _drawn(coded: Indices, probabilities: Floats, draws: Floats, which: Floats) -> Indices:
    """Draw each label from its row, independently."""
    noisy = coded.copy()
    wrong = np.flatnonzero(draws >= np.diag(probabilities)[coded])
    wrong = wrong[np.argsort(coded[wrong], kind="stable")]
    present, starts = np.unique(coded[wrong], return_index=True)
    for k, rows in zip(present, np.split(wrong, starts)[1:], strict=True):
        others = probabilities[k].copy()
        others[k] = 0.0
        # From the right, a label without probability is never found: its step of the sum has no width.
        steps = np.cumsum(others)
        noisy[rows] = np.searchsorted(steps / steps[-1], which[rows], side="right")
    return noisy


def _rounded(coded: Indices, probabilities: Floats, draws: Floats, order: Counts) -> Indices:
    """Give each row of instances of one class the labels whose counts are nearest to those expected.

    ``order`` of shape (K, K) ranks the labels of each row, for ties.
    """
    k = len(probabilities)
    sizes = np.bincount(coded, minlength=k)
    order = order.copy()
    np.fill_diagonal(order, -1)
    # Round sizes x probabilities so that each row sums to its size; equal remainders in their order
    expected = np.round(sizes[:, None] * probabilities, DECIMALS)
    cells = np.floor(expected).astype(np.int64)
    left = sizes - cells.sum(axis=1)
    first = np.lexsort((order, cells - expected), axis=1)
    more = np.arange(len(sizes)) < left[:, None]
    np.put_along_axis(cells, first, np.take_along_axis(cells, first, axis=1) + more, axis=1)
    n_wrong = sizes - np.diag(cells)
    np.fill_diagonal(cells, 0)
    # Within each class, the wrong labels go to the largest draws first.
    ranked = np.lexsort((-draws, coded))
    rank = np.arange(coded.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = ranked[rank < np.repeat(n_wrong, sizes)]
    # One entry per wrong label, in an order in which a smaller number of them is the beginning of a larger.
    cell = np.repeat(np.arange(k * k), cells.ravel())
    nth = np.arange(cell.size) - np.repeat(np.cumsum(cells) - cells.ravel(), cells.ravel())
    due = (nth + 0.5) / probabilities.ravel()[cell]
    sequence = np.lexsort((order.ravel()[cell], due, cell // k))
    noisy = coded.copy()
    noisy[rows] = cell[sequence] % k
    return noisy


def _read_transition(transition: Any, own: Vocabulary) -> tuple[TransitionMatrix, Vocabulary]:
    """Return the matrix, and the classes of its rows: all that it names, or those of y."""
    if isinstance(transition, TransitionMatrix):
        matrix = transition
    elif isinstance(transition, TransitionCounts):
        if (transition.counts.sum(axis=1) == 0).any():
            remedy = "to suppose that they are right, write 1 on their diagonal (counts.to_matrix(empty='right'))"
            raise NotEnoughData(
                "transition", "how true classes that were never counted are labelled is unknown", remedy
            )
        matrix = transition.to_matrix()
    else:
        try:
            matrix = TransitionMatrix(transition)
        except InputError as error:
            raise type(error)("transition", str(error)) from error
    if matrix.classes is None:
        if matrix.k != len(own):
            problem = f"its {matrix.k} classes have no names, and `y` has {len(own)} classes: {shown(own.classes)}"
            raise InputError("transition", problem, _NAME_THEM)
        if isinstance(own.classes[0], str):
            problem = "its classes have no names, and those of `y` have, so that its rows may be in any order"
            order = f"in sorted order they are {shown(own.classes, _MOST_NAMED)}"
            raise InputError("transition", problem, f"{_NAME_THEM}; {order}")
        return matrix, own
    known = set(matrix.classes)
    missing = [name for name in own.classes if name not in known]
    if missing:
        problem = f"its classes {shown(matrix.classes)} lack {shown(missing)}, which `y` has"
        raise InputError("transition", problem, "name the classes of the matrix as `y` does")
    return matrix, Vocabulary(matrix.classes)


def _read_classes(classes: Any) -> Vocabulary:
    if isinstance(classes, int | np.integer) and not isinstance(classes, bool):
        most = 1 << 20  # a table of so many takes more memory than machines have
        expected = f"their names, or a number up to {most}"
        words = Vocabulary(tuple(range(checked_whole(classes, "classes", expected, inside=lambda k: k <= most))))
    elif classes is None:
        raise InputTypeError("classes", "expected the names of the classes, or their number, got None")
    else:
        words = vocabulary(np.empty(0), classes=classes)
    if len(words) < 2:
        raise NotEnoughData("classes", f"expected at least 2 classes, got {quoted(classes)}")
    return words


def _confusions(confusions: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Return (true class, given label, probability) of each confusion, however they were written."""
    forms = "{(true, given): probability} or {true: {given: probability}}"
    if not isinstance(confusions, Mapping):
        raise InputTypeError("confusions", f"expected a mapping {forms}, got {type(confusions).__name__}")
    for key, value in confusions.items():
        if isinstance(key, tuple) and len(key) == 2:
            yield key[0], key[1], value
        elif isinstance(value, Mapping):
            for given, probability in value.items():
                yield key, given, probability
        elif isinstance(value, tuple) and len(value) == 2:
            yield key, value[0], value[1]
        else:
            raise InputTypeError("confusions", f"expected a mapping {forms}, got {quoted(key)}: {quoted(value)}")


# Any kind of noise, by one call ---------------------------------------------------------------------------------------

NoiseKind = Literal["uniform", "class", "feature", "model"]
#: The kind of noise that each argument makes.
_MAKES = {
    **dict.fromkeys(("transition", "symmetric"), "class"),
    **dict.fromkeys(("features", "annotations"), "feature"),
    "predictions": "model",
}


@checked
def add_noise(
    labels: object,
    noise: Noise = None,
    *,
    kind: NoiseKind | None = None,
    symmetric: bool = False,
    features: Data = None,
    predictions: Data = None,
    annotations: Data = None,
    legitimacy: object = None,
    n_annotators: int = 100,
    approximate: bool = False,
    classes: Classes = None,
    seed: int = 0,
    n_jobs: int = 1,
) -> NoisyLabels:
    """Make labels wrong, with known truth: at random, per class, per features, or as models predict.

    Parameters
    ----------
    labels : array-like of shape (n,)
        True classes.
    noise : float, sequence of float, TransitionMatrix, TransitionCounts, or array of shape (K, K)
        Share of labels to make wrong, several shares, or a transition matrix. Of several shares, the smaller ones are
        nested in the larger. Needed, but for noise as models predict.
    kind : {"uniform", "class", "feature", "model"}, optional
        Kind of the noise (default: by what is given).
    symmetric : bool
        Confuse each class with any other, with the same probability.
    features : array-like of shape (n, d), optional
        Features on which artificial annotators are trained.
    predictions : mapping of str to array-like of shape (n,), optional
        Predicted classes of models. Of several, the one whose error is nearest to the rate.
    annotations : mapping of str to array-like of shape (n,), optional
        Answers of artificial annotators.
    legitimacy : array-like of shape (n_annotators,), optional
        Trust in each annotator, >= 0. By default 1 minus the share of instances that it gets wrong.
    n_annotators : int
        Artificial annotators to train.
    approximate : bool
        Draw each label by itself. The number of wrong labels then varies.
    classes : sequence, optional
        All classes (default: those of the labels).
    seed : int
        Random seed.
    n_jobs : int
        Processes, -1 for all processors.

    Returns
    -------
    NoisyLabels
        At the first share; ``others`` are at the further ones.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Examples
    --------
    >>> from demele import labels
    >>> y = ["cat", "dog"] * 50
    >>> noisy = labels.add_noise(y, 0.1, seed=0)
    >>> noisy.noise, noisy.rate, int((noisy.labels != noisy.true_labels).sum())
    ('uniform', 0.1, 10)
    >>> [one.rate for one in labels.add_noise(y, [0.1, 0.2]).versions]
    [0.1, 0.2]
    >>> cats = labels.TransitionMatrix([[0.8, 0.2], [0.0, 1.0]], ["cat", "dog"])
    >>> labels.add_noise(y, cats).transition.probability(true="cat", given="dog")
    0.2
    """
    is_matrix = isinstance(noise, TransitionMatrix | TransitionCounts) or getattr(noise, "ndim", 0) == 2
    given = {
        "transition": is_matrix,
        "symmetric": symmetric,
        "features": features is not None,
        "annotations": annotations is not None,
        "predictions": predictions is not None,
    }
    makers = [name for name, there in given.items() if there]
    if len(makers) > 1:
        raise InputError(makers[1], f"{makers[0]} is given too; one of them makes the noise")
    found = _MAKES[makers[0]] if makers else kind or "uniform"
    if kind not in (None, found):
        raise InputError("kind", f"{makers[0]} makes noise of the kind {found}, got {kind}; leave one of them out")
    if not makers and found != "uniform":
        raise InputError("kind", f"{found} needs {' or '.join(name for name, of in _MAKES.items() if of == found)}")
    listed = list(noise) if isinstance(noise, list | tuple) else [noise]
    rates: list[Any] = [] if is_matrix or noise is None else [checked_rate(rate, "noise") for rate in listed]
    if not rates and found != "model" and not is_matrix:
        raise InputError("noise", "expected the share of labels to make wrong; pass `noise=0.05`")
    annotators, exact = None, not approximate
    known = classes if classes is not None else sorted(set(read_labels(labels, "labels").tolist()))
    if is_matrix:
        versions = [add_class_noise(labels, noise, exact=exact, seed=seed)]
    elif found == "uniform":
        versions = [add_uniform_noise(labels, rate, classes=known, exact=exact, seed=seed) for rate in rates]
    elif symmetric:
        matrices = [symmetric_transition(known, rate) for rate in rates]
        versions = [add_class_noise(labels, matrix, exact=exact, seed=seed) for matrix in matrices]
    elif found == "model":
        versions = [add_model_noise(labels, predictions, rate) for rate in rates or [None]]
    else:
        answers: Any = annotations
        if features is not None:
            annotators = artificial_annotators(features, labels, n_annotators=n_annotators, seed=seed, n_jobs=n_jobs)
            answers = annotators.predictions
        versions = [add_feature_noise(labels, answers, rate, legitimacy=legitimacy) for rate in rates]
    first, *others = (replace(one, noise=found) for one in versions)
    return replace(first, others=tuple(others), annotators=annotators)
