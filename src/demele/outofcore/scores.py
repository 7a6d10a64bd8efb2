"""Evaluations of rows that do not fit into memory: counts of all of them, and a sample where all rows are needed.

One pass finds the kinds, levels and extremes, a second one counts all pairs of columns under fixed edges and keeps a
sample. Whole numbers add up in any order, so that metrics of histograms have the bits that they have in memory, however
the rows are cut and whoever counts them. The other metrics are computed on a random sample of bounded size: the rows
with the smallest keys, hashed from their number among all rows.

Quantiles as edges of bins come from the sample too. Sketches of quantiles that merge, as KLL and t-digest, are no more
exact at this size (a quantile of 100 000 rows is off by 0.16% of the rows in standard error) and depend on the order of
merging or on draws that cannot be seeded.
"""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, NotEnoughData, UndefinedFactorWarning
from demele.core.inputs import Missing
from demele.core.results import Evaluation, FactorSummary, LeftOut, Note, Score
from demele.core.sentences import marked
from demele.core.signature import Signature
from demele.core.spec import MetricSpec
from demele.core.version import __version__
from demele.estimation.counts import JointCounts
from demele.estimation.information import information_table
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.evaluate import evaluate
from demele.metrics.information.scores import native_of
from demele.metrics.options import checked_option
from demele.metrics.outcomes import Outcome, assumed_codes, by_table
from demele.metrics.pieces import SAMPLE
from demele.metrics.presented import score_of
from demele.metrics.protocols import DEFAULT_PROTOCOL
from demele.metrics.protocols import protocol as protocol_named
from demele.metrics.requests import (
    Metric,
    Request,
    Run,
    Subject,
    chosen_metrics,
    free_name,
    given_options,
    merged_options,
    request_for,
)
from demele.outofcore.counting import RowCounter
from demele.outofcore.passes import Sampled, Tally
from demele.outofcore.whole_rows import WholeRows, first_pass, further_passes, pieces_of
from demele.runtime.progress import reporting
from demele.streaming.frame import Frame

__all__ = ["evaluate_in_pieces"]

#: Notes on how few rows there are: of a sample they say nothing of all rows.
OF_ROWS = ("few-rows", "many-codes")


def evaluate_in_pieces(
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
    """Do what :func:`demele.evaluate` does, reading rows a piece at a time.

    Parameters
    ----------
    codes, factors
        Dask collections, tables of :func:`demele.scan_parquet`, or arrays.
    metrics, protocol, seed, repeats, missing, kinds, reg_dim, bins, options, name, n_jobs, progress, sample
        As there. Dask collections are worked on by the active scheduler, whatever ``n_jobs``.
    bootstrap, chance, codes_std, level
        Refused: what they need is drawn from all rows at once.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
    """
    named = metrics is not None
    run = Run.checked(
        seed=seed, repeats=repeats, bootstrap=bootstrap, level=level, chance=chance, n_jobs=n_jobs, missing=missing
    )
    _refuse(bootstrap=bootstrap, chance=chance, codes_std=codes_std)
    if isinstance(sample, bool) or not isinstance(sample, int | np.integer) or sample < 4:
        raise InputError("sample", f"expected a number of rows of at least 4, got {sample!r}")
    settings = protocol_named(protocol)
    chosen = chosen_metrics(metrics)
    given = given_options(options)
    bins = None if bins is None else checked_option("bins", bins)
    if not isinstance(name, str):
        raise InputTypeError("name", f"expected a string, got {name!r}")
    started = time.perf_counter()
    with reporting(progress) as report:
        pieces = pieces_of(codes, factors, run.n_jobs)
        rows, subject = first_pass(pieces, kinds, missing, int(sample), run.seed, report)
        requests, left_out = _requests(
            chosen,
            lambda spec: merged_options(spec, settings.options, given, bins),
            subject,
            reg_dim,
            named=named,
        )
        counted = [one for one in requests if one.settings is not None and one.settings.estimator == "histogram"]
        rules = dict.fromkeys(group.binning for group in by_table(counted))
        frame, tally, kept = further_passes(rows, list(rules), report)
        outcomes = _outcomes(rows, frame, tally, counted, subject, time.perf_counter() - started)
        scores = {
            request.name: score_of(request, outcomes[request.name], subject, run, settings.name, kinds)
            for request in counted
        }
        about, reason = _of_sample(
            rows,
            kept,
            [one.name if one.callable is None else one.callable for one in requests],
            {
                "protocol": protocol,
                "seed": seed,
                "repeats": repeats,
                "missing": missing,
                "kinds": dict(rows.kinds),
                "reg_dim": reg_dim,
                "bins": bins,
                "options": options,
                "n_jobs": n_jobs,
                "progress": False if report is None else report,
            },
        )
    if about is None and named and len(counted) < len(requests):
        raise NotEnoughData(reason)
    of_sample = {} if about is None else {score.metric: score for score in about}
    reasons = {} if about is None else {one.metric: one.reason for one in about.left_out}
    for request in requests:
        own = of_sample.get(request.name)
        if request.name in scores:
            scores[request.name] = _checked(scores[request.name], own, rows)
        elif own is not None:
            scores[request.name] = _told(own, rows)
        else:
            left_out.append(LeftOut(metric=request.name, reason=reasons.get(request.name, reason)))
    return Evaluation(
        scores=tuple(scores[request.name] for request in requests if request.name in scores),
        left_out=tuple(left_out),
        protocol=settings.name,
        name=name,
        n=rows.n,
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
        dependency=() if about is None else about.dependency,
        notes=subject.notes,
        version=__version__,
    )


def _requests(
    chosen: list[Metric],
    options_of: Callable[[MetricSpec], dict[str, Any]],
    subject: Subject,
    reg_dim: object,
    *,
    named: bool,
) -> tuple[list[Request], list[LeftOut]]:
    """Return what is to be computed, and what does not apply; where metrics were named, that is an error."""
    requests: list[Request] = []
    left_out: list[LeftOut] = []
    for metric in chosen:
        if callable(metric):
            requests.append(Request(free_name(metric, [*CATALOGUE, *(item.name for item in requests)]), metric))
            continue
        try:
            requests.append(request_for(CATALOGUE[metric], options_of(CATALOGUE[metric]), subject, reg_dim))
        except NotEnoughData as error:
            if named:
                raise
            left_out.append(LeftOut(metric=metric, reason=str(error)))
    if not requests:
        raise NotEnoughData("metrics", f"none applies; {left_out[0].metric}: {marked(left_out[0].reason)}")
    return requests, left_out


def _refuse(**given: Any) -> None:
    """Refuse what would need all rows at once."""
    wants = {
        "bootstrap": "resamples are drawn from all rows",
        "chance": "all rows are permuted",
        "codes_std": "standard deviations are spread over all rows",
    }
    for name, value in given.items():
        if value is not None and value is not False and not (isinstance(value, int) and value == 0):
            raise InputError(
                name,
                f"{wants[name]}, which rows read a piece at a time do not allow; leave it out, or pass a "
                "sample of the rows as an array",
            )


# Scores ---------------------------------------------------------------------------------------------------------------


def _outcomes(
    rows: WholeRows, frame: Frame, tally: Tally, counted: list[Request], subject: Subject, seconds: float
) -> dict[str, Outcome]:
    """Return the outcomes of metrics that count, from the counts of all rows."""
    rules = list(dict.fromkeys(settings.binning for settings in by_table(counted)))
    found: dict[str, Outcome] = {}
    active = list(subject.active)
    for settings, group in by_table(counted).items():
        at = rules.index(settings.binning)
        counter = RowCounter(frame.bins(settings.binning), rows.incomplete)
        counts = _of_varying(counter.joint_counts(tally.cells[at]), active)
        table = information_table(counts, settings.correction)
        notes: tuple[Note, ...] = ()
        if settings.binning.needs_values and rows.n > rows.sample:
            message = f"the edges of the bins are quantiles of a random sample of {rows.sample:,} of {rows.n:,} rows"
            notes = (Note(code="edges-of-sample", message=message),)
        for request in group:
            native = native_of(request.name, table, request.reg_dim)
            told = notes + assumed_codes(request, table)
            found[request.name] = Outcome(native=native, seconds=seconds, notes=told)
    return found


def _of_varying(counts: JointCounts, active: list[int]) -> JointCounts:
    return replace(
        counts,
        tables=tuple(counts.tables[index] for index in active),
        factor_tables={
            (active.index(i), active.index(k)): table
            for (i, k), table in counts.factor_tables.items()
            if i in active and k in active
        },
    )


def _of_sample(
    rows: WholeRows, kept: Sampled, metrics: list[Any], arguments: dict[str, Any]
) -> tuple[Evaluation | None, str]:
    """Score the sample: with every metric, since it also shows what makes counted ones fragile."""
    d = len(rows.frame.codes)
    codes = _table(kept.columns[:d], rows.frame.codes, "z")
    columns = [
        _category(column, about.levels) if own else column
        for column, about, own in zip(kept.columns[d:], rows.frame.columns, rows.ordered, strict=True)
    ]
    factors = _table(columns, rows.frame.factors, "v")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedFactorWarning)  # told of all rows already
            return evaluate(codes, factors, metrics, **arguments), ""
    except NotEnoughData as error:
        return None, f"on a random sample of {len(kept.keys):,} rows: {error}"


def _category(numbers: NDArray[Any], levels: tuple[str, ...]) -> Any:
    import pandas as pd

    known: NDArray[np.intp] = np.where(numbers < len(levels), numbers, -1).astype(np.intp)
    return pd.Categorical.from_codes(known, categories=pd.Index(levels))


def _table(columns: Sequence[Any], names: tuple[str, ...], default: str) -> Any:
    """Return an array of rows where an array came: solvers that sum in another order give other last bits."""
    numeric = all(isinstance(column, np.ndarray) and column.dtype.kind in "fiub" for column in columns)
    if numeric and names == tuple(f"{default}{index + 1}" for index in range(len(columns))):
        return np.column_stack(columns)
    import pandas as pd

    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def _checked(score: Score, of_sample: Score | None, rows: WholeRows) -> Score:
    """Add what makes a score fragile; how few rows there are is no matter of the sample."""
    whole = rows.n <= rows.sample
    found = () if of_sample is None else of_sample.notes
    fragile = [note for note in found if note.severity == "fragile" and (whole or note.code not in OF_ROWS)]
    told = "" if whole else f" (seen in a random sample of {rows.sample:,} rows)"
    if any(note.code == "edges-of-sample" for note in score.notes):
        score = replace(score, signature=_signed(score.signature, rows))
    return replace(
        score, notes=(*score.notes, *(replace(note, message=f"{marked(note.message)}{told}") for note in fragile))
    )


def _told(score: Score, rows: WholeRows) -> Score:
    """Say of how many rows a score is, where it is not of all."""
    if rows.n <= rows.sample:
        return score
    message = f"of a random sample of {rows.sample:,} of {rows.n:,} rows (sample={rows.sample})"
    score = replace(score, signature=_signed(score.signature, rows))
    return replace(score, notes=(*score.notes, Note(code="sampled", message=message)))


def _signed(signature: Signature, rows: WholeRows) -> Signature:
    """Return the signature of what depends on a sample: replayed, the same rows are drawn."""
    drawn = {"sample": str(rows.sample), "sample_of": str(rows.n), "sample_seed": str(rows.seed)}
    return Signature(signature.metric, signature.arguments, {**signature.context, **drawn})
