"""Methods that are compared: demele's, and your own."""

import ast
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from demele.bench.comparisons.setting import Contender, Decided, MeasureName, Setting
from demele.classifiers.comparison.methods import METHODS
from demele.classifiers.question import Outcomes, Question
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.names import checked_name
from demele.noise.transition import TransitionCounts

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
    predictions: NDArray[Any]
    expert: Callable[[Any], NDArray[Any]]


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
    return Contender(
        name=free,
        title=free,
        family="own",
        decide=_Own(function, free, wants_known),
        inputs="its parameters" if wants_known else "nothing",
        measures=_measures(function, free, wants_known=wants_known),
        own=True,
    )


@dataclass(frozen=True, slots=True)
class _Own:
    """A function asked about every pair in turn."""

    function: Callable[..., Any]
    name: str
    wants_known: bool

    def __call__(self, setting: Setting) -> Decided:
        words = np.array(setting.data.vocabulary.classes)
        labels, truth = words[setting.data.labels], words[setting.true_labels]
        predictions = words[setting.data.predictions]
        for array in (labels, predictions):
            array.setflags(write=False)  # a method that writes into its input would spoil the next pair's
        verdicts = []
        asked = _Expert(truth)
        known = Known(
            rate=setting.rate,
            transition=setting.transition,
            measure=setting.asked.measure,
            of=None if setting.asked.of is None else setting.data.vocabulary.classes[setting.asked.of],
            level=setting.level,
            seed=setting.seed,
            predictions=predictions,
            expert=asked,
        )
        extra = {"known": known} if self.wants_known else {}
        for first, second in setting.pairs:
            asked.start()
            try:
                said = self.function(predictions[first], predictions[second], labels, **extra)
            except Exception as error:
                names = setting.data.names
                raise InputError(
                    "methods",
                    f"{self.name!r} raised {type(error).__name__}: {error} (baseline {names[first]!r}, "
                    f"candidate {names[second]!r}, noise rate {setting.rate:g})",
                ) from error
            verdicts.append(_verdict(said, self.name))
        found = np.array(verdicts)
        return Decided(found == "candidate", found == "baseline", asked.total / max(1, len(verdicts)))


class _Expert:
    """Answers with true labels, and counts the distinct rows that each pair asked for."""

    def __init__(self, truth: NDArray[Any]) -> None:
        self._truth = truth
        self._rows: set[int] = set()
        self.total = 0

    def start(self) -> None:
        self._rows = set()

    def __call__(self, rows: Any) -> NDArray[Any]:
        chosen = np.atleast_1d(np.asarray(rows))
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        before = len(self._rows)
        self._rows.update(int(row) for row in chosen)
        self.total += len(self._rows) - before
        return np.asarray(self._truth[chosen])


def _verdict(said: Any, name: str) -> str:
    said = getattr(said, "verdict", said)
    if isinstance(said, bool | np.bool_):  # whether the candidate is taken
        return "candidate" if said else "inconclusive"
    if said not in _VERDICTS:
        raise InputError(
            "methods",
            f"{name!r} must return one of {', '.join(_VERDICTS)}, True, or a Decision; got {quoted(said)}",
        )
    return str(said)


def _measures(function: Callable[..., Any], name: str, *, wants_known: bool) -> tuple[str, ...]:
    """Return the measures of a function: those that it declares, else all if it gets the measure, else accuracy."""
    every = get_args(MeasureName)
    said = getattr(function, "measures", None)
    if said is None:
        return every if wants_known else ("accuracy",)
    listed = (said,) if isinstance(said, str) else said
    if not isinstance(listed, list | tuple) or not listed or any(one not in every for one in listed):
        raise InputError(
            "methods", f"the attribute measures of {name!r} must list some of {', '.join(every)}; got {quoted(said)}"
        )
    return tuple(listed)


def _wants_known(function: Callable[..., Any]) -> bool:
    try:
        signature = inspect.signature(function)
    except ValueError:  # a compiled function need not say what it takes
        return False
    wants = "known" in signature.parameters
    try:
        signature.bind(None, None, None, **({"known": None} if wants else {}))
    except TypeError as error:
        raise InputTypeError(
            "methods",
            f"{getattr(function, '__name__', function)!r} cannot be called with (baseline, candidate, labels): {error}",
        ) from error
    return wants


# demele's methods -----------------------------------------------------------------------------------------------------


#: Simulated cleanings of the source's table 6.3: detected, false alarms.
_CLEANINGS = ((0.75, 0.25), (0.6, 0.1), (0.9, 0.4), (0.6, 0.4), (0.9, 0.6), (0.4, 0.1))
_CORRECTIONS = (None, 0.25, 0.5, 0.75)


def _said(outcomes: Outcomes, labels_asked: float = 0.0) -> Decided:
    return Decided(outcomes.candidate, outcomes.baseline, labels_asked)


def _classic(setting: Setting) -> Decided:
    return _said(METHODS["overlap"](setting.question()))


def _noise(setting: Setting, noise: str) -> Any:
    """Return the noise that a method gets: a precision or a recall needs more than the rate."""
    return setting.transition if noise == "transition" or setting.asked.measure != "accuracy" else setting.rate


def _prudent_v1(setting: Setting, noise: str = "rate") -> Decided:
    return _said(METHODS["worst-case-overlap"](setting.question(noise=_noise(setting, noise))))


def _prudent_v2(setting: Setting, prudence: float = 0.1, difficulty: str = "annotators") -> Decided:
    ranking = setting.difficulty
    if ranking is None or difficulty == "disagreement":
        from demele.noise.audit import disagreement

        ranking = disagreement(setting.data.predictions)
    return _said(METHODS["hard-rows"](setting.question(difficulty=ranking, prudence=prudence)))


def _cleaned(setting: Setting, s: float = 0.6, e: float = 0.1, c: float | None = None) -> Decided:
    from demele.labels.cleaned.cleaning import simulated_cleaning

    found = simulated_cleaning(
        setting.data.labels,
        setting.true_labels,
        detected=s,
        false_alarms=e,
        corrected=c,
        seed=setting.seed,
    )
    suggested = None if found.suggested is None else found.suggested.astype(np.int32)
    return _said(METHODS["cleaned"](setting.question(suspects=found.suspect, suggested=suggested)))


def _bounded(setting: Setting, noise: str = "rate", inference: str = "overlap") -> Decided:
    return _said(METHODS["worst-case"](setting.question(noise=_noise(setting, noise), inference=inference)))


def _label_free(setting: Setting) -> Decided:
    """Each pair is judged by a third classifier: the next one in the order of the models."""
    pairs, m = setting.pairs, len(setting.data.names)
    third = (pairs.max(axis=1) + 1) % m
    third = np.where(third == pairs.min(axis=1), (third + 1) % m, third)
    candidate, baseline = np.zeros(len(pairs), dtype=bool), np.zeros(len(pairs), dtype=bool)
    for model in np.unique(third):
        here = np.flatnonzero(third == model)
        asked = setting.question(reference=setting.data.predictions[model])
        asked = _of_pairs(asked, here)
        outcomes = METHODS["agreement"](asked)
        candidate[here], baseline[here] = outcomes.candidate, outcomes.baseline
    return Decided(candidate, baseline)


def _of_pairs(question: Question, here: Any) -> Question:
    return replace(question, baseline=question.baseline[here], candidate=question.candidate[here])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cautious(Question):
    """A question whose claims err more rarely than its level: that one stays the level of the overlapping intervals."""

    error: float

    @property
    def tail(self) -> float:
        """Error allowed to each of the two claims."""
        return self.error


def _audited(
    setting: Setting, labels: int = 500, design: str = "weighted", error: float = 0.001, inference: str = "overlap"
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
    return _said(METHODS["audit"](_Cautious(**known, error=error)), float(size))


def _sequential(setting: Setting, cap: int = 1000, error: float = 0.001, inference: str = "overlap") -> Decided:
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
    m = len(setting.data.names)
    square = np.zeros((m, m), dtype=bool)
    square[setting.pairs[:, 0], setting.pairs[:, 1]] = found
    return Decided(found, square.T[setting.pairs[:, 0], setting.pairs[:, 1]] & ~found, float(asked.mean()))


#: The methods that can take part, and the inputs of each; their options, and the usual values, are those of a function.
_FAMILIES: dict[str, tuple[Callable[..., Decided], str]] = {
    "overlap": (_classic, "nothing"),
    "worst-case-overlap": (_prudent_v1, "the noise"),
    "hard-rows": (_prudent_v2, "a ranking of the instances"),
    "cleaned": (_cleaned, "a simulated cleaning"),
    "agreement": (_label_free, "a third classifier"),
    "worst-case": (_bounded, "the noise"),
    "audit": (_audited, "expert labels of one sample"),
    "sequential": (_sequential, "expert labels, one at a time; the noise rate"),
}
_CHOICES = {
    "noise": ("rate", "transition"),
    "difficulty": ("annotators", "disagreement"),
    "design": ("weighted", "uniform"),
    "inference": ("overlap", "sample", "population"),
}


def _named(family: str, **options: Any) -> str:
    told = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return f"{family}({told})" if told else family


#: What takes part where nothing is named: every method of the library, with the cleanings of the source.
USUAL: tuple[str, ...] = (
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
    *(_named("cleaned", s=s, e=e, **({} if c is None else {"c": c})) for s, e in _CLEANINGS for c in _CORRECTIONS),
)


def comparison_methods() -> tuple[str, ...]:
    """Return the names of the default methods of :func:`check_methods`.

    Returns
    -------
    tuple of str
        A name with options is written as a call, such as ``"audit(labels=250)"``; other values may be asked for.

    Examples
    --------
    >>> comparison_methods()[:3]
    ('overlap', 'worst-case-overlap', 'hard-rows')
    """
    return USUAL


def contender(name: str) -> Contender:
    """Return a method of the library by its name and options.

    Raises
    ------
    UnknownNameError, InputError
        If there is no such method or option, or an option has no such value.
    """
    matched = re.fullmatch(r"\s*([a-z0-9-]+)\s*(?:\((.*)\))?\s*", name, flags=re.DOTALL)
    family = checked_name(matched.group(1) if matched else name, "methods", _FAMILIES)
    decide, inputs = _FAMILIES[family]
    _, *parameters = inspect.signature(decide).parameters.values()
    usual, options = {one.name: one.default for one in parameters}, _options(name, (matched and matched.group(2)) or "")
    unknown = set(options) - set(usual)
    if unknown:
        known = ", ".join(usual) or "none"
        raise InputError("methods", f"{family!r} takes the options {known}; got {sorted(unknown)[0]!r} in {name!r}")
    for option, value in options.items():
        _check_option(name, option, value)
    given = {**usual, **options}
    changed = {option: value for option, value in given.items() if value != usual[option]}
    if family == "cleaned":  # a cleaning is known by its rates
        changed = {option: value for option, value in given.items() if value is not None}
    return Contender(
        name=_named(family, **changed),
        title=_title(family, changed),
        family=family,
        decide=partial(decide, **given),
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
        methods = USUAL
    if isinstance(methods, str | Contender) or callable(methods):
        methods = [methods]
    named: list[tuple[str | None, object]]
    if isinstance(methods, Mapping):
        named = [(str(name), method) for name, method in methods.items()]
    elif isinstance(methods, Sequence):
        named = [(None, method) for method in methods]
    else:
        raise InputTypeError("methods", f"expected names or functions, got {type(methods).__name__}")
    chosen: dict[str, Contender] = {}
    for name, method in named:
        if isinstance(method, str):
            found = contender(method)
        elif isinstance(method, Contender):
            found = method
        elif callable(method):
            found = own_contender(method, name=name, taken=[*_FAMILIES, *chosen])
        else:
            raise InputTypeError(
                "methods", f"expected a name or a function (baseline, candidate, labels), got {quoted(method)}"
            )
        chosen.setdefault(found.name, found)
    if not chosen:
        raise InputError("methods", "expected at least one name or function, got none")
    return tuple(chosen.values())


def reference_choice(setting: Setting, reference: str = "overlap") -> Decided:
    """Compare all pairs on true labels, by one of :data:`REFERENCES`.

    ``"overlap"``: the two score intervals are apart. ``"paired"``: McNemar's exact test, one-sided at half of what the
    level leaves, as the paired worst case without noise; of accuracy alone. ``"sample"``: the value is larger.
    """
    clean = setting.on_true_labels()
    if reference == "paired":
        return _said(METHODS["worst-case"](clean.question(noise=0.0, inference="population")))
    if reference == "sample":
        first, second = (side.proportion for side in clean.question().sides())
        return Decided(second > first, first > second)  # a value that is undefined is neither
    return _classic(clean)


def _options(name: str, text: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"dict({text})", mode="eval").body
        words = call.keywords if isinstance(call, ast.Call) and not call.args else [ast.keyword(None, call)]
        return {str(word.arg): ast.literal_eval(word.value) for word in words}
    except (SyntaxError, ValueError) as error:
        raise InputError("methods", f"expected options such as audit(labels=250), got {quoted(name)}") from error


def _check_option(name: str, option: str, value: Any) -> None:
    if option in _CHOICES:
        checked_name(value, f"methods, {name}: {option}", _CHOICES[option])
    elif option in ("labels", "cap"):
        if isinstance(value, bool) or not isinstance(value, int) or value < 2:
            raise InputError("methods", f"{option} is a whole number of at least 2, got {quoted(value)} in {name!r}")
    elif not (option == "c" and value is None):
        least = 0 if option in ("s", "e", "c") else 1e-12
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= 1:
            raise InputError("methods", f"{option} is a share in [0, 1], got {quoted(value)} in {name!r}")
        if option == "error" and value >= 0.5:
            raise InputError("methods", f"error is a probability below 0.5, got {quoted(value)} in {name!r}")


def _title(family: str, changed: Mapping[str, Any]) -> str:
    told = ", ".join(f"{name}={value}" for name, value in changed.items())
    return f"{family} ({told})" if told else family
