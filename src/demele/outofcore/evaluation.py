"""Evaluations of rows that do not fit into memory: counts of all of them, and a sample where all rows are needed.

One pass finds the kinds, levels and extremes, a second one counts all pairs of columns under fixed edges and keeps a
sample. Whole numbers add up in any order, so that metrics of histograms have the bits that they have in memory, however
the rows are cut and counted. Metrics that sum (moments, extremes, sums in cells) are of all rows too, equal
to rounding, where the sample does not hold every row. The other metrics are computed on a random sample of
bounded size: the rows with the smallest keys, hashed from their number among all rows.

Quantiles as edges of bins come from the sample too. Sketches of quantiles that merge, as KLL and t-digest, are no more
exact at this size (a quantile of 100 000 rows is off by 0.16% of the rows in standard error) and depend on the order of
merging or on draws that cannot be seeded.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from demele.core.errors import InputError, NotEnoughData, UndefinedFactorWarning, in_backticks, quoted
from demele.core.inputs import read_pair
from demele.core.later import Later
from demele.core.results import Evaluation, LeftOut, Score
from demele.metrics.guards import unprobed_notes
from demele.metrics.metric import Guards
from demele.metrics.options import Run
from demele.metrics.request import Request, applies
from demele.metrics.run import computed, evaluation
from demele.metrics.source import InMemory, Subject
from demele.outofcore.source import WholeRows, whole_rows
from demele.runtime.progress import reported_to, reporting
from demele.streaming.sample import SampledRows, of_sample, table_of_columns, with_context
from demele.streaming.states import key_of

#: Notes on how few rows there are: of a sample they say nothing of all rows.
OF_ROWS = ("few-rows", "many-codes")


def evaluation_in_pieces(
    asked: Sequence[Request],
    codes: object,
    factors: object,
    run: Run,
    *,
    protocol: str,
    kinds: object,
    codes_std: object,
    name: str,
    named: bool,
    sample: int,
) -> Evaluation:
    """Score rows that are read a piece at a time.

    Parameters
    ----------
    asked : sequence of Request
    codes, factors
        Dask collections, tables of :func:`demele.scan_parquet`, or arrays.
    run : Run
        Dask collections are worked on by the active scheduler, whatever its ``n_jobs``. Bootstrap and chance are
        refused: what they need is drawn from all rows at once.
    protocol, kinds, name, sample
        As :func:`demele.evaluate` documents.
    codes_std
        Refused.
    named : bool
        Whether a metric that does not apply is an error.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    for argument, value, why in (
        ("n_bootstrap", run.n_bootstrap, "resamples are drawn from all rows"),
        ("n_permutations", run.n_permutations, "all rows are permuted"),
        ("codes_std", codes_std, "standard deviations are spread over all rows"),
    ):
        if value is not None and value is not False and not (isinstance(value, int) and value == 0):
            raise InputError(
                argument,
                f"{why}, which rows read a piece at a time do not allow; leave it out, or pass a sample of the rows as "
                "an array",
            )
    if isinstance(sample, bool) or not isinstance(sample, int | np.integer) or sample < 4:
        raise InputError("sample", f"expected a number of rows of at least 4, got {quoted(sample)}")
    with reporting(even=False) as report:
        rows = whole_rows(
            codes,
            factors,
            kinds=kinds,
            missing=run.missing,
            sample=int(sample),
            seed=run.seed,
            n_jobs=run.n_jobs,
            report=report,
        )
        subject = rows.subject("rows")
        left_out: list[LeftOut] = []
        for one in list(asked):
            try:
                applies(one, subject)
            except NotEnoughData as error:
                if named:
                    raise
                left_out.append(LeftOut(metric=one.name, reason=error.said(in_backticks)))
                asked = [other for other in asked if other is not one]
        if not asked:
            raise NotEnoughData("metrics", f"none applies; {left_out[0].metric}: {left_out[0].reason}")
        states = {one.name: rows.state_for(one.metric, one.options) for one in asked}
        counted = [one for one in asked if states[one.name] is not None]
        read = dict.fromkeys(key_of(state, one.options) for one in counted if (state := states[one.name]) is not None)
        kept = rows.read(list(read), report)
        whole = computed(counted, rows, run, named=named)
        asked = [one for one in asked if one.name not in whole.refused]
        left_out += whole.left_out
        scores = {score.metric: score for score in whole.scores(protocol, kinds, warn=False)}
        with reported_to(report):
            about, reason = _of_sample(rows, kept, asked, run, protocol)
    if about is None and named and len(counted) < len(asked):
        raise NotEnoughData(reason)
    drawn = {} if about is None else {score.metric: score for score in about}
    reasons = {} if about is None else {one.metric: one.reason for one in about.left_out}
    for one in asked:
        own = drawn.get(one.name)
        if one.name in scores:
            scores[one.name] = _examined(scores[one.name], own, rows, one.metric.guards)
        elif own is not None:
            scores[one.name] = of_sample(own, len(kept.keys), rows.n, f"sample={rows.sample}", rows.drawn())
        else:
            left_out.append(LeftOut(metric=one.name, reason=reasons.get(one.name, reason)))
    drawn_later = Later() if about is None else about.later
    pictured = None if about is None or about.rows is None else replace(about.rows, n=rows.n)
    return subject.evaluation(
        (scores[one.name] for one in asked if one.name in scores),
        protocol,
        name=name,
        left_out=tuple(left_out),
        dependency=() if about is None else about.dependency,
        later=Later({"verdict": lambda: drawn_later["verdict"]}, rows=pictured),
    )


def _of_sample(
    rows: WholeRows,
    kept: SampledRows,
    asked: Sequence[Request],
    run: Run,
    protocol: str,
) -> tuple[Evaluation | None, str]:
    """Score the sample: with every metric, since it also shows what makes counted ones fragile."""
    import pandas as pd

    d = len(rows.frame.codes)
    codes = table_of_columns(kept.columns[:d], rows.frame.codes, "z")
    columns: list[Any] = list(kept.columns[d:])
    for index, (about, own) in enumerate(zip(rows.frame.columns, rows.ordered, strict=True)):
        if own:
            known = np.where(columns[index] < len(about.levels), columns[index], -1).astype(np.intp)
            columns[index] = pd.Categorical.from_codes(known, categories=pd.Index(about.levels))
    factors = table_of_columns(columns, rows.frame.factors, "v")
    kinds = rows.frame.kinds
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedFactorWarning)  # told of all rows already
            found = evaluation(
                asked,
                InMemory(Subject.of(*read_pair(codes, factors, kinds=kinds, missing=run.missing))),
                run,
                protocol=protocol,
                kinds=kinds,
                name="codes",
                named=True,
            )
    except NotEnoughData as error:
        return None, f"on a random sample of {len(kept.keys):,} rows: {error}"
    return found, ""


def _examined(score: Score, in_sample: Score | None, rows: WholeRows, guards: Guards) -> Score:
    """Add what makes a score fragile; how few rows there are is no matter of the sample."""
    if in_sample is None:
        d = len(score.code_names)
        found = unprobed_notes(guards, score.value, score.n, d, kept="counts", chance=False)
        return replace(score, notes=(*score.notes, *found))
    told_of_all = {(note.code, note.subject) for note in score.notes}
    found = tuple(note for note in in_sample.notes if (note.code, note.subject) not in told_of_all)
    heard = OF_ROWS if rows.all_kept else ()
    fragile = [
        note for note in found if note.code in heard or (note.severity == "fragile" and note.code not in OF_ROWS)
    ]
    told = "" if rows.all_kept else f" (seen in a random sample of {rows.sample:,} rows)"
    if any(note.code == "edges-of-sample" for note in score.notes):
        score = with_context(score, rows.drawn())
    return replace(score, notes=(*score.notes, *(replace(note, message=f"{note.message}{told}") for note in fragile)))
