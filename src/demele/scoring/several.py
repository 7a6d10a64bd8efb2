"""Several representations of the same rows in one call: scores side by side, paired differences, runs of models."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.code_groups import groups_of_each
from demele.core.errors import DemeleWarning, InputError, InputTypeError, UnknownNameError, warn_user
from demele.core.holm import holm
from demele.core.inputs import Missing
from demele.core.names import suggestion
from demele.core.representation_comparison import (
    ModelScore,
    RepresentationComparison,
    ScoreDifference,
    without_intervals,
)
from demele.core.results import Evaluation, Interval, Score
from demele.core.sentences import marked
from demele.core.version import __version__
from demele.estimation.differences import Difference, resampled_difference, run_difference, student
from demele.metrics.chosen import Choice
from demele.metrics.options import Run
from demele.metrics.pilot import runs_of_several, told
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.outofcore.evaluation import SAMPLE
from demele.runtime.progress import part_of, reporting
from demele.scoring.evaluate import Call, checked_call

#: Why scores of resamples say too little of a metric of extreme values; measured by benchmarks/paired_differences.py.
_EXTREMES = "it rests on extreme values, which resampled rows repeat, so that an interval would be too narrow"


def compare_representations(
    codes: Mapping[str, object] | Sequence[object],
    factors: object,
    metrics: Sequence[Choice] | Choice | None = None,
    *,
    runs: Mapping[str, Sequence[str]] | None = None,
    paired_runs: bool = False,
    against: str | None = None,
    protocol: str = DEFAULT_PROTOCOL,
    seed: int = 0,
    repeats: int = 1,
    bootstrap: int = 0,
    level: float = 0.95,
    chance: int = 0,
    missing: Missing = "raise",
    kinds: object = None,
    codes_std: Mapping[str, object] | None = None,
    reg_dim: object = None,
    code_groups: object = None,
    reduce_groups: Literal["pca1"] | None = None,
    bins: object = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    n_jobs: int = 1,
    progress: bool | Callable[[float, float, str], None] = False,
    sample: int = SAMPLE,
    ignore_index: bool = False,
) -> RepresentationComparison:
    """Score several representations of the same rows, and say which differences between them are shown.

    Parameters
    ----------
    codes : mapping of str to array-like of shape (n_samples, n_codes), or sequence of them
        The representations by name, each as :func:`demele.evaluate` takes it; row r of all is the same sample, and
        numbers of codes may differ. Those of a sequence are called ``codes 1``, ``codes 2``, ...
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        The known factors of these rows.
    runs : mapping of str to sequence of str, optional
        The training runs of each model, as names of representations; one that is named nowhere is a model of one run.
        Differences are then between models, and their intervals over runs.
    paired_runs : bool
        Whether run k of every model has the same seed: differences are then paired by it.
    against : str, optional
        The representation, or model, that all others are set against; without it, each is against each.
    bootstrap : int >= 0
        Resamples of the rows. Intervals of single scores are those of :func:`demele.evaluate`; those of differences
        are of scores on as many half-samples, the same for all representations and for every metric.
    level : float in (0, 1)
        Of every interval for itself; the error of all that is shown together is 1 - level.
    codes_std : mapping of str to array-like, optional
        Standard deviations of stochastic codes, by the name of the representation.
    code_groups : mapping or sequence, optional
        Codes of several columns, as in :func:`demele.evaluate`, of all alike; or a mapping by the name of the
        representation, such as ``{"vct": {"shape": [0, 1]}}``, where others are scored column by column.
    metrics, protocol, seed, repeats, chance, missing, kinds, reg_dim, reduce_groups, bins, options, \
n_jobs, progress, sample, ignore_index
        As in :func:`demele.evaluate`, for all representations alike.

    Returns
    -------
    RepresentationComparison
        ``comparison["name"]`` is an Evaluation; ``.differences``, ``.sentence``, ``.sentences``, ``.to_frame()``,
        ``.to_html(path)``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        Before any computing, naming the representation, column and row.
    WorkerError

    Warns
    -----
    DemeleWarning
        As :func:`demele.evaluate`, with the name of the representation, unless it is true of all.

    Notes
    -----
    Over rows: the standard error of a difference is the standard deviation of the paired differences over half-samples
    without replacement, which have the standard error of the whole; the interval is Student's with ``bootstrap - 1``
    degrees of freedom. Metrics of extreme values (IRS) get none: half of the rows repeat the extremes of all. Over
    runs: Student's interval of the mean of a model, and Welch's of a difference of means, or the paired one. What is
    shown is what Holm's procedure (1979) rejects among all differences that have an interval. Both coverage and this
    error were simulated: ``benchmarks/results/paired_differences.csv``.

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.random((500, 2))
    >>> clean, noisy = factors + 0.05 * rng.normal(size=(500, 2)), factors + 0.3 * rng.normal(size=(500, 2))
    >>> found = demele.compare_representations({"noisy": noisy, "clean": clean}, factors, ["mig"], bootstrap=20)
    >>> found.differences[0].better, round(found["clean"]["mig"].value, 2)
    ('clean', 0.56)
    >>> print(found.sentence)
    The one difference that has an interval is shown: the chance that this is wrong is held to 5%.
    """
    run = Run.checked(
        seed=seed, repeats=repeats, bootstrap=bootstrap, level=level, chance=chance, n_jobs=n_jobs, missing=missing
    )
    call = checked_call(
        metrics,
        replace(run, halves=True),
        protocol=protocol,
        kinds=kinds,
        reg_dim=reg_dim,
        bins=bins,
        options=options,
        sample=sample,
        ignore_index=ignore_index,
    )
    given = _by_name(codes)
    models = checked_models(given, runs, paired=paired_runs)
    asked = _checked_against(against, models)
    groups = groups_of_each(code_groups, list(given))
    calls = {
        name: call
        if code_groups is not None and own is None
        else replace(call, code_groups=own, reduce_groups=reduce_groups)
        for name, own in groups.items()
    }
    evaluations = _evaluations(calls, given, factors, codes_std, progress)
    by_model = runs is not None
    compared = _of_models if by_model else _of_rows
    found = [
        one for first, second in asked for one in compared(call, evaluations, models, (first, second), paired_runs)
    ]
    return RepresentationComparison(
        evaluations=tuple(evaluations.values()),
        differences=_shown(call, found),
        level=run.level,
        models=models if by_model else {},
        model_scores=tuple(_model_scores(call, evaluations, models)) if by_model else (),
        paired_runs=paired_runs,
        version=__version__,
    )


# What is compared -----------------------------------------------------------------------------------------------------


def _by_name(codes: Mapping[str, object] | Sequence[object]) -> dict[str, object]:
    if isinstance(codes, Mapping):
        named = dict(codes)
        for name in named:
            if not isinstance(name, str) or not name.strip():
                raise InputTypeError("codes", f"expected names of representations, got {name!r}")
    elif isinstance(codes, list | tuple):
        named = {f"codes {place}": each for place, each in enumerate(codes, start=1)}
    else:
        what = type(codes).__name__
        raise InputTypeError("codes", f"expected a dict of names and codes, or a list of codes, got {what}")
    if len(named) < 2:
        raise InputError(
            "codes", f"expected at least 2 representations, got {len(named)}", "demele.evaluate scores one by itself"
        )
    return named


def checked_models(
    names: Sequence[str] | Mapping[str, object], runs: Mapping[str, Sequence[str]] | None, *, paired: bool = False
) -> dict[str, tuple[str, ...]]:
    """Return the runs of each model: those named, and every other representation as a model of one run.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
        If a run is unknown or named twice, a model has none or the name of another, or runs cannot be paired.
    """
    if runs is None:
        if paired:
            raise InputError("paired_runs", "pairs the runs of models, and no runs are named")
        return {name: (name,) for name in names}
    if not isinstance(runs, Mapping) or not runs:
        raise InputTypeError("runs", "expected a dict of models and the names of their runs")
    model_of: dict[str, str] = {}
    models: dict[str, tuple[str, ...]] = {}
    for model, own in runs.items():
        if isinstance(own, str) or not isinstance(own, Sequence) or not own:
            raise InputTypeError("runs", f"model {model!r}: expected a list of names of representations, got {own!r}")
        for name in own:
            if name not in names:
                raise UnknownNameError(
                    "runs", f"model {model!r}: no representation is called {name!r}{suggestion(str(name), list(names))}"
                )
            if name in model_of:
                other = "twice" if model_of[name] == model else f"and in {model_of[name]!r}"
                raise InputError("runs", f"{name!r} is in {model!r} {other}; a run belongs to one model")
            model_of[name] = str(model)
        models[str(model)] = tuple(own)
    for name in names:
        if name not in model_of:
            if name in models:
                raise InputError("runs", f"model {name!r} has the name of a representation that is no run of it")
            models[name] = (name,)
    sizes = {model: len(own) for model, own in models.items()}
    if paired and len(set(sizes.values())) > 1:
        told = ", ".join(f"{model}: {size}" for model, size in sizes.items())
        raise InputError("paired_runs", f"expected as many runs of every model, got {told}")
    return models


def _checked_against(against: str | None, models: Mapping[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    if against is None:
        return list(combinations(models, 2))
    if against not in models:
        raise UnknownNameError("against", f"nothing is called {against!r}{suggestion(str(against), list(models))}")
    return [(against, name) for name in models if name != against]


# Scores ---------------------------------------------------------------------------------------------------------------


def _evaluations(
    calls: Mapping[str, Call],
    codes: Mapping[str, object],
    factors: object,
    codes_std: Mapping[str, object] | None,
    progress: bool | Callable[[float, float, str], None],
) -> dict[str, Evaluation]:
    """Read all representations before the first is scored."""
    std = _checked_std(codes_std, codes)
    said = _Warnings(len(codes))
    read: dict[str, Any] = {}
    for name, own in codes.items():
        with said.of(name), _naming(name):
            read[name] = calls[name].read(own, factors, std.get(name))
    found: dict[str, Evaluation] = {}
    with reporting(progress) as report:
        if report is not None:
            call = calls[next(iter(codes))]
            report = told(runs_of_several(call.asked, read.values(), call.run), call.run.n_jobs, report)
        for index, name in enumerate(codes):
            part = False if report is None else part_of(report, index, len(codes), f"{name}: ")
            with said.of(name), _naming(name):
                found[name] = calls[name].evaluation(read.pop(name), name, part)
    said.repeat()
    return found


def _checked_std(codes_std: Mapping[str, object] | None, codes: Mapping[str, object]) -> Mapping[str, object]:
    if codes_std is None:
        return {}
    if not isinstance(codes_std, Mapping) or not set(codes_std) <= set(codes):
        raise InputError(
            "codes_std", f"expected a dict with names of representations ({', '.join(codes)}) and their deviations"
        )
    return codes_std


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Let errors say which representation they are about."""
    try:
        yield
    except InputError as error:
        raise error.within(name) from error


class _Warnings:
    """Warnings about several representations: each once, with the name that it is about unless it is about all."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.found: dict[tuple[str, type[Warning]], dict[str, None]] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Collect what is warned of one of them."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DemeleWarning)
            yield
        for each in caught:
            text = marked(each.message) if isinstance(each.message, Exception) else str(each.message)
            self.found.setdefault((text, each.category), {})[name] = None

    def repeat(self) -> None:
        """Warn of what was collected."""
        for (text, category), names in self.found.items():
            words = text if len(names) == self.count else f"{', '.join(names)}: {text}"
            if issubclass(category, DemeleWarning):
                warn_user(words, category)
            else:
                warnings.warn(words, category, stacklevel=2)


# Differences ----------------------------------------------------------------------------------------------------------


def _score(evaluation: Evaluation, metric: str) -> Score | None:
    return next((score for score in evaluation.scores if score.metric == metric), None)


def _metrics(evaluations: Mapping[str, Evaluation]) -> list[str]:
    return list(dict.fromkeys(score.metric for each in evaluations.values() for score in each.scores))


def _assumed_order(score: Score) -> bool:
    return any(note.code == "assumed-reg-dim" and note.severity == "warning" for note in score.notes)


def _no_value(name: str, score: Score | None) -> str:
    """Return why a score cannot be set against another; empty if it can."""
    if score is None:
        return f"{name} has no score by it"
    if not np.isfinite(score.value):
        return f"it is undefined for {name}"
    return "which code is meant for which factor was assumed by their order" if _assumed_order(score) else ""


def _of_rows(
    call: Call,
    evaluations: Mapping[str, Evaluation],
    models: Mapping[str, tuple[str, ...]],
    pair: tuple[str, str],
    paired: bool,
) -> Iterator[ScoreDifference]:
    """Yield the differences of two representations, over rows."""
    extremes = {one.name for one in call.asked if any(way.state == "extremes" for way in one.metric.readings)}
    for metric in _metrics(evaluations):
        first, second = (_score(evaluations[name], metric) for name in pair)
        reason = _no_value(pair[0], first) or _no_value(pair[1], second)
        if first is None or second is None or reason:
            yield ScoreDifference(metric=metric, first=pair[0], second=pair[1], value=np.nan, reason=reason)
            continue
        found = Difference(second.value - first.value, reason=without_intervals(call.run.bootstrap))
        if metric in extremes and call.run.bootstrap:
            found = replace(found, reason=_EXTREMES)
        elif first.halves is not None and second.halves is not None:
            found = resampled_difference(first.value, second.value, first.halves, second.halves, call.run.level)
        method = f"Student's t over {call.run.bootstrap} paired half-samples"
        yield _difference(call, metric, pair, found, method, fragile=first.fragile or second.fragile)


def _of_models(
    call: Call,
    evaluations: Mapping[str, Evaluation],
    models: Mapping[str, tuple[str, ...]],
    pair: tuple[str, str],
    paired: bool,
) -> Iterator[ScoreDifference]:
    """Yield the differences of two models, over their training runs."""
    method = "Student's t over runs paired by seed" if paired else "Welch's t over runs"
    for metric in _metrics(evaluations):
        scores = [{name: _score(evaluations[name], metric) for name in models[model]} for model in pair]
        every = [score for own in scores for score in own.values() if score is not None]
        reason = next((why for own in scores for name, one in own.items() if (why := _no_value(name, one))), "")
        if reason:
            yield ScoreDifference(metric=metric, first=pair[0], second=pair[1], value=np.nan, reason=reason)
            continue
        values = [_values(own) for own in scores]
        found = run_difference(values[0], values[1], call.run.level, paired=paired)
        yield _difference(call, metric, pair, found, method, fragile=any(score.fragile for score in every))


def _values(scores: Mapping[str, Score | None]) -> NDArray[np.float64]:
    return np.array([score.value for score in scores.values() if score is not None], dtype=np.float64)


def _difference(
    call: Call, metric: str, pair: tuple[str, str], found: Difference, method: str, *, fragile: bool
) -> ScoreDifference:
    interval = None
    if not found.reason:
        interval = Interval(low=found.low, high=found.high, level=call.run.level, method=method)
    return ScoreDifference(
        metric=metric,
        first=pair[0],
        second=pair[1],
        value=found.value,
        interval=interval,
        p_value=found.p_value,
        fragile=fragile,
        reason=found.reason,
    )


def _shown(call: Call, differences: Sequence[ScoreDifference]) -> tuple[ScoreDifference, ...]:
    """Name the better ones where the difference is shown, with one error shared by all that have an interval."""
    best = {one.name: one.metric.best for one in call.asked}
    known = [each for each in differences if each.interval is not None]
    flags = holm(np.array([each.p_value for each in known], dtype=np.float64), 1 - call.run.level)
    rejected = {id(each) for each, flag in zip(known, flags, strict=True) if flag}
    return tuple(
        replace(each, better=each.second if (each.value > 0) == (best[each.metric] > 0) else each.first)
        if id(each) in rejected
        else each
        for each in differences
    )


def _model_scores(
    call: Call, evaluations: Mapping[str, Evaluation], models: Mapping[str, tuple[str, ...]]
) -> Iterator[ModelScore]:
    for model, runs in models.items():
        for metric in _metrics(evaluations):
            own = _values({name: _score(evaluations[name], metric) for name in runs})
            own = own[np.isfinite(own)]
            if not own.size:
                continue
            interval = None
            if own.size > 1 and own.std() > 1e-12:
                low, high, _ = student(own, call.run.level)
                method = f"Student's t over {own.size} runs"
                interval = Interval(low=low, high=high, level=call.run.level, method=method, kind="training")
            yield ModelScore(
                model=model,
                metric=metric,
                values=tuple(float(value) for value in own),
                mean=float(own.mean()),
                std=float(own.std(ddof=1)) if own.size > 1 else np.nan,
                interval=interval,
            )
