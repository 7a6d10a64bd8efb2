"""Scores of dictionaries: sparse probing, splitting and absorption of concepts (Chanin et al. 2024; SAEBench)."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats, Rows
from demele.core.columns import SparseCodes, read_sparse_codes
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.inputs import Factor, Factors, Missing, check_pair, read_codes, read_factors, refuse_cyclic
from demele.core.kinds import (
    FILE,
    Count,
    CountOrNone,
    Data,
    Kinds,
    Seed,
    at_least,
    between,
    checked,
    checked_count,
)
from demele.core.results import Chance, Note, Score
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.estimation.concept_probes import (
    Absorbed,
    Ranking,
    absorbed,
    column_sums,
    correlations,
    differences,
    explained,
    f1,
    largest,
    logistic_scores,
    speaking_codes,
    whole_probe,
)
from demele.estimation.information import mean_of_defined

#: Rows, and which of them are members of a class.
Part = tuple[Rows, NDArray[np.bool_]]
ScoreOn = Literal["unseen", "training"]
#: Rows on which probes are fitted.
ProbedRows = Annotated[int, at_least(20)]
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

    def parts(self, concept: Concept) -> tuple[Part, Part] | None:
        """Return rows to learn from and rows to score on, as many of the class as of the rest, and which are of it.

        None, where they are too few. Rows of a continuous factor are all, at most ``n_rows`` of them; none of them is
        then of a class.
        """
        factor, found = self.column(concept), []
        for train in (True, False):
            learnt = train or self.score_on == "training"
            usable = (self.training if learnt else ~self.training) & factor.annotated()
            rng = rng_for(self.seed, "concept", concept.factor, concept.level, "train" if learnt else "test")
            inside = usable & (factor.values == concept.level)
            if concept.level < 0:
                kept, fewest = _drawn(np.flatnonzero(usable), self.n_rows, rng), 2 * FEWEST
            else:
                members, others = np.flatnonzero(inside), np.flatnonzero(usable & ~inside)
                most, fewest = min(len(members), len(others), self.n_rows // 2), 2 * FEWEST
                kept = np.sort(np.concatenate([_drawn(members, most, rng), _drawn(others, most, rng)]))
            if len(kept) < fewest:
                return None
            found.append((kept, inside[kept] & (concept.level >= 0)))
        return found[0], found[1]

    def permuted(self, order: Rows) -> "ConceptRows":
        """Return the same codes with the rows of all factors in another order."""
        return replace(self, factors=self.factors.take(order))

    def score(
        self,
        metric: str,
        arguments: dict[str, Any],
        per_factor: Floats,
        details: dict[str, Any],
        notes: tuple[Note, ...],
        chance: Chance | None = None,
    ) -> Score:
        """Return the score of factors, with the call that makes it again and the data of that call."""
        given = {**arguments, "seed": self.seed}
        given |= self.factors.reading
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
    read, columns = _read(codes, code_names), read_factors(factors, kinds=kinds, missing=missing)
    refuse_cyclic(columns.columns, "scoring of concepts")
    check_pair(read.n, read.d, columns)
    training = np.ones(read.n, dtype=bool)
    if score_on == "unseen":
        order = rng_for(seed, "concept rows").permutation(read.n)
        training[order[round(TRAINING * read.n) :]] = False
    return ConceptRows(read, columns, training, score_on, n_rows, seed)


def _read(codes: object, code_names: Sequence[str] | None) -> SparseCodes:
    from scipy.sparse import csc_array, issparse

    if issparse(codes):
        return read_sparse_codes(codes, code_names)
    dense = read_codes(codes)
    values = np.asarray(dense.values)
    values = values.astype(np.float32) if values.dtype == np.float16 else values  # SciPy has none of 16 bits
    return read_sparse_codes(csc_array(values), list(dense.names) if code_names is None else code_names)


def by_factor(concepts: Sequence[Concept], values: Floats, m: int) -> Floats:
    """Return the mean over the classes of each factor that are defined, (n_factors,); NaN where none is."""
    found = np.full(m, np.nan)
    for index in range(m):
        own = [value for concept, value in zip(concepts, values, strict=True) if concept.factor == index]
        known = [value for value in own if value == value]
        found[index] = float(np.mean(known)) if known else np.nan
    return found


#: Concepts whose sums are taken at a time: a column of numbers for each row and concept.
AT_A_TIME = 64


@checked
def sparse_probing(
    codes: object,
    factors: object,
    *,
    top: int | Sequence[int] = (1, 2, 5),
    ranking: Ranking = "standardised",
    score_on: ScoreOn = "unseen",
    n_rows: ProbedRows = 20_000,
    n_permutations: CountOrNone = 0,
    seed: Seed = 0,
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
    >>> score = demele.probes.sparse_probing(codes, concept, top=1)
    >>> round(score.value, 2), score.details["classes"][0]["codes"]
    (0.9, ('z1',))
    """
    counts = _counts(top)
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


def ranked(
    rows: ConceptRows, concepts: Sequence[Concept], ranking: Ranking
) -> Iterator[tuple[Concept, tuple[Floats, Floats]]]:
    """Yield of each concept how codes differ in it, ranked and raw, (n_codes,) each, on the training rows.

    For a class, its mean minus that of the rest; for a quantity, the absolute correlation, twice.
    """
    totals: dict[bytes, tuple[Floats, Floats]] = {}
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
                of_rows, of_squares = (
                    column_sums(rows.codes, every, squared=squared)[:, 0] for squared in (False, True)
                )
                totals[key] = of_rows, of_squares
            own, n = weights[:, place], float(known.sum())
            if concept.level < 0:
                told = correlations(*totals[key], sums[:, place], n, (float(own.sum()), float(own @ own)))
                yield concept, (told, told)
            else:
                yield concept, differences(sums[:, place], float(own.sum()), *totals[key], n, ranking)


def _weights(rows: ConceptRows, concept: Concept) -> Floats:
    """Return the indicator of a class, or the centred values of a quantity, 0 on rows that are not learnt from."""
    factor = rows.column(concept)
    known = rows.training & factor.annotated()
    if concept.level >= 0:
        return np.asarray(known & (factor.values == concept.level), dtype=np.float64)
    values = np.where(known, factor.values, 0.0)
    return np.where(known, values - values.sum() / max(int(known.sum()), 1), 0.0)


def _probed(
    rows: ConceptRows, counts: tuple[int, ...], ranking: Ranking
) -> tuple[list[dict[str, Any]], dict[int, Floats]]:
    """Score every concept with every number of codes: a row for each, and values by factor."""
    concepts, table = rows.concepts, []
    scores = {count: np.full(len(concepts), np.nan) for count in counts}
    for place, (concept, (own, raw)) in enumerate(ranked(rows, concepts, ranking)):
        chosen = largest(np.abs(own), np.abs(raw), max(counts))
        found = _scores_of(rows, concept, chosen, counts)
        for count, (accuracy, score) in zip(counts, found, strict=True):
            scores[count][place] = score
            table.append(
                {
                    "factor": rows.column(concept).name,
                    "class": concept.name,
                    "k": count,
                    "accuracy": accuracy,
                    "score": score,
                    "codes": tuple(rows.codes.names[code] for code in chosen[:count]),
                }
            )
    return table, {count: by_factor(concepts, own, rows.factors.m) for count, own in scores.items()}


def _logits(learnt: Floats, members: NDArray[np.bool_], scored: Floats) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # classes that one code parts have steep slopes
        return logistic_scores(learnt, members, scored)


def _scores_of(rows: ConceptRows, concept: Concept, chosen: Rows, counts: tuple[int, ...]) -> list[tuple[float, float]]:
    """Return accuracy and score of a probe for each number of codes; a quantity has no accuracy, and R2 as score."""
    parts = rows.parts(concept)
    if parts is None:
        return [(float("nan"), float("nan"))] * len(counts)
    train, test = parts
    columns, others = (rows.codes.dense(chosen, part[0]).values if len(chosen) else None for part in (train, test))
    found = []
    for count in counts:
        if columns is None or others is None:  # no code differs at all
            found.append((0.5, 0.0) if concept.level >= 0 else (float("nan"), 0.0))
        elif concept.level >= 0:
            told = _logits(columns[:, :count], train[1], others[:, :count]) > 0
            accuracy = float(np.mean(told == test[1]))
            found.append((accuracy, 2.0 * accuracy - 1.0))
        else:
            values = rows.column(concept).values
            share = explained(columns[:, :count], values[train[0]], others[:, :count], values[test[0]])
            found.append((float("nan"), share))
    return found


#: F1 that a probe must reach, or its class says nothing of codes.
LEAST_F1 = 0.6
#: A code of a smaller value is silent.
SILENT = 1e-8
#: Cosines with the probe from which a code may absorb a row as a whole, and a part of it, where a decoder is given.
COSINES = (0.025, 0.1)


@dataclass(frozen=True, slots=True)
class _Split:
    """The codes among which a class is split, and F1 of probes of 1, 2, ... of them (the last gain not included)."""

    codes: Rows
    f1: tuple[float, ...]

    @property
    def size(self) -> float:
        """How many codes, NaN where they do not tell the class."""
        return float(len(self.codes)) if self.f1 and self.f1[-1] >= LEAST_F1 else float("nan")


@checked
def splitting(
    codes: object,
    factors: object,
    *,
    jump: Annotated[float, between(0, 1, "()")] = 0.03,
    most: Count = 10,
    screen: Count = 200,
    score_on: ScoreOn = "unseen",
    n_rows: ProbedRows = 20_000,
    seed: Seed = 0,
    missing: Missing = "raise",
    kinds: Kinds = None,
    code_names: Annotated[Sequence[str] | None, FILE] = None,
) -> Score:
    r"""Return the number of codes that a class is split among.

    Codes are ranked by their positive weights in a probe with an L1 penalty. :math:`S_c` are the first codes as long
    as each raises F1 of a probe by more than ``jump``; splitting is :math:`|S_c|`, 1 for a class with one code.

    Parameters
    ----------
    codes, factors, score_on, n_rows, seed, missing, kinds, code_names
        As in :func:`sparse_probing`; at least one factor must be categorical, and continuous ones are left out. Of
        two classes both are looked at, but for one called False, 0 or no: the concept is then the other.
    jump : float in (0, 1), default 0.03
        Gain of F1 from which a further code counts.
    most : int >= 1, default 10
        Largest number of codes of a class.
    screen : int >= 1, default 200
        Codes that the L1 probe sees. Those that are most larger in the class, in pooled standard deviations.

    Returns
    -------
    Score
        value at least 1, best 1; ``per_factor``; ``details["classes"]``: a row for each class with its codes and F1 of
        1, 2, ... of them. A class whose probe stays under an F1 of 0.6 is left out, with a note.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Chanin et al. 2024 (arXiv:2409.14507); SAEBench (Karvonen et al. 2025), whose tables count :math:`|S_c|` in one
    place and :math:`|S_c| - 1` in another. Read it together with :func:`absorption`: without false positives a single
    code that takes more than :math:`1 - (1 - j)/(1 + j)`, 5.8%, of a class always counts as splitting, and one that
    takes less never does. It ignores codes that mark several classes, and the share of rows of each code.

    Examples
    --------
    >>> import numpy as np, demele
    >>> concept = np.repeat([1, 0], 1000)
    >>> parts = np.zeros((2000, 2))
    >>> parts[:700, 0], parts[700:1000, 1] = 1.0, 1.0
    >>> demele.probes.splitting(parts, concept).value
    2.0
    """
    rows = concept_rows(codes, factors, n_rows, score_on, seed, missing, kinds, code_names)
    settings = (jump, most, screen)
    concepts = _classes(rows)
    found = [_split(rows, concept, told, *settings) for concept, told in ranked(rows, concepts, "standardised")]
    per_factor = by_factor(concepts, np.array([one.size for one in found]), rows.factors.m)
    table = [_row(rows, concept, one) for concept, one in zip(concepts, found, strict=True)]
    arguments: dict[str, Any] = dict(zip(("jump", "most", "screen"), settings, strict=True))
    arguments |= {"score_on": score_on, "n_rows": n_rows}
    return rows.score("splitting", arguments, per_factor, {"classes": tuple(table)}, _left_out(table))


@checked
def absorption(
    codes: object,
    factors: object,
    *,
    decoder: Data = None,
    activations: Data = None,
    jump: Annotated[float, between(0, 1, "()")] = 0.03,
    most: Count = 10,
    screen: Count = 200,
    score_on: ScoreOn = "unseen",
    n_rows: ProbedRows = 20_000,
    seed: Seed = 0,
    missing: Missing = "raise",
    kinds: Kinds = None,
    code_names: Annotated[Sequence[str] | None, FILE] = None,
) -> Score:
    r"""Return absorption: the share of a class on which its own codes are silent while another code carries it.

    A probe of all codes adds up :math:`a_j = w_j z_j`, :math:`p = \sum_j a_j`. Of the rows of the class that it
    recognises (:math:`p + b > 0`), those count on which all codes of :math:`S_c` (see :func:`splitting`) are 0 and
    the largest :math:`a_j` is at least 0.4 p. Lower is better.

    Parameters
    ----------
    codes, factors, score_on, n_rows, seed, missing, kinds, code_names
        As in :func:`sparse_probing`; at least one factor must be categorical, and continuous ones are left out.
    decoder : array-like of shape (n_codes, n_dimensions), optional
        Decoder of the dictionary, a row for each code.
    activations : array-like of shape (n_samples, n_dimensions), optional
        Activations that were encoded, a row for each sample. With both, the published form: the probe is of the
        activations, u its direction, :math:`p = x \cdot u` and :math:`a_j = z_j\, d_j \cdot u`, d_j the row of the
        decoder at its own length. (The published product with the cosine is a projection only where decoders have
        length 1.) What absorbs a row then has a cosine with u of at least 0.025, and of 0.1 for a part of it.
    jump, most, screen
        As in :func:`splitting`.

    Returns
    -------
    Score
        value in [0, 1], best 0: full absorption; ``per_factor``; ``details["fraction"]``: the mean share of p that up
        to three other codes carry, rows in which the own codes still speak included; ``details["splitting"]``;
        ``details["classes"]``: a row for each class. A class is left out, with a note, where F1 of the probe, or of
        its codes, is under 0.6.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Chanin et al. 2024 (arXiv:2409.14507); SAEBench (Karvonen et al. 2025). Published figures show 1 minus the score.
    A code that takes more than 5.8% of a class counts as splitting, not as absorption (``jump`` decides): the two
    numbers belong together, so the result holds both. What it does not see: absorbers of classes that no factor names.

    Examples
    --------
    >>> import numpy as np, demele
    >>> concept = np.repeat([1, 0], 1000)
    >>> parts = np.zeros((2000, 2))
    >>> parts[:970, 0], parts[970:1000, 1] = 1.0, 1.0
    >>> demele.probes.absorption(parts, concept, score_on="training").value
    0.03
    """
    from scipy.sparse import csc_array

    rows = concept_rows(codes, factors, n_rows, score_on, seed, missing, kinds, code_names)
    settings = (jump, most, screen)
    in_space = _space(decoder, activations, rows)
    concepts = _classes(rows)
    columns = (rows.codes.values.astype(np.float64), rows.codes.rows, rows.codes.starts)
    every = csc_array(columns, shape=(rows.codes.n, rows.codes.d)).tocsr()
    found = []
    for concept, told in ranked(rows, concepts, "standardised"):
        split = _split(rows, concept, told, *settings)
        found.append((split, *_absorbed(rows, concept, split, every, in_space)))
    full, fraction, sizes = (
        by_factor(concepts, np.array(values), rows.factors.m)
        for values in zip(*((one.full, one.fraction, split.size) for split, one, _ in found), strict=True)
    )
    table = [
        {
            **_row(rows, concept, split),
            "full": one.full,
            "fraction": one.fraction,
            "rows": one.n,
            "probe_f1": probe,
        }
        for concept, (split, one, probe) in zip(concepts, found, strict=True)
    ]
    arguments: dict[str, Any] = dict(zip(("jump", "most", "screen"), settings, strict=True))
    arguments |= {"score_on": score_on, "n_rows": n_rows}
    n_codes = float(mean_of_defined(sizes))
    known = sum(split.size == split.size for split, _, _ in found)
    verb = "class that is recognised has" if known == 1 else "classes that are recognised have"
    beside = (
        f"{known:,} {verb} {n_codes:.2f} codes of {'its' if known == 1 else 'their'} own{' on average' * (known > 1)} "
        f"(splitting): a single code that takes more than {1 - (1 - jump) / (1 + jump):.1%} of a class counts there, "
        "not here"
    )
    notes = (Note(code="known-splitting", message=beside),) if known else ()
    details = {"fraction": float(mean_of_defined(fraction)), "splitting": n_codes, "classes": tuple(table)}
    return rows.score("absorption", arguments, full, details, (*notes, *_left_out(table)))


# Reading --------------------------------------------------------------------------------------------------------------


def _classes(rows: ConceptRows) -> list[Concept]:
    found = rows.classes
    if not found:
        raise NotEnoughData("factors", "expected at least one categorical factor that varies: classes are split")
    return found


def _space(decoder: object, activations: object, rows: ConceptRows) -> tuple[Floats, Floats] | None:
    """Return decoder and activations, which come together."""
    if decoder is None and activations is None:
        return None
    if decoder is None or activations is None:
        absent = "decoder" if decoder is None else "activations"
        raise InputError(absent, "expected decoder and activations together: the probe is of the activations")
    of_codes, of_rows = (
        read_codes(given, name).dense() for given, name in ((decoder, "decoder"), (activations, "activations"))
    )
    for name, given, wanted in (("decoder", of_codes, rows.codes.d), ("activations", of_rows, rows.codes.n)):
        if len(given) != wanted:
            what = "code" if name == "decoder" else "sample"
            raise InputError(name, f"expected a row for each of the {wanted} {what}s, got {len(given)}")
    if of_codes.shape[1] != of_rows.shape[1]:
        raise InputError(
            ("decoder", "activations"),
            f"expected as many dimensions, got {of_codes.shape[1]} and {of_rows.shape[1]}",
        )
    return of_codes, of_rows


# Computing ------------------------------------------------------------------------------------------------------------


def _split(
    rows: ConceptRows, concept: Concept, told: tuple[Floats, Floats], jump: float, most: int, screen: int
) -> _Split:
    """Return the codes of a class: the first, and each next that raises F1 by more than ``jump``."""
    parts, seen = rows.parts(concept), largest(*told, screen)
    if parts is None or not len(seen):
        return _Split(seen[:0], ())
    train, test = parts
    columns = rows.codes.dense(seen, train[0]).values
    chosen = speaking_codes(columns, train[1])[:most]
    others = rows.codes.dense(seen[chosen], test[0]).values
    found: list[float] = []
    for count in range(1, len(chosen) + 1):
        reached = f1(_logits(columns[:, chosen[:count]], train[1], others[:, :count]) > 0, test[1])
        if found and not reached - found[-1] > jump:
            break
        found.append(reached)
    return _Split(seen[chosen[: len(found)]], tuple(found))


def _absorbed(
    rows: ConceptRows, concept: Concept, split: _Split, every: Any, in_space: tuple[Floats, Floats] | None
) -> tuple[Absorbed, float]:
    """Return what is absorbed of a class, and F1 of the probe of everything."""
    from scipy.sparse import csr_array

    nothing = Absorbed(float("nan"), float("nan"), 0)
    parts = rows.parts(concept)
    if parts is None or split.size != split.size:
        return nothing, float("nan")
    train, test = parts
    members = test[0][test[1]]
    codes = every[members]
    silent = np.abs(codes[:, split.codes].toarray()).max(axis=1, initial=0.0) < SILENT
    if in_space is None:
        weights, intercept = whole_probe(every[train[0]], train[1])
        reached = f1(every[test[0]] @ weights + intercept > 0, test[1])
        whole = codes @ weights
        recognised = whole + intercept > 0
        cosines = np.ones(rows.codes.d)
    else:
        decoder, activations = in_space
        direction, intercept = whole_probe(activations[train[0]], train[1])
        reached = f1(activations[test[0]] @ direction + intercept > 0, test[1])
        recognised = activations[members] @ direction + intercept > 0
        unit = direction / max(float(np.linalg.norm(direction)), 1e-300)
        whole, weights = activations[members] @ unit, decoder @ unit
        cosines = weights / np.maximum(np.linalg.norm(decoder, axis=1), 1e-300)
    if not reached >= LEAST_F1:
        return nothing, reached
    taken = absorbed(
        csr_array((codes.data * weights[codes.indices], codes.indices, codes.indptr), shape=codes.shape),
        np.asarray(whole),
        recognised,
        split.codes,
        silent=silent,
        may_take_all=cosines >= COSINES[0],
        may_take_some=cosines >= COSINES[1],
    )
    return taken, reached


def _row(rows: ConceptRows, concept: Concept, split: _Split) -> dict[str, Any]:
    return {
        "factor": rows.column(concept).name,
        "class": concept.name,
        "splitting": split.size,
        "codes": tuple(rows.codes.names[code] for code in split.codes) if split.size == split.size else (),
        "f1": split.f1,
    }


def _left_out(table: list[dict[str, Any]]) -> tuple[Note, ...]:
    """Say which classes have no number: their probes stay under F1 of 0.6, or their rows are too few."""
    lost = tuple(row["class"] for row in table if (value := row.get("full", row["splitting"])) != value)
    if not lost:
        return ()
    listed = ", ".join(map(repr, lost[:5])) + (", ..." if len(lost) > 5 else "")
    message = (
        f"{len(lost)} of {len(table)} classes ({listed}) are left out: probes of their codes do not reach an F1 of "
        f"{LEAST_F1}, or they have too few rows"
    )
    return (Note(code="unrecognised-class", message=message, subject=lost, severity="warning"),)
