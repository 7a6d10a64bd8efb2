"""Scores of dictionaries: sparse probing, splitting and absorption of concepts (Chanin et al. 2024; SAEBench)."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np

from demele.core.arrays import Flags, Floats, Rows, rng_for
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
from demele.core.signature import Signature
from demele.estimation import concept_probes
from demele.estimation.information import mean_of_defined

#: Rows, and which of them are members of a class.
Part = tuple[Rows, Flags]
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

    place: int
    factor: Factor
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
    given : mapping
        Arguments that all three scores take: ``score_on`` (``"unseen"``: the other rows are scored; ``"training"``: the
        same), ``n_rows`` (rows that a probe is fitted on at most, and scored on: half of them of the class), ``seed``.
    """

    codes: SparseCodes
    factors: Factors
    training: Flags
    given: Mapping[str, Any]

    def concepts(self, *, of_both: bool) -> list[Concept]:
        """Return all classes of factors that vary, of two classes only the last; and continuous factors.

        Codes that tell a class from the rest as well tell the rest from it. Which codes *fire* on a class is another
        question for each of the two: ``of_both`` returns both, but for one whose name says that the other is not there,
        and no continuous factors.
        """
        found = []
        for place, factor in enumerate(self.factors.columns):
            if factor.constant:
                continue
            if not factor.categorical and not of_both:
                found.append(Concept(place, factor, -1, factor.name))
            for level, name in enumerate(factor.levels):
                if level or len(factor.levels) > 2 or (of_both and name.lower() not in ABSENT):
                    found.append(Concept(place, factor, level, name))
        if not found:
            raise NotEnoughData("factors", "expected at least one categorical factor that varies: classes are split")
        return found

    def parts(self, concept: Concept) -> tuple[Part, Part] | None:
        """Return rows to learn from and rows to score on, as many of the class as of the rest, and which are of it.

        None, where they are too few. Rows of a continuous factor are all, at most ``n_rows`` of them; none of them is
        then of a class.
        """
        found, of_class, n_rows = [], concept.level >= 0, self.given["n_rows"]
        for stream in ("train", "train" if self.given["score_on"] == "training" else "test"):
            usable = (self.training if stream == "train" else ~self.training) & concept.factor.annotated()
            rng = rng_for(self.given["seed"], "concept", concept.place, concept.level, stream)
            inside = usable & of_class & (concept.factor.values == concept.level)
            groups, most = [np.flatnonzero(usable)], n_rows
            if of_class:
                groups = [np.flatnonzero(inside), np.flatnonzero(usable & ~inside)]
                most = min(*map(len, groups), n_rows // 2)
            drawn = [own if len(own) <= most else rng.choice(own, most, replace=False) for own in groups]
            kept = np.sort(np.concatenate(drawn))
            if len(kept) < 2 * FEWEST:
                return None
            found.append((kept, inside[kept]))
        return found[0], found[1]

    def by_factor(self, concepts: Sequence[Concept], values: Sequence[float]) -> Floats:
        """Return the mean over the classes of each factor that are defined, (n_factors,); NaN where none is."""
        places, known = np.array([concept.place for concept in concepts]), np.array(values)
        return np.array([mean_of_defined(known[places == place]) for place in range(self.factors.m)])

    def score(self, metric: str, arguments: Mapping[str, Any], per_factor: Floats, **more: Any) -> Score:
        """Return the score of factors, with the call that makes it again and the data of that call."""
        n, d, m = self.codes.n, self.codes.d, self.factors.m
        met = {"rows": n, "codes": d, "nonzeros": len(self.codes.values), "factors": m}
        return Score(
            metric=metric,
            value=float(mean_of_defined(per_factor)),
            n=n,
            signature=Signature.of(metric, {**arguments, **self.given, **self.factors.reading}, **met),
            code_names=self.codes.names,
            factor_names=self.factors.names,
            per_factor=per_factor,
            **more,
        )


def concept_rows(
    codes: object,
    factors: object,
    missing: Missing,
    kinds: object,
    code_names: Sequence[str] | None,
    **given: Any,
) -> ConceptRows:
    """Read codes, sparse or dense, and factors, and split the rows.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
    """
    from scipy.sparse import csc_array, issparse

    names = code_names
    if not issparse(codes):
        dense = read_codes(codes)
        values = np.asarray(dense.values)  # SciPy has none of 16 bits
        codes = csc_array(values.astype(np.float32) if values.dtype == np.float16 else values)
        names = list(dense.names) if code_names is None else code_names
    read, columns = read_sparse_codes(codes, names), read_factors(factors, kinds=kinds, missing=missing)
    refuse_cyclic(columns.columns, "scoring of concepts")
    check_pair(read.n, read.d, columns)
    training = np.ones(read.n, dtype=bool)
    if given["score_on"] == "unseen":
        order = rng_for(given["seed"], "concept rows").permutation(read.n)
        training[order[round(TRAINING * read.n) :]] = False
    return ConceptRows(read, columns, training, given)


def _lost(code: str, table: Sequence[Mapping[str, Any]], key: str, why: str) -> tuple[Note, ...]:
    """Say which classes have no number; nothing, if all have one."""
    lost = [name for _, name in dict.fromkeys((row["factor"], row["class"]) for row in table if row[key] != row[key])]
    if not lost:
        return ()
    listed = ", ".join(map(repr, lost[:5])) + (", ..." if len(lost) > 5 else "")
    message = f"{len(lost)} classes ({listed}) are left out: {why}"
    return (Note(code=code, message=message, subject=tuple(lost), severity="warning"),)


#: Concepts whose sums are taken at a time: a column of numbers for each row and concept.
AT_A_TIME = 64


@checked
def sparse_probing(
    codes: object,
    factors: object,
    *,
    top: int | Sequence[int] = (1, 2, 5),
    ranking: concept_probes.Ranking = "standardised",
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
    rows = concept_rows(codes, factors, missing, kinds, code_names, score_on=score_on, n_rows=n_rows, seed=seed)
    table, per_factor = _probed(rows, counts, ranking)
    values = {count: float(mean_of_defined(own)) for count, own in zip(counts, per_factor, strict=True)}
    drawn = []
    for index in range(n_permutations):
        order = rng_for(seed, "chance", index).permutation(rows.codes.n)
        shuffled = replace(rows, factors=rows.factors.take(order))
        drawn.append(float(mean_of_defined(_probed(shuffled, counts[:1], ranking)[1][0])))
    level = Chance(tuple(drawn), values[counts[0]]) if drawn else None
    arguments: dict[str, Any] = {"top": counts, "ranking": ranking}
    arguments |= {"n_permutations": n_permutations} if n_permutations else {}
    notes = _lost("rare-class", table, "score", "they have too few rows to be both learnt and scored")
    short = [row for row in table if len(row["codes"]) < row["k"]]
    if short:
        most, read = max(row["k"] for row in short), max(len(row["codes"]) for row in short)
        message = f"k = {most} is more than the codes that differ: probes read {read} of them"
        notes += (Note(code="fewer-codes", message=message),)
    return rows.score(
        "sparse_probing",
        arguments,
        per_factor[0],
        details={"by_k": values, "classes": tuple(table)},
        notes=notes + (() if level is None else level.notes),
        chance=level,
    )


def _counts(k: object) -> tuple[int, ...]:
    given = [k] if isinstance(k, int | np.integer) else k
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise InputTypeError("top", f"expected a number of codes, or several, got {quoted(k)}")
    return tuple(checked_count(count, "top", 1) for count in given)


def ranked(
    rows: ConceptRows, concepts: Sequence[Concept], ranking: concept_probes.Ranking
) -> Iterator[tuple[Concept, tuple[Floats, Floats]]]:
    """Yield of each concept how codes differ in it, ranked and raw, (n_codes,) each, on the training rows.

    For a class, its mean minus that of the rest; for a quantity, the absolute correlation, twice.
    """
    totals: dict[bytes, tuple[Floats, Floats]] = {}
    for start in range(0, len(concepts), AT_A_TIME):
        block = concepts[start : start + AT_A_TIME]
        known = [rows.training & concept.factor.annotated() for concept in block]
        weights = np.zeros((rows.codes.n, len(block)))  # indicators of classes, or centred values of quantities
        for place, (concept, here) in enumerate(zip(block, known, strict=True)):
            values = concept.factor.values
            if concept.level >= 0:
                weights[:, place] = here & (values == concept.level)
            else:
                mean = np.where(here, values, 0.0).sum() / max(int(here.sum()), 1)
                weights[:, place] = np.where(here, values - mean, 0.0)
        sums = concept_probes.column_sums(rows.codes, weights)
        for concept, here, own, inside in zip(block, known, weights.T, sums.T, strict=True):
            key, n = here.tobytes(), float(here.sum())
            if key not in totals:  # factors that are annotated on the same rows share these
                every = here[:, None].astype(np.float64)
                of_rows, of_squares = (
                    concept_probes.column_sums(rows.codes, every, squared=squared)[:, 0] for squared in (False, True)
                )
                totals[key] = of_rows, of_squares
            if concept.level < 0:
                alike = concept_probes.correlations(*totals[key], inside, n, (float(own.sum()), float(own @ own)))
                yield concept, (alike, alike)
            else:
                yield concept, concept_probes.differences(inside, float(own.sum()), *totals[key], n, ranking)


def _probed(
    rows: ConceptRows, counts: tuple[int, ...], ranking: concept_probes.Ranking
) -> tuple[list[dict[str, Any]], list[Floats]]:
    """Score every concept with every number of codes: a row for each, and values by factor for each number.

    A quantity has no accuracy, and R2 as score.
    """
    concepts, table = rows.concepts(of_both=False), []
    for concept, (own, raw) in ranked(rows, concepts, ranking):
        chosen, parts = concept_probes.largest(np.abs(own), np.abs(raw), max(counts)), rows.parts(concept)
        if parts is not None and len(chosen):
            columns, others = (rows.codes.dense(chosen, part).values for part, _ in parts)
        for count in counts:
            accuracy, score = float("nan"), float("nan")
            if parts is not None and not len(chosen):  # no code differs at all
                accuracy, score = 0.5 if concept.level >= 0 else accuracy, 0.0
            elif parts is not None and concept.level >= 0:
                inside = _logits(columns[:, :count], parts[0][1], others[:, :count]) > 0
                accuracy = float(np.mean(inside == parts[1][1]))
                score = 2.0 * accuracy - 1.0
            elif parts is not None:
                learnt, scored = (concept.factor.values[part] for part, _ in parts)
                score = concept_probes.explained(columns[:, :count], learnt, others[:, :count], scored)
            names = tuple(rows.codes.names[code] for code in chosen[:count])
            row: dict[str, Any] = {"k": count, "accuracy": accuracy, "score": score, "codes": names}
            table.append({"factor": concept.factor.name, "class": concept.name, **row})
    scores = [[row["score"] for row in table[place :: len(counts)]] for place in range(len(counts))]
    return table, [rows.by_factor(concepts, own) for own in scores]


def _logits(learnt: Floats, members: Flags, scored: Floats) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # classes that one code parts have steep slopes
        return concept_probes.logistic_scores(learnt, members, scored)


#: F1 that a probe must reach, or its class says nothing of codes.
LEAST_F1 = 0.6
_UNRECOGNISED = f"probes of their codes do not reach an F1 of {LEAST_F1}, or they have too few rows"
#: A code of a smaller value is silent.
SILENT = 1e-8
#: Cosines with the probe from which a code may absorb a row as a whole, and a part of it, where a decoder is given.
COSINES = (0.025, 0.1)


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
    rows = concept_rows(codes, factors, missing, kinds, code_names, score_on=score_on, n_rows=n_rows, seed=seed)
    settings: dict[str, Any] = {"jump": jump, "most": most, "screen": screen}
    concepts = rows.concepts(of_both=True)
    table = [row for _, _, row in _splits(rows, concepts, **settings)]
    return rows.score(
        "splitting",
        settings,
        rows.by_factor(concepts, [row["splitting"] for row in table]),
        details={"classes": tuple(table)},
        notes=_lost("unrecognised-class", table, "splitting", _UNRECOGNISED),
    )


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

    rows = concept_rows(codes, factors, missing, kinds, code_names, score_on=score_on, n_rows=n_rows, seed=seed)
    settings: dict[str, Any] = {"jump": jump, "most": most, "screen": screen}
    in_space = _space(decoder, activations, rows)
    concepts = rows.concepts(of_both=True)
    columns = (rows.codes.values.astype(np.float64), rows.codes.rows, rows.codes.starts)
    every = csc_array(columns, shape=(rows.codes.n, rows.codes.d)).tocsr()
    table = []
    for concept, own, row in _splits(rows, concepts, **settings):
        taken, probe = concept_probes.Absorbed(float("nan"), float("nan"), 0), float("nan")
        parts = rows.parts(concept)
        if parts is not None and row["splitting"] == row["splitting"]:
            taken, probe = _absorbed(rows, parts, own, every, in_space)
        table.append({**row, "full": taken.full, "fraction": taken.fraction, "rows": taken.n, "probe_f1": probe})
    full, fraction, sizes = (
        rows.by_factor(concepts, [row[key] for row in table]) for key in ("full", "fraction", "splitting")
    )
    n_codes = float(mean_of_defined(sizes))
    notes: tuple[Note, ...] = ()
    if n_codes == n_codes:
        message = (
            f"recognised classes have {n_codes:.2f} codes of their own on average (splitting): a single code that "
            f"takes more than {1 - (1 - jump) / (1 + jump):.1%} of a class counts there, not here"
        )
        notes = (Note(code="known-splitting", message=message),)
    return rows.score(
        "absorption",
        settings,
        full,
        details={"fraction": float(mean_of_defined(fraction)), "splitting": n_codes, "classes": tuple(table)},
        notes=(*notes, *_lost("unrecognised-class", table, "full", _UNRECOGNISED)),
    )


def _space(decoder: object, activations: object, rows: ConceptRows) -> tuple[Floats, Floats] | None:
    """Return decoder and activations, which come together."""
    both = {"decoder": decoder, "activations": activations}
    absent = [name for name, given in both.items() if given is None]
    if len(absent) == 2:
        return None
    if absent:
        raise InputError(absent[0], "expected decoder and activations together: the probe is of the activations")
    of_codes, of_rows = (read_codes(given, name).dense() for name, given in both.items())
    for name, given, wanted in (("decoder", of_codes, rows.codes.d), ("activations", of_rows, rows.codes.n)):
        if len(given) != wanted:
            what = "code" if name == "decoder" else "sample"
            raise InputError(name, f"expected a row for each of the {wanted} {what}s, got {len(given)}")
    if of_codes.shape[1] != of_rows.shape[1]:
        raise InputError(tuple(both), f"expected as many dimensions, got {of_codes.shape[1]} and {of_rows.shape[1]}")
    return of_codes, of_rows


def _splits(
    rows: ConceptRows, concepts: Sequence[Concept], jump: float, most: int, screen: int
) -> Iterator[tuple[Concept, Rows, dict[str, Any]]]:
    """Yield each class, its codes, and its row: the first code, and each next that raises F1 by more than ``jump``.

    The row has F1 of probes of 1, 2, ... codes, the last gain not included; no codes where these do not tell the class.
    """
    for concept, own in ranked(rows, concepts, "standardised"):
        parts, seen = rows.parts(concept), concept_probes.largest(*own, screen)
        chosen = seen[:0]
        reached: list[float] = []
        if parts is not None and len(seen):
            train, test = parts
            columns = rows.codes.dense(seen, train[0]).values
            places = concept_probes.speaking_codes(columns, train[1])[:most]
            others = rows.codes.dense(seen[places], test[0]).values
            for count in range(1, len(places) + 1):
                last = concept_probes.f1(_logits(columns[:, places[:count]], train[1], others[:, :count]) > 0, test[1])
                if reached and not last - reached[-1] > jump:
                    break
                reached.append(last)
            chosen = seen[places[: len(reached)]]
        tells = bool(reached) and reached[-1] >= LEAST_F1
        names = tuple(rows.codes.names[code] for code in chosen) if tells else ()
        size = float(len(chosen)) if tells else float("nan")
        row = {"splitting": size, "codes": names, "f1": tuple(reached)}
        yield concept, chosen, {"factor": concept.factor.name, "class": concept.name, **row}


def _absorbed(
    rows: ConceptRows, parts: tuple[Part, Part], own: Rows, every: Any, in_space: tuple[Floats, Floats] | None
) -> tuple[concept_probes.Absorbed, float]:
    """Return what is absorbed of a class with these codes, and F1 of the probe of everything."""
    from scipy.sparse import csr_array

    (train, learnt), (test, inside) = parts
    members = test[inside]
    codes = every[members]
    probed = every if in_space is None else in_space[1]
    weights, intercept = concept_probes.whole_probe(probed[train], learnt)
    reached = concept_probes.f1(probed[test] @ weights + intercept > 0, inside)
    if not reached >= LEAST_F1:
        return concept_probes.Absorbed(float("nan"), float("nan"), 0), reached
    whole = probed[members] @ weights
    recognised = whole + intercept > 0
    cosines = np.ones(rows.codes.d)
    if in_space is not None:
        decoder, activations = in_space
        unit = weights / max(float(np.linalg.norm(weights)), 1e-300)
        whole, weights = activations[members] @ unit, decoder @ unit
        cosines = weights / np.maximum(np.linalg.norm(decoder, axis=1), 1e-300)
    taken = concept_probes.absorbed(
        csr_array((codes.data * weights[codes.indices], codes.indices, codes.indptr), shape=codes.shape),
        np.asarray(whole),
        recognised,
        own,
        silent=np.abs(codes[:, own].toarray()).max(axis=1, initial=0.0) < SILENT,
        may_take_all=cosines >= COSINES[0],
        may_take_some=cosines >= COSINES[1],
    )
    return taken, reached
