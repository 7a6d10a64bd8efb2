"""Method ``transition``: informations of true values from a known or counted transition, with signed cells."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from demele.core.arrays import Floats, Rows
from demele.core.errors import quoted
from demele.core.results import CorrectedScore, Interval
from demele.core.seeds import rng_for
from demele.estimation.signed_information import audited_transition, counted_transition
from demele.metrics.data import TableSettings
from demele.metrics.source import InMemory, Subject
from demele.scoring.noisy.case import (
    SINGULAR,
    Case,
    NoiseOfFactor,
    NotCorrected,
    Work,
    draws_of_halves,
    half_width,
    score_of_part,
    split_rows,
)
from demele.scoring.noisy.signed_tables import SignedTables, consistency, signed_tables

#: Splits into halves, whose spread is that of the score.
SPLITS = 10


def of_classifiers(case: Case, work: Work) -> tuple[float, Floats] | NotCorrected:
    """Return a score against true values by the same classifiers, and its values on halves (n_splits, 2).

    Classifiers are trained on the annotations as given, and judged as by true values.
    """
    noisy = list(case.noise.factors.values())
    reason = _why_not(case, work)
    if reason:
        return NotCorrected(reason)
    n = case.source.data.n
    everything = np.arange(n, dtype=np.intp)
    best = {one.name: _estimate(one, everything, case) for one in noisy}
    for name, transition in best.items():
        if np.linalg.svd(transition, compute_uv=False)[-1] < SINGULAR:
            return NotCorrected(
                f"the transition of {quoted(name)}, as it was counted, is too close to one that loses classes; count "
                "more rows, or join classes that are mistaken for each other"
            )
    value = _score(case, work, everything, best)
    if isinstance(value, str):
        return NotCorrected(value)
    audited = np.unique(np.concatenate([one.rows for one in noisy if one.rows is not None] or [everything[:0]]))
    halves = np.full((SPLITS, 2), np.nan)
    for index in range(SPLITS):
        parts = split_rows(n, audited, case.run.seed, index)
        counts = {one.name: _half_counts(one, case, index) for one in noisy}
        for side, half in enumerate(parts):
            drawn = {one.name: _estimate(one, half.everything, case, counts[one.name][side]) for one in noisy}
            found = _score(case, work, half.everything, drawn)
            halves[index, side] = np.nan if isinstance(found, str) else found
    return value, halves[~np.isnan(halves).any(axis=1)]


def _why_not(case: Case, work: Work) -> str:
    """Say why errors of these factors, or of this score, cannot be undone; nothing where they can."""
    if work.asked.options.get("units") == "raw":
        return "classifiers of raw codes are as public code has them; take units='standard'"
    levels = {column.name: column for column in case.source.data.factors.columns}
    for one in case.noise.factors.values():
        if one.kind == "rate" or not levels[one.name].categorical:
            return (
                f"of factor {quoted(one.name)} no transition between classes is known; an audit of rows drawn at "
                "random corrects any score"
            )
        if len(one.classes) != len(levels[one.name].levels):
            return f"some true values of factor {quoted(one.name)} are never given, so no classifier could learn them"
    return ""


def _half_counts(known: NoiseOfFactor, case: Case, index: int) -> tuple[Floats | None, Floats | None]:
    """Return the counts of another sample in two halves; None where there are none."""
    if known.kind != "counts" or known.matrix is None:
        return None, None
    whole = known.matrix.astype(np.int64)
    rng = rng_for(case.run.seed, "corrected", "counts", known.name, index)
    first = rng.multivariate_hypergeometric(whole.ravel(), int(whole.sum()) // 2).reshape(whole.shape)
    return first.astype(np.float64), (whole - first).astype(np.float64)


def _estimate(known: NoiseOfFactor, rows: Rows, case: Case, counts: Floats | None = None) -> Floats:
    """Return the transition in the order of the levels, estimated from some rows where it was audited."""
    if known.position is None:
        raise ValueError("no classes")
    if known.rows is None or known.values is None:
        if known.matrix is None:
            raise ValueError("no transition")
        counted = known.matrix if counts is None else counts
        whole = known.matrix if known.kind == "transition" else counted_transition(counted)
        return whole[np.ix_(known.position, known.position)]
    column = next(one for one in case.source.data.factors.columns if one.name == known.name)
    values = np.asarray(column.values)
    given = values[known.rows]
    used = (given >= 0) & np.isin(known.rows, rows)
    k = len(known.classes)
    cells = known.values[used].astype(np.intp) * k + known.position[given[used].astype(np.intp)]
    counts = np.bincount(cells, minlength=k * k).reshape(k, k).astype(np.float64)
    annotated = values[rows][values[rows] >= 0].astype(np.intp)
    often = np.bincount(known.position[annotated], minlength=k).astype(np.float64)
    return audited_transition(counts, often)


def _score(case: Case, work: Work, rows: Rows, transitions: Mapping[str, Floats]) -> float | str:
    """Return the score of some rows under these transitions, or why there is none."""
    source = InMemory(case.source.subject("rows"))
    if rows.size < case.source.data.n:
        taken = case.source.data.take(rows)
        active = tuple(index for index, column in enumerate(taken.factors.columns) if not column.constant)
        source = InMemory(Subject(taken.codes, taken.factors, active, ()))
    source.data = replace(source.data, transitions=dict(transitions))
    return score_of_part(case, work, source)


NAME = "transition"
#: What must be true, always said.
INDEPENDENT = "Given the true value of a factor, errors of its annotation do not depend on the codes."
#: What must be said of scores that train classifiers.
TRAINED = (
    "Classifiers are trained on the annotations as given, and judged as by true values: trained on right annotations, "
    "they may score higher."
)
_OF_KIND = {
    "transition": "The transition of {} is known exactly.",
    "counts": "The rows that were counted for {} are a random sample of rows like these.",
    "audit": "The audited rows of {} were drawn at random, and their true values are right.",
}


def correct(case: Case, work: Work) -> CorrectedScore | NotCorrected:
    """Correct a score that is a function of informations and entropies."""
    settings = work.request.settings
    if NAME not in work.asked.metric.corrected_by:
        return NotCorrected(
            "the score is not made of tables of a code and a factor alone, in which a transition undoes errors; with "
            "true values of rows that are drawn at random, method 'audited' corrects it"
        )
    if settings is None:
        found = of_classifiers(case, work)
        if isinstance(found, NotCorrected):
            return found
        value, halves = found
        interval = None
        if len(halves) > 1:
            wide = half_width(float(np.sqrt(np.mean((halves[:, 0] - halves[:, 1]) ** 2) / 4)), case.run.level)
            method = f"normal, {len(halves)} splits into halves, approximate"
            interval = Interval(low=value - wide, high=value + wide, level=case.run.level, method=method)
        return CorrectedScore(
            value=value,
            interval=interval,
            method=NAME,
            assumptions=(INDEPENDENT, TRAINED, *_assumed(case), *case.right_factors()),
            notes=work.out_of_range(value),
            signature=case.signature(NAME, splits=len(halves)),
            draws=draws_of_halves(value, halves),
        )
    if settings.estimator != "histogram":
        return NotCorrected("a transition undoes errors in counts, not among nearest neighbours; take histograms")
    if settings.correction != "none":
        return NotCorrected(
            f"signed information is not biased as plug-in information is, so correction {settings.correction!r} does "
            "not go with it; leave it at 'none'"
        )
    tables = shared_tables(case, settings)
    return tables if isinstance(tables, NotCorrected) else _corrected(case, work, tables)


def shared_tables(case: Case, settings: TableSettings) -> SignedTables | NotCorrected:
    """Return the signed tables of a case, made once for all scores of the same settings."""
    key = (NAME, settings)
    if key not in case.shared:
        case.shared[key] = signed_tables(case, settings)
    found: SignedTables | NotCorrected = case.shared[key]
    return found


def _corrected(case: Case, work: Work, tables: SignedTables) -> CorrectedScore | NotCorrected:
    value = float(work.request.read(tables.table).value)
    if value != value:
        return NotCorrected("the corrected annotations leave a factor without entropy; count or audit more rows")
    agreed = consistency(work, tables)
    if agreed is not None and not agreed.holds and not case.by_name:
        return NotCorrected(f"{agreed.sentence}; method 'audited' makes no such assumption")
    notes = tables.notes if agreed is None or agreed.holds else (*tables.notes, agreed.note())
    draws = work.request.read(tables.draws).value
    wide = half_width(float(draws.std(ddof=1)), case.run.level)
    method = f"normal, bootstrap of {len(draws)} resamples"
    return CorrectedScore(
        value=value,
        interval=Interval(low=value - wide, high=value + wide, level=case.run.level, method=method),
        method=NAME,
        assumptions=(INDEPENDENT, *_assumed(case), *case.right_factors()),
        notes=notes + work.out_of_range(value),
        signature=case.signature(NAME, resamples=case.resamples),
        draws=draws,
    )


def _assumed(case: Case) -> tuple[str, ...]:
    """Return what is assumed of each kind of knowledge."""
    said = []
    for kind, sentence in _OF_KIND.items():
        names = [repr(one.name) for one in case.noise.factors.values() if one.kind == kind]
        if names:
            said.append(sentence.format(", ".join(names)))
    return tuple(said)
