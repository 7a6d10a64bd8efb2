"""Raw, aligned, gap: every score once more, of codes that are turned towards the factors, on rows not used for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from demele.core.arrays import Floats, Rows, rng_for
from demele.core.errors import DemeleWarning, NotEnoughData, warn_user
from demele.core.result import normal_interval
from demele.core.results import AlignedHalf, Alignment, Chance, Evaluation, Note, Reading, Score, reading_of
from demele.estimation.counts import Binning
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.options import Run
from demele.metrics.protocols import protocol as protocol_named
from demele.metrics.request import Request, applies, merged_options
from demele.metrics.run import Found
from demele.metrics.source import InMemory, Subject
from demele.runtime.work import ordered, reporting

# Turning codes towards factors ----------------------------------------------------------------------------------------

#: Added to the diagonal of the covariance of the codes, as a share of their mean variance.
RIDGE = 1e-6
#: Directions whose variance is below this share of the largest are no part of what is whitened.
NEGLIGIBLE = 1e-10
#: Sweeps of Jacobi rotations, and the angle below which all of a sweep are taken for none.
MOST_SWEEPS, SMALLEST_ANGLE = 60, 1e-7
#: The least that a readout counts beside another one.
SMALLEST_WEIGHT = 1e-6
#: Axes that joint diagonalisation turns; a sweep takes their third power.
MOST_AXES = 64


@dataclass(frozen=True, slots=True)
class Scatter:
    """How codes vary, in all and between the values of each factor.

    Attributes
    ----------
    total : array of shape (n_codes, n_codes)
        Covariance of the codes.
    between : array of shape (n_factors, n_codes, n_codes)
        Covariance of their means at the values of each factor, without what sampling alone makes of it.
    n : array of shape (n_factors,)
        Rows annotated for each factor.
    n_values : array of shape (n_factors,)
        Values, or bins, of each factor that have rows.
    """

    total: Floats
    between: Floats
    n: Rows
    n_values: Rows

    @classmethod
    def of(cls, codes: Floats, labels: Rows) -> "Scatter":
        """Find both from rows.

        Parameters
        ----------
        codes : array of shape (n_samples, n_codes)
        labels : array of shape (n_samples, n_factors)
            The number of each factor's value, or bin; -1 where it is not annotated.
        """
        centred = codes - codes.mean(axis=0)
        total = centred.T @ centred / len(codes)
        found = [between_covariance(centred, own) for own in labels.T]
        rows = (labels >= 0).sum(axis=0)
        return cls(total, np.stack([own for own, _ in found]), rows, np.array([values for _, values in found]))

    def turned(self, matrix: Floats) -> "Scatter":
        """Return the same of the codes times a matrix (n_codes, n_new_codes)."""
        return Scatter(matrix.T @ self.total @ matrix, matrix.T @ self.between @ matrix, self.n, self.n_values)


def between_covariance(codes: Floats, labels: Rows) -> tuple[Floats, int]:
    """Return the covariance of the means of codes at each value of one factor, and how many values there are.

    Means of few rows differ by chance alone. What that adds is taken off: S - W (k - 1) / (n - k), with W the
    covariance within values, k the number of values and n that of rows.

    Parameters
    ----------
    codes : array of shape (n_samples, n_codes)
    labels : array of shape (n_samples,)
        Whole numbers; rows with -1 are left out.

    Examples
    --------
    >>> codes = np.array([[0.0], [2.0], [10.0], [12.0]])
    >>> between_covariance(codes, np.array([0, 0, 1, 1]))[0].tolist()  # 25, less 1 x 1 / 2
    [[24.5]]
    """
    known = labels >= 0
    if not known.all():
        codes, labels = codes[known], labels[known]
    n = len(codes)
    if not n:
        return np.zeros((codes.shape[1], codes.shape[1])), 0
    centred = codes - codes.mean(axis=0)
    rows = np.bincount(labels)
    rows = rows[rows > 0]
    starts = np.concatenate([[0], np.cumsum(rows)[:-1]])
    means = np.add.reduceat(centred[np.argsort(labels, kind="stable")], starts, axis=0) / rows[:, None]
    between = (means.T * (rows / n)) @ means
    within = centred.T @ centred / n - between
    return between - within * (len(rows) - 1) / max(n - len(rows), 1), len(rows)


# Directions, and matrices that turn the axes to them ------------------------------------------------------------------


def readouts(scatter: Scatter) -> tuple[Floats, Floats]:
    """Return, for each factor, the direction that tells its values apart best, and the share of variance between them.

    The leading generalised eigenvectors of the covariance between values and in all.

    Returns
    -------
    shares : array of shape (n_factors,)
    directions : array of shape (n_codes, n_factors)
        Of unit length; a code in this direction is codes @ direction.
    """
    d = len(scatter.total)
    ridged = scatter.total + RIDGE * max(float(np.trace(scatter.total)) / d, np.finfo(float).tiny) * np.eye(d)
    inverse = np.linalg.inv(np.linalg.cholesky(ridged))
    shares, vectors = np.linalg.eigh(inverse @ scatter.between @ inverse.T)
    directions = inverse.T @ vectors[:, :, -1].T
    return shares[:, -1], directions / np.linalg.norm(directions, axis=0)


def told(scatter: Scatter, shares: Floats) -> Rows:
    """Return the factors that the codes carry information on, at most as many as codes, in their order.

    Codes of noise have a largest share of about ((sqrt(k - 1) + sqrt(d))^2 - (k - 1)) / n, as the largest eigenvalue
    of a random covariance; a factor counts from two standard deviations of a Gaussian beyond, under the square.
    """
    d = len(scatter.total)
    freedom = np.maximum(scatter.n_values - 1, 0)
    limit = ((np.sqrt(freedom) + np.sqrt(d) + 2.0) ** 2 - freedom) / np.maximum(scatter.n, 1)
    telling = np.flatnonzero(shares > limit)
    return np.sort(telling[np.argsort(-shares[telling], kind="stable")[:d]])


def polar_factor(matrix: Floats) -> Floats:
    """Return the matrix with orthonormal columns that is nearest to one with at least as many rows as columns.

    Examples
    --------
    >>> polar_factor(np.array([[2.0, 0.0], [0.0, 0.5]])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    return np.asarray(left @ right)


def completed(axes: Floats, spread: Floats) -> Floats:
    """Return an orthogonal matrix that begins with some axes; the others go by what varies most in the rest.

    Parameters
    ----------
    axes : array of shape (n_codes, n_axes)
        Orthonormal columns.
    spread : array of shape (n_codes, n_codes)
        Symmetric: the other axes are its eigenvectors in the rest, so that they do not depend on the order of codes.
    """
    kept = axes.shape[1]
    rest = np.linalg.svd(axes, full_matrices=True)[0][:, kept:]
    if not rest.shape[1]:
        return axes
    vectors = np.linalg.eigh(rest.T @ spread @ rest)[1][:, ::-1]
    return np.hstack([axes, rest @ vectors])


def joint_diagonaliser(matrices: Floats, start: Floats) -> Floats:
    """Return the orthogonal matrix that makes symmetric matrices as diagonal as they can be made together.

    Jacobi rotations of Cardoso & Souloumiac (1996); pairs of axes that share none are turned at the same time.

    Parameters
    ----------
    matrices : array of shape (n_matrices, n_codes, n_codes)
    start : array of shape (n_codes, n_axes)
        Orthonormal columns to begin with.

    Returns
    -------
    array of shape (n_codes, n_axes)
    """
    axes = start.copy()
    turned = axes.T @ matrices @ axes
    pairs = list(_rounds(axes.shape[1]))
    for _ in range(MOST_SWEEPS):
        largest = 0.0
        for p, q in pairs:
            apart = turned[:, p, p] - turned[:, q, q]
            beside = 2.0 * turned[:, p, q]
            on = (apart**2).sum(axis=0) - (beside**2).sum(axis=0)
            cross = 2.0 * (apart * beside).sum(axis=0)
            angle = 0.5 * np.arctan2(cross, on + np.hypot(on, cross))
            largest = max(largest, float(np.abs(angle).max()))
            cosine, sine = np.cos(angle), np.sin(angle)
            for array in (axes, turned, turned.transpose(0, 2, 1)):  # the columns of each, and the rows of the second
                first, second = array[..., p], array[..., q]
                array[..., p], array[..., q] = cosine * first + sine * second, cosine * second - sine * first
        if largest < SMALLEST_ANGLE:
            break
    return axes


def _rounds(n: int) -> Iterator[tuple[Rows, Rows]]:
    """Yield all pairs of n axes, in rounds in which no axis is twice, as a tournament is planned."""
    places = list(range(n + n % 2))  # with an odd number, the one that meets the last place rests
    for _ in range(len(places) - 1):
        half = len(places) // 2
        met = [sorted(pair) for pair in zip(places[:half], reversed(places[half:]), strict=True)]
        playing = np.array([pair for pair in met if pair[1] < n], dtype=np.intp)
        if len(playing):
            yield playing[:, 0], playing[:, 1]
        places = [places[0], places[-1], *places[1:-1]]


def whitener(total: Floats) -> Floats:
    """Return the inverse square root of a covariance; directions that do not vary are left out.

    Examples
    --------
    >>> whitener(np.array([[4.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    variances, vectors = np.linalg.eigh(total)
    varies = variances > NEGLIGIBLE * max(float(variances[-1]), np.finfo(float).tiny)
    lengths = np.where(varies, np.sqrt(np.where(varies, variances, 1.0)), np.inf)
    return np.asarray((vectors / lengths) @ vectors.T)


# Candidates -----------------------------------------------------------------------------------------------------------


def candidates(codes: Floats, labels: Rows, *, whiten: bool = False) -> tuple[dict[str, Floats], float]:
    """Return matrices that may turn codes so that every factor has an axis of its own.

    Parameters
    ----------
    codes : array of shape (n_samples, n_codes)
        Those that do not vary stay as they are.
    labels : array of shape (n_samples, n_factors)
        The number of each factor's value, or bin; -1 where it is not annotated.
    whiten : bool
        Whether codes may also be made uncorrelated, of equal variance, before they are turned: which undoes oblique
        maps as well.

    Returns
    -------
    matrices : dict of str to array of shape (n_codes, n_codes)
        By name, in the order in which ties are settled; the first leaves codes unchanged.
    scales : float
        How many times the standard deviation along one factor's readout is that along another's; 1 for fewer than two.

    Notes
    -----
    "readout": the orthogonal matrix nearest to the directions that separate the values of each factor best, each with
    the inverse variance along it as weight. "class means": to the directions in which the means at its values differ
    most. "joint diagonalisation": the covariances between the values of all factors, each over its trace, made as
    diagonal together as can be, from "class means" on. Only factors that the codes encode beyond chance take part;
    without such factors, codes stay unchanged. O(N M d + N d^2 + M d^3).
    """
    d = codes.shape[1]
    alive = np.flatnonzero(codes.min(axis=0) < codes.max(axis=0))
    matrices = {"identity": np.eye(d)}
    if len(alive) < 2:
        return matrices, 1.0
    varying = codes[:, alive] / np.abs(codes[:, alive]).max()  # one scale for all: squares must stay within floats
    scatter = Scatter.of(varying, labels)
    shares, directions = readouts(scatter)
    factors = told(scatter, shares)
    if not len(factors):
        return matrices, 1.0
    # Rows make every direction err towards the others, in proportion to its own deviation over theirs: where one factor
    # varies ten times as much as another, the direction of the fine one is a hundred times as sure.
    variances = np.einsum("if,ij,jf->f", directions, scatter.total, directions)[factors]
    weights = np.maximum(variances.min() / np.maximum(variances, np.finfo(float).tiny), SMALLEST_WEIGHT)
    turns = _turns(scatter, factors, directions[:, factors] * weights)
    if whiten:
        root = whitener(scatter.total)
        white = _turns(scatter.turned(root), factors)
        turns |= {f"whitened, {name}": root @ turn for name, turn in white.items()}
    for name, turn in turns.items():
        matrices[name] = np.eye(d)
        matrices[name][np.ix_(alive, alive)] = turn
    deviations = np.sqrt(variances)
    return matrices, float(deviations.max() / max(float(deviations.min()), np.finfo(float).tiny))


def _turns(scatter: Scatter, factors: Rows, weighted: Floats | None = None) -> dict[str, Floats]:
    """Return the orthogonal matrices, from weighted readouts; of whitened codes, these are those of class means."""
    between = scatter.between[factors]
    traces = np.trace(between, axis1=1, axis2=2)
    relative = between[traces > 0] / traces[traces > 0, None, None]
    spread = relative.sum(axis=0)
    found = {} if weighted is None else {"readout": completed(polar_factor(weighted), spread)}
    by_means = completed(polar_factor(np.linalg.eigh(between)[1][:, :, -1].T), spread)
    found["class means"] = by_means
    if len(relative):
        turned = joint_diagonaliser(relative, by_means[:, :MOST_AXES])
        found["joint diagonalisation"] = np.hstack([turned, by_means[:, MOST_AXES:]])
    return found


#: Rows below which raw and aligned scores both suffer.
FEW_ROWS = 500
#: Standard deviations along two factors that are farther apart than this are not found by rotations.
FAR_APART = 30.0
#: Of permutations and resamples, the share that must have a gap.
MOST_FAIL = 0.1
#: What is compared where a metric does not choose for itself; no metric of a call has this name.
_GAP_OF_MIG = "summed gap of mig"
#: How factors are cut, the metrics that choose a candidate with these bins, and those that use the choice by MIG.
_Group = tuple[Binning, list[Request], list[Request]]


@dataclass(frozen=True, slots=True)
class _Crossed:
    """What both halves gave, by metric; why some have nothing; and how far apart factors stand in scale.

    With the scores of a half stands the variance of their difference over resamples.
    """

    scored: dict[str, list[tuple[AlignedHalf, float]]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    scales: list[float] = field(default_factory=lambda: [1.0])


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
    with reporting() as report:
        runs: list[_Crossed] = []
        alone = replace(run, n_bootstrap=0, n_jobs=1)
        calls = ((groups, subject, alone, whiten, index) for index in range(run.n_permutations))
        permutations = ordered(_crossed, calls, n_jobs=run.n_jobs if run.n_permutations > 1 else 1)
        for crossed in chain([_crossed(groups, subject, run, whiten, -1)], permutations):
            runs.append(crossed)
            if report is not None:
                report(len(runs), 1 + run.n_permutations, "alignment")
    observed, permuted = runs[0], runs[1:]
    of_axes = {name: one.metric.properties != ("explicitness",) for name, one in by_name.items()}
    found = [(one.metric, one.value) for one in evaluation.scores if not of_axes[one.metric] and np.isfinite(one.value)]
    explicitness = max(found, key=lambda item: item[1], default=None)
    scores = []
    for score in evaluation.scores:
        reason = refused[score.metric] or observed.reasons.get(score.metric, "")
        if reason:
            note = Note(code="not-aligned", message=f"not aligned: {reason}")
            scores.append(replace(score, notes=(*score.notes, note)))
            continue
        halves, variances = zip(*observed.scored[score.metric], strict=True)
        alignment = Alignment(
            raw=float(np.mean([half.raw for half in halves])),
            aligned=float(np.mean([half.aligned for half in halves])),
            halves=halves,
            whitened=whiten,
            explicitness=explicitness,
        )
        interval, chance = None, None
        deviation = float(np.sqrt(sum(variances))) / len(halves)
        if np.isfinite(deviation):
            method = f"normal, {run.n_bootstrap} resamples of the scored rows, axes fixed"
            interval = normal_interval(alignment.gap, deviation, run.level, method)
        drawn = [crossed.scored[score.metric] for crossed in permuted if score.metric in crossed.scored]
        gaps = tuple(float(np.mean([half.aligned - half.raw for half, _ in own])) for own in drawn)
        if gaps and len(gaps) >= (1 - MOST_FAIL) * len(permuted):
            chance = Chance(gaps, alignment.gap, failed=len(permuted) - len(gaps))
        reading: Reading = "any axes"
        if of_axes[score.metric]:
            reading = reading_of(
                alignment.raw,
                alignment.aligned,
                interval=interval,
                chance=chance,
                explicitness=None if explicitness is None else explicitness[1],
                floor=by_name[score.metric].metric.family == "intervention",
            )
        scores.append(replace(score, alignment=replace(alignment, interval=interval, chance=chance, reading=reading)))
    notes = _notes(subject, max(observed.scales), whiten)
    return replace(evaluation, scores=tuple(scores), notes=evaluation.notes + notes)


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
    groups: dict[str, _Group] = {}
    following = []
    for one in asked:
        if one.metric.states[0] != "table":
            following.append(one)
            continue
        rule = one.options.get("bins", of_mig)
        groups.setdefault(repr(rule), (rule, [], []))[1].append(one)
    found = list(groups.values()) or [(of_mig, [], [])]
    found[0][2].extend(following)
    return found


# Cross-fitting --------------------------------------------------------------------------------------------------------


def _crossed(groups: Sequence[_Group], subject: Subject, run: Run, whiten: bool, permutation: int) -> _Crossed:
    """Find axes on each half of the rows and score on the other; permutation -1: factors as they are."""
    if permutation >= 0:
        order = rng_for(run.seed, "chance", permutation).permutation(subject.n)
        subject = replace(subject, factors=subject.factors.take(order))
    crossed = _Crossed()
    try:
        halves = _halves(subject, run.seed)
    except NotEnoughData as error:
        names = [one.name for _, choosing, following in groups for one in (*choosing, *following)]
        return replace(crossed, reasons=dict.fromkeys(names, str(error)))
    for place, (train, test) in enumerate((halves, halves[::-1])):
        for group in groups:
            codes, (labels, _) = train.data.codes.dense(), train.data.factor_labels(group[0])
            matrices, scales = candidates(codes, labels, whiten=whiten)
            crossed.scales.append(scales)
            _score(group, matrices, train, test, replace(run, seed=run.seed + place), crossed)
    return crossed


def _halves(subject: Subject, seed: int) -> list[InMemory]:
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
    return parts


def _score(
    group: _Group, matrices: dict[str, Floats], train: InMemory, test: InMemory, run: Run, crossed: _Crossed
) -> None:
    """Choose a candidate for each metric on one half: its own best, or the one with the largest summed gap of MIG.

    Score it on the other half, and add what comes to ``crossed``.
    """
    rule, choosing, following = group
    mig = CATALOGUE["mig"]
    judges = [*choosing, Request(mig, _GAP_OF_MIG, merged_options(mig, {}, {}, bins=rule))]
    best: dict[str, tuple[float, str]] = {}
    failed: dict[str, str] = {}
    for name, matrix in matrices.items() if len(matrices) > 1 else ():
        scored = Found(_turned(train, name, matrix), Run(seed=run.seed), guards=False).compute(judges)
        failed |= {item.metric: item.reason for item in scored.left_out}
        for one in judges:
            if one.name not in scored.outcomes:
                continue
            value = float(scored.outcomes[one.name].native.value) * np.sign(one.metric.best or 1.0)
            if one.name not in best or value > best[one.name][0]:  # a tie goes to the first; NaN is never the best
                best[one.name] = (value if value == value else -np.inf, name)
    judge_of = {one.name: one.name for one in choosing} | {one.name: _GAP_OF_MIG for one in following}
    crossed.reasons.update({name: failed[judge] for name, judge in judge_of.items() if judge in failed})
    members = [one for one in (*choosing, *following) if judge_of[one.name] not in failed]
    raw = Found(test, run, guards=False).compute(members)
    for name, matrix in matrices.items():
        own = [one for one in members if best.get(judge_of[one.name], (0.0, "identity"))[1] == name]
        turned = raw
        if own and name != "identity":
            turned = Found(_turned(test, name, matrix), run, guards=False).compute(own)
        for one in own:
            reason = _reason(one.name, raw) or _reason(one.name, turned)
            if reason:
                crossed.reasons[one.name] = reason
                continue
            both = [found.outcomes[one.name] for found in (raw, turned)]
            values = [float(each.native.value) for each in both]
            half = AlignedHalf(candidate=name, raw=values[0], aligned=values[1])
            draws = [each.resamples.numbered for each in both if each.resamples is not None]
            variance = np.nan
            if len(draws) == 2:  # of the gap over resamples of the scored rows, the same for both
                gaps = draws[1] - draws[0]
                known = gaps[np.isfinite(gaps)]
                if len(known) >= max(2, (1 - MOST_FAIL) * len(gaps)):
                    variance = float(np.var(known, ddof=1))
            crossed.scored.setdefault(one.name, []).append((half, variance))


def _turned(source: InMemory, name: str, matrix: Floats) -> InMemory:
    if name == "identity":
        return source
    return source.transformed(matrix, [f"axis {index}" for index in range(1, matrix.shape[1] + 1)])


def _reason(metric: str, found: Found) -> str:
    """Return why a metric has no number; empty if it has one."""
    if metric not in found.outcomes:
        return next(item.reason for item in found.left_out if item.metric == metric)
    return "" if np.isfinite(float(found.outcomes[metric].native.value)) else "it is undefined on half of the rows"


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
