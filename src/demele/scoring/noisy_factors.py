"""Scores corrected for noisy factors: the table of methods, which of them is taken, and what becomes of a score."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from demele.core.arrays import Floats, Rows, rng_for
from demele.core.errors import DemeleWarning, InputError, InputTypeError, quoted
from demele.core.inputs import Factor, Factors
from demele.core.kinds import checked_name
from demele.core.result import normal_interval
from demele.core.results import CorrectedScore, Evaluation, Interval, Note, Score
from demele.estimation.annotation_errors import BOUNDS, InformationBounds, information_bounds
from demele.estimation.counts import BinnedRows, JointCounts, PackedRows, bin_rows, column_bins, cut
from demele.estimation.information import InformationTable
from demele.metrics.data import TableSettings
from demele.metrics.options import Run
from demele.metrics.request import Request, resolved
from demele.metrics.run import Found
from demele.metrics.source import InMemory, Subject
from demele.noise.audit import unclear_notes
from demele.scoring.noisy_case import Case, NoiseOfFactor, NotCorrected, noise_of_factor, refuse_singular, signed_tables

# One score, and scores of some rows -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Work:
    """One score to correct: how it was asked for, how it is read, and what it is of the annotations as given."""

    asked: Request
    request: Request
    score: Score

    def out_of_range(self, value: float) -> tuple[Note, ...]:
        """Say that a corrected value is beyond what the metric can be, which is reported and not cut."""
        low, high = self.asked.metric.range
        if not (value < low or value > high) or round(value, 3) in (low, high):  # as it is shown, it is not beyond
            return ()
        message = f"the corrected value {value:.3f} lies outside [{low:g}, {high:g}]: it is an estimate, and not cut"
        return (Note(code="corrected-out-of-range", message=message),)


@dataclass(frozen=True, slots=True)
class Halved:
    """A corrected score, and the same on halves of the rows, which tell its error.

    Attributes
    ----------
    plain : float
        Of all rows.
    halves : array of shape (n_splits, 2)
        On both halves of each split of the rows; empty where none were scored.
    extrapolates : bool
        Whether the bias of few rows is extrapolated from halves.
    audited_alone : float or None
        The score of the audited rows by their true values.
    """

    plain: float
    halves: Floats
    extrapolates: bool = False
    audited_alone: float | None = None

    @property
    def value(self) -> float:
        """The score, its bias by few rows taken off where halves show it."""
        if not self.extrapolates or not self.halves.size:
            return self.plain
        return 2 * self.plain - float(np.nanmean(self.halves))

    def interval(self, level: float) -> Interval | None:
        """Return the interval: chance of rows, and half of what was extrapolated; None of fewer than two splits."""
        if len(self.halves) < 2:
            return None
        error = float(np.sqrt(np.nanmean((self.halves[:, 0] - self.halves[:, 1]) ** 2) / 4))
        method = f"normal, {len(self.halves)} splits into halves" + ("" if self.extrapolates else ", approximate")
        return normal_interval(self.value, error, level, method, more=abs(self.value - self.plain) / 2)

    def draws(self) -> Floats:
        """Return values about the score, as far apart as its error: half of what both halves of a split differ by."""
        apart = (self.halves[:, 0] - self.halves[:, 1]) / 2
        return self.value + np.concatenate([apart, -apart])


def split_rows(n: int, audited: Rows, seed: int, index: int) -> list[tuple[Rows, Rows]]:
    """Return two halves of n rows, each with half of the audited ones: the audited rows in it, and all in it.

    ``seed`` and ``index`` are those of the split.
    """
    rng = rng_for(seed, "corrected", "halves", index)
    others = np.setdiff1d(np.arange(n, dtype=np.intp), audited)
    drawn, rest = rng.permutation(audited), rng.permutation(others)
    k, r = drawn.size // 2, rest.size // 2
    pairs = ((drawn[:k], rest[:r]), (drawn[k:], rest[r:]))
    return [(np.sort(some), np.sort(np.concatenate([some, more]))) for some, more in pairs]


def _part(case: Case, rows: Rows, columns: Sequence[Factor]) -> InMemory:
    """Return some rows of the codes, with these columns of factors."""
    data = case.source.data
    active = tuple(index for index, column in enumerate(columns) if not column.constant)
    subject = Subject(data.codes.take(rows), Factors(tuple(columns), data.factors.missing), active, ())
    return InMemory(subject, None if data.codes_std is None else data.codes_std[rows])


def _score_of_part(case: Case, work: Work, part: InMemory) -> float:
    """Return the score of some rows, or why there is none."""
    name = work.asked.name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DemeleWarning)  # the whole score was warned of already
        found = Found(part, Run(seed=case.run.seed), guards=False).compute([work.asked])
    if name not in found.outcomes:
        raise NotCorrected(found.left_out[0].reason)
    value = float(found.outcomes[name].native.value)
    if not math.isfinite(value):
        raise NotCorrected(f"{name} returned {value}")
    return value


def _on_halves(
    case: Case, audited: Rows, n_splits: int, score: Callable[[tuple[int, int], Rows, Rows], float]
) -> Floats:
    """Return scores on both halves of splits of the rows, (n_splits, 2), without splits that leave one undefined.

    ``score`` takes the numbers of split and half, the audited rows and all rows.
    """
    halves = np.full((n_splits, 2), np.nan)
    for index in range(n_splits):
        for side, (some, every) in enumerate(split_rows(case.source.data.n, audited, case.run.seed, index)):
            with suppress(NotCorrected):
                halves[index, side] = score((index, side), some, every)
    return np.asarray(halves[~np.isnan(halves).any(axis=1)])


# Method ``bounds`` ----------------------------------------------------------------------------------------------------

#: From this rate on, bounds are close to empty: that is said first.
SAYS_LITTLE = 0.1
ASSUMPTIONS = (
    "The true values are among those that occur; which annotations are wrong, and how, is left open.",
    "The bounds are of these rows: what other rows would have given is not in them.",
)


def by_bounds(case: Case, work: Work) -> CorrectedScore:
    """Bound a score that is a gap of informations."""
    settings, metric = work.request.settings, work.asked.metric
    if "bounds" not in metric.corrected_by or settings is None:
        raise NotCorrected(
            f"bounds under a rate of wrong annotations are known of {', '.join(BOUNDS)}, and not of {metric.title}"
        )
    if work.request.options.get("reg_dim") is not None:
        raise NotCorrected("bounds are of the gap between the two codes that inform most, not of codes that are named")
    others = [name for name, one in case.noise.items() if one.kind != "rate"]
    if others:
        raise NotCorrected(
            f"bounds need a rate of wrong annotations for each noisy factor, and {', '.join(map(quoted, others))} has "
            "something else"
        )
    low, high = BOUNDS[metric.name](case.kept(_bounds, settings))
    rates = {name: one.share for name, one in case.noise.items()}
    notes = []
    largest = max(rates.values())
    if largest >= SAYS_LITTLE:
        message = (
            f"if {largest:.0%} of the annotations are wrong, in the worst case, the bounds of the score are wide: "
            f"it is between {low:.2f} and {high:.2f}; an audit of random rows narrows them"
        )
        notes.append(Note(code="bounds-say-little", message=message, severity="warning"))
    columns = case.source.data.factors.columns
    continuous = tuple(one.name for one in columns if one.name in rates and not one.categorical)
    if continuous:
        message = f"an annotation of {', '.join(map(quoted, continuous))} counts as wrong if it is in another bin"
        notes.append(Note(code="wrong-is-another-bin", message=message, subject=continuous))
    known = (f"At most {100 * share:.3g}% of the annotations of {name!r} are wrong." for name, share in rates.items())
    return CorrectedScore(
        value=float("nan"),
        interval=Interval(low=low, high=high, level=1.0, method="certified bounds", kind="bounds"),
        method="bounds",
        assumptions=(*known, *ASSUMPTIONS, *case.right_factors()),
        notes=tuple(notes),
        signature=case.signature("bounds"),
    )


def _bounds(case: Case, settings: TableSettings) -> InformationBounds:
    counts = case.source.counts_behind(settings)
    if counts is None:
        raise NotCorrected("bounds are of plug-in information in counts; take histograms and correction 'none'")
    return information_bounds(list(counts.tables), [0.0 if one is None else one.share for one in case.of_factors])


# Method ``transition`` ------------------------------------------------------------------------------------------------

#: Splits into halves, whose spread is that of the score.
SPLITS = 10


def of_classifiers(case: Case, work: Work) -> Halved:
    """Return a score against true values by the same classifiers.

    Classifiers are trained on the annotations as given, and judged as by true values.
    """
    if work.asked.options.get("units") == "raw":
        raise NotCorrected("classifiers of raw codes are as public code has them; take units='standard'")
    data, errors = case.source.data, {}
    columns = {column.name: column for column in data.factors.columns}
    for name, known in case.noise.items():
        if known.kind == "rate" or not columns[name].categorical:
            raise NotCorrected(
                f"of factor {quoted(name)} no transition between classes is known; an audit of rows drawn at "
                "random corrects any score"
            )
        if len(known.classes) != len(columns[name].levels):
            raise NotCorrected(
                f"some true values of factor {quoted(name)} are never given, so no classifier could learn them"
            )
        errors[name] = known.in_bins(columns[name], None)

    def score(half: tuple[int, int] | None, rows: Rows) -> float:
        """Return the score of some rows; of a half, by half of what was counted in another sample."""
        part = _part(case, rows, [column.take(rows) for column in columns.values()])
        weights, transitions = np.bincount(rows, minlength=data.n).astype(np.float64), {}
        for name, one in errors.items():
            if half is not None and one.kind == "counts":
                rng = rng_for(case.run.seed, "corrected", "counts", name, half[0])
                counts = one.matrix.astype(np.int64)
                first = rng.multivariate_hypergeometric(counts.ravel(), int(counts.sum()) // 2).reshape(counts.shape)
                one = replace(one, matrix=(first, counts - first)[half[1]].astype(np.float64))
            given = np.asarray(columns[name].values)[rows]
            given = one.position[given[given >= 0].astype(np.intp)]
            often = np.bincount(given, minlength=len(one.classes)).astype(np.float64)
            transitions[name] = one.transition(often, weights)[np.ix_(one.position, one.position)]
            if half is None:
                refuse_singular(transitions[name], name)
        part.data = replace(part.data, transitions=transitions)
        return _score_of_part(case, work, part)

    value = score(None, np.arange(data.n, dtype=np.intp))
    audited = np.unique(np.concatenate([one.rows for one in case.noise.values()]))
    return Halved(value, _on_halves(case, audited, SPLITS, lambda half, _, rows: score(half, rows)))


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
    """Correct a score that is a function of informations and entropies, or one of classifiers."""
    settings, level = work.request.settings, case.run.level
    if "transition" not in work.asked.metric.corrected_by:
        raise NotCorrected(
            "the score is not made of tables of a code and a factor alone, in which a transition undoes errors; with "
            "true values of rows that are drawn at random, method 'audited' corrects it"
        )
    always = [INDEPENDENT]
    notes: tuple[Note, ...] = ()
    if settings is None:
        halved = of_classifiers(case, work)
        value, interval, draws = halved.value, halved.interval(level), halved.draws()
        always.append(TRAINED)
        made = {"splits": len(halved.halves)}
    else:
        if settings.estimator != "histogram":
            raise NotCorrected("a transition undoes errors in counts, not among nearest neighbours; take histograms")
        if settings.correction != "none":
            raise NotCorrected(
                f"signed information is not biased as plug-in information is, so correction {settings.correction!r} "
                "does not go with it; leave it at 'none'"
            )
        tables, notes = case.kept(signed_tables, settings)
        values = np.asarray(work.request.read(tables[0]).value)
        value, draws = float(values[0]), values[1:]
        if value != value:
            raise NotCorrected("the corrected annotations leave a factor without entropy; count or audit more rows")
        doubts = dependence_notes(work, tables)
        if doubts and not case.by_name:
            raise NotCorrected(f"{doubts[0].message}; method 'audited' makes no such assumption")
        notes = (*notes, *doubts)
        made = {"resamples": len(draws)}
        method = f"normal, bootstrap of {len(draws)} resamples"
        interval = normal_interval(value, float(draws.std(ddof=1)), level, method)
    for kind, sentence in _OF_KIND.items():
        names = [repr(name) for name, one in case.noise.items() if one.kind == kind]
        if names:
            always.append(sentence.format(", ".join(names)))
    return CorrectedScore(
        value=value,
        interval=interval,
        method="transition",
        assumptions=(*always, *case.right_factors()),
        notes=(*notes, *work.out_of_range(value)),
        signature=case.signature("transition", **made),
        draws=draws,
    )


#: Distance in standard deviations from which the two disagree: a level of 1 %.
FARTHEST = 2.58


def disagreement(work: Work, tables: Sequence[InformationTable]) -> float:
    """Return how far a score by transitions and by audited rows differ, in standard deviations of their resamples.

    The nearer one to 0, with the bias that the bootstrap shows or without; 0 where no factor is audited.
    """
    if len(tables) < 2:
        return 0.0
    by_transition, by_audit = (np.asarray(work.request.read(table).value) for table in tables)
    apart = by_transition - by_audit
    spread = float(apart[1:].std(ddof=1))
    if not spread > 1e-12:  # no error among the audited rows: both are the score as given
        return 0.0
    return nearer(float(apart[0]) / spread, (2 * float(apart[0]) - float(apart[1:].mean())) / spread)


def nearer(plain: float, unbiased: float) -> float:
    """Return the distance nearer to 0, with or without the bias that resamples show; 0 where they lie on both sides.

    Resamples of a table whose empty cells are noise show more bias than the table has: taken off alone, it makes false
    alarms of one in ten.
    """
    if plain * unbiased <= 0:
        return 0.0
    return min(plain, unbiased, key=abs)


def dependence_notes(work: Work, tables: Sequence[InformationTable]) -> tuple[Note, ...]:
    """Warn where errors depend on the codes, as far as audited rows show."""
    distance = abs(disagreement(work, tables))
    if not distance > FARTHEST:
        return ()
    message = (
        "errors depend on the codes; the transition correction does not hold (it and the audited rows differ by "
        f"{distance:.1f} standard deviations)"
    )
    return (Note(code="errors-depend-on-codes", message=message, severity="warning"),)


# Method ``audited`` ---------------------------------------------------------------------------------------------------

#: Splits into halves.
SPLITS_OF_AUDITS = 20


def of_tables(case: Case, work: Work) -> Halved:
    """Score true and given values of audited rows, and given ones of all rows, from counts."""
    settings = work.request.settings
    if settings is None:
        raise ValueError("no table")
    if settings.correction == "none":
        settings = replace(settings, correction="miller-madow")
    tables = case.kept(audited_tables, settings, work.request.metric.pairs)
    true, given, everything = (np.asarray(work.request.read(table).value) for table in tables)
    found = true + (everything - given)
    return Halved(float(found[0]), found[1:].reshape(-1, 2), extrapolates=True, audited_alone=float(true[0]))


def audited_tables(case: Case, settings: TableSettings, pairs: bool) -> tuple[InformationTable, ...]:
    """Count audited rows by true and by given values, and all rows, whole and on halves, in the same bins.

    Factors have all classes, also those that are true and never given.
    """
    data = case.source.data
    of_codes, of_factors = column_bins(data.codes, data.factors, settings.binning)
    rows = bin_rows(data.codes, data.factors, of_codes, of_factors)
    audited = next(iter(case.noise.values())).rows
    factors, sizes = rows.factors.copy(), rows.factor_bins.copy()
    truth = rows.factors[:, audited]
    for i, (known, bins) in enumerate(zip(case.of_factors, of_factors, strict=True)):
        if known is None:
            continue
        missing = factors[i] == sizes[i]
        sizes[i] = max(sizes[i], len(known.classes))
        factors[i] = np.where(missing, sizes[i], factors[i])  # what is missing is one value more
        values = known.values if bins is None else cut(np.asarray(known.values, dtype=np.float64), bins)
        truth[i] = np.where(missing[audited], sizes[i], values)
    rows = replace(rows, factors=factors, factor_bins=sizes)
    given = replace(rows, codes=rows.codes[:, audited], factors=factors[:, audited])
    true = replace(given, factors=truth)
    place = np.full(rows.n, -1, dtype=np.intp)
    place[audited] = np.arange(audited.size)
    halves = [half for index in range(SPLITS_OF_AUDITS) for half in split_rows(rows.n, audited, case.run.seed, index)]
    of_audit, of_all = [place[some] for some, _ in halves], [every for _, every in halves]

    def informations(own: BinnedRows, parts: Sequence[Rows]) -> InformationTable:
        packed = PackedRows(own, factor_pairs=pairs)
        weights = (np.bincount(part, minlength=own.n).astype(np.float64) for part in parts)
        counts = JointCounts.stacked([packed.count(), *map(packed.count, weights)])
        span = data.codes.high - data.codes.low
        return replace(case.source.information(counts, settings.correction), code_range=span)

    return informations(true, of_audit), informations(given, of_audit), informations(rows, of_all)


#: Splits into halves of scores that are fitted: each costs six more fits.
SPLITS_OF_FITS = 5


def of_rows(case: Case, work: Work) -> Halved:
    """Score true and given values of audited rows, and given ones of all rows; halves where that is not slow."""
    n = case.source.data.n
    audited = next(iter(case.noise.values())).rows

    def parts(some: Rows, every: Rows) -> tuple[float, float]:
        """Return the score of true values of audited rows, and the same plus what all rows add."""
        true, given = (_score_of(case, work, some, true=own) for own in (True, False))
        as_given = len(every) == n and case.run.n_repeats == 1
        return true, true + ((work.score.value if as_given else _score_of(case, work, every, true=False)) - given)

    try:
        alone, plain = parts(audited, np.arange(n, dtype=np.intp))
    except NotCorrected as error:
        raise NotCorrected(f"on the audited rows alone: {error}; audit more rows") from error
    n_splits = 0 if work.asked.metric.slow > 1 else SPLITS_OF_FITS
    halves = _on_halves(case, audited, n_splits, lambda _, some, every: parts(some, every)[1])
    return Halved(plain, halves, audited_alone=alone)


def _score_of(case: Case, work: Work, rows: Rows, *, true: bool) -> float:
    """Return the score of some rows, with true values where these are known."""
    columns = []
    for column in case.source.data.factors.columns:
        taken = column.take(rows)
        audit = case.noise.get(column.name) if true else None
        if audit is not None:
            order = np.argsort(audit.rows)
            values = audit.values[order[np.searchsorted(audit.rows[order], rows)]]
            values = np.where(taken.annotated(), values, -1 if taken.categorical else np.nan)
            last = len(audit.classes) - 1.0
            changes: dict[str, Any] = {"levels": audit.classes, "low": 0.0, "high": last} if taken.categorical else {}
            taken = replace(taken, values=values, **changes).take(np.arange(rows.size))
        if not column.categorical:  # bins of equal width stay those of all rows
            taken = replace(taken, low=column.low, high=column.high)
        columns.append(taken)
    return _score_of_part(case, work, _part(case, rows, columns))


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
    _refuse_audits(case.noise)
    settings = work.request.settings
    counted = settings is not None and settings.resamples_by_weight
    uncorrected = settings is not None and settings.correction == "none"
    found = of_tables(case, work) if counted else of_rows(case, work)
    if not np.isfinite(found.value):
        raise NotCorrected("the score is not defined on the audited rows; audit more of them")
    k, unclear = next(iter(case.noise.values())).rows.size, max(one.unclear for one in case.noise.values())
    notes: list[Note] = []
    if k < MEASURED:
        few = f"{k} audited rows are few: how often such intervals hold the truth was measured from {MEASURED} rows on"
        notes.append(Note(code="few-audited", message=few, severity="warning"))
    notes += unclear_notes(k, unclear)
    if not counted and found.halves.size:
        rough = "the interval is approximate: how often it holds the truth was measured for scores of counts only"
        notes.append(Note(code="approximate-interval", message=rough))
    if settings is not None and uncorrected and "transition" in work.asked.metric.corrected_by:
        # errors that depend on the codes, where that can be seen: noisy annotations may then flatter a code
        with suppress(NotCorrected):
            notes += dependence_notes(work, case.kept(signed_tables, settings)[0])
    return CorrectedScore(
        value=found.value,
        interval=found.interval(case.run.level),
        method="audited",
        assumptions=(
            "The audited rows were drawn at random, and their true values are right.",
            *case.right_factors(),
            *((BIAS_TOO,) if counted and uncorrected else ()),
        ),
        audited_alone=found.audited_alone,
        notes=(*notes, *work.out_of_range(found.value)),
        signature=case.signature("audited", splits=len(found.halves), extrapolated=found.extrapolates),
        draws=found.draws(),
    )


def _refuse_audits(noise: Mapping[str, NoiseOfFactor]) -> None:
    """Raise why the audits do not do."""
    without = [name for name, one in noise.items() if one.kind != "audit"]
    if without:
        raise NotCorrected(
            f"factor {quoted(without[0])} has no audited rows, but method 'audited' needs some; draw rows at "
            "random with demele.labels.draw_audit, and get the true values of all noisy factors for these rows"
        )
    sets = {frozenset(one.rows.tolist()) for one in noise.values()}
    if len(sets) > 1:
        raise NotCorrected(
            "the audits are of different rows; method 'audited' needs the true values of all noisy factors"
        )
    k = len(next(iter(sets)))
    if k < FEWEST:
        raise NotCorrected(f"{k} audited rows are too few; audit at least {FEWEST}, better {MEASURED} or more")
    for name, one in noise.items():
        values = np.unique(one.values).size
        if one.classes and k < ROWS_PER_VALUE * values:
            raise NotCorrected(
                f"{k} audited rows are too few for the {values} values of factor {quoted(name)}; audit at least "
                f"{ROWS_PER_VALUE} for each"
            )


#: Every method by its name; a score is corrected by one of them.
METHODS = {"transition": by_transition, "audited": by_audit, "bounds": by_bounds}


def checked_noise(given: object, method: object, source: InMemory) -> dict[str, NoiseOfFactor]:
    """Match what is known of noisy factors to their columns, and check the method, before anything is computed.

    Parameters
    ----------
    given : mapping of factor name to knowledge
        See :func:`demele.evaluate`.
    method : str or None
    source : InMemory

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        If a factor is not there, or what is known of it does not fit its column or cannot correct anything.
    """
    if method is not None:
        checked_name(method, "noise_method", tuple(METHODS))
    if not isinstance(given, Mapping):
        raise InputTypeError(
            "noise",
            f"expected a mapping of factors to the noise of each, got {type(given).__name__}",
            "such as {'shape': 0.05}",
        )
    if not given:
        raise InputError("noise", "expected at least one factor, got none", "leave it out")
    columns = {column.name: column for column in source.subject("rows").factors.columns}
    for name in map(str, given):
        if name not in columns:
            known = ", ".join(map(quoted, columns))
            raise InputError("noise", f"unknown factor {quoted(name)}; the factors are {known}")
        if columns[name].constant:
            raise InputError("noise", f"factor {quoted(name)} is constant and was left out; leave it out here too")
    return {str(name): noise_of_factor(one, columns[str(name)]) for name, one in given.items()}


def corrected(
    evaluation: Evaluation,
    asked: Sequence[Request],
    source: InMemory,
    run: Run,
    noise: Mapping[str, NoiseOfFactor],
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
    noise : mapping of str to NoiseOfFactor
    method : str, optional
        One of :data:`METHODS` for all scores; by default the one that assumes least.
    """
    case = Case(source, run, noise, by_name=method is not None)
    kinds = {one.kind for one in noise.values()}  # without a name, the method that assumes least
    default = "bounds" if "rate" in kinds else "audited" if kinds == {"audit"} else "transition"
    by_name = {one.name: one for one in asked}
    scores = []
    for score in evaluation.scores:
        one = by_name[score.metric]
        try:
            found = METHODS[method or default](case, Work(one, resolved(one, source, run.seed), score))
            scores.append(replace(score, corrected=found))
        except NotCorrected as error:
            note = Note(code="not-corrected", message=f"not corrected for noisy factors: {error}")
            scores.append(replace(score, notes=(*score.notes, note)))
    return replace(evaluation, scores=tuple(scores))
