"""Methods that are compared, demele's and your own, and the pairs that each of them is asked about."""

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Annotated, Any, Literal, get_args

import numpy as np

from demele.classifiers.comparison.methods import METHODS
from demele.classifiers.question import Question
from demele.core.arrays import Array, Flags, Floats, Rows
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.kinds import Fraction, Share, at_least, between, checked_name, kind_of
from demele.core.labelled import Indices, Labelled
from demele.core.table_columns import items_of
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
        first, second = (side.proportion for side in setting.question().sides())
        return Decided(second > first, first > second)  # a value that is undefined is neither
    return setting.decided("overlap")
