"""The engine: metrics and a source in, scores out. Shared work is done once; guards and draws ask the same source."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from demele.core.code_groups import slots_as_groups
from demele.core.errors import DemeleError, DemeleWarning, InputTypeError, NotEnoughData, warn_user
from demele.core.inputs import read_pair
from demele.core.later import Later
from demele.core.pieces import in_pieces
from demele.core.results import Evaluation, LeftOut, Note, Score
from demele.core.version import __version__
from demele.estimation.information import InformationTable
from demele.metrics.data import TableSettings
from demele.metrics.fitted import fitted
from demele.metrics.guards import (
    FRAGILE,
    adjusted_notes,
    beside_chance,
    beside_level,
    counted_noise_notes,
    few_rows_notes,
    finer_bins_notes,
    many_codes,
    noise_notes,
    table_notes,
    unprobed_notes,
)
from demele.metrics.metric import SUMMED, Metric, Native
from demele.metrics.options import Run, RunOptions, check_blocks, no_such_option
from demele.metrics.pictured import rows_for_pictures
from demele.metrics.present import Outcome, score_of, warn_of_fragile
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.metrics.request import Asked, Request, bound, checked, request_for
from demele.metrics.side import assumed_codes, below_zero
from demele.metrics.source import InMemory, Source, Subject
from demele.metrics.tasks import Draws
from demele.metrics.verdict import MOST_ROWS, headline, rows_drawn, verdict_of
from demele.runtime.progress import Report, reporting


@dataclass(slots=True)
class Found:
    """What came of a call: requests that could be computed with their outcomes, and why there is no more.

    ``refused`` are metrics that do not apply to the representation, ``failed`` those whose computing failed.
    """

    requests: list[Request] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    refused: dict[str, DemeleError] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Which metrics have no number, and why: first those that do not apply."""
        reasons = {name: str(error) for name, error in self.refused.items()} | self.failed
        return tuple(LeftOut(metric=name, reason=reason) for name, reason in reasons.items())


# Calls ----------------------------------------------------------------------------------------------------------------


def score(metric: Metric, given: Mapping[str, Any]) -> Score:
    """Do what the public function of a metric does, given its ``locals()``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    options = dict(given)
    run, codes, factors = options.pop("run"), options.pop("codes"), options.pop("factors")
    return single([metric], codes, factors, options, run, codes_std=options.pop("codes_std", None))[0]


def single(
    metrics: Sequence[Metric],
    codes: object,
    factors: object,
    options: Mapping[str, Any],
    run: Mapping[str, Any],
    *,
    codes_std: object = None,
) -> list[Score]:
    """Score metrics that share their options: errors are raised, not collected."""
    for keyword in run:
        if keyword not in RunOptions.__annotations__:
            raise InputTypeError(keyword, no_such_option(keyword, {one.name: one.option_table for one in metrics}))
    kinds = run.get("kinds")
    settings = Run.checked(**run) if run else Run()
    asked = [Asked(metric, metric.name, checked(metric, options)) for metric in metrics]
    if not (type(codes) is type(factors) is np.ndarray):  # of plain arrays nothing need be asked
        scores: list[Score] | None = in_pieces(asked, codes, factors, settings, kinds=kinds, codes_std=codes_std)
        if scores is not None:
            return scores
    by_position = run.get("ignore_index", False)
    groups = run.get("code_groups")
    if getattr(codes, "ndim", 2) == 3:
        codes, groups = slots_as_groups(codes, groups)
    read = read_pair(codes, factors, kinds=kinds, missing=settings.missing, ignore_index=by_position)
    source = InMemory(Subject.of(*read), codes_std)
    if groups is not None or run.get("reduce_groups") is not None:
        from demele.metrics.code_groups import in_groups

        source = in_groups(source, groups, run.get("reduce_groups"))
    if run.get("blocks") is not None:
        check_blocks(settings)
        source = source.in_blocks(run["blocks"])
    found = computed(asked, source, settings, named=True)
    for reason in found.failed.values():
        raise NotEnoughData(reason)
    return scores_of(found, source, settings, DEFAULT_PROTOCOL, kinds)


def evaluation(
    asked: Sequence[Asked],
    source: Source,
    run: Run,
    *,
    protocol: str,
    kinds: object,
    name: str,
    named: bool,
    progress: bool | Callable[[float, float, str], None] = False,
) -> Evaluation:
    """Score one source with several metrics.

    Parameters
    ----------
    asked : sequence of Asked
    source : Source
    run : Run
    protocol, kinds, name
        As signatures and results say them.
    named : bool
        Whether a metric that does not apply is an error; else it is left out, with the reason.
    progress : bool or callable

    Raises
    ------
    NotEnoughData
    """
    with reporting(progress, even=False) as report:
        found = computed(asked, source, run, report=report, named=named)
    for one in asked:
        if one.metric.is_plain and one.name in found.failed:
            warn_user(f"no score of {one.name}: {found.failed[one.name]}", DemeleWarning)
    scores = tuple(scores_of(found, source, run, protocol, kinds))
    pictures: tuple[Any, ...] = ()
    for request in found.requests:
        if request.metric.pictures is not None and "rows" in source.states:
            native = found.outcomes[request.name].native
            pictures += request.metric.pictures(source.rows(), request.options, native)
    subject = source.subject("rows")
    return Evaluation(
        scores=scores,
        left_out=found.left_out,
        protocol=protocol,
        name=name,
        n=subject.n,
        code_names=subject.codes.names,
        factors=subject.summaries(),
        dependency=pictures,
        notes=beside_level(subject.notes) if run.n_permutations else subject.notes,
        version=__version__,
        later=_later(source, run, scores),
    )


def _later(source: Source, run: Run, scores: Sequence[Score]) -> Later:
    """Return what is computed when it is read: the verdict, and rows for pictures.

    The verdict needs rows with a column for each code. It keeps a copy of those that it will judge.
    """
    subject = source.subject("rows")
    if "rows" not in source.states or source.in_groups or not subject.active:
        return Later()
    first = headline({score.metric: score.value for score in scores})
    drawn = rows_drawn(source.rows(), MOST_ROWS, run.seed)
    judge = partial(verdict_of, drawn, subject.factors.names, seed=run.seed)
    rows = partial(rows_for_pictures, drawn, n=source.rows().n, seed=run.seed)
    return Later({"verdict": lambda: replace(judge(), first_look=first), "rows": rows})


def bare_values(asked: Iterable[Asked], source: Source, seed: int) -> tuple[dict[str, float], dict[str, str]]:
    """Return bare numbers by metric, and the reasons of those that have none: no guards, no draws, no notes."""
    found = computed(asked, source, Run(seed=seed), guards=False)
    values = {name: float(outcome.native.value) for name, outcome in found.outcomes.items()}
    return numbers_or_reasons(values, {item.metric: item.reason for item in found.left_out})


def numbers_or_reasons(
    values: Mapping[str, float], reasons: Mapping[str, str]
) -> tuple[dict[str, float], dict[str, str]]:
    """Return the finite numbers, and a reason for each that is none: what is no finite number is never a 0."""
    numbers = {name: value for name, value in values.items() if value - value == 0.0}
    told = {name: f"{name} returned {value}" for name, value in values.items() if name not in numbers}
    return numbers, {**reasons, **told}


def scores_of(
    found: Found, source: Source, run: Run, protocol: str, kinds: object, *, warn: bool = True
) -> list[Score]:
    """Name, note and sign what was computed, and warn of what is fragile."""
    scores = []
    for request in found.requests:
        subject = source.subject(request.reading.state, request.options)
        outcome = found.outcomes[request.name]
        score = score_of(request, outcome, subject, run, protocol, kinds, source.context)
        scores.append(score if score.chance is None else replace(score, notes=beside_level(score.notes)))
    if warn and any(score.fragile for score in scores):
        warn_of_fragile(scores)
    return scores


# Computing ------------------------------------------------------------------------------------------------------------


def computed(
    asked: Iterable[Asked],
    source: Source,
    run: Run,
    *,
    report: Report | None = None,
    guards: bool = True,
    named: bool = False,
) -> Found:
    """Compute metrics of one source, with what was asked of repeats, resamples and permutations.

    Parameters
    ----------
    asked : iterable of Asked
    source : Source
    run : Run
    report : callable, optional
        Of progress.
    guards : bool
        Whether scores are examined: without, errors of computing are reasons as well.
    named : bool
        Whether a metric that does not apply is an error.
    """
    found = Found()

    def refuse(name: str, error: DemeleError) -> None:
        if named or (guards and not isinstance(error, NotEnoughData)):
            raise error
        found.refused[name] = error

    for one in asked:
        try:
            found.requests.append(request_for(one, source, run.seed))
        except DemeleError as error:
            refuse(one.name, error)
    shuffle = guards and bool(found.requests) and "rows" in source.states
    if shuffle:  # scores are compared to those of shuffled rows where codes are many, and tell anything at all
        subject = source.subject("rows")
        finding = source.finding() if many_codes(subject.n, subject.codes.d) else None
        shuffle = finding is not None and finding.detected
    tables: dict[TableSettings, list[Request]] = {}
    for request in found.requests:
        if request.settings is not None:
            tables.setdefault(request.settings, []).append(request)
    for settings, group in tables.items():
        _read_off_table(settings, group, source, run, found, report, refuse, shuffle=shuffle, guards=guards)
    of_rows = [item for item in found.requests if item.reading.state in ("rows", "arrays")]
    if of_rows:
        for name, outcome in fitted(of_rows, source, run, report, shuffle=shuffle, guards=guards).items():
            if isinstance(outcome, str):
                found.failed[name] = outcome
            else:
                found.outcomes[name] = outcome
    for request in found.requests:
        if request.reading.state in SUMMED:
            found.outcomes[request.name] = _of_sums(request, source)
    found.requests = [item for item in found.requests if item.name in found.outcomes]
    if guards:
        _beside_noise(found, source)
    return found


def _read_off_table(
    settings: TableSettings,
    requests: list[Request],
    source: Source,
    run: Run,
    found: Found,
    report: Report | None,
    refuse: Callable[[str, DemeleError], None],
    *,
    shuffle: bool,
    guards: bool,
) -> None:
    started = time.perf_counter()
    pairs = any(item.reading.pairs for item in requests)
    natives: dict[str, Native] = {}
    try:
        table = source.table(settings, pairs=pairs)
    except DemeleError as error:
        if guards:
            raise
        found.failed |= {item.name: str(error) for item in requests}
        return
    for request in requests:
        try:
            natives[request.name] = request.read(table)
        except DemeleError as error:
            refuse(request.name, error)
    requests = [item for item in requests if item.name in natives]
    notes: Mapping[str, tuple[Note, ...]] = {}
    examined: dict[str, tuple[float, Callable[[InformationTable], Native]]] = {
        item.name: (float(natives[item.name].value), item.read)
        for item in requests
        if guards and item.metric.guards.bins and "rows" in source.states
    }
    if examined:
        notes = table_notes(source, settings, table, examined, pairs=pairs)
        of_entropy = {item.name: examined[item.name] for item in requests if item.metric.guards.code_entropy}
        if of_entropy:
            notes = finer_bins_notes(source, settings, table, of_entropy, notes)
    seconds = time.perf_counter() - started
    resamples = halves = permutations = None
    if run.n_bootstrap:
        tables = source.tables(settings, "resamples", run.n_bootstrap, run.seed, pairs=pairs)
        resamples = halves = _drawn(tables, requests, run.n_bootstrap, "resamples", report)
        if run.halves and settings.resamples_by_weight:
            tables = source.tables(settings, "halves", run.n_bootstrap, run.seed, pairs=pairs)
            halves = _drawn(tables, requests, run.n_bootstrap, "half-samples", report)
    if run.n_permutations:
        tables = source.tables(settings, "permutations", run.n_permutations, run.seed, pairs=pairs)
        permutations = _drawn(tables, requests, run.n_permutations, "permutations", report)
    drawn = {} if resamples is None or run.n_bootstrap < 2 else resamples
    spans = {item.name: (drawn[item.name].value, run.level, item.metric.range) for item in requests if drawn}
    adjusted = adjusted_notes(source, settings, table, examined, spans, pairs=pairs)
    for name, (_, details) in adjusted.items():
        natives[name] = replace(natives[name], details={**natives[name].details, "adjusted_for_chance": details})
    shuffled = permutations
    if permutations is None and shuffle:
        tables = source.tables(settings, "permutations", 1, run.seed, pairs=pairs)
        shuffled = _drawn(tables, requests, 1, "shuffles", None)
    unprobed = not source.probed
    columns = source.subject("table", {"bins": settings.binning}).factors.columns if guards else ()
    for request in requests:
        name = request.name
        told = notes.get(name, ()) + (adjusted[name][:1] if name in adjusted else ())
        if request.notes:
            told += assumed_codes(request.notes, request.side.get("reg_dim"), table)
        elif guards and request.side.get("reg_dim") is not None:
            told += below_zero(float(natives[name].value), request.side["reg_dim"], table)
        if guards and shuffled is not None:
            told += beside_chance(natives[name], shuffled[name].value, source.rows())
        if guards and (unprobed or any(one.n_annotated < request.metric.guards.fewest_rows for one in columns)):
            told += _of_few_or_unprobed(request, source, told)
        found.outcomes[name] = Outcome(
            native=natives[name],
            resamples=None if resamples is None else resamples[name],
            resampling="bootstrap" if settings.resamples_by_weight else "half-sample",
            halves=None if halves is None or not run.halves else halves[name],
            permutations=None if permutations is None else permutations[name],
            seconds=seconds,
            notes=told,
        )


def _of_few_or_unprobed(request: Request, source: Source, told: tuple[Note, ...]) -> tuple[Note, ...]:
    """Say of a metric of a table that rows are few, unless a probe said more of it; and what was not probed."""
    subject, guards = source.subject("table", request.options), request.metric.guards
    found: tuple[Note, ...] = ()
    if not any(note.code == "few-rows" for note in told):
        found = few_rows_notes(guards, subject.varying, request.options)
    if not source.probed:
        found += unprobed_notes(guards, 0.0, subject.n, subject.codes.d, kept="counts", chance=True)
    return found


def _drawn(
    tables: Iterable[InformationTable], requests: list[Request], n_draws: int, label: str, report: Report | None
) -> dict[str, Draws]:
    collected: dict[str, list[Native]] = {request.name: [] for request in requests}
    done = 0
    for table in tables:
        if report is not None:  # a table holds one draw, or a block of them
            report(done, n_draws, label)
        done += 1 if table.information.ndim == 2 else len(table.information)
        for request in requests:
            collected[request.name].append(request.read(table))
    return {name: Draws.of(natives) for name, natives in collected.items()}


def _of_sums(request: Request, source: Source) -> Outcome:
    """Read a metric off the sums of all rows."""
    formula = request.reading.formula
    sums = source.sums(request.reading.state, request.options)
    native = formula(sums, **bound(formula, request.options, request.side))
    subject = source.subject(request.reading.state, request.options)
    few_rows = few_rows_notes(request.metric.guards, subject.varying, request.options)
    value, guards = float(native.value), request.metric.guards
    n, d = subject.n, subject.codes.d
    unprobed = () if source.probed else unprobed_notes(guards, value, n, d, kept="sums", chance=False)
    return Outcome(native=native, notes=request.notes + few_rows + unprobed)


def _beside_noise(found: Found, source: Source) -> None:
    """Add a note to scores above 0 of codes that tell nothing; the source looks once."""
    for request in found.requests:
        outcome = found.outcomes[request.name]
        value = float(outcome.native.value)
        if request.metric.is_plain or request.reading.state in SUMMED or not value > FRAGILE:
            continue
        finding = source.finding(request.options)
        if finding is None:
            continue
        if "rows" in source.states:
            notes = noise_notes(value, finding)
        else:
            subject = source.subject(request.reading.state, request.options)
            notes = counted_noise_notes(value, subject.n, subject.codes.d, finding)
        found.outcomes[request.name] = replace(outcome, notes=outcome.notes + notes)
