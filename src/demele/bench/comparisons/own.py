"""A user's own comparison method as a contender: a function of two classifiers' predictions and the labels."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from demele.bench.comparisons.setting import Contender, Decided, MeasureName, Setting
from demele.core.errors import InputError, InputTypeError, quoted
from demele.noise.transition import TransitionCounts

__all__ = ["Known", "own_contender"]

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
