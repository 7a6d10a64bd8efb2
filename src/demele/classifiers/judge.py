"""Systems scored by a judge, such as a language model: how good the judge is, and what its scores say after correction.

A judge errs, and more on one system than on another. Human scores of some rows show by how much: each mean and each
difference is corrected by them, never by errors that the judge made on another system.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any, Literal

import numpy as np

from demele.classifiers.judge_bias import slices as slice_means
from demele.classifiers.judge_documents import judged_document
from demele.classifiers.mean_scores import MeanScore, Stratum, breakdown, known_mean
from demele.classifiers.pooled_strata import TINY
from demele.classifiers.results import NamedEstimates
from demele.classifiers.row_scores import RowScores, ScoreAudit
from demele.core.arrays import Floats
from demele.core.checked_numbers import checked_confidence, checked_rate
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.holm import holm
from demele.core.names import checked_name
from demele.core.proportions import normal_quantile
from demele.core.result import Result
from demele.core.results import Interval, Note
from demele.core.signature import Signature
from demele.core.table_columns import as_column
from demele.noise.square_tables import digest

Against = Literal["above", "below", "inconclusive", ""]
#: Rows to score to begin with.
FIRST_LABELS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeQuality:
    """How good a judge is on one system, by the audited rows.

    Attributes
    ----------
    sensitivity, specificity : Interval or None
        Share of true passes that the judge passes, of true failures that it fails; of scores of 0 and 1 only.
    sensitivity_value, specificity_value, j : float
        By the strata of the audit; ``j`` is sensitivity + specificity - 1: 0 for a judge that tells nothing.
    j_interval : Interval or None
    agreement : float
        Share of audited rows with the same score.
    kappa : float
        Agreement beyond chance; with quadratic weights for more levels than two.
    kappa_interval : Interval or None
    wrong : int
        Audited rows with another score.
    """

    sensitivity_value: float = math.nan
    specificity_value: float = math.nan
    j: float = math.nan
    sensitivity: Interval | None = None
    specificity: Interval | None = None
    j_interval: Interval | None = None
    agreement: float
    kappa: float = math.nan
    kappa_interval: Interval | None = None
    wrong: int
    audited: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One system, or the difference of two.

    Attributes
    ----------
    name : str
    judge : float
        Mean score by the judge.
    value : float
        Corrected by the human scores; NaN without any.
    corrected, asymptotic : Interval or None
        Its interval, and that of PPI++.
    p_value : float or None
        One-sided, for "not above the gate", or "the second system is not better".
    verdict : {"above", "below", "inconclusive", ""}
        Where the corrected mean is shown to be, seen from the gate, or from 0 for a difference.
    breakdown : int or None
        Wrong rows that take the judge's mean to the gate, or its lead to 0.
    quality : JudgeQuality or None
    strata : tuple of Stratum
    """

    name: str
    judge: float
    value: float = math.nan
    corrected: Interval | None = None
    asymptotic: Interval | None = None
    p_value: float | None = None
    verdict: Against = ""
    breakdown: int | None = None
    quality: JudgeQuality | None = None
    strata: tuple[Stratum, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Judgement(Result):
    """Scores by a judge, corrected by human scores.

    Attributes
    ----------
    systems, differences : tuple of Judged
        A difference is that of a system from one before it. Verdicts on several pairs share one error, by Holm's
        procedure; intervals are of each pair by itself.
    n, audited : int
        Rows, and those with human scores.
    noise : float or None
        Largest share of wrong scores, where that was given instead of human scores.
    scale : (float, float)
    gate : float or None
    level : float
    next_labels : int
        Rows with human scores, in all, that would decide what is inconclusive, about, if the estimates stay; 0 if
        nothing is, or all have one; more than ``n`` if no number of these rows would.
    slices : mapping of str to NamedEstimates
        Of each system: its slices, and their differences from the rest.
    assumptions : tuple of str
    notes : tuple of Note
    signature : Signature
    """

    _kind, _rows = "judgement", "systems"

    systems: tuple[Judged, ...]
    differences: tuple[Judged, ...]
    n: int
    audited: int
    noise: float | None
    scale: tuple[float, float]
    gate: float | None
    level: float
    next_labels: int
    slices: Mapping[str, NamedEstimates]
    assumptions: tuple[str, ...]
    notes: tuple[Note, ...]
    signature: Signature

    document = judged_document

    def __getitem__(self, name: str) -> Judged:
        held = {one.name: one for one in (*self.systems, *self.differences)}
        return held[checked_name(name, "system", held)]

    @property
    def unmet(self) -> str:
        """What is not shown: gates, or of two systems without a gate that one is better; "" if all is."""
        if not self.audited and self.noise is None:
            return "without human scores nothing is shown"
        if self.gate is not None:
            open_ = [one.name for one in self.systems if one.verdict != "above"]
            return f"not shown to be above {self.gate:g}: {', '.join(open_)}" if open_ else ""
        still_open = len(self.systems) == 2 and self.differences[0].verdict == "inconclusive"
        return "neither system is shown to be better" if still_open else ""


def judge_scores(
    scores: Mapping[str, Any] | RowScores,
    audit: ScoreAudit | Mapping[str, Any] | None = None,
    *,
    gate: float | None = None,
    level: float = 0.95,
    inference: Literal["population", "test_set"] = "population",
    noise: float | None = None,
    exact: bool = False,
    human_error: float = 0.0,
    slices: object = None,
) -> Judgement:
    """Correct a judge's scores of one or several systems by human scores of some rows.

    Parameters
    ----------
    scores : mapping of str to RowScores or array-like of shape (n,)
        The judge's scores of each system, of the same rows in the same order; arrays hold scores from 0 to 1.
    audit : ScoreAudit, or mapping of str to array-like of shape (n,), optional
        Human scores of some rows, of each system by name; arrays hold NaN where nobody judged. Without it, the result
        says how many wrong scores would change it.
    gate : float, optional
        Mean score that each system should exceed.
    level : float
        Nominal coverage of every interval.
    inference : {"population", "test_set"}
        The mean of new rows, or of these.
    noise : float, optional
        Largest share of wrong scores, if there are no human ones. 0 takes all as right. Intervals are then of the worst
        case.
    exact : bool
        Proved intervals, for any number of human scores. They are about these rows, and wider.
    human_error : float
        Largest share of human scores that are wrong.
    slices : array-like of shape (n,), optional
        The slice of each row, such as its language: see :func:`demele.classifiers.slices`.

    Returns
    -------
    Judgement

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Examples
    --------
    >>> given = RowScores([1] * 1800 + [0] * 200)
    >>> rows = [*range(90), *range(1800, 1810)]
    >>> human = ScoreAudit(rows, [1] * 84 + [0] * 6 + [1] * 4 + [0] * 6, inclusion=[0.05] * 100)
    >>> judged = judge_scores(given, human, gate=0.8)["system"]
    >>> judged.judge, round(judged.value, 3), str(judged.corrected), judged.verdict, round(judged.quality.j, 2)
    (0.9, 0.88, '[0.815, 0.927]', 'above', 0.45)
    """
    checked_confidence(level)
    named = {"system": scores} if isinstance(scores, RowScores) else scores
    if not isinstance(named, Mapping) or not named:
        raise InputTypeError("scores", "expected RowScores, or a mapping of names to these or to arrays")
    held = {name: one if isinstance(one, RowScores) else RowScores(one) for name, one in named.items()}
    if isinstance(audit, Mapping):
        audit = ScoreAudit.of_columns(audit)
    if noise is not None and audit is not None:
        raise InputError(("noise", "audit"), "human scores say how many scores are wrong; leave one of them out")
    human = {"gate": gate is not None and noise is None, "exact": exact, "human_error": bool(human_error)}
    for option, asked in (human | {"slices": slices is not None}).items():
        if asked and audit is None:
            raise InputError(option, "needs human scores; give `audit`, or leave it out")
    rate = None if noise is None else checked_rate(noise, "noise", of="the scores")
    first = next(iter(held.values()))
    audited_by = {"exact": exact, "expert_error": human_error}

    def mean_of(
        name: str, one: RowScores, own: ScoreAudit | None, at: float | None, confidence: float = level
    ) -> MeanScore:
        """Return a mean by what is known of the scores."""
        try:
            return known_mean(one, own, rate=rate, level=confidence, inference=inference, gate=at, **audited_by)
        except NotEnoughData as error:
            if own is None:
                raise
            raise NotEnoughData("audit", f"{name}: {error.problem}", error.remedy) from error

    known = audit is not None or rate is not None
    systems: list[Judged] = []
    notes: list[tuple[str, Note]] = []
    for name, one in held.items():
        own = None if audit is None else audit.of(name)
        mean = mean_of(name, one, own, gate)
        judged = _judged(name, mean, gate, None if gate is None else breakdown(one, gate=gate), known=known)
        systems.append(judged if own is None else replace(judged, quality=judge_quality(one, own, level=level)))
        notes += [(name, note) for note in mean.notes]
    differences = _differences(held, audit, mean_of, level, known=known)
    audited = 0 if audit is None else audit.k
    sliced = {}
    if audit is not None and slices is not None:
        sliced = {name: slice_means(one, audit.of(name), slices, level=level) for name, one in held.items()}
        notes += [(name, note) for name, one in sliced.items() for note in one.notes if note.code == "slice-thin"]
    return Judgement(
        systems=tuple(systems),
        differences=tuple(differences),
        n=first.n,
        audited=audited,
        noise=rate,
        scale=(first.low, first.high),
        gate=gate,
        level=level,
        next_labels=_next_labels(systems if gate is not None else differences, gate or 0.0, audited, first.n)
        if audit is not None
        else min(FIRST_LABELS, first.n),
        slices=sliced,
        assumptions=_assumptions(audit, human_error, rate),
        notes=_notes(notes, systems, first, audit),
        signature=Signature.of(
            "judge_scores",
            {"gate": gate, "level": level, "inference": inference, "noise": rate, "exact": exact}
            | {"human_error": human_error},
            n=first.n,
            **({} if slices is None else {"slices": digest(as_column(slices, "slices"))}),
            digest=digest(
                *(one.given for one in held.values()), *([] if audit is None else [audit.rows, *audit.true.values()])
            ),
        ),
    )


def _differences(
    held: Mapping[str, RowScores], audit: ScoreAudit | None, mean_of: Any, level: float, *, known: bool
) -> list[Judged]:
    """Compare all pairs; verdicts on several of them share one error."""
    found, p_values = [], []
    pairs = list(combinations(held.items(), 2))
    for (before, baseline), (name, candidate) in pairs:
        difference = candidate.minus(baseline)
        own = None if audit is None else audit.minus(name, before)
        mean = mean_of(f"{name} - {before}", difference, own, 0.0)
        found.append(_judged(f"{name} - {before}", mean, 0.0, breakdown(difference), known=known))
        if len(pairs) > 1 and known:
            p = mean.p_value
            if p is None:  # proved and worst-case intervals have no p-value: the level is divided instead
                narrow = mean_of(f"{name} - {before}", difference, own, 0.0, 1 - (1 - level) / len(pairs))
                p = float(narrow.low <= TINY and narrow.high >= -TINY)
            elif p > 0.5:  # the other side
                back = None if audit is None else audit.minus(before, name)
                p = mean_of(f"{before} - {name}", baseline.minus(candidate), back, 0.0).p_value
            p_values.append(min(1.0, 2 * p))
    if p_values:
        shown = holm(np.array(p_values), 1 - level)
        found = [one if kept else replace(one, verdict="inconclusive") for one, kept in zip(found, shown, strict=True)]
    return found


def _judged(name: str, mean: MeanScore, gate: float | None, away: int | None, *, known: bool) -> Judged:
    """Return a mean with its verdict; nothing is concluded where nothing is known of the scores."""
    if not known:
        return Judged(name=name, judge=mean.given, breakdown=away)
    verdict: Against = ""
    if gate is not None:
        verdict = "above" if mean.low > gate + TINY else "below" if mean.high < gate - TINY else "inconclusive"
    return Judged(
        name=name,
        judge=mean.given,
        value=mean.value,
        corrected=mean.interval,
        asymptotic=mean.asymptotic,
        p_value=mean.p_value,
        verdict=verdict,
        breakdown=away,
        strata=mean.strata,
    )


# The judge ------------------------------------------------------------------------------------------------------------


def judge_quality(scores: RowScores, audit: ScoreAudit, *, level: float = 0.95) -> JudgeQuality:
    """Return how well a judge's scores agree with human ones.

    Parameters
    ----------
    scores : RowScores
    audit : ScoreAudit
        Human scores of some rows of the same system.
    level : float

    Notes
    -----
    Of scores of 0 and 1: sensitivity = W1 m1 / (W1 m1 + W0 m0), with W the share of the rows that the judge passes (1)
    or fails (0), and m the share of true passes among those audited; specificity accordingly. Intervals, of uniform
    draws: Jeffreys' of the audited true passes, and failures; distances in quadrature for J. Kappa and its error:
    Fleiss, Cohen and Everitt 1969.

    Examples
    --------
    >>> given = RowScores([1] * 1830 + [0] * 170)
    >>> rows = [*range(90), *range(1830, 1840)]
    >>> quality = judge_quality(given, ScoreAudit(rows, [1] * 84 + [0] * 6 + [1] * 4 + [0] * 6))
    >>> round(quality.sensitivity_value, 6), round(quality.specificity_value, 6), round(quality.kappa, 6)
    (0.961712, 0.455357, 0.489796)
    """
    rows, true, inclusion = audit.judged(scores)
    given = scores.given[rows]
    kappa, error = weighted_kappa(given, true)
    z = normal_quantile((1 + level) / 2)
    same = given == true
    found = JudgeQuality(
        agreement=float(same.mean()),
        kappa=kappa,
        kappa_interval=None
        if math.isnan(error)
        else Interval(low=max(kappa - z * error, -1), high=min(kappa + z * error, 1), level=level, method="normal"),
        wrong=int(np.count_nonzero(~same)),
        audited=rows.size,
    )
    if not np.isin(np.concatenate([scores.given[scores.scored], true]), (scores.low, scores.high)).all():
        return found
    weight = np.ones(rows.size) if inclusion is None else 1 / inclusion
    passed, good = given == scores.high, true == scores.high
    share = (scores.mean - scores.low) / scores.width
    with np.errstate(invalid="ignore", divide="ignore"):
        m1, m0 = (float(weight[part] @ good[part] / weight[part].sum()) for part in (passed, ~passed))
    m1, m0 = (one if weight[part].sum() else float(side) for one, part, side in ((m1, passed, 1), (m0, ~passed, 0)))
    w1, w0 = share, 1 - share
    passes, failures = w1 * m1 + w0 * m0, w0 * (1 - m0) + w1 * (1 - m1)
    sensitivity = w1 * m1 / passes if passes > 0 else math.nan
    specificity = w0 * (1 - m0) / failures if failures > 0 else math.nan
    found = replace(
        found, sensitivity_value=sensitivity, specificity_value=specificity, j=sensitivity + specificity - 1
    )
    if inclusion is not None or not good.any() or good.all():
        return found
    ends = [jeffreys(int(np.count_nonzero(same & part)), int(np.count_nonzero(part)), level) for part in (good, ~good)]
    counted = [float(same[part].mean()) for part in (good, ~good)]
    centre = sum(counted) - 1
    below, above = (math.hypot(*(one[side] - mean for one, mean in zip(ends, counted, strict=True))) for side in (0, 1))
    return replace(
        found,
        sensitivity=Interval(low=ends[0][0], high=ends[0][1], level=level, method="Jeffreys"),
        specificity=Interval(low=ends[1][0], high=ends[1][1], level=level, method="Jeffreys"),
        j_interval=Interval(low=centre - below, high=centre + above, level=level, method="Jeffreys, in quadrature"),
    )


def jeffreys(hits: int, trials: int, level: float) -> tuple[float, float]:
    """Return Jeffreys' interval of a share.

    Examples
    --------
    >>> [round(end, 6) for end in jeffreys(84, 88, 0.95)]
    [0.895557, 0.984465]
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low, high = (float(betaincinv(hits + 0.5, trials - hits + 0.5, p)) for p in (tail, 1 - tail))
    return low if hits else 0.0, high if hits < trials else 1.0


def weighted_kappa(first: Floats, second: Floats) -> tuple[float, float]:
    """Return kappa with quadratic weights of two columns of scores, and its standard error; NaN where undefined.

    With two levels, the weights are those of plain agreement.

    Examples
    --------
    >>> given, true = np.repeat([1, 0, 1, 0], [84, 4, 6, 6]), np.repeat([1, 1, 0, 0], [84, 4, 6, 6])
    >>> [round(one, 6) for one in weighted_kappa(given, true)]
    [0.489796, 0.138668]
    """
    levels, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    if levels.size < 2:
        return math.nan, math.nan
    table = np.zeros((levels.size, levels.size))
    np.add.at(table, (codes[: first.size], codes[first.size :]), 1 / first.size)
    weight = 1 - ((levels[:, None] - levels) / (levels[-1] - levels[0])) ** 2
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    seen, chance = float((weight * table).sum()), float(rows @ weight @ columns)
    if chance >= 1:
        return math.nan, math.nan
    kappa = (seen - chance) / (1 - chance)
    expected = (weight @ columns)[:, None] + rows @ weight
    spread = float((table * (weight - expected * (1 - kappa)) ** 2).sum()) - (kappa - chance * (1 - kappa)) ** 2
    return kappa, math.sqrt(max(spread, 0.0) / first.size) / (1 - chance)


def rogan_gladen(
    mean: float, n: int, *, sensitivity: tuple[int, int], specificity: tuple[int, int], level: float = 0.95
) -> tuple[float, float, float, float]:
    """Correct a share of passes by a judge's sensitivity and specificity: the estimate, its error and both ends.

    For comparison only: it needs both errors of this judge on this system, and is wide, or undefined, where they are
    measured on few rows.

    Parameters
    ----------
    mean : float
        Share of the ``n`` rows that the judge passes.
    n : int
    sensitivity, specificity : (int, int)
        Audited rows that the judge has right, of true passes and of true failures, and how many these are.
    level : float

    Raises
    ------
    InputError
        If the judge is no better than chance, or no pass or no failure was audited.

    Notes
    -----
    Source: Rogan and Gladen 1978: (mean + specificity - 1) / J, with the variances of all three.

    Examples
    --------
    >>> [round(one, 6) for one in rogan_gladen(0.915, 2000, sensitivity=(84, 88), specificity=(6, 12))]
    [0.913, 0.054227, 0.806716, 1.0]
    """
    if not sensitivity[1] or not specificity[1]:
        raise InputError("sensitivity", "expected audited passes and failures; one of them has no row")
    (se, se_n), (sp, sp_n) = ((hits / trials, trials) for hits, trials in (sensitivity, specificity))
    j = se + sp - 1
    if j <= 0:
        raise InputError("sensitivity", f"the judge is no better than chance (J = {j:.3g}), so nothing follows")
    value = (mean + sp - 1) / j
    variance = mean * (1 - mean) / n + value**2 * se * (1 - se) / se_n + (1 - value) ** 2 * sp * (1 - sp) / sp_n
    error = math.sqrt(variance) / j
    reach = normal_quantile((1 + level) / 2) * error
    low, high, value = (min(max(one, 0.0), 1.0) for one in (value - reach, value + reach, value))
    return value, error, low, high


# What else to say -----------------------------------------------------------------------------------------------------


def _next_labels(asked: Sequence[Judged], gate: float, audited: int, n: int) -> int:
    """Return the rows with human scores that would decide, if estimates stay and intervals shrink as their root."""
    most = 0.0
    for one in asked:
        if one.verdict == "inconclusive" and one.corrected is not None:
            away = one.value - gate
            reach = one.value - one.corrected.low if away > 0 else one.corrected.high - one.value
            most = max(most, audited * (reach / away) ** 2 if away else math.inf)
    return math.ceil(min(most, n + 1)) if audited < min(most, n) else 0


def _assumptions(audit: ScoreAudit | None, human_error: float, rate: float | None) -> tuple[str, ...]:
    if audit is None and rate is not None:
        return (f"At most a share of {rate:g} of the scores is wrong." if rate else "All scores are right.",)
    if audit is None:
        return ("Nothing is known of the judge's errors.",)
    drawn = "uniformly at random" if audit.inclusion is None else "at random, with the probabilities supplied"
    right = "The human scores are right."
    if human_error:
        right = f"At most a share of {human_error:g} of the human scores is wrong."
    return (f"The rows with human scores were drawn {drawn}.", right)


def _notes(
    own: list[tuple[str, Note]], systems: list[Judged], first: RowScores, audit: ScoreAudit | None
) -> tuple[Note, ...]:
    """Join the notes of all systems, each once; and say where the judge tells nothing, or differs between systems."""
    found: dict[str, Note] = {}
    for name, note in own:
        before = found.get(note.code)
        names = (*(before.subject if before else ()), name)
        found[note.code] = replace(before or note, subject=names)
    notes = list(found.values())
    weak = tuple(
        one.name for one in systems if one.quality and one.quality.j_interval and one.quality.j_interval.low <= 0
    )
    if weak:
        message = "J of the judge may be 0: it is not shown to recognise errors, and the human scores decide alone"
        notes.append(Note(code="judge-uninformative", message=message, subject=weak))
    qualities = [(one.name, one.quality) for one in systems]
    for (before_name, a), (name, b) in pairwise(qualities):
        if a is None or b is None or a.j_interval is None or b.j_interval is None:
            continue
        ends = (a.j_interval, b.j_interval) if a.j >= b.j else (b.j_interval, a.j_interval)
        gap = abs(a.j - b.j)
        larger, smaller = max(a.j, b.j), min(a.j, b.j)
        if gap > math.hypot(larger - ends[0].low, ends[1].high - smaller):
            message = (
                f"the judge recognises errors of {before_name} and of {name} unequally well (J {a.j:.2f} and "
                f"{b.j:.2f}): each is corrected by its own human scores"
            )
            notes.append(Note(code="judge-differs-by-system", message=message))
    return tuple(notes)
