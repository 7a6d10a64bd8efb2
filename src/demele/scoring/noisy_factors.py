"""Scores corrected for noisy factors: the table of methods, which of them is taken, and what becomes of a score."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from demele.core.arrays import Floats, Rows
from demele.core.errors import InputError, quoted
from demele.core.inputs import Factors
from demele.core.kinds import checked_name
from demele.core.results import CorrectedScore, Evaluation, Interval, Note
from demele.core.seeds import rng_for
from demele.estimation.counts import BinnedRows, JointCounts, PackedRows, bin_rows, column_bins
from demele.estimation.discretise import cut
from demele.estimation.information import InformationTable
from demele.estimation.known_errors import audited_transition, counted_transition
from demele.estimation.noise_bounds import BOUNDS, information_bounds
from demele.metrics.data import TableSettings
from demele.metrics.options import Run
from demele.metrics.request import Request, resolved
from demele.metrics.source import InMemory, Subject
from demele.scoring.noisy_case import (
    SINGULAR,
    Case,
    FactorNoise,
    NoiseOfFactor,
    NotCorrected,
    Parts,
    SignedTables,
    Work,
    consistency,
    draws_of_halves,
    half_width,
    score_of_part,
    signed_tables,
    split_rows,
)

# Method ``bounds`` ----------------------------------------------------------------------------------------------------

#: From this rate on, bounds are close to empty: that is said first.
SAYS_LITTLE = 0.1
ASSUMPTIONS = (
    "The true values are among those that occur; which annotations are wrong, and how, is left open.",
    "The bounds are of these rows: what other rows would have given is not in them.",
)


def by_bounds(case: Case, work: Work) -> CorrectedScore:
    """Bound a score that is a gap of informations."""
    settings = work.request.settings
    if "bounds" not in work.asked.metric.corrected_by or settings is None:
        raise NotCorrected(
            f"bounds under a rate of wrong annotations are known of {', '.join(BOUNDS)}, and not of {work.title}"
        )
    if settings.estimator != "histogram" or settings.correction != "none":
        raise NotCorrected("bounds are of plug-in information in counts; take histograms and correction 'none'")
    if work.request.options.get("reg_dim") is not None:
        raise NotCorrected("bounds are of the gap between the two codes that inform most, not of codes that are named")
    others = [one.name for one in case.noise.factors.values() if one.kind != "rate"]
    if others:
        raise NotCorrected(
            f"bounds need a rate of wrong annotations for each noisy factor, and {', '.join(map(quoted, others))} has "
            "something else"
        )
    key = ("bounds", settings)
    if key not in case.shared:
        counts = case.source.counts_behind(settings)
        if counts is None:
            raise ValueError("nothing was counted")
        shares = [0.0 if one is None else one.share for one in case.of_factors]
        case.shared[key] = information_bounds(list(counts.tables), shares)
    low, high = BOUNDS[work.asked.metric.name](case.shared[key])
    noisy = case.noise.factors.values()
    rates = (f"At most {100 * one.share:.3g}% of the annotations of {one.name!r} are wrong." for one in noisy)
    return CorrectedScore(
        value=float("nan"),
        interval=Interval(low=low, high=high, level=1.0, method="certified bounds", kind="bounds"),
        method="bounds",
        assumptions=(*rates, *ASSUMPTIONS, *case.right_factors()),
        notes=_notes_on_bounds(case, low, high),
        signature=case.signature("bounds"),
    )


def _notes_on_bounds(case: Case, low: float, high: float) -> tuple[Note, ...]:
    found = []
    largest = max(one.share for one in case.noise.factors.values())
    if largest >= SAYS_LITTLE:
        message = (
            f"if {largest:.0%} of the annotations are wrong, in the worst case, the bounds of the score are wide: "
            f"it is between {low:.2f} and {high:.2f}; an audit of random rows narrows them"
        )
        found.append(Note(code="bounds-say-little", message=message, severity="warning"))
    continuous = tuple(
        one.name
        for one, known in zip(case.source.data.factors.columns, case.of_factors, strict=True)
        if known is not None and not one.categorical
    )
    if continuous:
        message = f"an annotation of {', '.join(map(quoted, continuous))} counts as wrong if it is in another bin"
        found.append(Note(code="wrong-is-another-bin", message=message, subject=continuous))
    return tuple(found)


# Method ``transition`` ------------------------------------------------------------------------------------------------

#: Splits into halves, whose spread is that of the score.
SPLITS = 10


def of_classifiers(case: Case, work: Work) -> tuple[float, Floats]:
    """Return a score against true values by the same classifiers, and its values on halves (n_splits, 2).

    Classifiers are trained on the annotations as given, and judged as by true values.
    """
    noisy = list(case.noise.factors.values())
    if work.asked.options.get("units") == "raw":
        raise NotCorrected("classifiers of raw codes are as public code has them; take units='standard'")
    levels = {column.name: column for column in case.source.data.factors.columns}
    for one in noisy:
        if one.kind == "rate" or not levels[one.name].categorical:
            raise NotCorrected(
                f"of factor {quoted(one.name)} no transition between classes is known; an audit of rows drawn at "
                "random corrects any score"
            )
        if len(one.classes) != len(levels[one.name].levels):
            raise NotCorrected(
                f"some true values of factor {quoted(one.name)} are never given, so no classifier could learn them"
            )
    n = case.source.data.n
    everything = np.arange(n, dtype=np.intp)
    best = {one.name: _estimate(one, everything, case) for one in noisy}
    for name, transition in best.items():
        if np.linalg.svd(transition, compute_uv=False)[-1] < SINGULAR:
            raise NotCorrected(
                f"the transition of {quoted(name)}, as it was counted, is too close to one that loses classes; count "
                "more rows, or join classes that are mistaken for each other"
            )
    value = _score(case, work, everything, best)
    audited = np.unique(np.concatenate([one.rows for one in noisy]))
    halves = np.full((SPLITS, 2), np.nan)
    for index in range(SPLITS):
        parts = split_rows(n, audited, case.run.seed, index)
        counts = {one.name: _half_counts(one, case, index) for one in noisy}
        for side, half in enumerate(parts):
            drawn = {one.name: _estimate(one, half.everything, case, counts[one.name][side]) for one in noisy}
            with suppress(NotCorrected):
                halves[index, side] = _score(case, work, half.everything, drawn)
    return value, halves[~np.isnan(halves).any(axis=1)]


def _half_counts(known: NoiseOfFactor, case: Case, index: int) -> tuple[Floats | None, Floats | None]:
    """Return the counts of another sample in two halves; None where there are none."""
    if known.kind != "counts":
        return None, None
    whole = known.matrix.astype(np.int64)
    rng = rng_for(case.run.seed, "corrected", "counts", known.name, index)
    first = rng.multivariate_hypergeometric(whole.ravel(), int(whole.sum()) // 2).reshape(whole.shape)
    return first.astype(np.float64), (whole - first).astype(np.float64)


def _estimate(known: NoiseOfFactor, rows: Rows, case: Case, counts: Floats | None = None) -> Floats:
    """Return the transition in the order of the levels, estimated from some rows where it was audited."""
    if known.kind != "audit":
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


def _score(case: Case, work: Work, rows: Rows, transitions: Mapping[str, Floats]) -> float:
    """Return the score of some rows under these transitions, or why there is none."""
    source = InMemory(case.source.subject("rows"))
    if rows.size < case.source.data.n:
        taken = case.source.data.take(rows)
        active = tuple(index for index, column in enumerate(taken.factors.columns) if not column.constant)
        source = InMemory(Subject(taken.codes, taken.factors, active, ()))
    source.data = replace(source.data, transitions=dict(transitions))
    return score_of_part(case, work, source)


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


def by_transition(case: Case, work: Work) -> CorrectedScore:
    """Correct a score that is a function of informations and entropies."""
    settings = work.request.settings
    if "transition" not in work.asked.metric.corrected_by:
        raise NotCorrected(
            "the score is not made of tables of a code and a factor alone, in which a transition undoes errors; with "
            "true values of rows that are drawn at random, method 'audited' corrects it"
        )
    if settings is None:
        value, halves = of_classifiers(case, work)
        interval = None
        if len(halves) > 1:
            wide = half_width(float(np.sqrt(np.mean((halves[:, 0] - halves[:, 1]) ** 2) / 4)), case.run.level)
            method = f"normal, {len(halves)} splits into halves, approximate"
            interval = Interval(low=value - wide, high=value + wide, level=case.run.level, method=method)
        return CorrectedScore(
            value=value,
            interval=interval,
            method="transition",
            assumptions=(INDEPENDENT, TRAINED, *_assumed(case), *case.right_factors()),
            notes=work.out_of_range(value),
            signature=case.signature("transition", splits=len(halves)),
            draws=draws_of_halves(value, halves),
        )
    if settings.estimator != "histogram":
        raise NotCorrected("a transition undoes errors in counts, not among nearest neighbours; take histograms")
    if settings.correction != "none":
        raise NotCorrected(
            f"signed information is not biased as plug-in information is, so correction {settings.correction!r} does "
            "not go with it; leave it at 'none'"
        )
    tables = shared_tables(case, settings)
    value = float(work.request.read(tables.table).value)
    if value != value:
        raise NotCorrected("the corrected annotations leave a factor without entropy; count or audit more rows")
    agreed = consistency(work, tables)
    if agreed is not None and not agreed.holds and not case.by_name:
        raise NotCorrected(f"{agreed.sentence}; method 'audited' makes no such assumption")
    notes = tables.notes if agreed is None or agreed.holds else (*tables.notes, agreed.note())
    draws = work.request.read(tables.draws).value
    wide = half_width(float(draws.std(ddof=1)), case.run.level)
    method = f"normal, bootstrap of {len(draws)} resamples"
    return CorrectedScore(
        value=value,
        interval=Interval(low=value - wide, high=value + wide, level=case.run.level, method=method),
        method="transition",
        assumptions=(INDEPENDENT, *_assumed(case), *case.right_factors()),
        notes=notes + work.out_of_range(value),
        signature=case.signature("transition", resamples=case.resamples),
        draws=draws,
    )


def shared_tables(case: Case, settings: TableSettings) -> SignedTables:
    """Return the signed tables of a case, made once for all scores of the same settings."""
    key = ("transition", settings)
    if key not in case.shared:
        case.shared[key] = signed_tables(case, settings)
    found: SignedTables = case.shared[key]
    return found


def _assumed(case: Case) -> tuple[str, ...]:
    """Return what is assumed of each kind of knowledge."""
    said = []
    for kind, sentence in _OF_KIND.items():
        names = [repr(one.name) for one in case.noise.factors.values() if one.kind == kind]
        if names:
            said.append(sentence.format(", ".join(names)))
    return tuple(said)


# Method ``audited`` ---------------------------------------------------------------------------------------------------

#: Splits into halves.
SPLITS_OF_AUDITS = 20


def of_tables(case: Case, work: Work) -> Parts:
    """Score true and given values of audited rows, and given ones of all rows, from counts."""
    settings = work.request.settings
    if settings is None:
        raise ValueError("no table")
    if settings.correction == "none":
        settings = replace(settings, correction="miller-madow")
    pairs = work.request.metric.pairs
    key = ("audited", settings, pairs)
    if key not in case.shared:
        case.shared[key] = audited_tables(case, settings, pairs=pairs)
    true, given, everything = (
        np.asarray(work.request.read(table).value, dtype=np.float64) for table in case.shared[key]
    )
    difference = true + (everything - given)
    return Parts(
        float(true[0]), float(given[0]), float(everything[0]), difference[1:].reshape(-1, 2), extrapolates=True
    )


def audited_tables(case: Case, settings: TableSettings, *, pairs: bool) -> tuple[InformationTable, ...]:
    """Count audited rows by true and by given values, and all rows, whole and on halves, in the same bins."""
    data = case.source.data
    of_codes, of_factors = column_bins(data.codes, data.factors, settings.binning)
    rows = _with_classes(case, bin_rows(data.codes, data.factors, of_codes, of_factors))
    audited = next(iter(case.noise.factors.values())).rows
    given = replace(rows, codes=rows.codes[:, audited], factors=rows.factors[:, audited])
    factors = given.factors.copy()
    for i, (known, bins) in enumerate(zip(case.of_factors, of_factors, strict=True)):
        if known is None:
            continue
        values = known.values if bins is None else cut(np.asarray(known.values, dtype=np.float64), bins)
        factors[i] = np.where(given.factors[i] < given.factor_bins[i], values, given.factors[i])
    true = replace(given, factors=factors)
    place = np.full(rows.n, -1, dtype=np.intp)
    place[audited] = np.arange(audited.size)
    halves = [split_rows(rows.n, audited, case.run.seed, index) for index in range(SPLITS_OF_AUDITS)]
    of_audit = [place[first.audited] for first, _ in halves]
    of_all = [first.everything for first, _ in halves]
    span = data.codes.high - data.codes.low

    def informations(some: BinnedRows, firsts: Sequence[Rows]) -> InformationTable:
        counts = _with_halves(PackedRows(some, factor_pairs=pairs), firsts)
        return replace(case.source.information(counts, settings.correction), code_range=span)

    return informations(true, of_audit), informations(given, of_audit), informations(rows, of_all)


def _with_classes(case: Case, rows: BinnedRows) -> BinnedRows:
    """Return rows whose factors have all classes, also those that are true and never given; what is missing is last."""
    factors, sizes = rows.factors.copy(), rows.factor_bins.copy()
    for i, known in enumerate(case.of_factors):
        if known is None or len(known.classes) <= sizes[i]:
            continue
        factors[i] = np.where(factors[i] == sizes[i], len(known.classes), factors[i])
        sizes[i] = len(known.classes)
    return replace(rows, factors=factors, factor_bins=sizes)


def _with_halves(rows: PackedRows, firsts: Sequence[Rows]) -> JointCounts:
    """Count all rows, then each first half and what it leaves, along a leading axis."""
    whole = rows.count()
    counted = [whole]
    for some in firsts:
        half = rows.count(np.bincount(some, minlength=rows.rows.n).astype(np.float64))
        counted += [
            half,
            JointCounts(
                tuple(a - b for a, b in zip(whole.tables, half.tables, strict=True)),
                {pair: table - half.factor_tables[pair] for pair, table in whole.factor_tables.items()},
                whole.code_bins,
            ),
        ]
    return JointCounts.stacked(counted)


#: Splits into halves of scores that are fitted: each costs six more fits.
SPLITS_OF_FITS = 5


def of_rows(case: Case, work: Work) -> Parts:
    """Score true and given values of audited rows, and given ones of all rows; halves where that is not slow."""
    n = case.source.data.n
    audited = next(iter(case.noise.factors.values())).rows
    everything = np.arange(n, dtype=np.intp)
    try:
        true, given = (_score_of(case, work, audited, true=true) for true in (True, False))
        all_given = work.score.value
        if case.run.n_repeats > 1:
            all_given = _score_of(case, work, everything, true=False)
    except NotCorrected as error:
        raise NotCorrected(f"on the audited rows alone: {error}; audit more rows") from error
    halves = np.full((0 if work.asked.metric.slow > 1 else SPLITS_OF_FITS, 2), np.nan)
    for index in range(len(halves)):
        for side, half in enumerate(split_rows(n, audited, case.run.seed, index)):
            with suppress(NotCorrected):
                own = [_score_of(case, work, half.audited, true=true) for true in (True, False)]
                halves[index, side] = own[0] + (_score_of(case, work, half.everything, true=False) - own[1])
    return Parts(true, given, all_given, halves[~np.isnan(halves).any(axis=1)], extrapolates=False)


def _score_of(case: Case, work: Work, rows: Rows, *, true: bool) -> float:
    """Return the score of some rows, with true values where these are known."""
    data = case.source.data
    known = {one.name: one for one in case.noise.factors.values()} if true else {}
    columns = []
    for column in data.factors.columns:
        taken = column.take(rows)
        if column.name in known:
            audit = known[column.name]
            order = np.argsort(audit.rows)
            values = audit.values[order[np.searchsorted(audit.rows[order], rows)]]
            there = taken.annotated()
            if taken.categorical:
                last = len(audit.classes) - 1.0
                full = replace(taken, values=np.where(there, values, -1), levels=audit.classes, low=0.0, high=last)
            else:
                full = replace(taken, values=np.where(there, values, np.nan))
            taken = full.take(np.arange(rows.size))
        if not column.categorical:  # bins of equal width stay those of all rows
            taken = replace(taken, low=column.low, high=column.high)
        columns.append(taken)
    active = tuple(index for index, column in enumerate(columns) if not column.constant)
    subject = Subject(data.codes.take(rows), Factors(tuple(columns), data.factors.missing), active, ())
    found = InMemory(subject)
    if data.codes_std is not None:
        found.data = replace(found.data, codes_std=data.codes_std[rows])
    return score_of_part(case, work, found)


#: Audited rows below which nothing is corrected, and below which nothing was measured.
FEWEST, MEASURED = 100, 300
#: Audited rows for each value that a factor takes.
ROWS_PER_VALUE = 5


#: What of the distance to the score as given is none of the annotations'.
BIAS_TOO = (
    "The bias of information from few rows is corrected as well (Miller-Madow), which it is not in the score as given."
)


def by_audit(case: Case, work: Work) -> CorrectedScore:
    """Correct any score by true values of rows that were drawn at random."""
    _refuse_audits(case)
    settings = work.request.settings
    counted = settings is not None and settings.resamples_by_weight
    parts = of_tables(case, work) if counted else of_rows(case, work)
    if not np.isfinite(parts.value):
        raise NotCorrected("the score is not defined on the audited rows; audit more of them")
    interval = None
    if parts.halves.size:
        wide = parts.half_width(case.run.level)
        method = f"normal, {len(parts.halves)} splits into halves" + ("" if parts.extrapolates else ", approximate")
        interval = Interval(low=parts.value - wide, high=parts.value + wide, level=case.run.level, method=method)
    return CorrectedScore(
        value=parts.value,
        interval=interval,
        method="audited",
        assumptions=(
            "The audited rows were drawn at random, and their true values are right.",
            *case.right_factors(),
            *((BIAS_TOO,) if counted and settings is not None and settings.correction == "none" else ()),
        ),
        audited_alone=parts.audit_true,
        notes=_notes_on_audits(case, work, parts, counted=counted),
        signature=case.signature("audited", splits=len(parts.halves), extrapolated=parts.extrapolates),
        draws=draws_of_halves(parts.value, parts.halves),
    )


def _refuse_audits(case: Case) -> None:
    """Say why the audit does not do; None where it does."""
    noisy = list(case.noise.factors.values())
    without = [one for one in noisy if one.kind != "audit"]
    if without:
        raise NotCorrected(
            f"factor {quoted(without[0].name)} has no audited rows, but method 'audited' needs some; draw rows at "
            "random with demele.labels.draw_audit, and get the true values of all noisy factors for these rows"
        )
    sets = {frozenset(one.rows.tolist()) for one in noisy}
    if len(sets) > 1:
        raise NotCorrected(
            "the audits are of different rows; method 'audited' needs the true values of all noisy factors"
        )
    k = len(next(iter(sets)))
    if k < FEWEST:
        raise NotCorrected(f"{k} audited rows are too few; audit at least {FEWEST}, better {MEASURED} or more")
    for one in noisy:
        if not one.classes:
            continue
        values = np.unique(one.values).size
        if k < ROWS_PER_VALUE * values:
            raise NotCorrected(
                f"{k} audited rows are too few for the {values} values of factor {quoted(one.name)}; audit at least "
                f"{ROWS_PER_VALUE} for each"
            )


def _notes_on_audits(case: Case, work: Work, parts: Parts, *, counted: bool) -> tuple[Note, ...]:
    """Return what is to be known of a corrected score."""
    noisy = list(case.noise.factors.values())
    k = noisy[0].rows.size
    notes: list[Note] = []
    if k < MEASURED:
        few = f"{k} audited rows are few: how often such intervals hold the truth was measured from {MEASURED} rows on"
        notes.append(Note(code="few-audited", message=few, severity="warning"))
    unclear = max(one.unclear for one in noisy)
    if unclear:
        told = f"{unclear} of {k + unclear} drawn rows have unclear true values; they are assumed to be like others"
        notes.append(Note(code="audit-unclear", message=told, severity="warning"))
    if not counted and parts.halves.size:
        rough = "the interval is approximate: how often it holds the truth was measured for scores of counts only"
        notes.append(Note(code="approximate-interval", message=rough))
    settings = work.request.settings
    if settings is not None and settings.correction == "none" and "transition" in work.asked.metric.corrected_by:
        # errors that depend on the codes, where that can be seen: noisy annotations may then flatter a code
        with suppress(NotCorrected):
            agreed = consistency(work, shared_tables(case, settings))
            notes += [] if agreed is None or agreed.holds else [agreed.note()]
    return (*notes, *work.out_of_range(parts.value))


#: Every method by its name; a score is corrected by one of them.
METHODS = {"transition": by_transition, "audited": by_audit, "bounds": by_bounds}


def checked_noise(given: object, method: object, data: InMemory) -> FactorNoise:
    """Check what is known of the noise, and the method, before anything is computed.

    Parameters
    ----------
    given : mapping of factor name to knowledge
    method : str or None
    data : InMemory

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
    """
    if method is not None:
        checked_name(method, "noise_method", tuple(METHODS))
    noise = FactorNoise.checked(given, data.subject("rows").factors)
    varying = data.data.factors.names
    for name in noise.factors:
        if name not in varying:
            raise InputError("noise", f"factor {quoted(name)} is constant and was left out; leave it out here too")
    return noise


def corrected(
    evaluation: Evaluation,
    asked: Sequence[Request],
    source: InMemory,
    run: Run,
    noise: FactorNoise,
    method: str | None = None,
) -> Evaluation:
    """Return an evaluation whose scores carry what they would be if all annotations were right.

    Parameters
    ----------
    evaluation : Evaluation
        Of the annotations as given; its values stay.
    asked : sequence of Request
        What it was made of.
    source : InMemory
    run : Run
    noise : FactorNoise
    method : str, optional
        One of :data:`METHODS` for all scores; by default the one that assumes least.
    """
    case = Case(source, run, noise, by_name=method is not None)
    kinds = noise.kinds  # without a name, the method that assumes least
    default = "bounds" if "rate" in kinds else "audited" if kinds == {"audit"} else "transition"
    chosen = METHODS[method or default]
    by_name = {one.name: one for one in asked}
    scores = []
    for score in evaluation.scores:
        one = by_name[score.metric]
        try:
            found = chosen(case, Work(one, resolved(one, source, run.seed), score))
            scores.append(replace(score, corrected=found))
        except NotCorrected as error:
            note = Note(code="not-corrected", message=f"not corrected for noisy factors: {error}")
            scores.append(replace(score, notes=(*score.notes, note)))
    return replace(evaluation, scores=tuple(scores))
