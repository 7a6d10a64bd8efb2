"""Methods that are compared, demele's and your own, the pairs that each is asked about, and varied classifiers."""

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Annotated, Any, Literal, get_args

import numpy as np

from demele.classifiers.comparison.methods import METHODS
from demele.classifiers.measures.bias import indicator_counts
from demele.classifiers.question import Question
from demele.core.arrays import Array, Flags, Floats, Integers, Rows, pd, rng_for
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.kinds import Fraction, Share, at_least, between, checked_name, kind_of
from demele.core.labelled import Indices, Labelled
from demele.core.proportions import proportion
from demele.core.table_columns import items_of
from demele.labels.made.annotators import draw_eyes, draw_model, fitted_predictions
from demele.noise.transition import TransitionCounts

MeasureName = Literal["accuracy", "precision", "recall", "f1"]
Reference = Literal["overlap", "paired", "sample"]
#: What verdicts can be held against, and how texts call it.
REFERENCES = {
    "overlap": "the overlap of the two score intervals on true labels",
    "paired": "McNemar's exact test on true labels",
    "sample": "the larger value on the true labels of these instances",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A measure, and the class (by index) that a precision, recall or f1 is of."""

    measure: MeasureName
    of: int | None
    #: As users and tables write it, such as ``recall of cat``.
    text: str


@dataclass(frozen=True, slots=True)
class Decided:
    """What a method says of every ordered pair: which is shown to be better; never both.

    ``labels_asked`` is how many expert labels a pair cost on average, those shared by all pairs included.
    """

    candidate: Flags
    baseline: Flags
    labels_asked: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One noisy version of a test set with all ordered pairs of its classifiers.

    Attributes
    ----------
    data : Labelled
        Noisy labels and predictions, shape (n_models, n).
    true_labels : array of int of shape (n,)
        Used only by simulated experts and cleanings; methods do not see them.
    rate : float
        Share of wrong labels, as realised.
    difficulty : array of shape (n,) or None
        The ranking of instances that artificial annotators gave, if they made the noise: larger is harder.
    """

    data: Labelled
    true_labels: Indices
    rate: float
    asked: Asked
    level: float
    difficulty: Floats | None
    seed: int

    @cached_property
    def pairs(self) -> Rows:
        """All ordered pairs (baseline, candidate), shape (n_pairs, 2): the square of models without its diagonal."""
        return np.argwhere(~np.eye(len(self.data.names), dtype=np.bool_))

    @cached_property
    def transition(self) -> TransitionCounts:
        """The noise of these very labels, counted."""
        k = self.data.k
        flat = np.bincount(self.true_labels.astype(np.int64) * k + self.data.labels, minlength=k * k)
        return TransitionCounts(flat.reshape(k, k), self.data.vocabulary.classes, sample_of="labels")

    def question(self, **known: Any) -> Question:
        """Ask about all pairs, telling a method what is given."""
        options = {"level": self.level, "measure": self.asked.measure, "of": self.asked.of, "seed": self.seed, **known}
        return Question(data=self.data, baseline=self.pairs[:, 0], candidate=self.pairs[:, 1], **options)

    def decided(self, method: str, **known: Any) -> Decided:
        """Return what one of demele's methods says of all pairs."""
        outcomes = METHODS[method](self.question(**known))
        return Decided(outcomes.candidate, outcomes.baseline)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A comparison method with its options, as it takes part.

    Attributes
    ----------
    name : str
        As it is asked for, and what results are kept under, such as ``audit(labels=500)``.
    family : str
        The method without its options.
    decide : callable
        Setting -> Decided.
    inputs : str
        Its inputs in addition to predictions and noisy labels.
    measures : tuple of str
        What it can compare.
    function : callable, optional
        Of the user's, if it is none of demele's.
    """

    name: str
    family: str
    decide: Callable[[Setting], Decided]
    inputs: str = "nothing"
    measures: tuple[str, ...] = get_args(MeasureName)
    function: Callable[..., Any] | None = None

    @property
    def title(self) -> str:
        """What tables and pictures call it."""
        return self.name if self.function else self.name.replace("(", " (").replace("'", "")


# Your own methods -----------------------------------------------------------------------------------------------------


_VERDICTS = ("baseline", "candidate", "inconclusive")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Inputs of your own comparison method, in addition to predictions and noisy labels.

    Attributes
    ----------
    rate : float
        Share of wrong labels, as realised.
    transition : TransitionCounts
        The noise of these very labels, counted: row = true class.
    measure, of : str, class or None
        What is compared.
    level : float
    seed : int
    predictions : array of shape (n_models, n)
        Of all classifiers of the run.
    expert : callable
        ``expert(rows)`` returns the true labels of some rows; every row counts as an expert label.
    """

    rate: float
    transition: TransitionCounts
    measure: str
    of: int | str | None
    level: float
    seed: int
    predictions: Array
    expert: Callable[[Any], Array]


def own_contender(function: Callable[..., Any], *, name: str | None, taken: Sequence[str]) -> Contender:
    """Return a contender for a function.

    Raises
    ------
    InputTypeError, InputError
        If it cannot be called with (baseline, candidate, labels), its name is taken, or its attribute ``measures``
        lists what is no measure.
    """
    wants_known = _wants_known(function)
    base = getattr(function, "__name__", type(function).__name__)
    free = name or ("own" if base == "<lambda>" else base)
    if free in taken:
        if name is not None:
            raise InputError("methods", f"{free!r} is the name of another method of this run; give yours another name")
        free = next(f"{free} {number}" for number in range(2, 10_000) if f"{free} {number}" not in taken)
    every = get_args(MeasureName)
    measures = getattr(function, "measures", every if wants_known else ("accuracy",))
    listed = (measures,) if isinstance(measures, str) else measures
    if not isinstance(listed, list | tuple) or not listed or any(one not in every for one in listed):
        problem = f"the attribute measures of {free!r} must list some of {', '.join(every)}; got {quoted(measures)}"
        raise InputError("methods", problem)
    return Contender(
        name=free,
        family="own",
        decide=partial(_of_every_pair, function, free, wants_known),
        inputs="its parameters" if wants_known else "nothing",
        measures=tuple(listed),
        function=function,
    )


def _wants_known(function: Callable[..., Any]) -> bool:
    try:
        signature = inspect.signature(function)
    except ValueError:  # a compiled function need not say what it takes
        return False
    wants = "known" in signature.parameters
    try:
        signature.bind(None, None, None, **({"known": None} if wants else {}))
    except TypeError as error:
        name = getattr(function, "__name__", function)
        problem = f"{name!r} cannot be called with (baseline, candidate, labels): {error}"
        raise InputTypeError("methods", problem) from error
    return wants


def _of_every_pair(function: Callable[..., Any], name: str, wants_known: bool, setting: Setting) -> Decided:
    """Ask a function about every pair in turn, and count the rows that each pair asked the expert for."""
    data = setting.data
    words = np.array(data.vocabulary.classes)
    labels, truth, predictions = words[data.labels], words[setting.true_labels], words[data.predictions]
    for array in (labels, predictions):
        array.setflags(write=False)  # a method that writes into its input would spoil the next pair's
    place, seen = 0, set[tuple[int, int]]()

    def expert(rows: Any) -> Array:
        chosen = np.arange(truth.size)[np.atleast_1d(np.asarray(rows))]
        seen.update((place, row) for row in chosen.tolist())
        return np.asarray(truth[chosen])

    known = Known(
        rate=setting.rate,
        transition=setting.transition,
        measure=setting.asked.measure,
        of=None if setting.asked.of is None else data.vocabulary.classes[setting.asked.of],
        level=setting.level,
        seed=setting.seed,
        predictions=predictions,
        expert=expert,
    )
    verdicts = []
    more = {"known": known} if wants_known else {}
    for place, (first, second) in enumerate(setting.pairs):  # noqa: B007 the expert counts by it
        try:
            said = function(predictions[first], predictions[second], labels, **more)
        except Exception as error:
            pair = f"baseline {data.names[first]!r}, candidate {data.names[second]!r}, noise rate {setting.rate:g}"
            raise InputError("methods", f"{name!r} raised {type(error).__name__}: {error} ({pair})") from error
        said = getattr(said, "verdict", said)
        if isinstance(said, bool | np.bool_):  # whether the candidate is taken
            said = "candidate" if said else "inconclusive"
        if said not in _VERDICTS:
            expected = f"one of {', '.join(_VERDICTS)}, True, or a Decision"
            raise InputError("methods", f"{name!r} must return {expected}; got {quoted(said)}")
        verdicts.append(said)
    found = np.array(verdicts)
    return Decided(found == "candidate", found == "baseline", len(seen) / max(1, len(verdicts)))


# demele's methods -----------------------------------------------------------------------------------------------------


Inference = Literal["overlap", "sample", "population"]
Noise = Literal["rate", "transition"]
Labels = Annotated[int, at_least(2)]
Error = Annotated[float, between(0, 0.5, "()")]


def _noise(setting: Setting, noise: Noise) -> Any:
    """Return the noise that a method gets: a precision or a recall needs more than the rate."""
    return setting.transition if noise == "transition" or setting.asked.measure != "accuracy" else setting.rate


def _worst_case_overlap(setting: Setting, noise: Noise = "rate") -> Decided:
    return setting.decided("worst-case-overlap", noise=_noise(setting, noise))


def _hard_rows(
    setting: Setting, prudence: Fraction = 0.1, difficulty: Literal["annotators", "disagreement"] = "annotators"
) -> Decided:
    from demele.noise.audit import disagreement

    given = None if difficulty == "disagreement" else setting.difficulty
    ranking = disagreement(setting.data.predictions) if given is None else given
    return setting.decided("hard-rows", difficulty=ranking, prudence=prudence)


def _cleaned(setting: Setting, s: Share = 0.6, e: Share = 0.1, c: Share | None = None) -> Decided:
    from demele.labels.cleaned.cleaning import simulated_cleaning

    rates: dict[str, Any] = {"detected": s, "false_alarms": e, "corrected": c, "seed": setting.seed}
    found = simulated_cleaning(setting.data.labels, setting.true_labels, **rates)
    suggested = None if found.suggested is None else found.suggested.astype(np.int32)
    return setting.decided("cleaned", suspects=found.suspect, suggested=suggested)


def _worst_case(setting: Setting, noise: Noise = "rate", inference: Inference = "overlap") -> Decided:
    return setting.decided("worst-case", noise=_noise(setting, noise), inference=inference)


def _agreement(setting: Setting) -> Decided:
    """Each pair is judged by a third classifier: the next one in the order of the models."""
    pairs, m = setting.pairs, len(setting.data.names)
    third = (pairs.max(axis=1) + 1) % m
    third = np.where(third == pairs.min(axis=1), (third + 1) % m, third)
    candidate, baseline = np.zeros(len(pairs), dtype=bool), np.zeros(len(pairs), dtype=bool)
    for model in np.unique(third):
        here = np.flatnonzero(third == model)
        asked = setting.question(reference=setting.data.predictions[model])
        outcomes = METHODS["agreement"](replace(asked, baseline=asked.baseline[here], candidate=asked.candidate[here]))
        candidate[here], baseline[here] = outcomes.candidate, outcomes.baseline
    return Decided(candidate, baseline)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cautious(Question):
    """A question whose claims err more rarely than its level: that one stays the level of the overlapping intervals."""

    error: float

    @property
    def tail(self) -> float:
        """Error allowed to each of the two claims."""
        return self.error


def _audit(
    setting: Setting,
    labels: Labels = 500,
    design: Literal["weighted", "uniform"] = "weighted",
    error: Error = 0.001,
    inference: Inference = "overlap",
) -> Decided:
    from demele.noise.audit import disagreement, draw_audit

    n = setting.data.n
    size = min(int(labels), n)
    doubts = disagreement(setting.data.predictions) if design == "weighted" else None
    plan = draw_audit(n, size, disagreement=doubts, seed=setting.seed)
    expert = plan.answered(setting.true_labels[plan.rows])
    coded = expert.coded(type(setting.data.vocabulary)(tuple(range(setting.data.k))), n)
    asked = setting.question(audit=coded, inference=inference)
    known = {field.name: getattr(asked, field.name) for field in fields(asked)}
    outcomes = METHODS["audit"](_Cautious(**known, error=error))
    return Decided(outcomes.candidate, outcomes.baseline, float(size))


def _sequential(
    setting: Setting, cap: Labels = 1000, error: Error = 0.001, inference: Inference = "overlap"
) -> Decided:
    from demele.classifiers.comparison.sequential_plan import sequential_many

    options: dict[str, Any] = {"alpha": error, "inference": inference, "level": setting.level, "cap": int(cap)}
    found, asked = sequential_many(
        setting.data.labels,
        setting.data.predictions,
        setting.pairs,
        setting.true_labels,
        wrong=int(setting.rate * setting.data.n + 1e-9),
        seed=setting.seed,
        **options,
    )
    # "Baseline better" is the same claim with the roles exchanged.
    different = ~np.eye(len(setting.data.names), dtype=np.bool_)
    square = np.zeros_like(different)
    square[different] = found
    return Decided(found, square.T[different] & ~found, float(asked.mean()))


#: The methods that can take part, and the inputs of each; their options, what these can be and their usual values are
#: those of a function.
_FAMILIES: dict[str, tuple[Callable[..., Decided], str]] = {
    "overlap": (lambda setting: setting.decided("overlap"), "nothing"),
    "worst-case-overlap": (_worst_case_overlap, "the noise"),
    "hard-rows": (_hard_rows, "a ranking of the instances"),
    "cleaned": (_cleaned, "a simulated cleaning"),
    "agreement": (_agreement, "a third classifier"),
    "worst-case": (_worst_case, "the noise"),
    "audit": (_audit, "expert labels of one sample"),
    "sequential": (_sequential, "expert labels, one at a time; the noise rate"),
}
#: Simulated cleanings of the source's table 6.3: detected, false alarms.
CLEANINGS = ("s=0.75, e=0.25", "s=0.6, e=0.1", "s=0.9, e=0.4", "s=0.6, e=0.4", "s=0.9, e=0.6", "s=0.4, e=0.1")
#: Each without correction, then corrected with these probabilities.
CORRECTIONS = ("", ", c=0.25", ", c=0.5", ", c=0.75")


def comparison_methods() -> tuple[str, ...]:
    """Return the names of the default methods of :func:`check_methods`: all of demele, with the source's cleanings.

    Returns
    -------
    tuple of str
        A name with options is written as a call, such as ``"audit(labels=250)"``; other values may be asked for.

    Examples
    --------
    >>> comparison_methods()[:3]
    ('overlap', 'worst-case-overlap', 'hard-rows')
    """
    return (
        "overlap",
        "worst-case-overlap",
        "hard-rows",
        "worst-case",
        "worst-case(noise='transition')",
        "audit",
        "audit(labels=100)",
        "audit(labels=250)",
        "sequential",
        "agreement",
        *(f"cleaned({rates}{corrected})" for rates in CLEANINGS for corrected in CORRECTIONS),
    )


def contender(name: str) -> Contender:
    """Return a method of the library by its name and options.

    Raises
    ------
    UnknownNameError, InputError
        If there is no such method or option, or an option has no such value.
    """
    family, _, inside = name.strip().partition("(")
    decide, inputs = _FAMILIES[checked_name(family := family.strip(), "methods", _FAMILIES)]
    _, *known = inspect.signature(decide).parameters.values()
    try:
        call = ast.parse(f"dict({inside or ')'}", mode="eval").body
        words = call.keywords if isinstance(call, ast.Call) and not call.args else [ast.keyword(None, call)]
        given = {str(word.arg): ast.literal_eval(word.value) for word in words}
    except (SyntaxError, ValueError) as error:
        raise InputError("methods", f"expected options such as audit(labels=250), got {quoted(name)}") from error
    for option, value in given.items():
        found = next((one for one in known if one.name == option), None)
        if found is None:
            names = ", ".join(one.name for one in known) or "none"
            raise InputError("methods", f"{family!r} takes the options {names}; got {option!r} in {name!r}")
        kind = kind_of(found.annotation)
        if kind is not None and kind.check is not None:
            kind.check(value, f"methods, {name}: {option}")
    options: dict[str, Any] = {one.name: given.get(one.name, one.default) for one in known}
    # a cleaning is known by its rates, the usual ones too
    told = [
        f"{one.name}={options[one.name]!r}"
        for one in known
        if options[one.name] != (None if family == "cleaned" else one.default)
    ]
    return Contender(
        name=f"{family}({', '.join(told)})" if told else family,
        family=family,
        decide=partial(decide, **options),
        inputs=inputs,
        measures=tuple(one for one in METHODS[family].measures if one in get_args(MeasureName)),
    )


def chosen_contenders(methods: object) -> tuple[Contender, ...]:
    """Return the contenders for names and functions, each once; None is every method of the library.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError
    """
    if methods is None:
        methods = comparison_methods()
    if isinstance(methods, str | Contender) or callable(methods):
        methods = [methods]
    named = (
        list(methods.items())
        if isinstance(methods, Mapping)
        else [(None, one) for one in items_of(methods, "methods", "names or functions")]
    )
    chosen: dict[str, Contender] = {}
    for name, method in named:
        if not isinstance(method, Contender | str) and not callable(method):
            problem = f"expected a name or a function (baseline, candidate, labels), got {quoted(method)}"
            raise InputTypeError("methods", problem)
        found = contender(method) if isinstance(method, str) else method
        if not isinstance(found, Contender):
            own = None if name is None else str(name)
            found = own_contender(found, name=own, taken=[*_FAMILIES, *chosen])
        chosen.setdefault(found.name, found)
    if not chosen:
        raise InputError("methods", "expected at least one name or function, got none")
    return tuple(chosen.values())


def reference_choice(setting: Setting, reference: str = "overlap") -> Decided:
    """Compare all pairs of a setting without noise, by one of :data:`REFERENCES`.

    ``"overlap"``: the two score intervals are apart. ``"paired"``: McNemar's exact test, one-sided at half of what the
    level leaves, as the paired worst case without noise; of accuracy alone. ``"sample"``: the value is larger.
    """
    if reference == "paired":
        return setting.decided("worst-case", noise=0.0, inference="population")
    if reference == "sample":
        first, second = setting.question().observed()
        return Decided(second > first, first > second)  # a value that is undefined is neither
    return setting.decided("overlap")


# The classifiers that methods of comparison are measured on -----------------------------------------------------------

#: Share of the training instances that the least trained classifiers learn from.
LEAST_SHARE = 0.1
#: Handicap of the sight of the weakest classifiers, of 1.
MOST_HANDICAP = 0.4
#: Instances of each class that are left to learn from, where there are as many.
LEAST_OF_CLASS = 3
#: Classifiers whose indicators have a smaller mean squared distance do the same: the source's tau.
NEAR = 1e-4


def candidate_classifier(
    table: Floats, labels: Integers, folds: Integers, seed: int, index: int
) -> tuple[str, Indices]:
    """Train one varied classifier on noisy labels, and predict every instance by a model that was not trained on it.

    A pure function of its arguments, so that candidates can be trained in any order, anywhere, and stored.

    Parameters
    ----------
    table : array of shape (n, d)
        Finite features.
    labels : array of int of shape (n,)
        The labels to learn from, right or wrong, as class indices.
    folds : array of int of shape (n,)
        Number of the fold of each instance. For each fold, the model is trained on the other folds and predicts this
        one; features are standardised by the instances trained on.
    seed : int
        At least 0.
    index : int
        Which candidate, >= 0. Model, hyperparameters, handicaps and their random draws depend on the seed, on it and
        on sizes only, never on which labels are wrong: a candidate can be compared with itself trained on others.

    Returns
    -------
    name : str
        The model, what it sees, and what it learns from.
    predictions : array of int32 of shape (n,)
        Out of fold.

    Raises
    ------
    NotEnoughData
        For a training part with one class only, or as many as rows.

    Notes
    -----
    Source: Benjelloun, section 6.5.3. There, varied convolutional networks are trained on one split of CIFAR-10 into
    80% and 20%; those kept are right on 55 to 90% of the test instances. Here every instance is a test instance, and
    models of scikit-learn are weakened to reach such a range: few features, blur, few training instances (a share from
    10% to all, drawn log-uniformly within each class), little capacity. Blur is drawn once per candidate and instance.

    Examples
    --------
    >>> features = np.random.default_rng(0).normal(size=(200, 4))
    >>> labels = (features[:, 0] > 0).astype(int)
    >>> name, predictions = candidate_classifier(features, labels, np.arange(200) % 5, seed=0, index=2)
    >>> name, predictions.shape
    ('decision tree 2: 4 features, blur 0.35, 39% of the instances', (200,))
    """
    n, d = table.shape
    rng = rng_for(seed, "classifier", index)
    share = float(np.exp(rng.uniform(np.log(LEAST_SHARE), 0.0)))
    eyes = draw_eyes(rng, n, d)
    handicap = MOST_HANDICAP * float(rng.uniform())
    order = rng.permutation(n)
    numbers = np.unique(folds)
    fewest = int(share * (n - np.bincount(np.searchsorted(numbers, folds)).max()))
    family, model = draw_model(rng, max(2, fewest), d, int(np.unique(labels).size))
    predictions = np.empty(n, dtype=np.int32)
    for number in numbers:
        tested = np.flatnonzero(folds == number)
        rows = order[folds[order] != number]
        # Keep the first share of the rows of each class, and at least LEAST_OF_CLASS of them where there are as many
        own = pd.Series(labels[rows])
        rank = own.groupby(own).cumcount().to_numpy()
        size = own.groupby(own).transform("size").to_numpy()
        trained = np.sort(rows[rank < np.maximum(LEAST_OF_CLASS, np.ceil(share * size))])
        known = np.unique(labels[trained]).size
        if known < 2 or known >= trained.size:
            raise NotEnoughData(
                "folds",
                f"without fold {number} there are {known} classes among {trained.size} instances to learn from; "
                "expected at least 2 classes and fewer than instances: shuffle or stratify the folds, or give fewer",
            )
        seen = eyes.view(table, handicap, trained)
        predictions[tested] = fitted_predictions(model, seen[trained], labels[trained], seen[tested])
    learned = f", {share:.0%} of the instances" if share < 1 else ""
    return f"{family} {index}: {eyes.described(handicap)}{learned}", predictions


def indicators(predictions: Array, labels: Array, true_labels: Array, k: int) -> Floats:
    """Return how each classifier meets the noise: F_c, F_n and F_r of each class.

    Parameters
    ----------
    predictions : array of int of shape (m, n)
        Class indices in [0, k) that each of m classifiers predicts.
    labels : array of int of shape (n,)
        Given labels, some of them wrong.
    true_labels : array of int of shape (n,)
    k : int
        Number of classes.

    Returns
    -------
    array of shape (m, 3k)
        F_c of all classes, then F_n, then F_r, each in [0, 1]; NaN where there is no such instance: see
        :func:`demele.classifiers.stats.bias`.

    Notes
    -----
    Source: Benjelloun, section 6.3.1. Cost O(m (n + k)).

    Examples
    --------
    >>> given, true = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    >>> indicators(np.array([[0, 0, 1, 0]]), given, true, 2)
    array([[1. , 0.5, 1. , nan, nan, 0. ]])
    """
    return np.stack([proportion(*indicator_counts(row, labels, true_labels, k)).ravel() for row in predictions])


def select_varied(table: Floats, n: int, *, seed: int = 0, threshold: float = NEAR) -> Rows:
    """Choose classifiers whose indicators are spread wide and evenly.

    Parameters
    ----------
    table : array of shape (n_candidates, n_indicators)
        F_c, F_n and F_r of each class for each candidate, in [0, 1], on whatever labels the caller chose; NaN where not
        defined.
    n : int
        How many to choose, >= 1; all that the filter leaves, where these are fewer.
    seed : int, default 0
        The first is drawn at random.
    threshold : float >= 0, default 1e-4
        A candidate whose mean squared distance to an earlier kept one is below this is dropped first: tau.

    Returns
    -------
    array of int
        Row numbers in the order of the choice: the first m of them are the choice of m.

    Notes
    -----
    Source: Benjelloun, section 6.5.3.

    *Filter.* The mean squared distance is over the indicators that both candidates have; without one in common they are
    not near. In the source, a later and better version of the same network replaces its earlier version; here no
    candidate is a version of another, and the earlier one stays.

    *Choice.* The next candidate maximises m1, the mean over the indicators of the variance of the values chosen, while
    minimising m2, the mean of the variance of the gaps between neighbouring values. The source does not say how the two
    are traded. Left as they are, m1 would decide alone, for m2 shrinks as gaps become many and small. So at each step
    both are scaled over the candidates left, the smallest to 0 and the largest to 1, and the difference is maximised:

        (m1 - min m1) / (max m1 - min m1) - (m2 - min m2) / (max m2 - min m2)    (the second candidate: m1 alone).

    It has no unit and no weight to set. On figure 6.4 of the source it picks the ten points of different places from
    every start; m1 - m2 as they are picks half of them. An indicator that a candidate does not have leaves that
    indicator's values as they were. Ties: the earlier candidate. Cost O(n^2 n_candidates n_indicators), to a logarithm.

    Examples
    --------
    >>> select_varied(np.array([[0.0], [0.001], [0.2], [0.4], [0.5], [0.9], [1.0]]), 4)
    array([4, 0, 6, 2])
    """
    kept = apart(table, threshold)
    columns = [column for column in table[kept].T if not np.isnan(column).all()]
    chosen = [int(rng_for(seed, "select_varied", "first").integers(kept.size))]
    while len(chosen) < min(n, kept.size):
        rows = np.setdiff1d(np.arange(kept.size), chosen)
        variance, gaps = np.sum([_with_each(column[chosen], column[rows]) for column in columns], axis=0)
        score = _scaled(variance) - _scaled(gaps) if len(chosen) > 1 else variance
        chosen.append(int(rows[np.argmax(score)]))
    return kept[chosen]


def apart(table: Floats, threshold: float = NEAR) -> Rows:
    """Return the candidates that are not near an earlier one of those returned."""
    kept: list[int] = []
    known = ~np.isnan(table)
    filled = np.where(known, table, 0.0)
    for row in range(len(table)):
        common = known[kept] & known[row]
        squares = np.where(common, (filled[kept] - filled[row]) ** 2, 0.0).sum(axis=1)
        count = common.sum(axis=1)
        # without a common indicator: 0 < threshold * 0 is false, so they are not near
        if not (squares < threshold * count).any():
            kept.append(row)
    return np.array(kept, dtype=np.intp)


def _scaled(values: Floats) -> Floats:
    """Scale to [0, 1]; 0 where all are the same to rounding."""
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high - low > 1e-12 * high else np.zeros(values.size)


def _with_each(chosen: Floats, new: Floats) -> tuple[Floats, Floats]:
    """Return the variance of values, and that of their gaps, if each new one were added; NaN adds nothing."""
    now = chosen[~np.isnan(chosen)]

    def spread(values: Floats) -> tuple[Floats, Floats]:
        gaps = np.diff(np.sort(values, axis=1), axis=1)
        none = np.zeros(len(values))
        return (values.var(axis=1) if values.size else none, gaps.var(axis=1) if gaps.size else none)

    added, same = spread(np.column_stack([np.tile(now, (new.size, 1)), np.nan_to_num(new)])), spread(now[None])
    variance, gaps = (np.where(np.isnan(new), old, with_new) for with_new, old in zip(added, same, strict=True))
    return variance, gaps
