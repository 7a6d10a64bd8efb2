"""Agreement of single annotators: Cohen's kappa of each pair, and each against the majority of the others."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.labels.joined.agreement_sums import Scale
from demele.labels.joined.annotations import Annotations

Floats = NDArray[np.float64]


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
