"""Systems ranked by the bounded scores of their rows: trusted, partly wrong, or audited."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from demele.classifiers.comparison.ranking import implied, rank_ranges, tiers
from demele.classifiers.mean_scores import MeanScore, known_mean, sampling_terms
from demele.classifiers.row_scores import RowScores, ScoreAudit
from demele.core.arrays import Floats
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.holm import holm
from demele.core.kinds import Confidence, Rate, checked
from demele.core.result import TableResult
from demele.core.results import Interval, Note
from demele.core.signature import Signature
from demele.noise.square_tables import digest
from demele.report.words import count, joined, name


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedScore:
    """One system: its mean score, the ranks that remain possible, and its tier, from 1."""

    name: str
    value: float
    interval: Interval
    best_rank: int
    worst_rank: int
    tier: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ScoreRanking(TableResult):
    """Systems in the order of their mean scores, with the ranks that remain possible.

    Attributes
    ----------
    systems : tuple of RankedScore
        Best estimate first. All ranks hold together with probability ``level``.
    p_values : array of shape (n_systems, n_systems)
        Two-sided, of each pair by itself, in this order; NaN on the diagonal, and in the worst case.
    level : float
    """

    _kind, _rows, _figure = "ranking of scores", "systems", "value"

    systems: tuple[RankedScore, ...]
    p_values: Floats
    level: float
    assumptions: tuple[str, ...]
    notes: tuple[Note, ...]
    signature: Signature

    @property
    def names(self) -> tuple[str, ...]:
        """The systems, best estimate first."""
        return tuple(one.name for one in self.systems)

    @property
    def best_rank(self) -> tuple[int, ...]:
        """The best rank of each that remains possible."""
        return tuple(one.best_rank for one in self.systems)

    @property
    def worst_rank(self) -> tuple[int, ...]:
        """The worst rank of each that remains possible."""
        return tuple(one.worst_rank for one in self.systems)

    def headline(self) -> str:
        """Return the systems that may be the best."""
        first = [name(one.name) for one in self.systems if one.best_rank == 1]
        if len(first) == 1:
            return f"{first[0]} is the best of {count(len(self.systems), 'system')}."
        return f"{len(first)} of {count(len(self.systems), 'system')} may be the best: {joined(first)}."


@checked
def rank_scores(
    scores: Mapping[str, RowScores], audit: ScoreAudit | None = None, *, rate: Rate = 0.0, level: Confidence = 0.95
) -> ScoreRanking:
    """Compare all systems by the scores of their rows, with an interval of each rank.

    Parameters
    ----------
    scores : mapping of str to RowScores
        Of at least 2 systems, for the same rows in the same order; higher is better.
    audit : ScoreAudit, optional
        True scores of some rows, of each system.
    rate : float
        Without an audit: at most this share of the rows has wrong scores, in the worst case.
    level : float in [0.5, 1)
        Of all ranks together.

    Returns
    -------
    ScoreRanking

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Trusted and audited scores: two-sided p-values of all differences, each of the same rows, with Holm's procedure. In
    the worst case: bounds of each difference, and Bonferroni's share of the sampling error. The rank of a system lies
    between 1 + the number of systems shown to be better and the number of those not shown to be worse.

    Cost: one product of matrices for trusted scores; each pair by itself for the others.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> systems = {name: RowScores(rng.random(400) < p) for name, p in (("a", 0.9), ("b", 0.7), ("c", 0.69))}
    >>> found = rank_scores(systems)
    >>> [(one.name, one.best_rank, one.worst_rank, one.tier) for one in found.systems]
    [('a', 1, 1, 1), ('b', 2, 3, 2), ('c', 2, 3, 2)]
    """
    if not isinstance(scores, Mapping) or not all(isinstance(one, RowScores) for one in scores.values()):
        raise InputTypeError("scores", f"expected RowScores by the names of systems, got {type(scores).__name__}")
    if len(scores) < 2:
        raise NotEnoughData("scores", f"expected at least 2 systems, got {len(scores)}")
    if audit is not None and rate:
        raise InputError("rate", "is for scores without an audit; leave one of them out")

    def mean_of(one: RowScores, own: ScoreAudit | None, level: float, gate: float | None = None) -> MeanScore:
        return known_mean(one, own, rate=rate, level=level, gate=gate)

    means = {key: mean_of(one, None if audit is None else audit.of(key), level) for key, one in scores.items()}
    names = tuple(sorted(scores, key=lambda key: -means[key].value))
    m, held = len(names), [scores[key] for key in names]
    p, better = np.full((m, m), math.nan), np.zeros((m, m), dtype=np.bool_)
    pairs = list(itertools.combinations(range(m), 2))
    if audit is None and not rate:
        p = _paired(held)
    for i, j in pairs if audit is not None or rate else ():
        difference = held[i].minus(held[j])  # of the better estimate and the other
        if audit is None:
            ends = mean_of(difference, None, 1 - (1 - level) / len(pairs))
            better[j, i], better[i, j] = ends.low > 0, ends.high < 0
        else:
            found = mean_of(difference, audit.minus(names[i], names[j]), level, 0.0)
            if found.value < 0:
                found = mean_of(held[j].minus(held[i]), audit.minus(names[j], names[i]), level, 0.0)
                better[i, j] = True
            p[i, j] = p[j, i] = min(2 * (found.p_value or 0.0), 1.0)
    if not rate:
        first, second = np.array(pairs).T
        shown = holm(p[first, second], 1 - level)
        ahead = ~better[first, second]  # whether the first of a pair is
        better[first, second], better[second, first] = shown & ~ahead, shown & ahead
    best, worst = rank_ranges(better)
    tier = {key: place for place, part in enumerate(tiers(names, implied(better)), start=1) for key in part}
    rows = []
    for key, low, high in zip(names, best.tolist(), worst.tolist(), strict=True):
        one = means[key]
        ranks = {"best_rank": low, "worst_rank": high, "tier": tier[key]}
        rows.append(RankedScore(name=key, value=one.value, interval=one.interval, **ranks))
    wrong = f"At most {rate:.2%} of the rows have wrong scores." if rate else "All scores are right."
    return ScoreRanking(
        systems=tuple(rows),
        p_values=p,
        level=level,
        assumptions=(wrong if audit is None else "Audited rows were drawn at random; the human scores are true.",),
        notes=tuple({(note.code, note.message): note for one in means.values() for note in one.notes}.values()),
        signature=Signature.of(
            "rank_scores",
            {"rate": rate, "level": level},
            n=held[0].n,
            digest=digest(*(one.given for one in held), *([] if audit is None else [audit.rows, *audit.true.values()])),
        ),
    )


def _paired(held: list[RowScores]) -> Floats:
    """Return two-sided p-values of all differences of trusted scores, by Student's t of rows, groups or tasks."""
    from scipy.special import stdtr

    for one in held[1:]:
        one.minus(held[0])  # refuses other rows, scales, tasks and groups
    scored = np.logical_and.reduce([one.scored for one in held])
    first, values = held[0].take(scored), np.array([one.given[scored] for one in held])
    variances, squares, degrees = np.zeros((len(held),) * 2), np.zeros((len(held),) * 2), 1.0
    parts = 0
    for terms, size in sampling_terms(first, values):
        products = terms @ terms.T
        own = products.diagonal()
        apart = np.maximum(own[:, None] + own - 2 * products, 0) * size / (size - 1)
        variances, squares, degrees, parts = variances + apart, squares + apart**2 / (size - 1), size - 1, parts + 1
    means = values @ first.shares()
    with np.errstate(divide="ignore", invalid="ignore"):
        every = np.where(squares > 0, variances**2 / squares, degrees) if parts > 1 else degrees
        t = np.abs(means[:, None] - means) / np.sqrt(variances)
        p = 2 * stdtr(every, -t)
    found = np.where(variances > 1e-24, p, np.where(np.abs(means[:, None] - means) > 1e-12, 0.0, 1.0))
    np.fill_diagonal(found, math.nan)
    return found
