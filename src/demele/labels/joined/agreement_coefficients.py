"""How far several annotators agree: raw agreement, Cohen's and Fleiss' kappa, Krippendorff's alpha, with intervals.

Every coefficient of all annotators is a function of sums over items, so a resample of the items only weights the same
sums: nothing is counted again.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from demele.core.arrays import Counts, Floats, pd, rng_for
from demele.core.errors import InputError, NotEnoughData, quoted
from demele.core.kinds import Level, checked, checked_count
from demele.core.labelled import shown
from demele.core.result import Interval, Note, Result, about
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.labels.joined.annotations import Annotations, read_annotations
from demele.report.document import Document, Section, Table
from demele.report.listing import drawn, table_of_frame
from demele.report.words import count, ends, written

Scale = Literal["nominal", "ordinal", "interval", "ratio"]

#: In the order of the columns of coefficients that :func:`sums_of` leads to.
COEFFICIENTS = ("raw", "fleiss", "krippendorff")
#: Numbers held at a time while the items are resampled.
_AT_ONCE = 4_000_000
#: With so many items per distinct row of votes, drawing how often each row comes is faster than drawing items.
_ITEMS_PER_ROW = 8
#: Sums of shares smaller than this are rounding: the smallest share is 1 / (answers about an item).
_NOTHING = 1e-9


def vote_rows(table: Annotations) -> tuple[Any, Counts]:
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


Coefficients = Callable[[Floats], Floats]


def sums_of(votes: Any, scale: Scale, values: Floats) -> tuple[Any, Coefficients]:
    """Return what each row of votes adds to the sums that every coefficient is a function of, and this function.

    Columns of the first: answered (1); pairable (two answers or more); share of pairs of answers that differ; shares
    of the classes (K); answers of pairable items (K); the disagreement of alpha: one column, or on an ordinal scale,
    where it depends on the sums themselves, the coincidences of each two classes. The function returns raw agreement,
    Fleiss' kappa and Krippendorff's alpha, (n_resamples, n_columns) to (n_resamples, 3).
    """
    from scipy.sparse import csr_array, dia_array, hstack

    k = values.size
    answers = np.asarray(votes.sum(axis=1), dtype=np.float64)
    pairable = answers >= 2
    others = np.where(pairable, answers - 1, 1.0)
    unlike = (answers**2 - np.asarray((votes * votes).sum(axis=1))) / others
    row, one, other, coincidences = _coincidences(votes, others)
    apart = values[:, None] - values
    if scale == "ratio":
        both = values[:, None] + values
        apart = apart / np.where(both > 0, both, 1.0)
    apart **= 2
    if scale == "ordinal":
        codes, column = np.unique(one * k + other, return_inverse=True)
        one, other = codes // k, codes % k
        disagreement = csr_array((coincidences, (row, column)), shape=(answers.size, codes.size))
    else:
        by_row = np.bincount(row, coincidences * apart[one, other], minlength=answers.size)
        disagreement = csr_array((unlike if scale == "nominal" else by_row)[:, None])
    head = np.stack([np.ones(answers.size), pairable, np.where(pairable, unlike / answers, 0.0)], axis=1)
    by_class = [
        dia_array((each, 0), shape=(answers.size,) * 2) @ votes for each in (1 / answers, pairable.astype(float))
    ]
    terms = hstack([csr_array(head), *by_class, disagreement], format="csr")

    def coefficients(total: Floats) -> Floats:
        answered, pairable, unlike = total[:, :3].T
        shares, margins, rest = total[:, 3 : 3 + k], total[:, 3 + k : 3 + 2 * k], total[:, 3 + 2 * k :]
        n, observed = margins.sum(axis=1), rest.sum(axis=1)
        if scale == "nominal":
            expected = n**2 - (margins**2).sum(axis=1)
        elif scale == "ordinal":  # the distance of two classes is that of their mean ranks
            rank = np.cumsum(margins, axis=1) - margins / 2
            observed = (rest * (rank[:, one] - rank[:, other]) ** 2).sum(axis=1)
            centre = (margins * rank).sum(axis=1, keepdims=True) / np.maximum(n, 1)[:, None]
            expected = 2 * n * (margins * (rank - centre) ** 2).sum(axis=1)
        else:
            expected = ((margins @ apart) * margins).sum(axis=1)
        expected = np.where((margins > 0).sum(axis=1) > 1, expected, 0.0)  # not rounding, where there is one class
        with np.errstate(invalid="ignore", divide="ignore"):
            share, disagreement = shares / answered[:, None], unlike / pairable
            chance = (share * (1 - share)).sum(axis=1)
            fleiss = np.where((shares > _NOTHING).sum(axis=1) > 1, 1 - disagreement / chance, np.nan)
            alpha = np.where(expected > 0, 1 - (n - 1) * observed / expected, np.nan)
        return np.stack([1 - disagreement, fleiss, alpha], axis=1)

    return terms, coefficients


def weighted_sums(terms: Any, weights: Floats) -> Floats:
    """Return the sums for rows that come ``weights`` times, (n_resamples, n_rows) to (n_resamples, n_columns)."""
    return np.ascontiguousarray((terms.T @ weights.T).T)


def _coincidences(votes: Any, others: Floats) -> tuple[Counts, Counts, Counts, Floats]:
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


def _weights(times: Counts, n_resamples: int, seed: int, at_once: int) -> Iterator[Floats]:
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
    terms: Any, coefficients: Coefficients, times: Counts, level: float, n_resamples: int, seed: int
) -> tuple[dict[str, Interval], int]:
    """Return BCa intervals (Efron 1987) over resampled items, and in how many resamples a coefficient was undefined.

    Plain percentiles would sit too low: resamples have smaller kappas than the items that they come from, on average.
    """
    from scipy.special import ndtr, ndtri

    if n_resamples == 0 or times.sum() < 2:
        return {}, 0
    at_once = max(1, _AT_ONCE // max(terms.shape))
    drawn = np.concatenate(
        [coefficients(weighted_sums(terms, part)) for part in _weights(times, n_resamples, seed, at_once)]
    )
    # How skewed each coefficient is, from leaving out one item at a time (a row of votes stands for many)
    total = weighted_sums(terms, times[None, :].astype(np.float64))
    starts = range(0, times.size, at_once)
    without = np.concatenate([coefficients(total - terms[start : start + at_once].toarray()) for start in starts])
    counts = np.where(np.isfinite(without), times[:, None], 0)
    without = np.where(counts > 0, without, 0.0)
    gap = (counts * without).sum(axis=0) / np.maximum(counts.sum(axis=0), 1) - without
    second, third = (counts * gap**2).sum(axis=0), (counts * gap**3).sum(axis=0)
    skewness = np.divide(third, 6 * second**1.5, out=np.zeros(third.size), where=second > 1e-24)
    edges = ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    intervals = {}
    undefined = np.zeros(n_resamples, dtype=bool)
    for name, value, values, acceleration in zip(COEFFICIENTS, coefficients(total)[0], drawn.T, skewness, strict=True):
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


# Agreement of single annotators: Cohen's kappa of each pair, and each against the majority of the others --------------


def cohen_kappas(first: Annotations, values: Floats, scale: Scale) -> tuple[Counts, Counts, Counts, Floats]:
    """Return both annotators, number of shared items and kappa of each pair who share items.

    With n shared items and classes c, d at distance w_cd: kappa = 1 - n sum_i w / sum_cd w_cd n_c m_d, where n_c and
    m_d count the answers of each about the shared items. A distance is a sum of squared differences of numbers of the
    classes (whether it is this class, whether it is above a threshold, its value), and so all of these sums are entries
    of products of sparse tables.
    """
    from scipy.sparse import csr_array, triu

    def table(numbers: Floats) -> Any:
        """Return the answers of annotators (rows) about items (columns) as numbers of the classes."""
        entries = numbers[first.answer]
        rows = np.flatnonzero(entries)
        places = (first.annotator[rows], first.item[rows])
        return csr_array((entries[rows], places), shape=(first.n_annotators, first.n_items))

    answered = table(np.ones(first.k))
    shared = answered @ answered.T
    pairs = triu(shared, 1).tocoo()
    order = np.lexsort((pairs.col, pairs.row))
    one, other, n = pairs.row[order], pairs.col[order], pairs.data[order]

    def distances(numbers_of_classes: Floats) -> Floats:
        """Return n times the sum of the distances, and what is expected of it, of each pair."""
        squares = table((numbers_of_classes**2).sum(axis=0)) @ answered.T
        both, same, crossed = squares + squares.T, csr_array(shared.shape), csr_array(shared.shape)
        for numbers in numbers_of_classes:
            own = table(numbers)
            sums = own @ answered.T
            same, crossed = same + own @ own.T, crossed + sums * sums.T
        observed, expected = (both - 2 * same).tocsr(), (shared * both - 2 * crossed).tocsr()
        return np.stack([n * np.ravel(observed[one, other]), np.ravel(expected[one, other])])

    each_class = np.eye(first.k)
    centred = values - values[first.answer].mean()
    chosen = {"nominal": each_class, "ordinal": np.triu(np.ones((first.k, first.k)))[1:]}.get(scale, centred[None, :])
    observed, expected = distances(chosen)
    # Counts are exact. Where nothing is expected, both gave one and the same class only.
    defined = (expected if scale in ("nominal", "ordinal") else distances(each_class)[1]) > 0
    kappa = np.full(n.size, np.nan)
    kappa[defined] = 1 - observed[defined] / expected[defined]
    return one.astype(np.int64), other.astype(np.int64), n.astype(np.int64), kappa


def with_rest(first: Annotations) -> tuple[Floats, Counts]:
    """Return in how many answers each annotator says what most of the others say, and of how many.

    Where the others are tied, saying one of t classes counts 1 / t.
    """
    votes = first.votes()
    most = votes.max(axis=1, keepdims=True)
    at_most, next_to = ((votes == value).sum(axis=1)[first.item] for value in (most, most - 1))
    own = votes[first.item, first.answer]
    # Without this answer, its class can lead only if it led alone: then it still leads, tied with those one behind.
    leads = (own == most[first.item, 0]) & (at_most == 1) & (own > 1)
    right = np.bincount(first.annotator, np.where(leads, 1 / (1 + next_to), 0.0), minlength=first.n_annotators)
    compared = np.bincount(first.annotator, votes.sum(axis=1)[first.item] > 1, minlength=first.n_annotators)
    return np.asarray(right, dtype=np.float64), compared.astype(np.int64)


# How far several annotators agree: raw agreement, Cohen's and Fleiss' kappa, Krippendorff's alpha, with intervals -----


#: From this share of the most frequent class, and this far from raw agreement to kappa, kappa says little.
_SKEWED, _FAR = 0.8, 0.3
#: With fewer items than this that have an answer not of the most frequent class, intervals cover too little.
_FEW_ITEMS = 20
_WARNINGS = ("kappa-undefined", "alphabetical-scale", "undefined-resamples", "few-items")
#: Tables of more pairs of annotators would be most of a file: 2000 annotators of the same items have 2 million pairs.
MOST_PAIRS_WRITTEN = 200_000


_COEFFICIENTS = {
    "raw": "Observed agreement",
    "cohen": "Cohen's kappa (mean)",
    "fleiss": "Fleiss' kappa",
    "krippendorff": "Krippendorff's alpha",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Agreement(Result):
    """Agreement of annotators on the same items.

    Attributes
    ----------
    raw : float
        Observed agreement, in [0, 1]: the share of pairs of answers about an item that are the same, as a plain mean
        over the items with two answers or more (Fleiss 1971). Krippendorff's observed agreement weighs items by
        their answers instead: the two are the same where all items have equally many.
    fleiss : float
        Fleiss' kappa; NaN if all answers are of one class.
    krippendorff : float
        Krippendorff's alpha on the ``scale``; NaN if all answers are of one class.
    cohen : float
        Mean of Cohen's kappa over pairs of annotators, weighted by their shared items; NaN if it is defined for none.
    pairs : DataFrame
        A row per pair of annotators who share an item: ``first``, ``second``, ``shared`` (items), ``kappa``.
    per_class : DataFrame
        Row per class: ``answers``, ``share`` (of answers, with equal weight for each item), ``agreement`` (probability
        that another answer about the item of an answer of this class is of this class, too), ``kappa`` (Fleiss' kappa
        of this class against all others).
    per_annotator : DataFrame
        Row per annotator: ``answers``, ``cohen`` (mean kappa with the others, weighted by shared items),
        ``with_rest`` (share of the answers that are what most of the others say; of t tied classes, each is right by
        1/t), ``compared`` (number of answers that this is the share of).
    intervals : mapping of str to Interval
        Of ``raw``, ``fleiss`` and ``krippendorff``, where defined.
    scale : str
    n_items, n_annotators, n_answers : int
        Items with two answers or more; annotators; all answers.
    notes : tuple of Note
        What is undefined, what was chosen, and what a reader must know.
    """

    _kind = "annotator agreement"

    raw: float
    cohen: float
    fleiss: float
    krippendorff: float
    pairs: "pd.DataFrame"
    per_class: "pd.DataFrame"
    per_annotator: "pd.DataFrame"
    intervals: Mapping[str, Interval]
    scale: Scale
    n_items: int
    n_annotators: int
    n_answers: int
    notes: tuple[Note, ...]
    signature: Signature

    def to_frame(self) -> "pd.DataFrame":
        """One row per coefficient: ``coefficient``, ``value``, ``low``, ``high`` (NaN without an interval)."""
        frame = pd.DataFrame({"coefficient": list(_COEFFICIENTS)})
        frame["value"] = [getattr(self, name) for name in _COEFFICIENTS]
        for end in ("low", "high"):
            frame[end] = [getattr(self.intervals.get(name), end, math.nan) for name in _COEFFICIENTS]
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None); of many pairs of annotators no table."""
        data = super(Agreement, self).to_dict()
        return data if len(self.pairs) <= MOST_PAIRS_WRITTEN else {**data, "pairs": None}

    def document(self) -> Document:
        """Say how far annotators agree, by coefficient, class and annotator."""
        rows = [(title, getattr(self, key), ends(self.intervals.get(key))) for key, title in _COEFFICIENTS.items()]
        table = Table("Agreement", {"Coefficient": "text", "Value": "number", "Interval": "number"}, rows)
        people, _ = table_of_frame("Annotators", self.per_annotator, {"with_rest": "percent"})
        shares = {"share": "percent", "agreement": "percent"}
        classes, _ = table_of_frame("Classes", self.per_class, shares)
        sizes = [count(self.n_annotators, "annotator"), count(self.n_items, "item")]
        alpha = "undefined" if math.isnan(self.krippendorff) else written(self.krippendorff)
        pairs = f"{written(self.raw, 'percent')} of the pairs of answers"
        return Document(
            kind="Agreement of annotators",
            headline=f"Annotators agree on {pairs}; Krippendorff's alpha is {alpha}.",
            figure=drawn(table, "Value", zero=0.0),
            table=table,
            scope=(*sizes, count(self.n_answers, "answer"), f"{self.scale} scale"),
            sections=[
                Section("Measures", [table]),
                Section("Classes", [classes]),
                Section("Annotators", [people]),
            ],
            methods=[
                f"Agreement of {sizes[0]} about {sizes[1]} was",
                "measured with demele [@demele]: observed agreement, Cohen's and Fleiss' kappa, and Krippendorff's",
                f"alpha on a {self.scale} scale.",
                *[f"Intervals: {one.method}." for one in list(self.intervals.values())[:1]],
            ],
            **about(self),
        )


@checked
def annotator_agreement(
    annotations: object,
    *,
    scale: Scale = "nominal",
    level: Level = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
    classes: Sequence[object] | None = None,
    no_answer: object = None,
) -> Agreement:
    """Measure the agreement of annotators, adjusted for chance.

    Parameters
    ----------
    annotations : Annotations, data frame or table
        Long or wide table of answers, as :class:`~demele.labels.Annotations` and its ``from_matrix`` read; answers may
        be missing.
    scale : {"nominal", "ordinal", "interval", "ratio"}
        How far two classes are apart, for Krippendorff's alpha: differ or not; squared number of answers between them
        in the order of the classes; squared difference; squared difference as a share of the sum. For interval and
        ratio scales, the classes must be numbers (whole numbers, or names such as "2.5"), not negative for a ratio.
        Cohen's kappa is unweighted on a nominal scale, weighted linearly by positions on an ordinal one, and by
        squared differences on an interval or ratio scale. Raw agreement and Fleiss' kappa know no scale.
    level : float in (0, 1)
        Nominal coverage of the intervals.
    n_resamples : int
        Resamples of the items for the intervals; 0 for none, otherwise at least 2 / (1 - level).
    seed : int >= 0
    classes : sequence, optional
        All classes in their order; by default the sorted answers. On an ordinal scale of named classes, give them.
    no_answer : int, str or float, optional
        Value that means "no answer", such as -1, in addition to NaN and None, in a table with a column or row per
        annotator.

    Returns
    -------
    Agreement
        With BCa intervals over resampled items (items that nobody answered are left out): what other items
        and the same annotators would have given.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
        For a table that cannot be read, an unknown scale, classes that are no numbers where the scale needs them.
    NotEnoughData
        If no item has answers of two annotators.

    Notes
    -----
    Fleiss' kappa (Fleiss 1971) asks for equally many answers per item; then this is it. Otherwise it is the
    generalisation of Gwet (2014, *Handbook of Inter-Rater Reliability*, section 2.3): agreement is the mean over items
    with two answers or more, and the share of a class the mean over answered items of its share of their answers; a
    note says so, and to read Krippendorff's alpha. Krippendorff's alpha (Krippendorff 2011, *Computing Krippendorff's
    alpha-reliability*) leaves out items with one answer. Cohen's kappa (Cohen 1960; weighted, 1968) of two annotators
    is that of the items both answered. Where an annotator answers about one item several times, Cohen's kappa and
    ``with_rest`` use the first answer that came, and the other coefficients all of them; a note says so.

    The intervals are BCa (Efron 1987, *Better bootstrap confidence intervals*): plain percentiles of kappa and
    alpha sit too low. Simulated with 4 annotators, 3 classes and a fifth of
    the answers missing, intervals of level 0.95 covered 0.92 to 0.96 with 20 to 150 items. Where one class has 90% of
    the answers they cover less until the other classes have met enough items: kappa and alpha 0.64 to 0.70 with 20
    items, 0.87 with 50, 0.94 with 150; a note says where that is so.

    Cost: the sum over items of the squared number of answers, for Cohen's kappa; resamples times distinct rows of
    votes, for the intervals.

    Examples
    --------
    >>> answers = {"ann": [0, 0, 1, 1, 2, 2], "bob": [0, 0, 1, 2, 2, None], "eve": [0, 1, 1, 1, 2, 2]}
    >>> found = annotator_agreement(answers, seed=1)
    >>> round(found.raw, 4), round(found.fleiss, 4), round(found.krippendorff, 4)
    (0.7778, 0.6636, 0.6667)
    >>> float(found.pairs["kappa"].round(2)[0])  # of ann and bob
    0.71
    """
    table = read_annotations(annotations, classes=classes, no_answer=no_answer)
    for name, number in (("n_resamples", n_resamples), ("seed", seed)):
        checked_count(number, name, 0)
    least = math.ceil(2 / (1 - float(level)) - 1e-9)
    if 0 < n_resamples < least:
        raise InputError("n_resamples", f"expected 0, or at least {least} for level {level}, got {n_resamples}")
    values = _values(table.classes, scale)
    if table.n_annotators < 2:
        raise NotEnoughData("annotations", "expected answers of at least 2 annotators, got those of 1")
    codes = table.item.astype(np.int64) * table.n_annotators + table.annotator
    first = table.rows(np.unique(codes, return_index=True)[1])  # the first answers, in the order that came
    if first.votes().sum(axis=1).max() < 2:
        got = f"{table.n_answers} answers about {np.unique(table.item).size} items, of one annotator each"
        raise NotEnoughData("annotations", f"expected an item with answers of 2 annotators, got {got}")
    votes, times = vote_rows(table)
    terms, coefficients = sums_of(votes, scale, values)
    total = weighted_sums(terms, times[None, :].astype(np.float64))
    raw, fleiss, krippendorff = map(float, coefficients(total)[0])
    intervals, lost = resampled_intervals(terms, coefficients, times, level, n_resamples, seed)
    per_class = _per_class(table, votes, times, total[0])
    pairs, per_annotator = _pairwise(first, values, scale)
    per_annotator.insert(0, "answers", np.bincount(table.annotator, minlength=table.n_annotators))
    known = pairs["kappa"].notna()
    shared = pairs["shared"][known]
    arguments: dict[str, object] = {"scale": scale, "level": level, "n_resamples": n_resamples, "seed": seed}
    if classes is not None:
        arguments["classes"] = list(table.classes)
    answers, most = np.asarray(votes.sum(axis=1)), float(per_class["share"].max())
    named = table.k > 2 and isinstance(table.classes[0], str) and classes is None
    n_pairs, undefined = len(pairs), int(pairs["kappa"].isna().sum())
    # Items with two answers or more, not all of the most frequent class.
    frequent = votes[:, [int(per_class["share"].to_numpy().argmax())]].toarray().ravel()
    varied = int(times[(answers >= 2) & (frequent < answers)].sum())
    notes: dict[str, str] = {}
    if table.n_repeats:
        first_only = "Cohen's kappa and the agreement with the rest use the first answer of an annotator about an item."
        notes["first-of-repeated"] = first_only
    if np.unique(answers).size > 1:
        message = f"Items have from {answers.min()} to {answers.max()} answers: Fleiss' kappa is its generalisation"
        notes["unequal-answers"] = f"{message} (Gwet 2014); Krippendorff's alpha is made for this."
    if math.isnan(fleiss) or math.isnan(krippendorff):
        message = "The answers that count are all of one class: chance would agree as well"
        notes["kappa-undefined"] = f"{message}, and kappa or alpha is undefined."
    if most >= _SKEWED and raw - fleiss >= _FAR:
        notes["kappa-paradox"] = (
            f"Raw agreement is {raw:.3f} but Fleiss' kappa {fleiss:.3f}: {most:.1%} of the answers are "
            f"{quoted(per_class['share'].idxmax())}, so that chance agrees often (the kappa paradox, Feinstein & "
            "Cicchetti 1990); read the agreement and kappa of each class."
        )
    if scale == "ordinal" and named and list(table.classes) == sorted(map(str, table.classes)):
        message = f"The classes are in alphabetical order, {shown(table.classes)}"
        notes["alphabetical-scale"] = f"{message}: if that is not their order on the scale, give `classes=[...]`."
    if n_pairs > MOST_PAIRS_WRITTEN:
        message = f"{n_pairs:,} pairs of annotators share items: to_dict and to_json leave out their table"
        notes["many-pairs"] = f"{message}; the attribute pairs has it"
    if undefined:
        message = f"Cohen's kappa of {undefined} of {n_pairs} pairs is undefined: on the items they share"
        notes["cohen-undefined"] = f"{message}, both gave one and the same class only. The mean leaves them out."
    if lost:
        message = f"In {lost} of {n_resamples} resamples a coefficient is undefined"
        notes["undefined-resamples"] = f"{message}; its interval leaves them out."
    if n_resamples and varied < _FEW_ITEMS:
        message = f"Only {varied} items with two answers or more have one that is not of the most frequent class"
        notes["few-items"] = f"{message}: the intervals are narrower than their level says."
    noted = [
        Note(code=code, message=text, severity="warning" if code in _WARNINGS else "info")
        for code, text in notes.items()
    ]
    return Agreement(
        raw=raw,
        fleiss=fleiss,
        krippendorff=krippendorff,
        cohen=float((pairs["kappa"][known] * shared).sum() / shared.sum()) if known.any() else math.nan,
        pairs=pairs,
        per_class=per_class,
        per_annotator=per_annotator,
        intervals=intervals,
        scale=scale,
        n_items=int(total[0, 1]),
        n_annotators=table.n_annotators,
        n_answers=table.n_answers,
        notes=(*table.remarks(), *noted),
        signature=Signature("agreement", arguments, {"n": str(table.n_answers), "demele": __version__}),
    )


def _values(classes: tuple[int | str, ...], scale: Scale) -> Floats:
    """Return the classes as numbers: positions, or what they say on an interval or ratio scale."""
    if scale in ("nominal", "ordinal"):
        return np.arange(len(classes), dtype=np.float64)
    try:
        values = np.array([float(name) for name in classes])
    except ValueError:
        values = np.full(1, np.nan)
    if not np.isfinite(values).all():
        remedy = "write numbers for the classes, or use `scale='ordinal'` with `classes=[...]` in their order"
        raise InputError("classes", f"expected numbers on a scale of kind {scale!r}, got {shown(classes)}", remedy)
    if scale == "ratio" and values.min() < 0:
        raise InputError("classes", f"expected no negative number on a ratio scale, got {shown(classes)}")
    return values


def _per_class(table: Annotations, votes: Any, times: Counts, total: Floats) -> "pd.DataFrame":

    k = table.k
    share = total[3 : 3 + k] / total[0]
    margins = total[3 + k : 3 + 2 * k]
    answers = np.asarray(votes.sum(axis=1), dtype=np.float64)
    pairable = answers >= 2
    each = np.where(pairable, times / np.where(pairable, answers - 1, 1.0), 0.0)
    same = (votes * votes - votes).T @ each
    # Over items, v (m - v) / m (m - 1) for v of m answers of the class: pairs of which one is of it.
    mixed = votes.T @ each - (votes * votes).T @ (each / answers)
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa = 1 - mixed / total[1] / (share * (1 - share))
    return pd.DataFrame(
        {
            "answers": np.bincount(table.answer, minlength=k),
            "share": share,
            "agreement": np.divide(same, margins, out=np.full(k, np.nan), where=margins > 0),
            "kappa": kappa,
        },
        index=pd.Index(table.classes, name="class"),
    )


def _pairwise(first: Annotations, values: Floats, scale: Scale) -> tuple["pd.DataFrame", "pd.DataFrame"]:
    """Cohen's kappa of the pairs of annotators who share items, and how each annotator agrees with the others."""
    names = first.annotators
    one, other, shared, kappa = cohen_kappas(first, values, scale)
    known = np.isfinite(kappa)
    who = np.concatenate([one[known], other[known]])
    weight = np.tile(shared[known], 2)
    summed = np.bincount(who, weight * np.tile(kappa[known], 2), minlength=len(names))
    weights = np.bincount(who, weight, minlength=len(names))
    right, compared = with_rest(first)
    with np.errstate(invalid="ignore", divide="ignore"):
        per_annotator = pd.DataFrame(
            {"cohen": summed / weights, "with_rest": right / compared, "compared": compared},
            index=pd.Index(names, name="annotator"),
        )
    named = pd.Index(names)
    pairs = pd.DataFrame({"first": named[one], "second": named[other], "shared": shared, "kappa": kappa})
    return pairs, per_annotator
