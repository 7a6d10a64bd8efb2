"""Many metrics of one representation in one call: shared work done once, with uncertainty, chance levels and notes."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele import __version__
from demele.core.errors import (
    DemeleError,
    FragileScoreWarning,
    InputError,
    InputTypeError,
    NotEnoughData,
    UndefinedFactorWarning,
)
from demele.core.inputs import Codes, Factors, Missing, read_codes, read_pair
from demele.core.results import Chance, Evaluation, FactorSummary, Interval, LeftOut, Note, Score, Spread
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.core.spec import MetricSpec
from demele.metrics.catalogue import CATALOGUE, resolve
from demele.metrics.data import Data
from demele.metrics.fragility import fragility_notes
from demele.metrics.information import scores as information_scores
from demele.metrics.information.tables import TableSettings, information_of, permuted_tables, resampled_tables
from demele.metrics.native import Array, Native
from demele.metrics.options import checked_option, checked_options, regularising_codes, restored
from demele.metrics.pictures import dependency_pictures
from demele.metrics.protocols import DEFAULT_PROTOCOL, protocol as protocol_named
from demele.metrics.tasks import Draws, Task, run_tasks

__all__ = ["evaluate", "replay", "single"]

Metric = str | Callable[..., float]


def evaluate(
    codes: object,
    factors: object,
    metrics: Sequence[Metric] | Metric | None = None,
    *,
    protocol: str = DEFAULT_PROTOCOL,
    seed: int = 0,
    repeats: int = 1,
    bootstrap: int = 0,
    level: float = 0.95,
    chance: int = 0,
    missing: Missing = "raise",
    kinds: object = None,
    codes_std: object = None,
    reg_dim: object = None,
    bins: object = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    name: str = "codes",
    n_jobs: int = 1,
    progress: bool | Callable[[float, float, str], None] = False,
) -> Evaluation:
    """Score a representation with every metric that applies, or with those named.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        The representation: NumPy array (memory-mapped too), pandas or polars frame, PyTorch tensor, SciPy sparse
        matrix. Any unit.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        The known factors of the same rows; continuous and categorical columns may be mixed.
    metrics : None, or sequence of names and callables
        None: all that apply. A callable is called with the codes, an array (n_samples, n_codes), and the factors, an
        array (n_samples, n_factors) that holds level numbers for categorical ones, and returns a float.
    protocol : str, default "review2022"
        Named settings, see :func:`demele.protocol_names`.
    seed : int >= 0
        Same seed, same input: same bits, whatever ``n_jobs``.
    repeats : int >= 1
        Runs of the stochastic metrics with different streams; the value is then their mean.
    bootstrap : int >= 0
        Resamples of the rows for intervals. Histogram metrics: percentiles over bootstrap resamples. Others: half of
        the rows without replacement, whose spread has the standard error of the whole and no row twice in a
        predictor's training and test rows; percentiles around their mean, moved to the value.
    level : float in (0, 1)
        Nominal coverage of the intervals.
    chance : int >= 0
        Permutations of the factors' rows for the chance level.
    missing : {"raise", "omit"}
        What to do with missing annotations: refuse, or score each factor on the rows annotated for it.
    kinds : None, str, mapping or sequence
        "continuous" or "categorical", where the detected kind of a factor is wrong.
    codes_std : array-like of shape (n_samples, n_codes), optional
        Standard deviations of stochastic codes, for RMIG.
    reg_dim : sequence of int or str, optional
        The code that regularises each factor, for DMIG, XMIG, DLIG and (if given) MIG.
    bins : int, Binning or edges, optional
        Overrides the protocol's bins for every metric that discretises.
    options : mapping of metric or group to mapping, optional
        Overrides single options, such as ``{"dci_forest": {"n_trees": 50}}``.
    name : str
        What tables and reports call this representation.
    n_jobs : int
        Processes; -1 for all processors.
    progress : bool or callable(done, total, label)
        Show a progress bar on anything that takes over a second.

    Returns
    -------
    Evaluation
        Iterates over Scores; ``evaluation["mig"]``; ``to_frame()``, ``to_json(path)``, ``to_html(path)``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        Before any computing, naming argument, column and row.

    Warns
    -----
    UndefinedFactorWarning
        A constant factor was left out.
    FragileScoreWarning
        A score would change much under another defensible setting.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((1000, 2))
    >>> evaluation = demele.evaluate(2 * factors, factors, ["mig", "modularity"])
    >>> [round(score.value, 2) for score in evaluation]
    [0.97, 1.0]
    """
    named = metrics is not None
    run = _Run.checked(
        seed=seed, repeats=repeats, bootstrap=bootstrap, level=level, chance=chance, n_jobs=n_jobs, missing=missing
    )
    settings = protocol_named(protocol)
    chosen = _chosen(metrics)
    given = _given_options(options)
    if bins is not None:
        bins = checked_option("bins", bins)
    if not isinstance(name, str):
        raise InputTypeError(f"name: expected a string, got {name!r}")
    read_codes_, read_factors_ = read_pair(codes, factors, kinds=kinds, missing=missing)
    subject = _Subject.of(read_codes_, read_factors_, codes_std)

    requests: list[_Request] = []
    left_out: list[LeftOut] = []
    for metric in chosen:
        if callable(metric):
            requests.append(_Request(metric.__name__ if hasattr(metric, "__name__") else type(metric).__name__, metric))
            continue
        spec = CATALOGUE[metric]
        try:
            own = _merged(spec, settings.options, given, bins)
            requests.append(_request(spec, own, subject, reg_dim))
        except NotEnoughData as error:
            if named:
                raise
            left_out.append(LeftOut(metric=metric, reason=str(error)))
    return _evaluated(requests, left_out, subject, run, settings.name, name, kinds, progress)


def single(
    metric: str | Sequence[str],
    codes: object,
    factors: object,
    options: Mapping[str, Any],
    run: Mapping[str, Any],
    *,
    codes_std: object = None,
    reg_dim: object = None,
) -> list[Score]:
    """Run one metric (or the metrics of one group) as its public function does: errors are raised, not collected."""
    allowed = ("seed", "repeats", "bootstrap", "level", "chance", "missing", "kinds", "n_jobs")
    for keyword in run:
        if keyword not in allowed:
            raise InputTypeError(f"{keyword}: no such option; every metric takes {', '.join(allowed)}")
    names = [metric] if isinstance(metric, str) else list(metric)
    group = CATALOGUE[names[0]].group
    key = names[0] if group == "information" else group
    evaluation = evaluate(
        codes, factors, names, options={key: options}, codes_std=codes_std, reg_dim=reg_dim, **dict(run)
    )
    if evaluation.left_out:
        raise NotEnoughData(evaluation.left_out[0].reason)
    return list(evaluation)


def replay(signature: str | Signature, codes: object, factors: object, *, codes_std: object = None) -> Score:
    """Make a number again from its signature: same rows, same bits.

    Parameters
    ----------
    signature : str or Signature
        As ``score.signature`` prints it.
    codes, factors : array-like
        The same data.
    codes_std : array-like, optional
        For RMIG.

    Raises
    ------
    InputError
        If the text is not a signature, or the data have another number of rows.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((500, 2))
    >>> score = demele.z_min_variance(factors, factors, seed=3, n_train=100, n_test=100)
    >>> demele.replay(str(score.signature), factors, factors).value == score.value
    True
    """
    parsed = Signature.parse(signature) if isinstance(signature, str) else signature
    arguments = {key: restored(value) for key, value in parsed.arguments.items()}
    run = {key: arguments.pop(key) for key in _RUN_KEYS if key in arguments}
    spec = CATALOGUE[resolve(parsed.metric)]
    reg_dim = arguments.pop("reg_dim", None)
    key = spec.name if spec.group == "information" else spec.group
    evaluation = evaluate(
        codes,
        factors,
        [spec.name],
        protocol=parsed.context.get("protocol", DEFAULT_PROTOCOL),
        options={key: arguments},
        codes_std=codes_std,
        reg_dim=reg_dim,
        **run,  # type: ignore[arg-type]
    )
    rows = parsed.context.get("rows")
    if rows is not None and int(rows) != evaluation.n:
        raise InputError(f"signature: it was made from {rows} rows, the data have {evaluation.n}")
    return evaluation[spec.name]


_RUN_KEYS = ("seed", "repeats", "bootstrap", "level", "chance", "missing", "kinds")


# What was asked for ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Run:
    """Keywords that all metrics share, validated."""

    seed: int
    repeats: int
    bootstrap: int
    level: float
    chance: int
    n_jobs: int
    missing: Missing

    @classmethod
    def checked(cls, **given: Any) -> "_Run":
        n_jobs = given.pop("n_jobs")
        if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0 or n_jobs < -1:
            raise InputError(f"n_jobs: expected a number of processes, or -1 for all processors, got {n_jobs!r}")
        checked: dict[str, Any] = {key: checked_option(key, value) for key, value in given.items()}
        return cls(n_jobs=int(n_jobs), **checked)


@dataclass(frozen=True, slots=True)
class _Subject:
    """The representation: all columns, and the rows and factors that vary."""

    codes: Codes
    factors: Factors
    active: tuple[int, ...]
    data: Data
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, codes: Codes, factors: Factors, codes_std: object) -> "_Subject":
        active = tuple(index for index, factor in enumerate(factors.columns) if not factor.constant)
        varying = Factors(tuple(factors.columns[index] for index in active), factors.missing, factors.ambiguous)
        notes = []
        for factor in factors.columns:
            if factor.constant:
                message = f"factor {factor.name!r} is constant and was left out"
                warnings.warn(message, UndefinedFactorWarning, stacklevel=4)
                notes.append(Note(code="constant-factor", message=message, subject=(factor.name,), severity="warning"))
            if not factor.complete:
                message = f"factor {factor.name!r} is annotated on {factor.n_annotated} of {codes.n} rows"
                notes.append(Note(code="missing-annotations", message=message, subject=(factor.name,)))
        constant = tuple(name for name, dead in zip(codes.names, codes.constant, strict=True) if dead)
        if constant:
            listed = ", ".join(repr(item) for item in constant[:5]) + (", ..." if len(constant) > 5 else "")
            message = f"constant codes ({listed}) carry no information and no importance"
            notes.append(Note(code="constant-code", message=message, subject=constant))
        for item in factors.ambiguous:
            message = f"factor {item!r} was read as categorical with very many values; kinds={{{item!r}: 'continuous'}} if it is a number"
            notes.append(Note(code="many-levels", message=message, subject=(item,), severity="warning"))
        return cls(codes, factors, active, Data(codes, varying, _checked_std(codes_std, codes)), tuple(notes))

    @property
    def m(self) -> int:
        return self.factors.m

    def spread_factors(self, values: Array) -> Array:
        """Put values of the active factors into the order of all factors, NaN elsewhere (last axis)."""
        if len(self.active) == self.m:
            return values
        full = np.full((*values.shape[:-1], self.m), np.nan)
        full[..., list(self.active)] = values
        return full


def _checked_std(codes_std: object, codes: Codes) -> Array | None:
    if codes_std is None:
        return None
    read = read_codes(codes_std, "codes_std")
    if (read.n, read.d) != (codes.n, codes.d):
        raise InputError(
            f"codes_std: expected the shape of codes, ({codes.n}, {codes.d}), got ({read.n}, {read.d})"
        )
    if (read.low < 0).any():
        column = int(np.flatnonzero(read.low < 0)[0])
        row = int(np.flatnonzero(np.asarray(read.values[:, column]) < 0)[0])
        raise InputError(
            f"codes_std: expected standard deviations of at least 0, got a negative one in column "
            f"{read.names[column]!r}, first at row {row}"
        )
    return read.dense()


@dataclass(frozen=True, slots=True)
class _Request:
    """One metric to compute, with its options resolved."""

    name: str
    callable: Callable[..., float] | None = None
    spec: MetricSpec | None = None
    options: Mapping[str, Any] | None = None
    reg_dim: NDArray[np.intp] | None = None
    settings: TableSettings | None = None
    notes: tuple[Note, ...] = ()


def _chosen(metrics: Sequence[Metric] | Metric | None) -> list[Metric]:
    if metrics is None:
        return list(CATALOGUE)
    if isinstance(metrics, str) or callable(metrics):
        metrics = [metrics]
    if not isinstance(metrics, Sequence):
        raise InputTypeError(f"metrics: expected names or callables, got {type(metrics).__name__}")
    if not metrics:
        raise InputError("metrics: expected at least one name or callable, got none")
    chosen: list[Metric] = []
    for metric in metrics:
        item = metric if callable(metric) else resolve(metric)
        if item not in chosen:
            chosen.append(item)
    return chosen


def _given_options(options: object) -> dict[str, Mapping[str, Any]]:
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise InputTypeError(f"options: expected a mapping of metric to options, got {type(options).__name__}")
    groups = {spec.group for spec in CATALOGUE.values()}
    given: dict[str, Mapping[str, Any]] = {}
    for key, own in options.items():
        if not isinstance(own, Mapping):
            raise InputTypeError(f"options: expected a mapping of options for {key!r}, got {own!r}")
        given[key if key in groups else resolve(key)] = own
    return given


def _merged(
    spec: MetricSpec,
    protocol: Mapping[str, Mapping[str, Any]],
    given: Mapping[str, Mapping[str, Any]],
    bins: object,
) -> dict[str, Any]:
    """Options of one metric: defaults of its function, the protocol, what was given; the more special one wins."""
    from demele.metrics.functions import FUNCTIONS

    function, fixed = FUNCTIONS[spec.name]
    own: dict[str, Any] = {}
    if spec.group == "information":  # a group's options reach the metrics that have them
        known = set(spec.options)
        own |= {key: value for key, value in protocol.get(spec.group, {}).items() if key in known}
    else:
        own |= protocol.get(spec.group, {})
    own |= protocol.get(spec.name, {})
    if bins is not None and spec.discretises:
        own["bins"] = bins
    group_options = given.get(spec.group, {})
    if spec.group == "information":
        _known_to_group(group_options)
        group_options = {key: value for key, value in group_options.items() if key in spec.options}
    own |= group_options
    own |= given.get(spec.name, {})
    return checked_options(function, own | fixed, spec.name)


def _known_to_group(options: Mapping[str, Any]) -> None:
    known = {option for spec in CATALOGUE.values() if spec.group == "information" for option in spec.options}
    for key in options:
        if key not in known:
            raise InputError(f"options: no information-based metric has an option {key!r}; known are {', '.join(sorted(known))}")


def _request(spec: MetricSpec, options: dict[str, Any], subject: _Subject, reg_dim: object) -> _Request:
    """Check that a metric applies to the representation, and resolve what depends on its columns."""
    d, m = subject.codes.d, len(subject.active)
    if d < spec.needs_codes:
        raise NotEnoughData(f"codes: {spec.name} needs at least {spec.needs_codes} codes, got {d}")
    if m < spec.needs_factors:
        raise NotEnoughData(f"factors: {spec.name} needs at least {spec.needs_factors} factors that vary, got {m}")
    if spec.needs_codes_std and subject.data.codes_std is None:
        raise NotEnoughData(f"codes_std: {spec.name} needs the standard deviations of the codes; pass codes_std")
    if spec.group != "information":
        return _Request(spec.name, spec=spec, options=options)
    mapping, notes = _reg_dim(spec, options, subject, reg_dim)
    settings = TableSettings(
        binning=options["bins"],
        estimator=options.get("estimator", "histogram"),
        correction=options.get("correction", "none"),
        n_neighbors=options.get("n_neighbors", 3),
        soft=spec.needs_codes_std,
    )
    return _Request(spec.name, spec=spec, options=options, reg_dim=mapping, settings=settings, notes=notes)


def _reg_dim(
    spec: MetricSpec, options: dict[str, Any], subject: _Subject, reg_dim: object
) -> tuple[NDArray[np.intp] | None, tuple[Note, ...]]:
    if "reg_dim" not in options:
        return None, ()
    given = options["reg_dim"] if options["reg_dim"] is not None else reg_dim
    options["reg_dim"] = given
    if spec.name == "mig" and given is None and not options["fill_reg_dim"]:
        return None, ()
    full = regularising_codes(given, subject.codes.names, subject.factors.names)
    options["reg_dim"] = None if given is None else tuple(int(code) for code in full)
    active = full[list(subject.active)]
    if spec.name == "xmig" and len(np.unique(active)) == subject.codes.d:
        raise NotEnoughData(
            "reg_dim: xmig needs a code that regularises no factor, but every code is the code of some factor"
        )
    return active, () if given is not None else (_ASSUMED_ORDER,)


_ASSUMED_ORDER = Note(
    code="assumed-reg-dim",
    message="code i was taken to regularise factor i, in the order of the columns; name the codes with reg_dim if not so",
)


# Computing -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What computing gave for one metric: the value, and its draws under repeats, resamples and permutations."""

    native: Native
    repeats: Draws | None = None
    resamples: Draws | None = None
    resampling: str = ""
    permutations: Draws | None = None
    seconds: float = float("nan")
    notes: tuple[Note, ...] = ()


def _evaluated(
    requests: list[_Request],
    left_out: list[LeftOut],
    subject: _Subject,
    run: _Run,
    protocol: str,
    name: str,
    kinds: object,
    progress: bool | Callable[[float, float, str], None],
) -> Evaluation:
    outcomes: dict[str, _Outcome | str] = {}
    with _reporting(progress) as report:
        for settings, group in _by_table(requests).items():
            outcomes |= _information_outcomes(settings, group, subject.data, run)
        outcomes |= _task_outcomes([item for item in requests if item.settings is None], subject.data, run, report)
    scores, missing = [], list(left_out)
    for request in requests:
        outcome = outcomes[request.name]
        if isinstance(outcome, str):
            missing.append(LeftOut(metric=request.name, reason=outcome))
        else:
            scores.append(_score(request, outcome, subject, run, protocol, kinds))
    if any(score.fragile for score in scores):
        listed = ", ".join(score.metric for score in scores if score.fragile)
        reasons = sorted({note.message for score in scores for note in score.notes if note.severity == "fragile"})
        warnings.warn(f"fragile: {listed}: {reasons[0]}" + (" (and more: see the notes)" if len(reasons) > 1 else ""),
                      FragileScoreWarning, stacklevel=3)
    irs_options = next((item.options for item in requests if item.name == "irs"), None)
    pictures = () if irs_options is None else dependency_pictures(subject.data, irs_options["bins"])
    return Evaluation(
        scores=tuple(scores),
        left_out=tuple(missing),
        protocol=protocol,
        name=name,
        n=subject.codes.n,
        code_names=subject.codes.names,
        factors=tuple(
            FactorSummary(
                name=factor.name,
                kind=factor.kind,
                n_levels=len(factor.levels) if factor.categorical else None,
                n_annotated=factor.n_annotated,
                constant=factor.constant,
            )
            for factor in subject.factors.columns
        ),
        dependency=pictures,
        notes=subject.notes,
        version=__version__,
    )


def _reporting(progress: bool | Callable[[float, float, str], None]) -> Any:
    from contextlib import nullcontext

    if callable(progress):
        return nullcontext(progress)
    if progress:
        from demele.runtime.progress import progress_bar

        return progress_bar()
    return nullcontext(None)


def _by_table(requests: list[_Request]) -> dict[TableSettings, list[_Request]]:
    groups: dict[TableSettings, list[_Request]] = {}
    for request in requests:
        if request.settings is not None:
            groups.setdefault(request.settings, []).append(request)
    return groups


def _information_outcomes(
    settings: TableSettings, requests: list[_Request], data: Data, run: _Run
) -> dict[str, _Outcome]:
    started = time.perf_counter()
    settings = replace(settings, seed=run.seed)
    natives: dict[str, Native] = {}
    table = information_of(data, settings)
    for request in requests:
        natives[request.name] = information_scores.native_of(request.name, table, request.reg_dim)
    notes = fragility_notes(data, settings, table, {item.name: (natives[item.name], item.reg_dim) for item in requests})
    seconds = time.perf_counter() - started
    resamples = permutations = None
    if run.bootstrap:
        if settings.resamples_by_weight:
            tables = resampled_tables(data, settings, run.bootstrap, run.seed)
        else:
            tables = (
                information_of(data.take(_half(data.n, run.seed, index)), settings) for index in range(run.bootstrap)
            )
        resamples = _drawn(tables, requests)
    if run.chance:
        permutations = _drawn(permuted_tables(data, settings, run.chance, run.seed), requests)
    return {
        request.name: _Outcome(
            native=natives[request.name],
            resamples=None if resamples is None else resamples[request.name],
            resampling="bootstrap" if settings.resamples_by_weight else "half-samples",
            permutations=None if permutations is None else permutations[request.name],
            seconds=seconds,
            notes=notes.get(request.name, ()) + request.notes,
        )
        for request in requests
    }


def _drawn(tables: Iterator[Any], requests: list[_Request]) -> dict[str, Draws]:
    collected: dict[str, list[Native]] = {request.name: [] for request in requests}
    for table in tables:
        for request in requests:
            collected[request.name].append(information_scores.native_of(request.name, table, request.reg_dim))
    return {name: Draws.of(natives) for name, natives in collected.items()}


def _half(n: int, seed: int, index: int) -> NDArray[np.intp]:
    return np.sort(rng_for(seed, "half-sample", index).permutation(n)[: max(n // 2, 2)])


def _task_outcomes(
    requests: list[_Request], data: Data, run: _Run, report: Callable[[float, float, str], None] | None
) -> dict[str, _Outcome | str]:
    """Run the metrics that are not read off an information table: one task per group and draw."""
    groups: dict[tuple[str, str], list[_Request]] = {}
    for request in requests:
        group = request.name if request.spec is None else request.spec.group
        groups.setdefault((group, repr(request.options)), []).append(request)
    tasks: list[Task] = []
    for (group, _), members in groups.items():
        first = members[0]
        stochastic = first.spec is not None and first.spec.stochastic
        shared = {"group": group, "options": first.options or {}, "function": first.callable, "seed": run.seed}
        tasks += [Task(**shared, variant="repeat", index=r) for r in range(run.repeats if stochastic else 1)]
        tasks += [Task(**shared, variant="half", index=b) for b in range(run.bootstrap)]
        tasks += [Task(**shared, variant="permutation", index=p) for p in range(run.chance)]
    results = run_tasks(tasks, data, n_jobs=run.n_jobs, report=report)
    outcomes: dict[str, _Outcome | str] = {}
    for (group, options), members in groups.items():
        own = [
            (task, result)
            for task, result in zip(tasks, results, strict=True)
            if task.group == group and repr(task.options) == repr(members[0].options or {})
        ]
        for request in members:
            outcomes[request.name] = _collected(request, own)
    return outcomes


def _collected(request: _Request, own: list[tuple[Task, Any]]) -> _Outcome | str:
    name = request.name
    seconds = sum(result.seconds for task, result in own if task.variant == "repeat")

    def draws(variant: str) -> Draws | None:
        found = [result.natives[name] for task, result in own if task.variant == variant and result.error is None]
        asked = sum(task.variant == variant for task, _ in own)
        return Draws.of(found) if found and len(found) >= 0.9 * asked else None

    for task, result in own:
        if task.variant == "repeat" and result.error is not None:
            return str(result.error)
    repeats = draws("repeat")
    if repeats is None:
        return "no run finished"
    first = next(result.natives[name] for task, result in own if task.variant == "repeat")
    native = first if repeats.n == 1 else repeats.mean(first)
    failed = {task.variant: str(result.error) for task, result in own if result.error is not None}
    notes = tuple(
        Note(code=f"failed-{variant}", message=f"some draws ({variant}) could not be computed: {error}", severity="warning")
        for variant, error in failed.items()
    )
    return _Outcome(
        native=native,
        repeats=repeats if repeats.n > 1 else None,
        resamples=draws("half"),
        resampling="half-samples",
        permutations=draws("permutation"),
        seconds=seconds,
        notes=request.notes + notes,
    )


# Results ---------------------------------------------------------------------------------------------------------------


def _score(
    request: _Request, outcome: _Outcome, subject: _Subject, run: _Run, protocol: str, kinds: object
) -> Score:
    import pandas as pd

    native = outcome.native
    value = float(native.value)
    per_factor = None if native.per_factor is None else subject.spread_factors(native.per_factor)
    matrix = None
    if native.matrix is not None:
        full = subject.spread_factors(native.matrix)
        matrix = pd.DataFrame(full, index=list(subject.codes.names), columns=list(subject.factors.names))
    interval, native_intervals = None, None
    if outcome.resamples is not None and outcome.resamples.n > 1:
        interval, native_intervals = _intervals(outcome, native, subject, run)
    best_high = request.spec is None or request.spec.best >= 1
    notes = tuple(note for note in subject.notes if note.code != "missing-annotations") + native.notes + outcome.notes
    used = max(factor.n_annotated for factor in subject.data.factors.columns)
    return Score(
        metric=request.name,
        value=value,
        n=used,
        signature=_signature(request, subject, run, protocol, kinds),
        code_names=subject.codes.names,
        factor_names=subject.factors.names,
        per_factor=per_factor,
        per_code=native.per_code,
        native_intervals=native_intervals,
        matrix=matrix,
        matrix_of=native.matrix_of,
        interval=interval,
        spread=None if outcome.repeats is None else Spread(tuple(float(item) for item in outcome.repeats.value)),
        chance=None
        if outcome.permutations is None
        else Chance(tuple(float(item) for item in outcome.permutations.value), value, best_high),
        notes=notes,
        details=native.details,
        protocol=protocol,
        seconds=outcome.seconds,
    )


def _intervals(
    outcome: _Outcome, native: Native, subject: _Subject, run: _Run
) -> tuple[Interval, tuple[Interval, ...] | None]:
    draws = outcome.resamples
    if draws is None:
        raise ValueError("no resamples")
    centred = outcome.resampling == "half-samples"

    def interval(values: Array, centre: float) -> Interval:
        low, high = draws.quantiles(values, run.level, centre if centred else None)
        method = "half-sample percentile" if centred else "bootstrap percentile"
        return Interval(low=low, high=high, level=run.level, method=f"{method}, {run.bootstrap} resamples")

    whole = interval(draws.value, float(native.value))
    own, centres = (draws.per_factor, native.per_factor) if draws.per_factor is not None else (draws.per_code, native.per_code)
    if own is None or centres is None:
        return whole, None
    if draws.per_factor is not None:
        own, centres = subject.spread_factors(own), subject.spread_factors(centres)
    return whole, tuple(interval(own[:, index], float(centres[index])) for index in range(own.shape[1]))


def _signature(request: _Request, subject: _Subject, run: _Run, protocol: str, kinds: object) -> Signature:
    arguments: dict[str, object] = dict(request.options or {})
    arguments = {key: value for key, value in arguments.items() if not (key == "reg_dim" and value is None)}
    uses_seed = request.spec is None or request.spec.stochastic or run.bootstrap or run.chance
    if uses_seed or (request.settings is not None and request.settings.estimator == "knn"):
        arguments["seed"] = run.seed
    if run.repeats > 1 and request.spec is not None and request.spec.stochastic:
        arguments["repeats"] = run.repeats
    if run.bootstrap:
        arguments |= {"bootstrap": run.bootstrap, "level": run.level}
    if run.chance:
        arguments["chance"] = run.chance
    if run.missing != "raise":
        arguments["missing"] = run.missing
    if kinds is not None:
        arguments["kinds"] = {factor.name: factor.kind for factor in subject.factors.columns}
    context = {
        "rows": str(subject.codes.n),
        "codes": str(subject.codes.d),
        "factors": str(subject.m),
        "protocol": protocol,
        "demele": __version__,
    }
    return Signature(request.name, arguments, context)


_ = DemeleError
