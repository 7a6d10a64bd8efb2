"""Many metrics of one representation in one call: shared work done once, with uncertainty, chance levels and notes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from demele.core.errors import DemeleWarning, InputError, InputTypeError, NotEnoughData, warn_user
from demele.core.inputs import Missing, read_pair
from demele.core.results import Dependency, Evaluation, FactorSummary, LeftOut, Score
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.metrics.catalogue import CATALOGUE, resolve
from demele.metrics.noise_notes import findings_of, many_codes
from demele.metrics.options import checked_option, restored
from demele.metrics.outcomes import Outcome, by_table, guarded, information_outcomes, task_outcomes
from demele.metrics.pictures import dependency_pictures
from demele.metrics.pieces import SAMPLE, evaluated_in_pieces, read_in_pieces
from demele.metrics.presented import score_of, warn_of_fragile
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.metrics.protocols import protocol as protocol_named
from demele.metrics.requests import (
    Metric,
    Request,
    Run,
    Subject,
    chosen_metrics,
    free_name,
    merged_options,
    request_for,
)
from demele.metrics.requests import given_options as options_given
from demele.runtime.progress import reporting

__all__ = ["evaluate", "replay", "single"]


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
    sample: int = SAMPLE,
) -> Evaluation:
    """Score a representation with every metric that applies, or with those named.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        The representation: NumPy array (memory-mapped too), pandas or polars frame, PyTorch tensor, SciPy sparse
        matrix. Any unit. Larger than memory: a Dask array or data frame, columns of :func:`demele.scan_parquet`, and
        memory-mapped arrays of over 4 GiB (together with the factors) are read a piece at a time.
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
        Resamples of the rows for intervals: percentiles of the resampled values, moved so that their mean is at the
        value (resamples repeat the bias of the sample). Histogram metrics: bootstrap. Others: half of the rows without
        replacement, whose spread has the standard error of the whole and never puts one row into a predictor's
        training and test rows at once.
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
    sample : int >= 4, default 100 000
        Of data read a piece at a time: metrics of histograms count all rows, and have the bits that they have in
        memory; all others, and edges at quantiles, are of a random sample of so many rows, as their notes say. The
        sample depends on ``seed`` and the numbers of the rows only. ``bootstrap``, ``chance`` and ``codes_std`` are
        refused for such data.

    Returns
    -------
    Evaluation
        Iterates over Scores; ``evaluation["mig"]``; ``to_frame()``, ``to_json(path)``, ``to_html(path)``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        Before any computing, naming argument, column and row.
    WorkerError
        If, with ``n_jobs``, a process is killed or runs out of memory.

    Warns
    -----
    UndefinedFactorWarning
        A constant factor was left out.
    FragileScoreWarning
        A score would change much under another defensible setting, or codes of noise would score as well.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((1000, 2))
    >>> evaluation = demele.evaluate(2 * factors, factors, ["mig", "modularity"])
    >>> [round(score.value, 2) for score in evaluation]
    [0.98, 1.0]
    """
    return _evaluate(
        codes,
        factors,
        metrics,
        protocol=protocol,
        seed=seed,
        repeats=repeats,
        bootstrap=bootstrap,
        level=level,
        chance=chance,
        missing=missing,
        kinds=kinds,
        codes_std=codes_std,
        reg_dim=reg_dim,
        bins=bins,
        options=options,
        name=name,
        n_jobs=n_jobs,
        progress=progress,
        sample=sample,
    )


def _evaluate(
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
    sample: int = SAMPLE,
    pictures: bool = True,
) -> Evaluation:
    """Do what :func:`evaluate` says; a single metric has no use for the pictures of a report."""
    if read_in_pieces(codes, factors):
        return evaluated_in_pieces(
            codes,
            factors,
            metrics,
            protocol=protocol,
            seed=seed,
            repeats=repeats,
            bootstrap=bootstrap,
            level=level,
            chance=chance,
            missing=missing,
            kinds=kinds,
            codes_std=codes_std,
            reg_dim=reg_dim,
            bins=bins,
            options=options,
            name=name,
            n_jobs=n_jobs,
            progress=progress,
            sample=sample,
        )
    named = metrics is not None
    run = Run.checked(
        seed=seed, repeats=repeats, bootstrap=bootstrap, level=level, chance=chance, n_jobs=n_jobs, missing=missing
    )
    settings = protocol_named(protocol)
    chosen = chosen_metrics(metrics)
    given = options_given(options)
    if bins is not None:
        bins = checked_option("bins", bins)
    if not isinstance(name, str):
        raise InputTypeError("name", f"expected a string, got {name!r}")
    read_codes_, read_factors_ = read_pair(codes, factors, kinds=kinds, missing=missing)
    subject = Subject.of(read_codes_, read_factors_, codes_std)

    requests: list[Request] = []
    left_out: list[LeftOut] = []
    for metric in chosen:
        if callable(metric):
            requests.append(Request(free_name(metric, [*CATALOGUE, *(item.name for item in requests)]), metric))
            continue
        spec = CATALOGUE[metric]
        try:
            own = merged_options(spec, settings.options, given, bins)
            requests.append(request_for(spec, own, subject, reg_dim))
        except NotEnoughData as error:
            if named:
                raise
            left_out.append(LeftOut(metric=metric, reason=str(error)))
    return _evaluated(requests, left_out, subject, run, settings.name, name, kinds, progress, pictures)


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
    evaluation = _evaluate(
        codes,
        factors,
        names,
        options={key: options},
        codes_std=codes_std,
        reg_dim=reg_dim,
        pictures=False,
        **dict(run),
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

    Returns
    -------
    Score

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
    if not isinstance(signature, str | Signature):
        raise InputTypeError("signature", f"expected its text, got {type(signature).__name__}")
    parsed = Signature.parse(signature) if isinstance(signature, str) else signature
    arguments = {key: restored(value) for key, value in parsed.arguments.items()}
    run = {key: arguments.pop(key) for key in _RUN_KEYS if key in arguments}
    if read_in_pieces(codes, factors):
        run |= {"sample": int(parsed.context.get("sample", SAMPLE))}
        run = {"seed": int(parsed.context.get("sample_seed", 0)), **run}
    else:
        _same_shape(parsed, codes, factors)
    if parsed.metric in ("interventional_robustness", "interventional_disentanglement"):
        from demele.metrics.intervention import irs_general

        again: Score = getattr(irs_general, parsed.metric)(codes, factors, **arguments, **run)
        return again
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
    rows = parsed.context.get("sample_of", parsed.context.get("rows", str(evaluation.n)))
    if rows != str(evaluation.n):
        raise InputError("signature", f"it was made from {rows} rows, the data have {evaluation.n}")
    return evaluation[spec.name]


def _same_shape(parsed: Signature, codes: object, factors: object) -> None:
    """Refuse data of another shape than the signature's, warn of another version."""
    read_codes_, read_factors_ = read_pair(codes, factors, kinds=parsed.arguments.get("kinds"), missing="omit")
    shape = {"rows": read_codes_.n, "codes": read_codes_.d, "factors": read_factors_.m}
    for what, number in shape.items():
        if parsed.context.get(what, str(number)) != str(number):
            raise InputError("signature", f"it was made from {parsed.context[what]} {what}, the data have {number}")
    made = parsed.context.get("demele", __version__)
    if made != __version__:
        warn_user(f"signature: made by demele {made}, replayed by {__version__}; numbers may differ", DemeleWarning)


_RUN_KEYS = ("seed", "repeats", "bootstrap", "level", "chance", "missing", "kinds")


def _evaluated(
    requests: list[Request],
    left_out: list[LeftOut],
    subject: Subject,
    run: Run,
    protocol: str,
    name: str,
    kinds: object,
    progress: bool | Callable[[float, float, str], None],
    pictures: bool,
) -> Evaluation:
    outcomes: dict[str, Outcome | str] = {}
    data = subject.data
    finding = findings_of(data) if many_codes(data.n, data.codes.d) else None
    shuffle = finding is not None and finding.told  # what tells nothing scores as a shuffle does already
    with reporting(progress) as report:
        for settings, group in by_table(requests).items():
            outcomes |= information_outcomes(settings, group, data, run, report, shuffle=shuffle)
        fitted = [item for item in requests if item.settings is None]
        outcomes |= task_outcomes(fitted, data, run, report, shuffle=shuffle)
    outcomes = guarded(outcomes, requests, data, finding)
    scores, missing = [], list(left_out)
    for request in requests:
        outcome = outcomes[request.name]
        if isinstance(outcome, str):
            if request.callable is not None:
                warn_user(f"no score of {request.name}: {outcome}", DemeleWarning)
            missing.append(LeftOut(metric=request.name, reason=outcome))
        else:
            scores.append(score_of(request, outcome, subject, run, protocol, kinds))
    warn_of_fragile(scores)
    drawn: tuple[Dependency, ...] = ()
    irs, options = outcomes.get("irs"), next((item.options for item in requests if item.name == "irs"), None)
    if pictures and isinstance(irs, Outcome) and irs.native.matrix is not None and options is not None:
        drawn = dependency_pictures(subject.data, options["bins"], irs.native.matrix)
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
        dependency=drawn,
        notes=subject.notes,
        version=__version__,
    )
