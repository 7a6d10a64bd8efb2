"""Raw, aligned, gap: every score once more, of codes that are turned towards the factors, on rows not used for it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import NormalDist

import numpy as np

from demele.core.errors import DemeleWarning, NotEnoughData, warn_user
from demele.core.results import AlignedHalf, Alignment, Chance, Evaluation, Interval, Note, Reading, Score, reading_of
from demele.core.seeds import rng_for
from demele.estimation.discretise import Binning
from demele.estimation.rotations import Candidates, candidates
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.metric import Metric
from demele.metrics.options import Run
from demele.metrics.protocols import protocol as protocol_named
from demele.metrics.request import Request, applies, merged_options
from demele.metrics.run import Found, computed
from demele.metrics.source import InMemory, Subject
from demele.runtime.progress import reporting
from demele.runtime.work import ordered

#: Rows below which raw and aligned scores both suffer.
FEW_ROWS = 500
#: Standard deviations along two factors that are farther apart than this are not found by rotations.
FAR_APART = 30.0
#: Of permutations and resamples, the share that must have a gap.
MOST_FAIL = 0.1
#: What is compared where a metric does not choose for itself; no metric of a call has this name.
_GAP_OF_MIG = "summed gap of mig"


@dataclass(frozen=True, slots=True)
class _Group:
    """Metrics with the same bins of factors: those that choose the bins, and those that use them."""

    rule: Binning
    choosing: tuple[Request, ...]
    following: tuple[Request, ...]


@dataclass(frozen=True, slots=True)
class _Crossed:
    """What both halves gave, by metric; why some have nothing; and how far apart factors stand in scale.

    With the scores of a half stands the variance of their difference over resamples.
    """

    scored: dict[str, list[tuple[AlignedHalf, float]]]
    reasons: dict[str, str]
    scales: float

    def gap(self, metric: str) -> float:
        """Return the gap of a metric, NaN where there is none."""
        found = self.scored.get(metric, [])
        return float(np.mean([half.aligned - half.raw for half, _ in found])) if found else np.nan


def with_alignment(
    evaluation: Evaluation,
    source: InMemory,
    asked: Sequence[Request],
    run: Run,
    *,
    whiten: bool = False,
) -> Evaluation:
    """Return an evaluation whose scores carry their alignment, where they can be aligned, or a note why not.

    Parameters
    ----------
    evaluation : Evaluation
    source : InMemory
        What it is of.
    asked : sequence of Request
        What was scored.
    run : Run
        ``n_bootstrap`` gives gaps an interval, ``n_permutations`` a chance level.
    whiten : bool
        Whether codes may be made uncorrelated, of equal variance, before they are turned.
    """
    subject = source.subject("rows")
    by_name = {one.name: one for one in asked}
    refused = {score.metric: _refusal(by_name[score.metric], score, subject) for score in evaluation.scores}
    groups = _groups([by_name[name] for name, reason in refused.items() if not reason], evaluation.protocol)
    with reporting(even=False) as report:
        runs: list[_Crossed] = []
        alone = replace(run, n_bootstrap=0, n_jobs=1)
        calls = ((groups, subject, alone, whiten, index) for index in range(run.n_permutations))
        permutations = ordered(_crossed, calls, n_jobs=run.n_jobs if run.n_permutations > 1 else 1)
        for crossed in chain([_crossed(groups, subject, run, whiten, -1)], permutations):
            runs.append(crossed)
            if report is not None:
                report(len(runs), 1 + run.n_permutations, "alignment")
    observed, permuted = runs[0], runs[1:]
    metrics = {name: one.metric for name, one in by_name.items()}
    found = [
        (score.metric, score.value)
        for score in evaluation.scores
        if metrics[score.metric].properties == ("explicitness",) and np.isfinite(score.value)
    ]
    explicitness = max(found, key=lambda item: item[1], default=None)
    scores = []
    for score in evaluation.scores:
        reason = refused[score.metric] or observed.reasons.get(score.metric, "")
        if reason:
            note = Note(code="not-aligned", message=f"not aligned: {reason}")
            scores.append(replace(score, notes=(*score.notes, note)))
            continue
        alignment = _alignment(score.metric, observed, permuted, run, whiten)
        reading = _reading(alignment, metrics[score.metric], explicitness)
        scores.append(replace(score, alignment=replace(alignment, reading=reading, explicitness=explicitness)))
    notes = _notes(subject, observed.scales, whiten)
    return replace(evaluation, scores=tuple(scores), notes=evaluation.notes + notes)


# What is aligned ------------------------------------------------------------------------------------------------------


def _refusal(asked: Request, score: Score, subject: Subject) -> str:
    """Return why a metric is not aligned; empty if it is."""
    metric, needed = asked.metric, asked.metric.aligns_with
    if metric.needs_codes_std:
        return "standard deviations of single codes do not apply to rotated codes"
    if needed is not None and asked.options.get(needed[0]) != needed[1]:
        remedy = f"; pass `{needed[0]}={needed[1]!r}` for it" if needed[0] in metric.option_table else ""
        return f"it rates codes with almost no information as high as codes with much, also after rotation{remedy}"
    if not np.isfinite(score.value):
        return "it is undefined for these codes"
    if "reg_dim" in applies(asked, subject):
        return "it needs the intended code of each factor, and rotated codes have none"
    return ""


def _groups(asked: Sequence[Request], protocol: str) -> list[_Group]:
    """Sort metrics by how they cut factors, which changes the candidates; those of rows go with the first."""
    of_mig = merged_options(CATALOGUE["mig"], protocol_named(protocol).options, {})["bins"]
    tables = [one for one in asked if one.metric.states[0] == "table"]
    rules = list({repr(one.options.get("bins", of_mig)): one.options.get("bins", of_mig) for one in tables}.values())
    following = tuple(one for one in asked if one not in tables)
    groups = []
    for index, rule in enumerate(rules or [of_mig]):
        own = tuple(one for one in tables if repr(one.options.get("bins", of_mig)) == repr(rule))
        groups.append(_Group(rule, own, following if index == 0 else ()))
    return groups


# Cross-fitting --------------------------------------------------------------------------------------------------------


def _crossed(groups: Sequence[_Group], subject: Subject, run: Run, whiten: bool, permutation: int) -> _Crossed:
    """Find axes on each half of the rows and score on the other; permutation -1: factors as they are."""
    if permutation >= 0:
        order = rng_for(run.seed, "chance", permutation).permutation(subject.n)
        subject = replace(subject, factors=subject.factors.take(order))
    try:
        first, second = _halves(subject, run.seed)
    except NotEnoughData as error:
        names = [one.name for group in groups for one in (*group.choosing, *group.following)]
        return _Crossed({}, dict.fromkeys(names, str(error)), 1.0)
    crossed = _Crossed({}, {}, 1.0)
    scales = 1.0
    for train, test, seed in ((first, second, 0), (second, first, 1)):
        for group in groups:
            codes, (labels, _) = train.data.codes.dense(), train.data.factor_labels(group.rule)
            found = candidates(codes, labels, whiten=whiten)
            scales = max(scales, found.scales)
            _one_way(group, found, train, test, replace(run, seed=run.seed + seed), crossed)
    return replace(crossed, scales=scales)


def _halves(subject: Subject, seed: int) -> tuple[InMemory, InMemory]:
    """Return two halves of the rows, drawn at random.

    Raises
    ------
    NotEnoughData
        If a factor does not vary in one.
    """
    order = rng_for(seed, "alignment", "halves").permutation(subject.n)
    parts = []
    for rows in (np.sort(order[: subject.n // 2]), np.sort(order[subject.n // 2 :])):
        if len(rows) < 2:
            raise NotEnoughData("half of the rows is a single one")
        codes, factors = subject.codes.take(rows), subject.factors.take(rows)
        for index in subject.active:
            factor = factors.columns[index]
            if factor.constant or factor.n_annotated < 2:
                raise NotEnoughData(f"factor {factor.name!r} does not vary in half of the rows")
        parts.append(InMemory(Subject(codes, factors, subject.active, ())))
    return parts[0], parts[1]


def _one_way(group: _Group, found: Candidates, train: InMemory, test: InMemory, run: Run, crossed: _Crossed) -> None:
    """Choose a candidate for each metric on one half, score it on the other, and add what comes to ``crossed``."""
    chosen = _chosen(group, found, train, run, crossed.reasons)
    members = [one for one in (*group.choosing, *group.following) if one.name in chosen]
    raw = computed(members, test, run, guards=False)
    for name, matrix in found.matrices.items():
        own = [one for one in members if chosen[one.name] == name]
        turned = raw if name == "identity" or not own else computed(own, _turned(test, matrix), run, guards=False)
        for one in own:
            reason = _reason(one.name, raw) or _reason(one.name, turned)
            if reason:
                crossed.reasons[one.name] = reason
                continue
            values = [float(each.outcomes[one.name].native.value) for each in (raw, turned)]
            half = AlignedHalf(candidate=name, raw=values[0], aligned=values[1])
            crossed.scored.setdefault(one.name, []).append((half, _variance(one.name, raw, turned)))


def _chosen(group: _Group, found: Candidates, train: InMemory, run: Run, reasons: dict[str, str]) -> dict[str, str]:
    """Return the candidate of each metric: its own best, or the one with the largest summed gap of MIG."""
    if len(found.matrices) == 1:
        return dict.fromkeys([one.name for one in (*group.choosing, *group.following)], "identity")
    mig = CATALOGUE["mig"]
    judge = Request(mig, _GAP_OF_MIG, merged_options(mig, {}, {}, bins=group.rule))
    asked = [*group.choosing, judge] if group.following else list(group.choosing)
    quick = Run(seed=run.seed)
    best: dict[str, tuple[float, str]] = {}
    for name, matrix in found.matrices.items():
        scored = computed(asked, train if name == "identity" else _turned(train, matrix), quick, guards=False)
        reasons |= {item.metric: item.reason for item in scored.left_out}
        for one in asked:
            if one.name not in scored.outcomes:
                continue
            value = float(scored.outcomes[one.name].native.value) * np.sign(one.metric.best or 1.0)
            if one.name not in best or value > best[one.name][0]:  # a tie goes to the first; NaN is never the best
                best[one.name] = (value if value == value else -np.inf, name)
    chosen = {one.name: best[one.name][1] for one in group.choosing if one.name not in reasons}
    if group.following and _GAP_OF_MIG not in reasons:
        chosen |= {one.name: best[_GAP_OF_MIG][1] for one in group.following}
    elif group.following:
        reasons |= {one.name: reasons[_GAP_OF_MIG] for one in group.following}
    return chosen


def _turned(source: InMemory, matrix: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> InMemory:
    return source.transformed(matrix, [f"axis {index}" for index in range(1, matrix.shape[1] + 1)])


def _reason(metric: str, found: Found) -> str:
    """Return why a metric has no number; empty if it has one."""
    reason = next((item.reason for item in found.left_out if item.metric == metric), "")
    if not reason and not np.isfinite(float(found.outcomes[metric].native.value)):
        return "it is undefined on half of the rows"
    return reason


def _variance(metric: str, raw: Found, turned: Found) -> float:
    """Return the variance of the gap over resamples of the scored rows, the same for both; NaN without resamples."""
    draws = [found.outcomes[metric].resamples for found in (raw, turned)]
    if draws[0] is None or draws[1] is None:
        return np.nan
    gaps = draws[1].numbered - draws[0].numbered
    known = gaps[np.isfinite(gaps)]
    return float(np.var(known, ddof=1)) if len(known) >= max(2, (1 - MOST_FAIL) * len(gaps)) else np.nan


# What is said of it ---------------------------------------------------------------------------------------------------


def _alignment(metric: str, observed: _Crossed, permuted: Sequence[_Crossed], run: Run, whiten: bool) -> Alignment:
    halves = tuple(half for half, _ in observed.scored[metric])
    found = Alignment(
        raw=float(np.mean([half.raw for half in halves])),
        aligned=float(np.mean([half.aligned for half in halves])),
        halves=halves,
        whitened=whiten,
    )
    deviation = float(np.sqrt(sum(variance for _, variance in observed.scored[metric]))) / len(halves)
    interval, chance = None, None
    if np.isfinite(deviation):
        reach = NormalDist().inv_cdf((1 + run.level) / 2) * deviation
        method = f"normal, {run.n_bootstrap} resamples of the scored rows, axes fixed"
        interval = Interval(low=found.gap - reach, high=found.gap + reach, level=run.level, method=method)
    gaps = [crossed.gap(metric) for crossed in permuted]
    known = tuple(gap for gap in gaps if np.isfinite(gap))
    if known and len(known) >= (1 - MOST_FAIL) * len(gaps):
        chance = Chance(known, found.gap, failed=len(gaps) - len(known))
    return replace(found, interval=interval, chance=chance)


def _reading(alignment: Alignment, metric: Metric, explicitness: tuple[str, float] | None) -> Reading:
    if metric.properties == ("explicitness",):
        return "any axes"
    return reading_of(
        alignment.raw,
        alignment.aligned,
        interval=alignment.interval,
        chance=alignment.chance,
        explicitness=None if explicitness is None else explicitness[1],
        floor=metric.family == "intervention",
    )


def _notes(subject: Subject, scales: float, whiten: bool) -> tuple[Note, ...]:
    """Say, and warn, of what makes aligned scores less than they might be."""
    found = []
    varying = int((~subject.codes.constant).sum())
    if varying < 2:
        found.append(Note(code="alignment-one-code", message="a single code that varies cannot be turned: gaps are 0"))
    elif varying < len(subject.active):
        message = f"{varying} codes that vary have axes for {varying} of the {len(subject.active)} factors at most"
        found.append(Note(code="alignment-few-codes", message=message))
    if subject.n < FEW_ROWS:
        message = (
            f"aligned scores use {subject.n} rows, half to find axes and half to score: with fewer than {FEW_ROWS} "
            "rows, raw and aligned scores are biased, and the gap between them is too small"
        )
        found.append(Note(code="alignment-few-rows", message=message, severity="warning"))
    if scales > FAR_APART and not whiten:
        message = (
            f"along the directions of two factors, codes differ {scales:.0f}-fold in scale: beyond {FAR_APART:.0f}, "
            "rotations in the units of the codes miss the finer one, and gaps are too small; `align='whitening'` "
            "undoes scales as well"
        )
        found.append(Note(code="alignment-scales", message=message, severity="warning"))
    for note in found:
        if note.severity == "warning":
            warn_user(str(note.message), DemeleWarning)
    return tuple(found)
