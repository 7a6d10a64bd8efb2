"""Systems scored by a judge, such as a language model: how good the judge is, and what its scores say after correction.

A judge errs, and more on one system than on another. Human scores of some rows show by how much: each mean and each
difference is corrected by them, never by errors that the judge made on another system.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from demele.classifiers.judge_bias import slices as slice_means
from demele.classifiers.judge_documents import judged_document
from demele.classifiers.mean_scores import Knowledge, MeanScore, Stratum, breakdown
from demele.classifiers.pooled_strata import TINY
from demele.classifiers.results import MOST_MODELS, NamedEstimates, Verdict, implied, rank_ranges, tiers
from demele.classifiers.row_scores import RowScores, human_scores, judged_rows
from demele.core.arrays import Flags, Floats, Rows, pd
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.kinds import Confidence, Count, Level, Rate, checked, checked_name
from demele.core.proportions import normal_quantile
from demele.core.result import Interval, Note, Result, plain
from demele.core.signature import Signature
from demele.core.table_columns import as_column
from demele.noise.audit import Audit
from demele.noise.transition import digest

Against = Literal["above", "below", "inconclusive", ""]
#: What the sign of a difference shows: where it is, and which system is better.
_VERDICTS: dict[int, Against] = {1: "above", -1: "below", 0: "inconclusive"}
_BETTER: dict[int, Verdict] = {1: "candidate", -1: "baseline", 0: "inconclusive"}
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
        Mean of the given scores, such as those by a judge.
    value : float
        Corrected by the human scores; NaN if nothing is known of the given ones.
    corrected, asymptotic : Interval or None
        Its interval, and that of PPI++.
    p_value : float or None
        One-sided, for "not above the gate"; of a difference two-sided, by itself.
    verdict : {"above", "below", "inconclusive", ""}
        Where the corrected mean is shown to be, seen from the gate, or from 0 for a difference.
    breakdown : int or None
        Wrong rows that take the judge's mean to the gate, or its lead to 0.
    best_rank, worst_rank, tier : int
        Of a system among several: its rank lies between them, for all systems together with the level. A tier ends
        before the first system that is shown to be worse than its first.
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
    best_rank: int = 1
    worst_rank: int = 1
    tier: int = 1
    quality: JudgeQuality | None = None
    strata: tuple[Stratum, ...] = ()


class _Pairs:
    """All pairs of systems: baselines and candidates, their differences, and the sign of those that are shown."""

    def __init__(self, systems: Mapping[str, RowScores], known: Knowledge, level: float) -> None:
        """Compare all pairs; verdicts on them share one error."""
        self.systems, self.known, self.places = systems, known, np.triu_indices(len(systems), 1)
        self.means = means = known.differences(systems, self.places, level=level)
        if not known.any:
            shown = np.zeros(len(means.value), dtype=np.bool_)
        elif means.tested is not None or means.statistic is not None:
            shown = means.significant(1 - level)
        else:  # proved and worst-case intervals have no p-value: the level is divided instead
            claims = max(len(means.value), 1)
            narrow = means if claims == 1 else known.differences(systems, self.places, level=1 - (1 - level) / claims)
            shown = (narrow.low > TINY) | (narrow.high < -TINY)
        self.signs: Rows = np.where(shown, np.sign(means.value), 0).astype(np.intp)

    def better(self) -> Flags:
        """Return who is shown to be better than whom, with what follows: [i, j], j is better than i."""
        first, second = self.places
        better = np.zeros((len(self.systems),) * 2, dtype=np.bool_)
        better[first, second], better[second, first] = self.signs > 0, self.signs < 0
        return implied(better)

    def judged(self) -> tuple[Judged, ...]:
        """Return all differences."""
        names, blocks = tuple(self.systems), self.known.blocks(self.systems, self.places)
        away = [breakdown(every.apart(second, first)) for every, _, (first, second) in blocks]
        pairs = zip(*(side.tolist() for side in self.places), strict=True)
        rows = zip(pairs, self.means.parts(), np.concatenate(away).tolist(), self.signs.tolist(), strict=True)
        return tuple(
            _judged(f"{names[j]} - {names[i]}", mean, _VERDICTS[sign], wrong, known=self.known.any)
            for (i, j), mean, wrong, sign in rows
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Judgement(Result):
    """Mean scores of systems, and their differences, as far as the given scores are right or corrected.

    Attributes
    ----------
    systems : tuple of Judged
        As they came; those of a ranking begin with the best estimate.
    differences : tuple of Judged
        That of each system from each one before it. Verdicts on several pairs share one error, by Holm's procedure;
        intervals are of each pair by itself.
    n, audited : int
        Rows, and those with human scores.
    noise : float or None
        Largest share of wrong scores, where that was given instead of human scores.
    scale : (float, float)
    gate : float or None
    level : float
    next_labels : int
        Rows with human scores, in all, that would decide what is inconclusive, about, if the estimates stay; 0 if
        nothing is, or all have one; more than ``n`` if no number of these rows would. Of a pair: for both.
    slices : mapping of str to NamedEstimates
        Of each system: its slices, and their differences from the rest.
    assumptions : tuple of str
    notes : tuple of Note
    signature : Signature
    """

    _kind, _rows = "judgement", "systems"

    systems: tuple[Judged, ...]
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
    pairs: _Pairs | None = field(metadata={"json": False})

    document = judged_document

    @cached_property
    def differences(self) -> tuple[Judged, ...]:
        """The differences of all pairs."""
        return () if self.pairs is None else self.pairs.judged()

    def __getitem__(self, name: str) -> Judged:
        held = {one.name: one for one in (*self.systems, *self.differences)}
        return held[checked_name(name, "system", held)]

    @property
    def names(self) -> tuple[str, ...]:
        """The systems."""
        return tuple(one.name for one in self.systems)

    @property
    def best_rank(self) -> tuple[int, ...]:
        """The best rank of each system that remains possible."""
        return tuple(one.best_rank for one in self.systems)

    @property
    def worst_rank(self) -> tuple[int, ...]:
        """The worst rank of each that remains possible."""
        return tuple(one.worst_rank for one in self.systems)

    @property
    def compared(self) -> int:
        """Fewest rows with human scores from which a difference, or with a gate or one system a mean, comes."""
        if self.pairs is None or self.gate is not None:
            return min((one.quality.audited for one in self.systems if one.quality), default=0)
        return int(np.min(self.pairs.means.audited))

    @property
    def verdict(self) -> Verdict:
        """Which of two systems is shown to be better."""
        signs = [] if self.pairs is None else self.pairs.signs.tolist()
        if len(signs) != 1:
            raise InputError("verdict", f"is of two systems, got {len(self.systems)}; see `differences`")
        return _BETTER[signs[0]]

    @property
    def unmet(self) -> str:
        """What is not shown: gates, or of two systems without a gate that one is better; "" if all is."""
        if not self.audited and self.noise is None:
            return "without human scores nothing is shown"
        if self.gate is not None:
            open_ = [one.name for one in self.systems if one.verdict != "above"]
            return f"not shown to be above {self.gate:g}: {', '.join(open_)}" if open_ else ""
        still_open = len(self.systems) == 2 and self.verdict == "inconclusive"
        return "neither system is shown to be better" if still_open else ""

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None)."""
        return {**super().to_dict(), "differences": plain(self.differences)}

    def to_frame(self) -> "pd.DataFrame":
        """Return a row for each system, and for each difference of up to 50 systems, which has no rank."""
        if self.pairs is None or len(self.systems) > MOST_MODELS:
            return super().to_frame()
        table = super(Judgement, replace(self, systems=(*self.systems, *self.differences))).to_frame()
        ranks = ["best_rank", "worst_rank", "tier"]
        table[ranks] = table[ranks].astype("Int64")
        table.loc[len(self.systems) :, ranks] = pd.NA
        return table

    def _page_data(self) -> dict[str, Any]:
        """Return what a page offers to download: without differences, if these are more than a page can hold."""
        return self.to_dict() if len(self.systems) <= MOST_MODELS else super().to_dict()


@checked
def judge(
    scores: Mapping[str, Any] | RowScores,
    audit: Audit | Mapping[str, Any] | None = None,
    *,
    gate: float | None = None,
    level: Confidence = 0.95,
    inference: Literal["population", "test_set"] = "population",
    noise: Rate | None = None,
    exact: bool = False,
    expert_error: Rate = 0.0,
    slices: object = None,
    ranked: bool = False,
) -> Judgement:
    """Say what is known of the mean scores of systems, and of their differences.

    Parameters
    ----------
    scores : mapping of str to RowScores or array-like of shape (n,)
        The given scores of each system, such as those by a judge, of the same rows in the same order; arrays hold
        scores from 0 to 1.
    audit : Audit, or mapping of str to array-like of shape (n,), optional
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
        Proved intervals. They hold for any number of human scores, in the order drawn, and for stopping at any.
    expert_error : float
        Largest share of human scores that are wrong, in the worst case.
    slices : array-like of shape (n,), optional
        The slice of each row, such as its language: see :func:`demele.classifiers.slices`.
    ranked : bool
        Whether systems are sorted, best estimate first.

    Returns
    -------
    Judgement

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    The rank of a system lies between 1 + the number of systems shown to be better and the number of those not shown to
    be worse.

    Examples
    --------
    >>> given = RowScores([1] * 1800 + [0] * 200)
    >>> rows = [*range(90), *range(1800, 1810)]
    >>> human = Audit(rows, [1] * 84 + [0] * 6 + [1] * 4 + [0] * 6, design="weighted", probabilities=[0.05] * 100)
    >>> judged = judge(given, human, gate=0.8)["system"]
    >>> round(judged.judge, 3), round(judged.value, 3), str(judged.corrected), judged.verdict
    (0.9, 0.88, '[0.815, 0.927]', 'above')
    """
    named = {"system": scores} if isinstance(scores, RowScores) else scores
    if not isinstance(named, Mapping) or not named:
        raise InputTypeError("scores", "expected RowScores, or a mapping of names to these or to arrays")
    held = {name: one if isinstance(one, RowScores) else RowScores(one) for name, one in named.items()}
    if ranked and len(held) < 2:
        raise NotEnoughData("scores", f"expected at least 2 systems, got {len(held)}")
    if isinstance(audit, Mapping):
        audit = human_scores(audit)
    if noise is not None and audit is not None:
        raise InputError(("noise", "audit"), "human scores say how many scores are wrong; leave one of them out")
    human = {"gate": gate if noise is None else None, "exact": exact or None, "expert_error": expert_error or None}
    for option, value in (human | {"slices": slices}).items():
        if value is not None and audit is None:
            raise InputError(option, "needs human scores; give `audit`, or leave it out")
    known = Knowledge(audit, noise, inference, exact, expert_error)
    means = dict(zip(held, known.means(held, level=level, gate=gate), strict=True))
    if ranked:
        held = {name: held[name] for name in sorted(held, key=lambda name: -means[name].value)}
    first = next(iter(held.values()))
    pairs = _Pairs(held, known, level) if len(held) > 1 else None
    ranks: dict[str, list[int]] = {}
    if pairs is not None:  # ranks that remain possible, and tiers in the order of the estimates
        better = pairs.better()
        best, worst = rank_ranges(better)
        order = np.argsort([-means[name].value for name in held], kind="stable")
        parts = enumerate(tiers(tuple(order.tolist()), better[np.ix_(order, order)]), start=1)
        tier = {place: number for number, part in parts for place in part}
        ranks = {"best_rank": best.tolist(), "worst_rank": worst.tolist(), "tier": [tier[i] for i in range(len(held))]}
    systems, notes, sliced = [], [], {}
    for place, (name, one) in enumerate(held.items()):
        mean, more = means[name], dict[str, Any]({key: column[place] for key, column in ranks.items()})
        notes += [(name, note) for note in mean.notes]
        if audit is not None:
            more["quality"] = judge_quality(one, audit.of(name), level=level)
            if slices is not None:
                sliced[name] = slice_means(one, audit.of(name), slices, level=level)
                notes += [(name, note) for note in sliced[name].notes if note.code == "slice-thin"]
        verdict = "" if gate is None else _VERDICTS[int(mean.low > gate + TINY) - int(mean.high < gate - TINY)]
        away = 0 if gate is None else int(breakdown(one, gate=gate))
        systems.append(_judged(name, mean, verdict, away, known=known.any, **more))
    if first.task is not None and first.weight is None and (k := np.unique(first.task).size) > 1:
        message = f"{k} tasks count the same in each mean, whatever their rows; a `weight` of ones counts rows"
        notes += [(name, Note(code="tasks-count-the-same", message=message)) for name in held]
    audited, labels = 0, min(FIRST_LABELS, first.n)
    assumptions: tuple[str, ...] = ("Nothing is known of the judge's errors.",)
    if noise is not None:
        assumptions = (f"At most a share of {noise:g} of the scores is wrong." if noise else "All scores are right.",)
    if audit is not None:
        drawn = "uniformly at random" if audit.design == "uniform" else "at random, with the probabilities supplied"
        wrong = f"At most a share of {expert_error:g} of the human scores is wrong."
        right = wrong if expert_error else "The human scores are right."
        assumptions, audited = (f"The rows with human scores were drawn {drawn}.", right), audit.k
        asked: list[Any] = [] if pairs is None else [(pairs.means, pairs.signs == 0, 0.0, pairs.means.audited)]
        if gate is not None:
            own = [(one.name, one.verdict == "inconclusive", one.quality) for one in systems]
            asked = [(means[name], still_open, gate, quality.audited) for name, still_open, quality in own if quality]
        # With all rows scored, the mean of these rows is known, unless human scores may be wrong.
        whole = inference == "test_set" and not expert_error
        labels = max((_next_labels(*one, n=first.n, whole=whole) for one in asked), default=0)
        if pairs is not None and (fewest := pairs.means.audited.min()) < audited:
            i, j = (list(held)[side[pairs.means.audited.argmin()]] for side in pairs.places)
            what = f"only {fewest} of {audited} rows with human scores are scored for both systems"
            message = f"{what}, and the difference comes from these alone; score the same rows for all systems"
            notes.append((f"{j} - {i}", Note(code="human-scores-apart", message=message, severity="warning")))
    told = {} if slices is None else {"slices": digest(as_column(slices, "slices"))}
    arguments = {"gate": gate, "level": level, "inference": inference, "noise": noise, "exact": exact}
    seen = [part for one in held.values() for part in one.digested()]
    seen += [] if audit is None else [audit.rows, *audit.scores.values()]
    return Judgement(
        systems=tuple(systems),
        n=first.n,
        audited=audited,
        noise=noise,
        scale=(first.low, first.high),
        gate=gate,
        level=level,
        next_labels=labels,
        slices=sliced,
        assumptions=assumptions,
        notes=_notes(notes, systems),
        signature=Signature.of(
            "judge", arguments | {"expert_error": expert_error}, n=first.n, **told, digest=digest(*seen)
        ),
        pairs=pairs,
    )


def _judged(name: str, mean: MeanScore, verdict: Against, away: int, *, known: bool, **more: Any) -> Judged:
    """Return a mean with its verdict; nothing is concluded where nothing is known of the scores."""
    if known and not math.isnan(mean.value):
        more |= {"value": mean.value, "corrected": mean.interval, "asymptotic": mean.asymptotic}
        more |= {"p_value": mean.p_value, "verdict": verdict, "strata": mean.strata}
    else:
        more = {}
    return Judged(name=name, judge=mean.given, breakdown=away or None, **more)


# The judge ------------------------------------------------------------------------------------------------------------


def judge_quality(scores: RowScores, audit: Audit, *, level: float = 0.95) -> JudgeQuality:
    """Return how well a judge's scores agree with human ones.

    Parameters
    ----------
    scores : RowScores
    audit : Audit
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
    >>> quality = judge_quality(given, Audit(rows, [1] * 84 + [0] * 6 + [1] * 4 + [0] * 6, design="uniform"))
    >>> round(quality.sensitivity_value, 6), round(quality.specificity_value, 6), round(quality.kappa, 6)
    (0.961712, 0.455357, 0.489796)
    """
    rows, true, inclusion = judged_rows(audit, scores)
    given = scores.given[rows]
    kappa, error = weighted_kappa(given, true)
    same, reach = given == true, normal_quantile((1 + level) / 2) * error
    found: dict[str, Any] = {"agreement": float(same.mean()), "kappa": kappa}
    span = partial(Interval, level=level)
    if not math.isnan(error):
        found["kappa_interval"] = span(low=max(kappa - reach, -1), high=min(kappa + reach, 1), method="normal")
    binary = np.isin(np.concatenate([scores.given[scores.scored], true]), (scores.low, scores.high)).all()
    passed, good = given == scores.high, true == scores.high
    if binary:
        weight = np.ones(rows.size) if inclusion is None else 1 / inclusion
        m1, m0 = (
            float(weight[part] @ good[part] / weight[part].sum()) if part.any() else side
            for part, side in ((passed, 1.0), (~passed, 0.0))
        )
        w1 = (scores.mean - scores.low) / scores.width
        w0 = 1 - w1
        passes, failures = w1 * m1 + w0 * m0, w0 * (1 - m0) + w1 * (1 - m1)
        sensitivity = w1 * m1 / passes if passes > 0 else math.nan
        specificity = w0 * (1 - m0) / failures if failures > 0 else math.nan
        found |= {"sensitivity_value": sensitivity, "specificity_value": specificity}
        found["j"] = sensitivity + specificity - 1
    if binary and inclusion is None and good.any() and not good.all():
        counted = [(int(np.count_nonzero(same & part)), int(np.count_nonzero(part))) for part in (good, ~good)]
        spans, (first, second) = [jeffreys(*each, level) for each in counted], (hits / k for hits, k in counted)
        below, above = (math.hypot(one - first, other - second) for one, other in zip(*spans, strict=True))
        j = first + second - 1
        found["j_interval"] = span(low=j - below, high=j + above, method="Jeffreys, in quadrature")
        found["sensitivity"], found["specificity"] = (span(low=a, high=b, method="Jeffreys") for a, b in spans)
    return JudgeQuality(wrong=int(np.count_nonzero(~same)), audited=rows.size, **found)


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
    kappa = (seen - chance) / (1 - chance)
    expected = (weight @ columns)[:, None] + rows @ weight
    spread = float((table * (weight - expected * (1 - kappa)) ** 2).sum()) - (kappa - chance * (1 - kappa)) ** 2
    return kappa, math.sqrt(max(spread, 0.0) / first.size) / (1 - chance)


@checked
def rogan_gladen(
    mean: Rate, n: Count, *, sensitivity: tuple[int, int], specificity: tuple[int, int], level: Level = 0.95
) -> tuple[float, float, float, float]:
    """Correct a share of passes by a judge's sensitivity and specificity: the estimate, its error and both ends.

    For comparison only: it needs both errors of this judge on this system, and is wide, or undefined, where they are
    measured on few rows.

    Parameters
    ----------
    mean : float in [0, 1]
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
    for name, (hits, trials) in (("sensitivity", sensitivity), ("specificity", specificity)):
        if not 0 <= hits <= trials or not trials:
            raise InputError(name, f"expected the rows that are right, and how many there are, got {hits} of {trials}")
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


def _next_labels(means: MeanScore, undecided: Any, gate: float, audited: Any, *, n: int, whole: bool) -> int:
    """Return the rows with human scores that would decide, if estimates stay; all rows tell ``whole`` means."""
    away = np.asarray(means.value - gate)
    reach = np.where(away > 0, means.value - means.low, means.high - means.value)
    left = 1 / n if whole else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = 1 / (left + (away / reach) ** 2 * (1 / np.asarray(audited) - left))
    more = undecided & (audited < np.minimum(needed, n))
    return math.ceil(min(float(np.where(more, needed, 0.0).max()), n + 1))


def _notes(own: list[tuple[str, Note]], systems: list[Judged]) -> tuple[Note, ...]:
    """Join the notes of all systems, each once; and say where the judge tells nothing, or differs between systems."""
    found: dict[str, Note] = {}
    for name, note in own:
        before = found.get(note.code)
        names = (*(before.subject if before else ()), name)
        found[note.code] = replace(before or note, subject=names)
    notes = list(found.values())
    known = [(one.name, one.quality.j, one.quality.j_interval) for one in systems if one.quality]
    spans = [(name, j, span.low, span.high) for name, j, span in known if span is not None]
    weak = tuple(name for name, _, low, _ in spans if low <= 0)
    if weak:
        message = "J of the judge may be 0: the human scores decide alone; check that they are of the same items"
        notes.append(Note(code="judge-uninformative", message=message, subject=weak, severity="warning"))
    for first, second in pairwise(spans):
        lower, upper = sorted((first, second), key=lambda one: one[1])
        if upper[1] - lower[1] > math.hypot(upper[1] - upper[2], lower[3] - lower[1]):
            message = f"the judge recognises errors of {first[0]} and of {second[0]} unequally well (J {first[1]:.2f} "
            message += f"and {second[1]:.2f}): each is corrected by its own human scores"
            notes.append(Note(code="judge-differs-by-system", message=message))
    return tuple(notes)
