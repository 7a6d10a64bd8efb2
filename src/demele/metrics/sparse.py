"""Sparse codes, such as the activations of a sparse dictionary, scored from their non-zeros alone."""

import numbers
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from demele.core.errors import (
    AmbiguousKindWarning,
    InputError,
    InputTypeError,
    NotEnoughData,
    UndefinedFactorWarning,
    warn_user,
)
from demele.core.inputs import Factors, Missing, read_factors
from demele.core.results import FactorSummary, LeftOut, Note, Score
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.core.sparse_inputs import SparseCodes, read_sparse_codes
from demele.core.version import __version__
from demele.estimation.discretise import Binning
from demele.estimation.sparse_counts import Active
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.fragility import FRAGILE
from demele.metrics.information import scores as information_scores
from demele.metrics.native import Array
from demele.metrics.noise_notes import at_chance_notes, many_codes, noise_notes
from demele.metrics.options import as_binning
from demele.metrics.presented import warn_of_fragile
from demele.metrics.requests import Metric, Run, chosen_metrics, given_options, merged_options
from demele.metrics.sparse_results import SparseEvaluation
from demele.metrics.sparse_screen import screened_codes, screened_scores, told_by_codes
from demele.metrics.sparse_tables import SparseTable, sparse_table, spread
from demele.metrics.sparse_top import top_codes
from demele.runtime.progress import reporting

__all__ = ["SPARSE_METRICS", "evaluate_sparse"]

_FROM_COUNTS = ("mig", "mig_sup", "modularity", "dcimig", "jemmig")
_FITTED = ("sap", *(f"dci_{model}_{prop}" for model in ("forest", "lasso", "boosting")
                    for prop in ("modularity", "compactness", "explicitness")))  # fmt: skip
#: The metrics that sparse codes are scored with.
SPARSE_METRICS = (*_FROM_COUNTS, *_FITTED)
#: Codes whose score with shuffled factors stands for that of all.
SHUFFLED_CODES = 500
#: Those computed unless others are named: predictors on hundreds of codes take minutes for each factor.
_USUAL = (*_FROM_COUNTS, "sap")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings:
    """The options of a call, checked."""

    bins: Binning
    factor_bins: Binning
    correction: Literal["none", "miller-madow"]
    screen: int
    n_rows: int
    top: int
    run: Run
    name: str
    kinds: object


def evaluate_sparse(
    codes: object,
    factors: object,
    metrics: Sequence[Metric] | Metric | None = None,
    *,
    bins: object = 10,
    factor_bins: object = 10,
    correction: Literal["none", "miller-madow"] = "none",
    screen: int = 200,
    n_rows: int = 20_000,
    top: int = 10,
    code_names: Sequence[str] | None = None,
    seed: int = 0,
    missing: Missing = "raise",
    kinds: object = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    name: str = "codes",
    n_jobs: int = 1,
    progress: bool | Callable[[float, float, str], None] = False,
) -> SparseEvaluation:
    """Score sparse codes with up to 1e5 dimensions, and name the codes that hold each factor.

    Parameters
    ----------
    codes : SciPy sparse matrix or array of shape (n_samples, n_codes), real, finite
        Any format, such as the activations of a sparse dictionary; negative values are allowed. Stored zeros are
        zeros, and entries that stand twice are added up. Never made dense.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        The known factors of the same rows, as for :func:`demele.evaluate`.
    metrics : None, or sequence of names
        mig, mig_sup, modularity, dcimig, jemmig, sap and the dci_* metrics; None: all but DCI, whose predictors take
        seconds to minutes for each factor.
    bins : int, str, Binning or edges, default 10
        Cuts the non-zeros of each code, between its smallest and its largest one. Zero is always a bin of its own. 1:
        a code is active or not.
    factor_bins : int, str, Binning or edges, default 10
        Cuts continuous factors.
    correction : {"none", "miller-madow"}
        Of the bias of information, about (B_z - 1)(B_v - 1) / 2n upwards.
    screen : int >= 2, default 200
        Codes on which predictors are fitted (SAP of categorical factors, DCI): each factor's best by information, each
        factor's second best, and so on.
    n_rows : int >= 50, default 20 000
        Rows on which they are fitted at most: a seeded sample.
    top : int >= 1, default 10
        Codes kept per factor in ``top_codes`` and in files.
    code_names : sequence of str, optional
        ``z1``, ``z2``, ... by default.
    seed : int >= 0
        Of the sample of rows and the predictors. Same seed, same input: same bits, whatever ``n_jobs``.
    missing : {"raise", "omit"}
        Missing annotations: refuse, or score each factor on the rows annotated for it.
    kinds : None, str, mapping or sequence
        "continuous" or "categorical", where the detected kind of a factor is wrong.
    options : mapping of metric or group to mapping, optional
        Options of SAP and DCI, such as ``{"dci_forest": {"n_trees": 50}}``.
    name : str
        What tables call this representation.
    n_jobs : int
        Threads for counting, processes for predictors; -1 for all processors.
    progress : bool or callable(done, total, label)
        Show a progress bar on anything that takes over a second.

    Returns
    -------
    SparseEvaluation
        Iterates over Scores; ``evaluation["mig"]``; ``information``, a table (n_codes, n_factors) in nats;
        ``top_codes(factor)`` and ``top_frame()``; ``activity``; ``to_frame()``, ``to_json(path)``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        Before any computing, naming argument, column and row.

    Warns
    -----
    UndefinedFactorWarning
        A constant factor was left out.
    AmbiguousKindWarning
        Whole numbers could be classes or a quantity.

    Notes
    -----
    The formulas are those of :func:`demele.evaluate`; what they are computed from differs so. (1) Information: zero
    has a bin of its own and the non-zeros are cut by themselves, so that one large value does not put the whole code
    into the bin of zero. Where a code is never zero it has no such bin. (2) SAP of a continuous factor is that of all
    codes on all rows (squared correlation, from sums over the non-zeros); SAP of a categorical factor and DCI are
    those of the screened codes on at most ``n_rows`` rows; a note says how many codes and what share of the
    information the others hold. With as many screened codes and rows as there are, they equal the dense scores. The
    compactness of DCI counts the screened codes as all there are. (3) Codes that are zero in every row score 0 in
    Modularity and MIG-sup, as constant ones do; a note tells the mean of the others.

    Cost: O(non-zeros x n_factors) time to count plus O(n_codes x bins x levels) for the tables; a copy of the
    non-zeros, the factors at a byte each, and a few (n_codes, n_factors) tables of memory.

    Examples
    --------
    >>> import demele, numpy as np, scipy.sparse
    >>> concept = np.arange(1000) % 2
    >>> codes = scipy.sparse.csr_array(np.column_stack([concept * 0.5, 1.0 - concept, np.zeros(1000)]))
    >>> evaluation = demele.evaluate_sparse(codes, concept, ["dcimig"], code_names=["on", "off", "dead"])
    >>> evaluation["dcimig"].value
    1.0
    >>> [(code.code, code.direction) for code in evaluation.top_codes("v1", 2)]
    [('on', '1'), ('off', '0')]
    """
    settings = _Settings(
        bins=_nonzero_binning(bins),
        factor_bins=_checked_factor_bins(factor_bins),
        correction=_checked_correction(correction),
        screen=_at_least("screen", screen, 2),
        n_rows=_at_least("n_rows", n_rows, 50),
        top=_at_least("top", top, 1),
        run=Run.checked(seed=seed, repeats=1, bootstrap=0, level=0.95, chance=0, n_jobs=n_jobs, missing=missing),
        name=_checked_name(name),
        kinds=kinds,
    )
    chosen = _chosen(metrics)
    fitted_options = _fitted_options(chosen, options)
    read = read_sparse_codes(codes, code_names)
    columns = _read_factors(read, factors, kinds, missing)
    return _evaluated(read, columns, chosen, metrics is not None, fitted_options, settings, progress)


# Before any computing --------------------------------------------------------------------------------------------


def _nonzero_binning(bins: object) -> Binning:
    if (isinstance(bins, numbers.Integral) and not isinstance(bins, bool) and bins == 1) or bins == "1":
        return Active()
    return bins if isinstance(bins, Active) else as_binning(bins)


def _checked_factor_bins(bins: object) -> Binning:
    try:
        return as_binning(bins)
    except InputError as error:
        raise type(error)(f"factor_{error}") from error


def _checked_correction(correction: object) -> Literal["none", "miller-madow"]:
    if correction == "none":
        return "none"
    if correction == "miller-madow":
        return "miller-madow"
    also = "; 'adjusted' is for dense codes, it takes milliseconds per code and factor" * (correction == "adjusted")
    raise InputError("correction", f"expected 'none' or 'miller-madow', got {correction!r}{also}")


def _at_least(argument: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputTypeError(argument, f"expected a whole number, got {value!r}")
    if int(value) < least:
        raise InputError(argument, f"expected at least {least}, got {value}")
    return int(value)


def _checked_name(name: object) -> str:
    if not isinstance(name, str):
        raise InputTypeError("name", f"expected a string, got {name!r}")
    return name


def _chosen(metrics: Sequence[Metric] | Metric | None) -> list[str]:
    if metrics is None:
        return list(_USUAL)
    chosen: list[str] = []
    for metric in chosen_metrics(metrics):
        if not isinstance(metric, str):
            raise InputTypeError("metrics", f"expected names, got {metric!r}; a callable needs dense codes")
        if metric not in SPARSE_METRICS:
            raise InputError(
                "metrics", f"{metric} is not computed of sparse codes; there are {', '.join(SPARSE_METRICS)}"
            )
        chosen.append(metric)
    return chosen


def _fitted_options(chosen: list[str], options: object) -> dict[str, dict[str, Any]]:
    """Options of the fitted metrics by group, defaults filled in."""
    given = given_options(options)
    groups = {CATALOGUE[name].group for name in _FITTED}
    for key in given:
        if key not in groups and key not in _FITTED:
            raise InputError(
                "options",
                f"{key!r} has none here; sparse codes take options of {', '.join(sorted(groups))}, and bins "
                "and correction as arguments",
            )
    return {
        CATALOGUE[name].group: merged_options(CATALOGUE[name], {}, given, None) for name in chosen if name in _FITTED
    }


def _read_factors(codes: SparseCodes, factors: object, kinds: object, missing: Missing) -> Factors:
    read = read_factors(factors, kinds=kinds, missing=missing)
    if read.n != codes.n:
        turned = read.n == codes.d or read.m == codes.n
        raise InputError(
            ("codes", "factors"),
            f"expected the same number of rows, got {codes.n} rows of codes and {read.n} rows of "
            "factors; " + ("is one of them transposed?" if turned else "row r of both must describe the same sample"),
        )
    if all(factor.constant for factor in read.columns):
        listed = ", ".join(repr(name) for name in read.names)
        raise NotEnoughData(
            "factors",
            f"every factor is constant ({listed}); nothing varies that codes could represent: "
            "give at least one factor with two values",
        )
    return read


# Computing -------------------------------------------------------------------------------------------------------


def _evaluated(
    codes: SparseCodes,
    factors: Factors,
    chosen: list[str],
    named: bool,
    fitted_options: Mapping[str, Mapping[str, Any]],
    settings: _Settings,
    progress: bool | Callable[[float, float, str], None],
) -> SparseEvaluation:
    import pandas as pd

    active = [index for index, factor in enumerate(factors.columns) if not factor.constant]
    varying = Factors(tuple(factors.columns[index] for index in active), factors.missing, factors.ambiguous)
    notes = _notes(codes, factors)
    left_out = {name: LeftOut(metric=name, reason=why) for name in chosen if (why := _lacking(name, len(active)))}
    if named and left_out:
        raise NotEnoughData(next(iter(left_out.values())).reason)
    wanted = [name for name in chosen if name not in left_out]
    scores: dict[str, Score | LeftOut] = dict(left_out)
    screened: tuple[str, ...] = ()
    with reporting(progress) as report:
        started = time.perf_counter()
        table = sparse_table(
            codes,
            varying,
            settings.bins,
            settings.factor_bins,
            settings.correction,
            correlations="sap" in wanted,
            n_jobs=settings.run.n_jobs,
            report=report,
        )
        seconds = time.perf_counter() - started
        information = spread(table.information.information, factors, active)
        for metric in wanted:
            if metric in _FROM_COUNTS:
                scores[metric] = _score(metric, table, information, codes, factors, active, notes, settings, seconds)
        fitted = [metric for metric in wanted if metric in _FITTED]
        if fitted:
            subset = screened_codes(codes, factors, active, table, settings.screen, settings.n_rows, settings.run.seed)
            screened = subset.subject.codes.names
            found = screened_scores(
                fitted, fitted_options, subset, table, codes, factors, active, settings.run, settings.kinds, report
            )
            for metric, score in zip(fitted, found, strict=True):
                if named and isinstance(score, LeftOut):
                    raise NotEnoughData(score.reason)
                scores[metric] = (
                    score if isinstance(score, LeftOut) else _signed(score, codes, factors, settings, notes)
                )
        scores = _guarded(scores, codes, factors, varying, active, table, settings)
    entropies = np.zeros(factors.m)
    entropies[active] = table.information.factor_entropy
    joint = table.information.joint_entropy
    if joint is None:
        raise ValueError("counts give joint entropies")
    return SparseEvaluation(
        scores=tuple(item for metric in chosen if isinstance(item := scores[metric], Score)),
        left_out=tuple(item for metric in chosen if isinstance(item := scores[metric], LeftOut)),
        name=settings.name,
        n=codes.n,
        factors=tuple(
            FactorSummary(
                name=factor.name,
                kind=factor.kind,
                n_levels=len(factor.levels) if factor.categorical else None,
                n_annotated=factor.n_annotated,
                constant=factor.constant,
            )
            for factor in factors.columns
        ),
        information=_frame(information, codes, factors),
        joint_entropy=_frame(spread(joint, factors, active), codes, factors),
        factor_entropy=pd.Series(entropies, index=list(factors.names)),
        code_entropy=pd.Series(table.code_entropy, index=list(codes.names)),
        activity=pd.Series(codes.activity, index=list(codes.names)),
        top=top_codes(codes, varying, table.information, settings.top),
        screened=screened,
        notes=notes,
        version=__version__,
    )


def _guarded(
    scores: dict[str, Score | LeftOut],
    codes: SparseCodes,
    factors: Factors,
    varying: Factors,
    active: list[int],
    table: SparseTable,
    settings: _Settings,
) -> dict[str, Score | LeftOut]:
    """Add a note to scores that codes of noise would have as well, and warn of it."""
    high = {name: one for name, one in scores.items() if isinstance(one, Score) and one.value > FRAGILE}
    if not high:
        return scores
    finding = told_by_codes(codes, factors, active, table)
    shuffled: dict[str, float] = {}
    of_counts = [name for name in high if name in _FROM_COUNTS]
    if finding.told and of_counts and many_codes(codes.n, codes.d):
        shuffled = _shuffled(of_counts, codes, varying, settings)
    found = dict(scores)
    of = f" of {SHUFFLED_CODES:,} of the codes" if codes.d > SHUFFLED_CODES else ""
    for name, score in high.items():
        notes = noise_notes(score.value, finding)
        if name in shuffled:
            notes += at_chance_notes(score.value, [shuffled[name]], codes.n, codes.d, of=of)
        found[name] = replace(score, notes=(*score.notes, *notes))
    warn_of_fragile([one for one in found.values() if isinstance(one, Score)])
    return found


def _shuffled(names: list[str], codes: SparseCodes, varying: Factors, settings: _Settings) -> dict[str, float]:
    """Score some of the codes with the rows of the factors shuffled."""
    rng = rng_for(settings.run.seed, "sparse-shuffle")
    chosen = np.sort(rng.choice(codes.d, min(codes.d, SHUFFLED_CODES), replace=False))
    some = codes.take_codes(chosen)
    order = rng.permutation(codes.n)
    table = sparse_table(
        some,
        varying.take(order),
        settings.bins,
        settings.factor_bins,
        settings.correction,
        correlations=False,
        n_jobs=settings.run.n_jobs,
        report=None,
    )
    return {name: float(information_scores.native_of(name, table.information, None).value) for name in names}


def _lacking(metric: str, m: int) -> str:
    needed = CATALOGUE[metric].needs_factors
    return f"factors: {metric} needs at least {needed} factors that vary, got {m}" if m < needed else ""


def _notes(codes: SparseCodes, factors: Factors) -> tuple[Note, ...]:
    """Say what does not vary, what is not annotated and what was guessed; warn of it too."""
    notes = []
    for factor in factors.columns:
        if factor.constant:
            message = f"factor {factor.name!r} is constant and was left out"
            warn_user(message, UndefinedFactorWarning)
            notes.append(Note(code="constant-factor", message=message, subject=(factor.name,), severity="warning"))
        if not factor.complete:
            message = f"factor {factor.name!r} is annotated on {factor.n_annotated} of {codes.n} rows"
            notes.append(Note(code="missing-annotations", message=message, subject=(factor.name,)))
    dead = np.flatnonzero(codes.n_nonzeros == 0)
    flat = np.flatnonzero(codes.constant & (codes.n_nonzeros > 0))
    for code, which, what in (("dead-codes", dead, "are zero in every row"), ("constant-code", flat, "are constant")):
        if len(which):
            shown = tuple(codes.names[int(index)] for index in which[:5])
            listed = ", ".join(map(repr, shown)) + (", ..." if len(which) > 5 else "")
            message = f"{len(which):,} of {codes.d:,} codes ({listed}) {what}: they carry no information"
            notes.append(Note(code=code, message=message, subject=shown))
    for message in factors.ambiguous:
        warn_user(message, AmbiguousKindWarning)
        notes.append(Note(code="ambiguous-kind", message=message, severity="warning"))
    return tuple(notes)


def _frame(values: Array, codes: SparseCodes, factors: Factors) -> Any:
    import pandas as pd

    return pd.DataFrame(values, index=list(codes.names), columns=list(factors.names))


def _score(
    metric: str,
    table: SparseTable,
    information: Array,
    codes: SparseCodes,
    factors: Factors,
    active: list[int],
    notes: tuple[Note, ...],
    settings: _Settings,
    seconds: float,
) -> Score:
    """One metric read off the information of all codes."""
    native = information_scores.native_of(metric, table.information, None)
    own = tuple(note for note in notes if note.code != "missing-annotations") + native.notes
    alive = ~codes.constant
    if native.per_code is not None and not alive.all() and alive.any():
        others = float(np.nanmean(native.per_code[alive]))
        message = f"constant codes count 0 in the mean over codes; without them it would be {others:.3f}"
        own += (Note(code="mean-of-living-codes", message=message),)
    score = Score(
        metric=metric,
        value=float(native.value),
        n=max(factors.columns[index].n_annotated for index in active),
        signature=Signature(metric),
        code_names=codes.names,
        factor_names=factors.names,
        per_factor=None if native.per_factor is None else spread(native.per_factor, factors, active),
        per_code=native.per_code,
        matrix_values=information,
        matrix_of=native.matrix_of,
        notes=own,
        details=native.details,
        seconds=seconds,
    )
    return _signed(score, codes, factors, settings, ())


def _signed(score: Score, codes: SparseCodes, factors: Factors, settings: _Settings, notes: tuple[Note, ...]) -> Score:
    """Sign a score with the call that makes it again."""
    arguments: dict[str, object] = {"metrics": score.metric, "bins": settings.bins}
    if not all(factor.categorical for factor in factors.columns):
        arguments["factor_bins"] = settings.factor_bins
    arguments["correction"] = settings.correction
    if score.metric in _FITTED:
        arguments |= {"screen": settings.screen, "n_rows": settings.n_rows, "seed": settings.run.seed}
        arguments["options"] = {CATALOGUE[score.metric].group: dict(score.signature.arguments)}
    if settings.run.missing != "raise":
        arguments["missing"] = settings.run.missing
    if settings.kinds is not None:
        arguments["kinds"] = {factor.name: factor.kind for factor in factors.columns}
    context = {
        "rows": str(codes.n),
        "codes": str(codes.d),
        "nonzeros": str(len(codes.values)),
        "factors": str(factors.m),
        "demele": __version__,
    }
    signature = Signature("evaluate_sparse", arguments, context)
    first = tuple(note for note in notes if note.code != "missing-annotations")
    return replace(score, signature=signature, notes=(*first, *score.notes), protocol=None)
