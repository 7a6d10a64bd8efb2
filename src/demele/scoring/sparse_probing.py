"""Rows and classes for scores of dictionaries, and sparse probing: how well few codes predict a class (SAEBench)."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_count
from demele.core.errors import InputTypeError, quoted
from demele.core.inputs import Factor, Factors, Missing, check_pair, read_codes, read_factors, refuse_cyclic
from demele.core.kinds import FILE, Kinds
from demele.core.names import NEW_ARGUMENTS, checked_name, renamed
from demele.core.results import Chance, Note, Score
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.core.sparse_inputs import SparseCodes, read_sparse_codes
from demele.estimation.concept_probes import (
    Ranking,
    column_sums,
    correlations,
    differences,
    explained,
    largest,
    logistic_scores,
)
from demele.estimation.information import mean_of_defined

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
#: Share of the rows that probes are fitted on; the others are scored.
TRAINING = 0.8
#: Names of the class that only says that the other one is not there, in small letters.
ABSENT = frozenset({"false", "0", "0.0", "no"})
#: Fewest rows of a class, and of the rest, to fit on and to score.
FEWEST = 5


@dataclass(frozen=True, slots=True)
class Concept:
    """One class of a categorical factor, or a continuous factor as a whole (``level`` -1)."""

    factor: int
    level: int
    name: str


@dataclass(frozen=True, slots=True)
class ConceptRows:
    """Sparse codes, factors and a split of the rows.

    Attributes
    ----------
    codes : SparseCodes
    factors : Factors
    training : array of bool of shape (n_samples,)
        Rows to fit on.
    score_on : str
        ``"unseen"``: the other rows are scored; ``"training"``: the same.
    n_rows : int
        Rows that a probe is fitted on at most, and scored on: half of them of the class.
    seed : int
    """

    codes: SparseCodes
    factors: Factors
    training: NDArray[np.bool_]
    score_on: str
    n_rows: int
    seed: int
    kinds_given: bool

    @property
    def concepts(self) -> list[Concept]:
        """All classes of factors that vary, of two classes only the last; and continuous factors."""
        found = []
        for index, factor in enumerate(self.factors.columns):
            if factor.constant:
                continue
            if not factor.categorical:
                found.append(Concept(index, -1, factor.name))
                continue
            first = 1 if len(factor.levels) == 2 else 0
            found += [Concept(index, level, factor.levels[level]) for level in range(first, len(factor.levels))]
        return found

    @property
    def classes(self) -> list[Concept]:
        """All classes of categorical factors that vary, but for one whose name says that the other is not there.

        Codes that tell a class from the rest as well tell the rest from it, which is why ``concepts`` has one of two.
        Which codes *fire* on a class is another question for each of the two.
        """
        return [
            Concept(index, level, name)
            for index, factor in enumerate(self.factors.columns)
            if factor.categorical and not factor.constant
            for level, name in enumerate(factor.levels)
            if len(factor.levels) > 2 or level == 1 or name.lower() not in ABSENT
        ]

    def column(self, concept: Concept) -> Factor:
        """Return the factor of a concept."""
        return self.factors.columns[concept.factor]

    def rows(self, concept: Concept, *, train: bool) -> tuple[Rows, NDArray[np.bool_]] | None:
        """Return rows, as many of the class as of the rest, and which are of the class; None where they are too few.

        Rows of a continuous factor are all, at most ``n_rows`` of them; none of them is then of a class.
        """
        factor = self.column(concept)
        part = self.training if train or self.score_on == "training" else ~self.training
        usable = part & factor.annotated()
        which = "train" if train or self.score_on == "training" else "test"
        rng = rng_for(self.seed, "concept", concept.factor, concept.level, which)
        if concept.level < 0:
            kept = _drawn(np.flatnonzero(usable), self.n_rows, rng)
            return (kept, np.zeros(len(kept), dtype=bool)) if len(kept) >= 2 * FEWEST else None
        inside = usable & (factor.values == concept.level)
        members, others = np.flatnonzero(inside), np.flatnonzero(usable & ~inside)
        most = min(len(members), len(others), self.n_rows // 2)
        if most < FEWEST:
            return None
        kept = np.sort(np.concatenate([_drawn(members, most, rng), _drawn(others, most, rng)]))
        return kept, inside[kept]

    def permuted(self, order: Rows) -> "ConceptRows":
        """Return the same codes with the rows of all factors in another order."""
        return replace(self, factors=self.factors.take(order))

    def score(
        self,
        metric: str,
        arguments: dict[str, Any],
        per_factor: Array,
        details: dict[str, Any],
        notes: tuple[Note, ...],
        chance: Chance | None = None,
    ) -> Score:
        """Return the score of factors, with the call that makes it again and the data of that call."""
        given = {**arguments, "seed": self.seed}
        if self.factors.missing != "raise":
            given["missing"] = self.factors.missing
        if self.kinds_given:
            given["kinds"] = {factor.name: factor.kind for factor in self.factors.columns}
        return Score(
            metric=metric,
            value=float(mean_of_defined(per_factor)),
            n=self.codes.n,
            signature=Signature.of(
                metric,
                given,
                rows=self.codes.n,
                codes=self.codes.d,
                nonzeros=len(self.codes.values),
                factors=self.factors.m,
            ),
            code_names=self.codes.names,
            factor_names=self.factors.names,
            per_factor=per_factor,
            chance=chance,
            notes=notes,
            details=details,
        )


def _drawn(rows: Rows, most: int, rng: np.random.Generator) -> Rows:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def concept_rows(
    codes: object,
    factors: object,
    n_rows: int,
    score_on: str,
    seed: int,
    missing: Missing,
    kinds: object,
    code_names: Sequence[str] | None,
) -> ConceptRows:
    """Read codes, sparse or dense, and factors, and split the rows.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    n_rows, seed = checked_count(n_rows, "n_rows", 20), checked_count(seed, "seed", 0)
    checked_name(score_on, "score_on", ("unseen", "training"))
    read, columns = _read(codes, code_names), read_factors(factors, kinds=kinds, missing=missing)
    refuse_cyclic(columns.columns, "scoring of concepts")
    check_pair(read.n, read.d, columns)
    training = np.ones(read.n, dtype=bool)
    if score_on == "unseen":
        order = rng_for(seed, "concept rows").permutation(read.n)
        training[order[round(TRAINING * read.n) :]] = False
    return ConceptRows(read, columns, training, score_on, n_rows, seed, kinds is not None)


def _read(codes: object, code_names: Sequence[str] | None) -> SparseCodes:
    from scipy.sparse import csc_array, issparse

    if issparse(codes):
        return read_sparse_codes(codes, code_names)
    dense = read_codes(codes)
    values = np.asarray(dense.values)
    values = values.astype(np.float32) if values.dtype == np.float16 else values  # SciPy has none of 16 bits
    return read_sparse_codes(csc_array(values), list(dense.names) if code_names is None else code_names)


def by_factor(concepts: Sequence[Concept], values: Array, m: int) -> Array:
    """Return the mean over the classes of each factor that are defined, (n_factors,); NaN where none is."""
    found = np.full(m, np.nan)
    for index in range(m):
        own = [value for concept, value in zip(concepts, values, strict=True) if concept.factor == index]
        known = [value for value in own if value == value]
        found[index] = float(np.mean(known)) if known else np.nan
    return found


#: Concepts whose sums are taken at a time: a column of numbers for each row and concept.
AT_A_TIME = 64


@renamed(**NEW_ARGUMENTS, k="top")
def sparse_probing(
    codes: object,
    factors: object,
    *,
    top: int | Sequence[int] = (1, 2, 5),
    ranking: Ranking = "standardised",
    score_on: str = "unseen",
    n_rows: int = 20_000,
    n_permutations: int = 0,
    seed: int = 0,
    missing: Missing = "raise",
    kinds: Kinds = None,
    code_names: Annotated[Sequence[str] | None, FILE] = None,
) -> Score:
    r"""Sparse probing: classify each class against the rest with the k codes whose means differ most.

    .. math:: 2 \cdot \mathrm{accuracy} - 1

    of a logistic regression on k codes, on as many rows of the class as of the rest, mean over classes and factors.
    k = 1 asks for compactness, all codes for explicitness.

    Parameters
    ----------
    codes : SciPy sparse matrix, or array-like, of shape (n_samples, n_codes), real, finite
        Sparse ones, such as the activations of a sparse dictionary, are never made dense.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Every class of a categorical factor is a concept; of two classes only the last (True, 1). Of a continuous
        factor, :math:`R^2` of least squares on the k codes of the largest correlation with it.
    top : int or sequence of int, default (1, 2, 5)
        Numbers of codes in a probe. The value is that of the first, the others stand in ``details``.
    ranking : {"standardised", "raw"}
        Ranking of the codes. By the difference of their mean in the class and in the rest, over the pooled standard
        deviation; or by the difference itself, as published, which prefers codes of large noise.
    score_on : {"unseen", "training"}
        Rows that probes are scored on. A fifth of the rows that neither the ranking nor the probe has seen, or the rows
        of both.
    n_rows : int >= 20, default 20 000
        Largest number of rows of a probe. Half of the class, and scored on: a seeded sample. Codes are ranked on
        all training rows.
    n_permutations : int >= 0
        Permutations for the chance level. Of the factors' rows, each with a ranking of its own.
    seed : int >= 0
        Random seed.
    missing : {"raise", "omit"}
        Missing annotations: refuse them, or omit rows factor by factor.
    kinds : None, str, mapping or sequence
        Type of a factor, if the detected type is wrong.
        "continuous" or "categorical", where the detected kind of a factor is wrong.
    code_names : sequence of str, optional
        Names of sparse codes: a line or a cell each.

    Returns
    -------
    Score
        value at most 1, best 1, 0 at random, NaN where no class has rows enough; ``per_factor``;
        ``details["by_k"]``: value by k; ``details["classes"]``: a row for each class and k with accuracy (NaN of
        a continuous factor, whose score is :math:`R^2`), score and codes.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    SAEBench (Karvonen et al. 2025, arXiv:2503.09532), whose settings are ``ranking="raw"``, 4000 training and 1000 test
    rows, and plain accuracy. Fitted with C = 1 on standardised columns. It does not detect whether other codes encode
    the class, too (:func:`splitting`), or whether the k codes also encode other classes. A code that is picked by
    chance does not score on unseen rows; on training rows the best of 65 536 would. O(non-zeros x classes) to rank;
    then k columns for each class.

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> concept = rng.integers(0, 2, 2000)
    >>> codes = np.column_stack([concept * rng.random(2000), rng.random((2000, 3)) < 0.1])
    >>> score = demele.sparse_probing(codes, concept, top=1)
    >>> round(score.value, 2), score.details["classes"][0]["codes"]
    (0.9, ('z1',))
    """
    counts = _counts(top)
    checked_name(ranking, "ranking", ("standardised", "raw"))
    n_rows, n_permutations = checked_count(n_rows, "n_rows", 20), checked_count(n_permutations, "n_permutations", 0)
    rows = concept_rows(codes, factors, n_rows, score_on, seed, missing, kinds, code_names)
    table, per_factor = _probed(rows, counts, ranking)
    values = {count: float(mean_of_defined(per_factor[count])) for count in counts}
    first = values[counts[0]]
    drawn = []
    for index in range(n_permutations):
        shuffled = rows.permuted(rng_for(seed, "chance", index).permutation(rows.codes.n))
        drawn.append(float(mean_of_defined(_probed(shuffled, counts[:1], ranking)[1][counts[0]])))
    level = Chance(tuple(drawn), first) if drawn else None
    arguments: dict[str, Any] = {"top": counts, "ranking": ranking, "score_on": score_on, "n_rows": n_rows}
    arguments |= {"n_permutations": n_permutations} if n_permutations else {}
    details = {"by_k": values, "classes": tuple(table)}
    notes = _notes(table) + (() if level is None else level.notes)
    return rows.score("sparse_probing", arguments, per_factor[counts[0]], details, notes, level)


def _counts(k: object) -> tuple[int, ...]:
    given = [k] if isinstance(k, int | np.integer) else k
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise InputTypeError("top", f"expected a number of codes, or several, got {quoted(k)}")
    return tuple(checked_count(count, "top", 1) for count in given)


def _notes(table: list[dict[str, Any]]) -> tuple[Note, ...]:
    rare = tuple(dict.fromkeys(row["class"] for row in table if row["score"] != row["score"]))
    notes = []
    if rare:
        listed = ", ".join(map(repr, rare[:5])) + (", ..." if len(rare) > 5 else "")
        message = f"{len(rare)} classes ({listed}) have too few rows to be both learnt and scored; they are left out"
        notes.append(Note(code="rare-class", message=message, subject=rare, severity="warning"))
    short = [row for row in table if len(row["codes"]) < row["k"]]
    if short:
        most, read = max(row["k"] for row in short), max(len(row["codes"]) for row in short)
        message = f"k = {most} is more than the codes that differ: probes read {read} of them"
        notes.append(Note(code="fewer-codes", message=message))
    return tuple(notes)


def ranked(rows: ConceptRows, concepts: Sequence[Concept], ranking: Ranking) -> list[tuple[Array, Array]]:
    """Return of each concept how codes differ in it, ranked and raw, (n_codes,) each, on the training rows.

    For a class, its mean minus that of the rest; for a quantity, the absolute correlation, twice.
    """
    found: list[tuple[Array, Array]] = []
    totals: dict[bytes, tuple[Array, Array]] = {}
    for start in range(0, len(concepts), AT_A_TIME):
        block = concepts[start : start + AT_A_TIME]
        weights = np.zeros((rows.codes.n, len(block)))
        for place, concept in enumerate(block):
            weights[:, place] = _weights(rows, concept)
        sums = column_sums(rows.codes, weights)
        for place, concept in enumerate(block):
            known = rows.training & rows.column(concept).annotated()
            key = known.tobytes()
            if key not in totals:  # factors that are annotated on the same rows share these
                every = known[:, None].astype(np.float64)
                totals[key] = (
                    column_sums(rows.codes, every)[:, 0],
                    column_sums(rows.codes, every, squared=True)[:, 0],
                )
            every, squares = totals[key]
            own, n = weights[:, place], float(known.sum())
            if concept.level < 0:
                told = correlations(every, squares, sums[:, place], n, (float(own.sum()), float(own @ own)))
                found.append((told, told))
            else:
                found.append(differences(sums[:, place], float(own.sum()), every, squares, n, ranking))
    return found


def _weights(rows: ConceptRows, concept: Concept) -> Array:
    """Return the indicator of a class, or the centred values of a quantity, 0 on rows that are not learnt from."""
    factor = rows.column(concept)
    known = rows.training & factor.annotated()
    if concept.level >= 0:
        return np.asarray(known & (factor.values == concept.level), dtype=np.float64)
    values = np.where(known, factor.values, 0.0)
    return np.where(known, values - values.sum() / max(int(known.sum()), 1), 0.0)


def _probed(
    rows: ConceptRows, counts: tuple[int, ...], ranking: Ranking
) -> tuple[list[dict[str, Any]], dict[int, Array]]:
    """Score every concept with every number of codes: a row for each, and values by factor."""
    concepts, table = rows.concepts, []
    scores = {count: np.full(len(concepts), np.nan) for count in counts}
    for start in range(0, len(concepts), AT_A_TIME):
        block = concepts[start : start + AT_A_TIME]
        for place, (own, raw) in enumerate(ranked(rows, block, ranking), start):
            chosen = largest(np.abs(own), np.abs(raw), max(counts))
            found = _scores_of(rows, concepts[place], chosen, counts)
            for count, (accuracy, score) in zip(counts, found, strict=True):
                scores[count][place] = score
                table.append(
                    {
                        "factor": rows.column(concepts[place]).name,
                        "class": concepts[place].name,
                        "k": count,
                        "accuracy": accuracy,
                        "score": score,
                        "codes": tuple(rows.codes.names[code] for code in chosen[:count]),
                    }
                )
    return table, {count: by_factor(concepts, own, rows.factors.m) for count, own in scores.items()}


def _scores_of(rows: ConceptRows, concept: Concept, chosen: Rows, counts: tuple[int, ...]) -> list[tuple[float, float]]:
    """Return accuracy and score of a probe for each number of codes; a quantity has no accuracy, and R2 as score."""
    train, test = rows.rows(concept, train=True), rows.rows(concept, train=False)
    if train is None or test is None:
        return [(float("nan"), float("nan"))] * len(counts)
    columns, others = (rows.codes.dense(chosen, part[0]).values if len(chosen) else None for part in (train, test))
    found = []
    for count in counts:
        if columns is None or others is None:  # no code differs at all
            found.append((0.5, 0.0) if concept.level >= 0 else (float("nan"), 0.0))
        elif concept.level >= 0:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # classes that one code parts have steep slopes
                told = logistic_scores(columns[:, :count], train[1], others[:, :count]) > 0
            accuracy = float(np.mean(told == test[1]))
            found.append((accuracy, 2.0 * accuracy - 1.0))
        else:
            values = rows.column(concept).values
            share = explained(columns[:, :count], values[train[0]], others[:, :count], values[test[0]])
            found.append((float("nan"), share))
    return found
