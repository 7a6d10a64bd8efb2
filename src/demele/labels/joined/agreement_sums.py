"""Agreement of all annotators as functions of sums over items, so that resamples of items need no new counts."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.results import Interval
from demele.core.seeds import rng_for
from demele.labels.joined.annotations import Annotations

Floats = NDArray[np.float64]
Scale = Literal["nominal", "ordinal", "interval", "ratio"]

#: In the order of the columns of :meth:`Sums.coefficients`.
COEFFICIENTS = ("raw", "fleiss", "krippendorff")
#: Numbers held at a time while the items are resampled.
_AT_ONCE = 4_000_000
#: With so many items per distinct row of votes, drawing how often each row comes is faster than drawing items.
_ITEMS_PER_ROW = 8
#: Sums of shares smaller than this are rounding: the smallest share is 1 / (answers about an item).
_NOTHING = 1e-9


def vote_rows(table: Annotations) -> tuple[Any, NDArray[np.int64]]:
    """Return the distinct rows of votes (sparse, rows x K, no empty one) and how many items have each."""
    from scipy.sparse import csr_array

    ones = np.ones(table.n_answers, dtype=np.int64)
    votes = csr_array((ones, (table.item, table.answer)), shape=(table.n_items, table.k))
    votes = votes[np.flatnonzero(np.diff(votes.indptr))]
    base = int(votes.data.max()) + 1
    if table.k * math.log2(base) < 62:  # a row of votes is one number
        code = votes @ (base ** np.arange(table.k, dtype=np.int64))
        _, rows, times = np.unique(code, return_index=True, return_counts=True)
        votes = votes[rows]
    else:
        times = np.ones(votes.shape[0], dtype=np.int64)
    votes.sort_indices()
    return votes, times


@dataclass(frozen=True, slots=True)
class Sums:
    """What each row of votes adds to the sums that every coefficient is a function of.

    Columns of ``terms``: answered (1); pairable (two answers or more); share of pairs of answers that differ; shares
    of the classes (K); answers of pairable items (K); the disagreement of alpha: one column, or on an ordinal scale,
    where it depends on the sums themselves, the coincidences of each pair of classes (``one``, ``other``).
    """

    terms: Any
    scale: Scale
    values: Floats
    apart: Floats | None
    one: NDArray[np.int64]
    other: NDArray[np.int64]

    @classmethod
    def of(cls, votes: Any, scale: Scale, values: Floats) -> "Sums":
        """Count once what each row adds."""
        from scipy.sparse import csr_array, dia_array, hstack

        answers = np.asarray(votes.sum(axis=1), dtype=np.float64)
        pairable = answers >= 2
        others = np.where(pairable, answers - 1, 1.0)
        unlike = (answers**2 - np.asarray((votes * votes).sum(axis=1))) / others
        apart, none = None, np.empty(0, dtype=np.int64)
        one = other = none
        if scale == "nominal":
            disagreement = csr_array(unlike[:, None])
        else:
            row, one, other, coincidences = _coincidences(votes, others)
            if scale == "ordinal":
                codes, column = np.unique(one * values.size + other, return_inverse=True)
                one, other = codes // values.size, codes % values.size
                disagreement = csr_array((coincidences, (row, column)), shape=(answers.size, codes.size))
            else:
                apart = _squared_distances(values, scale)
                weights = coincidences * apart[one, other]
                disagreement = csr_array(np.bincount(row, weights, minlength=answers.size)[:, None])
                one = other = none
        head = np.stack([np.ones(answers.size), pairable, np.where(pairable, unlike / answers, 0.0)], axis=1)
        square = (answers.size, answers.size)
        terms = hstack(
            [
                csr_array(head),
                dia_array((1 / answers, 0), shape=square) @ votes,
                dia_array((pairable.astype(np.float64), 0), shape=square) @ votes,
                disagreement,
            ],
            format="csr",
        )
        return cls(terms, scale, values, apart, one, other)

    def weighted(self, weights: Floats) -> Floats:
        """Return the sums for rows that come ``weights`` times, (n_resamples, n_rows) to (n_resamples, n_columns)."""
        return np.ascontiguousarray((self.terms.T @ weights.T).T)

    def coefficients(self, total: Floats) -> Floats:
        """Return raw agreement, Fleiss' kappa and Krippendorff's alpha of sums, shape (n_resamples, 3)."""
        k = self.values.size
        answered, pairable, unlike = total[:, :3].T
        shares, margins, rest = total[:, 3 : 3 + k], total[:, 3 + k : 3 + 2 * k], total[:, 3 + 2 * k :]
        n = margins.sum(axis=1)
        observed = rest.sum(axis=1)
        if self.scale == "nominal":
            expected = n**2 - (margins**2).sum(axis=1)
        elif self.scale == "ratio" and self.apart is not None:
            expected = ((margins @ self.apart) * margins).sum(axis=1)
        else:
            # Krippendorff's ordinal distance is the squared difference of mean ranks.
            ranked = self.scale == "ordinal"
            place = np.cumsum(margins, axis=1) - margins / 2 if ranked else np.broadcast_to(self.values, margins.shape)
            if ranked:
                observed = (rest * (place[:, self.one] - place[:, self.other]) ** 2).sum(axis=1)
            centre = (margins * place).sum(axis=1, keepdims=True) / np.maximum(n, 1)[:, None]
            expected = 2 * n * (margins * (place - centre) ** 2).sum(axis=1)
        expected = np.where((margins > 0).sum(axis=1) > 1, expected, 0.0)  # not rounding, where there is one class
        with np.errstate(invalid="ignore", divide="ignore"):
            share = shares / answered[:, None]
            disagreement = unlike / pairable
            chance = (share * (1 - share)).sum(axis=1)
            fleiss = np.where((shares > _NOTHING).sum(axis=1) > 1, 1 - disagreement / chance, np.nan)
            alpha = np.where(expected > 0, 1 - (n - 1) * observed / expected, np.nan)
        return np.stack([1 - disagreement, fleiss, alpha], axis=1)


def _coincidences(votes: Any, others: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return row, two different classes and 2 v_c v_d / (m - 1), for each two classes answered about one item."""
    sizes = np.diff(votes.indptr)
    parts = [(np.empty(0, np.int64),) * 3 + (np.empty(0),)]
    for size in np.unique(sizes[sizes >= 2]):
        rows = np.flatnonzero(sizes == size)
        places = votes.indptr[rows][:, None] + np.arange(size)
        names, counts = votes.indices[places].astype(np.int64), votes.data[places]
        left, right = np.triu_indices(size, 1)
        joint = 2 * counts[:, left] * counts[:, right] / others[rows][:, None]
        parts.append((np.repeat(rows, left.size), names[:, left].ravel(), names[:, right].ravel(), joint.ravel()))
    row, one, other, joint = (np.concatenate(part) for part in zip(*parts, strict=True))
    return row, one, other, joint


def _squared_distances(values: Floats, scale: Scale) -> Floats:
    difference = values[:, None] - values
    if scale == "ratio":
        both = values[:, None] + values
        difference = difference / np.where(both > 0, both, 1.0)
    return np.asarray(difference**2)


def _weights(times: NDArray[np.int64], n_resamples: int, seed: int, at_once: int) -> Iterator[Floats]:
    """Yield how often each row of votes comes, for some resamples of the items at a time."""
    n = int(times.sum())
    owner = np.repeat(np.arange(times.size), times)
    rng = rng_for(seed, "agreement", "items")
    for start in range(0, n_resamples, at_once):
        size = min(at_once, n_resamples - start)
        if times.size * _ITEMS_PER_ROW <= n:
            yield rng.multinomial(n, times / n, size=size).astype(np.float64)
        else:
            drawn = (np.bincount(owner[rng.integers(n, size=n)], minlength=times.size) for _ in range(size))
            yield np.stack(list(drawn)).astype(np.float64)


def resampled_intervals(
    sums: Sums, times: NDArray[np.int64], found: Mapping[str, float], level: float, n_resamples: int, seed: int
) -> tuple[dict[str, Interval], int]:
    """Return BCa intervals (Efron 1987) over resampled items, and in how many resamples a coefficient was undefined.

    Plain percentiles would sit too low: resamples have smaller kappas than the items that they come from, on average.
    """
    from scipy.special import ndtr, ndtri

    if n_resamples == 0 or times.sum() < 2:
        return {}, 0
    at_once = max(1, _AT_ONCE // max(sums.terms.shape))
    drawn = np.concatenate(
        [sums.coefficients(sums.weighted(part)) for part in _weights(times, n_resamples, seed, at_once)]
    )
    skewness = _accelerations(sums, times, at_once)
    edges = ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    intervals = {}
    undefined = np.zeros(n_resamples, dtype=bool)
    for name, values, acceleration in zip(COEFFICIENTS, drawn.T, skewness, strict=True):
        value = found[name]
        known = values[np.isfinite(values)]
        if not known.size or not math.isfinite(value):
            continue
        undefined |= ~np.isfinite(values)
        # Resamples equal to the value, to rounding, count half on each side.
        near = np.abs(known - value) <= 1e-12
        below = (np.count_nonzero((known < value) & ~near) + np.count_nonzero(near) / 2) / known.size
        shift = ndtri(np.clip(below, 0.5 / known.size, 1 - 0.5 / known.size))
        moved = shift + (shift + edges) / np.maximum(1 - acceleration * (shift + edges), 1e-3)
        low, high = (float(edge) for edge in np.quantile(known, ndtr(moved)))
        method = f"BCa, {n_resamples} resamples of the items, seed {seed}"
        intervals[name] = Interval(low=low, high=high, level=level, method=method)
    return intervals, int(undefined.sum())


def _accelerations(sums: Sums, times: NDArray[np.int64], at_once: int) -> Floats:
    """Return how skewed each coefficient is, from leaving out one item at a time (a row of votes stands for many)."""
    total = sums.weighted(times[None, :].astype(np.float64))
    parts = [
        sums.coefficients(total - sums.terms[start : start + at_once].toarray())
        for start in range(0, times.size, at_once)
    ]
    without = np.concatenate(parts)
    counts = np.where(np.isfinite(without), times[:, None], 0)
    without = np.where(counts > 0, without, 0.0)
    gap = (counts * without).sum(axis=0) / np.maximum(counts.sum(axis=0), 1) - without
    second, third = (counts * gap**2).sum(axis=0), (counts * gap**3).sum(axis=0)
    found: Floats = np.divide(third, 6 * second**1.5, out=np.zeros(third.size), where=second > 1e-24)
    return found


# Agreement of single annotators: Cohen's kappa of each pair, and each against the majority of the others --------------


@dataclass(frozen=True, slots=True)
class FirstAnswers:
    """At most one answer per item and annotator, sorted by item."""

    item: NDArray[np.int64]
    annotator: NDArray[np.int64]
    answer: NDArray[np.int64]
    table: Annotations


def first_answers(table: Annotations) -> FirstAnswers:
    """Keep the first answer, in the order that came, of each annotator about each item."""
    pairs = table.item.astype(np.int64) * table.n_annotators + table.annotator
    rows = np.unique(pairs, return_index=True)[1]
    item, annotator, answer = (column[rows].astype(np.int64) for column in (table.item, table.annotator, table.answer))
    return FirstAnswers(item, annotator, answer, table)


def cohen_kappas(
    first: FirstAnswers, values: Floats, scale: Scale
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return both annotators, number of shared items and kappa of each pair who share items.

    With n shared items and classes c, d at distance w_cd: kappa = 1 - n sum_i w / sum_cd w_cd n_c m_d, where n_c and
    m_d count the answers of each about the shared items. All of them are entries of products of sparse indicators.
    """
    from scipy.sparse import csr_array

    table, k = first.table, first.table.k
    shape = (table.n_annotators, table.n_items)

    def indicator(rows: Any, entries: Floats) -> Any:
        return csr_array((entries, (first.annotator[rows], first.item[rows])), shape=shape)

    said = indicator(slice(None), np.ones(first.item.size))
    together = (said @ said.T).tocoo()
    upper = together.row < together.col
    one, other = together.row[upper].astype(np.int64), together.col[upper].astype(np.int64)
    keys = one * table.n_annotators + other
    order = np.argsort(keys)
    one, other, keys, n = one[order], other[order], keys[order], together.data[upper][order]

    def add(product: Any, target: Floats) -> Floats:
        """Add the entries (one, other) of a product; those of no pair stay out."""
        found = product.tocoo()
        kept = found.row < found.col
        codes = found.row[kept].astype(np.int64) * table.n_annotators + found.col[kept]
        target[np.searchsorted(keys, codes)] += found.data[kept]
        return target

    def at_pairs(product: Any) -> Floats:
        return add(product, np.zeros(keys.size))

    by_class = np.split(np.argsort(first.answer, kind="stable"), np.cumsum(np.bincount(first.answer, minlength=k))[:-1])
    same, alike = np.zeros(keys.size), np.zeros(keys.size)
    observed, expected = np.zeros(keys.size), np.zeros(keys.size)
    above, sums, squares = np.zeros((2, keys.size)), np.zeros((2, keys.size)), np.zeros((2, keys.size))
    higher = None
    centred = values - values[first.answer].mean()
    for c in reversed(range(k)):
        answers = indicator(by_class[c], np.ones(by_class[c].size))
        met = (answers @ said.T).tocsr()  # how often one said c about an item that the other answered
        add(met * met.T, alike)
        if scale == "nominal":
            add(answers @ answers.T, same)
            continue
        counts = np.stack([at_pairs(met), at_pairs(met.T)])
        if scale == "ordinal":
            # |c - d| counts the thresholds between two classes: each is a kappa of two classes.
            higher = answers if higher is None else higher + answers
            above += counts
            if c:
                observed += above[0] + above[1] - 2 * at_pairs(higher @ higher.T)
                expected += n * (above[0] + above[1]) - 2 * above[0] * above[1]
        else:
            sums += centred[c] * counts
            squares += centred[c] ** 2 * counts
    if scale == "nominal":
        observed, expected = n - same, n**2 - alike
    elif scale in ("interval", "ratio"):
        scored = indicator(slice(None), centred[first.answer])
        observed = squares[0] + squares[1] - 2 * at_pairs(scored @ scored.T)
        expected = n * (squares[0] + squares[1]) - 2 * sums[0] * sums[1]
    defined = alike < n**2  # counts: exact. Otherwise both gave one and the same class only
    kappa = np.full(keys.size, np.nan)
    kappa[defined] = 1 - n[defined] * observed[defined] / expected[defined]
    return one, other, n.astype(np.int64), kappa


def with_rest(first: FirstAnswers) -> tuple[Floats, NDArray[np.int64]]:
    """Return in how many answers each annotator says what most of the others say, and of how many.

    Where the others are tied, saying one of t classes counts 1 / t.
    """
    from scipy.sparse import csr_array

    table = first.table
    votes = csr_array((np.ones(first.item.size), (first.item, first.answer)), shape=(table.n_items, table.k))
    votes = votes[np.unique(first.item)]
    starts = votes.indptr[:-1]
    item = np.unique(first.item, return_inverse=True)[1]
    own = np.asarray(votes[item, first.answer]).ravel()
    most = np.maximum.reduceat(votes.data, starts)
    at_most = np.add.reduceat((votes.data == np.repeat(most, np.diff(votes.indptr))).astype(float), starts)
    next_to = np.add.reduceat((votes.data == np.repeat(most - 1, np.diff(votes.indptr))).astype(float), starts)
    others = np.asarray(votes.sum(axis=1))[item] > 1
    # Without this answer, its class can lead only if it led alone: then it still leads, tied with those one behind.
    leads = (own == most[item]) & (at_most[item] == 1) & (own > 1) & others
    right = np.bincount(first.annotator, np.where(leads, 1 / (1 + next_to[item]), 0.0), minlength=table.n_annotators)
    return np.asarray(right, dtype=np.float64), np.bincount(
        first.annotator, others, minlength=table.n_annotators
    ).astype(np.int64)
