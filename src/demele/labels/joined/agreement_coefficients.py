"""How far several annotators agree: raw agreement, Cohen's and Fleiss' kappa, Krippendorff's alpha, with intervals.

Every coefficient of all annotators is a function of sums over items, so a resample of the items only weights the same
sums: nothing is counted again.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_count, checked_level
from demele.core.errors import InputError, NotEnoughData
from demele.core.labelled import plain_text, shown
from demele.core.names import checked_name
from demele.core.result import Result
from demele.core.results import Interval, Note
from demele.core.sentences import setting
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.labels.documents import agreement_document
from demele.labels.joined.agreement_sums import (
    COEFFICIENTS,
    FirstAnswers,
    Scale,
    Sums,
    cohen_kappas,
    first_answers,
    resampled_intervals,
    vote_rows,
    with_rest,
)
from demele.labels.joined.annotations import Annotations, read_annotations

if TYPE_CHECKING:
    import pandas as pd


Floats = NDArray[np.float64]

#: From this share of the most frequent class, and this far from raw agreement to kappa, kappa says little.
_SKEWED, _FAR = 0.8, 0.3
#: With fewer items than this that have an answer not of the most frequent class, intervals cover too little.
_FEW_ITEMS = 20
_WARNINGS = ("kappa-undefined", "alphabetical-scale", "undefined-resamples", "few-items")
#: Tables of more pairs of annotators would be most of a file: 2000 annotators of the same items have 2 million pairs.
MOST_PAIRS_WRITTEN = 200_000


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
        A row per pair of annotators who share an item: ``first``, ``second``, ``shared`` (items), ``kappa``;
        :meth:`cohen_matrix` and :meth:`shared_matrix` are the same as squares.
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

    def cohen_matrix(self) -> "pd.DataFrame":
        """Return Cohen's kappa, annotator x annotator; NaN where undefined, without shared items or on the diagonal."""
        return self._square("kappa", math.nan)

    def shared_matrix(self) -> "pd.DataFrame":
        """Return the number of items that both answered, annotator x annotator; 0 on the diagonal."""
        return self._square("shared", 0)

    def to_frame(self) -> "pd.DataFrame":
        """One row per coefficient: ``coefficient``, ``value``, ``low``, ``high`` (NaN without an interval)."""
        import pandas as pd

        rows = []
        for name in ("raw", "cohen", "fleiss", "krippendorff"):
            found = self.intervals.get(name)
            low, high = (math.nan, math.nan) if found is None else (found.low, found.high)
            rows.append({"coefficient": name, "value": getattr(self, name), "low": low, "high": high})
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None); of many pairs of annotators no table."""
        data = super(Agreement, self).to_dict()
        return data if len(self.pairs) <= MOST_PAIRS_WRITTEN else {**data, "pairs": None}

    document = agreement_document

    def _square(self, column: str, empty: float) -> "pd.DataFrame":
        import pandas as pd

        names = self.per_annotator.index
        square = np.full((len(names), len(names)), empty)
        first, second = (names.get_indexer(pd.Index(self.pairs[name])) for name in ("first", "second"))
        square[first, second] = square[second, first] = self.pairs[column].to_numpy()
        return pd.DataFrame(square, index=names, columns=names)


def agreement(
    annotations: object,
    *,
    scale: Scale = "nominal",
    level: float = 0.95,
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
    >>> found = agreement({"ann": [0, 0, 1, 1, 2, 2], "bob": [0, 0, 1, 2, 2, None], "eve": [0, 1, 1, 1, 2, 2]}, seed=1)
    >>> round(found.raw, 4), round(found.fleiss, 4), round(found.krippendorff, 4)
    (0.7778, 0.6636, 0.6667)
    >>> float(found.cohen_matrix().round(2).loc["ann", "bob"])
    0.71
    """
    table = read_annotations(annotations, classes=classes, no_answer=no_answer)
    checked_name(scale, "scale", get_args(Scale))
    checked_level(level)
    for name, number in (("n_resamples", n_resamples), ("seed", seed)):
        checked_count(number, name, 0)
    least = math.ceil(2 / (1 - float(level)) - 1e-9)
    if 0 < n_resamples < least:
        raise InputError("n_resamples", f"expected 0, or at least {least} for level {level}, got {n_resamples}")
    values = _values(table.classes, scale)
    if table.n_annotators < 2:
        raise NotEnoughData("annotations", "expected answers of at least 2 annotators, got those of 1")
    first = first_answers(table)
    if int(np.bincount(first.item, minlength=1).max()) < 2:
        raise NotEnoughData(
            "annotations",
            f"expected an item with answers of 2 annotators, got {table.n_answers} answers about "
            f"{np.unique(table.item).size} items, of one annotator each",
        )
    votes, times = vote_rows(table)
    sums = Sums.of(votes, scale, values)
    total = sums.weighted(times[None, :].astype(np.float64))
    found = dict(zip(COEFFICIENTS, (float(value) for value in sums.coefficients(total)[0]), strict=True))
    intervals, lost = resampled_intervals(sums, times, found, level, n_resamples, seed)
    per_class = _per_class(table, votes, times, total[0])
    pairs, per_annotator = _pairwise(first, values, scale)
    per_annotator.insert(0, "answers", np.bincount(table.annotator, minlength=table.n_annotators))
    known = pairs["kappa"].notna()
    shared = pairs["shared"][known]
    arguments: dict[str, object] = {"scale": scale, "level": level, "n_resamples": n_resamples, "seed": seed}
    if classes is not None:
        arguments["classes"] = list(table.classes)
    result = Agreement(
        **found,
        cohen=float((pairs["kappa"][known] * shared).sum() / shared.sum()) if known.any() else math.nan,
        pairs=pairs,
        per_class=per_class,
        per_annotator=per_annotator,
        intervals=intervals,
        scale=scale,
        n_items=int(total[0, 1]),
        n_annotators=table.n_annotators,
        n_answers=table.n_answers,
        notes=table.remarks(),
        signature=Signature("agreement", arguments, {"n": str(table.n_answers), "demele": __version__}),
    )
    notes = _notes(result, table, votes, times, lost, ordered=classes is not None)
    return replace(result, notes=(*result.notes, *notes))


def _values(classes: tuple[int | str, ...], scale: Scale) -> Floats:
    """Return the classes as numbers: positions, or what they say on an interval or ratio scale."""
    if scale in ("nominal", "ordinal"):
        return np.arange(len(classes), dtype=np.float64)
    try:
        values = np.array([float(name) for name in classes])
    except ValueError:
        values = np.full(1, np.nan)
    if not np.isfinite(values).all():
        raise InputError(
            "classes",
            f"expected numbers on a scale of kind {scale!r}, got {shown(classes)}; write numbers for the "
            f"classes, or use {setting(scale='ordinal')} with {setting(classes=[...])} in their order",
        )
    if scale == "ratio" and values.min() < 0:
        raise InputError("classes", f"expected no negative number on a ratio scale, got {shown(classes)}")
    return values


def _per_class(table: Annotations, votes: Any, times: NDArray[np.int64], total: Floats) -> "pd.DataFrame":
    import pandas as pd

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


def _pairwise(first: FirstAnswers, values: Floats, scale: Scale) -> tuple["pd.DataFrame", "pd.DataFrame"]:
    """Cohen's kappa of the pairs of annotators who share items, and how each annotator agrees with the others."""
    import pandas as pd

    names = first.table.annotators
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


def _notes(
    result: Agreement, table: Annotations, votes: Any, times: NDArray[np.int64], lost: int, *, ordered: bool
) -> tuple[Note, ...]:
    """Return the notes of the cases that are there; ``lost`` resamples were undefined."""
    answers = np.asarray(votes.sum(axis=1))
    single, most = int(times[answers == 1].sum()), float(result.per_class["share"].max())
    named = table.k > 2 and isinstance(table.classes[0], str) and not ordered
    n_pairs, undefined = len(result.pairs), int(result.pairs["kappa"].isna().sum())
    # Items with two answers or more, not all of the most frequent class.
    frequent = votes[:, [int(result.per_class["share"].to_numpy().argmax())]].toarray().ravel()
    varied = int(times[(answers >= 2) & (frequent < answers)].sum())
    n_resamples = cast("int", result.signature.arguments["n_resamples"])
    cases = (
        (
            "first-of-repeated",
            table.n_repeats > 0,
            "Cohen's kappa and the agreement with the rest use the first answer of an annotator about an item.",
        ),
        (
            "single-answers",
            single > 0,
            f"{single} of {times.sum()} answered items have one answer: they count only in shares of Fleiss' kappa.",
        ),
        (
            "unequal-answers",
            np.unique(answers).size > 1,
            f"Items have from {answers.min()} to {answers.max()} answers: Fleiss' kappa is its generalisation (Gwet "
            "2014); Krippendorff's alpha is made for this.",
        ),
        (
            "kappa-undefined",
            math.isnan(result.fleiss) or math.isnan(result.krippendorff),
            "The answers that count are all of one class: chance would agree as well, and kappa or alpha is undefined.",
        ),
        (
            "kappa-paradox",
            most >= _SKEWED and result.raw - result.fleiss >= _FAR,
            f"Raw agreement is {result.raw:.3f} but Fleiss' kappa {result.fleiss:.3f}: {most:.1%} of the answers "
            f"are {plain_text(result.per_class['share'].idxmax())}, so that chance agrees often (the kappa "
            "paradox, Feinstein & Cicchetti 1990); read the agreement and kappa of each class.",
        ),
        (
            "alphabetical-scale",
            result.scale == "ordinal" and named and list(table.classes) == sorted(map(str, table.classes)),
            f"The classes are in alphabetical order, {shown(table.classes)}: if that is not their order on the scale, "
            f"give {setting(classes=[...])}.",
        ),
        (
            "many-pairs",
            n_pairs > MOST_PAIRS_WRITTEN,
            f"{n_pairs:,} pairs of annotators share items: to_dict and to_json leave out their table; the "
            "attribute pairs has it",
        ),
        (
            "cohen-undefined",
            undefined > 0,
            f"Cohen's kappa of {undefined} of {n_pairs} pairs is undefined: on the items they share, both gave one "
            "and the same class only. The mean leaves them out.",
        ),
        (
            "undefined-resamples",
            n_resamples > 0 and lost > 0,
            f"In {lost} of {n_resamples} resamples a coefficient is undefined; its interval leaves them out.",
        ),
        (
            "few-items",
            n_resamples > 0 and varied < _FEW_ITEMS,
            f"Only {varied} items with two answers or more have one that is not of the most frequent class: the "
            "intervals are narrower than their level says.",
        ),
    )
    return tuple(
        Note(code=code, message=text, severity="warning" if code in _WARNINGS else "info")
        for code, there, text in cases
        if there
    )
