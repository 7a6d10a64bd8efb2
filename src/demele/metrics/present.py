"""From native values to scores: names, intervals, notes and the signature."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from demele.core.bibliography import referenced
from demele.core.chance import MOST_UNDEFINED
from demele.core.errors import FragileScoreWarning, warn_user
from demele.core.results import Chance, Interval, MetricFacts, Note, Score, Severity, Spread
from demele.core.sentences import marked, plural
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.metrics.metric import MATRIX, Array, Metric, Native
from demele.metrics.options import Run
from demele.metrics.protocols import PROTOCOLS
from demele.metrics.request import Request
from demele.metrics.source import Subject
from demele.metrics.tasks import Draws

#: From so many shuffles on, p-values reach below 0.05.
FEW_SHUFFLES = 20
#: What the matrix of ``estimator="robust"`` holds.
ROBUST = "information from 0 to 1: 1 - exp(-2 I) of quantities, I / H of classes"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What computing gave for one metric: the value, and its draws under repeats, resamples and permutations.

    ``halves`` are values on half-samples, for metrics whose ``resamples`` may be others.
    """

    native: Native
    repeats: Draws | None = None
    resamples: Draws | None = None
    resampling: str = ""
    halves: Draws | None = None
    permutations: Draws | None = None
    seconds: float = float("nan")
    notes: tuple[Note, ...] = ()


def score_of(
    request: Request,
    outcome: Outcome,
    subject: Subject,
    run: Run,
    protocol: str,
    kinds: object,
    context: Mapping[str, str] | None = None,
) -> Score:
    """Put names, intervals, notes and the signature to what was computed; ``context`` is what the source adds to it."""
    native = outcome.native
    value = float(native.value)
    per_factor, matrix = native.per_factor, native.matrix
    if len(subject.active) < subject.m:
        per_factor = None if per_factor is None else subject.spread_factors(per_factor)
        matrix = None if matrix is None else subject.spread_factors(matrix)
    interval, native_intervals = None, None
    if outcome.resamples is not None and outcome.resamples.n > 1 and not np.isnan(value):
        interval, native_intervals = _intervals(request, outcome, native, subject, run)
    notes = tuple(note for note in subject.notes if note.code != "missing-annotations") + native.notes + outcome.notes
    own, names = native.per_code, subject.codes.names
    constant: Collection[str] = {name for name, still in zip(names, subject.codes.constant, strict=True) if still}
    if native.per_factor is not None:
        own, names, constant = native.per_factor, subject.varying.names, ()
    if own is not None and np.isnan(own).any():
        notes += (_undefined(request, native, own, names, constant),)
    chance = None if outcome.permutations is None else _chance(outcome.permutations, value, request, subject)
    if chance is not None:
        notes += _of_chance(chance, request.metric.undefined)
    if 0 < run.n_bootstrap * (1 - run.level) < 2:
        message = f"{run.n_bootstrap} resamples are few for an interval at {run.level:g}: its ends are single resamples"
        notes += (Note(code="few-resamples", message=message, severity="warning"),)
    robust = request.settings is not None and request.settings.estimator == "robust"
    used = max(factor.n_annotated for factor in subject.varying.columns)
    return Score(
        metric=request.name,
        value=value,
        n=used,
        signature=_signature(request, subject, run, protocol, kinds, context or {}),
        code_names=subject.codes.names,
        factor_names=subject.factors.names,
        per_factor=per_factor,
        per_code=native.per_code,
        native_intervals=native_intervals,
        matrix_values=matrix,
        matrix_of=ROBUST if robust and native.matrix_of == MATRIX else native.matrix_of,
        interval=interval,
        halves=None if outcome.halves is None else outcome.halves.numbered,
        spread=None if outcome.repeats is None else Spread(tuple(float(item) for item in outcome.repeats.value)),
        chance=chance,
        notes=notes,
        details=native.details,
        protocol=protocol,
        seconds=outcome.seconds,
        facts=facts_of(request.metric),
        cited=keys_of(PROTOCOLS[protocol].references),
    )


@lru_cache(maxsize=1024)
def facts_of(metric: Metric) -> MetricFacts:
    """Return what scores carry of their metric."""
    return MetricFacts(
        title=metric.title,
        family=metric.family,
        properties=metric.properties,
        definition=metric.definition,
        source=metric.source,
        references=keys_of(metric.references),
        range=metric.range,
        best=metric.best,
        defaults={name: repr(option.default) for name, option in metric.option_table.items()},
    )


@lru_cache(maxsize=1024)
def keys_of(references: tuple[str, ...]) -> tuple[str, ...]:
    """Return the keys of works."""
    return tuple(entry.key for entry in referenced(references))


def _chance(draws: Draws, value: float, request: Request, subject: Subject) -> Chance:
    """Keep what permutations scored, native values in the order of all columns."""
    native = draws.per_code if draws.per_factor is None else subject.spread_factors(draws.per_factor)
    best = request.metric.best
    values = tuple(float(item) for item in draws.value)
    return Chance(values, value, best >= 1, best=best, failed=len(draws.failed), native=native)


def _of_chance(chance: Chance, undefined: str) -> tuple[Note, ...]:
    """Say why there is no level of chance, of which shuffles it is, or that they are too few for a small p-value."""
    drawn = len(chance.values) + chance.failed
    without = round(chance.undefined_share * drawn)
    if chance.undefined_share > MOST_UNDEFINED:
        message = f"chance is not known: {without} of {plural(drawn, 'shuffle', 'shuffles')} have no score"
        if without > chance.failed:
            message += f"; with the rows shuffled codes tell nothing, and nothing is left to score ({undefined})"
        return (Note(code="undefined-chance", message=message, severity="warning"),)
    notes = chance.notes
    if without:
        they = "has no score: it is" if without == 1 else "have no score: they are"
        counted = "counts" if without == 1 else "count"
        message = f"{without} of {plural(drawn, 'shuffle', 'shuffles')} {they} left out of the level of chance, and "
        message += f"{counted} as at least as good for the p-value"
        notes += (Note(code="undefined-shuffles", message=message),)
    if drawn < FEW_SHUFFLES:
        shuffles = plural(drawn, "shuffle is", "shuffles are")
        message = f"{shuffles} few for a p-value: it cannot fall below 1/{drawn + 1} = {1 / (drawn + 1):.3f}"
        notes += (Note(code="few-shuffles", message=message),)
    return notes


def _undefined(request: Request, native: Native, own: Array, names: Sequence[str], constant: Collection[str]) -> Note:
    """Say of which varying factors, or codes, the native value is not defined; of codes that do not vary, that."""
    missing = tuple(name for name, value in zip(names, own, strict=True) if np.isnan(value))
    severity: Severity = "warning" if np.isnan(native.value) else "info"
    still = tuple(name for name in missing if name in constant)
    others = tuple(name for name in missing if name not in constant)
    reasons = [] if not others else [f"{_listed(others)}: {request.metric.undefined}"]
    if still:
        reasons.append(f"{_listed(still)}: {'it is' if len(still) == 1 else 'they are'} constant")
    message = f"not defined for {'; nor for '.join(reasons)}"
    return Note(code="undefined-value", message=message, subject=missing, severity=severity)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:5]) + (", ..." if len(names) > 5 else "")


def _intervals(
    request: Request, outcome: Outcome, native: Native, subject: Subject, run: Run
) -> tuple[Interval, tuple[Interval, ...] | None]:
    draws = outcome.resamples
    if draws is None:
        raise ValueError("no resamples")

    def interval(values: Array, centre: float) -> Interval:
        low, high = map(float, draws.quantiles(values, run.level, request.metric.range, centre))
        method = f"{outcome.resampling} percentile, {run.n_bootstrap} resamples"
        return Interval(low=low, high=high, level=run.level, method=method)

    whole = interval(draws.value, float(native.value))
    own, centres = (
        (draws.per_factor, native.per_factor) if draws.per_factor is not None else (draws.per_code, native.per_code)
    )
    if own is None or centres is None:
        return whole, None
    if draws.per_factor is not None:
        own, centres = subject.spread_factors(own), subject.spread_factors(centres)
    return whole, tuple(interval(own[:, index], float(centres[index])) for index in range(own.shape[1]))


def _signature(
    request: Request, subject: Subject, run: Run, protocol: str, kinds: object, context: Mapping[str, str]
) -> Signature:
    metric, unused = request.metric, []
    if request.settings is not None:  # options that the call did not look at would only lengthen its signature
        unused += ["n_neighbors"] if request.settings.estimator == "histogram" else ["bins", "correction"]
    unused += ["reg_dim", "fill_reg_dim"] if request.side.get("reg_dim") is None else []
    unused += ["reg_dim"] if request.options.get("reg_dim") is None else []
    arguments: dict[str, object] = {key: value for key, value in request.options.items() if key not in unused}
    uses_seed = metric.is_plain or metric.stochastic or run.n_bootstrap or run.n_permutations
    if uses_seed or (request.settings is not None and request.settings.estimator == "knn"):
        arguments["seed"] = run.seed
    if run.n_repeats > 1 and metric.stochastic:
        arguments["n_repeats"] = run.n_repeats
    if run.n_bootstrap:
        arguments |= {"n_bootstrap": run.n_bootstrap, "level": run.level}
    if run.n_permutations:
        arguments["n_permutations"] = run.n_permutations
    if run.missing != "raise":
        arguments["missing"] = run.missing
    arguments |= subject.arguments
    if kinds is not None or any(factor.cyclic for factor in subject.factors.columns):
        arguments["kinds"] = {factor.name: factor.kind for factor in subject.factors.columns}
    met = {
        "rows": str(subject.codes.n),
        "codes": str(subject.codes.d),
        "factors": str(subject.m),
        "protocol": protocol,
        "demele": __version__,
    }
    return Signature(request.name, arguments, {**met, **metric.provenance, **context})


def warn_of_fragile(scores: Sequence[Score]) -> None:
    """One warning for each kind of reason: the first score's note in full, and which other scores share it."""
    told: dict[str, list[tuple[str, str]]] = {}
    for score in scores:
        for note in score.notes:
            if note.severity == "fragile":
                told.setdefault(note.code, []).append((score.metric, note.message))
    for (metric, message), *others in told.values():
        likewise = "; likewise " + ", ".join(dict.fromkeys(name for name, _ in others)) if others else ""
        warn_user(f"fragile: {metric}: {marked(message)}{likewise}", FragileScoreWarning)
