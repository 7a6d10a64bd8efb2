"""The engine: metrics and a source in, scores out. Shared work is done once; guards and draws ask the same source."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, partial
from traceback import format_exception_only
from typing import Any, Literal

import numpy as np

from demele.core.arrays import Floats, rng_for
from demele.core.bibliography import referenced
from demele.core.columns import read_blocks
from demele.core.errors import (
    DemeleError,
    DemeleWarning,
    FragileScoreWarning,
    InputError,
    InputTypeError,
    NotEnoughData,
    in_backticks,
    plural,
    quoted,
    warn_user,
)
from demele.core.given_data import Codes, Factors, slots_as_groups
from demele.core.inputs import read_given
from demele.core.lazy import Later, in_pieces
from demele.core.result import MOST_UNDEFINED
from demele.core.results import Chance, Evaluation, Interval, LeftOut, MetricFacts, Note, Score, Severity, Spread
from demele.core.signature import Signature
from demele.metrics.data import Data, TableSettings, rows_for_pictures
from demele.metrics.guards import (
    FRAGILE,
    TableScores,
    at_chance_notes,
    beside_level,
    few_rows_notes,
    listed,
    many_codes,
    moved_by_outliers,
    noise_notes,
    unprobed_notes,
)
from demele.metrics.metric import MATRIX, SUMMED, Draws, Metric, Native, Outcome, Streams, applied, takes_rng
from demele.metrics.options import RANDOM, Run, RunOptions, check_blocks, checked_run
from demele.metrics.protocols import DEFAULT_PROTOCOL, PROTOCOLS
from demele.metrics.request import Request, checked, resolved
from demele.metrics.source import Draw, InMemory, Source, Subject, half_of_rows, intended_codes
from demele.metrics.verdict import MOST_ROWS, headline, rows_drawn, verdict_of
from demele.runtime.work import Report, one_thread, ordered, reporting

#: From so many shuffles on, p-values reach below 0.05.
FEW_SHUFFLES = 20
#: What the matrix of ``estimator="robust"`` holds.
ROBUST = "information from 0 to 1: 1 - exp(-2 I) of quantities, I / H of classes"
Variant = Literal["repeat", "half", "permutation", "winsorised", "shuffled"]
#: What follows where too few draws are left.
NO_LEVEL = ", so that there is no interval or level"
_WORDS = {
    "repeat": "repeats",
    "half": "resamples",
    "permutation": "permutations",
    "winsorised": "checks for outliers",
    "shuffled": "checks against chance",
}


# Metrics that need rows: one task for those that share a fit, on each draw of the rows, in this process or others -----


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Metrics that share a fit, on one draw: its streams come from what it is, not from when or where it runs.

    It carries formulas, not names of metrics, so that any process can run it. ``calls`` are formula and options of each
    metric, by its name; ``serves`` is the option with whose values of all of them the fit is called.
    """

    stream: str
    calls: Mapping[str, tuple[Callable[..., Any], Mapping[str, Any]]]
    fit: Callable[..., Any] | None
    serves: str
    of_arrays: bool
    loads: str
    seed: int
    variant: Variant
    index: int


@dataclass(frozen=True, slots=True)
class TaskResult:
    """Native values by metric, or the reason why there are none."""

    natives: dict[str, Native]
    error: Exception | None
    seconds: float


def run_task(task: Task, data: Data) -> TaskResult:
    """Run one piece of work on its draw of the data; the result holds an error of ours, if there is one."""

    def streams(*identity: str | int) -> np.random.Generator:
        # the winsorised run repeats the first one in all but the data
        variant = "repeat" if task.variant == "winsorised" else task.variant
        return rng_for(task.seed, task.stream, variant, task.index, *identity)

    with one_thread(*([task.loads] if task.loads else ())):
        started = time.perf_counter()  # importing is no part of a run
        natives, failed = {}, None
        try:
            drawn = _drawn(task, data)
            state: Any = drawn
            if task.fit is not None:
                every = [options for _, options in task.calls.values()]
                served = {task.serves: tuple(sorted({own[task.serves] for own in every}))} if task.serves else {}
                state = applied(task.fit, drawn, {**every[0], **served}, streams)
            for name, (formula, own) in task.calls.items():
                if task.of_arrays:
                    natives[name] = _called(formula, name, *drawn.arrays(), own, streams)
                else:
                    natives[name] = applied(formula, state, own, streams)
        except DemeleError as error:
            natives, failed = {}, error
        return TaskResult(natives, failed, time.perf_counter() - started)


def _drawn(task: Task, data: Data) -> Data:
    if task.variant == "repeat":
        return data
    if task.variant == "winsorised":
        return data.winsorised(data.outlying())
    if task.variant in ("permutation", "shuffled"):
        return data.shuffled(task.seed, task.index)
    half = replace(data.take(half_of_rows(data.n, task.seed, task.index)), drawn_from=data.n)
    constant = [factor.name for factor in half.factors.columns if factor.constant]
    if constant:
        raise NotEnoughData("factors", f"column {constant[0]!r} is constant in half of the rows")
    return half


def _called(
    function: Callable[..., Any],
    name: str,
    codes: Floats,
    factors: Floats,
    options: Mapping[str, Any],
    streams: Streams,
) -> Native:
    """Call a metric of plain arrays; a failure of its writer's is a reason why there is no number, not a crash.

    Raises
    ------
    NotEnoughData
        With the error that it raised, or the value that it returned instead of a real number.
    """
    random = {RANDOM: streams()} if takes_rng(function) else {}
    try:
        found = function(codes, factors, **options, **random)
        value = found.value if isinstance(found, Native) else found
        # float() would read a text, and drop the imaginary part of a complex number of NumPy
        real = not isinstance(value, str | bytes | complex | np.complexfloating)
        number = float(value) if real else np.nan
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # one that ends the process would end the whole run without a word
        raise NotEnoughData(f"{name} raised {''.join(format_exception_only(error)).strip()}") from error
    if not real:
        raise NotEnoughData(f"{name} returned {quoted(found)}, which is no real number")
    if np.isnan(number):
        raise NotEnoughData(f"{name} returned NaN")
    return found if isinstance(found, Native) else Native(value=np.asarray(number))


# One source, all metrics ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Found:
    """What came of requests to a source: those that could be computed with their outcomes, and why there is no more.

    ``refused`` are metrics that do not apply to the representation, ``failed`` those whose computing failed. Without
    ``guards`` scores are not examined, and errors of computing are reasons as well; if ``named``, a metric that does
    not apply is an error.
    """

    source: Source
    run: Run
    report: Report | None = None
    guards: bool = True
    named: bool = False
    requests: list[Request] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    refused: dict[str, DemeleError] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Which metrics have no number, and why: first those that do not apply."""
        reasons = {name: error.said(in_backticks) for name, error in self.refused.items()} | self.failed
        return tuple(LeftOut(metric=name, reason=reason) for name, reason in reasons.items())

    def compute(self, asked: Iterable[Request]) -> "Found":
        """Compute metrics of the source, with what was asked of repeats, resamples and permutations."""
        source, guards = self.source, self.guards
        for one in asked:
            try:
                self.requests.append(resolved(one, source, self.run.seed))
            except DemeleError as error:
                self.refuse(one.name, error)
        shuffle = guards and bool(self.requests) and "rows" in source.states
        if shuffle:  # scores are compared to those of shuffled rows where codes are many, and tell anything at all
            subject = source.subject("rows")
            finding = source.finding() if many_codes(subject.n, subject.codes.d) else None
            shuffle = finding is not None and finding.detected
        tables: dict[TableSettings, list[Request]] = {}
        for request in self.requests:
            if request.settings is not None:
                tables.setdefault(request.settings, []).append(request)
        for settings, group in tables.items():
            self.read_table(settings, group, shuffle=shuffle)
        of_rows = [item for item in self.requests if item.state in ("rows", "arrays")]
        if of_rows:
            self.read_rows(of_rows, shuffle=shuffle)
        for request in self.requests:
            if request.state in SUMMED:
                self.read_sums(request)
        self.requests = [item for item in self.requests if item.name in self.outcomes]
        for request in self.requests if guards else ():  # scores above 0 of codes that tell nothing
            outcome = self.outcomes[request.name]
            value = float(outcome.native.value)
            if request.metric.is_plain or request.state in SUMMED or not value > FRAGILE:
                continue
            subject = source.subject(request.state, request.options)
            n, d = subject.n, subject.codes.d
            finding = source.finding(request.options)  # the source looks once
            if finding is None:
                continue
            notes = noise_notes(value, finding)
            if not notes and "rows" not in source.states and many_codes(n, d):
                message = (
                    f"{d:,} codes are many for {n:,} rows: codes of noise may score as well. Only counts are kept, "
                    "which cannot be shuffled: score the rows, or a sample, with demele.evaluate(n_permutations=20)"
                )
                notes = (Note(code="many-codes", message=message, severity="fragile"),)
            self.outcomes[request.name] = replace(outcome, notes=outcome.notes + notes)
        return self

    def scores(self, protocol: str, *, warn: bool = True) -> list[Score]:
        """Name, note and sign what was computed, and warn of what is fragile."""
        scores = [_score_of(self, request, protocol) for request in self.requests]
        if warn and any(score.fragile for score in scores):
            warn_of_fragile(scores)
        return scores

    def refuse(self, name: str, error: DemeleError) -> None:
        """Keep the reason why a metric does not apply, or raise it."""
        if self.named or (self.guards and not isinstance(error, NotEnoughData)):
            raise error
        self.refused[name] = error

    def read_table(self, settings: TableSettings, requests: list[Request], *, shuffle: bool) -> None:
        """Read metrics off a table and off those of all draws, and examine them."""
        started, source, run, guards = time.perf_counter(), self.source, self.run, self.guards
        pairs = any(item.metric.pairs for item in requests)
        natives: dict[str, Native] = {}
        try:
            table = source.table(settings, pairs=pairs)
        except DemeleError as error:
            if guards:
                raise
            self.failed |= {item.name: error.said(in_backticks) for item in requests}
            return
        for request in requests:
            try:
                natives[request.name] = request.read(table)
            except DemeleError as error:
                self.refuse(request.name, error)
        requests = [item for item in requests if item.name in natives]
        moved = [item for item in requests if guards and item.metric.guards.bins and "rows" in source.states]
        values = {item.name: float(natives[item.name].value) for item in moved}
        examined = TableScores(source, settings, table, moved, values, pairs)
        notes = examined.notes()
        seconds = time.perf_counter() - started

        def drawn(draw: Draw, n_draws: int) -> dict[str, Draws]:
            collected: dict[str, list[Native]] = {request.name: [] for request in requests}
            done = 0
            for one in source.tables(settings, draw, n_draws, run.seed, pairs=pairs) if n_draws else ():
                if self.report is not None:  # a table holds one draw, or a block of them
                    self.report(done, n_draws, draw)
                done += 1 if one.information.ndim == 2 else len(one.information)
                for request in requests:
                    collected[request.name].append(request.read(one))
            return {name: Draws.of(natives) for name, natives in collected.items() if natives}

        resamples = drawn("resamples", run.n_bootstrap)
        halves = resamples if run.halves else {}
        if halves and settings.resamples_by_weight:
            halves = drawn("halves", run.n_bootstrap)
        permutations = drawn("permutations", run.n_permutations)
        shuffled = permutations or drawn("permutations", int(shuffle))
        adjusted = examined.adjusted(resamples if run.n_bootstrap > 1 else {}, run.level)
        for name, (_, details) in adjusted.items():
            natives[name] = replace(natives[name], details={**natives[name].details, "adjusted_for_chance": details})
        for request in requests:
            name, own, value = request.name, request.metric.guards, float(natives[request.name].value)
            told = notes.get(name, ()) + (adjusted[name][:1] if name in adjusted else ())
            told += intended_codes(request.notes, value, request.options.get("reg_dim"), table)
            if guards and shuffled:
                data = source.rows()
                told += at_chance_notes(value, shuffled[name].value, data.n, data.codes.d)
            if guards:
                subject = source.subject("table", request.options)
                if not any(note.code == "few-rows" for note in told):  # a probe said more of it
                    told += few_rows_notes(own, subject.varying, request.options)
                if not source.probed:
                    told += unprobed_notes(own, 0.0, subject.n, subject.codes.d, kept="counts", chance=True)
            self.outcomes[name] = Outcome(
                native=natives[name],
                resamples=resamples.get(name),
                halves=halves.get(name),
                permutations=permutations.get(name),
                seconds=seconds,
                notes=told,
            )

    def read_rows(self, requests: list[Request], *, shuffle: bool) -> None:
        """Run the metrics that need rows, one task for those that share a fit and for each draw.

        The shuffle is left out if the score takes long, because the shuffle would, too.
        """
        data, run, report = self.source.rows(), self.run, self.report
        groups: dict[tuple[str, str], list[Request]] = {}
        for request in requests:
            of_fit = {name: value for name, value in request.options.items() if name != request.metric.serves}
            shares = request.metric.shares
            stream = request.name if shares == request.metric.name else shares
            groups.setdefault((stream, repr(of_fit)), []).append(request)
        can_move = any(item.metric.guards.outliers in ("move it", "of factors move it") for item in requests)
        outlying = data.outlying() if self.guards and can_move else ()
        movable = {"move it": outlying, "of factors move it": data.factors.names, "leave it": (), "unknown": ()}
        tasks: list[Task] = []
        for (stream, _), members in groups.items():
            metric = members[0].metric
            quick = not metric.is_plain and metric.slow < 2
            draws: dict[Variant, int] = {
                "repeat": run.n_repeats if metric.stochastic else 1,
                "half": run.n_bootstrap,
                "permutation": run.n_permutations,
                "winsorised": int(any(name in movable[metric.guards.outliers] for name in outlying)),
                "shuffled": int(shuffle and quick and not run.n_permutations),
            }
            tasks += [
                Task(
                    stream=stream,
                    calls={item.name: (item.metric.formula, item.options) for item in members},
                    fit=metric.fit,
                    serves=metric.serves,
                    of_arrays=members[0].state == "arrays",
                    loads=metric.loads,
                    seed=run.seed,
                    variant=variant,
                    index=index,
                )
                for variant, count in draws.items()
                for index in range(count)
            ]
        n_jobs = 1 if len(tasks) <= 1 else run.n_jobs
        finished: dict[str, dict[Variant, list[TaskResult]]] = {request.name: {} for request in requests}
        results = ordered(run_task, ((task, data) for task in tasks), n_jobs=n_jobs)
        for done, task in enumerate(tasks):
            if report is not None:
                report(done, len(tasks), task.stream)
            result = next(results)
            for name in task.calls:
                finished[name].setdefault(task.variant, []).append(result)
        if report is not None:
            report(len(tasks), len(tasks), "")
        for request in requests:
            own = finished[request.name]
            collected: dict[str, Draws] = {}
            errors = {variant: one.error for variant, ran in own.items() for one in ran if one.error is not None}
            if "repeat" in errors:
                self.failed[request.name] = str(errors["repeat"])
                continue
            for variant, ran in own.items():
                natives = [one.natives[request.name] for one in ran if one.error is None]
                if natives and len(natives) >= 0.9 * len(ran):
                    failed = tuple(index for index, one in enumerate(ran) if one.error is not None)
                    collected[variant] = Draws.of(natives, failed)
            first, repeats = own["repeat"][0].natives[request.name], collected["repeat"]
            native = first if repeats.n == 1 else repeats.mean(first)
            notes = request.notes
            for variant, error in errors.items():
                problem = f"some of the {_WORDS[variant]} could not be computed{NO_LEVEL * (variant not in collected)}"
                notes += (Note(code=f"failed-{variant}", message=f"{problem}: {error}", severity="warning"),)
            if self.guards:
                notes += few_rows_notes(request.metric.guards, data.factors, request.options)
                if "winsorised" in collected:
                    clipped = float(collected["winsorised"].value[0])
                    notes += moved_by_outliers(float(native.value), clipped, outlying)
                notes += first.chance_notes
                shuffled = collected.get("permutation", collected.get("shuffled"))
                if shuffled is not None:
                    notes += at_chance_notes(float(native.value), shuffled.value, data.n, data.codes.d)
            self.outcomes[request.name] = Outcome(
                native=native,
                repeats=repeats if repeats.n > 1 else None,
                resamples=collected.get("half"),
                halves=collected.get("half"),
                permutations=collected.get("permutation"),
                seconds=sum(one.seconds for one in own["repeat"]),
                notes=notes,
            )

    def read_sums(self, request: Request) -> None:
        """Read a metric off the sums of all rows."""
        sums = self.source.sums(request.state, request.options)
        native: Native = applied(request.metric.formula, sums, request.options)
        subject, guards = self.source.subject(request.state, request.options), request.metric.guards
        notes = request.notes + few_rows_notes(guards, subject.varying, request.options)
        if not self.source.probed:
            n, d = subject.n, subject.codes.d
            notes += unprobed_notes(guards, float(native.value), n, d, kept="sums", chance=False)
        self.outcomes[request.name] = Outcome(native=native, notes=notes)


# Calls ----------------------------------------------------------------------------------------------------------------


def scored(metrics: Sequence[Metric], codes: object, factors: object, given: Mapping[str, Any]) -> list[Score]:
    """Do what the public function of a metric does, given its keywords; of several if they share their options.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    held, known = Codes.of(codes), Factors.of(factors)
    table = metrics[0].option_table
    run = {keyword: given[keyword] for keyword in given if keyword not in table}
    for keyword in run:
        if keyword not in RunOptions.__annotations__:
            names = [one.name for one in metrics]
            if keyword == "protocol":
                call = f"demele.evaluate(codes, factors, {names}, protocol=...)"
                raise InputTypeError(keyword, f"is an option of demele.evaluate: write {call}")
            own = ", ".join(dict.fromkeys(option for one in metrics for option in one.options))
            told = f"its own options are {own}" if own else "it has no options of its own"
            problem = f"{', '.join(names)} has no such option; {told}"
            raise InputTypeError(keyword, f"{problem}; every metric takes {', '.join(RunOptions.__annotations__)}")
    options = {keyword: given[keyword] for keyword in given if keyword not in run}
    if known.reg_dim is not None and "reg_dim" in table:
        options.setdefault("reg_dim", known.reg_dim)
    settings = checked_run(**run) if run else Run()
    asked = [Request(metric, metric.name, checked(metric, options)) for metric in metrics]
    for argument, value in (("align", held.align), ("noise", known.noise)):
        if value is not None:
            call = f"demele.evaluate(codes, factors, {[one.name for one in metrics]})"
            raise InputError(argument, "adds to the scores of an evaluation", f"write {call}")
    if not (type(held.values) is type(known.values) is np.ndarray):  # of plain arrays nothing need be asked
        scores: list[Score] | None = in_pieces(asked, held, known, settings)
        if scores is not None:
            return scores
    if known.blocks is not None:
        check_blocks(settings)
    found = Found(rows_in_memory(held, known), settings, named=True).compute(asked)
    for reason in found.failed.values():
        raise NotEnoughData(reason)
    return found.scores(DEFAULT_PROTOCOL)


def rows_in_memory(codes: Codes, factors: Factors) -> InMemory:
    """Read and check rows in memory, with codes in groups of columns and rows in blocks, where these are given.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    values, groups = codes.values, codes.groups
    if getattr(values, "ndim", 2) == 3:
        values, groups = slots_as_groups(values, groups)
    source = InMemory(Subject.of(*read_given(values, factors)), codes.std)
    if groups is not None or codes.reduce is not None:
        from demele.metrics.code_groups import in_groups

        source = in_groups(source, groups, codes.reduce)
    if factors.blocks is not None:
        source.data = replace(source.data, blocks=read_blocks(factors.blocks, source.data.n))
    return source


def evaluation(
    asked: Sequence[Request],
    source: Source,
    run: Run,
    *,
    protocol: str,
    name: str,
    named: bool,
) -> Evaluation:
    """Score one source with several metrics.

    Parameters
    ----------
    asked : sequence of Request
    source : Source
    run : Run
    protocol, name
        As signatures and results say them.
    named : bool
        Whether a metric that does not apply is an error; else it is left out, with the reason.

    Raises
    ------
    NotEnoughData
    """
    with reporting() as report:
        found = Found(source, run, report, named=named).compute(asked)
    for one in asked:
        if one.metric.is_plain and one.name in found.failed:
            warn_user(f"no score of {one.name}: {found.failed[one.name]}", DemeleWarning)
    scores = found.scores(protocol)
    pictures: tuple[Any, ...] = ()
    for request in found.requests:
        if request.metric.pictures is not None and "rows" in source.states:
            native = found.outcomes[request.name].native
            pictures += request.metric.pictures(source.rows(), request.options, native)
    subject, later = source.subject("rows"), Later()
    if "rows" in source.states and not source.in_groups and subject.active:  # read later, of a copy of rows to judge
        first = headline({score.metric: score.value for score in scores})
        drawn = rows_drawn(source.rows(), MOST_ROWS, run.seed)
        judge = partial(verdict_of, drawn, subject.factors.names, seed=run.seed)
        rows = partial(rows_for_pictures, drawn, n=source.rows().n, seed=run.seed)
        later = Later({"verdict": lambda: replace(judge(), first_look=first), "rows": rows})
    return subject.evaluation(
        scores,
        protocol,
        name=name,
        left_out=found.left_out,
        dependency=pictures,
        notes=beside_level(subject.notes) if run.n_permutations else subject.notes,
        later=later,
    )


# Scores -------------------------------------------------------------------------------------------------------------


def _score_of(found: Found, request: Request, protocol: str) -> Score:
    """Put names, intervals, notes and the signature to what was computed; ``context`` is what the source adds to it."""
    run, outcome = found.run, found.outcomes[request.name]
    subject = found.source.subject(request.state, request.options)
    native, spread = outcome.native, subject.spread_factors
    value = float(native.value)

    def interval_of(values: Floats, centre: float) -> Interval:
        low, high = map(float, Draws.quantiles(values, run.level, request.metric.range, centre))
        weighted = request.settings is not None and request.settings.resamples_by_weight
        method = f"{'bootstrap' if weighted else 'half-sample'} percentile, {run.n_bootstrap} resamples"
        return Interval(low=low, high=high, level=run.level, method=method)

    def own_values(one: Native | Draws) -> Floats | None:
        return one.per_code if one.per_factor is None else spread(one.per_factor)

    interval, native_intervals, drawn = None, None, outcome.resamples
    if drawn is not None and drawn.n > 1 and not np.isnan(value):
        interval, draws, centres = interval_of(drawn.value, value), own_values(drawn), own_values(native)
        if draws is not None and centres is not None:
            native_intervals = tuple(map(interval_of, draws.T, centres.tolist()))
    notes = tuple(note for note in subject.notes if note.code != "missing-annotations") + native.notes + outcome.notes
    own, names = native.per_code, subject.codes.names
    constant: Collection[str] = {name for name, still in zip(names, subject.codes.constant, strict=True) if still}
    if native.per_factor is not None:
        own, names, constant = native.per_factor, subject.varying.names, ()
    if own is not None and np.isnan(own).any():  # of factors that vary, or codes; and codes that do not vary
        missing = tuple(name for name, one in zip(names, own, strict=True) if np.isnan(one))
        still = tuple(name for name in missing if name in constant)
        others = tuple(name for name in missing if name not in constant)
        reasons = [f"{listed(others, 5)}: {request.metric.undefined}"] if others else []
        if still:
            reasons.append(f"{listed(still, 5)}: {'it is' if len(still) == 1 else 'they are'} constant")
        message = f"not defined for {'; nor for '.join(reasons)}"
        severity: Severity = "warning" if np.isnan(value) else "info"
        notes += (Note(code="undefined-value", message=message, subject=missing, severity=severity),)
    chance, shuffled = None, outcome.permutations
    if shuffled is not None:
        best, values, failed = request.metric.best, tuple(shuffled.value.tolist()), len(shuffled.failed)
        chance = Chance(values, value, best >= 1, best=best, failed=failed, native=own_values(shuffled))
        asked = len(chance.values) + chance.failed
        without, shuffles = round(chance.undefined_share * asked), plural(asked, "shuffle", "shuffles")
        if chance.undefined_share > MOST_UNDEFINED:
            message = f"chance is not known: {without} of {shuffles} have no score"
            if without > chance.failed:
                message += "; with the rows shuffled codes tell nothing, and nothing is left to score "
                message += f"({request.metric.undefined})"
            notes += (Note(code="undefined-chance", message=message, severity="warning"),)
        else:
            notes += chance.notes
            if without:
                they = "has no score: it is" if without == 1 else "have no score: they are"
                message = f"{without} of {shuffles} {they} left out of the level of chance, and "
                message += f"{'counts' if without == 1 else 'count'} as at least as good for the p-value"
                notes += (Note(code="undefined-shuffles", message=message),)
            if asked < FEW_SHUFFLES:
                few = f"{plural(asked, 'shuffle is', 'shuffles are')} few for a p-value"
                message = f"{few}: it cannot fall below 1/{asked + 1} = {1 / (asked + 1):.3f}"
                notes += (Note(code="few-shuffles", message=message),)
    if 0 < run.n_bootstrap * (1 - run.level) < 2:
        few = f"{run.n_bootstrap} resamples are few for a {100 * run.level:g}% interval"
        message = f"{few}: each end is the value of one resample"
        notes += (Note(code="few-resamples", message=message, severity="warning"),)
    robust = request.settings is not None and request.settings.estimator == "robust"
    used = max(factor.n_annotated for factor in subject.varying.columns)
    return Score(
        metric=request.name,
        value=value,
        n=used,
        signature=_signature(found, request, subject, protocol),
        code_names=subject.codes.names,
        factor_names=subject.factors.names,
        per_factor=spread(native.per_factor),
        per_code=native.per_code,
        native_intervals=native_intervals,
        matrix_values=spread(native.matrix),
        matrix_of=ROBUST if robust and native.matrix_of == MATRIX else native.matrix_of,
        interval=interval,
        halves=None if outcome.halves is None else outcome.halves.numbered,
        spread=None if outcome.repeats is None else Spread(tuple(outcome.repeats.value.tolist())),
        chance=chance,
        notes=notes if chance is None else beside_level(notes),
        details=native.details,
        protocol=protocol,
        seconds=outcome.seconds,
        facts=facts_of(request.metric),
        cited=keys_of(PROTOCOLS[protocol].references),
    )


@lru_cache(maxsize=1024)
def facts_of(metric: Metric) -> MetricFacts:
    """Return what scores carry of their metric."""
    same = {one.name: getattr(metric, one.name) for one in fields(MetricFacts) if one.name != "defaults"}
    defaults = {name: repr(option.default) for name, option in metric.option_table.items()}
    return MetricFacts(**same | {"references": keys_of(metric.references), "defaults": defaults})


@lru_cache(maxsize=1024)
def keys_of(references: tuple[str, ...]) -> tuple[str, ...]:
    """Return the keys of works."""
    return tuple(entry.key for entry in referenced(references))


def _signature(found: Found, request: Request, subject: Subject, protocol: str) -> Signature:
    run = found.run
    metric, unused = request.metric, []
    if request.settings is not None:  # options that the call did not look at would only lengthen its signature
        unused += ["n_neighbors"] if request.settings.estimator == "histogram" else ["bins", "correction"]
    unused += [
        key for key, one in metric.option_table.items() if one.read and request.shown[key] in (None, one.default)
    ]
    arguments: dict[str, object] = {key: value for key, value in request.shown.items() if key not in unused}
    uses_seed = metric.is_plain or metric.stochastic or run.n_bootstrap or run.n_permutations
    if uses_seed or (request.settings is not None and request.settings.estimator == "knn"):
        arguments["seed"] = run.seed
    if run.n_repeats > 1 and metric.stochastic:
        arguments["n_repeats"] = run.n_repeats
    if run.n_bootstrap:
        arguments |= {"n_bootstrap": run.n_bootstrap, "level": run.level}
    if run.n_permutations:
        arguments["n_permutations"] = run.n_permutations
    arguments |= {**subject.factors.reading, **subject.arguments}
    shape = {"rows": subject.n, "codes": subject.codes.d, "factors": subject.factors.m}
    made = Signature.of(request.name, arguments, **shape, protocol=protocol)
    return replace(made, context={**made.context, **metric.provenance, **found.source.context})


def warn_of_fragile(scores: Sequence[Score]) -> None:
    """One warning for each kind of reason: the first score's note in full, and which other scores share it."""
    told: dict[str, list[tuple[str, str]]] = {}
    for score in scores:
        for note in score.notes:
            if note.severity == "fragile":
                told.setdefault(note.code, []).append((score.metric, note.message))
    for (metric, message), *others in told.values():
        likewise = "; likewise " + ", ".join(dict.fromkeys(name for name, _ in others)) if others else ""
        warn_user(f"fragile: {metric}: {message}{likewise}", FragileScoreWarning)
