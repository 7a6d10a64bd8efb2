r"""Do the codes tell anything of the factors at all? Tests whose error is bounded for every unit, tail and tie.

Codes and factors are replaced by bounded functions of their ranks: waves :math:`\cos(\pi k u)`, and indicators of
classes. The correlation of two of them, with the rows of one permuted, is close to that of Gaussian variables however
heavy the tails were, and the smallest p-value is corrected for the number of pairs. What only several codes tell
together is looked for among nearest neighbours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from demele.core.arrays import Array, Flags, Floats, Rows, rng_for
from demele.estimation.counts import JointCounts
from demele.estimation.linear_recovery import mid_ranks

#: Probability, at most, with which codes that tell nothing are taken to tell something.
LEVEL = 1e-3
#: Rows of the first look, which most informative codes pass, and of further ones.
LOOKS = (500, 3_000, 20_000)
#: Codes looked at together; the look ends with the first that tells.
BLOCK = 16
#: Waves of a column: a rise, a hump, and two finer ones.
WAVES = 4
#: Rows expected in a cell from which a correlation may be read off it.
EXPECTED = 5.0
#: Nearest neighbours, permutations, and the distance from their mean in standard deviations that tells.
NEIGHBOURS, PERMUTATIONS, FAR = 5, 99, 6.0
#: Rows among which neighbours are looked for.
NEAR_ROWS = 1_000
#: A class of fewer members than this weighs no more than one of so many.
MEMBERS = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """What a search for dependence found: the smallest p-value, corrected for ``n_pairs``, and whether it tells.

    It does below ``level``, which is strict: every evaluation is searched, and noise should hardly ever tell.
    """

    detected: bool
    p: float
    n_pairs: int
    level: float = LEVEL


@dataclass(frozen=True, slots=True)
class _FactorFeatures:
    """Functions of one factor on its annotated rows, centred and of length 1; sizes of classes (all rows for waves)."""

    values: Floats
    sizes: Floats
    members: Flags


def dependence(codes: Array, factors: Sequence[tuple[Array, bool]], *, n_codes: int | None = None) -> Finding:
    """Look for a code, or a neighbourhood of codes, that tells something of a factor.

    Parameters
    ----------
    codes : array of shape (n, d)
    factors : sequence of (values, categorical)
        Values of shape (n,): whole numbers, -1 where not annotated, of a categorical factor; NaN where not annotated
        of a continuous one.
    n_codes : int, optional
        Of how many codes these are those that inform most; the correction is for all of them.

    Returns
    -------
    Finding
        ``detected`` is True with a probability of at most about ``LEVEL`` if the rows of the factors are permuted at
        random against those of the codes.

    Notes
    -----
    Milliseconds where codes tell: 500 rows are enough. Where they seem not to, 20 000 rows and the neighbours of 1 000
    are looked at.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.random(500)
    >>> noise = rng.normal(size=(500, 3))
    >>> dependence(noise, [(angle, False)]).detected
    False
    >>> dependence(np.column_stack([noise, np.cos(2 * np.pi * angle)]), [(angle, False)]).detected
    True
    """
    n, d = codes.shape
    least = Finding(False, 1.0, 0, LEVEL / len(LOOKS))
    sizes = [look for look in LOOKS if look < n]
    sizes = [*sizes, n] if len(sizes) < len(LOOKS) else sizes
    for size in sizes:
        rows = np.arange(n)
        if size < n:
            rows = np.sort(rng_for(0, "dependence", size).choice(n, size, replace=False))
        drawn = [(values[rows], categorical) for values, categorical in factors]
        found = _marginal(codes, rows, drawn, max(n_codes or d, d), LEVEL / len(LOOKS))
        if found.detected:
            return found
        least = found if found.p <= least.p else least
    rows = np.arange(n) if n <= NEAR_ROWS else np.sort(rng_for(0, "neighbours").choice(n, NEAR_ROWS, replace=False))
    told = n > 4 * NEIGHBOURS and _near(codes[rows], [(values[rows], own) for values, own in factors])
    return Finding(bool(told), least.p, least.n_pairs, least.level)


def dependence_of_counts(counts: JointCounts) -> Finding:
    """Look for a code that tells something of a factor in the joint counts of their bins.

    Parameters
    ----------
    counts : JointCounts
        Without leading axes. Bins are taken in their order, for factors each by itself too.

    Returns
    -------
    Finding
        As of :func:`dependence`, of single codes.
    """
    least, n_pairs = 1.0, 0
    for table in counts.tables:
        n = float(table[0].sum())
        of_code, of_factor = table.sum(axis=2), table[0].sum(axis=0)
        waves = _waves(_middles(of_code))  # (waves, d, bins)
        waves = waves - (waves * of_code).sum(axis=2, keepdims=True) / max(n, 1.0)
        length = np.sqrt((waves**2 * of_code).sum(axis=2))
        factor = np.concatenate([_waves(_middles(of_factor[None]))[:, 0], np.eye(len(of_factor))])
        factor = factor - (factor @ of_factor)[:, None] / max(n, 1.0)
        width = np.sqrt((factor**2) @ of_factor)
        joint = np.einsum("wdb,dbk,fk->wdf", waves, table, factor)
        r = np.divide(joint, length[:, :, None] * width, out=np.zeros_like(joint), where=joint != 0)
        away = n - of_code.max(axis=1)
        sizes = np.concatenate([np.full(WAVES, n), of_factor])
        enough = away[:, None] * sizes >= EXPECTED * n
        mode = of_code.argmax(axis=1)
        others = np.zeros((len(table), len(sizes)))
        others[:, WAVES:] = of_factor - table[np.arange(len(table)), mode]
        least = min(least, _least_p(r, enough, n, away, sizes, others))
        n_pairs += (WAVES + 1) * r[0].size
    p_all = min(1.0, least * n_pairs)
    return Finding(p_all < LEVEL, p_all, n_pairs)


def _marginal(codes: Array, rows: Rows, factors: Sequence[tuple[Array, bool]], d: int, level: float) -> Finding:
    """Correlate the features of each code with those of each factor, a block of codes at a time."""
    groups = list(_by_annotation(factors))
    n_pairs = sum(sum(len(one.values) for one in own) for _, own in groups) * (WAVES + 1) * d
    least = 1.0
    for first in range(0, codes.shape[1], BLOCK):
        block = np.asarray(codes[rows, first : first + BLOCK], dtype=np.float64)
        for known, own in groups:
            part = block if known is None else block[known]
            n = len(part)
            if n < 4:
                continue
            features, away, off = _code_features(part)
            for factor in own:
                r = features @ factor.values.T  # (waves, codes, functions)
                enough = away[:, None] * factor.sizes >= EXPECTED * n
                others = (
                    off.astype(np.float64) @ factor.members.T.astype(np.float64) if not enough.all() else r[0]
                )  # else unread
                least = min(least, _least_p(r, enough, float(n), away, factor.sizes, others))
        if least * n_pairs < level:
            break
    p_all = min(1.0, least * n_pairs)
    return Finding(p_all < level, p_all, n_pairs, level)


def _least_p(r: Floats, enough: Flags, n: float, away: Floats, sizes: Floats, others: Floats) -> float:
    """Smallest p-value of correlations; of rare classes with codes that hardly leave one value, by their exact tail.

    A coincidence of few rows with few rows has a hypergeometric tail, which Chernoff's bound by the divergence of the
    shares is above, by Hoeffding's argument.
    """
    from scipy.special import betainc, rel_entr

    square = min(float(np.where(enough, r * r, 0.0).max(initial=0.0)), 1.0)
    p = float(betainc(max(n - 2, 1.0) / 2, 0.5, 1.0 - square))
    if enough.all():
        return p
    share = np.clip(others / np.maximum(sizes, 1.0), 0.0, 1.0)
    usual = np.broadcast_to((away / n)[:, None], share.shape)
    divergence = rel_entr(share, usual) + rel_entr(1 - share, 1 - usual)
    rare = ~enough & (sizes < n) & (share > usual)
    return min(p, float(np.where(rare, np.exp(-sizes * divergence), 1.0).min(initial=1.0)))


def _by_annotation(
    factors: Sequence[tuple[Array, bool]],
) -> Iterator[tuple[Flags | None, list[_FactorFeatures]]]:
    """Group the factors that are annotated on all rows; each other one is on its own rows."""
    complete = []
    for values, categorical in factors:
        known = values >= 0 if categorical else ~np.isnan(np.asarray(values, dtype=np.float64))
        if known.all():
            complete.append(_factor_features(values, categorical))
        elif known.sum() >= 4:
            yield known, [_factor_features(values[known], categorical)]
    if complete:
        yield None, complete


def _factor_features(values: Array, categorical: bool) -> _FactorFeatures:
    n = len(values)
    if not categorical:
        waves = _waves(_positions(values[:, None])[0])
        return _FactorFeatures(_unit(waves), np.full(WAVES, float(n)), np.zeros((WAVES, n), dtype=bool))
    _, level = np.unique(values, return_inverse=True)
    sizes = np.bincount(level)
    members = level == np.arange(len(sizes))[:, None] if len(sizes) <= n // 2 else np.zeros((0, n), dtype=bool)
    return _FactorFeatures(_unit(members.astype(np.float64)), sizes[: len(members)].astype(np.float64), members)


def _code_features(block: Floats) -> tuple[Floats, Floats, Flags]:
    """Return the waves (waves, codes, rows) of codes, how many rows leave each one's commonest value, and which."""
    n, d = block.shape
    off, away = np.ones((d, n), dtype=bool), np.empty(d)
    for index, column in enumerate(block.T):
        values, counts = np.unique(column, return_counts=True)
        most = counts.argmax()
        away[index] = n - counts[most]
        if counts[most] > 1:
            off[index] = column != values[most]
    return _unit(_waves(_positions(block))), away, off


def _positions(columns: Array) -> Floats:
    """Return the middle ranks of columns (n, d) as shares, (d, n)."""
    return ((mid_ranks(np.asarray(columns, dtype=np.float64)) - 0.5) / len(columns)).T


def _middles(counts: Floats) -> Floats:
    """Return the middle rank of each bin as a share, along the last axis."""
    total = np.maximum(counts.sum(axis=-1, keepdims=True), 1.0)
    return np.asarray((np.cumsum(counts, axis=-1) - counts / 2) / total)


def _waves(positions: Floats) -> Floats:
    first = np.cos(np.pi * positions)
    second = 2 * first**2 - 1
    return np.stack([first, second, first * (2 * second - 1), 2 * second**2 - 1])


def _unit(features: Floats) -> Floats:
    """Centre along the last axis and bring to length 1; what does not vary is 0."""
    centred = features - features.mean(axis=-1, keepdims=True)
    length = np.sqrt(np.einsum("...i,...i->...", centred, centred))[..., None]
    return np.asarray(np.divide(centred, length, out=np.zeros_like(centred), where=length > 1e-9))


def _near(codes: Array, factors: Sequence[tuple[Array, bool]]) -> bool:
    """Whether rows with similar codes have similar factors, far more often than with permuted factors."""
    from scipy.sparse import csr_array

    n = len(codes)
    positions = np.ascontiguousarray(_positions(codes).T)
    square = np.einsum("ij,ij->i", positions, positions)
    distance = square[:, None] + square - 2 * positions @ positions.T
    np.fill_diagonal(distance, np.inf)
    near = np.argpartition(distance, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
    features = []
    for values, categorical in factors:
        if categorical:
            _, level = np.unique(values, return_inverse=True)
            sizes = np.bincount(level)
            if len(sizes) > 50:  # a few functions of many classes: their members at random signs
                signs = rng_for(0, "classes").choice([-1.0, 1.0], (50, len(sizes)))
                features.append(signs[:, level] / np.sqrt(50))
            else:
                indicator = (level == np.arange(len(sizes))[:, None]) & (values >= 0)
                features.append(indicator / np.sqrt(np.maximum(sizes, MEMBERS) / n)[:, None])
        else:
            known = ~np.isnan(values)
            waves = np.zeros((2, n))
            waves[:, known] = _waves(_positions(values[known, None])[0])[:2] * np.sqrt(2)
            features.append(waves)
    stacked = np.concatenate(features).T
    stacked = stacked - stacked.mean(axis=0)
    rng = rng_for(0, "alike")

    neighbours = csr_array((np.ones(near.size), near.ravel(), np.arange(0, near.size + 1, NEIGHBOURS)), shape=(n, n))

    def alike(rows: Floats) -> float:
        return float(np.einsum("if,if->", rows, neighbours @ rows))

    drawn = np.array([alike(stacked[rng.permutation(n)]) for _ in range(PERMUTATIONS)])
    spread = float(drawn.std(ddof=1))
    return spread > 0 and alike(stacked) > float(drawn.mean()) + FAR * spread
