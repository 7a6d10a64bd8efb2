"""From rows to a verdict in words: which code holds which factor, decided against chance and against other factors.

`estimation.holdings` computes from bins; the decisions are here, and the words in `core.verdict`. A tie to a
factor that another one explains is none: codes of one factor carry all that depend on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

import numpy as np

from demele.core.arrays import Flags, Floats, Rows, rng_for
from demele.core.columns import Factor
from demele.core.verdict import (
    HELD,
    SHARED,
    CodeStatus,
    CodeVerdict,
    FactorVerdict,
    RepresentationVerdict,
    Sharing,
    code_words,
    factor_words,
)
from demele.estimation.counts import BinnedRows, EqualFrequency, PackedRows
from demele.estimation.information import entropy, mutual_information, ratio
from demele.estimation.linear_recovery import mid_ranks
from demele.metrics.data import Data

# Shares of the entropy of factors that codes carry, from bins alone, with chance levels -------------------------------
#
# Everything here works on bin numbers. Bins of equal frequency make it independent of units, tails and any monotone
# change of a code. Chance is calibrated on permuted rows: the statistic of a likelihood ratio follows a chi-squared
# distribution only where cells are full, so its mean under permutation scales the quantile.

#: Probability, at most about, with which any code of noise is taken to tell something of any factor.
LEVEL = 1e-4
#: Permutations that calibrate chance.
PERMUTATIONS = 5
#: Codes counted together.
BLOCK = 64
#: Standard errors of a conditional information beyond which it is more than chance.
FAR = 5.0
#: Of what a code tells of a factor, the share that must be its own to be no echo of another factor.
OWN = 0.15


@dataclass(frozen=True, slots=True)
class Held:
    """The share of each factor that each code carries, with chance levels.

    Attributes
    ----------
    share : array of shape (n_codes, n_factors), in [0, 1]
        Mutual information divided by the entropy of the factor, both with Miller-Madow's correction.
    error : array of the same shape
        Standard error of the share.
    detected : array of bool of the same shape
        Whether a code carries more information than chance, all pairs together at :data:`LEVEL`.
    chance : array of shape (n_factors,)
        Largest share of any code in permuted factors, over all permutations.
    detectable : array of shape (n_factors,)
        Share above chance from which a code would have been detected.
    """

    share: Floats
    error: Floats
    detected: Flags
    chance: Floats
    detectable: Floats


def held(rows: BinnedRows, *, seed: int = 0) -> Held:
    """Return the share of each factor that each code carries, compared with chance.

    Parameters
    ----------
    rows : BinnedRows
    seed : int
        Random seed of the permutations.

    Examples
    --------
    >>> levels = np.tile([0, 1], 200)
    >>> noise = np.repeat([0, 1], 200)
    >>> both = np.array([2, 2])
    >>> rows = BinnedRows(np.array([levels, noise]), levels[None], both, both[:1], np.array([False]))
    >>> found = held(rows)
    >>> found.share.round(2).tolist(), found.detected.tolist()
    ([[1.0], [0.0]], [[True], [False]])
    """
    from scipy.special import chdtri

    d, m = len(rows.code_bins), len(rows.factor_bins)
    share, error, plain, bias = (np.zeros((d, m)) for _ in range(4))
    chance, inflation, heights = np.zeros(m), np.zeros(m), np.ones(m)
    orders = [rng_for(seed, "verdict", draw).permutation(rows.n) for draw in range(PERMUTATIONS)]

    def shares(table: Floats, height: Floats) -> Floats:
        return np.clip(np.nan_to_num(ratio(mutual_information(table, "miller-madow"), height)), 0.0, 1.0)

    for first in range(0, d, BLOCK):
        block = slice(first, first + BLOCK)
        part = replace(rows, codes=rows.codes[block], code_bins=rows.code_bins[block])
        packed = PackedRows(part, factor_pairs=False)
        drawn = [packed.permuted(order).count().tables for order in orders]
        for i, table in enumerate(packed.count().tables):
            height = np.asarray(entropy(table[0].sum(axis=0), "miller-madow"))
            heights[i], share[block, i] = height, shares(table, height)
            plain[block, i], error[block, i] = mutual_information(table), _errors(table) / max(heights[i], 1e-12)
            of_code, of_factor = (table.sum(axis=2) > 0).sum(axis=1), (table.sum(axis=1) > 0).sum(axis=1)
            freedom = (np.maximum(of_code - 1, 0) * np.maximum(of_factor - 1, 0)).astype(np.float64)
            bias[block, i] = freedom / (2 * max(float(table[0].sum()), 1.0))
            for permuted in drawn:
                chance[i] = max(chance[i], float(shares(permuted[i], height).max(initial=0.0)))
                inflation[i] += float(mutual_information(permuted[i]).sum()) / PERMUTATIONS
    scale = np.maximum(ratio(inflation, bias.sum(axis=0)), 1.0)
    scale = np.where(np.isnan(scale), 1.0, scale)
    counts = np.array([max(int((of < bins).sum()), 1) for of, bins in zip(rows.factors, rows.factor_bins, strict=True)])
    degrees = np.maximum(bias * 2 * counts, 1.0)  # of freedom
    threshold = chdtri(degrees, LEVEL / max(d * m, 1)) * scale / (2 * counts)
    beyond = np.where(bias > 0, threshold - bias * scale, 0.0).max(axis=0, initial=0.0)
    detected = (plain > threshold) & (bias > 0)
    return Held(share, error, detected, chance, np.asarray(beyond / np.maximum(heights, 1e-12)))


def _errors(table: Floats) -> Floats:
    """Return standard errors of informations, in nats: the spread of the pointwise ones over the rows."""
    p = table / np.maximum(table.sum(axis=(1, 2), keepdims=True), 1.0)
    margins = p.sum(axis=2, keepdims=True) * p.sum(axis=1, keepdims=True)
    pointwise = np.log(np.divide(p, margins, out=np.ones_like(p), where=p > 0))
    mean = (p * pointwise).sum(axis=(1, 2))
    variance = (p * pointwise**2).sum(axis=(1, 2)) - mean**2
    return np.asarray(np.sqrt(np.maximum(variance, 0.0) / np.maximum(table.sum(axis=(1, 2)), 1.0)))


# Of three columns -----------------------------------------------------------------------------------------------------


def joint_label(first: Rows, second: Rows) -> Rows:
    """Return a number for each of the pairs of two columns of bin numbers.

    Examples
    --------
    >>> joint_label(np.array([0, 1, 1]), np.array([2, 0, 2])).tolist()
    [2, 3, 5]
    """
    return first * (int(second.max(initial=0)) + 1) + second


def labels_entropy(labels: Rows) -> float:
    """Entropy of a column of bin numbers, plug-in, in nats."""
    counts = np.bincount(labels)
    counts = counts[counts > 0]
    return float(np.log(len(labels)) - counts @ np.log(counts) / len(labels)) if counts.size > 1 else 0.0


def information(x: Rows, y: Rows, given: Rows | None = None) -> float:
    """Information of two columns, within the values of a third one if it is given, plug-in, in nats.

    Examples
    --------
    >>> x, y = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> round(information(x, y, x ^ y), 3), round(information(x, y), 3), round(information(x, x), 3)
    (0.693, 0.0, 0.693)
    """
    if given is None:
        return max(labels_entropy(x) + labels_entropy(y) - labels_entropy(joint_label(x, y)), 0.0)
    own = joint_label(given, x)
    parts = labels_entropy(own) + labels_entropy(joint_label(given, y))
    return max(parts - labels_entropy(joint_label(own, y)) - labels_entropy(given), 0.0)


def told_share(codes: Rows, factor: Rows) -> float:
    """Return the share of a factor's entropy that codes tell, with Miller-Madow's correction, within 0 and 1.

    Examples
    --------
    >>> told_share(np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]))
    1.0
    """
    cells = len(np.unique(joint_label(codes, factor))) - len(np.unique(codes)) - len(np.unique(factor)) + 1
    told = information(codes, factor) - cells / (2 * len(codes))
    return min(max(told / max(labels_entropy(factor), 1e-12), 0.0), 1.0)


def order_within(given: Rows, rng: np.random.Generator) -> Rows:
    """Return rows permuted at random among those of the same value."""
    drawn = rng.permutation(len(given))
    shuffled = np.empty(len(given), dtype=np.intp)
    shuffled[np.argsort(given, kind="stable")] = drawn[np.argsort(given[drawn], kind="stable")]
    return shuffled


def is_echo(code: Rows, factor: Rows, other: Rows, other_fine: Rows, shuffled: Rows) -> bool:
    """Whether a code tells of a factor only what another factor, which it holds, tells of it.

    Parameters
    ----------
    code, factor, other : array of bin numbers of shape (n,)
        Coarse, so that triples have full cells.
    other_fine : array of shape (n,)
        The other factor in finer bins: inside one coarse bin it still tells something.
    shuffled : array of shape (n,)
        What :func:`order_within` returns for ``other``; what permuted rows tell is chance.

    Notes
    -----
    A code made of the other factor alone tells within its values no more than the other factor does itself.
    """
    by_chance = information(code[shuffled], factor, other)
    fine = information(other_fine, factor, other) - information(other_fine[shuffled], factor, other)
    beyond = information(code, factor, other) - by_chance - max(fine, 0.0)
    return beyond <= max(FAR * float(np.sqrt(by_chance / len(code))), OWN * information(code, factor))


def partial_r_squared(codes: Floats, target: Floats, known: Floats) -> tuple[float, float]:
    """Return what codes add to a linear regression on known columns: adjusted partial R squared, and its p-value.

    Parameters
    ----------
    codes : array of shape (n, d)
    target : array of shape (n,)
    known : array of shape (n, k)
        Columns that are in the regression already, such as other factors; none for ordinary R squared.

    Examples
    --------
    >>> a, b = np.random.default_rng(0).normal(size=(2, 500))
    >>> share, p = partial_r_squared(np.column_stack([a, a + b]), b, np.empty((500, 0)))
    >>> round(share, 6), p < 1e-12
    (1.0, True)
    """
    from scipy.special import betainc

    n, base = len(target), np.column_stack([np.ones(len(target)), known])
    residual, before = _residual(base, target)
    others, _ = _residual(base, codes)
    # What the known columns explain whole leaves rounding, which a regression would blow up.
    others = others * (np.einsum("ij,ij->j", others, others) > 1e-12 * np.einsum("ij,ij->j", codes, codes))
    after, rank = _residual(others, residual)
    left = n - before - rank
    if left < 1 or rank < 1 or float(residual @ residual) < 1e-9 * float(target @ target):
        return 0.0, 1.0
    unexplained = float(after @ after) / float(residual @ residual)
    p = float(betainc(left / 2, rank / 2, min(max(unexplained, 0.0), 1.0)))
    return 1.0 - unexplained * (n - before) / left, p


def _residual(columns: Floats, target: Floats) -> tuple[Floats, int]:
    """Return the residuals of a regression of one or several targets, and the number of columns that it used.

    By the eigenvectors of the columns' products: of few columns a small problem, however many the rows; no product of
    these sizes is left to threads, so that its bits are the same everywhere.
    """
    length = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    unit = columns / np.where(length > 0, length, 1.0)
    values, vectors = np.linalg.eigh(np.einsum("ij,ik->jk", unit, unit))
    used = values > 1e-10 * max(float(values.max(initial=0.0)), 1e-300)
    basis = np.einsum("ij,jk->ik", unit, vectors[:, used] / np.sqrt(values[used]))
    return target - basis @ (basis.T @ target), int(used.sum())


#: Of more rows, so many are looked at first, drawn at random; more if these are too few, up to the most.
FIRST_ROWS, MOST_ROWS = 5_000, 500_000
#: Fewer annotated rows than this, or than so many for each class, decide nothing.
FEWEST_ROWS, ROWS_PER_CLASS = 100, 5
#: Bins, fewest and most, and rows expected in a cell of a table of two columns, and of three.
BINS, ROWS_PER_CELL, COARSE, ROWS_PER_TRIPLE = (2, 20), 10, (2, 6), 16
#: Standard errors within which a share is too near to a limit to decide; twice as many where rows are fewer than 200,
#: for the errors are estimates themselves.
NEAR = 2.5
#: What a code must tell within the bins of another one, of what that one tells, to be more than its copy. Bins cut
#: classes in halves, differently in each copy: of three classes copies add up to 0.19, cosine and sine at least 0.27.
ADDED = 0.2
#: More codes than this share a factor as little of it each: it is spread.
MOST_SHARING = 3
#: Level of the regression that looks for factors which only all codes together tell, and the least share.
REGRESSION_LEVEL, LEAST_R_SQUARED = 1e-4, 0.05
#: The metric whose scores come first: of all that the bench has characterised it meets most criteria, as a test says.
HEADLINE = "dci_forest"
HEADLINE_HOLDS, HEADLINE_CRITERIA = 24, 25


def headline(values: dict[str, float]) -> str:
    """Say which scores to look at first, and the bench's reason.

    Parameters
    ----------
    values : dict of str to float
        Scores by metric.

    Examples
    --------
    >>> headline({"mig": 0.1})
    ''
    >>> headline({"dci_forest_modularity": 0.912, "mig": 0.1}).partition(":")[0]
    'Look first at dci_forest_modularity 0.912'
    """
    found = [f"{name} {value:.3f}" for name, value in values.items() if name.startswith(HEADLINE) and value == value]
    if not found:
        return ""
    return (
        f"Look first at {', '.join(found)}: of all characterised metrics, DCI with forests meets most criteria of the "
        f"bench, {HEADLINE_HOLDS} of the {HEADLINE_CRITERIA} that apply, and fails none."
    )


def verdict_of(data: Data, names: tuple[str, ...] = (), *, seed: int = 0) -> RepresentationVerdict:
    """Return what codes hold of factors, in words.

    Parameters
    ----------
    data : Data
        Codes, and the factors that vary.
    names : tuple of str, optional
        All factors in their order; those that are not in the data do not vary.
    seed : int
        Seed of the permutations for the chance level, and of the sample if there are more than 5,000 rows.

    Notes
    -----
    If 5,000 rows are too few, the verdict is made again on as many rows as needed, up to all of them.
    """
    size = FIRST_ROWS
    while True:
        rows = rows_drawn(data, size, seed)
        found = _Judge(rows, seed)
        factors, codes = [found.factor(i) for i in range(data.factors.m)], [found.code(j) for j in range(data.codes.d)]
        needed = [row.rows_needed for row in factors if row.status == "inconclusive"]
        needed += [row.rows_needed for row in codes if row.status == "inconclusive"]
        if size >= data.n or not needed:
            break
        size = data.n if None in needed else max(2 * size, int(1.2 * max(filter(None, needed))))
    still = {
        name: FactorVerdict(factor=name, status="constant", n=rows.n, words=f"{name} does not vary") for name in names
    }
    every = still | {row.factor: row for row in factors}
    shares, above = np.full((data.codes.d, len(every)), np.nan), np.zeros((data.codes.d, len(every)), dtype=bool)
    places = [list(every).index(factor) for factor in data.factors.names]
    shares[:, places], above[:, places] = found.held.share, found.held.detected
    return RepresentationVerdict(
        factors=tuple(every.values()),
        codes=tuple(codes),
        shares=shares,
        above_chance=above,
        n=rows.n,
        bins=found.bins,
    )


def rows_drawn(data: Data, size: int, seed: int) -> Data:
    """Return a copy of so many rows, drawn at random; of all where there are no more."""
    if size >= data.n:
        return data.copied()
    return data.take(np.sort(rng_for(seed, "rows of a verdict").choice(data.n, size, replace=False)))


def bins_for(n: int) -> int:
    """Return how many bins so many rows fill."""
    return int(np.clip(np.sqrt(n / ROWS_PER_CELL), *BINS))


def shares_of(data: Data, *, seed: int = 0) -> Held:
    """Return the share of each factor that each code carries, compared with chance: the basis of a verdict."""
    return held(data.binned(EqualFrequency(bins_for(data.n))), seed=seed)


class _Judge:
    """All that decides: shares against chance, which of them are echoes of other factors, and the rows in bins."""

    def __init__(self, data: Data, seed: int) -> None:
        self.data, self.seed, self.bins = data, seed, bins_for(data.n)
        self.margin = NEAR * (2 if data.n < 2 * FEWEST_ROWS else 1)
        self.fine = data.binned(EqualFrequency(self.bins))
        self.coarse = data.binned(EqualFrequency(int(np.clip(np.cbrt(data.n / ROWS_PER_TRIPLE), *COARSE))))
        self.held = held(self.fine, seed=seed)
        #: By code and factor: the factor of which it is an echo.
        self.through = _echoes(self.held, self.fine, self.coarse, seed)
        self.own = self.held.detected.copy()  # told, and no echo of another factor
        for place in self.through:
            self.own[place] = False

    # By factor -------------------------------------------------------------------------------------------------------

    def factor(self, i: int) -> FactorVerdict:
        """Judge one factor."""
        factor = self.data.factors.columns[i]
        row = FactorVerdict(
            factor=factor.name, status="inconclusive", n=factor.n_annotated, rows_needed=_fewest(factor)
        )
        if factor.n_annotated >= _fewest(factor):
            row = self._judged(i, replace(row, chance=float(self.held.chance[i]), rows_needed=None))
        return replace(row, words=factor_words(row))

    def _judged(self, i: int, row: FactorVerdict) -> FactorVerdict:
        own, detectable = self.own[:, i], float(self.held.detectable[i])
        shares = np.where(own, self.held.share[:, i], 0.0)
        order = [int(j) for j in np.argsort(-shares, kind="stable")]
        best, most = order[0], float(shares[order[0]])
        sharing = [j for j in order if shares[j] > SHARED * most]
        if own.any():
            second = float(shares[order[1]]) if len(order) > 1 else 0.0
            named = self._names(order[1:2])[0] if second >= HELD else ""
            row = replace(row, share=most, second=second, next_code=named)
        if most < HELD >= detectable:
            return self._below_a_tenth(i, row, sharing)
        if not own.any():
            return self._undecided(row, self._times_to_see(detectable, HELD))
        errors = np.hypot(self.held.error[:, i], SHARED * self.held.error[best, i])
        gaps = self.held.share[:, i] - SHARED * most
        times = {j: self._times(gaps[j], errors[j]) for j in order[1:] if (j, i) not in self.through}
        clear = [j for j in sharing if times.get(j, 0.0) <= 1]
        # half as much in another code would not have been told
        more = max([self._times_to_see(detectable, SHARED * most), *times.values()])
        if len(clear) == 1 and more > 1:
            return self._undecided(row, more, clear)
        if len(sharing) > 1:
            return self._shared(i, row, sharing)
        holds, _, open_ = self._holds(best)
        others = tuple(self.data.factors.names[k] for k in holds if k != i)
        if open_ > 1 and not others:
            return self._undecided(row, open_, [best])
        return replace(row, status="mixed code" if others else "one code", codes=self._names([best]), others=others)

    def _below_a_tenth(self, i: int, row: FactorVerdict, sharing: list[int]) -> FactorVerdict:
        """Judge a factor if no single code carries a tenth: several hold it together, it is weak, or it is lost."""
        if len(sharing) > 1 and (shared := self._shared(i, row, sharing)).together >= HELD:
            return shared
        shares = self.held.share[:, i]
        best = sharing[0] if sharing else int(np.argmax(shares))
        row = replace(row, share=float(shares[best]))
        r_squared, alone = self._regression(i)
        if r_squared >= HELD and (len(sharing) > 1 or alone <= SHARED * r_squared):
            return replace(row, status="several codes", sharing="spread", together=r_squared)
        if sharing and (times := self._times(row.share - HELD, self.held.error[best, i])) > 1:
            return self._undecided(row, times, [best])
        if sharing or r_squared > LEAST_R_SQUARED:  # other factors may hide what a code tells
            return replace(row, status="weak", codes=self._names([best]))
        echoes = {j: k for (j, factor), k in self.through.items() if factor == i}
        if not echoes:
            return replace(row, status="no code")
        best = max(echoes, key=lambda j: float(shares[j]))
        named = self.data.factors.names[echoes[best]]
        return replace(row, status="no code", codes=self._names([best]), others=(named,), share=float(shares[best]))

    def _undecided(self, row: FactorVerdict, times: float, codes: Sequence[int] = ()) -> FactorVerdict:
        """Say how many rows would decide, if that can be said: so many times as there are."""
        return replace(row, codes=self._names(codes), rows_needed=_rounded_up(times * row.n))

    def _times(self, gap: float, error: float) -> float:
        """Return how many times the rows bring a gap beyond its error, which falls with their root."""
        return float(self.margin * error / max(abs(gap), 1e-12)) ** 2

    def _times_to_see(self, detectable: float, share: float) -> float:
        """Return how many times the rows make a share detectable; while bins grow with the rows, that is slower."""
        return float(detectable / max(share, 1e-12)) ** (1 if self.bins == BINS[1] else 2)

    def _shared(self, i: int, row: FactorVerdict, sharing: list[int]) -> FactorVerdict:
        known = self.data.factors.columns[i].annotated()
        own = np.where(self.own[sharing[:2]], self.held.share[sharing[:2]], 0.0)
        mixed = bool(((own > SHARED * own.max(axis=1, keepdims=True)).sum(axis=1) > 1).any())
        how: Sharing = "mixture" if mixed else "parts"
        best, other = sharing[:2]
        if min(self._adds(i, best, other, known), self._adds(i, other, best, known)) <= ADDED:
            how = "copies"
        elif len(sharing) > MOST_SHARING:
            how = "spread"
        first, second = (self.coarse.codes[j][known] for j in (best, other))
        looked_at = first, second, joint_label(first, second)
        both = max(told_share(one, self.coarse.factors[i][known]) for one in looked_at)
        # Bins of few rows are so coarse that two codes may tell less in them than one does in those of its share.
        if both <= row.share + self.margin * float(self.held.error[best, i]):
            both, how = float("nan"), "" if how == "parts" else how
        return replace(row, status="several codes", sharing=how, codes=self._names(sharing), together=both)

    def _adds(self, i: int, first: int, second: int, known: Flags) -> float:
        """Return what a second code tells of a factor within the fine bins of a first one, of what that one tells.

        Copies are cut at other places, and would add to coarse bins. What permuted rows tell is chance.
        """
        given, factor, code = (
            self.fine.codes[first][known],
            self.fine.factors[i][known],
            self.coarse.codes[second][known],
        )
        draws = (rng_for(self.seed, "added", self.data.factors.names[i], str(draw)) for draw in range(PERMUTATIONS))
        by_chance = float(np.mean([information(code[order_within(given, rng)], factor, given) for rng in draws]))
        return max(information(code, factor, given) - by_chance, 0.0) / max(information(given, factor), 1e-12)

    def _regression(self, i: int) -> tuple[float, float]:
        """Return what codes add to the other factors in a linear regression on this one: all, and the best alone.

        Both are shares of what the factors leave unexplained; 0 within chance.
        """
        factor = self.data.factors.columns[i]
        rows = factor.annotated()
        alive = ~self.data.codes.constant
        others = [one for k, one in enumerate(self.data.factors.columns) if k != i and one.complete]
        known = np.column_stack([np.empty((int(rows.sum()), 0)), *(_features(one, rows) for one in others)])
        if not alive.any() or (alive.sum() + known.shape[1]) * ROWS_PER_CLASS > rows.sum():
            return 0.0, 0.0
        values = np.asarray(self.data.codes.values[rows][:, alive], dtype=np.float64)
        codes = np.column_stack([_ranks(column) for column in values.T])
        targets = _features(factor, rows)[:, : 1 if factor.kind == "continuous" else None]
        found = [(*partial_r_squared(codes, target, known), place) for place, target in enumerate(targets.T)]
        share, p, place = max(found)
        if p > REGRESSION_LEVEL / len(found):
            return 0.0, 0.0
        alone = [partial_r_squared(code[:, None], targets[:, place], known)[0] for code in codes.T]
        return share, max(alone)

    # By code ---------------------------------------------------------------------------------------------------------

    def _holds(self, j: int) -> tuple[list[int], list[int], float]:
        """Return the factors that a code holds, those that it carries a little of, and the needed multiple of the rows.

        Up to 1 nothing is open.
        """
        shares = np.where(self.own[j], self.held.share[j], 0.0)
        order = [int(i) for i in np.argsort(-shares, kind="stable") if self.own[j, i]]
        if not order:
            return [], [], 0.0
        main = order[0]
        limit = max(SHARED * shares[main], HELD)
        holds = [i for i in order if shares[i] > limit]
        errors = np.hypot(self.held.error[j], SHARED * self.held.error[j, main])
        gaps = self.held.share[j] - limit
        near = [self._times(gaps[i], errors[i]) for i in range(len(shares)) if i != main and (j, i) not in self.through]
        near.append(self._times(shares[main] - HELD, self.held.error[j, main]))
        unseen = self.held.detectable[~self.held.detected[j]]  # as much of these would not have been told
        seen = [self._times_to_see(share, limit) for share in unseen]
        return holds, [i for i in order if i not in holds], max([*near, *seen, 0.0])

    def code(self, j: int) -> CodeVerdict:
        """Judge one code."""
        row = CodeVerdict(code=self.data.codes.names[j], status="inconclusive")
        if self.data.codes.constant[j]:
            row = replace(row, status="dead")
        elif self.data.factors.m and all(one.n_annotated >= _fewest(one) for one in self.data.factors.columns):
            holds, traces, times = self._holds(j)
            row = replace(row, chance=float(self.held.chance.max(initial=0.0)))
            if not holds:
                times = self._times_to_see(float(self.held.detectable.max()), HELD)
            if times > 1 and len(holds) <= 1:
                row = replace(row, rows_needed=_rounded_up(times * self.data.n))
            else:
                names, held = self.data.factors.names, tuple(float(self.held.share[j, i]) for i in holds)
                found: Mapping[int, CodeStatus] = {0: "weak" if traces else "noise", 1: "one factor"}
                of_factors, of_traces = (tuple(names[i] for i in some) for some in (holds, traces))
                status = found.get(len(holds), "mixed")
                row = replace(row, status=status, factors=of_factors, shares=held, traces=of_traces)
        return replace(row, words=code_words(row))

    def _names(self, places: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.data.codes.names[j] for j in places)


def _fewest(factor: Factor) -> int:
    """Return how many annotated rows say anything."""
    return max(FEWEST_ROWS, ROWS_PER_CLASS * len(factor.levels) if factor.categorical else 0)


def _rounded_up(rows: float) -> int | None:
    """Return a number of rows with two digits that count; None beyond a billion, at a limit as good as exactly.

    Examples
    --------
    >>> _rounded_up(12_345.6), _rounded_up(99_100.0), _rounded_up(1e12)
    (13000, 100000, None)
    """
    if not rows < 1e9:
        return None
    step = 10 ** max(len(str(int(rows))) - 2, 0)
    return int(-(-rows // step) * step)


def _features(factor: Factor, rows: Flags) -> Floats:
    """Return columns for a regression: ranks and their powers, cosine and sine, or indicators but the last."""
    values = factor.coordinates[rows]
    if factor.cyclic:
        return np.asarray(values, dtype=np.float64)
    if factor.categorical:
        return np.asarray(values[:, None] == np.arange(max(len(factor.levels) - 1, 1)), dtype=np.float64)
    ranks = _ranks(np.asarray(values, dtype=np.float64))
    return np.column_stack([ranks**power for power in range(1, 6)])


def _ranks(column: Floats) -> Floats:
    """Return mid-ranks between -1 and 1, so that tails do not decide a regression."""
    return 2 * (mid_ranks(column[:, None])[:, 0] - 0.5) / len(column) - 1


# Echoes ---------------------------------------------------------------------------------------------------------------


def _echoes(found: Held, fine: BinnedRows, coarse: BinnedRows, seed: int) -> dict[tuple[int, int], int]:
    """Return the codes that carry a factor only through another one, with that factor."""
    from scipy.special import chdtri

    linked = np.zeros((len(coarse.factors), len(coarse.factors)), dtype=bool)
    for i, k in combinations(range(len(linked)), 2):  # where chance would hardly link two more often than not
        first, second = coarse.factors[k], coarse.factors[i]
        degrees = (len(np.unique(first)) - 1) * (len(np.unique(second)) - 1)
        statistic = 2 * coarse.n * information(first, second)
        linked[i, k] = linked[k, i] = degrees > 0 and statistic > chdtri(degrees, 0.05)
    between = {(k, i): told_share(fine.factors[k], fine.factors[i]) for k, i in np.argwhere(linked).tolist()}
    echoes: dict[tuple[int, int], int] = {}
    if not between:
        return echoes

    @cache
    def shuffled(k: int) -> Rows:
        return order_within(coarse.factors[k], rng_for(seed, "echo", k))

    def explains(k: int, i: int, j: int) -> bool:
        if found.share[j, i] > between[k, i] + FAR * found.error[j, i]:
            return False  # what is made of one factor tells no more of another than that factor does
        of_factors = coarse.factors
        return is_echo(coarse.codes[j], of_factors[i], of_factors[k], fine.factors[k], shuffled(k))

    for j in range(len(found.detected)):
        told = [int(i) for i in np.argsort(-found.share[j], kind="stable") if found.detected[j, i]]
        for i in told:
            for k in told:
                if k == i or not linked[i, k] or (j, k) in echoes or not explains(k, i, j):
                    continue
                if told.index(k) < told.index(i) or not explains(i, k, j):
                    echoes[j, i] = k
                    break
    return echoes
